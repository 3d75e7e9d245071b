"""Split R-hat and the effective sample size. Roads: an analysis of variance; sums lag by lag; a walk along the pairs."""

from math import fsum

import numpy as np
from scipy.stats import f_oneway

from course_pkg.checks.five_chains import walk
from course_pkg.checks.record import Record


def halves(draws):
    """Both halves of every chain as chains; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.vstack([draws[:, :half], draws[:, -half:]])


def rhat_by_anova(draws):
    """B / W is the F statistic of a one-way analysis of variance, with the halves for groups."""
    groups = halves(np.asarray(draws, dtype=float))
    n = groups.shape[1]
    return float(np.sqrt((n - 1 + f_oneway(*groups).statistic) / n))


def correlations_by_sums(draws, lags):
    m, n = draws.shape
    centres = [fsum(chain) / n for chain in draws]
    grand = fsum(centres) / m
    inside = fsum((x - c) ** 2 for chain, c in zip(draws, centres, strict=True) for x in chain) / (m * (n - 1))
    total = inside * (n - 1) / n + fsum((c - grand) ** 2 for c in centres) / (m - 1)
    found = [1.0]
    for t in range(1, lags + 1):
        products = [(chain[i] - c) * (chain[i + t] - c) for chain, c in zip(draws, centres, strict=True) for i in range(n - t)]
        found.append(1 - (inside - fsum(products) / (m * n)) / total)
    return found


def ess_by_walk(rho, size):
    total, least = 0.0, np.inf
    for even, odd in zip(rho[::2], rho[1::2], strict=True):
        if even + odd <= 0:
            break
        least = min(least, even + odd)
        total += least
    return size / (2 * total - 1)


def few_chains(rng):
    """A handful of chains that drift together, stand apart and differ in width; now and then a draw is far out."""
    for chains, draws, apart in [(4, 12, 1.5), (5, 11, 0.4), (4, 9, 1.0)]:
        drift = np.linspace(-1, 1, draws) * rng.uniform(0.3, 0.8)
        places, widths = rng.normal(0, apart, (chains, 1)), rng.uniform(0.4, 2, (chains, 1))
        yield (3 + places + drift + widths * rng.exponential(size=(chains, draws)),)


def with_memory(rng):
    for chains, draws, lags in [(5, 10, 4), (6, 12, 3)]:
        yield 0.5 + rng.normal(0, 0.5, (chains, 1)) + rng.uniform(0.6, 1.6, (chains, 1)) * walk(rng, chains, draws, 0.7), lags


def noisy(rng, memory, pairs):
    """Correlations that fall like powers of ``memory`` at first; then pairs that are given up to noise, with odd lags lower or higher."""
    scaled = np.array(pairs) * rng.uniform(0.8, 1.25, len(pairs))
    tilt = np.where(scaled > 0, rng.uniform(-0.2, 0.2, len(pairs)), rng.uniform(0.25, 0.35, len(pairs)))
    return np.concatenate([memory ** np.arange(4), np.column_stack([scaled / 2 + tilt, scaled / 2 - tilt]).ravel()])


def curves(rng):
    """The last one's second pair is larger than the first, as lag 1 is negative."""
    first, last = rng.uniform(0.2, 0.35), rng.uniform(0.05, 0.1)
    for rho in (
        noisy(rng, rng.uniform(0.5, 0.7), [0.15, 0.4, 0.25, -0.3, 0.2, -0.1]),
        noisy(rng, -rng.uniform(0.25, 0.45), [0.06, 0.03, -0.1, 0.15]),
        noisy(rng, rng.uniform(0.6, 0.8), [0.5, 0.2, 0.3, 0.1]),
        np.array([1, -first, 0.6, rng.uniform(0.3, 0.5), 0.2, last, last, -0.3]),
    ):
        yield rho, int(rng.integers(200, 900))


CUT = "np.vstack([draws[:, :half], draws[:, -half:]])"
INSIDE, MEANS = "(half - 1) / half * W", "parts.mean(axis=1).var(ddof=1)"
RHAT = Record(
    cases=few_chains,
    reference=rhat_by_anova,
    right="Right. It compares the spread of the halves' means with the spread inside the halves.",
    nudge="Not that R-hat. With draws = [[0, 3, 3, 6, 6, 9], [1, 2, 6, 3, 5, 4]] there are four halves, W = 3.5, B/n = 14/3, and R-hat "
    "is the root of 2, about 1.414.",
    hints=(
        "Cut first, then forget which half came from which chain: you have twice as many chains of half the length.",
        "Divide under the root: R-hat squared = (n-1)/n + (B/n)/W. With one half to a row, W and B/n need one number from each row.",
        "Begin with `half = draws.shape[1] // 2`; the halves are `draws[:, :half]` and `draws[:, -half:]`, one set above the other.",
    ),
    mistakes={
        "You did not cut the chains into halves. A drift that all chains share stays hidden.": f"// 2 -> ;; {CUT} -> draws",
        "What is between the chains counts n times too little: B/n is the variance of the means, and B is n times that.": "between = -> between = 1 / half *",
        "You left out the (n-1)/n before W. Chains that agree as independent draws do would then give more than 1.": f"{INSIDE} -> W",
        "Variances are divided by the count less one here, those within the chains and that of the means. NumPy needs ddof=1.": f"ddof=1 -> ddof=0 || {MEANS} -> parts.mean(axis=1).var() || ({INSIDE} + between) -> parts.var(ddof=1)",
        "Right where the number of draws is even. Where it is odd, you have the middle draw in both halves; leave it out.": "// 2 -> // 2 + draws.shape[1] % 2",
    },
)
FROM_0 = "[1.0] + -> ;; range(1, lags -> range(lags"
OFF, RHO = "draws - means,", "1 - (W - c_t) / V"
OF_ALL = """
    off, n = draws - {}, draws.shape[1]
    c = np.array([(off[:, : n - t] * off[:, t:]).sum(axis=1) for t in range(lags + 1)])
    return {}
    """
