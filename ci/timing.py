"""The verdicts on rows that carry noise: where the launches lie on the line.

The maths is in `ci.stats`, the scale in `ci.noise`; here are the sizes people
care about and the order in which they are asked. A row is judged in the
direction in which it gets worse, so that one rule serves times and throughputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ci import stats
from ci.model import SECONDS, Direction, Interval, Policy, Row, Thresholds, Verdict
from ci.noise import KNOWN_CLASS, Scale, cold_scale, contamination
from ci.pairing import ARMS, LaunchValues, launch_values
from ci.runs import Measurement, Scenario

if TYPE_CHECKING:
    from ci.stats import Array, Counts

LEAST_MARGIN: Final = 0.01
"""What no row may be flagged for: the null hypothesis is a slowdown up to 1 %."""
LEAST_SECONDS: Final = 1e-9
"""And no call for a nanosecond."""
ROUNDING: Final = 1e-9
"""Bounds are inclusive, also where +15 % is made of binary fractions."""

_LARGEST: Final = 600.0
"""A logarithm beyond which a change is told as this one, a 1 with 260 zeros."""
_ALMOST_ALL: Final = 1 - 1e-9
_UNKNOWN_CLASS: Final = (
    f"cannot fail the check: fewer than {KNOWN_CLASS} control values of its kind tell "
    "how noisy it is; measure more launches"
)
_MEASURE_MORE: Final = "measure more launches, or on a quieter machine"

Case = tuple[Scenario, Sequence[Measurement]]
"""A scenario and its launches in which every arm has its samples, one at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scores:
    """All that is decided about the rows, as columns; worse is plus, on logs."""

    sign: Array
    launches: Counts
    is_slower: npt.NDArray[np.bool_]
    is_faster: npt.NDArray[np.bool_]
    is_ruled_out: npt.NDArray[np.bool_]
    change: Array
    low: Array
    high: Array
    confirmable: Array
    resolution: Array
    is_class_known: npt.NDArray[np.bool_]


def judge_timing(
    cases: Sequence[Case], policy: Policy, looks: int = 1
) -> tuple[list[Row], tuple[str, ...], int]:
    """Return a row for each case, the signs of contamination, the control values.

    ``looks`` is how often the run has been complete, at least 1.
    """
    if not cases:
        return [], (), 0
    values = launch_values([trials for _, trials in cases])
    scenarios = [scenario for scenario, _ in cases]
    classes = [
        (scenario.unit.name, scenario.kind, any(t.is_multithreaded for t in trials))
        for scenario, trials in cases
    ]
    scale = cold_scale(values.effect, values.control, values.error, classes)
    margin = _margin(scenarios, values)
    signs = contamination(
        values.control, scale, margin, [scenario.id for scenario in scenarios]
    )
    scores = _scores(scenarios, values, scale, margin, policy, looks)
    base, head = _shown(values.base), _shown(values.head)
    rows = [
        _row(case, scores, at, policy, float(base[at]), float(head[at]))
        if values.is_valid[at]
        else _without_ratio(*case)
        for at, case in enumerate(cases)
    ]
    return rows, signs, int(stats.counts(values.control).sum())


def _shown(logs: Array) -> Array:
    """Return a row's value for the eye: the geometric mean of its launches.

    Medians of base and head could come from different launches, and then their
    ratio contradicts the change beside them, which is paired.
    """
    return np.asarray(
        np.exp(np.nansum(logs, axis=1) / np.maximum(stats.counts(logs), 1))
    )


def worsening(change: float, direction: Direction) -> float:
    """Return a change so that plus is worse, whatever the unit counts."""
    if direction is Direction.NONE:
        return abs(change)
    return -change if direction is Direction.HIGHER else change


def _margin(scenarios: Sequence[Scenario], values: LaunchValues) -> Array:
    """Return epsilon of each row, on the log scale."""
    margin = np.full(len(scenarios), LEAST_MARGIN)
    is_time = np.array([scenario.unit.name == SECONDS.name for scenario in scenarios])
    seconds = np.exp(stats.quantile(values.base, 0.5))
    margin[is_time] = np.fmax(LEAST_MARGIN, LEAST_SECONDS / seconds[is_time])
    return np.asarray(np.log1p(margin))


def _scores(
    scenarios: Sequence[Scenario],
    values: LaunchValues,
    scale: Scale,
    margin: Array,
    policy: Policy,
    looks: int,
) -> _Scores:
    """Ask each question of all rows at once."""
    sigma, launches = scale.sigma, stats.counts(values.effect)
    center = stats.location(values.effect, sigma)
    directions = [scenario.unit.direction for scenario in scenarios]
    has_no_side = np.array([side is Direction.NONE for side in directions])
    is_higher = np.array([side is Direction.HIGHER for side in directions])
    sign = np.where(is_higher | (has_no_side & (center < 0)), -1.0, 1.0)
    worse = sign[:, None] * values.effect
    # A row without a better side is tried on both of its sides.
    tries = int((launches > 0).sum() + ((launches > 0) & has_no_side).sum())
    critical = stats.critical_value(tries, looks)
    low, high = stats.interval(worse, sigma)
    gate = np.where(
        sign > 0, np.log1p(policy.gate), -np.log1p(-min(policy.gate, _ALMOST_ALL))
    )
    return _Scores(
        sign=sign,
        launches=launches,
        is_slower=stats.score(worse, sigma, margin) >= critical,
        is_faster=stats.score(worse, sigma, -margin) <= -critical,
        is_ruled_out=stats.score(worse, sigma, gate) <= stats.RULED_OUT,
        change=_fraction(center),
        low=_fraction(np.where(sign > 0, low, -high)),
        high=_fraction(np.where(sign > 0, high, -low)),
        confirmable=np.abs(
            _fraction(sign * stats.confirmable(sigma, launches, margin, critical))
        ),
        resolution=np.abs(
            _fraction(sign * stats.resolution(sigma, launches, margin, critical))
        ),
        is_class_known=scale.class_values >= KNOWN_CLASS,
    )


