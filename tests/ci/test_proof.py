"""Which copy was measured: the proof, and the suites that would give a false one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from ci import SuiteError
from ci.model import Arm
from ci.suite import proof
from tests.ci.demo_repository import (
    QUICK,
    WORK,
    failure_of,
    make_demo,
    measure,
    started,
)

if TYPE_CHECKING:
    from pathlib import Path

VALUE = "import subject\ndef track_a(): return subject.N\n"
HOOK = """\
import importlib.util
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "subject":
            return importlib.util.spec_from_file_location(name, PLACE)
        return None

sys.meta_path.insert(0, Finder())
"""


def files(
    base: str, head: str, control: str | None = None
) -> dict[Arm, dict[str, str]]:
    """Return the digests of one file on three arms."""
    third = base if control is None else control
    return {
        Arm.BASE: {"a.py": base},
        Arm.HEAD: {"a.py": head},
        Arm.CONTROL: {"a.py": third},
    }


# --- Values in, values out --------------------------------------------------------


def test_digest_covers_names_and_bytes(tmp_path: Path) -> None:
    """The same bytes under another name are another subject; order does not matter."""
    one = proof.make_imported(tmp_path / "base", {"a.py": "1", "b.py": "2"})
    turned = proof.make_imported(tmp_path / "head", {"b.py": "2", "a.py": "1"})
    renamed = proof.make_imported(tmp_path / "base", {"a.py": "1", "c.py": "2"})
    edited = proof.make_imported(tmp_path / "base", {"a.py": "1", "b.py": "3"})

    assert one.files == ("a.py", "b.py")
    assert (one.tree, turned.tree) == ("base", "head")
    assert one.digest == turned.digest
    assert len({one.digest, renamed.digest, edited.digest}) == 3
    assert one.digest == hashlib.sha256(b"a.py\x001\nb.py\x002\n").hexdigest()


def test_control_must_be_the_base() -> None:
    """A checkout that changes during a run has no control."""
    with pytest.raises(SuiteError, match="control arm imported other bytes"):
        proof.refuse_same(files("1", "2", "3"), is_same_allowed=True)
    proof.refuse_same(files("1", "2"), is_same_allowed=False)


def test_suite_that_imports_nothing_is_refused() -> None:
    """Without a file of the project every arm runs the same code."""
    nothing: dict[Arm, dict[str, str]] = {arm: {} for arm in Arm}
    with pytest.raises(SuiteError, match="imported no file of the project"):
        proof.refuse_same(nothing, is_same_allowed=False)
    proof.refuse_same(nothing, is_same_allowed=True)
    proof.refuse_same(nothing | {Arm.HEAD: {"new.py": "1"}}, is_same_allowed=False)


def test_equal_bytes_on_both_sides_are_no_error() -> None:
    """A change that does not touch the subject is measured, with a note."""
    proof.refuse_same(files("1", "1"), is_same_allowed=False)

    said = proof.notes(files("1", "1"), ("README.md",), "benchmarks")
    assert [n for n in said if "does not touch what the suite measures" in n]
    assert proof.notes(files("1", "1"), (), "benchmarks") == ()
    assert proof.notes(files("1", "2"), ("a.py",), "benchmarks") == ()


def test_notes_on_the_suite_and_on_what_was_not_imported() -> None:
    """Edits of the suite and files that no scenario imports are named, five at most."""
    changed = (
        "benchmarks/x.py", "a.py", "README.md", *(f"more{n}.py" for n in range(7)),
    )  # fmt: skip
    edited, unseen = proof.notes(files("1", "2"), changed, "benchmarks")

    assert edited.endswith("compared: benchmarks/x.py")
    assert unseen == (
        "changed, but imported by no scenario: more0.py, more1.py, more2.py, "
        "more3.py, more4.py and 2 more"
    )


def test_nothing_is_said_of_what_cannot_be_seen() -> None:
    """With timeraw, imports happen in interpreters that nobody looks into."""
    changed = ("benchmarks/x.py", "other.py")

    said = proof.notes(files("1", "1"), changed, "benchmarks", is_all_seen=False)
    assert [note.partition(";")[0] for note in said] == [
        "the change edits the suite itself"
    ]


def test_foreign_module_is_named_with_its_place() -> None:
    """The message says which arm, which module, from where, and what to do."""
    with pytest.raises(SuiteError) as error:
        proof.refuse_foreign(Arm.HEAD, {"subject": "/site-packages/subject.py"})

    text = str(error.value)
    assert text.startswith("the head arm imported subject from /site-packages/")
    assert "uninstall it" in text
    proof.refuse_foreign(Arm.HEAD, {})


# --- Real suites --------------------------------------------------------------------


def test_each_arm_proves_its_own_files(tmp_path: Path) -> None:
    """Base and control show the base's bytes, head its own; the suite is left out."""
    demo = make_demo(tmp_path, {"a.py": VALUE}, "N = 1\n")
    demo.commit({"subject/__init__.py": "N = 2\n"})
    imported = measure(demo, "HEAD~1").launches[0].imported

    for arm, content in ((Arm.BASE, b"N = 1\n"), (Arm.HEAD, b"N = 2\n")):
        digest = hashlib.sha256(content).hexdigest()
        line = f"subject/__init__.py\0{digest}\n".encode()
        assert imported[arm].files == ("subject/__init__.py",)
        assert imported[arm].digest == hashlib.sha256(line).hexdigest()
    assert imported[Arm.CONTROL] == imported[Arm.BASE]


