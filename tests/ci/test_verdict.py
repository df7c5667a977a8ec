"""The verdict table of a run, and what the rows make of the whole."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.model import (
    SECONDS,
    Arm,
    Direction,
    FailOn,
    Failure,
    FailureKind,
    Policy,
    Report,
    Row,
    Unit,
    Verdict,
)
from ci.runs import Kind, Measurement
from ci.verdict import exit_status, join, judge_run, overall
from tests.ci.runs import (
    COUNT,
    RATE,
    TOKENS,
    counted,
    failure,
    noisy,
    quiet_rows,
    run_of,
    scenario,
    timed,
)

POLICY = Policy()
PER_SECOND = Unit(name="1/s", direction=Direction.HIGHER)


def _row(report: Report, name: str = "row") -> Row:
    (row,) = [row for row in report.rows if row.scenario == name]
    return row


def _judge(trials: list[Measurement], **changed: object) -> Row:
    """Return the row of ``trials`` among enough quiet rows to know their class."""
    rows = {"row": trials, **quiet_rows()}
    scenarios = [scenario("row", **changed), *map(scenario, quiet_rows())]
    return _row(judge_run(run_of(rows, scenarios=scenarios), POLICY))


# --- Rows about time ---------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sigma", "verdict", "is_confirmed"),
    [
        (0.00, 0.002, Verdict.UNCHANGED, False),
        (0.02, 0.001, Verdict.UNCHANGED, True),  # real, below the warn size
        (0.06, 0.002, Verdict.WARN, True),
        (0.30, 0.005, Verdict.ALERT, True),
        (-0.20, 0.005, Verdict.IMPROVED, True),
        (0.00, 0.300, Verdict.INCONCLUSIVE, False),
        (0.10, 0.200, Verdict.INCONCLUSIVE, False),
    ],
)
def test_verdict_table(
    change: float, sigma: float, verdict: Verdict, is_confirmed: bool
) -> None:
    """Each verdict about time, from samples: the size and the noise decide."""
    rows = {"row": noisy("row", change=change, sigma=sigma), **quiet_rows(sigma=0.001)}

    row = _row(judge_run(run_of(rows), POLICY))

    assert row.verdict is verdict
    assert row.is_confirmed is is_confirmed


def test_a_planted_doubling_alerts_and_fails_the_check() -> None:
    """The point of the gate: 2x slower, 🔴, status 1, and by how much."""
    report = judge_run(
        run_of({"row": noisy("row", change=1.0), **quiet_rows()}), POLICY
    )
    row = _row(report)

    assert (report.overall, report.exit_status) == (Verdict.ALERT, 1)
    assert report.rows[0] is row
    assert row.change == pytest.approx(1.0, abs=0.03)
    assert row.interval is not None
    assert row.interval.low < 1.0 < row.interval.high
    assert row.head is not None
    assert row.head == pytest.approx(2e-5, rel=0.03)


def test_values_shown_agree_with_the_change_beside_them() -> None:
    """Launches of two speeds: base and PR are shown from the same launches."""
    # Medians: 1 on the base and 1.2 in the PR, so +20 %, where the paired change
    # is +8 % in the mean and less where two launches of five are clipped.
    launches = [(1, 1.0), (2, 1.0), (2, 1.0), (1, 1.2), (1, 1.2)]
    trials = timed(
        "row", *((1e-5 * s, 1e-5 * s * ratio, 1e-5 * s) for s, ratio in launches)
    )
    row = _judge(trials)

    assert row.base is not None
    assert row.head is not None
    assert row.change is not None
    assert row.head / row.base - 1 == pytest.approx(row.change, abs=0.1)


def test_each_look_raises_the_bound_of_a_flag() -> None:
    """A run judged, continued and judged again pays for having been looked at."""
    run = run_of({"row": noisy("row", change=0.06, sigma=0.02), **quiet_rows()})
    once = _row(judge_run(run, POLICY))
    often = _row(judge_run(replace(run, looks=8), POLICY))

    assert once.resolution is not None
    assert often.resolution is not None
    assert often.resolution > once.resolution


def test_sides_with_unlike_labels_are_not_compared() -> None:
    """A doubling at another width is no regression and no green row."""
    labels = {Arm.BASE: {"threads": "2"}, Arm.HEAD: {"threads": "1"}}
    trials = [replace(t, labels=labels) for t in noisy("row", change=1.0)]

    assert _judge(trials).verdict is Verdict.INCONCLUSIVE


def test_an_unchanged_run_is_quiet() -> None:
    """A against A: green, status 0, nothing confirmed."""
    report = judge_run(run_of(quiet_rows(12)), POLICY)

    assert (report.overall, report.exit_status) == (Verdict.UNCHANGED, 0)
    assert not any(row.is_confirmed for row in report.rows)
    assert report.compared == 12
    assert report.control_values == 48


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 0.5), st.integers(0, 99))
def test_swapping_sides_mirrors_the_change(change: float, seed: int) -> None:
    """What is slower one way is faster the other, by the inverse ratio."""
    there = noisy("row", change=change, seed=seed)
    back = [
        replace(t, samples={
            Arm.BASE: t.samples[Arm.HEAD],
            Arm.HEAD: t.samples[Arm.BASE],
            Arm.CONTROL: t.samples[Arm.HEAD],
        })
        for t in noisy("row", change=change, seed=seed)
    ]  # fmt: skip
    there = [
        replace(t, samples={**t.samples, Arm.CONTROL: t.samples[Arm.BASE]})
        for t in there
    ]

    one, other = _judge(there), _judge(back)

    assert one.change is not None
    assert other.change is not None
    assert (1 + one.change) * (1 + other.change) == pytest.approx(1, rel=1e-6)
    assert one.interval is not None
    assert other.interval is not None
    assert (1 + one.interval.low) * (1 + other.interval.high) == pytest.approx(1)


@pytest.mark.parametrize("launches", [1, 2, 3])
@pytest.mark.parametrize("change", [0.0, 9.0])
def test_fewer_than_four_launches_say_nothing(launches: int, change: float) -> None:
    """Neither red nor green: the row says how many launches a verdict needs."""
    report = judge_run(
        run_of(
            {
                "row": noisy("row", change=change, launches=launches),
                **quiet_rows(launches=launches),
            }
        ),
        POLICY,
    )

    assert {row.verdict for row in report.rows} == {Verdict.INCONCLUSIVE}
    assert "of the 4 launches" in _row(report).reason
    assert report.exit_status == 2
    assert any("needs 4" in note for note in report.notes)


def test_one_bad_launch_of_four_makes_no_flag() -> None:
    """Ten times slower in one launch is a bad launch."""
    trials = noisy("row")
    trials[1] = noisy("row", change=9.0, launches=1)[0]

    assert not _judge(trials).is_confirmed


def test_one_bad_launch_of_four_hides_no_slowdown() -> None:
    """Twice as slow in three launches and twice as fast in one: still told."""
    trials = noisy("row", change=1.0, sigma=0.003, launches=5)
    trials[1] = noisy("row", change=-0.5, launches=1)[0]

    assert _judge(trials).verdict is Verdict.ALERT


def test_a_constant_difference_without_any_spread_is_told() -> None:
    """A control that is exactly 0 leaves a floor of 0.1 %, not 0 and not infinity."""
    report = judge_run(
        run_of({f"r{i}": timed(f"r{i}", *[(1.0, 1.2, 1.0)] * 4) for i in range(5)}),
        POLICY,
    )

    assert {row.verdict for row in report.rows} == {Verdict.ALERT}
    assert all(row.resolution == pytest.approx(0.0128, abs=5e-4) for row in report.rows)


def test_below_one_percent_nothing_is_flagged() -> None:
    """Without any spread +0.9 % would be infinitely significant; it is green."""
    row = _judge(timed("row", *[(1.0, 1.009, 1.0)] * 4))

    assert (row.verdict, row.is_confirmed) == (Verdict.UNCHANGED, False)


def test_a_nanosecond_is_never_flagged() -> None:
    """+10 % of a 9 ns call is less than 1 ns a call; of 9 µs it is an alert."""
    short = _judge(timed("row", *[(9e-9, 9.9e-9, 9e-9)] * 4))
    long = _judge(timed("row", *[(9e-6, 9.9e-6, 9e-6)] * 4))

    assert not short.is_confirmed
    assert long.verdict is Verdict.ALERT


def test_thresholds_rise_to_what_the_runner_can_resolve() -> None:
    """A noisy row shows the size it was judged by, and where it came from."""
    quiet, loud = _judge(noisy("row", sigma=0.001)), _judge(noisy("row", sigma=0.2))

    assert quiet.thresholds is not None
    assert loud.thresholds is not None
    assert loud.thresholds.source == "runner"
    assert loud.thresholds.warn > 0.1
    assert loud.thresholds.alert == loud.thresholds.warn
    assert loud.thresholds.gate == POLICY.gate
    assert quiet.thresholds.alert == POLICY.alert


def test_a_class_with_few_control_values_warns_at_most() -> None:
    """Sixteen values of the control tell too little: ⚠️, and the check is neutral."""
    rows = {"row": noisy("row", change=1.0), **quiet_rows(3)}

    report = judge_run(run_of(rows), POLICY, FailOn.WARN)
    row = _row(report)

    assert (row.verdict, row.is_confirmed, row.is_blocking) == (
        Verdict.WARN,
        True,
        False,
    )
    assert any("20 control values" in note for note in row.notes)
    assert (report.overall, report.exit_status) == (Verdict.WARN, 0)


def test_throughput_is_worse_when_it_falls() -> None:
    """Half the rate is 🔴 at -50 %, twice the rate is 🟢 at +100 %."""
    fallen = _judge(noisy("row", change=-0.5), unit=PER_SECOND)
    risen = _judge(noisy("row", change=1.0), unit=PER_SECOND)

    assert fallen.change == pytest.approx(-0.5, abs=0.02)
    assert fallen.interval is not None
    assert fallen.interval.low < -0.5 < fallen.interval.high
    assert (fallen.is_confirmed, fallen.verdict) == (True, Verdict.WARN)  # own class
    assert risen.verdict is Verdict.IMPROVED


def test_without_a_direction_any_change_is_worse() -> None:
    """A noisy figure with no better side is flagged on both, and never green for it."""
    unit = Unit(name="x", direction=Direction.NONE)

    for change in (-0.5, 1.0):
        assert _judge(noisy("row", change=change), unit=unit).verdict is Verdict.WARN


def test_a_row_measured_in_fewer_launches_says_so() -> None:
    """Lost launches are named on the row, and the rest is judged."""
    trials = noisy("row", launches=5)
    rows = {"row": [*trials[:4]], **quiet_rows(launches=5)}

    row = _row(judge_run(run_of(rows, launches=5), POLICY))

    assert row.launches == 4
    assert any("1 of 5 launches" in note for note in row.notes)


# --- Samples that are no measurement -----------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("arm", list(Arm))
def test_bad_samples_never_flag_and_are_never_green(bad: float, arm: Arm) -> None:
    """NaN, zero and negative times: ❔ with what to do about it."""
    trials = noisy("row", change=1.0)
    values = (bad, *trials[0].samples[arm][1:])
    trials[0] = replace(trials[0], samples={**trials[0].samples, arm: values})

    row = _judge(trials)

    assert row.verdict is Verdict.INCONCLUSIVE
    assert "zero or quantised samples" in row.reason
    assert row.change is None


def test_a_clock_of_few_ticks_cannot_tell() -> None:
    """Samples of 3 or 4 ticks: one tick of difference is no 33 % slowdown."""
    trials = timed("row", *[(3.0, 4.0, 3.0)] * 4)
    trials = [
        replace(t, samples={**t.samples, Arm.BASE: (4.0, *t.samples[Arm.BASE][1:])})
        for t in trials
    ]

    assert _judge(trials).verdict is Verdict.INCONCLUSIVE


def test_a_constant_zero_is_no_change_only_if_everything_is_zero() -> None:
    """0, 0, 0 in four launches is no change; 0 against 12 has no ratio."""
    steady = _judge(counted("row", *[(0.0, 0.0, 0.0)] * 4), kind=Kind.TRACK, unit=RATE)
    moved = _judge(counted("row", *[(0.0, 12.0, 0.0)] * 4), kind=Kind.TRACK, unit=RATE)
    young = _judge(counted("row", (0.0, 0.0, 0.0)), kind=Kind.TRACK, unit=RATE)

    assert (steady.verdict, steady.change) == (Verdict.UNCHANGED, 0.0)
    assert (moved.verdict, moved.change) == (Verdict.INCONCLUSIVE, None)
    assert "no ratio" in moved.reason
    assert young.verdict is Verdict.INCONCLUSIVE


# --- Exact rows --------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "head", "unit", "verdict"),
    [
        (7.0, 7.0, COUNT, Verdict.UNCHANGED),
        (7.0, 8.0, COUNT, Verdict.ALERT),
        (7.0, 6.0, COUNT, Verdict.IMPROVED),
        (0.0, 1.0, COUNT, Verdict.ALERT),
        (0.0, 0.0, COUNT, Verdict.UNCHANGED),
        (7.0, 6.0, replace(COUNT, direction=Direction.HIGHER), Verdict.ALERT),
        (7.0, 8.0, replace(COUNT, direction=Direction.HIGHER), Verdict.IMPROVED),
        (7.0, 6.0, replace(COUNT, direction=Direction.NONE), Verdict.ALERT),
        (7.0, 7.0, replace(COUNT, direction=Direction.NONE), Verdict.UNCHANGED),
    ],
)
def test_exact_units_gate_exactly_from_one_launch(
    base: float, head: float, unit: Unit, verdict: Verdict
) -> None:
    """Any difference is a difference; no size, no noise, no minimum of launches."""
    run = run_of(
        {"row": counted("row", (base, head, base))},
        scenarios=[scenario("row", unit=unit, kind=Kind.TRACK)],
    )

    report = judge_run(run, POLICY)
    row = _row(report)

    assert row.verdict is verdict
    assert row.thresholds is not None
    assert row.thresholds.source == "exact"
    assert report.exit_status == (1 if verdict is Verdict.ALERT else 0)


def test_an_exact_change_from_zero_gives_both_numbers_and_no_ratio() -> None:
    """0 to 3 page-ins is red; dividing by the 0 is not attempted."""
    row = _judge(counted("row", (0.0, 3.0, 0.0)), unit=COUNT)

    assert (row.verdict, row.change) == (Verdict.ALERT, None)
    assert "0 on the base, 3 in the PR" in row.reason


def test_an_exact_unit_that_varies_on_the_base_cannot_tell() -> None:
    """Base, control and all launches must agree before head is looked at."""
    by_launch = counted("row", (7.0, 8.0, 7.0), (6.0, 8.0, 6.0))
    by_copy = counted("row", (7.0, 9.0, 8.0))

    for trials in (by_launch, by_copy):
        row = _judge(trials, unit=COUNT)
        assert row.verdict is Verdict.INCONCLUSIVE
        assert "varies on the base" in row.reason


def test_an_exact_unit_that_varies_only_in_the_pr_alerts() -> None:
    """Not being constant any more is a difference, even where it is sometimes less."""
    row = _judge(counted("row", (7.0, 7.0, 7.0), (7.0, 6.0, 7.0)), unit=TOKENS)

    assert (row.verdict, row.head) == (Verdict.ALERT, None)
    assert "varies in the PR: 6, 7" in row.reason


def test_an_exact_nan_is_neither_flag_nor_green() -> None:
    """NaN equals nothing, itself included; that is no difference of two counts."""
    for values in ((math.nan, 7.0, 7.0), (7.0, math.nan, 7.0), (math.nan,) * 3):
        assert _judge(counted("row", values), unit=COUNT).verdict is (
            Verdict.INCONCLUSIVE
        )


def test_exact_rows_use_nothing_of_the_error_rate() -> None:
    """A thousand counters more do not raise the bound of one timing row."""
    alone = judge_run(run_of({"row": noisy("row")}), POLICY)
    many = {f"c{i}": counted(f"c{i}", *[(1.0, 1.0, 1.0)] * 4) for i in range(1000)}
    scenarios = [scenario("row"), *(scenario(name, unit=COUNT) for name in many)]

    among = judge_run(
        run_of({"row": noisy("row"), **many}, scenarios=scenarios), POLICY
    )

    assert _row(among).resolution == _row(alone).resolution


# --- The control -------------------------------------------------------------


def _contaminated() -> Report:
    moved = [
        replace(t, samples={**t.samples, Arm.CONTROL: t.samples[Arm.HEAD]})
        for t in noisy("row", change=0.5)
    ]
    broken = [failure(FailureKind.CRASHED, "signal 11")]
    rows = {
        "row": moved,
        "slow": noisy("slow", change=1.0, seed=3),
        "broken": counted("broken", (1.0, broken[0], 1.0)),
        **quiet_rows(),
    }
    return judge_run(run_of(rows), POLICY)


def test_a_moved_control_withdraws_every_verdict() -> None:
    """🧪: status 2, whatever the rows say; the numbers stay for the eye."""
    report = _contaminated()

    assert (report.overall, report.exit_status) == (Verdict.CONTAMINATED, 2)
    assert _row(report, "slow").verdict is Verdict.CONTAMINATED
    assert _row(report, "slow").change == pytest.approx(1.0, abs=0.05)
    assert not any(row.is_confirmed for row in report.rows)
    assert "row" in report.notes[0]
    assert report.notes[0].startswith("contaminated")


def test_a_broken_scenario_stays_visible_in_a_contaminated_run() -> None:
    """A crash does not depend on a quiet machine."""
    row = _row(_contaminated(), "broken")

    assert row.verdict is Verdict.FAILED
    assert "signal 11" in row.reason


# --- The whole ---------------------------------------------------------------


def test_every_scenario_is_exactly_one_row() -> None:
    """Nothing is dropped: judged, broken, new, gone and never measured."""
    boom = failure(FailureKind.FAILED)
    rows = {
        "judged": noisy("judged"),
        "broken": counted("broken", (1.0, boom, 1.0)),
        "new": counted("new", (boom, 1.0, boom)),
        "gone": counted("gone", (1.0, boom, 1.0)),
        "never": [],
    }
    scenarios = [
        scenario(name, on_base=name != "new", on_head=name != "gone") for name in rows
    ]

    report = judge_run(run_of(rows, scenarios=scenarios), POLICY)

    assert sorted(row.scenario for row in report.rows) == sorted(rows)
    assert {row.scenario: row.verdict for row in report.rows} == {
        "judged": Verdict.UNCHANGED,
        "broken": Verdict.FAILED,
        "new": Verdict.ADDED,
        "gone": Verdict.REMOVED,
        "never": Verdict.INCONCLUSIVE,
    }
    assert report.compared == 1


def test_an_incomplete_run_says_so_and_names_what_it_lacks() -> None:
    """Fewer launches than planned, and rows never reached, are in the header."""
    rows = {"never": [], **quiet_rows(launches=2)}

    report = judge_run(run_of(rows, is_complete=False), POLICY)

    text = "\n".join(report.notes)
    assert "2 of 4 planned launches" in text
    assert "never measured: never" in text


def test_nothing_compared_is_an_error() -> None:
    """An empty run is not a clean one."""
    for run in (run_of({}), run_of({"never": []})):
        report = judge_run(run, POLICY)

        assert (report.overall, report.exit_status) == (Verdict.INCONCLUSIVE, 2)
        assert report.notes[0].startswith("0 scenarios compared")


def test_rows_come_worst_first() -> None:
    """By verdict, then by size, then by name."""
    rows = {
        "a.slow": noisy("a.slow", change=0.5),
        "b.slower": noisy("b.slower", change=1.0),
        "c.broken": counted("c.broken", (1.0, failure(FailureKind.FAILED), 1.0)),
        "d.fast": noisy("d.fast", change=-0.5),
        "e.never": [],
        **quiet_rows(),
    }

    names = [row.scenario for row in judge_run(run_of(rows), POLICY).rows]

    assert names[:4] == ["b.slower", "a.slow", "c.broken", "e.never"]
    assert names[-1] == "d.fast"


def test_a_suite_that_moves_as_one_is_named() -> None:
    """Twenty-four rows, all 8 % faster: the cause is hardly in the rows."""
    rows = {f"r{i}": noisy(f"r{i}", change=-0.08, seed=i) for i in range(24)}

    (note,) = judge_run(run_of(rows), POLICY).notes

    assert note.startswith("whole suite -8")


def test_a_suite_that_moves_by_nothing_is_not() -> None:
    """All rows 0.5 % slower is below what any row is flagged for."""
    rows = {f"r{i}": timed(f"r{i}", *[(1.0, 1.005, 1.0)] * 4) for i in range(24)}

    assert judge_run(run_of(rows), POLICY).notes == ()


@pytest.mark.parametrize("apart", ["unit", "kind", "threads", "nothing"])
def test_a_class_is_unit_kind_and_threading(apart: str) -> None:
    """Nine loud rows raise the thresholds of the quiet ones only in one class."""
    loud = {f"loud{i}": noisy(f"loud{i}", sigma=0.2, seed=i) for i in range(9)}
    if apart == "threads":
        loud = {
            name: [replace(trial, is_multithreaded=True) for trial in trials]
            for name, trials in loud.items()
        }
    changed = {"unit": {"unit": RATE}, "kind": {"kind": Kind.TRACK}}.get(apart, {})
    quiet = {f"quiet{i}": noisy(f"quiet{i}", sigma=0.002, seed=i) for i in range(5)}
    scenarios = [scenario(name, **changed) for name in loud]
    scenarios += map(scenario, quiet)

    report = judge_run(run_of({**loud, **quiet}, scenarios=scenarios), POLICY)

    is_raised = _row(report, "quiet0").resolution > 0.05
    assert is_raised is (apart == "nothing")


def _with(verdict: Verdict, **changed: object) -> Row:
    fields = {"scenario": "s", "verdict": verdict, "unit": SECONDS, **changed}
    return Row(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("", Verdict.INCONCLUSIVE),
        ("added removed", Verdict.INCONCLUSIVE),
        ("improved added", Verdict.IMPROVED),
        ("improved unchanged removed", Verdict.UNCHANGED),
        ("unchanged inconclusive", Verdict.INCONCLUSIVE),
        ("inconclusive warn", Verdict.WARN),
        ("warn failed", Verdict.FAILED),
        ("failed alert warn", Verdict.ALERT),
        ("alert contaminated failed", Verdict.CONTAMINATED),
    ],
)
def test_overall_is_the_worst_of_the_rows(verdicts: str, expected: Verdict) -> None:
    """The lattice, step by step."""
    rows = [_with(Verdict(verdict)) for verdict in verdicts.split()]

    assert all(overall(order) is expected for order in itertools.permutations(rows))


@given(*[st.sampled_from(Verdict)] * 3)
def test_join_is_a_least_upper_bound(one: Verdict, two: Verdict, six: Verdict) -> None:
    """Commutative, associative, idempotent: the order of rows cannot matter."""
    assert join(one, two) is join(two, one)
    assert join(join(one, two), six) is join(one, join(two, six))
    assert join(one, one) is one


def test_a_failure_that_the_base_shares_does_not_fail_the_check() -> None:
    """It is a gap in what was measured, not a finding about the PR."""
    shared = _with(Verdict.FAILED, is_blocking=False)

    assert overall([shared, _with(Verdict.UNCHANGED)]) is Verdict.INCONCLUSIVE
    assert exit_status([shared, _with(Verdict.UNCHANGED)]) == 0
    assert exit_status([shared]) == 2


CONFIRMED = {"is_confirmed": True}


@pytest.mark.parametrize(
    ("rows", "default", "alert", "warn", "never"),
    [
        ([], 2, 2, 2, 2),
        ([_with(Verdict.INCONCLUSIVE)] * 3, 2, 2, 2, 2),
        ([_with(Verdict.ADDED), _with(Verdict.REMOVED)], 2, 2, 2, 2),
        ([_with(Verdict.UNCHANGED), _with(Verdict.INCONCLUSIVE)], 0, 0, 0, 0),
        ([_with(Verdict.IMPROVED, **CONFIRMED)], 0, 0, 0, 0),
        ([_with(Verdict.ALERT, **CONFIRMED)], 1, 1, 1, 0),
        ([_with(Verdict.WARN, **CONFIRMED)], 0, 0, 1, 0),
        ([_with(Verdict.WARN, is_blocking=False, **CONFIRMED)], 0, 0, 0, 0),
        ([_with(Verdict.ALERT)], 0, 1, 1, 0),
        ([_with(Verdict.WARN)], 0, 0, 1, 0),
        ([_with(Verdict.FAILED), _with(Verdict.UNCHANGED)], 1, 1, 1, 0),
        ([_with(Verdict.FAILED)], 1, 1, 1, 2),
        ([_with(Verdict.CONTAMINATED), _with(Verdict.FAILED)], 2, 2, 2, 2),
    ],
)
def test_exit_status_table(
    rows: list[Row], default: int, alert: int, warn: int, never: int
) -> None:
    """0 nothing wrong, 1 a finding that may fail the check, 2 no verdict."""
    chosen = (None, FailOn.ALERT, FailOn.WARN, FailOn.NEVER)

    assert tuple(exit_status(rows, choice) for choice in chosen) == (
        default,
        alert,
        warn,
        never,
    )


def test_a_failure_without_a_message_is_still_a_reason() -> None:
    """No row is left with an empty explanation for having no value."""
    nothing = Failure(kind=FailureKind.TIMED_OUT, message="")

    row = _judge(counted("row", (1.0, nothing, 1.0)))

    assert row.reason == "works on the base; in the PR, timed out"


@pytest.mark.parametrize("launches", [1, 3])
def test_too_few_launches_could_have_told_nothing(launches: int) -> None:
    """No size is claimed: beside it would stand a larger change that was not told."""
    row = _judge(noisy("row", change=1.0, launches=launches))

    assert (row.verdict, row.resolution) == (Verdict.INCONCLUSIVE, None)


def test_no_change_is_too_large_for_a_report() -> None:
    """An infinite change would be null in the document, which is then unreadable."""
    tiny, huge = 1e-300, 1e300
    rows = {f"r{i}": timed(f"r{i}", *[(tiny, huge, tiny)] * 4) for i in range(5)}
    report = judge_run(run_of(rows), POLICY)

    assert {row.verdict for row in report.rows} == {Verdict.ALERT}
    for row in report.rows:
        assert row.change is not None
        assert row.interval is not None
        assert math.isfinite(row.change)
        assert math.isfinite(row.interval.high)


def test_a_control_beyond_all_measure_is_still_told() -> None:
    """The sentence about it is made of a number that has no float."""
    rows = {f"r{i}": timed(f"r{i}", *[(1e300, 1e300, 1e-300)] * 4) for i in range(20)}

    assert judge_run(run_of(rows), POLICY).overall is Verdict.CONTAMINATED
