"""Stored results: who reads them, which command makes them; and every script that makes one, run in small.

A small version has few steps, few rows and made-up data where a table would be needed, and writes into a folder of its own. It has the keys
of the stored file and finite numbers. Where a stored figure can be had again in a second, it is compared.
"""

import copy
import functools
import importlib
import json
import math
import re
import shlex
import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import is_gradients as does_it_pay
from course_pkg import data, models, posthoc
from course_pkg.lcvi import factors, published
from tools import lcvi_controls, lcvi_results

ROOT = Path(__file__).parent.parent
BOOK = ROOT / "book"
STORED = sorted(BOOK.glob("*/results/*.json"))
SCRIPTS = sorted(BOOK.glob("*/results/*.py"))
HELPERS = {"stored", "lastfm_vi"}  # they write nothing of their own
FAST = "FAST_COMPILE"  # PyTensor's own interpreter: no compiler is asked for
THEIRS = {"published", "published_sweep"}  # figures of the authors
EXISTING = [*SCRIPTS, Path(lcvi_results.__file__), Path(lcvi_controls.__file__)]


def by_name(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def strictly(text):
    """JSON without NaN or infinity, which other readers do not know."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def stored(chapter, name):
    return strictly((BOOK / chapter / "results" / f"{name}.json").read_text("utf8"))


def numbers(content):
    """All numbers of a nest of dictionaries and lists."""
    if isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from numbers(part)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield content


def same_keys(small, large, fewer=(), at=""):
    """The same keys at every depth, and lists of the same kind of thing; at the places ``fewer``, some of the stored keys suffice."""
    if isinstance(large, dict):
        assert isinstance(small, dict), at
        if any(re.fullmatch(place, at) for place in fewer):
            assert set() < small.keys() <= large.keys(), (at, small.keys() ^ large.keys())
        else:
            assert small.keys() == large.keys(), (at, small.keys() ^ large.keys())
        for key, part in small.items():
            same_keys(part, large[key], fewer, f"{at}/{key}")
    elif isinstance(large, list):
        assert isinstance(small, list), at
        assert bool(small) == bool(large), at
        if large:
            same_keys(small[0], large[0], fewer, at)
    elif isinstance(large, bool | str):
        assert isinstance(small, type(large)), at
    else:  # a number, or none where there is too little to tell
        assert small is None or isinstance(small, int | float), at


def like(small, chapter, name, fewer=()):
    """A small version beside the stored one."""
    same_keys(small, stored(chapter, name), fewer)
    assert all(map(math.isfinite, numbers(small)))
    return small


@pytest.fixture(autouse=True)
def _nothing_stored_is_written(monkeypatch):
    """All scripts write with ``write_text``; a test that lets one write into the book fails before it does."""
    write_text = Path.write_text

    def elsewhere(path, *arguments, **settings):
        assert not path.resolve().is_relative_to(BOOK.resolve()), path
        return write_text(path, *arguments, **settings)

    monkeypatch.setattr(Path, "write_text", elsewhere)


@pytest.fixture(autouse=True)
def _settings_stay_as_they_are():
    """Scripts ask for double precision for themselves."""
    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Import a script by its path; what it writes goes to a folder of the test's own."""
    own = {path.stem for path in SCRIPTS}
    for name in own:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)

    def load(chapter, name):
        monkeypatch.syspath_prepend(BOOK / chapter / "results")
        module = importlib.import_module(name)
        monkeypatch.setattr(module, "__file__", str(tmp_path / f"{name}.py"))
        for one in {module, sys.modules.get("stored")} - {None}:
            if hasattr(one, "HERE"):
                monkeypatch.setattr(one, "HERE", tmp_path)
        return module

    yield load
    for name in own:
        sys.modules.pop(name, None)


def commands_of(content):
    """The calls that a stored result names, in their order."""
    return (content.get("made_by") or content["command"]).split("; ")


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a script's ``main`` with arguments, and read what it wrote."""

    def call(module, *arguments, writes=None):
        monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
        module.main()
        found = strictly((tmp_path / f"{writes or module.__name__}.json").read_text("utf8"))
        assert shlex.split(commands_of(found)[-1])[2:] == list(arguments)
        return found

    return call


@functools.cache
def few_listeners(rows=124, columns=12):
    """A corner of the made-up table of plays."""
    table = data.lastfm_simulated(jax.random.key(0)).table
    return data.Listening(models.TableRows(table.row[:rows], table.value[:rows, :columns], table.seen[:rows, :columns]), True)


@pytest.fixture
def no_table(monkeypatch):
    """Made-up listeners where the real ones are asked for."""
    monkeypatch.setattr(data, "lastfm", few_listeners)


def real_listeners():
    if data.local(*data.LASTFM_TABLE) is None:
        pytest.skip("the stored figures are of the real table, which is not at hand")
    listening = data.lastfm()
    return np.asarray(listening.table.value), np.asarray(listening.table.seen)


