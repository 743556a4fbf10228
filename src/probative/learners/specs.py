"""Make models from their names on the command line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from probative.errors import InputError

_NUMBERS = {"window": int, "c1": float, "c2": float, "max_iterations": int, "min_count": int}
_NETWORK = {
    "dimensions": int,
    "hidden": int,
    "dropout": float,
    "epochs": int,
    "batch_size": int,
    "learning_rate": float,
    "min_count": int,
    "seed": int,
}


def model_of(spec: str, parameter: str = "model") -> Any:
    """Make a model from its text form.

    Parameters
    ----------
    spec
        ``crf:SCHEME`` with options after commas, such as ``crf:iobes,c2=1,ngrams=1+2``;
        ``maxmatch`` or ``bigru``, such as ``bigru:epochs=10,hidden=64``, for word segmentation;
        or ``python:MODULE:FACTORY``, whose factory is called without arguments and returns an
        object with fit and predict.
    parameter
        The name of the parameter in messages.

    Examples
    --------
    >>> from probative.learners.specs import model_of
    >>> model_of("crf:iobes,c2=1").c2
    1.0
    """
    kind, _, rest = spec.partition(":")
    if kind == "crf" and rest:
        return _crf(rest, parameter)
    if kind in ("maxmatch", "bigru"):
        return _segmenter(kind, rest, parameter)
    module, colon, factory = rest.partition(":")
    if kind == "python" and colon and ":" not in factory:
        return _own(module, factory, parameter)
    raise InputError(
        f"{parameter}: unknown {spec!r}; expected crf:SCHEME[,c2=NUMBER,...], maxmatch, "
        f"bigru[:epochs=NUMBER,...] or python:MODULE:FACTORY"
    )


def _crf(text: str, parameter: str) -> Any:
    """Make a CRF chunker from its scheme and options."""
    from probative.learners.crf import CRFChunker

    scheme, *settings = text.split(",")
    options: dict[str, Any] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            if name == "ngrams":
                options[name] = tuple(int(size) for size in value.split("+"))
            else:
                options[name] = _NUMBERS[name](value)
        except (KeyError, ValueError):
            raise InputError(
                f"{parameter}: {setting!r} is no option of a CRF; expected NAME=NUMBER with one of "
                f"{', '.join(_NUMBERS)}, or ngrams=1+2+3"
            ) from None
    try:
        return CRFChunker(scheme, **options)
    except InputError as error:
        raise InputError(f"{parameter}: {error}") from None


def _segmenter(kind: str, text: str, parameter: str) -> Any:
    """Make a word segmenter from its options."""
    from probative.learners.bigru import BiGRUSegmenter
    from probative.learners.words import MaxMatchSegmenter, SegmentingChunker

    known = _NETWORK if kind == "bigru" else {}
    options: dict[str, Any] = {}
    for setting in text.split(",") if text else ():
        name, _, value = setting.partition("=")
        try:
            options[name] = known[name](value)
        except (KeyError, ValueError):
            expected = f"NAME=NUMBER with one of {', '.join(known)}" if known else "none"
            raise InputError(
                f"{parameter}: {setting!r} is no option of {kind}; expected {expected}"
            ) from None
    try:
        return SegmentingChunker(
            BiGRUSegmenter(**options) if kind == "bigru" else MaxMatchSegmenter()
        )
    except InputError as error:
        raise InputError(f"{parameter}: {error}") from None


def _own(module: str, factory: str, parameter: str) -> Any:
    """Call the factory of a user's module."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # the user's module lies where the command was called
    try:
        make = getattr(import_module(module), factory)
    except ImportError as error:
        raise InputError(f"{parameter}: module {module!r} cannot be imported: {error}") from None
    except AttributeError as error:
        if hasattr(sys.modules.get(module), "__name__"):
            raise InputError(f"{parameter}: module {module!r} has no {factory!r}") from None
        raise _failed(parameter, f"module {module!r}", error) from error
    except (Exception, SystemExit) as error:  # a module must not end the program
        raise _failed(parameter, f"module {module!r}", error) from error
    try:
        return make()
    except (Exception, SystemExit) as error:
        raise _failed(parameter, f"{module}:{factory}()", error) from error


def _failed(parameter: str, what: str, error: BaseException) -> InputError:
    """Return the error for a module or factory that failed."""
    return InputError(f"{parameter}: {what} failed: {type(error).__name__}: {error}")
