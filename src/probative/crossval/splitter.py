"""A scikit-learn splitter for m×2 block-regularised cross-validation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.crossval.balance import measure_balance
from probative.crossval.blocks import balanced_blocks, blocks_of_groups, number_of_blocks, splits
from probative.crossval.strata import Strata, length_of, strata_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from probative._types import RNG, Instances, Labels
    from probative._types import Strata as StrataLike
    from probative.results.crossval import SplitBalance

__all__ = ["BlockRegularizedCV"]


class BlockRegularizedCV:
    """Split data into the 2m folds of m×2 block-regularised cross-validation.

    The data are cut into 2^⌈log2(m+1)⌉ blocks of equal size; in each of the m repetitions one half
    of the blocks trains and the other validates, and the other way round. Two training sets of
    different repetitions share a quarter of the data, the two of one repetition nothing. It can
    be passed as `cv` to whatever takes a scikit-learn splitter; scikit-learn is not needed.

    Parameters
    ----------
    m
        Repetitions, each of two folds.
    random_state
        A seed, for the same split every time; a NumPy generator; or None.
    regularize
        What the blocks shall have equal shares of: one class per instance; or a matrix of stratum
        counts (entity types, chunk lengths, tokens), one row per instance; or a dictionary or a
        data frame of such counts by the names of the strata. By default the classes in `y`,
        where it holds classes; False for none.

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
        """Return the number of folds, 2m; the arguments are there for scikit-learn."""
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
            The group (document) of every instance. None is cut; the blocks are then as equal as
            the groups allow.
        """
        yield from splits(self.blocks(X, y, groups), _repetitions(self.m))

    def blocks(
        self, X: Instances, y: Labels | None = None, groups: Labels | None = None
    ) -> NDArray[np.intp]:
        """Return the block of every instance; arguments as for `split`."""
        m = _repetitions(self.m)
        strata, group = self._data(X, y, groups)
        rng = _generator(self.random_state)
        _warn_of_rare(strata, number_of_blocks(m))
        if group is None:
            return balanced_blocks(strata.kind, strata.rows, m, rng)
        sizes = np.bincount(group).astype(np.float64)
        return blocks_of_groups(strata.by_group(group, len(sizes)), sizes, m, rng)[group]

    def balance(
        self,
        X: Instances,
        y: Labels | None = None,
        groups: Labels | None = None,
        *,
        blocks: NDArray[np.intp] | None = None,
    ) -> SplitBalance:
        """Report how equal the halves are, next to what random splits give.

        Parameters
        ----------
        X, y, groups
            As for `split`. With a seed in `random_state` this is the split that `split` makes.
        blocks
            The blocks, where `blocks` has made them already.
        """
        strata, group = self._data(X, y, groups)
        block = self.blocks(X, y, groups) if blocks is None else blocks
        return measure_balance(block, strata, group, self.m, _generator(self.random_state))

    def _data(self, X: Any, y: Any, groups: Any) -> tuple[Strata, NDArray[np.intp] | None]:
        """The strata and the group of every instance."""
        n_blocks, n = number_of_blocks(_repetitions(self.m)), length_of("X", X)
        if n < n_blocks:
            raise InputError(f"X: {n} instances; expected at least {n_blocks}, one per block")
        strata = strata_of(self.regularize, y, n, n_blocks)
        return strata, None if groups is None else _groups(groups, n, n_blocks)


def _repetitions(m: Any) -> int:
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= 127:
        raise InputError(f"m: {shown(m)} is not a whole number from 1 to 127")
    return int(m)


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except Exception:  # whatever it is that NumPy does not like about it
        raise InputError(
            f"random_state: {shown(random_state)} is not a seed or a generator of NumPy"
        ) from None


def _groups(groups: Any, n: int, n_blocks: int) -> NDArray[np.intp]:
    names = np.asarray(groups)
    if names.shape != (n,):
        raise InputError(f"groups: shape {names.shape}; expected one per instance, ({n},)")
    distinct, group = np.unique(names, return_inverse=True)
    if len(distinct) < n_blocks:
        raise InputError(
            f"groups: {len(distinct)} groups; expected at least {n_blocks}, one per block"
        )
    return group.reshape(-1)


def _warn_of_rare(strata: Strata, n_blocks: int) -> None:
    rare = [
        f"{name!r} ({total:g})"
        for name, total in zip(strata.names, strata.totals.tolist(), strict=True)
        if 0 < total < n_blocks
    ]
    if rare:
        shown = ", ".join(rare[:5]) + (f" and {len(rare) - 5} more" if len(rare) > 5 else "")
        warnings.warn(
            f"fewer members than the {n_blocks} blocks: {shown}; some training halves may have "
            f"none of them, and scores that rest on them vary from fold to fold",
            stacklevel=3,
        )
