"""asv's result files are read by column and by parameter, as asv means them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ci import DocumentError
from ci.model import BYTES, SECONDS, FailureKind, Reading, Unit
from ci.readers.asv_names import CHANGED_NOTE, scenario_id
from ci.readers.detect import read_set, read_sets

DATA = Path(__file__).parents[1] / "data"
CASES = DATA / "cases"
RECORDED = DATA / "asv"
SHA = "a" * 40


def result_file(results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a result file of version 2 with the columns result and params."""
    return {
        "commit_hash": SHA,
        "env_name": "virtualenv-py3.11",
        "date": 1_700_000_000_000,
        "params": {"machine": "host-7", "cpu": "cpu-x", "os": "Linux"},
        "python": "3.11",
        "requirements": {},
        "result_columns": ["result", "params", "version"],
        "results": results,
        "version": 2,
        **fields,
    }


def write(path: Path, content: Any) -> Path:
    """Write ``content`` as asv does, with bare NaN tokens."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")
    return path


def readings(path: Path) -> dict[str, Reading]:
    """Return the readings of one side."""
    return dict(read_set(path).readings)


def values(path: Path) -> dict[str, float | None]:
    """Return the value of each row of one side."""
    return {name: reading.value for name, reading in readings(path).items()}


def kind(reading: Reading) -> FailureKind:
    """Return why a reading has no value."""
    assert reading.failure is not None
    return reading.failure.kind


# --- What asv itself wrote ---


def test_a_recorded_directory_is_read_whole() -> None:
    """Each row asv recorded is there, failed and skipped ones with their reason."""
    found = readings(RECORDED / "base")

    assert list(found) == [
        "add/small/1024",
        "add/large/65536",
        "core.Grid.time_cell(10, 'x')",
        "core.Grid.time_cell(10, 'y')",
        "core.Grid.time_cell(100, 'x')",
        "core.Grid.time_cell(100, 'y')",
        "core.mem_list",
        "core.peakmem_list",
        "core.time_broken",
        "core.time_plain",
        "core.track_steps",
    ]
    assert found["add/small/1024"].value == 5.547999990085373e-06
    assert found["add/small/1024"].samples == 3
    assert kind(found["core.Grid.time_cell(10, 'y')"]) is FailureKind.SKIPPED
    assert kind(found["core.Grid.time_cell(100, 'x')"]) is FailureKind.FAILED
    assert kind(found["core.time_broken"]) is FailureKind.FAILED
    assert found["core.mem_list"].unit == found["core.peakmem_list"].unit == BYTES
    assert found["core.track_steps"].unit == Unit(name="steps")


def test_a_recorded_commit_and_its_machine_are_told() -> None:
    """Commit and date are asv's; the machine is described and not named."""
    found = read_set(RECORDED / "base")

    assert found.commit is not None
    assert found.commit.sha == "b57edf0b88dd2a9897da9db5c841708dbe071017"
    assert found.commit.date.startswith("2026-")
    assert found.facts["cpu"] == "cpu-x"
    assert found.facts["python"] == "python3"
    assert "ci" not in found.facts.values()


def test_a_single_file_reads_like_its_directory() -> None:
    """``benchmarks.json`` and ``machine.json`` are found beside a file as well."""
    (file,) = (RECORDED / "base" / "ci").glob("b57e*.json")

    assert readings(file) == readings(RECORDED / "base")
    assert readings(RECORDED / "base" / "ci") == readings(RECORDED / "base")


def test_a_benchmark_whose_own_code_changed_is_noted() -> None:
    """Asv versions a benchmark by its code: the sides do different work."""
    _, head = read_sets(RECORDED / "base", RECORDED / "head")

    noted = [name for name, r in head.readings.items() if CHANGED_NOTE in r.notes]
    assert noted == ["core.time_plain"]


# --- Values ---


def test_a_failed_combination_does_not_hide_its_neighbour() -> None:
    """airspeed-velocity/asv#1028: null among the values is one failed row."""
    found = readings(CASES / "01-03" / "base.json")

    assert kind(found["b.Simple.time_f(False)"]) is FailureKind.FAILED
    assert found["b.Simple.time_f(True)"].value == 2.0e-07


