"""Split data for m×2 block-regularised cross-validation, as a scikit-learn splitter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import RNG, Instances, Labels, amounts, random_generator, shown
from probative._validation import Strata as StrataLike
from probative.errors import InputError
from probative.results.crossval import SplitBalance
from probative.wording.numbers import some

if TYPE_CHECKING:
    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]


# --- The blocks of m×2 block-regularised cross-validation
# The data are cut into 2^⌈log2(m+1)⌉ blocks. Each of m different parity columns of the Hadamard
# array assigns half of the blocks to the first half and half to the second; any two columns share
# exactly a quarter of the blocks. *Regularised* means that the blocks hold as equal a share of
# chosen strata (classes, entity types, tokens) as the data allow.

_MOST_SUBSETS_TRIED = 20_000  # subsets of blocks: all, or this many random ones
_EXCHANGE_CANDIDATES = 128  # instances of each of two blocks among which to find the best exchange
_MOST_EXCHANGE_STEPS = 3000


def number_of_blocks(m: int) -> int:
    """Return the number of blocks for m repetitions: the smallest power of two above m."""
    return 1 << m.bit_length()


def first_halves(m: int) -> NDArray[np.bool_]:
    """Mark the blocks in the first half of each repetition, one row per repetition."""
    blocks = range(number_of_blocks(m))
    parity = [[(b & column).bit_count() % 2 for b in blocks] for column in range(1, m + 1)]
    return np.array(parity, dtype=bool) ^ True


def splits(block: Ints, m: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the 2m folds as (training, validation) positions: each repetition both ways."""
    for half in first_halves(m):
        first, second = np.flatnonzero(half[block]), np.flatnonzero(~half[block])
        yield first, second
        yield second, first


def _balanced_blocks(kind: Ints, strata: Floats, m: int, rng: np.random.Generator) -> Ints:
    """Assign every instance to a block: sizes equal within 1, strata as equal as the data allow."""
    # `kind` is the row of `strata` (distinct rows of counts) of every instance; instances with
    # equal rows are assigned at random
    n_blocks = number_of_blocks(m)
    order = rng.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    sorted_kind = kind[order]
    number = np.bincount(kind, minlength=len(strata))
    rank = np.arange(len(kind)) - np.concatenate([[0], np.cumsum(number)])[sorted_kind]
    block = np.empty(len(kind), dtype=np.intp)
    # as many equal instances as there are blocks cause no imbalance; only the rest of each kind
    # has to be balanced
    whole = rank < (number - number % n_blocks)[sorted_kind]
    block[order[whole]] = rank[whole] % n_blocks
    rest = order[~whole]
    total = number @ strata
    # squared imbalances are chi-square terms
    scaled = strata / np.sqrt(np.where(total > 0, total, 1))
    _deal(block, rest, scaled[kind[rest]], kind[rest], m, rng)
    _exchange(block, kind, scaled, n_blocks, rng)
    return block


