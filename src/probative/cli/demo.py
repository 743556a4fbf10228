"""``probative demo``: compare data that come with the package, without network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from probative.cli.output import Output
from probative.errors import InputError
from probative.options import OUTPUT, DemoOptions, shared


def demo(
    *,
    given: DemoOptions,
    output: Annotated[
        Path, shared("--output -o DIR", "Where to write files.", heading=OUTPUT)
    ] = Path("probative-demo"),
    force: Annotated[bool, shared("", "Overwrite files that were edited.")] = False,
    out: Output,
) -> None:
    """Show what this program does, on data that come with it.

    Seven systems of a shared task are compared and judged, two models are compared by
    cross-validation, two word segmenters are scored; and a small set of files is written that you
    can edit.
    """
    from probative.files import check_target, make_folder, write_whole
    from probative.jobs.demo import SMALL_FILES, demonstrate, edited_file
    from probative.reporting.compare_report import demo_document
    from probative.reporting.render import as_html, is_page

    report = out.html or output / "report.html"
    make_folder(output)
    if not force:
        edited = edited_file(output)
        if edited is not None:
            raise InputError("was edited; --force overwrites it, -o DIR writes elsewhere", edited)
        if out.html is None and not is_page(check_target(report)):
            raise InputError("is no page of this program; --force overwrites it", report)
    shown = demonstrate(level=given.level)
    document, page = demo_document(
        shown.comparison,
        shown.models,
        shown.tests,
        shown.segmentation,
        signature=given.signature("demo"),
    )
    for name, content in SMALL_FILES.items():
        write_whole(output / name, content)
    write_whole(report, as_html(page))
    replace(out, html=None).emit(document)  # the page is that of the comparison
    out.remark(
        f"The page of the comparison: {report.resolve()}\n"
        f"Files to play with: {', '.join(str(output / name) for name in SMALL_FILES)}\n"
        f"Edit them and run: probative compare {' '.join(str(output / n) for n in SMALL_FILES)}"
    )
