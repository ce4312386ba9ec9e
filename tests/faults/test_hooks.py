"""Hooks under faults: no prompt is held up, no error text shows, nothing is captured twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROMPT = "Which port does the staging database listen on?"
FACT = "The staging database runs on db-stg-2, port 5433."
PATIENCE = 120.0
"""Seconds within which even a busy machine ends a hook whose own limit is 0.3 s."""


class Person:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            "HOME": str(folder),
            "PATH": os.defpath,
            "MCP_MEMORY_DATABASE_URL": f"sqlite:///{folder / 'memory.db'}",
            "MCP_MEMORY_EMBEDDING_PROVIDER": "none",
        }

    def command(self, *words: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "mcp_memory", *words],
            env=self.environment, cwd=self.folder, input=input, capture_output=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip

    def hook(self, event: str, payload: object = None, raw: bytes | None = None) -> bytes:
        """What a hook prints. It never blocks, complains or fails."""
        given = json.dumps(payload or {}).encode() if raw is None else raw
        began = time.monotonic()
        done = self.command("hook", event, "--client", "claude-code", input=given)
        assert time.monotonic() - began < PATIENCE
        assert done.returncode == 0
        assert done.stderr == b""
        assert done.stdout == b"" or json.loads(done.stdout)
        return done.stdout

    def prompts(self, session: str = "s", count: int = 1) -> list[bytes]:
        return [
            self.hook("UserPromptSubmit", {"session_id": f"{session}{n}", "cwd": "/", "prompt": PROMPT})
            for n in range(count)
        ]

    def prompts_into(self, output: str, session: str) -> None:
        """A prompt whose answer goes where a shell's `output` leads. Nothing fails or complains."""
        hook = f"{sys.executable} -m mcp_memory hook UserPromptSubmit --client claude-code"
        given = json.dumps({"session_id": session, "cwd": "/", "prompt": PROMPT}).encode()
        done = subprocess.run(
            ["/bin/sh", "-c", f"({hook} {output}) && echo passed >&2"],
            env=self.environment, cwd=self.folder, input=given, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stderr == b"passed\n"

    def until_answered(self) -> None:
        for n in range(100):
            if any(b"5433" in said for said in self.prompts(f"warm{n}-")):
                return
            time.sleep(0.1)  # the server is starting
        pytest.fail("no hook was ever answered")

    def until(self, happened: Callable[[], bool]) -> None:
        for _ in range(100):
            if happened():
                return
            time.sleep(0.1)  # something else has to happen first
        pytest.fail("it never happened")

    def says(self, text: str, at: str = "2026-01-02T03:04:05Z") -> Path:
        """The transcript of a session in which only this was said."""
        line = {"type": "user", "uuid": "u", "timestamp": at, "message": {"content": text}}
        transcript = self.folder / "t.jsonl"
        transcript.write_text(json.dumps(line) + "\n")
        return transcript

    def stop(self) -> None:
        """Stop the server, and wait until it has left."""
        pid = self.server()
        self.command("stop")
        self.until(lambda: not _is_alive(pid))

    def server(self) -> int:
        return int(json.loads(self.command("status", "--json").stdout)["pid"])

    def captured(self) -> list[str]:
        return [one["content"] for one in json.loads(self.command("captured", "--json").stdout)]


def _is_alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.fixture
def person() -> Iterator[Person]:
    # A test's own folder has so long a name that no socket fits into it.
    with tempfile.TemporaryDirectory(prefix="hk", ignore_cleanup_errors=True) as folder:
        someone = Person(Path(folder))
        assert someone.command("remember", FACT, "--type", "fact").returncode == 0
        yield someone
        someone.command("stop")


def test_without_a_server_a_hook_is_silent_and_starts_one_for_the_next(person: Person) -> None:
    assert person.prompts() == [b""]
    person.until_answered()


def test_a_session_that_begins_before_the_server_runs_is_told_what_the_last_one_left(person: Person) -> None:
    start = {"session_id": "first", "cwd": "/", "source": "startup"}
    person.until_answered()
    person.until(lambda: b"5433" in person.hook("SessionStart", start))
    person.stop()
    assert b"5433" in person.hook("SessionStart", {**start, "session_id": "cold"})


def test_what_was_left_is_gone_once_the_database_changes(person: Person) -> None:
    person.until_answered()
    person.until(lambda: b"5433" in person.hook("SessionStart", {"session_id": "first", "cwd": "/"}))
    person.stop()
    [kept] = person.folder.glob("memory.db.digests")
    assert kept.stat().st_mode & 0o777 == 0o600
    person.environment["MCP_MEMORY_SHARED"] = "no"
    person.command("remember", "The cafeteria closes at two.")
    assert not kept.exists()


def test_a_digest_that_was_missed_comes_with_the_first_prompt_that_is_answered(person: Person) -> None:
    assert person.hook("SessionStart", {"session_id": "late", "cwd": "/"}) == b""
    prompt = {"session_id": "late", "cwd": "/", "prompt": "hello there, how are you today"}
    person.until(lambda: b"5433" in person.hook("UserPromptSubmit", prompt))


def test_a_home_with_a_long_name_has_a_server_too() -> None:
    with tempfile.TemporaryDirectory(prefix="long-" + "x" * 120) as folder:
        someone = Person(Path(folder))
        someone.command("remember", FACT, "--type", "fact")
        someone.until_answered()
        [link] = (someone.folder / ".cache/mcp-memory/run").glob("*.sock")
        socket_file = link.readlink()
        assert socket_file.stat().st_mode & 0o777 == 0o600
        assert socket_file.parent.stat().st_mode & 0o777 == 0o700
        someone.stop()
        assert not link.is_symlink()


def test_a_server_that_hangs_or_is_killed_holds_nobody_up(person: Person) -> None:
    person.until_answered()
    pid = person.server()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert person.prompts("hung", 5) == [b""] * 5
    finally:
        os.kill(pid, signal.SIGCONT)
    person.until_answered()
    os.kill(person.server(), signal.SIGKILL)
    person.prompts("killed", 3)
    person.until_answered()


def test_a_stranger_on_the_socket_gets_no_say(person: Person) -> None:
    person.until_answered()
    [address] = (person.folder / ".cache/mcp-memory/run").glob("*.lock")
    person.command("stop")
    place = str(address.with_suffix(".sock"))
    Path(place).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as rude:
        rude.bind(place)
        rude.listen()
        answering = threading.Thread(target=_babble, args=(rude,), daemon=True)
        answering.start()
        assert all(said == b"" for said in person.prompts("rude", 3))
    Path(place).unlink(missing_ok=True)


def _babble(listening: socket.socket) -> None:
    while True:
        try:
            connected, _ = listening.accept()
        except OSError:
            return
        with connected:
            connected.sendall(b"not json at all\n")


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[1,2]", b'{"prompt": 1}', b"x" * 5_000_000])
def test_whatever_comes_in_nothing_goes_wrong(person: Person, raw: bytes) -> None:
    for event in ("UserPromptSubmit", "Stop", "", "--client"):
        person.hook(event, raw=raw)


@pytest.mark.parametrize("output", [">&-", ">/dev/full", "| true"])
def test_an_output_that_nobody_takes_is_no_error(person: Person, output: str) -> None:
    person.until_answered()
    for n in range(5):
        person.prompts_into(output, f"nobody{n}")


def test_a_damaged_or_missing_database_is_met_with_silence(person: Person) -> None:
    person.command("stop")
    (person.folder / "memory.db").write_bytes(b"this is no database" * 1000)
    person.prompts("damaged", 3)
    person.command("stop")
    for file in person.folder.glob("memory.db*"):
        file.unlink()
    (person.folder / "memory.db").mkdir()
    person.prompts("folder", 3)


def test_two_sessions_at_once_and_a_transcript_that_grows_are_captured_once(person: Person) -> None:
    person.until_answered()
    transcripts = [person.folder / f"t{n}.jsonl" for n in range(2)]
    said = ["We never deploy on Fridays.", "Our sprint ends every second Wednesday.", "thanks"]

    def session(number: int) -> None:
        for text in said:
            line = json.dumps({"type": "user", "uuid": text, "message": {"content": f"{text}"}})
            with transcripts[number].open("a") as file:
                file.write(line[:20])
                file.flush()
                person.hook(
                    "Stop", {"session_id": f"two{number}", "transcript_path": str(transcripts[number])}
                )
                file.write(line[20:] + "\n")
        for event in ("Stop", "PreCompact", "SessionEnd"):
            person.hook(event, {"session_id": f"two{number}", "transcript_path": str(transcripts[number])})

    threads = [threading.Thread(target=session, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(50):
        found = json.loads(person.command("memories", "list", "--json").stdout)
        texts = sorted(one["content"] for one in found["memories"] if one["content"] != FACT)
        if len(texts) == 2:
            break
        time.sleep(0.1)  # capture goes on after the hook
    assert texts == sorted(said[:2])


def test_a_clock_that_is_wrong_holds_nobody_up(person: Person) -> None:
    person.until_answered()
    transcript = person.says("My name is Ines.", at="9999-99-99T00:00:00Z")
    person.hook("Stop", {"session_id": "clock", "transcript_path": str(transcript)})
    person.until(lambda: person.captured() == ["My name is Ines."])


def test_a_write_lock_that_another_process_holds_holds_nobody_up(person: Person) -> None:
    person.until_answered()
    turn = {"session_id": "locked", "transcript_path": str(person.says("My name is Ines."))}
    with contextlib.closing(sqlite3.connect(person.folder / "memory.db", timeout=10)) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        person.hook("Stop", turn)
        person.prompts("locked", 3)
        other.execute("ROLLBACK")
    person.until(lambda: person.hook("Stop", turn) == b"" and person.captured() == ["My name is Ines."])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sets another process's limits")
def test_a_full_disk_holds_nobody_up_and_what_was_said_is_captured_later(person: Person) -> None:
    import resource

    person.until_answered()
    turn = {"session_id": "full", "transcript_path": str(person.says("My name is Ines."))}
    pid, no_limit = person.server(), resource.RLIM_INFINITY
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, no_limit))
    person.hook("Stop", turn)
    person.prompts("full", 3)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (no_limit, no_limit))
    person.until(lambda: person.hook("Stop", turn) == b"" and person.captured() == ["My name is Ines."])
