"""Which rows there are, what they are called, and which are chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci import ConfigError, SuiteError
from ci.model import Arm, Failure, FailureKind
from ci.runs import Kind
from ci.suite.discovery import (
    DEFAULT_TIMEOUT,
    Case,
    Side,
    default_launches,
    import_failure,
    join,
    read_sides,
    select,
)
from ci.suite.runner import Found, chosen
from tests.ci.demo_repository import make_demo, started

BROKEN = Failure(kind=FailureKind.FAILED, message="cannot import suite.b: x")


def described(name: str = "m.time_a", **fields: Any) -> dict[str, Any]:
    """Return a worker's description of one benchmark."""
    return {
        "name": name,
        "module": "suite." + name.rpartition(".")[0],
        "kind": "time",
        "pretty": None,
        "params": [],
        "unit": "seconds",
        "timeout": None,
        "cache": None,
        "cache_timeout": None,
        "exact": False,
        "direction": "lower",
        **fields,
    }


def side(*benchmarks: dict[str, Any], **failures: str) -> Side:
    """Return one side; failures by module."""
    told = {k: {"message": v, "detail": ""} for k, v in failures.items()}
    return read_sides([{"benchmarks": list(benchmarks), "failures": told}])[0]


def ids(*benchmarks: dict[str, Any]) -> list[str]:
    """Return the ids of some benchmarks."""
    return list(side(*benchmarks).cases)


# --- Ids --------------------------------------------------------------------------


def test_second_claim_to_an_id_does_not_hide_the_first() -> None:
    """The head cannot take a row out of the comparison by claiming its id twice."""
    old = described("m.time_a", pretty="p", params=[["'x'"]])
    new = described("m.time_b", pretty="p", params=[["'x'"]])
    before = {"benchmarks": [old], "failures": {}}
    after = {"benchmarks": [old, new], "failures": {}}

    head, on_base, base = read_sides([after, after, before])
    found = {case.row.id: case.row.on_base for case in join(head, on_base, base)}

    assert found == {"m.time_a('x')": True, "m.time_b('x')": False}


def test_renamed_function_keeps_its_row() -> None:
    """An author's own name outlives the function behind it."""
    before = described("m.time_a", pretty="p", params=[["'x'"]])
    after = described("m.time_b", pretty="p", params=[["'x'"]])

    sides = [{"benchmarks": [one], "failures": {}} for one in (after, after, before)]
    (case,) = join(*read_sides(sides))

    assert (case.row.id, case.row.benchmark) == ("p/x", "m.time_b")
    assert case.row.on_base
    assert case.row.on_head


def test_id_is_the_name_without_parameters() -> None:
    """A benchmark alone is one row, called as asv calls it."""
    assert ids(described()) == ["m.time_a"]
    assert ids(described(pretty="Nice name")) == ["Nice name"]


def test_parameters_follow_in_brackets() -> None:
    """Rows are the product of the parameters, in asv's order and spelling."""
    found = side(described(params=[["1", "2"], ["'a'", "None"]]))

    assert list(found.cases) == [
        "m.time_a(1, 'a')",
        "m.time_a(1, None)",
        "m.time_a(2, 'a')",
        "m.time_a(2, None)",
    ]
    assert [case.row.index for case in found.cases.values()] == [0, 1, 2, 3]
    assert {case.row.benchmark for case in found.cases.values()} == {"m.time_a"}


def test_pretty_name_with_one_text_parameter_is_a_path() -> None:
    """A suite may keep ids it had in another tool: ``pretty/text``."""
    one = described(pretty="matmul", params=[["'64x64'", "'8'"]])

    assert ids(one) == ["matmul/64x64", "matmul/8"]


def test_pretty_name_with_other_parameters_falls_back() -> None:
    """Numbers and products have no plain text, so asv's own name stands."""
    assert ids(described(pretty="x", params=[["1"]])) == ["m.time_a(1)"]


