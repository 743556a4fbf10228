"""Declare the rules of tag schemes and of matching spans, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import one_of, shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


# --- Tag schemes

UNTYPED = "_"


@dataclass(frozen=True)
class Scheme:
    """Rules by which a tag scheme writes spans."""

    name: str
    begin: tuple[str, ...]  # the prefixes of a span's tokens, of the first ones one each
    inside: str
    end: str
    single: str
    follow: dict[str, tuple[str, str]]  # what may follow a prefix: of any type, of the same type
    split_only: str = ""  # ``begin`` or ``end``, if written only between neighbours of one type

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return all prefixes of the scheme."""
        return tuple(self.follow)

    def write(self, length: int) -> list[str]:
        """Return the prefixes of a span of this length, ignoring its neighbours."""
        if length == 1:
            return [self.single]
        head = list(self.begin[: length - 1])
        return [*head, *[self.inside] * (length - 1 - len(head)), self.end]


def _four(name: str, inside: str, end: str, single: str) -> Scheme:
    """Make a scheme with one prefix each for begin, inside, end and single token."""
    free = ("O B " + single, "")
    bound = ("", f"{inside} {end}")
    follow = {"O": free, "B": bound, inside: bound, end: free, single: free}
    return Scheme(name, ("B",), inside, end, single, follow)


_ANY_I = ("O I", "")
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("iob2", ("B",), "I", "I", "B",
               {"O": ("O B", ""), "B": ("O B", "I"), "I": ("O B", "I")}),
        Scheme("iob1", ("I",), "I", "I", "I",
               {"O": _ANY_I, "B": ("O I", "B"), "I": ("O I", "B")}, split_only="begin"),
        Scheme("ioe2", ("I",), "I", "E", "E",
               {"O": ("O I E", ""), "I": ("", "I E"), "E": ("O I E", "")}),
        Scheme("ioe1", ("I",), "I", "I", "I",
               {"O": ("O I E", ""), "I": ("O I E", ""), "E": ("", "I E")}, split_only="end"),
        _four("iobes", "I", "E", "S"),
        _four("bilou", "I", "L", "U"),
        _four("bmes", "M", "E", "S"),
        Scheme("bb2b3mes", ("B", "B2", "B3"), "M", "E", "S", {
            "O": ("O B S", ""), "B": ("", "B2 E"), "B2": ("", "B3 E"), "B3": ("", "M E"),
            "M": ("", "M E"), "E": ("O B S", ""), "S": ("O B S", "")}),
        Scheme("io", ("I",), "I", "I", "I", {"O": _ANY_I, "I": _ANY_I}),
    )
}  # fmt: skip

# Every prefix as one of the five of conlleval.
FIVE = {"O": 0, "B": 1, "I": 2, "E": 3, "S": 4, "M": 2, "B2": 2, "B3": 2, "L": 3, "U": 4}
_O, _B, _I, _E, _S = range(5)


def _lenient_tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Make conlleval's tables by previous prefix, prefix, other type: chunk starts, ends."""
    start = np.zeros((5, 5, 2), dtype=bool)
    end = np.zeros((5, 5, 2), dtype=bool)
    start[:, [_B, _S]] = True
    for before in (_E, _S, _O):
        start[before, [_E, _I]] = True
    start[:, 1:, 1] = True
    end[[_E, _S]] = True
    for before in (_B, _I):
        end[before, [_B, _S, _O]] = True
    end[1:, :, 1] = True
    return start, end


LENIENT_START, LENIENT_END = _lenient_tables()

# The rules of seqeval's strict mode per scheme: where a span may start, continue and end, each as
# "previous this" with the condition on the types: = the same, ! different, nothing for any.
_STRICT = {
    "iob1": ("OI II! BI IB= BB=", "BI= II=", "II! IO IB BO BI! BB="),
    "ioe1": ("OI II! EI EE=", "II= IE=", "II! IO IE! EI= EE="),
    "iob2": ("OB BB IB", "BI= II=", "IO II! IB BO BI! BB"),
    "ioe2": ("OI OE EI EE II! IE!", "IE= II=", "EO EI EE"),
    "iobes": ("OB BB IB EB SB OS BS IS ES SS", "BI= BE= II= IE=", "SO SB SI SE SS EO EB EI EE ES"),
    "io": ("OI II!", "II=", "IO II!"),
}
_STRICT |= dict.fromkeys(("bilou", "bmes", "bb2b3mes"), _STRICT["iobes"])


def strict_tables(scheme: Scheme) -> tuple[NDArray[np.bool_], ...]:
    """Return seqeval's tables by previous prefix, prefix, other type: start, continue, end."""
    tables = np.zeros((3, 5, 5, 2), dtype=bool)
    for table, patterns in zip(tables, _STRICT[scheme.name], strict=True):
        for pattern in patterns.split():
            types = {"=": [0], "!": [1]}.get(pattern[2:], [0, 1])
            table[FIVE[pattern[0]], FIVE[pattern[1]], types] = True
    return tuple(tables)


def encode(spans: Iterable[tuple[int, int, str | None]], length: int, *, scheme: str) -> list[str]:
    """Write the spans of a sentence, each (start, end, label), as tags; they must not overlap."""
    rules = SCHEMES[one_of("scheme", scheme, SCHEMES)]
    tags = ["O"] * length
    last_end, last_label = 0, ""
    for start, end, name in sorted(spans, key=lambda span: span[:2]):
        if not last_end <= start < end <= length:
            raise InputError(
                f"spans: ({start}, {end}) overlaps another one or leaves the sentence; expected "
                f"spans that do not overlap, in {length} tokens"
            )
        label = name or UNTYPED
        prefixes = rules.write(end - start)
        touches = start == last_end and label == last_label
        if touches and rules.split_only == "begin":
            prefixes[0] = "B"
        elif touches and rules.split_only == "end":
            tags[start - 1] = "E" + tags[start - 1][1:]
        suffix = "" if label == UNTYPED else f"-{label}"
        tags[start:end] = [prefix + suffix for prefix in prefixes]
        last_end, last_label = end, label
    return tags


# --- Rules of matching: when a span of a system counts as right

STRICT = "strict"
MATCHES = (STRICT, "exact", "partial", "type", "tokens", "characters", "boundary")


@dataclass(frozen=True)
class MatchRule:
    """Rule that decides when a span of a system counts as right."""

    name: str
    tolerance: int = 0  # largest distance of both ends from those of gold, for ``boundary``

    @property
    def is_by_place(self) -> bool:
        """Return True if single tokens or characters are counted instead of spans."""
        return self.name in ("tokens", "characters")

    @property
    def parts(self) -> int:
        """Return the number of parts in which the credit for a span is given."""
        return 2 if self.name == "partial" else 1


EQUAL = MatchRule(STRICT)


def match_rule(match: object) -> MatchRule:
    """Parse a rule: a name of `MATCHES`, with the tolerance after ``boundary:``."""
    known = "strict, exact, partial, type, tokens, characters or boundary:K, such as boundary:1"
    parts = re.fullmatch(r"(?P<name>[a-z]+)(:(?P<k>\d{1,9}))?", str(match), re.ASCII)
    if not isinstance(match, str) or parts is None or parts["name"] not in MATCHES:
        raise InputError(f"match: {shown(match)}; expected {known}")
    if (parts["name"] == "boundary") != (parts["k"] is not None):
        raise InputError(f"match: {shown(match)}; expected {known}")
    return MatchRule(parts["name"], int(parts["k"] or 0))
