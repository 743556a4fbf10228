"""Documents of spaCy: what looks like them, and files that spaCy wrote (tests/recipes)."""

from __future__ import annotations

import tracemalloc
import zlib
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from recipes.sentences import GOLD, PREDICTED, TOKENS, spans

import probative as pv
from probative.errors import InputError

DOCS = Path(__file__).parent.parent / "data" / "docs"
EXPECTED = pv.Counts(4, 1, 2)


class Doc(list):
    """Tokens, with entities over them."""

    def __init__(self, words, ents):
        super().__init__(SimpleNamespace(text=word) for word in words)
        self.ents = tuple(SimpleNamespace(start=i, end=j, label_=c) for i, j, c in ents)


def docs(tags):
    return [Doc(words, spans(own)) for words, own in zip(TOKENS, tags, strict=True)]


def test_documents():
    assert pv.score(docs(GOLD), docs(PREDICTED))[0].counts == EXPECTED
    assert pv.score(docs(GOLD), PREDICTED)[0].counts == EXPECTED


def test_examples():
    pairs = zip(docs(GOLD), docs(PREDICTED), strict=True)
    examples = [SimpleNamespace(reference=a, predicted=b) for a, b in pairs]
    result = pv.score(examples)
    assert result[0].counts == EXPECTED
    assert result[0].name == "predicted"


def test_other_tokens_are_refused():
    other = docs(PREDICTED)
    other[1][0].text = "A"
    with pytest.raises(InputError, match=r"pred: sentence 2, token 1: token 'A', gold has "):
        pv.score(docs(GOLD), other)


def test_span_groups_alone_are_no_entities():
    grouped = docs([["O"] * len(own) for own in GOLD])
    for doc in grouped:
        doc.spans = {"sc": [SimpleNamespace(start=0, end=1, label_="PER")], "empty": []}
    with pytest.raises(InputError) as error:
        pv.score(docs(GOLD), grouped)
    assert str(error.value) == (
        "pred: no document has entities (doc.ents), but there are span groups ('sc'); expected "
        "entities, or the spans of a group as lists of (start, end, label)"
    )
    beside = docs(PREDICTED)
    beside[0].spans = grouped[0].spans
    result = pv.score(docs(GOLD), beside)
    assert result[0].counts == EXPECTED
    assert "pred: entities of doc.ents; span groups ('sc') are not read" in result.notes


def test_a_file_of_spacy_does_not_unpack_without_end(tmp_path):
    path = tmp_path / "bomb.spacy"
    path.write_bytes(zlib.compress(bytes(2**27)))
    tracemalloc.start()
    with pytest.raises(InputError) as error:
        pv.score(path, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(error.value) == (
        f"{path}: unpacks from 0.12 MiB to more than 64 MiB; expected a file that is packed less"
    )
    assert peak < 2**25


def test_few_attributes_of_many_tokens_are_bounded(tmp_path):
    srsly = pytest.importorskip("srsly")
    pytest.importorskip("spacy")
    n = 1_000_000
    packed = {"attrs": [65], "tokens": bytes(8 * n), "spaces": bytes(n), "strings": []}
    packed |= {"lengths": n.to_bytes(4, "little"), "cats": [{}]}
    path = tmp_path / "long.spacy"
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(packed)))
    with pytest.raises(InputError, match="unpacks from"):
        pv.score(path, path)


def test_what_is_no_document_is_named():
    broken = docs(GOLD)
    del broken[1].ents[0].label_
    with pytest.raises(InputError, match="gold: document 2 is none of spaCy"):
        pv.score(broken, docs(PREDICTED))


def test_files_need_spacy_itself(tmp_path):
    damaged = tmp_path / "damaged.spacy"
    damaged.write_bytes((DOCS / "gold.spacy").read_bytes()[:100])
    if find_spec("spacy") is None:
        with pytest.raises(InputError) as error:
            pv.score(DOCS / "gold.spacy", DOCS / "system.spacy")
        assert str(error.value) == (
            f"{DOCS / 'gold.spacy'}: is a file of spaCy, which is not installed; expected `pip "
            f"install spacy`, or the documents as JSON lines"
        )
        return
    assert pv.score(DOCS / "gold.spacy", DOCS / "system.spacy")[0].counts == EXPECTED
    with pytest.raises(InputError, match=r"damaged.spacy: spaCy cannot read it"):
        pv.score(damaged, damaged)
