"""The default tool set: one way to save, to recall, to correct and to connect, for few tokens.

An assistant pays for the list of tools in every request. So each tool is listed with the fields that are
used most, and without a schema of its answer; it takes all the others too.
"""

from mcp_memory.server.mcp.agent import memory_delete, memory_recall, memory_save
from mcp_memory.server.mcp.changes import undo_change
from mcp_memory.server.mcp.graph import create_entities, create_relations, open_nodes
from mcp_memory.server.mcp.memory_maintenance import update_memory
from mcp_memory.server.mcp.tools import ToolSet

TOOLS = ToolSet(
    name="essentials",
    tools=(
        memory_save.listing(
            "content", "memory_type", "importance", "source", "associations.target_id",
            "associations.relation_type",
        ),
        memory_recall.listing("query", "mode", "memory_type", "max_results", "max_tokens"),
        update_memory.listing("memory_id", "content", "memory_type", "tags", "importance"),
        memory_delete.listing("memory_id", "reason"),
        create_entities.listing("entities.name", "entities.entityType", "entities.observations"),
        create_relations.listing(
            "relations.from!", "relations.to!", "relations.relationType!",
            description="Connect entities that exist: who works where, what depends on what.\n\n"
            "Good relations of a call are kept even if others fail; `errors` says which did.",
        ),
        open_nodes.listing("names", "details", "max_tokens"),
        undo_change.listing(),
    ),
)  # fmt: skip
