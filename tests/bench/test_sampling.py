"""Sampling against plain Python in double precision, which shares no code with it."""

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bench.sampling import chain, draws, filters, penalties
from bench.suite import inputs

GONE = -math.inf
PROMPT = [t % 97 for t in range(128)]
GENERATED = [t % 31 for t in range(64)]

# Quarters: equal logits are equal in both precisions, and ties are common.
LOGITS = st.lists(st.integers(-80, 80).map(lambda n: n / 4), min_size=1, max_size=60)
IDS = st.lists(st.integers(0, 59), max_size=30)
UNIT = st.floats(0, 1, exclude_max=True)


# The reference.


def weigh(logits: Sequence[float]) -> list[float]:
    """Return exp(logit - largest): probabilities before they are normalized."""
    best = max(logits)
    return [math.exp(logit - best) for logit in logits]


def top_k(logits: Sequence[float], count: int) -> list[float]:
    """Keep what is at least the count-th largest."""
    threshold = sorted(logits, reverse=True)[:count][-1]
    return [logit if logit >= threshold else GONE for logit in logits]


def top_p(logits: Sequence[float], mass: float) -> list[float]:
    """Keep the shortest prefix by probability, then id, that holds the mass."""
    weights = weigh(logits)
    goal = mass * math.fsum(weights)
    kept: set[int] = set()
    for token in sorted(range(len(logits)), key=lambda i: (-weights[i], i)):
        if math.fsum(weights[i] for i in kept) >= goal:
            break
        kept.add(token)
    return [logit if i in kept else GONE for i, logit in enumerate(logits)]


def top_p_of_many(logits: Sequence[float], mass: float) -> list[float]:
    """Do the same with a running sum, whose error is far below the figures' margin."""
    weights = weigh(logits)
    order = sorted(range(len(logits)), key=lambda i: (-weights[i], i))
    goal, held, kept = mass * math.fsum(weights), 0.0, 0
    while held < goal:
        held += weights[order[kept]]
        kept += 1
    chosen = set(order[:kept])
    return [logit if i in chosen else GONE for i, logit in enumerate(logits)]


def min_p(logits: Sequence[float], fraction: float) -> list[float]:
    """Keep what is at least the fraction of the best probability."""
    weights = weigh(logits)
    return [x if w >= fraction else GONE for x, w in zip(logits, weights, strict=True)]


def draw(logits: Sequence[float], uniform: float) -> int:
    """Return the first id whose cumulative probability exceeds the number."""
    weights = weigh(logits)
    goal, held = uniform * math.fsum(weights), 0.0
    for token, weight in enumerate(weights):
        held += weight
        if held > goal:
            return token
    pytest.fail("nothing exceeds the number")


def penalize(
    logits: Sequence[float], prompt: Sequence[int], generated: Sequence[int]
) -> list[float]:
    """Apply repetition 1.1, frequency 0.2, presence 0.1 and temperature 0.8."""
    said = Counter(generated)
    result = list(logits)
    for token in {*prompt, *said}:
        value = result[token]
        result[token] = value / 1.1 if value > 0 else value * 1.1
    for token, times in said.items():
        result[token] -= 0.2 * times + 0.1
    return [value / 0.8 for value in result]


def thousands() -> list[float]:
    """Return the suite's 32,000 logits, rounded to single precision by `struct`."""
    exact = [((17 * i % 997) - 498) / 73 for i in range(32_000)]
    return [struct.unpack("f", struct.pack("f", value))[0] for value in exact]


def count(logits: Sequence[float]) -> int:
    """Count what is left."""
    return sum(logit != GONE for logit in logits)


# Filters and draws.


def filtered(
    function: Callable[..., None], logits: Sequence[float], setting: float
) -> list[float]:
    """Run a filter of the library on a list."""
    tensor = torch.tensor(logits)
    out = torch.full_like(tensor, torch.nan)
    function(tensor, setting, out=out)
    assert tensor.tolist() == list(logits)
    return out.tolist()


@given(logits=LOGITS, number=st.integers(1, 80))
def test_top_k_keeps_ties_of_the_threshold(logits: list[float], number: int) -> None:
    """What is kept is decided by value: never fewer than asked, all equal ones."""
    assert filtered(filters.top_k, logits, number) == top_k(logits, number)


@given(logits=LOGITS, percent=st.integers(1, 99))
def test_top_p_keeps_the_shortest_prefix(logits: list[float], percent: int) -> None:
    """The nucleus holds the mass, and without its last token it would not."""
    mass = (percent + 1 / math.pi) / 100  # no sum of these weights hits it

    assert filtered(filters.top_p, logits, mass) == top_p(logits, mass)


def test_top_p_prefers_the_smaller_of_equal_ids() -> None:
    """Among equally probable tokens the first ids are kept."""
    assert filtered(filters.top_p, [1.0] * 8, 0.5) == [1.0] * 4 + [GONE] * 4


def test_top_p_of_everything_keeps_everything() -> None:
    """A mass of 1 drops nothing, whatever rounding does to the sum."""
    logits = thousands()

    assert filtered(filters.top_p, logits, 1.0) == logits


