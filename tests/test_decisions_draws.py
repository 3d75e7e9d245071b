"""Whole numbers, masks and the order of axes at the door: the same answer from every container, or a refusal that says what to do."""

import arviz as az
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
import xarray as xr

from course_pkg import decisions as d
from course_pkg import lcvi, posthoc

RNG = np.random.default_rng(7)
CHAINS = RNG.gamma(2.0, size=(3, 20, 5))  # chain, draw, point
WEIGHTS = RNG.random((3, 20))
H = RNG.normal(size=5)
FLAT = CHAINS.reshape(60, 5).T  # (point, draw)
TREE = az.from_dict({"posterior_predictive": {"y": CHAINS}})
NAMED = TREE["posterior_predictive"]["y"]


@pytest.fixture
def no_type_hook():
    """As a reader runs the package: without the types that the tests enforce."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


# --- whole numbers -----------------------------------------------------------------------------------------------

BIG = {
    "list beyond 32 bits": ([3_000_000_000, 3_000_000_002], 3_000_000_001),
    "int32": (np.array([60_000, 60_004], np.int32), 60_002),
    "int8": (np.array([100, 120, 127], np.int8), 115.6666667),
    "uint8": (np.array([3, 255], np.uint8), 129),
    "bool": (np.array([True, False, True, True]), 0.75),
    "float16": (np.array([60_000, 60_032], np.float16), 60_016),
    "bfloat16": (jnp.array([1.0, 2.0], jnp.bfloat16), 1.5),
    "jax int32": (jnp.array([60_000, 60_004]), 60_002),
}


@pytest.mark.parametrize(("draws", "mean"), BIG.values(), ids=BIG)
def test_whole_numbers_and_half_floats_count_as_what_they_are(draws, mean):
    assert float(d.bayes_decision(d.squared(), draws)) == pytest.approx(mean, rel=1e-6)
    as_floats = np.asarray(draws, float)
    assert float(d.risk(d.squared(), draws, 0)) == pytest.approx((as_floats**2).mean(), rel=1e-6)
    assert float(d.empirical_risk(d.squared(), draws, 0)) == pytest.approx((as_floats**2).mean(), rel=1e-6)


def test_whole_numbers_inside_jit_do_not_overflow():
    found = jax.jit(lambda y: d.risk(d.squared(), y, 0))(jnp.array([60_000, 60_004]))
    assert float(found) == pytest.approx((60_000**2 + 60_004**2) / 2, rel=1e-6)


def test_labels_stay_labels():
    chosen = d.bayes_action(d.squared(), [1, 1, 9], np.array([0, 4, 2**24 + 1]))
    assert jnp.issubdtype(chosen.dtype, jnp.integer)
    assert int(chosen) == 4
    assert int(d.bayes_action(lambda y, h: -h, [1.0], [0, 2**24 + 1])) == 2**24 + 1  # a whole number that single precision does not have
    assert jnp.issubdtype(d.bayes_decision(d.zero_one(3), np.array([2, 0, 2], np.int8)).dtype, jnp.integer)
    grouped = d.paired_reduction(jax.random.key(0), [1, 2, 3, 4], [1, 1, 2, 2], groups=np.array([7, 7, 2**40, 2**40 + 1]))
    assert grouped.value == pytest.approx(0.4)


def test_a_level_of_single_precision_means_its_decimals(no_type_hook):
    ten = np.arange(10.0)
    for k in range(1, 10):
        q = np.float32(k / 10)
        assert float(d.bayes_decision(d.tilted(q), ten)) == float(d.bayes_decision(d.tilted(jnp.asarray(k / 10)), ten)) == k - 1
        assert float(d.quantile(ten, q=q)) == float(jax.jit(lambda level: d.quantile(ten, q=level))(q)) == k - 1


# --- masks -------------------------------------------------------------------------------------------------------


def test_a_mask_is_refused_and_one_that_hides_nothing_is_not(no_type_hook):
    hides = np.ma.array([1.0, 2.0, 999.0], mask=[False, False, True])
    for bad in (hides, [hides, hides], list(hides)):
        with pytest.raises(ValueError, match=r"draws is a masked array.*compressed"):
            d.bayes_decision(d.squared(), bad)
    with pytest.raises(ValueError, match="q is a masked array"):
        d.tilted(np.ma.masked)
    assert float(d.bayes_decision(d.squared(), np.ma.array([1.0, 2.0]))) == 1.5


# --- axes --------------------------------------------------------------------------------------------------------

CONTAINERS = {
    "points first": (FLAT, {}),
    "DataTree": (TREE, {}),
    "group": (TREE["posterior_predictive"], {}),
    "Dataset": (TREE["posterior_predictive"].to_dataset(), {}),
    "DataArray": (NAMED, {}),
    "DataArray in another order": (NAMED.transpose("draw", "y_dim_0", "chain"), {}),
    "sample": (xr.DataArray(FLAT.T, dims=("sample", "point")), {}),
    "Predictive": ({"y": jnp.asarray(FLAT.T)}, {}),
    "Predictive by chain": ({"y": CHAINS}, {"axis": (0, 1)}),
    "draws first": (FLAT.T, {"axis": 0}),
    "chain, draw": (CHAINS, {"axis": (0, 1)}),
    "from the end": (CHAINS, {"axis": (-3, -2)}),
    "no known names": (xr.DataArray(FLAT.T, dims=("s", "n")), {"axis": 0}),
}


@pytest.mark.parametrize(("given", "where"), CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_the_same_decisions_risks_and_actions(given, where):
    loss, actions = d.tilted(0.3), np.array([0.5, 1.0, 2.0])
    decisions = d.bayes_decision(loss, given, **where)
    assert np.allclose(decisions, np.quantile(CHAINS.reshape(60, 5), 0.3, axis=0, method="inverted_cdf"), rtol=1e-6)
    costs = np.asarray(loss(CHAINS, H[None, None]))
    assert np.allclose(d.risk(loss, given, H, **where), costs.mean((0, 1)), rtol=1e-5)
    assert np.allclose(d.gain(loss, given, H, **where), costs.mean((0, 1)), rtol=1e-5)
    each = np.stack([np.asarray(loss(CHAINS, a)).mean((0, 1)) for a in actions])
    assert np.allclose(d.bayes_action(loss, given, actions, **where), actions[each.argmin(0)])
    assert np.allclose(posthoc.predictive_draws(given, **where), FLAT, rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "weights", "where"),
    [
        (CHAINS, WEIGHTS, {"axis": (0, 1)}),
        (CHAINS, WEIGHTS.ravel(), {"axis": (0, 1)}),
        (CHAINS, WEIGHTS[..., None] * np.ones(5), {"axis": (0, 1)}),
        (FLAT.T, WEIGHTS.reshape(60, 1) * np.ones(5), {"axis": 0}),
        ({"y": FLAT.T}, WEIGHTS.ravel(), {}),
        (NAMED.transpose("draw", "y_dim_0", "chain"), xr.DataArray(WEIGHTS.T, dims=("draw", "chain")), {}),
        (TREE, WEIGHTS.ravel(), {}),
    ],
    ids=["chain and draw", "in one row", "a weight for each number", "draws first", "Predictive", "named", "DataTree"],
)
def test_weights_go_where_their_draws_go(given, weights, where):
    theirs = np.average(CHAINS, weights=np.broadcast_to(WEIGHTS[..., None], CHAINS.shape), axis=(0, 1))
    assert np.allclose(d.bayes_decision(d.squared(), given, weights, **where), theirs, rtol=1e-5)


def test_weights_go_where_their_draws_go_in_any_order_of_axes():
    draws, weights = np.array([[0.0, 1, 2], [10, 11, 12]]), np.array([[0.0, 0, 0], [1, 0, 0]])
    assert float(d.bayes_decision(d.squared(), draws, weights, axis=(0, 1))) == 10
    assert float(d.bayes_decision(d.squared(), draws, weights, axis=(1, 0))) == 10
    named, turned = (xr.DataArray(a.T, dims=("draw", "chain")) for a in (draws, weights))
    for given in (turned, turned.T, turned.values):
        assert float(d.bayes_decision(d.squared(), named, given)) == 10


def test_large_whole_actions_do_not_wrap():
    assert float(d.bayes_action(d.squared(), np.array([2.9e9, 3.1e9]), np.array([3_000_000_000, 1]))) == 3e9


def test_p_risk_reads_chains():
    one = CHAINS[..., 0]
    theirs = d.p_risk(d.squared(), one.ravel(), H, np.log(WEIGHTS).ravel())
    for draws, log_weights, where in (
        (one, np.log(WEIGHTS), {"axis": (0, 1)}),
        (NAMED[..., 0].T, xr.DataArray(np.log(WEIGHTS), dims=("chain", "draw")), {}),
    ):
        assert np.allclose(d.p_risk(d.squared(), draws, H, log_weights, **where).value, theirs.value, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: d.risk(d.squared(), FLAT.T, H), r"h has shape \(5,\).*axis=0"),
        (lambda: d.risk(d.squared(), CHAINS, H), r"h has shape \(5,\).*axis=\(0, 1\)"),
        (lambda: d.bayes_decision(d.squared(), FLAT.T, WEIGHTS.ravel()), r"weights has shape \(60,\).*axis=0"),
        (lambda: d.bayes_decision(d.squared(), CHAINS, WEIGHTS), r"weights has shape \(3, 20\).*axis=\(0, 1\)"),
        (lambda: d.risk(d.squared(), FLAT, np.ones(4)), r"h has shape \(4,\); give shape \(5,\), one decision for each row of draws$"),
        (lambda: d.risk(d.squared(), CHAINS, H, axis=3), "axis is 3 and draws has 3 dimension"),
        (lambda: d.risk(d.squared(), CHAINS, H, axis=(0, -3)), r"axis is \(0, -3\)"),
        (lambda: d.risk(d.squared(), CHAINS, H, axis=()), r"axis is \(\)"),
        (lambda: d.risk(d.squared(), CHAINS, H, axis=True), "axis is True"),
        (lambda: d.risk(d.squared(), NAMED, H, axis=-1), r"axis is -1 and the dimensions of draws have names \('chain', 'draw'"),
        (lambda: d.risk(d.squared(), xr.DataArray(FLAT.T, dims=("s", "n")), H), "draws has the dimensions"),
        (lambda: d.bayes_decision(d.squared(), {"y": FLAT.T, "z": FLAT.T}), r"draws holds 2 variables \(y, z\)"),
        (lambda: d.bayes_decision(d.squared(), {}), "draws holds 0 variables"),
        (lambda: d.bayes_decision(d.squared(), TREE["posterior_predictive"].assign(z=NAMED)), r"draws holds 2 variables \(y, z\)"),
        (lambda: d.bayes_decision(d.squared(), az.from_dict({"posterior": {"y": CHAINS}})), "draws has no group 'posterior_predictive'"),
        (lambda: posthoc.correct(FLAT.T, H, d.squared()), r"draws come first: give axis=0 \(to correct, options=Options\(axis=0\)\)"),
        (lambda: posthoc.single_quantile(CHAINS, H, d.squared()), r"draws come first: give axis=\(0, 1\)"),
        (lambda: posthoc.predictive_draws({"y": FLAT.T, "z": FLAT.T}), r"predictive holds 2 variables \(y, z\); name one"),
    ],
)
def test_what_does_not_fit_is_told_which_axis_would(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("size", [30, 40], ids=["fewer draws than points", "as many"])
def test_a_correction_reads_an_array_by_the_axis_of_its_draws(size):
    y, draws = RNG.normal(size=40), RNG.normal(size=(size, 40))
    settings = {"train": np.arange(40) % 2 == 0, "nu": 1.0, "training": posthoc.Training((), restarts=1, steps=20)}
    ways = [({"y": draws}, None), (draws, 0), (draws.T, -1), (draws[:, None], (0, 1))]
    with pytest.warns(posthoc.CorrectionWarning):
        found = [posthoc.correct(given, y, d.squared(), options=posthoc.Options(axis=axis), **settings) for given, axis in ways]
    for (given, _), one in zip(ways, found, strict=True):
        assert np.array_equal(one.decisions, found[0].decisions)
        assert np.array_equal(posthoc.decide(one, given), one.decisions)
        assert np.allclose(posthoc.decide(one, {"y": draws[:, :7]}), one.decisions[:7], atol=1e-5)  # names go before the array's axis


def test_as_many_draws_as_points_are_read_one_way_only_if_the_reader_says_which():
    y, draws = RNG.normal(size=12), RNG.normal(size=(12, 12))
    for read in (posthoc.correct, posthoc.single_quantile):
        with pytest.raises(ValueError, match=r"as many draws as points, .* give axis=-1 .* draws come last, axis=0 .* if they come first"):
            read(draws, y, d.squared())
    levels = [posthoc.single_quantile(draws if axis else draws.T, y, d.squared(), axis=axis).level for axis in (-1, 0)]
    assert levels[0] == levels[1] == posthoc.single_quantile({"y": draws.T}, y, d.squared()).level


# --- losses of one's own -----------------------------------------------------------------------------------------


UNTRACED = {
    "NumPy": lambda y, h: np.abs(y - h),
    "if": lambda y, h: (y - h) if y > h else (h - y),
    "one argument": lambda y: y,
    "list": lambda y, h: [1.0, 2.0][h],
}
KEY, POINTS = jax.random.key(0), np.linspace(-1.0, 1.0, 6)
COMPILED = {
    "decision": lambda loss: d.bayes_decision(loss, [0.0, 1.0]),
    "risk": lambda loss: d.risk(loss, [0.0, 1.0], [0.0, 1.0]),
    "maker": lambda loss: posthoc.fit_decision_maker(POINTS[:, None], POINTS, loss, training=posthoc.Training((), restarts=1, steps=3)),
    "amortise": lambda loss: lcvi.amortise(
        KEY, lambda key, x, draws: jax.random.normal(key, (draws, len(x))), POINTS[:, None], loss, training=lcvi.NetworkTraining(steps=2)
    ),
}
AT_ONCE = {  # a loss of NumPy's is as good there
    "objective": lambda loss: posthoc.objective(loss, POINTS, POINTS + 1),
    "belief": lambda loss: posthoc.coherent_update(posthoc.belief_on_grid(POINTS, -(POINTS**2)), loss, POINTS).log_density,
}


@pytest.mark.parametrize(
    ("use", "loss"), [(use, loss) for use in COMPILED | AT_ONCE for loss in UNTRACED if use in COMPILED or loss != "NumPy"]
)
def test_a_loss_that_jax_cannot_trace_is_told_so(use, loss):
    words = r"fails on JAX's arrays .* write it with jax.numpy" if loss != "one argument" else "does not take a truth and a decision"
    with pytest.raises(ValueError, match=f"loss .* {words}"):
        (COMPILED | AT_ONCE)[use](UNTRACED[loss])


@pytest.mark.parametrize("use", AT_ONCE)
def test_a_loss_in_numpy_is_taken_where_nothing_is_compiled(use):
    assert np.allclose(AT_ONCE[use](UNTRACED["NumPy"]), AT_ONCE[use](d.absolute()))


def test_a_loss_without_a_finite_expectation_is_no_decision():
    nowhere = d.Loss("nowhere", lambda y, h: jnp.log(-1 - (y - h) ** 2))
    for call in (
        lambda: d.bayes_decision(nowhere, [0.0, 1.0]),
        lambda: d.bayes_decision(nowhere._replace(convex=True), [0.0, 1.0]),
        lambda: d.risk(nowhere, [0.0, 1.0], 0.5),
        lambda: d.empirical_risk(nowhere, [0.0, 1.0], 0.5),
        lambda: d.p_risk(nowhere, [0.0, 1.0], 0.5, [0.0, 0.0]),
    ):
        with pytest.raises(ValueError, match="loss nowhere"):
            call()


def test_quantile_refuses_a_level_that_is_none():
    for q in (np.nan, -0.1, 1.1, None):
        with pytest.raises(ValueError, match="q is"):
            d.quantile([1.0, 2.0], q=q)
