"""Make docs/report.png, the picture of a page (python docs/picture.py; needs Chromium).

The picture is of the comparison in the tutorial. `stamp` is a digest of what it is made of; a test
compares it with the one that was written beside the picture.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import probative as pv

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "report.png"
STAMP = PICTURE.with_suffix(".sha256")
FILES = [ROOT / "examples" / f"{name}.conll" for name in ("gold", "old", "new")]
TEMPLATES = ROOT / "src" / "probative" / "reporting" / "templates"
NAMES = ("base", "comparison", "comparison_body", "parts")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def stamp() -> str:
    """Return a digest of the example files and the templates of pages."""
    digest = hashlib.sha256()
    for path in [*FILES, *(TEMPLATES / f"{name}.html" for name in NAMES)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def take() -> None:
    """Write the picture and its stamp."""
    (browser, *_) = (found for name in BROWSERS if (found := shutil.which(name)))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(pv.compare(*FILES, figures=True).to_html(), encoding="utf-8")
        subprocess.run(  # noqa: S603
            [browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,1000",
             f"--screenshot={PICTURE}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    STAMP.write_text(stamp() + "\n", encoding="utf-8")


if __name__ == "__main__":
    take()
