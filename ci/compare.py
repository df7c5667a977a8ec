"""Compare a base with a head: one run document, or one result set of each.

Prints the table, writes the comment and the report document. Decides nothing:
verdict and exit status are those of `ci.verdict`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci import ConfigError, DocumentError, GateError
from ci.command_line import NO_VERDICT, Parser, fail, guard
from ci.config import (
    DEFAULT_PATH,
    Settings,
    change_policy,
    parse_size,
    read_settings,
)
from ci.documents import (
    decode_run,
    encode_report,
    is_run,
    read_bytes,
    write_atomically,
)
from ci.model import FailOn
from ci.readers.detect import READ_FORMATS, read_sets
from ci.readers.files import is_directory, is_file
from ci.render import render_comment, render_terminal
from ci.verdict import judge_run, judge_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ci.model import Policy, Report

PROGRAM: Final = "benchgate compare"
STDOUT: Final = "-"

_COLUMNS: Final = 100
"""What the table needs beside the longest id, where no terminal sets its width."""
_LONGEST_ID: Final = 300
"""A longer one is folded: every line is as wide as the longest."""

_DESCRIPTION: Final = """\
Compare two sides of a benchmark suite and say which scenarios became slower.

RUN is one run document, written by "benchgate run": it holds both sides, every
raw sample and a control, so that a change can be confirmed.
BASE HEAD are two result sets that another tool wrote, one a side: a Criterion
directory (target/criterion), an asv result file, or a directory of asv result
files. One measurement a side confirms nothing: such flags follow fixed sizes and
are marked as uncalibrated.

The table goes to stdout, errors go to stderr in one line."""

_EPILOG: Final = """\
SIZE is a percentage or a fraction: 15% or 0.15. A bare number of 1 or more, such
as 15 or 1.05, is refused because it could mean either; 150% is fine. Unless set,
gate is 5%, and warn and alert are 3% and 10% for RUN, 15% and 30% for BASE HEAD.

examples:
  python -m ci.compare .benchgate/run.json
  python -m ci.compare base/target/criterion pr/target/criterion
  python -m ci.compare base.json head.json --output comment.md --json report.json
  python -m ci.compare base.json head.json --fail-on warn --warn 10% --alert 25%
  python -m ci.compare run.json --output - > comment.md

exit status:
  0  nothing wrong
  1  a regression, or a scenario that no longer works
  2  no verdict: bad input, nothing measured on both sides, a contaminated run,
     or an output that could not be written
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb; return the exit status, 0, 1 or 2."""
    options = build_parser().parse_args(argv)
    return guard(PROGRAM, lambda: _compare(options))


def build_parser() -> argparse.ArgumentParser:
    """Return the command line of this verb."""
    parser = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [options] RUN\n       {PROGRAM} [options] BASE HEAD",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "first", metavar="RUN | BASE", help="a run document, or the base's results"
    )
    parser.add_argument(
        "second", metavar="HEAD", nargs="?", help="the results of the head"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write the Markdown comment to FILE; - is stdout, without the table",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the report document to FILE; - is stdout, without the table",
    )
    parser.add_argument(
        "--fail-on",
        choices=[choice.value for choice in FailOn],
        help="the least flag that makes the status 1; alert unless given, and for "
        "BASE HEAD only if given, because one measurement a side confirms nothing; "
        "a scenario that no longer works does so too, except with never",
    )
    parser.add_argument(
        "--gate",
        metavar="SIZE",
        help="RUN only: a row is green when a slowdown of this size is ruled out",
    )
    parser.add_argument("--warn", metavar="SIZE", help="the size of a warning")
    parser.add_argument("--alert", metavar="SIZE", help="the size of an alert")
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help=f"settings; {DEFAULT_PATH} in the current directory if it is there",
    )
    return parser


def _compare(options: argparse.Namespace) -> int:
    if options.output is not None and options.output == options.json:
        raise ConfigError("--output and --json go to one place; name two")
    if "" in (options.first, options.second, options.output, options.json):
        raise ConfigError("a path is empty; is a shell variable unset?")
    _check_outputs(options)
    policy = _policy(options)
    fail_on = FailOn(options.fail_on) if options.fail_on else None
    if options.second is None:
        report = _judge_run(Path(options.first), policy, fail_on)
    else:
        report = _judge_sets(Path(options.first), Path(options.second), policy, fail_on)
    is_written = _publish(report, options)
    if report.compared == 0:
        sides = " and ".join(filter(None, (options.first, options.second)))
        fail(PROGRAM, f"no scenario was measured on both sides: {sides}", NO_VERDICT)
    return report.exit_status if is_written else NO_VERDICT


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse an output that would replace an input, or the other output."""
    inputs = (options.first, options.second, options.config or DEFAULT_PATH)
    taken = {os.path.realpath(path) for path in inputs if path is not None}
    for flag in ("output", "json"):
        path = getattr(options, flag)
        if path is None or path == STDOUT:
            continue
        place = os.path.realpath(path)
        if place in taken and (is_file(path) or not os.path.lexists(path)):
            raise ConfigError(
                f"--{flag}: {path} is read or written here as well; name another"
            )
        taken.add(place)


