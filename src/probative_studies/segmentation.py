"""The experiments of "Recall is the Proper Evaluation Metric for Word Segmentation".

Three segmenters on one language: maximum matching with the lexicon of the training set, a
conditional random field, and the paper's bidirectional GRU. Their scores (the paper's table 2)
with intervals and paired tests, which the paper did not have; the threshold sweep of its figure 1;
the learning curve of its figure 2.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from probative._validation import one_of, whole_number
from probative.errors import InputError
from probative.files import ResumableFolder, code_digest
from probative.jobs.compare import compare
from probative.jobs.score import score
from probative.jobs.sweep import segmentation_sweep, segmented
from probative.learners.words import MaxMatchSegmenter, split, without_spaces
from probative.reading.annotations import Segmented
from probative.reading.segmented import texts_of
from probative.results import Comparisons
from probative_studies.segmentation_report import (
    CurvePoint,
    Reversal,
    SegmentationStudy,
    SegmenterRun,
)

# --- Training a segmenter and asking it for the test set; what is done is kept in a folder.

_SYSTEMS = ("maxmatch", "crf", "bigru")
_NEEDS = {"crf": ("pycrfsuite", "crf"), "bigru": ("torch", "neural")}
# As the papers' CRF taggers; more iterations change little.
_CRF: dict[str, Any] = {"window": 2, "ngrams": (1, 2, 3), "c2": 0.1, "max_iterations": 100}


def available(system: str) -> bool:
    """Return True if what a system needs is installed."""
    return system not in _NEEDS or importlib.util.find_spec(_NEEDS[system][0]) is not None


@dataclass(frozen=True)
class Sentences:
    """Words and texts of a corpus."""

    name: str  # the file
    words: list[list[str]]  # its sentences: lists of words, and strings as they were written
    texts: list[str]

    @classmethod
    def of(cls, corpus: Segmented) -> Sentences:
        """Take the sentences of a file that was read."""
        words = [corpus.words(sentence) for sentence in range(corpus.n_sentences)]
        return cls(corpus.name, words, texts_of(corpus))

    def first(self, number: int) -> Sentences:
        """Return the first so many sentences."""
        return Sentences(self.name, self.words[:number], self.texts[:number])

    def facts(self) -> dict[str, Any]:
        """Return the numbers of sentences and words."""
        words = sum(map(len, self.words))
        return {"file": Path(self.name).name, "sentences": len(self.words), "words": words}

    def digest(self) -> str:
        """Return a short text that other sentences do not share."""
        pairs = zip(self.texts, self.words, strict=True)
        content = "\n".join("\t".join((text, *words)) for text, words in pairs)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Corpora(NamedTuple):
    """Sentences to train on, to choose the epoch by, and to test on."""

    train: Sentences
    dev: Sentences
    test: Sentences


def run_of(
    system: str,
    corpora: Corpora,
    size: int,
    *,
    options: dict[str, Any],
    folder: ResumableFolder | None,
    report: Callable[[str], None],
) -> SegmenterRun:
    """Train a system on the first `size` sentences, or take what a folder kept of that."""
    train = corpora.train.first(size)
    segmenter = _segmenter(system, options)
    if folder is None:
        return _train(system, segmenter, train, corpora, report)
    name = f"{system}-{size}"
    part = {
        "system": system,
        "sentences": size,
        "model": repr(segmenter).split(", device=")[0],
        "code": code_digest("systems", segmenter),
    }
    kept = folder.load(name, part)
    if kept is not None:
        try:
            return _restore(kept, system, size, corpora.test)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise folder.damage(name, f"{type(error).__name__}: {error}") from None
    folder.check_writable()
    run = _train(system, segmenter, train, corpora, report)
    folder.keep(name, part, _record(run))
    return run


def _segmenter(system: str, options: dict[str, Any]) -> Any:
    if not available(system):
        module, extra = _NEEDS[system]
        raise InputError(
            f"systems: {system} needs {module}; install it with: pip install 'probative[{extra}]'"
        )
    if system == "maxmatch":
        return MaxMatchSegmenter(spaces=options["spaces"])
    if system == "crf":
        from probative_studies.crf_segmenter import CRFSegmenter

        return CRFSegmenter(spaces=options["spaces"], **_CRF)
    from probative.learners.bigru import BiGRUSegmenter

    return BiGRUSegmenter(**options)


def _train(
    system: str, segmenter: Any, train: Sentences, corpora: Corpora, report: Callable[[str], None]
) -> SegmenterRun:
    start = time.perf_counter()
    further: dict[str, Any] = {}
    name = f"{system}, {len(train.words):,} sentences"
    if system == "bigru":
        further = {
            "development": corpora.dev.words,
            "development_texts": corpora.dev.texts,
            "report": lambda epoch: report(f"{name}: {epoch}"),
        }
    elif system == "crf":
        further = {"report": lambda done, total: report(f"{name}: iteration {done} of {total}")}
    segmenter.fit(train.words, train.texts, **further)
    texts = corpora.test.texts
    words = segmenter.predict(texts)
    probabilities = segmenter.predict_proba(texts) if system != "maxmatch" else None
    where = getattr(segmenter, "computed_on", None) or "CPU, 1 thread"
    history = getattr(segmenter, "history", None)
    losses = [(e.training_loss, e.development_loss) for e in history] if history else None
    return SegmenterRun(
        system=system,
        sentences=len(train.words),
        seconds=round(time.perf_counter() - start, 2),
        machine=f"{where}, {platform.system()} {platform.machine()}",
        losses=None if losses is None else tuple(losses),
        best_epoch=None if losses is None else 1 + int(np.argmin([dev for _, dev in losses])),
        words=words,
        probabilities=probabilities,
    )


def _record(run: SegmenterRun) -> dict[str, Any]:
    """Return a run as it is kept: where words begin, instead of the words."""
    rows = run.probabilities
    return {
        **run.to_dict(),
        # a digit for every inner position: 1 where a word begins
        "boundaries": ["1".join("0" * (len(word) - 1) for word in words) for words in run.words],
        "probabilities": None if rows is None else [row.tolist() for row in rows],
    }


def _restore(kept: Any, system: str, size: int, test: Sentences) -> SegmenterRun:
    """Return the run that was kept; ValueError where it does not fit the test set."""
    _expect("system and sentences", (kept["system"], kept["sentences"]) == (system, size))
    _expect("seconds", _is_number(kept["seconds"]) and kept["seconds"] >= 0)
    _expect("machine", isinstance(kept["machine"], str))
    positions = [max(0, len(without_spaces(text)) - 1) for text in test.texts]
    boundaries, rows = kept["boundaries"], kept["probabilities"]
    _expect("boundaries", [len(digits) for digits in boundaries] == positions)
    _expect("boundaries", all(isinstance(row, str) and set(row) <= set("01") for row in boundaries))
    _expect("probabilities", (rows is None) == (system == "maxmatch"))
    if rows is not None:
        _expect("probabilities", [len(row) for row in rows] == positions)
        _expect("probabilities", all(_is_number(p) and 0 <= p <= 1 for row in rows for p in row))
    losses = kept.get("losses")
    if losses is not None:
        _expect("losses", 1 <= kept["best_epoch"] <= len(losses))
        # an undefined loss is null in JSON
        pairs = [[math.nan if x is None else float(x) for x in pair] for pair in losses]
        losses = tuple((training, development) for training, development in pairs)
    coded = zip(test.texts, boundaries, strict=True)
    return SegmenterRun(
        system=system,
        sentences=size,
        seconds=kept["seconds"],
        machine=kept["machine"],
        losses=losses,
        best_epoch=kept.get("best_epoch"),
        words=[split(text, [digit == "1" for digit in digits]) for text, digits in coded],
        probabilities=None if rows is None else [np.array(row, dtype=np.float64) for row in rows],
    )


def _expect(what: str, right: bool) -> None:
    if not right:
        raise ValueError(f"{what} do not fit")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_METRICS = ("recall", "precision", "f1")


def installed_systems() -> tuple[list[str], list[str]]:
    """Return the systems that can run here, and a remark on each of the others."""
    missing = [
        f"{system} is left out: it needs {module} (pip install 'probative[{extra}]')"
        for system, (module, extra) in _NEEDS.items()
        if not available(system)
    ]
    return [system for system in _SYSTEMS if available(system)], missing


def segmentation_study(
    train: Any,
    dev: Any,
    test: Any,
    *,
    systems: Sequence[str] | None = None,
    sizes: Sequence[int] = (),
    curve: str | None = None,
    spaces: bool = True,
    epochs: int = 30,
    device: str = "auto",
    rng: int = 0,
    steps: int = 20,
    level: float = 0.95,
    folder: Path | str | None = None,
    report: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> SegmentationStudy:
    """Train segmenters, compare them, sweep the threshold, draw the learning curve.

    Inputs are files (CoNLL-U, columns, segmented text) or lists of words. Finished runs are kept in
    `folder`; systems and sizes may be added later.

    >>> sentences = [["to", "be"], ["or", "not"], ["not", "to", "be"]] * 10
    >>> study = segmentation_study(
    ...     sentences, sentences[:5], [["be", "or", "not"]] * 3, systems=["maxmatch"]
    ... )
    >>> round(study.comparisons.systems[0]["recall"].estimate, 4)
    1.0
    """
    chosen = list(systems) if systems is not None else installed_systems()[0]
    for system in chosen:
        one_of("systems", system, _SYSTEMS)
    if not chosen:
        raise InputError(f"systems: none; expected some of {', '.join(_SYSTEMS)}")
    learner = one_of("curve", curve if curve is not None else chosen[-1], _SYSTEMS)
    gold = segmented(test, "test")
    others = [segmented(train, "train"), segmented(dev, "dev")]
    corpora = Corpora(*map(Sentences.of, (*others, gold)))
    digests = {name: own.digest() for name, own in corpora._asdict().items()}
    kept = None if folder is None else ResumableFolder(folder, {"study": "segmentation", **digests})
    everything = len(corpora.train.words)
    smaller = sorted({min(whole_number("sizes", size), everything) for size in sizes})
    wanted = [(system, everything) for system in chosen]
    wanted += [(learner, size) for size in smaller if (learner, size) not in wanted]
    if smaller and (learner, everything) not in wanted:
        wanted.append((learner, everything))

    runs: dict[tuple[str, int], SegmenterRun] = {}
    network = {"seed": rng, "spaces": spaces, "epochs": epochs, "device": device}
    for done, (system, size) in enumerate(wanted):
        name = f"{system}, {size:,} sentences"
        report(done, len(wanted), name)
        runs[system, size] = run_of(
            system,
            corpora,
            size,
            options=network,
            folder=kept,
            report=lambda what, done=done: report(done, len(wanted), what),  # type: ignore[misc]  # bound at once
        )
    full = [runs[system, everything] for system in chosen]
    swept = next((run for run in reversed(full) if run.probabilities is not None), None)
    sizes = sorted({*smaller, everything}) if smaller else []
    points, reversals = _curve(gold, {size: runs[learner, size] for size in sizes}, level)
    return SegmentationStudy(
        corpus={name: own.facts() for name, own in corpora._asdict().items()},
        seed=rng,
        runs=tuple(runs.values()),
        comparisons=_compare_systems(gold, full, corpora, level),
        sweep=None
        if swept is None
        else segmentation_sweep(gold, swept.probabilities or (), steps, level=level),
        sweep_system=None if swept is None else swept.system,
        curve=points,
        curve_system=learner if points else None,
        reversals=reversals,
    )


def _compare_systems(
    gold: Any, full: Sequence[SegmenterRun], corpora: Corpora, level: float
) -> Comparisons:
    """Compare all pairs of systems; a single one has scores only."""
    how: dict[str, Any] = {"names": [run.system for run in full], "level": level}
    how |= {"task": "segmentation", "train_words": corpora.train.words}
    outputs = [run.words for run in full]
    if len(full) > 1:
        return compare(gold, *outputs, metric=_METRICS, all_pairs=True, **how)
    alone = score(gold, *outputs, **how)
    return Comparisons(**{entry.name: getattr(alone, entry.name) for entry in fields(alone)})


def _curve(
    gold: Any, runs: dict[int, SegmenterRun], level: float
) -> tuple[tuple[CurvePoint, ...], tuple[Reversal, ...]]:
    """Score after training on more and more sentences; find where only recall rises."""
    if len(runs) < 2:
        return (), ()
    how: dict[str, Any] = {"level": level, "task": "segmentation"}
    scores = score(gold, *(run.words for run in runs.values()), names=list(map(str, runs)), **how)
    points = [CurvePoint(size, scores[i]) for i, size in enumerate(runs)]
    pair = ("recall", "precision")
    reversals = []
    for before, after in pairwise(points):
        rise, fall = (after.scores[m].estimate - before.scores[m].estimate for m in pair)
        if rise > 0 > fall:
            sizes = before.sentences, after.sentences
            outputs, names = [runs[n].words for n in sizes], [f"{n} sentences" for n in sizes]
            found = compare(gold, *outputs, names=names, metric=pair, **how).comparisons
            reversals.append(Reversal(*sizes, *found))
    return tuple(points), tuple(reversals)
