"""What the command lines of all verbs have in common: one line for what is wrong."""

from __future__ import annotations

import argparse
import contextlib
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from ci import GateError
from ci.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

NO_VERDICT: Final = 2
"""The status of bad input, and of anything else that ends without an answer."""
INTERRUPTED: Final = 130


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line, as all errors here are."""

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and leave with the status of bad input."""
        self.exit(fail(self.prog, f"{message}; see {self.prog} --help", NO_VERDICT))


def guard(program: str, action: Callable[[], int]) -> int:
    """Return the status of ``action``; whatever it raises becomes one line."""
    try:
        return action()
    except GateError as error:
        return fail(program, str(error), error.exit_status)
    except KeyboardInterrupt:
        return fail(program, "interrupted", INTERRUPTED)
    except Exception as error:  # noqa: BLE001  # a traceback would exit with 1
        return fail(program, f"internal error: {_described(error)}", NO_VERDICT)


def fail(program: str, what: str, status: int) -> int:
    """Print one line to stderr, with nothing unseen in it, and return ``status``."""
    say(f"{program}: {visible(' '.join(what.split()))}")
    return status


def say(text: str) -> None:
    """Print to stderr; standard output belongs to results.

    Where it is closed or full nobody can be told: the status has to do, and a
    traceback would change that to 1.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def program_version() -> str:
    """Return the gate's version, or that it runs from a checkout."""
    try:
        return metadata.version("benchgate")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _described(error: Exception) -> str:
    """Return type, text and place of an error nobody foresaw."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        name = Path(trace.tb_frame.f_code.co_filename).name
        place = f" ({name}:{trace.tb_lineno})"
    return f"{type(error).__name__}: {error}{place}; please report it"
