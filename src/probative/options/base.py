"""What the choices of all jobs share, and the signature made from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self

from probative._version import __version__
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ALWAYS", "INPUT", "Options", "sign"]

ALWAYS = {"always": True}  # said even where it is the default
INPUT = {"input": True}  # a further input: that there is one is said, not where it lies
_LONGEST = 120  # characters of a choice; what is longer is told by its digest


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the options of all jobs share."""

    # choices that what comes of them tells: the task that was recognised, the metrics computed …
    told: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Self:
        """Make them from keywords; a name that nobody knows is an error that suggests another.

        Parameters
        ----------
        given
            The keywords.
        beside
            Further keywords of the function, which are no choices, for what is suggested.
        """
        own = {entry.name for entry in fields(cls)}
        known = [*own, *beside]
        for name in given:
            if name not in own:
                raise InputError(
                    f"{name}: there is no such option; expected one of {', '.join(sorted(known))}"
                    + suggestion(name, known)
                )
        return cls(**given)

    def signature(self, *facts: str) -> str:
        """A short reproducible description: what was done, and every choice but the usual ones.

        Parameters
        ----------
        facts
            What came of the choices: the task, the metrics, the methods.
        """
        chosen = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            absent = value is None or (isinstance(value, (list, tuple, Mapping)) and not value)
            if entry.name in self.told or absent:
                continue
            if entry.metadata.get("always") or _text(value) != _text(entry.default):
                name = entry.metadata.get("as", entry.name.replace("_", "-"))
                is_true = value is True and isinstance(entry.default, bool)
                flag = is_true or "input" in entry.metadata
                chosen.append(name if flag else f"{name}:{_shorten(value)}")
        return sign(*facts, *chosen)


def sign(*facts: str) -> str:
    """The version and what was done, as one line."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _shorten(value: Any) -> str:
    """A choice as text that no other choice has, not longer than people read."""
    text = _text(value)
    if len(text) <= _LONGEST:
        return text
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _text(value: Any) -> str:
    """A choice as text that no other choice has; what would part a signature is encoded."""
    if isinstance(value, (list, tuple)):
        return ",".join(
            f"({_text(v)})" if isinstance(v, (list, tuple)) else _text(v) for v in value
        )
    if isinstance(value, Mapping):
        pairs = ((_text(old), _text(new)) for old, new in value.items())
        return ",".join(f"{old.replace('=', '%3D')}={new}" for old, new in sorted(pairs))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if hasattr(value, "__array__") and not isinstance(value, Real):
        from probative.identity import digest

        return digest("options", value)
    if not isinstance(value, (str, Real, PurePath)):
        return f"<{type(value).__name__}>"
    try:
        text = str(value)
    except ValueError:  # a whole number of more digits than Python turns into text
        text = f"{value:x}"
    for sign_, code in (("%", "%25"), ("|", "%7C"), (",", "%2C"), ("(", "%28"), (")", "%29")):
        text = text.replace(sign_, code)
    return text
