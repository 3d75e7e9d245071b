"""The weight of an old draw. Roads: ratios of SciPy's densities; quadrature; slopes of a distribution function."""

from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks._quiet import beyond, exact
from course_pkg.checks.is_gradients._tools import CLIPPED, unclipped
from course_pkg.checks.lambertw._tools import steep


def _by_densities(eps: np.ndarray, mu: np.ndarray, sigma: np.ndarray, mu_new: np.ndarray, sigma_new: np.ndarray) -> np.ndarray:
    theta = mu + sigma * eps
    new = multivariate_normal.logpdf(theta, mu_new, np.diag(sigma_new**2))
    return np.exp(new - multivariate_normal.logpdf(theta, mu, np.diag(sigma**2)))


def _mean_by_quadrature(sigma: np.ndarray, sigma_new: np.ndarray) -> float:
    """The average of the ratio over the noise, one coordinate at a time, for a move of the mean that must not matter."""
    out = 1.0
    for old, new in zip(sigma, sigma_new, strict=True):
        eps = np.linspace(-12, 12, 4001) * max(1.0, new / old)
        log_ratio = norm.logpdf((old * eps - 0.3) / new) - norm.logpdf(eps)
        out *= trapezoid(np.exp(log_ratio + norm.logpdf(eps)), eps)
    return out


def _by_distribution_functions(eps: np.ndarray, k: float, k_new: float) -> np.ndarray:
    """A density is the slope of P(theta < t), which is the normal one at the noise that leads to t; the bell is even."""
    theta = -np.abs(np.sinh(k * eps) / k)  # on the left, where P is small and loses no digits

    def density(k: float) -> Any:
        return steep(lambda t: norm.cdf(np.arcsinh(k * t) / k), theta)

    return density(k_new) / density(k)


def normal_stub(eps: np.ndarray, mu: np.ndarray, sigma: np.ndarray, mu_new: np.ndarray, sigma_new: np.ndarray) -> Any:
    raise NotImplementedError


def mean_stub(sigma: np.ndarray, sigma_new: np.ndarray) -> Any:
    raise NotImplementedError


def bent_stub(eps: np.ndarray, k: float, k_new: float) -> Any:
    raise NotImplementedError


def _parts(eps, mu, sigma, mu_new, sigma_new):
    """Logarithms, shape (draws, coordinates): of the ratio of noise densities, and of the ratio of stretches."""
    eps_new = (mu + sigma * eps - mu_new) / sigma_new
    return (eps**2 - eps_new**2) / 2, np.log(sigma / sigma_new) + 0 * eps


def _weights(by_noise=1, by_stretch=1, gather=lambda log_w: np.exp(log_w.sum(axis=1))):
    def answer(*case):
        noise, stretch = _parts(*case)
        return gather(by_noise * noise + by_stretch * stretch)

    return answer


def _eps_taken_for_theta(eps, _, sigma, mu_new, sigma_new):
    return np.exp(((eps**2 - ((eps - mu_new) / sigma_new) ** 2) / 2 + np.log(sigma / sigma_new)).sum(axis=1))


def _variance_for_scale(eps, mu, sigma, mu_new, sigma_new):
    theta = mu + sigma * eps
    return np.exp((norm.logpdf(theta, mu_new, sigma_new**2) - norm.logpdf(theta, mu, sigma**2)).sum(axis=1))


def _at_most(level):
    return _weights(gather=lambda log_w: np.minimum(np.exp(log_w.sum(axis=1)), level))


