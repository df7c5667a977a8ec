"""The controller and its workers: what comes back, and that nobody stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ci import SuiteError
from ci.model import Arm, FailureKind
from ci.suite.session import ARMS, PADDING, environment
from ci.suite.workers import LOG_TAIL, NoAnswer, Place, Worker
from tests.ci.demo_repository import (
    is_live,
    make_demo,
    measure,
    started,
    wait_until_gone,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

SUITE = """\
import os
import signal
import subprocess
import sys
import time

import subject

def spawn():
    code = "import time; time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code])
    with open("pids", "a") as stream:
        stream.write(f"{process.pid}\\n")

def track_leaves(): spawn(); return 1
def track_waits():
    spawn()
    time.sleep(600)
def peakmem_waits(): track_waits()
def timeraw_waits(): return "import time; time.sleep(600)"
def track_crashes():
    spawn()
    print("last words")
    sys.stdout.flush()
    os._exit(4)
def track_loud():
    for stream in (sys.stdout, sys.stderr):
        for _ in range(2000): stream.write("x" * 1000)
    os.write(1, b"y" * 100_000)
    return 2
def track_kills_importer(): os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)
def track_value(): return 3
def track_reads(): return len(sys.stdin.read()) + len(os.read(0, 10))
def track_place(): print(os.getcwd()); return 1
class Torn:
    def teardown(self): open("torn", "w").close()
    def track_value(self): return 4
class Stuck:
    def teardown(self): time.sleep(600)
    def track_value(self): return 5
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return where an arm runs: a tree on disk, without git."""
    root = tmp_path_factory.mktemp("place")
    for name, text in {
        "subject/__init__.py": "N = 1\n",
        "suite/__init__.py": "",
        "suite/all.py": SUITE,
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    scratch = root / "scratch"
    scratch.mkdir()
    return Place(
        tree=root, suite=root / "suite", paths=(root,), dropped=(), scratch=scratch
    )


@pytest.fixture
def worker(place: Place) -> Iterator[Worker]:
    """Start a worker, wait for its import, and end it afterwards."""
    for left in place.scratch.iterdir():
        left.unlink()
    made = Worker(Arm.BASE, place, environment(1))
    try:
        made.describe()
        yield made
    finally:
        made.stop()


def pids(place: Place, count: int = 1) -> list[int]:
    """Return the processes that bodies started, once there are enough."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (place.scratch / "pids").exists():
            found = (place.scratch / "pids").read_text().split()
            if len(found) >= count:
                return [int(pid) for pid in found]
        time.sleep(0.01)
    raise AssertionError("no process was started")


def value(worker: Worker, name: str, place: Place, seconds: float = 20) -> float:
    """Fork, set up, and take one value."""
    worker.open(f"all.{name}", None, place.scratch)
    worker.ask("setup", seconds)
    return float(worker.ask("value", seconds)["value"])


def test_description_names_every_benchmark(place: Place) -> None:
    """A worker tells its rows, what it imported, and nothing foreign."""
    made = Worker(Arm.HEAD, place, environment(1))
    try:
        found = made.describe()
    finally:
        made.stop()

    names = {b["name"] for b in found["benchmarks"]}
    assert {"all.track_value", "all.Torn.track_value", "all.peakmem_waits"} <= names
    assert (list(found["files"]), found["foreign"]) == (["subject/__init__.py"], {})
    assert found["failures"] == {}


def test_children_come_one_after_the_other(worker: Worker, place: Place) -> None:
    """One import serves many children; each is another process."""
    for _ in range(3):
        assert value(worker, "track_value", place) == 3
        worker.end()

    assert worker.is_alive


def test_end_tears_down(worker: Worker, place: Place) -> None:
    """Ending a scenario runs its teardown."""
    value(worker, "Torn.track_value", place)
    worker.end()

    assert (place.scratch / "torn").exists()


