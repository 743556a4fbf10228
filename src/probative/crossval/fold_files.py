"""Write folds as files, to train elsewhere, and score predictions on them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative._version import __version__
from probative.crossval.runner import MODELS, LabelTask, distinct_names, judge_folds
from probative.crossval.splitter import BlockRegularizedCV, splits
from probative.errors import InputError
from probative.files import write_whole
from probative.matching.labels import positive_class
from probative.matching.matched import match_inputs
from probative.metrics import PRF
from probative.reading.annotations import Labels, Segmented
from probative.reading.formats import TASKS, Options, read, read_pair
from probative.results.crossval import FoldCounts, ModelComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.counts import PairedCounts
    from probative.crossval.corpus import Corpus
    from probative.reading.source import Source


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
    """Write the training and validation files of every fold, and a manifest.

    Parameters
    ----------
    corpus
        The corpus to split.
    folder
        A new or an empty folder.
    m
        Repetitions: there will be 2m folds.
    rng
        The seed; by default one is drawn and recorded.
    regularize
        The strata to balance; see `Corpus.strata`.
    keep_documents
        True to keep documents whole.
    reading
        The options with which the corpus was read, recorded for reading its folds.

    Returns
    -------
    dict
        The manifest: seed, sizes, checksums and balance.
    """
    target = Path(folder)
    if corpus.source is None or corpus.raw is None:
        raise InputError(
            "cannot be split into files; expected a corpus in a text file", corpus.name
        )
    groups = corpus.groups(keep_documents=keep_documents)
    corpus.check_size(m)
    encoding = (reading or {}).get("encoding")
    _check_encoding(corpus.source, encoding)
    _new_folder(target)
    seed = int(np.random.default_rng().integers(2**31)) if rng is None else rng
    cv = BlockRegularizedCV(m, random_state=seed, regularize=corpus.strata(regularize))
    block = cv.blocks(corpus.sentences, groups=groups)
    folds = []
    width = len(str(2 * m))
    suffix = Path(corpus.name.removesuffix(".gz")).suffix or ".txt"
    for number, halves in enumerate(splits(block, m), 1):
        fold: dict[str, Any] = {"fold": number}
        for part, positions in zip(("train", "validation"), halves, strict=True):
            path = target / f"fold-{number:0{width}d}-{part}{suffix}"
            content = _join(corpus, positions, encoding)
            write_whole(path, content)
            checksum = hashlib.sha256(content).hexdigest()
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


def _check_encoding(source: Source, encoding: str | None) -> None:
    """Refuse an encoding in which the corpus cannot be written as it was read."""
    if encoding is None:
        return
    text = source.data.decode()
    try:
        same = text.encode(encoding).decode(encoding).removeprefix("\ufeff") == text
    except UnicodeError:
        same = False
    if not same:
        raise InputError(
            f"encoding: {encoding!r} cannot encode this corpus; expected a text encoding such as "
            "utf-8, latin-1, gb18030"
        )


def _new_folder(target: Path) -> None:
    """Create a folder; refuse one that is not empty."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        content = next(target.iterdir(), None)
    except OSError as error:
        raise InputError(f"cannot be used: {error.strerror}", target) from None
    if content is not None:
        raise InputError(f"holds {content.name!r}; expected a new or an empty folder", target)


def _join(corpus: Corpus, positions: NDArray[np.intp], encoding: str | None) -> bytes:
    """Return the lines of some sentences, joined as in the corpus."""
    if corpus.source is None or corpus.raw is None:
        raise ValueError("this corpus has no lines")
    data = corpus.source.data
    end = b"\r\n" if b"\r\n" in data[:10_000] else b"\n"
    between = end + end if corpus.form in ("columns", "conllu") else end
    parts = [corpus.raw(i).rstrip(b"\r\n") for i in positions.tolist()]
    if corpus.header:
        parts.insert(0, corpus.header.rstrip(b"\r\n"))
    content = between.join(parts) + between
    return content if encoding is None else content.decode().encode(encoding)


def read_manifest(folder: Path | str) -> dict[str, Any]:
    """Read the manifest of a folder that `write_folds` made; refuse changed files."""
    path = Path(folder) / _MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        _check_manifest(manifest)
        for fold in manifest["folds"]:
            validation = fold["validation"]
            if _sha256(path.parent / validation["file"]) != validation["sha256"]:
                raise InputError(
                    "was changed since the folds were made (its checksum differs); expected the "
                    "file that 'probative split' wrote",
                    path.parent / validation["file"],
                )
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}); expected a folder that 'probative split' wrote",
            error.filename or path,
        ) from None
    except InputError as error:
        raise error if error.path else _no_manifest(path, str(error)) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _no_manifest(path, f"{type(error).__name__}: {error}") from None
    return dict(manifest)


def _no_manifest(path: Path, why: str) -> InputError:
    """Return the error for a file that is no manifest."""
    return InputError(
        f"is no manifest of folds ({why:.100}); expected the file that 'probative split' wrote",
        path,
    )


def _check_manifest(manifest: Any) -> None:
    """Check all that is used later: KeyError, TypeError, ValueError, or InputError for options."""
    folds = manifest["folds"]
    one_of("task", manifest["task"], TASKS)
    _whole(manifest["seed"])
    if not isinstance(folds, list) or len(folds) < 2 or len(folds) % 2:
        raise ValueError("there are no two folds per repetition")
    for fold in folds:
        _whole(fold["fold"])
        for part in ("train", "validation"):
            _whole(fold[part]["sentences"])
            name = fold[part]["file"]
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no file of this folder")
    Options(**manifest["reading"])
    for name, value in manifest["reading"].items():
        kind = {"tag_column": int, "comments": bool}.get(name, str)
        if value is not None and type(value) is not kind:
            raise ValueError(f"{name}: {value!r}")


