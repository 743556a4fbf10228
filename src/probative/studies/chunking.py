"""Does a finer tag set make a better chunker? The three experiments of Wang and Li.

Word segmentation with the tags B M E S against B B2 B3 M E S; entities of any type, and entities of
one type, with I O B against I O B E S. All models are conditional random fields over uni-, bi- and
trigrams in a window of two tokens to either side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative._renamed import renamed
from probative.crossval.corpus import read_corpora
from probative.crossval.runner import compare_models
from probative.errors import InputError
from probative.learners.crf import CRFChunker
from probative.reading.opening import Options, open_input
from probative.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative.crossval.corpus import Corpus
    from probative.reading.opening import Input
    from probative.results import ModelComparison

__all__ = ["TAG_SETS", "ChunkingResult", "chunking_study"]

TAG_SETS = {"cws": ("bmes", "bb2b3mes"), "ner": ("iob2", "iobes"), "org": ("iob2", "iobes")}


@dataclass(frozen=True, eq=False)
class ChunkingResult(Result):
    """One of the three experiments.

    Attributes
    ----------
    task
        ``cws``, ``ner`` or ``org``.
    corpus, sentences, tokens, chunks
        The files, and how much there is in them; for segmentation the tokens are characters.
    label
        The one type of the org task.
    comparison
        The two models on the folds.
    """

    task: str
    corpus: str
    sentences: int
    tokens: int
    chunks: int
    label: str | None
    comparison: ModelComparison = field(repr=False)

    def __str__(self) -> str:
        return f"{self.task} on {self.corpus}: {self.comparison}"


@renamed(random_state="rng")
def chunking_study(
    *,
    cws: Sequence[Path | str] = (),
    ner: Sequence[Path | str] = (),
    label: str = "ORG",
    features: Sequence[int] | None = None,
    encoding: str | None = None,
    m: int = 3,
    rng: int | None = None,
    n_jobs: int | None = None,
    folder: Path | str | None = None,
    report: Callable[[int, int], None] = lambda done, total: None,
    **crf: Any,
) -> list[ChunkingResult]:
    """Run the three experiments on corpora of one's own.

    Parameters
    ----------
    cws
        Files of segmented text (or column files, whose words are taken), for word segmentation.
    ner
        Files with entities, for the tasks ner (all entities, without their types) and org.
    label
        The type of the org task.
    features
        Columns (from 1) beside the word; by default the second of four, where CoNLL-2003 has the
        part of speech.
    encoding
        The encoding of the files.
    m, rng, n_jobs, report
        As for `probative.compare_models`.
    folder
        Where to keep what is done; each task has a folder in it.
    **crf
        Options of `probative.learners.crf.CRFChunker`.
    """
    designs = [
        *([("cws", _words(cws, encoding))] if cws else []),
        *(_entities(ner, label, features, encoding) if ner else []),
    ]
    if not designs:
        raise InputError("cws, ner: no corpus; expected at least one of them")
    fits = 4 * m
    results = []
    for number, (task, corpus) in enumerate(designs):
        scheme_a, scheme_b = TAG_SETS[task]
        comparison = compare_models(
            CRFChunker(scheme_a, **crf),
            CRFChunker(scheme_b, **crf),
            corpus.sentences,
            corpus.spans,
            m=m,
            rng=rng,
            n_jobs=n_jobs,
            names=(scheme_a.upper(), scheme_b.upper()),
            folder=None if folder is None else Path(folder) / task,
            report=lambda done, _, number=number: report(  # type: ignore[misc]  # bound at once
                number * fits + done, len(designs) * fits
            ),
        )
        results.append(
            ChunkingResult(
                task,
                corpus.name,
                len(corpus),
                sum(len(sentence) for sentence in corpus.sentences),
                sum(len(spans) for spans in corpus.spans),
                label if task == "org" else None,
                comparison,
            )
        )
    return results


def _words(paths: Sequence[Path | str], encoding: str | None) -> Corpus:
    return read_corpora(paths, task="segmentation", encoding=encoding)


def _entities(
    paths: Sequence[Path | str], label: str, features: Sequence[int] | None, encoding: str | None
) -> list[tuple[str, Corpus]]:
    opened = [open_input(path, Options(task="entities", encoding=encoding)) for path in paths]
    if features is None:
        features = [2] if all(map(_has_part_of_speech, opened)) else []
    corpus = read_corpora(opened, features=features)
    return [("ner", corpus.select(ignore_type=True)), ("org", corpus.select(only=[label]))]


def _has_part_of_speech(opened: Input) -> bool:
    """Whether a file has the four columns of CoNLL-2003: word, part of speech, chunk, entity."""
    return opened.kind == "columns" and opened.layout.width == 4 and not opened.layout.numbered
