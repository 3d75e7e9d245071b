"""Chapter 8, beliefs without a likelihood: the normal example in closed form, coherence, and the limits of the power prior."""

import jax.numpy as jnp
import numpy as np
import pytest

from course_pkg.decisions import Loss, absolute, squared
from course_pkg.posthoc import belief_on_grid, coherent_update, compare_updates, power_prior_update

ETA = np.linspace(-15, 15, 6001)
PRIOR = belief_on_grid(ETA, lambda eta: -0.5 * eta**2)
NORMAL = Loss("normal", lambda y, eta: 0.5 * (y - eta) ** 2)


def same(a, b, tolerance=2e-4):
    return float(jnp.abs(a.density - b.density).max()) < tolerance


@pytest.mark.parametrize("weight", [0.2, 1.0, 4.0])
def test_the_coherent_update_of_a_normal_is_closed(weight):
    y = np.array([2.0, -1.0, 4.0])
    belief = coherent_update(PRIOR, NORMAL, y, weight)
    assert belief.mean == pytest.approx(weight * y.sum() / (1 + 3 * weight), abs=1e-4)
    assert belief.sd == pytest.approx((1 + 3 * weight) ** -0.5, rel=1e-3)


@pytest.mark.parametrize("loss", [NORMAL, squared(), absolute()], ids=lambda loss: loss.name)
def test_coherent_updates_are_the_same_in_every_order(loss):
    coherent, power = compare_updates(PRIOR, loss, np.array([2.0, -1.0, 0.5]), 0.3)
    assert same(coherent.at_once, coherent.in_order)
    assert same(coherent.at_once, coherent.reversed)
    assert not same(power.at_once, power.in_order, 0.05)
    assert not same(power.in_order, power.reversed, 0.05)
    assert coherent.at_once.mode == pytest.approx(power.at_once.mode, abs=0.006)  # the same mode, up to the grid


def test_the_numbers_of_the_erratum():
    _, power = compare_updates(PRIOR, NORMAL, np.array([2.0, -1.0]), 0.3)
    assert [round(belief.mean, 3) for belief in power] == [0.435, -0.288, 1.223]


def test_a_power_of_one_is_bayes():
    y = np.array([1.0, 2.0])
    assert same(power_prior_update(PRIOR, NORMAL, y, 1.0), coherent_update(PRIOR, NORMAL, y, 1.0))


def test_without_a_prior_the_mode_is_the_estimate_and_the_belief_stays_wide():
    belief = power_prior_update(PRIOR, NORMAL, np.array([0.0, 1.0, 2.0]), 1e-6)
    assert belief.mode == pytest.approx(1.0, abs=0.01)
    assert belief.sd == pytest.approx(3**-0.5, rel=1e-3)


def test_a_large_power_shrinks_the_prior_instead_of_keeping_it():
    belief = power_prior_update(PRIOR, NORMAL, np.array([2.0]), 99.0)
    assert belief.mean == pytest.approx(0.02, abs=1e-3)
    assert belief.sd == pytest.approx(0.1, rel=1e-2)  # not the prior's 1


@pytest.mark.parametrize(("n", "averaged"), [(10, False), (1000, False), (10, True), (1000, True)])
def test_only_the_summed_loss_concentrates(n, averaged):
    # erratum T53: with 1/N on the loss the belief is as wide at N = 1000 as at N = 10
    belief = coherent_update(PRIOR, squared(), np.zeros(n), 1 / n if averaged else 1.0)
    assert belief.sd**2 == pytest.approx(1 / 3 if averaged else 1 / (1 + 2 * n), rel=2e-2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: belief_on_grid([0.0, 1.0], [0.0, 0.0]), "at least 3 points"),
        (lambda: belief_on_grid([0.0, 2.0, 1.0], [0.0, 0.0, 0.0]), "eta must rise"),
        (lambda: belief_on_grid(ETA, np.zeros(3)), "log_density has shape"),
        (lambda: belief_on_grid([0.0, 1.0, 2.0], [0.0, np.nan, 0.0]), "log_density holds nan"),
        (lambda: coherent_update(PRIOR, squared(), [1.0], -1.0), "weight is -1"),
        (lambda: power_prior_update(PRIOR, squared(), [1.0], -0.5), "nu is -0.5"),
        (lambda: power_prior_update(PRIOR, squared(), []), "y is empty"),
        (lambda: compare_updates(PRIOR, squared(), [1.0], 0.0), "nu is 0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
