"""The app in a real browser: drop files, mend a mismatch, read the verdict, copy, cancel."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from axe import axe_core
from reporting.browser import NEEDS_BROWSER, Browser

from app.small import GOLD, NEW, OLD, TYPO
from app.test_flows import run_in_shell

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def browser():
    with Browser() as window:
        yield window


@pytest.fixture(scope="module")
def address():
    for name in ("starlette", "uvicorn", "python_multipart"):
        pytest.importorskip(name, reason="the extra app is not installed here")
    process = subprocess.Popen(
        [sys.executable, "-m", "probative", "app", "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process.stderr.readline().strip()
    process.terminate()
    process.communicate(timeout=30)


def eventually(browser, expression):
    """Wait until an expression holds, through pages that follow each other."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if browser.ask(f"document.readyState === 'complete' && !!({expression})"):
            return
        time.sleep(0.1)
    raise AssertionError(f"{expression}\n{browser.ask('document.body.innerText')}")


def drop(browser, place, *files):
    """Drop files on a part of the page."""
    made = ", ".join(f"new File([{json.dumps(text)}], {json.dumps(name)})" for name, text in files)
    browser.ask(
        f"(place => {{ const t = new DataTransfer(); [{made}].forEach(f => t.items.add(f));"
        " place.dispatchEvent(new DragEvent('drop', {dataTransfer: t, bubbles: true,"
        " cancelable: true})) })"
        f"(document.querySelector('input[name={place}]').closest('.drop'))"
    )


def click(browser, words):
    browser.ask(
        "[...document.querySelectorAll('button, a')]"
        f".find(b => b.textContent === {json.dumps(words)}).click()"
    )


def has(words):
    return f"document.body.innerText.includes({json.dumps(words)})"


def start(browser, address, *outputs, width=1200, dark=False):
    browser.open(address, width=width, dark=dark)
    drop(browser, "gold", GOLD[1:])
    eventually(browser, has("Remove") + " && " + has("scheme: iob2"))
    drop(browser, "outputs", *(output[1:] for output in outputs))
    eventually(browser, f"document.querySelectorAll('.file').length === {1 + len(outputs)}")
    eventually(browser, "!document.querySelector('[data-checking]')")


def line(browser):
    return browser.ask("document.getElementById('line').value")


def test_drop_gold_and_two_outputs_and_get_the_verdict(browser, address, tmp_path):
    browser.logged()
    start(browser, address, OLD, NEW)
    eventually(browser, "document.body.innerText.split('It matches gold.').length === 3")
    click(browser, "Compare")
    eventually(browser, "document.querySelector('.bar') && document.querySelector('.headline')")
    assert "not established" in browser.ask("document.querySelector('main').textContent")
    assert "new" in browser.ask("document.querySelector('.headline').textContent")
    # the dots of tables stand where the policy lets styles put them
    left = browser.ask("getComputedStyle(document.querySelector('.iv b')).left")
    assert left not in ("0px", "auto")
    messages, asked = browser.logged()
    assert messages == []
    assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {
        address.split("/")[2]
    }
    shown = browser.ask("document.querySelector('.headline').textContent")
    browser.ask("location.reload()")
    eventually(browser, "document.querySelector('.bar')")
    assert browser.ask("document.querySelector('.headline').textContent") == shown
    browser.command(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    click(browser, "Copy command")
    eventually(browser, has("Copied."))
    given = browser.ask(
        "(() => { const r = new XMLHttpRequest(); r.open('GET', 'result.json', false); r.send();"
        " return r.responseText })()"
    )
    assert run_in_shell(line(browser), tmp_path, GOLD, OLD, NEW) == json.loads(given)


def test_a_mismatch_is_mended_by_its_button(browser, address):
    start(browser, address, OLD, TYPO)
    assert browser.ask(has("gold has 'London'"))
    click(browser, "Align by position")
    eventually(browser, "document.body.innerText.split('It matches gold.').length === 3")
    click(browser, "Compare")
    eventually(browser, "document.querySelector('.bar')")
    assert "--align position" in line(browser)


def test_a_wrong_file_shows_what_is_wrong(browser, address):
    start(browser, address, ("outputs", "wrong.conll", "\x00\x01binary"))
    assert browser.ask("document.querySelectorAll('.problem').length") >= 1
    assert browser.ask("document.querySelector('.run') !== null")


def test_ten_files_are_ranked_on_a_phone_at_night(browser, address):
    lines = NEW[2].splitlines(keepends=True)
    systems = []
    for k in range(10):
        text = "".join("O".join(r.rsplit("B-PER", 1)) if i == k else r for i, r in enumerate(lines))
        systems.append(("outputs", f"system{k}.conll", text))
    start(browser, address, *systems, width=400, dark=True)
    assert browser.ask("document.documentElement.scrollWidth") <= 400
    click(browser, "Rank")
    eventually(browser, "document.querySelector('.bar') && document.querySelector('.scripted')")
    assert browser.ask("document.documentElement.scrollWidth") <= 400
    assert browser.ask("document.querySelectorAll('#board tbody tr').length") == 10


def test_counts_follow_what_is_typed(browser, address):
    browser.open(f"{address}counts?tp=77&fp=44&fn=10", width=1200)
    eventually(browser, "document.querySelectorAll('main svg').length === 3")
    before = browser.ask("document.querySelector('main').textContent")
    browser.ask(
        "(f => { f.value = '40'; f.dispatchEvent(new Event('input', {bubbles: true})) })"
        "(document.querySelector('#counts [name=fp]'))"
    )
    eventually(browser, "document.getElementById('line').value.includes('--fp 40')")
    assert browser.ask("document.querySelector('main').textContent") != before
    assert browser.ask("document.querySelector('#counts [name=fp]').value") == "40"


def test_cancel_ends_a_long_run(browser, address):
    rows = "".join(f"w{i}\t{'B-PER' if i % 3 else 'O'}\n{'' if i % 4 else chr(10)}"
                   for i in range(120_000))  # fmt: skip
    gold = ("gold", "gold.conll", rows)
    browser.open(address, width=1200)
    drop(browser, "gold", gold[1:])
    eventually(browser, "document.querySelector('.found')")
    drop(browser, "outputs", *((f"s{k}.conll", rows.replace(f"{k}\tB-PER", f"{k}\tO"))
                               for k in range(9)))  # fmt: skip
    eventually(browser, "document.querySelectorAll('.file').length === 10")
    click(browser, "Rank")
    eventually(browser, "document.querySelector('#running') || document.querySelector('.bar')")
    assert browser.ask("document.querySelector('#running') !== null"), "too quick to be cancelled"
    click(browser, "Cancel")
    eventually(browser, has("Cancelled."))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(browser, address, dark):
    axe = axe_core()

    def violations():
        browser.command("Runtime.evaluate", expression=axe)
        found = browser.command("Runtime.evaluate", awaitPromise=True, returnByValue=True,
            expression="axe.run().then(r => r.violations.map(v => v.id + ' '"
            " + v.nodes.map(n => n.target).join(' ')))")  # fmt: skip
        return found["result"]["value"]

    browser.open(address, width=1200, dark=dark)
    assert violations() == []
    start(browser, address, OLD, TYPO, dark=dark)
    browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert violations() == []
    click(browser, "Align by position")
    eventually(browser, "document.body.innerText.split('It matches gold.').length === 3")
    click(browser, "Compare")
    eventually(browser, "document.querySelector('.bar')")
    assert violations() == []
    browser.open(f"{address}counts?tp=77&fp=44&fn=10", width=1200, dark=dark)
    assert violations() == []
