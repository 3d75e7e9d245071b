"""Five sets of chains. Roads: an analysis of variance; what each set was made to be, and numbers that tell why."""

from functools import partial

import numpy as np

from course_pkg.checks._judge import Trouble, Verdict, call
from course_pkg.checks.five_chains import DRAWS, prepared
from course_pkg.checks.record import Record
from solutions.mcmc.rhat_and_ess import correlations_by_sums, ess_by_walk, halves, rhat_by_anova

WORDS = ("well", "slow", "apart", "widths", "start", "stuck", "tails")
TRUTH = {"A": "slow", "B": "widths", "C": "well", "D": "start", "E": "apart"}


far = lambda draws: abs(draws - np.median(draws))
folded_by_anova = lambda draws: rhat_by_anova(far(draws))


def skewed_chains(rng):
    """R-hat of the distances is the larger one, then R-hat of the draws."""
    for count, draws, apart, skew in [(4, 14, 0.0, 1.0), (5, 20, 2.0, 0.5)]:
        ratio = 1.0
        while (ratio > 0.95) if apart == 0 else (ratio < 1.05):
            widths = rng.uniform(0.3, 2.5, (count, 1))
            noise = widths * rng.normal(size=(count, draws)) + skew * rng.exponential(size=(count, draws))
            x = 1 + rng.normal(0, apart, (count, 1)) + noise
            ratio = rhat_by_anova(x) / folded_by_anova(x)
        yield (x,)


MED = "np.median(draws)"
FOLDED = Record(
    cases=skewed_chains,
    reference=folded_by_anova,
    right="Right. Above 1 it says that chains, or their halves, differ in how far they reach.",
    nudge="Not that R-hat. With draws = [[0, 1, 2, 8], [4, 5, 6, 5]] the median is 4.5, the distances are [[4.5, 3.5, 2.5, 3.5], "
    "[0.5, 0.5, 1.5, 0.5]], and their split R-hat is 2.789.",
    hints=(
        "A narrow chain and a wide one may have the same mean. Which number of each draw has a mean that tells them apart?",
        "far = |theta - med|, with med the median of all draws of all chains; then the split R-hat of far.",
        "Begin with `med = np.median(draws)`: without an axis it is one number, that of all chains.",
    ),
    mistakes={
        "That is R-hat of the draws, or of differences with a sign. A narrow chain has the right mean: take distances.": "np.abs -> ",
        "You took each chain's distances from its own median. Take them from the median of all draws.": f"{MED} -> np.median(draws, axis=1, keepdims=True)",
        "You took distances from the mean of all draws. Take their median.": f"{MED} -> draws.mean()",
        "The chains were not cut into halves. Use the split R-hat.": '"split" -> "identity"',
        "You, or ArviZ, took ranks of the distances. Ask ArviZ for method='split' of the distances.": '"split" -> "z_scale"',
    },
)


def alike(draws):
    """Correlation of neighbours in the second half of the chains, about each chain's own mean."""
    x = draws[:, draws.shape[1] // 2 :]
    off = x - x.mean(axis=1, keepdims=True)
    return (off[:, 1:] * off[:, :-1]).sum() / (off**2).sum()


def crossings(draws):
    """How often the chain that does so least crosses the median of all draws."""
    above = draws > np.median(draws)
    return (above[:, 1:] != above[:, :-1]).sum(axis=1).min()


def reach(draws):
    """The farthest draw's distance from the median, in widths of the middle half."""
    low, high = np.quantile(draws, [0.25, 0.75])
    return far(draws).max() / (high - low)


def effective(draws):
    """The number of independent draws that a set is worth for its mean."""
    lags = draws.shape[1] // 4 * 2 - 1
    return ess_by_walk(np.array(correlations_by_sums(halves(draws), lags)), draws.size)


def not_well(draws, truth):
    return {
        "slow": f"Neighbours in a chain have a correlation of {alike(draws):.2f}. How many independent draws are 4000 such draws worth?",
        "widths": f"The number of Part 1 is {folded_by_anova(draws):.2f} for it.",
        "start": f"R-hat is {rhat_by_anova(draws):.2f}. Look at the traces: where, along the chains, does something change?",
        "apart": f"R-hat is {rhat_by_anova(draws):.1f}. Do all chains see the same values?",
    }[truth]


def not_widths(draws, truth):
    if truth == "slow":
        return (
            "The chains do differ a little in width, and in their middles as well. Chains that creep differ in everything as long as they "
            "are short; look at how alike neighbours are."
        )
    sd = draws[:, DRAWS // 2 :].std(axis=1, ddof=1)
    return (
        f"In the second halves the narrowest chain has {sd.min() / sd.mean():.2f} times their average standard deviation, and the widest "
        f"{sd.max() / sd.mean():.2f} times."
    )


def not_tails(draws, truth):
    if truth == "start":
        return "There are draws far out, and they have something in common. Where in the chains are they?"
    return (
        f"The draw that is farthest out lies {reach(draws):.1f} times the width of the middle half from the median. In 4000 "
        "independent draws of a normal that number is about 2.6, and where the tails are heavy it is much higher."
    )


WHY_NOT = {
    "well": not_well,
    "slow": lambda draws, _: (
        f"In the second halves of its chains neighbours have a correlation of {alike(draws):.2f} only, about each chain's own mean. "
        "They do not creep."
    ),
    "apart": lambda draws, _: (
        f"Each of its chains crosses the median of all draws at least {crossings(draws)} times. Chains that stay apart do not."
    ),
    "widths": not_widths,
    "start": lambda draws, _: (
        "Where its chains begin is not off to one side: some begin above the median of all draws and some below it, and no farther out "
        "than they go later."
    ),
    "stuck": lambda draws, _: "No two draws in a row are the same, in any of its chains.",
    "tails": not_tails,
}


# Why a set is not what was said of it
evidence = lambda letter, said: f"Set {letter} is not '{said}'. {WHY_NOT[said](prepared()[letter], TRUTH[letter])}"


def said_by(answer):
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


def judged(answer, *_):  # the sets are the same for everybody
    said = said_by(answer)
    wrong = [evidence(letter, said[letter]) for letter, word in TRUTH.items() if said[letter] != word]
    return Verdict(not wrong, wrong[0] if wrong else DIAGNOSES.right)


but = lambda letter, word: TRUTH | {letter: word}
DIAGNOSES = Record(
    by=judged,
    right=f"Right, all five. A creeps: its 4000 draws are worth about {effective(prepared()['A']):.0f}; run it longer, or in other "
    f"coordinates. In B one chain keeps to the middle: R-hat is {rhat_by_anova(prepared()['B']):.2f}, that of the distances "
    f"{folded_by_anova(prepared()['B']):.2f}; find what stops it. D keeps its way in from afar: drop the beginnings. In E each chain sees "
    "one of two places, and their common mean says only where they were started. Nothing can be said against C, which is no proof: a place "
    "that no chain has visited leaves no trace.",
    nudge="",
    hints=(
        "Look before you count: do the chains see the same values, as often as each other, at the beginning as at the end?",
        "neighbours near 1: slow. Else, folded alone high: widths; r_hat high: start if the chains cross often, apart if not.",
        "Begin with `said = {'E': 'apart'}`: two of its chains hardly see what the other two see. Six words are left for four sets.",
    ),
    mistakes={evidence(letter, word): partial(but, letter, word) for letter in TRUTH for word in WORDS if word != TRUTH[letter]},
)
TASKS = {"folded": FOLDED, "diagnoses": DIAGNOSES}
