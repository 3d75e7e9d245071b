"""The computations behind the errata of the chapter on gradients.

One function per item, named after it: ``T08`` is computed by ``t08``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

Most items use one model, whose answers are known: a standard normal ``theta``, one observation ``Y`` of it with unit
noise, and the approximation ``N(MU, SIGMA^2)``. Derivatives are differences of the formulas as they stand, so that no
algebra of ours comes between a printed formula and its figure.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy import optimize, special, stats

Array = NDArray[np.float64]
Figures = dict[str, float]

Y, MU, SIGMA = 1.5, 0.4, 0.8
POSTERIOR = (Y / 2, np.sqrt(0.5))  # mean, standard deviation


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def middles(size: int) -> Array:
    """The middles of equal slices of (0, 1): points that stand for a uniform variable."""
    return (np.arange(size) + 0.5) / size


def distance(points: Array, law: stats.rv_continuous) -> float:
    """Largest gap between the distribution of equally weighted points and a law."""
    return float(np.abs(law.cdf(np.sort(points)) - middles(points.size)).max())


def law_score(draws: Array, law: stats.rv_continuous) -> float:
    """A Kolmogorov-Smirnov test of a law, its p-value told as the standard errors of a normal with the same two tails."""
    return float(stats.norm.isf(stats.kstest(draws, law.cdf).pvalue / 2))


def expect(f: Callable[[Array], Array], law: stats.rv_continuous, low: float = -12.0, high: float = 12.0) -> float:
    """A mean under a smooth density by the trapezium rule, which is exact to rounding where the density fades at both ends."""
    x = np.linspace(low, high, 40_001)
    return float(np.trapezoid(f(x) * law.pdf(x), x))


def slope(f: Callable, x: float, step: float = 1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


def normal(x, mean=0.0, sd=1.0):
    """Log density."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def log_joint(theta):
    return normal(theta) + normal(Y, theta)


def elbo(mu: float, sigma: float, mean: float = POSTERIOR[0], sd: float = POSTERIOR[1]) -> float:
    """Log evidence minus the divergence between two normals: no draw, no map and no Jacobian."""
    evidence = normal(Y, 0.0, np.sqrt(2.0))  # of the one observation; other data move the bound, not its slopes
    return float(evidence - np.log(sd / sigma) - (sigma**2 + (mu - mean) ** 2) / (2 * sd**2) + 0.5)


def true_slopes(sigma: float = SIGMA) -> tuple[float, float]:
    """Derivatives of the bound by the location and by the scale."""
    return slope(lambda m: elbo(m, sigma), MU), slope(lambda s: elbo(MU, s), sigma)


def entropy(sigma: float) -> float:
    return float(0.5 * np.log(2 * np.pi * np.e) + np.log(sigma))


def log_weight(theta: Array, mu: float = MU, sigma: float = SIGMA) -> Array:
    """The letter g of the thesis: log joint minus log q."""
    return log_joint(theta) - normal(theta, mu, sigma)


def scores(theta: Array, mu: float = MU, sigma: float = SIGMA) -> tuple[Array, Array]:
    """Derivatives of log q at fixed ``theta``, by the location and by the scale."""
    return slope(lambda m: normal(theta, m, sigma), mu), slope(lambda s: normal(theta, mu, s), sigma)


def paths(eps: Array, mu: float = MU, sigma: float = SIGMA) -> tuple[Array, Array]:
    """Derivatives of g along ``theta = mu + sigma eps`` while the parameters inside log q stay."""
    return (
        slope(lambda m: log_weight(m + sigma * eps, mu, sigma), mu),
        slope(lambda s: log_weight(mu + s * eps, mu, sigma), sigma),
    )


def totals(eps: Array, mu: float = MU, sigma: float = SIGMA) -> tuple[Array, Array]:
    """Derivatives of g along the same map with nothing held: what differentiating a draw through its program gives."""
    return (
        slope(lambda m: log_weight(m + sigma * eps, m, sigma), mu),
        slope(lambda s: log_weight(mu + s * eps, mu, s), sigma),
    )


def climb(rng: np.random.Generator, entropies: int) -> float:
    """Where stochastic ascent on log sigma ends, with one draw a step and the entropy's slope counted so many times."""
    log_sigma = np.zeros(200)  # runs side by side
    for t in range(2_000):
        eps = rng.normal(size=log_sigma.size)
        sigma = np.exp(log_sigma)
        theta = POSTERIOR[0] + sigma * eps
        log_sigma = log_sigma + ((Y - 2 * theta) * eps * sigma + entropies) / (t + 50)
    return float(np.exp(log_sigma).mean())


