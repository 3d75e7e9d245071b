"""The score function. Road: finite differences of log densities, and of a reweighted average for the gradient."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import slope


def score_by_differences(theta, mu, sigma):
    by_mu = slope(lambda shift: norm.logpdf(theta, mu + shift, sigma), 0.0)
    return by_mu, slope(lambda shift: norm.logpdf(theta, mu, sigma + shift), 0.0)


def gradient_by_reweighting(log_joint, theta, mu, sigma):
    """The draws stay, q moves: each is weighted by the new density over the old, and g is left as it was."""
    log_q = norm.logpdf(theta, mu, sigma).sum(axis=1)

    def average(new_mu, new_sigma):
        return np.mean(np.exp(norm.logpdf(theta, new_mu, new_sigma).sum(axis=1) - log_q) * (log_joint - log_q))

    units = np.eye(len(mu))
    by_mu = [slope(lambda shift, unit=unit: average(mu + shift * unit, sigma), 0.0) for unit in units]
    return np.array(by_mu), np.array([slope(lambda shift, unit=unit: average(mu, sigma + shift * unit), 0.0) for unit in units])


def draws_of(rng, draws, dim):
    mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.4, 1.6, dim)
    return mu + sigma * rng.normal(size=(draws, dim)), mu, sigma


PARTS = ("the derivative by mu", "the derivative by sigma")
SCORE = Record(
    cases=lambda rng: [draws_of(rng, draws, dim) for draws, dim in [(5, 3), (2, 2)]],
    reference=score_by_differences,
    right="Right. Averaged over many draws from q both parts vanish; that is what lets us subtract multiples of them later.",
    nudge="Not those derivatives. With mu = 0, sigma = 2 and theta = 4 they are 1 and 1.5.",
    hints=(
        "Write log N(theta; mu, sigma^2) as three terms and differentiate each, once by mu and once by sigma.",
        "log q = -log sigma - (theta - mu)^2 / (2 sigma^2) + constant.",
        "Begin with `eps = (theta - mu) / sigma`",
    ),
    mistakes={
        "Your second part is the derivative by sigma squared. The parameter here is sigma: the chain rule adds a factor of 2 sigma.": "(eps**2 - 1) / sigma -> 0.5 * (eps**2 - 1) / sigma**2",
        "Your second part is the derivative by log sigma. The parameter here is sigma: the chain rule divides by sigma.": "(eps**2 - 1) / sigma -> eps**2 - 1",
        "Sigma also stands in the normalising constant of the density. Without it your second part is never negative.": "eps**2 - 1 -> eps**2",
        "You took sigma for a variance. It is the standard deviation: the density holds its square.": "(theta - mu) / sigma -> (theta - mu) / np.sqrt(sigma) ;; return eps / sigma -> return eps / np.sqrt(sigma)",
    },
    parts=PARTS,
)
GRADIENT = Record(
    cases=lambda rng: [(rng.normal(-6, 3, draws), *draws_of(rng, draws, dim)) for draws, dim in [(7, 2), (4, 4)]],
    reference=gradient_by_reweighting,
    right="Right. The model was never differentiated: it only says how much each draw counts.",
    nudge="The shapes are right and the numbers are not. One draw at mu + sigma whose g is 2 gives 2/sigma by mu and 0 by sigma.",
    hints=(
        "Each draw votes for the direction that makes it more probable; g says how strongly, and with which sign.",
        "gradient = mean over draws of (log p(theta, D) - log q(theta)) * score(theta); log q adds up over the coordinates.",
        "Begin with `log_q = norm.logpdf(theta, mu, sigma).sum(axis=1)`",
    ),
    mistakes={
        "You also differentiated g. Its only derivative is minus the score, whose mean is zero: it adds noise and nothing else.": "(g * -> ((g - 1) *",
        "Your g is the log joint alone. That gradient runs to the mode and lets sigma collapse: where is log q?": "- log_q -> ",
        "log q of a product is a sum: g needs one value for each draw. Yours has one for each draw and coordinate.": ".sum(axis=1) ->  ;; (log_joint - log_q)[:, None] -> log_joint[:, None] - log_q",
        "You took the mean of g off, a baseline. That is a matter for the next exercise; the plain estimate was asked for.": "[:, None] -> [:, None] - (log_joint - log_q).mean()",
        "You averaged g and the score apart. They belong to the same draw: multiply first, then average.": "(g * by_mu) -> g.mean() * by_mu ;; (g * by_sigma) -> g.mean() * by_sigma",
    },
    parts=PARTS,
)
TASKS = {"score": SCORE, "gradient": GRADIENT}
