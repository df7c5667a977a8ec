"""What a comment and a terminal table claim, keep and leave out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len

from ci import footnotes
from ci.model import (
    SECONDS,
    Commit,
    Interval,
    Policy,
    Report,
    Row,
    Thresholds,
    Unit,
    Verdict,
)
from ci.render import LIMIT, ONE_TABLE, render_comment, render_terminal
from ci.wording import MARKS

SEED: Final = Path(__file__).parent.parent / "data" / "seed"
VERDICT_OF: Final = {mark: verdict for verdict, mark in MARKS.items()}
TABLE_ROW: Final = re.compile(r"\| (\S+) \| `([^`]*)` \| (.*) \| (.*) \| (\S+) \|")


def row(name: str, verdict: Verdict = Verdict.UNCHANGED, change: float = 0.01) -> Row:
    """Return a confirmed row of the verdict."""
    return Row(
        scenario=name,
        verdict=verdict,
        unit=SECONDS,
        base=1e-3,
        head=1e-3 * (1 + change),
        change=change,
        is_confirmed=True,
        launches=16,
    )


def report(overall: Verdict, *rows: Row, status: int = 0) -> Report:
    """Return the report of a paired run."""
    compared = sum(r.base is not None and r.head is not None for r in rows)
    return Report(
        overall=overall,
        exit_status=status,
        method="paired",
        tool="benchgate",
        rows=rows,
        compared=compared,
        policy=Policy(),
        launches=16,
    )


def failed(name: str, *, is_blocking: bool = True) -> Row:
    """Return a row that has no value in the PR."""
    return replace(
        row(name, Verdict.FAILED), head=None, change=None, is_blocking=is_blocking
    )


def headline(shown: Report) -> str:
    """Return the header line of the comment."""
    return render_comment(shown).splitlines()[1]


def listed(comment: str) -> list[tuple[str, ...]]:
    """Return the rows of the five-column tables, in order."""
    found = map(TABLE_ROW.fullmatch, comment.splitlines())
    return [match.groups() for match in found if match]


def test_marks_are_one_to_one() -> None:
    """Each verdict has a mark of its own, ⚠ with its emoji selector."""
    assert set(Verdict) == set(MARKS)
    assert len(set(MARKS.values())) == len(Verdict)
    assert MARKS[Verdict.WARN] == "\u26a0\ufe0f"


def test_predecessor_table_is_reproduced() -> None:
    """The 48 known rows come out as they were printed, in the same order."""
    printed = json.loads((SEED / "rows.json").read_text(encoding="utf-8"))
    scale = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}

    def seconds(cell: str) -> float:
        number, unit = cell.split()
        return float(number) * scale[unit]

    rows = tuple(
        Row(
            scenario=entry["scenario"],
            verdict=VERDICT_OF[entry["status"]],
            unit=SECONDS,
            base=seconds(entry["base"]),
            head=seconds(entry["pr"]),
            change=float(entry["change"].removesuffix("%")) / 100,
        )
        for entry in printed
    )
    single = replace(report(Verdict.ALERT, *rows), method="single")

    expected = [
        (e["status"], e["scenario"], e["base"], e["pr"], e["change"]) for e in printed
    ]
    assert expected == listed(render_comment(single))
    assert "uncalibrated, not confirmed" in headline(single)


@pytest.mark.parametrize(
    ("overall", "extra", "expected"),
    [
        (Verdict.ALERT, row("a", Verdict.ALERT), "🔴 Benchmark Regression Detected"),
        (Verdict.WARN, row("a", Verdict.WARN), "⚠️ Benchmark Change Detected"),
        (Verdict.UNCHANGED, row("a"), "✅ Benchmarks — No Regression"),
        (Verdict.IMPROVED, row("a", Verdict.IMPROVED), "✅ Benchmarks — No Regression"),
        (
            Verdict.INCONCLUSIVE,
            row("a", Verdict.INCONCLUSIVE),
            "❔ Benchmarks — Cannot Tell for 1 Scenario",
        ),
        (
            Verdict.FAILED,
            failed("a"),
            "⛔ Benchmarks — 1 Scenario Failed or Not Measured in the PR",
        ),
        (
            Verdict.CONTAMINATED,
            row("a", Verdict.CONTAMINATED),
            "🧪 Benchmarks — No Verdict, the Control Moved",
        ),
    ],
)
def test_headline_says_the_overall_verdict(
    overall: Verdict, extra: Row, expected: str
) -> None:
    """The header is the predecessor's where it claims no more than is known."""
    assert headline(report(overall, extra, row("b"))) == f"## {expected}"


