"""The network of the segmenter: all code that uses PyTorch."""

from __future__ import annotations

from base64 import b64decode, b64encode
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Sentence = tuple[NDArray[np.int64], NDArray[np.int64]]

try:
    import torch  # type: ignore[import-not-found,unused-ignore]  # an extra
except ImportError:
    raise InputError("the network needs PyTorch: pip install 'probative[neural]'") from None

_MOST_GRADIENT_NORM = 5.0  # longer gradients are clipped


@contextmanager
def seeded(seed: int, device: str) -> Iterator[Any]:
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


def create(vocabulary: Sequence[dict[str, int]], parameters: dict[str, Any], device: Any) -> Any:
    """Return a network with random weights: embeddings, one GRU per direction, the output layer."""
    dimensions, hidden = parameters["dimensions"], parameters["hidden"]
    width = len(vocabulary) * dimensions
    net = torch.nn.ModuleDict(
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


def optimiser(net: Any, rate: float, steps: int) -> tuple[Any, Any]:
    """Return Adam and the schedule of its learning rate."""
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps, eta_min=rate / 10)
    return adam, plan


def train(net: Any, optimising: tuple[Any, Any], batches: Sequence[Sequence[Sentence]]) -> float:
    """Train on the batches once; return the mean loss per position."""
    adam, plan = optimising
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


def packed(net: Any) -> dict[str, str]:
    """Return the weights as texts."""
    arrays = ((name, value.cpu().numpy()) for name, value in net.state_dict().items())
    return {name: b64encode(array.tobytes()).decode() for name, array in arrays}


def unpack(net: Any, texts: dict[str, str]) -> None:
    """Replace the weights by those that `packed` returned; refuse other numbers of them."""
    for name, value in net.state_dict().items():
        numbers = np.frombuffer(b64decode(texts[name]), dtype=np.float32).copy()
        value.copy_(torch.from_numpy(numbers).view_as(value))
