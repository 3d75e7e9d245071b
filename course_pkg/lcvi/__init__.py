"""Chapter 7: loss-calibrated variational inference.

Read `utilities` first (what a decision is worth), then `terms` (the utility term from draws), `closed` and `table` (without them),
`outcomes` and `discrete` (where the term meets a model), `steps` (one step in the approximation and the decisions), and `pipeline` at
last, which puts all of it to work in one call (`options` says what may be chosen, `result` what comes back).
"""

from course_pkg.lcvi.closed import expected_loss, log_expected_utility
from course_pkg.lcvi.discrete import scored_outcome, summed_outcome
from course_pkg.lcvi.lattice import lattice_keys
from course_pkg.lcvi.networks import Network, NetworkTraining, amortise, decide_with, start_network
from course_pkg.lcvi.options import Objective, Optimisation
from course_pkg.lcvi.outcomes import Term, best_decisions, classes, drawn_outcome, estimand, from_outcomes, normal_outcome
from course_pkg.lcvi.pipeline import CalibrationWarning, calibrate
from course_pkg.lcvi.result import Approximation, Calibration
from course_pkg.lcvi.steps import Decide, Pair, amortised, bayes_rule, calibrated, em, joint
from course_pkg.lcvi.utilities import (
    Utility,
    affine,
    as_utility,
    calibration_force,
    direct,
    exponential,
    from_loss,
    linearised,
    loss_quantile,
    regret,
)

__all__ = [
    "Approximation",
    "Calibration",
    "CalibrationWarning",
    "Decide",
    "Network",
    "NetworkTraining",
    "Objective",
    "Optimisation",
    "Pair",
    "Term",
    "Utility",
    "affine",
    "amortise",
    "amortised",
    "as_utility",
    "bayes_rule",
    "best_decisions",
    "calibrate",
    "calibrated",
    "calibration_force",
    "classes",
    "decide_with",
    "direct",
    "drawn_outcome",
    "em",
    "estimand",
    "expected_loss",
    "exponential",
    "from_loss",
    "from_outcomes",
    "joint",
    "lattice_keys",
    "linearised",
    "log_expected_utility",
    "loss_quantile",
    "normal_outcome",
    "regret",
    "scored_outcome",
    "start_network",
    "summed_outcome",
]
