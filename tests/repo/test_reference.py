"""The reference: every public name stands in one table of one page, with its entry, and the pages' examples run."""

import doctest
import importlib.util
import pkgutil
from collections import defaultdict

import pytest

import course_pkg
from tools.pages import ROOT

PAGES = {path.stem: path for path in sorted((ROOT / "book" / "appendix" / "api").glob("*.md"))}
spec = importlib.util.spec_from_file_location("apidoc", ROOT / "book" / "_ext" / "apidoc.py")
apidoc = importlib.util.module_from_spec(spec)
spec.loader.exec_module(apidoc)


def test_every_public_name_stands_in_one_table():
    modules = [info.name for info in pkgutil.iter_modules(course_pkg.__path__) if not info.name.startswith("_")]
    names = [name for path in PAGES.values() for table in apidoc.tables(path.read_text("utf8")) for name in table]
    missing = {f"course_pkg.{module}.{name}" for module in modules for name in apidoc.public(module)} - set(names)
    assert not missing, f"not in the reference: {sorted(missing)}; name its file in a table of book/appendix/api"
    assert len(names) == len(set(names)), "a name stands in two tables"


ALIKE = {"LambertW"}  # one distribution, written for NumPyro and for PyMC


def test_a_public_name_is_one_thing():
    """Wherever it is imported from; drawings and verdicts, which are named after what a page shows, left out."""
    found = pkgutil.walk_packages(course_pkg.__path__, "course_pkg.")
    modules = [info.name for info in found if not any(part[0] == "_" or part in ("plots", "checks") for part in info.name.split("."))]
    things = defaultdict(dict)
    for module in modules:
        for name, thing in vars(importlib.import_module(module)).items():
            if callable(thing) and name[0] != "_" and getattr(thing, "__module__", "").startswith("course_pkg"):
                things[name].setdefault(id(thing), module)
    several = {name: sorted(places.values()) for name, places in things.items() if len(places) > 1 and name not in ALIKE}
    assert not several, f"one name, several things: {several}; rename all but one"


def test_a_table_of_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="has no public name of it"):
        apidoc.expanded("% module: decisions\n% table: rulse\n")


@pytest.mark.parametrize("page", PAGES)
def test_the_example_of_a_page_runs(page):
    found = doctest.testfile(str(PAGES[page]), module_relative=False, encoding="utf8")
    assert found.attempted > 1
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_entries_stand_below_their_tables(page):
    text = PAGES[page].read_text("utf8")
    shown = apidoc.expanded(text)
    assert text.count("% entries") == 1
    assert text.index("% entries") > text.rindex("% table")
    assert all(f":: {name}\n" in shown for table in apidoc.tables(text) for name in table)
