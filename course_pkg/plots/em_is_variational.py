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
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    ax.plot(mean, log_likelihood, color=GREEN, label="log likelihood")
    for (name, bound), (colour, style) in zip(bounds.items(), ((ORANGE, "--"), (SKY, "-."), (PURPLE, ":")), strict=False):
        ax.plot(mean, bound, style, color=colour, label=name)
    ax.plot(*np.transpose(steps), "o", color=BLACK, markersize=6, zorder=5)
    span = np.ptp(log_likelihood)
    ax.set(
        xlabel="mean of the rain nights, in decimetres",
        ylabel="nats",
        ylim=(min(log_likelihood) - 0.5 * span, max(log_likelihood) + 0.1 * span),
    )
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def spikes(sd, curves):
    """Objectives ``{name: (S,)}`` while one component closes in on one night: ``sd`` (S,) is its standard deviation."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    for (name, values), (colour, style) in zip(curves.items(), ((RED, "--"), (PURPLE, "-."), (BLUE, "-")), strict=True):
        ax.plot(sd, values, style, color=colour, label=name)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set(xscale="log", ylim=(-25, 12), xlabel="sd of the component, in decimetres", ylabel="nats, over those at sd 1")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


def boards(h, risk, decisions, extra):
    """Above: risk over h (H,) and decisions ``{name: h}``. Below: their regrets in other records, in per cent, ``{name: (R,)}``."""
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 6.0), height_ratios=(1.5, 1))
    top.plot(h, risk, color=BLACK, linewidth=1.2)
    for (name, place), (colour, _, marker) in zip(decisions.items(), STYLES, strict=False):
        top.plot(place, np.interp(place, h, risk), marker, color=colour, markersize=8, label=name, zorder=5)
    top.set(xlabel="boards, in decimetres", ylabel="expected cost", ylim=(0, None))
    for row, (values, (colour, _, marker)) in enumerate(zip(extra.values(), STYLES[1:], strict=False)):
        below.plot(values, np.full(len(values), len(extra) - 1 - row), marker, color=colour, alpha=0.6)
    below.set(
        yticks=range(len(extra)),
        yticklabels=list(extra)[::-1],
        ylabel="decided by",
        xlabel="regret, in per cent of the lowest expected cost",
        xscale="symlog",
        ylim=(-0.5, len(extra) - 0.5),
    )
    below.set_xlim(-0.15, 110)
    below.set_xticks([0, 1, 3, 10, 30, 100], ["0", "1", "3", "10", "30", "100"])
    fig.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