def test_ids_that_collide_become_asv_s_own() -> None:
    """Two benchmarks with one pretty name are told apart, and neither is lost."""
    a = described("m.time_a", pretty="same")
    b = described("m.time_b", pretty="same")

    assert ids(a, b) == ["m.time_a", "m.time_b"]


def test_equal_texts_become_asv_s_own() -> None:
    """Two equal texts in one list are two rows."""
    one = described(pretty="x", params=[["'a' (0)", "'a' (1)"]])

    assert ids(one) == ["m.time_a('a' (0))", "m.time_a('a' (1))"]


def test_name_of_another_benchmark_cannot_be_taken() -> None:
    """A pretty name equal to another's fallback hides no row."""
    thief = described("m.time_thief", pretty="m.time_b")
    b = described("m.time_b", pretty="same")
    c = described("m.time_c", pretty="same")

    assert len(ids(thief, b, c)) == 3
    assert "m.time_b" in ids(thief, b, c)
    found = side(thief, b, c).cases
    assert found["m.time_b"].row.benchmark == "m.time_b"


def test_id_is_one_line() -> None:
    """A parameter whose text has lines is one row, and one line of a list."""
    one = described(pretty="x", params=[["'a\\nb'"]])
    two = described("m.time_b", params=[["array([1,\n       2])"]])

    assert ids(one, two) == ["x/a b", "m.time_b(array([1, 2]))"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"),
            st.sampled_from([None, "p", "q", "m.time_a", "m.time_b"]),
            st.lists(st.sampled_from("xyz"), max_size=3, unique=True),
        ),
        max_size=6,
        unique_by=lambda entry: entry[0],
    )
)
def test_no_row_is_ever_lost(entries: list[tuple[str, str | None, list[str]]]) -> None:
    """Whatever names a suite gives, each (benchmark, parameters) is one row."""
    benchmarks = [
        described(
            f"m.time_{letter}",
            pretty=pretty,
            params=[[repr(text) for text in texts]] if texts else [],
        )
        for letter, pretty, texts in entries
    ]
    found = side(*benchmarks).cases
    rows = {(case.row.benchmark, case.row.index) for case in found.values()}

    assert len(found) == len(rows) == sum(len(texts) or 1 for *_, texts in entries)
    assert all(identity == case.row.id for identity, case in found.items())


# --- Attributes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "unit", "is_exact"),
    [
        ("time", "seconds", False),
        ("timeraw", "seconds", False),
        ("peakmem", "bytes", False),
        ("mem", "bytes", True),
    ],
)
def test_units_of_kinds(kind: str, unit: str, is_exact: bool) -> None:
    """Times are seconds, sizes are bytes; the size of an object repeats exactly."""
    row = side(described(kind=kind, unit="?")).cases["m.time_a"].row

    assert (row.kind, row.unit.name, row.unit.is_exact) == (Kind(kind), unit, is_exact)


def test_direction_that_does_not_exist_is_refused() -> None:
    """A misspelled direction must not pass for the usual one."""
    with pytest.raises(ConfigError, match=r"^m\.time_a: benchgate_direction is 'up'"):
        side(described(kind="track", direction="up"))


def test_timeouts_are_asv_s_unless_given() -> None:
    """Sixty seconds, or what the suite says."""
    cases = side(described(), described("m.time_b", timeout=2, cache_timeout=3)).cases

    assert (cases["m.time_a"].timeout, DEFAULT_TIMEOUT) == (60.0, 60.0)
    assert (cases["m.time_b"].timeout, cases["m.time_b"].cache_timeout) == (2.0, 3.0)


# --- Joining the sides ----------------------------------------------------------------


def presence(cases: tuple[Case, ...]) -> dict[str, str]:
    """Return which sides define each row."""
    return {
        case.row.id: "b" * case.row.on_base + "h" * case.row.on_head for case in cases
    }


