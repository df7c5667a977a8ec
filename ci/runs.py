"""The nouns of a run: the plan, the launches, every raw sample.

Values only, as in `ci.model`, which has what runs and other result sets share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

# Not for the checker alone: documents are decoded by these types.
from ci.model import Arm, Commit, Failure, Host, ScenarioId, Unit  # noqa: TC001


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
