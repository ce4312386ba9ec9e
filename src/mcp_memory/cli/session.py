"""Resources of one program run, opened on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_memory import config as settings
from mcp_memory.config import Config

if TYPE_CHECKING:
    from mcp_memory.engine import Engine

CLIENT = "mcp-memory"
"""Client name in the journal for the command line."""


class Session:
    def __init__(self, flags: Mapping[str, Any] | None = None, file: Path | None = None) -> None:
        self.flags = {name: value for name, value in (flags or {}).items() if value is not None}
        self.file = file

    @cached_property
    def config(self) -> Config:
        return settings.load(self.flags, file=self.file)

    def check(self) -> None:
        """Raises `Invalid`, which says what is wrong with the settings."""
        assert self.config

    @cached_property
    def engine(self) -> Engine:
        engine = self.build_engine(CLIENT)
        return engine.acting_for(replace(engine.caller, via="person"))

    def build_engine(self, client: str = "") -> Engine:
        from mcp_memory.wiring import build

        return build(self.config, client)

    def close(self) -> None:
        if "engine" in self.__dict__:
            self.engine.close()
