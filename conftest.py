"""What every test runs with: quiet figures, strict shapes, kept compilations, pages as tests."""

import contextlib
import gc
import os
import sys

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["COURSE_WORK"] = os.devnull  # what tests solve is no student's work
gc.set_threshold(20_000, 10, 10)  # tracing makes many small objects and few cycles, for which Python looked a tenth of the time
sys.modules["rfc3987_syntax"] = None  # a grammar of addresses, which takes every process a second and which nobody asks

from hypothesis import settings

from tools.pages import compiled_functions, prepare_environment

prepare_environment()  # before JAX is imported, which reads it once

import jax
import pytest

pytest_plugins = ["pytester", "tests.notebooks.cells"]

# The same key gives the same result: properties are tried on the same examples in every run. Compiling may take its time.
settings.register_profile("course", deadline=None, derandomize=True, database=None)
settings.load_profile("course")

_kept = contextlib.ExitStack()


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="what takes long, and answers to exercises at many seeds (make test-all)")


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: takes long, and a smaller test beside it runs always")
    jax.config.update("jax_compilation_cache_dir", str(_kept.enter_context(compiled_functions())))
    jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_runtest_setup(item):
    if item.get_closest_marker("thorough") and not item.config.getoption("--thorough"):
        pytest.skip("in the thorough tier")


def pytest_unconfigure(config):
    _kept.close()
