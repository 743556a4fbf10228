"""Public functions with arguments of wrong types: a result or an `InputError`, nothing else.

``python tests/fuzz_types.py --n 20000 --seed 0`` does the whole run; a small one with a fixed seed
is among the tests. A call begins with arguments that are right, of which one or two are exchanged.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from time_limit import Hang, limit

import probative as pv
from probative.surveys.design import as_text

HANG = 60  # seconds after which a call counts as hanging

COUNTS = pv.Counts(77, 44, 10, 702)
FOLDS = [pv.Counts(10 + i, 3, 2 + i, 20) for i in range(6)]
PAIRED = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
UNITS = pv.PairedCounts(np.arange(160).reshape(20, 8) % 7)
GOLD, PRED = [1, 0, 1, 1, 0, 1], [1, 1, 0, 1, 0, 1]
TAGS = [["B-PER", "O", "B-LOC"], ["O", "B-ORG"]] * 3
SPANS = [{(0, 1, "A")}, {(1, 2, "B"), (2, 3, "A")}]
FIVE = [[0.1, 0.2], [0.3, 0.2], [0.1, 0.2], [0.4, 0.2], [0.1, 0.3]]
BOARD = Path(tempfile.mkdtemp())
(BOARD / "in").mkdir()
for place in (BOARD / "gold.conll", BOARD / "in" / "one.conll", BOARD / "in" / "two.conll"):
    place.write_text("Ann B-PER\nsaw O\n\nYork B-LOC\n\n" * 3)
WATCHED = pv.sample(None, {"old": TAGS, "new": TAGS}, size=3)
DESIGN = BOARD / "sample.design.json"
DESIGN.write_text(as_text(WATCHED.design))


class Odd:
    """Something that no function expects."""

    def __repr__(self) -> str:
        return "Odd()"


class Refusing:
    """Something that does not even like to be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __float__(self) -> float:
        raise OverflowError("no")


WRONG = (
    None, True, 0, -1, 1, 2, 0.5, -0.5, 1e300, 1e-320, float("nan"), float("inf"), 10**400,
    10**5000, 2**53, 1j, "", "f1", "x", "1", "\ud800", "a\nb", b"x", [], [1], [[1], [1, 2]], [None],
    ["a", None], ("a", 1), {}, {"a": 1}, set(), {1, 2}, object(), Odd(), Refusing(), int, len,
    range(3), (i for i in range(3)), np.array(3), np.array([]), np.array([1.0, np.nan]),
    np.zeros((2, 2)),
    np.array(["a", "b"]), np.array([1, "a", None], dtype=object), np.array([1 + 1j]),
    np.ma.array([1, 2], mask=[0, 1]), np.datetime64("2024-01-01"), pd.NA, pd.NaT,
    pd.Series([1, None]), pd.DataFrame({"a": [1]}), Decimal("NaN"), Decimal(1), Fraction(1, 3),
    COUNTS, PAIRED, UNITS, FOLDS, [UNITS, UNITS], np.random.default_rng(0), Path("/nowhere"),
    slice(None), Ellipsis, memoryview(b"ab"), bytearray(b"ab"), warnings, lambda x: x,
)  # fmt: skip

