"""The tasks of the chapter on skewed densities, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.lambertw import (
    derivative,
    forward_and_backward,
    gamma_zero,
    moments,
    newton_and_halley,
    safe_tail,
    skewed_vi,
    table,
)

TASKS: tuple[Task, ...] = (
    *newton_and_halley.TASKS,
    *derivative.TASKS,
    *forward_and_backward.TASKS,
    *safe_tail.TASKS,
    *gamma_zero.TASKS,
    *table.TASKS,
    *moments.TASKS,
    *skewed_vi.TASKS,
)
