"""Read logs of language-model evaluations, written by several tools or as plain JSON lines."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import math
import struct
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError, Recognised
from probative.files import member
from probative.reading.annotations import Records, Side
from probative.reading.database import connected, folder_of, literal_path, lock
from probative.reading.records import records_from_objects
from probative.reading.source import (
    Source,
    are_texts,
    as_json,
    load,
    quoted,
    refuse_others,
    some_of,
    where_they_differ,
)

if TYPE_CHECKING:
    from probative.reading.formats import Input, Options


# --- Readers of each tool: one record per sample, system and repetition

_IDS = ("id", "sample_id", "sample")
_EPOCHS = ("epoch", "repeat")
_MODELS = ("model", "model_id", "system")
# a record with gold and prediction is compared here, even if it also has a verdict
_GOLD = ("gold", "label", "y_true", "target", "answer")
_PREDICTED = ("pred", "prediction", "predicted", "y_pred")
# keys in the documents of Inspect, promptfoo and DeepEval
_DOCUMENT_KEYS = ((b'"eval"', b'"status"'), (b'"results"', b'"testIdx"'), (b'"testCases"',))
# prefix of `content` if it is the hash of a whole document, not of the question alone
_DOCUMENT_PREFIX = "document "
_ZSTANDARD = 93  # compression method in zip files
# keys of lm-evaluation-harness that are no metrics; older versions do not list the metrics
_NO_METRICS = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"})


class _LogRecord(NamedTuple):
    """One answer in a log."""

    sample: str  # the id of the sample
    scores: dict[str, Any]  # scores by name; counts of findings are a dictionary with tp, fp and fn
    system: str | None = None  # name of the system, if the log has it
    repeat: int | None = 0  # the repetition, from 0; None if only the order of the records gives it
    variant: str = ""  # how the answer was extracted (a filter), if there are several ways
    content: str = ""  # hash of the question or document, because ids may repeat
    text: str = ""  # question, expected answer and given answer, if the log has them
    target: str = ""
    said: str = ""
    expected: Any = None  # what a test of promptfoo expects, among its variables
    error: bool = False  # True if there is no answer because of an error
    line: int | None = None  # line number in the file


def tool_of(
    source: Source, *, graded: bool = False, score_name: str | None = None
) -> tuple[str, str] | None:
    """Return the tool that wrote a file and the reason; None if it is no log."""
    if source.kind == "zip":
        return "Inspect", "it is a zip archive, as the .eval files of Inspect are"
    first = source.first_object
    if first is not None:
        # if graded scores are wanted, records with an id and a score are a log
        wanted = score_name or "score"
        if graded and wanted in first and any(key in first for key in _IDS):
            return "plain JSON lines", f"its first record has an id and {wanted!r}"
        return _tool_of_line(first) or _tool_of_document(first)
    # parsing a whole document is slow, so look for the keys first
    is_object = source.opening == b"{"
    known = is_object and any(all(k in source.data for k in keys) for keys in _DOCUMENT_KEYS)
    document = whole_document(source) if known else None
    return _tool_of_document(document) if isinstance(document, dict) else None


def whole_document(source: Source) -> Any:
    """Return the content as one JSON value; None if it is no JSON and not named ``.json``."""
    try:
        return source.document
    except InputError:
        if source.name.endswith(".json"):
            raise
        return None


def _tool_of_document(document: dict[str, Any]) -> tuple[str, str] | None:
    if isinstance(document.get("eval"), dict) and "status" in document:
        return "Inspect", "it has the keys 'eval' and 'status', as logs of Inspect have"
    if isinstance(_get(document, "results", "results"), list):
        return "promptfoo", "it has 'results' within 'results', as those of promptfoo have"
    if isinstance(document.get("testCases"), list):
        return "DeepEval", "it has the key 'testCases', as those of DeepEval have"
    return None


def _tool_of_line(record: dict[str, Any]) -> tuple[str, str] | None:
    if "doc_id" in record and ("resps" in record or "filtered_resps" in record):
        why = "its first record has 'doc_id' and 'resps', as those of lm-evaluation-harness"
        return "lm-evaluation-harness", why
    if "testIdx" in record and "success" in record:
        return "promptfoo", "its first record has 'testIdx' and 'success', as promptfoo's have"
    if "sample_id" in record and _get(record, "evaluation", "score") is not None:
        why = "its first record has 'sample_id' and an 'evaluation' with a score"
        return "Every Eval Ever", why
    compared = any(key in record for key in _PREDICTED) and any(key in record for key in _GOLD)
    if compared or not any(key in record for key in _IDS):
        return None
    graded = "score" in record and any(key in record for key in _MODELS)
    counted = "'tp', 'fp' and 'fn'" if record.keys() >= set(_COUNTS) else None
    what = "'score'" if graded else "'correct'" if "correct" in record else counted
    why = f"its first record has an id and {what}"
    return None if what is None else ("plain JSON lines", why)


def _records_of(source: Source, options: Options) -> tuple[str, str, list[_LogRecord]]:
    """Return the tool that wrote a log, the reason, and the records."""
    graded, score_name = options.graded, options.score_name
    known = tool_of(source, graded=graded, score_name=score_name)
    if known is None:
        scores = f"{score_name or 'score'!r}" if graded else "'correct' (or 'tp', 'fp' and 'fn')"
        raise source.error(
            "is no log of an evaluation; expected one of lm-evaluation-harness, Inspect, promptfoo "
            f"or DeepEval, or JSON lines with 'id' and {scores}"
        )
    readers: dict[str, Callable[[Source], Iterable[_LogRecord]]] = {
        "lm-evaluation-harness": _lm_eval,
        "Inspect": _inspect,
        "promptfoo": partial(_promptfoo, graded=graded),
        "DeepEval": partial(_deepeval, graded=graded),
        "Every Eval Ever": partial(_every_eval_ever, graded=graded),
        "plain JSON lines": partial(_plain_lines, score_name=score_name if graded else None),
    }
    return *known, list(readers[known[0]](source))


def _identity(source: Source, value: Any, what: str, line: int | None = None) -> str:
    """Return an id as text; refuse anything but text and whole numbers."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise source.error(f"{what} is {as_json(value)}; expected text or a whole number", line)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: Any) -> str:
    """Return a value as text, with unpaired surrogates replaced."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    return text.encode("utf-8", "replace").decode()


def _with_counts(scores: dict[str, Any]) -> dict[str, Any]:
    """Return the scores with tp, fp and fn combined into one entry "counts"."""
    if not scores.keys() >= set(_COUNTS):
        return scores
    rest = {name: value for name, value in scores.items() if name not in _COUNTS}
    return {**rest, "counts": {name: scores[name] for name in _COUNTS}}


def _lm_eval(source: Source) -> Iterator[_LogRecord]:
    for number, record in source.json_lines():
        if "doc_id" not in record:
            raise source.error("the record has no 'doc_id'; expected one in every line", number)
        names = record.get("metrics")
        if not are_texts(names):
            numbers = [k for k, value in record.items() if isinstance(value, bool | int | float)]
            names = [key for key in numbers if key not in _NO_METRICS]
        document, question = record.get("doc"), _get(record, "doc", "question")
        content = record.get("doc_hash")
        if not isinstance(content, str):
            content = _digest(document) if document else ""
        yield _LogRecord(
            _identity(source, record["doc_id"], "'doc_id'", number),
            _with_counts({name: record.get(name) for name in names}),
            variant=str(record.get("filter", "")),
            content=_DOCUMENT_PREFIX + content if content else "",
            text=_text(question if isinstance(question, str) else document or ""),
            target=_text(record.get("target", "")),
            said=_text(_unwrapped(record.get("filtered_resps"))),
            line=number,
        )


def _inspect(source: Source) -> Iterator[_LogRecord]:
    header, samples = _inspect_parts(source)
    status = header.get("status")
    if status != "success":
        raise source.error(f"the run has the status {as_json(status)}; expected 'success'")
    system = _get(header, "eval", "model")
    for number, sample in enumerate(samples, start=1):
        source.expect(dict, f"sample {number}", sample)
        scores: dict[str, Any] = {}
        given = source.expect(dict, f"scores of sample {number}", sample.get("scores") or {})
        for name, score in given.items():
            value = score.get("value") if isinstance(score, dict) else score
            if not isinstance(value, dict) or value.keys() >= set(_COUNTS):
                scores[name] = value
            else:
                scores |= {f"{name}.{key}": each for key, each in value.items()}
        said = _get(sample, "output", "completion")
        if said is None and given:  # the answer that the first scorer extracted
            said = _get(next(iter(given.values())), "answer")
        asked = sample.get("input")
        epoch = sample.get("epoch", 1)
        yield _LogRecord(
            _identity(source, sample.get("id"), f"the id of sample {number}"),
            scores,
            system=system if isinstance(system, str) else None,
            repeat=epoch - 1 if isinstance(epoch, int) else 0,
            content=_digest(asked) if isinstance(asked, str) else "",
            text=_text(asked),
            target=_text(_unwrapped(sample.get("target", ""))),
            said=_text(said or ""),
            error=sample.get("error") is not None,
        )


def _unwrapped(value: Any) -> Any:
    """Return the only element of a list; any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value or ""


