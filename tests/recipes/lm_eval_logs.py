"""Logs of lm-evaluation-harness, made by it: ``python tests/recipes/lm_eval_logs.py``.

Needs ``lm_eval`` (made with 0.4.13). Two models of our own answer questions of our own: a task
of free answers with two filters, and one of choices with the two accuracies of the harness.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from questions import QUESTIONS, answer_of

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs"
SUMS = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: %s}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""
FILTERS = """
filter_list:
  - {name: strict, filter: [{function: take_first}]}
  - {name: number, filter: [{function: regex, regex_pattern: "(\\\\d+)"}, {function: take_first}]}
"""
CHOICES = """
task: choices
dataset_path: json
dataset_kwargs: {data_files: {test: %s}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: "{{choices}}"
doc_to_target: "{{label}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
"""


class Answerer(LM):
    """Says what the questions' own answerers say."""

    def __init__(self, system: str):
        super().__init__()
        self.system = system

    def _answer(self, question: str) -> str:
        number = next(i for i, (asked, _) in enumerate(QUESTIONS) if asked == question)
        return answer_of(self.system, number)

    def generate_until(self, requests: list[Any], **_: Any) -> list[str]:
        return [self._answer(request.args[0]) for request in requests]

    def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
        said = [(self._answer(r.args[0]), r.args[1].strip()) for r in requests]
        return [(-1.0 if answer == choice else -3.0, False) for answer, choice in said]

    def loglikelihood_rolling(self, requests: list[Any], **_: Any) -> list[float]:
        raise NotImplementedError


def write(name: str, system: str, task: str, documents: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "questions.jsonl"
        data.write_text("".join(json.dumps(d) + "\n" for d in documents))
        (Path(folder) / "task.yaml").write_text(task % data)
        manager = TaskManager(include_path=folder, include_defaults=False)
        names = [task.split("\n")[1].removeprefix("task: ")]
        results = simple_evaluate(Answerer(system), tasks=names, task_manager=manager,
                                  log_samples=True, bootstrap_iters=0)  # fmt: skip
        (samples,) = results["samples"].values()
        tracker = EvaluationTracker(output_path=folder)
        tracker.general_config_tracker.model_name_sanitized = "model"
        tracker.date_id = "2026-01-01"
        tracker.save_results_samples(names[0], samples)
        (written,) = Path(folder).rglob("samples_*.jsonl")
        shutil.copy(written, LOGS / f"samples_{name}.jsonl")


def main() -> None:
    LOGS.mkdir(parents=True, exist_ok=True)
    sums = [{"question": question, "answer": answer} for question, answer in QUESTIONS]
    choices = [
        {"question": q, "choices": [str(int(a) - 1), a, str(int(a) + 1)], "label": 1}
        for q, a in QUESTIONS[:12]
    ]
    for system in ("old", "new"):
        write(f"sums_{system}", system, SUMS, sums)
        write(f"filters_{system}", system, SUMS + FILTERS, sums[:12])
        write(f"choices_{system}", system, CHOICES, choices)


if __name__ == "__main__":
    main()
