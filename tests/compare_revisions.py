"""Run all commands and public functions at two revisions, and show where their results differ.

    python tests/compare_revisions.py BEFORE AFTER [--data ../shared/data] [--allow PATTERN ...]
                                      [--only TEXT]

Each revision is checked out into a folder of its own and runs in this Python's environment, both
at the same time. One line per difference: the command or call, the place in its JSON, both values.
``--allow`` names places that may differ (shell patterns over ``COMMAND:PLACE``, such as
``*:signature``), ``--only`` runs the lines that contain a text. Seconds never count. Exit status 1
where something else differs, also where one revision refuses what the other one does.
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


def write_parquet(table: Path, path: Path) -> None:
    import duckdb

    duckdb.sql(f"copy (from '{table}') to '{path}' (format parquet)")


def write_lines(folder: Path) -> None:
    """JSON lines with spans, and logs of two systems."""
    for name, drop in (("gold", 0), ("a", 5), ("b", 7)):
        lines = []
        for i in range(60):
            spans = [[0, 3, "PER"], [8, 12, "LOC"]] if not drop or i % drop else [[0, 3, "PER"]]
            lines.append(json.dumps({"text": f"Ann was Rome {i}", "label": spans}))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    for name, wrong in (("a", 4), ("b", 6)):
        lines = [
            json.dumps({"id": i, "input": f"question {i}", "correct": bool(i % wrong)})
            for i in range(80)
        ]
        (folder / f"log_{name}.jsonl").write_text("\n".join(lines) + "\n")


def make_files(folder: Path, data: Path) -> dict[str, str]:
    """Small files that the corpora do not have, and the names that the commands use."""
    rows = [(77, 44, 10), (80, 40, 8), (70, 50, 12), (79, 41, 9), (75, 45, 11), (81, 39, 7)]
    for name, shift in (("a", 0), ("b", 3)):
        lines = [f"{tp + shift},{fp - shift},{fn}" for tp, fp, fn in rows]
        (folder / f"folds_{name}.csv").write_text("tp,fp,fn\n" + "\n".join(lines) + "\n")
    table = ["id,gold,old,new,doc,lang,run"]
    for i in range(400):
        gold = "pos" if i % 3 == 0 else "neg"
        old = gold if i % 7 else "neg"
        new = gold if i % 11 else "pos"
        table.append(f"{i},{gold},{old},{new},{i // 8},{'de' if i % 2 else 'fr'},{i // 200}")
    (folder / "labels.csv").write_text("\n".join(table) + "\n")
    rows = [line.split(",") for line in table[1:]]
    for name, place, order in (("gold", 1, 1), ("old", 2, -1), ("new", 3, 7)):
        lines = [f"{row[0]},{row[place]}" for row in rows]
        lines = lines[::order] if order < 7 else sorted(lines, key=lambda line: line[::-1])
        (folder / f"key_{name}.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    lines = [
        ",".join([row[1], row[1] if (i + run) % 5 else "neg", row[3], str(run)])
        for run in range(3)
        for i, row in enumerate(rows[:120])
    ]
    (folder / "runs.csv").write_text("\n".join(["gold,old,new,run", *lines]) + "\n")
    write_parquet(folder / "labels.csv", folder / "labels.parquet")
    rows = [f"{'x;y' if i % 4 else 'x'},{'x;y' if i % 5 else 'y'},x;y" for i in range(120)]
    (folder / "sets.csv").write_text("\n".join(["gold,a,b", *rows]) + "\n")
    rows = [
        f"{i % 2},{0.3 + 0.4 * (i % 2) + i % 7 / 30:.4f},{0.4 + i % 9 / 20:.4f}" for i in range(200)
    ]
    (folder / "probs.csv").write_text("\n".join(["gold,a,b", *rows]) + "\n")
    rows = [
        f"{m},{d},{8 + d % 3 + s},{2 - s},{2 + d % 2 - s}"
        for s, m in enumerate("ab")
        for d in range(20)
    ]
    (folder / "counts.csv").write_text("\n".join(["model,doc,tp,fp,fn", *rows]) + "\n")
    write_lines(folder)
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
        "SUBMISSIONS": str(wnut / "submissions"),
        "ZH": str(data / "uner" / "zh_gsd-ud-test.iob2"),
        "EWT": str(data / "ud_english_ewt" / "en_ewt-ud-test.conllu"),
    }


COMMANDS = """
interval --tp 77 --fp 44 --fn 10 --tn 702 --metric precision,recall,f1,jaccard,accuracy
interval --tp 77 --fp 44 --fn 10 --metric fbeta --beta 2 --level 0.9
interval --tp 77 --fp 44 --fn 10 --tn 702 --metric mcc,kappa,informedness,markedness
interval --tp 77 --fp 44 --fn 10 --tn 702 --metric npv,specificity,balanced_accuracy,fowlkes_mallows
interval --tp 0 --fp 0 --fn 3
interval --tp 77 --fp 44 --fn 10 --method wilson-direct
interval --tp 77 --fp 44 --fn 10 --method clopper-pearson
interval --tp 77 --fp 44 --fn 10 --method jeffreys
interval --tp 77 --fp 44 --fn 10 --method wald
interval --counts {DIR}/folds_a.csv --method bayes --prior 0.5
score {WNUT} {BYTES} {RITUAL} {FLYTXT}
score {WNUT} {RITUAL} --ignore-type --level 0.9
score {WNUT} {RITUAL} --overlap --only person
score {WNUT} {RITUAL} --match partial
score {WNUT} {RITUAL} --match boundary:1
score {WNUT} {RITUAL} --match tokens
score {WNUT} {RITUAL} --by item --method bayes
score {WNUT} {RITUAL} --repair strict
score {WNUT} {RITUAL} --map person=PER
score {WNUT} {RITUAL} --labels person,location
score {WNUT} {RITUAL} --second-gold {BYTES}
score {WNUT} --runs A={RITUAL} --runs A={BYTES}
score {ZH} {ZH}
score {DIR}/labels.csv --gold-column gold --columns old,new
score {DIR}/labels.csv --gold-column gold --columns old,new --positive pos --metric mcc,npv
score {DIR}/labels.csv --gold-column gold --columns old,new --positive pos --unit-column doc
score {DIR}/labels.csv --gold-column gold --columns old --group lang
score {DIR}/classes.csv --gold-column gold --columns old,new
score {DIR}/classes.csv --gold-column gold --columns old,new --metric kappa,mcc,balanced_accuracy
score {DIR}/sets.csv --gold-column gold --columns a --multilabel ;
score {DIR}/probs.csv --gold-column gold --columns a --probabilities --positive 1
score {DIR}/gold.seg {DIR}/a.seg {DIR}/b.seg --task segmentation
score {DIR}/gold.seg {DIR}/a.seg --task segmentation --train-words {DIR}/b.seg
score {DIR}/gold.jsonl {DIR}/a.jsonl
score {DIR}/log_a.jsonl
score {DIR}/labels.parquet --gold-column gold --columns old,new
score {DIR}/labels.csv --gold-column gold --columns old,new --memory-limit 1GB
compare {WNUT} {BYTES} {RITUAL}
compare {WNUT} {BYTES} {RITUAL} --metric precision,recall,fbeta --beta 2 --level 0.9 --rope 0.01
compare {WNUT} {BYTES} {RITUAL} --by item --prior 0.5
compare {WNUT} {BYTES} {RITUAL} {FLYTXT} {DREXEL} --all-pairs
compare {WNUT} {BYTES} {RITUAL} --average macro --seed 3
compare {WNUT} {BYTES} {RITUAL} --fail-if-worse --margin 0.01
compare {WNUT} {BYTES} {RITUAL} --require-not-worse --margin 0.05
compare {WNUT} {BYTES} {RITUAL} --require-better
compare {WNUT} {BYTES} {RITUAL} --by-label --buckets --train {DEV}
compare {WNUT} {BYTES} {RITUAL} --match partial
compare {WNUT} {BYTES} {RITUAL} --match type
compare {WNUT} {BYTES} {RITUAL} --ignore-type --only person
compare {WNUT} {BYTES} {RITUAL} --second-gold {FLYTXT}
compare {WNUT} --runs A={BYTES} --runs A={DREXEL} --runs B={RITUAL} --runs B={FLYTXT}
compare {WNUT} --runs A={BYTES} --runs A={DREXEL} --runs B={RITUAL} --runs B={FLYTXT} --paired-runs
compare {WNUT} {BYTES} {BYTES} --names one,two
compare {DIR}/labels.csv --gold-column gold --columns old,new
compare {DIR}/labels.csv --gold-column gold --columns old,new --unit-column doc
compare {DIR}/labels.csv --gold-column gold --columns old,new --positive pos --metric f1,mcc
compare {DIR}/labels.csv --gold-column gold --columns old,new --positive pos --unit-column doc
compare {DIR}/labels.csv --gold-column gold --columns old,new --group lang
compare {DIR}/labels.csv --gold-column gold --columns old,new --group lang --unit-column doc
compare {DIR}/labels.csv --gold-column gold --columns old,new --memory-limit 1GB --unit-column doc
compare {DIR}/labels.parquet --gold-column gold --columns old,new --unit-column doc
compare {DIR}/runs.csv --gold-column gold --columns old,new --run-column run
compare {DIR}/key_gold.csv {DIR}/key_old.csv {DIR}/key_new.csv --key id
compare {DIR}/classes.csv --gold-column gold --columns old,new
compare {DIR}/classes.csv --gold-column gold --columns old,new --metric kappa
compare {DIR}/classes.csv --gold-column gold --columns old,new --average macro
compare {DIR}/classes.csv --gold-column gold --columns old,new --metric balanced_accuracy
compare {DIR}/sets.csv --gold-column gold --columns a,b --multilabel ;
compare {DIR}/probs.csv --gold-column gold --columns a,b --probabilities --positive 1
compare {DIR}/probs.csv --gold-column gold --columns a,b --threshold 0.5 --positive 1
compare {DIR}/gold.seg {DIR}/a.seg {DIR}/b.seg --task segmentation --metric recall,f1
compare {DIR}/gold.jsonl {DIR}/a.jsonl {DIR}/b.jsonl
compare {DIR}/log_a.jsonl {DIR}/log_b.jsonl
compare --counts {DIR}/counts.csv
compare --dataset wnut {WNUT} {BYTES} {RITUAL} --dataset again {WNUT} {FLYTXT} {RITUAL}
compare {WNUT} {BYTES} {RITUAL} --require-not-worse --margin 0.05 --ledger ledger1 --hide-scores
rank {WNUT} {BYTES} {RITUAL}
rank {WNUT} {BYTES} {RITUAL} {FLYTXT} {DREXEL}
rank {WNUT} {BYTES} {RITUAL} {FLYTXT} --metric precision --level 0.9
rank {WNUT} {BYTES} {RITUAL} {FLYTXT} --average macro
rank {WNUT} {BYTES} {RITUAL} {FLYTXT} --by item
rank {WNUT} --runs A={BYTES} --runs A={DREXEL} --runs B={RITUAL} --runs B={FLYTXT}
rank {DIR}/labels.csv --gold-column gold --columns old,new --unit-column doc
rank {DIR}/classes.csv --gold-column gold --columns old,new
rank {DIR}/classes.csv --gold-column gold --columns old,new --metric kappa
rank {DIR}/gold.seg {DIR}/a.seg {DIR}/b.seg --task segmentation
plan {WNUT} {BYTES} {RITUAL} --difference 0.02
plan {WNUT} {BYTES} {RITUAL} --units 5000 --power 0.9
plan {WNUT} {BYTES} {RITUAL} --difference 0.02 --by item --metric recall
plan {WNUT} --runs A={BYTES} --runs A={DREXEL} --runs B={RITUAL} --runs B={FLYTXT} --difference 0.05
plan {DIR}/labels.csv --gold-column gold --columns old,new --difference 0.02
plan {DIR}/classes.csv --gold-column gold --columns old,new --metric kappa --difference 0.05
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --rope 0.005
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --metric f1 --weight averaged --prior 0.5 --level 0.9
bayes {DIR}/folds_a.csv {DIR}/folds_b.csv --sampled 20000 --seed 5
crossval {DEV} --a python:models:every --b python:models:capitals --seed 7
crossval {DEV} --a python:models:every --b python:models:capitals --seed 7 --metric f1 --rope 0.01
crossval {DEV} --a python:models:every --b python:models:capitals --m 2 --seed 1 --level 0.9
split {DEV} -o folds1 --seed 3
agreement {WNUT} {BYTES} {RITUAL}
agreement {WNUT} {RITUAL} --match partial
agreement {DIR}/classes.csv --columns gold,old,new
agreement {DIR}/labels.csv --columns gold,old --unit-column doc
sample {WNUT} {BYTES} {RITUAL} --size 120 -o s1.conll --seed 4 --explain
annotate s1.conll {WNUT} annotated.conll
estimate s1.design.json annotated.conll
estimate s1.design.json annotated.conll --metric precision,recall --population
watch s1.design.json annotated.conll
sample --add 20 s1.design.json -o s2.conll
sample {WNUT} {BYTES} --size 60 -o s3.conll --seed 4 --for score
sample {DIR}/labels.csv --columns old,new --size 40 -o s4.csv --by item --positive pos
board {WNUT} {SUBMISSIONS} -o site1
ledger ledger1
check {WNUT}
check {ZH}
check {EWT}
check {DIR}/labels.csv
check {DIR}/gold.jsonl
check {DIR}/gold.seg
check {DIR}/log_a.jsonl
sweep {DIR}/gold.seg {DIR}/probabilities.txt
demo
study coverage
study bayes
study pairing --replicates 20
study gates --replicates 10
study clusters --replicates 5
study macro --replicates 5
study ranks --replicates 5
study datasets --replicates 20
study training --replicates 2
score {DIR}/missing.conll {RITUAL}
score {WNUT} {DIR}/labels.csv
compare {WNUT} {BYTES}
compare {DIR}/labels.csv --gold-column nobody --columns old,new
rank {WNUT} {BYTES}
"""
# Expressions; pv, np and the data of SETUP are there
SETUP = """
import numpy as np, probative as pv
rng = np.random.default_rng(7)
y = rng.integers(0, 2, 300); a = np.where(rng.random(300) < .85, y, 1 - y)
b = np.where(rng.random(300) < .9, y, 1 - y); units = np.arange(300) // 6
k = rng.integers(0, 4, 300); ka = np.where(rng.random(300) < .7, k, rng.integers(0, 4, 300))
kb = np.where(rng.random(300) < .75, k, rng.integers(0, 4, 300))
p = np.clip(y * .4 + rng.random(300) * .6, 0, 1); q = np.clip(y * .5 + rng.random(300) * .5, 0, 1)
one = pv.Counts(tp=77, fp=44, fn=10, tn=702); two = pv.Counts(tp=80, fp=40, fn=7, tn=706)
folds = [pv.Counts(tp=77 + i, fp=44 - i, fn=10, tn=702) for i in range(6)]
more = [pv.Counts(tp=79 + i, fp=41 - i, fn=9, tn=704) for i in range(6)]
items = pv.PairedCounts.from_labels(y, a, b, positive=1)
paired = pv.PairedCounts.from_labels(y, a, b, positive=1, units=units)
tags = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"]] * 10
ta = [["B-X", "I-X", "O", "O"], ["O", "B-X"]] * 10
tb = [["B-X", "O", "O", "B-Y"], ["O", "B-X"]] * 10
spans = [{(0, 2, "X"), (3, 4, "Y")}, {(1, 2, "X")}] * 10
sa = [{(0, 2, "X")}, {(1, 2, "X")}] * 10
sb = [{(0, 1, "X"), (3, 4, "Y")}, {(1, 2, "X")}] * 10
"""
CALLS = """
pv.interval(one, "f1")
pv.interval(one, "mcc", level=0.9)
[i.to_dict() for i in (pv.interval(one, m) for m in ("precision", "recall", "accuracy", "kappa"))]
pv.posterior(one, "f1").interval(0.95)
[pv.posterior(one, m).cdf(0.8) for m in ("precision", "recall", "f1", "jaccard", "accuracy")]
pv.effective_counts(folds)
pv.bayes_test(one, two, "f1", rope=0.01)
pv.bayes_test(folds, more, "recall")
pv.bayes_test(items, metric="f1")
pv.bayes_test(paired, metric="f1")
pv.randomization_test(items, "f1", by="item")
pv.randomization_test(paired, "f1", by="unit")
pv.randomization_test(paired, "precision", by="unit", alternative="greater")
pv.randomization_test(paired, "mcc", by="unit")
pv.randomization_test(paired, "f1", by="unit", method="sampled", n_resamples=2000, rng=3)
pv.difference(items, "f1")
pv.difference(paired, "f1")
pv.difference(paired, "recall", method="bayes")
pv.plan(paired, "f1", difference=0.05, power=0.8)
pv.mcnemar_test(items)
pv.bootstrap_difference(paired, "f1", rng=5)
pv.adjust_pvalues([0.01, 0.02, 0.3]).tolist()
pv.score(tags, ta)
pv.score(spans, sa)
pv.score(k, ka)
pv.score(y, a, positive=1)
pv.compare(tags, ta, tb)
pv.compare(spans, sa, sb)
pv.compare(k, ka, kb)
pv.compare(y, a, b, positive=1, metric="recall", rope=0.01)
pv.compare(y, a, b, positive=1, metric="mcc")
pv.compare(y, {"A": [a, b], "B": [b, a]}, positive=1)
pv.compare(k, ka, kb, average="macro")
pv.rank(y, {"a": a, "b": b, "c": y ^ (np.arange(300) % 9 == 0)}, positive=1)
pv.rank(k, {"a": ka, "b": kb}, average="macro")
pv.curve(y, p)
pv.compare_curves(y, p, q)
pv.agreement(list(map(str, k)), list(map(str, ka)), list(map(str, kb)))
pv.sequential("f1").update(paired)
[pv.seqeval.classification_report(tags, ta)]
pv.seqeval.f1_score(tags, ta)
list(pv.gate(pv.compare(y, a, b, positive=1), "require-not-worse", margin=0.05))
"""
DRIVER = """
import contextlib, io, json, sys
job = json.load(sys.stdin)
import probative as pv
from probative.cli import main
answers = {}


