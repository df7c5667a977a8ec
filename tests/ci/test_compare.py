"""The command line: what is printed where, what is written, which status."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ci import compare, documents, model, runs
from ci.compare import main
from tests.ci.criterion_trees import printed_rows, rounding, unrounded, write_tree
from tests.ci.runs import noisy, run_of

CASES = Path(__file__).parents[1] / "data" / "cases"
SEED_ROWS = printed_rows()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where no ``gate.yaml`` of the project is found."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def seed_trees(tmp_path: Path) -> list[str]:
    """Two Criterion trees behind the predecessor's published comment."""
    means = unrounded(SEED_ROWS)
    sides = {"base": 0, "pr": 1}
    for side, place in sides.items():
        write_tree(tmp_path / side, {name: pair[place] for name, pair in means.items()})
    return ["base", "pr"]


def pair(case: str) -> list[str]:
    """Return base and PR of a case, files or directories."""
    folder = CASES / case
    suffix = ".json" if (folder / "base.json").exists() else ""
    return [str(folder / f"base{suffix}"), str(folder / f"pr{suffix}")]


def report_of(*arguments: str) -> tuple[int, model.Report]:
    """Compare, and return the status with the report document."""
    status = main([*arguments, "--json", "report.json"])
    data = Path("report.json").read_bytes()
    return status, documents.decode_report(data, "report.json")


def verdicts(report: model.Report) -> dict[str, str]:
    """Return the verdict of each row."""
    return {row.scenario: row.verdict.value for row in report.rows}


def a_run(launches: int = 12) -> runs.Run:
    """Return a small run in which one of two scenarios takes twice as long."""
    rows = {
        name: noisy(name, change=change, launches=launches, sigma=0.001)
        for name, change in (("same", 0.0), ("slower", 1.0))
    }
    return run_of(rows, launches=launches)


def write_run(path: Path) -> str:
    """Write the small run and return its path."""
    path.write_bytes(documents.encode_run(a_run()))
    return str(path)


# --- The predecessor's comment ---


