"""Calibration for outcomes whose draws have no derivative: sums over their values, score functions, cuts, and what is refused."""

import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pymc as pm
import pytest
from jax.flatten_util import ravel_pytree
from numpyro import distributions as dist
from scipy import stats

from course_pkg import decisions, families, gradients, lcvi, models
from course_pkg.lcvi import discrete
from course_pkg.lcvi.steps import Pair

KEY = jax.random.key(5)
RNG = np.random.default_rng(7)
N = 12
X = RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(1.0 + 0.5 * X))
EVENTS = (RNG.random(N) < 1 / (1 + np.exp(-X))).astype(int)
FAMILY = families.mean_field_normal()
LAM = families.Diagonal(jnp.array([0.8, 0.4]), jnp.array([-0.7, -1.2]))
PAIR = Pair(LAM, jnp.linspace(0.3, 2.0, N))
TILTED, SQUARED = lcvi.linearised(decisions.tilted(0.2), 1.5), lcvi.exponential(decisions.squared(), 3.0)
COSTS = decisions.cost_matrix([[0.0, 1.0], [5.0, 0.0]])
BOTH = ["numpyro", "pymc"]
KINDS = {"events": EVENTS, "counts": COUNTS}


@pytest.fixture(autouse=True)
def _other_people_s_programs_may_broadcast():
    with jax.numpy_rank_promotion("allow"):
        yield


@cache  # one model for all tests, or each would compile its own draws
def build(language, kind):
    if language == "numpyro":

        def program(x, y=None):
            a, b = numpyro.sample("a", dist.Normal(0, 2)), numpyro.sample("b", dist.Normal(0, 2))
            line = a + b * x
            numpyro.sample("seen", dist.Bernoulli(logits=line) if kind == "events" else dist.Poisson(jnp.exp(line)), obs=y)

        return models.from_numpyro(program, X, y=KINDS[kind])
    with pm.Model() as written:
        x, y = pm.Data("x", X), pm.Data("y", KINDS[kind])
        line = pm.Normal("a", 0, 2) + pm.Normal("b", 0, 2) * x
        if kind == "events":
            pm.Bernoulli("seen", logit_p=line, observed=y)
        else:
            pm.Poisson("seen", pm.math.exp(line), observed=y)
    return models.from_pymc(written)


def by_hand(kind, utility):
    """The term with the probabilities of a textbook, up to a count that nobody reaches."""
    y = jnp.arange(2.0 if kind == "events" else 200.0)[:, None]

    def value(noise, thetas, h, covariates):
        line = thetas[:, :1] + thetas[:, 1:] * covariates["x"]  # (S, n)
        p = jax.nn.sigmoid(line)
        chance = jnp.stack([1 - p, p], axis=1) if kind == "events" else jax.scipy.stats.poisson.pmf(y, jnp.exp(line)[:, None])
        if utility.linear:
            return -(chance * utility.loss(y, h)).sum(1).mean(0) / utility.M
        return jnp.log((chance * utility(y, h)).sum(1)).mean(0)

    return lcvi.Term(lambda key, thetas: (), value)


def estimator(model, term, **options):
    return lcvi.calibrated(model, FAMILY, term, samples=2, **{"utility_samples": 5, **options})


def summed(model, data, utility):
    greatest = discrete.greatest_value(model, families.sample(KEY, FAMILY, LAM, 50), data, 60)
    return lcvi.summed_outcome(model, utility, greatest)


def slopes(model, term, data, key=KEY, minibatch=None, **options):
    e = estimator(model, term, **options)
    e = e if minibatch is None else gradients.minibatch(e, minibatch)
    return ravel_pytree(gradients.once(e, key, PAIR, data).gradient)[0]


