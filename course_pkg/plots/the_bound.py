"""Drawings of the page "The bound". Each takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, GREEN, RED


def units(unit, log_gain, right, printed):
    """The log gain and two numbers that are said to lie below it, against the unit of the data.

    Args:
        unit: how many of the data's first unit make one of the new, shape ``(k,)``.
        log_gain: shape ``(k,)``.
        right: minus the divergence plus the utility term, shape ``(k,)``.
        printed: the ELBO plus the utility term, shape ``(k,)``.
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.6))
    ax.plot(unit, printed, "s-", color=RED, label="objective")
    ax.plot(unit, log_gain, color=BLACK, linewidth=2.4, label="log gain")
    ax.plot(unit, right, "o--", color=GREEN, label="bound on the log gain")
    ax.set(xscale="log", xlabel="one unit, in centimetres", ylabel="nats")
    ax.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    ax.minorticks_off()
    ax.legend()
    return fig
