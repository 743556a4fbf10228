"""A signature tells every choice: no two that give other numbers share one.

Options are taken from the parsers, so that a new one cannot be forgotten: it must be tried here,
or be listed with the reason why it cannot change a number.
"""

from __future__ import annotations

import inspect
import itertools
import json
from dataclasses import fields, replace
from importlib import import_module
from typing import get_args, get_type_hints

import numpy as np
import pytest
from crossval.models import Least

import probative as pv
from probative.cli import main
from probative.cli.app import COMMANDS, MODULES
from probative.cli.options import as_command
from probative.options import Options
from probative_studies.commands import STUDIES

# options that change no number, and why
WITHOUT_EFFECT = {
    "form": "the same results in another form",
    "html": "a page besides",
    "figure": "a figure besides",
    "plot": "what the figure shows",
    "quiet": "says less beside the results",
    "verbose": "says more beside the results",
    "names": "what the systems are called",
    "by_label": "prints more of what JSON has anyway",
    "buckets": "tells more, under a key of its own",
    "digits": "decimals that tables print",
    "compact": "the same numbers in one table",
    "seed": "taken by every command; nothing is random where it has this name",
    "jobs": "the result does not depend on it",
    "resume": "continues the same run",
    "output": "where files go",
    "to": "likewise",
    "explain": "prints more of what JSON has anyway",
    "cache": "where what is known is kept",
    "pairs": "which pages are written",
    "title": "what the site is called",
    "about": "what the site says first",
    "date": "the day that the site shows",
    "comparisons": "which pairs the page shows in full",
    "force": "whether edited files are written over",
    "fail_if_worse": "a gate is told under its own name, with its margin and confidence",
    "require_not_worse": "likewise",
    "require_better": "likewise",
    "margin": "of the gate",
    "confidence": "of the gate",
    "ledger": "the confidence that it leaves to a gate is told with the gate",
    "candidates": "likewise",
    "hide_scores": "shows less",
    "uses": "lists more of what JSON has anyway",
    "memory_limit": "the same counts in less memory",
}
# what is read is no choice: other data give other numbers
INPUTS = {"counts", "tp", "fp", "fn", "tn", "counts_file", "folds", "preds_a", "preds_b"}
INPUTS |= {"train", "dev", "test", "cws", "ner", "runs", "gold", "baseline", "challenger", "table"}
INPUTS |= {"dataset", "datasets", "second_gold", "human"}
INPUTS |= {"pilot", "judge", "scores"}  # what a sample is placed by, which the signature names
INPUTS |= {"probabilities"}  # what the outputs are; the signature then tells of a curve
# of these commands an option does something else
WITHOUT_EFFECT_IN = {"study bayes": {"task"}, "study annotation": {"system", "names"}}

