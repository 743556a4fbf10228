"""The almost stochastic order beside the package that the field uses for it: the same, sooner.

Needs deepsig, and says so where it is not installed.
"""

from __future__ import annotations

import time
import warnings
from importlib.util import find_spec

import numpy as np
from scipy import special
from timing import Line, show

from probative.inference.runs import _violation_ratios, almost_stochastic_order

PAIRS, RESAMPLES, SEED = 50, 200, 0
TIMED, USUAL = 3, 1000  # pairs that are timed: the usual five runs, and number of resamples
GRID = 0.005  # the step of their integrals; ours are sums, and exact


def monte_carlo_error(better: np.ndarray, worse: np.ndarray, rng: np.random.Generator) -> float:
    """How far a limit from a thousand random resamples lies from the exact one, typically."""
    batches = 100
    x, y = (np.sort(rng.choice(s, (batches * RESAMPLES, len(s)))) for s in (better, worse))
    ratios = _violation_ratios(x, y).reshape(batches, RESAMPLES)
    return float(special.ndtri(0.95) * np.std(np.std(ratios, axis=1)))


def random_pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The scores of three to seven runs of two systems that differ by about their spread."""
    sizes, means = rng.integers(3, 8, 2), 0.75 + rng.normal(0, 0.01, 2)
    better, worse = (rng.normal(m, 0.01, n) for m, n in zip(means, sizes, strict=True))
    return better, worse


def main() -> bool:
    if find_spec("deepsig") is None:
        print("runs: deepsig is not installed; nothing to compare with")
        return True
    from deepsig import aso
    from deepsig.aso import compute_violation_ratio

    def theirs(better: np.ndarray, worse: np.ndarray, resamples: int, seed: int) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = {"num_bootstrap_iterations": resamples, "dt": GRID, "seed": seed}
            return float(aso(better, worse, show_progress=False, **how))

    rng = np.random.default_rng(SEED)
    pairs = [random_pair(rng) for _ in range(PAIRS)]
    apart, far = [], []
    for number, (better, worse) in enumerate(pairs):
        gap = abs(
            almost_stochastic_order(better, worse)
            - theirs(better, worse, RESAMPLES, 10 * USUAL * number)
        )
        # their integral is a sum over a grid, without its first point
        ratio = _violation_ratios(np.sort(better)[None], np.sort(worse)[None])[0]
        grid = abs(compute_violation_ratio(better, worse, dt=GRID) - ratio) + GRID
        error = monte_carlo_error(better, worse, rng)
        apart.append(gap)
        far.append((gap - grid) / error if gap > grid else 0.0)
    print(
        f"{PAIRS} pairs of 3 to 7 runs, {RESAMPLES} resamples over there, all of them here: limits "
        f"differ by {np.mean(apart):.4f} on average and {max(apart):.4f} at most; beyond what the "
        f"grid does by {max(far):.2f} Monte-Carlo errors at most, by more than two in "
        f"{np.count_nonzero(np.array(far) > 2)} pairs"
    )
    timed = [rng.normal(0.75, 0.01, (2, 5)) for _ in range(TIMED)]
    spent = []
    for work in (almost_stochastic_order, lambda p, q: theirs(p, q, USUAL, SEED)):
        start = time.process_time()
        for better, worse in timed:
            work(better, worse)
        spent.append((time.process_time() - start) / TIMED)
    times = Line("almost stochastic order of five runs of two systems", *spent, 0.05)
    return show("runs", [times]) and max(far) < 4


if __name__ == "__main__":
    raise SystemExit(not main())
