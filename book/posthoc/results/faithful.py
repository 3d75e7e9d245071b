"""What faithfulness costs and buys: controls for the straight line on a noisy sine.

    python book/posthoc/results/faithful.py [--seeds 10]

Writes ``faithful.json``. For data on which the line is wrong and for data on which it is right: the risk of each strength of the prior on
fresh points and beyond the last data, its distance from the model's decisions, and the strength that cross-validation chooses. Beside them
a decision maker that sees x and nothing of the model, the cosine whose best line is flat, and data of three sizes. The line's predictive
has a closed form, and its draws are taken from that. Early stopping on a quarter of the points. Five minutes on two cores.
"""

import argparse

import jax
import numpy as np
from scipy import stats
from stored import store

from course_pkg.decisions import empirical_risk, tilted
from course_pkg.posthoc import Training, bootstrap_prior, characterize, constant_prior, fidelity, fit_decision_maker

LOSS, DRAWS, REFITS = tilted(0.9), 2000, 10
STRENGTHS = [0.0, 0.0005, 0.002, 0.01, 0.05, 0.2, 1.0]
LEVELS = np.array([0.0005, *np.arange(1, 20) / 20, 0.9995])
RANGES = {"train": (-10.5, 10.5), "fresh": (-10.5, 10.5), "beyond": (10.5, 13.5)}
TRUTHS = {
    "sine": lambda x: 7 * np.sin(0.75 * x) + 0.5 * x,
    "cosine": lambda x: 7 * np.cos(0.75 * x),
    "straight": lambda x: 0.5 * x,
}


def points(rng, truth, n):
    """Training points, fresh ones and ones beyond the last data, in the training points' units."""
    found = {}
    for name, (low, high) in RANGES.items():
        x = rng.uniform(low, high, n if name == "train" else 5000)
        found[name] = (x, TRUTHS[truth](x) + (6 if truth == "straight" else 3) * rng.normal(size=len(x)))
    x, y = found["train"]
    return {name: ((a - x.mean()) / x.std(), (b - y.mean()) / y.std()) for name, (a, b) in found.items()}


def line(x, y, at):
    """Centre, scale and degrees of freedom of the predictive t at new points, under flat priors on a, b and log s."""
    design, there = (np.column_stack([np.ones_like(a), a]) for a in (x, at))
    gram = np.linalg.inv(design.T @ design)
    best, free = gram @ design.T @ y, len(x) - 2
    scale = np.sqrt(((y - design @ best) ** 2).sum() / free)
    return there @ best, scale * np.sqrt(1 + ((there @ gram) * there).sum(axis=1)), free


def q_optimal(x, y, at):
    centre, scale, free = line(x, y, at)
    return centre + scale * stats.t(free).ppf(0.9)


class Case:
    """A data set, its line, and what the line predicts."""

    def __init__(self, seed, truth, n=500):
        rng = np.random.default_rng(seed)
        self.at = points(rng, truth, n)
        self.x, self.y = self.at["train"]
        self.draws, self.h_q = {}, {}
        for name, (x, _) in self.at.items():
            centre, scale, free = line(self.x, self.y, x)
            self.draws[name] = centre[:, None] + scale[:, None] * rng.standard_t(free, (len(x), DRAWS))
            self.h_q[name] = q_optimal(self.x, self.y, x)
        key = jax.random.key(seed)
        self.prior = bootstrap_prior(lambda _, rows: q_optimal(*rows, self.x), (self.x, self.y), REFITS, key=key, progress=False)
        self.key = key

    def told(self, levels=LEVELS, with_x=False):
        return {name: characterize(d, levels, covariates=self.at[name][0] if with_x else None) for name, d in self.draws.items()}

    def fit(self, told, nu=0.0, prior=None):
        prior = self.prior if prior is None else prior
        return fit_decision_maker(told["train"], self.y, LOSS, prior=prior, nu=nu, training=Training(restarts=1), key=self.key)

    def judge(self, h):
        """Risks of decisions, and their distance from the model's on fresh points."""
        out = {name: float(empirical_risk(LOSS, y, h[name])) for name, (_, y) in self.at.items()}
        out["distance"] = fidelity(h["fresh"], self.h_q["fresh"], self.draws["fresh"].std(axis=-1)).root_mean_square
        return out

    def made(self, told, nu=0.0, prior=None):
        fit = self.fit(told, nu, prior)
        return self.judge({name: fit.maker(features) for name, features in told.items()})


def sweep(seed, truth):
    case = Case(seed, truth)
    told = case.told()
    out = {"q_optimal": case.judge(case.h_q), "nu": {str(nu): case.made(told, nu) for nu in STRENGTHS}}
    out["chosen"] = case.fit(told, STRENGTHS).nu
    out["x_alone"] = case.made({name: x[:, None] for name, (x, _) in case.at.items()})
    out["x_from_summary_R2"] = explained(told["train"], case.x)
    return out


def explained(features, x):
    design = np.column_stack([np.ones_like(x), features])
    rest = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    return float(1 - rest.var() / x.var())


def flat(seed):
    case = Case(seed, "cosine")
    out = {"q_optimal": case.judge(case.h_q)}
    for name, levels, with_x, nu in (("median", [0.5], False, 0), ("21", LEVELS, False, 0), ("median and x", [0.5], True, 0)):
        told = case.told(levels, with_x)
        out[name] = case.made(told, nu) | {"x_from_summary_R2": explained(told["train"], case.x)}
    out["median and x, nu 0.01"] = case.made(case.told([0.5], True), 0.01)
    out["x alone"] = case.made({name: x[:, None] for name, (x, _) in case.at.items()})
    return out


def sizes(seed):
    out = {}
    for n in (125, 500, 2000):
        case = Case(seed, "sine", n)
        told, constant = case.told(), constant_prior(case.h_q["train"], 0.1)
        cases = {"bootstrap": (case.prior, 0.002), "constant": (constant, 0.02), "constant, prior summed": (constant, 0.02 * n / 500)}
        out[str(n)] = {name: case.made(told, nu, prior)["distance"] for name, (prior, nu) in cases.items()}
        out[str(n)]["median prior sd"] = float(np.median(case.prior.sd))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    parts = {truth: [sweep(seed, truth) for seed in seeds] for truth in ("sine", "straight")}
    store(__file__, "faithful", 4, strengths=STRENGTHS, **parts, cosine=[flat(s) for s in seeds], sizes=[sizes(s) for s in seeds])


if __name__ == "__main__":
    main()
