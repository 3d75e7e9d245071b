"""The three updates of topics. Roads: an integral for mean logarithms; the log joint averaged over all assignments, and its slopes."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import digamma, log_softmax, softmax

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import telling, with_kin
from course_pkg.checks.vi._roads import assignments, blurred, mean_logs, shared
from course_pkg.checks.vi._small import beyond_all, edges


def _words_by_integrals(pi: np.ndarray, B: np.ndarray, note: np.ndarray, word: np.ndarray) -> np.ndarray:
    return shared(mean_logs(pi)[note] + mean_logs(B).T[word])


def _by_slopes(z: np.ndarray, row: Callable[..., Any], column: Callable[..., Any], shape: tuple[int, int], prior: float) -> np.ndarray:
    """A Dirichlet's log density is linear in the logs of its components, with the parameters less 1 for slopes."""

    def averaged(logs: np.ndarray) -> float:
        return sum(p * float(logs[row(one), column(one)].sum()) for one, p in assignments(z)) + (prior - 1) * float(logs.sum())

    level, out = averaged(np.zeros(shape)), np.empty(shape)
    for place in np.ndindex(shape):
        moved = np.zeros(shape)
        moved[place] = 1
        out[place] = averaged(moved) - level + 1
    return out


def _notes_by_slopes(z: np.ndarray, note: np.ndarray, alpha: float, N: int) -> np.ndarray:
    return _by_slopes(z, lambda one: note, lambda one: one, (N, z.shape[1]), alpha)


def _topics_by_slopes(z: np.ndarray, word: np.ndarray, gamma: float, V: int) -> np.ndarray:
    return _by_slopes(z, lambda one: one, lambda one: word, (z.shape[1], V), gamma)


def words_stub(pi: np.ndarray, B: np.ndarray, note: np.ndarray, word: np.ndarray) -> Any:
    raise NotImplementedError


def notes_stub(z: np.ndarray, note: np.ndarray, alpha: float, N: int) -> Any:
    raise NotImplementedError


def topics_stub(z: np.ndarray, word: np.ndarray, gamma: float, V: int) -> Any:
    raise NotImplementedError


def _psi(eta, axis=-1):
    return digamma(eta) - digamma(eta.sum(axis=axis, keepdims=True))


def _rows(x):
    return x / x.sum(axis=1, keepdims=True)


def _scored(of_note=_psi, of_word=_psi, finish=lambda s: softmax(s, axis=1)):
    return lambda pi, B, note, word: finish(of_note(pi)[note] + of_word(B).T[word])


_nothing = np.zeros_like
WORDS_MISTAKES = {
    "not normalised": Mistake(_scored(finish=np.exp), "Those are the right weights. The probabilities of the topics of a word sum to one."),
    "logarithms": Mistake(_scored(finish=lambda s: s), "Those are logarithms. Take exponentials, and let each row sum to one."),
    "means": Mistake(
        _scored(lambda p: np.log(_rows(p)), lambda b: np.log(_rows(b))),
        "You put means into Bayes' formula, for the note, for the topics or for both. The best factor has the mean of the logarithm, not "
        "the logarithm of the mean.",
    ),
    "parameters for probabilities": Mistake(
        _scored(np.log, np.log), "You multiplied parameters as if they were probabilities. What stands in the exponent is a mean logarithm."
    ),
    "normalised first": Mistake(
        _scored(lambda p: digamma(_rows(p)), lambda b: digamma(_rows(b))),
        "You divided the parameters by their sums before the digamma. The lemma holds for any sum, and the sum matters.",
    ),
    "sum of B forgotten": Mistake(
        _scored(of_word=digamma),
        "For B the second term of the mean logarithm is missing, or it has a sum over the topics and cancels. A topic is a row of B; "
        "the sum over its entries differs from topic to topic.",
    ),
    "note forgotten": Mistake(_scored(of_note=_nothing), "You left out what is known of the note's proportions."),
    "word forgotten": Mistake(_scored(of_word=_nothing), "You left out which word it is."),
    "over the words": Mistake(
        _scored(finish=lambda s: softmax(s, axis=0)),
        "Your columns sum to one. It is the topics of each word, a row, whose probabilities do.",
    ),
    "always the first note": Mistake(
        lambda pi, B, note, word: softmax(_psi(pi)[0] + _psi(B).T[word], axis=1),
        "You take the first note for all words. `note` says in which note each of them stands.",
    ),
    "most probable": Mistake(
        _scored(finish=lambda s: np.eye(s.shape[1])[s.argmax(axis=1)]), "You say which topic is the most probable. How probable is each?"
    ),
}
WORDS_AND_KIN = with_kin(
    WORDS_MISTAKES,
    {
        "logarithms": [_scored(finish=lambda s: log_softmax(s, axis=1))],
        "means": [_scored(of_note=lambda p: np.log(_rows(p))), _scored(of_word=lambda b: np.log(_rows(b)))],
    },
)
UNDERFLOW = (
    "Right for moderate parameters. For parameters of 0.001 the exponentials of all mean logarithms of a word may round to 0, and then "
    "their sum is 0, too. Take each row's largest logarithm off first, or let scipy.special.softmax do it."
)