def _inspect_parts(source: Source) -> tuple[dict[str, Any], list[Any]]:
    """Return the header of a log and its samples."""
    archive = None
    if source.kind == "zip":
        try:
            archive = zipfile.ZipFile(io.BytesIO(source.data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as e:
            what = f"is a damaged zip archive: {str(e).lower()}"
            raise source.error(f"{what}; expected a log of Inspect") from None
    # Inspect recognises its logs by their suffix
    known = Path(source.name).suffix in (".eval", ".json")
    if known and importlib.util.find_spec("inspect_ai") is not None:
        if archive is not None:
            source.refuse_unpacking(sum(info.file_size for info in archive.infolist()))
        from inspect_ai.log import read_eval_log

        try:  # parse the bytes that were read with Inspect itself, from a temporary copy
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / f"log{Path(source.name).suffix}"
                place.write_bytes(source.data)
                log = read_eval_log(str(place))
            document = log.model_dump(mode="json", exclude={"samples": {"__all__": {"events"}}})
        except Exception as error:  # Inspect raises many kinds of errors
            problem = f"Inspect cannot read it: {' '.join(str(error).split())[:200]}"
            raise source.error(f"{problem}; expected a log of Inspect") from None
        return document, document.get("samples") or []
    if archive is None:
        document = source.document
        if document.get("samples") is None:  # a log may be written without its samples
            raise source.error("the log has no samples; expected one that was written with them")
        return document, source.expect(list, "'samples' of the log", document["samples"])
    header = source.expect(dict, "header.json", _member(source, archive, "header.json"))
    name = "summaries.json"  # which hold all scores
    return header, source.expect(list, name, _member(source, archive, name))


def _member(source: Source, archive: zipfile.ZipFile, name: str) -> Any:
    if name not in archive.namelist():
        what = f"the archive has no {name}"
        raise source.error(f"{what}; expected a finished log of Inspect (.eval)")
    info = archive.getinfo(name)
    source.refuse_unpacking(info.file_size)
    try:
        if info.compress_type == _ZSTANDARD:
            lengths = struct.unpack_from("<HH", source.data, info.header_offset + 26)
            begin = info.header_offset + 30 + sum(lengths)
            packed = source.data[begin : begin + info.compress_size]
            return _unpack_zstandard(packed, info.file_size)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("it is packed in another way than Inspect does")
        return json.loads(member(archive, name))
    except Exception as error:  # zipfile, zlib, DuckDB and json raise many kinds
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"{name} in it is damaged: {reason}; expected JSON") from None


def _unpack_zstandard(data: bytes, size: int) -> Any:
    """Read JSON in Zstandard with DuckDB (Python has it from 3.14 on) within ``size`` bytes."""
    with connected(f"{size // 2**18 + 500}MB") as database:
        place = folder_of(database) / "member.json.zst"
        place.write_bytes(data)
        database.execute("SET threads = 1")
        lock(database, [place])
        rows = database.execute(
            f"SELECT json FROM read_json_objects({literal_path(place)}, compression = 'zstd', "
            f"format = 'unstructured', maximum_object_size = {size + 1})"
        ).fetchall()
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} values instead of one")
    return json.loads(rows[0][0])


