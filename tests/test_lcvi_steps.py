"""The calibrated bound and its gradients; the pipeline; what it refuses."""

import itertools
import warnings
from functools import partial

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree
from scipy import integrate, stats

from course_pkg import data, decisions, families, gradients, models
from course_pkg.convergence import ConvergenceWarning
from course_pkg.fit import QUIET, NotFiniteError, fit
from course_pkg.lcvi import factors, networks, options, outcomes, pipeline, published, steps, utilities
from course_pkg.lcvi.steps import Pair

KEY = jax.random.key(0)
SCHOOLS = data.schools()
MODEL, FAMILY = models.eight_schools(), families.mean_field_normal()
LAM = families.Diagonal(jnp.linspace(-1.0, 2.0, 10), jnp.linspace(-0.5, 0.5, 10))
TILTED = utilities.linearised(decisions.tilted(0.2), 7.0)
X = jax.random.normal(jax.random.key(1), (60, 2))
ROWS = models.Rows(X, X @ jnp.array([1.0, -2.0]) + jax.random.normal(jax.random.key(2), (60,)))
LINEAR = models.linear_regression(2, 1.0, 3.0)
HURRY = options.Optimisation(steps=300, rate=0.05, progress=False, tolerance=None)
QUICK = {"optimisation": HURRY}


def gradients_of(estimator, pair, rows, repeats, key=KEY):
    """Repeated gradients as rows of a table."""

    def one(k, rows):  # which are an argument, or what is done with them alone would compile bit by bit
        return ravel_pytree(gradients.once(estimator, k, pair, rows).gradient)[0]

    return np.asarray(jax.jit(jax.vmap(one, (0, None)))(jax.random.split(key, repeats), rows), dtype=float)


def agree(first, second, false_alarms=1e-4):
    """The means of two tables of gradients, coordinate by coordinate, at one rate of false alarms for all of them."""
    error = np.sqrt(first.var(0) / len(first) + second.var(0) / len(second)) + 1e-5 * (1 + np.abs(first.mean(0)))
    z = np.abs(first.mean(0) - second.mean(0)) / error
    assert z.max() < stats.norm.isf(false_alarms / 2 / first.shape[1]), z.round(2)


def calibrated(term, **options):
    return steps.calibrated(MODEL, FAMILY, term, samples=4, **options)


@pytest.mark.parametrize("even", [True, False])
def test_every_road_has_the_same_gradient_in_expectation(even):
    pair = Pair(LAM, jnp.linspace(-5.0, 5.0, 8))
    closed = outcomes.normal_outcome(MODEL.reading.moments, TILTED)
    drawn = outcomes.drawn_outcome(MODEL, TILTED, 4, even=even)
    agree(*(gradients_of(calibrated(term), pair, SCHOOLS, 3000) for term in (closed, drawn)))


def test_part_of_the_draws_serves_the_utility_without_bias():
    pair = Pair(LAM, jnp.zeros(8))
    term = outcomes.normal_outcome(MODEL.reading.moments, TILTED)
    agree(*(gradients_of(calibrated(term, utility_samples=n), pair, SCHOOLS, 3000) for n in (1, 8)))


def test_minibatches_scale_likelihood_and_utility_and_not_the_prior():
    pair = Pair(FAMILY.init(2), jnp.linspace(-1.0, 1.0, 60))
    term = outcomes.normal_outcome(LINEAR.reading.moments, utilities.exponential(decisions.squared(), 2.0))
    whole = steps.calibrated(LINEAR, FAMILY, term, samples=4)
    agree(*(gradients_of(e, pair, ROWS, 4000) for e in (whole, gradients.minibatch(whole, 10))))


