"""Which tokens a regular expression allows next.

The only module that knows llguidance.  Its matcher never raises for a bad token: it
enters an error state, and *its mask there is not empty* but holds the end token alone.
A caller who looks at the mask only would end the text and call it a match, so every
call here asks for the error as well.
"""

from collections.abc import Sequence

import llguidance


class GrammarError(ValueError):
    """The grammar cannot be compiled, or cannot go on with the tokens it was given."""


class _Vocabulary:
    """Token texts in the form llguidance asks for."""

    bos_token_id = None

    def __init__(self, texts: Sequence[str], *, eos: int) -> None:
        self.eos_token_id = eos
        self.tokens = [text.encode() for text in texts]
        self.special_token_ids = [eos]

    def __call__(self, text: bytes) -> list[int]:
        """Refuse: masks come from the token texts, never from encoding text.

        llguidance calls this once with a probe that it expects may fail.
        """
        raise TypeError(f"this vocabulary does not encode text such as {text!r}")


class RegexGrammar:
    """A compiled pattern over the tokens of `texts`, whose ids are their positions.

    `eos` is the id of the end token, allowed where the text so far matches.

    Forced bytes are off.  With them on, llguidance does not look at the token texts
    where only one text can follow: it encodes that text through a Python call and
    allows its first token, which for a text outside the vocabulary is the unknown
    token.

    >>> state = RegexGrammar("ab*", ("</s>", "a", "b", "ab"), eos=0).start()
    >>> state.allowed()
    (1, 3)
    >>> state.accept(1)
    >>> state.allowed()
    (0, 2)
    """

    def __init__(self, pattern: str, texts: Sequence[str], *, eos: int) -> None:
        """Compile `pattern`; raise GrammarError if that fails."""
        vocabulary = llguidance.TokenizerWrapper(_Vocabulary(texts, eos=eos))
        tokenizer = llguidance.LLTokenizer(vocabulary, n_vocab=len(texts), slices=[])
        escaped = pattern.replace("/", r"\/")
        grammar = f'%llguidance {{"no_forcing": true}}\nstart: /{escaped}/'
        self._matcher = llguidance.LLMatcher(tokenizer, grammar, log_level=0)
        self._width = len(texts)
        _require_no_error(self._matcher)

    def start(self) -> "GrammarState":
        """Return a state at the start of a text, with nothing computed yet.

        llguidance keeps each mask it has computed, and keeps it over a reset, so a
        second mask of one state is a copy of the first.  States share the compiled
        pattern and none of the masks.
        """
        return GrammarState(self._matcher.deep_copy(), self._width)


class GrammarState:
    """A place in a text that a grammar allows so far."""

    def __init__(self, matcher: llguidance.LLMatcher, width: int) -> None:
        """Take over `matcher`, whose vocabulary has `width` tokens."""
        self._matcher = matcher
        self._width = width

    def mask(self) -> bytes:
        """Return one bit per token, id 0 in the lowest bit of the first byte.

        Bytes past the vocabulary are zero.  Raise GrammarError if no token is
        allowed or the matcher is in its error state, so a mask is never empty.
        """
        mask: bytes = self._matcher.compute_bitmask()
        _require_no_error(self._matcher)
        if not any(mask):
            raise GrammarError("no token can continue the text here")
        return mask

    def allowed(self) -> tuple[int, ...]:
        """Return the ids of the allowed tokens, ascending."""
        mask = int.from_bytes(self.mask(), "little")
        return tuple(token for token in range(self._width) if mask >> token & 1)

    def accept(self, token: int) -> None:
        """Advance by one token; raise GrammarError, for good, if it is not allowed."""
        self._matcher.consume_token(token)
        _require_no_error(self._matcher)


def _require_no_error(matcher: llguidance.LLMatcher) -> None:
    if matcher.is_error():
        # The first line says what; the rest is a dump of the parser.
        raise GrammarError(matcher.get_error().partition("\n")[0])
