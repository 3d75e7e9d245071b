"""Black-box inference in five parts. Roads: scores by finite differences, integrals of slopes, one linear system, areas under a distribution."""

from functools import partial

import numpy as np
from scipy.integrate import quad
from scipy.stats import lognorm, norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import slope as derivative


def by_density(log_joint, mu, log_sigma, eps):
    """Draw by draw, with q moved under it: the score by finite differences, times what g has above the mean of the other pairs."""
    log_q = lambda theta, m, w: norm.logpdf(theta, m, np.exp(w))
    theta = mu + np.exp(log_sigma) * np.array([eps, -eps])
    g = log_joint(theta) - log_q(theta, mu, log_sigma)
    rows = []
    for m in range(len(eps)):
        scores = np.array(
            [[derivative(partial(log_q, one, w=log_sigma), mu), derivative(partial(log_q, one, mu), log_sigma)] for one in theta[:, m]]
        )
        rows.append((g[:, m] - np.delete(g, m, axis=1).mean()) @ scores / 2)
    return np.array(rows)


def by_area(slope, mu, log_sigma, eps, step=1e-3):
    """The log joint between two places of a draw is the area under its slope."""
    place = lambda e, m, w: m + np.exp(w) * e
    rise = lambda e, m, w: quad(slope, place(e, mu - m, log_sigma - w), place(e, mu + m, log_sigma + w))[0] / (2 * step)
    return np.array([[rise(e, step, 0), rise(e, 0, step) + 1] for e in eps])


def by_parabolas(estimates, sigma, cost):
    """The mean loss of the two parabolas, over errors of the variances that averaging leaves."""
    loss = lambda mu, omega: mu**2 / (2 * sigma**2) + omega**2
    V = [np.cov(column) for column in estimates.T]
    return cost * (loss(np.sqrt(V[0]) * sigma**2, 0) + loss(0, np.sqrt(V[1]) / 2))


def linear(A, top, mu, log_sigma, eps):
    """A gradient that falls off in a line from the top, with noise."""
    return A @ (top - np.array([mu, log_sigma])) + np.array([eps.mean(), eps.max()])


