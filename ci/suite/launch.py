"""One launch: fresh processes for all arms, every scenario measured once in each.

Samples of the arms alternate in palindromes, so that a machine that drifts
drifts for all of them alike.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ci.model import Arm, Failure, FailureKind
from ci.runs import Kind, Measurement
from ci.suite.discovery import import_failure
from ci.suite.session import ARMS, Session, Workers
from ci.suite.workers import NoAnswer, Worker

if TYPE_CHECKING:
    from pathlib import Path

    from ci.runs import Plan
    from ci.suite.discovery import Case

ORDERS: Final = ("bhc", "hcb", "cbh", "bch", "chb", "hbc")
"""All orders of the three arms; blocks rotate through them."""
MAXIMUM_BLOCKS: Final = 400
SLOW_SECONDS: Final = 6.0
"""A scenario may pass its share of time for its minimum of blocks, up to this."""
LONE_BLOCKS: Final = 2
"""Blocks when an arm is missing: enough to show a value, none to compare."""
WIDE: Final = 1.2
"""CPU seconds over wall seconds from which a scenario is multi-threaded."""
WARM_BATCHES: Final = 1
CALLS: Final = 8
"""Calls that calibration may make of a body that is slow."""

INITIALS: Final = {arm[0]: arm for arm in ARMS}


@dataclass(slots=True, kw_only=True)
class Launcher:
    """Measures scenarios with the workers of one launch."""

    session: Session
    plan: Plan
    seed: int
    cpu: int | None
    workers: Workers
    imports: dict[Arm, dict[str, Failure]]
    known: dict[Arm, frozenset[str]]
    files: dict[Arm, dict[str, str]] = field(default_factory=dict)

    def measure(self, case: Case, seconds: float, turn: int) -> Measurement:
        """Measure one scenario; ``turn`` rotates which arm goes first.

        ``seconds`` is the time its samples may take. Failures are values.
        """
        began = time.monotonic()
        if case.row.kind is Kind.PEAKMEM:
            measured = self._peak(case, turn)
        else:
            measured = self._forked(case, seconds, turn)
        return replace(measured, seconds=round(time.monotonic() - began, 4))

    def _forked(self, case: Case, seconds: float, turn: int) -> Measurement:
        failures: dict[Arm, Failure] = {}
        labels: dict[Arm, dict[str, str]] = {}
        try:
            for arm in ARMS[turn % 3 :] + ARMS[: turn % 3]:
                try:
                    labels[arm] = self._prepare(case, arm, self.workers[arm])
                except NoAnswer as problem:
                    failures[arm] = problem.failure
            if case.row.kind in (Kind.TIME, Kind.TIMERAW):
                measured = self._time(case, seconds, turn, failures)
            else:
                measured = self._values(case, failures)
        except BaseException:
            # Interrupted: no time for the teardown of a body that may hang.
            for arm in ARMS:
                self.workers[arm].stop()
            raise
        for arm in ARMS:
            self.workers[arm].end()
        return replace(measured, labels={a: t for a, t in labels.items() if t})

    def _prepare(self, case: Case, arm: Arm, worker: Worker) -> dict[str, str]:
        """Fork the child of one arm and set the scenario up in it."""
        missing = self._missing(case, arm)
        if missing is not None:
            raise NoAnswer(missing)
        folder = self.session.folder(case, arm)
        worker.open(case.row.benchmark, case.row.index, folder)
        return self._set_up(case, arm, worker)

    def _set_up(self, case: Case, arm: Arm, worker: Worker) -> dict[str, str]:
        answer = worker.ask("setup", case.timeout)
        self._prove(arm, answer)
        labels: dict[str, str] = answer["labels"]
        return labels

    def _prove(self, arm: Arm, answer: dict[str, Any]) -> None:
        """Record what an arm has imported since it was last asked."""
        for name, path in answer["foreign"].items():
            # Not the fault of one side: the row says nothing of either.
            text = f"imported {name} from {path}, not from its own tree"
            raise NoAnswer(Failure(kind=FailureKind.NOT_MEASURED, message=text))
        self.files.setdefault(arm, {}).update(answer["files"])

    def _missing(self, case: Case, arm: Arm) -> Failure | None:
        """Say why an arm cannot even begin, None if it can."""
        if case.row.benchmark in self.known[arm]:
            if case.cache is None:
                return None
            return self.session.cache_failures.get((case.cache, arm))
        failure = import_failure(self.imports[arm], case.module)
        if failure is None:
            text = "the suite does not define it here"
            return Failure(kind=FailureKind.FAILED, message=text)
        is_broken_by_head = import_failure(self.imports[Arm.HEAD], case.module)
        if arm is not Arm.HEAD and case.row.on_base and is_broken_by_head:
            # Every arm runs the head's suite, and that is what is broken: the
            # base's own file defines the row, so the base is not to blame.
            return Failure(kind=FailureKind.NOT_MEASURED, message=failure.message)
        return failure

    def _time(
        self, case: Case, seconds: float, turn: int, failures: dict[Arm, Failure]
    ) -> Measurement:
        """Sample every arm that can be; begin again without one that fails.

        Where one setup did not last for all calls, each call gets its own first.
        """
        mode = ""
        while live := [arm for arm in ARMS if arm not in failures]:
            try:
                measured = self._sampled(case, seconds, turn, live, mode)
                return replace(measured, failures=failures)
            except _ArmLost as lost:
                if lost.is_setup_to_try:
                    mode = "call"
                else:
                    failures[lost.arm] = lost.failure
        return Measurement(scenario=case.row.id, samples={}, failures=failures)

    def _sampled(
        self, case: Case, seconds: float, turn: int, live: list[Arm], mode: str
    ) -> Measurement:
        found = self._calibrate(case, live[0], mode)
        batch = {"loops": found["loops"], "mode": found["mode"]}
        is_wide = found["width"] > WIDE
        samples: dict[Arm, list[float]] = {arm: [] for arm in live}
        orders: list[str] = []
        try:
            self._warm(case, live, batch, is_wide=is_wide)
            for block in range(self._blocks(found["wall"], seconds, arms=len(live))):
                order = ORDERS[(turn + block) % len(ORDERS)]
                orders.append("".join(c for c in order if INITIALS[c] in live))
                for initial in orders[-1] + orders[-1][::-1]:
                    arm = INITIALS[initial]
                    answer = self._ask(arm, "sample", case.timeout, **batch)
                    samples[arm].append(answer["value"])
        except _ArmLost as lost:
            is_failed = lost.failure.kind is FailureKind.FAILED
            lost.is_setup_to_try = found["is_free"] and is_failed
            raise
        return Measurement(
            scenario=case.row.id,
            samples={arm: tuple(values) for arm, values in samples.items()},
            orders=tuple(orders),
            loops=found["loops"],
            is_multithreaded=is_wide,
            setup=found["mode"],
        )

    def _calibrate(self, case: Case, arm: Arm, mode: str) -> dict[str, Any]:
        """Find loops and mode on one arm, for all of them.

        The suite's timeout is for one call; calibration may make several.
        """
        first = self._ask(arm, "try", case.timeout) if not mode else {"value": 0.0}
        return self._ask(
            arm,
            "calibrate",
            case.timeout + CALLS * first["value"],
            target=self.plan.sample_seconds,
            mode=mode,
        )

    def _warm(
        self, case: Case, live: list[Arm], batch: dict[str, Any], *, is_wide: bool
    ) -> None:
        """Pin, and warm every arm alike; by then a body has imported all it needs."""
        for arm in live:
            if self.cpu is not None and not is_wide:
                self._ask(arm, "pin", case.timeout, cpus=[self.cpu])
            answer = self._ask(arm, "warm", case.timeout, count=WARM_BATCHES, **batch)
            try:
                self._prove(arm, answer)
            except NoAnswer as problem:
                raise _ArmLost(arm, problem.failure) from None

    def _blocks(self, wall: float, seconds: float, *, arms: int) -> int:
        if arms < len(ARMS):
            return LONE_BLOCKS
        block = 2 * arms * wall
        least = min(self.plan.minimum_blocks, int(SLOW_SECONDS / block))
        return max(1, least, min(MAXIMUM_BLOCKS, int(seconds / block)))

    def _values(self, case: Case, failures: dict[Arm, Failure]) -> Measurement:
        """Take one value per arm of a benchmark that returns it."""
        samples: dict[Arm, tuple[float, ...]] = {}
        for arm in ARMS:
            if arm in failures:
                continue
            try:
                samples[arm] = (self._value(case, arm, self.workers[arm]),)
            except NoAnswer as problem:
                failures[arm] = problem.failure
        return Measurement(scenario=case.row.id, samples=samples, failures=failures)

    def _value(self, case: Case, arm: Arm, worker: Worker) -> float:
        answer = worker.ask("value", case.timeout)
        self._prove(arm, answer)
        value = float(answer["value"])
        if not math.isfinite(value):
            text = f"returned {value}, which is not a number to compare"
            raise NoAnswer(Failure(kind=FailureKind.FAILED, message=text))
        return value

    def _peak(self, case: Case, turn: int) -> Measurement:
        """Take one peak per arm, each in a whole process of its own."""
        samples: dict[Arm, tuple[float, ...]] = {}
        failures: dict[Arm, Failure] = {}
        for arm in ARMS[turn % 3 :] + ARMS[: turn % 3]:
            missing = self._missing(case, arm)
            if missing is not None:
                failures[arm] = missing
                continue
            worker = self.session.start(arm, self.seed, only=case.module)
            folder: Path = self.session.folder(case, arm)
            try:
                worker.describe()
                worker.open(case.row.benchmark, case.row.index, folder, inline=True)
                self._set_up(case, arm, worker)
                samples[arm] = (self._value(case, arm, worker),)
                worker.end()
            except NoAnswer as problem:
                failures[arm] = problem.failure
            finally:
                worker.stop()
        return Measurement(scenario=case.row.id, samples=samples, failures=failures)

    def _ask(
        self, arm: Arm, op: str, seconds: float, **details: object
    ) -> dict[str, Any]:
        try:
            return self.workers[arm].ask(op, seconds, **details)
        except NoAnswer as problem:
            raise _ArmLost(arm, problem.failure) from None


class _ArmLost(Exception):  # noqa: N818 - caught where it is recorded
    """An arm stopped answering in the middle of a scenario."""

    def __init__(self, arm: Arm, failure: Failure) -> None:
        super().__init__(failure.message)
        self.arm = arm
        self.failure = failure
        self.is_setup_to_try = False


def shuffled(cases: tuple[Case, ...], seed: int) -> list[Case]:
    """Return the cases in the order of one launch."""
    order = list(cases)
    random.Random(seed).shuffle(order)  # noqa: S311 - not a secret
    return order
