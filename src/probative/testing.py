"""Assert in tests of models that a system is better, not worse or good enough.

A test that asserts ``f1 > 0.9`` fails or passes by the luck of the test set. These assertions take
the uncertainty into account, and a failure prints the verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative._validation import Input, flag, fraction, shown
from probative.errors import InputError
from probative.jobs.compare import compare
from probative.jobs.gate import check_gate, check_ledger_options, gate
from probative.jobs.score import score
from probative.matching.outputs import short_name
from probative.reading.inputs import is_path

if TYPE_CHECKING:
    from os import PathLike

    from probative.results import Comparisons, Interval

__all__ = ["assert_better", "assert_not_worse", "assert_score_at_least"]


def assert_not_worse(
    gold: Input,
    old: Input,
    new: Input,
    *,
    margin: float = 0.0,
    confidence: float = 0.95,
    ledger: str | PathLike[str] | None = None,
    candidates: str = "adaptive",
    hide_scores: bool = False,
    **how: Any,
) -> Comparisons | None:
    """Fail unless the data show that the new system is not worse by more than a margin.

    Parameters
    ----------
    gold, old, new
        Gold, the baseline and the challenger, in any form that `probative.compare` takes.
    margin, confidence
        P(new - old > -margin) must reach the confidence; the margin is a fraction of 1. With a
        margin of 0 only a better or an identical system passes.
    ledger, candidates
        A file in which the uses of test sets are counted, and how candidates are chosen, as for
        `probative.gate`: then the confidence holds for all uses of this test set together.
    hide_scores
        Whether to show the verdict alone: no score is in the text, and none is returned.
    **how
        Further keywords of `probative.compare`.

    Returns
    -------
    Comparisons
        The comparison, if the assertion holds; None with `hide_scores`.

    Raises
    ------
    AssertionError
        If it does not hold. Its text is the verdict and the line of the gate. With a single unit
        nothing passes.

    Examples
    --------
    >>> from probative.testing import assert_not_worse
    >>> gold = [["B-PER", "O"], ["O", "B-LOC"]] * 30
    >>> old, new = [["O", "O"]] * 20 + gold[20:], [["O", "O"]] * 10 + gold[10:]
    >>> print(assert_not_worse(gold, old, new, margin=0.01))  # doctest: +ELLIPSIS
    new scores 10.9 points higher than old (F1 90.9 against 80.0; ...
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    asked: dict[str, Any] = {"margin": margin, "confidence": confidence, "ledger": ledger}
    asked |= {"candidates": candidates, "hide_scores": hide_scores}
    return _assert_gate("require-not-worse", asked, gold, old, new, how)


def assert_better(
    gold: Input,
    old: Input,
    new: Input,
    *,
    margin: float = 0.0,
    confidence: float = 0.95,
    ledger: str | PathLike[str] | None = None,
    candidates: str = "adaptive",
    hide_scores: bool = False,
    **how: Any,
) -> Comparisons | None:
    """Fail unless the data show that the new system is better by more than a margin.

    Parameters
    ----------
    gold, old, new, ledger, candidates, hide_scores, **how
        As for `assert_not_worse`.
    margin, confidence
        P(new - old > margin) must reach the confidence.

    Examples
    --------
    >>> from probative.testing import assert_better
    >>> gold = [["B-PER", "O"], ["O", "B-LOC"]] * 30
    >>> old = [["O", "O"]] * 20 + gold[20:]
    >>> assert_better(gold, old, old)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: old and new gave identical outputs: ...
    """
    __tracebackhide__ = True
    asked: dict[str, Any] = {"margin": margin, "confidence": confidence, "ledger": ledger}
    asked |= {"candidates": candidates, "hide_scores": hide_scores}
    return _assert_gate("require-better", asked, gold, old, new, how)


def assert_score_at_least(
    gold: Input,
    pred: Input,
    least: float,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    **how: Any,
) -> Interval:
    """Fail unless the data show that a system scores at least `least`.

    Parameters
    ----------
    gold, pred
        Gold and the output, in any form that `probative.score` takes.
    least
        The score that the lower end of the interval must reach, a fraction of 1.
    metric
        The score; by default the usual one of the task.
    confidence
        The confidence of the lower end as a one-sided bound.
    **how
        Further keywords of `probative.score`.

    Returns
    -------
    Interval
        The score with its interval, of which the lower end counts.

    Examples
    --------
    >>> from probative.testing import assert_score_at_least
    >>> gold = [["B-PER", "O"], ["O", "B-LOC"]] * 30
    >>> pred = [["O", "O"]] * 10 + gold[10:]
    >>> print(assert_score_at_least(gold, pred, 0.8))
    f1, 0.9 wilson-indirect interval: 0.9091 [0.8494, 0.9466]
    """
    __tracebackhide__ = True
    fraction("least", least)
    check_gate("require-better", confidence=confidence)
    if confidence <= 0.5:
        raise InputError(f"confidence: {confidence!r}; expected more than 0.5")
    if metric is not None and not isinstance(metric, str):
        raise InputError(f"metric: {shown(metric)}; expected the name of one score")
    if "level" in how:
        raise InputError("level: follows from the confidence; expected confidence= alone")
    # each end of a two-sided interval is exceeded half as often as both together
    system = score(gold, pred, metric=metric, level=round(2 * confidence - 1, 12), **how)[0]
    usual = "f1" if any(s.metric == "f1" for s in system.scores) else system.scores[0].metric
    found = system[metric or usual]
    if not found.low >= least:
        note = f" ({found.note})" if found.note else ""
        raise AssertionError(
            f"{found.metric} is {found.estimate:.4f}, and at least {found.low:.4f} with confidence "
            f"{confidence:g}; expected at least {least:g}{note}"
        )
    return found


def _assert_gate(
    kind: str, asked: dict[str, Any], gold: Any, old: Any, new: Any, how: dict[str, Any]
) -> Comparisons | None:
    """Compare the systems, and fail with the verdict if the gate does not pass."""
    __tracebackhide__ = True
    check_gate(kind, asked["margin"], asked["confidence"])
    check_ledger_options(kind, asked["ledger"], asked["candidates"])
    hidden = flag("hide_scores", asked["hide_scores"])
    names = how.pop("names", None)
    if names is None:  # those of the files if they differ
        short = [short_name(one) for one in (old, new) if is_path(one)]
        names = short if len(set(short)) == 2 else ["old", "new"]
    usual = {"examples": False, "fingerprints": asked["ledger"] is not None}
    found = compare(gold, old, new, names=names, **(usual | how))
    (verdict,) = gate(found, kind, **asked)
    if not verdict.passed:
        said = [] if hidden else [found.verdicts[0]]
        said += [str(verdict), *([] if verdict.use is None else [f"({verdict.use})"])]
        raise AssertionError(" ".join(said))
    return None if hidden else found
