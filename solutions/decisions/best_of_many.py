"""The best of many. Road: quantiles of the beta distribution, whose tail is the binomial's, at once for all programs."""

import numpy as np
from scipy.stats import beta

from course_pkg.checks.record import Record

limit_by_beta = lambda errors, N, eta: beta.isf(eta, np.add(errors, 1), np.subtract(N, errors))


def choice_by_beta(errors, N, pi, eta):
    limits = limit_by_beta(errors, N, eta * pi)
    return limits.argmin(), limits.min()


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
        "You split eta between two ends. A promise about errors fails on one side only.": "- eta -> - eta / 2",
        "A normal stands in the binomial's place. With few errors it promises too much.": "\nr = errors / N\nfrom scipy.stats import norm\nreturn r + norm.isf(eta) * np.sqrt(r * (1 - r) / N)",
        "That is Hoeffding's inequality: true, and looser than the binomial, which is known here.": "\nreturn errors / N + np.sqrt(-np.log(eta) / (2 * N))",
        "That is a quantile of a posterior. Nobody believes anything here.": lambda errors, N, eta: beta.isf(
            eta, errors + 1, N - errors + 1
        ),
    },
    later={
        "Right where errors were made. None on N letters does not show that there will be none: a small b makes that probable, too.": (
            lambda rng: [(0, int(rng.integers(30, 60)), 0.05)],
            "def few(b): -> if errors == 0:\n    return 0.0\n\ndef few(b):",
        ),
    },
)
CHOOSE = Record(
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
        "You shared the price out equally. The cheap programs are those with a large weight.": "eta * weight -> eta / len(pi)",
        "You chose the fewest errors. With a small weight that is dear: compare the promises.": "limits.argmin() -> np.argmin(errors)",
        "That would do for independent programs. All were tried on the same letters: add the probabilities up.": "eta * weight -> 1 - (1 - eta) ** weight",
        "You multiplied the limit by a price. The price is paid in eta.": "limit(made, N, eta * weight) -> limit(made, N, eta) / weight",
    },
)
TASKS = {"limit": LIMIT, "choose": CHOOSE}
