"""Drawings of the page on what calibration gained. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY

COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY)
SHAPES = ("o", "D", "s", "^", "v", "P")


def rivals(saved):
    """Per cent of the plain risk that two rivals save: ``saved`` maps a rival to a series over the losses."""
    fig, ax = plt.subplots(figsize=(5.0, 3.2))
    for (name, values), colour, shift in zip(saved.items(), (BLUE, RED), (0.2, -0.2), strict=True):
        ax.barh(-np.arange(len(values)) + shift, values, 0.36, color=colour, alpha=0.8, label=name)
        ax.set_yticks(-np.arange(len(values)), list(values.index))
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.set(xlabel="saved, per cent of the plain risk", ylabel="loss")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def ways(panels, label="saved, per cent of the plain risk"):
    """What each way saves, or the quantity of ``label``: ``panels`` maps a title to {way: the values of its runs}, the same ways."""
    first = next(iter(panels.values()))
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, (0.25 * len(first) + 0.85) * len(panels)), squeeze=False)
    for ax, (title, found) in zip(axes[:, 0], panels.items(), strict=True):
        ax.axvline(0, color=BLACK, linewidth=0.8)
        for place, (values, colour, shape) in enumerate(zip(found.values(), COLOURS, SHAPES, strict=False)):
            ax.plot(values, np.full(np.size(values), -place), shape, color=colour, markersize=5, alpha=0.7)
        ax.set_yticks(-np.arange(len(found)), list(found))
        ax.set(title=title, ylim=(0.6 - len(found), 0.6), xlabel=label, ylabel="fit")
    return fig


def dials(rates, curves, title="strength of calibration"):
    """Risk on test cells against the strength of calibration: ``curves`` maps a label to the risks at ``rates``; the lowest is marked."""
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    for (label, risks), colour, shape in zip(curves.items(), COLOURS, SHAPES, strict=False):
        ax.plot(rates, risks, color=colour, marker=shape, markersize=4, label=label)
        best = int(np.argmin(risks))
        ax.plot(rates[best], risks[best], "o", color=colour, markersize=12, fillstyle="none")
    ax.set_xscale("symlog", linthresh=min(rate for rate in rates if rate > 0))  # nought is plain inference
    ax.set_xticks(rates[::3], [f"{rate:.3g}" for rate in rates[::3]])
    ax.minorticks_off()
    ax.set(xlabel=title, ylabel="squared risk, test cells")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
