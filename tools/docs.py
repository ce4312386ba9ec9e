"""Writes the pages of docs/ that say what the program itself knows: tools, settings, commands.

python tools/docs.py            write them
python tools/docs.py --check    fail if they are out of date
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from runpy import run_path
from typing import Any

import click

from mcp_memory.cli import main as program
from mcp_memory.config import _ONLY_PREFIXED, PREFIX, TOOL_SETS, Config, scope
from mcp_memory.events import EVENTS
from mcp_memory.server.mcp.sets import tool_sets

DOCS = Path(__file__).parents[1] / "docs"
BROWSER_TESTS = DOCS.parent / "tests" / "browser"
NOTE = "<!-- Made by tools/docs.py; change the program, then run `make docs`. -->"


def settings() -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield (
        "A setting is given by a flag of `mcp-memory`, by an environment variable, or in the settings file "
        "(`config.toml` in the platform's folder for settings, or the one that `--config` or "
        f"`{PREFIX}CONFIG` names), in that order. Every variable may also be written with `{PREFIX}` before "
        "it, which wins over the short form. An unknown setting is an error that suggests the right one. "
        "`mcp-memory settings` shows what is in force and where it comes from."
    )
    yield ""
    yield "| variable | in the file | default | what it is for |"
    yield "|---|---|---|---|"
    for setting in fields(Config):
        variable = setting.name.upper()
        shown = f"{PREFIX}{variable}" if setting.name in _ONLY_PREFIXED else variable
        default = f"`{setting.default}`" if setting.default != "" else ""
        yield f"| `{shown}` | `{setting.name}` | {default} | {setting.metadata['help']} |"


def tools() -> Iterator[str]:
    yield "# Tools"
    yield ""
    yield (
        "What an assistant can do, by tool set. `--tools` chooses sets: `essentials` by default, `all` for "
        "`graph,memory,agent`; `anthropic` stands alone. A tool that several sets share is offered once. "
        "What is not required may be left out, null or empty."
    )
    for name in TOOL_SETS:
        [*sets] = tool_sets([name])
        yield ""
        yield f"## {name}"
        for tool in (tool for tool_set in sets for tool in tool_set.tools):
            yield ""
            yield f"### {tool.name}"
            yield ""
            yield tool.description
            yield ""
            yield from _arguments(tool.input_schema)


def _arguments(schema: dict[str, Any], indent: str = "") -> Iterator[str]:
    properties = schema.get("properties", {})
    if not properties and not indent:
        yield "No arguments."
    for name, field in properties.items():
        needed = ", required" if name in schema.get("required", ()) else ""
        about = f": {field['description']}" if field.get("description") else ""
        yield f"{indent}- `{name}` ({_kind(field)}{needed}){about}"
        for option in _options(field):
            for inner in _options(option.get("items", {})):
                yield from _arguments(inner, indent + "  ")


def _options(field: dict[str, Any]) -> list[dict[str, Any]]:
    return [option for option in field.get("anyOf", [field]) if option.get("type") != "null"]


def _kind(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(option) for option in _options(field))
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    return str(field.get("type", "anything"))


def commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Without a command, `mcp-memory` is an MCP server on standard input and output."
    with click.Context(program, info_name="mcp-memory") as context:
        yield ""
        yield "```"
        yield program.get_help(context).rstrip()
        yield "```"
        yield from _subcommands(program, context, 2)


def _subcommands(group: click.Group, context: click.Context, depth: int) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        with click.Context(command, info_name=name, parent=context) as inner:
            yield ""
            yield f"{'#' * depth} {inner.command_path}"
            yield ""
            yield "```"
            yield command.get_help(inner).rstrip()
            yield "```"
            if isinstance(command, click.Group):
                yield from _subcommands(command, inner, depth + 1)


def clauses() -> Iterator[str]:
    # By its path, because this folder is no package.
    yield from run_path(str(Path(__file__).with_name("seed_clauses.py")))["page"]()


def events() -> Iterator[str]:
    yield "# Events"
    yield ""
    yield (
        "Every change is recorded in the journal. `GET /api/events` streams it as Server-Sent Events, and a "
        "memory's history lists it. The data of an event holds the fields below, and `at`, `client` and "
        "`act`, the id of the change that undo takes. A field that may be missing is in brackets."
    )
    yield ""
    yield "| event | fields |"
    yield "|---|---|"
    for name, kind in EVENTS.items():
        shown = (f"`{one.name}`" if one.default is MISSING else f"[`{one.name}`]" for one in fields(kind))
        yield f"| `{name}` | {', '.join(shown)} |"


def browser_tests() -> Iterator[str]:
    yield "# What the tests do in the browser"
    yield ""
    yield (
        "The tests of `tests/browser/` use the page in a real Chromium as a person would. Their names are "
        "these sentences; `make test` runs them."
    )
    for file in sorted(BROWSER_TESTS.glob("test_*.py")):
        module = ast.parse(file.read_text("utf-8"))
        yield ""
        yield f"## {(ast.get_docstring(module) or file.stem).splitlines()[0].rstrip('.')}"
        yield ""
        for test in ast.walk(module):
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                yield f"- {_sentence(test.name)}{_each(test)}"


def _sentence(name: str) -> str:
    words = name.removeprefix("test_").replace("_", " ")
    return words[0].upper() + words[1:]


def _each(test: ast.FunctionDef) -> str:
    """What a test is repeated for: `ids` of its parameters."""
    ids = [
        ast.literal_eval(keyword.value)
        for mark in test.decorator_list
        if isinstance(mark, ast.Call)
        for keyword in mark.keywords
        if keyword.arg == "ids"
    ]
    return f" ({'; '.join(' and '.join(each) for each in ids)})" if ids else ""


PAGES = {
    "browser-tests.md": browser_tests,
    "settings.md": settings,
    "tools.md": tools,
    "commands.md": commands,
    "events.md": events,
    "conformance-seeds.md": clauses,
}


def thin_table() -> str:
    """The settings as the thin client knows them, which does not load the program."""
    rows = [f'    "{one.name}": ("{scope(one.name)}", {str(one.default)!r}),' for one in fields(Config)]
    rows = [row.replace("'", '"') for row in rows]
    prefixed = [f'        "{name}",' for name in sorted(_ONLY_PREFIXED)]
    return "\n".join(
        [
            '"""Every setting: what it belongs to, and its default. Made from config.py by tools/docs.py."""',
            "",
            "SETTINGS = {",
            *rows,
            "}",
            "",
            "ONLY_PREFIXED = frozenset(",
            "    {",
            *prefixed,
            "    }",
            ")",
            "",
        ]
    )


def made() -> Iterator[tuple[Path, str]]:
    """Each file with what it should say."""
    for name, lines in PAGES.items():
        heading, *rest = lines()
        yield DOCS / name, "\n".join([heading, "", NOTE, *rest]) + "\n"
    yield DOCS.parent / "src/mcp_memory/thin/table.py", thin_table()


def main() -> int:
    stale = []
    for file, text in made():
        if "--check" not in sys.argv[1:]:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        elif not file.exists() or file.read_text("utf-8") != text:
            stale.append(file.name)
    if stale:
        print(f"out of date: {', '.join(stale)}. Run `make docs`.")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
