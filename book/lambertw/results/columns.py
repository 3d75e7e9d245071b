"""Sixty columns of six sets of data, six densities: what each scores on rows that it has not seen, and what its decisions cost.

    python book/lambertw/results/columns.py [--seed 0] [--folds 5]

The columns are the measured ones of four sets that scikit-learn ships (the course's two medical ones, the sex of the patients left out;
wines and irises, without their kinds) and of the course's houses and nations, as they were measured and not their logarithms. Every density
is fitted by maximum likelihood to four fifths of the rows and judged on the fifth: by its mean log density in nats, with the column divided
by its standard deviation, and by the tilted loss of its quantiles. The result is columns.json beside this file. It takes about five minutes
on one core.
"""

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.datasets import load_iris, load_wine

from course_pkg import data, families
from course_pkg import lambertw as lw

TILTS = (0.9, 0.99)


def columns():
    """Name and values of every column that scikit-learn ships."""
    patients, tumours = data.diabetes(), data.breast_cancer()
    found = {f"diabetes: {name}": np.asarray(patients.x, float)[:, j] for j, name in enumerate(patients.names) if name != "sex"}
    found["diabetes: progression"] = np.asarray(patients.y, float)
    found |= {f"tumours: {name}": np.asarray(tumours.x, float)[:, j] for j, name in enumerate(tumours.names)}
    for name, table in (("wine", load_wine()), ("iris", load_iris())):
        found |= {f"{name}: {measure}": table.data[:, j] for j, measure in enumerate(table.feature_names)}
    return found


def from_files():
    """The columns of sets that the course keeps as files."""
    houses, nations = data.radon().houses, data.ruggedness().rows
    activity = np.round(np.exp(np.asarray(houses.y)) - 0.1, 2)  # as measured, to a tenth
    wealth, rough = np.exp(np.asarray(nations.y)), np.asarray(nations.x)[:, 2]
    return {"radon: activity": activity, "nations: ruggedness": rough, "nations: GDP": wealth}


def frozen(law, *start, **fixed):
    """A SciPy law, fitted: its log density and its quantiles."""

    def fit(y):
        made = law(*law.fit(y, *start, **fixed))
        return made.logpdf, made.ppf

    return fit


def lognormal(y):
    """The normal of the logarithm; nothing where a value is 0."""
    if y.min() <= 0:
        return None
    made = stats.lognorm(np.log(y).std(), scale=np.exp(np.log(y).mean()))
    return made.logpdf, made.ppf


def skew_normal(y):
    """From both sides of no skew, the better of the two."""
    ends = [stats.skewnorm.fit(y, a, loc=y.mean(), scale=y.std()) for a in (-2.0, 2.0)]
    made = stats.skewnorm(*max(ends, key=lambda end: stats.skewnorm.logpdf(y, *end).sum()))
    return made.logpdf, made.ppf


def lambert(base, law):
    """The skewed density: its quantiles are the skewed quantiles of the base."""

    def fit(y):
        f = lw.fit_mle(y, base)
        return (
            lambda x: np.asarray(lw.log_density(x, f.mu, f.sigma, f.gamma, base), float),
            lambda q: f.mu + f.sigma * float(lw.g_e(law.ppf(q), f.gamma)),
        )

    return fit


DENSITIES = {
    "normal": frozen(stats.norm),
    "lognormal": lognormal,
    "gamma": frozen(stats.gamma, floc=0.0),
    "skew-normal": skew_normal,
    "W, normal": lambert(families.normal(), stats.norm),
    "W, logistic": lambert(families.logistic(), stats.logistic),
}


def tilted_loss(y, h, q):
    """Mean loss of the decision ``h``."""
    return float(np.mean(np.where(y > h, q * (y - h), (1 - q) * (h - y))))


def judge(y, seed, folds):
    """Score and costs of every density on one column, with the plain quantile of the rows as a further decision."""
    order = np.random.default_rng(seed).permutation(len(y))
    scores = {name: np.full(len(y), np.nan) for name in DENSITIES}
    costs = {name: {q: [] for q in TILTS} for name in (*DENSITIES, "sample quantile")}
    for k in range(folds):
        held = order[k::folds]
        seen, new = np.delete(y, held), y[held]
        for name, fit in DENSITIES.items():
            made = fit(seen) if not (name == "gamma" and y.min() <= 0) else None
            if made is None:
                continue
            scores[name][held] = made[0](new)
            for q in TILTS:
                costs[name][q].append(tilted_loss(new, made[1](q), q))
        for q in TILTS:
            costs["sample quantile"][q].append(tilted_loss(new, np.quantile(seen, q), q))
    mean = {name: None if np.isnan(s).any() else round(float(s.mean()), 5) for name, s in scores.items()}
    dear = {name: {str(q): round(float(np.mean(v)), 6) if v else None for q, v in tilts.items()} for name, tilts in costs.items()}
    return {"n": len(y), "skewness": round(float(stats.skew(y)), 4), "score": mean, "cost": dear}


def main():
    """Judge every column and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folds", type=int, default=5)
    settings = parser.parse_args()
    begin, found = time.time(), {}
    for name, values in (columns() | from_files()).items():
        y = values / values.std()
        found[name] = judge(y, settings.seed, settings.folds)
        fit = lw.fit_mle(y)
        found[name] |= {"gamma": round(fit.gamma, 4), "gamma_igmm": round(lw.fit_igmm(y).gamma, 4)}
        best = max((s, d) for d, s in found[name]["score"].items() if s is not None)
        print(f"{name:<36}{found[name]['skewness']:>8.2f}{fit.gamma:>8.3f}   {best[1]}", flush=True)
    out = {"made_by": shlex.join(["python", "book/lambertw/results/columns.py", *sys.argv[1:]])}
    out |= {"seed": settings.seed, "folds": settings.folds, "seconds": round(time.time() - begin), "columns": found}
    Path(__file__).with_name("columns.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
