"""The best of many. Road: quantiles of the beta distribution, whose tail is the binomial's, at once for all programs."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import beta, norm

from course_pkg.checks.record import Later, Record


def limit_by_beta(errors, N, eta):
    return beta.isf(eta, np.add(errors, 1), np.subtract(N, errors))


def choice_by_beta(errors, N, pi, eta):
    limits = limit_by_beta(errors, N, eta * pi)
    return limits.argmin(), limits.min()


def by_kl(errors, N, pi, eta):
    """The page's certificate with all of rho on one rule."""
    seen = errors / N

    def largest(r, c):
        return brentq(lambda b: rel_entr(r, b) + rel_entr(1 - r, 1 - b) - c, r, 1 - 1e-12)

    limits = [largest(r, np.log(2 * np.sqrt(N) / (eta * weight)) / N) for r, weight in zip(seen, pi, strict=True)]
    return np.argmin(limits), np.min(limits)


def reached(errors, N, eta):
    """The lower limit."""
    return beta.ppf(eta, errors, N - errors + 1)


def offices(rng):
    """The fewest errors, the largest weight and the lowest promised limit belong to three programs."""
    for K, N, eta in ((6, 60, 0.1), (8, 150, 0.05), (5, 40, 0.2)):
        errors = rng.integers(round(0.25 * N), round(0.4 * N), K)
        order = rng.permutation(K)
        errors[order[0]], errors[order[1]], errors[order[2]] = round(0.15 * N), round(0.15 * N) + 2, round(0.3 * N)
        pi = rng.dirichlet(np.full(K, 5.0)) * 0.25
        pi[order[0]], pi[order[1]], pi[order[2]] = rng.uniform(0.0005, 0.001), rng.uniform(0.2, 0.25), rng.uniform(0.4, 0.45)
        yield errors, N, pi / pi.sum(), eta


def single(rng):
    for N, share, eta in ((30, 0.2, 0.1), (120, 0.3, 0.02), (400, 0.08, 0.05)):
        yield round(N * share * rng.uniform(0.8, 1.2)), N, eta * rng.uniform(0.8, 1.2)


LIMIT = Record(
    minutes=9,
    cases=single,
    reference=limit_by_beta,
    right="Right. It is exact whatever the distribution of the letters is: a count of errors has no other.",
    nudge="Not that limit. With errors = 1, N = 2 and eta = 0.3 it is 0.8367: an error on both letters then has probability 0.7.",
    hints=(
        "Which true errors make it hard to believe that there were so few errors? The larger b, the smaller is the probability.",
        "Pr(X <= errors) = eta, with X binomial of N trials and probability b. SciPy's `binom.cdf` is the left-hand side, `brentq` finds b.",
        "Begin with `def few(b):`",
    ),
    mistakes={
        "Fewer errors than were made: your sum stops one too soon. That many errors belong to it.": lambda errors, N, eta: beta.isf(
            eta, errors, N - errors + 1
        ),
        "You split eta between two ends. A promise about errors fails on one side only.": "- eta -> - eta / 2",
        "That is the limit that fails with probability 1 - eta.": lambda errors, N, eta: beta.ppf(eta, errors + 1, N - errors),
        "That is the lower limit: the b under which so many errors or more have probability eta.": reached,
        "You took the probability of exactly so many errors. Fewer would be as good a sign: add them.": (
            "brentq( -> (lambda f, low, high, xtol: brentq(f, max(low, 1e-12), high, xtol=xtol))( ;; binom.cdf -> binom.pmf"
        ),
        "That is the limit of a normal in the binomial's place. With few errors it promises too much, and with none it promises that there is none.": (
            lambda errors, N, eta: errors / N + norm.isf(eta) * np.sqrt(errors / N * (1 - errors / N) / N)
        ),
        "That is Hoeffding's inequality: a true promise, and a looser one. The binomial itself is known here.": (
            "\nreturn errors / N + np.sqrt(-np.log(eta) / (2 * N))"
        ),
        "That is a quantile of a posterior under a flat prior. Here nobody believes anything, and the binomial's equation gives a little more.": (
            lambda errors, N, eta: beta.isf(eta, errors + 1, N - errors + 1)
        ),
        "That is the observed error. What could the true one still be?": "\nreturn errors / N",
    },
    later=[
        Later(
            "Right where errors were made. None on N letters does not show that there will be none: a small b makes that probable, too.",
            lambda rng: [(0, int(rng.integers(30, 60)), 0.05)],
            "def few(b): -> if errors == 0:\n    return 0.0\n\ndef few(b):",
        )
    ],
)
CHOOSE = Record(
    minutes=7,
    cases=offices,
    reference=choice_by_beta,
    parts=("the number of the program", "its limit"),
    right="Right. All promises hold at once, so the one that you keep does, however you came to it.",
    nudge="Not that program, or not that limit. With errors = [0, 1], N = 2, pi = [0.04, 0.96] and eta = 0.25 the limits are 0.9 and 0.872, and the "
    "second program is chosen.",
    hints=(
        "The probability that one promise or another fails is at most the sum of their probabilities.",
        "limit_k solves Pr(X <= errors_k) = eta pi_k. The sum of eta pi_k over k is eta.",
        "Begin with `pairs = zip(errors, pi, strict=True)`",
    ),
    mistakes={
        "You promise each limit as if its program had been the only one. The lowest of many such limits is often false.": "eta * weight -> eta",
        "You split each probability between two ends. These promises fail on one side only.": "eta * weight -> eta * weight / 2",
        "You shared the price out equally. The weights were fixed before the letters: the cheap programs are those with a large weight.": (
            "eta * weight -> eta / len(pi)"
        ),
        "You chose the program with the fewest errors and promised its limit. With a small weight it is dear: compare the promises.": (
            "limits.argmin() -> np.argmin(errors)"
        ),
        "You chose the program with the largest weight, whatever the letters say.": "limits.argmin() -> np.argmax(pi)",
        "That is the program of which least can be promised.": "argmin -> argmax",
        "You counted the programs from 1.": "return best, -> return best + 1,",
        "1 - (1 - eta)^pi would do if the programs erred independently. They were tried on the same letters; the sum of the probabilities needs nothing.": (
            "eta * weight -> 1 - (1 - eta) ** weight"
        ),
        "That is the page's certificate with all of rho on one program. It holds; for a single program the binomial of Part 1 promises more.": by_kl,
        "You multiplied the limit by a price. The price is paid in eta: a promise that fails more rarely is a weaker one.": (
            "limit(made, N, eta * weight) -> limit(made, N, eta) / weight"
        ),
    },
)
TASKS = {"limit": LIMIT, "choose": CHOOSE}
