"""Requests and files that mean harm: refused with the right status, and nothing is left behind."""

from __future__ import annotations

import gzip
import os
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.conftest import HOST, PORT
from app.small import GOLD, OLD, uploads
from app.test_flows import desk_of, finished, press, settled
from probative_app.desk import safe_name

SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")


@pytest.mark.parametrize("path", ["/", "/x/", "/desk/1/", "/app.js", "//", "/favicon.ico"])
def test_without_the_token_nothing_is_shown(client, path):
    answer = client.get(path)
    assert answer.status_code == 403
    assert answer.text.count("\n") == 1


def test_half_a_token_is_no_token(app, client):
    for path in (app.base[:-1], f"{app.base}x", f"/x{app.base}", app.base.upper()):
        assert client.get(f"{path}/").status_code in (403, 404)
    assert client.get(f"{app.base}/").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}", ""],
)
def test_another_host_is_refused_even_with_the_token(app, client, host):
    assert client.get(f"{app.base}/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{HOST}"},
        {"Origin": f"http://{HOST}.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_page_cannot_post(app, client, headers):
    assert client.post(f"{app.base}/demo", headers=headers).status_code == 403
    assert not app.desks


def test_our_own_page_can(app, client):
    headers = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
    answer = client.post(f"{app.base}/demo", headers=headers, follow_redirects=False)
    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get(f"{app.base}/", headers=followed).status_code == 200
    assert client.post(f"{app.base}/demo", headers=followed).status_code == 403


def test_every_page_forbids_what_it_does_not_need(app, client):
    page = client.get(f"{app.base}/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert page.headers["cache-control"] == "no-store"
    assert "on" + "click" not in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text


def test_what_cannot_be_done_has_a_status(app, client):
    base = app.base
    assert client.get(f"{base}/new").status_code == 405
    assert client.get(f"{base}/desk/none/").status_code == 404
    assert client.get(f"{base}/app.py").status_code == 404
    assert client.put(f"{base}/").status_code == 405
    assert client.post(f"{base}/new", content=b"x", headers={
        "Content-Type": "multipart/form-data"}).status_code == 400  # fmt: skip
    page = desk_of(app, client, GOLD)
    for path in ("0/", "0/page.html", "99999999999/", "-1/", "0/..%2f..%2fx"):
        assert client.get(f"{page.url}{path}").status_code == 404, path


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/abs/gold.conll", "gold.conll"),
        ("..", "file"),
        ("", "file"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("a=b.txt", "a_b.txt"),
        ("*.conll", "conll"),
        ("a\0b\r\n\u202ec.txt", "abc.txt"),
        ("x" * 300 + ".conll", "x" * 100 + ".conll"),
        ("wörter 文.txt", "wörter_文.txt"),
    ],
)
def test_names_of_files_stay_in_their_folder(name, kept):
    assert safe_name(name) == kept


def test_paths_in_uploads_write_nowhere_else(app, client):
    page = desk_of(app, client, ("gold", "../../../gold.conll", GOLD[2]), OLD,
                   ("outputs", "..\\old.conll", OLD[2]))  # fmt: skip
    assert "<script" not in page.text.replace('<script src="', "")
    assert "old.conll is kept as old-2.conll, also in the command." in page.text
    found = sorted(path.name for path in app.folder.rglob("*.conll"))
    assert found == ["gold.conll", "old-2.conll", "old.conll"]
    assert {path.parent.name for path in app.folder.rglob("*.conll")} == {"files"}


def test_markup_in_names_files_and_choices_is_text(app, client):
    evil = "<script>alert(1)</script>"
    page = desk_of(app, client, ("gold", f"{evil}.txt", f"{evil} B-PER\n"), OLD)
    number = page.text.partition('name="name-')[2].partition('"')[0]
    page = press(client, page, "save", job="", **{
        f"name-{number}": evil, "opt-positive": evil, "opt-metric": f'"{evil}'})  # fmt: skip
    assert evil not in settled(client, page).text
    page = finished(client, press(client, page, "run"))
    assert evil not in page.text


def test_an_uploaded_module_is_not_imported(app, client):
    trap = "import pathlib; pathlib.Path('trapped').touch(); raise SystemExit(1)\n"
    names = ("json.py", "numpy.py", "click.py", "sitecustomize.py")
    page = desk_of(app, client, GOLD, OLD, *(("outputs", name, trap) for name in names))
    assert "It matches gold." in page.text
    assert not list(app.folder.rglob("trapped"))


def test_databases_are_refused(app, client, tmp_path):
    path = tmp_path / "data.csv"
    with sqlite3.connect(path) as base:
        base.execute("create table t (a)")
    base.close()
    page = desk_of(app, client, ("gold", "data.csv", path.read_bytes()))
    assert "is a SQLite database" in page.text
    assert not list(app.folder.rglob("*.csv"))


def test_uploads_are_bounded_together(make_app, client_of):
    app = make_app(max_bytes=3000)
    client = client_of(app)
    big = ("gold", "big.txt", "x" * 5000)
    answer = client.post(f"{app.base}/new", files=uploads(big))
    assert answer.status_code == 413

    parts = (b"x" * 1000 for _ in range(9))  # sent without a length
    answer = client.post(f"{app.base}/new", content=parts, headers={
        "Content-Type": "multipart/form-data; boundary=x"})  # fmt: skip
    assert answer.status_code == 413
    half = ("outputs", "half.txt", "yes\n" * 400)
    first = client.post(f"{app.base}/new", files=uploads(half))
    assert first.status_code == 200
    again = client.post(str(first.url), files=uploads(half))
    assert again.status_code == 413
    assert "together" in again.text
    assert len(list(app.folder.rglob("*.txt"))) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process so")
def test_a_bomb_ends_its_worker_and_not_the_server(make_app, client_of):
    app = make_app(memory=600_000_000)
    client = client_of(app)
    bomb = gzip.compress(b"O\n" * 2**24, 1) * 40  # 1.3 GB
    assert len(bomb) < 10_000_000
    page = desk_of(app, client, ("gold", "bomb.txt.gz", bomb))
    assert "memory" in page.text or "the process" in page.text or "holds more than" in page.text
    assert 'class="found"' not in page.text
    page = desk_of(app, client, GOLD, OLD)
    assert "It matches gold." in page.text


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_a_worker_that_is_killed_is_an_error_on_its_file(make_app, client_of):
    app = make_app(worker=SLEEPER)
    client = client_of(app)
    page = client.post(f"{app.base}/new", files=uploads(GOLD))
    assert "reading …" in page.text
    [desk] = app.desks.values()
    os.kill(desk.gold.check._process.pid, signal.SIGKILL)
    page = settled(client, page)
    assert "the process was ended by SIGKILL" in page.text


def test_cancel_ends_the_process(make_app, client_of):
    app = make_app(worker=SLEEPER, most=4)
    client = client_of(app)
    page = client.post(f"{app.base}/demo")
    assert "<h1>Running" in page.text
    state = client.get(f"{page.url}state").json()
    assert not state["ended"]
    [desk] = app.desks.values()
    process = desk.results[0]._process
    page = client.post(f"{page.url}cancel")
    assert "Cancelled." in page.text
    assert process.wait(timeout=30) != 0


def test_a_worker_ends_after_the_limit(make_app, client_of):
    app = make_app(worker=SLEEPER, seconds=0.5, most=4)
    client = client_of(app)
    page = finished(client, client.post(f"{app.base}/demo"))
    assert "took longer than" in page.text


def test_the_folder_is_empty_when_the_app_is_closed(make_app, client_of):
    app = make_app()
    client = client_of(app)
    desk_of(app, client, GOLD, OLD)
    client.post(f"{app.base}/demo")
    assert list(app.folder.rglob("*.conll"))
    app.close()
    assert not app.folder.exists()
    assert client.get(f"{app.base}/").status_code == 200  # it lives, and is empty


def test_many_pages_close_the_oldest(make_app, client_of, monkeypatch):
    app = make_app(worker=(sys.executable, "-c", ""))
    monkeypatch.setattr("probative_app.server._MOST_DESKS", 3)
    client = client_of(app)
    pages = [client.post(f"{app.base}/new", files=uploads(GOLD)).url for _ in range(4)]
    assert client.get(str(pages[0])).status_code == 404
    assert client.get(str(pages[3])).status_code == 200
    assert len(list(app.folder.iterdir())) == 3


# --- The real server


@pytest.fixture
def served(tmp_path):
    """A server in a process of its own; its address, and the process."""
    for name in ("starlette", "uvicorn", "python_multipart"):
        pytest.importorskip(name, reason="the extra app is not installed here")
    folder = tmp_path / "tmp"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "probative", "app", "--no-browser"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    address = process.stderr.readline().strip()
    assert address.startswith("http://127.0.0.1:"), address + process.stderr.read()
    told = process.stderr.readline()
    assert told == "Files stay on this computer. Ctrl-C stops the server.\n"
    yield address, process, folder
    process.kill()
    process.communicate()


def fetch(address, **headers):
    request = urllib.request.Request(address, headers=headers)  # noqa: S310  # our own server
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_thousand_requests_at_once(served):
    address, process, _ = served
    kinds = [(address, 200), (f"{address}x/../..", 403), (address + "desk/1/", 404)]
    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(lambda i: fetch(kinds[i % 2 * 2][0]), range(1000)))
    assert found == [200, 404] * 500
    assert fetch(address, Host="evil.example") == 421
    assert fetch(address.rsplit("/", 2)[0] + "/") == 403
    assert process.poll() is None


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_quietly_and_leaves_nothing(served, number):
    address, process, folder = served
    assert fetch(address) == 200
    assert list(folder.iterdir())
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert (out, err) == ("", "")
    assert not list(folder.iterdir())