def test_the_published_rows_come_out_again(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Same ids, order, times, changes and marks, with no profile and no settings."""
    status = main([*seed_trees, "--output", "-"])

    printed = capsys.readouterr()
    rows = re.findall(
        r"^\| (\S+) \| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$",
        printed.out,
        re.MULTILINE,
    )
    assert rows == [
        (row.status, row.scenario, row.base, row.pr, row.change) for row in SEED_ROWS
    ]
    assert (status, printed.err) == (0, "")


def test_any_means_behind_the_published_changes_give_its_marks(tmp_path: Path) -> None:
    """The marks do not hang on which unrounded means the fixture chose."""
    base = {row.scenario: sum(rounding(row.base)) / 2 for row in SEED_ROWS}
    changes = {row.scenario: float(row.change[:-1]) / 100 for row in SEED_ROWS}
    write_tree(tmp_path / "base", base)
    write_tree(tmp_path / "pr", {n: base[n] * (1 + changes[n]) for n in base})

    _, report = report_of("base", "pr")

    marks = {"🔴": "alert", "⚠️": "warn", "✅": "unchanged", "🟢": "improved"}
    assert verdicts(report) == {row.scenario: marks[row.status] for row in SEED_ROWS}
    found = [row.change for row in report.rows]
    assert found == pytest.approx(sorted(changes.values(), reverse=True))


def test_the_published_rows_stand_in_the_table_too(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Stdout holds every id uncut where no terminal sets a width."""
    main(seed_trees)

    lines = capsys.readouterr().out.splitlines()
    cells = [line.split() for line in lines if line[:1] in "🔴⚠✅🟢"]
    expected = [
        [
            row.status,
            row.scenario,
            *row.base.split(),
            *row.pr.split(),
            row.change,
        ]
        for row in SEED_ROWS
    ]
    assert cells[: len(expected)] == expected


def test_unconfirmed_flags_fail_only_if_asked(seed_trees: list[str]) -> None:
    """One measurement a side confirms nothing, so the default is to pass."""
    assert main(seed_trees) == 0
    assert main([*seed_trees, "--fail-on", "never"]) == 0
    assert main([*seed_trees, "--fail-on", "alert"]) == 1
    assert main([*seed_trees, "--fail-on", "warn"]) == 1


# --- Inputs that broke other tools ---


def test_a_failed_combination_is_listed_and_its_neighbour_compared() -> None:
    """airspeed-velocity/asv#1028: null among the values crashed the table."""
    status, report = report_of(*pair("01-03"))

    assert verdicts(report) == {
        "b.Simple.time_f(False)": "failed",
        "b.Simple.time_f(True)": "unchanged",
    }
    assert status == 0


def test_a_benchmark_that_broke_fails_the_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """airspeed-velocity/asv#952: it was dropped and the check stayed green."""
    status, report = report_of(*pair("01-05"))

    assert verdicts(report) == {"b.time_q": "failed", "b.time_r": "unchanged"}
    assert status == 1
    assert "⛔ 1 failed" in capsys.readouterr().out


def test_a_slowdown_without_spread_is_shown_with_its_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A single sample has an infinite interval and still a value."""
    _, report = report_of(*pair("01-19"))

    out = capsys.readouterr().out
    assert verdicts(report) == {"b.time_s": "alert"}
    assert "+200.0%" in out
    assert "single sample" in out
    assert re.search(r"\binf\b", out) is None


def test_memory_and_counts_are_not_printed_as_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """numba/numba-benchmark#10: bytes were shown as seconds."""
    main(pair("02-05"))

    out = capsys.readouterr().out
    assert "7.63 MiB" in out
    assert re.search(r"b\.track_iters +38 +38 +\+0\.0%", out)


def test_every_cell_carries_its_own_unit(capsys: pytest.CaptureFixture[str]) -> None:
    """bheisler/criterion.rs#173: one header unit for two scales."""
    main(pair("02-07"))

    out = capsys.readouterr().out
    assert re.search(r"h/1 +189\.0 ns +190\.0 ns +\+0\.5%", out)
    assert re.search(r"h/2 +1\.80 µs +1\.80 µs +\+0\.1%", out)


def test_swapped_directories_do_not_cross_their_pairs() -> None:
    """bheisler/criterion.rs#190: 1.4 ns against 1.1 ms is no regression."""
    _, report = report_of(*pair("04-01"))

    assert set(verdicts(report).values()) == {"unchanged"}
    assert report.compared == 2


def test_names_with_bars_and_blanks_keep_their_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ohdearquant/lattice#1319: a `|` in an id splits no table row."""
    for side in ("base", "pr"):
        shutil.copytree(CASES / "04-03" / side, tmp_path / side)
        plain = tmp_path / side / "target" / "criterion" / "Day01.1_"
        plain.rename(plain.with_name("Day01.1_ "))

    main(["base", "pr", "--output", "-"])

    rows = [
        re.split(r"(?<!\\)\|", line)
        for line in capsys.readouterr().out.splitlines()
        if "Day01.1" in line or "p(a" in line
    ]
    assert {len(cells) for cells in rows if len(cells) > 2} == {7}


def test_groups_with_reserved_names_are_rows() -> None:
    """A group called ``new`` and one called ``base`` are rows like any other."""
    _, report = report_of(*pair("04-05"))

    assert set(verdicts(report)) == {"new", "base/report"}


def test_parameters_pair_by_value() -> None:
    """A list that grew at its front shifts nothing."""
    _, report = report_of(*pair("04-13"))

    assert verdicts(report) == {
        "b.time_n(100)": "unchanged",
        "b.time_n(10)": "removed",
        "b.time_n(1000)": "added",
    }


def test_commits_with_one_beginning_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """airspeed-velocity/asv#298: the header distinguishes the two."""
    main([*pair("04-21"), "--output", "-"])

    out = capsys.readouterr().out
    assert "deadbeef0" in out
    assert "deadbeef1" in out


@pytest.mark.parametrize("content", ["{}", "[]", "", '{"benchmarks": []}'])
def test_an_empty_baseline_has_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    """im-anishraj/arnio#1444: an empty baseline was green for ever."""
    (tmp_path / "base.json").write_text(content)

    assert main(["base.json", pair("01-05")[1]]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("benchgate compare: no results in base.json")
    assert printed.err.count("\n") == 1


def test_a_cut_file_is_named_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """HeddleCo/heddle#91: one unreadable file became "skipped" and status 0."""
    status = main([*pair("05-05"), "--output", "-"])

    assert status == 1
    assert "bad/new/estimates.json" in capsys.readouterr().out


def test_leftovers_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """ohdearquant/khive#2815: rows of an earlier run look measured."""
    main(pair("05-11"))

    assert "the same bytes on both sides, as if not measured again: old" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("case", "scenario", "verdict"),
    [
        ("02-12", "io", "unchanged"),
        ("05-07", "q", "unchanged"),
        ("06-01", "b.time_c", "alert"),
        ("06-13", "fl", "unchanged"),
        ("07-03", "b.p(2)", "alert"),
        ("07-05", "b.t", "alert"),
        ("07-19", "b.t", "alert"),
        ("13-03", "b.t [virtualenv-py3.10]", "unchanged"),
        ("13-03", "b.t [virtualenv-py3.12]", "unchanged"),
    ],
)
def test_the_rest_is_judged_by_its_values(
    case: str, scenario: str, verdict: str
) -> None:
    """The values behind each case give the verdict that a reader expects."""
    _, report = report_of(*pair(case))

    assert verdicts(report)[scenario] == verdict


@pytest.mark.parametrize("case", ["07-09", "07-13", "12-01"])
def test_a_format_that_is_not_read_is_called_by_its_name(
    capsys: pytest.CaptureFixture[str], case: str
) -> None:
    """One line that says what the file is and what is read."""
    assert main(pair(case)) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(
        r"benchgate compare: .*base\.json: looks like .*; expected .*\n", printed.err
    )


# --- Run documents ---


def test_a_confirmed_regression_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """airspeed-velocity/asv#296: a regression and status 0 is no gate."""
    status, report = report_of(write_run(tmp_path / "run.json"))

    printed = capsys.readouterr()
    assert report.method == "paired"
    assert verdicts(report) == {"slower": "alert", "same": "unchanged"}
    assert "🔴" in printed.out
    assert (status, printed.err) == (1, "")


def test_a_run_document_is_given_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It holds both sides; two of them are not base and head."""
    run = write_run(tmp_path / "run.json")

    assert main([run, run]) == 2

    assert capsys.readouterr().err == (
        f"benchgate compare: {run}: a run document holds both sides; give it alone\n"
    )


def test_one_result_set_is_not_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing is said, for a file and for a directory."""
    base = pair("01-05")[0]

    assert main([base]) == 2
    assert "not a run document" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "give BASE and HEAD" in capsys.readouterr().err


def test_half_a_run_document_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was killed while it wrote leaves no traceback here."""
    whole = documents.encode_run(a_run())
    (tmp_path / "run.json").write_bytes(whole[: len(whole) // 2])

    assert main(["run.json"]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("benchgate compare: run.json: not complete JSON")
    assert printed.err.count("\n") == 1


def test_a_run_without_launches_has_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing measured is neither green nor red."""
    run = dataclasses.replace(a_run(), launches=())
    (tmp_path / "run.json").write_bytes(documents.encode_run(run))

    assert main(["run.json"]) == 2

    assert capsys.readouterr().err == (
        "benchgate compare: no scenario was measured on both sides: run.json\n"
    )


# --- Outputs ---


def test_outputs_are_written_beside_the_table(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Comment and report go to files, the table to stdout, nothing to stderr."""
    main([*seed_trees, "--output", "out/comment.md", "--json", "out/report.json"])

    printed = capsys.readouterr()
    assert "matmul/small_generic_f32_threads=8/1x256x256" in printed.out
    assert printed.err == ""
    assert Path("out/comment.md").read_text("utf-8").startswith("<!--")
    assert json.loads(Path("out/report.json").read_bytes())["compared"] == 48


def test_json_on_stdout_is_json_alone(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe into another program gets one document."""
    main([*seed_trees, "--json", "-", "--output", "comment.md"])

    report = json.loads(capsys.readouterr().out)
    assert len(report["rows"]) == 48
    assert Path("comment.md").exists()


def test_an_output_that_fails_loses_no_other(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is printed and the other file written; the status says no verdict."""
    Path("taken").write_text("a file, not a directory")

    status = main([*seed_trees, "--json", "taken/report.json", "--output", "c.md"])

    printed = capsys.readouterr()
    assert status == 2
    assert re.fullmatch(
        r"benchgate compare: taken/report\.json: cannot be written: .*\n", printed.err
    )
    assert "compared 48 of 48" in printed.out
    assert Path("c.md").exists()


def test_nothing_in_common_is_reported_and_has_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows are shown as removed and added, and one line says why."""
    write_tree(tmp_path / "a", {"g/f": 10.0})
    write_tree(tmp_path / "b", {"g/h": 10.0})

    status, report = report_of("a", "b", "--output", "comment.md")

    printed = capsys.readouterr()
    assert status == 2
    assert verdicts(report) == {"g/f": "removed", "g/h": "added"}
    assert Path("comment.md").exists()
    assert printed.err == (
        "benchgate compare: no scenario was measured on both sides: a and b\n"
    )


def test_the_table_has_no_color_without_a_terminal(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A log file holds no escape sequences."""
    main(seed_trees)

    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(("value", "is_colored"), [("", True), ("1", False)])
def test_a_terminal_has_color_unless_told_otherwise(
    seed_trees: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    is_colored: bool,
) -> None:
    """NO_COLOR counts if it is set and not empty (no-color.org)."""
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    main(seed_trees)

    assert ("\x1b[" in capsys.readouterr().out) is is_colored


# --- Sizes ---


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("abc", "--warn: 'abc' is not a size; write 15% or 0.15"),
        ("nan", "--warn: 'nan' is not a size; write 15% or 0.15"),
        ("-1", "--warn: '-1' is not a size; write 15% or 0.15"),
        ("5", "--warn: 5 is ambiguous; write 5% or 0.05"),
        ("1.05", "--warn: 1.05 is ambiguous; write 1.05% or 0.0105"),
    ],
)
def test_a_size_that_could_mean_two_things_is_refused(
    capsys: pytest.CaptureFixture[str], size: str, message: str
) -> None:
    """Karanjot786/TermUI#794: 5 meant as 5 % was taken as 500 %."""
    assert main([*pair("06-01"), "--warn", size]) == 2

    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"benchgate compare: {message}\n")


@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ([], "alert"),
        (["--alert", "150%"], "warn"),
        (["--warn", "120%", "--alert", "150%"], "unchanged"),
        (["--warn", "5%"], "alert"),
    ],
)
def test_sizes_of_the_command_line_judge_result_sets(
    flags: list[str], verdict: str
) -> None:
    """ionelmc/pytest-benchmark#279: sizes above 100 % are sizes; here +100 %."""
    _, report = report_of(*pair("06-01"), *flags)

    assert verdicts(report) == {"b.time_c": verdict}


def test_one_size_alone_may_not_cross_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A warn size above the alert size would hide every warning."""
    assert main([*pair("06-01"), "--warn", "40%"]) == 2

    assert capsys.readouterr().err == (
        "benchgate compare: --warn and --alert: the warn size, 40%, is above the "
        "alert size, 30%; set both\n"
    )


def test_flags_set_the_pair_that_applies(tmp_path: Path) -> None:
    """For a run they set its sizes, for result sets those of result sets."""
    run = write_run(tmp_path / "run.json")

    _, paired = report_of(run, "--warn", "6%", "--alert", "8%", "--gate", "7%")
    _, single = report_of(*pair("06-01"), "--warn", "6%", "--alert", "8%")

    assert paired.policy == model.Policy(gate=0.07, warn=0.06, alert=0.08)
    assert single.policy == model.Policy(single_warn=0.06, single_alert=0.08)


def test_settings_are_found_and_flags_stand_above_them(tmp_path: Path) -> None:
    """``gate.yaml`` in the current directory counts, a flag counts more."""
    (tmp_path / "gate.yaml").write_text("single: {warn: 20%, alert: 120%}")

    _, found = report_of(*pair("06-01"))
    _, overridden = report_of(*pair("06-01"), "--alert", "90%")

    assert (found.policy.single_warn, found.policy.single_alert) == (0.2, 1.2)
    assert verdicts(found) == {"b.time_c": "warn"}
    assert verdicts(overridden) == {"b.time_c": "alert"}


def test_a_named_settings_file_must_be_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without it the defaults would count in silence."""
    assert main([*pair("06-01"), "--config", "none.yaml"]) == 2

    assert capsys.readouterr().err == (
        "benchgate compare: none.yaml: cannot be read: No such file or directory\n"
    )


# --- Bad usage ---


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "b", "c"],
        ["a", "b", "--fail-on", "error"],
        ["a", "b", "--fast"],
        ["a", "b", "--out", "x"],
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """The line points to the help instead of printing it."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    printed = capsys.readouterr()
    assert caught.value.code == 2
    assert printed.out == ""
    assert re.fullmatch(
        r"benchgate compare: .*; see benchgate compare --help\n", printed.err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "b"], "a path is empty; is a shell variable unset?"),
        (["a", ""], "a path is empty; is a shell variable unset?"),
        (
            ["a", "b", "--output", "-", "--json", "-"],
            "--output and --json go to one place; name two",
        ),
        (["none", "none"], "none: no such file; check the path"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """An unset variable would otherwise compare the current directory."""
    assert main(arguments) == 2

    assert capsys.readouterr().err == f"benchgate compare: {message}\n"


@pytest.mark.parametrize("flag", ["--output", "--json"])
@pytest.mark.parametrize("spelled", ["run.json", "./run.json", "link.json"])
def test_an_output_replaces_no_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, spelled: str
) -> None:
    """The samples of a run cannot be had back; its comment can."""
    run = Path(write_run(tmp_path / "run.json"))
    before = run.read_bytes()
    Path("link.json").symlink_to("run.json")

    assert main(["run.json", flag, spelled]) == 2

    assert run.read_bytes() == before
    assert capsys.readouterr().err == (
        f"benchgate compare: {flag}: {spelled} is read or written here as well; "
        "name another\n"
    )


def test_two_outputs_are_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spelled differently it is still one file, and one of them would be lost."""
    run = write_run(tmp_path / "run.json")

    assert main([run, "--output", "x", "--json", "./x"]) == 2

    assert "--json: ./x is read or written here" in capsys.readouterr().err
    assert not Path("x").exists()


