"""An engine that is built at its first use, and not again once the server stops."""

from __future__ import annotations

import threading

import pytest

from mcp_memory.engine import Engine
from mcp_memory.errors import Unavailable
from mcp_memory.server.lazy import LazyEngine


def test_a_call_that_comes_after_closing_is_refused(engine: Engine) -> None:
    built: list[Engine] = []

    def build() -> Engine:
        built.append(engine)
        return engine

    lazy = LazyEngine(build)
    lazy()
    lazy.close()
    with pytest.raises(Unavailable, match="stopping"):
        lazy()
    assert len(built) == 1


def test_it_is_built_once_for_all_threads(engine: Engine) -> None:
    built: list[Engine] = []
    lazy = LazyEngine(lambda: built.append(engine) or engine)  # type: ignore[func-returns-value]
    threads = [threading.Thread(target=lazy) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lazy.close()
    assert len(built) == 1


def test_what_keeps_it_from_beginning_is_logged_and_tried_again(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    obstacles = [Unavailable("the database is away")]

    def build() -> Engine:
        if obstacles:
            raise obstacles.pop()
        return engine

    lazy = LazyEngine(build)
    lazy.begin().join()
    assert "the database is away" in caplog.text
    assert lazy() is engine
    lazy.close()
