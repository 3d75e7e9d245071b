"""The errata tool and the figures it prints, for the tests that judge them."""

import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


def load_tool() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "tools" / "errata.py"
    spec = importlib.util.spec_from_file_location("errata_tool", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("figures", "links"):  # once, however many tests ask
        setattr(module, name, functools.cache(getattr(module, name)))
    return module


TOOL = load_tool()


@pytest.fixture(scope="session")
def tool() -> ModuleType:
    return TOOL


@pytest.fixture(scope="session")
def figures() -> Callable[..., dict[str, float]]:
    """``figures("T02")`` or, for an item that simulates, ``figures("T01", seed)``: what the page prints, computed."""
    items = {item.id: item for item in TOOL.read()}

    def compute(name: str, seed: int = 0) -> dict[str, float]:
        return TOOL.figures(items[name], seed)

    return compute


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every item, or every pair of an item and a page it touches, as a test of its own."""
    items = TOOL.read()
    if "item" in metafunc.fixturenames:
        computed = [item for item in items if item.computed]
        metafunc.parametrize("item", computed, ids=[item.id for item in computed])
    if "touched" in metafunc.fixturenames:
        pairs = [(item.id, page) for item in items for page in item.pages]
        metafunc.parametrize("touched", pairs, ids=[f"{page}-{name}" for name, page in pairs])
