"""``benchgate VERB``: hands over to the verb, which is imported only then."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final

from ci.command_line import NO_VERDICT, program_version

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
        sys.stdout.write(f"{_HELP}\n")
        return 0
    if first == "--version":
        sys.stdout.write(f"benchgate {program_version()}\n")
        return 0
    if first not in VERBS:
        what = f"unknown verb {first!r}" if first else "no verb given"
        known = ", ".join(VERBS)
        sys.stderr.write(f"benchgate: {what}; the verbs are {known}\n")
        return NO_VERDICT
    status: int = importlib.import_module(f"ci.{first}").main(words[1:])
    return status


if __name__ == "__main__":
    raise SystemExit(main())
