"""How one row of an asv suite is called: one rule for runs and for result files."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ci.readers.files import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ci.model import ScenarioId


def scenario_id(
    benchmark: str, params: Sequence[str], pretty_name: str | None = None
) -> ScenarioId:
    """Return the id of one row; ``params`` are spelled as asv spells them.

    One line, whatever the text of a parameter is (airspeed-velocity/asv#1393).

    >>> scenario_id("suite.Add.time_add", ["'small/1024'"], "add")
    'add/small/1024'
    >>> scenario_id("suite.Add.time_add", ["10", "'x'"], "add")
    "suite.Add.time_add(10, 'x')"
    """
    if pretty_name:
        if not params:
            return _one_line(pretty_name)
        text = _unquote(params[0]) if len(params) == 1 else None
        if text is not None:
            return _one_line(f"{pretty_name}/{text}")
    return _one_line(f"{benchmark}({', '.join(params)})" if params else benchmark)


def _one_line(text: str) -> str:
    """Return a text as one line; one that is one already stays as it is."""
    return text if text.isprintable() else " ".join(encodable(text).split())


def _unquote(spelled: str) -> str | None:
    """Return the text of a parameter that is a string, None of any other."""
    if spelled[:1] not in ("'", '"'):
        return None
    try:
        value = ast.literal_eval(spelled)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return encodable(value) if isinstance(value, str) else None
