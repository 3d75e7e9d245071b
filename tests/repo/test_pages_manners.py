"""What every page must have, and must not."""

import functools
import re

import pytest
import yaml

from tools import lesson
from tools.pages import ROOT, find_pages, read_page

BOOK = ROOT / "book"
WHOLESALE = re.compile(
    r"""(simplefilter|filterwarnings)\(\s*(action\s*=\s*)?["']ignore["']\s*\)   # no message, no category, no module
    |-W\s*ignore|PYTHONWARNINGS|%%capture|remove[-_]stderr|logging\.disable|redirect_stderr|sys\.stderr\s*=""",
    re.VERBOSE,
)
CODE_WIDTH = 88  # characters, what the column of the book shows
MINUTES = re.compile(r"^\*.*\b\d+ minutes\b.*\blevel\b", re.IGNORECASE | re.MULTILINE)


def listed():
    """Pages that the table of contents names, in its order."""

    def walk(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in {"file", "root"}:
                    yield value
                else:
                    yield from walk(value)
        elif isinstance(node, list):
            for entry in node:
                yield from walk(entry)

    return list(walk(yaml.safe_load((BOOK / "_toc.yml").read_text("utf8"))))


@functools.cache
def page_of(name):
    """A page, read once for all that is asked of it."""
    return read_page(ROOT / name)


NOTEBOOKS = [path.relative_to(ROOT).as_posix() for path in find_pages()]
# those of the appendix that execute have a chapter's form, too
OTHERS = ("appendix/", "teaching/")
CHAPTER_PAGES = [name for name in listed() if "/" in name and (not name.startswith(OTHERS) or f"book/{name}.md" in NOTEBOOKS)]


def test_the_table_of_contents_and_the_folder_agree():
    there = {
        path.relative_to(BOOK).with_suffix("").as_posix()
        for path in BOOK.rglob("*.md")
        if not any(part.startswith(("_", ".")) for part in path.relative_to(BOOK).parts)
        and BOOK / "exercises" not in path.parents  # made by the build, and listed on one page
    }
    assert len(listed()) == len(set(listed()))
    assert set(listed()) == there


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_a_chapter_s_page_states_minutes_and_level_at_its_top(name):
    text = (BOOK / f"{name}.md").read_text("utf8")
    top = text.split("\n# ", 1)[1][:1200]
    assert MINUTES.search(top), "write below the title: *12 minutes. Level: one star. Before this: ...*"


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_a_chapter_s_page_has_its_parts(name):
    text = (BOOK / f"{name}.md").read_text("utf8")
    assert "alt:" in text, "no figure with alt text"
    assert re.search(r"check yourself", text, re.IGNORECASE)
    assert re.search(r"\bsources\b", text, re.IGNORECASE)


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name.startswith("book/")])
def test_a_page_that_executes_asserts_what_it_claims(name):
    cells = [cell.source for cell in page_of(name).notebook.cells if cell.cell_type == "code"]
    checks = [line for source in cells for line in source.splitlines() if re.match(r"\s*(assert|check)\b", line)]
    assert checks, "no cell asserts anything"
    assert not any(re.match(r"\s*assert (True|1)\s*(,|$)", line) for line in checks), "an assertion that cannot fail"


def too_wide(notebook):
    """Lines of code that a reader would have to scroll for."""
    return [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines() if len(line) > CODE_WIDTH]


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name.startswith("book/")])
def test_code_fits_the_column(name):
    assert too_wide(page_of(name).notebook) == []


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_the_lesson_stands_in_front_of_its_proof(name):
    page = page_of(f"book/{name}.md")
    found = lesson.lesson(page)
    assert found.loud == 0, "a visible cell asserts, or hands numbers to the text: tag it check"
    assert found.before <= 5, "visible lines before the first picture or number"
    assert found.lines <= 150
    assert found.longest <= 20
    assert 2 * found.showing >= found.cells, "visible cells that show nothing"
    text = page.path.read_text("utf8")
    stated = int(re.search(r"\*(\d+) minutes", text)[1])
    assert stated <= 60
    assert abs(stated - found.minutes) <= 5, f"states {stated} minutes, counts {found.minutes}: tools/lesson.py --write"
    assert re.search(r"In short", text), "no summary before the exercises"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_page_silences_warnings_wholesale(name):
    cells = [str(cell.source) + str(cell.metadata) for cell in page_of(name).notebook.cells if cell.cell_type == "code"]
    assert not [match[0] for cell in cells if (match := WHOLESALE.search(cell))]


@pytest.mark.parametrize(
    ("code", "wholesale"),
    [
        ('warnings.filterwarnings("ignore")', True),
        ("warnings.simplefilter( 'ignore' )", True),
        ('warnings.filterwarnings("ignore", message="overflow", category=RuntimeWarning)', False),
        ("{'tags': ['remove-stderr']}", True),
    ],
)
def test_the_pattern_tells_wholesale_from_particular(code, wholesale):
    assert bool(WHOLESALE.search(code)) == wholesale
