"""Segment words with a bidirectional GRU over the characters (extra ``neural``).

The model follows Shao, Hardmeier and Nivre, "Recall is the Proper Evaluation Metric for Word
Segmentation" (IJCNLP 2017): concatenated vectors of the character, of the bigram it ends and of the
trigram around it; one bidirectional GRU layer; at each character a softmax over "a word begins
here" and "none does".
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from probative._validation import one_of, open_probability, positive, whole_number
from probative.errors import InputError
from probative.files import open_sealed, seal, write_whole
from probative.learners.words import SPACES, beginnings, check_texts, split, without_spaces

if TYPE_CHECKING:
    Vocabulary = list[dict[str, int]]  # numbers of uni-, bi- and trigrams; 0 is unknown
    Sentence = tuple[NDArray[np.int64], NDArray[np.int64]]  # n-grams of every character, and labels

try:
    import torch  # type: ignore[import-not-found,unused-ignore]  # an extra
except ImportError:
    raise InputError("the network needs PyTorch: pip install 'probative[neural]'") from None


# --- Vocabulary of character n-grams

_BEFORE, _AFTER = "\x02", "\x03"  # padding outside the text


def vocabulary_of(texts: Iterable[str], *, least: int) -> Vocabulary:
    """Number the n-grams that occur at least `least` times."""
    seen: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    for text in texts:
        for counter, grams in zip(seen, _ngrams(text), strict=True):
            counter.update(grams)
    return numbered([[gram for gram, n in own.items() if n >= least] for own in seen])


def numbered(lists: Iterable[Iterable[str]]) -> Vocabulary:
    """Return the vocabulary with these n-grams, a list of each length."""
    return [{gram: i for i, gram in enumerate(grams, start=1)} for grams in lists]


def encode(text: str, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the numbers of the three n-grams of every character."""
    columns = [
        [known.get(gram, 0) for gram in grams]
        for known, grams in zip(vocabulary, _ngrams(text), strict=True)
    ]
    return np.array(columns, dtype=np.int64).T


def _ngrams(text: str) -> tuple[Iterable[str], list[str], list[str]]:
    """Return every character, the bigram that it ends, and the trigram around it."""
    before, after = _BEFORE + text[:-1], text[1:] + _AFTER
    pairs = [a + b for a, b in zip(before, text, strict=True)] if text else []
    return text, pairs, [pair + c for pair, c in zip(pairs, after if text else "", strict=True)]


# --- The network

_MOST_GRADIENT_NORM = 5.0  # longer gradients are clipped


@contextmanager
def _seeded(seed: int, device: str) -> Iterator[Any]:
    """Yield the device to compute on; seed PyTorch inside without changing its global state."""
    one_of("device", device.split(":")[0], ("auto", "cpu", "cuda"))
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"device: {device!r}, but PyTorch finds no such device; expected cpu")
    with torch.random.fork_rng(devices=[device] if device != "cpu" else []):
        torch.manual_seed(seed)
        yield torch.device(device)


