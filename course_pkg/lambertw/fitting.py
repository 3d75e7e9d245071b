r"""Fitting a skewed density to data: by maximum likelihood, by Goerg's iterated moments, and as a `Model` for Bayes.

All three speak of :math:`y = \mu + \sigma\, g_e(z)` with a base that is symmetric around 0. The first two compute in double precision,
whatever precision the session runs in.
"""

import warnings
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import PRNGKeyArray
from scipy import integrate, optimize

from course_pkg import _guard
from course_pkg.convergence import ConvergenceWarning
from course_pkg.families import Base, normal, student_t
from course_pkg.lambertw.density import log_density
from course_pkg.lambertw.map import g_e, g_e_inverse
from course_pkg.models import Model, priors
from course_pkg.models.reading import Reading, whole

WIDEST = 4.0  # the largest skew that the moments look for
COLLAPSED = 1e-3  # a scale so far below the data's is no fit
STEPS, TOLERANCE = 200, 1e-9  # of the iterated moments
POSITIVE = np.array([False, True, False, True])  # sigma and the degrees of freedom, fitted by their logarithms
FINE = {"xatol": 1e-7, "fatol": 1e-12, "maxiter": 2000}


class Skewed(NamedTuple):
    r"""A fitted density, that of :math:`y = \mu + \sigma\, g_e(z)`, with its distribution function, quantiles and draws.

    The map only grows, so a quantile of :math:`z` becomes the quantile of :math:`y` of the same level.
    """

    mu: float
    sigma: float
    gamma: float
    log_likelihood: float  # in nats, summed over the data
    standard_error: np.ndarray  # (3,) of mu, sigma and gamma, (4,) with df; from the spread of the scores; NaN from `fit_igmm`
    steps: int  # of the iteration
    converged: bool
    base: Base  # density of z
    df: float | None = None  # degrees of freedom of a t base, where they were fitted

    def cdf(self, y) -> np.ndarray:
        """Probability of a value of at most ``y``, element by element, in double precision.

        Raises:
            ValueError: if ``y`` holds something that is not a finite number, or the base has no distribution function.

        Example:
            >>> found = fit_mle(g_e(jax.random.normal(jax.random.key(0), (500,)), 0.2))
            >>> round(float(found.cdf(found.mu)), 6)  # whatever the skew
            0.5
        """
        with jax.enable_x64(True):
            z = g_e_inverse((_guard.numbers("y", y).astype(float) - self.mu) / self.sigma, self.gamma)
        return np.asarray(self._reference().cdf(np.asarray(z)))

    def ppf(self, q) -> np.ndarray:
        """The value with probability ``q`` below it, element by element, in double precision.

        Raises:
            ValueError: if ``q`` holds something that is not strictly between 0 and 1, or the base has no quantiles.

        Example:
            >>> found = fit_mle(g_e(jax.random.normal(jax.random.key(0), (500,)), 0.2))
            >>> low, high = found.ppf([0.01, 0.99])
            >>> bool(found.mu - low < high - found.mu)  # skewed to the right
            True
        """
        with jax.enable_x64(True):
            q = np.asarray(_guard.numbers("q", q).astype(float))
            if not ((q > 0) & (q < 1)).all():
                raise ValueError(f"q goes from {q.min():g} to {q.max():g}; give levels strictly between 0 and 1")
            return np.asarray(self.mu + self.sigma * np.asarray(g_e(self._reference().ppf(q), self.gamma)))

    def sample(self, key: PRNGKeyArray, shape: tuple[int, ...] = ()):
        """Independent draws.

        Raises:
            ValueError: if ``key`` is no random key or ``shape`` no tuple of whole numbers.

        Example:
            >>> found = fit_mle(g_e(jax.random.normal(jax.random.key(0), (500,)), 0.2))
            >>> found.sample(jax.random.key(1), (2, 3)).shape
            (2, 3)
        """
        return self.mu + self.sigma * g_e(self.base.sample(_guard.key(key), _guard.counts("shape", shape)), self.gamma)

    def _reference(self):
        if self.base.scipy is None:
            raise ValueError("base says nothing of its distribution function; give it as its field scipy, such as scipy.stats.norm")
        return self.base.scipy


