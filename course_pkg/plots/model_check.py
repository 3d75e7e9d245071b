"""Drawings of the page *Is the model any good?*."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, SKY, mark


def replicated(seen, again, name):
    """A statistic of what was seen among the same statistic of replicated data sets, by model."""
    fig, ax = plt.subplots()
    top = max(1.15 * seen, *(np.quantile(values, 0.995) for values in again.values()))
    bins = np.linspace(0, top, 60).tolist()
    for (model, values), colour in zip(again.items(), (BLUE, ORANGE), strict=False):
        ax.hist(values, bins=bins, density=True, color=colour, alpha=0.5, label=model)
    mark(ax, seen, "seen", color=BLACK, height=0.98)
    ax.set(xlabel=name, yticks=[], xlim=(0, top))
    ax.set_ylim(0, 1.15 * ax.get_ylim()[1])
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return fig


def ranks(found, of):
    """Histograms of the truths' ranks among `of` draws: a row for each engine, a column for each unknown."""
    engines, unknowns = list(found), list(next(iter(found.values())))
    fig, axes = plt.subplots(len(engines), len(unknowns), figsize=(5.5, 3.6), sharex=True, sharey=True, squeeze=False)
    for row, engine in zip(axes, engines, strict=True):
        for ax, unknown in zip(row, unknowns, strict=True):
            values = found[engine][unknown]
            count, edges = np.histogram(values, bins=np.linspace(-0.5, of + 0.5, 11))
            ax.bar(0.5 * (edges[1:] + edges[:-1]), count, width=edges[1] - edges[0], color=SKY, edgecolor="white")
            ax.axhline(len(values) / 10, color=GREEN, linewidth=1.2)
            ax.set_yticks([])
        row[0].set_ylabel(engine)
    for ax, unknown in zip(axes[0], unknowns, strict=True):
        ax.set_title(unknown)
    for ax in axes[-1]:
        ax.set_xlabel("rank of the truth")
    return fig
