"""Validation of entities, observations and relations to be stored."""

from collections.abc import Sequence

from mcp_memory.engine.context import at_most, checked_note, checked_share, checked_text
from mcp_memory.engine.drafts import checked_metadata
from mcp_memory.inputs import NewEntity, NewRelation
from mcp_memory.tuning import Limits


def check_entity(wanted: NewEntity, limits: Limits) -> None:
    checked_text(wanted.name, "an entity's name", most=limits.name_length)
    if wanted.type is not None:
        checked_text(wanted.type, f"the type of {wanted.name!r}", most=limits.name_length)
    if wanted.description is not None:
        checked_note(wanted.description, f"the description of {wanted.name!r}", most=limits.content_bytes)
    if wanted.status is not None:
        checked_text(wanted.status, f"the status of {wanted.name!r}", most=limits.name_length)
    if wanted.metadata:
        checked_metadata(wanted.metadata, limits)
    check_observations(wanted.name, wanted.observations, limits)


def check_observations(name: str, texts: Sequence[str], limits: Limits) -> None:
    at_most(len(texts), limits.observations, f"observations for {name!r}")
    what = f"an observation of {name!r}"
    for text in texts:
        checked_text(text, what, most=limits.observation_length)


def check_relation(wanted: NewRelation, limits: Limits) -> None:
    most = limits.name_length
    for text, what in ((wanted.source, "source"), (wanted.target, "target"), (wanted.type, "type")):
        checked_text(text, f"a relation's {what}", most=most)
    for value, what in ((wanted.strength, "strength"), (wanted.confidence, "confidence")):
        if value is not None:
            checked_share(value, f"the {what} of a relation")
    if wanted.context is not None:
        checked_note(wanted.context, "a relation's context", most=limits.content_bytes)
