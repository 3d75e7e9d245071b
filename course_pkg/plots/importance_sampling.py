"""Drawings of the page on importance sampling. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from scipy import stats

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark

STYLES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (RED, "^", ":"), (GREEN, "D", "-."))


def cloud_and_price(hill, draws, weights, decisions, curves, band, booked):
    """Above: ``draws`` (S, 2) with their weights over the posterior, ``hill`` (x, y, density). Below: expected costs by decision.

    ``curves`` holds "exact" and "weighted draws", ``band`` is the half width of the latter's interval, ``booked`` is (value, words).
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 7.0), height_ratios=(1.3, 1))
    x, y, density = hill
    weights = np.asarray(weights)
    top.scatter(*draws.T, s=90 * weights / weights.max(), color=ORANGE, alpha=0.5, linewidth=0, rasterized=True)
    top.plot(*draws.T, ".", color=BLACK, markersize=2.5, alpha=0.5, markeredgewidth=0, label="draw of the prior", rasterized=True)
    top.plot([], [], "o", color=ORANGE, alpha=0.6, markersize=7, label="its weight")
    top.contour(x, y, density, levels=density.max() * np.exp([-6.0, -4.0, -2.0, -0.5]), colors=GREEN, linewidths=1.2)
    top.plot([], [], color=GREEN, linewidth=1.2, label="posterior")
    top.set(xlabel="log scale", ylabel="log of the shape less 1", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    top.legend(loc="upper right")
    weighted = curves["weighted draws"]
    below.plot(decisions, weighted, color=ORANGE, label="weighted draws")
    below.fill_between(decisions, weighted - band, weighted + band, color=ORANGE, alpha=0.25, linewidth=0, label="1.96 standard errors")
    below.plot(decisions, curves["exact"], "--", color=GREEN, label="exact")
    mark(below, *booked, height=0.7)
    below.set(xlabel="booked for month", ylabel="expected cost")
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def limit_laws(errors, variances):
    """A histogram of scaled errors for each estimator, each under the normals of all ``variances``, which maps words to a number."""
    fig, axes = plt.subplots(len(errors), 1, sharex=True, sharey=True, figsize=(5.0, 2.4 * len(errors) + 0.5))
    end = 3.5 * np.sqrt(max(variances.values()))
    axis = np.linspace(-end, end, 601)
    for ax, (name, values) in zip(axes, errors.items(), strict=True):
        ax.hist(values, np.linspace(-end, end, 82), density=True, color=BLACK, alpha=0.25)
        for (words, variance), (colour, _, style) in zip(variances.items(), STYLES, strict=False):
            ax.plot(axis, stats.norm.pdf(axis, 0, np.sqrt(variance)), style, color=colour, label=words)
        ax.set(title=name, ylabel="density", ylim=(0, None))
    axes[-1].set_xlabel(r"$\sqrt{S}$ times the error")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def dimensions(dims, lines, draws, limit):
    """Above: log variances, by formula (lines) and measured (dots). Below: the tail's shape, with the ``limit`` of trust.

    ``lines`` maps a name to (formula, measured, k-hat), each with one value for each of ``dims``.
    """
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.6), height_ratios=(1.4, 1))
    for (name, (formula, measured, k_hat)), (colour, marker, style) in zip(lines.items(), STYLES, strict=False):
        top.plot(dims, formula, style, color=colour)
        top.plot(dims, measured, marker, color=colour, markersize=5)
        below.plot(dims, k_hat, style, marker=marker, color=colour, markersize=5, label=name)
    high = np.log(draws)
    for ax, level, words, at in ((top, high, f"log of {draws:,} draws", 0.45), (below, limit, "do not trust", 0.15)):
        ax.axhline(level, color=BLACK, linestyle=(0, (1, 2)), linewidth=1)
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "xytext": (0, 3)}
        ax.annotate(words, (at, level), ha="center", va="bottom", **place)
    lowest = min(np.min(measured) for _, measured, _ in lines.values())
    top.set(ylabel="log of the limiting variance", ylim=(lowest - 1, high + 6))
    below.set(xlabel="dimension", ylabel=r"$\hat{k}$")
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def rates(counts, errors):
    """Errors against the number of draws; ``errors`` maps a name to those of (plain, smoothed) weights."""
    fig, ax = plt.subplots(figsize=(5.0, 3.9))
    for (name, (plain, smoothed)), (colour, marker) in zip(errors.items(), ((BLUE, "o"), (ORANGE, "s"), (RED, "^")), strict=False):
        ax.plot(counts, plain, marker=marker, color=colour, markersize=5, label=name)
        ax.plot(counts, smoothed, "--", marker=marker, color=colour, markersize=5, markerfacecolor="white")
    ax.plot([], [], "--", color=BLACK, label="smoothed")
    first = next(iter(errors.values()))[0][0]
    ax.plot(counts, first * np.sqrt(counts[0] / counts), ":", color=PURPLE, linewidth=1.2, label=r"$1/\sqrt{S}$")
    ax.set(xscale="log", yscale="log", xlabel="draws", ylabel="mean absolute error")
    ax.yaxis.set_major_locator(FixedLocator([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def error_bars(truth, runs):
    """One panel for each proposal: intervals of its runs, (values, half widths), around ``truth``; those that miss it are red squares."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(5.0, 2.0 * len(runs) + 0.3))
    for ax, (name, (values, half)) in zip(axes, runs.items(), strict=True):
        at, missed = np.arange(1, len(values) + 1), abs(values - truth) > half
        for which, colour, marker in ((~missed, BLUE, "o"), (missed, RED, "s")):
            ax.vlines(at[which], (values - half)[which], (values + half)[which], color=colour, linewidth=1.3)
            ax.plot(at[which], values[which], marker, color=colour, markersize=4)
        ax.axhline(truth, color=BLACK, linestyle="--", linewidth=1.2)
        ax.set(title=name, ylabel="cost")
    axes[-1].set_xlabel("run")
    return fig
