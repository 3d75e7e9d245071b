"""The capstone's stored run: its decisions against enumeration and quadrature, its flow against its inverse, and all of it in small."""

import importlib
import json
import shlex
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from course_pkg import data, posthoc

FOLDER = Path(__file__).parent.parent / "book" / "capstone" / "results"


@pytest.fixture
def houses(monkeypatch, tmp_path):
    """The script on made-up houses, writing elsewhere."""
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("houses")
    monkeypatch.setattr(module, "HERE", tmp_path)
    made_up = data.radon_simulated(jax.random.key(0))
    monkeypatch.setattr(module.data, "radon", lambda: made_up)
    yield module
    sys.modules.pop("houses", None)


def mean(f, m, s):
    """Of ``f(y)`` for a normal ``y``, by quadrature with the kinks of the regrets told."""
    kinks = [k for k in np.log([2.1, 4.1]) if abs(k - m) < 9 * s]
    return integrate.quad(lambda y: f(y) * stats.norm.pdf(y, m, s), m - 10 * s, m + 10 * s, points=kinks, limit=200)[0]


def test_regrets_are_costs_beside_hindsight(houses):
    activity = np.array([0.5, 1.9, 2.5, 3.999, 4.001, 7.0, 30.0])
    nothing, fan = 1000 * activity, 2000 + 1000 * np.minimum(activity, 2)
    least = np.minimum(nothing, fan)
    expected = np.stack([nothing - least, np.full(7, 150.0), fan - least])
    assert houses.regrets(np.log(activity + 0.1)) == pytest.approx(expected, abs=1e-8)


def test_a_decision_weighs_the_first_test(houses):
    """One house, normal before its test and so after it: expected regrets by quadrature."""
    m, s, first = 1.3, 0.7, 1.1
    y = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000, m, s)[:, None]
    action, expected = houses.decide(y, np.array([first]))
    trust = s**2 / (s**2 + houses.SHORT_SD**2)
    after = [mean(lambda v, a=a: houses.regrets(v)[a], m + trust * (first - m), s * np.sqrt(1 - trust)) for a in range(3)]
    assert action[0] == np.argmin(after)
    assert expected[0] == pytest.approx(min(after), rel=1e-3)


def test_a_second_box_is_worth_what_quadrature_says(houses):
    """One house, normal before the box: over its results by Gauss and Hermite, over the levels by quantiles."""
    m, s = 1.2, 0.6
    trust = s**2 / (s**2 + houses.SHORT_SD**2)
    nodes, weight = np.polynomial.hermite_e.hermegauss(61)
    z = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    told = [houses.regrets(m + s * np.sqrt(trust) * node + s * np.sqrt(1 - trust) * z).mean(axis=1).min() for node in nodes]
    exact = houses.regrets(m + s * z).mean(axis=1).min() - weight @ told / weight.sum()
    found = [houses.worth(m + s * np.random.default_rng(k).permutation(z)[:1000], np.random.default_rng(k), 400) for k in range(16)]
    assert abs(np.mean(found) - exact) < 4 * np.std(found, ddof=1) / 4 + 1  # fails once in 1,000 seeds
    assert exact > 10
    draws, read = z[:50, None], np.array([0.3])
    squared = houses.weights(draws, read) ** 2
    assert houses.weights(draws, read, read) == pytest.approx(squared / squared.sum())


def test_half_decisions_lie_between_whole_ones(houses):
    y = jnp.linspace(-2.0, 4.0, 61)
    whole = np.stack([houses.between(y, float(a)) for a in range(3)])
    assert 1000 * whole == pytest.approx(houses.regrets(y), rel=1e-4, abs=0.05)
    assert np.asarray(houses.between(y, 0.5)) == pytest.approx((whole[0] + whole[1]) / 2, rel=1e-5, abs=1e-6)
    assert np.asarray(houses.between(y, 1.5)) == pytest.approx((whole[1] + whole[2]) / 2, rel=1e-5, abs=1e-6)
    assert (houses.between(y, -0.5) > whole[0]).all()
    assert (houses.between(y, 2.5) > whole[2]).all()
    draws = jax.random.normal(jax.random.key(0), (40, 300)) + 1.3
    by_hand = np.asarray(houses.regrets(draws)).mean(axis=-1).argmin(axis=0)
    assert np.array_equal(houses.cheapest(draws, None), by_hand)


def test_the_term_is_the_expected_regret(houses):
    given = houses.split(0, 460)
    model = houses.model_of(given)
    theta = jnp.asarray(houses.start_at(model)).at[0].set(1.4).at[3:5].set(jnp.array([0.7, -0.6]))
    term = houses.regret_term(model, jnp.asarray(given.first), M=150.0)
    found = term.value((), theta[None], (), given.houses)
    m, s = (np.broadcast_to(np.asarray(part, float), len(given.first)) for part in model.reading.moments(theta, given.houses))
    trust = s**2 / (s**2 + houses.SHORT_SD**2)
    for n in (0, 200, 918):
        centre, spread = m[n] + trust[n] * (given.first[n] - m[n]), s[n] * np.sqrt(1 - trust[n])
        after = [mean(lambda v, a=a: houses.regrets(v)[a], centre, spread) for a in range(3)]
        assert -150 * np.asarray(found[n]) == pytest.approx(after, rel=2e-3, abs=0.1)


