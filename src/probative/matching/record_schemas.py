"""List the fields of a JSON Schema: their paths and types, which are required, rules to consider.

A schema never decides when two values are equal: its rules are suggestions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from probative._validation import shown
from probative.errors import InputError
from probative.matching.record_rules import quoted
from probative.reading.source import load

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATES = ("date", "date-time")
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


class SchemaField(NamedTuple):
    """A field of a schema.

    Attributes
    ----------
    path, types
        The path, and the JSON types of its values.
    required
        True if every record, and every row of a list that is there, must have it.
    rule
        An option that may suit it, such as ``--field 'total=tolerance=0.01'``; or an empty text.
    """

    path: str
    types: tuple[str, ...]
    required: bool
    rule: str


def fields_of_schema(given: Any) -> list[SchemaField]:
    """Return the fields of a JSON Schema: a file, a dictionary or a model of pydantic."""
    name = str(given) if isinstance(given, (str, Path)) else "schema"
    schema = _loaded(given, name)
    found: dict[str, SchemaField] = {}
    for field in _fields(schema, schema, "", True):
        known = found.setdefault(field.path, field)
        types = tuple(dict.fromkeys((*known.types, *field.types)))
        both = known.required or field.required
        found[field.path] = SchemaField(field.path, types, both, known.rule or field.rule)
    if not found:
        raise InputError("has no properties; expected the JSON Schema of an object", name)
    return list(found.values())


def _loaded(given: Any, name: str) -> Mapping[str, Any]:
    """Return the schema as a dictionary."""
    if callable(getattr(given, "model_json_schema", None)):  # a model of pydantic
        given = given.model_json_schema()
    elif isinstance(given, (str, Path)):
        source = load(given, expected="a JSON Schema")
        try:
            given = json.loads(source.data)
        except (ValueError, RecursionError) as error:
            raise source.error(f"is not JSON ({error}); expected a JSON Schema") from None
    if not isinstance(given, Mapping):
        raise InputError(f"{name}: {shown(given)}; expected a JSON Schema, which is an object")
    return given


def _fields(
    node: Any, root: Any, path: str, required: bool, seen: frozenset[str] = frozenset()
) -> Iterator[SchemaField]:
    """Yield the fields below a part of a schema; `seen`: references that led there."""
    if not isinstance(node, Mapping):
        return
    reference = str(node.get("$ref", ""))
    if reference and reference not in seen:  # a schema may refer to itself
        part = _referred(root, reference)
        yield from _fields(part, root, path, required, seen | {reference})
    for each in (each for key in _ALTERNATIVES for each in node.get(key, ())):
        yield from _fields(each, root, path, required, seen)
    types = node.get("type", ())
    names = (types,) if isinstance(types, str) else tuple(types)
    if isinstance(node.get("properties"), Mapping):
        for key, below in node["properties"].items():
            own = f"{path}.{quoted(key)}" if path else quoted(key)
            yield from _fields(below, root, own, required and key in node.get("required", ()), seen)
    elif "object" in names and path:
        yield SchemaField(f"{path}{{}}", ("object",), False, f"--open-map {path}")
    if "items" in node:
        yield from _fields(node["items"], root, f"{path}[]", required, seen)
        if node.get("uniqueItems"):
            yield SchemaField(f"{path}[]", (), required, f"--unique {path}")
    simple = tuple(name for name in names if name not in ("object", "array", "null"))
    if path and (simple or "enum" in node or "const" in node):
        yield SchemaField(path, simple, required, _rule(path, node, simple))


def _referred(root: Any, reference: str) -> Any:
    """Return the part of a schema that a reference within it names; None if it is elsewhere."""
    if not reference.startswith("#"):
        return None
    node = root
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def _rule(path: str, node: Mapping[str, Any], types: tuple[str, ...]) -> str:
    """Return an option that may suit the values of a field."""
    if "string" in types and node.get("format") in _DATES:
        return f"--field '{path}=date'"
    if "number" in types:
        return f"--field '{path}=tolerance=0.01'"
    return ""
