"""Runs to compare: three taggers, trained again and again on random parts of one corpus.

    python benchmarks/train_runs.py TRAIN TEST --output DIR [--runs 5] [--share 0.8]

Training a conditional random field by L-BFGS is deterministic, so chance comes in another way: with
seed s a run sees a random share of the training sentences. Run s of all taggers sees the same ones,
so the runs are paired. Words and tags stand in DIR/gold.conll, what the taggers say in
DIR/words/1.conll, …, DIR/ends/1.conll, … and DIR/shapes/1.conll, … .
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from probative.crossval.corpus import Corpus, read_corpus
from probative.learners.crf import CRFChunker
from probative.matching.schemes import encode

SCHEME = "iob2"
Features = Callable[[list[str]], list[tuple[str, ...]]]


def words(sentence: list[str]) -> list[tuple[str, ...]]:
    """A tagger that sees words."""
    return [(word,) for word in sentence]


def ends(sentence: list[str]) -> list[tuple[str, ...]]:
    """A tagger that sees the last character, too."""
    return [(word, word[-1:]) for word in sentence]


def shapes(sentence: list[str]) -> list[tuple[str, ...]]:
    """A tagger that sees the first and the last character, and what kinds of characters."""
    return [(word, word[:1], word[-1:], shape(word)) for word in sentence]


def shape(word: str) -> str:
    """The kinds of characters of a word, each stretch once."""
    kinds = [
        "A" if c.isupper() else "0" if c.isdigit() else "a" if c.isalnum() else "." for c in word
    ]
    return "".join(kind for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind)


def write(path: Path, sentences: list[list[str]], tags: list[list[str]]) -> None:
    """A column file of words and tags."""
    blocks = (
        "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence, own, strict=True))
        for sentence, own in zip(sentences, tags, strict=True)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")


def train(
    corpus: Corpus, test: Corpus, features: Features, seed: int, share: float, iterations: int
) -> list[list[str]]:
    """The tags of a model that saw a random share of the corpus."""
    rng = np.random.default_rng(seed)
    number = len(corpus.sentences)
    chosen = rng.permutation(number)[: round(share * number)]
    model = CRFChunker(SCHEME, window=1, ngrams=(1, 2), max_iterations=iterations, min_count=2)
    model.fit([features(corpus.sentences[i]) for i in chosen], [corpus.spans[i] for i in chosen])
    return model.predict_tags([features(sentence) for sentence in test.sentences])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.8)
    parser.add_argument("--iterations", type=int, default=50)
    given = parser.parse_args()
    corpus, test = read_corpus(given.train), read_corpus(given.test)
    lengths = [len(sentence) for sentence in test.sentences]
    gold = [encode(own, n, scheme=SCHEME) for own, n in zip(test.spans, lengths, strict=True)]
    write(given.output / "gold.conll", test.sentences, gold)
    for features in (words, ends, shapes):
        for seed in range(1, given.runs + 1):
            start = time.process_time()
            tags = train(corpus, test, features, seed, given.share, given.iterations)
            write(given.output / features.__name__ / f"{seed}.conll", test.sentences, tags)
            print(f"{features.__name__}, run {seed}: {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main()
