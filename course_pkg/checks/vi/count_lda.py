"""Topics from counts. Roads: an integral for mean logarithms; one copy of a word after the other; probabilities and entropies."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import digamma, log_softmax, logsumexp, softmax

from course_pkg.checks._judge import Mistake, Task, Verdict
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import telling, with_kin
from course_pkg.checks.vi._roads import mean_logs, shared
from course_pkg.checks.vi._small import beyond_all, edges, lopsided


def _scores(pi: np.ndarray, B: np.ndarray) -> np.ndarray:
    return mean_logs(pi)[:, None] + mean_logs(B).T


def _shares_by_integrals(pi: np.ndarray, B: np.ndarray) -> np.ndarray:
    return shared(_scores(pi, B))


def _round_by_parts(n: np.ndarray, pi: np.ndarray, B: np.ndarray, alpha: float, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Votes handed over in pieces of a hundredth of a word, one pair of note and entry after the other."""
    z, new_pi, new_B = shared(_scores(pi, B)), np.full(pi.shape, float(alpha)), np.full(B.shape, float(gamma))
    for (i, v), count in np.ndenumerate(n):
        for _ in range(round(100 * count)):
            new_pi[i] += z[i, v] / 100
            new_B[:, v] += z[i, v] / 100
    return new_pi, new_B


def _term_by_entropy(n: np.ndarray, pi: np.ndarray, B: np.ndarray) -> np.ndarray:
    scores = _scores(pi, B)
    z = shared(scores)
    used = z > 0
    surprise = np.where(used, z * (scores - np.log(np.where(used, z, 1))), 0)
    return np.asarray((n * surprise.sum(axis=2)).sum())


def shares_stub(pi: np.ndarray, B: np.ndarray) -> Any:
    raise NotImplementedError


def round_stub(n: np.ndarray, pi: np.ndarray, B: np.ndarray, alpha: float, gamma: float) -> Any:
    raise NotImplementedError


def term_stub(n: np.ndarray, pi: np.ndarray, B: np.ndarray) -> Any:
    raise NotImplementedError


def _psi(eta):
    return digamma(eta) - digamma(eta.sum(axis=-1, keepdims=True))


def _rows(x):
    return x / x.sum(axis=-1, keepdims=True)


def _logs(pi, B, of_note=_psi, of_word=_psi):
    return of_note(pi)[:, None] + of_word(B).T


def _shared(of_note=_psi, of_word=_psi, finish=lambda s: softmax(s, axis=2)):
    return lambda pi, B: finish(_logs(pi, B, of_note, of_word))


NOT_MEANS = (
    "You put means in, for the note, for the topics or for both. In the exponent stands the mean of a logarithm, not the logarithm of a "
    "mean."
)
FIRST = "You divided the parameters by their sums before the digamma. The lemma holds for any sum, and the sum matters."
SUM_OF_B = (
    "For B the second term of the mean logarithm is missing, or it has a sum over the topics and cancels. A topic is a row of B; the sum "
    "over its entries differs from topic to topic."
)
SHARES_MISTAKES = {
    "not normalised": Mistake(_shared(finish=np.exp), "Those are the right weights. For each note and entry they have to sum to one."),
    "over the entries": Mistake(
        _shared(finish=lambda s: softmax(s, axis=1)), "You normalised over the entries. Each entry is given to topics."
    ),
    "over everything": Mistake(
        _shared(finish=lambda s: softmax(s, axis=(1, 2))), "The numbers of a whole note sum to one. Those of each note and entry should."
    ),
    "logarithms": Mistake(_shared(finish=lambda s: s), "Those are logarithms. Take exponentials, and let them sum to one over the topics."),
    "means": Mistake(_shared(lambda p: np.log(_rows(p)), lambda b: np.log(_rows(b))), NOT_MEANS),
    "normalised first": Mistake(_shared(lambda p: digamma(_rows(p)), lambda b: digamma(_rows(b))), FIRST),
    "sum of B forgotten": Mistake(_shared(of_word=digamma), SUM_OF_B),
    "note forgotten": Mistake(_shared(of_note=np.zeros_like), "You left out what is known of the note's proportions."),
    "word forgotten": Mistake(_shared(of_word=np.zeros_like), "You left out which entry it is."),
    "entries last": Mistake(
        lambda pi, B: np.swapaxes(_shared()(pi, B), 1, 2),
        "The right numbers, but the topics should be on the last axis, the entries before it.",
    ),
    "most probable": Mistake(
        _shared(finish=lambda s: np.eye(s.shape[2])[s.argmax(axis=2)]), "You say which topic is the most probable. How probable is each?"
    ),
}


