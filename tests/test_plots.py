"""Drawings: each is made once from tiny inputs, and read back for what a reader needs to see in it."""

import importlib
import inspect
import pkgutil
import re

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from course_pkg import plots

WIDEST = 7.5  # inches: wider ones shrink their words below reading size on a phone
SMALLEST = 8  # points

X = np.linspace(-3.0, 3.0, 25)
UP = np.linspace(1.0, 10.0, 25)
BELL = stats.norm.pdf(X)
VALLEY = 1 + X**2
PAIR = np.array([0.5, 1.0])
ROUND = (np.zeros(2), np.eye(2))
LEANING = (np.array([0.5, 1.0]), np.array([[0.5, 0.2], [0.2, 0.4]]))
DRAWS = np.array([[0.5, -1.0], [-1.0, 0.5], [1.0, 1.0]])
TERMS = np.array([[4.0, 8.0], [-6.0, 2.0], [10.0, -3.0]])
RUNS = np.array([[1.0, 0.5, 0.1, 0.02], [1.2, 0.3, 0.2, 0.01], [0.8, 0.6, 0.05, 0.03]])


def call(*args, **kwargs):
    """The arguments of a drawing, kept as data so that the names among them can be looked for in the figure."""
    return args, kwargs


# module -> drawing -> arguments; words after the drawing's name tell its variants apart
CASES = {
    "a_first_decision": {
        "shifted": call(X, 10 + X**2, 11 + (X - 1) ** 2),
        "one_patient": call(150.0, 50.0, 10.0, 185.0),
        "wrong_noise": call(np.array([0.0, 0.5, 1.0, 1.5]), np.array([[9.0, 7.0, 6.0, 6.5], [9.5, 7.5, 6.2, 6.8], [8.0, 7.0, 6.4, 7.0]])),
    },
    "a_wrong_posterior": {
        "savings": call({f"tilt {u}": {"p-optimal": 1 + 0 * PAIR, "network": u - PAIR} for u in (0.1, 0.9)}),
        "seen_and_unseen": call({"training": 0.8 * PAIR, "held out": 0.9 * PAIR}, {"training": 10 * PAIR, "held out": PAIR}),
    },
    "any_engine": {
        "beside": call(
            {
                "tilted": {"LCVI": (1.0, 2.0, 3.0), "maker": (8.0, 9.0, 9.5)},
                "squared": {"LCVI": (3.0, 4.0, 4.5), "maker": (-4.0, -3.0, -2.0)},
            },
            {"tilted": {"LCVI": 2.1, "maker": 8.8}, "squared": {"LCVI": 4.2, "maker": -3.5}},
        ),
        "files": call(np.array([[-0.2, 0.1], [0.2, 0.6]]), np.array([[-1.0, -0.8], [1.0, 1.3]]), PAIR[:2], ("means", "houses")),
        "intervals": call({tilt: {"NUTS": RUNS[:, 1:], "ADVI": RUNS[:2, 1:] - 0.5} for tilt in ("tilt 0.5", "tilt 0.9")}),
        "controls": call({loss: {"LCVI": 2.0, "decision maker": -3.0, "clipped at 0": 2.4} for loss in ("tilted", "squared")}),
        "second_model": call(
            X, X - 1, {"clipped at 0": np.maximum(X - 1, 0), "seen": X, "unseen": 0.5 * X + 1}, (DRAWS[:, 0], DRAWS[:, 1])
        ),
    },
    "averages_that_remember": {
        "paths": call({"SGD": np.sin(UP), "SAG": 1 / UP}),
        "distances": call({"SGD": RUNS, "SAG": 0.1 * RUNS, "SVRG": 0.01 * RUNS}, 1e-12, {"SGD": 1, "SAG": 1, "SVRG": 3}),
        "risks": call({"SGD": (np.arange(4), 100 * RUNS), "SAG": (2 * np.arange(4), 50 * RUNS)}, 0.5),
    },
    "bayes_rules": {
        "two_days": call(X, [("market day", BELL, {"mean": 0.0}), ("ordinary day", BELL**2, {"mean": 0.5, "median": 0.2, "mode": -0.3})]),
        "valleys": call(
            UP, {n: 1 + (UP - c) ** 2 for n, c in zip("abcde", range(3, 8), strict=True)}, dict(zip("abcde", range(3, 8), strict=True))
        ),
        "staircase": call(
            X, {"3 draws": np.array([-1.0, 0.0, 2.0]), "4 draws": np.array([-2.0, -0.5, 0.5, 1.0])}, 2 * stats.norm.cdf(X) - 1
        ),
        "two_valleys": call(X, np.cos(2 * X), X[::6], np.cos(2 * X[::6]), {"bisection": (1.6, -1.0), "look first": (-1.6, -1.0)}),
    },
    "beliefs_without_a_likelihood": {
        "beliefs": call(X, {"coherent": {"at once": BELL, "reversed": BELL}, "power": {"at once": BELL, "reversed": BELL**2}}),
        "beliefs marked": call(X, {"coherent": {"at once": BELL}, "power": {"at once": BELL**2, "reversed": 0.5 * BELL}}, {"mode": 0.0}),
        "coverage": call(np.array([0.3, 1.0, 3.0, 10.0]), np.array([1.0, 0.97, 0.9, 0.5]), 0.9, {"fitting": 3.0}),
    },
    "beyond_location_scale": {
        "level": call(X, {"shape 2": stats.norm.cdf(X), "shape 2.6": stats.norm.cdf(X - 1)}, 0.5, (0.0, 1.0)),
        "beliefs": call(UP, {"posterior": 1 / UP, "gamma": 0.9 / UP, "log-normal": 0.8 / UP}, {"quota": 3.0, "quota, log-normal": 5.0}),
        "variances": call(UP, {title: {"full derivative": UP, "path derivative": UP**2} for title in (r"$\mu$", r"$\log\sigma$")}),
        "quotas": call({"full derivative": 1 / UP, "path derivative": 0.5 / UP}, 0.3),
    },
    "calibration": {
        "risks_and_moves": call(
            UP,
            {"plain": VALLEY, "calibrated": 0.8 * VALLEY},
            {"plain": 0.1 + 0 * UP, "calibrated": 0.05 + 0 * UP},
            {"plain": 5.4, "calibrated": 6.0},
            {"noise": (-1.2, 0.6), "slope[0]": (0.5, 0.8)},
            "row 3",
        ),
        "risks_and_moves listed": call(
            np.arange(2),
            {"plain": PAIR, "calibrated": 0.8 * PAIR},
            {"plain": 0.1 * PAIR, "calibrated": 0.05 * PAIR},
            {"plain": 0.0, "calibrated": 1.0},
            {"slope": (0.5, 0.8)},
        ),
    },
    "climbing_with_noise": {
        "routes": call(
            X, UP, -(VALLEY + UP[:, None]), {"all days": (PAIR, 3 * PAIR), "one day": (-PAIR, 4 * PAIR)}, (-2.0, 2.0), (0.0, 4.0)
        ),
        "schedules": call({"too slow": 4 / UP, "just right": 3 / UP**2, "too fast": [3.0, -1.0, 0.5]}),
        "excess": call({"constant": 1 / UP, "shrinking": 1 / UP**2, "averaged": 2 / UP, "Adam": 3 / UP}),
    },
    "collapsed_topics": {
        "likeness": call(["AB", "CD"], [0.6, 0.4], {"a chain": [0.6, 0.4], "coordinate ascent": [0.8, 0.2]}, 0.65),
        "two_squares": call({"one chain": np.full((10, 25), 0.04), "many": np.full((10, 25), 0.04)}),
    },
    "control_variates": {
        "clouds": call({"plain": DRAWS, "with a baseline": 0.2 * DRAWS}, PAIR, np.array(["level", "slope"])),
        "climbs": call({"plain": RUNS, "baseline": 0.5 * RUNS}, ylabel="KL, nats"),
        "climbs to a goal": call({"plain": RUNS, "baseline": RUNS * [1, 1, 0, 0]}, ylabel="KL, nats", goal=0.05),
    },
    "coordinate_ascent": {
        "ridges": call(
            {
                "as typed in": (("level", "slope"), *LEANING, np.diag([0.4, 0.3]), DRAWS),
                "centred": (("middle", "slope"), *ROUND, np.eye(2), None),
            }
        ),
        "climbs": call(
            {"as typed in": 1 + 1 / UP, "two lines": 1 / UP, "centred": 0.1 / UP},
            {"as typed in": 1 / UP, "two lines": 0.5 / UP, "centred": 0.1 / UP},
        ),
        "two_decisions": call(
            {
                title: (label, X, {"exact": VALLEY, "q's belief": VALLEY - 0.5}, {"best": 0.0, "by q": -1.0})
                for title, label in (("allowance", "points"), ("income", "log income"))
            }
        ),
    },
    "does_it_pay": {
        "rates": call([0.01, 0.1, 1.0], {"SGD": [900.0, 90.0, 40.0], "ISGD": [130.0, 30.0, np.inf]}),
    },
    "eight_schools": {
        "promises": call(["A", "B", "C"], TERMS[:, 1], np.array([5.0, 4.0, 3.0]), {"exact": X[:3], "plain": X[1:4], "calibrated": X[2:5]}),
        "shifted": call(
            X,
            X / 2,
            np.outer(BELL, BELL),
            (DRAWS[:, 0], DRAWS[:, 1] / 2),
            {"plain": np.outer(BELL**2, BELL), "calibrated": np.outer(BELL, BELL**2)},
            {"exact": BELL, "plain": BELL**2, "calibrated": 0.9 * BELL},
        ),
        "settling": call(np.arange(0, 6000, 1000), 1 - 30 / (1 + np.arange(6.0)), (1 - 25 / (1 + np.arange(6.0)), np.full(6, 2.0)), 0.9),
        "two_scales": call(UP, 3 / UP, 0.1 - (UP - 4) ** 2 / 100, {"M = 7": 7.0, "70 %": 4.5}, (-0.5, 0.15)),
        "many": call(np.array([-3.0, 1.0, 2.0]), np.array([0.5, 0.1, 1.0]), (1.0, 0.1)),
    },
    "em_is_variational": {
        "two_kinds": call(
            DRAWS[:, 0], UP, {"posterior": 0.5 / UP, "maximum likelihood": 0.5 / UP**2}, {"posterior": 4.0, "maximum likelihood": 3.0}
        ),
        "touching": call(X, -VALLEY, {"ELBO at the start": -VALLEY - X**2, "next": -VALLEY - (X - 1) ** 2}, [(0.0, -1.0), (1.0, -2.0)]),
        "spikes": call([1.0, 0.1, 0.01], {"likelihood": [0.0, 2.0, 4.0], "with a prior": [0.0, 1.0, -9.0], "ELBO": [0.0, -1.0, -20.0]}),
        "boards": call(UP, {"maximum likelihood": UP, "MAP": 0.5 * UP}, 4.0),
        "units": call(UP, {"per unit of γ": BELL, "per unit of log γ": BELL, "per unit of v": BELL}),
        "weights": call(np.linspace(0, 1, 25), BELL, np.array([0.2, 0.3, 0.7]), (0.25, 0.6)),
    },
    "from_draws_to_a_decision": {
        "valley": call(X, BELL, X, VALLEY, np.array([-0.5, 0.2]), np.array([1.25, 1.04]), (0.0, "best")),
        "regret": call(np.arange(1, 26), {"squared": (2 / UP, 2.1 / UP), "absolute": (1 / UP, 1 / UP), "LinEx": (0.5 / UP, 0.5 / UP)}),
        "crossing": call(X, 0.5 * X, 0.4, (0.0, -0.8, 0.8), 0.3),
    },
    "gibbs": {
        "staircase": call((X, UP, np.outer(BELL, BELL)), DRAWS[[0, 1, 2, 0, 1]] + np.array([0.0, 4.0])),
        "ridge": call((UP, UP), TERMS, (X, UP, np.outer(BELL, BELL)), DRAWS),
        "two_traces": call(
            {"one at a time": np.sin(UP), "together": np.cos(9 * UP)},
            {"one at a time": np.exp(-UP / 5), "together": np.exp(-UP)},
            np.exp(-UP / 5),
        ),
        "shared_topics": call(
            ["AB", "AC"],
            PAIR,
            {"three blocks": 0.9 * PAIR + 0 * RUNS[:, :2], "collapsed": 0.8 * PAIR + 0 * RUNS[:, :2], "forgetful": PAIR[None] / 2},
        ),
        "clouds": call({"at once": DRAWS, "old values": TERMS / 4}),
    },
    "hamiltonian": {
        "two_walks": call(0.3 * DRAWS, np.stack([DRAWS, DRAWS[::-1]]), DRAWS[[2, 0]], LEANING),
        "phase_plane": call((0.5, 1.0), {"exact": DRAWS, "Euler": 1.5 * DRAWS, "leapfrog": 0.9 * DRAWS}, {"long": DRAWS, "shadow": DRAWS}),
        "step_and_path": call(UP, 1 / UP, 8.0, {"h = 1": UP, "h = 2": UP[:9]}, {"h = 1": 1 / UP, "h = 2": 1 / UP[:9]}),
        "price_of_dimension": call([1, 16, 256], {"random walk": [3.0, 30.0, 400.0], "HMC": [5.0, 9.0, 18.0]}),
    },
    "harder_targets": {
        "lost": call(X / 5, np.outer(BELL, BELL), DRAWS, np.stack([DRAWS, -DRAWS])),
        "ladder": call(X / 5, {"hot": np.outer(BELL, BELL), "cold": np.outer(BELL**2, BELL**2)}, DRAWS, DRAWS),
        "narrow": call(UP / 25, {1: UP / 50, 10: 10.0 ** (UP / 5 - 6)}),
    },
    "how_many_rows": {
        "noise_for_money": call(UP, {"at the start": 1 + UP, "at the best q": 20 / UP + UP}, {"at the start": 1.5, "at the best q": 4.5}),
    },
    "how_much_calibration": {
        "mixture": call(X, BELL, 0.8 * BELL, 0.9 * BELL, 0.3),
        "another": call(
            X,
            BELL,
            {"1 - loss/M": 1 - X**2, "exp(-loss/M)": BELL},
            X,
            {"1 - loss/M": VALLEY, "exp(-loss/M)": BELL},
            {"1 - loss/M": -0.3, "exp(-loss/M)": 0.3},
        ),
        "sweep": call(
            UP,
            {"under the posterior": {"pinball, 0.8": VALLEY}, "under the fit": {"pinball, 0.2": UP, "squared": 2 * UP}},
            {"50": 2.0, "90": 5.0},
        ),
    },
    "rivals": {
        "slices": call(X, -(X**2), {"new draws": -VALLEY, "the same draws": -(X**2)}),
        "tables": call(np.arange(1, 5), {"SGD": RUNS, "SAGA, new draws": RUNS / 2, "SAGA, kept draws": RUNS / 9}),
    },
    "importance_sampled_sgd": {
        "paths": call(
            X,
            np.linspace(0.2, 1.2, 10),
            -np.add.outer(np.linspace(-1, 1, 10) ** 2, X**2),
            np.random.default_rng(0).normal(size=(9, 2)),
            np.random.default_rng(1).normal(size=(9, 2)),
            np.arange(9) % 3 == 0,
            (0.7, 0.7),
        ),
        "stale": call({"computed again": np.exp(np.ones((3, 9))), "kept": np.exp(-np.ones((3, 9)))}, 0.7),
        "standing_still": call(
            {"coin": np.exp(np.ones((3, 9))), "threshold": np.ones((3, 9))}, {"coin": 1e-9 * np.ones((3, 9)), "threshold": np.ones((3, 9))}
        ),
        "gains": call(
            np.geomspace(0.3, 1000, 9),
            {
                "to 10 nats": {"one": np.ones(9), "two": np.linspace(0.5, 5, 9)},
                "to 1 nat": {"one": 2 * np.ones(9), "two": np.linspace(0.5, 3, 9)},
            },
        ),
        "budget": call(
            np.arange(1, 10),
            {name: np.exp(-s * np.ones((3, 9))) for s, name in enumerate(("SGD", "rescaled Adam", "coin", "guarded"))},
            14.0,
            5,
        ),
    },
    "importance_sampling": {
        "cloud_and_price": call(
            (X, X, np.outer(BELL, BELL)),
            DRAWS,
            np.array([0.2, 0.5, 0.3]),
            X,
            {"exact": VALLEY, "weighted draws": VALLEY + 0.1},
            0.5 + 0 * X,
            (0.0, "book month 21"),
        ),
        "limit_laws": call({"self-normalised": X / 4, "standard": X}, {"variance of the first": 0.3, "variance of the second": 3.0}),
        "dimensions": call(UP, {"v = 2": (UP / 5, UP / 6, UP / 10 - 0.3), "v = 0.6": (UP / 3, UP / 5, UP / 8)}, 1000, 0.67),
        "rates": call(UP, {"k = 0.3": (0.3 / UP, 0.25 / UP), "k = 0.9": (0.7 + 0 * UP, 0.75 + 0 * UP)}),
        "error_bars": call(
            1.0, {"prior": (np.array([0.9, 1.1, 1.6]), np.full(3, 0.3)), "Laplace": (np.array([0.4, 1.0, 1.1]), np.full(3, 0.2))}
        ),
    },
    "information": {
        "share": call(np.linspace(0.0, 0.12, 50), stats.beta(2, 58).pdf(np.linspace(0.0, 0.12, 50)), 0.05),
        "worth": call(np.arange(25), 40 * (1 - np.exp(-np.arange(25) / 8)), 1.0, 50.0),
        "plan": call(np.arange(25), np.arange(25) / 8 - 1.5, np.arange(25) / 8 + 1.5),
    },
    "integrals_by_dice": {
        "totals": call(
            (X, BELL),
            np.linspace(-3, 3, 6),
            {"grid": BELL[:5], "draws": BELL[5:10]},
            {"grid": (-0.5, "grid says"), "draws": (1.0, "draws say")},
            1.1,
        ),
        "curse": call({"1 unknown": (UP, 1 / UP), "8 unknowns": (UP, UP ** (-1 / 8))}, (UP, UP**-0.5, "Monte Carlo, any d")),
        "funnel": call(
            UP, np.stack([np.sin(UP), np.cos(UP)]), 0.0, 1.0, UP, {"Chebyshev": 1 / UP**2, "normal": np.exp(-UP), "measured": np.exp(-UP)}
        ),
        "point_sets": call({"grid": DRAWS / 2 + 0.5, "draws": DRAWS / 3 + 0.5, "Sobol points": DRAWS / 4 + 0.5}),
        "regrets": call({"grid": (UP, 1 / UP), "draws": (UP, 2 / UP)}, (UP, 3 / UP, "c / T")),
    },
    "loss_and_utility": {
        "exponential": call(X, BELL, np.array([0.01, 0.1, 1.0]), np.array([-0.1, -0.5, -1.0]), 0.0),
    },
    "making_it_safe": {
        "along": call(X, {"plain": np.where(X < 1, -VALLEY, -np.inf), "safe": -VALLEY}, UP, -UP),
        "pole": call(X, {"printed": np.where(X < -1, 1 / np.minimum(X + 1.01, -0.01), X), "right": X}, -0.5, -1.0),
        "forward": call(X, {"plain": X**2 - 2, "safe": X}, -1.0, {"plain": (-1.0, 1.0), "safe": (-1.0,)}, (0.5, 0.5)),
        "climbs": call({"else-branch": 0 * RUNS[:1], "series": 1 - RUNS}),
    },
    "metropolis_hastings": {
        "walk_and_answer": call(
            (X, X, np.outer(BELL, BELL)),
            DRAWS,
            np.array([0.0, 1.0, 2.0, 3.0]),
            {"exact": np.array([0.2, 0.5, 0.3]), "20,000 steps": np.array([0.25, 0.45, 0.3])},
            (1.5, "light here"),
        ),
        "laws": call(
            np.arange(4),
            {"start": RUNS[0] / 2, "after 3": RUNS[1] / 2, "after 12": RUNS[2] / 2, "limit": np.full(4, 0.25)},
            {"this chain": 0.5**UP, "even ring": 0.5 + 0 * UP, "its average": 1 / UP},
        ),
        "tuning": call({"d = 1": (UP / 10, 1 / UP), "limit": (UP / 10, UP / 10)}),
    },
    "model_check": {
        "replicated": call(4.0, {"Poisson": np.abs(DRAWS[:, 0]), "negative binomial": 3 + DRAWS[:, 1]}, "variance / mean"),
        "ranks": call(
            {"grid": {"r": np.arange(100), "mean": np.arange(100)}, "mean field": {"r": np.zeros(9), "mean": np.full(9, 50)}}, 99
        ),
    },
    "models_and_guides": {
        "plane": call(X, UP, np.outer(BELL, 1 / UP), {"apart": np.outer(BELL, 2 / UP), "tied": np.outer(BELL**2, 1 / UP)}),
        "scales": call(np.array([[1.0, 0.5, -0.3], [1.0, 0.4, 0.2]]), np.array([[1.0, 0.5, 0.3], [1.0, 0.4, 0.2]])),
    },
    "music": {
        "four_losses": call(
            ["squared", "tilted"],
            {"authors": ([4.0, 2.0], [0.3, 0.1]), "ours": ([3.9, 2.1], [0.2, 0.3]), "still": ([3.7, 1.9], [0.1, 0.1])},
            {"authors": ([-17.0, -1.0], [0.9, 0.2]), "ours": ([-13.0, -0.5], [0.4, 0.2]), "still": ([-12.0, -0.6], [0.1, 0.1])},
        ),
        "changes": call({"squared": X / 50, "low": 0.02 + X / 90, "high": X / 90 - 0.02}),
        "intervals": call(dict.fromkeys(("plain", "squared", "tilts"), (X[:3], X[:3] - 1, X[:3] + 1)), (X[:3] - 0.5, X[:3] + 0.5), X[3:6]),
        "sweep": call(
            (UP, 5 - (UP - 3) ** 2 / 9, np.full(25, 0.3)),
            (UP, 5 - (UP - 3) ** 2 / 8, np.full(25, 0.3)),
            np.array([[1.0, 4.0], [4.0, 4.8], [3.8, 4.8], [4.3, 4.8]]),
            (UP, 5 - (UP - 4) ** 2 / 20, np.full(25, 0.1)),
            {"70 %": 1.4, "90 %": 3.5},
        ),
    },
    "networks": {
        "curves": call(X, X, (DRAWS[:, 0], DRAWS[:, 1]), (X - 1, X + 0.1, X + 1), {"one": 2 * X, "all": X + 1}, 1.0),
        "scalings": call(X, {"posterior": BELL, "counted twice": BELL**2, "divided": 0.5 * BELL}),
        "wrong": call(X, X, (DRAWS[:, 0], DRAWS[:, 1]), {"too sure": (X - 0.1, X, X + 0.1), "too vague": (X - 4, X, X + 4)}),
    },
    "nuts": {
        "claims": call({"centred": np.abs(TERMS) / 8, "non-centred": np.abs(TERMS[:, ::-1]) / 9}, 0.5, "claim"),
        "doublings": call([DRAWS[:1], DRAWS[1:], DRAWS], DRAWS[0], DRAWS[1], LEANING[1]),
        "ranks": call({"centred": np.vstack([X, 2 * X]), "non-centred": np.vstack([X, -X])}),
        "funnel": call(
            {"centred": (UP, X, X < -2), "non-centred": (X, X, X > 2)}, {"centred": (UP, X), "non-centred": (X, X)}, -0.5, ["effect", "e"]
        ),
        "edges": call(UP, {0.3: 1 / UP, 0.1: 0.5 / UP}, {0.3: 2.0, 0.1: 4.0}),
        "traces": call({"centred": np.sin(UP), "non-centred": np.cos(9 * UP)}, "spread"),
        "unseen": call(X, BELL, np.vstack([X / 2, X / 3])),
    },
    "objective_or_climb": {
        "joint_against_em": call(
            {"joint": (UP, 4 - 3 / UP), "EM": (UP, 5 - 3 / UP)}, {"joint": ([3, 6], [[2.0], [4.0, 4.4]]), "EM": ([3], [[3.0]])}, 4.3
        ),
        "joint_against_em with nothing stored": call({"joint": (UP, 4 - 3 / UP)}, {"joint": ((), ())}, 4.3),
        "branches": call({3.0: -40.0, 30.0: 2.0}, {3.0: 1.5, 30.0: 2.2}, -41.0),
        "direct": call({"plain": (0.42, True), "direct": (0.38, True), "plain, ours": (0.425, False)}, 0.37),
    },
    "on_or_off": {
        "plant": call(X, BELL, {"least KL(q, p)": BELL**2, "moments matched": 0.9 * BELL}, 1.0),
    },
    "other_distances": {
        "village": call(X, BELL, [-2.0, -1.0], 2.5, 1.0, (-0.5, 0.5)),
        "costs": call(UP, {"reverse KL": UP, "Hellinger": 0.5 * UP, "chi-squared": UP**2}),
        "five": call(10 * X, BELL, {"Laplace": 0.9 * BELL, "chi-squared": 0.5 * BELL}, {"posterior": (20.0, 1.0), "Laplace": (15.0, 0.0)}),
        "prices": call(UP, {"Laplace": UP, "reverse KL": 1 / UP}, 2.0),
        "copies": call(UP, {"alpha divergence": {"Laplace": 1 - 1 / (1 + UP)}, "Rényi divergence": {"Laplace": UP}}, 1.0),
        "tapes": call(X, BELL, [1.0, 2.0], {"EP": 0.9 * BELL, "moments matched": 0.5 * BELL}),
        "vague": call(UP, {"posterior": 1 + 0 * UP, "chi-squared": UP}),
        "pulled": call(
            X,
            BELL,
            {"by alpha": ((0.9 * BELL, (0.0, 1.0)), (BELL**2, (0.5, 0.5)))} | {"by moments": ((BELL, (0.0, 1.0)), (BELL, (0.0, 1.0)))},
        ),
    },
    "pandemic": {
        "prevalence": call(np.linspace(0, 0.08, 9), np.full(9, 1 / 9), np.array([0, 1, 4, 2, 1, 0, 0, 0, 0]) / 8, 0.02),
        "demand": call(np.array([3, 4, 4, 5, 5, 5, 6, 6, 7, 9]), 5.4, 7),
        "pool_sizes": call(
            np.array([2, 5, 10, 50]), np.array([0.6, 0.3, 0.4, 0.9]), np.array([4.0, 3.0, 2.0, 3.0]), 0.98 ** np.array([2, 5, 10, 50])
        ),
        "positive_pools": call(np.array([0, 1, 1, 2]), np.array([0.25, 0.5, 0.25]), np.array([0.4, 0.4, 0.2])),
    },
    "problems": {
        "bus": call(X, BELL, {"hurried": 4 * VALLEY - 4, "patient": VALLEY - 1}, {"hurried": -1.0, "patient": 0.5}),
        "chain": call(np.array([-6, -1, 4]), -4, {"hurried": np.array([-300, -3, -8]), "patient": np.array([-15, -3, -8])}),
        "interval": call(X, BELL, 0.1, (-1.6, 1.6)),
    },
    "reparameterisation": {
        "arrows": call({"score": (DRAWS, TERMS), "reparameterised": (DRAWS, 0.1 * TERMS)}, np.zeros(2), PAIR, ROUND, LEANING),
        "twice": call(X, {"posterior": BELL, "printed": BELL**2}, {"mended": 1 / UP, "printed, plus": 1 + 1 / UP, "other": 2 / UP}),
        "along": call(UP / 10, {"score": 1000 / UP, "path": 20 / UP}),
        "climbs": call({"score": (np.arange(4), RUNS), "path": (5 * np.arange(4), 0.5 * RUNS)}, 0.008),
    },
    "reweighting": {
        "decay": call(UP, {"2 of 50": np.exp(-UP)}, {"2 of 50": np.exp(-UP) + 0.001}, 1000),
        "coupled": call(UP, {title: {"joint": (1 - UP, 1.1 - UP), "none": (0 * UP, 0 * UP)} for title in ("across", "along")}),
    },
    "risk": {
        "overfit": call(
            PAIR,
            PAIR**2,
            np.linspace(0, 1, 5),
            {"wild": np.linspace(0, 2, 5), "calm": np.linspace(0, 1, 5)},
            [1, 2, 3],
            [2, 1, 0],
            [2, 1, 3],
        ),
        "frequentist": call(X, BELL, {"trust": np.ones(25), "Bayes": 0.5 + 0.1 * X**2, "ignore": X**2}),
        "p_and_q": call(0.7, LEANING[1], 0.1 * np.eye(2)),
        "coverage": call(np.array([0.0, 0.4, 0.8]), np.array([0.95, 0.9, 0.4]), np.array([0.95, 0.94, 0.95]), edge=0.5, level=0.95),
    },
    "score_function": {
        "arrows": call({f"M = {m}": (DRAWS[:m], TERMS[:m]) for m in (1, 2, 3)}, np.array([3.0, 9.0]), ROUND, LEANING),
        "parabola": call(X, VALLEY, {"crates": (0.0, 1.0), "thousandths": (2.0, 5.0), "thousands": (0.5, 1.5), "best": (-1.0, 2.0)}),
        "climbs": call({"5 draws": RUNS, "100 draws": 0.5 * RUNS, "small steps": 2 * RUNS}, 0.008),
    },
    "skewed_data": {
        "columns_and_fits": call({label: (DRAWS.ravel(), X, {"normal": BELL, "Lambert W": 0.9 * BELL}) for label in ("area", "score")}),
        "two_estimates": call(dict.fromkeys(("area", "score"), 0.3 + 0.02 * TERMS), {"area": (0.3, 0.31), "score": (0.3, 0.1)}),
        "by_skewness": call(
            np.array([0.2, 1.4, 3.0]), {"over one": np.array([-0.02, 0.001, 0.2]), "over two": np.array([0.05, np.nan, 0.1])}, 0.995
        ),
        "few_rows": call(
            (20, 40), {title: dict.fromkeys(("normal", "lognormal"), (20 * PAIR, PAIR)) for title in ("area of nuclei", "progression")}
        ),
        "two_decisions": call(
            X,
            X + BELL,
            X > 2,
            X,
            {"normal": X + 1, "Lambert W": X + 1.2},
            UP,
            {"normal": BELL, "Lambert W": 0.9 * BELL},
            {"normal": 5.0, "Lambert W": 6.0},
        ),
    },
    "skewed_posteriors": {
        "leaning": call(X, np.log(BELL), {"normal": np.log(BELL) - 0.2, "skewed normal": np.log(BELL) + 0.1}),
        "readings": call((2, 4), {f"level {w}": {"normal": w / PAIR, "skewed normal": 0.01 * w / PAIR} for w in (0.95, 0.99)}),
        "ridge": call((X, X), np.outer(BELL, BELL), {"full rank": DRAWS[:, :2], "skewed": DRAWS[:, :2] + 0.2}),
    },
    "skewing_a_bell": {
        "bells": call(
            X,
            {name: X * np.exp(s * X) for name, s in (("left", -0.2), ("none", 0.0), ("right", 0.2))},
            X,
            {name: stats.norm.pdf(X - s) for name, s in (("left", 0.2), ("none", 0.0), ("right", -0.2))},
        ),
        "edge": call(
            np.linspace(-0.7, 0.2, 10),
            np.linspace(1.2, 0.3, 9),
            np.linspace(-0.7, 0.2, 25),
            np.linspace(0.9, 0.3, 25),
            np.linspace(1.2, 0.3, 25),
        ),
        "tilts": call(np.linspace(0.01, 0.99, 25), {"normal": VALLEY, "misread": 2 + 0 * X, "wrong direction": 2 * VALLEY}),
    },
    "staying_faithful": {
        "decisions": call((X, VALLEY), X, {"model": 0.5 * X, "free": np.cos(X), "held": 0.2 * X}),
        "decisions moving": call((X, X), X, {"model": 0.5 * X, "corrected": np.sin(X)}, edge=1.7, title=r"$\nu = 0.01$"),
        "price": call(
            {"wrong line": 1 / UP, "right line": 0.5 / UP},
            {title: {"fresh": 0.1 + 0.01 * UP, "beyond": 0.3 - 0.01 * UP} for title in ("wrong line", "right line")},
            ["0", *[None] * 23, "1"],
            ylabel="saved, %",
        ),
    },
    "the_bound": {
        "units": call(UP, np.full(25, -0.1), np.full(25, -0.3), np.log(UP) - 1),
    },
    "test_or_fan": {
        "regions": call(UP, 0.5 * UP, np.arange(25) % 3),
        "prices": call(200 * UP, np.full((25, 3), [0.3, 0.4, 0.3]), (700, 1400)),
    },
    "what_to_tell_who_pays": {
        "engines": call({"mean-field": (RUNS[0], 0.1 * RUNS[0])}, {"fan everywhere": (RUNS[1], 0.1 * RUNS[1])}),
    },
    "the_bound_below": {
        "street": call(
            X,
            {"posterior": BELL, "reverse KL": 0.9 * BELL, "forward KL": 0.5 * BELL},
            {"posterior": X > 0, "reverse KL": X > 1, "forward KL": X < 5},
        ),
        "trenches": call(X, (BELL, 0.5 * BELL), {20: X > 0, 50: X > -1}),
        "ledger": call({"right mode": -8.2, "left mode": -8.8, "moments matched": -18.8}, -7.8),
        "letting_go": call(
            UP,
            {
                "standard deviation": {"posterior": UP, "reverse KL": 1 / UP},
                "risk": {"posterior": 1 / UP, "reverse KL": UP},
            },
        ),
        "prices": call(5 * UP, {"posterior": 6 + UP, "reverse KL": 6 * UP, "forward KL": 40 / UP}, 40.0),
    },
    "topics": {
        "second_opinions": call(UP / UP.max(), (UP / UP.max()) ** 2, 0.25, (0.4, 0.2)),
        "rising": call({"right": -30 - np.outer([1.0, 0.8], 1 / UP), "off by one": -31 - np.outer([1.0, 0.8], 1 / UP)}, -27.0),
        "promises": call({"right": [0.35, 0.36], "off by one": [0.35, 0.36]}, {"right": [0.34, 0.37], "off by one": [0.45, 0.44]}),
        "page_map": call(np.full((5, 4), 0.25), {"decisions": 2, "mcmc": 3}),
        "stages": call(np.full((2, 4), 0.25), [0, 1], [2, 3], ["A page", "Another page"]),
        "starts": call(0.01 * UP / UP.max() + 0.001, 0.3 * UP / UP.max()),
    },
    "two_minds": {
        "tablet": call(UP, 3 * np.exp(-UP / 5), 1.0, {"sets in": 1.5, "wears off": 6.0}),
        "branches": call((X + 3, X), (-BELL, X - 4), (-0.1, (0.0, -3.0))),
        "errors": call({"Newton": RUNS[0], "Halley": np.append(RUNS[1][:3], 0.0)}),
        "one_step": call(X, BELL - 0.2, (-0.5, 0.1), -2.5, (-1.0, 1.0)),
        "walks": call(UP, {"Newton from 0": np.where(UP < 6, UP, np.nan), "Halley from 0": 2 + 0 * UP}),
        "basins": call(X, UP, {title: np.where(UP[:, None] > 5 + X, 0, -1) for title in ("Newton", "Halley")}, (5 + X, 4 - X)),
    },
    "two_posteriors": {
        "three_decisions": call(
            X, BELL, {"VI": BELL**2, "moments": 0.5 * BELL}, BELL, {"best": (0.0, 0.4), "VI": (1.0, 0.2), "moments": (-1.0, 0.2)}
        ),
        "beside": call(
            X,
            [
                ("Where it is", BELL, {"VI": 0.5 * BELL, "calibrated": BELL**2}, {}),
                ("Where it will be", BELL, {"VI": BELL, "calibrated": BELL**2}, {"VI": 1.0, "calibrated": -1.0}),
            ],
        ),
        "widths": call(UP / 2, {"VI": 1 - 0.5 / UP, "moments": 1 - 0.8 / UP, "calibrated": np.ones(25)}, 1.7),
        "plant": call(X, BELL, {"M less the loss": (BELL, BELL), "Savings": (BELL, BELL**2)}, 1.0),
    },
    "two_ways_up": {
        "profiles": call(X, {"In fog": (BELL, BELL - 0.1), "A clear day": (VALLEY, VALLEY - 0.5)}),
        "staircase": call(X, -(X**2), [(2.0, 4 - 4 * X - 2 * (X - 2) ** 2, 1.0), (1.0, 1 - 2 * X - 2 * (X - 1) ** 2, 0.5)]),
        "paths": call(np.arange(4), {"joint": RUNS, "EM": RUNS + 1, "EM, every 100": RUNS + 2}, 0.0),
    },
    "utility_terms": {
        "climb": call(UP[:4], {"naive": -1 / UP[:4], "Taylor": -1 / UP[:3]}, {"the term": -0.5, "the linearised term": -1.0}),
        "errors": call(
            {
                "size of the bias": (UP[:4], {"naive": 1 / UP[:4], "8 quasi-Monte Carlo draws": [0.1]}),
                "300 decks": (UP[:4], {"Jensen": UP[:4]}),
            }
        ),
        "two_objectives": call(X, {"outside": -VALLEY, "inside": -((X - 1) ** 2)}, {"right": 0.0, "printed": 1.0}),
    },
    "what_a_gradient_costs": {
        "two_halves": call(UP, {"linear": UP, "logistic": 2 * UP}, 0.5),
        "budget": call(
            {name: (np.arange(1.0, 5.0), RUNS) for name in ("all rows", "reuse")},
            dict.fromkeys(("all rows", "reuse"), (PAIR, PAIR)),
            (PAIR, 0.3 * PAIR),
        ),
    },
    "what_is_guaranteed": {
        "road": call(
            (X, X, np.outer(BELL, BELL)),
            {"own widths": ROUND, "full normal": LEANING},
            UP,
            {"posterior": UP, "own widths": 0.8 * UP, "full normal": 0.95 * UP},
            3.0,
        ),
        "weights": call({"own widths": 4.0 * UP[::-1] ** 2 + 0.1, "full normal": UP[::-1] + 1.0}),
        "places": call({"own widths": {"intercept": BELL, "slope": 0.9 * BELL}, "full normal": {"intercept": 2 * BELL, "slope": UP / 10}}),
    },
    "what_to_tell": {
        "two_evenings": call(X, {title: (BELL, DRAWS.ravel(), 0.2, PAIR, 1.0) for title in ("Calm", "Stormy")}),
        "noise_of_messages": call(
            [1, 2, 5],
            {f"S = {s}": np.array([1.5, 1.2, 1.1]) / s for s in (50, 100)},
            np.arange(1, 6),
            {f"S = {s}": np.array([1.5, 1.2, 1.15, 1.12, 1.1]) / s for s in (50, 100)},
            {"S = 50": 0.06, "S = 100": 0.03},
        ),
        "parts_of_regret": call(
            {f"{n} evenings": pd.DataFrame({"left out": [17.0, 0.0], "learnt": [300 / n, 450 / n]}, ["mean", "B = 2"]) for n in (9, 99)},
            17.0,
            30,
        ),
    },
    "what_was_gained": {
        "rivals": call({name: pd.Series({"squared": s, "tilt 0.2": 2 * s}) for name, s in (("calibrated", 1.0), ("scales", 0.8))}),
        "ways": call({loss: {"calibrated": 2 * PAIR, "scales": 3 * PAIR, "exact": PAIR} for loss in ("squared", "tilt 0.2")}),
        "dials": call(UP, {f"noise sd {s}": 1.6 + s * (UP / 10 - s) ** 2 for s in (0.2, 0.5)}),
    },
    "a_decision_for_every_point": {
        "beyond": call(X, X**3, X**2, (X[::5], X[::5] ** 3 + 0.2), 2.0),
    },
    "why_be_bayesian": {
        "two_experiments": call(stats.binom.pmf(range(5), 4, 0.4), stats.nbinom.pmf(range(7), 2, 0.4), 3),
        "stopping": call(np.array([1, 10, 100]), np.array([0.05, 0.15, 0.3]), [0.1, 0.5, 0.9], [0.12, 0.48, 0.9]),
        "learning": call(X, {title: {"0": BELL, "10": BELL**2, "99": BELL**4} for title in ("Flat prior", "Cut prior")}, 0.3),
    },
    "without_belief": {
        "certificates": call(UP, 0.3 / UP, 0.1 + 0.3 / UP, 0.3 + 0.02 * UP, 0.25 + 0.01 * UP),
    },
}
EVERY = [pytest.param(module, name, id=f"{module}-{name}") for module, drawings in CASES.items() for name in drawings]


