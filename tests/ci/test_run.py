"""The verb that measures: what it writes, what it refuses, what survives a stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import psutil
import pytest

from ci import asking, beginning, compare, run
from ci.documents import decode_run, encode_run, read_run
from ci.model import Arm, FailureKind
from ci.runs import Launch, Measurement, Plan, Run
from ci.suite.runner import Runner
from tests.ci.demo_repository import (
    SUITE,
    WORK,
    Demo,
    Silent,
    is_live,
    make_demo,
    make_repository,
    wait_until_gone,
)

ROOT = Path(__file__).parents[2]
Ran = Callable[..., tuple[int, str, str]]
QUICK = ("--quick", "--launches", "1", "--seed", "3")
TWO = {
    "basic.py": SUITE,
    "count.py": (
        "import subject\n"
        "def track_count(): return 3\n"
        "track_count.benchgate_exact = True\n"
    ),
}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Watch the temporary folder, and run where nothing is."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Demo:
    """Return a repository with two commits, and stand in it."""
    made = make_demo(tmp_path / "project", TWO)
    made.commit({"subject/__init__.py": WORK + "# a comment\n"}, "second")
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return where the document goes, outside of the repository."""
    return tmp_path / "out" / "run.json"


@pytest.fixture
def ran(out: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Return a function that runs the verb: status, stdout, stderr."""

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run.main(["--output", str(out), *words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def refused(result: tuple[int, str, str], *said: str) -> None:
    """Check that a run ended in one line that says what and what to do."""
    status, stdout, stderr = result
    assert (status, stdout) == (2, "")
    assert stderr.count("\n") == 1, stderr
    assert stderr.startswith("benchgate run: ")
    for text in said:
        assert text in stderr


# --- A whole document ---------------------------------------------------------


def test_document_holds_everything(
    demo: Demo, ran: Ran, out: Path, temporary: Path
) -> None:
    """Both commits, the host, the plan, each launch with every raw sample."""
    before = demo.state()
    status, stdout, stderr = ran(*QUICK)
    found = read_run(out)

    assert (status, stdout) == (0, "")
    shas = f"{found.base.sha[:12]} -> {found.head.sha[:12]} (first-parent)"
    assert shas in stderr
    assert "2 scenarios, 1 of 1 launches" in stderr
    assert f"python -m ci.compare {out}" in stderr
    assert demo.state() == before
    assert list(temporary.iterdir()) == []
    assert found == decode_run(encode_run(found), "again")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found.created)
    assert found.tool.startswith("benchgate ")
    assert (found.project, found.relation) == ("subject", "first-parent")
    assert (found.base.subject, found.head.subject) == ("first", "second")
    assert found.base.sha == demo.git("rev-parse", "HEAD^")
    assert found.head.sha == demo.git("rev-parse", "HEAD")
    assert found.host.cpus >= 1
    assert found.plan.launches == 1
    assert found.plan.seed == 3
    assert found.plan.scenario_seconds == beginning.QUICK_SECONDS
    assert [s.id for s in found.scenarios] == ["basic.time_work", "count.track_count"]
    assert all(s.on_base and s.on_head for s in found.scenarios)
    assert found.is_complete
    check_launch(found.launches[0])


def check_launch(launch: Launch) -> None:
    """Check one launch of the two scenarios."""
    rows = {row.scenario: row for row in launch.measurements}
    timed, counted = rows["basic.time_work"], rows["count.track_count"]

    assert set(rows) == {"basic.time_work", "count.track_count"}
    assert not timed.failures
    assert len(timed.orders) >= beginning.MINIMUM_BLOCKS
    for arm in Arm:
        assert len(timed.samples[arm]) == 2 * len(timed.orders)
        assert all(0 < sample < 1 for sample in timed.samples[arm])
        assert counted.samples[arm] == (3.0,)
        assert launch.imported[arm].files == ("subject/__init__.py",)
    assert timed.loops > 1
    assert timed.setup == "batch"
    assert 0 < timed.seconds < launch.seconds
    base, head, control = (
        launch.imported[arm] for arm in (Arm.BASE, Arm.HEAD, Arm.CONTROL)
    )
    assert base == control
    assert base.digest != head.digest
    assert (base.tree, head.tree) == ("base", "head")


def test_every_field_of_a_document_is_written(demo: Demo, ran: Ran, out: Path) -> None:
    """What the model names is in the file, under the same names."""
    assert demo.root.is_dir()
    ran(*QUICK)
    document = json.loads(out.read_text(encoding="utf-8"))

    assert list(document)[:2] == ["format", "version"]
    assert set(document) - {"format", "version"} == {f.name for f in fields(Run)}
    launch = document["launches"][0]
    assert set(launch) == {f.name for f in fields(Launch)}
    assert set(launch["measurements"][0]) == {f.name for f in fields(Measurement)}


def test_launches_differ_in_what_launches_sample(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """One hash seed for all arms of a launch, another for the next."""
    demo.commit({"benchmarks/seed.py": "import subject\n"
                 "def track_seed(): return hash('text') % 2**40\n"})  # fmt: skip
    ran("--quick", "--launches", "2", "--base", "HEAD~1", "--benchmarks", "seed")
    found = read_run(out)
    seen = [launch.measurements[0].samples for launch in found.launches]

    assert [set(samples.values()) for samples in seen] == [
        {seen[0][Arm.BASE]},
        {seen[1][Arm.BASE]},
    ]
    assert seen[0] != seen[1]
    assert found.launches[0].hash_seed != found.launches[1].hash_seed
    assert [launch.index for launch in found.launches] == [0, 1]


@pytest.mark.slow
def test_planted_slowdown_is_an_alert_and_the_same_commit_is_not(
    tmp_path: Path, ran: Ran, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times the work in one of five functions, through both verbs.

    Five timed rows in five launches give the 20 control values that a red flag
    needs. The commit against itself must fail nothing.
    """
    monkeypatch.setattr(beginning, "SAMPLE_SECONDS", 0.001)
    monkeypatch.setattr(beginning, "QUICK_SECONDS", 0.04)
    subject = "".join(f"def work{n}(): return sum(range(2_000))\n" for n in range(5))
    suite = "import subject\n" + "".join(
        f"def time_{n}(): subject.work{n}()\n" for n in range(5)
    )
    demo = make_demo(tmp_path / "planted", {"all.py": suite}, subject)
    demo.commit({"subject/__init__.py": subject.replace("2_000", "6_000", 1)})
    monkeypatch.chdir(demo.root)
    words = ("--quick", "--launches", "5", "--seed", "3")

    assert ran(*words)[0] == 0
    assert compare.main([str(out), "--json", "report.json"]) == 1
    rows = verdicts_of("report.json")
    assert rows.pop("all.time_0") == "alert"
    assert "alert" not in rows.values()

    same = ("--base", "HEAD", "--head", "HEAD", "--allow-same")
    assert ran(*words, *same)[0] == 0
    assert compare.main([str(out), "--json", "report.json"]) != 1
    assert "alert" not in verdicts_of("report.json").values()


def verdicts_of(name: str) -> dict[str, str]:
    """Return the verdict of each row of a report document."""
    report = json.loads(Path(name).read_text(encoding="utf-8"))
    return {row["scenario"]: row["verdict"] for row in report["rows"]}


def test_broken_added_and_removed_scenarios_are_called_so(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """What head broke fails the check; what it added or removed does not."""
    base = demo.commit(
        {
            "benchmarks/parts.py": (
                "import subject\n"
                "def track_stays(): return 1\n"
                "def track_breaks(): return subject.work()\n"
                "def track_goes(): return 1\n"
            )
        }
    )
    demo.commit(
        {
            "subject/__init__.py": "def work(): raise RuntimeError('broken')\n",
            "benchmarks/parts.py": (
                "import subject\n"
                "def track_stays(): return 1\n"
                "def track_breaks(): return subject.work()\n"
                "def track_comes(): return 1\n"
            ),
        }
    )
    status, _, _ = ran(*QUICK, "--base", base, "--benchmarks", "parts")
    found = read_run(out)
    rows = {row.scenario: row for row in found.launches[0].measurements}

    assert status == 0
    assert compare.main([str(out), "--json", "report.json"]) == 1
    verdicts = verdicts_of("report.json")
    assert verdicts["parts.track_breaks"] == "failed"
    assert verdicts["parts.track_comes"] == "added"
    assert verdicts["parts.track_goes"] == "removed"
    assert set(rows) == {"parts.track_stays", "parts.track_breaks", "parts.track_comes"}
    failure = rows["parts.track_breaks"].failures[Arm.HEAD]
    assert (failure.kind, failure.message) == (
        FailureKind.FAILED,
        "RuntimeError: broken",
    )
    assert rows["parts.track_breaks"].samples[Arm.BASE] == (19900.0,)
    assert any("benchmarks/parts.py" in note for note in found.notes)


def test_file_that_only_a_setup_imports_is_not_called_unmeasured(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """A note on what was not imported waits until all has been imported."""
    demo.commit(
        {
            "benchmarks/late.py": (
                "class Late:\n"
                "    def setup(self):\n"
                "        from subject import engine\n"
                "        self.run = engine.run\n"
                "    def track_value(self): return self.run()\n"
            ),
            "subject/engine.py": "def run(): return 1\n",
            "subject/other.py": "",
        }
    )
    demo.commit({"subject/engine.py": "def run(): return 2\n", "subject/other.py": "1"})
    ran(*QUICK, "--benchmarks", "late")
    found = read_run(out)

    assert not any("engine" in note for note in found.notes)
    assert not any("same on both sides" in note for note in found.notes)
    assert "changed, but imported by no scenario: subject/other.py" in found.notes


# --- Selection and lists --------------------------------------------------------


def test_list_prints_ids_and_nothing_else(
    demo: Demo, ran: Ran, out: Path, temporary: Path
) -> None:
    """One id a line on stdout, for a script to read; nothing is measured."""
    demo.write({"subject/__init__.py": "changed"})

    assert ran("--list") == (0, "basic.time_work\ncount.track_count\n", "")
    assert ran("--list", "--benchmarks", "count") == (0, "count.track_count\n", "")
    assert not out.exists()
    assert list(temporary.iterdir()) == []


def test_only_what_matches_is_measured(demo: Demo, ran: Ran, out: Path) -> None:
    """--benchmarks is a regex over ids, and part of the plan."""
    assert demo.root.is_dir()
    ran(*QUICK, "--benchmarks", "^count")
    found = read_run(out)

    assert [s.id for s in found.scenarios] == ["count.track_count"]
    assert found.plan.benchmarks == "^count"


def test_project_in_a_folder_of_its_own(demo: Demo, ran: Ran, out: Path) -> None:
    """--import-path says where the project is, if not in the root or in src."""
    demo.git("rm", "--quiet", "-r", "subject")
    demo.commit({"lib/subject/__init__.py": WORK})
    demo.commit({"lib/subject/__init__.py": WORK + "# again\n"})
    words = (*QUICK, "--benchmarks", "count")

    refused(ran("--list"), "the suite has no benchmark", "No module named 'subject'")
    assert ran(*words, "--import-path", "lib")[0] == 0
    found = read_run(out).launches[0].imported[Arm.HEAD]
    assert found.files == ("lib/subject/__init__.py",)


def test_selection_without_a_match(demo: Demo, ran: Ran, out: Path) -> None:
    """Nothing selected is an error, never a green nothing."""
    assert demo.root.is_dir()
    refused(ran("--benchmarks", "typo"), "none of 2 scenarios matches 'typo'", "--list")
    refused(ran("--benchmarks", "*"), "--benchmarks: '*' is not a regex")
    assert not out.exists()


def test_rows_that_are_all_gone(demo: Demo, ran: Ran) -> None:
    """A head that removed all that was selected leaves nothing to measure."""
    demo.git("rm", "--quiet", "benchmarks/count.py")
    demo.commit()

    refused(ran(*QUICK, "--benchmarks", "count"), "nothing is left to measure")
    refused(ran("--list", "--benchmarks", "count"), "nothing is left to measure")


# --- Which commits ----------------------------------------------------------------


def test_commit_against_itself_is_refused_unless_asked(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """Comparing one commit with itself by mistake must not look like a result."""
    assert demo.root.is_dir()
    words = (*QUICK, "--base", "HEAD", "--benchmarks", "count")
    refused(ran(*words), "same commit", "--allow-same")
    assert not out.exists()
    assert ran(*words, "--allow-same")[0] == 0
    assert read_run(out).plan.is_same_allowed


def test_only_commit_says_that_it_is_measured_against_itself(
    tmp_path: Path, ran: Ran, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository with one commit gets an A/A run and is told so."""
    monkeypatch.chdir(make_demo(tmp_path / "one", TWO).root)
    status, _, stderr = ran(*QUICK, "--benchmarks", "count")

    assert status == 0
    assert "one commit only: HEAD is measured against itself" in stderr
    assert read_run(out).relation == "self"


def test_run_starts_from_any_folder_of_the_project(
    demo: Demo, ran: Ran, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository is found from below; names with blanks are just names."""
    demo.write({"a folder/größe.txt": ""})
    monkeypatch.chdir(demo.root / "a folder")

    assert ran(*QUICK, "--benchmarks", "count")[0] == 0
    assert out.is_file()


def test_refusals_are_one_line(
    demo: Demo, tmp_path: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrong place and each wrong flag ends in a line with a remedy."""
    refused(ran("--base", "nope"), "--base: 'nope' is not a commit")
    refused(ran("--head", "nope"), "--head: 'nope' is not a commit")
    refused(ran("--asv-config", "x.json"), "--asv-config: x.json", "commit it")
    demo.write({"subject/__init__.py": "changed"})
    refused(ran(), "subject/__init__.py: changed but not committed", "--allow-dirty")
    monkeypatch.chdir(tmp_path)
    refused(ran(), "not inside a git repository")
    empty = make_repository(tmp_path / "empty")
    monkeypatch.chdir(empty.root)
    refused(ran(), "has no commit yet")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "0"], "'0' is not a number of seconds above 0"),
        (["--budget", "soon"], "'soon' is not a number of seconds above 0"),
        (["--budget", "nan"], "'nan' is not a number of seconds above 0"),
        (["--launches", "0"], "'0' is not a count of at least 1"),
        (["--launches", "many"], "'many' is not a count of at least 1"),
        (["--bench", "x"], "--bench"),
        (["stray"], "unrecognized arguments: stray"),
    ],
)
def test_bad_flags_are_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flag that cannot be used is named with what it needs."""
    with pytest.raises(SystemExit) as ended:
        run.main(words)

    assert ended.value.code == 2
    refused((2, *capsys.readouterr()), said)


def test_help_mentions_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    """--help is complete and ends well."""
    with pytest.raises(SystemExit) as ended:
        run.main(["--help"])
    text = capsys.readouterr().out

    assert ended.value.code == 0
    for action in asking.build_parser()._actions:
        assert set(action.option_strings) & set(text.replace(",", " ").split())
        assert action.help
    for word in ("exit status", "130", "merge base", "--resume"):
        assert word in text


def test_uncommitted_changes_can_be_left_out(demo: Demo, ran: Ran, out: Path) -> None:
    """--allow-dirty measures the commit and leaves the file as it is."""
    demo.write({"benchmarks/count.py": "nonsense("})
    status, _, _ = ran(*QUICK, "--allow-dirty", "--benchmarks", "count")

    assert status == 0
    assert read_run(out).launches[0].measurements[0].samples[Arm.HEAD] == (3.0,)
    assert (demo.root / "benchmarks/count.py").read_text() == "nonsense("


# --- The output -------------------------------------------------------------------


def test_earlier_document_is_moved_aside(demo: Demo, ran: Ran, out: Path) -> None:
    """A second run loses nothing of the first."""
    assert demo.root.is_dir()
    words = (*QUICK, "--benchmarks", "count")
    ran(*words)
    first = out.read_bytes()
    _, _, stderr = ran(*words)

    aside = out.with_name("run.json.1")
    assert aside.read_bytes() == first
    assert f"the earlier document is kept as {aside}" in stderr
    assert out.read_bytes() != first


def test_output_that_cannot_be_written_fails_before_measuring(
    demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An hour of measuring must not end in a file that cannot be written."""
    assert demo.root.is_dir()
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file" / "run.json", tmp_path):
        capsys.readouterr()
        status = run.main([*QUICK, "--output", str(output)])
        captured = capsys.readouterr()
        refused((status, *captured), str(output))
    assert tmp_path.is_dir()


def test_internal_error_is_not_a_regression(
    demo: Demo, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the gate itself must not leave with the status of a regression."""
    assert demo.root.is_dir()

    def fail(*_words: object) -> None:
        raise ZeroDivisionError("a\nb")

    monkeypatch.setattr(run, "find_pair", fail)

    refused(ran(), "internal error: ZeroDivisionError: a b (test_run.py:", "report")


# --- Budgets ----------------------------------------------------------------------


def test_budget_that_ends_the_run_keeps_what_there_is(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """Time that runs out is told, in the document too, and is no error."""
    demo.commit(
        {
            f"benchmarks/slow{n}.py": (
                "import time, subject\n"
                "def track_slow():\n    time.sleep(0.4)\n    return 1\n"
            )
            for n in range(6)
        }
    )
    words = ("--benchmarks", "slow", "--base", "HEAD~1", "--seed", "1")
    status, _, stderr = ran(*words, "--launches", "3", "--budget", "4")
    found = read_run(out)

    assert status == 0
    assert not found.is_complete
    assert 1 <= len(found.launches) < 3
    assert len(found.launches[-1].measurements) < 6 or len(found.launches) < 3
    note = next(note for note in found.notes if note.startswith("the budget of 4 s"))
    assert note in stderr
    assert "--resume" in note


def test_budget_that_cuts_the_only_launch_is_told(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """Rows of a launch that was cut short are missing, and the note counts them."""
    demo.commit(
        {
            f"benchmarks/slow{n}.py": (
                "import time, subject\n"
                "def track_slow():\n    time.sleep(0.6)\n    return 1\n"
            )
            for n in range(4)
        }
    )
    words = ("--benchmarks", "slow", "--base", "HEAD~1", "--seed", "1")
    status, _, _ = ran(*words, "--launches", "1", "--budget", "2.5")
    found = read_run(out)
    done = len(found.launches[0].measurements)

    assert status == 0
    assert 1 <= done < 4
    assert f"the budget of 2.5 s ran out after {done} of 4 scenarios" in found.notes[-1]


@pytest.mark.parametrize(
    ("budget", "overhead", "share"),
    [(None, None, 0.4), (1000.0, 5.0, 0.4), (44.0, 5.0, 0.3), (4.0, 5.0, 0.0)],
)
def test_budget_takes_samples_first(
    budget: float | None, overhead: float | None, share: float
) -> None:
    """Seconds a scenario: those left for a launch, less its overhead, over twenty.

    44 / 4 launches - 5 = 6, over 20 scenarios 0.3; never more than was wished for.
    """
    plan = Plan(
        launches=4, sample_seconds=0.003, scenario_seconds=0.4, minimum_blocks=8, seed=1
    )
    runner = Runner(
        session=None,  # type: ignore[arg-type]
        plan=plan,
        found=None,  # type: ignore[arg-type]
        cases=(),
        deadline=None if budget is None else time.monotonic() + budget,
        progress=Silent(),
        last_overhead=overhead,
    )

    assert runner._share(0, 20) == pytest.approx(share, abs=0.01)


def test_budget_too_small_for_anything(demo: Demo, ran: Ran, out: Path) -> None:
    """Nothing measured is an error; the document is there to be continued."""
    assert demo.root.is_dir()
    status, stdout, stderr = ran(*QUICK, "--budget", "0.01")

    assert (status, stdout) == (2, "")
    assert "nothing was measured before the budget ran out" in stderr.splitlines()[-1]
    assert read_run(out).launches == ()


# --- Stopping and continuing ----------------------------------------------------------


def start(demo: Demo, out: Path, *words: str) -> subprocess.Popen[str]:
    """Start the verb in a process of its own.

    Below a shell's background job SIGINT is ignored, and so in all that it starts.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "ci.run", "--output", str(out), *words],
            cwd=demo.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def launches_in(out: Path) -> int:
    """Return how many launches a document has so far."""
    return len(read_run(out).launches) if out.exists() else 0


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is so, as long as the process runs."""
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


HANGING = {
    "steady.py": (
        "import subject\n"
        "def track_steady(): return 1\n"
        "def time_steady(): subject.work()\n"
    ),
    # Only the third launch hangs: two have been written by then.
    "hang.py": (
        "import os, time, subject\n"
        "def track_hang():\n"
        "    with open(os.environ['DEMO_LOG'], 'a') as stream:\n"
        "        stream.write(f'{os.getpid()}\\n')\n"
        "    if len(open(os.environ['DEMO_LOG']).readlines()) > 6:\n"
        "        if not os.path.exists(os.environ['DEMO_LOG'] + '.free'):\n"
        "            while True: time.sleep(60)\n"
        "    return 2\n"
    ),
}


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Demo:
    """Return a repository whose third launch does not end by itself."""
    monkeypatch.setenv("DEMO_LOG", str(tmp_path / "log"))
    made = make_demo(tmp_path / "project", HANGING)
    made.commit({"subject/__init__.py": WORK + "# again\n"}, "second")
    monkeypatch.chdir(made.root)
    return made


def hangs(tmp_path: Path) -> bool:
    """Tell whether the third launch has begun to hang."""
    log = tmp_path / "log"
    return log.exists() and len(log.read_text().splitlines()) > 6


@pytest.mark.slow
def test_killed_run_is_continued(
    hanging: Demo, tmp_path: Path, out: Path, temporary: Path, ran: Ran
) -> None:
    """Launches that were done are kept, the others follow, and nobody goes on alone."""
    words = ("--quick", "--launches", "4", "--seed", "5")
    process = start(hanging, out, *words)
    wait_for(lambda: launches_in(out) == 2 and hangs(tmp_path), process)
    below = [p.pid for p in psutil.Process(process.pid).children(recursive=True)]
    process.kill()
    process.communicate()
    kept = read_run(out)

    assert wait_until_gone(below) == []
    assert [launch.index for launch in kept.launches] == [0, 1]
    assert not kept.is_complete

    (tmp_path / "log.free").write_text("")
    status, stdout, _ = ran("--resume")
    found = read_run(out)

    assert (status, stdout) == (0, "")
    assert found.launches[:2] == kept.launches
    assert [launch.index for launch in found.launches] == [0, 1, 2, 3]
    assert len({launch.hash_seed for launch in found.launches}) == 4
    assert all(len(launch.measurements) == 3 for launch in found.launches)
    assert (found.is_complete, found.created) == (True, kept.created)
    assert list(temporary.iterdir()) == []
    assert hanging.git("worktree", "list").count("\n") == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_run_leaves_a_readable_document(
    hanging: Demo, tmp_path: Path, out: Path, temporary: Path, number: int
) -> None:
    """A cancelled job ends with 130, in one line, with its launches and no process."""
    process = start(hanging, out, "--quick", "--launches", "4")
    wait_for(lambda: launches_in(out) == 2 and hangs(tmp_path), process)
    below = [p.pid for p in psutil.Process(process.pid).children(recursive=True)]
    process.send_signal(number)
    # Less than the half minute that a teardown may take, more than a cleanup needs.
    stdout, stderr = process.communicate(timeout=20)

    assert (process.returncode, stdout) == (130, "")
    last = stderr.splitlines()[-1]
    assert last.startswith("benchgate run: interrupted; 2 of 4 launches are in")
    assert "--resume" in last
    assert "Traceback" not in stderr
    assert launches_in(out) == 2
    assert wait_until_gone(below) == []
    assert list(temporary.iterdir()) == []
    assert hanging.git("worktree", "list").count("\n") == 0


def test_interrupt_before_measuring_claims_no_document(
    demo: Demo, ran: Ran, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the suite is imported does not speak of launches."""
    assert demo.root.is_dir()

    def stop(*_words: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr(run, "find_config", stop)
    status, stdout, stderr = ran(*QUICK)

    assert (status, stdout) == (130, "")
    assert stderr == "benchgate run: interrupted\n"
    assert not out.exists()


def test_signal_handler_is_given_back(demo: Demo, ran: Ran) -> None:
    """Who calls the verb keeps their own handling of SIGTERM."""
    assert demo.root.is_dir()
    before = signal.getsignal(signal.SIGTERM)
    ran("--list")

    assert signal.getsignal(signal.SIGTERM) is before


def test_finished_document_is_not_continued(demo: Demo, ran: Ran, out: Path) -> None:
    """A run that is done says so; more launches can be asked for."""
    assert demo.root.is_dir()
    ran(*QUICK, "--benchmarks", "count")
    refused(ran("--resume"), "all 1 launches are done", "--launches")
    assert ran("--resume", "--launches", "2")[0] == 0
    assert [launch.index for launch in read_run(out).launches] == [0, 1]


def test_document_of_other_commits_is_not_continued(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """A branch that has moved on is another comparison, whatever its name."""
    demo.git("tag", "there")
    ran(*QUICK, "--base", "HEAD~1", "--head", "main", "--benchmarks", "count")
    sha = demo.git("rev-parse", "HEAD")
    demo.commit({"new": ""})
    more = ("--resume", "--launches", "2")

    refused(ran(*more, "--head", "main"), "--head: 'main' is", sha[:12])
    refused(ran(*more, "--base", "main"), "--base: 'main' is")
    refused(ran(*more, "--benchmarks", "x"), "--benchmarks: 'x'", "'count'")
    refused(ran(*more, "--head", "nope"), "--head: 'nope' is not a commit")
    refused(ran(*more, "--seed", "9"), "--seed: 9, but", "was begun with 3")
    refused(ran(*more, "--import-path", "lib"), "--import-path: ", "lib")
    refused(ran(*more, "--asv-config", "other.json"), "--asv-config: 'other.json'")
    assert launches_in(out) == 1
    assert ran(*more, "--head", "there", "--base", sha[:9] + "^")[0] == 0
    assert launches_in(out) == 2
    assert read_run(out).head.sha == sha
    assert read_run(out).relation == "given"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file"),
        (b"", "not complete JSON"),
        (b'{"format":"benchgate.run","version":1,"crea', "not complete JSON"),
        (b'{"format":"benchgate.run","version":1}', "not a valid benchgate.run"),
        (b'{"format":"benchgate.run","version":99}', "version 99"),
        (b'{"format":"benchgate.report","version":1}', "benchgate.report"),
    ],
)
def test_document_that_cannot_be_continued(
    demo: Demo, ran: Ran, out: Path, content: bytes | None, said: str
) -> None:
    """A missing, damaged or foreign document is told in one line and kept."""
    assert demo.root.is_dir()
    if content is not None:
        out.parent.mkdir()
        out.write_bytes(content)

    refused(ran("--resume"), str(out), said)
    assert content is None or out.read_bytes() == content


def test_other_repository_does_not_continue_a_document(
    demo: Demo, tmp_path: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits that are not here cannot be measured here."""
    assert demo.root.is_dir()
    ran(*QUICK, "--benchmarks", "count")
    other = make_demo(tmp_path / "other", {"x.py": "import subject\n"})
    monkeypatch.chdir(other.root)

    refused(ran("--resume", "--launches", "2"), "is not a commit of")


def test_note_on_the_budget_goes_when_the_run_is_continued(
    demo: Demo, ran: Ran, out: Path
) -> None:
    """A finished document no longer says that time ran out."""
    assert demo.root.is_dir()
    ran(*QUICK, "--benchmarks", "count", "--budget", "0.01")
    ran("--resume", "--budget", "60")
    found = read_run(out)

    assert found.is_complete
    assert not any("budget" in note for note in found.notes)


def test_console_of_a_pipe_gets_plain_lines(demo: Demo, ran: Ran) -> None:
    """A log shows when launches begin and end, without control characters."""
    assert demo.root.is_dir()
    _, _, stderr = ran(*QUICK, "--benchmarks", "count")

    assert "launch 1 of 1: 1 scenario\n" in stderr
    assert re.search(r"launch 1 of 1: \d+\.\d s\n", stderr)
    assert "\x1b" not in stderr
    assert is_live(os.getpid())
