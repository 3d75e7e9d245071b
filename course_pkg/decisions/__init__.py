"""Chapter 1: losses, Bayes rules and risks.

Read `losses` first (what a decision costs; `normal` has the averages of those losses in closed form), then `rules` (the decision that
costs least in expectation), then `risk` (how much that is) and `reduction` (what a better decision saves, with its interval), then
`information` (what it would save to look first).
"""

from course_pkg.decisions.information import Information, value_of_perfect_information, value_of_sample_information
from course_pkg.decisions.losses import (
    Loss,
    absolute,
    cost_matrix,
    exponential_utility,
    imbalanced,
    linex,
    quantile,
    shifted_utility,
    squared,
    tilted,
    zero_one,
)
from course_pkg.decisions.reduction import Reduction, paired_reduction
from course_pkg.decisions.risk import (
    MonteCarlo,
    effective_sample_size,
    empirical_risk,
    gain,
    normalised_weights,
    p_risk,
    risk,
    risk_reduction,
)
from course_pkg.decisions.rules import bayes_action, bayes_decision

__all__ = [
    "Information",
    "Loss",
    "MonteCarlo",
    "Reduction",
    "absolute",
    "bayes_action",
    "bayes_decision",
    "cost_matrix",
    "effective_sample_size",
    "empirical_risk",
    "exponential_utility",
    "gain",
    "imbalanced",
    "linex",
    "normalised_weights",
    "p_risk",
    "paired_reduction",
    "quantile",
    "risk",
    "risk_reduction",
    "shifted_utility",
    "squared",
    "tilted",
    "value_of_perfect_information",
    "value_of_sample_information",
    "zero_one",
]