def draw(module, name):
    args, kwargs = CASES[module][name]
    return getattr(importlib.import_module(f"course_pkg.plots.{module}"), name.split()[0])(*args, **kwargs)


@pytest.fixture(autouse=True)
def style():
    """The course's style for one test, and no figure left open after it."""
    plt.close("all")  # tests of other files in the same process may have left some
    with plt.rc_context():
        plots.use_style()
        yield
        plt.close("all")


def shown(fig):
    """The axes with a frame: the others hold a legend only."""
    return [ax for ax in fig.axes if ax.get_visible() and ax.axison]


def words(fig):
    return [text for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]


def names(given):
    """Every string among a drawing's arguments, the keys of dicts included."""
    if isinstance(given, str):
        return {given}
    if isinstance(given, dict):
        return names(list(given)) | names(list(given.values()))
    if isinstance(given, list | tuple):
        return set().union(*map(names, given))
    return set()


def speechless(ax):
    """The directions in which neither the axes nor one that shares its scale says what is drawn."""
    across = any(a.get_xlabel() for a in ax.get_shared_x_axes().get_siblings(ax))
    # an axis without ticks has no scale to name
    upward = not len(ax.get_yticks()) or any(a.get_ylabel() for a in ax.get_shared_y_axes().get_siblings(ax))
    return [direction for direction, said in (("x", across), ("y", upward)) if not said]


