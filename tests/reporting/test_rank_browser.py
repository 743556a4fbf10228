"""The page of a leaderboard in a real browser: sort, filter, labels, pairs by mouse and by key."""

from __future__ import annotations

import pytest

import probative as pv
from probative.reporting.rank_report import PairCommand, rank_document
from probative.reporting.render import as_html
from reporting.browser import NEEDS_BROWSER
from reporting.test_rank_page import embedded, made_up, systems

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    gold, given = systems(6)
    long = {f"{name} " + "long" * (20 * k): side for k, (name, side) in enumerate(given.items())}
    found = {
        "two": pv.rank(gold, dict(list(given.items())[:2]), n_jobs=1),
        "six": pv.rank(gold, given, n_jobs=1),
        "long": pv.rank(gold, long, n_jobs=1),
        "forty": made_up(40),
        "many": made_up(200),
    }
    paths = {}
    for name, ranking in found.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(ranking.to_html(), encoding="utf-8")
    full = pv.rank(gold, dict(list(given.items())[:4]), n_jobs=1, comparisons=5)
    words = {system.name: (f"'p {k}'",) for k, system in enumerate(full.ranking)}
    command = PairCommand(("probative compare gold.conll ", " ", " --html pair.html"), words)
    paths["full"] = folder / "full.html"
    paths["full"].write_text(as_html(rank_document(full, command)), encoding="utf-8")
    return paths


def names(browser):
    """The systems that the leaderboard shows, from the top."""
    return browser.ask(
        "[...document.querySelectorAll('#board tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.cells[0].textContent)"
    )


def cells(browser, column):
    return browser.ask(
        "[...document.querySelectorAll('#board tbody tr')].filter(r => !r.hidden)"
        f".map(r => r.cells[{column}].textContent)"
    )


def choose(browser, control, value):
    kind = "input" if control == "filter" else "change"
    browser.ask(
        f"(c => {{ c.value = '{value}'; c.dispatchEvent(new Event('{kind}')) }})"
        f"(document.getElementById('{control}'))"
    )


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        browser.command("Input.dispatchKeyEvent", type=kind, key=key)


def click(browser, x, y):
    for kind in ("mousePressed", "mouseReleased"):
        browser.command(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
        )


def square(browser, row, column, number):
    """The middle of a square of the matrix, in the window; it is scrolled into view."""
    browser.ask("document.getElementById('matrix').scrollIntoView({block: 'center'})")
    left, top, height = browser.ask(
        "(r => [r.left, r.top, r.height])"
        "(document.getElementById('matrix').getBoundingClientRect())"
    )
    # names stand left of the squares and above them, as wide as the longest one is
    names_end = browser.ask(
        "(c => { const p = c.getContext('2d'); p.font = '12px system-ui, sans-serif';"
        " const data = JSON.parse(document.getElementById('data').textContent);"
        " return Math.min(0.3 * c.clientWidth, 4 + Math.max(...data.names.map("
        "n => p.measureText(n).width))) + 6 })(document.getElementById('matrix'))"
    )
    size = (height - names_end - 2) / number
    return left + names_end + (column + 0.5) * size, top + names_end + (row + 0.5) * size


