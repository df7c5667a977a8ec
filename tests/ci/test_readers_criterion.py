"""Criterion trees are read by what their files say, not by where they lie."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import DocumentError
from ci.model import SECONDS, FailureKind
from ci.readers.detect import read_set, read_sets
from tests.ci.criterion_trees import write_scenario, write_tree

CASES = Path(__file__).parents[1] / "data" / "cases"


def values(root: Path) -> dict[str, float | None]:
    """Return the value of each scenario under ``root``."""
    return {name: found.value for name, found in read_set(root).readings.items()}


def test_the_value_is_the_mean_in_seconds(tmp_path: Path) -> None:
    """Criterion writes nanoseconds; the gate holds seconds."""
    write_tree(tmp_path, {"g/f/8": 1500.0}, samples=12)

    found = read_set(tmp_path)

    assert found.tool == "Criterion"
    reading = found.readings["g/f/8"]
    assert reading.value == pytest.approx(1.5e-6)
    assert (reading.unit, reading.samples, reading.failure) == (SECONDS, 12, None)


@pytest.mark.parametrize("place", ["", "criterion", "target/criterion"])
def test_the_tree_is_found_below_a_project(tmp_path: Path, place: str) -> None:
    """A project, its target directory and the tree itself mean the same."""
    write_tree(tmp_path / place, {"g/f": 10.0})

    assert list(values(tmp_path)) == ["g/f"]


def test_new_is_preferred_to_saved_baselines(tmp_path: Path) -> None:
    """``base`` and named baselines beside ``new`` are earlier measurements."""
    write_tree(tmp_path, {"g/f": 30.0})
    write_tree(tmp_path, {"g/f": 10.0}, name="base")
    write_tree(tmp_path, {"g/f": 20.0}, name="main")

    assert values(tmp_path) == {"g/f": pytest.approx(30e-9)}


def test_one_saved_baseline_stands_in_for_new(tmp_path: Path) -> None:
    """A tree kept in a cache may hold nothing but one named baseline."""
    write_tree(tmp_path, {"g/f": 20.0, "g/h": 5.0}, name="main")

    found = read_set(tmp_path)

    assert {name: r.value for name, r in found.readings.items()} == {
        "g/f": pytest.approx(20e-9),
        "g/h": pytest.approx(5e-9),
    }
    assert found.notes == ("read from the saved baseline 'main'",)


def test_several_saved_baselines_are_refused(tmp_path: Path) -> None:
    """Without ``new`` nothing says which of two baselines is meant."""
    write_tree(tmp_path, {"g/f": 20.0}, name="main")
    write_tree(tmp_path, {"g/f": 30.0}, name="v1")

    with pytest.raises(DocumentError, match=r"several saved baselines \(main, v1\)"):
        read_set(tmp_path)


def test_a_scenario_left_without_new_is_named(tmp_path: Path) -> None:
    """What is left out is counted and named."""
    write_tree(tmp_path, {"g/f": 20.0})
    write_tree(tmp_path, {"g/old": 20.0}, name="main")

    found = read_set(tmp_path)

    assert list(found.readings) == ["g/f"]
    (note,) = found.notes
    assert note == (
        "left out, for want of a new measurement beside the saved baseline: g/old"
    )


def test_ids_that_share_a_directory_name_pair_by_id() -> None:
    """bheisler/criterion.rs#272: directories are cut at 64 bytes and numbered."""
    case = CASES / "04-01"

    base, head = values(case / "base"), values(case / "pr")

    assert base == head
    assert sorted(base.values()) == [1.4e-09, 0.0011]


def test_ids_keep_what_directories_cannot_hold(tmp_path: Path) -> None:
    """ohdearquant/lattice#1319: `|`, `?`, `:` and a trailing blank are in the id."""
    tree = tmp_path / "tree"
    shutil.copytree(CASES / "04-03" / "base", tree)
    plain = tree / "target" / "criterion" / "Day01.1_"
    plain.rename(plain.with_name("Day01.1_ "))

    assert set(values(tree)) == {"p(a|b)?", "Day01.1: "}


