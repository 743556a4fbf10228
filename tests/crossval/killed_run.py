"""A run that a test kills half-way: python killed_run.py FOLDER LOG."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from data import tweets
from models import Lexicon

import probative as pv

if __name__ == "__main__":
    folder, log = sys.argv[1:]
    pv.compare_models(
        Lexicon(1, pause=0.25, log=log),
        Lexicon(2, pause=0.25, log=log),
        *tweets(),
        rng=5,
        folder=folder,
        metric="recall",
    )
