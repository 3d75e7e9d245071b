"""Which topic. Roads: one shelf after the other; all labellings and what each costs."""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import digamma, softmax

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import telling, with_kin


def _risks(pi: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Mean cost of a word, letter by letter and shelf by shelf."""
    risk = np.zeros(pi.shape)
    for i, t, k in product(range(len(pi)), range(len(C)), range(len(C))):
        risk[i, t] += pi[i, k] / pi[i].sum() * C[k, t]
    return risk


def _file_by_shelves(pi: np.ndarray, C: np.ndarray) -> np.ndarray:
    return np.array([min(range(len(C)), key=lambda t, row=row: row[t]) for row in _risks(pi, C)])  # type: ignore[misc]


def _losses(states: np.ndarray, p: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every labelling, how many words it gets wrong on average, and how probable it is that it is wrong at all."""
    labels = np.array(list(product(range(K), repeat=states.shape[1])))
    wrong = (labels[:, None] != states).sum(axis=2)
    return labels, wrong @ p, (wrong > 0) @ p


def _each_by_enumeration(states: np.ndarray, p: np.ndarray, K: int) -> np.ndarray:
    labels, words, _ = _losses(states, p, K)
    return labels[words.argmin()]


def _whole_by_enumeration(states: np.ndarray, p: np.ndarray, K: int) -> np.ndarray:
    labels, _, whole = _losses(states, p, K)
    return labels[whole.argmin()]


def file_stub(pi: np.ndarray, C: np.ndarray) -> Any:
    raise NotImplementedError


def each_stub(states: np.ndarray, p: np.ndarray, K: int) -> Any:
    raise NotImplementedError


def whole_stub(states: np.ndarray, p: np.ndarray, K: int) -> Any:
    raise NotImplementedError


def _rows(x):
    return x / x.sum(axis=1, keepdims=True)


FILE_MISTAKES = {
    "largest share": Mistake(
        lambda pi, C: pi.argmax(axis=1),
        "You take the topic with the largest share, whatever the costs are. That is right if all mistakes cost the same.",
    ),
    "costs turned": Mistake(
        lambda pi, C: (pi @ C.T).argmin(axis=1), "You turned the costs round: C[k, t] has the topic first, the shelf second."
    ),
    "dearest": Mistake(lambda pi, C: (pi @ C).argmax(axis=1), "You take the shelf with the highest risk."),
    "mean logarithms": Mistake(
        lambda pi, C: (softmax(digamma(pi), axis=1) @ C).argmin(axis=1),
        "You put exponentials of mean logarithms in for the shares. The loss is linear in the shares: their means are needed.",
    ),
    "modes": Mistake(
        lambda pi, C: ((pi - 1) @ C / (pi - 1).sum(axis=1, keepdims=True)).argmin(axis=1),
        "You took the parameters less one, the density's exponents. The mean share of a topic is its parameter divided by the sum.",
    ),
    "worst case": Mistake(
        lambda pi, C: np.full(len(pi), C.max(axis=0).argmin()), "You look at the worst that can happen on a shelf, whatever the shares are."
    ),
    "shares ignored": Mistake(
        lambda pi, C: np.full(len(pi), C.sum(axis=0).argmin()), "You add up the costs of a shelf as if all topics had the same share."
    ),
    "share that costs most": Mistake(
        lambda pi, C: (_rows(pi) * C.sum(axis=1)).argmax(axis=1),
        "You take the topic whose share, times all that it may cost, is largest. Work out the mean cost of each shelf.",
    ),
    "from one": Mistake(lambda pi, C: (pi @ C).argmin(axis=1) + 1, "Your shelves are numbered from 1. They begin with 0."),
    "over the letters": Mistake(
        lambda pi, C: (pi / pi.sum(axis=0) @ C).argmin(axis=1),
        "You divided each topic's parameters by something taken over all letters, such as their sum. The mean shares of a letter are its "
        "parameters divided by their own sum, that of a row.",
    ),
    "one shelf for all": Mistake(
        lambda pi, C: np.full(len(pi), (pi.sum(axis=0) @ C).argmin()),
        "You choose one shelf for all letters together. Each letter has parameters, and a shelf, of its own.",
    ),
}
FILE_AND_KIN = with_kin(
    FILE_MISTAKES,
    {
        "modes": [lambda pi, C: ((pi - 1) @ C).argmin(axis=1), lambda pi, C: (np.maximum(pi - 1, 0) @ C).argmin(axis=1)],
        "over the letters": [
            lambda pi, C: (pi / pi.max(axis=0) @ C).argmin(axis=1),
            lambda pi, C: (pi / np.linalg.norm(pi, axis=0) @ C).argmin(axis=1),
        ],
        "one shelf for all": [lambda pi, C: np.full(len(pi), (_rows(pi).mean(axis=0) @ C).argmin())],
    },
)
OTHER_FILES = (
    lambda pi, C: (pi**2 @ C).argmin(axis=1),
    lambda pi, C: (np.sqrt(pi) @ C).argmin(axis=1),
    lambda pi, C: (pi @ C**2).argmin(axis=1),
    lambda pi, C: (pi @ (C / C.sum(axis=1, keepdims=True))).argmin(axis=1),
)


def _chances(states, p, K):
    return np.stack([p @ (states == k) for k in range(K)], axis=1)


def _merged(states, p):
    rows, place = np.unique(states, axis=0, return_inverse=True)
    return rows, np.bincount(place.ravel(), weights=p)


def _each(states, p, K):
    return _chances(states, p, K).argmax(axis=1)


def _joint(states, p, pick=np.argmax):
    rows, chance = _merged(states, p)
    return rows[pick(chance)]


HEAVIEST = "You take the row with the largest entry of p."
EACH_MISTAKES = {
    "the whole": Mistake(
        lambda states, p, K: _joint(states, p),
        "You take the most probable labelling of all words together. Here every wrong word counts by itself.",
    ),
    "heaviest row": Mistake(
        lambda states, p, K: states[p.argmax()], f"{HEAVIEST} Every wrong word counts: ask for each word which topic it has."
    ),
    "weights forgotten": Mistake(
        lambda states, p, K: _each(states, np.ones(len(p)), K), "You count rows. They are not equally probable: each has its weight in p."
    ),
    "rarest": Mistake(lambda states, p, K: _chances(states, p, K).argmin(axis=1), "You take the least probable topic of each word."),
    "mean rounded": Mistake(
        lambda states, p, K: np.round(p @ states).astype(int),
        "You averaged the numbers of the topics. A topic's number is a name, not a quantity.",
    ),
    "from one": Mistake(lambda states, p, K: _each(states, p, K) + 1, "Your topics are numbered from 1. They begin with 0."),
    "one topic for all": Mistake(
        lambda states, p, K: np.full(states.shape[1], _chances(states, p, K).sum(axis=0).argmax()),
        "You give all words the same topic. Each word may have its own.",
    ),
    "listed rows": Mistake(
        lambda states, p, K: states[((states[:, None] != states).sum(axis=2) @ p).argmin()],
        "You choose among the rows of `states`. The best labelling need not be one of them.",
    ),
}


def _pooled(code, member=0):
    """Rows with the same code are taken for the same labelling; of the heaviest lot, one row."""

    def answer(states, p, _):
        _, lot = np.unique(code(states), axis=0, return_inverse=True)
        return states[np.flatnonzero(lot.ravel() == np.bincount(lot.ravel(), weights=p).argmax())[member]]

    return answer


def _powers(base):
    return lambda states: states @ base ** np.arange(states.shape[1])


def _once(states, p, K):
    """Each labelling with the weight of the first row that it has."""
    rows, first = np.unique(states, axis=0, return_index=True)
    return rows, p[first], K


def _runs(states, p, _):
    lot = np.cumsum(np.r_[False, (states[1:] != states[:-1]).any(axis=1)])
    return states[np.flatnonzero(lot == np.bincount(lot, weights=p).argmax())[0]]


WHOLE_MISTAKES = {
    "word by word": Mistake(
        lambda states, p, K: _each(states, p, K),
        "You take the most probable topic of each word. Together they need not be probable, and here all have to be right.",
    ),
    "heaviest row": Mistake(
        lambda states, p, K: states[p.argmax()],
        f"{HEAVIEST} The same labelling may stand in several rows, and their weights belong together.",
    ),
    "most frequent row": Mistake(
        lambda states, p, K: _joint(states, np.ones(len(p))), "You count how often a row occurs. Add up its weights in p instead."
    ),
    "rarest": Mistake(lambda states, p, K: _joint(states, p, np.argmin), "You take the least probable labelling."),
    "mean rounded": Mistake(
        lambda states, p, K: np.round(p @ states).astype(int),
        "You averaged the numbers of the topics. A topic's number is a name, not a quantity.",
    ),
    "from one": Mistake(lambda states, p, K: _joint(states, p) + 1, "Your topics are numbered from 1. They begin with 0."),
    "lots too large": Mistake(
        _pooled(_powers(2)),
        "You add up the weights of labellings that are not the same: something that you compute of a row is equal for different rows. Two "
        "rows belong together only if they agree in every word.",
    ),
    "neighbours": Mistake(
        _runs, "You add up the weights of equal rows that stand next to each other. The same labelling may stand anywhere in `states`."
    ),
    "another table": Mistake(
        lambda states, p, K: states[_merged(states, p)[1].argmax()],
        "You found the place of the best labelling in the table without repeats, and took the row of `states` with that number.",
    ),
}
WHOLE_AND_KIN = with_kin(
    WHOLE_MISTAKES,
    {
        "lots too large": [
            _pooled(_powers(2), -1),
            *(_pooled(lambda states: states @ np.arange(1, states.shape[1] + 1), member) for member in (0, -1)),
            *(_pooled(lambda states: np.sort(states, axis=1), member) for member in (0, -1)),
            *(_pooled(lambda states: states.sum(axis=1), member) for member in (0, -1)),
            lambda states, p, K: _joint(np.sort(states, axis=1), p),
        ]
    },
)

OTHER_EACHES = (
    lambda states, p, K: _each(states, p**2, K),
    lambda states, p, K: _each(*_once(states, p, K)),
    lambda states, p, K: _each(*_once(states, np.ones(len(p)), K)),
)
OTHER_WHOLES = (
    lambda states, p, K: _joint(states, p**2),
    lambda states, p, K: states[(states != _each(states, p, K)).sum(axis=1).argmin()],
    lambda states, p, K: states[((states[:, None] != states).sum(axis=2) @ p).argmin()],
    lambda states, p, K: (rows := _once(states, p, K))[0][rows[1].argmax()],
    lambda states, p, K: states[0],
    lambda states, p, K: states[((states - p @ states) ** 2).sum(axis=1).argmin()],
    lambda states, p, K: states[np.abs(states - p @ states).sum(axis=1).argmin()],
)


def _apart(values: np.ndarray) -> bool:
    """Along the last axis the best value is better than the next by more than rounding could be."""
    ordered = np.sort(values, axis=-1)
    return bool(np.all(ordered[..., 1] - ordered[..., 0] > 0.01))


@lru_cache(maxsize=64)
def _given_notes(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 370])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (rng.uniform(0.2, 5, (10, K)) * rng.uniform(0.4, 1.6, K), rng.uniform(0.5, 4, (K, K)) * (1 - np.eye(K))) for K in (2, 3, 4, 5)
        ]

    return telling(draw, _file_by_shelves, FILE_AND_KIN, lambda pi, C: _apart(_risks(pi, C)), OTHER_FILES)