def test_even_draws_are_less_biased_than_more_independent_ones():
    """Not linear, so biased: the slope in h of a naive term with 30 outcomes errs more than with 8 even ones."""
    u = utilities.exponential(decisions.tilted(0.2), 2.0)
    pair = Pair(LAM, LAM.mu[2:] - 6.0)
    h_slope = lambda term, repeats: gradients_of(calibrated(term), pair, SCHOOLS, repeats)[:, -8:]
    exact = h_slope(outcomes.normal_outcome(MODEL.reading.moments, u), 4000)
    naive = h_slope(outcomes.drawn_outcome(MODEL, u, 8, even=False), 4000)
    even = h_slope(outcomes.drawn_outcome(MODEL, u, 8), 4000)
    bias = [np.abs(table.mean(0) - exact.mean(0)).mean() for table in (naive, even)]
    assert bias[1] < 0.5 * bias[0]


def small_table():
    keys = jax.random.split(KEY, 3)
    return models.TableRows(jnp.arange(6), 2 * jax.random.normal(keys[0], (6, 5)), jax.random.bernoulli(keys[1], 0.6, (6, 5)))


TENT, ROUND = utilities.linearised(decisions.tilted(0.8), 1.0), utilities.exponential(decisions.squared(), 2.0)


@pytest.mark.parametrize(
    ("u", "draws"),
    [(ROUND, None), (TENT, 1), pytest.param(TENT, None, marks=pytest.mark.thorough), pytest.param(ROUND, 1, marks=pytest.mark.thorough)],
    ids=["squared", "tilted, drawn", "tilted", "squared, drawn"],
)
def test_the_fast_factorisation_has_the_general_gradient(u, draws):
    if draws == 1 and not u.linear:
        u = utilities.linearised(decisions.squared(), 2.0)  # one outcome estimates this
    table = small_table()
    start = factors.random_start(jax.random.key(3), 6, 5, 2)
    model = models.matrix_factorization(6, 5, 2, row_sd=10.0, column_sd=10.0)
    lam = published.Soft(
        *(jnp.concatenate([a.ravel(), b.ravel()]) for a, b in ((start.lam[0], start.lam[2]), (start.lam[1], start.lam[3])))
    )
    term = outcomes.normal_outcome(model.reading.moments, u)
    general = steps.calibrated(model, published.softplus_normal(), term, samples=4)
    first = gradients_of(general, Pair(lam, start.h), table, 4000)
    fast = factors.factor_estimator(u, batch=2, samples=4, draws=draws)
    second = gradients_of(fast, start, table, 4000)
    rows, columns = 12, 10  # order of the parameters: row and column locations, row and column scales
    edges = np.cumsum([0, rows, rows, columns, columns])
    parts = [second[:, i:j] for i, j in itertools.pairwise(edges)]
    agree(first, np.concatenate([parts[0], parts[2], parts[1], parts[3], second[:, edges[-1] :]], axis=1))


def test_a_table_in_the_place_of_the_closed_form_has_its_gradient():
    u, at = utilities.exponential(decisions.tilted(0.8), 1.0), factors.random_start(jax.random.key(3), 6, 5, 2)
    estimators = [factors.factor_estimator(u, batch=6, samples=4, draws=how) for how in (None, "table")]
    closed, table = (jax.jit(partial(gradients.once, one))(KEY, at, small_table()) for one in estimators)
    assert float(closed.value) == pytest.approx(float(table.value), rel=1e-4)
    ours, theirs = (np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(one.gradient)]) for one in (closed, table))
    assert np.allclose(ours, theirs, atol=1e-3 * np.abs(ours).max())
    assert (ours != theirs).any()
    with pytest.raises(ValueError, match="draws is 'closed'"):
        factors.factor_estimator(u, draws="closed")


def test_a_pass_sees_every_row_once_and_a_short_last_minibatch_counts_for_what_it_holds():
    order = factors.Order(jnp.array(0), jnp.arange(8), KEY)
    seen = []
    for _ in range(4):
        index, real, order = factors._next_rows(order, 7, 2)
        seen += np.asarray(index)[np.asarray(real)].tolist()
    assert sorted(seen) == list(range(7))
    again, _, _ = factors._next_rows(order, 7, 2)
    assert seen[:2] != again.tolist()


