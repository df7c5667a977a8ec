"""Which commits are compared, and that the user's repository stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from ci import SuiteError
from ci.model import Commit
from ci.suite import trees
from ci.suite.trees import (
    Pair,
    changed_files,
    check_out,
    find_pair,
    refuse_dirty,
    toplevel,
)
from tests.ci.demo_repository import (
    Demo,
    make_demo,
    make_repository,
    run_git,
    wait_until_gone,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Demo:
    """Return a repository with two commits; temporary folders are watched."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    made = make_demo(tmp_path / "project")
    made.commit({"subject/__init__.py": "def work(): return 2\n"}, "second")
    return made


def left_over(tmp_path: Path) -> list[str]:
    """Return what lies in the temporary folder."""
    return sorted(path.name for path in (tmp_path / "tmp").iterdir())


def message(error: pytest.ExceptionInfo[SuiteError]) -> str:
    """Return an error's text, which must be one line."""
    text = str(error.value)
    assert "\n" not in text
    return text


def test_default_branch_is_compared_with_its_first_parent(demo: Demo) -> None:
    """On the default branch there is nothing to merge: the parent is the base."""
    pair = find_pair(demo.root, None, None)

    assert pair.relation == "first-parent"
    assert pair.head.sha == demo.git("rev-parse", "HEAD")
    assert pair.base.sha == demo.git("rev-parse", "HEAD^1")
    assert (pair.base.subject, pair.head.subject) == ("first", "second")
    assert pair.head.date == "2024-01-02T03:04:05+00:00"


def test_merge_commit_is_compared_with_its_first_parent(demo: Demo) -> None:
    """On the default branch a merge is measured against the branch it came into."""
    demo.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    demo.commit({"topic": ""})
    demo.git("checkout", "--quiet", "main")
    before = demo.git("rev-parse", "HEAD")
    demo.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")

    pair = find_pair(demo.root, None, None)

    assert (pair.relation, pair.base.sha) == ("first-parent", before)


def test_branch_is_compared_with_its_merge_base(demo: Demo) -> None:
    """A default branch that moved on by three commits is not what a branch changed."""
    fork = demo.git("rev-parse", "HEAD")
    demo.git("checkout", "--quiet", "-b", "topic")
    head = demo.commit({"topic": ""})
    demo.git("checkout", "--quiet", "main")
    for turn in range(3):
        demo.commit({"subject/fast.py": f"{turn}\n"})

    pair = find_pair(demo.root, None, "topic")

    assert (pair.relation, pair.base.sha, pair.head.sha) == ("merge-base", fork, head)
    assert pair.head.asked == "topic"


def test_remote_default_branch_comes_before_a_local_one(
    demo: Demo, tmp_path: Path
) -> None:
    """A local main that is ahead is compared with what the remote has."""
    clone = Demo(tmp_path / "clone")
    run_git(tmp_path, "clone", "--quiet", str(demo.root), str(clone.root))
    upstream = clone.git("rev-parse", "HEAD")
    clone.commit({"a": ""})
    clone.commit({"b": ""})

    pair = find_pair(clone.root, None, None)

    assert (pair.relation, pair.base.sha) == ("merge-base", upstream)


def test_single_commit_is_compared_with_itself(tmp_path: Path) -> None:
    """A repository with one commit has no other; the relation says so."""
    demo = make_demo(tmp_path)

    pair = find_pair(demo.root, None, None)

    assert pair.relation == "self"
    assert pair.base.sha == pair.head.sha


def test_given_base_is_taken_as_given(demo: Demo) -> None:
    """A tag named by the user is the base, whatever the merge base is."""
    demo.git("tag", "v1", "HEAD~1")

    pair = find_pair(demo.root, "v1", "main")

    assert (pair.relation, pair.base.asked) == ("given", "v1")
    assert pair.base.sha == demo.git("rev-parse", "v1")


