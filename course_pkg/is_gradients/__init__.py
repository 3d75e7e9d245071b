r"""Chapter 5: model gradients are expensive, transformation gradients are cheap, so reuse the first.

Read `weights` first (what an old draw is worth), then `reuse` (the two halves of a step), `isgd` (Algorithm 4), `averages` (Algorithm 5
and its relatives), `variants`, and `fixed` (the rival). `published` has the models and data of the published runs. Every estimator has the
shape of `course_pkg.gradients`, so that `fit` drives them all.
"""

from course_pkg.is_gradients.averages import isag, running_average, sag, saga, state_bytes
from course_pkg.is_gradients.fixed import FixedDraws, fixed_draws
from course_pkg.is_gradients.isgd import isgd
from course_pkg.is_gradients.reuse import Subsample, Weighting
from course_pkg.is_gradients.variants import anchored
from course_pkg.is_gradients.weights import Weights, effective_size, expected_ess, importance_weights, is_factorised

__all__ = [
    "FixedDraws",
    "Subsample",
    "Weighting",
    "Weights",
    "anchored",
    "effective_size",
    "expected_ess",
    "fixed_draws",
    "importance_weights",
    "is_factorised",
    "isag",
    "isgd",
    "running_average",
    "sag",
    "saga",
    "state_bytes",
]
