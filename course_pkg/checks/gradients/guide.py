"""Write the guide. Road: the exact posterior on a grid; how near can the guide come, whatever its parameters?"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize
from scipy.stats import gamma as gamma_law
from scipy.stats import norm

from course_pkg.checks._judge import NOT_WRITTEN, Mistake, Task, Verdict

PRIOR_SD, ALPHA, BETA = 10.0, 2.0, 1.0
SITES = {"mu", "gamma"}
NEAR = 0.1  # nats; the best product of a normal and a gamma is within 0.03 on these data


class _Fault(Exception):  # noqa: N818  (a verdict on its way out)
    """What is wrong with a guide; the text is the verdict's message."""


MISSING = "Every hidden variable of the model needs a sample statement of the same name in the guide. These are missing: {}."
STRANGE = "Your guide samples something that the model does not hide: {}. Only mu and gamma belong into it, and x is observed."
SIGN = "With other parameter values your guide has a scale that is not positive. Tell numpyro.param its constraint."
LINE = "Your guide lets gamma be negative. A precision lives on the positive half line; choose a distribution that does, too."
FEW = (
    "Your guide has too few numbers to learn: each of mu and gamma needs a place and a width, each as a numpyro.param. "
    "Two params of one name are one param."
)
FAR = (
    "The best that your guide can do is {:.2g} nats away from the posterior. Can each place and each width move on its own, "
    "and to every value it may need, negative ones too?"
)
NAMES = "A param of your guide is named like one of its sample sites, or two sites are named alike. Give it a name that no sample site has."
RIGHT = "Right. At its best your guide is {:.2g} nats away from the exact posterior."


def _data(seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 470])
    x = rng.normal(0.0, rng.uniform(0.7, 1.4), 25)
    return x - x.mean() - rng.uniform(0.7, 1.0)  # a negative mean, so that a guide which cannot follow it is found out


