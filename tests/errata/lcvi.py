"""The computations behind the errata of the chapter on loss-calibrated variational inference.

One function per item, named after it: ``T43`` is computed by ``t43``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

Many items use one small problem: the posterior of ``theta`` is a standard normal, the approximation is ``N(m, 1)``, and
the utility is largest at 2. Calibration then shows as one number, the ``m`` where the calibrated bound is largest: 0
without a utility.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

Array = NDArray[np.float64]
Figures = dict[str, float]

EPS = np.linspace(-9.0, 9.0, 1_801)
WEIGHT = stats.norm.pdf(EPS) / stats.norm.pdf(EPS).sum()

SCHOOLS = np.array([[28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18]], dtype=float)  # effects, standard errors


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def middles(size: int) -> Array:
    """The middles of equal slices of (0, 1): points that stand for a uniform variable."""
    return (np.arange(size) + 0.5) / size


def largest(objective: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one number is largest, by a search."""
    return float(optimize.minimize_scalar(lambda x: -objective(x), bounds=(low, high), options={"xatol": 1e-9}).x)


def normal_mean(f: Callable[[Array], Array], mean: float = 0.0, sd: float = 1.0) -> float:
    """A mean under a normal by the trapezium rule, exact to rounding for a smooth function."""
    return float(WEIGHT @ f(mean + sd * EPS))


def bump(theta: Array) -> Array:
    """The small problem's utility: 1 at its best, 0 far away."""
    return np.exp(-0.5 * (theta - 2) ** 2)


def shift(log_u: Callable[[Array], Array]) -> float:
    """The small problem's calibrated mean: where minus the divergence plus the mean log utility is largest."""
    return largest(lambda m: -0.5 * m**2 + normal_mean(log_u, m), -3.0, 3.0)


def t15() -> Figures:
    p, q = stats.norm(0.5, 1.0), stats.norm(0.8, 0.4)

    def risk(law: stats.rv_continuous, h: float) -> float:
        return normal_mean(lambda theta: (theta - h) ** 2, law.mean(), law.std())

    def q_optimal(law: stats.rv_continuous) -> float:
        return largest(lambda h: -risk(law, h), -5.0, 5.0)

    means, sds = np.linspace(-0.5, 1.5, 11), np.array([0.01, 0.4, 1.0])
    pairs = [(m, s, q_optimal(stats.norm(m, s))) for m in means for s in sds]
    best_p = min(pairs, key=lambda pair: risk(p, pair[2]))
    best_q = min(pairs, key=lambda pair: risk(stats.norm(*pair[:2]), pair[2]))
    as_narrow = [pair for pair in pairs if pair[1] == best_q[1]]  # as good by that rule: which one wins is rounding
    return {
        "p_risk": risk(p, q_optimal(q)),
        "q_risk": risk(q, q_optimal(q)),
        "least": risk(p, q_optimal(p)),
        "sd_by_q_risk": best_q[1],
        "q_risk_least": max(risk(stats.norm(m, s), h) for m, s, h in as_narrow),
        "p_risk_then": max(risk(p, h) for _, _, h in as_narrow),
        "mean_by_p_risk": best_p[0],
    }


def t42() -> Figures:
    theta = np.linspace(-12.0, 14.0, 26_001)
    p = 0.75 * stats.norm.pdf(theta, 0.0, 1.0) + 0.25 * stats.norm.pdf(theta, 5.0, 0.7)

    def mean(f: Array) -> float:
        return float(np.trapezoid(f * p, theta))

    # KL(p || q) up to the entropy of p, by a search and not by the formula that it is to confirm.
    fitted = optimize.minimize(lambda v: -mean(stats.norm.logpdf(theta, v[0], np.exp(v[1]))), np.zeros(2), method="BFGS").x
    centre = mean(theta)
    return {
        "mean": centre,
        "mean_q": float(fitted[0]),
        "variance": mean((theta - centre) ** 2),
        "variance_q": float(np.exp(2 * fitted[1])),
        "third": mean((theta - centre) ** 3),
        "third_q": float(stats.norm.moment(3) * np.exp(3 * fitted[1])),
        "fourth": mean((theta - centre) ** 4),
        "fourth_q": float(stats.norm.moment(4) * np.exp(4 * fitted[1])),
    }