# --- who reads, and who makes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STORED, ids=by_name(STORED))
def test_a_page_or_another_script_reads_it(path):
    readers = [*BOOK.glob("*/*.md"), *(p for p in EXISTING if p.stem not in {path.stem, "lcvi_results", "lcvi_controls"})]
    near = rf"\b{path.stem}\.json"
    by_its_name = rf"[\"']{path.stem}[\"']"
    for page in readers:
        text = page.read_text("utf8")
        loads = "json.loads" in text and page.parent in (path.parent, path.parent.parent)
        if loads and re.search(near, text):
            return
        if loads and re.search(r"\{name\}\.json", text) and re.search(by_its_name, text):
            return
    pytest.fail(f"nobody reads {path.name}")


@pytest.mark.parametrize("path", STORED, ids=by_name(STORED))
def test_it_names_the_command_that_makes_it(path):
    content = strictly(path.read_text("utf8"))
    assert all(map(math.isfinite, numbers(content)))
    if path.stem in THEIRS:
        told = content.get("source") or content["about"]
        assert "github.com/tkusmierczyk" in told
        assert re.search(r"commit [0-9a-f]{7,40}\b", told)
        return
    for call in commands_of(content):
        command = shlex.split(call)
        assert command[0] == "python"
        source = (ROOT / command[1]).read_text("utf8")
        words = [word for word in command[2:] if re.fullmatch(r"(--)?[a-z]+(-[a-z]+)*", word)]  # options, and parts to run
        assert all(f'"{word}"' in source for word in words)
        assert path.name in source + call


@pytest.mark.parametrize("path", EXISTING, ids=by_name(EXISTING))
def test_a_script_says_how_it_is_run_and_what_it_writes(path):
    source = path.read_text("utf8")
    words = source.split('"""')[1]
    if path.stem in HELPERS:
        assert "def main" not in source
        return
    assert f"\n    python {path.relative_to(ROOT)}" in words
    assert re.search(r"[a-z_0-9]+\.json", words)
    usage = re.sub(r" +#.*", "", words.split("\n\n")[1])
    told = set(re.findall(r"--[a-z-]+", usage))
    assert told <= set(re.findall(r"add_argument\(\"(--[a-z-]+)\"", source))
    assert 'if __name__ == "__main__":\n    main()' in source
    if path in SCRIPTS:
        assert path.with_suffix(".json") in STORED


@pytest.mark.parametrize("path", SCRIPTS, ids=by_name(SCRIPTS))
def test_importing_a_script_does_nothing(path, script, monkeypatch, capsys, tmp_path):
    def asked():
        raise AssertionError("data are for the run")

    for name in ("radon", "lastfm", "corn", "diabetes", "breast_cancer"):
        monkeypatch.setattr(data, name, asked)
    before = jax.config.jax_enable_x64
    script(path.parts[-3], path.stem)
    assert jax.config.jax_enable_x64 is before
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


# --- skewed densities --------------------------------------------------------------------------------------------


DENSITIES = ("normal", "lognormal", "gamma", "skew-normal", "W, normal", "W, logistic")


# five folds of the irises have all one size, so that a fit compiles once
@pytest.mark.parametrize(
    ("one", "kept"),
    [
        ("iris: sepal length (cm)", ("normal", "gamma", "W, normal")),
        pytest.param("diabetes: bmi", DENSITIES, marks=pytest.mark.thorough),
    ],
)
def test_columns(one, kept, script, run, monkeypatch):
    columns = script("lambertw", "columns")
    large, every = stored("lambertw", "columns"), columns.columns()
    assert every.keys() == {name for name in large["columns"] if not name.startswith(("radon", "nations"))}
    assert tuple(columns.DENSITIES) == DENSITIES
    monkeypatch.setattr(columns, "columns", lambda: {one: every[one]})
    monkeypatch.setattr(columns, "from_files", dict)
    monkeypatch.setattr(columns, "DENSITIES", {name: columns.DENSITIES[name] for name in kept})
    fewer = ["/columns", f"/columns/{re.escape(one)}/(score|cost)"]
    mine, theirs = (table["columns"][one] for table in (like(run(columns, "--folds", "5"), "lambertw", "columns", fewer), large))
    assert mine["n"] == theirs["n"]
    for part in ("score", "cost"):
        theirs[part] = {name: theirs[part][name] for name in mine[part]}
    assert list(numbers(mine)) == pytest.approx(list(numbers(theirs)), abs=2e-3)  # the same rows, to what another optimiser's end leaves


