"""Decide or sample on. Roads: second differences; sizes multiplied up; halves with a given spread; averages over a fine grid of later estimates."""

import itertools
from functools import partial

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from course_pkg.checks.record import Record

NARROW = 1e-5  # of a difference that stands for a derivative


def by_second_differences(log_density, _, lam, momentum, coin, size, steps):
    """Places alone, by u(t + 1) - 2 u(t) + u(t - 1) = size^2 force, with differences for the slope."""
    target = lambda u: log_density(np.exp(u)) + np.log(np.exp(u + NARROW) - np.exp(u - NARROW))
    force = lambda u: (target(u + NARROW) - target(u - NARROW)) / (2 * NARROW)
    first = np.log(lam)
    u, later = first, first + size * momentum + size**2 / 2 * force(first)
    for _ in range(steps):
        before, u = u, later
        later = 2 * u - before + size**2 * force(u)
    p = (later - before) / (2 * size)
    probability = np.minimum(1, np.exp(target(u) - target(first)) * norm.pdf(p) / norm.pdf(momentum))
    return np.array([new if yes else old for new, old, yes in zip(np.exp(u), lam, coin < probability, strict=True)]), probability


def pushed(lam, momentum, coin, size):
    """A stand-in for a transition: accepted the less, the longer the step and the farther off the place."""
    return 0.9 * lam + 0.1 * size * momentum, np.exp(-size * (coin + lam**2))