def test_teardown_that_hangs_is_ended(
    worker: Worker, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A teardown has a deadline too, and the worker serves on."""
    monkeypatch.setattr("ci.suite.workers.END_SECONDS", 0.3)
    value(worker, "Stuck.track_value", place)
    worker.end()

    assert value(worker, "track_value", place) == 3


def test_output_of_any_size_does_not_disturb(worker: Worker, place: Place) -> None:
    """Megabytes on both streams fill no pipe and mix with no answer."""
    assert value(worker, "track_loud", place) == 2
    worker.end()
    assert value(worker, "track_value", place) == 3


def test_standard_input_is_empty(worker: Worker, place: Place) -> None:
    """A suite that reads its input gets its end, not our orders."""
    assert value(worker, "track_reads", place) == 0


def test_processes_left_running_end_with_their_scenario(
    worker: Worker, place: Place
) -> None:
    """A server that a benchmark forgot must not disturb the next one."""
    value(worker, "track_leaves", place)
    left = pids(place)
    assert all(is_live(pid) for pid in left)
    worker.end()

    assert wait_until_gone(left) == []


@pytest.mark.parametrize("is_inline", [False, True])
def test_late_child_is_killed_with_what_it_started(
    worker: Worker, place: Place, is_inline: bool
) -> None:
    """A timeout ends the whole group; a fork's importer lives on."""
    name = "peakmem_waits" if is_inline else "track_waits"
    worker.open(f"all.{name}", None, place.scratch, inline=is_inline)
    worker.ask("setup", 20)
    with pytest.raises(NoAnswer) as late:
        worker.ask("value", 0.8)
    left = pids(place)

    assert late.value.failure.kind is FailureKind.TIMED_OUT
    assert late.value.failure.message == "no answer within 0.8 s"
    assert wait_until_gone(left) == []
    assert is_inline or value(worker, "track_value", place) == 3


def test_timeraw_interpreter_ends_at_the_timeout(worker: Worker, place: Place) -> None:
    """The interpreter of a timeraw statement is a grandchild, and ends as well."""
    worker.open("all.timeraw_waits", None, place.scratch)
    worker.ask("setup", 20)
    with pytest.raises(NoAnswer):
        worker.ask("try", 0.8)

    assert value(worker, "track_value", place) == 3
    session = os.getsid(worker._process.pid)
    below = [p for p in psutil.pids() if is_live(p) and os.getsid(p) == session]
    assert len(below) == 2


def test_crash_tells_its_status_and_last_words(worker: Worker, place: Place) -> None:
    """What a dead child printed is the detail; what others printed before is not."""
    value(worker, "track_loud", place)
    worker.end()
    with pytest.raises(NoAnswer) as crashed:
        value(worker, "track_crashes", place)
    failure = crashed.value.failure

    assert failure.kind is FailureKind.CRASHED
    assert failure.message == "its process ended with status 4"
    assert failure.detail == "last words\n"
    assert len(failure.detail) <= LOG_TAIL
    assert wait_until_gone(pids(place)) == []


def test_child_of_a_dead_importer_does_not_stay(worker: Worker, place: Place) -> None:
    """A child may kill its parent; at the deadline it ends, and so does the worker."""
    worker.open("all.track_kills_importer", None, place.scratch)
    child = worker._child
    worker.ask("setup", 20)
    with pytest.raises(NoAnswer) as late:
        worker.ask("value", 0.5)

    assert late.value.failure.kind is FailureKind.TIMED_OUT
    assert not worker.is_alive
    assert child is not None
    assert wait_until_gone([child]) == []
    with pytest.raises(NoAnswer) as dead:
        worker.ask("setup", 1)
    assert dead.value.failure.message == "its process was killed by SIGKILL"


def test_stop_leaves_nobody(worker: Worker, place: Place) -> None:
    """Stopping in the middle of a scenario ends importer, child and grandchild.

    The importer cannot help: it is not given the time to look.
    """
    value(worker, "track_leaves", place)
    child, importer = worker._child, worker._process.pid
    assert child is not None
    os.kill(importer, signal.SIGSTOP)
    worker.stop()

    assert wait_until_gone([child, importer, *pids(place)]) == []


CONTROLLER = """\
import sys
from pathlib import Path
from ci.model import (Arm)
from ci.suite.session import environment
from ci.suite.workers import Place, Worker

root, name, inline = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
place = Place(tree=root, suite=root / "suite", paths=(root,), dropped=(),
              scratch=root / "scratch")
worker = Worker(Arm.BASE, place, environment(1))
worker.describe()
worker.open(f"all.{name}", None, place.scratch, inline=inline)
worker.ask("setup", 20)
print("ready", flush=True)
worker.ask("value" if "timeraw" not in name else "try", 600)
"""


@pytest.mark.parametrize("name", ["track_waits", "peakmem_waits", "timeraw_waits"])
def test_killed_controller_leaves_no_measuring_process(place: Place, name: str) -> None:
    """Nobody goes on measuring for a controller that is gone, however it hangs."""
    for left in place.scratch.iterdir():
        left.unlink()
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, str(place.tree), name,
         "1" if "peakmem" in name else "0"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert controller.stdout is not None
    assert controller.stdout.readline() == b"ready\n"
    time.sleep(0.3)
    below = [p.pid for p in psutil.Process(controller.pid).children(recursive=True)]
    if name != "timeraw_waits":
        below += pids(place)
    assert len(below) >= 3
    controller.kill()
    controller.communicate()

    assert wait_until_gone(below) == []


# --- Whole suites -----------------------------------------------------------------


def test_scenario_that_kills_its_importer_harms_no_other(tmp_path: Path) -> None:
    """A new importer takes over where a child has killed the old one."""
    suite = {
        "a.py": """\
        import os, signal, subject
        def track_kills(): os.kill(os.getppid(), signal.SIGKILL); return 0
        def track_1(): return 1
        def track_2(): return 2
        """
    }
    measured = measure(make_demo(tmp_path, suite))

    for number in (1, 2):
        row = measured.row(f"a.track_{number}")
        assert row.samples == dict.fromkeys(ARMS, (float(number),))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import os; os._exit(3)", "its process ended with status 3"),
        ("import os; os.kill(os.getpid(), 9)", "its process was killed by SIGKILL"),
    ],
)
def test_suite_that_ends_the_importer_is_refused(
    tmp_path: Path, line: str, said: str
) -> None:
    """An import that ends the process is told with how it ended."""
    demo = make_demo(tmp_path, {"a.py": line + "\n"})

    with (
        pytest.raises(SuiteError, match=f"cannot import the suite: {said}"),
        started(demo),
    ):
        pytest.fail("not reached")


