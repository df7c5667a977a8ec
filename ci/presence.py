"""What a row says when a side has no value: failed, added, removed, unmeasured.

"Unmeasured" is neither green nor red, and what fails on the base as well is not
the fault of the PR.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Final

from ci.model import Arm, Failure, FailureKind, Reading, Row, ScenarioId, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.runs import Measurement, Scenario

_ARMS: Final = len(Arm)
_LONGEST: Final = 200
"""Characters of a foreign message that a reason repeats."""

_WORDS: Final = {
    FailureKind.FAILED: "failed",
    FailureKind.SKIPPED: "skipped",
    FailureKind.TIMED_OUT: "timed out",
    FailureKind.CRASHED: "crashed",
    FailureKind.UNREADABLE: "unreadable",
    FailureKind.NOT_MEASURED: "not measured",
}

MEASURE_AGAIN: Final = "measure again, with a larger budget or fewer scenarios"


def told(failure: Failure) -> str:
    """Return a failure on one line: its kind, and the message if there is one.

    >>> told(Failure(kind=FailureKind.TIMED_OUT, message="after 60 s"))
    'timed out: after 60 s'
    """
    message = " ".join(failure.message.split())
    if len(message) > _LONGEST:
        message = message[: _LONGEST - 1] + "…"
    word = _WORDS[failure.kind]
    return f"{word}: {message}" if message else word


def absence(measurement: Measurement, arm: Arm) -> Failure | None:
    """Return why ``arm`` has no usable samples, ``None`` if it has them."""
    failure = measurement.failures.get(arm)
    if failure is not None:
        return failure
    have = len(measurement.samples.get(arm, ()))
    want = 2 * len(measurement.orders) or 1
    if have == want:
        return None
    message = f"{have} samples where its blocks need {want}" if have else ""
    return Failure(kind=FailureKind.NOT_MEASURED, message=message)


def is_whole(measurement: Measurement) -> bool:
    """Tell whether every arm has its samples."""
    if measurement.failures:
        return False
    want = 2 * len(measurement.orders) or 1
    return list(map(len, measurement.samples.values())) == [want] * _ARMS


def has_both_sides(measurement: Measurement) -> bool:
    """Tell whether base and head have their samples."""
    return _has(measurement, Arm.BASE) and _has(measurement, Arm.HEAD)


def settle_run(scenario: Scenario, trials: Sequence[Measurement]) -> Row | None:
    """Return the row of a scenario that lacks values, ``None`` if it can be judged.

    A launch in which the PR broke while both copies of the base worked is a
    finding, however many other launches went well.
    """
    if not scenario.on_base or not scenario.on_head:
        return _on_one_side(scenario, trials)
    if trials and all(map(is_whole, trials)):
        return None
    base_broken = _broken(trials, Arm.BASE, Arm.CONTROL)
    head_broken = _broken(trials, Arm.HEAD)
    if base_broken:
        return _broken_base(scenario, trials, base_broken, head_broken)
    if head_broken:
        base = _central(trials, Arm.BASE)
        there = "works on the base" if base is not None else "defined by the base"
        return Row(
            scenario=scenario.id,
            verdict=Verdict.FAILED,
            unit=scenario.unit,
            base=base,
            launches=len(trials),
            reason=f"{there}; in the PR, {_share(head_broken, trials)}",
        )
    if any(has_both_sides(trial) for trial in trials):
        return None
    return unmeasured(scenario, trials)


def unmeasured(scenario: Scenario, trials: Sequence[Measurement]) -> Row:
    """Return the row of a scenario that no launch measured on every arm it needs."""
    return _inconclusive(scenario, _why_unmeasured(trials))


def settle_readings(
    name: ScenarioId, base: Reading | None, head: Reading | None
) -> Row | None:
    """Return the row of a scenario that lacks a value in one of two result sets."""
    if base is None or head is None:
        only = base or head
        verdict = Verdict.ADDED if base is None else Verdict.REMOVED
        if only is None:
            raise ValueError("a scenario of neither side has no row")
        failure = _failure(only)
        return Row(
            scenario=name,
            verdict=verdict,
            unit=only.unit,
            base=None if base is None else base.value,
            head=None if head is None else head.value,
            reason="" if failure is None else told(failure),
            notes=only.notes,
        )
    base_failure, head_failure = _failure(base), _failure(head)
    if base_failure is None and head_failure is None:
        return None
    verdict, reason, is_blocking = _of_failures(base_failure, head_failure)
    return Row(
        scenario=name,
        verdict=verdict,
        unit=head.unit if base_failure else base.unit,
        base=base.value,
        head=head.value,
        launches=1,
        is_blocking=is_blocking,
        reason=reason,
        notes=tuple(dict.fromkeys(base.notes + head.notes)),
    )


def _of_failures(
    base: Failure | None, head: Failure | None
) -> tuple[Verdict, str, bool]:
    """Return verdict, reason and whether it blocks, where at least one is missing."""
    if base is None:
        if head is None:
            raise ValueError("both sides have a value")
        return Verdict.FAILED, f"works on the base; in the PR, {told(head)}", True
    if head is None:
        if base.kind in {FailureKind.UNREADABLE, FailureKind.NOT_MEASURED}:
            reason = f"the base has no value: {told(base)}; measure the base again"
            return Verdict.INCONCLUSIVE, reason, True
        return Verdict.ADDED, f"the base cannot run it: {told(base)}", True
    mild = {FailureKind.SKIPPED, FailureKind.NOT_MEASURED}
    if head.kind in mild and base.kind in mild:
        reason = f"no value on either side: base {told(base)}; PR {told(head)}"
        return Verdict.INCONCLUSIVE, reason, True
    reason = f"also fails on the base: {told(head)}"
    if told(base) != told(head):
        reason += f"; base {told(base)}"
    return Verdict.FAILED, reason, False


def _failure(reading: Reading) -> Failure | None:
    if reading.failure is not None:
        return reading.failure
    if reading.value is None:
        return Failure(kind=FailureKind.NOT_MEASURED, message="")
    return None


def _has(trial: Measurement, arm: Arm) -> bool:
    return absence(trial, arm) is None


def _broken(trials: Sequence[Measurement], *arms: Arm) -> list[Failure]:
    """Return one failure for each launch in which an arm tried and has no value."""
    found = []
    for trial in trials:
        failures = [absence(trial, arm) for arm in arms]
        real = [f for f in failures if f and f.kind != FailureKind.NOT_MEASURED]
        found += real[:1]
    return found


def _share(broken: Sequence[Failure], trials: Sequence[Measurement]) -> str:
    """Say what happened and in how many launches; the count only if not in all."""
    often = f" in {len(broken)} of {len(trials)} launches"
    where = "" if len(broken) == len(trials) else often
    word, _, message = told(broken[0]).partition(": ")
    return f"{word}{where}: {message}" if message else word + where


def _on_one_side(scenario: Scenario, trials: Sequence[Measurement]) -> Row:
    """Return the row of a scenario that one side's suite does not define."""
    arm = Arm.HEAD if scenario.on_head else Arm.BASE
    broken = _broken(trials, arm)
    base = _central(trials, Arm.BASE)
    reason = _share(broken, trials) if broken else ""
    if base is not None and not broken:
        reason = "not in the base's suite; the base, too, ran the head's"
    return Row(
        scenario=scenario.id,
        verdict=Verdict.ADDED if arm is Arm.HEAD else Verdict.REMOVED,
        unit=scenario.unit,
        base=base,
        head=_central(trials, Arm.HEAD),
        launches=len(trials),
        reason=reason,
    )