def on_the_ground(ax):
    """Whether the axes hold a density or bars: areas that mislead unless the axis starts at 0."""
    areas = [path.vertices[:, 1].min() for area in ax.findobj(PolyCollection) for path in area.get_paths() if len(path.vertices)]
    bars = [bar.get_y() for bars in ax.containers for bar in bars if hasattr(bar, "get_y")]  # those of errors are lines
    return ax.get_yscale() == "linear" and (0 in areas + bars or "density" in ax.get_ylabel())


def unseen(ax):
    """Lines of which no point lies in the view."""
    (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())  # an axis may be turned round
    for line in ax.lines:
        x, y = np.asarray(line.get_xydata(), float).T
        if line.get_transform() == ax.transData and x.size and not np.any((left <= x) & (x <= right) & (low <= y) & (y <= high)):
            yield line


def faults(fig, given=()):
    """What keeps a reader from reading the figure, in words; ``given`` are the names that it has to carry."""
    fig.draw_without_rendering()
    found = []
    if fig.get_figwidth() > WIDEST:
        found.append(f"wide: {fig.get_figwidth()} inches")
    if not shown(fig):
        found.append("empty: no axes")
    legends = [ax.get_legend() for ax in fig.axes if ax.get_legend()] + fig.legends
    in_legends = {text.get_text() for legend in legends for text in legend.get_texts()}
    labels = {label for ax in fig.axes for label in ax.get_legend_handles_labels()[1]}
    if missing := labels - in_legends:
        found.append(f"legend: lacks {missing}")
    for ax in shown(fig):
        found += [f"unlabelled: {direction}" for direction in speechless(ax)]
        found += [f"unseen: {line}" for line in unseen(ax)]
        if not ax.has_data():
            found.append("empty: axes")
        if on_the_ground(ax) and ax.get_ylim()[0] != 0:
            found.append(f"floating: {ax.get_ylim()}")
    for text in words(fig):
        if text.get_fontsize() < SMALLEST:
            found.append(f"small: {text.get_text()!r} of {text.get_fontsize()} points")
        # matplotlib reads an odd number of dollars as plain characters, without a warning
        if text.get_text().replace(r"\$", "").count("$") % 2:
            found.append(f"dollar: {text.get_text()!r}")
    if missing := set(given) - {text.get_text() for text in words(fig)}:
        found.append(f"unnamed: {missing}")
    return found


