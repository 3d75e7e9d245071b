"""Topics by Gibbs sampling. Roads: slopes of the log joint; sums over all assignments; gamma functions of the counts."""

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaln

from course_pkg.checks._judge import Mistake, Task, Verdict, call
from course_pkg.checks._quiet import beyond
from course_pkg.checks._settle import judged
from course_pkg.checks._tables import telling, with_kin


def _blocks_by_slopes(
    z: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, D: int, K: int, V: int
) -> tuple[np.ndarray, np.ndarray]:
    """A Dirichlet's log density is (parameter - 1) log p and so linear in log p: its slope is the parameter less 1."""

    def log_joint(log_theta: np.ndarray, log_phi: np.ndarray) -> float:
        out = (a - 1) * log_theta.sum() + (c - 1) * log_phi.sum()
        for k, d, v in zip(z, notes, words, strict=True):
            out += log_theta[d, k] + log_phi[k, v]
        return float(out)

    def slopes(at: tuple[np.ndarray, np.ndarray], which: int) -> np.ndarray:
        out = np.empty_like(at[which])
        for place in np.ndindex(out.shape):
            moved = [part.copy() for part in at]
            moved[which][place] += 1
            out[place] = log_joint(*moved) - log_joint(*at)
        return out

    start = np.full((D, K), -1.0), np.full((K, V), -1.5)
    return slopes(start, 0) + 1, slopes(start, 1) + 1


def _topics_by_enumeration(theta: np.ndarray, phi: np.ndarray, notes: np.ndarray, words: np.ndarray) -> np.ndarray:
    K = len(phi)
    total = np.zeros((len(words), K))
    for z in product(range(K), repeat=len(words)):
        chance = np.prod([theta[d, k] * phi[k, v] for k, d, v in zip(z, notes, words, strict=True)])
        for i, k in enumerate(z):
            total[i, k] += chance
    return total / total.sum(axis=1, keepdims=True)


def _log_joint(z: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, K: int, V: int) -> float:
    """The log of p(z, w) up to a constant, theta and phi integrated out."""
    n, m = np.zeros((int(notes.max()) + 1, K)), np.zeros((K, V))
    np.add.at(n, (notes, z), 1)
    np.add.at(m, (z, words), 1)
    by_note = gammaln(a + n).sum() - gammaln(K * a + n.sum(axis=1)).sum()
    return float(by_note + gammaln(c + m).sum() - gammaln(V * c + m.sum(axis=1)).sum())


def _collapsed_by_joint(i: int, z: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, K: int, V: int) -> np.ndarray:
    moved = np.repeat(np.asarray(z)[None], K, axis=0)
    moved[:, i] = np.arange(K)
    log_p = np.array([_log_joint(one, notes, words, a, c, K, V) for one in moved])
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def _drawn(p: np.ndarray, u: float) -> int:
    return int(np.sum(np.cumsum(p) <= u))


def _sweep_by_joint(
    z: np.ndarray, noise: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, K: int, V: int
) -> np.ndarray:
    z = np.array(z)
    for i, u in enumerate(noise):
        z[i] = min(_drawn(_collapsed_by_joint(i, z, notes, words, a, c, K, V), u), K - 1)
    return z


def blocks_stub(z: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, D: int, K: int, V: int) -> Any:
    raise NotImplementedError


def topics_stub(theta: np.ndarray, phi: np.ndarray, notes: np.ndarray, words: np.ndarray) -> Any:
    raise NotImplementedError


def collapsed_stub(i: int, z: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, K: int, V: int) -> Any:
    raise NotImplementedError


def sweep_stub(z: np.ndarray, noise: np.ndarray, notes: np.ndarray, words: np.ndarray, a: float, c: float, K: int, V: int) -> Any:
    raise NotImplementedError


def _counted(z, notes, words, D, K, V):
    n, m = np.zeros((D, K)), np.zeros((K, V))
    np.add.at(n, (notes, z), 1)
    np.add.at(m, (z, words), 1)
    return n, m


