"""Fields of records: equality, rules, lists against brute force, kinds of error, near misses."""

from __future__ import annotations

import copy
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.errors import InputError
from probative.matching import record_rules
from probative.matching import records as module
from probative.matching.record_rules import Paths, parse_rules, with_rules_of_file
from probative.matching.records import fields_of_document, match_records, survey_paths
from probative.options import ReadingOptions
from probative.reading.records import records_from_objects

GOLD = {"a": 1, "b": "x", "items": [{"n": "p", "q": 1}, {"n": "r", "q": 2}]}
SAID = {"a": 1.0, "b": "y", "items": [{"n": "r", "q": 2}, {"n": "p", "q": 3}], "c": 5}


def matched(gold, *systems, **rules):
    sides = [records_from_objects(side, f"s{i}") for i, side in enumerate((gold, *systems))]
    return match_records(sides[0], sides[1:], ReadingOptions(**rules))


def totals(gold, said, **rules):
    counts = matched([gold], [said], **rules).items.counts(0)
    return int(counts.tp), int(counts.fp), int(counts.fn)


def kinds(gold, said, **rules):
    found = fields_of_document(gold, said, ReadingOptions(**rules))
    return sorted((field.path, field.kind) for field in found)


def is_equal(gold, said, rule=None):
    field = {} if rule is None else {"v": rule}
    return totals({"v": gold}, {"v": said}, field=field) == (1, 0, 0)


# --- Definitions


def test_the_worked_example():
    assert totals(GOLD, SAID) == (4, 3, 2)
    assert kinds(GOLD, SAID) == [
        ("a", "right"),
        ("b", "other value"),
        ("c", "invented"),
        ("items[].n", "right"),
        ("items[].n", "right"),
        ("items[].q", "other value"),
        ("items[].q", "right"),
    ]


def test_an_outcome_has_its_places_in_both_records():
    found = {field.gold_place: field for field in fields_of_document(GOLD, SAID)}
    field = found["items[0].q"]
    assert (field.said_place, field.gold, field.said) == ("items[1].q", 1, 3)
    assert found[None].said_place == "c"


@pytest.mark.parametrize("nothing", [None, "", "  ", "\u200b", [], {}, [None], {"x": [""]}])
def test_what_is_not_there(nothing):
    assert totals({"a": 1, "v": nothing}, {"a": 1}) == (1, 0, 0)
    assert totals({"a": 1}, {"a": 1, "v": nothing}) == (1, 0, 0)
    assert totals({"v": "x"}, {"v": nothing}) == (0, 0, 1)
    assert totals({"v": nothing}, {"v": "x"}) == (0, 1, 0)


def test_empty_values_are_kept_on_request():
    for nothing in (None, "", [], {}):
        assert totals({"v": nothing}, {"v": nothing}, keep_empty=True) == (1, 0, 0)
        assert totals({"v": nothing}, {}, keep_empty=True) == (0, 0, 1)
    assert totals({"v": None}, {"v": ""}, keep_empty=True) == (0, 1, 1)
    assert totals({"v": []}, {"v": ["x"]}, keep_empty=True) == (0, 1, 1)


def test_further_texts_that_mean_nothing(tmp_path):
    assert totals({"v": "x"}, {"v": " N/A "}, empty=("N/A", "-")) == (0, 0, 1)
    rules = tmp_path / "rules.toml"
    rules.write_text("keep_empty = true")
    with pytest.raises(InputError, match="keep_empty"):
        with_rules_of_file(ReadingOptions(fields_file=str(rules), empty=("-",)))


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (12, 12.0),
        (0, -0.0),
        (10**30, 10**30),
        ("Müller", "Mu\u0308ller"),
        (" a  b\u00a0c\n", "a b c"),
        ("ab", "a\u200bb\ufeff"),
    ],
)
def test_equal_values(gold, said):
    assert is_equal(gold, said)
    assert is_equal(said, gold)


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (9007199254740993, 9007199254740992),
        (9007199254740993, 9007199254740992.0),
        (True, 1),
        (False, 0),
        (True, "true"),
        ("12", 12),
        ("A", "a"),
        ("a b", "ab"),
    ],
)
def test_unequal_values(gold, said):
    assert not is_equal(gold, said)
    assert not is_equal(said, gold)
    assert totals({"v": [gold]}, {"v": [said]}) == (0, 1, 1)


