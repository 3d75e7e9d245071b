"""A bound that rises. Roads: log densities from SciPy, averaged over a fine grid, over nodes, and over points exact for quadratics."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import expon, gamma, norm

from course_pkg.checks.record import Record
from solutions.vi._tools import beside

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(5)  # exact for squares


def score_in_passing(claimed, log_joint, log_q):
    """One draw after the other, by running mean and sum of squares."""
    mean = squares = 0.0
    for k, ratio in enumerate(log_joint - log_q, start=1):
        step = ratio - mean
        mean += step / k
        squares += step * (ratio - mean)
    return (claimed - mean) / np.sqrt(squares / len(log_q) ** 2)


def log_grid(a, b):
    """Places of a gamma and their weights, on a grid of the logarithm."""
    centre, reach = np.log(a / b), 12 / np.sqrt(a) + 12
    t = np.linspace(centre - 3 * reach, centre + reach, 4001)
    log_w = gamma.logpdf(np.exp(t), a, scale=1 / b) + t
    return np.exp(t), np.exp(log_w - logsumexp(log_w))


def waiting(x, a, b, a0, b0):
    at, w = log_grid(a, b)
    ratio = gamma.logpdf(at, a0, scale=1 / b0) - gamma.logpdf(at, a, scale=1 / b)
    return float(w @ (ratio + sum(expon.logpdf(one, scale=1 / at) for one in x)))


def weights(X, y, m, sd, s, s0):
    """An average over 2d points that has the right mean and variances is exact for sums of squares."""
    arms = np.sqrt(len(m)) * np.diag(sd)
    points = np.concatenate([m + arms, m - arms])
    return np.mean([norm.logpdf(y, X @ w, s).sum() + norm.logpdf(w, 0, s0).sum() - norm.logpdf(w, m, sd).sum() for w in points])


def sample(x, nu_q, tau_q, alpha_q, beta_q, tau, alpha, beta):
    at, w = log_grid(alpha_q, beta_q)
    out = w @ (gamma.logpdf(at, alpha, scale=1 / beta) - gamma.logpdf(at, alpha_q, scale=1 / beta_q))
    for mu, weight in zip(nu_q + NODES / np.sqrt(tau_q), WEIGHTS / WEIGHTS.sum(), strict=True):
        out += weight * (norm.logpdf(mu, 0, tau**-0.5) - norm.logpdf(mu, nu_q, tau_q**-0.5))
        out += weight * (w @ norm.logpdf(x[:, None], mu, at**-0.5).sum(axis=0))
    return float(out)


waiting_elsewhere = lambda x, a, b, *priors: (x, 1.9 * a, 0.6 * b, *priors)
weights_elsewhere = lambda X, y, m, sd, *scales: (X, y, 0.4 - m, 1.7 * sd**0.8, *scales)
sample_elsewhere = lambda x, nu, t, a, b, *priors: (x, nu + 0.7, 2.5 * t, 0.6 * a, 1.7 * b, *priors)
both = lambda reference, elsewhere: lambda *case: (reference(*case) - reference(*elsewhere(*case)), reference(*case))


def draws(rng):
    for n, by in ((300, 2.0), (500, -3.0), (400, 5.0)):
        log_q = rng.normal(-2.0, 1.0, n)
        log_joint = 0.6 * log_q + rng.normal(-6.0, 1.2, n)
        yield (log_joint - log_q).mean() + by * rng.uniform(0.7, 1.3) * (log_joint - log_q).std() / np.sqrt(n), log_joint, log_q


def waits(rng):
    for n, a, b in ((3, (2, 4), (14, 20)), (5, (0.6, 0.9), (0.3, 0.6)), (4, (20, 40), (10, 15))):
        yield rng.exponential(2.0, n), *(rng.uniform(*ends) for ends in (a, b, (1.5, 3), (1.5, 3)))


def tables(rng):
    for n, d, sd in ((6, 2, (0.05, 0.2)), (5, 3, (1.5, 3.0)), (8, 2, (0.2, 0.6))):
        X, y, m = rng.normal(size=(n, d)) + 0.5, rng.normal(size=n), rng.normal(size=d)
        yield X, y, m, rng.uniform(*sd, d), rng.uniform(0.5, 0.8), rng.uniform(1.5, 3)


def samples(rng):
    ranges = (0.5, 2), (0.8, 3), (3, 6), (1, 3), (0.2, 0.7), (1.2, 3), (1.2, 3)
    return [(rng.normal(1.5, 1.0, n), *(rng.uniform(*ends) for ends in ranges)) for n in (4, 6, 3)]


PARTS = ("how it depends on q", "what does not depend on q")
SCORE = Record(
    cases=draws,
    reference=score_in_passing,
    right="Right. A true bound stays within 2 on most runs, and almost never leaves 4, however many draws are taken.",
    nudge="Not that score. With claimed = 3, log_joint 0 at 200 draws and 2 at 200 others and log_q = 0 at all of them, the mean is 1, its error "
    "1/20 and the score 40.",
    hints=(
        "A bound is the average of something under q. Average the same thing over the draws, and see how far off the claim is.",
        "score = (claimed - mean r) / (sd of r / sqrt S), where r = log joint - log q at each of the S draws.",
        "Begin with `ratio = log_joint - log_q`",
    ),
    mistakes={
        "You took the logarithm of an average. The bound is the average of the logarithm.": "ratio.mean() -> np.logaddexp.reduce(ratio) + np.log(len(ratio))",
        "You divided by the spread of one draw. An average of S draws has an error smaller by the root of S.": "/ np.sqrt(len(ratio)) -> ",
        "You have the difference in nats. Divide it by its standard error.": "/ (ratio.std() / np.sqrt(len(ratio))) -> ",
        "Right but for the sign, which is lost. A claim that is too low has a score below zero.": "return (claimed -> return abs(claimed",
        "You added two variances. They belong to the same draws: take differences first.": "ratio.std() -> np.sqrt(log_joint.var() + log_q.var())",
    },
    rtol=4e-3,  # the spread may be divided by S or by S - 1
)
WAITING = Record(
    cases=waits,
    reference=both(waiting, waiting_elsewhere),
    view=beside(waiting_elsewhere),
    right="Right. If q is the prior and there are no data it is 0; if q is the posterior it is the log evidence.",
    nudge="Not that bound. With x = [1, 3], a = 4, b = 3, a0 = 3 and b0 = 2 it is -5.0589.",
    hints=(
        "Ask of each of the three terms: what average is it, and how must it move if q gets wider? One of them moves the wrong way.",
        "L = E log p(x | theta) + E log p(theta) - E log q(theta); for a gamma, E log theta = digamma(a) - log b.",
        "Begin with `log_q = a * np.log(b) - gammaln(a) + (a - 1) * (digamma(a) - np.log(b)) - a`, the average of log q under q.",
    ),
    mistakes={
        "That is the program's bound still. Which of its three terms grows without end as q becomes narrow, and should it?": "- log_q -> + log_q",
        "Now the entropy is gone. What was wrong with it was its sign.": "- log_q -> ",
        "The logarithm of an average, log(a / b), is not the average of the logarithm.": "a / b, digamma(a) - np.log(b) -> a / b, np.log(a / b)",
        "The prior is missing. It was right as it stood.": "+ log_prior -> ",
        "You took the entropy without its sign. A narrow density has an entropy below zero, which is what keeps q from collapsing.": "- log_q -> + abs(log_q)",
    },
    parts=PARTS,
)
WEIGHTS_OF_ROWS = Record(
    cases=tables,
    reference=both(weights, weights_elsewhere),
    view=beside(weights_elsewhere),
    right="Right. With half the logarithm a climb ends at a q whose standard deviations are too small by the root of 2.",
    nudge="Not that bound. With X = [[1, 0], [1, 2]], y = [2, 0], m = [1, 0], sd = [1/2, 1], s = 1 and s0 = 2 it is -6.4486.",
    hints=(
        "Two of the terms hold averages of squares, the third one an average of log q. Work the third one out for a single normal.",
        "- E log N(w; m, sd^2) = (1/2) log(2 pi) + log sd + (1/2) E (w - m)^2 / sd^2, for each factor.",
        "Begin with `standard = 0.5 * np.log(2 * np.pi) + 0.5`, the entropy of a factor with sd = 1. What does another sd add?",
    ),
    mistakes={
        "That is the program's bound still. Make all of sd ten times as large: by how much should the entropy of each factor grow?": "np.log(sd) -> np.log(sd) / 2",
        "Your entropy now grows by twice the logarithm of sd. If a density is stretched ten times, its entropy grows by log 10.": "np.log(sd) -> 2 * np.log(sd)",
        "Now the entropy is gone. It is too flat in sd, and not superfluous.": "+ standard + np.log(sd) -> ",
        "Off by a constant: each of the d factors has the entropy of a standard normal in it.": "+ standard + np.log(sd)) -> + np.log(sd)) + standard",
        "Your misfit has lost the variances of the weights. There it was right.": "+ np.sum(X**2 @ sd**2) -> ",
        "Your misfit has products of two different sds in it. The factors are independent: only variances add up.": "np.sum(X**2 @ sd**2) -> np.sum((X @ sd) ** 2)",
    },
    parts=PARTS,
)
SAMPLE = Record(
    cases=samples,
    reference=both(sample, sample_elsewhere),
    view=beside(sample_elsewhere),
    right="Right. The q that was found was the best all along; only the value was wrong, and every comparison with it.",
    nudge="Not that bound. Between two different q the program moves by the right amount: what depends on q may stay as it was. With x = [1, 2], nu_q = 1, tau_q = 4, alpha_q = 2, beta_q = 3, tau = 2 and alpha = beta = 1 it is -4.2983.",
    hints=(
        "The program ends at the same q as the right one. So what is wrong does not depend on q.",
        "A reading has the density (gamma / (2 pi))^(1/2) exp(-(gamma / 2) (x - mu)^2). Average its logarithm, and compare the parts.",
        "Begin with `constant = -0.5 * len(x) * np.log(2 * np.pi)`",
    ),
    mistakes={
        "That is the program's bound still. It is off by the same amount for every q: look at what does not depend on q.": "2 * np.pi -> np.pi",
        "You took the constant of the likelihood out. A normal density has one.": "constant + -> ",
        "You put the log of E gamma for the average of log gamma. There it was right.": "digamma(alpha_q) - np.log(beta_q) -> np.log(alpha_q / beta_q)",
        "The divergence of q(mu) from its prior was right as it stood. In yours it is missing or changed.": "- of_mu -> ",
        "The divergence of q(gamma) from its prior was right as it stood. In yours it is missing or changed.": "- of_gamma -> ",
    },
    parts=PARTS,
)
TASKS = {"score": SCORE, "waiting": WAITING, "weights": WEIGHTS_OF_ROWS, "sample": SAMPLE}