@pytest.mark.parametrize(("module", "name"), EVERY)
def test_drawing(module, name):
    fig = draw(module, name)
    assert isinstance(fig, Figure)
    assert plt.get_fignums() == [fig.number], "one drawing, one figure"
    args, kwargs = CASES[module][name]
    assert faults(fig, names([*args, *kwargs.values()])) == []


def public(module):
    return {name for name, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__ and name[0] != "_"}


def test_every_drawing_has_a_case():
    modules = [m.name for m in pkgutil.iter_modules(plots.__path__) if m.name != "dial"]  # its charts are Vega's: test_dial
    found = {name: public(importlib.import_module(f"course_pkg.plots.{name}")) for name in modules}
    assert found == {module: {name.split()[0] for name in drawings} for module, drawings in CASES.items()}


def sound(width=6.4, words="density", size=10, low=0, legend=True, curve=BELL):
    """A figure without a fault, or with the one that is asked for."""
    fig, ax = plt.subplots(figsize=(width, 3.4))
    plots.shade(ax, X, BELL, label="bell")
    ax.plot(X, curve)
    ax.set_xlabel("x", fontsize=size)
    ax.set(ylabel=words, ylim=(low, 1))
    if legend:
        ax.legend()
    return fig


def bars():
    fig, ax = plt.subplots()
    ax.bar([1, 2], [0.4, 0.6])
    ax.set(xlabel="x", ylabel="chance", ylim=(0.3, 1))
    return fig


