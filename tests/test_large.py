"""Minibatches from a file, runs that go on after they were killed, rows on many devices."""

import inspect
import itertools
import os
import signal
import socket
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from course_pkg import families, gradients, large, models
from course_pkg.fit import QUIET, NotFiniteError, Settings, fit
from course_pkg.gradients import Minibatch
from course_pkg.large import Checkpoint, fit_stream, minibatches, shard
from course_pkg.models import Reading

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)).astype(np.float32)
DATA = models.Rows(X, X @ np.array([1.0, -2.0], np.float32) + RNG.normal(size=60).astype(np.float32))
MODEL, FAMILY = models.linear_regression(2, 1.0, 3.0), families.mean_field_normal()
ESTIMATOR, ADAM = gradients.path_derivative(MODEL, FAMILY, 3), optax.adam(0.05)
KEY = jax.random.key(0)
CUT = QUIET._replace(judge=False)


def stream(steps, *, batches=None, settings=CUT, checkpoint=None, key=KEY, start=None, adam=ADAM, estimator=ESTIMATOR):
    batches = minibatches(jax.random.key(1), DATA, 10) if batches is None else batches
    return fit_stream(key, estimator, adam, FAMILY.init(2) if start is None else start, batches, steps, settings, checkpoint=checkpoint)


def same(one, other):
    return jax.tree.all(jax.tree.map(lambda a, b: bool((np.asarray(a) == np.asarray(b)).all()), one, other))


@pytest.mark.parametrize("neighbours", [True, False])
def test_the_mean_over_all_minibatches_is_the_full_gradient(neighbours):
    """By enumeration: every minibatch of a small table that there is comes, each as often as any other, and their mean is exact."""
    few, size, steps = models.Rows(DATA.x[:5], DATA.y[:5]), 2, 2000
    taken = [next(batches) for batches in [minibatches(KEY, few, size, neighbours=neighbours)(0)] for _ in range(steps)]
    kinds = {tuple(batch.index.tolist()): batch for batch in taken}
    assert len(kinds) == (5 if neighbours else 25)
    counts = [sum(tuple(batch.index.tolist()) == kind for batch in taken) for kind in kinds]
    assert stats.chisquare(counts).pvalue > 1e-3
    theta = jnp.array([0.3, -0.7])
    slope = jax.grad(lambda theta, rows, scale: models.log_joint(MODEL, theta, rows, scale))
    each = np.array([slope(theta, batch.rows, batch.scale) for batch in kinds.values()])
    assert np.allclose(each.mean(axis=0), slope(theta, few, 1.0), rtol=1e-5)
    assert each.std(axis=0).min() > 0.1  # a mean of equal parts would prove nothing


def test_reading_begins_anywhere_and_takes_what_it_is_asked_for_from_a_mapped_file(tmp_path):
    np.save(tmp_path / "x.npy", DATA.x)
    mapped = DATA._replace(x=np.load(tmp_path / "x.npy", mmap_mode="r"))
    for neighbours in (True, False):
        begin = minibatches(jax.random.key(3), mapped, 7, neighbours=neighbours)
        whole = list(itertools.islice(begin(0), 9))
        assert same(list(itertools.islice(begin(4), 5)), whole[4:])
        for batch in whole:
            assert np.array_equal(batch.rows.x, DATA.x[batch.index])
            assert np.array_equal(batch.rows.y, DATA.y[batch.index])
            assert batch.scale == pytest.approx(60 / 7)
        steps = np.diff([batch.index for batch in whole]) % 60
        assert (steps == 1).all() == neighbours
    assert not same(next(minibatches(jax.random.key(4), mapped, 7)(0)).index, next(minibatches(jax.random.key(3), mapped, 7)(0)).index)


def test_what_has_no_rows_goes_with_every_minibatch():
    data = {"y": np.arange(6.0), "uranium": np.ones(2)}
    batch = next(minibatches(KEY, data, 3, reading=Reading(rows=("y",)))(0))
    assert batch.rows["y"].shape == (3,)
    assert batch.rows["uranium"].shape == (2,)
    assert batch.scale == 2


def test_a_stream_of_whole_tables_is_a_fit():
    settings = Settings(average=0.5, progress=False)
    everything = itertools.repeat(Minibatch(DATA, np.arange(60), 1.0))
    streamed, fitted = stream(230, batches=everything, settings=settings), fit(KEY, ESTIMATOR, ADAM, FAMILY.init(2), DATA, 230, settings)
    assert np.allclose(streamed.objective, fitted.objective, rtol=1e-5)
    for one, other in ((streamed.lam, fitted.lam), (streamed.average, fitted.average)):
        assert np.allclose(one.mu, other.mu, atol=1e-5)
        assert np.allclose(one.log_sigma, other.log_sigma, atol=1e-5)
    assert streamed.converged == fitted.converged
    assert streamed.promised == pytest.approx(fitted.promised, abs=1e-4)


