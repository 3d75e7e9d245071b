"""Where each section of the four documents went: a table from their headings to the pages of this book.

The headings and the pages that a person has chosen for them stand in appendix/sections.toml. Pages whose Sources name a section of a
document are added by themselves, so that the table keeps up with the book.
"""

import functools
import re
import tomllib
from collections.abc import Iterable
from typing import NamedTuple

import contents
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

SOURCE = contents.BOOK / "appendix" / "sections.toml"
NUMBER = r"\d+(?:\.\d+)*"
MARK = re.compile(r"\{cite:[tp]\}`([^`]+)`|\b(?:the|lecture) (thesis|paper|slides|notes)\b", re.IGNORECASE)
PLACES = re.compile(rf"\b(?:sections?|chapters?)\s+({NUMBER}(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s+to\s+){NUMBER})*)(?![.\d]*\d|\s+of\b)")


class Section(NamedTuple):
    """A heading of a document."""

    heading: str
    pages: tuple[str, ...]  # names of pages, the main one first
    remark: str

    @property
    def number(self) -> str:
        """``2.3.2`` of ``2.3.2 Reparameterization methods``; empty where there is none, or where the heading has none of its own."""
        found = re.match(rf"({NUMBER}) ", self.heading)
        return found[1] if found else ""


class Document(NamedTuple):
    """One of the four that the course follows."""

    cite: str
    title: str
    sections: tuple[Section, ...]


@functools.cache
def written() -> dict[str, Document]:
    """The table as a person wrote it."""
    found = {}
    for name, entry in tomllib.loads(SOURCE.read_text("utf8")).items():
        remarks = entry.get("remarks", {})
        if lost := remarks.keys() - entry["sections"].keys():
            raise ValueError(f"{SOURCE.name} has remarks on {sorted(lost)}, which are no headings of the {name}")
        sections = tuple(Section(heading, tuple(pages), remarks.get(heading, "")) for heading, pages in entry["sections"].items())
        found[name] = Document(entry["cite"], entry["title"], sections)
    return found


def expanded(places: str) -> list[str]:
    """``3.1, 3.2.2 to 3.2.4`` as the numbers that are meant."""
    found: list[str] = []
    for joint, number in re.findall(rf"(^|,|and|to)\s*({NUMBER})", places):
        if joint == "to":
            stem, _, first = found[-1].rpartition(".")
            last = int(number.rpartition(".")[2])
            found += [f"{stem}.{k}".lstrip(".") for k in range(int(first) + 1, last + 1)]
        else:
            found.append(number)
    return found


def sources(text: str) -> str:
    """The last part of a page, where it says what it rests on."""
    return text.partition("\n## Sources\n")[2]


def named(text: str) -> dict[str, list[str]]:
    """The numbers of sections that a page's Sources name, by document; a document without a number has none."""
    cites = {document.cite: name for name, document in written().items()}
    found: dict[str, list[str]] = {}
    for item in re.split(r"\n\s*\n|\n(?=- )", sources(text)):
        item = re.sub(r"\s*\([^()]*\)", "", item)
        marks = list(MARK.finditer(item))
        for mark, after in zip(marks, [*marks[1:], None], strict=False):
            name = cites.get(mark[1]) if mark[1] else mark[2].lower()
            numbers = [number for places in PLACES.findall(item[mark.end() : after and after.start()]) for number in expanded(places)]
            if name and (numbers or mark[1]):  # "the paper" alone may be another one
                found.setdefault(name, []).extend(numbers)
    return found


def listed() -> list[str]:
    """All pages of the book in the order of the contents."""
    below = contents.below()
    tops = ["intro", *(name for names in contents.parts().values() for name in names)]
    return [page for top in tops for page in (top, *below.get(top, ()))]


@functools.cache
def documents() -> dict[str, Document]:
    """The table with the pages whose Sources name a section."""
    also: dict[tuple[str, str], list[str]] = {}
    for page in listed():
        for name, numbers in named((contents.BOOK / f"{page}.md").read_text("utf8")).items():
            for number in numbers:
                also.setdefault((name, number), []).append(page)
    return {
        name: document._replace(
            sections=tuple(
                section._replace(pages=tuple(dict.fromkeys([*section.pages, *also.get((name, section.number), [])])))
                for section in document.sections
            )
        )
        for name, document in written().items()
    }


def own() -> list[str]:
    """Pages to which no section of the four leads."""
    led = {page for document in documents().values() for section in document.sections for page in section.pages}
    return [page for page in listed() if page not in led]


def links(pages: Iterable[str]) -> str:
    return ", ".join(f"{{doc}}`/{page}`" for page in pages)


def table(name: str) -> list[str]:
    """The rows of a document, as Markdown."""
    rows = [f"| {section.heading} | {links(section.pages) or '–'} | {section.remark} |" for section in documents()[name].sections]
    return ["| Section | Pages | Besides |", "| --- | --- | --- |", *rows]


def beyond() -> list[str]:
    """What this book adds: pages of the chapters with their questions, and the rest in one line."""
    pages = [contents.pages()[page] for page in own() if page in contents.pages() and contents.pages()[page].number]
    rest = [page for page in own() if page not in {page.name for page in pages}]
    lines = [f"- {links([page.name])}: {page.question}" for page in pages]
    return [*lines, "", f"The rest is apparatus: {links(rest)}."]


class Where(SphinxDirective):
    """The table of one document, or, without an argument, what stands in none of them."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        for path in (SOURCE, *(contents.BOOK / f"{page}.md" for page in listed())):
            self.env.note_dependency(str(path))
        lines = table(self.arguments[0]) if self.arguments else beyond()
        place = nodes.container()
        self.state.nested_parse(StringList(lines, str(SOURCE)), self.content_offset, place)
        return place.children


def setup(app) -> dict:
    app.add_directive("where-sections-went", Where)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
