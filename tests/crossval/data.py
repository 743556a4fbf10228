"""Made-up sentences with entities."""

from __future__ import annotations

import numpy as np


def tweets(n=120, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"Name{i}" for i in range(30)]
    places = [f"Place{i}" for i in range(15)]
    words = names + places + ["saw", "in", "the", ".", "and", "Name1", "Place2"]
    sentences = [[str(w) for w in rng.choice(words, rng.integers(3, 12))] for _ in range(n)]
    spans = [
        [
            (i, i + 1, "PER" if word in names else "LOC")
            for i, word in enumerate(sentence)
            if word not in words[45:] and rng.random() < 0.8
        ]
        for sentence in sentences
    ]
    return sentences, spans
