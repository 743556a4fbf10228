"""How long the command line takes to start, against what it is built of."""

from __future__ import annotations

from importlib.util import find_spec

from timing import Cost, Line, processes, show

PROGRAM = ("-m", "probative")
COMPARE = (
    "-c",
    "import probative as pv; a = [['B-PER', 'O'], ['O', 'B-LOC']]; pv.compare(a, a[::-1], a)",
)
INTERVAL = (*PROGRAM, "interval", "--tp", "77", "--fp", "44", "--fn", "10")


def main() -> bool:
    libraries = ("-c", "import numpy, scipy.special")
    imported, version, shown, interval, compared, numbers, *others = processes(
        ("-c", "import probative"),
        (*PROGRAM, "--version"),
        (*PROGRAM, "--help"),
        INTERVAL,
        COMPARE,
        libraries,
        *([("-c", "import typer")] if find_spec("typer") else []),
        repeats=21,
    )

    def line(what: str, ours: Cost, peer: Cost, at_most: float) -> Line:
        return Line(what, ours.seconds, peer.seconds, at_most, (ours.peak, peer.peak))

    lines = [
        line("import probative / import numpy, scipy.special", imported, numbers, 0.5),
        line("probative interval / import numpy, scipy.special", interval, numbers, 1.5),
        line("the first pv.compare / import numpy, scipy.special", compared, numbers, 2.5),
        Line(
            "the first pv.compare, a whole process / 0.5 s",
            compared.seconds,
            0.5,
            1,
            (compared.peak, 0.0),
        ),
    ]
    for typer in others:
        lines += [
            line("probative --version / import typer", version, typer, 2),
            line("probative --help / import typer", shown, typer, 2),
        ]
    if not others:
        print("\ntyper is not installed: --version and --help have no peer")
    return show("Start-up, as processes, processor time", lines)


if __name__ == "__main__":
    raise SystemExit(not main())
