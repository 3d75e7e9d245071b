"""Models of the kinds that people write in PyMC: densities, gradients, rows and minibatches, or the words of a refusal."""

import jax
import numpy as np
import pymc as pm
import pytensor
import pytest
from pytensor.graph.replace import clone_replace

from course_pkg import models
from tests.gallery import checks
from tests.gallery import simulated as s
from tests.gallery.pymc_models import EXAMPLES

WORKING = {name: made for name, made in EXAMPLES.items() if not made.refused}
REFUSED = {name: made for name, made in EXAMPLES.items() if made.refused}
# One model or two for each branch of the adapter; the others in the thorough tier.
QUICK = {
    "robust_regression", "group_covariate", "two_outcomes_of_one_row", "schools_without_containers",
    "survival_by_a_potential", "missing_outcomes_imputed", "autoregression", "density_of_my_own", "transformed_inside", "flat_priors",
    "observed_later", "after_an_intervention", "model_within_a_model", "named_columns", "trials_inside", "weights_of_each_row",
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


# PyMC chooses a class and a part of a mixture in one way; the others in the thorough tier.
DRAWN = {"softmax_regression", "weights_of_each_row"}
DRAWS, LIMIT = 2000, 5.5  # |z| of at most 72 figures: a false alarm in 300,000 runs


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
@pytest.mark.parametrize("name", [name for name, made in WORKING.items() if made.draws and made.outcome and not made.whole])
def test_predictions_scatter_as_pymc_s_own(name, request):
    """Mean and mean square of what is drawn at one point, by JAX and by PyMC, within a scale that keeps heavy tails out."""
    if name not in DRAWN and not request.config.getoption("--thorough"):
        pytest.skip("in the thorough tier")
    written = WORKING[name].build()
    with jax.numpy_rank_promotion("allow"):
        model, _ = models.as_model(written)
        theta = 0.7 * np.random.default_rng(3).normal(size=model.dim)
        ours = np.asarray(jax.vmap(model.predict, (0, None))(jax.random.split(jax.random.key(0), DRAWS), theta), float)
        named = model.constrain(theta)
    free = {variable: pytensor.tensor.constant(np.asarray(named[variable.name], variable.dtype)) for variable in written.free_RVs}
    (seen,) = clone_replace(written.observed_RVs, free, rebuild_strict=False)
    theirs = np.asarray(pm.draw(seen, DRAWS, random_seed=0, mode=INTERPRETED), float)
    middle, wide = np.median(theirs, axis=0), theirs.std(axis=0) + 1e-9
    for power in (1, 2):
        one, other = (np.arctan((y - middle) / wide) ** power for y in (ours, theirs))
        z = (one.mean(axis=0) - other.mean(axis=0)) / np.sqrt((one.var(axis=0) + other.var(axis=0)) / DRAWS + 1e-9)
        assert np.abs(z).max() < LIMIT


@pytest.mark.parametrize("double", [False, True])
def test_successes_are_counted_in_either_precision(double):
    trials, chance = np.array([3, 8, 40]), 0.3
    with pm.Model() as written:
        pm.Binomial("won", n=pm.Data("trials", trials), p=pm.math.sigmoid(pm.Normal("logit")), observed=trials // 2)
    with jax.enable_x64(double), jax.numpy_rank_promotion("allow"):
        model, _ = models.as_model(written)
        theta = np.log([chance / (1 - chance)])
        won = np.asarray(jax.vmap(model.predict, (0, None))(jax.random.split(jax.random.key(4), DRAWS), theta), float)
    mean, variance = trials * chance, trials * chance * (1 - chance)
    assert np.abs((won.mean(axis=0) - mean) / np.sqrt(variance / DRAWS)).max() < LIMIT
    assert np.allclose(won.var(axis=0), variance, rtol=5.5 * np.sqrt(2 / DRAWS))


@pytest.mark.filterwarnings("ignore:.*(RandomVariable Ops will stop|without an explicit rng):DeprecationWarning")  # PyMC's own Simulator
@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
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
