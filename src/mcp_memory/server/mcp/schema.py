"""JSON schemas that every host accepts, and complaints that a model can act on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mcp_memory.errors import Invalid

Json = dict[str, Any]

_UNION = "anyOf"


def input_schema(adapter: TypeAdapter[Any]) -> Json:
    """What a tool takes. Hosts stumble over references and over "or null": both are resolved here."""
    return _plain(_inlined(adapter.json_schema(mode="validation")), nullable=False)


def output_schema(adapter: TypeAdapter[Any]) -> Json:
    """What a tool answers. Clients check answers against it, so that "or null" must stay."""
    schema = _brief(_inlined(adapter.json_schema(mode="serialization")))
    if schema.get("type") != "object":
        raise TypeError("a tool must answer with an object, or some clients drop the whole list of tools")
    return schema


def validated(adapter: TypeAdapter[Any], schema: Json, arguments: Mapping[str, Any]) -> Any:
    """The arguments as the tool wants them; `Invalid`, in plain words, when they do not fit."""
    try:
        return adapter.validate_python(_decoded(schema, arguments))
    except ValidationError as error:
        raise Invalid("; ".join(_complaints(schema, error.errors(include_url=False)))) from None


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


def _plain(schema: Json, nullable: bool) -> Json:
    """The schema without titles, and without `null` where that only means "may be left out"."""
    kept = {key: value for key, value in schema.items() if key not in ("title", "properties")}
    if not nullable:
        kept = _without_null(kept)
    for key, value in kept.items():
        if isinstance(value, dict) and key in ("items", "additionalProperties"):
            kept[key] = _plain(value, nullable)
        elif key == _UNION:
            kept[key] = [_plain(option, nullable) for option in value]
    if "properties" in schema:
        kept["properties"] = {name: _plain(field, nullable) for name, field in schema["properties"].items()}
    if not nullable:
        kept = _open(kept)
    return kept


def _brief(schema: Json) -> Json:
    """Names and types alone: what they mean, the tool's description says, and every byte is paid for."""
    if "properties" in schema:
        needed = list(schema.get("required", ()))
        fields = {name: _optional(field, name in needed) for name, field in schema["properties"].items()}
        required = {"required": needed} if needed else {}
        return {"type": "object", "properties": fields, **required}
    if options := schema.get(_UNION):
        briefs = [_brief(option) for option in options]
        objects = [brief for brief in briefs if "properties" in brief]
        rest = [brief for brief in briefs if "properties" not in brief]
        merged = [_merged(objects)] if objects else []
        return {_UNION: [*merged, *rest]} if len([*merged, *rest]) > 1 else merged[0]
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
    """One object that stands for several spellings: what all of them have is required."""
    fields: Json = {}
    for one in objects:
        fields |= one["properties"]
    required = [name for name in fields if all(name in one.get("required", ()) for one in objects)]
    return {"type": "object", "properties": fields, **({"required": required} if required else {})}


def _open(schema: Json) -> Json:
    """The server itself says which arguments are unknown; some hosts refuse the keyword."""
    return {key: value for key, value in schema.items() if (key, value) != ("additionalProperties", False)}


def _without_null(schema: Json) -> Json:
    kept = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    options = [option for option in kept.get(_UNION, ()) if option != {"type": "null"}]
    if len(options) == 1:
        del kept[_UNION]
        return {**options[0], **kept}
    return kept


def _decoded(schema: Json, arguments: Mapping[str, Any]) -> Json:
    """Some models write lists and objects as JSON text; what parses to the right kind is taken."""
    kinds = {"array": list, "object": dict}
    decoded = dict(arguments)
    for name, field in schema.get("properties", {}).items():
        kind = kinds.get(field.get("type", ""))
        if kind and isinstance(value := decoded.get(name), str):
            parsed = _parsed(value)
            decoded[name] = parsed if isinstance(parsed, kind) else value
    return decoded


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _complaints(schema: Json, errors: Sequence[ErrorDetails]) -> Iterator[str]:
    for error in errors:
        path = _path(error["loc"])
        if error["type"] == "missing":
            yield f"{path} is missing"
        elif error["type"] == "extra_forbidden":
            allowed = ", ".join(_allowed(schema, error["loc"][:-1])) or "no arguments"
            yield f"{path} is not known here; allowed: {allowed}"
        else:
            yield f"{path}: {_softened(error['msg'])}"


def _path(location: Sequence[str | int]) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in location]
    return "".join(steps).lstrip(".") or "arguments"


def _softened(message: str) -> str:
    for prefix in ("Input should be ", "Value error, "):
        if message.startswith(prefix):
            return ("must be " if prefix.startswith("Input") else "") + message.removeprefix(prefix)
    return message[:1].lower() + message[1:]


def _allowed(schema: Json, location: Sequence[str | int]) -> list[str]:
    for step in location:
        schema = (
            schema.get("items", {}) if isinstance(step, int) else schema.get("properties", {}).get(step, {})
        )
    return list(schema.get("properties", {}))
