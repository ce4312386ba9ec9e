"""The kinds of events, declared once."""

from __future__ import annotations

from mcp_memory.events import EVENTS, ChangeUndone, JournalEvent, MemoryDeleted, MemoryForgotten, kind_of


def test_every_kind_is_listed_under_its_name() -> None:
    def kinds(kind: type[JournalEvent]) -> set[type[JournalEvent]]:
        return {kind}.union(*map(kinds, kind.__subclasses__()))

    named = {kind for kind in kinds(JournalEvent) if "event" in vars(kind)}
    assert set(EVENTS.values()) == named
    assert all(kind.event == name for name, kind in EVENTS.items())


def test_the_payload_is_what_the_fields_say_without_defaults() -> None:
    assert MemoryDeleted("m").payload == {"id": "m"}
    assert MemoryDeleted("m", absorbed_by="n").payload == {"id": "m", "absorbed_by": "n"}
    assert MemoryForgotten("m", None, "tea").payload == {"id": "m", "reason": None, "preview": "tea"}
    assert ChangeUndone("a", ("memory_created",)).payload == {"act": "a", "did": ["memory_created"]}


def test_an_event_is_about_what_changed() -> None:
    assert (MemoryDeleted("m").subject, ChangeUndone("a", ()).subject) == ("m", "a")


def test_an_event_of_another_release_is_only_a_name() -> None:
    assert kind_of("moon_landed") is JournalEvent
