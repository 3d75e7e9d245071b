"""Kernels keep their target: exactly on finite chains, by one step from exact draws elsewhere; simulation-based calibration of each."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from course_pkg import families, models
from course_pkg.mcmc import (
    Kernel,
    abstract_hmc,
    dual_averaging,
    energy,
    gibbs,
    hmc,
    independence,
    langevin,
    leapfrog,
    metropolis_hastings,
    random_walk,
    run_chains,
    sample_chain,
    start_phase,
    tune_hmc,
)

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
TESTS = 400  # z-scores and p-values in this file, at most
LEVEL = 1e-5 / TESTS  # together they raise a false alarm once in 10^5 runs of fresh seeds
WEIGHTS = np.array([1.0, 2.0, 4.0, 1.5, 0.5, 3.0])
PI = WEIGHTS / WEIGHTS.sum()
PROPOSAL = np.random.default_rng(0).dirichlet(np.ones(6), 6)  # asymmetric


def transition_matrix(kernel, proposals):
    """Rows of P from the kernel's own acceptance probabilities; ``proposals[i, j]`` is that of going from i to j."""
    accepting = lambda i, j: float(kernel(j).step(jax.random.key(0), kernel(j).init(jnp.array(i)))[1].acceptance_rate)
    moves = proposals * np.array([[accepting(i, j) for j in range(len(proposals))] for i in range(len(proposals))])
    np.fill_diagonal(moves, 0.0)
    return moves + np.diag(1 - moves.sum(axis=1))


def test_metropolis_hastings_keeps_a_finite_target_exactly():
    log_pi, log_s = jnp.log(jnp.asarray(PI)), jnp.log(jnp.asarray(PROPOSAL))
    to = lambda j: metropolis_hastings(lambda x: log_pi[x], lambda key, x: jnp.array(j), lambda x, y: log_s[y, x] - log_s[x, y])
    matrix = transition_matrix(to, PROPOSAL)
    assert np.abs(PI @ matrix - PI).max() < 1e-6  # single precision
    flow = PI[:, None] * matrix
    assert np.abs(flow - flow.T).max() < 1e-6
    inverted = lambda j: metropolis_hastings(lambda x: log_pi[x], lambda key, x: jnp.array(j), lambda x, y: log_s[x, y] - log_s[y, x])
    assert np.abs(PI @ transition_matrix(inverted, PROPOSAL) - PI).max() > 0.01


def abstract_matrix(stay: bool):
    """Positions 0 to 5 on a ring, directions -1 and 1; the path takes a step, the flip turns round."""
    log_eta = jnp.log(jnp.asarray(PI))
    kernel = abstract_hmc(
        lambda x: log_eta[x["i"]], lambda x: {"i": (x["i"] + x["s"]) % 6, "s": x["s"]}, lambda x: {"i": x["i"], "s": -x["s"]}
    )
    states = [(i, s) for i in range(6) for s in (-1, 1)]
    matrix = np.zeros((12, 12))
    for row, (i, s) in enumerate(states):
        alpha = float(kernel.step(jax.random.key(0), kernel.init({"i": jnp.array(i), "s": jnp.array(s)}))[1].acceptance_rate)
        matrix[row, states.index(((i + s) % 6, s))] += alpha
        matrix[row, row if stay else states.index((i, -s))] += 1 - alpha
    eta = np.repeat(PI, 2) / 2
    return np.abs(eta @ matrix - eta).max()


def test_the_abstract_kernel_needs_its_flip():
    assert abstract_matrix(stay=False) < 1e-7
    assert abstract_matrix(stay=True) > 0.01


def test_independence_on_a_finite_target_forgets_at_the_printed_rate():
    """The second eigenvalue is 1 - 1/K, with K the largest ratio of target and proposal."""
    log_pi, s = jnp.log(jnp.asarray(PI)), PROPOSAL[0]
    to = lambda j: independence(lambda x: log_pi[x], lambda key: jnp.array(j), lambda y: jnp.log(jnp.asarray(s))[y])
    matrix = transition_matrix(to, np.tile(s, (6, 1)))
    assert np.abs(PI @ matrix - PI).max() < 1e-6
    assert np.sort(np.linalg.eigvals(matrix).real)[-2] == pytest.approx(1 - 1 / (PI / s).max(), abs=1e-5)


