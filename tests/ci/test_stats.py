"""Laws and worked numbers of the launch statistics."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ci import stats

launches = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 12)),
    elements=st.floats(-0.5, 0.5, width=32),
)
scales = st.floats(0.001, 0.1)


def _sigma(values: np.ndarray, scale: float) -> np.ndarray:
    return np.full(len(values), scale)


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 23)),
        elements=st.floats(-1e3, 1e3),
    )
)
def test_hodges_lehmann_is_the_median_of_all_pairwise_means(values: np.ndarray) -> None:
    """Leaving out the pairs that cannot be the median changes nothing."""
    brute = [
        statistics.median(
            (a + b) / 2 for a, b in itertools.combinations_with_replacement(row, 2)
        )
        for row in values.tolist()
    ]

    assert stats.hodges_lehmann(values) == pytest.approx(brute, abs=1e-9)


def test_hodges_lehmann_forms_less_than_half_of_the_pairs() -> None:
    """Ten thousand rows stay cheap because most pairs are never formed."""
    first, _, below = stats._central_pairs(50)

    assert len(first) < 0.45 * 1275
    assert 2 * below == 1275 - len(first)


def test_one_burst_in_a_launch_does_not_move_its_value() -> None:
    """Asymmetric: three of ten blocks at +100 % leave the launch where it was."""
    blocks = np.array([[0.0] * 7 + [1.0] * 3])

    assert stats.hodges_lehmann(blocks) == pytest.approx([0.0])


def test_a_long_launch_is_folded_and_keeps_its_mean() -> None:
    """A thousand blocks cost no more memory than 256, and none is dropped."""
    blocks = np.arange(1024.0)[None]

    assert stats.fold(blocks).shape == (1, stats.MOST_BLOCKS)
    assert stats.fold(blocks).mean() == pytest.approx(511.5)
    assert stats.hodges_lehmann(blocks) == pytest.approx([511.5])


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=9), st.integers(0, 3))
def test_quantile_is_the_usual_median_and_ignores_absent_launches(
    row: list[float], absent: int
) -> None:
    """Even numbers take the mean of the two in the middle; NaN is not a value."""
    values = np.array([[*row, *[math.nan] * absent]])

    assert stats.quantile(values, 0.5) == pytest.approx([statistics.median(row)])


def test_quantile_of_eight_deviations_stands_on_the_sixth() -> None:
    """0.68 * (8 + 1/3) + 1/3 = 6: one bad launch, two values, stays outside."""
    values = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 700.0, 800.0]])

    assert stats.quantile(values, 0.68) == pytest.approx([6.0])


def test_standard_error_of_independent_blocks_is_spread_over_root_n() -> None:
    """A thousand Gaussian blocks of 1 %: 0.01 / sqrt(1000) = 0.00032."""
    blocks = np.random.default_rng(3).normal(0, 0.01, (4, 1000))

    found = stats.standard_error(blocks, np.zeros(4))

    assert found == pytest.approx([0.000316] * 4, rel=0.2)


def test_standard_error_grows_with_autocorrelation() -> None:
    """Blocks that follow each other tell less: r = 0.8 costs sqrt(1.8 / 0.2) = 3."""
    random = np.random.default_rng(4)
    noise = random.normal(0, 0.01, 4000)
    chain = np.zeros(4000)
    for i in range(1, 4000):
        chain[i] = 0.8 * chain[i - 1] + noise[i]
    shuffled = random.permutation(chain)

    both = stats.standard_error(np.stack([chain, shuffled]), np.zeros(2))

    assert both[0] / both[1] == pytest.approx(3, rel=0.15)


@given(launches, scales)
def test_score_of_mirrored_launches_is_the_mirrored_score(
    values: np.ndarray, scale: float
) -> None:
    """Swapping base and head turns every question round."""
    sigma = _sigma(values, scale)

    there = stats.score(values, sigma, 0.01)
    back = stats.score(-values, sigma, -0.01)

    assert there == pytest.approx(-back)


@given(launches, scales, st.floats(0.1, 10))
def test_statistics_do_not_depend_on_the_scale(
    values: np.ndarray, scale: float, factor: float
) -> None:
    """Launches and noise ten times as large give the same score."""
    sigma = _sigma(values, scale)

    one = stats.score(values, sigma, 0.0)
    other = stats.score(values * factor, sigma * factor, 0.0)

    assert one == pytest.approx(other)


@given(launches, scales, st.floats(-1, 1), st.floats(0, 0.5))
def test_score_falls_as_the_size_grows(
    values: np.ndarray, scale: float, size: float, more: float
) -> None:
    """Beyond a larger size there is never more evidence."""
    sigma = _sigma(values, scale)

    small, large = (stats.score(values, sigma, s) for s in (size, size + more))

    assert (large <= small + 1e-12).all()


def test_absent_launches_do_not_count() -> None:
    """Three sigma in two launches: 6 / sqrt(2 * 1.4) = 3.59, with or without gaps."""
    values = np.array([[0.05, 0.05, math.nan, math.nan]])
    sigma = np.array([0.01])

    assert stats.score(values, sigma, 0.0) == pytest.approx([3.5857], abs=1e-4)
    assert stats.score(values[:, 2:], sigma, 0.0) == pytest.approx([0.0])


def test_one_launch_of_four_cannot_confirm_anything() -> None:
    """Clipped at 3 sigma: 3 / sqrt(4 * 1.4) = 1.27, however far it lies."""
    values = np.array([[0.0, 0.0, 0.0, 9.0]])

    found = stats.score(values, np.array([0.01]), 0.0)

    assert found == pytest.approx([1.2677], abs=1e-4)
    assert found[0] < stats.critical_value(1)


def test_one_launch_of_four_cannot_hide_a_change() -> None:
    """Three launches at +30 %, one at -50 %, 1 % noise: (3+3+3-3)/2.37 = 2.54."""
    values = np.array([[0.26, 0.26, 0.26, -0.7]])
    sigma = np.array([0.01])

    assert stats.score(values, sigma, 0.0) == pytest.approx([2.5355], abs=1e-4)
    assert stats.location(values, sigma)[0] == pytest.approx(0.255)


def test_critical_value_is_the_published_one() -> None:
    """1.05 * normal quantile of 1 - 0.01 / n: 48 rows 3.706, 200 rows 4.09."""
    assert stats.critical_value(48) == pytest.approx(3.706, abs=1e-3)
    assert stats.critical_value(200) == pytest.approx(4.085, abs=1e-3)
    assert stats.critical_value(0) == stats.critical_value(1)


def test_four_launches_reach_the_bound_of_fourteen_thousand_rows() -> None:
    """3 * sqrt(4 / 1.4) = 5.07; three launches reach 4.39, too little at 1,000."""
    reach = [3 * math.sqrt(n / 1.4) for n in (3, 4)]

    assert reach[0] < stats.critical_value(1000) < reach[1]
    assert stats.critical_value(14_000) < reach[1]


@given(launches, scales)
@settings(deadline=None)
def test_interval_holds_the_sizes_the_score_does_not_reject(
    values: np.ndarray, scale: float
) -> None:
    """Just inside |T| <= 1.96, just outside it is more: they cannot disagree."""
    sigma = _sigma(values, scale)

    low, high = stats.interval(values, sigma)
    inside = [stats.score(values, sigma, s) for s in (low + 1e-9, high - 1e-9)]
    outside = [stats.score(values, sigma, s) for s in (low - 1e-6, high + 1e-6)]

    assert (low < high).all()
    assert all((np.abs(t) <= 1.96 + 1e-6).all() for t in inside)
    assert (outside[0] > 1.96 - 1e-6).all()
    assert (outside[1] < -1.96 + 1e-6).all()


@given(launches, scales)
@settings(deadline=None)
def test_estimate_lies_in_its_interval_and_mirrors(
    values: np.ndarray, scale: float
) -> None:
    """The point is never outside its own interval, nor biased to one side."""
    sigma = _sigma(values, scale)

    point = stats.location(values, sigma)
    low, high = stats.interval(values, sigma)

    assert ((low <= point + 1e-9) & (point <= high + 1e-9)).all()
    assert point == pytest.approx(-stats.location(-values, sigma), abs=1e-9)


@given(launches, scales)
@settings(deadline=None)
def test_location_solves_hubers_equation(values: np.ndarray, scale: float) -> None:
    """At the estimate the clipped deviations cancel, or nearly: brute force."""
    sigma = _sigma(values, scale)

    point = stats.location(values, sigma)
    psi = np.clip((values - point[:, None]) / sigma[:, None], -1.5, 1.5)

    assert psi.sum(axis=1) == pytest.approx(0, abs=1e-6)


def test_location_worked_by_hand() -> None:
    """0, 1, 2 and 90 sigma: three free, one clipped, 3 - 3m + 1.5 = 0, m = 1.5."""
    values = np.array([[0.0, 0.01, 0.02, 0.90]])

    assert stats.location(values, np.array([0.01])) == pytest.approx([0.015])


def test_two_groups_far_apart_meet_in_the_middle() -> None:
    """Any size between the groups is a zero; the estimate takes their center."""
    values = np.array([[0.0, 0.0, 1.0, 1.0]])

    assert stats.location(values, np.array([0.01])) == pytest.approx([0.5])


def test_resolution_worked_by_hand() -> None:
    """1 % noise, 4 launches, 48 rows, in logs, as the sizes of the design.

    Smallest estimate: 0.00995 + 3.706 * 0.01 * sqrt(1.4 / 4)          = 0.0319
    19 times in 20:    0.00995 + (3.706 * sqrt(1.4) + 1.9) * 0.01 / 2  = 0.0414
    """
    sigma, margin, four = np.array([0.01]), np.log1p([0.01]), np.array([4])
    critical = stats.critical_value(48)

    least = stats.confirmable(sigma, four, margin, critical)
    sure = stats.resolution(sigma, four, margin, critical)

    assert least == pytest.approx([0.0319], abs=1e-4)
    assert sure == pytest.approx([0.0414], abs=1e-4)


def test_an_estimate_of_the_confirmable_size_is_just_confirmed() -> None:
    """Without clipping, the threshold a row shows is the one it was judged by."""
    sigma, margin, four = np.array([0.01]), np.log1p([0.01]), np.array([4])
    critical = stats.critical_value(48)
    least = float(stats.confirmable(sigma, four, margin, critical)[0])

    reached = stats.score(np.full((1, 4), least), sigma, margin)

    assert reached == pytest.approx([critical])


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (15, 0, 2 / 2**15),  # the fewest rows that can reach 1e-4
        (14, 0, 2 / 2**14),
        (3, 3, 1.0),
        (8, 2, 2 * (1 + 10 + 45) / 2**10),
        (0, 0, 1.0),
    ],
)
def test_sign_test_is_exact(positive: int, negative: int, expected: float) -> None:
    """Two-sided binomial, zeros left out; no approximation at small numbers."""
    values = np.array([1.0] * positive + [-1.0] * negative + [0.0, math.nan])

    assert stats.sign_test(values) == pytest.approx(expected)


def test_sign_test_bears_ten_thousand_rows() -> None:
    """The sum is exact integers, which neither overflow nor lose the tail."""
    even = np.tile([1.0, -1.0], 5000)
    uneven = np.where(np.arange(10_000) < 5300, 1.0, -1.0)

    assert stats.sign_test(even) == 1.0
    assert 1e-10 < stats.sign_test(uneven) < 1e-8
