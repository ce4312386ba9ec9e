"""Validates arguments as models send them, with errors that a model can act on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mcp_memory.errors import Invalid
from mcp_memory.server.mcp.schema import UNION, Json


class ArgumentReader:
    """Reads the arguments of one tool, as its schema describes them."""

    def __init__(self, adapter: TypeAdapter[Any], schema: Json) -> None:
        self._adapter = adapter
        self._schema = schema
        self._members = _Members(schema)

    def read(self, arguments: Mapping[str, Any]) -> Any:
        """The parsed arguments. Raises `Invalid`, in plain words."""
        try:
            return self._adapter.validate_python(self._members.given(arguments))
        except ValidationError as error:
            complaints = _complaints(self._schema, error.errors(include_url=False))
            raise Invalid("; ".join(complaints)) from None


_KINDS: Mapping[str, type] = {"array": list, "object": dict}
_OPENINGS = ("[", "{")


class _Members:
    """The members of an object. Worked out once for a schema: a bulk write has dozens of objects."""

    def __init__(self, schema: Json) -> None:
        fields: Mapping[str, Json] = schema.get("properties", {})
        self._needed = frozenset(schema.get("required", ()))
        self._kinds = {name: kinds for name, field in fields.items() if (kinds := _kinds(field))}
        """By name: what a list or an object may be."""
        self._items = {name: _Members(items) for name, field in fields.items() if (items := _items(field))}
        """By name: the members of the objects in a list."""

    def given(self, members: Mapping[str, Any]) -> Json:
        """The members without optional ones that are null or empty: those mean "not given".

        Some models write lists and objects as JSON text, which is parsed.
        """
        given: Json = {}
        for name, value in members.items():
            if isinstance(value, str) and name in self._kinds and value.lstrip()[:1] in _OPENINGS:
                parsed = _parsed(value)
                value = parsed if isinstance(parsed, self._kinds[name]) else value
            if isinstance(value, list):
                if inner := self._items.get(name):
                    value = [inner.given(item) if isinstance(item, dict) else item for item in value]
                if name in self._needed:
                    given[name] = value
                elif kept := [one for one in value if not _is_blank(one)]:
                    given[name] = kept
            elif name in self._needed or not (value == {} or _is_blank(value)):
                given[name] = value
        return given


def _kinds(field: Json) -> tuple[type, ...]:
    return tuple(_KINDS[option["type"]] for option in _options(field) if option.get("type") in _KINDS)


def _items(field: Json) -> Json | None:
    """The schema of the objects in a list."""
    items: Json = next((option["items"] for option in _options(field) if "items" in option), {})
    return items if "properties" in items else None


def _options(field: Json) -> Sequence[Json]:
    """The kinds of value that a field may have."""
    found: Sequence[Json] = field.get(UNION, (field,))
    return found


def _is_blank(value: Any) -> bool:
    return not value.strip() if isinstance(value, str) else value is None


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
