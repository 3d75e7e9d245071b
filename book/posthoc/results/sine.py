"""Figure 4.10 of the thesis: a straight line on a noisy sine, and decision makers from free to faithful.

    python book/posthoc/results/sine.py [--seeds 5]

Writes ``sine.json``: the decisions on a grid for each strength of the prior, and risks and distances for a few seeds. The settings are the
authors': 500 points, tilted 0.9, 21 quantiles, 10 refits, hidden layers of 20 and 10, Adam 0.01 on minibatches of 32 for 500 epochs. The
posterior of the line under flat priors has a closed form, so nothing is sampled but the draws themselves. Under a minute on two cores.
"""

import argparse

import jax
import numpy as np
from stored import store

from course_pkg.decisions import empirical_risk, tilted
from course_pkg.posthoc import Training, bootstrap_prior, characterize, fidelity, fit_decision_maker

LOSS, DRAWS, REFITS = tilted(0.9), 5000, 10
STRENGTHS = [0.0, 0.0005, 0.002, 0.01, 0.05, 0.2, 1.0]  # the authors' are 0, 0.0005 and 0.01
SETTINGS = {"hidden": (20, 10), "restarts": 1, "held_out": 0.0, "decay": False, "rate": 0.01, "batch": 32, "steps": 500 * 500 // 32}
LEVELS = np.append(np.append(0.0005, np.arange(1, 20) / 20), 0.9995)  # 21, as 0, 0.05, ..., 1


def noisy_sine(seed, n=500, flat=False):
    """The authors' data, or a cosine, to which no line can do justice: its best slope is about zero."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10.5, 10.5, n)
    return x, 7 * (np.cos(0.75 * x) if flat else np.sin(0.75 * x)) + 0.5 * x * (not flat) + 3 * rng.normal(size=n)


def standardised(seed, flat):
    """Training points and 5,000 fresh ones, in the training points' units."""
    (x, y), (fresh_x, fresh_y) = noisy_sine(seed, flat=flat), noisy_sine(seed + 1000, 5000, flat)
    return (x - x.mean()) / x.std(), (y - y.mean()) / y.std(), (fresh_x - x.mean()) / x.std(), (fresh_y - y.mean()) / y.std()


def line_predictive(rng, x, y, at, draws=DRAWS):
    """Draws of y at new points from y ~ N(a + b x, s), flat on a, b and log s: shape (points, draws)."""
    design = np.column_stack([np.ones_like(x), x])
    gram = np.linalg.inv(design.T @ design)
    best = gram @ design.T @ y
    free = len(x) - 2
    variance = ((y - design @ best) ** 2).sum() / rng.chisquare(free, draws)
    theta = best + np.sqrt(variance)[:, None] * (rng.normal(size=(draws, 2)) @ np.linalg.cholesky(gram).T)
    noise = np.sqrt(variance) * rng.normal(size=(len(at), draws))
    return np.column_stack([np.ones_like(at), at]) @ theta.T + noise


def one_seed(seed, flat=False, with_x=False, strengths=STRENGTHS, told_levels=LEVELS, **other):
    x, y, fresh_x, fresh_y = standardised(seed, flat)
    rng = np.random.default_rng([seed, 1])
    grid = np.linspace(-1.7, 1.7, 69)
    at = {"train": x, "grid": grid, "fresh": fresh_x}
    draws = {name: line_predictive(rng, x, y, points) for name, points in at.items()}
    told = {name: characterize(d, told_levels, covariates=at[name] if with_x else None) for name, d in draws.items()}

    def refit(key, rows):
        own = np.random.default_rng(int(jax.random.bits(key)))
        return np.quantile(line_predictive(own, *rows, x), 0.9, axis=-1)

    prior = bootstrap_prior(refit, (x, y), REFITS, key=jax.random.key(seed), progress=False)
    q_optimal = {name: np.quantile(d, 0.9, axis=-1) for name, d in draws.items()}
    out = {"x": grid.tolist(), "q_optimal": q_optimal["grid"].tolist(), "prior_sd_range": [float(prior.sd.min()), float(prior.sd.max())]}
    out["q_optimal_fresh_risk"] = float(empirical_risk(LOSS, fresh_y, q_optimal["fresh"]))
    out["nu"] = {}
    for nu in strengths:
        fit = fit_decision_maker(
            told["train"], y, LOSS, prior=prior, nu=nu, key=jax.random.key(seed), training=Training(**(SETTINGS | other))
        )
        h = {name: np.asarray(fit.maker(f)) for name, f in told.items()}
        far = fidelity(h["fresh"], q_optimal["fresh"], draws["fresh"].std(axis=-1))
        out["nu"][str(nu)] = {
            "decisions": h["grid"].tolist(),
            "train_risk": float(empirical_risk(LOSS, y, h["train"])),
            "fresh_risk": float(empirical_risk(LOSS, fresh_y, h["fresh"])),
            "from_q_optimal_rms_in_predictive_sd": far.root_mean_square,
        }
    return out


def summarise(parts):
    """Print the means over seeds, and keep the curves of the first seed only."""
    for part, seeds in parts.items():
        for nu in seeds[0]["nu"]:
            rows = [(s["q_optimal_fresh_risk"], *list(s["nu"][nu].values())[-3:]) for s in seeds]
            print(f"{part:18} nu {nu:7} q-optimal fresh, train, fresh, distance:", np.round(np.mean(rows, axis=0), 4))
        for seed in seeds[1:]:
            for found in seed["nu"].values():
                del found["decisions"]
            del seed["x"], seed["q_optimal"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    count = parser.parse_args().seeds
    parts = {
        "line_on_sine": [one_seed(123 + seed) for seed in range(count)],
    }
    summarise(parts)
    store(__file__, "sine", 4, figure="thesis, Figure 4.10", settings=SETTINGS, levels=LEVELS.tolist(), **parts)


if __name__ == "__main__":
    main()