@pytest.mark.parametrize("overall", list(Verdict))
@pytest.mark.parametrize("verdict", [*Verdict])
@pytest.mark.parametrize("status", [0, 1, 2])
def test_no_regression_is_said_only_when_every_row_is_decided(
    overall: Verdict, verdict: Verdict, status: int
) -> None:
    """Whatever a report claims as a whole, one open row forbids the words."""
    other = failed("a") if verdict is Verdict.FAILED else row("a", verdict)
    comment = render_comment(report(overall, other, row("b"), status=status))
    is_decided = verdict in {
        Verdict.UNCHANGED,
        Verdict.IMPROVED,
        Verdict.ADDED,
        Verdict.REMOVED,
    }
    is_good = overall in {Verdict.UNCHANGED, Verdict.IMPROVED} and status == 0

    assert ("no regression" in comment.lower()) == (is_decided and is_good)


def test_failed_rows_are_counted_in_the_headline() -> None:
    """A scenario that stopped working is in the header, whatever else is."""
    shown = report(Verdict.ALERT, row("a", Verdict.ALERT), failed("b"), failed("c"))

    assert "⛔ 2 Scenarios Failed or Not Measured in the PR" in headline(shown)


def test_failure_on_both_sides_is_counted_and_does_not_alarm() -> None:
    """A benchmark broken before the PR is named in a header that is not red."""
    line = headline(report(Verdict.UNCHANGED, failed("a", is_blocking=False), row("b")))

    assert line.startswith("## ✅")
    assert "⛔ 1 Scenario Fails on Both Sides" in line
    assert "regression" not in line.lower()


def test_nothing_compared_is_never_green() -> None:
    """No common row is no result: the header says so, and no verdict follows."""
    only = replace(row("a", Verdict.ADDED), base=None, change=None)
    shown = report(Verdict.UNCHANGED, only)

    assert headline(shown) == "## ❔ Benchmarks — Nothing Compared"
    assert headline(report(Verdict.UNCHANGED)) == "## ❔ Benchmarks — Nothing Compared"


def test_single_result_sets_never_detect_a_regression() -> None:
    """One measurement a side confirms nothing, and its header says that."""
    rows = replace(row("a", Verdict.ALERT), is_confirmed=False), row("b")
    single = replace(report(Verdict.ALERT, *rows), method="single")
    expected = "## 🔴 Possible Benchmark Regression (uncalibrated, not confirmed)"
    sizes = Thresholds(gate=0.05, warn=0.2, alert=0.4, source="runner")
    profiled = replace(
        single,
        noise_source="profile",
        rows=tuple(replace(r, thresholds=sizes) for r in rows),
    )

    assert expected == headline(single)
    assert "(single launch, not confirmed)" in headline(profiled)
    assert "each side was measured once" in render_comment(single)


def test_uncalibrated_is_said_even_if_no_row_has_sizes() -> None:
    """Two result sets without a profile are uncalibrated whatever their rows are."""
    sizes = Thresholds(gate=0, warn=0, alert=0, source="exact")
    counted = replace(row("a"), thresholds=sizes)
    single = replace(
        report(Verdict.UNCHANGED, counted),
        method="single",
        noise_source="uncalibrated, not confirmed",
    )

    assert "(uncalibrated, not confirmed)" in headline(single)


def test_an_exact_difference_needs_no_confirmation() -> None:
    """A counter that differs is a fact, also between two single result sets."""
    pages = Unit(name="count", is_exact=True)
    counted = replace(row("a", Verdict.ALERT), unit=pages, is_confirmed=False)
    shown = replace(report(Verdict.ALERT, counted), method="single")

    assert headline(shown) == "## 🔴 Benchmark Regression Detected"


