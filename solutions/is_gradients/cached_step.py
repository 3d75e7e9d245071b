"""A step from a cache. Roads: finite differences of reweighted averages; quadrature of the bias."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import normal_mean, slope
from solutions.is_gradients._tools import CLIPPED, clipped, log_ratio

PARTS = ("the part by mu", "the part by sigma")
W = "norm.pdf(theta, mu_new, sigma_new) / norm.pdf(theta, mu, sigma)"
EPS = "eps = (theta - mu_new) / sigma_new"
LOG_Q = "norm.logpdf(theta, mu_new, sigma_new)"
BY_SIGMA = "(weighed * (eps**2 - 1) / sigma_new).mean()"
NO_WEIGHTS = f"{W} -> np.ones_like(theta)"
OLD_NOISE = f"{EPS} -> eps = (theta - mu) / sigma"
NO_JACOBIAN = f"{W} -> {W} * sigma_new / sigma"
OLD_SCORE = f"{OLD_NOISE} ;; / sigma_new).mean() -> / sigma).mean()"
OLD_G = f"{LOG_Q} -> norm.logpdf(theta, mu, sigma)"
UNWEIGHED = "Your draws all count the same. They come from the old q; under the new one some are more likely than others."
NOISE_S = "Your weights are a ratio of the noise's densities. The density of theta is the noise's divided by sigma."
BY_LOG = "Your second part is the derivative by log sigma. The parameter here is sigma."


def along_the_new_map(theta, slopes, mu, sigma, mu_new, sigma_new):
    """What the draws would gain if the new map were moved a little, the noise behind them held, plus the new entropy."""
    w, eps = np.exp(log_ratio(theta, mu, sigma, mu_new, sigma_new)), (theta - mu_new) / sigma_new

    def gain(m, s):
        return np.mean(w * slopes * (m + s * eps)) + norm.entropy(m, s)

    return slope(lambda m: gain(m, sigma_new), mu_new), slope(lambda s: gain(mu_new, s), sigma_new)


def along_the_new_density(theta, log_joint, mu, sigma, mu_new, sigma_new):
    """The draws stay and the new q moves a little; g is held as it is at the new q."""
    g = log_joint - norm.logpdf(theta, mu_new, sigma_new)

    def average(m, s):
        return np.mean(np.exp(log_ratio(theta, mu, sigma, m, s)) * g)

    return slope(lambda m: average(m, sigma_new), mu_new), slope(lambda s: average(mu_new, s), sigma_new)


def stale_by_quadrature(mu, sigma, mu_new, sigma_new):
    """The mean under the new q of what an old g has too much, times the score, the score by finite differences."""

    def mean(score):
        return normal_mean(lambda x: log_ratio(x, mu, sigma, mu_new, sigma_new) * score(x), mu_new, sigma_new)

    by_mu = mean(lambda x: slope(lambda m: norm.logpdf(x, m, sigma_new), mu_new))
    return by_mu, mean(lambda x: slope(lambda s: norm.logpdf(x, mu_new, s), sigma_new))


def moved(rng, way):
    """An old q, and a new one: wider or narrower by a fifth or more, and a third of a width or more away."""
    mu, sigma = float(rng.normal()), float(rng.uniform(0.6, 1.4))
    mu_new = mu + way * sigma * float(rng.uniform(0.35, 0.7))
    return mu, sigma, mu_new, sigma * float(np.exp(-way * rng.uniform(0.2, 0.4)))


def caches(rng, kept):
    """Draws of the old q, with what ``kept`` makes of their number."""
    for draws, way in [(6, 1), (9, -1)]:
        mu, sigma, *new = moved(rng, way)
        yield mu + sigma * rng.uniform(-1.7, 1.7, draws), kept(draws), mu, sigma, *new


def large(rng, kept):
    """Draws where the new q is and the old one hardly: weights above 40, one of them above 200."""
    mu, sigma, *_ = moved(rng, 1)
    mu_new, sigma_new = mu + 3.2 * sigma * float(rng.choice([-1, 1])), 0.75 * sigma
    yield mu_new + sigma_new * np.linspace(-0.6, 0.6, 7), kept, mu, sigma, mu_new, sigma_new


PATHWISE = Record(
    cases=lambda rng: caches(rng, lambda draws: rng.normal(1.0, 2.0, draws)),
    reference=along_the_new_map,
    parts=PARTS,
    right="Right. The model was not asked again: of the old step only theta and the model's slopes were needed.",
    nudge="Not that gradient. With theta = [2, 4], slopes = [3, 0], mu = 0, sigma = 2, mu_new = 5/2 and sigma_new = 1/2 the first "
    "weight is 4 and the gradient (6, -4).",
    hints=(
        "Three things depend on q: how much a draw counts, the noise that would have made it, and the entropy. Is any the old q's?",
        "With fresh draws: the mean of s d theta / d mu', and the mean of s d theta / d sigma' plus the slope of log sigma'. What are "
        "these slopes of theta = mu' + sigma' eps', and what does each old draw need besides?",
        f"Begin with `w = {W}`",
    ),
    mistakes={
        "That is the old gradient once more. It knows nothing of the new q.": f"{NO_WEIGHTS} ;; {OLD_NOISE} ;; 1 / sigma_new -> 1 / sigma",
        UNWEIGHED: NO_WEIGHTS,
        "The part by mu is right. In the part by sigma your draws all count the same, and they come from the old q there, too.": "w * slopes * eps -> slopes * eps",
        "Your part by sigma uses the old noise. Another eps leads to the same theta under the new q: standardise anew.": OLD_NOISE,
        NOISE_S: NO_JACOBIAN,
        "Your entropy is the old q's. It costs nothing to have the new one's.": "1 / sigma_new -> 1 / sigma",
        "You weighted the entropy's slope, too. It is known exactly at the new q; a mean of weights only adds noise.": "+ 1 / sigma_new -> + w.mean() / sigma_new",
    },
    later={
        CLIPPED: (lambda rng: large(rng, rng.uniform(0.5, 2.0, 7)), clipped(f"{W} -> np.minimum({W}, LEVEL)", (5, 20, 100))),
    },
)
SCORE = Record(
    cases=lambda rng: caches(rng, lambda draws: rng.normal(-4.0, 2.0, draws)),
    reference=along_the_new_density,
    parts=PARTS,
    right="Right. Of the old step only theta and the log joint were needed; all that holds q was made anew.",
    nudge="Not that gradient. With theta = [2, 4], log_joint = [0, -1], mu = 0, sigma = 2, mu_new = 3 and sigma_new = 1/2 the first "
    "weight is 0.893, the first g 2.226, and the gradient (5.833, 20.669).",
    hints=(
        "Write down the plain estimate with fresh draws from the new q. Which of its terms are known from the old draws?",
        "The mean of w g times the score. log q' = -log sigma' - (theta - mu')^2 / (2 sigma'^2) and a constant: what are its slopes by "
        "mu' and by sigma', while theta stays?",
        f"Begin with `{EPS}`",
    ),
    mistakes={
        "Your g is the old one: it holds the log of the old q. Of g only the log joint may be kept; log q is the new one's, and cheap.": OLD_G,
        "Your score is the old q's. The gradient at the new parameters has the new one's.": OLD_SCORE,
        UNWEIGHED: NO_WEIGHTS,
        NOISE_S: NO_JACOBIAN,
        "You added the entropy's slope. Here log q stands in g, so that the entropy is counted already.": f"{BY_SIGMA} -> {BY_SIGMA} + 1 / sigma_new",
        "Your g is the log joint alone: where is log q?": f"- {LOG_Q} -> ",
        "You also differentiated g. Its only derivative is minus the score, whose mean is zero: it adds noise and nothing else.": f"{LOG_Q} -> {LOG_Q} - 1",
    },
    later={
        CLIPPED: (lambda rng: large(rng, rng.uniform(-6.0, -3.0, 7)), clipped(f"{W} -> np.minimum({W}, LEVEL)", (5, 20, 100))),
    },
)
STALE = Record(
    cases=lambda rng: (moved(rng, way) for way in (1, -1)),
    reference=stale_by_quadrature,
    parts=PARTS,
    right="Right. It is the slope of KL(new || old): an old g drives q away from where it was, the more the farther it has gone.",
    nudge="Not that bias. With mu = 1, sigma = 2, mu_new = 3 and sigma_new = 5 it is (1/2, 21/20).",
    hints=(
        "By how much is the old g too large at a given theta? That excess, times the score, is averaged over the new q.",
        "E'[(log q' - log q) times the gradient of log q'] is the gradient of E'[log q' - log q], since E'[grad log q'] = 0.",
        "Begin with `precision = 1 / sigma**2`",
    ),
    mistakes={
        "An old g costs something: it rewards the new q for leaving the places where the old one was dense. Has that mean zero?": "return -> return 0.0, 0.0  #",
        BY_LOG: "sigma_new * precision - 1 / sigma_new -> sigma_new**2 * precision - 1",
        "Your second part has the old log q alone. An old g also lacks the new one.": "- 1 / sigma_new -> ",
        "In the first it is the old log q whose slope counts, and that has the old width.": "(mu_new - mu) * precision -> (mu_new - mu) / sigma_new**2",
    },
)
TASKS = {"pathwise": PATHWISE, "score": SCORE, "stale": STALE}
