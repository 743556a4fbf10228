"""The page of a comparison: one file, nothing loaded, no script, the same bytes every time."""

from __future__ import annotations

import re

import numpy as np
import pytest

import probative as pv
from probative.reporting.compare_report import compare_document
from probative.reporting.render import as_html
from probative.wording.verdict import STRENGTHS
from reporting.structure import html_outline


def outputs(seed=0, sentences=80):
    rng = np.random.default_rng(seed)
    gold, a, b = rng.choice(["O", "O", "B-PER", "B-LOC", "B-ORG"], (3, sentences, 6))
    kept = rng.random((2, sentences, 6)) < [[[0.7]], [[0.8]]]
    return gold.tolist(), *np.where(kept, gold, [a, b]).tolist()


@pytest.fixture(scope="module")
def found():
    return with_figures()


def with_figures():
    how = {"metric": ["recall", "f1"], "names": ["old", "new"], "rope": 0.01}
    sides = [[sentence[: 3 + k % 4] for k, sentence in enumerate(side)] for side in outputs()]
    return pv.compare(*sides, figures=True, buckets=True, **how)


@pytest.fixture(scope="module")
def page(found):
    return as_html(compare_document(found))


def test_the_verdict_comes_first(found, page):
    _, text = html_outline(page)
    places = [
        text.index(words)
        for words in (
            found.verdicts[0],
            "(entities, 80 sentences)",
            "P(better)",
            "Posterior of the difference new − old",
            "Null distribution of the exact test by sentence",
            "By label",
            "Which kinds of items",
            "Confusions",
            "Where they differ most",
            "How this was computed",
            "probative:",
        )
    ]
    assert places[0] == min(places)
    assert text.rstrip().endswith("rope:0.01|prior:1")


