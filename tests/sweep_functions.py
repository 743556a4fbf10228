"""Call every public function of the statistics with random arguments, and check what comes back.

    python tests/sweep_functions.py --n 100000 --seed 1

Counts from 0 to 10^12, priors, levels, regions of equivalence and betas from end to end. Nothing
but an `InputError` may be raised and no warning given; every number is defined, within its bounds,
and what must rise, rises. Prints the calls that failed, by kind, and how many there were; and the
slowest check of every kind, in processor time, with the call that it made last. One of them is
repeated by

    python tests/sweep_functions.py --seed 1 --only 4711

`--checks 0:13` makes the first thirteen kinds of calls alone, `--checks 13:18` the others.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import probative as pv
from probative.inference.intervals import methods_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SEPARATE = ("precision", "recall", "f1", "fbeta", "jaccard", "accuracy", "specificity", "npv")
PAIRED = (*SEPARATE[:6], "npv")


class BrokenError(AssertionError):
    """What came back is not what it must be."""


def check(truth: object, what: str) -> None:
    if not truth:
        raise BrokenError(what)


last_call = ""


def call(function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
    """Call a function, and remember with what."""
    global last_call  # noqa: PLW0603
    told = [*map(_told, arguments), *(f"{name}={_told(x)}" for name, x in how.items())]
    last_call = " ".join(f"{function.__name__}({', '.join(told)})".split())
    return function(*arguments, **how)


def _told(argument: Any) -> str:
    cases = argument.cases if isinstance(argument, pv.PairedCounts) else None
    return repr(argument) if cases is None else f"PairedCounts({np.asarray(cases).tolist()})"


def count(rng: np.random.Generator, most: float = 12.0) -> int:
    """A whole number: often 0 or a few, at times up to 10^most."""
    if rng.random() < 0.4:
        return int(rng.integers(0, 6))
    return int(10 ** rng.uniform(0, most))


def counts(rng: np.random.Generator, most: float = 12.0) -> pv.Counts:
    return pv.Counts(*(count(rng, most) for _ in range(4)))


def cases(rng: np.random.Generator, most: float = 12.0) -> list[int]:
    return [count(rng, most) for _ in range(8)]


def units(rng: np.random.Generator) -> pv.PairedCounts:
    rows = rng.poisson(rng.choice([0.1, 1, 4]), (int(rng.integers(1, 30)), 8))
    return pv.PairedCounts(rows)


def prior(rng: np.random.Generator) -> float:
    return float(rng.choice([0.25, 0.5, 1, 2, 10, 10 ** rng.uniform(-3, 6)]))


def level(rng: np.random.Generator) -> float:
    return float(rng.choice([0.5, 0.9, 0.95, 0.999, rng.uniform(0.01, 0.99), 1 - 1e-12]))


def beta(rng: np.random.Generator) -> float:
    return float(rng.choice([0.5, 1, 2, 10 ** rng.uniform(-3, 3)]))


def rope(rng: np.random.Generator) -> float:
    return float(rng.choice([0, 0.01, 10 ** rng.uniform(-12, -0.01), 0.9999999]))


def within(low: float, value: float, high: float, what: str, slack: float = 1e-9) -> None:
    check(low - slack <= value <= high + slack, f"{what}: {value} outside [{low}, {high}]")


def interval(rng: np.random.Generator) -> None:
    table, metric = counts(rng), str(rng.choice(SEPARATE))
    lambda_, b = prior(rng), beta(rng)
    narrow, wide = sorted([level(rng), level(rng)])
    for method in (None, "bayes"):
        how = {"beta": b, "prior": lambda_} | ({"method": method} if method else {})
        inner, outer = (call(pv.interval, table, metric, level=x, **how) for x in (narrow, wide))
        within(0, inner.low, 1, "low")
        within(inner.low, inner.high, 1, "high")
        check(
            outer.low <= inner.low + 1e-9 and outer.high >= inner.high - 1e-9,
            f"not wider: {inner.low, inner.high, narrow}, {outer.low, outer.high, wide}",
        )


def posterior(rng: np.random.Generator) -> None:
    found = call(
        pv.posterior, counts(rng), str(rng.choice(SEPARATE)), prior=prior(rng), beta=beta(rng)
    )
    within(0, found.mean, 1, "mean")
    within(0, found.var, 0.25, "var")
    t = np.sort(rng.random(3))
    below, above = found.cdf(t), found.sf(t)
    check(np.all(np.diff(below) >= -1e-12), f"cdf falls: {below}")
    check(np.allclose(below + above, 1, atol=1e-9), f"cdf + sf: {below + above}")
    low, high = found.interval(level(rng))
    within(0, low, high, "low")
    within(low, high, 1, "high")


def bayes_test(rng: np.random.Generator) -> None:
    how = {"prior": prior(rng), "beta": beta(rng), "level": level(rng), "rope": rope(rng)}
    if rng.random() < 0.5:
        found = call(pv.bayes_test, counts(rng), counts(rng), str(rng.choice(SEPARATE)), **how)
    else:
        found = call(pv.bayes_test, pv.PairedCounts(cases(rng)), str(rng.choice(PAIRED)), **how)
    _outcomes(found)
    within(-1, found.low, 1, "low")
    within(found.low, found.high, 1, "high")


def _outcomes(found: pv.BayesTest) -> None:
    slack = 1e-8 + 4 * found.error
    within(0, found.p_h0, 1, "p_h0")
    within(1, found.p_h0 + found.p_h1, 1, "p_h0 + p_h1", slack)
    total = found.p_a_better + found.p_equivalent + found.p_b_better
    within(1, total, 1, "the three outcomes", slack)
    check(found.error >= 0, f"error {found.error}")


def paired_posterior(rng: np.random.Generator) -> None:
    from probative.inference.posterior.paired import PairedPosterior

    found = call(
        PairedPosterior,
        pv.PairedCounts(cases(rng)),
        str(rng.choice(PAIRED)),
        prior=prior(rng),
        beta=beta(rng),
    )
    d = np.sort(np.append(rng.uniform(-1, 1, 2), found.mean))
    below = found.cdf(d)
    check(np.all(np.diff(below) >= -1e-8 - found.error), f"cdf falls: {below}")
    check(np.allclose(below + found.sf(d), 1, atol=1e-8 + found.error), "cdf + sf")
    check(np.all(np.asarray(found.pdf(d)) >= 0), "density below 0")


def randomization(rng: np.random.Generator) -> None:
    alternative = str(rng.choice(["two-sided", "greater", "less"]))
    paired = units(rng) if rng.random() < 0.5 else pv.PairedCounts(cases(rng))
    found = call(
        pv.randomization_test,
        paired,
        str(rng.choice(SEPARATE)),
        alternative=alternative,
        beta=beta(rng),
        rng=1,
    )
    within(0, found.pvalue, 1, "p", 0)
    within(-1, found.statistic, 1, "statistic")


def difference(rng: np.random.Generator) -> None:
    paired = units(rng) if rng.random() < 0.5 else pv.PairedCounts(cases(rng))
    metric, b = str(rng.choice(PAIRED)), beta(rng)
    narrow, wide = sorted([level(rng), level(rng)])
    inner, outer = (call(pv.difference, paired, metric, level=x, beta=b) for x in (narrow, wide))
    within(-1, inner.low, inner.high, "low")
    within(inner.low, inner.high, 1, "high")
    check(
        outer.low <= inner.low + 1e-9 and outer.high >= inner.high - 1e-9,
        f"not wider: {inner.low, inner.high, narrow}, {outer.low, outer.high, wide}",
    )


def plan(rng: np.random.Generator) -> None:
    found = call(
        pv.plan,
        units(rng),
        str(rng.choice(PAIRED)),
        power=float(rng.uniform(0.1, 0.99)),
        level=float(rng.uniform(0.5, 0.999)),
    )
    check(found.units is None or found.units >= 1, f"units {found.units}")


def mcnemar(rng: np.random.Generator) -> None:
    within(0, call(pv.mcnemar_test, pv.PairedCounts(cases(rng))).pvalue, 1, "p", 0)


def bootstrap(rng: np.random.Generator) -> None:
    found = call(
        pv.bootstrap_difference, units(rng), str(rng.choice(PAIRED)), n_resamples=50, rng=1
    )
    within(-1, found.low, found.high, "low")
    within(found.low, found.high, 1, "high")


def adjust(rng: np.random.Generator) -> None:
    p = rng.random(int(rng.integers(1, 20))) ** rng.integers(1, 40)
    found = np.asarray(call(pv.adjust_pvalues, p))
    check(np.all(found >= p - 1e-15) and np.all(found <= 1), f"adjusted: {found}")


def effective(rng: np.random.Generator) -> None:
    folds = [counts(rng, 9) for _ in range(2 * int(rng.integers(1, 6)))]
    found = call(pv.effective_counts, folds)
    within(0, found.tp, float(sum(fold.tp for fold in folds)), "tp", 1e-3)


def metrics(rng: np.random.Generator) -> None:
    table, metric = counts(rng), str(rng.choice(SEPARATE))
    found = float(call(pv.metrics.score, table, metric, beta=beta(rng)))
    if not math.isnan(found):
        within(0, found, 1, "score")


def fold_tests(rng: np.random.Generator) -> None:
    a = rng.random((5, 2))
    b = np.clip(a + rng.normal(0, rng.choice([1e-9, 0.02]), (5, 2)), 0, 1)
    for test in (pv.five_by_two_t_test, pv.five_by_two_f_test, pv.block_regularized_t_test):
        within(0, call(test, a, b).pvalue, 1, "p", 0)


def ways(rng: np.random.Generator) -> None:
    """Every metric's every interval, also of units."""
    metric = str(rng.choice(pv.metrics.METRICS))
    table, clustered = counts(rng), bool(rng.random() < 0.5)
    if clustered:
        table = units(rng).a
    method = str(rng.choice(methods_for(metric)))
    how = {"beta": beta(rng), "level": level(rng), "method": method, "clustered": clustered}
    found = call(pv.interval, table, metric, **how)
    check(not np.isnan([found.low, found.high]).any(), f"limits: {found.low}, {found.high}")
    if method != "wald":  # which is shown as it comes out
        within(-1, found.low, found.high, "low")
        within(found.low, found.high, 1, "high")


