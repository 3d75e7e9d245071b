"""What `calibrate` found: a report, decisions for new rows, and draws for ArviZ."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from course_pkg import _guard, families
from course_pkg._extras import needs
from course_pkg.decisions import Loss, Reduction, bayes_decision
from course_pkg.families import Family
from course_pkg.fit import Fit
from course_pkg.lcvi.utilities import Utility
from course_pkg.models import Model


class Calibration(NamedTuple):
    """What `calibrate` found; print it for a report."""

    lam: Any  # the calibrated approximation
    decisions: Any  # its Bayes decisions for the rows of the data
    q_risk: float  # expected loss of its decisions under its own predictive: its own opinion of them
    plain_lam: Any  # the same for plain variational inference
    plain_decisions: Any
    plain_q_risk: float
    train: Reduction  # on the outcomes that were fitted
    held_out: Reduction | None  # on held-out data, if any was given: the one that counts
    utility: Utility  # that was calibrated for, with its M
    run: Fit  # of the calibrated bound; its lam is the pair (lam, h)
    plain_run: Fit
    model: Model
    family: Family
    loss: Loss  # that decisions are judged by

    def __str__(self):
        """The report as a table."""
        moved = np.abs(np.asarray(self.decisions, float) - np.asarray(self.plain_decisions, float))
        rows = [f"{'mean loss':28}{'plain':>12}{'calibrated':>12}", _row("in its own opinion", self.plain_q_risk, self.q_risk)]
        for name, found in (("on the outcomes fitted", self.train), ("held out", self.held_out)):
            if found is not None:
                saved = f"   saved {found.value:.1%} ({found.low:.1%} to {found.high:.1%})"
                rows.append(_row(name, found.baseline, found.improved) + saved)
        if self.held_out is None:
            rows.append("no held-out rows: nothing here says whether calibration helps on new ones")
        kind = "share of decisions changed" if self.loss.actions is not None else "decisions moved, on average, by"
        rows.append(f"{kind} {(moved > 0).mean() if self.loss.actions is not None else moved.mean():.4g}")
        return "\n".join(rows)

    def _repr_pretty_(self, printer, cycle):  # noqa: ARG002
        """The report, where a notebook's cell ends in the result."""
        printer.text(str(self))

    def decide(self, covariates, *, plain: bool = False, key: PRNGKeyArray | None = None, draws: int = 1000):
        """The Bayes decisions for new rows.

        Args:
            covariates: what the model's ``predict`` takes: a table ``(n, d)`` for `models.linear_regression`, a dictionary of arrays for a
                model from NumPyro or PyMC.
            plain: whether to decide with plain variational inference instead.
            key: random key; key 0 where it is not given.
            draws: of the predictive, for each row.

        Returns:
            One decision for each row.

        Raises:
            ValueError: if ``predict`` refuses the covariates or draws what is not finite from them, or ``draws`` is below 1.
        """
        key, draws = jax.random.key(0) if key is None else _guard.key(key), _guard.count("draws", draws)
        lam = self.plain_lam if plain else self.lam
        covariates = _guard.numbers("covariates", covariates) if isinstance(covariates, list) else covariates
        try:
            y = predictive(key, self.model, self.family, lam, covariates, draws)
        except (TypeError, ValueError) as problem:  # JAX's words for what does not go together, and ours for what is not finite
            if str(problem).startswith("covariates"):
                raise
            raise ValueError(
                f"covariates is not what predict takes ({problem}); give an array of finite numbers, or a dictionary of arrays by name"
            ) from problem
        return bayes_decisions(self.loss, y)

    def to_datatree(self, *, plain: bool = False, key: PRNGKeyArray | None = None, draws: int = 1000):
        """Draws of the model's unknowns, by name, as an ArviZ ``DataTree`` with the group ``posterior`` (one chain).

        Arguments as of `decide`. The extra ``[arviz]`` is needed.
        """
        key = jax.random.key(0) if key is None else _guard.key(key)
        lam = self.plain_lam if plain else self.lam
        thetas = families.sample(key, self.family, lam, _guard.count("draws", draws))
        named = jax.vmap(self.model.constrain)(thetas)
        named = named if isinstance(named, dict) else {"theta": named}
        return needs("arviz_base", "arviz").from_dict({"posterior": {name: np.asarray(value)[None] for name, value in named.items()}})


def _row(name, before, after) -> str:
    return f"{name:28}{before:12.4g}{after:12.4g}"


def predictive(key, model: Model, family: Family, lam, covariates, draws: int):
    """Outcomes drawn from an approximation's predictive, shape ``(draws, ...)``."""
    theta_key, key = jax.random.split(key)
    thetas = families.sample(theta_key, family, lam, draws)
    y = jax.vmap(model.predict, (0, 0, None))(jax.random.split(key, draws), thetas, covariates)
    return _guard.numbers("the prediction", y)


def bayes_decisions(loss, y):
    """The Bayes decisions from draws whose first axis counts them."""
    return bayes_decision(loss, jnp.moveaxis(y, 0, -1))
