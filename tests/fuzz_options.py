"""Random combinations of options, good and hostile, through every command.

``python tests/fuzz_options.py --n 20000 --seed 1`` does the whole run; a small one with a fixed
seed is among the tests. Options are taken from the parsers, so that a new one is tried, too.
Whatever is asked: exit status 0, 1 or 2, no traceback, no warning with a path of the source, no
hang, inputs and special files as they were, outputs whole or not there. Every hundredth case is a
process of its own, with closed streams, pipes that nobody reads and full disks.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import click
from time_limit import Hang, limit

from probative.cli import main as run_command
from probative.cli.app import build_app

HANG = 60  # seconds after which a case counts as hanging
DIGITS = "9" * 5000
TAGS = [("Ann", "B-PER"), ("Lee", "I-PER"), ("saw", "O"), ("York", "B-LOC"), ("北京", "B-LOC")]
HOSTILE = (
    "", " ", "x", "-", "--", "-1", "0", "1", "2", "1.5", "nan", "inf", "-inf", "1e300", "1e-320",
    "1e-17", "0.9999999999999999", "1_000", "٣", "12345678901234567890", DIGITS, "0x10", "1e5000",
    "\x1b[31m", "a\nb", "\u202e", "x" * 5000, "None", "all", "text,json", "%s", "{0}", "../..", "~",
    "idna", "utf-16", "rot13", "hex", "unicode_escape", "python:os:getcwd", "python:nothing:x",
    "crf:", "crf:none", "iob1", "1,2", "1,,2", ",", "0,1", "0.5,0.5",
)  # fmt: skip
TEXT = ("tags.conll", "other.conll", "both.conll", "words.txt", "labels.txt", "spans.jsonl")
GOOD = {
    "names": ("one,two", "a"),
    "task": ("entities", "segmentation", "labels", "ner", "cws", "org"),
    "input_format": ("columns", "conllu", "segmented", "labels", "jsonl", "table"),
    "encoding": ("utf-8", "latin-1", "gb18030"),
    "tag_column": ("1", "2", "3", "-1"),
    "gold_column": ("2", "gold", "1"),
    "label_column": ("gold", "2"),
    "column": ("gold", "old"),
    "columns": ("3", "old,new", "2,3"),
    "unit_column": ("doc",),
    "align": ("tokens", "position"),
    "scheme": ("iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou", "bmes", "bb2b3mes", "io"),
    "repair": ("conlleval", "strict", "error"),
    "only": ("PER", "LOC", "yes", "none"),
    "positive": ("yes", "no"),
    "level": ("0.9", "0.5", "0.99"),
    "form": ("text", "json", "json", "markdown", "latex", "csv", "conlleval"),
    "seed": ("0", "7", "4294967295"),
    "metric": ("precision", "recall", "f1", "fbeta", "jaccard", "accuracy", "specificity", "npv"),
    "average": ("micro", "macro"),
    "pairs": ("top", "all", "none"),
    "max_size": ("1", "0.001"),
    "by": ("sentence", "document", "unit", "item"),
    "rope": ("0", "0.01", "0.5"),
    "beta": ("0.5", "2"),
    "prior": ("0.5", "1", "2"),
    "size": ("4", "2", "6"),
    "add": ("1",),
    "goal": ("score", "difference"),
    "keep": ("1", "doc"),
    "margin": ("0", "0.01", "0.3"),
    "confidence": ("0.5", "0.95"),
    "weight": ("effective", "averaged", "0.5", "0.3,0.2"),
    "sampled": ("10", "1000"),
    "plot": ("densities", "difference", "coverage", "length"),
    "a": ("crf:iob2", "crf:iobes"),
    "b": ("crf:iobes", "crf:iob2"),
    "features": ("1", "2"),
    "m": ("1", "2"),
    "jobs": ("1",),
    "regularize": ("entities", "labels", "tokens", "entities,tokens"),
    "method": ("wilson-indirect", "wilson-direct", "wilson", "clopper-pearson", "jeffreys", "bayes",
               "logit", "wald", "all", "item-test", "unit-test", "mover", "guarded"),
    "difference": ("0.01", "0.1", "0"),
    "power": ("0.5", "0.8"),
    "units": ("20", "50"),
    "steps": ("1", "5", "20"),
    "n": ("5", "20,30", "40"),
    "learner": ("stump", "stump,neighbour", "centroid"),
    "gain": ("0", "0,0.25"),
    "question": ("score", "difference"),
    "cells": ("0.2,0.3,0.1", "0.25,0.25,0.25,0.25"),
    "replicates": ("1", "2"),
    "correlation": ("0", "0.2"),
    "items": ("3", "1.5"),
    "c2": ("0.1", "1"),
    "iterations": ("3", "5"),
    "systems": ("maxmatch", "maxmatch,crf"),
    "sizes": ("2", "1,all"),
    "step": ("2",),
    "curve": ("maxmatch", "crf"),
    "epochs": ("1",),
    "device": ("cpu",),
    "language": ("zh", "en"),
    "tp": ("77", "0", "1.5"), "fp": ("44", "0"), "fn": ("10", "0"), "tn": ("700", "0"),
}  # fmt: skip
# how much work is asked for: what is large and valid takes long, and is no news
SIZES = {
    "replicates",
    "n",
    "m",
    "iterations",
    "epochs",
    "units",
    "items",
    "sampled",
    "jobs",
    "streams",
    "sequences",
    "looks",
    "pool",
    "item_streams",
    "batch",
}
SMALL = {
    "study bayes": {"--replicates": "1", "--n": "60"},
    "study pairing": {"--replicates": "2", "--n": "20"},
    "study tests": {"--replicates": "1", "--units": "10", "--correlation": "0"},
    "study planning": {"--replicates": "1"},
    "study macro": {"--replicates": "1"},
    "study metrics": {"--replicates": "1", "--metric": "informedness", "--n": "4"},
    "study chunking": {"--iterations": "3", "--m": "1"},
    "study segmentation": {"--systems": "maxmatch,crf", "--epochs": "1"},
    "study coverage": {"--n": "5"},
    "study training": {"--replicates": "2", "--n": "40"},
    "study curves": {
        "--replicates": "1",
        "--positives": "5",
        "--share": "0.5",
        "--area": "0.8",
        "--n": "20",
    },
    "study agreement": {"--replicates": "1"},
    "study graded": {"--replicates": "1"},
    "study judges": {"--replicates": "1"},
    "study overlap": {"--replicates": "1"},
    "study looks": {"--streams": "1", "--item-streams": "10", "--units": "20"},
    "study watching": {"--streams": "1", "--pool": "60", "--units": "40"},
    "study ledger": {"--sequences": "1", "--looks": "2"},
    "study annotation": {
        "--replicates": "2",
        "--items": "300",
        "--n": "60",
        "--prevalence": "0.1",
        "--confidence": "none",
    },
    "crossval": {"--m": "1"},
    "sample": {"--size": "4"},
}
# these take longer
SELDOM = {
    "study ranks": 0.2,
    "study sequential": 0.2,
    "study planning": 0.02,
    "study macro": 0.02,
    "study bayes": 0.1,
    "study chunking": 0.1,
    "study segmentation": 0.15,
    "study coverage": 0.3,
    "study gates": 0.1,
    "study clusters": 0.02,
    "study metrics": 0.1,
    "study training": 0.1,
    "crossval": 0.3,
    "demo": 0.1,
}


AN_INPUT = "an input of this command"


# --- the room in which a case happens -----------------------------------------------------------


def furnish(room: Path) -> None:
    """Put down small files of every kind, and folders that earlier commands would have written."""
    inputs = room / "in"
    inputs.mkdir(parents=True)
    sentence = "\n".join("\t".join(row) for row in TAGS)
    wrong = sentence.replace("B-LOC", "O", 1).replace("I-PER", "O")
    contents = {
        "tags.conll": "\n\n".join([sentence] * 6) + "\n",
        "other.conll": "\n\n".join([sentence, wrong] * 3) + "\n",
        "both.conll": "\n\n".join(["\n".join(f"{w} {t} {t}" for w, t in TAGS)] * 4) + "\n",
        "words.txt": "约翰 喜欢 玛丽\n我们 明天 去\n" * 3,
        "labels.txt": "yes\nno\nyes\n" * 4,
        "spans.jsonl": '{"text": "Ann saw", "spans": [[0, 3, "PER"]]}\n' * 4,
        "table.csv": "gold,old,new,doc\n" + "yes,no,yes,1\nno,no,yes,2\n" * 4,
        "counts.csv": "tp,fp,fn\n5,1,2\n6,2,1\n",
        "other.csv": "tp,fp,fn\n5,2,2\n4,2,3\n",
        "models.csv": "model,tp,fp,fn\na,5,1,2\nb,6,2,1\n",
        "p.jsonl": "[0.1,0.9,0.2,0.8,0.5]\n[0.9,0.2,0.7,0.1]\n" * 3,
        "empty": "",
        "binary": "\x00\x01\x02",
        "escapes.conll": "a\tB-\x1b[31mX\nb\tO\n\nc\tB-\x9b5m\n",
        "huge.json": f'[{{"tp": {DIGITS}, "fp": 1, "fn": 1}}]',
        "large.csv": "tp,fp,fn\n1e300,1e300,1e300\n",
    }
    for name, content in contents.items():
        (inputs / name).write_text(content, encoding="utf-8")
    split = ["split", str(inputs / "tags.conll"), "-o", str(inputs / "folds"), "--m", "1", "-q"]
    assert attempt([*split, "--seed", "1"], "")[0] == 0
    broken = inputs / "broken"
    shutil.copytree(inputs / "folds", broken)
    (broken / "manifest.json").write_text('{"folds": [1, {"fold": null}]}')


def lay_out(out: Path, inputs: Path) -> dict[str, str]:
    """Make a fresh folder for outputs, with every kind of place; return the places by name."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / "old.html").write_text("what was there")
    (out / "folder.html").mkdir()
    os.mkfifo(out / "pipe.svg")
    with suppress(PermissionError):
        os.mknod(out / "device.html", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):
        listener.bind(str(out / "socket.html"))
    (out / "link.html").symlink_to("old.html")
    (out / "dangling.html").symlink_to("new-target.html")
    (out / "loop.html").symlink_to("loop.html")
    (out / "input.html").symlink_to(inputs / "tags.conll")
    (out / "hard.html").hardlink_to(inputs / "tags.conll")
    (out / "edited").mkdir()
    (out / "edited" / "gold.conll").write_text("mine\tO\n")
    names = ("new.html", "new.png", "new.svg", "new.pdf", "new", "old.html", "folder.html",
             "pipe.svg", "device.html", "socket.html", "link.html", "dangling.html", "loop.html",
             "input.html", "hard.html", "missing/new.html", "edited", "made", "edited/x.html",
             "made/x.html", "n" * 300 + ".html", "a\nb.html", ".")  # fmt: skip
    return {name: str(out / name) for name in names}


