"""Commands that find and read the graph."""

from __future__ import annotations

import click

from mcp_memory.cli.memory_rendering import memory_json, print_memories
from mcp_memory.cli.output import json_option, limit_option, note, print_json, printable, say, shaped
from mcp_memory.cli.rendering import graph_json, print_nodes, print_relations
from mcp_memory.cli.session import Session
from mcp_memory.engine.entity_search import EntityAnswer
from mcp_memory.engine.graph import GraphPage
from mcp_memory.model import Node
from mcp_memory.text.plain import plain


@click.command()
@click.argument("query")
@click.option("--words", is_flag=True, help="Match the query as a substring, not by meaning.")
@click.option("--explain", is_flag=True, help="Show each result's ranking factors.")
@limit_option(10)
@json_option
@click.pass_obj
def search(session: Session, query: str, words: bool, explain: bool, limit: int, as_json: bool) -> None:
    """Find entities by meaning and words."""
    if words:
        _show_page(session.engine.graph.search_nodes(query, limit=limit), as_json)
    else:
        _show_answer(session.engine.entities.search(query, limit, explain=explain), as_json)


@click.command()
@limit_option(50)
@click.option("--after", type=click.IntRange(0), default=0, help="Cursor: continue after this entity.")
@json_option
@click.pass_obj
def graph(session: Session, limit: int, after: int, as_json: bool) -> None:
    """Read the whole graph, a page at a time."""
    _show_page(session.engine.graph.read(limit=limit, after=after), as_json)


def _show_answer(answer: EntityAnswer[Node], as_json: bool) -> None:
    if as_json:
        found = [shaped("FoundEntityJson", hit) for hit in answer.hits]
        loose = [memory_json(memory) for memory in answer.orphans]
        print_json(
            {"mode": answer.mode, "strategy": answer.routing_strategy, "results": found, "memories": loose}
        )
        return
    for hit in answer.hits:
        print_nodes([hit.node])
        if hit.explanation is not None:
            factors = plain(hit.explanation)
            say("  = " + ", ".join(f"{name} {printable(value) or '-'}" for name, value in factors.items()))
    if answer.orphans:
        print_memories(answer.orphans)
    elif not answer.hits:
        note("Nothing found.")
    if answer.mode.startswith("keyword"):
        note(f"Searched by {answer.mode}")


def _show_page(page: GraphPage, as_json: bool) -> None:
    if as_json:
        print_json({**graph_json(page.graph), "total": page.total, "next": page.cursor})
        return
    print_nodes(page.graph.nodes)
    if page.graph.relations:
        print_relations(page.graph.relations)
    note(f"{len(page.graph.nodes):,} of {page.total:,} entities")
    if page.cursor is not None:
        note(f"continue with --after {page.cursor}")
