"""Render the pages of the app with the templates of reports, and say what they may load."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, payload
from probative.reporting.render import templates

if TYPE_CHECKING:
    from jinja2 import Environment

_PROMISE = "Files stay on this computer: this page is served by it and asks no other for anything."
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@cache
def _environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    own = PackageLoader("probative.app")
    loaders = [own, *filter(None, [templates().loader])]
    return templates().overlay(loader=ChoiceLoader(loaders))


def page(template: str, title: str, **content: Any) -> str:
    """Render a page of the app."""
    document = Document(title, payload("app", _PROMISE), (), ())
    return _environment().get_template(template).render(document=document, **content)


def with_bar(html: str, template: str, **content: Any) -> str:
    """Put something of the app above the page of a result."""
    head = _environment().get_template("head.html").render(**content)
    bar = _environment().get_template(template).render(**content)
    return html.replace("</head>", f"{head}</head>", 1).replace("<main", f"{bar}\n<main", 1)


@cache
def asset(name: str) -> str:
    """Return the style sheet or the script of the app."""
    return files("probative.app").joinpath("templates", name).read_text(encoding="utf-8")


def policy(html: str) -> str:
    """Return the content policy of a page: its own style, known scripts, this server.

    The places of dots in tables are attributes of style, which results need.
    """
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
