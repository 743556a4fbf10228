"""A chunker: a linear-chain conditional random field over tags (extra ``crf``)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from probative._validation import one_of, positive
from probative.errors import InputError
from probative.files import write_whole
from probative.learners.features import columns_of, window_features
from probative.matching.schemes import decode_tags
from probative.matching.tag_rules import SCHEMES, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["CRFChunker"]

_PARAMETERS = ("scheme", "window", "ngrams", "c1", "c2", "max_iterations", "min_count")


class CRFChunker:
    """Find spans with a conditional random field (CRFsuite, trained by L-BFGS).

    Spans are written as tags for training, and predicted tags are read back as spans, so that
    models with different tag sets are judged on the same items.

    Parameters
    ----------
    scheme
        The tag set: iob2, iobes, bmes, bb2b3mes, or any other of `probative.matching.schemes`.
    window
        How many tokens to the left and to the right a token's features see.
    ngrams
        The lengths of n-grams in that window.
    c1, c2
        The weights of the L1 and of the L2 penalty.
    max_iterations
        When to stop, if it has not converged.
    min_count
        Features that occur less often are dropped.

    Examples
    --------
    >>> from probative.learners.crf import CRFChunker
    >>> sentences = [["Ada", "met", "Charles"], ["Charles", "slept"], ["she", "met", "Ada"]]
    >>> spans = [{(0, 1, "PER"), (2, 3, "PER")}, {(0, 1, "PER")}, {(2, 3, "PER")}]
    >>> chunker = CRFChunker("iobes", window=1).fit(sentences, spans)
    >>> chunker.predict([["Ada", "slept"]])
    [[(0, 1, 'PER')]]
    """

    def __init__(
        self,
        scheme: str = "iob2",
        *,
        window: int = 2,
        ngrams: Sequence[int] = (1, 2, 3),
        c1: float = 0.0,
        c2: float = 0.1,
        max_iterations: int = 100,
        min_count: int = 1,
    ):
        self.scheme = one_of("scheme", scheme, SCHEMES)
        self.window = _whole("window", window, least=0)
        self.ngrams = tuple(_whole("ngrams", size, least=1) for size in ngrams)
        if not self.ngrams or max(self.ngrams) > 2 * self.window + 1:
            raise InputError(
                f"ngrams: {ngrams!r} in a window of {self.window}; expected lengths from 1 to "
                f"{2 * self.window + 1}"
            )
        self.c1 = positive("c1", c1, zero=True)
        self.c2 = positive("c2", c2, zero=True)
        self.max_iterations = _whole("max_iterations", max_iterations, least=1)
        self.min_count = _whole("min_count", min_count, least=1)
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
        """Train on sentences and their spans.

        Parameters
        ----------
        sentences
            Each a string (its characters are the tokens), a list of words, or a list of tuples
            of strings (word, part of speech, …).
        spans
            The (start, end, label) of each sentence; they must not overlap.
        report
            Called with the iterations done and the most there will be.
        """
        if len(sentences) != len(spans):
            raise InputError(f"spans: {len(spans)} sentences, but there are {len(sentences)}")
        trainer = _trainer(report, self.max_iterations)
        for number, (sentence, of_sentence) in enumerate(zip(sentences, spans, strict=True)):
            features = self.features(sentence, number)
            tags = _tags(of_sentence, len(features), self.scheme, number)
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
        """The features of every token of a sentence.

        Parameters
        ----------
        sentence
            As for `fit`.
        number
            Which one it is, from 0, for messages.
        """
        columns = columns_of(sentence, number)
        return window_features(columns, window=self.window, ngrams=self.ngrams)

    def predict_tags(self, sentences: Sequence[Any]) -> list[list[str]]:
        """Return the tags of each sentence; they may break the rules of the tag set.

        Parameters
        ----------
        sentences
            As for `fit`.
        """
        tagger = self._tagger()
        return [tagger.tag(self.features(s, number)) for number, s in enumerate(sentences)]

    def _tagger(self) -> Any:
        if self._model is None:
            raise InputError("this chunker is not trained; expected fit() or load() first")
        tagger = _crfsuite().Tagger()
        tagger.open_inmemory(self._model)
        return tagger

    def predict(self, sentences: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return the (start, end, label) of each sentence.

        Parameters
        ----------
        sentences
            As for `fit`.
        """
        if not len(sentences):
            return []
        return decode_tags(self.predict_tags(sentences), scheme=self.scheme)

    def predict_proba(self, sentences: Sequence[Any]) -> list[list[dict[str, float]]]:
        """Return the marginal probability of every tag, for each token of each sentence.

        Parameters
        ----------
        sentences
            As for `fit`.
        """
        tagger = self._tagger()
        marginals = []
        for number, sentence in enumerate(sentences):
            features = self.features(sentence, number)
            tagger.set(features)
            tokens = range(len(features))
            marginals.append([{t: tagger.marginal(t, i) for t in tagger.labels()} for i in tokens])
        return marginals

    def save(self, path: Path | str) -> None:
        """Write the trained chunker to a file, whole or not at all."""
        from probative.learners.crf_file import pack

        if self._model is None:
            raise InputError("this chunker is not trained; expected fit() before save()")
        write_whole(path, pack({name: getattr(self, name) for name in _PARAMETERS}, self._model))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a chunker that `save` wrote.

        A file whose checksum does not fit is refused. One without a checksum, of an older version
        or from elsewhere, is tried in a process of its own first: CRFsuite does not survive
        damaged models.
        """
        from probative.learners.crf_file import unpack

        parameters, model = unpack(path)
        try:
            chunker = cls(**parameters)
        except (TypeError, InputError) as error:
            raise InputError(
                f"is a damaged chunker ({error}); expected a file that save() wrote", path
            ) from None
        chunker._model = model
        return chunker


def _whole(name: str, value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name}: {value!r} is not a whole number >= {least}")
    return value


def _tags(
    spans: Iterable[tuple[int, int, str]], length: int, scheme: str, number: int
) -> list[str]:
    try:
        return encode(spans, length, scheme=scheme)
    except InputError as error:
        raise InputError(f"sentence {number + 1}: {error}") from None


def _crfsuite() -> Any:
    try:
        import pycrfsuite
    except ImportError:
        raise InputError(
            "the CRF chunker needs python-crfsuite; install it with: pip install 'probative[crf]'"
        ) from None
    return pycrfsuite


def _trainer(report: Callable[[int, int], None], iterations: int) -> Any:
    """A silent trainer that tells its iterations."""

    class Reporting(_crfsuite().Trainer):  # type: ignore[misc]  # no type information
        def message(self, text: str) -> None:
            if text.startswith("***** Iteration #"):
                report(int(text.split("#")[1].split()[0]), iterations)

    return Reporting(algorithm="lbfgs", verbose=False)
