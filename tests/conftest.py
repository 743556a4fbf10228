"""What the tests share."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = Path(__file__).resolve().parent / "golden"

# strict F1 of the systems of the WNUT 2017 shared task, in points
WNUT17_F1 = {
    "uh_ritual": 41.86,
    "spinningbytes": 40.78,
    "sjtu_adapt": 40.42,
    "arcada": 39.98,
    "flytxt": 38.35,
    "mic-cis": 37.06,
    "drexel_cci": 26.30,
}

# what these show (pipes, devices, limits of memory) is spelt otherwise on Windows
POSIX_ONLY = [
    "fuzz_readers.py",
    "reading/test_fuzz.py",
    "fuzz_options.py",
    "cli/test_fuzz_options.py",
    "cli/test_paths.py",
    "cli/test_exit_codes.py",
]
collect_ignore = POSIX_ONLY if sys.platform == "win32" else []

# how wide the terminal of whoever runs the tests is, is not what they show
os.environ.pop("COLUMNS", None)

# set where everything that tests need is installed; `-m` says which tests those are
NO_SKIP = os.environ.get("PROBATIVE_NO_SKIP") == "1"

# what is merged is judged by the same examples every time; at a desk, new ones, and more
MERGED = os.environ.get("CI") == "true"
settings.register_profile(
    "probative",
    max_examples=40 if MERGED else 100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=MERGED,
)
settings.load_profile("probative")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where everything must run, a test that skips has failed."""
    report = yield
    if report.skipped and NO_SKIP and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} must not skip here: {call.excinfo.value}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same for a whole file."""
    report = yield
    if report.skipped and NO_SKIP:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} must not skip here: {report.longrepr}"
    return report


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
def corpus(tmp_path: Path) -> Path:
    """Forty sentences with and without names."""
    path = tmp_path / "corpus.conll"
    sentences = [f"Name{i} B-PER\nsaw O\nRome{i % 7} B-LOC\n" for i in range(28)]
    sentences += [f"word{i} O\n" for i in range(12)]
    path.write_text("\n".join(sentences))
    return path


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
