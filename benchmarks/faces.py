"""The faces of other tools against those tools: seqeval's report on a million tokens."""

from __future__ import annotations

import warnings

import seqeval.metrics as peer
from reading import SENTENCES, TOKENS, in_turns, sequences
from seqeval.scheme import IOB2
from timing import Line, show

from probative import seqeval


def main() -> bool:
    warnings.simplefilter("ignore")
    gold, pred = sequences(1)
    best = in_turns(
        3,
        report=lambda: seqeval.classification_report(gold, pred),
        bare=lambda: seqeval.classification_report(gold, pred, level=None),
        f1=lambda: seqeval.f1_score(gold, pred),
        strict=lambda: seqeval.classification_report(gold, pred, mode="strict", scheme=IOB2),
    )
    theirs = in_turns(
        1,
        report=lambda: peer.classification_report(gold, pred),
        f1=lambda: peer.f1_score(gold, pred),
        strict=lambda: peer.classification_report(gold, pred, mode="strict", scheme=IOB2),
    )
    return show(
        f"The face of seqeval, {SENTENCES * TOKENS:,} tokens in {SENTENCES:,} sentences",
        [
            Line("classification_report with intervals / seqeval's",
                 best["report"], theirs["report"], 1 / 10),
            Line("classification_report without / seqeval's",
                 best["bare"], theirs["report"], 1 / 10),
            Line("the same in strict mode / seqeval's", best["strict"], theirs["strict"], 1 / 10),
            Line("f1_score / seqeval's", best["f1"], theirs["f1"], 1 / 4),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(not main())
