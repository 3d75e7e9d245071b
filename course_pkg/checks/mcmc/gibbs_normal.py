"""Gibbs for a normal sample. Roads: moments of the joint density by quadrature; exact laws of one sweep; a predictive tail."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import chi2, gamma, kstest, norm, rankdata

from course_pkg.checks._judge import FALSE_ALARM, Mistake, Task, Trouble, Verdict, call, key_words, numbers, read
from course_pkg.checks._quiet import exact
from course_pkg.checks._settle import judged, settled
from course_pkg.checks._tables import with_kin

CHAINS = 10_000


def _log_joint(mu: Any, precision: Any, x: np.ndarray, m: float, tau: float, alpha: float, beta: float) -> Any:
    """The log of prior times likelihood, density by density."""
    out = norm.logpdf(mu, m, tau**-0.5) + gamma.logpdf(precision, alpha, scale=1 / beta)
    for one in x:
        out = out + norm.logpdf(one, mu, precision**-0.5)
    return out


def _moments(log_density: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> tuple[float, float]:
    """Mean and variance of an unnormalised density on a grid that is first spread wide and then drawn together."""
    mean, variance = 0.0, 1.0
    for _ in range(3):
        log_p = log_density(at)
        p = np.exp(log_p - log_p.max())
        p /= trapezoid(p, at)
        mean = float(trapezoid(p * at, at))
        variance = float(trapezoid(p * (at - mean) ** 2, at))
        reach = 14 * np.sqrt(variance)
        at = np.linspace(max(at[0], mean - reach), min(at[-1], mean + reach), len(at))
    return mean, variance


def _mu_by_quadrature(x: np.ndarray, precision: float, m: float, tau: float) -> tuple[float, float]:
    mean, variance = _moments(lambda mu: _log_joint(mu, precision, x, m, tau, 1.0, 1.0), np.linspace(-200, 200, 20_001))
    return mean, variance**0.5


def _gamma_by_quadrature(x: np.ndarray, mu: float, alpha: float, beta: float) -> tuple[float, float]:
    """A gamma has mean shape / rate and variance shape / rate^2."""
    mean, variance = _moments(lambda precision: _log_joint(mu, precision, x, 0.0, 1.0, alpha, beta), np.linspace(1e-9, 60, 20_001))
    return mean**2 / variance, mean / variance


def _late_by_quadrature(mu: np.ndarray, precision: np.ndarray, limit: float) -> float:
    total = 0.0
    for m, g in zip(mu, precision, strict=True):
        y = np.linspace(limit, max(limit, m) + 40 / np.sqrt(g), 40_001)
        total += float(trapezoid(np.sqrt(g / (2 * np.pi)) * np.exp(-g * (y - m) ** 2 / 2), y))
    return total / len(mu)


def mu_stub(x: np.ndarray, gamma: float, m: float, tau: float) -> Any:
    raise NotImplementedError


def gamma_stub(x: np.ndarray, mu: float, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def sweep_stub(key: Any, mu: np.ndarray, gamma: np.ndarray, x: np.ndarray, m: float, tau: float, alpha: float, beta: float) -> Any:
    raise NotImplementedError


def late_stub(mu: np.ndarray, gamma: np.ndarray, limit: float) -> Any:
    raise NotImplementedError


def _normal(centre=None, precision=None, spread=lambda p: p**-0.5):
    """Centre and spread, where either formula may be replaced; both get ``(n, sum of x, gamma, m, tau)``."""
    centre = centre or (lambda n, total, g, m, tau: (tau * m + g * total) / (tau + n * g))
    precision = precision or (lambda n, total, g, m, tau: tau + n * g)

    def answer(x, g, m, tau):
        known = len(x), x.sum(), g, m, tau
        return centre(*known), spread(precision(*known))

    return answer


MU_MISTAKES = {
    "variance": Mistake(
        _normal(spread=lambda p: 1 / p),
        "Your centre is right, and the second number is the variance. The standard deviation was asked for.",
    ),
    "precision": Mistake(
        _normal(spread=lambda p: p),
        "Your centre is right, and the second number is the precision. The standard deviation was asked for.",
    ),
    "root of the precision": Mistake(
        _normal(spread=lambda p: p**0.5),
        "Your centre is right, and the second number is the root of the precision. The standard deviation is one over it.",
    ),
    "exchanged": Mistake(
        lambda *case: _normal()(*case)[::-1],
        "The two have changed places: the centre comes first.",
    ),
    "weight forgotten": Mistake(
        _normal(centre=lambda n, total, g, m, tau: (tau * m + total) / (tau + n * g)),
        "Your spread is right. In the centre the data are not weighted: each counts as much as its precision.",
    ),
    "sample mean": Mistake(
        _normal(centre=lambda n, total, g, m, tau: total / n),
        "Your spread is right, and your centre is the sample mean. The prior pulls it towards m.",
    ),
    "no prior": Mistake(
        _normal(lambda n, total, g, m, tau: total / n, lambda n, total, g, m, tau: n * g),
        "You left the prior out. It counts like one more observation, with a precision of its own.",
    ),
    "prior's centre forgotten": Mistake(
        _normal(centre=lambda n, total, g, m, tau: g * total / (tau + n * g)),
        "Your spread is right, and your centre is that for a prior around 0. Here it is around m.",
    ),
    "prior's centre not weighted": Mistake(
        _normal(centre=lambda n, total, g, m, tau: (m + g * total) / (tau + n * g)),
        "Your spread is right. In the centre m is not weighted: it counts as much as its precision.",
    ),
    "one observation": Mistake(
        _normal(lambda n, total, g, m, tau: (tau * m + g * total / n) / (tau + g), lambda n, total, g, m, tau: tau + g),
        "You treat the sample mean as a single observation. It has the precision of all of them together.",
    ),
    "number forgotten": Mistake(
        _normal(lambda n, total, g, m, tau: (tau * m + g * total) / (tau + g), lambda n, total, g, m, tau: tau + g),
        "Above the bar you count all observations, below it one. Their precisions add up.",
    ),
    "tau a variance": Mistake(
        _normal(lambda n, total, g, m, tau: (m / tau + g * total) / (1 / tau + n * g), lambda n, total, g, m, tau: 1 / tau + n * g),
        "You took tau for a variance. It is the prior's precision, one over its variance.",
    ),
    "gamma a variance": Mistake(
        _normal(lambda n, total, g, m, tau: (tau * m + total / g) / (tau + n / g), lambda n, total, g, m, tau: tau + n / g),
        "You took gamma for a variance. It is the precision of an observation, one over its variance.",
    ),
    "both variances": Mistake(
        _normal(
            lambda n, total, g, m, tau: (m / tau + total / g) / (1 / tau + n / g),
            lambda n, total, g, m, tau: 1 / tau + n / g,
        ),
        "You took tau and gamma for variances. Both are precisions.",
    ),
    "variances added": Mistake(
        _normal(precision=lambda n, total, g, m, tau: 1 / (1 / tau + 1 / (n * g))),
        "Your centre is right. In the spread you added variances; what is learned from two sources adds up in precisions.",
    ),
    "spread of an observation": Mistake(
        _normal(precision=lambda n, total, g, m, tau: g),
        "Your centre is right, and the second number is how much one observation scatters. How well is mu known?",
    ),
}


def _gamma_law(shape=lambda n, alpha: alpha + n / 2, rate=lambda x, mu, beta: beta + ((x - mu) ** 2).sum() / 2, give=lambda s, r: (s, r)):
    return lambda x, mu, alpha, beta: give(shape(len(x), alpha), rate(x, mu, beta))


GAMMA_MISTAKES = {
    "scale": Mistake(
        _gamma_law(give=lambda s, r: (s, 1 / r)),
        "Your second number is the scale, one over the rate. The rate was asked for.",
    ),
    "half missing in the shape": Mistake(
        _gamma_law(shape=lambda n, alpha: alpha + n),
        "Your rate is right, and your shape counts each observation twice: the density of one has the square root of gamma in front.",
    ),
    "half missing in the rate": Mistake(
        _gamma_law(rate=lambda x, mu, beta: beta + ((x - mu) ** 2).sum()),
        "Your shape is right. In the rate a factor is missing: look at the exponent of the normal density.",
    ),
    "both halves missing": Mistake(
        _gamma_law(lambda n, alpha: alpha + n, lambda x, mu, beta: beta + ((x - mu) ** 2).sum()),
        "You count the data twice, in both numbers. Write down the density of one observation, with its square root and its exponent.",
    ),
    "around the sample mean": Mistake(
        _gamma_law(rate=lambda x, mu, beta: beta + ((x - x.mean()) ** 2).sum() / 2),
        "Your shape is right, and your deviations are those from the sample mean. Here mu is known.",
    ),
    "around the sample mean, one less": Mistake(
        _gamma_law(lambda n, alpha: alpha + (n - 1) / 2, lambda x, mu, beta: beta + ((x - x.mean()) ** 2).sum() / 2),
        "That is for a mean that is estimated from the data. Here mu is known, and no observation is spent on it.",
    ),
    "one degree less": Mistake(
        _gamma_law(shape=lambda n, alpha: alpha + (n - 1) / 2),
        "Your rate is right. In the shape no observation is lost: mu is known here.",
    ),
    "mean square": Mistake(
        _gamma_law(rate=lambda x, mu, beta: beta + ((x - mu) ** 2).mean() / 2),
        "Your shape is right. In the rate the squares are averaged; those of all observations add up.",
    ),
    "exponent for shape": Mistake(
        _gamma_law(shape=lambda n, alpha: alpha + n / 2 - 1),
        "Your rate is right, and your first number is the exponent of gamma in the density. The shape is larger by one.",
    ),
    "one too many": Mistake(
        _gamma_law(shape=lambda n, alpha: alpha + n / 2 + 1),
        "Your rate is right. The exponent of gamma in the density is the shape less one; that has gone wrong.",
    ),
    "no prior": Mistake(
        _gamma_law(lambda n, alpha: n / 2, lambda x, mu, beta: ((x - mu) ** 2).sum() / 2),
        "You left the prior out.",
    ),
    "exchanged": Mistake(
        _gamma_law(give=lambda s, r: (r, s)),
        "The two have changed places: the shape comes first.",
    ),
    "alpha forgotten": Mistake(
        _gamma_law(shape=lambda n, alpha: n / 2),
        "Your rate is right. The shape lacks alpha: the prior has powers of gamma, too.",
    ),
    "beta forgotten": Mistake(
        _gamma_law(rate=lambda x, mu, beta: ((x - mu) ** 2).sum() / 2),
        "Your shape is right. The rate lacks beta: the prior has gamma in its exponent, too.",
    ),
    "beta a scale": Mistake(
        _gamma_law(rate=lambda x, mu, beta: 1 / beta + ((x - mu) ** 2).sum() / 2),
        "Your shape is right. In the rate you added one over beta; beta is a rate already.",
    ),
    "square of the sum": Mistake(
        _gamma_law(rate=lambda x, mu, beta: beta + (x - mu).sum() ** 2 / 2),
        "Your shape is right. In the rate you squared a sum; square each deviation, then add up.",
    ),
    "mean and variance": Mistake(
        _gamma_law(give=lambda s, r: (s / r, s / r**2)),
        "Those are the mean and the variance of the right gamma. Its shape and its rate were asked for.",
    ),
}


def _places(
    mu_new: np.ndarray, gamma_new: np.ndarray, mu: np.ndarray, precision: np.ndarray, data: tuple[Any, ...], law: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Where each new value lies within its law, between 0 and 1: uniform and independent if the law is the sampler's."""
    x, m, tau, alpha, beta = data
    given_gamma = gamma_new if law.get("gamma_first") else precision
    given_mu = mu if law.get("gamma_first") or law.get("old_values") else mu_new
    total = tau + len(x) * given_gamma
    spread = law.get("spread", lambda total, g: total**-0.5)(total, given_gamma)
    rate = beta + ((x - given_mu[:, None]) ** 2).sum(axis=1) / 2
    with np.errstate(all="ignore"):
        first = norm.cdf((mu_new - (tau * m + given_gamma * x.sum()) / total) / spread)
        back = law.get("back", lambda g: g)(gamma_new)
        second = gamma.cdf(back, alpha + len(x) / 2, scale=law.get("scale", lambda rate: 1 / rate)(rate))
    return first, second


