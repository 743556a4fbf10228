"""Read a corpus to train on, write its folds as files, and score predictions on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import one_of
from probative._version import __version__
from probative.crossval.runner import MODELS, LabelTask, counts_of_labels, judge_folds
from probative.crossval.splitter import BlockRegularizedCV, number_of_blocks, splits
from probative.errors import InputError, suggestion
from probative.files import failing_as, write_whole
from probative.matching.labels import positive_class
from probative.matching.matched import match_inputs
from probative.matching.schemes import decode
from probative.metrics import PRF
from probative.reading.annotations import Labels, LabelSets, Segmented, Tagged
from probative.reading.columns import Layout, column_of, read_tags
from probative.reading.formats import FORMATS, TASKS, Input, Options, open_input, read, read_pair
from probative.reading.rows import IGNORED
from probative.reading.source import Source, refuse_repeats
from probative.results.crossval import FoldCounts, ModelComparison

REGULARIZED = ("entities", "labels", "tokens")
_IN_LINES = ("columns", "conllu", "segmented", "labels", "jsonl", "table", "rows")
_COLUMNS = ("columns", "conllu")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences with spans, or items with labels."""

    name: str  # the file
    task: str  # "entities", "segmentation" or "labels"
    form: str  # its format
    sentences: list[Any] = field(repr=False)  # tokens or characters; for labels, the lines
    spans: list[Any] = field(repr=False)  # (start, end, label); for labels, the label of every item
    documents: NDArray[Any] | None = None  # of every sentence; None if none are marked
    notes: tuple[str, ...] = ()
    source: Source | None = field(default=None, repr=False)  # the content of the file
    raw: Callable[[int], bytes] | None = field(default=None, repr=False)  # lines of a sentence
    header: bytes = b""  # the first line of a table

    def __len__(self) -> int:
        return len(self.sentences)

    def select(self, *, only: Sequence[str] = (), ignore_type: bool = False) -> Corpus:
        """Return the corpus with spans of the labels in `only`, or with all types set to one."""
        if not (only or ignore_type):
            return self
        if self.task == "labels":
            raise InputError("only, ignore_type: apply to spans, and this corpus has labels")
        present = {label for spans in self.spans for _, _, label in spans}
        for label in only:
            if label not in present:
                there = ", ".join(sorted(present)) + suggestion(label, present)
                raise InputError(f"has no span labelled {label!r}; there are {there}", self.name)
        kept = [[span for span in own if not only or span[2] in only] for own in self.spans]
        if ignore_type:
            kept = [[(start, end, "_") for start, end, _ in own] for own in kept]
        return replace(self, spans=kept)

    def check_size(self, m: int) -> None:
        """Refuse a corpus with fewer sentences than m repetitions need blocks."""
        if len(self) < number_of_blocks(m):
            expected = f"at least {number_of_blocks(m)}, one per block"
            raise InputError(f"has {len(self)} sentences; expected {expected}", self.name)

    def groups(self, *, keep_documents: bool) -> NDArray[Any] | None:
        """Return the documents if they are to be kept whole, else None; refuse a corpus without."""
        if keep_documents and self.documents is None:
            raise InputError("marks no documents that could be kept whole", self.name)
        return self.documents if keep_documents else None

    def strata(self, regularize: Sequence[str]) -> dict[str, list[int]] | list[str]:
        """Return counts of spans by label and of tokens, as asked; or the classes of labels."""
        if self.task == "labels":
            return list(self.spans)
        by_label = "entities" in regularize or "labels" in regularize
        strata = counts_of_labels(self.spans) if by_label else {}
        if "tokens" in regularize:
            strata["tokens"] = [len(sentence) for sentence in self.sentences]
        return strata


def read_corpora(paths: Sequence[Path | str | Input], **how: Any) -> Corpus:
    """Read several files of one kind as one corpus; see `read_corpus` for the options."""
    refuse_repeats(paths)
    parts = [read_corpus(path, **how) for path in paths]
    if len(parts) == 1:
        return parts[0]
    if len({part.task for part in parts}) > 1:
        raise InputError(f"is a corpus for {parts[-1].task}, unlike the others", parts[-1].name)
    documents = None
    if all(part.documents is not None for part in parts):
        # a document is identified by its file and its index there
        own = enumerate(np.asarray(part.documents).tolist() for part in parts)
        pairs = [(i, document) for i, documents_ in own for document in documents_]
        documents = np.unique(np.array(pairs), axis=0, return_inverse=True)[1].reshape(-1)
    return Corpus(
        " + ".join(part.name for part in parts),
        parts[0].task,
        parts[0].form,
        [sentence for part in parts for sentence in part.sentences],
        [spans for part in parts for spans in part.spans],
        documents,
        tuple(note for part in parts for note in part.notes),
    )


