"""A process is killed at steps of every kind of write: what it acknowledged is there, nothing is half done.

A short version of `python -m tests.faults.kill_run`, which `make faults` runs for 1,000 rounds.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults import acts, victims
from tests.faults.kill_run import heard_from, opened_places, run, started
from tests.faults.places import open_database

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL, and no fork server")

SOME = [
    "update memory",
    "import full",
    "consolidate",
    "undo",
    "copy",
    "migrate",
    "migrate in steps",
    "migrate in steps",
]
MORE = [
    *SOME,
    "create entities",
    "purge memory",
    "archive",
    "re-embed",
    "build indexes",
    "back up",
    "restore",
]


@pytest.mark.parametrize(("database", "kinds"), [("sqlite", MORE), ("postgres", SOME)])
def test_a_kill_loses_nothing_acknowledged_and_leaves_nothing_half_done(
    tmp_path: Path, database: str, kinds: list[str]
) -> None:
    with opened_places(tmp_path, database) as places:
        report = run(places, rounds=len(kinds), seed=1, kinds=kinds)
    assert report.total().rounds == len(kinds)
    assert report.total().killed > len(kinds) // 2


def test_a_kill_at_any_time_loses_nothing_acknowledged(tmp_path: Path) -> None:
    with opened_places(tmp_path, "sqlite") as places:
        report = run(places, rounds=4, seed=1, kinds=["any, at random"])
    assert report.total().killed == 4


def test_traces_of_a_purge_go_even_if_the_process_dies_while_it_removes_them(tmp_path: Path) -> None:
    def purged(name: str, death: victims.Death) -> int:
        """How many acts were acknowledged; without a death, how many steps the purge takes."""
        url = f"sqlite:///{tmp_path / name}"
        with acts.engine_on(open_database(url)) as engine:
            acts.prepare(engine)
        body = (victims.act_in_order, death) if death else (victims.rehearse,)
        victim, heard = started(body[0], url, ["purge memory"], *body[1:])
        told = heard_from(heard)
        victim.join()
        return int(told[-1])

    steps = purged("rehearsed.db", None)
    assert purged("killed.db", (steps - 5, "before")) == 0
    text = b"base fact number 0 "
    files = [*tmp_path.glob("killed.db*")]
    assert any(text in file.read_bytes() for file in files), "the kill came too late to leave a trace"
    with acts.engine_on(open_database(f"sqlite:///{tmp_path / 'killed.db'}"), 5) as engine:
        engine.scheduled_maintenance.run_due(lambda: True)
        for file in tmp_path.glob("killed.db*"):
            assert text not in file.read_bytes(), file.name


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_taking_back_an_import_may_be_killed_too(tmp_path: Path, database: str) -> None:
    with opened_places(tmp_path, database) as [(places, _)]:
        places.prepared("base", lambda made: acts.prepare(acts.engine_on(made)))
        url = places.copied("base")
        before = _kept(url)
        steps = _steps(victims.rehearse, url, ["import anthropic"])
        assert _kept(url) != before
        url = places.copied("base")
        _killed(victims.act_in_order, url, ["import anthropic"], (steps - 8, "before"))
        places.settle(url)
        for step in (3, 9, 15):
            _killed(victims.start, url, (step, "after"))
            places.settle(url)
        assert _kept(url) == before


def _steps(body: Callable[..., None], *args: Any) -> int:
    _, heard = started(body, *args)
    return int(heard_from(heard)[-1])


def _killed(body: Callable[..., None], *args: Any) -> None:
    victim, heard = started(body, *args)
    heard_from(heard)
    victim.join()
    assert victim.exitcode == -signal.SIGKILL


def _kept(url: str) -> str:
    with acts.engine_on(open_database(url)) as engine:
        return acts.kept(engine)
