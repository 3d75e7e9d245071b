"""Bad values in the place of the arguments of every public function: a finite answer, or a refusal of ours that names the argument.

`CASES` holds one call of each function with arguments that it accepts. Each argument in turn is replaced by values that readers give by
mistake; no raw error of JAX or NumPy may come out, and no NaN. Functions that take no numbers stand in `EXEMPT`, with the reason.
"""

import functools
import importlib
import inspect
import re
import traceback
import warnings

import jax
import jax.numpy as jnp
import jaxtyping
import matplotlib.pyplot as plt
import numpy as np
import optax
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_pkg import (
    convergence,
    data,
    families,
    fit,
    flows,
    gradients,
    implicit,
    is_gradients,
    lambertw,
    large,
    lcvi,
    mcmc,
    models,
    posthoc,
    vi,
)
from course_pkg import decisions as d
from course_pkg.models import Rows

KEY = jax.random.key(0)
RNG = np.random.default_rng(3)
Y = RNG.normal(size=6)
P = np.array([1.0, 2.0, 4.0, 3.0])
X = RNG.normal(size=(6, 2))
DRAWS = RNG.normal(size=(6, 8))
NORMAL = families.mean_field_normal()
LAM = families.Diagonal(np.array([0.5, -1.0]), np.array([0.1, -0.2]))
REGRESSION = models.linear_regression(2, 1.0, 1.0)
ROWS = Rows(jnp.asarray(X), jnp.asarray(Y))
WEIGHTING, SUBSAMPLE = is_gradients.Weighting(), is_gradients.Subsample(3)
POINT = jnp.array([1.0, 2.0])
STARTS = np.array([[1.0, 2.0], [3.0, 5.0]])
COVARIANCE = np.array([[2.0, 1.0], [1.0, 3.0]])
TRACE = RNG.normal(size=300)
BELIEF = posthoc.belief_on_grid(np.linspace(-4, 4, 9), lambda eta: -(eta**2))
PRIOR = posthoc.constant_prior(Y)
QUICK = posthoc.Training(hidden=(2,), restarts=1, steps=10)


def flat(x):
    return -0.5 * (x**2).sum()


def moved(kernel, position=POINT):
    """A kernel's first step."""
    return kernel.step(KEY, kernel.init(position))


def climbed(estimator, lam=LAM, rows=ROWS):
    """An estimator's first gradient."""
    return gradients.once(estimator, KEY, lam, rows)


def density(model, size, rows=ROWS):
    """A model's log joint at a point."""
    return models.log_joint(model, 0.1 * jnp.arange(1.0, size + 1), rows)


def records(given, **named):
    """Arguments with those that are fields of a record put into it; what is given in the place of a record stays."""
    fields = {field for record in named.values() for field in record._fields}
    held = {name: given.get(name, record) for name, record in named.items()}
    for name, record in named.items():
        if isinstance(held[name], type(record)):
            held[name] = held[name]._replace(**{field: given[field] for field in record._fields if field in given})
    return {name: value for name, value in given.items() if name not in fields} | held


def maker(**changed):
    found = posthoc.fit_decision_maker(**records({"features": X, "y": Y, "loss": d.squared(), **changed}, training=QUICK))
    return found.maker, found.nu


def corrected(**changed):
    given = {"idata": DRAWS, "y": Y, "loss": d.squared(), "train": np.arange(6) % 2 == 0, "quantiles": 2, "nu": 1.0, "held_out": 0.4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", posthoc.CorrectionWarning)
        found = posthoc.correct(**records({**given, **changed}, training=QUICK, options=posthoc.Options()))
    return found.decisions, found.q_optimal, found.report


def finite_part(tree):
    """For functions that say NaN or infinity where their docstring promises it."""
    return jax.tree.map(jnp.nan_to_num, tree)


def calibrated(**changed):
    few = lcvi.Optimisation(steps=4, samples=2, utility_samples=2, tolerance=None, progress=False)
    given = {"key": KEY, "data": ROWS, "loss_or_utility": d.squared(), "objective": lcvi.Objective(predictive_draws=8), "optimisation": few}
    given |= {name: changed.pop(name) for name in ("key", "data", "loss_or_utility", "held_out", *given) if name in changed}
    for record in ("objective", "optimisation"):  # whose fields may be given by their own names
        own = {name: changed.pop(name) for name in getattr(given[record], "_fields", ()) if name in changed}
        given[record] = given[record]._replace(**own) if own else given[record]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lcvi.CalibrationWarning)
        return lcvi.calibrate(model=REGRESSION, **given)


def calibrated_numbers(**changed):
    found = calibrated(**changed).calibrated
    return found.decisions, found.risk


def drawn_figure(**given):
    plt.close(one_calibration().plot(**given))


one_calibration = functools.cache(calibrated)


MINIBATCHES = vi.Minibatches(1, 2)
SKEWED = lambertw.Skewed(1.0, 2.0, 0.2, 0.0, np.zeros(3), 1, True, families.normal())
WORDS = vi.corpus(np.array([[2, 0, 1], [0, 3, 1]]))


def lda_of(function=vi.lda, **changed):
    return function(**{"key": KEY, "documents": WORDS, "topics": 2, **changed})


FITTED = vi.Topics(np.ones((2, 2)), np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]), np.zeros(1), 0.1)
POOLS = models.Pools(jnp.array([1.0]), jnp.array([3.0]), jnp.array([2.0]))
TRIALS = models.Trials(jnp.asarray(X), jnp.ones(6), 2 * jnp.ones(6))
GROUPED = models.Grouped(jnp.array([0, 0, 0, 1, 1, 1]), jnp.asarray(X), jnp.asarray(Y))
CELLS = models.Cells(jnp.array([0, 1]), jnp.array([1, 0]), jnp.array([1.0, 2.0]))
EXPONENTIAL = lcvi.exponential(d.squared(), 2.0)
EVENTS = models.logistic_regression(2, 1.0)
SCHOOLS_TERM = {"model": models.eight_schools(), "utility": lcvi.linearised(d.squared(), 2.0)}


def term_of(term):
    thetas = 0.1 * jnp.ones((3, 10))
    return term.value(term.draw(KEY, 3), thetas, jnp.ones(8), 10.0 * jnp.ones(8))


def event_term(term):
    return term.value(term.draw(KEY, 3), 0.1 * jnp.ones((3, 2)), jnp.ones(6), jnp.asarray(X))


