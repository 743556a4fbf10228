"""Build hostile files, give them to the commands, and say what became of each.

    python tests/hostile_files.py

Each attack is one line: "refused" (an error that names what is wrong, or a line of a board),
"harmless" (it was read, and got nothing by it) or "BROKEN". The exit status is 1 if any is BROKEN.
What counts is the outcome: scores, exit statuses, what is printed, time and memory. Commands run
in processes of their own, with a limit of time and of memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import types
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"  # processes are forked

import duckdb  # noqa: F401  # processes that are forked have it

from probative.cli import main
from probative.jobs import rank as ranking  # noqa: F401
from probative.matching import matched  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 30  # that a command may take, also where others keep the machine busy
MIB = 250  # that a command may need beyond what it starts with, where a file is a bomb
ROOF = 3 << 30  # bytes that no command may pass, lest it takes the machine along
MARK = "squeamish ossifrage"  # what stands in a file of somebody else
ROWS = 60
GOLD = [["B-PER", "O", "B-LOC"], ["O", "B-LOC", "O"]] * 20


class Outcome(NamedTuple):
    """What a command did: its exit status (None if it was stopped), words, and memory in MiB."""

    status: int | None
    said: str
    mib: float


class Verdict(NamedTuple):
    """What became of an attack."""

    word: str
    why: str


def run(words: list[object], before: Callable[[], None] | None = None) -> Outcome:
    """Run a command in a process of its own."""
    with tempfile.TemporaryFile("w+") as told:
        start = _resident()
        process = os.fork()
        if not process:
            _child([str(word) for word in words], before, told.fileno())
        until = time.monotonic() + SECONDS
        while True:
            ended, status, usage = os.wait4(process, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > until:
                os.kill(process, signal.SIGKILL)
                until = float("inf")
            time.sleep(0.01)
        told.seek(0)
        scale = 2**20 if sys.platform == "darwin" else 2**10
        code = os.waitstatus_to_exitcode(status)
        return Outcome(code if code >= 0 else None, told.read(), usage.ru_maxrss / scale - start)


def _child(words: list[str], before: Callable[[], None] | None, told: int) -> None:
    import resource

    code = 70
    try:
        os.dup2(told, 1)
        os.dup2(told, 2)
        with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
            resource.setrlimit(resource.RLIMIT_AS, (ROOF, ROOF))
        if before is not None:
            before()
        code = main(words) or 0
    except MemoryError:
        print("out of memory")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _resident() -> float:
    """MiB that this process has, and so each that is forked."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def judge(outcome: Outcome, *, broken: bool = False) -> Verdict:
    """Judge a command by how it ended; a command that was stopped has broken."""
    last = outcome.said.strip().splitlines()[-1] if outcome.said.strip() else ""
    if outcome.status is None or outcome.status > 2 or broken:
        return Verdict("BROKEN", f"status {outcome.status}, {outcome.mib:.0f} MiB: {last[-90:]}")
    return Verdict("refused" if outcome.status == 2 else "harmless", last[-120:])


# --- databases ------------------------------------------------------------------------------------

ENDLESS = (
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) "
    "SELECT CAST(n AS VARCHAR) AS id, 'yes' AS y FROM t"
)


def _tables(folder: Path) -> tuple[Path, Path]:
    """Gold, and a baseline that is often wrong."""
    gold = ["yes" if i % 3 else "no" for i in range(ROWS)]
    wrong = [label if i % 4 else "no" for i, label in enumerate(gold)]
    for name, labels in (("gold", gold), ("old", wrong)):
        rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
        (folder / f"{name}.csv").write_text("id,y\n" + rows)
    return folder / "gold.csv", folder / "old.csv"


def _database(path: Path, view: str) -> Path:
    if path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as source:
            source.execute(f"CREATE VIEW answers AS {view}")
            source.commit()
        return path
    # in another process: threads of the engine do not survive a fork
    make = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"
    subprocess.run([sys.executable, "-I", "-c", make, path, f"CREATE VIEW answers AS {view}"],
                   check=True)  # fmt: skip
    return path


