"""ISGD: plain SGD bit for bit without reuse, unbiased with joint weights, its bias per factor and of stale terms, its triggers."""

import inspect
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from course_pkg import families, gradients, models
from course_pkg.fit import QUIET, NotFiniteError, Settings, fit
from course_pkg.is_gradients import Subsample, Weighting, anchored, isgd
from tests.test_is_gradients_weights import LAMBERT, hat

DIM, ROWS, NOISE, PRIOR = 2, 12, 0.8, 1.5
X = jax.random.normal(jax.random.key(10), (ROWS, DIM)) + jnp.array([[0.0, 0.4]])
DATA = models.Rows(X, X @ jnp.array([1.0, -1.0]) + NOISE * jax.random.normal(jax.random.key(11), (ROWS,)))
MODEL = models.linear_regression(DIM, NOISE, PRIOR)
MEAN_FIELD, FULL = families.mean_field_normal(), families.full_rank_normal()
PRECISION = X.T @ X / NOISE**2 + jnp.eye(DIM) / PRIOR**2
JOINT = Weighting("joint")
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
BOUND = stats.norm.isf(1e-5 / 200 / 2)  # fewer than 200 z-scores below: a false alarm once in 10^5 runs of fresh seeds


def exact_elbo(lam):
    family = MEAN_FIELD if isinstance(lam, families.Diagonal) else FULL
    covariance = jnp.diag(jnp.exp(2 * lam.log_sigma)) if family is MEAN_FIELD else families.triangle(lam) @ families.triangle(lam).T
    return models.log_joint(MODEL, lam.mu, DATA) - 0.5 * jnp.trace(PRECISION @ covariance) + families.entropy(family, lam)


def places(family):
    """Yesterday's and today's parameters, close enough for weights with a variance."""
    lam = family.init(DIM)
    old = jax.tree.map(lambda a: a + 0.2 * jax.random.normal(jax.random.key(a.shape[0]), a.shape), lam)
    return old, jax.tree.map(lambda a: a + 0.1 * jnp.cos(jnp.arange(a.size) + 1.0), old)


slope_of_elbo = jax.jit(jax.grad(exact_elbo))


def reused(estimator, seed, old, new, data=DATA):
    """One fresh step at `old`, then one that is made to reuse at `new`."""
    estimate, after = fresh_then_reused(estimator, jax.random.key(seed), old, new, data)
    assert int(after.fresh) == 1
    return estimate


@partial(jax.jit, static_argnums=0)
def fresh_then_reused(estimator, key, old, new, data):
    _, state = estimator.estimate(estimator.draw(key, old, data), old, estimator.init(key, old, data), data)
    noise = estimator.draw(jax.random.fold_in(key, 1), new, data)
    return estimator.estimate((jnp.array(0.0), *noise[1:]), new, state, data)


def z_scores(estimate, exact):
    def z(g, e, s):
        g, e, s = (np.asarray(a, float) for a in (g, e, s))
        return np.abs((g - e) / np.maximum(s.std(axis=0, ddof=1) / np.sqrt(len(s)), 1e-6))

    return np.concatenate([z(*part) for part in zip(*map(jax.tree.leaves, (estimate.gradient, exact, estimate.per_sample)), strict=True)])


