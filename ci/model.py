"""The nouns of the gate: what was measured, what was concluded.

Values only: no files, no mathematics, no text for people. Base units
throughout: seconds, bytes, counts. A change is ``head / base - 1``; for a unit
where lower is better, plus is worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

ScenarioId = str
"""One row: a benchmark with one set of parameters, as it is shown to people."""


class Direction(StrEnum):
    """Which way is better."""

    LOWER = "lower"
    HIGHER = "higher"
    NONE = "none"
    """Neither: any difference is worse (token ids, digests)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a value counts, which way is better, and how it is judged.

    ``is_exact``: any difference is a difference; no noise is assumed.
    """

    name: str
    direction: Direction = Direction.LOWER
    is_exact: bool = False


SECONDS: Final = Unit(name="seconds")
BYTES: Final = Unit(name="bytes")


class Arm(StrEnum):
    """A side as it is measured. The control is a second copy of the base."""

    BASE = "base"
    HEAD = "head"
    CONTROL = "control"


class FailureKind(StrEnum):
    """Why there is no value. Distinct, because readers act differently on each."""

    FAILED = "failed"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"
    """A result file exists and cannot be read."""
    NOT_MEASURED = "not_measured"
    """The run ended, or ran out of budget, before this was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a scenario has no value on one side.

    ``message`` is one line, hostile text. ``detail`` may be a traceback.
    """

    kind: FailureKind
    message: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One side as git knows it. ``asked`` is the text the user gave."""

    sha: str
    asked: str = ""
    subject: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine, without names or addresses.

    ``cpus`` is what the scheduler lets this process use, not what is soldered.
    ``load`` is the 1, 5 and 15 minute load average, empty where unknown.
    """

    system: str
    release: str
    machine: str
    cpu_model: str
    cpus: int
    memory_bytes: int
    python: str
    load: tuple[float, ...] = ()


class FailOn(StrEnum):
    """The least verdict about time that makes the check fail."""

    ALERT = "alert"
    WARN = "warn"
    NEVER = "never"


# --- Result sets: what other tools measured ----------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One scenario in another tool's result set.

    ``value`` is the tool's own central figure in base units, finite, or
    ``None`` with a ``failure``. ``samples`` is how many raw samples stand
    behind it, 0 where the file does not say. ``digest`` covers the bytes of the
    files that hold this reading alone, empty where one file holds many.
    """

    value: float | None
    unit: Unit = SECONDS
    samples: int = 0
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSet:
    """One side as another tool wrote it: one launch, whatever it holds inside."""

    tool: str
    source: str
    readings: dict[ScenarioId, Reading]
    commit: Commit | None = None
    facts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# --- Conclusions -------------------------------------------------------------


class Verdict(StrEnum):
    """What a row, or a whole report, can say. Marks are looked up in `render`."""

    ALERT = "alert"
    WARN = "warn"
    UNCHANGED = "unchanged"
    IMPROVED = "improved"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"
    ADDED = "added"
    REMOVED = "removed"
    CONTAMINATED = "contaminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The sizes a reader cares about, as fractions: 0.05 is 5 %.

    ``gate``: a row is green when a slowdown of this size is ruled out.
    ``warn`` and ``alert``: sizes of the two flags. ``single_warn`` and
    ``single_alert``: the same for two single result sets, which confirm nothing.
    Requires 0 < warn <= alert and 0 < single_warn <= single_alert, 0 < gate.
    """

    gate: float = 0.05
    warn: float = 0.03
    alert: float = 0.10
    single_warn: float = 0.15
    single_alert: float = 0.30

    def __post_init__(self) -> None:
        """Check the order of the sizes once, where they enter."""
        ordered = (
            0 < self.warn <= self.alert
            and 0 < self.single_warn <= self.single_alert
            and self.gate > 0
        )
        if not ordered:
            raise ValueError("sizes must be positive, and warn at most alert")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The sizes one row was judged by, and where they came from.

    ``source``: ``policy`` (the sizes as set), ``runner`` (raised to what this
    run could resolve), ``exact`` (any difference) or ``uncalibrated`` (single
    result sets without a noise profile).
    """

    gate: float
    warn: float
    alert: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A two-sided interval of a change, with the level it was made for."""

    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The conclusion about one scenario.

    ``base`` and ``head`` are central values in base units. ``change`` is
    ``None`` where no ratio exists. ``resolution`` is the smallest change this
    run could have told, as a fraction. ``is_confirmed`` is true when the change
    passed the family-wise test, or is one of an exact unit. ``is_blocking`` is
    false where the row cannot fail the check: a failure that the base shares, a
    flag of a kind of row that too little is known of. ``reason`` is one line for
    people; names in it are hostile text.
    """

    scenario: ScenarioId
    verdict: Verdict
    unit: Unit
    base: float | None = None
    head: float | None = None
    change: float | None = None
    interval: Interval | None = None
    thresholds: Thresholds | None = None
    resolution: float | None = None
    is_confirmed: bool = False
    is_blocking: bool = True
    launches: int = 0
    reason: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the table says; text is made of it in `render`, and only there.

    ``method`` is ``paired`` (a run of this gate) or ``single`` (two result sets).
    ``compared`` counts rows measured on both sides. ``notes`` are warnings with
    their remedy. ``exit_status`` is 0, 1 or 2.
    """

    overall: Verdict
    exit_status: int
    method: str
    tool: str
    rows: tuple[Row, ...]
    compared: int
    policy: Policy
    base: Commit | None = None
    head: Commit | None = None
    relation: str = ""
    host: Host | None = None
    facts: dict[str, str] = field(default_factory=dict)
    noise_source: str = ""
    launches: int = 0
    control_values: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