def test_a_short_row_with_null_failed() -> None:
    """airspeed-velocity/asv#952: a benchmark that broke is not dropped."""
    found = readings(CASES / "01-05" / "pr.json")

    assert kind(found["b.time_q"]) is FailureKind.FAILED
    assert found["b.time_r"].value == 0.1


def test_an_all_null_list_collapses_to_null(tmp_path: Path) -> None:
    """Asv writes one null for a list of nulls: every combination failed."""
    row = [None, [["1", "2"], ["'a'"]]]
    found = readings(write(tmp_path / "r.json", result_file({"b.time_t": row})))

    assert {name: kind(reading) for name, reading in found.items()} == {
        "b.time_t(1, 'a')": FailureKind.FAILED,
        "b.time_t(2, 'a')": FailureKind.FAILED,
    }


def test_one_sample_is_counted_and_its_infinite_interval_is_not_read() -> None:
    """Asv writes ``[-Infinity, Infinity]`` for the interval of one sample."""
    reading = readings(CASES / "01-19" / "pr.json")["b.time_s"]

    assert reading.value == 3.0
    assert reading.samples == 1


def test_memory_is_bytes_and_a_tracked_number_is_no_time() -> None:
    """airspeed-velocity/asv#724: the kind is in the name of the function."""
    found = readings(CASES / "02-05" / "pr.json")

    assert (found["b.mem_matrix"].value, found["b.mem_matrix"].unit) == (9.6e6, BYTES)
    assert found["b.track_iters"].value == 38
    assert found["b.track_iters"].unit == Unit(name="unit")


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("b.time_a", SECONDS),
        ("b.timeraw_a", SECONDS),
        ("b.peakmem_a", BYTES),
        ("b.MemList", BYTES),
        ("b.track_memory_", Unit(name="unit")),
        ("mem_.module.time_a", SECONDS),
        ("b.t", SECONDS),
    ],
)
def test_the_last_part_of_the_name_decides_the_unit(
    tmp_path: Path, name: str, unit: Unit
) -> None:
    """A module called ``mem_`` does not turn times into bytes."""
    file = write(tmp_path / "r.json", result_file({name: [[1.0], []]}))

    assert readings(file)[name].unit == unit


def test_the_declared_unit_of_a_tracked_number_counts(tmp_path: Path) -> None:
    """``benchmarks.json`` gives the unit that a ``track_`` function declared."""
    file = write(tmp_path / "m" / "r.json", result_file({"b.track_a": [[2.5], []]}))
    write(tmp_path / "benchmarks.json", {"b.track_a": {"unit": "MB/s"}, "version": 2})

    assert readings(file)["b.track_a"].unit == Unit(name="MB/s")


@pytest.mark.parametrize(
    "value", ["1.0", True, [1.0], {"result": 1}, math.inf, 10**400]
)
def test_a_value_that_is_no_finite_number_fails_its_row(
    tmp_path: Path, value: Any
) -> None:
    """One odd value costs its own row and no other."""
    results = {"b.time_a": [[value], []], "b.time_b": [[1.0], []]}
    found = readings(write(tmp_path / "r.json", result_file(results)))

    assert kind(found["b.time_a"]) is FailureKind.UNREADABLE
    assert found["b.time_b"].value == 1.0


def test_values_without_their_combinations_fail(tmp_path: Path) -> None:
    """A list of another length cannot be matched by position."""
    row = [[1.0, 2.0, 3.0], [["1", "2"]]]
    found = readings(write(tmp_path / "r.json", result_file({"b.time_t": row})))

    assert set(found) == {"b.time_t(1)", "b.time_t(2)"}
    assert {kind(reading) for reading in found.values()} == {FailureKind.UNREADABLE}


def test_a_huge_grid_without_values_is_one_row(tmp_path: Path) -> None:
    """Ten lists of a hundred values would be 10**20 rows."""
    row = [None, [[str(n) for n in range(100)]] * 10]
    found = readings(write(tmp_path / "r.json", result_file({"b.time_t": row})))

    assert list(found) == ["b.time_t"]