def test_cohorts(script, monkeypatch):
    cohorts = script("lambertw", "cohorts")
    large = stored("lambertw", "cohorts")
    y = cohorts.columns()["worst area"]
    with jax.enable_x64(True):
        small = cohorts.study(y, 20, 2)
        in_closed_form = {name: cohorts.WAYS[name] for name in ("normal", "sample quantile", "lognormal")}
        monkeypatch.setattr(cohorts, "WAYS", in_closed_form)
        monkeypatch.setattr(cohorts, "bayes", lambda y, tilts: tilts)
        again = cohorts.study(y, 20, large["cohorts"])
    same_keys(small, large["ratio"]["worst area"]["20"])
    for ways in small.values():
        for mean, error in ways.values():
            assert 1 <= mean < 20  # one decision for all rows is the best of all
            assert 0 <= error < 10
    for tilt, ways in again.items():
        for name in in_closed_form:
            assert ways[name] == pytest.approx(large["ratio"]["worst area"]["20"][tilt][name], abs=2e-4)


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
def test_cohorts_in_pymc(script, monkeypatch):
    """The sampler takes long to compile, so the stored posterior is held against the model's density."""
    cohorts = script("lambertw", "cohorts")
    large = stored("lambertw", "cohorts")["pymc"]["worst area"]

    def sample(*arguments, **settings):
        model = cohorts.pm.modelcontext(None)
        log_p = model.compile_logp(jacobian=False, mode=FAST)

        def at(**moved):
            mu, sigma, gamma = (large[name][0] + moved.get(name, 0.0) * large[name][1] for name in ("mu", "sigma", "gamma"))
            return float(log_p({"mu": mu, "sigma_log__": np.log(sigma), "gamma_interval__": np.log((gamma + 0.5) / (0.5 - gamma))}))

        for name in large:  # a standard deviation from the mean costs about a half, or more where the three hang together
            drop = at() - np.array([at(**{name: -2.0}), at(**{name: 2.0})])
            assert (drop > 0.5).all()
            assert (drop < 40).all()
        rng = np.random.default_rng(0)
        return types.SimpleNamespace(posterior={name: mean + sd * rng.normal(size=(4, 100)) for name, (mean, sd) in large.items()})

    monkeypatch.setattr(cohorts.pm, "sample", sample)
    same_keys(cohorts.in_pymc(cohorts.columns()["worst area"]), large)


def test_cohorts_main(script, run, monkeypatch):
    cohorts = script("lambertw", "cohorts")
    way = stored("lambertw", "cohorts")["ratio"]["worst area"]["20"]
    monkeypatch.setattr(cohorts, "study", lambda y, size, cohorts: way)
    monkeypatch.setattr(cohorts, "in_pymc", lambda y: {name: [float(y.mean()), 1.0] for name in ("mu", "sigma", "gamma")})
    like(run(cohorts, "--cohorts", "1"), "lambertw", "cohorts")
    assert jax.config.jax_enable_x64


def test_tables(script, run):
    found = like(run(script("lambertw", "tables"), "--points", "500", "--repeats", "1"), "lambertw", "tables")
    assert all(value > 0 for value in numbers(found["nanoseconds_a_point"]))


# --- corrections after the fact ----------------------------------------------------------------------------------


def briefly(fit, **fixed):
    """``fit`` with settings that win over the caller's."""
    return lambda *arguments, **settings: fit(*arguments, **(settings | fixed))


def untrained(features, y, loss, *, nu=0.0, **settings):
    """A fit that takes no time: the mean of the features."""
    return types.SimpleNamespace(maker=lambda told: np.asarray(told).mean(axis=-1), nu=np.min(nu))


def trained(times, **fixed):
    """Trains when it is first called, and no more after some times: every width of layers and features takes long to compile."""

    def fit(*arguments, training, **settings):
        return posthoc.fit_decision_maker(*arguments, training=training._replace(**fixed), **settings)

    calls = iter(times * [fit])
    return lambda *arguments, **settings: next(calls, untrained)(*arguments, **settings)


def test_one_dimension(script, run, monkeypatch):
    module = script("posthoc", "one_dimension")
    monkeypatch.setattr(module, "fit_decision_maker", trained(2, steps=300))  # both makers for the first tilt
    found = like(run(module, "--seeds", "1"), "posthoc", "one_dimension")["per_seed"]
    large = stored("posthoc", "one_dimension")["per_seed"]
    for q, (mine,) in found.items():
        theirs = large[q][0]
        assert mine["level"] == pytest.approx(theirs["level"], abs=1e-4)
        for name in ("p-optimal", "q-optimal", "single quantile"):
            assert mine["risk"][name] == pytest.approx(theirs["risk"][name], abs=1e-4)
        for name in ("linear maker", "decision maker") if q == "0.1" else ():  # after a tenth of the steps
            assert mine["risk"][name] == pytest.approx(theirs["risk"][name], rel=0.1)
        assert min(mine["risk"].values()) == mine["risk"]["p-optimal"]


