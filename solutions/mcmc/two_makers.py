"""Two makers. Road: integrals over the unknown probabilities by sums over a grid of logits, knowing nothing of beta functions."""

import numpy as np
from scipy.special import log_expit, logsumexp

from course_pkg.checks.record import Record

LOGITS = np.linspace(-60, 60, 6001)
YES, NO = log_expit(LOGITS), log_expit(-LOGITS)


# The log of what a share with prior Beta(prior, prior) makes of so many ones and zeros, up to a constant
log_integral = lambda ones, zeros, prior: logsumexp((prior + ones) * YES + (prior + zeros) * NO)


def log_joint(z, y, m, a, c):
    total = log_integral(z.sum(), len(z) - z.sum(), a)
    for k in (0, 1):
        total += log_integral(y[z == k].sum(), (m - y)[z == k].sum(), c)
    return total


def maker_by_integrals(i, z, y, m, a, c):
    log_p = [log_joint(np.where(np.arange(len(z)) == i, k, z), y, m, a, c) for k in (0, 1)]
    return np.exp(np.array(log_p) - logsumexp(log_p))


def fails_by_integrals(zs, y, m, c):
    chances = np.empty(zs.shape)
    for s, z in enumerate(zs):
        for k in (0, 1):
            failed, held = y[z == k].sum(), (m - y)[z == k].sum()
            chances[s, z == k] = np.exp(log_integral(failed + 1, held, c) - log_integral(failed, held, c))
    return chances.mean(axis=0)


def fleet(rng, N, rates, starts):
    """Makers in no order, both in use, and records of which no two makers' are alike."""
    z = rng.permutation(np.r_[0, 0, 1, 1, rng.integers(0, 2, N - 4)])
    m = rng.integers(*starts, N)
    y = np.clip(np.round(m * np.array(rates)[z] + rng.uniform(-1, 1, N)), 1, m - 1).astype(int)
    return z, y, m


def for_one_winch(rng):
    """A winch between the two makers, so that neither has all the probability."""
    for N, rates, starts in ((6, (0.2, 0.45), (6, 14)), (8, (0.6, 0.3), (5, 12)), (7, (0.35, 0.6), (8, 15))):
        while True:
            z, y, m = fleet(rng, N, rates, starts)
            a, c, i = rng.uniform(1.2, 2.5), rng.uniform(0.3, 0.8), int(rng.integers(N))
            if 0.15 < maker_by_integrals(i, z, y, m, a, c)[0] < 0.85:
                yield i, z, y, m, a, c
                break


def for_next(rng):
    """Sweeps that are not all alike, under either pair of names."""
    for N, rates, S in ((5, (0.15, 0.5), 6), (6, (0.6, 0.2), 7)):
        z, y, m = fleet(rng, N, rates, (5, 15))
        zs = np.where(rng.random((S, N)) < 0.2, 1 - z, z)
        zs[: S // 2] = 1 - zs[: S // 2]
        yield zs, y, m, rng.uniform(0.4, 0.9)


ALL = "np.arange(len(z)) != i -> np.ones(len(z), bool)"
MAKER = Record(
    cases=for_one_winch,
    reference=maker_by_integrals,
    right="Right. What its record adds to a maker's is weighed whole, and what it is called now plays no part.",
    nudge="Not those probabilities. With i = 0, z = [0, 0, 1], y = [2, 1, 0], m = [2, 2, 1], a = 1 and c = 1 the weights are "
    "2 B(4, 2) / B(2, 2) = 0.6 and 2 B(3, 2) / B(1, 2) = 1/3, and the probabilities 0.643 and 0.357.",
    hints=(
        "Compare p(z, y) for the two makers of winch i, everything else being the same. Which integrals change?",
        "Weight of k: (a + n_k) B(c + F_k + y_i, c + G_k + m_i - y_i) / B(c + F_k, c + G_k); n_k, F_k and G_k count the other winches of "
        "maker k, and their starts that failed and that did not.",
        "Begin with `others = np.arange(len(z)) != i`",
    ),
    mistakes={
        "The winch itself is among your counts and votes for the maker that it has already. Take its record out before you count.": ALL,
        "You took every start by itself, each with the same mean of phi. The starts of one winch share one unknown phi, so the first tells "
        "about the second: that is what the ratio of two beta functions knows.": (
            "after - before -> y[i] * np.log(c + failed) + (m[i] - y[i]) * np.log(c + held) - m[i] * np.log(2 * c + failed + held)"
        ),
        "The share of the makers is missing. A maker of many winches is the likelier one.": "np.log(a + n) + -> ",
        "Without the winch's record a maker's integral is not one. Divide by what it was before.": "- before -> ",
        "The second number of a beta function is about starts that did not fail.": "(m - y)[others] -> m[others] ;; c + held + m[i] - y[i] -> c + held + m[i]",
    },
    later={
        "Right for short records. With thousands of starts a beta function is smaller than the smallest number: stay with logarithms, and "
        "take the largest off before the exponential.": (
            lambda rng: [(1, np.array([0, 0, 1, 1]), np.array([900, 1010, 1100, 980]), rng.integers(3000, 3020, 4), 1.5, 0.5)],
            "log_w - log_w.max() -> log_w",
        ),
        "Right as long as both makers have another winch. One may have none, and then a winch of its own is still possible: "
        "`np.bincount` has `minlength`, and no rate is 0 over 0.": (
            lambda rng: [
                (2, z, rng.integers(1, 4, 5), rng.integers(6, 10, 5), 1.5, 0.5) for z in (np.array([0, 0, 1, 0, 0]), np.ones(5, int))
            ],
            "minlength=2 -> ",
        ),
    },
)
FAILS = Record(
    cases=for_next,
    reference=fails_by_integrals,
    apart=True,
    right="Right. Each sweep answers under its own names, and the answers may be averaged.",
    nudge="Not those probabilities. With zs = [[0, 1], [1, 1]], y = [1, 0], m = [1, 2] and c = 1 the first sweep says 2/3 and 1/4 and the "
    "second 2/5 twice, so they are 0.533 and 0.325.",
    hints=(
        "If the makers were known, a winch's chance would be its maker's: the mean of a beta distribution.",
        "1/S sum over s of (c + F_k) / (2 c + M_k) with k = z_i of sweep s; F_k and M_k count failed and all starts of maker k, those of winch i too.",
        "Begin with `total = np.zeros(len(y))`",
    ),
    mistakes={
        "You averaged each maker's rate over the sweeps, and how often each winch has each maker. When the names swap, both become averages "
        "over the two makers. Let each sweep give the chance of each winch, and average that.": """
            means = np.zeros((len(zs), 2))
            for s, z in enumerate(zs):
                means[s] = (c + np.bincount(z, y, minlength=2)) / (2 * c + np.bincount(z, m, minlength=2))
            one = zs.mean(axis=0)
            return (1 - one) * means[:, 0].mean() + one * means[:, 1].mean()
            """,
        "You took the last sweep. One state of the chain is a sample of what you believe, not a summary.": "in zs -> in zs[-1:] ;; / len(zs) -> ",
        "You gave each winch its most frequent maker. Names swap along a chain, and doubt is lost.": "total = -> zs = np.round(zs.mean(axis=0))[None].astype(int)\ntotal =",
        "You left a winch's own starts out. Given its maker, its record counts like the others'.": "mean[z] -> (c + failed[z] - y) / (2 * c + started[z] - m)",
        "Some of it is missing: the mean of a Beta(s, t) is s / (s + t), and the prior's two numbers are both in it.": "2 * c -> c",
    },
)
TASKS = {"maker": MAKER, "fails": FAILS}
