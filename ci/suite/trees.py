"""Git: which two commits are compared, and a worktree of each.

Reads the user's repository and adds worktrees outside of it; never touches its
index, its branches or its files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci import SuiteError
from ci.host import is_running
from ci.model import Commit

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "benchgate-"
OWNER: Final = ".benchgate-owner"
"""In the folder of a run's trees: the number of the process that made them."""
DEFAULT_BRANCHES: Final = ("origin/HEAD", "origin/main", "origin/master")
LOCAL_BRANCHES: Final = ("main", "master")
SETTINGS: Final = (
    # No hook of the user's repository runs on our checkouts.
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "log.showSignature=false"),
)
PLACES: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""What git exports to a hook; a checkout of ours would land in the user's index."""


class _RefusalError(SuiteError):
    """Git ran and said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two commits of a run and how the base was found."""

    base: Commit
    head: Commit
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """One worktree per side, in paths of equal length, and room beside them."""

    work: Path
    base: Path
    head: Path


def git(repository: Path, *words: str) -> str:
    """Run git and return its output; SuiteError with the reason git gives."""
    environment = {k: v for k, v in os.environ.items() if k not in PLACES}
    # English reasons, and no lock on an index that somebody may be using.
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", *SETTINGS, "-C", str(repository), *words],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise SuiteError("git: not found on PATH; install it") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        reasons = [line for line in lines if line.startswith(("fatal:", "error:"))]
        raise _RefusalError(f"git {' '.join(words[:2])}: {(reasons or lines)[-1]}")
    return done.stdout.strip("\n")


def toplevel(folder: Path) -> Path:
    """Return the root of the repository around ``folder``."""
    try:
        return Path(git(folder, "rev-parse", "--show-toplevel"))
    except _RefusalError as error:
        if "dubious ownership" in str(error):
            raise SuiteError(
                f"{folder}: git does not trust a repository of another user; "
                "`git config --global --add safe.directory` with its path allows it"
            ) from None
        raise SuiteError(
            f"{folder}: not inside a git repository; run from the project to measure"
        ) from None


def find_commit(repository: Path, asked: str, flag: str) -> Commit:
    """Return the commit that ``asked`` names; ``flag`` is named in the error."""
    try:
        sha = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options",
                  f"{asked}^{{commit}}")  # fmt: skip
    except _RefusalError:
        raise SuiteError(
            f"{flag}: {asked!r} is not a commit of {repository}; check the name, or "
            "fetch it first (a shallow clone needs `git fetch --unshallow`)"
        ) from None
    date, _, subject = git(
        repository, "show", "-s", "--format=%cI%x00%s", sha
    ).partition("\0")
    return Commit(sha=sha, asked=asked, subject=subject, date=date)


def find_pair(repository: Path, base: str | None, head: str | None) -> Pair:
    """Return the commits to compare.

    Without ``base``: the merge base of head and the default branch; where that
    is head itself, head's first parent; where there is none, head itself.
    """
    try:
        git(repository, "rev-parse", "--verify", "--quiet", "HEAD")
    except _RefusalError:
        raise SuiteError(f"{repository}: has no commit yet; commit first") from None
    there = find_commit(repository, "HEAD" if head is None else head, "--head")
    if base is not None:
        here = find_commit(repository, base, "--base")
        return Pair(base=here, head=there, relation="given")
    merge_base = _merge_base(repository, there.sha)
    if merge_base is not None and merge_base != there.sha:
        here = replace(find_commit(repository, merge_base, "--base"), asked="")
        return Pair(base=here, head=there, relation="merge-base")
    if _is_cut(repository, there.sha):
        raise SuiteError(
            f"--base: the history of {there.sha[:12]} is cut here (shallow clone); "
            "run `git fetch --unshallow`, or name a base"
        )
    try:
        here = find_commit(repository, f"{there.sha}^1", "--base")
        here = replace(here, asked="")
    except SuiteError:  # the first commit of all
        return Pair(base=there, head=there, relation="self")
    return Pair(base=here, head=there, relation="first-parent")


def _merge_base(repository: Path, head: str) -> str | None:
    for branch in (*DEFAULT_BRANCHES, *LOCAL_BRANCHES):
        with contextlib.suppress(_RefusalError):
            git(repository, "rev-parse", "--verify", "--quiet", branch)
            try:
                return git(repository, "merge-base", branch, head)
            except _RefusalError:
                _refuse_shallow(repository, branch, head)
    return None


