"""Masks against a language written out in full."""

import pytest

from bench import grammar
from bench.suite import inputs

END = 0
# Tokens that overlap: a mask must look at texts, not at one way to spell a match.
TEXTS = ("</s>", "h", "he", "hello", "llo", "o", " world", " w", "orld", "x", "ello")
LANGUAGE = ["hello" + " world" * repeats for repeats in range(4)]


def expected(prefix: str) -> tuple[int, ...]:
    """Return the tokens after which a text of the language is still possible."""
    return tuple(
        token
        for token, text in enumerate(TEXTS)
        if (
            prefix in LANGUAGE
            if token == END
            else any(word.startswith(prefix + text) for word in LANGUAGE)
        )
    )


@pytest.mark.parametrize(
    "spelling", [["hello", " world"], ["he", "llo", " w", "orld"], ["h"], ["he"], []]
)
def test_a_mask_holds_all_that_can_follow(spelling: list[str]) -> None:
    """Every token that can continue is allowed, no other, on any way to a text."""
    state = grammar.RegexGrammar("hello( world)*", TEXTS, eos=END).start()

    for text in spelling:
        state.accept(TEXTS.index(text))

    assert state.allowed() == expected("".join(spelling))


def test_the_suites_grammar_starts_with_hello_and_may_end_there() -> None:
    """Of 32 words only "hello" can start; " world" is no word, so the end follows."""
    state = grammar.RegexGrammar("hello( world)*", inputs.VOCABULARY, eos=3).start()

    assert state.allowed() == (4,)
    state.accept(4)
    assert state.allowed() == (3,)


def test_a_mask_has_one_bit_per_token() -> None:
    """The lowest bit of the first byte is id 0; the rest of the last word is zero."""
    state = grammar.RegexGrammar("x|h", TEXTS, eos=END).start()

    mask = state.mask()

    assert int.from_bytes(mask, "little") == 1 << 9 | 1 << 1
    assert len(mask) % 4 == 0


def test_a_pattern_that_no_token_can_start_raises() -> None:
    """Here llguidance answers with a mask of the end token alone; that is an error."""
    state = grammar.RegexGrammar("zebra", TEXTS, eos=END).start()

    with pytest.raises(grammar.GrammarError):
        state.mask()


def test_an_empty_mask_raises() -> None:
    """A mask without a bit is refused even if the matcher reports no error."""

    class Silent:
        def compute_bitmask(self) -> bytes:
            return bytes(4)

        def is_error(self) -> bool:
            return False

    with pytest.raises(grammar.GrammarError, match="no token can continue"):
        grammar.GrammarState(Silent(), 32).mask()


def test_a_token_that_does_not_fit_is_an_error_for_good() -> None:
    """A rejected token raises, and so does every later question to that state."""
    compiled = grammar.RegexGrammar("hello( world)*", TEXTS, eos=END)
    state = compiled.start()

    with pytest.raises(grammar.GrammarError, match="satisfy"):
        state.accept(TEXTS.index("x"))
    with pytest.raises(grammar.GrammarError, match="satisfy"):
        state.allowed()

    assert compiled.start().allowed() == expected("")


def test_a_pattern_that_is_none_says_so() -> None:
    """A pattern with an open group raises when it is compiled."""
    with pytest.raises(grammar.GrammarError, match="invalid regex"):
        grammar.RegexGrammar("hello(", TEXTS, eos=END)


def test_a_slash_is_a_character() -> None:
    """The pattern may hold the mark that ends a pattern in llguidance's syntax."""
    state = grammar.RegexGrammar("a/b", ("</s>", "a/", "b"), eos=END).start()

    assert state.allowed() == (1,)
