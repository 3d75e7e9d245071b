"""Models in PyMC of the kinds that people write, each as small as it can be."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions.transforms import ordered

from tests.gallery import simulated as s

EXAMPLES, example = s.gallery()
A_ROW = "an unknown for each row"
IN_PARTS = "data cannot be taken in parts"
NO_SUM = "the likelihood is no sum over rows"
PLAIN = "was observed as a plain array"
ROW = {"coords": {"row": range(s.N)}}


def model_of(**options):
    """Turns a function that declares variables into one that makes the model."""

    def declare(build):
        def made():
            with pm.Model(**options) as model:
                build()
            return model

        made.__name__ = build.__name__
        return made

    return declare


def regression(x=s.X, y=s.Y, dims=None):
    """Covariates, outcome and coefficients."""
    x = pm.Data("x", x, dims=(dims, None) if dims else None)
    return x @ pm.Normal("b", 0, 1, shape=2), pm.Data("y", y, dims=dims)


# --- regression: one row, one outcome -----------------------------------------------------------------------------


@example(rows="x y")
@model_of(**ROW)
def robust_regression():
    mean, y = regression(dims="row")
    pm.StudentT("seen", nu=pm.Gamma("nu", 2, 0.1), mu=mean, sigma=pm.HalfCauchy("sigma", 1), observed=y, dims="row")


@example(rows="x y")
@model_of()
def heteroscedastic():
    x, y = pm.Data("x", s.X), pm.Data("y", s.Y)
    b, c = pm.Normal("b", 0, 1, shape=2), pm.Normal("c", 0, 0.5, shape=2)
    pm.Normal("seen", x @ b, pm.math.exp(x @ c), observed=y)


@example(rows="x y")
@model_of()
def median_regression():
    mean, y = regression()
    pm.AsymmetricLaplace("seen", kappa=0.7, mu=mean, b=pm.Exponential("scale", 1), observed=y)


@example(rows="x y", draws=False)
@model_of()
def skewed_errors():
    mean, y = regression()
    pm.SkewNormal("seen", mu=mean, sigma=pm.HalfNormal("sigma", 1), alpha=pm.Normal("alpha", 0, 2), observed=y)


@example(rows="x y", draws=False)
@model_of()
def reaction_times():
    mean, y = regression(y=s.POSITIVE)
    pm.Wald("seen", mu=pm.math.exp(mean), lam=pm.HalfNormal("lam", 2), observed=y)


@example(rows="x y")
@model_of()
def probit():
    mean, y = regression(y=s.BINARY)
    pm.Bernoulli("seen", p=pm.math.invprobit(mean), observed=y)


@example(rows="x trials y")
@model_of()
def binomial_regression():
    mean, y = regression(y=s.HITS)
    pm.Binomial("seen", n=pm.Data("trials", s.TRIALS), logit_p=mean, observed=y)


@example(rows="trials y")
@model_of()
def overdispersed_trials():
    share, size = pm.Beta("share", 2, 2), pm.LogNormal("size", 1, 1)
    trials, y = pm.Data("trials", s.TRIALS), pm.Data("y", s.HITS)
    pm.BetaBinomial("seen", alpha=share * size, beta=(1 - share) * size, n=trials, observed=y)


@example(rows="x exposure y")
@model_of()
def counts_with_exposure():
    mean, y = regression(y=s.COUNT)
    pm.NegativeBinomial("seen", mu=pm.Data("exposure", s.EXPOSURE) * pm.math.exp(mean), alpha=pm.Exponential("size", 1), observed=y)


@example(rows="x y")
@model_of()
def zero_inflated():
    mean, y = regression(y=s.ZEROS)
    pm.ZeroInflatedPoisson("seen", psi=pm.Beta("psi", 1, 1), mu=pm.math.exp(mean), observed=y)


@example(rows="x y", draws=False)
@model_of()
def hurdle():
    mean, y = regression(y=s.ZEROS)
    pm.HurdlePoisson("seen", psi=pm.Uniform("psi"), mu=pm.math.exp(mean), observed=y)


@example(rows="x y")
@model_of()
def gamma_regression():
    mean, y = regression(y=s.POSITIVE)
    shape = pm.HalfNormal("shape", 3)
    pm.Gamma("seen", alpha=shape, beta=shape * pm.math.exp(-mean), observed=y)


@example(rows="x y")
@model_of()
def beta_regression():
    mean, y = regression(y=s.SHARE)
    pm.Beta("seen", mu=pm.math.invlogit(mean), nu=pm.LogNormal("nu", 2, 0.5), observed=y)


@example(rows="x y")
@model_of()
def directions():
    mean, y = regression(y=s.ANGLE)
    pm.VonMises("seen", mu=2 * pm.math.arctan(mean), kappa=pm.Gamma("kappa", 2, 1), observed=y)


@example(rows="x y")
@model_of()
def ordinal():
    mean, y = regression(y=s.GRADE)
    cuts = pm.Normal("cuts", 0, 1, shape=2, transform=ordered, initval=[-1, 1])
    pm.OrderedLogistic("seen", eta=mean, cutpoints=cuts, observed=y, compute_p=False)


@example(rows="x y")
@model_of(coords={"kind": ["a", "b", "c"]})
def softmax_regression():
    x, y = pm.Data("x", s.X), pm.Data("y", s.KIND)
    w = pm.ZeroSumNormal("w", 1, shape=(2, 3))
    pm.Categorical("seen", p=pm.math.softmax(x @ w, axis=-1), observed=y)


@example(rows="grade y")
@model_of()
def monotone_effect():
    grade, y = pm.Data("grade", s.GRADE), pm.Data("y", s.Y)
    steps, slope = pm.Dirichlet("steps", np.ones(2)), pm.Normal("slope", 0, 2)
    effect = slope * pt.concatenate([[0.0], pt.cumsum(steps)])
    pm.Normal("seen", effect[grade], 1, observed=y)


@example(rows="x y")
@model_of()
def seemingly_unrelated():
    x, y = pm.Data("x", s.X), pm.Data("y", s.PAIR)
    w = pm.Normal("w", 0, 1, shape=(2, 2))
    corner, _, _ = pm.LKJCholeskyCov("corner", n=2, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=2))
    pm.MvNormal("seen", mu=x @ w, chol=corner, observed=y)


@example(rows="x weight height", outcome=None)
@model_of(**ROW)
def two_outcomes_of_one_row():
    x, w = pm.Data("x", s.X, dims=("row", None)), pm.Normal("w", 0, 1, shape=(2, 2))
    weight, height = (pm.Data(name, column, dims="row") for name, column in zip(["weight", "height"], s.PAIR.T, strict=True))
    pm.Normal("heavy", x @ w[0], 1, observed=weight, dims="row")
    pm.Normal("tall", x @ w[1], 1, observed=height, dims="row")


@example(rows="x y")
@model_of()
def neural_network():
    x, y = pm.Data("x", s.X), pm.Data("y", s.Y)
    w, v = pm.Normal("w", 0, 1, shape=(2, 3)), pm.Normal("v", 0, 1, shape=3)
    pm.Normal("seen", pm.math.tanh(x @ w) @ v, 0.5, observed=y)


@example(rows="x y")
@model_of()
def horseshoe():
    x, y = pm.Data("x", s.X), pm.Data("y", s.Y)
    tau, local = pm.HalfCauchy("tau", 1), pm.HalfCauchy("local", 1, shape=2)
    b = pm.Deterministic("b", tau * local * pm.Normal("z", 0, 1, shape=2))
    pm.Normal("seen", x @ b, 1, observed=y)


@example(rows="x y")
@model_of()
def regularised_horseshoe():
    x, y = pm.Data("x", s.X), pm.Data("y", s.Y)
    tau, slab = pm.HalfStudentT("tau", nu=2, sigma=0.1), pm.InverseGamma("slab", 2, 2)
    local = pm.HalfStudentT("local", nu=5, sigma=1, shape=2)
    b = pm.Normal("b", 0, tau * pm.math.sqrt(slab) * local / pm.math.sqrt(slab + tau**2 * local**2), shape=2)
    pm.Normal("seen", x @ b, pm.HalfNormal("sigma", 1), observed=y)


@example(rows="basis y")
@model_of()
def penalised_spline():
    basis, y = pm.Data("basis", np.vander(s.TIME, 4)), pm.Data("y", s.Y)
    w = pm.GaussianRandomWalk("w", sigma=pm.Exponential("smooth", 1), init_dist=pm.Normal.dist(0, 1), shape=4)
    pm.Normal("seen", basis @ w, 0.5, observed=y)


@example(rows="time y")
@model_of()
def trend_and_seasons():
    time, y = pm.Data("time", s.TIME), pm.Data("y", s.Y)
    turns = 2 * np.pi * time[:, None] * np.arange(1, 3)
    waves = pt.concatenate([pm.math.sin(turns), pm.math.cos(turns)], axis=1)
    pm.Normal("seen", pm.Normal("slope") * time + waves @ pm.Normal("w", shape=4), 0.5, observed=y)


# --- groups ---------------------------------------------------------------------------------------------------------


@example(rows="x group y", whole="level")
@model_of(coords={"row": range(s.N), "county": range(s.G)})
def group_covariate():
    x, group, y = pm.Data("x", s.X[:, 0], dims="row"), pm.Data("group", s.GROUP, dims="row"), pm.Data("y", s.Y, dims="row")
    level = pm.Data("level", s.LEVEL, dims="county")
    a = pm.Normal("a", pm.Normal("c") * level, pm.HalfNormal("spread", 1), dims="county")
    pm.Normal("seen", a[group] + x, 1, observed=y, dims="row")


@example(rows="x group y")
@model_of(coords={"line": ["level", "slope"]})
def varying_slopes():
    x, group, y = pm.Data("x", s.X[:, 0]), pm.Data("group", s.GROUP), pm.Data("y", s.Y)
    corner, _, _ = pm.LKJCholeskyCov("corner", n=2, eta=1, sd_dist=pm.Exponential.dist(1, shape=2))
    z = pm.Normal("z", 0, 1, shape=(s.G, 2))
    line = pm.Deterministic("lines", z @ corner.T)
    pm.Normal("seen", line[group, 0] + line[group, 1] * x, 1, observed=y)


@example(rows="street y", whole="city")
@model_of()
def nested_groups():
    street, city, y = pm.Data("street", s.GROUP), pm.Data("city", np.array([0, 0, 1])), pm.Data("y", s.Y)
    a = pm.Normal("a", pm.Normal("above", shape=2)[city], 0.5)
    pm.Normal("seen", a[street], 1, observed=y)


@example(rows="person_of item_of y")
@model_of(coords={"person": range(3), "item": range(3)})
def item_response():
    person, item, y = pm.Data("person_of", s.GROUP), pm.Data("item_of", s.KIND), pm.Data("y", s.BINARY)
    ability, ease = pm.Normal("ability", dims="person"), pm.Normal("ease", dims="item")
    sharp = pm.LogNormal("sharp", 0, 0.5, dims="item")
    pm.Bernoulli("seen", logit_p=sharp[item] * (ability[person] + ease[item]), observed=y)


@example(rows="first second y")
@model_of()
def paired_comparisons():
    first, second, y = pm.Data("first", s.GROUP), pm.Data("second", (s.GROUP + 1) % s.G), pm.Data("y", s.BINARY)
    skill = pm.ZeroSumNormal("skill", 1, shape=3)
    pm.Bernoulli("seen", logit_p=skill[first] - skill[second], observed=y)


@example(rows="treated y")
@model_of()
def two_groups_of_a_trial():
    treated, y = pm.Data("treated", s.BINARY), pm.Data("y", s.Y)
    mu, sigma = pm.Normal("mu", 0, 2, shape=2), pm.Uniform("sigma", 0.1, 10, shape=2)
    pm.StudentT("seen", nu=pm.Exponential("nu", 1 / 29) + 1, mu=mu[treated], sigma=sigma[treated], observed=y)


@example(rows="x sizes y")
@model_of()
def votes_by_covariates():
    x, sizes, y = pm.Data("x", s.X), pm.Data("sizes", s.VOTES.sum(1)), pm.Data("y", s.VOTES)
    pm.Multinomial("seen", n=sizes, p=pm.math.softmax(x @ pm.Normal("w", shape=(2, 3)), axis=-1), observed=y)


@example(rows="y")
@model_of()
def waiting_in_whole_days():
    pm.DiscreteWeibull("seen", q=pm.Beta("q", 2, 2), beta=pm.LogNormal("beta", 0, 0.3), observed=pm.Data("y", s.COUNT))


@example(rows="x y", apart="the model holds an array of 12 rows that is no pm.Data")
@model_of()
def trials_inside():
    mean, y = regression(y=s.HITS)
    pm.Binomial("seen", n=s.TRIALS, logit_p=mean, observed=y)


@example(rows="sizes y")
@model_of()
def votes_of_districts():
    sizes, y = pm.Data("sizes", s.VOTES.sum(1)), pm.Data("y", s.VOTES)
    pm.DirichletMultinomial("seen", n=sizes, a=pm.Gamma("a", 2, 0.5, shape=3), observed=y)


@example(rows="seen", outcome="seen", apart=PLAIN)
@model_of(coords={"school": range(s.N)})
def schools_without_containers():
    theta = pm.Normal("theta", pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5), dims="school")
    pm.Normal("seen", theta, s.EXPOSURE, observed=s.Y, dims="school")


# --- mixtures, censoring, missing values --------------------------------------------------------------------------


@example(rows="y")
@model_of()
def mixture_of_two_kinds():
    kinds = [pm.Normal.dist(pm.Normal("mu"), 1), pm.StudentT.dist(nu=4, mu=0, sigma=3)]
    pm.Mixture("seen", w=pm.Dirichlet("w", np.ones(2)), comp_dists=kinds, observed=pm.Data("y", s.Y))


@example(rows="x y")
@model_of()
def mixture_of_regressions():
    x, y = pm.Data("x", s.X), pm.Data("y", s.Y)
    b = pm.Normal("b", 0, 2, shape=(2, 2))
    pm.NormalMixture("seen", w=pm.Dirichlet("w", np.ones(2)), mu=x @ b, sigma=1.0, observed=y)


@example(rows="x y")
@model_of()
def weights_of_each_row():
    share, y = regression(y=s.COUNT)
    share = pm.math.sigmoid(share)
    kinds = [pm.Poisson.dist(pm.HalfNormal("few", 1)), pm.Poisson.dist(pm.HalfNormal("many", 5))]
    pm.Mixture("seen", w=pt.stack([share, 1 - share], axis=-1), comp_dists=kinds, observed=y)


@example(rows="y")
@model_of()
def stick_breaking():
    w = pm.StickBreakingWeights("w", alpha=pm.Gamma("alpha", 1, 1), K=3)
    pm.NormalMixture("seen", w=w, mu=pm.Normal("mu", 0, 2, shape=4), sigma=np.ones(4), observed=pm.Data("y", s.Y))


@example(rows="y", apart=IN_PARTS)
@model_of()
def change_point():
    y, days = pm.Data("y", s.COUNT), np.arange(s.N)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    day = pm.Uniform("day", 0, s.N)
    pm.Poisson("seen", pm.math.switch(days < day, early, late), observed=y)


@example(rows="x y")
@model_of()
def survival_by_a_censored_distribution():
    mean, y = regression(y=np.minimum(s.POSITIVE, 1.5))
    life = pm.Weibull.dist(alpha=pm.Gamma("shape", 2, 2), beta=pm.math.exp(mean))
    pm.Censored("seen", life, lower=None, upper=1.5, observed=y)


@example(rows="x died y")
@model_of()
def survival_by_a_potential():
    mean, y = regression(y=s.POSITIVE)
    died = pm.Data("died", s.SEEN.astype(float))
    rate = pm.math.exp(mean)
    pm.Potential("lived", ((died - 1) * rate * y).sum())
    pm.Exponential("seen", pm.math.switch(died, rate, 1.0), observed=y)


@example(rows="y", draws=False)
@model_of()
def truncated_outcome():
    free = pm.Normal.dist(pm.Normal("mu"), pm.HalfNormal("sigma", 1))
    pm.Truncated("seen", free, lower=0, observed=pm.Data("y", s.POSITIVE))


@example(rows="seen_observed", whole="x", outcome="seen_observed", apart=PLAIN)
@model_of()
def missing_outcomes_imputed():
    x = pm.Data("x", s.X)
    pm.Normal("seen", x @ pm.Normal("b", shape=2), 1, observed=np.where(s.SEEN, s.Y, np.nan))


@example(rows="x y", outcome=None, apart=A_ROW)
@model_of()
def measurement_error():
    truth = pm.Normal("truth", 0, 1, shape=s.N)
    pm.Normal("measured", truth, 0.3, observed=pm.Data("x", s.X[:, 0]))
    pm.Normal("seen", pm.Normal("b") * truth, 0.5, observed=pm.Data("y", s.Y))


# --- time and space ---------------------------------------------------------------------------------------------------


@example(rows="y", apart=NO_SUM, together=True)
@model_of()
def autoregression():
    rho, sigma = pm.Normal("rho", 0, 0.5, shape=2), pm.HalfNormal("sigma", 1)
    pm.AR("seen", rho=rho, sigma=sigma, init_dist=pm.Normal.dist(0, 1, shape=2), observed=pm.Data("y", s.SERIES))


@example(rows="before y")
@model_of()
def autoregression_by_pairs():
    before, y = pm.Data("before", s.SERIES[:-1]), pm.Data("y", s.SERIES[1:])
    pm.Normal("seen", pm.Uniform("phi", -1, 1) * before, pm.HalfNormal("sigma", 1), observed=y)


@example(rows="y", apart=NO_SUM, together=True)
@model_of()
def random_walk_outcome():
    pm.GaussianRandomWalk("seen", sigma=pm.HalfNormal("step", 1), init_dist=pm.Normal.dist(0, 1), observed=pm.Data("y", s.SERIES))


@example(rows="y", apart=A_ROW)
@model_of()
def local_level():
    level = pm.GaussianRandomWalk("level", sigma=pm.HalfNormal("drift", 1), init_dist=pm.Normal.dist(0, 1), shape=s.N)
    pm.Normal("seen", level, pm.HalfNormal("noise", 1), observed=pm.Data("y", s.SERIES))


@example(rows="y", apart=A_ROW)
@model_of()
def stochastic_volatility():
    steps = pm.Normal("steps", 0, 0.1, shape=s.N)
    pm.StudentT("seen", nu=pm.Exponential("nu", 0.1) + 1, lam=pm.math.exp(-2 * pt.cumsum(steps)), observed=pm.Data("y", s.SERIES))


@example(rows="y", apart=NO_SUM, together=True)
@model_of()
def volatility_of_returns():
    omega, alpha, beta = pm.HalfNormal("omega", 1), pm.Beta("alpha", 1, 3), pm.Beta("beta", 1, 3)
    pm.GARCH11("seen", omega=omega, alpha_1=alpha, beta_1=beta, initial_vol=1.0, observed=pm.Data("y", s.Y))


@example(rows="y", apart=NO_SUM)
@model_of()
def exponential_smoothing():
    y, alpha = pm.Data("y", s.SERIES), pm.Beta("alpha", 2, 2)
    follow = lambda new, level, alpha: level + alpha * (new - level)
    levels = pytensor.scan(follow, sequences=[y], outputs_info=[pt.zeros((), "float64")], non_sequences=[alpha], return_updates=False)
    forecast = pt.concatenate([[0.0], levels[:-1]])
    pm.Normal("seen", forecast, pm.HalfNormal("sigma", 1), observed=y)


@example(rows="seen", outcome="seen", apart=PLAIN, together=True)
@model_of()
def gaussian_process():
    cover = pm.HalfNormal("height", 1) ** 2 * pm.gp.cov.ExpQuad(1, ls=pm.InverseGamma("length", 3, 1))
    process = pm.gp.Marginal(cov_func=cover)
    process.marginal_likelihood("seen", X=s.TIME[:, None], y=s.Y, sigma=0.3)


@example(rows="y", apart=A_ROW)
@model_of()
def latent_gaussian_process():
    process = pm.gp.Latent(cov_func=pm.gp.cov.Matern32(1, ls=pm.InverseGamma("length", 3, 1)))
    field = process.prior("field", X=s.TIME[:, None])
    pm.Poisson("seen", pm.math.exp(field), observed=pm.Data("y", s.COUNT))


@example(rows="time y")
@model_of()
def hilbert_space_process():
    time, y = pm.Data("time", s.TIME[:, None]), pm.Data("y", s.Y)
    process = pm.gp.HSGP(m=[4], L=[1.5], cov_func=pm.gp.cov.ExpQuad(1, ls=pm.InverseGamma("length", 3, 1)))
    waves, power = process.prior_linearized(time)
    pm.Normal("seen", waves @ (pm.Normal("w", shape=4) * pm.math.sqrt(power)), 0.5, observed=y)


@example(rows="y", apart=A_ROW)
@model_of()
def neighbours():
    near = np.eye(s.N, k=1) + np.eye(s.N, k=-1)
    field = pm.CAR("field", mu=np.zeros(s.N), W=near, alpha=pm.Beta("strength", 2, 2), tau=1.0)
    pm.Poisson("seen", pm.math.exp(field), observed=pm.Data("y", s.COUNT))


@example(rows="y", apart=A_ROW)
@model_of()
def neighbours_without_a_mean():
    field = pm.ICAR("field", W=np.eye(s.N, k=1) + np.eye(s.N, k=-1))
    pm.Poisson("seen", pm.math.exp(field), observed=pm.Data("y", s.COUNT))


# --- matrices ---------------------------------------------------------------------------------------------------------


@example(rows="y", apart=A_ROW)
@model_of()
def principal_components():
    w, z = pm.Normal("w", shape=(1, 2)), pm.Normal("z", shape=(s.N, 1))
    pm.Normal("seen", z @ w, 0.5, observed=pm.Data("y", s.PAIR))


@example(rows="row column y")
@model_of()
def factorised_matrix():
    row, column, y = pm.Data("row", s.GROUP), pm.Data("column", s.KIND), pm.Data("y", s.Y)
    u, v = pm.Normal("u", shape=(3, 2)), pm.Normal("v", shape=(3, 2))
    pm.Normal("seen", (u[row] * v[column]).sum(-1), 0.5, observed=y)


# --- ways of writing ------------------------------------------------------------------------------------------------------


@example(rows="x y", draws=False)
@model_of()
def density_of_my_own():
    mean, y = regression()
    log_density = lambda value, mu, sigma: -pt.log(sigma) - pt.abs(value - mu) / sigma
    pm.CustomDist("seen", mean, pm.HalfNormal("sigma", 1), logp=log_density, observed=y)


@example(rows="x y")
@model_of()
def distribution_of_my_own():
    mean, y = regression(y=s.POSITIVE)
    made = lambda mu, sigma, size: pm.math.exp(pm.Normal.dist(mu, sigma, size=size))
    pm.CustomDist("seen", mean, pm.HalfNormal("sigma", 1), dist=made, observed=y)


@example(rows="x y", outcome=None)
@model_of()
def transformed_inside():
    mean, y = regression(y=s.POSITIVE)
    pm.Normal("seen", mean, 1, observed=pm.math.log(y))


@example(rows="y")
@model_of()
def flat_priors():
    pm.Normal("seen", pm.Flat("mu"), pm.HalfFlat("sigma"), observed=pm.Data("y", s.Y))


@example(rows="x seen", outcome="seen", apart=PLAIN)
def observed_later():
    with pm.Model() as model:
        x = pm.Data("x", s.X)
        seen = pm.Normal("seen", x @ pm.Normal("b", shape=2), 1)
    return pm.observe(model, {seen: s.Y})


@example(rows="y", apart=IN_PARTS)
@model_of()
def shared_without_a_container():
    x = pytensor.shared(s.X)
    pm.Normal("seen", x @ pm.Normal("b", shape=2), 1, observed=pm.Data("y", s.Y))


@example(rows="x y", whole="c")
def after_an_intervention():
    with pm.Model() as model:
        mean, y = regression()
        c = pm.Normal("c")
        pm.Normal("seen", mean + c, 1, observed=y)
    return pm.do(model, {"c": 0.5})


@example(rows="part::x part::y", outcome="part::y")
def model_within_a_model():
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1)
        with pm.Model(name="part"):
            mean, y = regression()
            pm.Normal("seen", mean, sigma, observed=y)
    return model


@example(rows="seen", whole="x", outcome="seen", apart=PLAIN)
@model_of(coords={"row": range(s.N), "column": range(2)})
def named_columns():
    x = pm.Data("x", s.X.T, dims=("column", "row"))
    pm.Normal("seen", pm.Normal("b", dims="column") @ x, 1, observed=s.Y, dims="row")


# --- what is refused ----------------------------------------------------------------------------------------------------


@example(refused="discrete variable day; sum it out")
@model_of()
def change_point_on_a_day():
    day = pm.DiscreteUniform("day", 0, s.N)
    rate = pm.math.switch(np.arange(s.N) < day, pm.Exponential("early", 1), pm.Exponential("late", 1))
    pm.Poisson("seen", rate, observed=s.COUNT)


@example(refused="discrete variable kind; sum it out")
@model_of()
def mixture_with_labels():
    kind = pm.Categorical("kind", [0.5, 0.5], shape=s.N)
    pm.Normal("seen", pm.Normal("mu", shape=2)[kind], 1, observed=s.Y)


@example(refused="imputes missing values of seen, which are whole numbers; leave out the rows where it is missing")
@model_of()
def missing_counts():
    pm.Poisson("seen", pm.HalfNormal("rate", 3), observed=np.ma.masked_array(s.COUNT, ~s.SEEN))


@example(refused="takes minibatches of seen itself; give it all rows")
@model_of()
def minibatches_of_its_own():
    x, y = pm.Minibatch(s.X, s.Y, batch_size=4)
    pm.Normal("seen", x @ pm.Normal("b", shape=2), 1, observed=y, total_size=s.N)


@example(refused="takes minibatches of seen itself; give it all rows")
@model_of()
def stands_for_more_rows():
    pm.Normal("seen", pm.Normal("mu"), 1, observed=s.Y, total_size=10 * s.N)


@example(refused="observes nothing; give a variable observed")
@model_of()
def funnel():
    pm.Normal("x", 0, pm.math.exp(pm.Normal("v", 0, 3) / 2))


@example(refused="observes nothing but potentials")
@model_of()
def likelihood_by_a_potential():
    pm.Potential("seen", pm.logp(pm.Normal.dist(pm.Normal("mu"), 1), s.Y).sum())


@example(refused="no free variable")
@model_of()
def nothing_unknown():
    pm.Normal("seen", 0, 1, observed=s.Y)


@example(refused="cannot write model in JAX: No JAX conversion .*; write that part in operations of pytensor.tensor")
@model_of()
def black_box():
    @pytensor.wrap_py(itypes=[pt.dscalar], otypes=[pt.dscalar])
    def solver(rate):
        return np.asarray(np.exp(-rate))

    pm.Normal("seen", solver(pm.HalfNormal("rate", 1)), 1, observed=s.Y)


@example(refused="cannot write model in JAX: .*; write that part")
@model_of()
def differential_equation():
    decay = pm.ode.DifferentialEquation(lambda y, t, p: [-p[0] * y[0]], times=s.TIME[1:], n_states=1, n_theta=1)
    pm.Normal("seen", decay(y0=[1.0], theta=[pm.HalfNormal("rate", 1)])[:, 0], 1, observed=s.Y[1:])


@example(refused="compares seen with simulations, which have no density; give it a distribution")
@model_of()
def simulator():
    draw = lambda rng, mu, size: rng.normal(mu, 1, size=s.N)
    pm.Simulator("seen", draw, pm.Normal("mu"), epsilon=1.0, observed=s.Y)
