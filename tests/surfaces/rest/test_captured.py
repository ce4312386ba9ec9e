"""Captured memories over HTTP: listed, explained, accepted, dropped; and what a prompt would be told."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from mcp_memory.capture import Candidate
from mcp_memory.engine.captures import Heard
from mcp_memory.model import Caller
from tests.surfaces.rest.conftest import engine_on


@pytest.fixture
def captured(client: httpx.Client, database_path: Path, space: str) -> httpx.Client:
    """A client whose space holds two captured memories."""
    said = tuple(
        Candidate(text=text, type="preference", rule="preference", turn="t1")
        for text in ("We never deploy on Fridays.", "The staging database listens on port 5433.")
    )
    engine = engine_on(database_path).acting_for(Caller(space))
    engine.captures.take_in(Heard(session="s1", client="codex", project="", candidates=said))
    engine.close()
    return client


def test_what_is_on_trial_is_listed_and_explained(captured: httpx.Client) -> None:
    page = captured.get("/api/captured").json()
    assert (page["total"], page["paused"]) == (2, False)
    why = captured.get(f"/api/captured/{page['items'][0]['id']}/why").json()
    assert (why["rule"], why["client"], why["session"]) == ("preference", "codex", "s1")


def test_many_are_accepted_and_dropped_at_once_and_taken_back(captured: httpx.Client) -> None:
    [first, _] = captured.get("/api/captured").json()["items"]
    assert captured.post("/api/captured/accept", json={"ids": [first["id"]]}).json()["ids"] == [first["id"]]
    dropped = captured.post("/api/captured/drop", json={"all": True}).json()
    assert len(dropped["ids"]) == 1
    assert captured.get("/api/captured").json()["total"] == 0
    captured.post(f"/api/changes/{dropped['change_id']}/undo").raise_for_status()
    assert captured.get("/api/captured").json()["total"] == 1


def test_nothing_chosen_is_refused(captured: httpx.Client) -> None:
    assert captured.post("/api/captured/drop", json={}).status_code == 422
    assert captured.get("/api/captured").json()["total"] == 2


def test_capture_is_paused(captured: httpx.Client) -> None:
    captured.put("/api/captured/paused", json={"paused": True}).raise_for_status()
    assert captured.get("/api/captured").json()["paused"] is True


def test_a_preview_says_what_would_be_injected_and_what_not(captured: httpx.Client) -> None:
    asked = {"prompt": "Which port does the staging database listen on?"}
    seen = captured.post("/api/arrivals/preview", json=asked).json()
    assert "5433" in seen["text"]
    assert seen["chosen"]
    silent = captured.post("/api/arrivals/preview", json={"prompt": "Peru capital Lima mountains"}).json()
    assert (silent["text"], bool(silent["silence"])) == ("", True)
    assert "5433" in captured.get("/api/arrivals/start").json()["text"]
