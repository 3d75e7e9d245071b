"""A weight for each factor. Roads: the density of a draw with one coordinate moved; quadrature on a grid of draws; every count tried."""

from itertools import count
from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks._quiet import beyond
from course_pkg.checks.is_gradients._tools import CLIPPED, log_ratio, unclipped


def _one_moved(theta: np.ndarray, slopes: np.ndarray, mu: np.ndarray, sigma: np.ndarray, mu_new: np.ndarray, sigma_new: np.ndarray) -> Any:
    """Coordinate i weighted by the density of the whole draw where only i has moved, over that where none has."""
    out = []
    for i in range(theta.shape[1]):
        moved, widened = mu.copy(), sigma.copy()
        moved[i], widened[i] = mu_new[i], sigma_new[i]
        w = np.prod(norm.pdf(theta, moved, widened), axis=1) / np.prod(norm.pdf(theta, mu, sigma), axis=1)
        out.append(np.average(w * slopes[:, i]))
    return np.array(out)


def _bias_by_quadrature(A: np.ndarray, mu: np.ndarray, mu_new: np.ndarray) -> np.ndarray:
    """Both means on a grid of old draws with probabilities: once with factors' weights, once with joint ones."""
    dim, b = len(mu), 0.7
    nodes, chance = np.polynomial.hermite_e.hermegauss(30)
    sigma = np.linspace(0.8, 1.2, dim)
    grid = np.stack(np.meshgrid(*[nodes] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    p = np.stack(np.meshgrid(*[chance / chance.sum()] * dim, indexing="ij"), axis=-1).reshape(-1, dim).prod(axis=1)
    theta = mu + sigma * grid
    slopes = b - theta @ A
    log_w = log_ratio(theta, mu, sigma, mu_new, sigma)
    joint = np.exp(log_w.sum(axis=1, keepdims=True))
    return p @ ((np.exp(log_w) - joint) * slopes)


def _count_up(bias: float, factor_variance: float, joint_variance: float) -> int:
    for draws in count(1):
        if joint_variance / draws < bias**2 + factor_variance / draws:
            return draws
    raise AssertionError


def estimate_stub(
    theta: np.ndarray, slopes: np.ndarray, mu: np.ndarray, sigma: np.ndarray, mu_new: np.ndarray, sigma_new: np.ndarray
) -> Any:
    raise NotImplementedError


def bias_stub(A: np.ndarray, mu: np.ndarray, mu_new: np.ndarray) -> Any:
    raise NotImplementedError


def draws_stub(bias: float, factor_variance: float, joint_variance: float) -> Any:
    raise NotImplementedError


def _by_weights(weights, gather=lambda terms: terms.mean(axis=0)):
    return lambda theta, slopes, *q: gather(weights(theta, *q) * slopes)


def _factor(theta, *q):
    return np.exp(log_ratio(theta, *q))


def _joint(theta, *q):
    return np.exp(log_ratio(theta, *q).sum(axis=1, keepdims=True))


def _factor_noise(theta, mu, sigma, mu_new, sigma_new):
    return _factor(theta, mu, sigma, mu_new, sigma_new) * sigma_new / sigma


def _at_most(level):
    return _by_weights(lambda *case: np.minimum(_factor(*case), level))


ESTIMATE_MISTAKES = {
    "clipped": Mistake(_at_most(5.0), CLIPPED),
    "joint": Mistake(
        _by_weights(_joint),
        "You gave each draw one weight, the product over its coordinates. Here coordinate i of the slopes gets the weight of coordinate i.",
    ),
    "the others' weights": Mistake(
        _by_weights(lambda *case: _joint(*case) / _factor(*case)),
        "Your weights are those of all the other coordinates. Coordinate i of the slopes gets the weight of coordinate i.",
    ),
    "Jacobian forgotten": Mistake(
        _by_weights(_factor_noise),
        "Your weights are ratios of the noise's densities. The density of theta is the noise's divided by sigma.",
    ),
    "upside down": Mistake(
        _by_weights(lambda *case: 1 / _factor(*case)),
        "Your weights are upside down: the new density belongs above the old one.",
    ),
    "upside down, Jacobian forgotten": Mistake(
        _by_weights(lambda *case: 1 / _factor_noise(*case)),
        "Your weights are upside down, and they are the noise's: the density of theta is the noise's divided by sigma.",
    ),
    "no weights": Mistake(
        _by_weights(lambda theta, *_: np.ones_like(theta)),
        "Your draws all count the same. They come from the old q; under the new one some are more likely than others.",
    ),
    "mean over the coordinates": Mistake(
        _by_weights(_factor, lambda terms: terms.mean(axis=1)),
        "You averaged over the coordinates. Draws are rows: the mean runs down each column.",
    ),
    "summed": Mistake(
        _by_weights(_factor, lambda terms: terms.sum(axis=0)),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
    "means apart": Mistake(
        lambda theta, slopes, *q: _factor(theta, *q).mean(axis=0) * slopes.mean(axis=0),
        "You averaged the weights on their own. Each belongs to its draw: multiply first, then average.",
    ),
    "weights made to have mean one": Mistake(
        _by_weights(lambda *case: _factor(*case) / _factor(*case).mean(axis=0)),
        "You divided by the sum of the weights. The plain mean over the draws was asked for.",
    ),
    "weights averaged": Mistake(
        _by_weights(lambda *case: _factor(*case).mean(axis=1, keepdims=True)),
        "You averaged the coordinates' weights and gave each draw one. Coordinate i of the slopes gets the weight of coordinate i.",
    ),
    "variance for scale": Mistake(
        _by_weights(lambda theta, mu, sigma, mu_new, sigma_new: _factor(theta, mu, sigma**2, mu_new, sigma_new**2)),
        "You gave the density a variance. norm.pdf takes a standard deviation, which is what sigma is.",
    ),
}


def _off(A):
    return A - np.diag(np.diag(A))


BIAS_MISTAKES = {
    "unbiased": Mistake(
        lambda A, mu, mu_new: np.zeros(len(mu)),
        "Unbiased, then? The slope in coordinate i looks at the other coordinates, and those are still where the old q put them.",
    ),
    "own coordinate, too": Mistake(
        lambda A, mu, mu_new: A @ (mu_new - mu),
        "You counted coordinate i's own move as well. Its own weight takes care of that one.",
    ),
    "only its own": Mistake(
        lambda A, mu, mu_new: np.diag(A) * (mu_new - mu),
        "You counted coordinate i's own move, which its weight takes care of. What about the others?",
    ),
    "wrong sign": Mistake(
        lambda A, mu, mu_new: _off(A) @ (mu - mu_new),
        "The right size and the wrong sign: it is what the estimate is on average, less the truth.",
    ),
    "wrong sign, own coordinate, too": Mistake(
        lambda A, mu, mu_new: A @ (mu - mu_new),
        "Two things: coordinate i's own weight takes care of its own move, and the bias is what is estimated less the truth.",
    ),
    "own move instead": Mistake(
        lambda A, mu, mu_new: _off(A).sum(axis=1) * (mu_new - mu),
        "The couplings are the right ones. What counts is how far the coordinate at the other end of each has moved.",
    ),
    "covariance": Mistake(
        lambda A, mu, mu_new: _off(np.linalg.inv(A)) @ (mu_new - mu),
        "You inverted A. It is the precision, and the slope b - A theta holds it as it is.",
    ),
    "couplings halved": Mistake(
        lambda A, mu, mu_new: _off(A) @ (mu_new - mu) / 2,
        "Half of it is missing: in theta^T A theta each coupling stands twice, which takes the 1/2 away.",
    ),
    "unit couplings": Mistake(
        lambda A, mu, mu_new: (mu_new - mu).sum() - (mu_new - mu),
        "Your bias does not depend on A: how much does the slope look at each of the others?",
    ),
    "no move": Mistake(
        lambda A, mu, mu_new: _off(A) @ mu_new,
        "Your bias stays when q has not moved at all. Is the estimate wrong then?",
    ),
    "the estimate": Mistake(
        lambda A, mu, mu_new: -(_off(A) @ mu) - np.diag(A) * mu_new,
        "That is what the estimate is on average, but for b. Take the truth off.",
    ),
    "total": Mistake(
        lambda A, mu, mu_new: (_off(A) @ (mu_new - mu)).sum(),
        "You added over the coordinates. Each has a bias of its own.",
    ),
}


def _first_beyond(b, one, other):
    return np.floor((other - one) / b**2) + 1


DRAWS_MISTAKES = {
    "never few": Mistake(
        lambda b, one, other: max(5, _first_beyond(b, one, other)),
        "Right for many draws. Where the bias is large one weight for the whole draw wins with a few draws, or with one.",
    ),
    "search that ends": Mistake(
        lambda b, one, other: min(200, _first_beyond(b, one, other)),
        "Right, until it takes more than a few hundred draws. A small bias is worth taking for longer; do you stop looking too soon?",
    ),
    "tie": Mistake(
        lambda b, one, other: np.ceil((other - one) / b**2),
        "Right but for a tie: where the two errors are equal neither is the smaller, and it takes one draw more.",
    ),
    "not whole": Mistake(
        lambda b, one, other: (other - one) / b**2,
        "The right place. A whole number of draws was asked for, the first beyond it.",
    ),
    "one too few": Mistake(
        lambda b, one, other: np.floor((other - one) / b**2),
        "One too few: with so many draws the factors' weights are still ahead.",
    ),
    "bias not squared": Mistake(
        lambda b, one, other: np.ceil((other - one) / b),
        "You compared a variance with a bias. In a mean squared error the bias is squared.",
    ),
    "bias not squared, sign kept": Mistake(
        lambda b, one, other: np.ceil((other - one) / abs(b)),
        "You compared a variance with the size of a bias. In a mean squared error the bias is squared.",
    ),
    "factor's variance forgotten": Mistake(
        lambda b, one, other: np.ceil(other / b**2),
        "Too many: the factors' weights have a variance, too, besides their bias.",
    ),
    "variances added": Mistake(
        lambda b, one, other: np.ceil((one + other) / b**2),
        "Too many: the two variances stand on the two sides of a comparison.",
    ),
    "spreads": Mistake(
        lambda b, one, other: np.ceil((np.sqrt(other) - np.sqrt(one)) / b**2),
        "You took roots of the variances. A mean squared error is a squared bias plus a variance.",
    ),
    "spreads squared": Mistake(
        lambda b, one, other: np.ceil(((np.sqrt(other) - np.sqrt(one)) / b) ** 2),
        "You compared standard errors with the bias. Compare mean squared errors: squared bias plus variance.",
    ),
    "bias averaged away": Mistake(
        lambda b, one, other: 1,
        "With one draw the noise decides. The variances shrink as draws are added, and the bias does not.",
    ),
}


def _moved(rng: np.random.Generator, dim: int, way: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    mu, sigma = rng.normal(0, 1, dim), rng.uniform(0.6, 1.4, dim)
    mu_new = mu + sigma * rng.uniform(0.2, 0.5, dim) * rng.choice([-1, 1], dim)
    return mu, sigma, mu_new, sigma * np.exp(way * rng.uniform(0.15, 0.35, dim))


def estimate_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 530])
    cases = []
    for draws, dim, way in [(7, 2, -1), (5, 4, 1)]:
        mu, sigma, mu_new, sigma_new = _moved(rng, dim, way)
        cases.append((mu + sigma * rng.normal(size=(draws, dim)), rng.normal(1, 2, (draws, dim)), mu, sigma, mu_new, sigma_new))
    words: dict[str, Any] = {
        "right": "Right. No weight is a product of many, so none runs away with the number of coordinates. What does that cost?",
        "nudge": "Not that estimate. With theta = [[2, 0], [4, 1]], slopes = [[3, 2], [0, 0]], mu = [0, 0], sigma = [2, 1], "
        "mu_new = [3, 1] and sigma_new = [1, 1] it is [3, 0.607].",
    }
    verdict = unclipped(judge(answer, cases, _one_moved, ESTIMATE_MISTAKES, **words), answer, cases, _at_most, words["nudge"])
    # draws where the new q is and the old one hardly: weights above 40, one of them above 200
    mu, sigma, _, _ = _moved(rng, 2, -1)
    mu_new = mu + 3.2 * sigma * rng.choice([-1, 1], 2)
    theta = mu_new + 0.75 * sigma * rng.permuted(np.tile(np.linspace(-0.6, 0.6, 7)[:, None], 2), axis=0)
    large = (theta, rng.uniform(0.5, 2, (7, 2)), mu, sigma, mu_new, 0.75 * sigma)
    return beyond(verdict, answer, [large], _one_moved, CLIPPED)


def bias_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 531])
    cases = []
    for dim in (2, 3):
        couplings = np.triu(rng.uniform(0.3, 0.9, (dim, dim)) * np.array([1, 1, -1])[:dim], 1)  # one of the three is negative
        A = couplings + couplings.T + np.diag(rng.uniform(2.2, 3.5, dim))
        mu = rng.uniform(0.4, 1.0, dim) * rng.choice([-1, 1], dim)
        cases.append((A, mu, mu + np.array([0.3, -0.55, 0.9])[:dim] * rng.uniform(0.9, 1.1, dim)))
    return judge(
        answer,
        cases,
        _bias_by_quadrature,
        BIAS_MISTAKES,
        right="Right. It vanishes if A is diagonal, or as the move does. More draws do not help.",
        nudge="Not that bias. With A = [[2, -1], [-1, 3]], mu = [1, 1] and mu_new = [2, 3] it is [-2, -1].",
    )


