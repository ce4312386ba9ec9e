"""The assistants that are connected to this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from mcp_memory.fields import Help


@dataclass(frozen=True, slots=True)
class ConnectedAssistant:
    name: Annotated[str, Help("The name it gave at its handshake; empty before that.")]
    space: str
    tools: Annotated[str, Help("Its tool sets.")]
    seconds: Annotated[float, Help("For how long it has been connected.")]


class Connected:
    """Empty until a shared server runs in this process."""

    def __init__(self) -> None:
        self._read: Callable[[], Sequence[ConnectedAssistant]] = tuple

    def follow(self, read: Callable[[], Sequence[ConnectedAssistant]]) -> None:
        self._read = read

    def __call__(self) -> Sequence[ConnectedAssistant]:
        return self._read()
