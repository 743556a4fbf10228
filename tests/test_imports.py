from __future__ import annotations

import ast
import subprocess
import sys

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


def test_no_module_needs_one_operating_system():
    files = sorted((ROOT / "src").rglob("*.py"))
    assert len(files) > 100
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            assert not POSIX & {name.split(".")[0] for name in names}, path
