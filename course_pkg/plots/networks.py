"""Drawings of the page on a network's weights. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade


def curves(x, truth, data, predictive, settings, needed):
    """Above: data, the true curve and (low, middle, high) of the predictive. Below: settings (name to values) and data, less the truth."""
    fig, (whole, rest) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.4))
    _band(whole, x, predictive)
    whole.plot(x, truth, color=BLACK, linewidth=1, label="truth")
    whole.plot(*data, ".", color=BLACK, markersize=4)
    whole.set(ylabel="$y$", xlim=(x[0], x[-1]))
    whole.margins(y=0.2)
    whole.legend(ncols=2, loc="upper left")
    for (name, values), colour, line in zip(settings.items(), (ORANGE, BLUE), ("--", "-"), strict=True):
        rest.plot(x, values - truth, line, color=colour, label=name)
    rest.axhline(needed, color=BLACK, linewidth=1, linestyle=":", label="true quantile")
    rest.plot(data[0], data[1] - np.interp(data[0], x, truth), ".", color=BLACK, markersize=4)
    rest.set(xlabel="$x$", ylabel="less the true curve")
    low, high = rest.get_ylim()
    rest.set_ylim(low, high + 0.4 * (high - low))  # room for the legend
    rest.legend(loc="upper left", fontsize="small")
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
