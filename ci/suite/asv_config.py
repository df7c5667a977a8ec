"""asv.conf.json, read by asv itself: the one module that imports asv."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from asv.config import Config
from asv.util import UserError

from ci import ConfigError

NAMES: Final = ("asv.conf.json", "asv.conf.jsonc")
PLACES: Final = (".", "asv_bench", "benchmarks", "asv")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteConfig:
    """Where the suite is. ``suite`` is the benchmark folder, relative to the tree."""

    project: str
    suite: Path
    source: Path


def find_config(tree: Path, given: str | None) -> SuiteConfig:
    """Return the suite of ``tree``; ``given`` is a path relative to the tree."""
    candidates = [given] if given else [f"{p}/{n}" for p in PLACES for n in NAMES]
    for candidate in candidates:
        if (tree / candidate).is_file():
            return _load(tree, Path(candidate))
    if given:
        raise ConfigError(f"--asv-config: {given} is not in the head commit; commit it")
    raise ConfigError(
        "asv.conf.json: not in the head commit (looked in the root, asv_bench, "
        "benchmarks, asv); commit one, or name it with --asv-config"
    )


def _load(tree: Path, path: Path) -> SuiteConfig:
    try:
        config = Config.load(str(tree / path))
    except (UserError, ValueError, TypeError, RecursionError) as error:
        line = " ".join(str(error).replace(f"{tree}/", "").split())
        raise ConfigError(f"{path}: cannot be read by asv: {line}") from None
    if not isinstance(config.benchmark_dir, str):
        raise ConfigError(
            f"{path}: benchmark_dir is {config.benchmark_dir!r}; write a folder's name"
        )
    suite = (tree / path).parent / config.benchmark_dir
    try:
        relative = suite.resolve().relative_to(tree.resolve())
    except ValueError:
        raise ConfigError(
            f"{path}: benchmark_dir {config.benchmark_dir!r} lies outside of the "
            "repository; both sides need it inside"
        ) from None
    if relative == Path():
        raise ConfigError(
            f"{path}: benchmark_dir is the root of the repository, so that the project "
            "would count as benchmarks; move them to a folder of their own"
        )
    if not suite.is_dir():
        raise ConfigError(
            f"{path}: benchmark_dir {config.benchmark_dir!r} is not a folder of the "
            "head commit; correct the setting, or commit the folder"
        )
    return SuiteConfig(project=str(config.project), suite=relative, source=path)
