"""asv's rows to readings: one for each combination of parameters.

Columns stand in the order that the file itself gives, rows are cut after their
last value, and a value is known by its parameters, not by its position. asv's own
statistics are not used. Knows no files.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ci.model import BYTES, SECONDS, Failure, FailureKind, Reading, Unit
from ci.readers.files import encodable

_MAX_COMBINATIONS: Final = 100_000
_UNITS: Final = {"seconds": SECONDS, "bytes": BYTES}
_PREFIXES: Final = {
    "mem_": BYTES,
    "peakmem_": BYTES,
    "Mem": BYTES,
    "PeakMem": BYTES,
    "track_": Unit(name="unit"),
    "Track": Unit(name="unit"),
}
"""asv's kinds by the name of the function; anything else is a time."""


class AsvBenchmark(msgspec.Struct, frozen=True):
    """What ``benchmarks.json`` says of one benchmark, as far as it is read."""

    pretty_name: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AsvRow:
    """One value: a benchmark with one combination of parameters, as asv spells them.

    ``version`` is asv's digest of the benchmark's own code, empty where unknown.
    """

    benchmark: str
    params: tuple[str, ...]
    environment: str
    version: str
    reading: Reading


def read_rows(
    results: dict[str, Any],
    names: tuple[str, ...],
    environment: str,
    benchmarks: dict[str, AsvBenchmark],
) -> list[AsvRow]:
    """Return the rows of one file's ``results``; ``names`` are its columns."""
    rows: list[AsvRow] = []
    for benchmark, value in results.items():
        columns = _columns(value, names)
        unit = _unit(benchmark, benchmarks.get(benchmark))
        version = columns.get("version")
        rows.extend(
            AsvRow(
                benchmark=encodable(benchmark),
                params=params,
                environment=environment,
                version=version if isinstance(version, str) else "",
                reading=reading,
            )
            for params, reading in _readings(columns, unit)
        )
    return rows


def _columns(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a row by the names of its columns, whichever version wrote it."""
    if isinstance(value, list):
        return dict(zip(names, value, strict=False))
    if isinstance(value, dict):
        return value
    return {"result": [value]}


def _unit(benchmark: str, described: AsvBenchmark | None) -> Unit:
    """Return the unit asv declares, else the one its naming rule implies."""
    if described is not None and described.unit:
        name = encodable(described.unit)
        return _UNITS.get(name, Unit(name=name))
    function = benchmark.rpartition(".")[2]
    for prefix, unit in _PREFIXES.items():
        if function.startswith(prefix):
            return unit
    return SECONDS


def _readings(
    columns: dict[str, Any], unit: Unit
) -> list[tuple[tuple[str, ...], Reading]]:
    """Return one reading for each combination of parameters, in asv's order."""
    params = columns.get("params") or []
    result = columns.get("result")
    if not _is_grid(params):
        return [((), _failed(unit, "its params are not lists of values"))]
    count = math.prod(len(axis) for axis in params)
    if result is not None and not isinstance(result, list):
        result = [result]
    if count > _MAX_COMBINATIONS and (result is None or len(result) != count):
        return [((), _failed(unit, f"{count} parameter combinations without values"))]
    spelled = [[encodable(str(value)) for value in axis] for axis in params]
    combinations = list(itertools.product(*spelled))
    if result is None:
        result = [None] * count
    if len(result) != count:
        what = f"{len(result)} values for {count} parameter combinations"
        return [(combination, _failed(unit, what)) for combination in combinations]
    return [
        (combination, _reading(value, unit, _sample_count(columns, place)))
        for place, (combination, value) in enumerate(
            zip(combinations, result, strict=True)
        )
    ]


def _is_grid(params: Any) -> bool:
    return isinstance(params, list) and all(isinstance(axis, list) for axis in params)


def _reading(value: Any, unit: Unit, samples: int) -> Reading:
    """Return the reading of one of asv's values.

    null: failed or timed out · NaN: skipped or not selected.
    """
    if value is None:
        failure = Failure(kind=FailureKind.FAILED, message="failed or timed out in asv")
        return Reading(value=None, unit=unit, failure=failure)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _failed(unit, "its value is not a number")
    if value != value:  # noqa: PLR0124  # the definition of NaN
        failure = Failure(
            kind=FailureKind.SKIPPED, message="skipped or not selected in asv"
        )
        return Reading(value=None, unit=unit, failure=failure)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        return _failed(unit, "its value is not finite")
    return Reading(value=number, unit=unit, samples=samples)


def _failed(unit: Unit, what: str) -> Reading:
    failure = Failure(kind=FailureKind.UNREADABLE, message=f"asv result: {what}")
    return Reading(value=None, unit=unit, failure=failure)


def _sample_count(columns: dict[str, Any], place: int) -> int:
    """Return how many samples stand behind a value, 0 where the row is silent."""
    samples = _at(columns.get("samples"), place)
    if isinstance(samples, list):
        return len(samples)
    repeat = _at(columns.get("stats_repeat"), place)
    if repeat is None:
        stats = columns.get("stats")
        stats = _at(stats, place) if isinstance(stats, list) else stats
        repeat = stats.get("repeat") if isinstance(stats, dict) else None
    is_count = isinstance(repeat, int) and not isinstance(repeat, bool)
    return repeat if is_count and repeat > 0 else 0


def _at(column: Any, place: int) -> Any:
    """Return the entry of a column that may be missing or short."""
    if isinstance(column, list) and place < len(column):
        return column[place]
    return None
