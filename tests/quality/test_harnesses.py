"""The adapters for public benchmarks do what those benchmarks ask of a memory."""

from __future__ import annotations

from pathlib import Path

from bench.harnesses.agent_memory_benchmark import Found, McpMemory

from mcp_memory import config


def document(id: str, user: str, *said: str) -> Found:
    messages = [{"role": "user", "content": text} for text in said]
    return Found(id, "\n".join(said), user, messages, "2024-03-01T10:00:00")


def test_what_was_ingested_is_retrieved_for_its_user_alone(tmp_path: Path) -> None:
    provider = McpMemory(config.load({"embedding_provider": "none"}, environ={}))
    provider.initialize()
    provider.prepare(tmp_path / "store", {"ana", "bob"})
    provider.ingest([document("d1", "ana", "My sister lives in Oslo.", "She paints.")])
    provider.ingest([document("d2", "bob", "My brother lives in Rome.")])
    found, raw = provider.retrieve("Where does the sister live?", 5, "ana", "2024-06-01T00:00:00")
    assert found[0].id == "d1"
    assert found[0].content == "user said on 2024-03-01: My sister lives in Oslo."
    assert str(found[0].timestamp).startswith("2024-03-01")
    assert raw is not None
    assert raw["mode"].startswith("keyword only")
    nobody, _ = provider.retrieve("Where does the sister live?", 5, "bob")
    assert all(one.id == "d2" for one in nobody)
    provider.cleanup()
