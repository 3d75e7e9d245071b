"""What `calibrate` found: a report, decisions and predictions for new rows, draws for ArviZ, and a figure."""

import importlib
import textwrap
import warnings
from collections.abc import Mapping
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
from course_pkg.lcvi.utilities import Utility, loss_of
from course_pkg.models import Model
from course_pkg.models.reading import check_indices, map_rows, own_unknowns, row_count

GRID = 80  # decisions at which a risk is drawn
MOVED = 6  # unknowns that a figure shows


class CalibrationWarning(UserWarning):
    """Calibration made decisions worse on data that it had not seen or left its sum over outcomes behind, an index is too large, rows
    were taken for those that were fitted, or outcomes are bounds.
    """


class Approximation(NamedTuple):
    """An approximation to the posterior, and what it decides."""

    lam: Any  # of the family
    decisions: Any  # its Bayes decisions for the rows of the data
    risk: float  # expected loss of its decisions under its own predictive: its own opinion of them
    run: Fit  # of its bound; that of the calibrated one climbs in the pair (lam, h)


class Calibration(NamedTuple):
    """What `calibrate` found; print it for a report."""

    plain: Approximation  # of plain variational inference
    calibrated: Approximation
    train: Reduction  # on the outcomes that were fitted
    held_out: Reduction | None  # on held-out data, if any was given: the one that counts
    utility: Utility  # that was calibrated for, with its M
    model: Model
    family: Family
    data: Any  # that were fitted
    warnings: tuple[str, ...] = ()  # the words of every warning

    @property
    def loss(self) -> Loss:
        """That decisions are judged by: of a utility that was given as such, its `regret`."""
        return loss_of(self.utility)

    def __str__(self):
        """The report as a table, with the warnings below."""
        plain, calibrated = self.plain, self.calibrated
        moved = np.abs(np.asarray(calibrated.decisions, float) - np.asarray(plain.decisions, float))
        rows = [
            f"{'mean loss':28}{'plain':>12}{'calibrated':>12}   saved, and a 95% interval",
            _row("in its own opinion", plain.risk, calibrated.risk),
        ]
        for name, found in (("on the outcomes fitted", self.train), ("held out", self.held_out)):
            if found is not None:
                saved = f"   {found.value:.1%} ({found.low:.1%} to {found.high:.1%})" if found.baseline else "   nothing to save"
                rows.append(_row(name, found.baseline, found.improved) + saved)
        if self.held_out is None:
            rows.append("no held-out rows: nothing here says whether calibration helps on new ones")
        kind = "share of decisions changed" if self.loss.actions is not None else "decisions moved, on average, by"
        rows.append(f"{kind} {(moved > 0).mean() if self.loss.actions is not None else moved.mean():.4g}")
        rows += [textwrap.fill(f"warning: {words}", 88, subsequent_indent="  ") for words in self.warnings]
        return "\n".join(rows)

    def _repr_pretty_(self, printer, cycle):  # noqa: ARG002
        """The report, where a notebook's cell ends in the result."""
        printer.text(str(self))

    def decide(self, covariates=None, *, plain: bool = False, key: PRNGKeyArray | None = None, draws: int = 1000):
        """The Bayes decisions for new rows.

        Args:
            covariates: what the model's ``predict`` takes: a table ``(n, d)`` for `models.linear_regression`, a dictionary of arrays for a
                model from NumPyro or PyMC. The rows that were fitted where not given.
            plain: whether to decide with plain variational inference instead.
            key: random key; key 0 where it is not given.
            draws: of the predictive, for each row.

        Returns:
            One decision for each row.

        Raises:
            ValueError: if ``predict`` refuses the covariates, looks for a group that was not fitted or draws what is not finite from them,
                or ``draws`` is below 1. A program that holds its covariates as plain arrays predicts for its own rows alone: the message
                says what to write as ``pm.Data``.
        """
        return bayes_decision(self.loss, self.predict(covariates, plain=plain, key=key, draws=draws))

    def predict(self, covariates=None, *, plain: bool = False, key: PRNGKeyArray | None = None, draws: int = 1000):
        """Draws of the predictive for new rows, shape ``(..., draws)``: as `decisions.bayes_decision` and `posthoc.correct` take them.

        Arguments and errors as of `decide`, which decides by these very draws.
        """
        key, draws = _key(key), _guard.count("draws", draws)
        own = self.model.reading.covariates(self.data)
        known = own if covariates is None else self._known(covariates)
        try:
            if covariates is not None:
                self._check(known)
            y = predictive(key, self.model, self.family, self._lam(plain), known, draws)
        except (TypeError, ValueError) as problem:  # JAX's words for what does not go together, and ours for what is not finite
            raise self._refused(known, problem) from problem
        return jnp.moveaxis(y, 0, -1)

    def to_datatree(self, covariates=None, *, plain: bool = False, key: PRNGKeyArray | None = None, draws: int = 1000):
        """Draws of the model's unknowns, by name, as an ArviZ ``DataTree`` with the group ``posterior`` (one chain).

        With covariates there is the group ``predictions``, too: for each draw of the unknowns an outcome ``y`` at each new row. Arguments
        and errors as of `decide`. The extra ``[arviz]`` is needed.
        """
        key, draws = _key(key), _guard.count("draws", draws)
        thetas = families.sample(key, self.family, self._lam(plain), draws)
        groups = {"posterior": self._named(thetas)}
        if covariates is not None:
            known = self._known(covariates)
            try:
                self._check(known)
                groups["predictions"] = {"y": _finite(outcomes_drawn(jax.random.fold_in(key, 1), self.model, thetas, known))}
            except (TypeError, ValueError) as problem:
                raise self._refused(known, problem) from problem
        one_chain = {group: {name: np.asarray(value)[None] for name, value in named.items()} for group, named in groups.items()}
        return needs("arviz_base", "arviz").from_dict(one_chain)

    def plot(self, covariates=None, *, row: int | None = None, key: PRNGKeyArray | None = None, draws: int = 1000):
        """A figure: the risk of every decision about one row, and the unknowns that calibration moved most.

        On the left, the expected loss under the predictive of either approximation, with a band of two Monte Carlo standard errors and a
        dot at the Bayes decision. On the right, means and standard deviations of the calibrated approximation, in those of the plain one.

        Args:
            covariates: as of `decide`; the rows that were fitted where not given.
            row: its number among them, from 0; where not given, the one whose plain risk is the median.
            key: random key; key 0 where it is not given.
            draws: of either approximation.

        Returns:
            A figure of Matplotlib, which the extra ``[plots]`` installs.

        Raises:
            ValueError: if there is no such row; and as `decide`.
        """
        drawing = importlib.import_module("course_pkg.plots.calibration")
        key, draws = _key(key), _guard.count("draws", draws, 2)
        both = {name: self.predict(covariates, plain=name == "plain", key=key, draws=draws) for name in ("plain", "calibrated")}
        y = {name: np.asarray(drawn, float).reshape(-1, draws) for name, drawn in both.items()}
        best = {name: np.asarray(bayes_decision(self.loss, drawn)) for name, drawn in y.items()}
        title = "row {}" if row is not None else "row {}, of median risk"
        if row is None:
            each = np.asarray(self.loss(y["plain"], best["plain"][:, None])).mean(axis=-1)
            row = int(np.argsort(each)[(len(each) - 1) // 2])
        row = _guard.count("row", row, 0)
        if row >= len(y["plain"]):
            raise ValueError(f"row is {row}; give a number from 0 to {len(y['plain']) - 1}")
        h = self._decisions([y[name][row] for name in y], [best[name][row] for name in best])
        costs = {name: np.asarray(self.loss(y[name][row][:, None], h), float) for name in y}
        risks = {name: cost.mean(axis=0) for name, cost in costs.items()}
        errors = {name: cost.std(axis=0) / np.sqrt(draws) for name, cost in costs.items()}
        chosen = {name: float(best[name][row]) for name in best}
        return drawing.risks_and_moves(h, risks, errors, chosen, self._moves(key, draws), title.format(row))

    def _lam(self, plain):
        return self.plain.lam if plain else self.calibrated.lam

    def _decisions(self, y, best):
        """Where a risk is drawn: at every decision of a list, else around the best, as far as half the middle 80 per cent of outcomes."""
        if self.loss.actions is not None:
            return np.arange(self.loss.actions)
        reach = 0.5 * np.ptp(np.quantile(y, [0.1, 0.9])) or 1.0  # farther away the risk is so high that nothing else is seen
        return np.unique(np.concatenate([np.linspace(min(best) - reach, max(best) + reach, GRID), best]))

    def _named(self, thetas) -> dict:
        """The model's unknowns at each draw, by name."""
        named = thetas if self.model.constrain is None else jax.vmap(self.model.constrain)(thetas)
        return named if isinstance(named, dict) else {"theta": named}

    def _moves(self, key, draws) -> dict[str, tuple[float, float]]:
        """Shift of the mean and ratio of the standard deviations, of the entries of the unknowns whose mean moved most."""
        plain, calibrated = (_entries(self._named(families.sample(key, self.family, self._lam(p), draws))) for p in (True, False))
        centre, sd = ({name: f(x) for name, x in plain.items()} for f in (np.mean, np.std))
        moves = {
            name: (float((x.mean() - centre[name]) / sd[name]), float(x.std() / sd[name])) for name, x in calibrated.items() if sd[name] > 0
        }
        return dict(sorted(moves.items(), key=lambda move: -abs(move[1][0]))[:MOVED])

    def _check(self, known):
        """Refuse groups that were not fitted, and warn of rows that are taken for those that were."""
        check_indices("covariates", self.model, known, self.model.reading.covariates(self.data))
        if words := same_units("covariates", self.model, self.data, known):
            warnings.warn(words, CalibrationWarning, stacklevel=3)  # whoever asks for the decisions

    def _known(self, covariates):
        """Covariates as ``predict`` takes them, once it is sure that a program does not hold others of its own."""
        own = self.model.reading.covariates(self.data)
        if isinstance(own, Mapping) and not isinstance(covariates, Mapping):
            raise ValueError(
                f"covariates is of type {type(covariates).__name__}; give a dictionary of arrays by name, such as "
                f"{{{next(iter(own), 'x')!r}: [...]}}, of a table dict(table)"
            )
        if isinstance(covariates, list):
            return _guard.numbers("covariates", covariates)
        if isinstance(covariates, Mapping) and isinstance(self.data, Mapping):
            try:
                self.model.reading.covariates(dict(covariates))
            except (KeyError, TypeError, ValueError) as problem:
                if words := self._held_fixed(covariates, str(problem)):
                    raise ValueError(words) from problem
        return covariates

    def _refused(self, covariates, problem) -> ValueError:
        words = str(problem)
        if isinstance(covariates, Mapping) and isinstance(self.data, Mapping) and (mend := self._held_fixed(covariates, words)):
            return ValueError(mend)
        if words.startswith("covariates"):
            return ValueError(words)
        if mend := other_units("covariates", self.model, self.data):
            return ValueError(mend)
        return ValueError(
            f"covariates is not what predict takes ({words}); give an array of finite numbers, or a dictionary of arrays by name"
        )

    def _held_fixed(self, covariates, words) -> str | None:
        """What to do about an array that a program holds; None for any other problem, of which ``predict`` tells."""
        own, unknown = sorted(self.model.reading.covariates(self.data)), sorted(set(covariates) - set(self.data))
        if "pm.Data" in words and unknown:
            return (
                f"covariates holds {unknown[0]!r}, which is no pm.Data of the model (it has {', '.join(own) or 'none'}); "
                f"write pm.Data({unknown[0]!r}, ...) where the program uses the plain array, and calibrate again"
            )
        alone = "pm.Data" in words or "is no argument" in words
        return f"covariates are other rows than those fitted, and {words}; then calibrate again" if alone else None


def other_units(name: str, model: Model, data) -> str:
    """What to do about other rows where an unknown has an entry for each row that was fitted; empty where none has."""
    if not isinstance(data, Mapping) or model.reading.rows is None or model.reading.no_parts:
        return ""
    n = row_count(data, model.reading)
    names = own_unknowns(model, n)
    return names and (
        f"{name} are other rows than the {n} that were fitted, and {names} has an entry for each of these and none for "
        "new ones; fit the new rows, too, with their outcomes masked"
    )


def same_units(name: str, model: Model, data, known) -> str:
    """What to know of rows that differ from those fitted and meet their unknowns place by place, being as many; empty of any others."""
    own = model.reading.covariates(data)
    if not (isinstance(known, Mapping) and isinstance(own, Mapping) and other_units(name, model, data)):
        return ""
    seen = model.reading.outcome(data)
    pairs = [(known[k], own[k]) for k in model.reading.rows or () if k in known and k in own and own[k] is not seen]
    if all(np.shape(new) != np.shape(old) or np.array_equal(new, old) for new, old in pairs):
        return ""
    theta = jax.ShapeDtypeStruct((model.dim,), jnp.result_type(float))
    columns = {k: np.asarray(column) if isinstance(column, list) else column for k, column in known.items()}
    try:
        fewer = map_rows(lambda a: a[1:], columns, model.reading)
        jax.eval_shape(lambda t: model.predict(jax.random.key(0), t, fewer), theta)
    except (TypeError, ValueError, IndexError):
        n = row_count(data, model.reading)
        return (
            f"{name} are as many rows as were fitted, {n}, and {own_unknowns(model, n)} has an entry for each of these: the first row was "
            "taken for the first that was fitted, and so on; if they are others, fit them, too, with their outcomes masked"
        )
    return ""


def _key(key):
    return jax.random.key(0) if key is None else _guard.key(key)


def _row(name, before, after) -> str:
    return f"{name:28}{before:12.4g}{after:12.4g}"


def _entries(named) -> dict[str, np.ndarray]:
    """Draws of each entry of the unknowns, by a name with its place: shape ``(draws,)``."""
    found = {}
    for name, value in named.items():
        drawn = np.asarray(value, float)
        for place in np.ndindex(drawn.shape[1:]):
            found[name + (f"[{', '.join(map(str, place))}]" if place else "")] = drawn[(slice(None), *place)]
    return found


def outcomes_drawn(key, model: Model, thetas, covariates):
    """One outcome for each ``theta`` at each row, shape ``(draws, ...)``, finite or not."""
    return jax.vmap(model.predict, (0, 0, None))(jax.random.split(key, len(thetas)), thetas, covariates)


def predictive(key, model: Model, family: Family, lam, covariates, draws: int):
    """Outcomes drawn from an approximation's predictive, shape ``(draws, ...)``."""
    theta_key, key = jax.random.split(key)
    return _finite(outcomes_drawn(key, model, families.sample(theta_key, family, lam, draws), covariates))


def _finite(y):
    return _guard.numbers("the prediction", y)


def bayes_decisions(loss, y):
    """The Bayes decisions from draws whose first axis counts them."""
    return bayes_decision(loss, jnp.moveaxis(y, 0, -1))
