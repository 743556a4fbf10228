"""Exports of annotation tools that are more than spans in lines: Label Studio, Prodigy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative._validation import shown
from probative.reading.annotations import Labels
from probative.reading.sequences import spans_from_sets
from probative.reading.source import snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.reading.annotations import Spans
    from probative.reading.source import Source

__all__ = [
    "chosen_labels",
    "is_choices",
    "is_label_studio",
    "predictions_of_label_studio",
    "read_choices",
    "read_label_studio",
]

_EXAMPLES = 3
_WORK = frozenset({"annotator", "annotation_id"})  # what JSON-MIN has of every text
ACCEPTED = "accept"  # what Prodigy calls an answer that holds


# --- choices in lines: Prodigy's `accept` -----------------------------------------------------


def is_choices(record: Mapping[str, Any]) -> str | None:
    """What shows that an object holds labels of a text that somebody chose, or None."""
    if isinstance(record.get("accept"), list) and "options" in record:
        return "its first object has options and what was accepted of them"
    return None


def read_choices(source: Source) -> list[tuple[str, list[str]]]:
    """The text of every line and what was chosen for it.

    A line that was not accepted (rejected, ignored) has no label, so that it is an error.
    """
    chosen, refused = [], []
    for number, record in source.json_lines():
        labels = record.get("accept")
        if not isinstance(labels, list) or not all(isinstance(x, str) for x in labels):
            raise source.error(f"'accept' is {shown(labels)}; expected a list of labels", number)
        text = record.get("text")
        if record.get("answer", ACCEPTED) != ACCEPTED:
            refused.append((number, record["answer"]))
        chosen.append((text if isinstance(text, str) else "", labels))
    if refused:
        raise source.error(
            f"{len(refused)} of {len(chosen)} answers are not 'accept' ({shown(refused[0][1])}); "
            f"expected accepted ones: leave the others out of all files",
            refused[0][0],
        )
    if not chosen:
        raise source.error("holds no JSON object; expected one per line")
    return chosen


def chosen_labels(
    source: Source, chosen: Sequence[tuple[str, Sequence[str]]], what: str
) -> Labels | None:
    """One label per text, where each has one; None where some have several or none."""
    if any(len(labels) != 1 for _, labels in chosen):
        return None
    names = tuple(sorted({labels[0] for _, labels in chosen}))
    code = {name: i for i, name in enumerate(names)}
    codes = np.array([code[labels[0]] for _, labels in chosen], dtype=np.int32)
    texts = [text for text, _ in chosen]
    note = f"{source.name}: {what}, one label per text"
    return Labels(source.name, codes, names, None, (note,), lambda: texts)


# --- Label Studio -----------------------------------------------------------------------------


class Task(NamedTuple):
    """A task of Label Studio: a text, and the results of somebody's work on it."""

    name: str
    text: str
    results: list[Any]


def is_label_studio(document: Any) -> str | None:
    """What shows that a JSON document is an export of Label Studio, or None."""
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return None
    task = document[0]
    if isinstance(task.get("data"), dict) and ("annotations" in task or "predictions" in task):
        return "it is a list of tasks with 'data' and 'annotations'"
    short = any(_is_short(value) for value in task.values()) or _WORK.issubset(task)
    return "it is a list of texts with their labels, as JSON-MIN has them" if short else None


