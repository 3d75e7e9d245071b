"""Drawings of the page "Decision problems": pure functions of what they show, each returning its figure."""

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
    fig, (top, below) = plt.subplots(2, 1, sharex=True, figsize=(5.0, 4.8))
    plots.shade(top, minutes, density)
    top.set(ylabel="density", yticks=[], title="When the bus comes, for both of them")
    below.set(ylabel="extra cost (minutes)", xlabel="minute after the timetable", ylim=(0, 30))
    below.set_title("What standing there costs, above the best")
    looks = ((plots.RED, "-", 0.95), (plots.GREEN, "--", 0.75))
    for (name, cost), (color, style, height) in zip(excess.items(), looks, strict=True):
        plots.mark(top, decisions[name], name.removeprefix("the "), color=color, height=height, side="left")
        below.axvline(decisions[name], color=color, linestyle="--", linewidth=1.2)
        below.plot(minutes, cost, color=color, linestyle=style, label=name)
    below.legend(loc="upper right")
    return fig


def interval(half_widths, gains, best, theta, density, price, ends):
    """Above: two utilities of an interval against its half width. Below: a density cut at a height, and the interval that this leaves.

    Args:
        half_widths: shape ``(n,)``.
        gains: for each name, shape ``(n,)``, the expected utility.
        best: the best half width under the second of them.
        theta: shape ``(k,)``, the axis below.
        density: shape ``(k,)``.
        price: height of the cut.
        ends: the two ends found by brute force.
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
    below.axhline(price, color=plots.BLACK, linestyle=":", linewidth=1.2)
    below.annotate("price of length", (theta[-1], price), xytext=(0, 4), textcoords="offset points", ha="right")
    below.set(xlabel=r"$\theta$", ylabel="density", title="The best interval, cut at the price")
    below.set_ylim(bottom=0)
    return fig


def exponential(minutes, density, gammas, decisions, mean):
    """Above: a density with two humps. Below: the decision of the exponential utility as its rate grows, and the mean.

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
