"""What the book says of its last runs: for the code that a page has, and for no other."""

import importlib
import re
import sys

import pytest

from tests.notebooks.test_pages import project, write_page
from tools import pages, record
from tools.pages import ROOT

__all__ = ["project"]  # a fixture
sys.path.insert(0, str(ROOT / "book" / "_ext"))
checked = importlib.import_module("checked")
PAGE = """
Some words.

```{code-cell} python
x = 1
assert x
```
"""


@pytest.fixture
def page(project):
    return lambda text=PAGE: pages.read_page(write_page(project, text), project)


@pytest.fixture
def note(project):
    return lambda page, kind="reseed", **found: record.note(kind, page, found, project / "record.json", project)


def test_what_was_found_holds_for_a_page_s_code_and_not_for_another(project, page, note):
    note(page(), asserts=1, shifts=[1000], fails=[])
    known = record.read(project / "record.json")
    assert record.current(page(), "reseed", known)["shifts"] == [1000]
    assert record.current(page(), "reproduce", known) is None
    assert record.current(page(PAGE.replace("words", "other words")), "reseed", known)
    assert record.current(page(PAGE.replace("x = 1", "x = 2")), "reseed", known) is None


def test_shifts_and_failures_add_up_until_the_package_changes(project, page, note):
    note(page(), asserts=1, shifts=[2000], fails=[9])
    note(page(), asserts=1, shifts=[1000, 2000], fails=[])
    entry = record.read(project / "record.json")[page().name]["reseed"]
    assert (entry["shifts"], entry["fails"]) == ([1000, 2000], [9])
    (project / "course_pkg" / "other.py").write_text("y = 1\n")
    note(page(), asserts=1, shifts=[1000], fails=[])
    entry = record.read(project / "record.json")[page().name]["reseed"]
    assert (entry["shifts"], entry["fails"]) == ([1000], [])


def test_a_page_that_is_gone_leaves_the_record(project, page, note):
    gone = page()
    note(gone, same=True, kind="reproduce")
    gone.path.unlink()
    kept = pages.read_page(write_page(project, PAGE, "book/decisions/kept.md"), project)
    note(kept, same=True, kind="reproduce")
    assert list(record.read(project / "record.json")) == ["book/decisions/kept.md"]


RESEED = {"asserts": 2, "shifts": [1000, 2000], "fails": [], "date": "2026-11-04", "package": "now"}
AGAIN = {"same": True, "date": "2026-11-05", "package": "now"}


@pytest.mark.parametrize(
    ("reseed", "again", "words"),
    [
        (None, None, ("not run for this version", "not run for this version")),
        (RESEED, AGAIN, ("all hold at 2 shifts, 4 November 2026", "the same, 5 November 2026")),
        (
            RESEED | {"fails": [3]},
            AGAIN | {"same": False},
            ("1 line fails at 2 shifts, 4 November 2026", "something else, 5 November 2026"),
        ),
        (RESEED | {"package": "then"}, None, ("all hold at 2 shifts, 4 November 2026 †", "not run for this version")),
    ],
)
def test_the_book_shows_what_was_recorded(reseed, again, words):
    row = checked.Row("<a>page</a>", "checked-page", 1.26, [0, 5, 20, 5], reseed, again)
    assert tuple(said.replace("\N{NO-BREAK SPACE}", " ") for said in checked.verdicts(row, "now")) == words
    shown = checked.table([row], "now")
    assert '<tr id="checked-page"><th scope="row"><a>page</a></th><td>1.3</td><td>4</td><td>3 (5 to 20)</td>' in shown
    assert "4 claims are asserted, 3 of them at several seeds" in shown
    assert ("earlier state" in shown) == ("†" in words[0])


def test_the_book_s_extent_is_that_of_its_pages_and_sheets():
    numbers = [int(word.replace(",", "")) for word in re.findall(r"[\d,]*\d", checked.extent())]
    sheets = list((ROOT / "solutions").glob("*/*.md"))
    listed = [ROOT / "book" / f"{name}.md" for name in checked.contents.pages()]
    texts = {path: path.read_text("utf8") for path in listed + sheets}
    hours = [sum(int(re.search(r"^\*(\d+) minutes\.", texts[path], re.MULTILINE)[1]) for path in paths) / 60 for paths in (listed, sheets)]
    assert numbers[::2] == [len(listed), round(hours[0]), round(hours[1])]
    assert numbers[3] == len(sheets)
    every = sum(len(texts[path].split()) for path in listed)  # with its code and its formulas
    assert 0.3 * every < numbers[1] < 0.9 * every
