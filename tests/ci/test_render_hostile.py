"""Names, reasons and facts written by a stranger stay text in a comment."""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from typing import Final

import cmarkgfm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci import text
from ci.markdown import Markdown, code, prose
from ci.model import SECONDS, Commit, Host, Policy, Report, Row, Unit, Verdict
from ci.render import LIMIT, MARKER, _only_inert, render_comment, render_terminal

ROW: Final = Row(
    scenario="plain",
    verdict=Verdict.ALERT,
    unit=SECONDS,
    base=1.0,
    head=2.0,
    change=1.0,
    is_confirmed=True,
)
OUR_TAGS: Final = frozenset(
    {"h2", "p", "table", "thead", "tbody", "tr", "th", "td"}
    | {"code", "ul", "li", "strong"}
)
COLUMNS: Final = 5
EVIDENCE_COLUMNS: Final = 6

# What GitHub gives a meaning to, after Markdown, in text outside code.
MEANINGS: Final = re.compile(
    r"@[\w-]|#\d|\bGH-\d|:[\w+-]+:|\b[0-9a-fA-F]{7,40}\b|https?:|www\.|\$\S|\w@\w"
)

NASTY: Final = [
    "",
    " ",
    "a|b",
    r"\|x",
    r"\\|x",
    "`",
    "``x``",
    "a`",
    "parse `json`",
    "@someone/render",
    "owner/repo#1",
    "GH-12",
    ":tada:",
    "0123456789abcdef0123456789abcdef01234567",
    "https://example.org/x",
    "www.example.org",
    "someone@example.org",
    "![i](https://example.org/i.png)",
    "<img src=x onerror=y>",
    "</details><script>x</script>",
    "<!-- benchgate -->",
    "[x](javascript:y)",
    "a\nb\n\n# c",
    "- [ ] task",
    "~~gone~~ **bold** _it_",
    "$`x`$",
    "C:\\bin\\new\\*",
    "a\u202eb",
    "a\u200bb",
    "\ud800",
    "\x00",
    "\x1b[31m",
    "&lt;b&gt;",
    "{{ 7 * 7 }}{% raw %}",
    "e\u0301",
    "x" * 5_000,
    "`" * 5_000,
    "a" + "`" * 81 + "b",
    "a" + "`" * 16 + "b",
    r"\u0060",
    "|" * 5_000,
]

hostile = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.sampled_from(string.punctuation + " \n\ta1@#é\u202e"), max_size=30),
    st.text(st.characters(), max_size=30),
)


class Page(HTMLParser):
    """The cells of each table row, the tags, and the text outside code."""

    def __init__(self, markdown: str) -> None:
        """Render as GitHub's library does, raw HTML left out, and read it."""
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.plain: list[str] = []
        self._code = 0
        self._is_in_cell = False
        html = cmarkgfm.markdown_to_html_with_extensions(
            markdown, options=0, extensions=["table", "autolink", "strikethrough"]
        )
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        """Open a row, a cell or a code span."""
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
            self._is_in_cell = True
        self._code += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        """Close a cell or a code span."""
        self._code -= tag == "code"
        self._is_in_cell &= tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        """Collect text by where it stands."""
        if not self._code:
            self.plain.append(data)
        if self._is_in_cell:
            self.rows[-1][-1] += data


def report(*rows: Row) -> Report:
    """Return the smallest report of these rows."""
    return Report(
        overall=Verdict.ALERT,
        exit_status=1,
        method="paired",
        tool="tool",
        rows=rows,
        compared=len(rows),
        policy=Policy(),
        launches=4,
    )


def inert(markdown: str) -> Page:
    """Return the page, after checking that nothing foreign came alive in it."""
    page = Page(markdown)
    assert page.tags <= OUR_TAGS
    assert not [part for part in page.plain if MEANINGS.search(part)]
    assert {len(row) for row in page.rows} <= {COLUMNS, EVIDENCE_COLUMNS}
    assert markdown.count("<details") == markdown.count("\n</details>")
    return page


def read_back(shown: str) -> str:
    """Turn the numbers of characters that cannot be seen into characters again."""
    escaped = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
    return escaped.sub(lambda m: chr(int(m[1] or m[2], 16)), shown)


@pytest.mark.parametrize("name", NASTY)
def test_each_known_trick_is_shown_as_text(name: str) -> None:
    """Every trick of the list is shown, in one row of five cells, as it is."""
    page = inert(render_comment(report(replace(ROW, scenario=name))))
    shown = page.rows[1][1]

    assert shown.strip()
    assert len(name) > 300 or (name or text.EMPTY_NAME) == read_back(shown)


@given(st.lists(hostile, min_size=1, max_size=4, unique=True))
@settings(max_examples=150, deadline=None)
def test_any_name_is_text_in_its_own_row(names: list[str]) -> None:
    """No name adds a column, a tag or a link, and each can be read back."""
    rows = [replace(ROW, scenario=name) for name in names]
    page = inert(render_comment(report(*rows)))
    shown = [row[1] for row in page.rows[1 : 1 + len(names)]]

    assert len(set(shown)) == len(names)
    for name, cell in zip(names, shown, strict=True):
        assert len(text.name(name)) > 300 or (name or text.EMPTY_NAME) == read_back(
            cell
        )


