"""A word-level tokenizer on one pangram, both ways."""

from typing import ClassVar

import torch

from bench import tokenization

from . import inputs, scenario

TEXT = inputs.SENTENCE * 128
TEXT_IDS = inputs.SENTENCE_IDS * 128
REPEATS = 128  # decoding takes this many copies of the encoded text


def tokenizer() -> tokenization.WordTokenizer:
    """Return the tokenizer that both scenarios use."""
    return tokenization.WordTokenizer(inputs.VOCABULARY, unknown=inputs.UNKNOWN)


class Encode:
    """Time 1,280 words and full stops into ids."""

    params: ClassVar = [["encode_tokens_per_second"]]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, _case: str) -> None:
        """Build the tokenizer."""
        torch.set_num_threads(1)
        self.tokenizer = tokenizer()
        self.ids: list[int] = []

    @scenario.named("tokenization")
    def time_encode(self, _case: str) -> None:
        """Encode."""
        self.ids = self.tokenizer.encode(TEXT)

    def check(self, case: str) -> None:
        """Require the ids of the sentence, 128 times over."""
        self.time_encode(case)
        scenario.require("number of ids", len(self.ids), len(TEXT_IDS))
        scenario.require("ids are right", tuple(self.ids) == TEXT_IDS, expected=True)


class Decode:
    """Time 163,840 ids into words."""

    params: ClassVar = [["decode_tokens_per_second"]]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, _case: str) -> None:
        """Build the tokenizer and the ids."""
        torch.set_num_threads(1)
        self.tokenizer = tokenizer()
        self.ids = list(TEXT_IDS * REPEATS)
        self.text = ""

    @scenario.named("tokenization")
    def time_decode(self, _case: str) -> None:
        """Decode."""
        self.text = self.tokenizer.decode(self.ids)

    def check(self, case: str) -> None:
        """Require every word, with one space between any two."""
        self.time_decode(case)
        words = [inputs.VOCABULARY[token] for token in inputs.SENTENCE_IDS]
        expected = " ".join(words * 128 * REPEATS)
        scenario.require("number of characters", len(self.text), len(expected))
        scenario.require("text is right", self.text == expected, expected=True)


class TokenizationCounts:
    """Count what both ways return."""

    params: ClassVar = [
        ["encode_tokens_per_second/tokens", "decode_tokens_per_second/characters"]
    ]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "none"
    unit = "count"

    def setup(self, _metric: str) -> None:
        """Build the tokenizer."""
        torch.set_num_threads(1)
        self.tokenizer = tokenizer()

    @scenario.named("tokenization")
    def track_tokenization(self, metric: str) -> int:
        """Count the ids of the text, or the characters of one decoded copy."""
        if metric.endswith("/tokens"):
            return len(self.tokenizer.encode(TEXT))
        return len(self.tokenizer.decode(TEXT_IDS * REPEATS))
