"""One approximation, three orders. Roads: geometric means; evidence less divergence; reweighted tables; a root of a distribution; sorted demands."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, rel_entr
from scipy.stats import norm

from course_pkg.checks.record import Record


def by_geometric_means(L, q2, rounds):
    """The best factor is in proportion to the weighted geometric mean of the joint density along the other."""
    joint = np.exp(L - L.max())
    for _ in range(rounds):
        q1 = np.prod(joint ** q2[None, :], axis=1)
        q1 = q1 / q1.sum()
        q2 = np.prod(joint ** q1[:, None], axis=0)
        q2 = q2 / q2.sum()
    return q1, q2


def by_divergence(L, q1, q2):
    """The log evidence less the divergence of the product from the posterior."""
    evidence = logsumexp(L)
    return evidence - rel_entr(np.outer(q1, q2), np.exp(L - evidence)).sum()


def marginals(table):
    """A stand-in for a fit: the exact one."""
    p = np.exp(table - logsumexp(table))
    return p.sum(axis=1), p.sum(axis=0)


def by_reweighting(_, L, a, b, step):
    """The fit of these cases is exact, so its means are averages over the table with the tilt for a weight."""
    A, B = np.broadcast_to(a[:, None], L.shape), np.broadcast_to(b, L.shape)
    mean = lambda values, tilt: np.average(values, weights=np.exp(L - L.max() + tilt))
    return [[(mean(values, step * tilt) - mean(values, -step * tilt)) / (2 * step) for values in (A, B)] for tilt in (A, B)]


def by_root(means, covariance, weights, over, under):
    """Where the distribution function of the demand, made of two independent normal parts, has its level."""
    parts = np.linalg.cholesky(covariance).T @ weights
    law = norm(sum(w * m for w, m in zip(weights, means, strict=True)), np.hypot(*parts))
    return brentq(lambda h: law.cdf(h) - under / (over + under), -100, 100, xtol=1e-12)


def by_sorting(L, demand, h, over, under):
    """The best order is a quantile; costs by what lies below."""
    order = np.argsort(demand, axis=None, kind="stable")
    values, p = demand.ravel()[order], np.exp(L - L.max()).ravel()[order]
    p = p / p.sum()
    best = values[np.argmax(np.cumsum(p) >= under / (over + under) - 1e-12)]
    cost = lambda h: under * (p @ values - h) + (over + under) * p @ np.maximum(h - values, 0)
    return cost(h) - cost(best)


def tables(level):
    def draw(rng):
        for shape, rounds in (((3, 4), 1), ((5, 3), 3)):
            yield level + rng.normal(-2, 1.2, shape), rng.dirichlet(np.ones(shape[1])), rounds

    return draw


def factors(zero):
    def draw(rng):
        for shape in ((3, 4), (5, 3)):
            q1, q2 = rng.dirichlet(np.ones(shape[0])), rng.dirichlet(np.ones(shape[1]))
            q1[:zero] = 0
            yield rng.normal(-3, 1.5, shape), q1 / q1.sum(), q2

    return draw


def leans(rng):
    for shape in ((4, 5), (6, 3)):
        a, b = np.sort(rng.uniform(0, 3, shape[0])), np.sort(rng.uniform(-1, 2, shape[1]))
        yield marginals, rng.normal(-2, 0.5, shape) + 0.6 * a[:, None] * b, a, b, rng.uniform(0.3, 0.4)


def pairs(rng):
    for over, under, sign in ((1.0, 9.0, -1), (2.0, 3.0, 1), (5.0, 1.0, -1)):
        root = rng.normal(size=(2, 2)) + 2 * np.eye(2)
        yield rng.uniform(2, 6, 2), root @ root.T, np.array([rng.uniform(1.2, 2), sign * rng.uniform(0.4, 0.8)]), over, under


def demands(rng):
    for over, under in ((1.0, 9.0), (3.0, 2.0)):
        demand = np.cumsum(rng.uniform(0.5, 1.5, 6))[:, None] + np.cumsum(rng.uniform(0.5, 1.5, 7))
        yield rng.normal(-2, 1, (6, 7)), demand, rng.uniform(3.5, 4.5), over, under


CAVI = Record(
    cases=tables(0.0),
    reference=by_geometric_means,
    parts=("q1", "q2"),
    right="Right. Each factor is the softmax of a mean of L under the other, and no formula of the model was needed.",
    nudge="Not those factors. With L = [[0, 0], [0, 2]], q2 = [0.5, 0.5] and rounds = 1 they are [0.2689, 0.7311] and [0.1881, 0.8119].",
    hints=(
        "The best factor is in proportion to exp of the mean of the log joint under the other factor.",
        "log q1(i) = sum over j of q2(j) L(i, j), plus a constant; log q2(j) the same with q1, the new one.",
        "Begin with `for _ in range(rounds):`; SciPy's `softmax` takes exponentials and divides by their sum.",
    ),
    mistakes={
        "You averaged the joint density. It is its logarithm that is averaged, and then comes exp.": (
            "softmax(L @ q2) -> softmax(np.log(np.exp(L) @ q2)) ;; softmax(q1 @ L) -> softmax(np.log(q1 @ np.exp(L)))"
        ),
        "Both of your factors are found from the old ones. The second is to be the best for the new first one.": (
            "\nq1 = np.full(len(L), 1 / len(L))\nfor _ in range(rounds):\n    q1, q2 = softmax(L @ q2), softmax(q1 @ L)\nreturn q1, q2"
        ),
        "Those are sums in place of means: weigh the columns by q2, and the rows by q1.": "L @ q2 -> L.sum(axis=1) ;; q1 @ L -> L.sum(axis=0)",
        "Those are the exact marginals. Mean field is asked for.": "softmax(L @ q2) -> softmax(L).sum(axis=1) ;; softmax(q1 @ L) -> softmax(L).sum(axis=0)",
        "The factors have changed places: q1 first.": "return q1, q2 -> return q2, q1",
        "Your factors do not add up to 1.": "softmax -> np.exp",
        "That is one round too many.": "range(rounds) -> range(rounds + 1)",
        "You took logs of the factor at hand as well: the best q1 knows nothing of the old one.": "softmax(q1 @ L) -> softmax(q1 @ L + np.log(q2))",
    },
    later={
        "Right, until the constant in L is too large for exp. Take the largest number off first, as softmax does.": (
            tables(-2000.0),
            "softmax(L @ q2) -> np.exp(L @ q2) / np.exp(L @ q2).sum()",
        ),
    },
)
ELBO = Record(
    cases=factors(0),
    reference=by_divergence,
    right="Right. It falls short of the log evidence by the divergence of q from the posterior.",
    nudge="Not that bound. With L = [[0, 0], [0, 2]], q1 = [0.5, 0.5] and q2 = [0.5, 0.5] it is 1.8863.",
    hints=(
        "Two things: the mean of L under q, and the entropy of q. What is the entropy of a product?",
        "sum q1(i) q2(j) L(i, j) - sum q1 log q1 - sum q2 log q2.",
        "SciPy's `entr` gives -x log x, with 0 at 0. Begin with the entropies.",
    ),
    mistakes={
        "The entropy's sign is turned: the bound gains by a wider q.": "+ entropy -> - entropy",
        "The entropy is missing.": "+ entropy -> ",
        "The entropies of both factors count.": "entr(q1).sum() + entr(q2).sum() -> entr(q1).sum() || entr(q1).sum() + entr(q2).sum() -> entr(q2).sum()",
        "That is the log of the mean of the joint density. The bound has the mean of the log.": "q1 @ L @ q2 -> np.log(q1 @ np.exp(L) @ q2)",
        "That is minus the divergence: you normalised L. The bound adds the log evidence to it.": "q1 @ L @ q2 -> q1 @ (L - logsumexp(L)) @ q2",
        "You averaged L without weights.": "q1 @ L @ q2 -> L.mean()",
        "That is the divergence from the posterior, not the bound.": "return q1 @ L @ q2 + entropy -> return logsumexp(L) - q1 @ L @ q2 - entropy",
    },
    later={
        "Right where all entries are above 0. Where a factor has a zero, 0 log 0 counts as 0.": (
            factors(1),
            "entr(q1).sum() -> -(q1 * np.log(q1)).sum()",
        ),
    },
)
COVARIANCE = Record(
    cases=leans,
    reference=by_reweighting,
    right="Right. Only means were asked for, and they knew.",
    nudge="Not those rates. If `fit` gives the exact marginals, L is 0 everywhere, a and b are [0, 1] and the step is 1, it is [[0.2311, 0], [0, 0.2311]].",
    hints=(
        "Four fits: the table tilted by a, to either side, and by b, to either side. From each you need two means.",
        "A tilt multiplies the density by exp(t a_i), so it adds t a_i to row i of L; b_j goes to column j. Rate: difference over 2 step.",
        "Begin with a function of a table that fits it and returns both means.",
    ),
    mistakes={
        "Your difference goes to one side. At both sides the error is smaller, and that is what was asked for.": "- means(L - step * tilt)) / (2 * step) -> - means(L)) / step",
        "From -step to step the distance is 2 step.": "/ (2 * step) -> / step",
        "You forgot to divide by the distance.": "/ (2 * step) -> ",
        "You multiplied the log joint. A factor e^(t a) of the density is a summand t a of its logarithm.": "L + step * tilt -> L * (1 + step * tilt) ;; L - step * tilt -> L * (1 - step * tilt)",
        "You tilted the log joint by e^(t a). The logarithm of that factor is t a.": "L + step * tilt -> L + np.exp(step * tilt) ;; L - step * tilt -> L + np.exp(-step * tilt)",
        "You left out what a tilt does to the other unknown: that is the covariance.": "return np.array -> return np.eye(2) * np.array",
        "Those are correlations.": (
            "return np.array([(means(L + step * tilt) - means(L - step * tilt)) / (2 * step) for tilt in tilts]) -> "
            "C = np.array([(means(L + step * tilt) - means(L - step * tilt)) / (2 * step) for tilt in tilts]); return C / np.sqrt(np.outer(np.diag(C), np.diag(C)))"
        ),
        "Your first row belongs to the tilt by b.": "[a[:, None], b[None, :]] -> [b[None, :], a[:, None]]",
        "In the first row stands what the tilt by a does to both means. Yours is in the first column.": "for tilt in tilts]) -> for tilt in tilts]).T",
    },
)
ORDER = Record(
    cases=pairs,
    reference=by_root,
    right="Right. The covariance enters with the signs of the weights, and that is all the difference between a sum and a difference.",
    nudge="Not that order. With means = [1, 2], covariance = [[2, -1], [-1, 3]], weights = [1, 1], over = 1 and under = 3 it is 4.1682.",
    hints=(
        "A weighted sum of a normal pair is normal. Which quantile of it is the best order?",
        "Mean w.m, variance w.Cw; level under / (over + under).",
        "Begin with the standard deviation: `@` takes the products.",
    ),
    mistakes={
        "Your level is turned round: if what is missing is dear, order more. It is under / (over + under).": "under / (over + under) -> over / (over + under)",
        "You left the covariance out. The two are not independent.": "weights @ covariance @ weights -> weights**2 @ np.diag(covariance)",
        "That is a variance where a standard deviation belongs.": "np.sqrt(weights @ covariance @ weights) -> weights @ covariance @ weights",
        "Standard deviations do not add up. Variances do, and twice the covariance with them.": "np.sqrt(weights @ covariance @ weights) -> abs(weights) @ np.sqrt(np.diag(covariance))",
        "The weights are missing in the mean.": "weights @ means -> means.sum()",
        "The weights are missing in the spread.": "weights @ covariance @ weights -> covariance.sum()",
        "The covariance counts twice: for (1, 2) and for (2, 1).": "weights @ covariance @ weights -> weights @ np.triu(covariance) @ weights",
        "A weight that is negative turns the covariance's sign: you took its size.": "weights @ covariance @ weights -> abs(weights) @ covariance @ abs(weights)",
        "That is the mean demand. A missing one and a spare one do not cost the same.": "+ sd * norm.ppf(under / (over + under)) -> + 0 * sd",
    },
)
REGRET = Record(
    cases=demands,
    reference=by_sorting,
    apart=True,
    right="Right. Sums over a table are the truth, and every approximation can be asked what it cost.",
    nudge="Not that regret. With L = [[0, 0], [0, 0]], demand = [[0, 1], [2, 3]], h = 1, over = 1 and under = 3 it is 1.",
    hints=(
        "Write the expected cost of any order as a sum over the table; then compare yours with the best one.",
        "p = exp(L) over its sum. The lowest point of a function of straight pieces is at a kink, and the kinks are the demands.",
        "Begin with `p = np.exp(L - logsumexp(L))`",
    ),
    mistakes={
        "The joint density is not the posterior: divide by its sum.": "np.exp(L - logsumexp(L)) -> np.exp(L)",
        "That is the expected cost. Take off the least that an order can have.": "- min(cost(d) for d in np.unique(demand)) -> ",
        "The prices have changed places.": "over * (h - demand), under * (demand - h) -> under * (h - demand), over * (demand - h)",
        "You compared with the mean demand. The best order is another one if the prices differ.": "min(cost(d) for d in np.unique(demand)) -> cost((p * demand).sum())",
        "You compared with the most probable demand.": "min(cost(d) for d in np.unique(demand)) -> cost(demand.flat[p.argmax()])",
        "That is the distance from the worst order.": "min(cost -> max(cost",
        "You squared what is missing or left over. The costs are proportional.": "(h - demand), under * (demand - h) -> (h - demand)**2, under * (demand - h)**2",
        "The costs are averaged over the table with equal weights: weigh by the posterior.": "p = np.exp(L - logsumexp(L)) -> p = np.full(L.shape, 1 / L.size)",
    },
)
TASKS = {"cavi": CAVI, "elbo": ELBO, "covariance": COVARIANCE, "order": ORDER, "regret": REGRET}
