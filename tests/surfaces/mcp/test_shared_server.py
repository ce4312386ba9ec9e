"""One server for all of a person's assistants: who shares it, when it comes, and when it goes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

import mcp_memory
from mcp_memory import __version__, thin
from mcp_memory.thin import wire
from tests.shared_servers import ask, pids, places, stop_servers

PATIENCE = 120.0
"""Seconds that only something that hangs ever waits."""

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="signals and modes of files are tested as POSIX has them"
)


@dataclass
class Assistant:
    """A thin client, and how one talks to it."""

    process: subprocess.Popen[bytes]
    heard: list[dict[str, Any]] = field(default_factory=list)
    """Notifications."""
    _id: int = 0

    def greet(self) -> dict[str, Any]:
        me = {"name": "test", "version": "1"}
        result = self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=me)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def create(self, name: str) -> None:
        self.call(
            "create_entities", entities=[{"name": name, "entityType": "thing", "observations": ["there"]}]
        )

    def sees(self, name: str) -> bool:
        return bool(self.call("open_nodes", names=[name])["entities"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._id += 1
        self.say({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        answer = self._next(lambda message: message.get("id") == self._id)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def hears(self, method: str) -> dict[str, Any]:
        for message in self.heard:
            if message["method"] == method:
                return message
        return self._next(lambda message: message.get("method") == method)

    def say(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def leave(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if wanted(message):
                return message
            self.heard.append(message)
        raise AssertionError(f"the client ended with {self.process.wait()}")


@dataclass
class Person:
    """Whose assistants they are: a home, a database, a runtime folder."""

    folder: Path
    runtime: Path
    _open: ExitStack

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "EMBEDDING_PROVIDER": "none",
            **more,
        }

    def assistant(self, *flags: str, source: Path | None = None, **environment: str) -> Assistant:
        environ = self.environment(**environment)
        if source is not None:
            environ["PYTHONPATH"] = str(source)
        process = subprocess.Popen(
            [sys.executable, "-m", "mcp_memory", *(flags or ("--tools", "graph"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=source or self.folder,
        )
        self._open.callback(_end, process)
        return Assistant(process)

    def command(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mcp_memory", *words],
            env=self.environment(**environment),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @property
    def servers(self) -> list[int]:
        return pids(self.runtime)

    @property
    def server(self) -> int:
        [pid] = self.servers
        return pid


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream
        with suppress(OSError):
            stream.close()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    # Not in the test's own folder, whose name is too long for a socket.
    runtime = Path(os.environ["XDG_RUNTIME_DIR"]) / str(abs(hash(tmp_path)) % 10**8)
    runtime.mkdir()
    with ExitStack() as opened:
        yield Person(tmp_path, runtime, opened)
    stop_servers(runtime)


def ended(pid: int) -> bool:
    """Waits until the process is gone; a zombie is nobody's work any more."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False


def test_all_assistants_share_one_process_and_see_the_same(person: Person) -> None:
    one, other = person.assistant(), person.assistant("--tools", "anthropic")
    one.greet()
    assert other.greet()["serverInfo"]["name"] == "memory-server"
    one.create("tea")
    assert other.sees("tea")
    [place] = places(person.runtime)
    clients = ask(place, "status")["clients"]
    assert {client["tools"] for client in clients} == {"graph", "anthropic"}
    assert {client["folder"] for client in clients} == {str(person.folder)}


def test_only_the_owner_can_open_its_socket(person: Person) -> None:
    person.assistant().greet()
    [place] = places(person.runtime)
    assert os.stat(place.address).st_mode & 0o777 == 0o600
    assert os.stat(place.folder).st_mode & 0o777 == 0o700


def test_spaces_and_limits_belong_to_the_connection(person: Person) -> None:
    home, work = person.assistant(), person.assistant(MCP_MEMORY_SPACE="work", MAX_ENTITIES="1")
    home.greet()
    work.greet()
    work.create("plan")
    assert not home.sees("plan")
    two = [{"name": name, "entityType": "thing"} for name in ("a", "b")]
    assert work.ask("tools/call", name="create_entities", arguments={"entities": two})["isError"]
    home.call("create_entities", entities=two)
    assert person.server


