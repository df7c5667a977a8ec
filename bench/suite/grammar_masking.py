"""The tokens a grammar allows at the start of a text."""

from typing import ClassVar

import torch

from bench import grammar

from . import inputs, scenario

PATTERN = "hello( world)*"
ROW = f"llguidance_compute_mask/{len(inputs.VOCABULARY)}"
HELLO = inputs.VOCABULARY.index("hello")


def compiled() -> grammar.RegexGrammar:
    """Return the pattern over the 32 words."""
    return grammar.RegexGrammar(PATTERN, inputs.VOCABULARY, eos=inputs.END)


class GrammarMasking:
    """Time a new state and its mask, which no earlier state has computed."""

    params: ClassVar = [[ROW]]
    param_names: ClassVar = ["case"]
    benchgate_setup = "batch"
    benchgate_check = "check"

    def setup(self, _case: str) -> None:
        """Compile the pattern."""
        torch.set_num_threads(1)
        self.grammar = compiled()
        self.mask = b""

    @scenario.named("grammar_masking")
    def time_mask(self, _case: str) -> None:
        """Compute the mask of the start state."""
        self.mask = self.grammar.start().mask()

    def check(self, case: str) -> None:
        """Require that only "hello" starts a text, and that it may then end."""
        self.time_mask(case)
        bits = int.from_bytes(self.mask, "little")
        scenario.require("mask at the start", bits, 1 << HELLO)
        state = self.grammar.start()
        scenario.require("tokens at the start", state.allowed(), (HELLO,))
        state.accept(HELLO)
        scenario.require("tokens after hello", state.allowed(), (inputs.END,))


class GrammarCounts:
    """Count the tokens that may start a text."""

    params: ClassVar = [[f"{ROW}/mask_bits_set"]]
    param_names: ClassVar = ["metric"]
    benchgate_exact = True
    benchgate_direction = "none"
    unit = "count"

    def setup(self, _metric: str) -> None:
        """Compile the pattern."""
        torch.set_num_threads(1)
        self.grammar = compiled()

    @scenario.named("grammar_masking")
    def track_mask(self, _metric: str) -> int:
        """Count the bits of the mask of the start state."""
        return int.from_bytes(self.grammar.start().mask(), "little").bit_count()
