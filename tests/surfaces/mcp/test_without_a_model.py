"""Where there is no model, every surface says the same about what cannot be done without one."""

from __future__ import annotations

import json
from pathlib import Path

from mcp_types import TextContent

from mcp_memory import wiring
from mcp_memory.config import load
from tests.surfaces.cli.shell import Shell
from tests.surfaces.rest.serving import running
from tests.surfaces.speaking import conversation_with


def test_consolidation_is_refused_in_the_same_words_everywhere(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    said = shell.refused("consolidate", exit_code=3)
    assert said.startswith("memories cannot be compared by meaning: EMBEDDING_PROVIDER is none")
    assert "set it to local" in said
    engine = wiring.build(load(environ=shell.environment))
    with running(engine) as server, server.client() as client, conversation_with(engine, "memory") as opened:
        answer = client.post("/api/memories/consolidate", json={})
        assert (answer.status_code, answer.json()["code"]) == (409, "unequipped")
        assert answer.json()["detail"] == said
        assert "retry-after" not in answer.headers
        result = opened.portal.call(opened.client.call_tool, "consolidate_memories", {})
        [part] = result.content
        assert isinstance(part, TextContent)
        assert result.is_error
        assert json.loads(part.text) == {"error": said, "code": "unequipped"}
