"""``probative study looks``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import LookOptions

if TYPE_CHECKING:
    from probative.reporting.document import Document
    from probative.studies.looks import EverWrong
    from probative.studies.options import WatchingOptions

__all__ = ["looks", "looks_document"]


def looks(
    given: Annotated[
        LookOptions,
        options.choose(
            *("level", "units", "batch", "streams", "item_streams", "rng"),
            units=Option(metavar="N", parser=options.whole, help="Units in a stream."),
            batch=Option(metavar="N", parser=options.whole, help="Units between two looks."),
            streams=Option(metavar="N", parser=options.whole, help="Streams of units."),
            item_streams=Option(metavar="N", parser=options.whole, help="Streams of items."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do limits and tests hold at every look? Hundreds of looks at streams of labels."""
    from probative.studies.looks import look_study

    with progress("conditions", quiet=out.quiet) as report:
        results = look_study(**vars(given), report=report)
    out.emit(looks_document("looks", results, "streams of", "Wrong at any look", given))


def looks_document(
    name: str, results: list[EverWrong], of: str, title: str, given: LookOptions | WatchingOptions
) -> Document:
    """Show how often something was ever wrong, of streams of whatever kind."""
    from probative.reporting.study_report import study_document

    columns = {
        "what": "what",
        "condition": of,
        "looks": "looks",
        "share": "ever",
        "standard_error": "s.e.",
        "fixed": "fixed, ever",
        "once": "fixed, once",
        "streams": "streams",
    }
    allowed = (
        f"Ever wrong in at most {1 - given.level:.4g} of the streams is allowed; of a test that "
        f"finds B better, more is better."
    )
    signature = given.signature(name)
    return study_document(name, results, columns, title=title, notes=[allowed], signature=signature)
