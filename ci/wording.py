"""The sentences of a report, the same in a comment and in a terminal.

Every function is a law about what may be claimed: green needs every compared
row decided, a flag of two single result sets is never called a regression.
Foreign text goes through ``quote``, which the medium supplies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from ci import text
from ci.model import Report, Row, Verdict

Quote = Callable[[str], str]
"""Makes foreign text harmless in the medium at hand."""

MARKS: Final = {
    Verdict.ALERT: "🔴",
    Verdict.WARN: "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}",
    Verdict.UNCHANGED: "✅",
    Verdict.IMPROVED: "🟢",
    Verdict.INCONCLUSIVE: "❔",
    Verdict.FAILED: "⛔",
    Verdict.ADDED: "🆕",
    Verdict.REMOVED: "🗑",
    Verdict.CONTAMINATED: "🧪",
}
WORST_FIRST: Final = (
    Verdict.CONTAMINATED,
    Verdict.ALERT,
    Verdict.FAILED,
    Verdict.WARN,
    Verdict.INCONCLUSIVE,
    Verdict.REMOVED,
    Verdict.ADDED,
    Verdict.IMPROVED,
    Verdict.UNCHANGED,
)
ATTENTION: Final = frozenset(WORST_FIRST[:5])
"""Rows that a reader must see without opening anything."""

_GOOD: Final = (Verdict.UNCHANGED, Verdict.IMPROVED)
_CONTAMINATED: Final = (
    "The control, a second copy of the base, moved as well: on this machine at this "
    "time unchanged code looked changed, so no row is called slower or faster."
)
_RELATIONS: Final = {
    "merge-base": "the merge base",
    "first-parent": "first parent of the PR",
    "given": "as given",
    "self": "the same commit on purpose",
}


def headline(report: Report) -> str:
    """Say in one line what the whole report is, and how far it can be believed."""
    overall = _overall(report)
    failures = _failures(report.rows)
    if overall is Verdict.CONTAMINATED:
        title = "Benchmarks — No Verdict, the Control Moved"
    elif not report.compared:
        title = "Benchmarks — Nothing Compared"
    elif overall is Verdict.FAILED:
        title, failures = f"Benchmarks — {failures[0]}", failures[1:]
    else:
        title = _title(report, overall)
    parts = [title, *(f"{MARKS[Verdict.FAILED]} {failure}" for failure in failures)]
    return f"{MARKS[overall]} {' · '.join(parts)}"


def _overall(report: Report) -> Verdict:
    """Return the verdict of the header: never better than a row that counts."""
    if report.overall is Verdict.CONTAMINATED:
        return report.overall
    counting = [row.verdict for row in report.rows if not is_shared_failure(row)]
    if not report.compared:
        has_failed = Verdict.FAILED in counting
        return Verdict.FAILED if has_failed else Verdict.INCONCLUSIVE
    worst = min(ATTENTION.intersection(counting) | {report.overall}, key=_rank)
    if worst is Verdict.FAILED and worst not in counting:
        return Verdict.INCONCLUSIVE
    return Verdict.UNCHANGED if worst is Verdict.IMPROVED else worst


def is_shared_failure(row: Row) -> bool:
    """Tell whether a row fails on the base too, so that the PR is not to blame."""
    return row.verdict is Verdict.FAILED and not row.is_blocking


def _rank(verdict: Verdict) -> int:
    return WORST_FIRST.index(verdict)


def _failures(rows: tuple[Row, ...]) -> list[str]:
    """Count the rows without a value in the PR; those that fail the check first."""
    failed = Counter(row.is_blocking for row in rows if row.verdict is Verdict.FAILED)
    said = []
    if failed[True]:
        scenarios = text.many(failed[True], "Scenario")
        said.append(f"{scenarios} Failed or Not Measured in the PR")
    if failed[False]:
        verb = "Fails" if failed[False] == 1 else "Fail"
        said.append(f"{text.many(failed[False], 'Scenario')} {verb} on Both Sides")
    return said


def _title(report: Report, overall: Verdict) -> str:
    if overall is Verdict.ALERT:
        if _is_sure(report, overall):
            return "Benchmark Regression Detected"
        return f"Possible Benchmark Regression ({doubt(report)})"
    if overall is Verdict.WARN:
        suffix = "" if _is_sure(report, overall) else f" ({doubt(report)})"
        return f"Benchmark Change Detected{suffix}"
    if is_green(report):
        suffix = f" ({doubt(report)})" if report.method == "single" else ""
        return f"Benchmarks — No Regression{suffix}"
    undecided = sum(row.verdict is Verdict.INCONCLUSIVE for row in report.rows)
    if undecided:
        return f"Benchmarks — Cannot Tell for {text.many(undecided, 'Scenario')}"
    return f"Benchmarks — {report.compared:,} Compared, None Called Worse"


def doubt(report: Report) -> str:
    """Say why a flag of this report may be noise."""
    if report.method != "single":
        return "not confirmed"
    sources = {row.thresholds.source for row in report.rows if row.thresholds}
    is_calibrated = report.noise_source and not any(
        "uncalibrated" in source for source in (report.noise_source, *sources)
    )
    return (
        "single launch, not confirmed"
        if is_calibrated
        else ("uncalibrated, not confirmed")
    )


def _is_sure(report: Report, verdict: Verdict) -> bool:
    return any(
        row.verdict is verdict and (row.is_confirmed or row.unit.is_exact)
        for row in report.rows
    )


def is_green(report: Report) -> bool:
    """Tell whether "no regression" may be said: every compared row is decided."""
    return (
        report.overall in _GOOD
        and report.exit_status == 0
        and report.compared > 0
        and not any(row.verdict in ATTENTION for row in report.rows)
    )


def counts(rows: Iterable[Row]) -> str:
    """Count the rows of each verdict, worst first."""
    found = Counter(row.verdict for row in rows)
    return " · ".join(
        f"{MARKS[verdict]} {found[verdict]:,} {verdict.value}"
        for verdict in WORST_FIRST
        if found[verdict]
    )


def summary(report: Report, quote: Quote) -> str:
    """Say how many rows say what, how many were compared, and of which commits."""
    total = len(report.rows)
    shown = counts(report.rows) or "none"
    line = (
        f"{text.many(total, 'scenario')}: {shown} — "
        f"compared {report.compared:,} of {total:,}"
    )
    sides = commits(report, quote)
    return f"{line}, {sides}." if sides else f"{line}."


def commits(report: Report, quote: Quote) -> str:
    """Name both commits so that they can be told apart, and how base was found."""
    if report.base is None or report.head is None:
        return ""
    base, head = text.shas(report.base, report.head)
    how = _RELATIONS.get(report.relation) or (
        quote(report.relation) if report.relation else ""
    )
    return f"base {quote(base)}{f' ({how})' if how else ''} → PR {quote(head)}"


def attention(report: Report, quote: Quote) -> list[str]:
    """Say what is wrong, what is unknown, and what that does to the check."""
    if report.overall is Verdict.CONTAMINATED:
        return [
            _CONTAMINATED,
            _check(report),
        ]
    said = []
    if not report.compared:
        said.append("No scenario has a value on both sides: nothing is known.")
    worst = next((row for row in report.rows if _is_flag(row)), None)
    if worst is not None:
        said.append(f"First: {_one_row(worst, quote)}.")
    said += _unmeasured(report.rows)
    undecided = [r for r in report.rows if r.verdict is Verdict.INCONCLUSIVE]
    told = [row for row in undecided if row.resolution is not None]
    if told:
        said.append(_undecided(told))
    if len(told) < len(undecided):
        count = text.many(len(undecided) - len(told), "scenario")
        said.append(f"{MARKS[Verdict.INCONCLUSIVE]} No verdict for {count}; see why.")
    said.append(_check(report))
    return [part for part in said if part]


def _is_flag(row: Row) -> bool:
    return row.verdict in {Verdict.ALERT, Verdict.WARN} and row.change is not None


def _one_row(row: Row, quote: Quote) -> str:
    change = text.change(row.change, is_exact=row.unit.is_exact)
    return f"{MARKS[row.verdict]} {quote(row.scenario)} {change}"


def _unmeasured(rows: tuple[Row, ...]) -> list[str]:
    failed = [row for row in rows if row.verdict is Verdict.FAILED]
    blocking = sum(row.is_blocking for row in failed)
    shared = len(failed) - blocking
    mark = MARKS[Verdict.FAILED]
    said = []
    if blocking:
        verb = "has" if blocking == 1 else "have"
        said.append(
            f"{mark} {text.many(blocking, 'scenario')} of the base {verb} no value "
            "in the PR."
        )
    if shared:
        verb = "fails" if shared == 1 else "fail"
        said.append(
            f"{mark} {text.many(shared, 'scenario')} {verb} on the base too, "
            "which does not block."
        )
    return said


def _undecided(rows: list[Row]) -> str:
    known = [row.resolution for row in rows if row.resolution is not None]
    least, most = text.size(min(known)), text.size(max(known))
    line = (
        f"{MARKS[Verdict.INCONCLUSIVE]} This run cannot tell for "
        f"{text.many(len(rows), 'scenario')}"
    )
    span = least if least == most else f"{least} to {most}"
    return f"{line}; the smallest change it could have told there is {span}."


def _check(report: Report) -> str:
    if report.exit_status == 1:
        return "This fails the check."
    if report.exit_status:
        return f"There is no verdict (exit status {report.exit_status})."
    is_flagged = _overall(report) in {Verdict.ALERT, Verdict.WARN, Verdict.FAILED}
    return "Advisory: this does not fail the check." if is_flagged else ""
