"""One launch, with real worker processes: values, life cycle, skips and faults."""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import pytest

from ci.model import SECONDS, Arm
from ci.runs import Kind, Measurement, Plan, Scenario
from ci.suite import launch
from ci.suite.discovery import Case
from ci.suite.launch import ORDERS, Launcher, shuffled
from tests.ci.demo_repository import (
    QUICK,
    WORK,
    Measured,
    failure_of,
    make_demo,
    measure,
)

if TYPE_CHECKING:
    from pathlib import Path

ARMS = tuple(Arm)

KINDS = """\
import sys
import subject

def time_work(): subject.work()
def time_eight():
    for _ in range(8): subject.work()
def time_pass(): pass

def time_number(): calls.append(1)
calls = []
time_number.number = 7

ticks = [0.0]
def tick():
    ticks[0] += 1.0
    return ticks[0]
def time_timer(): pass
time_timer.timer = tick

def timeraw_statement(): return "sum(range(20000))"
def timeraw_setup(): return "f(100)", "def f(n): return [0] * n"
def timeraw_interpreter():
    return f"import sys; assert sys.executable == {sys.executable!r}"
def timeraw_fault(): return "1 / 0"

class Blob:
    def __init__(self): self.numbers = list(range(5000))
def mem_list(): return [0] * 1000
def peakmem_50(): return bytearray(50_000_000)
def peakmem_nothing(): pass

def track_value(): return 42
track_value.unit = "pages"
def track_exact(): return 3.5
track_exact.benchgate_exact = True
track_exact.benchgate_direction = "higher"
def track_nan(): return float("nan")
def track_none(): return None
def track_text(): return "12"
def track_infinite(): return float("inf")
def track_interpreter(): return float(sys.executable == EXECUTABLE)
def track_flag(): return True
"""

LIFE = """\
import os
import sys
import threading
from asv_runner.benchmarks.mark import SkipNotImplemented, skip_benchmark
from subject import work

def note(text):
    with open(LOG, "a") as stream:
        stream.write(text + "\\n")

def setup(*_params):
    global is_ready
    is_ready = True
is_ready = False

def time_module_setup():
    assert is_ready

class Cycle:
    params = [[1, 2], ["a", "b"]]
    param_names = ["count", "letter"]
    def setup(self, count, letter):
        note(f"setup {count}{letter}")
        self.count = count
    def track_params(self, count, letter):
        note(f"body {count}{letter}")
        return count * 10 + "ab".index(letter)
    def teardown(self, count, letter): note(f"teardown {count}{letter}")

class Objects:
    params = [[len, work], [None, object()]]
    def track_call(self, function, thing):
        return function([1, 2, 3]) if function is len else 7

class Single:
    params = ["x y", "z|w"]
    def track_text(self, text): return len(text)
    track_text.pretty_name = "Pretty"

class TeardownFails:
    def track_value(self): return 5
    def teardown(self): raise ValueError("late")

class Pops:
    def setup(self): self.items = [1]
    def time_pop(self): self.items.pop()

class PopsMany:
    def setup(self): self.items = [1] * 40
    def time_pop(self): self.items.pop()

looks = [0.0]
def look():
    looks[0] += 0.0005
    return looks[0]
class RunsOut:
    # Every batch takes one sample's time: one call each. The calls that find this
    # out leave two items for the samples, which are four at least.
    def setup(self): self.items = [1] * 6
    def time_pop(self): self.items.pop()
    time_pop.timer = look

class Memo:
    def setup(self): self.known = None
    def time_memo(self):
        if self.known is None:
            self.known = work(20_000)

class Reads:
    def setup(self): self.items = list(range(2000))
    def time_sum(self): sum(self.items)

class Forced:
    def setup(self): self.calls = 0
    def time_call(self):
        self.calls += 1
        assert self.calls == 1
    time_call.benchgate_setup = "call"
    def time_batch(self): self.calls += 1
    time_batch.benchgate_setup = "batch"
    def time_once(self):
        self.calls += 1
        assert self.calls == 1
    time_once.number = 1

class NumberInSetup:
    def setup(self): self.number = 9
    def time_work(self): work()

class Checked:
    benchgate_check = "check"
    benchgate_labels = "labels"
    params = [1, 2]
    def check(self, n):
        if n == 2: raise AssertionError("2 is wrong")
    def labels(self, n): return {"kernel": f"k{n}", "count": n}
    def time_work(self, n): work()

class NoSuchCheck:
    benchgate_check = "chekc"
    def time_work(self): work()

class SkipInSetup:
    def setup(self): raise NotImplementedError("not on this machine")
    def time_work(self): work()

class SkipInBody:
    def time_work(self): raise SkipNotImplemented("not now")
    def track_value(self): raise SkipNotImplemented("not now")

class SkipParams:
    params = [1, 2]
    skip_params = [(2,)]
    def track_value(self, n): return n

@skip_benchmark
def time_never(): pass

class Base:
    def peakmem_inherited(self): return bytearray(20_000_000)

class Threads:
    def time_thread(self):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    time_thread.number = 2
    def track_threads(self):
        threading.Thread(target=threading.Event().wait).start()
        return threading.active_count()

def time_chatter():
    print("x" * 200)
    sys.stderr.write("y" * 200)
    os.write(1, b"z" * 200)
    assert sys.stdin.read() == ""

def track_lazy():
    import subject.lazy
    return subject.lazy.VALUE
"""

