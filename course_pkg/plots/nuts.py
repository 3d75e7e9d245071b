"""Drawings of the page on NUTS in practice. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, shade

CHAINS = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":"))


def claims(runs, truth, label):
    """A panel for each way to sample, a row for each run: its figure and twice the error it reports. ``runs`` maps names to (K, 2).

    The line is the ``truth``; a run is drawn red where its interval misses it.
    """
    fig, axes = plt.subplots(len(runs), 1, sharex=True, figsize=(5.0, 2.5 * len(runs)))
    for ax, (title, rows) in zip(np.atleast_1d(axes), runs.items(), strict=True):
        for row, (value, error) in enumerate(np.asarray(rows)):
            colour, shape = (RED, "s") if abs(value - truth) > 2 * error else (BLUE, "o")
            ax.hlines(row, value - 2 * error, value + 2 * error, color=colour, linewidth=1.2)
            ax.plot(value, row, shape, color=colour, markersize=4)
        ax.axvline(truth, color=BLACK, linestyle="--", linewidth=1.2)
        ax.set(title=title, ylabel="run", yticks=[])
    np.atleast_1d(axes)[-1].set_xlabel(label)
    return fig


def doublings(parts, start, pick, belief):
    """One tree: the places that each doubling visited, in the order of the doublings, over rings of the normal ``belief``.

    ``parts`` is a list of arrays (2^k, 2), drawn hollow where there are fewer. ``start`` and ``pick`` are places. ``belief`` is the
    covariance (2, 2) of a normal around 0.
    """
    fig, ax = plt.subplots(figsize=(5.0, 4.6))
    turn = np.linspace(0, 2 * np.pi, 200)
    for radius in (1.0, 2.0):
        ax.plot(*(radius * np.linalg.cholesky(belief) @ np.stack([np.cos(turn), np.sin(turn)])), color="0.8", linewidth=1)
    colours = (SKY, ORANGE, GREEN, PURPLE, BLUE, RED)
    for number, (places, colour, shape) in enumerate(zip(parts, colours, "osD^vP", strict=False)):
        whole = len(places) == 2**number
        inside = colour if whole else "none"
        label = f"doubling {number + 1}" if whole else "thrown away"
        ax.plot(*np.asarray(places).T, shape, color=colour, markerfacecolor=inside, markersize=5, label=label)
    ax.plot(*start, "*", color=BLACK, markersize=12, label="start")
    ax.plot(*pick, "o", markersize=13, markerfacecolor="none", markeredgecolor=BLACK, markeredgewidth=1.5, label="draw")
    ax.set(xlabel="$q_1$", ylabel="$q_2$", aspect="equal")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def ranks(runs, bins=20):
    """How each chain's draws rank among the draws of all, a panel for each run: ``runs`` maps names to draws (chains, draws)."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, figsize=(5.0, 2.7 * len(runs)))
    for ax, (title, draws) in zip(np.atleast_1d(axes), runs.items(), strict=True):
        draws = np.asarray(draws)
        places = rankdata(draws).reshape(draws.shape)
        edges = np.linspace(0, draws.size, bins + 1)
        ax.axhline(draws.shape[1] / bins, color=BLACK, linewidth=0.8)
        for number, (chain, (colour, style)) in enumerate(zip(places, CHAINS, strict=False)):
            ax.stairs(np.histogram(chain, edges)[0], edges, color=colour, linestyle=style, linewidth=1.3, label=f"chain {number + 1}")
        ax.set(title=title, ylabel="draws in the bin", ylim=(0, None))
    np.atleast_1d(axes)[-1].set_xlabel("rank among all draws")
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def funnel(runs, behind, depth, labels):
    """Draws in two coordinates, a panel for each run: ``runs`` maps names to (across, log tau, diverging), each of shape (S,).

    ``behind`` maps the same names to exact draws (across, log tau). The dotted line lies at ``depth``, which one of those in ten undercuts.
    ``labels`` name the coordinates across.
    """
    fig, axes = plt.subplots(len(runs), 1, sharey=True, figsize=(5.0, 3.7 * len(runs)))
    for ax, (title, (across, up, diverging)), label in zip(np.atleast_1d(axes), runs.items(), labels, strict=True):
        ax.plot(*behind[title], ".", color=GREEN, markersize=2.5, alpha=0.5, label="exact", rasterized=True)
        ax.plot(across[~diverging], up[~diverging], ".", color=BLUE, markersize=2, alpha=0.35, label="chain", rasterized=True)
        ax.plot(across[diverging], up[diverging], "x", color=RED, markersize=6, markeredgewidth=1.6, label="divergent")
        ax.axhline(depth, color=BLACK, linestyle=":", linewidth=1.2, label="a tenth lies below")
        ax.set(title=title, xlabel=label, ylabel=r"$\log\tau$", ylim=(-5, 4.5))
    handles, names = np.atleast_1d(axes)[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=2, markerscale=2.5)
    return fig


def edges(middles, shares, limits):
    """Share of trajectories that diverge against log tau: ``shares`` maps steps to values at ``middles``, ``limits`` to the edge."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for (h, share), (colour, style), shape in zip(shares.items(), ((RED, "-"), (BLUE, "--"), (GREEN, "-.")), "osD", strict=False):
        ax.plot(middles, 100 * np.asarray(share), style, marker=shape, markersize=3.5, color=colour, label=f"h = {h:.2g}")
        ax.axvline(limits[h], color=colour, linestyle=":", linewidth=1.2)
    ax.set(xlabel=r"$\log\tau$ where the trajectory begins", ylabel="trajectories that diverge, %")
    ax.legend(loc="upper right")
    return fig


def traces(runs, label):
    """The draws of one chain in their order, a panel for each run: ``runs`` maps names to draws (S,)."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(5.0, 2.2 * len(runs)))
    for ax, (title, draws), colour in zip(np.atleast_1d(axes), runs.items(), (ORANGE, BLUE, GREEN), strict=False):
        ax.plot(draws, color=colour, linewidth=0.9)
        ax.set(title=title, ylabel=label)
    np.atleast_1d(axes)[-1].set_xlabel("draw")
    return fig


def unseen(x, density, draws):
    """A density with all its modes, shaded, and the draws of chains, one outline for each: ``draws`` is (chains, S)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    shade(ax, x, density, color=GREEN, label="target")
    cells = np.linspace(x[0], x[-1], 50)
    heights = [np.histogram(chain, cells, density=True)[0] for chain in np.asarray(draws)]
    for number, (height, (colour, style)) in enumerate(zip(heights, CHAINS, strict=False)):
        ax.stairs(height, cells, color=colour, linestyle=style, linewidth=1.3, label=f"chain {number + 1}")
    ax.set(xlabel="$q$", ylabel="density", ylim=(0, 1.1 * max(np.max(heights), np.max(density))))
    ax.legend(loc="upper left")
    return fig
