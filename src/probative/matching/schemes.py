"""Declare tag schemes, decode tags into spans, recognise schemes and find invalid tags.

A tag is a prefix, or a prefix, a hyphen and a type; ``O`` stands outside. Decoding works on the
codes of the few distinct tags: two neighbours and whether their types agree decide everything,
so that one table look-up per token is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from probative._validation import one_of, shortened
from probative.errors import InputError, Recognised
from probative.reading.annotations import Spans, Tagged, tagged_from_lists

# --- Tag schemes

UNTYPED = "_"


@dataclass(frozen=True)
class _Scheme:
    """Rules by which a tag scheme writes spans."""

    name: str
    begin: tuple[str, ...]  # the prefixes of a span's tokens, of the first ones one each
    inside: str
    end: str
    single: str
    follow: dict[str, tuple[str, str]]  # what may follow a prefix: of any type, of the same type
    split_only: str = ""  # ``begin`` or ``end``, if written only between neighbours of one type

    def write(self, length: int) -> list[str]:
        """Return the prefixes of a span of this length, ignoring its neighbours."""
        if length == 1:
            return [self.single]
        head = self.begin[: length - 1]
        return [*head, *[self.inside] * (length - 1 - len(head)), self.end]


def _four(name: str, inside: str, end: str, single: str) -> _Scheme:
    """Make a scheme with one prefix each for begin, inside, end and single token."""
    free = ("O B " + single, "")
    bound = ("", f"{inside} {end}")
    follow = {"O": free, "B": bound, inside: bound, end: free, single: free}
    return _Scheme(name, ("B",), inside, end, single, follow)


_ANY_I = ("O I", "")
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        _Scheme("iob2", ("B",), "I", "I", "B",
               {"O": ("O B", ""), "B": ("O B", "I"), "I": ("O B", "I")}),
        _Scheme("iob1", ("I",), "I", "I", "I",
               {"O": _ANY_I, "B": ("O I", "B"), "I": ("O I", "B")}, split_only="begin"),
        _Scheme("ioe2", ("I",), "I", "E", "E",
               {"O": ("O I E", ""), "I": ("", "I E"), "E": ("O I E", "")}),
        _Scheme("ioe1", ("I",), "I", "I", "I",
               {"O": ("O I E", ""), "I": ("O I E", ""), "E": ("", "I E")}, split_only="end"),
        _four("iobes", "I", "E", "S"),
        _four("bilou", "I", "L", "U"),
        _four("bmes", "M", "E", "S"),
        _Scheme("bb2b3mes", ("B", "B2", "B3"), "M", "E", "S", {
            "O": ("O B S", ""), "B": ("", "B2 E"), "B2": ("", "B3 E"), "B3": ("", "M E"),
            "M": ("", "M E"), "E": ("O B S", ""), "S": ("O B S", "")}),
        _Scheme("io", ("I",), "I", "I", "I", {"O": _ANY_I, "I": _ANY_I}),
    )
}  # fmt: skip

# Every prefix as one of the five of conlleval.
_FIVE = {"O": 0, "B": 1, "I": 2, "E": 3, "S": 4, "M": 2, "B2": 2, "B3": 2, "L": 3, "U": 4}
_O, _B, _I, _E, _S = range(5)


# conlleval's tables by previous prefix, prefix, other type: where chunks start, and end
_STARTS, _ENDS = np.zeros((2, 5, 5, 2), dtype=bool)
_STARTS[:, [_B, _S]] = True
_STARTS[np.ix_([_E, _S, _O], [_E, _I])] = True
_STARTS[:, 1:, 1] = True
_ENDS[[_E, _S]] = True
_ENDS[np.ix_([_B, _I], [_B, _S, _O])] = True
_ENDS[1:, :, 1] = True

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


# --- Tags of a corpus as steps, and decoding

REPAIRS = ("conlleval", "strict", "error")


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Tokens of a corpus that are not O, each with the step into it and the step out of it."""

    # A step is the prefix before a border, the one after it and whether the types differ, as one
    # small number; rules are boolean tables of these three. O stands before and after a sentence.
    # Tokens tagged O, which are most in many corpora, are skipped.

    prefixes: tuple[str, ...]  # texts of the codes of prefixes and types
    labels: tuple[str, ...]
    token: NDArray[np.int32]  # indices of the tokens and their types
    kind: NDArray[np.int32]
    before: NDArray[np.uint8]  # the steps into the tokens and out of them
    after: NDArray[np.uint8]
    opens: NDArray[np.bool_]  # True where a token is the first or the last of its sentence
    closes: NDArray[np.bool_]

    def number(self) -> NDArray[np.intp]:
        """Count every step, except those from O to O."""
        size = len(self.prefixes)
        times, out = (
            np.bincount(steps, minlength=size * size * 2).reshape(size, size, 2)
            for steps in (self.before, self.after)
        )
        outside = self.prefixes.index("O")
        times[:, outside] += out[:, outside]  # other steps out are already counted as steps in
        return times

    def in_own_codes(self, rule: NDArray[np.bool_], code: dict[str, int]) -> NDArray[np.bool_]:
        """Translate a rule table from another numbering of the prefixes to this one's."""
        own = [code[prefix] for prefix in self.prefixes]
        return np.asarray(rule[np.ix_(own, own)])


