"""Location, score and error of launch values: arrays in, values out.

Everything is on natural logarithms and works on one row of an array per
scenario; a launch that is missing is NaN. The module draws no conclusions,
knows no units and uses no random numbers.

The score is clipped because launch values have a narrow core and a fat tail:
one bad launch of four can neither make a flag nor easily hide one. Its scale is
never the spread of the four values alone (`ci.noise`).
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

CLIP: Final = 3.0
"""How many sigma one launch may count for."""
SECOND_MOMENT: Final = 1.4
"""E[psi^2] of clipped A/A scores; 1.36 to 1.43 in tango's published A/A runs."""
TAIL_FACTOR: Final = 1.05
"""What the fat tail adds to a Gaussian quantile: simulated, 50 to 500 rows."""
ALPHA: Final = 0.01
"""Family-wise rate of false flags, in each direction."""
MINIMUM_LAUNCHES: Final = 4
"""Fewer clipped launches cannot reach the bound of a usual suite."""
HUBER: Final = 1.5
"""Where the estimate stops following a launch, in sigma."""
INTERVAL_SCORE: Final = 1.96
"""Two-sided 95 %."""
INTERVAL_LEVEL: Final = 0.95
RULED_OUT: Final = -2.3
"""A size whose score is at most this is ruled out, at about 99 % a row."""
POWER_SCORE: Final = 1.9
"""Beyond the bound by this much, a change is confirmed 19 times in 20."""
MAD_TO_SIGMA: Final = 1.4826
"""Median absolute deviation to standard deviation, for a Gaussian core."""
HIGHEST_LAG: Final = 0.9
"""Autocorrelation is capped here: beyond it, ten blocks tell nothing more."""
MOST_BLOCKS: Final = 256
"""Longer launches are folded first; pairs grow with the square of the blocks."""

_CHUNK: Final = 200_000
_HALVINGS: Final = 44
"""Of a bracket of a few sigma: down to 1e-12 of it."""


def counts(values: Array) -> Counts:
    """Count the launches present in each row."""
    return np.asarray(np.isfinite(values).sum(axis=-1), dtype=np.int64)


def quantile(values: Array, probability: float) -> Array:
    """Return the median-unbiased quantile of each row, ignoring NaN.

    At 0.5 it is the usual median. Rows without values give NaN.

    >>> quantile(np.array([[3.0, 1.0, 2.0, np.nan]]), 0.5).tolist()
    [2.0]
    """
    ordered = np.sort(values, axis=-1)
    present = counts(values)
    place = np.clip(
        probability * (present + 1 / 3) - 2 / 3, 0, np.maximum(present - 1, 0)
    )
    low = np.floor(place).astype(np.intp)
    high = np.ceil(place).astype(np.intp)
    rows = np.arange(len(values))
    below, above = ordered[rows, low], ordered[rows, high]
    return np.asarray(below + (above - below) * (place - low))


# --- Inside a launch ---------------------------------------------------------