def test_green_is_two_lines_and_a_fold() -> None:
    """Who has nothing to do reads two lines; all the rest is folded once."""
    comment = render_comment(report(Verdict.UNCHANGED, row("a"), row("b")))
    head, fold = comment.split("<details>", maxsplit=1)

    assert len([line for line in head.splitlines() if line]) == 3  # with the marker
    assert comment.rstrip().endswith("</details>")
    assert "| ✅ | `a` |" in fold


def test_counts_add_up() -> None:
    """The counts name every verdict present, and how many were compared."""
    shown = report(
        Verdict.ALERT,
        row("a", Verdict.ALERT),
        failed("b"),
        *(row(f"c{n}") for n in range(3)),
    )

    expected = (
        "5 scenarios: 🔴 1 alert · ⛔ 1 failed · ✅ 3 unchanged — compared 4 of 5"
    )
    assert expected in render_comment(shown)


def test_undecided_rows_show_what_could_have_been_told() -> None:
    """❔ without the resolution would be an excuse; both media print it."""
    undecided = replace(row("a", Verdict.INCONCLUSIVE), resolution=0.084)
    shown = report(Verdict.INCONCLUSIVE, undecided, row("b"))
    lines = render_comment(shown).splitlines()

    assert any(line.startswith("| `a` |") and "| 8.4% |" in line for line in lines)
    assert "told 8.4% or more" in render_terminal(shown, width=80, is_color=False)


@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.ADDED, Verdict.REMOVED])
def test_rows_without_a_comparison_give_their_reason(verdict: Verdict) -> None:
    """Missing is not silent: why stands in the comment and in the terminal."""
    missing = replace(
        row("a", verdict), head=None, change=None, reason="it ran out of time"
    )
    shown = report(Verdict.UNCHANGED, missing, row("b"))

    assert "| it ran out of time |" in render_comment(shown)
    assert "it ran out of time" in render_terminal(shown, width=80, is_color=False)


def test_sizes_raised_by_the_runner_are_shown_per_row() -> None:
    """A row judged by a larger size than the policy's says which and why."""
    sizes = Thresholds(gate=0.05, warn=0.071, alert=0.10, source="runner")
    shown = report(Verdict.WARN, replace(row("a", Verdict.WARN), thresholds=sizes))

    assert "7.1% / 10% (runner)" in render_comment(shown)
    assert "flagged from 7.1% / 10%" in render_terminal(shown, width=80, is_color=False)


def test_no_number_becomes_a_word() -> None:
    """Absent and non-finite values are dashes: never nan, inf or None."""
    odd = replace(
        row("a", Verdict.INCONCLUSIVE),
        base=float("nan"),
        head=float("inf"),
        change=float("-inf"),
        resolution=float("inf"),
        interval=Interval(low=float("-inf"), high=float("nan")),
    )
    shown = report(Verdict.INCONCLUSIVE, odd, replace(odd, base=None, change=None))
    both = render_comment(shown) + render_terminal(shown, width=80, is_color=False)

    assert not re.search(r"\b(nan|inf|none)\b", both, re.IGNORECASE)


def test_commits_that_share_a_beginning_are_written_out() -> None:
    """Twelve characters are shown if they tell the sides apart, else all."""
    base, head = Commit(sha="a" * 40), Commit(sha="a" * 12 + "b" * 28)
    shown = replace(report(Verdict.UNCHANGED, row("x")), base=base, head=head)
    summary = render_comment(shown).splitlines()[3]

    assert f"`{'a' * 40}` → PR `{'a' * 12}{'b' * 28}`" in summary
    apart = replace(shown, head=Commit(sha="b" * 40), relation="first-parent")
    expected = f"base `{'a' * 12}` (first parent of the PR) → PR `{'b' * 12}`"
    assert expected in render_comment(apart).splitlines()[3]


