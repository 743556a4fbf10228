"""Tag schemes: spans written as a tag a token, and read back.

A tag is a prefix, or a prefix, a hyphen and a type; ``O`` stands outside. Decoding works on the
codes of the few distinct tags: two neighbours and whether their types agree decide everything,
so a table look-up a token is all it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.reading.annotations import Spans, Tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "REPAIRS",
    "SCHEMES",
    "Scheme",
    "decode",
    "decode_tags",
    "encode",
    "invalid",
    "recognise",
]

REPAIRS = ("conlleval", "strict", "error")
UNTYPED = "_"


@dataclass(frozen=True)
class Scheme:
    """How a scheme writes spans.

    Attributes
    ----------
    name
        Its name.
    begin, inside, end, single
        The prefixes of a span's tokens, `begin` for its first ones one by one.
    follow
        Which prefixes may stand after one: of any type, and of the same type only. O stands for
        the sentence's edges too.
    split_only
        ``begin`` or ``end`` where that prefix is written only between neighbours of one type.
    """

    name: str
    begin: tuple[str, ...]
    inside: str
    end: str
    single: str
    follow: dict[str, tuple[str, str]]
    split_only: str = ""

    @property
    def prefixes(self) -> tuple[str, ...]:
        """All its prefixes."""
        return tuple(self.follow)

    def write(self, length: int) -> list[str]:
        """The prefixes of a span of this length, neighbours left aside."""
        if length == 1:
            return [self.single]
        head = list(self.begin[: length - 1])
        return [*head, *[self.inside] * (length - 1 - len(head)), self.end]


def _four(name: str, inside: str, end: str, single: str) -> Scheme:
    """A scheme with a prefix for each of the begin, the inside, the end and a single token."""
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

# Every prefix as one of the five that conlleval knows.
_PLAIN = {"O": 0, "B": 1, "I": 2, "E": 3, "S": 4, "M": 2, "B2": 2, "B3": 2, "L": 3, "U": 4}
_O, _B, _I, _E, _S = range(5)


def _lenient_tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where a chunk starts and where one ends, by conlleval's rules.

    Both are indexed by the previous prefix, this prefix and whether the types differ.
    """
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


_START, _END = _lenient_tables()

# seqeval's strict mode, a scheme at a time: where a span may start, go on and end, each as
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


def _strict_table(patterns: str) -> NDArray[np.bool_]:
    table = np.zeros((5, 5, 2), dtype=bool)
    for pattern in patterns.split():
        types = {"=": [0], "!": [1]}.get(pattern[2:], [0, 1])
        table[_PLAIN[pattern[0]], _PLAIN[pattern[1]], types] = True
    return table


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Prefix and type of every token as codes, and which tokens open a sentence."""

    prefixes: tuple[str, ...]
    prefix: NDArray[np.intp]
    kind: NDArray[np.int32]
    labels: tuple[str, ...]
    first: NDArray[Any]

    def at_borders(self, allowed: NDArray[np.bool_], code: dict[str, int]) -> NDArray[np.bool_]:
        """Look up the border before every token, and the one after the last.

        `allowed` is indexed by the prefix before the border, the one after it and whether the
        types differ; outside the sentence stands O. A border between two sentences is looked up
        with the sentence before it; the one that opens a sentence is asked for by `at_openings`.
        """
        numbering = np.array([code[prefix] for prefix in self.prefixes], dtype=np.intp)
        prefix = numbering[self.prefix]
        size = len(prefix)
        answer = np.zeros(size + 1, dtype=bool)
        differ = self.kind[1:] != self.kind[:-1]
        n = allowed.shape[0]
        answer[1:size] = allowed.reshape(-1)[(prefix[:-1] * n + prefix[1:]) * 2 + differ]
        answer[self.first[1:]] = allowed[prefix[self.first[1:] - 1], code["O"], 1]
        return answer

    def at_openings(self, allowed: NDArray[np.bool_], code: dict[str, int]) -> NDArray[np.bool_]:
        """Look up the border before every sentence's first token."""
        numbering = np.array([code[prefix] for prefix in self.prefixes], dtype=np.intp)
        return np.asarray(allowed[code["O"], numbering[self.prefix[self.first[:-1]]], 1])

    def before_tokens(self, allowed: NDArray[np.bool_], code: dict[str, int]) -> NDArray[np.bool_]:
        """Look up every token with the one before it in its sentence."""
        answer = self.at_borders(allowed, code)[:-1]
        answer[self.first[:-1]] = self.at_openings(allowed, code)
        return answer


