"""Drawings of the page on estimating the utility term. Each function takes what it draws and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, mark

KINDS: dict[str, dict] = {
    "naive": {"color": BLUE, "marker": "o"},
    "Taylor": {"color": GREEN, "marker": "s", "linestyle": "--"},
    "Taylor of logs": {"color": RED, "marker": "^", "linestyle": "-."},
    "Jensen": {"color": ORANGE, "marker": "v", "linestyle": ":"},
    "8 quasi-Monte Carlo draws": {"color": PURPLE, "marker": "*", "linestyle": "none", "markersize": 10},
}


def climb(draws, means, levels):
    """Mean estimates over the outcomes for each theta; ``levels`` maps a name to a height, drawn as a thin line."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    for name, values in means.items():
        ax.plot(draws[-len(values) :], values, label=name, **{"markersize": 4} | KINDS[name])
    for name, height in levels.items():
        ax.axhline(height, color=BLACK, linewidth=0.8)
        ax.annotate(name, (0.99, height), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    ax.set(xscale="log", xlabel=r"outcomes for each $\theta$, $S_y$", ylabel="mean estimate")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


def errors(panels):
    """Errors over the number of outcomes: ``panels`` maps a title to (draws, {estimator: values}), values for the largest draws."""
    fig, axes = plt.subplots(len(panels), 1, sharex=True, figsize=(5.0, 2.8 * len(panels)))
    for ax, (title, (draws, curves)) in zip(axes, panels.items(), strict=True):
        for name, values in curves.items():
            at = [8] if name == "8 quasi-Monte Carlo draws" else draws[-len(values) :]
            ax.plot(at, values, label=name, **{"markersize": 4} | KINDS[name])
        ax.set(xscale="log", yscale="log", title=title, ylabel="error")
    axes[-1].set_xlabel(r"outcomes for each $\theta$, $S_y$")
    by_name = {name: line for ax in axes for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(by_name.values(), by_name, loc="outside lower center", ncols=2)
    return fig


def two_objectives(h, curves, marks):
    """What is maximised, over the decision, a panel each: ``curves`` maps a title to values, ``marks`` a name to a decision."""
    fig, axes = plt.subplots(len(curves), 1, sharex=True, figsize=(5.0, 2.5 * len(curves)))
    for ax, (title, values) in zip(axes, curves.items(), strict=True):
        ax.plot(h, values, color=BLUE)
        for (name, at), colour in zip(marks.items(), (GREEN, RED), strict=True):
            mark(ax, at, name, color=colour, height=0.3)
        ax.set(title=title, ylabel="value")
    axes[-1].set_xlabel("decision $h$")
    return fig
