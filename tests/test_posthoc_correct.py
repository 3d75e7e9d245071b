"""Chapter 8, the short path: it helps where it can, warns where it cannot or where it goes too far, and names bad input."""

import warnings

import arviz as az
import jax
import numpy as np
import pytest
from scipy import stats

from course_pkg.decisions import bayes_decision, empirical_risk, squared, tilted, zero_one
from course_pkg.decisions.rules import as_loss
from course_pkg.posthoc import Correction, CorrectionWarning, Options, SingleQuantile, Training, constant_prior, correct, decide, fidelity
from course_pkg.posthoc.correct import _by_chance, _doubts, _report

TRAINING = Training(hidden=(), restarts=1, steps=600)
FAST = {"training": TRAINING}


def world(n=900, shift=0.0, stretch=0.0, seed=0, S=60):
    """Outcomes around known centres, and draws of a normal predictive that may be shifted, or stretched, which no one quantile mends."""
    rng = np.random.default_rng(seed)
    centre = 2 * rng.normal(size=n)
    draws = shift + (1 + stretch) * centre[:, None] + rng.normal(size=(n, S))
    return draws, centre + rng.normal(size=n)


def tree(draws, **groups):
    return az.from_dict({"posterior_predictive": {"y": np.moveaxis(draws, -1, 0)[None]}, **groups})


def test_a_biased_predictive_is_mended_and_the_report_adds_up():
    draws, y = world(stretch=0.2)
    result = correct(tree(draws), y, squared(), **FAST)
    report = result.report
    assert isinstance(result, Correction)
    assert result.decisions.shape == y.shape
    assert report.points == (600, 300)
    assert result.train.sum() == 600
    assert result.warnings == ()
    out = ~result.train
    for name, h in (("decision maker", result.decisions), ("q-optimal", draws.mean(-1))):
        assert report.held_out[name] == pytest.approx(float(empirical_risk(squared(), y[out], np.asarray(h)[out])), rel=1e-4)
        assert report.train[name] == pytest.approx(float(empirical_risk(squared(), y[~out], np.asarray(h)[~out])), rel=1e-4)
    saved = report.against_q_optimal
    assert saved.value == pytest.approx(1 - report.held_out["decision maker"] / report.held_out["q-optimal"], abs=1e-6)
    assert 0 < saved.low < saved.value < saved.high
    assert report.held_out["decision maker"] == pytest.approx(1.0, rel=0.25)  # the noise's own variance
    assert "held out" in str(report)
    assert "600 and 300 points" in str(report)


def test_a_right_predictive_needs_no_help_and_says_so():
    draws, y = world(seed=1, S=400)
    with pytest.warns(CorrectionWarning, match="does not lie above 0: no help that the data can show"):
        result = correct(draws, y, squared(), **FAST)
    assert len(result.warnings) == 1


def test_a_model_that_is_overridden_is_named():
    rng = np.random.default_rng(2)
    m = rng.uniform(-2, 2, size=600)
    y = 3 * np.sin(2 * m) + 0.3 * rng.normal(size=600)
    draws = m[:, None] + 2 * rng.normal(size=(600, 100))
    with pytest.warns(CorrectionWarning, match="override the model"):
        free = correct(draws, y, squared(), nu=0.0, training=Training(restarts=2, steps=1500), options=Options(lambda d: m))
    assert free.report.against_q_optimal.low > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorrectionWarning)  # that the model itself saves nothing
        faithful = correct(draws, y, squared(), nu=1e4, training=Training(restarts=1, steps=1500), options=Options(lambda d: m))
    assert faithful.report.fidelity.root_mean_square < 0.25
    assert not any("override" in words for words in faithful.warnings)


def test_new_points_are_decided_as_the_old_ones_were():
    draws, y = world(stretch=0.2)
    x = draws.mean(axis=-1)
    whole = tree(draws, predictions={"y": np.moveaxis(draws[:50], -1, 0)[None]})
    result = correct(whole, y, squared(), options=Options(covariates=x), **FAST)
    np.testing.assert_allclose(decide(result, whole, covariates=x[:50], group="predictions"), result.decisions[:50], rtol=1e-4, atol=1e-4)


def test_the_split_may_be_ones_own_and_tables_keep_their_shape():
    draws, y = world(stretch=0.25, n=600)
    train = np.arange(600).reshape(20, 30) % 2 == 0
    result = correct(draws.reshape(20, 30, -1), y.reshape(20, 30), squared(), train=train, nu=0.1, **FAST)
    assert result.decisions.shape == (20, 30)
    assert result.report.points == (300, 300)
    np.testing.assert_array_equal(result.train, train)
    # the outcomes held out do not move the decisions
    other = np.where(train, y.reshape(20, 30), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorrectionWarning)
        again = correct(draws.reshape(20, 30, -1), other, squared(), train=train, nu=0.1, **FAST)
    np.testing.assert_array_equal(again.decisions, result.decisions)


SELDOM = [(10, 600), (20, 600), (60, 600), (200, 200)]


