"""A skewed table. Roads: densities as slopes of distribution functions, sums of decimals with many digits, mass added up on a grid."""

from decimal import Decimal, localcontext

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.lambertw._tools import density, safe, safe_origin


def by_slopes(y, mu, sigma, gamma, floor):
    heights = [density((one - m) / sigma, gamma, safe_origin) / sigma for one, m in zip(y, mu, strict=True)]
    below = [norm.cdf(safe_origin((floor - m) / sigma, gamma)) for m in mu]
    return np.log([b if one <= floor else h for one, h, b in zip(y, heights, below, strict=True)])


def in_decimals(log_p):
    with localcontext(prec=60):
        means = [sum(Decimal(float(v)).exp() for v in cell) / len(cell) for cell in log_p.T]
        return float(sum(mean.ln() for mean in means) / len(means))


def by_sorting(mu, sigma, gamma, level, floor):
    """Of a fine cloud of cells: as many from each draw, all sorted."""
    z = norm.ppf((np.arange(40_000) + 0.5) / 40_000)
    cells = np.sort((mu[:, None] + sigma * safe(z, gamma)).ravel())
    found = cells[int(level * len(cells))]
    return found if found > floor else 0.0


def cells(rng):
    for gamma in (rng.uniform(0.2, 0.4), -rng.uniform(0.2, 0.4)):
        sigma, mu = rng.uniform(1.3, 1.8), np.concatenate([rng.uniform(-0.5, 1.5, 3), rng.uniform(0.5, 1.5, 4)])
        seen = rng.uniform(0.7, mu[3:] + 0.75 * sigma)  # no farther out than where a skew to the left still bends
        yield np.concatenate([np.zeros(3), seen]), mu, sigma, gamma, 0.4


def densities(rng):
    yield (rng.normal(-2, 1.5, (5, 4)),)
    yield (np.concatenate([rng.normal(-2, 1.5, (4, 3)), rng.uniform(-1001, -998, (4, 1))], axis=1),)


def draws_of_locations(rng):
    for gamma in (0.3, -0.3):
        yield rng.uniform(2.5, 5.5, 6), rng.uniform(0.6, 0.9), gamma, rng.uniform(0.75, 0.9), 0.4
    yield rng.normal(1.2, 0.7, 6), rng.uniform(1.3, 1.6), 0.3, 0.05, 0.4


CELL = Record(
    cases=cells,
    reference=by_slopes,
    right="Right. One inverse serves both: the density above the floor and the probability below it.",
    nudge="Not that. With mu = 0, sigma = 2, gamma = 1 and floor = 0, cells y = [0, 2e] give [-0.693, -3.805].",
    hints=(
        "Where is z for a cell above the floor, and where for one that is only known to lie at the floor or below? The map rises.",
        "log phi(z) - log g_e'(z) - log sigma above, with z from (y - mu) / sigma; log Phi(z) elsewhere, with z from (f - mu) / sigma.",
        "Begin with `above = y > floor`",
    ),
    mistakes={
        "Right above the floor. A zero has a probability, not a density: log P(y <= floor) is log Phi(z).": "np.where(above, density, norm.logcdf(z)) -> density",
        "You asked for the probability of at most y, which is 0 in the table. What is known is that the cell lies at the floor or below.": (
            "np.where(above, y, floor) -> y"
        ),
        "That is the probability of lying above the floor. The cells at 0 lie below: log Phi(z).": "logcdf(z) -> logsf(z)",
        "log sigma is missing from the density: a stretch by sigma makes it thinner.": " - np.log(sigma) -> ",
        "Your density does not know that bending stretches: subtract log_slope.": " - lw.log_slope(z, gamma) -> ",
        "You have the probability below the floor, not its logarithm.": "norm.logcdf(z) -> norm.cdf(z)",
        "Your cells are not bent back: take z = g_e_inverse(x, gamma) before the normal is asked.": "lw.g_e_inverse(x, gamma) -> x",
    },
    rtol=3e-4,
)
SCORE = Record(
    cases=densities,
    reference=in_decimals,
    right="Right. The draws vote with densities; a draw that calls a cell impossible has one vote, not a veto.",
    nudge="Not that score. With one cell and log densities log 1 and log 3 under two draws it is log 2 = 0.693; twice the same cell, the same.",
    hints=(
        "The predictive density of a cell is an average over draws. Of what: densities or their logarithms?",
        "mean over cells of log( (1/S) sum_s exp(log_p[s, cell]) ); subtract the largest before exp, or let logsumexp do it.",
        "Begin with `draws = log_p.shape[0]`",
    ),
    mistakes={
        "You averaged logarithms. The predictive density averages densities; its log comes last.": "(logsumexp(log_p, axis=0) - np.log(draws)).mean() -> log_p.mean()",
        "That is the log of the sum over draws. The average wants log S subtracted.": " - np.log(draws) -> ",
        "You averaged densities over the cells. Average over the draws, which are the rows, and then take the mean of the logs.": (
            "logsumexp(log_p, axis=0) - np.log(draws) -> logsumexp(log_p, axis=1) - np.log(log_p.shape[1])"
        ),
        "That is the sum over the cells. The mean was asked for.": ".mean() -> .sum()",
        "You subtracted log S from the total as if it were a sum of cells: it belongs to each cell once.": "- np.log(draws)).mean() -> - np.log(log_p.size)).mean()",
    },
)
RESERVE = Record(
    cases=draws_of_locations,
    reference=by_sorting,
    right="Right. What is not known of the factors makes the reservation larger, and no skew knows that.",
    nudge="Not that reservation. With sigma = 2, gamma = 1, level = 0.8413 = Phi(1) and floor = 0 it is 1 + 2e = 6.437 for mu = [1]; at level 0.05 it is 0.",
    hints=(
        "How likely is a cell to be at most h, if its location is one of the draws, each as likely as the others?",
        "Solve (1/S) sum_s Phi(g_e_inverse((h - mu_s) / sigma)) = level for h; 0 if the floor has that probability already.",
        "Begin with a function for that probability: `def below(h):`",
    ),
    mistakes={
        "That is the quantile at the mean location. The draws of mu differ; average their probabilities, then invert.": "(h - mu) -> (h - mu.mean())",
        "You averaged z before Phi. Average the probabilities of the draws.": (
            "norm.cdf(lw.g_e_inverse((h - mu) / sigma, gamma)).mean() -> norm.cdf(lw.g_e_inverse((h - mu) / sigma, gamma).mean())"
        ),
        "That is the quantile at 1 - level. Too little is the dearer side, so the reservation is high.": "(h) - level -> (h) - (1 - level)",
        "Right above the floor. Where the quantile lies at the floor or below, the cell is most likely empty: reserve 0.": "return 0.0 -> return floor",
        "Your law is not skewed: bend back with g_e_inverse before Phi.": "lw.g_e_inverse((h - mu) / sigma, gamma) -> (h - mu) / sigma",
    },
    rtol=1e-3,
)
TASKS = {"cell": CELL, "score": SCORE, "reserve": RESERVE}
