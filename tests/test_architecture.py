"""Who may import whom, read from the source: the table below is the design."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parent.parent

MODULE_LINES: Final = 300
"""A longer module is two modules."""


class Allowed(NamedTuple):
    """What a module may import; ``errors`` is the exception tree in `ci`."""

    ours: str = ""
    third_party: str = ""


NOUNS: Final = {
    "ci": Allowed(),
    "ci.model": Allowed(),
    "ci.runs": Allowed("model"),
    "ci.stats": Allowed("model", "numpy"),
    "ci.noise": Allowed("model stats", "numpy"),
    "ci.pairing": Allowed("runs model stats", "numpy"),
    "ci.timing": Allowed("runs model stats noise pairing", "numpy"),
    "ci.exact": Allowed("runs model"),
    "ci.presence": Allowed("runs model"),
    "ci.single": Allowed("model exact presence timing"),
    "ci.circumstances": Allowed("runs model"),
    "ci.verdict": Allowed(
        "runs model stats noise exact presence single timing circumstances"
    ),
    "ci.text": Allowed("model"),
    "ci.markdown": Allowed("text"),
    "ci.wording": Allowed("model text"),
    "ci.footnotes": Allowed("model text wording"),
    "ci.cells": Allowed("model text wording"),
    "ci.terminal": Allowed("model text wording footnotes cells", "rich"),
    "ci.render": Allowed(
        "model text markdown wording footnotes cells terminal", "jinja2"
    ),
}
EDGES: Final = {
    "ci.config": Allowed("errors model", "yaml msgspec"),
    "ci.documents": Allowed("runs errors model noise", "msgspec"),
    "ci.book": Allowed("runs errors model documents"),
    "ci.beginning": Allowed("runs errors model asking book host suite.*"),
    "ci.asking": Allowed("command_line suite.discovery"),
    "ci.command_line": Allowed("errors text"),
    "ci.host": Allowed("errors model runs", "psutil"),
    "ci.progress": Allowed("model", "rich"),
    "ci.suite.asv_config": Allowed("errors", "asv"),
    "ci.suite.worker": Allowed("", "asv_runner"),
    "ci.suite.worker_child": Allowed("", "asv_runner"),
}
FOLDERS: Final = {
    "ci.readers": Allowed("errors model readers.*", "msgspec"),
    "ci.suite": Allowed("errors model runs config host readers.* suite.*"),
}
VERBS: Final = frozenset({"ci.__main__", "ci.run", "ci.compare"})
VERB: Final = Allowed("errors *", "rich")
BENCH_ONLY: Final = {
    "tokenizers": "bench.tokenization",
    "llguidance": "bench.grammar",
}
ENGINE_PARTS: Final = frozenset({"asv", "asv_runner"})

INPUT_AND_OUTPUT: Final = frozenset(
    {"http", "io", "os", "shutil", "socket", "subprocess", "sys", "tempfile", "urllib"}
)
FILE_CALLS: Final = frozenset(
    {"open", "print", "input", "read_text", "read_bytes", "write_text", "write_bytes"}
)
CATCH_ALLS: Final = frozenset(
    {"util", "utils", "common", "helper", "helpers", "misc", "manager", "data", "info"}
)


def path_of(module: str) -> Path:
    """Return the file of a module."""
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def modules(package: str) -> list[str]:
    """Return the dotted names of all modules of a package, from its files."""
    found = []
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def imports(module: str) -> set[str]:
    """Return every module that ``module`` imports, absolutely, wherever it does.

    ``from ci import text`` is the module `ci.text`; a class from a package's
    ``__init__`` is the package.
    """
    path = path_of(module)
    package = module.split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                child = f"{source}.{alias.name}"
                is_module = source.split(".")[0] in {"ci", "bench"} and (
                    path_of(child).is_file()
                )
                found.add(child if is_module else source)
    return found


def top(module: str) -> str:
    """Return the distribution part of a dotted name."""
    return module.split(".", maxsplit=1)[0]


def third_party(module: str) -> set[str]:
    """Return what a module imports from outside, the standard library apart."""
    names = {top(name) for name in imports(module)}
    return names - {"ci", "bench"} - sys.stdlib_module_names


def allowed(module: str) -> Allowed | None:
    """Return the table's entry for a module, ``None`` if it has no place."""
    if module in VERBS:
        return VERB
    placed = NOUNS | EDGES
    if module in placed:
        return placed[module]
    return FOLDERS.get(".".join(module.split(".")[:2]))


def is_covered(imported: str, ours: str) -> bool:
    """Tell whether an entry's list of our modules covers one of them."""
    for entry in ours.split():
        name = "ci" if entry == "errors" else f"ci.{entry}"
        if imported == name or (
            name.endswith(".*") and imported.startswith(name.removesuffix("*"))
        ):
            return True
    return False


