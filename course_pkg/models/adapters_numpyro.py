"""A NumPyro program as a `Model`."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from traceback import walk_tb
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray

from course_pkg import _guard
from course_pkg._extras import needs
from course_pkg.models.model import Model, refusing
from course_pkg.models.reading import Reading, map_rows, nothing, whole

CLOSED_OVER = (
    "the program reaches for an array of {} rows that is no argument of it, so it predicts for these rows alone; make it an argument"
)
TOGETHER = (
    "{} is one draw of {} for all rows: what was seen in some tells of the others, and predict forgets it; give the rows an unknown each "
    "that joins them, or decide from draws that are conditioned on what was seen (decisions.bayes_decision, posthoc.correct)"
)


BOUNDS = (
    "{} is censored: of some rows a bound was seen in the place of the outcome that is predicted, and mean losses on outcomes take it for "
    "that; judge on rows that were followed to the end"
)
CENSORED = "censored", "left_censored", "right_censored"


def from_numpyro(fn: Callable, *args, **kwargs) -> tuple[Model, dict[str, Any]]:
    r"""A NumPyro model, called with ``fn(*args, **kwargs)``, as a `Model` together with its data.

    The unconstrained vector holds the latent sites in the order of their names, each unconstrained by NumPyro's own bijection. The prior
    has the Jacobians; the likelihood is the observed sites and ``numpyro.factor``, so a minibatch scales factors too. `constrain` adds the
    deterministic sites. A program with an unknown for each row does not go with minibatches: the unknowns stay as many as they were.
    What is a row and what the outcome is read from the program: the outcome is the argument that is observed, and the arrays as long as it
    have an entry for each row. Of an outcome whose draws have no derivative the reading has the log probability. What the program masks
    does not count, and may be anything.

    Args:
        fn: a NumPyro model whose latent sites are continuous.
        *args: its arguments. Arrays with at least one axis become the data, and so do lists and columns of a table; all else (sizes,
            options) is fixed.
        **kwargs: more of them. At least one site must be observed.

    Returns:
        The `Model` and its data, ``{name of the argument: array}``. ``predict(key, theta, covariates)`` draws every observed site anew: its
        value where there is one such site, else ``{name: value}``. ``covariates`` is None for the rows of the data, or
        ``{name of the argument: array}`` for others; the values of an outcome are then not looked at, and it may be left out.

    Raises:
        ValueError: if the arguments are not those of the model, a latent site is discrete or has no sampler, nothing is observed, the model
            holds a ``param`` or subsamples, a size is taken from the values of an array, rows are picked by booleans, or an argument is a
            table, a masked array, or a dictionary with plain numbers; the message names the site or the argument. `predict` refuses
            covariates that leave out an array of rows, are no numbers, or differ in length or in their number of axes.

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
    needs("numpyro", "numpyro")
    from numpyro.handlers import block, seed, substitute, trace, uncondition
    from numpyro.infer.util import compute_log_probs, constrain_fn, potential_energy

    try:
        bound = inspect.signature(fn).bind(*args, **kwargs)
    except (TypeError, ValueError) as problem:  # the latter of what has no signature
        raise ValueError(f"data are not the arguments of the program: {problem}; give each by the name that it has there") from problem
    given = {name: as_data(name, value) for name, value in bound.arguments.items()}
    data = {name: value for name, value in given.items() if _is_data(value)}
    sites = _trace(fn, bound, given)
    latent, observed, seen = _sort(sites)
    outcomes = _outcomes(given, seen)
    reading = _read(data, seen, outcomes)
    structure = {name: _unconstrained(name, site) for name, site in latent.items()}
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

    def run(key, theta, covariates):
        """All sites, with the outcomes drawn anew, and the arguments that differ from those of the data."""
        arguments = {} if covariates is None else _for_prediction(bound, data, reading, outcomes, covariates)
        program = substitute(uncondition(seed(fn, rng_seed=key)), data=constrain(theta, deterministic=False))
        positional, by_name = call(arguments)
        return trace(program).get_trace(*positional, **by_name), arguments

    def predict(key: PRNGKeyArray, theta, covariates=None):
        key, *keys = jax.random.split(_guard.key(key), 1 + len(seen))
        drawn, arguments = run(key, theta, covariates)
        named = {name: drawn[name]["value"] for name in seen}
        for name, k in zip(seen, keys, strict=True):  # outside a plate, one distribution may stand for many rows
            like = arguments.get(outcomes[name]) if covariates is not None else seen[name]["value"]
            named[name] = named[name] if like is None else _as_many(k, drawn[name], jnp.shape(like))
        return next(iter(named.values())) if len(named) == 1 else named

    def mask(data):
        positional, by_name = call(data)
        (name,) = seen
        return _counted(trace(seed(fn, rng_seed=0)).get_trace(*positional, **by_name)[name])

    discrete = [name for name, site in seen.items() if not _of_entries(site["fn"]).has_rsample]
    if discrete:
        reading = reading._replace(no_gradient=no_derivative(discrete))
        name, only = next(iter(seen)), _by_entry(seen[discrete[0]]["fn"]) if len(seen) == 1 else None
        if only is not None:
            log_prob = lambda theta, covariates, y: _log_prob(run(jax.random.key(0), theta, covariates)[0][name]["fn"], y)
            reading = reading._replace(log_prob=log_prob, values=_values(only.support))
        predict = refusing(predict, reading.no_gradient)
    reading = reading._replace(**_seen_in_part(seen, mask))
    model = Model(flat.size, log_prior, log_likelihood, predict, partial(constrain, arguments=None), reading)
    _try(model, data)
    return for_its_rows_alone(model, data, partial(_closed_over, model, data), CLOSED_OVER), data


