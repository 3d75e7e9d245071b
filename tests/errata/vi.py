"""The computations behind the errata of the chapter on variational inference.

One function per item, named after it: ``T05`` is computed by ``t05``. All are exact: quadrature, enumeration, closed
forms or a search. Each returns its figures by name: the tests judge them and the errata page prints them.

The items on divergences compare ``N(0, 1)`` with ``N(1, 1.5^2)``. Those on the bound have a standard normal ``theta``,
one observation ``Y`` of it with unit noise, and the approximation ``N(MU, SIGMA^2)``.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, special, stats

Array = NDArray[np.float64]
Figures = dict[str, float]

Y, MU, SIGMA = 1.5, 0.4, 0.8
POSTERIOR = (Y / 2, np.sqrt(0.5))  # mean, standard deviation
LINE = np.linspace(-30.0, 30.0, 20_001)


def normal(x, mean=0.0, sd=1.0):
    """Log density."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def whole(values: Array, step: float = LINE[1] - LINE[0]) -> float:
    """An integral by the trapezium rule over all axes, exact to rounding for smooth functions that vanish at the ends."""
    return float(values.sum() * step**values.ndim)


# ---- divergences ----


def chi(t):
    return (t - 1) ** 2


def forward(t):
    return t * np.log(t)


def reverse(t):
    return -np.log(t)


def power(t, alpha: float = 0.5):
    """What the thesis prints as Renyi's."""
    return 4 * (1 - t ** ((1 + alpha) / 2)) / (1 - alpha**2)


def f_divergence(f: Callable, log_p: Array, log_q: Array) -> float:
    return whole(np.exp(log_q) * f(np.exp(log_p - log_q)))


def pair(mean: float = 1.0, sd: float = 1.5) -> tuple[Array, Array]:
    return normal(LINE), normal(LINE, mean, sd)


def kl(log_p: Array, log_q: Array) -> float:
    return whole(np.exp(log_p) * (log_p - log_q))


def t03() -> Figures:
    listed = {"chi": chi, "power": power, "forward": forward, "reverse": reverse}
    log_p, log_q = pair()
    t = np.linspace(0.05, 6.0, 500)
    tables = [np.random.default_rng(seed).dirichlet(np.ones(6), 2) for seed in range(200)]

    def on_tables(f: Callable) -> list[float]:
        return [float(q @ f(p / q)) for p, q in tables]

    return {
        **{name: f_divergence(f, log_p, log_q) for name, f in listed.items()},
        "negative": f_divergence(lambda t: -chi(t), log_p, log_q),
        "far": f_divergence(lambda t: -reverse(t), *pair(10.0)),
        "bend_least": min(float(np.diff(f(t), 2).min()) for f in listed.values()),
        "tables_convex": min(min(on_tables(f)) for f in listed.values()),
        "tables_concave": max(max(on_tables(lambda t, f=f: -f(t))) for f in listed.values()),
        "straight": f_divergence(lambda t: t - 1, log_p, log_q),  # convex, but not strictly at 1
    }


def t04() -> Figures:
    alpha = 0.5
    order = (1 + alpha) / 2
    log_p, log_q = pair()

    def renyi(log_p: Array, log_q: Array, order: float, step: float = LINE[1] - LINE[0]) -> float:
        return np.log(whole(np.exp(order * log_p + (1 - order) * log_q), step)) / (order - 1)

    x = np.linspace(-14, 14, 561)  # two independent copies, on the plane
    step = float(x[1] - x[0])
    two_p = np.add.outer(normal(x), normal(x))
    two_q = np.add.outer(normal(x, 1.0, 1.5), normal(x, 1.0, 1.5))
    printed, right = f_divergence(power, log_p, log_q), renyi(log_p, log_q, order)
    # Half of the mass of both lies where they differ as above and half elsewhere, where they agree.
    halves_p, halves_q = (np.concatenate([log, log_q]) + np.log(0.5) for log in (log_p, log_q))
    return {
        "printed": printed,
        "renyi": right,
        "renyi_alpha": renyi(log_p, log_q, alpha),
        "transform": np.log(1 - order * (1 - order) * printed) / (order - 1),
        "printed_two": whole(np.exp(two_q) * power(np.exp(two_p - two_q)), step),
        "renyi_two": renyi(two_p, two_q, order, step),
        "printed_far": f_divergence(power, *pair(14.0, 1.0)),
        "renyi_far": renyi(*pair(14.0, 1.0), order),
        "ceiling": 1 / (order * (1 - order)),
        "printed_halves": f_divergence(power, halves_p, halves_q),
        "renyi_halves": renyi(halves_p, halves_q, order),
        "to_forward": f_divergence(lambda t: power(t, 1 - 1e-5), log_p, log_q) - kl(log_p, log_q),
        "to_reverse": f_divergence(lambda t: power(t, -1 + 1e-5), log_p, log_q) - kl(log_q, log_p),
    }


