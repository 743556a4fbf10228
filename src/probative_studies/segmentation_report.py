"""Hold and show the results of the study of word segmentation: tables, figures and files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from probative.options import sign
from probative.reporting.document import Document, Table, payload
from probative.reporting.figures import figure, figure_bytes
from probative.reporting.pictures import Lines
from probative.reporting.render import as_json, as_markdown
from probative.reporting.sweep_report import (
    NAMES,
    best_table,
    score_cells,
    score_series,
    sweep_picture,
    sweep_table,
)
from probative.results import Result
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative._validation import Array
    from probative.results import Comparison, Comparisons, SegmentationSweep, SystemScores

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
        return tuple(text for text in (self._peaks(), self._falls()) if text)

    def _peaks(self) -> str:
        if self.sweep is None:
            return ""
        precision, recall = (self.sweep.best_of(name) for name in ("precision", "recall"))
        holds = "confirmed" if precision.finest_share < recall.finest_share else "not confirmed"
        return (
            f"Precision peaks at a smaller λ than recall: {holds} ({self.sweep_system}: "
            f"λ = {precision.finest_share:.4f} against {recall.finest_share:.4f} of all λ; "
            f"{precision.share:g} against {recall.share:g} of the steps)."
        )

    def _falls(self) -> str:
        if len(self.curve) < 2:
            return ""
        steps = f"{len(self.reversals)} of {len(self.curve) - 1} steps of the learning curve"
        if not self.reversals:
            return f"Precision can fall while recall rises: not confirmed, in {steps}."
        clear = sum(reversal.precision.pvalue <= 0.05 for reversal in self.reversals)
        return (
            f"Precision can fall while recall rises: confirmed, in {steps}: "
            f"{'; '.join(map(str, self.reversals))}. The fall by itself is significant "
            f"(p ≤ 0.05) in {clear} of them."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        entry = super().to_dict()
        comparisons = entry.pop("comparisons")
        kept = ("systems", "comparisons", "verdicts", "level", "units", "unit")
        return {
            **entry,
            **{key: comparisons[key] for key in kept},
            "observations": list(self.observations),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each comparison."""
        return self.comparisons.records()

    def _document(self) -> Document:
        return study_document(self, {}, html=True)

    def __str__(self) -> str:
        return " ".join((str(self.comparisons), *self.observations))


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
    notes = [*study.comparisons.verdicts, *study.observations]
    if published:
        notes.append(_TREEBANKS)
    return Document(
        title=f"Word segmentation of {study.corpus['test']['file']}",
        payload=payload(
            "study segmentation", signature, **study.to_dict(), published=dict(published)
        ),
        tables=tuple(table for table in tables if table.rows),
        records=tuple(_records(study)),
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
    rows += [
        (
            f"published, {figures['language']}",
            *(cell for name in _SCORES for cell in (points(figures[name]), "")),
            "",
            "",
        )
        for figures in published.values()
    ]
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
    rows = tuple(
        (
            f"{c.b} − {c.a}",
            NAMES[c.metric],
            *(points(value) for value in (c.difference, c.low, c.high)),
            _p(c.pvalue),
            *((_p(c.p_adjusted),) if adjusted else ()),
            number(c.p_b_better),
        )
        for c in comparisons
    )
    head = ("comparison", "score", "difference", "low", "high", "p")
    return Table(
        (*head, *(("p adjusted",) if adjusted else ()), "P(first better)"),
        rows,
        title=title,
        notes=("In points. p: exact two-sided randomisation test by sentence.",),
        text_columns=2,
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
    rows = tuple(
        (
            run.system,
            f"{run.sentences:,}",
            number(run.seconds, 1),
            "" if run.best_epoch is None else f"{run.best_epoch} of {len(run.losses or ())}",
            run.machine,
        )
        for run in study.runs
    )
    return Table(
        ("system", "sentences", "seconds", "best epoch", "computed on"),
        rows,
        title=f"What was trained (seed {study.seed})",
        closing_words=True,
    )


def _records(study: SegmentationStudy) -> list[dict[str, Any]]:
    size = study.corpus["train"]["sentences"]
    systems = [(system.name, size, system) for system in study.comparisons.systems]
    systems += [(study.curve_system or "", p.sentences, p.scores) for p in study.curve]
    return [
        {"system": name, "training_sentences": sentences, **score.to_dict()}
        for name, sentences, system in systems
        for score in system.scores
    ]


def _curve_picture(study: SegmentationStudy) -> Lines:
    """Picture the scores by training sentences; shade where recall rises and precision falls."""
    title = f"Scores of {study.curve_system} in points against training sentences."
    if study.reversals:
        title += " Shaded: recall rises and precision falls."
    columns = {name: _column([point.scores[name] for point in study.curve]) for name in _SCORES}
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


def _column(scores: Sequence[Any]) -> SimpleNamespace:
    """Return the estimates and intervals of one score along the learning curve."""
    ends = ("estimate", "low", "high")
    return SimpleNamespace(**{end: [getattr(score, end) for score in scores] for end in ends})


def _pictures(study: SegmentationStudy) -> dict[str, Lines]:
    """Return the pictures of the page and the files, by what they show."""
    pictures = {}
    if study.sweep is not None:
        pictures["Scores against λ"] = sweep_picture(study.sweep, str(study.sweep_system))
    if study.curve:
        pictures["Scores against training sentences"] = _curve_picture(study)
    return pictures


def output_files(study: SegmentationStudy, document: Document) -> dict[str, str | bytes]:
    """Return everything that a study leaves behind, by file name.

    Tables (Markdown), everything (JSON), figures 1 and 2 (PNG and SVG), the outputs of the systems
    as segmented text, and the boundary probabilities of the sweep.
    """
    files: dict[str, str | bytes] = {
        "study.json": as_json(document),
        "tables.md": as_markdown(document),
    }
    names = {"Scores against λ": "figure1", "Scores against training sentences": "figure2"}
    for title, picture in _pictures(study).items():
        for form in ("png", "svg"):
            files[f"{names[title]}.{form}"] = figure_bytes(figure(picture), form)
    size = study.corpus["train"]["sentences"]
    for run in study.runs:
        if run.sentences == size:
            files[f"{run.system}.txt"] = "".join(" ".join(words) + "\n" for words in run.words)
            if run.system == study.sweep_system:
                files["probabilities.jsonl"] = "".join(
                    json.dumps(row.tolist()) + "\n" for row in run.probabilities or ()
                )
    return files
