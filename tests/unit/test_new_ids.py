"""Ids of new rows: UUIDs of version 7, which sort by the time they were made."""

import os
import subprocess
import sys
import threading
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


def test_threads_make_no_id_twice() -> None:
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.extend([new_id() for _ in range(2_000)])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_makes_other_ids_than_its_parent() -> None:
    # In a process without other threads, which a fork would leave behind.
    program = """
import os
from mcp_memory.wiring import new_id
first = new_id()
if child := os.fork():
    os.waitpid(child, 0)
print(*[new_id()[14:] for _ in range(70)])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert len(set(said.split())) == 140
