"""Former names of keywords: honoured for one release, with a warning."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["renamed"]

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**former: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take keywords by their former names, too.

    Parameters
    ----------
    **former
        The name of today for every former one.
    """

    def honour_former_names(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: Any, **keywords: Any) -> R:
            for old, new in former.items():
                if old not in keywords:
                    continue
                if new in keywords:
                    raise InputError(f"{old}: the former name of {new}; expected one of the two")
                warnings.warn(
                    f"{old} is now called {new}; the former name goes with the next release",
                    DeprecationWarning,
                    stacklevel=2,
                )
                keywords[new] = keywords.pop(old)
            return function(*args, **keywords)

        return cast("Callable[P, R]", call)

    return honour_former_names
