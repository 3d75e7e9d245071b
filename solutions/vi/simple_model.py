"""A mean and a precision by coordinate ascent. Roads: the log joint, density by density, averaged over nodes; a sum over a fine grid."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import gamma

from course_pkg.checks._judge import Trouble, numbers, shape_words
from course_pkg.checks.record import Record
from solutions.gradients._tools import NODES, WEIGHTS
from solutions.vi._tools import gamma_of, log_joint, parabola


def gamma_by_nodes(x, nu_q, tau_q, alpha, beta):
    """From the log joint, averaged over q(mu)."""
    return gamma_of(lambda g: WEIGHTS @ log_joint(nu_q + NODES / np.sqrt(tau_q), g, x, 0, 1.0, alpha, beta))


def mu_by_nodes(x, mean_gamma, tau):
    """From the log joint, averaged over two precisions with the right mean."""
    return parabola(lambda m: np.mean([log_joint(m, g * mean_gamma, x, 0, tau, 1.0, 1.0) for g in (0.5, 1.5)]))


def ascended(x, tau, alpha, beta, rounds):
    of_gamma = alpha, beta
    for _ in range(rounds):
        of_mu = mu_by_nodes(x, gamma.mean(of_gamma[0], scale=1 / of_gamma[1]), tau)
        of_gamma = gamma_by_nodes(x, *of_mu, alpha, beta)
    return *of_mu, *of_gamma


def marginal_by_sum(mu, x, tau, alpha, beta):
    """Over a grid of log gamma, on which the trapezoid rule is exact to many digits."""
    t = np.linspace(-25, 8, 6601)
    log = np.array([logsumexp(log_joint(m, np.exp(t), x, 0, tau, alpha, beta) + t) for m in mu]) + np.log(t[1] - t[0])
    return log - log.mean(), log.mean()


def apart_from_its_constant(answer, mu, *rest):
    got = numbers(answer(mu, *rest))
    if words := shape_words(got, (mu,)):
        raise Trouble(words)
    return got[0] - got[0].mean(), got[0].mean()


def data(rng, n):
    """A sample away from 0 with a spread of its own."""
    x = rng.normal(size=n)
    return rng.choice([-1, 1]) * rng.uniform(2, 4) + rng.uniform(0.8, 1.5) * (x - x.mean()) / x.std()


def known_mu(rng):
    for n, ends in ((5, (1.5, 2.5)), (3, (0.3, 0.6)), (8, (0.6, 0.8))):
        x = data(rng, n)
        yield x, x.mean() + rng.uniform(0.3, 0.8), rng.uniform(*ends), rng.uniform(1, 3), rng.uniform(0.5, 3)


def known_gamma(rng):
    for n, g, tau in ((4, (0.2, 0.5), (0.3, 0.7)), (6, (1.5, 3), (2, 4)), (3, (1.2, 2), (1.3, 2))):
        yield data(rng, n), rng.uniform(*g), rng.uniform(*tau)


def few(rng):
    for n, rounds in ((4, 2), (5, 3), (3, 5)):  # few observations, so that a round still moves something
        yield data(rng, n), rng.uniform(0.5, 1.0), rng.uniform(1.5, 2.5), rng.uniform(3, 5), rounds


def places(rng):
    for n in (4, 2, 6):
        x = data(rng, n)
        yield x.mean() + np.array([-1.5, 0.2, 1.0, 2.0]), x, rng.uniform(0.1, 0.5), rng.uniform(1.5, 3), rng.uniform(1.6, 4)


GAMMA = Record(
    cases=known_mu,
    reference=gamma_by_nodes,
    right="Right. The rate holds what is known of mu and what is not: a q(mu) of a larger variance makes the precision smaller.",
    nudge="Not that gamma. With x = [1, 2], nu_q = 2, tau_q = 1/2, alpha = 1 and beta = 3 it has shape 2 and rate 5.5.",
    hints=(
        "Take the log joint, keep what has gamma in it, and average over mu. What is the average of a square (x_i - mu)^2 under q(mu)?",
        "E (x_i - mu)^2 = (x_i - nu_q)^2 + 1 / tau_q. One observation has the log density (1/2) log gamma - (gamma / 2) (x_i - mu)^2.",
        "Begin with `squares = (x - nu_q) ** 2 + 1 / tau_q`",
    ),
    mistakes={
        "Your shape is right. In the rate you put the mean of mu in: the average of (x_i - mu)^2 contains the variance of mu as well.": "+ 1 / tau_q -> ",
        "You left alpha or beta out, or both: the prior of gamma is a factor, too.": "alpha + -> ;; beta + -> || alpha + -> || beta + ->",
        "Your shape is right. In the rate a factor is missing: look at the exponent of the normal density.": "squares.sum() / 2 -> squares.sum()",
        "In the shape an observation counts one half: its density has the root of gamma in front.": "len(x) / 2 -> len(x)",
    },
    parts=("the shape", "the rate"),
)
MU = Record(
    cases=known_gamma,
    reference=mu_by_nodes,
    right="Right: the conditional of Gibbs sampling, with the mean of gamma where a draw of it would stand.",
    nudge="Not that normal. With x = [1, 2, 6], mean_gamma = 3 and tau = 1 it has centre 2.7 and precision 10.",
    hints=(
        "Keep what has mu in it, and average over gamma. Gamma stands there only as a factor, so its mean is all that is needed.",
        "-(tau / 2) mu^2 - (E gamma / 2) sum of (x_i - mu)^2: a parabola. Its second derivative is minus tau_q, its top is at nu_q.",
        "Begin with `tau_q = tau + len(x) * mean_gamma`",
    ),
    mistakes={
        "Your precision is right, and your centre is the sample mean. The prior pulls it towards 0.": "mean_gamma * x.sum() / tau_q -> x.mean()",
        "You treat the sample mean as a single observation. It has the precision of all of them together.": "len(x) * mean_gamma -> mean_gamma ;; x.sum() -> x.mean()",
    },
    parts=("the centre", "the precision"),
)
ASCENT = Record(
    cases=few,
    reference=ascended,
    right="Right. Only E gamma goes from one factor to the other, and alpha_q is the same in every round.",
    nudge="Not those four. With x = [2, 2], tau = 1, alpha = 1 and beta = 2, one round gives 1, 2, 2 and 3.5, two give 1.0667, 2.1429, 2 and 3.3378.",
    hints=(
        "Part 2 needs one number of q(gamma), Part 1 needs both numbers of q(mu). Which number travels from one round to the next?",
        "E gamma = alpha / beta at first, then in each round: q(mu) from E gamma, q(gamma) from q(mu), E gamma = alpha_q / beta_q.",
        "Begin with `mean_gamma = alpha / beta`",
    ),
    mistakes={
        "Your result is that of the first round. Take E gamma from q(gamma) after each.": "mean_gamma = alpha_q / beta_q -> ",
        "Your q(gamma) is right. You updated q(mu) once more after it; a round ends with q(gamma).": "return nu_q, tau_q, -> return *mu_factor(x, mean_gamma, tau),",
        "You put the last q(gamma) in place of its prior, so its shape grows in each round. alpha and beta stay.": (
            "tau_q, alpha, beta) -> tau_q, alpha_q, beta_q) ;; mean_gamma = alpha / beta -> mean_gamma, alpha_q, beta_q = alpha / beta, alpha, beta"
        ),
    },
    parts=("the centre", "the precision", "the shape", "the rate"),
)
MARGINAL = Record(
    cases=places,
    reference=marginal_by_sum,
    view=apart_from_its_constant,
    right="Right. Not to know gamma makes the tails fatter than those of any normal q(mu) that fits in the middle.",
    nudge="Not that. Constants come from four places: each reading's density, the prior of mu, the prior of gamma, and the integral. With mu = [1], "
    "x = [0, 2, 3], tau = 4, alpha = 4 and beta = 3 it is [-8.2768].",
    hints=(
        "For a fixed mu the joint is a constant times a gamma density that has lost its own constant. So the integral is known.",
        "The integral of gamma^(a - 1) exp(-b gamma) is Gamma(a) / b^a. Here a = alpha + n/2 and b = beta + sum of (x_i - mu)^2 / 2.",
        "Begin with `a = alpha + len(x) / 2`",
    ),
    mistakes={
        "The prior of mu is missing: it is a part of the joint, too.": "norm.logpdf(mu, 0, tau**-0.5) + -> ",
        "The shape grows by one half for an observation: its density has the square root of gamma in front.": "alpha + len(x) / 2 -> alpha + len(x)",
        "A factor is missing in the rate: look at the exponent of the normal density.": "sum(axis=0) / 2 -> sum(axis=0)",
        "Off by a constant that grows with n: look at the front of a normal density.": "- len(x) / 2 * np.log(2 * np.pi) -> ",
        "The power of your rate is one off. gamma^(a - 1) stands under the integral, and a is its exponent plus one.": "- a * -> - (a - 1) *",
        "You put the prior's mean of gamma in. It is to be integrated out: every gamma counts, with the weight that its prior gives it.": (
            "\n    return norm.logpdf(mu, 0, tau**-0.5) + norm.logpdf(x[:, None], mu, np.sqrt(beta / alpha)).sum(axis=0)"
        ),
    },
    parts=("how it depends on mu", "the constant"),
)
TASKS = {"gamma": GAMMA, "mu": MU, "ascent": ASCENT, "marginal": MARGINAL}