@pytest.mark.parametrize("flag", ["--base", "--head"])
@pytest.mark.parametrize("asked", ["no-such", "--upload-pack=x", "", "HEAD:subject"])
def test_unknown_revision_names_the_flag(demo: Demo, flag: str, asked: str) -> None:
    """A wrong name is told with its flag; an unset variable does not mean HEAD."""
    given = {"--base": (asked, None), "--head": (None, asked)}[flag]
    with pytest.raises(SuiteError) as error:
        find_pair(demo.root, *given)

    text = message(error)
    assert text.startswith(f"{flag}: {asked!r} is not a commit")
    assert "fetch" in text


def test_folder_outside_of_any_repository(tmp_path: Path) -> None:
    """A folder without a repository is told as such."""
    with pytest.raises(SuiteError, match="not inside a git repository") as error:
        toplevel(tmp_path)

    assert str(tmp_path) in message(error)


def test_repository_of_another_user_is_told_as_such(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's own refusal is not hidden behind 'not a repository' (asv#1212)."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    with pytest.raises(SuiteError, match=r"safe\.directory") as error:
        toplevel(demo.root)

    assert "not inside a git repository" not in message(error)


def test_repository_without_commits(tmp_path: Path) -> None:
    """A repository that was only just begun asks for a commit."""
    demo = make_repository(tmp_path)

    with pytest.raises(SuiteError, match="has no commit yet; commit first") as error:
        find_pair(demo.root, None, None)

    message(error)


@pytest.mark.parametrize("branch", ["main", "topic"])
def test_clone_of_depth_one_asks_for_history(
    demo: Demo, tmp_path: Path, branch: str
) -> None:
    """Where the history is cut there is no base: say how to get it."""
    demo.git("branch", "topic")
    clone = tmp_path / "clone"
    run_git(
        tmp_path, "clone", "--quiet", "--depth=1", f"--branch={branch}",
        demo.root.as_uri(), str(clone),
    )  # fmt: skip

    with pytest.raises(SuiteError, match="git fetch --unshallow") as error:
        find_pair(clone, None, None)

    assert message(error).startswith("--base: ")


def test_cut_history_with_a_default_branch_has_no_silent_base(
    demo: Demo, tmp_path: Path
) -> None:
    """A merge base beyond the cut is unknown; the parent must not stand in for it."""
    demo.git("checkout", "--quiet", "-b", "topic")
    for turn in range(3):
        demo.commit({f"topic{turn}": ""})
    demo.git("checkout", "--quiet", "main")
    demo.commit({"later": ""})
    clone = tmp_path / "clone"
    run_git(
        tmp_path, "clone", "--quiet", "--depth=2", "--no-single-branch",
        "--branch=topic", demo.root.as_uri(), str(clone),
    )  # fmt: skip

    with pytest.raises(SuiteError, match="git fetch --unshallow") as error:
        find_pair(clone, None, None)

    message(error)


def test_unknown_sha_in_a_shallow_clone_says_how_to_get_it(
    demo: Demo, tmp_path: Path
) -> None:
    """A base that exists elsewhere is named together with the fetch it needs."""
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "--quiet", "--depth=1", demo.root.as_uri(), str(clone))

    with pytest.raises(SuiteError, match="git fetch --unshallow"):
        find_pair(clone, demo.git("rev-parse", "HEAD~1"), None)


def test_signatures_shown_by_default_do_not_disturb(demo: Demo) -> None:
    """A user who always looks at signatures gets the same dates and subjects."""
    demo.git("config", "log.showSignature", "true")

    assert find_pair(demo.root, None, None).head.subject == "second"


@pytest.mark.parametrize(
    "name", ["subject/__init__.py", "with space.py", "größe.py", 'qu"ote.py']
)
def test_changed_file_is_refused_by_name(demo: Demo, name: str) -> None:
    """A change that is not committed would not be measured: name the file."""
    demo.commit({name: "1\n"})
    demo.write({name: "2\n"})

    with pytest.raises(SuiteError) as error:
        refuse_dirty(demo.root, find_pair(demo.root, None, None), "benchmarks")

    text = message(error)
    assert text.startswith(f"{name}: changed but not committed")
    assert "--allow-dirty" in text