def by_products(transition, lam, size, momenta, coins, target):
    """Sizes multiplied by powers of e; their geometric mean as a root of a product."""
    sizes = [size]
    for t, (momentum, coin) in enumerate(zip(momenta, coins, strict=True), start=1):
        lam, probability = transition(lam, momentum, coin, sizes[-1])
        sizes.append(sizes[-1] * np.exp((sum(probability) / len(probability) - target) / t**0.6))
    late = sizes[1 + len(momenta) // 2 :]
    return lam, np.prod(late) ** (1 / len(late))


def by_halves(rhat, chains, draws):
    """Means with just the spread that R-hat asks for if W is 1, and the squared error of their mean."""
    n, means = draws / 2, np.linspace(-1, 1, 2 * chains)
    means = means * np.sqrt((rhat**2 - (n - 1) / n) / means.var(ddof=1))
    return 1 / (means.var(ddof=1) / len(means))


def by_grid(d, error, k):
    """The average over what the later estimate may be: its variance is that of today's less what is left later."""
    later = norm(d, np.sqrt(error**2 - error**2 / k))
    z = d + error * np.linspace(-12, 12, 40_001)
    return trapezoid(later.pdf(z) * np.maximum(z, 0), z) - max(d, 0)


def by_list(gain, d, error, price):
    options = [(0.0, 1)] + [(gain(d, error, k) - price * k + price, k) for k in itertools.accumulate([2] * 10, lambda k, two: two * k)]
    best = sorted(options, key=lambda option: -option[0])[0]
    return best[1], best[0]


def places(rng):
    for steps, size in ((1, 0.9), (3, 0.4)):
        a, b = rng.uniform(2, 3), rng.uniform(1, 1.5)
        log_density, slope = lambda lam, a=a, b=b: a * np.log(lam) - b * lam, lambda lam, a=a, b=b: a / lam - b
        yield (
            log_density,
            slope,
            rng.uniform(1, 3, 24),
            rng.normal(0, 0.8, 24),
            rng.uniform(0.6, 1, 24),
            size * rng.uniform(0.9, 1.1),
            steps,
        )


def warm_ups(rng):
    for T, C, size in ((6, 3, 1), (10, 5, 20)):
        yield (
            pushed,
            rng.uniform(0.3, 0.9, C),
            size * rng.uniform(0.7, 1.5),
            rng.normal(size=(T, C)),
            rng.random((T, C)),
            rng.uniform(0.5, 0.7),
        )


def bent(pull, d, error, k):
    """A stand-in for the gain: it rises with k, and ever less."""
    return error * np.exp(-abs(d) / error) * (1 - k**-pull)


def late(_, error, k):
    """A gain that comes with the third doubling."""
    return error * (k >= 8)


def steady(_, error, k):
    """A gain that goes on rising, faster than the cost."""
    return 0.1 * error * k


def plans(rng):
    for target in (0.002, 0.02, 0.1, 1.0):
        yield partial(bent, rng.uniform(0.8, 1.2)), rng.normal(0, 0.3), rng.uniform(0.8, 1.2), target * rng.uniform(0.8, 1.2)


TRANSITION = Record(
    cases=places,
    reference=by_second_differences,
    parts=("the place", "the probability"),
    apart=True,
    right="Right. The Jacobian stands in the density and in its slope, and nowhere else.",
    nudge="Not that step. With p(lam) = exp(-lam), one chain at lam = 1, momentum 1, size 1 and one step, u goes to 1 and the probability is 0.7960.",
    hints=(
        "Three things in order: the log density of u and its slope, the leapfrog, the Metropolis rule with both energies.",
        "log density of u: log p(e^u) + u; its slope: p's slope times e^u, plus 1. Log ratio: that density and -p^2/2, at the end less at the start.",
        "Begin with `log_target = lambda u: log_density(np.exp(u)) + u`",
    ),
    mistakes={
        "The density of u has a Jacobian, e^u, and yours is without it, in value and slope: the chains agree, and on another posterior.": "+ u -> ;; + 1 -> ",
        "Your force has the Jacobian, the density that you accept by has not.": "+ u -> ",
        "The Jacobian is in your density and not in the force, so energy is not kept: the slope of + u is 1.": "+ 1 -> ",
        "The Jacobian's sign is turned: u = log lam has the density p(lam) times lam.": "+ u -> - u ;; + 1 -> - 1",
        "The chain rule: by u the log density rises e^u times as fast as by lam.": "slope(np.exp(u)) * np.exp(u) -> slope(np.exp(u)) || slope(np.exp(u)) * np.exp(u) + 1 -> slope(np.exp(u))",
        "Your last kick is a whole one. Take half of it back.": "p = p - size / 2 * force(u) -> ",
        "Your first kick is a whole one: half a kick, then whole ones, then half a kick.": "momentum + size / 2 -> momentum + size",
        "The kicks have the wrong sign: momentum grows uphill in the log density.": "momentum + size / 2 -> momentum - size / 2 ;; p + size * -> p - size * ;; p - size / 2 -> p + size / 2",
        "The momenta are left out of the ratio. It is the whole energy that a leapfrog nearly keeps.": "- p**2 / 2 -> ;; + momentum**2 / 2 -> ",
        "You returned who has moved. The probabilities are wanted, which say more: the warm-up averages them.": "lam), probability -> lam), coin < probability",
        "You returned u. The chain lives on lam.": "np.exp(u), lam) -> u, np.log(lam))",
        "You turned the ratio upside down.": "np.minimum(log_ratio -> np.minimum(-log_ratio",
        "Your momentum energies have changed their signs: the log of a momentum's density is -p^2/2.": "- p**2 / 2 -> + p**2 / 2 ;; + momentum**2 / 2 -> - momentum**2 / 2",
        "A probability is at most 1.": "np.minimum(log_ratio, 0) -> log_ratio",
        "A chain that does not accept stays where it was.": "np.where(coin < probability, np.exp(u), lam) -> np.exp(u)",
    },
)
WARM_UP = Record(
    cases=warm_ups,
    reference=by_products,
    parts=("the place", "the size"),
    right="Right. The corrections fall as t^-0.6, and the average takes out the restlessness that is left.",
    nudge="Not that. If every transition leaves lam as it is with probability 1, the size is 1, the target 0.5 and T is 4, it ends with the size 3.311.",
    hints=(
        "Go on from the places that a transition returned, with the size as it is by then, and keep every size.",
        "The average of logs is the log of the geometric mean: average the log sizes of the second half, then exp.",
        "Begin with `log_size, found = np.log(size), []`",
    ),
    mistakes={
        "Your sign is turned: if too little is accepted the step is to become shorter.": "* (probability.mean() - target) -> * (target - probability.mean())",
        "That is the last size, and it is still restless.": "np.mean(found[len(found) // 2 :]) -> log_size",
        "You averaged over the whole warm-up. Its first half carries where the size began.": "len(found) // 2 : -> :",
        "You averaged the sizes. The geometric mean is exp of the average of their logs.": "np.exp(np.mean(found[len(found) // 2 :])) -> np.mean(np.exp(found[len(found) // 2 :]))",
        "Your rate does not fall: t^-0.6 lets the size settle.": "(t + 1) ** -0.6 * -> ",
        "Python counts t from 0. The first rate is 1^-0.6, the second 2^-0.6.": "(t + 1) ** -> (t + 2) **",
        "You kept the size before each transition, not the one after it.": "[len(found) // 2 :] -> [len(found) // 2 - 1 : -1]",
        "You used the first size in every transition.": "coins[t], np.exp(log_size)) -> coins[t], size)",
        "Your chains begin anew at each transition: go on from where the last one led.": "lam, probability = transition(lam, -> new, probability = transition(lam,",
        "You looked at the first chain alone: average the probabilities of all.": "probability.mean() -> probability[0]",
        "You moved the size itself. It is its logarithm that moves, which keeps it positive.": (
            "log_size = log_size + -> log_size = np.log(np.exp(log_size) + ;; (probability.mean() - target) -> (probability.mean() - target))"
        ),
    },
)
IMPLIED = Record(
    cases=lambda rng: [
        *((rng.uniform(1.005, 1.05), chains, draws) for chains, draws in ((2, 40), (4, 100), (6, 30), (3, 16))),
        (rng.uniform(0.985, 0.995), 2, 40),
    ],
    reference=by_halves,
    right="Right. R-hat is an effective sample size in disguise, and a count of draws is easier to think about.",
    nudge="Not that many. With rhat = 1, chains = 2 and draws = 20 it is 40: all of them.",
    hints=(
        "Solve the equation for (B/n)/W. How far may the mean of m means be off if their variance is B/n?",
        "(B/n)/W = rhat^2 - (n - 1)/n. The squared standard error is (B/n)/m; set it equal to W/E.",
        "Begin with `m, n = 2 * chains, draws / 2`",
    ),
    mistakes={
        "There are twice as many halves as chains.": "2 * chains -> chains",
        "A half has S/2 draws.": "draws / 2 -> draws",
        "You took (n - 1)/n for 1. Chains without any memory would then be worth infinitely many draws.": "(n - 1) / n -> 1",
        "The formula has the square of R-hat.": "rhat**2 -> rhat",
        "That is one over it, as a share of the halves: E = m W/(B/n).": "m / between -> between / m",
        "You capped it at the number of draws. Chains that go to and fro may be worth more than that.": (
            "return m / between -> return min(m / between, chains * draws)"
        ),
        "The mean of m means has an m-th of their variance: m is missing.": "m / between -> 1 / between",
        "That is with the pooled variance, rhat^2 W, in place of W.": "m / between -> m * rhat**2 / between",
        "You have how many draws each half is worth. There are m of them.": "m / between -> n / between || m / between -> 2 / between",
    },
)
GAIN = Record(
    cases=lambda rng: [(sign * rng.uniform(0.1, 0.6), rng.uniform(0.4, 0.9), k) for sign, k in ((1, 2), (-1, 4), (1, 64), (-1, 2))],
    reference=by_grid,
    right="Right. It is what sample information is worth, with the computer for a laboratory.",
    nudge="Not that. With d = 0, error = 1 and k = 2 it is 0.2821.",
    hints=(
        "Today d' is uncertain, with the mean d. Its variance and what will then be left of the variance add up to today's.",
        "d' ~ N(d, s^2 - s^2/k). The gain is E max(d', 0) less max(d, 0).",
        "Begin with `b = error * np.sqrt(1 - 1 / k)`",
    ),
    mistakes={
        "That is for endless sampling, after which nothing is left uncertain: with k times as many draws, s^2/k is.": "np.sqrt(1 - 1 / k) -> 1",
        "You added s^2/k to s^2. It is d' and the error that add up to s^2: d' has s^2 - s^2/k.": "np.sqrt(1 - 1 / k) -> np.sqrt(1 + 1 / k)",
        "That spread is what will be left. What you will learn is the rest: s^2 - s^2/k.": "np.sqrt(1 - 1 / k) -> np.sqrt(1 / k)",
        "Variances add up, not standard deviations: s^2 - s^2/k, then the root.": "np.sqrt(1 - 1 / k) -> (1 - 1 / k) || np.sqrt(1 - 1 / k) -> (1 - 1 / np.sqrt(k))",
        "You left out what you save by deciding today.": "- max(d, 0) -> ",
        "Today you take the better action: waiting saves 0, so a negative d does not count.": "max(d, 0) -> d || max(d, 0) -> abs(d)",
        "The density's term has the factor b, its standard deviation.": "b * norm.pdf -> norm.pdf",
        "The second draws are k - 1 times the first ones, and with the first they are k times as many: s^2/k will be left.": "1 - 1 / k -> 1 - 1 / (k + 1)",
        "That is a variance where a standard deviation belongs.": "error * np.sqrt(1 - 1 / k) -> error**2 * (1 - 1 / k)",
    },
)
PLAN = Record(
    cases=plans,
    reference=by_list,
    parts=("the k", "the balance"),
    right="Right. The dearer the draws and the clearer the answer, the sooner it decides.",
    nudge="Not that plan. If gain is 1 - 1/k whatever d and error are, and the price is 0.1, it is (4, 0.45).",
    hints=(
        "Eleven options: write down the balance of each, that of deciding now included, and take the best.",
        "Balance of k: gain(d, error, k) - price * (k - 1); of k = 1: 0.",
        "Begin with `balance = {1: 0.0}`",
    ),
    mistakes={
        "You have k - 1 times as many draws to pay for: those of today are paid.": "(k - 1) -> k",
        "You left the price out. More draws always gain something.": "- price * (k - 1) -> ",
        "You always sample on. To decide now is an option, and its balance is 0.": "{1: 0.0} -> {}",
        "You looked one doubling ahead. A longer run may pay more.": "np.arange(1, 11) -> np.arange(1, 2)",
        "Your k belongs to the option before the best one. Is there an index without the option of deciding now?": "return best -> return max(best // 2, 1)",
        "You returned the gain. The balance is the gain less the cost.": "return best, balance[best] -> return best, balance[best] + price * (best - 1)",
        "You took the k with the worst balance.": "max(balance -> min(balance",
        "The price was taken for one draw's doubling, the same for each k.": "price * (k - 1) -> price || price * (k - 1) -> price * np.log2(k)",
    },
    later={
        "You stopped at the first doubling that does not pay. Two may pay together: look at all eleven.": (
            lambda rng: [(late, rng.normal(0, 0.3), rng.uniform(0.8, 1.2), rng.uniform(0.01, 0.02))],
            "- price * (k - 1) -> - price * (k - 1)\n    if balance[k] < max(balance.values()): break",
        ),
        "The longest run is 1024 times as many draws, and it may be the best.": (
            lambda rng: [(steady, rng.normal(0, 0.3), rng.uniform(0.8, 1.2), rng.uniform(0.01, 0.02))],
            "np.arange(1, 11) -> np.arange(1, 10) || np.arange(1, 11) -> np.arange(1, 12)",
        ),
    },
)
TASKS = {"transition": TRANSITION, "warm-up": WARM_UP, "implied": IMPLIED, "gain": GAIN, "plan": PLAN}
