"""A bound that rises. Roads: log densities from SciPy, averaged over a fine grid, over nodes, and over points exact for quadratics."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import expon, gamma, norm

from course_pkg.checks._judge import Mistake, Task, Trouble, Verdict, call, numbers
from course_pkg.checks._quiet import quiet
from course_pkg.checks._settle import settled
from course_pkg.checks._tables import with_kin
from course_pkg.checks.gradients._tools import NODES, WEIGHTS

LOG_2PI = float(np.log(2 * np.pi))


def _z(claimed: float, log_joint: np.ndarray, log_q: np.ndarray) -> float:
    """One draw after the other, by running mean and sum of squares."""
    mean = squares = 0.0
    for k, ratio in enumerate(log_joint - log_q, start=1):
        step = ratio - mean
        mean += step / k
        squares += step * (ratio - mean)
    n = len(log_q)
    return float((claimed - mean) / np.sqrt(squares / n / n))


def _log_grid(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Places of a gamma and their weights, on a grid of the logarithm."""
    centre, reach = np.log(a / b), 12 / np.sqrt(a) + 12
    t = np.linspace(centre - 3 * reach, centre + reach, 20_001)
    log_w = gamma.logpdf(np.exp(t), a, scale=1 / b) + t
    return np.exp(t), np.exp(log_w - logsumexp(log_w))


def _waiting(x: np.ndarray, a: float, b: float, a0: float, b0: float) -> float:
    at, w = _log_grid(a, b)
    ratio = gamma.logpdf(at, a0, scale=1 / b0) - gamma.logpdf(at, a, scale=1 / b)
    return float(w @ (ratio + sum(expon.logpdf(one, scale=1 / at) for one in x)))


def _weights(X: np.ndarray, y: np.ndarray, m: np.ndarray, sd: np.ndarray, s: float, s0: float) -> float:
    """An average over 2d points that has the right mean and variances is exact for sums of squares."""
    arms = np.sqrt(len(m)) * np.diag(sd)
    points = np.concatenate([m + arms, m - arms])
    each = [norm.logpdf(y, X @ w, s).sum() + norm.logpdf(w, 0, s0).sum() - norm.logpdf(w, m, sd).sum() for w in points]
    return float(np.mean(each))


def _sample(x: np.ndarray, nu_q: float, tau_q: float, alpha_q: float, beta_q: float, tau: float, alpha: float, beta: float) -> float:
    at, w = _log_grid(alpha_q, beta_q)
    out = w @ (gamma.logpdf(at, alpha, scale=1 / beta) - gamma.logpdf(at, alpha_q, scale=1 / beta_q))
    for mu, weight in zip(nu_q + NODES / np.sqrt(tau_q), WEIGHTS, strict=True):
        out += weight * (norm.logpdf(mu, 0, tau**-0.5) - norm.logpdf(mu, nu_q, tau_q**-0.5))
        out += weight * (w @ norm.logpdf(x[:, None], mu, at**-0.5).sum(axis=0))
    return float(out)


def z_stub(claimed: float, log_joint: np.ndarray, log_q: np.ndarray) -> Any:
    raise NotImplementedError


def waiting_stub(x: np.ndarray, a: float, b: float, a0: float, b0: float) -> Any:
    raise NotImplementedError


def weights_stub(X: np.ndarray, y: np.ndarray, m: np.ndarray, sd: np.ndarray, s: float, s0: float) -> Any:
    raise NotImplementedError


