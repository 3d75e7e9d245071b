"""The page *What was checked*: every page that runs, with its seconds, its claims, and when it was last tried at other seeds and again.

Nothing runs for it. Seconds are those of the store of executed pages, claims and seeds what checks.py counted, and the rest stands in
appendix/checked.json, which tools/reseed.py and tools/reproduce.py write. What holds for other code than the page's own is not shown.
"""

import datetime
import html
import os
import platform
import sys
from importlib.metadata import version
from typing import Any, NamedTuple

import checks
import contents
from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(contents.BOOK.parent))
from tools import lesson, pages, record

PAGE = "appendix/checked"
PACKAGES = ("jax", "numpy", "scipy", "optax", "numpyro", "pymc", "nutpie", "arviz", "scikit-learn", "matplotlib")
HEADINGS = ("Page", "Seconds", "Claims", "At several seeds", "At other seeds", "Run again")
NOT_RUN = "not run for this version"


class Row(NamedTuple):
    """What is known of one page."""

    link: str
    anchor: str
    seconds: float
    claims: list[int]  # for each at how many seeds the page itself checks it, 0 for its own alone
    reseed: dict[str, Any] | None
    reproduce: dict[str, Any] | None


def day(iso: str) -> str:
    """``2026-11-04`` as people write it."""
    date = datetime.date.fromisoformat(iso)
    return f"{date.day} {date:%B %Y}"


def verdicts(row: Row, state: str) -> tuple[str, str]:
    """What the two last columns say; a dagger where the package was another."""
    words = []
    for kind, found in (("reseed", row.reseed), ("reproduce", row.reproduce)):
        if found is None:
            words.append(NOT_RUN)
            continue
        if kind == "reseed":
            fails, shifts = len(found["fails"]), checks.some(len(found["shifts"]), "shift")
            said = f"{checks.some(fails, 'line')} fail{'s' * (fails == 1)} at {shifts}" if fails else f"all hold at {shifts}"
        else:
            said = "the same" if found["same"] else "something else"
        date = f"{day(found['date'])}{'' if found['package'] == state else ' †'}".replace(" ", "\N{NO-BREAK SPACE}")
        words.append(f"{said}, {date}")
    return words[0], words[1]


def table(rows: list[Row], state: str) -> str:
    """All pages, and a line that sums up."""
    lines = []
    for row in rows:
        seeded = [n for n in row.claims if n]
        at = f"{len(seeded)} ({'' if min(seeded) == max(seeded) else f'{min(seeded)} to '}{max(seeded)})" if seeded else "none"
        numbers = f"<td>{row.seconds:.1f}</td><td>{len(row.claims)}</td><td>{at}</td>"
        words = "".join(f"<td>{words}</td>" for words in verdicts(row, state))
        lines.append(f'<tr id="{row.anchor}"><th scope="row">{row.link}</th>{numbers}{words}</tr>')
    heads = "".join(f'<th scope="col">{words}</th>' for words in HEADINGS)
    seeded = sum(n > 0 for row in rows for n in row.claims)
    total = f"Run one after another, the {len(rows)} pages take {sum(row.seconds for row in rows) / 60:.0f} minutes"
    claims = f"{sum(len(row.claims) for row in rows):,} claims are asserted, {seeded:,} of them at several seeds"
    dagger = "<p>† with an earlier state of the package or of its pins.</p>" if "†" in "".join(lines) else ""
    return (
        f'<p>{total}; {claims}.</p><div class="pst-scrollable-table-container"><table class="table checked"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>{dagger}"
    )


def sheets_line(known: dict[str, dict[str, Any]]) -> str:
    """How many of the solved sheets were run again."""
    found = [record.current(pages.read_page(path), "reproduce", known) for path in pages.find_pages(folders=["solutions"])]
    there = [entry for entry in found if entry]
    if not there:
        return f"<p>Solved sheets, run again: {NOT_RUN}.</p>"
    same, last = sum(entry["same"] for entry in there), max(entry["date"] for entry in there)
    missing = f" {len(found) - len(there)} have changed since." if len(there) < len(found) else ""
    return f"<p>Of {len(found)} solved sheets, {same} printed the same a second time, the last on {day(last)}.{missing}</p>"


def surroundings() -> str:
    """When and with what the book was built."""
    today = day(datetime.datetime.now(tz=datetime.UTC).date().isoformat())
    cores = checks.some(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, "core")
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"<p>Built on {today} with {cores}: Python {platform.python_version()}, {packages}.</p>"


def extent() -> str:
    """How much there is to read and to do, by what pages and sheets state."""
    known, sheets = contents.pages().values(), contents.sheets().values()
    words = sum(lesson.lesson(pages.read_page(contents.BOOK / f"{page.name}.md")).words for page in known)
    reading, doing = (contents.hours(sum(thing.minutes for thing in things)) for things in (known, sheets))
    return f"<p>{len(known)} pages of {words:,} words take {reading}, by what they state; {len(sheets)} sheets take {doing} more.</p>"


def rows(app) -> list[Row]:
    """Every page that was executed, in the order of the contents."""
    known, data = record.read(), NbMetadataCollector.get_doc_data(app.env)
    order = ["intro", *(name for names in contents.parts().values() for name in names)]
    found = []
    for name in (name for name in order if data.get(name, {}).get("exec_data")):
        title, page = app.env.titles[name], pages.read_page(contents.BOOK / f"{name}.md")
        number = ".".join(map(str, title.get("secnumber", ())))
        link = f'<a href="{app.builder.get_relative_uri(PAGE, name)}">{f"{number} {html.escape(title.astext())}".strip()}</a>'
        recorded = (record.current(page, kind, known) for kind in ("reseed", "reproduce"))
        seconds = data[name]["exec_data"]["runtime"] or 0.0
        found.append(Row(link, checks.row_of(name), seconds, data[name].get(checks.CLAIMS, []), *recorded))
    return found


class Checked(SphinxDirective):
    """The place of the table, which is known when every page has been read."""

    def run(self) -> list[nodes.Node]:
        return [nodes.container("", classes=["what-was-checked"])]


def fill(app, doctree, _docname) -> None:
    """Write the table; the page is written in every build, so it is never older than the book."""
    for place in doctree.findall(lambda n: isinstance(n, nodes.container) and "what-was-checked" in n["classes"]):
        words = surroundings() + extent() + table(rows(app), record.package()) + sheets_line(record.read())
        place += nodes.raw("", words, format="html")


def setup(app) -> dict:
    app.add_directive("what-was-checked", Checked)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
