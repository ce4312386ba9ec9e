"""Starts a shared server in the background, which outlives the process that starts it."""

from __future__ import annotations

import os
import sys

from mcp_memory.thin.settings import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from mcp_memory.thin.endpoint import Endpoint
    from mcp_memory.thin.settings import ThinSettings

COMMAND = "shared-server"
LONGEST_LOG = 1_000_000
"""Bytes."""
TUNABLES = "GLIBC_TUNABLES"
LARGE_PAGES = "glibc.malloc.hugetlb=1"
"""Asks the system for them, which may decline. C libraries that do not know it ignore it."""


def start_server(endpoint: Endpoint, settings: ThinSettings) -> Popen[bytes] | None:
    """Start a server; None if another client is starting one. Raises `OSError`. Its output goes to
    `<name>.log`.
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
    """The lock that is held while a server starts, first by its client, then by itself. None if it is taken.
    So only one of many clients starts a server, even if it does not wait for it.
    """
    try:
        import fcntl
    except ImportError:
        return -1  # without locks several may be started; all but one end again
    opened = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _started(endpoint: Endpoint, settings: ThinSettings, turn: int) -> Popen[bytes]:
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
                    # Not the client's folder, which could then not be unmounted.
                    cwd=settings.folder if settings.is_relative else os.path.abspath(os.sep),
                    env=_server_environment(settings),
                    **options,
                )
        except OSError as error:
            failure = error
    raise failure or OSError("no program to start")


def _log(file: str) -> int:
    """The log, opened for appending, or emptied if it has grown too long."""
    opened = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    if os.fstat(opened).st_size > LONGEST_LOG:
        os.ftruncate(opened, 0)
    return opened


def programs() -> list[list[str]]:
    """The command that starts this program. The running one may have been replaced by an update."""
    import shutil

    # -P: modules in the client's folder must not shadow ours.
    found = [[sys.executable, "-P", "-m", "mcp_memory"]] if sys.executable else []
    installed = shutil.which("mcp-memory")
    return [*found, [installed]] if installed else found


def own_environment(settings: ThinSettings) -> dict[str, str]:
    """The environment of this process, with relative paths made absolute."""
    environ = dict(os.environ)
    if environ.get(f"{PREFIX}CONFIG"):
        environ[f"{PREFIX}CONFIG"] = os.path.abspath(os.path.expanduser(environ[f"{PREFIX}CONFIG"]))
    return environ


def _server_environment(settings: ThinSettings) -> dict[str, str]:
    """With large pages for what the server allocates, where the system has them.

    For each question the model reads all of its weights. What comes after it then looks up most of its small
    pages anew, which takes a twentieth of a question and of a bulk write.
    """
    environ = own_environment(settings)
    name, _, _ = LARGE_PAGES.partition("=")
    given = environ.get(TUNABLES, "")
    if sys.platform == "linux" and name not in given:
        environ[TUNABLES] = f"{given}:{LARGE_PAGES}" if given else LARGE_PAGES
    return environ


def _flags(settings: ThinSettings) -> list[str]:
    """Flags of the server process; settings of a connection are sent with it."""
    flags = settings.flags
    found = ["--database", flags["database_url"]] if "database_url" in flags else []
    if "config" in flags:
        found += ["--config", os.path.abspath(os.path.expanduser(flags["config"]))]
    return found