def tr2() -> Figures:
    log_p, log_q = pair()
    p, q = np.exp(log_p), np.exp(log_q)
    return {
        "printed_forward": f_divergence(forward, log_p, log_q),
        "printed_reverse": f_divergence(reverse, log_p, log_q),
        "printed_chi": f_divergence(chi, log_p, log_q),
        "forward": kl(log_p, log_q),
        "reverse": kl(log_q, log_p),
        "chi": whole((p - q) ** 2 / q),
        # The forward one is least where the moments agree; the other, for two bumps, on one of them.
        **{f"sd_{f.__name__}": best_sd(f) for f in (forward, reverse)},
    }


def best_sd(f: Callable) -> float:
    """Standard deviation of the normal with the smallest divergence from two bumps."""
    log_p = np.logaddexp(normal(LINE, -2, 0.5), normal(LINE, 2, 0.5)) - np.log(2)

    def lost(v: Array) -> float:
        log_q = normal(LINE, v[0], np.exp(v[1]))
        return whole(np.exp(log_q) * f(np.exp(np.clip(log_p - log_q, -600, 600))))

    return float(np.exp(optimize.minimize(lost, [1.5, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11}).x[1]))


CLUTTER = 0.25  # share
READINGS = np.array([-2.0, 3.0, 4.0])


def reading(theta, y):
    """Log density of a reading that may be clutter."""
    return np.logaddexp(np.log1p(-CLUTTER) + normal(y, theta), np.log(CLUTTER) + normal(y, 0.0, np.sqrt(10.0)))


def moments(log_density: Array, x: Array) -> tuple[float, float]:
    p = np.exp(log_density - log_density.max())
    p /= p.sum()
    return float(p @ x), float(p @ (x - p @ x) ** 2)


def expectation_propagation(readings: Array, x: Array) -> tuple[float, float, float]:
    """Mean and variance of the fixed point, and how far the sites' tilted laws are from its moments."""
    tilt, bend = np.zeros(readings.size), np.zeros(readings.size)  # each site is exp(tilt x - bend x^2 / 2)
    off = np.inf
    for _ in range(2000):
        total, total_bend = tilt.sum(), 0.01 + bend.sum()  # the prior is N(0, 10^2)
        targets = []
        for y, a, b in zip(readings, tilt, bend, strict=True):
            mean, variance = moments((total - a) * x - (total_bend - b) * x**2 / 2 + reading(x, y), x)
            targets.append((mean, variance, mean / variance - (total - a), 1 / variance - (total_bend - b)))
        found = np.array(targets).T
        off = float(max(abs(found[0] - total / total_bend).max(), abs(found[1] - 1 / total_bend).max()))
        if off < 1e-12:
            break
        tilt, bend = 0.5 * tilt + 0.5 * found[2], 0.5 * bend + 0.5 * found[3]
    return total / total_bend, 1 / total_bend, off


def t18() -> Figures:
    x = np.linspace(-60, 60, 4_001)
    step = float(x[1] - x[0])

    def posterior(readings: Array) -> Array:
        log = normal(x, 0.0, 10.0) + sum(reading(x, y) for y in readings)
        return log - np.log(whole(np.exp(log), step))

    def lost(log_p: Array, mean: float, variance: float) -> float:
        return whole(np.exp(log_p) * (log_p - normal(x, mean, np.sqrt(variance))), step)

    log_p, single = posterior(READINGS), posterior(READINGS[2:])
    mean, variance = moments(log_p, x)
    ep_mean, ep_variance, off = expectation_propagation(READINGS, x)
    one_mean, one_variance, _ = expectation_propagation(READINGS[2:], x)
    best = optimize.minimize(lambda v: lost(log_p, v[0], np.exp(v[1])), [1.0, 1.0], options={"gtol": 1e-8}).x
    return {
        "mean": mean,
        "variance": variance,
        "sd": np.sqrt(variance),
        "best_mean": float(best[0]),
        "best_variance": float(np.exp(best[1])),
        "ep_mean": ep_mean,
        "ep_variance": ep_variance,
        "ep_sd": np.sqrt(ep_variance),
        "off": off,
        "lost": lost(log_p, mean, variance),
        "ep_lost": lost(log_p, ep_mean, ep_variance),
        "one_off": max(abs(one_mean - moments(single, x)[0]), abs(one_variance - moments(single, x)[1])),
    }