CACHE = """\
import os

class Cached:
    def setup_cache(self):
        with open("left.txt", "w") as stream: stream.write("12345")
        return {"rows": 3}
    def track_value(self, cache): return cache["rows"] + len(open("left.txt").read())
    def track_own_copy(self, cache):
        with open("mark", "a") as stream: stream.write("x")
        return os.path.getsize("mark")

class NoneCached:
    def setup_cache(self): pass
    def track_value(self): return 8

class Fails:
    def setup_cache(self): raise OSError("no\\nroom")
    def track_a(self): return 1
    def time_b(self): pass

class Unpicklable:
    def setup_cache(self): return lambda: 1
    def track_a(self, cache): return 1

class Slow:
    def setup_cache(self):
        import time
        time.sleep(60)
    setup_cache.timeout = 0.3
    def track_a(self): return 1
"""

FAULTS = """\
import ctypes
import os
import signal
import sys

def time_raises(): raise ValueError("one\\ntwo " + "x" * 100_000)
def time_exit(): raise SystemExit(3)
def time_os_exit(): os._exit(7)
def time_segfault(): ctypes.string_at(0)
def track_killed(): os.kill(os.getpid(), signal.SIGKILL)
def peakmem_os_exit(): os._exit(7)
def track_surrogate(): raise ValueError("bad name \\udcff")

class Unprintable(Exception):
    def __str__(self): raise RuntimeError("no text")
def track_unprintable(): raise Unprintable

class Setup:
    def setup(self): raise KeyError("missing")
    def time_a(self): pass

calls = [0]
def time_later():
    calls[0] += 1
    if calls[0] > 3: raise ValueError("the fourth call fails")

class LateExit:
    def track_dies_between_orders(self):
        import threading
        threading.Timer(0.0, os._exit, [9]).start()
        return 1

class Wait:
    timeout = 0.3
    def time_body(self):
        import time
        time.sleep(60)
    def track_body(self): self.time_body()
    def peakmem_body(self): self.time_body()

class WaitSetup:
    timeout = 0.3
    def setup(self):
        import time
        time.sleep(60)
    def time_a(self): pass

class WaitDeaf:
    timeout = 0.3
    def time_a(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True: pass

def track_after(): return 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for repositories and what suites write."""
    return tmp_path_factory.mktemp("launch")


@pytest.fixture(scope="module")
def kinds(folder: Path) -> Measured:
    """Measure a suite of every kind of benchmark, against itself."""
    text = f"EXECUTABLE = {sys.executable!r}\n" + KINDS
    return measure(make_demo(folder / "kinds", {"kinds.py": text}))


@pytest.fixture(scope="module")
def life(folder: Path) -> Measured:
    """Measure a suite about set-up, parameters, attributes and skips."""
    text = f"LOG = {str(folder / 'log')!r}\n" + LIFE
    suite = {
        "__init__.py": "",
        "life.py": text,
        "cache.py": CACHE,
        "inherits.py": (
            "from benchmarks import life\n"
            "class Heir(life.Base):\n"
            "    def track_own(self): return 2\n"
        ),
        "deep/__init__.py": "",
        "deep/er/__init__.py": "",
        "deep/er/est.py": "def track_depth(): return 3\n",
    }
    demo = make_demo(folder / "life", suite)
    demo.commit({"subject/lazy.py": "VALUE = 11\n"})
    return measure(demo)


@pytest.fixture(scope="module")
def faults(folder: Path) -> Measured:
    """Measure a suite in which nearly everything goes wrong."""
    suite = {"basic.py": "import subject\n", "faults.py": FAULTS}
    return measure(make_demo(folder / "faults", suite))