# A right call of every public function.
CALLS = {
    "Counts": (pv.Counts, (5, 2, 3), {"tn": 4}),
    "Counts.from_labels": (pv.Counts.from_labels, (GOLD, PRED), {"positive": 1}),
    "Counts *": (lambda factor, divisor: COUNTS * factor / divisor, (2.0, 3.0), {}),
    "PairedCounts": (pv.PairedCounts, (UNITS.cases,), {"multiplicity": np.ones(20)}),
    "PairedCounts.from_labels": (
        pv.PairedCounts.from_labels, (GOLD, PRED, PRED),
        {"positive": 1, "units": [1, 1, 2, 2, 3, 3]},
    ),
    "PairedCounts.from_spans": (pv.PairedCounts.from_spans, (SPANS, SPANS, SPANS), {}),
    "PairedCounts.concatenate": (pv.PairedCounts.concatenate, ([UNITS, UNITS],), {}),
    "interval": (
        pv.interval, (COUNTS, "f1"),
        {"method": "bayes", "level": 0.9, "beta": 1.0, "prior": 1.0, "clustered": False},
    ),
    "posterior": (pv.posterior, (COUNTS, "f1"), {"prior": 1.0, "beta": 1.0}),
    "effective_counts": (pv.effective_counts, (FOLDS,), {"weight": "effective"}),
    "bayes_test": (
        pv.bayes_test, (COUNTS, COUNTS, "f1"),
        {"rope": 0.01, "level": 0.9, "prior": 1.0, "beta": 1.0, "weight": "effective", "rng": 0},
    ),
    "randomization_test": (
        pv.randomization_test, (UNITS, "f1"),
        {"by": "unit", "alternative": "two-sided", "method": "auto", "n_resamples": 99, "rng": 0,
         "beta": 1.0},
    ),
    "difference": (
        pv.difference, (UNITS, "f1"),
        {"method": "mover", "level": 0.9, "beta": 1.0, "prior": 1.0},
    ),
    "plan": (
        pv.plan, (UNITS, "f1"), {"difference": 0.1, "power": 0.8, "level": 0.9, "beta": 1.0}
    ),
    "bootstrap_difference": (
        pv.bootstrap_difference, (UNITS, "f1"),
        {"method": "percentile", "level": 0.9, "n_resamples": 99, "rng": 0, "beta": 1.0},
    ),
    "sequential": (
        lambda batch, **how: pv.sequential(**how).update(batch), (UNITS,),
        {"metric": "f1", "level": 0.9, "planned": 100, "beta": 1.0},
    ),
    "watch": (
        pv.watch,
        (WATCHED.design, [TAGS[i] for i in WATCHED.units]),
        {"systems": [TAGS, TAGS], "metric": "f1", "level": 0.9, "beta": 1.0, "every": 2,
         "planned": 9},
    ),
    "agreement": (pv.agreement, (["x", "y"], ["x", "x"]), {"level": 0.9}),
    "mcnemar_test": (pv.mcnemar_test, (PAIRED,), {"method": "exact", "alternative": "less"}),
    "adjust_pvalues": (pv.adjust_pvalues, ([0.1, 0.2],), {"method": "holm"}),
    "block_regularized_t_test": (
        pv.block_regularized_t_test, (FIVE, FIVE[::-1]), {}
    ),
    "five_by_two_t_test": (pv.five_by_two_t_test, (FIVE, FIVE[::-1]), {}),
    "five_by_two_f_test": (pv.five_by_two_f_test, (FIVE, FIVE[::-1]), {}),
    "score": (
        pv.score, (TAGS, TAGS),
        {"names": ["a"], "level": 0.9, "overlap": False, "task": "entities", "scheme": "iob2",
         "repair": "conlleval", "only": ["PER"], "align_by": "tokens", "ignore_type": False},
    ),
    "score labels": (pv.score, (GOLD, PRED, PRED), {"positive": "1", "task": "labels"}),
    "score words": (
        pv.score, ([["to", "be"]], [["to", "be"]]),
        {"task": "segmentation", "train_words": [["to"]]},
    ),
    "score frame": (
        pv.score, (pd.DataFrame({"y": GOLD, "z": PRED, "u": GOLD}),),
        {"gold_column": "y", "columns": ["z"], "unit_column": "u"},
    ),
    "compare": (
        pv.compare, (TAGS, TAGS, TAGS),
        {"names": ["a", "b"], "level": 0.9, "rope": 0.01, "rng": 0, "metric": "f1",
         "by": "sentence",
         "power": 0.8, "prior": 1.0, "beta": 1.0, "task": "entities"},
    ),
    "compare_datasets": (
        pv.compare_datasets, ({"x": (TAGS, TAGS, TAGS)},),
        {"names": ["a", "b"], "level": 0.9, "rope": 0.01, "rng": 0, "metric": "f1",
         "by": "sentence", "prior": 1.0, "beta": 1.0, "task": "entities"},
    ),
    "rank": (
        pv.rank, (TAGS, TAGS, TAGS),
        {"names": ["a", "b"], "level": 0.9, "rng": 0, "metric": "f1", "average": "micro",
         "by": "sentence", "beta": 1.0, "adjust": "holm", "n_jobs": 1, "report": None,
         "task": "entities"},
    ),
    "sample": (
        pv.sample, (None, TAGS * 5, TAGS * 5),
        {"size": 4, "goal": "score", "by": "sentence", "names": ["a", "b"], "level": 0.9, "rng": 0,
         "pilot": ([0], TAGS[:1]), "judge": TAGS * 5, "keep": (), "task": "entities"},
    ),
    "sample items": (
        pv.sample, (None, GOLD, PRED), {"size": 4, "scores": [0.5] * len(GOLD), "positive": "1"}
    ),
    "sample more": (
        pv.sample, (pv.sample(None, GOLD, PRED, size=2).design, GOLD, PRED), {"add": 2}
    ),
    "estimate": (
        pv.estimate,
        (pv.sample(None, TAGS * 5, TAGS * 5, size=len(TAGS) * 5).design, TAGS * 5),
        {"systems": [TAGS * 5, TAGS * 5], "judge": TAGS * 5, "metric": "f1", "population": False,
         "level": 0.9, "rope": 0.01, "beta": 1.0},
    ),
    "read_design": (pv.read_design, (DESIGN,), {}),
    "board": (
        # what is no path must not become one here
        lambda gold, folder, **how: pv.board(gold, folder, BOARD / "site", **how),
        (BOARD / "gold.conll", BOARD / "in"),
        {"pairs": "top", "show_gold": False, "max_size": 1.0, "level": 0.9, "rng": 0,
         "metric": "f1", "average": "micro", "by": "sentence", "beta": 1.0, "adjust": "holm",
         "n_jobs": 1, "report": None, "task": "entities"},
    ),
    "rank counts": (pv.rank, ({"a": pv.Counts([1, 2], [0, 1], [1, 0])},), {"metric": "f1"}),
    "gate": (
        pv.gate, (pv.compare(TAGS, TAGS, TAGS), "require-better"),
        {"margin": 0.01, "confidence": 0.9, "candidates": "adaptive", "hide_scores": False},
    ),
    "gate ledger": (  # what is no path is tried elsewhere: a wrong one would be written
        lambda found, kind, **how: pv.gate(found, kind, ledger=BOARD / "gates.jsonl", **how),
        (pv.compare(TAGS, TAGS, TAGS, fingerprints=True), "require-better"),
        {"margin": 0.01, "candidates": "adaptive", "hide_scores": True},
    ),
    "read_ledger": (pv.read_ledger, (BOARD / "gates.jsonl",), {}),
    "plan inputs": (
        pv.plan, (TAGS, TAGS, TAGS),
        {"metric": "f1", "by": "sentence", "difference": 0.1, "level": 0.9, "task": "entities"},
    ),
    "check": (
        pv.check, (Path(__file__),),
        {"task": "segmentation", "input_format": "segmented", "encoding": "utf-8",
         "tag_column": 1, "column": "y", "comments": False, "scheme": "iob2"},
    ),
    "curve": (
        pv.curve, (GOLD, [0.1, 0.4, 0.3, 0.8, 0.6, 0.7]),
        {"positive": "1", "units": [1, 1, 2, 2, 3, 3], "beta": 2.0, "bins": 3, "level": 0.9,
         "rng": 1, "names": ["a"]},
    ),
    "compare_curves": (
        pv.compare_curves, (GOLD, [0.1, 0.4, 0.3, 0.8, 0.6, 0.7], [0.1, 0.4, 0.3, 0.8, 0.6, 0.7]),
        {"positive": "1", "rope": 0.01, "level": 0.9, "names": ["a", "b"]},
    ),
    "segmentation_sweep": (
        pv.segmentation_sweep, ([["to", "be"]], [[0.1, 0.9, 0.3]]), {"steps": 3, "level": 0.9}
    ),
    "BlockRegularizedCV": (
        lambda x, y, **how: list(pv.BlockRegularizedCV(**how).split(x, y)),
        (np.zeros((24, 1)), GOLD * 4), {"m": 3, "random_state": 0},
    ),
    "tally": (
        pv.tally, (pd.DataFrame({"y": GOLD, "z": PRED, "w": GOLD, "u": [1, 1, 2, 2, 3, 3]}),),
        {"gold": "y", "a": "z", "b": "w", "unit": "u", "by": "u", "positive": 1,
         "on_null": "drop"},
    ),
    "tally systems": (
        pv.tally, (pd.DataFrame({"y": GOLD, "z": PRED, "w": GOLD}),),
        {"gold": "y", "systems": ["z", "w"], "by": ["w"]},
    ),
    "metrics.score": (pv.metrics.score, (COUNTS, "f1"), {"beta": 1.0}),
}  # fmt: skip


