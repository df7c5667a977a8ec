"""What a missing value means: whose fault, in how many launches, what to do."""

from __future__ import annotations

import pytest

from ci.model import FailureKind, Row, Verdict
from ci.presence import settle_readings, settle_run, told
from ci.runs import Measurement
from tests.ci.runs import counted, failure, scenario

FAILED, SKIPPED = FailureKind.FAILED, FailureKind.SKIPPED
LATE, CRASHED = FailureKind.NOT_MEASURED, FailureKind.CRASHED
OK = None
Side = FailureKind | None


def _trials(*launches: tuple[Side, Side, Side]) -> list[Measurement]:
    """Return launches told as base, head, control."""
    made: list[Measurement] = []
    for sides in launches:
        base, head, control = (1.0 if s is OK else failure(s) for s in sides)
        made += counted("row", (base, head, control))
    return made


def _settled(*launches: tuple[Side, Side, Side]) -> Row:
    row = settle_run(scenario("row"), _trials(*launches))
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("launches", "verdict", "is_blocking", "words"),
    [
        ([(OK, FAILED, OK)] * 4, Verdict.FAILED, True, "in the PR, failed: boom"),
        ([(OK, SKIPPED, OK)] * 4, Verdict.FAILED, True, "skipped"),
        (
            [(OK, OK, OK)] * 3 + [(OK, CRASHED, OK)],
            Verdict.FAILED,
            True,
            "crashed in 1 of 4 launches: boom",
        ),
        (
            [(OK, OK, OK)] * 3 + [(FAILED, OK, OK)],
            Verdict.INCONCLUSIVE,
            True,
            "the base itself is unsteady, failed in 1 of 4 launches",
        ),
        (
            [(OK, CRASHED, OK)] * 3 + [(OK, OK, CRASHED)],
            Verdict.INCONCLUSIVE,
            True,
            "in the PR, crashed in 3 of 4 launches",
        ),
        ([(FAILED, OK, FAILED)] * 4, Verdict.ADDED, True, "the base cannot run it"),
        (
            [(FAILED, FAILED, FAILED)] * 4,
            Verdict.FAILED,
            False,
            "also fails on the base",
        ),
        (
            [(SKIPPED, SKIPPED, SKIPPED)] * 4,
            Verdict.INCONCLUSIVE,
            True,
            "no value on either side",
        ),
        ([(OK, LATE, OK)] * 4, Verdict.INCONCLUSIVE, True, "larger budget"),
        ([(LATE, LATE, LATE)] * 4, Verdict.INCONCLUSIVE, True, "larger budget"),
        ([(FAILED, LATE, FAILED)], Verdict.INCONCLUSIVE, True, "PR not measured"),
        ([], Verdict.INCONCLUSIVE, True, "not measured"),
    ],
)
def test_table_of_missing_values(
    launches: list[tuple[Side, Side, Side]],
    verdict: Verdict,
    is_blocking: bool,
    words: str,
) -> None:
    """Broken by the PR, never worked, unsteady, or out of time: never confused."""
    row = _settled(*launches)

    assert (row.verdict, row.is_blocking) == (verdict, is_blocking)
    assert words in row.reason


def test_out_of_budget_in_some_launches_leaves_a_row_to_judge() -> None:
    """What was not measured is neither a failure nor in the way."""
    trials = _trials((OK, OK, OK), (OK, OK, OK), (LATE, LATE, LATE))

    assert settle_run(scenario("row"), trials) is None


def test_a_broken_row_keeps_its_base_value() -> None:
    """What was lost is shown beside what broke."""
    assert _settled((OK, FAILED, OK)).base == 1.0


@pytest.mark.parametrize("on_base", [True, False])
def test_a_row_of_one_suite_is_information(on_base: bool) -> None:
    """Only in the PR, or only in the base; a failure of it is told, not judged."""
    row = settle_run(
        scenario("row", on_base=on_base, on_head=not on_base),
        _trials((FAILED, FAILED, FAILED)),
    )

    assert row is not None
    assert row.verdict is (Verdict.REMOVED if on_base else Verdict.ADDED)
    assert row.reason == "failed: boom"


def test_samples_that_do_not_fit_the_blocks_are_not_measured() -> None:
    """A damaged launch is neither read by guess nor blamed on the PR."""
    (trial,) = _trials((OK, OK, OK))
    damaged = Measurement(
        scenario="row", samples=trial.samples, orders=("bhc",), failures={}
    )

    row = settle_run(scenario("row"), [damaged])

    assert row is not None
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "1 samples where its blocks need 2" in row.reason


def test_a_foreign_message_stays_one_bounded_line() -> None:
    """A traceback in a message cannot break the table."""
    text = told(failure(FAILED, "first\nsecond\t" + "x" * 500))

    assert text.startswith("failed: first second xxx")
    assert "\n" not in text
    assert len(text) < 220


def test_a_row_needs_a_side() -> None:
    """A programming error is not a verdict."""
    with pytest.raises(ValueError, match="neither side"):
        settle_readings("row", None, None)
