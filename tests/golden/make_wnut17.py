"""Who found which entity of the WNUT-17 test set: the figures behind the demonstration.

Run ``python tests/golden/make_wnut17.py FOLDER`` with the folder of the shared task's test set and
submissions to write src/probative/data/wnut17.json. It holds no text: for every distinct span that
the answer or a system proposes, the number of its sentence, its label, and who proposes it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from probative.matching.matched import match_inputs

SYSTEMS = (
    "spinningbytes.txt",
    "uh_ritual",
    "sjtu_adapt.txt",
    "arcada",
    "flytxt",
    "mic-cis.txt",
    "drexel_cci",
)
TARGET = Path(__file__).resolve().parents[2] / "src" / "probative" / "data" / "wnut17.json"


def figures(folder: Path) -> dict[str, object]:
    files = [folder / "submissions" / name for name in SYSTEMS]
    # one system altered the tokens, so only positions align
    evidence = match_inputs(folder / "emerging.test.annotated", files, align_by="position")
    items = evidence.items
    rows = sorted(
        [sentence, label, int(answer) + sum(2 << i for i, says in enumerate(column) if says)]
        for sentence, label, answer, column in zip(
            items.unit.tolist(),
            items.label.tolist(),
            items.answer.tolist(),
            items.says.T.tolist(),
            strict=True,
        )
    )
    return {
        "title": "WNUT 2017 emerging entities: which system found what",
        "source": "test set and submissions of the shared task (CC BY 4.0), counted with probative",
        "remark": "items: sentence, label, and a sum of 1 for the answer, 2 for the first system, "
        "4 for the second, and so on",
        "systems": list(evidence.names),
        "labels": list(items.labels),
        "sentences": items.n_units,
        "items": rows,
    }


if __name__ == "__main__":
    content = figures(Path(sys.argv[1]))
    rows = content.pop("items")
    head = json.dumps(content, indent=1)[:-2]
    lines = [json.dumps(rows[i : i + 12])[1:-1] for i in range(0, len(rows), 12)]
    TARGET.write_text(head + ',\n "items": [\n' + ",\n".join(lines).replace(" ", "") + "\n]}\n")
