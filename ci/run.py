"""Measure base and head on this machine, interleaved, into one run document."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import time
import traceback
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from ci import ConfigError, GateError, SuiteError
from ci.book import OUT_OF_TIME, Book, begin, resume
from ci.host import now, read_host
from ci.model import Kind, Plan, Run
from ci.progress import make_progress
from ci.suite import proof
from ci.suite.asv_config import SuiteConfig, find_config
from ci.suite.discovery import LEAST_LAUNCHES, default_launches
from ci.suite.runner import (
    Runner,
    chosen,
    discover,
    launch_seed,
    run_launches,
)
from ci.suite.session import Session
from ci.suite.trees import (
    Pair,
    changed_files,
    check_out,
    find_commit,
    find_pair,
    refuse_dirty,
    toplevel,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from ci.model import Launch
    from ci.suite.discovery import Case

SAMPLE_SECONDS: Final = 0.003
MINIMUM_BLOCKS: Final = 8
SCENARIO_SECONDS: Final = 0.4
QUICK_SECONDS: Final = 0.15
PROGRAM: Final = "benchgate run"
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

DESCRIPTION: Final = """\
Measure two commits of this repository on this machine and write one run document.

Base, head and a second copy of the base, the control, take turns within
milliseconds, in fresh processes, several launches over. The benchmarks are those
of the head's asv suite. Numbers only: "benchgate compare" judges them.
"""
EPILOG: Final = """\
Without --base, the base is the merge base of head and the default branch; on the
default branch itself it is head's first parent.

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


