"""Chapter 8, priors from refits: a mean's closed form, standard deviation not variance, resuming, threads and processes."""

from concurrent.futures import ProcessPoolExecutor

import jax
import numpy as np
import pandas as pd
import pytest

from course_pkg.posthoc import Refits, bootstrap_prior

RNG = np.random.default_rng(81)
HEIGHTS = RNG.normal(3.0, 0.2, size=50)
QUIET = {"progress": False}


def mean_everywhere(key, rows):
    return np.full(4, np.asarray(rows).mean())


def seed_of(key, rows):
    return np.array([float(jax.random.uniform(key)), np.mean(rows)])


def test_a_mean_moves_by_its_standard_error_not_by_the_square_of_it():
    L = 2000
    prior = bootstrap_prior(mean_everywhere, HEIGHTS, L, **QUIET)
    error = HEIGHTS.std() / np.sqrt(len(HEIGHTS))  # exact for the bootstrap
    assert prior.mean == pytest.approx(HEIGHTS.mean(), abs=4 * error / np.sqrt(L))
    assert np.asarray(prior.sd) == pytest.approx(error, rel=4 / np.sqrt(2 * L))  # erratum T55: the variance is 35 times smaller
    assert prior.replicates.shape == (L, 4)
    np.testing.assert_allclose(prior.sd, prior.replicates.std(axis=0, ddof=1), rtol=1e-5)


def test_constant_and_pointwise():
    def two_points(key, rows):
        return np.array([rows.mean(), 3 * rows.mean()])

    pointwise = bootstrap_prior(two_points, HEIGHTS, 20, **QUIET)
    constant = bootstrap_prior(two_points, HEIGHTS, 20, pointwise=False, **QUIET)
    assert float(pointwise.sd[1] / pointwise.sd[0]) == pytest.approx(3, rel=1e-4)
    np.testing.assert_allclose(constant.sd, np.sqrt((np.asarray(pointwise.sd) ** 2).mean()), rtol=1e-5)


def test_the_bar_says_what_runs(capsys):
    bootstrap_prior(mean_everywhere, HEIGHTS, 2)
    assert "bootstrap: 100%" in capsys.readouterr().err


def test_threads_processes_and_one_worker_agree():
    alone, threads = (bootstrap_prior(seed_of, HEIGHTS, 6, refits=Refits(workers=n), **QUIET) for n in (1, 3))
    np.testing.assert_array_equal(alone.replicates, threads.replicates)
    assert len(np.unique(alone.replicates[:, 0])) == 6  # every replicate has its own key


def _plain_mean(key, rows):
    return np.array([np.mean(rows), 0.0])


def test_processes_serve_too():
    import multiprocessing

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        other = bootstrap_prior(_plain_mean, HEIGHTS, 2, refits=Refits(executor=pool), floor=0.1, **QUIET)
    here = bootstrap_prior(_plain_mean, HEIGHTS, 2, floor=0.1, **QUIET)
    np.testing.assert_array_equal(other.replicates, here.replicates)


def test_an_interrupted_run_is_taken_up(tmp_path):
    calls = []

    def counted(key, rows):
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("the machine goes down")
        return mean_everywhere(key, rows)

    with pytest.raises(RuntimeError, match="goes down"):
        bootstrap_prior(counted, HEIGHTS, 6, refits=Refits(tmp_path), **QUIET)
    assert len(list(tmp_path.glob("replicate-*.npy"))) == 3
    calls += [1]  # so that it is never the fourth again
    before = len(calls)
    again = bootstrap_prior(counted, HEIGHTS, 6, refits=Refits(tmp_path), **QUIET)
    assert len(calls) == before + 3
    np.testing.assert_array_equal(again.replicates, bootstrap_prior(mean_everywhere, HEIGHTS, 6, **QUIET).replicates)
    more = bootstrap_prior(counted, HEIGHTS, 7, refits=Refits(tmp_path), **QUIET)
    np.testing.assert_array_equal(more.replicates[:6], again.replicates)
    for key, data in ((jax.random.key(1), HEIGHTS), (None, HEIGHTS + 1)):
        with pytest.raises(ValueError, match="another key or other data"):
            bootstrap_prior(counted, data, 6, refits=Refits(tmp_path), key=key, **QUIET)


def test_rows_stay_together_in_any_nest():
    frame = pd.DataFrame({"x": np.arange(50.0), "g": np.arange(50)})
    data = {"frame": frame, "rest": (np.arange(50), jax.numpy.arange(50.0))}

    def check(key, rows):
        x = rows["frame"].x.to_numpy()
        assert x.tolist() == rows["frame"].g.tolist() == rows["rest"][0].tolist() == rows["rest"][1].tolist()
        return np.array([x.mean()])

    assert bootstrap_prior(check, data, 3, **QUIET).replicates.shape == (3, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_bootstrap": 1}, "n_bootstrap is 1"),
        ({"data": (np.zeros(3), np.zeros(4))}, "different lengths"),
        ({"data": np.zeros(0)}, "data holds no rows"),
        ({"data": 3.0}, "data holds no rows"),
        ({"refit": lambda key, rows: np.ones(4)}, "the refits agree to the digit at 4 point"),
        ({"refit": lambda key, rows: np.array([np.nan])}, r"refit's decisions \(replicate \d\) holds nan"),
        ({"refit": lambda key, rows: rows[rows > np.median(rows[:25])]}, "decisions of shapes"),
        ({"floor": -1.0}, "floor holds -1"),
        ({"refits": Refits(workers=0)}, "workers is 0"),
        ({"refits": Refits(folder=3)}, "folder is 3"),
        ({"refits": Refits(executor="threads")}, "executor is 'threads'"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        bootstrap_prior(**({"refit": mean_everywhere, "data": HEIGHTS, "n_bootstrap": 3, "progress": False} | arguments))
