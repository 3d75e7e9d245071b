"""A mean and a precision by coordinate ascent. Roads: the log joint, density by density, averaged over nodes; a sum over a fine grid."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma, norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, numbers
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin
from course_pkg.checks.gradients._tools import NODES, WEIGHTS


def _log_joint(mu: Any, precision: Any, x: np.ndarray, tau: float, alpha: float, beta: float) -> Any:
    """The log of prior times likelihood, density by density."""
    out = norm.logpdf(mu, 0, tau**-0.5) + gamma.logpdf(precision, alpha, scale=1 / beta)
    for one in x:
        out = out + norm.logpdf(one, mu, precision**-0.5)
    return out


def _gamma_by_nodes(x: np.ndarray, nu_q: float, tau_q: float, alpha: float, beta: float) -> tuple[float, float]:
    """The averaged log joint at five precisions, of which it is c + (a - 1) log g - b g."""
    at = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
    height = [WEIGHTS @ _log_joint(nu_q + NODES / np.sqrt(tau_q), g, x, 1.0, alpha, beta) for g in at]
    _, a, b = np.linalg.lstsq(np.stack([np.ones(5), np.log(at), -at], axis=1), np.array(height))[0]
    return float(a + 1), float(b)


def _mu_by_nodes(x: np.ndarray, mean_gamma: float, tau: float) -> tuple[float, float]:
    """The log joint at three places, averaged over two precisions with the right mean: a parabola."""
    at = np.array([-1.0, 0.0, 1.0])
    low, middle, high = (np.mean([_log_joint(m, g * mean_gamma, x, tau, 1.0, 1.0) for g in (0.5, 1.5)]) for m in at)
    bend = 2 * middle - low - high
    return float((high - low) / 2 / bend), float(bend)


def _ascended(x: np.ndarray, tau: float, alpha: float, beta: float, rounds: int) -> tuple[float, ...]:
    mean_gamma = float(gamma.mean(alpha, scale=1 / beta))
    q: tuple[float, ...] = ()
    for _ in range(rounds):
        of_mu = _mu_by_nodes(x, mean_gamma, tau)
        of_gamma = _gamma_by_nodes(x, *of_mu, alpha, beta)
        mean_gamma = float(gamma.mean(of_gamma[0], scale=1 / of_gamma[1]))
        q = (*of_mu, *of_gamma)
    return q


def _marginal_by_sum(mu: np.ndarray, x: np.ndarray, tau: float, alpha: float, beta: float) -> np.ndarray:
    """Over a grid of log gamma, on which the trapezoid rule is exact to many digits."""
    t = np.linspace(-25, 8, 6601)
    each = [logsumexp(_log_joint(m, np.exp(t), x, tau, alpha, beta) + t) for m in mu]
    return np.array(each) + np.log(t[1] - t[0])


def gamma_stub(x: np.ndarray, nu_q: float, tau_q: float, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def mu_stub(x: np.ndarray, mean_gamma: float, tau: float) -> Any:
    raise NotImplementedError


def ascent_stub(x: np.ndarray, tau: float, alpha: float, beta: float, rounds: int) -> Any:
    raise NotImplementedError


def marginal_stub(mu: np.ndarray, x: np.ndarray, tau: float, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def _gamma_factor(
    shape=lambda n, a: a + n / 2,
    spread=lambda n, t: n / t,
    half=0.5,
    give=lambda s, r: (s, r),
    around=None,
    prior=lambda b: b,
    count=lambda n: 1,
):
    def answer(x, nu_q, tau_q, alpha, beta):
        squares = ((x - (nu_q if around is None else around(x))) ** 2).sum() + spread(len(x), tau_q)
        return give(shape(len(x), alpha), prior(beta) + half * squares / count(len(x)))

    return answer


GAMMA_MISTAKES = {
    "E[mu]^2 for E[mu^2]": Mistake(
        _gamma_factor(spread=lambda n, t: 0),
        "Your shape is right. In the rate you put the mean of mu in: the average of (x_i - mu)^2 contains the variance of mu as well.",
    ),
    "one variance": Mistake(
        _gamma_factor(spread=lambda n, t: 1 / t), "In the rate the variance of mu is counted once; it is in each of the squares."
    ),
    "tau_q a variance": Mistake(_gamma_factor(spread=lambda n, t: n * t), "In the rate you took tau_q for a variance. It is a precision."),
    "averaged": Mistake(
        _gamma_factor(count=lambda n: n), "Your shape is right. In the rate you averaged the squares over the readings. They add up."
    ),
    "no prior": Mistake(
        _gamma_factor(shape=lambda n, a: n / 2, prior=lambda b: 0),
        "You left alpha or beta out, or both: the prior of gamma is a factor, too.",
    ),
    "beta a scale": Mistake(
        _gamma_factor(prior=lambda b: 1 / b), "Your shape is right. In the rate you took beta for a scale. It is a rate."
    ),
    "half missing in the rate": Mistake(
        _gamma_factor(half=1.0), "Your shape is right. In the rate a factor is missing: look at the exponent of the normal density."
    ),
    "half missing in the shape": Mistake(
        _gamma_factor(shape=lambda n, a: a + n), "In the shape an observation counts one half: its density has the root of gamma in front."
    ),
    "both halves missing": Mistake(
        _gamma_factor(shape=lambda n, a: a + n, half=1.0), "You count each observation twice. The log density of one has 1/2 in front."
    ),
    "exponent for shape": Mistake(
        _gamma_factor(shape=lambda n, a: a + n / 2 - 1),
        "Your first number is the exponent of gamma in the density. The shape is larger by one.",
    ),
    "scale": Mistake(
        _gamma_factor(give=lambda s, r: (s, 1 / r)), "Your second number is the scale, one over the rate. The rate was asked for."
    ),
    "around the sample mean": Mistake(
        _gamma_factor(around=np.mean), "Your shape is right. Your squares are around the sample mean; q(mu) is centred at nu_q."
    ),
}
GAMMA_KIN = {"no prior": [_gamma_factor(shape=lambda n, a: n / 2), _gamma_factor(prior=lambda b: 0)]}


def _mu_factor(top=lambda total, n, g, tau: g * total, bend=lambda n, g, tau: tau + n * g, give=lambda b: b):
    def answer(x, g, tau):
        bent = bend(len(x), g, tau)
        return top(x.sum(), len(x), g, tau) / bent, give(bent)

    return answer


MU_MISTAKES = {
    "variance": Mistake(_mu_factor(give=lambda b: 1 / b), "Your second number is the variance. The precision was asked for."),
    "standard deviation": Mistake(
        _mu_factor(give=lambda b: b**-0.5), "Your second number is the standard deviation. The precision was asked for."
    ),
    "sample mean": Mistake(
        _mu_factor(top=lambda total, n, g, tau: total / n * (tau + n * g)),
        "Your precision is right, and your centre is the sample mean. The prior pulls it towards 0.",
    ),
    "weight forgotten": Mistake(
        _mu_factor(top=lambda total, n, g, tau: total),
        "Your precision is right. In the centre each observation counts as much as its precision, on average E gamma.",
    ),
    "one observation": Mistake(
        _mu_factor(lambda total, n, g, tau: g * total / n, lambda n, g, tau: tau + g),
        "You treat the sample mean as a single observation. It has the precision of all of them together.",
    ),
    "no prior": Mistake(
        _mu_factor(bend=lambda n, g, tau: n * g), "You left the prior of mu out. Its precision is added to those of the data."
    ),
    "tau a variance": Mistake(
        _mu_factor(bend=lambda n, g, tau: 1 / tau + n * g), "You took tau for a variance. It is the prior's precision."
    ),
    "gamma a variance": Mistake(
        lambda x, g, tau: _mu_factor()(x, 1 / g, tau), "You took gamma for a variance. It is the precision of an observation."
    ),
    "exchanged": Mistake(lambda x, g, tau: _mu_factor()(x, g, tau)[::-1], "The two have changed places: the centre comes first."),
}


def _climb(
    mean: Callable[..., Any] = lambda a, b: a / b,
    start: Callable[..., Any] | None = None,
    late: bool = False,
    gamma_first: bool = False,
    more: int = 0,
    keep: bool = False,
    end: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    def answer(x, tau, alpha, beta, rounds):
        g = (start or mean)(alpha, beta)
        nu, t = 0.0, tau
        for _ in range(rounds + more):
            if gamma_first:
                a, b = _gamma_factor()(x, nu, t, alpha, beta)
                nu, t = _mu_factor()(x, mean(a, b), tau)
                continue
            old = nu, t
            nu, t = _mu_factor()(x, g, tau)
            a, b = _gamma_factor()(x, *(old if late else (nu, t)), alpha, beta)
            g = g if keep else mean(a, b)
        return end(nu, t, a, b, x, tau) if end else (nu, t, a, b)

    return answer


def _gamma_anew(x, tau, alpha, beta, rounds):
    a, b = alpha, beta
    for _ in range(rounds):
        nu, t = _mu_factor()(x, a / b, tau)
        a, b = _gamma_factor()(x, nu, t, a, b)
    return nu, t, a, b


ASCENT_MISTAKES = {
    "E gamma kept": Mistake(_climb(keep=True), "Your result is that of the first round. Take E gamma from q(gamma) after each."),
    "rate over shape": Mistake(_climb(lambda a, b: b / a), "Your E gamma is rate over shape. The mean is shape over rate."),
    "shape times rate": Mistake(_climb(lambda a, b: a * b), "Your E gamma is shape times rate: beta is a rate, not a scale."),
    "mode": Mistake(_climb(lambda a, b: (a - 1) / b), "You took the mode of a gamma. The update of mu needs its mean."),
    "gamma first": Mistake(_climb(gamma_first=True), "You update q(gamma) first. In a round here q(mu) comes first."),
    "old values": Mistake(_climb(late=True), "Your q(gamma) is the best for the old q(mu). A new factor is used at once."),
    "one round fewer": Mistake(_climb(more=-1), "You made one round fewer than asked."),
    "one round more": Mistake(_climb(more=1), "You made one round more than asked."),
    "mu once more": Mistake(
        _climb(end=lambda nu, t, a, b, x, tau: (*_mu_factor()(x, a / b, tau), a, b)),
        "Your q(gamma) is right. You updated q(mu) once more after it; a round ends with q(gamma).",
    ),
    "variance": Mistake(
        _climb(end=lambda nu, t, a, b, x, tau: (nu, 1 / t, a, b)),
        "Your second number is the variance of q(mu). Its precision was asked for; all else is right.",
    ),
    "start at one": Mistake(_climb(start=lambda a, b: 1.0), "You began with E gamma = 1. Begin with the prior's mean."),
    "gamma's prior replaced": Mistake(
        _gamma_anew, "You put the last q(gamma) in place of its prior, so its shape grows in each round. alpha and beta stay."
    ),
}
ASCENT_KIN = {
    "rate over shape": [_climb(start=lambda a, b: b / a), _climb(lambda a, b: b / a, start=lambda a, b: a / b)],
    "shape times rate": [_climb(start=lambda a, b: a * b), _climb(lambda a, b: a * b, start=lambda a, b: a / b)],
    "mode": [_climb(start=lambda a, b: (a - 1) / b), _climb(lambda a, b: (a - 1) / b, start=lambda a, b: a / b)],
}


def _marginal(prior=True, shape=0.5, half=0.5, constant=True, sd=lambda tau: tau**-0.5, less=(0, 0), end=lambda log: log):
    def answer(mu, x, tau, alpha, beta):
        a = alpha + shape * len(x)
        log = -(a - less[0]) * np.log(beta + half * ((x - mu[:, None]) ** 2).sum(axis=1))
        log = log + prior * norm.logpdf(mu, 0, sd(tau)) - constant * len(x) / 2 * np.log(2 * np.pi)
        return end(log + gammaln(a - less[1]) - gammaln(alpha) + alpha * np.log(beta))

    return answer


MARGINAL_MISTAKES = {
    "density": Mistake(_marginal(end=np.exp), "That is the density. Its logarithm was asked for."),
    "no prior of mu": Mistake(_marginal(prior=False), "The prior of mu is missing: it is a part of the joint, too."),
    "half missing in the shape": Mistake(
        _marginal(shape=1), "The shape grows by one half for an observation: its density has the square root of gamma in front."
    ),
    "half missing in the rate": Mistake(_marginal(half=1), "A factor is missing in the rate: look at the exponent of the normal density."),
    "no 2 pi": Mistake(_marginal(constant=False), "Off by a constant that grows with n: look at the front of a normal density."),
    "tau no precision": Mistake(
        _marginal(sd=lambda tau: tau**0.5),
        "In the prior of mu you took tau for a variance, or for a standard deviation. It is a precision.",
    ),
    "exponent": Mistake(
        _marginal(less=(1, 0)),
        "The power of your rate is one off. gamma^(a - 1) stands under the integral, and a is its exponent plus one.",
    ),
    "gamma put in": Mistake(
        lambda mu, x, tau, a, b: norm.logpdf(mu, 0, tau**-0.5) + norm.logpdf(x, mu[:, None], np.sqrt(b / a)).sum(axis=1),
        "You put the prior's mean of gamma in. It is to be integrated out: every gamma counts, with the weight that its prior gives it.",
    ),
}
MARGINAL_KIN = {
    "tau no precision": [_marginal(sd=lambda tau: tau)],
    "exponent": [_marginal(less=(1, 1)), _marginal(less=(-1, 0)), _marginal(less=(-1, -1))],
}
CONSTANT = (
    "As a function of mu it is right, but it is off by a number that is the same at every mu. Constants come from four places: each "
    "reading's density, the prior of mu, the prior of gamma, and the integral."
)
ONE_ROUND = (
    "After one round your four numbers are right, after more they are not. Look at what goes from one round to the next, and at what "
    "stays as it was."
)
THREE_OFF = "The centre, the precision and the rate are off; the rest is right. "


def _but_for_a_constant(verdict: Verdict, answer: Any, cases: list[tuple[Any, ...]], nudge: str) -> Verdict:
    """A verdict that says so if the answer is off by one number at all places, another one on each case."""
    if verdict.passed or not verdict.message.startswith(nudge):
        return verdict
    with np.errstate(all="ignore"):
        try:
            off = [numbers(call(answer, *case))[0] - _marginal_by_sum(*case) for case in cases]
        except Trouble:
            return verdict
    same = all(part.shape == case[0].shape and np.ptp(part) < 1e-3 for part, case in zip(off, cases, strict=True))
    return Verdict(False, CONSTANT) if same and any(abs(part[0]) > 1e-2 for part in off) else verdict


def _after_one(verdict: Verdict, answer: Any, cases: list[tuple[Any, ...]], nudge: str) -> Verdict:
    """A verdict that says so if the answer is right as long as one round is asked for."""
    if verdict.passed or not verdict.message.endswith(nudge):
        return verdict
    once = [(*case[:-1], 1) for case in cases]
    if quiet(answer, once, _ascended, {}, right="", nudge="").passed:
        return Verdict(False, ONE_ROUND)
    return verdict


def _data(rng: np.random.Generator, n: int) -> np.ndarray:
    """A sample away from 0 with a spread of its own."""
    x = rng.normal(size=n)
    return rng.choice([-1, 1]) * rng.uniform(2, 4) + rng.uniform(0.8, 1.5) * (x - x.mean()) / x.std()


def gamma_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 310])
    cases = []
    for n, ends in ((5, (1.5, 2.5)), (3, (0.3, 0.6)), (8, (0.6, 0.8))):
        x, tau_q, alpha, beta = _data(rng, n), rng.uniform(*ends), rng.uniform(1, 3), rng.uniform(0.5, 3)
        cases.append((x, float(x.mean() + rng.uniform(0.3, 0.8)), float(tau_q), float(alpha), float(beta)))
    right = "Right. The rate holds what is known of mu and what is not: a q(mu) of a larger variance makes the precision smaller."
    nudge = "Not that gamma. With x = [1, 2], nu_q = 2, tau_q = 1/2, alpha = 1 and beta = 3 it has shape 2 and rate 5.5."
    mistakes = with_kin(GAMMA_MISTAKES, GAMMA_KIN)
    verdict = quiet(answer, cases, _gamma_by_nodes, mistakes, right=right, nudge=nudge, parts=("the shape", "the rate"))
    return settled(verdict, answer, cases, gamma_stub, nudge)


def mu_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 311])
    kinds = (4, (0.2, 0.5), (0.3, 0.7)), (6, (1.5, 3), (2, 4)), (3, (1.2, 2), (1.3, 2))
    cases = [(_data(rng, n), float(rng.uniform(*g)), float(rng.uniform(*tau))) for n, g, tau in kinds]
    right = "Right: the conditional of Gibbs sampling, with the mean of gamma where a draw of it would stand."
    nudge = "Not that normal. With x = [1, 2, 6], mean_gamma = 3 and tau = 1 it has centre 2.7 and precision 10."
    verdict = quiet(answer, cases, _mu_by_nodes, MU_MISTAKES, right=right, nudge=nudge, parts=("the centre", "the precision"))
    return settled(verdict, answer, cases, mu_stub, nudge)


def ascent_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 312])
    cases = []
    for n, rounds in ((4, 2), (5, 3), (3, 5)):  # few observations, so that a round still moves something
        cases.append((_data(rng, n), float(rng.uniform(0.5, 1.0)), float(rng.uniform(1.5, 2.5)), float(rng.uniform(3, 5)), rounds))
    right = "Right. Only E gamma goes from one factor to the other, and alpha_q is the same in every round."
    nudge = "Not those four. With x = [2, 2], tau = 1, alpha = 1 and beta = 2, two rounds give 1.0667, 2.1429, 2 and 3.3378."
    parts = ("the centre", "the precision", "the shape", "the rate")
    verdict = quiet(answer, cases, _ascended, with_kin(ASCENT_MISTAKES, ASCENT_KIN), right=right, nudge=nudge, parts=parts)
    verdict = settled(_after_one(verdict, answer, cases, nudge), answer, cases, ascent_stub, nudge)
    return Verdict(verdict.passed, verdict.message.replace(THREE_OFF, "Only the shape is right. "))


def marginal_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 313])
    cases = []
    for n in (4, 2, 6):
        x, tau, alpha, beta = _data(rng, n), rng.uniform(0.1, 0.5), rng.uniform(1.5, 3), rng.uniform(1.6, 4)
        cases.append((x.mean() + np.array([-1.5, 0.2, 1.0, 2.0]), x, float(tau), float(alpha), float(beta)))
    right = "Right. Not to know gamma makes the tails fatter than those of any normal q(mu) that fits in the middle."
    nudge = "Not that. With mu = [1], x = [0, 2, 3], tau = 4, alpha = 2 and beta = 3 it is [-7.8556]."
    verdict = quiet(answer, cases, _marginal_by_sum, with_kin(MARGINAL_MISTAKES, MARGINAL_KIN), right=right, nudge=nudge)
    return settled(_but_for_a_constant(verdict, answer, cases, nudge), answer, cases, marginal_stub, nudge)


TASKS = (
    Task(
        "vi/simple-model/gamma",
        "The simple model: the factor of the precision",
        1,
        9,
        gamma_stub,
        (
            "Take the log joint, keep what has gamma in it, and average over mu. What is the average of a square (x_i - mu)^2 under q(mu)?",
            "E (x_i - mu)^2 = (x_i - nu_q)^2 + 1 / tau_q. One observation has the log density (1/2) log gamma - (gamma / 2) (x_i - mu)^2.",
            "Begin with `squares = (x - nu_q) ** 2 + 1 / tau_q`",
        ),
        GAMMA_MISTAKES,
        gamma_verdict,
    ),
    Task(
        "vi/simple-model/mu",
        "The simple model: the factor of the mean",
        1,
        7,
        mu_stub,
        (
            "Keep what has mu in it, and average over gamma. Gamma stands there only as a factor, so its mean is all that is needed.",
            "-(tau / 2) mu^2 - (E gamma / 2) sum of (x_i - mu)^2: a parabola. Its second derivative is minus tau_q, its top is at nu_q.",
            "Begin with `tau_q = tau + len(x) * mean_gamma`",
        ),
        MU_MISTAKES,
        mu_verdict,
    ),
    Task(
        "vi/simple-model/ascent",
        "The simple model: rounds",
        1,
        8,
        ascent_stub,
        (
            "Part 2 needs one number of q(gamma), Part 1 needs both numbers of q(mu). Which number travels from one round to the next?",
            "E gamma = alpha / beta at first, then in each round: q(mu) from E gamma, q(gamma) from q(mu), E gamma = alpha_q / beta_q.",
            "Begin with `mean_gamma = alpha / beta`",
        ),
        ASCENT_MISTAKES,
        ascent_verdict,
    ),
    Task(
        "vi/simple-model/marginal",
        "The simple model: the exact answer",
        1,
        10,
        marginal_stub,
        (
            "For a fixed mu the joint is a constant times a gamma density that has lost its own constant. So the integral is known.",
            "The integral of gamma^(a - 1) exp(-b gamma) is Gamma(a) / b^a. Here a = alpha + n/2 and b = beta + sum of (x_i - mu)^2 / 2.",
            "Begin with `a = alpha + len(x) / 2`",
        ),
        MARGINAL_MISTAKES,
        marginal_verdict,
    ),
)