def test_another_type_counts_every_leaf():
    gold, said = {"v": {"x": 1, "y": 2}}, {"v": "text"}
    assert totals(gold, said) == (0, 1, 2)
    assert {kind for _, kind in kinds(gold, said)} == {"other type"}
    assert totals({"v": [1, 2]}, {"v": 1}) == (0, 1, 2)
    (x, *_) = [f for f in matched([gold], [said]).fields(0) if f.path == "v.x"]
    assert (x.lost_type, x.other_type, x.missing) == (1, 0, 0)


def test_paths_quote_signs_that_mean_something():
    record = {"a.b": 1, "c[]": {"d": 2}, "": 3, "e f": [4, [5]], "g": [{"h": {"i": 6}}]}
    paths = matched([record], [record]).items.labels
    assert paths == ('""', '"a.b"', '"c[]".d', "e f[]", "e f[][]", "g[].h.i")
    assert totals({"a.b": 1}, {"a": {"b": 1}}) == (0, 1, 1)


# --- Rules


@pytest.mark.parametrize(
    ("rule", "gold", "said"),
    [
        ("casefold", "STRASSE", "straße"),
        ("punctuation", "Acme Inc.", "“Acme Inc”"),
        ("number", "12.50", 12.5),
        ("number", "9007199254740993.0", 9007199254740993),
        ("number=1,234.5", "1,234.50", 1234.5),
        ("number=1.234,5", "-1.234.567,5", -1234567.5),
        ("number=1 234,5", "12 000", 12000),
        ("tolerance=0.01", 12.34, 12.35),
        ("tolerance=1%", 100, 101),
        ("number,tolerance=0.5", "12", 12.5),
        ("date", "2024-03-01", "20240301"),
        ("date=%d.%m.%Y", "2024-03-01", "1.3.2024"),
        ("date=%B %d, %Y|%d/%m/%y", "March 1, 2024", "01/03/24"),
        ("date", "2024-03-01T01:00:00+01:00", "2024-03-01T00:00:00Z"),
        ("similarity=0.8", "Acme", "Acne"[:3] + "e!"),
        ("set", "red green", "green, red"),
        ("casefold,set", "Red Green", "green red"),
    ],
)
def test_rules_that_make_values_equal(rule, gold, said):
    expected = rule != "similarity=0.8"
    assert is_equal(gold, said, rule) is expected
    assert not is_equal(gold, said)


@pytest.mark.parametrize(
    ("rule", "gold", "said"),
    [
        ("number", "007", 7),
        ("number", "1,234", 1234),
        ("number=1,234.5", "12,34", 1234),
        ("number=1,234.5", "1234,567.0", 1234567),
        ("number", "12", True),
        ("tolerance=0.01", 12.34, 12.351),
        ("tolerance=0.01", "12.34", 12.34),
        ("tolerance=1%", 100, 101.01),
        ("tolerance=5", True, 1),
        ("date", "2024-03-01", "1.3.2024"),
        ("similarity=0.8", "abcd", "abce"),
        ("set", "red", "red green"),
    ],
)
def test_rules_have_their_limits(rule, gold, said):
    assert not is_equal(gold, said, rule)


def test_similarity_counts_edits():
    assert is_equal("abcde", "abcdf", "similarity=0.8")
    assert is_equal("abcde", "abcd", "similarity=0.8")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("fold", "unknown rule 'fold'"),
        ("casefold,fuzzy", "unknown rule 'fuzzy'"),
        ("casefold=yes", "casefold=yes"),
        ("weight=0", "whole number"),
        ("weight", "whole number"),
        ("weight=1.5", "whole number"),
        ("tolerance=-1", "tolerance=0.01"),
        ("similarity=80%", "at most 1"),
        ("number=12", "1,234.5"),
        ("date=%Q", "date=%d"),
        ("date=", "date=%d"),
    ],
)
def test_bad_rules_are_refused(text, part):
    with pytest.raises(InputError, match=part):
        Paths(ReadingOptions(field={"v": text}))


def test_a_misspelt_rule_or_path_gets_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'casefold'"):
        parse_rules("casfold")
    with pytest.raises(
        InputError, match=r"field: no record has the path 'vendor\.nam'.*'vendor\.name'"
    ):
        totals({"vendor": {"name": "x"}}, {}, field={"vendor.nam": "casefold"})
    for option in ("ordered", "unique", "open_map"):
        with pytest.raises(InputError, match="no record has the path"):
            totals(GOLD, SAID, **{option: ("item",)})


