"""To annotators and back: a whole pool, filled in, scores what it scores by itself."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

import probative as pv

N = 40
RNG = random.Random(3)  # noqa: S311
LABELS = [RNG.choice(["yes", "no", "no"]) for _ in range(N)]
TOKENS = [["Ada", f"x{i}", "Rome"] for i in range(N)]
TAGS = [[RNG.choice(["B-PER", "O"]), "O", RNG.choice(["B-LOC", "O"])] for _ in range(N)]


def noisy(answers, other):
    """An output that is wrong here and there."""
    if isinstance(answers[0], str):
        return [a if RNG.random() < 0.8 else other for a in answers]
    return [noisy(own, other) for own in answers]


SYSTEMS = {
    "labels": (noisy(LABELS, "yes"), noisy(LABELS, "no")),
    "tags": (noisy(TAGS, "O"), noisy(TAGS, "O")),
}


def delimited(rows, delimiter):
    text = io.StringIO()
    how = {"quoting": csv.QUOTE_NONE, "quotechar": None} if delimiter == "\t" else {}
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", **how)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def of_labels(labels):
    return [{"id": f"r{i}", "text": f'a, "{i}"', "label": own} for i, own in enumerate(labels)]


def spans(tags):
    starts = {0: (0, 3, "PER"), 2: (4, 8, "LOC")}
    return [starts[place] for place, tag in enumerate(tags) if tag != "O"]


def column_file(tags, numbered):
    lines = []
    for i, own in enumerate(tags):
        if i % 2 == 0:
            lines += [f"# newdoc id = d{i}"] if numbered else ["-DOCSTART-\tO", ""]
        head = [f"{k}\t" if numbered else "" for k in (1, 2, 3)]
        lines += [f"{h}{w}\t{t}" for h, w, t in zip(head, TOKENS[i], own, strict=True)]
        lines.append("")
    return "\n".join(lines)


WRITERS = {
    "csv": lambda own: delimited(of_labels(own), ","),
    "tsv": lambda own: delimited(of_labels(own), "\t"),
    "jsonl": lambda own: "\n".join(map(json.dumps, of_labels(own))),
    "json": lambda own: json.dumps(of_labels(own)),
    "txt": lambda own: "\n".join(own) + "\n",
    "spans": lambda own: "\n".join(
        json.dumps({"text": f"Ada Rome {i}", "spans": spans(tags)}) for i, tags in enumerate(own)
    ),
    "rows": lambda own: "\n".join(
        json.dumps({"tokens": TOKENS[i], "ner_tags": tags}) for i, tags in enumerate(own)
    ),
    "conll": lambda own: column_file(own, numbered=False),
    "iob2": lambda own: column_file(own, numbered=True),
    "tokens": lambda own: delimited(
        [
            {"sentence_id": i, "token": word, "tag": tag}
            for i, tags in enumerate(own)
            for word, tag in zip(TOKENS[i], tags, strict=True)
        ],
        ",",
    ),
}
ENDINGS = {"spans": "jsonl", "rows": "jsonl", "tokens": "csv"}


def filled_in(content, kind, units, answers):
    """What annotators make of a sample: an answer in every place that is blank."""
    every = [answers[i] for i in units]
    if kind in ("jsonl", "json", "spans", "rows"):
        lines = content.strip().removeprefix("[").removesuffix("]").strip().split("\n")
        own = map(spans, every) if kind == "spans" else every
        full = [
            line.removesuffix(",").removesuffix("null}") + json.dumps(answer) + "}"
            for line, answer in zip(lines, own, strict=True)
        ]
        return "[" + ",\n".join(full) + "]" if kind == "json" else "\n".join(full)
    flat = iter(every if kind in ("csv", "tsv", "txt") else [t for tags in every for t in tags])
    lines = content.split("\n")
    if kind in ("conll", "iob2"):
        blank = [
            line.removesuffix("_") if line.endswith("\t_") and "DOCSTART" not in line else None
            for line in lines
        ]
    else:
        blank = [None, *(line or None for line in lines[1:])]
    return "\n".join(
        line if start is None else start + next(flat)
        for line, start in zip(lines, blank, strict=True)
    )


@pytest.mark.parametrize(
    ("kind", "by"),
    [*((kind, None) for kind in WRITERS), ("conll", "document"), ("iob2", "document")],
)
def test_a_whole_pool_scores_what_it_scores(kind, by, write, tmp_path):
    ending = ENDINGS.get(kind, kind)
    task = "labels" if kind in ("csv", "tsv", "jsonl", "json", "txt") else "tags"
    answers = LABELS if task == "labels" else TAGS
    files = [
        write(WRITERS[kind](own), f"{name}.{ending}")
        for name, own in zip("ab", SYSTEMS[task], strict=True)
    ]
    gold = write(WRITERS[kind](answers), f"gold.{ending}")
    pool = files[0]
    if kind == "txt":
        pool = write("".join(f"text {i}\n" for i in range(N)), "pool.txt")
    number = N if by is None else N // 2
    sample = tmp_path / f"sample.{ending}"
    drawn = pv.sample(pool, *files, size=number, by=by, to=sample)
    content = filled_in(sample.read_text(), kind, range(N), answers)
    annotated = write(content, f"annotated.{ending}")
    found = pv.estimate(drawn.files["design"], annotated)
    scored = pv.score(gold, *files, by=by, **({"positive": "yes"} if task == "labels" else {}))
    for name in ("a", "b"):
        told = {s.metric: s.estimate for s in found.scores if s.system == name}
        for metric in ("precision", "recall", "f1"):
            assert told[metric] == pytest.approx(scored[name][metric].estimate)
