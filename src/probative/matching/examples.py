"""Find the sentences on which systems differ, and the labels that they confuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from probative._validation import Array, shortened
from probative.matching.groups import label_confusions, span_confusions
from probative.metrics import f1
from probative.reading.annotations import LabelSets
from probative.results import Example, FieldChange, FieldExample, LabelExample, RecordExample

if TYPE_CHECKING:
    from probative.counts import Counts
    from probative.matching.matched import Matched
    from probative.matching.records import MatchedRecords

_PAIRS_WITH_EXAMPLES, _EXAMPLES_OF_A_PAIR = 3, 8
_MOST_TOKENS_SHOWN = 300  # of a sentence
_TOKENS_BEFORE_DISPUTE = 30  # shown of a longer sentence
_LONGEST_TOKEN = 200  # shown, in characters
_LONGEST_TEXT = 1000  # shown, in characters
_DOCUMENTS_OF_A_PAIR = 20  # those with the most errors, and those with the largest gap
_FIELDS_OF_A_DOCUMENT = 500
_DOCUMENTS_OF_A_CHANGE = 5


def examples_of(
    matched: Matched, pairs: Sequence[tuple[int, int]]
) -> tuple[Example | LabelExample | RecordExample, ...]:
    """Return sentences (texts, documents) on which the first pairs of systems differ most."""
    # as many that the second system does better as that the first does, in this order, those with
    # the largest gap in the F1 of the sentence first
    if not matched.systems or matched.task == "scores":
        return ()  # counts alone have no text
    if matched.task in ("labels", "samples"):
        return _label_examples(matched, pairs)
    pairs = pairs[:_PAIRS_WITH_EXAMPLES]
    if matched.records is not None:
        return tuple(one for i, j in pairs for one in _record_examples(matched, i, j))
    examples: list[Example] = []
    for i, j in pairs:
        paired = matched.items.paired(i, j, by="sentence")
        scores = [np.asarray(f1(own, zero_division=1.0)) for own in (paired.a, paired.b)]
        errors = [_errors(own) for own in (paired.a, paired.b)]
        gap = scores[1] - scores[0]
        # among equal gaps, sentences with more disputed spans come first
        order = np.lexsort((-paired.cases[:, :4].sum(axis=1), -np.abs(gap)))
        examples += [
            _example(matched, i, j, sentence, [*errors, *scores])
            for side in (gap > 0, gap < 0)
            for sentence in order[side[order]][: _EXAMPLES_OF_A_PAIR // 2].tolist()
        ]
    return tuple(examples)


def _errors(counts: Counts) -> Any:
    return np.asarray(counts.fp + counts.fn).astype(int)


def _label_examples(matched: Matched, pairs: Sequence[tuple[int, int]]) -> tuple[LabelExample, ...]:
    """Return texts that only one system of a pair has right, at most half of them for each."""
    texts = matched.gold.texts()
    if not len(texts):
        return ()
    gold, *given = (_labels_of(side) for side in (matched.gold, *matched.systems))
    examples = []
    for i, j in pairs[:_PAIRS_WITH_EXAMPLES]:
        a, b = (given[k] == gold for k in (i, j))
        better = (np.flatnonzero(own)[: _EXAMPLES_OF_A_PAIR // 2] for own in (b & ~a, a & ~b))
        names = matched.names[i], matched.names[j]
        for k in np.concatenate([*better]).tolist():
            text = shortened(texts[k], _LONGEST_TEXT)
            examples.append(LabelExample(*names, k + 1, text, gold[k], given[i][k], given[j][k]))
    return tuple(examples)


def _labels_of(side: Any) -> Any:
    """Return the label of every item; several labels are joined in one line."""
    names = np.array(side.names, dtype=object)
    if not isinstance(side, LabelSets):
        return names[side.codes]
    ends = np.searchsorted(side.item, np.arange(len(side) + 1)).tolist()
    return np.array([", ".join(names[side.codes[i:j]]) for i, j in pairwise(ends)], dtype=object)


def _example(matched: Matched, i: int, j: int, sentence: int, scores: Sequence[Array]) -> Example:
    sides = (matched.gold, matched.systems[i], matched.systems[j])
    if matched.task == "segmentation":
        sides = tuple(side.spans() for side in sides)
    gold, a, b = (tuple(side.of(sentence)) for side in sides)
    words = sides[0].text.words(sentence)
    ends = (end for _, end, _ in (*gold, *a, *b))
    start, length = 0, max(len(words), *ends, 0)  # lists of tags have no words
    if length > _MOST_TOKENS_SHOWN:  # begin some tokens before the first disputed span
        disputed = (set(a) ^ set(b)) & set(gold) or set(a) ^ set(b)
        first = min((begin for begin, _, _ in disputed), default=0)
        start = max(0, min(first - _TOKENS_BEFORE_DISPUTE, length - _MOST_TOKENS_SHOWN))
    # characters, or words
    alone = matched.task == "segmentation" or sum(map(len, words)) == len(words) > 1
    names, text = (matched.names[i], matched.names[j]), _shown_words(words, start)
    shown: Any = [_shown_spans(spans, start) for spans in (gold, a, b)]
    shown += [own[sentence].item() for own in scores]
    return Example(*names, sentence + 1, text, "" if alone else " ", *shown)


def _shown_words(words: Sequence[str], start: int) -> tuple[str, ...]:
    """Shorten a sentence and its words, with an ellipsis for each omitted part."""
    some = words[start : start + _MOST_TOKENS_SHOWN]
    shown = [shortened(word, _LONGEST_TOKEN) for word in some]
    if start and shown:
        shown[0] = f"… {shown[0]}"
    return (*shown, "…") if len(words) > start + _MOST_TOKENS_SHOWN else tuple(shown)


def _shown_spans(spans: Sequence[Any], start: int) -> tuple[tuple[int, int, str], ...]:
    """Return the spans of the shown tokens, counted from the first shown token."""
    return tuple(
        (first - start, end - start, label)
        for first, end, label in spans
        if first < start + _MOST_TOKENS_SHOWN and end > start
    )


def confusions_of(matched: Matched) -> tuple[Any, ...]:
    """Return for each system the pairs of labels that it confuses."""
    # in sets, it is unknown which label was given instead of which
    if matched.task not in ("entities", "labels") or isinstance(matched.gold, LabelSets):
        return ()
    find: Any = label_confusions if matched.task == "labels" else span_confusions
    return tuple(find(matched.gold, system) for system in matched.systems)


# --- Records


def _record_examples(matched: Matched, i: int, j: int) -> list[RecordExample]:
    """Return the documents with the most errors, and with the largest gap, the worst first."""
    errors = [_errors(matched.items.counts(k, by="sentence")) for k in (i, j)]
    both, gap = errors[0] + errors[1], np.abs(errors[0] - errors[1])
    half = _DOCUMENTS_OF_A_PAIR // 2
    most = [np.argsort(-own, kind="stable")[:half] for own in (both, gap)]
    worst = sorted({*np.concatenate(most).tolist()}, key=lambda k: (-int(both[k]), k))
    return [_record_example(matched, i, j, k, errors) for k in worst if both[k]]


def _record_example(
    matched: Matched, i: int, j: int, document: int, errors: list[Any]
) -> RecordExample:
    """Return the fields of a document in gold and in two outputs, gold's order first."""
    from probative.matching.records import fields_of_document, why_unequal

    records = cast("MatchedRecords", matched.records)
    gold = matched.gold.documents[document]
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for side, system in enumerate((matched.systems[i], matched.systems[j])):
        found = fields_of_document(gold, system.documents[document], records.rules)
        for n, own in enumerate(found):
            is_gold = own.gold_place is not None
            key = (0, own.gold_place) if is_gold else (1, own.path, _json(own.said), side * n)
            known = (own.gold_place, _json(own.gold)) if is_gold else (own.said_place, None)
            row = rows.setdefault(key, [own.path, *known, None, None, "", "", "", ""])
            row[3 + side] = None if own.said_place is None else _json(own.said)
            row[5 + side] = own.kind
            if own.kind == "other value":
                row[7 + side] = why_unequal(own.gold, own.said)
    listed = [FieldExample(*row) for row in rows.values()]
    if records.rules.only_gold_paths:
        listed = [row for row in listed if row.path in records.items.labels]
    names = matched.names[i], matched.names[j], _name_of(matched, document)
    a, b = (int(own[document]) for own in errors)
    return RecordExample(*names, a, b, tuple(listed[:_FIELDS_OF_A_DOCUMENT]))


def _json(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _LONGEST_TEXT)


def _name_of(matched: Matched, document: int) -> str:
    keys = matched.gold.keys
    return f"{document + 1}" if keys is None else str(keys[document]).replace("\x1f", ", ")


def changes_of(
    matched: Matched, pairs: Sequence[tuple[int, int]]
) -> tuple[FieldChange, ...] | None:
    """Return which gold fields only one system of a pair has right, by path; None if no records."""
    if matched.records is None:
        return None
    items = matched.items
    every: list[FieldChange] = []
    for i, j in pairs:
        found = []
        a, b = items.says[i] & items.answer, items.says[j] & items.answer
        for k, path in enumerate(items.labels):
            own = items.label == k
            documents = [items.unit[own & ~a & b], items.unit[own & a & ~b]]  # fixed, broken
            if any(map(len, documents)):
                some = (np.unique(those)[:_DOCUMENTS_OF_A_CHANGE] for those in documents)
                shown = (tuple(_name_of(matched, k) for k in those) for those in some)
                names = matched.names[i], matched.names[j]
                fixed, broken = map(len, documents)
                found.append(FieldChange(*names, path, fixed, broken, *shown))
        every += sorted(found, key=lambda change: (-change.fixed - change.broken, change.path))
    return tuple(every)
