"""Which topic. Roads: one shelf after the other; all labellings and what each costs."""

from itertools import product

import numpy as np
from scipy.special import digamma, softmax

from course_pkg.checks.record import Record


def shelf_risks(pi, C):
    """Mean cost of a word, letter by letter and shelf by shelf."""
    risk = np.zeros(pi.shape)
    for i, t, k in product(range(len(pi)), range(len(C)), range(len(C))):
        risk[i, t] += pi[i, k] / pi[i].sum() * C[k, t]
    return risk


def losses(states, p, K):
    """Every labelling, how many words it gets wrong on average, and how probable it is that it is wrong at all."""
    labels = np.array(list(product(range(K), repeat=states.shape[1])))
    wrong = (labels[:, None] != states).sum(axis=2)
    return labels, wrong @ p, (wrong > 0) @ p


def each_by_enumeration(*case):
    labels, words, _ = losses(*case)
    return labels[words.argmin()]


def whole_by_enumeration(*case):
    labels, _, whole = losses(*case)
    return labels[whole.argmin()]


def lead(values):
    """By how much the best value is better than the next."""
    return np.diff(np.sort(values, axis=-1)[..., :2])[..., 0]


def letters(rng):
    for K in 4 * (2, 3, 4, 5):
        C, pi = rng.uniform(0.5, 4, (K, K)) * (1 - np.eye(K)), rng.uniform(0.2, 5, (15, K)) * rng.uniform(0.4, 1.6, K)
        yield pi[lead(shelf_risks(pi, C)) > 0.01], C


def tables(rng):
    """Weighted rows, some of which occur more than once; rounding cannot change what is best."""
    for T, K, different in 7 * ((3, 2, 5), (4, 3, 9), (3, 4, 8), (5, 3, 9)):
        states = rng.integers(0, K, (different, T))
        states = rng.permutation(np.r_[states, states[:3], states[:1]])
        case = states, rng.dirichlet(np.full(len(states), 3.0)), K
        if all(lead(risk) > 0.01 for risk in losses(*case)[1:]):
            yield case


def neighbours(states, p, _):
    lot = np.cumsum(np.r_[False, (states[1:] != states[:-1]).any(axis=1)])
    return states[np.flatnonzero(lot == np.bincount(lot, weights=p).argmax())[0]]