ONE_BY_ONE = OF_ALL.format("draws.mean(axis=1, keepdims=True)", "(c / c[0]).mean(axis=1)")
CORRELATIONS = Record(
    cases=with_memory,
    reference=correlations_by_sums,
    right="Right. Chains that stand apart are correlated at every lag, as they should be: none of them brings news of the others.",
    nudge="Not those correlations. With draws = [[0, 1, 3, 4], [2, 5, 6, 7]] and lags = 2, W = 4, B/n = 4.5, V = 7.5, c(1) = 0.625 and "
    "c(2) = -0.875, and the answer is [1, 0.55, 0.35].",
    hints=(
        "W and V are two numbers, the same for all lags. With the lag changes the average product of distances from a chain's mean.",
        "rho = 1 - (W - c)/V. Let off be draws less the chains' means: c sums off[j, i] off[j, i + t] over i and j, divided by m n.",
        "Begin with `n = draws.shape[1]`. At lag t the factors are `off[:, : n - t]` and `off[:, t:]`, element by element.",
    ),
    mistakes={
        "You averaged each chain's own correlations. They know nothing of how far the chains are apart.": ONE_BY_ONE,
        "You took distances from the mean of all draws. Take them from each chain's own.": f"{OFF} -> draws - draws.mean(),",
        "You divide a lag's sum by the n - t products in it. Divide by n, at every lag.": "/ off.size -> / (off.size - t * len(off))",
        "You divided by W. Below the line belongs V, in which the distance between the chains counts, too.": f"{RHO} -> c_t / W",
        "You divided the autocovariance by V. Chains that are far apart would then look uncorrelated: it is 1 less (W - c)/V.": f"{RHO} -> c_t / V",
        "Your V lacks B/n, the variance of the chains' means.": "+ means.var(ddof=1) -> ",
        "Right but for lag 0, where the formula misses 1 by a little. Put 1 there.": FROM_0,
    },
)
FALLING, KEPT = "np.minimum.accumulate(kept)", "pairs[: ends[0]] if len(ends) else pairs"
ESS = Record(
    cases=curves,
    reference=ess_by_walk,
    apart=True,
    right="Right. Slow chains are worth less than their draws, and chains that swing to and fro may be worth more.",
    nudge="Not that size. With rho = [1, 0.5, 0.3, -0.1, 0.15, 0.15, 0.1, -0.2] and S = 150 the pairs are 1.5, 0.2, 0.3 and -0.1, of "
    "which 1.5, 0.2 and once more 0.2 count, and the effective sample size is 150 / 2.8 = 53.571, not rounded.",
    hints=(
        "Add neighbours two by two. Which of the sums are kept? And which of these are replaced by a smaller one before them?",
        "ESS = S / (-1 + 2 (P_0 + P_1 + ... + P_K)), where P_K is the last one before the first that is not positive.",
        "Begin with `pairs = rho[::2] + rho[1::2]`",
    ),
    mistakes={
        "You summed all lags. The late ones are noise, and there are many of them: stop at the first pair that is not positive.": f"{FALLING} -> rho || {KEPT} -> pairs",
        "Stop at the first *pair* that is not positive: a single correlation may well be negative.": f"{FALLING} -> rho[: np.argmin(np.append(rho > 0, False))]",
        "You stop where you should, but let the pairs rise on the way. Replace each by the smallest so far.": f"{FALLING} -> kept",
        "You have a +1 where a -1 belongs: the first pair has lag 0 in it already, which is not to be doubled.": "- 1) -> + 1)",
        "The first pair that is not positive still counts in your sum. Stop before it.": f"ends[0]] -> ends[0] + 1] || ends[0]] -> ends[0] + 1] ;; {FALLING} -> kept",
        "You allow no more than S. Draws on opposite sides are worth more than independent ones.": f"S / (2 * {FALLING}.sum() - 1) -> min(S, S / (2 * {FALLING}.sum() - 1))",
        "Where all pairs are positive, yours keeps none: argmax of nothing but False is 0. Then all of them count.": f"{KEPT} -> pairs[: np.argmax(pairs <= 0)]",
    },
)
TASKS = {"rhat": RHAT, "correlations": CORRELATIONS, "ess": ESS}
