"""No answer to an exercise is anywhere in the built site: not on a sheet's page, not in its download, not in the index of the search."""

import functools
import html
import re

import pytest
from book_browser import SITE

from course_pkg.checks.record import sheet_tasks
from tools import exercises

SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?) *### END SOLUTION", re.DOTALL)
PLAIN = {ord("`"): None, ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"'}
NAMES = exercises.names()


def squeezed(text: str) -> str:
    """Single spaces, and none of the marks that a page sets otherwise than its source."""
    return " ".join(text.translate(PLAIN).split())


def words(path) -> str:
    """What a file says, however it is marked up: no tags, no escapes of HTML or JSON, single spaces."""
    text = path.read_text("utf8")
    if path.suffix == ".html":
        text = html.unescape(re.sub(r"<[^>]+>", "", text))
    elif path.suffix == ".ipynb":
        text = re.sub(r'\\n",?\s*"|\\n', "\n", text).replace(r"\"", '"').replace(r"\\", "\\")
    return squeezed(text)


@functools.cache
def cells(name: str) -> tuple[list[str], list[str]]:
    """The answers of a sheet, in code and in words, and all else that stands in it."""
    answers, asked = [], []
    for cell in exercises.source(name).cells:
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution"):
            answers.append(cell.source)
        else:
            answers += SOLUTION.findall(cell.source)
            asked.append(SOLUTION.sub("", cell.source))
    return answers, asked


@pytest.fixture(scope="module")
def site():
    files = [path for path in SITE.rglob("*") if path.suffix in {".html", ".md", ".ipynb"} or path.name == "searchindex.js"]
    assert len(files) > 2 * len(NAMES), f"the book is not built in {SITE}: run `make book` first"
    return {path.relative_to(SITE).as_posix(): words(path) for path in files}


@pytest.mark.parametrize("name", NAMES)
def test_a_sheet_shows_its_questions_and_no_line_of_its_answers(name, site):
    shown = [site[f"exercises/{name}.html"], site[f"_sources/exercises/{name}.md"], site[f"_sources/exercises/{name}.ipynb"]]
    answers, asked = cells(name)
    known = squeezed(" ".join(asked))
    pieces = {squeezed(piece) for answer in answers for piece in re.split(r"\n|(?<=[.?!]) ", answer)}
    secrets = [piece for piece in pieces if len(piece) > 12 and piece not in known]
    assert secrets
    assert [secret for secret in secrets if secret in shown[2]] == []
    hints = squeezed(" ".join(hint for task in sheet_tasks(name).values() for hint in task.hints))
    assert [secret for secret in secrets if any(secret in text for text in shown[:2]) and secret not in hints] == []
    title = squeezed(asked[0].lstrip().splitlines()[0].lstrip("# "))
    assert all(title in text for text in shown)
    assert ("raise NotImplementedError" in shown[0]) == any(SOLUTION.search(cell.source) for cell in exercises.source(name).cells)


def test_no_answer_as_a_whole_is_anywhere(site):
    """A page may teach with a line that an answer has, too; never with an answer of several lines."""
    everything = "\n".join(site.values())
    assert "BEGIN SOLUTION" not in everything
    whole = {f"{name}: {squeezed(answer)}" for name in NAMES for answer in cells(name)[0] if answer.strip().count("\n") > 1}
    assert [answer for answer in whole if answer.partition(": ")[2] in everything] == []
