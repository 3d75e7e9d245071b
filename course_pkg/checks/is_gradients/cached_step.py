"""A step from a cache. Roads: finite differences of reweighted averages; quadrature of the bias."""

from typing import Any

import numpy as np
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge
from course_pkg.checks._quiet import beyond
from course_pkg.checks.gradients._tools import normal_mean, slope
from course_pkg.checks.is_gradients._tools import CLIPPED, log_ratio, unclipped


def _along_the_new_map(theta: np.ndarray, slopes: np.ndarray, mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    """What the draws would gain if the new map were moved a little, the noise behind them held, plus the new entropy."""
    w, eps = np.exp(log_ratio(theta, mu, sigma, mu_new, sigma_new)), (theta - mu_new) / sigma_new

    def gain(m: float, s: float) -> float:
        return float(np.mean(w * slopes * (m + s * eps))) + float(norm.entropy(m, s))

    return slope(lambda m: gain(m, sigma_new), mu_new), slope(lambda s: gain(mu_new, s), sigma_new)


def _along_the_new_density(theta: np.ndarray, log_joint: np.ndarray, mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    """The draws stay and the new q moves a little; g is held as it is at the new q."""
    g = log_joint - norm.logpdf(theta, mu_new, sigma_new)

    def average(m: float, s: float) -> float:
        return float(np.mean(np.exp(log_ratio(theta, mu, sigma, m, s)) * g))

    return slope(lambda m: average(m, sigma_new), mu_new), slope(lambda s: average(mu_new, s), sigma_new)


def _stale_by_quadrature(mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    """The mean under the new q of what an old g has too much, times the score, the score by finite differences."""

    def mean(score: Any) -> float:
        return normal_mean(lambda x: log_ratio(x, mu, sigma, mu_new, sigma_new) * score(x), mu_new, sigma_new)

    by_mu = mean(lambda x: slope(lambda m: norm.logpdf(x, m, sigma_new), mu_new))
    return by_mu, mean(lambda x: slope(lambda s: norm.logpdf(x, mu_new, s), sigma_new))


def pathwise_stub(theta: np.ndarray, slopes: np.ndarray, mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    raise NotImplementedError


def score_stub(theta: np.ndarray, log_joint: np.ndarray, mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    raise NotImplementedError


def stale_stub(mu: float, sigma: float, mu_new: float, sigma_new: float) -> Any:
    raise NotImplementedError


def _ratio(theta, mu, sigma, mu_new, sigma_new):
    return np.exp(log_ratio(theta, mu, sigma, mu_new, sigma_new))


def _noise_ratio(theta, mu, sigma, mu_new, sigma_new):
    return _ratio(theta, mu, sigma, mu_new, sigma_new) * sigma_new / sigma


def _pathwise(weight=_ratio, stale=False, entropy=lambda w, s, s_new: 1 / s_new, mean=np.mean, factor=lambda s_new: 1.0):
    def answer(theta, slopes, mu, sigma, mu_new, sigma_new):
        w = weight(theta, mu, sigma, mu_new, sigma_new)
        eps = (theta - mu) / sigma if stale else (theta - mu_new) / sigma_new
        by_sigma = mean(w * slopes * eps) + entropy(w, sigma, sigma_new)
        return mean(w * slopes), factor(sigma_new) * by_sigma

    return answer


def _entropy_at_the_draws(theta, slopes, mu, sigma, mu_new, sigma_new):
    w, eps = _ratio(theta, mu, sigma, mu_new, sigma_new), (theta - mu_new) / sigma_new
    pull = w * (slopes + eps / sigma_new)
    return pull.mean(), (pull * eps).mean()


def _means_apart(theta, slopes, mu, sigma, mu_new, sigma_new):
    w, eps = _ratio(theta, mu, sigma, mu_new, sigma_new), (theta - mu_new) / sigma_new
    return w.mean() * slopes.mean(), w.mean() * (slopes * eps).mean() + 1 / sigma_new


def _mean_one(*case):
    w = _ratio(*case)
    return w / w.mean()


def _at_most(level):
    return _pathwise(weight=lambda *case: np.minimum(_ratio(*case), level))


def _by_sigma(eps):
    """The right part by mu, and other noise in the part by sigma."""

    def answer(theta, slopes, mu, sigma, mu_new, sigma_new):
        pull = _ratio(theta, mu, sigma, mu_new, sigma_new) * slopes
        return pull.mean(), (pull * eps(theta, mu, sigma, mu_new, sigma_new)).mean() + 1 / sigma_new

    return answer


def _weighted_in(by_mu, by_sigma):
    """Weights in one of the two parts."""

    def answer(theta, slopes, mu, sigma, mu_new, sigma_new):
        w, eps = _ratio(theta, mu, sigma, mu_new, sigma_new), (theta - mu_new) / sigma_new
        return (w**by_mu * slopes).mean(), (w**by_sigma * slopes * eps).mean() + 1 / sigma_new

    return answer


def _entropy_for_each_draw(theta, slopes, *q):
    by_mu, by_sigma = _pathwise()(theta, slopes, *q)
    return len(theta) * by_mu, len(theta) * by_sigma


PATHWISE_MISTAKES = {
    "clipped": Mistake(_at_most(5.0), CLIPPED),
    "all old": Mistake(
        _pathwise(weight=lambda theta, *_: np.ones_like(theta), stale=True, entropy=lambda w, s, s_new: 1 / s),
        "That is the old gradient once more. It knows nothing of the new q.",
    ),
    "weights in the part by mu only": Mistake(
        _weighted_in(1, 0),
        "The part by mu is right. In the part by sigma your draws all count the same, and they come from the old q there, too.",
    ),
    "weights in the part by sigma only": Mistake(
        _weighted_in(0, 1),
        "The part by sigma is right. In the part by mu your draws all count the same, and they come from the old q there, too.",
    ),
    "noise over the old width": Mistake(
        _by_sigma(lambda theta, mu, sigma, mu_new, sigma_new: (theta - mu_new) / sigma),
        "Your noise in the part by sigma has the new mean and the old width. Which eps leads to theta under the new q?",
    ),
    "noise about the old mean": Mistake(
        _by_sigma(lambda theta, mu, sigma, mu_new, sigma_new: (theta - mu) / sigma_new),
        "Your noise in the part by sigma has the new width and the old mean. Which eps leads to theta under the new q?",
    ),
    "noise not divided": Mistake(
        _by_sigma(lambda theta, mu, sigma, mu_new, sigma_new: theta - mu_new),
        "In the part by sigma you have theta - mu' where the noise belongs. theta = mu' + sigma' eps: what is its slope in sigma'?",
    ),
    "theta for the noise": Mistake(
        _by_sigma(lambda theta, *_: theta),
        "In the part by sigma you have theta where the noise belongs. theta = mu' + sigma' eps: what is its slope in sigma'?",
    ),
    "summed, the entropy as well": Mistake(
        _entropy_for_each_draw,
        "You added the draws up, the entropy's slope with each of them. An expectation is estimated by their mean.",
    ),
    "old noise": Mistake(
        _pathwise(stale=True),
        "Your part by sigma uses the noise that the draws were made from. Another eps leads to the same theta under the new q: "
        "standardise theta anew.",
    ),
    "no weights": Mistake(
        _pathwise(weight=lambda theta, *_: np.ones_like(theta)),
        "Your draws all count the same. They come from the old q; under the new one some are more likely than others.",
    ),
    "the old gradient": Mistake(
        _pathwise(weight=lambda theta, *_: np.ones_like(theta), stale=True),
        "That is the old gradient, but for the entropy. What changes for a draw when q has moved on?",
    ),
    "Jacobian forgotten": Mistake(
        _pathwise(weight=_noise_ratio),
        "Your weights are a ratio of the noise's densities. The density of theta is the noise's divided by sigma.",
    ),
    "Jacobian forgotten, old noise": Mistake(
        _pathwise(weight=_noise_ratio, stale=True),
        "Two things: the density of theta is the noise's divided by sigma, and eps is to be found anew under the new q.",
    ),
    "weights upside down": Mistake(
        _pathwise(weight=lambda *case: 1 / _ratio(*case)),
        "Your weights are upside down: the new density belongs above the old one.",
    ),
    "upside down, Jacobian forgotten": Mistake(
        _pathwise(weight=lambda *case: 1 / _noise_ratio(*case)),
        "Your weights are upside down, and they are the noise's: the density of theta is the noise's divided by sigma.",
    ),
    "old entropy": Mistake(
        _pathwise(entropy=lambda w, s, s_new: 1 / s),
        "Your entropy is the old q's. It costs nothing to have the new one's.",
    ),
    "no entropy": Mistake(
        _pathwise(entropy=lambda w, s, s_new: 0.0),
        "Where is the entropy's slope? Without it q collapses.",
    ),
    "entropy's sign": Mistake(
        _pathwise(entropy=lambda w, s, s_new: -1 / s_new),
        "Your entropy has the wrong sign: a wider q has more of it.",
    ),
    "entropy weighted": Mistake(
        _pathwise(entropy=lambda w, s, s_new: w.mean() / s_new),
        "You weighted the entropy's slope, too. It is known exactly at the new q; a mean of weights only adds noise.",
    ),
    "entropy at the draws": Mistake(
        _entropy_at_the_draws,
        "You took the entropy's slope at the draws. On average that is right, too; here it was asked for in closed form.",
    ),
    "by log sigma": Mistake(
        _pathwise(factor=lambda s_new: s_new),
        "Your second part is the derivative by log sigma. The parameter here is sigma.",
    ),
    "summed": Mistake(
        _pathwise(mean=np.sum),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
    "weights made to have mean one": Mistake(
        _pathwise(weight=_mean_one),
        "You divided by the sum of the weights. The plain mean over the draws was asked for, which has no bias.",
    ),
    "means apart": Mistake(
        _means_apart,
        "You averaged the weights on their own. Each belongs to its draw: multiply first, then average.",
    ),
    "swapped": Mistake(
        lambda *case: _pathwise()(*case)[::-1],
        "Your two parts have changed places: by mu first.",
    ),
}


def _scores(theta, mu, sigma):
    eps = (theta - mu) / sigma
    return np.stack([eps / sigma, (eps**2 - 1) / sigma])


def _scored(
    weight=_ratio,
    g=lambda theta, joint, mu, sigma, mu_new, sigma_new: joint - norm.logpdf(theta, mu_new, sigma_new),
    score=lambda theta, mu, sigma, mu_new, sigma_new: _scores(theta, mu_new, sigma_new),
    mean=lambda terms: terms.mean(axis=1),
):
    def answer(theta, log_joint, *q):
        return tuple(mean(weight(theta, *q) * g(theta, log_joint, *q) * score(theta, *q)))

    return answer


def _stale_g(theta, joint, mu, sigma, *_):
    return joint - norm.logpdf(theta, mu, sigma)


def _old_scores(theta, mu, sigma, *_):
    return _scores(theta, mu, sigma)


def _ones(theta, *_):
    return np.ones_like(theta)


def _baseline(theta, joint, *q):
    g = joint - norm.logpdf(theta, *q[2:])
    return g - g.mean()


def _score_at_most(level):
    return _scored(weight=lambda *case: np.minimum(_ratio(*case), level))


def _entropy_added(theta, joint, mu, sigma, mu_new, sigma_new):
    by_mu, by_sigma = _scored()(theta, joint, mu, sigma, mu_new, sigma_new)
    return by_mu, by_sigma + 1 / sigma_new


SCORE_MISTAKES = {
    "clipped": Mistake(_score_at_most(5.0), CLIPPED),
    "entropy added": Mistake(
        _entropy_added,
        "You added the entropy's slope. Here log q stands in g, so that the entropy is counted already.",
    ),
    "width left out of log q": Mistake(
        _scored(g=lambda theta, joint, mu, sigma, mu_new, sigma_new: joint - norm.logpdf((theta - mu_new) / sigma_new)),
        "The log q in your g lacks its width: it is the log density of the noise. That of theta has - log sigma' as well.",
    ),
    "normaliser left out of log q": Mistake(
        _scored(g=lambda theta, joint, mu, sigma, mu_new, sigma_new: joint + ((theta - mu_new) / sigma_new) ** 2 / 2),
        "The log q in your g is not normalised: it has the exponent alone. In a finite sample a constant in g changes the estimate.",
    ),
    "constant left out of log q": Mistake(
        _scored(g=lambda theta, joint, mu, sigma, m_new, s_new: joint + ((theta - m_new) / s_new) ** 2 / 2 + np.log(s_new)),
        "The log q in your g lacks its log root 2 pi. In a finite sample a constant in g changes the estimate.",
    ),
    "stale g": Mistake(
        _scored(g=_stale_g),
        "Your g is the old one: it holds the log of the old q. Of g only the log joint may be kept; log q is the new one's, and cheap.",
    ),
    "old score": Mistake(
        _scored(score=_old_scores),
        "Your score is the old q's. The gradient at the new parameters has the new one's.",
    ),
    "stale g and old score": Mistake(
        _scored(g=_stale_g, score=_old_scores),
        "All but your weights is the old q's. Only theta and the log joint need be kept; what holds q is made anew.",
    ),
    "no weights": Mistake(
        _scored(weight=_ones),
        "Your draws all count the same. They come from the old q; under the new one some are more likely than others.",
    ),
    "the old gradient": Mistake(
        _scored(weight=_ones, g=_stale_g, score=_old_scores),
        "That is the old gradient once more. It knows nothing of the new q.",
    ),
    "stale g without weights": Mistake(
        _scored(weight=_ones, g=_stale_g),
        "Two things: the draws come from the old q and want weights, and your g holds the log of the old q.",
    ),
    "Jacobian forgotten": Mistake(
        _scored(weight=_noise_ratio),
        "Your weights are a ratio of the noise's densities. The density of theta is the noise's divided by sigma.",
    ),
    "weights upside down": Mistake(
        _scored(weight=lambda *case: 1 / _ratio(*case)),
        "Your weights are upside down: the new density belongs above the old one.",
    ),
    "log q forgotten": Mistake(
        _scored(g=lambda theta, joint, *_: joint),
        "Your g is the log joint alone: where is log q?",
    ),
    "log q with the wrong sign": Mistake(
        _scored(g=lambda theta, joint, mu, sigma, mu_new, sigma_new: joint + norm.logpdf(theta, mu_new, sigma_new)),
        "log q has the wrong sign in your g: a place where q has much already is worth less.",
    ),
    "g's own derivative": Mistake(
        _scored(g=lambda theta, joint, mu, sigma, mu_new, sigma_new: joint - norm.logpdf(theta, mu_new, sigma_new) - 1),
        "You also differentiated g. Its only derivative is minus the score, whose mean is zero: it adds noise and nothing else.",
    ),
    "baseline": Mistake(
        _scored(g=_baseline),
        "You took the mean of g off, a baseline. The plain estimate was asked for.",
    ),
    "summed": Mistake(
        _scored(mean=lambda terms: terms.sum(axis=1)),
        "You added the draws up. An expectation is estimated by their mean.",
    ),
    "weights made to have mean one": Mistake(
        _scored(weight=_mean_one),
        "You divided by the sum of the weights. The plain mean over the draws was asked for, which has no bias.",
    ),
    "by log sigma": Mistake(
        lambda *case: (_scored()(*case)[0], _scored()(*case)[1] * case[5]),
        "Your second part is the derivative by log sigma. The parameter here is sigma.",
    ),
    "by the variance": Mistake(
        lambda *case: (_scored()(*case)[0], _scored()(*case)[1] / (2 * case[5])),
        "Your second part is the derivative by sigma squared. The parameter here is sigma.",
    ),
    "swapped": Mistake(
        lambda *case: _scored()(*case)[::-1],
        "Your two parts have changed places: by mu first.",
    ),
}


def _kl_gradient(mu, sigma, mu_new, sigma_new):
    return (mu_new - mu) / sigma**2, sigma_new / sigma**2 - 1 / sigma_new


STALE_MISTAKES = {
    "swapped": Mistake(
        lambda *q: _kl_gradient(*q)[::-1],
        "Your two parts have changed places: by mu first.",
    ),
    "none": Mistake(
        lambda mu, sigma, mu_new, sigma_new: (0.0, 0.0),
        "An old g costs something: it rewards the new q for leaving the places where the old one was dense. Has that mean zero?",
    ),
    "wrong sign": Mistake(
        lambda *q: tuple(-part for part in _kl_gradient(*q)),
        "The right size and the wrong sign: it is the mean of the gradient from the old g, less the right one.",
    ),
    "the other divergence": Mistake(
        lambda mu, sigma, mu_new, sigma_new: (
            (mu_new - mu) / sigma_new**2,
            1 / sigma_new - (sigma**2 + (mu_new - mu) ** 2) / sigma_new**3,
        ),
        "That is the slope of KL(old || new). The weights make the draws stand for the new q: the average is over it.",
    ),
    "by the old parameters": Mistake(
        lambda mu, sigma, mu_new, sigma_new: (
            (mu - mu_new) / sigma**2,
            1 / sigma - (sigma_new**2 + (mu_new - mu) ** 2) / sigma**3,
        ),
        "You differentiated by the old parameters. The gradient is taken at the new ones, and by them.",
    ),
    "by log sigma": Mistake(
        lambda *q: (_kl_gradient(*q)[0], _kl_gradient(*q)[1] * q[3]),
        "Your second part is the derivative by log sigma. The parameter here is sigma.",
    ),
    "by the variance": Mistake(
        lambda *q: (_kl_gradient(*q)[0], _kl_gradient(*q)[1] / (2 * q[3])),
        "Your second part is the derivative by sigma squared. The parameter here is sigma.",
    ),
    "the new entropy left out": Mistake(
        lambda mu, sigma, mu_new, sigma_new: ((mu_new - mu) / sigma**2, sigma_new / sigma**2),
        "Your second part has the old log q alone. An old g also lacks the new one.",
    ),
    "the old log q left out": Mistake(
        lambda mu, sigma, mu_new, sigma_new: (0.0, -1 / sigma_new),
        "Yours is the mean of the new log q times the score. An old g also holds the old one.",
    ),
    "width not squared": Mistake(
        lambda mu, sigma, mu_new, sigma_new: ((mu_new - mu) / sigma, sigma_new / sigma - 1 / sigma_new),
        "A square is missing: log q has the distance over sigma, squared.",
    ),
    "new width": Mistake(
        lambda mu, sigma, mu_new, sigma_new: ((mu_new - mu) / sigma_new**2, sigma_new / sigma**2 - 1 / sigma_new),
        "Your second part is right. In the first it is the old log q whose slope counts, and that has the old width.",
    ),
}


def _cache(rng: np.random.Generator, draws: int, way: int) -> tuple[np.ndarray, float, float, float, float]:
    """Draws of an old q, and a new one: wider or narrower by a fifth or more, and a third of a width or more away."""
    mu, sigma = float(rng.normal()), float(rng.uniform(0.6, 1.4))
    mu_new = mu + way * sigma * float(rng.uniform(0.35, 0.7))
    return mu + sigma * rng.normal(size=draws), mu, sigma, mu_new, sigma * float(np.exp(-way * rng.uniform(0.2, 0.4)))


def _large(rng: np.random.Generator) -> tuple[np.ndarray, float, float, float, float]:
    """Draws where the new q is and the old one hardly: weights above 40, one of them above 200."""
    _, mu, sigma, _, _ = _cache(rng, 1, 1)
    mu_new, sigma_new = mu + 3.2 * sigma * float(rng.choice([-1, 1])), 0.75 * sigma
    return mu_new + sigma_new * np.linspace(-0.6, 0.6, 7), mu, sigma, mu_new, sigma_new


def pathwise_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 520])
    cases = []
    for draws, way in [(6, 1), (9, -1)]:
        theta, *q = _cache(rng, draws, way)
        cases.append((theta, rng.normal(1.0, 2.0, draws), *q))
    theta, *q = _large(rng)
    large = (theta, rng.uniform(0.5, 2.0, len(theta)), *q)
    nudge = (
        "Not that gradient. With theta = [2, 4], slopes = [3, 0], mu = 0, sigma = 2, mu_new = 5/2 and sigma_new = 1/2 the first "
        "weight is 4 and the gradient (6, -4)."
    )
    verdict = judge(
        answer,
        cases,
        _along_the_new_map,
        PATHWISE_MISTAKES,
        right="Right. The model was not asked again: of the old step only theta and the model's slopes were needed.",
        nudge=nudge,
        parts=("the part by mu", "the part by sigma"),
    )
    verdict = unclipped(verdict, answer, cases, _at_most, nudge)
    return beyond(verdict, answer, [large], _along_the_new_map, CLIPPED)


def score_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 521])
    cases = []
    for draws, way in [(6, 1), (9, -1)]:
        theta, *q = _cache(rng, draws, way)
        cases.append((theta, rng.normal(-4.0, 2.0, draws), *q))
    theta, *q = _large(rng)
    large = (theta, rng.uniform(-6.0, -3.0, len(theta)), *q)
    nudge = (
        "Not that gradient. With theta = [2, 4], log_joint = [0, -1], mu = 0, sigma = 2, mu_new = 3 and sigma_new = 1/2 the first "
        "weight is 0.893, the first g 2.226, and the gradient (5.833, 20.669)."
    )
    verdict = judge(
        answer,
        cases,
        _along_the_new_density,
        SCORE_MISTAKES,
        right="Right. Of the old step only theta and the log joint were needed; all that holds q was made anew.",
        nudge=nudge,
        parts=("the part by mu", "the part by sigma"),
    )
    verdict = unclipped(verdict, answer, cases, _score_at_most, nudge)
    return beyond(verdict, answer, [large], _along_the_new_density, CLIPPED)


def stale_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 522])
    cases = [tuple(_cache(rng, 1, way)[1:]) for way in (1, -1)]
    return judge(
        answer,
        cases,
        _stale_by_quadrature,
        STALE_MISTAKES,
        right="Right. It is the slope of KL(new || old): an old g drives q away from where it was, the more the farther it has gone.",
        nudge="Not that bias. With mu = 1, sigma = 2, mu_new = 3 and sigma_new = 5 it is (1/2, 21/20).",
        parts=("the part by mu", "the part by sigma"),
    )


