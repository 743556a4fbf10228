from __future__ import annotations

import subprocess
import sys


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
        "typer",
        "joblib",
    }
    assert not heavy & set(done.stdout.split())
    code = "import sys, probative; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
