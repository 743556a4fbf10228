"""Write the real output of every ``$ probative`` example into the pages (python docs/refresh.py).

Blocks that hold an ellipsis are left as they are: somebody shortened them on purpose.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from probative.cli import main

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


statuses = [0]  # of the commands so far


def output_of(command: str) -> str | None:
    if command == "echo $?":
        return f"{statuses[-1]}\n"
    words = shlex.split(re.sub(r"\\\n", " ", command), comments=True)
    if words and words[0] == "mkdir":
        Path(words[1]).mkdir()
        return ""
    if words and words[0] == "printf":
        Path(words[3]).write_text(words[1].encode().decode("unicode_escape"))
        return ""
    if not words or words[0] != "probative":
        return None
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        statuses.append(main(words[1:]))
    return out.getvalue()


def refreshed(block: re.Match[str]) -> str:
    parts = []
    for part in re.split(r"^(?=\$ )", block[1], flags=re.MULTILINE):
        command = re.match(r"\$ ((?:.*\\\n)*.*)\n", part)
        new = output_of(command[1]) if command and "..." not in part else None
        parts.append(part if new is None else f"$ {command[1]}\n{new}")
    return "```console\n" + "".join(parts) + "```"


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    pages = pages or [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            text = page.read_text(encoding="utf-8")
            page.write_text(BLOCK.sub(refreshed, text), encoding="utf-8")
