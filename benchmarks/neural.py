"""The neural segmenter: sentences per second, and what share of training is not PyTorch's."""

from __future__ import annotations

import importlib.util
import time

import numpy as np
from timing import Line, show

SENTENCES, WORDS = 640, 24  # about as long as those of a Chinese treebank
EPOCHS = 2


def corpus() -> list[list[str]]:
    """Random words of one to three of 2,000 characters, frequent and rare ones."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, 8001)
    lexicon = [
        "".join(chr(0x4E00 + c) for c in rng.integers(0, 2000, size))
        for size in rng.choice([1, 2, 3], 8000, p=[0.2, 0.6, 0.2])
    ]
    chosen = rng.choice(8000, (SENTENCES, WORDS), p=weights / weights.sum())
    return [[lexicon[i] for i in row] for row in chosen]


def main() -> bool:
    if importlib.util.find_spec("torch") is None:
        print("\nNeural segmenter: PyTorch is not installed, left out")
        return True
    import torch
    from torch.profiler import ProfilerActivity, profile

    from probative.learners.bigru import BiGRUSegmenter

    torch.set_num_threads(2)
    sentences = corpus()
    dev = sentences[:1]
    BiGRUSegmenter(epochs=1, device="cpu").fit(sentences[:64], development=dev)  # warm up
    segmenter = BiGRUSegmenter(epochs=EPOCHS, device="cpu").fit(sentences, development=dev)
    fastest = min(epoch.seconds for epoch in segmenter.history)
    print(
        f"\nNeural segmenter, training on 2 threads: {SENTENCES / fastest:,.0f} sentences per "
        f"second"
    )

    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        start = time.perf_counter()
        BiGRUSegmenter(epochs=EPOCHS, device="cpu").fit(sentences, development=dev)
        total = time.perf_counter() - start
    inside = sum(event.self_cpu_time_total for event in profiled.key_averages()) / 1e6
    return show(
        "Training, everything included",
        [Line("time outside PyTorch / all time", max(total - inside, 0.0), total, 0.15)],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