def _blocks(change: Callable[..., Any]) -> Callable[..., Any]:
    """Parameters from ``change(n, m, a, c)``."""

    def answer(z, notes, words, a, c, D, K, V):
        return change(*_counted(z, notes, words, D, K, V), a, c)

    return answer


SIZES = (
    "Right as long as every topic, every note and every entry occurs in the data. Some may not, and they count all the same: the sizes are "
    "those that are handed over, not the largest number in the data plus one (`np.bincount` has `minlength`)."
)


def _rows(x):
    return x / x.sum(axis=1, keepdims=True)


BLOCKS_MISTAKES = {
    "one too many": Mistake(
        _blocks(lambda n, m, a, c: (a + 1 + n, c + 1 + m)),
        "Each is too large by one. The exponent of a Dirichlet density is the parameter less one, in the prior and in the posterior.",
    ),
    "exponents": Mistake(
        _blocks(lambda n, m, a, c: (a - 1 + n, c - 1 + m)),
        "Those are the exponents of the density. A Dirichlet's parameters are larger by one.",
    ),
    "no prior": Mistake(
        _blocks(lambda n, m, a, c: (n, m)),
        "You left the priors out: those are the counts.",
    ),
    "prior alone": Mistake(
        _blocks(lambda n, m, a, c: (a + 0 * n, c + 0 * m)),
        "Those are the parameters of the priors. What have the words, with their topics, to say?",
    ),
    "priors exchanged": Mistake(
        _blocks(lambda n, m, a, c: (c + n, a + m)),
        "The priors have changed places: a belongs to the proportions of a note, c to the entries of a topic.",
    ),
    "present or not": Mistake(
        _blocks(lambda n, m, a, c: (a + (n > 0), c + (m > 0))),
        "What occurs several times is counted once. `table[i, j] += 1` with arrays i and j does that to pairs that come several times; "
        "`np.add.at(table, (i, j), 1)` counts how often.",
    ),
    "means": Mistake(
        _blocks(lambda n, m, a, c: (_rows(a + n), _rows(c + m))),
        "Your rows sum to one: those are the means of the right Dirichlets. Their parameters were asked for.",
    ),
    "topics not looked at": Mistake(
        _blocks(lambda n, m, a, c: (a + 0 * n + n.sum(axis=1, keepdims=True), c + 0 * m + m.sum(axis=0))),
        "You count all words of a note, and all occurrences of an entry, whatever their topics are.",
    ),
    "topic without its note": Mistake(
        _blocks(lambda n, m, a, c: (a + 0 * n + n.sum(axis=0), c + m)),
        "Right for phi. For theta you count a topic in all notes; only the note itself matters.",
    ),
    "prior shared out": Mistake(
        _blocks(lambda n, m, a, c: (a / n.shape[1] + n, c / m.shape[1] + m)),
        "You divided the priors' parameters by the number of components. Each component has the whole of a, or of c.",
    ),
    "exchanged": Mistake(
        _blocks(lambda n, m, a, c: (c + m, a + n)),
        "The two have changed places: the notes come first.",
    ),
    "products": Mistake(
        _blocks(lambda n, m, a, c: (a * n, c * m)),
        "You multiplied the prior's parameter by the counts. In the exponent they add up.",
    ),
}
BLOCKS_KIN = {
    "present or not": (
        _blocks(lambda n, m, a, c: (a + (n > 0), c + m)),
        _blocks(lambda n, m, a, c: (a + n, c + (m > 0))),
    )
}


def _seen(numbers: np.ndarray) -> int:
    return int(numbers.max()) + 1


def _blocks_seen(z, notes, words, a, c, *_):
    n, m = _counted(z, notes, words, _seen(notes), _seen(z), _seen(words))
    return a + n, c + m


def _weights(theta, phi, notes, words):
    return theta[notes] * phi[:, words].T


def _one_topic_a_note(theta, phi, notes, words):
    log_p = np.log(theta)
    for d, v in zip(notes, words, strict=True):
        log_p[d] = log_p[d] + np.log(phi[:, v])
    return _rows(np.exp(log_p - log_p.max(axis=1, keepdims=True)))[notes]


