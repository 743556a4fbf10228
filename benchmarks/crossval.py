"""The splitter and the CRF chunker.

With ``full``: twelve fits on a corpus (minutes); with ``time``: where the time of a fit goes.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pycrfsuite
from timing import Line, seconds, show

import probative as pv
from probative.learners.crf import CRFChunker
from probative.matching.schemes import encode

if TYPE_CHECKING:
    from collections.abc import Callable


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
    from joblib.externals.loky import get_reusable_executor

    words, spans = resampled()
    start = time.perf_counter()
    result = pv.compare_models(
        CRFChunker("iob2"), CRFChunker("iobes"), words, spans, rng=0, n_jobs=2
    )
    took = time.perf_counter() - start
    get_reusable_executor().shutdown(wait=True)  # the workers' memory is known when they are gone
    here, there = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    peak = (here.ru_maxrss + 2 * there.ru_maxrss) / 2**20
    tokens = sum(map(len, words))
    print(f"{len(words):,} sentences, {tokens:,} tokens, 12 fits with 2 jobs: {took:.0f} s")
    print(f"  processor time of the workers: {there.ru_utime + there.ru_stime:.0f} s")
    print(f"  load average before and after: {LOAD[0]:.1f}, {os.getloadavg()[0]:.1f}")
    for name in ("A", "B"):
        fits = [fold.seconds for fold in result.folds if fold.model == name]
        print(f"  {name}: {min(fits):.1f} to {max(fits):.1f} s a fit")
    print(f"  peak memory, all processes together: below {peak:.2f} GiB")
    return took < 480 and peak < 4


def _clock(told: list[float]) -> Callable[[int, int], None]:
    return lambda done, total: told.append(time.process_time())


def where_time_goes() -> bool:
    """Processor seconds of one fit on half of the sentences, by what they are spent on."""
    words, spans = resampled()
    half = len(words) // 2
    for scheme in ("iob2", "iobes"):
        chunker = CRFChunker(scheme)
        told: list[float] = []
        start = time.process_time()
        for sentence in words[:half]:
            chunker.features(sentence)
        features = time.process_time()
        chunker.fit(words[:half], spans[:half], report=_clock(told))
        trained = time.process_time()
        chunker.predict(words[half:])
        end = time.process_time()
        print(
            f"{scheme}: features {features - start:.1f} s, handing them over and the first "
            f"iteration {told[0] - features - (features - start):.1f} s, the other "
            f"{len(told) - 1} iterations {trained - told[0]:.1f} s, prediction "
            f"{end - trained:.1f} s; a fit with prediction {end - features:.1f} s"
        )
    return True


COMMANDS = {"full": full, "time": where_time_goes}
LOAD = os.getloadavg()

if __name__ == "__main__":
    raise SystemExit(not COMMANDS.get("".join(sys.argv[1:]), main)())
