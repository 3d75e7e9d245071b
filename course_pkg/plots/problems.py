"""Drawings of the page "Problems": pure functions of what they show, each returning its figure."""

import matplotlib.pyplot as plt

from course_pkg import plots


def bus(minutes, density, excess, decisions):
    """The predictive density of an arrival above, below it what each traveller pays over the best, with both decisions marked.

    Args:
        minutes: shape ``(n,)``, the axis.
        density: shape ``(n,)``.
        excess: for each traveller's name, shape ``(n,)``, the risk above the smallest.
        decisions: for each traveller's name, a minute.
    """
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.6))
    plots.shade(top, minutes, density)
    top.set(ylabel="density", yticks=[], title="When the bus comes, for both of them")
    below.set(ylabel="extra cost (minutes)", xlabel="minute of arrival, or of standing at the stop (0 is the timetable)", ylim=(0, 30))
    below.set_title("What standing there costs, above the best")
    looks = ((plots.RED, "-", 0.95), (plots.GREEN, "--", 0.75))
    for (name, cost), (color, style, height) in zip(excess.items(), looks, strict=True):
        plots.mark(top, decisions[name], name, color=color, height=height)
        below.axvline(decisions[name], color=color, linestyle="--", linewidth=1.2)
        below.plot(minutes, cost, color=color, linestyle=style, label=name)
    below.legend(loc="upper right")
    return fig


def interval(half_widths, gains, best, theta, density, price, ends):
    """Left: two utilities of an interval against its half width. Right: a density cut at a height, and the interval that this leaves.

    Args:
        half_widths: shape ``(n,)``.
        gains: for each name, shape ``(n,)``, the expected utility.
        best: the best half width under the second of them.
        theta: shape ``(k,)``, the axis on the right.
        density: shape ``(k,)``.
        price: height of the cut.
        ends: the two ends found by brute force.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.3))
    for (name, gain), color, style in zip(gains.items(), (plots.RED, plots.BLUE), ("--", "-"), strict=True):
        left.plot(half_widths, gain, color=color, linestyle=style)
        left.annotate(name, (half_widths[-1], gain[-1]), xytext=(-60, 0), textcoords="offset points", color=color, ha="right")
    plots.mark(left, best, "best", color=plots.BLUE, height=0.15)
    left.set(xlabel="half width", ylabel="expected utility", title="A sign, and what it buys")
    right.plot(theta, density, color=plots.BLUE)
    inside = (theta >= ends[0]) & (theta <= ends[1])
    right.fill_between(theta, density, where=inside, color=plots.BLUE, alpha=0.25, linewidth=0)
    right.axhline(price, color=plots.BLACK, linestyle=":", linewidth=1.2)
    right.annotate("price of length", (theta[-1], price), xytext=(0, 4), textcoords="offset points", ha="right")
    right.set(xlabel=r"$\theta$", ylabel="density", title="The best interval, cut at the price")
    right.set_ylim(bottom=0)
    return fig


def exponential(minutes, density, gammas, decisions, mean):
    """Left: a density with two humps. Right: the decision of the exponential utility as its rate grows, and the mean.

    Args:
        minutes: shape ``(n,)``, the axis on the left.
        density: shape ``(n,)``.
        gammas: shape ``(k,)``, rates.
        decisions: shape ``(k,)``, the best decision at each rate.
        mean: the best decision of the squared loss itself.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.2))
    plots.shade(left, minutes, density)
    plots.mark(left, mean, "squared loss", color=plots.BLACK)
    left.set(xlabel="minute of arrival", ylabel="density", yticks=[], title="Now and then a bus is cancelled")
    right.semilogx(gammas, decisions, color=plots.ORANGE, marker="o", markersize=3.5)
    right.axhline(mean, color=plots.BLACK, linestyle="--", linewidth=1.2)
    right.annotate("squared loss", (gammas[-1], mean), xytext=(0, -4), textcoords="offset points", ha="right", va="top")
    right.set(xlabel=r"rate $\gamma$ of the exponential utility", ylabel="best minute", title="One loss, many decisions")
    return fig
