"""The numbers of results under names that trackers of experiments take."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Named = tuple[tuple[str, ...], Any]

__all__ = ["flat", "numbers_of"]

# what was chosen, and says nothing about the data
_CHOICES = frozenset(("level", "rope", "power", "margin", "confidence", "identical"))
_ODD = re.compile(r"[^\w\-. :]")  # what MLflow does not take in a name; the slash parts names


def numbers_of(fields: Mapping[str, Any], metric: str | None) -> Iterable[Named]:
    """Name the numbers among the fields of a result after its metric."""
    head = "" if metric is None else f"{metric}_"
    limits = "difference_" if "difference" in fields else ""
    for name, value in fields.items():
        if isinstance(value, Real) and name not in _CHOICES:
            own = limits + name if name in ("low", "high") else name
            yield (metric if metric and name == "estimate" else head + own,), value


def flat(named: Iterable[Named]) -> dict[str, float]:
    """Join the parts of names by slashes; what is undefined is left out.

    No number is lost to another one of the same name: the later one gets a number.
    """
    numbers: dict[str, float] = {}
    for parts, value in named:
        if math.isfinite(value):
            key = "/".join(_cleaned(part) for part in parts)
            times = 1
            while (unique := key if times == 1 else f"{key}_{times}") in numbers:
                times += 1
            numbers[unique] = float(value)
    return numbers


def _cleaned(part: str) -> str:
    name = _ODD.sub("_", part).strip()
    return name if name.strip(".") else "_"
