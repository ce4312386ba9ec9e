"""Files for `mcp-memory eval` that cannot be measured are refused, with the line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_memory.cli.evaluation.dataset import read_folder, read_longmemeval
from mcp_memory.errors import Invalid

MEMORIES = '{"id": 1, "text": "Nora is allergic to peanuts", "created_at": "2026-01-03"}\n'
QUERIES = '{"text": "what may Nora not eat?", "relevant": [1], "category": "health"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories.jsonl").write_text(MEMORIES)
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    return tmp_path


def test_good_files_are_read(folder: Path) -> None:
    dataset = read_folder(folder)
    assert [line.id for line in dataset.memories] == ["1"]
    assert dataset.questions[0].relevant == {"1"}
    assert dataset.name == folder.name


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{oops", "line 2 is not JSON"),
        ("[1, 2]", "line 2: each line must be a JSON object"),
        ('{"id": "x"}', "a memory needs 'text'"),
        ('{"id": "x", "text": 5}', "text must be a string"),
        ('{"id": "x", "text": " "}', "text must be a string"),
        ('{"id": null, "text": "rent"}', "an id must be"),
        ('{"id": "x", "text": "rent", "created_at": "yesterday"}', "created_at must be a date"),
        ('{"id": "x", "text": "rent", "created_at": 20260101}', "created_at must be a date"),
        ('{"id": "x", "text": "rent", "tags": "home"}', "tags must be a list"),
        ('{"id": "1", "text": "another text"}', "the id '1' twice"),
    ],
)
def test_a_memory_that_cannot_be_read_is_named(folder: Path, line: str, complaint: str) -> None:
    (folder / "memories.jsonl").write_text(MEMORIES + line)
    with pytest.raises(Invalid, match=complaint):
        read_folder(folder)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"text": "rent?"}', "a question needs 'relevant'"),
        ('{"text": "", "relevant": [1]}', "text must be a string"),
        ('{"text": "rent?", "relevant": "1"}', "relevant must be a list"),
        ('{"text": "rent?", "relevant": []}', "relevant must be a list"),
        ('{"text": "rent?", "relevant": ["zzz"]}', "has the id 'zzz'"),
        ('{"text": "rent?", "relevant": [1], "group": "other"}', "no memory of the group 'other'"),
    ],
)
def test_a_question_that_cannot_be_measured_is_named(folder: Path, line: str, complaint: str) -> None:
    (folder / "queries.jsonl").write_text(QUERIES + line)
    with pytest.raises(Invalid, match=complaint):
        read_folder(folder)


def test_a_file_in_another_encoding_is_named(folder: Path) -> None:
    (folder / "memories.jsonl").write_bytes('{"id": 1, "text": "café"}'.encode("latin-1"))
    with pytest.raises(Invalid, match="is not UTF-8"):
        read_folder(folder)


@pytest.mark.parametrize("content", ['{"a": 1}', "[1]", '[{"question_id": 1}]', "no json"])
def test_what_is_not_longmemeval_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "lme.json"
    file.write_text(content)
    with pytest.raises(Invalid, match=r"lme\.json is not a file of LongMemEval"):
        read_longmemeval(file, "turn")
