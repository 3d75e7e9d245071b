"""Tables of gradients against exact enumeration on quadratics; blocks never visited; old rows re-weighted; memory."""

import inspect
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from course_pkg import families, gradients, models
from course_pkg.fit import QUIET, fit
from course_pkg.is_gradients import Subsample, Weighting, anchored, isag, isgd, running_average, sag, saga, state_bytes
from tests.test_is_gradients_isgd import BOUND, DATA, DIM, MEAN_FIELD, MODEL, NOISE, PRIOR, ROWS, SEEDS, X, slope_of_elbo, z_scores

BATCHES = 4
SIZE = ROWS // BATCHES
SAG, ISAG = sag(MODEL, MEAN_FIELD, 4, BATCHES), isag(MODEL, MEAN_FIELD, 4, BATCHES, Weighting("joint"))


def block_gradient(lam, b):
    """Exact gradient of the block's ELBO, its likelihood scaled to all rows: quadratic, so in closed form."""
    part = slice(b * SIZE, (b + 1) * SIZE)
    x, y = np.asarray(X)[part], np.asarray(DATA.y)[part]
    precision = BATCHES * x.T @ x / NOISE**2 + np.eye(DIM) / PRIOR**2
    mu = BATCHES * x.T @ y / NOISE**2 - precision @ lam.mu
    return families.Diagonal(mu, 1 - np.diag(precision) * np.exp(2 * lam.log_sigma))


def at(shift):
    return families.Diagonal(np.array([0.2, -0.1]) + shift, np.log([0.5, 0.6]) + 0.1 * shift)


def visits(blocks):
    """Keys of rows that make the tables visit these blocks."""
    keys = jax.random.split(jax.random.key(1), 200)
    of = {int(jax.random.randint(key, (), 0, BATCHES)): key for key in keys}
    return jnp.stack([of[b] for b in blocks])


@partial(jax.jit, static_argnums=0)
def last_of(estimator, path, rows_keys, draws_key):
    """The estimate at the end of a path through given blocks; a path has a leading axis of steps."""

    def step(state, part):
        number, lam, rows_key = part
        estimate, state = estimator.estimate((rows_key, jax.random.fold_in(draws_key, number)), lam, state, DATA)
        return state, estimate

    first = jax.tree.map(lambda a: a[0], path)
    state, estimates = jax.lax.scan(step, estimator.init(None, first, DATA), (jnp.arange(len(rows_keys)), path, rows_keys))
    return jax.tree.map(lambda a: a[-1], estimates), state


@partial(jax.jit, static_argnums=0)
def many(estimator, path, rows_keys, keys):
    return jax.vmap(lambda key: last_of(estimator, path, rows_keys, key)[0].gradient)(keys)


def replicated(estimator, path, blocks, seed, replicates=4000):
    """Many runs along the same path with draws of their own, as one estimate with its spread."""
    runs = many(estimator, stacked(path), visits(blocks), jax.random.split(jax.random.key(seed), replicates))
    return gradients.Estimate(0.0, jax.tree.map(lambda a: a.mean(0), runs), runs)


def stacked(path):
    return jax.tree.map(lambda *parts: jnp.asarray(np.stack(parts), "float32"), *path)


