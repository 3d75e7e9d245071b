"""How a page looks to a reader: what code they see, what it shows, and how long they need.

python tools/lesson.py                         every page, with the sum
python tools/lesson.py book/mcmc/nuts.md       these
python tools/lesson.py --write                 and state the minutes at each page's top
"""

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/lesson.py`, whose path begins in tools/

from tools import pages

FOLDED = {"setup", "check", "hide-input", "remove-cell", "remove-input"}
HELPERS = {"say", "glue", "print"}  # hand numbers to the text
WORDS, LINES = 100, 4  # a minute: how the two weigh, as fitted on what readers said of one page in three forms
SLOWER = 1.5  # what readers took of twelve other pages, over that
STATED = re.compile(r"^\*\d+(?= minutes\. Level: )", re.MULTILINE)  # at a page's top


class Lesson(NamedTuple):
    """Counts of one page."""

    words: int  # of prose
    lines: int  # of visible code
    cells: int  # visible
    showing: int  # visible cells that end in a result
    longest: int  # lines of the longest visible cell
    before: int  # visible lines before the first picture or number
    loud: int  # visible cells with an assert, or with a call that hands numbers to the text
    asserts: int  # in all cells

    @property
    def minutes(self) -> int:
        """What the page should state, to the nearest five."""
        return max(5, 5 * round(SLOWER * (self.words / WORDS + self.lines / LINES) / 5))


def prose(text: str) -> int:
    """Words of Markdown; a formula is one."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|\{glue:text\}`[^`]*`", " x ", text, flags=re.S)
    text = re.sub(r"^(:::|```|\(page-).*$|^:[a-z-]+:.*$|^\|[-|: ]*\|$", " ", text, flags=re.M)
    return len(re.findall(r"[A-Za-zÀ-ÿ0-9][\w’'.,-]*", text))


def _calls(tree: ast.AST) -> set[str]:
    return {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}


def shows(source: str) -> bool:
    """Whether a cell ends in a value that the reader sees."""
    last = ast.parse(source).body[-1]
    return isinstance(last, ast.Expr) and not source.rstrip().endswith(";") and not _calls(last) & HELPERS


def lesson(page: pages.Page) -> Lesson:
    """Count a page."""
    words = lines = cells = showing = longest = loud = asserts = 0
    before = None
    for cell in page.notebook.cells:
        if cell.cell_type != "code":
            words += prose(cell.source)
            if before is None and re.search(r"\{glue:text\}", cell.source):
                before = lines
            continue
        tree = ast.parse(cell.source)
        held = sum(isinstance(node, ast.Assert) for node in ast.walk(tree))
        asserts += held
        tags = set(cell.metadata.get("tags", []))
        if tags & FOLDED:
            if before is None and "hide-input" in tags:
                before = lines
            continue
        size = sum(bool(line.strip()) for line in cell.source.splitlines())
        lines, cells, longest = lines + size, cells + 1, max(longest, size)
        showing += shows(cell.source)
        loud += bool(held or _calls(tree) & HELPERS)
        if before is None and shows(cell.source):
            before = lines
    return Lesson(words, lines, cells, showing, longest, lines if before is None else before, loud, asserts)


def restated(text: str, minutes: int) -> str:
    """A page's text with these minutes at its top."""
    return STATED.sub(f"*{minutes}", text, count=1)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="What a reader of a page sees of its code.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages or folders; all of book/ if none")
    parser.add_argument("--write", action="store_true", help="state the minutes at each page's top")
    given = parser.parse_args()
    chosen = [path.resolve() for path in given.pages]
    paths = [path for path in pages.find_pages(folders=["book"]) if not chosen or any(path == p or p in path.parents for p in chosen)]
    print(f"{'':44}{' '.join(f'{name:>8}' for name in (*Lesson._fields, 'minutes'))}")
    table: list[Any] = []
    for path in paths:
        page = pages.read_page(path)
        found = lesson(page)
        table.append((*found, found.minutes))
        if given.write:
            text = path.read_text("utf8")
            if (new := restated(text, found.minutes)) != text:
                path.write_text(new, "utf8")
        print(f"{page.name:44}{' '.join(f'{n:8}' for n in table[-1])}")
    print(f"{'sum':44}{' '.join(f'{sum(column):8}' for column in zip(*table, strict=True))}")


if __name__ == "__main__":
    main()
