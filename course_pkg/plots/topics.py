"""Drawings of the page on topics. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED

GREY = "#BBBBBB"


def second_opinions(exact, approximate, threshold, marked):
    """Two probabilities for each of many notes, and where they lead to different decisions; ``marked`` is one of the notes."""
    fig, ax = plt.subplots(figsize=(5.0, 4.2))
    ax.fill_between([threshold, 1], 0, threshold, color=RED, alpha=0.12, linewidth=0, label="another decision")
    ax.fill_between([0, threshold], threshold, 1, color=RED, alpha=0.12, linewidth=0)
    ax.plot([0, 1], [0, 1], color=BLACK, linewidth=1, linestyle=":", label="equal")
    ax.plot(exact, approximate, "o", color=BLUE, alpha=0.7, label="a note")
    ax.plot(*marked, "D", color=ORANGE, markersize=8, label="the fourth note")
    ax.set(xlabel="probability of heating, all assignments", ylabel="the same, by coordinate ascent", xlim=(0, 1), ylim=(0, 1))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def rising(curves, log_evidence):
    """ELBOs by round: ``curves`` maps a name to ``(starts, rounds)``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for (name, runs), colour in zip(curves.items(), (BLUE, ORANGE), strict=False):
        runs = np.asarray(runs)
        ax.plot(np.arange(1, runs.shape[1] + 1), runs.T, color=colour, alpha=0.5, linewidth=1.2)
        ax.plot([], [], color=colour, label=name)
    ax.axhline(log_evidence, color=BLACK, linestyle="--", linewidth=1.2, label="log evidence")
    ax.set(xlabel="round", ylabel="ELBO (nats)", xscale="log")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def promises(paid, promised):
    """Average risk that was claimed against the true one: both map a name to values over corpora."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    for (name, values), colour, marker in zip(promised.items(), (BLUE, ORANGE), "os", strict=False):
        ax.plot(paid[name], values, marker, color=colour, alpha=0.8, label=name)
    everything = np.concatenate([np.ravel(list(paid.values())), np.ravel(list(promised.values()))])
    ends = [everything.min() - 0.01, everything.max() + 0.01]
    ax.plot(ends, ends, ":", color=BLACK, linewidth=1, label="equal")
    ax.set(xlabel="share about other topics", ylabel="share that the fit claims", xlim=ends, ylim=ends)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def page_map(shares, chapters):
    """Shares of topics, a row for each page; ``chapters`` maps a name to how many rows it has, in order."""
    fig, ax = plt.subplots(figsize=(5.0, 5.6))
    picture = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    ends = np.cumsum(list(chapters.values()))
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color=BLACK, linewidth=0.7)
    ax.set_yticks(ends - np.array(list(chapters.values())) / 2 - 0.5, list(chapters))
    ax.set_xticks(range(np.shape(shares)[1]), [str(k + 1) for k in range(np.shape(shares)[1])])
    ax.set(xlabel="topic", ylabel="pages, by chapter")
    fig.colorbar(picture, ax=ax, label="share of the page's words", location="bottom", shrink=0.8)
    return fig


def stages(shares, largest, chosen, names):
    """Shares of ordered topics as stacked bars, with the stage of the largest share and the stage that was chosen."""
    shares = np.asarray(shares)
    fig, ax = plt.subplots(figsize=(5.0, 0.55 * len(names) + 1.7))
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.95, shares.shape[1]))
    ends, rows = shares.cumsum(axis=1), -np.arange(len(names))
    for k, colour in enumerate(colours):
        ax.barh(rows, shares[:, k], left=ends[:, k] - shares[:, k], height=0.42, color=colour, edgecolor="white", linewidth=0.8)
    for row, name in enumerate(names):
        ax.annotate(name, (0, 0.25 - row), (0, 1), textcoords="offset points", va="bottom")
        for k, colour, marker in ((largest[row], ORANGE, "o"), (chosen[row], RED, "D")):
            ax.plot(ends[row, k] - shares[row, k] / 2, -row, marker, color=colour, markeredgecolor="white", markersize=8)
    for marker, colour, label in (("o", ORANGE, "largest share"), ("D", RED, "lowest risk")):
        ax.plot([], [], marker, color=colour, label=label, linestyle="")
    ax.set(xlabel="share of the page's words, early topics to the left", yticks=[], xlim=(0, 1), ylim=(0.5 - len(names), 0.8))
    ax.spines["left"].set_visible(False)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def starts(told, seen):
    """Standard deviation of each page's main share: as one fit tells it, and as fits from other starts show it."""
    fig, ax = plt.subplots(figsize=(5.0, 4.0))
    told, seen = np.maximum(told, 1e-3), np.maximum(seen, 1e-3)
    ax.plot([1e-3, 1], [1e-3, 1], ":", color=BLACK, linewidth=1, label="equal")
    ax.plot(told, seen, "o", color=GREEN, alpha=0.7, label="a page")
    ax.set(xlabel="as one fit tells it", ylabel="among fits from other starts", xscale="log", yscale="log")
    ax.set(xlim=(8e-4, 1), ylim=(8e-4, 1))
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
