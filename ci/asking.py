"""The command line of a run, and what it asks for as a typed value."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci.command_line import Parser
from ci.suite.discovery import LEAST_LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM: Final = "benchgate run"
DESCRIPTION: Final = """\
Measure two commits of this repository on this machine and write one run document.

Base, head and a second copy of the base, the control, take turns within
milliseconds, in fresh processes, several launches over. The benchmarks are those
of the head's asv suite. Numbers only: "benchgate compare" judges them.
"""
EPILOG: Final = """\
Without --base, the base is the merge base of head and the default branch; on the
default branch itself, with nothing unpushed, it is head's first parent.

examples:
  python -m ci.run                              this branch against its merge base
  python -m ci.run --benchmarks 'matmul|add'    some scenarios only
  python -m ci.run --base v1.0 --head HEAD      two revisions
  python -m ci.run --resume                     continue a run that was stopped
  python -m ci.compare run.json                 judge what was measured

exit status:
  0    measured; whether anything became slower is for compare to say
  2    bad input, or nothing could be measured
  130  interrupted; finished launches are in the document
"""


def build_parser() -> ArgumentParser:
    """Return the command line of this verb."""
    parser = Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--base", metavar="REV", help="commit to compare with")
    add("--head", metavar="REV", help="commit under test (default: HEAD)")
    add("--benchmarks", metavar="REGEX", default="", help="only ids that match")
    add("--list", action="store_true", help="print the ids of the scenarios and stop")
    add("--output", metavar="FILE", type=Path, default=Path("run.json"),
        help="run document to write (default: run.json); an earlier one is kept "
        "beside it")  # fmt: skip
    add("--resume", action="store_true", help="continue the document in --output")
    add("--budget", metavar="SECONDS", type=_seconds,
        help="wall-clock limit; fewer samples first, then fewer launches")  # fmt: skip
    add("--launches", metavar="N", type=_count,
        help=f"fresh processes per arm (default: {LEAST_LAUNCHES}, more for few "
        "scenarios); fewer than 4 decide nothing")  # fmt: skip
    add("--quick", action="store_true", help="the least samples that still decide")
    add("--allow-same", action="store_true",
        help="measure a commit against itself (an A/A run)")  # fmt: skip
    add("--allow-dirty", action="store_true",
        help="leave uncommitted changes out instead of refusing")  # fmt: skip
    add("--asv-config", metavar="FILE",
        help="asv.conf.json, relative to the repository")  # fmt: skip
    add("--import-path", metavar="DIR", action="append",
        help="folder of the repository to import the project from, repeatable "
        "(default: src and the root)")  # fmt: skip
    add("--seed", metavar="N", type=int, help="seed of all orders (default: random)")
    return parser


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line of a run asks for. ``budget`` is seconds.

    ``import_paths`` and ``asv_config`` are relative to the repository.
    """

    output: Path
    base: str | None = None
    head: str | None = None
    benchmarks: str = ""
    launches: int | None = None
    budget: float | None = None
    seed: int | None = None
    asv_config: str | None = None
    import_paths: tuple[str, ...] = ()
    is_quick: bool = False
    is_list: bool = False
    is_resumed: bool = False
    is_same_allowed: bool = False
    is_dirty_allowed: bool = False


def read_request(argv: Sequence[str] | None) -> Request:
    """Parse the command line; leave with status 2 where it cannot be understood."""
    given = build_parser().parse_args(argv)
    return Request(
        output=given.output,
        base=given.base,
        head=given.head,
        benchmarks=given.benchmarks,
        launches=given.launches,
        budget=given.budget,
        seed=given.seed,
        asv_config=given.asv_config,
        import_paths=tuple(given.import_path or ()),
        is_quick=given.quick,
        is_list=given.list,
        is_resumed=given.resume and not given.list,
        is_same_allowed=given.allow_same,
        is_dirty_allowed=given.allow_dirty,
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not math.isfinite(value) or value <= 0:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ArgumentTypeError(f"{text!r} is not a count of at least 1")
    return value
