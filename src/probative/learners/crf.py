"""Find spans with a linear-chain conditional random field over tags (extra ``crf``)."""

from __future__ import annotations

import tempfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from probative._validation import one_of, positive, shown, whole_number
from probative.errors import InputError
from probative.files import open_sealed, seal, write_whole
from probative.matching.schemes import SCHEMES, decode_tags, encode

# --- N-gram features of tokens or characters in a window

_BEFORE, _AFTER = "\x02", "\x03"  # padding outside the sentence
_BETWEEN = "\t"  # separator of an n-gram; no token holds a tab


def columns_of(sentence: Any, number: int) -> list[Sequence[str]]:
    """Return the columns of a sentence: its characters, its words, or words and tags."""
    if isinstance(sentence, str):
        return [sentence]
    tokens = list(sentence)
    if all(isinstance(token, str) for token in tokens):
        return [tokens]
    try:
        if any(isinstance(token, str) for token in tokens):
            raise TypeError
        columns: list[Sequence[str]] = [list(column) for column in zip(*tokens, strict=True)]
    except (TypeError, ValueError):
        columns = []
    if not columns or not all(isinstance(value, str) for column in columns for value in column):
        raise InputError(
            f"sentences: sentence {number + 1} is {shown(sentence)}; expected a string, a "
            f"list of words, or a list of equally long tuples of strings"
        )
    return columns


def window_features(
    columns: Sequence[Sequence[str]], *, window: int, ngrams: Sequence[int]
) -> list[tuple[str, ...]]:
    """Return the features of every token: all n-grams of each column that lie in the window."""
    length = len(columns[0]) if columns else 0
    templates = []
    for number, column in enumerate(columns):
        padded = [_BEFORE] * window + list(column) + [_AFTER] * window
        for size in ngrams:
            parts = [padded[i : len(padded) - size + 1 + i] for i in range(size)]
            grams = (
                padded if size == 1 else [_BETWEEN.join(gram) for gram in zip(*parts, strict=True)]
            )
            for start in range(2 * window + 2 - size):
                prefix = f"{number}{start - window:+d}" + (f",{size}=" if size > 1 else "=")
                templates.append([prefix + gram for gram in grams[start : start + length]])
    return list(zip(*templates, strict=True))


_PARAMETERS = ("scheme", "window", "ngrams", "c1", "c2", "max_iterations", "min_count")


