"""The tasks of the chapter on Monte Carlo and Markov chains, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.mcmc import (
    dimensions_price,
    find_the_key,
    five_chains,
    gibbs_normal,
    gibbs_topics,
    leapfrog,
    metropolis,
    rhat_and_ess,
    self_normalised,
    two_scans,
)

TASKS: tuple[Task, ...] = (
    *self_normalised.TASKS,
    *dimensions_price.TASKS,
    *metropolis.TASKS,
    *find_the_key.TASKS,
    *two_scans.TASKS,
    *gibbs_normal.TASKS,
    *gibbs_topics.TASKS,
    *leapfrog.TASKS,
    *rhat_and_ess.TASKS,
    *five_chains.TASKS,
)
