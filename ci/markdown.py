"""Foreign text made inert for GitHub's Markdown.

A benchmark's name, a reason, a commit's subject are written by whoever wrote
the pull request. Here they become text that cannot mention, link, embed or
break a table. `Markdown` marks what has been through; the template refuses
everything else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from zlib import crc32

from ci import text

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME_LIMIT: Final = 300
SENTENCE_LIMIT: Final = 400


class Markdown(str):
    """Text that is safe to stand in a comment as it is."""

    __slots__ = ()


# A word is left bare only if nothing on GitHub gives it a meaning: not
# Markdown, autolinks, mentions, issues, commits or emoji. All else is code,
# where nothing is interpreted (docs.github.com, autolinked references).
_BARE: Final = re.compile(
    r"""["(]?
    (?: [A-Za-z]+ (?: ['/] [A-Za-z]+ )*        # can't, base/head, A/A
      | [A-Za-z][a-z]* (?: - [a-z]+ )+         # run-to-run, not GH-12
      | [+-]? \d{1,6} (?: [.,] \d{1,6} )* (?: e[+-]\d+ )? [%x]?
      | [—·=+±→≥≤-]                            # a sign between two blanks
    )
    [")]? [.,;:!?]{0,2} [")]?""",
    re.VERBOSE,
)
_COMMIT: Final = re.compile(r"[0-9a-fA-F]{7,}")
_STARTS_BLOCK: Final = re.compile(r"\d+[.)]|[=+-]")
_BACKTICKS: Final = re.compile(r"`+")
_TOO_LONG_A_FENCE: Final = re.compile(r"`{17,}")
"""GitHub's parser knows no fence of more than 80 (cmark, MAXBACKTICKS)."""
_TRAILING: Final = ",;:"


def code(raw: str) -> Markdown:
    """Put a name in a code span: unlike names stay unlike, nothing is read.

    >>> print(code("parse `json`"))
    `` parse `json` ``
    """
    shown = text.name(raw)
    if len(shown) > NAME_LIMIT:
        digest = crc32(raw.encode("utf-8", "surrogatepass"))
        shown = f"{shown[:200]}…{shown[-60:]} ({len(raw)} characters, {digest:08x})"
    return _span(shown)


def _span(shown: str) -> Markdown:
    shown = _TOO_LONG_A_FENCE.sub(lambda run: r"\u0060" * len(run[0]), shown)
    if "`" not in shown:
        return Markdown(f"`{shown}`")
    fence = "`" * (max(map(len, _BACKTICKS.findall(shown))) + 1)
    # The specification takes one blank off each end, so give it one.
    return Markdown(f"{fence} {shown} {fence}")


def prose(raw: str, limit: int = SENTENCE_LIMIT) -> Markdown:
    """Write a sentence of unknown origin: plain words bare, all else as code.

    >>> print(prose("b.time_x: timed out after 5 s, ask @someone"))
    `b.time_x`: timed out after 5 s, ask `@someone`
    """
    parts: list[str] = []
    pending: list[str] = []
    for place, word in enumerate(text.sentence(raw, limit).split(" ")):
        if _is_bare(word) and not (place == 0 and _STARTS_BLOCK.fullmatch(word)):
            if pending:
                parts.append(_span(" ".join(pending)))
                pending = []
            parts.append(word)
            continue
        core = word.rstrip(_TRAILING) or word
        pending.append(core)
        if core != word:
            parts.append(_span(" ".join(pending)) + word[len(core) :])
            pending = []
    if pending:
        parts.append(_span(" ".join(pending)))
    return Markdown(" ".join(parts))


def _is_bare(word: str) -> bool:
    # An empty text has one empty word.
    return not word or bool(_BARE.fullmatch(word) and not _COMMIT.search(word))


def table_line(cells: Iterable[str]) -> Markdown:
    """Join cells; a bar inside one is escaped, in code spans too (GFM, tables)."""
    inner = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return Markdown(f"| {inner} |")