def _promptfoo(source: Source, *, graded: bool) -> Iterator[_LogRecord]:
    """Read the results of a file, which is one document or has one result per line."""
    rows: Any
    if "testIdx" in (source.first_object or {}):
        rows = list(source.json_lines())
    else:
        results = _get(source.document, "results", "results")
        if not isinstance(results, list) or not all(isinstance(row, dict) for row in results):
            raise source.error("'results' has no list 'results' of objects; expected one")
        rows = [(None, row) for row in results]
    prompts = {json.dumps(_get(row, "prompt", "label")) for _, row in rows}
    for line, row in rows:
        source.expect(bool, "'success' of a result", row.get("success"), line)
        provider, prompt = row.get("provider"), _get(row, "prompt", "label")
        system = _get(row, "provider", "label") or _get(row, "provider", "id") or provider
        name = system if isinstance(system, str) else "system"
        if len(prompts) > 1:
            name = f"{name}, {prompt}"
        named = row.get("namedScores")
        usual = {"score": row.get("score")} if graded else {"pass": row["success"]}
        scores = {**usual, **(named if isinstance(named, dict) else {})}
        failed = row.get("failureReason") == 2
        if failed:
            scores = dict.fromkeys(scores)
        own = row.get("vars")
        variables = _get(row, "testCase", "vars") if own is None else own
        yield _LogRecord(
            _text(json.dumps(variables, sort_keys=True, ensure_ascii=False, default=repr)),
            _with_counts(scores),
            system=name,
            repeat=None,
            text=_text(_get(row, "prompt", "raw") or variables),
            said=_text(_get(row, "response", "output") or ""),
            expected=_get(variables, "expected"),
            error=failed,
            line=line,
        )


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _deepeval(source: Source, *, graded: bool) -> Iterator[_LogRecord]:
    document = source.document
    others = document.get("conversationalTestCases")
    cases = [*document["testCases"], *(others if isinstance(others, list) else [])]
    for number, case in enumerate(cases, start=1):
        source.expect(dict, f"test case {number}", case)
        scores: dict[str, Any] = {} if graded else {"pass": case.get("success")}
        metrics = case.get("metricsData")
        for metric in metrics if isinstance(metrics, list) else []:
            if isinstance(metric, dict) and isinstance(metric.get("name"), str):
                scores[metric["name"]] = metric.get("score" if graded else "success")
        asked = case.get("input")
        yield _LogRecord(
            _identity(source, case.get("name"), f"the name of test case {number}"),
            scores,
            content=_digest(asked) if asked is not None else "",
            text=_text(asked),
            target=_text(case.get("expectedOutput") or ""),
            said=_text(case.get("actualOutput") or ""),
        )


def _plain_lines(source: Source, *, score_name: str | None) -> Iterator[_LogRecord]:
    known = ("correct", "score", *_COUNTS) if score_name is None else ("score", score_name)
    for number, record in source.json_lines():
        key = next((key for key in _IDS if key in record), None)
        if key is None:
            raise source.error(f"the record has no id; expected one of {', '.join(_IDS)}", number)
        epoch = next((record[name] for name in _EPOCHS if name in record), 1)
        if not isinstance(epoch, int) or isinstance(epoch, bool):
            raise source.error(f"epoch {as_json(epoch)}; expected a whole number", number)
        scores = {name: record[name] for name in known if name in record}
        several = record.get("scores")
        scores |= several if isinstance(several, dict) else {}
        asked = record.get("input", record.get("question", ""))
        yield _LogRecord(
            _identity(source, record[key], repr(key), number),
            _with_counts(scores),
            next((record[key] for key in _MODELS if isinstance(record.get(key), str)), None),
            repeat=epoch - 1,
            content=_digest(asked) if asked else "",
            text=_text(asked),
            line=number,
        )


def _every_eval_ever(source: Source, *, graded: bool) -> Iterator[_LogRecord]:
    """Read instances in the layout of Every Eval Ever (instance_level_eval, version 0.2)."""
    for number, record in source.json_lines():
        if "evaluation" not in record:
            raise source.error("the record has no 'evaluation'; expected one in every line", number)
        evaluation = source.expect(dict, "'evaluation'", record["evaluation"], number)
        asked = _get(record, "input", "raw")
        name, key = ("score", "score") if graded else ("correct", "is_correct")
        content = record.get("sample_hash") or (_digest(asked) if asked else "")
        model = record.get("model_id")
        yield _LogRecord(
            _identity(source, record.get("sample_id"), "'sample_id'", number),
            {name: evaluation.get(key)},
            model if isinstance(model, str) else None,
            repeat=None,
            variant=str(record.get("evaluation_name", "")),
            content=content,
            text=_text(asked or ""),
            target=_text(_unwrapped(_get(record, "input", "reference"))),
            said=_text(_unwrapped(_get(record, "output", "raw"))),
            error=record.get("error") is not None,
            line=number,
        )


