"""Calls that the shared server answers without the protocol library are answered as the library would."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp_types import methods

from mcp_memory.engine import Engine
from mcp_memory.errors import MemoryServerError
from mcp_memory.server.mcp.sets import tool_sets
from mcp_memory.server.mcp.tools import Tool, refusal
from mcp_memory.server.shared.direct_calls import VERSIONS, DirectCall, answer_line, read_call
from mcp_memory.thin.forwarding import LAST_ANSWERS
from tests.conftest import EngineMaker
from tests.engine.test_local_model import Local
from tests.surfaces.mcp.test_any_arguments import objects
from tests.surfaces.mcp.test_shared_server import Person, person  # noqa: F401

TOOLS: dict[tuple[str, str], Tool] = {
    (name, tool.name): tool
    for name in ("essentials", "graph", "memory", "agent", "anthropic")
    for tool_set in tool_sets([name])
    for tool in tool_set.tools
}

FOR_THE_LIBRARY = {"io.modelcontextprotocol/unknown": True}
"""About a call that is then not answered without it."""


def written_by_the_library(result: types.CallToolResult, version: str) -> bytes:
    dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    shaped = methods.serialize_server_result("tools/call", version, dumped)
    said = types.JSONRPCResponse(jsonrpc="2.0", id=7, result=shaped)
    return said.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


@pytest.mark.parametrize("which", sorted(TOOLS), ids=" ".join)
def test_an_answer_is_written_as_the_library_writes_it(which: tuple[str, str], engine: Engine) -> None:
    tool = TOOLS[which]
    ana = {"name": "Ana", "entityType": "person", "observations": ["likes tea", "works on port 8080"]}
    TOOLS["graph", "create_entities"].run(engine, {"entities": [ana]})

    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(arguments=objects(tool.input_schema) if tool.input_schema["properties"] else st.just({}))
    def same(arguments: dict[str, Any]) -> None:
        try:
            result = tool.run(engine, arguments)
        except MemoryServerError as error:
            result = refusal(error)
        for version in VERSIONS:
            assert answer_line(7, result) == written_by_the_library(result, version)

    same()


@pytest.mark.parametrize("which", sorted(one for one in TOOLS if TOOLS[one].asks or TOOLS[one].says))
def test_the_model_begins_with_the_text_that_the_tool_will_ask_for(
    which: tuple[str, str], make_engine: EngineMaker
) -> None:
    tool, model = TOOLS[which], Local()
    engine = make_engine(model=model)
    arguments = {tool.asks or tool.says: "Ana likes green tea"}
    tool.foresee(engine, arguments)
    tool.run(engine, arguments)
    assert model.log[:2] == ["foreseen: Ana likes green tea", "begun: Ana likes green tea"]

    model.log.clear()
    tool.foresee(engine, {tool.asks or tool.says: ["not", "a", "text"]})
    assert not model.log


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"name": "tools/call"}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "_meta": []}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "_meta": null}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", '
        '"params": {"name": "x", "_meta": {"progressToken": true}}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", '
        '"params": {"name": "x", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}',
        '{"jsonrpc": "2.0", "id": true, "method": "tools/call", "params": {"name": "x"}}',
        '{"jsonrpc": "2.0", "id": null, "method": "tools/call", "params": {"name": "x"}}',
        '{"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}',
        '{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": []}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["x"]}',
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}',
        '["tools/call"]',
        '{"method": "tools/call"',
    ],
)
def test_whatever_is_not_a_plain_call_is_left_to_the_library(line: str) -> None:
    assert read_call(line) is None


def test_a_plain_call_is_read() -> None:
    said = {"name": "open_nodes", "arguments": {"names": ["Ana"]}}
    line = json.dumps({"jsonrpc": "2.0", "id": "7", "method": "tools/call", "params": said})
    assert read_call(line) == DirectCall("7", "open_nodes", {"names": ["Ana"]})


def test_clients_may_say_more_about_a_call() -> None:
    about = {"progressToken": 3, "claudecode/toolUseId": "toolu_1"}
    call = {"name": "read_graph", "_meta": about}
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call})
    assert read_call(line) == DirectCall(7, "read_graph", {}, wants_progress=True)


def test_who_asks_for_progress_is_told_of_it(person: Person) -> None:  # noqa: F811
    one = person.assistant()
    one.greet()
    source = person.folder / "memory.jsonl"
    ana = {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["likes tea"]}
    source.write_text(json.dumps(ana) + "\n")
    one.ask("tools/call", name="read_graph", arguments={}, _meta={"progressToken": 1})
    one.ask("tools/call", name="migrate", arguments={"source_path": str(source)}, _meta={"progressToken": 2})
    assert {told["params"]["progressToken"] for told in one.heard} == {2}


def test_both_ways_through_the_shared_server_answer_the_same(person: Person) -> None:  # noqa: F811
    one = person.assistant("--tools", "graph,memory")
    one.greet()
    one.create("Ana")
    for name, arguments in (
        ("open_nodes", {"names": ["Ana"]}),
        ("search_nodes", {"query": "there"}),
        ("read_graph", {}),
        ("recall_memories", {"query": "there"}),
        ("open_nodes", {"no_such_field": 1}),
    ):
        direct = one.ask("tools/call", name=name, arguments=arguments)
        by_library = one.ask("tools/call", name=name, arguments=arguments, _meta=FOR_THE_LIBRARY)
        assert direct == by_library


def test_an_unknown_tool_is_an_error_of_the_protocol(person: Person) -> None:  # noqa: F811
    one = person.assistant()
    one.greet()
    said = {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "no_such_tool"}}
    one.say(said)
    answer = one._next(lambda message: message.get("id") == "x")
    assert answer["error"] == {"code": types.INVALID_PARAMS, "message": "Tool no_such_tool not found"}


def test_the_next_call_of_a_client_sees_that_a_memory_was_used(person: Person) -> None:  # noqa: F811
    one = person.assistant("--tools", "agent")
    one.greet()
    one.call("memory_save", content="The harbour freezes in winter")
    for count in range(5):
        [found] = one.call("memory_recall", query="harbour in winter", details=True)["memories"]
        assert found["access_count"] == count


def test_a_call_that_was_cancelled_is_not_answered(person: Person) -> None:  # noqa: F811
    one = person.assistant()
    one.greet()
    for number in range(20):
        call = {"name": "read_graph", "arguments": {}}
        one.say({"jsonrpc": "2.0", "id": f"c{number}", "method": "tools/call", "params": call})
        cancelled = {"requestId": f"c{number}"}
        one.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
    # Whether or not the answers were faster than the cancelling, the session goes on.
    assert one.ask("tools/call", name="read_graph", arguments={})["structuredContent"]["entities"] == []


def test_what_only_looks_like_a_call_is_not_waited_for(person: Person) -> None:  # noqa: F811
    one = person.assistant()
    one.greet()
    one.create("tea")
    beside = {"requestId": "unknown", "_meta": {"id": "tools/call"}}
    one.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": beside})
    assert one.ask("ping", _meta={"like": "tools/call"}) == {}
    assert one.sees("tea")
    assert one.process.stdin
    one.process.stdin.close()
    assert one.process.wait(LAST_ANSWERS / 2) == 0, "it waits for an answer"