def sample_stub(x: np.ndarray, nu_q: float, tau_q: float, alpha_q: float, beta_q: float, tau: float, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def _score(value=lambda j, q: j - q, centre=np.mean, error=lambda v: v.std() / np.sqrt(len(v)), end=lambda z: z):
    def answer(claimed, log_joint, log_q):
        values = value(log_joint, log_q)
        return end((claimed - centre(values)) / error(values))

    return answer


Z_MISTAKES = {
    "entropy's sign": Mistake(_score(value=lambda j, q: j + q), "You added log q. The entropy is minus log q on average."),
    "no entropy": Mistake(_score(value=lambda j, q: j), "You compared with the average of log joint alone. The entropy of q is missing."),
    "ratio upside down": Mistake(_score(value=lambda j, q: q - j), "You averaged log q - log joint, which is minus the bound."),
    "evidence": Mistake(
        _score(centre=lambda v: logsumexp(v) - np.log(len(v))),
        "You took the logarithm of an average, an estimate of the log evidence. The bound is the average of the logarithm.",
    ),
    "spread of one draw": Mistake(
        _score(error=np.std), "You divided by the spread of one draw. An average of S draws has an error smaller by the root of S."
    ),
    "divided by S": Mistake(
        _score(error=lambda v: v.std() / len(v)),
        "You divided the spread by S. An average of S draws has an error smaller by the root of S.",
    ),
    "mean less claim": Mistake(
        _score(end=lambda z: -z), "The sign is turned: above zero should mean that more is claimed than the draws support."
    ),
    "size": Mistake(_score(end=abs), "Right but for the sign, which is lost. A claim that is too low has a score below zero."),
    "not divided": Mistake(_score(error=lambda v: 1.0), "You have the difference in nats. Divide it by its standard error."),
    "two errors": Mistake(
        lambda c, j, q: (c - (j - q).mean()) / np.sqrt((j.var() + q.var()) / len(q)),
        "You added the variances of log joint and log q. They belong to the same draws: take differences first.",
    ),
}


def _gamma_entropy(a, b):
    return a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)


def _waited(prior=1.0, constant=1.0, entropy=_gamma_entropy, log_mean=lambda a, b: digamma(a) - np.log(b)):
    def answer(x, a, b, a0, b0):
        E, E_log = a / b, log_mean(a, b)
        fit = len(x) * E_log - E * x.sum()
        of_prior = constant * (a0 * np.log(b0) - gammaln(a0)) + (a0 - 1) * E_log - b0 * E
        return fit + prior * of_prior + entropy(a, b)

    return answer


WAITING_MISTAKES = {
    "as it was": Mistake(
        _waited(entropy=lambda a, b: -_gamma_entropy(a, b)),
        "That is the program's bound still. Which of its three terms grows without end as q becomes narrow, and should it?",
    ),
    "no entropy": Mistake(_waited(entropy=lambda a, b: 0.0), "Now the entropy is gone. What was wrong with it was its sign."),
    "all turned round": Mistake(
        lambda *case: 2 * _gamma_entropy(case[1], case[2]) - _waited()(*case), "You turned more than one term round. Two were right."
    ),
    "log of the mean": Mistake(
        _waited(log_mean=lambda a, b: np.log(a / b)),
        "You put log(a / b) for the average of log theta. The logarithm of an average is not the average of the logarithm.",
    ),
    "no prior": Mistake(_waited(prior=0.0), "The prior is missing. It was right as it stood."),
    "prior's constant": Mistake(_waited(constant=0.0), "You left the constant of the prior out."),
    "digamma's sign": Mistake(
        _waited(entropy=lambda a, b: _gamma_entropy(a, b) - 2 * (1 - a) * digamma(a)),
        "In the entropy the term with digamma has the wrong sign.",
    ),
    "rate's sign": Mistake(
        _waited(entropy=lambda a, b: _gamma_entropy(a, b) + 2 * np.log(b)),
        "In the entropy the term with log b has the wrong sign: a larger rate makes q narrower.",
    ),
    "absolute value": Mistake(
        _waited(entropy=lambda a, b: abs(_gamma_entropy(a, b))),
        "You took the entropy without its sign. A narrow density has an entropy below zero, which is what keeps q from collapsing.",
    ),
}


def _regressed(each=0.5 * (LOG_2PI + 1), log_sd=1.0, in_fit=lambda X, sd: (X**2).sum(0) @ sd**2, in_prior=1.0, constant=1.0):
    def answer(X, y, m, sd, s, s0):
        misfit = ((y - X @ m) ** 2).sum() + in_fit(X, sd)
        fit = -len(y) * constant * (np.log(s) + LOG_2PI / 2) - misfit / (2 * s**2)
        prior = -len(m) * (np.log(s0) + LOG_2PI / 2) - (m**2 + in_prior * sd**2).sum() / (2 * s0**2)
        return fit + prior + (each(len(m)) if callable(each) else each * len(m)) + log_sd * np.log(sd).sum()

    return answer