def test_faithful(script, run, monkeypatch):
    module = script("posthoc", "faithful")
    monkeypatch.setattr(module, "DRAWS", 50)
    monkeypatch.setattr(module, "fit_decision_maker", untrained)
    found = like(run(module, "--seeds", "1"), "posthoc", "faithful")
    large = stored("posthoc", "faithful")
    for truth in ("sine", "straight", "cosine"):
        mine, theirs = (whole[truth][0]["q_optimal"] for whole in (found, large))
        for part in module.RANGES:  # from the closed form of the line's predictive
            assert mine[part] == pytest.approx(theirs[part], abs=2e-4)
    for n, sizes in found["sizes"][0].items():
        assert sizes["median prior sd"] == pytest.approx(large["sizes"][0][n]["median prior sd"], abs=2e-4)


def test_faithful_trains(script, monkeypatch):
    module = script("posthoc", "faithful")
    monkeypatch.setattr(module, "DRAWS", 50)
    monkeypatch.setattr(module, "STRENGTHS", [0.0, 0.01])
    monkeypatch.setattr(module, "fit_decision_maker", trained(2, steps=100))  # once for each strength
    found = module.sweep(0, "sine")
    same_keys(found, stored("posthoc", "faithful")["sine"][0], fewer=["/nu"])
    assert found["chosen"] in (0.0, 0.01)
    assert found["nu"]["0.01"]["distance"] < found["nu"]["0.0"]["distance"]
    assert all(0 < risk < 2 for risk in numbers(found["nu"]))


def test_held_back(script, run, monkeypatch):
    module = script("posthoc", "held_back")
    monkeypatch.setattr(module, "DRAWS", 50)
    monkeypatch.setattr(module, "fit_decision_maker", untrained)
    found = like(run(module, "--seeds", "1"), "posthoc", "held_back")
    large = stored("posthoc", "held_back")
    for world in module.WORLDS:
        mine, theirs = (whole[world][0]["risk"] for whole in (found, large))
        for part in module.ROWS:  # the q-optimal decisions of 50 draws, and of 2000
            assert mine[part] == pytest.approx(theirs[part], rel=0.1)


def test_held_back_trains(script, monkeypatch):
    module = script("posthoc", "held_back")
    monkeypatch.setattr(module, "DRAWS", 50)
    monkeypatch.setattr(module, "STRENGTHS", [0, 10])
    monkeypatch.setattr(module, "fit_decision_maker", trained(2, steps=100))
    found = module.one_season(0, "wave")
    same_keys(found, stored("posthoc", "held_back")["wave"][0], fewer=["/strengths"])
    assert found["chosen"] in (0, 10)
    near, free = (found["strengths"][c]["same weeks"]["distance"] for c in ("10", "0"))
    assert near < free


def test_sine_and_its_flat_cousin(script, run, monkeypatch):
    sine = script("posthoc", "sine")
    monkeypatch.setattr(sine, "DRAWS", 200)
    monkeypatch.setattr(sine.line_predictive, "__defaults__", (200,))
    monkeypatch.setattr(sine, "SETTINGS", sine.SETTINGS | {"steps": 20})
    monkeypatch.setattr(sine.one_seed, "__defaults__", (False, False, [0.0, 0.01], sine.LEVELS))
    found = like(run(sine, "--seeds", "2"), "posthoc", "sine", fewer=["/line_on_sine/nu"])
    large = stored("posthoc", "sine")["line_on_sine"]
    for mine, theirs in zip(found["line_on_sine"], large, strict=False):
        assert mine["q_optimal_fresh_risk"] == pytest.approx(theirs["q_optimal_fresh_risk"], rel=0.03)  # 200 draws
    monkeypatch.setattr(sine, "fit_decision_maker", untrained)
    flat = like(run(script("posthoc", "slope_zero"), "--seeds", "1"), "posthoc", "slope_zero")
    risk = stored("posthoc", "slope_zero")["median"][0]["q_optimal_fresh_risk"]
    assert flat["median"][0]["q_optimal_fresh_risk"] == pytest.approx(risk, rel=0.03)


@pytest.fixture
def plays(script, monkeypatch):
    """The scripts of the listening experiment on a few made-up listeners, and little training."""

    def load(name):
        lastfm = script("posthoc", "lastfm")
        table = few_listeners().table
        y, test = np.asarray(table.value), ~np.asarray(table.seen)
        monkeypatch.setattr(lastfm, "load", lambda: (y, test))
        monkeypatch.setattr(lastfm, "factorise", functools.partial(lastfm.factorise, steps=200))
        monkeypatch.setattr(lastfm, "LOSSES", {name: lastfm.LOSSES[name] for name in ("tilted0.5", "squared")})
        module = lastfm if name == "lastfm" else script("posthoc", name)
        monkeypatch.setattr(module, "fit_decision_maker", trained(1, steps=20, batch=200) if name == "lastfm" else untrained)
        return module

    return load


