"""A NumPyro program as a `Model`."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray

from course_pkg.models.model import Model, refusing


def from_numpyro(fn: Callable, *args, **kwargs) -> tuple[Model, dict[str, Any]]:
    r"""A NumPyro model, called with ``fn(*args, **kwargs)``, as a `Model` together with its data.

    The unconstrained vector holds the latent sites in the order of their names, each unconstrained by NumPyro's own bijection. The prior
    has the Jacobians; the likelihood is the observed sites and ``numpyro.factor``, so a minibatch scales factors too. `constrain` adds the
    deterministic sites. A program with an unknown for each row does not go with minibatches: the unknowns stay as many as they were.

    Args:
        fn: a NumPyro model whose latent sites are continuous.
        *args: its arguments. Arrays with at least one axis become the data; all else (sizes, options) is fixed.
        **kwargs: more of them. At least one site must be observed.

    Returns:
        The `Model` and its data, ``{name of the argument: array}``. ``predict(key, theta, covariates)`` draws every observed site anew: its
        value where there is one such site, else ``{name: value}``. ``covariates`` is None for the rows of the data, or
        ``{name of the argument: array}`` for others; an outcome with the default None is then left out.

    Raises:
        ValueError: if a latent site is discrete, nothing is observed, the model holds a ``param`` or subsamples, or a size is taken from
            the values of an array; the message names the site where there is one.

    Example:
        >>> import numpyro
        >>> from numpyro import distributions as dist
        >>> def thermometer(readings):
        ...     temperature = numpyro.sample("temperature", dist.Normal(15.0, 2.0))
        ...     numpyro.sample("sensor", dist.Normal(temperature, 1.0), obs=readings)
        >>> model, data = from_numpyro(thermometer, jnp.array([18.0]))
        >>> model.dim, round(float(model.log_likelihood(jnp.array([18.0]), data)), 4)
        (1, -0.9189)
        >>> model.predict(jax.random.key(0), jnp.array([18.0]), None).shape
        (1,)

    Source: Phan, Pradhan and Jankowiak (2019); LCVI paper, section 5 (decisions from a model that is a program).
    """
    from numpyro.handlers import block, seed, substitute, trace, uncondition
    from numpyro.infer.util import compute_log_probs, constrain_fn, potential_energy

    bound = inspect.signature(fn).bind(*args, **kwargs)
    given = {name: _as_data(value) for name, value in bound.arguments.items()}
    data = {name: value for name, value in given.items() if _is_data(value)}
    sites = _trace(fn, bound, given)
    latent, observed, seen = _sort(sites)
    structure = {name: _unconstrained(site) for name, site in latent.items()}
    flat, unravel = ravel_pytree(structure)

    def call(replaced):
        """Positional and named arguments, with some of them replaced."""
        arguments = {**given, **replaced}
        changed = inspect.BoundArguments(bound.signature, {name: arguments[name] for name in bound.arguments})
        return changed.args, changed.kwargs

    def constrain(theta, arguments=None, *, deterministic=True):
        return constrain_fn(fn, *call(arguments or {}), unravel(theta), return_deterministic=deterministic)

    def log_prior(theta):
        return -potential_energy(block(fn, hide=[*observed]), *call({}), unravel(theta))

    def log_likelihood(theta, data):
        log_probs, _ = compute_log_probs(fn, *call(data), constrain(theta, data, deterministic=False))
        return sum(log_probs[name] for name in observed)

    def predict(key: PRNGKeyArray, theta, covariates=None):
        arguments = _for_prediction(bound, given, seen, covariates)
        values = constrain(theta, deterministic=False)
        key, *keys = jax.random.split(key, 1 + len(seen))
        program = substitute(uncondition(seed(fn, rng_seed=key)), data=values)
        positional, by_name = call(arguments)
        drawn = trace(program).get_trace(*positional, **by_name)
        named = {name: drawn[name]["value"] for name in seen}
        if covariates is None:  # outside a plate, one distribution may stand for many rows
            shapes = [jnp.shape(site["value"]) for site in seen.values()]
            named = {name: _as_many(k, drawn[name], shape) for name, k, shape in zip(seen, keys, shapes, strict=True)}
        return next(iter(named.values())) if len(named) == 1 else named

    discrete = [name for name, site in seen.items() if not site["fn"].has_rsample]
    if discrete:
        predict = refusing(predict, no_derivative(discrete))
    model = Model(flat.size, log_prior, log_likelihood, predict, partial(constrain, arguments=None))
    _try(model, data)
    return model, data


def _as_many(key, site, shape):
    extra = shape[: len(shape) - jnp.ndim(site["value"])]
    return site["fn"].sample(key, extra) if extra else site["value"]


def no_derivative(names: list[str]) -> str:
    """Why a draw of these sites has no derivative, and what to do instead."""
    return (
        f"predict cannot be differentiated: a draw of {', '.join(names)} is discrete, passes through a discrete choice, or has no known "
        "reparameterisation. Sum over its values with their probabilities, use a score-function gradient, or stop the gradient at theta"
    )


def _as_data(value):
    if isinstance(value, list):
        value = np.asarray(value)
    if isinstance(value, np.ndarray | jax.Array) and value.ndim and np.asarray(value).dtype.kind in "biuf":
        return jnp.asarray(value)
    return value


def _is_data(value) -> bool:
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(isinstance(leaf, np.ndarray | jax.Array) and leaf.ndim for leaf in leaves)


def _trace(fn, bound, given):
    from numpyro.handlers import seed, trace

    changed = inspect.BoundArguments(bound.signature, given)
    return trace(seed(fn, rng_seed=0)).get_trace(*changed.args, **changed.kwargs)


def _sort(sites):
    """Latent sites in the order of their names; observed ones, factors among them; those of the observed ones that can be drawn."""
    from numpyro.distributions import Unit

    for name, site in sites.items():
        if site["type"] == "param":
            raise ValueError(f"fn holds the parameter {name}, which has no prior; give it one with numpyro.sample, or a fixed value")
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0]):
            raise ValueError(f"fn subsamples the plate {name}; pass all rows, and let the estimator choose minibatches of the data")
    samples = {name: site for name, site in sites.items() if site["type"] == "sample"}
    latent = {name: samples[name] for name in sorted(samples) if not samples[name]["is_observed"]}
    observed = {name: site for name, site in samples.items() if site["is_observed"]}
    seen = {name: site for name, site in observed.items() if not isinstance(_innermost(site["fn"]), Unit)}
    for name, site in latent.items():
        if site["fn"].is_discrete:
            raise ValueError(f"fn draws the discrete site {name}; sum it out, for example with a mixture distribution")
    if not seen:
        raise ValueError("fn observes nothing; pass the outcome, so that a site has obs=...")
    if not latent:
        raise ValueError("fn has no unknown; leave at least one site unobserved")
    return latent, observed, seen


def _innermost(distribution):
    while hasattr(distribution, "base_dist"):
        distribution = distribution.base_dist
    return distribution


def _unconstrained(site):
    from numpyro.distributions import biject_to

    return biject_to(site["fn"].support).inv(site["value"])


def _for_prediction(bound, given, seen, covariates):
    """Arguments that differ from those of the data: the covariates, and no outcome where the model can do without."""
    if covariates is None:
        return {}
    if not isinstance(covariates, Mapping):
        raise ValueError(f"covariates is a {type(covariates).__name__}; give None, or a dictionary of arguments of the model by name")
    unknown = sorted(set(covariates) - set(given))
    if unknown:
        raise ValueError(f"covariates holds {unknown[0]!r}, which the model was not called with; give some of {sorted(given)}")
    outcomes = {name for name, value in given.items() if any(site["value"] is value for site in seen.values())}
    optional = {name for name in outcomes if bound.signature.parameters[name].default is None}
    return dict.fromkeys(optional) | dict(covariates)


def _try(model, data):
    """Trace the densities once, so that what cannot be compiled is named now."""
    theta = jax.ShapeDtypeStruct((model.dim,), jnp.result_type(float))
    try:
        jax.eval_shape(model.log_prior, theta)
        jax.eval_shape(model.log_likelihood, theta, data)
    except jax.errors.ConcretizationTypeError as problem:
        raise ValueError("fn takes a size or a branch from the values of an array; pass it as a plain number of its own") from problem
