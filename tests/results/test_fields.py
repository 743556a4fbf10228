"""Every field of a result has a text on the pages of the documentation."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass

import pytest
from sphinx.pycode import ModuleAnalyzer

from probative import results

KINDS = [kind for name in results.__all__ if is_dataclass(kind := getattr(results, name))]


def described(kind):
    """Yield the fields with an entry under Attributes, a comment `#:` or a docstring after them."""
    for base in kind.__mro__[:-1]:
        _, _, section = inspect.cleandoc(base.__doc__ or "").partition("Attributes\n----------\n")
        for names in re.findall(r"^\w.*$", section, re.MULTILINE):
            yield from names.split(", ")
        if base.__module__.startswith("probative."):
            texts = ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
            yield from (name for owner, name in texts if owner == base.__qualname__)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_described(kind):
    assert len(KINDS) > 60
    public = [own.name for own in fields(kind) if not own.name.startswith("_")]
    known = set(described(kind))
    assert [name for name in public if name not in known] == []
