"""Run all commands at two revisions on the same data, and tell where their JSON differs.

    python tests/compare_revisions.py BEFORE AFTER [--data ../shared/data] [--allow PATTERN ...]

Each revision is checked out into a folder of its own and runs in this Python's environment. A line
per difference: the command, the place in its JSON, both values. ``--allow`` names places
that may differ (shell patterns over ``COMMAND:PLACE``, such as ``*:signature``). Seconds and file
names in temporary folders never count. Exit status 1 where something else differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = '''
class Common:
    """Tags a word as it was tagged most often, or only if it begins with a capital."""

    def __init__(self, capitals):
        self.capitals = capitals

    def fit(self, X, y):
        self.known = {}
        for sentence, spans in zip(X, y):
            for start, end, label in spans:
                if end == start + 1:
                    self.known[self.word(sentence[start])] = label
        return self

    def predict(self, X):
        return [
            [
                (i, i + 1, self.known[self.word(token)])
                for i, token in enumerate(sentence)
                if self.word(token) in self.known
                and (not self.capitals or self.word(token)[:1].isupper())
            ]
            for sentence in X
        ]

    def word(self, token):
        return token if isinstance(token, str) else str(token[0])


def every():
    return Common(False)


def capitals():
    return Common(True)
'''


def make_files(folder: Path, data: Path) -> dict[str, str]:
    """Small files that the corpora do not have, and the names that the commands use."""
    rows = [(77, 44, 10), (80, 40, 8), (70, 50, 12), (79, 41, 9), (75, 45, 11), (81, 39, 7)]
    for name, shift in (("a", 0), ("b", 3)):
        lines = [f"{tp + shift},{fp - shift},{fn}" for tp, fp, fn in rows]
        (folder / f"folds_{name}.csv").write_text("tp,fp,fn\n" + "\n".join(lines) + "\n")
    table = ["id,gold,old,new,doc"]
    for i in range(400):
        gold = "pos" if i % 3 == 0 else "neg"
        old = gold if i % 7 else "neg"
        new = gold if i % 11 else "pos"
        table.append(f"{i},{gold},{old},{new},{i // 8}")
    (folder / "labels.csv").write_text("\n".join(table) + "\n")
    classes = ["gold,old,new"]
    for i in range(300):
        gold = "abc"[i % 3]
        classes.append(f"{gold},{gold if i % 5 else 'a'},{gold if i % 6 else 'b'}")
    (folder / "classes.csv").write_text("\n".join(classes) + "\n")
    gold = ["the cat sat on the mat", "a dog ran", "we saw two birds"] * 20
    (folder / "gold.seg").write_text("\n".join(gold) + "\n")
    (folder / "a.seg").write_text("\n".join(s.replace(" on the", " onthe") for s in gold) + "\n")
    (folder / "b.seg").write_text("\n".join(s.replace("birds", "bird s") for s in gold) + "\n")
    probabilities = []
    for i, sentence in enumerate(gold):
        word = sentence.replace(" ", "")
        ends, place = set(), 0
        for token in sentence.split():
            place += len(token)
            ends.add(place)
        probabilities.append(
            "["
            + ", ".join(
                f"{(0.8 if j in ends else 0.2) + ((i * 7 + j * 3) % 10 - 5) / 50:.3f}"
                for j in range(1, len(word))
            )
            + "]"
        )
    (folder / "probabilities.txt").write_text("\n".join(probabilities) + "\n")
    (folder / "models.py").write_text(MODEL)
    wnut = data / "wnut17"
    return {
        "DIR": str(folder),
        "WNUT": str(wnut / "emerging.test.annotated"),
        "DEV": str(wnut / "emerging.dev.conll"),
        "RITUAL": str(wnut / "submissions" / "uh_ritual"),
        "BYTES": str(wnut / "submissions" / "spinningbytes.txt"),
        "FLYTXT": str(wnut / "submissions" / "flytxt"),
        "DREXEL": str(wnut / "submissions" / "drexel_cci"),
        "ZH": str(data / "uner" / "zh_gsd-ud-test.iob2"),
        "EWT": str(data / "ud_english_ewt" / "en_ewt-ud-test.conllu"),
    }


COMMANDS = """
interval --tp 77 --fp 44 --fn 10 --tn 702 --metric precision,recall,f1,jaccard,accuracy
interval --tp 77 --fp 44 --fn 10 --metric fbeta --beta 2 --level 0.9
interval --counts {DIR}/folds_a.csv --method bayes --prior 0.5
score {WNUT} {BYTES} {RITUAL} {FLYTXT}
score {WNUT} {RITUAL} --ignore-type --level 0.9
score {WNUT} {RITUAL} --overlap --only person
score {DIR}/labels.csv --gold-column gold --columns old,new
score {DIR}/classes.csv --gold-column gold --columns old,new
score {DIR}/gold.seg {DIR}/a.seg {DIR}/b.seg --task segmentation
compare {WNUT} {BYTES} {RITUAL}
compare {WNUT} {BYTES} {RITUAL} --metric precision,recall,fbeta --beta 2 --level 0.9 --rope 0.01
compare {WNUT} {BYTES} {RITUAL} --by item --prior 0.5
compare {WNUT} {BYTES} {RITUAL} {FLYTXT} {DREXEL} --all-pairs
compare {WNUT} {BYTES} {RITUAL} --average macro --seed 3
compare {WNUT} {BYTES} {RITUAL} --fail-if-worse --margin 0.01
compare {DIR}/labels.csv --gold-column gold --columns old,new
compare {DIR}/labels.csv --gold-column gold --columns old,new --unit-column doc
compare {DIR}/classes.csv --gold-column gold --columns old,new
compare {DIR}/gold.seg {DIR}/a.seg {DIR}/b.seg --task segmentation --metric recall,f1
plan {WNUT} {BYTES} {RITUAL} --difference 0.02
plan {WNUT} {BYTES} {RITUAL} --units 5000 --power 0.9
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --rope 0.005
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --metric f1 --weight averaged --prior 0.5 --level 0.9
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --sampled 20000 --seed 5
crossval {DEV} --a python:models:every --b python:models:capitals --seed 7
crossval {DEV} --a python:models:every --b python:models:capitals --seed 7 --metric f1 --rope 0.01
check {WNUT}
check {ZH}
check {EWT}
sweep {DIR}/gold.seg {DIR}/probabilities.txt
study coverage
study bayes
"""


def run_commands(source: Path, folder: Path, names: dict[str, str]) -> dict[str, object]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(source / "src"), str(folder)]),
    }
    answers: dict[str, object] = {}
    for line in filter(None, COMMANDS.splitlines()):
        words = [word.format(**names) for word in line.split()]
        call = [sys.executable, "-m", "probative", *words, "--format", "json", "--quiet"]
        done = subprocess.run(  # our own command
            call, env=environment, capture_output=True, text=True, cwd=folder, check=False
        )
        try:
            answers[line] = {"exit": done.returncode, "answer": json.loads(done.stdout or "null")}
        except ValueError:
            answers[line] = {"exit": done.returncode, "answer": done.stdout[:200]}
        if done.returncode not in (0, 1):
            sys.exit(f"{source}: probative {line}: exit {done.returncode}: {done.stderr.strip()}")
    return answers


def differences(before: object, after: object, place: str = ""):
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            missing = object()
            old, new = before.get(key, missing), after.get(key, missing)
            if old is missing or new is missing:
                yield (
                    f"{place}.{key}",
                    "added" if old is missing else "gone",
                    new if old is missing else old,
                )
            else:
                yield from differences(old, new, f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, f"{place}[{i}]")
    elif before != after and not place.endswith(".seconds"):
        numbers = isinstance(before, float) and isinstance(after, float)
        if not numbers or abs(before - after) > 1e-12 * max(1.0, abs(before)):
            yield place, before, after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before")
    parser.add_argument("after", help="a revision, or WORK for the files as they are")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--allow", nargs="*", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = folder / "files"
        files.mkdir()
        names = make_files(files, arguments.data.resolve())
        answers = []
        for side, revision in (("before", arguments.before), ("after", arguments.after)):
            source = ROOT
            if revision != "WORK":
                source = folder / side
                archive = subprocess.run(
                    ["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True
                ).stdout
                source.mkdir()
                subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
            answers.append(run_commands(source, files, names))
    unexpected = 0
    for command, old in answers[0].items():
        for place, was, now in differences(old, answers[1][command]):
            if any(fnmatch(f"{command}:{place}", pattern) for pattern in arguments.allow):
                continue
            unexpected += 1
            print(f"{command}: {place}: {str(was)[:90]} -> {str(now)[:90]}")  # noqa: T201
    total = len(answers[0])
    print(f"{total} commands, {unexpected} differences that were not allowed")  # noqa: T201
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
