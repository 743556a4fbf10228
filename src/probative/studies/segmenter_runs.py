"""Training a segmenter and asking it for the test set; what is done is kept in a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import write_whole
from probative.learners.words import split
from probative.reading.rawtext import texts_of
from probative.results import SegmenterRun

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


def run_of(
    system: str,
    corpora: Corpora,
    size: int,
    *,
    options: dict[str, Any],
    folder: Path | None,
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
    key = {
        "system": system,
        "model": repr(segmenter).split(", device=")[0],
        "train": train.digest(),
        "dev": corpora.dev.digest(),
        "test": corpora.test.digest(),
    }
    path = None if folder is None else folder / f"{system}-{size}.json"
    if path is not None and path.exists():
        return _restored(path, key, corpora.test)
    run = _trained(system, segmenter, train, corpora, report)
    if path is not None:
        _keep(path, key, run)
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


def _trained(
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


def _keep(path: Path, key: dict[str, Any], run: SegmenterRun) -> None:
    content = {
        "run": key,
        **run.to_dict(),
        "boundaries": [_coded(words) for words in run.words],
        "probabilities": None
        if run.probabilities is None
        else [row.tolist() for row in run.probabilities],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(content) + "\n")


def _coded(words: Sequence[str]) -> str:
    """A digit for every inner position: 1 where a word begins."""
    return "1".join("0" * (len(word) - 1) for word in words)


def _restored(path: Path, key: dict[str, Any], test: Sentences) -> SegmenterRun:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        recorded = content["run"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("cannot be read; delete it to do its part again", path) from None
    other = [name for name in key if recorded.get(name) != key[name]]
    if other:
        raise InputError(
            f"is of another run ({', '.join(other)} differ); expected another folder, or delete it",
            path,
        )
    rows = content["probabilities"]
    coded = zip(test.texts, content["boundaries"], strict=True)
    return SegmenterRun(
        system=content["system"],
        sentences=content["sentences"],
        seconds=content["seconds"],
        machine=content["machine"],
        losses=tuple(map(tuple, content["losses"])) if content.get("losses") else None,
        best_epoch=content.get("best_epoch"),
        words=[split(text, [digit == "1" for digit in digits]) for text, digits in coded],
        probabilities=None if rows is None else [np.array(row, dtype=np.float64) for row in rows],
    )
