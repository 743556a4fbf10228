from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from zipfile import ZipFile

import pytest
from conftest import ROOT

# modules that not every system has
POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX |= {"msvcrt", "winreg", "winsound", "_winapi"}


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, probative; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "matplotlib",
        "duckdb",
        "rich",
        "torch",
        "pyspark",
        "pandas",
        "polars",
        "click",
        "joblib",
    }
    assert not heavy & set(done.stdout.split())
    code = "import sys, probative; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_command_line_starts_before_anything_large_is_loaded():
    code = "import sys, probative.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "matplotlib", "duckdb"} & set(done.stdout.split())


def test_the_package_can_be_imported_from_a_zip_file(tmp_path):
    library = tmp_path / "library.zip"
    with ZipFile(library, "w") as archive:
        for path in (ROOT / "src" / "probative").rglob("*.py*"):
            if path.suffix in (".py", ".pyi"):
                archive.write(path, path.relative_to(ROOT / "src"))
    code = "import probative as pv; print(pv.__file__, pv.Counts(1, 2, 3), len(dir(pv.results)))"
    where = {**os.environ, "PYTHONPATH": str(library)}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=where, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(str(library)), done.stderr


@pytest.mark.lint
def test_no_module_needs_one_operating_system():
    files = sorted((ROOT / "src").rglob("*.py"))
    assert len(files) > 100
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try)]
        # where one of them is missing there is another
        either = [t for t in tries if any("ImportError" in ast.dump(h) for h in t.handlers)]
        guarded = {node for t in either for node in ast.walk(t)}
        for node in ast.walk(tree):
            if node in guarded:
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            assert not POSIX & {name.split(".")[0] for name in names}, path


def test_one_interval_loads_only_what_it_needs():
    code = (
        "import sys; from probative.cli import main; "
        "status = main(['interval', '--tp', '77', '--fp', '44', '--fn', '10']); "
        "print(status, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, *loaded = done.stderr.split()
    assert status == "0"
    unused = {
        "probative.reading",
        "probative.matching",
        "probative.inference.posterior.single",
        "probative.inference.units",
        "probative.results.comparisons",
        "scipy.stats",
        "numpy.f2py",
        "numpy.testing",
    }
    assert not unused & set(loaded)
    assert "probative.results.base" in loaded


def test_a_command_leaves_numpy_as_it_was():
    code = (
        "import sys, numpy as np; shown, listed = [*np.__all__], dir(np); "
        "from probative.cli import main; "
        "main(['interval', '--tp', '77', '--fp', '44', '--fn', '10', '-q']); "
        "assert 'numpy.testing' not in sys.modules; "
        "assert np.__all__ == shown and set(listed) <= set(dir(np)); "
        "np.testing.assert_equal(1, 1); "
        "from numpy import *; import scipy.stats; print('as it was', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "as it was" in done.stderr


def test_commands_in_several_threads_leave_numpy_as_it_was():
    code = (
        "import sys, threading, numpy as np; from probative.cli.app import _import_scipy; "
        "before = np.__all__, np.__dir__; sys.setswitchinterval(1e-5); "
        "threads = [threading.Thread(target=_import_scipy) for _ in range(4)]; "
        "[t.start() for t in threads]; [t.join() for t in threads]; "
        "assert (np.__all__, np.__dir__) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_room_of_results_has_all_the_names_that_it_shows():
    room = importlib.import_module("probative.results")
    assert dir(room) == sorted(room.__all__)
    for public in room.__all__:
        assert getattr(room, public) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        room.nothing  # noqa: B018  # to look at it is the test


def test_the_folders_of_tests_are_those_of_the_source():
    folders = {path.parent.name for path in (ROOT / "src" / "probative").glob("*/__init__.py")}
    tested = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    # traps lie in wait between the rooms; the app and the studies are packages of their own
    assert tested - {"traps", "app", "studies"} == folders - {"data"}
