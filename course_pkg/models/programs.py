"""A model in whatever form it comes."""

from typing import Any

from course_pkg.models.adapters_numpyro import from_numpyro
from course_pkg.models.adapters_pymc import from_pymc
from course_pkg.models.model import Model


def as_model(program, data=None) -> tuple[Model, Any]:
    """A `Model` and its data, of a program in NumPyro, a ``pymc.Model``, or a `Model` that is returned with its data as they are.

    Args:
        program: one of the three.
        data: for NumPyro the program's arguments, a dictionary by name. None for PyMC, whose models hold their data.

    Raises:
        ValueError: if the program is none of the three, a NumPyro program comes without its arguments or a PyMC one with any; and as
            `from_numpyro` and `from_pymc`.

    Example:
        >>> import jax.numpy as jnp
        >>> import numpyro
        >>> from numpyro import distributions as dist
        >>> def thermometer(readings):
        ...     temperature = numpyro.sample("temperature", dist.Normal(15.0, 2.0))
        ...     numpyro.sample("sensor", dist.Normal(temperature, 1.0), obs=readings)
        >>> model, data = as_model(thermometer, {"readings": jnp.array([18.0])})
        >>> model.dim, list(data)
        (1, ['readings'])

    Source: LCVI paper, section 5 (decisions from a model that is a program).
    """
    if isinstance(program, Model):
        return program, data
    if hasattr(program, "free_RVs"):
        if data is not None:
            raise ValueError("data are given beside a pymc.Model, which holds its own; leave data None, and use pm.Data inside the model")
        return from_pymc(program)
    if not callable(program):
        raise ValueError(f"model is {program!r}; give a Model, a program in NumPyro or a pymc.Model")
    if not isinstance(data, dict):
        wanted = "the arguments of the NumPyro program, a dictionary by name, of a table dict(table)"
        raise ValueError(f"data is {type(data).__name__}; give {wanted}")
    return from_numpyro(program, **data)
