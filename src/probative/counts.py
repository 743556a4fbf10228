"""Hold confusion counts, from which all scores and tests are computed.

`Counts` holds true positives, false positives, false negatives and, where they exist, true
negatives of one system; `PairedCounts` the eight cases of two systems judged on the same items;
`LabelCounts` the counts of one system by unit and label.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from probative._validation import MOST, Array, Number, amounts, factors, shown
from probative.errors import InputError
from probative.labels import factorise, label_name, labels_in

# --- Helpers of `Counts` and `PairedCounts`

_PLAIN = {int, float, np.float64}  # types of single numbers that need no further look


def _whole(value: Any) -> Any:
    """Return whole numbers as int and arrays as nested lists, for people and JSON."""
    if isinstance(value, np.ndarray):
        return [_whole(item) for item in value.tolist()]
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if float(value).is_integer() else float(value)


def _show(value: Any) -> str:
    """Return counts as text, whole numbers without a decimal point."""
    if isinstance(value, np.ndarray):
        return np.array2string(
            value, separator=", ", threshold=8, formatter={"float": "{:g}".format}
        )
    return str(_whole(value))


def _is_positive(name: str, labels: Any, positive: object) -> NDArray[np.bool_]:
    """Return True for the items with the label `positive`; refuse missing labels."""
    whole_numbers = type(labels) is np.ndarray and labels.dtype.kind in "bui" and labels.ndim == 1
    if whole_numbers and isinstance(positive, int) and abs(positive) < 2**63:
        return np.asarray(labels == int(positive))  # gives the same, a hundred times faster
    codes, names = labels_in(name, labels)
    wanted = label_name("positive", positive)
    return np.asarray(codes == (names.index(wanted) if wanted in names else -1))


def _same_length(name: str, array: NDArray[Any], other_name: str, other: NDArray[Any]) -> None:
    """Refuse arrays of different lengths."""
    if array.shape != other.shape:
        raise InputError(
            f"{name}: {len(array)} items, but {other_name} has {len(other)}; expected the "
            "same number"
        )


def _span_sets(name: str, sentences: Any) -> list[set[Hashable]]:
    """Return the spans of every sentence as a set."""
    wrong = InputError(
        f"{name}: {shown(sentences)}; expected a list with a set of spans per sentence"
    )
    if isinstance(sentences, (Set, Mapping, str, bytes)):
        raise wrong
    try:
        return [set(sentence) for sentence in sentences]
    except TypeError:
        raise wrong from None


def by_first_appearance(name: str, units: Any) -> tuple[NDArray[np.int64], int]:
    """Number the distinct units in the order in which they first appear."""
    codes, names = labels_in(name, units)
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(_first_places(codes, len(names)))] = np.arange(len(names))
    return rank[codes], len(names)


def _first_places(codes: NDArray[Any], number: int) -> NDArray[np.int64]:
    """Return the index of the first item of each code."""
    first = np.empty(number, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last value written is the first item
    return first


def kinds_of_rows(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the index of the first of each distinct row, and the code of every row."""
    size = rows.max(axis=0, initial=0) + 1
    if np.prod(size) >= 2**53 or not np.array_equal(rows, np.round(rows)):
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first, group.reshape(-1)
    # small whole numbers: one integer per row
    keys, place = np.zeros(len(rows), dtype=np.int64), 1
    for column, values in zip(rows.T, size.astype(np.int64).tolist(), strict=True):
        keys += column.astype(np.int64) * place
        place *= values
    codes, distinct = factorise(keys)
    return _first_places(codes, len(distinct)), codes


# --- Counts of one system, and of two