def test_no_script_and_nothing_from_elsewhere(page):
    tags = {event[0] for event in html_outline(page)[0] if isinstance(event, tuple)}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "form", "input"})
    assert not re.search(r"""\b(src|action|data)\s*=""", page)
    links = re.findall(r'\bhref\s*=\s*"(.*?)"', page)
    assert links[0] == "#main"
    for link in links:  # inside the page
        assert f'id="{link.removeprefix("#")}"' in page
    assert "@import" not in page
    assert "url(" not in page
    addresses = set(re.findall(r"https?://[^\"'\s<]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address to load


def test_every_figure_has_words_for_those_who_cannot_see_it(page):
    figures = re.findall(r"<svg [^>]*>", page)
    assert len(figures) == 4  # scores, differences, posterior, null distribution
    for figure in figures:
        assert 'role="img"' in figure
        assert re.search(r'aria-label="[^"]{30,}"', figure)
    assert page.count("<figcaption") == 4


def test_the_same_input_gives_the_same_bytes(page):
    assert as_html(compare_document(with_figures())) == page


def test_spans_are_marked_right_or_wrong():
    gold = [["B-PER", "I-PER", "O", "B-LOC"]] * 10
    a, b = gold, [["B-PER", "O", "O", "B-LOC"]] * 10
    page = as_html(compare_document(pv.compare(gold, a, b, metric="recall")))
    assert page.count('<mark class="right"') == 4 * (2 + 2 + 1)
    assert page.count('<mark class="wrong"') == 4
    assert "pred 1 does better than pred 2" in page
    assert "pred 2 does better than pred 1" not in page
    assert "Sentence 1: F1 50 of pred 2, 100 of pred 1" in page


def test_thresholds_on_the_page_are_those_of_the_verdict(page):
    _, text = html_outline(page)
    for word, probability, pvalue in STRENGTHS:
        assert (
            f"{word.capitalize()} evidence: posterior probability at least {probability:g}" in text
        )
        assert f"p at most {pvalue:g}" in text


def test_many_pairs_are_all_drawn_and_all_told():
    gold, a, b = outputs()
    others = [outputs(seed)[1] for seed in range(1, 4)]
    found = pv.compare(gold, a, b, *others, metric="recall", all_pairs=True, figures=True)
    page = as_html(compare_document(found))
    _, text = html_outline(page)
    assert len(found.verdicts) == 10
    assert all(verdict in text for verdict in found.verdicts)
    assert "10 verdicts in words" in text
    assert "Verdicts pair by pair, recall in points" in text
    assert page.count("<svg") == 2 + 2 * 10
    assert "Figures of 10 pairs" in text
    for c in found.comparisons:  # tables by label, too
        assert f"{c.b} against {c.a}, recall by label in points" in text
    heads = re.findall(r"<h3>(pred \d against pred \d)</h3>", page)
    assert heads == [f"{c.b} against {c.a}" for c in found.comparisons]


def test_what_cannot_be_drawn_is_left_out():
    gold, a, _ = outputs()
    nothing = [["O"] * 6 for _ in gold]
    same = as_html(compare_document(pv.compare(gold, a, a, names=["x", "y"], metric="recall")))
    assert same.count("<svg") == 2
    undefined = pv.compare(nothing, a, a[::-1], metric="recall")
    page = as_html(compare_document(undefined))
    assert "undefined" in page
    assert page.count("<svg") == 2
    one = pv.compare(gold[:1], a[:1], a[1:2], average="macro")
    html_outline(as_html(compare_document(one)))


def test_labels_and_segmentations_have_pages_too():
    labels = pv.compare(list("abcab" * 8), list("abbab" * 8), list("abcaa" * 8))
    _, text = html_outline(as_html(compare_document(labels)))
    assert "Confusions" in text
    assert "accuracy" in text
    words = [["ab", "c"], ["d", "e"]] * 10
    cut = pv.compare(words, [["a", "bc"], ["de"]] * 10, words, task="segmentation")
    page = as_html(compare_document(cut))
    assert "Where they differ most" in page
    macro = pv.compare(list("abcab" * 8), list("abbab" * 8), list("abcaa" * 8), average="macro")
    _, text = html_outline(as_html(compare_document(macro)))
    assert "Macro averages" in text


def test_a_very_long_sentence_is_cut_to_what_is_shown():
    length, at = 30_000, 20_000
    gold = [["B-A"] * length] * 3
    old, new = [list(gold[0]) for _ in gold], gold
    for side in old:
        side[at] = "O"
    found = pv.compare(gold, old, new, metric="recall")
    for example in found.examples:
        assert len(example.words) <= 302
        assert len(example.gold) <= 300
        assert len(example.gold) == len(example.spans_b) == len(example.spans_a) + 1
    page = as_html(compare_document(found))
    assert len(page) < 300_000
    lines = re.findall(r'<p class="said">.*?</p>', page, re.DOTALL)
    # the dispute is shown
    assert [line.count('<mark class="right"') for line in lines[:3]] == [300, 299, 300]
    assert [line.count('<mark class="missed"') for line in lines[:3]] == [0, 1, 0]
    word = "w" * 99_999
    wide = pv.compare([[word, "x"]] * 3, [[word + "x"]] * 3, [["w", word[1:], "x"]] * 3)
    assert len(as_html(compare_document(wide))) < 300_000


def test_the_page_of_one_unit_says_why_there_is_no_verdict():
    gold, a, b = (side[:1] for side in outputs())
    found = pv.compare(gold, a, b, metric="recall", names=["old", "new"], figures=True)
    page = as_html(compare_document(found))
    _, text = html_outline(page)
    assert "No verdict: a score rests on a single sentence" in text
    assert "(entities, 1 sentence)" in text
    assert "nan" not in page
    assert page.count("<svg") == 2  # no picture of a posterior that is not there


def test_gates_are_on_the_page(found):
    gates = pv.gate(found, "require-better", margin=0.02)
    _, text = html_outline(as_html(compare_document(found, gates=gates)))
    line = str(gates[0])
    assert line[0].upper() + line[1:] in text  # P(B − A > …) keeps its capitals


def test_systems_are_called_by_their_names(page):
    _, text = html_outline(page)
    assert "P(A better)" not in text
    assert "A is the second name" not in text
    assert "the probabilities that new" in " ".join(text.split())


def test_every_figure_and_term_is_explained_in_plain_words(page):
    captions = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
    assert len(captions) == 4
    assert all(len(caption) > 200 for caption in captions)
    _, text = html_outline(page)
    for words in ("false alarms", "missed spans", "plausible", "swapped at random"):
        assert words in text


def test_confusions_are_a_heat_map_of_their_numbers(found, page):
    for system, rows in zip(found.systems, found.confusions, strict=True):
        part = page[page.index(f"<h3>{system.name}</h3>") :]
        part = part[: part.index("</table>")]
        cells = re.findall(r'<td style="--heat:([0-9.]+)"[^>]* title="([^"]+)">(\d+)<', part)
        assert len(cells) == len(rows)
        told = {words: int(n) for _, words, n in cells}
        for *labels, n in rows:
            right, given = (label or "(nothing)" for label in labels)
            assert told[f"{right} taken for {given}: {n}"] == n
        shares = sorted((int(n), float(share)) for share, _, n in cells)
        assert [share for _, share in shares] == sorted(share for _, share in shares)


def test_of_many_labels_the_map_says_how_many_it_shows():
    rng = np.random.default_rng(0)
    gold, a, b = (rng.integers(0, 30, 600).tolist() for _ in range(3))
    found = pv.compare(gold, a, b)
    _, text = html_outline(as_html(compare_document(found)))
    total = sum(n for _, _, n in found.confusions[0])
    assert f"of {total:,} confusions: those of the 10 labels" in text


def test_buckets_on_the_page_are_those_of_the_results(found, page):
    _, text = html_outline(page)
    assert {b.kind for b in found.buckets} == {"sentence length"}
    assert "new against old, recall by sentence length in points" in text
    for bucket in found.buckets:
        assert f">{bucket.bucket}<" in page
        for score in bucket.scores:
            low, high = (f"{100 * end:.1f}" for end in (score.low, score.high))
            assert f">{100 * score.estimate:.1f} [{low}, {high}]<" in page
    count = len(found.buckets) + sum(len(c.by_label) for c in found.comparisons[:1])
    assert page.count('<span class="iv') == count


def test_texts_of_a_table_are_shown_where_one_system_is_right(tmp_path):
    table = tmp_path / "t.csv"
    rows = ["text,gold,old,new"]
    rows += [f"text <b>number</b> {i},{'ab'[i % 2]},a,{'ab'[i % 2]}" for i in range(20)]
    table.write_text("\n".join(rows))
    found = pv.compare(table, gold_column="gold", columns=["old", "new"])
    assert [(e.item, e.better) for e in found.examples] == [(k, "new") for k in (2, 4, 6, 8)]
    assert {(e.gold, e.label_a, e.label_b) for e in found.examples} == {("b", "a", "b")}
    page = as_html(compare_document(found))
    assert "text &lt;b&gt;number&lt;/b&gt; 1<" in page
    assert page.count('<mark class="wrong">a<small>✗</small></mark>') == 4
    assert page.count('<mark class="right">b<small>✓</small></mark>') == 8
    plain = tmp_path / "u.csv"
    plain.write_text(table.read_text().replace("text,gold", "id,gold"))
    assert pv.compare(plain, gold_column="gold", columns=["old", "new"]).examples == ()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "frame"])
