"""Means of graded scores beside tools that compare them by bootstrap: values, time, false alarms.

Peers are used where they are installed: evalstats, evalci, evalsig, deltagate, paired-eval, and for
a judge truescore and ppi_py. Run it with ``python benchmarks/graded.py``.
"""

from __future__ import annotations

import contextlib
import io
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from timing import Line, show

from probative.inference.means import MeanScore, correct

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = tuple[np.ndarray, np.ndarray]
    Answer = tuple[float, float, float, float]  # difference, low, high, p

ITEMS, SETS = 200, 400  # of the test set, and test sets without a difference
DOCUMENTS, PER_DOCUMENT = 12, 15


def ours(a: np.ndarray, b: np.ndarray, unit: np.ndarray | None = None) -> Answer:
    codes = np.arange(len(a)) if unit is None else unit
    x = np.array([np.bincount(codes, own) for own in (a, b)])
    score = MeanScore(x, np.tile(np.bincount(codes).astype(float), (2, 1)))
    gap = score.difference(0, 1, 0.95)
    (test,) = score.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    return gap.estimate, gap.low, gap.high, max(test.pvalue, score.unit_test(0, 1).pvalue)


def of_evalci(evalci: Any, a: np.ndarray, b: np.ndarray) -> Answer:
    found = evalci.compare(b, a, random_state=0)
    return _fields(found)


def of_deltagate(deltagate: Any, a: np.ndarray, b: np.ndarray) -> Answer:
    return _fields(deltagate.paired_delta(b.tolist(), a.tolist()))


def of_paired_eval(paired_eval: Any, a: np.ndarray, b: np.ndarray) -> Answer:
    return _fields(paired_eval.paired_compare(b.tolist(), a.tolist()))


def of_evalstats(evalstats: Any, a: np.ndarray, b: np.ndarray) -> Answer:
    rng = np.random.default_rng(0)
    found = evalstats.pairwise_differences(np.stack([b, a]), 0, 1, rng=rng, score_range=(0, 1))
    return _fields(found)


def of_evalsig(evalsig: Any, a: np.ndarray, b: np.ndarray) -> Answer:
    def frame(name: str, scores: np.ndarray) -> Any:
        items = [evalsig.ItemResult(item_id=str(i), score=float(s)) for i, s in enumerate(scores)]
        return evalsig.RunFrame(name, name, "task", "score", items)

    return _fields(evalsig.compare(frame("a", a), frame("b", b)))


PEERS: dict[str, Callable[..., Answer]] = {
    "evalci": of_evalci,
    "deltagate": of_deltagate,
    "paired_eval": of_paired_eval,
    "evalstats": of_evalstats,
    "evalsig": of_evalsig,
}
_FORMULAS = ("deltagate",)  # a t-test takes no time
_SLOW = ("paired_eval", "evalstats")  # their tests by item are those of evalci
# what peers call difference, ends of the interval and p
_NAMES = (
    ("delta", "diff", "mean_diff", "difference", "point_diff", "estimate", "observed_diff"),
    ("ci_low", "lo", "low", "ci_lower", "lower"),
    ("ci_high", "hi", "high", "ci_upper", "upper"),
    ("p_value", "pvalue", "p", "p_two_sided"),
)


def _fields(found: Any) -> Answer:
    known = found if isinstance(found, dict) else {n: getattr(found, n) for n in dir(found)}
    ends = next(
        (known[n] for n in ("ci", "ci95", "ci_95", "diff_ci", "interval") if n in known), None
    )
    if isinstance(ends, (tuple, list)):
        known = {**known, "low": ends[0], "high": ends[1]}
    values = [next((known[n] for n in names if n in known), np.nan) for names in _NAMES]
    return tuple(float("nan" if value is None else value) for value in values)  # type: ignore[return-value]


def installed() -> dict[str, Any]:
    found = {}
    for name in (*PEERS, "truescore", "ppi_py"):
        with contextlib.suppress(ImportError):
            found[name] = import_module(name)
    return found