@pytest.mark.parametrize(
    ("form", "size"),
    [
        pytest.param("reparameterized", None, marks=pytest.mark.thorough),
        ("reparameterized", 5),
        ("score", None),
        pytest.param("score", 5, marks=pytest.mark.thorough),
    ],
)
def test_without_reuse_it_is_sgd_bit_for_bit(form, size):
    plain = {
        "score": gradients.score(MODEL, MEAN_FIELD, 4),
        "reparameterized": gradients.reparameterized(MODEL, MEAN_FIELD, 4, entropy="closed form"),
    }[form]
    plain = plain if size is None else gradients.minibatch(plain, size)
    ours = isgd(MODEL, MEAN_FIELD, 4, reuse=0.0, form=form, subsample=Subsample(size))
    optimizer = optax.adam(0.05)
    one, two = (fit(jax.random.key(7), e, optimizer, MEAN_FIELD.init(DIM), DATA, 60, QUIET) for e in (plain, ours))
    # The compiler fuses the score on a minibatch differently in the two programs; a last digit may differ there, nowhere else.
    tolerance = 1e-5 if (form, size) == ("score", 5) else 0.0
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((jnp.abs(a - b) <= tolerance).all()), one.lam, two.lam))
    assert int(two.state.fresh) == 60


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("family", "form"),
    [
        pytest.param(MEAN_FIELD, "reparameterized", marks=pytest.mark.thorough),  # as the minibatches below
        (MEAN_FIELD, "score"),
        (FULL, "reparameterized"),
        pytest.param(FULL, "score", marks=pytest.mark.thorough),
    ],
    ids=["mean field-reparameterized", "mean field-score", "full rank-reparameterized", "full rank-score"],
)
def test_joint_weights_are_unbiased_after_a_move(family, form, seed):
    old, new = places(family)
    estimate = reused(isgd(MODEL, family, 40_000, form=form, weighting=JOINT), seed, old, new)
    assert z_scores(estimate, slope_of_elbo(new)).max() < BOUND


IN_MINIBATCHES = [isgd(MODEL, MEAN_FIELD, 4, weighting=JOINT, subsample=Subsample(3, partition)) for partition in (False, True)]


@partial(jax.jit, static_argnums=0)
def minibatches_reused(estimator, old, new, keys):
    def one(key):
        noise = estimator.draw(key, old, DATA)
        state = estimator.estimate(noise, old, estimator.init(key, old, DATA), DATA)[1]
        return estimator.estimate((jnp.array(0.0), *noise[1:]), new, state, DATA)[0].gradient

    return jax.vmap(one)(keys)


@pytest.mark.parametrize("seed", SEEDS)
def test_minibatches_of_reused_gradients_are_unbiased_and_count_the_prior_once(seed):
    old, new = places(MEAN_FIELD)
    for estimator in IN_MINIBATCHES:
        runs = minibatches_reused(estimator, old, new, jax.random.split(jax.random.key(seed), 20_000))
        estimate = gradients.Estimate(0.0, jax.tree.map(lambda a: a.mean(0), runs), runs)
        assert z_scores(estimate, slope_of_elbo(new)).max() < BOUND


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_per_factor_is_the_closed_form_of_t24(seed):
    """Coordinate i under the new q_i and the old others: the mean and the product with eps, by the linearity of the slope."""
    old = families.Diagonal(jnp.array([0.2, -0.3]), jnp.log(jnp.array([1.0, 0.8])))
    new = families.Diagonal(jnp.array([0.5, 0.1]), jnp.log(jnp.array([0.9, 0.75])))
    x = jnp.stack([X[:, 0], X[:, 0] + 0.3 * X[:, 1]], axis=1)  # columns that look alike, so that the weights depend on each other
    precision, pull = x.T @ x / NOISE**2 + jnp.eye(DIM) / PRIOR**2, x.T @ DATA.y / NOISE**2
    estimate = reused(isgd(MODEL, MEAN_FIELD, 40_000), seed, old, new, models.Rows(x, DATA.y))
    mu = jnp.array([pull[i] - precision[i] @ jnp.where(jnp.arange(DIM) == i, new.mu, old.mu) for i in range(DIM)])
    log_sigma = 1 - jnp.diag(precision) * jnp.exp(2 * new.log_sigma)
    assert z_scores(estimate, families.Diagonal(mu, log_sigma)).max() < BOUND
    assert z_scores(estimate, families.Diagonal(pull - precision @ new.mu, log_sigma)).max() > 15  # what is wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stale_g_is_biased_by_the_gradient_of_the_kl_divergence_and_ours_is_not(seed):
    """Erratum T28: the old g in place of the new one adds the gradient of KL(q_new || q_old)."""
    old, new = places(MEAN_FIELD)
    estimate = reused(isgd(MODEL, MEAN_FIELD, 40_000, form="score", weighting=JOINT), seed, old, new)

    @jax.jit
    def as_printed(key):
        theta = families.sample(key, MEAN_FIELD, old, 40_000)
        log_q = lambda lam: jax.vmap(lambda t: families.log_prob(MEAN_FIELD, lam, t))(theta)
        stale = jax.vmap(lambda t: models.log_joint(MODEL, t, DATA))(theta) - log_q(old)
        scores = jax.vmap(jax.grad(lambda lam, t: families.log_prob(MEAN_FIELD, lam, t)), (None, 0))(new, theta)
        per_sample = jax.tree.map(lambda s: (jnp.exp(log_q(new) - log_q(old)) * stale)[:, None] * s, scores)
        return gradients.Estimate(0.0, jax.tree.map(lambda a: a.mean(0), per_sample), per_sample)

    printed = as_printed(jax.random.key(seed + 50))

    def kl(lam):
        ratio = jnp.exp(lam.log_sigma - old.log_sigma)
        return (0.5 * (ratio**2 + ((lam.mu - old.mu) * jnp.exp(-old.log_sigma)) ** 2 - 1) - jnp.log(ratio)).sum()

    exact = slope_of_elbo(new)
    biased = jax.tree.map(np.add, exact, jax.jit(jax.grad(kl))(new))
    assert z_scores(printed, biased).max() < BOUND
    assert z_scores(estimate, exact).max() < BOUND


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [pytest.param("joint", marks=pytest.mark.thorough), "per factor"])
def test_a_skewed_family_is_served_too(kind, seed):
    """One coordinate, so that weights per factor are unbiased as well; the reference is a fresh gradient at the new parameters."""
    model = models.Model(1, lambda t: -0.5 * (t**2).sum(), lambda t, data: -0.25 * ((t - 1) ** 4).sum(), None, None)
    place = lambda mu, ls, g: (families.Diagonal(jnp.array([mu]), jnp.array([ls])), hat(g))
    old, new = place(0.2, -0.7, 0.05), place(0.3, -0.75, 0.12)
    data = jnp.zeros((1, 1))
    ours = reused(isgd(model, LAMBERT, 40_000, weighting=Weighting(kind)), seed, old, new, data)
    once = jax.jit(partial(gradients.once, gradients.reparameterized(model, LAMBERT, 40_000)))
    fresh = once(jax.random.key(seed + 90), new, data)
    for a, b in zip(jax.tree.leaves(ours.per_sample), jax.tree.leaves(fresh.per_sample), strict=True):
        a, b = np.asarray(a, float), np.asarray(b, float)
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        assert np.abs((a.mean(0) - b.mean(0)) / error).max() < BOUND


