"""What the tools that evaluate language models write: a record per sample, system and repetition.

lm-evaluation-harness (``samples_*.jsonl``), Inspect (``.eval`` and ``.json``), promptfoo (``.json``
and ``.jsonl``), DeepEval (``test_run_*.json``), and plain JSON lines for everybody else.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from probative.reading.source import Source

__all__ = ["DOCUMENT", "Record", "records_of", "tool_of", "whole_document"]

_COUNTS = ("tp", "fp", "fn")
_IDS = ("id", "sample_id", "sample")
_EPOCHS = ("epoch", "repeat")
# an answer and a prediction in one record are for us to compare, whatever else it says
_GOLD = ("gold", "label", "y_true", "target", "answer")
_PREDICTED = ("pred", "prediction", "predicted", "y_pred")
# what the documents of Inspect, promptfoo and DeepEval hold
_MARKS = ((b'"eval"', b'"status"'), (b'"results"', b'"testIdx"'), (b'"testCases"',))
# what the content of a sample begins with where it is the hash of more than the text that is asked
DOCUMENT = "document "
_ZSTANDARD = 93  # the number of this compression in zip files
# what lm-evaluation-harness writes beside the metrics, which older versions do not list
_NO_METRICS = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"})


class Record(NamedTuple):
    """What a log says of one answer.

    Attributes
    ----------
    sample
        The id of the sample.
    scores
        The scores by their names; counts of findings are a dictionary of tp, fp and fn.
    system
        The system, where the log names it.
    repeat
        Which repetition it is, from 0; None where these are told by their order alone.
    variant
        How the answer was extracted, where it was in several ways.
    content
        What tells the sample from another one of the same id.
    text, target, said
        What was asked, what would have been right and what was answered, where the log tells it.
    error
        Whether there is no answer because something went wrong.
    line
        Where it stands in the file.
    """

    sample: str
    scores: dict[str, Any]
    system: str | None = None
    repeat: int | None = 0
    variant: str = ""
    content: str = ""
    text: str = ""
    target: str = ""
    said: str = ""
    error: bool = False
    line: int | None = None


def tool_of(source: Source) -> tuple[str, str] | None:
    """The tool that wrote a file and what shows that; None if this is no log."""
    if source.is_zip:
        return "Inspect", "it is a zip archive, as the .eval files of Inspect are"
    data = source.data.lstrip()
    if data[:1] != b"{":
        return None
    first = _object(data.split(b"\n", 1)[0])
    if first is not None:
        return _tool_of_line(first) or _tool_of_document(first)
    # a document of several lines is parsed whole, so only if it has the keys
    if not any(all(key in data for key in keys) for keys in _MARKS):
        return None
    document = whole_document(source)
    return _tool_of_document(document) if isinstance(document, dict) else None


def whole_document(source: Source) -> Any:
    """The content as one JSON value; None if it is none, unless the file's name says that it is."""
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
    judged = record.keys() >= set(_COUNTS) or "correct" in record
    compared = any(key in record for key in _PREDICTED) and any(key in record for key in _GOLD)
    if judged and not compared and any(key in record for key in _IDS):
        what = "'tp', 'fp' and 'fn'" if "correct" not in record else "'correct'"
        return "plain JSON lines", f"its first record has an id and {what}"
    return None


def records_of(source: Source) -> tuple[str, str, list[Record]]:
    """The tool that wrote a log, what shows that, and its records."""
    known = tool_of(source)
    if known is None:
        raise source.error(
            "is no log of an evaluation; expected one of lm-evaluation-harness, Inspect, promptfoo "
            "or DeepEval, or JSON lines with 'id' and 'correct' (or 'tp', 'fp' and 'fn')"
        )
    readers: dict[str, Callable[[Source], Iterable[Record]]] = {
        "lm-evaluation-harness": _lm_eval,
        "Inspect": _inspect,
        "promptfoo": _promptfoo,
        "DeepEval": _deepeval,
        "plain JSON lines": _plain,
    }
    tool, reason = known
    return tool, reason, list(readers[tool](source))


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _identity(source: Source, value: Any, what: str, line: int | None = None) -> str:
    """An id as text, if it is one."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise source.error(f"{what} is {_shown(value)}; expected text or a whole number", line)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:60] + "…"


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: Any) -> str:
    """Something that was asked, as text in which no half characters are left."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    return text.encode("utf-8", "replace").decode()


def _with_counts(scores: dict[str, Any]) -> dict[str, Any]:
    """The scores, with tp, fp and fn put together as one."""
    if not scores.keys() >= set(_COUNTS):
        return scores
    rest = {name: value for name, value in scores.items() if name not in _COUNTS}
    return {**rest, "counts": {name: scores[name] for name in _COUNTS}}


# --- lm-evaluation-harness --------------------------------------------------------------------


