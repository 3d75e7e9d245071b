"""Drawings of the page on whether reuse pays. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED

STYLES = (("o", "-", BLUE), ("s", "--", ORANGE), ("D", "-.", GREEN), ("^", ":", RED), ("v", "--", PURPLE))
NEVER = 0.05  # where a run that never arrives is drawn


def _times(ax, at, found, shape, colour, label=None):
    """A median with its range, on a log axis; what never arrives lies at its left end, as an arrow."""
    middle, low, high = found
    ax.hlines(at, max(low, NEVER), max(high, NEVER), color=colour, linewidth=1)
    ax.plot(max(middle, NEVER), at, shape if middle > 0 else "<", color=colour, markersize=5, label=label)


def _log_times(ax, ticks):
    ax.axvline(1, color=BLACK, linewidth=0.9)
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def meanings(rows):
    """How many times as fast as SGD, in each sense of the word: ``rows`` maps a model to sense -> (median, lowest, highest)."""
    fig, axes = plt.subplots(len(rows), 1, sharex=True, figsize=(5.0, 2.2 * len(rows) + 0.4))
    for ax, (model, senses) in zip(axes, rows.items(), strict=True):
        for at, found in enumerate(senses.values()):
            tuned = at >= len(senses) - 3  # the last three
            _times(ax, -at, found, "s" if tuned else "o", ORANGE if tuned else BLUE)
        _log_times(ax, (0.1, 0.2, 0.5, 1, 2, 5, 10))
        ax.set_yticks(-np.arange(len(senses)), list(senses))
        ax.set(title=model, ylim=(0.6 - len(senses), 0.6), ylabel="sense")
    axes[-1].set_xlabel("times as fast as SGD")
    return fig


def rates(rates, curves, ceiling):
    """Above: price of the way to the target at each rate, a curve for each method. Below: that of the first over that of the others."""
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 6.0))
    for (name, prices), (shape, line, colour) in zip(curves.items(), STYLES, strict=False):
        prices = np.asarray(prices, float)
        arrived = np.where(np.isfinite(prices), prices, np.nan)
        axes[0].plot(rates, arrived, shape + line, color=colour, markersize=5, label=name)
        with np.errstate(invalid="ignore"):
            ratio = np.asarray(next(iter(curves.values()))) / prices
        axes[1].plot(rates, np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan), shape + line, color=colour, markersize=5)
    axes[1].axhline(ceiling, color=BLACK, linewidth=0.9, linestyle=":")
    axes[1].annotate(
        "ceiling", (1, ceiling), (-2, -3), xycoords=("axes fraction", "data"), textcoords="offset points", ha="right", va="top"
    )
    axes[0].set(xscale="log", yscale="log", ylabel="price, model gradients")
    axes[1].set(xlabel="rate of Adam", ylabel="times as fast, same rate", ylim=(0, 1.15 * ceiling))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def tryouts(gains):
    """Times as fast as tuned SGD: model -> method -> target -> (median, lowest, highest)."""
    longest = max(len(methods) for methods in gains.values())
    fig, axes = plt.subplots(len(gains), 1, sharex=True, figsize=(5.0, len(gains) * (0.26 * longest + 0.5) + 0.6))
    for ax, (model, methods) in zip(axes, gains.items(), strict=True):
        for at, targets in enumerate(methods.values()):
            for k, (word, found) in enumerate(targets.items()):
                shape, _, colour = STYLES[k]
                _times(ax, -at - 0.22 * (k - 1), found, shape, colour, word if not at else None)
        _log_times(ax, (0.1, 0.2, 0.5, 1, 2, 3, 5))
        ax.axvline(3, color=RED, linewidth=0.9, linestyle=":")
        ax.set_yticks(-np.arange(len(methods)), list(methods))
        ax.set(title=model, ylim=(0.6 - len(methods), 0.6), ylabel="method")
    axes[-1].set_xlabel("times as fast as tuned SGD")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def spending(budgets, curves, best):
    """Risk of the decisions after each budget: name -> (median, lowest, highest); a line for what the posterior's decisions cost."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    for (name, (middle, low, high)), (shape, line, colour) in zip(curves.items(), STYLES, strict=False):
        ax.fill_between(budgets, low, high, color=colour, alpha=0.12, linewidth=0)
        ax.plot(budgets, middle, shape + line, color=colour, markersize=5, label=name)
    ax.axhline(best, color=BLACK, linewidth=0.9, linestyle=":", label="after the longest climb")
    ax.set(xscale="log", xlabel="budget, model gradients", ylabel="cost of a boiler, visits")
    ax.set_xticks(budgets, [f"{b:g}" for b in budgets])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig
