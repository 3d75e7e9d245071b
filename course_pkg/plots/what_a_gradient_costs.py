"""Drawings of the page on what a gradient costs. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED


def two_halves(rows, asking, cheap):
    """Microseconds of the model gradient by rows, a line for each model in ``asking``, over the level line of a step without it."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, times), colour, style in zip(asking.items(), (BLUE, ORANGE), ("o-", "s--"), strict=False):
        ax.plot(rows, times, style, color=colour, label=name, markersize=4)
    ax.axhline(cheap, color=RED, linestyle="-.", label="all the rest of a step")
    ax.set(xscale="log", yscale="log", xlabel="rows of data", ylabel="microseconds")
    ax.legend()
    return fig


def budget(paths, cloud, line):
    """Above: regret by operations spent, median and range over runs. Below: regret by the ELBO still missing, with a line."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.0))
    kinds = zip(paths.items(), (RED, ORANGE, BLUE, GREEN), ("-", "--", "-.", ":"), ("o", "s", "^", "D"), strict=False)
    for (name, (spent, values)), colour, style, marker in kinds:
        top.fill_between(spent, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        top.plot(spent, np.median(values, axis=0), style, color=colour, label=name)
        below.plot(*cloud[name], marker, color=colour, markersize=3, alpha=0.6, label=name)
    top.set(xscale="log", yscale="log", xlabel="operations spent", ylabel="regret of a promise")
    top.legend(loc="lower left")
    below.plot(*line, color=BLACK, linewidth=1, label="the formula of the aside")
    below.set(xscale="log", yscale="log", xlabel="nats below the best ELBO", ylabel="regret of a promise")
    below.legend(loc="upper left")
    return fig
