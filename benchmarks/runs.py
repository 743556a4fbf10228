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

from probative.inference.run_scores import _violation_ratios, almost_stochastic_order

PAIRS, RESAMPLES, SEED = 50, 1000, 0
GRID = 0.005  # the step of their integrals; ours are sums, and exact


def monte_carlo_error(better: np.ndarray, worse: np.ndarray, rng: np.random.Generator) -> float:
    """How far a limit from a thousand random resamples lies from the exact one, typically."""
    batches = 100
    x, y = (np.sort(rng.choice(s, (batches * RESAMPLES, len(s)))) for s in (better, worse))
    ratios = _violation_ratios(x, y).reshape(batches, RESAMPLES)
    return float(special.ndtri(0.95) * np.std(np.std(ratios, axis=1)))


def main() -> bool:
    if find_spec("deepsig") is None:
        print("runs: deepsig is not installed; nothing to compare with")
        return True
    from deepsig import aso
    from deepsig.aso import compute_violation_ratio

    rng = np.random.default_rng(SEED)
    ours = peer = 0.0
    far: list[float] = []
    apart: list[float] = []
    for number in range(PAIRS):
        sizes = rng.integers(3, 8, 2)
        means = 0.75 + rng.normal(0, 0.01, 2)
        better, worse = (rng.normal(m, 0.01, n) for m, n in zip(means, sizes, strict=True))
        start = time.process_time()
        exact = almost_stochastic_order(better, worse)
        ours += time.process_time() - start
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = aso(
                better,
                worse,
                num_bootstrap_iterations=RESAMPLES,
                dt=GRID,
                seed=SEED + 10 * RESAMPLES * number,
                show_progress=False,
            )
        peer += time.process_time() - start
        apart.append(abs(exact - theirs))
        # their integral is a sum over a grid, without its first point
        ratio = _violation_ratios(np.sort(better)[None], np.sort(worse)[None])[0]
        grid = abs(compute_violation_ratio(better, worse, dt=GRID) - ratio) + GRID
        error = monte_carlo_error(better, worse, rng)
        far.append((apart[-1] - grid) / error if apart[-1] > grid else 0.0)
    print(
        f"{PAIRS} pairs of 3 to 7 runs: limits differ by {np.mean(apart):.4f} on average and "
        f"{max(apart):.4f} at most; beyond what the grid does by {max(far):.2f} Monte-Carlo "
        f"errors at most, by more than two in {np.mean(np.array(far) > 2):.1%}"
    )
    times = Line(f"almost stochastic order of {PAIRS} pairs", ours, peer, 0.05)
    return show("runs", [times]) and max(far) < 4


if __name__ == "__main__":
    raise SystemExit(not main())