SMALL_STEPS = optax.sgd(1e-4)


def test_the_expected_run_is_one_over_one_minus_p_and_the_first_step_is_fresh():
    """Erratum T25. Of 4,000 steps with p = 0.9 a share of 0.1 is fresh, standard error 0.005."""
    estimator = isgd(MODEL, MEAN_FIELD, 1, reuse=0.9)
    run = fit(jax.random.key(0), estimator, SMALL_STEPS, MEAN_FIELD.init(DIM), DATA, 4000, QUIET)
    assert int(run.state.fresh) / 4000 == pytest.approx(0.1, abs=0.025)
    for seed in range(10):
        run = fit(jax.random.key(seed), estimator, SMALL_STEPS, MEAN_FIELD.init(DIM), DATA, 1, QUIET)
        assert int(run.state.fresh) == 1
        assert float(jnp.abs(run.lam.mu).max()) > 0


def test_a_fresh_gradient_is_forced_when_the_effective_share_falls():
    lazy = isgd(MODEL, MEAN_FIELD, 50, reuse=1.0, weighting=Weighting(min_ess=0.5))
    still = fit(jax.random.key(0), lazy, optax.sgd(1e-7), MEAN_FIELD.init(DIM), DATA, 200, Settings(progress=False, judge=False))
    moving = fit(jax.random.key(0), lazy, optax.adam(0.1), MEAN_FIELD.init(DIM), DATA, 200, Settings(progress=False, judge=False))
    wary = isgd(MODEL, MEAN_FIELD, 50, reuse=1.0, weighting=Weighting(min_ess=0.95))
    strict = fit(jax.random.key(0), wary, optax.adam(0.1), MEAN_FIELD.init(DIM), DATA, 200, Settings(progress=False, judge=False))
    assert int(still.state.fresh) == 1
    assert 1 < int(moving.state.fresh) < int(strict.state.fresh) <= 200


