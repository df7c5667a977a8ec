"""A word-level tokenizer: one id per word or punctuation mark.

The only module that knows `tokenizers`.  It adds no special tokens, normalizes
nothing, and decodes by joining words with one space, so text that the vocabulary
covers comes back word for word.
"""

from collections.abc import Sequence

import tokenizers
from tokenizers import models, pre_tokenizers


class WordTokenizer:
    """The words of `vocabulary`, whose ids are their positions.

    A word outside the vocabulary encodes as `unknown`, which must be in it.

    >>> words = WordTokenizer(("?", "hello", "world"), unknown="?")
    >>> words.encode("hello there world")
    [1, 0, 2]
    >>> words.decode([1, 2])
    'hello world'
    """

    def __init__(self, vocabulary: Sequence[str], *, unknown: str) -> None:
        """Index the vocabulary; raise ValueError if it repeats or lacks a word."""
        ids = {word: position for position, word in enumerate(vocabulary)}
        if len(ids) != len(vocabulary):
            raise ValueError("WordTokenizer: a word occurs twice in the vocabulary")
        if unknown not in ids:
            raise ValueError(f"WordTokenizer: add {unknown!r} to the vocabulary")
        model = models.WordLevel(ids, unk_token=unknown)
        self._tokenizer = tokenizers.Tokenizer(model)
        self._tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()

    def encode(self, text: str) -> list[int]:
        """Return one id per word and per run of punctuation in `text`."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the words of `ids` joined by one space, special or not."""
        text: str = self._tokenizer.decode(ids, skip_special_tokens=False)
        return text
