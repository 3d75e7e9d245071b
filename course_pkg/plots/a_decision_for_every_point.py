"""The drawing of the page on amortised decisions. It takes what it draws and returns the figure."""

import matplotlib.pyplot as plt
import numpy as np

from course_pkg.plots import BLACK, RED, SKY


def beyond(x, best, network, points, edge):
    """Decisions of a network against the best, with some solved from draws, ``points = (x, h)``; ``edge``: where its training ended."""
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.plot(*points, ".", color=SKY, markersize=4, label="solved, 50 draws each")
    ax.plot(x, best, color=BLACK, linewidth=1, label="best")
    ax.plot(x, network, color=RED, linestyle="--", label="network")
    ax.axvline(edge, color=BLACK, linestyle=":", linewidth=1, label="end of training")
    ax.set(xlabel="x", ylabel="decision h", ylim=(1.3 * np.min(best) - 0.5, 1.1 * np.max(best) + 0.5))
    ax.legend(loc="upper left")
    return fig