def draws_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 532])
    cases = []
    for least, way in [(6, 1), (40, -1), (170, 1)]:
        bias = way * float(rng.uniform(0.3, 0.6))
        factor_variance = float(rng.uniform(1.0, 2.0))
        place = least + int(rng.integers(0, 5)) + float(rng.uniform(0.3, 0.7))
        cases.append((bias, factor_variance, factor_variance + place * bias**2))
    verdict = judge(
        answer,
        cases,
        _count_up,
        DRAWS_MISTAKES,
        right="Right. With few draws a little bias is worth taking; with many it is all that is left.",
        nudge="Not that many. With bias = -1/2, factor_variance = 4 and joint_variance = 6.1 it is 9: with 9 draws the mean squared errors "
        "are 0.694 and 0.678, with 8 draws 0.75 and 0.7625.",
    )
    few: list[Any] = []
    many: list[Any] = []
    for cases, least, bias in [(few, 0, 2.0), (few, 1, -2.5), (few, 3, 1.5), (many, 1500, 0.3)]:
        size, variance, place = bias * float(rng.uniform(0.9, 1.1)), float(rng.uniform(1.0, 2.0)), least + float(rng.uniform(0.3, 0.7))
        cases.append((size, variance, variance + place * size**2))
    # powers of two and their sums: every way of comparing is exact
    tie = [(0.5, float(2 ** rng.integers(0, 3)), 0.0), (-0.25, float(2 ** rng.integers(0, 3)), 0.0)]
    tie = [(bias, variance, variance + draws * bias**2) for (bias, variance, _), draws in zip(tie, (8, 16), strict=True)]
    verdict = beyond(verdict, answer, few, _count_up, DRAWS_MISTAKES["never few"].words)
    verdict = beyond(verdict, answer, many, _count_up, DRAWS_MISTAKES["search that ends"].words)
    return beyond(verdict, answer, tie, _count_up, DRAWS_MISTAKES["tie"].words)


