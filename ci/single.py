"""Two result sets of other tools, one a side: one launch, which confirms nothing.

The sizes are the policy's, without a noise profile; samples and intervals
inside a foreign file never become launches, and pairing them by position would
see no noise at all.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Final

from ci.exact import ANY_DIFFERENCE, compare_exact, ratio
from ci.model import (
    SECONDS,
    Policy,
    Reading,
    ResultSet,
    Row,
    ScenarioId,
    Thresholds,
    Unit,
    Verdict,
)
from ci.presence import settle_readings
from ci.timing import ROUNDING, worsening

UNCALIBRATED: Final = "uncalibrated, not confirmed"

_PROCESSOR: Final = ("cpu", "processor", "machine", "brand")
"""Parts of a fact's name that mean other hardware."""


def judge_readings(base: ResultSet, head: ResultSet, policy: Policy) -> list[Row]:
    """Return one row for each scenario of either side."""
    names = dict.fromkeys([*base.readings, *head.readings])
    rows = [
        _row(name, base.readings.get(name), head.readings.get(name), policy)
        for name in names
    ]
    both = base.readings.keys() & head.readings.keys()
    copies = {
        name for name in both if _is_copy(base.readings[name], head.readings[name])
    }
    # A set compared with itself is no change. Copies among fresh results are
    # leftovers of an earlier run, and unmeasured is never green.
    if copies < both:
        return [_as_leftover(row) if row.scenario in copies else row for row in rows]
    return rows


def _is_copy(base: Reading, head: Reading) -> bool:
    return bool(base.digest) and base.digest == head.digest


def _as_leftover(row: Row) -> Row:
    if row.verdict is not Verdict.UNCHANGED:
        return row
    reason = "not measured again: its files are the base's; measure the PR anew"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason)


def notes_on_sets(base: ResultSet, head: ResultSet) -> list[str]:
    """Return what a reader must know before the first row: loudest first."""
    notes = []
    for side, word in ((base, "base"), (head, "PR")):
        if not side.readings:
            notes.append(
                f"no {word} results: {side.source or side.tool} holds no scenario; "
                "check the path, and that the benchmarks ran"
            )
    if base.tool != head.tool:
        notes.append(
            f"different tools: {base.tool} on the base, {head.tool} in the PR; "
            "compare results of one tool"
        )
    notes += _differing_facts(base, head)
    if _is_newer(base, head):
        notes.append(
            "the base is newer than the PR: check that the base comes first on the "
            "command line"
        )
    notes.append(
        f"{UNCALIBRATED}: one result set a side has no noise profile; flags follow "
        "the policy's sizes, and measuring with this gate's own run confirms them"
    )
    notes += [note for note in base.notes if note in head.notes]
    notes += [f"base: {note}" for note in base.notes if note not in head.notes]
    notes += [f"PR: {note}" for note in head.notes if note not in base.notes]
    return list(dict.fromkeys(notes))


def merged_facts(base: ResultSet, head: ResultSet) -> dict[str, str]:
    """Return the facts of both sides; where they differ, both with their side."""
    facts = {**head.facts, **base.facts}
    for name, told in base.facts.items():
        other = head.facts.get(name, told)
        if other != told:
            facts[name] = f"{told} (base), {other} (PR)"
    return facts


def _row(
    name: ScenarioId, base: Reading | None, head: Reading | None, policy: Policy
) -> Row:
    settled = settle_readings(name, base, head)
    if settled is not None:
        return settled
    if base is None or head is None or base.value is None or head.value is None:
        raise ValueError("a reading without a value has been settled")
    verdict, reason, change = _judged(base, head, base.value, head.value, policy)
    is_exact = base.unit.is_exact and base.unit == head.unit
    flags = {Verdict.ALERT, Verdict.IMPROVED}
    return Row(
        scenario=name,
        verdict=verdict,
        unit=head.unit,
        base=base.value,
        head=head.value,
        change=change,
        thresholds=ANY_DIFFERENCE if is_exact else _sizes(policy),
        is_confirmed=is_exact and verdict in flags,
        launches=1,
        reason=reason,
        notes=_notes(base, head),
    )


def _judged(
    base: Reading, head: Reading, before: float, after: float, policy: Policy
) -> tuple[Verdict, str, float | None]:
    """Return verdict, reason and change of two values."""
    if base.unit != head.unit:
        return Verdict.INCONCLUSIVE, _unit_changed(base.unit, head.unit), None
    change = ratio(before, after)
    if base.unit.is_exact:
        return *compare_exact(before, after, base.unit), change
    is_unread_clock = base.unit.name == SECONDS.name and min(before, after) <= 0
    if change is None or is_unread_clock:
        reason = f"no ratio: base is {before:g}, PR is {after:g}; compare by hand"
        return Verdict.INCONCLUSIVE, reason, None
    return place(worsening(change, base.unit.direction), policy), "", change


def place(worse: float, policy: Policy) -> Verdict:
    """Place one unconfirmed change on the line; plus is worse, bounds inclusive.

    ::

      improved ──┤ -warn ────── 0 ────── warn ├──── alert ├────►  worse
                 └────── unchanged ──────┘└── warn ──┘└── alert

    >>> place(0.15, Policy()), place(0.149, Policy())
    (<Verdict.WARN: 'warn'>, <Verdict.UNCHANGED: 'unchanged'>)
    """
    if worse >= policy.single_alert - ROUNDING:
        return Verdict.ALERT
    if worse >= policy.single_warn - ROUNDING:
        return Verdict.WARN
    if worse <= ROUNDING - policy.single_warn:
        return Verdict.IMPROVED
    return Verdict.UNCHANGED


def _unit_changed(base: Unit, head: Unit) -> str:
    if base.name != head.name:
        what, old, new = "unit", base.name, head.name
    else:
        what, old, new = "direction", base.direction.value, head.direction.value
    return f"{what} changed from {old} to {new}: no ratio; measure both in one unit"


def _sizes(policy: Policy) -> Thresholds:
    return Thresholds(
        gate=policy.single_warn,
        warn=policy.single_warn,
        alert=policy.single_alert,
        source="uncalibrated",
    )


def _notes(base: Reading, head: Reading) -> tuple[str, ...]:
    notes = [*base.notes, *head.notes]
    if 1 in {base.samples, head.samples}:
        notes.append("single sample: nothing tells how much it varies")
    if _is_copy(base, head):
        notes.append(
            "the PR's files equal the base's byte for byte, as leftovers of an "
            "earlier run do: check that the PR was measured"
        )
    return tuple(dict.fromkeys(notes))


def _differing_facts(base: ResultSet, head: ResultSet) -> list[str]:
    """Name each fact that differs; other hardware explains any change."""
    notes: list[str] = []
    for name in sorted(base.facts.keys() & head.facts.keys()):
        old, new = base.facts[name], head.facts[name]
        if old == new:
            continue
        if any(part in name.lower() for part in _PROCESSOR):
            notes.insert(
                0,
                f"different processors: {name} is {old} on the base and {new} in the "
                "PR; no change below is evidence of a regression, measure both "
                "sides on one machine",
            )
        else:
            notes.append(
                f"{name} differs: {old} on the base, {new} in the PR; it may explain "
                "changes below"
            )
    return notes


def _is_newer(base: ResultSet, head: ResultSet) -> bool:
    """Tell whether the base's commit is later than the PR's, as far as known."""
    try:
        moments = [
            dt.datetime.fromisoformat(side.commit.date)
            for side in (base, head)
            if side.commit is not None
        ]
        return len(moments) == len((base, head)) and moments[0] > moments[1]
    except (ValueError, TypeError):
        return False