def values(row: Measurement) -> dict[Arm, tuple[float, ...]]:
    """Return the samples of a row that must not have failed."""
    assert not row.failures
    assert set(row.samples) == set(Arm)
    return row.samples


# --- Values -------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["time_work", "time_pass", "timeraw_statement", "timeraw_setup"]
)
def test_time_is_positive_on_every_arm(kinds: Measured, name: str) -> None:
    """A time is per call, in seconds, above zero and below the wall clock."""
    row = kinds.row(f"kinds.{name}")

    for samples in values(row).values():
        assert all(0 < sample <= row.seconds for sample in samples)


def test_time_is_per_call(kinds: Measured) -> None:
    """Eight calls take about eight times one; a factor of four either way is noise."""
    one = median(values(kinds.row("kinds.time_work"))[Arm.HEAD])
    eight = median(values(kinds.row("kinds.time_eight"))[Arm.HEAD])

    assert 2 < eight / one < 32


def test_empty_body_has_a_plausible_time(kinds: Measured) -> None:
    """A body of a nanosecond is timed in large batches: never zero, below a µs."""
    row = kinds.row("kinds.time_pass")

    assert row.loops > 1000
    assert 1e-10 < median(values(row)[Arm.BASE]) < 1e-5


def test_number_of_the_suite_is_kept(kinds: Measured) -> None:
    """An explicit ``number`` is the batch, whatever a sample then takes."""
    assert kinds.row("kinds.time_number").loops == 7


def test_timer_of_the_suite_is_used(kinds: Measured) -> None:
    """A timer that ticks once a look gives exactly one second a batch."""
    row = kinds.row("kinds.time_timer")

    assert row.loops == 1
    assert {s for samples in values(row).values() for s in samples} == {1.0}


def test_timeraw_runs_the_gate_s_interpreter(kinds: Measured) -> None:
    """Another Python first on PATH must not be the one that is measured."""
    assert not kinds.row("kinds.timeraw_interpreter").failures
    assert values(kinds.row("kinds.track_interpreter"))[Arm.HEAD] == (1.0,)


def test_timeraw_fault_is_a_failure(kinds: Measured) -> None:
    """A statement that raises has no time."""
    kind, text = failure_of(kinds.row("kinds.timeraw_fault"))

    assert kind == "failed"
    assert "ZeroDivisionError" in text


def test_mem_is_the_size_of_one_object(kinds: Measured) -> None:
    """A list of a thousand slots: a thousand pointers and the list's own header."""
    for samples in values(kinds.row("kinds.mem_list")).values():
        assert samples == (pytest.approx(8056, abs=64),)


@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM is of Linux")
def test_peakmem_is_above_the_baseline(kinds: Measured) -> None:
    """Fifty megabytes read as fifty, and nothing as next to nothing."""
    for samples in values(kinds.row("kinds.peakmem_50")).values():
        assert samples == (pytest.approx(50e6, rel=0.1),)
    for (sample,) in values(kinds.row("kinds.peakmem_nothing")).values():
        assert sample < 5e6


def test_track_is_what_was_returned(kinds: Measured) -> None:
    """One value an arm, as a number; no orders, since nothing alternates."""
    row = kinds.row("kinds.track_value")

    assert values(row) == dict.fromkeys(ARMS, (42.0,))
    assert row.orders == ()
    assert values(kinds.row("kinds.track_flag"))[Arm.HEAD] == (1.0,)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("track_nan", "nan"),
        ("track_infinite", "inf"),
        ("track_none", "None"),
        ("track_text", "'12'"),
    ],
)
def test_track_that_is_no_number_fails(kinds: Measured, name: str, said: str) -> None:
    """What cannot be compared is a failure that shows what came."""
    row = kinds.row(f"kinds.{name}")

    kind, text = failure_of(row)
    assert kind == "failed"
    assert said in text
    assert "not a number" in text
    assert row.samples == {}


def test_units_follow_the_suite(kinds: Measured) -> None:
    """Kind, unit, direction and exactness come from the benchmark's attributes."""
    rows = {case.row.id: case.row for case in kinds.found.cases}
    unit = rows["kinds.track_value"].unit
    exact = rows["kinds.track_exact"].unit

    assert (unit.name, unit.direction.value, unit.is_exact) == ("pages", "lower", False)
    assert (exact.direction.value, exact.is_exact) == ("higher", True)
    assert rows["kinds.mem_list"].unit.is_exact
    assert rows["kinds.peakmem_50"].kind is Kind.PEAKMEM