def test_rows_of_one_side_are_added_or_removed() -> None:
    """What only head's suite has is new; what only base's own has is gone."""
    a, b, c = described("m.time_a"), described("m.time_b"), described("m.time_c")

    joined = join(side(a, b), side(a, b), side(a, c))

    assert presence(joined) == {"m.time_a": "bh", "m.time_b": "h", "m.time_c": "b"}


def test_changed_parameters_are_matched_by_value() -> None:
    """Rows pair by what they measure, not by their place in a list."""
    head = side(described(params=[["100", "1000"]]))
    base = side(described(params=[["10", "100"]]))

    joined = join(head, head, base)

    assert presence(joined) == {
        "m.time_a(100)": "bh", "m.time_a(1000)": "h", "m.time_a(10)": "b",
    }  # fmt: skip
    assert next(c for c in joined if c.row.id == "m.time_a(100)").row.index == 0


def test_module_that_head_broke_keeps_its_rows() -> None:
    """A row whose module cannot be imported in head broke; it was not removed."""
    head = Side(cases=side(described("a.time_a")).cases, failures={"suite.b": BROKEN})
    base = side(described("a.time_a"), described("b.time_b"), described("c.time_c"))

    joined = join(head, head, base)

    assert presence(joined) == {"a.time_a": "bh", "b.time_b": "bh", "c.time_c": "b"}


def test_broken_package_keeps_the_rows_below_it() -> None:
    """A failing package takes its modules along, and no neighbour of similar name."""
    head = Side(cases={}, failures={"suite.b": BROKEN})
    base = side(described("b.deep.time_b"), described("bb.time_b"))

    assert presence(join(head, head, base)) == {"b.deep.time_b": "bh", "bb.time_b": "b"}
    assert import_failure(head.failures, "suite.b.deep") is BROKEN
    assert import_failure(head.failures, "suite.bb") is None


def test_row_that_only_base_can_import_is_head_s_still() -> None:
    """Head's suite on base's tree defines rows that head itself cannot import."""
    row = side(described("b.time_b"))
    head = Side(cases={}, failures={"suite.b": BROKEN})

    assert presence(join(head, row, row)) == {"b.time_b": "bh"}


def test_module_that_only_head_can_import_is_added() -> None:
    """A benchmark of a new API does not exist on base."""
    head = side(described("b.time_b"))
    on_base = Side(cases={}, failures={"suite.b": BROKEN})

    assert presence(join(head, on_base, Side(cases={}, failures={}))) == {
        "b.time_b": "h"
    }


@given(*[st.sets(st.sampled_from("abcdefg"))] * 3)
def test_join_keeps_each_row_once(
    head: set[str], on_base: set[str], base: set[str]
) -> None:
    """The rows of a run are the union of all that was seen, each on some side."""
    sides = [
        side(*(described(f"m.time_{c}") for c in some))
        for some in (head, on_base, base)
    ]
    joined = join(*sides)

    assert sorted(c.row.id for c in joined) == sorted(
        f"m.time_{c}" for c in head | on_base | base
    )
    assert all(case.row.on_base or case.row.on_head for case in joined)


# --- Choosing -------------------------------------------------------------------------

CASES = tuple(
    side(
        described("m.time_a", pretty="mat(mul)", params=[["'8'"]]),
        described("m.time_ab"),
        described("m.time_b", params=[["1"], ["2"]]),
    ).cases.values()
)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", ["mat(mul)/8", "m.time_ab", "m.time_b(1, 2)"]),
        ("mat(mul)/8", ["mat(mul)/8"]),
        ("m.time_ab", ["m.time_ab"]),
        ("m.time_b(1, 2)", ["m.time_b(1, 2)"]),
        ("time_a", ["mat(mul)/8", "m.time_ab"]),
        ("time_a$", ["mat(mul)/8"]),
        ("^m.*b", ["m.time_ab", "m.time_b(1, 2)"]),
        ("MAT", []),
    ],
)
def test_select(pattern: str, found: list[str]) -> None:
    """A whole id is taken literally; anything else is a regex on id or asv name."""
    assert [case.row.id for case in select(CASES, pattern)] == found


