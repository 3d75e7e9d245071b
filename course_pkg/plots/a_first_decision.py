"""Drawings of the page *A first decision*."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from course_pkg.plots import BLUE, ORANGE, PURPLE, RED, mark, shade


def shifted(shifts, squared_costs, clinic_costs):
    """Average cost of all predictions moved by the same number of points, under two losses, each relative to no shift."""
    fig, ax = plt.subplots()
    for costs, colour, text in ((squared_costs, BLUE, "squared loss"), (clinic_costs, RED, "the clinic's loss")):
        relative = np.asarray(costs) / costs[np.argmin(np.abs(shifts))]
        best = np.argmin(relative)
        ax.plot(shifts, relative, color=colour, label=text)
        ax.plot(shifts[best], relative[best], "o", color=colour)
    ax.axhline(1.0, color="0.6", linewidth=0.8)
    ax.set(xlabel="points added to every ridge prediction", ylabel="cost, relative to no shift", ylim=(0.7, 1.5))
    ax.legend(loc="upper left")
    return fig


def one_patient(mean, sd, line_sd, decision):
    """What the model says about one patient's score, about the line at that patient, and the two decisions."""
    fig, ax = plt.subplots()
    x = np.linspace(mean - 3.2 * sd, mean + 3.2 * sd, 400)
    shade(ax, x, norm.pdf(x, mean, sd), label="this patient's score")
    line = norm.pdf(x, mean, line_sd)
    ax.plot(x, line * norm.pdf(0, 0, sd) / line.max(), color=ORANGE, linewidth=1.2, label="the line at this patient (not to scale)")
    ax.fill_between(x, norm.pdf(x, mean, sd), where=x >= decision, color=RED, alpha=0.35, linewidth=0, label="a quarter of the chance")
    mark(ax, mean, "mean", height=0.97)
    mark(ax, decision, "the clinic's", color=RED, height=0.97)
    ax.set(xlabel="disease progression score", yticks=[], ylim=(0, 1.2 * norm.pdf(0, 0, sd)))
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return fig


def wrong_noise(multiples, costs):
    """Cost of decisions made with a predictive deviation that is wrong by a factor; costs have shape (splits, factors)."""
    fig, ax = plt.subplots()
    low, middle, high = np.quantile(costs, [0.05, 0.5, 0.95], axis=0)
    ax.fill_between(multiples, low, high, color=PURPLE, alpha=0.2, linewidth=0, label="nine splits in ten")
    ax.plot(multiples, middle, color=PURPLE, label="median over splits")
    mark(ax, 0, "ridge's own\nprediction", color=BLUE, height=0.97)
    mark(ax, 1, "the model's\ndeviation", color=RED, height=0.7)
    ax.set(xlabel="assumed deviation / the model's deviation", ylabel="clinic's cost per patient")
    ax.legend(loc="upper center", bbox_to_anchor=(0.62, 1.0))
    return fig