def test_other_settings_of_the_process_have_another_server(person: Person) -> None:
    one, other = person.assistant(), person.assistant(DATABASE_URL=f"sqlite:///{person.folder}/other.db")
    one.greet()
    other.greet()
    one.create("tea")
    assert not other.sees("tea")
    assert len(person.servers) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only there a C library is asked for them")
def test_the_server_asks_for_large_pages_beside_what_the_person_has_set(person: Person) -> None:
    assistant = person.assistant(GLIBC_TUNABLES="glibc.malloc.perturb=0")
    assistant.greet()
    assert not assistant.sees("tea")
    environ = Path(f"/proc/{person.server}/environ").read_bytes()
    # The C library takes the list apart where it stands.
    assert re.search(rb"\0GLIBC_TUNABLES=glibc.malloc.perturb=0[:\0]glibc.malloc.hugetlb=1\0", environ)


def test_it_leaves_when_nobody_has_needed_it_for_a_while(person: Person) -> None:
    assistant = person.assistant(MCP_MEMORY_SHARED_IDLE="0")
    assistant.greet()
    assistant.create("tea")
    server = person.server
    assert assistant.leave() == 0
    assert ended(server)
    assert places(person.runtime) == []


def test_it_leaves_when_its_socket_is_gone(person: Person) -> None:
    assistant = person.assistant()
    assistant.greet()
    assistant.create("tea")
    server = person.server
    shutil.rmtree(person.runtime)
    assert ended(server)
    person.runtime.mkdir()
    assert assistant.sees("tea")
    assert person.server != server


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_client_outlives_its_server(person: Person, ending: signal.Signals) -> None:
    assistant = person.assistant()
    assistant.greet()
    assistant.create("tea")
    server = person.server
    os.kill(server, ending)
    assert ended(server)
    assert assistant.sees("tea")
    assert person.server != server


def test_subscriptions_outlive_the_server(person: Person) -> None:
    watcher, writer = person.assistant("--tools", "anthropic"), person.assistant("--tools", "anthropic")
    watcher.greet()
    writer.greet()
    watcher.ask("resources/subscribe", uri="memory://knowledge-graph")
    os.kill(person.server, signal.SIGKILL)
    watcher.ask("ping")
    writer.call("create_entities", entities=[{"name": "tea", "entityType": "drink", "observations": []}])
    assert watcher.hears("notifications/resources/updated")["params"]["uri"] == "memory://knowledge-graph"