def test_import_that_prints_and_exits_is_a_failure_of_its_module(
    tmp_path: Path,
) -> None:
    """A script among the benchmarks, which leaves at import, harms no other module."""
    suite = {
        "a.py": "import subject\ndef track_a(): return 1\n",
        "script.py": "print('x' * 100_000)\nraise SystemExit('usage: script')\n",
    }
    with started(make_demo(tmp_path, suite)) as (_session, _workers, found):
        assert [case.row.id for case in found.cases] == ["a.track_a"]
        failure = found.imports[Arm.HEAD]["benchmarks.script"]
        assert failure.message == (
            "cannot import benchmarks.script: SystemExit: usage: script"
        )


def test_environment_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed gives one environment; another seed another hash seed and size."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("KMP_BLOCKTIME", "7")
    one = environment(5)

    assert one == environment(5)
    assert (one["PYTHONHASHSEED"], environment(6)["PYTHONHASHSEED"]) == ("5", "6")
    assert len({environment(n)["BENCHGATE_PADDING"] for n in range(9)}) > 5
    assert all(len(environment(n)["BENCHGATE_PADDING"]) < PADDING for n in range(9))
    assert (one["OMP_WAIT_POLICY"], one["KMP_BLOCKTIME"]) == ("passive", "7")


def test_interpreter_is_the_one_that_runs_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ``python`` that comes first on PATH is not what is measured (11-13)."""
    for name in ("python", "python3"):
        fake = tmp_path / "bin" / name
        fake.parent.mkdir(exist_ok=True)
        fake.write_text("#!/bin/sh\nexit 9\n")
        fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    suite = {
        "a.py": f"""\
        import sys, subject
        def track_a(): return float(sys.executable == {sys.executable!r})
        def timeraw_a():
            return "import sys; assert sys.executable == {sys.executable!r}"
        """
    }
    measured = measure(make_demo(tmp_path / "demo", suite))

    assert measured.row("a.track_a").samples == dict.fromkeys(ARMS, (1.0,))
    assert not measured.row("a.timeraw_a").failures


def test_arms_see_paths_of_equal_length(tmp_path: Path) -> None:
    """The length of a path moves memory; it must not differ between the arms."""
    suite = {
        "a.py": """\
        import os, sys, subject
        def track_cwd(): return len(os.getcwd())
        def track_path(): return len("".join(sys.path))
        def track_environment():
            return sum(len(k) + len(v) for k, v in os.environ.items())
        """
    }
    measured = measure(make_demo(tmp_path, suite))

    for name in ("track_cwd", "track_path", "track_environment"):
        row = measured.row(f"a.{name}")
        assert len(set(row.samples.values())) == 1


def test_worker_script_needs_nothing_of_the_gate() -> None:
    """It runs in the environment under test: standard library and asv_runner only."""
    code = textwrap.dedent(
        """
        import ast, json, sys
        names = set()
        for path in sys.argv[1:]:
            for node in ast.walk(ast.parse(open(path).read())):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    names.add(node.module)
        print(json.dumps(sorted({n.partition(".")[0] for n in names})))
        """
    )
    scripts = [ROOT / "ci/suite/worker.py", ROOT / "ci/suite/worker_child.py"]
    output = subprocess.check_output([sys.executable, "-c", code, *map(str, scripts)])
    allowed = sys.stdlib_module_names | {"asv_runner"}

    assert set(json.loads(output)) <= allowed


def test_interrupt_at_the_terminal_is_for_the_controller(place: Place) -> None:
    """Ctrl-C reaches a whole terminal; workers wait for what the controller says."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        worker = Worker(Arm.BASE, place, environment(1))
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        worker.describe()
        os.kill(worker._process.pid, signal.SIGINT)

        assert value(worker, "track_value", place) == 3
    finally:
        worker.stop()