# name: (call, arguments that it accepts and that are replaced in turn)
CASES = {
    # decisions
    "decisions.absolute": (lambda: d.absolute()(1.0, 2.0), {}),
    "decisions.squared": (lambda: d.squared()(1.0, 2.0), {}),
    "decisions.tilted": (lambda q: d.tilted(q)(1.0, 2.0), {"q": 0.3}),
    "decisions.imbalanced": (lambda a, b: d.imbalanced(a, b)(1.0, 2.0), {"a": 3.0, "b": 1.0}),
    "decisions.linex": (lambda c: d.linex(c)(1.0, 2.0), {"c": 1.0}),
    "decisions.cost_matrix": (lambda costs: d.cost_matrix(costs)(0, 0), {"costs": np.array([[0.0, 2.0], [1.0, 0.0]])}),
    "decisions.zero_one": (lambda classes: d.zero_one(classes)(0, 1), {"classes": 2}),
    "decisions.shifted_utility": (lambda loss, M: d.shifted_utility(loss, M)(1.0, 2.0), {"loss": d.squared(), "M": 4.0}),
    "decisions.exponential_utility": (
        lambda loss, gamma: d.exponential_utility(loss, gamma)(1.0, 2.0),
        {"loss": d.squared(), "gamma": 2.0},
    ),
    "decisions.bayes_decision": (
        d.bayes_decision,
        {"loss": d.linex(1.0), "draws": DRAWS, "weights": np.arange(1.0, 9.0), "axis": -1, "method": "auto"},
    ),
    "decisions.bayes_action": (
        d.bayes_action,
        {"loss": d.squared(), "draws": DRAWS, "actions": P, "weights": np.arange(1.0, 9.0), "axis": -1},
    ),
    "decisions.risk": (d.risk, {"loss": d.squared(), "draws": DRAWS, "h": Y, "weights": np.arange(1.0, 9.0), "axis": -1}),
    "decisions.gain": (
        d.gain,
        {"utility": d.shifted_utility(d.squared(), 9.0), "draws": DRAWS, "h": Y, "weights": np.arange(1.0, 9.0), "axis": -1},
    ),
    "decisions.p_risk": (d.p_risk, {"loss": d.squared(), "draws": Y, "h": 1.0, "log_weights": Y + 1, "axis": -1}),
    "decisions.quantile": (d.quantile, {"draws": DRAWS, "weights": np.arange(1.0, 9.0), "q": 0.5}),
    "decisions.empirical_risk": (d.empirical_risk, {"loss": d.squared(), "y": Y, "h": Y + 1}),
    "decisions.risk_reduction": (d.risk_reduction, {"baseline": P, "improved": P / 2}),
    "decisions.normalised_weights": (d.normalised_weights, {"log_weights": Y, "shape": (6,)}),
    "decisions.effective_sample_size": (d.effective_sample_size, {"weights": P}),
    "decisions.paired_reduction": (
        d.paired_reduction,
        {"key": KEY, "baseline": P, "improved": P / 2, "groups": np.array([0, 0, 1, 1]), "level": 0.9, "resamples": 100},
    ),
    "decisions.value_of_perfect_information": (
        d.value_of_perfect_information,
        {"loss": d.squared(), "draws": DRAWS, "actions": P, "axis": -1},
    ),
    "decisions.value_of_sample_information": (
        lambda **given: d.value_of_sample_information(simulate=lambda key, y: y, **given),
        {"key": KEY, "loss": d.squared(), "draws": Y, "log_likelihood": lambda y, x: -((y - x) ** 2), "actions": P, "outer": 4, "axis": -1},
    ),
    # posthoc
    "posthoc.predictive_draws": (posthoc.predictive_draws, {"predictive": DRAWS, "axis": -1}),
    "posthoc.characterize": (posthoc.characterize, {"predictive": DRAWS, "quantiles": 3, "covariates": X}),
    "posthoc.single_quantile": (posthoc.single_quantile, {"predictive": DRAWS, "y": Y, "loss": d.squared()}),
    "posthoc.conformal_quantile": (posthoc.conformal_quantile, {"scores": Y, "level": 0.5}),
    "posthoc.fidelity": (posthoc.fidelity, {"h": P, "h_q": P + 1, "predictive_sd": P}),
    "posthoc.initial_maker": (
        lambda **given: posthoc.initial_maker(**given)(X),
        {"key": KEY, "features": X, "y": Y, "hidden": (2,)},
    ),
    "posthoc.objective": (posthoc.objective, {"loss": d.squared(), "y": Y, "h": Y + 1, "prior": PRIOR, "nu": 2.0}),
    "posthoc.constant_prior": (lambda h_q, sd: posthoc.constant_prior(h_q, sd)[:2], {"h_q": Y, "sd": 2.0}),
    "posthoc.pointwise_prior": (lambda mean, sd: posthoc.pointwise_prior(mean, sd)[:2], {"mean": Y, "sd": np.abs(Y)}),
    "posthoc.bootstrap_prior": (
        lambda **given: posthoc.bootstrap_prior(
            lambda key, rows: np.full(2, np.mean(rows)), P, progress=False, **records(given, refits=posthoc.Refits())
        )[:2],
        {"key": KEY, "n_bootstrap": 4, "floor": 0.1, "workers": 1, "refits": posthoc.Refits()},
    ),
    "posthoc.fit_decision_maker": (
        maker,
        {"features": X, "y": Y, "loss": d.squared(), "prior": PRIOR, "nu": 1.0, "hidden": (2,), "restarts": 1, "steps": 10, "rate": 0.1}
        | {"batch": 3, "held_out": 0.5, "patience": 2, "folds": 2, "training": QUICK, "key": KEY},
    ),
    "posthoc.cross_validate": (
        lambda **given: posthoc.cross_validate(**records(given, training=QUICK)),
        {"features": X, "y": Y, "loss": d.squared(), "prior": PRIOR, "hidden": (2,), "restarts": 1, "steps": 10}
        | {"nus": np.array([1.0, 2.0]), "folds": 2, "held_out": 0.0, "rate": 0.1, "training": QUICK, "key": KEY},
    ),
    "posthoc.correct": (
        corrected,
        {"idata": DRAWS, "y": Y, "loss": d.squared(), "train": np.arange(6) % 2 == 0, "quantiles": 2, "covariates": X, "prior": PRIOR}
        | {"nu": 1.0, "level": 0.9, "far": 0.5, "axis": -1, "held_out": 0.4, "training": QUICK, "options": posthoc.Options(), "key": KEY},
    ),
    "posthoc.belief_on_grid": (posthoc.belief_on_grid, {"eta": P.cumsum(), "log_density": P}),
    "posthoc.coherent_update": (posthoc.coherent_update, {"belief": BELIEF, "loss": d.squared(), "y": Y, "weight": 2.0}),
    "posthoc.power_prior_update": (posthoc.power_prior_update, {"belief": BELIEF, "loss": d.squared(), "y": Y, "nu": 2.0}),
    "posthoc.compare_updates": (posthoc.compare_updates, {"belief": BELIEF, "loss": d.squared(), "y": Y, "nu": 2.0}),
    # mcmc
    "mcmc.random_walk": (lambda scale: moved(mcmc.random_walk(flat, scale)), {"scale": np.array([1.0, 2.0])}),
    "mcmc.langevin": (lambda step_size: moved(mcmc.langevin(flat, step_size)), {"step_size": 1.0}),
    "mcmc.hmc": (
        lambda step_size, steps, inverse_mass, jitter: moved(mcmc.hmc(flat, step_size, steps, inverse_mass=inverse_mass, jitter=jitter)),
        {"step_size": 0.5, "steps": 2, "inverse_mass": np.array([1.0, 2.0]), "jitter": 0.1},
    ),
    "mcmc.tempered": (
        lambda betas: moved(mcmc.tempered(flat, flat, betas, lambda target, beta: mcmc.random_walk(target, 2.0 - beta)), STARTS),
        {"betas": np.array([1.0, 0.2])},
    ),
    "mcmc.dual_averaging": (lambda step_size, target: mcmc.dual_averaging(step_size, target)[0], {"step_size": 0.5, "target": 0.8}),
    "mcmc.tune_hmc": (
        lambda **given: mcmc.tune_hmc(log_density=flat, **given),
        {"key": KEY, "positions": STARTS, "steps": 2, "warmup": 100, "target": 0.8, "step_size": 0.1, "jitter": 0.1},
    ),
    "mcmc.run_chains": (
        lambda **given: mcmc.run_chains(kernel=mcmc.random_walk(flat, 1.0), progress=False, **given)["posterior"]["theta"].values,
        {"key": KEY, "positions": STARTS, "draws": 3, "warmup": 2},
    ),
    "mcmc.sample_chain": (
        lambda **given: mcmc.sample_chain(kernel=mcmc.langevin(flat, 0.5), **given),
        {"key": KEY, "position": np.array([1.0, 2.0]), "draws": 3},
    ),
    "mcmc.importance_sample": (
        lambda **given: mcmc.importance_sample(log_target=flat, family=NORMAL, **given),
        {"key": KEY, "lam": LAM, "draws": 4},
    ),
    "mcmc.self_normalised": (mcmc.self_normalised, {"values": Y, "log_weights": Y + 1}),
    "mcmc.unnormalised": (mcmc.unnormalised, {"values": Y, "log_weights": Y + 1}),
    "mcmc.pareto_smooth": (lambda log_weights: finite_part(mcmc.pareto_smooth(log_weights)), {"log_weights": RNG.normal(size=40)}),
    # is_gradients
    "is_gradients.importance_weights": (
        lambda **given: is_gradients.importance_weights(NORMAL, **given),
        {"lam_new": LAM, "lam_old": LAM._replace(mu=np.zeros(2)), "theta": X, "factors": 2},
    ),
    "is_gradients.effective_size": (is_gradients.effective_size, {"w": P, "axis": 0}),
    "is_gradients.expected_ess": (is_gradients.expected_ess, {"lam_new": LAM, "lam_old": LAM}),
    "is_gradients.is_factorised": (lambda dim: is_gradients.is_factorised(NORMAL, dim), {"dim": 2}),
    "is_gradients.fixed_draws": (
        lambda **given: is_gradients.fixed_draws(model=REGRESSION, family=NORMAL, data=ROWS, **given),
        {"key": KEY, "samples": 3, "lam": LAM, "evaluations": 9},
    ),
    "is_gradients.sag": (
        lambda **given: climbed(is_gradients.sag(REGRESSION, NORMAL, **given)),
        {"samples": 2, "batches": 2},
    ),
    "is_gradients.saga": (
        lambda **given: climbed(is_gradients.saga(REGRESSION, NORMAL, **given)),
        {"samples": 2, "batches": 2},
    ),
    "is_gradients.isag": (
        lambda **given: climbed(is_gradients.isag(REGRESSION, NORMAL, **records(given, weighting=WEIGHTING))),
        {"samples": 2, "batches": 2, "weighting": WEIGHTING, "kind": "joint", "clip": 9.0, "min_ess": 0.1},
    ),
    "is_gradients.running_average": (
        lambda **given: climbed(
            is_gradients.running_average(REGRESSION, NORMAL, **records(given, weighting=WEIGHTING, subsample=SUBSAMPLE))
        ),
        {"samples": 2, "window": 2, "subsample": SUBSAMPLE, "size": 3, "weighting": WEIGHTING, "kind": "joint", "clip": 9.0}
        | {"min_ess": 0.1},
    ),
    "is_gradients.isgd": (
        lambda **given: climbed(is_gradients.isgd(REGRESSION, NORMAL, **records(given, weighting=WEIGHTING, subsample=SUBSAMPLE))),
        {"samples": 2, "reuse": 0.5, "form": "score", "weighting": WEIGHTING, "kind": "joint", "clip": 9.0, "min_ess": 0.1}
        | {"subsample": SUBSAMPLE, "size": 3},
    ),
    "is_gradients.anchored": (
        lambda **given: climbed(is_gradients.anchored(REGRESSION, NORMAL, **records(given, weighting=WEIGHTING, subsample=SUBSAMPLE))),
        {"samples": 2, "subsample": SUBSAMPLE, "size": 3, "every": 2, "reuse": 0.5, "weighting": WEIGHTING, "kind": "joint", "clip": 9.0}
        | {"min_ess": 0.1},
    ),
    # lambertw; outside its domain W is NaN, as its docstring says
    "lambertw.lambertw": (lambda x, branch: finite_part(lambertw.lambertw(x, branch)), {"x": P, "branch": 0}),
    "lambertw.one_plus_w": (lambda delta, branch: finite_part(lambertw.one_plus_w(delta, branch)), {"delta": P, "branch": 0}),
    "lambertw.newton": (lambda **given: finite_part(lambertw.newton(**given)), {"x": P, "guess": P, "steps": 2}),
    "lambertw.halley": (lambda **given: finite_part(lambertw.halley(**given)), {"x": P, "guess": P, "steps": 2}),
    "lambertw.modified_w": (lambertw.modified_w, {"x": P, "d": -0.3}),
    "lambertw.g_e": (lambertw.g_e, {"z": P, "gamma": 0.2, "d": -0.3}),
    "lambertw.g_e_inverse": (lambertw.g_e_inverse, {"x": P, "gamma": 0.2, "d": -0.3}),
    "lambertw.log_slope": (lambertw.log_slope, {"z": P, "gamma": 0.2, "d": -0.3}),
    "lambertw.log_density": (lambertw.log_density, {"y": P, "mu": 1.0, "sigma": 2.0, "gamma": 0.2, "d": -0.3}),
    "lambertw.log_density_two_branches": (
        lambda **given: finite_part(lambertw.log_density_two_branches(**given)),
        {"y": P, "mu": 1.0, "sigma": 2.0, "gamma": 0.2},
    ),
    "lambertw.moments": (lambertw.moments, {"mu": 1.0, "sigma": 2.0, "gamma": 0.2}),
    "lambertw.safe_moments": (lambertw.safe_moments, {"mu": 1.0, "sigma": 2.0, "gamma": 0.2, "d": -0.3}),
    "lambertw.support": (lambda **given: finite_part(lambertw.support(**given)), {"mu": 1.0, "sigma": 2.0, "gamma": 0.2}),
    "lambertw.fit_igmm": (lambda **given: lambertw.fit_igmm(**given)[:4], {"y": P, "steps": 2, "tolerance": 0.1}),
    "lambertw.fit_mle": (lambda y: lambertw.fit_mle(y)[:4], {"y": P}),
    "lambertw.Skewed.cdf": (SKEWED.cdf, {"y": P}),
    "lambertw.Skewed.ppf": (SKEWED.ppf, {"q": P / 5}),
    "lambertw.Skewed.sample": (lambda **given: SKEWED.sample(**given), {"key": KEY, "shape": (2, 3)}),
    "lambertw.heavy": (lambertw.heavy, {"z": P, "delta": 0.2}),
    "lambertw.heavy_inverse": (lambertw.heavy_inverse, {"x": P, "delta": 0.2}),
    "lambertw.heavy_log_density": (lambertw.heavy_log_density, {"y": P, "mu": 1.0, "sigma": 2.0, "delta": 0.2}),
    "lambertw.skew": (
        lambda gamma_max, d: lambertw.skew(gamma_max, d).transform(jnp.ones(2), POINT),
        {"gamma_max": 0.3, "d": -0.3},
    ),
    "lambertw.fixed_skew": (
        lambda gamma, d: lambertw.fixed_skew(gamma, d).transform((), POINT),
        {"gamma": np.array([0.1, 0.2]), "d": -0.3},
    ),
    "lambertw.skewed_sample": (
        lambda **given: density(lambertw.skewed_sample(**given), 3, jnp.ones(3)),
        {"prior_sd": 2.0, "gamma_max": 0.5},
    ),
    "lambertw.tabulated": (
        lambda **given: lambertw.tabulated(jnp.sin, **given)(0.5),
        {"lo": 0.0, "hi": 1.0, "resolution": 4, "kind": "cubic"},
    ),
    # lcvi
    "lcvi.expected_loss": (lcvi.expected_loss, {"loss": d.squared(), "mean": P, "sd": P, "h": P}),
    "lcvi.affine": (lambda **given: lcvi.affine(**given)(1.0, 2.0), {"utility": EXPONENTIAL, "alpha": 2.0, "beta": 1.0}),
    "lcvi.as_utility": (
        lambda loss_or_utility, M: lcvi.as_utility(loss_or_utility, M)(1.0, 2.0),
        {"loss_or_utility": d.squared(), "M": 2.0},
    ),
    "lcvi.calibration_force": (lcvi.calibration_force, {"inner": P, "slope": P, "alpha": 2.0, "beta": 1.0}),
    "lcvi.direct": (lambda infimum: lcvi.direct(lambda y, h: 1 / (1 + (y - h) ** 2), infimum=infimum)(1.0, 2.0), {"infimum": 0.0}),
    "lcvi.exponential": (lambda loss, M: lcvi.exponential(loss, M)(1.0, 2.0), {"loss": d.squared(), "M": 2.0}),
    "lcvi.from_loss": (lambda loss, M: lcvi.from_loss(loss, M)(1.0, 2.0), {"loss": d.squared(), "M": 2.0}),
    "lcvi.linearised": (lambda loss, M: lcvi.linearised(loss, M)(1.0, 2.0), {"loss": d.squared(), "M": 2.0}),
    "lcvi.log_expected_utility": (lcvi.log_expected_utility, {"utility": EXPONENTIAL, "mean": P, "sd": P, "h": P}),
    "lcvi.loss_quantile": (lcvi.loss_quantile, {"losses": P, "q": 0.7}),
    "lcvi.lattice_keys": (lambda **given: jax.random.normal(lcvi.lattice_keys(**given)[0]), {"key": KEY, "count": 2}),
    "lcvi.start_network": (
        lambda **given: lcvi.decide_with(lcvi.start_network(**given), X),
        {"key": KEY, "x": X, "location": 1.0, "scale": 2.0, "width": 2, "depth": 1},
    ),
    "lcvi.decide_with": (lambda x: lcvi.decide_with(lcvi.start_network(KEY, X), x), {"x": X}),
    "lcvi.amortise": (
        lambda **given: (
            lcvi.amortise(
                predict=lambda key, x, draws: jax.random.normal(key, (draws, len(x))),
                **records({"batch": 2, "width": 2, "depth": 1, **given}, training=lcvi.NetworkTraining()),
            ).scale
        ),
        {"key": KEY, "x": X, "loss": d.squared(), "steps": 2, "batch": 2, "rate": 0.1, "draws": 2, "width": 2, "depth": 1}
        | {"training": lcvi.NetworkTraining()},
    ),
    "lcvi.bayes_rule": (
        lambda **given: lcvi.bayes_rule(REGRESSION, **given)(KEY, jnp.ones((2, 2)), jnp.asarray(X)),
        {"loss": d.squared(), "draws": 2},
    ),
    "lcvi.em": (lambda every: lcvi.em(lambda key, thetas, x: x[:, 0], every).start(KEY, X, jnp.asarray(X)), {"every": 2}),
    "lcvi.drawn_outcome": (lambda **given: term_of(lcvi.drawn_outcome(**SCHOOLS_TERM, **given)), {"draws": 2, "estimator": "naive"}),
    "lcvi.summed_outcome": (
        lambda **given: event_term(lcvi.summed_outcome(EVENTS, **given)),
        {"utility": SCHOOLS_TERM["utility"], "greatest": 1},
    ),
    "lcvi.scored_outcome": (
        lambda **given: event_term(lcvi.scored_outcome(EVENTS, **given)),
        {"utility": SCHOOLS_TERM["utility"], "draws": 2},
    ),
    "lcvi.from_outcomes": (
        lcvi.from_outcomes,
        {"utility": EXPONENTIAL, "y": DRAWS[:, :2, None] * np.ones(3), "h": P[:3], "estimator": "naive"},
    ),
    "lcvi.best_decisions": (lcvi.best_decisions, {"utility": EXPONENTIAL, "y": DRAWS[:, :2, None] * np.ones(3), "estimator": "naive"}),
    "lcvi.classes": (
        lambda loss, M: lcvi.classes(lambda theta, x: jnp.ones(2) / 2, loss, M).value((), jnp.ones((2, 1)), None, None),
        {"loss": d.cost_matrix([[0.0, 2.0], [1.0, 0.0]]), "M": 4.0},
    ),
    "lcvi.calibrated": (
        lambda **given: climbed(
            lcvi.calibrated(REGRESSION, NORMAL, lcvi.normal_outcome(REGRESSION.reading.moments, EXPONENTIAL), **given),
            lcvi.Pair(families.Diagonal(*map(jnp.asarray, LAM)), jnp.zeros(6)),
        ),
        {"samples": 2, "utility_samples": 2, "weight": 1.0},
    ),
    "lcvi.calibrate": (
        calibrated_numbers,
        {"key": KEY, "data": Rows(X, Y), "loss_or_utility": d.squared(), "transform": "linearised", "M": 70.0, "quantile": 0.7}
        | {"method": "closed", "decisions": "joint", "held_out": Rows(X, Y), "samples": 2, "utility_samples": 2, "outcome_draws": 2}
        | {"batch": 3, "steps": 4, "rate": 0.1, "tolerance": 0.1, "predictive_draws": 8, "warm_start": False},
    ),
    "lcvi.Calibration.decide": (lambda **given: one_calibration().decide(**given), {"covariates": X, "key": KEY, "draws": 8}),
    "lcvi.Calibration.predict": (lambda **given: one_calibration().predict(**given), {"covariates": X, "key": KEY, "draws": 8}),
    "lcvi.Calibration.to_datatree": (
        lambda **given: one_calibration().to_datatree(**given)["posterior"]["theta"].values,
        {"covariates": X, "key": KEY, "draws": 8},
    ),
    "lcvi.Calibration.plot": (drawn_figure, {"covariates": X, "row": 2, "key": KEY, "draws": 8}),
    "lcvi.regret": (lambda utility: lcvi.regret(utility)(1.0, 2.0), {"utility": lcvi.linearised(d.squared(), 2.0)}),
    # vi
    "vi.cavi_normal": (vi.cavi_normal, {"x": P, "prior_precision": 2.0, "shape": 2.0, "rate": 2.0, "iterations": 2}),
    "vi.cavi_regression": (
        lambda x, y, **given: vi.cavi_regression(Rows(x, y), **given),
        {"x": X, "y": Y, "prior_sd": np.array([1.0, 2.0]), "shape": 2.0, "rate": 2.0, "factors": "block", "iterations": 2},
    ),
    "vi.cavi_mixture": (
        vi.cavi_mixture,
        {"key": KEY, "x": X, "components": 2, "concentration": 2.0, "prior_sd": 2.0, "shape": 2.0, "rate": 2.0, "iterations": 2},
    ),
    "vi.em_mixture": (
        vi.em_mixture,
        {"key": KEY, "x": X, "components": 2, "concentration": 2.0, "shape": 2.0, "rate": 2.0, "iterations": 2},
    ),
    "vi.generator": (lambda name, order: vi.generator(name, order)(2.0), {"name": "alpha", "order": 3.0}),
    "vi.f_divergence": (lambda log_ratio: vi.f_divergence(vi.generator("forward"), log_ratio), {"log_ratio": Y}),
    "vi.kl_normal": (
        lambda mean, covariance: vi.kl_normal(vi.Normal(mean, covariance), vi.Normal(P[:2], COVARIANCE)),
        {"mean": P[:2] + 1, "covariance": np.eye(2)},
    ),
    "vi.log_affinity": (
        lambda mean, covariance, order: finite_part(vi.log_affinity(vi.Normal(mean, covariance), vi.Normal(P[:2], COVARIANCE), order)),
        {"mean": P[:2] + 1, "covariance": np.eye(2), "order": 0.5},
    ),
    "vi.renyi_normal": (
        lambda p, order: finite_part(vi.renyi_normal(p, vi.Normal(P[:2], COVARIANCE), order)),
        {"p": vi.Normal(P[:2], np.eye(2)), "order": 2.0},
    ),
    "vi.alpha_normal": (
        lambda p, order: finite_part(vi.alpha_normal(p, vi.Normal(P[:2], COVARIANCE), order)),
        {"p": vi.Normal(P[:2], np.eye(2)), "order": 2.0},
    ),
    "vi.psis_khat": (
        lambda **given: finite_part(vi.psis_khat(model=REGRESSION, family=NORMAL, data=ROWS, **given)),
        {"key": KEY, "lam": LAM, "draws": 25},
    ),
    "vi.vsbc": (
        lambda **given: vi.vsbc(
            simulate=lambda key: (np.zeros(1), 0.0), approximate=lambda key, y: np.linspace(-1, 2, 5)[:, None], **given
        ),
        {"key": KEY, "repeats": 20, "draws": 2},
    ),
    "vi.corpus": (lambda counts: vi.corpus(counts).count, {"counts": np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])}),
    "vi.halves": (lambda key: vi.halves(key, WORDS), {"key": KEY}),
    "vi.lda": (lda_of, {"key": KEY, "topics": 2, "alpha": 1.0, "gamma": 1.0, "iterations": 1, "inner": 2, "tolerance": 0.1}),
    "vi.transform": (lambda **given: vi.transform(FITTED, WORDS, **given), {"inner": 2, "tolerance": 0.1}),
    "vi.perplexity": (lambda **given: vi.perplexity(FITTED, WORDS, WORDS, **given), {"inner": 2, "tolerance": 0.1}),
    "vi.stochastic_lda": (
        lambda **given: lda_of(vi.stochastic_lda, **records(given, minibatches=MINIBATCHES)),
        {"key": KEY, "topics": 2, "minibatches": MINIBATCHES, "size": 1, "steps": 2, "power": 0.7, "delay": 2.0}
        | {"alpha": 1.0, "gamma": 1.0, "inner": 2, "tolerance": 0.1},
    ),
    "vi.log_mean": (vi.log_mean, {"parameters": P}),
    "vi.fisher": (lambda eta: vi.fisher(lambda e: jnp.exp(e).sum(), eta), {"eta": P}),
    "vi.natural_gradient": (lambda eta: vi.natural_gradient(lambda e: jnp.exp(e).sum(), lambda e: -(e @ e), eta), {"eta": P}),
    # models
    "models.check_pools": (lambda **given: models.check_pools(models.Pools(**given)), {"positives": 1.0, "pools": 3.0, "size": 2.0}),
    "models.eight_schools": (
        lambda **given: density(models.eight_schools(**given), 10, data.schools()),
        {"mean_sd": 2.0, "scale": 2.0, "link": "exp", "schools": 8},
    ),
    "models.hierarchical_regression": (
        lambda **given: density(models.hierarchical_regression(**given), 7, GROUPED),
        {"groups": 2, "dim": 2, "prior_sd": 2.0, "largest_sd": 9.0},
    ),
    "models.linear_regression": (
        lambda **given: density(models.linear_regression(**given), 2),
        {"dim": 2, "noise_sd": 2.0, "prior_sd": np.array([1.0, 2.0])},
    ),
    "models.logistic_regression": (
        lambda **given: density(models.logistic_regression(**given), 2, TRIALS),
        {"dim": 2, "prior_sd": np.array([1.0, 2.0])},
    ),
    "models.matrix_factorization": (
        lambda **given: density(models.matrix_factorization(**given), 4, CELLS),
        {"rows": 2, "columns": 2, "factors": 1, "noise_sd": 2.0, "row_sd": 2.0, "column_sd": 2.0},
    ),
    "models.neural_network": (
        lambda **given: density(models.neural_network(**given), 5, Rows(ROWS.x[:, :1], ROWS.y)),
        {"dim": 1, "hidden": (), "noise_sd": 2.0, "prior_sd": 2.0, "noise_scale": 2.0},
    ),
    "models.noisy_regression": (
        lambda **given: density(models.noisy_regression(**given), 3),
        {"dim": 2, "prior_sd": np.array([1.0, 2.0]), "shape": 2.0, "rate": 2.0},
    ),
    "models.normal_sample": (
        lambda **given: density(models.normal_sample(**given), 2, jnp.ones(3)),
        {"prior_precision": 2.0, "shape": 2.0, "rate": 2.0},
    ),
    "models.polynomial_regression": (
        lambda **given: density(m := models.polynomial_regression(**given), m.dim, Rows(ROWS.x[:, :1], ROWS.y)),
        {"degree": 2, "noise_sd": 2.0, "prior_sd": 2.0},
    ),
    "models.pooled_testing": (lambda **given: density(models.pooled_testing(**given), 1, POOLS), {"a": 2.0, "b": 2.0}),
    "models.powers": (models.powers, {"x": X[:, :1], "degree": 2}),
    "models.regression_posterior": (
        lambda x, y, **given: models.regression_posterior(Rows(x, y), **given),
        {"x": X, "y": Y, "noise_sd": 2.0, "prior_sd": np.array([1.0, 2.0])},
    ),
    "models.regression_predictive": (
        lambda **given: models.regression_predictive(models.regression_posterior(ROWS, 1.0, 1.0), **given),
        {"x": X, "noise_sd": 2.0},
    ),
    # gradients, families, fit, data
    "gradients.reparameterized": (
        lambda **given: climbed(gradients.reparameterized(REGRESSION, NORMAL, **given)),
        {"samples": 2, "entropy": "closed form"},
    ),
    "gradients.path_derivative": (lambda samples: climbed(gradients.path_derivative(REGRESSION, NORMAL, samples)), {"samples": 2}),
    "gradients.score": (
        lambda **given: climbed(gradients.score(REGRESSION, NORMAL, **given)),
        {"samples": 4, "baseline": "constant"},
    ),
    "gradients.minibatch": (
        lambda size: climbed(gradients.minibatch(gradients.path_derivative(REGRESSION, NORMAL, 2), size)),
        {"size": 2},
    ),
    "gradients.once": (
        lambda key: gradients.once(gradients.path_derivative(REGRESSION, NORMAL, 2), key, LAM, ROWS).gradient,
        {"key": KEY},
    ),
    "families.sample": (lambda **given: families.sample(family=NORMAL, **given), {"key": KEY, "lam": LAM, "draws": 2}),
    "families.log_prob": (lambda lam, theta: families.log_prob(NORMAL, lam, theta), {"lam": LAM, "theta": P[:2]}),
    "families.entropy": (lambda lam: families.entropy(NORMAL, lam), {"lam": LAM}),
    "families.Family.init": (NORMAL.init, {"dim": 2, "location": P[:2], "scale": P[:2]}),
    "families.student_t": (lambda df: families.student_t(df).log_prob(1.0), {"df": 4.0}),
    "fit.fit": (
        lambda **given: fit.fit(
            estimator=gradients.path_derivative(REGRESSION, NORMAL, 2),
            optimizer=optax.adam(0.1),
            data=ROWS,
            **records({"steps": 2, **given}, settings=fit.QUIET),
        )[:2],
        {"key": KEY, "lam": LAM, "steps": 2, "settings": fit.QUIET, "average": 0.5, "tolerance": 0.1, "window": 2},
    ),
    "large.minibatches": (
        lambda key, size: next(large.minibatches(key, Rows(X, Y), size)(0)).rows,
        {"key": KEY, "size": 2},
    ),
    "large.fit_stream": (
        lambda **given: large.fit_stream(
            estimator=gradients.path_derivative(REGRESSION, NORMAL, 2),
            optimizer=optax.adam(0.1),
            batches=large.minibatches(KEY, Rows(X, Y), 2),
            **records({"steps": 2, **given}, settings=fit.QUIET),
        )[:2],
        {"key": KEY, "lam": LAM, "steps": 2, "settings": fit.QUIET, "average": 0.5},
    ),
    "fit.robbins_monro": (lambda **given: fit.robbins_monro(**given)(2), {"rate": 1.0, "power": 0.7, "delay": 2.0}),
    # how runs end, draws with implicit derivatives
    "convergence.rise": (convergence.rise, {"objective": TRACE}),
    "convergence.converged": (convergence.converged, {"objective": TRACE}),
    "convergence.doubt": (convergence.doubt, {"objective": TRACE}),
    "flows.coupling": (lambda **given: flows.coupling(**given).init(2), {"layers": 2, "width": 3, "reach": 2.0}),
    "implicit.draw_gamma": (implicit.draw_gamma, {"key": KEY, "shape": P}),
    "implicit.draw_von_mises": (implicit.draw_von_mises, {"key": KEY, "kappa": P}),
    "implicit.implicit": (
        lambda samples: climbed(implicit.implicit(REGRESSION, implicit.gamma(), samples), implicit.gamma().init(2)),
        {"samples": 2},
    ),
    "data.standardised": (data.standardised, {"x": X}),
    "data.corn_simulated": (lambda key: data.corn_simulated(key)[:3], {"key": KEY}),
    "data.lastfm_simulated": (lambda key: data.lastfm_simulated(key)[:3], {"key": KEY}),
    "data.radon_simulated": (lambda key: data.radon_simulated(key)[:3], {"key": KEY}),
    "data.ruggedness_simulated": (lambda key: data.ruggedness_simulated(key)[:3], {"key": KEY}),
}