def _mean(x):
    return np.log(_rows(x))


SHARES_AND_KIN = with_kin(
    SHARES_MISTAKES,
    {"logarithms": [_shared(finish=lambda s: log_softmax(s, axis=2))], "means": [_shared(of_note=_mean), _shared(of_word=_mean)]},
)
UNDERFLOW = (
    "Right for moderate parameters. For parameters of 0.001 all exponentials of mean logarithms for a note and an entry may round to 0, "
    "and then their sum is 0, too. Take the largest logarithm of each note and entry off first, or use scipy.special's softmax and "
    "logsumexp."
)

SHARED = _shared()


def _sent(count=lambda n: n, votes=lambda n, z: n[..., None] * z, end=lambda p, b, a, c: (a + p, c + b), share=SHARED):
    def answer(n, pi, B, alpha, gamma):
        given = votes(count(n), share(pi, B))
        return end(given.sum(axis=1), given.sum(axis=0).T, alpha, gamma)

    return answer


def _in_turn(n, pi, B, alpha, gamma):
    new, _ = _sent()(n, pi, B, alpha, gamma)
    return new, _sent()(n, new, B, alpha, gamma)[1]


def _other_turn(n, pi, B, alpha, gamma):
    _, new = _sent()(n, pi, B, alpha, gamma)
    return _sent()(n, pi, new, alpha, gamma)[0], new


ROUND_MISTAKES = {
    "counts forgotten": Mistake(
        _sent(np.ones_like), "Every entry votes once, also one that the note does not have. Multiply its share by its count."
    ),
    "present or not": Mistake(
        _sent(lambda n: (n > 0) * 1.0), "An entry votes once however often it occurs. It has as many votes as its count."
    ),
    "whole copies": Mistake(
        _sent(np.floor), "You cut counts off to whole numbers, as if there were a copy of the word for each. A count of 2.5 has 2.5 votes."
    ),
    "frequencies": Mistake(_sent(_rows), "You divided by the length of the note. A longer note has more votes and is surer."),
    "one too many": Mistake(
        _sent(end=lambda p, b, a, c: (a + 1 + p, c + 1 + b)),
        "Each is too large by one: the exponent of a Dirichlet density is the parameter less one.",
    ),
    "votes of all topics": Mistake(
        _sent(votes=lambda n, z: n[..., None] * np.ones_like(z)), "Every topic gets all votes. Each gets its own share of them: an index k."
    ),
    "no prior": Mistake(_sent(end=lambda p, b, a, c: (p, b)), "You left the priors out: those are the votes."),
    "added to the old": Mistake(
        lambda n, pi, B, a, c: tuple(x + y for x, y in zip((pi, B), _sent(end=lambda p, b, *_: (p, b))(n, pi, B, a, c), strict=True)),
        "You added the votes to the old parameters. The votes are added to the priors' parameters, afresh in each round.",
    ),
    "priors exchanged": Mistake(
        _sent(end=lambda p, b, a, c: (c + p, a + b)), "The priors have changed places: alpha belongs to the notes, gamma to the topics."
    ),
    "pi first": Mistake(
        _in_turn, "You renewed pi, then shared out again before you renewed B. Here both get their votes from the old tables."
    ),
    "B first": Mistake(
        _other_turn, "You renewed B, then shared out again before you renewed pi. Here both get their votes from the old tables."
    ),
    "most probable": Mistake(
        _sent(share=lambda pi, B: np.eye(len(B))[_shared()(pi, B).argmax(axis=2)]),
        "All votes of an entry go to one topic. They may be shared.",
    ),
    "means": Mistake(
        lambda *case: tuple(_rows(table) for table in _sent()(*case)),
        "Your rows sum to one: those are means. The parameters were asked for.",
    ),
}
NO_WORDS = "Right so far, but a note may be empty: it sends no votes, and all its new parameters are alpha."


def _term(weight=lambda n: n, value=lambda s: logsumexp(s, axis=2), of_note=_psi, of_word=_psi, end=lambda total, n: total):
    return lambda n, pi, B: end((weight(n) * value(_logs(pi, B, of_note, of_word))).sum(), n)


def _without_entropy(s):
    return (softmax(s, axis=2) * s).sum(axis=2)


