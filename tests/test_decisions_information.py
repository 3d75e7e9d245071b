"""What information is worth: closed forms and enumeration; the stated error and bias are tried, too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from course_pkg import decisions as d

BOTH = jnp.array([0, 1])
A, B, PRICE, LIMIT = 2.0, 48.0, 50.0, 2.5  # a share of faulty pieces, Beta(2, 48); keep them (PRICE a share) or send them back (LIMIT)


def box(share, send_back):
    return jnp.where(send_back == 1, LIMIT, PRICE * share)


def reading(key, theta):
    return theta + jax.random.normal(key)


def reading_log_likelihood(y, theta):
    return -0.5 * (y - theta) ** 2


def trials(n):
    return lambda key, share: jax.random.binomial(key, n, share), lambda k, share: k * jnp.log(share) + (n - k) * jnp.log1p(-share)


def box_by_enumeration(n):
    k = np.arange(n + 1)
    mean = (A + k) / (A + B + n)
    return min(LIMIT, PRICE * A / (A + B)) - stats.betabinom(n, A, B).pmf(k) @ np.minimum(LIMIT, PRICE * mean)


def perfect_box():
    share = stats.beta(A, B).ppf((np.arange(200_000) + 0.5) / 200_000)
    return min(LIMIT, PRICE * A / (A + B)) - np.minimum(LIMIT, PRICE * share).mean()


def shares(seed, size):
    return np.random.default_rng(seed).beta(A, B, size).clip(1e-6)


def test_perfect_information_on_two_states_is_the_hand_calculation():
    table = d.cost_matrix([[0.0, 10.0], [1.0, 0.0]])  # one state in four is the first
    told = d.value_of_perfect_information(table, np.array([[0, 1, 1, 1], [1, 1, 1, 1]]))
    assert told.value.tolist() == [0.75, 0.0]  # without: treat all and lose 3/4; sure already: nothing
    assert told.decision.tolist() == [0, 1]
    assert told.risk.tolist() == [0.75, 0.0]


def test_perfect_information_at_the_losses_of_numbers_is_the_risk():
    draws = np.random.default_rng(0).gamma(2.0, size=(2, 500))
    for loss in (d.squared(), d.tilted(0.2), d.Loss("cube", lambda y, h: jnp.abs(y - h) ** 3, convex=True)):
        told = d.value_of_perfect_information(loss, draws)
        assert np.allclose(told.value, told.risk, rtol=1e-5)
        assert np.allclose(told.risk, d.risk(loss, draws, d.bayes_decision(loss, draws)), rtol=1e-5)


def test_perfect_information_keeps_its_error():
    # 200 runs; |z| > 4 in any with probability 0.013, and a mean z beyond 0.35 in 1e-6
    told = d.value_of_perfect_information(box, np.stack([shares(seed, 400) for seed in range(200)]), actions=BOTH)
    z = (told.value - perfect_box()) / told.standard_error
    assert np.abs(z).max() < 4.5
    assert abs(z.mean()) < 0.35
    assert 0.8 < z.std() < 1.2


def test_a_reading_of_a_normal_state_at_squared_loss():
    # variance 4 before, 1 / (1/4 + 1) = 0.8 after every reading
    theta = 2 * np.random.default_rng(1).normal(size=(4, 1000))
    told = d.value_of_sample_information(jax.random.key(0), d.squared(), theta, reading, reading_log_likelihood, outer=500)
    assert told.value.shape == told.decision.shape == (4,)
    assert np.abs((told.value - told.bias - 3.2) / told.standard_error).max() < 4
    assert (told.value <= d.value_of_perfect_information(d.squared(), theta).value + 1e-5).all()
    assert np.allclose(told.decision, theta.mean(axis=1), atol=1e-5)


def test_two_decisions_about_a_normal_mean_have_the_unit_normal_loss():
    # keep at 0 or pay theta: with theta ~ N(m, 1) and a reading of variance 1 the posterior mean is N(m, 1/2)
    m, spread = 0.4, np.sqrt(0.5)
    exact = spread * (stats.norm.pdf(m / spread) - m / spread * stats.norm.sf(m / spread))
    theta = m + np.random.default_rng(2).normal(size=4000)
    keep_or_pay = lambda theta, pay: theta * pay
    told = d.value_of_sample_information(jax.random.key(3), keep_or_pay, theta, reading, reading_log_likelihood, actions=BOTH)
    assert abs(told.value - told.bias - exact) < 4 * told.standard_error
    assert told.standard_error < 0.1 * exact


@pytest.mark.parametrize("n", [1, 20])
def test_a_sample_of_the_box_by_enumeration(n):
    told = d.value_of_sample_information(jax.random.key(n), box, shares(n, 4000), *trials(n), actions=BOTH)
    assert abs(told.value - told.bias - box_by_enumeration(n)) < 4 * told.standard_error
    assert told.effective_sample_size > 100


def test_a_test_that_cannot_change_the_decision_is_worth_nothing():
    draws = np.random.default_rng(0).uniform(0.01, 0.03, 4000)  # all below the break-even share of 5 %
    told = d.value_of_sample_information(jax.random.key(0), box, draws, *trials(30), actions=BOTH)
    assert told.value == told.standard_error == told.bias == 0
    blind = d.value_of_sample_information(
        jax.random.key(0), box, shares(0, 4000), lambda key, share: jax.random.normal(key), lambda y, share: 0.0, actions=BOTH
    )
    assert abs(blind.value) < 1e-5
    assert blind.effective_sample_size == pytest.approx(4000, rel=1e-4)


def test_result_may_be_of_any_shape():
    theta = np.random.default_rng(5).normal(size=1000)
    told = d.value_of_sample_information(
        jax.random.key(2),
        d.squared(),
        theta,
        lambda key, theta: {"three": theta + jax.random.normal(key, (3,))},
        lambda y, theta: -0.5 * ((y["three"] - theta) ** 2).sum(),
        outer=500,
    )
    assert abs(told.value - told.bias - 0.75) < 4 * told.standard_error


@pytest.mark.thorough
def test_error_and_bias_of_sample_information_are_what_they_say():
    # 150 runs on 60 draws only: biased upwards, and the stated bias makes good most of it
    runs = [
        d.value_of_sample_information(
            jax.random.key(seed), d.squared(), np.random.default_rng(seed).normal(size=60), reading, reading_log_likelihood, outer=200
        )
        for seed in range(150)
    ]
    value, error, bias = (np.array([getattr(run, name) for run in runs]) for name in ("value", "standard_error", "bias"))
    z = (value - bias - 0.5) / error
    assert np.abs(z).max() < 5
    assert z.std() < 1.3
    assert abs((value - bias).mean() - 0.5) < 4 * (value - bias).std() / np.sqrt(150) + 0.01


def test_refusals():
    theta = np.arange(1000.0)
    whole = (jax.random.key(0), d.squared(), theta, reading, reading_log_likelihood)
    with pytest.raises(ValueError, match="at least 4 draws"):
        d.value_of_perfect_information(d.squared(), theta[:3])
    with pytest.raises(ValueError, match="outer is 3"):
        d.value_of_sample_information(*whole, outer=3)
    with pytest.raises(ValueError, match="simulate fails on JAX's arrays"):
        d.value_of_sample_information(*whole[:3], lambda key, theta: np.sqrt(theta).tolist(), reading_log_likelihood, outer=500)
    with pytest.raises(ValueError, match="give one number: sum over"):
        d.value_of_sample_information(*whole[:3], reading, lambda y, theta: jnp.zeros(3), outer=500)
