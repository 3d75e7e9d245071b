"""The tasks of the chapter on variational inference, in the order in which a reader meets them."""

from course_pkg.checks._judge import Task
from course_pkg.checks.vi import (
    bound_that_rises,
    count_lda,
    dirichlet_lemma,
    elbo_lemma,
    em_as_vi,
    laplace,
    lda_updates,
    mean_field_regression,
    simple_model,
    two_bumps,
    which_topic,
)

TASKS: tuple[Task, ...] = (
    *elbo_lemma.TASKS,
    *simple_model.TASKS,
    *bound_that_rises.TASKS,
    *mean_field_regression.TASKS,
    *dirichlet_lemma.TASKS,
    *lda_updates.TASKS,
    *count_lda.TASKS,
    *which_topic.TASKS,
    *em_as_vi.TASKS,
    *two_bumps.TASKS,
    *laplace.TASKS,
)
