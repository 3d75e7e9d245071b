"""Drawings of the page "What to tell who pays": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg import plots


def engines(fitted, rules):
    """Differences of cost from the ideal's: engines above, policies without a model below, each on its own scale.

    Args:
        fitted: for each name, differences and their standard errors, each of shape ``(runs,)``, in thousands of dollars for 1,000 houses.
        rules: the same.
    """
    sizes = [len(fitted), len(rules)]
    fig, axes = plt.subplots(2, 1, figsize=(5.4, 0.9 + 0.3 * sum(sizes)), height_ratios=sizes)
    for ax, group, color in zip(axes, (fitted, rules), (plots.BLUE, plots.RED), strict=True):
        for place, (value, error) in enumerate(group.values()):
            at = place + np.linspace(-0.25, 0.25, len(value))
            ax.errorbar(value, at, xerr=2 * np.asarray(error), fmt="o", color=color, markersize=3, linewidth=0.8)
        ax.axvline(0, color=plots.BLACK, linewidth=0.8)
        ax.set_yticks(range(len(group)), list(group), fontsize=8)
        ax.invert_yaxis()
    axes[0].set_ylabel("engines")
    axes[1].set_ylabel("without a model")
    for ax in axes:
        ax.set_xlabel("cost less that of NUTS (\\$1,000s for 1,000 houses)")
    return fig