@pytest.mark.parametrize("params", ["abc", 7, [1, 2], {"a": 1}])
def test_odd_parameters_fail_their_row(tmp_path: Path, params: Any) -> None:
    """Parameters that are no lists are said, not raised."""
    row = [[1.0], params]
    found = readings(write(tmp_path / "r.json", result_file({"b.time_t": row})))

    assert kind(found["b.time_t"]) is FailureKind.UNREADABLE


# --- Versions and columns ---


def test_version_1_reads_like_version_2() -> None:
    """airspeed-velocity/asv#461: plain numbers, tables and null in one file."""
    found = values(CASES / "07-03" / "pr.json")

    assert found == {"b.t": 0.5, "b.p(1)": 1.0, "b.p(2)": 4.0, "b.f": None}


def test_version_1_samples_are_counted(tmp_path: Path) -> None:
    """``stats`` of version 1 is a list of tables, or one table."""
    results = {
        "b.time_a": {"result": 2.0, "stats": {"repeat": 1}},
        "b.time_b": {"result": [2.0], "samples": [[1.0, 2.0, 3.0]], "params": []},
        "b.time_c": {"result": [2.0], "stats": [{"repeat": 5}]},
    }
    content = {"commit_hash": SHA, "python": "2.7", "results": results, "version": 1}
    found = readings(write(tmp_path / "r.json", content))

    assert [reading.samples for reading in found.values()] == [1, 3, 5]


def test_columns_stand_where_the_file_says() -> None:
    """The order of ``result_columns`` is data, and a column may be unknown."""
    case = CASES / "07-05"

    assert values(case / "base.json") == {"b.t": 1.0}
    assert values(case / "pr.json") == {"b.t": 2.0}


def test_values_are_known_by_their_parameters() -> None:
    """A list that grew at its front does not shift the values."""
    case = CASES / "04-13"

    assert values(case / "base.json") == {"b.time_n(10)": 1.0, "b.time_n(100)": 10.0}
    assert values(case / "pr.json") == {"b.time_n(100)": 10.0, "b.time_n(1000)": 100.0}


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    """What version 3 means nobody knows yet."""
    file = write(tmp_path / "r.json", result_file({"b.t": [[1.0], []]}, version=3))

    with pytest.raises(DocumentError, match="asv result version 3"):
        read_set(file)


def test_a_field_of_the_wrong_type_is_named_with_its_place(tmp_path: Path) -> None:
    """The error says which field, in which file."""
    content = result_file({"b.t": [[1.0], []]}, result_columns=["result", 7])
    file = write(tmp_path / "r.json", content)

    with pytest.raises(DocumentError, match=r"r\.json.*\$\.result_columns\[1\]"):
        read_set(file)


def test_a_file_without_a_result_column_is_refused(tmp_path: Path) -> None:
    """Without it no row has a value, which would look like failure everywhere."""
    content = result_file({"b.t": [[1.0], []]}, result_columns=["params", "version"])
    file = write(tmp_path / "r.json", content)

    with pytest.raises(DocumentError, match="no column 'result'"):
        read_set(file)


def test_a_repeated_key_is_reported_and_the_last_counts() -> None:
    """ai-dynamo/aiperf#546: JSON readers keep the last value silently."""
    found = read_set(CASES / "07-19" / "pr.json")

    assert found.readings["b.t"].value == 9.0
    assert found.notes == (
        "pr.json: the key 'b.t' stands twice; the last value counts",
    )


# --- Commits and environments ---


def test_environments_of_one_commit_are_kept_apart() -> None:
    """pysnmp/pysnmp#341: the same benchmark under two Pythons is two rows."""
    case = CASES / "13-03"

    base, head = read_sets(case / "base", case / "pr")

    expected = {"b.t [virtualenv-py3.10]": 1.0, "b.t [virtualenv-py3.12]": 0.5}
    assert {name: r.value for name, r in base.readings.items()} == expected
    assert {name: r.value for name, r in head.readings.items()} == expected


