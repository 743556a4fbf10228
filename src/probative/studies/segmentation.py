"""The experiments of "Recall is the Proper Evaluation Metric for Word Segmentation".

Three segmenters on one language: maximum matching with the lexicon of the training set, a
conditional random field, and the paper's bidirectional GRU. Their scores (the paper's table 2)
with intervals and paired tests, which the paper did not have; the threshold sweep of its figure 1;
the learning curve of its figure 2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from probative._renamed import renamed
from probative._validation import one_of, whole_number
from probative.comparison import compare
from probative.errors import InputError
from probative.evaluation import score
from probative.results import CurvePoint, Reversal, SegmentationStudy
from probative.studies.segmenter_runs import NEEDS, SYSTEMS, Corpora, Sentences, available, run_of
from probative.sweep import segmentation_sweep, segmented

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from probative.results import Comparisons, SegmentationSweep, SegmenterRun

__all__ = ["SYSTEMS", "installed_systems", "segmentation_study"]

_METRICS = ("recall", "precision", "f1")


def installed_systems() -> tuple[list[str], list[str]]:
    """The systems that can run here, and what must be said of the others."""
    missing = [
        f"{system} is left out: it needs {module} (pip install 'probative[{extra}]')"
        for system, (module, extra) in NEEDS.items()
        if not available(system)
    ]
    return [system for system in SYSTEMS if available(system)], missing


@renamed(seed="rng")
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

    Parameters
    ----------
    train, dev, test
        Files (CoNLL-U, columns with one word per line, or segmented text), or lists of words a
        sentence. Where a file has ``# text =`` comments, these are the texts to segment, with
        their spaces; elsewhere the words are joined.
    systems
        Of maxmatch, crf and bigru; by default those that are installed.
    sizes
        Numbers of training sentences for the learning curve; all of them are added.
    curve
        Whose learning curve; by default that of the last system.
    spaces
        Whether the segmenters see the spaces of the texts.
    epochs, device
        Of the network: how often it sees the training set, and where it is computed.
    rng
        The seed of the network.
    steps
        Of the sweep.
    level
        Of the intervals.
    folder
        Where finished runs are kept, so that they are not repeated. Systems and sizes may be added
        later; other sentences, options or versions are refused.
    report
        Called with the number of runs done and of all, and what is being done.

    Returns
    -------
    SegmentationStudy
        Everything, with the paper's two observations confirmed or not.

    Examples
    --------
    >>> from probative.studies.segmentation import segmentation_study
    >>> sentences = [["to", "be"], ["or", "not"], ["not", "to", "be"]] * 10
    >>> study = segmentation_study(
    ...     sentences, sentences[:5], [["be", "or", "not"]] * 3, systems=["maxmatch"]
    ... )
    >>> round(study.comparisons.systems[0]["recall"].estimate, 4)
    1.0
    """
    chosen = list(systems) if systems is not None else installed_systems()[0]
    for system in chosen:
        one_of("systems", system, SYSTEMS)
    if not chosen:
        raise InputError(f"systems: none; expected some of {', '.join(SYSTEMS)}")
    learner = one_of("curve", curve if curve is not None else chosen[-1], SYSTEMS)
    gold = segmented(test, "test")
    corpora = Corpora(
        Sentences.of(segmented(train, "train")),
        Sentences.of(segmented(dev, "dev")),
        Sentences.of(gold),
    )
    kept = None if folder is None else corpora.folder(folder)
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
    points, reversals = _curve(gold, learner, runs, smaller and [*smaller, everything], level)
    return SegmentationStudy(
        corpus={name: getattr(corpora, name).facts() for name in ("train", "dev", "test")},
        seed=rng,
        runs=tuple(runs.values()),
        comparisons=_compare_systems(gold, full, corpora, level),
        sweep=None if swept is None else _sweep(gold, swept, steps, level),
        sweep_system=None if swept is None else swept.system,
        curve=points,
        curve_system=learner if points else None,
        reversals=reversals,
    )


def _compare_systems(
    gold: Any, full: Sequence[SegmenterRun], corpora: Corpora, level: float
) -> Comparisons:
    """All pairs of systems; a single one has scores only."""
    how: dict[str, Any] = {
        "names": [run.system for run in full],
        "level": level,
        "task": "segmentation",
        "train_words": corpora.train.words,
    }
    outputs = [run.words for run in full]
    if len(full) > 1:
        return compare(gold, *outputs, metric=_METRICS, all_pairs=True, **how)
    from dataclasses import fields

    from probative.results import Comparisons

    alone = score(gold, *outputs, **how)
    return Comparisons(**{entry.name: getattr(alone, entry.name) for entry in fields(alone)})


def _sweep(gold: Any, run: SegmenterRun, steps: int, level: float) -> SegmentationSweep:
    return segmentation_sweep(gold, run.probabilities or (), steps, level=level)


def _curve(
    gold: Any,
    system: str,
    runs: dict[tuple[str, int], SegmenterRun],
    sizes: Sequence[int],
    level: float,
) -> tuple[tuple[CurvePoint, ...], tuple[Reversal, ...]]:
    """Scores after training on ever more sentences, and where precision falls but recall rises."""
    sizes = sorted(set(sizes))
    if len(sizes) < 2:
        return (), ()
    outputs = [runs[system, size].words for size in sizes]
    names = [f"{size}" for size in sizes]
    scores = score(gold, *outputs, names=names, level=level, task="segmentation")
    points = [CurvePoint(size, scores[i]) for i, size in enumerate(sizes)]
    reversals = []
    for (i, before), (j, after) in pairwise(enumerate(points)):
        rise, fall = (
            after.scores[metric].estimate - before.scores[metric].estimate
            for metric in ("recall", "precision")
        )
        if rise > 0 > fall:
            recall, precision = compare(
                gold,
                outputs[i],
                outputs[j],
                names=[f"{before.sentences} sentences", f"{after.sentences} sentences"],
                metric=("recall", "precision"),
                level=level,
                task="segmentation",
            ).comparisons
            reversals.append(Reversal(before.sentences, after.sentences, recall, precision))
    return tuple(points), tuple(reversals)
