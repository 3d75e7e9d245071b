"""Who installs the wheel alone can import it all and decide; where a library of an extra is wanted, its absence is named."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from scipy.stats import gamma

ROOT = Path(__file__).resolve().parents[1]
# what the core does without: of these nothing is found, though this environment has them all
HIDDEN = "arviz arviz_base arviz_stats matplotlib numpyro pandas pooch pymc pytensor sklearn xarray equinox nutpie IPython"
HIDE = f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HIDDEN.split()!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Hide())
"""
MISSING = {  # a call: the library that it asks for, and the extra that installs it
    "data.diabetes()": ("sklearn", "data"),
    "models.from_numpyro(print)": ("numpyro", "numpyro"),
    "mcmc.pareto_smooth(jax.numpy.arange(30.0))": ("arviz_stats", "arviz"),
    "importlib.import_module('course_pkg.plots')": ("matplotlib", "plots"),
    "lcvi.Calibration.plot(None)": ("matplotlib", "plots"),
}
ASK = """
import importlib
import jax
from course_pkg import data
for call in {calls!r}:
    try:
        eval(call)
        print(call, "ran")
    except ModuleNotFoundError as missing:
        print(missing)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """An empty folder into which the wheel has been unpacked."""
    source, home = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("home")
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "course_pkg", source / "course_pkg", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(home), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(home.glob("*.whl"))) as wheel:
        wheel.extractall(home)
    return home


@pytest.fixture(scope="module")
def told(home):
    """What is printed there by the README's lines and by calls that want more, in a Python that has the core's libraries only."""
    imports, road, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf8"), re.DOTALL)
    lines = imports + road
    names = "decisions, families, fit, gradients, is_gradients, lambertw, lcvi, mcmc, models, posthoc, vi, checks"
    program = f"{HIDE}import course_pkg\nfrom course_pkg import {names}\nprint(course_pkg.__file__)\n{lines}"
    program += ASK.format(calls=list(MISSING))
    ran = subprocess.run([sys.executable, "-c", program], cwd=home, env={"PYTHONPATH": str(home)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip().split("\n")


def test_the_core_imports_and_the_readme_s_lines_run(home, told):
    assert Path(told[0]).is_relative_to(home)
    stock, risk, error = map(float, told[1].split())
    assert stock == pytest.approx(gamma.ppf(10 / 11, 4.0, scale=25.0), rel=0.1)
    assert 0 < error < 0.1 * risk
    assert (home / "course_pkg" / "py.typed").is_file()


def test_a_missing_library_is_named_with_its_extra(told):
    for line, (library, extra) in zip(told[2:], MISSING.values(), strict=True):
        assert line == f"this needs {library}, which is not installed: pip install 'deciding-with-approximations[{extra}]'"
