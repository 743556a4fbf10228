"""Learners to compare, made from their names on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from probative.errors import InputError

# the options of each kind of model, how they are parsed, and their description in messages
_NUMBERS = {"window": int, "c1": float, "c2": float, "max_iterations": int, "min_count": int}
_CRF: dict[str, Callable[[str], Any]] = _NUMBERS | {
    "ngrams": lambda text: tuple(map(int, text.split("+")))
}
_NETWORK: dict[str, Callable[[str], Any]] = {
    "dimensions": int,
    "hidden": int,
    "dropout": float,
    "epochs": int,
    "batch_size": int,
    "learning_rate": float,
    "min_count": int,
    "seed": int,
}
_NAMED = "NAME=NUMBER with one of "
_OPTIONS = {
    "crf": (_CRF, "a CRF", f"{_NAMED}{', '.join(_NUMBERS)}, or ngrams=1+2+3"),
    "bigru": (_NETWORK, "bigru", _NAMED + ", ".join(_NETWORK)),
    "maxmatch": ({}, "maxmatch", "none"),
}


def model_of(spec: str, parameter: str = "model") -> Any:
    """Make a model from its text form; `parameter` names it in messages."""
    kind, _, rest = spec.partition(":")
    if kind in _OPTIONS and (rest or kind != "crf"):
        return _built(kind, rest, parameter)
    module, colon, factory = rest.partition(":")
    if kind == "python" and colon and ":" not in factory:
        return _own(module, factory, parameter)
    raise InputError(
        f"{parameter}: unknown {spec!r}; expected crf:SCHEME[,c2=NUMBER,...], maxmatch, "
        f"bigru[:epochs=NUMBER,...] or python:MODULE:FACTORY"
    )


def _built(kind: str, text: str, parameter: str) -> Any:
    """Make one of our models; the first part of the text of a CRF is its scheme."""
    settings = text.split(",") if text else []
    scheme = settings.pop(0) if kind == "crf" else ""
    parsers, called, expected = _OPTIONS[kind]
    options: dict[str, Any] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            options[name] = parsers[name](value)
        except (KeyError, ValueError):
            found = f"{setting!r} is no option of {called}"
            raise InputError(f"{parameter}: {found}; expected {expected}") from None
    try:
        if kind == "crf":
            from probative.learners.crf import CRFChunker

            return CRFChunker(scheme, **options)
        from probative.learners.words import MaxMatchSegmenter, SegmentingChunker

        if kind == "maxmatch":
            return SegmentingChunker(MaxMatchSegmenter())
        from probative.learners.bigru import BiGRUSegmenter

        return SegmentingChunker(BiGRUSegmenter(**options))
    except InputError as error:
        raise InputError(f"{parameter}: {error}") from None


def _own(module: str, factory: str, parameter: str) -> Any:
    """Call the factory of a user's module."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # the user's module lies where the command was called
    try:
        loaded = import_module(module)
    except ImportError as error:
        raise InputError(f"{parameter}: module {module!r} cannot be imported: {error}") from None
    except (Exception, SystemExit) as error:  # a module must not end the program
        raise _failed(parameter, f"module {module!r}", error) from error
    if not hasattr(loaded, factory):
        raise InputError(f"{parameter}: module {module!r} has no {factory!r}")
    try:
        return getattr(loaded, factory)()
    except (Exception, SystemExit) as error:
        raise _failed(parameter, f"{module}:{factory}()", error) from error


def _failed(parameter: str, what: str, error: BaseException) -> InputError:
    """Return the error for a module or factory that failed."""
    return InputError(f"{parameter}: {what} failed: {type(error).__name__}: {error}")