def snapshot(folder: Path) -> dict[str, object]:
    """What stands in a folder: content of files, kind of everything else."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        kind = stat.S_IFMT(mode)
        found[str(path.relative_to(folder))] = path.read_bytes() if stat.S_ISREG(mode) else kind
    return found


# --- one case -----------------------------------------------------------------------------------


def parsers() -> dict[str, list]:
    """Every command's parameters, by the words that call it."""
    found = {}

    def walk(command, words):
        if not isinstance(command, click.Group):
            found[" ".join(words)] = command.params
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            walk(command.get_command(context, name), [*words, name])

    walk(build_app(), [])
    return found


def a_file(rng, inputs, places, name):
    if name == "probabilities":
        usual = "p.jsonl"
    elif name in ("gold", "cws", "train", "dev", "test"):
        usual = "words.txt"
    elif name == "submissions":
        usual = "."
    elif name == "counts_file":
        usual = rng.choice(("counts.csv", "models.csv"))
    else:
        usual = rng.choice((*TEXT, "table.csv", "counts.csv"))
    if rng.random() < 0.85:
        return str(inputs / usual)
    if rng.random() < 0.3:
        return rng.choice(("-", "", str(inputs), rng.choice(HOSTILE), places["folder.html"]))
    return str(inputs / rng.choice(sorted(p.name for p in inputs.iterdir())))