# --- Blocks -------------------------------------------------------------------


def test_blocks_are_palindromes_with_equal_slots(kinds: Measured) -> None:
    """Two samples a block and arm; every arm's mean slot in a block is 3.5."""
    row = kinds.row("kinds.time_work")

    assert len(row.orders) >= QUICK.minimum_blocks
    for order in row.orders:
        assert sorted(order) == ["b", "c", "h"]
        slots = order + order[::-1]
        for initial in "bhc":
            places = [slot for slot, c in enumerate(slots, start=1) if c == initial]
            assert mean(places) == 3.5
    assert {len(s) for s in values(row).values()} == {2 * len(row.orders)}


def test_orders_are_all_and_rotate() -> None:
    """Six orders of three arms; over six blocks each arm leads twice."""
    assert len(set(ORDERS)) == 6
    for place in range(3):
        assert sorted(order[place] for order in ORDERS) == list("bbcchh")


def test_every_arm_has_the_same_loops(kinds: Measured) -> None:
    """A document holds one batch size for a row: the ticks prove it on each arm."""
    samples = values(kinds.row("kinds.time_timer"))

    assert samples[Arm.BASE] == samples[Arm.HEAD] == samples[Arm.CONTROL]


def test_order_of_scenarios_is_a_matter_of_the_seed() -> None:
    """The order of a launch repeats with its seed and keeps every case."""
    cases = tuple(make_case(f"m.time_{n}") for n in range(20))

    assert shuffled(cases, 3) == shuffled(cases, 3) != shuffled(cases, 4)
    assert sorted(c.row.id for c in shuffled(cases, 3)) == sorted(
        c.row.id for c in cases
    )


# --- Life cycle ---------------------------------------------------------------


@pytest.mark.usefixtures("life")
def test_set_up_body_and_teardown_run_once_each(folder: Path) -> None:
    """A tracked value is taken after its set-up and before its teardown."""
    lines = (folder / "log").read_text().splitlines()

    for text in ("1a", "1b", "2a", "2b"):
        mine = [line.split()[0] for line in lines if line.endswith(text)]
        assert sorted(mine) == ["body"] * 3 + ["setup"] * 3 + ["teardown"] * 3
        assert mine[0] == "setup"
        assert mine[-1] == "teardown"


@pytest.mark.parametrize(
    ("identity", "value"),
    [
        ("life.Cycle.track_params(1, 'a')", 10),
        ("life.Cycle.track_params(1, 'b')", 11),
        ("life.Cycle.track_params(2, 'a')", 20),
        ("life.Cycle.track_params(2, 'b')", 21),
        ("life.Objects.track_call(<built-in function len>, None)", 3),
        ("life.Objects.track_call(<function work>, <object object>)", 7),
        ("Pretty/x y", 3),
        ("Pretty/z|w", 3),
        ("life.TeardownFails.track_value", 5),
        ("life.Threads.track_threads", 2),
        ("life.SkipParams.track_value(1)", 1),
        ("inherits.Heir.track_own", 2),
        ("deep.er.est.track_depth", 3),
        ("cache.Cached.track_value", 8),
        ("cache.Cached.track_own_copy", 1),
        ("cache.NoneCached.track_value", 8),
        ("life.track_lazy", 11),
    ],
)
def test_value_of(life: Measured, identity: str, value: float) -> None:
    """Parameters, objects, caches and packages reach the body on every arm."""
    assert values(life.row(identity)) == dict.fromkeys(ARMS, (value,))


@pytest.mark.parametrize(
    "identity", ["life.time_module_setup", "life.time_chatter", "life.Reads.time_sum"]
)
def test_is_measured(life: Measured, identity: str) -> None:
    """Module-level set-up runs; output and a read of stdin break no protocol."""
    assert all(
        s > 0 for samples in values(life.row(identity)).values() for s in samples
    )


def test_threads_left_running_end_with_their_scenario(life: Measured) -> None:
    """A benchmark that leaves threads behind is measured like any other."""
    values(life.row("life.Threads.time_thread"))


def test_inherited_peak_is_found_in_the_heir_s_module(life: Measured) -> None:
    """A method that a class inherits belongs to the module of the class."""
    for (peak,) in values(life.row("inherits.Heir.peakmem_inherited")).values():
        assert peak == pytest.approx(20e6, rel=0.15)


