"""Trained chunkers as files: an archive of parameters, model and checksum."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.learners.archives import check_size, member

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["pack", "unpack"]

_PARAMETERS, _MODEL = "chunker.json", "model.crfsuite"
_SECONDS = 60

# Read every part of a model and tag with it: what CRFsuite cannot survive happens here.
_TRIAL = """
import re, sys, tempfile
import pycrfsuite
tagger = pycrfsuite.Tagger()
model = sys.stdin.buffer.read()  # the tagger looks into it, and does not keep it
tagger.open_inmemory(model)
labels = tagger.labels()
with tempfile.NamedTemporaryFile() as file:
    tagger.dump(file.name)
    dump = file.read().decode("utf-8", "replace")
known = re.findall(r"^ +[0-9]+: (.*)$", dump, re.MULTILINE)
names = [*known, *map(str, range(5000))]
for start in range(0, len(names), 50):
    tagger.tag([names[start : start + 50], []])
    [tagger.marginal(label, 1) for label in labels]
"""


def pack(parameters: dict[str, Any], model: bytes) -> bytes:
    """Put a chunker into an archive.

    Parameters
    ----------
    parameters
        What the chunker was made with.
    model
        What CRFsuite learned.
    """
    out = io.BytesIO()
    content = {**parameters, "sha256": _checksum(parameters, model)}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_PARAMETERS, json.dumps(content))
        archive.writestr(_MODEL, model)
    return out.getvalue()


def unpack(path: Path | str) -> tuple[dict[str, Any], bytes]:
    """Take a chunker out of an archive.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Parameters and model, as they were packed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_size(archive, path)
            parameters = json.loads(member(archive, _PARAMETERS))
            model = member(archive, _MODEL)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    except InputError:
        raise
    except (
        *(zipfile.BadZipFile, zlib.error, KeyError, ValueError, RecursionError, EOFError),
        *(NotImplementedError, RuntimeError),  # ways of packing that nobody uses
    ):
        parameters = None
    if not isinstance(parameters, dict):
        raise InputError("is no saved chunker; expected a file that save() wrote", path)
    checksum = parameters.pop("sha256", None)
    if checksum is None:
        _try(model, path)
    elif checksum != _checksum(parameters, model):
        raise InputError(
            "is a damaged chunker (its checksum does not fit); expected a file that save() wrote",
            path,
        )
    return parameters, model


def _checksum(parameters: dict[str, Any], model: bytes) -> str:
    return hashlib.sha256(json.dumps(parameters).encode() + b"\n" + model).hexdigest()


def _try(model: bytes, path: Path | str) -> None:
    """Load a model in a process of its own, and refuse what that process does not survive."""
    try:
        tried = subprocess.run(  # noqa: S603  # our own program, with nothing of the file in it
            [sys.executable, "-c", _TRIAL],
            input=model,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        status = tried.returncode
    except subprocess.TimeoutExpired:
        status = -1
    if status:
        raise InputError(
            "is a damaged chunker (CRFsuite cannot use it); expected a file that save() wrote", path
        )