CELLS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """True positives, false positives, false negatives and, optionally, true negatives.

    Parameters
    ----------
    tp, fp, fn
        Numbers, or arrays of one shape, where each position is a separate table. They may be
        fractions, as effective counts are.
    tn
        True negatives, where they can be counted. For chunks and words they cannot.

    Arguments are copied, and the arrays are read-only.

    Examples
    --------
    >>> import probative as pv
    >>> counts = pv.Counts(tp=77, fp=44, fn=10, tn=702)
    >>> counts
    Counts(tp=77, fp=44, fn=10, tn=702)
    >>> counts + counts
    Counts(tp=154, fp=88, fn=20, tn=1404)
    >>> 0.5 * counts
    Counts(tp=38.5, fp=22, fn=5, tn=351)
    >>> pv.Counts(tp=[1, 2], fp=[0, 3], fn=[4, 4]).sum()
    Counts(tp=3, fp=3, fn=8)
    """

    tp: Number
    fp: Number
    fn: Number
    tn: Number | None = None

    if TYPE_CHECKING:  # arguments may be anything that NumPy turns into numbers

        def __init__(
            self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        shape = None
        for name in CELLS:
            value = getattr(self, name)
            if value is None and name == "tn":
                continue
            single = type(value) in _PLAIN and 0 <= value <= MOST
            array: Any = np.float64(value) if single else amounts(name, value)
            shape = array.shape if shape is None else shape
            if array.shape != shape:
                raise InputError(
                    f"{name}: shape {array.shape} differs from the shape of tp, {shape}; "
                    f"expected counts of one shape"
                )
            # a single number becomes a NumPy float, which divides by 0 quietly
            object.__setattr__(self, name, array[()])

    @classmethod
    def from_labels(cls, gold: ArrayLike, pred: ArrayLike, *, positive: object = 1) -> Self:
        """Count one class of two aligned label sequences.

        Parameters
        ----------
        gold, pred
            The gold labels and the predicted ones, one per position.
        positive
            The label that counts as "yes"; every other one is a "no".

        Examples
        --------
        >>> import probative as pv
        >>> pv.Counts.from_labels(["spam", "ham", "spam"], ["spam", "spam", "ham"], positive="spam")
        Counts(tp=1, fp=1, fn=1, tn=0)
        """
        answer = _is_positive("gold", gold, positive)
        says = _is_positive("pred", pred, positive)
        _same_length("pred", says, "gold", answer)
        return cls(
            tp=np.count_nonzero(answer & says),
            fp=np.count_nonzero(~answer & says),
            fn=np.count_nonzero(answer & ~says),
            tn=np.count_nonzero(~answer & ~says),
        )

    @classmethod
    def stacked(cls, tables: Sequence[Counts]) -> Self:
        """Join tables of one shape along a new first axis."""
        if len({table.tn is None for table in tables}) > 1:
            raise InputError("tn: one of the two tables has it and the other has not")
        shapes = [table.shape for table in tables]
        other = next((shape for shape in shapes if shape != shapes[0]), None)
        if other is not None:
            raise InputError(f"shapes {shapes[0]} and {other} of the two tables differ")
        cells = zip(*(table._cells() for table in tables), strict=True)
        return cls._of_checked(tuple(np.array(list(cells))))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the arrays; () for a single table."""
        return np.shape(self.tp)

    @property
    def predicted(self) -> Number:
        """Return the number of items that the system returned, tp + fp."""
        return self.tp + self.fp

    @property
    def positives(self) -> Number:
        """Return the number of gold items, tp + fn."""
        return self.tp + self.fn

    @property
    def nu(self) -> Number:
        """Return the number of items that matter to F1, tp + fp + fn."""
        return self.tp + self.fp + self.fn

    def sum(self, axis: int | None = None) -> Self:
        """Add up the tables of an array-valued `Counts`: all, or those along an axis."""
        return self._map(lambda value: np.sum(value, axis=axis))

    def reshape(self, *shape: int) -> Self:
        """Arrange the tables of an array-valued `Counts` in another shape."""
        return self._map(lambda value: value.reshape(*shape))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by name, whole numbers as int; tn only if it exists."""
        return {name: _whole(cell) for name, cell in zip(CELLS, self._cells(), strict=False)}

    def __add__(self, other: object) -> Self:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.stacked([self, other]).sum(axis=0)

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that the builtin sum() works

    def __mul__(self, weight: ArrayLike) -> Self:
        factor = factors("weight", weight)
        return self._map(lambda value: value * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: ArrayLike) -> Self:
        factor = factors("divisor", divisor, zero=False)
        return self._map(lambda value: value / factor)

    def __getitem__(self, index: Any) -> Self:
        if isinstance(index, slice) and self.shape:  # a view: the arrays are read-only
            return self._of_checked(tuple(cell[index] for cell in self._cells()))
        return self._map(lambda value: value[index])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single table has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if len(self.shape) != 1:
            return (self[i] for i in range(len(self)))
        return (self._of_checked(row) for row in zip(*self._cells(), strict=True))

    @classmethod
    def _of_checked(cls, cells: tuple[Any, ...]) -> Self:
        """Make tables of validated arrays without validating them again."""
        table = object.__new__(cls)
        vars(table).update(zip_longest(CELLS, cells))
        return table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        mine, theirs = self._cells(), other._cells()
        return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]  # arrays inside: equal, but not hashable

    def __repr__(self) -> str:
        cells = zip(CELLS, self._cells(), strict=False)
        return f"Counts({', '.join(f'{name}={_show(cell)}' for name, cell in cells)})"

    def _cells(self) -> tuple[Any, ...]:
        """Return tp, fp, fn and, if it exists, tn."""
        cells = self.tp, self.fp, self.fn
        return cells if self.tn is None else (*cells, self.tn)

    def _map(self, function: Callable[[Any], Any]) -> Self:
        try:
            return type(self)(*map(function, self._cells()))
        except InputError:
            raise
        except ValueError as error:  # shapes that do not fit
            raise InputError(f"counts of shape {self.shape}: {error}") from None


