"""From what was measured to a report: every row judged, the whole, the status.

Each scenario becomes exactly one row; what could not be measured says so and is
never green. Marks and sentences for people are made in `ci.render`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from statistics import median
from typing import TYPE_CHECKING, Final

from ci.circumstances import part_common, under_labels
from ci.exact import judge_exact
from ci.model import FailOn, Policy, Report, ResultSet, Row, ScenarioId, Verdict
from ci.presence import (
    MEASURE_AGAIN,
    has_both_sides,
    is_whole,
    settle_run,
    unmeasured,
)
from ci.single import UNCALIBRATED, judge_readings, merged_facts, notes_on_sets
from ci.stats import MINIMUM_LAUNCHES
from ci.timing import LEAST_MARGIN, judge_timing, worsening

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ci.runs import Measurement, Run, Scenario

_CHAIN: Final = (
    Verdict.ADDED,
    Verdict.REMOVED,
    Verdict.IMPROVED,
    Verdict.UNCHANGED,
    Verdict.INCONCLUSIVE,
    Verdict.WARN,
    Verdict.FAILED,
    Verdict.ALERT,
    Verdict.CONTAMINATED,
)
_RANK: Final = {verdict: rank for rank, verdict in enumerate(_CHAIN)}
_DECIDED: Final = frozenset(
    {Verdict.ALERT, Verdict.WARN, Verdict.UNCHANGED, Verdict.IMPROVED}
)

_SHIFT_ROWS: Final = 20
_SHIFT_SHARE: Final = 0.8
"""Twenty rows of which 80 % move one way: 1 in 80 by chance."""
_LISTED: Final = 10
"""Names that a note lists."""


def judge_run(run: Run, policy: Policy, fail_on: FailOn | None = None) -> Report:
    """Judge base against head in a run of this gate, launch by launch."""
    trials = _by_scenario(run)
    settled, exact, timing = [], [], []
    for scenario in run.scenarios:
        row = settle_run(scenario, trials[scenario.id])
        if row is not None:
            settled.append(row)
        elif scenario.unit.is_exact:
            usable = [t for t in trials[scenario.id] if has_both_sides(t)]
            exact.append(_say_lost(judge_exact(scenario, usable), run))
        elif usable := list(filter(is_whole, trials[scenario.id])):
            timing.append((scenario, usable))
        else:
            settled.append(unmeasured(scenario, trials[scenario.id]))
    rows, signs, control_values = judge_timing(timing, policy, run.looks)
    labeled, facts = part_common(
        [under_labels(row, trials[row.scenario]) for row in rows]
    )
    judged = [*exact, *(_say_lost(row, run) for row in labeled)]
    if signs:
        judged = [
            replace(row, verdict=Verdict.CONTAMINATED, is_confirmed=False)
            for row in judged
        ]
    found = _worst_first([*settled, *judged])
    return Report(
        overall=overall(found),
        exit_status=exit_status(found, fail_on),
        method="paired",
        tool=run.tool,
        rows=found,
        compared=len(judged),
        policy=policy,
        base=run.base,
        head=run.head,
        relation=run.relation,
        host=run.host,
        facts=facts,
        noise_source="this run's own control arm; no noise profile",
        launches=len(run.launches),
        control_values=control_values,
        seconds=sum(launch.seconds for launch in run.launches),
        notes=(*signs, *_notes_on_run(run, trials, found, len(judged))),
    )


def judge_sets(
    base: ResultSet, head: ResultSet, policy: Policy, fail_on: FailOn | None = None
) -> Report:
    """Judge two result sets of other tools; nothing about time is confirmed."""
    rows = _worst_first(judge_readings(base, head, policy))
    compared = sum(_is_compared(row) for row in rows)
    return Report(
        overall=overall(rows),
        exit_status=exit_status(rows, fail_on),
        method="single",
        tool=head.tool,
        rows=rows,
        compared=compared,
        policy=policy,
        base=base.commit,
        head=head.commit,
        facts=merged_facts(base, head),
        noise_source=UNCALIBRATED,
        launches=1,
        notes=(
            *_nothing_compared(compared),
            *notes_on_sets(base, head),
            *_whole_suite(rows),
        ),
    )


def overall(rows: Iterable[Row]) -> Verdict:
    """Return the least upper bound of the rows' verdicts.

    ::

      contaminated          replaces everything
        alert
        failed              works on the base; if it never did: inconclusive
        warn
        inconclusive        also where no row was compared
        unchanged
        improved            every row
        added, removed      information: below every verdict

    >>> overall([])
    <Verdict.INCONCLUSIVE: 'inconclusive'>
    """
    found = reduce(join, map(_weight, rows), Verdict.ADDED)
    if _RANK[found] < _RANK[Verdict.IMPROVED]:
        return Verdict.INCONCLUSIVE
    return found


def join(one: Verdict, other: Verdict) -> Verdict:
    """Return the worse of two verdicts.

    >>> join(Verdict.WARN, Verdict.FAILED)
    <Verdict.FAILED: 'failed'>
    """
    return max(one, other, key=_RANK.__getitem__)


def exit_status(rows: Iterable[Row], fail_on: FailOn | None = None) -> int:
    """Return 0 nothing wrong, 1 a regression or a broken scenario, 2 no verdict.

    Without ``fail_on`` a confirmed alert fails and an unconfirmed flag does not;
    with it, flags of that size do. ``never`` silences the findings, never the
    lack of a verdict.
    """
    rows = tuple(rows)
    if any(row.verdict is Verdict.CONTAMINATED for row in rows):
        return 2
    if any(_fails(row, fail_on) for row in rows):
        return 1
    return 0 if any(row.verdict in _DECIDED for row in rows) else 2


def _fails(row: Row, fail_on: FailOn | None) -> bool:
    if fail_on is FailOn.NEVER or not row.is_blocking:
        return False
    if row.verdict is Verdict.FAILED:
        return True
    if fail_on is None:
        return row.verdict is Verdict.ALERT and row.is_confirmed
    is_warned = row.verdict is Verdict.WARN and fail_on is FailOn.WARN
    return row.verdict is Verdict.ALERT or is_warned


def _weight(row: Row) -> Verdict:
    """Return what a row adds to the whole: a shared failure is only a gap."""
    if row.verdict is Verdict.FAILED and not row.is_blocking:
        return Verdict.INCONCLUSIVE
    return row.verdict


def _worst_first(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Order rows by verdict, then by size, then by name; no size comes last."""

    def place(row: Row) -> tuple[int, float, str]:
        worse = float("inf")
        if row.change is not None:
            worse = -round(worsening(row.change, row.unit.direction), 9)
        return -_RANK[_weight(row)], worse, row.scenario

    return tuple(sorted(rows, key=place))


