"""Short texts that tell whether two values are the same, also in another process."""

from __future__ import annotations

import hashlib
import inspect
import io
import pickle
import sys
from importlib import metadata
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from probative.errors import InputError

__all__ = ["code_digest", "digest"]

_PLAIN = (bool, int, float, str, bytes, tuple, frozenset, type(None))


def digest(parameter: str, value: Any) -> str:
    """A text that equal values share, and no others.

    Parameters
    ----------
    parameter
        What messages call it.
    value
        Anything that can be pickled.

    Examples
    --------
    >>> digest("X", [1, 2]) == digest("X", [1, 2]) != digest("X", [2, 1])
    True
    """
    from joblib import hash as joblib_hash

    try:
        return str(joblib_hash(value, hash_name="sha1"))
    except Exception as error:
        raise _unknowable(parameter, value, error) from error


def code_digest(parameter: str, value: Any) -> str:
    """A text that values share whose classes and functions have the same code.

    Of modules of one's own the source counts, and that of the modules they use; of installed
    packages the version; of what is defined in a script or a notebook the source of the classes
    and functions that are used.

    Parameters
    ----------
    parameter
        What messages call it.
    value
        Anything that can be pickled.
    """
    collector = _Collector()
    try:
        collector.dump(value)
        code = _Code()
        code.follow(collector.used)
    except Exception as error:
        raise _unknowable(parameter, value, error) from error
    return hashlib.sha256("\n".join(sorted(code.pieces)).encode()).hexdigest()[:40]


def _unknowable(parameter: str, value: Any, error: Exception) -> InputError:
    return InputError(
        f"{parameter}: {type(value).__name__} cannot be told from others ({error}), as results in "
        f"a folder must be; expected what pickle can store, with classes and functions that stand "
        f"in a module; or no folder"
    )


class _Collector(pickle.Pickler):
    """Pickles into nothing, and notes the classes and functions that it meets."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), protocol=5)
        self.used: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        self.used.append(value if isinstance(value, (type, FunctionType)) else type(value))
        return NotImplemented


class _Code:
    """The code behind classes and functions, in pieces that do not depend on their order."""

    def __init__(self) -> None:
        self.pieces: set[str] = set()
        self._seen: set[int] = set()

    def follow(self, things: list[Any]) -> None:
        """Take in classes, functions and modules, and what these use."""
        waiting = list(things)
        while waiting:
            thing = waiting.pop()
            if id(thing) in self._seen:
                continue
            self._seen.add(id(thing))
            if isinstance(thing, ModuleType):
                waiting += self._module(thing)
            elif thing.__module__ == "__main__":
                waiting += self._piece(thing)
            elif thing.__module__ in sys.modules:
                waiting.append(sys.modules[thing.__module__])
            if isinstance(thing, type):
                waiting += thing.__mro__

    def _module(self, module: ModuleType) -> list[Any]:
        top = module.__name__.partition(".")[0]
        if top in sys.stdlib_module_names or module.__name__ == "__main__":
            return []
        file = getattr(module, "__file__", None)
        version = _version(top) if top == "probative" or _installed(file) else None
        if version is not None:
            self.pieces.add(f"{top} {version}")
            return []
        if file is not None:
            content = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            self.pieces.add(f"{module.__name__} {content}")
        elif not hasattr(module, "__path__"):
            raise OSError(f"module {module.__name__!r} has no file")
        return _parts(vars(module).values())

    def _piece(self, thing: Any) -> list[Any]:
        """A class or function of a script, with the names that its code mentions."""
        functions = (
            [f for f in map(inspect.unwrap, _functions(thing)) if isinstance(f, FunctionType)]
            if isinstance(thing, type)
            else [thing]
        )
        self.pieces.add(f"{thing.__qualname__} {_source(thing, functions)}")
        known = vars(sys.modules["__main__"])
        mentioned = {name for f in functions for name in _names(f.__code__)} & set(known)
        for name in mentioned:
            if isinstance(known[name], _PLAIN):
                self.pieces.add(f"{name} {digest(name, known[name])}")
        return _parts(known[name] for name in mentioned)


def _parts(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, (ModuleType, type, FunctionType))]


def _functions(thing: type) -> list[Any]:
    """The functions that a class defines, out of what may be wrapped around them."""
    return [
        getattr(value, "fget", None) or getattr(value, "__func__", value)
        for value in vars(thing).values()
    ]


def _source(thing: Any, functions: list[FunctionType]) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        # of a notebook's classes Python knows the functions only
        if thing in functions:
            raise
        plain = {k: v for k, v in vars(thing).items() if isinstance(v, _PLAIN) and k[:2] != "__"}
        return digest("", plain) + "".join(inspect.getsource(function) for function in functions)


def _names(code: CodeType) -> set[str]:
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _installed(file: str | None) -> bool:
    return file is not None and bool({"site-packages", "dist-packages"} & set(Path(file).parts))


def _version(package: str) -> str | None:
    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
