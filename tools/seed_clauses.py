"""The clauses of the five specifications that this program follows, by the number of the specification.

Tests name the clauses they check with `@pytest.mark.seed("004 §5.6")`; tools/docs.py lists both in
docs/conformance-seeds.md. A clause without a test, or a marker without a clause, fails the check.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"

SEEDS: Mapping[str, str] = {
    "000": "The graph tool set: 19 tools",
    "001": "The graph tool set: data model",
    "002": "The graph tool set: architecture",
    "003": "The agent tool set: three tools",
    "004": "The memory tool set: clean-room specification",
    "DESIGN": "What all three share here",
}

CLAUSES: Mapping[str, str] = {
    "000 §1": "create_entities: upsert, observations merged, equal ones passed over",
    "000 §2": "create_relations: both ends must exist; missing ends and duplicates are reported per item",
    "000 §3": "add_observations: the entity must exist; duplicates are discarded silently",
    "000 §4": "delete_entities: cascade to observations and relations; unknown names are reported",
    "000 §5": "delete_observations: exact match; unmatched texts are no error",
    "000 §6": "delete_relations: by the full triple; what is missing is named",
    "000 §7": "search_nodes: substring of name, type or observation, in any case, without a model",
    "000 §8": "open_nodes: exact names; unknown ones are omitted",
    "000 §9": "search_semantic: KNN and full text fused by rank, re-ranked by use, with its scores",
    "000 §10": "migrate: idempotent import of Anthropic's JSONL; counts of imported, errors and skipped",
    "000 §11": "analyze_entity_split: thresholds by type, topics, score; changes nothing",
    "000 §12": "propose_entity_split: children by topic, with contiene and parte_de; null when not needed",
    "000 §13": "execute_entity_split: moves observations and relates, all or nothing",
    "000 §14": "find_split_candidates: every entity above its threshold",
    "000 §15": "find_duplicate_observations: cosine or containment, each pair once, read-only",
    "000 §16": "consolidation_report: split candidates, flagged, stale and large; read-only",
    "000 §17": "end_relation: ends it and its inverse, keeps it as history; twice is no error",
    "000 §18": "add_reflection: prose about an entity, session, relation or everything",
    "000 §19": "search_reflections: hybrid, with filters by author, mood and target",
    "000 embeddings": "What each operation does to embeddings",
    "000 limits": "50 entities, 100 observations of 2,000 characters, queries of 500 characters",
    "001 schema": "Entities, observations, relations, access and co-occurrence as tables",
    "001 import": "A database of that server is imported with everything it holds",
    "001 lazy": "Start without loading the model",
    "001 concurrency": "WAL, many readers beside one writer, waiting for the lock",
    "002 transport": "stdio; standard output carries the protocol alone",
    "002 snapshot": "Head, tail and diversity of observations within a token budget",
    "002 limbic": "Salience, temporal decay and co-occurrence; results are cut after re-ranking",
    "002 routing": "The wording of a query chooses between cosine-heavy, limbic-heavy and balanced",
    "002 availability": "Without a model everything but meaning works",
    "002 retry": "Several clients may write at once",
    "002 A/B testing": "Both rankings are logged; USE_AB_TESTING and BASELINE_PROBABILITY",
    "002 tuning": "GAMMA and BETA_SAL are learnt by NDCG@k from feedback, and applied smoothly",
    "003 memory_save": "memory_save: content, type, importance, source, channel, associations",
    "003 importance": "Default importance by type",
    "003 similarity": "Above 0.9 similarity a saved memory is linked as an update",
    "003 identity": "Identity memories never decay",
    "003 memory_recall": "memory_recall: hybrid, recent, important, typed; sort orders; summary",
    "003 fusion": "Vectors, words and associations fused by reciprocal rank, k = 60",
    "003 memory_delete": "memory_delete: soft, with a reason and a preview; true for the call that forgot",
    "004 §1.2": "MCP over stdio and a REST API over one engine and one database",
    "004 §1.3": "Memories and relations have a confidence that decays",
    "004 §2.1": "Memories: types, tags, confidence, importance, source, context, metadata, times",
    "004 §2.2": "Entities: unique by name and type, description, metadata",
    "004 §2.3": "Relations: strength, confidence, context, metadata; unique while active",
    "004 §2.4": "Links between entities and memories, with relevance",
    "004 §2.5": "Versions of memories, with content, confidence and metadata",
    "004 §2.6": "Full text on SQLite, kept in step with the rows",
    "004 §3.2": "Providers: local all-MiniLM-L6-v2 (384), OpenAI text-embedding-3-small (1536)",
    "004 §3.3": "Embeddings are made automatically, in batches",
    "004 §3.4": "Similarity is the cosine",
    "004 §4.1": "Confidence halves every 30 days without access",
    "004 §4.3": "Being accessed counts, is dated, and adds 0.1 up to 1",
    "004 §4.4": "Decay is computed at read time",
    "004 §4.5": "Pruning below 0.05, daily; archived unless set otherwise",
    "004 §5.1": "Modes: keyword, semantic, hybrid, graph",
    "004 §5.4": "Hybrid score: 0.4 × keyword + 0.6 × semantic, both normalised",
    "004 §5.5": "Graph search: neighbours' memories by strength × confidence, N hops",
    "004 §5.6": "Filters and paging, in every mode",
    "004 §6.1": "Equal content is one memory; above 0.95 a memory is merged into the older one",
    "004 §6.2": "Consolidation: clusters above 0.85, primary by confidence, versions, links reassigned",
    "004 §6.3": "Consolidation by hand, after N insertions, on a schedule",
    "004 §7.2.1": "store_memory",
    "004 §7.2.2": "recall_memories",
    "004 §7.2.3": "create_entities, by name and type",
    "004 §7.2.4": "create_relations; missing ends are created as unknown",
    "004 §7.2.5": "delete_memories by ids or conditions; at least one",
    "004 §7.2.6": "delete_entities, with cascade_memories",
    "004 §7.2.7": "delete_relations",
    "004 §7.2.8": "get_entity_graph",
    "004 §7.2.9": "consolidate_memories, with dry_run",
    "004 §7.2.10": "get_memory_stats",
    "004 §8.1": "REST: memories",
    "004 §8.2": "REST: entities",
    "004 §8.3": "REST: relations",
    "004 §8.4": "REST: analytics",
    "004 §8.5": "REST: Server-Sent Events",
    "004 §9.1": "Settings by environment variable",
    "004 §10.1": "Behavioural tests: memories",
    "004 §10.2": "Behavioural tests: search",
    "004 §10.3": "Behavioural tests: confidence and decay",
    "004 §10.4": "Behavioural tests: entities and graph",
    "004 §10.5": "Behavioural tests: consolidation",
    "004 §10.6": "Behavioural tests: REST",
    "004 §11.2": "Breadth-first subgraph, by depth and least strength",
    "004 §14.4": "The provider is tried at start; when it is down, searches say so and do not wait",
    "004 §14.8": "Background work starts with the server",
    "DESIGN §1": "One fact, three vocabularies; a name wherever an id is",
    "DESIGN §5": "Undo, events and reads as of an earlier moment from one journal",
}


def marked_tests(folder: Path = TESTS) -> dict[str, list[str]]:
    """By clause, the tests that a marker says check it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("test_*.py")):
        for name, clause in _markers(ast.parse(path.read_text("utf-8"))):
            found[clause].append(f"{path.relative_to(folder.parent).as_posix()}::{name}")
    return found