def view_over_gold(folder: Path, ending: str) -> Verdict:
    """A view that reads gold would be right everywhere, and pass every gate."""
    gold, old = _tables(folder)
    view = f"SELECT id, y, y AS gold FROM read_csv('{gold}', all_varchar = true)"
    submitted = _database(folder / f"new.{ending}", view)
    done = run(["compare", gold, old, submitted, "--key", "id", "--require-not-worse",
                "--columns", "y"])  # fmt: skip
    verdict = judge(done, broken=done.status == 0)
    if verdict.word == "BROKEN":
        return verdict
    # a view that is asked for may hold what stands in its own file, and nothing else
    done = run(
        ["score", submitted, "--table", "answers", "--gold-column", "gold", "--columns", "y"]
    )
    return judge(done, broken=done.status == 0)


def view_over_a_file_outside(folder: Path, ending: str) -> Verdict:
    """A view over anybody's file would print what stands there."""
    gold, old = _tables(folder)
    (folder / "outside").mkdir()
    secret = folder / "outside" / "passwords.csv"
    secret.write_text(f"{MARK},y\n" + f"{MARK},{MARK}\n" * ROWS)
    view = f"SELECT *, y AS gold FROM read_csv('{secret}')"
    submitted = _database(folder / f"new.{ending}", view)
    done = run(["compare", gold, old, submitted, "--key", "id", "--by-label", "--columns", "y",
                "--average", "macro"])  # fmt: skip
    verdict = judge(done, broken=MARK in done.said)
    if verdict.word == "BROKEN":
        return verdict
    done = run(
        ["score", submitted, "--table", "answers", "--gold-column", "gold", "--columns", "y"]
    )
    return judge(done, broken=MARK in done.said)


def endless_view(folder: Path, ending: str) -> Verdict:
    """A view without end must not hang."""
    gold, old = _tables(folder)
    submitted = _database(folder / f"new.{ending}", ENDLESS)
    return judge(run(["compare", gold, old, submitted, "--key", "id"]))


# --- boards ---------------------------------------------------------------------------------------


def _write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("".join("".join(f"w {tag}\n" for tag in s) + "\n" for s in sentences))
    return path


def _board_files(folder: Path, *, table: bool = False) -> tuple[Path, Path]:
    """Gold, and a folder with an honest submission."""
    place = folder / "in"
    place.mkdir()
    if table:
        gold, rival = _tables(folder)
        rival.rename(place / "ann.csv")
        return gold, place
    half = [["O"] * len(s) if i % 2 else s for i, s in enumerate(GOLD)]
    _write(place / "ann.conll", half)
    return _write(folder / "gold.conll", GOLD), place


def _build(
    folder: Path, *more: object, before: Callable[[], None] | None = None, gold: Path | None = None
) -> tuple[Outcome, dict[str, float | None]]:
    """Build a board; return the scores on it, None for what was refused."""
    site = folder / "site"
    words = ["board", gold or folder / "gold.conll", folder / "in", "-o", site, "--jobs", 1]
    done = run([*words, "--pairs", "none", "-q", *more], before)
    scores: dict[str, float | None] = {}
    if (site / "board.json").exists():
        content = json.loads((site / "board.json").read_text())
        scores = dict.fromkeys((one["name"] for one in content["submissions"]), None)
        for one in content["systems"]:
            wanted = [own for own in one["scores"] if own["metric"] in ("f1", "accuracy")]
            scores[one["name"]] = wanted[0]["estimate"]
    return done, scores


def _stands(done: Outcome, scores: dict[str, float | None]) -> Verdict:
    """Judge a board by whether its honest submission is scored, and what the hostile one got."""
    honest = scores.get("ann")
    got = next((own for name, own in scores.items() if name != "ann" and own is not None), None)
    if done.status != 0 or honest is None or got == 1:
        return judge(done, broken=True)
    if got is None:
        return Verdict("refused", f"ann has {honest:.2f}")
    return Verdict("harmless", f"ann has {honest:.2f}, it has {got:.2f}")