TERM_MISTAKES = {
    "no entropy": Mistake(_term(value=_without_entropy), "You left the entropy of the words' factors out."),
    "entropy taken off": Mistake(
        _term(value=lambda s: 2 * _without_entropy(s) - logsumexp(s, axis=2)), "The entropy has the wrong sign. It makes the bound larger."
    ),
    "entropy alone": Mistake(
        _term(value=lambda s: logsumexp(s, axis=2) - _without_entropy(s)), "That is the entropy. The mean logarithms belong to it."
    ),
    "counts forgotten": Mistake(_term(np.ones_like), "Every entry counts once, also where the note does not have it. Each counts n times."),
    "present or not": Mistake(_term(lambda n: (n > 0) * 1.0), "An entry counts once however often it occurs. It counts n times."),
    "a word": Mistake(_term(end=lambda total, n: total / n.sum()), "You divided by the number of words. The sum was asked for."),
    "no logarithm": Mistake(_term(value=lambda s: np.exp(s).sum(axis=2)), "The logarithm of the sum over topics is missing."),
    "log of everything": Mistake(
        lambda n, pi, B: np.log((n * np.exp(_logs(pi, B)).sum(axis=2)).sum()),
        "You summed over all words, then took one logarithm. Every word has its own.",
    ),
    "sum of logarithms": Mistake(
        _term(value=lambda s: s.sum(axis=2)),
        "You added up mean logarithms over the topics. Add up their exponentials, then take the logarithm.",
    ),
    "mean over topics": Mistake(
        _term(value=lambda s: logsumexp(s, axis=2) - np.log(s.shape[2])),
        "You averaged over the topics. The proportions do that already: add up.",
    ),
    "means": Mistake(_term(of_note=lambda p: np.log(_rows(p)), of_word=lambda b: np.log(_rows(b))), NOT_MEANS),
    "normalised first": Mistake(
        _term(of_note=lambda p: digamma(_rows(p)) - digamma(1), of_word=lambda b: digamma(_rows(b)) - digamma(1)), FIRST
    ),
    "sum of pi forgotten": Mistake(
        _term(of_note=digamma),
        "For pi the second term of the mean logarithm is missing. In the shares it cancels; here it does not.",
    ),
    "sum of B forgotten": Mistake(
        _term(of_word=digamma),
        "For B the second term of the mean logarithm is missing, or its sum goes over the topics. A topic is a row of B: its sum goes over "
        "the entries.",
    ),
}
TERM_AND_KIN = with_kin(
    TERM_MISTAKES,
    {
        "means": [_term(of_note=_mean), _term(of_word=_mean)],
        "sum of pi forgotten": [_term(of_note=digamma, of_word=digamma)],
        "sum of B forgotten": [_term(of_word=lambda b: digamma(b) - digamma(b.sum(axis=0)))],
    },
)
SHARE_OF_NOTHING = (
    "Right for moderate parameters. Where a share rounds to 0, as with pi = [[0.001, 5]], its z log z is 0, but worked out as it stands it "
    "is 0 times minus infinity, which is not a number. Do without log z, or use scipy.special.xlogy."
)
EMPTY_NOTE = "Right so far, but a note may be empty: then it adds 0."


def _tables(rng: np.random.Generator, N: int, K: int, V: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0.3, 5, (N, K)), rng.uniform(0.2, 3, (K, V)) * rng.uniform(0.5, 3, (K, 1))


def _counts(rng: np.random.Generator, N: int, V: int) -> np.ndarray:
    """Counts, some of them fractions and some 0; the last entry of the vocabulary does not occur."""
    n = rng.choice([0.0, 1.0, 0.5, 2.0, 2.5, 4.0], (N, V))
    n[:, -1] = 0
    n[np.arange(N), rng.integers(0, V - 1, N)] = 3.25
    return n


SIZES = ((3, 2, 4), (2, 3, 5), (4, 3, 3))


def _used(n: np.ndarray) -> np.ndarray:
    """The first note has the last entry, too."""
    n = n.copy()
    n[0, -1] = 2
    return n


def _without_words(n: np.ndarray) -> np.ndarray:
    """The last note is empty."""
    return n * (np.arange(len(n)) < len(n) - 1)[:, None]


@lru_cache(maxsize=64)
def _given_tables(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 360])
    return telling(lambda: [_tables(rng, *sizes) for sizes in SIZES], _shares_by_integrals, SHARES_AND_KIN)


def shares_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_tables(seed)
    nudge = "Not those. With pi = [[1, 3], [1, 1]] and B = [[1, 1], [2, 1]] they are [[[0.1192, 0.8808], [0.2689, 0.7311]], "
    nudge += "[[0.3775, 0.6225], [0.6225, 0.3775]]]."
    verdict = quiet(
        answer,
        cases,
        _shares_by_integrals,
        SHARES_AND_KIN,
        right="Right. All copies of a word in a note are alike, so one row of probabilities does for them.",
        nudge=nudge,
    )
    more: Any = [([change((pi, B), -1) for pi, B in cases], words) for change, words in edges(UNDERFLOW)]
    return settled(beyond_all(verdict, answer, _shares_by_integrals, more), answer, cases, shares_stub, nudge)


