"""The project. Roads: costs beside those of hindsight; densities of a box, house by house; differences one by one; results one by one."""

import math
import statistics

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record


def by_costs(level, price, leaves, fan, test):
    def one(a):
        costs = price * a, fan + price * min(a, leaves)
        return [costs[0] - min(costs), test, costs[1] - min(costs)]

    return np.moveaxis(np.array([one(a) for a in np.ravel(level)]).reshape(*np.shape(level), 3), -1, 0)


def house_by_house(y, z, sd, cost):
    found = []
    for n, read in enumerate(z):
        w = norm.pdf(read, y[:, n], sd)
        found.append(cost[:, :, n] @ w / w.sum())
    return np.array([int(np.argmin(risk)) for risk in found]), np.array([min(risk) for risk in found])


def one_by_one(cost, action, ideal):
    d = [float(cost[a][n] - cost[b][n]) for n, (a, b) in enumerate(zip(action, ideal, strict=True))]
    return 1000 * statistics.mean(d), 1000 * statistics.stdev(d) / math.sqrt(len(d))


def result_by_result(y, w, cost, sd, t):
    now = min(float(np.dot(row, w)) for row in cost)
    later = []
    for read in t:
        _, least = house_by_house(y[:, None], [read], sd, (cost * w)[:, :, None])
        likely = norm.pdf(read, y, sd)
        later.append(least[0] * likely.sum() / (likely @ w))  # the weights of the first box, too
    return now - statistics.mean(later)


def levels(rng):
    for shape, prices in (((7,), (1000.0, 2.0, 2000.0, 150.0)), ((5, 2), (700.0, 1.5, 1400.0, 220.0)), ((6,), (1600.0, 2.5, 3100.0, 90.0))):
        # some below what a fan leaves, some too low for it to pay, some for which it pays
        even = prices[1] + prices[2] / prices[0]
        spread = np.concatenate(
            [rng.uniform(0.2, prices[1], 2), rng.uniform(prices[1], even, 2), rng.uniform(even, 3 * even, math.prod(shape) - 4)]
        )
        yield rng.permutation(spread).reshape(shape), *prices


def drawn(rng):
    for S, N, sd in ((60, 5, 0.5), (80, 4, 0.35), (50, 6, 0.8)):
        y = rng.normal(1.2, 0.7, (S, N))
        z = rng.permutation(np.linspace(0.2, 2.4, N)) + 0.1 * rng.normal(size=N)
        yield y, z, sd, by_costs(np.exp(y), 1000.0, 2.0, 2000.0, 350.0)


def houses(rng):
    for N in (12, 20, 15):
        cost = by_costs(rng.lognormal(1.2, 0.7, N), 1000.0, 2.0, 2000.0, 150.0)
        ideal, changed = rng.integers(0, 3, N), rng.permutation(N) < N // 2
        yield cost, np.where(changed, (ideal + rng.integers(1, 3, N)) % 3, ideal), ideal


def tested(rng):
    for S, T, sd in ((60, 30, 0.5), (80, 25, 0.3), (50, 40, 0.4)):
        y = rng.normal(1.3, 0.7, S)
        w = norm.pdf(1.5, y, 0.6) / norm.pdf(1.5, y, 0.6).sum()
        yield y, w, by_costs(np.exp(y), 1000.0, 2.0, 2000.0, 500.0), sd, rng.choice(y, T, p=w) + sd * rng.normal(size=T)


