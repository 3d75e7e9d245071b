"""Drawings of the page on implicit gradients and the path derivative. Each function takes what it draws and returns the figure."""

from typing import Any

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade

PAIR = ((ORANGE, "--"), (BLUE, "-"))


def level(theta, curves, height, draws):
    """Two distribution functions cut at one height: ``curves`` maps a label to its values, ``draws`` holds where each is cut."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    for (name, values), at, colour, style in zip(curves.items(), draws, (BLUE, ORANGE), ("-", "--"), strict=True):
        ax.plot(theta, values, color=colour, linestyle=style, label=name)
        ax.plot([at, at], [0, height], color=colour, linewidth=1, linestyle=":")
        ax.plot(at, height, "o", color=colour)
    ax.axhline(height, color=BLACK, linewidth=0.8)
    ax.annotate("", (draws[1], 0.06), (draws[0], 0.06), arrowprops={"arrowstyle": "->", "color": RED, "linewidth": 2})
    ax.set(xlabel=r"$\theta$", ylabel=r"$F(\theta)$", ylim=(0, 1.02), xlim=(theta[0], theta[-1]))
    ax.legend(loc="lower right")
    return fig


def beliefs(theta, densities, decisions):
    """Densities of a positive quantity, with the decision that each of the last two leads to."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    colours = (BLACK, GREEN, ORANGE)
    for (name, density), colour, style in zip(densities.items(), colours, ("-", "--", "-."), strict=True):
        if colour == BLACK:
            shade(ax, theta, density, color=colour, label=name)
        else:
            ax.plot(theta, density, color=colour, linestyle=style, label=name)
    beside: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "xytext": (4, 0)}
    for (name, at), colour, height in zip(decisions.items(), colours[1:], (0.28, 0.14), strict=True):
        ax.axvline(at, color=colour, linestyle="--", linewidth=1.2)
        ax.annotate(name, (max(decisions.values()), height), color=colour, va="top", **beside)  # right of both lines
    ax.set(xlabel="thousand fish", ylabel="density", xlim=(theta[0], theta[-1]))
    ax.set_ylim(0, 1.15 * max(density.max() for density in densities.values()))
    ax.legend()
    return fig


def variances(width, panels):
    """Variance of one term against the width of q: ``panels`` maps a parameter to {estimator: values}; logarithmic axes."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 5.2))
    for ax, (parameter, curves) in zip(axes, panels.items(), strict=True):
        for (name, values), (colour, style) in zip(curves.items(), PAIR, strict=True):
            ax.plot(width, values, color=colour, linestyle=style, label=name)
        ax.axvline(1, color=BLACK, linewidth=0.8, linestyle=":")
        ax.set(title=parameter, xscale="log", yscale="log", ylabel="variance of a term")
    axes[0].legend()
    axes[-1].set_xticks([0.25, 0.5, 1, 2], ["1/4", "1/2", "1", "2"], minor=False)
    axes[-1].set_xticks([], minor=True)
    axes[-1].set_xlabel("width of q, in widths of the posterior")
    return fig


def quotas(paths, best):
    """The decision along two runs with a constant rate, and the decision of the exact posterior."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    for (name, values), (colour, style) in zip(paths.items(), PAIR, strict=True):
        ax.plot(values, color=colour, linestyle=style, linewidth=1.2, label=name)
    ax.axhline(best, color=BLACK, linewidth=0.8, label="exact posterior")
    ax.set(xlabel="step", ylabel="quota, thousand fish")
    ax.legend()
    return fig
