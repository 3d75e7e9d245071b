"""Drawings of the page "Decision problems": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt

from course_pkg import plots


def bus(minutes, density, regret, decisions):
    """The predictive density of an arrival above, below it what each traveller regrets, with both decisions marked.

    Args:
        minutes: shape ``(n,)``, the axis.
        density: shape ``(n,)``.
        regret: for each traveller's name, shape ``(n,)``, the risk above the smallest.
        decisions: for each traveller's name, a minute.
    """
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.8))
    plots.shade(top, minutes, density)
    top.set(ylabel="density", yticks=[], title="When the bus comes, for both of them")
    below.set(ylabel="regret (minutes)", xlabel="minute after the timetable", ylim=(0, 30))
    below.set_title("What standing there costs, less the best")
    looks = ((plots.RED, "-", 0.95), (plots.GREEN, "--", 0.75))
    for (name, cost), (color, style, height) in zip(regret.items(), looks, strict=True):
        plots.mark(top, decisions[name], name.removeprefix("the "), color=color, height=height, side="left")
        below.axvline(decisions[name], color=color, linestyle="--", linewidth=1.2)
        below.plot(minutes, cost, color=color, linestyle=style, label=name)
    below.legend(loc="upper right")
    return fig


def interval(half_widths, gains, best, theta, density, price, ends, equal_tails):
    """Above: two utilities of an interval against its half width. Below: a density cut at a height, and the interval that this leaves.

    Args:
        half_widths: shape ``(n,)``.
        gains: for each name, shape ``(n,)``, the expected utility.
        best: the best half width under the second of them.
        theta: shape ``(k,)``, the axis below.
        density: shape ``(k,)``.
        price: height of the cut.
        ends: the two ends found by brute force.
        equal_tails: the ends of the interval with equal tails that covers as much.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(5.0, 5.6))
    for (name, gain), color, style in zip(gains.items(), (plots.RED, plots.BLUE), ("--", "-"), strict=True):
        top.plot(half_widths, gain, color=color, linestyle=style)
        top.annotate(name, (half_widths[-1], gain[-1]), xytext=(-60, 0), textcoords="offset points", color=color, ha="right")
    plots.mark(top, best, "best", color=plots.BLUE, height=0.15)
    top.set(xlabel="half width", ylabel="expected utility", title="A sign, and what it buys")
    below.plot(theta, density, color=plots.BLUE)
    inside = (theta >= ends[0]) & (theta <= ends[1])
    below.fill_between(theta, density, where=inside, color=plots.BLUE, alpha=0.25, linewidth=0)
    for end in equal_tails:
        below.axvline(end, color=plots.RED, linestyle="--", linewidth=1.2)
    below.axhline(price, color=plots.BLACK, linestyle=":", linewidth=1.2)
    below.annotate("price of length", (theta[-1], price), xytext=(0, 4), textcoords="offset points", ha="right")
    below.set(xlabel=r"$\theta$", ylabel="density", title="The best interval, cut at the price")
    below.set_ylim(bottom=0)
    return fig