BROKEN = {
    "wide": lambda: sound(width=9.0),
    "legend": lambda: sound(legend=False),
    "unlabelled": lambda: sound(words=""),
    "unseen": lambda: sound(curve=BELL + 5),
    "floating": lambda: sound(low=-0.1),
    "floating bars": bars,
    "small": lambda: sound(size=6),
    "dollar": lambda: sound(words=r"density, $\theta"),
    "empty": plt.figure,
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found(fault):
    found = faults(BROKEN[fault]())
    assert len(found) == 1
    assert found[0].startswith(fault.split()[0])


def test_bare_axes_are_refused():
    fig, _ = plt.subplots()
    assert faults(fig) == ["unlabelled: x", "unlabelled: y", "empty: axes"]


def test_a_missing_name_is_found():
    assert faults(sound(), {"bell"}) == []
    assert faults(sound(), {"bell", "book"}) == ["unnamed: {'book'}"]


# What the drawings compute themselves, by hand


def lines(ax):
    """Label to the values of its line."""
    return {line.get_label(): np.asarray(line.get_ydata(), float) for line in ax.lines}


def test_style_is_the_course_s():
    plt.rcdefaults()
    assert plots.use_style() is None
    assert plt.rcParams["figure.figsize"][0] <= WIDEST
    assert plt.rcParams["font.size"] >= SMALLEST
    assert plt.rcParams["figure.constrained_layout.use"]
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"][0] == plots.BLUE


def test_a_notebook_shows_numbers_as_people_write_them():
    shell = InteractiveShell.instance()
    try:
        plots.use_style()
        shown = lambda value: shell.display_formatter.format(value)[0]["text/plain"]
        assert shown({"risk": np.float64(2 / 3), "order": jnp.float32(3)}) == "{'risk': 0.6667, 'order': 3}"
        assert shown((np.int64(4), np.bool_(True), -98765.4321, float("nan"))) == "(4, True, -98765, nan)"
        assert shown(jnp.array([1 / 3, 200.0])) == "array([  0.3333, 200.    ], dtype=float32)"
    finally:
        InteractiveShell.clear_instance()
        np.set_printoptions(precision=8, suppress=False)


def test_a_notebook_draws_vectors_as_large_as_pixels_and_pixels_where_vectors_would_be_heavy():
    shell = InteractiveShell.instance()
    try:
        plots.use_style()

        def shown(points):
            figure, ax = plt.subplots(figsize=(4, 3), dpi=100)
            ax.plot(*np.random.default_rng(3).normal(size=(2, points)))
            return shell.display_formatter.format(figure, include={"image/svg+xml"})[0].get("image/svg+xml")

        drawing = shown(2)
        assert drawing == shown(2)  # nothing in it depends on the hour or on chance
        width, height = (float(re.search(rf'<svg[^>]* {side}="(\d+)"', drawing)[1]) for side in ("width", "height"))
        assert abs(width - 400) < 40
        assert abs(height - 300) < 40
        assert not re.search(r'id="patch_1">\s*<path[^>]*fill: #ffffff', drawing)  # no ground
        assert shown(40_000) is None
    finally:
        InteractiveShell.clear_instance()
        np.set_printoptions(precision=8, suppress=False)


def test_shade_stands_on_the_ground_and_never_cuts_a_peak():
    _, ax = plt.subplots()
    plots.shade(ax, X, BELL, label="low")
    plots.shade(ax, X, 3 * BELL, label="high")
    plots.shade(ax, X, BELL)
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 3 * BELL.max()
    assert ax.get_legend_handles_labels()[1] == ["low", "high"]


@pytest.mark.parametrize("side", ["right", "left"])
def test_mark_stands_at_the_decision(side):
    fig, ax = plt.subplots()
    plots.mark(ax, 0.3, "here", color=plots.RED, height=0.5, side=side)
    assert list(ax.lines[0].get_xdata()) == [0.3, 0.3]
    assert ax.texts[0].get_text() == "here"
    assert ax.texts[0].xy == (0.3, 0.5)
    fig.draw_without_rendering()
    line, box = ax.transData.transform((0.3, 0))[0], ax.texts[0].get_window_extent()
    assert box.x0 > line if side == "right" else box.x1 < line


def test_shifted_is_relative_to_no_shift():
    (ax,) = draw("a_first_decision", "shifted").axes
    for values in (lines(ax)["squared loss"], lines(ax)["the clinic's loss"]):
        assert values[np.argmin(np.abs(X))] == pytest.approx(1.0)


def test_valleys_touch_one():
    (ax,) = draw("bayes_rules", "valleys").axes
    assert [lines(ax)[name].min() for name in "abcde"] == [1.0] * 5


def test_staircase_rises_by_two_over_n_at_each_draw():
    (ax,) = draw("bayes_rules", "staircase").axes
    assert lines(ax)["4 draws"] == pytest.approx([-1, -0.5, 0, 0.5, 1, 1])


def test_pools_are_shares():
    (ax,) = draw("pandemic", "positive_pools").axes
    assert [bar.get_height() for bar in ax.patches] == [0.25, 0.5, 0.25]


def test_demand_reddens_beyond_the_order():
    (ax,) = draw("pandemic", "demand").axes
    colours = {bar.get_x() + 0.5: bar.get_facecolor()[:3] for bar in ax.patches}
    assert len({colour for at, colour in colours.items() if at <= 7}) == 1
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1.0)


