"""What stays the same over the launches of a run: places, environment, caches."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ci.model import Arm, Failure
from ci.suite.workers import NoAnswer, Place, Worker

if TYPE_CHECKING:
    from pathlib import Path

    from ci.suite.discovery import Case
    from ci.suite.trees import Trees

PADDING: Final = 4096
"""Most bytes of padding in a launch's environment; its size moves the stack."""
ARMS: Final = (Arm.BASE, Arm.HEAD, Arm.CONTROL)

Workers = dict[Arm, Worker]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The places of the arms of one run, and failures of their setup_cache.

    ``changed`` are the paths in which the two commits differ.
    """

    trees: Trees
    suite: Path
    repository: Path
    import_paths: tuple[str, ...]
    changed: tuple[str, ...] = ()
    cache_failures: dict[tuple[str, Arm], Failure] = field(default_factory=dict)

    def place(self, arm: Arm, *, own_suite: bool = False) -> Place:
        """Return where ``arm`` runs. ``own_suite``: with its own tree's suite."""
        tree = self.trees.head if arm is Arm.HEAD else self.trees.base
        suite_tree = tree if own_suite else self.trees.head
        # One letter each: paths that a process can see have equal length.
        scratch = self.trees.work / ("own" if own_suite else f"arm-{arm[0]}")
        scratch.mkdir(exist_ok=True)
        paths = tuple(tree / name for name in self.import_paths)
        return Place(
            tree=tree,
            suite=suite_tree / self.suite,
            paths=tuple(path for path in paths if path.is_dir()),
            dropped=tuple(self.repository / name for name in self.import_paths),
            scratch=scratch,
        )

    def folder(self, case: Case, arm: Arm) -> Path:
        """Return the working folder of a scenario: its cache's, or the arm's own."""
        scratch = self.place(arm).scratch
        name = "cwd"
        if case.cache is not None:
            name = "cache-" + hashlib.sha256(case.cache.encode()).hexdigest()[:16]
        folder = scratch / name
        folder.mkdir(exist_ok=True)
        return folder

    def start(self, arm: Arm, seed: int, *, only: str | None = None) -> Worker:
        """Start the worker of one arm in the environment of one launch."""
        return Worker(arm, self.place(arm), environment(seed), only=only)

    def start_all(self, seed: int, first: int) -> Workers:
        """Start all arms at once; ``first`` rotates which process comes first."""
        turned = ARMS[first % 3 :] + ARMS[: first % 3]
        return {arm: self.start(arm, seed) for arm in turned}

    def start_own_base(self, seed: int) -> Worker:
        """Start the base with its own suite, to learn which rows it defines."""
        return Worker(Arm.BASE, self.place(Arm.BASE, own_suite=True), environment(seed))

    def fill_caches(self, workers: Workers, cases: tuple[Case, ...]) -> None:
        """Run each setup_cache once per side; the control gets the base's files.

        A failure is kept, and is the failure of every scenario that needed it.
        """
        first: dict[str, Case] = {}
        for case in cases:
            if case.cache is not None and case.row.on_head:
                first.setdefault(case.cache, case)
        for key, case in first.items():
            for arm in (Arm.BASE, Arm.HEAD):
                self._fill(workers[arm], key, case)
            source = self.folder(case, Arm.BASE)
            target = self.folder(case, Arm.CONTROL)
            shutil.copytree(source, target, dirs_exist_ok=True)
            failure = self.cache_failures.get((key, Arm.BASE))
            if failure is not None:
                self.cache_failures[key, Arm.CONTROL] = failure

    def _fill(self, worker: Worker, key: str, case: Case) -> None:
        try:
            worker.open(case.row.benchmark, None, self.folder(case, worker.arm))
            worker.ask("setup_cache", case.cache_timeout)
        except NoAnswer as problem:
            failure = problem.failure
            self.cache_failures[key, worker.arm] = Failure(
                kind=failure.kind,
                message=f"setup_cache: {failure.message}",
                detail=failure.detail,
            )
        finally:
            worker.end()


def environment(seed: int) -> dict[str, str]:
    """Return the environment of one launch, the same for all its arms.

    The hash seed and the padding move what a memory layout depends on, so that
    launches sample layouts. Idle thread pools must sleep: a spinning one would
    disturb the arm that is being timed.
    """
    padding = random.Random(seed).randrange(PADDING)  # noqa: S311 - not a secret
    return {
        "OMP_WAIT_POLICY": "passive",
        "KMP_BLOCKTIME": "0",
        **os.environ,
        "PYTHONHASHSEED": str(seed % 2**32),
        "BENCHGATE_PADDING": "x" * padding,
    }
