"""Connections to a server for one MCP client, and how they are made."""

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
    from mcp_memory.thin.settings import ThinSettings

GREETING = 5.0
"""Timeout in seconds for the answer to the first line of a connection."""

LONGEST_START = 60.0
"""Timeout in seconds for a started server to listen."""

LOOK_EVERY = 0.02
"""Polling interval in seconds while a server starts."""


class StartFailed(Exception):
    """A shared server was started, and exited before it listened."""


class ServerEnded(Exception):
    """This process's own server has ended, and no other is to be started."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ServerConnection:
    """A session with the shared server."""

    def __init__(self, connected: socket.socket, greeting: str) -> None:
        self._socket = connected
        self.greeting = greeting
        """Description for the log."""

    def send(self, line: bytes) -> None:
        self._socket.sendall(line)

    def lines(self) -> Iterator[bytes]:
        """Read until the server disconnects."""
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

    def __init__(self, endpoint: Endpoint, settings: ThinSettings, session: str) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._session = session
        self._private: PrivateConnection | None = None
        self._silent = 0
        """How often a server accepted the connection but did not answer."""

    def find(self) -> ServerConnection | None:
        """A session with the running server. Raises `Refused` if it rejects these settings."""
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
        return ServerConnection(connected, str((said.get("answer") or {}).get("greeting", "")))

    def find_or_start(self) -> ServerConnection:
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

    def _shared(self) -> ServerConnection:
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
                started = None  # another server was faster, or a newer one replaced it
            time.sleep(LOOK_EVERY)
        raise StartFailed("it did not answer in time")

    def _start(self) -> Popen[bytes] | None:
        started = start_server(self._endpoint, self._settings)
        if started is not None:
            # Reap the server's process when it ends, so that it does not stay as a zombie.
            threading.Thread(target=started.wait, daemon=True).start()
        return started

    def _http(self) -> dict[str, str] | None:
        """HTTP settings for the server, if this client wants it served."""
        return self._settings.of("http") if self._settings["http"] == "yes" else None

    def _send_away(self) -> None:
        try:
            ask_at(self._endpoint, self._settings, "leave", {"because": "a newer version is here"}, timeout=5)
        except (NoServer, Refused):
            return


class PrivateConnection(ServerConnection):
    """A session with a server of this process's own, over pipes: the fallback when none can be shared."""

    def __init__(self, settings: ThinSettings) -> None:
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
        """Close the server's input, which ends it."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def wait(self) -> int:
        return self._process.wait()
