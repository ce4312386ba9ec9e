"""The address of the shared server for given settings: a socket that only its owner can open.

A Unix socket in the runtime folder, mode 0600; both sides check the peer's user. If that folder's
name is too long for a socket, the socket is in a folder of this user in /tmp, and a link leads there. Where
there are no such sockets: a port of this machine, whose number and secret are in a file of mode 0600. Each
side proves that it has read the file by challenge and response, without revealing its content.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import time

from mcp_memory.thin import wire
from mcp_memory.thin.settings import cache_folder, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcp_memory.thin.settings import ThinSettings

LONGEST_ADDRESS = 100
"""Longest path of a Unix socket that every system supports, in bytes."""

SHORT_PARENT = "/tmp"
"""Not TMPDIR, which clients set differently: they would not find the same server."""


class NoServer(Exception):
    """No server is listening, or it belongs to somebody else."""


class Endpoint:
    """The files of one shared server, and how to connect to it."""

    def __init__(self, folder: str, name: str, *, loopback: bool = False) -> None:
        self.folder = folder
        self.name = name
        self.loopback = loopback or not hasattr(socket, "AF_UNIX")

    def file(self, kind: str) -> str:
        return os.path.join(self.folder, f"{self.name}.{kind}")

    @property
    def address(self) -> str:
        """The socket, or the file with its port."""
        if self.loopback:
            return self.file("port")
        return short_address(self.link) if self.is_elsewhere else self.link

    @property
    def link(self) -> str:
        """Path of the socket, or of a link to it."""
        return self.file("sock")

    @property
    def is_elsewhere(self) -> bool:
        """Whether the socket's path in the folder would be too long."""
        return not self.loopback and len(os.fsencode(self.link)) > LONGEST_ADDRESS

    def prepare(self) -> None:
        """Create the folders, accessible only to their owner. Raises `OSError` if they are not."""
        prepare_folder(self.folder)
        if self.is_elsewhere:
            prepare_folder(os.path.dirname(self.address))

    def why_not(self) -> str | None:
        """Why no shared server can run here; None if one can."""
        if 1 in (os.getpid(), os.getppid()) and sys.platform != "win32":
            return "this process is a container's own, and nothing outlives it"
        try:
            self.prepare()
        except OSError as error:
            return f"the runtime folder {self.folder} cannot be used: {error.strerror or error}"
        return None

    def connect(self, timeout: float | None = None) -> socket.socket:
        """Raises `NoServer`. The timeout applies to the connection attempt and stays set on the socket."""
        try:
            connected = self._loopback(timeout) if self.loopback else self._unix(timeout)
        except (OSError, ValueError) as error:
            raise NoServer(str(error)) from error
        return connected

    def _unix(self, timeout: float | None) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connected.settimeout(timeout)
            connected.connect(self.address)
            if peer_uid(connected) not in (None, os.getuid()):
                raise OSError("the socket belongs to another user")
        except BaseException:
            connected.close()
            raise
        return connected

    def _loopback(self, timeout: float | None) -> socket.socket:
        port, secret = read_port(self.address)
        connected = socket.create_connection(("127.0.0.1", port), timeout)
        try:
            mine = os.urandom(16).hex()
            connected.sendall(wire.encoded({"challenge": mine}))
            said = wire.decoded(read_line(connected))
            if not same(proof(secret, mine), str(said.get("proof", ""))):
                raise OSError("another program listens on the port")
            connected.sendall(wire.encoded({"proof": proof(secret, str(said.get("challenge", "")))}))
        except BaseException:
            connected.close()
            raise
        return connected


def endpoint_of(settings: ThinSettings, environ: Mapping[str, str]) -> Endpoint:
    folder = os.path.expanduser(settings["runtime_dir"]) or default_folder(environ)
    return Endpoint(folder, settings.name, loopback=settings["shared"] == "loopback")


def default_folder(environ: Mapping[str, str]) -> str:
    """The platform's runtime folder of the user, else one in the user's cache."""
    runtime = environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime):
        return os.path.join(runtime, "mcp-memory")
    return os.path.join(cache_folder(environ), "run")


def short_address(link: str) -> str:
    """A short name for a socket, in a folder that only this user can enter."""
    return os.path.join(SHORT_PARENT, f"mcp-memory-{os.getuid()}", f"{digest(link)}.sock")


def prepare_folder(folder: str) -> None:
    """Create a folder accessible only to its owner. Raises `OSError` if it is not."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if sys.platform == "win32":
        return
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise OSError(f"{folder} is not a folder of this user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(folder, 0o700)
    if not os.access(folder, os.W_OK):
        raise OSError(f"{folder} is read-only")


def peer_uid(connected: socket.socket) -> int | None:
    """The peer's user; None where the system does not report it."""
    system: str = sys.platform
    if system == "linux":
        said = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(said[4:8], sys.byteorder)
    if system == "darwin":
        # struct xucred: version, user, …; level SOL_LOCAL, option LOCAL_PEERCRED.
        said = connected.getsockopt(0, 1, 76)
        return int.from_bytes(said[4:8], sys.byteorder)
    return None


def read_port(file: str) -> tuple[int, str]:
    with open(file, "rb") as opened:
        said = wire.decoded(opened.read())
    return int(said.get("port", 0)), str(said.get("secret", ""))


def proof(secret: str, challenge: str) -> str:
    """The answer to a challenge, which proves access to the port file."""
    import hashlib
    import hmac

    return hmac.new(secret.encode(), challenge.encode(), hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    import hmac

    return hmac.compare_digest(one.encode(), other.encode())


def read_line(connected: socket.socket, deadline: float | None = None) -> bytes:
    """Read exactly one line. Raises `OSError`, also if the peer disconnects before its end."""
    line = bytearray()
    while not line.endswith(b"\n"):
        if deadline is not None:
            connected.settimeout(max(deadline - time.monotonic(), 0.001))
        seen = connected.recv(65536, socket.MSG_PEEK)
        if not seen or len(line) > wire.LONGEST_LINE:
            raise ConnectionError("the server hung up")
        end = seen.find(b"\n") + 1
        line += connected.recv(end or len(seen))
    return bytes(line)


def hello(settings: ThinSettings, version: str, want: str, **more: Any) -> dict[str, Any]:
    """The first line of a connection."""
    return {
        "protocol": wire.PROTOCOL,
        "version": version,
        "want": want,
        "settings": settings.of("connection"),
        "folder": settings.folder,
        "pid": os.getpid(),
        **more,
    }
