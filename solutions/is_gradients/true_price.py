"""Project: a step's true price. Roads: pairs of draws; differences along the draws; a quotient's curvature; a plain diary; loops."""

import math

import numpy as np

from course_pkg.checks.record import Record
from solutions.is_gradients._tools import log_ratio


def by_pairs(then, now):
    ratio = now - then
    w = np.array([1 / sum(math.exp(min(a - b, 700)) for a in ratio) for b in ratio])
    return w, 1 / (len(w) * sum(one**2 for one in w))


def by_moving(theta, slopes, w, mu, omega, step=1e-5):  # noqa: ARG001
    """A log joint that is straight at each draw, and draws that move with mu and omega."""

    def bound(d_mu, d_omega):
        moved = mu + d_mu + (theta - mu) * np.exp(d_omega)
        return sum(a * b * c for a, b, c in zip(w, slopes, moved - theta, strict=True)) + d_omega

    return (bound(step, 0) - bound(-step, 0)) / (2 * step), (bound(0, step) - bound(0, -step)) / (2 * step)


def by_curvature(f, w):
    """Half the curvature of the quotient as the draws are counted a little more or less, times the variance of such counts."""
    M, step = len(f), 1e-4
    mean = lambda count: (count * w) @ f / (count @ w)
    twice = [mean(1 + step * unit) + mean(1 - step * unit) - 2 * mean(np.ones(M)) for unit in np.eye(M)]
    return sum(twice) / step**2 / 2  # counts to all draws alike leave the mean as it is


def diary(slope, start, rates, noise, least, weigh, gradient):  # noqa: ARG001
    mu, omega = start
    cache, places, asked = None, [], []
    for t in range(len(rates)):
        if cache is not None:
            theta, _, born = cache
            r = log_ratio(theta, born[0], np.exp(born[1]), mu, np.exp(omega))
            v = np.exp(r - r.max())
        if cache is None or v.sum() ** 2 / (v @ v) < least * len(v):
            theta = np.array([mu + np.exp(omega) * e for e in noise[t]])
            cache, v = (theta, np.array([float(slope(np.array([one]))[0]) for one in theta]), (mu, omega)), np.ones(len(theta))
            asked.append(len(theta) + (asked[-1] if asked else 0))
        else:
            asked.append(asked[-1])
        by = by_moving(*cache[:2], v / v.sum(), mu, omega)
        mu, omega = mu + rates[t] * by[0], omega + rates[t] * by[1]
        places.append([mu, omega])
    return places, asked


def by_loops(gaps, asked, budget):
    at = [
        [max((n, t, gap) for t, (gap, n) in enumerate(zip(*run, strict=True)) if n <= budget)[2] for run in zip(*rule, strict=True)]
        for rule in zip(gaps, asked, strict=True)
    ]
    k = min(range(len(at)), key=lambda rule: sum(at[rule]))
    d = [a - b for a, b in zip(at[0], at[k], strict=True)]
    mean = sum(d) / len(d)
    return k if mean > 0 and mean**2 > 4 * sum((one - mean) ** 2 for one in d) / (len(d) * (len(d) - 1)) else 0


def well(theta):
    """A slope that an array of any length can be handed to."""
    return 3 - 4 * np.tanh(theta) - theta


def _weigh(then, now):
    v = np.exp(now - then - (now - then).max())
    return v / v.sum(), v.sum() ** 2 / (len(v) * (v @ v))


def _gradient(theta, slopes, w, mu, omega):  # noqa: ARG001
    return w @ slopes, w @ (slopes * (theta - mu)) + 1


def caches(rng):
    for M in (5, 8):
        w = rng.dirichlet(np.ones(M))
        yield rng.normal(1.0, 1, M), rng.normal(0.5, 2, M), w, rng.normal(0.5, 0.5), rng.uniform(-1, -0.3)


def ascents(rng):
    for T, M, least in ((14, 4, 0.8), (16, 6, 0.75)):
        start = tuple(rng.uniform([-0.6, -0.9], [-0.2, -0.5]).tolist())
        yield well, start, rng.uniform(0.03, 0.07, T), rng.normal(size=(T, M)), least, _weigh, _gradient


def contests(rng):
    for _ in range(16):
        asked = np.cumsum(10 * (rng.random((3, 6, 9)) < 0.55), axis=2)
        asked = asked - asked[:, :, :1] + 10
        asked[0] = 10 * np.arange(1, 10)
        level = np.array([1.0, *rng.uniform(0.35, 1.2, 2)])[:, None, None]
        gaps = (
            level * np.exp(-rng.uniform(0.05, 0.4, (3, 1, 1)) * np.arange(9))
            + rng.normal(0, 0.25, (1, 6, 1))
            + rng.normal(0, 0.15, (3, 6, 9))
        )
        yield gaps, asked, 35


