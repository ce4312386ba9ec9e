"""Validation of memories to be stored, of changes to them, and of filters."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp_memory.engine.context import at_most, checked_share, checked_text, in_utc, storable
from mcp_memory.errors import Invalid
from mcp_memory.inputs import NOTES, PLAIN_TYPE, WRITTEN, NewAssociation, NewMemory
from mcp_memory.model import ASSOCIATION_TYPES, EQUAL_FILTERS, Filter
from mcp_memory.tuning import Limits

__all__ = [
    "LABEL_LENGTH",
    "MOST_TAGS",
    "NOTES",
    "PLAIN_TYPE",
    "WRITTEN",
    "NewAssociation",
    "NewMemory",
    "checked",
    "checked_association",
    "checked_changes",
    "checked_filter",
    "checked_metadata",
]

MOST_TAGS = 100
MOST_FILTER_TYPES = 100
DEEPEST_METADATA = 50
"""Maximum nesting of lists and objects; some JSON parsers fail beyond it."""

LABEL_LENGTH = 200
"""Of a type or a tag, in characters."""


def checked(new: NewMemory, limits: Limits) -> NewMemory:
    """The memory, validated and normalised. Raises `Invalid`, with what to do."""
    at_most(len(new.entity_names), limits.names, "entity names")
    checked_share(new.relevance, "relevance")
    names = (checked_text(name, "an entity's name", most=limits.name_length) for name in new.entity_names)
    given = {name: getattr(new, name) for name in _CHECKS if getattr(new, name) is not None}
    return replace(new, **checked_changes(given, limits), entity_names=tuple(dict.fromkeys(names)))


def checked_changes(changes: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Changes to a memory, validated field by field."""
    unknown = changes.keys() - _CHECKS.keys()
    if unknown:
        raise Invalid(
            f"a memory's {', '.join(sorted(unknown))} cannot be set; what can: {', '.join(_CHECKS)}"
        )
    return {name: _CHECKS[name](value, limits) for name, value in changes.items()}


def checked_association(wanted: NewAssociation) -> NewAssociation:
    if wanted.type not in ASSOCIATION_TYPES:
        raise Invalid(
            f"{wanted.type!r} is not a type of association: choose one of {', '.join(ASSOCIATION_TYPES)}"
        )
    checked_share(wanted.weight, "the weight of an association")
    return wanted


def checked_filter(filter: Filter) -> Filter:
    """The filter with times that can be compared; a time without a zone is UTC."""
    for value, what in (
        (filter.min_confidence, "min_confidence"),
        (filter.below_confidence, "the confidence to stay below"),
    ):
        if value is not None:
            checked_share(value, what)
    for names, what in ((filter.types, "types in a filter"), (filter.tags, "tags in a filter")):
        at_most(len(names), MOST_TAGS, what)
    types, tags = tuple(dict.fromkeys(filter.types)), tuple(dict.fromkeys(filter.tags))
    at_most(len(types), MOST_FILTER_TYPES, "types")
    at_most(len(tags), MOST_TAGS, "tags to filter by")
    for text in (*types, *tags, *(getattr(filter, name) or "" for name in EQUAL_FILTERS)):
        storable(text, "a filter")
    after, before = (at and in_utc(at) for at in (filter.after, filter.before))
    return replace(filter, types=types, tags=tags, after=after, before=before)


def _content(content: str, limits: Limits) -> str:
    if not content.strip():
        raise Invalid("the content is empty: say what is to be remembered")
    storable(content, "the content")
    size = len(content.encode())
    if size > limits.content_bytes:
        raise Invalid(
            f"the content has {size:,} bytes, {limits.content_bytes:,} are allowed: "
            "store the parts as memories of their own, or a summary"
        )
    return content


def _label(what: str) -> Callable[[str, Limits], str]:
    return lambda text, _: checked_text(text, what, most=LABEL_LENGTH).strip()


def _tags(tags: Any, _: Limits) -> tuple[str, ...]:
    at_most(len(tags), MOST_TAGS, "tags")
    return tuple(dict.fromkeys(checked_text(tag, "a tag", most=LABEL_LENGTH).strip() for tag in tags))


def _note(what: str) -> Callable[[str | None, Limits], str | None]:
    """Text that may be missing; empty is the same as missing."""

    def check(text: str | None, limits: Limits) -> str | None:
        return checked_text(text, what, most=limits.content_bytes) if text and text.strip() else None

    return check


def _share(what: str) -> Callable[[float, Limits], float]:
    return lambda value, _: float(checked_share(value, what))


def checked_metadata(metadata: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Metadata that both databases return unchanged."""
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise Invalid(
            "the metadata is not JSON: use texts, numbers, booleans, null, lists and objects"
        ) from None
    if _depth(metadata) > DEEPEST_METADATA:
        raise Invalid(f"the metadata is nested more than {DEEPEST_METADATA} deep: flatten it")
    if "\\u0000" in text:
        raise Invalid("the metadata holds a NUL character, which cannot be stored: remove it")
    storable(text, "the metadata")
    if len(text) > limits.content_bytes:
        raise Invalid(f"the metadata has {len(text):,} characters, {limits.content_bytes:,} are allowed")
    return dict(metadata)


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list | tuple)]:
        deepest += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return deepest


_CHECKS: Mapping[str, Callable[[Any, Limits], Any]] = {
    "content": _content,
    "type": _label("the memory's type"),
    "tags": _tags,
    "confidence": _share("confidence"),
    "importance": _share("importance"),
    **{name: _note(f"the {name}") for name in NOTES},
    "metadata": checked_metadata,
    "pinned": lambda value, _: bool(value),
}
