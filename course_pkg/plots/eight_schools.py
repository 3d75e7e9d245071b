"""Drawings of the page on eight schools. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgba

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, SKY

SHAPES = ("s", "o", "D")
COLOURS = (GREEN, BLUE, RED)


def promises(names, y, sigma, decisions):
    """For each school its estimate with one standard error either side, and what each method would promise: ``decisions`` by method."""
    fig, ax = plt.subplots(figsize=(5.0, 5.0))
    place = np.arange(len(y))[::-1]
    ax.hlines(place, y - sigma, y + sigma, color=BLACK, linewidth=1)
    ax.plot(y, place, "|", color=BLACK, markersize=9, label="estimate")
    for (name, h), shape, colour, drop in zip(decisions.items(), SHAPES, COLOURS, (0.15, 0.3, 0.45), strict=False):
        ax.plot(h, place - drop, shape, color=colour, markersize=5, linestyle="none", label=name)
    ax.set_yticks(place, names)
    ax.set(xlabel="points of the test", ylabel="school")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def shifted(effect, log_tau, density, draws, qs, marginals):
    """Above: the joint density of one effect and log tau, its draws, and the approximations' contours. Below: marginals of the effect.

    ``density`` has shape (log_tau, effect); ``draws`` is a pair; ``qs`` maps names to densities of that shape; ``marginals`` maps the name
    of the exact posterior and of the approximations to densities of the effect.
    """
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.4), height_ratios=(3, 2))
    exact, *rest = marginals
    shades = [to_rgba(GREEN, alpha) for alpha in (0.12, 0.24, 0.36, 0.48)]
    top.contourf(effect, log_tau, density, levels=np.array([0.05, 0.2, 0.5, 0.8, 1.0]) * density.max(), colors=shades)
    top.plot(*draws, ".", color=BLACK, markersize=1.5, alpha=0.6)
    below.fill_between(effect, marginals[exact], color=GREEN, alpha=0.2, linewidth=0, label=exact)
    for name, colour, style in zip(rest, (BLUE, RED), ("--", "-"), strict=False):
        top.contour(effect, log_tau, qs[name], levels=np.array([0.2, 0.8]) * qs[name].max(), colors=[colour], linestyles=style)
        below.plot(effect, marginals[name], color=colour, linestyle=style, label=name)
    below.plot([], [], ".", color=BLACK, label="NUTS draws")
    top.set(ylabel=r"$\log\tau$")
    below.set(xlabel="effect in school A, points", ylabel="density", ylim=(0, None))
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def settling(iteration, ours, theirs, summit):
    """Risk reduction along the climb, in per cent: our mean, the authors' (mean, sd) at the same steps, and the exact optimum's value.

    Above the whole climb, below its last half.
    """
    fig, axes = plt.subplots(2, 1, figsize=(5.0, 5.6))
    mean, sd = theirs
    for ax, late in zip(axes, (0, len(iteration) // 2), strict=True):
        at = np.asarray(iteration[late:])
        ax.fill_between(at, (mean - sd)[late:], (mean + sd)[late:], color=ORANGE, alpha=0.25, linewidth=0)
        ax.plot(at, mean[late:], color=ORANGE, linestyle="--", label="authors, mean and sd")
        ax.plot(at, np.asarray(ours)[late:], color=BLUE, label="ours, mean")
        ax.axhline(summit, color=BLACK, linewidth=0.8, linestyle=":", label="at the optimum")
        ax.set(xlabel="step", ylabel="saved, per cent")
    axes[0].legend(loc="lower right")
    return fig


def two_scales(M, on_seen, on_new, marks, ideal):
    """Risk saved against plain inference for every M. Above: on the eight estimates. Below: on new ones. ``marks`` maps names to an M."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.6))
    pairs = ((on_seen, ideal[0], "on the eight estimates"), (on_new, ideal[1], "on new estimates"))
    for ax, (saved, best, title) in zip(axes, pairs, strict=True):
        ax.plot(M, saved, color=RED, label="calibrated")
        ax.axhline(best, color=GREEN, linestyle="--", label="exact posterior")
        ax.axhline(0, color=BLUE, linewidth=1, label="plain")
        for (name, m), style in zip(marks.items(), (":", "-."), strict=False):
            ax.axvline(m, color=BLACK, linewidth=0.9, linestyle=style, label=name)
        ax.set(xscale="log", ylabel="saved, per cent", title=title)
    axes[-1].set_xlabel("M, points")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def many(seen, new, real):
    """Data sets as points: across, what the published measure says calibration saved; upward, what it saved. ``real`` is one of them."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.plot(seen, new, "o", color=SKY, markeredgecolor=BLUE, label="made-up data")
    ax.plot(*real, "D", color=RED, label="eight schools")
    ax.set(xlabel="saved on the estimates fitted, per cent", ylabel="saved on new ones, per cent")
    ax.legend()
    return fig
