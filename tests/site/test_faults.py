"""The checks can fail: a page with one thing wrong is caught for that thing, and a good page is not."""

import pytest
from book_browser import VIEWS, serve, visit
from book_faults import (
    fault_in_figures,
    fault_in_formulas,
    fault_in_headings,
    fault_in_links,
    fault_in_loading,
    fault_in_view,
)

DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GOOD = f"""<figure><img src="{DOT}" alt="a dot" width="9" height="9"><figcaption>A dot.</figcaption></figure>
<h2 id="there">More</h2><a href="#there">there</a>"""
THEME = """<script>const dark = matchMedia("(prefers-color-scheme: dark)");
const set = () => document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; dark.onchange = set; set()</script>
<style>[data-theme=dark] body {background: #111; color: #eee} [data-theme=dark] a {color: #9cf} pre {overflow-x: auto}</style>"""

# name -> (a piece of page, words that the fault must say)
BROKEN = {
    "outside script": ('<script src="https://example.org/a.js"></script>', "asks outside for https://example.org/a.js"),
    "outside fetch": ("<script>fetch('https://example.org/b').catch(() => 0)</script>", "asks outside for https://example.org/b"),
    "missing file": ('<link rel="stylesheet" href="gone.css">', "request failed: 404"),
    "script error": ("<script>undefined.oops()</script>", "script error"),
    "no alt": (f'<figure><img src="{DOT}"><figcaption>c</figcaption></figure>', "image without alt text"),
    "no caption": (f'<figure><img src="{DOT}" alt="a dot"></figure>', "figure 2 has no caption"),
    "drawing alone": (f'<div class="cell_output"><img src="{DOT}" alt="a"></div>', "drawing outside a figure"),
    "broken image": ('<img src="data:image/png;base64,AAAA" alt="a" width="9" height="9">', "image does not load"),
    "raw dollars": ("<p>so $$x^2$$ is</p>", "formula left as source: $$"),
    "raw bracket": (r'<span class="math">\(x\)</span>', "1 of 1 formulas are not set"),
    "formula error": (r'<mjx-merror data-mjx-error="Undefined control sequence \foo">x</mjx-merror>', "formula with an error"),
    "two titles": ("<h1>Again</h1>", "2 headings of the first level"),
    "skipped level": ("<h5>Deep</h5>", "level 5 right under one of level 2"),
    "too wide": ('<div style="width:700px;height:9px;background:#ccc">wide</div>', "wider than the screen"),
    "formula cut": ('<mjx-container style="display:inline-block;width:600px">x</mjx-container>', "formula cut off"),
    "formula clipped": (
        '<span style="display:inline-flex;width:9px;overflow:hidden"><mjx-container style="flex:none;width:99pc">x</mjx-container></span>',
        "formula cut off",
    ),
    "many to move sideways": (8 * ("<pre>" + "wide " * 200 + "</pre>"), "8 parts are moved sideways"),
    "comma astray": (
        '<p style="width:60px"><mjx-container style="display:inline-block;width:59px">x</mjx-container>, so</p>',
        "a line begins with what follows the formula",
    ),
    "faint in the dark": ('<p style="color:#333">grey</p>', "too little contrast"),
    "link to nowhere": ('<a href="gone.html">gone</a>', "link to nowhere"),
    "link to no place": ('<a href="#gone">gone</a>', "link to a place that is not there"),
}


@pytest.fixture(scope="module")
def faults_of(browser, tmp_path_factory):
    """Write a little page around a piece of HTML and say everything that is wrong with it."""
    folder = tmp_path_factory.mktemp("pages")
    with serve(folder) as home:

        def inspect(piece: str, name: str) -> list[str]:
            page = folder / f"{name}.html"
            head = f'<meta name="viewport" content="width=device-width"><link rel="icon" href="{DOT}"><title>t</title>{THEME}'
            page.write_text(
                f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head>'
                f"<body><main><h1>Title</h1>{GOOD}{piece}</main></body></html>",
                encoding="utf8",
            )
            seen = visit(browser, f"{home}/{page.name}")
            faults = fault_in_loading(seen, home) + fault_in_formulas(seen) + fault_in_figures(seen) + fault_in_headings(seen)
            for view in VIEWS:
                faults += fault_in_view(seen.facts[view.name], view.dark)
            return faults + fault_in_links(folder, [page.name])[page.name]

        yield inspect


def test_a_good_page_has_no_fault(faults_of):
    assert faults_of("<p>Fine.</p><pre>" + "wide " * 200 + "</pre>", "good") == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_page_is_caught_for_what_is_broken(name, faults_of):
    piece, words = BROKEN[name]
    faults = faults_of(piece, name.replace(" ", "-").replace("'", ""))
    assert any(words in fault for fault in faults), faults
