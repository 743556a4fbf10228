"""Completion in the shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import click
import pytest

from probative.cli.app import COMMANDS, build_app
from probative.cli.completion import SHELLS, words_among
from probative.metrics import METRICS
from probative.options import Option

posix = pytest.mark.skipif(sys.platform == "win32", reason="these shells are not there")


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home of ann's"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))  # what Windows calls it
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/bin/bash")
    return folder


@pytest.fixture
def ask(run, monkeypatch):
    """What a shell is told when the Tab key is pressed after these words."""

    def offered(*words):
        monkeypatch.setenv("_PROBATIVE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(("probative", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        answer = run()
        monkeypatch.delenv("_PROBATIVE_COMPLETE")
        assert answer.status == 0
        assert answer.err == ""
        return [line.partition(",")[2] if line.startswith("plain,") else line
                for line in answer.out.split()]  # fmt: skip

    return offered


def test_commands_options_and_words_are_completed(ask):
    assert ask("") == list(COMMANDS)
    assert ask("co") == ["compare"]
    assert "ranks" in ask("study", "ra")
    assert ask("compare", "--fail") == ["--fail-if-worse"]
    assert ask("compare", "--metric", "") == list(METRICS)
    assert ask("compare", "--metric", "f1,pr") == ["f1,precision"]
    assert "f1,f1" not in ask("compare", "--metric", "f1,")
    assert ask("score", "--format", "c") == ["csv", "conlleval"]
    assert ask("compare", "--format", "c") == ["csv"]
    assert ask("score", "--scheme", "io") == ["iob2", "iob1", "ioe2", "ioe1", "iobes", "io"]
    assert ask("study", "bayes", "--task", "") == ["cws", "ner", "org"]
    assert ask("score", "--task", "seg") == ["segmentation"]
    assert ask("rank", "--match", "p") == ["partial"]
    assert ask("--ver") == ["--version"]
    assert ask("score", "--level", "") == []
    assert ask("nothing", "") == list(COMMANDS)  # Click goes on from what it understands


def test_files_and_folders_are_left_to_the_shell(ask):
    assert ask("compare", "go") == ["file,go"]
    assert ask("compare", "gold.conll", "") == ["file,"]
    assert ask("compare", "gold.conll", "--html", "re") == ["file,re"]
    assert ask("board", "gold.conll", "sub") == ["dir,sub"]
    assert ask("board", "-o", "si") == ["dir,si"]
    assert ask("check", "") == ["file,"]


def commands(group=None, path=()):
    group = group or build_app()
    context = click.Context(group, info_name="probative")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_list_of_words_that_is_declared_exists():
    named = {o.among for _, command in commands() for o in command.declared.values() if o.among}
    assert len(named) > 15
    for among in named:
        assert words_among(Option(among=among)), among


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_shown_and_nothing_is_changed(run, home, shell):
    shown = run("--show-completion", shell)
    assert shown.status == 0
    assert f"_PROBATIVE_COMPLETE={shell}_complete" in shown.out
    assert not list(home.iterdir())


def test_the_shell_of_the_user_is_taken_where_none_is_named(run, refused, home, monkeypatch):
    assert "bash_complete" in run("--show-completion").out
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "fish_complete" in run("--show-completion").out
    for unknown in ("/bin/tcsh", ""):
        monkeypatch.setenv("SHELL", unknown)
        assert "expected one of bash, zsh, fish" in refused("--install-completion")
    assert "'bsh'; expected one of bash, zsh, fish; did you mean 'bash'?" in refused(
        "--install-completion", "bsh"
    )
    assert not list(home.iterdir())


@posix
@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("before", [None, b"", b"alias x=y\n", b"no end", b"caf\xe9 \xff\n"])
def test_installing_adds_one_line_once(run, home, shell, before):
    start = home / f".{shell}rc"
    if before is not None:
        start.write_bytes(before)
        start.chmod(0o600)
    told = run("--install-completion", shell)
    assert told.status == 0
    assert f"added to {start}" in told.out
    content = start.read_bytes()
    assert content.startswith(before or b"")
    added = content[len(before or b"") :].strip().splitlines()
    assert len(added) == 1
    assert b"source '" in added[0]
    again = run("--install-completion", shell)
    assert "loads it already" in again.out
    assert start.read_bytes() == content
    if before is not None:
        assert start.stat().st_mode & 0o777 == 0o600


@posix
def test_a_start_up_file_that_is_a_link_stays_one(run, home):
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "bashrc"
    real.write_text("x=1\n")
    (home / ".bashrc").symlink_to(real)
    assert run("--install-completion", "bash").status == 0
    assert (home / ".bashrc").is_symlink()
    assert real.read_text().startswith("x=1\nsource ")


@posix
def test_what_cannot_be_written_is_said(refused, home):
    (home / ".config").write_text("a file")
    assert "cannot be made" in refused("--install-completion", "bash")
    assert not (home / ".bashrc").exists()


def test_fish_needs_no_line(run, home):
    told = run("--install-completion", "fish")
    assert told.status == 0
    assert (home / ".config/fish/completions/probative.fish").is_file()
    assert sorted(path.name for path in home.iterdir()) == [".config"]


IN_BASH = (
    'source "$HOME/.bashrc"; COMP_WORDS=(probative compare --metric f1,pr); COMP_CWORD=3; '
    'compopt() { :; }; _probative_completion probative; echo "${COMPREPLY[@]}"'
)
ASKED = {  # how each shell is asked without a keyboard, and what it must say
    "bash": (IN_BASH, "f1,precision"),
    "fish": ("complete -C 'probative compare --metric pr'", "precision"),
    "zsh": ('source "$HOME/.zshrc"; echo "$_comps[probative]"', "_probative_completion"),
}


@posix
@pytest.mark.parametrize("shell", ASKED)
def test_a_real_shell_completes(run, home, tmp_path, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not here")
    run("--install-completion", shell)
    command = tmp_path / "bin" / "probative"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m probative "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    line, expected = ASKED[shell]
    done = subprocess.run(
        [program, "-c", line],
        env={**os.environ, "PATH": path, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert expected in done.stdout, done.stderr