def _refuse_shallow(repository: Path, branch: str, head: str) -> None:
    """Raise SuiteError where the merge base lies beyond the end of a shallow clone."""
    if git(repository, "rev-parse", "--is-shallow-repository") == "true":
        raise SuiteError(
            f"--base: the history here (shallow clone) ends before {branch} and "
            f"{head[:12]} meet; run `git fetch --unshallow`, or name a base"
        )


def _is_cut(repository: Path, sha: str) -> bool:
    """Tell whether a shallow clone ends at ``sha``, so that its parent is unknown."""
    shallow = Path(git(repository, "rev-parse", "--git-path", "shallow"))
    path = shallow if shallow.is_absolute() else repository / shallow
    return path.is_file() and sha in path.read_text(encoding="ascii").split()


def refuse_dirty(repository: Path, pair: Pair, suite: str) -> None:
    """Refuse when uncommitted changes would silently not be measured.

    Only when the checked-out commit takes part. Untracked files count where
    they would be benchmarks: below ``suite``, relative to the repository.
    """
    if git(repository, "rev-parse", "HEAD") not in (pair.base.sha, pair.head.sha):
        return
    changed = git(repository, "status", "--porcelain", "-z", "--no-renames",
                  "--untracked-files=no")  # fmt: skip
    fresh = git(repository, "ls-files", "--others", "--exclude-standard", "-z", "--",
                f":(glob){suite}/**/*.py")  # fmt: skip
    # Each entry of `status` begins with two letters and a blank.
    names = [entry[3:] for entry in _entries(changed)] + _entries(fresh)
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise SuiteError(
            f"{names[0]}{more}: changed but not committed, so it would not be "
            "measured; commit or stash it, or pass --allow-dirty to leave it out"
        )


def changed_files(repository: Path, pair: Pair) -> tuple[str, ...]:
    """Return the paths that differ between the two commits, both ends of a move."""
    names = git(repository, "diff", "--name-only", "--no-renames", "-z",
                pair.base.sha, pair.head.sha)  # fmt: skip
    return tuple(_entries(names))


def _entries(text: str) -> list[str]:
    """Split what git writes with -z."""
    return [entry for entry in text.split("\0") if entry]


@contextlib.contextmanager
def check_out(repository: Path, pair: Pair) -> Iterator[Trees]:
    """Check both sides out beside each other; remove both at the end."""
    _sweep(repository)
    work = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    (work / OWNER).write_text(str(os.getpid()), encoding="ascii")
    # Names of equal length: a process can see the length of its path.
    trees = Trees(work=work, base=work / "base", head=work / "head")
    try:
        for tree, commit in ((trees.base, pair.base), (trees.head, pair.head)):
            git(repository, "worktree", "add", "--detach", "--force", str(tree),
                commit.sha)  # fmt: skip
        yield trees
    finally:
        _remove(repository, work)


def _remove(repository: Path, work: Path) -> None:
    for tree in (work / "base", work / "head"):
        with contextlib.suppress(SuiteError):
            git(repository, "worktree", "remove", "--force", "--force", str(tree))
    shutil.rmtree(work, ignore_errors=True)


def _sweep(repository: Path) -> None:
    """Remove what killed runs of this gate left behind, and nothing else."""
    for line in git(repository, "worktree", "list", "--porcelain").splitlines():
        key, _, value = line.partition(" ")
        tree = Path(value)
        if key == "worktree" and tree.name in ("base", "head") and _is_orphan(tree):
            _remove(repository, tree.parent)


def _is_orphan(tree: Path) -> bool:
    """Tell whether a worktree is one of ours whose run has ended.

    Ours are marked by the file `check_out` writes. Where the whole folder is
    gone, only one from our own place is: a disk may just not be mounted.
    """
    work = tree.parent
    if not work.name.startswith(PREFIX):
        return False
    if not work.exists():
        return work.parent == Path(tempfile.gettempdir()).resolve()
    try:
        return not is_running(int((work / OWNER).read_text(encoding="ascii")))
    except (OSError, ValueError):
        return False