def test_groups_may_bear_the_names_of_criterions_own_directories() -> None:
    """An entry is known by its files, so a group called ``new`` is a group."""
    assert set(values(CASES / "04-05" / "pr")) == {"new", "base/report"}


@given(st.permutations(["new", "base", "change", "report"]), st.integers(1, 4))
def test_reserved_names_are_found_in_any_nesting(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], depth: int
) -> None:
    """Each id is found once, with its own value, whatever its parts are called."""
    root = tmp_path_factory.mktemp("tree")
    ids = ["/".join(names[:length]) for length in range(1, depth + 1)]
    for place, scenario in enumerate(ids):
        write_tree(root, {scenario: 10.0 + place})
        write_tree(root, {scenario: 99.0}, name="base")

    assert values(root) == {
        scenario: pytest.approx((10.0 + place) * 1e-9)
        for place, scenario in enumerate(ids)
    }


def test_a_cut_file_fails_its_row_and_names_itself() -> None:
    """HeddleCo/heddle#91: one unreadable file is neither skipped nor fatal."""
    found = read_set(CASES / "05-05" / "pr")

    bad, ok = found.readings["bad"], found.readings["ok"]
    assert bad.value is None
    assert bad.failure is not None
    assert bad.failure.kind is FailureKind.UNREADABLE
    assert bad.failure.message.startswith("bad/new/estimates.json is cut or damaged")
    assert ok.value == pytest.approx(1e-8)


def test_samples_alone_are_a_failed_row(tmp_path: Path) -> None:
    """Criterion writes them first, so a harness killed right after leaves just them."""
    write_tree(tmp_path, {"f": 20.0, "h": 20.0})
    new = tmp_path / "f" / "new"
    (new / "sample.json").write_text('{"times": [1.0, 2.0]}')
    (new / "estimates.json").unlink()
    (new / "benchmark.json").unlink()

    failure = read_set(tmp_path).readings["f"].failure

    assert failure is not None
    assert failure.kind is FailureKind.UNREADABLE


@pytest.mark.parametrize("missing", ["estimates.json", "benchmark.json"])
def test_half_an_entry_is_a_failed_row(tmp_path: Path, missing: str) -> None:
    """A harness that stopped between two files leaves no silent gap."""
    write_tree(tmp_path, {"g/f": 20.0, "g/h": 20.0})
    (tmp_path / "g" / "f" / "new" / missing).unlink()

    failure = read_set(tmp_path).readings["g/f"].failure

    assert failure is not None
    assert failure.message == f"g/f/new/{missing} is missing"


@pytest.mark.parametrize(
    "mean", ["null", "NaN", "1e999", '"fast"', "true"], ids=lambda text: text
)
def test_a_mean_that_is_no_number_fails_its_row(tmp_path: Path, mean: str) -> None:
    """Rust writes a NaN as null; it is not zero and not a value."""
    write_tree(tmp_path, {"g/f": 20.0})
    file = tmp_path / "g" / "f" / "new" / "estimates.json"
    file.write_text(f'{{"mean": {{"point_estimate": {mean}}}}}')

    reading = read_set(tmp_path).readings["g/f"]

    assert reading.value is None
    assert reading.failure is not None
    assert reading.failure.kind is FailureKind.UNREADABLE


def test_a_flat_sample_has_no_slope() -> None:
    """Criterion's flat sampling writes ``"slope": null``; the mean is there."""
    assert values(CASES / "06-13" / "pr") == {"fl": 0.56}


def test_raw_samples_may_be_absent() -> None:
    """A cache may keep the estimates only; the count is then 0."""
    reading = read_set(CASES / "05-07" / "pr").readings["q"]

    assert reading.value == pytest.approx(1e-8)
    assert reading.samples == 0