# ---- the bound ----


def log_joint(theta):
    return normal(theta) + normal(Y, theta)


LOG_EVIDENCE = float(normal(Y, 0.0, np.sqrt(2.0)))


def t05() -> Figures:
    def lines(mean: float, sd: float) -> dict[str, float]:
        log_q, log_p = normal(LINE, mean, sd), normal(LINE, *POSTERIOR)
        return {
            "first": whole(np.exp(2 * log_q - log_p)),
            "second": whole(np.exp(2 * log_q - log_joint(LINE))) + LOG_EVIDENCE,
            "first_right": whole(np.exp(log_q) * (log_q - log_p)),
            "second_right": whole(np.exp(log_q) * (log_q - log_joint(LINE))) + LOG_EVIDENCE,
            "chi": whole((np.exp(log_q - log_p / 2) - np.exp(log_p / 2)) ** 2),
        }

    sd = POSTERIOR[1]
    closed = np.log(sd / SIGMA) + (SIGMA**2 + (MU - POSTERIOR[0]) ** 2) / (2 * sd**2) - 0.5
    scan = [lines(m, s)["first"] for m in (-1.0, 0.4, 0.75, 2.0) for s in (0.3, 0.5, 0.7, 0.9)]
    # Two correlated unknowns, approximated as if independent: where each form has its least value.
    x = np.linspace(-6, 6, 161)
    step = float(x[1] - x[0])
    log_p = stats.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]]).logpdf(np.stack(np.meshgrid(x, x), axis=-1))

    def best(f: Callable[[Array, Array], Array]) -> float:
        def value(s: float) -> float:
            log_q = np.add.outer(normal(x, 0.0, s), normal(x, 0.0, s))
            return whole(f(log_q, log_p), step)

        return float(optimize.minimize_scalar(value, bounds=(0.25, 0.55), method="bounded", options={"xatol": 1e-8}).x)

    return lines(MU, SIGMA) | {
        "closed": closed,
        "at_posterior": lines(*POSTERIOR)["first"],
        "at_posterior_right": lines(*POSTERIOR)["first_right"],
        "least": min(scan),
        "sd_printed": best(lambda q, p: np.exp(2 * q - p)),
        "sd_right": best(lambda q, p: np.exp(q) * (q - p)),
    }


def bound_parts(mean: float, sd: float) -> tuple[float, float, float]:
    """Average log joint, entropy, and divergence to the posterior."""
    x = mean + sd * LINE  # the grid goes with the width
    q = np.exp(normal(LINE)) * (LINE[1] - LINE[0])
    log_q = normal(x, mean, sd)
    return float(q @ log_joint(x)), float(-q @ log_q), float(q @ (log_q - normal(x, *POSTERIOR)))


def t06() -> Figures:
    energy, entropy, gap = bound_parts(MU, SIGMA)
    thin = bound_parts(POSTERIOR[0], 1e-3)
    best = bound_parts(*POSTERIOR)
    rising = [e - h for e, h, _ in (bound_parts(POSTERIOR[0], s) for s in np.geomspace(0.5, 1e-4, 20))]
    return {
        "bound": LOG_EVIDENCE - gap,
        "right": energy + entropy,
        "printed": energy - entropy,
        "evidence": LOG_EVIDENCE,
        "thin_printed": thin[0] - thin[1],
        "thin_right": thin[0] + thin[1],
        "best_printed": best[0] - best[1],
        "best_right": best[0] + best[1],
        "least_rise": float(np.diff(rising).min()),
    }


def t07() -> Figures:
    energy, entropy, gap = bound_parts(MU, SIGMA)
    return {
        "bound": energy + entropy,
        "gap": gap,
        "sum": energy + entropy + gap,
        "log_evidence": LOG_EVIDENCE,
        "evidence": whole(np.exp(log_joint(LINE))),
    }


# ---- one factor after the other ----


