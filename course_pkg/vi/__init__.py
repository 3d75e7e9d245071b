"""Chapter 3: variational inference by hand.

Read `cavi` first (one factor at a time), then `em` (a point in the place of a factor), `documents`, `lda_steps` and `lda` (the same on
counts of words), `lda_online` (from minibatches), `natural` (why its steps are what they are) and `held_out` (on new documents),
`divergences` (what else could be made small) and `checks` (whether it worked).
"""

from course_pkg.vi.cavi import Ascent, Mixture, NormalGamma, cavi_mixture, cavi_normal, cavi_regression
from course_pkg.vi.checks import VSBC, psis_khat, vsbc
from course_pkg.vi.divergences import Generator, Normal, alpha_normal, f_divergence, generator, kl_normal, log_affinity, renyi_normal
from course_pkg.vi.documents import Corpus, corpus, halves
from course_pkg.vi.em import EM, MixturePoint, em_mixture
from course_pkg.vi.held_out import perplexity, transform
from course_pkg.vi.lda import Topics, lda, mean_topics, token_bound
from course_pkg.vi.lda_online import Minibatches, stochastic_lda
from course_pkg.vi.lda_steps import log_mean
from course_pkg.vi.natural import fisher, natural_gradient

__all__ = [
    "EM",
    "VSBC",
    "Ascent",
    "Corpus",
    "Generator",
    "Minibatches",
    "Mixture",
    "MixturePoint",
    "Normal",
    "NormalGamma",
    "Topics",
    "alpha_normal",
    "cavi_mixture",
    "cavi_normal",
    "cavi_regression",
    "corpus",
    "em_mixture",
    "f_divergence",
    "fisher",
    "generator",
    "halves",
    "kl_normal",
    "lda",
    "log_affinity",
    "log_mean",
    "mean_topics",
    "natural_gradient",
    "perplexity",
    "psis_khat",
    "renyi_normal",
    "stochastic_lda",
    "token_bound",
    "transform",
    "vsbc",
]
