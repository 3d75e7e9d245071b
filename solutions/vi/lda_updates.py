"""The three updates of topics. Roads: an integral for mean logarithms; the log joint averaged over all assignments, and its slopes."""

import numpy as np

from course_pkg.checks.record import Record
from solutions.vi._tools import assignments, edge, edges, mean_logs, shared

words_by_integrals = lambda pi, B, note, word: shared(mean_logs(pi)[note] + mean_logs(B).T[word])


def by_slopes(z, row, column, shape, prior):
    """A Dirichlet's log density is linear in the logs of its components, with the parameters less 1 for slopes."""

    def averaged(logs):
        return sum(p * logs[row(one), column(one)].sum() for one, p in assignments(z)) + (prior - 1) * logs.sum()

    slopes = [averaged(one.reshape(shape)) - averaged(np.zeros(shape)) for one in np.eye(shape[0] * shape[1])]
    return np.reshape(slopes, shape) + 1


notes_by_slopes = lambda z, note, alpha, N: by_slopes(z, lambda one: note, lambda one: one, (N, z.shape[1]), alpha)
topics_by_slopes = lambda z, word, gamma, V: by_slopes(z, lambda one: one, lambda one: word, (z.shape[1], V), gamma)
# Where each of T words belongs, in no order; the last place stays empty
places = lambda rng, T, size: rng.permutation(np.r_[np.arange(size - 1), rng.integers(0, size - 1, T - size + 1)])


def tables(rng):
    for N, K, V, T in ((3, 2, 4, 7), (4, 3, 5, 9), (3, 4, 3, 6)):
        B = rng.uniform(0.2, 3, (K, V)) * rng.uniform(0.5, 3, (K, 1))
        yield rng.uniform(0.3, 5, (N, K)), B, places(rng, T, N), places(rng, T, V)


# The first word is the first entry of the first note
near_zero = lambda rng, kind: [(*edge(kind, pi, B, 0), np.r_[0, 1, note[2:]], np.r_[0, 1, word[2:]]) for pi, B, note, word in tables(rng)]


def votes(rng, sizes):
    """Probabilities of the topics of a few words, none of them sure."""
    for K, T, size in sizes:
        yield 0.06 + (1 - 0.06 * K) * rng.dirichlet(np.ones(K), T), places(rng, T, size), rng.uniform(0.15, 0.8), size


