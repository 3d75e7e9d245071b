"""Write START-HERE.ipynb, with which JupyterLab opens: every page and every sheet by number and title, in the order of the course.

    python tools/start.py          write it
    python tools/start.py --check  exit 1 where that would change it

It is made from book/_toc.yml, the first lines of the pages and the sheets of solutions/. Its one cell calls `here`.
"""

import argparse
import collections
import importlib
import sys
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))
sys.path.insert(0, str(ROOT))  # for `python tools/start.py`, whose path begins in tools/

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


def sheet_link(sheet: contents.Sheet, number: int) -> str:
    """A sheet by its number in the chapter and its title."""
    return f"Sheet {number}: [{sheet.title}](exercises/{sheet.name}.ipynb)"


def course() -> list[tuple[contents.Page, list[contents.Sheet]]]:
    """Every page with the sheets that come after it, in the order in which a reader meets them."""
    sheets = contents.sheets().values()
    return [(page, [sheet for sheet in sheets if sheet.page == name]) for name, page in contents.pages().items()]


def numbered() -> dict[str, int]:
    """The number of each sheet among those of its chapter, in the order of the list."""
    counts: collections.Counter[str] = collections.Counter()
    found = {}
    for name in (sheet.name for _, sheets in course() for sheet in sheets):
        counts[name.partition("/")[0]] += 1
        found[name] = counts[name.partition("/")[0]]
    return found


def listing() -> str:
    """The course as Markdown."""
    numbers, lines, part = numbered(), [], ""
    for page, sheets in course():
        if page.part != part:
            part = page.part
            number = f"{page.number.partition('.')[0]} " if page.number else ""
            lines += ["", f"## {number}{part}", ""]
        lines.append(f"- {page_link(page)} · {page.minutes} min{STARS[page.stars]}")
        lines += [f"  - {sheet_link(sheet, numbers[sheet.name])} · {sheet.minutes} min{STARS[sheet.stars]}" for sheet in sheets]
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


def verdicts(path: Path) -> list[bool]:
    """For each verdict of a saved sheet whether it was asked for and passed."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells if path.is_file() else []:
        if cell.cell_type == "code" and cell.source.startswith("check("):
            kinds = [output.output_type for output in cell.outputs]
            found.append(bool(kinds) and "error" not in kinds)
    return found


def progress(root: Path = ROOT) -> str:
    """What is done and, as Markdown, the first sheet that is not, with the pages to read before it."""
    numbers, done, judged, following = numbered(), 0, 0, ""
    unread: list[contents.Page] = []  # since the last page whose sheets are done
    for page, sheets in course():
        saved = {sheet: verdicts(root / "exercises" / f"{sheet.name}.ipynb") for sheet in sheets}
        passed = {sheet: found for sheet, found in saved.items() if found}  # the others are for talking over
        judged, done = judged + len(passed), done + sum(map(all, passed.values()))
        unread = [*unread, page]
        missing = next((sheet for sheet in passed if not all(passed[sheet])), None)
        if passed and not missing:
            unread = []
        elif missing and not following:
            begun = f" ({sum(passed[missing])} of {len(passed[missing])} verdicts)" if any(passed[missing]) else ""
            following = f"**Next:** {', '.join(map(page_link, unread))}, then {sheet_link(missing, numbers[missing.name])}{begun}."
    return f"{done} of {judged} sheets with verdicts are done. {following}".strip()


def here() -> Any:
    """What is next for whoever opened the notebook; a sheet counts as it was last saved."""
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