def _parse(name: str) -> tuple[str, str] | None:
    """Return prefix and type of a tag; None if it is not a tag."""
    if name == "O":
        return "O", ""
    prefix, hyphen, kind = name.partition("-")
    if prefix not in _FIVE or prefix == "O" or (hyphen and not kind):
        return None
    return prefix, kind or UNTYPED


def prefix_of(name: str) -> str | None:
    """Return the prefix of a tag; None if it is not a tag."""
    tag = _parse(name)
    return None if tag is None else tag[0]


def _sequence(tagged: Tagged, scheme: _Scheme) -> _Sequence:
    """Translate tags into steps; refuse the first one that the scheme does not have."""
    wrong = [c for c, name in enumerate(tagged.names) if prefix_of(name) not in scheme.follow]
    if wrong:
        token = int(np.flatnonzero(np.isin(tagged.tags, wrong))[0])
        name = tagged.names[int(tagged.tags[token])]
        what = f"unknown tag {shortened(name, 60)!r}"
        prefixes = ", ".join(prefix + "-" for prefix in scheme.follow if prefix != "O")
        expected = f"expected O, or a type after one of {prefixes} ({scheme.name})"
        raise tagged.text.error(f"{what}; {expected}", token)
    return _translate(tagged)


# Recognising a scheme and decoding by it use the same steps; `decode` drops them.
_STEPS: WeakKeyDictionary[Tagged, _Sequence] = WeakKeyDictionary()


def _translate(tagged: Tagged) -> _Sequence:
    """Return the steps of valid tags, cached until they are decoded."""
    if tagged in _STEPS:
        return _STEPS[tagged]
    tags = [tag for tag in map(_parse, tagged.names) if tag is not None]
    prefixes = tuple(sorted({"O"} | {prefix for prefix, _ in tags}))
    labels = tuple(sorted({kind for prefix, kind in tags if prefix != "O"}))
    prefix_code = {prefix: i for i, prefix in enumerate(prefixes)}
    label_code = {kind: i for i, kind in enumerate(labels)} | {"": -1}
    outside = len(tags)  # one more code, for the O before and after a sentence
    tags = [*tags, ("O", "")]
    # ten prefixes at most, of which two make a step: it fits into a byte
    prefix = np.array([prefix_code[prefix] for prefix, _ in tags], dtype=np.uint8)
    kind = np.array([label_code[kind] for _, kind in tags], dtype=np.int32)

    codes = tagged.tags
    border = np.zeros(len(codes) + 1, dtype=bool)
    border[tagged.text.first] = True
    inside = np.array([p != "O" for p, _ in tags])[codes]
    token = np.flatnonzero(inside).astype(np.int32)
    opens, closes = border[token], border[token + 1]
    previous = np.where(opens, outside, codes[token - 1])
    this = codes[token]
    following = np.where(closes, outside, codes[np.minimum(token + 1, len(codes) - 1)])

    def step(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.uint8]:
        steps = (prefix[one] * len(prefixes) + prefix[other]) * 2
        return np.asarray(steps + (kind[one] != kind[other]), dtype=np.uint8)

    steps = step(previous, this), step(this, following)
    _STEPS[tagged] = _Sequence(prefixes, labels, token, kind[this], *steps, opens, closes)
    return _STEPS[tagged]


