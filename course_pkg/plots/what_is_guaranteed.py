"""Drawings of the page on guarantees. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE

STYLES = ((GREEN, "-"), (ORANGE, "--"), (BLUE, "-."), (PURPLE, ":"))


def road(belief, approximations, depths, risks, closing):
    """Above: rings of a posterior and of normals. Below: the risk of leaving the road open, by depth, on each belief.

    ``belief`` is (x, y, density); ``approximations`` maps names to (mean (2,), covariance (2, 2)); ``risks`` has "posterior" and them.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.0), height_ratios=(1.3, 1))
    x, y, density = belief
    top.contour(x, y, density, levels=density.max() * np.exp([-4.5, -2.0, -0.5]), colors=GREEN, linewidths=1.3)
    turn = np.linspace(0, 2 * np.pi, 200)
    for (mean, covariance), (colour, style) in zip(approximations.values(), STYLES[1:], strict=False):
        for radius in (1.0, 2.0, 3.0):
            ring = np.asarray(mean)[:, None] + radius * np.linalg.cholesky(covariance) @ np.stack([np.cos(turn), np.sin(turn)])
            top.plot(*ring, style, color=colour, linewidth=1.3)
    top.set(xlabel="intercept", ylabel="slope", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    for (name, values), (colour, style) in zip(risks.items(), STYLES, strict=False):
        below.plot(depths, values, style, color=colour, label=name)
    below.axhline(closing, color=BLACK, linewidth=1)
    below.text(depths[-1], closing, "close above", va="top", ha="right")
    below.set(xlabel="depth of snow, m", ylabel="risk of an open road", ylim=(0, None))
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def weights(shares):
    """Sorted weights by rank: ``shares`` maps names to weights (S,), the largest first, in multiples of an equal share."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, values), (colour, style) in zip(shares.items(), STYLES[1:], strict=False):
        ax.loglog(np.arange(1, len(values) + 1), values, style, color=colour, linewidth=1.8, label=name)
    ax.axhline(1, color=BLACK, linewidth=0.8)
    ax.text(1, 1, "all equal", va="top", ha="left")
    ax.set(xlabel="rank of the draw", ylabel="weight, in equal shares", ylim=(1e-2, None))
    ax.legend(loc="upper right")
    return fig


def places(shares, bins=10):
    """Where truths lie in q's marginals: a panel for each approximation; ``shares`` maps names to {unknown: probabilities (R,)}."""
    fig, axes = plt.subplots(len(shares), 1, sharex=True, sharey=True, figsize=(5.0, 2.4 * len(shares) + 0.5))
    edges = np.linspace(0, 1, bins + 1)
    for ax, (title, columns) in zip(np.atleast_1d(axes), shares.items(), strict=True):
        for (name, values), colour, style in zip(columns.items(), (BLUE, ORANGE), ("-", "--"), strict=False):
            ax.stairs(np.histogram(values, edges)[0], edges, color=colour, linestyle=style, linewidth=1.5, label=name)
            ax.axhline(len(values) / bins, color=BLACK, linewidth=0.8)
        ax.set(title=title, ylabel="fits", ylim=(0, None))
    np.atleast_1d(axes)[-1].set_xlabel("probability that q gives to values below the truth")
    fig.legend(*np.atleast_1d(axes)[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