_COUNTS = ("tp", "fp", "fn")
_VERDICT = "pass"  # the tool's verdict from all its scores
# words of graders for numbers; N is a missing answer
_WORDS = dict.fromkeys(("C", "correct", "true", "yes", "pass"), 1.0) | {"P": 0.5}
_WORDS |= dict.fromkeys(("I", "N", "incorrect", "false", "no", "fail"), 0.0)
_LARGEST_COUNT = 2**31 - 1
_MOST_EXAMPLES = 3  # listed in a message


@dataclass(frozen=True, eq=False)
class Log:
    """The graded answers of one system."""

    name: str
    score: str  # name of the score that was read
    records: tuple[_LogRecord, ...] = field(repr=False)  # the rows, each with its repetition
    # correct, wrong and missed findings of every row; a right answer has tp = 1, a wrong one fn = 1
    tp: NDArray[np.int64] = field(repr=False)
    fp: NDArray[np.int64] = field(repr=False)
    fn: NDArray[np.int64] = field(repr=False)
    counted: bool  # True if rows count findings, False if they are right or wrong answers
    notes: tuple[str, ...] = ()
    values: NDArray[np.float64] | None = field(default=None, repr=False)  # graded; NaN: missing

    def __len__(self) -> int:
        return len(self.records)

    @property
    def system(self) -> str | None:
        """Return the name of the system in the log, or None."""
        return self.records[0].system

    @cached_property
    def samples(self) -> tuple[str, ...]:
        """Return the id of every sample."""
        return tuple(record.sample for record in self.records)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """Return sample and repetition of every row."""
        return [(record.sample, record.repeat or 0) for record in self.records]

    def in_order(self, keys: Sequence[tuple[str, int]]) -> Log:
        """Return the log with its rows in the order of these keys."""
        place = {key: i for i, key in enumerate(self.keys)}
        order = [place[key] for key in keys]
        arrays = {name: getattr(self, name) for name in ("tp", "fp", "fn", "values")}
        moved: dict[str, Any] = {n: own[order] for n, own in arrays.items() if own is not None}
        return replace(self, records=tuple(self.records[i] for i in order), **moved)


@dataclass(frozen=True, eq=False)
class Samples(Side):
    """The logs of one file, one per system."""

    task = "samples"
    name: str
    logs: tuple[Log, ...]  # the log of every system