def hodges_lehmann(values: Array) -> Array:
    """Return the median of all pairwise means of each row (no NaN in it).

    As robust as a median against a burst, nearly as sharp as a mean. Only pairs
    that can be the median are formed: in a sorted row, a pair is at least as
    large as every pair with both places at or before its own.

    >>> hodges_lehmann(np.array([[1.0, 2.0, 30.0]])).tolist()
    [8.75]
    """
    values = np.sort(fold(values), axis=1)
    first, second, skipped = _central_pairs(values.shape[1])
    pairs = values.shape[1] * (values.shape[1] + 1) // 2
    low, high = (pairs - 1) // 2 - skipped, pairs // 2 - skipped
    found = np.empty(len(values))
    step = max(1, _CHUNK // len(first))
    for start in range(0, len(values), step):
        part = values[start : start + step]
        sums = part[:, first] + part[:, second]
        sums.sort(axis=1)
        found[start : start + step] = (sums[:, low] + sums[:, high]) / 4
    return found


def fold(values: Array) -> Array:
    """Average neighboring columns until at most MOST_BLOCKS are left."""
    width = values.shape[1]
    if width <= MOST_BLOCKS:
        return values
    edges = np.linspace(0, width, MOST_BLOCKS + 1).astype(np.intp)
    return np.asarray(np.add.reduceat(values, edges[:-1], axis=1) / np.diff(edges))


def standard_error(values: Array, center: Array) -> Array:
    """Return the error of each row's launch value, from its blocks in time order.

    ``s^2 (1 + r) / ((1 - r) B)``: robust spread of the blocks, raised by their
    lag-1 autocorrelation r. It knows nothing of what differs between launches,
    so it is a lower bound of the launch noise and never the noise itself.
    """
    residual = values - center[:, None]
    spread = MAD_TO_SIGMA * middle(np.abs(residual))
    limit = CLIP * spread[:, None]
    residual = np.clip(residual, -limit, limit)
    energy = (residual**2).sum(axis=1)
    product = (residual[:, 1:] * residual[:, :-1]).sum(axis=1)
    lag = np.divide(product, energy, out=np.zeros_like(energy), where=energy > 0)
    lag = np.clip(lag, 0, HIGHEST_LAG)
    return np.asarray(spread * np.sqrt((1 + lag) / ((1 - lag) * values.shape[1])))


def middle(values: Array) -> Array:
    """Return the median of each row; several times faster than numpy's."""
    ordered = np.sort(values, axis=1)
    width = values.shape[1]
    return np.asarray((ordered[:, (width - 1) // 2] + ordered[:, width // 2]) / 2)


@cache
def _central_pairs(
    width: int,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], int]:
    """Return the pairs that may be the median, and how many are surely below it."""
    first, second = np.triu_indices(width)
    pairs = len(first)
    not_above = (first + 1) * (second + 1) - first * (first + 1) // 2
    left, right = width - 1 - second, width - 1 - first
    not_below = (left + 1) * (right + 1) - left * (left + 1) // 2
    is_above = not_above - 1 > pairs // 2
    is_below = not_below - 1 > pairs // 2
    keep = ~(is_above | is_below)
    return first[keep], second[keep], int(is_below.sum())


# --- Over launches -----------------------------------------------------------


def score(
    values: Array, sigma: Array, size: Array | float, clip: float = CLIP
) -> Array:
    """Return T(size): how far the launches of each row lie beyond ``size``.

    Decreasing in ``size``, bounded by ``clip * sqrt(launches / SECOND_MOMENT)``.
    A row without launches scores 0.
    """
    at = np.broadcast_to(np.asarray(size, dtype=np.float64), sigma.shape)
    deviation = (values - at[:, None]) / sigma[:, None]
    clipped = np.nan_to_num(np.clip(deviation, -clip, clip), copy=False)
    launches = np.maximum(counts(values), 1)
    return np.asarray(clipped.sum(axis=1) / np.sqrt(launches * SECOND_MOMENT))


def location(values: Array, sigma: Array) -> Array:
    """Return the Huber location of each row: the middle of its zeros.

    Two groups far apart leave a whole range of zeros; its middle keeps the
    estimate of mirrored data the mirrored estimate.
    """
    low = _crossing(values, sigma, target=0.0, clip=HUBER, is_last=False)
    high = _crossing(values, sigma, target=0.0, clip=HUBER, is_last=True)
    return np.asarray((low + high) / 2)


def interval(values: Array, sigma: Array) -> tuple[Array, Array]:
    """Return the sizes that the score does not reject, ``|T| <= INTERVAL_SCORE``.

    ::

      T(size)  +5 ──────╲
             +1.96 ┄┄┄┄┄┄┄╲ low
                0 ┄┄┄┄┄┄┄┄┄┄╲
             -1.96 ┄┄┄┄┄┄┄┄┄┄┄╲ high
               -5               ╲──────  size ──►
    """
    low = _crossing(values, sigma, target=INTERVAL_SCORE, clip=CLIP, is_last=False)
    high = _crossing(values, sigma, target=-INTERVAL_SCORE, clip=CLIP, is_last=True)
    return low, high


def critical_value(rows: int, looks: int = 1) -> float:
    """Return the score that confirms, so that ALPHA holds for the whole family.

    >>> round(critical_value(50, looks=4), 2), round(critical_value(200, looks=4), 2)
    (4.09, 4.43)
    """
    tail = ALPHA / (max(rows, 1) * looks)
    return TAIL_FACTOR * NormalDist().inv_cdf(1 - tail)


def confirmable(
    sigma: Array, launches: Counts, margin: Array, critical: float
) -> Array:
    """Return the smallest estimate that could have been confirmed."""
    return np.asarray(
        margin + critical * sigma * np.sqrt(SECOND_MOMENT / np.maximum(launches, 1))
    )


def resolution(sigma: Array, launches: Counts, margin: Array, critical: float) -> Array:
    """Return the change that would have been confirmed 19 times in 20."""
    reach = critical * math.sqrt(SECOND_MOMENT) + POWER_SCORE
    return np.asarray(margin + reach * sigma / np.sqrt(np.maximum(launches, 1)))


def sign_test(values: Array) -> float:
    """Return the two-sided exact probability of so uneven a split of signs.

    Zeros and NaN say nothing and are left out.

    >>> sign_test(np.array([1.0, 1.0, 1.0, 1.0, 1.0]))
    0.0625
    """
    positive, negative = int((values > 0).sum()), int((values < 0).sum())
    total, rarer = positive + negative, min(positive, negative)
    ways = term = 1
    for chosen in range(1, rarer + 1):
        term = term * (total - chosen + 1) // chosen
        ways += term
    return float(min(1.0, 2 * ways / 2**total))


def _crossing(
    values: Array, sigma: Array, *, target: float, clip: float, is_last: bool
) -> Array:
    """Return where the decreasing score crosses ``target``, by halving.

    Where the score rests on the target, the first or the last such size.
    """
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduce(values, axis=1) - (clip + 1) * sigma
        high = np.fmax.reduce(values, axis=1) + (clip + 1) * sigma
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = score(values, sigma, middle, clip)
        is_left = reached >= target if is_last else reached > target
        low = np.where(is_left, middle, low)
        high = np.where(is_left, high, middle)
    return np.asarray((low + high) / 2)
