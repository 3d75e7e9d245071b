"""The built book, served on loopback, and one browser to look at it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from book_browser import LISTED, SITE, VIEWS, find_browser, open_browser, pages, serve, visit


def pytest_generate_tests(metafunc):
    """A test of a ``page`` looks at each of its file's ``PAGES``, unless it says at which."""
    if "page" in metafunc.fixturenames and not any("page" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")):
        metafunc.parametrize("page", metafunc.module.PAGES)


@pytest.fixture(scope="session")
def browser():
    if find_browser() is None:
        message = "no browser here: install Debian's chromium and chromium-driver to test the pages"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with open_browser() as driver:
        yield driver


@pytest.fixture(scope="session")
def home():
    """The address of the built book."""
    if not pages():
        pytest.fail(f"the book is not built in {SITE}: run `make book` first")
    with serve(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def look(browser, home, request):
    """Visit a page of the book, once in a session however many tests ask; what has a template's colours, in the dark when there is time."""
    visits, thorough = {}, request.config.getoption("--thorough")

    def once(page: str):
        if page not in visits:
            visits[page] = visit(browser, f"{home}/{page}", VIEWS if thorough or not page.startswith(LISTED) else VIEWS[:2])
        return visits[page]

    return once