def test_a_side_with_one_of_two_environments_pairs_with_it() -> None:
    """The environment is named on both sides as soon as one side has two."""
    base = CASES / "13-03" / "base"
    head = base / "m" / "aaaa-py3.10.json"

    _, one = read_sets(base, head)

    assert list(one.readings) == ["b.t [virtualenv-py3.10]"]


def test_two_interpreters_named_differently_still_meet(tmp_path: Path) -> None:
    """With one environment a side its name is not part of the id."""
    row = {"b.time_t": [[1.0], []]}
    base = write(tmp_path / "a.json", result_file(row, env_name="existing-base"))
    head = write(tmp_path / "b.json", result_file(row, env_name="existing-head"))

    first, second = read_sets(base, head)

    assert list(first.readings) == list(second.readings) == ["b.time_t"]


def test_several_commits_in_a_directory_are_refused(tmp_path: Path) -> None:
    """Which one is meant only the user knows; the message names them."""
    row = {"b.time_t": [[1.0], []]}
    write(tmp_path / "a.json", result_file(row))
    write(tmp_path / "b.json", result_file(row, commit_hash="b" * 40))

    with pytest.raises(DocumentError) as caught:
        read_set(tmp_path)

    message = str(caught.value)
    assert "results of 2 commits" in message
    assert SHA in message
    assert "b" * 40 in message
    assert message.endswith("give the file of one of them")


def test_two_machines_are_not_mixed(tmp_path: Path) -> None:
    """The same commit and environment twice is two machines."""
    row = {"b.time_t": [[1.0], []]}
    write(tmp_path / "m1" / "a.json", result_file(row))
    write(tmp_path / "m2" / "a.json", result_file(row))

    with pytest.raises(DocumentError, match="the same commit and environment"):
        read_set(tmp_path)


def test_commits_with_one_beginning_stay_distinct() -> None:
    """airspeed-velocity/asv#298: the whole hash is kept."""
    base, head = read_sets(CASES / "04-21" / "base.json", CASES / "04-21" / "pr.json")

    assert base.commit is not None
    assert head.commit is not None
    assert base.commit.sha != head.commit.sha


@pytest.mark.parametrize("date", [None, 0, 1e300, -1e300, math.nan])
def test_an_impossible_date_is_left_out(tmp_path: Path, date: float | None) -> None:
    """A date is told, never needed."""
    content = result_file({"b.time_t": [[1.0], []]}, date=date)
    found = read_set(write(tmp_path / "r.json", content))

    assert found.commit is not None
    assert found.commit.date == ""


def test_an_existing_environment_knows_no_commit(tmp_path: Path) -> None:
    """Asv leaves the hash out where it did not build the project."""
    content = result_file({"b.time_t": [[1.0], []]}, commit_hash=None)

    assert read_set(write(tmp_path / "r.json", content)).commit is None


def test_the_machine_is_described_and_not_named(tmp_path: Path) -> None:
    """Host names stay out of a report that is posted in public."""
    content = result_file(
        {"b.time_t": [[1.0], []]}, requirements={"numpy": "2.1", "x": ""}
    )
    write(tmp_path / "machine.json", {"machine": "host-7", "ram": "16GB", "version": 1})
    found = read_set(write(tmp_path / "r.json", content))

    assert found.facts == {
        "cpu": "cpu-x",
        "ram": "16GB",
        "os": "Linux",
        "python": "3.11",
        "environment": "virtualenv-py3.11",
        "requirements": "numpy==2.1 x",
    }


# --- Ids ---