def annotate(sample, gold, output, *rest):
    # fills the tags of gold into the sentences of a sample
    def key(block):
        return tuple(line.split("\\t")[0] for line in block.split("\\n"))

    read = lambda path: open(path).read().strip("\\n").split("\\n\\n")
    known = {key(block): block for block in read(gold)}
    with open(output, "w") as file:
        file.write("\\n\\n".join(known[key(block)] for block in read(sample)) + "\\n")
    return 0


for line, words in job["commands"]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = annotate(*words[1:]) if words[0] == "annotate" else main(words)
        except SystemExit as stop:
            status = stop.code
    try:
        shown = json.loads(out.getvalue() or "null")
    except ValueError:
        shown = out.getvalue()[:200]
    answers[line] = {"exit": status, "answer": shown}
    if status == 2:
        answers[line]["refused"] = err.getvalue()[-300:]
    elif status not in (0, 1):
        answers[line]["failed"] = err.getvalue()[-300:]
space = {}
exec(job["setup"], space)
for line in job["calls"]:
    try:
        value = eval(line, space)
        if isinstance(value, pv.Counts):
            value = [value.tp, value.fp, value.fn, value.tn]
        value = value.to_dict() if hasattr(value, "to_dict") else value
        answers[line] = json.loads(json.dumps(pv.results.jsonable(value), default=str))
    except Exception as stop:
        answers[line] = f"{type(stop).__name__}: {stop}"