FUNCTIONS_ONLY = "takes functions and switches, no numbers"
HOT = "a piece of compiled loops, documented as unchecked; who calls it checks"
EXEMPT = {
    "mcmc.abstract_hmc": FUNCTIONS_ONLY,
    "mcmc.gibbs": FUNCTIONS_ONLY,
    "mcmc.independence": FUNCTIONS_ONLY,
    "mcmc.metropolis_hastings": FUNCTIONS_ONLY,
    "mcmc.energy": HOT,
    "mcmc.leapfrog": HOT,
    "mcmc.start_phase": HOT,
    "is_gradients.state_bytes": "looks at shapes alone",
    "lambertw.laplace_mgf": "differentiated inside moments",
    "lambertw.logistic_mgf": "differentiated inside moments",
    "lambertw.normal_mgf": "differentiated inside moments",
    "lcvi.amortised": FUNCTIONS_ONLY,
    "lcvi.estimand": FUNCTIONS_ONLY,
    "lcvi.joint": FUNCTIONS_ONLY,
    "lcvi.normal_outcome": FUNCTIONS_ONLY,
    "posthoc.decide": "takes a Correction; its draws go through characterize",
    "vi.mean_topics": "takes what lda returns",
    "vi.token_bound": "takes what lda returns",
    "models.event_probability": HOT,
    "models.as_model": "takes a program",
    "models.from_numpyro": "takes a program",
    "models.from_pymc": "takes a program",
    "models.log_joint": HOT,
    "models.read_as": FUNCTIONS_ONLY,
    "models.require_differentiable": FUNCTIONS_ONLY,
    "implicit.attach_gradient": HOT,
    "implicit.beta": FUNCTIONS_ONLY,
    "implicit.dirichlet": FUNCTIONS_ONLY,
    "implicit.gamma": FUNCTIONS_ONLY,
    "implicit.von_mises": FUNCTIONS_ONLY,
    "families.compose": FUNCTIONS_ONLY,
    "families.dimension": HOT,
    "families.each_coordinate": "the check of every init",
    "families.full_rank": FUNCTIONS_ONLY,
    "families.full_rank_normal": FUNCTIONS_ONLY,
    "families.laplace": FUNCTIONS_ONLY,
    "families.location_scale": FUNCTIONS_ONLY,
    "families.logistic": FUNCTIONS_ONLY,
    "families.mean_field_normal": FUNCTIONS_ONLY,
    "families.normal": FUNCTIONS_ONLY,
    "families.own_units": HOT,
    "families.triangle": HOT,
    "gradients.mean_over_samples": HOT,
    "gradients.no_state": HOT,
    "gradients.rows_and_scale": HOT,
    "gradients.take": HOT,
    "large.shard": "takes rows of a model and devices",
    "data.breast_cancer": FUNCTIONS_ONLY,
    "data.diabetes": FUNCTIONS_ONLY,
    "data.schools": FUNCTIONS_ONLY,
    "data.corn": FUNCTIONS_ONLY,
    "data.lastfm": FUNCTIONS_ONLY,
    "data.local": FUNCTIONS_ONLY,
    "data.radon": FUNCTIONS_ONLY,
    "data.ruggedness": FUNCTIONS_ONLY,
}

