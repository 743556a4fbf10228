"""Overlap scores: nervaluate's numbers, brute force on tiny documents, pieces, places."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError
from probative.matching.spans import MatchRule, match_rule, match_spans, overlaps
from probative.reading.annotations import Spans, spans_from_sets

nervaluate = pytest.importorskip("nervaluate")

LABELS = ("A", "B", "C")
span = st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from(LABELS)).map(
    lambda t: (t[0], t[0] + t[1], t[2])
)
any_spans = st.sets(span, max_size=6)
RULES = {"exact": "exact", "partial": "partial", "type": "ent_type"}


def flat(spans):
    """Without those that overlap an earlier one."""
    kept = []
    for one in sorted(spans):
        if not kept or kept[-1][1] <= one[0]:
            kept.append(one)
    return set(kept)


def as_entities(documents):
    """Sorted, the last place included, as nervaluate takes them."""
    return [
        [{"label": label, "start": start, "end": end - 1} for start, end, label in sorted(spans)]
        for spans in documents
    ]


def theirs(gold, pred, tags=LABELS):
    return nervaluate.Evaluator(
        as_entities(gold), as_entities(pred), tags=list(tags), loader="dict"
    ).evaluate()


def same_scores(counts, expected):
    right = expected.correct + expected.partial / 2
    assert counts.tp == right
    assert counts.predicted == expected.actual
    assert counts.positives == expected.possible


def check(gold, pred, rules):
    sides = [spans_from_sets(name, side) for name, side in (("gold", gold), ("pred", pred))]
    expected = theirs(gold, pred)
    for rule, name in rules.items():
        items = match_spans(*sides, rule=MatchRule(rule))
        same_scores(items.counts(), expected["overall"][name])
        labels = items.counts(by="label")
        for label, counts in zip(items.labels, labels, strict=True):
            same_scores(counts, expected["entities"][label][name])


@settings(max_examples=60)
@given(st.lists(st.tuples(any_spans, any_spans), min_size=1, max_size=4))
@example([({(1, 5, "A")}, {(0, 5, "A"), (1, 5, "A")})])
@example([({(0, 3, "A"), (2, 5, "A"), (4, 6, "B")}, {(1, 4, "A"), (2, 6, "B"), (3, 5, "A")})])
def test_numbers_are_those_of_nervaluate_even_where_spans_overlap(documents):
    gold, pred = (list(side) for side in zip(*documents, strict=True))
    check(gold, pred, RULES)


@settings(max_examples=60)
@given(st.lists(st.tuples(any_spans, any_spans.map(flat)), min_size=1, max_size=4))
def test_strict_is_that_of_nervaluate_where_a_systems_spans_do_not_overlap(documents):
    gold, pred = (list(side) for side in zip(*documents, strict=True))
    check(gold, pred, {"strict": "strict", **RULES})
    sides = [spans_from_sets(name, side) for name, side in (("gold", gold), ("pred", pred))]
    expected = theirs(gold, pred)["overall"]
    for name, own in overlaps(*sides).items():
        assert own.correct == expected[name].correct
        assert own.incorrect == expected[name].incorrect
        assert own.partial == expected[name].partial
        assert own.missed == expected[name].missed
        assert own.spurious == expected[name].spurious


def test_strict_finds_an_equal_span_whatever_stands_before_it():
    # nervaluate lets the wrong one, which comes first, take the span of the answer
    gold, pred = [{(1, 5, "A")}], [{(0, 5, "A"), (1, 5, "A")}]
    assert theirs(gold, pred)["overall"]["strict"].correct == 0
    assert pv.score(gold, pred)[0].counts == pv.Counts(1, 1, 0)


@pytest.mark.parametrize("length", [99, 100, 101, 250])
@pytest.mark.parametrize("shared", [1, 2, 3])
def test_spans_meet_from_a_hundredth_of_the_answers_on(length, shared):
    gold, pred = [{(10, 10 + length, "A")}], [{(0, 10 + shared, "A")}]
    check(gold, pred, RULES)


def test_many_rounds_are_settled_one_by_one():
    # a chain in which everyone waits for the one before
    gold = [{(2 * i, 2 * i + 2, "A") for i in range(40)}]
    pred = [{(2 * i + 1, 2 * i + 3, "A") for i in range(39)} | {(0, 1, "B")}]
    check(gold, pred, RULES)
    assert pv.score(gold, pred, match="partial")[0].counts.tp == 20


def outcome(scored):
    """tp, fp and fn of the only system."""
    return tuple(float(getattr(scored[0].counts, name)) for name in ("tp", "fp", "fn"))


# the ways in which a system can go wrong that SemEval 2013 task 9.1 tells apart, as its users
# know them: right, spurious, missed, wrong type, wrong boundaries, both wrong
DOCUMENT = [
    {(0, 2, "drug"), (6, 7, "brand"), (8, 9, "brand"), (10, 12, "drug"), (14, 16, "drug")},
]
ANSWERS = [
    {(0, 2, "drug"), (4, 5, "brand"), (8, 9, "drug"), (10, 13, "drug"), (15, 17, "brand")},
]
EXPECTED = {
    "strict": (1, 4, 4),
    "exact": (2, 3, 3),
    "partial": (3, 2, 2),
    "type": (2, 3, 3),
}


@pytest.mark.parametrize("rule", EXPECTED)
def test_the_ways_to_go_wrong(rule):
    scored = pv.score(DOCUMENT, ANSWERS, match=rule)
    assert outcome(scored) == EXPECTED[rule]
    same_scores(scored[0].counts, theirs(DOCUMENT, ANSWERS, ("drug", "brand"))["overall"][
        RULES.get(rule, rule)])  # fmt: skip


def test_tags_as_nervaluate_documents_them():
    # the five-token sentence of its readme, twice: an entity too long and one of another type
    true = [["O", "B-PER", "I-PER", "O", "O"], ["O", "B-LOC", "I-LOC", "B-LOC", "I-LOC", "O"]]
    pred = [["O", "B-PER", "I-PER", "I-PER", "O"], ["O", "B-LOC", "I-LOC", "B-PER", "I-PER", "O"]]
    expected = nervaluate.Evaluator(true, pred, tags=["LOC", "PER"], loader="list").evaluate()
    for rule in ("strict", "exact", "partial", "type"):
        system = pv.score(true, pred, match=rule)[0]
        overall = expected["overall"][RULES.get(rule, rule)]
        assert system["precision"].estimate == pytest.approx(overall.precision)
        assert system["recall"].estimate == pytest.approx(overall.recall)
        assert system["f1"].estimate == pytest.approx(overall.f1)
        for entry in system.by_label:
            own = expected["entities"][entry.label][RULES.get(rule, rule)]
            assert entry.scores[-1].estimate == pytest.approx(own.f1)


def brute_force(gold, pred, near):
    """The most spans of a document that can be partners, by trying all."""
    gold, pred = sorted(gold), sorted(pred)
    for size in range(min(len(gold), len(pred)), 0, -1):
        for some in combinations(gold, size):
            for others in permutations(pred, size):
                if all(near(g, p) for g, p in zip(some, others, strict=True)):
                    return size
    return 0


small = st.sets(span, max_size=4)


@settings(max_examples=50)
@given(small, small, st.integers(0, 3))
def test_boundaries_within_a_tolerance_are_as_many_as_can_be(gold, pred, k):
    def near(g, p):
        return g[2] == p[2] and abs(g[0] - p[0]) <= k and abs(g[1] - p[1]) <= k

    counts = pv.score([gold, set()], [pred, set()], match=f"boundary:{k}")[0].counts
    assert counts.tp == brute_force(gold, pred, near)
    assert (counts.predicted, counts.positives) == (len(pred), len(gold))
    if k == 0:
        assert counts == pv.score([gold, set()], [pred, set()])[0].counts


@settings(max_examples=40)
@given(st.lists(st.tuples(any_spans, any_spans), min_size=1, max_size=4))
def test_tokens_are_counted_once_per_label(documents):
    gold, pred = (list(side) for side in zip(*documents, strict=True))

    def covered(side):
        return {(k, i, c) for k, d in enumerate(side) for a, b, c in d for i in range(a, b)}

    x, y = covered(gold), covered(pred)
    for match in ("tokens", "characters"):  # nobody knows what these places are
        counts = pv.score(gold, pred, match=match)[0].counts
        assert counts == pv.Counts(len(x & y), len(y - x), len(x - y))


def test_characters_of_tokens(tmp_path):
    (tmp_path / "gold.conll").write_text("Zoë B-PER\nLee I-PER\nsaw O\nUlm B-LOC\n", "utf-8")
    (tmp_path / "pred.conll").write_text("Zoë B-PER\nLee O\nsaw O\nUlm B-LOC\n", "utf-8")
    paths = [str(tmp_path / name) for name in ("gold.conll", "pred.conll")]
    assert pv.score(*paths, match="characters")[0].counts == pv.Counts(6, 0, 3)
    assert pv.score(*paths, match="tokens")[0].counts == pv.Counts(2, 0, 1)
    with pytest.raises(InputError, match=r"match: gold has tags without words.*'tokens'"):
        pv.score([["B-A"]], [["B-A"]], match="characters")


def test_tokens_of_characters_are_not_known(tmp_path):
    line = '{"text": "Ann Lee saw Ulm", "spans": [[0, 7, "PER"]]}\n'
    (tmp_path / "gold.jsonl").write_text(line)
    path = str(tmp_path / "gold.jsonl")
    with pytest.raises(InputError, match=r"given by characters; expected 'characters'"):
        pv.score(path, path, match="tokens")
    assert pv.score(path, path, match="characters")[0].counts == pv.Counts(7, 0, 0)


def brat(folder, lines):
    folder.mkdir()
    (folder / "a.txt").write_text("left and right atrium of the heart")
    (folder / "a.ann").write_text("".join(lines))
    return str(folder)


def test_spans_of_several_pieces(tmp_path):
    gold = brat(tmp_path / "gold", ["T1\tPart 0 4;15 21\tleft atrium\n",
                                    "T2\tPart 9 21\tright atrium\n"])  # fmt: skip
    pred = brat(tmp_path / "pred", ["T1\tPart 0 4;15 21\tleft atrium\n",
                                    "T2\tPart 5 8\tand\n"])  # fmt: skip
    apart = brat(
        tmp_path / "apart", ["T1\tPart 5 14\tand right\n", "T2\tPart 0 21\tleft and right atrium\n"]
    )
    for rule in ("strict", "exact", "partial", "type", "boundary:2"):
        # "and" lies between the pieces of the first, and meets nothing
        assert pv.score(gold, pred, match=rule)[0].counts == pv.Counts(1, 1, 1)
    # the second piece is what "and right" and the answer's T2 share; T1 meets all of the text
    assert pv.score(gold, apart, match="type")[0].counts == pv.Counts(2, 0, 0)
    assert pv.score(gold, apart, match="exact")[0].counts == pv.Counts(0, 2, 2)
    assert pv.score(gold, apart, match="boundary:5")[0].counts == pv.Counts(0, 2, 2)
    # characters 0-4, 9-14 and 15-21 of the answer, 5-14 and 0-21 of the output
    assert pv.score(gold, apart, match="characters")[0].counts == pv.Counts(4 + 12, 5, 0)


def test_a_file_of_one_piece_beside_one_of_several():
    text = spans_from_sets("gold", [{(0, 8, "A")}])
    pieces = Spans(*(getattr(text, n) for n in ("sentence", "start", "end", "label", "labels")),
                   text.text, shape=np.array([1]), shapes=("", "0-2;6-8"))  # fmt: skip
    for rule, tp in (("exact", 0), ("partial", 0.5), ("type", 1), ("boundary:9", 0)):
        assert match_spans(text, pieces, rule=match_rule(rule)).counts().tp == tp


@pytest.mark.parametrize("wrong", ["", "Exact", "boundary", "boundary:", "boundary:-1", "type:2",
                                   "boundary:1.5", 3, None, "ent_type"])  # fmt: skip
def test_rules_that_there_are_not(wrong):
    with pytest.raises(InputError, match=r"^match: .*; expected strict, exact, partial, type"):
        pv.score(DOCUMENT, ANSWERS, match=wrong)


@pytest.mark.parametrize("rule", ["exact", "partial", "type", "boundary:1", "tokens"])
def test_only_and_ignored_types_reach_every_rule(rule):
    only = pv.score(DOCUMENT, ANSWERS, match=rule, only=["drug"])[0]
    kept = [[{s for s in d if s[2] == "drug"} for d in side] for side in (DOCUMENT, ANSWERS)]
    assert only.counts == pv.score(*kept, match=rule)[0].counts
    nameless = [[{(*s[:2], "_") for s in d} for d in side] for side in (DOCUMENT, ANSWERS)]
    ignored = pv.score(DOCUMENT, ANSWERS, match=rule, ignore_type=True)[0]
    assert ignored.counts == pv.score(*nameless, match=rule)[0].counts


def f1_of(tp, fp, fn):
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0


@pytest.mark.parametrize("rule", ["exact", "partial", "type", "tokens", "boundary:1"])
@pytest.mark.parametrize("seed", range(2))
def test_the_exact_test_is_that_of_all_exchanges_of_units(rule, seed):
    rng = np.random.default_rng(seed)

    def some():
        return {
            (int(s), int(s + n), str(c))
            for s, n, c in zip(rng.integers(0, 8, 3), rng.integers(1, 4, 3),
                               rng.choice(["A", "B"], 3), strict=True)
        }  # fmt: skip

    gold, a, b = ([some() for _ in range(8)] for _ in range(3))
    rows = []
    for own in (a, b):
        counts = [pv.score([g], [o], match=rule)[0].counts for g, o in zip(gold, own, strict=True)]
        rows.append([[float(c.tp), float(c.fp), float(c.fn)] for c in counts])
    table = np.array(rows)
    gaps = []
    for bits in range(2**8):
        swap = np.array([bits >> k & 1 for k in range(8)])
        sums = [np.sum(np.where(swap[:, None] == i, table[0], table[1]), axis=0) for i in (0, 1)]
        gaps.append(f1_of(*sums[1]) - f1_of(*sums[0]))
    comparison = pv.compare(gold, a, b, match=rule).comparisons[0]
    observed = f1_of(*table[1].sum(axis=0)) - f1_of(*table[0].sum(axis=0))
    assert comparison.difference == pytest.approx(observed)
    expected = np.mean(np.abs(gaps) >= abs(observed) - 1e-12)
    assert comparison.pvalue == pytest.approx(expected)
    assert comparison.test == "exact"
    ranked = pv.rank(gold, {"a": a, "b": b}, match=rule, n_jobs=1)
    assert ranked.pairs[0].pvalue == pytest.approx(expected)


@pytest.mark.parametrize("rule", ["exact", "partial", "type", "tokens", "boundary:1"])
def test_counts_of_a_system_do_not_depend_on_the_others(rule):
    rng = np.random.default_rng(5)
    sides = [
        [{(int(s), int(s) + 2, "AB"[int(s) % 2]) for s in rng.integers(0, 9, 4)} for _ in range(6)]
        for _ in range(4)
    ]
    gold, *systems = sides
    together = pv.score(gold, *systems, match=rule)
    for own, system in zip(together.systems, systems, strict=True):
        alone = pv.score(gold, system, match=rule)[0]
        assert own.counts == alone.counts
        assert [str(e) for e in own.by_label] == [str(e) for e in alone.by_label]


def test_what_is_said_of_a_rule():
    old, new = [DOCUMENT[0] - {(0, 2, "drug")}] * 6, ANSWERS * 6
    result = pv.compare(DOCUMENT * 6, old, new, match="partial")
    assert "(F1, partial overlap," in str(result)
    assert result.to_dict()["match"] == "partial"
    assert "|match:partial|" in result.signature
    assert "(entities, partial overlap, 6 sentences)" in result.to_markdown()
    assert "F1, partial overlap" in pv.rank(DOCUMENT * 6, {"old": old, "new": new},
                                            match="partial").summary  # fmt: skip
    with pytest.raises(InputError, match=r"^by: under match='type' items of one sentence"):
        pv.score(DOCUMENT, ANSWERS, match="type", by="item")
    with pytest.raises(InputError, match=r"^match: does not apply to labels"):
        pv.score(["a", "b"], ["a", "b"], match="type")
