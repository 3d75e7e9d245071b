"""Models of the kinds that people write in PyMC: densities, gradients, rows and minibatches, or the words of a refusal."""

import jax
import numpy as np
import pymc as pm
import pytensor
import pytest

from course_pkg import models
from tests.gallery import checks
from tests.gallery import simulated as s
from tests.gallery.pymc_models import EXAMPLES

WORKING = {name: made for name, made in EXAMPLES.items() if not made.refused}
REFUSED = {name: made for name, made in EXAMPLES.items() if made.refused}
# One model or two for each branch of the adapter; the others in the thorough tier.
QUICK = {
    "robust_regression", "monotone_effect", "group_covariate", "two_outcomes_of_one_row", "schools_without_containers",
    "survival_by_a_potential", "missing_outcomes_imputed", "autoregression", "density_of_my_own", "transformed_inside", "flat_priors",
    "observed_later", "after_an_intervention", "model_within_a_model", "named_columns",
}  # fmt: skip
assert set(WORKING) >= QUICK
SINGLE = 2e-7  # PyTensor writes some constants and densities in single precision for JAX, whatever the session
INTERPRETED = "FAST_COMPILE"  # PyTensor's own interpreter: no compiler is asked for


def point(written, flat):
    """The flat vector as PyMC's value variables, in the order in which the model declares them."""
    start = written.initial_point(random_seed=0)
    ends = np.cumsum([start[value.name].size for value in written.value_vars])
    assert ends[-1] == len(flat)
    parts = np.split(flat, ends[:-1])
    return {value.name: part.reshape(start[value.name].shape) for value, part in zip(written.value_vars, parts, strict=True)}


@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")  # PyTensor's own densities, where pip installed it
@pytest.mark.parametrize("name", WORKING)
def test_a_model_is_read_as_its_writer_would(name, request):
    if name not in QUICK and not request.config.getoption("--thorough"):
        pytest.skip("in the thorough tier")
    example = WORKING[name]
    written = example.build()
    theirs = written.compile_logp(mode=INTERPRETED)
    with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
        model, data = models.as_model(written)
        checks.densities(model, data, lambda theta: theirs(point(written, theta)), SINGLE)
        checks.reading(model, data, example)
        checks.parts(model, data, example)


@pytest.mark.filterwarnings("ignore:.*(RandomVariable Ops will stop|without an explicit rng):DeprecationWarning")  # PyMC's own Simulator
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_mend(name):
    example = REFUSED[name]
    with jax.numpy_rank_promotion("allow"), pytest.raises(ValueError, match=example.refused):
        models.as_model(example.build())


def multiplied(held, rows=s.N):
    pm.Normal("seen", pm.Normal("b") * held, 1, observed=pm.Data("y", s.Y[:rows]))


def looked_up(held):
    group = pm.Data("group", s.GROUP)
    pm.Normal("seen", pm.Normal("b") * pytensor.shared(held)[group], 1, observed=pm.Data("y", s.Y))


HELD = {
    "a constant": (lambda: multiplied(np.ones(s.N)), True),
    "three rows": (lambda: multiplied(s.X[:3, 0], rows=3), True),
    "a shared variable": (lambda: multiplied(pytensor.shared(s.X[:, 0])), True),
    "a table that is by chance as long": (lambda: looked_up(s.X[:, 0]), False),
}


@pytest.mark.parametrize("name", HELD)
def test_an_array_inside_a_model_ties_it_to_its_rows_only_if_it_must_be_as_long(name):
    declare, tied = HELD[name]
    with pm.Model() as written:
        declare()
    with jax.numpy_rank_promotion("allow"):
        checks.tied_to_its_rows(*models.from_pymc(written), tied, "the model holds an array")