def fit_mle(y, base: Base | None = None, *, fit_df: bool = False) -> Skewed:
    r"""Location, scale and skew that make the data most probable; if asked, with the degrees of freedom of a t base.

    The log density has a kink at the knee of the map, so a datum that crosses it bends the likelihood sharply. The climb therefore is
    quasi-Newton first and by a simplex, which needs no slope, at the end; and the standard errors come from the scores, whose squares know
    what second derivatives would miss. It starts both from no skew at all and from the moments of `fit_igmm` with a normal base; the better
    of the two ends is returned. The safe density is positive everywhere, so no skew has to be forbidden.

    Args:
        y: data, shape ``(n,)``, not all equal, at least four.
        base: density of ``z``; standard normal where not given.
        fit_df: take a t base, and fit its degrees of freedom, too. With tails no heavier than the normal's they run off towards infinity,
            and their standard error says nothing.

    Raises:
        ValueError: if ``y`` has another shape, is too short or constant, or holds something that is not a finite number; if ``base`` is
            given, and ``fit_df`` asks for another.

    Example:
        >>> y = g_e(jax.random.normal(jax.random.key(0), (500,)), 0.2)
        >>> found = fit_mle(3.0 + 2.0 * y)
        >>> bool(abs(found.gamma - 0.2) < 3 * found.standard_error[2])
        True
        >>> heavy = fit_mle(g_e(jax.random.t(jax.random.key(0), 3.0, (500,)), 0.2), fit_df=True)
        >>> bool(abs(heavy.df - 3.0) < 3 * heavy.standard_error[3])
        True

    Source: thesis, section 3.2.3; Goerg (2011), section 4.
    """
    if _guard.switch("fit_df", fit_df) and base is not None:
        raise ValueError("base is given and fit_df is True; give one of the two, since fit_df takes a t base")
    y, fixed = _data(y), None if fit_df else base or normal()
    centre, spread = float(np.median(y)), float(np.std(y))
    starts = _starts_of_t((y - centre) / spread) if fit_df else _starts(y, centre, spread)
    with jax.enable_x64(True):
        x = jnp.asarray((y - centre) / spread)

        def cost(theta):
            value, slope = _cost(jnp.asarray(theta), x, fixed)
            return float(value), np.asarray(slope)

        ends = [optimize.minimize(cost, start, jac=True, method="BFGS") for start in starts]
        rough = min(ends, key=lambda end: end.fun)
        best = optimize.minimize(lambda t: cost(t)[0], rough.x, method="Nelder-Mead", options=FINE | {"initial_simplex": _simplex(rough.x)})
        a, sigma, gamma, *df = np.where(POSITIVE[: len(best.x)], np.exp(best.x), best.x).tolist()
        scores = np.asarray(_scores(jnp.array([a, sigma, gamma, *df]), x, fixed))
    error = _standard_error(scores) * np.array([spread, spread, 1.0, 1.0])[: len(best.x)]
    total = float(-len(y) * (best.fun + np.log(spread)))
    fitted = centre + spread * a, spread * sigma, gamma, total, error, int(best.nit), bool(best.success)
    return Skewed(*fitted, student_t(*df), *df) if fixed is None else Skewed(*fitted, fixed)


