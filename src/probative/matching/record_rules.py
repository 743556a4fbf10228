"""Rules of matching records: which paths there are, and when two values of a path are equal.

Equality is exact by JSON type: 12 equals 12.0, but neither "12" nor true equals a number. Texts
are compared in NFC, with single spaces and without zero-width characters. The options of records
change this for single paths.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from probative._validation import names_of, shown
from probative.errors import InputError, suggestion
from probative.reading.source import load

if TYPE_CHECKING:
    from probative.options import ReadingOptions

    Keys = tuple[tuple[str, ...], ...]  # paths within the rows of a list
    Reads = TypeVar("Reads", bound=ReadingOptions)

# --- Rules as text

_LARGEST_WEIGHT = 1_000_000
_NUMBER_STYLE = re.compile(r"1(\D?)234([.,])5")
_TOLERANCE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(%?)", re.ASCII)
_WORD = re.compile(r"\w+")
_RULE_NAMES = (
    *("casefold", "punctuation", "number", "tolerance", "date", "similarity", "set", "weight"),
    "ignore",
)
_RULE_BORDER = re.compile(rf",(?=\s*(?:{'|'.join(_RULE_NAMES)})\s*(?:=|,|$))")

ON_MALFORMED = ("count", "error")
_FIELD = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^="])+)=(.*)', re.DOTALL)
_IN_FILE: dict[str, type] = {
    **dict.fromkeys(("fields", "list_keys"), dict),
    **dict.fromkeys(("ordered", "unique", "open_maps", "empty"), list),
    **dict.fromkeys(("keep_empty", "only_gold_paths"), bool),
}
_AS_OPTION = {"fields": "field", "list_keys": "list_key", "open_maps": "open_map"}


class Rule(NamedTuple):
    """Equality of the values of a path."""

    casefold: bool = False  # True if case, or punctuation at the ends, makes no difference
    punctuation: bool = False
    # signs between thousands and before decimals of texts read as numbers
    number: tuple[str, str] | None = None
    # largest difference of equal numbers; relative: as a share of gold
    tolerance: Fraction | None = None
    relative: bool = False
    date: tuple[str, ...] | None = None  # formats beside ISO 8601, if texts are read as dates
    similarity: float | None = None  # least 1 - edit distance / length of the longer text
    tokens: bool = False  # True if texts are sets of words
    weight: int = 1  # number of fields that each field counts as
    ignore: bool = False  # True if the path is left out

    @property
    def is_exact(self) -> bool:
        """Return True if only equal keys are equal values."""
        return self.tolerance is None and self.similarity is None


EXACT = Rule()


def parse_rules(text: str) -> dict[str, Any]:
    """Return the choices of a text such as ``number=1,234.5,tolerance=0.01,weight=5``."""
    choices: dict[str, Any] = {}
    for part in _RULE_BORDER.split(text):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if name not in _RULE_NAMES:
            odd = next((n for n in name.split(",") if n.strip() not in _RULE_NAMES), name).strip()
            wanted = f"{', '.join(_RULE_NAMES)}{suggestion(odd, _RULE_NAMES)}"
            raise InputError(f"field: unknown rule {odd!r}; expected one of {wanted}")
        try:
            found = _parse_rule(name, value if sign else None)
        except ValueError:  # more digits than Python turns into a number
            found = None
        if found is None:
            raise InputError(f"field: {part.strip()!r}; expected {_WANTED.get(name, 'no value')}")
        choices |= found
    return choices


_WANTED = {
    "number": "number, or the writing of 1234.5: number=1,234.5 or number=1.234,5",
    "tolerance": "tolerance=0.01 or tolerance=1%",
    "date": "date or date=FORMAT|FORMAT, such as date=%d.%m.%Y",
    "similarity": "similarity=0.8, a number above 0 and at most 1",
    "weight": f"weight=5, a whole number from 1 to {_LARGEST_WEIGHT:,}",
}


def _parse_rule(name: str, value: str | None) -> dict[str, Any] | None:
    """Return the choices of one rule; None if its value is wrong."""
    if name == "number":
        style = _NUMBER_STYLE.fullmatch("1234.5" if value is None else value)
        return {name: (style[1], style[2])} if style and style[1] != style[2] else None
    if name in ("tolerance", "similarity"):
        found = _TOLERANCE.fullmatch(value or "")
        if found is None:
            return None
        size, percent = Fraction(found[1]), bool(found[2])
        if name == "tolerance":
            return {name: size / 100 if percent else size, "relative": percent}
        return {name: float(size)} if not percent and 0 < size <= 1 else None
    if name == "date":
        formats = () if value is None else tuple(value.split("|"))
        return {name: formats} if all(map(_is_format, formats)) else None
    if name == "weight":
        number = int(value) if value is not None and value.isdecimal() else 0
        return {name: number} if 1 <= number <= _LARGEST_WEIGHT else None
    return {"tokens" if name == "set" else name: True} if value is None else None


def _is_format(text: str) -> bool:
    """Return True if a text is the format of a date."""
    try:
        datetime.strptime("", text).replace(tzinfo=UTC)
        return False  # nothing but blanks
    except (ValueError, re.error) as error:
        return "does not match" in str(error) and "%" in text


def with_rules_of_file(options: Reads) -> Reads:
    """Return options with the rules of their file, before their own, and without the file."""
    if options.fields_file is None:
        return options
    changed: dict[str, Any] = {"fields_file": None}
    for key, value in _read_rules(options.fields_file).items():
        name = _AS_OPTION.get(key, key)
        own = getattr(options, name)
        rules = [f"{path}={rule}" for path, rule in value.items()] if type(value) is dict else value
        changed[name] = value or own if type(value) is bool else (*rules, *own)
    chosen = replace(options, **changed)
    if chosen.keep_empty and chosen.empty:
        raise InputError("empty: has no effect with keep_empty=; expected one of the two")
    return chosen


def _pairs(name: str, texts: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and the value of every text PATH=VALUE of an option."""
    for text in texts if isinstance(texts, (list, tuple)) else [texts]:
        found = _FIELD.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            example = "total=tolerance=0.01" if name == "field" else "items=sku,date"
            raise InputError(f"{name}: {shown(text)}; expected a value such as {example}")
        yield found[1].strip(), found[2].strip()


