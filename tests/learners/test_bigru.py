"""The neural segmenter: it learns, repeats itself, keeps itself, and takes what comes."""

from __future__ import annotations

import json
import pickle
from base64 import b64encode

import numpy as np
import pytest

import probative as pv

torch = pytest.importorskip("torch")

from probative.files import seal  # noqa: E402
from probative.learners import model_of  # noqa: E402
from probative.learners.bigru import (  # noqa: E402
    BiGRUSegmenter,
    encode,
    loss,
    numbered,
    probabilities,
    vocabulary_of,
    weights,
)
from probative.learners.words import (  # noqa: E402
    MaxMatchSegmenter,
    SegmentingChunker,
    to_spans,
)

pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("default")]

LEXICON = ["ab", "cde", "f", "ga", "bc"]
SMALL = {
    "dimensions": 8,
    "hidden": 12,
    "dropout": 0.2,
    "epochs": 8,
    "learning_rate": 0.02,
    "device": "cpu",
}


def corpus(seed, number, *, size=6):
    rng = np.random.default_rng(seed)
    return [[LEXICON[i] for i in rng.integers(0, len(LEXICON), size)] for _ in range(number)]


@pytest.fixture(scope="module")
def trained():
    return BiGRUSegmenter(**SMALL).fit(corpus(1, 120), development=corpus(2, 20))


def test_it_is_made_from_its_name():
    assert "hidden=8, dropout=0.1" in repr(model_of("bigru:hidden=8,dropout=0.1"))
    with pytest.raises(pv.InputError, match="--a: epochs: 0 is not a whole number >= 1"):
        model_of("bigru:epochs=0", "--a")


def test_it_learns_a_language_of_five_words(trained):
    test = corpus(3, 40)
    found = trained.predict(["".join(words) for words in test])
    counts = pv.score(test, found, task="segmentation")[0]
    assert counts["recall"].estimate > 0.95
    assert trained.history[-1].development_loss < trained.history[0].development_loss / 2
    assert len(trained.history) == 8
    assert "epoch 8 of 8" in str(trained.history[-1])


def test_probabilities_are_those_of_inner_positions(trained):
    texts = ["abcde", "ab c de", "a", "", "  "]
    rows = trained.predict_proba(texts)
    assert [len(row) for row in rows] == [4, 4, 0, 0, 0]
    assert all(((row >= 0) & (row <= 1)).all() for row in rows)
    words = trained.predict(texts)
    assert [len(sentence) for sentence in words[2:]] == [1, 0, 0]
    for text, row, sentence in zip(texts, rows, words, strict=True):
        assert len(sentence) == (row > 0.5).sum() + bool(text.strip())


def test_the_batch_does_not_change_the_answer(trained):
    """Padding must not reach the sentences, in either direction."""
    texts = ["abcde", "c" * 40, "fgh", "deabc" * 7]
    together = trained.predict_proba(texts)
    for text, row in zip(texts, together, strict=True):
        assert trained.predict_proba([text])[0] == pytest.approx(row, abs=1e-6)


def test_the_network_is_a_bidirectional_gru(trained):
    """Against PyTorch's own bidirectional layer over packed sentences."""
    from torch.nn.utils.rnn import pack_sequence, unpack_sequence

    net = trained._network.eval()
    hidden = trained.hidden
    both = torch.nn.GRU(3 * trained.dimensions, hidden, bidirectional=True)
    with torch.no_grad():
        for name, value in net["rightward"].named_parameters():
            getattr(both, name).copy_(value)
        for name, value in net["leftward"].named_parameters():
            getattr(both, f"{name}_reverse").copy_(value)
        texts = ["abcdefgh", "deab", "c"]
        encoded = trained._encode(texts, None)
        vectors = [
            torch.cat(
                [layer(torch.from_numpy(x)[:, i]) for i, layer in enumerate(net["embeddings"])], 1
            )
            for x, _ in encoded
        ]
        states, _ = both(pack_sequence(vectors))
        expected = [torch.softmax(net["output"](s), 1)[:, 1] for s in unpack_sequence(states)]
    for row, want in zip(probabilities(net, encoded), expected, strict=True):
        assert row == pytest.approx(want.numpy(), abs=1e-6)


def test_the_same_seed_gives_the_same_weights():
    one, two = (BiGRUSegmenter(**{**SMALL, "epochs": 2}).fit(corpus(1, 40)) for _ in range(2))
    other = BiGRUSegmenter(**{**SMALL, "epochs": 2, "seed": 1}).fit(corpus(1, 40))
    own = [weights(s._network) for s in (one, two, other)]
    assert all(torch.equal(own[0][name], own[1][name]) for name in own[0])
    assert not all(torch.equal(own[0][name], own[2][name]) for name in own[0])
    assert [e.development_loss for e in one.history] == [e.development_loss for e in two.history]


def test_training_leaves_others_random_numbers_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    BiGRUSegmenter(**{**SMALL, "epochs": 1}).fit(corpus(1, 10))
    assert torch.equal(torch.rand(3), expected)


def test_the_weights_are_those_of_the_best_epoch():
    told = []
    segmenter = BiGRUSegmenter(**{**SMALL, "epochs": 12, "learning_rate": 0.1})
    dev = corpus(5, 10)
    segmenter.fit(corpus(1, 12), development=dev, report=told.append)
    assert told == segmenter.history
    encoded = segmenter._encode(["".join(words) for words in dev], dev)
    lowest = min(epoch.development_loss for epoch in told)
    assert loss(segmenter._network, [encoded]) == pytest.approx(lowest, rel=1e-5)


