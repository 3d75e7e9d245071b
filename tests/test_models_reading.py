"""What a model says of its data: rows, covariates and outcome, for models by hand and from both languages."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import optax
import pandas as pd
import pymc as pm
import pytest
from numpyro import distributions as dist
from scipy import sparse, stats

from course_pkg import decisions, families, gradients, lcvi, models
from course_pkg.fit import NotFiniteError, Settings, fit
from course_pkg.is_gradients import Subsample, anchored, isgd
from course_pkg.models.reading import beyond, check_indices, check_parts

RNG = np.random.default_rng(11)
N, J = 30, 4
GROUP = RNG.integers(0, J, N)
GROUP[:J] = range(J)
X, LEVEL = RNG.normal(size=N), RNG.normal(size=J)  # of each row, and of each group
Y = 2.0 * X - LEVEL[GROUP] + 0.5 * RNG.normal(size=N)
MEAN_FIELD = families.mean_field_normal()
KEY = jax.random.key(0)


@pytest.fixture(autouse=True)
def _other_people_s_programs_may_broadcast():
    with jax.numpy_rank_promotion("allow"):
        yield


def n_groups(x, level, group, y=None):
    a = numpyro.sample("a", dist.Normal(0, 1).expand([J]).to_event(1))
    b, c = numpyro.sample("b", dist.Normal(0, 3)), numpyro.sample("c", dist.Normal(0, 3))
    with numpyro.plate("rows", len(x)):
        numpyro.sample("seen", dist.Normal(b * x + (a + c * level)[group], 0.5), obs=y)


def n_slope(x, y):
    b = numpyro.sample("b", dist.Normal(0, 3))
    with numpyro.plate("rows", len(x)):
        numpyro.sample("seen", dist.Normal(b * x, 1.0, validate_args=True), obs=y)


def from_numpyro():
    return models.from_numpyro(n_groups, X, LEVEL, GROUP, y=Y)


def from_pymc():
    with pm.Model(coords={"row": range(N), "county": range(J)}) as written:
        x, level = pm.Data("x", X, dims="row"), pm.Data("level", LEVEL, dims="county")
        group, y = pm.Data("group", GROUP, dims="row"), pm.Data("y", Y, dims="row")
        a, b, c = pm.Normal("a", dims="county"), pm.Normal("b", 0, 3), pm.Normal("c", 0, 3)
        pm.Normal("seen", b * x + (a + c * level)[group], 0.5, observed=y, dims="row")
    return models.from_pymc(written)


def by_hand():
    data = {"x": jnp.asarray(X), "level": jnp.asarray(LEVEL), "group": jnp.asarray(GROUP), "y": jnp.asarray(Y)}
    mean = lambda theta, d: theta[0] * d["x"] + (theta[2:] + theta[1] * d["level"])[d["group"]]
    model = models.Model(
        2 + J,
        lambda theta: -0.5 * ((theta[:2] / 3) ** 2).sum() - 0.5 * (theta[2:] ** 2).sum(),
        lambda theta, d: -2.0 * ((d["y"] - mean(theta, d)) ** 2).sum(),
        lambda key, theta, d: mean(theta, d) + 0.5 * jax.random.normal(key, d["x"].shape),
        lambda theta: {"b": theta[0], "c": theta[1], "a": theta[2:]},
    )
    return models.read_as(model, rows=("x", "group", "y"), outcome=lambda d: d["y"]), data


DESIGN = models.Rows(jnp.column_stack([X, LEVEL[GROUP], np.eye(J)[GROUP]]), jnp.asarray(Y))
SLOPE = float(models.regression_posterior(DESIGN, 0.5, jnp.array([3.0, 3.0, *J * [1.0]])).mean[0])
BUILD = {"numpyro": from_numpyro, "pymc": from_pymc, "by hand": by_hand}


def normal(model):
    """Mean and spread of the outcome, which all three have under the same names."""

    def moments(theta, d):
        v = model.constrain(theta)
        return v["b"] * d["x"] + (v["a"] + v["c"] * d["level"])[d["group"]], jnp.array(0.5)

    return moments


def plain(model):
    return gradients.reparameterized(model, MEAN_FIELD, 3), lambda lam: lam


def calibrated(model):
    term = lcvi.normal_outcome(normal(model), lcvi.linearised(decisions.squared(), 3.0))
    return lcvi.calibrated(model, MEAN_FIELD, term, samples=3), lambda lam: lcvi.Pair(lam, jnp.asarray(Y, dtype=float) + 0.3)


@pytest.mark.parametrize("make", [plain, calibrated])
@pytest.mark.parametrize("language", BUILD)
def test_the_mean_over_all_minibatches_is_the_full_gradient(language, make):
    """Without chance: the same noise, and every row once."""
    model, data = BUILD[language]()
    whole, begin = make(model)
    lam = begin(MEAN_FIELD.init(model.dim))
    part = gradients.minibatch(whole, 1)
    part.init(KEY, lam, data)

    @jax.jit
    def both(data):
        _, noise = part.draw(KEY, lam, data)
        one = lambda row: part.estimate((row[None], noise), lam, (), data)[0].gradient
        mean = jax.tree.map(lambda g: g.mean(axis=0), jax.lax.map(one, jnp.arange(N)))
        return whole.estimate(noise, lam, (), data)[0].gradient, mean

    full, mean = both(data)
    for a, b in zip(jax.tree.leaves(full), jax.tree.leaves(mean), strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-4 * np.abs(a).max())


@pytest.mark.parametrize(
    "language", ["numpyro", pytest.param("pymc", marks=pytest.mark.thorough), pytest.param("by hand", marks=pytest.mark.thorough)]
)
def test_minibatches_of_a_model_with_groups_find_the_slope(language):
    model, data = BUILD[language]()
    for make in (
        lambda m: gradients.minibatch(gradients.reparameterized(m, MEAN_FIELD, 2), 10),
        lambda m: isgd(m, MEAN_FIELD, 2, subsample=Subsample(10)),
    ):
        run = fit(
            KEY, make(model), optax.adam(0.03), MEAN_FIELD.init(model.dim), data, 2000, Settings(average=0.3, progress=False, judge=False)
        )
        assert float(model.constrain(run.average.mu)["b"]) == pytest.approx(SLOPE, abs=0.05)


def test_calibrate_with_minibatches_leaves_the_groups_whole():
    model, data = from_numpyro()
    chosen = lcvi.Optimisation(steps=1000, rate=0.03, batch=10, tolerance=None, progress=False)
    result = lcvi.calibrate(KEY, model, data, decisions.squared(), objective=lcvi.Objective(predictive_draws=500), optimisation=chosen)
    for found in (result.plain, result.calibrated):  # the last of steps that go on rattling
        assert float(model.constrain(found.lam.mu)["b"]) == pytest.approx(SLOPE, abs=0.15)


@pytest.mark.parametrize("rows", [80, 79])
def test_held_out_rows_are_predicted_from_their_own_covariates(rows):
    """As many rows as were fitted, or one fewer: the risk is that of the noise either way."""

    def program(x, y=None):
        b = numpyro.sample("b", dist.Normal(0, 3))
        with numpyro.plate("rows", len(x)):
            numpyro.sample("seen", dist.Normal(b * x, 0.3), obs=y)

    rng = np.random.default_rng(3)
    x = rng.normal(size=160)
    y = 1.5 * x + 0.3 * rng.normal(size=160)
    model, data = models.from_numpyro(program, x[:80], y=y[:80])
    later = {"x": jnp.asarray(x[80 : 80 + rows]), "y": jnp.asarray(y[80 : 80 + rows])}
    chosen = {
        "objective": lcvi.Objective(predictive_draws=500),
        "optimisation": lcvi.Optimisation(steps=500, rate=0.03, progress=False),
    }
    result = lcvi.calibrate(KEY, model, data, decisions.squared(), held_out=later, **chosen)
    own = np.mean((y[80 : 80 + rows] - 1.5 * x[80 : 80 + rows]) ** 2)
    assert result.held_out.baseline == pytest.approx(own, rel=0.15)


def scalar_outside_a_plate(x, y):
    numpyro.sample("seen", dist.Normal(numpyro.sample("b", dist.Normal(0, 1)), 1), obs=y)


def test_one_distribution_stands_for_as_many_rows_as_are_asked_for():
    model, _ = models.from_numpyro(scalar_outside_a_plate, X, Y)
    drawn = model.predict(KEY, jnp.zeros(1), {"x": X[:7], "y": Y[:7]})
    assert len(np.unique(drawn)) == 7


# what is refused


def no_sum(theta, d):
    return -((theta[0] - d) ** 2).mean()


def n_schools(sigma, y=None):
    with numpyro.plate("schools", len(sigma)):
        theta = numpyro.sample("theta", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def n_two_lengths(y, z):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    numpyro.sample("first", dist.Normal(mu, 1), obs=y)
    numpyro.sample("second", dist.Normal(mu, 1), obs=z)


def n_closed_over(y):
    b = numpyro.sample("b", dist.Normal(0, 1))
    with numpyro.plate("rows", N):
        numpyro.sample("seen", dist.Normal(b * X, 1), obs=y)


def n_made_up(x, y):
    numpyro.sample("seen", dist.Normal(numpyro.sample("b", dist.Normal(0, 1)) * x, 1), obs=2 * y)


def n_array_outside(group, y):
    a = numpyro.sample("a", dist.Normal(0, 1).expand([len(np.unique(group))]))
    numpyro.sample("seen", dist.Normal(a[group], 1), obs=y)


def n_improper(y):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    sd = numpyro.sample("sd", dist.ImproperUniform(dist.constraints.positive, (), ()))
    numpyro.sample("seen", dist.Normal(mu, sd), obs=y)


def n_direction(y):
    direction = numpyro.sample("direction", dist.ProjectedNormal(jnp.ones(2)))
    numpyro.sample("seen", dist.Normal(direction[0], 1), obs=y)


def n_factor(y):
    numpyro.factor("all", -((numpyro.sample("mu", dist.Normal(0, 1)) - y) ** 2).sum())


def n_table(table, y):
    numpyro.sample("seen", dist.Normal(numpyro.sample("b", dist.Normal(0, 1)) * table["x"], 1), obs=y)


def n_field(x, y):
    spread = numpyro.sample("spread", dist.HalfNormal(1))
    numpyro.sample("seen", dist.MultivariateNormal(jnp.zeros(len(x)), spread * jnp.eye(len(x))), obs=y)


def n_names(x, names, y):
    numpyro.sample("seen", dist.Normal(sum(numpyro.sample(name, dist.Normal(0, 1)) * x for name in names), 1), obs=y)


def p_minibatch():
    with pm.Model() as written:
        pm.Normal("seen", pm.Normal("mu"), 1, observed=pm.Minibatch(Y, batch_size=5), total_size=N)
    return written


def p_plain():
    with pm.Model() as written:
        pm.Normal("seen", pm.Normal("mu"), 1, observed=Y)
    return written


def p_inside():
    with pm.Model() as written:
        pm.Normal("seen", pm.Normal("b") * X, 1, observed=pm.Data("y", Y))
    return written


def p_fixed_dimension():
    with pm.Model(coords={"row": range(N)}) as written:
        pm.Normal("seen", pm.Normal("b") * pm.Data("x", X), 1, observed=pm.Data("y", Y), dims="row")
    return written


def p_potential():
    with pm.Model() as written:
        pm.Potential("all", -(pm.Normal("mu") ** 2))
    return written


def test_a_program_may_reach_for_which_rows_count():
    counts = np.arange(N) % 2 == 0

    def program(x, y):
        mean = numpyro.sample("b", dist.Normal(0, 1)) * x
        with numpyro.plate("rows", N), numpyro.handlers.mask(mask=counts):
            numpyro.sample("seen", dist.Normal(mean, 1), obs=y)

    model, data = models.from_numpyro(program, X, np.where(counts, Y, np.nan))
    assert model.reading.covariates(data).keys() == data.keys()  # its own rows, with NaN where nothing was seen
    with pytest.raises(ValueError, match="reaches for an array"):
        model.reading.covariates(data | {"x": X + 1.0})


def some_seen(x, known, y=None):
    mean = numpyro.sample("b", dist.Normal(0, 1)) * x
    with numpyro.plate("rows", len(x)), numpyro.handlers.mask(mask=known):
        numpyro.sample("seen", dist.Normal(mean, 1), obs=y)


def lives(x, ended, y=None):
    scale = jnp.exp(numpyro.sample("b", dist.Normal(0, 1)) * x)
    with numpyro.plate("rows", len(x)):
        numpyro.sample("seen", dist.RightCensoredDistribution(dist.Weibull(scale, 1.5), ~ended), obs=y)


def failures(x, ended, y=None):
    rate = jnp.exp(numpyro.sample("b", dist.Normal(0, 1)) * x)
    numpyro.sample("seen", dist.RightCensoredDistribution(dist.Poisson(rate), ~ended), obs=y)


def pairs_seen(x, known, y=None):
    mean = numpyro.sample("b", dist.Normal(0, 1)) * x[:, None]
    numpyro.sample("seen", dist.Normal(mean, jnp.ones(2)).to_event(1).mask(known), obs=y)


def test_what_a_program_masks_counts_in_no_report():
    known, anything = np.arange(N) % 3 > 0, np.where(np.arange(N) % 2 > 0, -999.0, np.nan)
    result = use(models.from_numpyro(some_seen, X, known, np.where(known, Y, anything)))
    cost = (Y - np.asarray(result.plain.decisions)) ** 2
    assert result.train.baseline == pytest.approx(cost[known].mean(), rel=1e-5)
    model, data = models.from_numpyro(pairs_seen, X, known, np.column_stack([Y, Y]))
    assert model.reading.mask(data).tolist() == [[k, k] for k in known.tolist()]
    assert models.from_numpyro(lives, X, known, Y**2)[0].reading.mask is None


def test_a_report_on_bounds_says_that_they_are_bounds():
    with pytest.warns(lcvi.CalibrationWarning, match="seen is censored: .* a bound was seen"):
        result = use(models.from_numpyro(lives, X, np.arange(N) % 3 > 0, Y**2 + 0.1))
    assert "censored" in str(result)
    assert not models.from_numpyro(lives, X, np.ones(N, bool), Y**2 + 0.1)[0].reading.doubt


def test_what_is_censored_is_predicted_as_if_it_were_not():
    ended, b, y = np.arange(N) % 3 > 0, 0.3, np.arange(N) % 4
    assert not models.from_numpyro(lives, X, ended, Y**2 + 0.1)[0].reading.no_gradient  # a life is a smooth function of b
    model, data = models.from_numpyro(failures, X, ended, y)
    assert model.reading.values == (0, None)
    found = model.reading.log_prob(jnp.array([b]), data, jnp.asarray(y))
    np.testing.assert_allclose(found, stats.poisson.logpmf(y, np.exp(b * X)), rtol=1e-4, atol=1e-5)


def use(built, held_out=None, **chosen):
    model, data = built
    few = lcvi.Optimisation(steps=2, progress=False, **chosen)
    return lcvi.calibrate(KEY, model, data, decisions.squared(), held_out=held_out, optimisation=few)


def part(built):
    check_parts(*built)


SCHOOLS = models.Schools(jnp.array([28.0, 8.0, -3.0]), jnp.array([15.0, 10.0, 16.0]))
PAIR = models.Schools(*(a[:2] for a in SCHOOLS))
HAND = models.Model(1, lambda t: 0.0, no_sum, lambda key, t, d: t[0] + 0 * d, None)
FREE = models.linear_regression(1, 1.0, 1.0)
ROWS = models.Rows(jnp.ones((5, 1)), jnp.arange(5.0))
PLAIN = gradients.reparameterized(FREE, MEAN_FIELD, 1)
COLUMN = {"x": jnp.asarray(X[:3]), "y": jnp.asarray(Y[:3])}
ASIDE = {"x": X[:3, None], "group": GROUP[:3]}

BAD = [
    (lambda: gradients.take({"y": jnp.ones(30), "level": jnp.ones(4)}, jnp.arange(2)), "4 entries in level, 30 entries in y"),
    (lambda: gradients.take({"size": 3}, jnp.arange(2)), "no array with an entry for each row"),
    (lambda: gradients.take(models.Rows(jnp.ones((0, 1)), jnp.ones(0)), jnp.arange(2)), "data is empty"),
    (lambda: part((models.read_as(FREE, rows=("x", "z")), ROWS)), "data has no 'z'"),
    (lambda: models.read_as(FREE, row="x"), "row is no field of a Reading"),
    (lambda: part((models.eight_schools(schools=3), SCHOOLS)), "theta has 3 entries: an unknown for each row"),
    (lambda: part((models.eight_schools(schools=2), PAIR)), "theta has 2 entries: an unknown for each row"),
    (lambda: part(models.from_numpyro(n_schools, np.ones(6), np.arange(6.0))), "theta has 6 entries: an unknown for each row"),
    (lambda: part((HAND, jnp.arange(5.0))), "one row and the others have log likelihoods"),
    (lambda: part(models.from_numpyro(n_two_lengths, np.ones(6), np.ones(4))), "6 of first and 4 of second"),
    (lambda: part(models.from_numpyro(n_closed_over, Y)), "data cannot be taken in parts"),
    (lambda: part(models.from_pymc(p_plain())), "seen was observed as a plain array, so it keeps its shape"),
    # as many rows as the model's, and others: their own covariates would be ignored
    (lambda: use(models.from_pymc(p_plain()), held_out={"seen": Y + 1.0}), "seen was observed as a plain array"),
    (lambda: use(models.from_pymc(p_inside()), held_out={"y": Y + 1.0}), f"an array of {N} rows that is no pm.Data"),
    (lambda: use(models.from_pymc(p_inside()), held_out={"x": X + 1.0, "y": Y}), "the rows hold 'x', which is no pm.Data of the model"),
    (lambda: use(models.from_numpyro(n_closed_over, Y), held_out={"y": Y + 1.0}), f"an array of {N} rows that is no argument"),
    (lambda: part(models.from_pymc(p_fixed_dimension())), "data cannot be taken in parts"),
    (lambda: part((models.read_as(by_hand()[0], rows=("level", "a")), by_hand()[1])), "data has no 'a'"),
    (
        lambda: gradients.once(gradients.minibatch(PLAIN, 2), KEY, MEAN_FIELD.init(1), ROWS._replace(y=jnp.ones(4))),
        "5 entries in x, 4 entries in y",
    ),
    (
        lambda: isgd(models.eight_schools(schools=3), MEAN_FIELD, 2, subsample=Subsample(1)).init(KEY, MEAN_FIELD.init(5), SCHOOLS),
        "unknown for each row",
    ),
    (
        lambda: anchored(models.eight_schools(schools=3), MEAN_FIELD, 2, Subsample(1), every=5).init(KEY, MEAN_FIELD.init(5), SCHOOLS),
        "unknown for each row",
    ),
    (lambda: use(models.from_numpyro(n_schools, np.ones(6), np.arange(6.0)), batch=2), "unknown for each row"),
    (lambda: use(models.from_numpyro(n_made_up, X, Y)), "data holds no outcome that the model knows of"),
    (lambda: use((HAND, jnp.arange(5.0))), "data holds no outcome that the model knows of"),
    (lambda: use(from_numpyro(), held_out={"y": jnp.ones(3)}), "covariates holds y and not x"),
    (lambda: use(from_pymc(), held_out={"y": jnp.ones(3)}), "covariates holds y and not x"),
    (lambda: use(from_numpyro(), held_out={**COLUMN, "group": jnp.zeros(2, int)}), "3 in x and 2 in group"),
    (lambda: use((FREE, ROWS), held_out=ROWS._replace(y=jnp.ones(4))), r"held_out holds outcomes of shape \(4,\) and predict draws \(5,\)"),
    (lambda: use((FREE, ROWS), held_out=ROWS._replace(x=jnp.ones((5, 2)))), "held_out does not fit predict"),
    (lambda: from_numpyro()[0].predict(KEY, jnp.zeros(6), {"x": X[:3]}), "covariates holds x and not group"),
    (lambda: from_numpyro()[0].predict(KEY, jnp.zeros(6), {"x": None, "group": GROUP}), "covariates holds None for x"),
    (lambda: from_numpyro()[0].predict(KEY, jnp.zeros(6), {"x": 3.0, "group": GROUP}), "covariates holds 3.0 for x"),
    (lambda: from_numpyro()[0].predict(KEY, jnp.zeros(6), {"x": ["low"], "group": [0]}), "holds .*low.* for x; give an array of numbers"),
    # a column beside a row would be stretched to a square
    (lambda: from_numpyro()[0].predict(KEY, jnp.zeros(6), ASIDE), rf"holds x of shape \(3, 1\) where the data have \({N},\)"),
    (lambda: from_pymc()[0].predict(KEY, jnp.zeros(6), ASIDE), rf"holds x of shape \(3, 1\) where the data have \({N},\)"),
    (lambda: models.as_model(n_schools, {"sigma": X, "seen": Y}), "data are not the arguments of the program: .* argument 'seen'"),
    (lambda: models.as_model(n_two_lengths, {"y": Y}), "data are not the arguments of the program: .* argument: 'z'"),
    (lambda: use((FREE, ROWS), held_out=models.Rows(*(a[:1] for a in ROWS))), r"held_out holds 1 outcome\(s\) that count"),
    (
        lambda: models.from_numpyro(n_array_outside, GROUP, Y),
        "the program hands an array to NumPy.* write it with jax.numpy, or pass what comes",
    ),
    (lambda: models.from_numpyro(n_schools, np.array(["a", "b"]), Y[:2]), r"sigma holds values of type <U1, .* np.unique\(sigma,"),
    (lambda: models.from_numpyro(n_slope, ["a", "b"], Y[:2]), r"program fails on these data .* x is a list of words, .* np.unique\(x,"),
    (
        lambda: models.from_numpyro(n_slope, np.array([1.0, np.nan]), Y[:2]),
        "program fails on these data .* x holds what is no finite number",
    ),
    (lambda: models.from_numpyro(n_slope, X[:3], Y[:2]), "program fails on these data .* there are 3 entries in x, 2 entries in y"),
    (lambda: models.from_numpyro(n_schools, [[1.0], [2.0, 3.0]], Y[:2]), "sigma is no regular array of numbers"),
    (lambda: models.from_numpyro(n_schools, sparse.eye(2), Y[:2]), r"sigma is a sparse table; pass sigma.toarray\(\)"),
    (lambda: use(models.from_numpyro(n_field, X, Y)), "seen is one draw of MultivariateNormal for all rows"),
    (lambda: use(models.from_numpyro(n_two_lengths, np.ones(6), np.ones(4))), "draws several outcomes .*'second'.*give models.read_as"),
    (
        lambda: use(models.from_numpyro(n_schools, np.ones(6), np.arange(6.0))).decide({"sigma": np.ones(3)}),
        "other rows than the 6 that were fitted, and theta has an entry for each of these and none for new ones",
    ),
    (lambda: models.from_numpyro(n_improper, Y), "the program draws the site after mu from a distribution without a sampler"),
    (
        lambda: models.from_numpyro(n_direction, Y),
        r"the program draws direction from the support Sphere\(\), which NumPyro cannot map to unbounded numbers",
    ),
    (lambda: models.from_numpyro(n_factor, Y), "observes nothing but factors"),
    (lambda: models.from_numpyro(n_table, pd.DataFrame({"x": X}), Y), r"table is a table; .* table\['x'\]"),
    (lambda: models.from_numpyro(n_table, {"x": X, "n": 3}, Y), "table holds arrays and plain numbers"),
    (lambda: models.from_numpyro(n_schools, np.ma.masked_less(X, 0), Y), "sigma is a masked array"),
    (lambda: models.from_pymc(p_minibatch()), "model takes minibatches of seen itself"),
    (lambda: models.from_pymc(p_potential()), "model observes nothing but potentials"),
]


@pytest.mark.parametrize("part", ["x", "y"])
@pytest.mark.parametrize("name", ["data", "held_out"])
def test_what_is_no_number_is_named_before_the_first_step(name, part, monkeypatch):
    monkeypatch.setattr(lcvi.pipeline, "fit", lambda *_, **__: pytest.fail("a step was taken"))
    spoilt = {"data": ROWS, "held_out": ROWS}
    spoilt[name] = ROWS._replace(**{part: getattr(ROWS, part).at[3].set(jnp.nan)})
    found = {"y": "holds nan at position 3", "x": r"holds covariates from which predict draws nan, first at \(3,\)"}
    with pytest.raises(ValueError, match=f"^{name} {found[part]}"):
        use((FREE, spoilt["data"]), held_out=spoilt["held_out"])


def test_a_gradient_that_is_not_finite_comes_with_a_word_on_double_precision():
    with pytest.raises(NotFiniteError) as caught:
        use((FREE, ROWS), rate=1e30)
    assert "jax_enable_x64" in caught.value.__notes__[0]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_data_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_outcome_that_the_program_makes_from_an_array_is_not_taken_for_that_array():
    with pm.Model() as written:
        y = pm.Data("y", np.exp(Y))
        pm.Normal("seen", pm.Normal("b") * pm.Data("x", X), 1, observed=pm.math.log(y))
    model, data = models.from_pymc(written)
    assert model.reading.outcome(data) is None
    assert model.predict(KEY, jnp.zeros(1), {"x": X[:3]}).shape == (3,)
    with pm.Model() as counted:
        pm.Poisson("seen", pm.Gamma("rate", 2, 1), observed=pm.Data("y", np.arange(5)))
    model, data = models.from_pymc(counted)
    assert model.reading.outcome(data).tolist() == [0, 1, 2, 3, 4]


def test_a_long_series_is_no_sum_over_rows():
    y = jnp.asarray(RNG.normal(size=5000).cumsum())
    walk = models.Model(1, lambda t: 0.0, lambda t, d: jax.scipy.stats.norm.logpdf(jnp.diff(d, prepend=0.0)).sum() + 0 * t[0], None, None)
    with pytest.raises(ValueError, match="the likelihood is no sum over rows"):
        check_parts(walk, y)
    check_parts(models.normal_sample(), y)


def test_an_outcome_may_be_given_as_none():
    model, _ = from_numpyro()
    drawn = model.predict(KEY, jnp.zeros(6), {"x": X[:3], "group": GROUP[:3], "y": None})
    assert drawn.shape == (3,)


def test_what_a_program_raises_itself_comes_through():
    def unwritten(y):
        raise NotImplementedError("write it")

    with pytest.raises(NotImplementedError, match="write it"):
        models.from_numpyro(unwritten, Y)


def test_columns_lists_dictionaries_and_large_counts_are_data():
    for x in (X, X.tolist(), pd.Series(X)):
        model, data = models.from_numpyro(n_table, {"x": x}, pd.Series(Y))
        assert set(data) == {"table", "y"}
    assert np.allclose(gradients.take(data, jnp.arange(3), model.reading).rows["table"]["x"], X[:3])
    drawn = from_numpyro()[0].predict(KEY, jnp.zeros(6), {"x": [1.0, 2.0], "group": [0, 3]})
    assert drawn.shape == (2,)
    drawn = from_pymc()[0].predict(KEY, jnp.zeros(6), {"x": [1.0, 2.0], "group": [0, 3]})
    assert drawn.shape == (2,)
    model, data = models.from_numpyro(n_names, X, ["a", "b"], Y)  # words are no data, but an option
    assert (model.dim, set(data)) == (2, {"x", "y"})
    large = models.from_numpyro(scalar_outside_a_plate, X, np.full(N, 3_000_000_000))[1]["y"]
    assert np.allclose(large, 3e9)


@pytest.mark.parametrize("make", [from_numpyro, from_pymc])
def test_a_group_that_was_not_fitted_is_refused_and_not_taken_for_the_last(make):
    model, data = make()
    own, new = model.reading.covariates(data), {"x": X[:3], "level": LEVEL, "group": np.array([0, J - 1, J])}
    with pytest.raises(ValueError, match=f"asks for what was not fitted, such as a new group: index {J} is out of bounds.* make room"):
        check_indices("covariates", model, new, own)
    unknown = {**new, "group": np.array([0, J - 1, -1])}  # as pandas has it
    with pytest.raises(ValueError, match="asks for what was not fitted, such as a new group: a negative index, which counts from the end"):
        check_indices("covariates", model, unknown, own)
    alone = {**new, "group": np.zeros(3, int), "level": LEVEL[-1:]}  # a new group, which would be taken for the first
    with pytest.raises(ValueError, match=f"covariates has another number of entries in level, 1 for {J}, and .* has one for each"):
        check_indices("covariates", model, alone, own)
    check_indices("covariates", model, unknown, {**own, "group": GROUP - 1})
    check_indices("covariates", model, {**own, "x": np.round(10 * X).astype(int)}, own)  # negative, and nothing looked up by it
    check_indices("covariates", model, new, {**own, "group": GROUP + 1})  # what its own rows do, others may


def test_a_group_is_looked_up_by_floats_that_are_whole_numbers_too():
    with pm.Model() as written:
        group, y = pm.Data("group", 1.0 * GROUP), pm.Data("y", Y)
        pm.Normal("seen", pm.Normal("a", shape=J)[group.astype("int64")], 1, observed=y)
    model, data = models.from_pymc(written)
    own = model.reading.covariates(data)
    check_indices("covariates", model, {"group": np.arange(1.0 * J)}, own)
    for unknown, words in ((J, f"index {J} is out of bounds"), (-1, "a negative index")):
        with pytest.raises(ValueError, match=f"asks for what was not fitted, such as a new group: {words}"):
            check_indices("covariates", model, {"group": np.array([0.0, J - 1, unknown])}, own)


def test_counts_that_were_observed_are_looked_up_nowhere():
    """Of other whole numbers a draw is traced with checks, which takes seconds."""
    with pm.Model() as written:
        pm.Poisson("seen", pm.math.exp(pm.Normal("a") + pm.Data("x", X)), observed=pm.Data("y", np.arange(N)))
    (model, data), traced = models.from_pymc(written), []
    watched = model._replace(predict=lambda *given: traced.append(given) or model.predict(*given))
    assert (beyond(watched, data), traced) == ("", [])
    assert beyond(watched, {**data, "x": jnp.arange(N)}) == ""
    assert traced


def test_a_draw_that_jax_s_checker_cannot_follow_is_left_alone():
    def votes(table, sizes):
        share = numpyro.sample("share", dist.Dirichlet(jnp.ones(3)))
        numpyro.sample("seen", dist.DirichletMultinomial(4 * share, sizes), obs=table)

    model, data = models.from_numpyro(votes, np.array([[2, 1, 0], [1, 1, 1], [0, 4, 1]]), np.array([3, 3, 5]))
    covariates = model.reading.covariates(data)
    assert model.predict(KEY, jnp.zeros(model.dim), covariates).shape == (3, 3)
    check_indices("covariates", model, covariates, covariates)


@pytest.mark.filterwarnings("ignore::course_pkg.convergence.ConvergenceWarning")
def test_calibrate_says_so_of_held_out_rows_of_new_ones_and_of_groups_that_are_counted_from_1():
    rows = {"x": X, "level": LEVEL, "group": GROUP, "y": Y}
    hurry = lcvi.Optimisation(steps=30, samples=1, utility_samples=1, progress=False, tolerance=None)
    calibrate = lambda data, held_out=None: lcvi.calibrate(KEY, n_groups, data, decisions.absolute(), held_out=held_out, optimisation=hurry)
    beyond = {**rows, "group": GROUP + 1}
    with pytest.raises(ValueError, match=f"held_out asks for what was not fitted, such as a new group: index {J}"):
        calibrate(rows, beyond)
    with pytest.warns(lcvi.CalibrationWarning, match=f"beyond the end of an array.* index {J} is out of bounds.* count from 0"):
        found = calibrate(beyond)
    assert any("count from 0" in words for words in found.warnings)
    new = {"x": X[:1], "level": LEVEL, "group": [J]}
    model, data = models.as_model(n_groups, rows)
    fitted = found._replace(model=model, data=data)
    for ask in (fitted.decide, fitted.to_datatree):
        with pytest.raises(ValueError, match="covariates asks for what was not fitted"):
            ask(new)


@pytest.mark.filterwarnings("ignore::course_pkg.convergence.ConvergenceWarning")
def test_rows_that_are_taken_for_those_fitted_place_by_place_are_named():
    rows = {"sigma": np.ones(6), "y": np.arange(6.0)}
    hurry = lcvi.Optimisation(steps=2, samples=1, utility_samples=1, progress=False, tolerance=None)
    calibrate = lambda held_out: lcvi.calibrate(KEY, n_schools, rows, decisions.squared(), held_out=held_out, optimisation=hurry)
    with pytest.raises(ValueError, match="held_out are other rows than the 6 that were fitted, and theta has an entry for each"):
        calibrate({"sigma": np.ones(4), "y": np.arange(4.0)})
    words = "are as many rows as were fitted, 6, and theta has an entry for each of these: the first row was taken for the first"
    with pytest.warns(lcvi.CalibrationWarning, match=f"held_out {words}"):
        found = calibrate({"sigma": 2 * np.ones(6), "y": np.arange(6.0)})
    assert any(words in said for said in found.warnings)
    for sigma in (2 * np.ones(6), [2.0] * 6):
        with pytest.warns(lcvi.CalibrationWarning, match=f"covariates {words}"):
            found.decide({"sigma": sigma})
    with pytest.warns(lcvi.CalibrationWarning, match=f"covariates {words}"):
        found.to_datatree({"sigma": 2 * np.ones(6)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.decide({"sigma": np.ones(6)})  # the fitted units themselves

    def looked_up(group, x, y=None):
        with numpyro.plate("groups", 6):
            a = numpyro.sample("a", dist.Normal(0, 1))
        with numpyro.plate("rows", len(x)):
            numpyro.sample("y", dist.Normal(a[group] + x, 1), obs=y)

    model, data = models.from_numpyro(looked_up, np.arange(6), np.ones(6), y=np.arange(6.0))
    assert not lcvi.result.same_units("covariates", model, data, {**data, "x": np.zeros(6)})