@pytest.mark.parametrize(("out", "runs"), [(10, 150), (20, 20), *(pytest.param(*sizes, marks=pytest.mark.thorough) for sizes in SELDOM)])
def test_a_right_model_is_seldom_said_to_be_helped(out, runs):
    """Decisions moved at random cannot help. Were 5 % of runs to claim it, the four sizes together would raise one false alarm in 10^4
    runs of fresh seeds; were it 10 %, three tests of four would notice. With 200 points, where a run is slow, there are fewer. In the
    quick tier 150 see intervals that claim far too much, and 20 are enough for the words alone.
    """
    rng, loss, claims = np.random.default_rng(out), as_loss(tilted(0.95)), 0
    train = np.arange(out + 2) < 2
    single = SingleQuantile(0.95, 1.0)
    for run in range(runs):
        centre = rng.normal(size=out + 2)
        y, draws = centre + rng.normal(size=out + 2), centre[:, None] + rng.normal(size=(out + 2, 100))
        h = np.asarray(bayes_decision(loss, draws))
        moved = h + 0.1 * rng.normal() + 0.02 * rng.normal(size=out + 2)
        decide = lambda told, by=moved - h: (q := np.asarray(bayes_decision(loss, told)), q + by)
        chance = _by_chance(loss, y, draws, ~train, decide)
        ways = {"q-optimal": h, "single quantile": h, "decision maker": moved}
        far = fidelity(moved[~train], h[~train], draws.std(axis=-1)[~train])
        report = _report(jax.random.key(run), {way: np.asarray(loss(y, a)) for way, a in ways.items()}, train, far, chance, 0.9)
        words = list(_doubts(report, single, 0.9, np.inf))
        assert any("too few for the intervals" in said for said in words) == (out < 20)
        claims += not any("no help" in said for said in words)
    assert claims <= stats.binom.isf(1e-4 / 4, runs, 0.05)


def test_the_probability_of_a_saving_by_chance_is_its_rank():
    # one point; deciding 0 instead of 1 saves all of an error of 1 where 0 is drawn, and costs where 2 or 3 is
    draws, y = np.array([[9.0, 9.0, 9.0, 0.0, 2.0, 3.0]]), np.array([0.2])
    decide = lambda told: (np.array([1.0]), np.array([0.0])) if (told == 9).all() else None  # from the other half
    assert _by_chance(as_loss(squared()), y, draws, np.array([True]), decide) == 2 / 4  # one as large, and the outcome itself


def test_decisions_are_not_ranked_among_the_draws_that_they_were_made_from():
    """Many points and few draws: the right model's own decisions against others as good; a fair rank is below 0.1 in a tenth of runs."""
    rng, loss, ranks = np.random.default_rng(7), as_loss(squared()), []
    for _ in range(100):
        centre = rng.normal(size=200)
        y, draws = centre + rng.normal(size=200), centre[:, None] + rng.normal(size=(200, 60))
        others = centre + rng.normal(size=200) / np.sqrt(30)  # as far from the centres as means of thirty draws
        ranks.append(_by_chance(loss, y, draws, np.ones(200, bool), lambda told, h=others: (told.mean(axis=-1), h)))
    assert (np.array(ranks) < 0.1).sum() <= stats.binom.isf(1e-5, 100, 0.1)


def test_where_one_quantile_does_as_well_the_report_says_so():
    draws, y = world(shift=0.4)
    with pytest.warns(
        CorrectionWarning, match="cannot tell the correction from one quantile for all points, at level 0.3.*take that simpler rule"
    ):
        assert len(correct(draws, y, squared(), **FAST).warnings) == 1


def test_fidelity_by_hand():
    far = fidelity([0.0, 1.0, 7.0, 2.0], [0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 2.0, 1.0])
    assert (far.median, far.largest, far.beyond_two) == (0.25, 3.0, 0.25)
    assert far.root_mean_square == pytest.approx(np.sqrt(9.25 / 4))


DRAWS, Y = world(30)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"idata": az.from_dict({"posterior": {"b": np.zeros((1, 5))}})}, "no group 'posterior_predictive'"),
        ({"y": Y[:20]}, r"y has shape \(20,\), and the draws are for points of shape \(30,\)"),
        ({"y": np.where(np.arange(30) == 0, np.nan, Y)}, "y holds nan at position 0"),
        ({"idata": DRAWS[:, :1]}, r"idata has shape \(30, 1\): a single draw"),
        ({"idata": DRAWS[:, :30]}, "idata is an array of shape .* as many draws as points"),
        ({"idata": np.full_like(DRAWS, np.nan)}, "idata holds nan"),
        ({"idata": np.tile(DRAWS[:1], (30, 1))}, "features are constant"),
        ({"idata": np.tile(Y[:, None], (1, 9))}, "all the same: no predictive distribution"),
        ({"train": np.ones(30, bool)}, "leave at least 2 on either side"),
        ({"train": np.ones(30)}, "give true or false"),
        ({"nu": -1.0}, "nu holds -1"),
        ({"options": Options(prior=constant_prior(np.zeros(20)))}, "prior.mean has shape"),
        ({"loss": zero_one(2)}, "class"),
        ({"options": Options(level=1.0)}, "level is 1"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        correct(**({"idata": DRAWS, "y": Y, "loss": tilted(0.3), "nu": 0.0, "training": TRAINING._replace(steps=20)} | arguments))


def test_bad_input_of_the_reports_parts_is_named():
    with pytest.raises(ValueError, match="three of the same shape"):
        fidelity([1.0], [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="predictive_sd holds 0"):
        fidelity([1.0], [1.0], [0.0])


def test_what_is_no_correction_decides_nothing():
    with pytest.raises(ValueError, match=r"correction is of type ndarray; give what correct\(...\) returns, and after it the draws"):
        decide(DRAWS, DRAWS)