def _closed_over(model, data) -> list:
    """The arrays that the likelihood reaches for and that are no argument."""
    return jax.make_jaxpr(model.log_likelihood)(jnp.zeros(model.dim), data).consts


def for_its_rows_alone(model, data, plain, words):
    """The model, which refuses to predict for other rows if one of its arrays has as many rows and has to.

    Args:
        model: a `Model`.
        data: its data.
        plain: a function of nothing to the arrays in the likelihood that are no data.
        words: of the refusal, with a place for the number of rows.
    """
    length = next((len(leaf) for name in model.reading.rows for leaf in jax.tree.leaves(data[name])), 0)
    held = lambda: [value for value in plain() if np.ndim(value) and len(value) == length]
    bound = cache(lambda: _holds_rows(model, data, held(), length))

    def covariates(given):
        wanted = model.reading.covariates(given)
        if any(other_rows(given, data, name) for name in model.reading.rows) and bound():
            raise ValueError(words.format(length))
        return wanted

    return model._replace(reading=model.reading._replace(covariates=covariates))


def _holds_rows(model, data, held, length) -> bool:
    """Whether the likelihood takes no other number of rows for the sake of one of these arrays."""
    if not held or _takes_one_more(model, data):
        return False
    unknowns = jax.eval_shape(model.constrain, jnp.zeros(model.dim)).values()
    if all(value.shape[:1] != (length,) for value in unknowns):
        return True
    return any(bool((value != value[:1]).any()) for value in held)  # unknowns fix the number, too; what is constant says nothing of rows


def _takes_one_more(model, data) -> bool:
    one_more = lambda a: jax.ShapeDtypeStruct((len(a) + 1, *a.shape[1:]), a.dtype)
    try:
        jax.eval_shape(model.log_likelihood, jnp.zeros(model.dim), map_rows(one_more, data, model.reading))
    except (TypeError, ValueError, IndexError, RuntimeError):
        return False
    return True


def other_rows(given, data, name) -> bool:
    """Whether these are other rows than the model's; traced ones are a copy of those."""
    leaves, its_own = jax.tree.leaves(given.get(name) if isinstance(given, dict) else None), jax.tree.leaves(data[name])
    if not leaves or any(map(_guard.traced, leaves)):
        return False
    return not all(np.array_equal(jnp.asarray(as_data(name, new)), old, equal_nan=True) for new, old in zip(leaves, its_own, strict=False))


def _as_many(key, site, shape):
    extra = shape[: len(shape) - jnp.ndim(site["value"])]
    return site["fn"].sample(key, extra) if extra else site["value"]


def _by_entry(distribution):
    """The distribution of each entry of the outcome; None where entries belong together, as in a multinomial."""
    distribution = _of_entries(distribution)
    return distribution if distribution.event_dim == 0 else None


def _of_entries(distribution):
    from numpyro.distributions import Independent, MaskedDistribution

    # what is censored has the probability of a bound in some rows, and is drawn as if it were not
    while isinstance(distribution, Independent | MaskedDistribution) or hasattr(distribution, "censored"):
        distribution = distribution.base_dist
    return distribution


