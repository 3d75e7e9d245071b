"""The weight of an old draw. Roads: ratios of SciPy's densities; quadrature; slopes of a distribution function."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import slope
from solutions.is_gradients._tools import CLIPPED, clipped

FLOOR = "Right but where a weight is nearly zero: yours is too large there. Is it held above a floor? Such a draw counts for nothing."


def by_densities(eps, mu, sigma, mu_new, sigma_new):
    theta = mu + sigma * eps
    new = multivariate_normal.logpdf(theta, mu_new, np.diag(sigma_new**2))
    return np.exp(new - multivariate_normal.logpdf(theta, mu, np.diag(sigma**2)))


def mean_by_quadrature(sigma, sigma_new):
    """The average of the ratio over the noise, one coordinate at a time, for a move of the mean that must not matter."""
    out = 1.0
    for old, new in zip(sigma, sigma_new, strict=True):
        eps = np.linspace(-12, 12, 4001) * max(1.0, new / old)
        out *= trapezoid(norm.pdf((old * eps - 0.3) / new), eps)
    return out


def by_distribution_functions(eps, k, k_new):
    """A density is the slope of P(theta < t), which is the normal one at the noise that leads to t; the bell is even."""
    theta = -np.abs(np.sinh(k * eps) / k)  # on the left, where P is small and loses no digits
    old, new = (slope(lambda t, k=k: norm.cdf(np.arcsinh(k * t) / k), theta) for k in (k, k_new))
    return new / old


def moved(rng):
    for draws, dim, way in [(6, 3, -1), (4, 1, 1)]:
        mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.6, 1.5, dim)
        mu_new = mu + sigma * rng.uniform(0.2, 0.5, dim) * rng.choice([-1, 1], dim)
        yield rng.uniform(-1.6, 1.6, (draws, dim)), mu, sigma, mu_new, sigma * np.exp(way * rng.uniform(0.15, 0.4, dim))


def far(rng, out):
    """A move by 2.5 widths, and draws that lie that far out (weights above 1,000) or not at all (weights below 0.0001)."""
    mu, sigma, side = rng.normal(0, 1, 3), rng.uniform(0.6, 1.5, 3), rng.choice([-1, 1], 3)
    yield out * side + rng.uniform(-0.2, 0.2, (5, 3)), mu, sigma, mu + 2.5 * sigma * side, 0.9 * sigma


def widths(rng):
    for dim, way in [(3, -1), (1, 1), (6, -1)]:  # they differ, so that no average stands in for the product
        sigma = rng.uniform(0.5, 2.0, dim)
        yield sigma, sigma * np.exp(way * (np.linspace(0.05, 0.75, dim) + rng.uniform(0, 0.1, dim)))


def bent(rng, *ranges):
    """Bells whose noise, old and new bend are drawn from ranges."""
    for eps, old, new in ranges:
        yield rng.uniform(*eps, 6) * rng.choice([-1, 1], 6), float(rng.uniform(*old)), float(rng.uniform(*new))


# The bent weights, and then other lines
then = lambda code: f"return -> w = ;; np.cosh(k_new * eps_new) -> np.cosh(k_new * eps_new)\n{code}"
NORMAL = Record(
    cases=moved,
    reference=by_densities,
    right="Right. Averaged over many draws these weights are 1, whatever the move.",
    nudge="Not those weights. With eps = [[1, 2]], mu = [1, 0], sigma = [2, 1], mu_new = [3, 4] and sigma_new = [1/2, 2] it is 2 e^2 = 14.778.",
    hints=(
        "How dense was the old q at this theta, and how dense is the new one? Both are densities of theta, not of the noise.",
        "q(theta) = product over coordinates of phi((theta_j - mu_j) / sigma_j) / sigma_j, with phi the standard normal density.",
        "Begin with `theta = mu + sigma * eps`",
    ),
    mistakes={
        "That is the ratio of the noise's densities. The density of theta is the noise's divided by the stretch.": "ratio.prod(axis=1) -> (ratio * sigma_new / sigma).prod(axis=1)",
        "Nearly: the stretches have changed places. A density is divided by its own sigma.": "ratio.prod(axis=1) -> (ratio * (sigma_new / sigma) ** 2).prod(axis=1)",
        "You have a weight for each coordinate. The density of a draw is the product over its coordinates: one weight for each row.": "ratio.prod(axis=1) -> ratio",
        "You divided the weights by their mean. The plain ratio was asked for.": "return ratio.prod(axis=1) -> w = ratio.prod(axis=1)\nreturn w / w.mean()",
        "You gave the density a variance. norm.pdf takes a standard deviation, which is what sigma is.": "sigma) -> sigma**2) ;; sigma_new) -> sigma_new**2)",
    },
    later={
        CLIPPED: (lambda rng: far(rng, 2.5), clipped("ratio.prod(axis=1) -> np.minimum(ratio.prod(axis=1), LEVEL)", (5, 100, 1000))),
        FLOOR: (lambda rng: far(rng, 0), "ratio.prod(axis=1) -> np.maximum(ratio.prod(axis=1), 3e-4)"),
    },
)
MEAN = Record(
    cases=widths,
    reference=mean_by_quadrature,
    right="Right. One coordinate is a small matter; a hundred of them, each a tenth narrower, make a factor of 0.00003.",
    nudge="Not that mean. With sigma = [2, 1, 4] and sigma_new = [1, 3, 1] it is 3/8.",
    hints=(
        "The right weight has mean 1. By which constant does this ratio differ from it?",
        "phi(eps') / phi(eps) = w times the product over j of what was left out, and E[w] = 1.",
        "Begin with `stretch = sigma_new / sigma`",
    ),
    mistakes={
        "The mean of the true weights is 1. This ratio lacks their Jacobian, so its mean is 1 only if the widths stay.": "np.prod(stretch) -> 1.0",
        "Right for each coordinate. The ratio for all of them is a product of independent factors: what is its mean?": "np.prod(stretch) -> stretch",
        "You added. The mean of a product of independent factors is the product of their means.": "np.prod -> np.sum",
        "You took the exponential of a mean logarithm: a typical ratio. The mean is larger.": "np.prod(stretch) -> np.exp(np.sum(1 - 1 / stretch**2) / 2)",
    },
)
BENT = Record(
    cases=lambda rng: bent(rng, ((0.3, 2), (0.5, 0.8), (1, 1.3)), ((0.3, 2), (0.9, 1.2), (0.3, 0.5))),
    reference=by_distribution_functions,
    right="Right. Here the stretch differs from draw to draw, so that no single number can put a ratio without it right.",
    nudge="Not those weights. With k = 1 and k_new = 2 the draw from eps = 1 comes from 0.795 under the new map and has weight 0.726.",
    hints=(
        "Turn each theta back into the noise that would have made it under the new map. Then mind that both maps stretch.",
        "q(theta) = phi(eps) / |d theta / d eps|, and the slope of sinh(k eps) / k in eps is cosh(k eps).",
        "Begin with `theta = np.sinh(k * eps) / k`",
    ),
    mistakes={
        "You have the old map's stretch alone. The new density is divided by the new map's, at its own eps.": "/ np.cosh(k_new * eps_new) -> ",
        "Your weights have the new map's stretch alone. The old density is divided by a stretch, too, and it stands below the bar.": "* np.cosh(k * eps) -> ",
        "That is the ratio of the noise's densities. By how much does each map stretch the noise here?": "* np.cosh(k * eps) / np.cosh(k_new * eps_new) -> ",
        "Both stretches are taken at the old noise. The new map made this theta from another eps.": "np.cosh(k_new * eps_new) -> np.cosh(k_new * eps)",
        "Your stretches have the same ratio everywhere. What is the slope of this map at eps?": "np.cosh(k * eps) / np.cosh(k_new * eps_new) -> k / k_new",
    },
    later={
        CLIPPED: (
            lambda rng: bent(rng, ((3.6, 4.6), (0.25, 0.35), (1.3, 1.5))),
            clipped(then("return np.minimum(w, LEVEL)"), (1.5, 5, 10)),
        ),
        FLOOR: (lambda rng: bent(rng, ((2.4, 2.8), (1.15, 1.3), (0.25, 0.35))), then("return np.maximum(w, 1e-2)")),
    },
)
TASKS = {"normal": NORMAL, "mean": MEAN, "bent": BENT}