TABLE = np.array([[0.1, 0.4], [0.3, 0.2]])  # of two coins


def coin_update(which):
    """Draws one coin given the other from the table."""
    log_table = jnp.log(jnp.asarray(TABLE))
    return lambda key, x: x.at[which].set(jax.random.categorical(key, log_table[:, x[1]] if which == 0 else log_table[x[0]]))


def coin_matrix(which):
    """Transition matrix of `coin_update` on the states 00, 01, 10, 11."""
    same = np.array([[a[1 - which] == b[1 - which] for b in np.ndindex(2, 2)] for a in np.ndindex(2, 2)])
    weight = same * TABLE.ravel()[None]
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("scan", ["systematic", "random"])
def test_gibbs_on_a_finite_target_moves_as_its_matrix_says(scan):
    first, second = coin_matrix(0), coin_matrix(1)
    matrix, pi, count = first @ second if scan == "systematic" else (first + second) / 2, TABLE.ravel(), 20_000
    assert np.allclose(pi @ matrix, pi)
    flow = pi[:, None] * matrix
    assert np.allclose(flow, flow.T) == (scan == "random")  # a systematic scan keeps the target without detailed balance
    kernel = gibbs([coin_update(0), coin_update(1)], scan=scan)
    step = jax.jit(jax.vmap(lambda key, x: kernel.step(key, kernel.init(x))[0].position, (0, None)))
    for start, row in zip(np.ndindex(2, 2), matrix, strict=True):
        end = np.asarray(step(jax.random.split(jax.random.key(start[0] + 2 * start[1]), count), jnp.array(start)))
        seen = np.bincount(2 * end[:, 0] + end[:, 1], minlength=4)
        assert seen[row == 0].sum() == 0
        assert stats.chisquare(seen[row > 0], count * row[row > 0]).pvalue > LEVEL


