"""Validates arguments as models send them, with errors that a model can act on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mcp_memory.errors import Invalid
from mcp_memory.server.mcp.schema import UNION, Json


def validated(adapter: TypeAdapter[Any], schema: Json, arguments: Mapping[str, Any]) -> Any:
    """The parsed arguments. Raises `Invalid`, in plain words."""
    try:
        return adapter.validate_python(_given(schema, arguments))
    except ValidationError as error:
        raise Invalid("; ".join(_complaints(schema, error.errors(include_url=False)))) from None


_KINDS: Mapping[str, type] = {"array": list, "object": dict}
_OPENINGS = ("[", "{")


def _given(schema: Json, arguments: Mapping[str, Any]) -> Json:
    """The arguments without optional ones that are null or empty: those mean "not given".

    Some models write lists and objects as JSON text, which is parsed.
    """
    needed = schema.get("required", ())
    given = {}
    for name, value in arguments.items():
        field = schema.get("properties", {}).get(name, {})
        read = _read(field, value)
        if name in needed:
            given[name] = read
        elif isinstance(read, list):
            if kept := [one for one in read if not _is_blank(one)]:
                given[name] = kept
        elif read != {} and not _is_blank(read):
            given[name] = read
    return given


def _read(field: Json, value: Any) -> Any:
    # Most values are texts, and few of them look like JSON.
    if isinstance(value, str) and value.lstrip()[:1] in _OPENINGS:
        kinds = tuple(_KINDS[option["type"]] for option in _options(field) if option.get("type") in _KINDS)
        value = parsed if kinds and isinstance(parsed := _parsed(value), kinds) else value
    if isinstance(value, list):
        items: Json = next((option["items"] for option in _options(field) if "items" in option), {})
        if "properties" in items:
            return [_given(items, item) if isinstance(item, dict) else item for item in value]
    return value


def _options(field: Json) -> Sequence[Json]:
    """The kinds of value that a field may have."""
    found: Sequence[Json] = field.get(UNION, (field,))
    return found


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and (not value or value.isspace()))


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
        key = "items" if isinstance(step, int) else "properties"
        inner: Json = next((option[key] for option in schema.get(UNION, [schema]) if key in option), {})
        schema = inner if isinstance(step, int) else inner.get(step, {})
    return [name for option in schema.get(UNION, [schema]) for name in option.get("properties", {})]
