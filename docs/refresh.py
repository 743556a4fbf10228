"""Write the real output of every ``$ probative`` example into the pages (python docs/refresh.py).

Blocks that hold an ellipsis are left as they are: somebody shortened them on purpose.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

from examples import WIDTH, copy_files, examples, perform
from probative.cli import main

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(*words: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = main(list(words))
    return status, out.getvalue()


def refreshed(block: re.Match[str]) -> str:
    parts, status = [], 0
    for example in examples(block[1]):
        shown = example.expected
        if example.is_run:
            status, new = perform(example, run, status)
            shown = example.expected if "..." in example.expected else new
        parts.append(f"$ {example.command}\n{shown}")
    return "```console\n" + "".join(parts) + "```"


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    pages = pages or [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    os.environ["COLUMNS"] = str(WIDTH)
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            copy_files(Path(folder))
            os.chdir(folder)
            text = page.read_text(encoding="utf-8")
            page.write_text(BLOCK.sub(refreshed, text), encoding="utf-8")
            os.chdir(ROOT)
