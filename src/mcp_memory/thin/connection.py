"""A connection to a server that speaks MCP for one client, and how one is come by."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from mcp_memory import __version__
from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import NoServer, hello, read_line
from mcp_memory.thin.launch import own_environment, programs, start_server
from mcp_memory.thin.request import Refused, ask_at
from mcp_memory.thin.settings import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from subprocess import Popen

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import Settings

GREETING = 5.0
"""Seconds that a server has to answer the first line of a connection."""

LONGEST_START = 60.0
"""Seconds until a server that was started must be there."""

LOOK_EVERY = 0.02
"""Seconds between two looks for a server that is starting."""


class StartFailed(Exception):
    """A shared server was started, and ended before it was there."""


class ServerEnded(Exception):
    """The server that this process had for itself has ended, and no other shall be started."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Connection:
    """A session with the shared server."""

    def __init__(self, connected: socket.socket, greeting: str) -> None:
        self._socket = connected
        self.greeting = greeting
        """What is running, in words for the log."""

    def send(self, line: bytes) -> None:
        self._socket.sendall(line)

    def lines(self) -> Iterator[bytes]:
        """Read until the server hangs up or disappears."""
        try:
            with self._socket.makefile("rb") as incoming:
                for line in incoming:
                    if not line.endswith(b"\n"):
                        return  # it died in the middle of a line
                    yield line
        except OSError:
            return

    def close(self) -> None:
        self._socket.close()


class Connector:
    """Connects to the shared server, starts one when none runs, and asks an older one to leave."""

    def __init__(self, endpoint: Endpoint, settings: Settings, session: str) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._session = session
        self._private: PrivateConnection | None = None
        self._silent = 0
        """How often a server was there and said nothing."""

    def find(self) -> Connection | None:
        """A session with the server that runs. Raises `Refused` when it does not want these settings."""
        try:
            connected = self._endpoint.connect(GREETING)
        except NoServer:
            return None
        try:
            more = {"session": self._session, "http": self._http()}
            connected.sendall(wire.encoded(hello(self._settings, __version__, "session", **more)))
            said = wire.decoded(read_line(connected))
        except OSError as error:
            connected.close()
            self._silent += isinstance(error, TimeoutError)
            return None
        if "error" in said:
            connected.close()
            raise Refused(str(said["error"]), str(said.get("code")))
        if wire.is_newer(__version__, str(said.get("version"))):
            connected.close()
            self._send_away()
            return None
        connected.settimeout(None)
        return Connection(connected, str((said.get("answer") or {}).get("greeting", "")))

    def find_or_start(self) -> Connection:
        """A session with a shared server, or with one of this process's own if none can be started.

        Raises `Refused` as `find` does, and `ServerEnded`.
        """
        if self._private is not None:
            raise ServerEnded(self._private.wait())
        try:
            return self._shared()
        except StartFailed:
            self._private = PrivateConnection(self._settings)
            return self._private

    def _shared(self) -> Connection:
        deadline = time.monotonic() + LONGEST_START
        started: Popen[bytes] | None = None
        while time.monotonic() < deadline:
            if connection := self.find():
                self._silent = 0
                return connection
            if self._silent > 1:
                raise StartFailed("the server that is there does not answer")
            try:
                started = started or self._start()
            except OSError as error:
                raise StartFailed(str(error)) from error
            if started is not None and started.poll() is not None:
                if started.returncode:
                    raise StartFailed(f"it ended with {started.returncode}")
                started = None  # another server was faster, or a newer one has asked it to leave
            time.sleep(LOOK_EVERY)
        raise StartFailed("it did not answer in time")

    def _start(self) -> Popen[bytes] | None:
        started = start_server(self._endpoint, self._settings)
        if started is not None:
            # A server that ends is not to be kept in the table of processes by its client.
            threading.Thread(target=started.wait, daemon=True).start()
        return started

    def _http(self) -> dict[str, str] | None:
        """Settings for the server to serve HTTP too, if asked."""
        return self._settings.of("http") if self._settings["http"] == "yes" else None

    def _send_away(self) -> None:
        try:
            ask_at(self._endpoint, self._settings, "leave", {"because": "a newer version is here"}, timeout=5)
        except (NoServer, Refused):
            return


class PrivateConnection(Connection):
    """A session with a server of this process's own, over pipes: the way out when none can be shared."""

    def __init__(self, settings: Settings) -> None:
        import subprocess

        self.greeting = ""
        self._numbers: dict[str, int] = {}
        environ = {**own_environment(settings), f"{PREFIX}SHARED": "no"}
        self._process = subprocess.Popen(
            [*programs()[0], *settings.command_line()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environ,
            cwd=settings.folder,
        )

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        number, _, message = wire.number_of(line)
        if number is not None:
            self._numbers[repr(wire.decoded(message).get("id"))] = number
        self._process.stdin.write(message)
        self._process.stdin.flush()

    def lines(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = wire.decoded(line)
            number = None if "method" in message else self._numbers.pop(repr(message.get("id")), None)
            yield b"%d %b" % (number, line) if number is not None else wire.unnumbered(line)

    def close(self) -> None:
        """Close the server's input, upon which it leaves."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def wait(self) -> int:
        return self._process.wait()
