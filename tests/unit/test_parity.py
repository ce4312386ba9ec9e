"""Every use case is reachable from every surface, or it says here why not."""

from __future__ import annotations

import ast
import inspect
import typing
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path

import mcp_memory
from mcp_memory.engine import Engine

SOURCE = Path(mcp_memory.__file__).parent
SURFACES = {"mcp": "server/mcp/**/*.py", "rest": "server/rest/**/*.py", "cli": "cli/**/*.py"}

NOT_A_USE_CASE = {
    "access.claim": "a step of an idempotent REST request",
    "access.answer": "a step of an idempotent REST request",
    "access.release": "a step of an idempotent REST request",
    "access.needs_token": "the HTTP guard asks it before any surface",
    "access.token_of": "the HTTP guard asks it before any surface",
    "anthropic_compat.resume": "background work, when a server starts",
    "anthropic_compat.write_file": "background work",
    "arrivals.*": "hooks and the page ask for it; tools give the same through recall and the digest",
    "backups.make_if_due": "background work",
    "captures.cursor": "a step of capturing, which hooks do",
    "captures.note_uses": "a step of capturing, which hooks do",
    "captures.take_in": "a step of capturing, which hooks do",
    "captures.last_calls": "a step of capturing, which hooks do",
    "history.age_journal": "background work",
    "transfer.take_back_unfinished": "background work, when the database is opened",
    "history.change_signal": "feeds the event stream",
    "history.events_after": "feeds the event stream",
    "history.last_seq": "feeds subscriptions",
    "history.touched": "feeds subscriptions",
    "indexing.*": "background work, and a step of searching",
    "inventory.vectors": "diagnostics, and a step of `info`",
    "inventory.cache_bytes": "a step of `status`",
    "learning.forget_old": "background work",
    "maintenance.due": "background work",
    "maintenance.run_due": "background work",
    "memories.fetch": "several at once; one by one is everywhere",
    "page_sessions.*": "how a browser logs in to the page",
    "scheduled_maintenance.*": "background work",
    "short_ids.*": "people type parts of ids, programs do not",
    "splitting.analysed": "a step of the report",
    "splitting.overgrown": "a step of the report",
    "splitting.too_full": "a step of the report",
    "transfer.import_full": "a step of `import_from`",
    "transfer.left_out_by_anthropic": "a remark on an export",
}
"""Parts of other use cases, and what no caller asks for."""

ONLY_ELSEWHERE = {
    "access.*": "an assistant must not hand out access, nor a client over HTTP",
    "analytics.*": "each surface has the figures it can show; together they are the overview",
    "anthropic_compat.*": "Anthropic's nine tools to the letter; the same acts are in `graph`",
    "backups.make": "a file on the server's machine: for people there",
    "backups.replace_all": "files on the server's machine: for people there",
    "captures.*": "what was captured is judged by people, not by the assistant it was captured from",
    "curation.*": "needs a model's or a page's overview; the command line has `consolidate`",
    "digest.write": "an assistant's resource; people have `recall` and the page",
    "graph.update_relation": "assistants and commands create a relation again, which updates it",
    "graph.add_to_each": "Anthropic's spelling of adding observations",
    "graph.delete_from_each": "Anthropic's spelling of deleting observations",
    "graph.create_entit*": "REST creates one, the others create several",
    "graph.delete_entit*": "REST deletes one, the others delete several",
    "graph.delete_relation*": "REST deletes one, the others delete several",
    "entities.outlines": "what assistants read of a search; the others show observations in full",
    "entities.find": "assistants search; read_graph pages through all",
    "graph.get_relation": "a REST resource; elsewhere relations come with their entities",
    "graph.names_beginning": "completion of names in prompts and shells",
    "graph.open_nodes": "REST reads entities one by one",
    "graph.read": "REST pages through entities and relations",
    "graph.search_nodes": "REST filters entities",
    "graph_overviews.*": "the page draws it; nobody wants 500 entities as text",
    "graph.update": "entities are edited by programs and the page",
    "history.details": "the page shows what each change did",
    "history.events_of": "a REST resource; elsewhere a part of the history",
    "history.purge": "irreversible: for people and their programs, never for an assistant",
    "inventory.*": "an assistant reads the graph itself",
    "learning.*": "tuning is for the person who runs the server",
    "maintenance.prune": "pruning runs by itself; an assistant forgets single memories",
    "memories.associat*": "an assistant associates while saving",
    "memories.dissociate": "an assistant associates while saving",
    "memories.confirm": "people confirm; an assistant that is sure says so when saving",
    "memories.describe": "an assistant gets it with each result",
    "memories.find": "an assistant recalls instead of listing",
    "memories.pin": "an assistant pins while saving",
    "memories.unpin": "an assistant pins while saving",
    "memories.save": "the agent tool set's way of remembering",
    "overseeing.*": "for the page",
    "recall.recall_for_agent": "the agent tool set's way of recalling",
    "reembedding.*": "takes minutes and the model: for the person who runs the server",
    "reflections.*": "an assistant's diary, which the page shows",
    "memories.get": "an assistant finds memories by recall, and reads their past by memory_history",
    "splitting.*": "needs a model's or a page's judgement of topics",
    "transfer.*": "files belong to people; an assistant has `migrate`",
}
"""Use cases that some surface leaves out on purpose."""


@cache
def use_cases() -> frozenset[str]:
    topics = {
        name: typing.get_type_hints(member.func)["return"]
        for name, member in vars(Engine).items()
        if isinstance(member, cached_property)
    }
    return frozenset(
        f"{name}.{method}"
        for name, topic in topics.items()
        for method, _ in inspect.getmembers(topic, inspect.isfunction)
        if not method.startswith("_")
    )


@cache
def reached(surface: str) -> frozenset[str]:
    """Use cases whose topic and method a module of the surface names."""
    found: set[str] = set()
    for file in SOURCE.glob(SURFACES[surface]):
        tree = ast.parse(file.read_text("utf-8"))
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        found |= {case for case in use_cases() if set(case.split(".")) <= named}
    return frozenset(found)


def left_out() -> dict[str, list[str]]:
    missing = {case: [name for name in SURFACES if case not in reached(name)] for case in use_cases()}
    return {case: surfaces for case, surfaces in missing.items() if surfaces}


def test_every_use_case_is_on_every_surface_or_has_a_reason() -> None:
    reasons = [*NOT_A_USE_CASE, *ONLY_ELSEWHERE]
    undecided = {
        case: surfaces
        for case, surfaces in left_out().items()
        if not any(fnmatchcase(case, pattern) for pattern in reasons)
    }
    assert not undecided, f"add them there, or say in {Path(__file__).name} why not: {undecided}"


def test_every_reason_is_still_needed() -> None:
    patterns = [*NOT_A_USE_CASE, *ONLY_ELSEWHERE]
    stale = [one for one in patterns if not any(fnmatchcase(case, one) for case in left_out())]
    assert not stale


def test_what_only_some_surfaces_have_is_on_at_least_one() -> None:
    nowhere = [
        case
        for case, surfaces in left_out().items()
        if len(surfaces) == len(SURFACES) and not any(fnmatchcase(case, one) for one in NOT_A_USE_CASE)
    ]
    assert not nowhere