def draw(rng: np.random.Generator, *, in_documents: bool, gain: float) -> tuple[Any, Scores]:
    """Draw token F1-like scores of two systems; documents favour one or the other."""
    n = DOCUMENTS * PER_DOCUMENT if in_documents else ITEMS
    unit = np.repeat(np.arange(DOCUMENTS), PER_DOCUMENT) if in_documents else None
    shared = 0 if unit is None else rng.normal(0, 0.08, DOCUMENTS)[unit]
    a = rng.beta(3, 2, n)
    b = np.clip(a + gain + shared + rng.normal(0, 0.1, n), 0, 1)
    return unit, (a, b)


def compare_values(peers: dict[str, Any]) -> list[Line]:
    rng = np.random.default_rng(4)
    _, (a, b) = draw(rng, in_documents=False, gain=0.012)
    ours(a[:50], b[:50])  # loads what is needed
    start = time.perf_counter()
    mine = ours(a, b)
    took = time.perf_counter() - start
    print(f"{ITEMS} items: difference, interval, p")
    print(f"{'probative':<12} {_words(mine)}   {took:8.3f} s")
    lines = []
    for name, ask in PEERS.items():
        if name not in peers:
            continue
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            found = ask(peers[name], a, b)
        spent = time.perf_counter() - start
        print(f"{name:<12} {_words(found)}   {spent:8.3f} s")
        if name not in _FORMULAS:
            lines.append(Line(f"graded scores of {ITEMS} items, beside {name}", took, spent, 2))
    return lines


def _words(answer: Answer) -> str:
    return f"{answer[0]:+.5f} [{answer[1]:+.5f}, {answer[2]:+.5f}], p = {answer[3]:.5f}"


def false_alarms(peers: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    asked = {name: ask for name, ask in PEERS.items() if name in peers and name not in _SLOW}
    alarms = dict.fromkeys(["probative", *asked], 0)
    for _ in range(SETS):
        unit, (a, b) = draw(rng, in_documents=True, gain=0.0)
        # units of both systems are exchanged: neither is better
        flip = (rng.random(DOCUMENTS) < 0.5)[unit]
        a, b = np.where(flip, b, a), np.where(flip, a, b)
        alarms["probative"] += ours(a, b, unit)[3] <= 0.05
        for name, ask in asked.items():
            with contextlib.redirect_stdout(io.StringIO()):
                alarms[name] += ask(peers[name], a, b)[3] <= 0.05
    print(f"false alarms at 0.05 in {SETS} sets of {DOCUMENTS} documents, as called by default:")
    print(", ".join(f"{name} {number / SETS:.2f}" for name, number in alarms.items()))


def judges(peers: dict[str, Any]) -> None:
    rng = np.random.default_rng(6)
    truth = rng.beta(3, 2, 2000)
    judge = np.clip(truth + 0.1 + rng.normal(0, 0.1, 2000), 0, 1)
    some = rng.permutation(2000) < 200
    ones = np.ones(2000)
    parts = truth * some, judge * some
    found = correct(judge[None], ones, parts[0][None], parts[1][None], some * 1.0)
    mean, variance = found.estimates[0], float(np.sum(found.residuals[0] ** 2))
    print(f"a judge corrected by 200 of 2,000 labels (true mean {truth.mean():.5f}):")
    print(f"probative    {mean:.5f}, standard error {variance**0.5:.5f}")
    if "ppi_py" in peers:
        given = truth[some], judge[some], judge[~some]
        point = float(np.squeeze(peers["ppi_py"].ppi_mean_pointestimate(*given)))
        low, high = (float(np.squeeze(e)) for e in peers["ppi_py"].ppi_mean_ci(*given, alpha=0.05))
        print(f"ppi_py       {point:.5f}, standard error {(high - low) / 2 / 1.959964:.5f}")
    if "truescore" in peers:
        index = np.flatnonzero(some)
        print(f"truescore    {peers['truescore'].ppi_estimate(judge, truth[some], index)}")


def main() -> bool:
    there = installed()
    lines = compare_values(there)
    false_alarms(there)
    judges(there)
    return show("graded scores", lines)


if __name__ == "__main__":
    raise SystemExit(not main())