def swapped_link(folder: Path) -> Verdict:
    """A file that becomes a link to gold between the check and the reading."""
    gold, place = _board_files(folder)
    mallory = place / "mallory.conll"
    verdict = Verdict("", "")
    for moment in range(1, 4):
        mallory.unlink(missing_ok=True)
        _write(mallory, [["O"] * (len(s) - moment % 2) + ["B-PER"] * (moment % 2) for s in GOLD])
        times = 0

        def swap(event: str, given: tuple[object, ...], moment: int = moment) -> None:
            nonlocal times
            if event == "open" and str(given[0]).endswith(mallory.name):
                times += 1
                if times == moment:
                    link = folder / "link"
                    link.symlink_to(gold)
                    link.rename(mallory)

        done, scores = _build(folder, before=lambda swap=swap: sys.addaudithook(swap))
        verdict = _stands(done, scores)
        if verdict.word == "BROKEN":
            return verdict
    return verdict


def long_ending(folder: Path) -> Verdict:
    """A valid submission whose ending has 245 letters must not stop the board."""
    _, place = _board_files(folder)
    _write(place / ("mallory." + "c" * 245), GOLD[:-2] + [["O"] * 3] * 2)
    return _stands(*_build(folder))


def name_of_a_rival(folder: Path) -> Verdict:
    """Whoever comes later under the name of a rival must not remove the rival."""
    _, place = _board_files(folder)
    first, scores = _build(folder)
    if first.status != 0 or scores.get("ann") is None:
        return judge(first, broken=True)
    _write(place / "ANN.conll", GOLD[:-2] + [["O"] * 3] * 2)
    return _stands(*_build(folder))


def _bounded(done: Outcome, scores: dict[str, float | None]) -> Verdict:
    verdict = _stands(done, scores)
    if done.mib > MIB or "out of memory" in done.said:
        return judge(done, broken=True)
    return Verdict(verdict.word, f"{verdict.why}, {done.mib:.0f} MiB")


def parquet_bomb(folder: Path) -> Verdict:
    """A small Parquet file with very many rows must pass neither --max-size nor the memory."""
    gold, place = _board_files(folder, table=True)
    bomb = place / "mallory.parquet"
    many = f"COPY (SELECT 'yes' AS y FROM range(10000000)) TO '{bomb}' (FORMAT parquet)"
    make = "import duckdb, sys; duckdb.execute(sys.argv[1])"
    subprocess.run([sys.executable, "-I", "-c", make, many], capture_output=True, check=True)
    if bomb.stat().st_size >= 2**20:
        return Verdict("BROKEN", f"the bomb has {bomb.stat().st_size} bytes")
    return _bounded(*_build(folder, "--max-size", 1, "--gold-column", "y", "--columns", "y",
                            gold=gold))  # fmt: skip


def zip_bomb(folder: Path) -> Verdict:
    """A small .eval file that unpacks to very much must pass neither --max-size nor the memory."""
    _, place = _board_files(folder)
    header = {"status": "success", "eval": {"model": "m"}}
    bomb = place / "mallory.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.writestr("header.json", json.dumps(header))
        with out.open("summaries.json", "w") as samples:
            samples.write(b'[{"id": 1, "epoch": 1, "scores": {"x": {"value": 1}}, "input": "')
            for _ in range(64):
                samples.write(b"x" * 2**22)
            samples.write(b'"}]')
    verdict = _bounded(*_build(folder, "--max-size", 4))
    if verdict.word == "BROKEN":
        return verdict
    done = run(["score", bomb])
    return judge(done, broken=done.mib > MIB or "out of memory" in done.said)


def spacy_bomb(folder: Path) -> Verdict:
    """A small .spacy file that unpacks to very much must pass neither --max-size nor the memory."""
    _, place = _board_files(folder)
    packing = zlib.compressobj(1)
    pieces = [packing.compress(bytes(2**22)) for _ in range(80)]
    (place / "mallory.spacy").write_bytes(b"".join([*pieces, packing.flush()]))
    return _bounded(*_build(folder, "--max-size", 4, before=_pretend_spacy))