def _whole(value: Any) -> None:
    """Refuse a value that is no whole number >= 0."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a whole number >= 0")


def _sha256(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --- Predictions that were made elsewhere


def judge_predictions(
    folder: Path | str,
    preds_a: Sequence[Path | str],
    preds_b: Sequence[Path | str],
    *,
    metrics: Sequence[str] | None = None,
    names: tuple[str, str] = ("A", "B"),
    only: Sequence[str] = (),
    ignore_type: bool = False,
    **how: Any,
) -> ModelComparison:
    """Score predictions on the folds of a folder and run the Bayes test.

    Parameters
    ----------
    folder
        The folder that ``probative split`` wrote.
    preds_a, preds_b
        The predictions of the baseline and of the challenger, one file per fold. A file belongs to
        the fold with the same tokens, whatever its name.
    metrics
        The metrics to compare; by default precision, recall and f1.
    names
        The names of the models.
    only, ignore_type
        Count these labels only; count boundaries alone.
    **how
        As for `probative.crossval.runner.judge_folds`.
    """
    names = distinct_names(names)
    manifest = read_manifest(folder)
    folds = manifest["folds"]
    options = Options(**manifest["reading"])
    paths = [Path(folder) / fold["validation"]["file"] for fold in folds]
    golds = [read(path, options) for path in paths]
    sides = [
        _in_order(golds, paths, sorted(map(str, files)), options, parameter)
        for parameter, files in (("preds_a", preds_a), ("preds_b", preds_b))
    ]
    tables, metric_names = _tables(golds, sides, only, ignore_type=ignore_type)
    records = []
    for fold, table in zip(folds, tables, strict=True):
        train, validation = (fold[part]["sentences"] for part in ("train", "validation"))
        for name, counts in zip(names, (table.a, table.b), strict=True):
            records.append(FoldCounts(fold["fold"], name, train, validation, counts))
    return judge_folds(
        tables,
        metrics or metric_names,
        names=names,
        task=manifest["task"],
        folds=tuple(records),
        seed=manifest["seed"],
        **how,
    )


def _tables(
    golds: Sequence[Any], sides: Sequence[Sequence[Any]], only: Sequence[str], *, ignore_type: bool
) -> tuple[list[PairedCounts], tuple[str, ...]]:
    """Count the eight cases of every fold; return also the default metrics."""
    if isinstance(golds[0], Labels):
        if only or ignore_type:
            raise InputError("only, ignore_type: apply to spans, and these folds have labels")
        task = LabelTask(positive_class(*golds))
        triples = zip(*(map(_values, side) for side in (golds, *sides)), strict=True)
        return [task.cases(*triple) for triple in triples], task.metrics
    how: Any = {"names": MODELS, "only": only, "ignore_type": ignore_type}
    matches = [match_inputs(gold, [a, b], **how) for gold, a, b in zip(golds, *sides, strict=True)]
    return [matched.items.paired(0, 1, by=None) for matched in matches], PRF


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
    fold_of = {_text_digest(gold): number for number, gold in enumerate(golds)}
    placed: dict[int, tuple[str, Any]] = {}
    for expected, file in enumerate(files):
        # predictions may have another format than the folds
        annotations = read(file, Options(task=options.task, encoding=options.encoding))
        number = fold_of.get(_text_digest(annotations))
        if number is None:
            raise _stranger(golds[expected], paths[expected], annotations, file)
        if number in placed:
            raise InputError(
                f"has the text of fold {number + 1}, as {placed[number][0]} has; expected one "
                f"file per fold",
                file,
            )
        placed[number] = (file, annotations)
    return [placed[number][1] for number in range(len(golds))]


def _text_digest(annotations: Any) -> str:
    """Return a digest of the text of a file: its tokens or characters, sentence by sentence."""
    digest = hashlib.sha256()
    if isinstance(annotations, Segmented):
        digest.update(annotations.characters.tobytes())
        digest.update(annotations.byte_first.astype("int64").tobytes())
        return digest.hexdigest()
    text = annotations.text
    if text.n_tokens and not text.words(0):
        raise InputError("has no tokens, so its fold is unknown", text.name)
    for sentence in range(text.n_sentences):
        digest.update("\n".join(text.words(sentence)).encode("utf-8", "replace") + b"\n\n")
    return digest.hexdigest()


def _stranger(gold: Any, path: Path, annotations: Any, file: str) -> InputError:
    """Return the error for a file of no fold, compared with the fold in the same place."""
    try:
        match_inputs(gold, [annotations], names=["a"])
    except InputError as error:
        return InputError(f"{error} (the file belongs to no fold; compared with {path.name})")
    return InputError("belongs to no fold", file)


def _labels_of(gold: Labels, path: Path, file: str, options: Options) -> Labels:
    """Read the predicted labels of a fold from a table that repeats its gold labels."""
    answer, (predicted, *_), _ = read_pair(
        file, Options(task="labels", encoding=options.encoding), gold=options.column
    )
    if not isinstance(answer, Labels) or not isinstance(predicted, Labels):
        raise InputError("holds no labels", file)
    if _values(answer) != _values(gold):
        raise InputError(
            f"does not repeat the labels of {path.name}; expected the lines of that file with a "
            f"predicted column",
            file,
        )
    return predicted