@pytest.mark.parametrize("identity", ["life.Pops.time_pop", "life.PopsMany.time_pop"])
def test_body_that_uses_its_set_up_up_gets_one_per_call(
    life: Measured, identity: str
) -> None:
    """Popping from a list of a set-up: one set-up per call, and the pop alone timed."""
    row = life.row(identity)

    assert row.setup == "call"
    assert 0 < median(values(row)[Arm.HEAD]) < 1e-4


def test_set_up_that_runs_out_while_sampling(life: Measured) -> None:
    """A set-up that lasts for the calibration and not for the samples: start over."""
    row = life.row("life.RunsOut.time_pop")

    assert (row.setup, row.loops) == ("call", 1)
    for samples in values(row).values():
        assert samples == pytest.approx([0.0005] * len(samples))


def test_body_that_remembers_is_timed_fresh(life: Measured) -> None:
    """A result kept from the first call would make all others look like nothing."""
    row = life.row("life.Memo.time_memo")

    assert row.setup == "call"
    assert median(values(row)[Arm.HEAD]) > 5e-5


def test_body_that_only_reads_shares_one_set_up(life: Measured) -> None:
    """One set-up serves a whole batch where calls do not change it."""
    row = life.row("life.Reads.time_sum")

    assert (row.setup, row.loops > 1) == ("batch", True)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("time_call", "call"), ("time_batch", "batch"), ("time_once", "call")],
)
def test_set_up_mode_of_the_author_is_kept(
    life: Measured, name: str, mode: str
) -> None:
    """``benchgate_setup``, or a ``number`` of one, says how set-up and calls pair."""
    row = life.row(f"life.Forced.{name}")

    assert row.setup == mode
    values(row)


def test_number_set_by_the_set_up_counts(life: Measured) -> None:
    """Set-up may change attributes; they are read after it."""
    assert life.row("life.NumberInSetup.time_work").loops == 9


def test_labels_of_the_suite_are_kept(life: Measured) -> None:
    """What a suite says of what ran is in the document, as text."""
    row = life.row("life.Checked.time_work(1)")

    assert row.labels == {a: {"kernel": "k1", "count": "1"} for a in Arm}
    values(row)


def test_failing_check_is_a_failure_and_never_a_time(life: Measured) -> None:
    """A wrong result has no speed."""
    row = life.row("life.Checked.time_work(2)")

    assert failure_of(row) == ("failed", "AssertionError: 2 is wrong")
    assert (row.samples, set(row.failures)) == ({}, set(ARMS))


def test_check_that_does_not_exist_is_a_failure(life: Measured) -> None:
    """A misspelled check must not pass for one that holds."""
    kind, text = failure_of(life.row("life.NoSuchCheck.time_work"))

    assert kind == "failed"
    assert "benchgate_check" in text
    assert "chekc" in text


@pytest.mark.parametrize(
    "identity",
    [
        "life.SkipInSetup.time_work",
        "life.SkipInBody.time_work",
        "life.SkipInBody.track_value",
        "life.SkipParams.track_value(2)",
    ],
)
def test_skips_are_skips(life: Measured, identity: str) -> None:
    """The ways to skip are told apart from failing."""
    row = life.row(identity)

    assert {row.failures[arm].kind.value for arm in ARMS} == {"skipped"}
    assert row.samples == {}


def test_skipped_benchmark_is_no_row(life: Measured) -> None:
    """A function marked with skip_benchmark is not part of the suite."""
    assert not [c for c in life.found.cases if "never" in c.row.id]


@pytest.mark.parametrize("name", ["track_a", "time_b"])
def test_failing_cache_fails_its_users(life: Measured, name: str) -> None:
    """A setup_cache that raises is the failure of each scenario that needs it."""
    row = life.row(f"cache.Fails.{name}")

    for arm in ARMS:
        assert failure_of(row, arm) == ("failed", "setup_cache: OSError: no room")


def test_cache_that_cannot_be_pickled_says_so(life: Measured) -> None:
    """A cache crosses processes; one that cannot is named as such."""
    kind, text = failure_of(life.row("cache.Unpicklable.track_a"))

    assert kind == "failed"
    assert text.startswith("setup_cache: ")
    assert "pickle" in text


def test_slow_cache_times_out(life: Measured) -> None:
    """A setup_cache has a timeout of its own."""
    kind, text = failure_of(life.row("cache.Slow.track_a"))

    assert (kind, text) == ("timed_out", "setup_cache: no answer within 0.3 s")


def test_files_imported_late_are_part_of_the_proof(life: Measured) -> None:
    """A module that only a body imports was measured, so it is listed."""
    for arm in ARMS:
        assert "subject/lazy.py" in life.launches[0].imported[arm].files


