"""How asv's rows are called, on both sides at once so that they meet.

asv knows a row by benchmark and parameters; people read a shorter id. Both
sides are named together: a name that only one side can shorten, or an
environment that only one side has, would leave rows without a partner.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ci.model import Reading, ResultSet, ScenarioId
from ci.readers.asv import TOOL
from ci.readers.asv_ids import scenario_id
from ci.readers.files import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.readers.asv import AsvResults
    from ci.readers.asv_rows import AsvRow

Key = tuple[str, tuple[str, ...], str]
"""Benchmark, parameters, environment: empty where each side has just one."""

CHANGED_NOTE: Final = "the benchmark's own code differs between the sides"


def name_sides(sides: Sequence[AsvResults]) -> list[ResultSet]:
    """Return the result set of each side, equal rows under equal ids."""
    has_environments = any(
        len({row.environment for row in side.rows}) > 1 for side in sides
    )
    keyed = [
        [(_key(row, has_environments=has_environments), row) for row in side.rows]
        for side in sides
    ]
    labels = _labels(sides, {key for rows in keyed for key, _ in rows})
    named: list[ResultSet] = []
    earlier: dict[Key, str] = {}
    for side, rows in zip(sides, keyed, strict=True):
        named.append(
            ResultSet(
                tool=TOOL,
                source=side.source,
                readings=_readings(rows, labels, earlier),
                commit=side.commit,
                facts=side.facts,
                notes=side.notes,
            )
        )
        earlier = {key: row.version for key, row in rows}
    return named


def _key(row: AsvRow, *, has_environments: bool) -> Key:
    return (row.benchmark, row.params, row.environment if has_environments else "")


def _labels(sides: Sequence[AsvResults], keys: set[Key]) -> dict[Key, ScenarioId]:
    """Return an id for each key; short ids that would collide become asv's own."""
    pretty = {
        name: described.pretty_name
        for side in sides
        for name, described in side.benchmarks.items()
    }
    labels: dict[Key, ScenarioId] = {}
    for benchmark, params, environment in keys:
        name = encodable(pretty.get(benchmark) or "")
        label = scenario_id(benchmark, params, name)
        labels[benchmark, params, environment] = _suffixed(label, environment)
    own = {key: _suffixed(scenario_id(key[0], key[1]), key[2]) for key in keys}
    while clashes := _clashes(labels, own):
        labels |= {key: own[key] for key in clashes}
    return labels


def _clashes(labels: dict[Key, str], own: dict[Key, str]) -> set[Key]:
    """Return the keys with a short id that another key has too."""
    uses = Counter(labels.values())
    return {
        key for key, label in labels.items() if uses[label] > 1 and label != own[key]
    }


def _readings(
    rows: list[tuple[Key, AsvRow]],
    labels: dict[Key, ScenarioId],
    earlier: dict[Key, str],
) -> dict[ScenarioId, Reading]:
    """Return the readings by id; ``earlier`` holds the other side's versions."""
    readings: dict[ScenarioId, Reading] = {}
    for key, row in rows:
        label = labels[key]
        for repeat in itertools.count(2):
            if label not in readings:
                break
            label = f"{labels[key]} #{repeat}"
        version = earlier.get(key)
        is_changed = bool(version and row.version and version != row.version)
        notes = (*row.reading.notes, CHANGED_NOTE) if is_changed else row.reading.notes
        readings[label] = replace(row.reading, notes=notes)
    return readings


def _suffixed(label: ScenarioId, environment: str) -> ScenarioId:
    return f"{label} [{environment}]" if environment else label
