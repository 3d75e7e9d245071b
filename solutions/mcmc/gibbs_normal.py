"""Gibbs for a normal sample. Roads: the log joint at a few places; exact laws of one sweep; a predictive tail."""

import jax
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import chi2, chisquare, gamma, ks_2samp, kstest, norm, rankdata

from course_pkg.checks._judge import FALSE_ALARM, Trouble, Verdict, call, key_words, read, shape_words
from course_pkg.checks._keys import key_trouble
from course_pkg.checks._settle import settled
from course_pkg.checks.record import Record
from solutions.vi._tools import gamma_of, log_joint, parabola

CHAINS = 10_000


def mu_by_parabola(x, precision, m, tau):
    centre, bend = parabola(lambda mu: log_joint(mu, precision, x, m, tau, 1.0, 1.0))
    return centre, bend**-0.5


gamma_by_places = lambda x, mu, alpha, beta: gamma_of(lambda precision: log_joint(mu, precision, x, 0.0, 1.0, alpha, beta))


def late_by_quadrature(mu, precision, limit):
    y = np.linspace(limit, np.maximum(limit, mu) + 40 / np.sqrt(precision), 40_001)
    return trapezoid(np.sqrt(precision / (2 * np.pi)) * np.exp(-precision * (y - mu) ** 2 / 2), y, axis=0).mean()


# A sample whose mean is away from 0 and from the prior's centre
delays = lambda rng, n: rng.normal(rng.choice([-1, 1]) * rng.uniform(4, 7), rng.uniform(1.0, 2.0), n)


def for_mu(rng):
    for n, g, tau in [(4, (0.2, 0.4), (0.3, 0.8)), (7, (1.5, 3.0), (2.0, 4.0)), (2, (0.3, 0.6), (1.3, 2.0))]:
        yield delays(rng, n), rng.uniform(*g), rng.uniform(1, 3), rng.uniform(*tau)


def for_gamma(rng):
    for n in (4, 7, 2):
        x = delays(rng, n)
        yield x, x.mean() + rng.choice([-1, 1]) * rng.uniform(0.7, 1.5), rng.uniform(1.5, 3), rng.uniform(2, 9)


def for_late(rng):
    for draws, limit in [(6, (1.0, 2.5)), (5, (-1.5, -0.5)), (8, (0.2, 0.6))]:
        mu = 5 + rng.permutation(np.linspace(-3, 3, draws)) + rng.uniform(-0.2, 0.2, draws)
        yield mu, rng.permutation(np.geomspace(0.05, 2, draws)), mu.mean() + rng.uniform(*limit)


MU = Record(
    cases=for_mu,
    reference=mu_by_parabola,
    parts=("the centre", "the standard deviation"),
    right="Right. However unlike the data and the prior are, the spread depends on their precisions alone.",
    nudge="Not that normal. With x = [1, 3, 5], gamma = 2, m = -1 and tau = 3 it has centre 5/3 and standard deviation 1/3.",
    hints=(
        "In the log of the joint density keep what has mu in it. It is a parabola: where is its top, and how sharply is it bent?",
        "The log is -(tau/2) (mu - m)^2 - (gamma/2) sum over i of (x_i - mu)^2. A normal's precision is minus the second derivative.",
        "Begin with `precision = tau + len(x) * gamma`",
    ),
    mistakes={
        "Your spread is right. In the centre the data are not weighted: each counts as much as its precision.": "gamma * x.sum() -> x.sum()",
        "Your spread is right, and your centre is the sample mean. The prior pulls it towards m.": "return centre -> return x.mean()",
        "You treat the sample mean as a single observation. It has the precision of all of them together.": "len(x) * gamma -> gamma ;; x.sum() -> x.mean()",
    },
)
GAMMA = Record(
    cases=for_gamma,
    reference=gamma_by_places,
    parts=("the shape", "the rate"),
    right="Right. Each observation adds one half to the shape, wherever it lies, and half its squared distance from mu to the rate.",
    nudge="Not that gamma. With x = [1, 3, 5], mu = 2, alpha = 4 and beta = 2 it has shape 5.5 and rate 7.5.",
    hints=(
        "In the log of the joint density keep what has gamma in it: a multiple of log gamma, and a multiple of gamma.",
        "A gamma has log density (shape - 1) log gamma - rate gamma; one observation has (1/2) log gamma - (gamma/2) (x_i - mu)^2.",
        "Begin with `shape = alpha + len(x) / 2`",
    ),
    mistakes={
        "Your rate is right, and your shape counts each observation twice: the density of one has the square root of gamma in front.": "len(x) / 2 -> len(x)",
        "Your shape is right. In the rate a factor is missing: look at the exponent of the normal density.": ".sum() / 2 -> .sum()",
        "Your shape is right, and your deviations are those from the sample mean. Here mu is known.": "x - mu -> x - x.mean()",
        "That is for a mean that is estimated from the data. Here mu is known, and no observation is spent on it.": "x - mu -> x - x.mean() ;; len(x) -> (len(x) - 1)",
    },
)