def test_the_next_command_measures_the_same_commits() -> None:
    """Commits that the user named are named again; no other text gets in."""
    base, head = Commit(sha="a" * 40), Commit(sha="b" * 40)
    plain = replace(report(Verdict.WARN, row("x", Verdict.WARN)), base=base, head=head)
    given = replace(plain, relation="given")
    itself, hostile = replace(given, head=base), Commit(sha="$(reboot)")

    def command(shown: Report) -> str:
        text = render_terminal(shown, width=80, is_color=False)
        return text.partition("ci.run")[2].partition(" --benchmarks")[0]

    assert command(replace(plain, relation="merge-base")) == ""
    assert command(given) == f" --base {'a' * 12} --head {'b' * 12}"
    assert command(itself).endswith(" --allow-same")
    assert command(replace(given, base=hostile)) == ""


def test_a_long_table_keeps_its_order_and_opens_what_matters() -> None:
    """Quiet rows after the last loud one are folded; no row moves or repeats."""
    loud = [row(f"l{n}", Verdict.WARN) for n in range(3)]
    rows = [*loud, *(row(f"q{n}") for n in range(ONE_TABLE))]
    comment = render_comment(report(Verdict.WARN, *rows))
    visible = comment.split("<details")[0]

    assert [r.scenario for r in rows] == [cells[1] for cells in listed(comment)]
    assert [r.scenario for r in loud] == [cells[1] for cells in listed(visible)]


def test_cut_keeps_the_worst_and_counts_the_rest() -> None:
    """1,500 rows of long names: no 🔴 or ⛔ is lost, and what is cut is counted."""
    quiet = [row(f"{n:04}/{'x' * 75}") for n in range(1450)]
    loud = [row(f"{n:04}/{'y' * 75}", Verdict.ALERT) for n in range(25)]
    broken = [failed(f"{n:04}/{'z' * 75}") for n in range(25)]
    comment = render_comment(report(Verdict.ALERT, *quiet, *loud, *broken, status=1))
    shown = [cells[0] for cells in listed(comment)]

    assert len(comment.encode("utf-16-le")) / 2 <= LIMIT
    assert len(comment.encode()) > LIMIT * 0.9
    assert shown.count("🔴") == 25
    assert shown.count("⛔") == 25
    left = 1450 - shown.count("✅")
    assert f"**{left:,} scenarios more, left out" in comment
    assert f"limited in length: ✅ {left:,} unchanged.**" in comment
    assert comment.count("<details") == comment.count("\n</details>")


def test_red_rows_that_do_not_fit_are_counted() -> None:
    """Where not even the alerts fit, the comment says how many more there are."""
    loud = [row(f"{n:04}/{'y' * 75}", Verdict.ALERT) for n in range(2_000)]
    comment = render_comment(report(Verdict.ALERT, *loud, row("quiet"), status=1))
    shown = [cells[0] for cells in listed(comment)]

    assert set(shown) == {"🔴"}
    left = 2_000 - len(shown)
    assert f"🔴 {left:,} alert · ✅ 1 unchanged.**" in comment


@pytest.mark.parametrize(
    ("names", "mentioned"), [(["matmul"], True), (["offload_cuda/link"], False)]
)
def test_blind_spots_follow_from_the_rows(names: list[str], *, mentioned: bool) -> None:
    """A report says that it saw no GPU only if none of its rows names one."""
    spots = footnotes.blind_spots(report(Verdict.UNCHANGED, *map(row, names)))

    assert any("only on a GPU" in spot for spot in spots) is mentioned


def test_exact_rows_have_no_size_they_cannot_see() -> None:
    """Counters see any difference, so a report of counters claims no blind size."""
    counted = replace(row("a"), unit=Unit(name="count", is_exact=True))
    spots = footnotes.blind_spots(report(Verdict.UNCHANGED, counted))

    assert not [spot for spot in spots if "%" in spot]


