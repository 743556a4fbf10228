"""Results of DeepEval, made by it: ``python tests/recipes/deepeval_logs.py``.

Needs ``deepeval`` (made with 4.3). Exact match and pattern match need no model and no network.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

import deepeval
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase
from questions import QUESTIONS, answer_of

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs"


def write(system: str) -> None:
    cases = [
        LLMTestCase(name=f"q{i:02d}", input=question, actual_output=answer_of(system, i),
                    expected_output=answer)
        for i, (question, answer) in enumerate(QUESTIONS[:12])
    ]  # fmt: skip
    metrics = [ExactMatchMetric(), PatternMatchMetric(pattern=r"\d+")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["DEEPEVAL_RESULTS_FOLDER"] = f"{folder}/results"
        deepeval.evaluate(
            cases,
            metrics,
            async_config=AsyncConfig(run_async=False),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
        )
        (written,) = Path(folder).glob("results/test_run_*.json")
        results = json.loads(written.read_text())
        os.chdir("/")
    (LOGS / f"deepeval_{system}.json").write_text(json.dumps(without_chance(results), indent=1))


def without_chance(results: dict[str, Any]) -> dict[str, Any]:
    """The results without how long things took."""
    results["runDuration"] = 1.0
    for case in results["testCases"]:
        case["runDuration"] = 1.0
    return results


def main() -> None:
    LOGS.mkdir(parents=True, exist_ok=True)
    for system in ("old", "new"):
        write(system)


if __name__ == "__main__":
    main()