def _posterior(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A grid of mu and gamma, where the posterior lies, and the posterior's probabilities there."""
    rough_sd = x.std() / np.sqrt(len(x))
    mu = np.linspace(x.mean() - 6 * rough_sd, x.mean() + 6 * rough_sd, 41)
    precision = np.linspace(0.02, 3.2, 65) / x.var()
    grid_mu, grid_precision = (part.ravel() for part in np.meshgrid(mu, precision))
    log_density = norm.logpdf(grid_mu, 0, PRIOR_SD) + gamma_law.logpdf(grid_precision, ALPHA, scale=1 / BETA)
    log_density = log_density + norm.logpdf(x[:, None], grid_mu, grid_precision**-0.5).sum(axis=0)
    weights = np.exp(log_density - log_density.max())
    return grid_mu, grid_precision, weights / weights.sum()


def _trace(guide: Callable[..., Any], x: np.ndarray, values: dict[str, Any] | None = None) -> dict[str, Any]:
    from numpyro import handlers, validation_enabled

    with (
        validation_enabled(),
        handlers.block(),
        handlers.trace() as sites,
        handlers.seed(rng_seed=0),
        handlers.substitute(data=values or {}),
    ):
        guide(x)
    return dict(sites)


def _start(sites: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters as unconstrained numbers, and the maps back."""
    from numpyro.distributions import biject_to, constraints

    params = {name: site for name, site in sites.items() if site["type"] == "param"}
    maps = {name: biject_to(site["kwargs"].get("constraint", constraints.real)) for name, site in params.items()}
    return {name: maps[name].inv(jnp.asarray(site["value"], dtype=float)) for name, site in params.items()}, maps


def _look(guide: Callable[..., Any], x: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    """Everything that can be seen without fitting; returns the parameters."""
    sites = _trace(guide, x)
    sampled = {name for name, site in sites.items() if site["type"] == "sample"}
    if not sampled and not any(site["type"] == "param" for site in sites.values()):
        raise _Fault("Your guide samples nothing. It needs a numpyro.sample statement for each hidden variable.")
    if SITES - sampled:
        raise _Fault(MISSING.format(", ".join(sorted(SITES - sampled))))
    if sampled - SITES:
        raise _Fault(STRANGE.format(", ".join(sorted(sampled - SITES))))
    free, maps = _start(sites)
    if sum(value.size for value in free.values()) < 4:
        raise _Fault(FEW)
    for shift in (-1.5, 1.5):  # anywhere an optimiser may go
        values = {name: maps[name](value + shift) for name, value in free.items()}
        try:
            law = _trace(guide, x, values)["gamma"]["fn"]
        except ValueError as error:
            raise _Fault(SIGN if "invalid" in str(error) else f"Your guide raised ValueError: {error}") from error
        if np.any(law.support(jnp.asarray(-1.0))):
            raise _Fault(LINE)
    return free, maps


def _nearest(guide: Callable[..., Any], x: np.ndarray, free: dict[str, Any], maps: dict[str, Any]) -> float:
    """The smallest divergence from the posterior that the guide can reach, both as probabilities on the grid."""
    mu, precision, posterior = _posterior(x)
    flat, unravel = ravel_pytree(free)
    log_posterior = jnp.log(jnp.asarray(posterior) + 1e-30)

    def log_guide(numbers: Any, mu: Any, precision: Any) -> Any:
        values = {name: maps[name](value) for name, value in unravel(numbers).items()}
        sites = _trace(guide, x, values | {"mu": mu, "gamma": precision})
        return sum(sites[name]["fn"].log_prob(value).sum() for name, value in (("mu", mu), ("gamma", precision)))

    @jax.jit
    @jax.value_and_grad
    def divergence(numbers: Any) -> Any:
        log_q = jax.nn.log_softmax(jax.vmap(log_guide, (None, 0, 0))(numbers, jnp.asarray(mu), jnp.asarray(precision)))
        return jnp.sum(jnp.exp(log_q) * (log_q - log_posterior))

    def step(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = divergence(jnp.asarray(numbers, dtype=flat.dtype))
        return float(jnp.nan_to_num(value, nan=1e6)), np.nan_to_num(np.asarray(gradient, dtype=float))

    # a search that overshoots the grid stays there, where nothing slopes: look from other places before a guide is turned away
    start, rng, best = np.asarray(flat, dtype=float), np.random.default_rng(0), np.inf
    for kept, spread in [(1, 0.0), (0, 0.0), (0, 0.5), (0, 0.5), (1, 1.0), (0, 1.0), (0, 1.0)]:
        there = kept * start + spread * rng.normal(size=start.shape)
        best = min(best, float(minimize(step, there, jac=True, method="L-BFGS-B").fun))
        if best < NEAR:
            break
    return best


def guide_stub(x: np.ndarray) -> Any:
    raise NotImplementedError


def _site_missing(x):  # noqa: ARG001
    import numpyro
    from numpyro.distributions import Normal, constraints

    loc = numpyro.param("loc", 0.0)
    scale = numpyro.param("scale", 1.0, constraint=constraints.positive)
    numpyro.sample("mu", Normal(loc, scale))


def _scale_unconstrained(x):  # noqa: ARG001
    import numpyro
    from numpyro.distributions import Gamma, Normal

    numpyro.sample("mu", Normal(numpyro.param("loc", 0.0), numpyro.param("scale", 1.0)))
    numpyro.sample("gamma", Gamma(numpyro.param("a", 1.0), numpyro.param("b", 1.0)))


def _widths_fixed(x):  # noqa: ARG001
    import numpyro
    from numpyro.distributions import Gamma, Normal, constraints

    numpyro.sample("mu", Normal(numpyro.param("loc", 0.0), 1.0))
    numpyro.sample("gamma", Gamma(numpyro.param("a", 1.0, constraint=constraints.positive), 1.0))


def _gamma_normal(x):  # noqa: ARG001
    import numpyro
    from numpyro.distributions import Normal, constraints

    for name in ("mu", "gamma"):
        scale = numpyro.param(f"{name}_scale", 1.0, constraint=constraints.positive)
        numpyro.sample(name, Normal(numpyro.param(f"{name}_loc", 0.0), scale))


def _named_like_a_site(x):  # noqa: ARG001
    import numpyro
    from numpyro.distributions import LogNormal, Normal, constraints

    for name, law in (("mu", Normal), ("gamma", LogNormal)):
        scale = numpyro.param(f"{name}_scale", 1.0, constraint=constraints.positive)
        numpyro.sample(name, law(numpyro.param(name, 0.0), scale))


GUIDE_MISTAKES = {
    "a param named like a site": Mistake(_named_like_a_site, NAMES),
    "a site missing": Mistake(_site_missing, MISSING.format("gamma")),
    "unconstrained scale": Mistake(_scale_unconstrained, SIGN),
    "widths fixed": Mistake(_widths_fixed, FEW),
    "gamma on the whole line": Mistake(_gamma_normal, LINE),
}


def guide_verdict(answer: Any, seed: int = 0) -> Verdict:
    if not callable(answer):
        return Verdict(False, "Hand over the guide itself, a function of x, without brackets after its name.")
    x = _data(seed)
    try:
        free, maps = _look(answer, x)
        distance = _nearest(answer, x, free, maps)
    except _Fault as fault:
        return Verdict(False, str(fault))
    except NotImplementedError:
        return Verdict(False, NOT_WRITTEN)
    except Exception as error:
        if "unique names" in str(error):
            return Verdict(False, NAMES)
        return Verdict(False, f"Your guide could not be run: {type(error).__name__}: {error}")
    if not distance < NEAR:
        return Verdict(False, FAR.format(distance))
    return Verdict(True, RIGHT.format(max(distance, 0.0)))


TASKS = (
    Task(
        "gradients/guide/guide",
        "Write the guide",
        1,
        20,
        guide_stub,
        (
            "A guide is a program that samples every hidden variable of the model, from distributions with learnable parameters.",
            "q(mu, gamma) = Normal(mu; m, s) Gamma(gamma; a, b): four parameters, three of which must stay positive.",
            'Begin with `m = numpyro.param("m", 0.0)`',
        ),
        GUIDE_MISTAKES,
        guide_verdict,
    ),
)
