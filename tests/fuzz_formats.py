"""The same random data in every format: each must give the counts that plain Python gives.

``python tests/fuzz_formats.py --n 5000 --seed 0`` does the whole run; a small one with a fixed seed
is among the tests. Tables have columns whose names differ by case alone, names of partitions among
them. Formats that the engine reads take long: ``--engine 2`` tries that many of them per table,
drawn at random, and all the others.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pandas as pd
import polars as pl

from probative.errors import InputError
from probative.matching.matched import match_inputs
from probative.matching.schemes import encode

LABELS = (
    "yes", "no", "Yes", "NO", "1", "01", "1.0", "a,b", "a;b", 'say "x"', "ü", "北京", " x", "x ",
    "#x", "null", "NaN", "NA", "true", "True", "it's", "a\\b", "😀", "-", "2024-01-31", "1e3",
)  # fmt: skip
CLASHES = ("PRED", "Pred", "LANG", "Lang", "Y", "ID", "DOC", "Doc", "file_row_number", "filename")
LIMIT = {"memory_limit": "500MB"}


# --- tables -----------------------------------------------------------------------------------


class Table:
    """A random table, and which of its columns are asked for."""

    def __init__(self, rng: random.Random):
        labels = rng.sample(LABELS, rng.randint(2, 6))
        size = rng.choice((1, 2, 7, 20, 60))
        clashes = rng.sample(CLASHES, rng.randint(0, 4))
        self.rng = rng
        self.columns = {
            "y": [rng.choice(labels) for _ in range(size)],
            "pred": [rng.choice(labels) for _ in range(size)],
            "lang": [rng.choice(("de", "fr", "FR", "a b")) for _ in range(size)],
            "doc": [rng.choice("uvwxyz") for _ in range(size)],
            "id": [f"r{i}" for i in range(size)],
            **{name: [rng.choice(labels) for _ in range(size)] for name in clashes},
        }
        names = list(self.columns)
        rng.shuffle(names)
        self.columns = {name: self.columns[name] for name in names}
        others = [name for name in clashes if name not in ("ID", "DOC", "Doc")]
        self.gold = "Y" if "Y" in clashes and rng.random() < 0.5 else "y"
        self.systems = ["pred", *rng.sample(others, rng.randint(0, len(others)))]
        rng.shuffle(self.systems)
        for name in self.systems:  # which share a label with gold
            self.columns[name][0] = self.columns[self.gold][0]
        self.unit = rng.choice((None, None, "doc", *({"Doc", "DOC"} & set(clashes))))
        groups = [n for n in ("lang", "Lang", "LANG") if n in self.columns]
        free = [n for n in groups if n not in self.systems]
        self.group = rng.choice((None, *free)) if free else None

    def __len__(self):
        return len(self.columns["y"])

    def asked(self) -> list[str]:
        more = [name for name in (self.unit, self.group) if name is not None]
        return list(dict.fromkeys([self.gold, *self.systems, *more, "id"]))

    def choice(self) -> dict[str, object]:
        return {
            "gold_column": self.gold,
            "columns": self.systems,
            "unit_column": self.unit,
            "group": self.group,
        }

    def part(self, which: list[int], drop: str | None = None) -> dict[str, list[str]]:
        """Some rows, their columns in an order of their own."""
        names = [name for name in self.columns if name != drop]
        self.rng.shuffle(names)
        return {name: [self.columns[name][i] for i in which] for name in names}

    def all(self) -> dict[str, list[str]]:
        return self.part(list(range(len(self))))

    def split(self) -> list[list[int]]:
        rows = list(range(len(self)))
        place = self.rng.randint(0, len(rows))
        return [part for part in (rows[:place], rows[place:]) if part]

    def expected(self) -> object:
        """What must be read: rows, units, and by system and label tp, fp and fn."""
        rows = Counter(
            (self.columns[self.gold][i], *(self.columns[name][i] for name in self.systems),
             self.group and self.columns[self.group][i])
            for i in range(len(self))
        )  # fmt: skip
        n_units = len(set(self.columns[self.unit])) if self.unit else len(self)
        counts: Counter = Counter()
        for place, name in enumerate(self.systems):
            for gold, said in zip(self.columns[self.gold], self.columns[name], strict=True):
                for label in {gold, said}:
                    what = "tp" if gold == said else "fn" if label == gold else "fp"
                    counts[place, label, what] += 1
        return rows, n_units, counts


def found_in(matched) -> object:
    """The same of what was read."""
    gold, items = matched.gold, matched.items
    times = [1] * len(gold.codes)
    if gold.repeats is not None:
        times = gold.repeats.of_rows(gold.units).tolist()
    rows: Counter = Counter()
    for i, number in enumerate(times):
        said = (side.names[side.codes[i]] for side in (gold, *matched.systems))
        group = gold.groups.names[gold.groups.codes[i]] if gold.groups else None
        rows[(*said, group)] += number
    n_units = items.n_units if items.number is None else int(items.number.sum())
    return rows, n_units, counts_of(items)


def counts_of(items) -> Counter:
    """By system and label, tp, fp and fn."""
    counts: Counter = Counter()
    for i, (unit, code, right) in enumerate(
        zip(items.unit, items.label, items.answer, strict=True)
    ):
        number = 1 if items.times is None else int(items.times[i])
        number *= 1 if items.number is None else int(items.number[unit])
        for place, says in enumerate(items.says[:, i]):
            if says or right:
                what = "tp" if says and right else "fp" if says else "fn"
                counts[place, items.labels[code], what] += number
    return counts


def text_of(columns: dict[str, list[str]], kind: str) -> bytes:
    rows = list(zip(*columns.values(), strict=True))
    if kind == "tsv":
        return "".join("\t".join(row) + "\n" for row in ([*columns], *rows)).encode()
    if kind in ("jsonl", "json"):
        records = [dict(zip(columns, row, strict=True)) for row in rows]
        if kind == "json":
            return json.dumps(records, ensure_ascii=False).encode()
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=";" if kind == "semicolons" else ",", quoting=csv.QUOTE_ALL)
    writer.writerows([[*columns], *rows])
    return out.getvalue().encode()


def write(columns: dict[str, list[str]], place: Path, kind: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "parquet":
        pl.DataFrame(columns).write_parquet(place)
    else:
        data = text_of(columns, kind.removesuffix(".gz"))
        place.write_bytes(gzip.compress(data) if kind.endswith(".gz") else data)
    return place


def file(kind: str, ending: str | None = None, **how: object):
    def read(table: Table, folder: Path):
        place = write(table.all(), folder / f"table.{ending or kind}", kind)
        return match_inputs(place, [], **table.choice(), **how, **TASK)

    return read


def folder_of_files(table: Table, folder: Path, *, pattern: bool = False):
    kind = table.rng.choice(("csv", "tsv", "jsonl", "parquet", "csv.gz", "jsonl.gz"))
    for number, rows in enumerate(table.split()):
        place = folder / "tables" / str(number) / f"part.{kind}"
        write(table.part(rows), place, kind)
        (folder / "tables" / f"link-{number}.{kind}").symlink_to(place)
    word = str(folder / "tables" / "**" / f"*.{kind}") if pattern else folder / "tables"
    return match_inputs(word, [], **table.choice(), **TASK)


def partitions(table: Table, folder: Path):
    """A column that is no system goes into the folders; another column may differ by case alone."""
    kind = table.rng.choice(("csv", "jsonl", "parquet"))
    told = table.group or table.unit or "id"
    values = table.columns[told]
    for value in dict.fromkeys(values):
        rows = [i for i, own in enumerate(values) if own == value]
        coded = value.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C")
        write(table.part(rows, told), folder / f"{told}={coded}" / f"part.{kind}", kind)
    try:
        return match_inputs(folder, [], **table.choice(), **TASK)
    finally:
        if len(set(values)) and table.rng.random() < 0.2:  # the column in the files as well
            refused_twice(table, folder, told, kind)


def refused_twice(table: Table, folder: Path, told: str, kind: str) -> None:
    for place in folder.rglob(f"part.{kind}"):
        write(table.all(), place, kind)
    how = table.choice() | {"group": told if told != table.unit else table.group}
    try:
        match_inputs(folder, [], **how, **TASK)
    except InputError as error:
        if "given by folders and by the file" in str(error):
            return
        raise
    if told in (how["group"], how["unit_column"]):
        raise AssertionError("a column that folders and files both tell was read")


def without_clashes(table: Table) -> dict[str, list[str]]:
    """Databases know no names that differ by case alone: one of each is kept."""
    kept = {name.casefold(): name for name in (*table.columns, *table.asked())}
    return {name: own for name, own in table.all().items() if name in kept.values()}


def duck(table: Table, folder: Path):
    columns = without_clashes(table)
    if set(table.asked()) - set(columns):
        return None
    source = write(columns, folder / "source.parquet", "parquet")
    with duckdb.connect(str(folder / "table.duckdb")) as database:
        database.execute(f"CREATE TABLE preds AS FROM '{source}'")
        database.execute("CREATE VIEW seen AS FROM preds")
    return match_inputs(folder / "table.duckdb", [], **table.choice(), **TASK)


def sqlite(table: Table, folder: Path):
    columns = without_clashes(table)
    if set(table.asked()) - set(columns):
        return None
    database = sqlite3.connect(folder / "table.db")
    named = ", ".join(f'"{name}" TEXT' for name in columns)
    database.execute(f"CREATE TABLE preds ({named})")
    marks = ", ".join("?" * len(columns))
    rows = zip(*columns.values(), strict=True)
    database.executemany(f"INSERT INTO preds VALUES ({marks})", rows)  # noqa: S608
    database.execute("CREATE VIEW seen AS SELECT * FROM preds")
    database.commit()
    database.close()
    return match_inputs(folder / "table.db", [], **table.choice(), **TASK)


def frame(make):
    def read(table: Table, _folder: Path):
        return match_inputs(make(table.all()), [], **table.choice(), **TASK)

    return read


def joined(**how: object):
    """Each system in a table of its own, or in that of the gold labels, in another order."""

    def read(table: Table, folder: Path):
        rng = table.rng
        beside = rng.randint(0, len(table.systems) - 1)  # systems that stand with the gold labels
        kind = rng.choice(("csv", "jsonl", "parquet"))
        gold = write(table.all(), folder / f"gold.{kind}", kind)
        paths = []
        for number, _ in enumerate(table.systems[beside:]):
            rows = rng.sample(range(len(table)), len(table))
            kind = rng.choice(("csv", "jsonl", "parquet"))
            paths.append(write(table.part(rows), folder / f"{number}.{kind}", kind))
        return match_inputs(gold, paths, **table.choice(), key=["id"], **how, **TASK)

    return read


TASK = {"task": "labels", "find_positive": False}
BY_ROWS = {
    "csv": file("csv"),
    "tsv": file("tsv"),
    "csv with semicolons": file("semicolons", "csv"),
    "csv.gz": file("csv.gz"),
    "jsonl": file("jsonl"),
    "jsonl.gz": file("jsonl.gz"),
    "json": file("json"),
    "pandas": frame(pd.DataFrame),
    "polars": frame(pl.DataFrame),
    "pyarrow": frame(lambda columns: pl.DataFrame(columns).to_arrow()),
}
BY_ENGINE = {
    "parquet": file("parquet"),
    "csv, counted": file("csv", **LIMIT),
    "tsv, counted": file("tsv", **LIMIT),
    "csv.gz, counted": file("csv.gz", **LIMIT),
    "jsonl, counted": file("jsonl", **LIMIT),
    "parquet, counted": file("parquet", **LIMIT),
    "folder": folder_of_files,
    "pattern": lambda *given: folder_of_files(*given, pattern=True),
    "partitions": partitions,
    "duckdb": duck,
    "sqlite": sqlite,
    "joined": joined(),
    "joined, counted": joined(**LIMIT),
}


# --- entities ---------------------------------------------------------------------------------

WORDS = ("Ann", "lives", "in", "York", "北京", "ü", "a-b", "x", "1985", "'s", "Ben")
TYPES = ("PER", "LOC", "per", "WORK-of-art")


class Corpus:
    """Random sentences with the spans of the gold standard and of a system."""

    def __init__(self, rng: random.Random):
        sizes = [rng.randint(1, 9) for _ in range(rng.choice((1, 3, 8)))]
        self.rng = rng
        self.tokens = [[rng.choice(WORDS) for _ in range(size)] for size in sizes]
        kinds = rng.sample(TYPES, rng.randint(1, 3))
        self.gold = [random_spans(rng, size, kinds) for size in sizes]
        self.gold[0] = self.gold[0] or [(0, 1, kinds[0])]
        self.pred = [
            [span for span in own if rng.random() < 0.7] or random_spans(rng, size, kinds)
            for own, size in zip(self.gold, sizes, strict=True)
        ]
        self.pred[0] = self.gold[0][:1]  # which share a label

    def expected(self) -> Counter:
        counts: Counter = Counter()
        for gold, pred in zip(map(set, self.gold), map(set, self.pred), strict=True):
            for span in gold | pred:
                what = "tp" if span in gold & pred else "fp" if span in pred else "fn"
                counts[0, span[2], what] += 1
        return counts

    def tags(self, spans, scheme: str = "iob2") -> list[list[str]]:
        pairs = zip(self.tokens, spans, strict=True)
        return [encode(own, len(words), scheme=scheme) for words, own in pairs]

    def characters(self, spans):
        """Each sentence as a text, and the spans over its characters."""
        for words, own in zip(self.tokens, spans, strict=True):
            starts = [sum(len(w) + 1 for w in words[:i]) for i in range(len(words))]
            yield (
                " ".join(words),
                [(starts[i], starts[j - 1] + len(words[j - 1]), label) for i, j, label in own],
            )


def random_spans(rng: random.Random, size: int, kinds) -> list[tuple[int, int, str]]:
    spans, at = [], 0
    while at < size:
        end = rng.randint(at + 1, min(size, at + 3))
        if rng.random() < 0.4:
            spans.append((at, end, rng.choice(kinds)))
        at = end
    return spans


def columns_of(corpus: Corpus, spans, scheme="iob2", sign="\t") -> str:
    sentences = zip(corpus.tokens, corpus.tags(spans, scheme), strict=True)
    return "\n".join(
        "".join(f"{word}{sign}{tag}\n" for word, tag in zip(words, tags, strict=True))
        for words, tags in sentences
    )


def hipe_of(corpus: Corpus, spans) -> str:
    lines = ["TOKEN\tNE-COARSE-LIT\tMISC\n", "# document_id = a\n"]
    for words, tags in zip(corpus.tokens, corpus.tags(spans), strict=True):
        cells = [[word, tag, "_"] for word, tag in zip(words, tags, strict=True)]
        cells[-1][2] = "EndOfSentence"
        lines += ("\t".join(own) + "\n" for own in cells)
    return "".join(lines)


def table_of(corpus: Corpus, spans) -> str:
    rows = ["sentence_id\ttoken\ttag\n"]
    for number, (words, tags) in enumerate(zip(corpus.tokens, corpus.tags(spans), strict=True)):
        rows += (f"{number}\t{w}\t{t}\n" for w, t in zip(words, tags, strict=True))
    return "".join(rows)


def lines_of(records) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def rows_of(corpus: Corpus, spans) -> list[dict]:
    pairs = zip(corpus.tokens, corpus.tags(spans), strict=True)
    return [{"tokens": words, "ner_tags": tags} for words, tags in pairs]


def spans_of(corpus: Corpus, spans) -> str:
    return lines_of({"text": t, "spans": own} for t, own in corpus.characters(spans))


def token_spans_of(corpus: Corpus, spans) -> str:
    pairs = zip(corpus.tokens, spans, strict=True)
    return lines_of({"tokens": words, "spans": own} for words, own in pairs)


def prodigy_of(corpus: Corpus, spans) -> str:
    return lines_of(
        {"text": t, "spans": [dict(zip(("start", "end", "label"), s, strict=True)) for s in own],
         "answer": "accept"}
        for t, own in corpus.characters(spans)
    )  # fmt: skip


def doccano_of(corpus: Corpus, spans) -> str:
    texts = enumerate(corpus.characters(spans))
    return lines_of({"id": i, "text": t, "label": own, "Comments": []} for i, (t, own) in texts)


def label_studio_of(corpus: Corpus, spans) -> str:
    tasks = []
    for number, (text, own) in enumerate(corpus.characters(spans)):
        result = [
            {"type": "labels", "from_name": "label", "to_name": "text",
             "value": {"start": i, "end": j, "text": text[i:j], "labels": [label]}}
            for i, j, label in own
        ]  # fmt: skip
        tasks.append({"id": number, "data": {"text": text}, "annotations": [{"result": result}]})
    return json.dumps(tasks)


def brat_of(corpus: Corpus, spans, folder: Path) -> None:
    folder.mkdir()
    for number, (text, own) in enumerate(corpus.characters(spans)):
        (folder / f"{number}.txt").write_text(text + "\n", encoding="utf-8")
        lines = [f"T{k}\t{c} {i} {j}\t{text[i:j]}\n" for k, (i, j, c) in enumerate(own, 1)]
        (folder / f"{number}.ann").write_text("".join(lines), encoding="utf-8")


def texts(make, ending: str, **how: object):
    def read(corpus: Corpus, folder: Path):
        paths = [folder / f"gold.{ending}", folder / f"pred.{ending}"]
        for path, spans in zip(paths, (corpus.gold, corpus.pred), strict=True):
            path.write_text(make(corpus, spans), encoding="utf-8")
        return match_inputs(paths[0], [paths[1]], **how)

    return read


def both_tagged(corpus: Corpus, folder: Path):
    """Gold and system in one file, as conlleval wants it."""
    gold, pred = corpus.tags(corpus.gold), corpus.tags(corpus.pred)
    triples = zip(corpus.tokens, gold, pred, strict=True)
    text = "\n".join(
        "".join(f"{w} {g} {p}\n" for w, g, p in zip(*own, strict=True)) for own in triples
    )
    (folder / "both.conll").write_text(text, encoding="utf-8")
    return match_inputs(folder / "both.conll", [], task="entities")


def rows_in_parquet(corpus: Corpus, folder: Path):
    paths = [folder / "gold.parquet", folder / "pred.parquet"]
    for path, spans in zip(paths, (corpus.gold, corpus.pred), strict=True):
        pl.DataFrame(rows_of(corpus, spans)).write_parquet(path)
    return match_inputs(paths[0], [paths[1]], task="entities")


def brat(corpus: Corpus, folder: Path):
    for name in ("gold", "pred"):
        brat_of(corpus, getattr(corpus, name), folder / name)
    return match_inputs(folder / "gold", [folder / "pred"])


def documents(corpus: Corpus, spans) -> list:
    """What looks like documents of spaCy."""

    class Doc(list):
        ents = ()

    made = []
    for words, own in zip(corpus.tokens, spans, strict=True):
        doc = Doc(SimpleNamespace(text=word) for word in words)
        doc.ents = tuple(SimpleNamespace(start=i, end=j, label_=c) for i, j, c in own)
        made.append(doc)
    return made


def objects(make):
    return lambda c, _: match_inputs(make(c, c.gold), [make(c, c.pred)], task="entities")


ENTITIES = {
    "columns": texts(columns_of, "conll", task="entities"),
    "columns, IOBES": texts(
        lambda c, s: columns_of(c, s, "iobes", " "), "txt", task="entities", scheme="iobes"
    ),
    "both in columns": both_tagged,
    "hipe": texts(hipe_of, "tsv", input_format="hipe", task="entities"),
    "table of tags": texts(table_of, "tsv", input_format="table", task="entities"),
    "rows": texts(lambda c, s: lines_of(rows_of(c, s)), "jsonl", task="entities"),
    "rows in Parquet": rows_in_parquet,
    "spans": texts(spans_of, "jsonl", input_format="jsonl"),
    "spans of tokens": texts(token_spans_of, "jsonl", input_format="jsonl"),
    "Prodigy": texts(prodigy_of, "jsonl", input_format="jsonl"),
    "doccano": texts(doccano_of, "jsonl", input_format="jsonl"),
    "Label Studio": texts(label_studio_of, "json", task="entities"),
    "brat": brat,
    "lists of tags": objects(lambda c, spans: c.tags(spans)),
    "sets of spans": objects(lambda _, spans: [set(own) for own in spans]),
    "documents": objects(documents),
}


# --- all of them ------------------------------------------------------------------------------


def attempt(read, data, folder: Path, found, tally: Counter, name: str) -> str | None:
    """What is wrong with a format, or None."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        matched = read(data, folder)
        if matched is None:
            return None
        tally[name] += 1
        own, expected = found(matched), data.expected()
    except Exception:
        return traceback.format_exc(limit=-2)[-800:]
    return None if own == expected else f"{own} for {expected}"


