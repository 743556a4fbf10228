"""Which of two classes is the "yes" that precision and recall speak of: one rule for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["other_class", "positive_label"]

# Pairs of labels of which the second means "yes".
_YES = (("0", "1"), ("False", "True"), ("false", "true"), ("no", "yes"), ("-1", "1"))


def positive_label(labels: Collection[str]) -> str | None:
    """Return the "yes" of labels that say which it is, else None.

    Parameters
    ----------
    labels
        The texts of all labels that occur.

    Examples
    --------
    >>> from probative.positive import positive_label
    >>> positive_label(["no", "yes"]), positive_label(["maybe", "yes"]), positive_label(["1", "2"])
    ('yes', None, None)
    """
    used = set(labels)
    return next((yes for no, yes in _YES if used <= {no, yes}), None)


def other_class(yes: str) -> str:
    """Return the "no" that belongs to a "yes"; where none does, what says so.

    Parameters
    ----------
    yes
        The text of the positive label.

    Examples
    --------
    >>> from probative.positive import other_class
    >>> other_class("yes"), other_class("spam")
    ('no', 'not spam')
    """
    return next((no for no, known in _YES if known == yes), f"not {yes}")
