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
    below.text(depths[-1], closing, "close", va="top", ha="right")
    below.set(xlabel="depth of snow, m", ylabel="risk of an open road", ylim=(0, None))
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def bands(depths, truth, claims, closing):
    """A panel for each approximation: the risk on it with the band in which the posterior's has to lie, and the posterior's.

    ``claims`` maps names to (risk, half width of the band).
    """
    fig, axes = plt.subplots(len(claims), 1, sharex=True, sharey=True, figsize=(5.0, 2.6 * len(claims) + 0.5))
    top = 1.6 * np.max(truth)
    for ax, (name, (risk, half)), (colour, style) in zip(np.atleast_1d(axes), claims.items(), STYLES[1:], strict=False):
        ax.fill_between(
            depths, np.clip(risk - half, 0, top), np.clip(risk + half, 0, top), color=colour, alpha=0.2, linewidth=0, label="may lie here"
        )
        ax.plot(depths, risk, style, color=colour, label="on q")
        ax.plot(depths, truth, color=GREEN, label="posterior")
        ax.axhline(closing, color=BLACK, linewidth=1)
        ax.set(title=name, ylabel="risk", ylim=(0, top))
        ax.legend(loc="upper left")
    np.atleast_1d(axes)[-1].set_xlabel("depth of snow, m")
    return fig


def repairs(runs, truth):
    """K-hat of repeated runs against the risk that the smoothed weights give: ``runs`` maps names to (k-hat (K,), risk (K,), before)."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, (k_hat, risk, before)), (colour, _), shape in zip(runs.items(), STYLES[1:], "sDo", strict=False):
        ax.plot(k_hat, risk, shape, color=colour, markersize=5, label=name)
        ax.plot(np.median(k_hat), before, shape, color=colour, markersize=9, markerfacecolor="none")
    ax.plot([], [], "o", color=BLACK, markersize=9, markerfacecolor="none", label="before weighting")
    ax.axhline(truth, color=GREEN, label="posterior")
    ax.axvline(0.7, color=BLACK, linestyle=":", linewidth=1.2, label="0.7")
    ax.set(xlabel=r"$\hat k$", ylabel="risk of an open road", ylim=(0, None))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
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


def more_data(sizes, widths, coverage, promised):
    """Above: q's width over that of the posterior. Below: how often its interval holds the truth; both map names to (len(sizes),)."""
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.6))
    for ax, lines in ((top, widths), (below, coverage)):
        for (name, values), (colour, style), shape in zip(lines.items(), STYLES[1:], "sDo", strict=False):
            ax.semilogx(sizes, values, style, marker=shape, color=colour, markersize=5, label=name)
        ax.set_ylim(0, 1.1)
    top.axhline(1, color=BLACK, linewidth=0.8)
    below.axhline(promised, color=BLACK, linewidth=0.8)
    below.text(sizes[0], promised, "promised", va="top", ha="left")
    top.set(ylabel="width, relative")
    below.set(xlabel="days on record", ylabel="intervals that hold")
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