WEIGH = Record(
    cases=lambda rng: [tuple(rng.normal(-2, [[0.4], [0.6]], (2, M))) for M in (5, 9)],
    reference=by_pairs,
    parts=("the weights", "the share"),
    right="Right. What both densities share, a constant above all, has dropped out.",
    nudge="Not those two. With then = [-1, -1] and now = [-1, -2.0986] they are [0.75, 0.25] and 0.8.",
    hints=(
        "A ratio of two densities for each draw, divided by the sum of them. In logarithms nothing leaves the range.",
        "log w_m = now_m - then_m - log sum_j exp(now_j - then_j); share = 1 / (M sum w^2).",
        "Begin with `w = np.exp(` of the log weights, the `logsumexp` taken off.",
    ),
    mistakes={
        "Upside down: a draw that the present q likes better than the old one did must count more.": "np.exp(now - then - logsumexp(now - then)) -> np.exp(then - now - logsumexp(then - now))",
        "Your weights do not add up to one.": "np.exp(now - then - logsumexp(now - then)) -> np.exp(now - then)",
        "You divided by M, which makes a plain mean. Self-normalised weights are divided by their own sum.": "np.exp(now - then - logsumexp(now - then)) -> np.exp(now - then) / len(now)",
        "The present density alone is no weight: the draws are where the old q put them.": "np.exp(now - then - logsumexp(now - then)) -> np.exp(now - logsumexp(now))",
        "That is the number of effective draws. Their share of the M was asked for.": "1 / (len(w) * (w**2).sum()) -> 1 / (w**2).sum()",
        "The squares of the weights belong into the share; the weights themselves add up to one.": "(w**2).sum() -> w.sum()",
    },
    later={
        "Right for moderate densities. Where both are very low, their exponentials are 0: take the difference of the logarithms first.": (
            lambda rng: [tuple(rng.normal(-1_900, [[1], [2]], (2, 6)))],
            "\n    w = np.exp(now) / np.exp(then)\n    w = w / w.sum()\n    return w, 1 / (len(w) * (w**2).sum())",
        ),
    },
)
GRADIENT = Record(
    cases=caches,
    reference=by_moving,
    parts=("the slope by mu", "the slope by omega"),
    right="Right. All that is old in it are the draws and what the model said of them.",
    nudge="Not those two. With theta = [1, 3], slopes = [2, -1], w = [0.5, 0.5], mu = 1 and omega = 0 they are 0.5 and 0.",
    hints=(
        "The weights add up to one: a weighted sum is a mean. How does a draw move with mu, how with omega?",
        "d theta / d mu = 1, d theta / d omega = theta - mu; the entropy adds 1 to the second.",
        "Two weighted sums; the noise that belongs to an old draw at the present q is (theta - mu) / exp(omega).",
    ),
    mistakes={
        "The weights add up to one already: sum, and do not average again.": "(w * slopes).sum(), (w * slopes * (theta - mu)).sum() -> (w * slopes).mean(), (w * slopes * (theta - mu)).mean()",
        "The entropy is missing: without it sigma collapses.": " + 1 -> ",
        "You left the weights out.": "w * slopes -> slopes / len(w)",
        "Your second slope is by sigma. By omega, its logarithm, it is sigma times as large.": "(w * slopes * (theta - mu)).sum() + 1 -> ((w * slopes * (theta - mu)).sum() + 1) / np.exp(omega)",
        "By omega a draw moves by theta - mu = sigma eps, and yours by eps.": "(theta - mu)).sum() -> (theta - mu)).sum() / np.exp(omega)",
        "The distance from the present mu belongs there, not the draw itself.": "(theta - mu) -> theta",
        "The slope of the entropy does not depend on the weights: it is 1, and in your answer it is 1 / sigma.": "+ 1 -> + np.exp(-omega)",
    },
)
BIAS = Record(
    cases=lambda rng: [(rng.normal(2, 1.5, M), rng.dirichlet(np.full(M, 1.5))) for M in (5, 8)],
    reference=by_curvature,
    rtol=1e-3,
    right="Right. Draws with large weights pull the mean towards themselves, and the estimate takes that off.",
    nudge="Not that bias. With f = [0, 4] and w = [0.75, 0.25] it is 0.5625 * 1 - 0.0625 * 3 = 0.375.",
    hints=(
        "With M independent draws Var(B) = Var(v)/M and Cov(A, B) = Cov(v f, v)/M. Write the difference as one mean.",
        "(1/M) (fbar E[v^2] - E[v^2 f]) = -(1/M) E[v^2 (f - fbar)]; with v = M w and a mean over the draws, M drops out.",
        "Begin with f less its weighted mean.",
    ),
    mistakes={
        "The sign is that of the correction. The bias itself is fbar Var(B) - Cov(A, B).": "return -(w**2) -> return (w**2)",
        "The weights stand in it squared; once, the sum is 0 whatever the cache.": "return -(w**2) @ centred -> return -w @ centred",
        "You took the plain mean of f for its mean under the present q.": "f - w @ f -> f - f.mean()",
        "You forgot to take off the mean of f: a constant has no bias.": "f - w @ f -> f",
        "M has dropped out with the weights that add up to one. You divided by it once more.": "return -(w**2) @ centred -> return -(w**2) @ centred / len(f)",
        "You multiplied by M: v is M w, twice, but there are a mean and 1/M besides.": "return -(w**2) @ centred -> return -(w**2) @ centred * len(f)",
        "That is a variance, of the weighted mean. A bias has f once.": "@ centred -> @ centred**2",
    },
)
CLIMB = Record(
    cases=ascents,
    reference=diary,
    rtol=1e-6,
    parts=("the path", "the count"),
    right="Right. The cache remembers three things: the draws, what the model said, and the q that they came from.",
    nudge="Not that climb. If slope is always 1, start is (0, 0), the two rates are 1, noise is [[1, -1], [1, -1]] and least is 0.99, the path is [[1, 1], [2, 2]] and the counts are 2 and 4.",
    hints=(
        "What must the cache hold? When is the share to be asked: before a step, at the present q, against the q of the draws.",
        "fresh: theta = mu + e^omega eps, w = 1/M, log density then. Otherwise w from weigh(then, log density at the present q). A step in both.",
        "Begin with `mu, omega = start`",
    ),
    mistakes={
        "You draw anew at every step.": "share < least -> True",
        "You never draw anew, however bad the weights are.": "share < least -> False",
        "You took the weights against the last step's q. The draws are from the q at which they were made.": (
            "mu, omega = mu + rate * by_mu -> then = norm.logpdf(theta, mu, np.exp(omega))\n    mu, omega = mu + rate * by_mu"
        ),
        "You asked for the share and left the weights as they were when the draws were fresh.": "w, share = weigh -> _, share = weigh",
        "Sigma is missing: the draws are mu + e^omega eps.": "mu + np.exp(omega) * eps -> mu + eps",
        "You counted how often you asked. One draw is one slope, so M each time.": "len(eps) * fresh -> fresh",
        "Your counts are those of each step. How many so far?": "np.cumsum(asked) -> np.array(asked)",
    },
)
CHOOSE = Record(
    cases=contests,
    reference=by_loops,
    apart=True,
    right="Right. Who proposes the trick has to show it, at equal rows and run by run.",
    nudge="Not that choice. With gaps = [[[9, 5], [8, 7]], [[7, 3], [2.5, 6.9]]], asked = [[[1, 2], [1, 2]], [[1, 1], [1, 2]]] and budget = 1 it is 1; with budget = 2 it is 0.",
    hints=(
        "For each rule and run first one number: the gap at the last step that the budget allows.",
        "k = the least mean; d_r = gap of rule 0 less that of k; choose k if mean d > 2 sd(d) / sqrt(R).",
        "Begin with how many steps of each run lie within the budget.",
    ),
    mistakes={
        "You judged every run at its end, whatever it had read by then.": "last = (asked <= budget).sum(axis=2) - 1 -> last = 0 * asked.sum(axis=2) - 1",
        "You compared at equal steps, those of rule 0. At equal rows a rule that reuses has taken more.": "last = (asked <= budget).sum(axis=2) - 1 -> last = 0 * asked.sum(axis=2) + (asked[0, 0] <= budget).sum() - 1",
        "Least on average is not enough: it has to beat rule 0 by two standard errors.": "k if d.mean() > 2 * d.std(ddof=1) / np.sqrt(len(d)) else 0 -> k",
        "One standard error is not two.": "> 2 * d.std -> > d.std",
        "All rules had the same noise: take the differences run by run, and their error.": "d.std(ddof=1) -> np.sqrt(at[0].var(ddof=1) + at[k].var(ddof=1))",
        "That is how far single runs differ. The mean of R is surer.": " / np.sqrt(len(d)) -> ",
    },
)
TASKS = {"weigh": WEIGH, "gradient": GRADIENT, "bias": BIAS, "climb": CLIMB, "choose": CHOOSE}
