"""Ids of new rows: UUIDs of version 7, which sort by the time they were made."""

import time
import uuid

import pytest

from mcp_memory.wiring import new_id

pytestmark = pytest.mark.unit


def test_an_id_is_a_uuid_of_version_7_in_its_usual_form() -> None:
    for _ in range(100):
        made = uuid.UUID(new_id())
        assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert str(uuid.UUID(id := new_id())) == id


def test_an_id_begins_with_the_time_in_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id()).int >> 80
    assert before <= made <= time.time_ns() // 1_000_000


def test_no_two_ids_are_the_same() -> None:
    assert len({new_id() for _ in range(10_000)}) == 10_000