def _forbidden(scheme: _Scheme, sequence: _Sequence) -> NDArray[np.bool_]:
    """Return the steps that a scheme does not allow, as a rule table."""
    code = {prefix: i for i, prefix in enumerate(scheme.follow)}
    wrong = np.ones((len(code), len(code), 2), dtype=bool)
    for before, (of_any, of_same) in scheme.follow.items():
        for after in of_any.split():
            wrong[code[before], code[after]] = False
        for after in of_same.split():
            wrong[code[before], code[after], 0] = False
    return sequence.in_own_codes(wrong, code)


def recognise(tagged: Tagged) -> str:
    """Return the scheme that has all the prefixes and whose rules the tags break least often."""
    # tags that fit no scheme get the one that has the prefixes of most tokens
    prefixes = [prefix_of(name) for name in tagged.names]
    fitting = [s for s in SCHEMES.values() if {*prefixes} - {None} <= s.follow.keys()]
    if not fitting or None in prefixes:
        used = np.bincount(tagged.tags, minlength=len(prefixes)).tolist()
        times = list(zip(prefixes, used, strict=True))
        known = {s.name: sum(n for tag, n in times if tag in s.follow) for s in SCHEMES.values()}
        return max(known, key=lambda name: known[name])
    sequence = _translate(tagged)
    if not len(sequence.token):
        return fitting[0].name
    steps = sequence.number()
    return min(fitting, key=lambda scheme: int(steps[_forbidden(scheme, sequence)].sum())).name


def decode(tagged: Tagged, *, scheme: str | None = None, repair: str = "conlleval") -> Spans:
    """Decode tags into spans; `scheme` is recognised by default."""
    # Tags that break the rules: ``conlleval`` starts a chunk wherever one can be read, ``strict``
    # counts only well-formed spans (as seqeval), ``error`` refuses the first such tag.
    one_of("repair", repair, REPAIRS)
    recognised = scheme is None
    rules = SCHEMES[one_of("scheme", recognise(tagged) if scheme is None else scheme, SCHEMES)]
    sequence = _sequence(tagged, rules)
    forbidden = _forbidden(rules, sequence)
    number = int(sequence.number()[forbidden].sum())
    if number and repair == "error":
        raise _misplaced(tagged, rules, _places(sequence, forbidden, 1)[0])
    first, last = _well_formed(sequence, rules) if repair == "strict" else _lenient(sequence)
    start, end = sequence.token[first], sequence.token[last] + 1
    _STEPS.pop(tagged, None)
    text = tagged.text
    sentence = (np.searchsorted(text.first, start, side="right") - 1).astype(np.int32)
    opening = text.first[sentence]
    how = f"{tagged.name}: scheme {rules.name}{', recognised' * recognised}"
    notes = [*tagged.notes, Recognised(how)]
    if number:
        what = f"{tagged.name}: {number} tag{'s' * (number > 1)} out of place in {rules.name}"
        as_whom = "conlleval" if repair == "conlleval" else "seqeval strict mode"
        notes.append(f"{what}, read as {as_whom} does")
    places = sentence, start - opening, end - opening, sequence.kind[first]
    about = sequence.labels, text, rules.name, number
    return Spans(*places, *about, notes=tuple(notes))


