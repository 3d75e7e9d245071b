"""The tasks of the chapter on loss-calibrated variational inference, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.lcvi import (
    bound,
    discrete,
    double_reparameterisation,
    em_step,
    find_the_bug,
    joint_step,
    loss_to_utility,
    naive_term,
    shift_and_scale,
    was_it_calibration,
    which_estimator,
    your_own,
)

TASKS: tuple[Task, ...] = (
    *bound.TASKS,
    *loss_to_utility.TASKS,
    *shift_and_scale.TASKS,
    *naive_term.TASKS,
    *which_estimator.TASKS,
    *double_reparameterisation.TASKS,
    *discrete.TASKS,
    *em_step.TASKS,
    *joint_step.TASKS,
    *find_the_bug.TASKS,
    *was_it_calibration.TASKS,
    *your_own.TASKS,
)