def t43() -> Figures:
    figures: Figures = {}
    y = np.array([1.1, 0.2, 0.7, -0.4])
    for name, unit in (("whole", 1.0), ("hundredth", 0.01)):  # the same measurements, written in another unit
        theta = unit * np.linspace(-12.0, 12.0, 24_001)
        log_joint = stats.norm.logpdf(unit * y[:, None], theta, unit).sum(axis=0) + stats.norm.logpdf(theta, 0.0, 2 * unit)
        utility = np.exp(-0.5 * ((theta - 0.3 * unit) / unit) ** 2)  # of a decision of 0.3: no unit left
        q = stats.norm(0.5 * unit, 0.6 * unit)
        density = q.pdf(theta)
        log_evidence = float(np.log(np.trapezoid(np.exp(log_joint), theta)))
        elbo = float(np.trapezoid(density * (log_joint - q.logpdf(theta)), theta))
        term = float(np.trapezoid(density * np.log(utility), theta))
        gain = float(np.log(np.trapezoid(np.exp(log_joint) * utility, theta))) - log_evidence
        divergence = float(np.trapezoid(density * (q.logpdf(theta) - log_joint + log_evidence), theta))
        figures |= {
            f"evidence_{name}": log_evidence,
            f"gain_{name}": gain,
            f"printed_{name}": elbo + term,
            f"right_{name}": term - divergence,
            f"off_{name}": abs(elbo - log_evidence + divergence),
        }
    return figures


def t44() -> Figures:
    def pull_right(theta: Array) -> Array:
        return -np.logaddexp(0.0, -2 * theta)

    def fall(theta: Array) -> Array:
        return stats.norm.cdf(theta, 1.0, 0.3)

    # The height of the fall at which the two pulls cancel at m = 0: the mean of eps log u is the slope of the mean of log u.
    step = float((WEIGHT * EPS) @ pull_right(EPS) / ((WEIGHT * EPS) @ fall(EPS)))

    def tilting(theta: Array) -> Array:
        """Log of a utility that pulls right where it is small and, by a fall near 1, left where it is large."""
        return pull_right(theta) - step * fall(theta)

    def calibrated(beta: float, log_u: Callable[[Array], Array] = lambda theta: np.log(bump(theta))) -> float:
        return shift(lambda theta: np.logaddexp(np.log(beta), log_u(theta)) if beta > 0 else log_u(theta))

    falling = [calibrated(beta) for beta in (0.0, 0.1, 1.0, 10.0, 1000.0)]
    slope_0, slope_1 = (np.abs(np.gradient(np.log(beta + bump(EPS)), EPS)) for beta in (0.0, 1.0))
    return {
        "zero": falling[0],
        "tenth": falling[1],
        "one": falling[2],
        "ten": falling[3],
        "rises": float((np.diff(falling) > 0).sum()),
        "slopes_ordered": float((slope_0 >= slope_1).mean()),
        # The utility bump + 0.5 has the infimum 0.5: its smallest shift is -0.5.
        "above_zero": shift(lambda theta: np.log(bump(theta) + 0.5)),
        "above_lowest": shift(lambda theta: np.log(bump(theta) + (0.5 - 0.5))),
        "tilting_zero": calibrated(0.0, tilting),
        "tilting_half": calibrated(0.5, tilting),
        "tilting_many": calibrated(100.0, tilting),
        "size_small": abs(normal_mean(lambda theta: np.log(1e-6 + bump(theta)))),
        "size_large": abs(normal_mean(lambda theta: np.log(1e6 + bump(theta)))),
    }


