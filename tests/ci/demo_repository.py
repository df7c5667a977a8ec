"""A temporary git repository with a tiny package, an asv suite and commits.

The package is called ``subject``, the suite ``benchmarks``. Nothing depends on
the git configuration of the person who runs the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model import Arm
from ci.runs import Launch, Measurement, Plan
from ci.suite.asv_config import find_config
from ci.suite.discovery import select
from ci.suite.runner import Found, Runner, discover, launch_seed, run_launches
from ci.suite.session import Session, Workers
from ci.suite.trees import changed_files, check_out, find_pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONFIG = json.dumps(
    {"version": 1, "project": "subject", "repo": ".", "benchmark_dir": "benchmarks"}
)
WORK = "def work(turns=200):\n    return sum(range(turns))\n"
SUITE = """\
import subject


def time_work():
    subject.work()
"""
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05+00:00",
}
QUICK = Plan(
    launches=1,
    sample_seconds=0.0005,
    scenario_seconds=0.01,
    minimum_blocks=2,
    seed=7,
)


def run_git(folder: Path, *words: str) -> str:
    """Run git in ``folder`` with a fixed identity; return what it prints."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Demo:
    """One repository on disk."""

    root: Path

    def git(self, *words: str) -> str:
        """Run git in the repository."""
        return run_git(self.root, *words)

    def write(self, files: Mapping[str, str]) -> None:
        """Write text files; blocks may be indented as the test is."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")

    def commit(self, files: Mapping[str, str] | None = None, title: str = "c") -> str:
        """Write ``files``, commit everything, and return the sha."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", title)
        return self.git("rev-parse", "HEAD")

    def state(self) -> tuple[str, ...]:
        """Return what a run must leave as it was."""
        return (
            self.git("status", "--porcelain", "--untracked-files=all"),
            self.git("branch", "--all", "--verbose"),
            self.git("worktree", "list"),
            self.git("stash", "list"),
            self.git("config", "--local", "--list"),
        )


def make_repository(root: Path) -> Demo:
    """Return an empty repository on branch ``main``."""
    root.mkdir(parents=True, exist_ok=True)
    run_git(root, "init", "--quiet", "--initial-branch=main")
    return Demo(root)


def make_demo(
    root: Path, suite: Mapping[str, str] | None = None, subject: str = WORK
) -> Demo:
    """Return a repository whose one commit has a package and a suite.

    ``suite`` maps file names below ``benchmarks`` to their text.
    """
    demo = make_repository(root)
    modules = suite if suite is not None else {"basic.py": SUITE}
    demo.commit(
        {
            "asv.conf.json": CONFIG,
            ".gitignore": "__pycache__/\n",
            "subject/__init__.py": subject,
            "benchmarks/__init__.py": "",
            **{f"benchmarks/{name}": text for name, text in modules.items()},
        },
        "first",
    )
    return demo


class Silent:
    """Progress that nobody looks at."""

    def begin(self, launch: int, launches: int, scenarios: int) -> None:
        """Ignore that a launch begins."""

    def advance(self, scenario: str) -> None:
        """Ignore that a scenario is done."""


@dataclass(slots=True)
class Measured:
    """What a run of a demo gave."""

    session: Session
    found: Found
    launches: list[Launch] = field(default_factory=list)

    def row(self, identity: str, launch: int = 0) -> Measurement:
        """Return the measurement of one scenario."""
        rows = self.launches[launch].measurements
        return next(row for row in rows if row.scenario == identity)


@contextlib.contextmanager
def started(
    demo: Demo, base: str = "HEAD", head: str = "HEAD", seed: int = 7, **places: object
) -> Iterator[tuple[Session, Workers, Found]]:
    """Check out, start a worker per arm and discover; end all of it afterwards."""
    pair = find_pair(demo.root, base, head)
    with check_out(demo.root, pair) as trees:
        config = find_config(trees.head, None)
        suite = f"{config.suite}/"
        changed = changed_files(demo.root, pair)
        session = Session(
            trees=trees,
            suite=config.suite,
            repository=demo.root,
            import_paths=places.get("import_paths", ("src", ".")),  # type: ignore[arg-type]
        )
        workers = session.start_all(launch_seed(seed, 0), 0)
        try:
            same = not any(name.startswith(suite) for name in changed)
            yield session, workers, discover(session, workers, is_suite_same=same)
        finally:
            for worker in workers.values():
                worker.stop()


def measure(
    demo: Demo,
    base: str = "HEAD",
    head: str = "HEAD",
    plan: Plan = QUICK,
    *,
    seconds: float | None = None,
) -> Measured:
    """Measure all that ``plan`` asks for; ``seconds`` is the budget from here on."""
    with started(demo, base, head, plan.seed) as (session, workers, found):
        cases = select(found.cases, plan.benchmarks)
        session.fill_caches(workers, cases)
        measured = Measured(session, found)
        runner = Runner(
            session=session,
            plan=plan,
            found=found,
            cases=cases,
            deadline=None if seconds is None else time.monotonic() + seconds,
            progress=Silent(),
        )
        run_launches(runner, workers, (), measured.launches.append)
    return measured


def failure_of(row: Measurement, arm: Arm = Arm.HEAD) -> tuple[str, str]:
    """Return kind and message of an arm's failure."""
    failure = row.failures[arm]
    return failure.kind.value, failure.message


def wait_until_gone(pids: list[int], seconds: float = 20.0) -> list[int]:
    """Wait for processes to end; return those that did not."""
    deadline = time.monotonic() + seconds
    while left := [pid for pid in pids if is_live(pid)]:
        if time.monotonic() > deadline:
            return left
        time.sleep(0.02)
    return []


def is_live(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"