def _fraction(logs: Array) -> Array:
    """Return changes, finite ones, or the report could not be read again."""
    return np.asarray(np.expm1(np.minimum(logs, _LARGEST)))


def _row(
    case: Case, scores: _Scores, at: int, policy: Policy, base: float, head: float
) -> Row:
    scenario, _ = case
    found, change = float(scores.confirmable[at]), float(scores.change[at])
    thresholds = Thresholds(
        gate=policy.gate,
        warn=max(policy.warn, found),
        alert=max(policy.alert, found),
        source="runner" if found > policy.warn else "policy",
    )
    worse = float(scores.sign[at]) * change
    verdict, reason = _verdict(scores, at, worse, thresholds)
    is_capped = verdict is Verdict.ALERT and not scores.is_class_known[at]
    if is_capped:
        verdict = Verdict.WARN
    is_enough = bool(scores.launches[at] >= stats.MINIMUM_LAUNCHES)
    is_flag = verdict in {Verdict.ALERT, Verdict.WARN}
    is_blocking = not is_flag or bool(scores.is_class_known[at])
    return Row(
        scenario=scenario.id,
        verdict=verdict,
        unit=scenario.unit,
        base=base,
        head=head,
        change=change,
        interval=Interval(
            low=float(scores.low[at]),
            high=float(scores.high[at]),
            level=stats.INTERVAL_LEVEL,
        ),
        thresholds=thresholds,
        resolution=float(scores.resolution[at]) if is_enough else None,
        is_confirmed=is_enough and bool(scores.is_slower[at] or scores.is_faster[at]),
        is_blocking=is_blocking,
        launches=int(scores.launches[at]),
        reason="of alert size, shown as a warning" if is_capped else reason,
        notes=() if is_blocking else (_UNKNOWN_CLASS,),
    )


def _verdict(  # noqa: PLR0911  # a table: one line, one return
    scores: _Scores, at: int, worse: float, thresholds: Thresholds
) -> tuple[Verdict, str]:
    """Place one row on the line; the first that holds is the verdict.

    ::

      improved ◄── -eps ── 0 ── +eps ─── warn ──── gate ──── alert ──►  worse
      confirmed beyond +eps and as large as alert or warn: that flag
      confirmed beyond -eps: improved
      gate ruled out: unchanged, also when a small slowdown is confirmed
      anything else, or fewer than four launches: inconclusive
    """
    launches = int(scores.launches[at])
    if launches < stats.MINIMUM_LAUNCHES:
        return Verdict.INCONCLUSIVE, _too_few(launches)
    if scores.is_slower[at] and worse >= thresholds.alert - ROUNDING:
        return Verdict.ALERT, ""
    if scores.is_slower[at] and worse >= thresholds.warn - ROUNDING:
        return Verdict.WARN, ""
    if scores.is_faster[at]:
        return Verdict.IMPROVED, ""
    if scores.is_ruled_out[at]:
        small = "slower, confirmed, and smaller than a warning"
        return Verdict.UNCHANGED, small if scores.is_slower[at] else ""
    if scores.is_slower[at]:
        small = "slower, confirmed, but its size is uncertain"
        return Verdict.INCONCLUSIVE, f"{small}; {_MEASURE_MORE}"
    return Verdict.INCONCLUSIVE, f"{launches} launches cannot tell"


def _without_ratio(scenario: Scenario, trials: Sequence[Measurement]) -> Row:
    """Return the row of samples that have no logarithm.

    A zero time is a clock that did not move, never an infinite speed-up.
    """
    distinct = {v for trial in trials for arm in ARMS for v in trial.samples[arm]}
    value = None
    if any(trial.orders for trial in trials):
        reason = (
            "zero or quantised samples: the clock is too coarse for this call; make "
            "the benchmark do more work"
        )
    elif len(distinct) == 1 and math.isfinite(*distinct):
        (value,) = distinct
        reason = f"every value is {value:g}"
    else:
        reason = (
            "no ratio: zero, negative or missing values; make the benchmark return "
            "positive numbers"
        )
    verdict = Verdict.INCONCLUSIVE if value is None else Verdict.UNCHANGED
    if len(trials) < stats.MINIMUM_LAUNCHES:
        verdict, reason = Verdict.INCONCLUSIVE, f"{reason}; {_too_few(len(trials))}"
    return Row(
        scenario=scenario.id,
        verdict=verdict,
        unit=scenario.unit,
        base=value,
        head=value,
        change=None if value is None else 0.0,
        launches=len(trials),
        reason=reason,
    )


def _too_few(launches: int) -> str:
    return (
        f"{launches} of the {stats.MINIMUM_LAUNCHES} launches that a verdict needs; "
        "measure more launches"
    )
