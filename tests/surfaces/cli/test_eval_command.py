"""`mcp-memory eval`: labelled questions in, figures out; the user's own memory is left alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.cli.evaluation.dataset import read_longmemeval
from tests.surfaces.cli.shell import Shell

MEMORIES = [
    {"id": "a", "text": "Ana keeps bees behind the house", "created_at": "2023-05-01"},
    {"id": "b", "text": "The server listens on port 8443", "created_at": "2023-05-02"},
    {"id": "c", "text": "The wedding was in Lisbon", "created_at": "2023-05-03", "tags": ["family"]},
]
QUESTIONS = [
    {"text": "Who keeps bees?", "relevant": ["a"], "category": "people"},
    {"text": "Which port does the server use?", "relevant": ["b"], "category": "work"},
]
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where does the user's sister live?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "My sister lives in Oslo.", "has_answer": True},
                {"role": "assistant", "content": "Nice!"},
            ],
            [{"role": "user", "content": "What is a monad?"}],
        ],
        "answer_session_ids": ["s1"],
        "answer": "Oslo",
    }
]


def write(file: Path, lines: Iterable[object]) -> None:
    file.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    write(made / "memories.jsonl", MEMORIES)
    write(made / "queries.jsonl", QUESTIONS)
    return made


def rows(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["way"]: row for row in report["rows"]}


def test_it_reports_each_way_with_true_dates_and_frozen(shell: Shell, folder: Path, tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    report = shell.json("eval", str(folder), "--cache", str(tmp_path / "cache"), "--plot", str(plot))
    found = rows(report)
    assert found["hybrid, frozen"]["recall_5"] == 1.0
    assert found["keyword, 90 days later"]["recall_5"] == 1.0
    assert found["recall_memories, 1 day later"]["recall_5"] == 1.0
    assert found["recall_memories, 90 days later"]["mrr"] == 1.0
    assert set(found["hybrid, frozen"]["categories"]) == {"people", "work"}
    assert plot.read_text("utf-8").startswith("<svg")
    assert shell.json("memories", "list")["total"] == 0


def test_strict_fading_hides_after_months_and_gentle_does_not(
    shell: Shell, folder: Path, tmp_path: Path
) -> None:
    cache = str(tmp_path / "cache")
    found = rows(shell.json("eval", str(folder), "--dates", "true", "--after", "200", "--cache", cache))
    assert found["recall_memories, 200 days later"]["recall_10"] == 0.0
    assert found["memory_recall, 200 days later"]["recall_10"] == 1.0


def test_every_signal_can_be_left_out(shell: Shell, folder: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    found = rows(
        shell.json("eval", str(folder), "--dates", "frozen", "--way", "hybrid", "--ablate", "--cache", cache)
    )
    assert "hybrid without words, frozen" in found
    assert found["hybrid without neighbours, frozen"]["recall_10"] == 1.0
    assert "recall@10" in shell.said("eval", str(folder), "--dates", "frozen", "--cache", cache)


def test_longmemeval_is_read_by_turn_and_by_session(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps(LONGMEMEVAL), "utf-8")
    assert [line.id for line in read_longmemeval(file, "session").memories] == ["q1/s1", "q1/s2"]
    by_turn = read_longmemeval(file, "turn")
    assert [question.relevant for question in by_turn.questions] == [{"q1/s1/0"}]
    assert by_turn.questions[0].as_of is not None
    found = rows(
        shell.json(
            "eval", str(file), "--longmemeval", "session", "--dates", "true", "--after", "0",
            "--cache", str(tmp_path / "cache"),
        )
    )  # fmt: skip
    assert found["hybrid, 0 days later"]["any_5"] == found["hybrid, 0 days later"]["all_5"] == 1.0


def test_what_is_wrong_with_the_data_is_said(shell: Shell, folder: Path, tmp_path: Path) -> None:
    write(folder / "queries.jsonl", [{"text": "no answer"}])
    assert "queries.jsonl, line 1" in shell.complaint("eval", str(folder), "--cache", str(tmp_path / "c"))
    (folder / "queries.jsonl").unlink()
    assert "is missing" in shell.complaint("eval", str(folder), "--cache", str(tmp_path / "c"))
