"""Read formats of other tools: Label Studio, Prodigy, brat, HIPE, spaCy and logs."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative._validation import shown
from probative.errors import InputError, Recognised
from probative.labels import factorise_each
from probative.reading.annotations import (
    Labels,
    LabelSets,
    Spans,
    Tagged,
    Text,
    coded,
    spans_from_sets,
)
from probative.reading.lines import ACCEPTED
from probative.reading.logs import read_samples, tool_of, whole_document
from probative.reading.rows import is_row, pair_of_rows, rows_of_file, side_of_rows, why_columns
from probative.reading.source import Source, are_texts, is_brat_folder, load, snippet, some_of
from probative.reading.table_sides import label_sets

if TYPE_CHECKING:
    from probative.reading.formats import Column, Input, Pair

_JSON_MIN_KEYS = frozenset({"annotator", "annotation_id"})  # every text in JSON-MIN has these


# --- Prodigy: choices in lines (`accept`)


def read_choices(opened: Input) -> Labels | LabelSets:
    """Read the text of every line and the labels chosen for it; refuse rejected lines."""
    source = opened.source
    chosen, refused = [], []
    for number, record in source.json_lines():
        labels = record.get("accept")
        if not are_texts(labels):
            raise source.error(f"'accept' is {shown(labels)}; expected a list of labels", number)
        text = record.get("text")
        if record.get("answer", ACCEPTED) != ACCEPTED:
            refused.append((number, record["answer"]))
        chosen.append((text if isinstance(text, str) else "", labels))
    if refused:
        line, answer = refused[0]
        problem = f"{len(refused)} of {len(chosen)} answers are not 'accept' ({shown(answer)})"
        expected = "expected accepted ones: leave the others out of all files"
        raise source.error(f"{problem}; {expected}", line)
    return _side_of_choices(source, chosen, "labels chosen for texts")


def _side_of_choices(
    source: Source, chosen: Sequence[tuple[str, Sequence[str]]], what: str
) -> Labels | LabelSets:
    """Return one label per text, or label sets if some texts have several or none."""
    texts, sets = zip(*chosen, strict=True)
    if any(len(labels) != 1 for labels in sets):
        return label_sets(source.name, sets)
    codes, names = coded([label for (label,) in sets])
    note = Recognised(f"{source.name}: {what}, one label per text")
    return Labels(source.name, codes, names, notes=(note,), texts=lambda: texts)


# --- Label Studio


class _Task(NamedTuple):
    """A task of Label Studio: a text and the results of one annotation of it."""

    name: str
    text: str
    results: list[Any]


def _why_label_studio(task: dict[str, Any]) -> str | None:
    """Return why an object is a task of an export of Label Studio, or None."""
    if isinstance(task.get("data"), dict) and ("annotations" in task or "predictions" in task):
        return "it is a list of tasks with 'data' and 'annotations'"
    firsts = (value[0] for value in task.values() if isinstance(value, list) and value)
    spans = any(isinstance(one, dict) and "labels" in one and "start" in one for one in firsts)
    short = spans or _JSON_MIN_KEYS.issubset(task)
    return "it is a list of texts with their labels, as JSON-MIN has them" if short else None


def read_studio(opened: Input) -> Spans | Labels | LabelSets:
    """Read the annotated spans of every text of an export, or the choices made for it."""
    # the task decides where a project has both; the output of a system may have none of either
    source, options = opened.source, opened.options
    documents = _tasks(source)
    if "annotation_id" in documents[0]:  # JSON-MIN: several annotations of a task are texts
        times = Counter(str(document["id"]) for document in documents if "id" in document)
        for name, number in times.items():
            if number > 1:
                raise source.error(f"task {name} has {number} annotations; expected one")
    tasks = [_annotated(source, n, t) for n, t in enumerate(documents, start=1)]
    return _side(source, source.name, tasks, options.task, predicted=options.predicted)


def studio_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read the annotations and the predictions of every model version."""
    if gold is not None or columns:
        raise InputError("gold_column, columns: an export has none; expected them left out")
    source = opened.source
    versions: dict[str, dict[int, list[Any]]] = {}
    documents = _tasks(source)
    numbers = []
    for number, document in enumerate(documents, start=1):
        given = document.get("predictions") or []
        for prediction in source.expect(list, f"predictions of task {number}", given):
            if not isinstance(prediction, dict):  # the id of a prediction that was not exported
                numbers.append((number, prediction))
                continue
            version = str(prediction.get("model_version") or "predictions")
            own = versions.setdefault(version, {})
            if number in own:
                problem = f"task {number} has two predictions of {version!r}"
                raise source.error(f"{problem}; expected one")
            own[number] = source.expect(list, f"result of task {number}", prediction.get("result"))
    if numbers and not versions:
        problem = f"task {numbers[0][0]} has the number of a prediction, {shown(numbers[0][1])}"
        expected = "expected it whole: by a snapshot of the project with full predictions"
        raise source.error(f"{problem}; {expected}")
    if not versions:
        raise source.error("has no predictions; expected a second file, or tasks with them")
    sides: list[Any] = []
    for version, own in versions.items():
        missing = [str(n) for n in range(1, len(documents) + 1) if n not in own]
        if missing:
            problem = f"{len(missing)} of {len(documents)} tasks have no prediction of {version!r}"
            raise source.error(f"{problem} ({some_of(missing)}); expected one for each")
        texts = [_text_of(source, n, document) for n, document in enumerate(documents, start=1)]
        tasks = [_Task(str(n), text, own[n]) for n, text in enumerate(texts, start=1)]
        name = f"{source.name}, {version}"
        sides.append(_side(source, name, tasks, opened.options.task, predicted=True))
    return read_studio(opened), sides, list(versions)


