"""Drawings of the page on marginal topic models. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

GREY = "#BBBBBB"


def likeness(pairs, exact, answers, least):
    """Bars of the ``exact`` co-membership of pairs, a symbol for each of the ``answers``, and the value that is ``least`` enough."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    place = np.arange(len(pairs))
    ax.bar(place, exact, color=GREEN, alpha=0.3, label="every assignment summed")
    looks = zip((-0.24, -0.08, 0.08, 0.24), ((BLUE, "o"), (RED, "D"), (ORANGE, "s"), (BLACK, "X")), strict=True)
    for (name, values), (shift, (colour, symbol)) in zip(answers.items(), looks, strict=False):
        ax.plot(place + shift, values, symbol, color=colour, markersize=7, label=name)
    ax.axhline(least, color=BLACK, linestyle="--", linewidth=1.2, label="above: going on pays")
    ax.set_xticks(place, pairs)
    ax.set(xlabel="plots", ylabel="co-membership probability", ylim=(0, 1))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def switching(trace, averages):
    """A named share over one chain, and below it the averages of many chains: ``averages`` maps a name to (values, exact value)."""
    fig, axes = plt.subplots(2, 1, figsize=(5.0, 4.8), height_ratios=(1.2, 1))
    axes[0].plot(trace, color=BLUE, linewidth=0.9)
    axes[0].set(title="one chain", xlabel="sweep", ylabel="share of community 1 in A", ylim=(0, 1))
    for row, ((_, (values, exact)), colour) in enumerate(zip(averages.items(), (BLUE, ORANGE), strict=False)):
        axes[1].plot(values, -row + np.linspace(-0.22, 0.22, len(values)), "o", color=colour, alpha=0.7, markersize=5)
        axes[1].plot([exact, exact], [-row - 0.35, -row + 0.35], color=BLACK, linewidth=2)
    axes[1].set_yticks(-np.arange(len(averages)), list(averages))
    axes[1].set(title="averages of many chains, and the exact value", xlabel="average", ylabel="of what")
    axes[1].set(xlim=(0, 1), ylim=(0.6 - len(averages), 0.6))
    return fig


def two_squares(blocks):
    """Ten topics over the words of a square, five in a row, for each title in ``blocks``."""
    fig = plt.figure(figsize=(5.0, 3.1 * len(blocks)))
    for part, (title, topics) in zip(fig.subfigures(len(blocks), 1, squeeze=False)[:, 0], blocks.items(), strict=True):
        side = int(np.sqrt(np.shape(topics)[1]))
        for k, (ax, topic) in enumerate(zip(part.subplots(2, 5).ravel(), np.asarray(topics), strict=True)):
            ax.imshow(topic.reshape(side, side), cmap="Blues", vmin=0, vmax=1 / side)
            ax.set(xticks=[], yticks=[], xlabel=f"topic {k + 1}")
            ax.spines[:].set_visible(True)
            ax.spines[:].set(color=GREY, linewidth=0.8)
        part.suptitle(title, fontsize="medium")
    return fig