def _even(one: np.ndarray, other: np.ndarray) -> float:
    """The chance of counts as uneven as these among sixteen equal squares."""
    counts = np.histogram2d(one, other, bins=4, range=[[0, 1], [0, 1]])[0]
    expected = len(one) / 16
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), 15))


def _uniform(place: np.ndarray) -> float:
    """The smallest of three chances, times three: that of the distances, of the mean and of the spread of what should be uniform."""
    z, n = norm.ppf(np.clip(place, 1e-9, 1 - 1e-9)), len(place)
    by_spread = chi2.cdf((z**2).sum(), n)
    return 3 * min(
        float(kstest(place, "uniform").pvalue), 2 * float(norm.sf(abs(z.sum()) / np.sqrt(n))), 2 * float(min(by_spread, 1 - by_spread))
    )


def _fits(got: tuple[np.ndarray, np.ndarray], start: tuple[np.ndarray, np.ndarray], data: tuple[Any, ...], law: dict[str, Any]) -> bool:
    """Whether a sweep of many chains follows a law: each place uniform, and independent of the others, of the start and of the next."""
    if not all(np.isfinite(part).all() for part in got) or not (got[1] > 0).all():
        return False
    first, second = _places(*got, *start, data, law)
    ranks = [(rankdata(part) - 0.5) / len(part) for part in start]
    pairs = [(first, second), (first[::2], first[1::2]), (second[::2], second[1::2])]
    pairs += [(rank, place) for rank in ranks for place in (first, second)]
    level = FALSE_ALARM / (len(pairs) + 2) / 2
    return all(_uniform(place) > level for place in (first, second)) and all(_even(*pair) > level for pair in pairs)


