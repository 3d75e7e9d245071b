"""Drawings of the page on Metropolis-Hastings. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, SKY, mark


def walk_and_answer(posterior, walk, edges, shares, decision):
    """Above: a walk (S, 2) over the rings of ``posterior``, which is (x (K,), y (J,), density (J, K)). Below: what it says of one number.

    ``shares`` maps "exact" and the chain's name to probabilities of the bins between ``edges``; ``decision`` is (value, words).
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.0), height_ratios=(1.3, 1))
    x, y, density = posterior
    top.contour(x, y, density, levels=density.max() * np.exp([-6.0, -4.0, -2.0, -0.5]), colors=GREEN, linewidths=1)
    top.plot([], [], color=GREEN, linewidth=1, label="posterior")
    top.plot(*walk.T, color=ORANGE, linewidth=0.7, alpha=0.9, label="walk")
    top.plot(*walk.T, ".", color=ORANGE, markersize=3)
    top.plot(*walk[0], "o", color=BLACK, label="start")
    top.set(xlabel="midpoint (degrees)", ylabel="log width")
    top.legend(loc="lower left")
    (exact, exact_share), (name, share) = shares.items()
    below.stairs(share, edges, fill=True, color=ORANGE, alpha=0.35, label=name)
    below.stairs(exact_share, edges, color=GREEN, linewidth=1.6, label=exact)
    mark(below, *decision)
    below.set(xlabel="critical temperature (degrees)", ylabel="probability of a bin", ylim=(0, None))
    below.legend(loc="center right")
    return fig


def laws(places, laws, distances):
    """Above: the law of a chain on ``places`` at several times, the last one its limit. Below: distances to the limit against the step."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 6.4))
    styles = zip((SKY, BLUE, ORANGE, BLACK), ("o:", "s-.", "^--", "D-"), strict=True)
    for (name, law), (colour, style) in zip(laws.items(), styles, strict=False):
        top.plot(places, law, style, color=colour, markersize=5, label=name)
    top.set(xlabel="midpoint (degrees)", ylabel="probability", ylim=(0, 1.05))
    top.legend()
    for (name, distance), (colour, style) in zip(distances.items(), ((BLUE, "-"), (RED, "--"), (GREEN, "-.")), strict=False):
        below.plot(distance, style, color=colour, label=name)
    below.set(yscale="log", xlabel="step", ylabel="distance to the limit")
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig


def tuning(curves):
    """What a random walk moves, as a share of the best, against its acceptance: a dict maps a name to (acceptance, share)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for (name, (acceptance, share)), (colour, style) in zip(curves.items(), ((SKY, ":"), (ORANGE, "-."), (BLUE, "-")), strict=False):
        ax.plot(acceptance, share, style, color=colour, label=name)
    ax.set(xlabel="mean acceptance", ylabel="share of the best ESJD", xlim=(0, 1), ylim=(0, 1.05))
    ax.legend(loc="lower center")
    return fig