def test_lastfm(plays, run):
    lastfm = plays("lastfm")
    found = run(lastfm, "--skip-sweep", "--seeds", "1")
    like(found, "posthoc", "lastfm", fewer=["/saved_percent_quartiles", "/per_seed"])
    for told in found["per_seed"][0].values():
        assert all(0 < risk < 50 for risk in numbers(told["train_and_test_risk"]))
        assert max(numbers(told["saved_percent_of_test_risk"])) < 100
    swept = like(run(lastfm, "--only-sweep", "--draws", "30", writes="lastfm_sweep"), "posthoc", "lastfm_sweep")
    assert [row[:2] for row in swept["rows"]] == [[30, B] for B in (1, 2, 5, 10, 20, 50)]
    assert [row[1] for row in stored("posthoc", "lastfm_sweep")["rows"][:6]] == [1, 2, 5, 10, 20, 50]


def test_lastfm_told(plays, run):
    found = like(run(plays("lastfm_told")), "posthoc", "lastfm_told")
    large = stored("posthoc", "lastfm_told")
    for part in ("mean_of_draws", "quantiles_of_draws", "rate_that_does_not_fall"):
        told = [[len(row), row[0]] for row in found[part]]
        assert told == [[len(row), row[0]] for row in large[part]]
    assert sum(found["principal_shares"]) <= 1


def test_lastfm_needs_the_real_table(script, no_table):
    with pytest.raises(SystemExit, match="made-up listeners"):
        script("posthoc", "lastfm").load()


def test_lastfm_reads_the_table(script):
    value, seen = real_listeners()
    y, test = script("posthoc", "lastfm").load()
    assert y.dtype == np.float32
    assert np.array_equal(y, value)
    assert np.array_equal(test, ~seen)


def test_lastfm_controls(plays, run):
    fewer = ["/test_risk_without_posterior", "/posterior_of_seed_0/per_loss"]
    found = like(run(plays("lastfm_controls"), "--seeds", "1"), "posthoc", "lastfm_controls", fewer)
    assert found["test_risk_without_posterior"].keys() == found["posterior_of_seed_0"]["per_loss"].keys()
    assert 0 < found["posterior_of_seed_0"]["share_of_zeros"] < 1


@pytest.fixture
def radon(script, monkeypatch):
    """The script on made-up houses."""
    module = script("posthoc", "radon")
    monkeypatch.setattr(module, "radon", lambda: data.radon_simulated(jax.random.key(0)))
    monkeypatch.setattr(module, "DRAWS", 40)
    return module


ENGINES = {
    "PyMC, ADVI": lambda module: module.advi(0, steps=200),
    "PyMC, NUTS": lambda module: module.nuts(0),
    "NumPyro": lambda module: module.guide(0, steps=200),
}


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
def test_radon_engines(engine, radon):
    with jax.numpy_rank_promotion("allow"):  # NumPyro's
        tree = ENGINES[engine](radon)
    draws = np.asarray(tree.posterior_predictive["y"])
    houses, _ = radon.everything()
    assert draws.shape[-1] == len(houses.y)
    assert draws.size == 40 * len(houses.y)
    assert np.isfinite(draws).all()
    if engine == "PyMC, NUTS":  # the others are far from their ends
        off = np.asarray(houses.y) - draws.mean(axis=(0, 1))
        assert abs(off.mean()) < 0.2
        assert off.std() < 1.1 * np.asarray(houses.y).std()


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
def test_radon_for_nuts_is_the_model_of_the_others(radon, monkeypatch):
    """The effects of counties in units of their spread, there, and as they are, here: the densities differ by that scale."""
    monkeypatch.setattr(radon.nutpie, "compile_pymc_model", lambda model: model)
    apart, whole = radon.nuts_program(), radon.pymc_model(*radon.houses())
    e, spread = np.random.default_rng(0).normal(size=85), 0.7
    logit = lambda sigma: np.log(sigma / (100 - sigma))
    at = {"mu_a": 0.9, "b": np.array([-0.6, 0.7]), "sigma_a_interval__": logit(spread), "sigma_y_interval__": logit(0.8)}
    fitted = whole.compile_logp([variable for variable in whole.basic_RVs if variable.name != "y"], mode=FAST)
    direct = fitted(at | {"a": 0.9 + spread * e, "y": np.zeros(919)})
    assert apart.compile_logp(mode=FAST)(at | {"e": e}) - 85 * np.log(spread) == pytest.approx(direct, rel=1e-8)


def test_radon(radon, run, monkeypatch):
    houses, _ = radon.everything()

    def some(seed, data=None, **settings):
        rng = np.random.default_rng(seed)
        return radon.az.from_dict({"posterior_predictive": {"y": np.asarray(houses.y).mean() + rng.normal(size=(1, 40, len(houses.y)))}})

    for engine in ("advi", "nuts", "guide"):
        monkeypatch.setattr(radon, engine, some)
    corrected: list = []

    def correct(tree, y, loss, training=posthoc.Training(), **settings):  # noqa: B008
        """The published settings once; their result again for every engine."""
        if not corrected:
            corrected.append(posthoc.correct(tree, y, loss, training=training._replace(steps=20), **settings))
        return corrected[0]

    monkeypatch.setattr(radon, "correct", correct)
    found = like(run(radon, "--seeds", "1"), "posthoc", "radon")
    assert found["seeds"] == 1
    assert all(len(runs) == 1 for name, runs in found["results"].items() if "tilted" in name)
    again = run(radon, "--seeds", "1")  # what is stored is not run again
    assert again["results"] == found["results"]


