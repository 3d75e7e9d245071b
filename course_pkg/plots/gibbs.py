"""Drawings of the page on Gibbs sampling. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED


def staircase(posterior, corners):
    """A walk of level and upright pieces over the rings of ``posterior``, which is (x (K,), y (J,), density (J, K)).

    ``corners`` (2 S + 1, 2) begins with the start; every second corner after it ends a sweep.
    """
    x, y, density = posterior
    fig, ax = plt.subplots(figsize=(5.0, 4.4))
    ax.contour(x, y, density, levels=density.max() * np.array([0.02, 0.1, 0.3, 0.6, 0.95]), colors=GREEN, linewidths=1.2)
    ax.plot([], [], color=GREEN, linewidth=1.2, label="posterior")
    ax.plot(*corners.T, color=BLUE, linewidth=1.3, label="one unknown at a time")
    ax.plot(*corners[2::2].T, "o", color=BLUE, markersize=5, label="after both")
    ax.plot(*corners[0], "s", color=BLACK, markersize=8, label="start")
    ax.set(xlabel="mean delay (minutes)", ylabel="standard deviation (minutes)")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def ridge(data, weights, posterior, corners):
    """Above: ``data``, (x (n,), y (n,)), and a line for each row of ``weights`` (S, 2). Below: their ``posterior`` and a walk.

    ``posterior`` is (w0 (K,), w1 (J,), density (J, K)), and ``corners`` (C, 2) are those of the walk.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.6), height_ratios=(1, 1.4))
    ends = np.array([0.0, 1.1 * np.max(data[0])])
    for intercept, slope in weights:
        top.plot(ends, intercept + slope * ends, color=GREEN, linewidth=0.8, alpha=0.4)
    top.plot(*data, "o", color=BLACK, markersize=5)
    top.set(xlabel="current, in knots", ylabel="minutes late")
    x, y, density = posterior
    below.contour(x, y, density, levels=density.max() * np.array([0.02, 0.1, 0.3, 0.6]), colors=GREEN, linewidths=1.2)
    below.plot([], [], color=GREEN, linewidth=1.2, label="posterior")
    below.plot(*np.transpose(corners), color=ORANGE, linewidth=1.4, label="one weight at a time")
    below.plot(*corners[0], "s", color=BLACK, markersize=6, label="start")
    below.set(xlabel="intercept, in minutes", ylabel="slope, in minutes a knot")
    below.legend(loc="upper right")
    return fig


def two_traces(traces, memory, predicted):
    """One trace below the other, and below both how long the chains remember, with every tenth ``predicted`` value as a dot."""
    fig, axes = plt.subplots(len(traces) + 1, 1, figsize=(5.0, 2.5 * (len(traces) + 1)))
    looks = dict(zip(traces, ((ORANGE, "-"), (BLUE, "--")), strict=True))
    for ax, (name, trace) in zip(axes, traces.items(), strict=False):
        ax.sharey(axes[0])
        ax.plot(trace, color=looks[name][0], linewidth=0.9)
        ax.set(title=name, xlabel="sweep", ylabel="intercept")
    for name, values in memory.items():
        axes[-1].plot(values, color=looks[name][0], linestyle=looks[name][1], label=name)
    lags = np.arange(0, len(predicted), 10)
    axes[-1].plot(lags, np.asarray(predicted)[lags], "o", color=BLACK, markersize=4, label=f"predicted, {next(iter(traces))}")
    axes[-1].set(xlabel="lag in sweeps", ylabel="autocorrelation")
    axes[-1].legend(loc="upper right")
    return fig


def shared_topics(pairs, exact, estimates):
    """Bars of the ``exact`` probability that two notes share a topic, and symbols for each chain's estimate (chains, K)."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    place = np.arange(len(pairs))
    ax.bar(place, exact, color=GREEN, alpha=0.3, label="every assignment summed")
    looks = zip((-0.27, 0.0, 0.27), ((ORANGE, "s", 4), (BLUE, "o", 4), (RED, "X", 7)), strict=True)
    for (name, runs), (shift, (colour, symbol, size)) in zip(estimates.items(), looks, strict=False):
        across = np.broadcast_to(place + shift, np.shape(runs))
        ax.plot(np.ravel(across), np.ravel(runs), symbol, color=colour, markersize=size, alpha=0.6, label=name)
    ax.set_xticks(place, pairs)
    ax.set(xlabel="notes", ylabel="probability of one topic", ylim=(0, 1))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def clouds(draws):
    """Draws of two unknowns, a panel for each name: ``draws`` maps names to (S, 2)."""
    fig, axes = plt.subplots(len(draws), 1, sharex=True, sharey=True, figsize=(4.0, 3.7 * len(draws)))
    for ax, (name, cloud), colour in zip(axes, draws.items(), (BLUE, RED), strict=True):
        ax.plot(*cloud.T, ".", color=colour, markersize=4, alpha=0.6, rasterized=True)
        ax.set(title=name, ylabel="second unknown", aspect="equal")
    axes[-1].set_xlabel("first unknown")
    return fig
