"""Drawings of the page "Why be Bayesian?". Each takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED, shade


def two_experiments(fixed, waiting, seen):
    """Draw the chances of the number of heads under a fair coin in two experiments, with the tail from ``seen`` on filled.

    Args:
        fixed: chances of 0, 1, ... heads with the number of tosses fixed, shape ``(n,)``.
        waiting: chances of 0, 1, ... heads before the last tail that was waited for, shape ``(m,)``.
        seen: the number of heads that came up.
    """
    fig, axes = plt.subplots(2, 1, figsize=(5.0, 4.2), sharex=True)
    for ax, chances, title in zip(axes, (fixed, waiting), ("Twelve tosses planned", "Toss until the third tail"), strict=True):
        heads = np.arange(len(chances))
        tail = heads >= seen
        ax.bar(heads[~tail], chances[~tail], color="white", edgecolor=BLUE)
        ax.bar(heads[tail], chances[tail], color=ORANGE, edgecolor=ORANGE)
        ax.annotate(f"{chances[tail].sum():.3f}", (seen + 0.6, chances.max() * 0.45), color=BLACK)
        ax.set_title(title)
        ax.set_ylabel("chance")
    axes[1].set_xlabel("heads, were the coin fair")
    axes[1].set_xticks(range(0, max(len(fixed), len(waiting)), 3))
    return fig


def stopping(looks, false_alarms, reported, realised):
    """Draw how the false alarms of a test grow with the looks, and the calibration of the posterior at the stop.

    Args:
        looks: how many looks at the data, shape ``(k,)``.
        false_alarms: share of null experiments that reached the verdict by then, shape ``(k,)``.
        reported: mean posterior probability in each bin, shape ``(b,)``.
        realised: share of true statements in each bin, shape ``(b,)``.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.6))
    top.plot(looks, false_alarms, color=RED)
    top.axhline(0.05, color=BLACK, linestyle="--", linewidth=1.2)
    top.annotate("promised", (looks[-1], 0.06), ha="right", color=BLACK)
    top.set(xscale="log", xlabel="looks at the data", ylabel="false alarms", ylim=(0, None), title="p-value")
    below.plot([0, 1], [0, 1], color=BLACK, linestyle="--", linewidth=1.2)
    below.plot(reported, realised, "o", color=BLUE)
    below.set(xlabel="reported at the stop", ylabel="true", title="Posterior probability")
    return fig


def learning(grid, posteriors, truth):
    """Draw posteriors of a coin after more and more tosses, under two priors, one above the other.

    Args:
        grid: values of theta, shape ``(g,)``.
        posteriors: a dict of titles and dicts of labels and densities, each of shape ``(g,)``.
        truth: the coin's theta.
    """
    # a pixel sees no more than this, and as vectors the drawing follows the page into the dark
    coarse = np.arange(0, len(grid), -(-len(grid) // 800))
    fig, axes = plt.subplots(len(posteriors), 1, figsize=(5.0, 4.8), sharex=True)
    for ax, (title, densities) in zip(axes, posteriors.items(), strict=True):
        for (label, density), color in zip(densities.items(), (ORANGE, GREEN, BLUE), strict=True):
            peak = np.arange(len(grid))[abs(np.arange(len(grid)) - np.argmax(density)) <= 40]
            seen = np.union1d(coarse, peak)  # the highest posterior is as narrow as a few points
            shade(ax, grid[seen], density[seen] / density.max(), color=color, label=label)
        ax.axvline(truth, color=BLACK, linestyle="--", linewidth=1.2)
        ax.set(title=title, ylabel="density / peak")
    axes[0].legend(loc="upper left", title="tosses")
    axes[-1].set_xlabel(r"$\theta$")
    return fig
