"""The setting for how much is logged acts on the server."""

from __future__ import annotations

import logging

import pytest

from mcp_memory.config import load
from mcp_memory.server.serving import server


async def no_app(scope: object, receive: object, send: object) -> None: ...


@pytest.mark.seed("004 §9.1")
@pytest.mark.parametrize(("level", "wanted"), [("debug", logging.DEBUG), ("error", logging.ERROR)])
def test_the_log_level_acts_on_the_server(level: str, wanted: int) -> None:
    config = load({"log_level": level}, environ={})
    made = server(no_app, "127.0.0.1", 0, config.log_level)
    made.config.configure_logging()
    assert logging.getLogger("uvicorn.error").level == wanted
