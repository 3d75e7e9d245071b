"""A PyMC model as a `Model`."""

import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg.models.adapters_numpyro import no_derivative
from course_pkg.models.model import Model, refusing

# Distributions whose draw JAX makes by a differentiable function of their parameters.
DIFFERENTIABLE = {
    "Beta", "Cauchy", "Dirichlet", "Exponential", "Gamma", "Gumbel", "HalfCauchy", "HalfNormal", "InvGamma", "Laplace", "LogNormal",
    "Logistic", "MvNormal", "Normal", "Pareto", "StudentT", "Uniform",
}  # fmt: skip


def from_pymc(model) -> tuple[Model, dict[str, Any]]:
    r"""A PyMC model as a `Model` together with its data.

    The unconstrained vector holds PyMC's value variables in the order in which the model declares them, each unconstrained by PyMC's own
    transform. The prior has the Jacobians; the likelihood is the observed variables and the potentials. `constrain` adds the
    deterministics.

    Args:
        model: a ``pymc.Model`` whose free variables are continuous.

    Returns:
        The `Model` and its data: ``{name: array}`` of every ``pm.Data`` container, and of every variable that was observed as a plain
        array. Other arrays inside the model are fixed. ``predict(key, theta, covariates)`` draws every observed variable anew: its value
        where there is one, else ``{name: value}``. ``covariates`` is None for the rows of the data, or ``{name of a container: array}`` for
        others; an outcome that lies in a container gets as many rows.

    Raises:
        ValueError: if a free variable is discrete, nothing is free or observed, or a name or shape of covariates does not fit.

    Example:
        >>> import pymc as pm
        >>> with pm.Model() as thermometer:
        ...     temperature = pm.Normal("temperature", 15.0, 2.0)
        ...     sensor = pm.Normal("sensor", temperature, 1.0, observed=[18.0])
        >>> model, data = from_pymc(thermometer)
        >>> model.dim, round(float(model.log_likelihood(jnp.array([18.0]), data)), 4)
        (1, -0.9189)
        >>> model.predict(jax.random.key(0), jnp.array([18.0]), None).shape
        (1,)

    Source: Abril-Pla et al. (2023); LCVI paper, section 5 (decisions from a model that is a program).
    """
    _check(model)
    _, shapes = zip(*_shapes(model), strict=True)
    sizes = [int(np.prod(shape)) for shape in shapes]
    inputs = _data_variables(model)
    data = {name: jnp.asarray(_value(variable)) for name, variable in inputs.items()}

    def split(theta):
        parts = jnp.split(theta, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    named = [*model.free_RVs, *model.deterministics]
    prior = _in_jax(model.value_vars, [model.varlogp])
    likelihood = cache(lambda signature: _with_data(model.value_vars, [model.datalogp], inputs, signature))
    values_of = _in_jax(model.value_vars, model.replace_rvs_by_values(named))
    sampler = cache(lambda signature: _sampler(model, inputs, signature))

    def log_prior(theta):
        return prior(*split(theta))[0]

    def log_likelihood(theta, data):
        return likelihood(_signature(data))(*split(theta), *data.values())[0]

    def constrain(theta):
        return {variable.name: value for variable, value in zip(named, values_of(*split(theta)), strict=True)}

    def predict(key: PRNGKeyArray, theta, covariates=None):
        rows = data if covariates is None else _for_prediction(model, inputs, data, covariates)
        free = values_of(*split(theta))[: len(model.free_RVs)]
        draw, streams = sampler(_signature(rows))
        states = [{"jax_state": stream} for stream in jax.random.split(key, streams)]
        names = [variable.name for variable in model.observed_RVs]
        try:
            drawn = draw(*free, *rows.values(), *states)
        except NotImplementedError as problem:
            raise ValueError(f"PyMC cannot draw {', '.join(names)} in JAX: {problem}; use pymc.sample_posterior_predictive") from problem
        return drawn[0] if len(drawn) == 1 else dict(zip(names, drawn, strict=True))

    refused = [variable.name for variable in model.observed_RVs if not _differentiable(variable)]
    if refused:
        predict = refusing(predict, no_derivative(refused))
    return Model(sum(sizes), log_prior, log_likelihood, predict, constrain), data


def _check(model):
    if not model.free_RVs:
        raise ValueError("model has no free variable; leave at least one unobserved")
    if not model.observed_RVs:
        raise ValueError("model observes nothing; give a variable observed=...")
    if model.discrete_value_vars:
        name = model.values_to_rvs[model.discrete_value_vars[0]].name
        raise ValueError(f"model has the discrete variable {name}; sum it out, for example with pm.Mixture or pymc_extras.marginalize")


def _shapes(model):
    shapes = model.eval_rv_shapes()
    return [(value.name, tuple(int(n) for n in shapes[value.name])) for value in model.value_vars]


def _data_variables(model):
    """Symbolic variables that stand for data, by name: containers, and the values of variables that were observed as plain arrays."""
    from pytensor.graph.basic import Constant

    containers = {variable.name: variable for variable in model.data_vars}
    values = {variable.name: model.rvs_to_values[variable] for variable in model.observed_RVs}
    return containers | {name: value for name, value in values.items() if isinstance(value, Constant)}


def _value(variable):
    from pytensor.graph.basic import Constant

    return variable.data if isinstance(variable, Constant) else variable.get_value()


def _signature(data):
    return tuple((name, tuple(jnp.shape(value))) for name, value in data.items())


def _with_data(before, outputs, inputs, signature):
    """A JAX function of `before` and of data of these shapes."""
    from pytensor.graph.replace import clone_replace

    stand_ins = _stand_ins(inputs, signature)
    replaced = clone_replace(outputs, {inputs[name]: stand_in for name, stand_in in stand_ins.items()}, rebuild_strict=False)
    return _in_jax([*before, *stand_ins.values()], replaced)


def _stand_ins(inputs, signature):
    import pytensor.tensor as pt

    return {name: pt.tensor(name, dtype=inputs[name].dtype, shape=shape) for name, shape in signature}


def _sampler(model, inputs, signature):
    """A JAX function from the free variables, data and random states to draws of the observed variables; and how many states it takes."""
    from pytensor.graph.replace import clone_replace
    from pytensor.graph.traversal import graph_inputs
    from pytensor.tensor.random.type import RandomType

    free = [variable.type(name=variable.name) for variable in model.free_RVs]
    stand_ins = _stand_ins(inputs, signature)
    swaps = dict(zip(model.free_RVs, free, strict=True)) | {inputs[name]: stand_in for name, stand_in in stand_ins.items()}
    swaps |= _dimension_lengths(model, signature)
    drawn = clone_replace(model.observed_RVs, swaps, rebuild_strict=False)
    streams = [variable for variable in graph_inputs(drawn) if isinstance(variable.type, RandomType)]
    states = [stream.type() for stream in streams]
    drawn = clone_replace(drawn, dict(zip(streams, states, strict=True)))
    return _in_jax([*free, *stand_ins.values(), *states], drawn), len(streams)


def _dimension_lengths(model, signature):
    """Named dimensions that stand for themselves in the graph, with the lengths that the data of this shape give them."""
    import pytensor.tensor as pt
    from pytensor.compile.sharedvalue import SharedVariable

    lengths = {}
    for name, shape in signature:
        for dimension, length in zip(model.named_vars_to_dims.get(name) or (), shape, strict=False):
            symbol = model.dim_lengths.get(dimension)
            if isinstance(symbol, SharedVariable):
                lengths[symbol] = pt.constant(length, dtype=symbol.type.dtype)
    return lengths


def _in_jax(inputs, outputs):
    """The graph as a JAX function that keeps to the precision which the session has, and says nothing about it."""
    with ThreadPoolExecutor(1) as elsewhere:  # a thread of its own sees the session's setting, whatever `jax.enable_x64` says here
        get_jaxified_graph = elsewhere.submit(_import_without_a_trace).result()
    with jax.ensure_compile_time_eval():  # the graph is kept beyond a trace that may be asking for it
        graph = get_jaxified_graph(inputs=inputs, outputs=outputs)

    def function(*arguments):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Explicitly requested dtype", category=UserWarning)
            return graph(*arguments)

    return function


def _import_without_a_trace():
    before = jax.config.jax_enable_x64
    from pymc.sampling.jax import get_jaxified_graph

    jax.config.update("jax_enable_x64", before)  # the first import turns double precision on for everybody
    return get_jaxified_graph


def _for_prediction(model, inputs, data, covariates):
    """The data with covariates in their place, and outcomes stretched to as many rows: their values do not matter, their number does."""
    if not isinstance(covariates, Mapping):
        raise ValueError(f"covariates is a {type(covariates).__name__}; give None, or a dictionary of data containers by name")
    containers = {variable.name for variable in model.data_vars}
    unknown = sorted(set(covariates) - containers)
    if unknown:
        raise ValueError(f"covariates holds {unknown[0]!r}, which is no pm.Data of the model; give some of {sorted(containers)}")
    new = {name: jnp.asarray(value) for name, value in covariates.items()}
    lengths = {data[name].shape[0]: value.shape[0] for name, value in new.items() if data[name].ndim and value.ndim}
    for name in set(data) - set(new):
        rows = lengths.get(data[name].shape[0]) if data[name].ndim else None
        if rows is None or rows == data[name].shape[0] or not _is_outcome(model, inputs[name]):
            continue
        if name not in containers:
            raise ValueError(f"{name} was observed as a plain array, so it keeps its shape; put it into pm.Data to predict other rows")
        new[name] = jnp.zeros((rows, *data[name].shape[1:]), data[name].dtype)
    return {name: new.get(name, value) for name, value in data.items()}


def _is_outcome(model, variable) -> bool:
    from pytensor.graph.traversal import ancestors

    return any(variable in set(ancestors([model.rvs_to_values[rv]])) for rv in model.observed_RVs)


def _differentiable(variable) -> bool:
    """Whether every random draw inside is a differentiable function of its parameters."""
    from pymc.distributions.distribution import SymbolicRandomVariable
    from pytensor.graph.traversal import applys_between
    from pytensor.tensor.random.op import RandomVariable

    op = variable.owner.op
    if isinstance(op, RandomVariable):
        return type(op).__name__.removesuffix("RV") in DIFFERENTIABLE
    if isinstance(op, SymbolicRandomVariable):
        inner = applys_between(op.inner_inputs, op.inner_outputs)
        draws = [node.outputs[-1] for node in inner if isinstance(node.op, RandomVariable | SymbolicRandomVariable)]
        return bool(draws) and all(_differentiable(draw) for draw in draws)
    return False