FLOOR = "Right but where a weight is nearly zero: yours is too large there. Is it held above a floor? Such a draw counts for nothing."
NORMAL_MISTAKES = {
    "clipped": Mistake(_at_most(5.0), CLIPPED),
    "held above a floor": Mistake(_weights(gather=lambda log_w: np.maximum(np.exp(log_w.sum(axis=1)), 1e-3)), FLOOR),
    "Jacobian forgotten": Mistake(
        _weights(by_stretch=0),
        "That is the ratio of the noise's densities. The two maps stretch the noise by different amounts, and the density of theta is "
        "the noise's divided by the stretch.",
    ),
    "upside down, Jacobian forgotten": Mistake(
        _weights(by_noise=-1, by_stretch=0),
        "Your ratio is upside down, and it is the noise's, not theta's. A draw counts for more where the new density is high.",
    ),
    "upside down": Mistake(
        _weights(by_noise=-1, by_stretch=-1),
        "Upside down: yours is large for draws that the new q would hardly make.",
    ),
    "Jacobian upside down": Mistake(
        _weights(by_stretch=-1),
        "Nearly: the stretches have changed places. The new q has the density of its noise divided by its own sigma.",
    ),
    "noise upside down": Mistake(
        _weights(by_noise=-1),
        "The widths stand as they should, and the densities of the noise are upside down.",
    ),
    "Jacobian squared": Mistake(
        _weights(by_stretch=2),
        "You squared the stretches: theta = mu + sigma eps is stretched by sigma, not by the variance.",
    ),
    "root of the Jacobian": Mistake(
        _weights(by_stretch=0.5),
        "You took a root of the stretches. theta = mu + sigma eps is stretched by sigma itself.",
    ),
    "logarithm": Mistake(
        _weights(gather=lambda log_w: log_w.sum(axis=1)),
        "That is the logarithm of the weight.",
    ),
    "one for each coordinate": Mistake(
        _weights(gather=np.exp),
        "You have a weight for each coordinate. The density of a draw is the product over its coordinates: one weight for each row.",
    ),
    "summed": Mistake(
        _weights(gather=lambda log_w: np.exp(log_w).sum(axis=1)),
        "You added the coordinates' ratios up. Densities of independent coordinates are multiplied.",
    ),
    "averaged": Mistake(
        _weights(gather=lambda log_w: np.exp(log_w).mean(axis=1)),
        "You averaged the coordinates' ratios. Densities of independent coordinates are multiplied.",
    ),
    "divided by their mean": Mistake(
        _weights(gather=lambda log_w: np.exp(log_w.sum(axis=1)) / np.exp(log_w.sum(axis=1)).mean()),
        "You divided the weights by their mean. The plain ratio was asked for: what a draw is worth does not depend on the others.",
    ),
    "made to sum to one": Mistake(
        _weights(gather=lambda log_w: np.exp(log_w.sum(axis=1)) / np.exp(log_w.sum(axis=1)).sum()),
        "You made the weights sum to one. The plain ratio was asked for: what a draw is worth does not depend on the others.",
    ),
    "multiplied over the draws": Mistake(
        _weights(gather=lambda log_w: np.exp(log_w.sum(axis=0))),
        "You multiplied over the draws. Draws are rows: multiply along each row.",
    ),
    "eps taken for theta": Mistake(
        _eps_taken_for_theta,
        "You standardised eps with the new mean and width. It is theta that they standardise; make it from eps first.",
    ),
    "variance for scale": Mistake(
        _variance_for_scale,
        "You gave the density a variance. norm.pdf takes a standard deviation, which is what sigma is.",
    ),
}


MEAN_MISTAKES = {
    "one": Mistake(
        lambda sigma, sigma_new: 1.0,
        "The mean of the true weights is 1. This ratio lacks their Jacobian, so its mean is 1 only if the widths stay.",
    ),
    "upside down": Mistake(
        lambda sigma, sigma_new: np.prod(sigma / sigma_new),
        "Upside down. Where the new q is narrower, the noise that leads to the same theta is farther out, and its density is lower.",
    ),
    "one for each coordinate": Mistake(
        lambda sigma, sigma_new: sigma_new / sigma,
        "Right for each coordinate. The ratio for all of them is a product of independent factors: what is its mean?",
    ),
    "summed": Mistake(
        lambda sigma, sigma_new: np.sum(sigma_new / sigma),
        "You added. The mean of a product of independent factors is the product of their means.",
    ),
    "averaged": Mistake(
        lambda sigma, sigma_new: np.mean(sigma_new / sigma),
        "You averaged over the coordinates. The mean of a product of independent factors is the product of their means.",
    ),
    "variances": Mistake(
        lambda sigma, sigma_new: np.prod(sigma_new / sigma) ** 2,
        "You squared the widths. A line is stretched by sigma.",
    ),
    "root": Mistake(
        lambda sigma, sigma_new: np.prod(sigma_new / sigma) ** 0.5,
        "You took a root too many. A line is stretched by sigma.",
    ),
    "logarithm": Mistake(
        lambda sigma, sigma_new: np.sum(np.log(sigma_new / sigma)),
        "That is the logarithm of the mean.",
    ),
    "the typical ratio": Mistake(
        lambda sigma, sigma_new: np.exp(np.sum(1 - (sigma / sigma_new) ** 2) / 2),
        "You averaged the logarithm and took its exponential. That is a typical ratio; the mean is larger.",
    ),
}