def within(got, start, data):
    """Where each new value lies within its law, between 0 and 1: uniform and independent if the law is the right one."""
    (mu_new, gamma_new), (_, precision), (x, m, tau, alpha, beta) = got, start, data
    total, rate = tau + len(x) * precision, beta + ((x - mu_new[:, None]) ** 2).sum(axis=1) / 2
    first = norm.cdf((mu_new - (tau * m + precision * x.sum()) / total) * np.sqrt(total))
    return first, gamma.cdf(gamma_new, alpha + len(x) / 2, scale=1 / rate)


def even(one, other):
    """The chance of counts as uneven as these among sixteen equal squares."""
    return chisquare(np.histogram2d(one, other, bins=4, range=[[0, 1], [0, 1]])[0].ravel()).pvalue


def uniform(place):
    """The smallest of three chances, times three: that of the distances, of the mean and of the spread of what should be uniform."""
    z, n = norm.ppf(np.clip(place, 1e-9, 1 - 1e-9)), len(place)
    by_spread = chi2.cdf((z**2).sum(), n)
    return 3 * min(kstest(place, "uniform").pvalue, 2 * norm.sf(abs(z.sum()) / np.sqrt(n)), 2 * min(by_spread, 1 - by_spread))


def fits(places, start):
    """Whether each place is uniform, and independent of the others, of the start and of the next."""
    first, second = places
    ranks = [(rankdata(part) - 0.5) / len(part) for part in start]
    pairs = [places, (first[::2], first[1::2]), (second[::2], second[1::2])]
    pairs += [(rank, place) for rank in ranks for place in places]
    level = FALSE_ALARM / (len(pairs) + 2) / 2
    return all(uniform(place) > level for place in places) and all(even(*pair) > level for pair in pairs)


def swept(answer, key, start, data):
    want = (np.zeros(CHAINS),) * 2
    got = read(call(answer, key, *start, *data), want)
    if words := shape_words(got, want):
        raise Trouble(words)
    return got


def judged(answer, seed, mistakes):
    rng = np.random.default_rng([seed, 252])
    data = delays(rng, 4), rng.uniform(1, 3), rng.uniform(0.1, 0.3), rng.uniform(1.5, 3), rng.uniform(4, 9)
    start = rng.normal(data[0].mean(), 2.0, CHAINS), rng.gamma(3.0, 0.15, CHAINS) + 0.05
    keys = [jax.random.fold_in(jax.random.key(seed), k) for k in range(3)]
    got = swept(answer, keys[0], start, data)
    places = within(got, start, data)
    if not fits(places, start):
        return Verdict(False, what_is_off(got, places, start, data, mistakes, keys[0]))
    if trouble := key_words(got, swept(answer, keys[0], start, data), [swept(answer, key, start, data) for key in keys[1:]]):
        return Verdict(False, trouble)
    if trouble := key_trouble(answer, seed, *(part[:1] for part in start), *data):  # one chain: a sampler's loop runs on for the slowest
        return Verdict(False, trouble)
    return settled(Verdict(True, SWEEP.right), answer, [(keys[0], *start, *data)], lambda key, mu, gamma, x, m, tau, alpha, beta: None, "")