def test_throughput_does_not_touch_the_time() -> None:
    """bheisler/criterion.rs#581: bytes per iteration are no part of the value."""
    assert values(CASES / "02-12" / "pr") == {"io": 0.001}


def test_rows_that_were_not_measured_again_are_noted() -> None:
    """ohdearquant/khive#2815: leftovers are the same bytes on both sides."""
    case = CASES / "05-11"

    _, head = read_sets(case / "base", case / "pr")

    (note,) = head.notes
    assert note == (
        "the files of 1 row are the same bytes on both sides, "
        "as if not measured again: old"
    )


def test_equal_estimates_of_other_samples_are_not_leftovers() -> None:
    """Only when all files that hold the reading agree is it noted."""
    case = CASES / "05-07"

    _, head = read_sets(case / "base", case / "pr")

    assert head.notes == ()


def test_an_id_in_two_directories_is_said_and_the_first_counts(tmp_path: Path) -> None:
    """Which one counts does not depend on the file system's order."""
    write_scenario(tmp_path / "b" / "new", "g/f", 20.0)
    write_scenario(tmp_path / "a" / "new", "g/f", 10.0)

    found = read_set(tmp_path)

    assert found.readings["g/f"].value == pytest.approx(10e-9)
    assert found.notes == ("g/f is the id of 2 directories; a counts, b does not",)


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """A tree that went through a Windows shell reads the same."""
    write_tree(tmp_path, {"g/f": 20.0})
    for file in tmp_path.rglob("*.json"):
        file.write_bytes(file.read_text().encode("utf-16"))

    assert values(tmp_path) == {"g/f": pytest.approx(20e-9)}


def test_links_to_directories_are_not_followed(tmp_path: Path) -> None:
    """A link back to the root would never end."""
    write_tree(tmp_path, {"g/f": 20.0})
    (tmp_path / "g" / "loop").symlink_to(tmp_path)

    assert list(values(tmp_path)) == ["g/f"]


def test_a_damaged_sample_costs_a_note_only(tmp_path: Path) -> None:
    """The value is the tool's own estimate; samples are counted, not judged."""
    write_tree(tmp_path, {"g/f": 20.0})
    (tmp_path / "g" / "f" / "new" / "sample.json").write_text('{"times": [1.0,')

    reading = read_set(tmp_path).readings["g/f"]

    assert reading.value == pytest.approx(20e-9)
    assert reading.samples == 0
    assert len(reading.notes) == 1
    assert reading.notes[0].startswith("g/f/new/sample.json is cut or damaged")


def test_a_tree_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading costs one listing a directory and one opening a file, and no more."""
    for place in range(20):
        write_tree(tmp_path, {f"g{place % 10}/f{place}/8": 20.0}, samples=10)
    files = {str(path) for path in tmp_path.rglob("new/*.json")}
    folders = {str(path) for path in tmp_path.rglob("*") if path.is_dir()}
    looked: dict[str, list[str]] = {"open": [], "scandir": []}
    for name, calls in looked.items():
        real = getattr(os, name)

        def note(
            path: str, *rest: object, _real: Any = real, _calls: list[str] = calls
        ) -> Any:
            _calls.append(str(path))
            return _real(path, *rest)

        monkeypatch.setattr(os, name, note)
    found = read_set(tmp_path)
    monkeypatch.undo()

    assert len(found.readings) == 20
    assert sorted(looked["open"]) == sorted(files)
    assert sorted(looked["scandir"]) == sorted(folders | {str(tmp_path)})


def test_the_builder_writes_what_criterion_writes(tmp_path: Path) -> None:
    """The made-up trees of these tests have the fields of a real one."""
    write_tree(tmp_path, {"g/f": 20.0})
    new = tmp_path / "g" / "f" / "new"

    estimates = json.loads((new / "estimates.json").read_text())

    assert set(estimates) == {"mean", "median", "slope", "median_abs_dev", "std_dev"}