# Arguments that a message calls by another name.
ALSO = {
    "idata": ("predictive", "the draws"),
    "position": ("positions",),
    "predictive": ("the draws", "covariates has"),
    "draws": ("for each draw",),
    "loss_or_utility": ("loss",),
    "utility": ("loss",),
    "nus": ("nu",),
    "values": ("log_weights",),
    "mean": ("covariance", "prior.sd has"),
    "inner": ("utility",),
    "x": ("prior_sd has",),
    "axis": ("weights", "h has"),
    "shape": ("log_weights",),
}

# Arguments without a value in a line: functions, what the package makes of functions or of checked numbers, and words.
UNTRIED = {
    "approximate", "base", "constrain", "decide", "estimator", "executor", "f", "family", "fn", "kernel", "log", "log_density",
    "log_target", "mgf", "model", "optimizer", "predict", "probabilities", "record", "refit", "rule", "simulate", "term", "utility", "w",
    "documents", "fit", "held", "network", "posterior", "seen", "folder", "group", "name", "variable", "log_normaliser",
}  # fmt: skip
# And those of one function, with the arguments of the line that they are made of, or the reason.
MADE_OF = {
    "fit.fit": {"data": "what the model takes"},
    "is_gradients.fixed_draws": {"data": "what the model takes"},
    "large.minibatches": {"data": "what the model takes", "reading": "a record"},
    "large.fit_stream": {"batches": "what minibatches gives", "checkpoint": "a file"},
    "lcvi.calibrate": {"objective": "its fields, by name", "optimisation": "its fields, by name"},
    "vi.natural_gradient": {"objective": "a function"},
    "mcmc.tempered": {"log_prior": "a function", "log_likelihood": "a function"},
    "gradients.once": {"data": "what the model takes", "lam": "an estimator does not look at it; fit does"},
    "models.check_pools": {"data": "positives, pools, size"},
    "models.regression_posterior": {"data": "x, y"},
    "vi.cavi_regression": {"data": "x, y"},
    "posthoc.bootstrap_prior": {"data": "what the refit takes"},
    "vi.psis_khat": {"data": "what the model takes"},
    "vi.kl_normal": {"q": "mean, covariance", "p": "another such"},
    "vi.log_affinity": {"p": "mean, covariance", "q": "another such"},
    "vi.renyi_normal": {"q": "another p"},
    "vi.alpha_normal": {"q": "another p"},
}

