"""Drawings of the page on models and guides. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, ORANGE, RED


def plane(mu, log_gamma, mass, guides):
    """Posterior mass over a grid, and below it of ``mu`` alone; ``guides`` maps a name to a density over the same grid."""
    fig, (ax, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.4), height_ratios=(3, 2))
    ax.contourf(mu, log_gamma, mass.T, [*_levels(mass), mass.max()], colors=["#E4E4E4", "#C8C8C8", "#A8A8A8"])
    below.fill_between(mu, _margin(mu, mass), color="#C8C8C8", label="posterior")
    drawn = mass >= _levels(mass)[0]
    for (name, density), colour, line in zip(guides.items(), (BLUE, ORANGE), ("-", "--"), strict=False):
        ax.contour(mu, log_gamma, density.T, _levels(density), colors=colour, linestyles=line, linewidths=1.5)
        below.plot(mu, _margin(mu, density), line, color=colour, label=name)
        drawn = drawn | (density >= _levels(density)[0])
    ax.set(ylabel="log precision $\\log\\gamma$", ylim=_padded(log_gamma[drawn.any(axis=0)]))
    below.set(xlabel="mean lateness $\\mu$ (minutes)", ylabel="density of $\\mu$", xlim=_padded(mu[drawn.any(axis=1)]), ylim=(0, None))
    below.legend(loc="upper right")
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


def _levels(density):
    return density.max() * np.exp([-4.5, -2.0, -0.5])  # of a normal: 3, 2 and 1 standard deviations out


def _margin(mu, density):
    total = density.sum(axis=1)
    return total / (total.sum() * (mu[1] - mu[0]))


def _padded(values):
    low, high = np.min(values), np.max(values)
    return low - 0.08 * (high - low), high + 0.08 * (high - low)
