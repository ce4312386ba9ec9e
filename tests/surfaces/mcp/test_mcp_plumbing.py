"""How tools of any set are declared, listed, called and refused, in both eras of the protocol."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, Implementation, ResourceUpdatedNotification, TextContent
from pydantic import Field
from typing_extensions import TypedDict

from mcp_memory.engine.history import Touched
from mcp_memory.errors import NotFound
from mcp_memory.model import Caller, Event
from mcp_memory.server.mcp.server import build
from mcp_memory.server.mcp.tools import ADDS, READS, Arguments, Resource, ToolSet, tool

ERAS = ["legacy", "2026-07-28"]


class Page(Arguments):
    title: str = Field(description="How it is called.")
    after: str | None = Field(None, description="Where to go on.")


class Shelf(Arguments):
    pages: list[Page] = Field(description="What stands there.")
    limit: Annotated[int, Field(le=10, description="How many.")] = 5
    since: str | None = Field(None, description="Only newer ones.")


class Counted(TypedDict):
    count: int
    titles: list[str]
    note: str | None


class Seen(TypedDict):
    client: str
    thread: str


class EmptyJournal:
    """Of a memory in which nothing happens."""

    def last_seq(self) -> int:
        return 0

    def touched(self, after: int) -> Touched:
        return Touched(seq=after, anything=False, entities=())

    def events_after(self, seq: int, limit: int) -> list[Event]:
        return []

    @contextmanager
    def bell(self) -> Iterator[threading.Event]:
        yield threading.Event()


class Engine:
    """Stands for the real one: the plumbing only passes it on."""

    history = EmptyJournal()

    def __init__(self, client: str = "") -> None:
        self.client = client

    def acting_for(self, caller: Caller) -> "Engine":
        return Engine(caller.client)


@tool(title="Count Pages", annotations=READS)
def count_pages(engine: Engine, shelf: Shelf) -> Counted:
    """Count the pages of a shelf.

    Not for books.
    """
    return {"count": len(shelf.pages), "titles": [page.title for page in shelf.pages], "note": shelf.since}


@tool(title="Look", annotations=READS)
def look(engine: Engine) -> Seen:
    """Say who looks."""
    return {"client": engine.client, "thread": threading.current_thread().name}


@tool(title="Lose", annotations=ADDS)
def lose(engine: Engine) -> Seen:
    """Find nothing."""
    raise NotFound("no such page; list_pages shows them")


@tool(title="Break", annotations=ADDS)
def break_down(engine: Engine) -> Seen:
    """Fall over."""
    raise ZeroDivisionError("the secret reason")


@tool(title="Write", annotations=ADDS)
def write(engine: Engine) -> Seen:
    """Change something."""
    return {"client": engine.client, "thread": ""}


SHELF = Resource(
    uri="memory://shelf",
    name="shelf",
    title="Shelf",
    description="The shelf.",
    mime_type="text/plain",
    read=lambda engine: "a b c",
)
LIBRARY = ToolSet(
    name="library",
    tools=[count_pages, look, lose, break_down, write],
    resources=[SHELF],
    instruct=lambda offered: "Ask for pages.",
)


def talk(
    era: str,
    ask: Callable[[Client], Any],
    build_engine: Callable[[], Any] = Engine,
    name: str = "reader",
    **options: Any,
) -> Any:
    """What came of a conversation with the library."""

    async def conversation() -> Any:
        server = build([LIBRARY], cache(build_engine), workers=2)
        async with Client(
            server, mode=era, client_info=Implementation(name=name, version="1"), **options
        ) as client:
            return await ask(client)

    return anyio.run(conversation)


def call(era: str, name: str, **arguments: Any) -> CallToolResult:
    async def ask(client: Client) -> CallToolResult:
        return await client.call_tool(name, arguments)

    result: CallToolResult = talk(era, ask)
    return result


def text(result: CallToolResult) -> str:
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text


def complaint(**arguments: Any) -> str:
    result = call("legacy", "count_pages", **arguments)
    assert result.is_error
    assert result.structured_content is None
    refused = json.loads(text(result))
    assert refused["code"] == "invalid"
    error: str = refused["error"]
    return error


def test_input_schemas_have_no_references_and_no_titles_and_what_is_optional_may_be_null() -> None:
    assert count_pages.input_schema == {
        "type": "object",
        "properties": {
            "pages": {
                "description": "What stands there.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"description": "How it is called.", "type": "string"},
                        "after": {
                            "description": "Where to go on.",
                            "anyOf": [{"type": "string"}, {"type": "null"}],
                        },
                    },
                    "required": ["title"],
                },
            },
            "limit": {
                "description": "How many. Default: 5.",
                "anyOf": [{"type": "integer", "maximum": 10}, {"type": "null"}],
            },
            "since": {
                "description": "Only newer ones.",
                "anyOf": [{"type": "string"}, {"type": "null"}],
            },
        },
        "required": ["pages"],
    }


def test_output_schemas_say_where_null_may_stand() -> None:
    assert count_pages.output_schema is not None
    assert count_pages.output_schema["type"] == "object"
    assert count_pages.output_schema["properties"]["note"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}]
    }


def test_an_answer_that_is_no_object_cannot_be_declared() -> None:
    def texts(engine: Engine) -> list[str]:
        raise NotImplementedError

    with pytest.raises(TypeError, match="must answer with an object"):
        assert tool(title="Texts", annotations=READS)(texts).output_schema


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_listed_with_everything_a_host_wants_to_know(era: str) -> None:
    async def ask(client: Client) -> Any:
        return (await client.list_tools()).tools

    listed = talk(era, ask)
    assert [shown.name for shown in listed] == ["count_pages", "look", "lose", "break_down", "write"]
    assert listed[0].description == "Count the pages of a shelf.\n\nNot for books."
    assert listed[0].annotations == READS
    assert listed[0].title == "Count Pages"


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_is_structured_and_the_same_as_text(era: str) -> None:
    result = call(era, "count_pages", pages=[{"title": "日本"}])
    assert result.structured_content == {"count": 1, "titles": ["日本"], "note": None}
    assert text(result) == '{"count":1,"titles":["日本"],"note":null}'


def test_json_text_in_place_of_a_list_is_taken() -> None:
    assert call("legacy", "count_pages", pages='[{"title": "a"}]').structured_content == {
        "count": 1,
        "titles": ["a"],
        "note": None,
    }


def test_an_explicit_null_means_left_out() -> None:
    assert not call("legacy", "count_pages", pages=[{"title": "a", "after": None}], since=None).is_error


def test_unknown_arguments_are_refused_with_the_allowed_ones() -> None:
    assert complaint(pages=[], colour="red") == "colour is not known here; allowed: pages, limit, since"
    assert (
        complaint(pages=[{"title": "a", "size": 1}])
        == "pages[0].size is not known here; allowed: title, after"
    )


def test_a_tool_without_arguments_takes_none() -> None:
    assert "colour is not known here; allowed: no arguments" in text(call("legacy", "look", colour="red"))


def test_missing_and_wrong_arguments_are_named_in_plain_words() -> None:
    assert complaint() == "pages is missing"
    assert (
        complaint(pages=[{}], limit=11)
        == "pages[0].title is missing; limit: must be less than or equal to 10"
    )
    assert complaint(pages="none") == "pages: must be a valid list"


@pytest.mark.parametrize("era", ERAS)
def test_a_failure_says_what_to_do_and_is_marked_as_one(era: str) -> None:
    result = call(era, "lose")
    assert result.is_error
    assert json.loads(text(result)) == {"error": "no such page; list_pages shows them", "code": "not_found"}


@pytest.mark.parametrize("era", ERAS)
def test_a_bug_is_logged_and_not_shown(era: str, caplog: pytest.LogCaptureFixture) -> None:
    result = call(era, "break_down")
    assert result.is_error
    assert "secret" not in text(result)
    assert "the secret reason" in caplog.text


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_a_protocol_error(era: str) -> None:
    async def ask(client: Client) -> Any:
        with pytest.raises(MCPError, match="Tool read_mind not found") as refused:
            await client.call_tool("read_mind", {})
        return refused.value.code

    assert talk(era, ask) == INVALID_PARAMS


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_resource_is_a_protocol_error(era: str) -> None:
    async def ask(client: Client) -> Any:
        with pytest.raises(MCPError, match="not found") as refused:
            await client.read_resource("memory://cellar")
        return refused.value.code

    assert talk(era, ask) == INVALID_PARAMS


@pytest.mark.parametrize("era", ERAS)
def test_tools_run_in_worker_threads_on_behalf_of_the_client(era: str) -> None:
    seen = call(era, "look").structured_content
    assert seen is not None
    assert seen["client"] == "reader"
    assert seen["thread"] != threading.current_thread().name


@pytest.mark.parametrize("era", ERAS)
def test_a_client_may_call_itself_anything(era: str) -> None:
    """Its name is kept with what it changes, as far as every database and list can hold it."""

    async def ask(client: Client) -> Any:
        return (await client.call_tool("look", {})).structured_content

    assert talk(era, ask, name="re\0ad\ner" + "s" * 200)["client"] == "reader" + "s" * 74


@pytest.mark.parametrize("era", ERAS)
def test_the_engine_is_built_by_the_first_call_and_once(era: str) -> None:
    built: list[Engine] = []

    def build_engine() -> Engine:
        built.append(Engine())
        return built[-1]

    async def ask(client: Client) -> list[int]:
        await client.list_tools()
        before = len(built)
        async with anyio.create_task_group() as calls:
            for _ in range(5):
                calls.start_soon(client.call_tool, "look", {})
        return [before, len(built)]

    assert talk(era, ask, build_engine) == [0, 1]


def test_an_engine_that_cannot_be_built_is_tried_again() -> None:
    attempts: list[int] = []

    def build_engine() -> Engine:
        attempts.append(1)
        if len(attempts) == 1:
            raise NotFound("no database here; set DATABASE_URL")
        return Engine()

    async def ask(client: Client) -> list[Any]:
        return [(await client.call_tool("look", {})).is_error for _ in range(2)]

    assert talk("legacy", ask, build_engine) == [True, False]


@pytest.mark.parametrize("era", ERAS)
def test_a_resource_is_read(era: str) -> None:
    async def ask(client: Client) -> Any:
        [contents] = (await client.read_resource(SHELF.uri)).contents
        return contents

    assert talk(era, ask).text == "a b c"


def test_who_listens_hears_of_writes_and_not_of_reads() -> None:
    async def ask(client: Client) -> list[Any]:
        heard: list[Any] = []
        async with client.listen(resource_subscriptions=[SHELF.uri]) as events:
            for name in ("look", "lose", "write"):
                await client.call_tool(name, {})
                await anyio.wait_all_tasks_blocked()
                with anyio.move_on_after(0):
                    event = await anext(events)
                    heard.append((name, event))
        return heard

    [(name, event)] = talk("2026-07-28", ask)
    assert name == "write"
    assert event.uri == SHELF.uri


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
def test_who_subscribed_hears_of_writes_and_not_of_reads() -> None:
    heard: list[str] = []

    async def note(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    async def ask(client: Client) -> None:
        await client.session.subscribe_resource(SHELF.uri)
        for name in ("look", "lose", "write"):
            await client.call_tool(name, {})
        await client.session.unsubscribe_resource(SHELF.uri)
        await client.call_tool("write", {})

    talk("legacy", ask, message_handler=note)
    assert heard == [SHELF.uri]


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_instructions_reach_the_client(era: str) -> None:
    async def ask(client: Client) -> Any:
        return client.instructions

    assert talk(era, ask) == "Ask for pages."
