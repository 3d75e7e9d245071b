"""Drawings of the page "Two ways up". Each takes what the page computed and returns the figure."""

import matplotlib.pyplot as plt

from course_pkg.plots import BLACK, BLUE, GREEN, ORANGE, RED


def profiles(h, panels):
    """Log gains over the decisions with the best bound that a family offers for each.

    Args:
        h: decisions, shape ``(k,)``.
        panels: title -> (log gain, best bound), each of shape ``(k,)``.
    """
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.0, 5.2), sharex=True)
    for ax, (title, (log_gain, bound)) in zip(axes, panels.items(), strict=True):
        ax.plot(h, log_gain, color=BLACK, label="log gain")
        ax.plot(h, bound, color=RED, linestyle="-.", label="best bound")
        ax.fill_between(h, bound, log_gain, color=RED, alpha=0.12, linewidth=0)
        for curve, color in ((log_gain, BLACK), (bound, RED)):
            ax.plot(h[curve.argmax()], curve.max(), "o", color=color)
        ax.set(title=title, ylabel="nats")
    axes[0].legend()
    axes[-1].set_xlabel("place to search, km")
    return fig


def staircase(h, log_gain, rounds):
    """Two views of expectation and maximisation: each round's lower curve touches the log gain, and its top is the next decision.

    Args:
        h: decisions, shape ``(k,)``.
        log_gain: shape ``(k,)``.
        rounds: a list of (decision, curve of shape ``(k,)``, next decision).
    """
    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    ax.plot(h, log_gain, color=BLACK, label="log gain")
    for k, ((at, curve, after), color) in enumerate(zip(rounds, (BLUE, ORANGE, GREEN), strict=False)):
        ax.plot(h, curve, color=color, linestyle="--", label=f"bound {k + 1}")
        ax.plot(at, curve[abs(h - at).argmin()], "o", color=color)
        ax.plot(after, curve.max(), "^", color=color)
    low, high = log_gain.min(), log_gain.max()
    ax.set(ylim=(low - 0.2 * (high - low), high + 0.15 * (high - low)), xlim=(h[0], h[-1]))
    ax.set(xlabel="place to search, km", ylabel="nats")
    ax.legend(loc="upper right")
    return fig


def paths(steps, ways, goal):
    """How an approximation moves along several climbs: ``ways`` maps a name to runs of shape ``(runs, k)``."""
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    for (name, runs), color, style in zip(ways.items(), (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=False):
        ax.plot(steps, runs.T, color=color, linestyle=style, linewidth=0.8, alpha=0.5)
        ax.plot(steps, runs.mean(axis=0), color=color, linestyle=style, label=name)
    ax.axhline(goal, color=BLACK, linewidth=0.8, linestyle=":")
    ax.set(xlabel="steps", ylabel="mean of q, km", xlim=(steps[0], steps[-1]))
    ax.legend()
    return fig