def test_a_run_that_was_stopped_goes_on_to_the_same_digits(tmp_path):
    begin = minibatches(jax.random.key(1), DATA, 10)
    settings = Settings(average=0.5, progress=False, judge=False)
    kept = Checkpoint(tmp_path / "run.npz", every=20)
    unbroken = stream(150, batches=begin, settings=settings, checkpoint=Checkpoint(tmp_path / "unbroken.npz", every=20))

    def broken(first):
        return itertools.chain(itertools.islice(begin(first), 70), (stop() for _ in [0]))

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream(150, batches=broken, settings=settings, checkpoint=kept)
    asked = []
    resumed = stream(150, batches=lambda first: asked.append(first) or begin(first), settings=settings, checkpoint=kept)
    assert asked == [39]  # two blocks of three were kept: the last minibatch that it had is looked at again
    assert same(tuple(resumed), tuple(unbroken))
    # an iterable is read again from its beginning, and a run that is done is read and not run
    assert same(tuple(stream(150, batches=list(itertools.islice(begin(0), 150)), settings=settings, checkpoint=kept)), tuple(unbroken))


KILLED = """
    import os, signal, sys
    from tests import test_large as test

    def begin(first):
        for number, batch in enumerate(test.minibatches(test.jax.random.key(1), test.DATA, 10)(first)):
            if number == 45:
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    test.stream(80, batches=begin, checkpoint=test.Checkpoint(sys.argv[1], every=20))
"""


def python(code, *arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.getcwd()} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_a_process_that_was_killed_goes_on_in_another_to_the_same_digits(tmp_path):
    kept = tmp_path / "run.npz"
    process = python(KILLED, kept)
    assert "Error" not in process.communicate(timeout=300)[1]
    assert process.returncode == -signal.SIGKILL
    assert large._read(kept)["done"] == 20
    resumed = stream(80, checkpoint=Checkpoint(kept, every=20))
    assert same(tuple(resumed), tuple(stream(80, checkpoint=Checkpoint(tmp_path / "unbroken.npz", every=20))))


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    kept = Checkpoint(tmp_path / "run.npz", every=10)
    stream(20, checkpoint=kept)
    for other in (
        {"key": jax.random.key(7)},
        {"start": FAMILY.init(2, scale=2.0)},
        {"settings": CUT._replace(average=0.5)},
        {"batches": minibatches(jax.random.key(1), DATA, 11)},
        {"adam": optax.sgd(0.01)},
        {"checkpoint": kept._replace(every=5)},
    ):
        with pytest.raises(ValueError, match="belongs to another run"):
            stream(20, **({"checkpoint": kept} | other))
    with pytest.raises(ValueError, match="belongs to another run"):
        stream(30, checkpoint=kept)
    with pytest.raises(ValueError, match="other minibatches"):
        stream(20, checkpoint=kept, batches=minibatches(jax.random.key(2), DATA, 10))
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="is none of a fit"):
        stream(20, checkpoint=Checkpoint(tmp_path / "broken.npz"))
    np.savez(tmp_path / "another.npz", x=1)
    with pytest.raises(ValueError, match="is none of a fit"):
        stream(20, checkpoint=Checkpoint(tmp_path / "another.npz"))


def test_states_with_random_keys_are_kept(tmp_path):
    """An estimator that draws from a key in its state goes on with that key."""

    def estimate(noise, lam, state, data):
        state, key = jax.random.split(state)
        slope = -lam + jax.random.normal(key, lam.shape)
        return gradients.Estimate(-0.5 * (lam**2).sum(), slope, slope[None]), state

    wandering = gradients.Estimator(lambda key, lam, data: key, lambda key, lam, data: jnp.zeros(()), estimate)
    options = {"estimator": wandering, "adam": optax.sgd(0.1), "start": jnp.ones(3)}
    unbroken = stream(40, checkpoint=Checkpoint(tmp_path / "one.npz", every=10), **options)

    def short(first):
        return itertools.islice(minibatches(jax.random.key(1), DATA, 10)(first), 25)

    with pytest.raises(ValueError, match="batches ended after 25"):
        stream(40, checkpoint=Checkpoint(tmp_path / "two.npz", every=10), batches=short, **options)
    resumed = stream(40, checkpoint=Checkpoint(tmp_path / "two.npz", every=10), **options)
    assert same((resumed.lam, resumed.objective), (unbroken.lam, unbroken.objective))
    assert jnp.issubdtype(resumed.state.dtype, jax.dtypes.prng_key)