def run_case(rng: random.Random, names: list[str], tally: Counter) -> str | None:
    """Make one call; return what is wrong with how it ended."""
    name = rng.choice(names)
    function, right, options = CALLS[name]
    values, how = list(right), dict(options)
    changed = []
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(len(values) + len(how))
        wrong = rng.choice(WRONG)
        if place < len(values):
            values[place] = wrong
            changed.append((place, wrong))
        else:
            key = list(how)[place - len(values)]
            how[key] = wrong
            changed.append((key, wrong))
    try:
        with limit(HANG), warnings.catch_warnings():
            warnings.simplefilter("error")
            function(*values, **how)
        tally["result"] += 1
    except pv.InputError as error:
        tally["error"] += 1
        if "\n" in str(error) or not str(error) or len(str(error)) > 1_000:
            return f"{name}: not a line: {str(error)[:300]!r}"
    except (Exception, Hang) as error:
        at = traceback.extract_tb(error.__traceback__)
        inside = [f for f in at if "probative" in f.filename and "fuzz" not in f.filename]
        where = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "?"
        said = ", ".join(f"{place}={_shown(wrong)}" for place, wrong in changed)
        return f"{name} [{said}]: {type(error).__name__} at {where}: {str(error)[:120]}"
    return None


def _shown(value: object) -> str:
    try:
        return repr(value)[:60]
    except Exception:
        return type(value).__name__


def fuzz(n: int, seed: int, names: list[str] | None = None) -> tuple[list[str], Counter]:
    """Make `n` calls; return what went wrong, and how the others ended."""
    tally: Counter = Counter()
    wrong = []
    for number in range(n):
        rng = random.Random(f"{seed}/{number}")  # noqa: S311  # arguments, not secrets
        problem = run_case(rng, names or list(CALLS), tally)
        if problem:
            wrong.append(f"case {seed}/{number}: {problem}")
    return wrong, tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="the functions to call")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory():
        wrong, tally = fuzz(options.n, options.seed, options.only)
    kinds = Counter(problem.split(": ", 2)[2].split(":")[0] + " " + problem.split()[2]
                    for problem in wrong)  # fmt: skip
    for problem in wrong[: options.show]:
        sys.stdout.write(f"{problem}\n")
    for kind, number in kinds.most_common(60):
        sys.stdout.write(f"{number:6} {kind}\n")
    sys.stdout.write(
        f"{options.n} calls: {tally['result']} results, {tally['error']} errors, "
        f"{len(wrong)} wrong\n"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