def by_one_system(gradient, start, rates, noise):
    """All places at once, as the unknowns of one system of equations."""
    A, top = gradient.args
    T, M = len(rates), np.eye(2 * len(rates))
    right = np.concatenate([r * (A @ top + np.array([e.mean(), e.max()])) for r, e in zip(rates, noise, strict=True)])
    right[:2] += (np.eye(2) - rates[0] * A) @ start
    for t in range(1, T):
        M[2 * t : 2 * t + 2, 2 * t - 2 : 2 * t] = rates[t] * A - np.eye(2)
    return np.linalg.solve(M, right).reshape(T, 2)[T // 2 :].mean(axis=0)


def by_distribution(old, new, over, under):
    """The slope of the expected cost in h is (over + under) F(h) - under: an area between the two decisions."""
    law = lambda q: lognorm(np.exp(q[1]), scale=np.exp(q[0]))
    level = under / (over + under)
    return quad(lambda h: (over + under) * (law(new).cdf(h) - level), law(new).ppf(level), law(old).ppf(level), epsabs=1e-12)[0]


def joints(rng):
    for M in (4, 7):
        a, b, c = rng.uniform(0.5, 2, 3)
        yield (
            lambda theta, a=a, b=b, c=c: b * theta - a * np.exp(theta) - c * theta**2,
            rng.normal(0, 0.5),
            rng.uniform(-0.9, -0.4),
            rng.normal(size=M),
        )


def slopes(rng):
    for joint, *rest in joints(rng):
        a, b, c = joint.__defaults__
        yield lambda theta, a=a, b=b, c=c: b - a * np.exp(theta) - 2 * c * theta, *rest


def ascents(rng):
    for T, M in ((6, 4), (10, 3)):
        A = np.array([[1.5, 0.3], [-0.2, 1.0]]) * rng.uniform(0.6, 1.2, (2, 2))
        yield (
            partial(linear, A, rng.normal(size=2)),
            rng.normal(size=2),
            rng.uniform(0.3, 0.5, T) * np.linspace(1, 0.4, T),
            rng.normal(0, 0.3, (T, M)),
        )


def two_places(rng):
    for over, under in ((1.0, 9.0), (2.0, 3.0), (5.0, 1.0)):
        yield (
            np.array([rng.uniform(0.1, 0.4), rng.uniform(-0.5, -0.2)]),
            np.array([rng.uniform(0.7, 1.0), rng.uniform(-1.1, -0.7)]),
            over,
            under,
        )


SCORE = Record(
    cases=joints,
    reference=by_density,
    right="Right. Each pair is measured against the rest, and a constant in the log joint cancels exactly.",
    nudge="Not those terms. If log_joint(theta) is theta itself, mu and log_sigma are 0 and eps is [2, 0], they are [[4, 6], [0, 2]].",
    hints=(
        "Three things for each draw: its g, two derivatives of log q at a fixed theta, and a baseline. Which draws are independent of it?",
        "By mu the score is (theta - mu)/sigma^2; by log sigma it is (theta - mu)^2/sigma^2 - 1. The baseline: the mean g of the other M - 1 pairs.",
        "Begin with `sigma = np.exp(log_sigma)`",
    ),
    mistakes={
        "Your baseline holds the draw's partner. It was made from the same noise, so the baseline depends on the draw, and the gradient is biased.": (
            "(pairs.sum() - pairs) / (len(eps) - 1) -> (g.sum() - g) / (g.size - 1)"
        ),
        "Your baseline holds each draw's own g, so it is not independent of the draw: on average you are short by the factor (M - 1)/M.": (
            "(pairs.sum() - pairs) / (len(eps) - 1) -> pairs.mean()"
        ),
        "Your baseline is the draw's own pair, of all draws. Take the other pairs.": "(pairs.sum() - pairs) / (len(eps) - 1) -> pairs",
        "The other pairs are M - 1 in number: divide their sum by that.": "(len(eps) - 1) -> len(eps)",
        "There is no baseline in your terms.": "(g - rest)[..., None] -> g[..., None]",
        "You left the baseline without the score. What is taken off must have mean zero: b times the score has, b has not.": (
            "(g - rest)[..., None] * score -> g[..., None] * score - rest[:, None]"
        ),
        "Your g is the log joint alone. That gradient lets sigma collapse: where is log q?": "- norm.logpdf(theta, mu, sigma) -> ",
        "Your second column is by sigma. The parameter is its logarithm: the chain rule brings a factor sigma.": "both**2 - 1 -> (both**2 - 1) / sigma",
        "The first score has its sign turned: log q rises with mu where the draw lies above mu.": "both / sigma -> -both / sigma",
        "The score by mu is (theta - mu) / sigma^2, which is the noise over sigma.": "both / sigma -> both || both / sigma -> both / sigma**2",
        "You lost the -1 of the second score. It comes from the 1/sigma before the density, and without it the mean is not zero.": "both**2 - 1 -> both**2",
        "You added up the two terms of a pair. Their average is wanted.": "* score).mean(axis=0) -> * score).sum(axis=0)",
        "Your terms have only the first draw of each pair.": "* score).mean(axis=0) -> * score)[0]",
    },
)
PATH = Record(
    cases=slopes,
    reference=by_area,
    right="Right. No value of the log joint is needed, only its slope.",
    nudge="Not those terms. If slope(theta) is -theta, mu is 1, log_sigma is 0 and eps is [1, -2], they are [[-2, -1], [1, -1]].",
    hints=(
        "The draw moves with the parameters: how fast by mu, how fast by log sigma? The entropy moves, too.",
        "d theta / d mu = 1 and d theta / d log sigma = sigma eps; the entropy is log sigma plus a constant.",
        "Begin with `sigma = np.exp(log_sigma)`",
    ),
    mistakes={
        "The entropy is missing: without it sigma collapses.": "+ 1 -> ",
        "You have the entropy twice: by its closed form, and by log q at the draw.": "+ 1 -> + 2",
        "The entropy rises with log sigma by 1. By sigma it would be 1/sigma.": "+ 1 -> + 1 / sigma",
        "Your second column is by sigma. The parameter is its logarithm: the chain rule brings a factor sigma.": "d * sigma * eps + 1 -> d * eps + 1 / sigma",
        "By log sigma a draw moves by sigma eps, not by sigma: a draw in the middle does not move.": "d * sigma * eps -> d * sigma",
        "The entropy's sign is turned: the bound gains by a wider q.": "+ 1 -> - 1",
        "You left sigma out of the second column: theta moves by sigma eps for each unit of log sigma.": "d * sigma * eps -> d * eps",
        "That is the path derivative. It is right on average, too, and noisy in another way: here the entropy's slope is exact.": (
            "d = slope(mu + sigma * eps) -> d = slope(mu + sigma * eps) + eps / sigma ;; + 1 -> "
        ),
        "You took the slope at the noise. It is wanted at the draw.": "slope(mu + sigma * eps) -> slope(eps)",
    },
)
PRICE = Record(
    cases=lambda rng: [(rng.normal([5, -1], [2, 0.7], (runs, 2)), rng.uniform(0.3, 0.8), rng.uniform(3, 30)) for runs in (5, 9)],
    reference=by_parabolas,
    right="Right. Both columns are in nats now, and both gradients in the same coin.",
    nudge="Not that price. With estimates = [[0, 0], [2, 4]], sigma = 2 and cost = 3 it is 18.",
    hints=(
        "A parabola of curvature c costs c/2 times the squared error. The mean of that square is a variance that is given to you.",
        "The mean loss of one parameter is c/2 * V/(n c^2) = V/(2 c n). What is c by mu, and what by omega? (A parabola -x^2 has the curvature 2.)",
        "Begin with `V = estimates.var(axis=0, ddof=1)`",
    ),
    mistakes={
        "The bound falls with (omega - omega_*)^2, without a half: its curvature there is 2.": "[1 / sigma**2, 2] -> [1 / sigma**2, 1]",
        "You multiplied by the curvature. Where the bound is bent more, the same noise moves the average less.": "V / (2 * curvature) -> V * curvature / 2",
        "The curvature in mu is 1/sigma^2.": "1 / sigma**2 -> sigma**2 || 1 / sigma**2 -> 1 / sigma || 1 / sigma**2 -> 1",
        "The variances are to be estimated with the divisor runs - 1, as by `ddof=1`.": "ddof=1 -> ddof=0",
        "You took standard deviations. The nats go with the square of the error.": "estimates.var -> estimates.std",
        "You took mean squares. A gradient that is large is not noisy: take off the mean.": "estimates.var(axis=0, ddof=1) -> (estimates**2).mean(axis=0)",
        "A parabola of curvature c costs c/2 times the squared error: you lack the half.": "2 * curvature -> curvature",
        "A gradient that costs more is not cheaper: multiply by `cost`.": "return cost * -> return 1 / cost *",
    },
)
CLIMB = Record(
    cases=ascents,
    reference=by_one_system,
    right="Right. The first half brings you there, the second averages the noise out.",
    nudge="Not that place. If the gradient is always (1, 2), the start (0, 0) and the four rates are 1, it is (3.5, 7).",
    hints=(
        "One step for each rate, uphill; keep every place that you come to.",
        "place = place + rate * gradient(mu, omega, eps), with the gradient at the present place and that step's noise.",
        "Begin with `place, places = np.array(start, dtype=float), []`",
    ),
    mistakes={
        "You went downhill: the bound is to rise.": "place + rate -> place - rate",
        "That is the last place. It has the noise of its last few steps.": "np.mean(places[len(rates) // 2 :], axis=0) -> places[-1]",
        "You averaged over all steps. The first of them still carry where you began.": "len(rates) // 2 : -> :",
        "You averaged the first half.": "[len(rates) // 2 :] -> [: len(rates) // 2]",
        "You averaged one place too many: that of the last step of the first half is among them.": "dtype=float), [] -> dtype=float), [start]",
        "Each of your gradients is taken at the start. It is wanted where you are.": "gradient(*place, eps) -> gradient(*start, eps)",
        "You kept the place before each step, not the one after it.": "[len(rates) // 2 :] -> [len(rates) // 2 - 1 : -1]",
        "All your steps have the first rate. Rates that fall are what lets the noise die down.": "rate * gradient -> rates[0] * gradient",
    },
)
WORTH = Record(
    cases=two_places,
    reference=by_distribution,
    rtol=1e-3,
    right="Right. It is never negative: in its own eyes the new decision is the best.",
    nudge="Not that. With old = [0, 0], new = [1, 0], over = 1 and under = 1 it is 0.5355.",
    hints=(
        "Which quantile of the need is best? You need it under both, and the expected cost of both under the new one alone.",
        "h = exp(mu + sigma z), z the normal quantile of under/(over + under). Expected excess: h Phi(z) - E[x; x < h]; what is missing: mean - h + that.",
        "Begin with a function for the best hours under any pair q; `norm.ppf` has the quantiles.",
    ),
    mistakes={
        "Your level is turned round: if missing hours are dear, hire many. It is under / (over + under).": "under / (over + under) -> over / (over + under)",
        "You judged in the eyes of the old q. It has been replaced: the new one is what you believe now.": "cost(best(old), new) - cost(best(new), new) -> cost(best(new), old) - cost(best(old), old)",
        "That is how far the expected cost has moved, each in the eyes of its own q. Judge both decisions by the new one.": "cost(best(old), new) - -> cost(best(old), old) -",
        "The mean of exp(theta) is exp(mu + sigma^2/2), not exp(mu).": "np.exp(mu + sigma**2 / 2) -> np.exp(mu)",
        "In the mean of what lies below h, the normal distribution function is at z - sigma.": "mean * norm.cdf(z - sigma) -> mean * norm.cdf(z)",
        "The second number of the pair is the log of sigma.": "q[0], np.exp(q[1]) -> q[0], q[1] || q[0] + np.exp(q[1]) -> q[0] + q[1]",
        "The two prices have changed places in the cost.": "over * too_much + under -> under * too_much + over",
        "What is missing is counted without its excess: E[x - h] is missing less too much.": "mean - h + too_much -> mean - h",
    },
)
TASKS = {"score": SCORE, "path": PATH, "price": PRICE, "climb": CLIMB, "worth": WORTH}