def read_samples(opened: Input) -> Samples:
    """Read the logs of one file, one per system; a score of at least the threshold is right."""
    source, options = opened.source, opened.options
    score_name = options.score_name
    tool, reason, records = _records_of(source, options)
    if not records:
        raise source.error(f"the log of {tool} holds no samples; expected at least one")
    variants = dict.fromkeys(record.variant for record in records)
    names: dict[str, tuple[str, str]] = {}  # of scores, with variant and key in the records
    for record in records:
        for each in record.scores:
            name = f"{each},{record.variant}" if len(variants) > 1 else each
            names.setdefault(name, (record.variant, each))
    if score_name is not None and len(variants) == 1 and score_name not in names:
        # its name in logs with several variants
        score_name = score_name.removesuffix(f",{next(iter(variants))}")
    chosen = _choose(source, list(names), score_name)
    variant, key = names[chosen]
    systems = _by_system(records, variant)
    others = [name for name in names if name != chosen]
    also = f"; there are also {quoted(others)} (score_name=)" if others else ""
    note = Recognised(f"{source.name}: log of {tool}, because {reason}; score {chosen!r}{also}")
    logs = tuple(_log(source, own, chosen, key, options, note) for own in systems.values())
    notes = tuple(dict.fromkeys(note for log in logs for note in log.notes))
    return Samples(source.name, logs, notes=notes)


def _by_system(records: Sequence[_LogRecord], variant: str) -> dict[str | None, list[_LogRecord]]:
    """Return the records of one variant by their systems."""
    systems: dict[str | None, list[_LogRecord]] = {}
    for record in records:
        if record.variant == variant:
            systems.setdefault(record.system, []).append(record)
    return systems


def _choose(source: Source, names: list[str], wanted: str | None) -> str:
    if not names:
        raise source.error("no sample has a score; expected at least one")
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    if wanted is not None:
        fitting = [name for name in names if wanted in (name, name.partition(",")[0])]
        if wanted in names or len(fitting) == 1:
            return wanted if wanted in names else fitting[0]
        problem = "several scores are called" if fitting else "there is no score"
        raise source.error(f"{problem} {shown(wanted)}; expected one of {listed}")
    if len(names) == 1:
        return names[0]
    if _VERDICT in names and "counts" not in names:
        return _VERDICT
    what = f"which score? There are {listed}"
    raise source.error(f"{what}; expected one of them to be named (score_name=)")


def _log(
    source: Source, records: list[_LogRecord], name: str, key: str, options: Options, note: str
) -> Log:
    """Return the log of one system, with the score that its records have under a key."""
    records = _numbered(source, records)
    values = [record.scores.get(key) for record in records]
    numbers, counted, notes = None, False, [note]
    table: list[Sequence[int]] = [(0, 0, 0)] * len(records)
    if options.graded:
        numbers = np.array(_numbers(source, records, values, name))
    else:
        pairs = zip(records, values, strict=True)
        without = [record for record, value in pairs if value is None or value != value]  # NaN
        if without:
            failed = sum(record.error for record in without)
            why = f", {failed} after an error" if failed else ""
            problem = f"{len(without)} of {len(records)} samples have no score {name!r}{why}"
            some = some_of([record.sample for record in without])
            expected = "expected one for every sample"
            raise source.error(f"{problem} ({some}); {expected}", without[0].line)
        counted = any(isinstance(value, dict) for value in values)
        if counted and options.threshold is not None:
            raise InputError(f"threshold: score {name!r} is counts; leave it out")
        if counted:
            table = [_counts(source, r, value) for r, value in zip(records, values, strict=True)]
        else:
            scores = _numbers(source, records, values, name)
            between = [i for i, score in enumerate(scores) if score not in (0.0, 1.0)]
            if between and options.threshold is None:
                samples = [(shown(values[i]), records[i].sample[:40]) for i in between]
                some = ", ".join(f"{score} for {own!r}" for score, own in samples[:_MOST_EXAMPLES])
                problem = f"{len(between)} of {len(scores)} samples are neither right nor wrong by"
                ways = "from where on one counts as right (threshold=), or the mean of the scores"
                expected = f"expected 0 or 1, {ways} (metric='mean')"
                line = records[between[0]].line
                raise source.error(f"{problem} {name!r} ({some}); {expected}", line)
            least = 1.0 if options.threshold is None else options.threshold
            table = [(int(score >= least), 0, int(score < least)) for score in scores]
    tp, fp, fn = np.array(table, dtype=np.int64).T
    unanswered = sum(value == "N" for value in values)
    if unanswered:
        as_what = "0" if options.graded else "wrong"
        words = f"{unanswered} samples without an answer (N) count as {as_what}"
        notes.append(f"{source.name}: {words}")
    return Log(source.name, name, tuple(records), tp, fp, fn, counted, tuple(notes), numbers)