TOPICS_MISTAKES = {
    "not normalised": Mistake(
        _weights,
        "Those are the right weights. Probabilities of the topics of a word sum to one.",
    ),
    "over the words": Mistake(
        lambda *case: _weights(*case) / _weights(*case).sum(axis=0),
        "Your columns sum to one. It is the topics of each word, a row, whose probabilities do.",
    ),
    "all at once": Mistake(
        lambda *case: _weights(*case) / _weights(*case).sum(),
        "All your numbers together sum to one. The topics of each word should by themselves.",
    ),
    "phi alone": Mistake(
        lambda theta, phi, notes, words: _rows(phi[:, words].T),
        "You left the note's proportions out. They are the prior of the topic.",
    ),
    "theta alone": Mistake(
        lambda theta, phi, notes, words: theta[notes],
        "You left the word out. How probable is it under each topic?",
    ),
    "sum for product": Mistake(
        lambda theta, phi, notes, words: _rows(theta[notes] + phi[:, words].T),
        "You added the two probabilities. First the topic, then the word given the topic: multiply.",
    ),
    "logarithms": Mistake(
        lambda *case: np.log(_topics_by_enumeration(*case)),
        "Those are the logarithms.",
    ),
    "phi normalised first": Mistake(
        lambda theta, phi, notes, words: theta[notes] * _rows(phi[:, words].T),
        "You normalised phi over the topics, then multiplied. Multiply first, then normalise.",
    ),
    "one topic for a note": Mistake(
        _one_topic_a_note,
        "You let all words of a note have one topic. Here every word has its own, and given theta and phi the others do not matter.",
    ),
    "most probable": Mistake(
        lambda *case: np.eye(len(case[1]))[_weights(*case).argmax(axis=1)],
        "You say which topic is the most probable. How probable is each?",
    ),
    "divided": Mistake(
        lambda theta, phi, notes, words: _rows(phi[:, words].T / theta[notes]),
        "You divided by the note's proportions. A topic that is common in the note is more probable.",
    ),
    "always the first note": Mistake(
        lambda theta, phi, notes, words: _rows(theta[0] * phi[:, words].T),
        "You take the proportions of the first note for all words. `notes` says in which note each of them stands.",
    ),
}


def _collapsed(
    out: tuple[int, int, int] = (1, 1, 1),
    parts: Callable[..., Any] = lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (V * c + total),
    normalised: bool = True,
    where: Callable[..., Any] = lambda note, entry: (note, entry, slice(None)),
) -> Callable[..., Any]:
    """Counts from which the word itself may be left out: in its note, with its entry, and in the topic's total."""

    def answer(i, z, notes, words, a, c, K, V):
        mine = np.arange(K) == z[i]
        counted = [
            np.bincount(z[which], minlength=K) - leave * mine
            for which, leave in zip(where(notes == notes[i], words == words[i]), out, strict=True)
        ]
        weights = parts(*counted, a, c, K, V)
        return weights / weights.sum() if normalised else weights

    return answer


