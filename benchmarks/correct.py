"""Decisions corrected from outcomes, at the size of the listening counts: this package's decision maker beside quantile regression.

All are told the same twenty quantiles of the predictive draws of a factorisation, learn from the cells that it was fitted to, and are
judged by their risk on those held out.
"""

import warnings

import jax
import numpy as np
import optax

from benchmarks.aims import OURS
from benchmarks.race import Race, Road, missing, unchecked
from course_pkg import data, decisions, posthoc
from course_pkg.fit import Settings, fit
from course_pkg.lcvi.factors import factor_estimator, predicted_rows, random_start
from course_pkg.posthoc import CorrectionWarning, Options, Training, characterize

TILT, FEW = 0.2, 5000  # points that a linear programme gets through

LAST = Options(axis=-1)  # the draws


def cells(small, draws):
    """Predictive draws, outcomes, and which cells were fitted, of a factorisation after a few hundred steps."""
    table = data.lastfm().table
    start = random_start(jax.random.key(0), *table.value.shape, 20)._replace(h=())
    settings = Settings(progress=False, judge=False)
    lam = fit(jax.random.key(1), factor_estimator(None, samples=10), optax.adam(0.05), start, table, 600, settings).lam.lam
    rows = np.arange(100 if small else table.value.shape[0])
    drawn = np.moveaxis(np.asarray(predicted_rows(jax.random.key(2), lam, rows, draws)), 0, -1)
    return drawn, np.asarray(table.value)[rows], np.asarray(table.seen)[rows]


def correct_race(small):
    """One tilted loss, no prior, the settings of the published experiment with a rate that falls."""
    drawn, y, train = cells(small, 100)
    loss, told = decisions.tilted(TILT), np.asarray(characterize(drawn, 20))
    training = Training(steps=300 if small else 3000, batch=5000, restarts=1, held_out=0.0)
    few = np.random.default_rng(0).permutation(int(train.sum()))[:FEW]

    def ours(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorrectionWarning)
            found = posthoc.correct(drawn, y, loss, train=train, nu=0.0, training=training, options=LAST, key=jax.random.key(seed))
        return np.asarray(found.decisions)[~train]

    def linear(_):
        from sklearn.linear_model import QuantileRegressor

        return QuantileRegressor(quantile=TILT, alpha=0.0, solver="highs").fit(told[train][few], y[train][few]).predict(told[~train])

    def boosted(seed):
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(loss="quantile", quantile=TILT, random_state=seed)
        return model.fit(told[train], y[train]).predict(told[~train])

    def light(seed):
        from lightgbm import LGBMRegressor

        model = LGBMRegressor(objective="quantile", alpha=TILT, random_state=seed, verbose=-1)
        return model.fit(told[train], y[train]).predict(told[~train])

    peers = {
        f"scikit-learn, QuantileRegressor, {min(FEW, len(few)):,} points": (linear, "scikit-learn"),
        "scikit-learn, HistGradientBoosting": (boosted, "scikit-learn"),
        "LightGBM, quantile": (light, "lightgbm"),
    }
    roads = {OURS: Road(ours)} | {name: Road(call) for name, (call, package) in peers.items() if not missing(package)}

    def error(reached):
        risks = {name: float(np.mean(np.asarray(loss(y[~train], h)))) for name, h in reached.items()}
        return {name: risk / min(risks.values()) - 1 for name, risk in risks.items()}

    absent = {gone for _, package in peers.values() if (gone := missing(package))}
    size = f"{y.shape[0]} by {y.shape[1]} cells, {train.sum():,} to learn from, 100 draws each, tilted loss"
    return Race(size, roads, error, 0.05, "held-out risk beyond the best, as a share", (1.0, "s"), tuple(sorted(absent)))


def first_race(small):
    """`correct` in a process that has compiled nothing."""
    n = 300 if small else 1000
    drawn = np.random.default_rng(0).normal(size=(n, 100)).astype(np.float32)
    y = np.random.default_rng(1).normal(0.3, 1.3, n).astype(np.float32)

    def call(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorrectionWarning)
            return posthoc.correct(drawn, y, decisions.tilted(TILT), options=LAST, key=jax.random.key(seed)).decisions

    return Race(f"{n:,} points of 100 draws", {OURS: Road(call)}, unchecked, np.inf, "")