def _read_rules(path: str) -> dict[str, Any]:
    """Read a TOML file with rules for fields, and with other choices of records."""
    source = load(path, expected="rules such as total = 'tolerance=0.01' under [fields]")
    given = source.parse_toml("[fields] with PATH = 'RULE'")
    for name, value in given.items():
        kind = _IN_FILE.get(name)
        if kind is None:
            wanted = f"{', '.join(_IN_FILE)}{suggestion(name, _IN_FILE)}"
            raise source.error(f"there is no choice {name!r}; expected some of {wanted}")
        inside = value.values() if isinstance(value, dict) else value if kind is list else ()
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in inside):
            what = {dict: "PATH = 'TEXT'", list: "a list of texts", bool: "true or false"}[kind]
            raise source.error(f"{name}: {shown(value)}; expected {what}")
    return given


# --- Paths


class _Glob:
    """A path with ``*`` for any characters; it remembers if a path was found."""

    def __init__(self, option: str, text: str):
        self.option, self.text, self.is_used = option, text, False
        wanted = text.removesuffix("[]") if option != "field" else text
        self._pattern = re.compile(".*".join(map(re.escape, wanted.split("*"))), re.DOTALL)

    def holds(self, path: str) -> bool:
        """Return True if the path is one of these."""
        fits = self._pattern.fullmatch(path) is not None
        self.is_used |= fits
        return fits


class Path:
    """A path that occurs in the records, with its rules; children are made on first use."""

    __slots__ = (
        *("_children", "_globs", "_table", "in_list", "is_map", "list_key", "near", "number"),
        *("ordered", "rule", "text", "unique", "unparsed"),
    )

    def __init__(self, table: Paths, text: str, above: frozenset[int], in_list: bool):
        self.text, self.in_list, self._table = text, in_list, table
        self._children: dict[Any, Path] = {}
        self._globs = above | {i for i, (glob, _) in enumerate(table.fields) if glob.holds(text)}
        choices: dict[str, Any] = {}
        for i in sorted(self._globs):
            choices |= table.fields[i][1]
        self.rule = Rule(**choices) if choices else EXACT
        self.ordered, self.unique, self.is_map = (
            sum(glob.holds(text) for glob in globs) > 0 for globs in table.lists
        )
        keys = [key for glob, key in table.keys if glob.holds(text)]
        self.list_key: Keys = keys[-1] if keys else ()
        self.near: tuple[tuple[str, Rule], ...] | None = None
        self.unparsed = 0
        self.number = len(table.all)
        table.all.append(self)

    def child(self, key: str) -> Path:
        """Return the path of a key of the object at this path."""
        own = None if self.is_map else key
        if own not in self._children:
            name = "{}" if self.is_map else (f".{quoted(key)}" if self.text else quoted(key))
            in_list = self.in_list or self.is_map
            self._children[own] = Path(self._table, self.text + name, self._globs, in_list)
        return self._children[own]

    @property
    def element(self) -> Path:
        """Return the path of the elements of the list at this path."""
        if 0 not in self._children:
            self._children[0] = Path(self._table, f"{self.text}[]", self._globs, True)
        return self._children[0]


def quoted(key: str) -> str:
    """Return a key as part of a path; signs that mean something in paths are quoted."""
    if key and key == key.strip() and not any(sign in key for sign in '.[]{}"='):
        return key
    return json.dumps(key, ensure_ascii=False)


