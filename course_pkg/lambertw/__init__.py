r"""Chapter 6: skewed densities with the Lambert W function.

Read `function` first (W itself), then `map` (what skews, and its inverse), then `density`, then `fitting`. `heavy` has the map that
stretches both tails, `table` holds W ready-made.
`numpyro_dist` and `pymc_dist` say the same in two languages; they are imported by name, for example ``from course_pkg.lambertw.numpyro_dist
import LambertW``, because neither language is needed for the rest.
"""

from course_pkg.lambertw.density import (
    Moments,
    laplace_mgf,
    log_density,
    log_density_two_branches,
    logistic_mgf,
    moments,
    normal_mgf,
    safe_moments,
    support,
)
from course_pkg.lambertw.fitting import Skewed, fit_igmm, fit_mle, skewed_sample
from course_pkg.lambertw.function import Iterates, halley, lambertw, newton, one_plus_w
from course_pkg.lambertw.heavy import heavy, heavy_inverse, heavy_log_density
from course_pkg.lambertw.map import D, Skew, fixed_skew, g_e, g_e_inverse, log_slope, modified_w, skew
from course_pkg.lambertw.table import Tabulated, tabulated

__all__ = [
    "D",
    "Iterates",
    "Moments",
    "Skew",
    "Skewed",
    "Tabulated",
    "fit_igmm",
    "fit_mle",
    "fixed_skew",
    "g_e",
    "g_e_inverse",
    "halley",
    "heavy",
    "heavy_inverse",
    "heavy_log_density",
    "lambertw",
    "laplace_mgf",
    "log_density",
    "log_density_two_branches",
    "log_slope",
    "logistic_mgf",
    "modified_w",
    "moments",
    "newton",
    "normal_mgf",
    "one_plus_w",
    "safe_moments",
    "skew",
    "skewed_sample",
    "support",
    "tabulated",
]