def test_a_client_whose_parent_is_killed_ends_and_so_does_the_server(person: Person) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, sys.executable],
        env=person.environment(MCP_MEMORY_SHARED_IDLE="0"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout
    client = int(parent.stdout.readline())
    server = person.server
    parent.kill()
    parent.communicate()
    assert ended(client)
    assert ended(server)


_PARENT = """
import subprocess, sys
command = [sys.executable, "-m", "mcp_memory", "--tools", "graph"]
client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
client.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\\n')
client.stdin.flush()
client.stdout.readline()
print(client.pid, flush=True)
client.wait()
"""


def test_the_commands_show_it_and_end_it_and_an_assistant_starts_it_again(person: Person) -> None:
    assert "No shared server is running" in person.command("status").stdout
    assistant = person.assistant()
    assistant.greet()
    assistant.create("tea")
    server = person.server
    shown = json.loads(person.command("status", "--json").stdout)
    assert (shown["pid"], shown["version"], len(shown["clients"])) == (server, __version__, 1)
    assert shown["memory_bytes"] > 10_000_000
    assert shown["memory_bytes"] > shown["mapped_bytes"] > 0
    assert 0 < shown["cache_bytes"] < shown["memory_bytes"]
    assert "database cache" in person.command("status").stdout
    assert f"process {server}" in person.command("info").stdout
    assert f"(process {server}) has ended" in person.command("stop").stdout
    assert person.servers == [], "nobody needs it"
    assert assistant.sees("tea")
    assert person.server != server


def test_commands_say_the_same_with_and_without_it(person: Person) -> None:
    for words in (("remember", "tea is green"), ("remember", "coffee is brown")):
        assert person.command(*words).returncode == 0
    asked = (
        ("recall", "tea"),
        ("recall", "coffee"),
        ("--space", "elsewhere", "recall", "coffee"),
        ("memories", "list"),
        ("memories", "show", "nonsense"),
        ("recall", "tea", "--nonsense"),
        ("forget",),
    )
    alone = [person.command(*words) for words in asked]
    person.assistant().greet()
    shared = [person.command(*words) for words in asked]

    def said(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
        return done.returncode, done.stdout, done.stderr

    assert [said(done) for done in shared] == [said(done) for done in alone]


def test_a_command_of_a_server_that_dies_is_done_once(person: Person) -> None:
    assistant = person.assistant("--tools", "memory")
    assistant.greet()
    assistant.call("store_memory", content="something to begin with")
    server = psutil.Process(person.server)
    server.suspend()
    command = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "remember", "tea is green"],
        env=person.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    while not psutil.Process(command.pid).net_connections("unix"):
        assert command.poll() is None
    server.kill()
    output, _ = command.communicate(timeout=PATIENCE)
    assert command.returncode == 0
    found = json.loads(person.command("memories", "list", "--json").stdout)
    assert output.strip() in json.dumps(found)


def test_a_setting_that_makes_no_sense_is_said_and_ends_the_client(person: Person) -> None:
    person.assistant().greet()
    refused = person.assistant("--tools", "graphs")
    assert refused.process.wait(PATIENCE) == 2
    assert refused.process.stderr
    assert b"there is no tool set 'graphs'" in refused.process.stderr.read()


def test_where_none_can_be_shared_each_has_its_own(person: Person) -> None:
    (person.folder / "file").touch()
    assistant = person.assistant(MCP_MEMORY_RUNTIME_DIR=str(person.folder / "file"))
    assistant.greet()
    assistant.create("tea")
    assert person.servers == []
    info = person.command("info", MCP_MEMORY_RUNTIME_DIR=str(person.folder / "file")).stdout
    assert "a process for each assistant: the runtime folder" in info
    assert "MCP_MEMORY_SHARED is no" in person.command("info", MCP_MEMORY_SHARED="no").stdout


def test_a_server_that_cannot_start_is_replaced_by_one_of_the_clients_own(person: Person) -> None:
    """The place is taken by something that is no server."""
    assistant = person.assistant()
    assistant.greet()
    [place] = places(person.runtime)
    server = person.server
    stop_servers(person.runtime)
    assert ended(server)
    Path(place.address).mkdir()
    assistant.create("tea")
    assert assistant.sees("tea")


def test_a_server_that_hangs_is_done_without(person: Person) -> None:
    first = person.assistant()
    first.greet()
    first.create("tea")
    hung = psutil.Process(person.server)
    hung.suspend()
    try:
        second = person.assistant()
        second.greet()
        assert second.sees("tea")
    finally:
        hung.resume()


def test_without_unix_sockets_a_port_and_a_secret_do(person: Person) -> None:
    assistant = person.assistant(MCP_MEMORY_SHARED="loopback")
    assistant.greet()
    assistant.create("tea")
    [place] = places(person.runtime)
    assert os.stat(place.address).st_mode & 0o777 == 0o600
    assert ask(place, "status")["clients"]
    port = json.loads(Path(place.address).read_text())["port"]
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as stranger:
        stranger.sendall(b'{"challenge": "x"}\n{"proof": "a guess"}\n{"protocol": 1, "want": "status"}\n')
        answers = stranger.makefile("rb").read().splitlines()
    assert len(answers) == 1, "it proves itself, and says nothing to who does not"
    assert "proof" in wire.decoded(answers[0])


def test_a_newer_program_replaces_an_older_server_and_older_clients_come_over(person: Person) -> None:
    newer = person.folder / "newer"
    shutil.copytree(Path(mcp_memory.__file__).parent, newer / "mcp_memory")
    module = newer / "mcp_memory" / "__init__.py"
    module.write_text(module.read_text().replace(f'"{__version__}"', '"99.0.0"'))
    old = person.assistant()
    old.greet()
    old.create("tea")
    first = person.server
    new = person.assistant(source=newer)
    assert new.greet()["serverInfo"]["version"] == "99.0.0"
    assert new.sees("tea")
    assert ended(first)
    assert old.sees("tea")
    [place] = places(person.runtime)
    assert {len(ask(place, "status")["clients"]), ask(place, "status")["version"]} == {2, "99.0.0"}


def test_serve_is_the_shared_server_while_it_runs(person: Person) -> None:
    assistant = person.assistant()
    assistant.greet()
    assistant.create("tea")
    first = person.server
    with serving(person) as (server, url):
        assert ended(first)
        assert assistant.sees("tea")
        assert person.server == server.pid
        assistant.create("coffee")
        listed = httpx.get(f"{url}/api/entities").text
        assert "tea" in listed
        assert "coffee" in listed
    assert assistant.sees("coffee")
    assert person.server != server.pid


def test_serve_is_reachable_again_after_its_socket_was_removed(person: Person) -> None:
    with serving(person) as (server, _):
        assert person.server == server.pid
        for place in places(person.runtime):
            os.unlink(place.address)
        assistant = person.assistant()
        assistant.greet()
        assistant.create("tea")
        assert person.server == server.pid


def test_stopping_the_shared_server_also_ends_one_that_serves_http(person: Person) -> None:
    with serving(person) as (server, address):
        shown = json.loads(person.command("status", "--json").stdout)
        assert (shown["pid"], shown["http"]) == (server.pid, address)
        with ThreadPoolExecutor(1) as beside:
            said = beside.submit(person.command, "stop")
            # Until its parent has asked how it ended, a process is still listed.
            assert server.communicate(timeout=PATIENCE)[1].splitlines()[-1] == "Stopped."
            assert "has ended" in said.result().stdout
        assert server.returncode == 0


@contextmanager
def serving(person: Person) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve", "--port", str(port)],
        env=person.environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr
    try:
        while "http://" not in server.stderr.readline():
            assert server.poll() is None
        yield server, f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("shared", ["auto", "no"])
def test_one_process_serves_stdio_and_http(person: Person, shared: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assistant = person.assistant("--tools", "graph", "--http", API_PORT=str(port), MCP_MEMORY_SHARED=shared)
    assistant.greet()
    assistant.create("tea")
    assert "tea" in httpx.get(f"http://127.0.0.1:{port}/api/entities").text
    listening = [one.pid for one in psutil.net_connections("tcp") if one.laddr and one.laddr.port == port]
    assert {*listening} == {person.server if shared == "auto" else assistant.process.pid}


def test_a_handshake_seen_before_is_answered_while_the_server_starts(person: Person) -> None:
    first = person.assistant()
    first.greet()
    listed = first.ask("tools/list")
    stop_servers(person.runtime)
    again = person.assistant()
    again.greet()
    assert again.ask("tools/list") == listed
    assert again.ask("ping") == {}


def test_a_list_that_is_not_as_remembered_is_corrected(person: Person) -> None:
    first = person.assistant()
    first.greet()
    listed = first.ask("tools/list")
    assert first.leave() == 0  # by then the list is kept: it is answered before
    stop_servers(person.runtime)
    [folder] = (person.folder / ".cache" / "mcp-memory" / "descriptions").iterdir()
    [file] = folder.glob("tools-list-*")
    file.write_text(file.read_text().replace("create_entities", "make_entities"))
    again = person.assistant()
    again.greet()
    assert "make_entities" in json.dumps(again.ask("tools/list"))
    assert again.hears("notifications/tools/list_changed")
    assert again.ask("tools/list") == listed


def test_a_single_question_is_answered_in_time_or_not_at_all(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = person.environment()
    assert thin.ask("status", timeout=1, environ=environ) is None, "nobody is there"
    person.assistant().greet()
    assert thin.ask("status", timeout=PATIENCE, environ=environ)["pid"] == person.server
    with pytest.raises(thin.Refused, match="knows no request"):
        thin.ask("nonsense", timeout=PATIENCE, environ=environ)
    server = psutil.Process(person.server)
    server.suspend()
    try:
        assert thin.ask("status", timeout=0.1, environ=environ) is None
    finally:
        server.resume()
