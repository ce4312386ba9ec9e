"""Other programs' memories, read into records of our own."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mcp_memory.engine.importers import detect, sample
from mcp_memory.engine.importers.sample import Sample
from mcp_memory.errors import Invalid

DATA = Path(__file__).parents[1] / "data" / "imports"


def read(path: Path) -> list[dict[str, Any]]:
    importer = detect(path)
    assert importer is not None
    return list(importer.records(Sample(path)))


def of_kind(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record for record in records if record["record"] == kind]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("mem0.json", "mem0"),
        ("chatgpt.json", "chatgpt"),
        ("claude", "claude"),
        ("claude/memories.json", "claude"),
        ("vault", "markdown"),
        ("vault/Garden.md", "markdown"),
    ],
)
def test_the_format_is_detected(place: str, name: str) -> None:
    importer = detect(DATA / place)
    assert importer is not None
    assert importer.name == name


@pytest.mark.parametrize(
    "content",
    [
        '{"type":"entity","name":"A","entityType":"x","observations":[]}\n{"type":"relation"}\n',
        '{"record":"space","program":"mcp-memory","format":1}\n',
        "not json at all",
        "",
        '{"some": "object"}',
        "[1, 2, 3]",
    ],
)
def test_lines_of_json_and_unknown_files_have_no_importer_of_their_own(tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content)
    assert detect(tmp_path / "file") is None


def test_mem0_keeps_times_categories_and_owner_and_leaves_out_empty_ones() -> None:
    seat, walnuts = read(DATA / "mem0.json")
    assert (seat["content"], seat["tags"], seat["source"]) == ("Prefers window seats", ["travel"], "mem0")
    assert seat["created_at"] == "2025-03-08T18:00:00+00:00"
    assert seat["updated_at"] == "2025-04-01T00:00:00+00:00"
    assert seat["metadata"] == {"trip": "Lisbon", "user_id": "ann"}
    assert walnuts["updated_at"] == walnuts["created_at"]


def test_chatgpt_gives_what_went_to_its_memory_once_and_nothing_of_the_conversations() -> None:
    found = read(DATA / "chatgpt.json")
    assert [one["content"] for one in found] == ["Never eats fish.", "Leads the billing team."]
    assert found[0]["created_at"] == "2025-01-01T00:00:02.500000+00:00"
    assert found[1]["created_at"] == "2025-01-20T00:00:00+00:00"
    assert found[0]["metadata"] == {"conversation": "Dinner"}


def test_claude_gives_paragraphs_about_the_person_and_projects_as_entities() -> None:
    found = read(DATA / "claude")
    texts = {one["content"]: one for one in of_kind(found, "memory")}
    assert list(texts) == [
        "Ann leads the billing team in Porto.",
        "Plays the cello",
        "Has two cats",
        "Purpose: move billing to the new ledger.",
        "The old ledger rounds half to even.",
    ]
    assert texts["Has two cats"]["tags"] == ["personal context"]
    [project] = of_kind(found, "entity")
    assert (project["name"], project["type"]) == ("Ledger move", "project")
    assert len(of_kind(found, "observation")) == 2


def test_an_archive_that_would_unpack_into_memory_without_end_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 20_000_000 + b"]")
    with pytest.raises(Invalid, match="compressed too well"):
        read(tmp_path / "bomb.zip")


def test_a_document_of_countless_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MOST_VALUES", 1_000)
    (tmp_path / "conversations.json").write_text(f"[{'[],' * 1_000}[]]")
    with pytest.raises(Invalid, match=r"more than 1,000 values"):
        read(tmp_path / "conversations.json")


@pytest.mark.parametrize("at", [6, 8, 60])
def test_a_damaged_or_encrypted_archive_is_refused_with_a_reason(tmp_path: Path, at: int) -> None:
    """`at`: the byte that is changed, such as the flag of encryption or the number of the compression."""
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"uuid": str(number)} for number in range(99)]))
    content = bytearray(file.read_bytes())
    directory = content.rindex(b"PK\1\2")
    content[at] ^= 1
    if at in (6, 8):  # these stand in the directory as well
        content[directory + at + 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(Invalid):
        read(file)


def test_an_export_may_stay_zipped(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for file in (DATA / "claude").rglob("*.json"):
            archive.write(file, f"data-2026/{file.relative_to(DATA / 'claude')}")
    zipped = {one["content"] for one in of_kind(read(tmp_path / "export.zip"), "memory")}
    assert zipped == {one["content"] for one in of_kind(read(DATA / "claude"), "memory")}


def test_a_vault_gives_notes_as_entities_and_links_as_relations() -> None:
    found = read(DATA / "vault")
    entities = {one["name"]: one for one in of_kind(found, "entity")}
    assert {name: one["type"] for name, one in entities.items()} == {"Garden": "place", "Rosa": "note"}
    assert entities["Garden"]["created_at"] == "2024-05-01T00:00:00+00:00"
    assert [one["content"] for one in of_kind(found, "memory")] == [
        "The tomatoes get water in the evening. See Rosa and Missing note.",
        "Order seeds #shopping",
        "Compost is behind the shed",
        "```sh\n# not a tag\nmake compost\n```",
        "Looks after the Garden.",
    ]
    assert of_kind(found, "memory")[0]["tags"] == ["home", "plants", "shopping"]
    ends = {(one["source"], one["target"]) for one in of_kind(found, "relation")}
    garden, rosa = entities["Garden"]["id"], entities["Rosa"]["id"]
    assert ends == {(garden, rosa), (rosa, garden)}


@pytest.mark.parametrize("place", ["mem0.json", "chatgpt.json", "claude", "vault"])
def test_ids_are_the_same_every_time_and_in_the_order_of_time(place: str) -> None:
    first, second = read(DATA / place), read(DATA / place)
    assert first == second
    ids = [record["id"] for record in first if "id" in record]
    assert len(set(ids)) == len(ids)
    assert all(UUID(id).version == 7 for id in ids)


DAMAGED: list[Any] = [
    [{"mapping": {"a": None, "b": {"message": {"content": "x"}}, "c": {"message": {"recipient": "bio"}}}}],
    [{"mapping": {"a": {"message": {"recipient": "bio", "content": {"parts": [None, "\0 \ud800 ok"]}}}}}],
    {"results": [{"memory": "x", "metadata": "text", "created_at": "yesterday", "categories": "a"}]},
    [{"conversations_memory": None, "project_memories": None}],
]


@pytest.mark.parametrize("document", DAMAGED)
def test_unexpected_parts_of_a_document_do_no_harm(tmp_path: Path, document: Any) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(document))
    for record in read(file):
        json.dumps(record).encode()
        assert "\0" not in record["content"]


def test_a_note_that_is_no_text_is_named(tmp_path: Path) -> None:
    shutil.copytree(DATA / "vault", tmp_path / "vault")
    (tmp_path / "vault" / "Bad.md").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(Invalid, match=r"Bad\.md cannot be read as text"):
        read(tmp_path / "vault")
