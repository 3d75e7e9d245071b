"""The tool that shifts a page's seeds: what it shifts, what it leaves alone, what it counts and where."""

import ast

import numpy as np
import pytest

from tests.notebooks.test_pages import line_of, write_page
from tools import reseed

SHIFT = 1000

# What a page writes, at seed {0}; a few numbers come of it.
KINDS = {
    "numpy": "np.random.default_rng({0}).normal(size=3)",
    "numpy, by name": "np.random.default_rng(seed={0}).normal(size=3)",
    "numpy, several": "np.random.default_rng([{0}, {0}]).normal(size=3)",
    "numpy, spawned": "np.random.default_rng(np.random.SeedSequence({0}).spawn(1)[0]).normal(size=3)",
    "numpy, bits": "np.random.Generator(np.random.PCG64({0})).normal(size=3)",
    "numpy, old": "np.random.RandomState({0}).normal(size=3)",
    "numpy, global": "(np.random.seed({0}), np.random.normal(size=3))[1]",
    "python": "random.Random({0}).random()",
    "imported": "seeded({0}).normal(size=3)",
    "jax": "jax.random.normal(jax.random.key({0}), (3,))",
    "jax, old": "jax.random.normal(jax.random.PRNGKey(seed={0}), (3,))",
    "jax, mapped": "jax.vmap(jax.random.normal)(jax.vmap(jax.random.key)(jnp.array([{0}, {0}])))",
    "jax, compiled": "jax.jit(lambda seed: jax.random.normal(jax.random.key(seed)))({0})",
    "sobol": "qmc.Sobol(2, rng={0}).random(4)",
    "halton": "qmc.Halton(2, seed={0}).random(4)",
    "latin": "qmc.LatinHypercube(2, rng=np.random.default_rng({0})).random(4)",
    "scipy": "scipy.stats.gamma(2.0).rvs(3, random_state={0})",
    "sklearn": "sklearn.utils.shuffle(np.arange(20), random_state={0})",
    "partly": "functools.partial(sklearn.utils.shuffle, random_state={0})(np.arange(20))",
    "partly, by name": "functools.partial(np.random.default_rng, seed={0})().normal(size=3)",
    "partly, a function of the page": "functools.partial(lambda seed: np.random.default_rng(seed).random(), seed={0})()",
    "a dictionary": "sklearn.utils.shuffle(np.arange(20), **dict(random_state={0}))",
    "options": "sklearn.utils.shuffle(np.arange(20), **{{'random_state': {0}}})",
    "numpyro": "handlers.seed(lambda: numpyro.sample('x', dist.Normal(0, 1)), {0})()",
    "numpyro, by name": "handlers.seed(lambda: numpyro.sample('x', dist.Normal(0, 1)), rng_seed={0})()",
    "a function of the page": "(lambda seed: np.random.default_rng(seed).normal(size=3))(seed={0})",
}
IMPORTS = """
import functools, random
import jax, jax.numpy as jnp, numpy as np, numpyro, numpyro.distributions as dist, scipy.stats, sklearn.utils
from numpy.random import default_rng as seeded
from numpyro import handlers
from scipy.stats import qmc
"""


def result(code, shift=None):
    """What an expression comes to on a page, as it stands or with its seeds shifted."""
    tree, space = ast.parse(f"{IMPORTS}\nresult = {code}"), {"__name__": "__main__"}
    if shift is not None:
        reseeder = reseed.Reseeder(shift)
        tree = ast.fix_missing_locations(reseeder.visit(tree))
        space |= reseeder.helpers
    exec(compile(tree, "page", "exec"), space)
    return np.asarray(space["result"])


@pytest.mark.parametrize("code", KINDS.values(), ids=KINDS.keys())
def test_each_kind_of_seed_is_shifted_once(code):
    shifted = result(code.format(7), SHIFT)
    np.testing.assert_array_equal(shifted, result(code.format(7 + SHIFT)))
    assert not np.array_equal(shifted, result(code.format(7)))


@pytest.mark.parametrize(
    "code",
    [
        "(lambda seed: seed)(seed=5)",  # the page's own function: a number is no draw
        "sorted([3, 1, 2], key=lambda key: -key)",
        "jax.random.uniform(jax.random.fold_in(jax.random.wrap_key_data(jnp.array([1, 2], jnp.uint32)), 3))",
        "sklearn.utils.check_random_state(None) is np.random.mtrand._rand",
        "sklearn.utils.shuffle(np.arange(20), random_state=False)",
    ],
)
def test_what_is_no_seed_stays(code):
    np.testing.assert_array_equal(result(code, SHIFT), result(code))


