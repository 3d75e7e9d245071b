"""Five sets of chains. Roads: an analysis of variance; what each set was made to be, and numbers that tell why."""

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call
from course_pkg.checks._settle import judged
from course_pkg.checks._tables import telling, with_kin
from course_pkg.checks.mcmc.rhat_and_ess import effective, halves, normal_scores, plain_rhat, rhat_by_anova, walk

WORDS = ("well", "slow", "apart", "widths", "start", "stuck", "tails")
TRUTH = {"A": "slow", "B": "widths", "C": "well", "D": "start", "E": "apart"}
CHAINS, DRAWS = 4, 1000


@cache
def _made() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    slow = walk(rng, CHAINS, DRAWS, 0.95)
    widths = walk(rng, CHAINS, DRAWS, 0.4) * np.array([[1.0], [1.0], [0.35], [1.0]])
    well = walk(rng, CHAINS, DRAWS, 0.4)
    start = walk(rng, CHAINS, DRAWS, 0.4) + 9 * np.exp(-np.arange(DRAWS) / 80)
    apart = walk(rng, CHAINS, DRAWS, 0.4) + np.array([[-3.0], [3.2], [3.2], [-3.0]])
    sets = {"A": 3 + 0.4 * slow, "B": 51 + 6 * widths, "C": -0.2 + 0.07 * well, "D": 12 + 2 * start, "E": 1.5 * apart}
    for draws in sets.values():
        draws.setflags(write=False)
    return sets


def prepared() -> dict[str, np.ndarray]:
    """Five sets of draws of one unknown each, under the letters A to E; each has shape (4, 1000), a row for a chain.

    Example:
        >>> {letter: draws.shape for letter, draws in prepared().items()}
        {'A': (4, 1000), 'B': (4, 1000), 'C': (4, 1000), 'D': (4, 1000), 'E': (4, 1000)}
    """
    return {letter: draws.copy() for letter, draws in _made().items()}


def _far(draws: np.ndarray) -> np.ndarray:
    return np.asarray(abs(draws - np.median(draws)))


def _folded_by_anova(draws: np.ndarray) -> float:
    return rhat_by_anova(_far(draws))


def folded_stub(draws: np.ndarray) -> Any:
    raise NotImplementedError


def diagnoses_stub() -> Any:
    raise NotImplementedError


def _cut(draws: np.ndarray) -> float:
    return plain_rhat(halves(draws))


def _of(distance: Callable[[np.ndarray], Any], number: Callable[[np.ndarray], float] = _cut) -> Callable[[np.ndarray], float]:
    return lambda draws: number(distance(draws))


def _own_median(draws: np.ndarray) -> Any:
    return abs(draws - np.median(draws, axis=1, keepdims=True))


