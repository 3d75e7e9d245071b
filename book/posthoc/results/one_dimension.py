"""Figure 4.7 of the thesis in one dimension: a normal approximation of a heavy-tailed, skewed predictive, and the decision that mends it.

    python book/posthoc/results/one_dimension.py [--seeds 20]

Writes ``one_dimension.json``. The truth is a gamma with a point of its own for each case; the approximation is the normal with its mean and
standard deviation. Risks are exact up to quadrature, so the gap between q-optimal and p-optimal is the approximation's alone. Beside the
package's makers stand rivals from the literature, each with the same days to learn from.
"""

import argparse

import jax
import numpy as np
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import QuantileRegressor
from stored import store

from course_pkg.decisions import tilted
from course_pkg.posthoc import Training, characterize, fit_decision_maker, single_quantile

SHAPE, CASES = 1.5, 1000


def rivals(draws, y, learn, q):
    """Decisions for all days by methods that predict an interval or a quantile, told the draws or their mean."""
    told, h_q = draws.mean(axis=1, keepdims=True), np.quantile(draws, q, axis=1)
    boosted = GradientBoostingRegressor(loss="quantile", alpha=q, random_state=0)
    # recalibration: how often outcomes lie below the predictive's quantile at each level, made monotone and turned round
    pit = np.sort((draws < y[:, None]).mean(axis=1)[learn])
    share = IsotonicRegression(out_of_bounds="clip").fit_transform(pit, np.arange(1, len(pit) + 1) / (len(pit) + 1))
    # conformal prediction: the model's quantile, moved by the quantile of its misses that covers a further outcome with probability q
    misses = np.sort((y - h_q)[learn])
    return {
        "quantile regression": QuantileRegressor(quantile=q, alpha=0).fit(told[learn], y[learn]).predict(told),
        "boosted quantile regression": boosted.fit(told[learn], y[learn]).predict(told),
        "quantile recalibration": np.quantile(draws, np.interp(q, share, pit), axis=1),
        "conformal shift": h_q + misses[int(np.ceil(q * (len(misses) + 1))) - 1],
    }


def one_seed(seed, q):
    rng, loss = np.random.default_rng([seed, int(100 * q)]), tilted(q)
    scale = rng.uniform(0.5, 3.0, 2 * CASES)  # each case has its own
    y = scale * rng.gamma(SHAPE, size=2 * CASES)
    draws = SHAPE * scale[:, None] + np.sqrt(SHAPE) * scale[:, None] * rng.normal(size=(2 * CASES, 400))
    features, learn = characterize(draws, 20), slice(CASES)
    fit = fit_decision_maker(features[learn], y[learn], loss, key=jax.random.key(seed), training=Training(restarts=1))
    linear = fit_decision_maker(features[learn], y[learn], loss, key=jax.random.key(seed), training=Training(hidden=(), restarts=1))
    single = single_quantile(draws[learn], y[learn], loss)
    ways = {
        "p-optimal": scale * stats.gamma.ppf(q, SHAPE),
        "q-optimal": scale * (SHAPE + np.sqrt(SHAPE) * stats.norm.ppf(q)),
        "single quantile": np.asarray(single(draws)),
        "linear maker": np.asarray(linear.maker(features)),
        "decision maker": np.asarray(fit.maker(features)),
        **rivals(draws, y, learn, q),
    }
    # exact risk of h under the gamma, case by case: q E(y - h)+ + (1 - q) E(h - y)+
    risk = {}
    for name, h in ways.items():
        z = np.maximum(h[CASES:] / scale[CASES:], 0)
        below = z * stats.gamma.cdf(z, SHAPE) - SHAPE * stats.gamma.cdf(z, SHAPE + 1)
        under = np.minimum(h[CASES:] / scale[CASES:], 0)  # a negative decision is short by its size, for certain
        risk[name] = float((scale[CASES:] * ((1 - q) * below + q * (below + SHAPE - z) - q * under)).mean())
    return {"level": single.level, "risk": risk}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    found = {str(q): [one_seed(seed, q) for seed in seeds] for q in (0.1, 0.5, 0.9)}
    for q, runs in found.items():
        for name in runs[0]["risk"]:
            risks = [run["risk"][name] for run in runs]
            print(f"tilted {q}: {name:16} {np.mean(risks):.4f}, sd over seeds {np.std(risks):.4f}")
    store(__file__, "one_dimension", figure="thesis, Figure 4.7", per_seed=found)


if __name__ == "__main__":
    main()
