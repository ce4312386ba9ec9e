"""The settings of a connection and the server they select, without loading the engine.

Flags take precedence over the environment, the settings file and the defaults, as in `config`. Values are not
validated here: the server does that.
"""

from __future__ import annotations

import os
import sys

from mcp_memory.thin.table import ONLY_PREFIXED, SETTINGS

# Not from `typing`, which takes longer to import than this whole package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PREFIX = "MCP_MEMORY_"
PATHS = ("database_url", "memory_file_path", "models_dir")
"""Settings with paths that may be relative to the client's folder."""

FLAGS = {
    "--database": "database_url",
    "--space": "space",
    "--tools": "tools",
    "--config": "config",
    "--log-level": "log_level",
}
"""Flags of the program by the setting they give; `config` names the settings file."""

FLAG_OF = {setting: flag for flag, setting in FLAGS.items()}

_HOMES = ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA")
"""Environment variables that decide where the user's files, and so the default database, are."""


class Unreadable(Exception):
    """The settings cannot be parsed here; the full program reports why."""


class ThinSettings:
    """The value of each setting as text, with defaults filled in."""

    def __init__(
        self, values: Mapping[str, str], homes: Mapping[str, str], folder: str, flags: Mapping[str, str]
    ) -> None:
        self.values = values
        self.homes = homes
        self.folder = folder
        self.flags = flags
        """Settings given on the command line."""

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def of(self, scope: str) -> dict[str, str]:
        """Settings of a scope: a `connection`, the `process`, `http`, or `starting` a server."""
        return {name: self.values[name] for name, (where, _) in SETTINGS.items() if where == scope}

    def command_line(self) -> list[str]:
        """The flags as they were given."""
        return [word for name, value in self.flags.items() for word in (FLAG_OF[name], value)]

    @property
    def is_relative(self) -> bool:
        """Whether the meaning of the settings depends on the folder."""
        return any(_is_relative(self.values[name]) for name in PATHS)

    @property
    def name(self) -> str:
        """Equal for clients that one server can serve."""
        identity: list[Any] = [sorted(self.of("process").items()), sorted(self.homes.items()), _host()]
        if self.is_relative:
            identity.append(self.folder)
        if self.values["memory_file_path"]:
            # Only the anthropic tools share the file; a server does, or does not.
            identity.append(self.values["tools"])
        return digest(repr(identity))


def resolve(flags: Mapping[str, str], environ: Mapping[str, str], folder: str) -> ThinSettings:
    """Raises `Unreadable` if they cannot be parsed."""
    given = {name: default for name, (_, default) in SETTINGS.items()}
    given |= _from_file(flags.get("config", "") or environ.get(f"{PREFIX}CONFIG", ""), environ)
    given |= _from_environment(environ)
    given |= {name: value for name, value in flags.items() if name != "config"}
    homes = {name: environ[name] for name in _HOMES if name in environ}
    return ThinSettings(given, homes, folder, flags)


def default_file(environ: Mapping[str, str]) -> str:
    """The default settings file."""
    return os.path.join(_folder(environ, "XDG_CONFIG_HOME", ".config", "Application Support"), "config.toml")


def cache_folder(environ: Mapping[str, str]) -> str:
    return _folder(environ, "XDG_CACHE_HOME", ".cache", "Caches")


def data_folder(environ: Mapping[str, str]) -> str:
    return _folder(environ, "XDG_DATA_HOME", os.path.join(".local", "share"), "Application Support")


def _folder(environ: Mapping[str, str], variable: str, in_home: str, in_library: str) -> str:
    """Our folder in the platform's location for a kind of files."""
    home = environ.get("HOME") or os.path.expanduser("~")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", in_library)
    else:
        base = environ.get(variable) or os.path.join(home, in_home)
    return os.path.join(base, "mcp-memory")


def _from_file(named: str, environ: Mapping[str, str]) -> dict[str, str]:
    path = os.path.expanduser(named) if named else default_file(environ)
    try:
        with open(path, "rb") as opened:
            text = opened.read()
    except FileNotFoundError:
        if named:
            raise Unreadable from None
        return {}
    except OSError as error:
        raise Unreadable from error
    import tomllib

    try:
        found = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Unreadable from error
    if not found.keys() <= SETTINGS.keys():
        raise Unreadable
    return {name: _text(value) for name, value in found.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    short = {name: environ.get(name.upper(), "") for name in SETTINGS if name not in ONLY_PREFIXED}
    found = {name: value for name, value in short.items() if value}
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and variable != f"{PREFIX}CONFIG" and value:
            name = variable.removeprefix(PREFIX).lower()
            if name not in SETTINGS:
                raise Unreadable
            found[name] = value
    return found


def digest(text: str) -> str:
    """A digest of sixteen characters."""
    try:
        # Not from `hashlib`, which also loads OpenSSL: four megabytes for each assistant.
        from _blake2 import blake2b  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import blake2b
    found: str = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return found


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_relative(value: str) -> bool:
    if value.startswith(("postgres://", "postgresql://")):
        return False
    path = value.removeprefix("sqlite:///")
    return bool(path) and not path.startswith("~") and not os.path.isabs(path)


def _host() -> str:
    """Machines may share a home folder, but not its sockets."""
    return os.uname().nodename if hasattr(os, "uname") else ""