def described(device: Any) -> str:
    """Describe a device."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, PyTorch {torch.__version__}"
    return f"CPU, {torch.get_num_threads()} threads, PyTorch {torch.__version__}"


def _create(vocabulary: Sequence[dict[str, int]], parameters: dict[str, Any], device: Any) -> Any:
    """Return a network with random weights: embeddings, one GRU per direction, the output layer."""
    dimensions, hidden = parameters["dimensions"], parameters["hidden"]
    width = len(vocabulary) * dimensions
    net: Any = torch.nn.ModuleDict(
        {
            "embeddings": torch.nn.ModuleList(
                torch.nn.Embedding(len(known) + 1, dimensions) for known in vocabulary
            ),
            "rightward": torch.nn.GRU(width, hidden),
            "leftward": torch.nn.GRU(width, hidden),
            "output": torch.nn.Linear(2 * hidden, 2),
        }
    )
    for embedding in net["embeddings"]:
        torch.nn.init.normal_(embedding.weight, std=0.1)
    net.dropout = parameters["dropout"]
    return net.to(device)


def _logits(net: Any, sentences: Sequence[Sentence]) -> Any:
    """Return two numbers per character, sentence after sentence."""
    # Only the GRU sees padding, which follows the sentence in both directions and changes nothing.
    # (On the CPU the gradient of PyTorch's own packed sequences takes several times as long.)
    device = net["output"].weight.device
    ngrams = torch.from_numpy(np.concatenate([numbers for numbers, _ in sentences])).to(device)
    lengths = np.array([len(labels) for _, labels in sentences])
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    vectors = torch.cat([layer(ngrams[:, i]) for i, layer in enumerate(net["embeddings"])], dim=1)
    vectors = _dropped(net, vectors, sentence)
    states = [
        _read(net[name], vectors, lengths, sentence, backwards=backwards)
        for name, backwards in (("rightward", False), ("leftward", True))
    ]
    return net["output"](_dropped(net, torch.cat(states, dim=1), sentence))


def _read(gru: Any, vectors: Any, lengths: Any, sentence: Any, *, backwards: bool) -> Any:
    """Run a GRU over the sentences in one direction; return one state per character."""
    start = np.cumsum(lengths) - lengths
    step = np.arange(lengths.sum()) - start[sentence]
    if backwards:
        step = lengths[sentence] - 1 - step
    place = step * len(lengths) + sentence  # row of every character in the padded table
    padded = np.zeros(lengths.max() * len(lengths), dtype=np.int64)
    padded[place] = np.arange(len(place))
    device = vectors.device
    table = vectors.index_select(0, torch.from_numpy(padded).to(device))
    states, _ = gru(table.view(-1, len(lengths), vectors.shape[1]))
    return states.flatten(0, 1).index_select(0, torch.from_numpy(place).to(device))


def _dropped(net: Any, values: Any, sentence: Any) -> Any:
    """Drop the same inputs at all characters of a sentence."""
    if not net.training or not net.dropout:
        return values
    kept = torch.rand(int(sentence[-1]) + 1, values.shape[1], device=values.device) >= net.dropout
    scaled = kept / (1 - net.dropout)
    return values * scaled.index_select(0, torch.from_numpy(sentence).to(values.device))


def _train(net: Any, adam: Any, plan: Any, batches: Sequence[Sequence[Sentence]]) -> float:
    """Train on the batches once; return the mean loss per position."""
    net.train()
    total, positions = torch.zeros((), device=net["output"].weight.device), 0
    for sentences in batches:
        summed, number = _summed_loss(net, sentences)
        adam.zero_grad()
        (summed / number).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _MOST_GRADIENT_NORM)
        adam.step()
        plan.step()
        total += summed.detach()
        positions += number
    return float(total) / positions


def loss(net: Any, batches: Sequence[Sequence[Sentence]]) -> float:
    """Return the mean loss per position; NaN without positions."""
    net.eval()
    with torch.inference_mode():
        losses = [_summed_loss(net, sentences) for sentences in batches]
    positions = sum(number for _, number in losses)
    return sum(float(summed) for summed, _ in losses) / positions if positions else float("nan")


def _summed_loss(net: Any, sentences: Sequence[Sentence]) -> tuple[Any, int]:
    """Return the total cross-entropy of all decisions, and their number."""
    outputs = _logits(net, sentences)
    labels = np.concatenate([known for _, known in sentences])
    summed = torch.nn.functional.cross_entropy(
        outputs, torch.from_numpy(labels).to(outputs.device), ignore_index=-1, reduction="sum"
    )
    return summed, int((labels >= 0).sum())


def probabilities(net: Any, sentences: Sequence[Sentence]) -> list[NDArray[np.float64]]:
    """Return the probability that a word begins, for every character of every sentence."""
    net.eval()
    with torch.inference_mode():
        begins = torch.softmax(_logits(net, sentences).double(), dim=1)[:, 1].cpu().numpy()
    return np.split(begins, np.cumsum([len(labels) for _, labels in sentences])[:-1])


def weights(net: Any) -> dict[str, Any]:
    """Return a copy of the weights."""
    return {name: value.detach().clone() for name, value in net.state_dict().items()}


# --- The segmenter

_BATCHES_SORTED_TOGETHER = 50  # sentences are sorted by length to save padding


class _Epoch(NamedTuple):
    """The progress of training after an epoch."""

    number: int  # the epoch, from 1, and the number of epochs
    of: int
    training_loss: float  # mean cross-entropy per position
    development_loss: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"epoch {self.number} of {self.of}: training loss {self.training_loss:.4f}, "
            f"development loss {self.development_loss:.4f}, {self.seconds:.1f} s"
        )


class BiGRUSegmenter:
    """Segment words with a bidirectional recurrent network."""

    def __init__(
        self,
        *,
        spaces: bool = True,  # the network sees the spaces of a text, as ordinary characters
        dimensions: int = 64,  # length of each of the three n-gram vectors
        hidden: int = 200,  # units of the GRU layer, in each direction
        dropout: float = 0.5,  # share of its inputs and outputs, the same ones in a whole sentence
        epochs: int = 30,  # the weights of the one with the lowest development loss are kept
        batch_size: int = 32,  # sentences per step of the optimiser (Adam)
        learning_rate: float = 0.002,  # at first; it falls to a tenth along a cosine
        min_count: int = 2,  # n-grams that occur less often in training count as unknown
        held_out: float = 0.1,  # share of training sentences that choose the epoch, by default
        seed: int = 0,  # of initial weights, order and dropout; on the CPU it fixes the weights
        device: str = "auto",  # cpu, cuda, or auto for cuda if there is one
    ):
        self.spaces = bool(spaces)
        self.dimensions = whole_number("dimensions", dimensions)
        self.hidden = whole_number("hidden", hidden)
        self.dropout = positive("dropout", dropout, zero=True)
        if self.dropout >= 1:
            raise InputError(f"dropout: {dropout!r} is not below 1")
        self.epochs = whole_number("epochs", epochs)
        self.batch_size = whole_number("batch_size", batch_size)
        self.learning_rate = positive("learning_rate", learning_rate)
        self.min_count = whole_number("min_count", min_count)
        self.held_out = open_probability("held_out", held_out)
        self.seed = whole_number("seed", seed, least=0)
        self.device = device
        self.history: list[_Epoch] = []  # of the last training
        self.computed_on: str | None = None  # the device of the last training in words
        self._vocabulary: Vocabulary = []
        self._network: Any = None

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"BiGRUSegmenter({inner}, device={self.device!r})"

    def _parameters(self) -> dict[str, Any]:
        names = signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if name != "device"}

    def fit(
        self,
        sentences: Sequence[Sequence[str]],
        texts: Sequence[str] | None = None,
        *,
        development: Sequence[Sequence[str]] | None = None,
        development_texts: Sequence[str] | None = None,
        report: Callable[[_Epoch], None] = lambda epoch: None,
    ) -> Self:
        """Train on lists of words and their texts with spaces; `development` chooses the epoch."""
        words = [list(sentence) for sentence in sentences]
        raw = check_texts(words, texts)
        rng = np.random.default_rng(self.seed)
        if development is None:
            order = rng.permutation(len(words)).tolist()
            number = round(self.held_out * len(words))
            chosen, rest = sorted(order[:number]), sorted(order[number:])
            dev_words, dev_raw = [words[i] for i in chosen], [raw[i] for i in chosen]
            words, raw = [words[i] for i in rest], [raw[i] for i in rest]
        else:
            dev_words = [list(sentence) for sentence in development]
            dev_raw = check_texts(dev_words, development_texts, "development_texts")
        self._vocabulary = vocabulary_of(map(self._seen, raw), least=self.min_count)
        training, choosing = (
            [one for one in self._encode(*side) if (one[1] >= 0).any()]  # with a decision
            for side in ((raw, words), (dev_raw, dev_words))
        )
        if not training:
            raise InputError("sentences: none has two characters; expected something to split")
        self.history = []
        with _seeded(self.seed, self.device) as device:
            self.computed_on = described(device)
            self._network = _create(self._vocabulary, self._parameters(), device)
            self._train(training, choosing, rng, report)
        return self

    def _train(
        self,
        training: list[Any],
        choosing: list[Any],
        rng: np.random.Generator,
        report: Callable[[_Epoch], None],
    ) -> None:
        """Train all epochs and keep the weights with the lowest development loss."""
        steps = self.epochs * -(-len(training) // self.batch_size)
        net, rate = self._network, self.learning_rate
        adam = torch.optim.Adam(net.parameters(), lr=rate)
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps, eta_min=rate / 10)
        in_order = _by_length(choosing, range(len(choosing)), self.batch_size)
        lowest, best = float("inf"), weights(net)
        for number in range(1, self.epochs + 1):
            start = time.perf_counter()
            batches = _shuffled(training, self.batch_size, rng)
            trained = _train(net, adam, plan, _chosen(training, batches))
            validated = loss(net, _chosen(choosing, in_order))
            # without a development loss, keep the last epoch
            if validated < lowest or not np.isfinite(validated):
                lowest, best = validated, weights(net)
            seconds = time.perf_counter() - start
            self.history.append(_Epoch(number, self.epochs, trained, validated, seconds))
            report(self.history[-1])
        net.load_state_dict(best)

    def predict_proba(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return the probability of a boundary for each inner position of each text."""
        if self._network is None:
            raise InputError("this segmenter is not trained; expected fit() or load() first")
        texts = list(texts)
        encoded = self._encode(texts, None)
        found: list[Any] = [np.empty(0)] * len(texts)
        filled = [i for i, (_, labels) in enumerate(encoded) if len(labels)]
        for batch in _by_length(encoded, filled, self.batch_size):
            rows = probabilities(self._network, [encoded[i] for i in batch])
            for i, row in zip(batch, rows, strict=True):
                found[i] = row[encoded[i][1] >= 0]
        return found

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, split where a boundary is more probable than none."""
        texts = list(texts)
        rows = self.predict_proba(texts)
        return [split(text, row > 0.5) for text, row in zip(texts, rows, strict=True)]

    def save(self, path: Path | str) -> None:
        """Write the trained segmenter to a file, atomically."""
        if self._network is None:
            raise InputError("this segmenter is not trained; expected fit() before save()")
        arrays = {name: value.cpu().numpy() for name, value in self._network.state_dict().items()}
        content = {
            "parameters": self._parameters(),
            "ngrams": [list(known) for known in self._vocabulary],
            "weights": {name: b64encode(own.tobytes()).decode() for name, own in arrays.items()},
        }
        write_whole(path, seal(content))

    @classmethod
    def load(cls, path: Path | str, *, device: str = "auto") -> Self:
        """Read a segmenter that `save` wrote; nothing in the file is executed."""
        expected = "expected a file that save() wrote"
        content = open_sealed(path, expected)
        try:
            segmenter = cls(**content["parameters"], device=device)
            segmenter._vocabulary = numbered(content["ngrams"])
            with _seeded(0, device) as where:
                net = _create(segmenter._vocabulary, segmenter._parameters(), where)
            for name, value in net.state_dict().items():
                numbers = np.frombuffer(b64decode(content["weights"][name]), dtype=np.float32)
                value.copy_(torch.from_numpy(numbers.copy()).view_as(value))
        except (TypeError, ValueError, KeyError, RuntimeError):
            raise InputError(f"is no saved segmenter; {expected}", path) from None
        segmenter._network = net
        return segmenter

    def _seen(self, text: str) -> str:
        """Return the text as the network sees it, with or without spaces."""
        return text if self.spaces else without_spaces(text)

    def _encode(
        self, texts: Sequence[str], words: Sequence[Sequence[str]] | None
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return for each text its n-grams, and one label per character."""
        # 1 if a word begins there, 0 if none does or it is unknown, and -1 if there is no decision
        # (spaces, and the first character of the text)
        rows = []
        for number, text in enumerate(texts):
            seen = self._seen(text)
            inner = np.array([i for i, c in enumerate(seen) if c not in SPACES], dtype=np.intp)
            labels = np.full(len(seen), -1, dtype=np.int64)
            labels[inner[1:]] = 0
            if words is not None:
                labels[inner[beginnings(map(without_spaces, words[number]))[:-1]]] = 1
            rows.append((encode(seen, self._vocabulary), labels))
        return rows


def _by_length(sentences: list[Any], numbers: Iterable[int], size: int) -> list[list[int]]:
    """Return batches of numbers of sentences of similar length, the longest first."""
    order = sorted(numbers, key=lambda i: -len(sentences[i][0]))
    return [order[first : first + size] for first in range(0, len(order), size)]


def _shuffled(sentences: list[Any], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return batches of numbers of sentences of similar length, in random order."""
    order, pool = rng.permutation(len(sentences)).tolist(), size * _BATCHES_SORTED_TOGETHER
    batches = []
    for start in range(0, len(order), pool):
        batches += _by_length(sentences, order[start : start + pool], size)
    return [batches[j] for j in rng.permutation(len(batches)).tolist()]


def _chosen(sentences: list[Any], batches: list[list[int]]) -> list[list[Any]]:
    """Return the sentences of every batch."""
    return [[sentences[i] for i in batch] for batch in batches]
