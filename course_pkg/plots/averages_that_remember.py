"""Drawings of the page on averages that remember. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE

LOOKS = {  # of each method, the same in every figure of the page
    "SGD": (ORANGE, "-"),
    "SAG": (BLUE, "--"),
    "SVRG": (GREEN, "-."),
}


def _named(runs):
    return [((name, run), *LOOKS[name]) for name, run in runs.items()]


def paths(runs):
    """One number along a run of SGD and one of SAG, a panel each: ``runs`` maps a title to (steps,). Zero is where it should end."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(5.0, 1.9 * len(runs) + 0.4), squeeze=False)
    for ax, (title, path), colour in zip(axes[:, 0], runs.items(), (ORANGE, BLUE), strict=True):
        ax.plot(path, color=colour, linewidth=1)
        ax.axhline(0, color=BLACK, linewidth=0.8)
        ax.set(title=title, ylabel="distance")
    axes[-1, 0].set_xlabel("step")
    return fig


def distances(runs, floor=1e-12, cost=None):
    """Distance to the optimum, median and range: ``runs`` maps a label to (runs, steps), ``cost`` to block gradients a step."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, values), colour, style in _named(runs):
        values = np.maximum(values, floor)
        step = np.arange(values.shape[1]) * (cost[name] if cost else 1)
        ax.fill_between(step, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(step, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    ax.set(yscale="log", xlabel="block gradients" if cost else "step", ylabel="distance to the optimum")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def risks(runs, best):
    """Regret against work, median and middle 80 %: ``runs`` maps a label to (work (steps,), regret (runs, steps))."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    for (name, (work, values)), colour, style in _named(runs):
        ax.fill_between(work, *np.quantile(values, [0.1, 0.9], axis=0), color=colour, alpha=0.12, linewidth=0)
        ax.plot(work, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    ax.axhline(best, color=BLACK, linestyle=":", linewidth=0.9, label="at the best ELBO")
    ax.set(yscale="log", xlabel="model gradients (one block, one draw)", ylabel="regret, per cent")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