TAKE_OUT = "The word itself is among your counts and votes for the topic that it has already. Take it out before you count."
COLLAPSED_MISTAKES = {
    "not taken out": Mistake(_collapsed((0, 0, 0)), TAKE_OUT),
    "taken out of the note alone": Mistake(
        _collapsed((1, 0, 0)),
        "You took the word out of its note's counts. It still counts with its entry, and among all words of its topic.",
    ),
    "taken out of the topic alone": Mistake(
        _collapsed((0, 1, 1)),
        "You took the word out of its topic's counts. It still counts in its note.",
    ),
    "left below the bar": Mistake(
        _collapsed((1, 1, 0)),
        "Above the bar the word is taken out. Below it still counts.",
    ),
    "left above the bar": Mistake(
        _collapsed((1, 0, 1)),
        "Below the bar the word is taken out, and in its note; among the occurrences of its entry it still counts.",
    ),
    "nothing below the bar": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m)),
        "Something below the bar is missing: an entry's share in a topic depends on how many words the topic has.",
    ),
    "one c below the bar": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (c + total)),
        "Below the bar there is one c. Summed over all V entries, it is more.",
    ),
    "no c below the bar": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (total + 1e-300)),
        "Below the bar the prior is missing.",
    ),
    "K below the bar": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (K * c + total)),
        "Below the bar you sum c over topics. The sum is over the V entries.",
    ),
    "not normalised": Mistake(
        _collapsed(normalised=False),
        "Those are the right weights. Probabilities sum to one.",
    ),
    "priors exchanged": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (c + n) * (a + m) / (V * a + total)),
        "The priors have changed places: a belongs to the proportions of a note, c to the entries of a topic.",
    ),
    "word forgotten": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: a + n),
        "You left out how often each topic has this entry.",
    ),
    "a forgotten": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (n + 1e-300) * (c + m) / (V * c + total)),
        "The prior of the note's proportions, a, is missing. A topic that the note does not have yet may still come.",
    ),
    "entry in the note alone": Mistake(
        _collapsed(where=lambda note, entry: (note, note & entry, slice(None))),
        "You count how often each topic has the entry within the note. Its words in all notes count there.",
    ),
    "note below the bar": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (V * c + n)),
        "Below the bar you count the words of the note. It is all words of the topic, in all notes, that count there.",
    ),
    "note forgotten": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (c + m) / (V * c + total)),
        "You left out how often each topic occurs in this note.",
    ),
    "all notes": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + total) * (c + m) / (V * c + total)),
        "You count the topics of all notes in the first factor. Only the note of this word matters there.",
    ),
    "one too many": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (a + 1 + n) * (c + 1 + m) / (V * (c + 1) + total)),
        "Your prior parameters are too large by one. The exponent of a Dirichlet density is the parameter less one.",
    ),
    "no prior": Mistake(
        _collapsed(parts=lambda n, m, total, a, c, K, V: (n + 1e-300) * (m + 1e-300) / (total + 1e-300)),
        "You left the priors out. A topic that is not there yet may still come.",
    ),
}


def _collapsed_seen(i, z, notes, words, a, c, *_):
    return _collapsed_by_joint(i, z, notes, words, a, c, _seen(z), _seen(words))


def _swept(
    chances: Callable[..., Any] = _collapsed_by_joint,
    fresh: bool = True,
    order: Callable[..., Any] = lambda notes: range(len(notes)),
    draw: Callable[..., int] = _drawn,
) -> Callable[..., Any]:
    def answer(z, noise, notes, words, a, c, K, V):
        old, new = np.array(z), np.array(z)
        for i in order(notes):
            new[i] = min(draw(chances(i, new if fresh else old, notes, words, a, c, K, V), noise[i]), K - 1)
        return new

    return answer


def _left_out(words: slice) -> Callable[..., Any]:
    """A right sweep after which some words have their old topics."""

    def answer(z, *rest):
        new = _sweep_by_joint(z, *rest)
        new[words] = z[words]
        return new

    return answer


def _sweep_seen(topics: bool, entries: bool) -> Callable[..., Any]:
    """A right sweep with sizes that are read off the data before it begins."""

    def answer(z, noise, notes, words, a, c, K, V):
        return _sweep_by_joint(z, noise, notes, words, a, c, _seen(z) if topics else K, _seen(words) if entries else V)

    return answer


def _collapsed_seen_topics(i, z, notes, words, a, c, _, V):
    return _collapsed_by_joint(i, z, notes, words, a, c, _seen(z), V)


