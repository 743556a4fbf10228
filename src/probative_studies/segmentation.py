"""The experiments of "Recall is the Proper Evaluation Metric for Word Segmentation".

Three segmenters on one language: maximum matching with the lexicon of the training set, a
conditional random field, and the paper's bidirectional GRU. Their scores (the paper's table 2)
with intervals and paired tests, which the paper did not have; the threshold sweep of its figure 1;
the learning curve of its figure 2.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from probative._validation import Array, one_of, whole_number
from probative.errors import InputError
from probative.files import ResumableFolder, code_digest
from probative.jobs.compare import compare
from probative.jobs.score import score
from probative.jobs.sweep import segmentation_sweep, segmented
from probative.learners.words import MaxMatchSegmenter, split, without_spaces
from probative.options import sign
from probative.reading.annotations import Segmented
from probative.reading.lines import texts_of
from probative.reporting.curve_report import (
    NAMES,
    best_table,
    score_cells,
    score_series,
    sweep_picture,
    sweep_table,
)
from probative.reporting.document import Column, Document, Table, Words, payload
from probative.reporting.pictures import Lines, figure, figure_bytes
from probative.reporting.render import as_json, as_markdown
from probative.results import Comparison, Comparisons, Result, SegmentationSweep, SystemScores
from probative.wording.numbers import number, points
from probative_studies.crf_segmenter import CRFSegmenter

# --- Results

_SCORES = tuple(NAMES)
_TREEBANKS = "Published figures are of Universal Dependencies 2.0; later releases differ from it."


@dataclass(frozen=True, eq=False, repr=False)
class SegmenterRun(Result):
    """A segmenter that was trained, and what it made of the test set."""

    system: str  # the segmenter, and how many sentences it was trained on
    sentences: int
    seconds: float  # for training and prediction
    machine: str  # what they were spent on
    # for the network: training and development loss of each epoch
    losses: tuple[tuple[float, float], ...] | None = None
    best_epoch: int | None = None  # for the network: the epoch whose weights were kept
    # its segmentation of the test set: one list of words per sentence
    words: Sequence[Sequence[str]] = field(default=(), repr=False)
    # of a boundary at every inner position, where the segmenter gives them and they were kept
    probabilities: Sequence[Array] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return (
            f"{self.system}, trained on {self.sentences:,} sentences in {self.seconds:.0f} s "
            f"({self.machine})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CurvePoint(Result):
    """Scores of a segmenter trained on so many sentences."""

    sentences: int  # the size of the training set
    scores: SystemScores  # counts and scores on the test set

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each score."""
        return [{"sentences": self.sentences, **record} for record in self.scores.records()]

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences: {self.scores}"