WEIGHTS_MISTAKES = {
    "as it was": Mistake(
        _regressed(log_sd=0.5),
        "That is the program's bound still. Make all of sd ten times as large: by how much should the entropy of each factor grow?",
    ),
    "twice": Mistake(
        _regressed(log_sd=2.0),
        "Your entropy now grows by twice the logarithm of sd. If a density is stretched ten times, its entropy grows by log 10.",
    ),
    "no entropy": Mistake(_regressed(each=0.0, log_sd=0.0), "Now the entropy is gone. It is too flat in sd, and not superfluous."),
    "no constant": Mistake(_regressed(each=0.0), "Off by a constant: a standard normal has an entropy, too."),
    "one constant": Mistake(
        _regressed(each=lambda d: 0.5 * (LOG_2PI + 1)),
        "Off by a constant: each of the d factors has the entropy of a standard normal in it.",
    ),
    "half dropped": Mistake(
        _regressed(each=LOG_2PI + 1),
        "Off by a constant for each weight. As a function of sd your entropy is right; what does that of a standard normal come to?",
    ),
    "entropy's sign": Mistake(
        _regressed(each=-0.5 * (LOG_2PI + 1), log_sd=-1.0), "Your entropy has the wrong sign: a wider q has more of it."
    ),
    "no spread in the fit": Mistake(
        _regressed(in_fit=lambda X, sd: 0.0), "Your misfit has lost the variances of the weights. There it was right."
    ),
    "no spread in the prior": Mistake(_regressed(in_prior=0.0), "Your prior has lost the variances of the weights. There it was right."),
    "whole table": Mistake(
        _regressed(in_fit=lambda X, sd: ((X @ sd) ** 2).sum()),
        "Your misfit has products of two different sds in it. The factors are independent: only variances add up.",
    ),
    "e forgotten": Mistake(_regressed(each=0.5 * LOG_2PI), "Off by one half for each weight. What is the average of eps^2 / 2?"),
}


def _sampled(
    pi=LOG_2PI,
    spread=lambda t: 1 / t,
    log_mean=lambda a, b: digamma(a) - np.log(b),
    kl_mu=-1.0,
    kl_gamma=-1.0,
    count=len,
    half=0.5,
    turned=(1, 1),
    in_kl=lambda t: t,
):
    def answer(x, nu, t, a, b, tau, alpha, beta):
        fit = 0.5 * (len(x) * log_mean(a, b) - a / b * (((x - nu) ** 2).sum() + spread(t) * len(x))) - half * count(x) * pi
        of_mu = 0.5 * (tau * (nu**2 + 1 / in_kl(t)) - 1 + turned[0] * np.log(in_kl(t) / tau))
        of_gamma = (a - alpha) * digamma(a) - gammaln(a) + gammaln(alpha) + turned[1] * alpha * np.log(b / beta) + a * (beta - b) / b
        return fit + kl_mu * of_mu + kl_gamma * of_gamma

    return answer


LOG_PI = np.log(np.pi)


SAMPLE_MISTAKES = {
    "as it was": Mistake(
        _sampled(pi=LOG_PI),
        "That is the program's bound still. It is off by the same amount for every q: look at what does not depend on q.",
    ),
    "no constant": Mistake(_sampled(pi=0.0), "You took the constant of the likelihood out. A normal density has one."),
    "constant once": Mistake(_sampled(count=lambda x: 1), "Your constant stands there once. Each observation has one."),
    "constant not halved": Mistake(_sampled(half=1.0), "Your constant is doubled: a normal density has the root of 2 pi below the bar."),
    "E[mu]^2 for E[mu^2]": Mistake(_sampled(spread=lambda t: 0.0), "Your misfit has lost the variance of mu. There it was right."),
    "log of the mean": Mistake(
        _sampled(log_mean=lambda a, b: np.log(a / b)), "You put the log of E gamma for the average of log gamma. There it was right."
    ),
    "divergences added": Mistake(_sampled(kl_mu=1.0, kl_gamma=1.0), "You added the divergences. Both were right: they are taken off."),
    "no divergence of mu": Mistake(
        _sampled(kl_mu=0.0), "The divergence of q(mu) from its prior was right as it stood. In yours it is missing or changed."
    ),
    "no divergence of gamma": Mistake(
        _sampled(kl_gamma=0.0), "The divergence of q(gamma) from its prior was right as it stood. In yours it is missing or changed."
    ),
    "tau_q a variance": Mistake(
        _sampled(spread=lambda t: t, in_kl=lambda t: 1 / t), "You took tau_q for a variance. It is a precision, and stood there as one."
    ),
}
SAMPLE_KIN = {
    "no divergence of mu": [_sampled(pi, kl_mu=0.0) for pi in [LOG_PI]] + [_sampled(pi, turned=(-1, 1)) for pi in (LOG_PI, LOG_2PI)],
    "no divergence of gamma": [_sampled(pi, kl_gamma=0.0) for pi in [LOG_PI]] + [_sampled(pi, turned=(1, -1)) for pi in (LOG_PI, LOG_2PI)],
    "tau_q a variance": [
        _sampled(pi, spread=spread, in_kl=in_kl)
        for pi in (LOG_PI, LOG_2PI)
        for spread, in_kl in ((lambda t: t, lambda t: 1 / t), (lambda t: t, lambda t: t), (lambda t: 1 / t, lambda t: 1 / t))
    ],
}
OF_Q = (
    "Between two different q yours moves by another amount than the program does, and there the program is right: its slip is the same for "
    "every q. So you changed, or lost, something that was right. "
)
NOT_THAT = "Not that bound. "
NOT_OF_Q = "As a function of q it is right. What is off does not depend on q. "


