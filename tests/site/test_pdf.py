"""The book on paper: its pages in order, with an outline, links and numbers, and nothing to click on."""

import os
import re
import shutil
import subprocess

import pytest
from book_browser import SITE, open_browser

from tools import pdf

SOME = ["decisions/risk", "vi/topics", "exercises", "exercises/decisions/ridge"]
LEFTOVERS = ["Show the code", "Hide the code", "Loading", "Hint:", "Take the notebook", "{glue}", "{ref}", r"\frac", r"\begin", "$$"]


def text_of(file) -> list[str]:
    """The text of each sheet."""
    return subprocess.run(["pdftotext", "-layout", file, "-"], check=True, capture_output=True, text=True).stdout.split("\f")


def titles(chosen) -> list[str]:
    """As the site's pages have them: number and title."""
    pages = [(SITE / f"{page}.html").read_text("utf8") for part in chosen for page in part["pages"]]
    heads = [re.search(r"<title>(.*?) &#8212;|<title>(.*?)</title>", page) for page in pages]
    return [re.sub(r"&#39;|&amp;", "", head[1] or head[2]) for head in heads]


def squeezed(words: str) -> str:
    return re.sub(r"\W", "", words)


@pytest.fixture(scope="module", params=[pytest.param(SOME, id="some"), pytest.param(None, id="all", marks=pytest.mark.thorough)])
def printed(request, home, tmp_path_factory):
    """A PDF, the text of its sheets and the parts it was made of."""
    if shutil.which("pdftotext") is None:
        message = "no pdftotext here: install Debian's poppler-utils to read the PDF"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    chosen = pdf.parts(request.param)
    file = tmp_path_factory.mktemp("pdf") / "book.pdf"
    with open_browser() as driver:
        file.write_bytes(pdf.print_book(driver, home, chosen))
    return file.read_bytes(), text_of(file), chosen


def test_every_page_begins_on_the_sheet_that_the_contents_name(printed):
    data, sheets, chosen = printed
    places = pdf.places(data)
    names = [page for part in chosen for page in part["pages"]]
    begins = [places[name.replace("/", "-")] for name in names]
    assert begins == sorted(set(begins))
    contents = squeezed("".join(sheets[: begins[0] - 1]))
    for title, sheet in zip(titles(chosen), begins, strict=True):
        assert squeezed(title) in squeezed(sheets[sheet - 1])
        assert f"{squeezed(title)}{sheet}" in contents
        assert sheets[sheet - 1].split()[-1] == str(sheet)


def test_outline_and_links(printed):
    data, _, chosen = printed
    outline = [words.decode("latin-1") for words in re.findall(rb"/Title \(((?:[^()\\]|\\.)*)\)", data)]
    assert [part["title"] for part in chosen] == [entry for entry in outline if entry in {part["title"] for part in chosen}]
    inside = set(re.findall(r"/Dest /(\S+)", data.decode("latin-1")))
    assert inside
    assert inside <= set(pdf.places(data))


def test_nothing_is_left_of_the_screen(printed):
    _, sheets, chosen = printed
    (first, *_) = [part["pages"][0] for part in chosen]
    start = 0 if first != "intro" else next(k for k, sheet in enumerate(sheets) if "Chapter 1: Decisions" in sheet and "1.1. " in sheet)
    found = {word: k + 1 for word in LEFTOVERS for k, sheet in enumerate(sheets) if k >= start and word in sheet}
    assert found == {}