@lru_cache(maxsize=64)
def _given_counts(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 361])

    def draw() -> list[tuple[Any, ...]]:
        return [(_counts(rng, N, V), *_tables(rng, N, K, V), *rng.uniform([0.15, 0.6], [0.4, 0.9])) for N, K, V in SIZES]

    return telling(draw, _round_by_parts, ROUND_MISTAKES)


def round_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_counts(seed)
    nudge = "Not those parameters. With n = [[2.5, 10]], pi = [[1, 3]], B = [[1, 1], [2, 1]], alpha = 0.5 and gamma = 1 the new ones are "
    nudge += "[[3.4874, 10.0126]] and [[1.2980, 3.6894], [3.2020, 8.3106]]."
    verdict = quiet(
        answer,
        cases,
        _round_by_parts,
        ROUND_MISTAKES,
        right="Right. A count multiplies: a note of a million words costs as much as one of ten, if it has the same entries.",
        nudge=nudge,
        parts=("the notes' table", "the topics' table"),
    )
    more: Any = [([(_without_words(n), *rest) for n, *rest in cases], NO_WORDS)]
    for change, words in edges(UNDERFLOW):
        more.append(([(_used(n), *change((pi, B), -1), *priors) for n, pi, B, *priors in cases], words))
    return settled(beyond_all(verdict, answer, _round_by_parts, more), answer, cases, round_stub, nudge)


@lru_cache(maxsize=64)
def _given_words(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng([seed, 362])

    def draw() -> list[tuple[Any, ...]]:
        return [(_counts(rng, N, V), *_tables(rng, N, K, V)) for N, K, V in SIZES]

    return telling(draw, _term_by_entropy, TERM_AND_KIN)


def term_verdict(answer: Any, seed: int = 0) -> Verdict:
    cases = _given_words(seed)
    nudge = "Not that number. With n = [[2.5, 10]], pi = [[1, 3]] and B = [[1, 1], [2, 1]] it is 2.5 log(e^(-17/6) + e^(-5/6)) + "
    nudge += "10 log(e^(-17/6) + e^(-11/6)) = -16.967."
    verdict = quiet(
        answer,
        cases,
        _term_by_entropy,
        TERM_AND_KIN,
        right="Right. With the best factors for the words, mean logarithm and entropy add up to the logarithm of what they are divided by.",
        nudge=nudge,
    )
    more: Any = [([(_without_words(n), pi, B) for n, pi, B in cases], EMPTY_NOTE)]
    for change, words in ((lopsided, SHARE_OF_NOTHING), *edges(UNDERFLOW)):
        more.append(([(_used(n), *change((pi, B), -1)) for n, pi, B in cases], words))
    return settled(beyond_all(verdict, answer, _term_by_entropy, more), answer, cases, term_stub, nudge)


TASKS = (
    Task(
        "vi/count-lda/shares",
        "Topics from counts: each entry's topics",
        2,
        10,
        shares_stub,
        (
            "The update for a word depends on its note and on its entry only. Write it down for all pairs of the two.",
            "z_ivk is proportional to exp(Psi_k(pi_i) + Psi_v(B_k)), with Psi the mean logarithm along a row. The sum over k is one.",
            "Begin with `log_z = mean_log(pi)[:, None, :] + mean_log(B).T`",
        ),
        SHARES_MISTAKES,
        shares_verdict,
    ),
    Task(
        "vi/count-lda/round",
        "Topics from counts: a round",
        2,
        12,
        round_stub,
        (
            "All copies of an entry in a note vote alike. What do n copies give to each topic?",
            "pi_ik = alpha + sum over v of n_iv z_ivk, and B_kv = gamma + sum over i of n_iv z_ivk.",
            "Begin with `votes = n[:, :, None] * shares(pi, B)`",
        ),
        ROUND_MISTAKES,
        round_verdict,
    ),
    Task(
        "vi/count-lda/term",
        "Topics from counts: what the words add to the bound",
        2,
        10,
        term_stub,
        (
            "Put the best z into the average. What is log z_ivk, written with mean logarithms and the sum they were divided by?",
            "log z_ivk = Psi_k(pi_i) + Psi_v(B_k) - log C_iv, so only n_iv log C_iv is left, C_iv the sum over k of the exponentials.",
            "Begin with `scores = mean_log(pi)[:, None, :] + mean_log(B).T`, whose last axis is that of the topics",
        ),
        TERM_MISTAKES,
        term_verdict,
    ),
)
