"""Numbers as people read them, each with its own unit."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import text
from ci.model import BYTES, SECONDS, Unit


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (2.0, "2.00 s"),
        (12_345.678, "12345.68 s"),
        (1.0, "1.00 s"),
        (0.0455500, "45.55 ms"),
        (1e-3, "1.00 ms"),
        (978.69e-6, "978.69 µs"),
        (1e-6, "1.00 µs"),
        (477.7e-9, "477.7 ns"),
        (0.0, "0.0 ns"),
        (1e-12, "0.001 ns"),
        (-2.5e-3, "-2.50 ms"),
        (1e300, "1e+300 s"),
        # Rounded up to the next unit: never a thousand of the smaller one.
        (999.996e-6, "1.00 ms"),
        (999.994e-6, "999.99 µs"),
        (999.96e-9, "1.00 µs"),
        (0.999996, "1.00 s"),
        (None, "—"),
        (math.nan, "—"),
        (math.inf, "—"),
    ],
)
def test_times_are_written_in_the_predecessor_form(
    seconds: float | None, expected: str
) -> None:
    """Two decimals from a microsecond on, one below, the largest unit that fits."""
    assert expected == text.value(seconds, SECONDS)


@pytest.mark.parametrize(
    ("unit", "number", "expected"),
    [
        (BYTES, 512, "512 B"),
        (BYTES, 1024, "1.00 KiB"),
        (BYTES, 9_600_000, "9.16 MiB"),
        (BYTES, 2**20 - 1, "1.00 MiB"),
        (BYTES, 3 * 2**30, "3.00 GiB"),
        (Unit(name="bytes", is_exact=True), 9_600_001, "9,600,001 B"),
        (Unit(name="count", is_exact=True), 12_544, "12,544"),
        (Unit(name="count", is_exact=True), 0.1 + 0.2, "0.30000000000000004"),
        (Unit(name="ops/s"), 1000, "1,000 ops/s"),
        (Unit(name="ops/s"), 1234.56, "1,234.6 ops/s"),
        (Unit(name="Percent"), 0.1234567, "0.1235 Percent"),
        (Unit(name="unit"), 38, "38"),
        (Unit(name=""), 38, "38"),
    ],
)
def test_every_cell_carries_its_own_unit(
    unit: Unit, number: float, expected: str
) -> None:
    """Sizes scale by 1024, exact values keep all digits, the rest keep their unit."""
    assert expected == text.value(number, unit)


@pytest.mark.parametrize(
    ("fraction", "is_exact", "expected"),
    [
        (0.49, False, "+49.0%"),
        (-0.003, False, "-0.3%"),
        (0.0, False, "+0.0%"),
        (-0.0, False, "+0.0%"),
        (-0.0004, False, "+0.0%"),
        (1.3, False, "+130.0%"),
        (-1.0, False, "-100.0%"),
        (1e-7, True, "+0.00001%"),
        (-1e-7, True, "-0.00001%"),
        (0.0, True, "+0.0%"),
        (None, False, "—"),
        (math.nan, False, "—"),
        (math.inf, False, "—"),
        (1.7e308, False, "—"),
    ],
)
def test_changes_have_one_decimal_and_a_sign(
    fraction: float | None, *, is_exact: bool, expected: str
) -> None:
    """Zero is +0.0%, never -0.0%; an exact difference never rounds to nothing."""
    assert expected == text.change(fraction, is_exact=is_exact)


@given(st.floats(), st.sampled_from(["seconds", "bytes", "count", "x"]), st.booleans())
def test_any_number_has_a_short_text_without_words(
    number: float, name: str, is_exact: bool
) -> None:
    """Whatever a file holds, a cell stays readable and says no nan or inf."""
    unit = Unit(name=name, is_exact=is_exact)
    for shown in (
        text.value(number, unit),
        text.change(number, is_exact=is_exact),
        text.size(number),
    ):
        assert 0 < len(shown) < 32
        assert not re.search("nan|inf|none", shown, re.IGNORECASE)


@given(st.floats(1e-9, 1e6), st.floats(1e-9, 1e6))
def test_larger_times_never_read_as_smaller(one: float, two: float) -> None:
    """Reading a cell back gives the value to within its last digit, in order."""
    scale = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}

    def read(seconds: float) -> float:
        number, unit = text.value(seconds, SECONDS).split()
        return float(number) * scale[unit]

    small, large = sorted((one, two))
    assert read(small) <= read(large) * (1 + 1e-12)
    assert read(small) == pytest.approx(small, rel=0.051)