# The cases that add up to each count: A says yes in 0, 1, 4, 5; B in 2, 3, 4, 5; gold is yes in
# 0, 2, 4, 6.
_CASES_A = {"tp": (0, 4), "fp": (1, 5), "fn": (2, 6), "tn": (3, 7)}
_CASES_B = {"tp": (2, 4), "fp": (3, 5), "fn": (0, 6), "tn": (1, 7)}


@dataclass(eq=False)
class ItemCounts:
    """Numbers of items that have graded scores, and of those left out without one."""

    items: int
    left_out: int = 0
    # where scores are means of repeated answers: their mean number, their share of the variance
    repeats: float | None = field(default=None, repr=False)
    share_of_repeats: float | None = field(default=None, repr=False)

    @property
    def positives(self) -> int:
        """Return the number of items."""
        return self.items

    @property
    def predicted(self) -> int:
        """Return the number of items, each of which has a score."""
        return self.items

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        own = vars(self) | {"left_out": self.left_out or None}
        return {name: value for name, value in own.items() if value is not None}


@dataclass(frozen=True, eq=False, repr=False)
class PairedCounts:
    """Counts of the eight cases of a baseline A and a challenger B on the same items.

    ====  ===  ===  ======
    case  A    B    gold
    ====  ===  ===  ======
    0     yes  no   yes
    1     yes  no   no
    2     no   yes  yes
    3     no   yes  no
    4     yes  yes  yes
    5     yes  yes  no
    6     no   no   yes
    7     no   no   no
    ====  ===  ===  ======

    Parameters
    ----------
    cases
        Eight numbers, or one row of eight per unit (sentence, document). Seven, without case 7,
        where items that no side has cannot be counted, as with chunks and words.
    multiplicity
        The number of units that each row stands for, so that equal units are stored once; 1 by
        default.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> paired.a
    Counts(tp=43, fp=8, fn=15, tn=301)
    >>> paired.b
    Counts(tp=48, fp=7, fn=10, tn=302)
    """

    cases: Array
    multiplicity: NDArray[np.int64] | None = None
    has_negatives: bool = field(init=False)

    if TYPE_CHECKING:  # arguments may be anything that NumPy turns into numbers

        def __init__(self, cases: ArrayLike, multiplicity: ArrayLike | None = None) -> None: ...

    def __post_init__(self) -> None:
        cases = amounts("cases", self.cases)
        if cases.ndim not in (1, 2) or cases.shape[-1] not in (7, 8):
            raise InputError(
                f"cases: shape {cases.shape}; expected 8 numbers, or one row of 8 per unit "
                f"(7 where case 7 cannot be counted)"
            )
        has_negatives = cases.shape[-1] == 8
        if not has_negatives:
            cases = np.concatenate([cases, np.zeros((*cases.shape[:-1], 1))], axis=-1)
            cases.flags.writeable = False
        vars(self).update(cases=cases, has_negatives=has_negatives)
        if self.multiplicity is None:
            return
        if cases.ndim == 1:
            raise InputError("multiplicity: needs one row per unit, and there is one table")
        values = amounts("multiplicity", self.multiplicity)
        if values.shape != cases.shape[:1]:
            raise InputError(
                f"multiplicity: shape {values.shape}; expected one number per row, ({len(cases)},)"
            )
        if np.any(values != np.round(values)):
            wrong = values[values != np.round(values)][0]
            raise InputError(f"multiplicity: {wrong:g} is not a whole number")
        number = values.astype(np.int64)
        number.flags.writeable = False
        object.__setattr__(self, "multiplicity", number)

    @classmethod
    def from_labels(
        cls,
        gold: ArrayLike,
        a: ArrayLike,
        b: ArrayLike,
        *,
        positive: object = 1,
        units: ArrayLike | None = None,
    ) -> Self:
        """Count the cases of one class in three aligned label sequences.

        Parameters
        ----------
        gold, a, b
            The gold labels, those of the baseline and those of the challenger.
        positive
            The label that counts as "yes"; every other one is a "no".
        units
            The sentence, document or group of every item, if items are not independent. The
            result then has one row per unit, in the order of their first appearance.

        Examples
        --------
        >>> import probative as pv
        >>> pv.PairedCounts.from_labels([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0])
        PairedCounts([0, 1, 1, 0, 1, 0, 0, 1])
        """
        answer = _is_positive("gold", gold, positive)
        says_a = _is_positive("a", a, positive)
        says_b = _is_positive("b", b, positive)
        _same_length("a", says_a, "gold", answer)
        _same_length("b", says_b, "gold", answer)
        group = np.where(says_a, np.where(says_b, 4, 0), np.where(says_b, 2, 6))
        case = np.asarray(group + ~answer, dtype=np.int64)  # as in the table of `PairedCounts`
        if units is None:
            return cls(np.bincount(case, minlength=8))
        unit, n_units = by_first_appearance("units", units)
        _same_length("units", unit, "gold", answer)
        return cls(np.bincount(unit * 8 + case, minlength=n_units * 8).reshape(n_units, 8))

    @classmethod
    def from_spans(
        cls,
        gold: Sequence[Iterable[Hashable]],
        a: Sequence[Iterable[Hashable]],
        b: Sequence[Iterable[Hashable]],
    ) -> Self:
        """Count the cases of spans, given as one set per sentence.

        An item is any distinct span that A, B or gold has, so case 7 is empty. The result has one
        row per sentence.

        Parameters
        ----------
        gold, a, b
            A sequence of sentences, each a set of ``(start, end, label)``.

        Examples
        --------
        >>> import probative as pv
        >>> gold = [{(0, 2, "PER")}, {(1, 2, "LOC"), (4, 5, "ORG")}]
        >>> a = [{(0, 2, "PER")}, {(1, 2, "ORG")}]
        >>> b = [{(0, 2, "PER")}, {(1, 2, "LOC")}]
        >>> pv.PairedCounts.from_spans(gold, a, b).total()
        PairedCounts([0, 1, 1, 0, 1, 0, 1])
        """
        sides = [_span_sets(name, side) for name, side in (("gold", gold), ("a", a), ("b", b))]
        for name, side in zip("ab", sides[1:], strict=True):
            if len(side) != len(sides[0]):
                raise InputError(f"{name}: {len(side)} sentences, but gold has {len(sides[0])}")
        rows = []
        for answer, says_a, says_b in zip(*sides, strict=True):
            parts = (says_a - says_b, says_b - says_a, says_a & says_b)
            cases = [len(case) for part in parts for case in (part & answer, part - answer)]
            rows.append([*cases, len(answer - says_a - says_b)])
        return cls(np.array(rows, dtype=np.float64).reshape(-1, 7))

    @property
    def has_units(self) -> bool:
        """Return True if there is one row per unit, False if there is one table."""
        return bool(self.cases.ndim == 2)

    @property
    def n_units(self) -> int:
        """Return the number of units; 0 if there is one table without units."""
        if not self.has_units:
            return 0
        return len(self.cases) if self.multiplicity is None else int(self.multiplicity.sum())

    @property
    def a(self) -> Counts:
        """Return the baseline's counts, as one table or one per unit, with equal units repeated."""
        return self._system(_CASES_A)

    @property
    def b(self) -> Counts:
        """Return the challenger's counts, like `a`."""
        return self._system(_CASES_B)

    def total(self) -> Self:
        """Add up the units to one table."""
        if not self.has_units:
            return self
        if self.multiplicity is None:
            return self._with(self.cases.sum(axis=0))
        return self._with(self.multiplicity @ self.cases)

    def grouped(self) -> Self:
        """Store equal units once, with their multiplicity; leave a single table as it is."""
        if not self.has_units:
            return self
        weight = self.multiplicity
        first, group = kinds_of_rows(self.cases)
        number = np.bincount(group, weights=weight, minlength=len(first))
        return self._with(self.cases[first], number)

    def swapped(self) -> Self:
        """Exchange the roles of A and B."""
        return self._with(self.cases[..., [2, 3, 0, 1, 4, 5, 6, 7]], self.multiplicity)

    @classmethod
    def concatenate(cls, parts: Iterable[PairedCounts]) -> Self:
        """Put the units of several objects into one."""
        try:
            parts = list(parts)
        except TypeError:
            parts = []
        whole = all(isinstance(part, PairedCounts) and part.has_units for part in parts)
        if not parts or not whole:
            raise InputError("parts: expected at least one, each with one row per unit")
        if len({part.has_negatives for part in parts}) > 1:
            raise InputError("parts: some have case 7 and others have not")
        rows = np.concatenate([part.cases for part in parts])
        number = np.concatenate([part._number() for part in parts])
        return cls(rows if parts[0].has_negatives else rows[:, :7], number)

    def __add__(self, other: object) -> Self:
        """Add case by case: two single tables, or the rows of two runs over the same units."""
        if not isinstance(other, PairedCounts):
            return NotImplemented
        if self.has_negatives != other.has_negatives:
            raise InputError("cases: one of the two has case 7 and the other has not")
        if self.cases.shape != other.cases.shape:
            raise InputError(
                f"cases: shapes {self.cases.shape} and {other.cases.shape} differ; add up the "
                f"units with total() first, or join them with concatenate()"
            )
        if self.multiplicity is not None or other.multiplicity is not None:
            raise InputError(
                "multiplicity: rows that stand for several units cannot be added row by row; "
                "use total() or concatenate()"
            )
        return self._with(self.cases + other.cases)

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented

    def __mul__(self, weight: ArrayLike) -> Self:
        return self._with(self.cases * factors("weight", weight), self.multiplicity)

    __rmul__ = __mul__

    def __truediv__(self, divisor: ArrayLike) -> Self:
        return self._with(self.cases / factors("divisor", divisor, zero=False), self.multiplicity)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        return (
            self.has_negatives == other.has_negatives
            and np.array_equal(self.cases, other.cases)
            and np.array_equal(self._number(), other._number())
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside: equal, but not hashable

    def __repr__(self) -> str:
        width = 8 if self.has_negatives else 7
        if not self.has_units:
            return f"PairedCounts([{', '.join(f'{x:g}' for x in self.cases[:width])}])"
        return f"PairedCounts({self.n_units} units, {len(self.cases)} rows of {width} cases)"

    def _number(self) -> NDArray[np.int64]:
        one_each = np.ones(self.cases.shape[:-1], dtype=np.int64)
        return one_each if self.multiplicity is None else self.multiplicity

    def _with(self, cases: NDArray[np.float64], multiplicity: Any = None) -> Self:
        """Return cases computed from these, with whole numbers of equal units."""
        number = None if multiplicity is None else np.asarray(multiplicity)
        fits = number is None or (number.shape == cases.shape[:1] and number.max(initial=0) <= MOST)
        if not fits or cases.ndim > 2 or not cases.max(initial=0) <= MOST:  # refused
            return type(self)(cases if self.has_negatives else cases[..., :7], number)
        table = object.__new__(type(self))
        cases.flags.writeable = False
        if number is not None:
            number = number.astype(np.int64)
            number.flags.writeable = False
        vars(table).update(cases=cases, multiplicity=number, has_negatives=self.has_negatives)
        return table

    def _system(self, which: dict[str, tuple[int, int]]) -> Counts:
        rows = self.cases
        if self.multiplicity is not None:
            rows = np.repeat(rows, self.multiplicity, axis=0)
        names = CELLS if self.has_negatives else CELLS[:3]
        cells = [rows[..., i] + rows[..., j] for i, j in (which[name] for name in names)]
        if not rows.max(initial=0) <= MOST / 2:
            return Counts(*cells)  # refuses what is too large
        for cell in cells if self.has_units else ():
            cell.flags.writeable = False
        return Counts._of_checked(tuple(cells))


def counts_of(parameter: str, value: object) -> Counts:
    """Return `value` if it is a `Counts`."""
    if isinstance(value, Counts):
        return value
    raise InputError(f"{parameter}: {shown(value)}; expected Counts")


def paired_of(parameter: str, value: object) -> PairedCounts:
    """Return `value` if it is a `PairedCounts`."""
    if isinstance(value, PairedCounts):
        return value
    raise InputError(f"{parameter}: {shown(value)}; expected PairedCounts")


# --- Counts by unit and label, stored only for cells that hold an item


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts of one system in every cell of units and labels that holds an item."""

    # a full table would be nearly empty: 100,000 labels on 100,000 units have 10^10 cells

    unit: NDArray[Any]  # of every cell
    label: NDArray[Any]  # of every cell
    counts: Counts  # of every cell
    n_units: int  # with or without items
    n_labels: int  # with or without items
    number: NDArray[Any] | None = None  # equal units that each unit stands for; None if one

    @classmethod
    def from_table(cls, counts: Counts) -> LabelCounts:
        """Make the cells of a full table: one row per unit and one column per label."""
        if len(counts.shape) != 2:
            raise InputError(
                f"counts: shape {counts.shape}; expected one row per unit, one column per label"
            )
        n_units, n_labels = counts.shape
        unit = np.repeat(np.arange(n_units), n_labels)
        label = np.tile(np.arange(n_labels), n_units)
        return cls(unit, label, counts.reshape(n_units * n_labels), n_units, n_labels)

    @classmethod
    def from_classes(cls, gold: NDArray[Any], given: NDArray[Any], n_labels: int) -> LabelCounts:
        """Make the cells of items with one gold label and one given label each, as codes."""
        # an item is a unit, with its missed label and the wrong one; equal items are one unit
        pair = gold.astype(np.int64) * n_labels
        pair += given
        if n_labels**2 <= len(pair):
            times = np.bincount(pair, minlength=n_labels**2)
            kinds = np.flatnonzero(times)
            number = times[kinds]
        else:
            kinds, number = np.unique(pair, return_counts=True)
        unit = np.arange(len(kinds))
        right = kinds // n_labels == kinds % n_labels
        wrong = np.flatnonzero(~right)
        tp, fn = (np.concatenate([part, np.zeros(len(wrong))]) for part in (right, ~right))
        return cls(
            np.concatenate([unit, wrong]),
            np.concatenate([kinds // n_labels, kinds[wrong] % n_labels]),
            Counts(tp, 1 - tp - fn, fn),
            len(unit),
            n_labels,
            number,
        )

    @cached_property
    def kinds(self) -> tuple[LabelCounts, NDArray[np.float64], NDArray[np.intp]]:
        """Return the distinct kinds of cells (label, counts), their numbers, each cell's kind."""
        # a million tokens have a few hundred kinds; if there would be more kinds than cells, or
        # counts are fractions, every cell is a kind
        counts = self.counts
        parts = [np.asarray(part) for part in counts._cells()]
        shape = (self.n_labels, *(int(part.max(initial=0)) + 1 for part in parts))
        if prod(shape) > len(self.label) or any((part % 1).any() for part in parts):
            return self, np.ones(len(self.label)), np.arange(len(self.label))
        cells = (np.asarray(self.label), *(part.astype(np.intp) for part in parts))
        weights = None if self.number is None else self.number[self.unit]
        code = np.ravel_multi_index(cells, shape)
        number = np.bincount(code, weights=weights)
        there = np.flatnonzero(number)
        place = np.zeros(len(number), dtype=np.intp)
        place[there] = np.arange(len(there))
        label, *columns = np.unravel_index(there, shape)
        kinds = LabelCounts(label, label, type(counts)(*columns), 0, self.n_labels)
        return kinds, number[there].astype(np.float64), place[code]

    @cached_property
    def by_label(self) -> Counts:
        """Return one table per label, the sums over the units."""
        return self.counts._map(self.sum_by_label)

    @cached_property
    def items_by_unit(self) -> NDArray[np.float64]:
        """Return the number of items in every unit."""
        return self.sum_by_unit(self.counts.nu)

    def sum_by_label(self, cells: Any) -> NDArray[np.float64]:
        """Sum a number per cell for every label, counting equal units each."""
        if self.number is not None:
            cells = np.asarray(cells) * self.number[self.unit]
        return self._sum(self.label, cells, self.n_labels)

    def sum_by_unit(self, cells: Any) -> NDArray[np.float64]:
        """Sum a number per cell for every unit, counting equal units once."""
        return self._sum(self.unit, cells, self.n_units)

    @cached_property
    def repeats(self) -> NDArray[np.float64]:
        """Return the number of units that each unit stands for."""
        if self.number is None:
            return np.ones(self.n_units)
        return np.asarray(self.number, dtype=np.float64)

    def written_out(self) -> LabelCounts:
        """Return the cells with equal units repeated."""
        if self.number is None:
            return self
        number = np.asarray(self.number, dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(number)])
        times = number[self.unit]
        cell = np.repeat(np.arange(len(self.unit)), times)
        start = np.cumsum(times) - times
        unit = first[self.unit[cell]] + np.arange(len(cell)) - start[cell]
        return LabelCounts(unit, self.label[cell], self.counts[cell], int(first[-1]), self.n_labels)

    @staticmethod
    def _sum(group: NDArray[Any], cells: Any, size: int) -> NDArray[np.float64]:
        weights = np.asarray(cells, dtype=np.float64)
        return np.bincount(group, weights=weights, minlength=size).astype(np.float64)

    def only(self, labels: NDArray[np.bool_]) -> LabelCounts:
        """Return the cells of some labels alone, with the labels renumbered."""
        if labels.all():
            return self
        kept = labels[self.label]
        code = np.cumsum(labels) - 1
        return LabelCounts(
            self.unit[kept],
            code[self.label[kept]],
            self.counts[kept],
            self.n_units,
            int(labels.sum()),
            self.number,
        )