# --- Faults -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("time_raises", "failed", "ValueError: one two xxx"),
        ("time_exit", "failed", "SystemExit: 3"),
        ("time_os_exit", "crashed", "its process ended with status 7"),
        ("time_segfault", "crashed", "its process was killed by SIGSEGV"),
        ("track_killed", "crashed", "its process was killed by SIGKILL"),
        ("peakmem_os_exit", "crashed", "its process ended with status 7"),
        ("track_surrogate", "failed", "ValueError: bad name"),
        ("track_unprintable", "failed", "Unprintable"),
        ("Setup.time_a", "failed", "KeyError: 'missing'"),
        ("time_later", "failed", "ValueError: the fourth call fails"),
        ("Wait.time_body", "timed_out", "no answer within 0.3 s"),
        ("Wait.track_body", "timed_out", "no answer within 0.3 s"),
        ("Wait.peakmem_body", "timed_out", "no answer within 0.3 s"),
        ("WaitSetup.time_a", "timed_out", "no answer within 0.3 s"),
        ("WaitDeaf.time_a", "timed_out", "no answer within 0.3 s"),
    ],
)
def test_fault_is_recorded_on_every_arm(
    faults: Measured, name: str, kind: str, said: str
) -> None:
    """Raising, crashing and hanging stay apart, in one short line, without a time."""
    row = faults.row(f"faults.{name}")

    assert row.samples == {}
    for arm in ARMS:
        found, text = failure_of(row, arm)
        assert (found, text[: len(said)]) == (kind, said)
        assert "\n" not in text
        # No document can hold half of a character.
        assert (text + row.failures[arm].detail).encode()
        assert len(text) <= 500
        assert len(row.failures[arm].detail) <= 4000


def test_run_goes_on_after_every_fault(faults: Measured) -> None:
    """No fault takes another scenario's value with it, wherever it comes in order."""
    assert values(faults.row("faults.track_after")) == dict.fromkeys(ARMS, (1.0,))
    ids = {case.row.id for case in faults.found.cases}
    assert {row.scenario for row in faults.launches[0].measurements} == ids


def test_traceback_is_the_detail(faults: Measured) -> None:
    """Where it broke is in the document for those who ask."""
    detail = faults.row("faults.Setup.time_a").failures[Arm.HEAD].detail

    assert 'raise KeyError("missing")' in detail


def test_child_that_dies_between_orders_harms_no_other(folder: Path) -> None:
    """The importer outlives a child that ends by itself after it has answered."""
    suite = {
        "a.py": (
            "import os, threading, time, subject\n"
            "def track_a():\n"
            "    time.sleep(0.2)\n"
            "    threading.Timer(0.05, os._exit, [9]).start()\n"
            "    return 1\n"
            + "".join(
                f"def track_{n}():\n    time.sleep(0.1)\n    return {n}\n"
                for n in range(3)
            )
        )
    }
    measured = measure(make_demo(folder / "between", suite))

    for n in range(3):
        assert values(measured.row(f"a.track_{n}")) == dict.fromkeys(ARMS, (n,))


# --- Two commits --------------------------------------------------------------


def test_module_that_only_head_has_fails_on_base(folder: Path) -> None:
    """What base cannot import is told as base's failure, and the run goes on."""
    demo = make_demo(folder / "newapi")
    demo.commit(
        {
            "subject/fresh.py": "VALUE = 4\n",
            "benchmarks/fresh.py": (
                "from subject.fresh import VALUE\n"
                "def track_fresh(): return VALUE\n"
                "class Cached:\n"
                "    def setup_cache(self): return VALUE\n"
                "    def track_cached(self, value): return value\n"
                "def peakmem_fresh(): pass\n"
            ),
        }
    )
    measured = measure(demo, "HEAD~1")

    for name in ("track_fresh", "Cached.track_cached", "peakmem_fresh"):
        row = measured.row(f"fresh.{name}")
        assert set(row.failures) == {Arm.BASE, Arm.CONTROL}
        kind, text = failure_of(row, Arm.BASE)
        assert kind == "failed"
        assert text.startswith("cannot import benchmarks.fresh: ModuleNotFoundError")
        assert len(row.samples[Arm.HEAD]) == 1
    assert not measured.row("basic.time_work").failures
    rows = {c.row.id: c.row for c in measured.found.cases}
    assert not rows["fresh.track_fresh"].on_base


