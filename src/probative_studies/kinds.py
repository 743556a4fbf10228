"""Do intervals of other scores cover? Agreement, partial spans, records, graded means; simulated.

The true values are those of very large test sets of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, Ints, Mask
from probative.counts import Counts, PairedCounts
from probative.inference.agreement import Ratings, alpha_interval, doubt
from probative.inference.classes import ConfusedItems, confusion_interval
from probative.inference.differences import difference
from probative.inference.exchange import randomization_test
from probative.inference.intervals import interval
from probative.inference.means import JudgedScore, MeanScore, step_of
from probative.inference.pooled import PooledScore
from probative.metrics import score
from probative.results import Interval
from probative.results.comparisons import decision_pvalue
from probative_studies.harness import Row, mean, share_error, streams, study, summary

# --- Agreement: items are hard in different degrees, those of a unit alike; who finds one hard
# guesses

_ITEMS_OF_THE_TRUTH = 400_000  # of the corpus that shows the true values
_SHARES = np.array([0.7, 0.2, 0.1])  # how frequent the labels are


@dataclass(frozen=True)
class Corpus:
    """A corpus: items, annotators, labels, how often they guess, items per unit, missing labels."""

    items: int
    annotators: int
    labels: int
    guesses: float
    per_unit: int = 1
    missing: float = 0.0

    def draw(self, rng: Generator, items: int) -> Ratings:
        """Draw one corpus of this kind."""
        shares = _SHARES[: self.labels] / _SHARES[: self.labels].sum()
        truth = rng.choice(self.labels, items, p=shares)
        units = np.arange(items) // self.per_unit
        hard = rng.beta(0.5, 0.5 * (1 - self.guesses) / self.guesses, int(units[-1]) + 1)[units]
        size = (self.annotators, items)
        codes = np.where(rng.random(size) < hard, rng.integers(0, self.labels, size), truth)
        codes[rng.random(size) < self.missing] = -1
        return Ratings(codes, self.labels, units if self.per_unit > 1 else None)


_CORPORA = (
    Corpus(30, 2, 2, 0.2),
    Corpus(100, 2, 2, 0.01),
    Corpus(100, 2, 3, 0.1),
    Corpus(100, 3, 3, 0.3, missing=0.2),
    Corpus(200, 2, 3, 0.2, per_unit=10),
    Corpus(500, 3, 2, 0.05, per_unit=10, missing=0.1),
    Corpus(500, 5, 3, 0.5, missing=0.5),
    Corpus(1000, 2, 3, 0.05),
)


@study(_CORPORA)
def agreement_study(c: Corpus, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw corpora that annotators know well or badly, and see how often intervals cover."""
    large = c.draw(rng, _ITEMS_OF_THE_TRUTH)
    corpora = [c.draw(rng, c.items) for _ in range(replicates)]
    alphas = [alpha_interval(own, level=level) for own in corpora]
    found = {"alpha": (float(alpha_interval(large).estimate), alphas)}
    if c.annotators == 2 and not c.missing:
        true = float(_kappa(large, level).estimate)
        found["kappa"] = (true, [_kappa(own, level) for own in corpora])
    for name, (true, intervals) in found.items():
        yield Row(**vars(c), coefficient=name, value=true, **summary(intervals, true))


def _kappa(ratings: Ratings, level: float) -> Interval:
    a, b = ratings.codes
    items = ConfusedItems(a, b, ratings.n_labels, ratings.units)
    found = confusion_interval(items, "kappa", level=level)
    return replace(found, note=found.note or doubt(a != b, ratings.units))


# --- Partial overlap: every span of gold is found, found in part or missed, sentences differ in how
# hard they are, and wrong spans are returned besides

_SENTENCES_OF_THE_TRUTH = 400_000  # of the corpus that shows the true score


@dataclass(frozen=True)
class Sentences:
    """Sentences, spans per sentence, the share found, of these the share found in part."""

    sentences: int
    spans: float
    found: float
    partly: float

    def draw(self, rng: Generator, sentences: int) -> Counts:
        """Draw the counts of every sentence, in halves."""
        number = rng.poisson(self.spans, sentences)
        odds = np.log(self.found / (1 - self.found)) + rng.normal(size=sentences)
        met = rng.binomial(number, 1 / (1 + np.exp(-odds)))
        right = met - rng.binomial(met, self.partly) / 2
        wrong = rng.poisson(0.2 * self.spans, sentences)
        return Counts(tp=right, fp=met - right + wrong, fn=number - right)


