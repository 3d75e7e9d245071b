"""Programs in NumPyro of the kinds that people write, each as small as it can be."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.scipy.special import logsumexp
from numpyro import distributions as dist
from numpyro.contrib.control_flow import scan
from numpyro.distributions import constraints, transforms
from numpyro.handlers import condition, mask, reparam, scale
from numpyro.infer.reparam import LocScaleReparam, TransformReparam
from numpyro.primitives import plate, plate_stack, sample

from tests.gallery import simulated as s

EXAMPLES, example = s.gallery()
REGRESSION = {"x": s.X, "y": s.Y}
GROUPED = {"x": s.X[:, 0], "group": s.GROUP, "y": s.Y}
A_ROW = "an unknown for each row"
NO_SUM = "the likelihood is no sum over rows"


# --- regression: one row, one outcome -----------------------------------------------------------------------------


@example(REGRESSION)
def robust_regression(x, y):
    b, sigma = sample("b", dist.Normal(0, 2).expand([2]).to_event(1)), sample("sigma", dist.HalfCauchy(1.0))
    nu = sample("nu", dist.Gamma(2.0, 0.1))
    with plate("rows", len(x)):
        sample("seen", dist.StudentT(nu, x @ b, sigma), obs=y)


@example(REGRESSION)
def heteroscedastic(x, y):
    b, c = sample("b", dist.Normal(jnp.zeros(2), 1.0)), sample("c", dist.Normal(jnp.zeros(2), 0.5))
    sample("seen", dist.Normal(x @ b, jnp.exp(x @ c)), obs=y)


@example(REGRESSION)
def median_regression(x, y):
    b, sigma = sample("b", dist.Laplace(jnp.zeros(2), 1.0)), sample("sigma", dist.Exponential(1.0))
    sample("seen", dist.AsymmetricLaplaceQuantile(x @ b, sigma, 0.3), obs=y)


@example({"x": s.X, "y": s.BINARY.astype(float)})
def probit(x, y):
    b = sample("b", dist.Normal(0, 2).expand([2]))
    sample("seen", dist.Bernoulli(probs=jax.scipy.stats.norm.cdf(x @ b)), obs=y)


@example({"x": s.X, "trials": s.TRIALS, "y": s.HITS})
def binomial_regression(x, trials, y):
    b = sample("b", dist.Normal(0, 2).expand([2]))
    sample("seen", dist.Binomial(trials, logits=x @ b), obs=y)


@example({"trials": s.TRIALS, "y": s.HITS})
def overdispersed_trials(trials, y):
    share, size = sample("share", dist.Beta(2.0, 2.0)), sample("size", dist.LogNormal(1.0, 1.0))
    sample("seen", dist.BetaBinomial(share * size, (1 - share) * size, trials), obs=y)


@example({"x": s.X, "exposure": s.EXPOSURE, "y": s.COUNT})
def counts_with_exposure(x, exposure, y):
    b, size = sample("b", dist.Normal(0, 1).expand([2])), sample("size", dist.Exponential(1.0))
    sample("seen", dist.NegativeBinomial2(exposure * jnp.exp(x @ b), size), obs=y)


@example({"x": s.X, "y": s.ZEROS})
def zero_inflated(x, y):
    b, gate = sample("b", dist.Normal(0, 1).expand([2])), sample("gate", dist.Beta(1.0, 1.0))
    sample("seen", dist.ZeroInflatedPoisson(gate, rate=jnp.exp(x @ b)), obs=y)


@example({"x": s.X, "y": s.ZEROS})
def hurdle(x, y):
    b, zero = sample("b", dist.Normal(0, 1).expand([2])), sample("zero", dist.Uniform(0, 1))
    sample("seen", dist.HurdlePoisson(gate=zero, rate=jnp.exp(x @ b)), obs=y)


@example({"x": s.X, "y": s.POSITIVE})
def gamma_regression(x, y):
    b, shape = sample("b", dist.Normal(0, 1).expand([2])), sample("shape", dist.HalfNormal(3.0))
    sample("seen", dist.Gamma(shape, shape * jnp.exp(-x @ b)), obs=y)


@example({"x": s.X, "y": s.SHARE})
def beta_regression(x, y):
    b, size = sample("b", dist.Normal(0, 1).expand([2])), sample("size", dist.LogNormal(2.0, 0.5))
    sample("seen", dist.BetaProportion(jax.nn.sigmoid(x @ b), size), obs=y)


@example({"x": s.X, "y": s.ANGLE})
def directions(x, y):
    b, kappa = sample("b", dist.Normal(0, 1).expand([2])), sample("kappa", dist.Gamma(2.0, 1.0))
    sample("seen", dist.VonMises(2 * jnp.arctan(x @ b), kappa), obs=y)


@example({"x": s.X, "y": s.GRADE})
def ordinal(x, y):
    cuts = sample("cuts", dist.TransformedDistribution(dist.Normal(0, 1).expand([2]), transforms.OrderedTransform()))
    b = sample("b", dist.Normal(0, 1).expand([2]))
    sample("seen", dist.OrderedLogistic(x @ b, cuts), obs=y)


@example({"x": s.X, "y": s.KIND})
def softmax_regression(x, y):
    w = sample("w", dist.Normal(0, 1).expand([2, 3]).to_event(2))
    sample("seen", dist.Categorical(logits=x @ w), obs=y)


@example({"grade": s.GRADE, "y": s.Y})
def monotone_effect(grade, y):
    steps, slope = sample("steps", dist.Dirichlet(jnp.ones(2))), sample("slope", dist.Normal(0, 2))
    effect = slope * jnp.concatenate([jnp.zeros(1), jnp.cumsum(steps)])
    sample("seen", dist.Normal(effect[grade], 1.0), obs=y)


@example({"x": s.X, "y": s.PAIR})
def seemingly_unrelated(x, y):
    w = sample("w", dist.Normal(0, 1).expand([2, 2]).to_event(2))
    corner, sd = sample("corner", dist.LKJCholesky(2, 2.0)), sample("sd", dist.HalfNormal(1.0).expand([2]))
    sample("seen", dist.MultivariateNormal(x @ w, scale_tril=sd[:, None] * corner), obs=y)


@example({"x": s.X, "weight": s.PAIR[:, 0], "height": s.PAIR[:, 1]}, outcome=None)
def two_outcomes_of_one_row(x, weight, height):
    b = sample("b", dist.Normal(0, 1).expand([2, 2]))
    with plate("people", len(x)):
        sample("heavy", dist.Normal(x @ b[0], 1), obs=weight)
        sample("tall", dist.Normal(x @ b[1], 1), obs=height)


@example({"x": s.X, "y": s.Y, "hidden": 3}, rows="x y")
def neural_network(x, y, hidden):
    w = sample("w", dist.Normal(0, 1).expand([2, hidden]).to_event(2))
    v = sample("v", dist.Normal(0, 1).expand([hidden]).to_event(1))
    sample("seen", dist.Normal(jnp.tanh(x @ w) @ v, 0.5), obs=y)


@example(REGRESSION)
def horseshoe(x, y):
    tau = sample("tau", dist.HalfCauchy(1.0))
    local = sample("local", dist.HalfCauchy(jnp.ones(2)))
    z = sample("z", dist.Normal(jnp.zeros(2), 1.0))
    sample("seen", dist.Normal(x @ numpyro.deterministic("b", tau * local * z), 1.0), obs=y)


@example(REGRESSION)
def regularised_horseshoe(x, y):
    tau, slab = sample("tau", dist.HalfCauchy(0.1)), sample("slab", dist.InverseGamma(2.0, 2.0))
    local = sample("local", dist.HalfCauchy(1.0).expand([2]))
    shrunk = tau * jnp.sqrt(slab) * local / jnp.sqrt(slab + tau**2 * local**2)
    b = sample("b", dist.Normal(0.0, shrunk))
    sample("seen", dist.Normal(x @ b, sample("sigma", dist.HalfNormal(1.0))), obs=y)


@example({"basis": np.vander(s.TIME, 4), "y": s.Y})
def penalised_spline(basis, y):
    smooth = sample("smooth", dist.Exponential(1.0))
    w = sample("w", dist.GaussianRandomWalk(smooth, num_steps=4))
    sample("seen", dist.Normal(basis @ w, 0.5), obs=y)


@example({"time": s.TIME, "y": s.Y, "terms": 2}, rows="time y")
def trend_and_seasons(time, y, terms):
    turns = 2 * jnp.pi * time[:, None] * jnp.arange(1, terms + 1)
    waves = jnp.concatenate([jnp.sin(turns), jnp.cos(turns)], axis=1)
    slope, w = sample("slope", dist.Normal(0, 1)), sample("w", dist.Normal(0, 1).expand([2 * terms]))
    sample("seen", dist.Normal(slope * time + waves @ w, 0.5), obs=y)


@example({"table": {"x": s.X, "z": s.TIME}, "y": s.Y})
def dictionary_of_covariates(table, y):
    b, c = sample("b", dist.Normal(0, 1).expand([2])), sample("c", dist.Normal(0, 1))
    sample("seen", dist.Normal(table["x"] @ b + c * table["z"], 1.0), obs=y)


# --- groups ---------------------------------------------------------------------------------------------------------


@example({**GROUPED, "level": s.LEVEL}, rows="x group y", whole="level")
def group_covariate(x, group, level, y):
    c, spread = sample("c", dist.Normal(0, 1)), sample("spread", dist.HalfNormal(1.0))
    with plate("groups", len(level)):
        a = sample("a", dist.Normal(c * level, spread))
    with plate("rows", len(x)):
        sample("seen", dist.Normal(a[group] + x, 1.0), obs=y)


@example({**GROUPED, "groups": s.G}, rows="x group y")
def varying_slopes(x, group, groups, y):
    sd, corner = sample("sd", dist.Exponential(1.0).expand([2])), sample("corner", dist.LKJCholesky(2, 1.0))
    with plate("groups", groups):
        line = sample("line", dist.MultivariateNormal(jnp.zeros(2), scale_tril=sd[:, None] * corner))
    with plate("rows", len(x)):
        sample("seen", dist.Normal(line[group, 0] + line[group, 1] * x, 1.0), obs=y)


def centred(x, group, groups, y):
    spread = sample("spread", dist.HalfNormal(1.0))
    with plate("groups", groups):
        a = sample("a", dist.Normal(0.0, spread))
    sample("seen", dist.Normal(a[group] + x, 1.0), obs=y)


@example({**GROUPED, "groups": s.G}, rows="x group y")
def reparameterised(x, group, groups, y):
    reparam(centred, config={"a": LocScaleReparam(0)})(x, group, groups, y)


@example({"street": s.GROUP, "city": np.array([0, 0, 1]), "y": s.Y}, rows="street y", whole="city")
def nested_groups(street, city, y):
    above = sample("above", dist.Normal(0, 1).expand([2]))
    with plate("streets", len(city)):
        a = sample("a", dist.Normal(above[city], 0.5))
    sample("seen", dist.Normal(a[street], 1.0), obs=y)


@example({"person": s.GROUP, "item": s.KIND, "y": s.BINARY})
def item_response(person, item, y):
    ability, ease = sample("ability", dist.Normal(0, 1).expand([3])), sample("ease", dist.Normal(0, 1).expand([3]))
    sharp = sample("sharp", dist.LogNormal(0.0, 0.5).expand([3]))
    sample("seen", dist.Bernoulli(logits=sharp[item] * (ability[person] + ease[item])), obs=y)


@example({"first": s.GROUP, "second": (s.GROUP + 1) % s.G, "y": s.BINARY})
def paired_comparisons(first, second, y):
    skill = sample("skill", dist.ZeroSumNormal(1.0, event_shape=(3,)))
    sample("seen", dist.Bernoulli(logits=skill[first] - skill[second]), obs=y)


@example({"y": s.X})
def rows_and_columns(y):
    with plate("columns", 2, dim=-1):
        column = sample("column", dist.Normal(0, 1))
    with plate_stack("cells", y.shape):
        sample("seen", dist.Normal(column, 1.0), obs=y)


@example({"treated": s.BINARY, "y": s.Y})
def two_groups_of_a_trial(treated, y):
    with plate("arms", 2):
        mu, sigma = sample("mu", dist.Normal(0, 2)), sample("sigma", dist.Uniform(0.1, 10.0))
    nu = sample("nu", dist.TransformedDistribution(dist.Exponential(1 / 29), transforms.AffineTransform(1.0, 1.0, constraints.positive)))
    sample("seen", dist.StudentT(nu, mu[treated], sigma[treated]), obs=y)


@example({"table": s.VOTES, "sizes": s.VOTES.sum(1)}, outcome="table")
def votes_of_districts(table, sizes):
    concentration = sample("concentration", dist.Gamma(2.0, 0.5).expand([3]).to_event(1))
    sample("seen", dist.DirichletMultinomial(concentration, sizes), obs=table)


# --- mixtures, censoring, missing values --------------------------------------------------------------------------


@example({"y": s.Y})
def mixture_of_two_kinds(y):
    weights, df = sample("weights", dist.Dirichlet(jnp.ones(2))), sample("df", dist.Gamma(2.0, 0.1))
    kinds = [dist.Normal(sample("mu", dist.Normal(0, 1)), 1.0), dist.StudentT(df, 0.0, 3.0)]
    sample("seen", dist.MixtureGeneral(dist.Categorical(weights), kinds), obs=y)


@example(REGRESSION)
def mixture_of_regressions(x, y):
    weights, b = sample("weights", dist.Dirichlet(jnp.ones(2))), sample("b", dist.Normal(0, 2).expand([2, 2]).to_event(2))
    with plate("rows", len(x)):
        sample("seen", dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(x @ b, 1.0)), obs=y)


@example({"y": s.COUNT}, apart="data cannot be taken in parts", together=True)
def change_point(y):
    early, late = sample("early", dist.Exponential(1.0)), sample("late", dist.Exponential(1.0))
    moments = jnp.arange(1, len(y))
    rates = jnp.where(jnp.arange(len(y)) < moments[:, None], early, late)
    mixed = dist.Independent(dist.Poisson(rates), 1)
    sample("seen", dist.MixtureSameFamily(dist.Categorical(jnp.ones(len(moments)) / len(moments)), mixed), obs=y)


@example({"x": s.X, "y": s.POSITIVE, "event": s.SEEN})
def survival_by_two_sites(x, y, event):
    b, shape = sample("b", dist.Normal(0, 1).expand([2])), sample("shape", dist.Gamma(2.0, 2.0))
    life = dist.Weibull(jnp.exp(x @ b), shape)
    with mask(mask=event):
        sample("died", life, obs=y)
    survives = -((y / jnp.exp(x @ b)) ** shape)
    numpyro.factor("lived", jnp.where(event, 0.0, survives))


@example({"x": s.X, "y": s.POSITIVE, "alive": ~s.SEEN})
def survival_by_a_censored_distribution(x, y, alive):
    b, shape = sample("b", dist.Normal(0, 1).expand([2])), sample("shape", dist.Gamma(2.0, 2.0))
    sample("seen", dist.RightCensoredDistribution(dist.Weibull(jnp.exp(x @ b), shape), alive), obs=y)


@example({"y": s.POSITIVE})
def truncated_outcome(y):
    loc, sd = sample("loc", dist.Normal(0, 1)), sample("sd", dist.HalfNormal(1.0))
    with plate("rows", len(y)):
        sample("seen", dist.TruncatedNormal(loc, sd, low=0.0), obs=y)


@example({"x": s.X, "y": s.Y, "known": s.SEEN})
def missing_outcomes_masked(x, y, known):
    b = sample("b", dist.Normal(0, 1).expand([2]))
    with mask(mask=known):
        sample("seen", dist.Normal(x @ b, 1.0), obs=y)


@example({"x": s.X[:, 0], "where": np.flatnonzero(~s.SEEN), "y": s.Y}, rows="x y", whole="where", apart="data cannot be taken in parts")
def missing_covariates(x, where, y):
    absent = sample("absent", dist.Normal(0, 1).expand([len(where)]))
    b = sample("b", dist.Normal(0, 1))
    sample("seen", dist.Normal(b * jnp.asarray(x).at[where].set(absent), 1.0), obs=y)


@example({"x": s.X, "y": s.Y, "known": s.SEEN}, apart=A_ROW)
def missing_outcomes_imputed(x, y, known):
    b = sample("b", dist.Normal(0, 1).expand([2]))
    with plate("rows", len(x)):
        sample("seen", dist.Normal(x @ b, 1.0), obs=y, obs_mask=known)


@example({"x": s.X[:, 0], "y": s.Y}, outcome=None, apart=A_ROW)
def measurement_error(x, y):
    b = sample("b", dist.Normal(0, 1))
    with plate("rows", len(x)):
        truth = sample("truth", dist.Normal(0, 1))
        sample("measured", dist.Normal(truth, 0.3), obs=x)
        sample("seen", dist.Normal(b * truth, 0.5), obs=y)


# --- time and space ---------------------------------------------------------------------------------------------------


@example({"y": s.SERIES}, rows="", whole="y", outcome=None, apart="no array with an entry for each row")
def autoregression(y):
    phi, sigma = sample("phi", dist.Uniform(-1, 1)), sample("sigma", dist.HalfNormal(1.0))
    sample("seen", dist.Normal(phi * y[:-1], sigma), obs=y[1:])


@example({"before": s.SERIES[:-1], "y": s.SERIES[1:]})
def autoregression_by_pairs(before, y):
    phi, sigma = sample("phi", dist.Uniform(-1, 1)), sample("sigma", dist.HalfNormal(1.0))
    sample("seen", dist.Normal(phi * before, sigma), obs=y)


@example({"y": s.SERIES}, apart=NO_SUM, together=True)
def random_walk_outcome(y):
    sample("seen", dist.GaussianRandomWalk(sample("step", dist.HalfNormal(1.0)), num_steps=len(y)), obs=y)


@example({"y": s.SERIES}, apart=A_ROW)
def local_level(y):
    drift, noise = sample("drift", dist.HalfNormal(1.0)), sample("noise", dist.HalfNormal(1.0))
    level = sample("level", dist.GaussianRandomWalk(drift, num_steps=len(y)))
    sample("seen", dist.Normal(level, noise), obs=y)


@example({"y": s.SERIES}, apart=A_ROW)
def stochastic_volatility(y):
    nu = sample("nu", dist.Exponential(0.1))
    with numpyro.handlers.reparam(config={"steps": TransformReparam()}):
        steps = sample("steps", dist.TransformedDistribution(dist.Normal(jnp.zeros(len(y)), 1), transforms.AffineTransform(0.0, 0.1)))
    sample("seen", dist.StudentT(nu + 1.0, 0.0, jnp.exp(jnp.cumsum(steps))), obs=y)


@example({"y": s.SERIES}, apart=A_ROW)
def local_level_by_scan(y):
    drift = sample("drift", dist.HalfNormal(1.0))

    def step(level, outcome):
        level = sample("level", dist.Normal(level, drift))
        sample("seen", dist.Normal(level, 1.0), obs=outcome)
        return level, level

    scan(step, 0.0, y)


@example({"y": s.SERIES}, apart=NO_SUM)
def exponential_smoothing(y):
    alpha, sigma = sample("alpha", dist.Beta(2.0, 2.0)), sample("sigma", dist.HalfNormal(1.0))
    level = lambda before, new: (before + alpha * (new - before), before)
    _, forecast = jax.lax.scan(level, 0.0, y)
    sample("seen", dist.Normal(forecast, sigma), obs=y)


@example({"time": s.TIME, "y": s.Y}, apart=NO_SUM, together=True)
def gaussian_process(time, y):
    length, height = sample("length", dist.InverseGamma(3.0, 1.0)), sample("height", dist.HalfNormal(1.0))
    cover = height**2 * jnp.exp(-0.5 * ((time[:, None] - time) / length) ** 2) + 0.1 * jnp.eye(len(time))
    sample("seen", dist.MultivariateNormal(jnp.zeros(len(time)), cover), obs=y)


@example({"time": s.TIME, "y": s.COUNT}, apart=A_ROW)
def latent_gaussian_process(time, y):
    length = sample("length", dist.InverseGamma(3.0, 1.0))
    cover = jnp.exp(-jnp.abs(time[:, None] - time) / length) + 1e-6 * jnp.eye(len(time))
    z = sample("z", dist.Normal(0, 1).expand([len(time)]))
    sample("seen", dist.Poisson(jnp.exp(jnp.linalg.cholesky(cover) @ z)), obs=y)


@example({"time": s.TIME, "y": s.Y, "m": 4}, rows="time y")
def hilbert_space_process(time, y, m):
    length, w = sample("length", dist.InverseGamma(3.0, 1.0)), sample("w", dist.Normal(0, 1).expand([m]))
    roots = jnp.arange(1, m + 1) * jnp.pi / 3.0
    waves = jnp.sin(roots * (time[:, None] + 0.5)) * jnp.exp(-0.25 * (length * roots) ** 2)
    sample("seen", dist.Normal(waves @ w, 0.5), obs=y)


@example({"near": np.eye(s.N, k=1) + np.eye(s.N, k=-1), "y": s.COUNT}, rows="near y", apart="data cannot be taken in parts")
def neighbours(near, y):
    strength = sample("strength", dist.Uniform(0, 1))
    field = sample("field", dist.CAR(0.0, strength, 1.0, near))
    sample("seen", dist.Poisson(jnp.exp(field)), obs=y)


@example({"y": np.exp(0.1 * s.PAIR), "dt": 0.1}, rows="y", apart=NO_SUM)
def predator_and_prey(y, dt):
    rates = sample("rates", dist.LogNormal(0.0, 0.3).expand([4]))

    def euler(z, _):
        growth = jnp.array([rates[0] - rates[1] * z[1], -rates[2] + rates[3] * z[0]])
        return z * jnp.exp(dt * growth), z

    _, path = jax.lax.scan(euler, jnp.ones(2), None, length=len(y))
    sample("seen", dist.LogNormal(jnp.log(path), 0.3), obs=y)


@example({"y": s.SERIES, "ahead": 3}, rows="y", apart=NO_SUM)
def unobserved_trend(y, ahead):
    rate, noise = sample("rate", dist.Normal(0, 1)), sample("noise", dist.HalfNormal(1.0))
    numpyro.deterministic("forecast", rate * (len(y) + jnp.arange(ahead)))
    sample("seen", dist.Normal(rate * jnp.arange(len(y)), noise), obs=y)


# --- matrices ---------------------------------------------------------------------------------------------------------


@example({"y": s.PAIR})
def factor_analysis(y):
    loadings, noise = sample("loadings", dist.Normal(0, 1).expand([2, 1]).to_event(2)), sample("noise", dist.HalfNormal(1.0).expand([2]))
    sample("seen", dist.LowRankMultivariateNormal(jnp.zeros(2), loadings, noise), obs=y)


@example({"y": s.PAIR}, apart=A_ROW)
def principal_components(y):
    w = sample("w", dist.Normal(0, 1).expand([1, 2]).to_event(2))
    with plate("rows", len(y)):
        z = sample("z", dist.Normal(0, 1).expand([1]).to_event(1))
        sample("seen", dist.Normal(z @ w, 0.5).to_event(1), obs=y)


@example({"y": s.PAIR})
def covariance_itself(y):
    root = sample("root", dist.WishartCholesky(4.0, scale_tril=jnp.eye(2)))
    sample("seen", dist.MultivariateNormal(jnp.zeros(2), scale_tril=root), obs=y)


@example({"row": s.GROUP, "column": s.KIND, "y": s.Y, "rank": 2}, rows="row column y")
def factorised_matrix(row, column, y, rank):
    u, v = sample("u", dist.Normal(0, 1).expand([3, rank])), sample("v", dist.Normal(0, 1).expand([3, rank]))
    sample("seen", dist.Normal((u[row] * v[column]).sum(-1), 0.5), obs=y)


# --- ways of writing and calling ----------------------------------------------------------------------------------------


def any_size(size, x, y):
    b = sample("b", dist.Normal(0, 1).expand([size]))
    sample("seen", dist.Normal(x @ b, 1.0), obs=y)


def put(name, program, arguments, **said):
    """What is no plain function, under a name of its own."""
    program.__name__ = name
    example(arguments, **said)(program)


put("partial_of_a_program", partial(any_size, 2), REGRESSION)
put("handler_around_a_program", reparam(centred, config={"a": LocScaleReparam(0)}), {**GROUPED, "groups": s.G}, rows="x group y")
put(
    "conditioned",
    condition(any_size, {"seen": s.Y}),
    {"size": 2, "x": s.X, "y": None},
    rows="x",
    outcome=None,
    apart="cannot be taken in parts",
)


@example({"x": s.X, "y": s.Y, "weights": s.EXPOSURE})
def weighted_rows(x, y, weights):
    b = sample("b", dist.Normal(0, 1).expand([2]))
    with scale(scale=weights):
        sample("seen", dist.Normal(x @ b, 1.0), obs=y)


@example({"x": s.X[:, 0].tolist(), "y": s.Y.tolist()})
def plain_lists(x, y):
    sample("seen", dist.Normal(sample("b", dist.Normal(0, 1)) * jnp.asarray(x), 1.0), obs=jnp.asarray(y))


@example({"data": s.PAIR}, outcome=None)
def columns_of_one_table(data):
    sample("seen", dist.Normal(sample("b", dist.Normal(0, 1)) * data[:, 0], 1.0), obs=data[:, 1])


@example({"y": s.POSITIVE}, outcome=None)
def transformed_inside(y):
    sample("seen", dist.Normal(sample("mu", dist.Normal(0, 1)), 1.0), obs=jnp.log(y))


@example({"y": s.Y})
def improper_with_a_value(y):
    mu = sample("mu", dist.Normal(0, 10).mask(False))
    sample("seen", dist.Normal(mu, 1.0), obs=y)


# --- what is refused ----------------------------------------------------------------------------------------------------


@example({"y": s.Y}, refused="discrete site kind; sum it out")
def mixture_with_labels(y):
    mu = sample("mu", dist.Normal(0, 1).expand([2]))
    with plate("rows", len(y)):
        kind = sample("kind", dist.Categorical(jnp.ones(2) / 2))
        sample("seen", dist.Normal(mu[kind], 1.0), obs=y)


@example(REGRESSION, refused="subsamples the plate rows; pass all rows")
def minibatches_of_its_own(x, y):
    b = sample("b", dist.Normal(0, 1).expand([2]))
    with plate("rows", len(y), subsample_size=4) as rows:
        sample("seen", dist.Normal(x[rows] @ b, 1.0), obs=y[rows])


@example({"y": s.Y}, refused="parameter centre, which has no prior; give it one")
def empirical_bayes(y):
    mu = sample("mu", dist.Normal(numpyro.param("centre", 0.0), 1.0))
    sample("seen", dist.Normal(mu, 1.0), obs=y)


@example({"width": 3.0}, refused="observes nothing; pass the outcome")
def funnel(width):
    sample("x", dist.Normal(0, jnp.exp(sample("v", dist.Normal(0, width)) / 2)))


@example({"y": s.BINARY}, refused="observes nothing but factors")
def hidden_markov_chain(y):
    stay = sample("stay", dist.Beta(4.0, 1.0))
    move = jnp.log(jnp.array([[stay, 1 - stay], [1 - stay, stay]]))
    emit = jnp.log(jnp.array([[0.9, 0.1], [0.2, 0.8]]))
    forward = lambda alpha, seen: (logsumexp(alpha[:, None] + move, axis=0) + emit[:, seen], None)
    alpha, _ = jax.lax.scan(forward, emit[:, y[0]], y[1:])
    numpyro.factor("seen", logsumexp(alpha))


@example({"group": s.GROUP, "y": s.Y}, refused="hands an array to NumPy.* a size that comes from the values")
def size_by_unique(group, y):
    a = sample("a", dist.Normal(0, 1).expand([len(np.unique(group))]))
    sample("seen", dist.Normal(a[group], 1.0), obs=y)


@example({"group": s.GROUP, "y": s.Y}, refused="hands an array to NumPy.* a size that comes from the values")
def size_by_maximum(group, y):
    a = sample("a", dist.Normal(0, 1).expand([np.asarray(group).max() + 1]))
    sample("seen", dist.Normal(a[group], 1.0), obs=y)


@example({"y": s.Y}, refused="from the values of an array; pass it as a plain number")
def branch_on_values(y):
    mu = sample("mu", dist.Normal(0, 1))
    sample("seen", dist.Normal(mu, 2.0 if y.max() > 1 else 1.0), obs=y)


@example({"x": s.X, "y": s.Y, "known": s.SEEN}, refused="picks rows by an array of booleans; pass the rows alone")
def rows_left_out_by_a_mask(x, y, known):
    b = sample("b", dist.Normal(0, 1).expand([2]))
    sample("seen", dist.Normal(x[known] @ b, 1.0), obs=y[known])


@example({"y": s.POSITIVE}, refused="distribution without a sampler; use a proper one")
def improper_prior(y):
    sd = sample("sd", dist.ImproperUniform(constraints.positive, (), ()))
    sample("seen", dist.Normal(0.0, sd), obs=y)


@example({"y": s.Y}, refused="cannot map to unbounded numbers; write it in other coordinates")
def unit_vector(y):
    direction = sample("direction", dist.ProjectedNormal(jnp.ones(2)))
    sample("seen", dist.Normal(direction[0], 1.0), obs=y)


@example({"y": np.ma.masked_less(s.Y, 0.0)}, refused="y is a masked array")
def masked_outcome(y):
    sample("seen", dist.Normal(sample("mu", dist.Normal(0, 1)), 1.0), obs=y)


@example({"y": s.Y}, refused="the program has no unknown")
def nothing_unknown(y):
    sample("seen", dist.Normal(0.0, 1.0), obs=y)
