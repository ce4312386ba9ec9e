"""The supported clients: where their settings are, and the entries we add."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_memory.cli.clients import jsonc, opencode_plugin
from mcp_memory.cli.clients.changes import FileEdit
from mcp_memory.errors import Invalid

SERVER = "memory"
"""Name of our server in the clients' settings."""

OURS = re.compile(r"\bhook\b.*--client\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """The facts about this machine that clients' settings depend on."""

    home: Path
    environ: Mapping[str, str]
    platform: str = sys.platform

    @property
    def config(self) -> Path:
        """The platform's folder for settings."""
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.xdg

    @property
    def xdg(self) -> Path:
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")

    def folder(self, variable: str, default: Path) -> Path:
        return Path(self.environ[variable]).expanduser() if self.environ.get(variable) else default

    def has_program(self, name: str) -> bool:
        return shutil.which(name, path=self.environ.get("PATH")) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What to connect, and how."""

    command: tuple[str, ...]
    hooks: bool = True
    capture: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    name: str
    title: str
    folder: Callable[[Machine], Path]
    """Folder of its settings. The client is installed if this folder or its program exists."""
    edits: Callable[[Machine, Wish], list[FileEdit]]
    program: str = ""
    note: str = ""
    """What the user has to know or do."""
    has_hooks: bool = False

    def is_there(self, around: Machine) -> bool:
        return self.folder(around).exists() or bool(self.program and around.has_program(self.program))


def _entry(wish: Wish, **more: Any) -> dict[str, Any]:
    return {"command": wish.command[0], "args": list(wish.command[1:]), **more}


def _member(path: Path, where: Sequence[str], value: Any) -> FileEdit:
    return FileEdit(
        path,
        lambda text: jsonc.with_member(text, where, value),
        lambda text: jsonc.without_member(text, where),
    )


def _is_ours(group: Any) -> bool:
    return bool(OURS.search(str(group)))


def _shell(command: Sequence[str], event: str, client: str) -> str:
    words = [*command, "hook", event, "--client", client]
    if sys.platform == "win32":
        return " ".join(f'"{word}"' if " " in word else word for word in words)
    return shlex.join(words)


def _hooked(
    path: Path, groups: Mapping[str, Any], also: Mapping[tuple[str, ...], Any] | None = None
) -> FileEdit:
    """A file with a list of hooks by event under `hooks`, and other members."""

    def put(text: str) -> str:
        for where, value in (also or {}).items():
            text = jsonc.with_member(text, where, value)
        for event, group in groups.items():
            text = jsonc.with_item(text, ["hooks", event], group, _is_ours)
        return _without(text, keep=groups)

    def _without(text: str, keep: Mapping[str, Any]) -> str:
        known = jsonc.find(jsonc.parsed(text), ["hooks"])
        for event in [] if known is None else list(known.members):
            if event not in keep:
                text = jsonc.without_items(text, ["hooks", event], _is_ours)
        return text

    def remove(text: str) -> str:
        text = _without(text, keep={})
        for where in also or {}:
            text = jsonc.without_member(text, where)
        return text

    return FileEdit(path, put, remove)


def _groups(wish: Wish, client: str, events: Mapping[str, str | None], *, timeout: int) -> dict[str, Any]:
    """Claude Code's shape, which Codex and Gemini CLI share: by event, a matcher and a command."""
    if not wish.hooks:
        return {}
    found: dict[str, Any] = {}
    for event, matcher in events.items():
        if event in _CAPTURES and not wish.capture:
            continue
        hook = {"type": "command", "command": _shell(wish.command, event, client), "timeout": timeout}
        found[event] = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
    return found


_CAPTURES = frozenset({"Stop", "PreCompact", "SessionEnd", "AfterAgent", "beforeSubmitPrompt"})


def _claude_code(around: Machine, wish: Wish) -> list[FileEdit]:
    chosen = around.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(chosen) if chosen else around.home / ".claude"
    state = folder / ".claude.json" if chosen else around.home / ".claude.json"
    events = {
        "SessionStart": "startup|resume|clear|compact",
        "UserPromptSubmit": None,
        "PostToolUseFailure": "Bash",
        "Stop": None,
        "PreCompact": None,
        "SessionEnd": None,
    }
    entry = {"type": "stdio", **_entry(wish), "alwaysLoad": True}
    return [
        _member(state, ["mcpServers", SERVER], entry),
        _hooked(folder / "settings.json", _groups(wish, "claude-code", events, timeout=5)),
    ]


def _codex(around: Machine, wish: Wish) -> list[FileEdit]:
    folder = around.folder("CODEX_HOME", around.home / ".codex")
    events = {
        "SessionStart": "startup|resume|clear|compact",
        "UserPromptSubmit": None,
        "PostToolUse": "Bash",
        "Stop": None,
        "SessionEnd": None,
    }
    return [
        FileEdit(folder / "config.toml", lambda text: _with_table(text, wish), _without_table),
        _hooked(folder / "hooks.json", _groups(wish, "codex", events, timeout=3)),
    ]


_TABLE = f"[mcp_servers.{SERVER}]"


def _with_table(text: str, wish: Wish) -> str:
    """TOML tables are independent, so ours can be appended and found again."""
    command, args = _quoted(wish.command[0]), ", ".join(_quoted(word) for word in wish.command[1:])
    table = f"{_TABLE}\ncommand = {command}\nargs = [{args}]\n"
    if table in text:
        return text
    text = _without_table(text)
    return f"{text}{_gap(text)}{table}"


def _without_table(text: str) -> str:
    found = re.search(rf"^{re.escape(_TABLE)}[ \t]*\n(?:(?!\[).*\n?)*", text, re.MULTILINE)
    if not found:
        return text
    before = text[: found.start()]
    return (before[:-1] if before.endswith("\n\n") else before) + text[found.end() :]


def _gap(text: str) -> str:
    return "" if not text else "\n" if text.endswith("\n") else "\n\n"


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _gemini(around: Machine, wish: Wish) -> list[FileEdit]:
    events = {
        "SessionStart": None,
        "BeforeAgent": None,
        "AfterTool": "run_shell_command",
        "AfterAgent": None,
        "SessionEnd": None,
    }
    groups = _groups(wish, "gemini", events, timeout=5000)  # in milliseconds here
    also: dict[tuple[str, ...], Any] = {("mcpServers", SERVER): _entry(wish, trust=True)}
    return [_hooked(around.home / ".gemini" / "settings.json", groups, also)]


def _opencode(around: Machine, wish: Wish) -> list[FileEdit]:
    folder = around.xdg / "opencode"
    named = next(
        (folder / name for name in ("opencode.jsonc", "opencode.json") if (folder / name).exists()), None
    )
    entry = {"type": "local", "command": list(wish.command), "enabled": True}
    edits = [_member(named or folder / "opencode.json", ["mcp", SERVER], entry)]
    plugin = folder / "plugin" / "mcp-memory.js"
    if wish.hooks or plugin.exists():
        source = opencode_plugin.source(wish.command, captures=wish.capture) if wish.hooks else ""
        edits.append(FileEdit(plugin, lambda _: source, lambda _: ""))
    return edits


def _cursor(around: Machine, wish: Wish) -> list[FileEdit]:
    folder = around.home / ".cursor"
    edits = [_member(folder / "mcp.json", ["mcpServers", SERVER], _entry(wish))]
    events = ["sessionStart", *(["beforeSubmitPrompt"] if wish.capture else [])]
    groups = {event: {"command": _shell(wish.command, event, "cursor")} for event in events if wish.hooks}
    hooks = folder / "hooks.json"
    if groups or hooks.exists():
        edits.append(_hooked(hooks, groups, {("version",): 1} if groups and not hooks.exists() else None))
    return edits


def _vscode(around: Machine, wish: Wish) -> list[FileEdit]:
    entry = {"type": "stdio", **_entry(wish)}
    edits = [_member(around.config / "Code" / "User" / "mcp.json", ["servers", SERVER], entry)]
    events = ["SessionStart", *(["UserPromptSubmit", "Stop"] if wish.capture else [])]
    hooks = around.home / ".copilot" / "hooks" / "mcp-memory.json"  # a file of our own
    if wish.hooks or hooks.exists():
        # No level for matchers, as Claude Code has it; 30 seconds unless said otherwise.
        commands = {event: [_command(_shell(wish.command, event, "vscode"))] for event in events}
        content = json.dumps({"hooks": commands}, indent=2) + "\n" if wish.hooks else ""
        edits.append(FileEdit(hooks, lambda _: content, lambda _: ""))
    return edits


def _command(line: str) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeout": 5}


def _claude_desktop(around: Machine, wish: Wish) -> list[FileEdit]:
    file = around.config / "Claude" / "claude_desktop_config.json"
    return [_member(file, ["mcpServers", SERVER], _entry(wish))]


def _windsurf(around: Machine, wish: Wish) -> list[FileEdit]:
    file = around.home / ".codeium" / "windsurf" / "mcp_config.json"
    return [_member(file, ["mcpServers", SERVER], _entry(wish))]


def _zed(around: Machine, wish: Wish) -> list[FileEdit]:
    entry = {"source": "custom", **_entry(wish), "env": {}}
    return [_member(_zed_folder(around) / "settings.json", ["context_servers", SERVER], entry)]


def _zed_folder(around: Machine) -> Path:
    return around.config / "Zed" if around.platform == "win32" else around.xdg / "zed"


CLIENTS = {
    client.name: client
    for client in (
        Client(
            name="claude-code", title="Claude Code", program="claude", has_hooks=True,
            folder=lambda around: around.folder("CLAUDE_CONFIG_DIR", around.home / ".claude"),
            edits=_claude_code,
        ),
        Client(
            name="claude-desktop", title="Claude Desktop",
            folder=lambda around: around.config / "Claude", edits=_claude_desktop,
            note="Restart Claude Desktop. It has no hooks: the assistant has to call the tools.",
        ),
        Client(
            name="codex", title="Codex", program="codex", has_hooks=True,
            folder=lambda around: around.folder("CODEX_HOME", around.home / ".codex"), edits=_codex,
            note="Codex runs hooks only once you trust them: type /hooks in Codex, now and after changes.",
        ),
        Client(
            name="cursor", title="Cursor", program="cursor", has_hooks=True,
            folder=lambda around: around.home / ".cursor", edits=_cursor,
            note="Cursor's hooks can inject at the start of a session only.",
        ),
        Client(
            name="gemini", title="Gemini CLI", program="gemini", has_hooks=True,
            folder=lambda around: around.home / ".gemini", edits=_gemini,
        ),
        Client(
            name="opencode", title="OpenCode", program="opencode", has_hooks=True,
            folder=lambda around: around.xdg / "opencode", edits=_opencode,
        ),
        Client(
            name="vscode", title="VS Code", program="code", has_hooks=True,
            folder=lambda around: around.config / "Code" / "User", edits=_vscode,
            note="VS Code's hooks, a preview, can inject at the start of a session only.",
        ),
        Client(
            name="windsurf", title="Windsurf",
            folder=lambda around: around.home / ".codeium" / "windsurf", edits=_windsurf,
            note="It has no hooks: the assistant has to call the tools.",
        ),
        Client(
            name="zed", title="Zed", program="zed", folder=_zed_folder, edits=_zed,
            note="It has no hooks: the assistant has to call the tools.",
        ),
    )
}  # fmt: skip


def named(names: Sequence[str], around: Machine) -> list[Client]:
    """The named clients, else all that are installed."""
    unknown = [name for name in names if name not in CLIENTS]
    if unknown:
        raise Invalid(f"there is no client {', '.join(unknown)}: take any of {', '.join(CLIENTS)}")
    return [CLIENTS[name] for name in names] or [one for one in CLIENTS.values() if one.is_there(around)]


def stable_command(around: Machine, running: str) -> tuple[str, ...]:
    """A command for this program that keeps working after an update.

    The link of a tool installer comes first; a program in the cache of `uvx` is started through `uvx`; the
    path in a virtual environment is the last resort.
    """
    for folder in (around.home / ".local" / "bin", Path("/usr/local/bin"), Path("/opt/homebrew/bin")):
        link = folder / ("mcp-memory.exe" if around.platform == "win32" else "mcp-memory")
        if link.exists():
            return (str(link),)
    if re.search(r"[/\\]uv[/\\](?:archive|builds|environments)", running):
        return ("uvx", "mcp-one-memory")
    return (running,)
