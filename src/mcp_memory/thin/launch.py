"""Starts a shared server in the background, which outlives the process that starts it."""

from __future__ import annotations

import os
import sys

from mcp_memory.thin.settings import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import Settings

COMMAND = "shared-server"
LONGEST_LOG = 1_000_000
"""Bytes."""


def start_server(endpoint: Endpoint, settings: Settings) -> Popen[bytes] | None:
    """A server that is on its way; None if somebody else has started one. Raises `OSError`.

    What it has to say is in `<name>.log`.
    """
    endpoint.prepare()
    turn = _turn(endpoint.file("start"))
    if turn is None:
        return None
    try:
        return _started(endpoint, settings, turn)
    finally:
        if turn >= 0:
            os.close(turn)


def _turn(file: str) -> int | None:
    """A lock that is held while a server starts: by its client, and then by itself. None if it is taken.

    So of all clients that miss a server one starts it, also when that one does not wait for it.
    """
    try:
        import fcntl
    except ImportError:
        return -1  # on such a system several may be started; all but one leave again
    opened = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _started(endpoint: Endpoint, settings: Settings, turn: int) -> Popen[bytes]:
    import subprocess

    failure: OSError | None = None
    options: dict[str, object] = {"start_new_session": True, "pass_fds": [turn]}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    for program in programs():
        try:
            with open(_log(endpoint.file("log")), "wb") as log:
                return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
                    [*program, *_flags(settings), COMMAND, "--turn", str(turn)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    # A folder that a server works in cannot be unmounted.
                    cwd=settings.folder if settings.is_relative else os.path.abspath(os.sep),
                    env=own_environment(settings),
                    **options,
                )
        except OSError as error:
            failure = error
    raise failure or OSError("no program to start")


def _log(file: str) -> int:
    """Append to the log, unless it has grown too long."""
    opened = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    if os.fstat(opened).st_size > LONGEST_LOG:
        os.ftruncate(opened, 0)
    return opened


def programs() -> list[list[str]]:
    """How this program is started. What began this process may have been replaced by an update."""
    import shutil

    # -P: a module in the folder that the client works in must not be taken for one of ours.
    found = [[sys.executable, "-P", "-m", "mcp_memory"]] if sys.executable else []
    installed = shutil.which("mcp-memory")
    return [*found, [installed]] if installed else found


def own_environment(settings: Settings) -> dict[str, str]:
    """This one's, with relative names of files made whole."""
    environ = dict(os.environ)
    if environ.get(f"{PREFIX}CONFIG"):
        environ[f"{PREFIX}CONFIG"] = os.path.abspath(os.path.expanduser(environ[f"{PREFIX}CONFIG"]))
    return environ


def _flags(settings: Settings) -> list[str]:
    """Flags that belong to the process; what belongs to a connection travels with it."""
    flags = settings.flags
    found = ["--database", flags["database_url"]] if "database_url" in flags else []
    if "config" in flags:
        found += ["--config", os.path.abspath(os.path.expanduser(flags["config"]))]
    return found