# the bound (T43, P01), by quadrature on one unknown


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_what_is_bounded_by_what(unit):
    y, noise = 0.7 * unit, 0.5 * unit
    prior = stats.norm(0.0, unit)
    joint = lambda t: prior.pdf(t) * stats.norm.pdf(y, t, noise)
    gain_of = lambda t: np.exp(-(((t - 0.5 * unit) / unit) ** 2))
    ends = (-12 * unit, 12 * unit)
    integral = lambda f: integrate.quad(f, *ends, points=[0.0, y], limit=400)[0]
    evidence = integral(joint)
    log_gain = np.log(integral(lambda t: joint(t) * gain_of(t)) / evidence)
    q = stats.norm(0.4 * unit, 0.3 * unit)
    elbo = integral(lambda t: q.pdf(t) * (prior.logpdf(t) + stats.norm.logpdf(y, t, noise) - q.logpdf(t)) if q.pdf(t) > 0 else 0.0)
    term = integral(lambda t: q.pdf(t) * np.log(gain_of(t)))
    assert elbo + term <= log_gain + np.log(evidence)
    assert (elbo + term <= log_gain) == (unit == 1.0)  # as printed, it fails in small units


# decisions


def test_joint_and_em_arrive_at_the_bayes_decisions():
    loss = decisions.squared()
    u = utilities.linearised(loss, 50.0)
    term = outcomes.normal_outcome(LINEAR.reading.moments, u)
    exact = models.regression_posterior(ROWS, 1.0, 3.0)
    rate = optax.adam(optax.cosine_decay_schedule(0.05, 3000))
    joint = steps.calibrated(LINEAR, FAMILY, term, samples=4)
    run = fit(KEY, joint, rate, Pair(FAMILY.init(2), jnp.zeros(60)), ROWS, 3000, QUIET)
    assert np.allclose(run.lam.h, X @ run.lam.lam.mu, atol=0.05)
    assert np.allclose(run.lam.lam.mu, exact.mean, atol=0.02)
    em = steps.calibrated(LINEAR, FAMILY, term, samples=4, utility_samples=50, decide=steps.em(steps.bayes_rule(LINEAR, loss, 4), every=20))
    other = fit(KEY, em, rate, Pair(FAMILY.init(2), ()), ROWS, 3000, QUIET)
    assert np.allclose(other.lam.lam.mu, run.lam.lam.mu, atol=0.02)
    assert np.allclose(other.state[1], run.lam.h, atol=0.5)  # the decisions of 200 draws


def test_classes_are_enumerated_in_the_loop():
    x = jnp.linspace(-2.0, 2.0, 30)[:, None]
    model = models.logistic_regression(1, 1.0)
    loss = decisions.cost_matrix([[0.0, 1.0], [5.0, 0.0]])
    probabilities = lambda theta, x: jnp.stack([jax.nn.sigmoid(-x @ theta), jax.nn.sigmoid(x @ theta)], axis=-1)
    term = outcomes.classes(probabilities, loss)
    thetas = jnp.array([[1.0], [2.0], [0.5]])
    value = term.value((), thetas, (), x)
    u = 5.0 - np.array([[0.0, 1.0], [5.0, 0.0]])
    expected = np.mean([np.log(np.asarray(probabilities(t, x)) @ u) for t in thetas], axis=0)
    assert np.allclose(value, expected, rtol=1e-5)
    y = (x[:, 0] > 0.3).astype(float)
    rows = models.Rows(x, y)
    run = fit(KEY, steps.calibrated(model, FAMILY, term), optax.adam(0.05), Pair(FAMILY.init(1), ()), rows, 300, QUIET)
    assert np.isfinite(run.objective).all()
    with pytest.raises(ValueError, match="M is 4, below the largest cost 5"):
        outcomes.classes(probabilities, loss, 4.0)
    with pytest.raises(ValueError, match="squared, which has no table of costs"):
        outcomes.classes(probabilities, decisions.squared())


