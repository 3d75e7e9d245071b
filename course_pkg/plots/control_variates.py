"""Drawings of the page on control variates. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, ORANGE, RED, SKY


def clouds(estimates, exact, names):
    """Many estimates of one gradient, one panel below the other: ``estimates`` maps a title to an array (repetitions, 2).

    The arrow ends at ``exact`` (2,), and ``names`` says whose slope each axis has.
    """
    fig, axes = plt.subplots(len(estimates), 1, sharex=True, sharey=True, figsize=(5.0, 6.0))
    for ax, (title, at), colour in zip(axes, estimates.items(), (ORANGE, BLUE), strict=True):
        ax.plot(*np.asarray(at).T, ".", color=colour, markersize=3, alpha=0.5)
        ax.annotate("", exact, (0, 0), arrowprops={"arrowstyle": "-|>", "color": BLACK, "linewidth": 1.8})
        ax.plot(0, 0, "+", color=BLACK)
        ax.set(title=title, ylabel=f"slope for {names[1]}")
    axes[-1].set_xlabel(f"slope for {names[0]}")
    return fig


def climbs(runs, *, ylabel, goal=None):
    """Medians and the full range of several runs on a logarithmic axis: ``runs`` maps a label to an array (runs, steps)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    colours, styles = (RED, ORANGE, BLUE, SKY), ("-", "-.", "--", ":")
    for (name, values), colour, style in zip(runs.items(), colours, styles, strict=False):
        values = np.maximum(values, 1e-6)
        steps = np.arange(values.shape[1])
        ax.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(steps, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    if goal is not None:
        ax.axhline(goal, color=BLACK, linewidth=0.8, label="goal")
    ax.set(yscale="log", xlabel="step", ylabel=ylabel, ylim=(1e-4, None))
    ax.legend()
    return fig
