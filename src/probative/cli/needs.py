"""Options that mean something only beside another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

__all__ = ["check_needs"]

# what an option means nothing without: it is refused then, not ignored
_NEEDS: dict[str, tuple[str, ...]] = {"plot": ("figure",), "comparisons": ("html",)}
_MORE: dict[str, dict[str, tuple[str, ...]]] = {
    "study bayes": {"task": ("figure",)},
    "study chunking": {"label": ("ner",), "features": ("ner",)},
    "study segmentation": {"curve": ("sizes", "step")},
}
_FLAGS = {"label": "--only"}  # where it is not the parameter's name


def check_needs(command: str, given: Set[str], values: Mapping[str, Any]) -> None:
    """Refuse options that were given and that nothing would look at.

    Parameters
    ----------
    command
        The words that call the command.
    given
        The names of the parameters that stand on the command line.
    values
        The values of all, by name.
    """
    needs = _NEEDS | _MORE.get(" ".join(command.split()[-2:]), {})
    for name, others in needs.items():
        if name in given and not any(values.get(other) for other in others):
            wanted = " or ".join(map(_flag, others))
            raise InputError(f"{_flag(name)}: means nothing without {wanted}; expected both")
    curves = bool(values.get("probabilities"))  # whose best threshold has a weight of recall
    if "beta" in given and not curves and "fbeta" not in str(values.get("metric")):
        raise InputError("--beta: means nothing without --metric fbeta; expected both")
    for name in ("html", "figure"):
        if name in given and values.get("form") == "conlleval":
            raise InputError(f"{_flag(name)}: cannot be combined with --format conlleval")


def _flag(name: str) -> str:
    return _FLAGS.get(name, "--" + name.replace("_", "-"))