def _by_scenario(run: Run) -> dict[ScenarioId, list[Measurement]]:
    trials: dict[ScenarioId, list[Measurement]] = {
        scenario.id: [] for scenario in run.scenarios
    }
    for launch in run.launches:
        # A launch is one trial: a second measurement in it would count it twice.
        first = {m.scenario: m for m in reversed(launch.measurements)}
        for name in trials.keys() & first.keys():
            trials[name].append(first[name])
    return trials


def _say_lost(row: Row, run: Run) -> Row:
    """Note the launches of the run that do not count for a judged row."""
    lost = len(run.launches) - row.launches
    if lost <= 0:
        return row
    note = f"{lost} of {len(run.launches)} launches have no value and do not count"
    return replace(row, notes=(*row.notes, note))


def _is_compared(row: Row) -> bool:
    return row.base is not None and row.head is not None


def _nothing_compared(compared: int) -> tuple[str, ...]:
    note = (
        "0 scenarios compared: no scenario has a value on both sides; check that "
        "both sides ran the same benchmarks"
    )
    return () if compared else (note,)


def _whole_suite(rows: Sequence[Row]) -> tuple[str, ...]:
    """Say so if almost all rows move one way: a cause outside the rows is likelier."""
    changes = [
        row.change for row in rows if row.change is not None and not row.unit.is_exact
    ]
    if len(changes) < _SHIFT_ROWS:
        return ()
    up, down = sum(c > 0 for c in changes), sum(c < 0 for c in changes)
    middle = median(changes)
    if max(up, down) < _SHIFT_SHARE * len(changes) or abs(middle) < LEAST_MARGIN:
        return ()
    note = (
        f"whole suite {middle:+.1%}: {max(up, down)} of {len(changes)} rows moved the "
        "same way; look for a cause that they share before any single row"
    )
    return (note,)


def _notes_on_run(
    run: Run,
    trials: dict[ScenarioId, list[Measurement]],
    rows: Sequence[Row],
    compared: int,
) -> list[str]:
    """Return what a reader must know of the run, with what to do about it."""
    notes = [*_nothing_compared(compared)]
    if not run.is_complete:
        notes.append(
            f"the run is incomplete: {len(run.launches)} of {run.plan.launches} "
            f"planned launches; {MEASURE_AGAIN}"
        )
    if len(run.launches) < MINIMUM_LAUNCHES and compared:
        notes.append(
            f"a verdict about time needs {MINIMUM_LAUNCHES} launches, this run has "
            f"{len(run.launches)}; measure more launches"
        )
    never = [s.id for s in run.scenarios if _never_measured(s, trials[s.id])]
    if never:
        rest = len(never) - _LISTED
        names = ", ".join(never[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
        notes.append(
            f"{len(never)} of {len(run.scenarios)} scenarios were never measured: "
            f"{names}; {MEASURE_AGAIN}"
        )
    return [*notes, *_whole_suite(rows), *run.notes]


def _never_measured(scenario: Scenario, trials: Sequence[Measurement]) -> bool:
    is_defined = scenario.on_base and scenario.on_head
    return is_defined and not any(trial.samples or trial.failures for trial in trials)