def test_spaces_are_seen_or_not():
    sentences = [["ab", "c"], ["a", "bc"]] * 30
    texts = ["ab c", "a bc"] * 30
    seeing = BiGRUSegmenter(**SMALL).fit(sentences, texts)
    assert seeing.predict(["ab c", "a bc"]) == [["ab", "c"], ["a", "bc"]]
    blind = BiGRUSegmenter(**SMALL, spaces=False).fit(sentences, texts)
    first, second = blind.predict_proba(["ab c", "a bc"])
    assert first.tolist() == second.tolist()


def test_it_keeps_itself(trained, tmp_path):
    path = tmp_path / "model.pt"
    trained.save(path)
    loaded = BiGRUSegmenter.load(path, device="cpu")
    texts = ["abcdefgh", "完全 new", ""]
    for one, two in zip(trained.predict_proba(texts), loaded.predict_proba(texts), strict=True):
        assert one.tolist() == two.tolist()
    assert repr(loaded) == repr(trained)


def test_damaged_and_foreign_files_are_refused_in_one_line(trained, tmp_path):
    path = tmp_path / "model"
    trained.save(path)
    good = path.read_bytes()

    def refused(content, words):
        path.write_bytes(content)
        with pytest.raises(pv.InputError, match=words) as caught:
            BiGRUSegmenter.load(path, device="cpu")
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)

    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "executed"), "w"))

    for content in (b"", b"no model", pickle.dumps(Evil(), protocol=2)):
        refused(content, "it is no file of")
    for content in (good[: len(good) // 2], good[:-400] + b"x" * 400):
        refused(content, "its checksum does not fit")
    assert not (tmp_path / "executed").exists()
    known = json.loads(good)["content"]
    numbers = {**known["weights"], "output.bias": b64encode(bytes(4)).decode()}
    for others in (
        ["list"],
        {},
        {**known, "weights": {}},
        {**known, "weights": numbers},
        {**known, "ngrams": [[], [], []]},
        {**known, "ngrams": 3},
        {**known, "parameters": {"hidden": 3}},
        {**known, "parameters": {"colour": 3}},
    ):
        refused(seal(others), "is no saved segmenter")
    with pytest.raises(pv.InputError, match="No such file"):
        BiGRUSegmenter.load(tmp_path / "missing")


def test_a_line_of_20000_characters(trained):
    text = "".join(LEXICON) * 2001
    row = trained.predict_proba([text, "ab"])[0]
    assert len(row) == len(text) - 1 == 20009
    assert "".join(trained.predict([text])[0]) == text
    BiGRUSegmenter(**{**SMALL, "epochs": 1}).fit([*corpus(1, 20), LEXICON * 400])


def test_short_and_empty_sentences_in_training():
    sentences = [*corpus(1, 30), [], ["a"], ["ab"]]
    segmenter = BiGRUSegmenter(**{**SMALL, "epochs": 1}).fit(sentences, development=[["a"], []])
    assert np.isnan(segmenter.history[0].development_loss)
    assert segmenter.predict(["abc"])
    with pytest.raises(pv.InputError, match="sentences: none has two characters"):
        BiGRUSegmenter(**SMALL).fit([["a"], []], development=[["ab"]])


def test_it_is_compared_like_any_chunker():
    sentences = corpus(4, 40)
    texts = ["".join(words) for words in sentences]
    spans = [to_spans(text, words) for text, words in zip(texts, sentences, strict=True)]
    found = pv.compare_models(
        SegmentingChunker(MaxMatchSegmenter()),
        SegmentingChunker(BiGRUSegmenter(**{**SMALL, "epochs": 2})),
        texts,
        spans,
        m=1,
        rng=0,
    )
    assert len(found.folds) == 4


def test_a_study_with_the_network(tmp_path):
    from probative_studies.segmentation import segmentation_study

    def studied():
        return segmentation_study(
            corpus(1, 60), corpus(2, 10), corpus(3, 20), systems=["maxmatch", "bigru"],
            sizes=[20, 40], epochs=2, device="cpu", folder=tmp_path,
        )  # fmt: skip

    first, second = studied(), studied()
    assert first.sweep_system == first.curve_system == "bigru"
    assert first.to_dict() == second.to_dict()
    run = next(run for run in first.runs if run.system == "bigru")
    assert len(run.losses) == 2
    assert run.best_epoch in (1, 2)
    assert "CPU" in run.machine


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs: 0 is not a whole number >= 1"),
        ({"dropout": 1.0}, "dropout: 1.0 is not below 1"),
        ({"dropout": -0.1}, "dropout"),
        ({"held_out": 1}, "held_out"),
        ({"learning_rate": 0}, "learning_rate"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(pv.InputError, match=message):
        BiGRUSegmenter(**options)


def test_devices_and_order_of_calls_are_checked():
    with pytest.raises(pv.InputError, match="device: unknown 'tpu'"):
        BiGRUSegmenter(device="tpu").fit(corpus(1, 5))
    if not torch.cuda.is_available():
        with pytest.raises(pv.InputError, match="device: 'cuda', but PyTorch finds no such device"):
            BiGRUSegmenter(device="cuda").fit(corpus(1, 5))
    for call in (lambda s: s.predict(["ab"]), lambda s: s.save("x")):
        with pytest.raises(pv.InputError, match="not trained"):
            call(BiGRUSegmenter())


def test_numbers_of_ngrams():
    vocabulary = vocabulary_of(["abab", "c"], least=2)
    assert [len(known) for known in vocabulary] == [2, 1, 0]
    one, two = encode("ab", vocabulary), encode("", vocabulary)
    assert one.tolist() == [[1, 0, 0], [2, 1, 0]]
    assert two.shape == (0, 3)
    assert numbered(vocabulary) == vocabulary