def test_decisions_about_parameters():
    term = outcomes.estimand(lambda theta: theta[0], utilities.linearised(decisions.squared(), 1.0))
    thetas = jnp.array([[1.0, 9.0], [3.0, 9.0]])
    assert float(term.value((), thetas, jnp.array(2.0), None)) == -1.0


def test_a_network_learns_the_decisions():
    x = jnp.linspace(-2, 2, 400)[:, None]
    predict = lambda key, x, n: jnp.sin(2 * x[None, :, 0]) + 0.3 * jax.random.normal(key, (n, x.shape[0]))
    network = networks.amortise(KEY, predict, x, decisions.tilted(0.2), training=networks.NetworkTraining(steps=1500, batch=128))
    exact = jnp.sin(2 * x[:, 0]) + 0.3 * stats.norm.ppf(0.2)
    assert float(jnp.abs(networks.decide_with(network, x) - exact).mean()) < 0.03


# the pipeline


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"method": "taylor", "transform": "exponential", "decisions": "alternating"},
        pytest.param({"method": "naive", "decisions": "alternating"}, marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_calibrate_lowers_its_own_risk(chosen):
    objective, optimisation = options.Objective(**chosen), HURRY._replace(steps=800)
    result = pipeline.calibrate(KEY, MODEL, SCHOOLS, decisions.tilted(0.2), objective=objective, optimisation=optimisation)
    assert result.calibrated.risk < result.plain.risk
    assert result.calibrated.decisions.shape == (8,)
    assert result.train.baseline > 0
    assert result.held_out is None


def test_calibrate_with_minibatches_networks_and_held_out_rows():
    train, test = (jax.tree.map(lambda a, part=part: a[part], ROWS) for part in (slice(0, 40), slice(40, 60)))
    chosen = {"objective": options.Objective(decisions="amortised"), "optimisation": HURRY._replace(batch=10)}
    result = pipeline.calibrate(KEY, LINEAR, train, decisions.tilted(0.2), held_out=test, **chosen)
    assert result.held_out.low <= result.held_out.value <= result.held_out.high
    assert result.calibrated.decisions.shape == (40,)


def test_calibrate_starts_where_it_is_told():
    begin = [HURRY._replace(steps=1, rate=0.01, warm_start=warm) for warm in (True, False)]
    warm, cold = (pipeline.calibrate(KEY, MODEL, SCHOOLS, decisions.tilted(0.2), optimisation=each) for each in begin)
    moved = {name: jnp.abs(run.calibrated.run.lam.h - run.plain.decisions).max() for name, run in (("warm", warm), ("cold", cold))}
    assert moved["warm"] < 0.011  # one step of Adam at this rate
    assert moved["cold"] > 0.1
    for run, taken in ((warm, 2), (cold, 1)):  # both start where the plain run ended, or both anew
        for found in (run.plain, run.calibrated):
            assert taken * 0.009 < jnp.abs(found.lam.mu).max() < taken * 0.011


def test_calibrate_survives_heavy_tails():
    import numpyro
    from numpyro import distributions as dist

    def program(x, y=None):
        a, b = numpyro.sample("a", dist.Normal(0, 1)), numpyro.sample("b", dist.Normal(0, 1))
        spread = numpyro.sample("spread", dist.HalfNormal(1.0))
        with numpyro.plate("rows", x.shape[0]):
            numpyro.sample("obs", dist.LogNormal(a + b * x, spread), obs=y)

    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    model, rows = models.from_numpyro(program, x=x, y=np.exp(1 + 0.5 * x + 0.6 * rng.normal(size=40)))
    result = pipeline.calibrate(KEY, model, rows, decisions.squared(), optimisation=HURRY._replace(steps=1000, rate=0.03))
    assert result.calibrated.risk < result.plain.risk
    assert (result.calibrated.decisions > 0.5).all()  # of a log-normal: none shrinks to 0


@pytest.mark.thorough  # both languages, side by side: test_lcvi_result.py
def test_calibrate_takes_a_numpyro_model():
    import numpyro
    from numpyro import distributions as dist

    def program(x, y=None):
        w = numpyro.sample("w", dist.Normal(0, 3).expand([2]).to_event(1))
        with numpyro.plate("rows", x.shape[0]):
            numpyro.sample("obs", dist.Normal(x @ w, 1.0), obs=y)

    model, rows = models.from_numpyro(program, x=ROWS.x, y=ROWS.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.CalibrationWarning)  # whether it helps is not the question
        result = pipeline.calibrate(KEY, model, rows, decisions.squared(), held_out=rows, **QUICK)
    assert result.calibrated.decisions.shape == (60,)
    assert result.held_out.value == pytest.approx(result.train.value, abs=0.01)  # the same rows, other draws


@pytest.mark.thorough
def test_calibrate_takes_a_pymc_model():
    import pymc as pm

    with pm.Model() as program:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, shape=8)
        pm.Normal("y", theta, np.asarray(SCHOOLS.sigma), observed=np.asarray(SCHOOLS.y))
    model, rows = models.from_pymc(program)
    result = pipeline.calibrate(KEY, model, rows, decisions.tilted(0.2), optimisation=HURRY._replace(steps=800))
    assert result.calibrated.risk < result.plain.risk
    assert result.train.improved < result.train.baseline  # as on the model written by hand