@pytest.mark.parametrize("broken", ["import no_such_module\n", "def time_x(:\n"])
def test_broken_file_of_head_is_a_failure_not_a_removal(
    folder: Path, broken: str
) -> None:
    """A suite module that head broke still has its rows, and they fail."""
    demo = make_demo(folder / f"broken{len(broken)}")
    demo.write({"benchmarks/other.py": "def track_other(): return 1\n"})
    demo.commit()
    demo.commit({"benchmarks/basic.py": broken})
    measured = measure(demo, "HEAD~1", plan=replace(QUICK, is_same_allowed=True))
    row = measured.row("basic.time_work")
    scenario = next(c.row for c in measured.found.cases if c.row.id == row.scenario)

    assert (scenario.on_base, scenario.on_head) == (True, True)
    kind, text = failure_of(row, Arm.HEAD)
    assert kind == "failed"
    assert text.startswith("cannot import benchmarks.basic: ")
    assert values(measured.row("other.track_other"))[Arm.HEAD] == (1.0,)


def test_class_that_cannot_be_made_fails_its_own_module_only(folder: Path) -> None:
    """A suite class that needs arguments does not take the whole suite with it."""
    demo = make_demo(folder / "class")
    demo.commit(
        {
            "benchmarks/zzz.py": (
                "class Broken:\n"
                "    def __init__(self, needed): pass\n"
                "    def time_it(self): pass\n"
            )
        }
    )
    measured = measure(demo, "HEAD~1")

    assert not measured.row("basic.time_work").failures
    assert "benchmarks.zzz" in measured.found.imports[Arm.HEAD]


def test_stale_bytecode_is_not_measured(folder: Path) -> None:
    """Files of equal length and time on both sides: each arm runs its own bytes."""
    demo = make_demo(
        folder / "stale", {"a.py": "import subject\ndef track_a(): return subject.N\n"},
        "N = 1\n",
    )  # fmt: skip
    demo.commit({"subject/__init__.py": "N = 2\n"})
    row = measure(demo, "HEAD~1").row("a.track_a")

    assert values(row) == {Arm.BASE: (1.0,), Arm.HEAD: (2.0,), Arm.CONTROL: (1.0,)}


def test_planted_slowdown_is_seen_whole(folder: Path) -> None:
    """Four times the work is two to eight times the time; the control stays."""
    suite = {"a.py": "import subject\ndef time_a(): subject.work()\n"}
    demo = make_demo(folder / "slow", suite, WORK.replace("200", "20_000"))
    demo.commit({"subject/__init__.py": WORK.replace("200", "80_000")})
    samples = values(measure(demo, "HEAD~1").row("a.time_a"))
    base = median(samples[Arm.BASE])

    assert 2 < median(samples[Arm.HEAD]) / base < 8
    assert 0.5 < median(samples[Arm.CONTROL]) / base < 2


def test_clock_that_drifts_drifts_for_all_alike(folder: Path) -> None:
    """Each timing shorter than the one before: the arms still read the same (11-01)."""
    counter = folder / "counter"
    suite = {
        "drift.py": f"""\
        import fcntl
        import subject

        def drifting():
            with open({str(counter)!r}, "a+") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX)
                stream.seek(0)
                calls = len(stream.read())
                stream.write("x")
            # Two looks a sample: its end minus its beginning falls by 2 a sample.
            return calls * 100.0 - (calls * calls) / 4

        def time_drift(): pass
        time_drift.timer = drifting
        """
    }
    plan = replace(QUICK, scenario_seconds=0.0, minimum_blocks=1, sample_seconds=0.5)
    row = measure(make_demo(folder / "drift", suite), plan=plan).row("drift.time_drift")
    sums = {arm: sum(samples) for arm, samples in values(row).items()}

    assert len(set(values(row)[Arm.BASE])) > 1
    assert sums[Arm.BASE] == pytest.approx(sums[Arm.HEAD])
    assert sums[Arm.BASE] == pytest.approx(sums[Arm.CONTROL])


