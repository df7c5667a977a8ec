"""A whole run: find the rows, then launch after launch until done or out of time.

Everything measured is handed to ``keep`` after each launch, so a run that is
killed loses the launch in flight and nothing else.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from ci import SuiteError
from ci.host import LaunchWitness, now, usable_cpus
from ci.model import Arm, Failure
from ci.runs import Launch, Measurement
from ci.suite import proof
from ci.suite.discovery import Case, Side, join, read_failures, read_sides, select
from ci.suite.launch import Launcher, shuffled
from ci.suite.session import ARMS, Session, Workers
from ci.suite.workers import NoAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ci.runs import Plan
    from ci.suite.workers import Worker

START_SECONDS: Final = 6.0
"""First guess of a launch's time before its first scenario."""
HANDOVER_SECONDS: Final = 0.15
"""First guess of what a scenario costs besides its samples."""


class Progress(Protocol):
    """What a run tells while it measures."""

    def begin(self, launch: int, launches: int, scenarios: int) -> None:
        """Tell that launch ``launch`` of ``launches`` begins, counted from 0."""

    def advance(self, scenario: str) -> None:
        """Tell that one scenario of the launch is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The rows of a run, and what each arm said of the suite."""

    cases: tuple[Case, ...]
    imports: dict[Arm, dict[str, Failure]]
    known: dict[Arm, frozenset[str]]
    files: dict[Arm, dict[str, str]]


def describe(worker: Worker) -> dict[str, Any]:
    """Wait until a worker has imported the suite; SuiteError when it cannot."""
    try:
        return worker.describe()
    except NoAnswer as problem:
        raise SuiteError(
            f"the {worker.arm} arm cannot import the suite: {problem.failure.message}"
        ) from None


def discover(session: Session, workers: Workers, *, is_suite_same: bool) -> Found:
    """Ask every arm for its rows, and refuse arms that are not what they claim.

    ``is_suite_same``: both commits hold the same suite, so the base's own need
    not be imported a second time.
    """
    own = None
    has_own = (session.trees.base / session.suite).is_dir()
    if not is_suite_same and has_own:
        own = session.start_own_base(0)
    try:
        told = {arm: describe(workers[arm]) for arm in ARMS}
        told_own = None if own is None else describe(own)
    finally:
        if own is not None:
            own.stop()
    files: dict[Arm, dict[str, str]] = {}
    for arm in ARMS:
        files[arm], foreign = proof.split(told[arm])
        proof.refuse_foreign(arm, foreign)
    head, on_base, *own_base = read_sides(
        [told[Arm.HEAD], told[Arm.BASE], *([told_own] if told_own else [])]
    )
    without_suite = on_base if is_suite_same else Side(cases={}, failures={})
    return Found(
        cases=join(head, on_base, own_base[0] if own_base else without_suite),
        imports={
            arm: read_failures(description["failures"])
            for arm, description in told.items()
        },
        known={
            arm: frozenset(b["name"] for b in description["benchmarks"])
            for arm, description in told.items()
        },
        files=files,
    )


def chosen(found: Found, pattern: str) -> tuple[Case, ...]:
    """Return the rows to measure or list; raise SuiteError when there are none."""
    cases = select(found.cases, pattern)
    if any(case.row.on_head for case in cases):
        return cases
    if cases:
        raise SuiteError(
            f"the head defines none of {len(cases)} scenarios that the base has "
            "here: nothing is left to measure; select others, or restore them"
        )
    if pattern:
        raise SuiteError(
            f"--benchmarks: none of {len(found.cases)} scenarios matches {pattern!r}; "
            "--list prints them"
        )
    for failures in found.imports.values():
        for failure in failures.values():
            raise SuiteError(f"the suite has no benchmark: {failure.message}")
    raise SuiteError("the suite has no benchmark; add one, or check benchmark_dir")


