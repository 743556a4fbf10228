"""Folders of brat, by a converter: ``python tests/recipes/brat_files.py``.

brat itself is a server that pip does not install. Its files are written by ``bconv`` (made with
1.2.1), a converter by others: one text and one file of annotations per document, with entities, an
entity of two pieces, relations, attributes and links to a knowledge base.
"""

from __future__ import annotations

from pathlib import Path

import bconv
from sentences import GOLD, PREDICTED, TEXTS, places

BRAT = Path(__file__).resolve().parent.parent / "data" / "brat"
SPLIT = (3, "LOC", [(19, 22), (34, 37)])  # "Low … Ada": nonsense, but in two pieces


def document(number: int, tags: list[str]) -> bconv.Document:
    """A document of one sentence, its entities, and the first related to the second."""
    text = TEXTS[number]
    found = [([(start, end)], label) for start, end, label in places(tags, text)]
    if number == SPLIT[0]:
        found.append((SPLIT[2], SPLIT[1]))
    entities = [
        bconv.Entity(
            f"e{i}",
            " ".join(text[a:b] for a, b in pieces),
            pieces,
            {"type": label, "sure": "yes", "link": f"KB:{i}"},
        )
        for i, (pieces, label) in enumerate(found)
    ]
    made = bconv.Document(f"sentence{number + 1}")
    made.add_section("text", text, entities=entities)
    if len(entities) > 1:
        near = bconv.Relation("r1", [("e0", "Arg1"), ("e1", "Arg2")])
        near.type = "near"
        made.relations = [near]
    return made


def main() -> None:
    for name, sides in (("gold", GOLD), ("system", PREDICTED)):
        folder = BRAT / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, tags in enumerate(sides):
            made = document(number, tags)
            for form, ending, options in (
                ("txt", "txt", {}),
                ("brat", "ann", {"cui": "link", "extra": ["sure"]}),
            ):
                with (folder / f"{made.id}.{ending}").open("w", encoding="utf-8") as stream:
                    bconv.dump(made, stream, fmt=form, **options)


if __name__ == "__main__":
    main()
