"""Drawings of the page on a network's weights. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade


def curves(x, truth, data, predictive, plain):
    """Data, the true curve, one network's curve, and a posterior given as (low, middle, high) of the predictive."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    _band(ax, x, predictive)
    ax.plot(x, plain, color=ORANGE, linestyle="--", label="one network")
    ax.plot(x, truth, color=BLACK, linewidth=1, label="truth")
    ax.plot(*data, ".", color=BLACK, markersize=4)
    ax.set(xlabel="$x$", ylabel="$y$", ylim=(-20, 24), xlim=(x[0], x[-1]))
    ax.legend(ncols=3, loc="upper center")
    return fig


def scalings(theta, densities):
    """The posterior of one mean, and what two wrong scalings make of it."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    for (name, density), colour in zip(densities.items(), (GREEN, RED, ORANGE), strict=True):
        shade(ax, theta, density, color=colour, label=name)
    ax.set(xlabel=r"$\theta$", ylabel="density", xlim=(theta[0], theta[-1]))
    ax.legend()
    return fig


def wrong(x, truth, data, beliefs):
    """Predictive bands of wrongly scaled fits, one panel each."""
    fig, axes = plt.subplots(len(beliefs), 1, sharex=True, figsize=(5.0, 5.2))
    for ax, (name, belief) in zip(axes, beliefs.items(), strict=True):
        _band(ax, x, belief)
        ax.plot(x, truth, color=BLACK, linewidth=1, label="truth")
        ax.plot(*data, ".", color=BLACK, markersize=4)
        ax.set(title=name, ylabel="$y$", xlim=(x[0], x[-1]))
        ax.margins(y=0.25)
        ax.legend(ncols=2, loc="upper left")
    axes[-1].set_xlabel("$x$")
    return fig


def _band(ax, x, belief):
    low, middle, high = belief
    ax.fill_between(x, low, high, color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, middle, color=BLUE, label="posterior")