def _tasks(source: Source) -> list[dict[str, Any]]:
    tasks = source.document
    listed = isinstance(tasks, list) and tasks and isinstance(tasks[0], dict)
    if not listed or _why_label_studio(tasks[0]) is None:
        raise source.error("is no export of Label Studio; expected a list of tasks")
    return [source.expect(dict, f"task {n}", task) for n, task in enumerate(tasks, start=1)]


def _annotated(source: Source, number: int, task: dict[str, Any]) -> _Task:
    """Return a task with its only annotation, or with the one marked as ground truth."""
    name = str(task.get("id", number))
    if not isinstance(task.get("data"), dict):
        return _short_task(name, task)
    text = _text_of(source, number, task)
    given = source.expect(list, f"annotations of task {name}", task.get("annotations"))
    done = [a for a in given if isinstance(a, dict) and not a.get("was_cancelled")]
    truth = [a for a in done if a.get("ground_truth")]
    chosen = truth if len(truth) == 1 else done
    if len(chosen) != 1:
        problem = f"task {name} has {len(chosen)} annotations"
        raise source.error(f"{problem}; expected one, or one that is marked as the ground truth")
    result = source.expect(list, f"result of task {number}", chosen[0].get("result"))
    return _Task(name, text, result)


def _short_task(name: str, task: dict[str, Any]) -> _Task:
    """Read a task of JSON-MIN: keys for data, id, the results of every control, the annotator."""
    # a single choice is a string, as data are; only its place after ``id`` distinguishes them
    keys = list(task)
    begin = keys.index("id") + 1 if "id" in keys else len(keys)
    end = keys.index("annotator") if "annotator" in keys else begin
    controls = set(keys[begin:end])
    data = (task.get(key) for key in keys if key in ("text", "sentence") and key not in controls)
    results = []
    for key, value in task.items():
        for one in value if isinstance(value, list) else [value]:
            given = {"choices": [one]} if isinstance(one, str) and key in controls else one
            if isinstance(given, dict):
                kind = "choices" if "choices" in given else "labels"
                results.append({"type": kind, "from_name": key, "value": given})
    return _Task(name, next((text for text in data if isinstance(text, str)), ""), results)


def _text_of(source: Source, number: int, task: dict[str, Any]) -> str:
    data = task["data"] if isinstance(task.get("data"), dict) else {}
    texts = [text for text in data.values() if isinstance(text, str)]
    named = [data["text"]] if isinstance(data.get("text"), str) else texts
    if len(named) == 1:
        return str(named[0])
    raise source.error(f"task {number}: data hold {len(texts)} texts; expected one, or 'text'")


