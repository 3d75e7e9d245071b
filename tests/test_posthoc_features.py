"""Chapter 8, what the decision maker is told: against NumPy's quantiles, and the same draws from several engines."""

import arviz as az
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_pkg.posthoc import characterize, predictive_draws

RNG = np.random.default_rng(8)
DRAWS = RNG.gamma(2.0, size=(5, 3, 40)).astype("f4")


@given(st.integers(1, 30), st.integers(2, 60))
def test_quantiles_are_numpys(count, size):
    draws = np.random.default_rng(size).normal(size=(4, size)).astype("f4")
    told = characterize(draws, count)
    expected = np.quantile(draws, np.arange(1, count + 1) / (count + 1), axis=-1).T
    np.testing.assert_allclose(told, expected, rtol=1e-5, atol=1e-5)


def test_more_rows_than_a_block_give_what_one_row_gives(monkeypatch):
    from course_pkg.posthoc import features

    whole = characterize(DRAWS, 7)
    monkeypatch.setattr(features, "BLOCK", 100)
    np.testing.assert_array_equal(characterize(DRAWS, 7), whole)


def test_levels_mean_median_functions_and_covariates():
    np.testing.assert_allclose(characterize(DRAWS, [0.1, 0.9]), np.moveaxis(np.quantile(DRAWS, [0.1, 0.9], axis=-1), 0, -1), rtol=1e-5)
    np.testing.assert_allclose(characterize(DRAWS, "mean")[..., 0], DRAWS.mean(-1), rtol=1e-6)
    np.testing.assert_allclose(characterize(DRAWS, "median")[..., 0], np.median(DRAWS, -1), rtol=1e-6)
    np.testing.assert_allclose(characterize(DRAWS, lambda d: d.std(axis=-1))[..., 0], DRAWS.std(-1), rtol=1e-6)
    np.testing.assert_allclose(characterize(DRAWS, lambda d: d[..., :2]), DRAWS[..., :2])
    x = RNG.normal(size=(5, 3, 2)).astype("f4")
    told = characterize(DRAWS, 4, covariates=x)
    assert told.shape == (5, 3, 6)
    np.testing.assert_array_equal(told[..., 4:], x)
    assert characterize(DRAWS, 4, covariates=x[..., 0]).shape == (5, 3, 5)


def test_a_datatree_a_dataset_and_an_array_tell_the_same():
    chains = np.moveaxis(DRAWS, -1, 0).reshape(4, 10, 5, 3)
    tree = az.from_dict({"posterior_predictive": {"y": chains}})
    for source in (tree, tree["posterior_predictive"], tree["posterior_predictive"]["y"]):
        np.testing.assert_array_equal(predictive_draws(source), DRAWS)
    stacked = az.extract(tree, group="posterior_predictive", keep_dataset=True)  # one dimension called sample
    np.testing.assert_allclose(np.sort(predictive_draws(stacked)), np.sort(DRAWS))


def test_the_engine_may_be_numpyro():
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, Predictive

    def model(x, y=None):
        b = numpyro.sample("b", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(b * x, 1), obs=y)

    x = jnp.linspace(-1, 1, 7)
    mcmc = MCMC(NUTS(model), num_warmup=20, num_samples=30, num_chains=1, progress_bar=False)
    mcmc.run(jax.random.key(0), x, 2 * x)
    drawn = Predictive(model, mcmc.get_samples())(jax.random.key(1), x)
    tree = az.from_numpyro(mcmc, posterior_predictive=drawn)
    np.testing.assert_allclose(predictive_draws(tree), np.asarray(drawn["y"]).T)


TREE = az.from_dict({"posterior": {"b": np.zeros((1, 5))}})
TWO = az.from_dict({"posterior_predictive": {"y": np.zeros((1, 5, 2)), "z": np.zeros((1, 5, 2))}})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"predictive": TREE}, "no group 'posterior_predictive' .groups: posterior.; draw it first"),
        ({"predictive": TWO}, r"holds 2 variables \(y, z\); name one"),
        ({"predictive": TWO, "variable": "x"}, "variable is 'x'"),
        ({"predictive": TWO["posterior_predictive"]["y"].isel(chain=0, draw=0)}, "must be draw or sample"),
        ({"predictive": np.zeros((3, 1))}, "a single draw for each point"),
        ({"predictive": np.zeros((0, 4))}, "predictive is empty"),
        ({"predictive": np.array([[1.0, np.nan]])}, "predictive holds nan"),
        ({"predictive": DRAWS, "quantiles": 0}, "quantiles is 0"),
        ({"predictive": DRAWS, "quantiles": [0.0, 0.5]}, "quantiles holds 0"),
        ({"predictive": DRAWS, "quantiles": "mode"}, "quantiles is 'mode'"),
        ({"predictive": DRAWS, "quantiles": lambda d: d.mean()}, "quantiles returned shape"),
        ({"predictive": DRAWS, "quantiles": lambda d: d.mean(axis=0)}, "quantiles returned shape"),
        ({"predictive": DRAWS, "covariates": np.zeros((3, 5))}, "covariates has shape"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        characterize(**arguments)