def mean_of(parts):
    return jax.tree.map(lambda *g: sum(g) / len(g), *parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_sag_is_the_mean_of_what_each_visited_block_last_said(seed):
    """Exact enumeration: blocks 1 and 2 are visited twice, block 3 never."""
    path, blocks = [at(0.3 * k) for k in range(5)], [1, 0, 2, 2, 1]
    estimate = replicated(SAG, path, blocks, seed)
    expected = mean_of([block_gradient(path[1], 0), block_gradient(path[4], 1), block_gradient(path[3], 2)])
    assert z_scores(estimate, expected).max() < BOUND
    as_zero = jax.tree.map(lambda g: 0.75 * g, expected)
    assert z_scores(estimate, as_zero).max() > 10
    assert z_scores(estimate, mean_of([block_gradient(path[4], b) for b in range(3)])).max() > 10  # stale, and it shows


@pytest.mark.parametrize("seed", SEEDS)
def test_isag_reads_old_blocks_at_the_new_parameters(seed):
    """Filled at one place and read at another: joint weights are exact there; SAG's old rows are exact where they were made."""
    old, new = at(0.0), families.Diagonal(np.array([0.4, 0.1]), np.log([0.45, 0.55]))
    path, blocks = [old] * 4 + [new], [0, 1, 2, 3, 2]
    exact = slope_of_elbo(new)
    assert np.allclose(mean_of([block_gradient(new, b) for b in range(BATCHES)]).mu, exact.mu, rtol=1e-4)
    biased = mean_of([block_gradient(new if b == 2 else old, b) for b in range(BATCHES)])
    assert z_scores(replicated(ISAG, path, blocks, seed), exact).max() < BOUND
    stale = replicated(SAG, path, blocks, seed)
    assert z_scores(stale, biased).max() < BOUND
    assert z_scores(stale, exact).max() > 10


@pytest.mark.parametrize("make", [sag, isag], ids=["SAG", "I-SAG"])
def test_a_block_never_visited_is_left_out(make):
    estimate, state = last_of(make(MODEL, MEAN_FIELD, 3, BATCHES), stacked([at(0.0)]), visits([2]), jax.random.key(0))
    assert state.seen.tolist() == [False, False, True, False]
    alone = isgd(MODEL, MEAN_FIELD, 3, reuse=0.0)
    part = slice(2 * SIZE, 3 * SIZE)
    batch = gradients.Minibatch(models.Rows(X[part], DATA.y[part]), jnp.arange(SIZE), float(BATCHES))
    noise = (jnp.array(1.0), None, jax.random.fold_in(jax.random.key(0), 0))
    single = jax.jit(alone.estimate)(noise, at(0.0), alone.init(None, at(0.0), DATA), batch)[0]
    assert np.allclose(estimate.gradient.mu, single.gradient.mu, rtol=1e-4)
    assert float(estimate.value) == pytest.approx(float(single.value), rel=1e-4)


def thirty_quadratics():
    """Model and rows, and two points, so that draws do not matter, with the full gradients there."""
    x = jax.random.normal(jax.random.key(3), (30, 1)) + 1
    data = models.Rows(x, 2 * x[:, 0] + jax.random.normal(jax.random.key(4), (30,)))
    model = models.linear_regression(1, 1.0, 10.0)
    start = families.Diagonal(jnp.zeros(1), jnp.full(1, -12.0))
    lam = start._replace(mu=jnp.array([1.5]))
    full = lambda lam: float(jax.grad(lambda t: models.log_joint(model, t, data))(lam.mu)[0])
    return model, data, (start, full(start)), (lam, full(lam))


def test_the_direction_of_saga_is_unbiased_and_that_of_sag_is_not_by_enumeration():
    """Every block in turn as the next, two of five rows and five of four, from a table filled elsewhere; SAGA's may be filled in part."""
    batches = 7
    model, data, (start, old), (lam, full) = thirty_quadratics()
    noises = {int(jax.random.randint(jax.random.key(k), (), 0, batches)): (jax.random.key(k),) * 2 for k in range(100)}
    for make in (sag, isag, saga):
        estimator = make(model, MEAN_FIELD, 1, batches)
        step = jax.jit(lambda noise, lam, state, e=estimator: e.estimate(noise, lam, state, data))
        directions = lambda state, step=step: [float(step(noises[slot], lam, state)[0].gradient.mu[0]) for slot in range(batches)]
        state = estimator.init(None, start, data)
        for slot in range(batches):
            estimate, state = step(noises[slot], start, state)
            if slot == 2 and make is saga:
                assert np.mean(directions(state)) == pytest.approx(full, rel=1e-4)
        if make is saga:
            assert np.mean(directions(state)) == pytest.approx(full, rel=1e-4)
        else:
            assert float(estimate.gradient.mu[0]) == pytest.approx(old, rel=1e-4)  # all blocks seen here: the full gradient, exactly
        if make is sag:
            parts = [jax.tree.map(lambda a, rows=rows: a[rows], data) for rows in np.array_split(np.arange(30), batches)]
            alone = [jax.grad(lambda t, part=part: models.log_joint(model, t, part, batches))(start.mu)[0] for part in parts]
            assert np.allclose(state.entry.mu[:, 0], alone, rtol=1e-4, atol=1e-2)
            assert np.mean(directions(state)) == pytest.approx(old + (full - old) / batches, rel=1e-4)  # one block in seven is new
            assert abs(np.mean(directions(state)) - full) > abs(full)


def test_enumeration_of_svrg_and_sag_on_thirty_quadratics():
    """Erratum T31 through the estimators: the mean over the next block is the full gradient for the anchor, and is not for SAG."""
    rows = 30
    model, data, (start, old), (lam, full) = thirty_quadratics()
    for estimator, exact in (
        (anchored(model, MEAN_FIELD, 1, Subsample(1, partition=True), every=10**6), True),
        (sag(model, MEAN_FIELD, 1, rows), False),
    ):
        state = estimator.init(None, start, data)
        keys = jax.random.split(jax.random.key(0), 400)
        slot_of = lambda k, e=estimator, exact=exact: jax.random.randint(e.draw(k, start, data)[1 if exact else 0], (), 0, rows)
        slots = dict(zip(jax.jit(jax.vmap(slot_of))(keys).tolist(), keys, strict=True))
        assert len(slots) == rows
        order = slots.values() if not exact else list(slots.values())[:1]
        step = jax.jit(lambda noise, lam, state, e=estimator: e.estimate(noise, lam, state, data))
        for k in order:
            state = step(estimator.draw(k, start, data), start, state)[1]
        fresh = lambda k, e=estimator, exact=exact: e.draw(k, lam, data) if not exact else (jnp.array(1.0), *e.draw(k, lam, data)[1:])
        every_block = [step(fresh(k), lam, state)[0].gradient.mu for k in slots.values()]
        mean = float(np.mean(every_block))
        if exact:
            assert mean == pytest.approx(full, rel=1e-3)
        else:
            assert mean == pytest.approx(old + (full - old) / rows, rel=1e-3)  # one block in thirty is new
            assert abs(mean - full) > abs(full)


@pytest.mark.parametrize("weighting", [None, Weighting()])
def test_running_average_holds_the_last_k_and_fewer_at_first(weighting):
    path = [at(0.2 * k) for k in range(5)]
    estimator = running_average(MODEL, MEAN_FIELD, 3, 3, weighting=weighting)
    step, state = jax.jit(estimator.estimate), estimator.init(None, path[0], DATA)
    for number, lam in enumerate(path):
        estimate, state = step(estimator.draw(jax.random.key(number), lam, DATA), lam, state, DATA)
        assert int(state.seen.sum()) == min(number + 1, 3)
        assert np.allclose(estimate.gradient.mu, np.mean(estimate.per_sample.mu, axis=0), rtol=1e-5)
    one = running_average(MODEL, MEAN_FIELD, 3, 1, weighting=weighting)
    noise = one.draw(jax.random.key(5), path[0], DATA)
    window_of_one = jax.jit(one.estimate)(noise, path[0], one.init(None, path[0], DATA), DATA)[0]
    sgd = isgd(MODEL, MEAN_FIELD, 3, reuse=0.0)
    plain = jax.jit(sgd.estimate)((jnp.array(1.0), *noise), path[0], sgd.init(None, path[0], DATA), DATA)[0]
    assert np.allclose(window_of_one.gradient.mu, plain.gradient.mu, rtol=1e-4)
    assert float(window_of_one.value) == pytest.approx(float(plain.value), rel=1e-5)


def test_old_gradients_in_the_window_are_as_they_were():
    path = [at(0.2 * k) for k in range(4)]
    estimator, single = running_average(MODEL, MEAN_FIELD, 3, 2), isgd(MODEL, MEAN_FIELD, 3, reuse=0.0)
    step, alone = jax.jit(estimator.estimate), jax.jit(single.estimate)
    state, plain = estimator.init(None, path[0], DATA), []
    for number, lam in enumerate(path):
        noise = estimator.draw(jax.random.key(number), lam, DATA)
        estimate, state = step(noise, lam, state, DATA)
        plain.append(alone((jnp.array(1.0), *noise), lam, single.init(None, lam, DATA), DATA)[0].gradient.mu)
    assert np.allclose(estimate.gradient.mu, (plain[-1] + plain[-2]) / 2, rtol=1e-4)


def test_unnormalised_weights_shrink_in_many_dimensions_and_two_mends():
    """Erratum T32: the mean weight of ten draws is typically near zero, so a stale block drags the average instead of leaving it."""
    dim, draws = 100, 10
    model = models.Model(dim, lambda t: t.sum(), lambda t, data: 0.0 * data.sum(), None, None)  # a slope of one everywhere
    data = jnp.zeros((2, 1))
    old = MEAN_FIELD.init(dim, scale=1.0)
    new = old._replace(mu=jnp.full(dim, 0.4))

    def stale_average(**options):
        estimator = isag(model, MEAN_FIELD, draws, 2, Weighting("joint", **options))
        step, state, seen, number = jax.jit(estimator.estimate), estimator.init(None, old, data), 0, 0
        while seen < 2:
            state = step(estimator.draw(jax.random.key(number), old, data), old, state, data)[1]
            seen, number = int(state.seen.sum()), number + 1
        return float(step(estimator.draw(jax.random.key(99), new, data), new, state, data)[0].gradient.mu.mean())

    assert stale_average() == pytest.approx(0.5, abs=0.1)  # a true slope of 1
    assert stale_average(normalise=True) == pytest.approx(1, abs=1e-4)
    assert stale_average(min_ess=0.5) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("make", [pytest.param(sag, marks=pytest.mark.thorough), saga, isag], ids=["SAG", "SAGA", "I-SAG"])
def test_they_climb_to_the_posterior(make):
    exact = models.regression_posterior(DATA, NOISE, PRIOR)
    optimizer = optax.adam(optax.exponential_decay(0.05, 2000, 0.01))
    run = fit(jax.random.key(0), make(MODEL, MEAN_FIELD, 5, BATCHES), optimizer, MEAN_FIELD.init(DIM), DATA, 2000, QUIET)
    best = -0.5 * jnp.log(jnp.diag(jnp.linalg.inv(exact.covariance)))
    assert np.allclose(run.lam.mu, exact.mean, atol=0.03)
    assert np.allclose(run.lam.log_sigma, best, atol=0.1)


def test_memory_is_what_the_docstrings_say():
    lam = MEAN_FIELD.init(DIM)
    assert state_bytes(sag(MODEL, MEAN_FIELD, 5, BATCHES), lam, DATA) == BATCHES * (4 * 2 * DIM + 4 + 1) + 4
    for kind, k in (("joint", 1), ("per factor", DIM)):
        row = 4 * 5 * (3 * DIM + k + 1)
        assert state_bytes(isag(MODEL, MEAN_FIELD, 5, BATCHES, Weighting(kind)), lam, DATA) == BATCHES * (row + 4 + 1) + 4
    states = [running_average(MODEL, MEAN_FIELD, 5, 3).init(None, lam, part) for part in (DATA, jax.tree.map(lambda a: a[:4], DATA))]
    assert len({sum(leaf.nbytes for leaf in jax.tree.leaves(state)) for state in states}) == 1


BAD = [
    (lambda: sag(MODEL, MEAN_FIELD, 1, 0), "batches is 0"),
    (lambda: sag(MODEL, MEAN_FIELD, 1, 13).init(None, MEAN_FIELD.init(2), DATA), "batches is 13 and data has 12 rows; give at most 12"),
    (lambda: isag(MODEL, MEAN_FIELD, 1, 4, Weighting(min_ess=-1.0)), "min_ess is -1"),
    (lambda: isag(MODEL, MEAN_FIELD, 1, 4, Weighting("joint", min_ess=0.5)), "there is one weight"),
    (lambda: isag(MODEL, MEAN_FIELD, 1, 4, Weighting(scale_by_ess=True)), "scale_by_ess is True"),
    (lambda: inspect.unwrap(isag)(MODEL, MEAN_FIELD, 1, 4, None), "weighting is None; give a record"),
    (lambda: running_average(MODEL, MEAN_FIELD, 1, 0), "window is 0"),
    (lambda: running_average(MODEL, MEAN_FIELD, 1, 2, weighting=Weighting(scale_by_ess=True)), "scale_by_ess is True"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