@given(hostile, hostile, hostile)
@settings(max_examples=150, deadline=None)
def test_reasons_notes_and_units_are_text(reason: str, note: str, unit: str) -> None:
    """A failure's message or a unit's name cannot do what a name cannot."""
    row = replace(ROW, reason=reason, notes=(note,), unit=Unit(name=unit))
    page = inert(render_comment(replace(report(row), notes=(note, reason))))

    assert len(page.rows[1]) == COLUMNS


@given(hostile, hostile)
@settings(max_examples=100, deadline=None)
def test_commits_host_and_facts_are_text(one: str, two: str) -> None:
    """What git and the machine say about themselves is foreign as well."""
    host = Host(
        system=one,
        release=two,
        machine=one,
        cpu_model=two,
        cpus=1,
        memory_bytes=0,
        python=one,
    )
    inert(
        render_comment(
            replace(
                report(ROW),
                base=Commit(sha=one, asked=two, subject=one, date=two),
                head=Commit(sha=two, asked=one, subject=two, date=one),
                relation=one,
                tool=two,
                noise_source=one,
                host=host,
                facts={one: two},
            )
        )
    )


@given(st.text(st.characters(), max_size=40))
@settings(max_examples=400, deadline=None)
def test_visible_text_can_be_read_back(raw: str) -> None:
    """Making a character visible loses nothing, so unlike names stay unlike."""
    shown = text.name(raw)

    assert (raw or text.EMPTY_NAME) == read_back(shown)
    assert "  " not in shown
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    shown.encode()


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=300, deadline=None)
def test_prose_shows_the_words_it_was_given(raw: str) -> None:
    """Inertness costs no word: the page shows the sentence, bare or as code."""
    page = Page(f"x {prose(raw)} x")

    assert not [part for part in page.plain if MEANINGS.search(part)]
    markdown = Page(f"| a |\n|---|\n| {prose(raw).replace('|', chr(92) + '|')} |")
    assert text.sentence(raw) == markdown.rows[1][0]


def test_plain_words_stay_bare() -> None:
    """A sentence of the gate itself reads as a sentence, not as code."""
    sentence = 'works on the base; in the PR, timed out after 60.5 s (run "again")'

    assert sentence == prose(sentence)


def test_two_spellings_of_one_letter_differ() -> None:
    """A composed and a decomposed name look alike and are not the same row."""
    assert text.name("caf\u00e9") == "caf\u00e9"
    assert text.name("cafe\u0301") == r"cafe\u0301"


def test_long_names_that_share_ends_stay_distinct() -> None:
    """A name too long to print is cut in the middle and keeps a checksum."""
    first, second = ("a" * 400 + middle + "b" * 400 for middle in "xy")

    assert code(first) != code(second)
    assert len(code(first)) < 400


def test_template_refuses_text_that_went_through_no_filter() -> None:
    """Forgetting a filter is an error at the first rendering, not a hole."""
    with pytest.raises(TypeError, match="not made inert"):
        _only_inert("some name")
    assert _only_inert(Markdown("`some name`")) == "`some name`"


def test_marker_is_ours_alone() -> None:
    """The comment begins with its marker, and no name can write a second one."""
    comment = render_comment(report(replace(ROW, scenario=MARKER)))

    assert comment.startswith(f"{MARKER}\n")
    assert [line for line in comment.splitlines() if line == MARKER] == [MARKER]


@given(st.lists(hostile, max_size=5), st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_terminal_gets_no_control_characters(names: list[str], width: int) -> None:
    """A name cannot move the cursor, color the screen or reverse the line."""
    rows = [replace(ROW, scenario=name, reason=name) for name in names]
    shown = render_terminal(
        replace(report(*rows), notes=tuple(names), tool="\x1b]0;x\x07"),
        width=width,
        is_color=False,
    )
    kinds = {unicodedata.category(c) for c in shown.replace("\n", "")}
    # The gate's own warning mark carries a variation selector, which is Mn.

    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    shown.encode()


@given(st.lists(hostile, max_size=40))
@settings(max_examples=25, deadline=None)
def test_comment_stays_within_the_limit_whatever_it_holds(texts: list[str]) -> None:
    """No length of name, note or fact makes a comment that GitHub refuses."""
    rows = [replace(ROW, scenario=t, reason=t * 3, notes=(t,)) for t in texts]
    long = "`\u20ac|" * 3_000
    whole = replace(
        report(*rows, replace(ROW, scenario=long, reason=long)),
        notes=(*texts, long, long),
        facts={f"{n}{t}": long for n, t in enumerate(texts)},
        base=Commit(sha=long, asked=long, subject=long, date=long),
        head=Commit(sha=long + "x", asked=long, subject=long, date=long),
        tool=long,
        noise_source=long,
        relation=long,
    )

    assert len(render_comment(whole).encode()) <= LIMIT