def _sampler(one_noise: str = "", **law: Any) -> Callable[..., Any]:
    """A sweep that follows a law, right or wrong; with ``one_noise`` all chains share a draw."""

    def answer(key, mu, precision, x, m, tau, alpha, beta):
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        e, f = rng.normal(size=len(mu)), rng.gamma(alpha + len(x) / 2, size=len(mu))
        e, f = (np.full(len(mu), part[0]) if name in one_noise else part for name, part in (("mu", e), ("gamma", f)))

        def new_gamma(mu):
            scale = law.get("scale", lambda rate: 1 / rate)(beta + ((x - mu[:, None]) ** 2).sum(axis=1) / 2)
            return law.get("forth", lambda g: g)(scale * f)

        def new_mu(precision):
            total = tau + len(x) * precision
            return (tau * m + precision * x.sum()) / total + law.get("spread", lambda total, g: total**-0.5)(total, precision) * e

        if law.get("gamma_first"):
            precision = new_gamma(mu)
            return new_mu(precision), precision
        moved = new_mu(precision)
        return moved, new_gamma(mu if law.get("old_values") else moved)

    return answer


LAWS: dict[str, tuple[dict[str, Any], str]] = {
    "rate for scale": (
        {"scale": lambda rate: rate},
        "Your precisions are multiplied by the rate. A gamma with a rate is a standard gamma divided by it.",
    ),
    "old values": (
        {"old_values": True},
        "Your precisions are drawn given the old mu. In a sweep each new value is used at once.",
    ),
    "gamma first": (
        {"gamma_first": True},
        "A sweep that keeps the posterior, and not the one that was asked for: mu is drawn first here.",
    ),
    "variance for spread": (
        {"spread": lambda total, g: 1 / total},
        "Your means scatter with the variance of their conditional. The noise is multiplied by its standard deviation.",
    ),
    "precision for spread": (
        {"spread": lambda total, g: total},
        "Your means scatter with the precision of their conditional. The noise is multiplied by its standard deviation.",
    ),
    "root of the precision for spread": (
        {"spread": lambda total, g: total**0.5},
        "Your means scatter with the root of the precision. One over it is the standard deviation.",
    ),
    "spread of an observation": (
        {"spread": lambda total, g: g**-0.5},
        "Your means scatter like single observations. Their conditional is narrower.",
    ),
    "variances": (
        {"back": lambda g: 1 / g, "forth": lambda g: 1 / g},
        "Your second array holds variances. The precisions were asked for.",
    ),
    "standard deviations": (
        {"back": lambda g: g**-2.0, "forth": lambda g: g**-0.5},
        "Your second array holds standard deviations. The precisions were asked for.",
    ),
    "rate for scale, old values": (
        {"scale": lambda rate: rate, "old_values": True},
        "Your precisions are multiplied by the rate, where they should be divided by it, and are drawn given the old mu.",
    ),
}
EXCHANGED = "The two have changed places: mu comes first."
ONE_MU = "All chains got the same noise for mu, or none. Each needs its own: give the draw a shape."
ONE_GAMMA = "All chains got the same noise for gamma, or none. Each needs its own: give the draw a shape."
ONE_NOISE = "All chains got the same noise, or none. Each needs its own: give the draws a shape."
SWEEP_MISTAKES = {name: Mistake(_sampler(**law), words) for name, (law, words) in LAWS.items()} | {
    "exchanged": Mistake(lambda *case: _sampler()(*case)[::-1], EXCHANGED),
    "one noise for mu": Mistake(_sampler("mu"), ONE_MU),
    "one noise for gamma": Mistake(_sampler("gamma"), ONE_GAMMA),
    "one noise": Mistake(_sampler("mu gamma"), ONE_NOISE),
}