def nr5() -> Figures:
    """Random unnormalised tables of three unknowns, and a product of three factors."""
    lemma, others, gain, lost, tempting, far = [], [], [], [], [], []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        table = rng.gamma(1.0, 1.0, (4, 5, 3))
        log_z = np.log(table.sum())
        f, g, h = (rng.dirichlet(np.full(n, 2.0)) for n in table.shape)
        rest = np.einsum("j,k->jk", g, h)

        def J(f: Array, rest: Array = rest, table: Array = table) -> float:
            q = np.einsum("i,jk->ijk", f, rest)
            return float((q * np.log(q / table)).sum())

        q = np.einsum("i,jk->ijk", f, rest)
        divergence = float((q * np.log(q / (table / table.sum()))).sum())
        lemma.append(abs(J(f) - (divergence - log_z)))
        far.append(abs(J(f) - (divergence + log_z)) / abs(log_z))
        log_phi = np.einsum("jk,ijk->i", rest, np.log(table))
        best, turned = special.softmax(log_phi), special.softmax(-log_phi)
        lost.append(min(J(other) for other in rng.dirichlet(np.full(4, 2.0), 300)) - J(best))
        gain.append(abs(J(f) - J(best) - float(f @ np.log(f / best))))
        tempting.append(J(turned) - J(best))
        phi = np.exp(log_phi)
        others.append(abs((J(f) - f @ np.log(f / phi)) - (J(best) - best @ np.log(best / phi))))
    return {
        "lemma": max(lemma),
        "lemma_tempting": min(far),
        "constant": max(others),
        "gain": max(gain),
        "lost_least": min(lost),
        "turned_least": min(tempting),
        "turned_mean": float(np.mean(tempting)),
    }


def tr8() -> Figures:
    """Two normal unknowns with unlike spread on a grid; the joint is not normalised."""
    x = np.linspace(-9, 9, 361)
    step = float(x[1] - x[0])
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    log_p = stats.multivariate_normal([0, 0], [[1, 0.9], [0.9, 2]]).logpdf(grid)
    log_joint = log_p + np.log(7.0)
    log_marginal = [normal(x, 0.0, np.sqrt(2.0)), normal(x)]  # of the other unknown

    def fit(update: Callable[[Array, int], Array]) -> list[Array]:
        q = [np.exp(normal(x, 1.0, 2.0)) * step] * 2
        for _ in range(60):
            for i in (0, 1):
                new = update(q[1 - i], i)
                q[i] = new / new.sum()
        return q

    def exp_mean_log(log: Array) -> Array:
        return np.exp(log - log.max())

    def turned(log: Array, i: int) -> Array:
        return log if i == 0 else log.T

    rules = {
        "joint": lambda other, i: exp_mean_log(turned(log_joint, i) @ other),
        "conditional": lambda other, i: exp_mean_log((turned(log_p, i) - log_marginal[i]) @ other),
        "mean": lambda other, i: np.exp(turned(log_joint, i)) @ other,
    }
    fits = {name: fit(rule) for name, rule in rules.items()}

    def lost(q: list[Array]) -> float:
        product = np.outer(*q)
        logs = np.log(np.maximum(product / step**2, 1e-300))
        return float((product * (logs - log_p)).sum())

    def from_sds(v: Array) -> list[Array]:
        return [np.exp(normal(x, 0.0, np.exp(s))) * step for s in v]

    direct = optimize.minimize(lambda v: lost(from_sds(v)), [0.0, 0.0], options={"gtol": 1e-9})
    variances = {name: [float(part @ x**2) for part in q] for name, q in fits.items()}
    return {
        "apart": max(float(abs(a - b).sum() / 2) for a, b in zip(fits["joint"], fits["conditional"], strict=True)),
        "first": variances["joint"][0],
        "second": variances["joint"][1],
        "direct_first": float(np.exp(2 * direct.x[0])),
        "direct_second": float(np.exp(2 * direct.x[1])),
        "mean_first": variances["mean"][0],
        "mean_second": variances["mean"][1],
        "lost": lost(fits["joint"]),
        "lost_direct": float(direct.fun),
        "lost_mean": lost(fits["mean"]),
    }


# ---- topics ----