def _numbered(source: Source, records: Sequence[_LogRecord]) -> list[_LogRecord]:
    """Return records with their repetition, by its number or by their order; refuse duplicates."""
    times: Counter[str] = Counter()
    found = []
    for record in records:
        repeat = times[record.sample] if record.repeat is None else record.repeat
        found.append(record if record.repeat == repeat else record._replace(repeat=repeat))
        times[record.sample] += 1
    keys = Counter((record.sample, record.repeat) for record in found)
    doubled = [sample for (sample, _), number in keys.items() if number > 1]
    if doubled:
        problem = f"{len(doubled)} of {len(keys)} samples occur more than once ({some_of(doubled)})"
        raise source.error(f"{problem}; expected each once, or numbered repetitions")
    return found


def _numbers(
    source: Source, records: list[_LogRecord], values: list[Any], name: str
) -> list[float]:
    """Return scores as numbers; NaN for a missing one."""
    numbers = []
    for record, value in zip(records, values, strict=True):
        number = _WORDS.get(value) if isinstance(value, str) else value
        number = math.nan if value is None else number
        if not isinstance(number, int | float) or math.isinf(number):
            problem = f"sample {shown(record.sample)} has {shown(value)} for score {name!r}"
            kinds = "right or wrong (true, false, 1, 0, C, I), a number or counts (tp, fp, fn)"
            raise source.error(f"{problem}; expected {kinds}", record.line)
        numbers.append(float(number))
    return numbers


def _counts(source: Source, record: _LogRecord, value: Any) -> list[int]:
    counts = [_get(value, key) for key in _COUNTS]
    numbers = all(isinstance(n, int | float) and not isinstance(n, bool) for n in counts)
    if numbers and all(0 <= n <= _LARGEST_COUNT and n == int(n) for n in counts):
        return list(map(int, counts))
    problem = f"sample {shown(record.sample)} has {shown(value)}"
    raise source.error(f"{problem}; expected whole numbers tp, fp and fn >= 0", record.line)


def _shown_keys(log: Log) -> list[str]:
    """Return sample and repetition of every row for messages."""
    return [f"{name} (repetition {repeat + 1})" if repeat else name for name, repeat in log.keys]


def join_logs(logs: Sequence[Log]) -> list[Log]:
    """Return the logs with rows in the order of the first; refuse logs of other samples."""
    first, *others = logs
    joined = [first]
    for other in others:
        refuse_others("samples", first.name, _shown_keys(first), other.name, _shown_keys(other))
        own = other.in_order(first.keys)
        theirs, mine = own.records[0].variant, first.records[0].variant
        if mine and theirs and mine != theirs:
            problem = f"has the filter {shown(theirs)}, but {first.name} {shown(mine)}"
            remedy = "expected the same filter (score_name=, where a log has several)"
            raise InputError(f"{problem}; {remedy}", own.name)
        pairs = zip(first.records, own.records, strict=True)
        different = [(a, b) for a, b in pairs if _ask_otherwise(a.content, b.content)]
        if different:
            expected, given = different[0]
            here, there = where_they_differ(given.text, expected.text)
            asked = f"; the first asks {here}, but {there} there" if here != there else ""
            which = f"those of the same id in {first.name}"
            problem = f"{len(different)} of {len(first)} samples ask something else than {which}"
            some = some_of([record.sample for record, _ in different])
            raise InputError(f"{problem} ({some}){asked}; expected the same test set", own.name)
        if first.counted != own.counted:
            kinds = "right or wrong answers", "counts of findings"
            what = f"{kinds[own.counted]}, but {first.name} {kinds[first.counted]}"
            raise InputError(f"holds {what}; expected the same score", own.name)
        joined.append(own)
    return joined