def _parse(name: str) -> tuple[str, str] | None:
    """Prefix and type of a tag; None for what is no tag."""
    if name == "O":
        return "O", ""
    prefix, hyphen, kind = name.partition("-")
    if prefix not in _PLAIN or prefix == "O" or (hyphen and not kind):
        return None
    return prefix, kind or UNTYPED


def _sequence(tagged: Tagged, scheme: Scheme) -> _Sequence:
    """Translate tags; the first one that the scheme does not have is an error."""
    parsed = [_parse(name) for name in tagged.names]
    wrong = [c for c, tag in enumerate(parsed) if tag is None or tag[0] not in scheme.follow]
    if wrong:
        raise _unknown_tag(tagged, scheme, wrong)
    tags = [tag for tag in parsed if tag is not None]
    prefixes = tuple(sorted({prefix for prefix, _ in tags}))
    labels = tuple(sorted({kind for prefix, kind in tags if prefix != "O"}))
    prefix_code = {prefix: i for i, prefix in enumerate(prefixes)}
    label_code = {kind: i for i, kind in enumerate(labels)}
    prefix = np.array([prefix_code[prefix] for prefix, _ in tags], dtype=np.intp)
    kind = np.array([label_code.get(k, -1) if p != "O" else -1 for p, k in tags], dtype=np.int32)
    tags_used = tagged.tags
    first = np.unique(tagged.text.first)  # sentences without tokens have no borders of their own
    return _Sequence(prefixes, prefix[tags_used], kind[tags_used], labels, first)


def _unknown_tag(tagged: Tagged, scheme: Scheme, wrong: list[int]) -> InputError:
    token = int(np.flatnonzero(np.isin(tagged.tags, wrong))[0])
    name = tagged.names[int(tagged.tags[token])]
    shown = name if len(name) <= 60 else name[:60] + "…"
    prefixes = ", ".join(prefix + "-" for prefix in scheme.follow if prefix != "O")
    return tagged.text.error(
        f"unknown tag {shown!r}; expected O, or a type after one of {prefixes} ({scheme.name})",
        token,
    )


def _followers(scheme: Scheme) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """What may follow what, as a table for `at_borders`, and the numbering of its prefixes."""
    code = {prefix: i for i, prefix in enumerate(scheme.follow)}
    allowed = np.zeros((len(code), len(code), 2), dtype=bool)
    for before, (of_any, of_same) in scheme.follow.items():
        for after in of_any.split():
            allowed[code[before], code[after]] = True
        for after in of_same.split():
            allowed[code[before], code[after], 0] = True
    return allowed, code


def _invalid(sequence: _Sequence, scheme: Scheme) -> NDArray[np.bool_]:
    allowed, code = _followers(scheme)
    wrong = ~sequence.at_borders(allowed, code)
    wrong[0] = False
    # a border between sentences is wrong if either side is; once is enough for a count
    wrong[sequence.first[:-1]] |= ~sequence.at_openings(allowed, code)
    return wrong


def invalid(tagged: Tagged, scheme: str) -> NDArray[np.bool_]:
    """Where the tags break the rules of a scheme.

    Returns
    -------
    An entry for the border before every token and one for the end: whether the tags on its two
    sides may not stand there. The edges of a sentence count as O.
    """
    rules = SCHEMES[one_of("scheme", scheme, SCHEMES)]
    return _invalid(_sequence(tagged, rules), rules)


