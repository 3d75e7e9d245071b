"""Topics from counts. Roads: an integral for mean logarithms; one piece of a word after the other; probabilities and entropies."""

import numpy as np

from course_pkg.checks.record import Record
from solutions.vi._tools import edge, edges, mean_logs, shared

scores = lambda pi, B: mean_logs(pi)[:, None] + mean_logs(B).T
shares_by_integrals = lambda pi, B: shared(scores(pi, B))


def round_by_parts(n, pi, B, alpha, gamma):
    """Votes handed over in quarters of a word, one pair of note and entry after the other."""
    z, new_pi, new_B = shared(scores(pi, B)), np.full(pi.shape, float(alpha)), np.full(B.shape, float(gamma))
    for (i, v), count in np.ndenumerate(n):
        for _ in range(round(4 * count)):
            new_pi[i] += z[i, v] / 4
            new_B[:, v] += z[i, v] / 4
    return new_pi, new_B


def term_by_entropy(n, pi, B):
    z = shared(scores(pi, B))
    used = z > 0
    return (n * np.where(used, z * (scores(pi, B) - np.log(np.where(used, z, 1))), 0).sum(axis=2)).sum()


def tables(rng, kind=""):
    for N, K, V in ((3, 2, 4), (2, 3, 5), (4, 3, 3)):
        yield edge(kind, rng.uniform(0.3, 5, (N, K)), rng.uniform(0.2, 3, (K, V)) * rng.uniform(0.5, 3, (K, 1)), -1)


def counted(rng, kind=""):
    """Counts, some of them fractions and some 0. The last entry occurs only where the tables are near 0."""
    for pi, B in tables(rng, kind):
        n = rng.choice([0.0, 1.0, 0.5, 2.0, 2.5, 4.0], (len(pi), len(B.T)))
        n[:, -1] = 0
        n[np.arange(len(n)), rng.integers(0, len(B.T) - 1, len(n))] = 3.25
        n[0, -1] = 2 if kind else 0
        yield n, pi, B


