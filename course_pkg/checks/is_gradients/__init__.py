"""The tasks of the chapter on importance-sampled gradients, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.is_gradients import (
    bias_per_factor,
    cached_step,
    decay,
    is_nine_real,
    sag,
    the_weight,
    threshold,
)

TASKS: tuple[Task, ...] = (
    *the_weight.TASKS,
    *decay.TASKS,
    *bias_per_factor.TASKS,
    *cached_step.TASKS,
    *threshold.TASKS,
    *sag.TASKS,
    *is_nine_real.TASKS,
)
