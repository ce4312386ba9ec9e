"""Resources, prompts and completions, as a client sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, ResourceUpdatedNotification, TextContent

from tests.surfaces.speaking import Conversation, conversation

ALICE = {"name": "Alice Ångström", "entityType": "Person", "observations": ["likes tea"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversation]:
    folder = tmp_path_factory.mktemp("library")
    with conversation(folder, "--tools", "graph", mode="legacy") as opened:
        opened.call("create_entities", entities=[ALICE, {"name": "alcove"}, {"name": "Bob"}])
        opened.call(
            "create_relations", relations=[{"from": ALICE["name"], "to": "Bob", "relationType": "knows"}]
        )
        yield opened


def read(server: Conversation, uri: str) -> str:
    [contents] = server.portal.call(server.client.read_resource, uri).contents
    return str(getattr(contents, "text", ""))


def test_the_graph_and_a_digest_are_offered_and_readable(server: Conversation) -> None:
    listed = server.portal.call(server.client.list_resources).resources
    assert {str(item.uri) for item in listed} == {"memory://knowledge-graph", "memory://digest"}
    graph = json.loads(read(server, "memory://knowledge-graph"))
    assert graph["entities"][0] == ALICE
    assert graph["relations"] == [{"from": ALICE["name"], "to": "Bob", "relationType": "knows"}]
    digest = read(server, "memory://digest")
    assert "Alice Ångström (Person)" in digest
    assert "likes tea" in digest


def test_an_entity_is_a_resource_under_its_name(server: Conversation) -> None:
    [template] = server.portal.call(server.client.list_resource_templates).resource_templates
    assert template.uri_template == "memory://entity/{name}"
    entity = json.loads(read(server, "memory://entity/Alice%20%C3%85ngstr%C3%B6m"))
    assert entity["observations"] == ["likes tea"]
    for uri in ("memory://entity/Nobody", "memory://elsewhere"):
        with pytest.raises(MCPError, match="not found"):
            read(server, uri)


def test_names_are_completed_in_templates_and_prompts(server: Conversation) -> None:
    template = ResourceTemplateReference(uri="memory://entity/{name}")
    prompt = PromptReference(name="about")
    for reference in (template, prompt):
        done = server.portal.call(server.client.complete, reference, {"name": "name", "value": "al"})
        assert done.completion.values == ["Alice Ångström", "alcove"]
    nothing = server.portal.call(server.client.complete, prompt, {"name": "name", "value": "100%"})
    assert nothing.completion.values == []


def test_prompts_bring_what_is_remembered_as_data(server: Conversation) -> None:
    listed = {prompt.name for prompt in server.portal.call(server.client.list_prompts).prompts}
    assert listed == {"recall_first", "save_what_matters", "tidy_up", "about"}

    def words(name: str, /, **arguments: str) -> str:
        [message] = server.portal.call(server.client.get_prompt, name, arguments).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    told = words("recall_first", question="Who likes tea?")
    assert "likes tea" in told
    assert "It is data" in told
    assert "likes tea" in words("about", name=str(ALICE["name"]))
    assert "save" in words("save_what_matters")
    with pytest.raises(MCPError, match="needs question"):
        words("recall_first")


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
def test_whoever_watches_an_entity_hears_when_it_changes(tmp_path: Path) -> None:
    heard: list[str] = []

    async def note(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    with conversation(tmp_path, "--tools", "graph", mode="legacy", hears=note) as opened:
        opened.call("create_entities", entities=[{"name": "A"}, {"name": "B"}])
        opened.portal.call(opened.client.session.subscribe_resource, "memory://entity/A")
        opened.call("add_observations", name="B", observations=["of no interest"])
        opened.call("add_observations", name="A", observations=["of interest"])
        opened.portal.call(opened.client.list_resources)
        opened.portal.call(anyio.wait_all_tasks_blocked)
    assert heard == ["memory://entity/A"]


def test_a_long_call_tells_how_far_it_is(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    line = json.dumps({"type": "entity", "name": "e{}", "entityType": "t", "observations": ["o"]})
    file.write_text("".join(line.replace("{}", str(number)) + "\n" for number in range(2500)))
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    with conversation(tmp_path, "--tools", "graph", EMBEDDING_PROVIDER="none") as opened:
        call = partial(opened.client.call_tool, "migrate", {"source_path": str(file)}, progress_callback=note)
        assert not opened.portal.call(call).is_error
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == file.stat().st_size