@pytest.mark.parametrize("other", [[], ["b"]])
def test_a_name_that_no_file_can_have_is_no_internal_error(
    capsys: pytest.CaptureFixture[str], other: list[str]
) -> None:
    """It is too long, which `Path.is_dir` raises instead of saying no."""
    assert main(["n" * 300, *other]) == 2

    err = capsys.readouterr().err
    assert "n: cannot be read: " in err
    assert "internal" not in err


def test_errors_paint_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A path is hostile text: an escape sequence would hide or forge a line."""
    assert main(["a\x1b[2Jb\nc"]) == 2

    assert capsys.readouterr().err == (
        "benchgate compare: a\\u001b[2Jb c: no such file; check the path\n"
    )


def test_settings_that_cannot_be_read_are_not_passed_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A ``gate.yaml`` that leads nowhere would leave the defaults, in silence."""
    Path("gate.yaml").symlink_to("nowhere")

    assert main(pair("06-13")) == 2

    assert "gate.yaml: cannot be read: " in capsys.readouterr().err


def test_a_huge_name_does_not_widen_every_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One name of a megabyte times a thousand rows would be a gigabyte."""
    write_tree(tmp_path / "a", {"f": 10.0})
    identity = tmp_path / "a" / "f" / "new" / "benchmark.json"
    identity.write_text(json.dumps({"full_id": "n" * 5000}))

    main(["a", "a"])

    lines = capsys.readouterr().out.splitlines()
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= 400
    assert sum(line.count("n") for line in table) >= 5000


def test_help_tells_inputs_sizes_and_statuses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """chrishayuk/larql#317: the documented statuses are the real ones."""
    with pytest.raises(SystemExit) as caught:
        main(["--help"])

    out = capsys.readouterr().out
    assert caught.value.code == 0
    for flag in ("output", "json", "fail-on", "gate", "warn", "alert", "config"):
        assert f"--{flag} " in out
    sizes = model.Policy()
    assert (
        f"gate is {sizes.gate:.0%}, and warn and alert are {sizes.warn:.0%} and "
        f"{sizes.alert:.0%} for RUN, {sizes.single_warn:.0%} and "
        f"{sizes.single_alert:.0%} for BASE HEAD." in out
    )
    for line in (
        "  0  nothing wrong",
        "  1  a regression, or a scenario that no longer works",
        "  2  no verdict: ",
        "  130  interrupted",
    ):
        assert line in out


