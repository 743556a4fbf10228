"""From files to the page of the command, without script."""

from __future__ import annotations

import html
import json
import math
import re
import shlex
import subprocess
import sys

import pytest
from conftest import ROOT

from app.small import GOLD, NEW, OLD, TYPO, uploads


def press(client, page, button, **more):
    """Submit the form of a desk with a button."""
    answer = client.post(str(page.url), data={"do": button, **more})
    assert answer.status_code == 200, answer.text
    return answer


def buttons(page):
    found = re.findall(r'<button name="do" value="([^"]*)"', page.text)
    return {html.unescape(value) for value in found}


def line_of(page):
    return html.unescape(re.search(r'id="line" readonly value="([^"]*)"', page.text)[1])


def finished(client, page):
    """The page of the result, when it has ended."""
    for _ in range(60):
        if "<h1>Running" not in page.text:
            return page
        page = client.get(str(page.url))
    raise AssertionError("it does not end")


def settled(client, page):
    """A desk whose files are checked."""
    for _ in range(60):
        if "data-checking" not in page.text:
            return page
        page = client.get(str(page.url))
    raise AssertionError("checks do not end")


def desk_of(app, client, *files):
    page = client.post(f"{app.base}/new", files=uploads(*files))
    assert page.status_code == 200, page.text
    return settled(client, page)