def test_a_gradient_that_is_not_finite_is_found_in_its_minibatch():
    begin = minibatches(jax.random.key(1), DATA, 10)

    def sick(first):
        for number, batch in enumerate(begin(first)):
            bad = batch.rows._replace(y=batch.rows.y * np.float32(np.inf if number == 37 else 1.0))
            yield batch._replace(rows=bad)

    with pytest.raises(NotFiniteError, match="at step 37") as caught:
        stream(60, batches=sick)
    assert len(caught.value.fit.objective) == 37
    assert caught.value.fit.state == ()


PLAIN, PLAIN_BATCHES, PLAIN_SHARD = (inspect.unwrap(f) for f in (fit_stream, minibatches, shard))


def test_refusals():
    start = FAMILY.init(2)
    mixed = [Minibatch(jax.tree.map(lambda a, n=n: a[:n], DATA), np.arange(n), 1.0) for n in (5, 6)]
    for words, batches, settings in (
        ("tolerance is 0.1", mixed, Settings(tolerance=0.1)),
        ("batches is 3", 3, QUIET),
        ("batches ended after 0", [], QUIET),
        ("batches holds Rows", [DATA, DATA], QUIET),
        ("batches holds .* beside", [mixed[0], *mixed], QUIET),
    ):
        with pytest.raises(ValueError, match=words):
            PLAIN(KEY, ESTIMATOR, ADAM, start, batches, 3, settings)
    with pytest.raises(ValueError, match="lam holds no number"):
        PLAIN(KEY, ESTIMATOR, ADAM, jnp.zeros(0), mixed, 3)
    with pytest.raises(ValueError, match="size is 61"):
        PLAIN_BATCHES(KEY, DATA, 61, neighbours=True)
    with pytest.raises(ValueError, match="one axis"):
        PLAIN_SHARD(DATA, jax.make_mesh((1, 1), ("a", "b")))


ON_MANY = """
    import sys
    import jax

    if len(sys.argv) > 1:
        port, number = sys.argv[1:]
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=int(number))
    from tests import test_large as test
    from course_pkg import decisions, lcvi

    mesh = jax.make_mesh((jax.device_count(),), ("rows",))
    data = test.models.Rows(test.DATA.x[:56], test.DATA.y[:56])
    parted = test.shard(data, mesh)
    assert len(parted.x.sharding.device_set) == jax.device_count() > 1
    run = test.fit(test.KEY, test.ESTIMATOR, test.ADAM, test.FAMILY.init(2), parted, 100, test.CUT)
    alone = test.fit(test.KEY, test.ESTIMATOR, test.ADAM, test.FAMILY.init(2), jax.tree.map(jax.numpy.asarray, data), 100, test.CUT)
    for one, other in zip(run.lam, alone.lam, strict=True):
        assert test.np.allclose(one, other, atol=1e-5), (one, other)
    assert test.np.allclose(run.objective, alone.objective, rtol=1e-5)
    if jax.process_count() == 1:
        options = {"objective": lcvi.Objective(predictive_draws=50)}
        options["optimisation"] = lcvi.Optimisation(steps=100, rate=0.05, samples=3, utility_samples=3, progress=False)
        loss = decisions.tilted(0.2)
        one, other = (lcvi.calibrate(test.KEY, test.MODEL, rows, loss, **options) for rows in (parted, data))
        assert test.np.allclose(one.calibrated.decisions, other.calibrated.decisions, atol=1e-4)
        assert abs(one.calibrated.risk - other.calibrated.risk) < 1e-4 * other.calibrated.risk
    try:
        test.shard(test.DATA, mesh) if jax.device_count() == 8 else None
    except ValueError as refused:
        assert "60 rows for 8 devices; leave out 4" in str(refused)
    print("the same")
"""


@pytest.mark.thorough
def test_rows_on_eight_devices_give_the_same_result():
    process = python(ON_MANY, XLA_FLAGS="--xla_force_host_platform_device_count=8")
    said, problems = process.communicate(timeout=300)
    assert said.strip() == "the same", problems


@pytest.mark.thorough
def test_rows_on_two_processes_give_the_same_result():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # PyMC, where another test has imported it, asks for a hundred devices
    processes = [python(ON_MANY, port, number, XLA_FLAGS="") for number in range(2)]
    for process in processes:
        said, problems = process.communicate(timeout=300)
        assert said.splitlines()[-1:] == ["the same"], problems  # before it, what the sockets say of themselves