def t45() -> Figures:
    def calibrated(bound: float, scale: float = 1.0) -> tuple[Array, float, float]:
        """Utilities ``scale * (bound - loss)`` of the loss ``1 - bump``, the spread of their logarithm, and the shift."""

        def utility(theta: Array) -> Array:
            return scale * ((bound - 1) + bump(theta))  # in this order: nothing is lost where the loss is nearly 1

        log_u = np.log(utility(EPS))
        return utility(EPS), float(np.sqrt(WEIGHT @ (log_u - WEIGHT @ log_u) ** 2)), shift(lambda theta: np.log(utility(theta)))

    far, far_spread, far_shift = calibrated(1000.0)
    _, tight_spread, tight_shift = calibrated(1.0)
    tiny, tiny_spread, tiny_shift = calibrated(1.0, 1e-3)
    return {
        "least_far": far.min(),
        "most_far": far.max(),
        "spread_far": far_spread,
        "shift_far": far_shift,
        "spread_tight": tight_spread,
        "shift_tight": tight_shift,
        "most_tiny": tiny.max(),
        "spread_tiny": tiny_spread,
        "shift_tiny": tiny_shift,
    }


def t46() -> Figures:
    rate, l, step = 0.7, 1.5, 1e-5

    def slope(at: float) -> float:
        return (np.exp(-rate * (at + step)) - np.exp(-rate * (at - step))) / (2 * step)

    return {
        "truth": slope(l),
        "printed": -rate * np.exp(rate * l),
        "right": -rate * np.exp(-rate * l),
        "at_zero": slope(0.0),
        "at_zero_printed": -rate * np.exp(rate * 0.0),
        "crossing": -1 / slope(0.0),  # where the tangent at 0 meets 0: the quantile that belongs to this rate
        "inverse": 1 / rate,
    }


