"""Help: what most people need first, everything on request, no description cut."""

from __future__ import annotations

import re

import pytest

from probative.cli.app import COMMANDS, build_app
from probative_studies.commands import STUDIES

OPTION = re.compile(r"^  -", re.MULTILINE)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "study"])
def test_help_shows_at_most_25_options_and_help_all_the_rest(run, command):
    usual = run(command, "--help").out
    assert len(OPTION.findall(usual)) <= 25
    hidden = re.search(r"(\d+) more options: probative (\w+) --help-all", usual)
    if hidden is None:
        assert "--help-all" not in usual
        return
    assert hidden[2] == command
    everything = run(command, "--help-all").out
    assert len(OPTION.findall(everything)) == len(OPTION.findall(usual)) + int(hidden[1])


def test_options_stand_under_what_they_are_for(run):
    shown = run("compare", "--help").out
    places = [shown.index(f"\n{heading}:") for heading in ("Input", "What to compute", "Gates")]
    assert places == sorted(places)
    assert shown.index("--require-better") > places[-1]
    assert shown.index("\nOutput:") < shown.index("\n  --html")


def test_no_description_of_a_command_is_cut(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for words, names in ((("--help",), COMMANDS), (("study", "--help"), STUDIES)):
        shown = run(*words).out
        assert "..." not in shown.partition("Commands:")[2]
        assert all(f"\n  {name} " in shown for name in names)
        assert max(map(len, shown.splitlines())) <= 80


def test_the_list_has_the_first_sentence_of_every_command():
    app = build_app()
    for name, sentence in COMMANDS.items():
        words = app.get_command(None, name).help.split("\n\n")[0]
        assert " ".join(words.split()) == sentence
