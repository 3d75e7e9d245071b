"""The tasks of the chapter on corrections after the fact, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.posthoc import (
    bootstrap_prior,
    characterise,
    coherence,
    nu,
    objective,
    single_quantile,
    when_it_cannot_help,
    your_own,
)

TASKS: tuple[Task, ...] = (
    *single_quantile.TASKS,
    *characterise.TASKS,
    *coherence.TASKS,
    *objective.TASKS,
    *bootstrap_prior.TASKS,
    *nu.TASKS,
    *when_it_cannot_help.TASKS,
    *your_own.TASKS,
)
