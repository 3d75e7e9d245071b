"""What holding a correction back costs and buys: ten seasons of readings, with the widths and the strengths of the page.

    python book/posthoc/results/held_back.py [--seeds 10]

Writes ``held_back.json``. For readings on a wave, where the line is wrong, and without it, where the line is right: how much of the model's
risk decisions save for each strength of the penalty, in the same weeks and in the weeks beyond, their distance from the model's, and the
strength that cross-validation chooses. Strengths are in multiples of the model's own risk, widths are predictive standard deviations.
Beside them a decision maker that is told x and nothing of the model. Some minutes on two cores.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from stored import store

from course_pkg.posthoc import Training, characterize, fit_decision_maker, pointwise_prior

DRAWS, LEVEL, STRENGTHS = 2000, 0.9, [0, 1, 3, 10, 30]
ROWS = {"learn": 500, "same weeks": 2000, "weeks beyond": 2000}
WORLDS = {"wave": (7, 3), "straight": (0, 6)}  # height of the wave, standard deviation of the noise
ONCE = Training(restarts=1)


def loss(y, h):
    return jnp.maximum(LEVEL * (y - h), (1 - LEVEL) * (h - y))


def season(rng, world="wave"):
    """Readings: which part each belongs to, its week and its level."""
    wave, noise = WORLDS[world]
    part = np.repeat(list(ROWS), list(ROWS.values()))
    later = part == "weeks beyond"
    x = rng.uniform(np.where(later, 10.5, -10.5), np.where(later, 13.5, 10.5))
    return part, x, 0.5 * x + wave * np.sin(0.75 * x) + noise * rng.normal(size=len(x))


def predict(rng, x, y, at):
    """Draws of the line's posterior predictive, (points, draws)."""
    slope, height = np.polyfit(x, y, 1)
    rest, n = y - height - slope * x, len(x)
    lever = 1 + 1 / n + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    scale = np.sqrt((rest**2).sum() / (n - 2) * lever)
    return (height + slope * at + scale * rng.standard_t(n - 2, (DRAWS, len(at)))).T


def one_season(seed, world):
    """Decisions of every strength, and of a network without the model, judged."""
    rng = np.random.default_rng(seed)
    part, x, y = season(rng, world)
    learn = part == "learn"
    draws = predict(rng, x[learn], y[learn], x)
    h_q, sd, told = np.quantile(draws, LEVEL, axis=1), draws.std(axis=1), characterize(draws)
    near, risk = pointwise_prior(h_q[learn], sd[learn]), float(loss(y, h_q)[learn].mean())

    def fit(features, nu):
        return fit_decision_maker(features[learn], y[learn], loss, prior=near, nu=nu, training=ONCE, key=jax.random.key(seed))

    def judged(h):
        found = {}
        for name in ("same weeks", "weeks beyond"):
            rows = part == name
            found[name] = {
                "saved": 100 * (1 - float(loss(y, h)[rows].mean() / loss(y, h_q)[rows].mean())),
                "distance": float(np.sqrt(np.mean(((h - h_q) / sd)[rows] ** 2))),
            }
        return found

    def explained(target):
        design = np.column_stack([np.ones(learn.sum()), told[learn]])
        rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return float(1 - rest.var() / target.var())

    found = {
        "risk": {name: float(loss(y, h_q)[part == name].mean()) for name in ROWS},
        "strengths": {str(c): judged(fit(told, c * risk).maker(told)) for c in STRENGTHS},
        "chosen": round(fit(told, np.array(STRENGTHS) * risk).nu / risk),
        "x alone": judged(fit(x[:, None], 0.0).maker(x[:, None])),
        "x from the summary": explained(x[learn]),
    }
    print(world, seed, found["chosen"], {c: list(parts["same weeks"].values()) for c, parts in found["strengths"].items()}, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    store(__file__, "held_back", 4, strengths=STRENGTHS, **{world: [one_season(seed, world) for seed in seeds] for world in WORLDS})


if __name__ == "__main__":
    main()
