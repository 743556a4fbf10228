"""The network of the segmenter: everything that touches PyTorch."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Sentence = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = [
    "create",
    "loss",
    "optimiser",
    "probabilities",
    "read",
    "save",
    "seeded",
    "train",
    "weights",
]

_FORMAT = "probative bigru segmenter 1"
_NORM = 5.0  # gradients longer than this are shortened


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise InputError(
            "the neural segmenter needs PyTorch; install it with: pip install 'probative[neural]'"
        ) from None
    return torch


@contextmanager
def seeded(seed: int, device: str) -> Iterator[Any]:
    """Give the device to compute on, with random numbers that nobody else's code shares."""
    torch = _torch()
    one_of("device", device.split(":")[0], ("auto", "cpu", "cuda"))
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"device: {device!r}, but PyTorch finds no such device; expected cpu")
    with torch.random.fork_rng(devices=[device] if device != "cpu" else []):
        torch.manual_seed(seed)
        yield torch.device(device)


def create(sizes: Sequence[int], parameters: dict[str, Any], device: Any) -> Any:
    """A network with random weights: embeddings, GRU and output layer by name."""
    torch = _torch()
    dimensions, hidden = parameters["dimensions"], parameters["hidden"]
    net = torch.nn.ModuleDict(
        {
            "embeddings": torch.nn.ModuleList(
                torch.nn.Embedding(size, dimensions) for size in sizes
            ),
            "gru": torch.nn.GRU(len(sizes) * dimensions, hidden, bidirectional=True),
            "output": torch.nn.Linear(2 * hidden, 2),
        }
    )
    for embedding in net["embeddings"]:
        torch.nn.init.normal_(embedding.weight, std=0.1)
    net.dropout = parameters["dropout"]
    return net.to(device)


def _logits(net: Any, sentences: Sequence[Sentence]) -> tuple[Any, Any, Any]:
    """Two numbers a character, in packed order; their labels; and what unpacks them.

    `sentences` are sorted by length, the longest first.
    """
    torch = _torch()
    from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

    lengths = [len(labels) for _, labels in sentences]
    padded = np.zeros((lengths[0], len(lengths), 4), dtype=np.int64)
    for column, (ngrams, labels) in enumerate(sentences):
        padded[: len(labels), column, :3] = ngrams
        padded[: len(labels), column, 3] = labels
    packed = pack_padded_sequence(torch.from_numpy(padded), torch.tensor(lengths))
    numbers = packed.data.to(net["output"].weight.device, non_blocking=True)
    vectors = [layer(numbers[:, i]) for i, layer in enumerate(net["embeddings"])]
    joined = _dropped(net, torch.cat(vectors, dim=1))
    states, _ = net["gru"](PackedSequence(joined, packed.batch_sizes))
    return net["output"](_dropped(net, states.data)), numbers[:, 3], packed.batch_sizes


def _dropped(net: Any, values: Any) -> Any:
    return _torch().nn.functional.dropout(values, net.dropout, net.training)


def optimiser(net: Any, rate: float, steps: int) -> tuple[Any, Any]:
    """Adam, and the plan of its rate."""
    torch = _torch()
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps, eta_min=rate / 10)
    return adam, plan


def train(net: Any, optimising: tuple[Any, Any], batches: Sequence[Sequence[Sentence]]) -> float:
    """Go through the batches once; return the mean loss of a position."""
    torch = _torch()
    adam, plan = optimising
    net.train()
    total, positions = torch.zeros((), device=net["output"].weight.device), 0
    for sentences in batches:
        summed, number = _summed_loss(net, sentences)
        adam.zero_grad()
        (summed / number).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), _NORM)
        adam.step()
        plan.step()
        total += summed.detach()
        positions += number
    return float(total) / positions


def loss(net: Any, batches: Sequence[Sequence[Sentence]]) -> float:
    """The mean loss of a position; NaN where there is none."""
    net.eval()
    with _torch().inference_mode():
        losses = [_summed_loss(net, sentences) for sentences in batches]
    positions = sum(number for _, number in losses)
    return sum(float(summed) for summed, _ in losses) / positions if positions else float("nan")


def _summed_loss(net: Any, sentences: Sequence[Sentence]) -> tuple[Any, int]:
    """The cross-entropy of all decisions, and how many there are."""
    outputs, labels, _ = _logits(net, sentences)
    summed = _torch().nn.functional.cross_entropy(
        outputs, labels, ignore_index=-1, reduction="sum"
    )
    return summed, sum(int((known >= 0).sum()) for _, known in sentences)


def probabilities(net: Any, sentences: Sequence[Sentence]) -> list[NDArray[np.float64]]:
    """The probability that a word begins, for every character of every sentence."""
    torch = _torch()
    from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

    net.eval()
    with torch.inference_mode():
        outputs, _, batch_sizes = _logits(net, sentences)
        begins = torch.softmax(outputs.double(), dim=1)[:, 1:].cpu()
        padded, lengths = pad_packed_sequence(PackedSequence(begins, batch_sizes))
    table = padded[:, :, 0].numpy()
    return [table[:length, column] for column, length in enumerate(lengths.tolist())]


def weights(net: Any) -> dict[str, Any]:
    """A copy of the weights."""
    return {name: value.detach().clone() for name, value in net.state_dict().items()}


def save(path: Path | str, net: Any, parameters: dict[str, Any], ngrams: list[list[str]]) -> None:
    """Write weights, parameters and n-grams to a file, whole or not at all."""
    from probative.reporting.files import write_whole

    out = io.BytesIO()
    state = {name: value.cpu() for name, value in weights(net).items()}
    content = {"format": _FORMAT, "parameters": parameters, "ngrams": ngrams, "weights": state}
    _torch().save(content, out)
    write_whole(path, out.getvalue())


def read(path: Path | str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """What `save` wrote; a file that holds anything but data is refused."""
    torch = _torch()
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise InputError("there is no such file", path) from None
    except Exception:  # damaged files make the unpickler fail in every way there is
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError("is no saved segmenter; expected a file that save() wrote", path)
    try:
        return dict(content["parameters"]), content["ngrams"], dict(content["weights"])
    except (KeyError, TypeError, ValueError):
        raise InputError("is a damaged segmenter; expected one that save() wrote", path) from None