def test_a_rule_holds_below_its_path_and_the_later_one_decides():
    gold, said = {"v": {"x": "A", "y": "B"}}, {"v": {"x": "a", "y": "b"}}
    assert totals(gold, said, field={"v": "casefold"}) == (2, 0, 0)
    assert totals(gold, said, field={"*.x": "casefold"}) == (1, 1, 1)
    assert totals(gold, said, field={"v": "weight=3", "v.x": "weight=2"}) == (0, 5, 5)
    assert totals(gold, said, field={"v.x": "weight=2", "v": "weight=3"}) == (0, 6, 6)
    assert totals(gold, said, field={"v.x": "ignore"}) == (0, 1, 1)
    assert totals(GOLD, SAID, field={"items": "ignore"}) == (1, 2, 1)


def test_weights_count_in_totals_and_in_the_alignment():
    rules = {"field": {"items[].q": "weight=5"}}
    assert totals(GOLD, SAID, **rules) == (1 + 2 + 5, 1 + 5 + 1, 1 + 5)
    gold = {"r": [{"k": "a", "l": "b", "w": 1}]}
    said = {"r": [{"k": "a", "l": "b", "w": 2}, {"k": "x", "l": "y", "w": 1}]}
    assert [f.kind for f in fields_of_document(gold, said) if f.gold == 1] == ["other value"]
    heavy = ReadingOptions(field={"r[].w": "weight=3"})
    assert [f.kind for f in fields_of_document(gold, said, heavy) if f.gold == 1] == ["right"]
    result = matched([GOLD, GOLD], [SAID, GOLD], **rules)
    assert result.strict(0).tolist() == [False, True]


def test_texts_that_are_no_dates_are_counted():
    result = matched([{"d": "2024-01-01"}], [{"d": "soon"}], field={"d": "date"})
    assert result.unparsed == {"d": 1}


def test_keys_of_a_map_are_folded_into_one_path():
    gold, said = {"m": {"x": 1, "y": 2}}, {"m": {"y": 2, "z": 1}}
    result = matched([gold], [said], open_map=("m",))
    assert result.items.labels == ("m{}",)
    assert totals(gold, said, open_map=("m",)) == (1, 1, 1)
    assert result.in_list.tolist() == [True]


def test_only_paths_of_gold():
    assert totals(GOLD, SAID, only_gold_paths=True) == (4, 2, 2)


# --- Lists


def test_scalars_are_multisets():
    assert totals({"t": ["a", "a", "b"]}, {"t": ["b", "a", "c"]}) == (2, 1, 1)
    assert totals({"t": ["a"]}, {"t": ["a", "a"]}) == (1, 1, 0)
    assert totals({"t": ["a", "a"]}, {"t": ["a", "a", "a"]}, unique=("t",)) == (1, 0, 0)
    assert totals({"t": [1, "x", {"k": 1}, [1]]}, {"t": [[1], {"k": 1}, "x", 1]}) == (4, 0, 0)


def test_scalars_of_a_list_with_a_tolerance_are_paired_best():
    rules = {"field": {"t": "tolerance=1"}}
    assert totals({"t": [1, 2.5]}, {"t": [2, 3.5]}, **rules) == (2, 0, 0)


def test_ordered_lists_go_by_position():
    assert totals({"t": [1, 2]}, {"t": [2, 1]}, ordered=("t",)) == (0, 2, 2)
    assert totals({"t": [None, 1]}, {"t": [1]}, ordered=("t",)) == (0, 1, 1)
    gold, said = {"items": GOLD["items"]}, {"items": SAID["items"]}
    assert totals(gold, said, ordered=("items",)) == (0, 4, 4)


def test_a_list_key_aligns_rows():
    gold = {"r": [{"id": 1, "x": "a", "y": "b"}, {"id": 2, "x": "c", "y": "d"}]}
    said = {"r": [{"id": 2, "x": "a", "y": "b"}, {"id": 3, "x": "c", "y": "d"}]}
    assert totals(gold, said) == (4, 2, 2)
    assert totals(gold, said, list_key={"r": "id"}) == (1, 5, 5)
    twice = {"r": [{"id": 1, "x": 1, "y": 1}, {"id": 1, "x": 2, "y": 2}]}
    again = {"r": [{"id": 1, "x": 2, "y": 3}, {"id": 1, "x": 1, "y": 4}]}
    assert totals(twice, again, list_key={"r": "id"}) == (4, 2, 2)
    nested = {"o": [{"k": 1, **gold}]}, {"o": [{"k": 1, **said}]}
    assert totals(*nested, list_key={"o[].r": "id"}) == (2, 5, 5)


