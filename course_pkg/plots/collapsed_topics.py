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