def fit_igmm(y, base: Base | None = None, *, steps: int = STEPS, tolerance: float = TOLERANCE) -> Skewed:
    r"""Goerg's iterated moments: choose the skew that leaves the origins without skewness, then location and scale from them, and again.

    Each round standardises the data with the present :math:`\mu` and :math:`\sigma`, finds the :math:`\gamma` for which the sample skewness
    of :math:`z = W_e(\gamma x)/\gamma` is 0, and takes mean and standard deviation of :math:`\mu + \sigma z` for the next.

    Args:
        y: data, shape ``(n,)``, not all equal, at least four.
        base: density of ``z``, symmetric and with a variance; standard normal where not given.
        steps: rounds, at most.
        tolerance: largest change in a round, in units of :math:`\sigma`, at which it stops.

    Warns:
        ConvergenceWarning: if no skew straightens the data, as with very heavy tails: each round shrinks the scale, until it breaks off.

    Raises:
        ValueError: as `fit_mle`; also if the base has no variance.

    Example:
        >>> y = g_e(jax.random.normal(jax.random.key(0), (500,)), 0.2)
        >>> found = fit_igmm(3.0 + 2.0 * y)
        >>> bool(abs(found.gamma - 0.2) < 0.05), found.converged
        (True, True)

    Source: Goerg (2011), section 4.2; thesis, section 3.2.2.
    """
    y, base = _data(y), base or normal()
    found, collapsed = _rounds(y, base, _guard.count("steps", steps), _guard.positive("tolerance", tolerance))
    if collapsed:
        warnings.warn(
            f"the iterated moments broke off in round {found.steps}: no skew straightens these data, and the scale shrinks to nothing, so "
            f"gamma = {found.gamma:g} is no fit; use fit_mle, or fit the logarithms if all data are above 0",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def _rounds(y, base, steps, tolerance) -> tuple[Skewed, bool]:
    """The iterated moments, and whether they broke off because the scale collapsed."""
    base_sd = _sd(base)
    mu, sigma, gamma = float(np.mean(y)), float(np.std(y)) / base_sd, 0.0
    converged = collapsed = False
    with jax.enable_x64(True):
        for done in range(1, steps + 1):  # noqa: B007
            x = jnp.asarray((y - mu) / sigma)
            gamma = _skew_that_straightens(x)
            origin = mu + sigma * np.asarray(g_e_inverse(x, gamma))
            before = mu, sigma
            mu, sigma = float(np.mean(origin)), float(np.std(origin)) / base_sd
            if not sigma > COLLAPSED * np.std(y):  # no skew straightens these data: each round shrinks the scale
                (mu, sigma), collapsed = before, True
                break
            if abs(mu - before[0]) + abs(sigma - before[1]) < tolerance * sigma:
                converged = True
                break
        total = float(log_density(y, mu, sigma, gamma, base).sum())
    return Skewed(mu, sigma, gamma, total, np.full(3, np.nan), done, converged, base), collapsed


def skewed_sample(base: Base | None = None, *, prior_sd: float = 10.0, gamma_max: float = 0.5) -> Model:
    r"""A skewed sample :math:`y_i = \mu + \sigma\, g_e(z_i)` as a `Model`: what variational inference and samplers take.

    The priors are :math:`\mu \sim N(0, s^2)`, :math:`\sigma` half-normal of scale :math:`s`, and :math:`\gamma` uniform between
    :math:`\pm\gamma_m`. The unconstrained vector is :math:`(\mu, \log\sigma, \hat\gamma)` with :math:`\gamma = \gamma_m \tanh\hat\gamma`.

    Args:
        base: density of ``z``; standard normal where not given.
        prior_sd: :math:`s`, in the unit of the data, above 0.
        gamma_max: :math:`\gamma_m`, above 0.

    Returns:
        A `Model` of an array ``(n,)``. ``predict(key, theta, covariates)`` draws one more value where ``covariates`` is None, else one for
        each of its rows, whatever they hold.

    Raises:
        ValueError: if a number is not above 0.

    Example:
        >>> model = skewed_sample()
        >>> round(float(model.log_likelihood(jnp.zeros(3), jnp.array([0.0]))), 4)
        -0.9189
        >>> {name: float(value) for name, value in model.constrain(jnp.zeros(3)).items()}
        {'mu': 0.0, 'sigma': 1.0, 'gamma': 0.0}

    Source: thesis, section 3.2.4.
    """
    base = base or normal()
    prior_sd, gamma_max = _guard.positive("prior_sd", prior_sd), _guard.positive("gamma_max", gamma_max)

    def constrain(theta):
        return {"mu": theta[0], "sigma": jnp.exp(theta[1]), "gamma": gamma_max * jnp.tanh(theta[2])}

    def log_prior(theta):
        mu, log_sigma, gamma_hat = theta
        # the slope of the hyperbolic tangent is 1 / cosh^2; half of it is a density
        log_uniform = jax.nn.log_sigmoid(2 * gamma_hat) + jax.nn.log_sigmoid(-2 * gamma_hat) + jnp.log(2.0)
        log_scale = priors.log_half_normal(jnp.exp(log_sigma), prior_sd) + log_sigma
        return priors.log_normal(mu, 0.0, jnp.log(prior_sd)) + log_scale + log_uniform

    reading = Reading(covariates=whole, outcome=whole)
    return Model(3, log_prior, Partial(_likelihood, base, constrain), Partial(_predict, base, constrain), constrain, reading)


def _likelihood(base, constrain, theta, y):
    values = constrain(theta)
    return log_density(y, values["mu"], values["sigma"], values["gamma"], base).sum()


def _predict(base, constrain, key: PRNGKeyArray, theta, covariates=None):
    rows = () if covariates is None else jnp.shape(jax.tree.leaves(covariates)[0])[:1]
    values = constrain(theta)
    return values["mu"] + values["sigma"] * g_e(base.sample(key, rows), values["gamma"])


def _data(y):
    _guard.numbers("y", y, ndim=1)
    y = np.asarray(y, dtype=float)
    if len(y) < 4:
        raise ValueError(f"y has {len(y)} values; give at least 4")
    if np.ptp(y) == 0:
        raise ValueError(f"y holds nothing but {y[0]:g}; give data that differ")
    return y


def _sd(base) -> float:
    """Standard deviation of the base."""
    with jax.enable_x64(True):
        weighted = jax.jit(lambda z: jnp.exp(base.log_prob(z)) * z**2)
        with warnings.catch_warnings():
            warnings.simplefilter("error", integrate.IntegrationWarning)
            try:
                variance = 2 * integrate.quad(lambda z: float(weighted(z)), 0, np.inf, limit=200)[0]
            except integrate.IntegrationWarning:
                variance = np.inf
    if not np.isfinite(variance):
        raise ValueError("base has no variance, so its scale is not to be had from moments; use fit_mle")
    return float(np.sqrt(variance))


@partial(jax.jit, static_argnames="base")
def _cost(theta, x, base):
    positive = POSITIVE[: len(theta)]
    natural = lambda t: jnp.where(positive, jnp.exp(jnp.where(positive, t, 0.0)), t)  # no overflow in what is left out
    return jax.value_and_grad(lambda t: -_log_p(natural(t), x, base).mean())(theta)


@partial(jax.jit, static_argnames="base")
def _scores(theta, x, base):
    """The derivative of each datum's log density in mu, sigma and gamma, and in the degrees of freedom if they are fitted: (n, 3 or 4)."""
    return jax.vmap(jax.grad(lambda t, one: _log_p(t, one, base)), (None, 0))(theta, x)


def _log_p(theta, x, base):
    """Log density; without a base that of a t base, whose degrees of freedom are a parameter."""
    if base is None:
        base = normal()._replace(log_prob=lambda z: jax.scipy.stats.t.logpdf(z, theta[3]))
    return log_density(x, theta[0], theta[1], theta[2], base)


def _starts(y, centre, spread):
    """Of location, log scale and skew: no skew, and the iterated moments, which need not be a fit."""
    moments, _ = _rounds(y, normal(), STEPS, TOLERANCE)
    return [np.zeros(3), np.array([(moments.mu - centre) / spread, np.log(moments.sigma / spread), moments.gamma])]


def _starts_of_t(x):
    """The same and the log degrees of freedom; of heavy tails the standard deviation says little, and the moments less."""
    inner = np.log(max(np.median(np.abs(x)), COLLAPSED))
    return [np.array([0.0, inner, 0.0, np.log(df)]) for df in (2.0, 10.0)]


def _simplex(centre):
    return np.vstack([centre, centre + 0.01 * np.eye(len(centre))])


def _standard_error(scores):
    try:
        return np.sqrt(np.diag(np.linalg.inv(scores.T @ scores)))
    except np.linalg.LinAlgError:
        return np.full(scores.shape[1], np.nan)


@jax.jit
def _skewness(x, gamma):
    z = g_e_inverse(x, gamma)
    z = z - z.mean()
    return (z**3).mean() / (z**2).mean() ** 1.5


def _skew_that_straightens(x) -> float:
    """The root in gamma of the skewness of the origins; where none is found, the skew tried that leaves least."""
    now = float(_skewness(x, 0.0))
    tried = {0.0: now}
    end = 0.05 * np.sign(now)
    while abs(end) < WIDEST and tried.setdefault(end, float(_skewness(x, end))) * now > 0:
        end *= 2
    left = tried.setdefault(end, float(_skewness(x, end)))
    if left * now > 0 or now == 0:
        return float(min(tried, key=lambda gamma: abs(tried[gamma])))
    return float(optimize.brentq(lambda gamma: float(_skewness(x, gamma)), 0.0, end, xtol=1e-13))