json.dump(answers, sys.__stdout__)
"""


def start(source: Path, folder: Path, names: dict[str, str], only: str) -> subprocess.Popen[str]:
    """Start a process that runs everything at one revision."""
    search = os.pathsep.join([str(source / "src"), str(folder)])
    commands = []
    for line in filter(None, COMMANDS.splitlines()):
        # "demo" writes files and prints text
        tail = ["--quiet"] if line == "demo" else ["--format", "json", "--quiet"]
        commands.append((line, [word.format(**names) for word in line.split()] + tail))
    calls = list(filter(None, CALLS.splitlines()))
    job = {
        "commands": [pair for pair in commands if only in pair[0]],
        "setup": SETUP,
        "calls": [line for line in calls if only in line],
    }
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env={**os.environ, "PYTHONPATH": search, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(job))
    process.stdin.close()
    process.stdin = None
    return process


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
    elif before != after and not place.endswith(("seconds", ".time", ".date", ".first", ".last")):
        numbers = isinstance(before, float) and isinstance(after, float)
        if not numbers or abs(before - after) > 1e-12 * max(1.0, abs(before)):
            yield place, before, after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before")
    parser.add_argument("after", help="a revision, or WORK for the files as they are")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--allow", nargs="*", default=[])
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes = []
        for side, revision in (("before", arguments.before), ("after", arguments.after)):
            source = ROOT
            if revision != "WORK":
                source = folder / side
                archive = subprocess.run(
                    ["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True
                ).stdout
                source.mkdir()
                subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
            files = folder / f"files_{side[0]}"
            files.mkdir()
            names = make_files(files, arguments.data.resolve())
            processes.append(start(source, files, names, arguments.only))
        answers = []
        for side, process in zip("ba", processes, strict=True):
            text = process.communicate()[0]
            answers.append(json.loads(text.replace(f"files_{side}", "files")))
    unexpected = 0
    for command, old in answers[0].items():
        for place, was, now in differences(old, answers[1][command]):
            if any(fnmatch(f"{command}:{place}", pattern) for pattern in arguments.allow):
                continue
            unexpected += 1
            print(f"{command}: {place}: {str(was)[:90]} -> {str(now)[:90]}")  # noqa: T201
    refused = [
        line
        for line, old in answers[0].items()
        if isinstance(old, str) or (isinstance(old, dict) and {"refused", "failed"} & old.keys())
    ]
    print(f"refused before: {'; '.join(refused) or 'none'}")  # noqa: T201
    total = len(answers[0])
    print(f"{total} commands and calls, {unexpected} differences that were not allowed")  # noqa: T201
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
