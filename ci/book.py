"""The run document while it grows: begun, continued, and never overwritten."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ci import ConfigError, DocumentError
from ci.documents import encode_run, read_run, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from ci.runs import Launch, Run

OUT_OF_TIME: Final = "the budget of "
"""How a note begins that stops being true when the run is continued."""


@dataclass(slots=True)
class Book:
    """A run document on disk and in memory, the same after every launch."""

    path: Path
    run: Run

    def write(self) -> None:
        """Put the run on disk as it stands."""
        write_atomically(self.path, encode_run(self.run))

    def keep(self, launch: Launch) -> None:
        """Add one launch and write."""
        launches = (*self.run.launches, launch)
        done = len(launches) >= self.run.plan.launches
        self.run = replace(self.run, launches=launches, is_complete=done)
        self.write()

    def note(self, *notes: str) -> None:
        """Add notes that the run does not have yet."""
        fresh = tuple(note for note in notes if note not in self.run.notes)
        self.run = replace(self.run, notes=self.run.notes + fresh)


def begin(path: Path, run: Run) -> tuple[Book, Path | None]:
    """Start a document; one that is there is moved aside and its new path returned."""
    aside = None
    if path.exists():
        if not path.is_file():
            raise ConfigError(f"--output: {path}: not a regular file; name a file")
        aside = _free_name(path)
        try:
            path.replace(aside)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DocumentError(f"{path}: cannot be moved aside: {reason}") from None
    book = Book(path, run)
    book.write()
    return book, aside


def _free_name(path: Path) -> Path:
    for number in range(1, 10_000):
        candidate = path.with_name(f"{path.name}.{number}")
        if not candidate.exists():
            return candidate
    raise ConfigError(f"--output: {path}: 9999 earlier documents; remove some")


def resume(path: Path, launches: int | None) -> Book:
    """Open a document to continue it, with more launches if asked."""
    if not path.exists():
        raise ConfigError(
            f"--resume: {path}: no such file; leave --resume out to start a run"
        )
    run = read_run(path)
    looks = run.looks + run.is_complete
    if launches is not None:
        run = replace(run, plan=replace(run.plan, launches=launches))
    if len(run.launches) >= run.plan.launches:
        raise ConfigError(
            f"--resume: {path}: all {len(run.launches)} launches are done; ask for "
            "more with --launches, or leave --resume out to start again"
        )
    notes = tuple(note for note in run.notes if not note.startswith(OUT_OF_TIME))
    return Book(path, replace(run, is_complete=False, looks=looks, notes=notes))
