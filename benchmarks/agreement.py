"""Krippendorff's alpha: ours with an interval against the krippendorff package's value alone."""

from __future__ import annotations

import krippendorff
import numpy as np
from timing import Line, seconds

from probative.inference.agreement import Ratings, alpha_interval, krippendorff_alpha

AT_MOST, WITH_INTERVAL = 1.0, 2.0


def main() -> bool:
    rng = np.random.default_rng(1)
    lines = []
    for items, annotators in ((1_000, 3), (100_000, 3), (100_000, 10)):
        truth = rng.integers(0, 5, items)
        size = (annotators, items)
        codes = np.where(rng.random(size) < 0.2, rng.integers(0, 5, size), truth)
        codes[rng.random(size) < 0.1] = -1
        ratings = Ratings(codes, 5)
        table = np.where(codes < 0, np.nan, codes.astype(float))

        def theirs(table: np.ndarray = table) -> float:
            return krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")

        assert abs(krippendorff_alpha(ratings) - theirs()) < 1e-9
        peer = seconds(theirs, 3)
        what = f"alpha of {annotators} annotators on {items:,} items"
        for name, work, most in (
            (what, krippendorff_alpha, AT_MOST),
            (f"{what}, with interval", alpha_interval, WITH_INTERVAL),
        ):
            own = seconds(lambda work=work, ratings=ratings: work(ratings), 3)
            lines.append(Line(name, own, peer, most))
    for line in lines:
        print(line)
    return all(line.ratio <= line.at_most for line in lines)


if __name__ == "__main__":
    raise SystemExit(not main())
