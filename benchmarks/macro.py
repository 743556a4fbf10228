"""Macro averages of ten systems on a million tokens: reading, `compare` and `rank` apart.

All figures are processor seconds, so that what else runs on the machine hardly counts. The peers
are approximate randomisation as it is usually written: whole sentences change sides, and both
outputs are scored again. One peer scores with seqeval, from tags; of it one exchange is timed. The
other has the counts of every sentence and label in NumPy arrays already; of it twenty exchanges are
timed. Both are multiplied up to 10,000 exchanges of each of nine pairs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timing import Line, show

from probative.jobs.compare import compare_matched
from probative.jobs.rank import rank_matched
from probative.matching.matched import match_inputs
from probative.options import CompareOptions, RankOptions

if TYPE_CHECKING:
    from collections.abc import Callable

SENTENCES, TOKENS, SYSTEMS = 43_000, 1_000_000, 10
EXCHANGES, TIMED_WITH_SEQEVAL, TIMED_WITH_NUMPY = 10_000, 1, 20
TYPES = 4
TAGS = np.array(["O", *(f"{p}-{kind}" for kind in ("PER", "LOC", "ORG", "MISC") for p in "BI")])


def processor_seconds(work: Callable[[], object]) -> tuple[float, object]:
    """How long all cores together worked, and the answer."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def drawn_tags(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers of tags: entities of one or two tokens, about one token in eight begins one."""
    n = int(lengths.sum())
    first = rng.random(n) < 0.125
    first[1:] &= ~first[:-1]
    kind = rng.integers(TYPES, size=n)
    tags = np.where(first, 2 * kind + 1, 0)
    ends = np.zeros(n, dtype=bool)
    ends[np.cumsum(lengths) - 1] = True
    second = np.flatnonzero(first & ~ends & (rng.random(n) < 0.5))
    second = second[~first[second + 1]]
    tags[second + 1] = tags[second] + 1
    return tags


def output(
    gold: np.ndarray, wrong: np.ndarray, sentence: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """What a system returns: the harder a sentence is, the more entities change or vanish."""
    said, chance, share = gold.copy(), rng.random(len(gold)), wrong[sentence]
    changed = np.flatnonzero((gold % 2 == 1) & (chance < share))
    said[changed] = 2 * rng.integers(TYPES, size=len(changed)) + 1
    said[np.flatnonzero((gold % 2 == 1) & (chance < share / 3))] = 0
    extra = np.flatnonzero((gold == 0) & (chance < 0.02 * share))
    said[extra] = 2 * rng.integers(TYPES, size=len(extra)) + 1
    return said


def as_lists(tags: np.ndarray, lengths: np.ndarray) -> list[list[str]]:
    words = TAGS[tags].tolist()
    ends = np.cumsum(lengths).tolist()
    return [words[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


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
    sentence, hard = np.repeat(np.arange(SENTENCES), lengths), rng.normal(size=SENTENCES)
    gold_tags = drawn_tags(lengths, rng)
    gold = as_lists(gold_tags, lengths)
    outputs = []
    for skill in 2.5 + np.append(np.linspace(0, 0.15, SYSTEMS - 1), 0.004):
        wrong = 1 / (1 + np.exp(skill - hard - 0.5 * rng.normal(size=SENTENCES)))
        outputs.append(as_lists(output(gold_tags, wrong, sentence, rng), lengths))
    options = CompareOptions(average="macro", rng=0)
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / f"{name}.conll" for name in ("gold", "a")]
        for path, side in zip(paths, (gold, outputs[0]), strict=True):
            path.write_text("\n\n".join("\n".join(f"w {tag}" for tag in own) for own in side))
        reading, _ = processor_seconds(
            lambda: match_inputs(str(paths[0]), [str(paths[1])], names=["a"], reading=options)
        )
    names = [f"system{i}" for i in range(SYSTEMS)]
    matching, matched = processor_seconds(
        lambda: match_inputs(gold, outputs, names=names, find_positive=False, reading=options)
    )
    with_compare, found = processor_seconds(
        lambda: compare_matched(matched, options, examples=False)
    )
    with_rank, ranked = processor_seconds(
        lambda: rank_matched(matched, RankOptions(average="macro", rng=0), {"n_jobs": -1})
    )
    load = os.getloadavg()[0]
    print(f"\n{SYSTEMS} systems, {TOKENS:,} tokens, {SENTENCES:,} sentences, load {load:.1f}")
    print(f"reading two files and matching them: {reading:.2f} s")
    print(f"matching {SYSTEMS + 1} lists of tags: {matching:.2f} s")
    for c in found.comparisons:
        drawn = f"{c.draws:,} draws, p between {c.pvalue_low:.4g} and {c.pvalue_high:.4g}"
        p = f"p = {c.pvalue:.4g}, adjusted {c.p_adjusted:.4g}"
        print(f"  {c.b}: {c.difference:+.4f}, {p}, {drawn}", flush=True)
    print("  rank:", *(note for note in ranked.notes if "sampled" in note or "clear" in note))

    tables = []
    for own in (matched.items.by_unit_and_label(k) for k in range(2)):
        table = np.zeros((3, own.n_units, own.n_labels))
        for part, counts in enumerate((own.counts.tp, own.counts.fp, own.counts.fn)):
            table[part, own.unit, own.label] = counts
        tables.append(table)
    scale = EXCHANGES * (SYSTEMS - 1)
    with_numpy, _ = processor_seconds(
        lambda: [numpy_exchange(*tables, rng) for _ in range(TIMED_WITH_NUMPY)]
    )
    with_seqeval, _ = processor_seconds(
        lambda: [seqeval_exchange(gold, *outputs[:2], rng) for _ in range(TIMED_WITH_SEQEVAL)]
    )
    with_numpy, with_seqeval = (
        with_numpy / TIMED_WITH_NUMPY * scale,
        with_seqeval / TIMED_WITH_SEQEVAL * scale,
    )
    return show(
        "Macro F1 of ten systems without reading, processor time; peers: 10,000 exchanges a pair",
        [
            Line("compare, 9 pairs, all but reading / NumPy loop", with_compare, with_numpy, 0.1),
            Line(
                "compare, 9 pairs, all but reading / seqeval loop", with_compare, with_seqeval, 1e-3
            ),
            Line("compare, 9 pairs, all but reading / 10 s", with_compare, 10.0, 1.0),
            Line("rank, 45 pairs, all but reading / NumPy loop of 9", with_rank, with_numpy, 0.2),
        ],
    )


if __name__ == "__main__":
    sys.exit(not main())
