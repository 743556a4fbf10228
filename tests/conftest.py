"""What the tests share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"

settings.register_profile(
    "probative", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("probative")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real corpora; the tests that need it skip where it is not."""
    folder = Path(os.environ.get("PROBATIVE_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the folder with corpora (../shared/data) is not here")
    return folder


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]):
    """Run a command of the command line in this process."""
    from probative.cli import main

    def call(*arguments: object) -> Outcome:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def write(tmp_path: Path):
    """Make a small file."""

    def make(content: str | bytes, name: str = "file.conll") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def refused(run):
    """Run a command that must fail with one line on standard error and exit status 2."""

    def call(*arguments: object) -> str:
        outcome = run(*arguments)
        assert outcome.status == 2, outcome
        assert outcome.out == ""
        assert outcome.err.endswith("\n")
        assert outcome.err.count("\n") == 1, outcome.err
        return outcome.err.strip()

    return call