@dataclass(frozen=True, eq=False, repr=False)
class Reversal(Result):
    """Two training sizes between which recall rises and precision falls."""

    smaller: int  # the sizes
    larger: int
    recall: Comparison  # the two models compared on the test set
    precision: Comparison

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each of the two comparisons."""
        sizes = {"smaller": self.smaller, "larger": self.larger}
        return [{**sizes, **c.records()[0]} for c in (self.recall, self.precision)]

    def __str__(self) -> str:
        return (
            f"from {self.smaller:,} to {self.larger:,} sentences: "
            f"recall {100 * self.recall.difference:+.2f} points (p = {self.recall.pvalue:.3g}), "
            f"precision {100 * self.precision.difference:+.2f} (p = {self.precision.pvalue:.3g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SegmentationStudy(Result):
    """Segmenters on one language: their scores and differences, the sweep, the learning curve."""

    corpus: dict[str, dict[str, str | int]]  # the files, and how many sentences and words they have
    seed: int  # of whatever is random
    runs: tuple[SegmenterRun, ...]  # what was trained
    comparisons: Comparisons  # scores of the systems trained on everything, and all pairs compared
    # the threshold sweep, and whose it is; None where no system gives probabilities
    sweep: SegmentationSweep | None
    sweep_system: str | None
    # the learning curve, smallest training set first, and whose it is
    curve: tuple[CurvePoint, ...]
    curve_system: str | None
    reversals: tuple[Reversal, ...]  # where recall rises and precision falls on that curve

    @property
    def observations(self) -> tuple[str, ...]:
        """Say what became of the two observations of Shao, Hardmeier and Nivre."""
        said = []
        if self.sweep is not None:
            precision, recall = (self.sweep.best_of(name) for name in ("precision", "recall"))
            holds = "confirmed" if precision.finest_share < recall.finest_share else "not confirmed"
            said.append(
                f"Precision peaks at a smaller λ than recall: {holds} ({self.sweep_system}: "
                f"λ = {precision.finest_share:.4f} against {recall.finest_share:.4f} of all λ; "
                f"{precision.share:g} against {recall.share:g} of the steps)."
            )
        if len(self.curve) > 1:
            steps = f"{len(self.reversals)} of {len(self.curve) - 1} steps of the learning curve"
            clear = sum(reversal.precision.pvalue <= 0.05 for reversal in self.reversals)
            found = f"not confirmed, in {steps}."
            if self.reversals:
                found = (
                    f"confirmed, in {steps}: {'; '.join(map(str, self.reversals))}. The fall by "
                    f"itself is significant (p ≤ 0.05) in {clear} of them."
                )
            said.append(f"Precision can fall while recall rises: {found}")
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        entry = super().to_dict()
        comparisons = entry.pop("comparisons")
        kept = ("systems", "comparisons", "verdicts", "level", "units", "unit")
        entry |= {key: comparisons[key] for key in kept}
        return entry | {"observations": list(self.observations)}

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each comparison."""
        return self.comparisons.records()

    def _document(self) -> Document:
        return study_document(self, {}, html=True)

    def __str__(self) -> str:
        return " ".join((str(self.comparisons), *self.observations))


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

    def facts(self) -> dict[str, Any]:
        """Return the numbers of sentences and words."""
        words = sum(map(len, self.words))
        return {"file": Path(self.name).name, "sentences": len(self.words), "words": words}

    def digest(self) -> str:
        """Return a short text that other sentences do not share."""
        pairs = zip(self.texts, self.words, strict=True)
        content = "\n".join("\t".join((text, *words)) for text, words in pairs)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Corpora(NamedTuple):
    """Sentences to train on, to choose the epoch by, and to test on."""

    train: Sentences
    dev: Sentences
    test: Sentences


def run_of(
    system: str,
    corpora: _Corpora,
    size: int,
    *,
    options: dict[str, Any],
    folder: ResumableFolder | None,
    report: Callable[[str], None],
) -> SegmenterRun:
    """Train a system on the first `size` sentences, or take what a folder kept of that."""
    whole = corpora.train
    train = Sentences(whole.name, whole.words[:size], whole.texts[:size])
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
    # where words begin, instead of the words: a digit for every inner position, 1 for a beginning
    begins = ["1".join("0" * (len(word) - 1) for word in words) for words in run.words]
    rows = None if run.probabilities is None else [row.tolist() for row in run.probabilities]
    folder.keep(name, part, {**run.to_dict(), "boundaries": begins, "probabilities": rows})
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
        return CRFSegmenter(spaces=options["spaces"], **_CRF)
    from probative.learners.bigru import BiGRUSegmenter

    return BiGRUSegmenter(**options)