def test_texts_are_read_from_every_kind_of_table(tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"sentence": ["x", None, "z"] * 4, "gold": list("abb") * 4, "old": list("aba") * 4}
    )
    frame["new"] = frame["gold"]
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        frame.to_parquet(path)
    table = frame if kind == "frame" else path
    found = pv.compare(table, gold_column="gold", columns=["old", "new"])
    assert [e.text for e in found.examples] == ["z"] * 4


def test_the_signature_is_said_once(page, found):
    assert page.count(found.signature) == 1
    scores = pv.score(*outputs()[:2]).to_html()
    assert scores.count("probative:") == 1


def test_of_hundreds_of_labels_the_first_are_shown_and_the_others_counted():
    gold = [f"label {i % 230:03d}" for i in range(460)]
    found = pv.compare(gold, gold[1:] + gold[:1], gold)
    _, text = html_outline(as_html(compare_document(found)))
    assert "30 more labels are hidden here; JSON has all of them." in text
    assert len(found.to_dict()["comparisons"][0]["by_label"]) == 230


def test_examples_say_of_which_pairs_they_are():
    gold, a, b = outputs()
    others = [outputs(seed)[1] for seed in range(1, 5)]
    found = pv.compare(gold, a, b, *others, metric="recall")
    _, text = html_outline(as_html(compare_document(found)))
    assert "Of 3 pairs; 2 more pairs have none here." in text


def test_heat_maps_of_two_systems_have_one_scale():
    gold = ["x", "y"] * 20
    few = ["y", *gold[1:]]
    many = ["y" if i < 20 and label == "x" else label for i, label in enumerate(gold)]
    page = pv.compare(gold, few, many, names=["few", "many"]).to_html()
    found = dict(re.findall(r'style="--heat:([\d.]+)"[^>]*title="x taken for y: (\d+)"', page))
    assert found == {"0.15": "1", "0.80": "10"}
    assert "darker" not in page  # by night the strongest is the lightest


def test_what_lies_beyond_the_ends_of_a_curve_is_told():
    gold = [["B-PER", "O", "B-LOC"], ["B-PER", "I-PER"], ["B-LOC", "O"]]
    old = [["B-PER", "O", "O"], *gold[1:]]
    new = [["O", "O", "B-LOC"], gold[1], ["O", "O"]]
    few = as_html(compare_document(pv.compare(gold, old, new)))
    many = as_html(compare_document(pv.compare(gold * 30, old * 30, new * 30)))
    assert re.search(r"a probability of 0\.0\d+ lies beyond\s+the ends of the curve", few)
    assert "beyond the ends" not in " ".join(many.split())