def _side(
    source: Source, name: str, tasks: Sequence[_Task], wanted: str | None, *, predicted: bool
) -> Spans | Labels | LabelSets:
    results = [result for task in tasks for result in task.results if isinstance(result, dict)]
    known = [result for result in results if result.get("type") in ("labels", "choices")]
    kinds = dict.fromkeys((str(own["type"]), str(own.get("from_name"))) for own in known)
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
    if next(iter(kinds), (usable.get(str(wanted)), ""))[0] == "choices":
        chosen = [(task.text, _choices(source, task)) for task in tasks]
        what = "predictions" if name != source.name else "export of Label Studio, choices"
        return _side_of_choices(source, chosen, what)
    spans = [_spans(source, task) for task in tasks]
    annotations = spans_from_sets(name, spans, [task.text for task in tasks])
    note = Recognised(f"{name}: export of Label Studio, spans of characters")
    return replace(annotations, notes=(note, *annotations.notes))


def _values(task: _Task, kind: str) -> list[Any]:
    """Return the values of the results of one kind."""
    results = (result for result in task.results if isinstance(result, dict))
    return [result.get("value") for result in results if result.get("type") == kind]


def _spans(source: Source, task: _Task) -> list[tuple[int, int, str]]:
    spans = []
    for given in _values(task, "labels"):
        value: Any = given if isinstance(given, dict) else {}
        start, end, labels = value.get("start"), value.get("end"), value.get("labels")
        whole = type(start) is int and type(end) is int  # True and False are none
        if not whole or not labels or not are_texts(labels):
            expected = "expected whole numbers start and end, and a list of labels"
            raise source.error(f"task {task.name} has {shown(value)}; {expected}")
        if not 0 <= start < end <= len(task.text):
            limits = f"0 <= start < end <= {len(task.text)}"
            raise source.error(f"task {task.name}: span {start} to {end}; expected {limits}")
        stated, there = value.get("text"), task.text[start:end]
        if isinstance(stated, str) and stated.split() != there.split():
            found = f"is {snippet(stated)}, but the text has {snippet(there)} there"
            what = f"task {task.name}: the span {start} to {end}"
            raise source.error(f"{what} {found}; expected the same")
        spans += [(start, end, label) for label in labels]
    return spans


def _choices(source: Source, task: _Task) -> list[str]:
    labels: list[str] = []
    for value in _values(task, "choices"):
        chosen = value.get("choices") if isinstance(value, dict) else None
        if not are_texts(chosen):
            raise source.error(f"task {task.name} has {shown(value)}; expected a list of choices")
        labels += chosen
    return labels


# --- brat folders: one ``.txt`` and one ``.ann`` file per document, entities by character offsets

_ENTITY = re.compile(r"(?P<id>T\S*)\t(?P<label>\S+) (?P<places>[0-9 ;]+)\t(?P<text>.*)", re.DOTALL)
_PLACE = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})")
_EXPECTED_ENTITY = (
    "expected an entity such as 'T1<TAB>Loc 0 5<TAB>text', or '0 5;8 12' of several pieces"
)
_NO_ENTITY = "EARMN#*"  # first letters of events, attributes, relations, notes


