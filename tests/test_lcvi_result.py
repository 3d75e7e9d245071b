"""From a program to a report, decisions for new rows, and draws for ArviZ."""

import re
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import pandas as pd
import pymc as pm
import pytest
from IPython.lib.pretty import pretty
from numpyro import distributions as dist
from scipy import stats

from course_pkg import convergence, decisions, lcvi, models, posthoc
from course_pkg.lcvi import pipeline

KEY = jax.random.key(4)
RNG = np.random.default_rng(11)
SIZE = RNG.uniform(1.0, 3.0, 14)
PRICE = 2.0 * SIZE + RNG.normal(size=14)
HURRY = lcvi.Optimisation(steps=300, rate=0.05, progress=False, tolerance=None)
QUICK = {"objective": lcvi.Objective(predictive_draws=300), "optimisation": HURRY}
LOSS = decisions.tilted(0.2)


def houses(size, price=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 3.0))
    with numpyro.plate("houses", len(size)):
        numpyro.sample("price", dist.Normal(slope * size, 1.0), obs=price)


def houses_in_pymc():
    with pm.Model() as model:
        size = pm.Data("size", SIZE)
        slope = pm.Normal("slope", 0.0, 3.0)
        pm.Normal("price", slope * size, 1.0, observed=pm.Data("seen", PRICE), shape=size.shape)
    return model


@pytest.fixture(scope="module")
def found():
    late = {"size": SIZE[:5] + 0.3, "price": PRICE[:5]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lcvi.CalibrationWarning)  # whether it helps is not the question
        return lcvi.calibrate(KEY, houses, {"size": SIZE, "price": PRICE}, LOSS, held_out=late, **QUICK)


def test_a_program_goes_in_as_it_is(found):
    model, data = models.from_numpyro(houses, SIZE, PRICE)
    by_hand = lcvi.calibrate(KEY, model, data, LOSS, **QUICK)
    np.testing.assert_allclose(by_hand.calibrated.decisions, found.calibrated.decisions, rtol=1e-6)
    in_pymc = lcvi.calibrate(KEY, houses_in_pymc(), None, LOSS, **QUICK)
    np.testing.assert_allclose(in_pymc.calibrated.lam.mu, found.calibrated.lam.mu, atol=0.05)
    new = {"size": SIZE[:3] + 0.5}
    np.testing.assert_allclose(in_pymc.decide(new, draws=4000), found.decide(new, draws=4000), atol=0.3)


def test_decisions_for_new_rows_are_those_of_a_refit_and_the_plain_ones_those_of_the_posterior(found):
    new, draws = np.array([0.5, 1.7, 4.0]), 20_000
    model, data = models.from_numpyro(houses, SIZE, PRICE)
    again = lcvi.calibrate(jax.random.key(99), model, data, LOSS, **QUICK)
    precision = 1 / 9 + (SIZE**2).sum()
    sd = np.sqrt(1 + new**2 / precision)
    exact = (SIZE * PRICE).sum() / precision * new + stats.norm.ppf(0.2) * sd
    # quantiles of 20,000 draws, |z| < 4.5, of short climbs whose last step lies up to half a posterior standard deviation off the summit
    off = 4.5 * sd * np.sqrt(0.2 * 0.8 / draws) / stats.norm.pdf(stats.norm.ppf(0.2)) + 0.5 * new / np.sqrt(precision)
    one, other = (np.asarray(result.decide({"size": new}, draws=draws, key=KEY)) for result in (found, again))
    assert (np.abs(one - other) < np.sqrt(2) * off).all()
    for result in (found, again):
        assert (np.abs(np.asarray(result.decide({"size": new}, plain=True, draws=draws)) - exact) < off).all()


@pytest.mark.parametrize("plain", [False, True])
def test_decisions_for_new_rows_are_the_quantiles_of_the_predictive(found, plain):
    new, draws = np.array([0.5, 1.7, 4.0]), 20_000
    lam = (found.plain if plain else found.calibrated).lam
    slope = np.asarray(found.to_datatree(plain=plain, draws=draws).posterior["slope"])
    mean, sd = float(lam.mu[0]) * new, np.hypot(slope.std() * new, 1.0)
    got = np.asarray(found.decide({"size": jnp.asarray(new)}, plain=plain, draws=draws))
    # the standard error of a sample quantile; |z| < 4.5 for three rows, twice: a false alarm in 25,000 runs
    error = sd * np.sqrt(0.2 * 0.8 / draws) / stats.norm.pdf(stats.norm.ppf(0.2))
    assert (np.abs(got - stats.norm.ppf(0.2, mean, sd)) < 4.5 * error).all()


def test_the_report_says_what_counts(found):
    lines = str(found).splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == ["mean loss", "in its own opinion", "on the outcomes fitted", "held out"]
    assert f"{found.held_out.baseline:.4g}" in lines[3]
    assert f"{found.held_out.value:.1%}" in lines[3]
    moved = np.abs(np.asarray(found.calibrated.decisions) - np.asarray(found.plain.decisions)).mean()
    assert lines[4] == f"decisions moved, on average, by {moved:.4g}"
    assert "no held-out rows" in str(found._replace(held_out=None))