def _policy(options: argparse.Namespace) -> Policy:
    """Return the sizes of the settings file with those of the flags on top."""
    if options.config is not None:
        settings = read_settings(options.config)
    elif os.path.lexists(DEFAULT_PATH):
        settings = read_settings(Path(DEFAULT_PATH))
    else:
        settings = Settings()
    if options.gate is not None and options.second is not None:
        raise ConfigError(
            "--gate: rules out nothing for BASE HEAD, one measurement a side; leave "
            "it out, or set --warn and --alert"
        )
    prefix = "" if options.second is None else "single_"
    fields = {"gate": "gate", "warn": f"{prefix}warn", "alert": f"{prefix}alert"}
    sizes: dict[str, float] = {}
    for flag, name in fields.items():
        text = getattr(options, flag)
        if text is not None:
            try:
                sizes[name] = parse_size(text)
            except ConfigError as error:
                raise ConfigError(f"--{flag}: {error}") from None
    return change_policy(settings.policy, sizes, "--warn and --alert")


def _judge_run(path: Path, policy: Policy, fail_on: FailOn | None) -> Report:
    if is_directory(path):
        raise ConfigError(
            f"{path}: a directory holds one side; give BASE and HEAD, two directories"
        )
    data = read_bytes(path)
    if not is_run(data):
        raise DocumentError(
            f'{path}: not a run document; give one that "benchgate run" wrote, or '
            f"BASE and HEAD, each {READ_FORMATS}"
        )
    return judge_run(decode_run(data, str(path)), policy, fail_on)


def _judge_sets(
    base: Path, head: Path, policy: Policy, fail_on: FailOn | None
) -> Report:
    for path in (base, head):
        # Not into a pipe, which would lose its beginning by it.
        if is_file(path) and _is_run_file(path):
            raise ConfigError(f"{path}: a run document holds both sides; give it alone")
    return judge_sets(*read_sets(base, head), policy, fail_on)


def _is_run_file(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return is_run(stream.read(64))
    except OSError:
        return False


def _publish(report: Report, options: argparse.Namespace) -> bool:
    """Write every output; one that fails loses none of the others."""
    outputs: list[tuple[str | None, Callable[[], bytes]]] = [
        (options.json, lambda: encode_report(report)),
        (options.output, lambda: render_comment(report).encode()),
    ]
    is_written = True
    for target, make in outputs:
        if target not in (None, STDOUT):
            try:
                write_atomically(Path(target), make())
            except GateError as error:
                is_written = False
                fail(PROGRAM, str(error), error.exit_status)
    for target, make in outputs:
        if target == STDOUT:
            # A document is UTF-8 whatever the terminal or the log speaks.
            text = make().decode()
            return _print(text, encoding="utf-8", newline="\n") and is_written
    return _print(_table(report), errors="replace") and is_written


def _table(report: Report) -> str:
    # A closed stream is None.
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    longest = max((len(row.scenario) for row in report.rows), default=0)
    columns = shutil.get_terminal_size().columns if is_terminal else 0
    return render_terminal(
        report,
        width=columns or min(longest, _LONGEST_ID) + _COLUMNS,
        is_color=is_terminal and not os.environ.get("NO_COLOR"),
    )


def _print(text: str, **settings: str) -> bool:
    """Write to stdout; a reader that has left, as ``head`` does, is no error."""
    if sys.stdout is None:
        fail(PROGRAM, "stdout: cannot be written: it is closed", NO_VERDICT)
        return False
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(**settings)
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        fail(
            PROGRAM, f"stdout: cannot be written: {error.strerror or error}", NO_VERDICT
        )
        return False
    return True


def _silence_stdout() -> None:
    """Keep the interpreter from failing again when it flushes stdout at its end.

    docs.python.org/3/library/signal.html#note-on-sigpipe
    """
    with open(os.devnull, "wb") as sink:  # noqa: PTH123  # a descriptor is needed
        os.dup2(sink.fileno(), sys.stdout.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