def _markers(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield from ((node.name, clause) for clause in map(_clause, node.decorator_list) if clause)


def _clause(decorator: ast.expr) -> str:
    """The text of `pytest.mark.seed("…")`."""
    if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.seed"):
        return ""
    return str(ast.literal_eval(decorator.args[0]))


def page() -> Iterator[str]:
    """docs/conformance-seeds.md."""
    tests = marked_tests()
    unknown = tests.keys() - CLAUSES.keys()
    untested = CLAUSES.keys() - tests.keys()
    if unknown or untested:
        raise SystemExit(
            f"clauses without a test: {sorted(untested)}; markers without a clause: {sorted(unknown)}"
        )
    yield "# Which test checks which clause"
    yield ""
    yield (
        "This program follows five specifications. Each line is a clause, in our words, with the tests that "
        "name it by a marker. ARCHITECTURE.md lists where the program differs, and why."
    )
    for seed, title in SEEDS.items():
        yield ""
        yield f"## {seed}: {title}"
        yield ""
        yield "| clause | what it asks for | tests |"
        yield "|---|---|---|"
        for clause, asks in CLAUSES.items():
            if clause.startswith(f"{seed} "):
                shown = "<br>".join(f"`{test}`" for test in tests[clause])
                yield f"| {clause.removeprefix(seed).strip()} | {asks} | {shown} |"
