"""Drawings of the page on skewed data. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY

COLOURS = (RED, BLUE, GREEN, PURPLE)
STYLES = ("--", "-", ":", "-.")
SHAPES = "sdov^D*"


def columns_and_fits(panels):
    """A histogram for each column with densities over it: ``panels`` maps the axis label to (values, grid, {name: density})."""
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.9 * len(panels)))
    for ax, (label, (values, grid, densities)) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        ax.hist(values, bins=40, density=True, color=ORANGE, alpha=0.35)
        for (name, density), colour, style in zip(densities.items(), COLOURS, STYLES, strict=False):
            ax.plot(grid, density, style, color=colour, label=name)
        ax.set(xlabel=label, ylabel="density", xlim=(grid[0], grid[-1]))
    np.atleast_1d(axes)[0].legend(loc="upper right")
    return fig


def two_estimates(clouds, found):
    """Two estimates of one number on simulated data, one against the other, and on the data: a panel for each column.

    ``clouds`` maps titles to arrays (m, 2), ``found`` the same titles to pairs.
    """
    fig, axes = plt.subplots(len(clouds), 1, figsize=(5.0, 3.3 * len(clouds)))
    for ax, (title, cloud) in zip(np.atleast_1d(axes), clouds.items(), strict=True):
        both = np.vstack([cloud, found[title]])
        ends = np.array([both.min() - 0.02, both.max() + 0.02])
        ax.plot(ends, ends, color=BLACK, linewidth=0.8)
        ax.plot(*cloud.T, "o", color=BLUE, alpha=0.5, markersize=4, label="data from the fit")
        ax.plot(*found[title], "*", color=RED, markersize=13, label="the column")
        ax.set(title=title, xlabel=r"$\gamma$ by maximum likelihood", ylabel=r"$\gamma$ by moments", xlim=ends, ylim=ends)
    np.atleast_1d(axes)[0].legend(loc="lower right")
    return fig


def by_skewness(skewness, panels, limit):
    """How much better one density scores than another, against the sample skewness: a panel for each rival, positive is better.

    ``panels`` maps titles to arrays with NaN where the rival cannot be fitted. A dotted upright line marks ``limit`` in the first panel.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 2.9 * len(panels)), sharex=True)
    for number, (ax, (title, gain), colour) in enumerate(zip(np.atleast_1d(axes), panels.items(), COLOURS, strict=False)):
        ax.axhline(0, color=BLACK, linewidth=0.8)
        if number == 0:
            ax.axvline(limit, color=BLACK, linestyle=":")
        ax.plot(skewness, gain, "o", color=colour, alpha=0.6, markersize=5)
        ax.set(title=title, ylabel="gain, nats a row")
        ax.set_yscale("symlog", linthresh=0.01, linscale=0.8)
        ax.set_yticks([-0.1, -0.01, 0, 0.01, 0.1, 0.3], ["−0.1", "−0.01", "0", "0.01", "0.1", "0.3"])
    ax.set(xlabel="skewness of the column")
    return fig


def few_rows(sizes, panels):
    """Regret of decisions, in per cent of the least risk, against the number of rows: ``panels`` maps titles to {way: (means, errors)}.

    Ways whose name begins with W are drawn with solid lines.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 3.2 * len(panels)), sharex=True)
    colours = (RED, BLACK, ORANGE, PURPLE, GREEN, BLUE, SKY)
    for ax, (title, ways) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for number, ((name, (mean, error)), colour) in enumerate(zip(ways.items(), colours, strict=False)):
            shifted = np.asarray(sizes) * 1.02 ** (number - len(ways) / 2)
            mean, error = np.asarray(mean), np.asarray(error)
            style = "-" if name.startswith("W") else ":"
            ax.plot(shifted, mean, style, color=colour, marker=SHAPES[number], markersize=5, linewidth=1.2, label=name)
            ax.vlines(shifted, mean - 2 * error, mean + 2 * error, color=colour)
        ax.set(title=title, xscale="log", yscale="log", ylabel="regret, %")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        ax.set_yticks(ticks := (3, 10, 30, 100), [str(tick) for tick in ticks])
    ax.set(xlabel="rows seen")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3, columnspacing=1.0, handletextpad=0.4)
    return fig


def two_decisions(t, u, between, grid, curves, areas, densities, reserved):
    """A regression with the curve where each model would stop; below, one sample's distribution and decision by each.

    Args:
        t, u: shape ``(n,)``, covariate and outcome.
        between: shape ``(n,)``, true for the outcomes to be ringed.
        grid: shape ``(k,)``, the axis of the curves.
        curves: for each model's name, shape ``(k,)``, a quantile along the grid.
        areas: shape ``(m,)``, the axis below.
        densities: for each model's name, shape ``(m,)``.
        reserved: for each model's name, a decision on that axis.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 6.2))
    top.plot(t, u, "o", color=SKY, markersize=3, alpha=0.6)
    top.plot(t[between], u[between], "o", color=BLACK, markerfacecolor="none", markersize=7)
    for name, colour, style in zip(curves, COLOURS, STYLES, strict=False):
        top.plot(grid, curves[name], style, color=colour, label=name)
        below.plot(areas, densities[name], style, color=colour)
        below.axvline(reserved[name], color=colour, linestyle=style, linewidth=1.2, label=f"{name} reserves {reserved[name]:.0f}")
    top.set(xlabel="t, standardised log of the mean area", ylabel="u, log of the largest area")
    below.set(xlabel="largest area of one large sample, t = 2", ylabel="density", yticks=[])
    below.set_ylim(bottom=0)
    top.legend(loc="upper left", title="0.99-quantile")
    below.legend(loc="upper right", frameon=True, framealpha=1, edgecolor="none")
    return fig
