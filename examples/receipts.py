"""Write receipts as JSON records: gold, a baseline and a challenger, as models return them.

``python examples/receipts.py FOLDER`` writes ``gold.jsonl``, ``baseline.jsonl`` and
``challenger.jsonl`` with 120 invented receipts. The baseline writes some dates and amounts in
another form, drops rows and wraps some outputs in code fences; the challenger reads more values
right, but loses the tax more often.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from pathlib import Path

DOCUMENTS = 120
SHOPS = ("Alder Books", "Birch & Sons", "Cedar Foods", "Elm Hardware", "Fir Pharmacy", "Hazel Café")
GOODS = (
    "apples",
    "batteries",
    "candles",
    "envelopes",
    "flour",
    "glue",
    "honey",
    "ink",
    "jam",
    "nails",
)


def receipt(rng: random.Random, number: int) -> dict:
    """Make one receipt."""
    rows = [
        {
            "name": name,
            "quantity": rng.randrange(1, 6),
            "price": rng.randrange(50, 2000) / 100,
        }
        for name in rng.sample(GOODS, rng.randrange(1, 6))
    ]
    total = round(sum(row["quantity"] * row["price"] for row in rows), 2)
    return {
        "id": f"r{number:03d}",
        "vendor": {"name": rng.choice(SHOPS), "vat": f"DE{rng.randrange(10**8, 10**9)}"},
        "date": f"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
        "total": total,
        "tax": round(total * 0.07, 2),
        "payment": rng.choice(("card", "cash", None)),
        "items": rows,
    }


def misread(gold: dict, rng: random.Random, errors: float) -> dict:
    """Return a receipt with errors; a document that is hard to read has many of them."""
    said = copy.deepcopy(gold)
    errors = min(0.9, errors * rng.choice((0.3, 0.6, 2.1)))
    if rng.random() < errors:
        said["total"] = round(said["total"] + rng.choice((-1, 1, 10)), 2)
    if rng.random() < errors:
        said["vendor"]["vat"] = said["vendor"]["vat"][:-1]
    if rng.random() < errors / 2:
        said["vendor"]["name"] = rng.choice(SHOPS)
    if rng.random() < errors:
        said["payment"] = "card" if said["payment"] is None else None
    said["items"] = [row for row in said["items"] if rng.random() > errors / 2]
    for row in said["items"]:
        if rng.random() < errors:
            row["quantity"] += 1
        if rng.random() < errors:
            row["price"] = round(row["price"] * 10, 2)
    rng.shuffle(said["items"])
    return said


def baseline(gold: dict, rng: random.Random) -> str:
    """Return what the baseline says: dates and totals in another form, sometimes a code fence."""
    said = misread(gold, rng, 0.12)
    if rng.random() < 0.35:
        year, month, day = said["date"].split("-")
        said["date"] = f"{day}.{month}.{year}"
    if rng.random() < 0.2:
        said["vendor"]["name"] = said["vendor"]["name"].upper()
    chance = rng.random()
    if chance < 0.02:
        return f'{{"id": "{said["id"]}", "vendor": '
    text = json.dumps(said, ensure_ascii=False)
    return f"```json\n{text}\n```" if chance < 0.07 else text


def challenger(gold: dict, rng: random.Random) -> str:
    """Return what the challenger says: fewer errors, but the tax is often missing."""
    said = misread(gold, rng, 0.06)
    if rng.random() < 0.25:
        del said["tax"]
    if rng.random() < 0.01:
        return "I could not find a receipt in this image."
    return json.dumps(said, ensure_ascii=False)


def write(folder: Path, documents: int = DOCUMENTS) -> None:
    """Write gold and the outputs of both systems."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(2026)  # noqa: S311  (invented data)
    golds = [receipt(rng, number) for number in range(1, documents + 1)]
    lines = {"gold": [json.dumps(gold, ensure_ascii=False) for gold in golds]}
    for name, system in (("baseline", baseline), ("challenger", challenger)):
        lines[name] = [
            json.dumps({"id": gold["id"], "output": system(gold, rng)}, ensure_ascii=False)
            for gold in golds
        ]
    for name, own in lines.items():
        (folder / f"{name}.jsonl").write_text("\n".join(own) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the three files")
    write(parser.parse_args().folder)