def _is_short(value: Any) -> bool:
    """Whether these are spans as JSON-MIN has them."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "labels" in first and "start" in first


def read_label_studio(
    source: Source, task: str | None = None, *, predicted: bool = False
) -> Spans | list[tuple[str, list[str]]]:
    """The spans of every text, or the choices made for it, that were annotated.

    Parameters
    ----------
    source
        The export: a list of tasks.
    task
        ``entities`` or ``labels``, where a project has both.
    predicted
        Whether this is a system, which may have found nothing of what is asked for.
    """
    documents = _tasks(source)
    if "annotation_id" in documents[0]:
        _refuse_doubles(source, documents)
    tasks = [_annotated(source, n, t) for n, t in enumerate(documents, start=1)]
    return _side(source, source.name, tasks, task, predicted=predicted)


def predictions_of_label_studio(
    source: Source, task: str | None = None
) -> dict[str, Spans | list[tuple[str, list[str]]]]:
    """What models predicted for the same texts, by the names of their versions."""
    versions: dict[str, dict[int, list[Any]]] = {}
    documents = _tasks(source)
    numbers = []
    for number, document in enumerate(documents):
        given = document.get("predictions") or []
        if not isinstance(given, list):
            raise source.error(
                f"task {number + 1}: predictions are {shown(given)}; expected a list"
            )
        for prediction in given:
            if not isinstance(prediction, dict):  # a number stands for one that was not exported
                numbers.append((number + 1, prediction))
                continue
            version = str(prediction.get("model_version") or "predictions")
            own = versions.setdefault(version, {})
            if number in own:
                raise source.error(
                    f"task {number + 1} has two predictions of {version!r}; expected one"
                )
            own[number] = _results(source, number + 1, prediction)
    if numbers and not versions:
        raise source.error(
            f"task {numbers[0][0]} has the number of a prediction, {shown(numbers[0][1])}; "
            f"expected it whole: by a snapshot of the project with full predictions"
        )
    sides = {}
    for version, own in versions.items():
        missing = [str(n + 1) for n in range(len(documents)) if n not in own]
        if missing:
            raise source.error(
                f"{len(missing)} of {len(documents)} tasks have no prediction of {version!r} "
                f"({', '.join(missing[:_EXAMPLES])}); expected one for each"
            )
        tasks = [
            Task(str(n + 1), _text_of(source, n + 1, document), own[n])
            for n, document in enumerate(documents)
        ]
        name = f"{source.name}, {version}"
        sides[version] = _side(source, name, tasks, task, predicted=True)
    return sides


def _tasks(source: Source) -> list[dict[str, Any]]:
    document = source.document
    if is_label_studio(document) is None:
        raise source.error("is no export of Label Studio; expected a list of tasks")
    for number, task in enumerate(document, start=1):
        if not isinstance(task, dict):
            raise source.error(f"task {number} is {shown(task)}; expected an object")
    return list(document)


def _annotated(source: Source, number: int, task: dict[str, Any]) -> Task:
    """The annotation of a task that holds: the only one, or the one that is the ground truth."""
    name = str(task.get("id", number))
    if not isinstance(task.get("data"), dict):
        return _short_task(name, task)
    text = _text_of(source, number, task)
    given = task.get("annotations")
    if not isinstance(given, list):
        raise source.error(f"task {name} has {shown(given)} for annotations; expected a list")
    done = [a for a in given if isinstance(a, dict) and not a.get("was_cancelled")]
    truth = [a for a in done if a.get("ground_truth")]
    chosen = truth if len(truth) == 1 else done
    if len(chosen) != 1:
        raise source.error(
            f"task {name} has {len(chosen)} annotations; expected one, or one that is marked as "
            f"the ground truth"
        )
    return Task(name, text, _results(source, number, chosen[0]))


def _short_task(name: str, task: dict[str, Any]) -> Task:
    """A task of JSON-MIN: its data, its id, the results of every control, then whose work it is.

    A single choice stands there as a text, as the data do: only its place tells them apart.
    """
    keys = list(task)
    begin = keys.index("id") + 1 if "id" in keys else len(keys)
    end = keys.index("annotator") if "annotator" in keys else begin
    controls = set(keys[begin:end])
    texts = [
        value
        for key, value in task.items()
        if isinstance(value, str) and key not in controls and key in ("text", "sentence")
    ]
    results = [
        result
        for key, value in task.items()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, dict) or key in controls
        if (result := _long_result(key, one)) is not None
    ]
    return Task(name, texts[0] if texts else "", results)


def _long_result(control: str, value: Any) -> dict[str, Any] | None:
    """The result that JSON-MIN shortens: a choice to its text; None for other kinds of results."""
    if isinstance(value, str):
        value = {"choices": [value]}
    if not isinstance(value, dict):
        return None
    kind = "choices" if "choices" in value else "labels"
    return {"type": kind, "from_name": control, "value": value}


def _refuse_doubles(source: Source, documents: Sequence[Mapping[str, Any]]) -> None:
    """Refuse two annotations of a task: JSON-MIN writes a text of its own for each."""
    times = Counter(str(document["id"]) for document in documents if "id" in document)
    for name, number in times.items():
        if number > 1:
            raise source.error(f"task {name} has {number} annotations; expected one")


def _results(source: Source, number: int, annotation: dict[str, Any]) -> list[Any]:
    results = annotation.get("result")
    if not isinstance(results, list):
        raise source.error(f"task {number}: result is {shown(results)}; expected a list")
    return results


def _text_of(source: Source, number: int, task: dict[str, Any]) -> str:
    data = task.get("data")
    texts = [v for v in data.values() if isinstance(v, str)] if isinstance(data, dict) else []
    named = data.get("text") if isinstance(data, dict) else None
    if isinstance(named, str):
        return named
    if len(texts) == 1:
        return texts[0]
    raise source.error(f"task {number}: data hold {len(texts)} texts; expected one, or 'text'")


def _side(
    source: Source, name: str, tasks: Sequence[Task], wanted: str | None, *, predicted: bool
) -> Spans | list[tuple[str, list[str]]]:
    kinds: dict[tuple[str, str], None] = {}
    for task in tasks:
        for result in task.results:
            if isinstance(result, dict) and result.get("type") in ("labels", "choices"):
                kinds.setdefault((str(result["type"]), str(result.get("from_name"))))
    usable = {"entities": "labels", "labels": "choices"}
    if wanted in usable:
        if kinds and not predicted and all(kind != usable[wanted] for kind, _ in kinds):
            there, missing = ("choices", "spans") if wanted == "entities" else ("spans", "choices")
            raise source.error(f"has {there} and no {missing}; expected some for {wanted}")
        kinds = {key: None for key in kinds if key[0] == usable[wanted]}
    if len({kind for kind, _ in kinds}) > 1:
        raise source.error("has both spans and choices; expected task='entities' or task='labels'")
    if len(kinds) > 1:
        listed = ", ".join(sorted(control for _, control in kinds))
        raise source.error(f"has several sets of labels: {listed}; expected an export of one")
    kind = next(iter(kinds), ("labels" if wanted != "labels" else "choices", ""))[0]
    if kind == "choices":
        return [(task.text, _choices(source, task)) for task in tasks]
    spans = [_spans(source, task) for task in tasks]
    annotations = spans_from_sets(name, spans, [task.text for task in tasks])
    note = f"{name}: export of Label Studio, spans of characters"
    return replace(annotations, notes=(note, *annotations.notes))


def _spans(source: Source, task: Task) -> list[tuple[int, int, str]]:
    spans = []
    for result in task.results:
        if not isinstance(result, dict) or result.get("type") != "labels":
            continue
        value: Any = result.get("value")
        value = value if isinstance(value, dict) else {}
        start, end, labels = value.get("start"), value.get("end"), value.get("labels")
        whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (start, end))
        names = isinstance(labels, list) and labels and all(isinstance(x, str) for x in labels)
        if not whole or not names:
            raise source.error(
                f"task {task.name} has {shown(value)}; expected whole numbers start and end, and "
                f"a list of labels"
            )
        if not 0 <= start < end <= len(task.text):
            raise source.error(
                f"task {task.name}: span {start} to {end}; expected 0 <= start < end <= "
                f"{len(task.text)}"
            )
        said = value.get("text")
        if isinstance(said, str) and said.split() != task.text[start:end].split():
            mine, there = (
                snippet(text.encode("utf-8", "replace")) for text in (said, task.text[start:end])
            )
            raise source.error(
                f"task {task.name}: the span {start} to {end} is {mine}, but the text has {there} "
                f"there; expected the same"
            )
        spans += [(start, end, label) for label in labels]
    return spans


def _choices(source: Source, task: Task) -> list[str]:
    labels: list[str] = []
    for result in task.results:
        if not isinstance(result, dict) or result.get("type") != "choices":
            continue
        value = result.get("value")
        chosen = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(chosen, list) or not all(isinstance(x, str) for x in chosen):
            raise source.error(f"task {task.name} has {shown(value)}; expected a list of choices")
        labels += chosen
    return labels