def test_select_refuses_what_is_no_regex() -> None:
    """A pattern that cannot be compiled is told in one line."""
    with pytest.raises(
        ConfigError, match=r"^--benchmarks: '\(' is not a regex: "
    ) as error:
        select(CASES, "(")

    assert "\n" not in str(error.value)


def test_chosen_refuses_an_empty_choice() -> None:
    """Nothing to measure is an error with its reason, never an empty run."""

    def found(cases: tuple[Case, ...], **imports: Failure) -> Found:
        failed = {arm: dict(imports) for arm in Arm}
        return Found(cases=cases, imports=failed, known={}, files={})

    assert chosen(found(CASES), "time_ab") == CASES[1:2]
    with pytest.raises(SuiteError, match="none of 3 scenarios matches 'nope'"):
        chosen(found(CASES), "nope")
    with pytest.raises(SuiteError, match="no benchmark; add one"):
        chosen(found(()), "")
    with pytest.raises(SuiteError, match=r"no benchmark: cannot import suite\.b: x"):
        chosen(found((), b=BROKEN), "")
    gone = tuple(replace(c, row=replace(c.row, on_head=False)) for c in CASES)
    with pytest.raises(SuiteError, match="none of 3 scenarios that the base has"):
        chosen(found(gone), "")


@pytest.mark.parametrize(
    ("rows", "launches"), [(0, 4), (1, 20), (2, 10), (3, 7), (5, 4), (48, 4)]
)
def test_few_rows_get_more_launches(rows: int, launches: int) -> None:
    """Each timed row gives one control value a launch, and a scale needs twenty."""
    cases = side(*(described(f"m.time_{n}") for n in range(rows))).cases

    assert default_launches(tuple(cases.values())) == launches


def test_only_rows_timed_on_both_sides_count_for_launches() -> None:
    """Values that are not times, and rows of one side, know no noise."""
    cases = tuple(
        side(described(), described("m.track_b", kind="track")).cases.values()
    )
    added = replace(cases[0], row=replace(cases[0].row, on_base=False))

    assert default_launches(cases) == 20
    assert default_launches((added, cases[1])) == 4


# --- Real suites ----------------------------------------------------------------------


def test_added_and_removed_rows_of_two_commits(tmp_path: Any) -> None:
    """Base's own suite says what is new and what is gone, moved files included."""
    two = "import subject\ndef track_stays(): return 1\ndef track_{}(): return 1\n"
    demo = make_demo(
        tmp_path,
        {
            "a.py": two.format("goes"),
            "moved.py": "def track_moves(): return 1\n",
        },
    )
    demo.git("mv", "benchmarks/moved.py", "attic.py")
    demo.commit({"benchmarks/a.py": two.format("comes")})
    with started(demo, "HEAD~1") as (_session, _workers, found):
        assert presence(found.cases) == {
            "a.track_stays": "bh",
            "a.track_comes": "h",
            "a.track_goes": "b",
            "moved.track_moves": "b",
        }


def test_suite_that_base_does_not_have_is_all_new(tmp_path: Any) -> None:
    """The first suite of a project has no rows on base."""
    demo = make_demo(tmp_path)
    demo.git("rm", "--quiet", "-r", "benchmarks")
    demo.commit()
    demo.git("revert", "--no-edit", "HEAD")

    with started(demo, "HEAD~1") as (_session, _workers, found):
        assert presence(found.cases) == {"basic.time_work": "h"}


def test_unicode_names_reach_the_document(tmp_path: Any) -> None:
    """Modules, functions and parameters may have any letters."""
    demo = make_demo(
        tmp_path / "größe mit blank",
        {
            "größe.py": (
                "import subject\n"
                "def track_länge(x): return len(x)\n"
                "track_länge.params = ['ü', '✓✓']\n"
            )
        },
    )
    with started(demo) as (_session, _workers, found):
        assert [c.row.id for c in found.cases] == [
            "größe.track_länge('ü')",
            "größe.track_länge('✓✓')",
        ]
