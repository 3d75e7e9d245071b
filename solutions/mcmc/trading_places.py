"""Swaps and evidence on a ladder. Roads: the joint density of all rungs, as a number; a product of means, added up as logarithms."""

import numpy as np

from course_pkg.checks.record import Record


def by_joint(x, ell, beta, first, coins):
    """Each exchange by the ratio of the whole product, after and before."""
    order = np.arange(len(x))
    joint = lambda order: np.prod(np.exp(beta * ell[order]))
    for n in range((len(x) - first) // 2):
        other = order.copy()
        other[[first + 2 * n, first + 2 * n + 1]] = order[[first + 2 * n + 1, first + 2 * n]]
        if coins[n] * joint(order) < joint(other):
            order = other
    return x[order]


def by_products(ell, beta):
    """Means of powers of the likelihood, rung by rung from the prior."""
    ratios = [np.logaddexp.reduce(gap * row) - np.log(len(row)) for gap, row in zip(np.diff(beta[::-1]), ell[::-1], strict=False)]
    return sum(ratios)


def rounds(rng):
    for K, first in ((9, 0), (10, 1), (12, 0), (9, 1)):
        beta = np.sort(np.append(rng.uniform(0.02, 0.95, K - 2), [0.0, 1.0]))[::-1]
        yield rng.normal(0, 3, K), rng.normal(0, 6, K), beta, first, rng.uniform(0.02, 0.98, (K - first) // 2)


def ladders(level):
    def draw(rng):
        for K, S in ((2, 5), (4, 8), (6, 4)):
            beta = np.sort(np.append(rng.uniform(0.05, 0.9, K - 2), [0.0, 1.0]))[::-1]
            yield rng.normal(level, 1.5, (K, S)) + 2 * beta[:, None], beta

    return draw


SWAP = Record(
    cases=rounds,
    reference=by_joint,
    right="Right. A place with a higher likelihood always goes to the colder rung, a lower one sometimes.",
    nudge="Not that round. With x = [1, 2, 3, 4], ell = [0, -1, -3, 1], beta = [1, 0.5, 0.2, 0], first = 0, coins = [0.6, 0.9] it is [2, 1, 4, 3].",
    hints=(
        "Write down the product of the targets before and after the exchange. Everything but two likelihoods with two powers cancels.",
        "The log ratio is (beta[k] - beta[k + 1]) * (ell[k + 1] - ell[k]).",
        "Begin with a copy of x, and go through the pairs and their coins side by side, with `zip`.",
    ),
    mistakes={
        "Your sign is turned: you send the better place to the hotter rung. Which likelihood stands above after the exchange?": "ell[k + 1] - ell[k] -> ell[k] - ell[k + 1]",
        "You left the temperatures out. Both likelihoods are raised to powers, and what counts is their difference.": "(beta[k] - beta[k + 1]) * -> 1.0 *",
        "You exchange only where the colder rung gains. The Metropolis rule lets the worse place through, too, with the probability of the ratio.": "np.log(coin) < log_ratio -> log_ratio > 0",
        "You compared a coin between 0 and 1 with a *log* ratio.": "np.log(coin) -> coin",
        "You raised one likelihood to the power of the colder rung alone. Both rungs' targets change.": "beta[k] - beta[k + 1] -> beta[k]",
        "You added the powers. The hotter rung loses what the colder one gains, so its power is subtracted.": "beta[k] - beta[k + 1] -> beta[k] + beta[k + 1]",
        "You copied a place and did not give the other one back: exchange them.": "new[k], new[k + 1] = x[k + 1], x[k] -> new[k] = x[k + 1]",
        "You began at the first rung each time. The pairs begin at `first`.": "range(first, -> range(0,",
        "You exchanged every pair. There is a coin for each.": "np.log(coin) < log_ratio -> True",
    },
    apart=True,
)
EVIDENCE = Record(
    cases=ladders(0.0),
    reference=by_products,
    right="Right. It is a product of means of small powers, and none of their weights runs away if the rungs are near each other.",
    nudge="Not that. With ell = [[0, 1], [0, 2]] and beta = [1, 0] it is 1.4338, the log of the mean of 1 and e^2.",
    hints=(
        "Z(0) is 1, since the prior is normalised. Multiply the ratios of neighbours from there to Z(1).",
        "Each ratio is a mean over the draws of the hotter rung, k + 1. Take the log of the mean, and add.",
        "Begin with 0.0, and add the log of one mean for each pair of neighbours.",
    ),
    mistakes={
        "You averaged over the draws of the colder rung. The mean in the formula is over the hotter one.": "ell[k + 1] -> ell[k]",
        "You took the mean of the logs. The log of the mean is larger, by Jensen's inequality.": "log_w.max() + np.log(np.mean(np.exp(log_w - log_w.max()))) -> np.mean(log_w)",
        "You added over the draws in place of averaging: each ratio is S times too large.": "np.mean( -> np.sum(",
        "You subtracted the largest log weight and did not add it again.": "log_w.max() + np.log -> np.log",
        "You raised the likelihood to the whole power of the rung. From one rung to the next only the difference is missing.": "beta[k] - beta[k + 1] -> beta[k]",
        "That is one step from the prior to the posterior: right on average, and useless where they are far apart. Use the rungs between.": "\nreturn np.log(np.mean(np.exp(ell[-1])))",
        "That is the harmonic mean over the posterior's draws. Its variance is often infinite. Use the ladder.": "\nreturn -np.log(np.mean(np.exp(-ell[0])))",
        "That is the log of the product's reciprocal: you went from the posterior to the prior.": "return total -> return -total",
    },
    later={
        "Right, until the likelihoods are too small for the computer. Take out the largest log weight before you take exponentials.": (
            ladders(-3000.0),
            "log_w.max() + np.log(np.mean(np.exp(log_w - log_w.max()))) -> np.log(np.mean(np.exp(log_w)))",
        ),
    },
)
TASKS = {"swap": SWAP, "evidence": EVIDENCE}