PLAIN = [None, np.nan, np.inf, -np.inf, "a", [[1.0], [1.0, 2.0]], np.array([None, 1.0], object), np.zeros(0), [], 1j, True]
MASKED = np.ma.array([1.0, 2.0], mask=[True, False])
KEY_0_WHERE_NONE_IS_GIVEN = {f"lcvi.Calibration.{name}" for name in ("decide", "predict", "to_datatree", "plot")} | {
    "posthoc.fit_decision_maker",
    "posthoc.cross_validate",
    "posthoc.correct",
    "posthoc.bootstrap_prior",
}
SEEDS = {"lcvi.calibrate"}  # which take a whole number for the key with that seed
NO_KEYS = [
    0,
    -1,
    None,
    1.5,
    "a",
    np.uint32(7),
    [0, 0],
    np.zeros(2),
    jax.random.split(KEY),
    jax.random.split(jax.random.PRNGKey(0)),
    KEY[None],
]


def spoilt(valid):
    """Bad values in the place of one that is accepted."""
    if isinstance(valid, np.ndarray):
        x = valid.astype(float)
        for bad in (np.nan, np.inf, -np.inf):
            changed = x.copy()
            changed.flat[-1] = bad
            yield changed
        yield from (x[:-1], x[..., :-1], x[None], x > x.mean(), x + 1j, x.astype(object), x.astype(str), 0 * x, -x)
        yield np.ma.array(x, mask=x == x.flat[0])
        yield from (MASKED, *PLAIN, 1.0)
    elif isinstance(valid, tuple) and hasattr(valid, "_fields") and not callable(valid):
        for field, part in valid._asdict().items():
            if isinstance(part, np.ndarray | jax.Array):
                yield from (valid._replace(**{field: bad}) for bad in spoilt(np.asarray(part)))
        yield from PLAIN
    elif isinstance(valid, tuple):
        yield from ((None,), (np.nan,), ("a",), (0,), (1.5,), 2, *PLAIN)
    else:
        yield from (MASKED, np.array([0.5, 0.6]), [1.0], 0, -1, 1.5, *PLAIN)