FOLDED_MISTAKES = {
    "not folded": Mistake(
        _cut,
        "That is R-hat of the draws, or of their differences from the median with a sign. A chain that is too narrow has the right mean; "
        "take distances, which have no sign.",
    ),
    "own median": Mistake(
        _of(_own_median),
        "You took each chain's distances from its own median. Take them from the median of all draws.",
    ),
    "own mean": Mistake(
        _of(lambda draws: abs(draws - draws.mean(axis=1, keepdims=True))),
        "You took each chain's distances from its own mean. Take them from the median of all draws.",
    ),
    "mean": Mistake(
        _of(lambda draws: abs(draws - draws.mean())),
        "You took distances from the mean of all draws. Take their median.",
    ),
    "median of each draw": Mistake(
        _of(lambda draws: abs(draws - np.median(draws, axis=0))),
        "You took the median over the chains, one for each draw (axis=0). Take one median, that of all draws of all chains.",
    ),
    "squares": Mistake(
        _of(lambda draws: (draws - np.median(draws)) ** 2),
        "You squared the distances. Take them as they are: squares make much of a few draws far out.",
    ),
    "from nought": Mistake(_of(abs), "You took sizes without subtracting anything. Distances from the median were asked for."),
    "not cut": Mistake(
        _of(_far, plain_rhat),
        "The chains were not cut into halves. Use the split R-hat.",
    ),
    "ranks": Mistake(
        _of(lambda draws: normal_scores(_far(draws))),
        "You, or ArviZ, took ranks of the distances. Ask ArviZ for method='split' of the distances.",
    ),
    "ArviZ's own": Mistake(
        lambda draws: max(_cut(normal_scores(draws)), _cut(normal_scores(_far(draws)))),
        "That is the number that ArviZ prints for the draws: the larger of two, from ranks. Here take distances alone, without ranks.",
    ),
    "larger of the two": Mistake(
        lambda draws: max(_cut(draws), _cut(_far(draws))),
        "You took the larger of R-hat of the draws and R-hat of the distances. Only the second was asked for.",
    ),
    "rows and columns": Mistake(
        lambda draws: _cut(_far(draws).T),
        "Rows and columns have changed places: a row is a chain.",
    ),
}
FOLDED_KIN: dict[str, list[Callable[..., Any]]] = {
    "own median": [lambda draws: _cut(abs(draws - np.repeat(_half_medians(draws), draws.shape[1] // 2, axis=1)))],
    "own mean": [lambda draws: plain_rhat(abs((h := halves(draws)) - h.mean(axis=1, keepdims=True)))],
    "ranks": [
        lambda draws: max(_cut(normal_scores(far := _far(draws))), _cut(normal_scores(_far(far)))),
    ],
}


def _half_medians(draws: np.ndarray) -> np.ndarray:
    half = draws.shape[1] // 2
    return np.column_stack([np.median(draws[:, :half], axis=1), np.median(draws[:, half:], axis=1)])


ALL_FOLDED = with_kin(FOLDED_MISTAKES, FOLDED_KIN)


@lru_cache(maxsize=32)
def _folded_cases(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 300])

    def chains(count: int, draws: int, apart: float, skew: float) -> np.ndarray:
        widths = rng.uniform(0.3, 2.5, (count, 1))
        x = 1 + rng.normal(0, apart, (count, 1)) + widths * rng.normal(size=(count, draws))
        return x + skew * rng.exponential(size=(count, draws))

    return telling(lambda: [(chains(4, 14, 0.2, 1.0),), (chains(5, 20, 2.0, 0.5),)], _folded_by_anova, ALL_FOLDED)


def folded_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _folded_cases(seed),
        _folded_by_anova,
        ALL_FOLDED,
        stub=folded_stub,
        right="Right. Above 1 it says that chains, or their halves, differ in how far they reach.",
        nudge="Not that R-hat. With draws = [[0, 1, 2, 8], [4, 5, 6, 5]] the median is 4.5, the distances are [[4.5, 3.5, 2.5, 3.5], "
        "[0.5, 0.5, 1.5, 0.5]], and their split R-hat is 2.789.",
    )


def _lag_one(draws: np.ndarray) -> float:
    """Correlation of neighbours in the second half of the chains, about each chain's own mean."""
    x = draws[:, draws.shape[1] // 2 :]
    off = x - x.mean(axis=1, keepdims=True)
    return float((off[:, 1:] * off[:, :-1]).sum() / (off**2).sum())


def _crossings(draws: np.ndarray) -> int:
    """How often the chain that does so least crosses the median of all draws."""
    above = draws > np.median(draws)
    return int((above[:, 1:] != above[:, :-1]).sum(axis=1).min())


def _reach(draws: np.ndarray) -> float:
    """The farthest draw's distance from the median, in widths of the middle half."""
    low, high = np.quantile(draws, [0.25, 0.75])
    return float(_far(draws).max() / (high - low))


def _not_well(letter: str) -> str:
    draws = prepared()[letter]
    return {
        "slow": f"Neighbours in a chain have a correlation of {_lag_one(draws):.2f}. How many independent draws are 4000 such draws worth?",
        "widths": f"The number of Part 1 is {_folded_by_anova(draws):.2f} for it.",
        "start": f"R-hat is {rhat_by_anova(draws):.2f}. Look at the traces: where, along the chains, does something change?",
        "apart": f"R-hat is {rhat_by_anova(draws):.1f}. Do all chains see the same values?",
    }[TRUTH[letter]]


def _not_widths(letter: str) -> str:
    draws = prepared()[letter][:, DRAWS // 2 :]
    sd = draws.std(axis=1, ddof=1)
    if TRUTH[letter] == "slow":
        return (
            "The chains do differ a little in width, and in their middles as well. Chains that creep differ in everything as long as they "
            "are short; look at how alike neighbours are."
        )
    least, most = sd.min() / sd.mean(), sd.max() / sd.mean()
    return (
        f"In the second halves the narrowest chain has {least:.2f} times their average standard deviation, and the widest {most:.2f} times."
    )


def _not_tails(letter: str) -> str:
    draws = prepared()[letter]
    if TRUTH[letter] == "start":
        return "There are draws far out, and they have something in common. Where in the chains are they?"
    return (
        f"The draw that is farthest out lies {_reach(draws):.1f} times the width of the middle half from the median. In 4000 "
        "independent draws of a normal that number is about 2.6, and where the tails are heavy it is much higher."
    )


def _evidence(letter: str, said: str) -> str:
    """Why a set is not what was said of it."""
    draws = prepared()[letter]
    words = {
        "well": lambda: _not_well(letter),
        "slow": lambda: (
            f"In the second halves of its chains neighbours have a correlation of {_lag_one(draws):.2f} only, about each chain's own mean. "
            "They do not creep."
        ),
        "apart": lambda: (
            f"Each of its chains crosses the median of all draws at least {_crossings(draws)} times. Chains that stay apart do not."
        ),
        "widths": lambda: _not_widths(letter),
        "start": lambda: (
            "Where its chains begin is not off to one side: some begin above the median of all draws and some below it, and no farther out "
            "than they go later."
        ),
        "stuck": lambda: "No two draws in a row are the same, in any of its chains.",
        "tails": lambda: _not_tails(letter),
    }
    return f"Set {letter} is not '{said}'. {words[said]()}"


def _said(answer: Any) -> dict[str, str]:
    got = call(answer)
    if isinstance(got, list | tuple) and len(got) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in got):
        got = dict(got)
    elif isinstance(got, list | tuple) and len(got) == len(TRUTH):
        got = dict(zip(TRUTH, got, strict=True))
    if not isinstance(got, dict):
        raise Trouble("Expected a dictionary with a word for each of the letters A to E.")
    found = {str(letter).strip().upper(): str(word).strip().lower() for letter, word in got.items()}
    if missing := [letter for letter in TRUTH if letter not in found]:
        raise Trouble(f"There is no word for set {missing[0]} yet.")
    if more := [letter for letter in found if letter not in TRUTH]:
        raise Trouble(f"There is no set {more[0]!r}; the letters are A to E.")
    for letter, word in found.items():
        if word not in WORDS:
            raise Trouble(f"Set {letter} has {word!r}, which is none of the words: {', '.join(WORDS)}.")
    return found


def diagnoses_verdict(answer: Any, seed: int = 0) -> Verdict:  # noqa: ARG001  (the sets are the same for everybody)
    try:
        said = _said(answer)
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    for letter in TRUTH:
        if said[letter] != TRUTH[letter]:
            return Verdict(False, _evidence(letter, said[letter]))
    return Verdict(True, _all_right())


def _all_right() -> str:
    sets = prepared()
    plain, folded = rhat_by_anova(sets["B"]), _folded_by_anova(sets["B"])
    return (
        f"Right, all five. A creeps: its 4000 draws are worth about {effective(sets['A']):.0f}; run it longer, or in other coordinates. "
        f"In B one chain keeps to the middle: R-hat is {plain:.2f}, that of the distances {folded:.2f}; find what stops it. "
        "D keeps its way in from afar: drop the beginnings. In E each chain sees one of two places, and their common mean says only where "
        "they were started. Nothing can be said against C, which is no proof: a place that no chain has visited leaves no trace."
    )


def _but(letter: str, word: str) -> dict[str, str]:
    return TRUTH | {letter: word}


DIAGNOSES_MISTAKES = {
    f"{letter} called {word}": Mistake(partial(_but, letter, word), _evidence(letter, word))
    for letter, truth in TRUTH.items()
    for word in WORDS
    if word != truth
}

TASKS = (
    Task(
        "mcmc/five-chains/folded",
        "Five sets of chains: do they reach as far?",
        1,
        8,
        folded_stub,
        (
            "A narrow chain and a wide one may have the same mean. Which number of each draw has a mean that tells them apart?",
            "far = |theta - med|, with med the median of all draws of all chains; then the split R-hat of far.",
            "Begin with `med = np.median(draws)`: without an axis it is one number, that of all chains.",
        ),
        FOLDED_MISTAKES,
        folded_verdict,
    ),
    Task(
        "mcmc/five-chains/diagnoses",
        "Five sets of chains: the diagnoses",
        1,
        15,
        diagnoses_stub,
        (
            "Look before you count: do the chains see the same values, as often as each other, at the beginning as at the end?",
            "neighbours near 1: slow. Else, folded alone high: widths; r_hat high: start if the chains cross often, apart if not.",
            "Begin with `said = {'E': 'apart'}`: two of its chains hardly see what the other two see. Six words are left for four sets.",
        ),
        DIAGNOSES_MISTAKES,
        diagnoses_verdict,
    ),
)
