"""Import the names of a package on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence


def names_on_demand(
    package: str, homes: Mapping[str, Sequence[str]], *, modules: Sequence[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``, given the names in each module."""
    # `modules` are themselves names of the package
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> object:
        from importlib import import_module

        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # so that Python does not ask again
        return value

    return find, lambda: sorted([*home, *modules])


class ModuleOnDemand:
    """A module that is imported when one of its names is first used."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        return getattr(import_module(self._module), name)
