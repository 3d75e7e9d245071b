"""Drawings of the page on EM. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY

STYLES = ((GREEN, "-", "s"), (RED, "--", "o"), (PURPLE, "-.", "^"), (BLUE, ":", "D"))


def two_kinds(nights, h, chances, boards):
    """Above: the record. Below: the chance that the water is over h, ``{name: (H,)}``, and at each name's boards a mark."""
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 5.4), height_ratios=(1, 2.2))
    top.hist(nights, bins=np.arange(np.floor(min(nights)), np.ceil(max(nights)) + 0.5, 0.5), color=SKY)
    top.set(ylabel="nights")
    top.yaxis.get_major_locator().set_params(integer=True)
    for (name, chance), (colour, style, marker) in zip(chances.items(), STYLES, strict=False):
        below.plot(h, chance, style, color=colour, label=name)
        below.plot(boards[name], np.interp(boards[name], h, chance), marker, color=colour, markersize=8)
    below.set(xlabel="highest water of the night, in decimetres", ylabel="chance of more", yscale="log", ylim=(1e-4, 1.2))
    fig.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def touching(mean, log_likelihood, bounds, steps):
    """The log likelihood over one mean (M,), bounds ``{name: (M,)}``, and points (mean, height) where a bound touches."""
    fig, ax = plt.subplots(figsize=(5.0, 5.0))
    ax.plot(mean, log_likelihood, color=GREEN, label="log likelihood")
    for (name, bound), (colour, style) in zip(bounds.items(), ((ORANGE, "--"), (SKY, "-."), (PURPLE, ":")), strict=False):
        ax.plot(mean, bound, style, color=colour, label=name)
    ax.plot(*np.transpose(steps), "o", color=BLACK, markersize=6, zorder=5)
    span = np.ptp(log_likelihood)
    ax.set(
        xlabel="mean of the rain nights, in decimetres",
        ylabel="nats",
        ylim=(min(log_likelihood) - 0.1 * span, max(log_likelihood) + 0.1 * span),
    )
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def spikes(sd, curves):
    """Objectives ``{name: (S,)}`` while one component closes in on one night: ``sd`` (S,) is its standard deviation."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    for (name, values), (colour, style) in zip(curves.items(), ((RED, "--"), (PURPLE, "-."), (BLUE, "-")), strict=True):
        ax.plot(sd, values, style, color=colour, label=name)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set(
        xscale="log",
        ylim=(-25, 1.1 * max(map(max, curves.values()))),
        xlabel="sd of the component, in decimetres",
        ylabel="nats, over those at sd 1",
    )
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def units(sd, densities):
    """One posterior as densities ``{name: (S,)}`` per unit of several things, over ``sd`` (S,), with a mark at each one's top."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (name, values), (colour, style) in zip(densities.items(), ((GREEN, "-"), (PURPLE, "-."), (ORANGE, "--")), strict=True):
        ax.plot(sd, values, style, color=colour, label=name)
        ax.plot(sd[np.argmax(values)], np.max(values), "o", color=colour, markersize=7)
    ax.set(xlabel="sd of the rain nights, in decimetres", ylabel="density, over its height", ylim=(0, None))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def weights(grid, density, draws, ends):
    """The density of a weight by a factor, ``grid`` and ``density`` (U,), over the posterior's ``draws`` (S,); dotted lines at ``ends``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    ax.hist(draws, bins=np.linspace(0, 1, 41).tolist(), density=True, color=GREEN, alpha=0.4, label="Gibbs sampling")
    ax.plot(grid, density, color=BLUE, label="variational Bayes")
    for end in ends:
        ax.axvline(end, color=BLACK, linestyle=":")
    ax.set(xlabel="weight of the higher component", ylabel="density", xlim=(0, 1))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def boards(sd, asked, right):
    """Boards over a fitted standard deviation ``sd`` (R,), a panel for each answer in ``{name: (R,)}``; a line at the ``right`` ones."""
    rows = (len(asked) + 1) // 2
    fig, axes = plt.subplots(rows, 2, sharex=True, sharey=True, squeeze=False, figsize=(6.0, 2.4 * rows))
    for ax, (name, values), (colour, _, marker) in zip(axes.flat, asked.items(), STYLES, strict=False):
        ax.axhline(right, color=BLACK, linewidth=1)
        ax.plot(sd, values, marker, color=colour, alpha=0.6, markersize=5)
        ax.set(title=name, xlabel="sd of rain nights, in dm", ylabel="boards, in dm", ylim=(0, None))
    return fig
