"""Long lists filter in the browser, without a server; without a script they are plain tables.

A table of the class ``filtered`` gets the script `filter.js` below it, once a page. A row of the list of errata carries the anchor
that its entry had when all of them stood on one page, so that old addresses still lead to it.
"""

import re
from pathlib import Path

from docutils import nodes

SCRIPT = Path(__file__).with_name("filter.js")
ANCHOR = re.compile(r"erratum-\w+")


def filters(app, doctree, docname) -> None:  # noqa: ARG001
    tables = [table for table in doctree.findall(nodes.table) if "filtered" in table["classes"]]
    for row in (row for table in tables if "errata" in table["classes"] for row in table.findall(nodes.row)):
        links = (link.get("refuri", link.get("refid", "")) for link in row.findall(nodes.reference))
        row["ids"] += [found[0] for found in map(ANCHOR.search, links) if found]
    if tables:
        doctree.append(nodes.raw("", f"<script>\n{SCRIPT.read_text('utf8')}</script>", format="html"))


def setup(app) -> dict:
    app.connect("doctree-resolved", filters)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