def what_is_off(got, places, start, data, mistakes, key):
    if any(np.ptp(place) < 1e-3 and 1e-4 < place.mean() < 1 - 1e-4 for place in places):
        return ONE_NOISE
    for words, slips in mistakes.items():
        for slip in slips:
            other = swept(slip, key, start, data)
            pairs = zip((*got, *places), (*other, *within(other, start, data)), strict=True)
            if words != ONE_NOISE and all(ks_2samp(*pair, method="asymp").pvalue > FALSE_ALARM for pair in pairs):
                return words
    if not (got[1] > 0).all():
        return "Some of your precisions are not positive. A draw from a gamma is."
    return LAW_OFF[tuple(bool(uniform(place) > FALSE_ALARM / 18) for place in places)]


LAW_OFF = {
    (False, False): "Neither array follows its conditional. Draw mu by Part 1 from the old gamma, then gamma by Part 2 from the new mu.",
    (True, False): "Your mu follows its conditional; gamma does not. Draw it by Part 2, from the new mu.",
    (False, True): "Your gamma follows its conditional given the new mu; mu does not. Draw it by Part 1, from the old gamma.",
    (True, True): "Each array by itself looks right, but depends on the other or on the start. Each chain takes its own old gamma.",
}
ONE_NOISE = "All chains got the same noise for mu or for gamma, or none. Each chain needs its own: give both draws a shape."
OLD = "mu = centre -> old, mu = mu, centre ;; x - mu[:, None] -> x - old[:, None]"
NEW_GAMMA = "np.asarray(jax.random.gamma(second, alpha + len(x) / 2, mu.shape)) / rate"
ONE_MU, ONE_GAMMA = "normal(first, gamma.shape) -> normal(first)", "len(x) / 2, mu.shape) -> len(x) / 2)"
SWEEP = Record(
    by=judged,
    right="Right: 10,000 chains made a sweep from different starts, and their new values follow the conditionals, each independently.",
    nudge="",
    hints=(
        "Two draws, one after the other, each with a part of the key. Parts 1 and 2 say from what, for all chains at once.",
        "mu_new = centre(gamma_old) + sd(gamma_old) noise; gamma_new = standard gamma / rate(mu_new), with the squares summed per chain.",
        "Begin with `first, second = jax.random.split(key)`",
    ),
    mistakes={
        "Your precisions are multiplied by the rate. A gamma with a rate is a standard gamma divided by it.": "/ rate -> * rate",
        "Your precisions are drawn given the old mu. In a sweep each new value is used at once.": OLD,
        "Your means scatter with the variance of their conditional. The noise is multiplied by its standard deviation.": "sd * -> sd**2 *",
        "The two have changed places: mu comes first.": f"return mu, {NEW_GAMMA} -> return {NEW_GAMMA}, mu",
        ONE_NOISE: f"{ONE_MU} || {ONE_GAMMA} || {ONE_MU} ;; {ONE_GAMMA}",
    },
)
LATE = Record(
    cases=for_late,
    reference=late_by_quadrature,
    right="Right. It is a mean over draws, so any Bayes decision about the next crossing can be read off the chain in this way.",
    nudge="Not that chance. No random number is needed. With mu = [0, 2, 1], gamma = [1, 1/4, 1] and limit = 1 it is the mean of 0.1587, 0.6915 and 0.5: 0.4501.",
    hints=(
        "If mu and gamma were known, how probable would it be? Then: what if all you have is draws of them?",
        "P(delay > limit) = mean over draws s of P(N(mu_s, 1/gamma_s) > limit).",
        "Begin with `sd = 1 / np.sqrt(gamma)`",
    ),
    mistakes={
        "You put the mean of mu and a mean scatter into one normal. Take the chance for each draw, then the mean of the chances.": "limit, mu, sd -> limit, mu.mean(), gamma.mean() ** -0.5",
        "You put the mean of mu in. It is uncertain, too: take each draw of it together with its gamma.": "limit, mu -> limit, mu.mean()",
        "You took gamma for a standard deviation. It is a precision, one over the variance.": "1 / np.sqrt(gamma) -> gamma",
        "That is how probable it is that mu lies above the limit. A single crossing scatters around mu as well.": "norm.sf(limit, mu, sd) -> mu > limit",
    },
)
TASKS = {"mu": MU, "gamma": GAMMA, "sweep": SWEEP, "late": LATE}
