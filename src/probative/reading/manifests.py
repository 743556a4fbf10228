"""Read a list of data sets in TOML: their files, and how to read each of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from probative._validation import shown
from probative.errors import InputError
from probative.reading.source import load

__all__ = ["read_manifest"]

_FILES = ("gold", "a", "b", "train_words")
_TOP = ("names", "datasets")


def read_manifest(path: str | Path) -> tuple[list[str] | None, dict[str, dict[str, Any]]]:
    """Read the names of the systems, or None, and the data sets by name.

    The file has a table ``[datasets.NAME]`` for each, with ``gold``, ``a`` and ``b`` (or only
    ``gold``, a table with all columns) and its options for reading; ``names = ["old", "new"]``
    above them names the systems. Paths are relative to the manifest.
    """
    try:
        content = tomllib.loads(load(path).data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"is no TOML: {reason:.200}; expected [datasets.NAME] tables", path
        ) from None
    odd = next((key for key in content if key not in _TOP), None)
    if odd is not None:
        raise InputError(f"{odd!r} is unknown; expected names and [datasets.NAME] tables", path)
    names, datasets = content.get("names"), content.get("datasets")
    if names is not None and not _are_words(names):
        raise InputError(f"names = {shown(names)}; expected two names in a list", path)
    if not isinstance(datasets, dict) or not datasets:
        raise InputError("there are no data sets; expected [datasets.NAME] tables", path)
    folder = Path(path).parent
    return names, {name: _dataset(path, folder, name, own) for name, own in datasets.items()}


def _are_words(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _dataset(path: str | Path, folder: Path, name: str, own: object) -> dict[str, Any]:
    if not isinstance(own, dict) or "gold" not in own:
        raise InputError(f"[datasets.{name}] has no gold; expected gold, a and b", path)
    for key in _FILES:
        if key in own and not isinstance(own[key], str):
            raise InputError(
                f"[datasets.{name}] {key} = {shown(own[key])}; expected the name of a file", path
            )
    return {key: str(folder / value) if key in _FILES else value for key, value in own.items()}
