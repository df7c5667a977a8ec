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


# --- A run: what `ci.run` measured -------------------------------------------


class Kind(StrEnum):
    """asv's kinds of benchmark."""

    TIME = "time"
    TIMERAW = "timeraw"
    MEM = "mem"
    PEAKMEM = "peakmem"
    TRACK = "track"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One row of the suite, as both sides define it.

    ``benchmark`` is asv's own name and ``index`` the place in the product of
    its parameters, ``None`` without parameters. ``on_base`` and ``on_head`` say
    whether that side's own suite defines the row.
    """

    id: ScenarioId
    benchmark: str
    index: int | None
    kind: Kind
    unit: Unit
    on_base: bool = True
    on_head: bool = True
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One scenario in one launch.

    ``samples[arm]`` are values per call in base units, in time order.
    With ``orders`` (one entry a block, the arms' initials of the first half,
    such as ``"bhc"``; the second half is its mirror) each arm has exactly two
    samples a block: ``samples[arm][2 * b]`` and ``[2 * b + 1]``. Without
    ``orders`` each arm has at most one value: a count, a size, a peak.
    An arm that has no value has an entry in ``failures``. ``labels[arm]`` says
    what the arm was measured under, as text by name.
    """

    scenario: ScenarioId
    samples: dict[Arm, tuple[float, ...]]
    orders: tuple[str, ...] = ()
    loops: int = 1
    is_multithreaded: bool = False
    setup: str = "batch"
    failures: dict[Arm, Failure] = field(default_factory=dict)
    labels: dict[Arm, dict[str, str]] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an arm imported from its own tree: the proof of what was measured.

    ``digest`` covers path and bytes of ``files``, which are relative to
    ``tree``. Equal digests under different trees mean an unchanged subject.
    """

    tree: str
    digest: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What else the machine did during a launch.

    ``steal`` is the share of CPU time the hypervisor took, in [0, 1], ``None``
    where the system does not tell.
    """

    load_before: tuple[float, ...] = ()
    load_after: tuple[float, ...] = ()
    steal: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Fresh processes for all arms: the statistical unit."""

    index: int
    hash_seed: int
    started: str
    seconds: float
    imported: dict[Arm, Imported]
    measurements: tuple[Measurement, ...]
    witness: Witness = Witness()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the run was asked to do. ``budget`` is seconds, ``None`` without one.

    ``asv_config`` and ``import_paths`` are relative to the repository.
    """

    launches: int
    sample_seconds: float
    scenario_seconds: float
    minimum_blocks: int
    seed: int
    budget: float | None = None
    benchmarks: str = ""
    asv_config: str = ""
    import_paths: tuple[str, ...] = ()
    is_same_allowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run document: every raw sample, both commits, the host.

    ``relation`` says how base was found: ``merge-base``, ``first-parent``,
    ``given`` or ``self``. ``is_complete`` is false while launches are missing.
    ``looks`` counts how often the run was complete: each look is one more chance
    to be misled, and the bound of a flag pays for it.
    """

    created: str
    tool: str
    project: str
    relation: str
    base: Commit
    head: Commit
    host: Host
    plan: Plan
    scenarios: tuple[Scenario, ...]
    launches: tuple[Launch, ...] = ()
    is_complete: bool = False
    looks: int = 1
    notes: tuple[str, ...] = ()


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