def _by_q(
    verdict: Verdict,
    answer: Any,
    cases: list[tuple[Any, ...]],
    nudge: str,
    right: Callable[..., Any],
    other_q: Callable[..., tuple[Any, ...]],
    of_q: str = "",
) -> Verdict:
    """A verdict that says whether what is off depends on q: each case is tried with another q, too."""
    if verdict.passed or not verdict.message.startswith(nudge):
        return verdict
    steps = []
    with np.errstate(all="ignore"):
        try:
            for case in cases:
                other = other_q(*case)
                yours, theirs = (float(numbers(call(f, *case))[0] - numbers(call(f, *other))[0]) for f in (answer, right))
                steps.append(abs(yours - theirs) < 1e-3 * (1 + abs(theirs)))
        except Trouble:
            return verdict
    if any(steps) and not all(steps):
        return verdict
    words = NOT_OF_Q if all(steps) else of_q
    return Verdict(False, words + nudge.removeprefix(NOT_THAT)) if words else verdict


def z_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 320])
    cases = []
    for draws, by in ((300, 2.0), (500, -3.0), (400, 5.0)):
        log_q = rng.normal(-2.0, 1.0, draws)
        log_joint = 0.6 * log_q + rng.normal(-6.0, 1.2, draws)
        claimed = (log_joint - log_q).mean() + by * rng.uniform(0.7, 1.3) * (log_joint - log_q).std() / np.sqrt(draws)
        cases.append((float(claimed), log_joint, log_q))
    right = "Right. A true bound stays within 2 on most runs, and almost never leaves 4, however many draws are taken."
    nudge = "Not that score. With claimed = 3, log_joint 0 at 200 draws and 2 at 200 others and log_q = 0 at all of them, the mean is 1, "
    nudge += "its error 1/20 and the score 40."
    # the spread may be divided by S or by S - 1
    verdict = quiet(answer, cases, _z, Z_MISTAKES, right=right, nudge=nudge, rtol=4e-3)
    return settled(verdict, answer, cases, z_stub, nudge)


def waiting_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 321])
    cases = []
    for n, a, b in ((3, (2, 4), (14, 20)), (5, (0.6, 0.9), (0.3, 0.6)), (4, (20, 40), (10, 15))):
        rest = [float(rng.uniform(*ends)) for ends in (a, b, (1.5, 3), (1.5, 3))]
        cases.append((rng.exponential(2.0, n), *rest))
    right = "Right. If q is the prior and there are no data it is 0; if q is the posterior it is the log evidence."
    nudge = f"{NOT_THAT}With x = [1, 3], a = 4, b = 3, a0 = 3 and b0 = 2 it is -5.0589."
    verdict = quiet(answer, cases, _waiting, WAITING_MISTAKES, right=right, nudge=nudge)
    verdict = _by_q(verdict, answer, cases, nudge, _waited(), lambda x, a, b, *priors: (x, 1.9 * a, 0.6 * b, *priors))
    return settled(verdict, answer, cases, waiting_stub, nudge.removeprefix(NOT_THAT))