def test_rows_without_an_equal_field_are_missing_and_invented():
    assert kinds({"r": [{"x": 1}]}, {"r": [{"x": 2}]}) == [
        ("r[].x", "invented"),
        ("r[].x", "missing"),
    ]


def test_too_many_rows_name_the_way_out(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 5)
    rows = [{"x": i, "y": i} for i in range(3)]
    others = [{"x": i, "y": -i - 1} for i in range(3)]
    with pytest.raises(InputError, match=r"list_key= .* or ordered="):
        totals({"r": rows}, {"r": others})
    assert totals({"r": rows}, {"r": rows}) == (6, 0, 0)
    assert totals({"r": rows}, {"r": others}, list_key={"r": "x"}) == (3, 3, 3)


def test_among_equally_good_rows_the_nearest_are_paired():
    gold = {"r": [{"x": 1, "y": i} for i in range(3)]}
    said = {"r": [{"x": 1, "y": i + 10} for i in range(3)]}
    places = [(f.gold_place, f.said_place) for f in fields_of_document(gold, said)]
    assert all(one == other for one, other in places)


scalars = st.one_of(st.integers(0, 2), st.sampled_from(["a", "b", None, ""]), st.booleans())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=8,
)
some_records = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def leaves(value):
    """The weight of a value: its leaves that are there."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    if isinstance(value, list):
        return sum(map(leaves, value))
    return int(value is not None and value != "")


def most_equal(gold, said):
    """The largest number of equal leaves, over all permutations of all lists."""
    if isinstance(gold, dict) and isinstance(said, dict):
        return sum(most_equal(gold[key], said[key]) for key in gold.keys() & said.keys())
    if isinstance(gold, list) and isinstance(said, list):
        longer = said + [None] * max(0, len(gold) - len(said))
        return max(
            sum(most_equal(g, p) for g, p in zip(gold, order, strict=False))
            for order in permutations(longer, len(gold))
        )
    if isinstance(gold, (dict, list)) or isinstance(said, (dict, list)) or not leaves(gold):
        return 0
    return int(type(gold) is type(said) and gold == said)


@given(some_records, some_records)
@settings(max_examples=300)
def test_the_alignment_is_the_best_of_all_permutations(gold, said):
    tp, fp, fn = totals(gold, said)
    assert tp == most_equal(gold, said)
    assert (tp + fp, tp + fn) == (leaves(said), leaves(gold))


rows = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "x": st.integers(0, 2),
            "y": st.integers(0, 2),
            "t": st.lists(scalars, max_size=2),
        },
    ),
    max_size=4,
)


@given(st.lists(rows, max_size=3), st.lists(rows, max_size=3))
@settings(max_examples=150)
def test_lists_of_lists_of_rows_are_aligned_best(gold, said):
    gold, said = ([{"k": 1, "r": each} for each in side] for side in (gold, said))
    tp, _, _ = totals({"o": gold}, {"o": said})
    assert tp == most_equal({"o": gold}, {"o": said})


def shuffled(value, random):
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random) for key in keys}
    if isinstance(value, list):
        parts = [shuffled(part, random) for part in value]
        random.shuffle(parts)
        return parts
    return value


@given(some_records, some_records, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_rows_changes_nothing(gold, said, random):
    assert totals(gold, said) == totals(shuffled(gold, random), shuffled(said, random))


@given(some_records, some_records)
def test_swapping_gold_and_output_swaps_false_positives_and_negatives(gold, said):
    tp, fp, fn = totals(gold, said)
    assert totals(said, gold) == (tp, fn, fp)


@given(some_records, some_records)
def test_an_extra_field_adds_one_false_positive(gold, said):
    tp, fp, fn = totals(gold, said)
    assert totals(gold, {**said, "extra": "field"}) == (tp, fp + 1, fn)


@given(some_records)
def test_a_record_is_equal_to_itself(record):
    assert totals(record, copy.deepcopy(record)) == (leaves(record), 0, 0)


@given(st.text("abc", max_size=9), st.text("abcd", max_size=9))
def testedit_distance_against_the_table(one, other):
    table = np.arange(len(other) + 1)
    for i, sign in enumerate(one, start=1):
        before, table = table, np.full(len(other) + 1, i)
        for j, letter in enumerate(other, start=1):
            table[j] = min(before[j] + 1, table[j - 1] + 1, before[j - 1] + (sign != letter))
    assert record_rules.edit_distance(one, other) == table[-1]


# --- Several systems


def test_systems_share_gold_fields_and_equal_wrong_values():
    gold = [{"v": "x", "t": ["p", "p"]}]
    result = matched(gold, [{"v": "y", "t": ["p", "q"]}], [{"v": "y", "t": ["q", "q"]}])
    items = result.items
    table = sorted(
        (items.labels[label], bool(answer), *says)
        for label, answer, says in zip(
            items.label, items.answer, items.says.T.tolist(), strict=True
        )
    )
    assert table == [
        ("t[]", False, False, True),  # the second q
        ("t[]", False, True, True),
        ("t[]", True, False, False),
        ("t[]", True, True, False),
        ("v", False, True, True),
        ("v", True, False, False),
    ]


@given(st.lists(st.tuples(some_records, some_records, some_records), min_size=1, max_size=4))
def test_each_system_counts_as_if_it_were_alone(documents):
    gold, *systems = (list(side) for side in zip(*documents, strict=True))
    together = matched(gold, *systems)
    for number, system in enumerate(systems):
        counts = together.items.counts(number, by="sentence")
        alone = [totals(g, p) for g, p in zip(gold, system, strict=True)]
        assert [
            tuple(map(int, c)) for c in zip(counts.tp, counts.fp, counts.fn, strict=True)
        ] == alone
        assert together.strict(number).tolist() == [fp == fn == 0 for _, fp, fn in alone]
        fields = together.fields(number)
        assert sum(f.right for f in fields) == sum(tp for tp, _, _ in alone)
        assert sum(f.other_value + f.invented + f.other_type for f in fields) == sum(
            fp for _, fp, _ in alone
        )
        assert sum(f.other_value + f.missing + f.lost_type for f in fields) == sum(
            fn for _, _, fn in alone
        )


def test_documents_without_a_field_on_both_sides_are_counted_outside_lists():
    gold = [{"v": 1, "t": [1]}, {"v": 1}, {}, {}]
    said = [{"v": 1, "t": [1]}, {}, {"v": 2}, None]
    by_path = {field.path: field for field in matched(gold, said).fields(0)}
    assert by_path["v"].absent == 1
    assert (by_path["v"].right, by_path["v"].missing, by_path["v"].invented) == (1, 1, 1)
    assert by_path["t[]"].absent is None


def test_a_document_without_output_misses_all_its_fields():
    assert totals(GOLD, None) == (0, 0, 6)


def test_paths_that_gold_never_has_are_named():
    gold = [{"v": 1}] * 3
    said = [{"v": 1, "why": "x"}, {"v": 1, "why": "y"}, {"v": 1, "page": 2}]
    assert matched(gold, said).never_in_gold(0) == ["why"]


def test_near_misses_name_the_rule_that_would_accept_them():
    gold = [
        {"n": "Acme", "d": "2024-03-01", "p": 1234.5, "t": ["Red", "Blue"], "o": "x", "q": "A."}
    ]
    said = [
        {"n": "ACME", "d": "01.03.2024", "p": "1,234.50", "t": ["red", "x"], "o": "y", "q": "A"}
    ]
    result = matched(gold, said)
    found = {(miss.path, miss.rule): miss.number for miss in result.near_misses(0)}
    assert found == {
        ("n", "casefold"): 1,
        ("d", "date=%d.%m.%Y"): 1,
        ("p", "number=1,234.5"): 1,
        ("t[]", "casefold"): 1,
        ("q", "punctuation"): 1,
    }
    assert result.wrong_values == (7,)
    for miss in result.near_misses(0):
        fixed = matched(gold, said, field={miss.path: miss.rule}).items.counts(0)
        f1 = 2 * fixed.tp / (2 * fixed.tp + fixed.fp + fixed.fn)
        assert f1 == pytest.approx(miss.f1)


def test_paths_are_surveyed_with_types_and_examples():
    side = records_from_objects([{"v": 1, "t": ["a", "b"]}, {"v": "x"}, {"v": 1}], "gold")
    t, v = survey_paths(side)
    assert (t.path, t.types, t.documents, t.values, t.examples) == (
        "t[]",
        ("string",),
        1,
        2,
        ("a", "b"),
    )
    assert (v.types, v.documents, v.examples) == (("number", "string"), 3, (1, "x"))


def test_an_error_of_a_document_names_system_and_line(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 1)
    rows = {"r": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]}, {"r": [{"x": 1, "y": 3}, {"x": 2, "y": 4}]}
    with pytest.raises(InputError, match=r"s1: the list 'r'"):
        matched([rows[0]], [rows[1]])
