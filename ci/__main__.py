"""``benchgate VERB``: hands over to the verb, which is imported only then."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final

from ci.command_line import NO_VERDICT, fail, program_version

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS: Final = {
    "run": "measure a base and a head and write a run document",
    "compare": "compare a run document, or two result sets, and say what changed",
}

_HELP: Final = "\n".join(
    [
        "usage: benchgate VERB [options]",
        "",
        "A benchmark regression gate that does not cry wolf.",
        "",
        "verbs:",
        *(f"  {verb:<9}{what}" for verb, what in VERBS.items()),
        "",
        "options:",
        "  --help     show this help; benchgate VERB --help shows a verb's own",
        "  --version  show the version",
    ]
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    first = words[0] if words else ""
    if first in ("-h", "--help"):
        return _tell(_HELP)
    if first == "--version":
        return _tell(f"benchgate {program_version()}")
    if first not in VERBS:
        what = f"unknown verb {first!r}" if first else "no verb given"
        known = ", ".join(VERBS)
        return fail("benchgate", f"{what}; the verbs are {known}", NO_VERDICT)
    status: int = importlib.import_module(f"ci.{first}").main(words[1:])
    return status


def _tell(text: str) -> int:
    """Print to stdout; where that is closed or full, a traceback would say 1."""
    try:
        print(text, flush=True)
    except OSError as error:
        what = f"stdout: cannot be written: {error.strerror or error}"
        return fail("benchgate", what, NO_VERDICT)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
