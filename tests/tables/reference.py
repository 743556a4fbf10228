"""What a tally should be, counted row by row in plain Python."""

from __future__ import annotations

from collections import Counter

from probative.labels import label_text


def text(value):
    """The text of a label; None for what is missing."""
    return label_text(value)


def kept_rows(rows, columns, on_null):
    """The rows that count, labels as texts."""
    as_texts = [
        {name: text(value) if name in columns else value for name, value in row.items()}
        for row in rows
    ]
    if on_null == "drop":
        return [row for row in as_texts if all(row[name] is not None for name in columns)]
    return as_texts


def case(row, gold, a, b, label):
    """Which of the eight cases a row is, for one class against the rest."""
    yes_a, yes_b, answer = row[a] == label, row[b] == label, row[gold] == label
    return {(True, False): 0, (False, True): 2, (True, True): 4, (False, False): 6}[
        yes_a, yes_b
    ] + (not answer)


def cases_of(rows, gold, a, b, label):
    number = Counter(case(row, gold, a, b, label) for row in rows)
    return [number[c] for c in range(8)]


def unit_cases(rows, gold, a, b, label, unit):
    """How many units have which eight cases."""
    own = {}
    for row in rows:
        own.setdefault(row[unit], []).append(row)
    return Counter(tuple(cases_of(part, gold, a, b, label)) for part in own.values())


def kinds_of(paired, width=8):
    """The same of a `PairedCounts`."""
    rows = paired.cases[:, :width].astype(int).tolist()
    number = paired.multiplicity.tolist()
    return Counter({tuple(row): times for row, times in zip(rows, number, strict=True)})