class CRFChunker:
    """Find chunks with a conditional random field (CRFsuite, trained by L-BFGS)."""

    # spans are encoded as tags for training, and predicted tags are decoded to spans, so that
    # models with different tag sets are compared on the same items

    def __init__(
        self,
        scheme: str = "iob2",  # the tag set: any of `probative.matching.schemes`
        *,
        window: int = 2,  # tokens to the left and to the right that a token's features use
        ngrams: Sequence[int] = (1, 2, 3),  # lengths of n-grams in that window
        c1: float = 0.0,  # weights of the L1 and of the L2 penalty
        c2: float = 0.1,
        max_iterations: int = 100,
        min_count: int = 1,  # features that occur less often are dropped
    ):
        self.scheme = one_of("scheme", scheme, SCHEMES)
        self.window = whole_number("window", window, least=0)
        self.ngrams = tuple(whole_number("ngrams", size) for size in ngrams)
        if not self.ngrams or max(self.ngrams) > 2 * self.window + 1:
            most = 2 * self.window + 1
            raise InputError(f"ngrams: {ngrams!r}; expected lengths from 1 to {most}, the window")
        self.c1 = positive("c1", c1, zero=True)
        self.c2 = positive("c2", c2, zero=True)
        self.max_iterations = whole_number("max_iterations", max_iterations)
        self.min_count = whole_number("min_count", min_count)
        self._model: bytes | None = None

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in _PARAMETERS)
        return f"CRFChunker({inner})"

    def fit(
        self,
        sentences: Sequence[Any],
        spans: Sequence[Iterable[tuple[int, int, str]]],
        *,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> Self:
        """Train on sentences and their spans (start, end, label), which must not overlap."""
        # a sentence is a string (its characters are the tokens), a list of words, or a list of
        # tuples of strings (word, part of speech, …)
        if len(sentences) != len(spans):
            raise InputError(f"spans: {len(spans)} sentences, but there are {len(sentences)}")
        trainer = _trainer(report, self.max_iterations)
        for number, (sentence, of_sentence) in enumerate(zip(sentences, spans, strict=True)):
            features = self.features(sentence, number)
            try:
                tags = encode(of_sentence, len(features), scheme=self.scheme)
            except InputError as error:
                raise InputError(f"sentence {number + 1}: {error}") from None
            if features:
                trainer.append(features, tags)
        trainer.set_params(
            {
                "c1": self.c1,
                "c2": self.c2,
                "max_iterations": self.max_iterations,
                "feature.minfreq": self.min_count,
            }
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            trainer.train(str(path))
            self._model = path.read_bytes()
        return self

    def features(self, sentence: Any, number: int = 0) -> list[tuple[str, ...]]:
        """Return the features of every token of a sentence, whose number is for messages."""
        columns = columns_of(sentence, number)
        return window_features(columns, window=self.window, ngrams=self.ngrams)

    def predict_tags(self, sentences: Sequence[Any]) -> list[list[str]]:
        """Return the tags of each sentence; they may break the rules of the tag set."""
        tagger = self._tagger()
        return [tagger.tag(self.features(s, number)) for number, s in enumerate(sentences)]

    def _tagger(self) -> Any:
        """Return a tagger with the trained model."""
        if self._model is None:
            raise InputError("this chunker is not trained; expected fit() or load() first")
        tagger = _crfsuite().Tagger()
        tagger.open_inmemory(self._model)
        return tagger

    def predict(self, sentences: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return the (start, end, label) of each sentence."""
        if not len(sentences):
            return []
        return decode_tags(self.predict_tags(sentences), scheme=self.scheme)

    def predict_proba(self, sentences: Sequence[Any]) -> list[list[dict[str, float]]]:
        """Return the marginal probability of every tag, for each token of each sentence."""
        tagger = self._tagger()
        marginals = []
        for number, sentence in enumerate(sentences):
            features = self.features(sentence, number)
            tagger.set(features)
            tokens = range(len(features))
            marginals.append([{t: tagger.marginal(t, i) for t in tagger.labels()} for i in tokens])
        return marginals

    def save(self, path: Path | str) -> None:
        """Write the trained chunker to a file, atomically."""
        if self._model is None:
            raise InputError("this chunker is not trained; expected fit() before save()")
        parameters = {name: getattr(self, name) for name in _PARAMETERS}
        write_whole(path, seal({**parameters, "model": b64encode(self._model).decode()}))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a chunker that `save` wrote; a damaged model would crash CRFsuite."""
        expected = "expected a file that save() wrote"
        parameters = open_sealed(path, expected)
        try:
            model = b64decode(parameters.pop("model"))
            chunker = cls(**parameters)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise InputError(f"is no saved chunker ({error}); {expected}", path) from None
        chunker._model = model
        return chunker


def _crfsuite() -> Any:
    """Import CRFsuite; refuse with the command that installs it."""
    try:
        import pycrfsuite
    except ImportError:
        raise InputError("CRFs need python-crfsuite: pip install 'probative[crf]'") from None
    return pycrfsuite


def _trainer(report: Callable[[int, int], None], iterations: int) -> Any:
    """Return a silent trainer that reports its iterations."""

    class Reporting(_crfsuite().Trainer):  # type: ignore[misc]  # no type information
        def message(self, text: str) -> None:
            if text.startswith("***** Iteration #"):
                report(int(text.split("#")[1].split()[0]), iterations)

    return Reporting(algorithm="lbfgs", verbose=False)