def test_repository_on_the_path_is_taken_off_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable copy of the checkout, changed and with more modules, is not seen."""
    suite = {
        "a.py": VALUE,
        "b.py": "import subject, scratchpad\ndef track_b(): return scratchpad.N\n",
    }
    demo = make_demo(tmp_path, suite, "N = 1\n")
    demo.write({"subject/__init__.py": "N = 99\n", "scratchpad.py": "N = 5\n"})
    monkeypatch.setenv("PYTHONPATH", str(demo.root))
    measured = measure(demo)

    assert measured.row("a.track_a").samples == dict.fromkeys(Arm, (1.0,))
    assert "benchmarks.b" in measured.found.imports[Arm.HEAD]


@pytest.mark.parametrize("line", ["", "import sys; sys.path.insert(0, PLACE)\n"])
def test_path_of_the_user_stays_behind_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Another entry of PYTHONPATH serves what the tree does not have, and no more.

    Neither does one that pushes itself to the front when the interpreter starts.
    """
    other = tmp_path / "other"
    (other / "subject").mkdir(parents=True)
    (other / "subject/__init__.py").write_text("N = 99\n")
    (other / "helper.py").write_text("M = 7\n")
    (other / "sitecustomize.py").write_text(f"PLACE = {str(other)!r}\n{line}")
    monkeypatch.setenv("PYTHONPATH", str(other))
    suite = {
        "a.py": "import subject, helper\ndef track_a(): return subject.N + helper.M\n"
    }
    measured = measure(make_demo(tmp_path / "demo", suite, "N = 1\n"))

    assert measured.row("a.track_a").samples == dict.fromkeys(Arm, (8.0,))


@pytest.mark.parametrize("source", ["", "src/"])
def test_installed_copy_that_comes_first_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """An import hook, as editable installs have, would give every arm one copy."""
    copy = tmp_path / "site" / "subject.py"
    copy.parent.mkdir()
    copy.write_text("N = 99\n")
    hook = f"PLACE = {str(copy)!r}\n" + HOOK
    (copy.parent / "sitecustomize.py").write_text(hook)
    demo = make_demo(tmp_path / "demo", {"a.py": VALUE}, "N = 1\n")
    if source:
        demo.git("rm", "--quiet", "-r", "subject")
        demo.commit({f"{source}subject/__init__.py": "N = 1\n"})
    monkeypatch.setenv("PYTHONPATH", str(copy.parent))

    with pytest.raises(SuiteError) as error, started(demo):
        pytest.fail("not reached")

    assert str(error.value).startswith(
        f"the base arm imported subject from {copy}, not from its own tree"
    )


def test_installed_copy_that_comes_late_leaves_its_scenario_unmeasured(
    tmp_path: Path,
) -> None:
    """A body that imports a copy from elsewhere has no time; the others have."""
    copy = tmp_path / "site" / "engine.py"
    copy.parent.mkdir()
    copy.write_text("N = 99\n")
    suite = {
        "a.py": f"""\
        import importlib.util, sys, subject

        def load():
            spec = importlib.util.spec_from_file_location("engine", {str(copy)!r})
            sys.modules["engine"] = importlib.util.module_from_spec(spec)

        def time_late(): load()
        def track_late(): load(); return 1
        def peakmem_late(): load()
        def track_good(): return subject.N
        """
    }
    demo = make_demo(tmp_path / "demo", suite, "N = 1\n")
    demo.commit({"engine.py": "N = 2\n"})
    measured = measure(demo)

    for name in ("time_late", "track_late", "peakmem_late"):
        row = measured.row(f"a.{name}")
        assert row.samples == {}
        for arm in Arm:
            assert failure_of(row, arm) == (
                "not_measured",
                f"imported engine from {copy}, not from its own tree",
            )
    assert measured.row("a.track_good").samples[Arm.HEAD] == (1.0,)


def test_project_below_src_is_measured(tmp_path: Path) -> None:
    """With a src folder, that is what the arms import."""
    demo = make_demo(tmp_path, {"a.py": VALUE})
    demo.git("rm", "--quiet", "-r", "subject")
    demo.commit({"src/subject/__init__.py": "N = 1\n"})
    demo.commit({"src/subject/__init__.py": "N = 2\n"})
    measured = measure(demo, "HEAD~1")

    row = measured.row("a.track_a")
    assert (row.samples[Arm.BASE], row.samples[Arm.HEAD]) == ((1.0,), (2.0,))
    assert measured.launches[0].imported[Arm.HEAD].files == ("src/subject/__init__.py",)


def test_suite_without_the_project_is_refused_after_measuring(tmp_path: Path) -> None:
    """A suite that never imports the project compares nothing."""
    demo = make_demo(tmp_path, {"a.py": "def track_a(): return 1\n"}, WORK)

    with pytest.raises(SuiteError, match="imported no file of the project"):
        measure(demo, plan=QUICK)
