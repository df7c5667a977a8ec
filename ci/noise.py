"""How noisy launches are, learned from the run's own control arm.

Four launches cannot carry their own variance, so a row borrows it from its
class: rows of one unit, kind and threading. There is no profile of earlier
runs here; the control arm, a second copy of the base, is all that is known.

A row may be far noisier than its class, and then the borrowed scale is far too
small. Three things therefore raise it and nothing lowers it: the row's own
deviations, the error of its launch values, and a floor. Simulated over 48 rows
of 0.3 to 5 % noise, the borrowed scale alone flags 2 to 3 % of unchanged runs,
in each direction; with the row's own deviations under 0.5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ci.stats import (
    MAD_TO_SIGMA,
    MINIMUM_LAUNCHES,
    Array,
    counts,
    critical_value,
    quantile,
    score,
    sign_test,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

CONTROL_TO_EFFECT: Final = math.sqrt(1.5 / 2)
"""Effect is head minus a mean of two arms, control a difference of two."""
CAUTION: Final = 1.5
"""What a scale from one run is widened by."""
PRIOR_LAUNCHES: Final = 20
"""The class counts for as many launches as this, d0."""
ONE_SIGMA: Final = 0.68
"""The share of Gaussian deviations within one sigma; at four launches this is
the sixth of eight deviations and leans on no larger one."""
QUARTILE: Final = 0.6745
"""The median Gaussian deviation, in sigma."""
FLOOR: Final = 0.001
"""No launch is known better than to 0.1 %: a control that is exactly 0, of a
coarse counter, must not make every difference infinitely significant."""
KNOWN_CLASS: Final = 20
"""Control values of a class from which its scale counts in full."""

CONTAMINATED_SIGN: Final = 1e-4
"""Probability of the controls' signs below which slots or paths favor one arm."""
NEGLIGIBLE_SHIFT: Final = 0.005
"""A common shift of the controls up to this turns no verdict: half of it enters
an effect, and no row is flagged for 1 %. Many rows would find one of any size."""


_LARGEST: Final = 600.0
"""`math.expm1` raises OverflowError somewhat above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The noise of one launch, for each row of the effect and of its control.

    ``class_values`` counts the control values behind each row's class.
    """

    sigma: Array
    control_sigma: Array
    class_values: Array


def cold_scale(
    effect: Array, control: Array, error: Array, classes: Sequence[Hashable]
) -> Scale:
    """Return the scale of each row, from launch values alone.

    ``error`` is what is known of each row's launch values from inside the
    launches: a lower bound. The control's own scale is free of its own shift,
    or a control that moved would excuse itself.
    """
    scale = Scale(
        sigma=np.full(len(effect), FLOOR),
        control_sigma=np.full(len(effect), FLOOR),
        class_values=np.zeros(len(effect)),
    )
    members: dict[Hashable, list[int]] = {}
    for row, name in enumerate(classes):
        members.setdefault(name, []).append(row)
    least = np.fmax(np.nan_to_num(error), FLOOR)
    for rows in members.values():
        shrunk, known = _shrunk(control[rows])
        around_zero = _own(effect[rows], control[rows])
        around_center = _own(effect[rows], _residual(control[rows]))
        scale.sigma[rows] = np.maximum(np.maximum(shrunk, around_zero), least[rows])
        scale.control_sigma[rows] = (
            np.maximum(np.maximum(shrunk, around_center), least[rows])
            / CONTROL_TO_EFFECT
        )
        scale.class_values[rows] = known
    return scale


def contamination(
    control: Array, scale: Scale, margin: Array, names: Sequence[str]
) -> tuple[str, ...]:
    """Return what shows that base and control, the same code, differed.

    The witness that the whole run is noisier than its history needs a history.
    """
    remedy = "measure again, on a quieter machine"
    enough = counts(control) >= MINIMUM_LAUNCHES
    found = []
    if enough.any():
        bound = critical_value(2 * int(enough.sum()))
        slower = score(control, scale.control_sigma, margin) >= bound
        faster = score(control, scale.control_sigma, -margin) <= -bound
        moved = np.flatnonzero((slower | faster) & enough)
        found += [
            f"contaminated: two copies of the base differ by "
            f"{_shown(quantile(control[row : row + 1], 0.5)[0])} in "
            f"{names[row]}; {remedy}"
            for row in moved[:3]
        ]
        if len(moved) > len(found):
            found.append(
                f"contaminated: the same in {len(moved) - len(found)} other scenarios"
            )
    mean = np.nansum(control, axis=1) / np.maximum(counts(control), 1)
    mean = mean[mean != 0]
    shift = float(np.median(mean)) if len(mean) else 0.0
    if sign_test(mean) < CONTAMINATED_SIGN and abs(shift) >= NEGLIGIBLE_SHIFT:
        found.append(
            "contaminated: two copies of the base differ the same way in almost "
            f"every scenario, by {_shown(shift)} in the middle; {remedy}, "
            "and make sure that both copies lie in paths of equal length"
        )
    return tuple(found)


def _shown(log: float) -> str:
    return f"{math.expm1(min(log, _LARGEST)):+.1%}"


def _shrunk(control: Array) -> tuple[Array, int]:
    """Return each row's scale drawn to its class, and the values of the class.

    ``log s = (h log own + d0 log prior) / (h + d0)``, times the run's own D:
    1 by construction but for a class of very few values.
    """
    deviation = np.abs(control)
    known = int(np.isfinite(deviation).sum())
    if not known:
        return np.full(len(control), FLOOR), 0
    to_sigma = MAD_TO_SIGMA * CONTROL_TO_EFFECT
    middle = float(np.nanmedian(deviation))
    prior = max(to_sigma * middle * CAUTION, FLOOR)
    own = np.fmax(to_sigma * quantile(deviation, 0.5), FLOOR)
    launches = counts(control)
    shrunk = np.exp(
        (launches * np.log(own) + PRIOR_LAUNCHES * math.log(prior))
        / (launches + PRIOR_LAUNCHES)
    )
    seen = deviation * CONTROL_TO_EFFECT / (QUARTILE * shrunk[:, None])
    inflation = max(1.0, float(np.nanmedian(seen)) * (1 + 1 / math.sqrt(known)))
    return shrunk * inflation, known


def _own(effect: Array, control: Array) -> Array:
    """Return one sigma of a row's own deviations, effect and control together.

    Two values a launch that do not depend on each other, so eight at four
    launches: their 68 % quantile stands on the sixth, and one bad launch, two
    values, cannot raise it far. A row without values gives the floor.
    """
    own = np.concatenate(
        [np.abs(_residual(effect)), np.abs(control) * CONTROL_TO_EFFECT], axis=1
    )
    return np.asarray(np.fmax(quantile(own, ONE_SIGMA), FLOOR))


def _residual(values: Array) -> Array:
    """Return deviations from the row's median, widened for the fitted center."""
    launches = counts(values)
    widened = np.sqrt(launches / np.maximum(launches - 1, 1))
    return np.asarray((values - quantile(values, 0.5)[:, None]) * widened[:, None])