def clustered_posterior(rng: np.random.Generator) -> None:
    metric, rows = str(rng.choice(pv.metrics.METRICS)), units(rng)
    most = 2.0 if metric in pv.metrics.COMPOSITES else 1.0
    how = {"prior": float(rng.choice([0.25, 0.5, 1, 2])), "beta": beta(rng), "level": level(rng)}
    found = call(pv.difference, rows, metric, method="bayes", **how)
    within(-most, found.low, found.high, "low")
    within(found.low, found.high, most, "high")


def compare(rng: np.random.Generator) -> None:
    """Two systems' labels: the chances of the three outcomes, one score for all, and a gate."""
    items = int(rng.integers(1, 40))
    gold, a, b = rng.choice(["x", "y", "z"], (3, items), p=rng.dirichlet([1, 1, 1])).tolist()
    how = {"level": level(rng), "rope": rope(rng), "average": str(rng.choice(["micro", "macro"]))}
    found = call(pv.compare, gold, a, b, **how)
    for one in found.comparisons:
        within(-1, one.low, one.high, "low")
        within(one.low, one.high, 1, "high")
        within(0, one.pvalue, 1, "p", 0)
        chances = [one.p_a_better, one.p_equivalent, one.p_b_better]
        check(np.isnan(chances).all() or abs(sum(chances) - 1) < 1e-6, f"chances: {chances}")
    kind = str(rng.choice(["fail-if-worse", "require-not-worse", "require-better"]))
    call(pv.gate, found, kind, margin=rope(rng), confidence=level(rng))
    alone = {s.metric: s.estimate for s in call(pv.score, gold, a).systems[0].scores}
    for score in found.systems[0].scores:
        if score.metric not in alone:  # averages of labels, where there is but one
            continue
        same = np.isclose(score.estimate, alone[score.metric], equal_nan=True)
        check(same, f"{score.metric} beside another system: {score.estimate}")


