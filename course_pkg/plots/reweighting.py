"""Drawings of the page on reweighting old draws. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
WAYS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"))


def bubbles(theta, eps, weights, title="", fig=None):
    """Draws under an old and a new approximation, and the noise that would have made them under the new one.

    ``theta`` is (grid, old density, new density, draws) and ``eps`` (grid, density, noise); the area of a circle is the draw's weight.
    The draws are named A, B, C and so on.
    """
    fig = plt.figure(figsize=(5.0, 4.6)) if fig is None else fig
    fig.clear()
    above, below = fig.subplots(2, 1)
    grid, old, new, draws = theta
    above.plot(grid, old, "--", color=BLACK, linewidth=1.4, label="yesterday's $q$")
    above.plot(grid, new, color=BLUE, label="today's $q'$")
    above.set(title=title, xlabel=r"$\theta$", ylabel="density", ylim=(0, 1.0), xlim=(grid[0], grid[-1]))
    above.legend(loc="upper left")
    grid, base, noise = eps
    below.plot(grid, base, color=BLACK, linewidth=1.4, label=r"base density $q_0$")
    below.set(xlabel=r"$\epsilon' = s_{\lambda'}(\theta)$", ylabel="density", ylim=(0, 0.55), xlim=(grid[0], grid[-1]))
    below.legend(loc="upper left")
    for ax, at in ((above, draws), (below, noise)):
        (low, high), height = ax.get_xlim(), 0.1 * ax.get_ylim()[1]
        for k, (x, w) in enumerate(zip(at, weights, strict=True)):
            if low < x < high:  # a draw beyond the axis weighs nothing by then
                ax.scatter(x, height, s=90 * w, color=COLOURS[k % 5], alpha=0.75)
                lift = (0, 3 + 0.5 * np.sqrt(90 * w))
                ax.annotate("ABCDEFGH"[k], (x, height), textcoords="offset points", xytext=lift, ha="center")
    return fig


def decay(steps, exact, measured, draws):
    """Relative effective sample size: ``exact`` and ``measured`` map a cut into blocks to shares (T,).

    ``measured`` shares come from ``draws`` draws and cannot fall below ``1 / draws``, which is marked.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, share), (colour, symbol) in zip(exact.items(), WAYS, strict=False):
        ax.plot(steps, share, color=colour, label=name)
        ax.plot(steps, measured[name], symbol, color=colour, markersize=3.5)
    ax.axhline(1 / draws, color=BLACK, linestyle=":", linewidth=1)
    ax.annotate("one draw", (steps[-1], 0.9 / draws), ha="right", va="top")
    ax.set(yscale="log", ylim=(0.2 / draws, 1.6), xlabel="steps since the draws were made", ylabel="relative ESS")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def coupled(moves, panels):
    """Estimated gradients against the length of a move: ``panels`` maps titles to {name: (formula (K,), simulated (K,))}.

    The first name of a panel is the truth, drawn black with dots for an unbiased estimate.
    """
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.7 * len(panels)), squeeze=False)
    styles = ((BLACK, "-", "o", 2.4), (BLUE, "-", "s", 1.8), (RED, "--", "^", 1.8))
    for ax, (title, ways) in zip(axes[:, 0], panels.items(), strict=True):
        for (name, (formula, simulated)), (colour, style, symbol, width) in zip(ways.items(), styles, strict=False):
            ax.plot(moves, formula, style, color=colour, linewidth=width, label=name)
            ax.plot(moves, simulated, symbol, color=colour, markersize=4)
        ax.set(title=title, ylabel="gradient, intercept")
        ax.margins(y=0.12)
    axes[-1, 0].set_xlabel("how far both coordinates moved, in sd of $q$")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def quotes(steps, curves):
    """Regret of a decision against the age of the draws: ``curves`` maps names to regrets (runs, T). Quartiles are shaded."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, runs), colour, style in zip(curves.items(), (BLACK, RED, BLUE, GREEN), ("-", "--", "-", "-."), strict=False):
        low, middle, high = np.quantile(runs, (0.25, 0.5, 0.75), axis=0)
        ax.plot(steps, middle, style, color=colour, label=name)
        ax.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set(yscale="log", xlabel="steps since the draws were made", ylabel="regret of the quote")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig
