"""Progress bars, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Shown on standard error, so it never mixes with a command's output."""

    def __init__(self, unit: Literal["bytes", "things"]) -> None:
        self._unit = unit
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._shown = self._made()
            self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()

    def file(self, name: str, done: int, total: int | None) -> None:
        """Report one of several operations, each on its own line. A `Progress`."""
        if self._shown is None:
            return
        if name not in self._tasks:
            self._tasks[name] = self._shown.add_task(name)
        self._shown.update(self._tasks[name], completed=done, total=total or None)

    def _made(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        amount = DownloadColumn() if self._unit == "bytes" else MofNCompleteColumn()
        return Progress(
            "{task.description}", BarColumn(), amount, TimeRemainingColumn(), console=Console(stderr=True)
        )