def test_where_the_plain_decisions_cost_nothing_the_report_says_so(found):
    y = np.array([1.0, 2.0, 0.0])
    seen = pipeline._Seen(y, np.ones(3, bool))
    same, worse = (pipeline._compare(KEY, decisions.squared(), seen, y, y + off) for off in (0.0, 2.0))
    assert (same.value, worse.value, worse.improved) == (0.0, -np.inf, 4.0)
    assert "held out                               0           4   nothing to save" in str(found._replace(held_out=worse))
    assert "from 0 to 4; keep the plain" in pipeline._harm(worse)


def test_predictions_are_what_decisions_are_made_of(found):
    new = {"size": SIZE[:3] + 0.5}
    for plain in (True, False):
        y = found.predict(new, plain=plain, draws=200)
        assert y.shape == (3, 200)
        np.testing.assert_array_equal(found.decide(new, plain=plain, draws=200), decisions.bayes_decision(LOSS, y))
    own = found.predict(draws=300, key=jax.random.split(KEY, 8)[1])  # the draws of the pipeline itself
    np.testing.assert_allclose(decisions.bayes_decision(LOSS, own), found.calibrated.decisions, rtol=1e-6)


def test_predictions_go_to_arviz_beside_the_draws_that_they_come_from(found):
    tree = found.to_datatree({"size": np.array([1.0, 1000.0])}, draws=2000)
    y, slope = tree.predictions["y"].values, tree.posterior["slope"].values
    assert y.shape == (1, 2000, 2)
    np.testing.assert_allclose(y[..., 1], 1000 * slope, atol=6.0)  # beside such a mean the noise, of sd 1, is nothing
    assert decisions.bayes_decision(LOSS, posthoc.predictive_draws(tree, group="predictions")).shape == (2,)


def test_a_figure_shows_a_typical_row_and_what_moved(found):
    figure = found.plot(draws=2000)
    left, right = figure.axes
    curves = {line.get_label(): line for line in left.lines if line.get_label() in ("plain", "calibrated")}
    row = int(left.get_title().removeprefix("row ").removesuffix(", of median risk"))
    centre = float(found.plain.lam.mu[0]) * SIZE[row]
    sd = np.hypot(float(jnp.exp(found.plain.lam.log_sigma[0])) * SIZE[row], 1.0)
    h, risk = curves["plain"].get_xdata(), curves["plain"].get_ydata()
    np.testing.assert_allclose(risk, lcvi.expected_loss(LOSS, centre, sd, h), atol=0.1)
    shift = float(found.calibrated.lam.mu[0] - found.plain.lam.mu[0]) / float(jnp.exp(found.plain.lam.log_sigma[0]))
    assert [label.get_text() for label in right.get_yticklabels()] == ["slope"]
    np.testing.assert_allclose(right.lines[1].get_xdata(), [shift], atol=0.1)
    plt.close(figure)
    with pytest.raises(ValueError, match="row is 3; give a number from 0 to 2"):
        found.plot({"size": SIZE[:3]}, row=3)


def p_closed():
    pm.Normal("price", pm.Normal("slope") * SIZE, 1.0, observed=PRICE)


def p_outcome_closed():
    pm.Normal("price", pm.Normal("slope") * pm.Data("size", SIZE), 1.0, observed=PRICE)


def p_imputed():
    pm.Normal("price", pm.Normal("slope") * pm.Data("size", SIZE), 1.0, observed=np.where(SIZE < 1.5, np.nan, PRICE))


def p_another_closed():
    size = pm.Data("size", SIZE)
    pm.Normal("price", pm.Normal("slope") * size + PRICE, 1.0, observed=pm.Data("seen", PRICE), shape=size.shape)


@pytest.mark.parametrize(
    ("written", "rows", "words"),
    [
        (p_closed, 14, r"holds 'size', which is no pm.Data of the model \(it has none\); write pm.Data\('size', ...\)"),
        (p_outcome_closed, 3, "price was observed as a plain array, so it keeps its shape; put it into pm.Data .* then calibrate again"),
        (p_imputed, 3, "price has missing values, whose places belong to the rows .* put price into pm.Data; then calibrate again"),
        (p_imputed, 14, "price has missing values"),
        (p_another_closed, 14, "other rows than those fitted, and the model holds an array of 14 rows that is no pm.Data"),
        (None, 14, "the program reaches for an array of 14 rows that is no argument of it.* then calibrate again"),
    ],
    ids=["covariates", "outcome", "missing outcomes", "missing outcomes of as many rows", "another covariate", "numpyro"],
)
@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
def test_a_program_that_holds_its_rows_says_what_to_write(found, written, rows, words):
    if written is None:
        model, data = models.from_numpyro(lambda size, price=None: houses(size + PRICE, price), SIZE, price=PRICE)
    else:
        with pm.Model() as program:
            written()
        model, data = models.from_pymc(program)
    fitted = found.calibrated._replace(lam=found.family.init(model.dim))
    result = found._replace(model=model, data=data, calibrated=fitted)
    for call in (result.decide, result.predict, result.to_datatree):
        with pytest.raises(ValueError, match=words):
            call({"size": SIZE[:rows] + 1.0})