def n08() -> Figures:
    """Exponents of a Dirichlet. On two topics it is a density on a segment, here by the log odds of the first."""
    alpha, gamma = 0.1, 0.3
    odds = np.linspace(-500, 500, 50_001)
    log_first, log_second = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)

    def law(first: float, second: float) -> Array:
        """Masses for a density with these exponents."""
        log = (first + 1) * log_first + (second + 1) * log_second  # one more of each for the step on the log odds
        p = np.exp(log - log.max())
        return p / p.sum()

    share = np.exp(log_first)
    ends = (share < 0.05) | (share > 0.95)
    exact = stats.beta(alpha, alpha)
    told = [4, 1]  # tokens of either topic, if their topics were known
    # The log joint of two documents at random points against the densities of scipy.
    off = {"printed": [], "right": [], "first": []}
    rng = np.random.default_rng(0)
    for _ in range(20):
        mix, topics = rng.dirichlet(np.full(2, 2.0), 2), rng.dirichlet(np.full(3, 2.0), 2)
        z, y = rng.integers(0, 2, (2, 5)), rng.integers(0, 3, (2, 5))
        tokens = sum(np.log(mix[i, z[i]] * topics[z[i], y[i]]).sum() for i in (0, 1))
        mixes = sum(stats.dirichlet.logpdf(row, np.full(2, alpha)) for row in mix)
        prior = sum(stats.dirichlet.logpdf(row, np.full(3, gamma)) for row in topics)
        joint = mixes + tokens + prior
        off["first"].append(mixes + tokens + np.exp(prior) - joint)
        off["printed"].append(alpha * np.log(mix).sum() + tokens + gamma * np.log(topics).sum() - joint)
        off["right"].append((alpha - 1) * np.log(mix).sum() + tokens + (gamma - 1) * np.log(topics).sum() - joint)
    return {
        **{f"spread_{name}": float(np.ptp(values)) for name, values in off.items()},
        "ends": exact.cdf(0.05) + exact.sf(0.95),
        "ends_right": float(law(alpha - 1, alpha - 1)[ends].sum()),
        "ends_printed": float(law(alpha, alpha)[ends].sum()),
        "mean": (alpha + told[0]) / (2 * alpha + sum(told)),
        "mean_right": float(law(alpha - 1 + told[0], alpha - 1 + told[1]) @ share),
        "mean_printed": float(law(alpha + told[0], alpha + told[1]) @ share),
    }


def n09() -> Figures:
    """One document of seven words and three known topics: all 3^7 assignments can be listed."""
    topics = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]])
    words, alpha = np.array([0, 0, 0, 1, 0, 2, 0]), 0.3
    every = np.stack(np.meshgrid(*[np.arange(3)] * words.size), axis=-1).reshape(-1, words.size)
    counts = (every[..., None] == np.arange(3)).sum(axis=1)
    log = special.gammaln(alpha + counts).sum(axis=1) + np.log(topics[every, words]).sum(axis=1)
    share = special.softmax(log) @ (alpha + counts) / (3 * alpha + words.size)
    mix = np.ones(3)
    for _ in range(500):
        z = special.softmax(special.digamma(mix) + np.log(topics[:, words].T), axis=1)
        mix = alpha + z.sum(axis=0)
    printed = np.full(3, alpha) + z.sum()  # every component gets all of z
    return {
        "exact": share[0],
        "right": mix[0] / mix.sum(),
        "printed": printed[0] / printed.sum(),
        "need": 3 * alpha + words.size,
        "sum_right": mix.sum(),
        "sum_printed": printed.sum(),
        "spread_printed": float(np.ptp(printed)),
    }


def n10() -> Figures:
    def exact(a: float, rest: float) -> float:
        """Mean log of a Dirichlet's component, whose law is a beta."""
        return integrate.quad(lambda x: np.log(x) * stats.beta.pdf(x, a, rest), 0, 1, epsabs=1e-11, epsrel=1e-11, limit=400)[0]

    def formula(eta: Array) -> float:
        return float(special.digamma(eta[0]) - special.digamma(eta.sum()))

    eta = np.array([2.0, 3.0, 5.0])
    small = eta / eta.sum()
    # Below 1 the density has a pole; with x = s^5 it has none.
    at_small = integrate.quad(
        lambda s: 5 * np.log(s) * 5 * (1 - s**5) ** (-0.2) / special.beta(0.2, 0.8), 0, 1, epsabs=1e-11, epsrel=1e-11, limit=400
    )[0]
    return {
        "exact": exact(2.0, 8.0),
        "formula": formula(eta),
        "simplex": formula(small),
        "exact_simplex": at_small,
        "many": formula(100 * eta),
        "exact_many": exact(200.0, 800.0),
        "limit": np.log(0.2),
    }


WORDS = np.array([[0, 0, 1], [0, 1, 0], [2, 2, 1], [2, 1, 2]])  # four documents of three words each