@pytest.mark.parametrize("name", ["two", "six", "full", "long", "forty", "many"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_nothing_overflows_complains_or_calls_out(browser, pages, name, width, dark):
    browser.logged()
    browser.open(pages[name], width=width, dark=dark)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    choose(browser, "other", 1)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    cut = browser.ask(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.getAttribute('aria-label') || e.textContent)"
    )
    assert cut == []
    messages, asked = browser.logged()
    assert messages == []
    assert asked == [pages[name].as_uri()]


def test_every_column_sorts_both_ways(browser, pages):
    browser.open(pages["six"], width=1300)
    start = names(browser)
    for k in range(5):
        found = []
        for _ in range(2):
            browser.ask(f"document.querySelectorAll('#board th button')[{k}].click()")
            found.append(
                browser.ask(
                    "[...document.querySelectorAll('#board tbody tr')].map(r => "
                    f"r.cells[{k and k + 1}].dataset.value)"
                )
            )
            aria = browser.ask("document.querySelectorAll('#board [aria-sort]').length")
            assert aria == 1
        keys = [[float(v) if k not in (0, 3) else v for v in values] for values in found]
        rising = [values == sorted(values) for values in keys]
        falling = [values == sorted(values, reverse=True) for values in keys]
        assert any(rising)
        assert any(falling)
    choose(browser, "sort", "")
    assert names(browser) == start
    choose(browser, "sort", "0")
    assert names(browser) == sorted(start)


def test_systems_are_filtered_and_counted(browser, pages):
    browser.open(pages["many"], width=1300)
    choose(browser, "filter", "-19")
    assert sorted(names(browser)) == [f"system-{k}" for k in range(190, 200)]
    assert browser.ask("document.getElementById('shown').textContent") == "10 of 200 systems."
    choose(browser, "filter", "")
    assert len(names(browser)) == 200
    assert browser.ask("document.getElementById('shown').textContent") == ""


def test_labels_change_the_scores_and_come_back(browser, pages):
    browser.open(pages["six"], width=1300)
    data = embedded(pages["six"].read_text(encoding="utf-8"))
    before = cells(browser, 2), names(browser)
    choose(browser, "label", "1")
    shown = dict(zip(names(browser), cells(browser, 2), strict=True))
    for i, name in enumerate(data["names"]):
        assert shown[name].split()[0] == f"{100 * data['byLabel'][i]['1'][0]:.1f}"
    assert data["labels"][1] in browser.ask("document.getElementById('shown').textContent")
    choose(browser, "sort", "1")
    scores = [float(cell.split()[0]) for cell in cells(browser, 2)]
    assert scores == sorted(scores, reverse=True)
    choose(browser, "label", "")
    choose(browser, "sort", "")
    assert (cells(browser, 2), names(browser)) == before


def test_a_click_opens_the_pair(browser, pages):
    browser.open(pages["six"], width=1300)
    data = embedded(pages["six"].read_text(encoding="utf-8"))
    click(browser, *square(browser, 1, 4, 6))
    text = browser.ask("document.getElementById('details').innerText")
    assert f"{data['names'][1]} against {data['names'][4]}" in text
    k = 1 * 6 - 1 + 4 - 1 - 1
    assert f"+{100 * data['pairs']['d'][k]:.1f}" in text
    for label in data["labels"]:
        assert label in text
    chance = data["pairs"]["better"][k]
    told = "> 0.999" if chance >= 0.9995 else f"{chance:.3f}"
    assert f"P({data['names'][1]} better)\n{told}" in text
    click(browser, *square(browser, 4, 1, 6))  # the other way round
    text = browser.ask("document.getElementById('details').innerText")
    assert f"{data['names'][4]} against {data['names'][1]}" in text
    assert f"−{100 * data['pairs']['d'][k]:.1f}" in text


def test_hovering_tells_the_pair(browser, pages):
    browser.open(pages["six"], width=1300)
    data = embedded(pages["six"].read_text(encoding="utf-8"))
    x, y = square(browser, 0, 5, 6)
    browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    told = browser.ask("document.getElementById('hover').textContent")
    assert told.startswith(f"{data['names'][0]} − {data['names'][5]}: +")
    assert f"{100 * data['pairs']['d'][4]:.1f} points" in told
    decided = "is better than" if data["pairs"]["decided"][4] else "are not told apart"
    assert decided in told


def test_equal_scores_favour_nobody(browser, tmp_path):
    gold = [["B-P", "O"], ["O", "B-L"]] * 5
    swapped = [["O", "O"], ["O", "B-L"], *gold[2:]]  # as good as the next one, on other sentences
    other = [*gold[:1], ["O", "O"], *gold[2:]]
    found = pv.rank(gold, {"one": swapped, "copy": swapped, "other": other}, n_jobs=1)
    page = tmp_path / "equal.html"
    page.write_text(found.to_html(), encoding="utf-8")
    browser.open(page, width=1300)
    places = [square(browser, *place, 3) for place in ((0, 1), (0, 2), (2, 0))]
    seen = browser.ask(
        "(places => { const c = document.getElementById('matrix'), b = c.getBoundingClientRect();"
        " const { data, width } = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        " return places.map(([x, y]) => { const k = 4 * (Math.round(y - b.top) * width"
        " + Math.round(x - b.left)); return [...data.slice(k, k + 4)] }) })"
        f"({[list(place) for place in places]})"
    )
    for red, green, blue, cover in seen:  # of ink, which is no colour, and more than the ground
        assert max(red, green, blue) - min(red, green, blue) < 30
        assert cover > 120


def test_the_keyboard_alone_opens_a_pair(browser, pages):
    browser.open(pages["six"], width=1300)
    data = embedded(pages["six"].read_text(encoding="utf-8"))
    browser.ask("document.getElementById('matrix').focus()")
    press(browser, "ArrowDown")
    press(browser, "ArrowRight")
    press(browser, "ArrowRight")
    told = browser.ask("document.getElementById('hover').textContent")
    assert told.startswith(f"{data['names'][1]} − {data['names'][3]}")
    press(browser, "Enter")
    text = browser.ask("document.getElementById('details').innerText")
    assert f"{data['names'][1]} against {data['names'][3]}" in text
    assert browser.ask("document.activeElement.id") == "details"


def test_without_script_there_is_a_sorted_table_and_no_dead_control(browser, pages):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["many"], width=1300)
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.ask("document.querySelectorAll('#board tbody tr').length") == 200
    assert browser.ask("document.documentElement.classList.contains('scripted')") is False
    hidden = "[...document.querySelectorAll('.js')].every(e => e.offsetParent === null)"
    assert browser.ask(hidden)
    assert browser.ask("document.querySelectorAll('#board button').length") == 0


@pytest.mark.parametrize("name", ["six", "full", "many"])
def test_on_paper_it_is_black_on_white_also_at_night(browser, pages, name):
    browser.open(pages[name], width=794, dark=True, media="print")
    assert browser.ask("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(browser.command("Page.printToPDF")["data"]) > 10_000
    assert browser.logged()[0] == []


def opened(browser):
    """The pairs in full that are open, and those that can be seen."""
    return browser.ask(
        "[e => e.open, e => !e.hidden].map(is => "
        "[...document.querySelectorAll('.full')].filter(is).map(e => e.id))"
    )


def test_a_click_opens_the_pair_in_full(browser, pages):
    browser.open(pages["full"], width=1300)
    assert opened(browser) == [[], ["pair-0-1", "pair-0-2", "pair-0-3", "pair-1-2", "pair-2-3"]]
    click(browser, *square(browser, 2, 1, 4))
    assert opened(browser) == [["pair-1-2"], ["pair-1-2"]]
    browser.ask("document.querySelector('#details a').click()")
    top = browser.ask("document.getElementById('pair-1-2').getBoundingClientRect().top")
    assert -5 <= top < 900
    text = browser.ask("document.getElementById('pair-1-2').innerText")
    for heading in ("Scores in points", "By label", "Confusions", "Where they differ most"):
        assert heading in text
    assert browser.ask("document.querySelectorAll('#pair-1-2 svg').length") == 4
    click(browser, *square(browser, 0, 3, 4))
    assert opened(browser) == [["pair-0-3"], ["pair-0-3"]]
    browser.ask("document.getElementById('list').click()")
    assert opened(browser) == [[], ["pair-0-1", "pair-0-2", "pair-0-3", "pair-1-2", "pair-2-3"]]
    assert browser.ask("document.activeElement.parentNode.id") == "pair-0-1"


def test_keys_alone_open_the_pair_in_full(browser, pages):
    browser.open(pages["full"], width=1300)
    browser.ask("document.getElementById('matrix').focus()")
    press(browser, "Enter")
    assert opened(browser)[0] == ["pair-0-1"]
    browser.command("Input.dispatchKeyEvent", type="keyDown", key="Tab", windowsVirtualKeyCode=9)
    assert browser.ask("document.activeElement.textContent") == "The comparison of the two in full"


def test_a_pair_that_is_not_there_in_full_shows_its_command(browser, pages):
    browser.open(pages["full"], width=1300)
    click(browser, *square(browser, 1, 3, 4))
    assert opened(browser)[0] == []
    assert browser.ask("document.querySelector('#details code').textContent") == (
        "probative compare gold.conll 'p 3' 'p 1' --html pair.html"
    )


def test_without_script_a_pair_unfolds(browser, pages):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["full"], width=400)
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert opened(browser)[1] == ["pair-0-1", "pair-0-2", "pair-0-3", "pair-1-2", "pair-2-3"]
    browser.ask("document.querySelector('#pair-0-2 summary').click()")
    assert opened(browser)[0] == ["pair-0-2"]
    assert browser.ask("document.querySelector('#pair-0-2 table').offsetHeight") > 0
    assert browser.ask("document.getElementById('list').offsetParent === null")
