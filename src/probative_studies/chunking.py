"""Does a finer tag set make a better chunker? The three experiments of Wang and Li.

Word segmentation with the tags B M E S against B B2 B3 M E S; entities of any type, and entities of
one type, with I O B against I O B E S. All models are conditional random fields over uni-, bi- and
trigrams in a window of two tokens to either side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probative.crossval.corpus import Corpus, read_corpora
from probative.crossval.runner import compare_models
from probative.errors import InputError
from probative.learners.crf import CRFChunker
from probative.reading.formats import Options, open_input
from probative.reporting.document import Document, Table, payload
from probative.results import ModelComparison, Result
from probative.wording.numbers import number, points
from probative_studies.harness import Report, part, quiet

TAG_SETS = {"cws": ("bmes", "bb2b3mes"), "ner": ("iob2", "iobes"), "org": ("iob2", "iobes")}


@dataclass(frozen=True, eq=False)
class ChunkingResult(Result):
    """One of the three experiments."""

    task: str  # ``cws``, ``ner`` or ``org``
    corpus: str  # the files
    sentences: int
    tokens: int  # for segmentation, characters
    chunks: int
    label: str | None  # the one type of the org task
    comparison: ModelComparison = field(repr=False)  # the two models on the folds

    def __str__(self) -> str:
        return f"{self.task} on {self.corpus}: {self.comparison}"


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
    report: Report = quiet,
    **crf: Any,
) -> list[ChunkingResult]:
    """Run the three experiments on corpora of one's own."""
    designs = [
        *([("cws", read_corpora(cws, task="segmentation", encoding=encoding))] if cws else []),
        *(_entities(ner, label, features, encoding) if ner else []),
    ]
    if not designs:
        raise InputError("cws, ner: no corpus; expected at least one of them")
    results = []
    for place, (task, corpus) in enumerate(designs):
        a, b = (CRFChunker(scheme, **crf) for scheme in TAG_SETS[task])
        how: dict[str, Any] = {"m": m, "rng": rng, "n_jobs": n_jobs}
        how["names"] = tuple(scheme.upper() for scheme in TAG_SETS[task])
        how["folder"] = None if folder is None else Path(folder) / task
        how["report"] = part(report, place, len(designs))
        comparison = compare_models(a, b, corpus.sentences, corpus.spans, **how)
        tokens, chunks = (sum(map(len, own)) for own in (corpus.sentences, corpus.spans))
        kind = label if task == "org" else None
        sizes = len(corpus), tokens, chunks
        results.append(ChunkingResult(task, corpus.name, *sizes, kind, comparison))
    return results


def _entities(
    paths: Sequence[Path | str], label: str, features: Sequence[int] | None, encoding: str | None
) -> list[tuple[str, Corpus]]:
    opened = [open_input(path, Options(task="entities", encoding=encoding)) for path in paths]
    if features is None:  # the second of the four columns of CoNLL-2003 is the part of speech
        conll = all(
            one.kind == "columns" and one.layout.width == 4 and not one.layout.numbered
            for one in opened
        )
        features = [2] if conll else []
    corpus = read_corpora(opened, features=features)
    return [("ner", corpus.select(ignore_type=True)), ("org", corpus.select(only=[label]))]


# --- The chunking experiments as a document, beside the published figures.

_TASKS = {"cws": "Word segmentation", "ner": "Entities of any type", "org": "Entities of one type"}
_LEGEND = (
    "ind.: independent posteriors, as in the paper; paired: the posterior that knows that both "
    "models saw the same sentences. pub.: the paper's figures, on its own corpora."
)
_SHORT = {"precision": "P", "recall": "R", "f1": "F1"}


def chunking_document(
    results: Sequence[Any], published: Mapping[str, Any], *, signature: str
) -> Document:
    """Show the experiments, each beside what the paper found on its own corpora."""
    tasks = [
        {
            **{key: value for key, value in result.to_dict().items() if key != "comparison"},
            "tests": [test.to_dict() for test in result.comparison.tests],
            "folds": [fold.to_dict() for fold in result.comparison.folds],
            "seed": result.comparison.seed,
        }
        for result in results
    ]
    about = ("task", "corpus")
    records = [{**{k: own[k] for k in about}, **test} for own in tasks for test in own["tests"]]
    content = payload("study chunking", signature, tasks=tasks)
    tables = tuple(_table(result, published[result.task]) for result in results)
    title = "Does a finer tag set make a better chunker?"
    return Document(title, content, tables, tuple(records), notes=(_LEGEND, signature))


def _table(result: Any, published: Mapping[str, Any]) -> Table:
    comparison = result.comparison
    rows = []
    for paired, independent in zip(comparison.tests[::2], comparison.tests[1::2], strict=True):
        theirs = published[paired.metric]
        limits = independent.interval_a, independent.interval_b
        rows.append(
            (
                _SHORT[paired.metric],
                *(f"{points(low)}–{points(high)}" for low, high in limits),
                *(number(independent.p_h0), independent.decision),
                *(number(paired.p_h0), paired.decision),
                *(f"{low:.2f}–{high:.2f}" for low, high in (theirs["a"], theirs["b"])),
                *(number(theirs["p_h0"]), theirs["decision"]),
            )
        )
    kind = f"{_TASKS[result.task]}{f' ({result.label})' if result.label else ''}"
    seconds = sum(fold.seconds or 0 for fold in comparison.folds)
    size = (
        f"{result.sentences:,} sentences, {result.tokens:,} tokens, {result.chunks:,} chunks; "
        f"{len(comparison.folds)} fits, {seconds:,.0f} seconds of computing; "
        f"seed {comparison.seed}."
    )
    a, b = comparison.a, comparison.b
    heads = ["metric", a, b, "P(H0) ind.", "decision", "P(H0) paired", "decision"]
    heads += [f"pub. {a}", f"pub. {b}", "pub. P(H0)", "pub."]
    return Table(tuple(heads), tuple(rows), title=f"{kind}: {result.corpus}", notes=(size,))