def a_value(parameter, rng, inputs, places):
    name, metavar = parameter.name, parameter.metavar
    if name in ("html", "figure", "output", "resume", "cache", "to"):
        if rng.random() < 0.5:
            usual = {"html": "new.html", "figure": "new.svg", "output": "made", "resume": "run"}
            usual |= {"cache": "kept", "to": "new"}
            return places.get(usual[name], str(Path(places["made"]).parent / usual[name]))
        if rng.random() < 0.2:
            return AN_INPUT
        return rng.choice((*places.values(), *places.values(), *HOSTILE[:3], "x" * 5000 + ".html"))
    if name == "folds":
        return str(inputs / rng.choice(("folds", "folds", "broken", "tags.conll", "none")))
    if metavar == "GLOB":
        return str(
            inputs / rng.choice(("folds/*validation*", "folds/*", "*", "none*", "tags.conll"))
        )
    if metavar == "FILE":
        return a_file(rng, inputs, places, name)
    hostile = HOSTILE if name not in SIZES else [h for h in HOSTILE if h not in ("1e5000",)]
    if name in GOOD and rng.random() < 0.8:
        return rng.choice(GOOD[name])
    return rng.choice(hostile)


def arguments(command, parameters, rng, inputs, places):
    """A command line: what must be there, most of the time, and some of the rest."""
    words = command.split()
    repeated = any(parameter.name == "replicates" for parameter in parameters)
    given = dict(SMALL.get(command, {"--replicates": "1"} if repeated else {}))
    many = rng.random() < 0.1
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            if parameter.nargs == 1:
                words.append(a_file(rng, inputs, places, parameter.name))
            elif command == "bayes":
                pair = [str(inputs / n) for n in ("counts.csv", "other.csv")]
                words += rng.choice((pair, pair, pair[:1], [str(inputs / "models.csv")], []))
            elif command == "crossval":
                words.append(a_file(rng, inputs, places, "corpus"))
            else:
                words += systems(command, rng, inputs, places)
            continue
        wanted = parameter.required or (parameter.name in ("tp", "fp", "fn") and rng.random() < 0.8)
        chance = 0.97 if wanted else 0.4 if many else 0.25 if parameter.name == "html" else 0.07
        if rng.random() > chance:
            continue
        flag = rng.choice([opt for opt in parameter.opts if opt.startswith("-")])
        if parameter.is_flag:
            words.append(flag)
            continue
        given.pop(flag, None)
        words += [flag, a_value(parameter, rng, inputs, places)]
        if parameter.name in ("html", "figure") and rng.random() < 0.05:
            words += ["--html", words[-1]]
        if parameter.multiple and rng.random() < 0.2:
            words += [flag, a_value(parameter, rng, inputs, places)]
    for flag, value in given.items():
        words += [flag, value]
    read = [word for word in words if word.startswith(str(inputs)) and Path(word).is_file()]
    read += [str(path) for word in words if word.endswith("folds") for path in Path(word).glob("*")]
    words = [
        word if word != AN_INPUT else rng.choice([*read, places["new.html"]]) for word in words
    ]
    if rng.random() < 0.02:
        words.insert(rng.randrange(len(words) + 1), rng.choice(HOSTILE))
    return words