def _pretend_spacy() -> None:
    """Unpack as spaCy does, where it is not installed."""
    with contextlib.suppress(ImportError):
        import spacy  # noqa: F401

        return

    class DocBin:
        tokens = ()

        def from_disk(self, path: str) -> DocBin:
            return self.from_bytes(Path(path).read_bytes())

        def from_bytes(self, data: bytes) -> DocBin:
            self.content = zlib.decompress(data)
            return self

        def get_docs(self, vocab: object) -> list[object]:  # noqa: ARG002
            return []

    fake, tokens = types.ModuleType("spacy"), types.ModuleType("spacy.tokens")
    fake.blank = lambda name: types.SimpleNamespace(vocab=name)  # type: ignore[attr-defined]
    tokens.DocBin = DocBin  # type: ignore[attr-defined]
    sys.modules |= {"spacy": fake, "spacy.tokens": tokens}


# --- the action -----------------------------------------------------------------------------------


def checkout_with_modules(folder: Path) -> Verdict:
    """Modules of a pull request that are called as those of Python must not be run."""
    import yaml

    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "gate"]
    tree, programs = folder / "tree", folder / "probative" / "venv" / "bin"
    tree.mkdir()
    programs.mkdir(parents=True)
    for name in ("shlex", "secrets", "os"):
        (tree / f"{name}.py").write_text("open('pwned', 'w')\n")
    # the command itself is no matter here: it gives a verdict, and Python is the real one
    says = "#!/bin/sh\necho '--require-not-worse PASSED: b against a' >&2\n"
    python = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    for name, content in (("probative", says), ("python", python)):
        (programs / name).write_text(content)
        (programs / name).chmod(0o755)
    for name, sentences in (("gold", GOLD), ("old", GOLD), ("new", GOLD)):
        _write(tree / f"{name}.conll", sentences)
    given = {"GOLD": "gold.conll", "BASELINE": "old.conll", "CANDIDATE": "new.conll",
             "GATE": "require-not-worse", "MARGIN": "0", "CONFIDENCE": "0.95", "ARGS": "-q",
             "RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
             "GITHUB_OUTPUT": str(folder / "output")}  # fmt: skip
    verdict = Verdict("", "")
    for args, passed in (("-q", "passed=true"), ("--help", "passed=\n")):
        if args == "--help":
            (programs / "probative").write_text("#!/bin/sh\necho Usage: probative compare\n")
        (folder / "output").unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=tree, env=os.environ | given | {"ARGS": args}, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        if (tree / "pwned").exists():
            return Verdict("BROKEN", "a module of the tree was run")
        output = folder / "output"
        said = output.read_text() if output.exists() else "nothing was said\n"
        if passed not in said:
            return Verdict("BROKEN", f"{args}: {said.splitlines()[0]}, status {done.returncode}")
        verdict = Verdict("harmless", "nothing of the tree was run; no verdict, no pass")
    return verdict


ATTACKS: dict[str, Callable[[Path], Verdict]] = {
    "a DuckDB view over gold": lambda folder: view_over_gold(folder, "duckdb"),
    "a DuckDB view over a file outside": lambda f: view_over_a_file_outside(f, "duckdb"),
    "an endless DuckDB view": lambda folder: endless_view(folder, "duckdb"),
    "a SQLite view over gold": lambda folder: view_over_gold(folder, "sqlite"),
    "a SQLite view over a file outside": lambda f: view_over_a_file_outside(f, "sqlite"),
    "an endless SQLite view": lambda folder: endless_view(folder, "sqlite"),
    "a submission that becomes a link": swapped_link,
    "a submission with a long ending": long_ending,
    "ANN.conll beside ann": name_of_a_rival,
    "a Parquet bomb": parquet_bomb,
    "a zip bomb (.eval)": zip_bomb,
    "a spaCy bomb": spacy_bomb,
    "a checkout with shlex.py and secrets.py": checkout_with_modules,
}


def attack_all() -> dict[str, Verdict]:
    """Try every attack; print one line for each."""
    found = {}
    for name, attack in ATTACKS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = attack(Path(folder).resolve())
        word, why = found[name]
        print(f"{word:8}  {name}: {why}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(any(verdict.word == "BROKEN" for verdict in attack_all().values()))
