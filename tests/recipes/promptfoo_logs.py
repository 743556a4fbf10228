"""Results of promptfoo, made by it: ``python tests/recipes/promptfoo_logs.py FOLDER``.

Needs ``promptfoo`` (made with 0.121) in ``FOLDER/node_modules``. A provider of our own answers.
Times, random ids and paths are taken out of the results afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from questions import QUESTIONS, answer_of

LOGS = Path(__file__).resolve().parent.parent / "data" / "logs"
PROVIDER = """
const answers = require("./answers.json");
const asked = {};
class Answerer {
  constructor(options) { this.system = options.config.system; }
  id() { return this.system; }
  async callApi(prompt) {
    asked[prompt] = (asked[prompt] || 0) + 1;
    return { output: answers[this.system][prompt] };
  }
}
module.exports = Answerer;
"""
FINDINGS = """
module.exports = (output, context) => {
  const right = output === context.vars.answer;
  const namedScores = { tp: right ? 2 : 1, fp: right ? 0 : 1, fn: right ? 0 : 1 };
  return { pass: right, score: right ? 1 : 0, reason: "counted", namedScores };
};
"""


def write(name: str, systems: list[str], assertion: dict[str, str], *words: str) -> None:
    form = "jsonl" if name.endswith(".jsonl") else "json"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "answerer.js").write_text(PROVIDER)
        (folder / "findings.js").write_text(FINDINGS)
        answers = {
            s: {q: answer_of(s, i) for i, (q, _) in enumerate(QUESTIONS)} for s in ("old", "new")
        }
        (folder / "answers.json").write_text(json.dumps(answers))
        config = {
            "prompts": ["{{question}}"],
            "providers": [
                {"id": "file://answerer.js", "label": s, "config": {"system": s}} for s in systems
            ],
            "tests": [
                {"vars": {"question": q, "answer": a}, "assert": [assertion]}
                for q, a in QUESTIONS[:12]
            ],
        }
        (folder / "promptfooconfig.json").write_text(json.dumps(config))
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                 "PROMPTFOO_CONFIG_DIR": place}  # fmt: skip
        program = Path(sys.argv[1]).resolve() / "node_modules" / ".bin" / "promptfoo"
        subprocess.run(
            [program, "eval", "--no-cache", "--no-table", *words, "-o", f"out.{form}"],
            cwd=place, env={**os.environ, **quiet}, stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        text = (folder / f"out.{form}").read_text()
    if form == "jsonl":
        rows = [without_chance(json.loads(line)) for line in text.splitlines() if line.strip()]
        (LOGS / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return
    results = json.loads(text)
    kept = {"evalId": "eval", "results": results["results"]}
    kept["results"]["timestamp"] = "2026-01-01T00:00:00.000Z"
    kept["results"]["results"] = [without_chance(row) for row in results["results"]["results"]]
    (LOGS / name).write_text(json.dumps(kept, indent=1))


def without_chance(row: dict[str, Any]) -> dict[str, Any]:
    row["id"], row["latencyMs"] = f"{row['testIdx']}-{row['promptIdx']}", 1
    row.pop("tokenUsage", None)
    for part in (row["response"], row["gradingResult"]):
        part.pop("tokensUsed", None)
        part.pop("tokenUsage", None)
    for result in row["gradingResult"].get("componentResults", ()):
        result.pop("assertion", None)
        result.pop("tokensUsed", None)
    row["testCase"].pop("assert", None)
    return row


def main() -> None:
    LOGS.mkdir(parents=True, exist_ok=True)
    equal = {"type": "equals", "value": "{{answer}}"}
    write("promptfoo_old.json", ["old"], equal)
    write("promptfoo_new.json", ["new"], equal)
    write("promptfoo_both.json", ["old", "new"], equal)
    write("promptfoo_twice.json", ["old", "new"], equal, "--repeat", "2")
    write("promptfoo_old.jsonl", ["old"], equal)
    findings = {"type": "javascript", "value": "file://findings.js"}
    write("promptfoo_findings.json", ["old", "new"], findings)


if __name__ == "__main__":
    main()