def t47(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    figures: Figures = {}
    spread = 1.0  # log u is N(0, spread^2), so log E u is spread^2 / 2
    truth = spread**2 / 2
    for draws in (10, 100):
        log_u = spread * rng.normal(size=(50_000, draws))
        u = np.exp(log_u)
        mean, variance = u.mean(axis=1), u.var(axis=1, ddof=1)
        naive = np.log(mean) - truth
        printed = log_u.mean(axis=1) + variance / (2 * mean**2) - truth
        right = np.log(mean) + variance / (2 * draws * mean**2) - truth
        figures |= {
            f"naive_{draws}": naive.mean(),
            f"printed_{draws}": printed.mean(),
            f"right_{draws}": right.mean(),
            f"z_naive_{draws}": z_score(naive, 0.0),
            f"z_printed_{draws}": z_score(printed, 0.0),
            f"z_right_{draws}": z_score(right, 0.0),
        }

    def limit(spread: float) -> float:
        """The printed formula with the exact mean and variance: what ever more draws lead to."""
        mean = normal_mean(np.exp, 0.0, spread)
        variance = normal_mean(lambda x: (np.exp(x) - mean) ** 2, 0.0, spread)
        return variance / (2 * mean**2) - np.log(mean)

    return figures | {"limit": limit(1.0), "limit_narrow": limit(0.2), "jensen_narrow": -np.log(normal_mean(np.exp, 0.0, 0.2))}


def nested(rng: np.random.Generator, runs: int, draws: int) -> Array:
    """Losses ``(y - h)^2`` of ``draws`` predictions for each of ``runs`` parameters; both layers have variance 1/2."""
    theta = np.sqrt(0.5) * rng.normal(size=(runs, 1))
    return (theta + np.sqrt(0.5) * rng.normal(size=(runs, draws))) ** 2


def nested_term(scale: float) -> float:
    """The utility term of ``u = exp(-loss / scale)`` in that problem, by quadrature in both layers."""
    theta = np.sqrt(0.5) * EPS
    inner = np.exp(-((theta[:, None] + theta) ** 2) / scale) @ WEIGHT
    return float(WEIGHT @ np.log(inner))


def t48(seed: int) -> Figures:
    bound = 2.0
    loss = nested(np.random.default_rng(seed), 20_000, 100)
    naive = np.log(np.exp(-loss / bound).mean(axis=1))  # Equation 4.5 put into Equation 4.4
    equation = -loss.mean(axis=1) / bound  # Equation 4.6
    term = nested_term(bound)
    return {
        "term": term,
        "naive": naive.mean(),
        "equation": equation.mean(),
        "linear": -(0.5 + 0.5) / bound,
        "z_naive": z_score(naive, term),
        "z_equation": z_score(equation, term),
        "z_linear": z_score(equation, -(0.5 + 0.5) / bound),
    }


def t49(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    theta = 0.3 * rng.normal(size=500)
    y = np.exp(theta[:, None] + 0.9 * rng.normal(size=(500, 200)))

    def log_u(h: float) -> Array:
        return -((y - h) ** 2)

    def term(h: float) -> float:
        return float(np.log(np.exp(log_u(h)).mean(axis=1)).mean())

    right, printed = largest(term, 0.0, 5.0), largest(lambda h: float(log_u(h).mean()), 0.0, 5.0)
    points = np.exp(0.9 * stats.norm.ppf(middles(801)))
    nodes, weights = hermegauss(11)

    def exact(h: float) -> float:
        return float(sum(w * np.log(np.exp(-((np.exp(0.3 * x) * points - h) ** 2)).mean()) for x, w in zip(nodes, weights, strict=True)))

    return {
        "right": right,
        "exact": largest(exact, 0.0, 5.0),
        "printed": printed,
        "mean": y.mean(),
        "term_right": term(right),
        "term_printed": term(printed),
        "gain_right": float(np.exp(log_u(right)).mean()),
        "gain_printed": float(np.exp(log_u(printed)).mean()),
    }


def t51() -> Figures:
    def printed(tau: float) -> float:
        return float(stats.gamma.pdf(np.exp(tau), 1.0) * np.exp(tau))

    def mean_of(f: Callable[[float], float]) -> float:
        return float(integrate.quad(f, -40.0, 6.0, epsabs=1e-12, points=[0.0])[0])

    def as_variance(x: float) -> float:
        """The right-hand side taken for a density of the variance itself, as the printed left-hand side has it."""
        return printed(np.log(x))

    return {
        "mass": mean_of(printed),
        "variance": mean_of(lambda tau: np.exp(tau) * printed(tau)),
        "variance_printed": float(integrate.quad(lambda x: x * as_variance(x), 0.0, 60.0)[0]),
        "half": float(integrate.quad(as_variance, 0.0, np.log(2.0))[0]),  # up to the median of Gamma(1, 1)
        "half_right": float(integrate.quad(printed, -40.0, np.log(np.log(2.0)))[0]),
    }


def p01() -> Figures:
    x = np.linspace(-1.0, 1.0, 21)
    figures: Figures = {}
    theta = np.linspace(1.2, 1.8, 24_001)
    y = 1.5 * x + 0.07 * np.sin(7.0 * np.arange(21))  # a wave in place of noise with standard deviation 0.05
    continuous = stats.norm.logpdf(y[:, None], theta * x[:, None], 0.05).sum(axis=0) + stats.norm.logpdf(theta)
    rate = np.linspace(1e-4, 12.0, 24_001)
    counts = np.array([2, 4, 3, 1, 3])
    discrete = stats.poisson.logpmf(counts[:, None], rate).sum(axis=0) + stats.gamma.logpdf(rate, 2.0)
    for name, grid, log_joint, utility in (
        ("continuous", theta, continuous, np.exp(-10 * (theta - 1.4) ** 2)),
        ("counts", rate, discrete, np.exp(-0.5 * (rate - 2.0) ** 2)),
    ):
        log_evidence = float(np.log(np.trapezoid(np.exp(log_joint - log_joint.max()), grid)) + log_joint.max())
        posterior = np.exp(log_joint - log_evidence)
        term = float(np.trapezoid(posterior * np.log(utility), grid))  # q is the posterior: its bound is the evidence
        figures |= {
            f"evidence_{name}": log_evidence,
            f"gain_{name}": float(np.log(np.trapezoid(posterior * utility, grid))),
            f"printed_{name}": log_evidence + term,
            f"right_{name}": term,
        }
    return figures


def schools_posterior(variance_mu: float) -> tuple[float, float, float]:
    """Mean and standard deviation of mu, and the mean of tau, with the schools' effects integrated out."""
    y, sigma = SCHOOLS
    mu, t = np.linspace(-25.0, 35.0, 481), np.linspace(-8.0, 6.0, 561)
    tau = np.exp(t)
    spread = np.sqrt(sigma[:, None] ** 2 + tau**2)
    log_density = stats.halfcauchy.logpdf(tau, scale=5.0) + t + stats.norm.logpdf(mu[:, None], 0.0, np.sqrt(variance_mu))
    for j in range(y.size):
        log_density = log_density - 0.5 * ((y[j] - mu[:, None]) / spread[j]) ** 2 - np.log(spread[j])
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    by_mu = weight.sum(axis=1)
    mean = float(by_mu @ mu)
    return mean, float(np.sqrt(by_mu @ (mu - mean) ** 2)), float(weight.sum(axis=0) @ tau)


def p02() -> Figures:
    deviation, variance = schools_posterior(25.0), schools_posterior(5.0)
    names = ("mu", "sd", "tau")
    return {f"{name}_right": value for name, value in zip(names, deviation, strict=True)} | {
        f"{name}_variance": value for name, value in zip(names, variance, strict=True)
    }


def p03(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    law = stats.halfcauchy(scale=5.0)
    tau = 3.6 + 3.0 * rng.normal(size=100_000)
    t = 1.2 + 0.6 * rng.normal(size=100_000)  # a normal on log tau instead

    def log_prior_t(t: Array) -> Array:
        return law.logpdf(np.exp(t)) + t

    grid = np.linspace(-25.0, 25.0, 50_001)
    finite = log_prior_t(t)
    return {
        "negative": float((tau < 0).mean()),
        "theory": float(stats.norm.cdf(-3.6 / 3.0)),
        "z_theory": z_score((tau < 0).astype(float), float(stats.norm.cdf(-3.6 / 3.0))),
        "infinite": float(np.isneginf(law.logpdf(tau)).mean()),
        "finite_ten": float((1 - stats.norm.cdf(-3.6 / 3.0)) ** 10),
        "infinite_right": float(np.isneginf(finite).mean()),
        "right": finite.mean(),
        "exact": normal_mean(log_prior_t, 1.2, 0.6),
        "z_right": z_score(finite, normal_mean(log_prior_t, 1.2, 0.6)),
        "mass": float(np.trapezoid(np.exp(log_prior_t(grid)), grid)),
        "mass_bare": float(np.trapezoid(law.pdf(np.exp(grid)), grid)),
    }


def p04(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    rank, rows, columns = 20, 1_000, 100
    W, Z = rng.normal(size=(rows, rank)), rng.normal(size=(rank, columns))
    try:
        refused = Z @ W is None
    except ValueError:
        refused = True
    entry = (10 * rng.normal(size=(50_000, rank)) * 10 * rng.normal(size=(50_000, rank))).sum(axis=1)
    return {
        "refused": float(refused),
        "rows": float((W @ Z).shape[0]),
        "columns": float((W @ Z).shape[1]),
        "sd": entry.std(),
        "z_sd": z_score(entry**2, rank * 10.0**4),
        "z_variance": z_score(entry**2, rank * 10.0**2),
        "sd_theory": np.sqrt(rank) * 100.0,
        "variance_theory": np.sqrt(rank) * 10.0,
    }


def p05(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    term = nested_term(1.0)
    figures: Figures = {"term": term, "closed": -0.5 * np.log(2) - 0.25}
    for draws in (1, 10, 100):
        loss = nested(rng, 20_000, draws)
        naive, jensen = np.log(np.exp(-loss).mean(axis=1)), -loss.mean(axis=1)
        figures |= {
            f"naive_{draws}": naive.mean(),
            f"jensen_{draws}": jensen.mean(),
            f"z_naive_{draws}": z_score(naive, term),
            f"z_jensen_{draws}": z_score(jensen, term),
            f"z_own_{draws}": z_score(jensen, -1.0),
        }
    return figures


def p07() -> Figures:
    y = stats.gamma(2.0).ppf(middles(20_001))
    symmetric = stats.norm(2.0, np.sqrt(2.0)).ppf(middles(20_001))

    def best(gamma: float, y: Array = y) -> float:
        return largest(lambda h: float(np.exp(-gamma * (y - h) ** 2).mean()), 0.0, 6.0)

    def best_pinball(gamma: float) -> float:  # of level 0.8, for the symmetric outcomes
        def loss(h: float) -> Array:
            return np.maximum(0.8 * (symmetric - h), 0.2 * (h - symmetric))

        return largest(lambda h: float(np.exp(-gamma * loss(h)).mean()), 0.0, 6.0)

    mean = float(y.mean())
    rate = 1 / float(np.quantile((y - mean) ** 2, 0.9))
    found = best(rate)
    return {
        "bayes": largest(lambda h: -float(((y - h) ** 2).mean()), 0.0, 6.0),
        "printed": found,
        "small": best(1e-4),
        "excess": float(((y - found) ** 2).mean() / ((y - mean) ** 2).mean() - 1),
        "symmetric": best(rate, symmetric),
        "quantile": float(np.quantile(symmetric, 0.8)),
        "pinball": best_pinball(10.0),
        "pinball_small": best_pinball(1e-3),
    }


def tr14() -> Figures:
    loss = 1 - bump(EPS)  # the posterior is the approximation: no divergence, and nothing else to blame
    mean = float(WEIGHT @ loss)
    bound = 1.0
    low, high = np.log((bound - 1) + bump(EPS)), np.log(bound) - loss / bound
    quantile, step = 0.8, 1e-5
    tangent = (np.exp(-step / quantile) - np.exp(step / quantile)) / (2 * step)  # of exp(-loss / quantile) at no loss
    return {
        "gain": float(np.log(bound - mean)),
        "exact": float(WEIGHT @ low),
        "linearised": float(WEIGHT @ high),
        "below": float((high < low).sum()),
        "quantile": quantile,
        "crossing": -1 / tangent,
        "at_crossing": float(np.exp(1 / tangent / quantile)),
        "negative": float(WEIGHT @ (loss > quantile)),
    }


def tr15() -> Figures:
    def term(alpha: float, beta: float, m: float = 0.7) -> float:
        return normal_mean(lambda theta: np.log(beta + alpha * bump(theta)), m)

    def inner(alpha: float, beta: float, m: float = 0.7) -> float:
        return normal_mean(lambda theta: np.log1p(alpha / beta * bump(theta)), m)

    def calibrated(alpha: float, beta: float) -> float:
        return shift(lambda theta: np.log(beta + alpha * bump(theta)))

    cases = [(1.0, 0.3), (4.0, 2.0), (0.5, 70.0)]
    return {
        "off_printed": max(abs(term(a, b) - inner(a, b) - np.log(b)) for a, b in cases),
        "off_no_constant": min(abs(term(a, b) - inner(a, b)) for a, b in cases),
        "far": inner(1.0, 1e6),
        "far_shift": calibrated(1.0, 1e6),
        "zero_1": calibrated(1.0, 0.0),
        "zero_50": calibrated(50.0, 0.0),
        "one_1": calibrated(1.0, 1.0),
        "one_50": calibrated(50.0, 1.0),
    }


NODES, MASSES = hermegauss(40)


def schools_bound(v: Array, strength: float) -> Array:
    """Minus the linearised calibrated bound of eight schools: normals on mu, log tau and the effects, tilted loss at 0.2.

    The means are closed forms, but for the prior of tau, and the decisions are at their best: there is no noise. ``v`` has
    20 numbers on its last axis: eight means, eight log deviations, and those of mu and log tau.
    """
    y, sigma = SCHOOLS
    mean, log_sd, (mu, t), log_rest = v[..., :8], v[..., 8:16], np.moveaxis(v[..., 16:18], -1, 0), v[..., 18:]
    sd, (sd_mu, sd_t) = np.exp(log_sd), np.moveaxis(np.exp(log_rest), -1, 0)
    log_likelihood = -0.5 * (((y - mean) ** 2 + sd**2) / sigma**2).sum(axis=-1)
    squares = ((mean - mu[..., None]) ** 2 + sd**2).sum(axis=-1) + 8 * sd_mu**2
    log_effects = -8 * t - 0.5 * np.exp(-2 * t + 2 * sd_t**2) * squares  # the mean of tau^-2, and of the squares
    log_mu = -0.5 * (mu**2 + sd_mu**2) / 25
    log_tau = t - np.log1p(np.exp(2 * (t[..., None] + sd_t[..., None] * NODES)) / 25) @ (MASSES / MASSES.sum())
    entropy = log_sd.sum(axis=-1) + log_rest.sum(axis=-1)
    # A normal's risk under the tilted loss, at its own quantile, is its deviation times the density there.
    loss = stats.norm.pdf(stats.norm.ppf(0.2)) * np.sqrt(sd**2 + sigma**2).sum(axis=-1)
    return strength * loss - (log_likelihood + log_effects + log_mu + log_tau + entropy)


def tr16() -> Figures:
    y, sigma = SCHOOLS
    steps = 1e-5 * np.eye(20)

    def fit(strength: float, start: Array) -> Array:
        def slopes(v: Array, strength: float) -> Array:
            return (schools_bound(v + steps, strength) - schools_bound(v - steps, strength)) / 2e-5

        return optimize.minimize(schools_bound, start, args=(strength,), jac=slopes, method="BFGS", options={"gtol": 1e-5}).x

    def tilted(y: Array, h: Array) -> Array:
        return np.where(y >= h, 0.2, 0.8) * np.abs(y - h)

    def predictive_sd(v: Array) -> Array:
        return np.sqrt(np.exp(2 * v[8:16]) + sigma**2)

    def decisions(v: Array) -> Array:
        return v[:8] + predictive_sd(v) * stats.norm.ppf(0.2)

    vi = fit(0.0, np.concatenate([y / 4 + 4, np.full(8, 1.5), [4.0, 1.5, 0.5, -1.0]]))
    risk = float(tilted(y, decisions(vi)).mean())
    loss = tilted(vi[:8] + predictive_sd(vi) * stats.norm.ppf(middles(2_001))[:, None], decisions(vi))
    bounds = {str(level): float(np.quantile(loss, level / 100)) for level in (50, 70, 90, 95)} | {"far": 1000.0}
    figures: Figures = {"risk": risk}
    for name, bound in bounds.items():
        calibrated = decisions(fit(1 / bound, vi))
        figures |= {f"bound_{name}": bound, f"saved_{name}": 1 - float(tilted(y, calibrated).mean()) / risk}
    return figures


def pr2(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    draws, runs, sd = 30, 60_000, np.sqrt(0.5)
    theta = sd * rng.normal(size=runs)
    loss = (theta[:, None] + sd * rng.normal(size=(runs, draws))) ** 2
    naive, linear = np.log(np.exp(-loss).mean(axis=1)), -loss.mean(axis=1)
    grid = sd * EPS
    u = np.exp(-((grid[:, None] + grid) ** 2))
    first, second = u @ WEIGHT, u**2 @ WEIGHT
    error = naive - np.interp(theta, grid, np.log(first))  # against the exact inner mean at the same parameter
    theory = -float(WEIGHT @ (second / first**2 - 1)) / (2 * draws)
    term = float(WEIGHT @ np.log(first))
    return {
        "term": term,
        "naive": naive.mean(),
        "bias": error.mean(),
        "theory": theory,
        "linear": linear.mean(),
        "z_bias": z_score(error, 0.0),
        "z_theory": z_score(error, theory),
        "z_linear": z_score(linear, -1.0),
        "z_minus": z_score(-linear, -1.0),
        "z_outside": z_score(linear, term),  # the inner mean moved outside the logarithm
    }