# Where an answer takes long, only what has to be refused is tried.
SLOW = {"mcmc.run_chains", "mcmc.sample_chain", "mcmc.pareto_smooth", "lambertw.tabulated", "lambertw.moments", "lcvi.best_decisions"} | {
    "is_gradients.sag", "is_gradients.saga", "is_gradients.isag", "is_gradients.importance_weights", "lcvi.calibrated", "vi.psis_khat",
    "vi.cavi_regression", "vi.cavi_mixture", "vi.cavi_normal", "vi.em_mixture", "vi.lda", "vi.stochastic_lda", "mcmc.tune_hmc"} | {
    "posthoc.fit_decision_maker", "posthoc.cross_validate", "posthoc.correct", "lcvi.amortise", "lcvi.calibrate", "lambertw.fit_mle",
    "lambertw.fit_igmm", "fit.fit", "large.fit_stream", "is_gradients.anchored", "is_gradients.isgd", "is_gradients.running_average",
    "implicit.draw_gamma", "implicit.draw_von_mises",
}  # fmt: skip


def hopeless(value):
    """Whether no function may answer: a missing or infinite value, a mask, words, or what is no regular array of real numbers."""
    if isinstance(value, tuple):
        return any(hopeless(part) for part in value)
    if isinstance(value, list):
        return value != [1.0]
    array = np.asarray(value)
    if np.ma.is_masked(value) or array.size == 0 or array.dtype.kind not in "biuf":
        return value is not None
    return not np.isfinite(array).all()


