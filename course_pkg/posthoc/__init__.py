"""Chapter 8: correcting decisions after the fact.

The posterior stays as it is, whoever made it; what is learnt is the map from what it predicts to what one should decide. Read `features`
first (what the decision maker is told), then `maker` (the map and what it is trained for), `training` with its `loop`, `baselines`,
`bootstrap` (beliefs about decisions from refits), `generalized` (beliefs without a likelihood), and last `correct`, the short path.
"""

from course_pkg.posthoc.baselines import SingleQuantile, conformal_quantile, single_quantile
from course_pkg.posthoc.bootstrap import Refits, bootstrap_prior
from course_pkg.posthoc.correct import Correction, CorrectionWarning, Options, correct, decide
from course_pkg.posthoc.features import characterize, predictive_draws
from course_pkg.posthoc.generalized import (
    Belief,
    Updates,
    belief_on_grid,
    coherent_update,
    compare_updates,
    power_prior_update,
)
from course_pkg.posthoc.maker import DecisionMaker, DecisionPrior, constant_prior, initial_maker, objective, pointwise_prior
from course_pkg.posthoc.report import Fidelity, Interval, Report, fidelity
from course_pkg.posthoc.training import MakerFit, Training, cross_validate, fit_decision_maker

__all__ = [
    "Belief",
    "Correction",
    "CorrectionWarning",
    "DecisionMaker",
    "DecisionPrior",
    "Fidelity",
    "Interval",
    "MakerFit",
    "Options",
    "Refits",
    "Report",
    "SingleQuantile",
    "Training",
    "Updates",
    "belief_on_grid",
    "bootstrap_prior",
    "characterize",
    "coherent_update",
    "compare_updates",
    "conformal_quantile",
    "constant_prior",
    "correct",
    "cross_validate",
    "decide",
    "fidelity",
    "fit_decision_maker",
    "initial_maker",
    "objective",
    "pointwise_prior",
    "power_prior_update",
    "predictive_draws",
    "single_quantile",
]
