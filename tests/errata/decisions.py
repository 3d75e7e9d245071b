"""The computations behind the errata of the chapter on decisions.

One function per item, named after it: ``T02`` is computed by ``t02``. A function that simulates takes a seed; one that
does not is exact. Each returns its figures by name: the tests judge them and the errata page prints them.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, stats

Array = NDArray[np.float64]
Figures = dict[str, float]


def z_score(draws: Array, value: float) -> float:
    """Standard errors between the mean of independent draws and a value."""
    return float((draws.mean() - value) / (draws.std(ddof=1) / np.sqrt(draws.size)))


def atoms(distribution: stats.rv_continuous, size: int = 20_001) -> Array:
    """Equally weighted points that stand for a distribution: its quantiles at the middle of equal slices."""
    return np.asarray(distribution.ppf((np.arange(size) + 0.5) / size))


def best(loss: Callable[[Array, float], Array], y: Array, low: float | None = None, high: float | None = None) -> float:
    """The decision of least mean loss over the points ``y``, found by a search and not by a formula."""
    bounds = (y.min() if low is None else low, y.max() if high is None else high)
    found = optimize.minimize_scalar(lambda h: loss(y, h).mean(), bounds=bounds, options={"xatol": 1e-9})
    return float(found.x)


def squared(y: Array, h: float) -> Array:
    return (h - y) ** 2


def tilted(y: Array, h: float, q: float = 0.2) -> Array:
    return np.where(y >= h, q, 1 - q) * np.abs(h - y)


def t01(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    swabs, pools, theta, rounds = 960, 96, 0.02, 4_000
    size = swabs // pools
    infected = rng.random((rounds, pools, size)) < theta
    positive = infected.any(axis=2).sum(axis=1).astype(float)
    # The thesis's formulas read the letter l as the size of a pool, its words as the number of pools.
    printed_tests, printed_rate = swabs // pools, 1 - (1 - theta) ** pools
    right_rate = 1 - (1 - theta) ** size
    # Every infection pattern of six swabs in three pools of two: no simulation left to doubt.
    patterns = (np.arange(2**6)[:, None] >> np.arange(6)) & 1
    often = 0.3
    chance = often ** patterns.sum(axis=1) * (1 - often) ** (6 - patterns.sum(axis=1))
    count = patterns.reshape(-1, 3, 2).any(axis=2).sum(axis=1)
    law = np.bincount(count, weights=chance, minlength=4)
    support = np.arange(4)
    right_law = stats.binom.pmf(support, 3, 1 - (1 - often) ** 2)
    printed_law = stats.binom.pmf(support, 2, 1 - (1 - often) ** 3)
    return {
        "simulated": positive.mean(),
        "printed": printed_tests * printed_rate,
        "right": pools * right_rate,
        "z_printed": z_score(positive, printed_tests * printed_rate),
        "z_right": z_score(positive, pools * right_rate),
        "impossible": float((positive > printed_tests).mean()),
        "enumerated_right": float(np.abs(law - right_law).sum() / 2),
        "enumerated_printed": float(np.abs(law - printed_law).sum() / 2),
    }


def t02() -> Figures:
    right = np.array([[0.0, 100.0], [1.0, 0.0]])  # rows: the patient has it, has it not; columns: say so, say not
    printed = np.array([[0.0, -100.0], [-1.0, 0.0]])
    p = np.linspace(0.0, 1.0, 10_002)
    belief = np.stack([p, 1 - p], axis=1)
    says_right = (belief @ right).argmin(axis=1)
    says_printed = (belief @ printed).argmin(axis=1)
    at = np.array([0.9, 0.1])
    return {
        "switch": float(p[says_right == 0].min()),
        "theory": 1 / 101,
        "reversed": float((says_right != says_printed).mean()),
        "says_printed": float((at @ printed).argmin()),
        "says_right": float((at @ right).argmin()),
        "cost_printed": float((at @ right)[(at @ printed).argmin()]),
        "cost_right": float((at @ right).min()),
        "gain_agrees": float(((belief @ printed).argmax(axis=1) == says_right).mean()),
    }


def t14() -> Figures:
    mean, rho = 0.7, 0.9
    precision = np.linalg.inv(np.array([[1.0, rho], [rho, 1.0]]))

    def kl(parameters: Array) -> float:
        shift, spread = parameters[:2] - mean, np.exp(parameters[2:])
        trace = float(np.diag(precision) @ spread**2)
        return 0.5 * (trace - 2 + shift @ precision @ shift - np.linalg.slogdet(precision)[1] - 2 * np.log(spread).sum())

    fitted = optimize.minimize(kl, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    p, q = atoms(stats.norm(mean, 1.0)), atoms(stats.norm(fitted.x[0], np.exp(fitted.x[2])))
    hp, hq = best(tilted, p), best(tilted, q)
    return {
        "kl": float(fitted.fun),
        "squared_p": best(squared, p),
        "squared_q": best(squared, q),
        "tilted_p": hp,
        "tilted_q": hq,
        "regret": float(tilted(p, hq).mean() / tilted(p, hp).mean() - 1),
    }


def t16(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    y, h, draws = 1.5, 0.0, 10
    posterior, proposal = stats.norm(y / 2, np.sqrt(0.5)), stats.norm(0.0, 1.0)
    evidence = float(stats.norm.pdf(y, 0.0, np.sqrt(2.0)))
    risk = 0.5 + (y / 2 - h) ** 2

    def weighed(shape: tuple[int, ...]) -> tuple[Array, Array]:
        theta = rng.normal(size=shape)
        return stats.norm.pdf(y, theta, 1.0), (theta - h) ** 2  # prior times likelihood over a proposal that is the prior

    ratio, loss = weighed((40_000, draws))
    plain = (ratio * loss).mean(axis=1)
    normalised = (ratio * loss).sum(axis=1) / ratio.sum(axis=1)
    # First order of the ratio's bias: minus the mean of w^2 (loss - risk) over the number of draws.
    slope, _ = integrate.quad(lambda t: posterior.pdf(t) ** 2 / proposal.pdf(t) * ((t - h) ** 2 - risk), -12, 12)
    ratio, loss = weighed((20_000, 10 * draws))
    longer = (ratio * loss).sum(axis=1) / ratio.sum(axis=1)
    return {
        "risk": risk,
        "evidence": evidence,
        "plain": plain.mean(),
        "scaled": evidence * risk,
        "z_plain_risk": z_score(plain, risk),
        "z_plain_scaled": z_score(plain, evidence * risk),
        "bias": normalised.mean() - risk,
        "z_bias": z_score(normalised, risk),
        "bias_longer": longer.mean() - risk,
        "theory_longer": -slope / (10 * draws),
        "z_theory_longer": z_score(longer, risk - slope / (10 * draws)),
    }


def t17(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    m, s, rounds, spread, noise = 200, 3, 4_000, 1.0, 0.5
    theta = spread * rng.normal(size=(rounds, m))
    y = theta[:, :, None] + noise * rng.normal(size=(rounds, m, s))
    gain = y.mean(axis=(1, 2))  # the utility of an outcome is the outcome
    right = spread**2 / m + noise**2 / (s * m)
    printed = spread**2 / s + noise**2 / (s * m)
    scale = np.sqrt((rounds - 1) / 2)
    variance = float(gain.var(ddof=1))
    return {
        "posterior_draws": float(theta.shape[1]),
        "predictive_draws": float(y[0].size),
        "error": np.sqrt(variance),
        "right": np.sqrt(right),
        "printed": np.sqrt(printed),
        "z_right": (variance / right - 1) * scale,
        "z_printed": (variance / printed - 1) * scale,
    }


def t50(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    figures: Figures = {}
    for n in (5, 51, 501):
        y = np.sort(rng.normal(size=n))
        gap = np.diff(y).min() / 8

        def mean_loss(h: Array, y: Array = y) -> Array:
            return np.abs(y - h[:, None]).mean(axis=1)

        def jump(at: Array, gap: float = gap, mean_loss: Callable[[Array], Array] = mean_loss) -> Array:
            """Slope to the right minus slope to the left: zero wherever the function has a derivative."""
            return (mean_loss(at + gap) - 2 * mean_loss(at) + mean_loss(at - gap)) / gap

        middle = (y[1:] + y[:-1]) / 2
        grid = np.linspace(-4, 4, 8_001)
        figures |= {
            f"jump_{n}": float(jump(y).mean()),
            f"off_{n}": float(np.abs(jump(y) - 2 / n).max()),
            f"between_{n}": float(np.abs(jump(middle)).max()),
            f"excess_{n}": float(mean_loss(np.array([np.median(y)]))[0] - mean_loss(grid).min()),
        }
    step = 1e-4
    expected = [integrate.quad(lambda y, h=h: abs(y - h) * stats.norm.pdf(y), -10, 10, points=[h])[0] for h in (-step, 0.0, step)]
    # The mean under a density has a derivative: its slope changes by 2 p(h) over a step, which vanishes with the step.
    return figures | {"expectation": (expected[2] - 2 * expected[1] + expected[0]) / step}


def p06() -> Figures:
    y = atoms(stats.gamma(2.0))
    median = float(stats.gamma(2.0).ppf(0.5))
    return {
        "median": median,
        "bars": best(lambda y, h: np.abs(h - y), y, -50, 50),
        "no_bars": best(lambda y, h: h - y, y, -50, 50),
        "quantile": float(stats.gamma(2.0).ppf(0.2)),
        "tilted_bars": best(tilted, y, 0, 10),
        "tilted_no_bars": best(lambda y, h: np.where(y >= h, 0.2 * h - y, 0.8 * h - y), y, 0, 10),
    }


def n01() -> Figures:
    gamma, edge = 0.1, 50.0
    c = np.linspace(0.0, edge, 50_001)
    cover = 2 * stats.norm.cdf(c) - 1
    printed, right = cover + gamma * 2 * c, cover - gamma * 2 * c
    skewed = stats.gamma(3.0)

    def cost(ends: Array) -> float:
        return float(gamma * (ends[1] - ends[0]) - skewed.cdf(ends[1]) + skewed.cdf(ends[0]))

    ends = optimize.minimize(cost, np.array([1.0, 4.0]), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).x
    return {
        "edge": edge,
        "printed": float(c[printed.argmax()]),
        "printed_falls": float((np.diff(printed) <= 0).mean()),
        "right": float(c[right.argmax()]),
        "level": float(np.sqrt(-2 * np.log(gamma * np.sqrt(2 * np.pi)))),
        "low": float(ends[0]),
        "high": float(ends[1]),
        "density_low": float(skewed.pdf(ends[0])),
        "density_high": float(skewed.pdf(ends[1])),
    }


def n02() -> Figures:
    labels = np.array([0, 1])
    rewards = np.unique(labels[:, None] - labels[None, :])
    p = np.linspace(0.0, 1.0, 1_002)  # an even count keeps the tie at one half off the grid
    utility = np.stack([1 - p, p])  # expected 1{r = 0} when the label 0, 1 is said
    theta = np.linspace(0.01, 0.99, 99)  # a parameter space that is an interval
    inside = (theta[:, None] - theta[None, :] > 0) & (theta[:, None] - theta[None, :] < 1)
    return {
        "rewards": float(rewards.size),
        "lowest": float(rewards.min()),
        "highest": float(rewards.max()),
        "more_probable": float((utility.argmax(axis=0) == (p > 0.5)).mean()),
        "inside": float(inside.mean()),
    }


def n14() -> Figures:
    successes, failures, h = 9, 3, 0.6

    def binomial(t: float) -> float:
        return float(stats.binom.pmf(successes, successes + failures, t))

    def negative_binomial(t: float) -> float:
        return float(stats.nbinom.pmf(successes, failures, 1 - t))

    def integral(likelihood: Callable[[float], float], weigh: Callable[[float], float]) -> float:
        return float(integrate.quad(lambda t: likelihood(t) * weigh(t), 0, 1, epsabs=1e-13)[0])

    z1, z2 = (integral(f, lambda _: 1.0) for f in (binomial, negative_binomial))
    loss1, loss2 = (integral(f, lambda t: (t - h) ** 2) for f in (binomial, negative_binomial))
    posterior = stats.beta(successes + 1, failures + 1)
    return {
        "z1": z1,
        "z2": z2,
        "common1": loss1 / z1,
        "common2": loss2 / z1,
        "own1": loss1 / z1,
        "own2": loss2 / z2,
        "closed": float(posterior.var() + (posterior.mean() - h) ** 2),
    }


def tr5(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    size, wide = 200_000, 1.5
    theta = wide * rng.normal(size=size)
    ratio = np.exp(-0.5 * (theta - 0.5) ** 2) / (5 * np.exp(-0.5 * (theta / wide) ** 2))
    zp, zq, truth = np.sqrt(2 * np.pi), 5 * wide * np.sqrt(2 * np.pi), 1.25
    f = theta**2
    weight = ratio / ratio.sum()
    snis = float(weight @ f)
    error = float(np.sqrt((weight**2) @ (f - snis) ** 2))
    return {
        "quotient": zp / zq,
        "mean_ratio": ratio.mean(),
        "z_quotient": z_score(ratio, zp / zq),
        "z_target_only": z_score(ratio, zp),
        "truth": truth,
        "snis": snis,
        "z_snis": (snis - truth) / error,
        "divided": float((ratio * f).mean()),
        "z_divided": z_score(ratio * f, truth),
    }


def tr6() -> Figures:
    y = atoms(stats.gamma(2.0))
    base = best(tilted, y)

    def moved(change: Callable[[Array], Array]) -> float:
        return best(lambda y, h: change(tilted(y, h)), y)

    bound = float(max(tilted(y, h).max() for h in (y.min(), y.max())))
    shifted = [moved(lambda t, a=a, b=b: a * t + b) for a, b in ((3.0, 7.0), (0.2, -50.0), (1.0, 50.0))]
    return {
        "base": base,
        "affine": float(np.abs(np.array(shifted) - base).max()),
        "utility": abs(moved(lambda t: -(bound - t)) - base),
        "lowest_utility": min(float((bound - tilted(y, h)).min()) for h in np.linspace(y.min(), y.max(), 50)),
        "negative": moved(lambda t: -t),
        "largest": float(y.max()),
        "monotone": moved(lambda t: t**2),
    }


def tr13() -> Figures:
    law, c, q, a, b = stats.gamma(2.0), 0.7, 0.2, 3.0, 1.0
    y = atoms(law)
    # E exp(-c y) of a gamma variable with shape 2 is (1 + c)^-2.
    return {
        "squared": best(squared, y),
        "squared_rule": float(law.mean()),
        "linex": best(lambda y, h: np.exp(c * (h - y)) - c * (h - y) - 1, y),
        "linex_rule": float(2 / c * np.log1p(c)),
        "absolute": best(lambda y, h: np.abs(h - y), y),
        "absolute_rule": float(law.ppf(0.5)),
        "tilted": best(tilted, y),
        "tilted_rule": float(law.ppf(q)),
        "tilted_swapped": float(law.ppf(1 - q)),
        "tilted_hundredth": float(law.ppf(q / 100)),
        "imbalanced": best(lambda y, h: np.where(y >= h, a, b) * np.abs(h - y), y),
        "imbalanced_rule": float(law.ppf(a / (a + b))),
        "imbalanced_swapped": float(law.ppf(b / (a + b))),
    }


def tr17() -> Figures:
    law = stats.norm()
    y = atoms(law)
    h, swapped = best(tilted, y), best(lambda y, h: tilted(y, h, 0.8), y)
    return {
        "decision": h,
        "quantile": float(law.ppf(0.2)),
        "over": float((y < h).mean()),
        "over_swapped": float((y < swapped).mean()),
        "price_over": float(tilted(np.array([0.0]), 1.0)[0]),
        "price_under": float(tilted(np.array([1.0]), 0.0)[0]),
    }


def pr1() -> Figures:
    def printed(vi: float, lcvi: float) -> float:
        return (vi - lcvi) / vi

    def tempting(vi: float, lcvi: float) -> float:
        return (vi - lcvi) / lcvi

    return {
        "better": printed(2.0, 1.9),
        "worse": printed(1.9, 2.0),
        "rescaled": printed(20.0, 19.0),
        "shifted": printed(3.0, 2.9),
        "halved": printed(2.0, 1.0),
        "halved_tempting": tempting(2.0, 1.0),
        "nearly_perfect": printed(2.0, 0.01),
        "nearly_perfect_tempting": tempting(2.0, 0.01),
    }


def nr6(seed: int) -> Figures:
    rng = np.random.default_rng(seed)
    rounds, longest = 200_000, 12
    theta = rng.random(rounds)
    successes = (rng.random((rounds, longest)) < theta[:, None]).cumsum(axis=1)
    stop = np.where(successes[:, -1] >= 2, (successes >= 2).argmax(axis=1) + 1, 0)  # 0: not within this horizon
    figures: Figures = {}
    for k in (2, 3, 6):
        kept = theta[stop == k]
        fixed = 3 / (k + 2)  # two successes in k trials, uniform prior, the number of trials fixed beforehand
        figures |= {
            f"mean_{k}": kept.mean(),
            f"fixed_{k}": fixed,
            f"z_fixed_{k}": z_score(kept, fixed),
            # Conditioning on when the experiment stopped leaves orderings that do not depend on theta: the prior.
            f"z_corrected_{k}": z_score(kept, 0.5),
        }
    n = np.arange(2, 61)
    with_product = stats.nbinom.pmf(n - 2, 2, 0.5)
    without = stats.binom.sf(1, n, 0.5)
    return figures | {"with_product": float(with_product.sum()), "without": float(without.sum())}
