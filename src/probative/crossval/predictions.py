"""Predictions that were made elsewhere, for folds that were made here."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.crossval.fits import MODELS
from probative.crossval.fold_files import read_manifest
from probative.crossval.runner import distinct_names, judge_folds
from probative.crossval.tasks import LabelTask
from probative.errors import InputError
from probative.matching.labels import positive_class
from probative.matching.matched import match_inputs
from probative.metrics import PRF
from probative.reading.annotations import Labels, Segmented
from probative.reading.opening import Options
from probative.reading.recognise import read, read_pair
from probative.results.crossval import FoldCounts, ModelComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.counts import PairedCounts

__all__ = ["judge_predictions"]


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
        What ``probative split`` wrote.
    preds_a, preds_b
        The predictions of the baseline and of the challenger, one file per fold. Which fold a file
        belongs to is told by its tokens, not by its name.
    metrics
        What is compared; by default precision, recall and f1.
    names
        What the models are called.
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
    records = tuple(
        FoldCounts(
            fold["fold"],
            name,
            fold["train"]["sentences"],
            fold["validation"]["sentences"],
            counts,
        )
        for fold, table in zip(folds, tables, strict=True)
        for name, counts in zip(names, (table.a, table.b), strict=True)
    )
    return judge_folds(
        tables,
        metrics or metric_names,
        names=names,
        task=manifest["task"],
        folds=records,
        seed=manifest["seed"],
        **how,
    )


def _tables(
    golds: Sequence[Any], sides: Sequence[Sequence[Any]], only: Sequence[str], *, ignore_type: bool
) -> tuple[list[PairedCounts], tuple[str, ...]]:
    if isinstance(golds[0], Labels):
        if only or ignore_type:
            raise InputError("only, ignore_type: apply to spans, and these folds have labels")
        task = LabelTask(positive_class(*golds))
        triples = zip(*(map(_values, side) for side in (golds, *sides)), strict=True)
        return [task.cases(*triple) for triple in triples], task.metrics
    tables = [
        match_inputs(gold, [a, b], names=MODELS, only=only, ignore_type=ignore_type).items.paired(
            0, 1, by=None
        )
        for gold, a, b in zip(golds, *sides, strict=True)
    ]
    return tables, PRF


def _values(labels: Labels) -> list[str]:
    return [labels.names[code] for code in labels.codes.tolist()]


def _in_order(
    golds: Sequence[Any],
    paths: Sequence[Path],
    files: Sequence[str],
    options: Options,
    parameter: str,
) -> list[Any]:
    """The predictions in the order of the folds, a file each."""
    if len(files) != len(golds):
        raise InputError(f"{parameter}: {len(files)} files; expected {len(golds)}, one per fold")
    if isinstance(golds[0], Labels):
        return [_labels_of(*triple, options) for triple in zip(golds, paths, files, strict=True)]
    fold_of = {_text_digest(gold): number for number, gold in enumerate(golds)}
    placed: dict[int, tuple[str, Any]] = {}
    for expected, file in enumerate(files):
        # the fold's own format may differ from that of the predictions
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
    """What tells the text of two files apart: tokens, or characters, sentence by sentence."""
    digest = hashlib.sha256()
    if isinstance(annotations, Segmented):
        digest.update(annotations.characters.tobytes())
        digest.update(annotations.byte_first.astype("int64").tobytes())
        return digest.hexdigest()
    text = annotations.text
    if text.n_tokens and not text.words(0):
        raise InputError("has no tokens, so that nothing shows to which fold it belongs", text.name)
    for sentence in range(text.n_sentences):
        digest.update("\n".join(text.words(sentence)).encode("utf-8", "replace") + b"\n\n")
    return digest.hexdigest()


def _stranger(gold: Any, path: Path, annotations: Any, file: str) -> InputError:
    """Why a file belongs to no fold, told by the fold that has its place in the order of names."""
    try:
        match_inputs(gold, [annotations], names=["a"])
    except InputError as error:
        return InputError(f"{error} (the file belongs to no fold; compared with {path.name})")
    return InputError("belongs to no fold", file)


def _labels_of(gold: Labels, path: Path, file: str, options: Options) -> Labels:
    """Predicted labels of a fold: a table that repeats its labels, beside the predicted ones."""
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