def test_corn(script, run, monkeypatch):
    """A few steps on made-up corn, read at every tenth wavelength; corrected once, and its result again for every posterior."""
    module = script("posthoc", "corn")
    every = data.corn_simulated(jax.random.key(0))
    made_up = every._replace(**{part: getattr(every, part)._replace(x=getattr(every, part).x[:, ::10]) for part in ("train", "test")})
    monkeypatch.setattr(data, "corn", lambda: made_up)
    monkeypatch.setattr(module, "STOPS", {"stopped early": 50, "converged": 2000})  # three thousands of steps
    monkeypatch.setattr(module, "DRAWS", 40)
    monkeypatch.setattr(module, "WARMUP", 5)
    monkeypatch.setattr(module, "DEPTH", 3)
    monkeypatch.setattr(module, "REFITS", 2)
    calls: list = []
    corrected: list = []

    def correct(draws, y, loss, **settings):
        calls.append(settings)
        if not corrected:
            briefly = settings["training"]._replace(steps=20, restarts=1)
            corrected.append(posthoc.correct(draws, y, loss, **(settings | {"training": briefly})))
        return corrected[0]

    monkeypatch.setattr(module, "correct", correct)
    with jax.numpy_rank_promotion("allow"):  # NumPyro's
        found = run(module, "--runs", "1")
    found["stops"] = stored("posthoc", "corn")["stops"]
    like(found, "posthoc", "corn")
    priors = [settings["options"].prior is not None for settings in calls if "options" in settings]
    assert priors[-1]
    assert sum(priors) == 4  # NUTS has no refits
    y = np.asarray(made_up.test.y)
    assert found["constant"]["squared"][1] == pytest.approx(np.mean((y - np.asarray(made_up.train.y).mean()) ** 2), rel=1e-4)
    draws = module.kept("vi", lambda: pytest.fail("what is kept is not run again"))
    assert draws["stopped early"].shape == draws["converged"].shape == (3, 40, 80)
    assert np.abs(draws["stopped early"] - draws["converged"]).max(axis=(1, 2)).min() > 0.1  # each run went on
    again = module.kept("nuts", lambda: pytest.fail("what is kept is not run again"))
    assert again["draws"].shape == (40, 80)


def test_constants_of_the_corn():
    if data.local(*data.CORN_TABLE) is None:
        pytest.skip("the stored figures are of the real corn, which is not at hand")
    corn = data.corn()
    train, test = (np.asarray(part.y, float) for part in (corn.train, corn.test))
    found = stored("posthoc", "corn")["constant"]
    assert found["tilted 0.5"][1] == pytest.approx(0.5 * np.abs(test - np.median(train)).mean(), abs=2e-5)
    assert found["squared"][1] == pytest.approx(((test - train.mean()) ** 2).mean(), abs=2e-5)


# --- loss-calibrated inference -----------------------------------------------------------------------------------


def test_music_ascent(script, run, monkeypatch, no_table):
    module = script("lcvi", "music_ascent")
    monkeypatch.setattr(module, "SWEEPS", 3)
    found = like(run(module, "--seeds", "1"), "lcvi", "music_ascent")
    assert found["simulated"]
    assert all(0 <= value < 50 for value in numbers(found["runs"]))


def test_music_ascent_on_the_real_table(script, monkeypatch, request):
    value, seen = real_listeners()
    module, large = script("lcvi", "music_ascent"), stored("lcvi", "music_ascent")
    if not request.config.getoption("--thorough"):
        monkeypatch.setattr(module, "SWEEPS", 100)  # after which the risks move by half a per cent
    q = module.ascend(value, seen.astype(np.float32), np.zeros_like, 0)
    for loss, risks in module.risks(value, seen.astype(np.float32), q).items():
        theirs = large["runs"]["plain"][loss]
        assert risks == pytest.approx([theirs["train"][0], theirs["test"][0]], rel=0.01)  # single precision, 200 sweeps


def test_music_in_single_precision(script, run, monkeypatch, no_table):
    module, climbed, music_run = script("lcvi", "music_single_precision"), [], published.music_run

    def climb(key, table, utility, **options):
        """The first way only: another takes as long again to compile."""
        if not climbed:
            climbed.append(music_run(key, table, utility, **options))
        return climbed[0]

    monkeypatch.setattr(published, "music_run", climb)
    monkeypatch.setattr(module, "STEPS", 20)
    found = like(run(module, "--seeds", "1"), "lcvi", "music_single_precision")
    assert found["simulated"]
    assert all(0 <= value < 200 for value in numbers(found["runs"]))
    near, far = jnp.float32(0.5), jnp.float32(20.0)
    assert module.as_coded(near, 0.0) == pytest.approx(float(module.by_logarithm(near, 0.0)), abs=1e-6)
    assert module.as_coded(far, 0.0) > -40 > module.by_logarithm(far, 0.0)


