"""Measure base and head on this machine, interleaved, into one run document."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ci import GateError, SuiteError
from ci.asking import PROGRAM, Request, read_request
from ci.beginning import IMPORT_PATHS, any_seed, open_book, refuse_other, refuse_self
from ci.book import OUT_OF_TIME, Book, resume
from ci.command_line import guard, program_version, say
from ci.host import read_host
from ci.progress import make_progress
from ci.runs import Kind
from ci.suite import proof
from ci.suite.asv_config import SuiteConfig, find_config
from ci.suite.runner import (
    Runner,
    chosen,
    discover,
    launch_seed,
    run_launches,
)
from ci.suite.session import Session, Workers
from ci.suite.trees import (
    Pair,
    changed_files,
    check_out,
    find_pair,
    refuse_dirty,
    toplevel,
)
from ci.text import many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from ci.runs import Launch
    from ci.suite.discovery import Case


class _InterruptedError(GateError):
    """The run was stopped while it measured; what is whole has been kept."""

    exit_status = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb; return its exit status."""
    request = read_request(argv)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return guard(PROGRAM, lambda: _run(request))
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _run(request: Request) -> int:
    began = time.monotonic()
    if not sys.platform.startswith("linux"):
        raise SuiteError(
            "measuring forks and watches processes as Linux does, and this is "
            f"{sys.platform}; run it on Linux, compare works everywhere"
        )
    repository = toplevel(Path.cwd())
    book = None
    if request.is_resumed:
        book = resume(request.output, request.launches)
        run = book.run
        refuse_other(request, repository, run)
        found = find_pair(repository, run.base.sha, run.head.sha)
        pair = replace(found, relation=run.relation)
        request = replace(
            request,
            benchmarks=run.plan.benchmarks,
            seed=run.plan.seed,
            asv_config=run.plan.asv_config or None,
            import_paths=run.plan.import_paths,
        )
        _note_other_host(book)
    else:
        pair = find_pair(repository, request.base, request.head)
        refuse_self(request, pair)
        if request.seed is None:
            request = replace(request, seed=any_seed())
    with check_out(repository, pair) as trees:
        config = find_config(trees.head, request.asv_config)
        if not request.is_dirty_allowed and not request.is_list:
            refuse_dirty(repository, pair, str(config.suite))
        session = Session(
            trees=trees,
            suite=config.suite,
            repository=repository,
            import_paths=request.import_paths or IMPORT_PATHS,
            changed=changed_files(repository, pair),
        )
        return _measure(request, book, pair, session, config, began)


def _measure(
    request: Request,
    book: Book | None,
    pair: Pair,
    session: Session,
    config: SuiteConfig,
    began: float,
) -> int:
    """Find the rows, and list or measure them."""
    is_suite_same = not any(
        name.startswith(f"{config.suite}/") for name in session.changed
    )
    index = len(book.run.launches) if book else 0
    workers = session.start_all(launch_seed(request.seed or 0, index), index)
    try:
        found = discover(session, workers, is_suite_same=is_suite_same)
        cases = chosen(found, request.benchmarks)
        if request.is_list:
            _stop(workers)
            print("\n".join(case.row.id for case in cases if case.row.on_head))
            return 0
        book = book or _begin(request, pair, config, cases)
        session.fill_caches(workers, cases)
    except BaseException:
        _stop(workers)
        raise
    say(_greeting(book, len(cases)))
    with make_progress(sys.stderr) as progress:
        runner = Runner(
            session=session,
            plan=book.run.plan,
            found=found,
            cases=cases,
            deadline=None if request.budget is None else began + request.budget,
            progress=progress,
        )
        keep = _keeper(book, runner, cases)
        try:
            run_launches(runner, workers, book.run.launches, keep)
        except KeyboardInterrupt:
            done = f"{len(book.run.launches)} of {book.run.plan.launches} launches"
            raise _InterruptedError(
                f"interrupted; {done} are in {request.output}, continue with --resume"
            ) from None
    return _finish(book, request, _measurable(cases), time.monotonic() - began)


def _keeper(
    book: Book, runner: Runner, cases: tuple[Case, ...]
) -> Callable[[Launch], None]:
    """Return what keeps a launch, and notes what the suite was seen to import."""
    session = runner.session
    is_all_seen = all(case.row.kind is not Kind.TIMERAW for case in cases)

    def keep(launch: Launch) -> None:
        # Only a whole launch has imported all that the suite ever does.
        if len(launch.measurements) == _measurable(cases):
            notes = proof.notes(
                runner.files,
                session.changed,
                str(session.suite),
                is_all_seen=is_all_seen,
            )
            book.note(*notes)
        book.keep(launch)

    return keep


def _finish(book: Book, request: Request, rows: int, seconds: float) -> int:
    output, plan = request.output, book.run.plan
    done = len(book.run.launches)
    counts = [len(launch.measurements) for launch in book.run.launches]
    if not any(counts):
        raise SuiteError("nothing was measured before the budget ran out; raise it")
    spent = f"{OUT_OF_TIME}{request.budget or 0:g} s ran out after"
    if done < plan.launches:
        book.note(
            f"{spent} {done} of {plan.launches} launches; raise --budget, or "
            "continue with --resume"
        )
    elif counts[-1] < rows:
        book.note(f"{spent} {counts[-1]} of {rows} scenarios; raise --budget")
    book.write()
    for note in book.run.notes:
        say(note)
    say(
        f"{output}: {many(max(counts), 'scenario')}, "
        f"{done} of {plan.launches} launches, {seconds:.0f} s; "
        f"judge it with `python -m ci.compare {output}`"
    )
    return 0


def _begin(
    request: Request, pair: Pair, config: SuiteConfig, cases: tuple[Case, ...]
) -> Book:
    if pair.relation == "self":
        say("one commit only: HEAD is measured against itself")
    tool = f"benchgate {program_version()}"
    book, aside = open_book(request, pair, config, cases, tool)
    if aside is not None:
        say(f"{request.output}: the earlier document is kept as {aside}")
    return book


def _note_other_host(book: Book) -> None:
    """Note that a run goes on elsewhere: its launches then differ by the machine."""
    before, here = book.run.host, read_host()
    if (before.cpu_model, before.cpus, before.python) != (
        here.cpu_model,
        here.cpus,
        here.python,
    ):
        book.note(
            f"begun on {before.cpu_model}, {before.cpus} CPUs, {before.python}, and "
            f"continued on {here.cpu_model}, {here.cpus} CPUs, {here.python}; "
            "measure anew on one machine"
        )


def _greeting(book: Book, rows: int) -> str:
    run = book.run
    return (
        f"{run.base.sha[:12]} -> {run.head.sha[:12]} ({run.relation}): "
        f"{many(rows, 'scenario')}, {many(run.plan.launches, 'launch')}"
    )


def _measurable(cases: tuple[Case, ...]) -> int:
    """Return the rows that a whole launch measures: those of the head's suite."""
    return sum(case.row.on_head for case in cases)


def _stop(workers: Workers) -> None:
    for worker in workers.values():
        worker.stop()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