SWEEP_MISTAKES = {
    "not taken out": Mistake(_swept(_collapsed((0, 0, 0))), TAKE_OUT),
    "old values": Mistake(
        _swept(fresh=False),
        "You draw every word given the old topics of all others. In a sweep each new topic is used at once.",
    ),
    "backwards": Mistake(
        _swept(order=lambda notes: range(len(notes))[::-1]),
        "You begin with the last word. Begin with the first.",
    ),
    "from the other end": Mistake(
        _swept(draw=lambda p, u: _drawn(p, 1 - u)),
        "You compare with one less the noise. Topic 0 is taken if its probability is above the noise.",
    ),
    "not normalised": Mistake(
        _swept(_collapsed(normalised=False)),
        "Your weights do not sum to one, and the noise lies between 0 and 1.",
    ),
    "most probable": Mistake(
        _swept(draw=lambda p, u: int(np.argmax(p))),
        "You take the most probable topic, whatever the noise is. Draw it.",
    ),
    "no cumulation": Mistake(
        _swept(draw=lambda p, u: int(np.argmax(p > u))),
        "You compare the noise with the probability of each topic by itself. Add up the probabilities of the topics so far.",
    ),
    "one further": Mistake(
        _swept(draw=lambda p, u: _drawn(p, u) + 1),
        "Your topics are one too large where there is room. They are numbered from 0.",
    ),
    "uniform": Mistake(
        _swept(lambda i, z, notes, words, a, c, K, V: np.full(K, 1 / K)),
        "You give all topics the same chance.",
    ),
    "only the first": Mistake(
        lambda z, noise, notes, words, a, c, K, V: np.r_[
            _sweep_by_joint(z[:1], noise[:1], notes[:1], words[:1], a, c, K, V) * 0
            + _drawn(_collapsed_by_joint(0, z, notes, words, a, c, K, V), noise[0]),
            z[1:],
        ],
        "Only the first word is drawn anew. Does your `return` stand within the loop?",
    ),
    "nothing": Mistake(
        lambda z, *rest: z,
        "You hand back the topics that you were given.",
    ),
    "note's proportions": Mistake(
        _swept(_collapsed(parts=lambda n, m, total, a, c, K, V: a + n)),
        "You draw by the topics of the note alone. How often each topic has this entry counts, too.",
    ),
    "one noise": Mistake(
        lambda z, noise, *rest: _swept()(z, np.full(len(z), noise[0]), *rest),
        "You use the first noise for all words. Word i has noise[i].",
    ),
    "all but the last": Mistake(
        _left_out(slice(-1, None)),
        "The last word keeps its topic. A sweep goes from word 0 to word N - 1.",
    ),
    "note by note": Mistake(
        _swept(order=lambda notes: np.argsort(notes, kind="stable").tolist()),
        "You go from note to note. The words of a note need not stand together: go in the order of their numbers.",
    ),
    "always topic 0": Mistake(
        lambda z, *rest: 0 * np.asarray(z),
        "Your words all get topic 0. Of the topics, take the first for which the probabilities so far exceed the noise.",
    ),
    "sizes from the data": Mistake(
        _swept(_collapsed_seen),
        "A topic or an entry that does not occur at the moment is forgotten, so that a topic never comes back: your sweep, or the "
        "`collapsed` that it calls, takes the sizes from the data. They are handed over, K and V.",
    ),
}
SWEEP_KIN = {"sizes from the data": (_sweep_seen(True, False), _sweep_seen(False, True), _swept(_collapsed_seen_topics))}
OTHER_SWEEPS = [
    _left_out(slice(0, 1)),
    _left_out(slice(1, None, 2)),
    lambda z, *rest: _sweep_by_joint(_sweep_by_joint(z, *rest), *rest),
    _swept(_collapsed(parts=lambda n, m, total, a, c, K, V: (a + n) * (c + m))),
    *(_swept(_collapsed(out)) for out in ((1, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1))),
]


