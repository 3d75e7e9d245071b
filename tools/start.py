"""Write START-HERE.ipynb, with which JupyterLab opens: every page and every sheet by number and title, in the order of the course.

    python tools/start.py          write it
    python tools/start.py --check  exit 1 where that would change it

It is made from book/_toc.yml, the first lines of the pages and the sheets of solutions/. Its one cell calls `here`.
"""

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
sys.path.insert(0, str(ROOT))  # for `python tools/start.py`, whose path begins in tools/

from course_pkg.checks.progress import entries, passed  # noqa: E402

contents: Any = importlib.import_module("contents")  # from book/_ext

NOTEBOOK = ROOT / "START-HERE.ipynb"
STARS = ("", " ★", " ★★", " ★★★")
OPENING = """\
# Start here

A page of the book is text and cells, and a click opens it as a notebook: run its cells from top to bottom, and change what you like.
After a page come its sheets of exercises. In a sheet, put your answer in place of the stub and run the cell with `check`: it says at once
whether the answer is right. Hints are in the cell above it; solved sheets are in `solutions/`, for when you are done.

The way in is [the front page](book/intro.md). Run the next cell, now and whenever you come back, to see what is next."""


def page_link(page: contents.Page) -> str:
    """A page by number and title."""
    return f"[{page.number} {page.title}](book/{page.name}.md)".replace("[ ", "[")


def sheet_link(sheet: contents.Sheet, number: str | None) -> str:
    """A sheet by its number and its title: the student's own copy, which `course open` makes."""
    return f"{f'Sheet {number}' if number else 'To talk over'}: [{sheet.title}](work/{sheet.name}.ipynb)"


def course() -> list[tuple[contents.Page, list[contents.Sheet]]]:
    """Every page with the sheets that come after it, in the order in which a reader meets them."""
    sheets = contents.sheets().values()
    return [(page, [sheet for sheet in sheets if sheet.page == name]) for name, page in contents.pages().items()]


def numbered() -> dict[str, str]:
    """The number of each sheet that has a verdict, such as 1.4; the others are for talking over."""
    return {entry.sheet.name: entry.number for entry in entries()}


def listing() -> str:
    """The course as Markdown."""
    numbers, lines, part = numbered(), [], ""
    for page, sheets in course():
        if page.part != part:
            part = page.part
            number = f"{page.number.partition('.')[0]} " if page.number else ""
            lines += ["", f"## {number}{part}", ""]
        lines.append(f"- {page_link(page)} · {page.minutes} min{STARS[page.stars]}")
        lines += [f"  - {sheet_link(sheet, numbers.get(sheet.name))} · {sheet.minutes} min{STARS[sheet.stars]}" for sheet in sheets]
    return "\n".join(lines).strip()


def notebook() -> Any:
    """The notebook, with cell ids that do not change."""
    cells = [
        nbformat.v4.new_markdown_cell(OPENING, id="start"),
        nbformat.v4.new_code_cell("from tools.start import here\n\nhere()", id="here"),
        nbformat.v4.new_markdown_cell(listing(), id="course"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


# --- what is done, and what is next ---------------------------------------------------------------


def progress() -> str:
    """What is done and, as Markdown, the first sheet that is not, with the pages to read before it."""
    numbers, done, following = numbered(), passed(), ""
    known = {entry.sheet.name: entry for entry in entries()}  # the other sheets are for talking over
    unread: list[contents.Page] = []  # since the last page whose sheets are done
    for page, sheets in course():
        judged = [sheet for sheet in sheets if sheet.name in known]
        unread = [*unread, page]
        missing = next((sheet for sheet in judged if known[sheet.name].left(done)), None)
        if judged and not missing:
            unread = []
        elif missing and not following:
            parts = known[missing.name].minutes
            begun = f" ({len(done & set(parts))} of {len(parts)} parts)" if done & set(parts) else ""
            following = f"**Next:** {', '.join(map(page_link, unread))}, then {sheet_link(missing, numbers.get(missing.name))}{begun}."
    return f"{sum(not entry.left(done) for entry in known.values())} of {len(known)} sheets with verdicts are done. {following}".strip()


def here() -> Any:
    """What is next for whoever opened the notebook, by what `check` has noted on this machine."""
    from IPython.display import Markdown

    return Markdown(progress())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    fresh = notebook()
    if not check:
        NOTEBOOK.write_text(nbformat.writes(fresh, indent=1) + "\n", "utf8")
    elif not NOTEBOOK.exists() or asked(nbformat.read(NOTEBOOK, as_version=4)) != asked(fresh):
        sys.exit(f"{NOTEBOOK.name} is out of step: python tools/start.py")


def asked(book: Any) -> list[tuple[str, str]]:
    """What a notebook says, whether or not it was run."""
    return [(cell.cell_type, cell.source) for cell in book.cells]


if __name__ == "__main__":
    main()
