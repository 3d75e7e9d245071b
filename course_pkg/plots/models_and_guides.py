"""Drawings of the page on models and guides. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, ORANGE, RED

SIZE = (5.0, 3.2)
ANGLE = np.linspace(0, 2 * np.pi, 100)


def plane(mu, log_gamma, mass, guides):
    """Posterior mass over a grid, and what guides draw on it: ``guides`` maps a name to its map from two normal numbers to a place."""
    fig, ax = plt.subplots(figsize=SIZE)
    levels = mass.max() * np.exp([-4.5, -2.0, -0.5])  # of a normal: 3, 2 and 1 standard deviations out
    ax.contourf(mu, log_gamma, mass.T, [*levels, mass.max()], colors=["#E4E4E4", "#C8C8C8", "#A8A8A8"])
    drawn = mass >= levels[0]
    across, upward = [mu[drawn.any(axis=1)]], [log_gamma[drawn.any(axis=0)]]
    for (name, place), colour, line in zip(guides.items(), (BLUE, ORANGE), ("-", "--"), strict=False):
        for radius in (1, 2):
            x, y = place(radius * np.cos(ANGLE), radius * np.sin(ANGLE))
            ax.plot(x, y, line, color=colour, label=name if radius == 1 else None)
            across.append(x)
            upward.append(y)
    limits = {"xlim": _padded(np.concatenate(across)), "ylim": _padded(np.concatenate(upward))}
    ax.set(xlabel="mean lateness $\\mu$ (minutes)", ylabel="log precision $\\log\\gamma$", **limits)
    ax.legend(loc="upper right")
    return fig


def scales(bare, kept):
    """Scale parameters along runs, arrays (runs, steps): without a constraint, and with one."""
    fig, axes = plt.subplots(2, 1, sharex=True, sharey=True, figsize=(5.0, 5.0))
    titles = ("no constraint", "constraints.positive")
    for ax, title, runs, colour in zip(axes, titles, (bare, kept), (RED, BLUE), strict=True):
        for run in np.asarray(runs):
            ax.plot(run, color=colour, linewidth=1, alpha=0.6)
        ax.axhline(0, color=BLACK, linewidth=1)
        ax.set(title=title, ylabel="scale of q", ylim=(-0.6, 1.1))
    axes[-1].set_xlabel("step")
    return fig


def _padded(values):
    low, high = np.min(values), np.max(values)
    return low - 0.08 * (high - low), high + 0.08 * (high - low)
