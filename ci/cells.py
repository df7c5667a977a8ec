"""One row of a report as the texts of its cells.

The five columns are those of the comment that maintainers know. What a verdict
rests on stands apart, so that the five stay readable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ci import text
from ci.wording import ATTENTION

if TYPE_CHECKING:
    from ci.model import Interval, Row, Thresholds

COLUMNS: Final = ("Status", "Scenario", "Base", "PR", "Change")
EVIDENCE_COLUMNS: Final = (
    "Scenario",
    "Interval",
    "Smallest change told",
    "Flagged from",
    "Launches",
    "Why",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one verdict rests on. ``why`` is foreign text, the rest is ours."""

    interval: str
    resolution: str
    sizes: str
    launches: str
    why: str


def values(row: Row) -> tuple[str, str, str]:
    """Write base, PR and change; the unit's name in them is foreign text."""
    return (
        text.value(row.base, row.unit),
        text.value(row.head, row.unit),
        text.change(row.change, is_exact=row.unit.is_exact),
    )


def has_evidence(row: Row) -> bool:
    """Tell whether there is more to say about a row than its five cells."""
    is_raised = row.thresholds is not None and row.thresholds.source == "runner"
    return bool(
        is_raised
        or row.interval is not None
        or row.resolution is not None
        or row.reason
        or row.notes
    )


def evidence(row: Row) -> Evidence:
    """Write what the verdict of one row rests on."""
    confirmed = ", confirmed" if row.is_confirmed else ""
    return Evidence(
        interval=_interval(row.interval),
        resolution=text.size(row.resolution),
        sizes=_sizes(row.thresholds),
        launches=f"{row.launches}{confirmed}" if row.launches else text.ABSENT,
        why="; ".join(part for part in (row.reason, *row.notes, *_labels(row)) if part),
    )


def _labels(row: Row) -> list[str]:
    """Write what a row that needs attention was measured under."""
    if row.verdict not in ATTENTION:
        return []
    return [f"{name}: {text}" for name, text in row.labels.items()]


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return text.ABSENT
    low, high = text.change(interval.low), text.change(interval.high)
    return f"{low} to {high} ({text.size(interval.level)})"


def _sizes(thresholds: Thresholds | None) -> str:
    if thresholds is None:
        return text.ABSENT
    if thresholds.source == "exact":
        return "any difference"
    sizes = f"{text.size(thresholds.warn)} / {text.size(thresholds.alert)}"
    return f"{sizes} ({thresholds.source})"
