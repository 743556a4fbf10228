"""The splitter and the CRF chunker; with ``full``, twelve fits on a corpus (minutes)."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pycrfsuite
from timing import Line, seconds, show

import probative as pv
from probative.learners.crf import CRFChunker
from probative.matching.schemes import encode


def units() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.uniform(0.01, 2, 20), (100_000, 20))


def sentences(number: int = 1500) -> tuple[list[list[str]], list[list[tuple[int, int, str]]]]:
    rng = np.random.default_rng(0)
    words = [[f"w{i}" for i in rng.zipf(1.4, 18) % 5000] for _ in range(number)]
    spans = [
        [(i, i + 1, f"T{len(word) % 3}") for i, word in enumerate(sentence) if word[-1] in "37"]
        for sentence in words
    ]
    return words, spans


def ours(words: list[list[str]], spans: list[list[tuple[int, int, str]]]) -> None:
    CRFChunker("iobes", max_iterations=30).fit(words, spans).predict(words)


def direct(words: list[list[str]], spans: list[list[tuple[int, int, str]]]) -> None:
    """What anybody would write: python-crfsuite with the same features."""
    chunker = CRFChunker("iobes")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence, found in zip(words, spans, strict=True):
        trainer.append(chunker.features(sentence), encode(found, len(sentence), scheme="iobes"))
    trainer.set_params({"c2": 0.1, "max_iterations": 30})
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        for sentence in words:
            tagger.tag(chunker.features(sentence))


def main() -> bool:
    counts, corpus = units(), sentences()
    cv = pv.BlockRegularizedCV(3, random_state=0, regularize=counts)
    return show(
        "Cross-validation: the split in seconds, the chunker against python-crfsuite",
        [
            Line(
                "100,000 instances with 20 units / 1 s", seconds(lambda: cv.blocks(counts), 3), 1, 5
            ),
            Line(
                "CRFChunker / python-crfsuite called directly",
                seconds(lambda: ours(*corpus), 3),
                seconds(lambda: direct(*corpus), 3),
                1.1,
            ),
        ],
    )


def resampled(number: int = 14_000, tokens: int = 200_000) -> tuple[list[list[str]], list]:
    """WNUT-17's training sentences, drawn with replacement to this size."""
    from probative.crossval.corpus import read_corpus

    shared = Path(os.environ.get("PROBATIVE_SHARED", Path(__file__).parents[2] / "shared"))
    corpus = read_corpus(shared / "data" / "wnut17" / "wnut17train.conll")
    lengths = np.array([len(sentence) for sentence in corpus.sentences])
    order = np.argsort(lengths, kind="stable")
    # the shortest sentences whose mean length is the one that is wanted
    means = np.cumsum(lengths[order]) / np.arange(1, len(order) + 1)
    pool = order[: np.searchsorted(means, tokens / number)]
    chosen = np.random.default_rng(0).choice(pool, number)
    return [corpus.sentences[i] for i in chosen], [corpus.spans[i] for i in chosen]


def full() -> bool:
    words, spans = resampled()
    start = time.perf_counter()
    result = pv.compare_models(
        CRFChunker("iob2"), CRFChunker("iobes"), words, spans, random_state=0, n_jobs=2
    )
    took = time.perf_counter() - start
    peak = sum(
        resource.getrusage(who).ru_maxrss / 2**20
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    tokens = sum(map(len, words))
    print(f"{len(words):,} sentences, {tokens:,} tokens, 12 fits with 2 jobs: {took:.0f} s")
    for name in ("A", "B"):
        fits = [fold.seconds for fold in result.folds if fold.model == name]
        print(f"  {name}: {min(fits):.1f} to {max(fits):.1f} s a fit")
    print(f"  peak memory of this process and of its largest worker: {peak:.2f} GiB")
    for part, share in where_time_goes(words, spans).items():
        print(f"  {part}: {share:.1f} s in one fit of IOBES on half of the sentences")
    return took < 480 and peak < 4


def where_time_goes(words: list[list[str]], spans: list) -> dict[str, float]:
    half = len(words) // 2
    chunker = CRFChunker("iobes")
    told = []
    start = time.perf_counter()
    chunker.fit(words[:half], spans[:half], report=lambda *_: told.append(time.perf_counter()))
    trained = time.perf_counter()
    chunker.predict(words[half:])
    return {
        "features, and the first iteration": told[0] - start,
        "the other iterations of L-BFGS": trained - told[0],
        "prediction": time.perf_counter() - trained,
    }


if __name__ == "__main__":
    raise SystemExit(not (full() if sys.argv[1:] == ["full"] else main()))