@pytest.fixture
def lcvi(monkeypatch, tmp_path):
    """Both tools, writing elsewhere."""
    monkeypatch.setattr(lcvi_results, "FOLDER", tmp_path)
    monkeypatch.setattr(lcvi_results, "MUSIC", tmp_path / "music.json")
    monkeypatch.setattr(lcvi_controls, "CONTROLS", tmp_path / "controls.json")
    monkeypatch.setattr(lcvi_controls, "TABLE", tmp_path / "table_4_2.json")


def test_schools(lcvi, run, monkeypatch):
    monkeypatch.setattr(lcvi_results, "SETTLED", 20)
    monkeypatch.setattr(published, "eight_schools_run", functools.partial(published.eight_schools_run, iterations=40, every=10))
    found = like(run(lcvi_results, "schools", "--seeds", "2", writes="eight_schools"), "lcvi", "eight_schools")
    assert found["iteration"] == [0, 10, 20, 30, 39]
    assert 0 < found["plain_risk"]["mean"] < 20
    assert found["plain_risk"]["n"] == 2


def test_music(lcvi, run, monkeypatch, no_table):
    asked = []

    def start(key, table, utility, **options):
        """Where a run would start: that one gets somewhere is tested with the package."""
        asked.append(options)
        return types.SimpleNamespace(lam=factors.random_start(key, *table.value.shape, 20).lam)

    monkeypatch.setattr(published, "music_run", start)
    found = run(lcvi_results, "music", "--seeds", "0", writes="music")
    assert len(asked) == 5
    assert run(lcvi_results, "music", "--seeds", "0", writes="music") == found  # what is stored is not run again
    assert len(asked) == 5
    large = stored("lcvi", "music")
    for name, told in found["reduction_percent"].items():  # in the stored file not every run is judged by the direct loss
        found["reduction_percent"][name] = {k: v for k, v in told.items() if k in large["reduction_percent"][name]}
    like(found, "lcvi", "music", fewer=["/reduction_percent"])
    assert found["simulated"]


def test_music_extra_runs_are_stored_by_their_names():
    losses = [lcvi_results.decisions.squared(), *map(lcvi_results.decisions.tilted, (0.2, 0.5, 0.8))]
    names = [job[0] for job in lcvi_results._extra(losses)]
    assert len(set(names)) == len(names)
    found = {run["name"] for run in stored("lcvi", "music")["runs"]}
    assert found <= {*names, "plain", *(loss.name for loss in losses)}


def test_music_s_table_is_of_its_runs():
    large = stored("lcvi", "music")
    assert lcvi_results._table(large["runs"])["reduction_percent"] == large["reduction_percent"]


PARTS = ("tune", "music", "curves", "levels", "sampler", "distance")  # of the controls


def test_controls(lcvi, run, monkeypatch, no_table, tmp_path):
    monkeypatch.setattr(lcvi_controls, "K", 4)
    monkeypatch.setattr(lcvi_controls, "TUNING_NOISE", (1.0, 1.3))
    monkeypatch.setattr(lcvi_controls, "TUNING_PRIOR", (10.0,))
    monkeypatch.setattr(lcvi_controls, "FINALISTS", 2)
    monkeypatch.setattr(lcvi_controls, "TUNING_RATES", dict.fromkeys(lcvi_controls.RATES, (0.3,)))
    monkeypatch.setattr(lcvi_controls, "climb", briefly(lcvi_controls.climb, sweeps=8))
    monkeypatch.setattr(lcvi_controls, "gibbs", briefly(lcvi_controls.gibbs, sweeps=220, burn=10))
    for what in PARTS:
        found = run(lcvi_controls, what, "--seeds", "1", writes="controls")
    assert [call.split()[2] for call in commands_of(found)] == list(PARTS)
    earlier = copy.deepcopy(found)  # as if another strength had been chosen then: its runs are made anew, and no others
    place = next(i for i, ran in enumerate(earlier["runs"]) if ran["name"] == "tuned, only the rate, squared")
    earlier["runs"][place] |= {"options": {"rate": 99.0}, "elbo": 0.0}
    (tmp_path / "controls.json").write_text(json.dumps(earlier))
    *kept, anew = run(lcvi_controls, "music", "--seeds", "1", writes="controls")["runs"]
    assert kept == [ran for i, ran in enumerate(found["runs"]) if i != place]
    assert anew | {"seconds": 0.0} == found["runs"][place] | {"seconds": 0.0}
    large = stored("lcvi", "controls")
    assert {r["name"] for r in found["runs"]} == {r["name"] for r in large["runs"]}
    for whole in (found, large):  # one run of every name, to be compared by it
        whole["runs"] = {run["name"]: run for run in reversed(whole["runs"])}
        for run_of_it in whole["runs"].values():
            del run_of_it["options"]
        for way in whole["tuned"].values():
            for best in way.values():
                del best["options"]
    same_keys(found, large)
    assert all(map(math.isfinite, numbers(found)))
    assert found["simulated"]


