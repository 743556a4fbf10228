"""An app with real workers, asked without a network."""

from __future__ import annotations

import sys
import warnings

import pytest

PORT = 5000
HOST = f"127.0.0.1:{PORT}"
WORKER = (sys.executable, "-m", "probative_app.commands")


@pytest.fixture
def make_app(tmp_path):
    """Make apps with given limits; all are closed."""
    pytest.importorskip("starlette", reason="the extra app is not installed here")
    pytest.importorskip("uvicorn", reason="the extra app is not installed here")
    pytest.importorskip("python_multipart", reason="the extra app is not installed here")
    pytest.importorskip("httpx", reason="httpx is not installed here")
    from probative_app.commands import fields
    from probative_app.server import App

    made = []

    def make(*, worker=WORKER, max_bytes=20_000_000, **limits):
        folder = tmp_path / f"app{len(made)}"
        folder.mkdir()
        made.append(App(worker, fields(), folder, port=PORT, max_bytes=max_bytes, **limits))
        return made[-1]

    yield make
    for app in made:
        app.close()


@pytest.fixture
def client_of():
    """Open clients of apps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Starlette, about the name of a package
        from starlette.testclient import TestClient
    opened = []

    def open_client(app, **how):
        client = TestClient(app.asgi(), base_url=f"http://{HOST}", **how)
        opened.append(client.__enter__())
        return opened[-1]

    yield open_client
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def app(make_app):
    return make_app()


@pytest.fixture
def client(app, client_of):
    return client_of(app)
