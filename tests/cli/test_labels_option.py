"""``--labels``: what macro averages are taken over."""

from __future__ import annotations

import json

import pytest
from sklearn.metrics import f1_score

GOLD = list("aaabbbccab") * 6
PLAIN = list("aabbbbccab") * 6
ODD = list("aaxbbycczb") * 6  # labels that the answer does not have


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, side in (("gold", GOLD), ("plain", PLAIN), ("odd", ODD)):
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(side) + "\n")
        paths.append(str(path))
    return paths


@pytest.mark.parametrize(
    ("asked", "said"), [("union", "labels:union"), ("a,c", "labels:a,c"), (None, None)]
)
def test_the_command_line(files, asked, said, run):
    flags = [] if asked is None else ["--labels", asked]
    for command in ("score", "compare"):
        more = ["--average", "macro"] if command == "compare" else []
        outcome = run(command, *files, "--task", "labels", "-f", "json", "-q", *more, *flags)
        assert outcome.status == 0
        answer = json.loads(outcome.out)
        parts = answer["signature"].split("|")
        assert [part for part in parts if part.startswith("labels:")] == ([said] if said else [])
        system = answer["systems"][1]
        score = next(s for s in system["scores"] if s["metric"] == "macro_f1")
        chosen = {"union": sorted({*GOLD, *ODD}), "a,c": ["a", "c"], None: sorted(set(GOLD))}[asked]
        assert score["estimate"] == pytest.approx(
            f1_score(GOLD, ODD, labels=chosen, average="macro", zero_division=0)
        )


def test_a_label_that_nobody_has(run, files):
    outcome = run("score", *files, "--task", "labels", "--labels", "a,zz")
    assert outcome.status == 2
    assert "labels: neither gold nor a system has 'zz'" in outcome.err