def read_corpus(
    path: Path | str | Input, *, scheme: str | None = None, features: Sequence[int] = (), **how: Any
) -> Corpus:
    """Read a corpus of any known format; `features` (columns from 1) make tokens tuples."""
    opened = path if isinstance(path, Input) else open_input(path, Options(**how))
    source, form = opened.source, opened.kind
    is_columns = form in _COLUMNS and opened.options.task in (None, "entities")
    if features and not is_columns:
        raise source.error(f"features: {form} is no column file; expected one with tags")
    if form not in _IN_LINES or (form == "rows" and source.kind == "parquet"):
        expected = "columns, segmented text, a list or table of labels, JSON lines"
        raise source.error(f"is {FORMATS[form].title}; expected a corpus in lines: {expected}")
    tag_column = opened.options.tag_column
    annotations = read_tags(opened.layout, tag_column) if is_columns else read(opened)
    if isinstance(annotations, Tagged) and IGNORED in annotations.names:
        raise source.error("has tokens without a tag (-100); expected a tag for each")
    if isinstance(annotations, LabelSets):
        raise source.error("has sets of labels; expected one label per row")
    if isinstance(annotations, Tagged) and form == "table":
        raise source.error("has tags in a table; expected a column file, one token per line")
    if scheme is not None and isinstance(annotations, (Segmented, Labels)):
        raise source.error(f"scheme: applies to tags, not to {form}")
    lines = source.data.split(b"\n")
    if isinstance(annotations, Labels):  # one item per line, perhaps below a header
        lines = [line for line in lines if line.strip()]
        above = len(lines) - len(annotations)
        if above not in (0, 1):
            raise source.error(f"has {len(lines)} lines; expected {len(annotations)}, one per item")
        header, rows = b"".join(lines[:above]), lines[above:]
        content = rows, _values(annotations), annotations.units, annotations.notes
        return Corpus(source.name, "labels", form, *content, source, rows.__getitem__, header)
    spans: Any = annotations
    if isinstance(annotations, Segmented):
        spans = annotations.spans()
    elif isinstance(annotations, Tagged):
        spans = decode(annotations, scheme=scheme)
    text, every = spans.text, range(spans.n_sentences)
    sentences: list[Any] = list(map(text.words, every))
    task, document, raw = "entities", text.document, text.raw
    if isinstance(annotations, Segmented):
        task, document = "segmentation", annotations.document
    elif not is_columns:
        at = [(text.line_of(i) or 1) - 1 for i in every]
        document, raw = None, lambda i: lines[at[i]]
    if features:
        sentences = list(_with_features(sentences, opened.layout, features))
    content = sentences, list(map(spans.of, every)), document, spans.notes
    return Corpus(source.name, task, form, *content, source, raw)


def _with_features(
    sentences: Sequence[Any], shape: Layout, features: Sequence[int]
) -> Iterator[list[tuple[str, ...]]]:
    """Yield the sentences of a column file with these columns (from 1) beside the words."""
    columns = []
    for column in features:
        if not 1 <= column <= shape.width:
            width = shape.width
            raise shape.text.error(f"has no column {column} for features; there are {width}")
        codes, values = column_of(shape, column - 1)
        names = [value.decode("utf-8", "replace") for value in values]
        columns.append([names[code] for code in codes.tolist()])
    tokens = zip((word for words in sentences for word in words), *columns, strict=True)
    for words in sentences:
        yield list(islice(tokens, len(words)))


# --- Folds as files, to train elsewhere

_MANIFEST = "manifest.json"


