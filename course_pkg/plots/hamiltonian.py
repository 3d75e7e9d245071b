"""Drawings of the page on Hamiltonian Monte Carlo. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, mark


def two_walks(walk, paths, draws, belief):
    """Above: a random walk (S, 2). Below: the trajectories (K, L + 1, 2) of another chain and its draws (K, 2). Rings show ``belief``.

    ``belief`` is the (mean, covariance) of a normal; the rings lie at 1, 2 and 3 standard deviations.
    """
    fig, axes = plt.subplots(2, 1, sharex=True, sharey=True, figsize=(5.0, 8.4))
    mean, covariance = belief
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.linalg.cholesky(covariance) @ np.stack([np.cos(turn), np.sin(turn)])
    for ax, title in zip(axes, ("random walk, by the step", "HMC, by the trajectory"), strict=True):
        for radius in (1, 2, 3):
            ax.plot(*(np.asarray(mean)[:, None] + radius * circle), color=GREEN, linewidth=1.2, label="posterior" if radius == 1 else None)
        ax.set(title=title, ylabel="depth of well 2 (m)")
    axes[0].plot(*walk.T, color=ORANGE, linewidth=1, label="random walk")
    for number, path in enumerate(paths):
        axes[1].plot(*path.T, color=BLUE, linewidth=1, alpha=0.6, label=None if number else "trajectory")
    axes[1].plot(*draws.T, "o", color=BLUE, markersize=5, label="draw")
    for ax, first in zip(axes, (walk[0], paths[0][0]), strict=True):
        ax.plot(*first, "s", color=BLACK, markersize=7, label="start")
        ax.legend(loc="lower right")
    axes[1].set_xlabel("depth of well 1 (m)")
    return fig


def phase_plane(radii, tracks, shadow):
    """Tracks in the plane of position and momentum over circles of constant energy; ``tracks`` maps "exact" and two methods to (K, 2).

    ``shadow`` maps two names to the places of a third method and to the curve that they lie on.
    """
    fig, ax = plt.subplots(figsize=(5.0, 5.4))
    turn = np.linspace(0, 2 * np.pi, 200)
    for radius in radii:
        ax.plot(radius * np.cos(turn), radius * np.sin(turn), color="0.8", linewidth=1.2)
    styles = ((BLACK, "-"), (RED, "s--"), (BLUE, "o:"), (GREEN, "^"), (GREEN, "--"))
    for (name, track), (colour, style) in zip((tracks | shadow).items(), styles, strict=True):
        ax.plot(*track.T, style, color=colour, linewidth=1.4, markersize=5, label=name)
    ax.set(xlabel="position $q$", ylabel="momentum $p$", aspect="equal")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def step_and_path(sizes, acceptance, edge, lengths, curves):
    """Above: acceptance against the step size, with the ``edge`` of stability. Below: what trajectories are worth against their length.

    ``lengths`` and ``curves`` map the same names to lengths and to values there.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 6.0))
    top.plot(sizes, acceptance, "o-", color=BLUE, markersize=5)
    mark(top, edge, "stable up to here", side="left")
    top.set(xlabel="step size $h$", ylabel="mean acceptance", ylim=(0, None))
    for (name, values), (colour, style) in zip(curves.items(), ((GREEN, ":"), (BLUE, "-"), (RED, "--")), strict=False):
        below.plot(lengths[name], values, color=colour, linestyle=style, label=name)
    below.set(xlabel="trajectory length $hL$", ylabel="squared jump for a gradient", ylim=(0, None))
    below.legend(loc="upper right")
    return fig


def price_of_dimension(dims, costs):
    """Evaluations against the number of coordinates, both axes logarithmic: ``costs`` maps two names to values at ``dims``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, cost), (colour, style) in zip(costs.items(), ((ORANGE, "s--"), (BLUE, "o-")), strict=True):
        ax.plot(dims, cost, style, color=colour, label=name)
    ax.set(xscale="log", yscale="log", xlabel="coordinates $d$", ylabel="evaluations")
    ax.legend(loc="upper left")
    return fig