def read_brat(opened: Input) -> Spans:
    """Read the entities of every document in a brat folder; skip relations, events and notes."""
    path, encoding = opened.source.name, opened.options.encoding
    place = Path(path)
    texts: dict[str, Path] = {file.stem: file for file in sorted(place.glob("*.txt"))}
    annotations = {file.stem: file for file in sorted(place.glob("*.ann"))}
    if texts:  # a system may provide annotations without texts
        for there, needed, kind in ((texts, annotations, ".ann"), (annotations, texts, ".txt")):
            missing = [name for name in there if name not in needed]
            if missing:
                what = f"{len(missing)} of {len(there)} documents have no {kind}"
                problem = f"{what} ({some_of(missing)})"
                raise InputError(f"{problem}; expected a .txt and an .ann for each", place)
    code: dict[str, int] = {}
    shapes: dict[str, int] = {"": 0}
    rows: list[tuple[int, int, int, int, int]] = []
    contents: list[str] = []
    pieces = others = 0
    for number, name in enumerate(annotations):
        content = _content(texts[name], encoding) if texts else None
        contents.append(content or "")
        found, passed = _entities(annotations[name], content, encoding)
        others += passed
        for label, places in found:
            shape = ";".join(f"{i}-{j}" for i, j in places) if len(places) > 1 else ""
            pieces += len(places) > 1
            codes = code.setdefault(label, len(code)), shapes.setdefault(shape, len(shapes))
            rows.append((number, places[0][0], places[-1][1], *codes))
    table = np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 5)
    count = len(annotations)
    first = np.cumsum([0, *map(len, contents)])
    numbers, sentences = np.arange(count, dtype=np.int32), contents if texts else None
    text = Text(path, first, document=numbers, sentences=sentences, names=tuple(annotations))
    how = f"{path}: folder of brat, {count} documents, entities by their characters"
    told = (
        (pieces, "entities of several pieces, compared piece by piece"),
        (len(rows) - len(table), "entities given twice, counted once"),
        (others, "relations, events, attributes and notes passed over"),
    )
    notes = [Recognised(how), *(f"{path}: {number} {what}" for number, what in told if number)]
    sentence, kinds, several = (table[:, column].astype(np.int32) for column in (0, 3, 4))
    ends, about = (table[:, 1], table[:, 2]), (tuple(code), text)
    spans = Spans(sentence, *ends, kinds, *about, notes=tuple(notes))
    return replace(spans, shape=several, shapes=tuple(shapes)) if pieces else spans


def _content(path: Path, encoding: str | None) -> str:
    """Read a file unchanged, even an empty one, because offsets count every character."""
    try:
        return load(path, encoding=encoding).data.decode()
    except InputError as error:
        if "is empty" in str(error):  # also white space only
            return path.read_text(encoding or "utf-8")
        raise


def _entities(
    path: Path, content: str | None, encoding: str | None
) -> tuple[list[tuple[str, list[tuple[int, int]]]], int]:
    """Return label and pieces of every entity of a document, and the number of other lines."""
    entities = []
    others = 0
    text = _content(path, encoding)
    source = Source(str(path), text.encode())
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            continue
        if line[0] in _NO_ENTITY:
            others += 1
            continue
        match = _ENTITY.fullmatch(line)
        pieces = [] if match is None else match["places"].split(";")
        found = [place for place in map(_PLACE.fullmatch, pieces) if place is not None]
        places = sorted((int(place[1]), int(place[2])) for place in found)  # from left to right
        wrong = len(found) < len(pieces) or any(begin >= end for begin, end in places)
        if match is None or wrong or any(a[1] > b[0] for a, b in pairwise(places)):
            raise source.error(f"{snippet(line)}; {_EXPECTED_ENTITY}", number)
        if content is not None:  # brat writes a space for a line end and between pieces
            end, in_text = places[-1][1], " ".join(content[i:j] for i, j in places)
            if end > len(content):
                what = f"ends at {end}, but the text has {len(content)} characters"
                raise source.error(f"entity {match['id']} {what}; expected it inside", number)
            if "".join(in_text.split()) != "".join(match["text"].split()):
                what = f"is {snippet(match['text'])}, but the text has {snippet(in_text)} there"
                raise source.error(f"entity {match['id']} {what}; expected the same text", number)
        entities.append((match["label"], places))
    return entities, others


# --- HIPE shared tasks: one token per line with nine columns, named in the first line

_DEFAULT_COLUMN = "NE-COARSE-LIT"