def test_a_bug_is_one_line_and_never_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A traceback would exit with 1, which means a regression."""

    def broken(*_: object) -> model.Report:
        raise KeyError("planted")

    monkeypatch.setattr(compare, "judge_sets", broken)

    assert main(pair("01-05")) == 2

    assert re.fullmatch(
        r"benchgate compare: internal error: KeyError: 'planted' "
        r"\(test_compare\.py:\d+\); please report it\n",
        capsys.readouterr().err,
    )


def test_an_interrupt_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is the user's, not an error of the program."""

    def interrupted(*_: object) -> model.Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "judge_sets", interrupted)

    assert main(pair("01-05")) == 130

    assert capsys.readouterr().err == "benchgate compare: interrupted\n"


# --- As a process ---


def run_process(
    *arguments: str, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run ``python -m ci.compare`` from the project, as users do."""
    return subprocess.run(
        [sys.executable, "-m", "ci.compare", *arguments],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
    )


def test_the_status_reaches_the_shell() -> None:
    """The module hands the status of ``main`` to the system."""
    assert run_process(*pair("01-05")).returncode == 1
    assert run_process(*pair("05-03")).returncode == 2
    assert run_process(*pair("06-13")).returncode == 0


def test_a_reader_that_left_is_no_error(tmp_path: Path) -> None:
    """``| head -1`` changes neither the status nor what is written."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        comment = tmp_path / "comment.md"
        done = run_process(*pair("06-13"), "--output", str(comment), stdout=writer)
    finally:
        os.close(writer)

    assert (done.returncode, done.stderr) == (0, b"")
    assert comment.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_one_line() -> None:
    """What could not be printed is said once, without a traceback."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = run_process(*pair("06-13"), stdout=full)
    finally:
        os.close(full)

    assert done.returncode == 2
    assert re.fullmatch(
        rb"benchgate compare: stdout: cannot be written: .*\n", done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "closed", "status", "said"),
    [
        (["none"], "2>&-", 2, b""),
        (["none"], ">&- 2>&-", 2, b""),
        (["--nonsense"], "2>&-", 2, b""),
        (
            pair("06-13"),
            ">&-",
            2,
            b"benchgate compare: stdout: cannot be written: it is closed\n",
        ),
        (pair("06-13"), "2>&-", 0, b""),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_closed_stream_is_no_regression(
    arguments: list[str], closed: str, status: int, said: bytes
) -> None:
    """What cannot be said leaves the status; a traceback would make it 1."""
    command = shlex.join([sys.executable, "-m", "ci.compare", *arguments])
    done = subprocess.run(
        ["sh", "-c", f"exec {command} {closed}"],
        check=False,
        capture_output=True,
        cwd=Path(__file__).parents[2],
    )

    assert (done.returncode, done.stderr) == (status, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stderr_is_no_regression() -> None:
    """The same for a stream that takes nothing."""
    command = shlex.join([sys.executable, "-m", "ci.compare", "none"])
    done = subprocess.run(
        ["sh", "-c", f"exec {command} 2>/dev/full"],
        check=False,
        cwd=Path(__file__).parents[2],
    )

    assert done.returncode == 2


def test_a_narrow_encoding_still_prints_the_table() -> None:
    """A log that knows ASCII only loses marks, not the result."""
    done = run_process(*pair("06-13"), PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"560.00 ms" in done.stdout


@pytest.mark.parametrize("flag", ["--output", "--json"])
def test_a_narrow_encoding_leaves_a_document_whole(flag: str, tmp_path: Path) -> None:
    """What is redirected into a file is the file that would have been written."""
    written = tmp_path / "written"
    assert run_process(*pair("06-13"), flag, str(written)).returncode == 0

    done = run_process(
        *pair("06-13"), flag, "-", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )

    assert done.stdout == written.read_bytes()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_result_sets_may_come_from_pipes() -> None:
    """``<(zcat base.json.gz)`` is read from its beginning."""
    pipes = []
    for path in pair("01-03"):
        reader, writer = os.pipe()
        os.write(writer, Path(path).read_bytes())
        os.close(writer)
        pipes.append(reader)
    try:
        status = main([f"/dev/fd/{reader}" for reader in pipes])
    finally:
        for reader in pipes:
            os.close(reader)

    assert status == 0


def test_gate_size_means_nothing_for_two_result_sets(
    seed_trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A flag that would change nothing is refused, not swallowed."""
    status = main([*seed_trees, "--gate", "5%"])

    assert status == 2
    assert re.fullmatch(
        r"benchgate compare: --gate: rules out nothing .*\n", capsys.readouterr().err
    )


def test_leftovers_among_fresh_results_are_not_green() -> None:
    """ohdearquant/khive#2815: a row that was not measured again is undecided."""
    status, report = report_of(*pair("05-11"))

    assert verdicts(report) == {"fresh": "alert", "old": "inconclusive"}
    assert status == 0


def test_tree_against_itself_is_no_change(seed_trees: list[str]) -> None:
    """A whole set compared with itself holds no leftovers: nothing changed."""
    status, report = report_of(seed_trees[0], seed_trees[0])

    assert set(verdicts(report).values()) == {"unchanged"}
    assert status == 0
