"""Distribution functions of scores of few items, by drawing from the Dirichlet posterior.

Run ``python tests/golden/make_few_items.py`` to write few_items.json beside this file: 50 million
draws per table, of which the scores are computed by their textbook formulas. It takes five minutes.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

BATCHES, SIZE = 50, 1_000_000
TABLES = (
    [50, 0, 0, 0],
    [3, 0, 0, 4],
    [30, 0, 2, 40],
    [10, 0, 0, 10],
    [50, 0, 1, 3],
    [8, 2, 0, 0],
    [0, 2, 2, 0],
    [0, 0, 0, 0],
)
PRIORS = (0.125, 0.5, 1.0)
PLACES = (-0.37, 0.05, 0.33, 0.61, 0.87)


def scores(tp, fp, fn, tn):
    recall, specificity = tp / (tp + fn), tn / (tn + fp)
    precision, npv = tp / (tp + fp), tn / (tn + fn)
    agreed = tp + tn
    chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    margins = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
    return {
        "mcc": (tp * tn - fp * fn) / margins,
        "kappa": (agreed - chance) / (1 - chance),
        "balanced_accuracy": (recall + specificity) / 2,
        "informedness": recall + specificity - 1,
        "markedness": precision + npv - 1,
        "fowlkes_mallows": np.sqrt(precision * recall),
    }


def main() -> None:
    rng = np.random.default_rng(2026)
    rows = []
    for table in TABLES:
        for prior in PRIORS:
            below = {}
            for _ in range(BATCHES):
                cells = rng.standard_gamma(np.add(table, prior)[:, None], (4, SIZE))
                for name, values in scores(*(cells / cells.sum(axis=0))).items():
                    counted = [np.count_nonzero(values <= t) for t in PLACES]
                    below[name] = below.get(name, 0) + np.array(counted)
            for name, counted in below.items():
                cdf = (counted / (BATCHES * SIZE)).round(6).tolist()
                rows.append({"metric": name, "table": table, "prior": prior, "cdf": cdf})
            print(table, prior, flush=True)
    text = ",\n".join(json.dumps(row) for row in rows)
    content = f'{{"places": {json.dumps(PLACES)}, "rows": [\n{text}\n]}}\n'
    (Path(__file__).parent / "few_items.json").write_text(content)


if __name__ == "__main__":
    main()