def read_hipe(opened: Input) -> Tagged | Labels:
    """Read the tags of one column (NE-COARSE-LIT by default); an underscore is outside."""
    # A sentence ends where MISC has EndOfSentence, or at an empty line; without either a document
    # is one sentence. Missing cells of a short row count as underscores.
    source, options = opened.source, opened.options
    lines = source.data.decode().split("\n")
    header = next((i for i, line in enumerate(lines) if line.strip()), None)
    if header is None:
        raise source.error("holds nothing but blank lines; expected the names of columns")
    names = lines[header].rstrip("\r").split("\t")
    asked: Any = options.tag_column or options.column
    column = _DEFAULT_COLUMN if asked is None else asked
    number = int(column) if str(column).lstrip("-").isdigit() else 0
    if column in names:
        place = names.index(column)
    elif 1 <= abs(number) <= len(names):
        place = number - 1 if number > 0 else len(names) + number
    else:
        listed = ", ".join(name for name in names if name.startswith("NE-"))
        raise source.error(f"there is no column {column!r}; expected one of {listed}")
    misc = names.index("MISC") if "MISC" in names else None
    tokens: list[tuple[str, str, int]] = []  # with its tag and its line, from 0
    begins: list[tuple[int, int]] = []  # first token and document of every sentence
    short: list[int] = []  # lines that lack cells
    fresh, document = True, -1
    for number, raw in enumerate(lines[header + 1 :], start=header + 1):
        line = raw.rstrip("\r")
        if line.startswith("# ") or not line.strip():
            opens = line.startswith("# document_id")
            document += opens
            fresh = fresh or opens or not line.strip()
            continue
        cells = line.split("\t")
        if len(cells) < len(names):
            short.append(number + 1)
            cells += ["_"] * (len(names) - len(cells))
        if any(cells[len(names) :]):
            problem = f"{snippet(line)} has {len(cells)} columns between TABs"
            expected = f"expected {len(names)}, as in the first line"
            raise source.error(f"{problem}; {expected}", number + 1)
        if fresh:
            begins.append((len(tokens), max(document, 0)))
        tokens.append((cells[0], cells[place], number))
        fresh = misc is not None and "EndOfSentence" in cells[misc].split("|")
    if not tokens:
        raise source.error("holds no tokens; expected at least one below the names of the columns")
    words, tags, rows = zip(*tokens, strict=True)
    unmarked = tags.count("_")
    if unmarked == len(tokens):
        raise source.error(f"column {names[place]!r} is empty (_ everywhere); expected tags")
    codes, values = factorise_each(("O" if tag == "_" else tag for tag in tags), len(tags))
    first = np.array([*(token for token, _ in begins), len(tokens)], dtype=np.int64)
    sentences = [list(words[i:j]) for i, j in pairwise(first.tolist())]
    documents = np.array([own for _, own in begins], dtype=np.int32) if document >= 0 else None
    text = Text(source.name, first, np.array(rows, dtype=np.int32), documents, sentences=sentences)
    notes: list[str] = [Recognised(f"{source.name}: HIPE, tags in column {names[place]!r}")]
    if unmarked:
        notes[0] += f", {unmarked} tokens without one (_), taken to be outside"
    if short:
        what = f"{len(short)} rows lack cells, which are taken as _; the first is line {short[0]}"
        notes.append(f"{source.name}: {what}")
    tagged = Tagged(text, codes, tuple(values), notes=tuple(notes))
    return tagged.as_labels() if opened.task == "labels" else tagged


# --- spaCy documents, without importing spaCy: any objects with tokens and entities

_UNPACKED_PIECE = 1 << 20  # bytes
_BYTES_PER_TOKEN = 128  # of an unpacked document, with few attributes or with many


def spans_from_docs(name: str, docs: Sequence[Any]) -> Spans:
    """Return the entities of every document as token spans; span groups are not read."""
    texts, sentences = [], []
    for number, doc in enumerate(docs, start=1):
        try:
            texts.append([str(token.text) for token in doc])
            sentences.append([(ent.start, ent.end, ent.label_) for ent in doc.ents])
        except (AttributeError, TypeError) as error:
            problem = f"{name}: document {number} is none of spaCy ({error})"
            expected = "expected tokens with text, and ents with start, end and label_"
            raise InputError(f"{problem}; {expected}") from None
    held = (getattr(doc, "spans", None) or {} for doc in docs)
    named = dict.fromkeys(str(name) for own in held for name in own if len(own[name]))
    groups = some_of(list(named), 4)
    if groups and not any(sentences):
        problem = f"no document has entities (doc.ents), but there are span groups ({groups})"
        expected = "expected entities, or the spans of a group as lists of (start, end, label)"
        raise InputError(f"{name}: {problem}; {expected}")
    spans = spans_from_sets(name, sentences, texts)
    if groups:
        note = f"{name}: entities of doc.ents; span groups ({groups}) are not read"
        return replace(spans, notes=(*spans.notes, note))
    return spans