def _tail(z=lambda mu, g, limit: (limit - mu) * np.sqrt(g), chance=norm.sf, gather=np.mean):
    return lambda mu, g, limit: gather(chance(z(mu, g, limit)))


LATE_MISTAKES = {
    "estimates put in": Mistake(
        lambda mu, g, limit: norm.sf((limit - mu.mean()) * np.sqrt(g.mean())),
        "You put the mean of mu and a mean scatter into one normal. Take the chance for each draw, then the mean of the chances.",
    ),
    "one normal for all": Mistake(
        lambda mu, g, limit: norm.sf(limit, mu.mean(), np.sqrt(mu.var() + (1 / g).mean())),
        "You put the mean and the variance of the next delay into one normal. It is a mixture of normals, which is none: take the chance "
        "for each draw, then the mean.",
    ),
    "mean of mu put in": Mistake(
        lambda mu, g, limit: norm.sf((limit - mu.mean()) * np.sqrt(g)).mean(),
        "You put the mean of mu in. It is uncertain, too: take each draw of it together with its gamma.",
    ),
    "mean of gamma put in": Mistake(
        lambda mu, g, limit: norm.sf((limit - mu) * np.sqrt(g.mean())).mean(),
        "You put the mean of gamma in. It is uncertain, too: take each draw of it together with its mu.",
    ),
    "every pair": Mistake(
        lambda mu, g, limit: norm.sf((limit - mu[:, None]) * np.sqrt(g)).mean(),
        "You paired every mu with every gamma. A draw is a pair: they belong together.",
    ),
    "variance for spread": Mistake(
        _tail(z=lambda mu, g, limit: (limit - mu) * g),
        "You divided by a variance. A crossing scatters by the standard deviation, the root of one over gamma.",
    ),
    "precision for spread": Mistake(
        _tail(z=lambda mu, g, limit: (limit - mu) / g),
        "You took gamma for a standard deviation. It is a precision, one over the variance.",
    ),
    "precision for variance": Mistake(
        _tail(z=lambda mu, g, limit: (limit - mu) / np.sqrt(g)),
        "You took gamma for a variance. It is a precision, one over the variance.",
    ),
    "the other side": Mistake(
        _tail(chance=norm.cdf),
        "That is the chance of a smaller delay. How probable is a larger one?",
    ),
    "belief about mu": Mistake(
        lambda mu, g, limit: np.mean(mu > limit),
        "That is how probable it is that mu lies above the limit. A single crossing scatters around mu as well.",
    ),
    "summed": Mistake(
        _tail(gather=np.sum),
        "You summed over the draws. Take the mean.",
    ),
    "no division": Mistake(
        _tail(z=lambda mu, g, limit: limit - mu),
        "You left gamma out: the distance counts in standard deviations of a crossing.",
    ),
    "density": Mistake(
        lambda mu, g, limit: (np.sqrt(g) * norm.pdf((limit - mu) * np.sqrt(g))).mean(),
        "That is the density at the limit. How much probability lies above it?",
    ),
    "not averaged": Mistake(
        _tail(gather=lambda chance: chance),
        "You have a chance for each draw. What is it over all of them?",
    ),
}

