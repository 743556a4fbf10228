"""Compute the agreement of two or more annotators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from probative._validation import Input, Systems, open_probability, shown
from probative.errors import InputError
from probative.inference.agreement import MISSING, Ratings, alpha_interval, doubt
from probative.inference.classes import ConfusedItems, confusion_interval
from probative.inference.intervals import interval
from probative.jobs.score import by_name, facts_of_reading, match_of, share_of, unit_of
from probative.matching.items import Items, numbered_alike
from probative.matching.labels import match_labels, only_in_a_system
from probative.matching.matched import Matched, match_inputs
from probative.matching.outputs import short_name
from probative.matching.segmentation import match_words
from probative.matching.spans import match_rule, match_spans
from probative.options import AgreementOptions, ReadingKeywords
from probative.reading.annotations import Labels, Segmented, Spans
from probative.reading.inputs import is_path
from probative.results import Agreement, Interval, PairAgreement

_ALWAYS_0 = "one annotator uses only one label, so kappa is always 0"
_NO_LABEL = "no label here"  # stands for None, NaN and blank cells


def agreement(
    first: Systems,
    *others: Input,
    names: Sequence[str] | None = None,
    by: str | None = None,
    level: float = 0.95,
    missing: str | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Agreement:
    """Compute the agreement of two or more annotators, with intervals.

    Parameters
    ----------
    first, others
        The annotations, in any form that `score` takes: files, tags, spans, labels, words; or one
        dictionary of them by the names of the annotators. In lists of labels None and NaN stand
        for items that an annotator has left out.
    names
        The names of the annotators; by default those of their files.
    by
        The independent units, as for `score`.
    level
        The level of the intervals.
    missing
        The label that marks items without an annotation; the empty text stands for blank cells of
        tables.
    **reading
        Options of reading and matching, as for `score`; `match` is the rule by which two spans are
        the same.

    Returns
    -------
    Agreement
        For labels: Krippendorff's `alpha` of all annotators, and for each pair the share of items
        with the same label and Cohen's kappa. For spans, words and sets of labels: F1 for each
        pair.

    Notes
    -----
    For spans, the places where neither annotator sees one cannot be counted, so there is no chance
    agreement and no kappa; with many such places, kappa would be close to F1 (Hripcsak and
    Rothschild, 2005).

    Examples
    --------
    >>> import probative as pv
    >>> ann = ["good", "bad", "good", "good", "bad", "good"] * 10
    >>> bob = ["good", "bad", "bad", "good", "bad", None] * 10
    >>> found = pv.agreement(ann, bob, names=["Ann", "Bob"])
    >>> print(found.alpha)
    alpha, 0.95 logit interval: 0.6040 [0.3192, 0.7746]
    >>> print(found.pair("Ann", "Bob")["kappa"])
    kappa, 0.95 logit interval: 0.6154 [0.3699, 0.7803]
    """
    if not isinstance(missing, str | None):
        raise InputError(f"missing: {shown(missing)}; expected a label (str), such as 'NA'")
    checked = {"level": open_probability("level", level)}
    options = AgreementOptions.of_call(locals() | checked, beside=("names",))
    given, names = by_name([first, *others], names)
    if len(given) == 1 and not options.columns:
        raise InputError("others: one annotation; expected at least two, or columns of a table")
    answer, *rest = given
    if not rest:
        head, *columns = options.columns
        options = replace(options, gold_column=head, columns=tuple(columns))
        names = names or [str(head), *map(str, columns)]
    matched = match_inputs(
        answer,
        rest,
        names=None if names is None else names[1:],
        find_positive=False,
        same_labels=False,  # with few items each, people may use different labels
        blank=_NO_LABEL if options.missing == "" else None,
        absent=_NO_LABEL,
        reading=options,
    )
    if matched.runs or matched.task == "samples":
        raise InputError("others: annotations of people have neither runs nor logs; expected files")
    if matched.task == "records":
        raise InputError("others: records have no agreement; expected tags, spans, labels or words")
    who = tuple(names) if names else _names(given, matched)
    unit = unit_of(matched, options.by)
    judge = _of_labels if isinstance(matched.gold, Labels) else _of_spans
    alpha, pairs = judge(matched, who, options, unit)
    only_in_one = set(only_in_a_system(matched.items, matched.names))  # labels of one annotator
    return Agreement(
        task=matched.task,
        annotators=who,
        alpha=alpha,
        pairs=pairs,
        level=options.level,
        units=matched.number_of(unit),
        unit=unit if unit == "document" else matched.unit,
        by=unit,
        match=match_of(matched),
        notes=tuple(note for note in matched.notes if note not in only_in_one),
        signature=options.signature("agreement", *facts_of_reading(matched, options), f"by-{unit}"),
    )


def _names(given: Sequence[Any], matched: Matched) -> tuple[str, ...]:
    """Return the names of the annotators: those of their files, or numbers."""
    if not all(is_path(own) for own in given):
        return tuple(f"annotator {k}" for k in range(1, len(given) + 1))
    who = (short_name(given[0]), *matched.names)
    return who if len(set(who)) == len(who) else tuple(map(str, given))


def _of_labels(
    matched: Matched, who: tuple[str, ...], options: AgreementOptions, unit: str
) -> tuple[Interval, tuple[PairAgreement, ...]]:
    """Return alpha of all annotators, and agreement and kappa of each pair."""
    sides: Any = (matched.gold, *matched.systems)
    labels, codes = numbered_alike([(side.names, side.codes) for side in sides])
    absent = {_NO_LABEL, options.missing}
    if options.missing == "" and _NO_LABEL not in labels:
        raise InputError("missing: there are no blank cells; expected some, or it left out")
    if options.missing and options.missing not in labels:
        raise InputError(f"missing: nobody gives the label {options.missing!r}; expected one")
    known = np.array([MISSING if name in absent else 0 for name in labels])
    number = np.where(known == MISSING, MISSING, np.cumsum(known != MISSING) - 1)
    table = np.stack([number[own] for own in codes])
    n_labels = int(np.count_nonzero(known != MISSING))
    units = None if unit == "item" else matched.gold.units
    if unit == "document" and matched.items.document is not None:
        units = matched.items.document[units]
    alpha = alpha_interval(Ratings(table, n_labels, units), level=options.level)
    pairs = []
    for (one, a), (other, b) in combinations(zip(who, table, strict=True), 2):
        both = (a >= 0) & (b >= 0)
        of_both = None if units is None else units[both]
        scores = _pair_scores(a[both], b[both], n_labels, of_both, options.level)
        pairs.append(PairAgreement(one, other, int(np.count_nonzero(both)), scores))
    return alpha, tuple(pairs)


def _pair_scores(a: Any, b: Any, n_labels: int, units: Any, level: float) -> tuple[Interval, ...]:
    """Return the share of items with the same label, and kappa."""
    if not len(a):
        note = "undefined: no item has the labels of both"
        return tuple(
            Interval(metric, "logit", level, np.nan, low, 1.0, note)
            for metric, low in (("agreement", 0.0), ("kappa", -1.0))
        )
    same = a == b
    kappa = confusion_interval(ConfusedItems(a, b, n_labels, units), "kappa", level=level)
    if kappa.note is None:
        kappa = replace(kappa, note=doubt(~same, units))
    alone = [bool((side == side[0]).all()) for side in (a, b)]
    if any(alone) and not np.isnan(kappa.estimate):
        kappa = replace(kappa, low=-1.0, high=1.0, note=_ALWAYS_0)
    return replace(share_of(same, units, level=level), metric="agreement"), kappa


def _of_spans(
    matched: Matched, who: tuple[str, ...], options: AgreementOptions, unit: str
) -> tuple[None, tuple[PairAgreement, ...]]:
    """Return no alpha, and the F1 of each pair."""
    match: Callable[[Any, Any], Items] = match_labels
    if isinstance(matched.gold, Spans):
        how: Any = {"rule": match_rule(options.match), **options.chosen("ignore_type", "only")}
        match = partial(match_spans, **how)
    elif isinstance(matched.gold, Segmented):
        match = match_words
    rows = {"item": None, matched.unit: "sentence"}.get(unit, unit)
    pairs = []
    sides = zip(who, (matched.gold, *matched.systems), strict=True)
    for (one, a), (other, b) in combinations(sides, 2):
        items = replace(match(a, b), document=matched.items.document)
        counts = items.counts(by=rows)
        score = interval(counts, "f1", clustered=rows is not None, level=options.level)
        pairs.append(PairAgreement(one, other, round(items.weight * len(items.unit)), (score,)))
    return None, tuple(pairs)
