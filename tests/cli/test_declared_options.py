"""What options exclude and need is declared with them, and checked by one function."""

from __future__ import annotations

from dataclasses import fields

import click
import pytest

from probative.cli.app import COMMANDS, build_app
from probative.cli.options import _by_flag
from probative.errors import InputError
from probative.options import HEADINGS, Option, ReadingKeywords, ReadingOptions, check_together

TAGS = "Ada B-PER\nmet O\n\nBob B-PER\n"
DECLARED = {
    name: build_app().get_command(click.Context(click.Command("x")), name)
    for name in COMMANDS
    if name != "study"
}


def parts(other):
    name, _, word = other.partition("=")
    return name, word or "1"


def test_the_keywords_of_python_are_the_fields_of_reading():
    assert list(ReadingKeywords.__annotations__) == [f.name for f in fields(ReadingOptions)]


def test_every_name_that_is_excluded_or_needed_exists():
    known = {p.name for command in DECLARED.values() for p in command.params}
    options = [o for command in DECLARED.values() for o in command.declared.values()]
    named = {parts(other)[0] for o in options for other in (*o.excludes, *o.needs)}
    assert {"key", "dataset", "hide_scores", "metric"} <= named <= known
    assert {o.heading for o in options} == set(HEADINGS)


@pytest.mark.parametrize("command", DECLARED)
def test_what_is_excluded_is_refused_with_both_flags(command):
    declared, parameters = DECLARED[command].declared, DECLARED[command].params
    flags = {p.name: max(p.opts, key=len) for p in parameters} | {"files": "FILE"}
    values = dict.fromkeys(flags)
    for name, option in declared.items():
        for other, word in map(parts, option.excludes):
            if other in flags:
                both = {name: "1", other: word}
                with pytest.raises(InputError) as error:
                    check_together({name: option}, values | both, both)
                message = str(_by_flag(error.value, parameters))
                assert message.startswith(f"{flags[name]}: cannot be combined with {flags[other]}")
                check_together({name: option}, values | {name: "1"}, {name}, given=())
        wanted = [part for part in map(parts, option.needs) if part[0] in flags]
        if wanted:
            with pytest.raises(InputError, match=f"^{name}: has no effect without {wanted[0][0]}="):
                check_together({name: option}, values | {name: "1"}, {name})
        for other, word in wanted:
            both = {name: "1", other: word}
            check_together({name: option}, values | both, {name})


def test_an_option_that_equals_its_default_is_not_refused_but_needs_what_it_needs():
    declared = {"by": Option(excludes=("runs",)), "plot": Option(needs=("figure",))}
    values = {"by": "item", "runs": ["A"], "plot": "usual", "figure": None}
    check_together(declared, values, changed={"runs"}, given={"by", "runs"})
    with pytest.raises(InputError, match="plot: has no effect without figure=; expected both"):
        check_together(declared, values, changed={"runs"}, given={"runs", "plot"})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare g a b --compact --all-pairs", "--compact: cannot be combined with --all-pairs"),
        ("compare g a b --probabilities --digits 0", "--digits: cannot be combined with --prob"),
        ("compare --dataset n g a b --runs A=a", "--runs: cannot be combined with --dataset"),
        ("compare g --datasets x.toml", "--datasets: cannot be combined with FILE"),
        ("compare --gold g --dataset n g a b", "--gold: cannot be combined with --dataset"),
        ("rank g --runs A=a --names A,B", "--names: cannot be combined with --runs"),
        ("score g a --on-missing drop", "--on-missing: has no effect without --key"),
        ("score g a --beta 1", "--beta: has no effect without --metric fbeta or --probabilities"),
        ("plan g a b --beta 1", "--beta: has no effect without --metric fbeta; expected both"),
        ("score g a --format conlleval --html x.html", "--html: cannot be combined with --format"),
        ("score g a --probabilities -f conlleval", "--probabilities: cannot be combined with"),
        ("compare g a b --key k --align position", "--align: cannot be combined with --key"),
        ("estimate d g --confidence 0.9", "--confidence: has no effect without --fail-if-worse or"),
    ],
)
def test_refusals_name_the_flags(refused, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    for name in "gab":
        (tmp_path / name).write_text(TAGS)
    assert refused(*words.split()).startswith(f"probative: {message}")