def _lenient(sequence: _Sequence) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and last tokens of chunks as conlleval reads them."""
    starts, ends = (sequence.in_own_codes(rule, _FIVE).reshape(-1) for rule in (_STARTS, _ENDS))
    return np.flatnonzero(starts[sequence.before]), np.flatnonzero(ends[sequence.after])


def _well_formed(sequence: _Sequence, rules: _Scheme) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and last tokens of spans as seqeval's strict mode reads them."""
    # In a run of tokens that may continue each other, the span begins at the first that may start
    # one and reaches to the end of the run, if it may end there.
    tables = np.zeros((3, 5, 5, 2), dtype=bool)  # by previous prefix, prefix, other type
    for table, patterns in zip(tables, _STRICT[rules.name], strict=True):
        for pattern in patterns.split():
            types = {"=": [0], "!": [1]}.get(pattern[2:], [0, 1])
            table[_FIVE[pattern[0]], _FIVE[pattern[1]], types] = True
    starts, inside, ends = (sequence.in_own_codes(table, _FIVE) for table in tables)
    # B, B2, B3 must stand in order, which the five prefixes do not express
    inside &= ~_forbidden(rules, sequence)
    may_start = np.flatnonzero(starts.reshape(-1)[sequence.before])
    heads = ~inside.reshape(-1)[sequence.before]
    run = np.cumsum(heads)[may_start]
    opens_run = np.diff(run, prepend=-1) > 0
    first, run = may_start[opens_run], run[opens_run]
    last = np.append(np.flatnonzero(heads), len(heads))[run] - 1
    complete = ends.reshape(-1)[sequence.after[last]]
    return first[complete], last[complete]


def misplaced(tagged: Tagged, scheme: str, most: int) -> tuple[list[str], int]:
    """Return messages on the first tags that break the rules, and the number of all."""
    rules = SCHEMES[scheme]
    sequence = _sequence(tagged, rules)
    forbidden = _forbidden(rules, sequence)
    places = _places(sequence, forbidden, most)
    number = int(sequence.number()[forbidden].sum())
    return [str(_misplaced(tagged, rules, place)) for place in places], number


def _places(sequence: _Sequence, forbidden: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """Return the first forbidden steps as (token before, token after); -1 for none."""
    rule = forbidden.reshape(-1)
    into = np.flatnonzero(rule[sequence.before])[:most]
    leaving = sequence.after // 2 % len(sequence.prefixes) == sequence.prefixes.index("O")
    out = np.flatnonzero(rule[sequence.after] & leaving)[:most]
    token, previous = sequence.token, np.where(sequence.opens, -1, sequence.token - 1)
    following = np.where(sequence.closes, -1, sequence.token + 1)
    steps = [*zip(previous[into].tolist(), token[into].tolist(), strict=True)]
    steps += zip(token[out].tolist(), following[out].tolist(), strict=True)
    return sorted(steps, key=max)[:most]


def _misplaced(tagged: Tagged, rules: _Scheme, place: tuple[int, int]) -> InputError:
    before, after = (f"tag {tagged.names[tagged.tags[token]][:60]!r}" for token in place)
    what = f"{after} after {before.removeprefix('tag ')}"
    if place[0] < 0:
        what = f"{after} at the begin of a sentence"
    elif place[1] < 0:
        what = f"{before} at the end of a sentence"
    broken = f"{what} breaks the rules of {rules.name}; expected a valid tag"
    return tagged.text.error(broken, max(place))


def decode_tags(
    sentences: Sequence[Sequence[str]], *, scheme: str | None = None, repair: str = "conlleval"
) -> list[list[tuple[int, int, str]]]:
    """Decode lists of tags, one per sentence, into lists of (start, end, label); see `decode`."""
    spans = decode(tagged_from_lists("sentences", sentences), scheme=scheme, repair=repair)
    return [spans.of(sentence) for sentence in range(spans.n_sentences)]