def run_in_shell(line, folder, *files):
    """What the copied line prints where the files are."""
    for _, name, content in files:
        (folder / name).write_text(content)
    _, *words = shlex.split(line)
    command = [sys.executable, "-m", "probative", *words, "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_each_file_shows_what_it_was_recognised_as_and_why(app, client):
    page = desk_of(app, client, GOLD, OLD)
    assert "entities, columns, because column 2 holds tags such as &#39;B-PER&#39;" in page.text
    assert "scheme: iob2" in page.text
    assert "It matches gold." in page.text
    assert ">Score</button>" in page.text


@pytest.mark.parametrize(
    ("files", "command"),
    [((GOLD, OLD), "score"), ((GOLD, OLD, NEW), "compare"),
     ((GOLD, OLD, NEW, ("outputs", "third.conll", GOLD[2])), "rank")],
)  # fmt: skip
def test_the_number_of_outputs_chooses_the_command_and_the_copied_line_gives_the_same(
    app, client, tmp_path, files, command
):
    page = finished(client, press(client, desk_of(app, client, *files), "run"))
    line = line_of(page)
    assert line.startswith(f"probative {command} gold.conll old.conll")
    given = client.get(f"{page.url}result.json")
    assert "attachment" in given.headers["content-disposition"]
    assert given.json()["command"] == command
    folder = tmp_path / "shell"
    folder.mkdir()
    assert run_in_shell(line, folder, *files) == given.json()


def test_the_result_is_the_page_of_the_command_and_its_tables(app, client):
    page = finished(client, press(client, desk_of(app, client, GOLD, OLD, NEW), "run"))
    saved = client.get(f"{page.url}page.html").text
    main = saved[saved.index("<main") :]
    assert main in page.text
    assert "app.js" in page.text
    assert "app.js" not in saved
    assert r"\begin{tabular}" in client.get(f"{page.url}table.tex").text
    assert client.get(f"{page.url}table.md").text.count("|") > 20
    assert client.get(f"{page.url}table.csv").text.count("\n") > 1
    assert client.get(f"{page.url}answer.json").status_code == 404


def test_a_mismatch_is_mended_by_its_button(app, client):
    page = desk_of(app, client, GOLD, OLD, TYPO)
    assert "token &#39;Londn&#39;, gold has &#39;London&#39;" in page.text
    remedy = "set:align_by=position"
    assert remedy in buttons(page)
    assert ">Align by position</button>" in page.text
    page = settled(client, press(client, page, remedy))
    assert remedy not in buttons(page)
    assert page.text.count("It matches gold.") == 2
    page = finished(client, press(client, page, "run"))
    assert line_of(page).endswith("old.conll typo.conll --align position --format json")


def test_a_run_that_fails_shows_the_error_and_the_choice_of_columns(app, client):
    rows = "".join(f"{i},{'yn'[i % 3 == 0]},{'yn'[i % 2]},{'yn'[i % 5 == 0]}\n" for i in range(30))
    page = desk_of(app, client, ("gold", "all.csv", f"id,truth,one,two\n{rows}"))
    page = finished(client, press(client, page, "run"))
    assert "which column holds the labels?" in page.text
    assert 'name="fix-run-gold_column"' in page.text
    chosen = {"fix-run-gold_column": "truth", "fix-run-columns": ["one", "two"]}
    page = settled(client, press(client, page, "fix:run", **chosen))
    assert ">Compare</button>" in page.text
    page = finished(client, press(client, page, "run"))
    assert "--gold-column truth --columns one,two" in line_of(page)


def test_which_score_of_a_log_and_which_label_is_yes_are_choices():
    import click

    from probative.cli.app import build_app
    from probative_app.commands import _remedies

    command = build_app().get_command(click.Context(click.Command("x")), "score")
    errors = {
        "a.jsonl: which score? There are 'acc', 'f1'; expected one of them to be named "
        "(--score-name)": ("score_name", "", ["acc", "f1"]),
        "--threshold: which of 'no', 'yes' is the positive class? expected --positive": (
            "positive", "", ["no", "yes"]),
        "p: probabilities are no labels; expected --threshold 0.5, or more": (
            "threshold", "0.5", []),
        "b.csv: expected them in the order of gold, or --key id, which joins them": (
            "key", "id", []),
    }  # fmt: skip
    for error, (option, value, names) in errors.items():
        found = {r["option"]: (r["value"], r["names"]) for r in _remedies(error, command)}
        assert found[option] == (value, names), error


def test_probabilities_get_a_threshold_by_a_button(app, client):
    gold = "\n".join("yes" if i % 3 else "no" for i in range(30))
    scores = "\n".join(str(i / 30) for i in range(30))
    page = desk_of(app, client, ("gold", "gold.txt", gold), ("outputs", "p.txt", scores))
    assert "set:threshold=0.5" in buttons(page)
    page = settled(client, press(client, page, "set:threshold=0.5"))
    assert "It matches gold." in page.text


def test_systems_are_renamed_and_the_baseline_is_marked(app, client):
    page = desk_of(app, client, GOLD, OLD, NEW)
    first, second = re.findall(r'name="name-(\d+)"', page.text)
    names = {f"name-{first}": "my old, one=1", f"name-{second}": "new"}
    page = press(client, page, "run", baseline=second, **names)
    page = finished(client, page)
    assert "new.conll 'my old one 1=old.conll'" in line_of(page)
    assert [one["name"] for one in client.get(f"{page.url}result.json").json()["systems"]] == [
        "new",
        "my old one 1",
    ]


def test_metric_unit_and_level_reach_the_command(app, client):
    page = desk_of(app, client, GOLD, OLD, NEW)
    chosen = {"job": "", "opt-metric": "recall", "opt-by": "item", "opt-level": "0.9"}
    page = finished(client, press(client, page, "run", **chosen))
    words = line_of(page)
    assert "--metric recall" in words
    assert "--by item" in words
    assert "--level 0.9" in words
    back = client.get(re.search(r'href="([^"]*)">Back to the files', page.text)[1])
    assert 'value="recall" selected' in back.text


def test_a_wrong_choice_is_an_error_on_the_desk(app, client):
    page = desk_of(app, client, GOLD, OLD)
    page = press(client, page, "run", job="", **{"opt-level": "--html=/tmp/x"})
    page = finished(client, page)
    assert "is not a number" in page.text
    assert page.url.path.count("/") == 4  # the desk, not a result


def test_plan_and_gold_exchanged_and_removed(app, client):
    page = desk_of(app, client, GOLD, OLD, NEW)
    result = press(client, page, "run", job="plan", **{"opt-difference": "0.1"})
    result = finished(client, result)
    assert line_of(result).startswith("probative plan gold.conll old.conll new.conll")
    number = re.search(r'value="gold:(\d+)"', page.text)[1]
    page = settled(client, press(client, page, f"gold:{number}"))
    assert 'aria-label="Remove old.conll"' in page.text.partition("outputs-head")[0]
    number = re.search(r'value="remove:(\d+)"', page.text)[1]
    page = press(client, page, f"remove:{number}")
    assert ">old.conll" not in page.text


def test_the_demo_takes_one_click(app, client):
    page = finished(client, client.post(f"{app.base}/demo"))
    assert "probative compare gold.conll old.conll new.conll" in line_of(page)
    assert 'class="headline' in page.text


def test_counts_typed_by_hand_have_intervals_and_posteriors(app, client):
    page = client.get(f"{app.base}/counts?tp=77&fp=44&fn=10")
    assert line_of(page) == "probative interval --tp 77 --fp 44 --fn 10 --format json"
    share, n, z = 77 / 121, 121, 1.959964  # Wilson's interval of precision
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = (share + z**2 / (2 * n) - half) / (1 + z**2 / n)
    assert f"[{100 * low:.1f}, " in page.text
    assert page.text.count("<svg") == 3
    assert not list(app.folder.glob("counts-*"))
    assert "is not a number" in client.get(f"{app.base}/counts?tp=x&fp=1&fn=1").text
    assert client.get(f"{app.base}/counts").status_code == 200


def test_logs_need_no_gold(app, client):
    logs = ROOT / "tests" / "data" / "logs"
    names = ("samples_sums_old.jsonl", "samples_sums_new.jsonl")
    page = desk_of(app, client, *(("outputs", name, (logs / name).read_text()) for name in names))
    page = finished(client, press(client, page, "run"))
    assert line_of(page) == f"probative compare {' '.join(names)} --format json"


def test_a_result_can_be_reloaded_and_two_pages_do_not_meet(app, client):
    one = finished(client, press(client, desk_of(app, client, GOLD, OLD, NEW), "run"))
    other = desk_of(app, client, GOLD, NEW)
    assert client.get(str(one.url)).text == one.text
    assert ">old.conll" not in other.text


def test_without_the_extra_one_line_says_how_to_install_it(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "probative_app.server", None)
    monkeypatch.delitem(sys.modules, "probative_app.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refused("app", "--no-browser") == (
        "probative: app: uvicorn is not installed; expected pip install 'probative[app]'"
    )
    assert refused("app", "--max-size", "0").startswith("probative: --max-size: 0; expected")
