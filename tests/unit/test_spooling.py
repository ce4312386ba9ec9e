"""Tests of lines in a temporary file."""

import tracemalloc
from collections.abc import Iterator

import pytest

from mcp_memory.engine.spooling import KEPT_IN_MEMORY, spool, temporary_file

LINE = b"x" * 2**18


def test_lines_come_back_each_with_an_end() -> None:
    with temporary_file() as file:
        spool([b"one", b"two\n", b""], file)
        assert list(file) == [b"one\n", b"two\n", b"\n"]


def test_long_files_are_not_held_in_memory() -> None:
    tracemalloc.start()
    try:
        with temporary_file() as file:
            spool((LINE for _ in range(160)), file)
            _, most = tracemalloc.get_traced_memory()
            length = sum(map(len, file))
    finally:
        tracemalloc.stop()
    assert length == 160 * (len(LINE) + 1)
    assert most < 4 * KEPT_IN_MEMORY


def test_a_failure_of_the_lines_is_not_hidden() -> None:
    def failing() -> Iterator[bytes]:
        yield LINE
        raise ValueError("the database went away")

    with temporary_file() as file, pytest.raises(ValueError, match="went away"):
        spool(failing(), file)
