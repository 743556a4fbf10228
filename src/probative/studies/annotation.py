"""Do the scores of a pool hold that few labels tell, and what is placing these labels worth?

A pool of which everything is known is annotated in part, time and again: at random, or where it
matters, with and without a judge. Counted is how often the interval holds the score of the whole
pool, how wide it is, how often a note warns, and how many random labels it is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of, open_probability, whole_number
from probative.errors import InputError
from probative.inference.judges import Judge
from probative.inference.stratified import Draw, PoolScores
from probative.metrics import score
from probative.results import Result
from probative.studies.annotated_pools import read_units
from probative.studies.item_pools import ItemQuestion, Sample, make_items, sample_of
from probative.surveys.expectations import expect
from probative.surveys.strata import draw_numbers, layers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from probative.studies.annotated_pools import UnitPool

__all__ = ["AnnotationCoverage", "annotation_study"]

QUESTIONS = ("score", "difference")
KINDS = ("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind")
SPREADS = (2.5, 6.0)  # of the log odds of items: a low F1 and a high one
_POOLS = 10  # that are made per condition of single items


@dataclass(frozen=True, eq=False, repr=False)
class AnnotationCoverage(Result):
    """How intervals from few labels did on one pool.

    Attributes
    ----------
    pool, question, placement, help
        The pool, what was asked (the F1 of A, or of B minus A), how labels were placed (random,
        disputed or by confidence), and what helped: a judge, or confidences.
    labels
        How many units (items) were labelled.
    truth
        The score, or the difference, of the whole pool (of single items, the mean of the pools).
    coverage, standard_error
        How often the interval held the truth, and the simulation error of it.
    width
        The mean width of the interval.
    worth
        How many labels at random would have given the same width; of random ones, their number.
    normal
        How often the normal interval of the same sample held the truth.
    noted, unnoted
        How often a note warned, and the coverage where none did (None where it always did).
    replicates
        How many samples were drawn.
    """

    pool: str
    question: str
    placement: str
    help: str
    labels: int
    truth: float
    coverage: float
    standard_error: float
    width: float
    worth: float
    normal: float
    noted: float
    unnoted: float | None
    replicates: int

    def to_dict(self) -> dict[str, object]:
        """All fields; what does not apply is null."""
        return {"unnoted": None, **super().to_dict()}

    def __str__(self) -> str:
        return (
            f"{self.pool}, {self.question}, {self.labels} labels ({self.placement}, {self.help}): "
            f"{self.coverage:.3f}"
        )


def annotation_study(
    gold: str | None = None,
    systems: Sequence[str] = (),
    names: Sequence[str] = (),
    *,
    sizes: Sequence[int] = (100, 200, 400),
    prevalences: Sequence[float] = (0.05, 0.01, 0.005, 0.002),
    kinds: Sequence[str] = KINDS,
    items: int = 100_000,
    level: float = 0.95,
    replicates: int = 400,
    rng: int = 0,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[AnnotationCoverage]:
    """Annotate a pool in part, time and again.

    Parameters
    ----------
    gold, systems, names
        A pool of sentences, as for `annotated_pools.read_units`; without, single items are made.
    sizes
        How many units to label.
    prevalences, kinds, items
        Of single items: the shares of positive ones, what is said of them, and their number.
    level
        The nominal coverage.
    replicates
        How many samples to draw in each condition.
    rng
        The seed.
    report
        Called with the number of conditions done and of all.

    Examples
    --------
    >>> from probative.studies.annotation import annotation_study
    >>> few = dict(sizes=(50,), prevalences=(0.1,), kinds=("none",), items=2000, replicates=20)
    >>> [found.placement for found in annotation_study(**few)]
    ['random', 'by pattern', 'random', 'by pattern', 'random', 'by pattern', 'random', 'by pattern']
    """
    level, rng = open_probability("level", level), whole_number("rng", rng, least=0)
    replicates = whole_number("replicates", replicates, least=1)
    items = whole_number("items", items, least=100)
    sizes = [whole_number("sizes", n, least=40) for n in sizes]
    prevalences = [open_probability("prevalences", share) for share in prevalences]
    kinds = [one_of("kinds", kind, KINDS) for kind in kinds]
    if gold is None and (systems or names):
        raise InputError("gold: missing; expected the annotated pool of these systems")
    if gold is not None:
        pool = read_units(gold, systems, names, rng=rng)
        _refuse_whole(sizes, pool.pool.n_units)
        cases: list[Any] = [(pool, question, n) for question in QUESTIONS for n in sizes]
        simulate: Callable[..., Iterator[AnnotationCoverage]] = _units
    else:
        _refuse_whole(sizes, items)
        cases = [
            (kind, prevalence, spread, question, n, items)
            for n in sizes
            for kind in kinds
            for prevalence in prevalences
            for spread in SPREADS
            for question in QUESTIONS
        ]
        simulate = _items
    results: list[AnnotationCoverage] = []
    for place, case in enumerate(cases):
        report(place, len(cases))
        generator = np.random.default_rng([rng, place])
        results += simulate(*case, level, replicates, generator)
    return results


def _refuse_whole(sizes: Sequence[int], units: int) -> None:
    if max(sizes, default=0) >= units:
        raise InputError(
            f"sizes: {max(sizes):,} labels; expected less than the {units:,} there are"
        )


def _units(
    pool: UnitPool,
    question: str,
    n: int,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> Iterator[AnnotationCoverage]:
    """Sentences at random and placed by dispute, without a judge and with each."""
    scores = [float(score(own.sum(), "f1")) for own in pool.counts]
    truth = scores[0] if question == "score" else scores[1] - scores[0]
    size = pool.pool.n_units
    placed = layers_of(pool.pool, expected := expect(pool.pool, question), n)
    placing = [expected.placing(layer.units) for layer in placed]
    sizes = [len(layer.units) for layer in placed]
    drawn, _ = draw_numbers([layer.key for layer in placed], sizes, placing, n)
    everything = [np.arange(size)]
    random: float | None = None
    for placement, layers, numbers in (
        ("random", everything, [n]),
        ("disputed", [layer.units for layer in placed], drawn.tolist()),
    ):
        for judge in ("no judge", *pool.judges):
            samples = [
                _annotate(pool, layers, numbers, question, judge, truth, level, rng)
                for _ in range(replicates)
            ]
            width = float(np.mean([one.width for one in samples]))
            random = width if random is None else random
            worth = _worth(n, size, width / random) if random > 0 else math.nan
            yield _result((pool.name, question, placement, judge, n, truth), samples, worth)


def _annotate(
    pool: UnitPool,
    layers: Sequence[NDArray[np.intp]],
    numbers: Sequence[int],
    question: str,
    judge: str,
    truth: float,
    level: float,
    rng: np.random.Generator,
) -> Sample:
    """Draw units, look up their counts, and ask for the score of the pool."""
    parts = [rng.choice(own, n, replace=False) for own, n in zip(layers, numbers, strict=True)]
    units = np.concatenate(parts)
    draw = Draw.of(np.repeat(np.arange(len(parts)), numbers), [len(own) for own in layers])
    helper = None
    if judge in pool.judges:
        stratum = np.empty(pool.pool.n_units, np.intp)
        for number, own in enumerate(layers):
            stratum[own] = number
        helper = Judge.of(pool.judges[judge], stratum, units, draw)
    found = PoolScores.of(
        [own[units] for own in pool.counts],
        draw,
        "f1",
        level=level,
        judge=helper,
        disputed=pool.pool.disputed[units],
    )
    return sample_of(found, truth, paired=question == "difference")


def _items(
    kind: str,
    prevalence: float,
    spread: float,
    question: str,
    n: int,
    size: int,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> Iterator[AnnotationCoverage]:
    """Single items at random, and placed by what systems return and how sure they are."""
    number = min(_POOLS, replicates)
    by_confidence = kind != "none"
    samples: dict[str, list[Sample]] = {"random": [], _placement(kind): []}
    truths = []
    for place in range(number):
        pool = make_items(rng, prevalence, spread, kind, size)
        own = replicates // number + (place < replicates % number)
        for placement, found in samples.items():
            random = placement == "random"
            case = ItemQuestion(pool, question, n, by_confidence=by_confidence, random=random)
            truths.append(case.truth)
            found += [case.annotate(level, rng) for _ in range(own)]
    name = f"items, F1 {'low' if spread == min(SPREADS) else 'high'}, prevalence {prevalence:g}"
    usual = float(np.mean([one.width for one in samples["random"]]))
    for placement, found in samples.items():
        width = float(np.mean([one.width for one in found]))
        worth = _worth(n, size, width / usual)
        about = (name, question, placement, kind, n, float(np.mean(truths)))
        yield _result(about, found, worth)


def _placement(kind: str) -> str:
    return "by pattern" if kind == "none" else "by confidence"


def _worth(n: int, size: int, ratio: float) -> float:
    """How many random units of a pool make an interval `ratio` times as wide as `n` do."""
    return 1 / (ratio**2 * (1 / n - 1 / size) + 1 / size)


def _result(
    about: tuple[str, str, str, str, int, float], samples: Sequence[Sample], worth: float
) -> AnnotationCoverage:
    held = np.array([one.held for one in samples])
    noted = np.array([one.noted for one in samples])
    share, number = float(held.mean()), len(samples)
    return AnnotationCoverage(
        *about,
        coverage=share,
        standard_error=math.sqrt(max(share * (1 - share), 1 / number) / number),
        width=float(np.mean([one.width for one in samples])),
        worth=worth,
        normal=float(np.mean([one.normal for one in samples])),
        noted=float(noted.mean()),
        unnoted=float(held[~noted].mean()) if not noted.all() else None,
        replicates=number,
    )