def test_the_flow_turns_back_and_knows_its_stretch(houses):
    flow = houses.coupling(k=2, hidden=3)
    start = flow.init(5)
    eps = jax.random.normal(jax.random.key(1), (5,))
    assert np.asarray(flow.transform(start, eps)) == pytest.approx(np.asarray(eps))
    assert float(flow.log_det(start, eps)) == 0
    leaves, tree = jax.tree.flatten(start)
    keys = jax.random.split(jax.random.key(2), len(leaves))
    lam = tree.unflatten([leaf + 0.5 * jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves, strict=True)])
    assert np.asarray(flow.standardize(lam, flow.transform(lam, eps))) == pytest.approx(np.asarray(eps), abs=1e-5)
    slope = jax.jacobian(lambda e: flow.transform(lam, e))(eps)
    assert float(flow.log_det(lam, eps)) == pytest.approx(float(jnp.linalg.slogdet(slope)[1]), abs=1e-5)
    assert abs(float(flow.log_det(lam, eps))) > 0.001  # so that a stretch left out shows


def kinds(content):
    """The keys of a nest, with lists cut to their first entry."""
    if isinstance(content, dict):
        return {key: kinds(part) for key, part in content.items()}
    return [kinds(content[0])] if isinstance(content, list) and content else type(content) is str


@pytest.mark.thorough
def test_in_small(houses, monkeypatch, tmp_path):
    """A few steps of the sampler and of the calibrated climb; the other engines' draws are made up, and so is a correction."""
    quick = {"STEPS": 20, "SAMPLES": 2, "DRAWS": 60, "WARMUP": 10, "CHAINS": 2, "TOLD": 30}
    for name, value in quick.items():
        monkeypatch.setattr(houses, name, value)
    monkeypatch.setattr(houses, "TRAINING", posthoc.Training(restarts=1, steps=20, folds=2))

    def made_up(seed, given):
        y = np.asarray(given.houses.y)
        return houses.Found(y.mean() + y.std() * np.random.default_rng(seed).normal(size=(60, len(y))), {"elbo": 0.0})

    real = {"NUTS", "loss-calibrated"}
    for name in set(houses.ENGINES) - real:
        about = {"r_hat": 1.0, "divergent": 0, "gradients": 1} if "NUTS" in name else {} if name.startswith("loss") else {"elbo": 0.0}
        monkeypatch.setitem(houses.ENGINES, name, lambda seed, given, about=about: made_up(seed, given)._replace(about=about))
    monkeypatch.setattr(sys, "argv", ["houses", "--seeds", "1"])
    houses.main()
    found = json.loads((tmp_path / "houses.json").read_text())
    stored = json.loads((FOLDER / "houses.json").read_text())
    assert kinds(found) == kinds(stored)
    assert shlex.split(found["made_by"])[2:] == ["--seeds", "1"]
    for survey in found["runs"][0].values():
        assert all(sum(told["shares"]) == pytest.approx(1, abs=1e-4) for told in survey.values())
        assert survey["long test everywhere"]["cost"] == 150
        assert survey["hindsight"]["cost"] == 0
        assert survey["NUTS"]["against_nuts"] == 0
    before = (tmp_path / "houses.json").read_text()
    houses.main()  # what is stored is not run again
    assert (tmp_path / "houses.json").read_text() == before
    del found["runs"][0]["460 houses"]["full rank"]
    (tmp_path / "houses.json").write_text(json.dumps(found))
    houses.main()  # but for what is missing, beside NUTS
    again = json.loads((tmp_path / "houses.json").read_text())
    assert list(again["runs"][0]["460 houses"]) == list(stored["runs"][0]["460 houses"])
    assert again["runs"][0]["460 houses"].pop("full rank")["cost"] == json.loads(before)["runs"][0]["460 houses"]["full rank"]["cost"]
    assert again["runs"] == found["runs"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mean-field", "full rank", "skewed", "flow", "NumPyro, AutoNormal", "PyMC, ADVI"])
def test_every_engine_draws_the_houses(houses, monkeypatch, name):
    monkeypatch.setattr(houses, "STEPS", 1500)
    monkeypatch.setattr(houses, "DRAWS", 400)
    given = houses.split(0, 460)
    with jax.numpy_rank_promotion("allow"):  # NumPyro's
        y = houses.ENGINES[name](0, given).y
    assert y.shape == (400, 919)
    off = np.asarray(given.houses.y)[~given.train] - y.mean(axis=0)[~given.train]
    assert abs(off.mean()) < 0.2
    assert off.std() < 1.1 * np.asarray(given.houses.y).std()
