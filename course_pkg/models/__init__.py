r"""Models: what we want to know, and how it predicts what we shall see.

A `Model` is an unnormalised posterior on an unconstrained vector :math:`\theta`, as three functions and a map to the names that people
use. Data are an argument all the way down, so that one compilation serves every data set of a shape.

Read `model` first, then any of the concrete ones; `from_numpyro` and `from_pymc` take models that are written in those languages.
"""

from course_pkg.models.adapters_numpyro import from_numpyro
from course_pkg.models.adapters_pymc import from_pymc
from course_pkg.models.classification import Trials, event_probability, logistic_regression
from course_pkg.models.factorization import Cells, TableRows, matrix_factorization
from course_pkg.models.gaussian import normal_sample
from course_pkg.models.groups import Grouped, hierarchical_regression
from course_pkg.models.model import Model, log_joint, read_as, require_differentiable
from course_pkg.models.networks import neural_network
from course_pkg.models.pools import Pools, check_pools, pooled_testing
from course_pkg.models.programs import as_model
from course_pkg.models.reading import Reading, Rows
from course_pkg.models.regression import (
    Gaussian,
    linear_regression,
    noisy_regression,
    polynomial_regression,
    powers,
    regression_posterior,
    regression_predictive,
)
from course_pkg.models.schools import Schools, eight_schools

__all__ = [
    "Cells",
    "Gaussian",
    "Grouped",
    "Model",
    "Pools",
    "Reading",
    "Rows",
    "Schools",
    "TableRows",
    "Trials",
    "as_model",
    "check_pools",
    "eight_schools",
    "event_probability",
    "from_numpyro",
    "from_pymc",
    "hierarchical_regression",
    "linear_regression",
    "log_joint",
    "logistic_regression",
    "matrix_factorization",
    "neural_network",
    "noisy_regression",
    "normal_sample",
    "polynomial_regression",
    "pooled_testing",
    "powers",
    "read_as",
    "regression_posterior",
    "regression_predictive",
    "require_differentiable",
]
