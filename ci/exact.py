"""Counts, sizes and digests that must not differ: any difference is one.

Nothing here is estimated and nothing is borrowed from the error rate of the
timing rows: a single launch decides, and base, control and every launch must
agree before anything is said.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ci.model import Arm, Direction, Row, Thresholds, Unit, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ci.runs import Measurement, Scenario

ANY_DIFFERENCE: Final = Thresholds(gate=0.0, warn=0.0, alert=0.0, source="exact")

_SHOWN: Final = 4
"""Distinct values that a reason lists."""


def judge_exact(scenario: Scenario, trials: Sequence[Measurement]) -> Row:
    """Return the row of an exact metric from launches with base and head values."""
    base = _distinct(trials, Arm.BASE, Arm.CONTROL)
    head = _distinct(trials, Arm.HEAD)
    is_finite = all(math.isfinite(value) for value in base + head)
    is_steady = is_finite and len(base) == 1 and len(head) == 1
    if is_steady:
        verdict, reason = compare_exact(base[0], head[0], scenario.unit)
    elif is_finite and len(base) == 1:
        verdict = Verdict.ALERT
        reason = f"varies in the PR: {_listed(head)}; on the base always {base[0]:.17g}"
    elif is_finite:
        verdict = Verdict.INCONCLUSIVE
        reason = f"varies on the base: {_listed(base)}; make it steady or not exact"
    else:
        verdict = Verdict.INCONCLUSIVE
        reason = "not a number; make the benchmark return a finite value"
    return Row(
        scenario=scenario.id,
        verdict=verdict,
        unit=scenario.unit,
        base=base[0] if is_finite and len(base) == 1 else None,
        head=head[0] if is_finite and len(head) == 1 else None,
        change=ratio(base[0], head[0]) if is_steady else None,
        thresholds=ANY_DIFFERENCE,
        is_confirmed=verdict in {Verdict.ALERT, Verdict.IMPROVED},
        launches=len(trials),
        reason=reason,
    )


def compare_exact(base: float, head: float, unit: Unit) -> tuple[Verdict, str]:
    """Return the verdict on two finite values, and both of them where they differ."""
    if head == base:
        return Verdict.UNCHANGED, ""
    reason = f"exact: {base:.17g} on the base, {head:.17g} in the PR"
    is_better = {
        Direction.LOWER: head < base,
        Direction.HIGHER: head > base,
        Direction.NONE: False,
    }[unit.direction]
    return (Verdict.IMPROVED if is_better else Verdict.ALERT), reason


def ratio(base: float, head: float) -> float | None:
    """Return head / base - 1, ``None`` where there is no such ratio."""
    if base == head:
        return 0.0
    if base <= 0 or head < 0:
        return None
    change = head / base - 1
    return change if math.isfinite(change) else None


def _distinct(trials: Iterable[Measurement], *arms: Arm) -> list[float]:
    found = {
        value
        for trial in trials
        for arm in arms
        if arm not in trial.failures
        for value in trial.samples.get(arm, ())
    }
    return sorted(found)


def _listed(values: Sequence[float]) -> str:
    shown = ", ".join(f"{value:.17g}" for value in values[:_SHOWN])
    rest = len(values) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