WORDS = Record(
    cases=tables,
    reference=words_by_integrals,
    right="Right. A topic that few words of the note have voted for is taken down much further than its mean proportion.",
    nudge="Not those. With pi = [[1, 3]], B = [[1, 1], [2, 1]], note = [0] and word = [0] they are [[0.1192, 0.8808]].",
    hints=(
        "Average the log joint over the proportions and the topics' words. Which two logarithms contain the topic of this word?",
        "z_lk is proportional to exp(E[log pi_ik] + E[log B_kv]), i the note and v the entry; each mean by the digamma function.",
        "Begin with `log_z = mean_log(pi)[note] + mean_log(B).T[word]`",
    ),
    mistakes={
        "Those are the right weights. The probabilities of the topics of a word sum to one.": "softmax(log_z, axis=1) -> np.exp(log_z)",
        "You put means into Bayes' formula. The best factor has the mean of the logarithm, not the logarithm of the mean.": "mean_log(pi) -> np.log(pi / pi.sum(axis=1, keepdims=True)) ;; mean_log(B) -> np.log(B / B.sum(axis=1, keepdims=True))",
        "You multiplied parameters as if they were probabilities. What stands in the exponent is a mean logarithm.": "mean_log -> np.log",
        "For B the second term of the mean logarithm is missing. A topic is a row, and its sum is the topic's own.": "mean_log(B) -> digamma(B)",
    },
    later=edges(
        near_zero,
        "Right for moderate parameters. For parameters of 0.001 the exponentials of all mean logarithms of a word may round to 0, and then "
        "their sum is 0, too. Take each row's largest logarithm off first, or let scipy.special.softmax do it.",
        "softmax(log_z -> softmax(np.maximum(log_z, -100)",
        "softmax(log_z, axis=1) -> np.exp(log_z) / np.exp(log_z).sum(axis=1, keepdims=True)",
        """
        a, b = mean_log(pi)[note], mean_log(B).T[word]
        z = np.exp(a - a.max(axis=1, keepdims=True)) * np.exp(b - b.max(axis=1, keepdims=True))
        return z / z.sum(axis=1, keepdims=True)
        """,
    ),
)
ONE_TOO_MANY = "Each is too large by one: the exponent of a Dirichlet density is the parameter less one."
EXPONENTS = "Those are the exponents of the density. A Dirichlet's parameters are larger by one."
HARD = "You gave the whole vote of a word to its most probable topic. A vote may be shared."
SIZE = "Your table is as large as the data happen to need. There are {0}, also when the last of them {1}: the prior is left for it."
NOTES = Record(
    cases=lambda rng: votes(rng, ((2, 7, 4), (3, 5, 3))),
    reference=notes_by_slopes,
    right="Right. Each row sums to K alpha plus the number of words of its note.",
    nudge="Not those parameters. With z = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], note = [0, 1, 0], alpha = 0.5 and N = 2 they are "
    "[[1.6, 1.4], [0.9, 1.1]].",
    hints=(
        "Average the log joint over the topics of the words: an indicator becomes a probability. What multiplies log pi_ik?",
        "(alpha - 1 + sum over the words l of note i of z_lk) log pi_ik is the log of a Dirichlet density, parameter = exponent + 1.",
        "Begin with `pi = np.full((N, z.shape[1]), float(alpha))`",
    ),
    mistakes={
        ONE_TOO_MANY: "return pi -> return pi + 1",
        EXPONENTS: "return pi -> return pi - 1",
        "You averaged the votes of a note. A longer note is surer: add them up.": "return pi -> votes = pi - alpha\nreturn alpha + votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-12)",
        HARD: "note, z) -> note, np.eye(z.shape[1])[z.argmax(axis=1)])",
        "`table[note] += z` adds only the last row that goes to a place. `np.add.at` adds them all.": "np.add.at(pi, note, z) -> pi[note] += z",
        SIZE.format("N notes", "has no words"): "(N, -> (note.max() + 1,",
    },
)
TOPICS = Record(
    cases=lambda rng: votes(rng, ((2, 7, 4), (3, 5, 4))),
    reference=topics_by_slopes,
    right="Right. All parameters together sum to K V gamma plus the number of words: no vote is lost, none counts twice.",
    nudge="Not those parameters. With z = [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]], word = [0, 1, 0], gamma = 0.5 and V = 3 they are "
    "[[1.6, 0.9, 0.5], [1.4, 1.1, 0.5]].",
    hints=(
        "As for the notes, but words are now gathered by entry of the vocabulary instead of by note.",
        "B_kv = gamma + sum over the words l that are the entry v of z_lk.",
        "Begin with `votes = np.zeros((V, z.shape[1]))`",
    ),
    mistakes={
        ONE_TOO_MANY: "gamma + -> gamma + 1 +",
        EXPONENTS: "gamma + -> gamma - 1 +",
        "You add up a topic's votes over all words, whichever entry of the vocabulary they are.": "votes.T -> votes.sum(axis=0)[:, None] + 0 * votes.T",
        HARD: "word, z) -> word, np.eye(z.shape[1])[z.argmax(axis=1)])",
        "`B[:, word] += z.T` adds only the last vote for an entry. `np.add.at` adds them all.": "np.add.at(votes, word, z) -> votes[word] += z",
        SIZE.format("V entries", "does not occur"): "(V, -> (word.max() + 1,",
    },
)
TASKS = {"words": WORDS, "notes": NOTES, "topics": TOPICS}