LATE_KIN = {
    "estimates put in": (
        lambda mu, g, limit: norm.sf(limit, mu.mean(), (g**-0.5).mean()),
        lambda mu, g, limit: norm.sf(limit, mu.mean(), (1 / g).mean() ** 0.5),
    ),
    "one normal for all": (lambda mu, g, limit: norm.sf(limit, mu.mean(), np.sqrt(mu.var(ddof=1) + (1 / g).mean())),),
}
COUNTED = (
    "You count the draws for which something lies above the limit. Given mu and gamma the chance is known: take its mean over the draws, "
    "without a random number."
)


def _delays(rng: np.random.Generator, n: int) -> np.ndarray:
    """A sample whose mean is away from 0 and from the prior's centre."""
    return rng.normal(rng.choice([-1, 1]) * rng.uniform(4, 7), rng.uniform(1.0, 2.0), n)


def mu_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 250])
    cases = [
        (_delays(rng, n), float(rng.uniform(*g)), float(rng.uniform(1, 3)), float(rng.uniform(*tau)))
        for n, g, tau in [(4, (0.2, 0.4), (0.3, 0.8)), (7, (1.5, 3.0), (2.0, 4.0)), (2, (0.3, 0.6), (1.3, 2.0))]
    ]
    return judged(
        answer,
        cases,
        _mu_by_quadrature,
        MU_MISTAKES,
        stub=mu_stub,
        right="Right. However unlike the data and the prior are, the spread depends on their precisions alone.",
        nudge="Not that normal. With x = [1, 3, 5], gamma = 2, m = -1 and tau = 3 it has centre 5/3 and standard deviation 1/3.",
        parts=("the centre", "the standard deviation"),
    )