def test_experiments_write_their_tails():
    top, below = draw("why_be_bayesian", "two_experiments").axes
    assert top.texts[0].get_text() == f"{stats.binom.sf(2, 4, 0.4):.3f}"
    assert below.texts[0].get_text() == f"{stats.nbinom.pmf(range(3, 7), 2, 0.4).sum():.3f}"


def test_black_and_red_arrows_are_truth_and_mean_on_one_scale():
    truth = CASES["score_function"]["arrows"][0][1]
    black, red = (np.r_[arrow.U, arrow.V] for arrow in draw("score_function", "arrows").axes[2].collections[-2:])
    scale = black[0] / truth[0]
    assert black == pytest.approx(scale * truth)
    assert red == pytest.approx(scale * TERMS.mean(axis=0))


def test_a_calibration_s_risks_are_marked_at_their_decisions():
    left, right = draw("calibration", "risks_and_moves").axes
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert [float(dot.get_ydata()[0]) for dot in dots] == pytest.approx(
        [VALLEY[np.abs(UP - 5.4).argmin()], 0.8 * VALLEY[np.abs(UP - 6.0).argmin()]]
    )
    low, high = right.collections[1].get_segments()[0][:, 0]  # the calibrated, of what moved most
    assert (low, high) == pytest.approx((-1.8, -0.6))
    assert [label.get_text() for label in right.get_yticklabels()] == ["noise", "slope[0]"]
    listed = draw("calibration", "risks_and_moves listed").axes[0]
    assert list(listed.get_xticks()) == [0, 1]


def test_climbs_show_the_median_and_leave_no_zero_to_a_logarithm():
    (ax,) = draw("control_variates", "climbs to a goal").axes
    assert lines(ax)["plain"] == pytest.approx(np.median(RUNS, axis=0))
    assert np.all(lines(ax)["baseline"] > 0)


def test_a_guide_that_is_too_narrow_is_seen_to_stand_too_high():
    _, below = draw("models_and_guides", "plane").axes
    heights = {name: max(values) for name, values in lines(below).items()}
    assert heights["tied"] > 1.2 * heights["apart"]


def test_a_scale_that_crosses_zero_is_seen_to_cross():
    bare, kept = draw("models_and_guides", "scales").axes
    assert bare.lines[0].get_ydata() == pytest.approx([1.0, 0.5, -0.3])
    assert bare.get_ylim()[0] < -0.3
    assert bare.get_ylim() == kept.get_ylim()
