"""Groups of commands: imported when used, with a suggestion for a mistyped name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class SuggestingGroup(click.Group):
    """Suggests the nearest command for one that does not exist."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known = [name for name in self.list_commands(ctx) if not self._is_hidden(ctx, name)]
            close = difflib.get_close_matches(args[0], known, n=1, cutoff=0.5)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(error.message + hint, ctx) from None

    def _is_hidden(self, ctx: click.Context, name: str) -> bool:
        command = self.get_command(ctx, name)
        return command is None or command.hidden


class LazyGroup(SuggestingGroup):
    """Maps each command's name to its location, `module:attribute`, in titled sections of the help."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._places = {name: place for section in sections.values() for name, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._places, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._places[cmd_name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Click's own listing aligns a single list; with one width for all sections the columns line up.
        widest = max(len(name) for name in self._places if not self._is_hidden(ctx, name))
        for title, names in self._sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            shown = [
                (name.ljust(widest), command.get_short_help_str(formatter.width - widest - 6))
                for name, command in commands
                if command is not None and not command.hidden
            ]
            with formatter.section(title):
                formatter.write_dl(shown)
