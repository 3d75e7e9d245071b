"""The decision maker's objective. Roads: minus the log of a power-prior posterior from SciPy's normal density; a search over decisions."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks.record import Record


def from_densities(losses, h, mu, sd, nu):
    """log of exp(-sum of losses) times the prior to the power nu, less its value where every h is mu: divided by -N."""
    log_prior = norm.logpdf(h, mu, sd).sum() - norm.logpdf(mu, mu, sd).sum()
    return -(-np.sum(losses) + nu * log_prior) / len(h)


def by_search(y, mu, sd, nu):
    def at(h, *point):
        a, *belief = (np.array([number]) for number in point)
        return from_densities((h - a) ** 2, np.array([h]), *belief, nu)

    return np.array([minimize_scalar(at, args=point).x for point in zip(y, mu, sd, strict=True)])


def moved(rng):
    for n, nu in [(3, 0.7), (8, 2.5)]:
        h = rng.normal(0, 2, n)
        yield rng.exponential(1, n), h, h + rng.normal(0, 2, n), rng.uniform(0.3, 2.0, n), nu


OBJECTIVE = Record(
    cases=moved,
    reference=from_densities,
    right="Right. Copy every point, and the number stays: as long as the standard deviations do, the same nu means the same thing "
    "for any number of points.",
    nudge="Not that number. With losses [1, 3], h = [5, 2], mu = [1, 1], sd = [2, 1] and nu = 2 it is 4.5.",
    hints=(
        "Two things are weighed against each other: what the decisions cost, and how far they are from the model. Both per point.",
        "(1/N) sum of losses + (nu/N) sum of (h_n - mu_n)^2 / (2 sd_n^2).",
        "Begin with `distance = (h - mu) / sd`",
    ),
    mistakes={
        "You averaged the losses and summed the prior. With more points it would grow.": "(distance**2).mean() -> (distance**2).sum()",
        "You summed the losses and averaged the prior. With enough points it would not be felt, whatever nu is.": "losses.mean() -> losses.sum()",
        "Twice too much prior: minus the log of a normal density has the square over 2 sd^2.": "0.5 * -> ",
        "Leave out log sd: it does not depend on the decisions, and at h = mu without losses the objective should be 0.": "(distance**2).mean() -> (distance**2 + 2 * np.log(sd)).mean()",
        "Your nu multiplies the loss. It is the power of the prior.": "losses -> nu * losses ;; 0.5 * nu -> 0.5",
    },
)
DECISION = Record(
    cases=lambda rng: [(rng.normal(3, 1, n), rng.normal(0, 1, n), rng.uniform(0.4, 1.8, n), nu) for n, nu in [(4, 0.8), (7, 3.0)]],
    reference=by_search,
    right="Right. A weighted mean of outcome and model; nu and sd set the weights, and the number of points does not.",
    nudge="Not these decisions. With y = [3, 3], mu = [1, 1], sd = [1/2, 1] and nu = 2 they are 1.4 and 2.",
    hints=(
        "No point knows of another, so take one point's share of the objective and find its lowest place.",
        "2 (h - y) + nu (h - mu) / sd^2 = 0. Solve for h.",
        "Begin with `pull = nu / sd**2`",
    ),
    mistakes={
        "Your prior counts once for every point beside an average loss: with more points, all decisions would fall back to mu.": "= nu -> = len(y) * nu",
        "Your prior is averaged over the points and your loss is not. Both have 1/N before them, so that N drops out.": "= nu -> = nu / len(y)",
        "Half the outcome's weight is missing: the slope of (h - y)^2 is 2 (h - y), and the prior's has no 2.": "= nu -> = 2 * nu",
        "You lost half of the prior: the slope of (h - mu)^2 / (2 sd^2) is (h - mu) / sd^2.": "= nu -> = 0.5 * nu",
    },
)
TASKS = {"objective": OBJECTIVE, "decision": DECISION}
