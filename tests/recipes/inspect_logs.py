"""Logs of Inspect, made by Inspect itself: ``python tests/recipes/inspect_logs.py``.

Needs ``inspect_ai`` (made with 0.3.285). A solver of our own answers in place of the mock model.
Events, times and random ids are taken out before a log is written, by Inspect, to where tests find
it: they would differ with every run and hold paths.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval  # noqa: A004  # what Inspect calls it
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Target, accuracy, exact, includes, match, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from questions import QUESTIONS, answer_of

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs"
WHEN = "2026-01-01T00:00:00+00:00"


def samples() -> list[Sample]:
    return [
        Sample(id=f"q{i:02d}", input=question, target=answer)
        for i, (question, answer) in enumerate(QUESTIONS)
    ]


@solver
def answerer(system: str) -> Solver:
    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        text = answer_of(system, int(str(state.sample_id)[1:]), state.epoch - 1)
        state.output = ModelOutput.from_content(str(state.model), text)
        return state

    return solve


@solver
def failing() -> Solver:
    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        if str(state.sample_id) in ("q03", "q05"):
            raise ValueError("this answerer has stopped")
        state.output = ModelOutput.from_content(str(state.model), "11")
        return state

    return solve


@scorer(metrics={"*": [mean()]})
def findings() -> Any:
    """How many of three findings were made: counts by the names that stand for them."""

    async def score(state: TaskState, target: Target) -> Score:
        right = state.output.completion == target.text
        number = int(str(state.sample_id)[1:]) % 3 + 1
        return Score(value={"tp": number if right else 1, "fp": int(not right),
                            "fn": 0 if right else number - 1})  # fmt: skip

    return score


@scorer(metrics=[accuracy()])
def graded() -> Any:
    """Correct, partly correct or incorrect, as a grader may say."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value="C" if state.output.completion == target.text else "P")

    return score


def write(name: str, solve: Solver, scorers: list[Any], form: str, **choices: Any) -> None:
    data = choices.pop("samples", samples())
    task = Task(dataset=data, solver=solve, scorer=scorers, name="sums")
    model = f"mockllm/{name.split('_')[0]}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # a folder that no repository knows
        (log,) = eval(task, model=model, log_dir=folder, log_format="json", display="none",
                      max_samples=1, **choices)  # fmt: skip
        log = read_eval_log(log.location)
        os.chdir("/")
    write_eval_log(without_chance(log), LOGS / f"inspect_{name}.{form}", format=form)


def without_chance(log: EvalLog) -> EvalLog:
    spec = log.eval
    spec.eval_id, spec.run_id, spec.task_id, spec.created = "eval", "run", "task", WHEN
    spec.revision = None
    log.stats.started_at = log.stats.completed_at = WHEN
    if log.error:
        log.error.traceback = log.error.traceback_ansi = ""
    for sample in log.samples or []:
        sample.events, sample.uuid, sample.timelines = [], f"{sample.id}-{sample.epoch}", None
        sample.started_at = sample.completed_at = WHEN
        sample.total_time = sample.working_time = 1.0
        for message in (*sample.messages, *(c.message for c in sample.output.choices)):
            message.id = "message"
        if sample.error:
            sample.error.traceback = sample.error.traceback_ansi = ""
    log.reductions = None
    return log


def main() -> None:
    LOGS.mkdir(parents=True, exist_ok=True)
    for form in ("eval", "json"):
        write("old", answerer("old"), [match()], form)
        write("new", answerer("new"), [match()], form, samples=samples()[::-1])
    few = {"samples": samples()[:12]}
    write("new_scorers", answerer("new"), [match(), includes(), exact()], "json", **few)
    for system in ("old", "new"):
        write(f"{system}_twice", answerer(system), [match()], "json", epochs=2, **few)
        write(f"{system}_findings", answerer(system), [findings()], "json", **few)
    write("old_graded", answerer("old"), [graded()], "json", **few)
    write("failed", failing(), [match()], "json", fail_on_error=False, **few)


if __name__ == "__main__":
    main()
