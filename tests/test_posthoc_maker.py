"""Chapter 8, the decision maker: closed forms and scikit-learn for the linear one, limits of nu, stopping, restarts, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import QuantileRegressor, Ridge

from course_pkg.decisions import Loss, absolute, bayes_decision, empirical_risk, linex, squared, tilted, zero_one
from course_pkg.posthoc import (
    DecisionPrior,
    Training,
    characterize,
    constant_prior,
    cross_validate,
    fit_decision_maker,
    initial_maker,
    objective,
    pointwise_prior,
    single_quantile,
)

RNG = np.random.default_rng(80)
WHOLE = Training(hidden=(), restarts=1, held_out=0.0, steps=4000, rate=0.02)
LINEAR = {"training": WHOLE}


def table(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3
    y = 2 + x @ np.arange(1, d + 1) + 2 * rng.standard_t(4, size=n)
    return x.astype("f4"), y.astype("f4")


def test_the_objective_by_hand():
    prior = pointwise_prior(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    y, h = np.array([1.0, 2.0]), np.array([2.0, 5.0])
    by_hand = (0.5 * (1 + 3)) + 0.3 * 0.5 * (0.5 * 4 + 0.5 * 16 / 4)
    assert float(objective(Loss("abs", lambda y, h: abs(y - h)), y, h, prior, 0.3)) == pytest.approx(by_hand)


def test_twice_the_same_data_is_the_same_objective():
    y, h = RNG.normal(size=(2, 50))
    prior = constant_prior(RNG.normal(size=50))
    twice = DecisionPrior(jnp.tile(prior.mean, 2), jnp.tile(prior.sd, 2))
    once = objective(squared(), y, h, prior, 0.7)
    assert float(objective(squared(), np.tile(y, 2), np.tile(h, 2), twice, 0.7)) == pytest.approx(float(once), rel=1e-5)


def test_one_decision_for_all_points_does_not_depend_on_their_number():
    # erratum T54: y = 2, q-optimal 0, sd 1, nu = 0.1 gives 2 / (1 + 0.05) at every N when both sums are averaged
    for n in (10, 1000):
        h = np.linspace(0, 2, 2001)
        values = [float(objective(squared(), np.full(n, 2.0), np.full(n, each), constant_prior(np.zeros(n)), 0.1)) for each in h[::40]]
        assert h[::40][int(np.argmin(values))] == pytest.approx(2 / 1.05, abs=0.03)


@pytest.mark.parametrize("nu", [0.0, 0.5, 20.0])
def test_squared_loss_and_a_normal_prior_have_a_closed_form(nu):
    x, y = table()
    prior = pointwise_prior(RNG.normal(size=len(y)), RNG.uniform(0.5, 3, size=len(y)))
    fit = fit_decision_maker(x, y, squared(), prior=prior, nu=nu, **LINEAR)
    extra = nu / 2 / np.asarray(prior.sd) ** 2  # each point: (h - y)^2 + extra (h - mean)^2
    root, target = np.sqrt(1 + extra), (y + extra * np.asarray(prior.mean)) / (1 + extra)
    design = np.column_stack([np.ones(len(y)), x])
    weights = np.linalg.lstsq(root[:, None] * design, root * target, rcond=None)[0]
    np.testing.assert_allclose(fit.maker(x), design @ weights, atol=2e-2)


def test_ridge_is_a_constant_prior_on_whitened_features():
    x, y = table()
    z = np.linalg.qr(x - x.mean(0))[0] * np.sqrt(len(y))
    fit = fit_decision_maker(z, y, squared(), prior=constant_prior(np.full(len(y), y.mean())), nu=1.5, **LINEAR)
    ridge = Ridge(alpha=0.75 * len(y)).fit(z, y)  # |h - mean|^2 = N |w|^2 here
    np.testing.assert_allclose(fit.maker(z), ridge.predict(z), atol=2e-2)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_the_linear_maker_for_tilted_loss_is_quantile_regression(q):
    x, y = table()
    fit = fit_decision_maker(x, y, tilted(q), **LINEAR)
    peer = QuantileRegressor(quantile=q, alpha=0.0, solver="highs").fit(x, y)
    ours, theirs = (float(empirical_risk(tilted(q), y, np.asarray(h, "f4"))) for h in (fit.maker(x), peer.predict(x)))
    assert theirs <= ours * (1 + 1e-6)  # the peer solves the linear programme exactly
    assert ours <= theirs * 1.003


def test_when_the_predictive_is_right_no_map_of_its_quantiles_beats_the_right_quantile():
    rng = np.random.default_rng(3)
    mean, sd = rng.normal(size=20_000), rng.uniform(0.5, 2, size=20_000)
    y = mean + sd * rng.normal(size=20_000)
    levels = np.arange(1, 10) / 10
    features = (mean[:, None] + sd[:, None] * stats.norm.ppf(levels)).astype("f4")  # exact quantiles, no draws
    fit = fit_decision_maker(features[:4000], y[:4000], tilted(0.2), training=Training(hidden=(), restarts=1))
    cost = [np.asarray(tilted(0.2)(y[4000:], h)) for h in (features[4000:, 1], np.asarray(fit.maker(features[4000:])))]
    excess = cost[1] - cost[0]
    assert cost[1].mean() <= cost[0].mean() * 1.01  # it finds the right quantile
    assert excess.mean() > -4 * excess.std() / np.sqrt(16_000)  # and nothing better: a false alarm in 30,000


def test_a_shifted_and_widened_predictive_is_mended():
    rng = np.random.default_rng(4)
    centre = rng.normal(size=2000)
    y = centre + rng.normal(size=2000)
    draws = 1.5 + centre[:, None] + 3 * rng.normal(size=(2000, 200))
    features, best = characterize(draws, 9), centre + stats.norm.ppf(0.8)
    fit = fit_decision_maker(features[:1000], y[:1000], tilted(0.8))
    risks = [float(empirical_risk(tilted(0.8), y[1000:], h[1000:])) for h in (best, np.asarray(fit.maker(features)))]
    wrong = float(empirical_risk(tilted(0.8), y[1000:], np.asarray(bayes_decision(tilted(0.8), draws))[1000:]))
    assert risks[1] < 0.5 * wrong
    assert risks[1] < 1.1 * risks[0]


@pytest.mark.parametrize("hidden", [(), (20, 10)])
def test_a_large_nu_returns_the_model_and_none_forgets_it(hidden):
    rng = np.random.default_rng(5)
    m = rng.uniform(-2, 2, size=400)
    y = np.sin(3 * m) + 0.1 * rng.normal(size=400)
    prior = constant_prior(m, 0.5)
    near = fit_decision_maker(m[:, None], y, squared(), prior=prior, nu=1e4, training=Training(hidden))
    assert np.sqrt(np.mean((np.asarray(near.maker(m[:, None])) - m) ** 2)) < 0.05
    if hidden:
        free = fit_decision_maker(m[:, None], y, squared(), prior=prior, nu=0.0, training=Training(hidden))
        assert float(empirical_risk(squared(), y, free.maker(m[:, None]))) < 0.1


def test_cross_validation_picks_the_prior_that_is_right_and_drops_the_one_that_is_wrong():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(60, 8))
    truth = x[:, 0]
    y = truth + 2 * rng.normal(size=60)
    options = {"nu": [0.0, 1.0, 100.0], "training": Training(hidden=(10,), restarts=1, steps=600)}
    right = fit_decision_maker(x, y, squared(), prior=constant_prior(truth), **options)
    wrong = fit_decision_maker(x, y, squared(), prior=constant_prior(truth + 20), **options)
    assert right.nu == 100.0
    assert wrong.nu == 0.0
    assert right.validation.shape == (3, 5)
    np.testing.assert_array_equal(right.candidates, [0.0, 1.0, 100.0])


def test_cross_validation_is_by_hand_what_it_says():
    x, y = table(40, 1)
    prior = constant_prior(np.zeros(40))
    risks = cross_validate(x, y, squared(), prior, [0.0, 1e6], training=Training(hidden=(), restarts=1, steps=2000, folds=4))
    assert risks[1].mean() == pytest.approx(np.mean(y**2), rel=0.15)  # decisions of 0


def test_early_stopping_keeps_the_best_look_and_stops():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(60, 10)), rng.normal(size=60)  # nothing to learn
    fit = fit_decision_maker(x, y, squared(), training=Training((50, 50), steps=5000, patience=20))
    seen = fit.stop[fit.best]
    assert fit.steps == 10 * (int(np.nanargmin(seen)) + 1)
    assert np.isnan(seen[-1])
    assert np.isfinite(seen).sum() == np.nanargmin(seen) + 21
    assert fit.best == int(np.nanmin(fit.stop, axis=1).argmin())
    overfitted = fit_decision_maker(x, y, squared(), training=Training((50, 50), steps=5000, held_out=0.0))
    fresh = rng.normal(size=(2000, 10))
    assert np.mean(np.asarray(fit.maker(fresh)) ** 2) < np.mean(np.asarray(overfitted.maker(fresh)) ** 2)


def test_minibatches_reach_what_all_points_reach():
    x, y = table(500)
    whole = fit_decision_maker(x, y, squared(), **LINEAR)
    parts = fit_decision_maker(x, y, squared(), training=WHOLE._replace(batch=100))
    assert empirical_risk(squared(), y, parts.maker(x)) < 1.02 * empirical_risk(squared(), y, whole.maker(x))


@pytest.mark.parametrize("batch", [None, 50])
def test_points_held_out_for_stopping_are_never_learnt_from(batch):
    from course_pkg.posthoc.training import _split

    x, y = table(500)
    _, stop = _split(jax.random.key(0), np.ones(500, bool), 0.25)
    shuffled = y.copy()
    shuffled[stop] = y[stop][::-1]  # the mean and the scale of the outcomes stay
    one_look = Training(hidden=(), restarts=1, batch=batch, steps=10 if batch is None else 50)
    options = {"training": one_look, "key": jax.random.key(0)}
    fits = [fit_decision_maker(x, outcome, squared(), **options) for outcome in (y, shuffled)]
    np.testing.assert_allclose(fits[0].maker(x), fits[1].maker(x), rtol=1e-5)
    assert fits[0].stop[0, 0] != pytest.approx(fits[1].stop[0, 0])
    shuffled[~stop] = y[~stop][::-1]
    assert np.abs(fits[0].maker(x) - fit_decision_maker(x, shuffled, squared(), **options).maker(x)).max() > 1e-3


def test_units_and_constant_columns_do_not_matter():
    x, y = table(200)
    small = fit_decision_maker(x, y, absolute(), key=jax.random.key(3), training=Training(steps=500))
    large = fit_decision_maker(1000 * x - 7, 1000 * y, absolute(), key=jax.random.key(3), training=Training(steps=500))
    padded = fit_decision_maker(np.column_stack([x, np.ones(200)]), y, absolute(), training=Training(hidden=(), steps=2000))
    np.testing.assert_allclose(large.maker(1000 * x - 7) / 1000, small.maker(x), rtol=0.05, atol=0.2)
    assert np.isfinite(np.asarray(padded.maker(np.column_stack([x, np.ones(200)])))).all()


def test_the_same_key_gives_the_same_maker_and_tables_keep_their_shape():
    x, y = table(60)
    cells, short = (x.reshape(6, 10, 3), y.reshape(6, 10)), Training(steps=100)
    fits = [fit_decision_maker(*cells, squared(), training=short, key=jax.random.key(k)) for k in (1, 1, 2)]
    h = [np.asarray(fit.maker(x.reshape(6, 10, 3))) for fit in fits]
    assert h[0].shape == (6, 10)
    np.testing.assert_array_equal(h[0], h[1])
    assert (h[0] != h[2]).any()


def test_any_loss_without_a_closed_form_serves():
    x, y = table(200)
    fit = fit_decision_maker(x, y / 10, linex(1.0), **LINEAR)
    residual = np.asarray(fit.maker(x)) - y / 10
    assert np.mean(np.expm1(residual)) == pytest.approx(0, abs=5e-3)  # the slope in the intercept


def test_single_quantile_beats_every_level_of_a_fine_grid():
    rng = np.random.default_rng(9)
    draws, y = rng.normal(size=(400, 50)), rng.normal(0.3, 0.5, size=400)
    found = single_quantile(draws, y, tilted(0.3))
    risks = [float(empirical_risk(tilted(0.3), y, np.quantile(draws, q, axis=-1))) for q in np.linspace(0.01, 0.99, 393)]
    assert found.risk <= min(risks) + 1e-4
    assert float(empirical_risk(tilted(0.3), y, found(draws))) == pytest.approx(found.risk, rel=1e-4)


X, Y = table(20)
PRIOR = constant_prior(np.zeros(20))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"features": X[:10]}, r"features has shape \(10, 3\) and y \(20,\)"),
        ({"features": np.ones((20, 4))}, "features are constant"),
        ({"features": np.full((20, 3), np.nan)}, "features holds nan"),
        ({"features": np.zeros((0, 3)), "y": np.zeros(0)}, "features is empty"),
        ({"y": np.where(np.arange(20) == 3, np.inf, Y)}, "y holds inf at position 3"),
        ({"nu": -1.0, "prior": PRIOR}, "nu holds -1"),
        ({"nu": 1.0}, "nu is 1 and there is no prior"),
        ({"prior": constant_prior(np.zeros(19))}, "prior.mean has shape"),
        ({"prior": DecisionPrior(np.zeros(20), np.zeros(20))}, "prior.sd holds 0"),
        ({"loss": zero_one(2)}, "whose decisions are classes"),
        ({"loss": "squared"}, "loss is 'squared'"),
        (Training(held_out=1.0), "held_out is 1.0"),
        (Training(held_out=0.001), "leaves one part empty"),
        ({"training": Training(folds=15), "nu": [0.0, 1.0], "prior": PRIOR}, "folds is 15"),
        (Training(hidden=(0,)), "hidden is 0"),
        (Training(restarts=0), "restarts is 0"),
        (Training(rate=0.0), "rate is 0"),
        (Training(folds=1), "folds is 1"),
        (Training(decay="no"), "decay is 'no'"),
        ({"loss": lambda y, h: jnp.log(h - h) + y}, "never finite"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        if isinstance(arguments, Training):
            arguments = {"training": arguments}
        fit_decision_maker(**({"features": X, "y": Y, "loss": squared(), "training": Training(steps=20)} | arguments))


def test_bad_input_elsewhere_is_named():
    with pytest.raises(ValueError, match="give 3 features for each point"):
        initial_maker(jax.random.key(0), X, Y)(X[:, :2])
    with pytest.raises(ValueError, match="sd is 0"):
        constant_prior(np.zeros(3), 0.0)
    with pytest.raises(ValueError, match="sd has shape"):
        pointwise_prior(np.zeros(3), np.ones(4))
    with pytest.raises(ValueError, match="one decision for each outcome"):
        objective(squared(), Y, Y[:3])
    with pytest.raises(ValueError, match="one outcome for each row"):
        single_quantile(np.zeros((3, 5)), Y, squared())
