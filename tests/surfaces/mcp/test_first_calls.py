"""The first calls of a server, which several assistants may make at the same moment."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_memory.server.mcp.tools import READS, Arguments, Tool, tool
from mcp_memory.server.shapes.shape import Shape

THREADS = 8
ROUNDS = 10


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Said(Shape):
    count: int


def counting_tool(described: list[int]) -> Tool:
    """A tool that notes whenever its arguments are described."""

    class Given(Arguments):
        parts: list[str]

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
            described.append(threading.get_ident())
            return handler(schema)

    def count_parts(engine: object, arguments: Given) -> Said:
        """Count."""
        return Said(count=len(arguments.parts))

    count_parts.__annotations__ = {"engine": object, "arguments": Given, "return": Said}
    return tool(title="Count", annotations=READS)(count_parts)


def test_assistants_that_begin_with_the_same_tool_do_not_prepare_it_at_the_same_time() -> None:
    for _ in range(ROUNDS):
        described: list[int] = []
        offered = counting_tool(described)
        together = threading.Barrier(THREADS)
        counts: list[Any] = []

        def first_call(offered: Tool = offered, together: threading.Barrier = together) -> None:
            together.wait()
            counts.append(offered.run(None, {"parts": ["a"]}).structured_content)  # type: ignore[arg-type] # noqa: B023

        threads = [threading.Thread(target=first_call) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counts == [{"count": 1}] * THREADS
        assert len({*described}) == 1