RHO = 0.7
COVARIANCE = np.array([[1.0, RHO * 2.0], [RHO * 2.0, 4.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def log_target(x):
    return -0.5 * x @ jnp.asarray(PRECISION, x.dtype) @ x


def conditional(which):
    other = 1 - which
    slope, sd = COVARIANCE[which, other] / COVARIANCE[other, other], np.sqrt(1 / PRECISION[which, which])
    return lambda key, x: x.at[which].set(slope * x[other] + sd * jax.random.normal(key))


def a_wide_normal():
    q, lam = families.mean_field_normal(), families.Diagonal(jnp.zeros(2), jnp.log(jnp.array([1.5, 3.0])))
    return independence(log_target, lambda key: families.sample(key, q, lam, 1)[0], lambda y: families.log_prob(q, lam, y))


KERNELS = {
    "random walk": random_walk(log_target, 1.2),
    "random walk, whole matrix": random_walk(log_target, 1.2 * np.linalg.cholesky(COVARIANCE)),
    "independence": a_wide_normal(),
    "Langevin": langevin(log_target, 0.9),
    "Langevin, by coordinate": langevin(log_target, jnp.array([0.6, 1.5])),
    "HMC": hmc(log_target, 0.5, 4, inverse_mass=jnp.array([1.0, 3.0])),
    "HMC, long steps": hmc(log_target, 1.1, 2, jitter=0.2),
    "Gibbs, systematic": gibbs([conditional(0), conditional(1)]),
    "Gibbs, random": gibbs([conditional(0), conditional(1)], scan="random"),
}


@cache
def compiled_step(name):
    return jax.jit(jax.vmap(lambda key, x: KERNELS[name].step(key, KERNELS[name].init(x))[0].position))


def after_one_step(name, seed, count=20_000):
    exact = np.random.default_rng(seed).multivariate_normal(np.zeros(2), COVARIANCE, count)
    after = compiled_step(name)(jax.random.split(jax.random.key(seed), count), jnp.asarray(exact, float))
    return exact, np.asarray(after, float)


def features(x):
    return np.column_stack([x, x**2, x[:, 0] * x[:, 1], np.abs(x)])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", KERNELS)
def test_one_step_from_exact_draws_leaves_the_target(name, seed):
    before, after = after_one_step(name, seed)
    change = features(after) - features(before)
    assert np.abs(change).max() > 0.1
    z = change.mean(axis=0) / np.maximum(change.std(axis=0, ddof=1) / np.sqrt(len(change)), 1e-12)
    assert np.abs(z).max() < stats.norm.isf(LEVEL / 2 / change.shape[1])
    for which in (0, 1):
        assert stats.kstest(after[:, which], stats.norm(0, np.sqrt(COVARIANCE[which, which])).cdf).pvalue > LEVEL


GAMMA = stats.gamma(3.0)


@cache
def stretch(volume):
    """Position x > 0 and direction s: the path multiplies x by e^(s/2), so that it changes volume; the flip turns round."""
    log_density = lambda z: (2.0 * jnp.log(z["x"]) - z["x"]).sum()  # two independent Gamma(3)
    path = lambda z: {"x": z["x"] * jnp.exp(0.5 * z["s"]), "s": z["s"]}
    log_volume = (lambda z: 2 * 0.5 * z["s"]) if volume else None  # two coordinates
    kernel = abstract_hmc(log_density, path, lambda z: {"x": z["x"], "s": -z["s"]}, log_volume)
    return jax.jit(jax.vmap(lambda key, z: kernel.step(key, kernel.init(z))))


def after_a_stretch(volume, seed, count=20_000):
    rng = np.random.default_rng(seed)
    exact = {"x": jnp.asarray(GAMMA.rvs((count, 2), random_state=rng), float), "s": jnp.asarray(rng.choice([-1.0, 1.0], count), float)}
    state, info = stretch(volume)(jax.random.split(jax.random.key(seed), count), exact)
    return np.asarray(state.position["x"], float), np.asarray(state.position["s"], float), info.acceptance_rate


@pytest.mark.parametrize("seed", SEEDS)
def test_a_path_that_changes_volume_keeps_the_target_with_its_determinant_and_not_without(seed):
    x, s, rate = after_a_stretch(True, seed)
    assert 0.2 < float(rate.mean()) < 0.95
    pvalues = [stats.kstest(x[:, k], GAMMA.cdf).pvalue for k in (0, 1)]
    pvalues += [stats.kstest(x[s == sign, 0], GAMMA.cdf).pvalue for sign in (-1, 1)]
    assert min(*pvalues, stats.binomtest(int((s > 0).sum()), len(s)).pvalue) > LEVEL
    wrong = after_a_stretch(False, seed)[0]
    assert stats.kstest(wrong[:, 0], GAMMA.cdf).pvalue < LEVEL


def test_langevin_is_one_leapfrog_step():
    at, h, by_langevin = jnp.array([0.3, -1.0]), 0.7, langevin(log_target, 0.7)
    noise = jax.random.normal(jax.random.split(jax.random.key(0))[0], (2,))
    phase = start_phase(log_target, at, noise)
    end = leapfrog(log_target, h)(phase, 1)
    info = by_langevin.step(jax.random.key(0), by_langevin.init(at))[1]
    assert np.isclose(float(info.acceptance_rate), float(jnp.exp(jnp.minimum(energy(phase) - energy(end), 0.0))), rtol=1e-4)


def test_a_proposal_that_cannot_be_computed_is_refused_and_the_state_repeated():
    nowhere = metropolis_hastings(lambda x: jnp.sqrt(x), lambda key, x: -x)
    state, info = nowhere.step(jax.random.key(0), nowhere.init(jnp.array(4.0)))
    assert (float(state.position), float(info.acceptance_rate)) == (4.0, 0.0)
    stuck = metropolis_hastings(lambda x: jnp.where(x == 0, 0.0, -jnp.inf), lambda key, x: x + 1)
    assert sample_chain(jax.random.key(0), stuck, jnp.array(0.0), 5)[0].tolist() == [0.0] * 5


# --- simulation-based calibration ------------------------------------------------------------------------------

MODEL = models.normal_sample(prior_precision=1.0, shape=3.0, rate=3.0)  # theta is the mean and the logarithm of the precision
ROWS = 6


def target(data):
    return lambda theta: models.log_joint(MODEL, theta, data)


def new_mean(data, key, theta):
    precision = 1.0 + ROWS * jnp.exp(theta[1])
    return theta.at[0].set(jnp.exp(theta[1]) * data.sum() / precision + jax.random.normal(key) / jnp.sqrt(precision))


def new_precision(data, key, theta):
    return theta.at[1].set(jax.random.loggamma(key, 3.0 + ROWS / 2) - jnp.log(3.0 + 0.5 * ((data - theta[0]) ** 2).sum()))


def by_gibbs(data, scan):
    return gibbs([lambda key, t: new_mean(data, key, t), lambda key, t: new_precision(data, key, t)], scan=scan)


def by_independence(data):
    """Proposals from a normal that is wider than the posterior and lies where the data point."""
    centre, sd = jnp.array([data.mean(), -jnp.log((3.0 + 0.5 * ROWS * data.var()) / (3.0 + 0.5 * ROWS))]), jnp.array([0.6, 0.7])
    return independence(
        target(data), lambda key: centre + sd * jax.random.normal(key, (2,)), lambda y: -0.5 * (((y - centre) / sd) ** 2).sum()
    )


def by_abstract_hmc(data):
    """Fresh momentum, then path or flip, on pairs of position and momentum."""
    log_density = target(data)
    roll = leapfrog(log_density, 0.25)

    def path(z):
        end = roll(start_phase(log_density, z["q"], z["p"]), 4)
        return {"q": end.position, "p": end.momentum}

    inner = abstract_hmc(lambda z: log_density(z["q"]) - 0.5 * z["p"] @ z["p"], path, lambda z: {"q": z["q"], "p": -z["p"]})
    fresh = lambda key, z: {"q": z["q"], "p": jax.random.normal(key, (2,))}
    both = gibbs([fresh, lambda key, z: inner.step(key, inner.init(z))[0].position])
    return Kernel(lambda q: both.init({"q": q, "p": jnp.zeros(2)}), both.step)


def uphill(data, ratio):
    """Proposals that lean uphill, with the ratio of ways back and there or without."""
    slope = jax.grad(target(data))
    shift = lambda x: 0.08 * jnp.clip(slope(x), -5, 5)
    log_ratio = lambda x, y: -0.5 * (((x - y - shift(y)) ** 2).sum() - ((y - x - shift(x)) ** 2).sum()) / 0.16
    return metropolis_hastings(target(data), lambda key, x: x + shift(x) + 0.4 * jax.random.normal(key, (2,)), log_ratio if ratio else None)


CALIBRATED = {  # kernel for data, and how many steps make draws that are next to independent
    "random walk": (lambda data: random_walk(target(data), jnp.array([0.6, 0.8])), 25),
    "independence": (by_independence, 15),
    "Metropolis-Hastings": (lambda data: uphill(data, True), 25),
    "Langevin": (lambda data: langevin(target(data), jnp.array([0.45, 0.55])), 12),
    "Gibbs, systematic": (lambda data: by_gibbs(data, "systematic"), 3),
    "Gibbs, random": (lambda data: by_gibbs(data, "random"), 12),
    "HMC": (lambda data: hmc(target(data), 0.25, 4, jitter=0.2), 6),
    "abstract HMC": (by_abstract_hmc, 6),
}


@jax.jit
@jax.vmap
def simulated(key):
    """What made the data, the data, and where a chain may start."""
    keys = jax.random.split(key, 4)
    truth = jnp.array([jax.random.normal(keys[0]), jax.random.loggamma(keys[1], 3.0) - jnp.log(3.0)])
    data = truth[0] + jnp.exp(-0.5 * truth[1]) * jax.random.normal(keys[2], (ROWS,))
    return truth, data, jnp.array([data.mean(), 0.0]) + 0.5 * jax.random.normal(keys[3], (2,))


def measured(theta, data):
    return jnp.append(theta, MODEL.log_likelihood(theta, data))


@jax.jit
@jax.vmap
def below(drawn, truth, data):
    return (jax.vmap(measured, (0, None))(drawn, data) < measured(truth, data)[None]).sum(axis=0)


def ranks(kernel_for, thin, key, replicates=1000, draws=31, warmup=10):
    """Ranks of the parameters and the log likelihood that made the data among the draws given these data, each from 0 to `draws`."""
    first, second = jax.random.split(key)
    truth, data, start = simulated(jax.random.split(first, replicates))
    run = lambda k, d, x: sample_chain(k, kernel_for(d), x, thin * (draws + warmup))[0]
    drawn = jax.jit(jax.vmap(run))(jax.random.split(second, replicates), data, start)
    drawn = (drawn["q"] if isinstance(drawn, dict) else drawn)[:, thin * (warmup + 1) - 1 :: thin]
    return np.asarray(below(drawn, truth, data))


def pvalues_of_ranks(found, cells=32):
    return [stats.chisquare(np.bincount(column, minlength=cells)).pvalue for column in found.T]


@pytest.mark.parametrize("name", CALIBRATED)
def test_ranks_of_what_made_the_data_are_uniform(name):
    found = ranks(*CALIBRATED[name], jax.random.key(7))
    assert found.max() == 31
    assert min(pvalues_of_ranks(found)) > LEVEL


def test_calibration_sees_an_acceptance_that_forgets_its_proposal():
    found = ranks(lambda data: uphill(data, False), 25, jax.random.key(7))
    assert min(pvalues_of_ranks(found)) < LEVEL


# --- what is refused -------------------------------------------------------------------------------------------

ONE = random_walk(log_target, 1.0)
KEY = jax.random.key(0)
BAD = [
    (lambda: random_walk(log_target, 0.0), "scale is 0"),
    (lambda: random_walk(log_target, [1.0, -1.0]), "give numbers above 0"),
    (lambda: random_walk(log_target, np.ones((2, 2, 2))), r"scale has shape \(2, 2, 2\)"),
    (lambda: random_walk(log_target, np.nan), "scale holds nan"),
    (lambda: langevin(log_target, -0.1), "step_size is -0.1"),
    (lambda: langevin(log_target, np.eye(2)), r"step_size has shape \(2, 2\)"),
    (lambda: gibbs([]), "updates is empty"),
    (lambda: gibbs([conditional(0)], scan="both"), "scan is 'both'"),
    (lambda: hmc(log_target, 0.1, 0), "steps is 0"),
    (lambda: hmc(log_target, 0.0, 3), "step_size is 0"),
    (lambda: hmc(log_target, 0.1, 3, inverse_mass=jnp.array([1.0, -1.0])), "inverse_mass is"),
    (lambda: hmc(log_target, 0.1, 3, inverse_mass=np.eye(2)), r"inverse_mass has shape \(2, 2\)"),
    (lambda: hmc(log_target, 0.1, 3, jitter=1.0), "jitter is 1"),
    (lambda: dual_averaging(0.1, 1.0), "target is 1"),
    (lambda: dual_averaging(0.0), "step_size is 0"),
    (lambda: tune_hmc(KEY, log_target, jnp.zeros(2), 3), r"positions has shape \(2,\)"),
    (lambda: tune_hmc(KEY, log_target, jnp.zeros((2, 2)), 3, warmup=50), "warmup is 50"),
    (lambda: tune_hmc(KEY, log_target, jnp.zeros((2, 2)), 3, jitter=-0.1), "jitter is -0.1"),
    (lambda: run_chains(KEY, ONE, jnp.zeros((2, 2)), 0), "draws is 0"),
    (lambda: run_chains(KEY, ONE, jnp.zeros((2, 2)), 5, warmup=-1), "warmup is -1"),
    (lambda: run_chains(KEY, ONE, 0.0, 5), "positions has leading axes"),
    (lambda: run_chains(KEY, ONE, {"a": jnp.zeros(2), "b": jnp.zeros(3)}, 5), "positions has leading axes"),
    (lambda: run_chains(KEY, ONE, (jnp.zeros(2), jnp.zeros(2)), 5), "positions is a tuple"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_steps_and_masses_may_be_traced():
    def one(h):
        kernels = hmc(log_target, h, 3, inverse_mass=h), langevin(log_target, h), random_walk(log_target, h)
        return [kernel.step(KEY, kernel.init(jnp.ones(2)))[0].position for kernel in kernels]

    for traced, plain in zip(jax.jit(one)(jnp.array(0.5)), one(0.5), strict=True):
        assert np.allclose(traced, plain, atol=1e-5)