def test_slow_body_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body longer than a sample: the blocks that fit, not the minimum of them."""
    monkeypatch.setattr(launch, "SLOW_SECONDS", 0.7)
    suite = {
        "a.py": """\
        import time
        import subject

        def time_slow(): time.sleep(0.05)

        class Slow:
            def setup(self): pass
            def time_again(self): time.sleep(0.05)
        """
    }
    plan = replace(QUICK, scenario_seconds=0.1, minimum_blocks=8)
    measured = measure(make_demo(folder / "sleep", suite), plan=plan)

    for name in ("time_slow", "Slow.time_again"):
        row = measured.row(f"a.{name}")
        assert row.loops == 1
        assert 1 <= len(row.orders) <= 2
        assert all(s >= 0.04 for samples in values(row).values() for s in samples)


@pytest.mark.parametrize(
    ("wall", "blocks"), [(0.003, 22), (0.02, 8), (0.5, 2), (30.0, 1), (1e-6, 400)]
)
def test_blocks_fit_the_time(wall: float, blocks: int) -> None:
    """0.4 s a scenario, at least eight blocks, unless they take more than six seconds.

    Six samples a block: 0.4 / 0.018 = 22; 0.4 / 0.12 = 3, so 8; 6 / 3 = 2; 6 / 180.
    """
    plan = replace(QUICK, minimum_blocks=8)
    launcher = make_launcher({}, plan)

    assert launcher._blocks(wall, 0.4, arms=3) == blocks


# --- Pinning, with stand-ins for the workers ----------------------------------


class Recorder:
    """A worker that answers at once and remembers what it was asked."""

    def __init__(self, width: float) -> None:
        """Claim that ``width`` CPUs were busy."""
        self.width = width
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.log: list[Recorder] = []
        self.allowed: list[tuple[str, float]] = []

    def ask(self, op: str, seconds: float, **details: object) -> dict[str, Any]:
        """Answer one order; one call takes a second."""
        self.asked.append((op, details))
        self.allowed.append((op, seconds))
        if op == "sample":
            self.log.append(self)
        if op == "calibrate":
            return {"loops": 5, "mode": "batch", "width": self.width, "wall": 0.001,
                    "is_free": False}  # fmt: skip
        return {"value": 1.0, "files": {}, "foreign": {}}


def make_case(identity: str) -> Case:
    """Return a timed case."""
    row = Scenario(
        id=identity, benchmark=identity, index=None, kind=Kind.TIME, unit=SECONDS
    )
    return Case(row=row, module="m")


def make_launcher(recorders: dict[Arm, Recorder], plan: Plan = QUICK) -> Launcher:
    """Return a launcher whose workers are stand-ins."""
    return Launcher(
        session=None,  # type: ignore[arg-type]
        plan=plan,
        seed=1,
        cpu=3,
        workers=recorders,  # type: ignore[arg-type]
        imports={},
        known={},
    )


@pytest.mark.parametrize(("width", "is_wide"), [(0.97, False), (2.4, True)])
def test_only_single_threaded_scenarios_are_pinned(width: float, is_wide: bool) -> None:
    """A scenario whose threads really ran keeps all CPUs, on every arm alike."""
    recorders = {arm: Recorder(width) for arm in Arm}

    row = make_launcher(recorders)._sampled(make_case("m.t"), 0.01, 0, list(Arm), "")

    assert row.is_multithreaded is is_wide
    for recorder in recorders.values():
        pins = [details for op, details in recorder.asked if op == "pin"]
        assert pins == ([] if is_wide else [{"cpus": [3]}])
        loops = [d["loops"] for op, d in recorder.asked if op in ("warm", "sample")]
        assert set(loops) == {5}


def test_calibration_has_time_for_several_slow_calls() -> None:
    """The suite's timeout is for one call; a slow body gets it for each."""
    recorders = {arm: Recorder(1.0) for arm in Arm}
    case = replace(make_case("m.t"), timeout=2.0)

    make_launcher(recorders)._sampled(case, 0.01, 0, list(Arm), "")

    allowed = dict(recorders[Arm.BASE].allowed)
    assert (allowed["try"], allowed["sample"]) == (2.0, 2.0)
    assert allowed["calibrate"] == 10.0


def test_samples_are_taken_in_the_order_that_is_told() -> None:
    """Each block is its order and then the mirror; six blocks show all orders."""
    recorders = {arm: Recorder(1.0) for arm in Arm}
    log: list[Recorder] = []
    for recorder in recorders.values():
        recorder.log = log
    plan = replace(QUICK, minimum_blocks=12)

    row = make_launcher(recorders, plan)._sampled(
        make_case("m.t"), 0.0, 4, list(Arm), ""
    )

    initials = {recorder: arm[0] for arm, recorder in recorders.items()}
    told = "".join(order + order[::-1] for order in row.orders)
    assert "".join(initials[recorder] for recorder in log) == told
    assert len(row.orders) == 12
    assert set(row.orders[:6]) == set(row.orders[6:]) == set(ORDERS)
    assert row.orders[0] == ORDERS[4]
