"""The suite as asv finds it, and how it is written."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "bench" / "suite"
ROWS = ROOT / "tests" / "data" / "seed" / "rows.json"
MODULES = sorted(SUITE.glob("*.py"))
DISCOVERED = ("time_", "mem_", "peakmem_", "track_", "timeraw_")

# What a measuring process does before it forks: import everything, run nothing.
IMPORT = """
import io, json, os, sys
import torch
from torch.overrides import TorchFunctionMode
from asv_runner.discovery import list_benchmarks

called = []

class Watch(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        called.append(func.__name__)
        return func(*args, **(kwargs or {}))

threads = torch.get_num_threads()
found = io.StringIO()
with Watch():
    list_benchmarks(sys.argv[1], found)
tasks = "/proc/self/task"
print(json.dumps({
    "benchmarks": json.loads(found.getvalue()),
    "called": called,
    "threads": len(os.listdir(tasks)) if os.path.isdir(tasks) else None,
    "torch threads kept": torch.get_num_threads() == threads,
    "cuda": torch.cuda.is_initialized(),
}))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, Any]:
    """Return what a fresh process finds and has done after importing the suite."""
    # numpy, which torch imports, starts one thread per CPU unless told otherwise.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", IMPORT, str(SUITE)],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return json.loads(process.stdout)


def ids(imported: dict[str, Any], kind: str) -> list[str]:
    """Return the ids of all benchmarks of a kind."""
    return [
        f"{benchmark['pretty_name']}/{ast.literal_eval(parameter)}"
        for benchmark in imported["benchmarks"]
        if benchmark["type"] == kind
        for parameter in benchmark["params"][0]
    ]


def test_the_timed_rows_are_the_48_known_ones(imported: dict[str, Any]) -> None:
    """Each id of the list is measured once, and nothing else is timed."""
    known = [row["scenario"] for row in json.loads(ROWS.read_text("utf-8"))]

    assert len(known) == 48
    assert sorted(ids(imported, "time")) == sorted(known)


def test_an_exact_metric_is_named_after_its_row(imported: dict[str, Any]) -> None:
    """The id of an exact metric is the id of a timed row, a slash, and its name."""
    rows = ids(imported, "time")
    metrics = ids(imported, "track")

    assert len(metrics) == len(set(metrics)) == 47
    assert {metric.rpartition("/")[0] for metric in metrics} <= set(rows)


def test_a_parameter_is_one_string(imported: dict[str, Any]) -> None:
    """No id depends on how asv combines parameters."""
    for benchmark in imported["benchmarks"]:
        assert len(benchmark["params"]) == 1
        for parameter in benchmark["params"][0]:
            assert isinstance(ast.literal_eval(parameter), str)


def test_a_family_is_a_module(imported: dict[str, Any]) -> None:
    """The part before the first slash is the module the benchmark lives in."""
    for benchmark in imported["benchmarks"]:
        assert benchmark["name"].split(".")[0] == benchmark["pretty_name"]


def test_importing_the_suite_starts_nothing(imported: dict[str, Any]) -> None:
    """A process can still fork: one thread, no tensor operation, no CUDA."""
    assert imported["called"] == []
    assert imported["threads"] in {1, None}
    assert imported["torch threads kept"]
    assert not imported["cuda"]


def functions(path: Path) -> Iterator[tuple[bool, ast.FunctionDef]]:
    """Yield each function of a file, and whether it is a method."""
    tree = ast.parse(path.read_text("utf-8"))
    methods = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for child in node.body
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield id(node) in methods, node


def test_a_timed_body_is_one_to_three_lines() -> None:
    """What is timed can be read at a glance: preparation belongs to setup."""
    bodies = {
        f"{path.stem}.{function.name}": function.body[1:]  # the docstring is first
        for path in MODULES
        for _, function in functions(path)
        if function.name.startswith("time_")
    }

    assert len(bodies) == 10
    for name, body in bodies.items():
        lines = body[-1].end_lineno - body[0].lineno + 1
        assert 1 <= lines <= 3, name


def test_names_that_asv_discovers_are_methods_of_the_suite() -> None:
    """A helper called time_something would become a benchmark without a family."""
    for path in (ROOT / "bench").rglob("*.py"):
        for is_method, function in functions(path):
            if function.name.startswith(DISCOVERED):
                assert path.parent == SUITE, function.name
                assert is_method, function.name


def test_the_suite_imports_modules_and_the_library_absolutely() -> None:
    """An imported class with a benchmark counts twice; `..` leaves asv's package."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            assert node.level in {0, 1}, path
            module = node.module or ""
            assert not module.startswith(("bench.suite", "ci")), path
            if node.level == 1 or module.split(".")[0] == "bench":
                assert all(alias.name.islower() for alias in node.names), path


def test_the_library_imports_itself_relatively_and_never_the_gate() -> None:
    """Outside the suite an absolute `bench` could be another arm's copy."""
    for path in (ROOT / "bench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            roots = {name.split(".")[0] for name in names}
            assert "ci" not in roots, path
            assert path.parent == SUITE or "bench" not in roots, path


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asv needs the repository")
def test_asv_accepts_the_suite(tmp_path: Path) -> None:
    """The asv command finds the configuration and has nothing to object to."""
    process = subprocess.run(
        [sys.executable, "-m", "asv", "check", "--python=same"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path)},
    )

    assert process.returncode == 0, process.stdout + process.stderr
    assert "No problems found" in process.stdout