def outcome(call, given):
    """The numbers of an answer, or the words of a refusal of ours; any other error comes out as it is."""
    try:
        answer = call(**given)
    except ValueError as problem:
        if "course_pkg" not in traceback.extract_tb(problem.__traceback__)[-1].filename:
            raise
        return str(problem)
    return [np.asarray(leaf) for leaf in jax.tree.leaves(answer) if isinstance(leaf, np.ndarray | jax.Array | float | int | np.generic)]


def complaint(call, given, argument, value):
    """What is wrong with what a bad value leads to, if anything."""
    try:
        found = outcome(call, given | {argument: value})
    except Exception as problem:
        return f"raw {type(problem).__name__}: {str(problem)[:120]}"
    if isinstance(found, str):
        named = any(re.search(rf"\b{re.escape(word)}\b", found) for word in (argument, *ALSO.get(argument, ())))
        return None if named else f"does not name it: {found[:160]}"
    return None if all(np.isfinite(leaf).all() for leaf in found) else "an answer that is not finite"


def whole(name, valid):
    """A valid value as whole numbers, and as the same floats; None where it holds no floats."""
    if name in SLOW and not isinstance(valid, np.ndarray):
        return None
    if isinstance(valid, float):
        return round(valid) or 1, float(round(valid) or 1)
    if isinstance(valid, np.ndarray) and valid.dtype.kind == "f":
        return np.rint(3 * valid).astype(int), np.rint(3 * valid)
    if isinstance(valid, families.Diagonal):
        return valid._replace(mu=np.array([1, -2])), valid._replace(mu=np.array([1.0, -2.0]))
    return None


