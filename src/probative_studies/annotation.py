"""Do the scores of a pool hold that few labels tell, and what is placing these labels worth?

A pool of which everything is known is annotated in part, time and again: at random, or where it
matters, with and without a judge. Counted is how often the interval holds the score of the whole
pool, how wide it is, how often a note warns, and how many random labels it is worth.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import optimize, special

from probative._validation import Array, Ints, Mask, one_of, open_probability, whole_number
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.rare_positives import ItemStrata, rare_interval
from probative.inference.stratified import Draw, Judge, PoolScores, Spread, target_of
from probative.matching.matched import match_inputs, read_side
from probative.matching.schemes import decode
from probative.metrics import score
from probative.options import ReadingOptions
from probative.reading.annotations import Spans, Tagged
from probative.surveys.pool import Pool, read_pool
from probative.surveys.strata import Expected, layers_of, numbers_of
from probative_studies.harness import Report, Row, checked, mean, quiet, share_error, streams

# --- Pools of sentences of which everything is known, to be annotated in part time and again.
#
# They come from annotated files with the outputs of two systems; where there are none, two taggers
# know the names of other annotated files.

_GOOD = 0.8  # of the units, in which a good judge is right


@dataclass(frozen=True, eq=False)
class _UnitPool:
    """Sentences with the outputs of two systems and the gold."""

    name: str
    pool: Pool  # what is known before anything is annotated
    counts: tuple[Counts, Counts]  # the counts of either system, one row per sentence
    # the same as each judge sees them: a good one, and one that talks nonsense
    judges: dict[str, tuple[Counts, ...]]


def read_units(
    gold: Path | str,
    systems: Sequence[Path | str] = (),
    names: Sequence[Path | str] = (),
    *,
    rng: int = 0,
) -> _UnitPool:
    """Read a pool of sentences."""
    if len(systems) not in (0, 3) or len(names) not in (0, 2) or bool(systems) == bool(names):
        raise InputError(
            f"systems: {len(systems)}, and {len(names)} files of names; expected three systems, or "
            f"two files of names"
        )
    answer: Any = gold
    outputs: list[Any] = list(systems)
    if names:
        sentences, answer, _ = _read(gold)
        known = [_read(path)[2] for path in names]
        # the label that every name has most often
        labels = [
            {name: label for (name, label), _ in sorted(own.items(), key=lambda e: (e[1], e[0]))}
            for own in (*known, known[0] + known[1])
        ]
        outputs = [[_tag(words, own) for words in sentences] for own in labels]
    *rivals, third = outputs
    own, opinion = (
        tuple(items.counts(number, by="sentence") for number in range(2))
        for items in (
            match_inputs(truth, rivals, names=("A", "B")).items for truth in (answer, third)
        )
    )
    pool = read_pool(rivals, reading=ReadingOptions(), names=("A", "B"))
    generator = np.random.default_rng(rng)
    right = generator.random(pool.n_units) < _GOOD
    shuffled = generator.permutation(len(right))
    judges = {
        "good": tuple(
            Counts(*(np.where(right, getattr(a, c), getattr(b, c)) for c in ("tp", "fp", "fn")))
            for a, b in zip(own, opinion, strict=True)
        ),
        "nonsense": tuple(a[shuffled] for a in own),
    }
    return _UnitPool(Path(gold).stem, pool, (own[0], own[1]), judges)


_Names = Counter[tuple[tuple[str, ...], str]]  # how often every name has every label


def _read(path: Path | str) -> tuple[list[tuple[str, ...]], list[list[str]], _Names]:
    """Return the words of every sentence, their tags, and the names."""
    side = read_side(path, ReadingOptions(task="entities"))
    if not isinstance(side, (Tagged, Spans)):
        raise InputError("expected entities", path)
    spans = decode(side) if isinstance(side, Tagged) else side
    words = [tuple(spans.text.words(number)) for number in range(spans.text.n_sentences)]
    tags = [["O"] * len(own) for own in words]
    names: _Names = Counter()
    for sentence, start, end, label in zip(
        spans.sentence, spans.start, spans.end, spans.label, strict=True
    ):
        tags[sentence][start:end] = _tags_of(spans.labels[label], int(end - start))
        names[words[sentence][start:end], spans.labels[label]] += 1
    return words, tags, names


def _tags_of(label: str, length: int) -> list[str]:
    return [f"B-{label}", *[f"I-{label}"] * (length - 1)]


def _tag(words: tuple[str, ...], labels: dict[tuple[str, ...], str]) -> list[str]:
    """Tag the longest known names, from left to right."""
    longest = max(map(len, labels), default=0)
    tags = ["O"] * len(words)
    at = 0
    while at < len(words):
        lengths = range(min(longest, len(words) - at), 0, -1)
        length = next((n for n in lengths if words[at : at + n] in labels), 0)
        if length:
            tags[at : at + length] = _tags_of(labels[words[at : at + length]], length)
        at += max(length, 1)
    return tags


# --- Pools of single items of which everything is known, to be annotated in part time and again.
#
# The log odds of being positive are normal, and systems return the items whose log odds, blurred a
# little, are high. Somebody gives every item a probability, rightly or wrongly.

_DRAWS = 2000
_VALUES = 320  # confidences that stand for those of a stratum
# what confidences make of the true log odds: the factor and the shift
_CONFIDENCES = {
    "calibrated": (1.0, 0.0),
    "timid": (0.5, 0.0),
    "bold": (2.0, 0.0),
    "shifted": (1.0, 1.5),
}
_BLUR = (1.0, 0.5)  # of the log odds that system A and system B see
_THRESHOLD = 0.3  # probability from which an item is returned
_BLIND = 0.2  # of the positive items that nobody has an inkling of


_Placed = tuple[list[NDArray[np.intp]], Ints]  # the units of every stratum, and how many to draw


@dataclass(frozen=True)
class _Sample:
    """Judgement of the interval of one sample."""

    held: bool  # whether the interval held the truth, its width, and whether a note warned
    width: float
    noted: bool
    normal: bool  # whether the normal interval of the same sample held the truth

    @classmethod
    def of(cls, told: Any, truth: float, *, normal: bool) -> _Sample:
        """Judge an interval."""
        held = told.low <= truth <= told.high
        return cls(held, told.high - told.low, bool(told.notes), normal)


def _sample_of(found: PoolScores, truth: float, *, paired: bool) -> _Sample:
    """Judge the interval of a score, or of a difference, from a stratified sample."""
    told = found.difference() if paired else found.score()
    reach = float(-special.ndtri((1 - found.level) / 2)) * told.standard_error
    return _Sample.of(told, truth, normal=bool(abs(told.estimate - truth) <= reach))


@dataclass(frozen=True, eq=False)
class _ItemPool:
    """Single items, with what two systems return."""

    positive: Mask  # whether every item is
    returned: Mask  # whether a system returns it: one row per system
    confidence: Array  # the log odds that somebody gives every item


def make_items(
    rng: Generator, prevalence: float, spread: float, confidences: str, size: int = 100_000
) -> _ItemPool:
    """Draw a pool of items."""
    quantiles = special.ndtri((np.arange(2000) + 0.5) / 2000) * spread
    centre = optimize.brentq(
        lambda middle: float(special.expit(middle + quantiles).mean()) - prevalence, -80, 20
    )
    odds = centre + spread * rng.standard_normal(size)
    chance = special.expit(odds)
    if confidences == "blind":
        chance = (1 - _BLIND) * chance + _BLIND * prevalence
    positive = rng.random(size) < chance
    returned = np.stack(
        [odds + blur * rng.standard_normal(size) > special.logit(_THRESHOLD) for blur in _BLUR]
    )
    factor, shift = _CONFIDENCES.get(confidences, (1.0, 0.0))
    said = factor * odds + shift
    if confidences == "nonsense":
        said = rng.permutation(said)
    return _ItemPool(positive, returned, said)


class ItemQuestion:
    """One question about a pool of items, and how `sample` places so many labels for it."""

    # strata are those of `sample`, parted so that all items of a part have the same answers

    def __init__(
        self, pool: _ItemPool, question: str, n: int, *, by_confidence: bool, random: bool
    ):
        self.paired = question == "difference"
        self.random, self.n = random, n
        answers = pool.returned if self.paired else pool.returned[:1]
        chance = special.expit(pool.confidence)
        layers, self.drawn = [np.arange(answers.shape[1])], np.array([n])
        if answers.any():  # else nobody says yes: there is nothing to part the items by
            outputs = [own.astype(np.int64) for own in answers]
            scores = chance if by_confidence else None
            placed = read_pool(outputs, reading=ReadingOptions(positive="1"), scores=scores)
            layers, self.drawn = _placed(placed, question, n)
        layer = _stratum(layers, len(pool.positive))
        code = 2 ** len(answers) * layer + np.dot(2 ** np.arange(len(answers)), answers)
        _, first, self.part = np.unique(code, return_index=True, return_inverse=True)
        self.layer, self.returned = layer[first], answers[:, first].T
        self.sizes = np.bincount(self.part)
        self.positive = np.bincount(self.part, weights=pool.positive).astype(np.int64)
        self.confidence = None
        if by_confidence:
            own = [chance[self.part == number] for number in range(len(self.sizes))]
            # quantiles stand for all values: sorting all for each sample takes long
            shares = (np.arange(_VALUES) + 0.5) / _VALUES
            self.confidence = [v if len(v) <= _VALUES else np.quantile(v, shares) for v in own]
        self.truth = float(self._value(self.positive))

    def _value(self, totals: Any) -> Array:
        values = []
        for column in self.returned.T:
            tp, fn = totals @ column, totals @ ~column
            values.append(score(Counts(tp, self.sizes @ column - tp, fn), "f1"))
        return np.asarray(values[1] - values[0] if self.paired else values[0])

    def label(self, rng: Generator, *, draws: int = _DRAWS) -> ItemStrata:
        """Label some items, placed where they tell most."""
        labelled = np.zeros_like(self.sizes)
        for number, drawn in enumerate(self.drawn.tolist()):
            own = np.flatnonzero(self.layer == number)
            labelled[own] = rng.multivariate_hypergeometric(self.sizes[own], drawn)
        found = rng.hypergeometric(self.positive, self.sizes - self.positive, labelled)
        return ItemStrata(self.sizes, labelled, found, self.returned, self.confidence, draws=draws)

    def annotate(self, level: float, rng: Generator) -> _Sample:
        """Label some items and ask for the interval."""
        if self.random:  # simply random items, analysed as such
            drawn = rng.multivariate_hypergeometric(self.sizes, self.n)
            found = rng.hypergeometric(self.positive, self.sizes - self.positive, drawn)
            draw = Draw(np.zeros(self.n, np.intp), [int(self.sizes.sum())])
            scores = PoolScores(_rows(self.returned, drawn, found), draw, "f1", level=level)
            return _sample_of(scores, self.truth, paired=self.paired)
        items = self.label(rng)
        told = rare_interval(items, "f1", (0, 1) if self.paired else (0,), level=level)
        drawn, found = items.labelled.astype(np.int64), items.positive.astype(np.int64)
        return _Sample.of(told, self.truth, normal=self._normal(drawn, found, level))

    def _normal(self, drawn: Ints, found: Ints, level: float) -> bool:
        """Return True if the normal interval of the same labels covers the truth."""
        layers = np.bincount(self.layer, weights=self.sizes)
        draw = Draw(np.repeat(self.layer, drawn), layers)
        rows = _rows(self.returned, drawn, found)
        told = [target_of(own, (own * draw.weights).sum(), draw, "f1", 1.0) for own in rows]
        value, moves = told[0].value, told[0].moves
        if self.paired:
            value, moves = told[1].value - value, told[1].moves - moves
        far = -special.ndtri((1 - level) / 2) * math.sqrt(Spread(moves, draw).variance)
        return bool(abs(value - self.truth) <= far)


def _placed(pool: Pool, question: str, n: int) -> _Placed:
    """Return the units of every stratum, and how many of them `sample` draws."""
    layers = layers_of(pool, expected := Expected(pool, question), n)
    return [own.units for own in layers], numbers_of(layers, expected, n)[0]


def _stratum(layers: Sequence[NDArray[np.intp]], size: int) -> NDArray[np.intp]:
    """Return the stratum of every unit."""
    stratum = np.empty(size, np.intp)
    for number, own in enumerate(layers):
        stratum[own] = number
    return stratum


def _rows(returned: Mask, drawn: Ints, found: Ints) -> list[Counts]:
    """Return one row per item for each system: by stratum, positive items first."""
    stratum = np.repeat(np.arange(len(drawn)), drawn)
    within = np.arange(len(stratum)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    positive = within < found[stratum]
    cells = (
        (own & positive, own & ~positive, ~own & positive)
        for own in (column[stratum] for column in returned.T)
    )
    return [Counts(*(cell.astype(np.float64) for cell in own)) for own in cells]


_QUESTIONS = ("score", "difference")
KINDS = ("calibrated", "timid", "bold", "shifted", "none", "nonsense", "blind")
_SPREADS = (2.5, 6.0)  # of the log odds of items: a low F1 and a high one
_POOLS = 10  # that are made per condition of single items


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
    report: Report = quiet,
) -> list[Row]:
    """Annotate a pool in part, time and again.

    >>> few = dict(sizes=(50,), prevalences=(0.1,), kinds=("none",), items=2000, replicates=20)
    >>> [found.placement for found in annotation_study(**few)]
    ['random', 'by pattern', 'random', 'by pattern', 'random', 'by pattern', 'random', 'by pattern']
    """
    (level, replicates), rng = checked(level, replicates), whole_number("rng", rng, least=0)
    items = whole_number("items", items, least=100)
    sizes = [whole_number("sizes", n, least=40) for n in sizes]
    prevalences = [open_probability("prevalences", share) for share in prevalences]
    kinds = [one_of("kinds", kind, KINDS) for kind in kinds]
    if gold is None and (systems or names):
        raise InputError("gold: missing; expected the annotated pool of these systems")
    conditions = product(sizes, kinds, prevalences, _SPREADS, _QUESTIONS)
    cases: list[Any] = [(*condition, n, items) for n, *condition in conditions]
    simulate: Callable[..., Iterator[Row]] = _items
    units = items
    if gold is not None:
        pool = read_units(gold, systems, names, rng=rng)
        cases, simulate, units = list(product([pool], _QUESTIONS, sizes)), _units, pool.pool.n_units
    if max(sizes, default=0) >= units:
        raise InputError(
            f"sizes: {max(sizes):,} labels; expected less than the {units:,} there are"
        )
    results: list[Row] = []
    for case, generator in streams(cases, rng, report):
        results += simulate(*case, level, replicates, generator)
    return results


def _units(
    pool: _UnitPool, question: str, n: int, level: float, replicates: int, rng: Generator
) -> Iterator[Row]:
    """Annotate sentences at random and placed by dispute, without a judge and with each."""
    scores = [float(score(own.sum(), "f1")) for own in pool.counts]
    truth = scores[0] if question == "score" else scores[1] - scores[0]
    size = pool.pool.n_units
    placed, drawn = _placed(pool.pool, question, n)
    random: float | None = None
    for placement, layers, numbers in (
        ("random", [np.arange(size)], [n]),
        ("disputed", placed, drawn.tolist()),
    ):
        for judge in ("no judge", *pool.judges):
            samples = [
                _annotate(pool, layers, numbers, question, judge, truth, level, rng)
                for _ in range(replicates)
            ]
            width = mean([one.width for one in samples])
            random = width if random is None else random
            worth = _worth(n, size, width / random) if random > 0 else math.nan
            about = {"pool": pool.name, "question": question, "placement": placement}
            yield _result(samples, worth, **about, help=judge, labels=n, truth=truth)


def _annotate(
    pool: _UnitPool,
    layers: Sequence[NDArray[np.intp]],
    numbers: Sequence[int],
    question: str,
    judge: str,
    truth: float,
    level: float,
    rng: Generator,
) -> _Sample:
    """Draw units, look up their counts, and ask for the score of the pool."""
    parts = [rng.choice(own, n, replace=False) for own, n in zip(layers, numbers, strict=True)]
    units = np.concatenate(parts)
    draw = Draw(np.repeat(np.arange(len(parts)), numbers), [len(own) for own in layers])
    helper = None
    if judge in pool.judges:
        stratum = _stratum(layers, pool.pool.n_units)
        helper = Judge(pool.judges[judge], stratum, units)
    rows, disputed = [own[units] for own in pool.counts], pool.pool.disputed[units]
    found = PoolScores(rows, draw, "f1", level=level, judge=helper, disputed=disputed)
    return _sample_of(found, truth, paired=question == "difference")


def _items(
    kind: str,
    prevalence: float,
    spread: float,
    question: str,
    n: int,
    size: int,
    level: float,
    replicates: int,
    rng: Generator,
) -> Iterator[Row]:
    """Annotate single items at random, and placed by what systems return and how sure they are."""
    number = min(_POOLS, replicates)
    by_confidence = kind != "none"
    placed = "by confidence" if by_confidence else "by pattern"
    samples: dict[str, list[_Sample]] = {"random": [], placed: []}
    truths = []
    for place in range(number):
        pool = make_items(rng, prevalence, spread, kind, size)
        own = replicates // number + (place < replicates % number)
        for placement, found in samples.items():
            random = placement == "random"
            case = ItemQuestion(pool, question, n, by_confidence=by_confidence, random=random)
            truths.append(case.truth)
            found += [case.annotate(level, rng) for _ in range(own)]
    name = f"items, F1 {'low' if spread == min(_SPREADS) else 'high'}, prevalence {prevalence:g}"
    usual = mean([one.width for one in samples["random"]])
    for placement, found in samples.items():
        worth = _worth(n, size, mean([one.width for one in found]) / usual)
        about = {"pool": name, "question": question, "placement": placement}
        yield _result(found, worth, **about, help=kind, labels=n, truth=mean(truths))


def _worth(n: int, size: int, ratio: float) -> float:
    """Return how many random units make an interval `ratio` times as wide as `n` do."""
    return 1 / (ratio**2 * (1 / n - 1 / size) + 1 / size)


def _result(samples: Sequence[_Sample], worth: float, **about: Any) -> Row:
    held, noted = (np.array([getattr(one, name) for one in samples]) for name in ("held", "noted"))
    share, number = mean(held), len(samples)
    return Row(
        **about,
        coverage=share,
        standard_error=share_error(share, number, least=1 / number),
        width=mean([one.width for one in samples]),
        worth=worth,  # the number of labels at random that give the same width
        normal=mean([one.normal for one in samples]),
        noted=mean(noted),
        unnoted=mean(held[~noted]) if not noted.all() else None,  # the coverage without a note
        replicates=number,
    )
