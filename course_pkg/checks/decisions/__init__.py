"""The tasks of the first chapter, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.decisions import (
    bayes_estimators_tilted,
    conjugacy,
    intervals,
    james_stein,
    linex,
    lupus,
    model_choice,
    pooled_testing,
    stopping,
    von_neumann_morgenstern,
)

TASKS: tuple[Task, ...] = (
    *lupus.TASKS,
    *conjugacy.TASKS,
    *model_choice.TASKS,
    *bayes_estimators_tilted.TASKS,
    *linex.TASKS,
    *intervals.TASKS,
    *stopping.TASKS,
    *james_stein.TASKS,
    *von_neumann_morgenstern.TASKS,
    *pooled_testing.TASKS,
)