def recognise(tagged: Tagged) -> str:
    """Name the scheme whose rules the tags break least.

    Only schemes that have all the prefixes are considered; where several fit equally well, the
    first of `SCHEMES` is taken. Tags that fit no scheme get the one that knows most of them.
    """
    parsed = [_parse(name) for name in tagged.names]
    used = np.bincount(tagged.tags, minlength=len(parsed))
    number: dict[str, int] = {}
    for tag, times in zip(parsed, used.tolist(), strict=True):
        if tag is not None and times:
            number[tag[0]] = number.get(tag[0], 0) + times
    fitting = [name for name, scheme in SCHEMES.items() if number.keys() <= scheme.follow.keys()]
    if not fitting or None in parsed:
        known = {
            name: sum(n for prefix, n in number.items() if prefix in scheme.follow)
            for name, scheme in SCHEMES.items()
        }
        return max(known, key=lambda name: known[name])
    if number.keys() <= {"O"}:
        return fitting[0]
    broken = {name: int(invalid(tagged, name).sum()) for name in fitting}
    return min(fitting, key=lambda name: broken[name])


def decode(tagged: Tagged, *, scheme: str | None = None, repair: str = "conlleval") -> Spans:
    """Read the spans that tags stand for.

    Parameters
    ----------
    tagged
        The tags of a corpus.
    scheme
        One of `SCHEMES`; by default the one recognised.
    repair
        What to do where the tags break the rules of the scheme. ``conlleval``: as the Perl
        script of the CoNLL shared tasks does, a chunk starts wherever one can be read.
        ``strict``: as seqeval's strict mode does, only well-formed spans count. ``error``: the
        first one is an error.

    Examples
    --------
    >>> from probative.matching.schemes import decode
    >>> from probative.reading.sequences import tagged_from_lists
    >>> tags = tagged_from_lists("tags", [["O", "I-PER", "I-PER"], ["B-LOC", "I-PER"]])
    >>> spans = decode(tags, scheme="iob2")
    >>> spans.of(0), spans.of(1)
    ([(1, 3, 'PER')], [(0, 1, 'LOC'), (1, 2, 'PER')])
    >>> decode(tags, scheme="iob2", repair="strict").of(1)
    [(0, 1, 'LOC')]
    """
    one_of("repair", repair, REPAIRS)
    recognised = scheme is None
    rules = SCHEMES[one_of("scheme", recognise(tagged) if scheme is None else scheme, SCHEMES)]
    sequence = _sequence(tagged, rules)
    wrong = _invalid(sequence, rules)
    number = int(wrong.sum())
    if number and repair == "error":
        raise _broken_rule(tagged, rules, wrong)
    start, end = (_well_formed if repair == "strict" else _lenient)(sequence, rules, wrong)
    sentence = (np.searchsorted(tagged.text.first, start, side="right") - 1).astype(np.int32)
    opening = tagged.text.first[sentence]
    notes = [*tagged.notes, f"{tagged.text.name}: scheme {rules.name}{', recognised' * recognised}"]
    if number:
        notes.append(
            f"{tagged.text.name}: {number} tag{'s' * (number > 1)} out of place in {rules.name}, "
            f"read as {'conlleval does' if repair == 'conlleval' else 'seqeval strict mode does'}"
        )
    return Spans(
        sentence=sentence,
        start=start - opening,
        end=end - opening,
        label=sequence.kind[start],
        labels=sequence.labels,
        text=tagged.text,
        notes=tuple(notes),
        scheme=rules.name,
        repaired=number,
    )


