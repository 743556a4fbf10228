"""Rows of tokens, written by Hugging Face's ``datasets``: ``python tests/recipes/rows_files.py``.

Needs ``datasets`` (made with 5.2). JSON lines with a dataset_info.json beside them, and Parquet, in
which the library describes the labels itself.
"""

from __future__ import annotations

import json
from pathlib import Path

from datasets import ClassLabel, Dataset, Features, Sequence, Value
from sentences import GOLD, NAMES, PREDICTED, TOKENS, numbers

ROWS = Path(__file__).resolve().parent.parent / "data" / "rows"


def main() -> None:
    ROWS.mkdir(parents=True, exist_ok=True)
    features = Features(
        {"tokens": Sequence(Value("string")), "ner_tags": Sequence(ClassLabel(names=NAMES))}
    )
    for name, tags in (("gold", GOLD), ("system", PREDICTED)):
        dataset = Dataset.from_dict({"tokens": TOKENS, "ner_tags": numbers(tags)}, features)
        dataset.to_parquet(ROWS / f"{name}.parquet")
        dataset.to_json(ROWS / f"{name}.jsonl")
    (ROWS / "dataset_info.json").write_text(
        json.dumps({"features": features.to_dict()}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