def _table(votes, which, size):
    """Votes, shape (T, K), added up by note or by entry."""
    out = np.zeros((size, votes.shape[1]))
    np.add.at(out, which, votes)
    return out


def _last(z, which, size):
    """What `table[which] += z` does: of several votes for a row only the last one arrives."""
    out = np.zeros((size, z.shape[1]))
    out[which] += z
    return out


def _voted(change, count=_table, size=lambda which, n: n):
    return lambda z, which, prior, n: change(count(z, which, size(which, n)), prior)


def _hard(z, which, n):
    return _table(np.eye(z.shape[1])[z.argmax(axis=1)], which, n)


REPEATS = "`table[{0}] += z` adds only the last of several rows that go to the same place. `np.add.at(table, {0}, z)` adds them all."
SIZE = "Your table is as large as the data happen to need. There are {0}, also when the last of them {1}: the prior is left for it."
NOTES_MISTAKES = {
    "one too many": Mistake(
        _voted(lambda n, a: n + a + 1), "Each is too large by one: the exponent of a Dirichlet density is the parameter less one."
    ),
    "exponents": Mistake(
        _voted(lambda n, a: n + a - 1), "Those are the exponents of the density. A Dirichlet's parameters are larger by one."
    ),
    "votes of all topics": Mistake(
        _voted(lambda n, a: n.sum(1, keepdims=True) + a + 0 * n),
        "Every topic gets all votes of the note. An index k belongs to the votes: each topic gets its own.",
    ),
    "no prior": Mistake(_voted(lambda n, a: n), "You left the prior out: those are the votes."),
    "votes of all notes": Mistake(
        _voted(lambda n, a: n.sum(0) + a + 0 * n),
        "You add up the votes of all notes. Only the words of the note itself vote on its proportions.",
    ),
    "mean votes": Mistake(
        _voted(lambda n, a: n / np.maximum(n.sum(1, keepdims=True), 1e-300) + a),
        "You averaged the votes of a note. A longer note is surer: add them up.",
    ),
    "means": Mistake(_voted(lambda n, a: _rows(n + a)), "Your rows sum to one: those are means. The parameters were asked for."),
    "hard votes": Mistake(
        _voted(lambda n, a: n + a, _hard), "You gave the whole vote of a word to its most probable topic. A vote may be shared."
    ),
    "repeats lost": Mistake(_voted(lambda n, a: n + a, _last), REPEATS.format("note")),
    "size from the data": Mistake(
        _voted(lambda n, a: n + a, size=lambda note, N: int(note.max()) + 1), SIZE.format("N notes", "has no words")
    ),
    "prior shared out": Mistake(
        _voted(lambda n, a: n + a / n.shape[1]), "You divided alpha by the number of topics. Each topic has the whole of it."
    ),
}


def _turned(change, count=_table, size=lambda which, n: n):
    return lambda z, word, gamma, V: _voted(change, count, size)(z, word, gamma, V).T


TOPICS_MISTAKES = {
    "one too many": Mistake(
        _turned(lambda m, c: m + c + 1), "Each is too large by one: the exponent of a Dirichlet density is the parameter less one."
    ),
    "exponents": Mistake(
        _turned(lambda m, c: m + c - 1), "Those are the exponents of the density. A Dirichlet's parameters are larger by one."
    ),
    "votes of all topics": Mistake(
        _turned(lambda m, c: m.sum(1, keepdims=True) + c + 0 * m),
        "Every topic gets all uses of an entry. An index k belongs to the votes: each topic gets its own share.",
    ),
    "votes of all entries": Mistake(
        _turned(lambda m, c: m.sum(0) + c + 0 * m), "You add up a topic's votes over all words, whichever entry of the vocabulary they are."
    ),
    "no prior": Mistake(
        _turned(lambda m, c: m), "You left the prior out: those are the votes. An entry that was not used is not impossible."
    ),
    "means": Mistake(
        lambda *case: _rows(_turned(lambda m, c: m + c)(*case)), "Your rows sum to one: those are means. The parameters were asked for."
    ),
    "hard votes": Mistake(
        _turned(lambda m, c: m + c, _hard), "You gave the whole vote of a word to its most probable topic. A vote may be shared."
    ),
    "repeats lost": Mistake(
        _turned(lambda m, c: m + c, _last),
        "`B[:, word] += z.T` adds only the last of several votes for an entry. `np.add.at(B.T, word, z)` adds them all.",
    ),
    "size from the data": Mistake(
        _turned(lambda m, c: m + c, size=lambda word, V: int(word.max()) + 1), SIZE.format("V entries", "does not occur")
    ),
    "prior shared out": Mistake(
        _turned(lambda m, c: m + c / len(m)), "You divided gamma by the size of the vocabulary. Each entry has the whole of it."
    ),
    "once an entry": Mistake(
        _turned(lambda m, c: m / np.maximum(m.sum(1, keepdims=True), 1e-300) + c),
        "You averaged the votes of an entry. Each time that it occurs counts: add them up.",
    ),
}


