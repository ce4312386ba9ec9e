"""The default tool set: small enough to be paid for in every request, and whole enough to work with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.config import ALL_SETS, Config
from mcp_memory.server.mcp.instructions import instructions
from mcp_memory.server.mcp.offered_tools import ALL_NAMES, about_offered
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.text.budget import tokens
from tests.surfaces.speaking import Conversation, conversation

MOST_TOOLS = 9
MOST_BYTES = 10_000
MOST_TOKENS = 1_600
INSTRUCTIONS_ARE_CUT_AT = 2_048

SETS = [(name,) for name in ("essentials", *ALL_SETS)] + [("graph", "agent"), ALL_SETS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    """A server as it is without a setting."""
    with conversation(tmp_path_factory.mktemp("essentials")) as opened:
        yield opened


def call(server: Conversation, tool: str, **arguments: Any) -> Any:
    result = server.portal.call(server.client.call_tool, tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def test_they_are_the_default_and_all_is_everything() -> None:
    assert Config().tool_sets == ("essentials",)
    assert Config(tools="all").tool_sets == ("graph", "memory", "agent")


def test_the_list_of_tools_keeps_its_budget(server: Conversation) -> None:
    """Tokens by the rule of `text.budget`: four characters of compact JSON each, which is cautious."""
    listed = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in server.tools.values()
    ]
    wire = json.dumps({"tools": listed}, separators=(",", ":"), ensure_ascii=False).encode()
    paid = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in listed]
    assert len(listed) <= MOST_TOOLS
    assert len(wire) <= MOST_BYTES
    assert sum(map(tokens, paid)) <= MOST_TOKENS
    assert all("outputSchema" not in tool for tool in listed)


def test_one_text_says_when_to_recall_and_when_to_save(server: Conversation) -> None:
    said = server.client.instructions or ""
    assert len(said) < INSTRUCTIONS_ARE_CUT_AT
    assert "memory_recall" in said
    assert "memory_save" in said


def test_a_day_with_the_essentials(server: Conversation) -> None:
    saved = call(server, "memory_save", content="Ana prefers tabs", memory_type="preference")
    [found] = call(server, "memory_recall", query="tabs or spaces for Ana?")["memories"]
    assert found["id"] == saved["memory_id"]
    call(server, "update_memory", memory_id=found["id"], content="Ana prefers four spaces")
    call(server, "create_entities", entities=[{"name": "Ana", "entityType": "Person"}, {"name": "Acme"}])
    call(server, "create_relations", relations=[{"from": "Ana", "to": "Acme", "relationType": "works_at"}])
    opened = call(server, "open_nodes", names=["Ana"], details=True)
    assert opened["relations"][0]["to"] == "Acme"
    assert call(server, "memory_delete", memory_id=found["id"], reason="wrong")["forgotten"]
    assert "forgot" in call(server, "undo_change")["undone"]
    assert call(server, "memory_recall", query="Ana spaces")["memories"]


def test_fields_that_are_not_listed_are_taken_all_the_same(server: Conversation) -> None:
    made = call(
        server,
        "create_relations",
        relations=[{"source": "Bo", "target": "Acme", "relation_type": "advises"}],
    )
    assert made["relations"][0]["source"] == "Bo"
    assert "source" not in json.dumps(server.tools["create_relations"].input_schema)


@pytest.mark.parametrize("names", SETS, ids="-".join)
def test_texts_name_only_tools_that_are_offered(names: tuple[str, ...]) -> None:
    sets = tool_sets(names)
    offered = {tool.name: tool for tool_set in sets for tool in tool_set.tools}
    listed = [tool.listed(offered) for tool in offered.values()]
    assert all(len(tool.description or "") > 20 for tool in listed)
    texts = [tool.model_dump_json() for tool in listed]
    texts += [about_offered(prompt.text, offered) for tool_set in sets for prompt in tool_set.prompts]
    texts.append(instructions(offered))
    named = {name for text in texts for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)}
    assert named & ALL_NAMES <= offered.keys()


def test_every_tool_has_a_name_that_texts_are_searched_for() -> None:
    assert {tool.name for tool_set in tool_sets(ALL_SETS) for tool in tool_set.tools} == ALL_NAMES


def test_a_prompt_about_tools_that_are_not_there_is_not_offered(tmp_path: Path, server: Conversation) -> None:
    def prompts(opened: Conversation) -> set[str]:
        return {prompt.name for prompt in opened.portal.call(opened.client.list_prompts).prompts}

    assert "tidy_up" not in prompts(server)
    with conversation(tmp_path, "--tools", "all") as everything:
        assert "tidy_up" in prompts(everything)
        assert everything.tools.keys() == ALL_NAMES