def weights_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 322])
    cases = []
    for n, d, sd in ((6, 2, (0.05, 0.2)), (5, 3, (1.5, 3.0)), (8, 2, (0.2, 0.6))):
        X = rng.normal(size=(n, d)) + 0.5
        y, m, s, s0 = rng.normal(size=n), rng.normal(size=d), rng.uniform(0.5, 0.8), rng.uniform(1.5, 3)
        cases.append((X, y, m, rng.uniform(sd[0], sd[1], d), float(s), float(s0)))
    right = "Right. With half the logarithm a climb ends at a q whose standard deviations are too small by the root of 2."
    nudge = f"{NOT_THAT}With X = [[1, 0], [1, 2]], y = [2, 0], m = [1, 0], sd = [1/2, 1], s = 1 and s0 = 2 it is -6.4486."
    verdict = quiet(answer, cases, _weights, WEIGHTS_MISTAKES, right=right, nudge=nudge)
    verdict = _by_q(verdict, answer, cases, nudge, _regressed(), lambda X, y, m, sd, *scales: (X, y, 0.4 - m, 1.7 * sd**0.8, *scales))
    return settled(verdict, answer, cases, weights_stub, nudge.removeprefix(NOT_THAT))


def sample_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 323])
    ranges = (0.5, 2), (0.8, 3), (3, 6), (1, 3), (0.2, 0.7), (1.2, 3), (1.2, 3)
    cases = [(rng.normal(1.5, 1.0, n), *(float(rng.uniform(*ends)) for ends in ranges)) for n in (4, 6, 3)]
    right = "Right. The q that was found was the best all along; only the value was wrong, and every comparison with it."
    nudge = f"{NOT_THAT}With x = [1, 2], nu_q = 1, tau_q = 4, alpha_q = 2, beta_q = 3, tau = 2 and alpha = beta = 1 it is -4.2983."
    verdict = quiet(answer, cases, _sample, with_kin(SAMPLE_MISTAKES, SAMPLE_KIN), right=right, nudge=nudge)
    verdict = _by_q(
        verdict,
        answer,
        cases,
        nudge,
        _sampled(),
        lambda x, nu, t, a, b, *priors: (x, nu + 0.7, 2.5 * t, 0.6 * a, 1.7 * b, *priors),
        OF_Q,
    )
    return settled(verdict, answer, cases, sample_stub, nudge.removeprefix(NOT_THAT))


TASKS = (
    Task(
        "vi/bound-that-rises/score",
        "A bound that rises: a check by draws",
        2,
        8,
        z_stub,
        (
            "A bound is the average of something under q. Average the same thing over the draws, and see how far off the claim is.",
            "score = (claimed - mean r) / (sd of r / sqrt S), where r = log joint - log q at each of the S draws.",
            "Begin with `ratio = log_joint - log_q`",
        ),
        Z_MISTAKES,
        z_verdict,
    ),
    Task(
        "vi/bound-that-rises/waiting",
        "A bound that rises: waiting times",
        2,
        8,
        waiting_stub,
        (
            "Ask of each of the three terms: what average is it, and how must it move if q gets wider? One of them moves the wrong way.",
            "L = E log p(x | theta) + E log p(theta) - E log q(theta); for a gamma, E log theta = digamma(a) - log b.",
            "Begin with `log_q = a * np.log(b) - gammaln(a) + (a - 1) * (digamma(a) - np.log(b)) - a`, the average of log q under q.",
        ),
        WAITING_MISTAKES,
        waiting_verdict,
    ),
    Task(
        "vi/bound-that-rises/weights",
        "A bound that rises: weights",
        2,
        8,
        weights_stub,
        (
            "Two of the terms hold averages of squares, the third one an average of log q. Work the third one out for a single normal.",
            "- E log N(w; m, sd^2) = (1/2) log(2 pi) + log sd + (1/2) E (w - m)^2 / sd^2, for each factor.",
            "Begin with `standard = 0.5 * np.log(2 * np.pi) + 0.5`, the entropy of a factor with sd = 1. What does another sd add?",
        ),
        WEIGHTS_MISTAKES,
        weights_verdict,
    ),
    Task(
        "vi/bound-that-rises/sample",
        "A bound that rises: a sample",
        2,
        10,
        sample_stub,
        (
            "The program ends at the same q as the right one. So what is wrong does not depend on q.",
            "A reading has the density (gamma / (2 pi))^(1/2) exp(-(gamma / 2) (x - mu)^2). Average its logarithm, and compare the parts.",
            "Begin with `constant = -0.5 * len(x) * np.log(2 * np.pi)`",
        ),
        SAMPLE_MISTAKES,
        sample_verdict,
    ),
)
