"""The tokenizer against a regular expression and a dictionary."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import tokenization
from bench.suite import inputs

PANGRAM = "the quick brown fox jumps over the lazy dog. "
IDS = [6, 7, 8, 9, 10, 11, 6, 12, 13, 14]
PLAIN = [word for word in inputs.VOCABULARY if word.isalpha()]
WORDS = st.lists(st.sampled_from([*PLAIN, "elsewhere", ".", "?"]), max_size=30)


@pytest.fixture(scope="module")
def words() -> tokenization.WordTokenizer:
    """Return the suite's tokenizer."""
    return tokenization.WordTokenizer(inputs.VOCABULARY, unknown=inputs.UNKNOWN)


def split(text: str) -> list[int]:
    """Look up each run of letters and each run of other characters."""
    ids = {word: position for position, word in enumerate(inputs.VOCABULARY)}
    return [ids.get(part, 0) for part in re.findall(r"\w+|[^\w\s]+", text)]


def test_the_vocabulary_has_32_different_words() -> None:
    """Ids 0 to 31, with the end token at 3."""
    assert len(set(inputs.VOCABULARY)) == 32
    assert inputs.VOCABULARY[inputs.END] == "</s>"


@given(parts=WORDS)
def test_encoding_splits_words_from_punctuation(parts: list[str]) -> None:
    """Each word has its id, and what is not in the vocabulary has id 0."""
    words = tokenization.WordTokenizer(inputs.VOCABULARY, unknown=inputs.UNKNOWN)

    assert words.encode(" ".join(parts)) == split(" ".join(parts))


@given(ids=st.lists(st.integers(0, 31), max_size=50))
def test_decoding_joins_words_with_a_space(ids: list[int]) -> None:
    """All ids come back as text, special ones too."""
    words = tokenization.WordTokenizer(inputs.VOCABULARY, unknown=inputs.UNKNOWN)

    assert words.decode(ids) == " ".join(inputs.VOCABULARY[i] for i in ids)


def test_the_pangram_is_1280_ids(words: tokenization.WordTokenizer) -> None:
    """128 sentences of nine words and a full stop."""
    assert words.encode(PANGRAM * 128) == IDS * 128
    assert len(IDS * 128) == 1_280


def test_163840_ids_are_753663_characters(words: tokenization.WordTokenizer) -> None:
    """Decoding loses nothing: the text has the right length and encodes back."""
    ids = IDS * 128 * 128

    text = words.decode(ids)

    # A sentence is 36 letters and full stops with 10 spaces; the last has no space.
    assert (len(ids), len(text)) == (163_840, 753_663) == (163_840, 16_384 * 46 - 1)
    assert words.encode(text) == ids


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [(("?", "a", "a"), "occurs twice"), (("a", "b"), "add '[?]'")],
)
def test_a_vocabulary_must_be_usable(vocabulary: tuple[str, ...], message: str) -> None:
    """A word has one id, and there is a word for the unknown."""
    with pytest.raises(ValueError, match=message):
        tokenization.WordTokenizer(vocabulary, unknown="?")