def test_several_changed_files_are_counted(demo: Demo) -> None:
    """One file is named, the others are counted."""
    demo.commit({"a": "", "b": "", "c": ""})
    demo.write({"a": "1", "b": "1", "c": "1"})

    with pytest.raises(SuiteError, match=r"^a and 2 more: changed"):
        refuse_dirty(demo.root, find_pair(demo.root, None, None), "benchmarks")


@pytest.mark.parametrize("name", ["fresh.py", "new package/größe.py"])
def test_untracked_benchmark_is_refused(demo: Demo, name: str) -> None:
    """A new benchmark file that git does not know would not be measured."""
    demo.write({f"benchmarks/{name}": ""})

    with pytest.raises(SuiteError) as error:
        refuse_dirty(demo.root, find_pair(demo.root, None, None), "benchmarks")

    assert message(error).startswith(f"benchmarks/{name}: ")


def test_untracked_files_elsewhere_do_not_matter(demo: Demo) -> None:
    """Results and notes beside the suite are nobody's concern."""
    demo.write({"run.json": "", "notes.py": "", "benchmarks/data.txt": ""})

    refuse_dirty(demo.root, find_pair(demo.root, None, None), "benchmarks")


def test_changes_matter_only_if_the_checkout_takes_part(demo: Demo) -> None:
    """Two other commits are measured whatever the working tree looks like."""
    demo.commit({"a": ""})
    demo.write({"a": "changed"})

    refuse_dirty(demo.root, find_pair(demo.root, "HEAD~2", "HEAD~1"), "benchmarks")


def test_both_sides_are_checked_out_side_by_side(demo: Demo, tmp_path: Path) -> None:
    """Each tree has its commit's files, in paths of equal length."""
    pair = find_pair(demo.root, None, None)

    with check_out(demo.root, pair) as made:
        base = (made.base / "subject/__init__.py").read_text()
        head = (made.head / "subject/__init__.py").read_text()

        assert (base != head, "return 2" in head) == (True, True)
        assert len(str(made.base)) == len(str(made.head))
        assert left_over(tmp_path) == [made.work.name]


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_nothing_is_left_behind(
    demo: Demo, tmp_path: Path, error: type[BaseException] | None
) -> None:
    """Trees go away, and the repository is as it was, however the run ends."""
    demo.git("branch", "other")
    demo.write({"untracked": "", "subject/__init__.py": "changed"})
    before = demo.state()
    pair = find_pair(demo.root, None, None)

    try:
        with check_out(demo.root, pair) as made:
            (made.head / "benchmarks/written_by_a_benchmark").write_text("x")
            if error is not None:
                raise error
    except (ValueError, KeyboardInterrupt):
        assert error is not None

    assert left_over(tmp_path) == []
    assert demo.state() == before


def test_index_is_not_even_refreshed(demo: Demo) -> None:
    """Looking for changes must not take the lock of an index somebody uses."""
    index = demo.root / ".git/index"
    os.utime(demo.root / "subject/__init__.py", (1, 1))
    before = index.read_bytes()

    refuse_dirty(demo.root, find_pair(demo.root, None, None), "benchmarks")

    assert index.read_bytes() == before


def test_hooks_of_the_repository_do_not_run(demo: Demo, tmp_path: Path) -> None:
    """A post-checkout hook belongs to the user's own checkouts."""
    hook = demo.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/hook-ran'\n")
    hook.chmod(0o755)

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert not (tmp_path / "hook-ran").exists()


def test_git_variables_of_a_hook_do_not_lead_elsewhere(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a hook git exports its own places; they are not the measured trees'."""
    other = make_repository(tmp_path / "other")
    other.commit({"x": ""})
    index = demo.root / ".git/index"
    before = index.read_bytes()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))

    with check_out(demo.root, find_pair(demo.root, None, None)) as made:
        assert (made.head / "subject/__init__.py").is_file()

    assert index.read_bytes() == before