def build_parser() -> argparse.ArgumentParser:
    """Return the command line of this verb."""
    parser = _Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line, as all errors here are."""

    def error(self, message: str) -> NoReturn:
        """Print ``message`` and leave with the status of bad input."""
        self.exit(BAD_INPUT, f"{PROGRAM}: {message}; see {PROGRAM} --help\n")


class _InterruptedError(GateError):
    """The run was stopped while it measured; what is whole has been kept."""

    exit_status = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb; return its exit status."""
    arguments = build_parser().parse_args(argv)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _main(arguments)
    except GateError as error:
        return _fail(str(error), error.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted before anything was measured", INTERRUPTED)
    except Exception as error:  # noqa: BLE001  # a traceback would exit with 1
        return _fail(f"internal error: {_described(error)}", BAD_INPUT)
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _main(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    repository = toplevel(Path.cwd())
    book = None
    if arguments.resume and not arguments.list:
        book = resume(arguments.output, arguments.launches)
        _refuse_other(repository, arguments, book)
        pair = find_pair(repository, book.run.base.sha, book.run.head.sha)
    else:
        pair = find_pair(repository, arguments.base, arguments.head)
        _refuse_self(pair, arguments)
    with check_out(repository, pair) as trees:
        config = find_config(trees.head, arguments.asv_config)
        if not arguments.allow_dirty and not arguments.list:
            refuse_dirty(repository, pair, str(config.suite))
        session = Session(
            trees=trees,
            suite=config.suite,
            repository=repository,
            import_paths=tuple(arguments.import_path or ("src", ".")),
        )
        return _measure(arguments, book, pair, session, config, began)


def _measure(
    arguments: argparse.Namespace,
    book: Book | None,
    pair: Pair,
    session: Session,
    config: SuiteConfig,
    began: float,
) -> int:
    changed = changed_files(session.repository, pair)
    is_suite_same = not any(name.startswith(f"{config.suite}/") for name in changed)
    seed = _seed(arguments, book)
    index = len(book.run.launches) if book else 0
    workers = session.start_all(launch_seed(seed, index), index)
    try:
        found = discover(session, workers, is_suite_same=is_suite_same)
        pattern = book.run.plan.benchmarks if book else arguments.benchmarks
        cases = chosen(found, pattern)
        if arguments.list:
            for worker in workers.values():
                worker.stop()
            print("\n".join(case.row.id for case in cases if case.row.on_head))
            return 0
        book = book or _begin(arguments, pair, config, cases, seed)
        session.fill_caches(workers, cases)
    except BaseException:
        for worker in workers.values():
            worker.stop()
        raise
    deadline = None if arguments.budget is None else began + arguments.budget
    _say(_greeting(book, len(cases)))
    with make_progress(sys.stderr) as progress:
        runner = Runner(
            session=session,
            plan=book.run.plan,
            found=found,
            cases=cases,
            deadline=deadline,
            progress=progress,
        )
        rows = sum(case.row.on_head for case in cases)

        def keep(launch: Launch) -> None:
            # Only a whole launch has imported all that the suite ever does.
            if len(launch.measurements) == rows:
                is_all_seen = all(case.row.kind is not Kind.TIMERAW for case in cases)
                book.note(
                    *proof.notes(
                        runner.files,
                        changed,
                        str(config.suite),
                        is_all_seen=is_all_seen,
                    )
                )
            book.keep(launch)

        try:
            run_launches(runner, workers, book.run.launches, keep)
        except KeyboardInterrupt:
            done = f"{len(book.run.launches)} of {book.run.plan.launches} launches"
            raise _InterruptedError(
                f"interrupted; {done} are in {arguments.output}, continue with --resume"
            ) from None
    return _finish(book, rows, arguments, time.monotonic() - began)


def _finish(
    book: Book, rows: int, arguments: argparse.Namespace, seconds: float
) -> int:
    output, plan = arguments.output, book.run.plan
    done = len(book.run.launches)
    counts = [len(launch.measurements) for launch in book.run.launches]
    if not any(counts):
        raise SuiteError("nothing was measured before the budget ran out; raise it")
    spent = f"{OUT_OF_TIME}{arguments.budget or 0:g} s ran out after"
    if done < plan.launches:
        book.note(
            f"{spent} {done} of {plan.launches} launches; raise --budget, or "
            "continue with --resume"
        )
    elif counts[-1] < rows:
        book.note(f"{spent} {counts[-1]} of {rows} scenarios; raise --budget")
    book.write()
    for note in book.run.notes:
        _say(note)
    _say(
        f"{output}: {max(counts)} scenarios, {done} of {plan.launches} launches, "
        f"{seconds:.0f} s; judge it with `python -m ci.compare {output}`"
    )
    return 0


def _begin(
    arguments: argparse.Namespace,
    pair: Pair,
    config: SuiteConfig,
    cases: tuple[Case, ...],
    seed: int,
) -> Book:
    run = Run(
        created=now(),
        tool=f"benchgate {version('benchgate')}",
        project=config.project,
        relation=pair.relation,
        base=pair.base,
        head=pair.head,
        host=read_host(),
        plan=Plan(
            launches=arguments.launches or default_launches(cases),
            sample_seconds=SAMPLE_SECONDS,
            scenario_seconds=QUICK_SECONDS if arguments.quick else SCENARIO_SECONDS,
            minimum_blocks=MINIMUM_BLOCKS,
            seed=seed,
            budget=arguments.budget,
            benchmarks=arguments.benchmarks,
            is_same_allowed=arguments.allow_same or pair.relation == "self",
        ),
        scenarios=tuple(case.row for case in cases),
    )
    book, aside = begin(arguments.output, run)
    if aside is not None:
        _say(f"{arguments.output}: the earlier document is kept as {aside}")
    return book


def _refuse_self(pair: Pair, arguments: argparse.Namespace) -> None:
    if arguments.list or pair.base.sha != pair.head.sha:
        return
    if pair.relation == "self":
        _say("one commit only: HEAD is measured against itself")
    elif not arguments.allow_same:
        raise SuiteError(
            f"base and head are the same commit, {pair.head.sha[:12]}: there is "
            "nothing to compare; name another --base, or pass --allow-same"
        )


def _refuse_other(repository: Path, arguments: argparse.Namespace, book: Book) -> None:
    run = book.run
    begun = f"{arguments.output} was begun with"
    remedy = "leave it out with --resume, or start a new run"
    sides = {
        "--base": (arguments.base, run.base.sha),
        "--head": (arguments.head, run.head.sha),
    }
    for flag, (value, known) in sides.items():
        if value is None:
            continue
        sha = find_commit(repository, value, flag).sha
        if sha != known:
            raise ConfigError(
                f"{flag}: {value!r} is {sha[:12]}, {begun} {known[:12]}; {remedy}"
            )
    if arguments.benchmarks not in ("", run.plan.benchmarks):
        raise ConfigError(
            f"--benchmarks: {arguments.benchmarks!r}, but {begun} "
            f"{run.plan.benchmarks!r}; {remedy}"
        )


def _seed(arguments: argparse.Namespace, book: Book | None) -> int:
    if book is not None:
        return book.run.plan.seed
    if arguments.seed is not None:
        return int(arguments.seed)
    return int.from_bytes(os.urandom(4), "big")


def _greeting(book: Book, rows: int) -> str:
    run = book.run
    return (
        f"{run.base.sha[:12]} -> {run.head.sha[:12]} ({run.relation}): "
        f"{rows} scenarios, {run.plan.launches} launches"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fail(what: str, status: int) -> int:
    """Print one line to stderr and return ``status``."""
    _say(f"{PROGRAM}: {' '.join(what.split())}")
    return status


def _described(error: Exception) -> str:
    """Return type, text and place of an error nobody foresaw."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return f"{type(error).__name__}: {error} ({where}); please report it"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not math.isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count of at least 1")
    return value


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
