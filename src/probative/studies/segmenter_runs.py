"""Training a segmenter and asking it for the test set; what is done is kept in a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.identity import code_digest
from probative.learners.words import split, without_spaces
from probative.reading.rawtext import texts_of
from probative.results import SegmenterRun
from probative.resume import ResumableFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative.reading.annotations import Segmented

__all__ = ["NEEDS", "SYSTEMS", "Corpora", "Sentences", "available", "run_of"]

SYSTEMS = ("maxmatch", "crf", "bigru")
NEEDS = {"crf": ("pycrfsuite", "crf"), "bigru": ("torch", "neural")}
# As the papers' CRF taggers; more iterations change little.
_CRF: dict[str, Any] = {"window": 2, "ngrams": (1, 2, 3), "c2": 0.1, "max_iterations": 100}


def available(system: str) -> bool:
    """Whether what a system needs is installed."""
    return system not in NEEDS or importlib.util.find_spec(NEEDS[system][0]) is not None


@dataclass(frozen=True)
class Sentences:
    """Words and texts of a corpus.

    Attributes
    ----------
    name
        The file.
    words, texts
        Its sentences: lists of words, and strings as they were written.
    """

    name: str
    words: list[list[str]]
    texts: list[str]

    @classmethod
    def of(cls, corpus: Segmented) -> Sentences:
        """Take the sentences of a file that was read."""
        words = [corpus.words(sentence) for sentence in range(corpus.n_sentences)]
        return cls(corpus.name, words, texts_of(corpus))

    def first(self, number: int) -> Sentences:
        """The first so many sentences."""
        return Sentences(self.name, self.words[:number], self.texts[:number])

    def facts(self) -> dict[str, Any]:
        """How much there is."""
        return {
            "file": Path(self.name).name,
            "sentences": len(self.words),
            "words": sum(map(len, self.words)),
        }

    def digest(self) -> str:
        """A short text that other sentences do not share."""
        content = "\n".join("\t".join((text, *words)) for text, words in self._pairs())
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _pairs(self) -> Any:
        return zip(self.texts, self.words, strict=True)


@dataclass(frozen=True)
class Corpora:
    """What to train on, what to choose the epoch by, and what to test on."""

    train: Sentences
    dev: Sentences
    test: Sentences

    def folder(self, path: Path | str) -> ResumableFolder:
        """A folder for what is trained and tested on these sentences."""
        run = {name: getattr(self, name).digest() for name in ("train", "dev", "test")}
        return ResumableFolder(path, {"study": "segmentation", **run})


def run_of(
    system: str,
    corpora: Corpora,
    size: int,
    *,
    options: dict[str, Any],
    folder: ResumableFolder | None,
    report: Callable[[str], None],
) -> SegmenterRun:
    """Train a system on the first `size` sentences, or take what a folder kept of that.

    Parameters
    ----------
    system
        One of `SYSTEMS`.
    corpora
        Training, development and test sentences.
    size
        How many training sentences.
    options
        `seed`, `spaces`; for the network also `epochs` and `device`.
    folder
        Where finished runs are kept; None for nowhere.
    report
        Told how the training of the network goes.
    """
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
        module, extra = NEEDS[system]
        raise InputError(
            f"systems: {system} needs {module}; install it with: pip install 'probative[{extra}]'"
        )
    if system == "maxmatch":
        from probative.learners.maxmatch import MaxMatchSegmenter

        return MaxMatchSegmenter(spaces=options["spaces"])
    if system == "crf":
        from probative.learners.crf_segmenter import CRFSegmenter

        return CRFSegmenter(spaces=options["spaces"], **_CRF)
    from probative.learners.bigru import BiGRUSegmenter

    return BiGRUSegmenter(**options)


def _train(
    system: str,
    segmenter: Any,
    train: Sentences,
    corpora: Corpora,
    report: Callable[[str], None],
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
    history = getattr(segmenter, "history", None)
    losses = [(e.training_loss, e.development_loss) for e in history] if history else None
    return SegmenterRun(
        system=system,
        sentences=len(train.words),
        seconds=round(time.perf_counter() - start, 2),
        machine=_machine(segmenter),
        losses=None if losses is None else tuple(losses),
        best_epoch=None if losses is None else 1 + int(np.argmin([dev for _, dev in losses])),
        words=words,
        probabilities=probabilities,
    )


def _machine(segmenter: Any) -> str:
    where = getattr(segmenter, "computed_on", None) or "CPU, 1 thread"
    return f"{where}, {platform.system()} {platform.machine()}"


def _record(run: SegmenterRun) -> dict[str, Any]:
    """A run as it is kept: instead of the words, where they begin."""
    rows = run.probabilities
    return {
        **run.to_dict(),
        "boundaries": [_encode(words) for words in run.words],
        "probabilities": None if rows is None else [row.tolist() for row in rows],
    }


def _encode(words: Sequence[str]) -> str:
    """A digit for every inner position: 1 where a word begins."""
    return "1".join("0" * (len(word) - 1) for word in words)


def _restore(kept: Any, system: str, size: int, test: Sentences) -> SegmenterRun:
    """The run that was kept; ValueError where it is none of this test set."""
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
        losses = tuple((_loss(training), _loss(development)) for training, development in losses)
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


def _loss(value: Any) -> float:
    return math.nan if value is None else float(value)
