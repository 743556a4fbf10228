"""Counts of stickler (1.0.0) for whole sets of records, reproduced by its own rule.

Its bulk result counts a nested object once (right if half of its fields are), a row of a list once
(right if 0.7 of its fields are), and another value as neither found nor missed: it is left out of
recall. Ours counts every field, and another value as a false positive and a false negative. The
script counts random invoices by that rule from our outcomes, compares the numbers with stickler's,
and prints both scores. Run as ``python benchmarks/records_stickler.py`` where stickler-eval is
installed.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter

from probative.matching.records import fields_of_document

try:
    warnings.filterwarnings("ignore")
    from stickler import ComparableField, ExactComparator, StructuredModel
    from stickler.structured_object_evaluator.bulk_structured_model_evaluator import (
        BulkStructuredModelEvaluator,
    )
except ImportError:  # not among the development tools
    StructuredModel = None

DOCUMENTS = 300
WORDS = ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "yew")
CELLS = {"right": "tp", "other value": "fd", "missing": "fn", "invented": "fa"}


def invoice(rng: random.Random) -> dict:
    """Make one invoice; every word of a row is there once, so that rows are not alike."""
    rows = [{"name": name, "unit": rng.choice(WORDS)} for name in rng.sample(WORDS, 4)]
    record = {"number": rng.choice(WORDS), "date": rng.choice(WORDS)}
    record |= {"vendor": {"name": rng.choice(WORDS), "town": rng.choice(WORDS)}}
    return record | {"rows": rows[: rng.randrange(1, 5)]}


def changed(record: dict, rng: random.Random) -> dict:
    """Return an invoice with other values, missing and invented fields, and fewer rows."""
    said = {key: rng.choice(WORDS) if rng.random() < 0.2 else record[key] for key in record}
    said["vendor"] = {key: other(value, rng) for key, value in record["vendor"].items()}
    kept = [row for row in record["rows"] if rng.random() > 0.15] or record["rows"][:1]
    said["rows"] = [{key: other(value, rng) for key, value in row.items()} for row in kept]
    return {key: value for key, value in said.items() if rng.random() > 0.1 or key == "rows"}


def other(value: str, rng: random.Random) -> str:
    return rng.choice(WORDS) if rng.random() < 0.15 else value


def by_their_rule(gold: dict, said: dict) -> Counter:
    """Count single fields as they are, nested objects and rows as one thing each."""
    found = fields_of_document(gold, said)
    cells = Counter(CELLS[f.kind] for f in found if f.path in ("number", "date"))
    vendor = [f.kind for f in found if f.path.startswith("vendor.")]
    if vendor:
        missing = all(kind == "missing" for kind in vendor)
        half = 2 * vendor.count("right") >= len(vendor)
        cells["fn" if missing else "tp" if half else "fd"] += 1
    # with two fields, a row is right only as a whole; left-over rows are paired as far as possible
    rows = [Counter(tuple(sorted(row.items())) for row in side["rows"]) for side in (gold, said)]
    right = (rows[0] & rows[1]).total()
    left, extra = rows[0].total() - right, rows[1].total() - right
    cells += Counter(tp=right, fd=min(left, extra))
    return cells + Counter(fn=max(left - extra, 0), fa=max(extra - left, 0))


def main() -> None:
    """Count the same invoices by both, and print the scores."""
    if StructuredModel is None:
        print("stickler-eval is not installed")
        return

    def exact():
        return ComparableField(comparator=ExactComparator(), threshold=1.0, default=None)

    text = str | None

    class Vendor(StructuredModel):
        name: text = exact()
        town: text = exact()

    class Row(StructuredModel):
        name: text = exact()
        unit: text = exact()

    class Invoice(StructuredModel):
        number: text = exact()
        date: text = exact()
        vendor: Vendor | None = ComparableField(default=None)
        rows: list[Row] | None = ComparableField(default=None)

    rng = random.Random(7)  # noqa: S311  (invented data)
    bulk = BulkStructuredModelEvaluator(target_schema=Invoice, verbose=False)
    ours, fields, differing = Counter(), Counter(), 0
    for _ in range(DOCUMENTS):
        gold = invoice(rng)
        said = changed(gold, rng)
        single = BulkStructuredModelEvaluator(target_schema=Invoice, verbose=False)
        for evaluator in (bulk, single):
            evaluator.update(Invoice.from_json(gold), Invoice.from_json(said))
        own = by_their_rule(gold, said)
        theirs = single.compute().metrics
        differing += any(theirs[cell] != own[cell] for cell in ("tp", "fd", "fn", "fa"))
        ours += own
        fields.update(f.kind for f in fields_of_document(gold, said))
    theirs = bulk.compute().metrics
    print("cell  stickler  reproduced")
    for cell in ("tp", "fd", "fn", "fa"):
        print(f"{cell:<4}  {theirs[cell]:>8}  {ours[cell]:>10}")
    print(f"documents that differ: {differing} of {DOCUMENTS}")
    wrong = 2 * fields["other value"] + fields["missing"] + fields["invented"]
    f1 = 2 * fields["right"] / (2 * fields["right"] + wrong)
    print(f"F1 of stickler {theirs['cm_f1']:.4f}, F1 of fields {f1:.4f}")


if __name__ == "__main__":
    main()
