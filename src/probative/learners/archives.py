"""Models come in archives: how much is taken out of one is limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.errors import InputError

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

__all__ = ["LARGEST", "check_size", "member"]

LARGEST = 2 << 30  # bytes of a model, unpacked


def check_size(archive: zipfile.ZipFile, path: Path | str) -> None:
    """Refuse an archive that says it holds more than a model may."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise InputError(
            f"holds {size:,} bytes when unpacked; expected a model of at most {LARGEST:,}", path
        )


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of an archive; of one that is longer than the archive says, only so much."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        return file.read(entry.file_size)