GOLD = "Ann B-PER\nLee I-PER\nsaw O\nYork B-LOC\n\nthe O\nBank B-ORG\nof I-ORG\nRome B-LOC\n\n"
OLD = "Ann B-PER\nLee O\nsaw O\nYork B-LOC\n\nthe O\nBank B-ORG\nof O\nRome B-PER\n\n"
NEW = "Ann B-PER\nLee I-PER\nsaw I-LOC\nYork I-LOC\n\nthe O\nBank B-ORG\nof O\nRome B-LOC\n\n"
FILES = {
    "graded.csv": "old,new,other\n" + "3,4,2\n2,2,5\n1,3,3\n4,5,1\n" * 3,
    "gold.conll": ("-DOCSTART- O\n\n" + GOLD) * 6,
    "old.conll": ("-DOCSTART- O\n\n" + OLD) * 6,
    "new.conll": ("-DOCSTART- O\n\n" + NEW) * 6,
    "both.conll": "".join(
        f"{line.split()[0]} {line.split()[1]} {other.split()[1]} {third.split()[1]}\n"
        if line
        else "\n"
        for line, other, third in zip(
            GOLD.split("\n")[:-1], OLD.split("\n")[:-1], NEW.split("\n")[:-1], strict=True
        )
    )
    * 5,
    "labels.csv": "gold,old,new,third,doc\n"
    + "yes,yes,yes,no,a\nno,yes,no,no,a\nno,no,maybe,no,b\nyes,no,yes,yes,b\nmaybe,yes,maybe,no,c\n"
    * 6,
    "scores.csv": "gold,old,new\n" + "yes,0.9,0.6\nno,0.2,0.1\nno,0.6,0.3\nyes,0.6,0.8\n" * 6,
    "classes.csv": "gold,yes,no,maybe\n"
    + "yes,0.5,0.3,0.2\nno,0.3,0.6,0.1\nmaybe,0.3,0.1,0.6\nno,0.4,0.3,0.3\n" * 6,
    "others.csv": "yes,no,maybe\n" + "0.5,0.3,0.2\n0.3,0.6,0.1\n0.3,0.1,0.6\n0.2,0.5,0.3\n" * 6,
    "words.txt": "to be or\nnot to be\n" * 5,
    "cut.txt": "to beor\nnot to be\n" * 5,
    "lexicon.txt": "to be\n",
    "p.jsonl": "[0.1, 0.9, 0.2, 0.8, 0.3]\n[0.2, 0.1, 0.8, 0.1, 0.7, 0.6]\n" * 5,
    "seeds.csv": "gold,old,new,seed,other\n"
    + "yes,yes,yes,1,1\nyes,no,yes,1,2\nyes,yes,no,2,1\nyes,no,yes,2,2\n"
    "no,no,no,1,1\nno,yes,no,1,2\nno,no,no,2,1\nno,yes,yes,2,2\n" * 6,
    "old.jsonl": "".join(
        f'{{"doc_id": {i}, "resps": [], "filter": "x", "metrics": ["acc", "norm"], '
        f'"acc": {i % 3 / 2}, "norm": {i % 2}}}\n'
        for i in range(12)
    ),
    "new.jsonl": "".join(
        f'{{"doc_id": {i}, "resps": [], "filter": "x", "metrics": ["acc", "norm"], '
        f'"acc": {i % 4 / 3}, "norm": {i % 5 // 4}}}\n'
        for i in range(12)
    ),
    "rows.jsonl": "".join(
        f'{{"tokens": ["a", "b"], "ner_tags": [1, {i % 2}], "old": 1, "predictions": [1, 0], '
        f'"new_predictions": [{i % 3 % 2}, 1]}}\n'
        for i in range(12)
    ),
    **{
        name: "id,twin,label\n" + "".join(f"{i},{i},{label(i)}\n" for i in range(size))
        for name, size, label in (
            ("ids.csv", 24, lambda i: "ab"[i % 2]),
            ("other.csv", 24, lambda i: "ab"[i % 3 % 2]),
            ("all.csv", 24, lambda i: "ab"[i % 5 % 2]),
        )
    },
    "gold.records": "".join(
        f'{{"id": "{i}", "twin": {i}, "kind": "k{i % 2}", "total": "{i}.0", "tags": ["a", "a"], '
        f'"seen": {{"k{i}": 1}}, "rows": [{{"k": 1, "v": 2}}, {{"k": 2, "v": {i}}}]}}\n'
        for i in range(12)
    ),
    **{
        f"{name}.records": "".join(
            f'{{"id": "{i}", "twin": {i}, "kind": "K{i % size}", "total": "{i}", '
            f'"tags": ["a"], "more": "N/A", "none": {{}}, "seen": {{"k{i + 1}": 1}}, '
            f'"rows": [{{"k": 2, "v": 2}}, {{"k": 1, "v": {i + i % size}}}]}}\n'
            if i % 7
            else f'{{"id": "{i}", "twin": {i}, "output": "so: {{}}"}}\n'
            for i in range(12)
        )
        for name, size in (("old", 3), ("new", 4))
    },
    "rules.toml": "[fields]\nkind = 'casefold'\n",
    "schema.json": '{"properties": {"total": {"type": "number"}}, "required": ["total"]}',
    "a.csv": "tp,fp,fn\n30,5,9\n28,7,11\n33,4,6\n29,6,10\n",
    "b.csv": "tp,fp,fn\n32,4,7\n29,6,10\n35,4,4\n30,5,9\n",
}
FOLDERS = {
    "submissions": ["old.conll", "new.conll"],
    "keyed": ["other.csv", "all.csv"],
    "tables": ["labels.csv"],
    "rows": ["rows.jsonl"],
    "scores": ["scores.csv"],
    "classes": ["classes.csv", "others.csv"],
    "segmented": ["cut.txt", "words.txt"],
    "extracted": ["old.records", "new.records"],
    "runs-a": ["old.conll", "new.conll"],
    "runs-b": ["new.conll", "gold.conll"],
}
SPANS = {
    "metric": ["--metric", "recall"],
    "beta": ["--metric", "fbeta", "--beta", "2"],
    "by": ["--by", "item"],
    "level": ["--level", "0.9"],
    "task": ["--task", "labels", "--metric", "accuracy"],
    "input_format": ["--input-format", "columns"],
    "encoding": ["--encoding", "latin-1"],
    "tag_column": ["--tag-column", "2"],
    "comments": ["--comments"],
    "align_by": ["--align", "position"],
    "scheme": ["--scheme", "iob1"],
    "repair": ["--repair", "strict"],
    "match": ["--match", "partial"],
    "ignore_type": ["--ignore-type"],
    "only": ["--only", "PER"],
    "labels": ["--labels", "PER,LOC"],
    "mapping": ["--map", "PER=LOC"],
    "ignore_case": ["--ignore-case"],
}
IN_TABLES = {
    "positive": ["--positive", "yes"],
    "unit_column": ["--unit-column", "doc"],
    "header": ["--header"],
    "multilabel": ["--multilabel", "e"],
}
IN_GROUPS = {"group": ["--group", "doc"]}
LOGS = (["old.jsonl", "new.jsonl", "--score-name", "norm"], {
    "score_name": ["--score-name", "acc", "--threshold", "0.5"],
    "threshold": ["--score-name", "acc", "--threshold", "0.4"],
})  # fmt: skip
ROWS = (["rows.jsonl", "--gold-column", "ner_tags", "--columns", "predictions,new_predictions",
         "--label-names", "O,B-A"], {"label_names": ["--label-names", "O,B-B"]})  # fmt: skip
