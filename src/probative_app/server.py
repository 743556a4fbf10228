"""Serve the app on this computer alone: routes, and who may ask."""

from __future__ import annotations

import asyncio
import hashlib
import io
import re
import secrets
import shutil
import signal
import socket
import tempfile
import time
from base64 import b64encode
from collections import OrderedDict
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from probative.errors import InputError
from probative.reporting.document import Document, payload
from probative.reporting.render import templates
from probative_app.desk import JOBS, Desk
from probative_app.workers import CANCELLED, Job, Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from jinja2 import Environment
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HOST = "127.0.0.1"
_MOST_DESKS = 50  # the oldest is closed
_MOST_FILES = 500  # in one upload
_AT_ONCE = 2.0  # seconds that a page waits for a worker before it shows progress
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer, forms would be sent with Origin: null
    "X-Content-Type-Options": "nosniff",
}
_DOWNLOADS = {
    "page.html": "text/html",
    "table.tex": "text/plain",
    "table.md": "text/plain",
    "table.csv": "text/csv",
    "result.json": "application/json",
}
_FRONT = ("metric", "by", "level")  # choices shown at once; the others under "more"
_COUNTS = ("tp", "fp", "fn", "tn", "level")


# --- Who may ask


class _Guard:
    """Refuse requests for another host, from another page, or without the token."""

    def __init__(self, app: ASGIApp, token: str, hosts: Callable[[], set[str]], max_bytes: int):
        self.app, self.token, self.hosts, self.max_bytes = app, token, hosts, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._reason(Request(scope))
        if refused is not None:
            status, words = refused
            await PlainTextResponse(words + "\n", status, _HEADERS)(scope, receive, send)
            return
        await self.app(scope, self._counted(receive), send)

    def _reason(self, request: Request) -> tuple[int, str] | None:
        hosts = self.hosts()
        if request.headers.getlist("host") not in [[host] for host in hosts]:
            return 421, "this server answers for its own address only"
        origins = request.headers.getlist("origin")
        if any(origin not in {f"http://{host}" for host in hosts} for origin in origins):
            return 403, "the request comes from another page"
        same = request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        followed = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
        if not same and not followed:  # a link in a terminal that is itself a page may be followed
            return 403, "the request comes from another page"
        given = request.url.path.split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 403, "the address has no valid token; use the one that probative app printed"
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.max_bytes:
            return 413, _too_large(self.max_bytes)
        return None

    def _counted(self, receive: Receive) -> Receive:
        """Count what is received; a request may be longer than it says."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_bytes:
                raise HTTPException(413, _too_large(self.max_bytes))
            return message

        return counted


def _too_large(most: int) -> str:
    return (
        f"the files have more than {most / 1e6:,.0f} MB together; expected less, or a larger limit"
    )


# --- Pages, with the templates of reports

_PROMISE = "Files stay on this computer: this page is served by it and asks no other for anything."
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@cache
def _environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    own = PackageLoader("probative_app")
    loaders = [own, *filter(None, [templates().loader])]
    return templates().overlay(loader=ChoiceLoader(loaders))


def _page(template: str, title: str, **content: Any) -> str:
    """Render a page of the app."""
    document = Document(title, payload("app", _PROMISE), (), ())
    return _environment().get_template(template).render(document=document, **content)


def _with_bar(html: str, template: str, **content: Any) -> str:
    """Put something of the app above the page of a result."""
    head = _environment().get_template("head.html").render(**content)
    bar = _environment().get_template(template).render(**content)
    return html.replace("</head>", f"{head}</head>", 1).replace("<main", f"{bar}\n<main", 1)


def _policy(html: str) -> str:
    """Return the content policy of a page: its own style, known scripts, this server."""
    # the places of dots in tables are attributes of style, which results need
    styles = "".join(f" '{_digest(text)}'" for text in _STYLE.findall(html)[:1])
    known = templates().get_template("ranking.js").render().strip()
    inline = [text for text in _SCRIPT.findall(html) if text.strip() == known]
    scripts = "".join(f" '{_digest(text)}'" for text in inline)
    return (
        f"default-src 'none'; script-src 'self'{scripts}; style-src 'self'{styles}; "
        f"style-src-attr 'unsafe-inline'; connect-src 'self'; img-src data:; form-action 'self'; "
        f"base-uri 'none'; frame-ancestors 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# --- The app


class App:
    """Desks, workers and routes of one server."""

    # `worker` is the program of a worker and `fields` the options that the page offers, both of
    # `probative_app.commands`; all files together may have `max_bytes`

    def __init__(
        self,
        worker: Sequence[str],
        fields: Sequence[Mapping[str, Any]],
        folder: Path,
        *,
        port: int,
        max_bytes: int,
        **workers: Any,
    ):
        self.folder, self.fields, self.port, self.max_bytes = folder, fields, port, max_bytes
        self.token = secrets.token_urlsafe(24)
        self.workers = Workers(worker, **workers)
        self.desks: OrderedDict[str, Desk] = OrderedDict()
        self.base = f"/{self.token}"

    def asgi(self) -> ASGIApp:
        """Return the application, behind its guard."""
        desk = f"{self.base}/desk/{{desk}}"
        routes = [
            Route(f"{self.base}/", self.start),
            Route(f"{self.base}/new", self.take, methods=["POST"]),
            Route(f"{self.base}/demo", self.demo, methods=["POST"]),
            Route(f"{self.base}/counts", self.counts),
            Route(f"{self.base}/app.{{kind:str}}", self.asset),
            Route(f"{desk}/", self.show),
            Route(f"{desk}/", self.take, methods=["POST"]),
            Route(f"{desk}/{{result:int}}/", self.result),
            Route(f"{desk}/{{result:int}}/state", self.state),
            Route(f"{desk}/{{result:int}}/cancel", self.cancel, methods=["POST"]),
            Route(f"{desk}/{{result:int}}/{{name}}", self.download),
        ]

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            yield
            self.close()

        handlers: Any = {HTTPException: self.fail, InputError: self.fail, Exception: self.fail}
        app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
        return _Guard(app, self.token, self.hosts, self.max_bytes)

    def hosts(self) -> set[str]:
        """Return the hosts that are answered."""
        return {f"{_HOST}:{self.port}", f"localhost:{self.port}"}

    def close(self) -> None:
        """End all workers and remove all files."""
        for desk in self.desks.values():
            desk.close()
        self.desks.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Answers

    def answer(self, html: str, status: int = 200) -> Response:
        """Return a page with the headers that protect it."""
        headers = {**_HEADERS, "Content-Security-Policy": _policy(html)}
        return HTMLResponse(html, status, headers)

    def go(self, *parts: object) -> Response:
        """Send the browser to another page of the app."""
        path = "/".join([self.base, *map(str, parts)]) + "/"
        return RedirectResponse(path, 303, _HEADERS)

    async def fail(self, _: Request, error: Exception) -> Response:
        """Return a page that says what is wrong."""
        status, words = 500, f"internal error, please report it: {type(error).__name__}: {error}"
        if isinstance(error, HTTPException):
            status, words = error.status_code, str(error.detail)
        elif isinstance(error, InputError):
            status, words = 400, str(error)
        html = _page("refused.html", "This did not work", words=words, base=self.base)
        return self.answer(html, status)

    def desk(self, request: Request) -> Desk:
        """Return the desk of an address."""
        desk = self.desks.get(request.path_params["desk"])
        if desk is None:
            raise HTTPException(404, "this page was closed; start a new one")
        return desk

    def add_desk(self) -> Desk:
        """Return a new desk; too many close the oldest."""
        while len(self.desks) >= _MOST_DESKS:
            self.desks.popitem(last=False)[1].close()
        name = secrets.token_hex(6)
        self.desks[name] = Desk(name, self.folder / name)
        return self.desks[name]

    # --- Routes

    async def asset(self, request: Request) -> Response:
        """Return the style sheet or the script."""
        kinds = {"css": "text/css", "js": "text/javascript"}
        kind = request.path_params["kind"]
        if kind not in kinds:
            raise HTTPException(404, "there is no such page")
        path = files("probative_app").joinpath("templates", f"app.{kind}")
        return Response(path.read_bytes(), 200, _HEADERS, kinds[kind])

    async def start(self, _: Request) -> Response:
        """Show the first page, an empty desk."""
        return self.answer(self._page_of(None))

    async def demo(self, _: Request) -> Response:
        """Open a desk with the files of the demonstration, and compare them."""
        from probative.jobs.demo import SMALL_FILES

        desk = self.add_desk()
        for name, content in SMALL_FILES.items():
            desk.add(name, io.BytesIO(content.encode()), gold=name.startswith("gold"))
        desk.check_all(self.workers)
        desk.run(self.workers)
        return self.go("desk", desk.name, 0)

    async def show(self, request: Request) -> Response:
        """Show a desk, its checks finished if they are quick."""
        desk = self.desk(request)
        await _wait([file.check for file in desk.all_files if file.check])
        return self.answer(self._page_of(desk))

    async def take(self, request: Request) -> Response:
        """Take files and choices of a desk, or of a new one, and do what its button says."""
        desk = self.desk(request) if "desk" in request.path_params else None
        async with request.form(max_files=_MOST_FILES, max_fields=_MOST_FILES) as form:
            given = {key: ",".join(str(v) for v in form.getlist(key)) for key in form}
            parts = form.multi_items()
            uploads = [(k, v) for k, v in parts if isinstance(v, UploadFile) and v.filename]
            size = sum(upload.size or 0 for _, upload in uploads)
            if sum(one.stored for one in self.desks.values()) + size > self.max_bytes:
                raise HTTPException(413, _too_large(self.max_bytes))
            desk = desk or self.add_desk()
            desk.message = ""
            for key, upload in uploads:
                try:
                    name, gold = upload.filename or "", key == "gold"
                    await asyncio.to_thread(desk.add, name, upload.file, gold=gold)
                except InputError as error:
                    desk.message = str(error)
        _apply(desk, given, self.fields)
        do, _, rest = given.get("do", "save").partition(":")
        if do == "run" and desk.all_files and not desk.message:
            desk.run(self.workers)
            return self.go("desk", desk.name, len(desk.results) - 1)
        _press(desk, do, rest, given)
        desk.check_all(self.workers)
        return self.go("desk", desk.name)

    async def result(self, request: Request) -> Response:
        """Show a result with its buttons, or how far it is."""
        desk, job = self._job(request)
        await _wait([job])
        if not job.ended:
            return self.answer(_page("running.html", "Running", base=self.base, **_state(job)))
        if not job.succeeded:
            return self.go("desk", desk.name)
        html = (job.folder / "page.html").read_text(encoding="utf-8")
        line = job.answers[0]["line"]
        return self.answer(_with_bar(html, "bar.html", base=self.base, line=line, desk=desk.name))

    async def state(self, request: Request) -> Response:
        """Return how far a job is, for the script."""
        _, job = self._job(request)
        return JSONResponse(_state(job), 200, _HEADERS)

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        desk, job = self._job(request)
        job.cancel()
        return self.go("desk", desk.name)

    async def download(self, request: Request) -> Response:
        """Send a file of a result."""
        _, job = self._job(request)
        name = request.path_params["name"]
        path = job.folder / name
        if name not in _DOWNLOADS or not path.is_file():
            raise HTTPException(404, "there is no such file")
        headers = {**_HEADERS, "Content-Security-Policy": "sandbox; default-src 'none'"}
        return FileResponse(path, 200, headers, _DOWNLOADS[name], filename=name)

    async def counts(self, request: Request) -> Response:
        """Show the intervals of counts that are typed in."""
        given = {name: request.query_params.get(name, "").strip() for name in _COUNTS}
        content: dict[str, Any] = {"base": self.base, "given": given, "error": "", "line": ""}
        if any(given[name] for name in ("tp", "fp", "fn")):
            folder = self.folder / f"counts-{secrets.token_hex(6)}"
            order = {"command": "interval", "options": given, "page": True}
            job = self.workers.start([order], folder, self.folder)
            try:
                await _wait([job], seconds=60)
                answer = job.answers[0] if job.answers else {"error": "this took too long"}
                if "error" not in answer:
                    html = (folder / "page.html").read_text(encoding="utf-8")
                    content["line"] = answer["line"]
                    return self.answer(_with_bar(html, "counts.html", **content))
                content["error"] = answer["error"]
            finally:
                job.cancel()
                shutil.rmtree(folder, ignore_errors=True)
        return self.answer(_page("counts_page.html", "Intervals from counts", **content))

    def _job(self, request: Request) -> tuple[Desk, Job]:
        desk, number = self.desk(request), request.path_params["result"]
        if number >= len(desk.results):
            raise HTTPException(404, "there is no such result")
        return desk, desk.results[number]

    def _page_of(self, desk: Desk | None) -> str:
        front = [f for name in _FRONT for f in self.fields if f["name"] == name]
        plan = [f for f in self.fields if f["jobs"] == ["plan"]]
        more = [f for f in self.fields if f not in front and f not in plan]
        last = desk.results[-1] if desk and desk.results else None
        failed = last.answers[0] if last and last.answers and not last.succeeded else None
        checks = [file.check for file in desk.all_files] if desk else []
        return _page(
            "desk.html",
            "How good is it, and is that one really better?",
            base=self.base,
            desk=desk,
            jobs=JOBS,
            front=front,
            plan=plan,
            more=more,
            failed=failed,
            cancelled=last is not None and last.state == CANCELLED,
            checking=any(check is not None and not check.ended for check in checks),
            megabytes=self.max_bytes / 1e6,
        )


def _apply(desk: Desk, given: Mapping[str, str], fields: Sequence[Mapping[str, Any]]) -> None:
    """Take the names, the baseline and the choices of a form."""
    for file in list(desk.outputs):
        if f"name-{file.number}" in given:
            desk.rename(file, given[f"name-{file.number}"])
    first = desk.numbered_file(given.get("baseline", ""))
    if first in desk.outputs and first is not None:
        desk.outputs = [first, *(other for other in desk.outputs if other is not first)]
    if "job" in given:
        desk.job = given["job"] if given["job"] in JOBS else ""
        for field in fields:  # a box that is not ticked is not sent
            desk.choices[field["name"]] = given.get(f"opt-{field['name']}", "").strip()
    desk.choices = {name: text for name, text in desk.choices.items() if text}


def _press(desk: Desk, do: str, rest: str, given: Mapping[str, str]) -> None:
    """Do what a button says: remove or exchange a file, or take a remedy."""
    file = desk.numbered_file(rest)
    if do == "remove" and file is not None:
        desk.remove(file)
    elif do == "gold" and file in desk.outputs and file is not None:
        desk.make_gold(file)
    elif do == "set":  # option=value
        name, _, value = rest.partition("=")
        desk.choices[name] = value
    elif do == "fix":  # the fields below a message
        start = f"fix-{rest}-"
        found = {key.removeprefix(start): v for key, v in given.items() if key.startswith(start)}
        desk.choices |= {
            name: value.strip(" ,") for name, value in found.items() if value.strip(" ,")
        }


def _state(job: Job) -> dict[str, Any]:
    done, total = job.progress() or (0, 0)
    seconds = int(time.monotonic() - job.started)
    return {"ended": job.ended, "done": done, "total": total, "seconds": seconds}


async def _wait(jobs: Sequence[Job], seconds: float = _AT_ONCE) -> None:
    """Wait until all jobs have ended, but not longer than this."""
    until = time.monotonic() + seconds
    while not all(job.ended for job in jobs) and time.monotonic() < until:
        await asyncio.sleep(0.02)


# --- The server


def serve(
    worker: Sequence[str],
    fields: Sequence[Mapping[str, Any]],
    *,
    port: int,
    max_bytes: int,
    browser: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve the app until Ctrl-C; print its address, and open the browser."""
    listening = socket.socket()
    with suppress(OSError):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen()
    except OSError as error:
        raise InputError(f"port: {port} cannot be used: {error.strerror}") from None
    with listening, tempfile.TemporaryDirectory(prefix="probative-app-") as folder:
        app = App(
            worker, fields, Path(folder), port=listening.getsockname()[1], max_bytes=max_bytes
        )
        address = f"http://{_HOST}:{app.port}{app.base}/"
        announce(f"{address}\nFiles stay on this computer. Ctrl-C stops the server.")
        quiet: dict[str, Any] = {"access_log": False, "log_level": "warning"}
        quiet |= {"server_header": False, "timeout_graceful_shutdown": 1}
        server = uvicorn.Server(uvicorn.Config(app.asgi(), **quiet))
        if browser:
            import webbrowser

            webbrowser.open(address)
        # Uvicorn raises the signal that stopped it once more: it must not end us before the
        # folder is removed
        signal.signal(signal.SIGTERM, lambda *_: None)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
        app.close()
