"""``gate.yaml`` to typed settings; unknown keys and ambiguous sizes are errors.

Holds no defaults of its own: what is not set is what `ci.model.Policy` says.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec
import yaml

from ci import ConfigError
from ci.model import Policy

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

DEFAULT_PATH: Final = "gate.yaml"
_UNKNOWN: Final = "Object contains unknown field "
MAX_BYTES: Final = 2**20
"""A larger settings file is refused before it is read."""

_SIZE: Final = re.compile(r"(\d+\.?\d*|\.\d+)(e[-+]?\d+)? *(%?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What ``gate.yaml`` sets."""

    policy: Policy = field(default_factory=Policy)


class _Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gate: float | str | None = None
    warn: float | str | None = None
    alert: float | str | None = None


class _Single(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    warn: float | str | None = None
    alert: float | str | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    thresholds: _Thresholds = _Thresholds()
    single: _Single = _Single()


def parse_size(text: str) -> float:
    """Return the fraction that ``text`` means: a percentage, or a number below 1.

    A bare number of 1 or more could be either, so it is refused.

    >>> parse_size("15%"), parse_size("0.15"), parse_size("150%")
    (0.15, 0.15, 1.5)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{text!r} is not a size; write 15% or 0.15")
    digits, exponent, percent = match.groups()
    number = float(digits + (exponent or ""))
    size = number / 100 if percent else number
    if not size or math.isinf(size):
        raise ConfigError(f"{text} is not a usable size; it must be above 0 and finite")
    if not percent and number >= 1:
        raise ConfigError(
            f"{text} is ambiguous; write {number:.12g}% or {number / 100:.12g}"
        )
    return size


def read_settings(path: Path) -> Settings:
    """Return the settings in ``path``; raise ConfigError with the place of a fault."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: more than {MAX_BYTES} bytes; is it the right file?")
    return decode_settings(data, str(path))


def decode_settings(data: bytes, where: str) -> Settings:
    """Decode YAML settings; ``where`` names them in the error."""
    try:
        found = yaml.load(data, Loader=_Loader)  # noqa: S506  # a SafeLoader
        file = msgspec.convert({} if found is None else found, type=_File)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f" at line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{where}: not YAML{line}: {error.problem}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_place_first(str(error))}") from None
    except (LookupError, AttributeError, TypeError):
        # What the constructors of PyYAML raise at a tag whose value is not one.
        raise ConfigError(
            f"{where}: a tag does not fit its value; leave it out"
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{where}: not YAML: {reason}") from None
    return Settings(policy=_policy(file, where))


def change_policy(policy: Policy, sizes: dict[str, float], where: str) -> Policy:
    """Return ``policy`` with ``sizes`` by field name; ``where`` names their source."""
    try:
        return replace(policy, **sizes)
    except ValueError:
        changed = {**_sizes(policy), **sizes}
        pair = "" if changed["warn"] > changed["alert"] else "single_"
        warn, alert = changed[f"{pair}warn"], changed[f"{pair}alert"]
        raise ConfigError(
            f"{where}: the warn size, {100 * warn:.12g}%, is above the alert size, "
            f"{100 * alert:.12g}%; set both"
        ) from None


def _policy(file: _File, where: str) -> Policy:
    sizes: dict[str, float] = {}
    for section, prefix in (("thresholds", ""), ("single", "single_")):
        for name, value in msgspec.structs.asdict(getattr(file, section)).items():
            if value is not None:
                try:
                    sizes[f"{prefix}{name}"] = parse_size(_spelled(value))
                except ConfigError as error:
                    place = f"{where}: {section}.{name}"
                    raise ConfigError(f"{place}: {error}") from None
    return change_policy(Policy(), sizes, where)


def _sizes(policy: Policy) -> dict[str, float]:
    names = ("gate", "warn", "alert", "single_warn", "single_alert")
    return {name: getattr(policy, name) for name in names}


def _spelled(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _place_first(message: str) -> str:
    """Turn msgspec's ``what - at `$.place``` into ``place: what``."""
    what, _, place = message.partition(" - at `$.")
    place = place.rstrip("`")
    if what.startswith(_UNKNOWN):
        sections = {"thresholds": _Thresholds, "single": _Single}
        known = ", ".join(sections.get(place, _File).__struct_fields__)
        what = f"unknown setting {what.removeprefix(_UNKNOWN)}; known are {known}"
    return f"{place}: {what}" if place else what


class _Loader(yaml.SafeLoader):
    """A SafeLoader that refuses a key that stands twice in one mapping."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    what = f"the key {key.value!r} stands twice"
                    raise yaml.constructor.ConstructorError(
                        None, None, what, key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)
