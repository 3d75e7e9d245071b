"""A PyMC model as a `Model`."""

import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg.models.adapters_numpyro import (
    TOGETHER,
    as_data,
    check_covariates,
    different_lengths,
    for_its_rows_alone,
    no_derivative,
    other_rows,
    refuse,
)
from course_pkg.models.model import Model, refusing
from course_pkg.models.reading import Reading, nothing

# Distributions whose draw JAX makes by a differentiable function of their parameters.
DIFFERENTIABLE = {
    "Beta", "Cauchy", "Dirichlet", "Exponential", "Gamma", "Gumbel", "HalfCauchy", "HalfNormal", "InvGamma", "Laplace", "LogNormal",
    "Logistic", "MvNormal", "Normal", "Pareto", "StudentT", "Uniform", "Weibull",
}  # fmt: skip
BY_DRAWS = "decide from draws of pymc.sample_posterior_predictive instead (decisions.bayes_decision, posthoc.correct)"
PLACES = "{0} has missing values, whose places belong to the rows that were fitted; leave these rows out and put {0} into pm.Data"
INSIDE = "the model holds an array of {} rows that is no pm.Data, so it predicts for these rows alone; put it into pm.Data"


def from_pymc(model) -> tuple[Model, dict[str, Any]]:
    r"""A PyMC model as a `Model` together with its data.

    The unconstrained vector holds PyMC's value variables in the order in which the model declares them, each unconstrained by PyMC's own
    transform. The prior has the Jacobians; the likelihood is the observed variables and the potentials. `constrain` adds the
    deterministics. What is a row and what the outcome is read from the model: the outcome is what is observed, and the arrays that share
    its first dimension (by name where it has one, else by length) have an entry for each row. Of an outcome whose draws have no
    derivative the reading has the log probability.

    Args:
        model: a ``pymc.Model`` whose free variables are continuous.

    Returns:
        The `Model` and its data: ``{name: array}`` of every ``pm.Data`` container, and of every variable that was observed as a plain
        array. Other arrays inside the model are fixed. ``predict(key, theta, covariates)`` draws every observed variable anew: its value
        where there is one, else ``{name: value}``. ``covariates`` is None for the rows of the data, or ``{name of a container: array}`` for
        others; the values of an outcome are then not looked at, and it may be left out.

    Raises:
        ValueError: if a free variable is discrete, nothing is free or observed, the model takes minibatches of its own, or a part of it
            has no density or no form in JAX. `predict` refuses covariates that leave out an array of rows, differ in length or in their
            number of axes, or ask for other rows of a plain observed array.

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
    data = {name: jnp.asarray(as_data(name, _value(variable))) for name, variable in inputs.items()}
    outcomes, sources = _outcomes(model, inputs), _sources(model, inputs)
    reading = _read(model, data, outcomes)

    def split(theta):
        parts = jnp.split(theta, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    named = [*model.free_RVs, *model.deterministics]
    likelihood = cache(lambda signature: _with_data(model, inputs, signature))
    sampler = cache(lambda signature: _sampler(model, inputs, signature))
    probability = cache(lambda signature, one: _log_prob(model, inputs, signature, one))
    try:
        prior = _in_jax(model.value_vars, [model.varlogp])
        values_of = _in_jax(model.value_vars, model.replace_rvs_by_values(named))
        likelihood(_signature(data))
    except NotImplementedError as problem:
        raise ValueError(f"PyTensor cannot write model in JAX: {problem}; write that part in operations of pytensor.tensor") from problem

    def log_prior(theta):
        return prior(*split(theta))[0]

    def log_likelihood(theta, data):
        return likelihood(_signature(data))(*split(theta), *data.values())[0]

    def constrain(theta):
        return {variable.name: value for variable, value in zip(named, values_of(*split(theta)), strict=True)}

    def predict(key: PRNGKeyArray, theta, covariates=None):
        rows = data if covariates is None else _for_prediction(model, data, reading, sources, covariates)
        free = values_of(*split(theta))[: len(model.free_RVs)]
        names = [variable.name for variable in model.observed_RVs]
        try:
            draw, streams = sampler(_signature(rows))
            states = [{"jax_state": stream} for stream in jax.random.split(_guard.key(key), streams)]
            drawn = draw(*free, *rows.values(), *states)
        except NotImplementedError as problem:
            raise ValueError(f"PyMC cannot draw {', '.join(names)} in JAX: {problem}; {BY_DRAWS}") from problem
        return drawn[0] if len(drawn) == 1 else dict(zip(names, drawn, strict=True))

    def log_prob(theta, covariates, y):
        rows = data if covariates is None else _for_prediction(model, data, reading, sources, covariates)
        free = values_of(*split(theta))[: len(model.free_RVs)]
        return probability(_signature(rows), set(jnp.shape(y)) == {1})(*free, *rows.values(), y)[0]

    refused = [variable.name for variable in model.observed_RVs if not _differentiable(variable)]
    if refused:
        reading = reading._replace(no_gradient=no_derivative(refused))
        predict = refusing(predict, reading.no_gradient)
        outcome = model.observed_RVs[0]
        if len(model.observed_RVs) == 1 and getattr(outcome.owner.op, "ndim_supp", 1) == 0:
            reading = reading._replace(log_prob=log_prob, values=_values(outcome))
    made = Model(sum(sizes), log_prior, log_likelihood, predict, constrain, reading)
    return for_its_rows_alone(made, data, partial(_plain, model), INSIDE), data


def _check(model):
    from pymc.distributions.simulator import SimulatorRV

    if not model.free_RVs:
        raise ValueError("model has no free variable; leave at least one unobserved")
    if not model.observed_RVs:
        potentials = " but potentials, which predict nothing" if model.potentials else ""
        raise ValueError(f"model observes nothing{potentials}; give a variable observed=...")
    for variable in model.observed_RVs:
        if isinstance(variable.owner.op, SimulatorRV):
            raise ValueError(f"model compares {variable.name} with simulations, which have no density; give it a distribution")
        if "Minibatch" in type(variable.owner.op).__name__ or _is_drawn(model.rvs_to_values[variable]):
            raise ValueError(
                f"model takes minibatches of {variable.name} itself; give it all rows, and let the estimator choose minibatches"
            )
    if model.discrete_value_vars:
        name = model.values_to_rvs[model.discrete_value_vars[0]].name
        if whole := _imputed(model, name):
            raise ValueError(f"model imputes missing values of {whole}, which are whole numbers; leave out the rows where it is missing")
        raise ValueError(f"model has the discrete variable {name}; sum it out, for example with pm.Mixture or pymc_extras.marginalize")


def _imputed(model, name) -> str:
    """The outcome whose missing values this variable stands for; empty where it is none of those."""
    whole = name.removesuffix("_unobserved")
    return whole if name != whole and f"{whole}_observed" in model.named_vars else ""


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


def _with_data(model, inputs, signature):
    """The log likelihood as a JAX function of the free variables and of data of these shapes."""
    from pytensor.graph.replace import clone_replace

    stand_ins = _stand_ins(inputs, signature)
    swaps = {inputs[name]: stand_in for name, stand_in in stand_ins.items()} | _dimension_lengths(model, signature)
    replaced = clone_replace([model.datalogp], swaps, rebuild_strict=False)
    return _in_jax([*model.value_vars, *stand_ins.values()], replaced)


def _stand_ins(inputs, signature):
    import pytensor.tensor as pt

    return {name: pt.tensor(name, dtype=inputs[name].dtype, shape=shape) for name, shape in signature}


def _sampler(model, inputs, signature):
    """A JAX function from the free variables, data and random states to draws of the observed variables; and how many states it takes."""
    from pytensor.graph.replace import clone_replace
    from pytensor.graph.traversal import graph_inputs
    from pytensor.tensor.random.type import RandomType

    arguments, drawn = _given_free(model, inputs, signature, model.observed_RVs)
    streams = [variable for variable in graph_inputs(drawn) if isinstance(variable.type, RandomType)]
    states = [stream.type() for stream in streams]
    drawn = clone_replace(drawn, dict(zip(streams, states, strict=True)))
    return _in_jax([*arguments, *states], drawn), len(streams)


def _log_prob(model, inputs, signature, one):
    """A JAX function from the free variables, data and outcomes, or `one` of them for all rows, to the log probability of each outcome."""
    import pymc as pm

    (variable,) = model.observed_RVs
    y = variable.type.clone(shape=(1,) * variable.ndim)() if one else variable.type()
    arguments, given = _given_free(model, inputs, signature, [variable])
    return _in_jax([*arguments, y], [pm.logp(given[0], y)])


def _given_free(model, inputs, signature, outcomes):
    """Inputs for the free variables and for data of these shapes, and the outcomes as functions of them."""
    from pytensor.graph.replace import clone_replace

    free = [variable.type(name=variable.name) for variable in model.free_RVs]
    stand_ins = _stand_ins(inputs, signature)
    swaps = dict(zip(model.free_RVs, free, strict=True)) | {inputs[name]: stand_in for name, stand_in in stand_ins.items()}
    swaps |= _dimension_lengths(model, signature)
    return [*free, *stand_ins.values()], clone_replace(outcomes, swaps, rebuild_strict=False)


def _values(variable):
    """Least and greatest of whole numbers; None where the outcome is none, or may lie below 0: PyMC does not say."""
    from pytensor.graph.traversal import ancestors

    op = variable.owner.op
    kind = type(op).__name__.removesuffix("RV")
    parts = [type(node.owner.op).__name__ for node in ancestors([variable]) if node.owner is not None]  # of a mixture
    if "int" not in variable.dtype or "Custom" in kind or any("DiscreteUniform" in part for part in parts):
        return None
    if kind == "Categorical":
        (p,) = op.dist_params(variable.owner)
        return 0, int(p.shape[-1].eval(mode="FAST_COMPILE")) - 1
    return 0, 1 if kind == "Bernoulli" else None


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
    _mend_draws()
    return get_jaxified_graph


@cache
def _mend_draws():
    """Draw a class with its own probability: PyTensor hands JAX log p / (1 - p) for log p, and mixtures choose their parts by it.

    And count successes in double precision, too, where the function that PyTensor takes for it stops, and draw lives, for which it has
    none.
    """
    from pytensor.link.jax.dispatch.random import jax_sample_fn
    from pytensor.tensor.random.basic import BinomialRV, CategoricalRV, WeibullRV

    def draw(key, size, dtype, p):
        return jax.random.categorical(key, jnp.log(p), shape=size).astype(dtype)

    def successes(key, size, dtype, n, p):
        return jax.random.binomial(key, n, p, shape=size).astype(dtype)

    def life(key, size, dtype, shape):
        return jax.random.exponential(key, jnp.shape(shape) if size is None else size, dtype) ** (1 / shape)

    jax_sample_fn.register(CategoricalRV, lambda op, node: draw)  # noqa: ARG005
    jax_sample_fn.register(BinomialRV, lambda op, node: successes)  # noqa: ARG005
    jax_sample_fn.register(WeibullRV, lambda op, node: life)  # noqa: ARG005


def _is_drawn(variable) -> bool:
    from pytensor.graph.traversal import graph_inputs
    from pytensor.tensor.random.type import RandomType

    return any(isinstance(source.type, RandomType) for source in graph_inputs([variable]))


def _sources(model, inputs) -> set:
    """Names of the arrays that observed values are made of."""
    from pytensor.graph.traversal import ancestors

    found = set(ancestors([model.rvs_to_values[variable] for variable in model.observed_RVs]))
    return {name for name, array in inputs.items() if array in found}


def _outcomes(model, inputs) -> dict:
    """The array that each observed variable observes as it stands, by the name of the variable; None where it is made from others."""
    from pytensor.scalar import Cast
    from pytensor.tensor.elemwise import Elemwise

    names = {array: name for name, array in inputs.items()}

    def plain(value):
        while value.owner is not None and isinstance(value.owner.op, Elemwise) and isinstance(value.owner.op.scalar_op, Cast):
            (value,) = value.owner.inputs
        return names.get(value)

    return {variable.name: plain(model.rvs_to_values[variable]) for variable in model.observed_RVs}


def _read(model, data, outcomes) -> Reading:
    """What the model says of its data: as many rows as the observed variables have, and the arrays that share that dimension."""
    values = {variable.name: model.rvs_to_values[variable] for variable in model.observed_RVs}
    seen = {name: data[outcomes[name]] if outcomes[name] else values[name].eval(mode="FAST_COMPILE") for name in values}
    lengths = {name: value.shape[0] if value.ndim else 1 for name, value in seen.items()}
    first = model.observed_RVs[0].name
    dimension = (model.named_vars_to_dims.get(first) or (None,))[0]

    def has_rows(name, value):
        its_own = (model.named_vars_to_dims.get(name) or (None,))[0]
        named_otherwise = None not in (dimension, its_own) and its_own != dimension
        return value.ndim > 0 and value.shape[0] == lengths[first] and not named_otherwise

    rows = tuple(name for name, value in data.items() if has_rows(name, value))
    name = outcomes[first] if len(outcomes) == 1 else None
    containers = {variable.name for variable in model.data_vars}
    fixed = sorted(set(data) - containers)

    def covariates(given):
        unknown = sorted(set(given) - set(data) - containers)
        if unknown and fixed:
            raise ValueError(_fixed(fixed[0]))
        if unknown:
            raise ValueError(f"the rows hold {unknown[0]!r}, which is no pm.Data of the model; give some of {sorted(containers)}")
        for row in rows:
            if row in fixed and other_rows(given, data, row):
                raise ValueError(_fixed(row))
        return {name: value for name, value in given.items() if name in containers}

    outcome = nothing if name is None else (lambda data: data[name])
    of = model.observed_RVs[0].owner.op
    if 0 < seen[first].ndim <= getattr(of, "ndim_supp", 0):
        outcome = partial(refuse, TOGETHER.format(first, type(of).__name__.removesuffix("RV")))
    return Reading(rows, covariates, outcome, no_parts=_fixed(fixed[0]) if fixed else different_lengths(lengths))


def _fixed(name) -> str:
    return f"{name} was observed as a plain array, so it keeps its shape; put it into pm.Data to predict or take other rows"


def _plain(model) -> list:
    """The arrays that the outcomes depend on and that are no data containers."""
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import graph_inputs

    inside = [node for node in graph_inputs(model.observed_RVs) if node not in model.data_vars]
    values = [_value(node) for node in inside if isinstance(node, Constant | SharedVariable)]
    return [value for value in values if isinstance(value, np.ndarray)]


def _for_prediction(model, data, reading, sources, covariates):
    """The data with covariates in their place, and outcomes stretched to as many rows: their values do not matter, their number does."""
    if not isinstance(covariates, Mapping):
        raise ValueError(f"covariates is a {type(covariates).__name__}; give None, or a dictionary of data containers by name")
    containers = {variable.name for variable in model.data_vars}
    unknown = sorted(set(covariates) - containers)
    if unknown:
        raise ValueError(f"covariates holds {unknown[0]!r}, which is no pm.Data of the model; give some of {sorted(containers)}")
    new = {name: as_data(name, np.asarray(value) if np.ndim(value) == 0 else value) for name, value in covariates.items()}
    check_covariates(new, data, containers, [name for name in reading.rows if name in containers], sources)
    imputed = [whole for variable in model.free_RVs if (whole := _imputed(model, variable.name))]
    if imputed and any(other_rows(new, data, name) for name in new):
        raise ValueError(PLACES.format(imputed[0]))
    length = next((new[name].shape[0] for name in reading.rows if name in new), None)
    for name in (sources & set(reading.rows)) - set(new):
        if length is None or length == data[name].shape[0]:
            continue
        if name not in containers:
            raise ValueError(_fixed(name))
        new[name] = jnp.zeros((length, *data[name].shape[1:]), data[name].dtype)
    return {name: new.get(name, value) for name, value in data.items()}


def _differentiable(variable) -> bool:
    """Whether every random draw inside is a differentiable function of its parameters."""
    from pymc.distributions.distribution import SymbolicRandomVariable
    from pytensor.graph.traversal import applys_between
    from pytensor.tensor.random.op import RandomVariable

    op = variable.owner.op
    if "float" not in variable.dtype:
        return False
    if isinstance(op, RandomVariable):
        return type(op).__name__.removesuffix("RV") in DIFFERENTIABLE
    if isinstance(op, SymbolicRandomVariable):
        inner = applys_between(op.inner_inputs, op.inner_outputs)
        draws = [node.outputs[-1] for node in inner if isinstance(node.op, RandomVariable | SymbolicRandomVariable)]
        return bool(draws) and all(_differentiable(draw) for draw in draws)
    return False