def write_folds(
    corpus: Corpus,
    folder: Path | str,
    *,
    m: int = 3,
    rng: int | None = None,
    regularize: Sequence[str] = ("entities", "tokens"),
    keep_documents: bool = False,
    reading: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write training and validation files of 2m folds into a new folder; return the manifest."""
    target = Path(folder)
    if corpus.source is None or corpus.raw is None:
        raise InputError("cannot be split; expected a corpus in a text file", corpus.name)
    groups = corpus.groups(keep_documents=keep_documents)
    corpus.check_size(m)
    encoding = (reading or {}).get("encoding")
    if encoding is not None:  # in which the corpus can be written as it was read
        text = corpus.source.data.decode()
        try:
            same = text.encode(encoding).decode(encoding).removeprefix("\ufeff") == text
        except UnicodeError:
            same = False
        if not same:
            raise InputError(f"encoding: {encoding!r} cannot encode this corpus; expected utf-8")
    with failing_as("cannot be used", target):
        target.mkdir(parents=True, exist_ok=True)
        content = next(target.iterdir(), None)
    if content is not None:
        raise InputError(f"holds {content.name!r}; expected a new or an empty folder", target)
    seed = int(np.random.default_rng().integers(2**31)) if rng is None else rng
    cv = BlockRegularizedCV(m, random_state=seed, regularize=corpus.strata(regularize))
    block = cv.blocks(corpus.sentences, groups=groups)
    folds = []
    width = len(str(2 * m))
    suffix = Path(corpus.name.removesuffix(".gz")).suffix or ".txt"
    end = b"\r\n" if b"\r\n" in corpus.source.data[:10_000] else b"\n"
    between = end + end if corpus.form in _COLUMNS else end
    for number, halves in enumerate(splits(block, m), 1):
        fold: dict[str, Any] = {"fold": number}
        for part, positions in zip(("train", "validation"), halves, strict=True):
            path = target / f"fold-{number:0{width}d}-{part}{suffix}"
            lines = [*filter(None, [corpus.header]), *map(corpus.raw, positions.tolist())]
            data = b"".join(line.rstrip(b"\r\n") + between for line in lines)
            data = data if encoding is None else data.decode().encode(encoding)
            write_whole(path, data)
            checksum = hashlib.sha256(data).hexdigest()
            fold[part] = {"file": path.name, "sentences": len(positions), "sha256": checksum}
        folds.append(fold)
    manifest = {
        "probative": __version__,
        "corpus": Path(corpus.name).name,
        "corpus_sha256": hashlib.sha256(corpus.source.data).hexdigest(),
        "task": corpus.task,
        "reading": {"input_format": corpus.form, "task": corpus.task, **(reading or {})},
        "sentences": len(corpus),
        "m": m,
        "seed": seed,
        "regularize": list(regularize),
        "keep_documents": keep_documents,
        "balance": cv.balance(corpus.sentences, groups=groups, blocks=block).to_dict(),
        "folds": folds,
    }
    write_whole(target / _MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
    return manifest


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """Read the manifest of a folder that `write_folds` made; refuse changed files."""
    path = Path(folder) / _MANIFEST
    expected = "the file that 'probative split' wrote"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        _check_manifest(manifest)
        for fold in manifest["folds"]:
            validation = fold["validation"]
            file = path.parent / validation["file"]
            if hashlib.sha256(file.read_bytes()).hexdigest() != validation["sha256"]:
                raise InputError(f"was changed since the split; expected {expected}", file)
    except OSError as error:
        found = f"cannot be read ({error.strerror}); expected {expected}"
        raise InputError(found, error.filename or path) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InputError) and error.path:
            raise
        why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        found = f"is no manifest of folds ({why:.100})"
        raise InputError(f"{found}; expected {expected}", path) from None
    return dict(manifest)


def _check_manifest(manifest: Any) -> None:
    """Check all that is used later: KeyError, TypeError, ValueError, or InputError for options."""
    folds, whole = manifest["folds"], [manifest["seed"]]
    one_of("task", manifest["task"], TASKS)
    if not isinstance(folds, list) or len(folds) < 2 or len(folds) % 2:
        raise ValueError("there are no two folds per repetition")
    for fold in folds:
        parts = fold["train"], fold["validation"]
        whole += [fold["fold"], *(part["sentences"] for part in parts)]
        for name in (part["file"] for part in parts):
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no file of this folder")
    odd = [value for value in whole if type(value) is not int or value < 0]
    if odd:
        raise ValueError(f"{odd[0]!r} is not a whole number >= 0")
    Options(**manifest["reading"])
    for name, value in manifest["reading"].items():
        kind = {"tag_column": int, "comments": bool}.get(name, str)
        if value is not None and type(value) is not kind:
            raise ValueError(f"{name}: {value!r}")


# --- Predictions that were made elsewhere


def judge_predictions(
    folder: Path | str,
    preds_a: Sequence[Path | str],
    preds_b: Sequence[Path | str],
    *,
    metrics: Sequence[str] | None = None,
    only: Sequence[str] = (),
    ignore_type: bool = False,
    **how: Any,
) -> ModelComparison:
    """Score predictions, one file per fold, on the folds of a folder and run the Bayes test."""
    names = ("A", "B")
    manifest = read_manifest(folder)
    folds = manifest["folds"]
    options = Options(**manifest["reading"])
    paths = [Path(folder) / fold["validation"]["file"] for fold in folds]
    golds: list[Any] = [read(path, options) for path in paths]
    sides = [
        _in_order(golds, paths, sorted(map(str, files)), options, parameter)
        for parameter, files in (("preds_a", preds_a), ("preds_b", preds_b))
    ]
    if isinstance(golds[0], Labels):
        if only or ignore_type:
            raise InputError("only, ignore_type: apply to spans, and these folds have labels")
        task = LabelTask(positive_class(*golds))
        triples = zip(*(map(_values, side) for side in (golds, *sides)), strict=True)
        tables, metric_names = [task.cases(*triple) for triple in triples], task.metrics
    else:
        match: Any = partial(match_inputs, names=MODELS, only=only, ignore_type=ignore_type)
        both = [match(gold, [a, b]) for gold, a, b in zip(golds, *sides, strict=True)]
        tables, metric_names = [own.items.paired(0, 1, by=None) for own in both], PRF
    records = []
    for fold, table in zip(folds, tables, strict=True):
        train, validation = (fold[part]["sentences"] for part in ("train", "validation"))
        records += [
            FoldCounts(fold["fold"], name, train, validation, counts)
            for name, counts in zip(names, (table.a, table.b), strict=True)
        ]
    known = {"names": names, "folds": tuple(records), **how}
    known |= {key: manifest[key] for key in ("task", "seed")}
    return judge_folds(tables, metrics or metric_names, **known)


def _values(labels: Labels) -> list[str]:
    """Return labels as texts."""
    return [labels.names[code] for code in labels.codes.tolist()]


def _in_order(
    golds: Sequence[Any], paths: Sequence[Path], files: Sequence[str], options: Options, name: str
) -> list[Any]:
    """Read the predictions, one file per fold, and return them in the order of the folds."""
    if len(files) != len(golds):
        raise InputError(f"{name}: {len(files)} files; expected {len(golds)}, one per fold")
    if isinstance(golds[0], Labels):
        return [_labels_of(*triple, options) for triple in zip(golds, paths, files, strict=True)]
    fold_of = {_text_of(gold): number for number, gold in enumerate(golds)}
    placed: dict[int, tuple[str, Any]] = {}
    for expected, file in enumerate(files):
        # predictions may have another format than the folds
        annotations = read(file, Options(task=options.task, encoding=options.encoding))
        number = fold_of.get(_text_of(annotations))
        if number is None:  # compared with the fold in the same place
            try:
                match_inputs(golds[expected], [annotations], names=["a"])
            except InputError as error:
                near = f"(the file belongs to no fold; compared with {paths[expected].name})"
                raise InputError(f"{error} {near}") from None
            raise InputError("belongs to no fold", file)
        if number in placed:
            same = f"has the text of fold {number + 1}, as {placed[number][0]} has"
            raise InputError(f"{same}; expected one file per fold", file)
        placed[number] = (file, annotations)
    return [placed[number][1] for number in range(len(golds))]


def _text_of(annotations: Any) -> tuple[Any, ...]:
    """Return the text of a file to compare: its characters, or the tokens of its sentences."""
    if isinstance(annotations, Segmented):
        ends = annotations.byte_first.astype("int64")
        return annotations.characters.tobytes(), ends.tobytes()
    text = annotations.text
    if text.n_tokens and not text.words(0):
        raise InputError("has no tokens, so its fold is unknown", text.name)
    return tuple(tuple(text.words(i)) for i in range(text.n_sentences))


def _labels_of(gold: Labels, path: Path, file: str, options: Options) -> Labels:
    """Read the predicted labels of a fold from a table that repeats its gold labels."""
    answer, (predicted, *_), _ = read_pair(
        file, Options(task="labels", encoding=options.encoding), gold=options.column
    )
    if not isinstance(answer, Labels) or not isinstance(predicted, Labels):
        raise InputError("holds no labels", file)
    if _values(answer) != _values(gold):
        expected = "expected the lines of that file with a predicted column"
        raise InputError(f"does not repeat the labels of {path.name}; {expected}", file)
    return predicted
