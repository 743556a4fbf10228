"""Read annotations from any input: a path, a sequence, an array, a column of a frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, compress
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from probative._validation import shown
from probative.errors import InputError, Recognised
from probative.reading.annotations import (
    Labels,
    LabelSets,
    Side,
    labels_from_array,
    labels_from_lists,
    spans_from_sets,
    tagged_from_lists,
)
from probative.reading.columns import ODD_TAG, TAG
from probative.reading.formats import Options, read, read_pair
from probative.reading.lines import segmented_from_lists
from probative.reading.rows import (
    Rows,
    are_rows,
    is_dataset,
    label_names_of_features,
    labels_of_dataset,
    numbered_tags,
    pair_of_rows,
    rows_of,
    side_of_rows,
)
from probative.reading.table_sides import label_sets, label_texts, sides_from_frame, tags_reason

if TYPE_CHECKING:
    from probative.reading.formats import Annotations, Column, Pair

_LISTS = {list, tuple}
_EXAMPLE = ("reference", "predicted")  # attributes of an example of spaCy: two documents


def is_path(data: Any) -> bool:
    """Return True if this names a file."""
    return isinstance(data, (str, Path))


def _are_records(data: Any) -> bool:
    """Return True if these are records in a list, or by their keys."""
    entries: list[Any] = []
    if isinstance(data, Mapping):
        entries = list(data.values())
    elif isinstance(data, (list, tuple)) and not isinstance(next(iter(data), None), str):
        entries = [one for one in data if one is not None]
    if not entries or are_rows(entries) or are_docs(entries) or are_docs(entries, *_EXAMPLE):
        return False
    from probative.reading.records import is_record_object

    return all(map(is_record_object, entries))


def annotations_of(data: Any, name: str, options: Options) -> Annotations:
    """Read one side from a path or from Python data; return annotations as they are."""
    if isinstance(data, Side):
        return cast("Annotations", data)
    if is_path(data):
        return read(data, options)
    if is_dataset(data):  # rows of tokens, or one label per row
        names, items = label_names_of_features(data.features), [dict(row) for row in data]
        if not are_rows(items):
            return labels_of_dataset(name, items, names, options)
        rows = rows_of(name, items, None, names, options.label_names)
        return side_of_rows(rows, options, options.task)
    if options.task == "records" or (options.task is None and _are_records(data)):
        from probative.reading.records import records_from_objects

        return records_from_objects(data, name, options)
    numbers = numbered_tags(data) if options.label_names and not options.multilabel else None
    if numbers is not None:
        rows = Rows(name, None, {"tags": numbers}, {"tags": options.label_names})
        return side_of_rows(rows, options, options.task)
    if is_frame(data):
        if options.column is None:
            raise InputError(f"{name}: is a data frame; expected its column to be named")
        (side,) = sides_from_frame(name, data, [options.column], options)
        return side
    if isinstance(data, np.ndarray) and data.ndim == 2:
        # sets of labels in scikit-learn's form: one column of 0 and 1 per label
        if data.dtype.kind not in "biu" or not np.isin(data, (0, 1)).all():
            expected = "expected one label per item (of probabilities, argmax(axis=1))"
            others = "a column of 0 and 1 for each label, or names of tags (label_names=)"
            raise InputError(f"{name}: shape {data.shape}; {expected}, {others}")
        return label_sets(name, [[str(k) for k in np.flatnonzero(row)] for row in data])
    if isinstance(data, np.ndarray) or is_series(data):
        return _flat(data, name, options)
    if isinstance(data, (Set, Mapping, bytes, bytearray)):
        raise InputError(f"{name}: {type(data).__name__} has no order of items; expected a list")
    if not isinstance(data, Collection):
        expected = "expected a path, a sequence of sentences or labels, an array or a data frame"
        raise InputError(f"{name}: {type(data).__name__} is no input; {expected}")
    items = list(data)
    if are_docs(items):
        from probative.reading.tools import spans_from_docs

        return spans_from_docs(name, items)
    if are_rows(items):
        rows = rows_of(name, items, label_names=options.label_names)
        return side_of_rows(rows, options, options.task)
    return _from_sequence(items, name, options)


def _flat(values: Any, name: str, options: Options) -> Labels:
    """Read one label per item; refuse tags without sentences unless task='labels' is given."""
    labels = labels_from_array(name, values, continuous=options.predicted, absent=options.absent)
    reason = None if options.task == "labels" else tags_reason(labels.names)
    if reason is not None:
        problem = f"{name}: could be tags without sentences or labels ({reason})"
        raise InputError(f"{problem}; expected a list of tags per sentence, or task='labels'")
    return labels


def _from_sequence(sentences: list[Any], name: str, options: Options) -> Annotations:
    if not sentences:
        raise InputError(f"{name}: is empty; expected at least one sentence or label")
    task = options.task
    if task == "segmentation":
        return segmented_from_lists(name, sentences)
    if not _is_nested(sentences[0]):
        return _flat(sentences, name, options)
    others = [] if _are_lists(sentences) else sentences
    for number, sentence in enumerate(others, start=1):
        if not _is_nested(sentence):
            raise InputError(f"{name}: sentence {number} is {shown(sentence)}; expected a list")
    if options.multilabel or any(map(_is_set_of_labels, others)):
        given = task == "labels" or options.multilabel is not None
        return _sets(sentences, name, given=given)
    if task == "labels":
        return labels_from_lists(name, sentences)
    example = next((item for sentence in sentences for item in sentence), None)
    if isinstance(example, Real):  # in place of spans, or spans that are not grouped by sentence
        first, problem = sentences[0], "could be labels of tokens or a set of labels"
        expected = "task='labels', multilabel=True or the names of numbered tags (label_names=)"
        if len(first) == 3 and isinstance(list(first)[-1], str):
            problem = "is in the place of a sentence"
            expected = f"a list of spans per sentence, such as [{shown(first)}]"
        raise InputError(f"{name}: {shown(first)} {problem}; expected {expected}")
    if not isinstance(example, str):
        return spans_from_sets(name, sentences)
    for sentence in others:
        if isinstance(sentence, Mapping):
            what = f"{name}: {shown(sentence)} has no order"
            raise InputError(f"{what}; expected a list of tags or words a sentence")
    words = {word for s in sentences[:100] for word in s if isinstance(word, str)}
    if all(map(TAG.fullmatch, words)) or task == "entities":
        return tagged_from_lists(name, sentences)
    return segmented_from_lists(name, sentences)


def _is_set_of_labels(sentence: Any) -> bool:
    return isinstance(sentence, Set) and any(isinstance(label, str) for label in sentence)


def _sets(items: list[Any], name: str, *, given: bool) -> LabelSets:
    """Read sets of labels from Python; values that look like tags only if ``given`` as sets."""
    sets = []
    for number, labels in enumerate(items, start=1):
        texts = label_texts(labels)
        if texts is None or isinstance(labels, Mapping):
            raise InputError(f"{name}: item {number} is {shown(labels)}; expected a set of labels")
        sets.append(texts)
    found = label_sets(name, sets)
    if tags_reason(found.names) is not None and not given:
        problem = f"{name}: {shown(items[0])} has no order"
        raise InputError(f"{problem}; expected a list of tags a sentence")
    return replace(found, notes=(Recognised(f"{name}: any number of labels per item"),))


def settled(sides: Sequence[Any], options: Options) -> Options:
    """Decide what lists of lists of texts are (tags, words or labels) from all sides together."""
    # Tags have a form. Words make up the same characters on all sides, labels do not. Whether
    # labels are one per token or any number per item only the caller knows: that is an error.
    if options.task is not None or options.multilabel is not None:
        return options
    lists = [list(side) for side in sides if isinstance(side, (list, tuple)) and len(side)]
    typed = [(side, _are_lists(side)) for side in lists]
    nested = [own for own in typed if own[1] or all(map(_is_nested, own[0]))]
    others = [side for side, are_lists in nested if not are_lists]
    sets = [item for side in others for item in side if _is_set_of_labels(item)]
    if sets and tags_reason(list(set().union(*sets))) is None:
        return replace(options, multilabel=True)
    if not nested:
        _refuse_sentences(lists)
        return options
    texts_of = [(own[0], _texts_of(*own)) for own in nested]
    found = [(side, values) for side, values in texts_of if values is not None]
    texts = [side for side, _ in found]
    tags = [all(map(TAG.fullmatch, values)) for _, values in found]
    _refuse_odd_tags([values for _, values in found], tags)
    if len(texts) < 2 or any(tags):
        return options
    first, *others = ([list(sentence) for sentence in side] for side in texts)
    letters = list(map(_letters, first))
    same_text = all(list(map(_letters, other)) == letters for other in others)
    if same_text and any(first != other for other in others):
        return options
    example = next((text for sentence in first for text in sentence), "")
    why = "are the same lists" if same_text else "differ in their characters"
    problem = f"gold: lists of texts such as {shown(example)} could be words or labels"
    tasks = "task='segmentation' (words), task='labels' (of tokens) or multilabel=True (sets)"
    raise InputError(f"{problem}, and all sides {why}; expected {tasks}")


def _texts_of(side: list[Any], are_lists: bool) -> set[str] | None:
    """Return the distinct texts of lists of texts; None if they are something else."""
    if not are_lists and any(isinstance(s, (Set, Mapping)) for s in side):
        return None
    try:
        values: set[Any] = set().union(*side)
    except TypeError:  # an entry is unhashable
        return None
    return values if all(isinstance(value, str) for value in values) else None


def _refuse_sentences(lists: list[list[Any]]) -> None:
    """Refuse texts that differ only in their spaces: sentences or labels."""
    texts = [side for side in lists if isinstance(side[0], str)]
    if len(texts) < 2 or len({len(side) for side in texts}) > 1:
        return
    gold, *others = texts
    distinct = _texts_of([gold], are_lists=True)  # of large data, mostly few labels
    if distinct is None:  # some may be missing
        if None in gold:
            _refuse_sentences([[t for t in side if isinstance(t, str)] for side in texts])
        return
    spaced = any(" " in text.strip() for text in distinct)
    if not spaced or gold in others or not all(isinstance(t, str) for o in others for t in o):
        return
    letters, *theirs = ([_letters([text]) for text in side] for side in texts)
    if all(other == letters for other in theirs):
        problem = f"gold: texts such as {shown(gold[0])} could be sentences or labels"
        expected = "expected task='segmentation' or task='labels'"
        raise InputError(f"{problem}, and all sides differ only in spaces; {expected}")


def _refuse_odd_tags(sides: list[set[str]], are_tags: list[bool]) -> None:
    """Refuse tags in another notation, and other values among tags."""
    expected = "expected tags such as B-PER, I-PER, O (or task='labels')"
    others = [values for values, tagged in zip(sides, are_tags, strict=True) if not tagged]
    for values in others:
        odd = next((text for text in sorted(values) if ODD_TAG.fullmatch(text)), None)
        if odd is not None and {"O", "o"} & values:
            problem = f"gold, pred: {shown(odd)} looks like a tag in another notation"
            raise InputError(f"{problem}; {expected}")
    tags = chain.from_iterable(compress(sides, are_tags))
    # if gold has tags, the reader of each side reports its wrong ones
    if any("-" in text for text in tags) and not are_tags[0]:
        wrong = next(text for text in sorted(sides[0]) if not TAG.fullmatch(text))
        raise InputError(f"gold, pred: {shown(wrong)} is no tag, but a side has tags; {expected}")


def _letters(words: list[str]) -> str:
    return "".join("".join(words).split())


def _are_lists(sentences: list[Any]) -> bool:
    """Return True if all sentences are lists or tuples."""
    return all(map(_LISTS.__contains__, map(type, sentences)))  # stops at the first text


def _is_nested(sentence: Any) -> bool:
    try:
        iter(sentence)
    except TypeError:
        return False
    return not isinstance(sentence, (str, bytes))


def are_docs(data: Sequence[Any], *names: str) -> bool:
    """Return True if these are documents with entities, or have other attributes."""
    names = names or ("ents", "__iter__")
    return bool(data) and all(hasattr(each, name) for each in data for name in names)


def is_frame(data: Any) -> bool:
    """Return True if this is a data frame."""
    return hasattr(data, "columns") and not isinstance(data, (list, tuple, dict))


def is_series(data: Any) -> bool:
    """Return True if this is an array or a column of a data frame."""
    return hasattr(data, "to_numpy") or hasattr(data, "__array__")


def both_of(data: Any, options: Options, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read gold and the systems from one file or data frame; return them and the systems' names."""
    if is_path(data):
        return read_pair(data, options, gold=gold, columns=columns)
    if is_dataset(data) or (isinstance(data, (list, tuple)) and are_rows(data)):
        names = label_names_of_features(getattr(data, "features", None))
        rows = rows_of("gold", [dict(row) for row in data], None, names, options.label_names)
        return pair_of_rows(rows, gold, columns, options.task)
    if isinstance(data, (list, tuple)) and are_docs(data, *_EXAMPLE):
        from probative.reading.tools import spans_from_docs

        sides = [[getattr(each, side) for each in data] for side in _EXAMPLE]
        answer, system = (spans_from_docs("gold", docs) for docs in sides)
        return answer, [system], ["predicted"]
    if not is_frame(data):
        raise InputError("pred: missing; expected a second input beside gold")
    if gold is None or not (columns or options.probability_columns):
        raise InputError("gold_column, columns: expected the columns of the data frame by name")
    asked = [gold, *columns] if columns else [gold, None]
    side, *systems = sides_from_frame("gold", data, asked, options)
    return side, list(systems), [str(column) for column in columns] or ["pred"]