def test_calibrate_warns_when_it_hurts():
    much = options.Objective(M=0.05)  # far too small
    with pytest.warns(ConvergenceWarning, match="noisy"), pytest.warns(pipeline.CalibrationWarning, match="raised the held-out risk"):
        result = pipeline.calibrate(KEY, LINEAR, ROWS, lambda y, h: (h - y) ** 2 + jnp.exp(h - 1), held_out=ROWS, objective=much, **QUICK)
    assert [words in result.warnings[place] for place, words in ((0, "too noisy"), (-1, "raised the held-out risk"))] == [True, True]
    said = " ".join(str(result).split())
    assert all(f"warning: {words}" in said for words in result.warnings)


BAD = [
    ({"M": -1.0}, "M is -1; give something above 0"),
    ({"quantile": 1.0}, "quantile is 1; give a number strictly between 0 and 1"),
    ({"outcome_draws": 0}, "outcome_draws is 0; give a whole number, 1 or more"),
    ({"utility_samples": 0}, "utility_samples is 0"),
    ({"transform": "square"}, 'transform is \'square\'; give "linearised" or "exponential"'),
    ({"method": "magic"}, "method is 'magic'"),
    ({"decisions": "coin"}, "decisions is 'coin'"),
    ({"decisions": "amortised"}, "covariates are no table"),
    ({"method": "score"}, "does not say how probable an outcome is"),
    ({"method": "sum"}, "does not say which whole numbers"),
    ({"method": "taylor", "outcome_draws": 1}, "outcome_draws is 1; give a whole number, 2 or more"),
    ({"steps": 0}, "steps is 0"),
    ({"samples": 0}, "samples is 0"),
    ({"tolerance": -1.0}, "tolerance is -1"),
    ({"batch": 0}, "batch is 0"),
    ({"warm_start": "no"}, "warm_start is 'no'; give True or False"),
    ({"progress": None}, "progress is None; give True or False"),
    ({"objective": {"M": 2.0}}, r"objective is {'M': 2.0}; give lcvi.Objective\(...\) with some of M, quantile"),
    ({"optimisation": None}, r"optimisation is None; give lcvi.Optimisation\(...\) with some of steps, rate"),
    ({"family": "normal"}, "family is 'normal'; give a Family"),
]


@pytest.fixture
def no_step(monkeypatch):
    """As a reader runs the package, without the types that the tests enforce; and what is refused is refused before the first step."""
    monkeypatch.setattr(pipeline, "fit", lambda *_, **__: pytest.fail("a step was taken"))
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def chosen(**given):
    """The arguments of `calibrate`, with options by their own names."""
    for record in (options.Objective, options.Optimisation):
        name = record.__name__.lower()
        own = {field: given.pop(field) for field in record._fields if field in given}
        given = {name: record(**own), **given} if own else given
    return given