CI: Final = modules("ci")
BENCH: Final = modules("bench")


@pytest.mark.parametrize("module", CI)
def test_every_module_of_the_gate_has_a_place(module: str) -> None:
    """A new module is placed in the table before it is imported by anything."""
    assert allowed(module) is not None, (
        f"{module} is not in the import table of {Path(__file__).name}: decide "
        "whether it is a noun, an edge or a verb, and what it may import"
    )


@pytest.mark.parametrize("module", CI)
def test_the_gate_imports_what_the_table_allows(module: str) -> None:
    """The direction of imports is a decision, not an accident."""
    entry = allowed(module) or VERB
    ours = {name for name in imports(module) if top(name) == "ci"} - {module}
    wide = {name for name in ours if not is_covered(name, entry.ours)}

    if module not in VERBS:
        assert not wide, f"{module} may not import {sorted(wide)}"
    excess = third_party(module) - set(entry.third_party.split())
    assert not excess, f"{module} may not import {sorted(excess)}"


@pytest.mark.parametrize("module", CI)
def test_verbs_are_imported_by_nobody(module: str) -> None:
    """A verb is the end of a chain: what two of them share is no verb."""
    assert not imports(module) & VERBS - {module}


@pytest.mark.parametrize("module", CI)
def test_the_gate_runs_without_what_it_judges(module: str) -> None:
    """The comment is made where torch is not installed, for any repository."""
    assert not {top(name) for name in imports(module)} & {"bench", "torch"}


@pytest.mark.parametrize("module", BENCH)
def test_the_library_knows_no_gate(module: str) -> None:
    """What is measured does not import what measures it."""
    assert not {top(name) for name in imports(module)} & {"ci", *ENGINE_PARTS}


@pytest.mark.parametrize("module", BENCH)
def test_each_heavy_dependency_has_one_home(module: str) -> None:
    """Besides torch, one module knows each library, so one file changes with it."""
    others = third_party(module) - {"torch"}

    assert {name for name in others if BENCH_ONLY.get(name) != module} == set()


@pytest.mark.parametrize("module", sorted(NOUNS))
def test_nouns_do_no_input_or_output(module: str) -> None:
    """Values and rules can be tested without a file, a process or a screen."""
    if not path_of(module).is_file():
        pytest.skip(f"{module} is not written yet")
    named = imports(module)
    calls = {
        getattr(node.func, "id", getattr(node.func, "attr", ""))
        for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }

    assert not {top(name) for name in named} & INPUT_AND_OUTPUT
    assert not calls & FILE_CALLS
    # The one exception: render says where its template lies, jinja2 reads it.
    assert "pathlib" not in named or module == "ci.render"


@pytest.mark.parametrize("module", [*CI, *BENCH])
def test_modules_are_short(module: str) -> None:
    """No module has more lines than the limit, unless it is named as an exception."""
    path = path_of(module)
    lines = len(path.read_text(encoding="utf-8").splitlines())
    is_long = lines > MODULE_LINES

    assert not is_long, f"{module} has {lines} lines, the limit is {MODULE_LINES}"


@pytest.mark.parametrize("module", [*CI, *BENCH])
def test_module_names_say_what_is_inside(module: str) -> None:
    """No drawer for everything, no name of the standard library within the gate."""
    name = module.rsplit(".", maxsplit=1)[-1]

    assert name not in CATCH_ALLS
    assert name not in sys.stdlib_module_names or module == "ci.__main__"


@pytest.mark.parametrize("module", [*CI, *BENCH])
def test_no_star_and_no_export_list(module: str) -> None:
    """A name has one home, and a reader finds it by searching for its import."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    stars = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and any(alias.name == "*" for alias in node.names)
    ]
    is_package = path_of(module).name == "__init__.py"

    assert not stars
    assert not (is_package and imports(module))


def test_product_names_no_path_of_a_machine() -> None:
    """Nothing in the product reads or mentions a place outside of it."""
    outside = re.compile(r"(?<![\w.}])/(?:home|root|work|Users|mnt|srv)/")
    suffixes = {".py", ".j2", ".md", ".toml", ".yaml", ".yml"}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for part in ("ci", "bench", "templates", "tests", ".github")
        for path in sorted((ROOT / part).rglob("*"))
        if path.suffix in suffixes and "data" not in path.parts
        for number, line in enumerate(
            path.read_text(encoding="utf-8").splitlines(), start=1
        )
        if outside.search(line)
    ]

    assert found == []


def test_the_table_names_no_module_that_is_gone() -> None:
    """A leftover entry would let a new module in unseen."""
    assert {m for m in [*NOUNS, *EDGES, *VERBS] if not path_of(m).is_file()} == set()


@pytest.mark.parametrize("package", ["ci", "bench"])
def test_packages_are_found(package: str) -> None:
    """An empty list of modules would make every test above pass."""
    assert len(modules(package)) > 5