TABLE = ["labels.csv", "--gold-column", "gold", "--columns", "old,new"]
KEYS = (["ids.csv", "other.csv", "all.csv", "--key", "id"], {
    "on_missing": ["--on-missing", "negative"],
    "key": ["--key", "id,twin"],
})  # fmt: skip
RECORDS = (["gold.records", "old.records", "new.records", "--task", "records"], {
    "field": ["--field", "total=number"],
    "fields_file": ["--fields-file", "rules.toml"],
    "list_key": ["--list-key", "rows=k"],
    "ordered": ["--ordered", "rows"],
    "unique": ["--unique", "tags"],
    "open_map": ["--open-map", "seen"],
    "empty": ["--empty", "N/A"],
    "keep_empty": ["--keep-empty"],
    "only_gold_paths": ["--only-gold-paths"],
    "find_json": ["--find-json"],
    "on_malformed": ["--on-malformed", "error"],
})  # fmt: skip
SEEDS = ["seeds.csv", "--gold-column", "gold", "--columns", "old,new", "--run-column", "seed"]
OTHER_RUNS = {"run_column": ["--run-column", "other"]}
RUNS = ["gold.conll", "--runs", "A=runs-a", "--runs", "B=runs-b"]
OF_RUNS = {
    name: SPANS[name] for name in ("metric", "beta", "level", "scheme", "repair", "ignore_type")
}
SCORES = ["scores.csv", "--gold-column", "gold", "--columns", "old,new"]
CLASSES = ["classes.csv", "classes.csv", "others.csv", "--gold-column", "gold"]
GRADED = (["graded.csv", "--score-columns", "old,new", "--range", "1,5"], {
    "score_columns": ["--score-columns", "new,other"],
    "range": ["--range", "0,6"],
})  # fmt: skip
GRADED_LOGS = (["old.jsonl", "new.jsonl", "--score-column", "norm"], {
    "score_column": ["--score-column", "acc"],
})  # fmt: skip
# a call, and changes of one option each; what stands before ":" parts several calls of a command
CALLS = {
    "score": (["gold.conll", "new.conll"], SPANS | {
        "method": ["--method", "bayes"],
        "overlap": ["--overlap"],
    }),
    "score:graded": GRADED,
    **{
        f"{command}:graded": (GRADED[0], GRADED[1] | {"average": ["--average", "documents"]})
        for command in ("compare", "rank", "plan")
    },
    **{f"{command}:logs": LOGS for command in ("score", "compare", "rank", "plan")},
    **{f"{command}:graded logs": GRADED_LOGS for command in ("score", "compare", "rank", "plan")},
    **{f"{command}:rows": ROWS for command in ("score", "compare", "rank", "plan")},
    "board:rows": (["rows.jsonl", "rows", *ROWS[0][1:3], "--columns", "predictions",
                    *ROWS[0][5:]], ROWS[1]),
    "check:log": (["old.jsonl", *LOGS[0][2:]], LOGS[1]),
    "check:rows": (["rows.jsonl", *ROWS[0][5:]], ROWS[1]),
    "score:one file": (["both.conll"], {"gold_column": ["--gold-column", "3"],
        "columns": ["--columns", "3"]}),
    "score:labels": (TABLE, IN_TABLES | IN_GROUPS),
    "score:scores": ([*SCORES, "--threshold", "0.5"], {"threshold": ["--threshold", "0.7"]}),
    "score:probabilities": ([*SCORES, "--probabilities"], {"beta": ["--beta", "2"],
        "level": ["--level", "0.9"], "encoding": ["--encoding", "latin-1"]}),
    "score:classes": ([*CLASSES, "--probability-columns", "yes,no"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "score:words": (["words.txt", "cut.txt"], {"train_words": ["--train-words", "lexicon.txt"]}),
    "score:runs": (RUNS, OF_RUNS),
    "score:seeds": (SEEDS, OTHER_RUNS),
    "compare:runs": (RUNS, OF_RUNS | {
        "paired_runs": ["--paired-runs"],
        "rope": ["--rope", "0.01"],
        "prior": ["--prior", "0.5"],
        "all_pairs": ["--all-pairs"],
        "rng": ["--seed", "3"],
    }),
    "compare:seeds": (SEEDS, OTHER_RUNS),
    "rank:runs": (RUNS, OF_RUNS | {"adjust": ["--adjust", "shaffer"], "rng": ["--seed", "3"]}),
    "rank:seeds": (SEEDS, OTHER_RUNS),
    "compare": (["gold.conll", "old.conll", "new.conll"], SPANS | {
        "average": ["--average", "macro"],
        "rope": ["--rope", "0.01"],
        "prior": ["--prior", "0.5"],
        "rng": ["--average", "macro", "--seed", "3"],
        "all_pairs": ["--all-pairs"],
    }),
    "compare:one file": (["both.conll", "--columns", "3,4"],
        {"gold_column": ["--gold-column", "3"], "columns": ["--columns", "4,3"]}),
    "compare:labels": (TABLE, IN_TABLES | IN_GROUPS),
    **{f"{command}:records": RECORDS for command in ("score", "rank", "plan")},
    "compare:records": (RECORDS[0], RECORDS[1] | {"fields": ["--fields", "total,kind"]}),
    "board:records": (["gold.records", "extracted", "--task", "records"], RECORDS[1]),
    **{f"{command}:keys": KEYS for command in ("score", "compare", "rank", "plan")},
    "board:keys": (["ids.csv", "keyed", "--key", "id"], KEYS[1]),
    "sample:records": (
        ["old.records", "old.records", "new.records", "--task", "records", "--size", "3"],
        {name: words for name, words in RECORDS[1].items() if name != "only_gold_paths"}
        | {"key": ["--key", "id"]},
    ),
    "check:records": (
        ["gold.records", "--task", "records"],
        {"schema": ["--schema", "schema.json"]},
    ),
    "compare:scores": ([*SCORES, "--threshold", "0.5"], {"threshold": ["--threshold", "0.7"]}),
    "compare:probabilities": ([*SCORES, "--probabilities"], {"beta": ["--beta", "2"],
        "level": ["--level", "0.9"], "rope": ["--rope", "0.01"], "rng": ["--seed", "3"]}),
    "compare:classes": ([*CLASSES, "--probability-columns", "yes,no"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "compare:words": (["words.txt", "cut.txt", "words.txt"],
        {"train_words": ["--train-words", "lexicon.txt"]}),
    "rank": (["gold.conll", "old.conll", "new.conll"], SPANS | {
        "average": ["--average", "macro"],
        "adjust": ["--adjust", "shaffer"],
        "rng": ["--seed", "3"],
    }),
    "rank:one file": (["both.conll", "--columns", "3,4"],
        {"gold_column": ["--gold-column", "3"], "columns": ["--columns", "4"]}),
    "rank:labels": (TABLE, IN_TABLES),
    "rank:scores": ([*SCORES, "--threshold", "0.5"], {"threshold": ["--threshold", "0.7"]}),
    "rank:classes": ([*CLASSES, "--probability-columns", "yes,no"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "rank:words": (["words.txt", "cut.txt", "words.txt"],
        {"train_words": ["--train-words", "lexicon.txt"]}),
    "board": (["gold.conll", "submissions"], SPANS | {
        "average": ["--average", "macro"],
        "adjust": ["--adjust", "shaffer"],
        "rng": ["--seed", "3"],
        "show_gold": ["--show-gold"],
        "max_size": ["--max-size", "0.0005"],
    }),
    "board:labels": (["labels.csv", "tables", "--gold-column", "gold", "--columns", "old"], {
        "gold_column": ["--gold-column", "third"],
        "columns": ["--columns", "new"],
    } | IN_TABLES),
    "board:scores": (["scores.csv", "scores", "--gold-column", "gold", "--columns", "old",
                      "--threshold", "0.5"], {"threshold": ["--threshold", "0.7"]}),
    "board:classes": (["classes.csv", "classes", "--gold-column", "gold",
                       "--probability-columns", "yes,no"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "board:words": (["words.txt", "segmented"], {"train_words": ["--train-words", "lexicon.txt"]}),
    "agreement": (["gold.conll", "old.conll", "new.conll"],
        {name: words for name, words in SPANS.items() if name not in ("metric", "beta", "labels")}
        | {"task": ["--task", "labels"]}),
    "agreement:labels": (["labels.csv", "--columns", "gold,old"], {
        "missing": ["--missing", "maybe"],
        "columns": ["--columns", "gold,new"],
        "unit_column": IN_TABLES["unit_column"],
        "header": IN_TABLES["header"],
        "multilabel": IN_TABLES["multilabel"],
    }),
    "agreement:rows": (["rows.jsonl", "--columns", "predictions,new_predictions",
                        "--label-names", "O,B-A"], ROWS[1]),
    "plan": (["gold.conll", "old.conll", "new.conll"], SPANS | {
        "average": ["--average", "macro"],
        "difference": ["--difference", "0.05"],
        "power": ["--power", "0.9"],
        "units": ["--units", "99"],
        "labels": ["--labels", "PER,LOC"],
    }),
    "plan:runs": (RUNS, OF_RUNS | {
        "difference": ["--difference", "0.05"],
        "power": ["--power", "0.9"],
        "units": ["--units", "99"],
        "paired_runs": ["--paired-runs"],
    }),
    "plan:seeds": (SEEDS, OTHER_RUNS),
    "plan:one file": (["both.conll", "--columns", "3,4"],
        {"gold_column": ["--gold-column", "2"], "columns": ["--columns", "4,3"]}),
    "plan:labels": (TABLE, IN_TABLES),
    "plan:scores": ([*SCORES, "--threshold", "0.5"], {"threshold": ["--threshold", "0.7"]}),
    "plan:classes": ([*CLASSES, "--probability-columns", "yes,no"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "plan:words": (["words.txt", "cut.txt", "words.txt"],
        {"train_words": ["--train-words", "lexicon.txt"]}),
    "sample": (["gold.conll", "old.conll", "new.conll", "--size", "6"], {
        name: words for name, words in SPANS.items() if name not in ("metric", "beta", "labels")
    } | {
        "task": ["--task", "labels"],
        "by": ["--by", "document"],
        "size": ["--size", "7"],
        "goal": ["--for", "score"],
        "rng": ["--seed", "3"],
    }),
    "estimate": (["drawn.design.json", "annotated.conll"], {
        "metric": ["--metric", "recall"],
        "beta": ["--metric", "fbeta", "--beta", "2"],
        "population": ["--population"],
        "rope": ["--rope", "0.1"],
        "level": ["--level", "0.9"],
    }),
    "sample:more": (["drawn.design.json", "--add", "1"], {"add": ["--add", "2"]}),
    "sample:labels": (["labels.csv"] * 3 + ["--columns", "old,new", "--size", "12"], IN_TABLES | {
        "unit_column": ["--unit-column", "doc", "--size", "2"],
        "columns": ["--columns", "old,third"],
        "keep": ["--keep", "third"],
    }),
    "sample:rows": (["rows.jsonl"] * 3 + ["--columns", "predictions,new_predictions", "--size",
                                           "6", "--label-names", "O,B-A"], ROWS[1]),
    "sample:classes": (["classes.csv", "classes.csv", "others.csv", "--probability-columns",
                        "yes,no", "--keep", "maybe", "--size", "6"],
        {"probability_columns": ["--probability-columns", "yes,no,maybe"]}),
    "watch": (["watched.design.json", "labelled.conll", "--metric", "fbeta"], {
        "metric": ["--metric", "recall"],
        "beta": ["--beta", "2"],
        "level": ["--level", "0.9"],
        "every": ["--every", "5"],
        "planned": ["--planned", "50"],
    }),
    "interval": (["--tp", "77", "--fp", "44", "--fn", "10"], {
        "metric": ["--metric", "recall"],
        "method": ["--method", "wald"],
        "level": ["--level", "0.9"],
        "beta": ["--metric", "fbeta", "--beta", "2"],
        "prior": ["--method", "bayes", "--prior", "0.5"],
    }),
    "bayes": (["a.csv", "b.csv", "--metric", "recall"], {
        "metric": ["--metric", "precision"],
        "beta": ["--metric", "fbeta", "--beta", "2"],
        "rope": ["--rope", "0.01"],
        "prior": ["--prior", "0.5"],
        "weight": ["--weight", "averaged"],
        "level": ["--level", "0.9"],
        "n_resamples": ["--sampled", "100", "--seed", "1"],
        "rng": ["--sampled", "100", "--seed", "2"],
    }),
    "bayes:folds": (["--folds", "folds", "--preds-a", "pa/*", "--preds-b", "pb/*",
                     "--metric", "recall"], {
        "metric": ["--metric", "precision"],
        "beta": ["--metric", "fbeta", "--beta", "2"],
        "rope": ["--rope", "0.01"],
        "prior": ["--prior", "0.5"],
        "weight": ["--weight", "averaged"],
        "level": ["--level", "0.9"],
        "only": ["--only", "PER"],
        "ignore_type": ["--ignore-type"],
    }),
    "crossval": (["gold.conll", "--a", "crf:iob2", "--b", "crf:iob2", "--seed", "1", "--m", "1",
                  "--metric", "recall"], {
        "a": ["--a", "crf:iobes"],
        "b": ["--b", "crf:iobes"],
        "only": ["--only", "PER"],
        "ignore_type": ["--ignore-type"],
        "features": ["--features", "2"],
        "m": ["--m", "2"],
        "keep_documents": ["--keep-documents"],
        "metric": ["--metric", "precision"],
        "beta": ["--metric", "fbeta", "--beta", "2"],
        "rope": ["--rope", "0.01"],
        "prior": ["--prior", "0.5"],
        "weight": ["--weight", "averaged"],
        "level": ["--level", "0.9"],
        "rng": ["--seed", "2"],
        "task": ["--task", "entities"],
        "input_format": ["--input-format", "columns"],
        "encoding": ["--encoding", "latin-1"],
        "tag_column": ["--tag-column", "-1"],
        "comments": ["--comments"],
        "scheme": ["--scheme", "iob1"],
    }),
    "split": (["gold.conll", "--seed", "1"], {
        "m": ["--m", "2"],
        "regularize": ["--regularize", "tokens"],
        "keep_documents": ["--keep-documents"],
        "rng": ["--seed", "2"],
        "task": ["--task", "entities"],
        "input_format": ["--input-format", "columns"],
        "encoding": ["--encoding", "latin-1"],
        "tag_column": ["--tag-column", "-1"],
        "comments": ["--comments"],
        "scheme": ["--scheme", "iob1"],
    }),
    "split:labels": (["labels.csv", "--gold-column", "gold", "--seed", "1"],
        {"gold_column": ["--gold-column", "old"]}),
    "sweep": (["words.txt", "p.jsonl"], {
        "steps": ["--steps", "7"],
        "level": ["--level", "0.9"],
        "input_format": ["--input-format", "segmented"],
        "encoding": ["--encoding", "latin-1"],
    }),
    "check": (["gold.conll"], {
        "task": ["--task", "labels"],
        "input_format": ["--input-format", "columns"],
        "encoding": ["--encoding", "latin-1"],
        "tag_column": ["--tag-column", "1"],
        "comments": ["--comments"],
        "scheme": ["--scheme", "io"],
    }),
    "check:table": (["labels.csv", "--column", "gold"], {
        "column": ["--column", "old"],
        "header": ["--header"],
        "multilabel": ["--multilabel", "e"],
        "unit_column": ["--unit-column", "doc"],
    }),
    "demo": ([], {"level": ["--level", "0.9"]}),
    "study coverage": (["--n", "12", "--cells", "0.5,0.2,0.3"], {
        "sizes": ["--n", "13"],
        "cells": ["--cells", "0.4,0.2,0.4"],
        "methods": ["--method", "wald"],
        "metric": ["--metric", "recall"],
        "level": ["--level", "0.9"],
    }),
}  # fmt: skip
# studies take long: their signature is tried without them, see below
WORDS = ["study " + name for name in STUDIES]


def function_of(words):
    *_, name = words.split()
    if words.startswith("study "):
        return name, STUDIES[name]
    module = MODULES.get(name, name)
    return name, getattr(import_module(f"probative.cli.{module}"), name)


def options_of(words):
    """The names of the options that can change a number."""
    command = as_command(*function_of(words))
    left_out = WITHOUT_EFFECT.keys() | INPUTS | WITHOUT_EFFECT_IN.get(words, set())
    return {p.name for p in command.params if p.param_type_name == "option"} - left_out


def declared(words):
    """The class of a command's options, and those that the command line has."""
    _, function = function_of(words)
    hint = get_type_hints(function, include_extras=True)["given"]
    return get_args(hint) or (hint, hint.options())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("signatures")
    for name, content in FILES.items():
        (place / name).write_text(content)
    for name, inside in FOLDERS.items():
        (place / name).mkdir()
        for file in inside:
            (place / name / file).write_text(FILES[file])
    return place


COUNT = itertools.count()  # of the folders that are written, in all tests together


@pytest.fixture
def answer(folder, capsys, monkeypatch):
    """What a command answers in JSON: the signature, and everything else but times and places."""
    monkeypatch.chdir(folder)

    def call(words, *arguments):
        capsys.readouterr()
        place = []
        if words in ("split", "demo", "board", "sample"):
            place = ["-o", f"{words}-{next(COUNT)}"]
        status = main([*words.split(), *arguments, *place, "-q", "-f", "json"])
        captured = capsys.readouterr()
        assert status in (0, 1), captured.err
        found = json.loads(captured.out)
        return found.pop("signature"), stripped(found)

    if not (folder / "drawn.conll").exists():
        systems = ["gold.conll", "old.conll", "new.conll"]
        assert main(["sample", *systems, "--size", "5", "-o", "drawn.conll", "-q"]) == 0
        parts = FILES["gold.conll"].strip().split("\n\n")
        sentences = [part for part in parts if not part.startswith("-DOCSTART-")]
        drawn = pv.read_design("drawn.design.json").units.number
        (folder / "annotated.conll").write_text("\n\n".join(sentences[i] for i in drawn) + "\n")
        assert main(["sample", *systems, "--size", "10", "-o", "watched.conll", "-q"]) == 0
        tags = dict(line.split() for line in GOLD.split("\n") if line)
        drawn = (folder / "watched.conll").read_text().split("\n")
        filled = [f"{x.split()[0]}\t{tags.get(x.split()[0], 'O')}" if x else x for x in drawn]
        (folder / "labelled.conll").write_text("\n".join(filled))
    if not (folder / "folds").exists():
        assert main(["split", "gold.conll", "-o", "folds", "--m", "1", "--seed", "1", "-q"]) == 0
        for side, changed in (("pa", "I-PER"), ("pb", "B-ORG")):
            (folder / side).mkdir()
            for path in sorted((folder / "folds").glob("*validation*")):
                lines = path.read_text().split("\n")
                text = "\n".join(
                    x.replace(changed, "O") if i % 3 else x for i, x in enumerate(lines)
                )
                (folder / side / path.name).write_text(text)
    return call


def stripped(value):
    """Results without what tells time, place or why, and without signatures within."""
    if isinstance(value, dict):
        left_out = ("seconds", "folder", "signature", "corpus", "sha256", "file", "files", "reason")
        return {k: stripped(v) for k, v in value.items() if k not in left_out}
    return [stripped(v) for v in value] if isinstance(value, list) else value


def test_every_option_of_every_command_is_tried():
    for words in [name for name in COMMANDS if name not in ("study", "app")]:
        tried = set().union(*(c[1] for call, c in CALLS.items() if call.split(":")[0] == words))
        assert tried == options_of(words), words


@pytest.mark.parametrize("call", CALLS)
def test_equal_signatures_mean_equal_numbers(answer, call):
    words = call.split(":")[0]
    base, changes = CALLS[call]
    if words == "crossval":
        pytest.importorskip("pycrfsuite")
    found = {"": answer(words, *base)}
    for name, change in changes.items():
        kept = list(base)
        for flag in set(change) & set(base):  # it is given once, changed
            at = kept.index(flag)
            del kept[at : at + 2]
        found[name] = answer(words, *kept, *change)
    told = {}
    for name, (signature, numbers) in found.items():
        other = told.setdefault(signature, (name, numbers))
        assert other[1] == numbers, (other[0] or "the base call", name, signature)


OTHER = {int: 7, float: 0.625, str: "other", bool: True, tuple: ("7",), type(None): "other"}


# `ledger` shows a file, and has no choices
@pytest.mark.parametrize(
    "words", [*(c for c in COMMANDS if c not in ("study", "ledger", "app")), *WORDS]
)
def test_a_changed_choice_changes_the_signature(words):
    kind, group = declared(words)
    assert issubclass(kind, Options)
    base = kind()
    assert set(group) <= {entry.name for entry in fields(kind)}
    for name in group.keys() - kind.told:
        usual = getattr(base, name)
        other = not usual if isinstance(usual, bool) else OTHER[type(usual)]
        assert replace(base, **{name: other}).signature() != base.signature(), name
    # an option that stands beside the group would not be signed
    assert options_of(words) <= set(group), words


@pytest.mark.parametrize(
    ("words", "study"),
    [
        ("study pairing", "bayes.pairing_study"),
        ("study planning", "tests.planning_study"),
        ("study sequential", "looks.stopping_study"),
        ("study macro", "metrics.macro_coverage"),
        ("study metrics", "metrics.metric_study"),
        ("study training", "bayes.training_study"),
        ("study gates", "gates.gate_study"),
        ("study datasets", "gates.dataset_study"),
        ("study curves", "curves.curve_study"),
        ("study agreement", "kinds.agreement_study"),
        ("study graded", "kinds.graded_study"),
        ("study judges", "kinds.judge_study"),
        ("study overlap", "kinds.overlap_study"),
        ("study ranks", "ranks.rank_study"),
        ("study runs", "runs.runs_study"),
        ("study repeats", "runs.repeats_study"),
        ("study looks", "looks.look_study"),
        ("study ledger", "gates.ledger_study"),
        ("study watching", "looks.watching_study"),
        ("study annotation", "annotation.annotation_study"),
        ("study tests", "tests.size_and_power"),
        ("study chunking", "chunking.chunking_study"),
    ],
)
def test_commands_and_functions_of_studies_have_the_same_defaults(words, study):
    import inspect

    module, name = study.split(".")
    parameters = inspect.signature(
        getattr(import_module(f"probative_studies.{module}"), name)
    ).parameters
    base = declared(words)[0]()
    for entry in fields(base):
        if entry.name in parameters and getattr(base, entry.name) is not None:
            assert parameters[entry.name].default == getattr(base, entry.name), entry.name


def test_python_and_the_command_line_sign_alike(answer, folder):
    gold, old, new = (str(folder / f"{name}.conll") for name in ("gold", "old", "new"))
    found = pv.score(gold, new, metric="fbeta", beta=2, by="item", only=["PER"])
    choices = ("--metric", "fbeta", "--beta", "2", "--by", "item", "--only", "PER")
    assert found.signature == answer("score", gold, new, *choices)[0]
    compared = pv.compare(gold, old, new, metric="recall", rope=0.01, level=0.9, repair="strict")
    choices = ("--metric", "recall", "--rope", "0.01", "--level", "0.9", "--repair", "strict")
    assert compared.signature == answer("compare", gold, old, new, *choices)[0]
    swept = pv.segmentation_sweep(str(folder / "words.txt"), str(folder / "p.jsonl"), steps=7)
    assert swept.signature == answer("sweep", "words.txt", "p.jsonl", "--steps", "7")[0]


@pytest.mark.parametrize("command", ["bayes", "bayes:folds", "crossval"])
def test_rope_metric_and_beta_are_signed(answer, command):
    words = command.split(":")[0]
    if words == "crossval":
        pytest.importorskip("pycrfsuite")
    base = CALLS[command][0]
    base = base[: base.index("--metric")]
    variants = [("recall",), ("precision",), ("recall", "--rope", "0.01")]
    variants += [("fbeta", "--beta", "2"), ("fbeta", "--beta", "0.5")]
    signatures = [answer(words, *base, "--metric", *variant)[0] for variant in variants]
    assert len(set(signatures)) == len(variants)
    for words, signature in zip(("rope:0.01", "beta:2", "beta:0.5"), signatures[2:], strict=True):
        assert f"|{words}" in signature


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (("score", "gold.conll", "new.conll", "--train-words", "lexicon.txt"), "--train-words"),
        (("score", "gold.conll", "new.conll", "--positive", "PER"), "--positive"),
        (("score", "gold.conll", "new.conll", "--columns", "2"), "--gold-column, --columns"),
        (("score", "both.conll", "--tag-column", "2"), "--tag-column"),
        (("score", *TABLE, "--scheme", "iob2"), "--scheme"),
        (("score", *TABLE, "--repair", "strict"), "--repair"),
        (("score", "words.txt", "cut.txt", "--only", "x"), "--only"),
        (("score", "words.txt", "cut.txt", "--overlap"), "--overlap"),
        (("compare", *TABLE, "--average", "macro", "--prior", "2"), "--prior"),
        (("split", "labels.csv", "-o", "x", "--gold-column", "gold", "--regularize", "tokens"),
         "--regularize"),
    ],
)  # fmt: skip
def test_what_a_task_does_not_use_is_refused(folder, monkeypatch, refused, arguments, flag):
    monkeypatch.chdir(folder)
    assert refused(*arguments).startswith(f"probative: {flag}:")


# --- functions of Python ------------------------------------------------------------------------

COUNTS = pv.Counts([7, 9, 4], [4, 1, 2], [1, 3, 2], [9, 9, 9])
PAIRED = pv.PairedCounts([[1, 0, 2, 0, 4, 0, 1]] * 5 + [[0, 1, 3, 0, 6, 1, 1]] * 7)
FOLDS = [pv.PairedCounts([3, 2, 8 + i, 1, 40, 6, 7, 90]) for i in range(6)]
WORDS_AND_BREAKS = ([["ab", "c"], ["de"]], [[0.1, 0.9], [0.4]])


X = list(range(48))
Y = [int(x % 7 > 2) for x in X]

# the data, other choices than the usual ones, and keywords that change no number
JOBS = {
    "interval": (
        (COUNTS,),
        {"metric": "recall", "method": "wald", "level": 0.9, "clustered": True},
        {},
        ("multiplicity",),
    ),
    "difference": ((PAIRED,), {"metric": "recall", "method": "bayes", "level": 0.9}, {}, ()),
    "bootstrap_difference": (
        (PAIRED,),
        {"metric": "recall", "method": "bca", "level": 0.9, "n_resamples": 99, "rng": 2},
        {"n_resamples": 50, "rng": 1},
        (),
    ),
    "randomization_test": (
        (PAIRED,),
        {
            "metric": "recall",
            "by": "item",
            "alternative": "less",
            "method": "exact",
            "n_resamples": 99,
            "rng": 2,
        },
        {"method": "sampled", "n_resamples": 50, "rng": 1},
        ("null", "memory_limit"),
    ),
    "bayes_test": (
        (FOLDS,),
        {
            "metric": "recall",
            "rope": 0.01,
            "prior": 0.5,
            "weight": "averaged",
            "level": 0.9,
            "training_variance": True,
        },
        {},
        ("b", "method", "n_resamples", "rng"),  # those of drawing are changed below
    ),
    "plan": (
        (PAIRED,),
        {"metric": "recall", "difference": 0.2, "power": 0.9, "units": 70, "level": 0.9},
        {},
        (),
    ),
    "segmentation_sweep": (
        WORDS_AND_BREAKS,
        {"steps": 5, "level": 0.9, "input_format": "segmented", "encoding": "utf-16"},
        {},
        (),
    ),
    "compare_models": (
        (Least(10), Least(22), X, Y),
        {
            "m": 2,
            "metric": "recall",
            "positive": 0,
            "groups": [x // 2 for x in X],
            "regularize": False,
            "rng": 2,
            "names": ("x", "y"),
            "rope": 0.01,
            "prior": 0.5,
            "level": 0.9,
            "weight": "averaged",
        },
        {"rng": 1, "m": 1},
        ("n_jobs", "folder", "report"),
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_any_other_choice_is_another_signature(name):
    data, others, base, silent = JOBS[name]
    function = getattr(pv, name)
    usual = function(*data, **base).signature
    assert usual == function(*data, **base).signature
    said = {usual}
    for key, value in others.items():
        said.add(function(*data, **{**base, key: value}).signature)
    assert len(said) == 1 + len(others), sorted(said)
    known = list(inspect.signature(function).parameters)[len(data) :]
    if name != "plan":  # whose keywords depend on the kind of the data
        assert set(known) == {*others, *silent} | ({"beta", "prior"} & set(known))


@pytest.mark.parametrize("name", ["interval", "difference", "randomization_test", "bayes_test"])
def test_beta_is_a_choice_where_it_matters(name):
    (data, *_), function = JOBS[name], getattr(pv, name)
    said = [function(*data, metric="fbeta", beta=beta).signature for beta in (0.5, 2)]
    assert said[0] != said[1]


@pytest.mark.parametrize("name", ["interval", "difference"])
def test_a_prior_is_a_choice_where_it_matters(name):
    (data, *_), function = JOBS[name], getattr(pv, name)
    said = [function(*data, method="bayes", prior=prior).signature for prior in (0.5, 1)]
    assert said[0] != said[1]


def test_drawing_is_a_choice_of_a_bayes_test():
    ways = [
        {},
        {"method": "sampled", "n_resamples": 50, "rng": 1},
        {"method": "sampled", "n_resamples": 60, "rng": 1},
        {"method": "sampled", "n_resamples": 50, "rng": 2},
    ]
    said = {pv.bayes_test(FOLDS, "recall", **how).signature for how in ways}
    assert len(said) == len(ways)
    generator = np.random.default_rng(1)
    drawn = pv.bayes_test(FOLDS, "recall", method="sampled", n_resamples=50, rng=generator)
    assert drawn.signature.endswith("|seed:<Generator>")
