"""From samples to launch values: what cancels, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.model import Arm
from ci.pairing import launch_values
from ci.runs import Measurement
from tests.ci.runs import ROTATION, counted, noisy, timed

SLOTS = {"b": Arm.BASE, "h": Arm.HEAD, "c": Arm.CONTROL}


def _measured(drift: float, factor: float, blocks: int = 9) -> Measurement:
    """Return a launch on a machine that gets slower by ``drift`` from slot to slot."""
    samples: dict[Arm, list[float]] = {arm: [] for arm in Arm}
    slot = 0
    for block in range(blocks):
        order = ROTATION[block % 6]
        for initial in order + order[::-1]:
            own = factor if initial == "h" else 1.0
            samples[SLOTS[initial]].append(1e-3 * own * math.exp(drift * slot))
            slot += 1
    return Measurement(
        scenario="s",
        samples={arm: tuple(values) for arm, values in samples.items()},
        orders=tuple(ROTATION[block % 6] for block in range(blocks)),
    )


@given(st.floats(-0.05, 0.05), st.floats(0.5, 2))
def test_a_steady_drift_cancels(drift: float, factor: float) -> None:
    """Every arm has the same mean place in a palindrome, so effect is head alone."""
    values = launch_values([[_measured(drift, factor)]])

    assert values.effect[0, 0] == pytest.approx(math.log(factor), abs=1e-9)
    assert values.control[0, 0] == pytest.approx(0, abs=1e-9)


def test_effect_and_control_worked_by_hand() -> None:
    """Base 1, control e^0.2, head e: 1 - (0 + 0.2) / 2 = 0.9, and 0 - 0.2 = -0.2."""
    row = counted("s", (1.0, math.e, math.exp(0.2)))

    values = launch_values([row])

    assert values.effect.tolist() == [[pytest.approx(0.9)]]
    assert values.control.tolist() == [[pytest.approx(-0.2)]]
    assert values.head.tolist() == [[pytest.approx(1.0)]]
    assert values.error.tolist() == [0.0]


@given(st.floats(1e-9, 1e6))
def test_launch_values_do_not_depend_on_the_unit(factor: float) -> None:
    """Seconds or hours: only ratios enter."""
    (launch,) = noisy("s", launches=1)
    other = Measurement(
        scenario="s",
        samples={a: tuple(v * factor for v in vs) for a, vs in launch.samples.items()},
        orders=launch.orders,
    )

    values = launch_values([[launch], [other]])

    assert values.effect[0, 0] == pytest.approx(values.effect[1, 0])
    assert values.error[0] == pytest.approx(values.error[1])


def test_swapping_base_and_control_mirrors_the_control_only() -> None:
    """The two copies of the base are equals."""
    (launch,) = noisy("s", launches=1)
    base, head, control = (launch.samples[arm] for arm in Arm)
    swapped = Measurement(
        scenario="s",
        samples={Arm.BASE: control, Arm.HEAD: head, Arm.CONTROL: base},
        orders=launch.orders,
    )

    values = launch_values([[launch], [swapped]])

    assert values.effect[0, 0] == pytest.approx(values.effect[1, 0])
    assert values.control[0, 0] == pytest.approx(-values.control[1, 0])


@pytest.mark.parametrize("bad", [0.0, -1e-5, math.nan, math.inf])
@pytest.mark.parametrize("arm", list(Arm))
def test_one_sample_without_a_logarithm_rejects_the_row(bad: float, arm: Arm) -> None:
    """A zero is a clock that did not move; no robust mean may talk it away."""
    row = noisy("s")
    spoiled = dict(row[2].samples)
    spoiled[arm] = (*spoiled[arm][:5], bad, *spoiled[arm][6:])
    row[2] = Measurement(scenario="s", samples=spoiled, orders=row[2].orders)

    values = launch_values([row, noisy("t")])

    assert values.is_valid.tolist() == [False, True]
    assert np.isnan(values.effect[0]).all()
    assert np.isfinite(values.effect[1]).all()


def test_rows_of_different_lengths_share_a_table() -> None:
    """Fewer launches or blocks leave gaps, never zeros or other rows' values."""
    rows = [noisy("a", launches=4), noisy("b", launches=2, blocks=11)]

    values = launch_values(rows)

    assert np.isfinite(values.effect).tolist() == [
        [True] * 4,
        [True, True, False, False],
    ]
    assert values.is_valid.tolist() == [True, True]
    alone = launch_values([rows[1]])
    assert values.effect[1, :2].tolist() == alone.effect[0].tolist()


def test_a_coarse_clock_shows_its_step() -> None:
    """Base samples of 3 or 4 ticks, mostly 3: one reading can be off by log(4/3)."""
    orders = tuple(ROTATION[b % 6] for b in range(8))
    mostly = (3.0, 3.0, 3.0, 4.0, *[3.0] * 12)
    launch = Measurement(
        scenario="s",
        samples={Arm.BASE: mostly, Arm.HEAD: (4.0,) * 16, Arm.CONTROL: (3.0,) * 16},
        orders=orders,
    )

    values = launch_values([[launch]])

    assert values.error == pytest.approx([math.log(4 / 3)])


def test_constant_samples_show_no_step() -> None:
    """A head that is slower by a constant is a change, not a tick of the clock."""
    assert launch_values([timed("s", (1.0, 1.5, 1.0))]).error.tolist() == [0.0]


def test_many_launches_are_worked_in_parts_without_a_seam(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounded memory must not show in the numbers."""
    rows = [noisy(f"s{i}", seed=i) for i in range(5)]
    whole = launch_values(rows)
    monkeypatch.setattr("ci.pairing._CHUNK_VALUES", 100)
    monkeypatch.setattr("ci.stats._CHUNK", 10)

    parts = launch_values(rows)

    assert parts.effect.tolist() == whole.effect.tolist()
    assert parts.error.tolist() == whole.error.tolist()
