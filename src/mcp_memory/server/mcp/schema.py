"""JSON schemas that every host accepts."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

Json = dict[str, Any]

UNION = "anyOf"


def input_schema(adapter: TypeAdapter[Any]) -> Json:
    """The input schema of a tool, without references, which some hosts cannot resolve. Optional fields may be
    null: strict clients send every field.
    """
    return _plain(_inlined(adapter.json_schema(mode="validation")))


def output_schema(adapter: TypeAdapter[Any]) -> Json:
    """The output schema of a tool. Clients validate against it, so "or null" must stay."""
    schema = _brief(_inlined(adapter.json_schema(mode="serialization")))
    if schema.get("type") != "object":
        raise TypeError("a tool must answer with an object, or some clients drop the whole list of tools")
    return schema


def _inlined(schema: Json) -> Json:
    definitions = schema.pop("$defs", {})

    def resolved(node: Any, seen: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [resolved(item, seen) for item in node]
        if not isinstance(node, dict):
            return node
        if reference := node.get("$ref"):
            name = reference.rpartition("/")[2]
            if name in seen:
                raise TypeError(f"{name} contains itself; hosts cannot read such a schema")
            around = {key: value for key, value in node.items() if key != "$ref"}
            return resolved({**definitions[name], **around}, (*seen, name))
        return {key: resolved(value, seen) for key, value in node.items()}

    inlined: Json = resolved(schema, ())
    return inlined


def _plain(schema: Json) -> Json:
    """The schema without titles, open to further fields, and with null where a field is optional."""
    kept = {key: value for key, value in schema.items() if key not in ("title", "additionalProperties")}
    if isinstance(kept.get("items"), dict):
        kept["items"] = _plain(kept["items"])
    if UNION in kept:
        kept[UNION] = [_plain(option) for option in kept[UNION]]
    if "properties" in kept:
        needed = kept.get("required", ())
        kept["properties"] = {
            name: _plain(field) if name in needed else _or_null(_plain(_without_null(field)))
            for name, field in kept["properties"].items()
        }
    return kept


def _or_null(field: Json) -> Json:
    """The field with null beside its type, and its default in the description: strict clients refuse the
    keyword.
    """
    default = field.pop("default", None)
    said = field.pop("description", "")
    if default not in (None, False, [], {}, "", 0, 0.0):
        said = f"{said} Default: {default}."
    options = field.get(UNION, [field])
    if any(option.get("type") == "object" and "properties" not in option for option in options):
        # A strict client knows no open objects: it sends them as JSON text.
        options = [*options, {"type": "string"}]
    return {UNION: [*options, {"type": "null"}], **({"description": said.strip()} if said else {})}


def _brief(schema: Json) -> Json:
    """Names and types only: the tool's description explains them, and every byte costs tokens."""
    if "properties" in schema:
        needed = list(schema.get("required", ()))
        fields = {name: _optional(field, name in needed) for name, field in schema["properties"].items()}
        required = {"required": needed} if needed else {}
        return {"type": "object", "properties": fields, **required}
    if options := schema.get(UNION):
        briefs = [_brief(option) for option in options]
        objects = [brief for brief in briefs if "properties" in brief]
        rest = [brief for brief in briefs if "properties" not in brief]
        merged = [_merged(objects)] if objects else []
        return {UNION: [*merged, *rest]} if len([*merged, *rest]) > 1 else merged[0]
    kept = {key: value for key, value in schema.items() if key in ("type", "enum", "const")}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            kept[key] = _brief(schema[key])
        elif schema.get(key) is True:
            kept[key] = True
    return kept


def _optional(field: Json, needed: bool) -> Json:
    """A field that may be missing is never null."""
    return _brief(field if needed else _without_null(field))


def _merged(objects: Sequence[Json]) -> Json:
    """One object for several spellings: fields that all of them require are required."""
    fields: Json = {}
    for one in objects:
        fields |= one["properties"]
    required = [name for name in fields if all(name in one.get("required", ()) for one in objects)]
    return {"type": "object", "properties": fields, **({"required": required} if required else {})}


def _without_null(schema: Json) -> Json:
    kept = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    options = [option for option in kept.get(UNION, ()) if option != {"type": "null"}]
    if len(options) == 1:
        del kept[UNION]
        return {**options[0], **kept}
    return kept


def listed_only(schema: Json, fields: Sequence[str]) -> Json:
    """The schema with these fields alone; `entities.name!` is a required field of the objects in a list."""
    inner: dict[str, list[str]] = {}
    needed: list[str] = []
    for field in fields:
        name, _, rest = field.partition(".")
        if name.endswith("!"):
            needed.append(name := name.rstrip("!"))
        inner.setdefault(name, []).extend([rest] if rest else [])
    listed = {
        name: _items_only(schema["properties"][name], names) if names else schema["properties"][name]
        for name, names in inner.items()
    }
    needed += [name for name in schema.get("required", ()) if name in inner and name not in needed]
    properties = {name: _required(field) if name in needed else field for name, field in listed.items()}
    return {**schema, "properties": properties, **({"required": needed} if needed else {})}


def _required(field: Json) -> Json:
    """A field that must be given is not null."""
    options = [option for option in field.get(UNION, ()) if option != {"type": "null"}]
    if len(options) != 1:
        return field
    return {**options[0], **{key: value for key, value in field.items() if key not in (UNION, "default")}}


def _items_only(field: Json, names: Sequence[str]) -> Json:
    if UNION in field:
        options = [_items_only(option, names) if "items" in option else option for option in field[UNION]]
        return {**field, UNION: options}
    return {**field, "items": listed_only(field["items"], names)}