def _seen_in_part(seen, mask) -> dict:
    """What a reading says of outcomes that a program masks, and of those that it knows a bound of."""
    from numpyro.distributions import MaskedDistribution

    (name, site), *others = seen.items()
    if others:
        return {}
    known = {"mask": mask} if any(isinstance(layer, MaskedDistribution) for layer in _layers(site["fn"])) else {}
    censored = [getattr(layer, word) for layer in _layers(site["fn"]) for word in CENSORED if hasattr(layer, word)]
    return known | ({"doubt": BOUNDS.format(name)} if any(map(np.any, censored)) else {})


def _counted(site):
    """Where the outcome of a site counts, in its shape."""
    from numpyro.distributions import MaskedDistribution

    counts = jnp.ones(jnp.shape(site["value"]), bool)
    for layer in _layers(site["fn"]):
        if isinstance(layer, MaskedDistribution):
            mask = jnp.asarray(layer._mask)
            counts &= jnp.broadcast_to(mask.reshape((*mask.shape, *(1,) * layer.event_dim)), counts.shape)
    return counts


def _layers(distribution) -> list:
    """A distribution and those that it is made from, one inside the other."""
    return [distribution, *(_layers(distribution.base_dist) if hasattr(distribution, "base_dist") else [])]


def _log_prob(distribution, y):
    distribution = _by_entry(distribution)
    inside = distribution.support(y)
    y = jnp.where(inside, y, distribution.support.feasible_like(y))  # no NaN in the derivative of a branch that is not taken
    return jnp.where(inside, distribution.log_prob(y), -jnp.inf)


def _values(support):
    """Least and greatest of whole numbers; None where the support is no stretch of them."""
    from numpyro.distributions import constraints

    if support is constraints.boolean:
        return 0, 1
    if not support.is_discrete or not hasattr(support, "lower_bound"):
        return None
    return int(np.min(support.lower_bound)), int(np.max(support.upper_bound)) if hasattr(support, "upper_bound") else None


def no_derivative(names: list[str]) -> str:
    """Why a draw of these sites has no derivative, and what to do instead."""
    return (
        f"predict cannot be differentiated: a draw of {', '.join(names)} is discrete, passes through a discrete choice, or has no known "
        "reparameterisation. Sum over its values with their probabilities, use a score-function gradient, or stop the gradient at theta"
    )


def as_data(name, value):
    """An argument as it is to be kept: arrays, lists and columns of numbers become arrays of JAX.

    Raises:
        ValueError: for a table, a masked array, an array of words, or a container that mixes arrays with plain numbers.
    """
    if any(map(np.ma.is_masked, value if isinstance(value, list) else [value])):
        raise ValueError(f"{name} is a masked array, whose mask would be lost; leave those rows out, or pass the mask as an argument")
    if hasattr(value, "columns"):
        raise ValueError(
            f"{name} is a table; pass its columns as arguments of their own, for example table[{value.columns[0]!r}].to_numpy(), or all "
            "numbers at once as table.to_numpy()"
        )
    if hasattr(value, "toarray"):
        raise ValueError(f"{name} is a sparse table; pass {name}.toarray()")
    if isinstance(value, dict | tuple):
        a_list = lambda part: isinstance(part, list)
        if len({a_list(leaf) or jnp.ndim(leaf) > 0 for leaf in jax.tree.leaves(value, is_leaf=a_list)}) > 1:
            raise ValueError(f"{name} holds arrays and plain numbers; pass the numbers as arguments of their own")
        return jax.tree.map(partial(as_data, name), value, is_leaf=a_list)
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return value  # an option, such as names
    if isinstance(value, list) or hasattr(value, "to_numpy"):
        value = _guard.array(name, value)
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    if value.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} holds values of type {value.dtype}, no real numbers; pass numbers, of words their codes: "
            f"np.unique({name}, return_inverse=True)[1]"
        )
    if value.dtype.kind in "iu" and np.abs(value, dtype=float).max(initial=0) >= 2**31:
        value = value.astype(float)  # single precision rounds where 32 bits would wrap around
    return jnp.asarray(value)


def _is_data(value) -> bool:
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(isinstance(leaf, np.ndarray | jax.Array) and leaf.ndim for leaf in leaves)