def file_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_notes(seed)
    nudge = (
        "Not those shelves. With pi = [[3, 2], [4, 1]] and C = [[0, 1], [3, 0]] the shelves cost 1.2 and 0.6 a word for the first letter, "
        "0.6 and 0.8 for the second: the answer is [1, 0]."
    )
    verdict = quiet(
        answer,
        cases,
        _file_by_shelves,
        FILE_AND_KIN,
        right="Right. How sure one is of the shares does not matter here, only their means: the loss is linear in them.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, file_stub, nudge)


def _rows_of(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Weighted rows, some of which occur more than once."""
    cases: list[tuple[Any, ...]] = []
    for T, K, different in ((3, 2, 5), (4, 3, 9), (3, 4, 8), (5, 3, 9)):
        states = rng.integers(0, K, (different, T))
        states = rng.permutation(np.r_[states, states[:3], states[:1]])
        cases.append((states, rng.dirichlet(np.full(len(states), 3.0)), K))
    return cases


def _clear(states: np.ndarray, p: np.ndarray, K: int) -> bool:
    _, words, whole = _losses(states, p, K)
    return _apart(words) and _apart(whole)


@lru_cache(maxsize=64)
def _given_rows(seed: int, number: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, number])
    if number == 371:
        return telling(lambda: _rows_of(rng), _each_by_enumeration, EACH_MISTAKES, _clear, OTHER_EACHES)
    return telling(lambda: _rows_of(rng), _whole_by_enumeration, WHOLE_AND_KIN, _clear, OTHER_WHOLES)


def each_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_rows(seed, 371)
    nudge = "Not those topics. With states = [[0, 2], [2, 1], [1, 2], [2, 1]], p = [0.36, 0.22, 0.2, 0.22] and K = 3 they are [2, 2]."
    verdict = quiet(
        answer,
        cases,
        _each_by_enumeration,
        EACH_MISTAKES,
        right="Right. The labelling that gets the most words right may itself be improbable, or even impossible.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, each_stub, nudge)


def whole_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_rows(seed, 372)
    nudge = "Not those topics. With states = [[1, 0], [0, 0], [1, 1], [0, 0]], p = [0.32, 0.2, 0.28, 0.2] and K = 2 they are [0, 0]."
    verdict = quiet(
        answer,
        cases,
        _whole_by_enumeration,
        WHOLE_AND_KIN,
        right="Right. What is asked for is one labelling that is right from end to end, and that has to be a probable one.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, whole_stub, nudge)


TASKS = (
    Task(
        "vi/which-topic/file",
        "Which topic: a shelf for each letter",
        1,
        8,
        file_stub,
        (
            "For each letter and each shelf: what does a word of the letter cost on average, if it is filed there? Then choose.",
            "risk_it = sum over k of m_ik C_kt, with the mean share m_ik = pi[i, k] / pi[i].sum(): a parameter over the sum of its row.",
            "Begin with `shares = pi / pi.sum(axis=1, keepdims=True)`",
        ),
        FILE_MISTAKES,
        file_verdict,
    ),
    Task(
        "vi/which-topic/each",
        "Which topic: as few wrong words as possible",
        1,
        8,
        each_stub,
        (
            "The expected number of wrong words is a sum over words, so each word can be decided on by itself.",
            "Choose for word l the k with the largest P(z_l = k) = sum of p_s over the rows s whose entry l is k.",
            "Begin with `p @ (states == k)`, for one topic k: it has a number for each word",
        ),
        EACH_MISTAKES,
        each_verdict,
    ),
    Task(
        "vi/which-topic/whole",
        "Which topic: everything right or nothing",
        1,
        8,
        whole_stub,
        (
            "The loss is 0 only for the true labelling. So which one is the most probable, all words taken together?",
            "Maximise P(z) = sum of p_s over all rows s that are equal to z.",
            "Begin with `rows, place = np.unique(states, axis=0, return_inverse=True)`",
        ),
        WHOLE_MISTAKES,
        whole_verdict,
    ),
)