REGRETS = Record(
    cases=levels,
    reference=by_costs,
    right="Right. All that is left to argue about are the prices.",
    nudge="Not those regrets. With level = [1, 3, 9], price = 1000, leaves = 2, fan = 2000 and test = 100 they are [0, 0, 5000] for nothing, "
    "[100, 100, 100] for the test and [2000, 1000, 0] for the fan.",
    hints=(
        "What does the fan save a house in thirty years? Compare it with what the fan costs: one of the two is regretted.",
        "It saves price times (level - leaves), and nothing where that is negative. The test ends in the right decision.",
        "Begin with `saved = price * np.maximum(level - leaves, 0)`",
    ),
    apart=True,
    mistakes={
        "A fan puts nothing into the air of a house that has less than it leaves.": "np.maximum(level - leaves, 0) -> (level - leaves)",
        "Yours can be negative. Hindsight takes the cheaper of nothing and fan, and nobody does better.": (
            "np.maximum(saved - fan, 0) -> saved - fan;; np.maximum(fan - saved, 0) -> fan - saved"
        ),
        "Nothing and fan have changed places: the fan is regretted where it saves less than it costs.": (
            "saved - fan -> fan - saved;; np.maximum(fan - saved, 0)]) -> np.maximum(saved - fan, 0)])"
        ),
        "After the test the right decision is made. Its own price is all that is regretted.": (
            "np.full_like(saved, test) -> test + np.minimum(saved, fan)"
        ),
        "A fan leaves some of it in the house. It saves only what is above.": "level - leaves -> level",
    },
)
DECIDE = Record(
    cases=drawn,
    reference=house_by_house,
    right="Right. The engine has told what houses are like, the box what this one is like.",
    nudge="Not that decision. With y = [[0], [2]], z = [2], sd = 1 and cost = [[[0], [4]], [[1], [1]], [[3], [0]]] it is action 2, at a regret of 0.3576.",
    hints=(
        "Draws that lie near to what the box said count for more. Average each action's regret with such weights, and take the least.",
        "The weight of draw s of house n is proportional to exp(-((z_n - y_sn) / sd)^2 / 2), and the weights of a house sum to 1.",
        "Begin with `log_w = -0.5 * ((z - y) / sd) ** 2`",
    ),
    parts=("action", "regret"),
    apart=True,
    mistakes={
        "That is decided before the box is read: all draws count alike.": "(w * cost).sum(axis=1) -> cost.mean(axis=1)",
        "Your weights sum to 1 over houses. Those of one house's draws do.": "w = w / w.sum(axis=0) -> w = w / w.sum(axis=1, keepdims=True)",
        "Your weights do not sum to 1, so that the regrets are too large.": "w = w / w.sum(axis=0) -> w = w",
        "The noise divides before you square: `sd` is a standard deviation.": "((z - y) / sd) ** 2 -> (z - y) ** 2 / sd",
        "A half is missing in the exponent. Your box is trusted too much.": "-0.5 * -> -1.0 *",
        "You took the dearest action.": "argmin -> argmax;; risk.min( -> risk.max(",
        "You took one action for all houses. Each house has a box of its own.": (
            "return risk.argmin(axis=0), risk.min(axis=0) -> k = risk.sum(axis=1).argmin(); return np.full(len(z), k), risk[k]"
        ),
    },
)
BESIDE = Record(
    cases=houses,
    reference=one_by_one,
    right="Right. Houses that get the same from both differ by nothing, and so the error is small.",
    nudge="Not that difference, or not that error. With cost = [[0, 5, 0], [1, 1, 1], [2, 0, 3]], action = [0, 1, 1] and ideal = [1, 1, 2] they are -1000 "
    "and 577.35.",
    hints=(
        "Each house is its own pair: what it pays by one engine less what it pays by the other.",
        "The mean of N differences has the standard error of their standard deviation (N - 1 below) over the root of N; then times 1,000.",
        "Begin with `n = np.arange(len(action))`; then `cost[action, n]` is what each house pays.",
    ),
    parts=("difference", "error"),
    apart=True,
    mistakes={
        "Your error forgets that the houses are the same. Take the difference house by house, then its scatter.": """
            n = np.arange(len(action))
            a, b = cost[action, n], cost[ideal, n]
            return 1000 * (a - b).mean(), 1000 * np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / len(a))
        """,
        "That is for one house. Asked for are 1,000.": "1000 * d.mean(), 1000 * d.std -> d.mean(), d.std",
        "That is the scatter of the houses. The error of their mean is smaller.": " / np.sqrt(len(d)) -> ",
        "You left out the houses that both decide alike. Their difference is 0, and counts.": "cost[ideal, n] -> cost[ideal, n];; return -> d = d[action != ideal]; return",
        "You counted what the ideal costs more than the other.": "cost[action, n] - cost[ideal, n] -> cost[ideal, n] - cost[action, n]",
        "The scatter is taken about the mean of the same differences: divide by N - 1.": "ddof=1 -> ddof=0",
    },
)
WORTH = Record(
    cases=tested,
    reference=result_by_result,
    right="Right. It can be worked out before the test is paid for; compare it with the test's price.",
    nudge="Not that worth. With y = [0, 2], w = [0.5, 0.5], cost = [[0, 4], [1, 1], [3, 0]], sd = 1 and t = [0, 2] it is 0.5828.",
    hints=(
        "What is the least expected regret now? And what is it, on average, after each of the results?",
        "After result t the weights are proportional to w times exp(-((t - y) / sd)^2 / 2). Take the least regret for each result, then average.",
        "Begin with `v = w * np.exp(-0.5 * ((t[:, None] - y) / sd) ** 2)`, results by draws.",
    ),
    apart=True,
    mistakes={
        "Your belief after the test has forgotten the first box: the old weights multiply the new ones.": "w * np.exp -> np.exp",
        "You took one action for all results, and so nothing is gained. Choose after each, then average.": (
            "(v @ cost.T).min(axis=1).mean() -> (v @ cost.T).mean(axis=0).min()"
        ),
        "That is the regret that is left after the test. Asked for is what it saves.": "return (cost @ w).min() - later -> return later",
        "You left out the long test, which is open before and after.": "(cost @ w) -> (cost[::2] @ w);; v @ cost.T -> v @ cost[::2].T",
        "Your weights sum to 1 over results. After each result they sum to 1 over the draws.": "axis=1, keepdims=True -> axis=0",
        "That is the worth of a test without noise.": "(v @ cost.T).min(axis=1).mean() -> w @ cost.min(axis=0)",
        "A half is missing in the exponent. Your test has too little noise.": "-0.5 * -> -1.0 *",
    },
)
TASKS = {"regrets": REGRETS, "decide": DECIDE, "beside": BESIDE, "worth": WORTH}