@pytest.mark.parametrize(
    "name",
    ["a.time_b(8, 'f32')", "re/(a|b)*c", "x`y$(z)", "tab\tand\nline", "ü\u202e", "[1]"],
)
def test_regex_for_one_row_matches_it_and_can_be_pasted(name: str) -> None:
    """The command to measure a row again selects the row, and only characters
    that no shell or terminal reads are in it.
    """  # noqa: D205
    pattern = f"^{footnotes.regex(name)}$"

    assert re.search(pattern, name, re.DOTALL)
    assert not re.search(r"['`\n\t]", pattern)
    assert pattern.isascii()
    assert not re.search(pattern, f"more {name}")


def test_terminal_lines_are_aligned_by_cells() -> None:
    """Figures stand under one another whatever a name is made of."""
    rows = row("plain"), row("幅の広い名前"), row("é", Verdict.WARN, 12.5)
    shown = render_terminal(report(Verdict.WARN, *rows), width=90, is_color=False)
    table = shown.split("\n\n")[0].splitlines()

    assert {cell_len(line.rstrip()) for line in table} == {cell_len(table[1])}


@pytest.mark.parametrize("width", [1, 40, 60, 200])
def test_terminal_loses_no_character_of_a_name(width: int) -> None:
    """A name wider than the room is folded, never cut."""
    name = "".join(f"part{n}/" for n in range(30))
    shown = render_terminal(
        report(Verdict.UNCHANGED, row(name)), width=width, is_color=False
    )
    _, _, first, *rest = shown.split("\n\n")[0].splitlines()

    assert name == "".join([first.split()[1], *(line.strip() for line in rest)])
    assert all(cell_len(line) <= max(width, 60) for line in (first, *rest))


def test_terminal_without_color_is_plain() -> None:
    """A file or a pipe gets no escape code, a terminal gets colors."""
    shown = report(Verdict.ALERT, row("a", Verdict.ALERT), row("b"))

    assert "\x1b" not in render_terminal(shown, width=80, is_color=False)
    colored = render_terminal(shown, width=80, is_color=True)
    assert "\x1b[" in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert plain == render_terminal(shown, width=80, is_color=False)


def test_terminal_says_what_the_comment_says() -> None:
    """Headline, counts, notes and blind spots are the same in both."""
    shown = replace(
        report(Verdict.WARN, row("a", Verdict.WARN), row("b")),
        notes=("the control is noisy; run more launches",),
    )
    terminal_text = render_terminal(shown, width=80, is_color=False)
    comment = render_comment(shown)

    assert headline(shown).removeprefix("## ") in terminal_text
    for spot in footnotes.blind_spots(shown):
        assert f"- {spot}" in terminal_text
        assert f"- {spot}" in comment
    assert "the control is noisy; run more launches" in terminal_text
    assert "2 scenarios: ⚠️ 1 warn · ✅ 1 unchanged — compared 2 of 2." in terminal_text


@pytest.mark.parametrize("place", ["templates", "ci/templates"])
def test_template_is_found_in_a_checkout_and_in_a_wheel(
    tmp_path: Path, place: str
) -> None:
    """A wheel carries the template inside the package, a checkout beside it."""
    root = Path(__file__).parent.parent.parent
    shutil.copytree(
        root / "ci", tmp_path / "ci", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(root / "templates", tmp_path / place)
    script = "from ci import render; print(render._template().name, render.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split()[0] == "comment.md.j2"
    assert Path(done.stdout.split()[1]).is_relative_to(tmp_path)


def test_time_grows_with_the_rows_and_no_faster() -> None:
    """Ten times the rows take ten times as long or so; a hundred would be a square."""
    verdicts = list(Verdict)

    def seconds(count: int) -> float:
        rows = [
            row(f"suite.time_x({n}, 'é|{n}')", verdicts[n * 8 // count])
            for n in range(count)
        ]
        shown = report(Verdict.ALERT, *rows, status=1)
        start = time.perf_counter()
        render_comment(shown)
        render_terminal(shown, width=100, is_color=True)
        return time.perf_counter() - start

    taken = [(seconds(1_000), seconds(10_000)) for _ in range(3)]
    few, many = (min(times) for times in zip(*taken, strict=True))

    assert many < 40 * few