def _lm_eval(source: Source) -> Iterator[Record]:
    for number, record in source.json_lines():
        if "doc_id" not in record:
            raise source.error("the record has no 'doc_id'; expected one in every line", number)
        named = record.get("metrics")
        if isinstance(named, list) and all(isinstance(name, str) for name in named):
            names = named
        else:
            numbers = [k for k, value in record.items() if isinstance(value, bool | int | float)]
            names = [key for key in numbers if key not in _NO_METRICS]
        document = record.get("doc")
        question = document.get("question") if isinstance(document, dict) else None
        content = record.get("doc_hash")
        if not isinstance(content, str):
            content = _digest(document) if document else ""
        yield Record(
            _identity(source, record["doc_id"], "'doc_id'", number),
            _with_counts({name: record.get(name) for name in names}),
            variant=str(record.get("filter", "")),
            content=DOCUMENT + content if content else "",
            text=_text(question if isinstance(question, str) else document or ""),
            target=_text(record.get("target", "")),
            said=_text(_only(record.get("filtered_resps"))),
            line=number,
        )


# --- Inspect ----------------------------------------------------------------------------------


def _inspect(source: Source) -> Iterator[Record]:
    header, samples = _inspect_parts(source)
    status = header.get("status")
    if status != "success":
        raise source.error(f"the run has the status {_shown(status)}; expected 'success'")
    spec = header.get("eval")
    system = spec.get("model") if isinstance(spec, dict) else None
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict):
            raise source.error(f"sample {number} is {_shown(sample)}; expected an object")
        scores: dict[str, Any] = {}
        given = sample.get("scores") or {}
        if not isinstance(given, dict):
            raise source.error(
                f"sample {number} has {_shown(given)} for scores; expected an object"
            )
        for name, score in given.items():
            scores |= _inspect_score(str(name), score)
        asked = sample.get("input")
        epoch = sample.get("epoch", 1)
        yield Record(
            _identity(source, sample.get("id"), f"the id of sample {number}"),
            scores,
            system=system if isinstance(system, str) else None,
            repeat=epoch - 1 if isinstance(epoch, int) else 0,
            content=_digest(asked) if isinstance(asked, str) else "",
            text=_text(asked),
            target=_text(_only(sample.get("target", ""))),
            said=_text(_said(sample)),
            error=sample.get("error") is not None,
        )


def _said(sample: dict[str, Any]) -> Any:
    """What a model answered: all of it, or what the first scorer took for its answer."""
    completion = _get(sample, "output", "completion")
    scores = sample.get("scores")
    if completion is None and isinstance(scores, dict) and scores:
        return _get(next(iter(scores.values())), "answer") or ""
    return completion or ""


def _only(value: Any) -> Any:
    """The only one of a list; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value or ""


def _inspect_score(name: str, score: Any) -> dict[str, Any]:
    """The value of a score; a dictionary of values is several, but for counts."""
    value = score.get("value") if isinstance(score, dict) else score
    if not isinstance(value, dict):
        return {name: value}
    if value.keys() >= set(_COUNTS):
        return {name: value}
    return {f"{name}/{key}": each for key, each in value.items()}


def _inspect_parts(source: Source) -> tuple[dict[str, Any], list[Any]]:
    """The header of a log, and its samples."""
    # Inspect tells its logs by their endings
    known = Path(source.name).suffix in (".eval", ".json")
    if known and importlib.util.find_spec("inspect_ai") is not None:
        return _by_inspect(source)
    if source.is_zip:
        return _unzipped(source)
    document = source.document
    samples = document.get("samples")
    if not isinstance(samples, list):
        raise source.error("the log has no samples; expected one that was written with them")
    return document, samples


def _by_inspect(source: Source) -> tuple[dict[str, Any], list[Any]]:
    """What Inspect itself reads: what was read here, and not what the file holds by now."""
    from inspect_ai.log import read_eval_log

    if source.is_zip:
        archive = _archive(source)
        source.refuse_unpacking(sum(info.file_size for info in archive.infolist()))
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / f"log{Path(source.name).suffix}"
            place.write_bytes(source.data)
            log = read_eval_log(str(place))
        document = log.model_dump(mode="json", exclude={"samples": {"__all__": {"events"}}})
    except Exception as error:  # whatever it does not like
        reason = " ".join(str(error).split())[:200]
        raise source.error(f"Inspect cannot read it: {reason}; expected a log of Inspect") from None
    return document, document.get("samples") or []


def _unzipped(source: Source) -> tuple[dict[str, Any], list[Any]]:
    """The header and the summaries of samples, which hold all scores."""
    archive = _archive(source)
    names = archive.namelist()
    for needed in ("header.json", "summaries.json"):
        if needed not in names:
            raise source.error(
                f"the archive has no {needed}; expected a finished log of Inspect (.eval)"
            )
        source.refuse_unpacking(archive.getinfo(needed).file_size)
    header, samples = (_member(source, archive, name) for name in ("header.json", "summaries.json"))
    if not isinstance(header, dict) or not isinstance(samples, list):
        raise source.error("header.json or summaries.json hold something else; expected a log")
    return header, samples


def _archive(source: Source) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(source.data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
        raise source.error(
            f"is a damaged zip archive: {str(error).lower()}; expected a log of Inspect"
        ) from None


def _member(source: Source, archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    try:
        if info.compress_type == _ZSTANDARD:
            return json.loads(_unpack_zstandard(_stored(source, info), info.file_size))
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("it is packed in another way than Inspect does")
        with archive.open(info) as file:  # which may hold more than it says
            return json.loads(file.read(info.file_size))
    except Exception as error:  # zipfile, zlib, DuckDB and json have many
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"{name} in it is damaged: {reason}; expected JSON") from None


def _stored(source: Source, info: zipfile.ZipInfo) -> bytes:
    """A member of an archive as it is stored."""
    name, extra = struct.unpack_from("<HH", source.data, info.header_offset + 26)
    begin = info.header_offset + 30 + name + extra
    return source.data[begin : begin + info.compress_size]


def _unpack_zstandard(data: bytes, size: int) -> str:
    """What Python knows from 3.14 on only, DuckDB does already; so large is what comes out."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "member.json.zst"
        place.write_bytes(data)
        quoted = str(place).replace("'", "''")
        settings: dict[str, Any] = {"memory_limit": f"{size // 2**18 + 500}MB", "threads": "1"}
        with duckdb.connect(":memory:", config=settings) as database:
            database.execute(
                f"SET allowed_paths = ['{quoted}']; SET enable_external_access = false"
            )
            rows = database.execute(
                f"SELECT json FROM read_json_objects('{quoted}', compression = 'zstd', "
                f"format = 'unstructured', maximum_object_size = {size + 1})"
            ).fetchall()
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} values instead of one")
    return str(rows[0][0])


