"""The computations behind the errata of the chapter on importance-sampled gradients.

One function per item, named after it: ``T23`` is computed by ``t23``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.

Most items use one model, whose answers are known: a standard normal ``theta`` and one observation ``Y`` of it with unit
noise. Draws come from the old approximation ``N(0, 1)`` and are asked about the new one, ``N(MU, SIGMA^2)``. It is the
narrower one, so that every weight is bounded.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import lambertw

Array = NDArray[np.float64]
Figures = dict[str, float]

Y, MU, SIGMA = 1.5, 0.4, 0.8
OLD, NEW = (0.0, 1.0), (MU, SIGMA)
POSTERIOR = (Y / 2, np.sqrt(0.5))  # mean, standard deviation


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def slope(f: Callable, x, step: float = 1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


def normal(x, mean=0.0, sd=1.0):
    """Log density."""
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def expect(f: Callable[[Array], Array], mean: float = 0.0, sd: float = 1.0) -> float:
    """A mean under a normal by the trapezium rule, exact to rounding for smooth functions that grow slowly."""
    x = mean + sd * np.linspace(-12.0, 12.0, 20_001)
    return float(np.trapezoid(f(x) * np.exp(normal(x, mean, sd)), x))


def spread_out(size: int, centre: float, sd: float) -> Array:
    """Observations around a centre, in order: quantiles of a normal, so nothing is left to chance."""
    return centre + sd * stats.norm.ppf((np.arange(size) + 0.5) / size)


def log_joint(theta):
    return normal(theta) + normal(Y, theta)


def model_gradient(theta):
    return slope(log_joint, theta)


def elbo(mu: float, sigma: float) -> float:
    """Log evidence minus the divergence between two normals: no draw, no map and no weight."""
    mean, sd = POSTERIOR
    return float(normal(Y, 0.0, np.sqrt(2.0)) - np.log(sd / sigma) - (sigma**2 + (mu - mean) ** 2) / (2 * sd**2) + 0.5)


def true_slopes() -> tuple[float, float]:
    """Derivatives of the bound at the new approximation, by its location and by its scale."""
    return slope(lambda m: elbo(m, SIGMA), MU), slope(lambda s: elbo(MU, s), SIGMA)


def transform(eps, lam: tuple[float, float]):
    return lam[0] + lam[1] * eps


def standardize(theta, lam: tuple[float, float]):
    return (theta - lam[0]) / lam[1]


def old_draws(seed: int, size: int = 100_000) -> tuple[Array, Array]:
    """Noise and the draws of the old approximation that it makes."""
    eps = np.random.default_rng(seed).normal(size=size)
    return eps, transform(eps, OLD)


def t23(seed: int) -> Figures:
    m = 20
    theta = old_draws(seed, 400_000)[1].reshape(-1, m)

    def g(x):
        return (1 + x) ** 2

    def ratio(x, top: tuple[float, float], bottom: tuple[float, float]):
        return np.exp(normal(x, *top) - normal(x, *bottom))

    printed_sum = (ratio(theta, NEW, OLD) * g(theta)).sum(axis=1)
    truth = expect(g, *NEW)
    grid = np.linspace(-12.0, 12.0, 20_001)
    printed_integrand = ratio(grid, OLD, NEW) * g(grid) * np.exp(normal(grid, *NEW))
    return {
        "truth": truth,
        "old": expect(g, *OLD),
        "printed_integral": float(np.trapezoid(printed_integrand, grid)),
        "right_integral": expect(lambda x: ratio(x, NEW, OLD) * g(x), *OLD),
        "printed_sum": printed_sum.mean(),
        "right_sum": printed_sum.mean() / m,
        "z_printed": z_score(printed_sum, truth),
        "z_times": z_score(printed_sum, m * truth),
        "z_right": z_score(printed_sum / m, truth),
    }


def t24(seed: int) -> Figures:
    shift, size = 0.5, 100_000
    nodes, weights = hermegauss(20)
    weights = weights / weights.sum()

    def first(theta_1, theta_2, coupling: float):
        """The first component of the model gradient of a normal around (1, -0.5)."""
        return slope(lambda x: -0.5 * (x - 1) ** 2 - 0.5 * (theta_2 + 0.5) ** 2 - coupling * (x - 1) * (theta_2 + 0.5), theta_1)

    def mean_of(mean_1: float, mean_2: float, coupling: float) -> float:
        return float(weights @ first(mean_1 + nodes[:, None], mean_2 + nodes, coupling) @ weights)

    theta_1, theta_2 = np.random.default_rng(seed).normal(size=(2, size))
    own = np.exp(normal(theta_1, shift) - normal(theta_1))
    joint = own * np.exp(normal(theta_2, shift) - normal(theta_2))
    gradient = first(theta_1, theta_2, 0.6)
    truth, mixed = mean_of(shift, shift, 0.6), mean_of(shift, 0.0, 0.6)
    tenth = mean_of(shift / 10, 0.0, 0.6) - mean_of(shift / 10, shift / 10, 0.6)
    square = expect(lambda x: np.exp(2 * (normal(x, shift) - normal(x))))  # of one coordinate's weight
    return {
        "truth": truth,
        "mixed": mixed,
        "printed": (own * gradient).mean(),
        "right": (joint * gradient).mean(),
        "z_printed": z_score(own * gradient, truth),
        "z_mixed": z_score(own * gradient, mixed),
        "z_right": z_score(joint * gradient, truth),
        "bias": mixed - truth,
        "bias_tenth": tenth,
        "bias_uncoupled": abs(mean_of(shift, 0.0, 0.0) - mean_of(shift, shift, 0.0)),
        "variance_own": square - 1,
        "variance_joint": square**20 - 1,
    }


def t25(seed: int) -> Figures:
    p, runs, steps = 0.9, 4_000, 100
    below = np.random.default_rng(seed).uniform(size=(runs, steps)) < p
    fresh, fresh_text = ~below, below  # Algorithm 4 reuses below p, Section 3.1.1 evaluates anew there
    forced = fresh.copy()
    forced[:, 0] = True

    def without_cache(new: Array) -> Array:
        """Steps of each run that come before anything was stored."""
        return np.logical_and.accumulate(~new, axis=1).sum(axis=1)

    stretch = np.diff(np.flatnonzero(fresh))
    return {
        "share": fresh.mean(),
        "share_text": fresh_text.mean(),
        "z_share": z_score(fresh.ravel().astype(float), 1 - p),
        "z_share_text": z_score(fresh_text.ravel().astype(float), 1 - p),
        "stretch": stretch.mean(),
        "z_stretch": z_score(stretch.astype(float), 1 / (1 - p)),
        "first_empty": below[:, 0].mean(),
        "empty_steps": without_cache(fresh).mean(),
        "empty_forced": without_cache(forced).mean(),
    }


def t26(seed: int) -> Figures:
    eps, theta = old_draws(seed)
    truth_mu, truth_sigma = true_slopes()
    eps_new = standardize(theta, NEW)

    def ratio(e_new, e):
        return np.exp(normal(e_new) - normal(e))

    jacobians = OLD[1] / NEW[1]
    by_mu = model_gradient(theta)
    by_sigma = by_mu * eps_new + slope(np.log, SIGMA)
    printed = ratio(eps_new, eps)
    right = printed * jacobians

    def weighted(f: Callable) -> float:
        return expect(lambda x: ratio(standardize(x, NEW), standardize(x, OLD)) * f(x), *OLD)

    mean_weight = weighted(np.ones_like)
    # The skewing map z exp(gamma z), its two skewnesses and its slope. The grid is of the new map's own z, from where it turns.
    gamma, gamma_new = 0.05, 0.25
    z_new = np.linspace(-1 / gamma_new, 12.0, 40_001)
    skewed = z_new * np.exp(gamma_new * z_new)
    z = lambertw(gamma * skewed).real / gamma
    jacobian, jacobian_new = (np.abs((1 + g * at) * np.exp(g * at)) for g, at in ((gamma, z), (gamma_new, z_new)))
    density = np.exp(normal(z)) / jacobian  # of the old draws

    def limit(weight: Array) -> float:
        """Where a self-normalised mean of theta goes with ever more draws."""
        mass = density * weight * jacobian_new
        return float(np.trapezoid(mass * skewed, z_new) / np.trapezoid(mass, z_new))

    return {
        "truth_mu": truth_mu,
        "truth_sigma": truth_sigma,
        "printed_mu": (printed * by_mu).mean(),
        "printed_sigma": (printed * by_sigma).mean(),
        "right_mu": (right * by_mu).mean(),
        "right_sigma": (right * by_sigma).mean(),
        "z_printed_mu": z_score(printed * by_mu, truth_mu),
        "z_printed_sigma": z_score(printed * by_sigma, truth_sigma),
        "z_right_mu": z_score(right * by_mu, truth_mu),
        "z_right_sigma": z_score(right * by_sigma, truth_sigma),
        "mean_weight": mean_weight,
        "mean_weight_ten": mean_weight**10,
        "mean_right": mean_weight * jacobians,
        "normalised_affine": weighted(model_gradient) / mean_weight,
        "skew_truth": gamma_new * np.exp(gamma_new**2 / 2),
        "skew_printed": limit(ratio(z_new, z)),
        "skew_right": limit(ratio(z_new, z) * jacobian / jacobian_new.clip(1e-300)),
    }


def t27(seed: int) -> Figures:
    eps, theta = old_draws(seed)
    shift = 0.3
    eps_new = theta - shift
    inverted, upright = np.exp(normal(eps) - normal(eps_new)), np.exp(normal(eps_new) - normal(eps))
    # Two dimensions, where the scale moves as well.
    mu_new = np.array([0.2, -0.1])
    L, L_new = np.array([[1.2, 0.0], [0.5, 0.9]]), np.array([[1.0, 0.0], [0.3, 0.8]])
    noise = np.random.default_rng(seed).normal(size=(100_000, 2))
    noise_new = np.linalg.solve(L_new, (noise @ L.T - mu_new).T).T
    bare = np.exp(normal(noise_new).sum(axis=1) - normal(noise).sum(axis=1))
    determinants = np.linalg.det(L) / np.linalg.det(L_new)
    right = bare * determinants
    return {
        "shift": shift,
        "printed": (inverted * theta).mean(),
        "right": (upright * theta).mean(),
        "z_printed": z_score(inverted * theta, shift),
        "z_right": z_score(upright * theta, shift),
        "determinants": determinants,
        "bare": bare.mean(),
        "z_bare": z_score(bare, 1.0),
        "z_both": z_score(right, 1.0),
        "z_both_mean": z_score(right * (noise @ L.T)[:, 1], mu_new[1]),
    }


def t28(seed: int) -> Figures:
    theta = old_draws(seed, 200_000)[1]
    weight = np.exp(normal(theta, *NEW) - normal(theta, *OLD))
    stale, right = log_joint(theta) - normal(theta, *OLD), log_joint(theta) - normal(theta, *NEW)

    def divergence(mu: float, sigma: float) -> float:
        return expect(lambda x: normal(x, mu, sigma) - normal(x, *OLD), mu, sigma)

    truths = dict(zip(("mu", "sigma"), true_slopes(), strict=True))
    scores = {"mu": slope(lambda m: normal(theta, m, SIGMA), MU), "sigma": slope(lambda s: normal(theta, MU, s), SIGMA)}
    biases = {"mu": slope(lambda m: divergence(m, SIGMA), MU), "sigma": slope(lambda s: divergence(MU, s), SIGMA)}
    figures: Figures = {}
    for name, truth in truths.items():
        printed, mended = (weight * g * scores[name] for g in (stale, right))
        figures |= {
            f"truth_{name}": truth,
            f"printed_{name}": printed.mean(),
            f"right_{name}": mended.mean(),
            f"bias_{name}": biases[name],
            f"z_printed_{name}": z_score(printed, truth),
            f"z_bias_{name}": z_score(printed, truth + biases[name]),
            f"z_right_{name}": z_score(mended, truth),
        }
    return figures


def average_gradient(rng: np.random.Generator, batches: Array, summed: int, divided: float, rate: float = 0.06) -> float:
    """Where stochastic average gradients end if the first ``summed`` rows of the table are added and divided so."""
    level, table = 0.0, np.zeros(len(batches))
    for b in rng.integers(len(batches), size=8_000):
        table[b] = (batches[b] - level).mean()
        level += rate / divided * table[:summed].sum()
    return float(level)


def t29(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    batches = spread_out(100, 0.65, 1.0).reshape(20, 5)  # B = 20 minibatches of |D_b| = 5 observations
    count, size = batches.shape
    gradients = batches - 0.2  # of each observation's -(y - level)^2 / 2, at a level of 0.2
    return {
        "optimum": batches.mean(),
        "first": batches[:size].mean(),
        "printed": average_gradient(rng, batches, size, size),
        "right": average_gradient(rng, batches, count, count),
        "full": gradients.mean(),
        "sgd_printed": gradients.mean(axis=1)[:size].sum() / size,  # whichever minibatch was drawn
        "sgd_right": (gradients.sum(axis=1) / size).mean(),  # over all minibatches
    }


def t30() -> Figures:
    y, noise, count = spread_out(100, 0.65, 2.0), 2.0, 20
    batches = y.reshape(count, -1)

    def ascend(combine: Callable[[Array], float]) -> Array:
        """Ascent on -(y - level)^2 / 2, each minibatch's gradient an estimate of the whole one."""
        level, path = 0.0, [0.0]
        for _ in range(60):
            level += 0.3 * combine((batches - level).mean(axis=1))
            path.append(level)
        return np.abs(np.array(path) - y.mean())

    summed, averaged = ascend(np.sum), ascend(np.mean)

    def best(combine: Callable[[Array], float], scale: float, share: float) -> tuple[float, float]:
        """The normal that maximises the combined terms: a likelihood, scaled, minus a share of the divergence from the prior."""

        def bound(mu: float, sigma: float) -> float:
            likelihood = -((batches - mu) ** 2 + sigma**2).sum(axis=1) / (2 * noise**2)
            return combine(scale * likelihood - share * ((mu**2 + sigma**2) / 2 - np.log(sigma)))

        def found(f: Callable[[float], float], low: float) -> float:
            return float(optimize.minimize_scalar(lambda x: -f(x), bounds=(low, 3.0), options={"xatol": 1e-9}).x)

        mu = found(lambda m: bound(m, 1.0), -3.0)
        return mu, found(lambda s: bound(mu, s), 1e-3)

    mean, sd = best(np.sum, 1.0, 1 / count)
    mean_averaged, sd_averaged = best(np.mean, count, 1.0)
    mean_mixed, sd_mixed = best(np.sum, 1.0, 1.0)
    precision = 1 + y.size / noise**2
    return {
        "growth": float((summed[1:] / summed[:-1]).mean()),
        "averaged": averaged[-1],
        "mean": mean,
        "sd": sd,
        "mean_averaged": mean_averaged,
        "sd_averaged": sd_averaged,
        "mean_mixed": mean_mixed,
        "sd_mixed": sd_mixed,
        "mean_theory": float(y.sum() / noise**2 / precision),
        "sd_theory": float(np.sqrt(1 / precision)),
    }