class Toy:
    """Topics on the four documents: the updates with ``extra`` in the Dirichlets, and the bound of the right model."""

    alpha, gamma, kinds = 0.5, 0.3, 3

    def __init__(self, topics: int) -> None:
        self.topics = topics
        self.seen = np.eye(self.kinds)[WORDS]  # documents, tokens, words

    def means(self, parameters: Array) -> Array:
        return special.digamma(parameters) - special.digamma(parameters.sum(axis=-1, keepdims=True))

    def renew_z(self, mix: Array, words: Array) -> Array:
        return special.softmax(self.means(mix)[:, None, :] + self.means(words).T[WORDS], axis=-1)

    def renew_mix(self, z: Array, extra: float) -> Array:
        return self.alpha + extra + z.sum(axis=1)

    def renew_words(self, z: Array, extra: float) -> Array:
        return self.gamma + extra + np.einsum("ilk,ilv->kv", z, self.seen)

    def bound(self, z: Array, mix: Array, words: Array) -> float:
        def dirichlet(prior: float, found: Array) -> float:
            """Mean of log prior less log factor."""
            log_constant = special.gammaln(found).sum(axis=-1) - special.gammaln(found.sum(axis=-1))
            size = found.shape[-1]
            prior_constant = size * special.gammaln(prior) - special.gammaln(size * prior)
            return float((log_constant - prior_constant + ((prior - found) * self.means(found)).sum(axis=-1)).sum())

        tokens = z * (self.means(mix)[:, None, :] + self.means(words).T[WORDS] - np.log(z))
        return dirichlet(self.alpha, mix) + dirichlet(self.gamma, words) + float(tokens.sum())

    def fit(self, z: Array, extra: float, sweeps: int = 150) -> tuple[tuple[Array, Array, Array], Array]:
        """The factors and the bound after each single update, from the first full set on."""
        mix, words, path = self.renew_mix(z, extra), self.renew_words(z, extra), []
        for _ in range(sweeps):
            z = self.renew_z(mix, words)
            path.append(self.bound(z, mix, words))
            mix = self.renew_mix(z, extra)
            path.append(self.bound(z, mix, words))
            words = self.renew_words(z, extra)
            path.append(self.bound(z, mix, words))
        return (z, mix, words), np.array(path)

    def log_evidence(self) -> float:
        """By listing every assignment of topics to tokens."""
        size = WORDS.size
        every = (np.arange(self.topics**size)[:, None] // self.topics ** np.arange(size)) % self.topics
        one = np.eye(self.topics)[every].reshape(-1, *WORDS.shape, self.topics)

        def dirichlet(prior: float, counts: Array) -> Array:
            whole, top = counts.shape[-1] * prior, counts.sum(axis=-1)
            ratio = (special.gammaln(prior + counts) - special.gammaln(prior)).sum(axis=-1)
            return (ratio + special.gammaln(whole) - special.gammaln(whole + top)).sum(axis=-1)

        return float(
            special.logsumexp(dirichlet(self.alpha, one.sum(axis=2)) + dirichlet(self.gamma, np.einsum("nilk,ilv->nkv", one, self.seen)))
        )


def nr10() -> Figures:
    toy, single = Toy(2), Toy(1)
    starts = [np.random.default_rng(seed).dirichlet(np.ones(2), WORDS.shape) for seed in range(8)]
    paths = {extra: [toy.fit(z, extra) for z in starts] for extra in (0.0, 1.0)}
    best = {extra: max(found, key=lambda fit: fit[1][-1]) for extra, found in paths.items()}
    (z, mix, words), path = best[0.0]
    rng = np.random.default_rng(0)

    def shaken(size: float) -> float:
        new_z = z * np.exp(size * rng.normal(size=z.shape))
        nudged = [part * np.exp(size * rng.normal(size=part.shape)) for part in (mix, words)]
        return toy.bound(new_z / new_z.sum(axis=-1, keepdims=True), *nudged)

    one = single.fit(np.ones((*WORDS.shape, 1)), 0.0, 2)
    return {
        "evidence": toy.log_evidence(),
        "printed": path[-1],
        "tempting": best[1.0][1][-1],
        "tempting_all": max(fit[1].max() for fit in paths[1.0]),
        "fall": min(float(np.diff(fit[1]).min()) for fit in paths[0.0]),
        "step_loss": path[-1] - toy.bound(z, toy.renew_mix(z, 1.0), toy.renew_words(z, 1.0)),
        "settled": float(path[-1] - path[-30]),
        "shaken": max(shaken(size) for size in np.repeat([0.3, 0.1, 0.03], 100)),
        "one_topic": one[1][-1] - single.log_evidence(),
    }