def _bent(by_noise=1, stretch=lambda eps, new, k, k_new: np.cosh(k * eps) / np.cosh(k_new * new), gather=lambda w: w):
    def answer(eps, k, k_new):
        new = np.arcsinh(k_new * np.sinh(k * eps) / k) / k_new
        return gather(np.exp(by_noise * (eps**2 - new**2) / 2) * stretch(eps, new, k, k_new))

    return answer


def _bent_at_most(level):
    return _bent(gather=lambda w: np.minimum(w, level))


BENT_MISTAKES = {
    "clipped": Mistake(_bent_at_most(1.5), CLIPPED),
    "held above a floor": Mistake(_bent(gather=lambda w: np.maximum(w, 1e-2)), FLOOR),
    "the new stretch left out": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: np.cosh(k * eps)),
        "Your weights have the old map's stretch alone. The new density is divided by a stretch, too: that of the new map, at its own eps.",
    ),
    "the old stretch left out": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: 1 / np.cosh(k_new * new)),
        "Your weights have the new map's stretch alone. The old density is divided by a stretch, too, and it stands below the bar.",
    ),
    "Jacobian forgotten": Mistake(
        _bent(stretch=lambda *_: 1.0),
        "That is the ratio of the noise's densities. By how much does each map stretch the noise at this place?",
    ),
    "Jacobian upside down": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: np.cosh(k_new * new) / np.cosh(k * eps)),
        "Nearly: the stretches have changed places. A density is divided by its own stretch.",
    ),
    "upside down": Mistake(
        _bent(by_noise=-1, stretch=lambda eps, new, k, k_new: np.cosh(k_new * new) / np.cosh(k * eps)),
        "Upside down: yours is large for draws that the new q would hardly make.",
    ),
    "upside down, Jacobian forgotten": Mistake(
        _bent(by_noise=-1, stretch=lambda *_: 1.0),
        "Your ratio is upside down, and it is the noise's, not theta's.",
    ),
    "both stretches at the old noise": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: np.cosh(k * eps) / np.cosh(k_new * eps)),
        "Both of your stretches are taken at the old noise. The new map made this theta from another eps: its stretch is taken there.",
    ),
    "one for the other": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: k / k_new),
        "In yours the two stretches have the same ratio everywhere. This map stretches more the farther out it goes: what is its slope?",
    ),
    "k left in": Mistake(
        _bent(stretch=lambda eps, new, k, k_new: k * np.cosh(k * eps) / (k_new * np.cosh(k_new * new))),
        "Nearly: the slope of sinh(k eps) / k in eps has no k before it.",
    ),
    "the stretches alone": Mistake(
        _bent(by_noise=0),
        "Those are the stretches alone. The noise's densities at the two places differ, too.",
    ),
    "divided by their mean": Mistake(
        _bent(gather=lambda w: w / w.mean()),
        "You divided the weights by their mean. The plain ratio was asked for; the cell below divides.",
    ),
    "made to sum to one": Mistake(
        _bent(gather=lambda w: w / w.sum()),
        "You made the weights sum to one. The plain ratio was asked for; the cell below divides.",
    ),
    "logarithm": Mistake(_bent(gather=np.log), "That is the logarithm of the weight."),
}


def normal_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 500])
    cases = []
    for draws, dim, way in [(6, 3, -1), (4, 1, 1)]:
        mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.6, 1.5, dim)
        mu_new = mu + sigma * rng.uniform(0.2, 0.7, dim) * rng.choice([-1, 1], dim)
        cases.append((rng.normal(0, 1, (draws, dim)), mu, sigma, mu_new, sigma * np.exp(way * rng.uniform(0.15, 0.4, dim))))
    words: dict[str, Any] = {
        "right": "Right. Averaged over many draws these weights are 1, whatever the move.",
        "nudge": "Not those weights. With eps = [[1, 2]], mu = [1, 0], sigma = [2, 1], mu_new = [3, 4] and sigma_new = [1/2, 2] it is "
        "2 e^2 = 14.778.",
    }
    verdict = unclipped(judge(answer, cases, _by_densities, NORMAL_MISTAKES, **words), answer, cases, _at_most, words["nudge"])
    # far from the old q, where the weights are above 1,000, and far from the new one, where they are below 0.0001
    mu, sigma, side = rng.normal(0, 1, 3), rng.uniform(0.6, 1.5, 3), rng.choice([-1, 1], 3)
    mu_new, sigma_new = mu + 2.5 * sigma * side, 0.9 * sigma
    near = rng.uniform(-0.2, 0.2, (5, 3))
    verdict = beyond(verdict, answer, [(2.5 * side + near, mu, sigma, mu_new, sigma_new)], _by_densities, CLIPPED)
    return beyond(verdict, answer, [(near, mu, sigma, mu_new, sigma_new)], _by_densities, FLOOR)


