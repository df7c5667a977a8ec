"""The nouns: fixed values, and the one rule that a constructor checks."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import ConfigError, DocumentError, GateError, SuiteError, model
from ci.model import BYTES, SECONDS, Arm, Direction, FailOn, Policy, Unit, Verdict

NOUNS = [
    noun
    for noun in vars(model).values()
    if isinstance(noun, type) and dataclasses.is_dataclass(noun)
]
sizes = st.floats(min_value=1e-6, max_value=10)


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.__name__)
def test_nouns_are_values(noun: type) -> None:
    """A noun cannot change after it was made, nor be made without names."""
    options = noun.__dataclass_params__  # type: ignore[attr-defined]

    assert options.frozen
    assert all(field.kw_only for field in dataclasses.fields(noun))
    assert not hasattr(noun, "__dict__") or "__slots__" in vars(noun)


def test_there_are_nouns() -> None:
    """An empty list would make the test above pass."""
    assert len(NOUNS) > 10


def test_default_sizes_are_the_documented_ones() -> None:
    """3 % warns, 10 % alerts, 5 % is ruled out; single sets: 15 % and 30 %."""
    policy = Policy()

    assert (policy.warn, policy.alert, policy.gate) == (0.03, 0.10, 0.05)
    assert (policy.single_warn, policy.single_alert) == (0.15, 0.30)


@given(sizes, sizes, sizes, sizes, sizes)
def test_policy_orders_its_sizes(
    gate: float, one: float, two: float, three: float, four: float
) -> None:
    """A warning larger than an alert is a mistake, in either pair."""
    warn, alert = sorted((one, two))
    single_warn, single_alert = sorted((three, four))
    policy = Policy(
        gate=gate,
        warn=warn,
        alert=alert,
        single_warn=single_warn,
        single_alert=single_alert,
    )

    assert policy.warn <= policy.alert
    if warn < alert:
        with pytest.raises(ValueError, match="warn at most alert"):
            Policy(warn=alert, alert=warn)
        with pytest.raises(ValueError, match="warn at most alert"):
            Policy(single_warn=alert, single_alert=warn)


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan])
@pytest.mark.parametrize("name", ["gate", "warn", "single_warn"])
def test_policy_refuses_sizes_that_decide_nothing(name: str, bad: float) -> None:
    """Zero would flag everything, not-a-number nothing: neither is a policy."""
    with pytest.raises(ValueError, match="positive"):
        Policy(**{name: bad})


def test_units_are_times_unless_said_otherwise() -> None:
    """Less is better by default, and nothing is exact by accident."""
    assert Unit(name="seconds", direction=Direction.LOWER, is_exact=False) == SECONDS
    assert BYTES.direction is Direction.LOWER
    assert not BYTES.is_exact


def test_machine_names_are_fixed() -> None:
    """Documents and flags hold these words: changing one breaks what was written."""
    assert [verdict.value for verdict in Verdict] == [
        "alert",
        "warn",
        "unchanged",
        "improved",
        "inconclusive",
        "failed",
        "added",
        "removed",
        "contaminated",
    ]
    assert [choice.value for choice in FailOn] == ["alert", "warn", "never"]
    assert [arm.value for arm in Arm] == ["base", "head", "control"]


def test_arms_have_different_initials() -> None:
    """The order of a block is written with the arms' first letters."""
    assert len({arm.value[0] for arm in Arm}) == len(Arm)


@pytest.mark.parametrize("error", [ConfigError, DocumentError, SuiteError])
def test_errors_are_one_tree(error: type[GateError]) -> None:
    """A verb catches one type, and bad input is never status 1."""
    assert issubclass(error, GateError)
    assert error("what, where, what to do").exit_status == 2