TASKS = (
    Task(
        "is_gradients/bias-per-factor/estimate",
        "A weight for each factor: the estimate",
        2,
        9,
        estimate_stub,
        (
            "Every number in the table of slopes has a weight of its own. On which densities does it depend?",
            "w_mi = q'_i(theta_mi) / q_i(theta_mi) for draw m and coordinate i: a table as large as that of the slopes.",
            "Begin with `w = norm.pdf(theta, mu_new, sigma_new) / norm.pdf(theta, mu, sigma)`",
        ),
        ESTIMATE_MISTAKES,
        estimate_verdict,
    ),
    Task(
        "is_gradients/bias-per-factor/bias",
        "A weight for each factor: its bias",
        2,
        12,
        bias_stub,
        (
            "Under which distribution does this average run? Coordinate i is where the new q has it; where are the others?",
            "s_i = b_i - sum over j of A_ij theta_j. For the truth each theta_j is at mu'_j on average. Where is it for the estimate?",
            "Begin with `off = A - np.diag(np.diag(A))`",
        ),
        BIAS_MISTAKES,
        bias_verdict,
    ),
    Task(
        "is_gradients/bias-per-factor/draws",
        "A weight for each factor: when it pays",
        2,
        7,
        draws_stub,
        (
            "A mean squared error has two parts. Which of them shrink as draws are added?",
            "With M draws the mean squared errors are joint_variance / M and bias^2 + factor_variance / M. For which M are they equal?",
            "Begin with `even = (joint_variance - factor_variance) / bias**2`",
        ),
        DRAWS_MISTAKES,
        draws_verdict,
    ),
)