def _train(
    system: str, segmenter: Any, train: Sentences, corpora: _Corpora, report: Callable[[str], None]
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
    corpora = _Corpora(*map(Sentences.of, (*others, gold)))
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
    sweep = None
    if swept is not None:
        sweep = segmentation_sweep(gold, swept.probabilities or (), steps, level=level)
    sizes = sorted({*smaller, everything}) if smaller else []
    points, reversals = _curve(gold, {size: runs[learner, size] for size in sizes}, level)
    return SegmentationStudy(
        corpus={name: own.facts() for name, own in corpora._asdict().items()},
        seed=rng,
        runs=tuple(runs.values()),
        comparisons=_compare_systems(gold, full, corpora, level),
        sweep=sweep,
        sweep_system=None if swept is None else swept.system,
        curve=points,
        curve_system=learner if points else None,
        reversals=reversals,
    )


def _compare_systems(
    gold: Any, full: Sequence[SegmenterRun], corpora: _Corpora, level: float
) -> Comparisons:
    """Compare all pairs of systems; a single one has scores only."""
    how: dict[str, Any] = {"names": [run.system for run in full], "level": level}
    how |= {"task": "segmentation", "train_words": corpora.train.words}
    outputs = [run.words for run in full]
    if len(full) > 1:
        return compare(gold, *outputs, metric=_METRICS, all_pairs=True, **how)
    alone = score(gold, *outputs, **how)
    return Comparisons(alone)


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


# --- The study as a document, figures and files


def study_document(
    study: SegmentationStudy,
    published: Mapping[str, Any],
    *,
    html: bool = False,
    signature: str = "",
) -> Document:
    """Show a study."""
    signature = signature or sign("segmentation", f"level:{study.comparisons.level:g}")
    tables = [_table2(study, published), _differences(study.comparisons.comparisons)]
    if study.sweep is not None:
        tables += [sweep_table(study.sweep), best_table(study.sweep)]
    if study.curve:
        tables += [_curve_table(study)]
    if study.reversals:
        pairs = [c for reversal in study.reversals for c in (reversal.recall, reversal.precision)]
        tables.append(_differences(pairs, title="Where recall rises and precision falls"))
    tables.append(_runs(study))
    size = study.corpus["train"]["sentences"]
    systems = [(system.name, size, system) for system in study.comparisons.systems]
    systems += [(study.curve_system or "", p.sentences, p.scores) for p in study.curve]
    notes = [*study.comparisons.verdicts, *study.observations]
    if published:
        notes.append(_TREEBANKS)
    return Document(
        title=f"Word segmentation of {study.corpus['test']['file']}",
        payload=payload(
            "study segmentation", signature, **study.to_dict(), published=dict(published)
        ),
        tables=tuple(table for table in tables if table.rows),
        records=tuple(
            {"system": name, "training_sentences": sentences, **score.to_dict()}
            for name, sentences, system in systems
            for score in system.scores
        ),
        notes=(*notes, signature),
        pictures=tuple(_pictures(study).values()) if html else (),
    )


def _table2(study: SegmentationStudy, published: Mapping[str, Any]) -> Table:
    """Show the systems, and the published scores of the network below them."""
    comparisons = study.comparisons
    level = f"{100 * comparisons.level:g} %"
    rows = [
        (
            system.name,
            *(cell for name in _SCORES for cell in score_cells(system[name])),
            number(system.splitting_bias),
            points(system["oov_recall"].estimate),
        )
        for system in comparisons.systems
    ]
    for figures in published.values():
        cells = (cell for name in _SCORES for cell in (points(figures[name]), ""))
        rows.append((f"published, {figures['language']}", *cells, "", ""))
    heads = (head for name in _SCORES for head in (NAMES[name], level))
    train, test = study.corpus["train"], study.corpus["test"]
    note = (
        f"Trained on {train['sentences']:,} sentences of {train['file']}, tested on "
        f"{test['sentences']:,} sentences ({test['words']:,} words) of {test['file']}. Unknown "
        f"words: recall of words that the training set has not. Read the recall: precision and F1 "
        f"reward splitting too little."
    )
    return Table(
        ("system", *heads, "splitting bias", "unknown words"),
        tuple(rows),
        title="Scores in points (table 2)",
        notes=(note,),
    )


def _differences(
    comparisons: Sequence[Comparison], title: str = "Differences of the systems"
) -> Table:
    adjusted = any(c.p_adjusted is not None for c in comparisons)
    return Table.of(
        comparisons,
        Words("comparison", lambda c: f"{c.b} − {c.a}"),
        Words("score", lambda c: NAMES[c.metric]),
        *(Column(name, form=points) for name in ("difference", "low", "high")),
        Column("p", "pvalue", _p),
        Column("p adjusted", "p_adjusted", _p, when=adjusted),
        Column("P(first better)", "p_b_better", number),
        title=title,
        notes="In points. p: exact two-sided randomisation test by sentence.",
    )


def _p(value: float | None) -> str:
    if value is None:
        return ""
    if value == 0:
        return "< 1e−300"  # too small for a floating-point number
    return f"{value:.1e}".replace("-", "−") if value < 0.0001 else number(value, 4)


def _curve_table(study: SegmentationStudy) -> Table:
    marked = {reversal.larger for reversal in study.reversals}
    rows = tuple(
        (
            f"{point.sentences:,}",
            *(cell for name in _SCORES for cell in score_cells(point.scores[name])),
            number(point.scores.splitting_bias),
            "recall up, precision down" if point.sentences in marked else "",
        )
        for point in study.curve
    )
    level = f"{100 * study.comparisons.level:g} %"
    heads = (head for name in _SCORES for head in (NAMES[name], level))
    return Table(
        ("sentences", *heads, "splitting bias", "step"),
        rows,
        title=f"Learning curve of {study.curve_system}, in points",
        text_columns=0,
        closing_words=True,
    )


def _runs(study: SegmentationStudy) -> Table:
    def best(run: SegmenterRun) -> str:
        return "" if run.best_epoch is None else f"{run.best_epoch} of {len(run.losses or ())}"

    columns = [
        Words("system"),
        Column("sentences", form="{:,}".format),
        Column("seconds", form=partial(number, digits=1)),
        Column("best epoch", best),
        Words("computed on", "machine"),
    ]
    return Table.of(study.runs, *columns, title=f"What was trained (seed {study.seed})")


def _curve_picture(study: SegmentationStudy) -> Lines:
    """Picture the scores by training sentences; shade where recall rises and precision falls."""
    title = f"Scores of {study.curve_system} in points against training sentences."
    if study.reversals:
        title += " Shaded: recall rises and precision falls."
    columns = {}  # the estimates and intervals of each score along the curve
    for name in _SCORES:
        scores = [point.scores[name] for point in study.curve]
        ends = {end: [getattr(s, end) for s in scores] for end in ("estimate", "low", "high")}
        columns[name] = SimpleNamespace(**ends)
    series = score_series([point.sentences for point in study.curve], columns)
    steps = tuple((reversal.smaller, reversal.larger) for reversal in study.reversals)
    return Lines(
        [replace(series[0], ranges=steps), *series[1:]],
        axis="training sentences",
        up="score in points",
        title=title,
        description=" ".join(study.observations),
        note=f"{study.curve_system}{'; shaded: recall up, precision down' * bool(steps)}",
    )


def _pictures(study: SegmentationStudy) -> dict[str, Lines]:
    """Return the pictures of the page and the files, by the names of the files."""
    pictures = {}
    if study.sweep is not None:
        pictures["figure1"] = sweep_picture(study.sweep, str(study.sweep_system))
    if study.curve:
        pictures["figure2"] = _curve_picture(study)
    return pictures


def output_files(study: SegmentationStudy, document: Document) -> dict[str, str | bytes]:
    """Return everything that a study leaves behind, by file name."""
    files: dict[str, str | bytes] = {
        "study.json": as_json(document),
        "tables.md": as_markdown(document),
    }
    for name, picture in _pictures(study).items():
        for form in ("png", "svg"):
            files[f"{name}.{form}"] = figure_bytes(figure(picture), form)
    size = study.corpus["train"]["sentences"]
    for run in study.runs:
        if run.sentences == size:
            files[f"{run.system}.txt"] = "".join(" ".join(words) + "\n" for words in run.words)
            if run.system == study.sweep_system:
                files["probabilities.jsonl"] = "".join(
                    json.dumps(row.tolist()) + "\n" for row in run.probabilities or ()
                )
    return files
