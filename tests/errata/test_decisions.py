"""Chapter on decisions: for each item the printed form fails and the mended one passes, or the other way round.

A simulated right form has to lie within ``NEAR`` standard errors. There are 11 such checks at 5 seeds, each with a
false-alarm rate of 6e-7: below 4e-5 for all of them together. A wrong form has to miss by more than ``FAR``.
"""

import pytest

NEAR, FAR = 5.0, 10.0
seeds = pytest.mark.parametrize("seed", range(5))


@seeds
def test_t01(figures, seed):
    f = figures("T01", seed)
    assert abs(f["z_right"]) < NEAR
    assert abs(f["z_printed"]) > FAR
    assert f["impossible"] > 0.9
    assert f["enumerated_right"] < 1e-12
    assert f["enumerated_printed"] > 0.1


def test_t02(figures):
    f = figures("T02")
    assert f["says_right"] == 0  # "lupus", at a belief of 0.9
    assert f["says_printed"] == 1
    assert f["cost_printed"] > 100 * f["cost_right"]
    assert f["reversed"] == 1
    assert f["gain_agrees"] == 1  # the printed numbers are right as utilities
    assert f["theory"] <= f["switch"] <= f["theory"] + 1e-4  # the grid of beliefs has steps of 1e-4


def test_t14(figures):
    f = figures("T14")
    assert f["kl"] > 0.8  # far from the posterior, and yet
    assert f["squared_q"] == pytest.approx(f["squared_p"], abs=1e-5)
    assert f["tilted_q"] - f["tilted_p"] > 0.4
    assert f["regret"] > 0.1


@seeds
def test_t16(figures, seed):
    f = figures("T16", seed)
    assert abs(f["z_plain_risk"]) > FAR  # the printed average is not unbiased for the risk
    assert abs(f["z_plain_scaled"]) < NEAR  # but for the evidence times the risk
    assert abs(f["z_bias"]) > FAR  # nor is the self-normalised one unbiased
    assert abs(f["bias_longer"]) < abs(f["bias"]) / 3  # its bias falls as one over the draws
    assert abs(f["z_theory_longer"]) < NEAR


@seeds
def test_t17(figures, seed):
    f = figures("T17", seed)
    assert f["posterior_draws"] == 200
    assert f["predictive_draws"] == 600
    assert abs(f["z_right"]) < NEAR
    assert abs(f["z_printed"]) > FAR


@seeds
def test_t50(figures, seed):
    f = figures("T50", seed)
    for n in (5, 51, 501):
        assert f[f"off_{n}"] < 1e-6  # a jump of 2/N at every data point, where smooth means none
        assert f[f"jump_{n}"] > 1.99 / n
        assert f[f"between_{n}"] < 1e-6
        assert f[f"excess_{n}"] <= 1e-12  # the kink in the middle is a best decision
    assert f["expectation"] < 1e-3  # under a density the slope does not jump


def test_p06(figures):
    f = figures("P06")
    assert f["bars"] == pytest.approx(f["median"], abs=1e-3)
    assert f["tilted_bars"] == pytest.approx(f["quantile"], abs=1e-3)
    assert f["no_bars"] == pytest.approx(-50, abs=1e-3)  # the edge of the search
    assert f["tilted_no_bars"] == pytest.approx(0, abs=1e-3)  # again an edge


def test_n01(figures):
    f = figures("N01")
    assert f["printed"] == f["edge"]
    assert f["printed_falls"] == 0
    assert f["right"] == pytest.approx(f["level"], abs=1e-3)
    assert f["density_low"] == pytest.approx(0.1, abs=1e-4)
    assert f["density_high"] == pytest.approx(0.1, abs=1e-4)


def test_n02(figures):
    f = figures("N02")
    assert (f["rewards"], f["lowest"], f["highest"]) == (3, -1, 1)
    assert f["more_probable"] == 1
    assert f["inside"] < 0.5


def test_n14(figures):
    f = figures("N14")
    assert f["z1"] / f["z2"] == pytest.approx(4)
    assert f["own1"] == pytest.approx(f["closed"])
    assert f["own2"] == pytest.approx(f["closed"])
    assert f["common1"] / f["common2"] == pytest.approx(4)


@seeds
def test_tr5(figures, seed):
    f = figures("TR5", seed)
    assert abs(f["z_quotient"]) < NEAR
    assert abs(f["z_snis"]) < NEAR
    assert abs(f["z_target_only"]) > FAR
    assert abs(f["z_divided"]) > FAR


def test_tr6(figures):
    f = figures("TR6")
    assert f["affine"] < 1e-6
    assert f["utility"] < 1e-6
    assert f["lowest_utility"] >= 0
    assert f["monotone"] - f["base"] > 0.05
    assert f["negative"] == pytest.approx(f["largest"], abs=1e-3)  # the edge of the search


def test_tr13(figures):
    f = figures("TR13")
    for loss in ("squared", "linex", "absolute", "tilted", "imbalanced"):
        assert f[loss] == pytest.approx(f[f"{loss}_rule"], abs=1e-3)
    assert abs(f["tilted"] - f["tilted_swapped"]) > 1
    assert abs(f["imbalanced"] - f["imbalanced_swapped"]) > 1
    assert abs(f["tilted"] - f["tilted_hundredth"]) > 0.5


def test_tr17(figures):
    f = figures("TR17")
    assert f["price_over"] == pytest.approx(0.8)
    assert f["price_under"] == pytest.approx(0.2)
    assert f["decision"] == pytest.approx(f["quantile"], abs=1e-3)
    assert f["over"] == pytest.approx(0.2, abs=1e-3)
    assert f["over_swapped"] > 0.75


def test_pr1(figures):
    f = figures("PR1")
    assert f["better"] == pytest.approx(0.05)
    assert f["worse"] < 0 < f["better"] < f["halved"] < f["nearly_perfect"] < 1
    assert f["rescaled"] == pytest.approx(f["better"])
    assert abs(f["shifted"] - f["better"]) > 0.01  # the caveat that the item prints
    assert f["nearly_perfect_tempting"] > 100  # no scale with a perfect end
    assert f["halved_tempting"] == pytest.approx(1)  # "all of it saved", where half was


@seeds
def test_nr6(figures, seed):
    f = figures("NR6", seed)
    for k in (2, 3, 6):
        assert abs(f[f"z_fixed_{k}"]) < NEAR
        assert abs(f[f"z_corrected_{k}"]) > FAR
    assert f["with_product"] == pytest.approx(1, abs=1e-6)
    assert f["without"] > 50