TASKS = (
    Task(
        "is_gradients/cached-step/pathwise",
        "The cached step: with the model's slopes",
        2,
        12,
        pathwise_stub,
        (
            "Three things depend on q: how much a draw counts, the noise that would have made it, and the entropy. Is any the old q's?",
            "With fresh draws: the mean of s d theta / d mu', and the mean of s d theta / d sigma' plus the slope of log sigma'. What are "
            "these slopes of theta = mu' + sigma' eps', and what does each old draw need besides?",
            "Begin with `w = norm.pdf(theta, mu_new, sigma_new) / norm.pdf(theta, mu, sigma)`",
        ),
        PATHWISE_MISTAKES,
        pathwise_verdict,
    ),
    Task(
        "is_gradients/cached-step/score",
        "The cached step: with the log joint alone",
        2,
        10,
        score_stub,
        (
            "Write down the plain estimate with fresh draws from the new q. Which of its terms are known from the old draws?",
            "The mean of w g times the score. log q' = -log sigma' - (theta - mu')^2 / (2 sigma'^2) and a constant: what are its slopes by "
            "mu' and by sigma', while theta stays?",
            "Begin with `eps = (theta - mu_new) / sigma_new`",
        ),
        SCORE_MISTAKES,
        score_verdict,
    ),
    Task(
        "is_gradients/cached-step/stale",
        "The cached step: what an old g costs",
        2,
        8,
        stale_stub,
        (
            "By how much is the old g too large at a given theta? That excess, times the score, is averaged over the new q.",
            "E'[(log q' - log q) times the gradient of log q'] is the gradient of E'[log q' - log q], since E'[grad log q'] = 0.",
            "Begin with `precision = 1 / sigma**2`",
        ),
        STALE_MISTAKES,
        stale_verdict,
    ),
)