def test_constants_of_the_controls():
    value, seen = real_listeners()
    for name, told in stored("lcvi", "controls")["constant"].items():
        cost = lcvi_controls._loss(name, np.asarray(value, float), told["h"])
        assert [cost[seen].mean(), cost[~seen].mean()] == pytest.approx([told["train"], told["test"]], abs=1e-4)


def test_what_the_benchmark_prints_is_stored(lcvi, monkeypatch, tmp_path):
    printed = (
        "   points  start   solved: s   excess risk  network: s   excess risk\n"
        "     1000      0        0.01       0.00471        3.05       0.00040\n"
        "     1000      1        0.01       0.00468        2.95       0.00060\n"
    )
    monkeypatch.setattr(sys, "argv", ["tools/lcvi_controls.py", "table"])
    lcvi_controls.store_table(printed)
    found = strictly((tmp_path / "table_4_2.json").read_text())
    large = stored("lcvi", "table_4_2")
    like(found, "lcvi", "table_4_2")
    assert [row["network_excess"] for row in found["rows"]] == [0.0004, 0.0006]
    assert found["rows"][0]["network_seconds"] == 3.05
    assert found["command"] == large["command"]
    starts = {size: [row["start"] for row in large["rows"] if row["points"] == size] for size in found["published"]["points"]}
    assert all(of_size == [*range(10)] for of_size in starts.values())


# --- importance-sampled gradients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [("SGD", "ISGD"), pytest.param(("SGD", "ISGD", "I-SAG"), marks=pytest.mark.thorough)], ids=len)
def test_does_it_pay(kept, monkeypatch, tmp_path):
    """Few methods, one configuration, few rows; unit costs as given, since a stopwatch is no test."""
    methods = does_it_pay.methods
    monkeypatch.setattr(does_it_pay, "SMALL", {"rows": 200, "size": 20})
    monkeypatch.setattr(does_it_pay, "RATES", (0.3,))
    monkeypatch.setattr(does_it_pay, "BUDGETS", dict.fromkeys(does_it_pay.BUDGETS, (185,)))  # compiled once with the published steps
    far = {"coarse": 300.0, "middle": 200.0, "fine": 100.0}
    monkeypatch.setattr(does_it_pay, "TARGETS", dict.fromkeys(does_it_pay.TARGETS, far))
    monkeypatch.setattr(does_it_pay, "methods", lambda problem: {name: methods(problem)[name] for name in kept})
    monkeypatch.setattr(does_it_pay, "unit_costs", lambda problem, table, repeats: dict.fromkeys(table, COST))
    monkeypatch.setattr(jax, "clear_caches", lambda: None)  # for runs of an hour: here, as much would be compiled anew
    out = tmp_path / "does_it_pay.json"
    monkeypatch.setattr(sys, "argv", ["is_gradients.py", "--small", "--models", "normal", "--seeds", "1", "--out", str(out)])
    does_it_pay.main()
    found = strictly(out.read_text("utf8"))
    parts = ("costs", "bytes", "published", "published, tempered", "tuned/methods")
    fewer = ["/results", *(f"/results/normal/{part}" for part in parts)]
    same_keys(found, stored("is_gradients", "does_it_pay"), fewer)
    assert all(map(math.isfinite, numbers(found)))
    sgd, signs = found["results"]["normal"]["tuned"]["methods"]["SGD"], found["results"]["normal"]["agreement"]
    for word in far:
        assert sgd[word]["seconds"] == [pytest.approx(COST["fresh"] * sgd[word]["gradients"][0])]
        assert -1 <= signs[word][0] <= 1
    size = found["results"]["normal"]["bytes"]
    assert size["ISGD"] > size["SGD"] == 0
    if "I-SAG" in kept:
        assert size["I-SAG"] > 5 * size["ISGD"]
    assert shlex.split(found["made_by"])[2:] == sys.argv[1:]
    runs = (found["results"]["normal"][key]["0"]["ELBO"] for key in ("published", "published, tempered"))
    assert len({round(elbo) for pair in runs for elbo in pair}) == 4  # two objectives


COST = {"fresh": 1e-3, "cheap": 0.0, "anchor": 0.0}


def test_never_is_no_number_in_what_is_stored():
    assert does_it_pay.strictly({"seconds": [1.0, math.inf], "none": None, "word": "x"}) == {
        "seconds": [1.0, None],
        "none": None,
        "word": "x",
    }
    large = stored("is_gradients", "does_it_pay")["results"]
    for of_model in large.values():
        for word in ("coarse", "middle", "fine"):
            assert None not in of_model["tuned"]["methods"]["SGD"][word]["seconds"]  # every ratio on the page is over these