def test_an_adaptive_run_reuses_where_there_is_a_slope_and_stops_where_there_is_noise():
    """With p = 0.9 a share of 0.1 is fresh where all agree; at the optimum one draw says little and most steps are fresh."""
    estimator = isgd(MODEL, MEAN_FIELD, 1, reuse=0.9, adaptive=True)
    exact = models.regression_posterior(DATA, NOISE, PRIOR)
    narrow = jnp.full(DIM, -9.0)  # far away and certain of it, then at the posterior
    away = families.Diagonal(exact.mean + jnp.array([40.0, -40.0]), narrow)
    there = families.Diagonal(exact.mean, -0.5 * jnp.log(jnp.diag(jnp.linalg.inv(exact.covariance))))
    at_rest = Settings(progress=False, judge=False)  # neither run is to move
    far, near = (fit(jax.random.key(0), estimator, optax.sgd(1e-9), lam, DATA, 1000, at_rest).state for lam in (away, there))
    assert float(far.agreement) > 0.9
    assert int(far.fresh) < 200
    assert float(near.agreement) < 0.6
    assert int(near.fresh) > 500


def test_scaled_steps_are_shorter_by_the_relative_ess():
    old, new = places(MEAN_FIELD)
    one, two = (isgd(MODEL, MEAN_FIELD, 50, weighting=Weighting(scale_by_ess=scale)) for scale in (False, True))
    estimates = [fresh_then_reused(estimator, jax.random.key(0), old, new, DATA) for estimator in (one, two)]
    share = float(estimates[1][1].ess)
    assert 0 < share < 1
    assert np.allclose(estimates[1][0].gradient.mu, share * estimates[0][0].gradient.mu, rtol=1e-5)


def test_a_model_that_breaks_is_reported_by_fit():
    broken = MODEL._replace(log_likelihood=lambda theta, data: jnp.where(theta[0] > 0.3, jnp.nan, 1.0) * (theta**2).sum())
    with pytest.raises(NotFiniteError):
        fit(jax.random.key(0), isgd(broken, MEAN_FIELD, 2), optax.adam(0.1), MEAN_FIELD.init(DIM), DATA, 500, QUIET)


def test_reuse_lands_on_the_posterior_of_independent_weights():
    """With covariates of one column each, factors do not look at each other and reuse costs nothing but noise."""
    data = models.Rows(jnp.tile(jnp.eye(2), (20, 1)), jnp.arange(40.0) % 5)
    exact = models.regression_posterior(data, NOISE, PRIOR)
    optimizer = optax.adam(optax.exponential_decay(0.05, 3000, 0.01))
    run = fit(jax.random.key(0), isgd(MODEL, MEAN_FIELD, 20, reuse=0.8), optimizer, MEAN_FIELD.init(2), data, 3000, QUIET)
    assert np.allclose(run.lam.mu, exact.mean, atol=0.02)
    assert np.allclose(jnp.exp(2 * run.lam.log_sigma), jnp.diag(exact.covariance), rtol=0.1)


CONTROL_AND_PLAIN = (
    anchored(MODEL, MEAN_FIELD, 2, Subsample(3), every=10**6),
    isgd(MODEL, MEAN_FIELD, 2, reuse=0.0, subsample=Subsample(3)),
)


@partial(jax.jit, static_argnums=0)
def gradients_after(estimator, old, new, keys):
    """One step at `old`, then many next steps at `new`."""
    state = estimator.estimate(estimator.draw(jax.random.key(99), old, DATA), old, estimator.init(None, old, DATA), DATA)[1]
    return jax.vmap(lambda key: estimator.estimate(estimator.draw(key, new, DATA), new, state, DATA)[0].gradient)(keys)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_anchored_gradient_is_unbiased_wherever_the_anchor_lies_and_has_less_noise_near_it(seed):
    """Erratum T31. The anchor stays at `old`; the gradient is asked for at `new`."""
    old, new = places(MEAN_FIELD)
    new = new._replace(log_sigma=new.log_sigma - 1)
    runs = [gradients_after(estimator, old, new, jax.random.split(jax.random.key(seed), 20_000)) for estimator in CONTROL_AND_PLAIN]
    estimate = gradients.Estimate(0.0, jax.tree.map(lambda a: a.mean(0), runs[0]), runs[0])
    assert z_scores(estimate, slope_of_elbo(new)).max() < BOUND
    assert float(runs[0].mu.var(axis=0).sum()) < 0.5 * float(runs[1].mu.var(axis=0).sum())


