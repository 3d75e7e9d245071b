"""Drawings of the page on importance-sampled SGD. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY

PALETTE = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":"))


def paths(mean, sd, height, sgd, reused, fresh, top):
    """Two climbs in the plane of a normal's mean and scale, over level lines of the ELBO.

    ``height`` (len(sd), len(mean)) is the ELBO less its maximum; ``sgd`` and ``reused`` are (steps, 2); ``fresh`` (steps,) says at which
    steps of ``reused`` the model was asked; ``top`` is the maximum.
    """
    fig, ax = plt.subplots(figsize=(5.0, 4.4))
    ax.contour(mean, sd, height, levels=[-16, -8, -4, -2, -1, -0.5, -0.2, -0.05], colors=BLACK, linewidths=0.4, linestyles="-", alpha=0.5)
    ax.plot(*np.asarray(sgd).T, ".-", color=BLUE, linewidth=1, markersize=3, label="SGD, a model gradient at each step")
    ax.plot(*np.asarray(reused).T, ".-", color=ORANGE, linewidth=1, markersize=3, label="ISGD, steps from old model gradients")
    ax.plot(*np.asarray(reused)[np.asarray(fresh)].T, "D", color=RED, markersize=6, label="ISGD, model gradients")
    ax.plot(*top, "*", color=BLACK, markersize=11, label="highest ELBO")
    ax.set(xlabel=r"$\mu$", ylabel=r"$\sigma$", xlim=(mean[0], mean[-1]), ylim=(sd[0], sd[-1]))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center")
    return fig


def stale(runs, truth):
    """Scale of the approximation along climbs: ``runs`` maps a title to (runs, steps), one panel each; ``truth`` is their goal."""
    fig, axes = plt.subplots(len(runs), 1, sharex=True, sharey=True, figsize=(5.0, 2.6 * len(runs)))
    for ax, (title, values), colour in zip(axes, runs.items(), (BLUE, RED), strict=False):
        ax.plot(np.asarray(values).T, color=colour, linewidth=0.7, alpha=0.7)
        ax.axhline(truth, color=BLACK, linewidth=1, linestyle="--")
        ax.set(title=title, ylabel=r"$\sigma$", yscale="log")
    axes[-1].set_xlabel("step")
    return fig


def standing_still(gaps, weights):
    """A climb whose weights vanish, two panels of medians and ranges over the steps.

    ``gaps`` and ``weights`` map a label to (runs, steps): nats below the best ELBO, the mean weight.
    """
    fig, axes = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.2))
    for ax, panel, name in zip(axes, (gaps, weights), ("nats below the best ELBO", "mean weight"), strict=True):
        for (label, values), (colour, style) in zip(panel.items(), ((RED, "-"), (BLUE, "--")), strict=False):
            ax.fill_between(np.arange(values.shape[1]), values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
            ax.plot(np.median(values, axis=0), color=colour, linestyle=style, label=label)
        ax.set(yscale="log", ylabel=name)
    axes[0].legend(loc="upper left")
    axes[-1].set(xlabel="step")
    return fig


def gains(ratio, curves):
    """How many times faster than plain SGD, by how much dearer a model gradient is than a step.

    ``curves`` maps a target's name to a map of a method's name to gains at each ``ratio``; one panel a target.
    """
    fig, axes = plt.subplots(len(curves), 1, sharex=True, figsize=(5.0, 2.7 * len(curves)))
    for ax, (title, lines) in zip(axes, curves.items(), strict=True):
        for (name, values), (colour, style) in zip(lines.items(), PALETTE, strict=False):
            ax.plot(ratio, values, color=colour, linestyle=style, label=name)
        ax.axhline(1, color=BLACK, linewidth=0.8)
        ax.set(title=title, xscale="log", yscale="log", ylabel="times as fast")
        ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10]
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.set_ylim(0.12, 9)
        ax.minorticks_off()
    axes[-1].set_xlabel("cost of a model gradient / cost of a cheap step")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig


def budget(counts, risks, worst, marked):
    """Regret by model gradients spent, median and middle 80 per cent: ``risks`` maps a label to (runs, len(counts)).

    ``worst`` is the regret before the first step, ``marked`` the budget that the text speaks of.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, values), (colour, style) in zip(risks.items(), PALETTE, strict=False):
        ax.fill_between(counts, *np.quantile(values, (0.1, 0.9), axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(counts, np.median(values, axis=0), color=colour, linestyle=style, label=name)
    ax.axhline(worst, color=BLACK, linewidth=0.8, linestyle=":", label="before the first step")
    ax.axvline(marked, color=SKY, linewidth=1, linestyle=":")
    ax.set(yscale="log", xlabel="model gradients", ylabel="regret of a quote")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
    return fig
