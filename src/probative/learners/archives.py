"""Limit how much is unpacked from the archive of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.errors import InputError

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

LARGEST = 2 << 30  # most bytes of an unpacked model


def check_size(archive: zipfile.ZipFile, path: Path | str) -> None:
    """Refuse an archive whose declared size is larger than a model may be."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise InputError(
            f"holds {size:,} bytes when unpacked; expected a model of at most {LARGEST:,}", path
        )


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of an archive, cut off at its declared size."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        return file.read(entry.file_size)
