"""Fields of JSON records: ours against omni-extract-bench (0.1.7), counts and time.

Random nested records without anything that its foldings would change (case, punctuation, numbers in
texts): the fields that are right, returned and in gold must be the same in every document. Then
invoices of about 25 fields, and one list of 2,000 rows against 2,000. Run as ``python
benchmarks/records.py`` where omni-extract-bench is installed.
"""

from __future__ import annotations

import copy
import random

from timing import Line, seconds, show

from probative.matching.records import match_records
from probative.reading.records import records_from_objects

try:
    from omni_extract_bench import score
except ImportError:  # not among the development tools
    score = None

SCHEMA = {"type": "object"}
DOCUMENTS, INVOICES, ROWS = 1_000, 100, 2_000
AT_MOST, LIST_AT_MOST = 0.4, 1.0
WORDS = ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "yew")


def value_of(rng: random.Random, depth: int):
    """A scalar, an object, or a list of either or of lists."""
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice([rng.choice(WORDS), rng.randrange(6), rng.randrange(9) / 4, None, ""])
    if kind < 0.7:
        return object_of(rng, depth - 1)
    if kind < 0.8:
        return [value_of(rng, 0) for _ in range(rng.randrange(4))]
    if kind < 0.95:
        return [object_of(rng, depth - 1) for _ in range(rng.randrange(5))]
    return [[value_of(rng, 0) for _ in range(rng.randrange(3))] for _ in range(rng.randrange(3))]


def object_of(rng: random.Random, depth: int) -> dict:
    return {f"k{i}": value_of(rng, depth) for i in rng.sample(range(5), rng.randrange(1, 5))}


def changed(value, rng: random.Random):
    """The same with some values changed, dropped, added and in another order."""
    if isinstance(value, dict):
        kept = {k: changed(v, rng) for k, v in value.items() if rng.random() > 0.1}
        return {**kept, **(object_of(rng, 1) if rng.random() < 0.1 else {})}
    if isinstance(value, list):
        kept = [changed(v, rng) for v in value if rng.random() > 0.1]
        rng.shuffle(kept)
        return kept + ([copy.deepcopy(rng.choice(kept))] if kept and rng.random() < 0.2 else [])
    return value if rng.random() > 0.2 else value_of(rng, 1)


def invoice(rng: random.Random) -> dict:
    return {
        "number": f"inv{rng.randrange(10**6)}",
        "total": rng.randrange(10**5) / 100,
        "vendor": {"name": rng.choice(WORDS), "city": rng.choice(WORDS), "country": "de"},
        "items": [
            {"sku": f"s{rng.randrange(500)}", "name": rng.choice(WORDS), "qty": rng.randrange(5)}
            | {"price": rng.randrange(10**4) / 100}
            for _ in range(5)
        ],
    }


def row(rng: random.Random) -> dict:
    return {f"c{k}": rng.randrange(10 ** (k % 4 + 1)) for k in range(8)}


def ours(gold: list[dict], said: list[dict]):
    return match_records(records_from_objects(gold, "gold"), [records_from_objects(said, "A")])


def same_counts(gold: list[dict], said: list[dict]) -> int:
    """The number of documents in which both count the same."""
    counts = ours(gold, said).items.counts(0, by="sentence")
    same = 0
    for i, (one, other) in enumerate(zip(gold, said, strict=True)):
        theirs = score(other, one, SCHEMA)
        in_gold = theirs["matched"] + theirs["misread"] + theirs["unfound"]
        mine = (counts.tp[i], counts.tp[i] + counts.fp[i], counts.tp[i] + counts.fn[i])
        same += mine == (theirs["matched"], theirs["asserted"], in_gold)
    return same


def main() -> bool:
    if score is None:
        print("records: omni-extract-bench is not installed")
        return True
    rng = random.Random(1)  # noqa: S311
    gold = [object_of(rng, 4) for _ in range(DOCUMENTS)]
    same = same_counts(gold, [changed(record, rng) for record in gold])
    print(f"{same} of {DOCUMENTS} random documents have the same counts as omni-extract-bench")
    gold = [invoice(rng) for _ in range(INVOICES)]
    said = [changed(record, rng) for record in gold]
    same_invoices = same_counts(gold, said)
    lines = [
        Line(
            f"{INVOICES} invoices of about 25 fields",
            seconds(lambda: ours(gold, said)),
            seconds(lambda: [score(p, g, SCHEMA) for g, p in zip(gold, said, strict=True)], 1),
            AT_MOST,
        )
    ]
    rows = [row(rng) for _ in range(ROWS)]
    others = [{**each, "c0": each["c0"] + 100} for each in rows]
    rng.shuffle(others)
    one, other = {"rows": rows}, {"rows": others}
    lines.append(
        Line(
            f"a list of {ROWS} rows against {ROWS}",
            seconds(lambda: ours([one], [other]), 2),
            seconds(lambda: score(other, one, SCHEMA), 1),
            LIST_AT_MOST,
        )
    )
    agree = same == DOCUMENTS and same_invoices == INVOICES
    return show("Records", lines) and agree


if __name__ == "__main__":
    raise SystemExit(not main())
