"""The bound of a row. Roads: a divergence by quadrature, coordinate by coordinate; weights in whole numbers of any size."""

from decimal import Decimal, localcontext

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def kl_by_quadrature(m, log_s):
    z = m[..., None] + np.exp(log_s)[..., None] * NODES
    ratio = norm.logpdf(z, m[..., None], np.exp(log_s)[..., None]) - norm.logpdf(z)
    return (ratio @ (WEIGHTS / WEIGHTS.sum())).sum(axis=-1)


def in_large_numbers(log_w):
    with localcontext() as context:
        context.prec = 40
        means = [sum(Decimal(float(v)).exp() for v in column) / len(column) for column in log_w.T]
        return np.array([float(mean.ln()) for mean in means])


KL = Record(
    cases=lambda rng: [(rng.normal(size=shape), rng.normal(-0.5, 0.5, shape)) for shape in ((4, 2), (3, 5), (6, 1))],
    reference=kl_by_quadrature,
    right="Right. Being off costs half a square, being narrow costs a logarithm, and a standard normal costs nothing.",
    nudge="Not that divergence. With m = [[1, 2]] and log_s = [[0, log 2]] it is [4 - log 2] = [3.307].",
    hints=(
        "The coordinates are independent, so their divergences add up. Find that of N(m, s^2) from N(0, 1).",
        "KL = E_q[log q(z)] - E_q[log p(z)] = (-log s - 1/2) + (m^2 + s^2)/2, less and plus the same log sqrt(2 pi).",
        "In one coordinate: (m**2 + s**2 - 1) / 2 - log_s, with s = exp(log_s). Sum over the last axis.",
    ),
    mistakes={
        "You took log_s for s: the variance is exp(2 log_s).": "np.exp(2 * log_s) -> log_s**2",
        "You took s where its square belongs, the variance.": "np.exp(2 * log_s) -> np.exp(log_s)",
        "The entropy is missing: a narrow normal pays for being narrow, -log_s.": "- log_s -> ",
        "The entropy has the wrong sign: narrower must be farther from the prior.": "- log_s -> + log_s",
        "The -1 is missing, and a standard normal would be at a distance from itself.": " - 1) -> )",
        "You averaged over coordinates where they add up.": ".sum(axis=-1) -> .mean(axis=-1)",
        "You took log_s for the logarithm of the variance. It is that of s: the variance is exp(2 log_s).": (
            "np.exp(2 * log_s) -> np.exp(log_s) ;; - log_s) -> - log_s / 2)"
        ),
        "That is the other divergence, of the prior from the row's normal. Here the mean is taken under the row's normal.": (
            "\n    return (0.5 * ((1 + m**2) * np.exp(-2 * log_s) - 1) + log_s).sum(axis=-1)"
        ),
    },
)
BOUND = Record(
    cases=lambda rng: [(rng.normal(shift, 2, shape),) for shift, shape in ((0, (5, 3)), (-2000, (7, 2)), ([-900, 800], (3, 2)))],
    reference=in_large_numbers,
    right="Right. The mean is taken before the logarithm, and the largest weight is taken out so that nothing overflows.",
    nudge="Not that bound. With log_w = [[0], [log 3]] it is [log 2] = [0.693].",
    hints=(
        "The order is: weights, their mean over the draws, the logarithm. By Jensen the other order gives less.",
        "exp(-2000) is 0 for a computer. Take each row's largest log weight out first, and add it again at the end.",
        "log mean exp(a) = top + log mean exp(a - top), or scipy.special.logsumexp(a, axis=0) less log K.",
    ),
    mistakes={
        "You averaged the log weights: that is the usual bound, which more draws do not tighten.": (
            "return top + np.log(np.exp(log_w - top).mean(axis=0)) -> return log_w.mean(axis=0)"
        ),
        "You added the weights up: the number of draws must be divided out.": ".mean(axis=0)) -> .sum(axis=0))",
        "Your weights overflow or vanish. Take the largest log weight out before you exponentiate.": (
            "top = log_w.max(axis=0) -> top = np.zeros(log_w.shape[1])"
        ),
        "You took one largest log weight for all rows, beside which the weights of another row vanish. Each row has its own.": (
            "log_w.max(axis=0) -> log_w.max()"
        ),
        "You took the best draw: the largest weight alone is no mean.": "top + np.log(np.exp(log_w - top).mean(axis=0)) -> top",
    },
)
TASKS = {"kl": KL, "bound": BOUND}