# --- promptfoo --------------------------------------------------------------------------------


def _promptfoo(source: Source) -> Iterator[Record]:
    rows = _promptfoo_rows(source)
    prompts = {json.dumps(_get(row, "prompt", "label")) for _, row in rows}
    for line, row in rows:
        if not isinstance(row.get("success"), bool):
            raise source.error(
                f"a result has {_shown(row.get('success'))} for 'success'; expected true or false",
                line,
            )
        provider, prompt = row.get("provider"), _get(row, "prompt", "label")
        system = _get(row, "provider", "label") or _get(row, "provider", "id") or provider
        name = system if isinstance(system, str) else "system"
        if len(prompts) > 1:
            name = f"{name}, {prompt}"
        named = row.get("namedScores")
        scores = {"pass": row["success"], **(named if isinstance(named, dict) else {})}
        failed = row.get("failureReason") == 2
        if failed:
            scores = dict.fromkeys(scores)
        variables = row.get("vars")
        if variables is None:
            variables = _get(row, "testCase", "vars")
        identity = json.dumps(variables, sort_keys=True, ensure_ascii=False, default=repr)
        yield Record(
            _text(identity),
            _with_counts(scores),
            system=name,
            repeat=None,
            text=_text(_get(row, "prompt", "raw") or variables),
            said=_text(_get(row, "response", "output") or ""),
            error=failed,
            line=line,
        )


def _promptfoo_rows(source: Source) -> list[tuple[int | None, dict[str, Any]]]:
    """The results of a file: of one document, or one per line."""
    first = _object(source.data.lstrip().split(b"\n", 1)[0])
    if first is not None and "testIdx" in first:
        return list(source.json_lines())
    rows = _get(source.document, "results", "results")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise source.error("'results' has no list 'results' of objects; expected one")
    return [(None, row) for row in rows]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


# --- DeepEval ---------------------------------------------------------------------------------


def _deepeval(source: Source) -> Iterator[Record]:
    document = source.document
    cases = [*document["testCases"], *_list(document.get("conversationalTestCases"))]
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, dict):
            raise source.error(f"test case {number} is {_shown(case)}; expected an object")
        scores: dict[str, Any] = {"pass": case.get("success")}
        for metric in _list(case.get("metricsData")):
            if isinstance(metric, dict) and isinstance(metric.get("name"), str):
                scores[metric["name"]] = metric.get("success")
        asked = case.get("input")
        yield Record(
            _identity(source, case.get("name"), f"the name of test case {number}"),
            scores,
            content=_digest(asked) if asked is not None else "",
            text=_text(asked),
            target=_text(case.get("expectedOutput") or ""),
            said=_text(case.get("actualOutput") or ""),
        )


# --- everybody else ---------------------------------------------------------------------------


def _plain(source: Source) -> Iterator[Record]:
    for number, record in source.json_lines():
        key = next((key for key in _IDS if key in record), None)
        if key is None:
            raise source.error(f"the record has no id; expected one of {', '.join(_IDS)}", number)
        epoch = next((record[name] for name in _EPOCHS if name in record), 1)
        if not isinstance(epoch, int) or isinstance(epoch, bool):
            raise source.error(f"epoch {_shown(epoch)}; expected a whole number", number)
        scores = {name: record[name] for name in ("correct", *_COUNTS) if name in record}
        asked = record.get("input", record.get("question", ""))
        yield Record(
            _identity(source, record[key], repr(key), number),
            _with_counts(scores),
            repeat=epoch - 1,
            content=_digest(asked) if asked else "",
            text=_text(asked),
            line=number,
        )