@pytest.fixture(autouse=True)
def no_type_hook():
    """As a reader runs the package: without the types that the tests enforce."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def line(name, argument):
    """A row of a test, with a name to find it by."""
    return pytest.param(name, argument, id=f"{name}-{argument}")


@pytest.mark.parametrize(("name", "argument"), [line(name, argument) for name in CASES for argument in CASES[name][1] if argument != "key"])
def test_bad_values_are_refused_by_name_or_answered(name, argument, request):
    call, given = CASES[name]
    tried = [value for value in spoilt(given[argument]) if name not in SLOW or hopeless(value)]
    if not request.config.getoption("--thorough"):  # a third: another one for the next argument, and together all of them many times
        tried = tried[len(name + argument) % 3 :: 3]
    found = [(value, complaint(call, given, argument, value)) for value in tried]
    assert not [f"{value!r}: {words}" for value, words in found if words]
    if (pair := whole(name, given[argument])) is not None:
        one, other = (outcome(call, given | {argument: value}) for value in pair)
        assert isinstance(one, str) == isinstance(other, str), f"{one} and {other}"
        assert isinstance(one, str) or all(np.allclose(a, b, rtol=1e-5) and a.shape == b.shape for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(("name", "argument"), [line(name, "lists") for name in CASES])
def test_the_arguments_of_the_table_are_good_and_lists_of_them_are_as_good(name, argument):
    call, given = CASES[name]
    answer = outcome(call, given)
    assert not isinstance(answer, str), answer
    assert all(np.isfinite(leaf).all() for leaf in answer)
    trees = ("position", "positions")  # of which a list is one more kind
    arrays = {key: value.tolist() for key, value in given.items() if isinstance(value, np.ndarray) and key not in trees}
    if not arrays:
        return
    listed = outcome(call, given | arrays)
    assert not isinstance(listed, str), listed
    assert all(a.shape == b.shape and np.allclose(a, b, rtol=1e-5) for a, b in zip(answer, listed, strict=True))


@pytest.mark.parametrize("name", [name for name in CASES if "key" in CASES[name][1]])
def test_what_is_no_key_is_refused_and_keys_of_the_old_style_are_taken(name):
    call, given = CASES[name]
    taken = ([None] if name in KEY_0_WHERE_NONE_IS_GIVEN else []) + ([0] if name in SEEDS else [])
    for value in [value for value in NO_KEYS if not any(value is one for one in taken)]:
        assert re.match(r"key is .*; give one random key, such as jax.random.key\(0\)$", outcome(call, given | {"key": value}))
    old, new = (outcome(call, given | {"key": make(0)}) for make in (jax.random.PRNGKey, jax.random.key))
    assert not isinstance(old, str)
    if name in SEEDS:
        for one, other in zip(new, outcome(call, given | {"key": 0}), strict=True):
            np.testing.assert_array_equal(one, other)


# What a reader may give in the place of anything: drawn, where the table above is fixed.
NUMBERS = st.one_of(st.floats(-4, 4), st.sampled_from([np.nan, np.inf, -np.inf]), st.integers(-3, 9))
ODD = st.one_of(st.none(), st.text(max_size=2), st.booleans(), st.complex_numbers(max_magnitude=4), st.binary(max_size=2))
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
ARRAYS = st.one_of(
    hnp.arrays(float, SHAPES, elements=NUMBERS),
    hnp.arrays(np.int32, SHAPES, elements=st.integers(-3, 9)),
    hnp.arrays(object, SHAPES, elements=st.one_of(NUMBERS, ODD)),
    hnp.arrays(float, (2,), elements=st.floats(-4, 4)).map(lambda x: np.ma.array(x, mask=[True, False])),
)
ANYTHING = st.one_of(
    NUMBERS, ODD, ARRAYS, st.lists(st.one_of(NUMBERS, ODD), max_size=4), st.lists(st.lists(NUMBERS, max_size=2), max_size=3)
)
QUICKLY = [
    (name, argument) for name in CASES if name not in SLOW and "Calibration" not in name for argument in CASES[name][1] if argument != "key"
]


# what hypothesis draws depends on the modules that the worker has loaded, so it looks for faults and is no gate
@pytest.mark.thorough
@settings(max_examples=500)
@drawn(st.sampled_from(QUICKLY), ANYTHING)
def test_whatever_is_given_is_refused_by_name_or_answered(place, value):
    (name, argument), (call, given) = place, CASES[place[0]]
    words = complaint(call, given, argument, value)
    assert not words, f"{name}, {argument} = {value!r}: {words}"


MODULES = [
    "decisions", "mcmc", "is_gradients", "lambertw", "lcvi", "posthoc", "vi", "models", "gradients", "families", "fit", "data",
    "convergence", "flows", "implicit", "large",
]  # fmt: skip


def public(short):
    """Functions that a module offers: those of its `__all__`, or its own without an underscore."""
    module = importlib.import_module(f"course_pkg.{short}")
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__ and name[0] != "_"]
    names = getattr(module, "__all__", own)
    functions = {f"{short}.{name}" for name in names if inspect.isfunction(getattr(module, name))}
    classes = {name: vars(getattr(module, name)) for name in names if inspect.isclass(getattr(module, name))}
    return functions | {f"{short}.{name}.{own}" for name in classes for own in classes[name] if _is_method(own, classes[name][own])}


def _is_method(name, thing):
    return inspect.isfunction(thing) and name[0] != "_"


def test_every_public_function_has_a_line_or_a_reason():
    there = set().union(*map(public, MODULES))
    assert there | {"families.Family.init"} == set(CASES) | set(EXEMPT)  # which is a field
    assert not set(CASES) & set(EXEMPT)


def test_a_line_has_every_argument_that_is_no_function_no_switch_and_no_result():
    left_out = {}
    for name in CASES:
        module, *path = name.split(".")
        thing = (
            NORMAL.init
            if name == "families.Family.init"
            else functools.reduce(getattr, path, importlib.import_module(f"course_pkg.{module}"))
        )
        parameters = [p for p in inspect.signature(thing).parameters.values() if p.kind is not p.VAR_KEYWORD and p.name != "self"]
        asked = {p.name for p in parameters if not isinstance(p.default, bool)} - UNTRIED - set(MADE_OF.get(name, {}))
        left_out[name] = asked - set(CASES[name][1])
    assert not {name: missing for name, missing in left_out.items() if missing}