_TEXTS = tuple(
    Sentences(sentences, spans, found, partly)
    for sentences in (50, 200, 1000)
    for spans, found, partly in ((1.0, 0.6, 0.3), (1.0, 0.95, 0.1), (4.0, 0.8, 0.5))
)


@study(_TEXTS)
def overlap_study(c: Sentences, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw test sets with spans found in part, and see how often the interval of F1 covers."""
    true = float(score(c.draw(rng, _SENTENCES_OF_THE_TRUTH).sum(), "f1"))
    drawn = (c.draw(rng, c.sentences) for _ in range(replicates))
    found = summary([interval(x, "f1", level=level, clustered=True) for x in drawn], true)
    del found["noted"]
    yield Row(**vars(c), f1=true, **found)


# --- Records: documents differ in difficulty and in the number of their fields; some outputs are
# malformed and lose all of them. A wrong field is another value, which counts twice, or missing.

_DOCUMENTS_OF_THE_TRUTH = 200_000  # documents of the corpus that shows the truth
_HEADER, _ROWS, _ROW_FIELDS = 8, 2.0, 4  # fields outside lists, mean number of rows, their fields
_OTHER_VALUE, _SAME_WRONG = 0.7, 0.3  # shares of wrong fields
_RIGHT = (0.90, 0.93)  # mean shares of right fields of A and of B
_SPREAD = 12.0  # of the beta law of the difficulty of documents


@dataclass(frozen=True)
class Documents:
    """A test set: its documents, and the share of outputs that are malformed."""

    documents: int
    malformed: float

    def draw(
        self, rng: Generator, documents: int, right: tuple[float, float]
    ) -> tuple[PairedCounts, PairedCounts]:
        """Draw the cases of all fields, and of one field that every document has once."""
        from scipy.stats import beta

        fields = _HEADER + _ROW_FIELDS * rng.poisson(_ROWS, documents)
        owner = np.repeat(np.arange(documents), fields)
        easy = rng.random(documents)
        # both systems find the same documents easy
        chances = [beta.ppf(easy, _SPREAD * share, _SPREAD * (1 - share)) for share in right]
        found = [rng.random(len(owner)) < chance[owner] for chance in chances]
        alarm = [~own & (rng.random(len(owner)) < _OTHER_VALUE) for own in found]
        lost = [rng.random(documents) < self.malformed for _ in right]
        found = [own & ~gone[owner] for own, gone in zip(found, lost, strict=True)]
        alarm = [own & ~gone[owner] for own, gone in zip(alarm, lost, strict=True)]
        same = alarm[0] & alarm[1] & (rng.random(len(owner)) < _SAME_WRONG)
        first = np.diff(owner, prepend=-1) > 0
        cells = *found, *alarm, same
        every = _cases(owner, documents, *cells)
        return every, _cases(owner[first], documents, *(own[first] for own in cells))


def _cases(owner: Ints, documents: int, *cells: Mask) -> PairedCounts:
    """Return the seven cases of every document (see `PairedCounts`)."""
    a, b, alarm_a, alarm_b, same = cells
    kinds = (a & ~b, alarm_a & ~same, ~a & b, alarm_b & ~same, a & b, same, ~a & ~b)
    columns = [np.bincount(owner[kind], minlength=documents) for kind in kinds]
    return PairedCounts(np.stack(columns, axis=1))


_COLLECTIONS = tuple(
    Documents(documents, malformed)
    for documents in (20, 50, 200, 500)
    for malformed in (0.0, 0.03, 0.05)
)


@study(_COLLECTIONS, streams)
def record_study(c: Documents, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw corpora of records, and see how often intervals cover and tests reject equal systems."""
    totals = (own.total() for own in c.draw(rng, _DOCUMENTS_OF_THE_TRUTH, _RIGHT))
    every, alone = ([float(score(side, "f1")) for side in (own.a, own.b)] for own in totals)
    true = {"F1": every[1], "F1 of a field": alone[1], "difference": every[1] - every[0]}
    limits: dict[str, list[tuple[float, ...]]] = {name: [] for name in true}
    pvalues = []
    for _ in range(replicates):
        drawn, field = c.draw(rng, c.documents, _RIGHT)
        limits["F1"].append(_limits(drawn.b, level))
        limits["F1 of a field"].append(_limits(field.b, level))
        gaps = difference(drawn, "f1", level=level), difference(drawn.total(), level=level)
        limits["difference"].append(tuple(end for gap in gaps for end in (gap.low, gap.high)))
        equal, _ = c.draw(rng, c.documents, (_RIGHT[0], _RIGHT[0]))
        # what decides by document, and exchanging single fields
        pooled = PooledScore.of_cases(equal.grouped(), "f1")
        (test,) = pooled.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
        decides = decision_pvalue(test.pvalue, pooled.unit_test(0, 1).pvalue)
        by_item = randomization_test(equal.total(), "f1", by="item")
        pvalues.append((float(decides), float(by_item.pvalue)))
    error = {"standard_error": share_error(0.95, replicates)}
    for name, truth in true.items():
        low, high, item_low, item_high = np.array(limits[name]).T
        yield Row(
            **vars(c),
            question=name,
            truth=truth,
            by_document=mean((low <= truth) & (truth <= high)),
            by_field=mean((item_low <= truth) & (truth <= item_high)),
            length=mean(high - low),
            **error,
        )
    by_document, by_field = (mean(p <= 1 - level) for p in np.array(pvalues).T)
    found = {"by_document": by_document, "by_field": by_field, "length": math.nan}
    yield Row(**vars(c), question="test", truth=0.0, **found, **error)


def _limits(counts: Counts, level: float) -> tuple[float, ...]:
    """Return the interval by document, and that of independent fields."""
    both = (
        interval(counts, "f1", clustered=True, level=level),
        interval(counts.sum(), "f1", level=level),
    )
    return tuple(float(end) for one in both for end in (one.low, one.high))


# --- Graded scores: items have latent qualities, those of a unit alike, which a shape turns into
# scores from 0 to 1

_UNITS_OF_THE_TRUTH = 100_000  # units of the test set that gives the true values
_UNIT_SPREAD = 0.6  # standard deviation of the quality of a unit; that of an item in it is 1
_GAIN, _APART = 0.1, 0.5  # by which B's quality is higher, and how far its items vary from A's
_ITEMS_OF_A_POOL = 2000
_MANY_UNITS = 36


_SHAPES: dict[str, Callable[[Array], Any]] = {
    "beta": lambda p: special.betaincinv(2, 2, p),
    "halves": lambda p: np.floor(3 * p) / 2,
    "ratings": lambda p: np.floor(5 * p) / 4,
    "rouge-like": lambda p: special.betaincinv(1.5, 5, p),
    "mostly 1": lambda p: np.minimum(1.0, p / 0.15),
}


def _true_scores(rng: Generator, unit: Any, units: int, shape: str) -> Any:
    """Draw the qualities of all items for both systems, and turn them into scores of a shape."""
    quality = rng.normal(0, _UNIT_SPREAD, units)[unit] + rng.normal(size=len(unit))
    other = _GAIN + (quality + rng.normal(0, _APART, len(unit))) / np.sqrt(1 + _APART**2)
    spread = np.sqrt(_UNIT_SPREAD**2 + 1)
    return _SHAPES[shape](special.ndtr(np.stack([quality, other]) / spread))


@dataclass(frozen=True)
class _Condition:
    """A test set: its units, their sizes (equal or unequal) and the shape of its scores."""

    shape: str
    sizes: str
    units: int

    def score(self, rng: Generator) -> MeanScore:
        """Draw a test set, and return the means of both systems on it."""
        number = np.full(self.units, 5) if self.sizes == "equal" else rng.geometric(0.2, self.units)
        unit = np.repeat(np.arange(self.units), number)
        scores = _true_scores(rng, unit, self.units, self.shape)
        x = np.array([np.bincount(unit, own, minlength=self.units) for own in scores])
        return MeanScore(x, np.tile(number.astype(float), (2, 1)))


_CONDITIONS = tuple(
    _Condition(shape, sizes, units)
    for shape, sizes, units in product(_SHAPES, ("equal", "unequal"), (10, 30, 100, 1000))
)


@study(_CONDITIONS)
def graded_study(c: _Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw test sets with graded scores, and see how often intervals cover and tests reject."""
    value, other = replace(c, units=_UNITS_OF_THE_TRUTH).score(rng).estimates.tolist()
    gap = other - value
    found = []
    for _ in range(replicates):
        score = c.score(rng)
        own, both = score.interval(0, level), score.difference(0, 1, level)
        # two systems that are equally good: units of both are exchanged at random
        flip = rng.random(score.x.shape[1]) < 0.5
        pvalue = _pvalue(replace(score, x=np.where(flip, score.x[::-1], score.x)))
        inside = own.low <= value <= own.high, both.low <= gap <= both.high
        found.append((*inside, both.high - both.low, pvalue <= 0.05))
    covered, also, length, alarms = map(mean, np.array(found, float).T)
    yield Row(
        **vars(c),
        value=value,
        covered=covered,
        difference=gap,
        difference_covered=also,
        length=length,
        false_alarms=alarms,
        standard_error=share_error(0.95, replicates),
    )


def _pvalue(score: MeanScore) -> float:
    """Return the p-value that decides: that of the exchange or Student's, if that is larger."""
    student = score.unit_test(0, 1).pvalue
    # on many units with scores that have no step both agree, and a bracket would take long
    if score.x.shape[1] > _MANY_UNITS and step_of(score.x[1] - score.x[0]) is None:
        return student
    found = score.line(0, 1)
    return student if found is None else float(np.fmax(student, found.pvalue))


# --- A judge that errs


@dataclass(frozen=True)
class _JudgeCondition:
    """A judge's noise, its bias towards B, items per document, and human labels of 2,000 items."""

    noise: float
    bias: float
    per_unit: int
    whole: bool  # documents are labelled, instead of single items
    labels: int

    def score(self, rng: Generator, items: int = _ITEMS_OF_A_POOL) -> tuple[JudgedScore, Array]:
        """Draw a pool; return its corrected score and the true scores of both systems."""
        units = items // self.per_unit
        unit = np.repeat(np.arange(units), self.per_unit)
        truth = _true_scores(rng, unit, units, "beta")
        # a judge likes some documents more than others
        liked = rng.normal(0, self.noise / 2, units)[unit]
        judge = truth + rng.normal(0, self.noise, (2, items)) + liked + [[0.0], [self.bias]]
        judge = np.clip(judge, 0, 1)
        chosen = np.zeros(items, dtype=bool)
        if self.whole:
            drawn = rng.choice(units, self.labels // self.per_unit, replace=False)
            chosen[np.isin(unit, drawn)] = True
        else:
            chosen[rng.choice(items, self.labels, replace=False)] = True

        def summed(values: Any) -> Array:
            return np.array([np.bincount(unit, own, minlength=units) for own in values])

        x, y = summed(judge), summed(np.ones((2, items)))
        parts = summed(truth * chosen), summed(judge * chosen), summed(np.stack([chosen, chosen]))
        return JudgedScore(x, y, (0.0, 1.0), "mean", "unit", None, items, *parts), truth


_JUDGES = tuple(
    _JudgeCondition(noise, bias, per_unit, whole, labels)
    for noise, bias, (per_unit, whole), labels in product(
        (0.05, 0.15, 0.4), (0.1,), ((1, False), (10, False), (10, True)), (50, 100, 300)
    )
)


@study(_JUDGES)
def judge_study(c: _JudgeCondition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw pools that a judge scores and people in part, and see how often intervals cover."""
    _, truth = replace(c, labels=100).score(rng, 50 * _ITEMS_OF_A_POOL)
    value, gap = float(truth[0].mean()), float((truth[1] - truth[0]).mean())
    found = []
    for _ in range(replicates):
        score, _ = c.score(rng)
        own, both = score.interval(0, level), score.difference(0, 1, level)
        alone = score.uncorrected.difference(0, 1, level)
        labels = MeanScore(score.human, score.labelled).difference(0, 1, level)
        inside = [one.low <= gap <= one.high for one in (both, alone)]
        widths = [one.high - one.low for one in (both, labels)]
        found.append((own.low <= value <= own.high, *inside, *widths))
    names = ["covered", "difference_covered", "uncorrected", "length", "length_of_labels"]
    means = dict(zip(names, map(mean, np.array(found, float).T), strict=True))
    yield Row(**vars(c), **means, standard_error=share_error(0.95, replicates))