def gamma_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 251])
    cases = []
    for n in (4, 7, 2):
        x = _delays(rng, n)
        cases.append(
            (x, float(x.mean() + rng.choice([-1, 1]) * rng.uniform(0.7, 1.5)), float(rng.uniform(1.5, 3)), float(rng.uniform(2, 9)))
        )
    return judged(
        answer,
        cases,
        _gamma_by_quadrature,
        GAMMA_MISTAKES,
        stub=gamma_stub,
        right="Right. Each observation adds one half to the shape, wherever it lies, and half its squared distance from mu to the rate.",
        nudge="Not that gamma. With x = [1, 3, 5], mu = 2, alpha = 4 and beta = 2 it has shape 5.5 and rate 7.5.",
        parts=("the shape", "the rate"),
    )


def _shared(got: tuple[np.ndarray, np.ndarray], start: tuple[np.ndarray, np.ndarray], data: tuple[Any, ...]) -> str | None:
    first, second = (np.ptp(part) < 1e-3 and 1e-4 < part.mean() < 1 - 1e-4 for part in _places(*got, *start, data, {}))
    if first or second:
        return ONE_NOISE if first and second else ONE_MU if first else ONE_GAMMA
    return None


def sweep_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 252])
    data = _delays(rng, 4), float(rng.uniform(1, 3)), float(rng.uniform(0.1, 0.3)), float(rng.uniform(1.5, 3)), float(rng.uniform(4, 9))
    start = rng.normal(data[0].mean(), 2.0, CHAINS), rng.gamma(3.0, 0.15, CHAINS) + 0.05
    want = (np.zeros(CHAINS), np.zeros(CHAINS))

    def tried(key: Any) -> tuple[np.ndarray, np.ndarray]:
        got = read(call(answer, key, *start, *data), want)
        if len(got) != 2:
            raise Trouble(f"Expected a tuple of 2 arrays; yours has {len(got)}.")
        for place, part in enumerate(got, start=1):
            if part.shape != (CHAINS,):
                raise Trouble(f"Expected a tuple of 2 arrays of shape {(CHAINS,)}; part {place} of yours has shape {part.shape}.")
        return got[0], got[1]

    try:
        keys = [jax.random.fold_in(jax.random.key(seed), k) for k in range(3)]
        got = tried(keys[0])
        if not _fits(got, start, data, {}):
            for law, words in LAWS.values():
                if _fits(got, start, data, law):
                    return Verdict(False, words)
            if _fits(got[::-1], start, data, {}):
                return Verdict(False, EXCHANGED)
            return Verdict(False, _which(got, start, data))
        if trouble := key_words(got, tried(keys[0]), [tried(key) for key in keys[1:]]):
            return Verdict(
                False, trouble.replace("Right on average, but", "Right as a distribution, but").replace("The right value", "Right")
            )
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    right = "Right: 10,000 chains made a sweep from different starts, and their new values follow the conditionals, each independently."
    return settled(Verdict(True, right), answer, [(keys[0], *start, *data)], sweep_stub, right)


