"""Exports of Doccano, made by it: ``python tests/recipes/doccano_files.py FOLDER``.

Needs ``doccano`` (made with 1.8.4, beside ``marshmallow<4`` and ``numpy<2``). No server runs:
projects and annotations are made by its own models, and its own task writes the exports. FOLDER is
where it keeps its database: an empty one gives the same numbers again.
"""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from sentences import GOLD, PREDICTED, TEXTS, TOPICS, TOPICS_PREDICTED, places

DOCCANO = Path(__file__).resolve().parent.parent / "data" / "doccano"


def start(folder: Path) -> Any:
    """The user to whom all is ascribed, in a database of its own."""
    place = folder.resolve()
    place.mkdir(parents=True, exist_ok=True)
    os.environ["DATABASE_URL"] = f"sqlite:///{place / 'doccano.sqlite3'}"
    os.environ["MEDIA_ROOT"] = str(place / "media")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.base"
    import backend

    sys.path.insert(0, str(Path(backend.__file__).parent))
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("create_roles")
    return get_user_model().objects.get_or_create(username="annotator")[0]


def project(user: Any, kind: str, **options: Any) -> Any:
    """A project of the sentences, in which nothing is annotated."""
    from examples.models import Example
    from projects.models import SequenceLabelingProject, TextClassificationProject

    make = SequenceLabelingProject if kind == "SequenceLabeling" else TextClassificationProject
    made = make.objects.create(name="sentences", project_type=kind, created_by=user, **options)
    made.add_admin()
    for text in TEXTS:
        Example.objects.create(project=made, text=text)
    return made


def annotate_spans(made: Any, user: Any, tags: list[list[str]], *, related: bool = False) -> None:
    """Enter the entities; with relations, the first of a sentence to its second."""
    from label_types.models import RelationType, SpanType
    from labels.models import Relation, Span

    types = {name: SpanType.objects.create(project=made, text=name) for name in ("PER", "LOC")}
    near = RelationType.objects.create(project=made, text="near") if related else None
    for example, own in zip(made.examples.order_by("id"), tags, strict=True):
        spans = [
            Span.objects.create(
                example=example, user=user, label=types[label], start_offset=i, end_offset=j
            )
            for i, j, label in places(own, example.text)
        ]
        if near is not None and len(spans) > 1:
            Relation.objects.create(
                example=example, user=user, type=near, from_id=spans[0], to_id=spans[1]
            )


def annotate_topics(made: Any, user: Any, topics: list[list[str]]) -> None:
    """Enter the topics of each sentence."""
    from label_types.models import CategoryType
    from labels.models import Category

    types = {name: CategoryType.objects.create(project=made, text=name) for name in ("land", "sea")}
    for example, own in zip(made.examples.order_by("id"), topics, strict=True):
        for name in own:
            Category.objects.create(example=example, user=user, label=types[name])


def export(made: Any, form: str, name: str) -> None:
    """Write what a project is downloaded as: a file for its one member."""
    from data_export.celery_tasks import export_dataset

    archive = zipfile.ZipFile(export_dataset(made.id, form))
    (member,) = archive.namelist()
    (DOCCANO / f"{name}{Path(member).suffix}").write_bytes(archive.read(member))


def main() -> None:
    user = start(Path(sys.argv[1]))
    shutil.rmtree(DOCCANO, ignore_errors=True)
    DOCCANO.mkdir(parents=True)
    sides = {"gold": (GOLD, TOPICS), "system": (PREDICTED, TOPICS_PREDICTED)}
    for name, (tags, topics) in sides.items():
        plain = project(user, "SequenceLabeling")
        annotate_spans(plain, user, tags)
        export(plain, "JSONL", f"entities_{name}")
        related = project(user, "SequenceLabeling", use_relation=True)
        annotate_spans(related, user, tags, related=True)
        export(related, "JSONL", f"relations_{name}")
        about = project(user, "DocumentClassification")
        annotate_topics(about, user, topics)
        export(about, "JSONL", f"topics_{name}")
        export(about, "JSON", f"topics_{name}")
        export(about, "CSV", f"topics_{name}")


if __name__ == "__main__":
    main()