def test_pymc_s_draws_and_nutpie_s_chains_are_shifted():
    import nutpie
    import pymc as pm

    with pm.Model() as model:
        pm.Normal("x")
    space = {"pm": pm, "nutpie": nutpie, "x": model["x"], "compiled": nutpie.compile_pymc_model(model, backend="numba")}
    reseeder = reseed.Reseeder(SHIFT)
    options = "draws=5, tune=20, chains=1, cores=1, progress_bar=False"
    code = f"[pm.draw(x, 3, random_seed={{0}}), nutpie.sample(compiled, seed={{0}}, {options}).posterior.x.values[0]]"
    tree = ast.fix_missing_locations(reseeder.visit(ast.parse(code.format(7), mode="eval")))
    shifted = eval(compile(tree, "page", "eval"), space | reseeder.helpers)
    for found, right, plain in zip(shifted, eval(code.format(7 + SHIFT), space), eval(code.format(7), space), strict=True):
        np.testing.assert_array_equal(found, right)
        assert not np.array_equal(found, plain)
    assert reseeder.seeds == 2


PAGE = """
```{code-cell} python
import numpy as np
from helper import own

first = own()
draws = [int(np.random.default_rng(seed).integers(10**6)) for seed in range(4)]
```

Words between the cells, and a cell that holds nothing.

```{code-cell} python
```

```{code-cell} python
---
tags: [hide-input]
---
assert len(draws) == 4, (  # never fails
    draws)
for seed, draw in enumerate(draws):
    if seed:
        assert seed != 2 or draw == TWO, "true at seed 2 alone"
    assert draw != 1.5
```

```{code-cell} python
assert own() == first  # drawn in the helper, with a seed of its own
assert first == ZERO
assert draws[0] == ZERO, f"true at seed 0 alone: {1 / 0}"
raise ValueError("too few")
assert False, "not reached"
```

```{code-cell} python
import warnings

assert draws == [], "never true, and reached although a cell failed"
warnings.warn("mind the tail")
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page in a folder of its own, beside a module that it imports."""
    root = tmp_path_factory.mktemp("course")
    (root / "book" / "decisions").mkdir(parents=True)
    (root / "book" / "decisions" / "helper.py").write_text(
        "import numpy as np\n\ndef own():\n    return int(np.random.default_rng(0).integers(10**6))\n"
    )
    zero, two = (str(np.random.default_rng(seed).integers(10**6)) for seed in (0, 2))
    return write_page(root, PAGE.replace("ZERO", zero).replace("TWO", two))


@pytest.fixture(scope="module")
def shifted(page):
    return reseed.reseed(page, SHIFT, page.parents[2])


def counts(trial):
    return {(fault.line, fault.evaluations, fault.failures) for fault in trial.faults if fault.evaluations}


def test_asserts_that_fail_are_named_with_line_and_counts(page, shifted):
    assert counts(shifted) == {
        (line_of(page, "true at seed 2 alone"), 3, 1),
        (line_of(page, "true at seed 0 alone"), 1, 1),
        (line_of(page, "never true"), 1, 1),
    }
    assert (shifted.asserts, shifted.seeds) == (8, 4)
    assert str(shifted.faults[0]).endswith('shift 1000: fails 1 of 3: assert seed != 2 or draw == 837575, "true at seed 2 alone"')


def test_a_page_that_is_not_shifted_keeps_its_word(page):
    assert counts(reseed.reseed(page, 0, page.parents[2])) == {(line_of(page, "never true"), 1, 1)}


def test_exceptions_and_warnings_are_named_and_later_cells_run(page, shifted):
    raised, warned = [fault for fault in shifted.faults if not fault.evaluations]
    assert str(raised) == f"book/decisions/page.md:{line_of(page, 'raise')}: shift 1000: ValueError: too few"
    assert warned.line == line_of(page, "import warnings")
    assert "mind the tail" in warned.text


@pytest.mark.parametrize("failures", [0, 1])
def test_the_command_fails_if_an_assert_does(monkeypatch, capsys, failures):
    def trial(path, shift):
        name = path.relative_to(reseed.pages.ROOT).as_posix()
        return reseed.Trial(name, shift, 1, 1, [reseed.Fault(name, 9, shift, 3, 1, "assert False")] * failures, 0.0)

    noted = []
    monkeypatch.setattr(reseed, "reseed", trial)
    monkeypatch.setattr(reseed.record, "note", lambda kind, page, found: noted.append((kind, page.name, found["fails"])))
    monkeypatch.setattr("sys.argv", ["reseed.py", str(reseed.pages.ROOT / "book" / "intro.md"), "--shifts", "2", "--first", "3"])
    assert reseed.main() == failures
    assert noted == [("reseed", "book/intro.md", [9] * failures)]
    out = capsys.readouterr().out
    assert out.count("book/intro.md:9: shift 3000: fails 1 of 3: assert False") == failures
    assert out.count("shift 4000") == 1 + failures


@pytest.mark.parametrize(
    ("arguments", "words"), [(["book/no-such.md", "book"], "no-such.md"), (["book", "--shifts", "0"], "give 1 or more")]
)
def test_what_the_command_cannot_do_it_says(monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(reseed.pages.ROOT)
    monkeypatch.setattr("sys.argv", ["reseed.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        reseed.main()
    assert words in capsys.readouterr().err
