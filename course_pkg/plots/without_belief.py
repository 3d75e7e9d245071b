"""The drawing of the page "Without belief". It takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE


def certificates(betas, observed, true, mcallester, seeger):
    """Draw the errors of Gibbs posteriors and their two certificates against the inverse temperature.

    Args:
        betas: inverse temperatures, shape ``(k,)``.
        observed: error on the data, shape ``(k,)``.
        true: error on all future data, shape ``(k,)``.
        mcallester: the looser bound, shape ``(k,)``.
        seeger: the tighter bound, shape ``(k,)``.
    """
    fig, ax = plt.subplots()
    ax.plot(betas, mcallester, color=ORANGE, label="square-root bound")
    ax.plot(betas, seeger, color=BLUE, label="bound by kl")
    ax.plot(betas, true, color=BLACK, linestyle="--", label="true error")
    ax.plot(betas, observed, color=GREEN, linestyle=":", label="error on the data")
    ax.set(xscale="log", xlabel=r"$\beta$", ylabel="error", ylim=(0, 0.6))
    ax.legend(ncols=2)
    return fig
