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
    "first-parent": "first parent of the merge",
    "given": "as given",
    "self": "the same commit on purpose",
}


def headline(report: Report) -> str:
    """Say in one line what the whole report is, and how far it can be believed."""
    found = Counter(row.verdict for row in report.rows)
    failed = found[Verdict.FAILED]
    if report.overall is Verdict.CONTAMINATED:
        title = "Benchmarks — No Verdict, the Control Moved"
    elif not report.compared:
        title = "Benchmarks — Nothing Compared"
    else:
        title = _title(report, found)
    mark = MARKS[_shown_overall(report)]
    if failed and report.overall is not Verdict.FAILED:
        title += f" · {MARKS[Verdict.FAILED]} {failed} Not Measured in the PR"
    return f"{mark} {title}"


def _shown_overall(report: Report) -> Verdict:
    """Return the verdict of the header: green only where every row is decided."""
    if report.overall is Verdict.CONTAMINATED:
        return report.overall
    if not report.compared:
        has_failed = any(row.verdict is Verdict.FAILED for row in report.rows)
        return Verdict.FAILED if has_failed else Verdict.INCONCLUSIVE
    if report.overall is Verdict.IMPROVED:
        return Verdict.UNCHANGED
    if report.overall in {Verdict.ADDED, Verdict.REMOVED}:
        return Verdict.INCONCLUSIVE
    return report.overall


def _title(report: Report, found: Counter[Verdict]) -> str:
    overall = report.overall
    if overall in _GOOD and not is_green(report):
        return f"Benchmarks — {report.compared:,} Compared"
    failed = text.many(found[Verdict.FAILED], "Scenario")
    undecided = f"{found[Verdict.INCONCLUSIVE]:,} of {report.compared:,}"
    title = {
        Verdict.ALERT: "Benchmark Regression Detected",
        Verdict.WARN: "Benchmark Change Detected",
        Verdict.FAILED: f"Benchmarks — {failed} Not Measured in the PR",
        Verdict.UNCHANGED: "Benchmarks — No Regression",
        Verdict.IMPROVED: "Benchmarks — No Regression",
    }.get(overall, f"Benchmarks — Cannot Tell for {undecided}")
    is_claim = overall in {Verdict.ALERT, Verdict.WARN}
    is_single_green = overall in _GOOD and report.method == "single"
    if is_single_green or (is_claim and not _is_sure(report, overall)):
        if overall is Verdict.ALERT:
            title = "Possible Benchmark Regression"
        title += f" ({doubt(report)})"
    return title


def doubt(report: Report) -> str:
    """Say why a flag of this report may be noise."""
    if report.method != "single":
        return "not confirmed"
    sources = {row.thresholds.source for row in report.rows if row.thresholds}
    is_calibrated = report.noise_source and "uncalibrated" not in sources
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
    if undecided:
        said.append(_undecided(undecided))
    if report.method == "single" and report.compared:
        said.append(
            "One result set per side confirms nothing: what repeats and what is "
            "noise cannot be told apart."
        )
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
            f"{mark} {text.many(blocking, 'scenario')} {verb} a value on the base "
            "and none in the PR."
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
    least = text.size(min(known)) if known else text.ABSENT
    most = text.size(max(known)) if known else text.ABSENT
    line = f"{MARKS[Verdict.INCONCLUSIVE]} {text.many(len(rows), 'scenario')}: "
    if not known:
        return line + "this run cannot tell."
    span = least if least == most else f"{least} to {most}"
    return line + f"the smallest change this run could have told is {span}."


def _check(report: Report) -> str:
    if report.exit_status == 1:
        return "This fails the check."
    if report.exit_status:
        return f"There is no verdict (exit status {report.exit_status})."
    is_flagged = report.overall in {Verdict.ALERT, Verdict.WARN, Verdict.FAILED}
    return "Advisory: this does not fail the check." if is_flagged else ""
