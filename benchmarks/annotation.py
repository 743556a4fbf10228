"""Scores of a pool from few labels, beside OASIS (F1 of items) and ppi_py (a mean with a judge).

    python benchmarks/annotation.py [REPLICATES]

OASIS and the samplers that come with it give an estimate and no interval: beside our width stands
the width that an ideal interval would need, 3.92 times the root mean square error of the estimates
over the repetitions. ppi_py's interval of a mean is for what the pool was drawn from; so is ours
here. A peer that is not installed is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
from scipy import special

from probative.counts import Counts
from probative.inference.rare_positives import rare_interval
from probative.inference.stratified import Draw, Judge, PoolScores
from probative_studies.annotation import ItemQuestion, make_items

HERE = Path(__file__).resolve().parent
LEVEL, LABELS, ITEMS, POOL = 0.95, (200, 400), 100_000, 10_000
IDEAL = 2 * float(special.ndtri((1 + LEVEL) / 2))
ALPHA = 0.5  # OASIS' weight of precision in the F-measure: F1
STRATA = 30  # for the samplers that have strata


@dataclass(frozen=True)
class Row:
    what: str
    labels: int
    method: str
    error: float
    width: float
    coverage: float | None
    replicates: int

    def __str__(self) -> str:
        covered = "–" if self.coverage is None else f"{self.coverage:.3f}"
        return (
            f"| {self.what} | {self.labels} | {self.method} | {self.error:.4f} | "
            f"{self.width:.4f} | {covered} | {self.replicates} |"
        )


def peer(name: str):
    """Another tool, if it is installed; benchmarks have names that libraries have, too."""
    before = sys.path[:]
    sys.path[:] = [folder for folder in before if Path(folder).resolve() != HERE]
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: left out")
        return None
    finally:
        sys.path[:] = before


def f_measure(replicates: int) -> list[Row]:
    """Calibrated and bold confidences, rare positives: every sampler labels as many items."""
    oasis = peer("oasis")
    for name in ("percentile", "ptp"):  # SciPy had them when OASIS 0.1.3 was written
        vars(scipy).setdefault(name, getattr(np, name))
    rows = []
    for kind, prevalence in (("calibrated", 0.01), ("bold", 0.01), ("calibrated", 0.002)):
        rng = np.random.default_rng(1)
        pool = make_items(rng, prevalence, 2.5, kind, ITEMS)
        what = f"F1 of {ITEMS:,} items, prevalence {prevalence:g}, {kind}"
        for n in LABELS:
            question = ItemQuestion(pool, "score", n, by_confidence=True, random=False)
            told = [rare_interval(question.label(rng)) for _ in range(replicates)]
            held = [one.low <= question.truth <= one.high for one in told]
            width = float(np.mean([one.high - one.low for one in told]))
            error = _error([one.estimate for one in told], question.truth)
            rows.append(Row(what, n, "probative", error, width, np.mean(held), replicates))
            if oasis is None:
                continue
            for name in ("PassiveSampler", "DruckSampler", "ImportanceSampler", "OASISSampler"):
                number = max(10, replicates // 2)  # these draw one item at a time
                values = [_estimate(oasis, name, pool, n, seed) for seed in range(number)]
                error = _error(values, question.truth)
                rows.append(
                    Row(what, n, f"OASIS 0.1.3: {name}", error, IDEAL * error, None, number)
                )
    return rows


def _error(estimates: list[float], truth: float) -> float:
    """The root mean square error; no estimate counts as 0."""
    return float(np.sqrt(np.mean((np.nan_to_num(np.asarray(estimates)) - truth) ** 2)))


def _estimate(oasis, name: str, pool, n: int, seed: int) -> float:
    np.random.seed(seed)  # noqa: NPY002  # it draws from the global generator
    predictions = pool.returned[0].astype(int)
    scores = special.expit(pool.confidence)

    def oracle(item):
        return int(pool.positive[item])

    with_scores = ([], {}) if name == "PassiveSampler" else ([scores], {"proba": True})
    if name in ("DruckSampler", "OASISSampler"):
        with_scores[1]["stratification_n_strata"] = STRATA
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        sampler = getattr(oasis, name)(
            ALPHA, predictions, *with_scores[0], oracle, max_iter=50 * n, **with_scores[1]
        )
        sampler.sample_distinct(n)
    values = np.ravel(np.asarray(sampler.estimate_)[: sampler.t_])
    return float(values[-1])


def mean_with_judge(replicates: int) -> list[Row]:
    """The share of right answers of a pool; a judge agrees with the truth more or less often."""
    ppi = peer("ppi_py")
    rows = []
    for share, agree in ((0.8, 0.95), (0.8, 0.8), (0.95, 0.9), (0.8, 0.5)):
        rng = np.random.default_rng(2)
        what = f"share of right answers {share:g}, a judge that agrees in {agree:g}"
        for n in LABELS:
            ours, theirs = [], []
            for _ in range(replicates):
                right = (rng.random(POOL) < share).astype(float)
                opinion = np.where(rng.random(POOL) < agree, right, 1 - right)
                units = rng.choice(POOL, n, replace=False)
                ours.append(_judged(right, opinion, units))
                if ppi is not None:
                    rest = np.setdiff1d(np.arange(POOL), units)
                    low, high = ppi.ppi_mean_ci(
                        right[units], opinion[units], opinion[rest], alpha=1 - LEVEL
                    )
                    theirs.append((float(np.mean([low, high])), float(low[0]), float(high[0])))
            for method, found in (("probative", ours), ("ppi_py 0.2.3, tuned", theirs)):
                if found:
                    rows.append(_row(what, n, method, found, share))
    return rows


def _judged(right, opinion, units) -> tuple[float, float, float]:
    draw = Draw(np.zeros(len(units), np.intp), [POOL])
    judge = Judge([_correct(opinion)], np.zeros(POOL, np.intp), units)
    found = PoolScores(
        [_correct(right[units])], draw, "precision", level=LEVEL, finite=False, judge=judge
    ).score()
    return found.estimate, found.low, found.high


def _correct(right) -> Counts:
    return Counts(right, 1 - right, np.zeros_like(right))


def _row(what: str, n: int, method: str, found: list, truth: float) -> Row:
    estimate, low, high = np.array(found).T
    held = float(np.mean((low <= truth) & (truth <= high)))
    error = _error(estimate.tolist(), truth)
    return Row(what, n, method, error, float(np.mean(high - low)), held, len(found))


def main(replicates: int = 200) -> bool:
    rows = [*f_measure(replicates), *mean_with_judge(5 * replicates)]
    print("| what | labels | method | error | width | coverage | repetitions |")
    print("| :--- | ---: | :--- | ---: | ---: | ---: | ---: |")
    for row in rows:
        print(row)
    ours = [row for row in rows if row.method == "probative"]
    return all(row.coverage is not None and row.coverage > 0.9 for row in ours)


if __name__ == "__main__":
    raise SystemExit(not main(*map(int, sys.argv[1:])))
