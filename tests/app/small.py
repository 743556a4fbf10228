"""Small files for desks."""

from __future__ import annotations

from probative.jobs.demo import SMALL_FILES


def uploads(*named):
    """The files of a form: name of the field, name of the file, content."""
    return [(field, (name, content)) for field, name, content in named]


GOLD = ("gold", "gold.conll", SMALL_FILES["gold.conll"])
OLD = ("outputs", "old.conll", SMALL_FILES["old.conll"])
NEW = ("outputs", "new.conll", SMALL_FILES["new.conll"])
TYPO = ("outputs", "typo.conll", SMALL_FILES["new.conll"].replace("London", "Londn"))