def _broken_base(
    scenario: Scenario,
    trials: Sequence[Measurement],
    base_broken: Sequence[Failure],
    head_broken: Sequence[Failure],
) -> Row:
    """Return the row of a scenario that the base, or its second copy, cannot run."""
    if any(_has(trial, Arm.BASE) or _has(trial, Arm.CONTROL) for trial in trials):
        reason = f"the base itself is unsteady, {_share(base_broken, trials)}"
        if head_broken:
            reason += f"; in the PR, {_share(head_broken, trials)}"
        return _inconclusive(scenario, f"{reason}; make it steady, then measure again")
    works = any(_has(trial, Arm.HEAD) for trial in trials)
    if not works and not head_broken:
        reason = f"base {told(base_broken[0])}; PR not measured; {MEASURE_AGAIN}"
        return _inconclusive(scenario, reason)
    head = None if works else head_broken[0]
    verdict, reason, is_blocking = _of_failures(base_broken[0], head)
    if works and head_broken:
        reason += f"; in the PR, {_share(head_broken, trials)}"
    return Row(
        scenario=scenario.id,
        verdict=verdict,
        unit=scenario.unit,
        head=_central(trials, Arm.HEAD),
        launches=len(trials),
        is_blocking=is_blocking,
        reason=reason,
    )


def _central(trials: Sequence[Measurement], arm: Arm) -> float | None:
    """Return the middle of an arm's launch medians, for the eye only."""
    middles = [median(trial.samples[arm]) for trial in trials if _has(trial, arm)]
    value = median(middles) if middles else math.nan
    return value if math.isfinite(value) else None


def _why_unmeasured(trials: Sequence[Measurement]) -> str:
    for trial in trials:
        for arm in Arm:
            failure = absence(trial, arm)
            if failure is not None and failure.message:
                return f"{told(failure)}; {MEASURE_AGAIN}"
    return f"not measured; {MEASURE_AGAIN}"


def _inconclusive(scenario: Scenario, reason: str) -> Row:
    return Row(
        scenario=scenario.id,
        verdict=Verdict.INCONCLUSIVE,
        unit=scenario.unit,
        reason=reason,
    )
