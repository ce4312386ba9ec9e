"""Runs a command for a thin client, in a running server."""

from __future__ import annotations

import io
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

from mcp_memory.cli.session import CLIENT, Session
from mcp_memory.config import Config
from mcp_memory.errors import Unequipped

if TYPE_CHECKING:
    from mcp_memory.engine import Engine
    from mcp_memory.server.shared.hello import Hello
    from mcp_memory.server.shared.service import Service


class NeedsTerminal(BaseException):
    """The command needs input, and there is no terminal here."""


@dataclass
class _Shell:
    """Output streams of a command that runs in this process."""

    terminal: bool
    columns: int
    output: io.StringIO = field(default_factory=io.StringIO)
    errors: io.StringIO = field(default_factory=io.StringIO)


_shell: ContextVar[_Shell] = ContextVar("shell")


class _Output(io.TextIOBase):
    """Standard output or error of the command that runs in this thread."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, name: Literal["output", "errors"], own: TextIO) -> None:
        self._name = name
        self._own = own

    def write(self, text: str) -> int:
        shell = _shell.get(None)
        stream: TextIO = getattr(shell, self._name) if shell else self._own
        return stream.write(text)

    def flush(self) -> None:
        self._own.flush()

    def isatty(self) -> bool:
        shell = _shell.get(None)
        return shell is not None and shell.terminal

    @property
    def columns(self) -> int:
        return _shell.get().columns


class _NoInput(io.TextIOBase):
    encoding = "utf-8"

    def isatty(self) -> bool:
        raise NeedsTerminal

    def read(self, size: int | None = -1) -> NoReturn:
        raise NeedsTerminal

    def readline(self, size: int = -1) -> NoReturn:  # type: ignore[override]
        raise NeedsTerminal


class ForwardedSession(Session):
    """The session of a command that a running server executes."""

    def __init__(self, config: Config, engine: Engine) -> None:
        super().__init__()
        self.__dict__ |= {"config": config, "engine": engine}

    def close(self) -> None:
        """Does nothing: the engine belongs to the server."""


def run_command(service: Service, hello: Hello) -> dict[str, Any]:
    """The output of a command, and its exit code."""
    from mcp_memory.model import Caller

    config = service.config_of(hello.settings)
    engine = service.engine_with(
        service.engine().acting_for(Caller(config.space, CLIENT, via="person")), config
    )
    request = hello.request
    _redirect()

    def run(once: Engine) -> dict[str, Any]:
        shell = _Shell(bool(request.get("terminal")), int(request.get("columns") or 80))
        code = _run([str(word) for word in request["words"]], ForwardedSession(config, once), shell)
        return {"code": code, "output": shell.output.getvalue(), "errors": shell.errors.getvalue()}

    return engine.exactly_once(str(request["key"]), run, again=bool(request.get("again")))


def _run(words: list[str], session: Session, shell: _Shell) -> int:
    from mcp_memory.cli import main

    program: Any = main
    token = _shell.set(shell)
    try:
        program.main(words, prog_name="mcp-memory", obj=session)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except NeedsTerminal:
        raise Unequipped("this command needs confirmation: run it without the shared server") from None
    finally:
        _shell.reset(token)
    return 0


def _redirect() -> None:
    """Route what commands print to their client; all other output is unchanged."""
    streams: Any = sys
    if not isinstance(streams.stdout, _Output):
        streams.stdout = _Output("output", streams.stdout)
        streams.stderr = _Output("errors", streams.stderr)
        streams.stdin = _NoInput()