def _blocks_of_groups(strata: Floats, sizes: Floats, m: int, rng: np.random.Generator) -> Ints:
    """Assign every group to a block, so that strata and numbers of instances are balanced."""
    n_blocks = number_of_blocks(m)
    groups = len(sizes)
    # an empty place is a group without members: exchanging a group with it moves the group
    places = n_blocks * max(2, -(-2 * groups // n_blocks))
    rows = np.zeros((groups + 1, strata.shape[1] + 1))
    # the size of the halves is weighted like all strata together
    rows[:groups] = np.column_stack([strata, sizes])
    weight = np.append(np.ones(strata.shape[1]), max(1, strata.shape[1]))
    kind = np.minimum(np.arange(places), groups)
    return _balanced_blocks(kind, rows * weight, m, rng)[:groups]


def _deal(
    block: Ints, instances: Ints, rows: Floats, kind: Ints, m: int, rng: np.random.Generator
) -> None:
    """Assign instances in rounds, one per block, each round where it reduces imbalance most."""
    # large rows come first, so that small ones can even out the rest
    from scipy.optimize import linear_sum_assignment

    n_blocks = number_of_blocks(m)
    shuffled = rng.permutation(int(kind.max(initial=-1)) + 1)
    order = np.lexsort((shuffled[kind], -(rows**2).sum(axis=1).round(12)))
    excess = np.zeros((n_blocks, rows.shape[1]))
    last = len(instances) - len(instances) % n_blocks
    for start in range(0, len(instances), n_blocks):
        full = start < last
        places = np.arange(n_blocks) if full else _extra_blocks(len(instances) - last, m)
        some = order[start : start + n_blocks]
        taken, place = linear_sum_assignment(rows[some] @ excess[places].T)
        chosen, target = some[taken], places[place]
        block[instances[chosen]] = target
        excess[target] += rows[chosen]


def _extra_blocks(extra: int, m: int) -> Ints:
    """Choose the blocks with one more instance, so that the halves differ as little as possible."""
    n_blocks = number_of_blocks(m)
    sign = np.where(first_halves(m), 1, -1)
    if comb(n_blocks, extra) <= _MOST_SUBSETS_TRIED:
        subsets = np.array(list(combinations(range(n_blocks), extra)), dtype=np.intp)
    else:
        rng = np.random.default_rng(0)
        draws = rng.permuted(np.tile(np.arange(n_blocks), (_MOST_SUBSETS_TRIED, 1)), axis=1)
        subsets = draws[:, :extra]
    difference = np.abs(sign[:, subsets].sum(axis=2))
    best = np.lexsort(((difference**2).sum(axis=0), difference.max(axis=0)))[0]
    return np.asarray(subsets[best])


def _exchange(
    block: Ints, kind: Ints, rows: Floats, n_blocks: int, rng: np.random.Generator
) -> None:
    """Exchange instances between two blocks while that makes them more alike."""
    number = np.bincount(block * len(rows) + kind, minlength=n_blocks * len(rows))
    excess = number.reshape(n_blocks, -1) @ rows
    excess -= excess.mean(axis=0)
    members = [np.flatnonzero(block == b) for b in range(n_blocks)]
    pairs = list(combinations(range(n_blocks), 2))
    idle = 0
    for step in range(_MOST_EXCHANGE_STEPS):
        if idle > 2 * len(pairs) or (excess**2).sum() < 1e-12:
            break
        a, b = pairs[step % len(pairs)]
        at_a = rng.integers(len(members[a]), size=_EXCHANGE_CANDIDATES)
        at_b = rng.integers(len(members[b]), size=_EXCHANGE_CANDIDATES)
        rows_a, rows_b = rows[kind[members[a][at_a]]], rows[kind[members[b][at_b]]]
        # an exchange changes the sum of squared excesses by 2d² − 2d·gap, where d is the
        # difference of the two rows
        gap = excess[a] - excess[b]
        worth_a = rows_a @ gap - (rows_a**2).sum(axis=1)
        worth_b = -(rows_b @ gap) - (rows_b**2).sum(axis=1)
        gain = worth_a[:, None] + worth_b + 2 * (rows_a @ rows_b.T)
        i, j = divmod(int(np.argmax(gain)), len(rows_b))
        if 2 * gain[i, j] < 1e-12:
            idle += 1
            continue
        idle = 0
        from_a, from_b = members[a][at_a[i]], members[b][at_b[j]]
        moved = rows[kind[from_a]] - rows[kind[from_b]]
        excess[a] -= moved
        excess[b] += moved
        members[a][at_a[i]], members[b][at_b[j]] = from_b, from_a
        block[from_a], block[from_b] = b, a


# --- Strata whose shares are balanced, as distinct rows of counts

_MOST_CLASSES = 4000  # the matrix of classes is dense


class _Strata(NamedTuple):
    """Counts of strata of instances."""

    kind: Ints  # the row of `rows` that every instance has
    rows: Floats  # distinct rows of counts of strata
    names: tuple[str, ...]  # of the strata

    @property
    def totals(self) -> Floats:
        """Return the total count of every stratum."""
        return np.asarray(np.bincount(self.kind, minlength=len(self.rows)) @ self.rows)

    def by_group(self, group: Ints, n_groups: int) -> Floats:
        """Return the counts of strata of every group (or block) of instances."""
        weights = (self.rows[self.kind, stratum] for stratum in range(len(self.names)))
        columns = [np.bincount(group, weights=w, minlength=n_groups) for w in weights]
        return np.array(columns, dtype=np.float64).reshape(len(columns), n_groups).T


def length_of(name: str, data: Any) -> int:
    """Return the number of instances of a sequence, an array, a sparse matrix or a data frame."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    try:
        return len(data)
    except TypeError:
        raise InputError(f"{name}: {type(data).__name__} has no length") from None


def _strata_of(regularize: Any, y: Any, n: int, n_blocks: int) -> _Strata:
    """Return the strata of `regularize`: classes, a matrix, named counts, or False for none."""
    none = _Strata(np.zeros(n, dtype=np.intp), np.zeros((1, 0)), ())
    if regularize is False:
        return none
    if regularize is None:
        # `y` holds classes if its values are words or integers that occur on average at least as
        # often as there are blocks
        labels = _labels(y, n)
        return none if labels is None else _classes(labels, most=n // n_blocks) or none
    matrix, names = _matrix(regularize)
    if matrix.shape[:1] != (n,) or matrix.ndim > 2:
        expected = f"a class or a row of counts for each of the {n} instances"
        raise InputError(f"regularize: shape {matrix.shape}; expected {expected}")
    if matrix.ndim == 1:
        strata = _classes(matrix, most=_MOST_CLASSES)
        if strata is None:
            raise InputError(f"regularize: more than {_MOST_CLASSES} classes")
        return strata
    counts = amounts("regularize", matrix)
    rows, kind = np.unique(counts, axis=0, return_inverse=True)
    named = range(1, counts.shape[1] + 1) if names is None else names
    return _Strata(kind.reshape(-1), rows, tuple(str(name) for name in named))


def _matrix(regularize: Any) -> tuple[NDArray[Any], Any]:
    """Return the given strata as an array, and the names of its columns or None."""
    if isinstance(regularize, Mapping):
        columns = [np.asarray(column) for column in regularize.values()]
        if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
            raise InputError("regularize: expected sequences of one length by the names of strata")
        return np.column_stack(columns), tuple(regularize)
    if hasattr(regularize, "toarray"):  # a sparse matrix
        return regularize.toarray(), None
    return np.asarray(regularize), getattr(regularize, "columns", None)


def _labels(y: Any, n: int) -> NDArray[Any] | None:
    """Return the values of `y` if they can be classes, else None."""
    if y is None:
        return None
    if length_of("y", y) != n:
        raise InputError(f"y: {length_of('y', y)} values, but X has {n} instances")
    try:
        array = np.asarray(y)
    except ValueError:
        return None  # ragged: spans
    if array.ndim != 1 or (array.dtype.kind == "O" and not all(isinstance(v, str) for v in array)):
        return None
    fractions = array.dtype.kind == "f" and not np.array_equal(array, np.round(array))
    return None if fractions or array.dtype.kind not in "USObiuf" else array


def _classes(labels: NDArray[Any], most: int) -> _Strata | None:
    """Return one stratum per class; None if there are too many."""
    names, kind = np.unique(labels, return_inverse=True)
    if len(names) > min(most, _MOST_CLASSES):
        return None
    shown = tuple(str(name) for name in names.tolist())
    return _Strata(kind.reshape(-1), np.eye(len(names)), shown)


# --- Balance of the halves of a split, compared with random splits

_RANDOM_SPLITS = 20  # random splits whose mean imbalance is shown


def _imbalance(counts: Floats, m: int) -> tuple[Floats, Floats]:
    """Return the largest relative deviation of a half from total/2, and chi-square, by stratum."""
    total = counts.sum(axis=0)
    some = np.where(total > 0, total, 1)
    halves = first_halves(m) @ counts
    deviation = np.abs(2 * halves - total).max(axis=0) / some
    expected = total / len(counts)
    chi_square = ((counts - expected) ** 2).sum(axis=0) / (some / len(counts))
    return deviation, chi_square


class BlockRegularizedCV:
    """Splitter for the 2m folds of m×2 block-regularised cross-validation.

    The data are cut into 2^⌈log2(m+1)⌉ blocks of equal size; in each of the m repetitions one half
    of the blocks trains and the other validates, and the other way round. Two training sets of
    different repetitions share a quarter of the data, the two of one repetition nothing. The
    splitter can be passed as `cv` wherever a scikit-learn splitter is expected; scikit-learn is not
    needed.

    Parameters
    ----------
    m
        Repetitions, each of two folds.
    random_state
        A seed, for the same split every time; a NumPy generator; or None.
    regularize
        The strata whose shares are balanced over the blocks: one class per instance; or a matrix of
        stratum counts (entity types, chunk lengths, tokens), one row per instance; or a dictionary
        or a data frame of such counts by the names of the strata. By default the classes in `y`,
        if it holds classes; False for none.

    Examples
    --------
    >>> import probative as pv
    >>> cv = pv.BlockRegularizedCV(m=3, random_state=0)
    >>> y = ["spam", "ham", "ham", "ham"] * 4
    >>> for train, validation in cv.split(y, y):
    ...     print(validation, sum(y[i] == "spam" for i in validation))
    [ 4  5  6  8 10 11 13 15] 2
    [ 0  1  2  3  7  9 12 14] 2
    [ 1  3  6  8 10 12 14 15] 2
    [ 0  2  4  5  7  9 11 13] 2
    [ 1  3  4  5 11 12 13 14] 2
    [ 0  2  6  7  8  9 10 15] 2
    """

    def __init__(
        self,
        m: int = 3,
        *,
        random_state: RNG | np.random.RandomState | None = None,
        regularize: StrataLike | None = None,
    ):
        self.m = m
        self.random_state = random_state
        self.regularize = regularize

    def __repr__(self) -> str:
        chosen = "" if self.regularize is None else ", regularize=..."
        return f"BlockRegularizedCV(m={self.m!r}, random_state={self.random_state!r}{chosen})"

    def get_n_splits(
        self,
        X: Instances | None = None,  # noqa: ARG002
        y: Labels | None = None,  # noqa: ARG002
        groups: Labels | None = None,  # noqa: ARG002
    ) -> int:
        """Return the number of folds, 2m; the arguments are ignored (scikit-learn's interface)."""
        return 2 * _repetitions(self.m)

    def split(
        self, X: Instances, y: Labels | None = None, groups: Labels | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the positions of the training and of the validation instances of each fold.

        Parameters
        ----------
        X
            The instances: anything with a length.
        y
            Their classes; used only if `regularize` is None.
        groups
            The group (document) of every instance. Groups are not cut; the blocks are then as equal
            as the groups allow.
        """
        yield from splits(self.blocks(X, y, groups), _repetitions(self.m))

    def blocks(
        self, X: Instances, y: Labels | None = None, groups: Labels | None = None
    ) -> NDArray[np.intp]:
        """Return the block of every instance; arguments as for `split`."""
        m = _repetitions(self.m)
        strata, group = self._data(X, y, groups)
        rng = _generator(self.random_state)
        n_blocks = number_of_blocks(m)
        rare = [
            f"{name!r} ({total:g})"
            for name, total in zip(strata.names, strata.totals.tolist(), strict=True)
            if 0 < total < n_blocks
        ]
        if rare:
            warnings.warn(
                f"fewer members than the {n_blocks} blocks: {some(rare, 5)}; some training halves "
                f"may have none of them, and scores that rest on them vary from fold to fold",
                stacklevel=2,
            )
        if group is None:
            return _balanced_blocks(strata.kind, strata.rows, m, rng)
        sizes = np.bincount(group).astype(np.float64)
        return _blocks_of_groups(strata.by_group(group, len(sizes)), sizes, m, rng)[group]

    def balance(
        self,
        X: Instances,
        y: Labels | None = None,
        groups: Labels | None = None,
        *,
        blocks: NDArray[np.intp] | None = None,
    ) -> SplitBalance:
        """Measure how equal the halves are, compared with random splits.

        Parameters
        ----------
        X, y, groups
            As for `split`. With a seed in `random_state` this is the split that `split` makes.
        blocks
            The result of the method `blocks`, if it is known already.
        """
        m = _repetitions(self.m)
        strata, group = self._data(X, y, groups)
        block = self.blocks(X, y, groups) if blocks is None else blocks
        rng = _generator(self.random_state)
        sizes = np.bincount(block, minlength=number_of_blocks(m))
        deviation, chi_square = _imbalance(strata.by_group(block, len(sizes)), m)
        # instances, or whole groups, are dealt to blocks at random, with the same block sizes
        dealt = block if group is None else np.arange(int(group.max()) + 1) % (int(block.max()) + 1)
        by_chance = []
        for _ in range(_RANDOM_SPLITS if strata.names else 0):
            drawn = rng.permutation(dealt)
            drawn = drawn if group is None else drawn[group]
            by_chance.append(_imbalance(strata.by_group(drawn, len(sizes)), m))
        random_deviation, random_chi_square = (
            np.mean(by_chance, axis=0) if by_chance else (deviation, chi_square)
        )
        halves = first_halves(m) @ sizes
        return SplitBalance(
            m=m,
            block_sizes=tuple(sizes.tolist()),
            size_difference=int(np.abs(2 * halves - sizes.sum()).max()),
            strata=strata.names,
            totals=strata.totals,
            deviation=deviation,
            chi_square=chi_square,
            random_deviation=random_deviation,
            random_chi_square=random_chi_square,
        )

    def _data(self, X: Any, y: Any, groups: Any) -> tuple[_Strata, NDArray[np.intp] | None]:
        """Return the strata, and the group of every instance or None."""
        n_blocks, n = number_of_blocks(_repetitions(self.m)), length_of("X", X)
        if n < n_blocks:
            raise InputError(f"X: {n} instances; expected at least {n_blocks}, one per block")
        strata = _strata_of(self.regularize, y, n, n_blocks)
        if groups is None:
            return strata, None
        names = np.asarray(groups)
        if names.shape != (n,):
            raise InputError(f"groups: shape {names.shape}; expected one per instance, ({n},)")
        distinct, group = np.unique(names, return_inverse=True)
        if len(distinct) < n_blocks:
            expected = f"at least {n_blocks}, one per block"
            raise InputError(f"groups: {len(distinct)} groups; expected {expected}")
        return strata, group.reshape(-1)


def _repetitions(m: Any) -> int:
    """Refuse numbers of repetitions that are not from 1 to 127."""
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= 127:
        raise InputError(f"m: {shown(m)} is not a whole number from 1 to 127")
    return int(m)


def _generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator for a seed, a generator or a legacy random state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return random_generator(random_state, "random_state")
