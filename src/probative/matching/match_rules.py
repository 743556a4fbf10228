"""When a span of a system counts as right: the rules that can be chosen, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probative._validation import shown
from probative.errors import InputError

__all__ = ["EQUAL", "MATCHES", "STRICT", "MatchRule", "match_rule"]

STRICT = "strict"
MATCHES = (STRICT, "exact", "partial", "type", "tokens", "characters", "boundary")


@dataclass(frozen=True)
class MatchRule:
    """When a span of a system counts as right.

    Attributes
    ----------
    name
        One of `MATCHES`.
    tolerance
        How far both ends may lie from those of the answer, for ``boundary``.
    """

    name: str
    tolerance: int = 0

    @property
    def is_by_place(self) -> bool:
        """Whether single tokens or characters are counted, rather than spans."""
        return self.name in ("tokens", "characters")

    @property
    def parts(self) -> int:
        """In how many parts the credit for a span can be given."""
        return 2 if self.name == "partial" else 1


EQUAL = MatchRule(STRICT)


def match_rule(match: object) -> MatchRule:
    """Read a rule: its name, with how far ends may lie apart after ``boundary:``.

    Examples
    --------
    >>> match_rule("boundary:2")
    MatchRule(name='boundary', tolerance=2)
    """
    known = "strict, exact, partial, type, tokens, characters or boundary:K, such as boundary:1"
    parts = re.fullmatch(r"(?P<name>[a-z]+)(:(?P<k>\d{1,9}))?", str(match), re.ASCII)
    if not isinstance(match, str) or parts is None or parts["name"] not in MATCHES:
        raise InputError(f"match: {shown(match)}; expected {known}")
    if (parts["name"] == "boundary") != (parts["k"] is not None):
        raise InputError(f"match: {shown(match)}; expected {known}")
    return MatchRule(parts["name"], int(parts["k"] or 0))
