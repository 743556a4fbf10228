"""``probative study clusters``."""

from __future__ import annotations

from typing import Annotated, Any

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import ClusterOptions

__all__ = ["clusters"]


def clusters(
    given: Annotated[
        ClusterOptions,
        options.choose(
            *("correlations", "questions", "replicates", "level", "rng"),
            correlations=Option(
                "--correlation",
                metavar="R",
                parser=options.number_list,
                several=True,
                help="Correlations of items of a unit; several times, or with commas.",
            ),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Whose intervals: score, difference.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals cover what they promise with few or uneven units? By simulation."""
    from probative.studies import clusters as study

    def run(correlations: Any, questions: Any, **how: Any) -> Any:
        wanted = [c for c in study.conditions(correlations=correlations) if c.question in questions]
        return study.cluster_study(wanted, **how)

    columns = {
        "question": "of a",
        "metric": "score",
        "f1": "true score",
        "units": "units",
        "sizes": "sizes",
        "items": "mean items",
        "correlation": "correlation",
        "disputed": "in dispute",
        "before": "before",
        "after": "after",
        "standard_error": "s.e.",
        "noted": "with a note",
        "unnoted_misses": "misses without",
        "length_after": "length",
    }
    note = (
        "Coverage of intervals before (linearised variance, number of units less one) and after "
        "(leaving out one unit at a time, effective number of units less one)."
    )
    simulate(
        "clusters",
        run,
        given,
        out,
        columns=columns,
        title="Few and uneven units",
        notes=[note],
    )
