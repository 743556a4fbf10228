"""Random damage to real files, through every reader: a result or a one-line error, nothing else.

``python tests/fuzz_readers.py --n 100000 --seed 0`` does the whole run; a small one with a fixed
seed is among the tests. Real corpora are used where they are at hand (PROBATIVE_SHARED, or
``../shared`` beside the repository), and small files of every format in any case.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
from time_limit import Hang, limit

from probative.errors import InputError
from probative.jobs.score import score
from probative.matching.check import check
from probative.matching.matched import match_inputs
from probative.reading.formats import FORMATS, TASKS, Options, read, read_pair

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("PROBATIVE_SHARED", ROOT.parent / "shared")) / "data"
PIECE = 6_000  # bytes of a corpus that a case starts from
HANG = 30  # seconds after which a case counts as hanging

ROWS = [("Ann", "NN", "B-PER"), ("lives", "VB", "O"), ("in", "IN", "O"), ("北京", "NN", "B-LOC")]
SAMPLES = {
    "columns": "\n\n".join(["\n".join("\t".join(row) for row in ROWS)] * 5),
    "both": "\n\n".join(["\n".join(f"{w} {t} {t}" for w, _, t in ROWS)] * 5),
    "documents": "-DOCSTART- -X- O\n\n" + "\n".join(f"{w} {p} {t}" for w, p, t in ROWS),
    "conllu": "# newdoc id = a\n# text = zum Haus\n"
    + "".join(f"{i}\tx" + "\t_" * 8 + "\n" for i in ("1-2", 1, 2, "2.1", 3))
    + "\n1\tja" + "\t_" * 8 + "\n",
    "segmented": "约翰 喜欢\u3000玛丽\n\nJohn likes Mary .\n" * 5,
    "labels": "spam\nham\nspam\n" * 10,
    "jsonl": "\n".join(
        json.dumps({"text": "Ann", "spans": [[0, 3, "P"], {"start": 1, "end": 2, "label": "X"}]})
        for _ in range(5)
    ),
    "prodigy": "\n".join(
        json.dumps({"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "P"}], "answer": a})
        for a in ("accept", "reject", "ignore")
    ),
    "choices": "\n".join(
        json.dumps({"text": "Ann", "options": [{"id": "a"}], "accept": c, "answer": "accept"})
        for c in (["a"], ["b"], ["a", "b"])
    ),
    "doccano": "\n".join(json.dumps({"text": "Ann", "label": c}) for c in (["a"], ["b"])),
    "labelstudio": json.dumps(
        [
            {
                "id": 1,
                "data": {"text": "Ann lives"},
                "annotations": [{"result": [
                    {"type": "labels", "from_name": "l",
                     "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["P"]}}]}],
                "predictions": [{"model_version": "m", "result": []}],
            }
        ] * 3,
        indent=1,
    ),
    "plain log": "\n".join(
        json.dumps({"id": i, "epoch": 1, "correct": bool(i % 2)}) for i in range(5)
    ),
    "findings": "\n".join(json.dumps({"id": i, "tp": i, "fp": 1, "fn": 2}) for i in range(5)),
    "hipe": "TOKEN\tNE-COARSE-LIT\tMISC\n# document_id = a\nAnn\tB-pers\t_\n"
    "lives\tO\tEndOfSentence\n\nYork\tB-loc\t_\n",
}  # fmt: skip
TABLES = (
    b"gold,pred,doc\n" + b"yes,no,1\nno,no,2\n" * 5,
    b"gold\tpred\n" + b"yes\tno\nno\tno\n" * 5,
    b'{"gold": 1, "pred": 0}\n{"gold": 0, "pred": 0}\n',
)
TOOLS = sorted(p for p in (ROOT / "tests" / "data").rglob("*") if p.is_file())
SUFFIXES = ("", ".conll", ".txt", ".tsv", ".jsonl", ".conllu", ".gz", ".json", ".eval", ".spacy")
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


def starting_points() -> list[bytes]:
    """Pieces of real files, and small files of every format."""
    points = [text.encode() for text in SAMPLES.values()]
    points += tool_points()
    for path in sorted(SHARED.rglob("*")) if SHARED.is_dir() else ():
        if path.is_file():
            data = path.read_bytes()
            points += [data[i : i + PIECE] for i in (0, len(data) // 2)]
    return points


def tool_points() -> list[bytes]:
    """Files that other tools have written: logs, rows, documents; large ones cut short."""
    points = []
    for path in TOOLS:
        data = path.read_bytes()
        if path.suffix == ".jsonl" and len(data) > PIECE:
            data = data[: data.rfind(b"\n", 0, PIECE)]
        points.append(data)
    return points


# --- damage -----------------------------------------------------------------------------------


def cut(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def cut_out(data, rng):
    i, j = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:i] + data[j:]


def flip(data, rng):
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def insert(data, rng):
    what = rng.choice(
        [b"\x00", b"\x00" * 100, b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b" ",
         b"#", b"{", b'"', b"-", b"B-", b"O", b"-DOCSTART-", b"\xe3\x80\x80", b"\x1f\x8b", b"PAR1",
         b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", "😀".encode(), b"1-9", b"0.1", b"," , b"1e999"]
    )  # fmt: skip
    i = rng.randrange(len(data) + 1)
    return data[:i] + what * rng.choice((1, 1, 3)) + data[i:]


def on_lines(change):
    def damage(data, rng):
        lines = data.split(b"\n")
        change(lines, rng)
        return b"\n".join(lines)

    return damage


def drop_column(lines, rng):
    separator = rng.choice((b"\t", b" "))
    everywhere = rng.random() < 0.5
    for i in range(len(lines)) if everywhere else [rng.randrange(len(lines))]:
        cells = lines[i].split(separator)
        if len(cells) > 1:
            del cells[rng.randrange(len(cells))]
            lines[i] = separator.join(cells)


def double_lines(lines, rng):
    i = rng.randrange(len(lines))
    lines[i:i] = lines[i : i + rng.randint(1, 4)] * rng.choice((1, 2, 50))


def swap_lines(lines, rng):
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def huge_line(lines, rng):
    piece = rng.choice((b"x", b"x ", b"\t", "北".encode(), b"O\t", b"[", b'{"a":', b"1,"))
    lines.insert(rng.randrange(len(lines) + 1), piece * rng.choice((5_000, 100_000)))


def recode(data, rng):
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-32", "utf-16-le", "gb18030", "utf-7")), "replace")


def latin(data, _rng):
    return data.decode("utf-8", "replace").encode("latin-1", "replace").replace(b"e", b"\xe9")


def squeeze(data, rng):
    packed = gzip.compress(data, 1)
    return (
        packed
        if rng.random() < 0.3
        else cut(packed, rng)
        if rng.random() < 0.5
        else flip(packed, rng)
    )


def carriage_returns(data, rng):
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\n\r")))


VALUES = (
    None, True, False, 0, -1, -100, 7, 1.5, 10**30, float("inf"), float("nan"), "", "x", "C", "O",
    "\ud800", [], {}, [[]], [None], {"a": 1}, ["x"], [1], {"tp": 1, "fp": 0, "fn": 0},
)  # fmt: skip


def other_values(data, rng):
    """JSON that is whole, but holds something else in one or two places."""
    lines = data.split(b"\n")
    try:
        whole = [json.loads(data)]
    except ValueError:
        try:
            whole = [json.loads(line) for line in lines if line.strip()]
        except ValueError:
            return data
    for _ in range(rng.randint(1, 2)):
        node = rng.choice(whole)
        while isinstance(node, (dict, list)) and node:
            key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            inner = node[key]
            if not isinstance(inner, (dict, list)) or not inner or rng.random() < 0.25:
                if rng.random() < 0.2:
                    del node[key]
                else:
                    node[key] = rng.choice(VALUES)
                break
            node = inner
    return b"\n".join(json.dumps(value).encode() for value in whole)


def nothing(data, _rng):
    return data


DAMAGES = (
    cut, cut_out, flip, flip, insert, insert, on_lines(drop_column), on_lines(double_lines),
    on_lines(swap_lines), recode, latin, squeeze, carriage_returns, nothing,
)  # fmt: skip


def damaged(data: bytes, rng: random.Random) -> bytes:
    if data[:1] in (b"{", b"[") and rng.random() < 0.5:
        return other_values(data, rng)
    if rng.random() < 0.01:  # costly, so seldom
        data = on_lines(huge_line)(data, rng)
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(DAMAGES)(data, rng)
    return data


# --- one case ---------------------------------------------------------------------------------


def attempts(path: Path, whole: Path, rng: random.Random, *, tables: bool):
    """Everything that can be done with a file, as (what, function)."""
    encoding = rng.choice((None, None, None, "latin-1", "gb18030", "utf-16", "utf-7", "utf-8-sig"))
    named = {"score_name": rng.choice((None, "acc", "pass")), "label_names": ("O", "B-X")}
    yield "read", lambda: read(path, Options(encoding=encoding, **named))
    if rng.random() < 0.25:  # what builds on the readers
        yield "check", lambda: check(path)
        yield "both", lambda: match_inputs(path, [])
        yield "score", lambda: score(whole, path, align_by=rng.choice(("tokens", "position")))
    for kind in FORMATS:
        if kind == "table" and not tables:
            continue
        task = rng.choice((None, None, *TASKS))
        options = Options(
            task=task,
            input_format=kind,
            tag_column=rng.choice((None, None, 1, 2, -1, 99)),
            comments=rng.random() < 0.3,
        )
        yield f"read {kind}", lambda options=options: read(path, options)
        if kind in ("columns", "table"):
            yield f"pair {kind}", lambda options=options: read_pair(path, options)


def outcome(path: Path | str, options: Options) -> object:
    """What reading gives: the arrays and names of the annotations, or that there is an error."""
    try:
        found = read(path, options)
    except InputError as error:
        return type(error)
    shown = [type(found)]
    for value in (vars(found), vars(getattr(found, "text", found))):
        shown += [(k, v.tobytes()) for k, v in value.items() if isinstance(v, np.ndarray)]
        shown += [(k, v) for k, v in value.items() if k in ("names", "labels")]
    return shown


def same_through_a_pipe(path: Path, data: bytes, options: Options) -> None:
    """A pipe must give what the file gives."""
    out, into = os.pipe()

    def write() -> None:
        with open(into, "wb") as file, suppress(BrokenPipeError):  # noqa: PTH123
            file.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        piped = outcome(f"/dev/fd/{out}", options)
    finally:
        os.close(out)
        writer.join()
    if piped != outcome(path, options):
        raise AssertionError("a pipe gives something else than the file")


ANN = "T1\tLOC 0 3;13 18\tLow Haven\nT2\tLOC 8 18\tHigh Haven\nR1\tNear Arg1:T1 Arg2:T2\n"
TEXT = "Low and High Haven wait.\n"


def brat_case(rng: random.Random, folder: Path, tally: Counter) -> list[str]:
    """Put a folder of brat through its reader, with a damaged file in it."""
    place = folder / "brat"
    place.mkdir(exist_ok=True)
    contents = {"a.txt": TEXT.encode(), "a.ann": ANN.encode(), "b.txt": b"x\n", "b.ann": b""}
    for name in rng.sample(sorted(contents), rng.randint(1, 2)):
        contents[name] = damaged(contents[name] or b"T1\tX 0 1\tx\n", rng)
    for name, data in contents.items():
        (place / name).write_bytes(data)
    if rng.random() < 0.2:
        (place / rng.choice(sorted(contents))).unlink()
    problems = []
    for what, attempt in (("brat", lambda: read(place)), ("check", lambda: check(place)),
                          ("score", lambda: score(place, place))):  # fmt: skip
        try:
            with limit(HANG):
                attempt()
            tally["result"] += 1
        except InputError as error:
            tally["error"] += 1
            if "\n" in str(error) or not str(error) or len(str(error)) > 5_000:
                problems.append(f"{what}: not a line: {str(error)[:200]!r}")
        except (Exception, Hang):
            problems.append(f"{what}: {traceback.format_exc(limit=-4)}")
    return problems


def run_case(
    data: bytes, whole: bytes, rng: random.Random, folder: Path, tally: Counter, *, tables
):
    """Put one damaged file through everything; return what went wrong."""
    path = folder / f"case{rng.choice(TABLE_SUFFIXES if tables else SUFFIXES)}"
    path.write_bytes(data)
    answer = folder / "whole"
    answer.write_bytes(whole)
    problems = []
    for what, attempt in attempts(path, answer, rng, tables=tables):
        try:
            with limit(HANG):
                attempt()
            tally["result"] += 1
        except InputError as error:
            tally["error"] += 1
            if "\n" in str(error) or not str(error) or len(str(error)) > 5_000:
                problems.append(f"{what}: not a line: {str(error)[:200]!r}")
        except (Exception, Hang):
            problems.append(f"{what}: {traceback.format_exc(limit=-4)}")
    if not path.suffix:  # an ending tells what a pipe does not
        try:
            with limit(HANG):
                same_through_a_pipe(path, data, Options(task=rng.choice((None, *TASKS))))
            tally["pipe"] += 1
        except (Exception, Hang):
            problems.append(f"pipe: {traceback.format_exc(limit=-4)}")
    path.unlink()
    return problems


def peak() -> float:
    """The most memory this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(
    n: int, seed: int, *, start: int = 0, table_share: float = 0.1, tools: bool = False, say=None
) -> tuple[list[str], Counter]:
    """Run `n` cases; return what went wrong, and how often there was a result or an error.

    With `tools`, only what other tools write is damaged.
    """
    first = list(SAMPLES).index("prodigy")
    own = [text.encode() for text in list(SAMPLES.values())[first:]]
    points = [*own, *tool_points()] if tools else starting_points()
    tally: Counter = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(start, start + n):
            rng = random.Random(f"{seed}/{number}")  # noqa: S311  # damage, not secrets
            tables = rng.random() < table_share
            whole = rng.choice(TABLES if tables and rng.random() < 0.7 else points)
            data = damaged(whole, rng)
            if tools and rng.random() < 0.1:
                found = brat_case(rng, Path(name), tally)
            else:
                found = run_case(data, whole, rng, Path(name), tally, tables=tables)
            wrong += [f"case {seed}/{number}: {problem}" for problem in found]
            if say and (number + 1) % 1000 == 0:
                say(number + 1, len(wrong))
    return wrong, tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--table-share", type=float, default=0.1)
    parser.add_argument("--tools", action="store_true", help="what other tools write only")
    options = parser.parse_args()
    begin, before = time.perf_counter(), peak()

    def say(done, wrong):
        sys.stderr.write(f"{done} cases, {wrong} wrong, {time.perf_counter() - begin:.0f} s\n")

    share = options.table_share
    wrong, tally = fuzz(
        options.n,
        options.seed,
        start=options.start,
        table_share=share,
        tools=options.tools,
        say=say,
    )
    for problem in wrong[:20]:
        sys.stdout.write(f"{problem}\n")
    sys.stdout.write(
        f"{options.n} damaged files, {sum(tally.values()) + len(wrong)} readings: "
        f"{tally['result']} results, {tally['error']} one-line errors, {tally['pipe']} pipes like "
        f"their files, {len(wrong)} wrong; "
        f"{time.perf_counter() - begin:.0f} s, memory at most {peak() / 1e6:.0f} MB "
        f"({before / 1e6:.0f} MB before)\n"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