class Paths:
    """All paths of the records that are matched, with the rules for them."""

    # In a path, ``*`` stands for any characters. A rule holds for the paths that it names and
    # for all below them; if several rules hold for a path, the later one decides.

    def __init__(self, options: ReadingOptions):
        fields, keys = _pairs("field", options.field), _pairs("list_key", options.list_key)
        self.fields = [(_Glob("field", path), parse_rules(text)) for path, text in fields]
        self.lists = [
            [_Glob(name, path) for path in names_of(name, getattr(options, name))]
            for name in ("ordered", "unique", "open_map")
        ]
        rows = [(path, filter(None, map(str.strip, text.split(",")))) for path, text in keys]
        self.keys = [
            (_Glob("list_key", path), tuple(tuple(key.split(".")) for key in own))
            for path, own in rows
        ]
        self.all: list[Path] = []
        self.root = Path(self, "", frozenset(), False)

    def refuse_unknown(self) -> None:
        """Refuse a rule for a path that is nowhere in the records."""
        globs = [glob for glob, _ in (*self.fields, *self.keys)]
        for glob in (*globs, *(glob for globs in self.lists for glob in globs)):
            if not glob.is_used:
                there = [path.text for path in self.all if path.text]
                some = f"{', '.join(there[:20])}{', …' * (len(there) > 20)}"
                what = f"{glob.option}: no record has the path {shown(glob.text)}"
                hint = suggestion(glob.text[:200], there)
                raise InputError(f"{what}; expected one of {some}{hint}")


# --- Values: equal values have equal keys

_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))


def clean(text: str) -> str:
    """Return a text in NFC without zero-width characters, with single spaces between words."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_ZERO_WIDTH))
    return " ".join(text.split())


def key_of_text(text: str, rule: Rule) -> Any:
    """Return the key of a cleaned text under the rules of its path."""
    if rule.casefold:
        text = unicodedata.normalize("NFC", text.casefold())
    if rule.punctuation:  # at the ends, with spaces, unless nothing else is there
        inside = [i for i, sign in enumerate(text) if unicodedata.category(sign)[0] not in "PZ"]
        text = text[inside[0] : inside[-1] + 1] if inside else text
    if rule.number is not None and (number := _number(text, *rule.number)) is not None:
        return number
    if rule.date is not None and (date := _date(text, rule.date)) is not None:
        return ("date", date)
    if rule.tokens:
        words = frozenset(_WORD.findall(text))
        return ("set", words) if words else text
    return text


@lru_cache(maxsize=2**16)
def _number(text: str, thousands: str, decimal: str) -> int | float | None:
    """Return the number that a text is; None for other texts and numbers with leading zeros."""
    groups = rf"[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|" if thousands else ""
    form = rf"([+-]?)((?:{groups}0|[1-9]\d*))(?:{re.escape(decimal)}(\d+))?"
    found = re.fullmatch(form, text, re.ASCII)
    if found is None:
        return None
    sign, whole, part = found[1], found[2].replace(thousands, ""), (found[3] or "").rstrip("0")
    try:
        return float(f"{sign}{whole}.{part}") if part else int(sign + whole)
    except ValueError:  # more digits than Python turns into a number
        return None


@lru_cache(maxsize=2**16)
def _date(text: str, formats: tuple[str, ...]) -> datetime | None:
    """Return the date that a text is, in ISO 8601 or the first format that fits."""
    for form in (None, *formats):
        try:
            date = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)  # noqa: DTZ007  (the format decides)
            return date if date.tzinfo is None else date.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None


def close_pairs(rule: Rule, gold: Sequence[Any], said: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Yield the places of pairs of keys that a tolerance or a similarity makes equal."""
    if rule.tolerance is not None:
        exact = sorted((value, j) for j, value in _numbers(said))
        values = [value for value, _ in exact]
        for i, value in _numbers(gold):
            room = rule.tolerance * abs(value) if rule.relative else rule.tolerance
            begin, end = bisect_left(values, value - room), bisect_right(values, value + room)
            yield from ((i, j) for _, j in exact[begin:end])
    if rule.similarity is not None:
        texts = [(j, key) for j, key in enumerate(said) if type(key) is str]
        for i, one in enumerate(gold):
            if type(one) is str:
                yield from ((i, j) for j, other in texts if _alike(one, other, rule.similarity))


def _numbers(keys: Sequence[Any]) -> Iterator[tuple[int, Fraction]]:
    """Yield the place of every number and the number as it is written: 0.1 is a tenth."""
    for i, key in enumerate(keys):
        if type(key) is int or type(key) is float:
            yield i, Fraction(key) if type(key) is int else Fraction(str(key))


def _alike(one: str, other: str, least: float) -> bool:
    """Return True if two texts are similar enough."""
    most = int((1 - least) * max(len(one), len(other)) + 1e-9)  # edits
    return abs(len(one) - len(other)) <= most and edit_distance(one, other) <= most


@lru_cache(maxsize=2**16)
def edit_distance(one: str, other: str) -> int:
    """Return the Levenshtein distance, by the bit vectors of Myers (1999)."""
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = defaultdict(int)
    for i, sign in enumerate(one):
        places[sign] |= 1 << i
    all_bits = (1 << len(one)) - 1
    up, down, distance, last = all_bits, 0, len(one), 1 << (len(one) - 1)
    for sign in other:
        equal = places.get(sign, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        more, less = down | ~(horizontal | up), up & horizontal
        distance += bool(more & last) - bool(less & last)
        more, less = (more << 1) | 1, less << 1
        up, down = (less | ~(vertical | more)) & all_bits, more & vertical & all_bits
    return distance