@given(logits=LOGITS, percent=st.integers(1, 99))
def test_min_p_compares_with_the_best(logits: list[float], percent: int) -> None:
    """A token stays if its probability is at least the fraction of the best one's."""
    assert filtered(filters.min_p, logits, percent / 100) == min_p(
        logits, percent / 100
    )


@given(logits=LOGITS)
def test_greedy_takes_the_first_of_the_largest(logits: list[float]) -> None:
    """The best logit wins, the smallest id among equals."""
    assert draws.greedy(torch.tensor(logits)) == logits.index(max(logits))


@given(logits=LOGITS, uniform=UNIT, number=st.integers(1, 60))
def test_a_draw_is_the_inverse_of_the_cumulative_sum(
    logits: list[float], uniform: float, number: int
) -> None:
    """The number falls into the drawn token's share, and the token was not dropped."""
    left = top_k(logits, number)
    weights = weigh(left)
    total = math.fsum(weights)

    token = draws.draw(torch.tensor(left), uniform)

    below = math.fsum(weights[:token]) / total
    assert left[token] != GONE
    assert below - 1e-12 <= uniform <= below + weights[token] / total + 1e-12


@pytest.mark.parametrize("uniform", [0.0, math.nextafter(1, 0)])
def test_a_draw_reaches_both_ends(uniform: float) -> None:
    """Numbers next to 0 and 1 take the first and the last token that was kept."""
    left = torch.tensor([GONE, *([0.1] * 997), GONE])

    assert draws.draw(left, uniform) == (1 if uniform == 0 else 997)


@pytest.mark.parametrize(
    ("function", "setting"),
    [
        (filters.top_k, 0),
        (filters.top_p, 0.0),
        (filters.top_p, 1.1),
        (filters.min_p, 0.0),
        (filters.min_p, 2.0),
        (penalties.temperature, 0.0),
    ],
)
def test_settings_without_a_meaning_are_refused(
    function: Callable[..., None], setting: float
) -> None:
    """A setting out of range raises and says which are in range."""
    with pytest.raises(ValueError, match=f"is {setting}; "):
        filtered(function, [1.0, 2.0], setting)


@pytest.mark.parametrize("uniform", [-0.1, 1.0, math.nan])
def test_a_draw_needs_a_number_below_one(uniform: float) -> None:
    """A number out of [0, 1) raises instead of drawing an end token."""
    with pytest.raises(ValueError, match="it lies in"):
        draws.draw(torch.tensor([1.0]), uniform)


@pytest.mark.parametrize("logits", [[GONE, GONE], [math.nan, 0.0], [math.inf, 0.0]])
def test_a_draw_from_nothing_raises(logits: list[float]) -> None:
    """If no token is left, or a logit is no number, there is no token to return."""
    with pytest.raises(ValueError, match="nothing to draw"):
        draws.draw(torch.tensor(logits), 0.5)


# The chain.


def settings() -> tuple[chain.Processor, ...]:
    """Return the four steps that the reference calls penalties."""
    return (
        chain.Repetition(1.1),
        chain.Frequency(0.2),
        chain.Presence(0.1),
        chain.Temperature(0.8),
    )


@given(logits=LOGITS, prompt=IDS, generated=IDS)
def test_penalties_follow_sign_count_and_scope(
    logits: list[float], prompt: list[int], generated: list[int]
) -> None:
    """Repetition sees prompt and output and minds the sign; the others see output."""
    prompt = [token % len(logits) for token in prompt]
    generated = [token % len(logits) for token in generated]
    tensor = torch.tensor(logits, dtype=torch.float64)
    history = chain.History(
        prompt=torch.tensor(prompt, dtype=torch.int64),
        generated=torch.tensor(generated, dtype=torch.int64),
    )
    out = torch.full_like(tensor, torch.nan)

    chain.run(settings(), tensor, history, out=out)

    assert out.tolist() == pytest.approx(penalize(logits, prompt, generated))
    assert tensor.tolist() == logits


def test_the_suites_logits_are_the_formula_rounded_once() -> None:
    """The 32,000 logits are ((17 i mod 997) - 498) / 73 in single precision."""
    assert inputs.logits().tolist() == thousands()


def test_the_figures_of_the_four_samplers() -> None:
    """Worked out in plain Python: 64, 5389 and 7021 kept; 13606, 13430, 13430 drawn."""
    logits = thousands()
    left = [top_k(logits, 50), top_p_of_many(logits, 0.9), min_p(logits, 0.05)]

    assert logits.index(max(logits)) == 821
    assert [count(each) for each in left] == [64, 5_389, 7_021]
    assert [draw(each, 0.42) for each in left] == [13_606, 13_430, 13_430]


def test_the_figures_of_the_chain() -> None:
    """Worked out in plain Python: 64, 58 and 58 kept, then 12609 drawn."""
    first = top_k(penalize(thousands(), PROMPT, GENERATED), 50)
    second = top_p_of_many(first, 0.9)
    third = min_p(second, 0.05)

    assert [count(each) for each in (first, second, third)] == [64, 58, 58]
    assert draw(third, 0.42) == 12_609
