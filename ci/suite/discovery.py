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
from typing import Any, Final

from ci import ConfigError
from ci.model import BYTES, SECONDS, Direction, Failure, FailureKind, Kind, Unit
from ci.model import Scenario as Row

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

    ``module`` is the suite module that defines it; ``cache`` the key of its
    setup_cache. ``failures`` holds an import error by side, ``base`` or ``head``.
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


def read_side(description: dict[str, Any]) -> Side:
    """Turn a worker's description of its suite into rows with ids."""
    benchmarks = description["benchmarks"]
    named = [(b, *entry) for b in benchmarks for entry in _rows(b)]
    # An id that two rows claim, or that is another row's own name, is nobody's.
    claims = Counter(name for *_, short, full in named for name in {short, full})
    cases: dict[str, Case] = {}
    for benchmark, index, short, full in named:
        identity = full if claims[short] > 1 else short
        cases[identity] = _case(benchmark, index, identity)
    failures = {
        module: Failure(
            kind=FailureKind.FAILED,
            message=f"cannot import {module}: {text['message']}",
            detail=text["detail"],
        )
        for module, text in description["failures"].items()
    }
    return Side(cases=cases, failures=failures)


def _rows(benchmark: dict[str, Any]) -> list[tuple[int | None, str, str]]:
    """Return (index, short id, asv's own name) for each set of parameters.

    Both are one line, whatever the text of a parameter is (asv#1393).
    """
    name, pretty = benchmark["name"], benchmark["pretty"]
    if not benchmark["params"]:
        return [(None, _line(pretty or name), name)]
    rows: list[tuple[int | None, str, str]] = []
    for index, values in enumerate(itertools.product(*benchmark["params"])):
        full = _line(f"{name}({', '.join(values)})")
        short = full
        if pretty and benchmark["texts"] is not None:
            short = _line(f"{pretty}/{benchmark['texts'][index]}")
        rows.append((index, short, full))
    return rows


def _line(text: str) -> str:
    """Return a text as one line; one that is one already stays as it is."""
    return text if text.isprintable() else " ".join(text.split())


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
