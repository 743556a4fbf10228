"""Compute the demonstration from data that come with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.data import load
from probative.files import check_target, failing_as
from probative.inference.bayes import bayes_test
from probative.jobs.compare import compare_matched
from probative.jobs.score import score
from probative.matching.items import Items
from probative.matching.labels import averaged_labels
from probative.matching.matched import Matched
from probative.options import CompareOptions

if TYPE_CHECKING:
    from probative.results import BayesTest, Comparisons, Scores


# written for the demonstration: edit them and run the command again
_SENTENCES = (
    "Ada/B-PER Lovelace/I-PER met/O Babbage/B-PER in/O London/B-LOC ./O",
    "The/O Royal/B-ORG Society/I-ORG printed/O her/O notes/O ./O",
    "Turin/B-LOC had/O heard/O of/O the/O Engine/O first/O ./O",
    "Menabrea/B-PER wrote/O it/O down/O for/O Geneva/B-LOC ./O",
    "Somerville/B-PER taught/O her/O at/O Kings/B-LOC Cross/I-LOC ./O",
)
_CHANGES: dict[str, dict[str, str]] = {
    "gold": {},
    "old": {"Babbage": "O", "Royal": "O", "Society": "B-ORG", "Engine": "B-ORG", "Menabrea": "O"},
    "new": {"Society": "O", "Cross": "O"},
}


def _tagged(sentence: str, changes: dict[str, str]) -> str:
    """Return a sentence with one word and its tag per line."""
    pairs = (token.split("/") for token in sentence.split())
    return "".join(f"{word}\t{changes.get(word, tag)}\n" for word, tag in pairs)


SMALL_FILES = {
    f"{name}.conll": "\n".join(_tagged(sentence, changes) for sentence in _SENTENCES)
    for name, changes in _CHANGES.items()
}

# three sentences, and two segmentations: one splits too little, one too much
_SEGMENTATION = {
    "gold": [
        ["我们", "明天", "去", "图书馆"],
        ["他", "喜欢", "研究", "生命", "的", "起源"],
        ["南京", "市", "长江", "大桥", "很", "长"],
    ],
    "cuts too little": [
        ["我们", "明天去", "图书馆"],
        ["他", "喜欢", "研究", "生命的", "起源"],
        ["南京市", "长江大桥", "很", "长"],
    ],
    "cuts too much": [
        ["我们", "明", "天", "去", "图", "书", "馆"],
        ["他", "喜欢", "研", "究", "生命", "的", "起源"],
        ["南京", "市", "长江", "大", "桥", "很", "长"],
    ],
}


def edited_file(folder: Path) -> Path | None:
    """Return the first of the small files in a folder that was edited, or None."""
    for name, content in SMALL_FILES.items():
        path = check_target(folder / name)
        with failing_as("cannot be read", path):
            if path.exists() and path.read_bytes() != content.encode():
                return path
    return None


def shared_task() -> Matched:
    """Return the seven systems of the WNUT 2017 shared task, matched by entity."""
    data: dict[str, Any] = load("wnut17")
    sentence, label, who = np.array(data["items"], dtype=np.int32).T
    says = np.array([(who >> (i + 1)) & 1 for i in range(len(data["systems"]))], dtype=bool)
    items = Items(
        sentence, label, tuple(data["labels"]), (who & 1).astype(bool), says, data["sentences"]
    )
    averaged = averaged_labels(items, None)
    return Matched("entities", tuple(data["systems"]), items, None, (), averaged=averaged)


@dataclass(frozen=True)
class _Demonstration:
    """Results that the demonstration shows."""

    comparison: Comparisons  # seven systems of a shared task, each with the second best
    models: tuple[str, str]  # two chunkers of Wang and Li's experiments
    tests: tuple[BayesTest, ...]  # in precision, recall, F1
    segmentation: Scores  # two segmenters: one splits too little, one too much


def demonstrate(*, level: float = 0.95) -> _Demonstration:
    """Compute everything that the demonstration shows."""
    task = load("bayes_test")["tasks"]["ner"]
    a, b = ([Counts(*fold) for fold in task["folds"][side]] for side in ("a", "b"))
    gold, *systems = _SEGMENTATION.values()
    return _Demonstration(
        comparison=compare_matched(shared_task(), CompareOptions(level=level)),
        models=(task["models"]["a"], task["models"]["b"]),
        tests=tuple(
            bayes_test(a, b, metric, level=level) for metric in load("bayes_test")["metrics"]
        ),
        segmentation=score(
            gold, *systems, names=list(_SEGMENTATION)[1:], task="segmentation", level=level
        ),
    )