def seldom(*values):
    """What a smaller set of cases beside it would notice, too."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("language", "kind", "utility"),
    [
        ("numpyro", "counts", TILTED),
        ("pymc", "events", TILTED),
        ("numpyro", "counts", SQUARED),
        seldom("numpyro", "events", TILTED),
        seldom("pymc", "counts", TILTED),
        seldom("numpyro", "events", SQUARED),
    ],
    ids=lambda a: getattr(a, "name", a),
)
def test_the_sum_has_the_exact_gradient(language, kind, utility):
    """Without chance: one noise for both."""
    model, data = build(language, kind)
    term, exact = summed(model, data, utility), by_hand(kind, utility)
    together = jax.jit(lambda d: (slopes(model, term, d), slopes(model, exact, d), slopes(model, term, d, weight=0.0)))
    found, true, plain = together(data)
    np.testing.assert_allclose(found, true, rtol=2e-4, atol=2e-4 * np.abs(true).max())
    assert (np.abs(true - plain)[:4] > 0.01 * np.abs(true).max()).any()  # the term does pull at the approximation


@pytest.mark.parametrize(
    ("language", "kind"), [("numpyro", "counts"), ("pymc", "events"), seldom("numpyro", "events"), seldom("pymc", "counts")]
)
def test_the_mean_over_all_minibatches_is_the_full_gradient(language, kind):
    """Without chance: the same noise, and every row once."""
    model, data = build(language, kind)
    whole = estimator(model, summed(model, data, TILTED))
    part = gradients.minibatch(whole, 1)

    @jax.jit
    def both(data):
        _, noise = part.draw(KEY, PAIR, data)
        one = lambda row: part.estimate((row[None], noise), PAIR, (), data)[0].gradient
        mean = jax.tree.map(lambda g: g.mean(axis=0), jax.lax.map(one, jnp.arange(N)))
        return whole.estimate(noise, PAIR, (), data)[0].gradient, mean

    full, mean = both(data)
    for a, b in zip(jax.tree.leaves(full), jax.tree.leaves(mean), strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-4 * np.abs(a).max())


def n_mixture(x, y=None):
    a, b = numpyro.sample("a", dist.Normal(0, 2)), numpyro.sample("b", dist.Normal(0, 2))
    places = jnp.stack([a + b * x, a + b * x + 3.0], axis=-1)
    numpyro.sample("seen", dist.MixtureSameFamily(dist.Categorical(probs=jnp.array([0.7, 0.3])), dist.Normal(places, 1.0)), obs=y)


@cache
def mixture():
    return models.from_numpyro(n_mixture, X, y=1.0 * COUNTS)


def score_against(model, data, exact, minibatch=None, repeats=800):
    """The scored term's gradient less the exact one at the same thetas and rows: |mean| / standard error, and its bound.

    One false alarm in ten thousand, over all coordinates.
    """
    drawn = lcvi.scored_outcome(model, TILTED, 3)
    gap = lambda key, data: slopes(model, drawn, data, key, minibatch) - slopes(model, exact, data, key, minibatch)
    gaps = np.asarray(jax.jit(jax.vmap(gap, (0, None)))(jax.random.split(KEY, repeats), data), float)
    error = gaps.std(0) / np.sqrt(repeats) + 1e-5
    return np.abs(gaps.mean(0)) / error, stats.norm.isf(1e-4 / 2 / gaps.shape[1])


@pytest.mark.parametrize(
    ("language", "kind", "minibatch"), [("numpyro", "counts", 4), seldom("numpyro", "events", None), seldom("pymc", "counts", 4)]
)
def test_the_score_function_has_the_exact_gradient_on_average(language, kind, minibatch):
    model, data = build(language, kind)
    z, bound = score_against(model, data, by_hand(kind, TILTED), minibatch)
    assert z.max() < bound, z.round(2)


def test_a_mixture_has_the_gradient_of_its_components():
    model, data = mixture()
    form = lambda mean, h: lcvi.expected_loss(decisions.tilted(0.2), mean, 1.0, h)

    def value(noise, thetas, h, covariates):
        line = thetas[:, :1] + thetas[:, 1:] * covariates["x"]
        return -(0.7 * form(line, h) + 0.3 * form(line + 3, h)).mean(0) / TILTED.M

    z, bound = score_against(model, data, lcvi.Term(lambda key, thetas: (), value))
    assert z.max() < bound, z.round(2)


def test_scores_of_utilities_with_a_logarithm_agree_with_the_sum_where_draws_are_many():
    model, data = build("numpyro", "events")
    many, few = lcvi.scored_outcome(model, SQUARED, 2000), summed(model, data, SQUARED)
    no_log = SQUARED._replace(log=None)
    thetas, known = jnp.array([[0.3, -0.8], [1.0, 0.5]]), data
    slope = lambda term: jax.jit(jax.grad(lambda t: term.value(term.draw(KEY, 2), t, PAIR.h, known).sum()))(thetas)
    exact = slope(few)
    np.testing.assert_allclose(slope(many), exact, atol=0.15 * float(jnp.abs(exact).max()))
    np.testing.assert_allclose(slope(lcvi.scored_outcome(model, no_log, 2000)), slope(many), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(slope(summed(model, data, no_log)), exact, rtol=1e-3, atol=1e-4)


# the cut


def one_rate(log_prob=None, values=(0, None)):
    """A count for each row, whose rates are exp(theta) times the covariate."""
    log_prob = log_prob or (lambda theta, x, y: jax.scipy.stats.poisson.logpmf(y, jnp.exp(theta[0]) * x))
    draw = lambda key, theta, x: jax.random.poisson(key, jnp.exp(theta[0]) * x).astype(float)
    bare = models.Model(1, lambda t: 0.0, lambda t, d: 0.0, draw, lambda t: {})
    return models.read_as(bare, log_prob=log_prob, values=values, outcome=lambda x: jnp.zeros_like(x))


@pytest.mark.parametrize("loss", [decisions.tilted(0.3), decisions.squared()], ids=["tilted", "squared"])
def test_the_cut_keeps_to_its_bound_against_the_exact_sum(loss):
    rates = np.array([0.2, 3.0, 21.0, 70.0])
    with jax.enable_x64(True):
        model, thetas, h = one_rate(), jnp.array([[-0.2], [0.1], [0.0]]), jnp.array([0.0, 4.0, 18.0, 90.0])
        greatest = discrete.greatest_value(model, thetas, rates, stats.poisson.ppf(0.9999, 77))
        y = np.arange(2000)[:, None]
        p = np.mean([stats.poisson.pmf(y, np.exp(t) * rates) for t in np.asarray(thetas)[:, 0]], axis=0)
        left = p[greatest + 1 :].sum(0)
        assert left.max() < discrete.TAIL
        assert greatest < 200
        exact = (p * np.asarray(loss(y, h))).sum(0)
        found = -lcvi.summed_outcome(model, lcvi.linearised(loss, 1.0), greatest).value((), thetas, h, rates)
        # shared among the rest, so at most what was lost and as large a share of the mean
        lost = (p[greatest + 1 :] * np.asarray(loss(y[greatest + 1 :], h))).sum(0)
        assert (np.abs(found - exact) <= 2 * (lost + left * exact) + 1e-9).all()
        short = -lcvi.summed_outcome(model, lcvi.linearised(loss, 1.0), 75).value((), thetas, h, rates)
        assert np.abs(short - exact)[3] > 0.05  # a cut in the midst of the counts is seen
        assert discrete.left_out(model, thetas, rates, 70) == pytest.approx(p[71:].sum(0).max(), rel=1e-6)


def test_sums_that_would_be_long_and_tails_that_do_not_end_are_not_cut():
    thetas = jnp.zeros((2, 1))
    assert discrete.greatest_value(one_rate(), thetas, jnp.array([1.0, 900.0]), 1000) is None
    assert discrete.greatest_value(one_rate(), thetas, jnp.array([1.0, 9000.0]), 10_000) is None
    heavy = lambda theta, x, y: -jnp.log(y + 1.0) - jnp.log(y + 2.0) + 0 * x  # of a half a third a quarter, and so on
    assert discrete.greatest_value(one_rate(heavy), thetas, jnp.ones(2), 10) is None
    assert discrete.greatest_value(one_rate(values=(0, 1000)), thetas, jnp.ones(2), 6) < 20  # many values, most of them out of reach


# what the languages say of an outcome


N_TOTAL = np.array([3, 9, 0, 5, 1, 7, 2, 2, 4, 6, 8, 3])
CUTS = np.array([-0.5, 0.8])


def n_outcomes():
    rate = lambda t: jnp.exp(t + 0.3 * X)
    p = lambda t: jax.nn.sigmoid(t + 0.3 * X)
    return {
        "bernoulli": (lambda t: dist.Bernoulli(p(t)), (0, 1)),
        "event": (lambda t: dist.Bernoulli(p(t)).to_event(1), (0, 1)),
        "masked": (lambda t: dist.Bernoulli(p(t)).mask(X > 0), (0, 1)),
        "binomial": (lambda t: dist.Binomial(N_TOTAL, p(t)), (0, 9)),
        "beta-binomial": (lambda t: dist.BetaBinomial(rate(t), 2.0, N_TOTAL), (0, 9)),
        "categorical": (lambda t: dist.Categorical(logits=jnp.stack([0 * X, t * X, 0.2 * X], -1)), (0, 2)),
        "ordered": (lambda t: dist.OrderedLogistic(t * X, CUTS), (0, 2)),
        "poisson": (lambda t: dist.Poisson(rate(t)), (0, None)),
        "one for all": (lambda t: dist.Poisson(jnp.exp(t)), (0, None)),
        "negative binomial": (lambda t: dist.NegativeBinomial2(rate(t), 3.0), (0, None)),
        "geometric": (lambda t: dist.Geometric(p(t)), (0, None)),
        "zero-inflated": (lambda t: dist.ZeroInflatedPoisson(0.3, rate(t)), (0, None)),
    }


def p_outcomes():
    rate = lambda t: pm.math.exp(t + 0.3 * X)
    p = lambda t: pm.math.sigmoid(t + 0.3 * X)
    classes = lambda t: pm.math.softmax(pm.math.stack([0 * X, t * X, 0.2 * X], axis=-1), axis=-1)
    return {
        "bernoulli": (lambda t, y: pm.Bernoulli("y", p(t), observed=y), (0, 1)),
        "binomial": (lambda t, y: pm.Binomial("y", N_TOTAL, p(t), observed=y), (0, None)),
        "beta-binomial": (lambda t, y: pm.BetaBinomial("y", alpha=rate(t), beta=2.0, n=N_TOTAL, observed=y), (0, None)),
        "categorical": (lambda t, y: pm.Categorical("y", classes(t), observed=y), (0, 2)),
        "ordered": (lambda t, y: pm.OrderedLogistic("y", eta=t * X, cutpoints=CUTS, observed=y), (0, 2)),
        "poisson": (lambda t, y: pm.Poisson("y", rate(t), observed=y), (0, None)),
        "one for all": (lambda t, y: pm.Poisson("y", pm.math.exp(t), observed=y), (0, None)),
        "negative binomial": (lambda t, y: pm.NegativeBinomial("y", mu=rate(t), alpha=3.0, observed=y), (0, None)),
        "geometric": (lambda t, y: pm.Geometric("y", p(t), observed=y), (0, None)),
        "zero-inflated": (lambda t, y: pm.ZeroInflatedPoisson("y", psi=0.7, mu=rate(t), observed=y), (0, None)),
    }


TRUTH = {  # at theta 0.4, for each row, by scipy
    "bernoulli": lambda y, p, rate: stats.bernoulli.logpmf(y, p),
    "event": lambda y, p, rate: stats.bernoulli.logpmf(y, p),
    "masked": lambda y, p, rate: stats.bernoulli.logpmf(y, p),
    "binomial": lambda y, p, rate: stats.binom.logpmf(y, N_TOTAL, p),
    "beta-binomial": lambda y, p, rate: stats.betabinom.logpmf(y, N_TOTAL, rate, 2.0),
    "categorical": lambda y, p, rate: np.log(_classes()[np.arange(N), np.minimum(y, 2)]) + np.where(y > 2, -np.inf, 0.0),
    "ordered": lambda y, p, rate: np.log(_ordered()[np.arange(N), np.minimum(y, 2)]) + np.where(y > 2, -np.inf, 0.0),
    "poisson": lambda y, p, rate: stats.poisson.logpmf(y, rate),
    "one for all": lambda y, p, rate: stats.poisson.logpmf(y, np.exp(0.4) + 0 * p),
    "negative binomial": lambda y, p, rate: stats.nbinom.logpmf(y, 3.0, 3.0 / (3.0 + rate)),
    "geometric": lambda y, p, rate: stats.geom.logpmf(y, p),  # PyMC's counts from 1, NumPyro's from 0
    "zero-inflated": lambda y, p, rate: np.log(0.3 * (y == 0) + 0.7 * stats.poisson.pmf(y, rate)),
}


def _classes():
    scores = np.exp(np.stack([0 * X, 0.4 * X, 0.2 * X], -1))
    return scores / scores.sum(-1, keepdims=True)


def _ordered():
    return np.diff(1 / (1 + np.exp(-(CUTS - 0.4 * X[:, None]))), axis=1, prepend=0.0, append=1.0)


def outcome_of(language, name):
    seen = np.where(N_TOTAL > 0, 1, 0)
    if language == "numpyro":
        site, values = n_outcomes()[name]

        def program(y=None):
            numpyro.sample("y", site(numpyro.sample("t", dist.Normal(0, 1))), obs=y)

        return models.from_numpyro(program, y=seen), values
    site, values = p_outcomes()[name]
    with pm.Model() as written:
        site(pm.Normal("t"), seen)
    return models.from_pymc(written), values


@pytest.mark.parametrize(("language", "name"), [("numpyro", name) for name in n_outcomes()] + [("pymc", name) for name in p_outcomes()])
def test_each_language_says_how_probable_an_outcome_is(language, name):
    (model, data), values = outcome_of(language, name)
    reading, known = model.reading, model.reading.covariates(data)
    assert reading.values == values
    p, rate = stats.logistic.cdf(0.4 + 0.3 * X), np.exp(0.4 + 0.3 * X)

    @jax.jit
    def ask(t, y):
        def probable(t):
            log_p = reading.log_prob(t, known, y)
            return jnp.exp(log_p), log_p

        slope, log_p = jax.jacfwd(probable, has_aux=True)(t)
        return log_p, slope

    summed = [y for y in (0, 1, 2, 12) if values[1] is None or y <= values[1]]
    in_a_sum = jax.jit(lambda t: discrete._log_probs(model, t, known, jnp.array(summed)))(jnp.array([0.4]))
    for y, found in zip(summed, in_a_sum, strict=True):
        np.testing.assert_allclose(found, ask(jnp.array([0.4]), jnp.full(N, y))[0], rtol=1e-5, atol=1e-5)
    for y in (0, 1, 2, 12):
        found, slope = ask(jnp.array([0.4]), jnp.full(N, y))
        shift = 1 if (language, name) == ("numpyro", "geometric") else 0
        np.testing.assert_allclose(found, TRUTH[name](np.full(N, y + shift), p, rate), rtol=1e-4, atol=1e-4)
        assert np.isfinite(slope).all()


def test_outcomes_whose_entries_belong_together_or_are_several_say_nothing():
    def program(y):
        p = numpyro.sample("p", dist.Dirichlet(jnp.ones(3)))
        numpyro.sample("y", dist.Multinomial(4, p), obs=y)

    assert models.from_numpyro(program, np.array([[1, 1, 2]]))[0].reading.log_prob is None
    with pm.Model() as written:
        pm.Multinomial("y", n=4, p=pm.Dirichlet("p", np.ones(3)), observed=[[1, 1, 2]])
    assert models.from_pymc(written)[0].reading.log_prob is None
    with pm.Model() as two:
        a = pm.Normal("a")
        pm.Bernoulli("y", logit_p=a, observed=EVENTS)
        pm.Bernoulli("z", logit_p=a, observed=EVENTS)
    assert models.from_pymc(two)[0].reading.log_prob is None


def test_the_package_s_own_discrete_models_say_how_probable_an_outcome_is():
    logistic, pools = models.logistic_regression(1, 1.0), models.pooled_testing()
    p = stats.logistic.cdf(0.7 * X)
    log_prob = jax.jit(logistic.reading.log_prob)
    for y in (0, 1):
        found = log_prob(jnp.array([0.7]), X[:, None], jnp.full(N, y))
        np.testing.assert_allclose(found, stats.bernoulli.logpmf(y, p), rtol=1e-4)
    y = np.arange(8)
    found = pools.reading.log_prob(jnp.array([-0.4]), 5, y)
    np.testing.assert_allclose(found, stats.binom.logpmf(y, 5, stats.logistic.cdf(-0.4)), rtol=1e-4)
    slope = jax.jit(jax.jacfwd(lambda t: jnp.exp(pools.reading.log_prob(t, 5, y))))
    assert np.isfinite(slope(jnp.array([-0.4]))).all()


# finitely many decisions, and the whole pipeline


def test_a_cost_matrix_looks_at_all_decisions():
    model, data = build("numpyro", "events")
    probabilities = lambda theta, d: jnp.stack([jax.nn.sigmoid(s * (theta[0] + theta[1] * d["x"])) for s in (-1.0, 1.0)], axis=-1)
    thetas = jnp.array([[1.0, 2.0], [0.2, -1.0]])
    enumerated = lcvi.classes(probabilities, COSTS)
    term, utility = lcvi.summed_outcome(model, lcvi.from_loss(COSTS)), lcvi.linearised(COSTS, 5.0)
    assert term.actions.tolist() == enumerated.actions.tolist() == [0, 1]
    value = lambda term: jax.jit(lambda thetas, data: term.value(term.draw(KEY, 2), thetas, (), data))(thetas, data)
    np.testing.assert_allclose(value(term), value(enumerated), rtol=1e-4, atol=1e-5)
    exact = value(lcvi.summed_outcome(model, utility))
    assert exact.shape == (N, 2)
    np.testing.assert_allclose(value(lcvi.scored_outcome(model, utility, 4000)), exact, atol=0.05)


HURRY, FEW = lcvi.Optimisation(steps=150, rate=0.05, progress=False, tolerance=None), lcvi.Objective(predictive_draws=200)


def calibrate(model, data, loss, held_out=None, *, steps=150, batch=None, **objective):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lcvi.CalibrationWarning)  # whether it helps is not the question
        objective = FEW._replace(**objective)
        optimisation = HURRY._replace(steps=steps, batch=batch)
        return lcvi.calibrate(KEY, model, data, loss, held_out=held_out, objective=objective, optimisation=optimisation)


@pytest.mark.parametrize(
    ("language", "kind", "loss", "options"),
    [
        ("numpyro", "counts", decisions.tilted(0.2), {"batch": 4}),
        seldom("pymc", "counts", decisions.squared(), {"transform": "exponential", "decisions": "alternating"}),
        seldom("numpyro", "events", COSTS, {"batch": 4}),
        ("pymc", "events", COSTS, {"method": "score"}),
    ],
    ids=["sum", "em", "actions", "score"],
)
def test_calibrate_takes_counts_and_events(language, kind, loss, options):
    model, data = build(language, kind)
    result = calibrate(model, data, loss, held_out=data, **options)
    assert result.calibrated.decisions.shape == (N,)
    assert np.isfinite(result.calibrated.run.objective).all()
    assert result.calibrated.risk < 1.05 * result.plain.risk
    if loss is COSTS:
        assert result.utility.M == 5.0
        assert set(np.unique(result.calibrated.decisions)) <= {0, 1}


RATE = 16.0
EVEN = stats.binom(20, RATE / 20)  # counts that scatter less than a Poisson's
TRUTHS = {"a Poisson that is wrong": EVEN, "a Poisson that is right": stats.poisson(RATE)}


@pytest.mark.parametrize(
    ("name", "steps", "later", "draws"),
    [
        ("a Poisson that is wrong", 300, 400, 5000),
        seldom("a Poisson that is wrong", 500, 1000, 20_000),
        seldom("a Poisson that is right", 500, 1000, 20_000),
    ],
)
def test_calibration_lowers_the_exact_risk_where_it_can_and_says_so_where_it_cannot(name, steps, later, draws):
    """The risk under the truth, enumerated: of a model whose counts scatter too much, and of the right one."""
    truth = TRUTHS[name]
    loss, rng = decisions.imbalanced(9.0, 1.0), np.random.default_rng(2)

    def program(x, y=None):
        level = numpyro.sample("level", dist.Normal(2.0, 2.0))
        with numpyro.plate("days", len(x)):
            numpyro.sample("y", dist.Poisson(jnp.exp(level) * x), obs=y)

    def rows(n):
        return {"x": np.ones(n), "y": truth.rvs(n, random_state=rng)}

    result = calibrate(program, rows(60), loss, held_out=rows(later), M=0.5, steps=steps, predictive_draws=500)
    y, risks, new = np.arange(200), {}, np.array([1.0, 0.5, 3.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    for way in ("plain", "calibrated"):
        h = np.asarray(result.decide({"x": new}, plain=way == "plain", draws=draws))
        risks[way] = float((truth.pmf(y) * np.asarray(loss(1.0 * y, h[0]))).sum())
        lam = getattr(result, way).lam
        rates = new[:, None] * np.exp(lam.mu + np.exp(lam.log_sigma) * nodes)
        below = [stats.poisson.cdf(h[:, None] - less, rates) @ weights / weights.sum() for less in (1, 0)]
        error = 4.5 * np.sqrt(0.9 * 0.1 / draws)  # of a share of the draws; a false alarm in 10,000 runs
        assert (below[0] - error < 0.9).all()
        assert (below[1] + error > 0.9).all()  # h is the 0.9-quantile of q's predictive
    wrong = truth is EVEN
    assert (risks["calibrated"] < 0.8 * risks["plain"]) == wrong
    assert (risks["calibrated"] > 1.05 * risks["plain"]) == (not wrong)
    assert (result.held_out.low > 0) == wrong
    assert any("raised the held-out risk" in words for words in result.warnings) == (not wrong)


def test_calibrate_takes_a_mixture_by_its_score():
    model, data = mixture()
    assert model.reading.values is None
    result = calibrate(model, data, decisions.tilted(0.2))
    assert np.isfinite(result.calibrated.risk)


def test_a_sum_that_falls_short_of_the_calibrated_approximation_is_said(monkeypatch):
    model, data = build("numpyro", "counts")
    monkeypatch.setattr(discrete, "greatest_value", lambda *_: 2)
    with pytest.warns(lcvi.CalibrationWarning, match=r"summed up to 2, and .* lie above; draw them instead: method=.score"):
        result = lcvi.calibrate(KEY, model, data, decisions.squared(), objective=FEW, optimisation=HURRY._replace(steps=5))
    assert "warning: outcomes were summed up to 2" in str(result)


# what is refused


def changed(kind="events", **fields):
    model, data = build("numpyro", kind)
    return models.read_as(model, **fields), data


def use(built, loss=None, **options):
    return calibrate(*built, loss or decisions.squared(), **{"steps": 2, **options})


INTEGERS = models.Model(1, lambda t: -(t[0] ** 2), lambda t, d: 0 * t[0], lambda key, t, x: jnp.ones(3, int), None)
ROWS = models.Rows(jnp.ones((3, 1)), jnp.ones(3))
BAD = [
    (lambda: use(changed(log_prob=None)), "predict cannot be differentiated"),
    (lambda: use((INTEGERS, ROWS)), r"predict cannot be differentiated: it draws int.* models.read_as\(model, log_prob"),
    (lambda: use(changed(values=(1, None))), "data holds the outcome 0, and reading.values says whole numbers from 1 upwards"),
    (lambda: use(changed(values=(1, 0))), r"reading.values is \(1, 0\)"),
    (lambda: use(changed("counts", values=(0, 3))), r"data holds the outcome .* whole numbers from 0 to 3"),
    (lambda: use(changed(log_prob=lambda t, x, y: -0.1 + 0.0 * y)), "give log probabilities that sum to 1"),
    (lambda: use(changed(log_prob=lambda t, x, y: jnp.log(0.5))), r"log_prob gives shape \(\) for outcomes of shape \(12,\)"),
    (lambda: use(changed(), method="even"), "predict cannot be differentiated"),
    (lambda: use(changed(), method="score", outcome_draws=1), "outcome_draws is 1; give a whole number, 2 or more"),
    (lambda: use(changed(), COSTS, decisions="alternating"), 'decisions is "alternating", and the loss lists its decisions'),
    (lambda: use(mixture(), method="sum"), "does not say which whole numbers the outcome may be"),
    (lambda: lcvi.summed_outcome(changed("counts")[0], TILTED), "greatest is None, and the outcome has no greatest value"),
    (lambda: lcvi.summed_outcome(changed("counts")[0], TILTED, -1), "greatest is -1"),
    (lambda: lcvi.scored_outcome(models.linear_regression(1, 1.0, 1.0), TILTED), "does not say how probable an outcome is"),
    (lambda: models.require_differentiable(models.read_as(models.linear_regression(1, 1.0, 1.0), values=(0, 1))), "is discrete"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_what_cannot_be_summed_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_pipeline_knows_the_words():
    with pytest.raises(ValueError, match='"sum" or "score"'):
        use(changed(), method="summ")
