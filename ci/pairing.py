"""From the samples of a launch to its launch values: effect and control.

Base, head and control of one block are compared with each other and with
nothing else, so that whatever slows all three cancels. Refuses to judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from ci.model import Arm
from ci.stats import Array, hodges_lehmann, middle, quantile, standard_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.runs import Measurement

ARMS: Final = (Arm.BASE, Arm.HEAD, Arm.CONTROL)

_CHUNK_VALUES: Final = 500_000
_TICK: Final = 1e-9
"""Logs closer than this are the same reading of the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchValues:
    """Rows of scenarios, columns of launches, natural logarithms; NaN is absent.

    ``effect`` is head against base and control, ``control`` base against
    control, ``base`` and ``head`` central values. ``error`` has one value a
    row: what is known from inside the launches. ``is_valid``: all samples of
    the row are positive and finite; rows that are not hold NaN.
    """

    effect: Array
    control: Array
    base: Array
    head: Array
    error: Array
    is_valid: npt.NDArray[np.bool_]


def launch_values(rows: Sequence[Sequence[Measurement]]) -> LaunchValues:
    """Return the launch values of each row's measurements, all arms present.

    All launches of equal length are worked in one array, whatever their row.
    """
    width = max((len(row) for row in rows), default=0)
    shape = (len(rows), max(width, 1))
    # Effect, control, base, head and error of one launch, in this order.
    table = np.full((5, *shape), np.nan)
    lengths: dict[int, list[tuple[int, int, Measurement]]] = {}
    for place, row in enumerate(rows):
        for launch, measurement in enumerate(row):
            blocks = len(measurement.orders)
            lengths.setdefault(blocks, []).append((place, launch, measurement))
    for blocks, found in lengths.items():
        step = max(1, _CHUNK_VALUES // (6 * max(blocks, 1)))
        for start in range(0, len(found), step):
            part = found[start : start + step]
            places, launches, measured = zip(*part, strict=True)
            values = _of_blocks(measured, blocks) if blocks else _of_values(measured)
            table[:, list(places), list(launches)] = values
    present = np.arange(shape[1]) < np.array([[len(row)] for row in rows])
    is_valid = (np.isfinite(table) | ~present).all(axis=(0, 2))
    table[:, ~is_valid] = np.nan
    effect, control, base, head, error = table
    return LaunchValues(
        effect=effect,
        control=control,
        base=base,
        head=head,
        error=quantile(error, 0.5),
        is_valid=is_valid,
    )


def _of_blocks(measured: Sequence[Measurement], blocks: int) -> Array:
    """Return the five launch values of launches that have ``blocks`` blocks each.

    X(arm) = mean of log over the arm's two slots of a block, then
    effect = X(head) - (X(base) + X(control)) / 2, control = X(base) - X(control).
    """
    logs = _logs(measured, 2 * blocks).reshape(len(measured), 3, blocks, 2)
    slots = (logs[..., 0] + logs[..., 1]) / 2
    base, head, control = slots[:, 0], slots[:, 1], slots[:, 2]
    effects = head - (base + control) / 2
    effect = hodges_lehmann(effects)
    error = np.maximum(standard_error(effects, effect), _ticks(logs, effects))
    values = np.stack(
        [effect, hodges_lehmann(base - control), middle(base), middle(head), error]
    )
    values[:, np.isnan(logs).any(axis=(1, 2, 3))] = np.nan
    return values


def _of_values(measured: Sequence[Measurement]) -> Array:
    """Return the same for launches with a single value an arm: no inner error."""
    base, head, control = _logs(measured, 1).T
    effect = head - (base + control) / 2
    error = np.where(np.isnan(effect), np.nan, 0.0)
    return np.stack([effect, base - control, base, head, error])


def _logs(measured: Sequence[Measurement], each: int) -> Array:
    """Return logarithms, launch by launch and arm by arm; NaN where there is none."""
    samples = chain.from_iterable(
        launch.samples[arm] for launch in measured for arm in ARMS
    )
    flat = np.fromiter(samples, np.float64, 3 * each * len(measured))
    flat[~(np.isfinite(flat) & (flat > 0))] = np.nan
    return np.log(flat).reshape(len(measured), 3 * each)


def _ticks(logs: Array, effects: Array) -> Array:
    """Return the step of the clock, in launches where it shows, else 0.

    Most blocks being equal to the last bit is the sign of a clock too coarse
    for the sample: two readings then differ by whole steps or not at all. The
    base alone shows the step; a head that is slower by a constant is no step.
    """
    steps = np.zeros(len(logs))
    center = middle(effects)[:, None]
    is_flat = middle(np.abs(effects - center)) == 0
    same = logs[:, ::2].reshape(len(logs), -1)
    for row in np.flatnonzero(is_flat & (same.max(axis=1) > same.min(axis=1))):
        gaps = np.diff(np.sort(same[row]))
        gaps = gaps[gaps > _TICK]
        steps[row] = gaps.min() if len(gaps) else 0.0
    return steps
