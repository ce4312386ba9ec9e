"""The nine tools and the one resource of Anthropic's memory server, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mcp_types as types

from mcp_memory.errors import Invalid, MemoryServerError
from mcp_memory.server.mcp.schema import Json
from mcp_memory.server.mcp.tools import ADDS, DELETES, READS, Resource, Tool, ToolSet, failed, quietly
from mcp_memory.text.graph_lines import EntityLine, GraphLines, RelationLine

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.engine.anthropic_compat import Removed

DIALECT = "https://json-schema.org/draft/2020-12/schema"
QUERY_LENGTH = 2048


def _text(description: str = "", **limits: int) -> Json:
    return {"type": "string", **limits, **({"description": description} if description else {})}


def _list(items: Json, description: str = "") -> Json:
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def _record(**fields: Json) -> Json:
    """An object whose fields are all required; other fields are dropped."""
    return {"type": "object", "properties": fields, **({"required": list(fields)} if fields else {})}


def _closed(schema: Json) -> Json:
    """The same, with nothing else allowed at any level."""
    closed = {key: _closed(value) if isinstance(value, dict) else value for key, value in schema.items()}
    return closed | ({"additionalProperties": False} if schema.get("type") == "object" else {})


_ENTITIES = _list(
    _record(
        name=_text("What the entity is called; a name stands for one entity."),
        entityType=_text("What kind of thing it is, such as person, project or place."),
        observations=_list(_text(), "What is known about it, one fact per string."),
    )
)
_RELATIONS = _list(
    _record(
        **{"from": _text("The name of the entity that the relation starts at.")},
        to=_text("The name of the entity that it leads to."),
        relationType=_text("How the first is related to the second, in active voice, such as works_at."),
    )
)
_GRAPH = _record(entities=_ENTITIES, relations=_RELATIONS)
_STATUS = _record(success={"type": "boolean"}, message=_text())


def _validated(tool: str, schema: Json, arguments: Mapping[str, Any]) -> Any:
    complaints = list(_complaints(schema, arguments, ""))
    if complaints:
        raise Invalid(f"Input validation error: Invalid arguments for tool {tool}: {', '.join(complaints)}")
    return arguments


_MISSING = object()


def _complaints(schema: Json, value: Any, path: str) -> Iterator[str]:
    """The error in the original's words, which clients may parse."""
    expected, received = schema["type"], _kind(value)
    if expected != received:
        yield f"{path}: Invalid input: expected {expected}, received {received}"
    elif expected == "array":
        for index, item in enumerate(value):
            yield from _complaints(schema["items"], item, f"{path}.{index}")
    elif expected == "object":
        for name, field in schema["properties"].items():
            yield from _complaints(field, value.get(name, _MISSING), f"{path}.{name}".lstrip("."))
    elif len(value.encode("utf-16-le", "surrogatepass")) // 2 > schema.get("maxLength", float("inf")):
        yield f"{path}: Too big: expected string to have <={schema['maxLength']} characters"


def _kind(value: Any) -> str:
    """The JavaScript name of a JSON type."""
    if value is _MISSING:
        return "undefined"
    names = {str: "string", bool: "boolean", list: "array", dict: "object", int: "number", float: "number"}
    return "null" if value is None else names[type(value)]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _answer(structured: Json, *texts: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts], structured_content=structured
    )


def _entity_lines(items: Sequence[Json]) -> list[EntityLine]:
    return [EntityLine(item["name"], item["entityType"], tuple(item["observations"])) for item in items]


def _relation_lines(items: Sequence[Json]) -> list[RelationLine]:
    return [RelationLine(item["from"], item["to"], item["relationType"]) for item in items]


def _entities(lines: Sequence[EntityLine]) -> list[Json]:
    return [
        {"name": line.name, "entityType": line.type, "observations": list(line.observations)}
        for line in lines
    ]


def _relations(lines: Sequence[RelationLine]) -> list[Json]:
    return [{"from": line.source, "to": line.target, "relationType": line.type} for line in lines]


def _graph(lines: GraphLines) -> Json:
    return {"entities": _entities(lines.entities), "relations": _relations(lines.relations)}


def _shown(lines: GraphLines) -> types.CallToolResult:
    graph = _graph(lines)
    return _answer(graph, _json(graph))


def _removed(what: str, removed: Removed, rest: str) -> types.CallToolResult:
    message = f"{what.capitalize()} deleted successfully"
    if not removed.all_found:
        message = f"Deleted {removed.found} of {removed.wanted} {what}.{rest}"
    return _answer({"success": True, "message": message}, message)


def _names(label: str, names: Sequence[str]) -> str:
    return f" {label}: {', '.join(names)}" if names else ""


def _create_entities(engine: Engine, arguments: Json) -> types.CallToolResult:
    created = engine.anthropic_compat.create_entities(_entity_lines(arguments["entities"]))
    entities = _entities(created.entities)
    if not created.skipped:
        return _answer({"entities": entities}, _json(entities))
    return _answer(
        {"entities": entities, "skipped": list(created.skipped)}, _json(entities), _skipped(created.skipped)
    )


def _skipped(names: Sequence[str]) -> str:
    one = len(names) == 1
    what = "1 entity that already exists" if one else f"{len(names)} entities that already exist"
    return (
        f"Skipped {what}: {', '.join(names)}. {'Its' if one else 'Their'} observations were not added; "
        "use add_observations for existing entities."
    )


def _create_relations(engine: Engine, arguments: Json) -> types.CallToolResult:
    relations = _relations(engine.anthropic_compat.create_relations(_relation_lines(arguments["relations"])))
    return _answer({"relations": relations}, _json(relations))