def _which(got: tuple[np.ndarray, np.ndarray], start: tuple[np.ndarray, np.ndarray], data: tuple[Any, ...]) -> str:
    if not np.isfinite(got[0]).all() or not np.isfinite(got[1]).all():
        return "Your answer contains a number that is not finite."
    if not (got[1] > 0).all():
        return "Some of your precisions are not positive. A draw from a gamma is."
    if shared := _shared(got, start, data):
        return shared
    level = FALSE_ALARM / 18
    first, second = (_uniform(place) > level for place in _places(*got, *start, data, {}))
    if not first and not second:
        return "Neither array follows its conditional. Draw mu by Part 1 from the old gamma, then gamma by Part 2 from the new mu."
    if not second:
        return "Your mu follows its conditional; gamma does not. Draw it by Part 2, from the new mu."
    if not first:
        return "Your gamma follows its conditional given the new mu; mu does not. Draw it by Part 1, from the old gamma."
    return (
        "Each array by itself looks right, but the draws depend on each other or on the start in a way that they should not. Each chain "
        "takes its own old gamma, and mu and gamma need noise of their own."
    )


def late_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 253])
    cases = []
    for draws, limit in [(6, (1.0, 2.5)), (5, (-1.5, -0.5)), (8, (0.2, 0.6))]:
        mu, g = (
            5 + rng.permutation(np.linspace(-3, 3, draws)) + rng.uniform(-0.2, 0.2, draws),
            rng.permutation(np.geomspace(0.05, 2, draws)),
        )
        cases.append((mu, g, float(mu.mean() + rng.uniform(*limit))))
    verdict = judged(
        answer,
        cases,
        _late_by_quadrature,
        with_kin(LATE_MISTAKES, LATE_KIN),
        stub=late_stub,
        by=exact,
        right="Right. It is a mean over draws, so any Bayes decision about the next crossing can be read off the chain in this way.",
        nudge="Not that chance. With mu = [0, 2, 1], gamma = [1, 1/4, 1] and limit = 1 it is the mean of 0.1587, 0.6915 and 0.5: 0.4501.",
    )
    return Verdict(False, COUNTED) if "Not that chance" in verdict.message and _counts_draws(answer, cases) else verdict


def _counts_draws(answer: Any, cases: list[tuple[Any, ...]]) -> bool:
    """Whether all chances are numbers of draws divided by how many there are."""
    with np.errstate(all="ignore"):
        counts = [len(case[0]) * float(numbers(call(answer, *case))[0]) for case in cases]
    return all(abs(count - round(count)) < 1e-5 for count in counts) and any(
        0 < round(n) < len(c[0]) for n, c in zip(counts, cases, strict=True)
    )


TASKS = (
    Task(
        "mcmc/gibbs-normal/mu",
        "Gibbs for a normal sample: the mean, given the precision",
        1,
        7,
        mu_stub,
        (
            "In the log of the joint density keep what has mu in it. It is a parabola: where is its top, and how sharply is it bent?",
            "The log is -(tau/2) (mu - m)^2 - (gamma/2) sum over i of (x_i - mu)^2. A normal's precision is minus the second derivative.",
            "Begin with `precision = tau + len(x) * gamma`",
        ),
        MU_MISTAKES,
        mu_verdict,
    ),
    Task(
        "mcmc/gibbs-normal/gamma",
        "Gibbs for a normal sample: the precision, given the mean",
        1,
        7,
        gamma_stub,
        (
            "In the log of the joint density keep what has gamma in it: a multiple of log gamma, and a multiple of gamma.",
            "A gamma has log density (shape - 1) log gamma - rate gamma; one observation has (1/2) log gamma - (gamma/2) (x_i - mu)^2.",
            "Begin with `shape = alpha + len(x) / 2`",
        ),
        GAMMA_MISTAKES,
        gamma_verdict,
    ),
    Task(
        "mcmc/gibbs-normal/sweep",
        "Gibbs for a normal sample: a sweep",
        1,
        10,
        sweep_stub,
        (
            "Two draws, one after the other, each with a part of the key. Parts 1 and 2 say from what, for all chains at once.",
            "mu_new = centre(gamma_old) + sd(gamma_old) noise; gamma_new = standard gamma / rate(mu_new), with the squares summed "
            "per chain.",
            "Begin with `first, second = jax.random.split(key)`",
        ),
        SWEEP_MISTAKES,
        sweep_verdict,
    ),
    Task(
        "mcmc/gibbs-normal/late",
        "Gibbs for a normal sample: what the draws say about the next one",
        1,
        6,
        late_stub,
        (
            "If mu and gamma were known, how probable would it be? Then: what if all you have is draws of them?",
            "P(delay > limit) = mean over draws s of P(N(mu_s, 1/gamma_s) > limit).",
            "Begin with `sd = 1 / np.sqrt(gamma)`",
        ),
        LATE_MISTAKES,
        late_verdict,
    ),
)