def _ask_otherwise(one: str, other: str) -> bool:
    """Return True if two hashes, both of questions or both of documents, differ."""
    alike = one.startswith(_DOCUMENT_PREFIX) == other.startswith(_DOCUMENT_PREFIX)
    return bool(one and other and alike and one != other)


# --- Records in logs: targets that are JSON objects, and what the systems returned

_WITH_RECORDS = ("lm-evaluation-harness", "Inspect", "promptfoo", "DeepEval")


class RecordLog(NamedTuple):
    """Gold of a log, and the outputs of its systems by name, one for each repetition."""

    gold: Records
    systems: dict[str | None, list[Records]]


_OF_VERDICT = {"address", "gold_raw", "pred_raw", "verdict"}


def are_verdicts(path: Any) -> bool:
    """Return True if a folder holds verdicts of omni-extract-bench: JSON lines per document."""
    if not isinstance(path, (str, Path)) or str(path) == "-" or not Path(path).is_dir():
        return False
    first = next(iter(sorted(Path(path).glob("*.jsonl"))), None)
    record = None if first is None else load(first).first_object
    return record is not None and record.keys() >= _OF_VERDICT


def read_verdicts(folder: Path, reading: Options) -> RecordLog:
    """Read gold and outputs from verdicts of omni-extract-bench, which hold both at each place."""
    sides: dict[str, dict[str, Any]] = {"gold_raw": {}, "pred_raw": {}}
    for file in sorted(folder.glob("*.jsonl")):
        source = load(file, encoding=reading.encoding)
        values: dict[str, list[tuple[Any, Any]]] = {name: [] for name in sides}
        for number, line in source.json_lines():
            if not line.keys() >= _OF_VERDICT:
                raise source.error("is no verdict; expected 'address' and 'gold_raw'", number)
            for name in sides:
                values[name].append((line["address"], line[name]))
        for name, own in sides.items():
            own[file.stem] = _at_addresses(values[name])
    gold, said = (records_from_objects(own, str(folder), reading) for own in sides.values())
    called = folder.resolve().parent.name if folder.name == "verdicts" else folder.name
    note = f"{folder}: verdicts of omni-extract-bench, because they have 'address' and 'gold_raw'"
    return RecordLog(replace(gold, notes=(note,)), {called: [said]})


def _at_addresses(values: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the record with these values, each at an address of keys ("k") and places ("i")."""
    tree: dict[Any, Any] = {}
    for address, value in values:
        node = tree
        for step in address[:-1]:
            node = node.setdefault(tuple(step), {})
        if value is not None:
            node[tuple(address[-1])] = (value,)  # a leaf
    return {str(name): _without_addresses(node) for (_, name), node in tree.items()}


def _without_addresses(node: Any) -> Any:
    if isinstance(node, tuple):
        return node[0]
    parts = [(kind, name, _without_addresses(own)) for (kind, name), own in node.items()]
    if parts and parts[0][0] == "i":
        return [own for _, _, own in parts]
    return {str(name): own for _, name, own in parts}


def read_record_log(source: Source, reading: Options) -> RecordLog | None:
    """Read targets and outputs of a log as records; None if this is no log that has them."""
    known = tool_of(source)
    if known is None or known[0] not in _WITH_RECORDS:
        return None
    tool, reason, records = _records_of(source, replace(reading, graded=False))
    golds: dict[str, Any] = {}
    systems: dict[str | None, list[Records]] = {}
    for record in records:
        if record.variant == records[0].variant:
            golds.setdefault(record.sample, record.expected or record.target)
    for system, own in _by_system(records, records[0].variant if records else "").items():
        outputs: dict[int, dict[str, Any]] = {}
        for record in _numbered(source, own):
            said = None if record.error else record.said
            outputs.setdefault(record.repeat or 0, {})[record.sample] = said
        runs = [outputs[repeat] for repeat in sorted(outputs)]
        systems[system] = [records_from_objects(run, source.name, reading) for run in runs]
    gold = records_from_objects(golds, source.name, replace(reading, predicted=False))
    note = Recognised(f"{source.name}: log of {tool}, because {reason}; gold is its targets")
    return RecordLog(replace(gold, notes=(note,)), systems)