def _places(rng: np.random.Generator, T: int, size: int) -> np.ndarray:
    """Where each of T words belongs, in no order; the last place stays empty."""
    return rng.permutation(np.r_[np.arange(size - 1), rng.integers(0, size - 1, T - size + 1)])


def _first_two(places: np.ndarray) -> np.ndarray:
    """The same places, but the first word belongs to place 0 and the second to place 1."""
    return np.r_[0, 1, places[2:]]


@lru_cache(maxsize=64)
def _given_tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 350])

    def draw() -> list[tuple[Any, ...]]:
        return [
            (rng.uniform(0.3, 5, (N, K)), rng.uniform(0.2, 3, (K, V)) * rng.uniform(0.5, 3, (K, 1)), _places(rng, T, N), _places(rng, T, V))
            for N, K, V, T in ((3, 2, 4, 7), (4, 3, 5, 9), (3, 4, 3, 6))
        ]

    return telling(draw, _words_by_integrals, WORDS_AND_KIN)


def words_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_tables(seed)
    nudge = "Not those. With pi = [[1, 3]], B = [[1, 1], [2, 1]], note = [0] and word = [0] they are [[0.1192, 0.8808]]."
    verdict = quiet(
        answer,
        cases,
        _words_by_integrals,
        WORDS_AND_KIN,
        right="Right. A topic that few words of the note have voted for is taken down much further than its mean proportion.",
        nudge=nudge,
    )
    more = [
        ([(*change((pi, B), 0), _first_two(note), _first_two(word)) for pi, B, note, word in cases], words)
        for change, words in edges(UNDERFLOW)
    ]
    return settled(beyond_all(verdict, answer, _words_by_integrals, more), answer, cases, words_stub, nudge)


@lru_cache(maxsize=64)
def _given_votes(seed: int, number: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, number])
    by_note = number == 351

    def draw() -> list[tuple[Any, ...]]:
        return [
            (blurred(rng, T, K), _places(rng, T, size), float(rng.uniform(0.15, 0.8)), size)
            for K, T, size in ((2, 7, 4), (3, 5, 3) if by_note else (3, 5, 4))
        ]

    if by_note:
        return telling(draw, _notes_by_slopes, NOTES_MISTAKES)
    return telling(draw, _topics_by_slopes, TOPICS_MISTAKES)


def notes_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_votes(seed, 351)
    nudge = "Not those parameters. With z = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], note = [0, 1, 0], alpha = 0.5 and N = 2 they are "
    nudge += "[[1.6, 1.4], [0.9, 1.1]]."
    verdict = quiet(
        answer,
        cases,
        _notes_by_slopes,
        NOTES_MISTAKES,
        right="Right. Each row sums to K alpha plus the number of words of its note.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, notes_stub, nudge)


def topics_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_votes(seed, 352)
    nudge = "Not those parameters. With z = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], word = [0, 1, 0], gamma = 0.5 and V = 3 they are "
    nudge += "[[1.6, 0.9, 0.5], [1.4, 1.1, 0.5]]."
    verdict = quiet(
        answer,
        cases,
        _topics_by_slopes,
        TOPICS_MISTAKES,
        right="Right. All parameters together sum to K V gamma plus the number of words: no vote is lost, none counts twice.",
        nudge=nudge,
    )
    return settled(verdict, answer, cases, topics_stub, nudge)


TASKS = (
    Task(
        "vi/lda-updates/words",
        "Three updates: the topics of the words",
        2,
        12,
        words_stub,
        (
            "Average the log joint over the proportions and the topics' words. Which two logarithms contain the topic of this word?",
            "z_lk is proportional to exp(E[log pi_ik] + E[log B_kv]), i the note and v the entry; each mean by the digamma function.",
            "Begin with `log_z = mean_log(pi)[note] + mean_log(B).T[word]`",
        ),
        WORDS_MISTAKES,
        words_verdict,
    ),
    Task(
        "vi/lda-updates/notes",
        "Three updates: the proportions of the notes",
        2,
        8,
        notes_stub,
        (
            "Average the log joint over the topics of the words: an indicator becomes a probability. What multiplies log pi_ik?",
            "(alpha - 1 + sum over the words l of note i of z_lk) log pi_ik is the log of a Dirichlet density, parameter = exponent + 1.",
            "Begin with `pi = np.full((N, z.shape[1]), float(alpha))`",
        ),
        NOTES_MISTAKES,
        notes_verdict,
    ),
    Task(
        "vi/lda-updates/topics",
        "Three updates: the words of the topics",
        2,
        8,
        topics_stub,
        (
            "As for the notes, but words are now gathered by entry of the vocabulary instead of by note.",
            "B_kv = gamma + sum over the words l that are the entry v of z_lk.",
            "Begin with `votes = np.zeros((V, z.shape[1]))`",
        ),
        TOPICS_MISTAKES,
        topics_verdict,
    ),
)
