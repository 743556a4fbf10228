"""The jobs of other tools, here and there: a million tags, a million labels."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import conlleval
import numpy as np
import seqeval.metrics as peer
from reading import SENTENCES, TOKENS, in_turns, sequences, write_columns
from seqeval.scheme import IOB2
from sklearn.metrics import classification_report
from timing import Line, show

import probative as pv
from probative import seqeval

LABELS = 1_000_000


def labels() -> tuple[np.ndarray, np.ndarray]:
    """The answer and an output of five classes, wrong in one of ten."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 5, LABELS)
    return gold, np.where(rng.random(LABELS) < 0.1, rng.integers(0, 5, LABELS), gold)


def by_conlleval(path: Path) -> None:
    with path.open() as file:
        conlleval.report(conlleval.evaluate(line.rstrip("\n") for line in file))


def main() -> bool:
    warnings.simplefilter("ignore")
    gold, pred = sequences(1)
    numbers = labels()
    words = [np.array(["ant", "bee", "cow", "dog", "elk"])[side] for side in numbers]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "both.conll"
        write_columns(path, gold, pred, 1)
        best = in_turns(
            3,
            report=lambda: seqeval.classification_report(gold, pred),
            bare=lambda: seqeval.classification_report(gold, pred, level=None),
            f1=lambda: seqeval.f1_score(gold, pred),
            strict=lambda: seqeval.classification_report(gold, pred, mode="strict", scheme=IOB2),
            file=lambda: pv.score(path).to_dict(),
            numbers=lambda: pv.score(*numbers).to_dict(),
            words=lambda: pv.score(*words).to_dict(),
        )
        theirs = in_turns(
            1,
            report=lambda: peer.classification_report(gold, pred),
            f1=lambda: peer.f1_score(gold, pred),
            strict=lambda: peer.classification_report(gold, pred, mode="strict", scheme=IOB2),
            file=lambda: by_conlleval(path),
            numbers=lambda: classification_report(*numbers),
            words=lambda: classification_report(*words),
        )
    return show(
        f"Reports of {SENTENCES * TOKENS:,} tags in {SENTENCES:,} sentences, and of as many labels",
        [
            Line("classification_report with intervals / seqeval's",
                 best["report"], theirs["report"], 1 / 10),
            Line("classification_report without / seqeval's",
                 best["bare"], theirs["report"], 1 / 10),
            Line("the same in strict mode / seqeval's", best["strict"], theirs["strict"], 1 / 10),
            Line("f1_score / seqeval's", best["f1"], theirs["f1"], 1 / 4),
            Line("score of a file with intervals / conlleval in Python",
                 best["file"], theirs["file"], 1 / 4),
            Line("score of words with intervals / scikit-learn's report",
                 best["words"], theirs["words"], 1),
            # an array of whole numbers is what scikit-learn is fastest with
            Line("score of whole numbers with intervals / scikit-learn's report",
                 best["numbers"], theirs["numbers"], 6),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(not main())