@dataclass(slots=True, kw_only=True)
class Runner:
    """Measures launches. ``deadline`` is on the monotonic clock, or None."""

    session: Session
    plan: Plan
    found: Found
    cases: tuple[Case, ...]
    deadline: float | None
    progress: Progress
    last_overhead: float | None = None
    files: dict[Arm, dict[str, str]] = field(default_factory=dict)
    """What each arm has imported so far, over all launches."""

    def launch(self, index: int, workers: Workers) -> Launch | None:
        """Measure one launch with started ``workers``, and stop them.

        Returns None when the time is out before anything was measured.
        """
        seed = launch_seed(self.plan.seed, index)
        cases = [c for c in shuffled(self.cases, seed) if c.row.on_head]
        cpus = usable_cpus()
        launcher = Launcher(
            session=self.session,
            plan=self.plan,
            seed=seed,
            cpu=cpus[-1 - index % len(cpus)],
            workers=workers,
            imports=self.found.imports,
            known=self.found.known,
            files={arm: dict(files) for arm, files in self.found.files.items()},
        )
        began, witness = time.monotonic(), LaunchWitness()
        started = now()
        seconds = self._share(index, len(cases))
        self.progress.begin(index, self.plan.launches, len(cases))
        measured: list[Measurement] = []
        for turn, case in enumerate(cases):
            if self.is_late():
                break
            self._revive(workers, seed)
            measured.append(launcher.measure(case, seconds, seed + turn))
            self.progress.advance(case.row.id)
        for worker in workers.values():
            worker.stop()
        proof.refuse_same(launcher.files, is_same_allowed=self.plan.is_same_allowed)
        for arm, files in launcher.files.items():
            self.files.setdefault(arm, {}).update(files)
        spent = time.monotonic() - began
        self.last_overhead = max(0.0, spent - seconds * len(measured))
        if not measured and cases:
            return None
        return Launch(
            index=index,
            hash_seed=seed % 2**32,
            started=started,
            seconds=round(spent, 3),
            imported={
                arm: proof.make_imported(self.session.place(arm).tree, files)
                for arm, files in launcher.files.items()
            },
            measurements=tuple(measured),
            witness=witness.testify(),
        )

    def is_late(self) -> bool:
        """Tell whether the budget is used up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _share(self, index: int, count: int) -> float:
        """Return the sampling seconds of one scenario in this launch.

        With a budget: what is left, over the launches and scenarios left, less
        what a launch costs besides samples.
        """
        wished = self.plan.scenario_seconds
        if self.deadline is None or count == 0:
            return wished
        left = (self.deadline - time.monotonic()) / (self.plan.launches - index)
        overhead = self.last_overhead
        if overhead is None:
            overhead = START_SECONDS + HANDOVER_SECONDS * count
        return max(0.0, min(wished, (left - overhead) / count))

    def _revive(self, workers: Workers, seed: int) -> None:
        """Start an importer again that died with its last child."""
        for arm, worker in workers.items():
            if not worker.is_alive:
                worker.stop()
                workers[arm] = self.session.start(arm, seed)
                describe(workers[arm])


def run_launches(
    runner: Runner,
    first: Workers | None,
    done: tuple[Launch, ...],
    keep: Callable[[Launch], None],
) -> None:
    """Measure the launches that are missing; ``first`` are workers already started."""
    workers = first
    for index in range(len(done), runner.plan.launches):
        if workers is None:
            if runner.is_late():
                return
            workers = runner.session.start_all(
                launch_seed(runner.plan.seed, index), index
            )
        try:
            if workers is not first:
                for worker in workers.values():
                    describe(worker)
            launch = runner.launch(index, workers)
        finally:
            for worker in workers.values():
                worker.stop()
        workers = None
        if launch is None:
            return
        keep(launch)


def launch_seed(seed: int, index: int) -> int:
    """Return the seed of one launch: hash seed, padding, order of scenarios.

    >>> launch_seed(1, 0) == launch_seed(1, 0) != launch_seed(1, 1)
    True
    """
    return random.Random(f"{seed}/{index}").randrange(2**31)  # noqa: S311 - not a secret