def test_anchors_are_counted():
    estimator = anchored(MODEL, MEAN_FIELD, 1, Subsample(3, partition=True), every=10, reuse=0.5)
    run = fit(jax.random.key(0), estimator, optax.adam(0.01), MEAN_FIELD.init(DIM), DATA, 1000, QUIET)
    assert 400 < int(run.state.fresh) < 600
    assert 20 < int(run.state.source.count) < 90


PLAIN = inspect.unwrap(isgd)  # without the types that only the tests check
BAD = [
    (lambda: isgd(MODEL, MEAN_FIELD, 0), "samples is 0"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, reuse=1.0), "reuse is 1 and min_ess 0"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, reuse=-0.1), "reuse is -0.1"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting(min_ess=2.0)), "min_ess is 2"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting("joint", min_ess=0.5)), "there is one weight"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting(normalise=True)), "samples is 1 and normalise"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, form="both"), "form is 'both'"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting("some")), "kind is 'some'"),
    (lambda: isgd(MODEL, FULL, 1), "coordinates depend on each other"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, subsample=Subsample(partition=True)), "size is None"),
    (
        lambda: isgd(MODEL, MEAN_FIELD, 1, subsample=Subsample(5, partition=True)).init(None, MEAN_FIELD.init(2), DATA),
        "size is 5 and data has 12 rows",
    ),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting(clip=-1.0)), "clip is -1"),
    (lambda: PLAIN(MODEL, MEAN_FIELD, 1, weighting="joint"), "weighting is 'joint'; give a record"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting(normalise=1)), "normalise is 1"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, weighting=Weighting(scale_by_ess="yes")), "scale_by_ess is 'yes'"),
    (lambda: PLAIN(MODEL, MEAN_FIELD, 1, adaptive=0), "adaptive is 0"),
    (lambda: PLAIN(MODEL, MEAN_FIELD, 1, subsample=3), "subsample is 3; give a record"),
    (lambda: isgd(MODEL, MEAN_FIELD, 1, subsample=Subsample(3, "yes")), "partition is 'yes'"),
    (lambda: anchored(MODEL, MEAN_FIELD, 1, Subsample(), every=2), "size is None"),
    (lambda: anchored(MODEL, MEAN_FIELD, 1, Subsample(3), every=0), "every is 0"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_reused_step_does_not_call_the_model():
    calls = []

    def log_likelihood(theta, data):
        jax.debug.callback(lambda: calls.append(1))
        return MODEL.log_likelihood(theta, data)

    counted = MODEL._replace(log_likelihood=log_likelihood)
    run = fit(jax.random.key(3), isgd(counted, MEAN_FIELD, 1, reuse=0.8), optax.adam(0.01), MEAN_FIELD.init(DIM), DATA, 200, QUIET)
    jax.effects_barrier()
    assert len(calls) == int(run.state.fresh)
    assert 20 < len(calls) < 70


def test_under_vmap_a_reused_step_calls_the_model_and_is_the_same_step():
    calls = []

    def log_likelihood(theta, data):
        jax.debug.callback(lambda: calls.append(1))
        return MODEL.log_likelihood(theta, data)

    estimator = isgd(MODEL._replace(log_likelihood=log_likelihood), MEAN_FIELD, 1)
    key, lam = jax.random.key(5), MEAN_FIELD.init(DIM)
    _, state = jax.jit(estimator.estimate)((1.0, key, key), lam, estimator.init(key, lam, DATA), DATA)
    jax.effects_barrier()
    calls.clear()
    step = jax.jit(lambda rho: estimator.estimate((rho, key, key), lam, state, DATA)[0].gradient)
    alone = step(jnp.array(0.0))
    jax.effects_barrier()
    assert not calls
    together = jax.vmap(step)(jnp.zeros(3))
    jax.effects_barrier()
    assert calls
    jax.tree.map(lambda a, b: np.testing.assert_allclose(jnp.tile(a, (3, 1)), b, rtol=1e-5), alone, together)
