"""Random tables, every value compared with what Python's csv and json say.

``python tests/fuzz_tables.py --n 5000 --seed 0`` does the whole run; a small one with a fixed seed
is among the tests. The values are those that readers of tables like to change: numbers, dates,
comment signs, quotes, line ends, spaces, words for what is missing.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import math
import random
import re
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

from probative.errors import InputError
from probative.reading.formats import Options, read_pair
from probative.reading.inputs import annotations_of

TEXTS = (
    "yes", "no", "spam", "#", "# not a comment", "#1", "$", "''", "``", "-", "1", "1.0", "01",
    "1e3", "0x10", "1_000", "NaN", "nan", "NA", "null", "None", "inf", "-inf", "1e999",
    "true", "True", "2024-01-31", "31/01/2024", "2024-01-31 12:00:00", "12:30",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "9007199254740993", "9007199254740992", "123456789012345678901234567890", " padded ", "  ",
    'a "quoted" word', '"', "'", "a,b", "a;b", "a|b", "a\\b", "\\N", "\\n", "{", "[1]", '{"a": 1}',
    "ü", "北京", "😀", "e\u0301", "\u00a0", "\u2028", "\ufeff", "x" * 300,
)  # fmt: skip
CONTROL = ("a\nb", "a\r\nb", "\n", "a\tb", "\t", "a\rb")
NUMBERS = (
    0, 1, -1, 7, 1.0, 0.0, -0.0, 0.5, 0.1, 1e3, 1e22, 1e300, 1e-7, 2**53, 2**53 + 1, 2**63,
    -(2**63), 10**30, 10**30 + 1, 123456.789, True, False,
)  # fmt: skip
MISSING = (None, float("nan"), float("inf"), "")
TABLE = Options(input_format="table", header=True, multilabel=False)
NAMES = ("gold", "pred", "id", "text", "a b", "ü", "#", "1", "x.y", 'q"q', "select")


def label(value: object) -> str | None:
    """What a value is called as a label, by other means than the readers use; None: missing."""
    if isinstance(value, str):
        return value or None
    if value is None or not math.isfinite(value):
        return None
    exact = Decimal(value)
    if exact == exact.to_integral_value():
        return str(int(value))
    return re.sub(r"\.0$", "", json.dumps(value))


def random_table(rng: random.Random, kind: str) -> tuple[list[str], list[list[object]]]:
    extra = rng.sample(NAMES[2:], rng.randrange(4))
    names = ["gold", "pred", *extra]
    rng.shuffle(names)
    texts = TEXTS if kind == "tsv" else TEXTS + CONTROL
    few = rng.sample(texts, rng.randint(1, 12))
    typed = kind in ("jsonl", "list")

    def value() -> object:
        if rng.random() < 0.0005:
            return rng.choice(MISSING) if typed else ""
        if typed and rng.random() < 0.4:
            return rng.choice(NUMBERS)
        return rng.choice(few if rng.random() < 0.9 else texts)

    rows = [[value() for _ in names] for _ in range(rng.choice((1, 2, 5, 30, 200)))]
    return names, rows


def written(rng: random.Random, kind: str, names: list[str], rows: list[list[object]]) -> bytes:
    if kind == "jsonl":
        ascii_only = rng.random() < 0.5
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=ascii_only)
                 for row in rows]  # fmt: skip
        end = rng.choice(("\n", "\r\n"))
        return (end.join(lines) + end * rng.randrange(3)).encode()
    out = io.StringIO(newline="")
    end = rng.choice(("\n", "\r\n"))
    if kind == "tsv":
        for row in (names, *rows):
            out.write("\t".join(map(str, row)) + end)
    else:
        quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        if any("\r" in str(value) for row in rows for value in row):
            quoting = csv.QUOTE_ALL  # a bare CR ends a row, and Python's writer does not quote it
        writer = csv.writer(out, quoting=quoting, lineterminator=end)
        writer.writerow(names)
        writer.writerows(rows)
    text = out.getvalue() + end * rng.choice((0, 0, 2))
    encoding = rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16"))
    data = text.encode(encoding)
    return gzip.compress(data) if rng.random() < 0.1 else data


def by_the_oracle(kind: str, path: Path) -> list[dict[str, object]]:
    """The rows as Python reads them."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding)
    if kind == "jsonl":
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    if kind == "tsv":
        reader = csv.reader(io.StringIO(text, newline=""), "excel-tab", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(io.StringIO(text, newline=""))
    header, *rows = (row for row in reader if row)
    return [dict(zip(header, row, strict=True)) for row in rows]


def compared(expected: list[str | None], get) -> str | None:
    """What is wrong with the labels that a reader gives, or None."""
    missing = expected.count(None)
    try:
        labels = get()
    except InputError as error:
        return None if missing and f"missing labels: {missing} of" in str(error) else str(error)
    if missing:
        return f"{missing} missing labels were read as labels"
    found = [labels.names[code] for code in labels.codes.tolist()]
    if len(found) != len(expected):
        return f"{len(found)} of {len(expected)} rows"
    wrong = [i for i, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1]]
    return f"{found[wrong[0]]!r} for {expected[wrong[0]]!r}" if wrong else None


def run_case(rng: random.Random, folder: Path, tally: Counter) -> list[str]:
    kind = rng.choice(("csv", "csv", "tsv", "jsonl", "list"))
    names, rows = random_table(rng, kind)
    problems = []
    if kind == "list":
        values = [row[names.index("gold")] for row in rows]
        expected = [label(value) for value in values]
        tally["values"] += len(values)
        how = Options(predicted=True)  # of gold, continuous numbers are refused
        return [
            f"list: {p}"
            for p in [compared(expected, lambda: annotations_of(values, "pred", how))]
            if p
        ]
    path = folder / f"table.{kind}"
    path.write_bytes(written(rng, kind, names, rows))
    table = by_the_oracle(kind, path)
    for column in names:
        if column in ("gold", "pred"):
            continue
        expected = [label(row[column]) for row in table]
        tally["values"] += len(expected)
        problems.append(
            compared(expected, lambda c=column: read_pair(path, TABLE, gold=c, columns=[c])[0])
        )
    sides = {name: [label(row[name]) for row in table] for name in ("gold", "pred")}
    for place, name in enumerate(sides):
        if None in sides["pred" if name == "gold" else "gold"]:
            continue  # it is refused for the other side

        def get(place=place):
            gold, (pred,), _ = read_pair(path, TABLE)
            return (gold, pred)[place]

        tally["values"] += len(table)
        problems.append(compared(sides[name], get))
    return [f"{kind}: {problem}" for problem in problems if problem]


def fuzz(n: int, seed: int, start: int = 0) -> tuple[list[str], Counter]:
    """Read `n` tables; return what went wrong, and how many values were compared."""
    tally: Counter = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(start, start + n):
            rng = random.Random(f"{seed}/{number}")  # noqa: S311  # tables, not secrets
            wrong += [f"case {seed}/{number}: {p}" for p in run_case(rng, Path(name), tally)]
    return wrong, tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    options = parser.parse_args()
    wrong, tally = fuzz(options.n, options.seed, options.start)
    for problem in wrong[:20]:
        sys.stdout.write(f"{problem}\n")
    sys.stdout.write(f"{options.n} tables, {tally['values']} values, {len(wrong)} wrong\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
