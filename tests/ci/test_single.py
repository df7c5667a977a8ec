"""Two single result sets: policy sizes, honest about confirming nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.model import (
    Commit,
    Direction,
    FailOn,
    Failure,
    FailureKind,
    Policy,
    Reading,
    Report,
    ResultSet,
    Row,
    Unit,
    Verdict,
)
from ci.verdict import judge_sets
from tests.ci.runs import COUNT, result_set

POLICY = Policy()
SEED = Path(__file__).parents[1] / "data" / "seed" / "rows.json"
MARKS = {"🔴": "alert", "⚠️": "warn", "✅": "unchanged", "🟢": "improved"}
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3}
MORE_DIGITS = {"logit_processing/seven_processor_chain_per_step": 1.1762e-3}
"""Printed as 1.18 ms and -12.2 %; rounded, it would change places with the row
above it, which has the same printed change and two more digits."""


def _report(
    base: float | Reading, head: float | Reading, fail_on: FailOn | None = None
) -> Report:
    return judge_sets(result_set(row=base), result_set(row=head), POLICY, fail_on)


def _row(base: float | Reading, head: float | Reading) -> Row:
    (row,) = _report(base, head).rows
    return row


def _broken(kind: FailureKind = FailureKind.FAILED) -> Reading:
    return Reading(value=None, failure=Failure(kind=kind, message="boom"))


def test_a_published_comment_is_reproduced() -> None:
    """Forty-eight printed rows: the same statuses in the same order."""
    rows = json.loads(SEED.read_text(encoding="utf-8"))

    def seconds(text: str) -> float:
        number, unit = text.split()
        return float(number) * UNITS[unit]

    base = {row["scenario"]: seconds(row["base"]) for row in reversed(rows)}
    head = {row["scenario"]: seconds(row["pr"]) for row in rows} | MORE_DIGITS

    report = judge_sets(result_set(**base), result_set(**head), POLICY)

    assert [row.verdict for row in report.rows] == [MARKS[r["status"]] for r in rows]
    assert [row.scenario for row in report.rows] == [r["scenario"] for r in rows]
    assert (report.overall, report.exit_status) == (Verdict.ALERT, 0)


@pytest.mark.parametrize(
    ("head", "verdict"),
    [
        (1.30, Verdict.ALERT),
        (1.2999, Verdict.WARN),
        (1.15, Verdict.WARN),
        (1.1499, Verdict.UNCHANGED),
        (1.0, Verdict.UNCHANGED),
        (0.8501, Verdict.UNCHANGED),
        (0.85, Verdict.IMPROVED),
    ],
)
@pytest.mark.parametrize("base", [1.0, 3e-7, 0.1, 7.7e5])
def test_bounds_are_inclusive(head: float, verdict: Verdict, base: float) -> None:
    """An exact +15 % made of binary fractions is a warning at any size."""
    assert _row(base, base * head).verdict is verdict


@given(st.floats(1e-9, 1e3), st.floats(0.2, 5), st.floats(1e-3, 1e3))
def test_the_unit_of_measure_does_not_matter(
    base: float, ratio: float, factor: float
) -> None:
    """Milliseconds on both sides say what seconds say."""
    one, other = _row(base, base * ratio), _row(base * factor, base * ratio * factor)

    assert one.change == pytest.approx(other.change, rel=1e-9, abs=1e-12)


@given(st.floats(1e-9, 1e9))
def test_a_value_against_itself_is_no_change(value: float) -> None:
    """A against A."""
    row = _row(value, value)

    assert (row.verdict, row.change) == (Verdict.UNCHANGED, 0.0)


def test_nothing_is_confirmed_and_the_report_says_so() -> None:
    """Three times slower in single sets: shown, 🔴, and not failing by default."""
    report = _report(1.0, 3.0)
    (row,) = report.rows

    assert (row.verdict, row.is_confirmed, row.launches) == (Verdict.ALERT, False, 1)
    assert row.thresholds is not None
    assert row.thresholds.source == "uncalibrated"
    assert report.noise_source == "uncalibrated, not confirmed"
    assert any(note.startswith(report.noise_source) for note in report.notes)
    assert report.exit_status == 0


@pytest.mark.parametrize(
    ("head", "fail_on", "status"),
    [
        (1.2, FailOn.WARN, 1),
        (1.2, FailOn.ALERT, 0),
        (3.0, FailOn.ALERT, 1),
        (3.0, FailOn.NEVER, 0),
        (_broken(), None, 1),
        (_broken(), FailOn.NEVER, 2),
    ],
)
def test_what_fails_the_check(
    head: float | Reading, fail_on: FailOn | None, status: int
) -> None:
    """Flags only when asked for; a scenario that no longer works always."""
    assert _report(1.0, head, fail_on).exit_status == status


def test_throughput_is_worse_when_it_falls() -> None:
    """15 % less is a warning, 15 % more is better."""
    unit = Unit(name="1/s", direction=Direction.HIGHER)

    def row(head: float) -> Row:
        return _row(Reading(value=100.0, unit=unit), Reading(value=head, unit=unit))

    assert row(85.0).verdict is Verdict.WARN
    assert row(85.0).change == pytest.approx(-0.15)
    assert row(50.0).verdict is Verdict.ALERT
    assert row(115.0).verdict is Verdict.IMPROVED


def test_zero_on_the_base_has_no_ratio() -> None:
    """0 to 12 is never silently green; a time of 0 or less is none, on either side."""
    clock = (_row(0.0, 0.0), _row(-1.0, -1.0))
    for row in (*clock, _row(0.0, 12.0), _row(12.0, 0.0), _row(-1.0, 1.0)):
        assert (row.verdict, row.change) == (Verdict.INCONCLUSIVE, None)
        assert "no ratio" in row.reason


@pytest.mark.parametrize("count", [0.0, -3.0])
def test_a_count_that_stays_is_no_change(count: float) -> None:
    """No misses before and none now: unlike a time, a count may be 0."""
    reading = Reading(value=count, unit=Unit(name="misses"))

    assert _row(reading, reading).verdict is Verdict.UNCHANGED


def test_a_changed_unit_has_no_ratio() -> None:
    """950 and 1.05 are not a 900-fold improvement."""
    row = _row(Reading(value=950.0, unit=Unit(name="widgets")), 1.05)

    assert (row.verdict, row.change) == (Verdict.INCONCLUSIVE, None)
    assert row.reason.startswith("unit changed from widgets to seconds")


def test_exact_units_gate_exactly() -> None:
    """A count needs no launches: one page-in more fails the check."""
    report = _report(Reading(value=7.0, unit=COUNT), Reading(value=8.0, unit=COUNT))
    (row,) = report.rows

    assert (row.verdict, row.is_confirmed) == (Verdict.ALERT, True)
    assert report.exit_status == 1


@pytest.mark.parametrize(
    ("base", "head", "verdict", "is_blocking"),
    [
        (1.0, _broken(), Verdict.FAILED, True),
        (1.0, _broken(FailureKind.NOT_MEASURED), Verdict.FAILED, True),
        (1.0, Reading(value=None), Verdict.FAILED, True),
        (_broken(), 1.0, Verdict.ADDED, True),
        (_broken(FailureKind.UNREADABLE), 1.0, Verdict.INCONCLUSIVE, True),
        (_broken(), _broken(), Verdict.FAILED, False),
        (
            _broken(FailureKind.SKIPPED),
            _broken(FailureKind.SKIPPED),
            Verdict.INCONCLUSIVE,
            True,
        ),
    ],
)
def test_table_of_missing_values(
    base: float | Reading, head: float | Reading, verdict: Verdict, is_blocking: bool
) -> None:
    """A result file has no budget: no value in the PR is a scenario lost."""
    row = _row(base, head)

    assert (row.verdict, row.is_blocking, row.change) == (verdict, is_blocking, None)
    assert row.reason


def test_rows_of_one_side_are_shown() -> None:
    """Nothing is dropped; without a common row there is no verdict."""
    report = judge_sets(result_set(old=1.0), result_set(new=1.0), POLICY)

    assert {row.scenario: row.verdict for row in report.rows} == {
        "old": Verdict.REMOVED,
        "new": Verdict.ADDED,
    }
    assert (report.overall, report.exit_status) == (Verdict.INCONCLUSIVE, 2)
    assert report.notes[0].startswith("0 scenarios compared")


def test_an_empty_base_is_named() -> None:
    """An empty file is not an accepted base."""
    notes = judge_sets(result_set(), result_set(row=1.0), POLICY).notes

    assert any(note.startswith("no base results") for note in notes)


def _facts(side: ResultSet, **facts: str) -> ResultSet:
    return replace(side, facts=facts)


def test_different_processors_come_first() -> None:
    """Two machines explain any change: said before the table, and louder."""
    base = _facts(result_set(row=1.0), python="3.12", cpu="EPYC 7763")
    head = _facts(result_set(row=1.2), python="3.13", cpu="EPYC 9V74")

    report = judge_sets(base, head, POLICY)

    assert report.notes[0].startswith("different processors: cpu is EPYC 7763")
    assert report.notes[1].startswith("python differs: 3.12")
    assert report.facts["cpu"] == "EPYC 7763 (base), EPYC 9V74 (PR)"
    assert not any(row.is_confirmed for row in report.rows)


def test_a_single_sample_is_noted() -> None:
    """Three times slower from one sample: shown with its size, not hidden as noise."""
    row = _row(Reading(value=1.0, samples=1), Reading(value=3.0, samples=9))

    assert row.verdict is Verdict.ALERT
    assert row.notes[0].startswith("single sample")


def test_leftover_files_are_noted() -> None:
    """Equal bytes on both sides are not believed without a word."""
    stale = _row(Reading(value=1.0, digest="d"), Reading(value=1.0, digest="d"))
    fresh = _row(Reading(value=1.0), Reading(value=1.0))

    assert "byte for byte" in stale.notes[0]
    assert fresh.notes == ()


@pytest.mark.parametrize(
    ("base", "head", "is_noted"),
    [
        ("2026-02-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00", True),
        ("2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00", False),
        ("2026-02-01", "2026-01-01T00:00:00+00:00", False),
        ("", "yesterday", False),
    ],
)
def test_swapped_arguments_are_suspected(base: str, head: str, is_noted: bool) -> None:
    """A base newer than the PR is worth a look; unreadable dates are not."""
    sides = [
        replace(result_set(row=1.0), commit=Commit(sha="a", date=date))
        for date in (base, head)
    ]

    notes = judge_sets(*sides, POLICY).notes

    assert any("newer than the PR" in note for note in notes) is is_noted


def test_notes_of_both_sides_are_kept() -> None:
    """A reader's warning is not lost on the way; the side is named."""
    base = replace(result_set(row=1.0), notes=("one", "both"))
    head = replace(result_set("asv", row=1.0), notes=("both", "two"))

    notes = judge_sets(base, head, POLICY).notes

    assert {"base: one", "PR: two", "both"} <= set(notes)
    assert any(note.startswith("different tools") for note in notes)
