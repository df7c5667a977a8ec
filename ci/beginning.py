"""How a run document begins, or goes on: what is asked, against what is there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ci import ConfigError, SuiteError
from ci.book import Book, begin
from ci.host import now, read_host
from ci.runs import Plan, Run
from ci.suite.discovery import default_launches
from ci.suite.trees import find_commit

if TYPE_CHECKING:
    from pathlib import Path

    from ci.asking import Request
    from ci.suite.asv_config import SuiteConfig
    from ci.suite.discovery import Case
    from ci.suite.trees import Pair

SAMPLE_SECONDS: Final = 0.003
MINIMUM_BLOCKS: Final = 8
SCENARIO_SECONDS: Final = 0.5
"""What a scenario may sample in a launch: the error inside launches is still most
of their noise here, and 48 rows in four launches stay below four minutes."""
QUICK_SECONDS: Final = 0.15
IMPORT_PATHS: Final = ("src", ".")


def refuse_self(request: Request, pair: Pair) -> None:
    """Raise SuiteError for a commit against itself, unless that is wanted."""
    is_wanted = request.is_same_allowed or request.is_list or pair.relation == "self"
    if pair.base.sha == pair.head.sha and not is_wanted:
        raise SuiteError(
            f"base and head are the same commit, {pair.head.sha[:12]}: there is "
            "nothing to compare; name another --base, or pass --allow-same"
        )


def refuse_other(request: Request, repository: Path, run: Run) -> None:
    """Raise ConfigError for a flag that differs from what a run was begun with."""
    begun = f"{request.output} was begun with"
    remedy = "leave it out with --resume, or start a new run"
    sides = {"--base": (request.base, run.base), "--head": (request.head, run.head)}
    for flag, (value, known) in sides.items():
        if value is None:
            continue
        sha = find_commit(repository, value, flag).sha
        if sha != known.sha:
            raise ConfigError(
                f"{flag}: {value!r} is {sha[:12]}, {begun} {known.sha[:12]}; {remedy}"
            )
    plan = run.plan
    asked = {
        "--benchmarks": (request.benchmarks or None, plan.benchmarks),
        "--seed": (request.seed, plan.seed),
        "--asv-config": (request.asv_config, plan.asv_config),
        "--import-path": (request.import_paths or None, plan.import_paths),
        "--quick": (request.is_quick or None, plan.scenario_seconds == QUICK_SECONDS),
    }
    for flag, (wanted, there) in asked.items():
        if wanted is not None and wanted != there:
            raise ConfigError(f"{flag}: {wanted!r}, but {begun} {there!r}; {remedy}")


def open_book(
    request: Request,
    pair: Pair,
    config: SuiteConfig,
    cases: tuple[Case, ...],
    tool: str,
) -> tuple[Book, Path | None]:
    """Begin the document of a run; the place of an earlier one is returned too."""
    run = Run(
        created=now(),
        tool=tool,
        project=config.project,
        relation=pair.relation,
        base=pair.base,
        head=pair.head,
        host=read_host(),
        plan=Plan(
            launches=request.launches or default_launches(cases),
            sample_seconds=SAMPLE_SECONDS,
            scenario_seconds=QUICK_SECONDS if request.is_quick else SCENARIO_SECONDS,
            minimum_blocks=MINIMUM_BLOCKS,
            seed=request.seed or 0,
            budget=request.budget,
            benchmarks=request.benchmarks,
            asv_config=str(config.source),
            import_paths=request.import_paths or IMPORT_PATHS,
            is_same_allowed=request.is_same_allowed or pair.relation == "self",
        ),
        scenarios=tuple(case.row for case in cases),
    )
    return begin(request.output, run)


def any_seed() -> int:
    """Return a seed that no earlier run has had."""
    return int.from_bytes(os.urandom(4), "big")