def test_new_rows_without_names_are_refused_and_of_a_table_the_names_are_taken(found):
    for new in ([1.0, 2.0], np.ones(2), pd.DataFrame({"size": [1.0, 2.0]})):
        with pytest.raises(
            ValueError, match=r"covariates is of type \w+; give a dictionary .* \{'size': \[...\]\}, of a table dict\(table\)"
        ):
            found.decide(new)
    assert found.decide(dict(pd.DataFrame({"size": [1.0, 2.0]}))).shape == (2,)
    with pytest.raises(ValueError, match=r"covariates holds \['large'\] for size; give an array of numbers"):
        found.decide({"size": ["large"]})


def test_draws_go_to_arviz_by_name(found):
    tree = found.to_datatree(draws=4000)
    assert tree.posterior["slope"].shape == (1, 4000)
    slope = np.asarray(tree.posterior["slope"]).ravel()
    assert abs(slope.mean() - float(found.calibrated.lam.mu[0])) < 4.5 * slope.std() / np.sqrt(4000)


@pytest.mark.parametrize(
    ("program", "data", "words"),
    [
        (houses, [1.0], "data is list"),
        (houses, None, "data is NoneType"),
        (houses, (SIZE, PRICE), "data is tuple"),
        ("houses", {}, "model is 'houses'"),
        (houses_in_pymc(), {"size": SIZE}, "beside a pymc.Model"),
    ],
)
def test_what_is_no_model_is_refused(program, data, words):
    with pytest.raises(ValueError, match=words):
        models.as_model(program, data)


def test_held_out_rows_come_in_the_form_of_the_data():
    with pytest.raises(ValueError, match="held_out is tuple; give dict"):
        lcvi.calibrate(KEY, houses, {"size": SIZE, "price": PRICE}, LOSS, held_out=(SIZE[:3], PRICE[:3]), **QUICK)


def test_a_table_decides_for_whole_numbers_and_refuses_what_is_none():
    x = np.array([[1.0, 0.5], [0.2, 2.0], [1.5, 1.0]])
    line = models.linear_regression(2, 1.0, 1.0)
    result = lcvi.calibrate(KEY, line, models.Rows(jnp.asarray(x), jnp.asarray(x.sum(1))), LOSS, optimisation=HURRY._replace(steps=20))
    new = np.array([[1, 2], [3, 4]])
    for same in (new, new.tolist()):
        np.testing.assert_allclose(result.decide(same), result.decide(new.astype(float)))
    for bad in ([[1.0, None]], np.ones((2, 3)), models.Rows(x, x[:, 0])):
        with pytest.raises(ValueError, match="covariates"):
            result.decide(bad)


def test_the_readme_s_roads_run():
    text = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf8")
    blocks = re.findall(r"```python\n(.*?)```", text.split("## Using the package")[1], re.DOTALL)
    program = "\n".join(blocks).replace(
        "held_out=test)", "held_out=test, optimisation=Optimisation(steps=200, progress=False))"
    )  # the tests' own hurry
    program = program.replace("import calibrate\n", "import Optimisation, calibrate\n")
    program = program.replace("correct(draws, sold, loss)", "correct(draws, sold, loss, training=Training(restarts=1, steps=200))")
    program = program.replace("import correct, decide\n", "import Training, correct, decide\n")
    names = {}
    with warnings.catch_warnings():
        for category in (lcvi.CalibrationWarning, posthoc.CorrectionWarning, convergence.ConvergenceWarning):
            warnings.simplefilter("ignore", category)  # whether it helps is said, either way
        exec(program, names)
    assert np.isfinite(names["result"].decide({"warmth": np.array([0.5, 1.5])})).all()
    assert names["corrected"].report.points == (60, 30)


def test_a_cell_that_ends_in_a_result_shows_its_report(found):
    assert pretty(found) == str(found)
    draws = np.random.default_rng(0).normal(size=(60, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", posthoc.CorrectionWarning)  # the draws are those of no model
        report = posthoc.correct(draws, draws[:, 0] ** 2, LOSS, nu=0.0, training=posthoc.Training((), restarts=1, steps=20)).report
    assert pretty(report) == str(report)


def test_held_out_rows_name_the_outcome_as_the_model_does():
    with pytest.raises(ValueError, match="held_out has no 'price', which the model observes"):
        lcvi.calibrate(KEY, houses, {"size": SIZE, "price": PRICE}, LOSS, held_out={"size": SIZE}, **QUICK)