def read_docbin(opened: Input) -> Spans:
    """Read a ``.spacy`` file with spaCy, after checking its unpacked size."""
    source = opened.source
    unpacking, rest, size = zlib.decompressobj(), source.data, 0
    try:
        while rest:
            size += len(unpacking.decompress(rest, _UNPACKED_PIECE))
            source.refuse_unpacking(size)
            rest = unpacking.unconsumed_tail
    except zlib.error:
        pass  # spaCy reports what is wrong
    try:
        import spacy
        from spacy.tokens import DocBin
    except ImportError:
        expected = "expected `pip install spacy`, or the documents as JSON lines"
        raise source.error(f"is a file of spaCy, which is not installed; {expected}") from None
    try:
        packed = DocBin().from_bytes(source.data)
        source.refuse_unpacking(_BYTES_PER_TOKEN * sum(map(len, packed.tokens)))
        docs = list(packed.get_docs(spacy.blank("xx").vocab))
    except InputError:
        raise
    except Exception as error:  # spaCy raises many kinds of errors
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"spaCy cannot read it: {reason}; expected a DocBin") from None
    if not docs:
        raise source.error("holds no documents; expected at least one")
    return spans_from_docs(source.name, docs)


# --- Recognition of the formats of tools


def tool_of_file(
    source: Source, *, graded: bool = False, score_name: str | None = None
) -> tuple[str, str] | None:
    """Return the tool format of a file and why, or None."""
    if source.kind == "folder":
        is_brat = is_brat_folder(source.path or source.name)
        return ("brat", "it is a folder of .ann files") if is_brat else None
    if source.kind == "docbin":
        return "docbin", "its name ends in .spacy, and it is packed as spaCy does"
    log = tool_of(source, graded=graded, score_name=score_name)
    if log is not None:
        return "log", log[1]
    if source.kind == "parquet":
        from probative.reading.database import list_columns

        try:
            columns = list_columns(source)
        except InputError:  # the reader of tables reports it
            return None
        reason = why_columns(columns)
        return None if reason is None else ("rows", reason)
    record = source.first_object
    reason = None if record is None else is_row(record)
    if reason is not None:
        return "rows", reason
    if record is not None and isinstance(record.get("accept"), list) and "options" in record:
        return "choices", "its first object has options and what was accepted of them"
    if source.data.lstrip().startswith(b"TOKEN\t" + _DEFAULT_COLUMN.encode()):
        return "hipe", "its first line names the columns TOKEN, NE-COARSE-LIT and others"
    keys = (b'"annotations"', b'"annotation_id"', b'"labels"', b'"tokens"', b'"words"')
    listed = source.opening == b"[" and any(key in source.data for key in keys)
    document = whole_document(source) if listed else None
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return None
    reason = _why_label_studio(document[0])
    if reason is not None:
        return "labelstudio", reason
    reason = is_row(document[0])
    return None if reason is None else ("rows", f"in its first object, {reason}")


# --- Readers


def read_rows(opened: Input) -> Tagged | Labels:
    """Read rows of tokens and tags."""
    rows = rows_of_file(opened.source, opened.options.label_names)
    return side_of_rows(rows, opened.options, opened.task)


# --- Gold and systems in one file: columns, predictions, several logs


def log_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read the logs of all systems as gold, which needs no others beside it."""
    if gold is not None or columns:
        raise InputError("gold_column, columns: a log has no columns; expected them left out")
    return read_samples(opened), [], []


def row_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read columns of tags."""
    rows = rows_of_file(opened.source, opened.options.label_names)
    return pair_of_rows(rows, gold, columns, opened.task)


def hipe_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read columns of tags, all of which must be named."""
    if gold is None or not columns:
        expected = "expected a second file, or two columns (gold_column=, columns=)"
        raise opened.source.error(f"holds one side; {expected}")
    options = (replace(opened.options, tag_column=column) for column in (gold, *columns))
    answer, *systems = (read_hipe(replace(opened, options=own)) for own in options)
    return answer, systems, [str(column) for column in columns]
