"""Word the headlines of comparisons and gates: what a result says in a few words, and its state.

The state is a word and a sign, so that it does not depend on colour. The sentences come from
`wording`; a headline is never stronger than they are.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Answer
from probative.wording.numbers import (
    equals,
    listed,
    metric_name,
    p_equals,
    points,
    region,
    scale_word,
    with_interval,
)
from probative.wording.verdict import (
    LIKELY,
    SIGNIFICANT,
    no_verdict,
    pvalue_of,
    strength,
    tested_pvalue,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative.results import Comparison, Comparisons, GateVerdict

_MOST_NAMED = 4  # systems named in a headline; more are counted


def score_words(score: Any) -> str:
    """Return a score with its interval in points: ``41.9 [38.5, 45.3]``."""
    if isnan(score.estimate):
        return "undefined"
    return with_interval(score.estimate, score.low, score.high)


def spoken(answers: Iterable[Answer]) -> tuple[str, ...]:
    """Return each headline and its sentences as one line."""
    return tuple(" ".join([f"{one.words}.", *one.sentences]) for one in answers)


def upper(words: str) -> str:
    """Begin words with a capital."""
    return words[:1].upper() + words[1:]


# --- Comparisons


def evidence_words(c: Comparison) -> tuple[str, str]:
    """Return what a comparison shows in a few words, and its state."""
    if c.identical:
        return "Identical outputs", "equal"
    if no_verdict(c):
        return "No verdict", "open"
    if c.rope > 0 and c.p_equivalent >= LIKELY:
        return "Equivalent", "equal"
    word = strength(c)
    if word:
        better, state = (c.b, "better") if c.difference > 0 else (c.a, "worse")
        return f"{better} better: {word} evidence", state
    if c.rope > 0 and pvalue_of(c) <= SIGNIFICANT:
        return f"Not established that they differ by more than {region(c.rope)}", "open"
    return "Not established", "open"


def _within_a_sentence(words: str, state: str) -> str:
    """Return evidence words without a capital, unless they begin with the name of a system."""
    return words if state in ("better", "worse") else words[:1].lower() + words[1:]


def verdict_words(c: Comparison) -> str:
    """Return what a comparison shows about its second system, for a table: ``worse: strong``."""
    words, state = evidence_words(c)
    if state in ("better", "worse"):
        return f"{state}: {strength(c)}"
    return _within_a_sentence(words, state)


def gate_answers(gates: Sequence[GateVerdict]) -> tuple[Answer, ...]:
    """Return whether the gates passed; nothing without gates."""
    if not gates:
        return ()
    failed = [gate for gate in gates if not gate.passed]
    word = "failed" if failed else "passed"
    words = f"Gate {word}"
    if len(gates) > 1:
        words = f"{len(failed)} of {len(gates)} gates failed" if failed else "All gates passed"
    return (Answer(words, word, tuple(f"{upper(str(gate))}." for gate in failed or gates)),)


def comparison_answers(
    result: Comparisons, gates: Sequence[GateVerdict] = ()
) -> tuple[Answer, ...]:
    """Return the headline of a comparison: gates first, then what is shown about the systems."""
    main = [c for c in result.comparisons if c.metric == result.comparisons[0].metric]
    asked = gate_answers(gates)
    if len({(c.a, c.b) for c in main}) > 1:
        return (*asked, _many(main))
    if main[0].question is not None:
        return (*asked, *map(_of_runs, main))
    return (*asked, Answer(*evidence_words(main[0]), tuple(result.verdicts[:1])))


def _of_runs(c: Comparison) -> Answer:
    """Return what several runs show, for these models or for new runs, in one line each."""
    words, state = evidence_words(c)
    whom = "New runs" if c.question == "procedures" else "These models"
    head = f"{whom}: {_within_a_sentence(words, state)}"
    if no_verdict(c):
        return Answer(head, state)
    said = (
        f"{metric_name(c.metric, c.match)} {points(c.score_b, 1)} against {points(c.score_a, 1)}, "
        f"difference {with_interval(c.difference, c.low, c.high, 1, signed=True)}{scale_word()}, "
        f"P({c.b} better) {equals(c.p_b_better)}, p {p_equals(tested_pvalue(c))}."
    )
    return Answer(head, state, (said,))


def _many(main: Sequence[Comparison]) -> Answer:
    """Return how many of several differences are established, and for whom."""
    baselines = {c.a for c in main}
    found = [(c, evidence_words(c)[1]) for c in main if c.question != "procedures"]
    better = [c.b for c, state in found if state == "better"]
    worse = [c.b for c, state in found if state == "worse"]
    rest = len(found) - len(better) - len(worse)
    if len(baselines) > 1:
        words = f"{len(found) - rest} of {len(found)} differences established"
        return Answer(words, "better" if rest < len(found) else "open")
    (baseline,) = baselines
    if not better and not worse:
        words = f"Not established: none of {len(found)} is shown to differ from {baseline}"
        return Answer(words, "open")
    counts = ((better, "better"), (worse, "worse"))
    parts = [
        f"{listed(names) if len(names) <= _MOST_NAMED else f'{len(names)} systems'} "
        f"{'is' if len(names) == 1 else 'are'} {word} than {baseline}"
        for names, word in counts
        if names
    ]
    others = "one other" if rest == 1 else f"the other {rest}"
    said = (f"Not established for {others}.",) if rest else ()
    return Answer("; ".join(parts), "better" if better else "worse", said)