def mean_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 501])
    cases = []
    for dim, way in [(3, -1), (1, 1), (6, -1)]:  # widths that differ, so that no average stands in for the product
        sigma = rng.uniform(0.5, 2.0, dim)
        cases.append((sigma, sigma * np.exp(way * (np.linspace(0.05, 0.75, dim) + rng.uniform(0, 0.1, dim)))))
    return exact(
        answer,
        cases,
        _mean_by_quadrature,
        MEAN_MISTAKES,
        right="Right. One coordinate is a small matter; a hundred of them, each a tenth narrower, make a factor of 0.00003.",
        nudge="Not that mean. With sigma = [2, 1, 4] and sigma_new = [1, 3, 1] it is 3/8.",
    )


def bent_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 502])
    cases = []
    for old, new in [((0.5, 0.8), (1.0, 1.3)), ((0.9, 1.2), (0.3, 0.5))]:
        eps = rng.uniform(0.3, 2.0, 6) * rng.choice([-1, 1], 6)
        cases.append((eps, float(rng.uniform(*old)), float(rng.uniform(*new))))
    words: dict[str, Any] = {
        "right": "Right. Here the stretch differs from draw to draw, so that no single number can put a ratio without it right.",
        "nudge": "Not those weights. With k = 1 and k_new = 2 the draw from eps = 1 comes from 0.795 under the new map and has weight "
        "0.726.",
    }
    verdict = judge(answer, cases, _by_distribution_functions, BENT_MISTAKES, **words)
    verdict = unclipped(verdict, answer, cases, _bent_at_most, words["nudge"])
    # far out, the weights are above 10 where the tails have grown, and below 0.001 where they have shrunk
    signs = rng.choice([-1, 1], 6)
    large = (rng.uniform(3.6, 4.6, 6) * signs, float(rng.uniform(0.25, 0.35)), float(rng.uniform(1.3, 1.5)))
    small = (rng.uniform(2.4, 2.8, 6) * signs, float(rng.uniform(1.15, 1.3)), float(rng.uniform(0.25, 0.35)))
    verdict = beyond(verdict, answer, [large], _by_distribution_functions, CLIPPED)
    return beyond(verdict, answer, [small], _by_distribution_functions, FLOOR)


TASKS = (
    Task(
        "is_gradients/the-weight/normal",
        "The weight: a normal that moves",
        1,
        10,
        normal_stub,
        (
            "How dense was the old q at this theta, and how dense is the new one? Both are densities of theta, not of the noise.",
            "q(theta) = product over coordinates of phi((theta_j - mu_j) / sigma_j) / sigma_j, with phi the standard normal density.",
            "Begin with `theta = mu + sigma * eps`",
        ),
        NORMAL_MISTAKES,
        normal_verdict,
    ),
    Task(
        "is_gradients/the-weight/mean",
        "The weight: what a ratio of noise is on average",
        1,
        6,
        mean_stub,
        (
            "The right weight has mean 1. By which constant does this ratio differ from it?",
            "phi(eps') / phi(eps) = w times the product over j of what was left out, and E[w] = 1.",
            "Begin with `stretch = sigma_new / sigma`",
        ),
        MEAN_MISTAKES,
        mean_verdict,
    ),
    Task(
        "is_gradients/the-weight/bent",
        "The weight: a map that bends",
        1,
        10,
        bent_stub,
        (
            "Turn each theta back into the noise that would have made it under the new map. Then mind that both maps stretch.",
            "q(theta) = phi(eps) / |d theta / d eps|, and the slope of sinh(k eps) / k in eps is cosh(k eps).",
            "Begin with `theta = np.sinh(k * eps) / k`",
        ),
        BENT_MISTAKES,
        bent_verdict,
    ),
)
