"""Exports of Label Studio, made by it: ``python tests/recipes/label_studio_files.py FOLDER``.

Needs ``label-studio`` (made with 1.23.2). No server runs: the requests of its interface for
programs are answered within the process. FOLDER is where it keeps its database, with projects of
this recipe alone: an empty one gives the same numbers again. Times and random ids differ.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from sentences import GOLD, PREDICTED, TEXTS, TOPICS, TOPICS_PREDICTED, places

STUDIO = Path(__file__).resolve().parent.parent / "data" / "label_studio"
ENTITIES = """<View>
  <Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>
  <Text name="text" value="$text"/>
</View>"""
SETS = """<View>
  <Text name="text" value="$text"/>
  <Choices name="topic" toName="text" choice="multiple">
    <Choice value="land"/><Choice value="sea"/>
  </Choices>
</View>"""
TOPIC = SETS.replace(' choice="multiple"', "")


def spans(text: str, tags: list[str]) -> list[dict[str, Any]]:
    """What its editor sends for the entities of a sentence."""
    return [
        {
            "id": f"span{start}",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "origin": "manual",
            "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
        }
        for start, end, label in places(tags, text)
    ]


def choices(labels: list[str]) -> list[dict[str, Any]]:
    """What its editor sends for the choices of a sentence; nothing, where there are none."""
    result = {"id": "choice", "from_name": "topic", "to_name": "text", "type": "choices"}
    return [{**result, "origin": "manual", "value": {"choices": labels}}] if labels else []


class Studio:
    """The interface for programs, for a user who is nobody."""

    def __init__(self, folder: Path) -> None:
        os.environ["BASE_DATA_DIR"] = str(folder.resolve())
        os.environ["DJANGO_SETTINGS_MODULE"] = "core.settings.label_studio"
        os.environ["SENTRY_DSN"] = os.environ["FRONTEND_SENTRY_DSN"] = ""  # tell nobody
        os.environ["COLLECT_ANALYTICS"] = os.environ["LATEST_VERSION_CHECK"] = "0"
        import label_studio

        sys.path.insert(0, str(Path(label_studio.__file__).parent))
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from organizations.models import Organization
        from rest_framework.test import APIClient
        from users.models import User

        user, new = User.objects.get_or_create(email="annotator@example.org")
        if new:
            Organization.create_organization(created_by=user, title="probative")
        user.active_organization = Organization.objects.first()
        user.save()
        self.client = APIClient()
        self.client.force_authenticate(user)

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        given = {} if content is None else {"format": "json"}
        response = getattr(self.client, method)(f"/api/{path}", content, **given)
        if response.status_code >= 400:
            raise RuntimeError(f"{path}: {response.status_code}: {response.content[:500]!r}")
        return response

    def project(self, config: str, results: list[Any], predictions: list[Any] | None = None) -> int:
        """A project of the sentences whose tasks were annotated as given."""
        made = self.ask("post", "projects", {"title": "sentences", "label_config": config})
        project = int(made.json()["id"])
        tasks: list[dict[str, Any]] = [{"data": {"text": text}} for text in TEXTS]
        for task, own in zip(tasks, predictions or [], strict=bool(predictions)):
            task["predictions"] = [{"model_version": "system", "result": own}]
        self.ask("post", f"projects/{project}/import", tasks)
        for number, result in zip(self.tasks(project), results, strict=True):
            self.annotate(number, result)
        return project

    def tasks(self, project: int) -> list[int]:
        """The numbers of the tasks of a project."""
        listed = self.ask("get", f"tasks?project={project}&page_size=100").json()["tasks"]
        return sorted(task["id"] for task in listed)

    def annotate(self, task: int, result: list[Any], *, skipped: bool = False) -> None:
        """Annotate a task, or skip it."""
        given = {"result": result, "lead_time": 1.0, "was_cancelled": skipped}
        self.ask("post", f"tasks/{task}/annotations", given)

    def export(self, project: int, form: str) -> bytes:
        """The file that a project is downloaded as."""
        response = self.ask("get", f"projects/{project}/export?exportType={form}")
        parts = response.streaming_content if response.streaming else [response.content]
        return b"".join(parts)

    def snapshot(self, project: int) -> bytes:
        """The same with what models predicted, which the usual export only numbers."""
        whole = {"serialization_options": {"predictions": {"only_id": False}}}
        made = self.ask("post", f"projects/{project}/exports/", whole).json()
        place = f"projects/{project}/exports/{made['id']}/download"
        return b"".join(self.ask("get", place).streaming_content)


def main() -> None:
    studio = Studio(Path(sys.argv[1]))
    shutil.rmtree(STUDIO, ignore_errors=True)
    STUDIO.mkdir(parents=True)
    sides = {"gold": (GOLD, TOPICS), "system": (PREDICTED, TOPICS_PREDICTED)}
    for name, (tags, topics) in sides.items():
        results = [spans(*pair) for pair in zip(TEXTS, tags, strict=True)]
        project = studio.project(ENTITIES, results)
        for form, ending in (("JSON", ".json"), ("JSON_MIN", "_min.json"), ("CONLL2003", ".conll")):
            (STUDIO / f"entities_{name}{ending}").write_bytes(studio.export(project, form))
        first = [labels[:1] or ["land"] for labels in topics]
        project = studio.project(TOPIC, [choices(labels) for labels in first])
        for form, ending in (("JSON", ".json"), ("JSON_MIN", "_min.json"), ("CSV", ".csv")):
            (STUDIO / f"topic_{name}{ending}").write_bytes(studio.export(project, form))
        project = studio.project(SETS, [choices(labels) for labels in topics])
        for form, ending in (("JSON", ".json"), ("JSON_MIN", "_min.json")):
            (STUDIO / f"topics_{name}{ending}").write_bytes(studio.export(project, form))
    gold, system = (
        [spans(*p) for p in zip(TEXTS, tags, strict=True)] for tags in (GOLD, PREDICTED)
    )
    project = studio.project(ENTITIES, gold, system)
    (STUDIO / "numbered.json").write_bytes(studio.export(project, "JSON"))
    (STUDIO / "predicted.json").write_bytes(studio.snapshot(project))
    project = studio.project(ENTITIES, gold)
    first, second, *_ = studio.tasks(project)
    studio.annotate(second, [], skipped=True)
    for name in ("skipped", "twice"):
        (STUDIO / f"{name}.json").write_bytes(studio.export(project, "JSON"))
        (STUDIO / f"{name}_min.json").write_bytes(studio.export(project, "JSON_MIN"))
        studio.annotate(first, system[0])


if __name__ == "__main__":
    main()
