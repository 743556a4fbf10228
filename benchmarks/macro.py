"""Macro averages of ten systems on a million tokens: reading, `compare` and `rank` apart.

The peers are approximate randomisation as it is usually written: whole sentences change sides, and
both outputs are scored again. One peer scores with seqeval, from tags; of it two exchanges are
timed. The other has the counts of every sentence and label in NumPy arrays already; of it fifty
exchanges are timed. Both are multiplied up to 10,000 exchanges of each of nine pairs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rank import answer, output, write
from timing import Line, seconds, show

from probative.comparison import compare_matched
from probative.matching.matched import match_inputs
from probative.options import CompareOptions, RankOptions
from probative.ranking import rank_matched

if TYPE_CHECKING:
    import probative as pv

SENTENCES, TOKENS, SYSTEMS = 43_000, 1_000_000, 10
EXCHANGES, TIMED_WITH_SEQEVAL, TIMED_WITH_NUMPY = 10_000, 2, 50


def seqeval_exchange(gold: list, a: list, b: list, rng: np.random.Generator) -> float:
    """One exchange, both sides scored again."""
    from seqeval.metrics import f1_score

    swap = rng.random(len(gold)) < 0.5
    new_a = [y if s else x for x, y, s in zip(a, b, swap, strict=True)]
    new_b = [x if s else y for x, y, s in zip(a, b, swap, strict=True)]
    return f1_score(gold, new_b, average="macro") - f1_score(gold, new_a, average="macro")


def numpy_exchange(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> float:
    """The same on counts: tp, fp, fn of every sentence and label."""
    swap = (rng.random(a.shape[1]) < 0.5)[:, None]

    def macro(counts: np.ndarray) -> float:
        tp, fp, fn = counts.sum(axis=1)
        return float(np.mean(2 * tp / (2 * tp + fp + fn)))

    return macro(np.where(swap, a, b)) - macro(np.where(swap, b, a))


def main() -> bool:
    rng = np.random.default_rng(19)
    lengths = 1 + rng.multinomial(TOKENS - SENTENCES, np.full(SENTENCES, 1 / SENTENCES))
    gold, hard = answer(lengths, rng), rng.normal(size=SENTENCES)
    skills = 2.5 + np.append(np.linspace(0, 0.15, SYSTEMS - 1), 0.004)
    outputs = [output(gold, skill, hard, rng) for skill in skills]
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / f"system{i}.conll" for i in range(SYSTEMS)]
        for path, own in zip(paths, outputs, strict=True):
            write(path, own)
        write(Path(place) / "gold.conll", gold)
        start = time.perf_counter()
        options = CompareOptions(average="macro", rng=0)
        names = [path.stem for path in paths]
        answer_file = str(Path(place) / "gold.conll")
        files = [str(path) for path in paths]
        matched = match_inputs(
            answer_file, files, names=names, find_positive=False, reading=options
        )
        reading = time.perf_counter() - start
    found: list[pv.Comparisons] = []
    ranked: list[pv.Ranking] = []
    ranks = RankOptions(average="macro", rng=0)
    with_compare = seconds(
        lambda: found.append(compare_matched(matched, options, examples=False)), 3
    )
    with_rank = seconds(lambda: ranked.append(rank_matched(matched, ranks, {"n_jobs": -1})), 3)

    cells = [matched.items.by_unit_and_label(k) for k in range(2)]
    tables = []
    for own in cells:
        table = np.zeros((3, own.n_units, own.n_labels))
        for part, counts in enumerate((own.counts.tp, own.counts.fp, own.counts.fn)):
            table[part, own.unit, own.label] = counts
        tables.append(table)
    pairs = SYSTEMS - 1
    start = time.perf_counter()
    for _ in range(TIMED_WITH_NUMPY):
        numpy_exchange(*tables, rng)
    with_numpy = (time.perf_counter() - start) / TIMED_WITH_NUMPY * EXCHANGES * pairs
    start = time.perf_counter()
    for _ in range(TIMED_WITH_SEQEVAL):
        seqeval_exchange(gold, outputs[0], outputs[1], rng)
    with_seqeval = (time.perf_counter() - start) / TIMED_WITH_SEQEVAL * EXCHANGES * pairs

    load = os.getloadavg()[0]
    print(f"\n{SYSTEMS} systems, {TOKENS:,} tokens, {SENTENCES:,} sentences, load {load:.1f}")
    print(f"reading and matching {SYSTEMS + 1} files: {reading:.1f} s")
    for c in found[0].comparisons:
        drawn = f"{c.draws:,} draws, p between {c.pvalue_low:.4g} and {c.pvalue_high:.4g}"
        print(f"  {c.b}: {c.difference:+.4f}, p = {c.pvalue:.4g} ({c.p_adjusted:.4g}), {drawn}")
    print("  rank:", *(note for note in ranked[0].notes if "sampled" in note or "clear" in note))
    return show(
        "Macro F1 of ten systems, reading apart; peers multiplied up to 10,000 exchanges of a pair",
        [
            Line(
                "compare, 9 pairs, everything but reading / NumPy loop",
                with_compare,
                with_numpy,
                0.1,
            ),
            Line("compare, 9 pairs / seqeval loop", with_compare, with_seqeval, 0.001),
            Line("compare, 9 pairs / 10 s", with_compare, 10.0, 1.0),
            Line("rank, 45 pairs / NumPy loop of 9 pairs", with_rank, with_numpy, 0.2),
        ],
    )


if __name__ == "__main__":
    sys.exit(not main())