def _trace(fn, bound, given):
    from numpyro.handlers import seed, trace

    changed = inspect.BoundArguments(bound.signature, given)
    tracing = trace(seed(fn, rng_seed=0))
    try:
        return tracing.get_trace(*changed.args, **changed.kwargs)
    except NotImplementedError as problem:
        *_, (frame, _) = walk_tb(problem.__traceback__)
        if not frame.f_globals.get("__name__", "").startswith("numpyro"):
            raise  # the program's own, for instance of a part that is yet to be written
        after = f"the site after {list(tracing.trace)[-1]}" if tracing.trace else "its first site"
        raise ValueError(
            f"the program draws {after} from a distribution without a sampler; use a proper one, and numpyro.factor for the rest"
        ) from problem
    except (TypeError, ValueError) as problem:
        _explain(problem, given)
        raise


def _explain(problem, given):
    """Raise in words that name an argument, if one is odd enough to have made the program fail."""
    if odd := _odd(given):
        raise ValueError(f"the program fails on these data ({str(problem).split(chr(10), 1)[0]}): {odd}") from problem


def _odd(given) -> str:
    """What may have made a program fail: an argument of words, a number that is not finite, arrays that differ in length."""
    arrays = {name: value for name, value in given.items() if isinstance(value, jax.Array) and value.ndim}
    lengths = {name: len(value) for name, value in arrays.items()}
    if words := [name for name, value in given.items() if isinstance(value, list)]:
        return f"{words[0]} is a list of words, an option; to compute with it pass codes, np.unique({words[0]}, return_inverse=True)[1]"
    if bad := [name for name, value in arrays.items() if not jnp.isfinite(value).all()]:
        return f"{bad[0]} holds what is no finite number; remove or replace it"
    return "there are " + ", ".join(f"{n} entries in {name}" for name, n in lengths.items()) if len(set(lengths.values())) > 1 else ""


def _sort(sites):
    """Latent sites in the order of their names; observed ones, factors among them; those of the observed ones that can be drawn."""
    from numpyro.distributions import Unit

    for name, site in sites.items():
        if site["type"] == "param":
            raise ValueError(
                f"the program holds the parameter {name}, which has no prior; give it one with numpyro.sample, or a fixed value"
            )
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0]):
            raise ValueError(
                f"the program subsamples the plate {name}; pass all rows, and let the estimator choose minibatches of the data"
            )
    samples = {name: site for name, site in sites.items() if site["type"] == "sample"}
    latent = {name: samples[name] for name in sorted(samples) if not samples[name]["is_observed"]}
    observed = {name: site for name, site in samples.items() if site["is_observed"]}
    seen = {name: site for name, site in observed.items() if not isinstance(_innermost(site["fn"]), Unit)}
    for name, site in latent.items():
        if site["fn"].is_discrete:
            raise ValueError(f"the program draws the discrete site {name}; sum it out, for example with a mixture distribution")
    if not seen:
        factors = " but factors, which predict nothing" if observed else ""
        raise ValueError(f"the program observes nothing{factors}; pass the outcome, so that a site has obs=...")
    if not latent:
        raise ValueError("the program has no unknown; leave at least one site unobserved")
    return latent, observed, seen


def _innermost(distribution):
    while hasattr(distribution, "base_dist"):
        distribution = distribution.base_dist
    return distribution


def _unconstrained(name, site):
    from numpyro.distributions import biject_to

    support = site["fn"].support
    try:
        return biject_to(support).inv(site["value"])
    except NotImplementedError as problem:
        raise ValueError(
            f"the program draws {name} from the support {support}, which NumPyro cannot map to unbounded numbers; write it in other "
            "coordinates, for instance as normals that numpyro.deterministic maps there"
        ) from problem


def _outcomes(given, seen) -> dict:
    """The argument that each observed site observes, by the name of the site; None where it is no argument as it stands."""
    return {name: next((arg for arg, value in given.items() if site["value"] is value), None) for name, site in seen.items()}


def _read(data, seen, outcomes) -> Reading:
    """What the program says of its data: as many rows as the observed sites have, and the arrays that are as long."""
    lengths = {name: jnp.shape(site["value"])[0] if jnp.ndim(site["value"]) else 1 for name, site in seen.items()}
    rows = tuple(name for name, value in data.items() if {leaf.shape[0] for leaf in jax.tree.leaves(value)} == {lengths[next(iter(seen))]})
    name = next(iter(outcomes.values()))
    outcome = (lambda data: data[name]) if len(seen) == 1 and name is not None else nothing
    (site, of), *_ = seen.items()
    joint = _of_entries(of["fn"])
    if 0 < jnp.ndim(of["value"]) <= joint.event_dim:
        outcome = partial(refuse, TOGETHER.format(site, type(joint).__name__))
    return Reading(rows, whole, outcome, no_parts=different_lengths(lengths))


