"""The drawing of the page "Loss and utility": a pure function of what it shows, returning its figure."""

import matplotlib.pyplot as plt

from course_pkg import plots


def exponential(minutes, density, gammas, decisions, mean):
    """Above: a density with two modes. Below: the decision of the exponential utility as its rate grows, and the mean.

    Args:
        minutes: shape ``(n,)``, the axis above.
        density: shape ``(n,)``.
        gammas: shape ``(k,)``, rates.
        decisions: shape ``(k,)``, the best decision at each rate.
        mean: the best decision of the squared loss itself.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.6))
    plots.shade(top, minutes, density)
    plots.mark(top, mean, "squared loss", color=plots.BLACK)
    top.set(xlabel="minute of arrival", ylabel="density", yticks=[], title="Now and then a bus is cancelled")
    below.semilogx(gammas, decisions, color=plots.ORANGE, marker="o", markersize=3.5)
    below.axhline(mean, color=plots.BLACK, linestyle="--", linewidth=1.2)
    below.annotate("squared loss", (gammas[-1], mean), xytext=(0, -4), textcoords="offset points", ha="right", va="top")
    below.set(xlabel=r"rate $\gamma$ of the exponential utility", ylabel="best minute", title="One loss, many decisions")
    return fig
