"""Write the guide. Road: the exact posterior on a grid; how near can the guide come, whatever its parameters?"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpyro import handlers, validation_enabled
from numpyro.distributions import biject_to, constraints
from scipy.optimize import minimize
from scipy.stats import gamma as gamma_law
from scipy.stats import norm

from course_pkg.checks._judge import NOT_WRITTEN, Trouble, Verdict
from course_pkg.checks.record import Record

PRIOR_SD, ALPHA, BETA = 10.0, 2.0, 1.0
SITES = {"mu", "gamma"}
NEAR = 0.1  # nats; the best product of a normal and a gamma is within 0.03 on these data
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


def data(seed):
    rng = np.random.default_rng([seed, 470])
    x = rng.normal(0.0, rng.uniform(0.7, 1.4), 25)
    return x - x.mean() - rng.uniform(0.7, 1.0)  # a negative mean, so that a guide which cannot follow it is found out


def posterior(x):
    """A grid of mu and gamma, where the posterior lies, and the posterior's probabilities there."""
    mu = x.mean() + x.std() / np.sqrt(len(x)) * np.linspace(-6, 6, 41)
    grid_mu, precision = (part.ravel() for part in np.meshgrid(mu, np.linspace(0.02, 3.2, 65) / x.var()))
    log_density = norm.logpdf(grid_mu, 0, PRIOR_SD) + gamma_law.logpdf(precision, ALPHA, scale=1 / BETA)
    log_density = log_density + norm.logpdf(x[:, None], grid_mu, precision**-0.5).sum(axis=0)
    weights = np.exp(log_density - log_density.max())
    return grid_mu, precision, weights / weights.sum()


def trace(guide, x, values):
    with validation_enabled(), handlers.block(), handlers.trace() as sites, handlers.seed(rng_seed=0), handlers.substitute(data=values):
        guide(x)
    return dict(sites)


def look(guide, x):
    """Everything that can be seen without fitting; returns the parameters as unconstrained numbers, and the maps back."""
    sites = trace(guide, x, {})
    sampled = {name for name, site in sites.items() if site["type"] == "sample"}
    params = {name: site for name, site in sites.items() if site["type"] == "param"}
    if not sampled and not params:
        raise Trouble("Your guide samples nothing. It needs a numpyro.sample statement for each hidden variable.")
    if SITES - sampled:
        raise Trouble(MISSING.format(", ".join(sorted(SITES - sampled))))
    if sampled - SITES:
        raise Trouble(STRANGE.format(", ".join(sorted(sampled - SITES))))
    maps = {name: biject_to(site["kwargs"].get("constraint", constraints.real)) for name, site in params.items()}
    free = {name: maps[name].inv(jnp.asarray(site["value"], dtype=float)) for name, site in params.items()}
    if sum(value.size for value in free.values()) < 4:
        raise Trouble(FEW)
    for shift in (-1.5, 1.5):  # anywhere an optimiser may go
        try:
            law = trace(guide, x, {name: maps[name](value + shift) for name, value in free.items()})["gamma"]["fn"]
        except ValueError as error:
            raise Trouble(SIGN if "invalid" in str(error) else f"Your guide raised ValueError: {error}") from error
        if np.any(law.support(jnp.asarray(-1.0))):
            raise Trouble(LINE)
    return free, maps


def nearest(guide, x, free, maps):
    """The smallest divergence from the posterior that the guide can reach, both as probabilities on the grid."""
    mu, precision, probabilities = posterior(x)
    flat, unravel = ravel_pytree(free)

    def log_guide(numbers, mu, precision):
        values = {name: maps[name](value) for name, value in unravel(numbers).items()} | {"mu": mu, "gamma": precision}
        sites = trace(guide, x, values)
        return sum(sites[name]["fn"].log_prob(values[name]).sum() for name in SITES)

    @jax.jit
    @jax.value_and_grad
    def divergence(numbers):
        log_q = jax.nn.log_softmax(jax.vmap(log_guide, (None, 0, 0))(numbers, jnp.asarray(mu), jnp.asarray(precision)))
        return jnp.sum(jnp.exp(log_q) * (log_q - jnp.log(jnp.asarray(probabilities) + 1e-30)))

    def step(numbers):
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


def by_what_it_can_reach(answer, seed, _):
    if not callable(answer):
        return Verdict(False, "Hand over the guide itself, a function of x, without brackets after its name.")
    x = data(seed)
    try:
        distance = nearest(answer, x, *look(answer, x))
    except Trouble as trouble:
        return Verdict(False, str(trouble))
    except NotImplementedError:
        return Verdict(False, NOT_WRITTEN)
    except Exception as error:
        return Verdict(False, NAMES if "unique names" in str(error) else f"Your guide could not be run: {type(error).__name__}: {error}")
    return Verdict(True, GUIDE.right.format(max(distance, 0.0))) if distance < NEAR else Verdict(False, FAR.format(distance))


MU = 'numpyro.sample("mu", Normal(m, s))'
GUIDE = Record(
    right="Right. At its best your guide is {:.2g} nats away from the exact posterior.",
    nudge=FAR,
    hints=(
        "A guide is a program that samples every hidden variable of the model, from distributions with learnable parameters.",
        "q(mu, gamma) = Normal(mu; m, s) Gamma(gamma; a, b): four parameters, three of which must stay positive.",
        'Begin with `m = numpyro.param("m", 0.0)`',
    ),
    mistakes={
        NAMES: 'param("m" -> param("mu"',
        MISSING.format("gamma"): 'numpyro.sample("gamma", Gamma(a, b)) -> ',
        STRANGE.format("x"): f'{MU} -> {MU}; numpyro.sample("x", Normal(0, 1), obs=x)',
        SIGN: ", constraint=constraints.positive -> ",
        FEW: ('"b" -> "a"', 'numpyro.param("s", 1.0, constraint=constraints.positive) -> 1.0'),
        LINE: "Gamma(a, b) -> Normal(a, b)",
    },
    by=by_what_it_can_reach,
)
TASKS = {"guide": GUIDE}
