"""The workflows of the documentation: YAML that holds what it should, commands that run here."""

from __future__ import annotations

import base64
import gzip
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

SENTENCES = ("Ann B-PER\nsaw O\n\n", "York B-LOC\nis O\n\n")


def workflow(page: str):
    yaml = pytest.importorskip("yaml")
    block = re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    return yaml.load(block[1], Loader=yaml.BaseLoader)  # "on" stays a word


@pytest.mark.parametrize("page", ["ranking.md", "gates.md"])
def test_they_are_valid(page):
    content = workflow(page)
    assert {"name", "on", "jobs"} <= set(content)
    for job in content["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow's shell is bash")
def test_the_board_builds(tmp_path):
    content = workflow("ranking.md")
    (tmp_path / "submissions").mkdir()
    for name, times in (("old", 9), ("new", 1)):
        said = ("".join(SENTENCES) * 10).replace("B-PER", "O", times)
        (tmp_path / "submissions" / f"{name}.conll").write_text(said)
    (tmp_path / "runner").mkdir()
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "probative"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m probative "$@"\n')
    command.chmod(0o755)
    packed = base64.b64encode(gzip.compress(("".join(SENTENCES) * 10).encode())).decode()
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path / "runner"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GOLD": packed,
    }
    steps = content["jobs"]["board"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands.pop(0).startswith('pip install "probative @ git+')
    for lines in commands:
        subprocess.run(["bash", "-e", "-c", lines], cwd=tmp_path, env=environment, check=True)
    # what is published and what is kept are what the other steps name
    named = {s["uses"].partition("@")[0]: s.get("with", {}) for s in steps if "uses" in s}
    assert (tmp_path / named["actions/upload-pages-artifact"]["path"] / "index.html").is_file()
    assert (tmp_path / named["actions/cache"]["path"] / "README.txt").is_file()
    assert "new" in (tmp_path / "summary.md").read_text()
    assert not list((tmp_path / "board").rglob("*gold*"))