def refuse(words, data):  # noqa: ARG001
    """Instead of an outcome, the reason why it is none to decide about."""
    raise ValueError(words)


def different_lengths(lengths: dict) -> str:
    """Why data whose observed variables differ in length cannot be taken in parts; empty where they agree."""
    if len(set(lengths.values())) == 1:
        return ""
    listed = " and ".join(f"{n} of {name}" for name, n in lengths.items())
    return f"data cannot be taken in parts: there are {listed}, and nothing says which belong together; use all rows at each step"


def check_covariates(covariates, data, known, rows, outcomes):
    """Raise unless the covariates are known by name, and complete: all arrays of rows but the outcomes, of one length and with their axes.

    Args:
        covariates: ``{name: array}``.
        data: those that the model was made with, by the same names.
        known: names that may stand there.
        rows: names of the data that have an entry for each row.
        outcomes: names that may be left out.
    """
    unknown = sorted(set(covariates) - set(known))
    if unknown:
        raise ValueError(f"covariates holds {unknown[0]!r}, which the model was not called with; give some of {sorted(known)}")
    given = [name for name in rows if name in covariates]
    missing = [name for name in rows if name not in covariates and name not in outcomes]
    if given and missing:
        raise ValueError(f"covariates holds {given[0]} and not {missing[0]}, which has an entry for each row too; give both")
    for name in given:
        new, own = jax.tree.leaves(covariates[name]), jax.tree.leaves(data[name])
        if not new or any(not isinstance(leaf, jax.Array) or not leaf.ndim for leaf in new):
            raise ValueError(f"covariates holds {covariates[name]!r} for {name}; give an array of numbers with an entry for each row")
        if [leaf.ndim for leaf in new] != [leaf.ndim for leaf in own]:  # a column (n, 1) would be stretched in silence over n rows
            shapes = (" and ".join(str(leaf.shape) for leaf in leaves) for leaves in (new, own))
            raise ValueError("covariates holds {} of shape {} where the data have {}; give as many axes".format(name, *shapes))
    lengths = {name: {leaf.shape[0] for leaf in jax.tree.leaves(covariates[name])} for name in given}
    if given and any(length != lengths[given[0]] for length in lengths.values()):
        listed = " and ".join(f"{min(length)} in {name}" for name, length in lengths.items())
        raise ValueError(f"covariates has {listed}; give as many entries in each")


def _for_prediction(bound, data, reading, outcomes, covariates):
    """Arguments that differ from those of the data: the covariates, and outcomes as long as they are, or none where it can do without."""
    if not isinstance(covariates, Mapping):
        raise ValueError(f"covariates is a {type(covariates).__name__}; give None, or a dictionary of arguments of the model by name")
    names = {name for name in outcomes.values() if name is not None}
    covariates = {name: as_data(name, value) for name, value in covariates.items() if not (value is None and name in names)}
    check_covariates(covariates, data, set(bound.arguments), reading.rows, names)
    length = next((jax.tree.leaves(covariates[name])[0].shape[0] for name in reading.rows if name in covariates), None)
    for name in names - set(covariates):
        if bound.signature.parameters[name].default is None:
            covariates[name] = None
        elif length is not None and name in reading.rows:
            covariates[name] = jnp.zeros((length, *data[name].shape[1:]), data[name].dtype)
    return covariates


def _try(model, data):
    """Trace the densities once, so that what cannot be compiled is named now."""
    theta = jax.ShapeDtypeStruct((model.dim,), jnp.result_type(float))
    try:
        jax.eval_shape(model.log_prior, theta)
        jax.eval_shape(model.log_likelihood, theta, data)
    except jax.errors.NonConcreteBooleanIndexError as problem:
        raise ValueError(
            "the program picks rows by an array of booleans; pass the rows alone, or count them in with numpyro.handlers.mask"
        ) from problem
    except jax.errors.TracerArrayConversionError as problem:
        raise ValueError(
            "the program hands an array to NumPy, whose functions JAX cannot trace; write it with jax.numpy, or pass what comes out, and a "
            "size that comes from the values of an array as a plain number of its own"
        ) from problem
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError) as problem:
        raise ValueError(
            "the program takes a size or a branch from the values of an array; pass it as a plain number of its own"
        ) from problem
    except (TypeError, ValueError) as problem:
        _explain(problem, data)
        raise
