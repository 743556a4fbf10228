"""The results folder of a run: what is done stays done, whatever happens to the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from probative.errors import InputError
from probative.files import write_whole

__all__ = ["ResultsFolder", "digest", "recorded_seed"]

_RUN = "run.json"


class ResultsFolder:
    """A file for every fold and model, each written whole or not at all.

    Parameters
    ----------
    path
        The folder; it is made where it is missing.
    run
        What makes this run what it is: data, split, models. A folder of another run is refused.
    """

    def __init__(self, path: Path | str, run: dict[str, Any]):
        self.path = Path(path)
        record = self.path / _RUN
        if record.exists():
            _refuse_another(_read(record), run, self.path)
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            found = next(self.path.iterdir(), None)
        except OSError as error:
            raise InputError(f"cannot be used: {error.strerror}", self.path) from None
        if found is not None:
            raise InputError(
                f"holds {found.name!r} and no {_RUN}; expected a new or empty folder, or that of "
                f"this run",
                self.path,
            )
        write_whole(record, json.dumps(run, indent=1) + "\n")

    def kept(self, fold: int, model: str) -> dict[str, Any] | None:
        """What was kept of a fold of a model, or None."""
        path = self._file(fold, model)
        return _read(path) if path.exists() else None

    def keep(self, fold: int, model: str, outcome: dict[str, Any]) -> None:
        """Keep what came of a fold of a model."""
        content = {"fold": fold, "model": model, **outcome}
        write_whole(self._file(fold, model), json.dumps(content, ensure_ascii=False) + "\n")

    def _file(self, fold: int, model: str) -> Path:
        return self.path / f"fold-{fold}-{model}.json"


def recorded_seed(path: Path | str | None) -> int | None:
    """The seed of the run whose results are in a folder, if there are any."""
    if path is None or not (Path(path) / _RUN).exists():
        return None
    seed = _read(Path(path) / _RUN).get("seed")
    return seed if isinstance(seed, int) else None


def digest(value: Any) -> str:
    """A short text that is the same for equal values, in every process."""
    from joblib import hash as joblib_hash

    try:
        return str(joblib_hash(value))
    except Exception:  # what cannot be pickled is known by its class alone
        return type(value).__qualname__


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise InputError("cannot be read; delete it to do its part again", path)
    return content


def _refuse_another(recorded: dict[str, Any], run: dict[str, Any], path: Path) -> None:
    different = [key for key in run if recorded.get(key) != run[key]]
    if different:
        key = different[0]
        raise InputError(
            f"holds the results of another run: {key} is {recorded.get(key)!r} there and "
            f"{run[key]!r} here; expected another folder, or the same data, models and options",
            path,
        )