@pytest.mark.parametrize(("given", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_options(given, words, no_step):
    with pytest.raises(ValueError, match=words):
        pipeline.calibrate(KEY, MODEL, SCHOOLS, decisions.squared(), **chosen(**given))


def test_a_utility_has_its_own_scale(no_step):
    with pytest.raises(ValueError, match="M is 2, and utility linearised squared has its own scale"):
        pipeline.calibrate(KEY, MODEL, SCHOOLS, utilities.linearised(decisions.squared(), 1.0), **chosen(M=2.0))


def test_an_option_that_there_is_not_is_named():
    for call in (lambda: pipeline.calibrate(KEY, MODEL, SCHOOLS, decisions.squared(), steps_at_most=20), lambda: options.Objective(m=1.0)):
        with pytest.raises(TypeError, match=r"unexpected keyword argument '(steps_at_most|m)'"):
            call()


def test_utilities_and_losses_that_cannot_be_used():
    quick = {"optimisation": HURRY._replace(steps=20)}
    with pytest.raises(ValueError, match=r"utility M - squared is negative on .* raise M"):
        pipeline.calibrate(KEY, MODEL, SCHOOLS, utilities.from_loss(decisions.squared(), 1.0), **quick)
    with pytest.raises(ValueError, match="loss is not finite on the predictions"):
        pipeline.calibrate(
            KEY,
            MODEL,
            SCHOOLS,
            decisions.Loss("wall", lambda y, h: jnp.where(y > 0, jnp.inf, (h - y) ** 2), lambda d, w: d.mean(-1)),
            **quick,
        )
    pools = models.read_as(models.pooled_testing(), log_prob=None)
    with pytest.raises(ValueError, match="predict cannot be differentiated"):
        pipeline.calibrate(KEY, pools, None, decisions.squared(), **quick)


def test_the_last_good_state_is_kept():
    """A utility whose logarithm runs into zero: the run stops there and hands back what it had."""
    u = utilities.direct(lambda y, h: jnp.maximum(1.0 - jnp.abs(h - y) / 400.0, 0.0), name="tent")
    term = outcomes.drawn_outcome(MODEL, u, 2)
    start = Pair(FAMILY.init(10), jnp.full(8, 300.0))
    runaway = optax.chain(optax.scale(-1.0), optax.sgd(20_000.0))  # the wrong way, so that h leaves the tent
    with pytest.raises(NotFiniteError) as caught:
        fit(KEY, calibrated(term), runaway, start, SCHOOLS, 200, QUIET)
    assert jax.tree.all(jax.tree.map(lambda a: bool(np.isfinite(a).all()), caught.value.fit.lam))


def test_published_eight_schools_in_short():
    runs = [published.eight_schools_run(KEY, SCHOOLS, calibrate=c, iterations=200, every=100) for c in (False, True)]
    for run in runs:
        assert run.iteration.tolist() == [0, 100, 199]
        assert np.allclose(run.empirical_risk, run.exact_risk, atol=0.1)


def test_published_music_in_short():
    table = small_table()
    loss = decisions.tilted(0.2)
    for u in (None, utilities.linearised(loss, 1.0)):
        run = published.music_run(KEY, table, u, iterations=30, batch=4)
        risks = published.music_risks(KEY, run.lam, table, loss)
        assert set(risks) == {"train", "test"}
        assert np.isfinite(list(risks.values())).all()


def test_a_loss_may_be_a_function_of_one_s_own():
    """It knows no supremum and no list of decisions, and is the package's loss of the same words."""
    given = chosen(method="even", quantile=0.8) | QUICK
    mine, theirs = (
        pipeline.calibrate(jax.random.key(7), MODEL, SCHOOLS, loss, **given) for loss in (lambda y, h: (y - h) ** 2, decisions.squared())
    )
    assert abs(mine.utility.M - theirs.utility.M) < 0.05 * theirs.utility.M
    np.testing.assert_allclose(mine.calibrated.decisions, theirs.calibrated.decisions, atol=1.0)
