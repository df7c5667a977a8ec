"""Rows measured under unlike conditions give no verdict."""

from __future__ import annotations

from dataclasses import replace

from ci.circumstances import part_common, under_labels
from ci.model import SECONDS, Arm, Row, Verdict
from ci.runs import Measurement

ROW = Row(
    scenario="matmul",
    verdict=Verdict.UNCHANGED,
    unit=SECONDS,
    change=0.001,
    is_confirmed=True,
)


def trial(base: dict[str, str], head: dict[str, str]) -> Measurement:
    """Return a measurement with these labels."""
    return Measurement(
        scenario="matmul",
        samples={},
        labels={Arm.BASE: base, Arm.HEAD: head, Arm.CONTROL: base},
    )


def test_equal_labels_stand_beside_the_row() -> None:
    """What a row was measured under is kept, and changes no verdict."""
    row = under_labels(ROW, [trial({"threads": "2"}, {"threads": "2"})])

    assert row.verdict is Verdict.UNCHANGED
    assert row.labels == {"threads": "2"}


def test_other_width_in_the_pr_is_not_comparable() -> None:
    """A head that realized fewer threads is neither green nor red."""
    row = under_labels(ROW, [trial({"threads": "2"}, {"threads": "1"})])

    assert row.verdict is Verdict.INCONCLUSIVE
    assert not row.is_confirmed
    assert row.reason == (
        "measured under different conditions: threads 2 on the base, 1 in the PR; "
        "make them equal"
    )


def test_label_that_one_side_lacks_is_a_difference() -> None:
    """Nothing said is not the same as the same said."""
    row = under_labels(ROW, [trial({"mode": "fast"}, {})])

    assert row.verdict is Verdict.INCONCLUSIVE
    assert "fast on the base, none in the PR" in row.reason


def test_label_that_varies_over_launches_alike_is_no_difference() -> None:
    """Sides that varied in the same way are comparable; both texts are kept."""
    one, two = {"mode": "a"}, {"mode": "b"}
    row = under_labels(ROW, [trial(one, two), trial(two, one)])

    assert row.verdict is Verdict.UNCHANGED
    assert row.labels == {"mode": "a or b"}


def test_what_most_rows_share_is_said_once() -> None:
    """A label of the whole run leaves the rows; one of a few stays with them."""
    rows = [
        replace(ROW, labels={"set": "AVX", "threads": "8"}),
        replace(ROW, labels={"set": "AVX"}),
        replace(ROW, labels={}),
    ]

    parted, common = part_common(rows)

    assert common == {"set": "AVX"}
    assert [row.labels for row in parted] == [{"threads": "8"}, {}, {}]


def test_label_that_differs_between_rows_stays_with_them() -> None:
    """Nothing that is not true of every row that says it becomes a fact of all."""
    rows = [replace(ROW, labels={"set": text}) for text in ("AVX", "SSE")]

    assert part_common(rows) == (rows, {})