def t08(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    eps = rng.normal(size=100_000)

    def log_det(sigma: float) -> float:
        return float(np.log(np.abs(slope(lambda e: MU + sigma * e, 0.0))))

    printed = slope(lambda s: log_weight(MU + s * eps, MU, s) + log_det(s), SIGMA)
    no_det = slope(lambda s: log_weight(MU + s * eps, MU, s), SIGMA)
    no_q = slope(lambda s: log_joint(MU + s * eps) + log_det(s), SIGMA)
    truth = true_slopes()[1]
    return {
        "truth": truth,
        "printed": printed.mean(),
        "no_det": no_det.mean(),
        "no_q": no_q.mean(),
        "z_printed": z_score(printed, truth),
        "z_doubled": z_score(printed, truth + slope(entropy, SIGMA)),
        "z_no_det": z_score(no_det, truth),
        "z_no_q": z_score(no_q, truth),
        "end_printed": climb(rng, 2),
        "end_right": climb(rng, 1),
        "posterior": POSTERIOR[1],
    }


def t09() -> Figures:
    mu = np.array([0.3, -1.0, 0.5])
    L = np.array([[1.2, 0.0, 0.0], [0.4, 0.7, 0.0], [-0.3, 0.5, 0.9]])
    theta = np.array([0.8, -0.2, 1.1])

    def reverse(point: Array) -> Array:
        return np.linalg.solve(L, point - mu)

    columns = [slope(lambda x, i=i: reverse(np.where(np.arange(3) == i, x, theta)), theta[i]) for i in range(3)]
    base = np.exp(normal(reverse(theta)).sum())
    det = float(np.linalg.det(L))
    density = float(stats.multivariate_normal(mu, L @ L.T).pdf(theta))
    return {
        "reverse": float(abs(np.linalg.det(np.stack(columns, axis=1)))),
        "det": det,
        "inverse": 1 / det,
        "density": density,
        "density_right": float(base / det),
        "density_printed": float(base * det),
        "asymmetry": float(np.abs(L - L.T).max()),  # a covariance has none
    }


def t10() -> Figures:
    precision = np.array([[2.0, 0.6, -0.4], [0.6, 1.5, 0.3], [-0.4, 0.3, 1.0]])
    L = np.array([[0.9, 0.0, 0.0], [0.5, 0.6, 0.0], [-0.4, 0.3, 1.1]])
    low = np.tril_indices(3)

    def bound(entries: Array) -> float:
        """The part of the evidence lower bound that depends on the triangle, at the posterior's mean."""
        factor = np.zeros((3, 3))
        factor[low] = entries
        return float(-0.5 * np.trace(precision @ factor @ factor.T) + np.log(np.abs(np.diag(factor))).sum())

    entries = L[low]
    truth = np.array([slope(lambda x, i=i: bound(np.where(np.arange(6) == i, x, entries)), entries[i]) for i in range(6)])
    # Six points with the first two moments of a standard normal give the mean of a quadratic exactly.
    eps = np.sqrt(3) * np.concatenate([np.eye(3), -np.eye(3)])
    model = np.mean([np.outer(-precision @ L @ e, e) for e in eps], axis=0)
    inverse = 1 / np.diag(L)
    full = L + np.triu(np.full((3, 3), 0.2), 1)
    unit = np.eye(9).reshape(3, 3, 3, 3)  # unit[i, j] is 1 at its own place
    by_entry = np.array([[slope(lambda x, e=e: np.linalg.slogdet(full + x * e)[1], 0.0) for e in row] for row in unit])
    return {
        "vector": float(np.abs((model + inverse)[low] - truth).max()),
        "sum": float(np.abs((model + inverse.sum())[low] - truth).max()),
        "right": float(np.abs((np.tril(model) + np.diag(inverse))[low] - truth).max()),
        "stray": float(np.abs(np.triu(model, 1)).max()),
        "full": float(np.abs(by_entry - np.linalg.inv(full).T).max()),
        "full_diagonal": float(np.abs(by_entry - np.diag(1 / np.diag(full))).max()),
    }


def t11() -> Figures:
    law = stats.norm()
    mean_g, var_h = expect(lambda x: np.exp(x / 2), law), expect(lambda x: x**2, law)

    def variance(a: float) -> float:
        return expect(lambda x: (np.exp(x / 2) - mean_g - a * x) ** 2, law)

    cov = expect(lambda x: (np.exp(x / 2) - mean_g) * x, law)
    edge = 50.0
    printed = optimize.minimize_scalar(lambda a: -2 * a * cov, bounds=(-edge, edge)).x
    best = optimize.minimize_scalar(variance, bounds=(-edge, edge), options={"xatol": 1e-9}).x
    rho2 = cov**2 / (variance(0) * var_h)
    return {
        "plain": variance(0),
        "best": float(best),
        "theory": cov / var_h,
        "variance_best": variance(best),
        "variance_theory": (1 - rho2) * variance(0),
        "edge": edge,
        "printed": float(printed),
        "variance_printed": variance(float(printed)),
        "variance_double": variance(2 * cov / var_h),
    }


def t12(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    a = 2.0
    theta = MU + SIGMA * rng.normal(size=100_000)
    pilot = MU + SIGMA * rng.normal(size=10_000)  # a coefficient must not see the draws it is used on
    truth = true_slopes()[0]
    g, score = log_weight(theta), scores(theta)[0]
    lowered = g - a * (theta - MU)
    plain, printed = g * score, lowered * score
    pilot_score = scores(pilot)[0]
    coefficient = np.cov(log_weight(pilot) * pilot_score, pilot_score)[0, 1] / pilot_score.var()
    right = plain - coefficient * score
    return {
        "truth": truth,
        "plain": plain.mean(),
        "printed": printed.mean(),
        "right": right.mean(),
        "z_plain": z_score(plain, truth),
        "z_printed": z_score(printed, truth),
        "z_bias": z_score(printed, truth - a * slope(lambda m: m, MU)),  # the mean of h(theta) = theta is mu
        "z_right": z_score(right, truth),
        "z_value": z_score(lowered, elbo(MU, SIGMA)),
        "variance_plain": plain.var(),
        "variance_right": right.var(),
    }


def t13() -> Figures:
    mu, figures = 0.3, {}
    law = stats.norm(mu, 1.0)
    for name, k in (("slow", 0.5), ("middle", 2.0), ("fast", 10.0)):
        estimators = {"path": lambda x, k=k: -k * np.sin(k * x), "score": lambda x, k=k: np.cos(k * x) * (x - mu)}
        truth = slope(lambda m, k=k: np.cos(k * m) * np.exp(-(k**2) / 2), mu)
        for estimator, f in estimators.items():
            mean = expect(f, law)
            figures[f"{estimator}_{name}"] = expect(lambda x, f=f: f(x) ** 2, law) - mean**2
            figures[f"{estimator}_error_{name}"] = abs(mean - truth)
    return figures


def t19() -> Figures:
    lam, u = 2.0, middles(100_001)
    theta = lam * u

    def f(x: Array) -> Array:
        return -(x**2) / 2

    def log_q(width: float) -> float:
        return float(-np.log(width))  # inside the support, wherever that ends

    score = slope(log_q, lam)
    along = slope(lambda x: f(x * u), lam)
    return {
        "score": score,
        "gain": slope(lambda x: f(x * u).mean(), lam),
        "gain_score": (f(theta) * score).mean(),
        "bound": slope(lambda x: f(x * u).mean() - log_q(x), lam),
        "bound_score": ((f(theta) - log_q(lam)) * score).mean(),
        "bound_path": along.mean(),  # log q is flat along theta
        "bound_total": (along - score).mean(),
        "normal_score": expect(lambda x: scores(x)[0], stats.norm(MU, SIGMA)),
        "normal_gain": abs(expect(lambda x: f(x) * scores(x)[0], stats.norm(MU, SIGMA)) - slope(lambda m: -(m**2 + SIGMA**2) / 2, MU)),
    }


def t20() -> Figures:
    eps = np.array([-1.6, -0.5, 0.7, 1.0, 2.2])
    theta = MU + SIGMA * eps
    chain = slope(log_joint, theta) * slope(lambda s: MU + s * eps, SIGMA)
    log_det = slope(lambda s: float(np.log(s)), SIGMA)
    left = slope(lambda s: log_joint(MU + s * eps), SIGMA)
    mended = slope(lambda s: log_joint(MU + s * eps) + np.log(s), SIGMA)
    return {
        "left": left[2],
        "printed": chain[2] + log_det,
        "log_det": log_det,
        "off_printed": float(np.abs(left - chain - log_det).min()),
        "off_chain": float(np.abs(left - chain).max()),
        "off_mended": float(np.abs(mended - chain - log_det).max()),
    }


def fifty() -> tuple[Array, float]:
    """Fifty observations around 1.7 and the standard deviation of their noise: quantiles, so nothing is left to chance."""
    return stats.norm(1.7, 2.0).ppf(middles(50)), 2.0


def t21() -> Figures:
    y, noise = fifty()
    theta = np.linspace(-6, 6, 24_001)
    likelihood = normal(y, theta[:, None], noise).sum(axis=1)

    def moments(log_density: Array) -> tuple[float, float]:
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        mean = weight @ theta
        return float(mean), float(np.sqrt(weight @ (theta - mean) ** 2))

    joints = likelihood + sum(normal(theta) for _ in y)  # a sum of joints: one prior for each observation
    mean, sd = moments(likelihood + normal(theta))
    mean_printed, sd_printed = moments(joints)
    precision = 1 + y.size / noise**2
    return {
        "mean": mean,
        "sd": sd,
        "mean_theory": y.sum() / noise**2 / precision,
        "sd_theory": np.sqrt(1 / precision),
        "mean_printed": mean_printed,
        "sd_printed": sd_printed,
        "shift": (mean - mean_printed) / sd,
    }


def t22() -> Figures:
    y, noise, theta = np.array([2.1, -0.4, 3.3, 1.2, 0.6, 4.0, 1.9, -1.1]), 2.0, 0.5
    batches = np.array(list(combinations(range(8), 2)))  # all of them: a mean over batches is an expectation
    scale = y.size / 2
    prior, likelihood = slope(normal, theta), slope(lambda t: normal(y, t, noise), theta)
    density = slope(lambda t: np.exp(normal(y, t, noise) + normal(t)), theta)
    right = prior + scale * likelihood[batches].sum(axis=1)
    return {
        "truth": slope(lambda t: normal(t) + normal(y, t, noise).sum(), theta),
        "printed": (scale * density[batches].sum(axis=1)).mean(),
        "half": (scale * (likelihood + prior)[batches].sum(axis=1)).mean(),
        "priors": slope(lambda t: y.size * normal(t) + normal(y, t, noise).sum(), theta),
        "right": right.mean(),
        "spread": right.std(),
    }


def s01(seed: int) -> Figures:
    eps = np.random.default_rng(seed).normal(size=100_000)
    path, total = paths(eps)[1], totals(eps)[1]
    score = scores(MU + SIGMA * eps)[1]
    truth = true_slopes()[1]
    at_mean, at_sd = POSTERIOR
    path_best, score_best = paths(eps, at_mean, at_sd)[1], scores(at_mean + at_sd * eps, at_mean, at_sd)[1]
    return {
        "off_printed": float(np.abs(total - path - score).max()),
        "off_right": float(np.abs(total - path + score).max()),
        "truth": truth,
        "z_printed": z_score(path + score, truth),
        "z_right": z_score(path - score, truth),
        "variance_printed": (path + score).var(),
        "variance_right": (path - score).var(),
        "best_path": path_best.var(),
        "best_printed": (path_best + score_best).var(),
        "best_right": (path_best - score_best).var(),
    }


def s02() -> Figures:
    x = np.linspace(-5, 5, 41)
    e2 = middles(100_000)

    def cdf(at: float) -> float:
        """Chance that ln(e1 / e2) is at most ``at``: e1 is below e2 exp(at), which may exceed 1."""
        return float(np.minimum(1.0, np.exp(at) * e2).mean())

    simulated = np.array([cdf(at) for at in x])
    grid = np.linspace(-40, 40, 800_001)
    return {
        "mass_printed": float(np.trapezoid(np.exp(-np.abs(grid)), grid)),
        "mass_right": float(np.trapezoid(np.exp(-np.abs(grid)) / 2, grid)),
        "off_law": float(np.abs(simulated - stats.laplace.cdf(x)).max()),
        "density": (cdf(1e-3) - cdf(-1e-3)) / 2e-3,
        "printed": float(np.exp(-abs(0.0))),
    }


def s03(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    e1, e2 = 1 - rng.random(100_000), rng.random(100_000)  # (0, 1]: the logarithm of zero is not asked for
    printed = np.sqrt(np.log(1 / e1)) * np.cos(2 * np.pi * e2)
    right = np.sqrt(2 * np.log(1 / e1)) * np.cos(2 * np.pi * e2)
    return {
        "printed": printed.var(),
        "right": right.var(),
        "z_printed": z_score(printed**2, 1.0),
        "z_half": z_score(printed**2, 0.5),
        "z_right": z_score(right**2, 1.0),
        "z_law_printed": law_score(printed, stats.norm()),
        "z_law_right": law_score(right, stats.norm()),
    }


def s04(seed: int) -> Figures:
    eps = np.random.default_rng(seed).random(100_000)
    mu, b = 1.0, 2.0

    def draw(e: Array) -> Array:
        inside = 1 - 2 * np.abs(e)
        kept = inside > 0
        return mu - b * np.sign(e[kept]) * np.log(inside[kept])

    printed, right = draw(eps), draw(eps - 0.5)
    law = stats.laplace(mu, b)
    return {
        "no_logarithm": float((1 - 2 * eps < 0).mean()),
        "below_printed": float((printed < mu).mean()),
        "below_right": float((right < mu).mean()),
        "z_law_printed": law_score(printed, law),
        "z_law_right": law_score(right, law),
        "kept_right": right.size / eps.size,
    }


def s05(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    size, mu, sigma, k, theta = 100_000, 0.2, 0.5, 3.0, 1.5
    eps, base = rng.normal(size=size), rng.gamma(k, size=size)
    # The printed rows put the parameters in the draw; the map that is to be differentiated has none left.
    drawn, drawn_gamma = mu + sigma * eps, base / theta

    def printed(e: Array, *parameters: float) -> Array:
        return np.exp(e)

    def printed_gamma(e: Array, *parameters: float) -> Array:
        return 1 / e

    right = slope(lambda m: np.exp(m + sigma * eps), mu)
    right_gamma = slope(lambda t: t / base, theta)
    truth = slope(lambda m: float(stats.lognorm(sigma, scale=np.exp(m)).mean()), mu)
    truth_gamma = slope(lambda t: float(stats.invgamma(k, scale=t).mean()), theta)
    return {
        "z_law_lognormal": law_score(printed(drawn, mu), stats.lognorm(sigma, scale=np.exp(mu))),
        "z_law_gamma": law_score(printed_gamma(drawn_gamma, theta), stats.invgamma(k, scale=theta)),
        "truth": truth,
        "truth_gamma": truth_gamma,
        "printed": slope(lambda m: printed(drawn, m), mu).mean(),
        "printed_gamma": slope(lambda t: printed_gamma(drawn_gamma, t), theta).mean(),
        "right": right.mean(),
        "right_gamma": right_gamma.mean(),
        "z_right": z_score(right, truth),
        "z_right_gamma": z_score(right_gamma, truth_gamma),
    }


def s06() -> Figures:
    lam, width = 0.7, 2.0
    fixed = {
        "location": expect(lambda x: scores(x)[0], stats.norm(MU, SIGMA)),
        "scale": expect(lambda x: scores(x)[1], stats.norm(MU, SIGMA)),
        "shape": expect(lambda x: slope(lambda a: stats.gamma.logpdf(x, a), 5.5), stats.gamma(5.5), 1e-9, 80.0),
        "degrees": expect(lambda x: slope(lambda d: stats.chi2.logpdf(x, d), 12.0), stats.chi2(12.0), 1e-9, 200.0),
    }
    # A law that starts at lam, and one that ends there: away from the edge the scores are constants.
    start = slope(lambda l: float(stats.expon.logpdf(3.0, loc=l)), lam)
    end = slope(lambda w: float(stats.uniform.logpdf(1.0, scale=w)), width)
    return fixed | {
        "worst_fixed": max(abs(value) for value in fixed.values()),
        "exponential": start,
        "uniform": end,
        # What the exchange of derivative and integral loses: the density at the moving edge.
        "edge_exponential": float(stats.expon.pdf(lam, loc=lam)),
        "edge_uniform": float(-stats.uniform.pdf(width, scale=width)),
    }


def s07(seed: int) -> Figures:
    theta = MU + SIGMA * np.random.default_rng(seed).normal(size=100_000)
    g, score = log_weight(theta), scores(theta)[0]
    truth = true_slopes()[0]
    figures = {"truth": truth, "towards_score": float((score * (MU - theta) > 0).mean()), "largest_score": float(np.abs(score).max())}
    # Y told in another unit multiplies its density: by 1000 for kilometres instead of metres.
    for name, factor in (("metres", 1.0), ("some", 5.0), ("kilometres", 1_000.0)):
        term = (g + np.log(factor)) * score
        figures |= {
            f"towards_{name}": float((term * (MU - theta) > 0).mean()),
            f"mean_{name}": term.mean(),
            f"z_{name}": z_score(term, truth),
            f"variance_{name}": term.var(),
        }
    return figures


def s08() -> Figures:
    import numpyro.distributions as dist  # the library's word on what its arguments mean, as in the code of the slides

    spread = float(np.sqrt(dist.Normal(15.0, 2.0).variance))
    shape, rate = 2.0, 2.0 / float(dist.Gamma(2.0, 3.0).mean)

    def moments(x: Array, log_density: Array) -> tuple[float, float]:
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        mean = float(weight @ x)
        return mean, float(np.sqrt(weight @ (x - mean) ** 2))

    temperature = np.linspace(5, 30, 25_001)
    sensor = normal(18.0, temperature)
    mean, sd = moments(temperature, normal(temperature, 15.0, spread) + sensor)
    mean_variance, sd_variance = moments(temperature, normal(temperature, 15.0, np.sqrt(2.0)) + sensor)
    precision = np.linspace(1e-4, 40, 40_001)
    residuals = stats.norm.ppf(middles(6))  # six observations around a known mean
    likelihood = (0.5 * np.log(precision) - 0.5 * precision * residuals[:, None] ** 2).sum(axis=0)
    gamma, _ = moments(precision, stats.gamma(shape, scale=1 / rate).logpdf(precision) + likelihood)
    gamma_scale, _ = moments(precision, stats.gamma(shape, scale=3.0).logpdf(precision) + likelihood)
    return {
        "mean": mean,
        "sd": sd,
        "mean_sd": (15 / 4 + 18) / (1 / 4 + 1),
        "sd_sd": np.sqrt(1 / (1 / 4 + 1)),
        "mean_variance": mean_variance,
        "sd_variance": sd_variance,
        "gamma": gamma,
        "gamma_rate": (2 + 6 / 2) / (3 + (residuals**2).sum() / 2),  # conjugate, with 3 as a rate
        "gamma_scale": gamma_scale,
    }


def n11(seed: int) -> Figures:
    eps = np.random.default_rng(seed).normal(size=100_000)
    at_mu, at_sigma = totals(eps)
    model_mu, model_sigma = slope(lambda m: log_joint(m + SIGMA * eps), MU), slope(lambda s: log_joint(MU + s * eps), SIGMA)
    true_mu, true_sigma = true_slopes()
    entropy_sigma = slope(entropy, SIGMA)
    return {
        "truth": true_sigma,
        "printed": (at_sigma + entropy_sigma).mean(),
        "no_entropy": at_sigma.mean(),
        "no_q": (model_sigma + entropy_sigma).mean(),
        "z_printed": z_score(at_sigma + entropy_sigma, true_sigma),
        "z_no_entropy": z_score(at_sigma, true_sigma),
        "z_no_q": z_score(model_sigma + entropy_sigma, true_sigma),
        "z_location": z_score(at_mu, true_mu),  # the entropy does not depend on the location: no symptom there
        "z_location_no_q": z_score(model_mu, true_mu),
    }


def n12(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    y, noise = fifty()
    batch = y[rng.integers(0, y.size, size=(40_000, 5))]
    eps = rng.normal(size=(40_000, 1))
    precision = 1 + y.size / noise**2
    mean, sd = y.sum() / noise**2 / precision, 1 / np.sqrt(precision)
    mu, sigma = mean, 0.5

    def objective(values: Array, noises: Array, m: float, s: float, prior: float, part: float) -> Array:
        """The bracket of the estimator with weights on prior and approximation, averaged over data and scaled to all of it."""
        theta = m + s * noises
        return y.size * (prior * normal(theta) + normal(values, theta, noise) - part * normal(theta, m, s)).mean(axis=-1)

    share = 1 / y.size
    truth = slope(lambda s: elbo(mu, s, mean, sd), sigma)
    printed = slope(lambda s: objective(batch, eps, mu, s, share, 1.0), sigma)
    right = slope(lambda s: objective(batch, eps, mu, s, share, share), sigma)
    nodes, weights = hermegauss(4)  # exact for the quadratic in eps
    weights = weights / weights.sum()

    def fitted(prior: float, part: float) -> tuple[float, float]:
        found = optimize.minimize(lambda p: -float(weights @ objective(y, nodes[:, None], p[0], np.exp(p[1]), prior, part)), np.zeros(2))
        return float(found.x[0]), float(np.exp(found.x[1]))

    return {
        "truth": truth,
        "printed": printed.mean(),
        "right": right.mean(),
        "z_printed": z_score(printed, truth),
        "z_right": z_score(right, truth),
        "mean": mean,
        "sd": sd,
        "sd_right": fitted(share, share)[1],
        "mean_right": fitted(share, share)[0],
        "sd_printed": fitted(share, 1.0)[1],
        "factor": fitted(share, 1.0)[1] / sd,
        "mean_whole_prior": fitted(1.0, share)[0],
        "sd_whole_prior": fitted(1.0, share)[1],
    }


def n13(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    sigma, mu = 0.4, np.array([0.3, -1.0])
    eps = rng.normal(size=(100_000, 2))

    def f(noises: Array, phi: Array) -> Array:
        return phi[:2] + phi[2] * noises

    theta = f(eps, np.array([*mu, sigma]))
    squares = ((theta - mu) ** 2).ravel()
    phi, point = np.array([*mu, sigma]), eps[0]
    columns = [slope(lambda x, i=i: f(point, np.where(np.arange(3) == i, x, phi)), phi[i]) for i in range(3)]
    jacobian = np.stack(columns, axis=1)
    return {
        "variance": squares.mean(),
        "z_right": z_score(squares, sigma**2),
        "z_printed": z_score(squares, sigma),
        "off_jacobian": float(np.abs(jacobian - np.column_stack([np.eye(2), point])).max()),
        "swapped": float(np.abs(f(phi[:2], np.array([*point, sigma])) - f(point, phi)).max()),  # f is not symmetric
    }


def sr1(seed: int) -> Figures:
    eps = np.random.default_rng(seed).normal(size=100_000)
    at_mean, at_sd = POSTERIOR
    path_mu, path_sigma = paths(eps)
    best_path, best_total = paths(eps, at_mean, at_sd), totals(eps, at_mean, at_sd)
    narrow = 0.3
    narrow_path, narrow_total = paths(eps, MU, narrow)[0], totals(eps, MU, narrow)[0]
    return {
        "z_mu": z_score(path_mu, true_slopes()[0]),
        "z_sigma": z_score(path_sigma, true_slopes()[1]),
        "best_path": max(part.var() for part in best_path),
        "best_mu": best_total[0].var(),
        "best_sigma": best_total[1].var(),
        "narrow": narrow,
        "narrow_path": narrow_path.var(),
        "narrow_total": narrow_total.var(),
        "z_narrow": z_score(narrow_path, true_slopes(narrow)[0]),
    }


def sr2() -> Figures:
    eps = middles(100_000)
    printed = np.tan(np.pi * eps)
    halved = np.tan(np.pi * eps / 2)
    return {
        "printed": distance(printed, stats.cauchy()),
        "shifted": distance(np.tan(np.pi * (eps - 0.5)), stats.cauchy()),
        "falls": float((np.diff(printed) < 0).sum()),
        "falls_halved": float((np.diff(halved) < 0).sum()),
        "halved": distance(halved, stats.cauchy()),
        "negative_halved": float((halved < 0).mean()),
    }


def sr3() -> Figures:
    eps, k, theta = middles(10_000), 3.0, 2.0
    R = np.array([[1.0, 0.0], [0.8, 0.5]])
    points = np.sqrt(2) * np.concatenate([np.eye(2), -np.eye(2)])  # four points with the moments of a standard normal
    covariance = np.cov((points @ R.T).T, bias=True)
    law = stats.invgamma(k, scale=theta)
    bits = np.array([0.0, 1.0])
    return {
        "exponential": distance(np.log(1 / eps), stats.expon()),
        "gaussian": float(np.abs(covariance - R @ R.T).max()),
        "gaussian_swapped": float(np.abs(covariance - R.T @ R).max()),
        "shape_scale": distance(1 / stats.gamma(k, scale=1 / theta).ppf(eps), law),
        "shape_rate": distance(1 / stats.gamma(k, scale=theta).ppf(eps), law),
        "rademacher_mean": float((2 * bits - 1).mean()),
        "rademacher_size": float(np.abs(2 * bits - 1).min()),
    }


def sr4() -> Figures:
    x = stats.norm(3.0, 0.7).ppf(middles(1_000))
    n, mu, tau = x.size, 2.4, 1.3

    def log_likelihood(m: float, t: float) -> float:
        return float(normal(x, m, 1 / np.sqrt(t)).sum())

    numeric = np.array([slope(lambda m: log_likelihood(m, tau), mu), slope(lambda t: log_likelihood(mu, t), tau)])
    printed = np.array([-n * tau * mu + tau * x.sum(), n / (2 * tau) - 0.5 * ((x - mu) ** 2).sum()])
    single = n * np.array([-tau * mu + tau * x, 1 / (2 * tau) - 0.5 * (x - mu) ** 2])
    scale = np.abs(numeric)
    return {
        "mu": printed[0],
        "tau": printed[1],
        "off_full": float((np.abs(printed - numeric) / scale).max()),
        "off_single": float((np.abs(single.mean(axis=1) - printed) / scale).max()),
        "part": float((single.mean(axis=1) / n / printed).max()),  # what the mean would be of the gradient without the factor
        "spread": float(single[0].std() / abs(printed[0])),
    }


def sr5(seed: int) -> Figures:
    theta = MU + SIGMA * np.random.default_rng(seed).normal(size=100_000)
    term = log_weight(theta) * scores(theta)[1]
    truth, extra = true_slopes()[1], slope(entropy, SIGMA)
    own = -scores(theta)[1]  # the derivative of log p/q at fixed theta, draw by draw
    return {
        "truth": truth,
        "printed": term.mean(),
        "tempting": term.mean() + extra,
        "z_printed": z_score(term, truth),
        "z_tempting": z_score(term + extra, truth),
        "z_own": abs(z_score(own, 0.0)),
        "own": np.abs(own).mean(),
    }


def sr6(seed: int) -> Figures:
    """Descent on x^2 / 2 from 10 with unit noise in the gradient; its mean and variance have a recursion."""
    rng = np.random.default_rng(seed)
    figures: Figures = {}
    rates: dict[str, Callable[[Array], Array]] = {
        "good": lambda t: 0.5 * t**-0.7,
        "short": lambda t: 0.5 * t**-1.2,
        "constant": lambda t: np.full_like(t, 0.5),
    }
    for name, rate in rates.items():
        x, mean, variance = np.full(500, 10.0), 10.0, 0.0
        for rho in rate(np.arange(1.0, 2_001.0)):
            x = x - rho * (x + rng.normal(size=x.size))
            mean, variance = (1 - rho) * mean, (1 - rho) ** 2 * variance + rho**2
        figures |= {
            f"end_{name}": x.mean(),
            f"mean_{name}": mean,
            f"sd_{name}": np.sqrt(variance),
            f"z_{name}": (x.mean() - mean) / np.sqrt(variance / x.size),
            f"z_sd_{name}": (x.var() / variance - 1) * np.sqrt(x.size / 2),
        }
    # With t^-1.2 the product of all factors 1 - rho has a positive limit: the run never forgets where it started.
    long = 0.5 * np.arange(1.0, 1_000_001.0) ** -1.2
    return figures | {"mean_short_later": 10 * float(np.exp(np.log1p(-long).sum())), "sd_floor": np.sqrt(0.5 / (2 - 0.5))}


def tr3() -> Figures:
    mean, covariance, evidence = np.array([0.5, -1.0]), np.array([[1.0, 0.6], [0.6, 0.8]]), -1.3
    precision = np.linalg.inv(covariance)
    mu, entries = np.array([0.2, -0.4]), np.array([0.7, 0.3, 0.9])
    low = np.tril_indices(2)
    nodes, weights = hermegauss(6)
    eps = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    weight = np.outer(weights, weights).ravel() / weights.sum() ** 2

    def triangle(values: Array) -> Array:
        L = np.zeros((2, 2))
        L[low] = values
        return L

    def model(theta: Array) -> Array:
        return evidence + stats.multivariate_normal(mean, covariance).logpdf(theta)

    def exact(values: Array) -> float:
        """Log evidence minus the divergence between two normals."""
        L = triangle(values)
        trace, shift = np.trace(precision @ L @ L.T), (mu - mean) @ precision @ (mu - mean)
        return float(evidence - 0.5 * (trace + shift - 2 + np.linalg.slogdet(covariance)[1] - 2 * np.log(np.linalg.det(L))))

    def printed(values: Array, dets: float = 1.0, log_q: float = 0.0) -> float:
        L = triangle(values)
        theta = mu + eps @ L.T
        terms = model(theta) + dets * np.log(np.linalg.det(L)) - log_q * stats.multivariate_normal(mu, L @ L.T).logpdf(theta)
        return float(weight @ terms) + (1 - log_q) * np.log(2 * np.pi * np.e)  # two coordinates' worth of base entropy

    def gradient(f: Callable[[Array], float]) -> Array:
        return np.array([slope(lambda x, i=i: f(np.where(np.arange(3) == i, x, entries)), entries[i]) for i in range(3)])

    truth, L = gradient(exact), triangle(entries)
    by_theta = -(mu + eps @ L.T - mean) @ precision
    rows, columns = low
    chain = np.array([weight @ (by_theta[:, i] * eps[:, j]) for i, j in zip(rows, columns, strict=True)])
    equation = chain + np.where(rows == columns, 1 / entries, 0.0)
    return {
        "exact": exact(entries),
        "printed": printed(entries),
        "off_equation": float(np.abs(equation - truth).max()),
        "no_det": printed(entries, dets=0.0),
        "off_no_det": float(np.abs(gradient(lambda v: printed(v, dets=0.0)) - truth).max()),
        "off_with_q": float(np.abs(gradient(lambda v: printed(v, log_q=1.0)) - truth).max()),
    }


def tr4() -> Figures:
    a = 2.5
    law = stats.gamma(a)
    u = np.array([0.05, 0.3, 0.5, 0.8, 0.99])
    theta = law.ppf(u)

    def implicit(x: Array) -> Array:
        return -slope(lambda shape: special.gammainc(shape, x), a) / law.pdf(x)

    moved = slope(lambda shape: special.gammaincinv(shape, u), a)  # the draw with its uniform number held
    # A vector, theta = L eps: how it moves with the first entry of L, by the matrix and by dividing entry by entry.
    L, eps = np.array([[1.2, 0.0], [0.8, 0.6]]), np.array([0.7, -1.1])
    corner = np.outer([1.0, 0.0], [1.0, 0.0])
    shift = slope(lambda x: np.linalg.solve(L + (x - L[0, 0]) * corner, L @ eps), L[0, 0])
    true_move = slope(lambda x: (L + (x - L[0, 0]) * corner) @ eps, L[0, 0])
    by_theta = np.linalg.inv(L)
    return {
        "truth": slope(lambda shape: float(stats.gamma(shape).moment(2)), a),
        "printed": expect(lambda x: 2 * x * implicit(x), law, 1e-9, 60.0),
        "tempting": expect(lambda x: -2 * x * implicit(x), law, 1e-9, 60.0),
        "off_draws": float(np.abs(implicit(theta) - moved).max()),
        "smallest_move": float(moved.min()),  # a larger shape moves every draw up
        "off_matrix": float(np.abs(-np.linalg.solve(by_theta, shift) - true_move).max()),
        "off_entries": float(np.abs(-shift / np.diag(by_theta) - true_move).max()),
    }


def tr7(seed: int) -> Figures:
    theta = MU + SIGMA * np.random.default_rng(seed).normal(size=100_000)
    score = scores(theta)[1]
    printed, tempting = log_weight(theta) * score, log_joint(theta) * score
    truth = true_slopes()[1]
    law = stats.norm(MU, SIGMA)
    return {
        "truth": truth,
        "printed": printed.mean(),
        "tempting": tempting.mean(),
        "z_printed": z_score(printed, truth),
        "z_tempting": z_score(tempting, truth),
        "inner": expect(lambda x: slope(lambda s: log_weight(x, MU, s), SIGMA), law),  # the term (a)
        "inner_size": expect(lambda x: np.abs(slope(lambda s: log_weight(x, MU, s), SIGMA)), law),
    }


def nr7(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    eps = rng.normal(size=100_000)
    truth = true_slopes()[1]
    wide = MU + SIGMA * rng.normal(size=500_000)  # this form scatters much
    term = log_joint(wide) * scores(wide)[1]
    entropy_sigma = slope(entropy, SIGMA)
    by_theta = slope(log_joint, MU + SIGMA * eps)  # (I eps)^T grad F: the gradient itself for mu, times eps for sigma
    chain = np.stack([by_theta, by_theta * eps])
    direct = np.stack([slope(lambda m: log_joint(m + SIGMA * eps), MU), slope(lambda s: log_joint(MU + s * eps), SIGMA)])

    def variances(mu: float, sigma: float) -> tuple[float, float]:
        closed = slope(lambda m: log_joint(m + sigma * eps) + entropy(sigma), mu)
        return float(closed.var()), float(paths(eps, mu, sigma)[0].var())

    best_closed, best_path = variances(*POSTERIOR)
    narrow_closed, narrow_path = variances(MU, 0.3)
    return {
        "truth": truth,
        "printed": (term + entropy_sigma).mean(),
        "tempting": term.mean(),
        "z_printed": z_score(term + entropy_sigma, truth),
        "z_tempting": z_score(term, truth),
        "off_chain": float(np.abs(chain - direct).max()),
        "best_closed": best_closed,
        "best_path": best_path,
        "narrow_closed": narrow_closed,
        "narrow_path": narrow_path,
    }
