"""The tasks of the chapter on gradients, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.gradients import (
    control_variate,
    find_the_bug,
    guide,
    implicit_gamma,
    logistic_regression,
    one_liners,
    path_derivative,
    reparameterisation,
    robbins_monro,
    score_function,
    vary,
)

TASKS: tuple[Task, ...] = (
    *robbins_monro.TASKS,
    *score_function.TASKS,
    *control_variate.TASKS,
    *reparameterisation.TASKS,
    *vary.TASKS,
    *one_liners.TASKS,
    *implicit_gamma.TASKS,
    *path_derivative.TASKS,
    *guide.TASKS,
    *find_the_bug.TASKS,
    *logistic_regression.TASKS,
)