rounds = lambda rng, kind="": [(*case, *rng.uniform([0.15, 0.6], [0.4, 0.9]).tolist()) for case in counted(rng, kind)]
# The last note has no words
an_empty_note = lambda cases: [(n * (np.arange(len(n)) < len(n) - 1)[:, None], *rest) for n, *rest in cases]
UNDERFLOW = (
    "Right for moderate parameters. For parameters of 0.001 all exponentials of mean logarithms for a note and an entry may round to 0, and "
    "then their sum is 0, too. Take the largest logarithm of each note and entry off first, or use scipy.special's softmax and logsumexp."
)
NOT_MEANS = "You put means in, for the note, for the topics or for both. In the exponent stands the mean of a logarithm, not the logarithm of a mean."
DIVIDED_FIRST = "You divided the parameters by their sums before the digamma. The lemma holds for any sum, and the sum matters."
OF_NOTE, OF_TOPIC = "np.log(pi / pi.sum(axis=1, keepdims=True))", "np.log(B / B.sum(axis=1, keepdims=True))"
MEANS = (f"mean_log(pi) -> {OF_NOTE} ;; mean_log(B) -> {OF_TOPIC}", f"mean_log(pi) -> {OF_NOTE}", f"mean_log(B) -> {OF_TOPIC}")
NORMALISED = f"mean_log(pi) -> {OF_NOTE} ;; mean_log(B) -> {OF_TOPIC} ;; np.log -> digamma"
SCORES = "mean_log(pi)[:, None, :] + mean_log(B).T"
APART = """
a, b = mean_log(pi)[:, None, :], mean_log(B).T
high, top = a.max(axis=2, keepdims=True), b.max(axis=1, keepdims=True)
each = np.exp(a - high) * np.exp(b - top)
"""
SHARES = Record(
    cases=tables,
    reference=shares_by_integrals,
    right="Right. All copies of a word in a note are alike, so one row of probabilities does for them.",
    nudge="Not those. With pi = [[1, 3], [1, 1]] and B = [[1, 1], [2, 1]] they are [[[0.1192, 0.8808], [0.2689, 0.7311]], "
    "[[0.3775, 0.6225], [0.6225, 0.3775]]].",
    hints=(
        "The update for a word depends on its note and on its entry only. Write it down for all pairs of the two.",
        "z_ivk is proportional to exp(Psi_k(pi_i) + Psi_v(B_k)), with Psi the mean logarithm along a row. The sum over k is one.",
        "Begin with `log_z = mean_log(pi)[:, None, :] + mean_log(B).T`",
    ),
    mistakes={
        "Those are the right weights. For each note and entry they have to sum to one.": "softmax(log_z, axis=2) -> np.exp(log_z)",
        "You normalised over the entries. Each entry is given to topics.": "axis=2 -> axis=1",
        NOT_MEANS: MEANS,
        DIVIDED_FIRST: NORMALISED,
        "For B the second term of the mean logarithm is missing. A topic is a row, and its sum is the topic's own.": "mean_log(B) -> digamma(B)",
    },
    later=edges(
        lambda rng, kind: list(tables(rng, kind)),
        UNDERFLOW,
        "softmax(log_z -> softmax(np.maximum(log_z, -100)",
        "softmax(log_z, axis=2) -> np.exp(log_z) / np.exp(log_z).sum(axis=2, keepdims=True)",
        f"{APART}return each / each.sum(axis=2, keepdims=True)",
    ),
)
ROUND = Record(
    cases=rounds,
    reference=round_by_parts,
    right="Right. A count multiplies: a note of a million words costs as much as one of ten, if it has the same entries.",
    nudge="Not those parameters. With n = [[2.5, 10]], pi = [[1, 3]], B = [[1, 1], [2, 1]], alpha = 0.5 and gamma = 1 the new ones are "
    "[[3.4874, 10.0126]] and [[1.2980, 3.6894], [3.2020, 8.3106]].",
    hints=(
        "All copies of an entry in a note vote alike. What do n copies give to each topic?",
        "pi_ik = alpha + sum over v of n_iv z_ivk, and B_kv = gamma + sum over i of n_iv z_ivk.",
        "Begin with `votes = n[:, :, None] * shares(pi, B)`",
    ),
    mistakes={
        "An entry votes once however often it occurs. It has as many votes as its count.": "n[:, :, None] -> (n[:, :, None] > 0)",
        "You divided by the length of the note. A longer note has more votes and is surer.": "n[:, :, None] -> (n / n.sum(axis=1, keepdims=True))[:, :, None]",
        "Each is too large by one: the exponent of a Dirichlet density is the parameter less one.": "alpha + -> alpha + 1 +;; gamma + -> gamma + 1 +",
        "You added the votes to the old parameters. The votes are added to the priors' parameters, afresh in each round.": "alpha + -> pi +;; gamma + -> B +",
    },
    later={
        "Right so far, but a note may be empty: it sends no votes, and all its new parameters are alpha.": (
            lambda rng: an_empty_note(rounds(rng)),
            "votes = n -> length = n.sum(axis=1)[:, None, None]\nvotes = length * (n / n.sum(axis=1, keepdims=True))",
        ),
        **edges(
            rounds,
            UNDERFLOW,
            f"shares(pi, B) -> softmax(np.maximum({SCORES}, -100), axis=2)",
            f"votes = -> each = np.exp({SCORES})\nvotes =;; shares(pi, B) -> each / each.sum(axis=2, keepdims=True)",
            f"{APART}votes = n[:, :, None] * (each / each.sum(axis=2, keepdims=True))\nreturn alpha + votes.sum(axis=1), gamma + votes.sum(axis=0).T",
        ),
    },
    parts=("the notes' table", "the topics' table"),
)
LOG_SUM, MEAN = "logsumexp(scores, axis=2)", "(softmax(scores, axis=2) * scores).sum(axis=2)"
TERM = Record(
    cases=counted,
    reference=term_by_entropy,
    right="Right. With the best factors for the words, mean logarithm and entropy add up to the logarithm of what they are divided by.",
    nudge="Not that number. With n = [[2.5, 10]], pi = [[1, 3]] and B = [[1, 1], [2, 1]] it is 2.5 log(e^(-17/6) + e^(-5/6)) + "
    "10 log(e^(-17/6) + e^(-11/6)) = -16.967.",
    hints=(
        "Put the best z into the average. What is log z_ivk, written with mean logarithms and the sum they were divided by?",
        "log z_ivk = Psi_k(pi_i) + Psi_v(B_k) - log C_iv, so only n_iv log C_iv is left, C_iv the sum over k of the exponentials.",
        "Begin with `scores = mean_log(pi)[:, None, :] + mean_log(B).T`, whose last axis is that of the topics",
    ),
    mistakes={
        "You left the entropy of the words' factors out.": f"{LOG_SUM} -> {MEAN}",
        "The entropy has the wrong sign. It makes the bound larger.": f"{LOG_SUM} -> (2 * {MEAN} - {LOG_SUM})",
        "You added up mean logarithms over the topics. Add up their exponentials, then take the logarithm.": f"{LOG_SUM} -> scores.sum(axis=2)",
        NOT_MEANS: MEANS,
        "For pi the second term of the mean logarithm is missing. In the shares it cancels; here it does not.": "mean_log(pi) -> digamma(pi) || mean_log -> digamma",
    },
    later={
        "Right so far, but a note may be empty: then it adds 0.": (
            lambda rng: an_empty_note(counted(rng)),
            "return -> length = n.sum(axis=1, keepdims=True)\nreturn;; n * -> length * (n / length) *",
        ),
        "Right for moderate parameters. Where a share rounds to 0, as with pi = [[0.001, 5]], its z log z is 0, but worked out as it stands "
        "it is 0 times minus infinity, which is not a number. Do without log z, or use scipy.special.xlogy.": (
            lambda rng: counted(rng, "lopsided"),
            f"return -> z = softmax(scores, axis=2)\nreturn;; {LOG_SUM} -> (z * (scores - np.log(z))).sum(axis=2)",
        ),
        **edges(
            lambda rng, kind: list(counted(rng, kind)),
            UNDERFLOW,
            f"{LOG_SUM} -> logsumexp(np.maximum(scores, -100), axis=2)",
            f"{LOG_SUM} -> np.log(np.exp(scores).sum(axis=2))",
            f"{APART}return np.sum(n * (np.log(each.sum(axis=2)) + high[:, :, 0] + top[:, 0]))",
        ),
    },
)
TASKS = {"shares": SHARES, "round": ROUND, "term": TERM}
