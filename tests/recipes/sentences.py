"""A few sentences of our own with their entities, and what a system makes of them."""

from __future__ import annotations

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TOKENS = [
    ["Ada", "Quill", "walks", "to", "Brightmoor", "."],
    ["The", "ferry", "to", "Low", "Haven", "is", "late", "."],
    ["Nobody", "waits", "."],
    ["Ben", "Quill", "stays", "in", "Low", "Haven", "with", "Ada", "."],
]
GOLD = [
    ["B-PER", "I-PER", "O", "O", "B-LOC", "O"],
    ["O", "O", "O", "B-LOC", "I-LOC", "O", "O", "O"],
    ["O", "O", "O"],
    ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-PER", "O"],
]
# of six entities four are found, and one is made up
PREDICTED = [
    ["B-PER", "I-PER", "O", "O", "O", "O"],
    ["O", "O", "O", "B-LOC", "I-LOC", "O", "O", "O"],
    ["B-PER", "O", "O"],
    ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O", "O", "O"],
]

TEXTS = [" ".join(words) for words in TOKENS]
# what each sentence is about: any number of topics
TOPICS = [["land"], ["sea"], [], ["land", "sea"]]
TOPICS_PREDICTED = [["land"], ["land", "sea"], [], ["land"]]


def numbers(tags: list[list[str]]) -> list[list[int]]:
    """The tags as the places of their names."""
    return [[NAMES.index(tag) for tag in sentence] for sentence in tags]


def spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """The entities of a sentence as (start, end, label), over tokens."""
    found = []
    for i, tag in enumerate(tags):
        if tag.startswith("B-"):
            end = i + 1
            while end < len(tags) and tags[end].startswith("I-"):
                end += 1
            found.append((i, end, tag[2:]))
    return found


def places(tags: list[str], text: str) -> list[tuple[int, int, str]]:
    """The entities of a sentence as (start, end, label), over characters."""
    words = text.split(" ")
    begin = [len(" ".join(words[:i])) + (i > 0) for i in range(len(words))]
    return [(begin[i], begin[j - 1] + len(words[j - 1]), label) for i, j, label in spans(tags)]
