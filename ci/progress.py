"""How a run tells that it is getting on: a bar on a terminal, lines in a log."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

if TYPE_CHECKING:
    from collections.abc import Iterator


class LineProgress:
    """One plain line when a launch begins and when it ends."""

    def __init__(self, stream: TextIO) -> None:
        """Write to ``stream``."""
        self._stream = stream
        self._began = 0.0
        self._left = 0
        self._name = ""

    def begin(self, launch: int, launches: int, scenarios: int) -> None:
        """Say which launch begins."""
        self._name = f"launch {launch + 1} of {launches}"
        self._began, self._left = time.monotonic(), scenarios
        noun = "scenario" if scenarios == 1 else "scenarios"
        print(f"{self._name}: {scenarios} {noun}", file=self._stream, flush=True)

    def advance(self, _scenario: str) -> None:
        """Say that a launch is done, with its last scenario."""
        self._left -= 1
        if self._left == 0:
            spent = time.monotonic() - self._began
            print(f"{self._name}: {spent:.1f} s", file=self._stream, flush=True)


class BarProgress:
    """One bar over all scenarios of all launches."""

    def __init__(self, bar: Bar) -> None:
        """Draw with ``bar``, which is live already."""
        self._bar = bar
        self._task = bar.add_task("starting", total=None)

    def begin(self, launch: int, launches: int, scenarios: int) -> None:
        """Set the scale, and how much of it earlier launches have done."""
        self._bar.update(
            self._task,
            description=f"launch {launch + 1} of {launches}",
            total=launches * scenarios,
            completed=launch * scenarios,
        )

    def advance(self, _scenario: str) -> None:
        """Move by one scenario."""
        self._bar.advance(self._task)


@contextlib.contextmanager
def make_progress(stream: TextIO) -> Iterator[LineProgress | BarProgress]:
    """Give a bar if ``stream`` is a terminal, else lines."""
    if not stream.isatty():
        yield LineProgress(stream)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # Few redraws: they cost time on the machine that is being measured.
    with Bar(
        *columns, console=Console(file=stream), refresh_per_second=1, transient=True
    ) as bar:
        yield BarProgress(bar)