def fuzz(n: int, seed: int, start: int = 0, engine: int | None = None) -> tuple[list[str], Counter]:
    """Write and read `n` data sets; return what went wrong, and how often each format was tried.

    Data sets are tables and corpora by turns. Of the formats that the engine reads, `engine` are
    tried for each table; None: all.
    """
    tally: Counter = Counter()
    wrong = []
    engines = list(BY_ENGINE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "data"
        for number in range(start, start + n):
            rng = random.Random(f"{seed}/{number}")  # noqa: S311  # data, not secrets
            if number % 2:
                data, formats, found = Corpus(rng), dict(ENTITIES), lambda m: counts_of(m.items)
                if engine is not None and rng.random() > engine / len(engines):
                    del formats["rows in Parquet"]
            else:
                some = engines if engine is None else rng.sample(engines, engine)
                data, found = Table(rng), found_in
                formats = BY_ROWS | {own: BY_ENGINE[own] for own in some}
            for own, read in formats.items():
                problem = attempt(read, data, folder, found, tally, own)
                if problem:
                    wrong.append(f"data set {seed}/{number} as {own}: {problem}")
    return wrong, tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first data set")
    parser.add_argument(
        "--engine", type=int, help="formats of the engine per table; all by default"
    )
    options = parser.parse_args()
    wrong, tally = fuzz(options.n, options.seed, options.start, options.engine)
    for problem in wrong[:20]:
        sys.stdout.write(f"{problem}\n")
    tables = len(BY_ROWS) + len(BY_ENGINE)
    sys.stdout.write(
        f"{options.n} data sets, {tables} table formats, {len(ENTITIES)} entity formats, "
        f"{tally.total()} readings, {len(wrong)} wrong\n"
    )
    sys.stdout.write(", ".join(f"{name} {number}" for name, number in tally.items()) + "\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
