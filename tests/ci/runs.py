"""Builds runs of the gate from launch effects, for tests of its verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ci.model import (
    SECONDS,
    Arm,
    Commit,
    Failure,
    FailureKind,
    Host,
    Reading,
    ResultSet,
    Unit,
)
from ci.runs import Kind, Launch, Measurement, Plan, Run, Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROTATION: Final = ("bhc", "hcb", "cbh", "bch", "hbc", "chb")
COUNT: Final = Unit(name="page-ins", is_exact=True)
TOKENS: Final = Unit(name="tokens", is_exact=True)
RATE: Final = Unit(name="1/s")

Values = tuple[float | Failure, float | Failure, float | Failure]
"""What base, head and control say in one launch."""


def failure(kind: FailureKind, message: str = "boom") -> Failure:
    """Return a failure of this kind."""
    return Failure(kind=kind, message=message)


def scenario(name: str, **changed: object) -> Scenario:
    """Return a timed row."""
    facts = {"benchmark": name, "index": None, "kind": Kind.TIME, "unit": SECONDS}
    return Scenario(id=name, **{**facts, **changed})  # type: ignore[arg-type]


def counted(name: str, *launches: Values) -> list[Measurement]:
    """Return launches that have at most one value an arm."""
    return [_measurement(name, values, blocks=0) for values in launches]


def timed(name: str, *launches: Values, blocks: int = 8) -> list[Measurement]:
    """Return launches whose samples all equal the arm's value."""
    return [_measurement(name, values, blocks=blocks) for values in launches]


def noisy(
    name: str,
    *,
    change: float = 0.0,
    sigma: float = 0.005,
    launches: int = 4,
    seed: int = 0,
    blocks: int = 8,
) -> list[Measurement]:
    """Return Gaussian launches of 10 µs, in which head is slower by ``change``."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(launches):
        arms = random.normal(0, sigma / np.sqrt(1.5), 3)
        arms[1] += np.log1p(change)
        blur = random.normal(0, sigma, (3, 2 * blocks))
        samples = 1e-5 * np.exp(arms[:, None] + blur)
        made.append(
            Measurement(
                scenario=name,
                samples={arm: tuple(samples[i].tolist()) for i, arm in enumerate(Arm)},
                orders=tuple(ROTATION[b % 6] for b in range(blocks)),
            )
        )
    return made


def run_of(
    rows: Mapping[str, Sequence[Measurement]],
    *,
    scenarios: Sequence[Scenario] | None = None,
    launches: int = 4,
    is_complete: bool = True,
) -> Run:
    """Return a run of these rows; a row with fewer launches lacks the last ones."""
    plan = Plan(
        launches=launches,
        sample_seconds=0.003,
        scenario_seconds=0.5,
        minimum_blocks=8,
        seed=1,
    )
    longest = max((len(trials) for trials in rows.values()), default=0)
    return Run(
        created="2026-01-01T00:00:00Z",
        tool="benchgate 0",
        project="p",
        relation="given",
        base=Commit(sha="a" * 40),
        head=Commit(sha="b" * 40),
        host=Host(
            system="Linux",
            release="6.1",
            machine="x86_64",
            cpu_model="cpu",
            cpus=2,
            memory_bytes=2**33,
            python="CPython 3.12",
        ),
        plan=plan,
        scenarios=tuple(scenarios or map(scenario, rows)),
        launches=tuple(
            Launch(
                index=index,
                hash_seed=index,
                started="",
                seconds=1.0,
                imported={},
                measurements=tuple(
                    trials[index] for trials in rows.values() if index < len(trials)
                ),
            )
            for index in range(longest)
        ),
        is_complete=is_complete,
    )


def quiet_rows(count: int = 6, **settings: float) -> dict[str, list[Measurement]]:
    """Return rows without a change: enough control values to know their class."""
    return {
        f"quiet.{i}": noisy(f"quiet.{i}", seed=100 + i, **settings)  # type: ignore[arg-type]
        for i in range(count)
    }


def result_set(tool: str = "criterion", **readings: float | Reading) -> ResultSet:
    """Return one side of another tool; a bare number is a time in seconds."""
    return ResultSet(
        tool=tool,
        source="somewhere",
        readings={
            name: value if isinstance(value, Reading) else Reading(value=value)
            for name, value in readings.items()
        },
    )


def _measurement(name: str, values: Values, *, blocks: int) -> Measurement:
    each = 2 * blocks or 1
    arms = dict(zip((Arm.BASE, Arm.HEAD, Arm.CONTROL), values, strict=True))
    return Measurement(
        scenario=name,
        samples={a: (v,) * each for a, v in arms.items() if isinstance(v, float)},
        orders=tuple(ROTATION[b % 6] for b in range(blocks)),
        failures={a: v for a, v in arms.items() if isinstance(v, Failure)},
    )
