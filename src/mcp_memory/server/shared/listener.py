"""Listens as the shared server: one process at a time, reached by its owner alone."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from mcp_memory.storage.file_lock import FileLock
from mcp_memory.thin import wire
from mcp_memory.thin.endpoint import Endpoint, peer_uid, proof, same

BACKLOG = 128


class AlreadyRunning(Exception):
    """Another server is there."""


class Listener:
    """The lock that makes this process the shared server, and the socket that clients connect to."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = FileLock(Path(endpoint.file("lock")))
        self._secret = secrets.token_hex(32)
        self._identity: tuple[int, int] | None = None

    def take(self, patience: float) -> socket.socket:
        """Raises `AlreadyRunning` when another server still holds it after these seconds, and `OSError`."""
        self._endpoint.prepare()
        if not self._lock.take(patience):
            raise AlreadyRunning
        try:
            return self._bound()
        except BaseException:
            self._lock.close()
            raise

    def take_again(self) -> socket.socket:
        """Like `take`, after the socket, and perhaps the lock beside it, was removed."""
        self._lock.close()
        return self.take(0)

    def is_held(self) -> bool:
        """Whether the socket still leads to this process."""
        return self._identity is not None and self._identity == _identity(self._endpoint.address)

    def give_up(self) -> None:
        """Release socket and lock for a successor; open connections stay. Further calls do nothing."""
        if self.is_held():
            with suppress(OSError):
                os.unlink(self._endpoint.address)
            if self._endpoint.is_elsewhere:
                with suppress(OSError):
                    os.unlink(self._endpoint.link)
        # A successor's socket may get the same inode, and must not be removed by a second call.
        self._identity = None
        self._lock.close()

    async def admits(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the client is the owner of this server."""
        if self._endpoint.loopback:
            return await self._proven(reader, writer)
        connected: socket.socket = writer.get_extra_info("socket")
        return peer_uid(connected) in (None, os.getuid())

    def _bound(self) -> socket.socket:
        listening = self._loopback() if self._endpoint.loopback else self._unix()
        self._identity = _identity(self._endpoint.address)
        return listening

    def _unix(self) -> socket.socket:
        address = self._endpoint.address
        with suppress(FileNotFoundError):
            os.unlink(address)  # left by a server that died: this process holds its lock
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            listening.bind(address)
        finally:
            os.umask(mask)
        listening.listen(BACKLOG)
        if self._endpoint.is_elsewhere:
            with suppress(FileNotFoundError):
                os.unlink(self._endpoint.link)
            os.symlink(address, self._endpoint.link)  # for people only: clients compute the address
        return listening

    def _loopback(self) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        said = wire.encoded({"port": listening.getsockname()[1], "secret": self._secret})
        draft = f"{self._endpoint.address}.{os.getpid()}"
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as opened:
            opened.write(said)
        os.replace(draft, self._endpoint.address)
        return listening

    async def _proven(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        said = wire.decoded(await reader.readline())
        mine = secrets.token_hex(16)
        answer = {"proof": proof(self._secret, str(said.get("challenge", ""))), "challenge": mine}
        writer.write(wire.encoded(answer))
        await writer.drain()
        said = wire.decoded(await reader.readline())
        return same(proof(self._secret, mine), str(said.get("proof", "")))


def _identity(address: str) -> tuple[int, int] | None:
    """Tells a socket's file from another one at its place: inodes are used again, also at once."""
    try:
        found = os.stat(address)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