SHARES, CHOICE = "shares = pi / pi.sum(axis=1, keepdims=True) -> shares =", "(shares @ C).argmin(axis=1) ->"
FILE = Record(
    minutes=8,
    cases=letters,
    reference=lambda pi, C: shelf_risks(pi, C).argmin(axis=1),
    apart=True,
    right="Right. How sure one is of the shares does not matter here, only their means: the loss is linear in them.",
    nudge="Not those shelves. With pi = [[3, 2], [4, 1]] and C = [[0, 1], [3, 0]] the shelves cost 1.2 and 0.6 a word for the first letter, "
    "0.6 and 0.8 for the second: the answer is [1, 0].",
    hints=(
        "For each letter and each shelf: what does a word of the letter cost on average, if it is filed there? Then choose.",
        "risk_it = sum over k of m_ik C_kt, with the mean share m_ik = pi[i, k] / pi[i].sum(): a parameter over the sum of its row.",
        "Begin with `shares = pi / pi.sum(axis=1, keepdims=True)`",
    ),
    mistakes={
        "You take the topic with the largest share, whatever the costs are. That is right if all mistakes cost the same.": f"{CHOICE} shares.argmax(axis=1)",
        "You turned the costs round: C[k, t] has the topic first, the shelf second.": "@ C -> @ C.T",
        "You take the shelf with the highest risk.": "argmin -> argmax",
        "You put exponentials of mean logarithms in for the shares. The loss is linear in the shares: their means are needed.": (
            lambda pi, C: (softmax(digamma(pi), axis=1) @ C).argmin(axis=1)
        ),
        "You took the parameters less one, the density's exponents. The mean share of a topic is its parameter divided by the sum.": (
            "pi -> (pi - 1)",
            f"{SHARES} pi - 1",
            f"{SHARES} np.maximum(pi - 1, 0)",
        ),
        "You look at the worst that can happen on a shelf, whatever the shares are.": f"{CHOICE} np.full(len(pi), C.max(axis=0).argmin())",
        "You add up the costs of a shelf as if all topics had the same share.": f"{CHOICE} np.full(len(pi), C.sum(axis=0).argmin())",
        "You take the topic whose share, times all that it may cost, is largest. Work out the mean cost of each shelf.": (
            f"{CHOICE} (shares * C.sum(axis=1)).argmax(axis=1)"
        ),
        "Your shelves are numbered from 1. They begin with 0.": "argmin(axis=1) -> argmin(axis=1) + 1",
        "You divided each topic's parameters by something taken over all letters, such as their sum. The mean shares of a letter are its "
        "parameters divided by their own sum, that of a row.": (
            f"{SHARES} pi / pi.sum(axis=0)",
            f"{SHARES} pi / pi.max(axis=0)",
            f"{SHARES} pi / np.linalg.norm(pi, axis=0)",
        ),
        "You choose one shelf for all letters together. Each letter has parameters, and a shelf, of its own.": (
            f"{CHOICE} np.full(len(pi), (pi.sum(axis=0) @ C).argmin())",
            f"{CHOICE} np.full(len(pi), (shares.mean(axis=0) @ C).argmin())",
        ),
    },
)
MEAN = "\nreturn np.round(p @ states).astype(int)"
NO_QUANTITY, FROM_ONE = (
    "You averaged the numbers of the topics. A topic's number is a name, not a quantity.",
    "Your topics are numbered from 1. They begin with 0.",
)
EACH = Record(
    minutes=8,
    cases=tables,
    reference=each_by_enumeration,
    right="Right. The labelling that gets the most words right may itself be improbable, or even impossible.",
    nudge="Not those topics. With states = [[0, 2], [2, 1], [1, 2], [2, 1]], p = [0.36, 0.22, 0.2, 0.22] and K = 3 they are [2, 2].",
    hints=(
        "The expected number of wrong words is a sum over words, so each word can be decided on by itself.",
        "Choose for word l the k with the largest P(z_l = k) = sum of p_s over the rows s whose entry l is k.",
        "Begin with `p @ (states == k)`, for one topic k: it has a number for each word",
    ),
    mistakes={
        "You take the most probable labelling of all words together. Here every wrong word counts by itself.": """
            rows, place = np.unique(states, axis=0, return_inverse=True)
            return rows[np.bincount(place.ravel(), weights=p).argmax()]
            """,
        "You take the row with the largest entry of p. Every wrong word counts: ask for each word which topic it has.": "\nreturn states[p.argmax()]",
        "You count rows. They are not equally probable: each has its weight in p.": "p @ -> np.ones(len(p)) @",
        "You take the least probable topic of each word.": "argmax -> argmin",
        NO_QUANTITY: MEAN,
        FROM_ONE: "argmax(axis=0) -> argmax(axis=0) + 1",
        "You give all words the same topic. Each word may have its own.": "chance.argmax(axis=0) -> np.full(len(chance.T), chance.sum(axis=1).argmax())",
        "You choose among the rows of `states`. The best labelling need not be one of them.": (
            "\nreturn states[((states[:, None] != states).sum(axis=2) @ p).argmin()]"
        ),
    },
)
LOT = "return rows[weight.argmax()] -> return states[np.flatnonzero(place.ravel() == weight.argmax())"
CODES = (
    "states @ 2 ** np.arange(len(states.T))",
    "states @ np.arange(1, len(states.T) + 1)",
    "np.sort(states, axis=1)",
    "states.sum(axis=1)",
)
WHOLE = Record(
    minutes=8,
    cases=tables,
    reference=whole_by_enumeration,
    right="Right. What is asked for is one labelling that is right from end to end, and that has to be a probable one.",
    nudge="Not those topics. With states = [[1, 0], [0, 0], [1, 1], [0, 0]], p = [0.32, 0.2, 0.28, 0.2] and K = 2 they are [0, 0].",
    hints=(
        "The loss is 0 only for the true labelling. So which one is the most probable, all words taken together?",
        "Maximise P(z) = sum of p_s over all rows s that are equal to z.",
        "Begin with `rows, place = np.unique(states, axis=0, return_inverse=True)`",
    ),
    mistakes={
        "You take the most probable topic of each word. Together they need not be probable, and here all have to be right.": (
            "\nreturn np.stack([p @ (states == k) for k in range(K)]).argmax(axis=0)"
        ),
        "You take the row with the largest entry of p. The same labelling may stand in several rows, and their weights belong together.": (
            "\nreturn states[p.argmax()]"
        ),
        "You count how often a row occurs. Add up its weights in p instead.": "weights=p -> weights=np.ones(len(p))",
        "You take the least probable labelling.": "argmax -> argmin",
        NO_QUANTITY: MEAN,
        FROM_ONE: "argmax()] -> argmax()] + 1",
        "You add up the weights of labellings that are not the same: something that you compute of a row is equal for different rows. Two "
        "rows belong together only if they agree in every word.": (
            *(f"unique(states -> unique({code} ;; {LOT}[{member}]]" for code in CODES for member in (0, -1)),
            "unique(states -> unique(np.sort(states, axis=1)",
        ),
        "You add up the weights of equal rows that stand next to each other. The same labelling may stand anywhere in `states`.": neighbours,
        "You found the place of the best labelling in the table without repeats, and took the row of `states` with that number.": "rows[weight -> states[weight",
    },
)
TASKS = {"file": FILE, "each": EACH, "whole": WHOLE}