@pytest.mark.parametrize(
    ("params", "pretty_name", "expected"),
    [
        ([], None, "m.time_a"),
        ([], "a", "a"),
        (["'x'"], "a", "a/x"),
        (["'it\\'s'"], "a", "a/it's"),
        (["10"], "a", "m.time_a(10)"),
        (["'x'", "'y'"], "a", "m.time_a('x', 'y')"),
        (["'x'"], None, "m.time_a('x')"),
        (["'cut"], "a", "m.time_a('cut)"),
        (["'a' 'b'.upper()"], "a", "m.time_a('a' 'b'.upper())"),
    ],
)
def test_the_rule_of_ids(
    params: list[str], pretty_name: str | None, expected: str
) -> None:
    """Short where asv gives a name and one text parameter, asv's own elsewhere."""
    assert scenario_id("m.time_a", params, pretty_name) == expected


def test_short_ids_that_collide_become_asvs_own(tmp_path: Path) -> None:
    """Two benchmarks with one pretty name stay two rows, on both sides."""
    both = {"b.time_a": [[1.0], []], "b.time_b": [[2.0], []]}
    named = {"b.time_a": {"pretty_name": "add"}, "b.time_b": {"pretty_name": "add"}}
    base = write(tmp_path / "base" / "r.json", result_file({"b.time_a": [[1.0], []]}))
    head = write(tmp_path / "head" / "r.json", result_file(both))
    write(tmp_path / "base" / "benchmarks.json", named)
    write(tmp_path / "head" / "benchmarks.json", named)

    first, second = read_sets(base, head)

    assert list(first.readings) == ["b.time_a"]
    assert list(second.readings) == ["b.time_a", "b.time_b"]


def test_a_side_without_benchmarks_json_gets_the_same_ids(tmp_path: Path) -> None:
    """A name that one side alone knows would leave every row without a partner."""
    row = {"b.time_a": [[1.0], [["'x'"]]]}
    base = write(tmp_path / "base" / "m" / "r.json", result_file(row))
    head = write(tmp_path / "head" / "m" / "r.json", result_file(row))
    write(tmp_path / "head" / "benchmarks.json", {"b.time_a": {"pretty_name": "add"}})

    first, second = read_sets(base, head)

    assert list(first.readings) == list(second.readings) == ["add/x"]


def test_a_parameter_that_stands_twice_keeps_both_rows(tmp_path: Path) -> None:
    """Nothing vanishes, even where asv's own name cannot tell two rows apart."""
    row = [[1.0, 2.0], [["1", "1"]]]
    found = values(write(tmp_path / "r.json", result_file({"b.time_t": row})))

    assert found == {"b.time_t(1)": 1.0, "b.time_t(1) #2": 2.0}


def test_lone_surrogates_are_spelled_out(tmp_path: Path) -> None:
    """A name that cannot be encoded would break every output."""
    file = write(tmp_path / "r.json", result_file({"b.time_\ud800": [[1.0], []]}))

    assert list(values(file)) == ["b.time_\\ud800"]


# --- Directories ---


def test_other_files_in_a_directory_are_left_out_and_named(tmp_path: Path) -> None:
    """Asv itself takes any ``.json`` there for a result."""
    write(tmp_path / "r.json", result_file({"b.time_t": [[1.0], []]}))
    write(tmp_path / "notes.json", {"a": 1})
    (tmp_path / "cut.json").write_text('{"results": ')

    found = read_set(tmp_path)

    assert list(found.readings) == ["b.time_t"]
    assert found.notes == (
        "left out: cut.json: not JSON: Expecting value at offset 12 (line 1 column 13)",
        "left out: notes.json is not an asv result file",
    )


def test_a_damaged_benchmarks_json_costs_the_short_names(tmp_path: Path) -> None:
    """The results themselves are whole, so they are read."""
    file = write(tmp_path / "r.json", result_file({"b.time_a": [[1.0], []]}))
    (tmp_path / "benchmarks.json").write_text("{")

    found = read_set(file)

    assert list(found.readings) == ["b.time_a"]
    assert len(found.notes) == 1
    assert found.notes[0].startswith("left out: benchmarks.json: not JSON")


def test_a_file_with_no_results_is_an_error(tmp_path: Path) -> None:
    """edtechre/pybroker#287: having measured nothing is never green."""
    file = write(tmp_path / "r.json", result_file({}))

    with pytest.raises(DocumentError, match="no results in"):
        read_set(file)