def rank(rng: np.random.Generator) -> None:
    items, systems = int(rng.integers(1, 40)), int(rng.integers(2, 6))
    gold, *named = rng.choice(["x", "y"], (systems + 1, items)).tolist()
    found = call(pv.rank, gold, dict(zip("abcdef", named, strict=False)), level=level(rng))
    total = sum(row.p_best for row in found.ranking)
    check(items == 1 or abs(total - 1) < 1e-6, f"P(best): {total}")  # one item is no evidence


def look(rng: np.random.Generator) -> None:
    test = call(pv.sequential, str(rng.choice(PAIRED)), level=level(rng), beta=beta(rng))
    for _ in range(3):
        found = call(test.update, units(rng))
        within(-1, found.low, found.high, "low")
        within(found.low, found.high, 1, "high")
        within(0, found.pvalue, 1, "p", 0)


CHECKS = [
    interval,
    posterior,
    bayes_test,
    paired_posterior,
    randomization,
    difference,
    plan,
    mcnemar,
    bootstrap,
    adjust,
    effective,
    metrics,
    fold_tests,
    ways,
    clustered_posterior,
    compare,
    rank,
    look,
]


@dataclass
class Record:
    """What the calls came to."""

    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)  # seconds, and the call


def sweep(
    calls: Iterable[int], seed: int, checks: Sequence[Callable[..., None]] = CHECKS
) -> Record:
    """Make the calls of these numbers: how many failed or were refused, which took longest."""
    record = Record()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in calls:
            function = checks[i % len(checks)]
            name = function.__name__
            start = time.process_time()
            try:
                function(np.random.default_rng([seed, i]))
            except pv.InputError as problem:
                record.refused[name] += 1
                check("\n" not in str(problem) and ":" in str(problem), f"message: {problem}")
            except Exception as problem:
                kind = f"{name}: {type(problem).__name__}"
                record.failures[kind] += 1
                record.examples.setdefault(kind, f"[{seed}, {i}] {last_call}: {problem}")
            took = time.process_time() - start
            if took > record.slowest.get(name, (0.0, ""))[0]:
                record.slowest[name] = took, f"[{seed}, {i}] {last_call}"
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of a single call")
    parser.add_argument("--checks", default=f"0:{len(CHECKS)}", help="from which to before which")
    choices = parser.parse_args()
    calls = range(choices.n) if choices.only is None else [choices.only]
    record = sweep(calls, choices.seed, CHECKS[slice(*map(int, choices.checks.split(":")))])
    lines = []
    for kind, number in record.failures.most_common():
        lines.append(f"{number:6d}  {kind}  {record.examples[kind]}")
    lines.append(f"{len(calls)} calls, {record.failures.total()} failed")
    lines.append("refused: " + ", ".join(f"{name} {x}" for name, x in record.refused.items()))
    lines.append("slowest, in seconds of processor time:")
    by_time = sorted(record.slowest.items(), key=lambda item: -item[1][0])
    lines.extend(f"{took:8.2f}  {name}  {text:.300}" for name, (took, text) in by_time)
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(record.failures))


if __name__ == "__main__":
    sys.exit(main())
