"""Small models for tests, in a module that worker processes can import."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


class Lexicon:
    """Calls every word an entity that was one in training at least `least` times in all."""

    def __init__(self, least=1, pause=0.0, log=None):
        self.least = least
        self.pause = pause
        self.log = log

    def fit(self, sentences, spans):
        time.sleep(self.pause)
        self.kinds = {}
        for words, found in zip(sentences, spans, strict=True):
            for start, end, label in found:
                for word in words[start:end]:
                    times = self.kinds.setdefault(word, {})
                    times[label] = times.get(label, 0) + 1
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{os.getpid()}\n")
        return self

    def predict(self, sentences):
        found = []
        for words in sentences:
            best = [
                max(self.kinds.get(w, {"": 0}).items(), key=lambda x: (x[1], x[0])) for w in words
            ]
            found.append(
                [(i, i + 1, kind) for i, (kind, times) in enumerate(best) if times >= self.least]
            )
        return found


class Broken:
    """Fails as it is told to."""

    def __init__(self, how):
        self.how = how

    def fit(self, X, y):  # noqa: ARG002
        if self.how == "fit":
            raise KeyError("no such word")
        if self.how == "exit-fit":
            sys.exit(0)
        if self.how == "die":
            os._exit(0)
        if self.how == "interrupt":
            raise KeyboardInterrupt
        return self

    def predict(self, X):
        if self.how == "exit-predict":
            sys.exit(0)
        if self.how == "predict":
            raise ZeroDivisionError("division by zero")
        if self.how == "short":
            return [[]] * (len(X) - 1)
        if self.how == "outside":
            return [[(0, 99, "X")]] * len(X)
        if self.how == "shape":
            return [[(0, 1)]] * len(X)
        return None


class Least:
    """Says 1 of what is above a number; needs no training."""

    def __init__(self, least):
        self.least = least

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        return [int(x > self.least) for x in X]


class Editing(Lexicon):
    """A lexicon that spoils every list that it is given, as soon as it has learned or answered."""

    def fit(self, sentences, spans):
        super().fit(sentences, spans)
        self._spoil(sentences, spans)
        return self

    def predict(self, sentences):
        found = super().predict(sentences)
        self._spoil(sentences)
        return found

    def _spoil(self, *lists):
        for rows in lists:
            for row in rows:
                row.clear()
            if isinstance(rows, list):
                rows.reverse()
