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


# By how much the best value is better than the next
lead = lambda values: np.diff(np.sort(values, axis=-1)[..., :2])[..., 0]


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
        "The loss is linear in the shares: take their means, not mean logarithms.": lambda pi, C: (softmax(digamma(pi), axis=1) @ C).argmin(
            axis=1
        ),
        "You took the parameters less one. A mean share is a parameter over the sum.": f"pi -> (pi - 1) || {SHARES} pi - 1 || {SHARES} np.maximum(pi - 1, 0)",
        "You weigh each share by all that it may cost. Work out the mean cost of each shelf.": f"{CHOICE} (shares * C.sum(axis=1)).argmax(axis=1)",
    },
)
MEAN = "\nreturn np.round(p @ states).astype(int)"
NO_QUANTITY = "You averaged the numbers of the topics. A topic's number is a name, not a quantity."
EACH = Record(
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
    },
)
WHOLE = Record(
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
        "You take the most probable topic of each word. Here all have to be right together.": "\nreturn np.stack([p @ (states == k) for k in range(K)]).argmax(axis=0)",
        "You take the row with the largest entry of p. Equal rows' weights belong together.": "\nreturn states[p.argmax()]",
        "You count how often a row occurs. Add up its weights in p instead.": "weights=p -> weights=np.ones(len(p))",
        "You add up the weights of equal rows that stand next to each other. The same labelling may stand anywhere in `states`.": neighbours,
        "You found the place of the best labelling in the table without repeats, and took the row of `states` with that number.": "rows[weight -> states[weight",
    },
)
TASKS = {"file": FILE, "each": EACH, "whole": WHOLE}
