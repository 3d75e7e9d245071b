"""Drawings of the page on integrals by dice. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, mark


def totals(density, edges, shares, decisions, best):
    """One panel for each name in ``shares``: its bins between ``edges`` over the exact ``density`` (x, y), and what was announced.

    ``shares`` maps a name to densities of the bins, ``decisions`` the same names to (value, words); ``best`` is drawn everywhere.
    """
    fig, axes = plt.subplots(len(shares), 1, sharex=True, sharey=True, figsize=(5.0, 2.9 * len(shares)))
    for ax, (name, share), colour in zip(axes, shares.items(), (RED, ORANGE), strict=False):
        ax.stairs(share, edges, fill=True, color=colour, alpha=0.35, label=name)
        ax.plot(*density, color=GREEN, label="exact density")
        mark(ax, *decisions[name], height=0.98, side="left")
        ax.axvline(best, color=GREEN, linestyle=":", linewidth=1.6, label="best")
        ax.set(ylabel="density", ylim=(0, 1.2 * max(np.max(s) for s in shares.values())))
        ax.legend(loc="center right")
    axes[-1].set_xlabel("minutes spent in the villages")
    return fig


def curse(grids, dice):
    """Errors against the number of nodes: ``grids`` maps a name to (nodes, errors), ``dice`` is (nodes, errors, words)."""
    fig, ax = plt.subplots(figsize=(5.0, 4.8))
    for (name, (nodes, errors)), (colour, style) in zip(
        grids.items(), ((SKY, "o-"), (BLUE, "s-"), (PURPLE, "^-"), (RED, "D-")), strict=False
    ):
        ax.plot(nodes, errors, style, color=colour, markersize=4, linewidth=1.3, label=name)
    nodes, errors, words = dice
    ax.plot(nodes, errors, "--", color=BLACK, label=words)
    ax.set(xscale="log", yscale="log", xlabel="nodes", ylabel="error of the risk, in units")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def funnel(steps, running, truth, sigma, alphas, chances):
    """Above: running averages (runs, T) at ``steps``, with two standard errors. Below: chances of an error above alpha standard errors."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.0))
    top.plot(steps, running.T, color=SKY, linewidth=0.8)
    for sign in (-2, 2):
        top.plot(steps, truth + sign * sigma / np.sqrt(steps), color=BLACK, linestyle="--", linewidth=1.2)
    top.axhline(truth, color=GREEN, linewidth=1.4)
    top.set(xscale="log", xlabel="draws", ylabel="average loss", ylim=(truth - 2 * sigma / 3, truth + 2 * sigma / 3))
    styles = ((BLACK, "-"), (RED, "--"), (BLUE, "-."), (ORANGE, "o"))
    for (name, chance), (colour, style) in zip(chances.items(), styles, strict=False):
        below.plot(alphas, chance, style, color=colour, markersize=4, label=name)
    below.set(yscale="log", xlabel="alpha", ylabel="chance of a larger error", ylim=(1e-5, 1.5))
    below.legend(loc="lower left")
    return fig


def point_sets(sets):
    """Points (T, 2) of the unit square, one panel for each name, with what an axis sees of them drawn below and at the left."""
    fig, axes = plt.subplots(len(sets), 1, figsize=(5.0, 3.3 * len(sets)))
    for ax, (name, points), colour in zip(axes, sets.items(), (RED, ORANGE, BLUE), strict=False):
        ax.plot(*points.T, ".", color=colour, markersize=3.5)
        ax.plot(points[:, 0], np.full(len(points), -0.09), "|", color=colour, markersize=7, markeredgewidth=0.6)
        ax.plot(np.full(len(points), -0.09), points[:, 1], "_", color=colour, markersize=7, markeredgewidth=0.6)
        ax.set(title=name, xlim=(-0.15, 1.02), ylim=(-0.15, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], aspect="equal")
        ax.set(xlabel="first coordinate", ylabel="second coordinate")
    return fig


def regrets(curves, formula):
    """Mean regret against the number of nodes: ``curves`` maps a name to (nodes, values), ``formula`` is (nodes, values, words)."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    styles = ((RED, "D-"), (ORANGE, "o-"), (BLUE, "s-"))
    for (name, (nodes, values)), (colour, style) in zip(curves.items(), styles, strict=False):
        ax.plot(nodes, values, style, color=colour, markersize=4, linewidth=1.3, label=name)
    nodes, values, words = formula
    ax.plot(nodes, values, "--", color=BLACK, label=words)
    ax.set(xscale="log", yscale="log", xlabel="nodes", ylabel="mean regret, in units")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