def systems(command, rng, inputs, places):
    tags = [str(inputs / "tags.conll"), str(inputs / "other.conll")]
    usual = {
        "score": (tags, [str(inputs / "both.conll")], [str(inputs / "labels.txt")] * 2),
        "compare": ([*tags, tags[0]], [tags[0], tags[1], tags[1], tags[0]]),
        "rank": ([*tags, tags[0]], [tags[0], f"x={tags[1]}", tags[0]], [tags[0], str(inputs)]),
        "plan": ([*tags, tags[0]],),
        "sample": ([*tags, tags[0]], [tags[0], f"x={tags[1]}"], [str(inputs / "labels.txt")] * 2),
        "estimate": ([str(inputs / "table.csv"), tags[0]], [tags[0], *tags]),
        "watch": (tags[:1], tags),
        "agreement": (tags, [*tags, tags[0]], [str(inputs / "labels.txt")] * 2),
    }[command]
    if rng.random() < 0.7:
        return list(rng.choice(usual))
    if rng.random() < 0.3:
        return [str(inputs / "table.csv"), "--gold-column", "gold", "--columns", "old,new"]
    return [a_file(rng, inputs, places, "file") for _ in range(rng.choice((1, 2, 3, 3, 4)))]


def attempt(words, given):
    """Run a command here; return exit status, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given.encode()))
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err), limit(HANG):
            warnings.simplefilter("error")  # a warning is an error of ours
            status = run_command(words)
    except Hang:
        return "hang", out.getvalue(), err.getvalue()
    except BaseException as error:
        return f"raised {error!r:.200}", out.getvalue(), err.getvalue()
    finally:
        sys.stdin = stdin
    return status, out.getvalue(), err.getvalue()


def in_a_process(words, rng):
    """Run a command as a process whose streams are in some way odd."""
    words = [word.replace("\0", "") for word in words]
    odd = rng.choice((">&-", "<&-", "2>&-", ">/dev/full", "| true", "| head -c 10", "<&- >&- 2>&-"))
    script = f'"$@" {odd}' + ("; exit ${PIPESTATUS[0]}" if "|" in odd else "")
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "probative", *words]
    try:
        done = subprocess.run(
            command, input=b"", capture_output=True, timeout=2 * HANG, check=False
        )
    except subprocess.TimeoutExpired:
        return f"hang with {odd}", "", ""
    err = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode} with {odd}", "", err
    return done.returncode, None, err


def problems(words, status, out, err, before, after, inputs_same):
    """What is wrong with the outcome of a case."""
    if status not in (0, 1, 2):
        yield f"exit {status}: {err[-300:]!r}"
        return
    gated = words[0] == "check" or any(w.startswith(("--fail", "--require")) for w in words)
    if status == 1 and not gated:
        yield "exit 1 without a gate"
    if "Traceback" in err or ".py:" in err or "Warning:" in err:
        yield f"a traceback or a warning: {err[-300:]!r}"
    if "\x1b" in (out or "") or "\x1b" in err:
        yield "an escape sequence"
    if not inputs_same:
        yield "an input has changed"
    if out is not None:
        if status == 2 and (out or not err.endswith("\n")):
            yield f"exit 2 with output {out[:80]!r} and error {err[-80:]!r}"
        forms = [words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-f", "--format")]
        if status != 2 and forms[-1:] == ["json"] and "--help" not in words:
            try:
                json.loads(out)
            except ValueError:
                yield f"not JSON: {out[:100]!r}"
    for name, thing in before.items():
        if name not in after or (isinstance(thing, int) and after[name] != thing):
            yield f"{name!r} was replaced or removed"
        elif status == 2 and out is not None and after[name] != thing:
            yield f"{name!r} has changed, and the exit status is 2"
    for name, thing in after.items():
        leaf = name.rsplit("/", 1)[-1]
        if leaf.startswith(".") and name not in before:
            yield f"{name!r} is left over"
        page = leaf.endswith(".html") and isinstance(thing, bytes) and name not in before
        page = page and words[0] != "sample"  # whose file of units may be called anything
        if page and not thing.rstrip().endswith(b"</html>"):
            yield f"{name!r} is half written"


def fuzz(n, seed, *, start=0, processes=True, only=None, say=None):
    """Run `n` cases; return what went wrong, and how often which exit status came."""
    tally: Counter = Counter()
    wrong = []
    # `app` serves until it is stopped
    commands = {n: p for n, p in parsers().items() if n != "app" and (only is None or n == only)}
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        furnish(room)
        inputs, out = room / "in", room / "out"
        unchanged = snapshot(inputs)
        here = Path.cwd()
        os.chdir(room)
        try:
            for number in range(start, start + n):
                rng = random.Random(f"{seed}/{number}")  # noqa: S311  # options, not secrets
                places = lay_out(out, inputs)
                weights = [SELDOM.get(command, 1.0) for command in commands]
                (command,) = rng.choices(list(commands), weights)
                words = arguments(command, commands[command], rng, inputs, places)
                before = snapshot(out)
                given = rng.choice(("", "yes\nno\n", "tp,fp,fn\n1,2,3\n"))
                if processes and number % 100 == 99:
                    status, output, err = in_a_process(words, rng)
                else:
                    status, output, err = attempt(words, given)
                now = snapshot(inputs)
                same = now == unchanged
                changed = [str(inputs / name) for name in now if now[name] != unchanged.get(name)]
                # what the command does not read may be replaced, through a link, if asked for
                harm = any(path.startswith(word) for path in changed for word in words if word)
                found = list(problems(words, status, output, err, before, snapshot(out), not harm))
                tally[status if isinstance(status, int) else "wrong"] += 1
                tally[command] += 1
                shown = " ".join(word if len(word) < 200 else word[:50] + "…" for word in words)
                wrong += [f"case {seed}/{number}: {problem}\n    {shown!r}" for problem in found]
                if not same:
                    shutil.rmtree(inputs)
                    furnish_again(room)
                    unchanged = snapshot(inputs)
                if say and (number + 1) % 500 == 0:
                    say(number + 1, wrong)
        finally:
            os.chdir(here)
    return wrong, tally


def furnish_again(room):
    shutil.rmtree(room / "in", ignore_errors=True)
    furnish(room)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--command", help="only this one, such as 'study bayes'")
    options = parser.parse_args()
    begin = time.perf_counter()
    told = 0

    def say(done, wrong):
        nonlocal told
        for problem in wrong[told:]:
            sys.stdout.write(f"{problem}\n")
        told = len(wrong)
        sys.stdout.flush()
        seconds = time.perf_counter() - begin
        sys.stderr.write(f"{done} cases, {told} wrong, {seconds:.0f} s\n")

    wrong, tally = fuzz(options.n, options.seed, start=options.start, only=options.command, say=say)
    say(options.start + options.n, wrong)
    counted = ", ".join(f"{key}: {tally[key]}" for key in sorted(tally, key=str))
    sys.stdout.write(f"{options.n} command lines, {len(wrong)} wrong; {counted}\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