def t31(seed: int) -> Figures:
    n, runs, rounds = 30, 200, 40
    curve, centre = np.linspace(0.5, 1.5, n), np.sin(7.0 * np.arange(n))

    def gradient(x):
        """Of each -curve (x - centre)^2 / 2, in the last axis."""
        return -curve * (np.asarray(x)[..., None] - centre)

    def one(i: Array, x: Array) -> Array:
        return -curve[i] * (x - centre[i])

    here, anchor = 0.8, 0.6
    seen = gradient(np.linspace(-0.4, here, n)).diagonal()  # each at the point where it was last visited
    directions = {
        "sgd": gradient(here),
        "svrg": gradient(here) - gradient(anchor) + gradient(anchor).mean(),
        "saga": gradient(here) - seen + seen.mean(),
        "sag": seen.mean() + (gradient(here) - seen) / n,
    }
    figures: Figures = {"full": gradient(here).mean()}
    for name, direction in directions.items():
        figures |= {f"mean_{name}": direction.mean(), f"variance_{name}": direction.var()}

    rng = np.random.default_rng(seed)
    optimum = (curve @ centre) / curve.sum()
    plain, reduced = np.full(runs, 2.0), np.full(runs, 2.0)
    for t in range(rounds * n):
        if t % n == 0:
            start = reduced
            full = gradient(start).mean(axis=1)
        i = rng.integers(n, size=runs)
        plain = plain + 2.0 / (t + 10) * one(i, plain)
        reduced = reduced + 0.1 * (one(i, reduced) - one(i, start) + full)
        if t + 1 in (rounds * n // 4, rounds * n):
            name = "end" if t + 1 == rounds * n else "quarter"
            figures |= {f"{k}_{name}": float(np.sqrt(np.mean((x - optimum) ** 2))) for k, x in (("plain", plain), ("reduced", reduced))}
    return figures


def t32(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    m, shift, size = 10, 0.4, 2_000
    mean = expect(lambda x: np.exp(normal(x, shift) - normal(x)))
    square = expect(lambda x: np.exp(2 * (normal(x, shift) - normal(x))))
    figures: Figures = {"off_mean": max(abs(mean**d - 1) for d in (1, 20, 100)), "variance": square**20 - 1}
    for d in (1, 20, 100):
        theta = rng.normal(size=(size, m, d))
        weight = np.exp((normal(theta, shift) - normal(theta)).sum(axis=2))
        figures[f"median_{d}"] = float(np.median(weight.mean(axis=1)))
    # A table of ten rows: nine that were stored a hundred coordinates' move ago, and a fresh one. The true gradient is 1.
    rows = size // 9 * 9
    stale, gradient = weight[:rows].reshape(-1, 9, m), (1 + shift - theta[:rows, :, 0]).reshape(-1, 9, m)
    printed = (stale * gradient).mean(axis=2)
    normalised = (stale * gradient).sum(axis=2) / stale.sum(axis=2)
    kept = stale.sum(axis=2) ** 2 / (stale**2).sum(axis=2) > m / 2  # by their effective sample size
    return figures | {
        "step": float(np.median((printed.sum(axis=1) + 1) / 10)),
        "step_normalised": float(np.median((normalised.sum(axis=1) + 1) / 10)),
        "step_dropped": float(np.median(((kept * normalised).sum(axis=1) + 1) / (kept.sum(axis=1) + 1))),
        "kept": kept.mean(),
    }


def t58() -> Figures:
    rng = np.random.default_rng(0)  # any numbers do: what is counted does not depend on them
    batches, d = 4, 100
    mu, sigma, mu_new, sigma_new = rng.normal(size=d), np.full(d, 1.1), rng.normal(size=d), np.full(d, 0.9)
    low = np.tril_indices(d)

    def gradient(theta: Array, b: int) -> Array:
        return (b - theta) + 0.1 * theta.sum(axis=-1, keepdims=True)

    def estimate(theta: Array, eps: Array, eps_new: Array, slopes: Array) -> Array:
        """Equation 3.2 for the means, with a weight for each coordinate."""
        weight = np.exp(normal(eps_new) - normal(eps)) * sigma / sigma_new
        return (weight * slopes).mean(axis=0)

    figures: Figures = {}
    for m in (1, 10):
        averaged, averaged_full, stored, off = [], [], [], 0.0
        for b in range(batches):
            eps = rng.normal(size=(m, d))
            theta = mu + sigma * eps
            slopes = gradient(theta, b)
            outer = (slopes[:, :, None] * eps[:, None, :]).mean(axis=0)
            averaged.append(np.concatenate([slopes.mean(axis=0), np.diag(outer)]))
            averaged_full.append(np.concatenate([slopes.mean(axis=0), outer[low]]))
            stored.append(np.stack([theta, eps, slopes]))  # what Algorithm 5 stores
            anew = estimate(theta, eps, (theta - mu_new) / sigma_new, gradient(theta, b))
            theta_kept, eps_kept, slopes_kept = stored[-1]
            rebuilt = estimate(theta_kept, eps_kept, (theta_kept - mu_new) / sigma_new, slopes_kept)
            off = max(off, float(np.abs(anew - rebuilt).max()))
        figures |= {
            f"sag_{m}": np.stack(averaged).size / batches,
            f"sag_full_{m}": np.stack(averaged_full).size / batches,
            f"isag_{m}": np.stack(stored).size / batches,
            f"off_{m}": off,
        }
    # Two stored rows with one average and two different answers: the average would not have been enough.
    eps = np.array([[-1.0], [1.0]])
    slopes = np.array([[1.0], [3.0]])
    weight = np.exp(normal(standardize(eps, NEW)) - normal(eps)) / SIGMA
    one, other = (float((weight * rows).mean()) for rows in (slopes, slopes[::-1]))
    return figures | {"average": slopes.mean(), "one": one, "other": other}


def t59(seed: int) -> Figures:
    rng = np.random.default_rng(seed)

    def weighted(m: int, rate: float, runs: int) -> tuple[Array, Array]:
        """Re-weighted model gradients at a mean reached with the same draws and at one reached with others, less the true ones."""
        errors = []
        theta = rng.normal(size=(runs, m))
        for leader in (theta, rng.normal(size=(runs, m))):
            mu = rate * model_gradient(leader).mean(axis=1)  # one step up from the old mean, 0
            weight = np.exp(normal(theta, mu[:, None]) - normal(theta))
            errors.append((weight * model_gradient(theta)).mean(axis=1) - model_gradient(mu))  # linear: its mean is its value at mu
        return errors[0], errors[1]

    def bias(rate: float) -> float:
        """With one draw, by quadrature."""

        def error(theta: Array) -> Array:
            mu = rate * model_gradient(theta)
            return np.exp(normal(theta, mu) - normal(theta)) * model_gradient(theta) - model_gradient(mu)

        return expect(error)

    rate = 0.1
    same, other = weighted(1, rate, 100_000)
    same_ten, other_ten = weighted(10, rate, 250_000)
    return {
        "truth": expect(lambda theta: model_gradient(rate * model_gradient(theta))),
        "same": expect(lambda theta: model_gradient(rate * model_gradient(theta))) + bias(rate),
        "bias": bias(rate),
        "bias_tenth": bias(rate / 10),
        "bias_ten": same_ten.mean(),
        "z_same": z_score(same, 0.0),
        "z_bias": z_score(same, bias(rate)),
        "z_other": z_score(other, 0.0),
        "z_same_ten": z_score(same_ten, 0.0),
        "z_other_ten": z_score(other_ten, 0.0),
    }


def tr12(seed: int) -> Figures:
    theta = old_draws(seed)[1]
    weight = np.exp(normal(theta, *NEW) - normal(theta, *OLD))
    tempting = weight * OLD[1] / NEW[1]
    truth = MU**2 + SIGMA**2
    return {
        "truth": truth,
        "printed": (weight * theta**2).mean(),
        "tempting": (tempting * theta**2).mean(),
        "z_weight": z_score(weight, 1.0),
        "z_printed": z_score(weight * theta**2, truth),
        "z_tempting": z_score(tempting * theta**2, truth),
    }


def tr18(seed: int) -> Figures:
    eps, theta = old_draws(seed)
    truth = true_slopes()[1]
    eps_new = standardize(theta, NEW)
    weight = np.exp(normal(theta, *NEW) - normal(theta, *OLD))
    entropy = slope(np.log, SIGMA)
    slopes = model_gradient(theta)
    printed, kept, moved = weight * slopes * eps_new + entropy, weight * slopes * eps + entropy, slopes * eps + entropy
    again = model_gradient(transform(eps, NEW)) * eps + entropy  # a new model gradient at the moved draw
    return {
        "truth": truth,
        "printed": printed.mean(),
        "kept": kept.mean(),
        "moved": moved.mean(),
        "again": again.mean(),
        "z_printed": z_score(printed, truth),
        "z_kept": z_score(kept, truth),
        "z_moved": z_score(moved, truth),
        "z_again": z_score(again, truth),
    }
