"""The proof of what was measured: which files each arm took from which tree.

asv suites have compared a commit with itself because an installed copy
shadowed the checkout (airspeed-velocity/asv#1417). Such a run ends here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from ci import SuiteError
from ci.model import Arm
from ci.runs import Imported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAMED: Final = 5
"""Files named in a note before the rest is only counted."""


def refuse_foreign(arm: Arm, foreign: Mapping[str, str]) -> None:
    """Raise SuiteError if an arm imported a module of its tree from elsewhere."""
    for name, path in sorted(foreign.items()):
        raise SuiteError(
            f"the {arm} arm imported {name} from {path}, not from its own tree: every "
            "arm would run that copy; uninstall it, or leave it off the import path"
        )


def make_imported(tree: Path, files: Mapping[str, str]) -> Imported:
    """Return the record of ``files`` (relative path to SHA-256) of ``tree``."""
    total = hashlib.sha256()
    for name, digest in sorted(files.items()):
        total.update(f"{name}\0{digest}\n".encode())
    return Imported(
        tree=tree.name, digest=total.hexdigest(), files=tuple(sorted(files))
    )


def refuse_same(
    files: Mapping[Arm, Mapping[str, str]], *, is_same_allowed: bool
) -> None:
    """Raise SuiteError if the arms are not what they claim to be.

    The control must be the base, byte for byte. Some file of the project must
    have been imported, or every arm ran the same code.
    """
    base, control = files[Arm.BASE], files[Arm.CONTROL]
    both = base.keys() & control.keys()
    if any(base[name] != control[name] for name in both):
        raise SuiteError(
            "the control arm imported other bytes than the base: something changes "
            "the checked-out files during the run; stop it and measure again"
        )
    if not is_same_allowed and not base and not files[Arm.HEAD]:
        raise SuiteError(
            "the suite imported no file of the project, so base and head would run "
            "the same code; import the project from the suite, or pass --allow-same"
        )


def notes(
    files: Mapping[Arm, Mapping[str, str]],
    changed: tuple[str, ...],
    suite: str,
    *,
    is_all_seen: bool = True,
) -> tuple[str, ...]:
    """Return what a reader of the result should know about its subject.

    ``changed`` are the paths that differ between the commits, ``suite`` is the
    benchmark folder relative to the tree. ``is_all_seen`` is false where code ran
    whose imports are not known, as in the interpreters that timeraw starts: what
    was not imported cannot be said then.
    """
    found: list[str] = []
    edited = [name for name in changed if name.startswith(f"{suite}/")]
    if edited:
        found.append(
            "the change edits the suite itself; every arm ran the head's suite, so "
            f"the edit is not what is compared: {_listed(edited)}"
        )
    if not is_all_seen:
        return tuple(found)
    if changed and files[Arm.BASE] == files[Arm.HEAD]:
        found.append(
            "every imported file is the same on both sides: this change does not "
            "touch what the suite measures"
        )
    seen = files[Arm.BASE].keys() | files[Arm.HEAD].keys()
    unseen = [
        name
        for name in changed
        if name.endswith(".py") and name not in seen and name not in edited
    ]
    if unseen:
        found.append(f"changed, but imported by no scenario: {_listed(unseen)}")
    return tuple(found)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def split(description: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return (files, foreign) of a worker's answer."""
    return dict(description.get("files", {})), dict(description.get("foreign", {}))
