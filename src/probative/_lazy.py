"""Import the names of a package, or modules of another one, on first use."""

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


def import_on_first_use(package: str, modules: Sequence[str]) -> None:
    """Let modules of a package load when one of their names is first used."""
    from importlib import import_module
    from importlib.util import LazyLoader, find_spec, module_from_spec

    parent = import_module(package)
    for name in modules:
        spec = find_spec(f"{package}.{name}")
        if spec is None or spec.loader is None or spec.name in sys.modules:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[spec.name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        setattr(parent, name, module)
