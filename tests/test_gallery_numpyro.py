"""Programs of the kinds that people write in NumPyro: densities, gradients, rows and minibatches, or the words of a refusal."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
from jax.flatten_util import ravel_pytree
from numpyro import distributions as dist
from numpyro.handlers import seed, trace
from numpyro.infer.util import potential_energy, unconstrain_fn

from course_pkg import models
from tests.gallery import checks
from tests.gallery import simulated as s
from tests.gallery.numpyro_programs import EXAMPLES

WORKING = {name: made for name, made in EXAMPLES.items() if not made.refused}
REFUSED = {name: made for name, made in EXAMPLES.items() if made.refused}
# One program or two for each branch of the adapter; the others in the thorough tier.
QUICK = {
    "robust_regression", "dictionary_of_covariates", "group_covariate", "two_outcomes_of_one_row", "survival_by_two_sites",
    "missing_outcomes_masked", "missing_covariates", "autoregression", "local_level_by_scan", "partial_of_a_program",
    "handler_around_a_program", "conditioned", "plain_lists", "gaussian_process",
}  # fmt: skip
assert set(WORKING) >= QUICK


@pytest.mark.parametrize("name", WORKING)
def test_a_program_is_read_as_its_writer_would(name, request):
    if name not in QUICK and not request.config.getoption("--thorough"):
        pytest.skip("in the thorough tier")
    example = WORKING[name]
    with jax.enable_x64(True), jax.numpy_rank_promotion("allow"):
        sites = trace(seed(example.build, 0)).get_trace(**example.arguments)
        latent = {name: site["value"] for name, site in sites.items() if site["type"] == "sample" and not site["is_observed"]}
        flat, unravel = ravel_pytree(unconstrain_fn(example.build, (), example.arguments, latent))
        theirs = jax.jit(lambda theta: -potential_energy(example.build, (), example.arguments, unravel(theta)))
        model, data = models.as_model(example.build, example.arguments)
        assert model.dim == flat.size
        checks.densities(model, data, theirs, precision=1e-10)
        checks.reading(model, data, example)
        checks.parts(model, data, example)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_mend(name):
    example = REFUSED[name]
    with jax.numpy_rank_promotion("allow"), pytest.raises(ValueError, match=example.refused):
        models.as_model(example.build, example.arguments)


def multiplied(held):
    def program(y):
        numpyro.sample("seen", dist.Normal(numpyro.sample("b", dist.Normal(0, 1)) * held, 1.0), obs=y)

    return program


def looked_up(held):
    def program(group, y):
        numpyro.sample("seen", dist.Normal(numpyro.sample("b", dist.Normal(0, 1)) * jnp.asarray(held)[group], 1.0), obs=y)

    return program


def weighed(held):
    def program(y):
        numpyro.sample("seen", dist.Normal(numpyro.sample("w", dist.Dirichlet(held))[0], 1.0), obs=y)

    return program


HELD = {
    "a constant": (multiplied(np.ones(s.N)), {"y": s.Y}, True),
    "three rows": (multiplied(s.X[:3, 0]), {"y": s.Y[:3]}, True),
    "a table that is by chance as long": (looked_up(s.X[:, 0]), {"group": s.GROUP, "y": s.Y}, False),
    "a prior that is by chance as long": (weighed(np.ones(3)), {"y": s.Y[:3]}, False),
}


@pytest.mark.parametrize("name", HELD)
def test_an_array_inside_a_program_ties_it_to_its_rows_only_if_it_must_be_as_long(name):
    program, arguments, tied = HELD[name]
    with jax.numpy_rank_promotion("allow"):
        model, data = models.from_numpyro(program, **arguments)
        checks.tied_to_its_rows(model, data, tied, "the program reaches for an array")