def _corpus(rng: np.random.Generator, D: int, K: int, V: int, N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topics, notes and entries of N words, in no order, all in use. Larger sizes than these may be handed over with them."""
    z, notes, words = (rng.permutation(np.r_[np.arange(n), rng.integers(0, n, N - n)]) for n in (K, D, V))
    return z, notes, words


@lru_cache(maxsize=64)
def _given_topics(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 260])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (*_corpus(rng, D, K, V, N), float(rng.uniform(1.2, 1.8)), float(rng.uniform(0.3, 0.8)), D, K, V)
            for D, K, V, N in ((3, 2, 4, 12), (2, 3, 5, 15))
        ]

    return telling(draw, _blocks_by_slopes, with_kin(BLOCKS_MISTAKES, BLOCKS_KIN))


def _rare(seed: int) -> tuple[np.random.Generator, float, float]:
    """For data in which the last topic, the last note and the last entry do not occur."""
    rng = np.random.default_rng([seed, 264])
    return rng, float(rng.uniform(1.2, 1.8)), float(rng.uniform(0.3, 0.8))


def blocks_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = judged(
        answer,
        _given_topics(seed),
        _blocks_by_slopes,
        with_kin(BLOCKS_MISTAKES, BLOCKS_KIN),
        stub=blocks_stub,
        right="Right. Given the topics, the words say nothing about theta, and the notes nothing about phi.",
        nudge="Not those parameters. With z = [0, 1, 1], notes = [0, 0, 1], words = [2, 0, 0], a = 0.5, c = 2, D = 2, K = "
        "2 and V = 3 those "
        "of theta are [[1.5, 1.5], [0.5, 1.5]] and those of phi [[2, 2, 3], [4, 2, 2]].",
        parts=("the table for theta", "the table for phi"),
    )
    rng, a, c = _rare(seed)
    return beyond(verdict, answer, [(*_corpus(rng, 2, 2, 4, 9), a, c, 3, 3, 5)], _blocks_by_slopes, SIZES)


@lru_cache(maxsize=64)
def _given_the_rest(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 261])

    def draw() -> list[tuple[Any, ...]]:
        cases: list[tuple[Any, ...]] = []
        for D, K, V, N in ((3, 2, 4, 6), (2, 3, 5, 5)):
            theta, phi = rng.dirichlet(np.full(K, 2.0), D), rng.dirichlet(np.full(V, 1.5), K)
            cases.append((theta, phi, *_corpus(rng, D, K, V, N)[1:]))
        return cases

    return telling(draw, _topics_by_enumeration, TOPICS_MISTAKES)


def topics_verdict(answer: Any, seed: int = 0) -> Verdict:
    return judged(
        answer,
        _given_the_rest(seed),
        _topics_by_enumeration,
        TOPICS_MISTAKES,
        stub=topics_stub,
        right="Right. All words can be drawn at the same time: given theta and phi they are independent.",
        nudge="Not those probabilities. With theta = [[0.5, 0.5], [0.9, 0.1]], phi = [[0.2, 0.8], [0.6, 0.4]], notes = [0, 1] and words = "
        "[0, 0] they are [[0.25, 0.75], [0.75, 0.25]].",
    )


@lru_cache(maxsize=64)
def _words(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 262])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (int(rng.integers(N)), *_corpus(rng, D, K, V, N), float(rng.uniform(0.9, 1.8)), float(rng.uniform(0.2, 0.6)), K, V)
            for D, K, V, N in ((3, 2, 4, 12), (2, 3, 5, 15), (2, 3, 4, 9), (3, 4, 2, 14))
        ]

    def clear(i: int, *corpus: Any) -> bool:
        return bool(np.sum(corpus[1] == corpus[1][i]) > 1)

    return telling(draw, _collapsed_by_joint, COLLAPSED_MISTAKES, clear=clear)


def collapsed_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = judged(
        answer,
        _words(seed),
        _collapsed_by_joint,
        COLLAPSED_MISTAKES,
        stub=collapsed_stub,
        right="Right. The topic that the word has now plays no part, as it must be: it is about to be drawn.",
        nudge="Not those probabilities. With i = 0, z = [1, 1, 1, 0], notes = [0, 0, 0, 1], words = [2, 2, 0, 1], a = 1, c "
        "= 0.5, K = 2 and "
        "V = 3 the weights are 1 * 0.5 / 2.5 and 3 * 1.5 / 3.5, and the probabilities 0.135 and 0.865.",
    )
    rng, a, c = _rare(seed)
    return beyond(verdict, answer, [(4, *_corpus(rng, 3, 2, 4, 9), a, c, 3, 8)], _collapsed_by_joint, SIZES)


def _clear(z: Any, noise: Any, *rest: Any) -> bool:
    """No noise lies so near to a boundary that rounding decides."""
    z = np.array(z)
    for i, u in enumerate(noise):
        p = _collapsed_by_joint(i, z, *rest)
        if np.abs(np.cumsum(p) - u).min() < 1e-3:
            return False
        z[i] = _drawn(p, u)
    return True


@lru_cache(maxsize=64)
def _sweeps(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 263])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (z, rng.uniform(0.02, 0.98, N), notes, words, float(rng.uniform(0.6, 1.4)), float(rng.uniform(0.2, 0.6)), K, V)
            for D, K, V, N in ((3, 3, 4, 14), (2, 2, 4, 12), (2, 3, 5, 14))
            for z, notes, words in [_corpus(rng, D, K, V, N)]
        ] + [(z, rng.uniform(0.02, 0.98, 12), notes, words, 1.0, 0.4, 3, 8) for z, notes, words in [_corpus(rng, 2, 1, 4, 12)]]

    return telling(draw, _sweep_by_joint, with_kin(SWEEP_MISTAKES, SWEEP_KIN), clear=_clear, others=OTHER_SWEEPS)


def sweep_verdict(answer: Any, seed: int = 0) -> Verdict:
    verdict = judged(
        answer,
        _sweeps(seed),
        _sweep_by_joint,
        with_kin(SWEEP_MISTAKES, SWEEP_KIN),
        stub=sweep_stub,
        right="Right. Each word was drawn given all others, with the new topics of those before it and the old ones of those after it.",
        nudge="Not those topics. With z = [0, 0, 1], noise = [0.5, 0.7, 0.3], notes = [0, 0, 1], words = [0, 1, 0], a = 1, c = 0.5, "
        "K = 2 and V = 2 topic 0 has probability 0.4, then 0.6, then 0.5, and the topics are [1, 1, 0].",
    )
    if verdict.passed and any(np.asarray(call(answer, *case)).dtype.kind == "f" for case in _sweeps(seed)):
        return Verdict(
            False, "The right topics, but as floating-point numbers. They are to count with (`np.bincount`): integers, like `z`."
        )
    return verdict


TASKS = (
    Task(
        "mcmc/gibbs-topics/blocks",
        "Topics: proportions and entries, given the topics",
        2,
        8,
        blocks_stub,
        (
            "Two tables of counts: how often each topic occurs in each note, and how often each entry has each topic.",
            "The log joint has (a - 1 + n_dk) log theta_dk, and a Dirichlet with parameter b has (b - 1) log theta.",
            "Begin with `theta = np.full((D, K), float(a))`",
        ),
        BLOCKS_MISTAKES | {"sizes from the data": Mistake(_blocks_seen, SIZES)},
        blocks_verdict,
    ),
    Task(
        "mcmc/gibbs-topics/topics",
        "Topics: the topic of each word, given the rest",
        2,
        6,
        topics_stub,
        (
            "Bayes' formula for each word. The note's proportions are the prior of its topic.",
            "P(z_i = k) is proportional to theta_dk phi_kv, where d is the note of word i and v the word.",
            "Begin with `prior = theta[notes]`, which has a row for each word, as the result does",
        ),
        TOPICS_MISTAKES,
        topics_verdict,
    ),
    Task(
        "mcmc/gibbs-topics/collapsed",
        "Topics: one word, with proportions and words integrated out",
        2,
        12,
        collapsed_stub,
        (
            "What would the other words make you expect? Given them, theta and phi have Dirichlet posteriors, and those have means.",
            "Weight of k: (a + n_dk) (c + m_kv) / (V c + sum over v' of m_kv'), where all counts are over the words other than i.",
            "Begin with `others = np.arange(len(z)) != i`",
        ),
        COLLAPSED_MISTAKES | {"sizes from the data": Mistake(_collapsed_seen, SIZES)},
        collapsed_verdict,
    ),
    Task(
        "mcmc/gibbs-topics/sweep",
        "Topics: a sweep of the collapsed sampler",
        2,
        8,
        sweep_stub,
        (
            "Go from word to word. What Part 3 says of a word has to be asked when the words before it have their new topics.",
            "z_i = number of k with p_0 + ... + p_k <= u_i, where p is computed from the topics as they are at that moment.",
            "Begin with `z = np.array(z)`",
        ),
        SWEEP_MISTAKES,
        sweep_verdict,
    ),
)
