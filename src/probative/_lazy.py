"""Import the names of a package on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def names_on_demand(
    package: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` for the names that its stub imports."""
    spec: Any = sys.modules[package].__spec__
    stub = spec.loader.get_data(f"{file.rpartition('.')[0]}.pyi").decode()  # also from a zip file
    imports = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    home = {words[-1]: words[1] for words in imports}

    def find(name: str) -> object:
        from importlib import import_module

        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:  # a module
            return import_module(f"{package}.{name}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # so that Python does not ask again
        return value

    return find, lambda: sorted(home)


class ModuleOnDemand:
    """A module that is imported when one of its names is first used."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        return getattr(import_module(self._module), name)
