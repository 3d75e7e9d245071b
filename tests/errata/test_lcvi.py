"""Chapter on loss calibration: for each item the printed form fails and the mended one passes, or the other way round.

A simulated right form has to lie within ``NEAR`` standard errors. There are 12 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 4e-5 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import pytest

NEAR, FAR = 5.0, 10.0
EXACT = 1e-6  # a search, a quadrature or a difference in steps of 1e-5
seeds = pytest.mark.parametrize("seed", range(5))


def test_t15(figures):
    f = figures("T15")
    assert f["p_risk"] > f["q_risk"] + 0.5  # two risks of one decision
    assert f["p_risk"] > f["least"] + 0.05
    assert f["q_risk_least"] < 0.001  # a point, wherever it may lie
    assert f["sd_by_q_risk"] == 0.01
    assert f["p_risk_then"] > 1.5 * f["least"]
    assert f["mean_by_p_risk"] == pytest.approx(0.5)


def test_t42(figures):
    f = figures("T42")
    assert f["mean_q"] == pytest.approx(f["mean"], abs=1e-4)
    assert f["variance_q"] == pytest.approx(f["variance"], abs=1e-4)
    assert f["third"] > 10
    assert f["third_q"] == 0
    assert f["fourth_q"] > f["fourth"] + 20


def test_t43(figures):
    f = figures("T43")
    for unit in ("whole", "hundredth"):
        assert f[f"off_{unit}"] < EXACT  # the divergence is the evidence less the bound on it
        assert f[f"right_{unit}"] < f[f"gain_{unit}"]
    assert f["printed_whole"] < f["gain_whole"]  # by luck of the unit
    assert f["printed_hundredth"] > f["gain_hundredth"] + 10
    assert f["right_hundredth"] == pytest.approx(f["right_whole"])
    assert f["gain_hundredth"] == pytest.approx(f["gain_whole"])


def test_t44(figures):
    f = figures("T44")
    assert f["zero"] == pytest.approx(1, abs=EXACT)
    assert f["rises"] == 0  # the rule of thumb does hold in the plain case
    assert f["slopes_ordered"] == 1
    assert f["above_zero"] < 0.5 * f["above_lowest"]  # 0 is not the smallest shift
    assert abs(f["tilting_zero"]) < EXACT
    assert f["tilting_half"] > 0.01  # more shift, more calibration
    assert 0 < f["tilting_many"] < 0.1 * f["tilting_half"]
    assert f["size_large"] > 5 * f["size_small"]  # the larger term calibrates less


def test_t45(figures):
    f = figures("T45")
    assert f["least_far"] >= 999  # not near zero
    assert f["spread_far"] < 0.001  # but nearly constant
    assert f["shift_far"] < 0.001
    assert f["most_tiny"] <= 0.001  # near zero
    assert f["shift_tiny"] == pytest.approx(1, abs=EXACT)  # and fully calibrated
    assert f["shift_tight"] == pytest.approx(1, abs=EXACT)
    assert f["spread_tiny"] == pytest.approx(f["spread_tight"])


def test_t46(figures):
    f = figures("T46")
    assert f["right"] == pytest.approx(f["truth"])
    assert f["printed"] < f["truth"] - 1
    assert f["at_zero_printed"] == pytest.approx(f["at_zero"])  # where the text uses it, the slip does no harm
    assert f["crossing"] == pytest.approx(f["inverse"])


@seeds
def test_t47(figures, seed):
    f = figures("T47", seed)
    for draws in (10, 100):
        assert f[f"z_naive_{draws}"] < -FAR
        assert abs(f[f"right_{draws}"]) < 0.5 * abs(f[f"naive_{draws}"])
    assert abs(f["z_right_100"]) < NEAR
    assert f["z_printed_100"] > FAR
    assert f["printed_100"] > 10 * abs(f["naive_100"])
    assert abs(f["printed_10"]) < abs(f["naive_10"])  # with few draws it does help
    assert f["limit"] > 0.3
    assert f["limit_narrow"] < 0.05 * abs(f["jensen_narrow"])  # and where the utility hardly varies


@seeds
def test_t48(figures, seed):
    f = figures("T48", seed)
    assert abs(f["z_naive"]) < NEAR
    assert abs(f["z_equation"]) > FAR  # Equation 4.6 is not the naive estimator
    assert abs(f["z_linear"]) < NEAR  # but the linear one


@seeds
def test_t49(figures, seed):
    f = figures("T49", seed)
    assert f["right"] == pytest.approx(f["exact"], abs=0.05)
    assert f["printed"] > f["exact"] + 0.5
    assert f["printed"] == pytest.approx(f["mean"], abs=EXACT)
    assert f["gain_right"] > 1.2 * f["gain_printed"]
    assert f["term_right"] > f["term_printed"] + 0.1


def test_t51(figures):
    f = figures("T51")
    assert f["mass"] == pytest.approx(1, abs=EXACT)
    assert f["variance"] == pytest.approx(1, abs=EXACT)  # as a density of tau it gives the variance its mean
    assert f["variance_printed"] == pytest.approx(2, abs=EXACT)
    assert f["half_right"] == pytest.approx(0.5, abs=EXACT)
    assert f["half"] < 0.2


def test_p01(figures):
    f = figures("P01")
    for data in ("continuous", "counts"):
        assert f[f"right_{data}"] < f[f"gain_{data}"]
    assert f["printed_continuous"] > f["gain_continuous"] + 10
    assert f["printed_counts"] < f["gain_counts"]  # probabilities of counts are at most 1: there it holds
    assert f["evidence_counts"] < 0


def test_p02(figures):
    f = figures("P02")
    assert f["mu_right"] == pytest.approx(4.4, abs=0.05)  # what fits of this model find
    assert f["sd_right"] == pytest.approx(3.3, abs=0.05)
    assert f["tau_right"] == pytest.approx(3.6, abs=0.05)
    assert f["mu_variance"] < 0.5 * f["mu_right"]
    assert f["sd_variance"] < 0.7 * f["sd_right"]


@seeds
def test_p03(figures, seed):
    f = figures("P03", seed)
    assert abs(f["z_theory"]) < NEAR
    assert f["infinite"] == f["negative"] > 0.1  # one such draw is enough
    assert f["infinite_right"] == 0
    assert abs(f["z_right"]) < NEAR
    assert f["mass"] == pytest.approx(1, abs=EXACT)
    assert f["mass_bare"] > 2  # no density of log tau without the Jacobian


@seeds
def test_p04(figures, seed):
    f = figures("P04", seed)
    assert f["refused"] == 1
    assert (f["rows"], f["columns"]) == (1000, 100)
    assert abs(f["z_sd"]) < NEAR
    assert abs(f["z_variance"]) > FAR
    assert f["sd_theory"] == pytest.approx(10 * f["variance_theory"])


@seeds
def test_p05(figures, seed):
    f = figures("P05", seed)
    assert f["term"] == pytest.approx(f["closed"], abs=EXACT)
    assert f["naive_1"] == pytest.approx(f["jensen_1"])  # with one draw they are the same
    assert f["z_naive_1"] < -FAR
    assert abs(f["z_naive_100"]) < NEAR
    for draws in (1, 10, 100):
        assert abs(f[f"z_own_{draws}"]) < NEAR  # unbiased, for another number
        assert f[f"z_jensen_{draws}"] < -FAR
    assert abs(f["naive_10"] - f["term"]) < 0.1 * abs(f["jensen_10"] - f["term"])


def test_p07(figures):
    f = figures("P07")
    assert f["bayes"] == pytest.approx(2, abs=1e-3)
    assert f["printed"] < f["bayes"] - 0.3
    assert f["excess"] > 0.05
    assert f["small"] == pytest.approx(f["bayes"], abs=1e-3)
    assert f["symmetric"] == pytest.approx(2, abs=1e-3)  # a symmetric predictive hides it, for squared loss
    assert abs(f["pinball"] - 2) < 0.5 * (f["quantile"] - 2)  # and not for a pinball loss
    assert f["pinball_small"] == pytest.approx(f["quantile"], abs=0.02)


def test_tr14(figures):
    f = figures("TR14")
    assert f["exact"] < f["gain"]
    assert f["linearised"] > f["gain"] + 0.1  # no bound any more: the warning is right
    assert f["below"] == 0
    assert f["crossing"] == pytest.approx(f["quantile"])
    assert f["at_crossing"] > 0.3  # the exponential itself is far from 0 there
    assert f["negative"] > 0.1  # without linearising, no logarithm


def test_tr15(figures):
    f = figures("TR15")
    assert f["off_printed"] < 1e-12
    assert f["off_no_constant"] > 0.1
    assert f["far"] < 1e-5
    assert f["far_shift"] < 1e-5
    assert f["zero_50"] == pytest.approx(f["zero_1"], abs=EXACT)
    assert f["one_50"] > 2 * f["one_1"]  # away from 0 the scale does matter


def test_tr16(figures):
    f = figures("TR16")
    assert f["risk"] == pytest.approx(3.04, abs=0.02)
    for level in (50, 70, 90, 95):
        assert f[f"saved_{level}"] > 0.005
    assert f["saved_70"] > f["saved_90"]
    assert f["bound_90"] > f["bound_70"] + 2
    assert abs(f["saved_far"]) < 2e-4  # a supremum instead: nothing is calibrated


@seeds
def test_pr2(figures, seed):
    f = figures("PR2", seed)
    assert f["z_bias"] < -FAR  # biased, as the paper says, and downwards
    assert abs(f["z_theory"]) < NEAR
    assert abs(f["z_linear"]) < NEAR
    assert abs(f["z_minus"]) > FAR
    assert f["z_outside"] < -FAR