def _lenient(
    sequence: _Sequence, rules: Scheme, wrong: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Chunks as conlleval reads them; every start has its end."""
    del rules, wrong
    start = sequence.before_tokens(_START, _PLAIN)
    end = sequence.at_borders(_END, _PLAIN)
    return np.flatnonzero(start), np.flatnonzero(end)


def _well_formed(
    sequence: _Sequence, rules: Scheme, wrong: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Spans as seqeval's strict mode reads them.

    Tokens that may go on from the one before them form runs. In a run the first token that may
    start a span does, and its span reaches to the end of the run, if it may end there.
    """
    starts, inside, ends = (_strict_table(patterns) for patterns in _STRICT[rules.name])
    may_start = np.flatnonzero(sequence.before_tokens(starts, _PLAIN))
    heads = ~sequence.before_tokens(inside, _PLAIN)
    run = np.cumsum(heads)[may_start]
    opens_run = np.concatenate([[True], run[1:] != run[:-1]]) if len(run) else run.astype(bool)
    start, run = may_start[opens_run], run[opens_run]
    end = np.append(np.flatnonzero(heads), len(heads))[run]
    complete = sequence.at_borders(ends, _PLAIN)[end]
    # a scheme with numbered begins has rules inside a span that five prefixes cannot tell
    inner = np.concatenate([[0], np.cumsum(wrong)])
    complete &= inner[end] == inner[start + 1]
    return start[complete], end[complete]


def _broken_rule(tagged: Tagged, rules: Scheme, wrong: NDArray[np.bool_]) -> InputError:
    border = int(np.flatnonzero(wrong)[0])
    names, tags, first = tagged.names, tagged.tags, tagged.text.first
    opens = bool(np.isin(border, first))
    allowed, code = _followers(rules)
    if opens and border > 0:
        before = names[int(tags[border - 1])]
        if not allowed[code[_parse(before)[0]], code["O"], 1]:  # type: ignore[index]
            return tagged.text.error(
                f"tag {before!r} ends a sentence; expected its span to be closed ({rules.name})",
                border - 1,
            )
    place = "the sentence's begin" if opens else repr(names[int(tags[border - 1])])
    return tagged.text.error(
        f"tag {names[int(tags[border])]!r} after {place} breaks the rules of {rules.name}; "
        f"expected valid tags, or repair='conlleval' or 'strict'",
        border,
    )


def decode_tags(
    sentences: Sequence[Sequence[str]], *, scheme: str | None = None, repair: str = "conlleval"
) -> list[list[tuple[int, int, str]]]:
    """Read the spans of tag lists.

    Parameters
    ----------
    sentences
        A list of tags a sentence.
    scheme, repair
        As for `decode`.

    Examples
    --------
    >>> decode_tags([["B-PER", "E-PER", "O", "S-LOC"]])
    [[(0, 2, 'PER'), (3, 4, 'LOC')]]
    """
    from probative.reading.sequences import tagged_from_lists

    spans = decode(tagged_from_lists("sentences", sentences), scheme=scheme, repair=repair)
    return [spans.of(sentence) for sentence in range(spans.n_sentences)]


def encode(spans: Iterable[tuple[int, int, str | None]], length: int, *, scheme: str) -> list[str]:
    """Write the spans of a sentence as tags.

    Parameters
    ----------
    spans
        Each (start, end, label) with ``0 <= start < end <= length``; they must not overlap. The
        label None, ``""`` or ``"_"`` gives bare prefixes.
    length
        How many tokens the sentence has.
    scheme
        One of `SCHEMES`. Reading the tags back gives the same spans, with one exception: ``io``
        merges neighbours of one label.

    Examples
    --------
    >>> encode([(0, 3, "PER"), (3, 4, "PER")], 5, scheme="iobes")
    ['B-PER', 'I-PER', 'E-PER', 'S-PER', 'O']
    >>> encode([(0, 3, "PER"), (3, 4, "PER")], 5, scheme="iob1")
    ['I-PER', 'I-PER', 'I-PER', 'B-PER', 'O']
    """
    rules = SCHEMES[one_of("scheme", scheme, SCHEMES)]
    tags = ["O"] * length
    last_end, last_label = 0, ""
    for start, end, name in sorted(spans, key=lambda span: span[:2]):
        if not last_end <= start < end <= length:
            raise InputError(
                f"spans: ({start}, {end}) overlaps another one or leaves the sentence; expected "
                f"spans apart from each other in {length} tokens"
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