def _add_observations(engine: Engine, arguments: Json) -> types.CallToolResult:
    wanted = [(item["entityName"], item["contents"]) for item in arguments["observations"]]
    added = engine.anthropic_compat.add_observations(wanted)
    results = [{"entityName": name, "addedObservations": texts} for name, texts in added]
    return _answer({"results": results}, _json(results))


def _delete_entities(engine: Engine, arguments: Json) -> types.CallToolResult:
    removed = engine.anthropic_compat.delete_entities(arguments["entityNames"])
    return _removed("entities", removed, _names("Not found", removed.missing))


def _delete_observations(engine: Engine, arguments: Json) -> types.CallToolResult:
    wanted = [(item["entityName"], item["observations"]) for item in arguments["deletions"]]
    removed = engine.anthropic_compat.delete_observations(wanted)
    return _removed("observations", removed, _names("Entities not found", removed.missing))


def _delete_relations(engine: Engine, arguments: Json) -> types.CallToolResult:
    removed = engine.anthropic_compat.delete_relations(_relation_lines(arguments["relations"]))
    return _removed("relations", removed, " The rest matched nothing.")


def _read_graph(engine: Engine, arguments: Json) -> types.CallToolResult:
    return _shown(engine.anthropic_compat.read())


def _search_nodes(engine: Engine, arguments: Json) -> types.CallToolResult:
    return _shown(engine.anthropic_compat.search(arguments["query"]))


def _open_nodes(engine: Engine, arguments: Json) -> types.CallToolResult:
    return _shown(engine.anthropic_compat.open(arguments["names"]))


def _tool(
    name: str,
    description: str,
    annotations: types.ToolAnnotations,
    takes: Json,
    gives: Json,
    body: Callable[[Engine, Json], types.CallToolResult],
) -> Tool:
    return Tool(
        name=name,
        title=name.replace("_", " ").title(),
        description=description,
        annotations=annotations,
        describe_input=lambda: {"$schema": DIALECT, **takes},
        describe_output=lambda: {"$schema": DIALECT, **_closed(gives)},
        run=lambda engine, arguments, tell=quietly, /: body(engine, _validated(name, takes, arguments)),
    )


_NINE = (
    _tool(
        "create_entities",
        "Add new entities, with what is known about them, to the knowledge graph. An entity whose name is "
        "taken already, in the graph or earlier in the same call, is left out with all its observations and "
        "named in `skipped`: use add_observations for it.",
        ADDS,
        _record(entities=_ENTITIES),
        {**_record(entities=_ENTITIES), "properties": {"entities": _ENTITIES, "skipped": _list(_text())}},
        _create_entities,
    ),
    _tool(
        "create_relations",
        "Connect entities of the knowledge graph. Both must exist. Word a relation in active voice.",
        ADDS,
        _record(relations=_RELATIONS),
        _record(relations=_RELATIONS),
        _create_relations,
    ),
    _tool(
        "add_observations",
        "Add facts to entities of the knowledge graph. A fact that an entity has already is not added again.",
        ADDS,
        _record(
            observations=_list(
                _record(
                    entityName=_text("The name of the entity that the facts are about."),
                    contents=_list(_text(), "The facts, one per string."),
                )
            )
        ),
        _record(results=_list(_record(entityName=_text(), addedObservations=_list(_text())))),
        _add_observations,
    ),
    _tool(
        "delete_entities",
        "Remove entities, and every relation that touches them, from the knowledge graph.",
        DELETES,
        _record(entityNames=_list(_text(), "The names of the entities to remove.")),
        _STATUS,
        _delete_entities,
    ),
    _tool(
        "delete_observations",
        "Remove facts from entities of the knowledge graph; each is given word for word.",
        DELETES,
        _record(
            deletions=_list(
                _record(
                    entityName=_text("The name of the entity that has them."),
                    observations=_list(_text(), "The facts to remove, word for word."),
                )
            )
        ),
        _STATUS,
        _delete_observations,
    ),
    _tool(
        "delete_relations",
        "Remove relations from the knowledge graph; both ends and the type must match.",
        DELETES,
        _record(relations={**_RELATIONS, "description": "The relations to remove."}),
        _STATUS,
        _delete_relations,
    ),
    _tool(
        "read_graph",
        "Read the whole knowledge graph. It may be large: search_nodes or open_nodes give a part of it.",
        READS,
        _record(),
        _GRAPH,
        _read_graph,
    ),
    _tool(
        "search_nodes",
        "Find entities with the query, as one piece of text in any case, in their name, type or a fact.",
        READS,
        _record(
            query=_text("The text to look for; one word finds more than several.", maxLength=QUERY_LENGTH)
        ),
        _GRAPH,
        _search_nodes,
    ),
    _tool(
        "open_nodes",
        "Read entities of the knowledge graph by their exact names, with every relation that touches them.",
        READS,
        _record(names=_list(_text(), "The names of the entities to read.")),
        _GRAPH,
        _open_nodes,
    ),
)


def _refuse(error: MemoryServerError) -> types.CallToolResult:
    return failed(str(error))


TOOLS = ToolSet(
    name="anthropic",
    tools=_NINE,
    resources=(
        Resource(
            uri="memory://knowledge-graph",
            name="knowledge-graph",
            title="Knowledge Graph",
            description="Everything in the knowledge graph: all entities and all relations.",
            mime_type="application/json",
            read=lambda engine: _json(_graph(engine.anthropic_compat.read())),
        ),
    ),
    server_name="memory-server",
    greeting="Knowledge Graph MCP Server",
    refuse=_refuse,
)