def make_orphan(demo: Demo, temporary: Path, pid: int) -> Path:
    """Leave trees behind as a run that was killed does."""
    work = temporary / "benchgate-dead"
    work.mkdir(parents=True)
    (work / trees.OWNER).write_text(str(pid))
    demo.git("worktree", "add", "--quiet", "--detach", str(work / "base"), "HEAD")
    return work


def dead_pid() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert wait_until_gone([process.pid]) == []
    return process.pid


def test_leftovers_of_a_dead_run_are_swept(demo: Demo, tmp_path: Path) -> None:
    """What a killed run left goes away with the next."""
    work = make_orphan(demo, tmp_path / "tmp", dead_pid())

    with check_out(demo.root, find_pair(demo.root, None, None)):
        assert not work.exists()

    assert demo.git("worktree", "list").count("\n") == 0


def test_leftovers_whose_folder_is_gone_are_swept(demo: Demo, tmp_path: Path) -> None:
    """A cleaned /tmp leaves entries in the repository; they go as well."""
    work = make_orphan(demo, tmp_path / "tmp", dead_pid())
    trees.shutil.rmtree(work)

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert demo.git("worktree", "list").count("\n") == 0


def test_trees_of_a_live_run_stay(demo: Demo, tmp_path: Path) -> None:
    """Two runs beside each other do not take each other's trees away."""
    work = make_orphan(demo, tmp_path / "tmp", os.getpid())

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert (work / "base/subject/__init__.py").is_file()


@pytest.mark.parametrize("owner", [None, "not a number", ""])
def test_worktrees_of_the_user_are_never_swept(
    demo: Demo, tmp_path: Path, owner: str | None
) -> None:
    """A folder that only has a similar name is the user's, and stays."""
    mine = tmp_path / "benchgate-mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    if owner is not None:
        (mine / trees.OWNER).write_text(owner)
    demo.git("worktree", "add", "--quiet", "--detach", str(mine / "base"), "HEAD")
    before = demo.state()

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert (mine / "thesis.txt").is_file()
    assert demo.state() == before


def test_repository_below_a_folder_of_our_name_survives(tmp_path: Path) -> None:
    """A clone inside ``benchgate-…`` is listed as a worktree, and is no leftover."""
    demo = make_demo(tmp_path / "benchgate-fork" / "project")

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert (demo.root / "subject/__init__.py").is_file()


@pytest.mark.parametrize("place", ["disk/tree", "tmp/mine/base", "benchgate-x/base"])
def test_worktree_of_the_user_on_a_missing_disk_stays_listed(
    demo: Demo, tmp_path: Path, place: str
) -> None:
    """A worktree whose disk is not mounted now is not ours to forget."""
    away = tmp_path / place
    demo.git("worktree", "add", "--quiet", "--detach", str(away), "HEAD")
    away.parent.rename(tmp_path / "unmounted")
    before = demo.git("worktree", "list")

    with check_out(demo.root, find_pair(demo.root, None, None)):
        pass

    assert demo.git("worktree", "list") == before


def test_changed_files_name_both_ends_of_a_move(demo: Demo) -> None:
    """A benchmark moved out of the suite is a change of the suite."""
    demo.git("mv", "benchmarks/basic.py", "attic größe.py")
    demo.commit()

    changed = changed_files(demo.root, find_pair(demo.root, None, None))

    assert set(changed) == {"attic größe.py", "benchmarks/basic.py"}


def test_git_that_is_missing_is_told(
    demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git there is nothing to measure, and one line says so."""
    monkeypatch.setenv("PATH", "")

    with pytest.raises(SuiteError, match="git: not found on PATH"):
        find_pair(demo.root, None, None)


def test_tree_that_cannot_be_made_is_told_in_one_line(
    demo: Demo, tmp_path: Path
) -> None:
    """A commit that went missing ends in git's own words, and leaves nothing."""
    gone = Commit(sha="0" * 40)

    with (
        pytest.raises(SuiteError, match="git worktree add") as error,
        check_out(demo.root, Pair(base=gone, head=gone, relation="given")),
    ):
        pytest.fail("not reached")

    message(error)
    assert left_over(tmp_path) == []
