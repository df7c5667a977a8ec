"""Which rows there are: what each side's own suite defines, joined.

Head's suite is what every arm runs. The base's own suite is looked at only to
say which rows are new and which are gone. Values in, values out.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ci import ConfigError
from ci.model import BYTES, SECONDS, Direction, Failure, FailureKind, Unit
from ci.readers.asv_ids import scenario_id
from ci.runs import Kind
from ci.runs import Scenario as Row

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_TIMEOUT: Final = 60.0
"""asv's own default, seconds for setup or one sample."""
LEAST_LAUNCHES: Final = 4
"""Launches from which a clipped score can reach the confirming bound."""
MOST_LAUNCHES: Final = 20
CONTROL_VALUES: Final = 20
"""Control values below which a scale is too little known for a red flag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row and what it takes to run it.

    ``module`` is the suite module that defines it, ``cache`` the key of its
    setup_cache, the timeouts are seconds.
    """

    row: Row
    module: str
    timeout: float = DEFAULT_TIMEOUT
    cache: str | None = None
    cache_timeout: float = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one import of a suite gave: its rows, and modules that failed."""

    cases: dict[str, Case]
    failures: dict[str, Failure]


def read_sides(descriptions: Sequence[dict[str, Any]]) -> list[Side]:
    """Turn the workers' descriptions of a suite into rows, named alike on all sides.

    A short id that two rows of any one side claim, or that is another row's own
    name, is nobody's on any side: else a second claim in the head would rename
    the base's row there, and nothing would be compared.
    """
    rows = [_rows(description["benchmarks"]) for description in descriptions]
    taken: set[str] = set()
    for side in rows:
        claims = Counter(name for row in side for name in {row.short, row.full})
        taken |= {name for name, count in claims.items() if count > 1}
    return [
        Side(cases=_cases(side, taken), failures=read_failures(description["failures"]))
        for side, description in zip(rows, descriptions, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A benchmark with one set of parameters, and the two names it may get."""

    benchmark: dict[str, Any]
    index: int | None
    short: str
    full: str


def _rows(benchmarks: list[dict[str, Any]]) -> list[_Named]:
    rows: list[_Named] = []
    for benchmark in benchmarks:
        name, pretty, params = (
            benchmark["name"],
            benchmark["pretty"],
            benchmark["params"],
        )
        for index, values in enumerate(itertools.product(*params)):
            rows.append(
                _Named(
                    benchmark=benchmark,
                    index=index if params else None,
                    short=scenario_id(name, values, pretty),
                    full=scenario_id(name, values),
                )
            )
    return rows


def _cases(rows: list[_Named], taken: set[str]) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for row in rows:
        wanted = row.full if row.short in taken else row.short
        identity = wanted
        # Names that differ only in what one line cannot show stay apart.
        for repeat in itertools.count(2):
            if identity not in cases:
                break
            identity = f"{wanted} #{repeat}"
        cases[identity] = _case(row.benchmark, row.index, identity)
    return cases


def read_failures(told: dict[str, dict[str, str]]) -> dict[str, Failure]:
    """Turn a worker's import errors, by module, into failures."""
    return {
        module: Failure(
            kind=FailureKind.FAILED,
            message=f"cannot import {module}: {text['message']}",
            detail=text["detail"],
        )
        for module, text in told.items()
    }


def _case(benchmark: dict[str, Any], index: int | None, identity: str) -> Case:
    kind = Kind(benchmark["kind"])
    return Case(
        row=Row(
            id=identity,
            benchmark=benchmark["name"],
            index=index,
            kind=kind,
            unit=_unit(kind, benchmark),
            source=benchmark["module"],
        ),
        module=benchmark["module"],
        timeout=float(benchmark["timeout"] or DEFAULT_TIMEOUT),
        cache=benchmark["cache"],
        cache_timeout=float(benchmark["cache_timeout"] or DEFAULT_TIMEOUT),
    )


def _unit(kind: Kind, benchmark: dict[str, Any]) -> Unit:
    if kind in (Kind.TIME, Kind.TIMERAW):
        return SECONDS
    if kind is Kind.PEAKMEM:
        return BYTES
    if kind is Kind.MEM:
        # The size of an object is counted, not timed: it repeats exactly.
        return replace(BYTES, is_exact=True)
    try:
        direction = Direction(benchmark["direction"])
    except ValueError:
        raise ConfigError(
            f"{benchmark['name']}: benchgate_direction is "
            f"{benchmark['direction']!r}; write lower, higher or none"
        ) from None
    return Unit(
        name=benchmark["unit"], direction=direction, is_exact=benchmark["exact"]
    )


def join(head: Side, head_on_base: Side, base: Side) -> tuple[Case, ...]:
    """Return every row that either side defines, marked by who defines it.

    ``head`` is head's suite on head, ``head_on_base`` the same suite on base's
    tree, ``base`` base's own suite on base. A row whose module cannot be
    imported on head is still head's row: it broke, it was not removed.
    """
    broken = tuple(head.failures)
    joined: dict[str, Case] = {}
    for source in (head.cases, head_on_base.cases):
        for identity, case in source.items():
            joined.setdefault(identity, case)
    for identity, case in base.cases.items():
        if identity not in joined and _is_below(case.module, broken):
            joined[identity] = case
    cases = [
        replace(case, row=replace(case.row, on_base=identity in base.cases))
        for identity, case in joined.items()
    ]
    removed = [
        replace(case, row=replace(case.row, on_head=False))
        for identity, case in base.cases.items()
        if identity not in joined
    ]
    return (*cases, *removed)


def _is_below(module: str, packages: tuple[str, ...]) -> bool:
    """Tell whether a module is one of ``packages`` or lies in one."""
    return any(module == name or module.startswith(f"{name}.") for name in packages)


def import_failure(failures: dict[str, Failure], module: str) -> Failure | None:
    """Return why ``module`` could not be imported, None if nothing is known."""
    for name, failure in failures.items():
        if _is_below(module, (name,)):
            return failure
    return None


def select(cases: tuple[Case, ...], pattern: str) -> tuple[Case, ...]:
    """Keep the rows whose id, or asv name, contains ``pattern``.

    An id given whole is taken literally, so that a row can be copied from the
    table although it holds characters that mean something to `re`.
    """
    if not pattern:
        return cases
    exact = tuple(case for case in cases if case.row.id == pattern)
    if exact:
        return exact
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"--benchmarks: {pattern!r} is not a regex: {error}"
        ) from None
    return tuple(
        case
        for case in cases
        if wanted.search(case.row.id) or wanted.search(case.row.benchmark)
    )


def default_launches(cases: tuple[Case, ...]) -> int:
    """Return the launches of a run: more for few rows, to know their noise.

    Each timed row gives one control value a launch, and a scale needs 20.
    """
    rows = sum(1 for case in cases if _is_timed(case))
    if rows == 0:
        return LEAST_LAUNCHES
    return max(LEAST_LAUNCHES, min(MOST_LAUNCHES, math.ceil(CONTROL_VALUES / rows)))


def _is_timed(case: Case) -> bool:
    is_time = case.row.kind in (Kind.TIME, Kind.TIMERAW)
    return is_time and case.row.on_head and case.row.on_base
