"""What is asked of every example of a gallery, whatever the language."""

from contextlib import nullcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg import models
from course_pkg.gradients import take
from course_pkg.models.reading import check_parts, row_count

POINTS, STEP = 2, 1e-3


def densities(model, data, theirs, precision):
    """The log joint is the language's own at random points, and its gradient what differences say in a random direction."""
    ours = jax.jit(jax.value_and_grad(lambda theta: models.log_joint(model, theta, data)))
    for seed in range(POINTS):
        theta, direction = 0.5 * np.random.default_rng(seed).normal(size=(2, model.dim))
        value, slope = ours(theta)
        assert np.isfinite(value)
        assert np.isfinite(slope).all()
        np.testing.assert_allclose(value, theirs(theta), rtol=precision, atol=precision)
    ahead, behind = (float(ours(theta + sign * STEP * direction)[0]) for sign in (1, -1))
    rounding = precision * max(1.0, abs(float(value))) / STEP
    np.testing.assert_allclose(slope @ direction, (ahead - behind) / (2 * STEP), rtol=1e-4, atol=1e-4 + rounding)


def reading(model, data, example):
    """Rows, other arrays and the outcome are those that the writer names, and a prediction has the outcome's shape."""
    assert set(data) == example.rows | example.whole
    assert set(model.reading.rows) == example.rows
    if example.together:
        with pytest.raises(ValueError, match=r"is one draw of .* for all rows.* decide from draws that are conditioned"):
            model.reading.outcome(data)
        return
    seen = model.reading.outcome(data)
    assert (seen is None) == (example.outcome is None)
    if seen is None:
        return
    assert seen is data[example.outcome]
    predict = lambda: jax.eval_shape(model.predict, jax.random.key(0), jnp.zeros(model.dim))
    if example.draws:
        assert predict().shape == seen.shape
        return
    with pytest.raises(ValueError, match="cannot draw seen in JAX"):
        predict()


def parts(model, data, example):
    """The scaled log likelihoods of a partition into minibatches have that of all rows as their mean; or no minibatch is taken."""
    model = model._replace(log_likelihood=jax.jit(model.log_likelihood))
    if example.apart:
        with pytest.raises(ValueError, match=example.apart):
            check_parts(model, data)
        return
    check_parts(model, data)
    theta, n = 0.3 * np.random.default_rng(7).normal(size=model.dim), row_count(data, model.reading)
    batches = [take(data, index, model.reading) for index in np.arange(n).reshape(-1, 4 if n % 4 == 0 else 1)]
    scaled = [float(batch.scale) * float(model.log_likelihood(theta, batch.rows)) for batch in batches]
    np.testing.assert_allclose(np.mean(scaled), model.log_likelihood(theta, data), rtol=1e-9)


def tied_to_its_rows(model, data, tied, words):
    """Other rows, and as many of them, are refused if and only if the model holds an array that belongs to its own."""
    wanted = model.reading.covariates
    assert set(wanted(data)) <= set(data)
    with pytest.raises(ValueError, match=words) if tied else nullcontext():
        wanted({**data, "y": data["y"] + 1.0})
