"""Dials in the book (`course_pkg.plots.dial` makes them): one copy of Vega, asked for when the first dial comes into view.

A dial's cell puts out a still picture and, under a type of its own, what the page needs to move. In HTML the picture, with the
alt text that the cell gives under ``mystnb: image``, goes into the dial's frame: it is what paper and a reader without scripts
see. Every other builder takes the picture alone. Style and script lie beside this file, not in ``_static``, because
jupyter-book loads what lies there on every page.
"""

import json
from html import escape
from pathlib import Path

import vl_convert
from docutils import nodes
from myst_nb.core import render
from sphinx.transforms.post_transforms import SphinxPostTransform

HERE = Path(__file__).parent / "dial_static"
MIME = "application/vnd.course.dial+json"
# The bundler's own names for its copies. Of another version than the one inside it knows nothing, and stops the build. The
# interpreter evaluates expressions without `eval`, which a content security policy may forbid.
INTERPRETER = "2.0.0"
PARTS = f"""import {{parse, View}} from "/npm/vega@{vl_convert.get_vega_version()}/+esm";
import {{expressionInterpreter}} from "/npm/vega-interpreter@{INTERPRETER}/+esm";
window.dialVega = {{parse, View, expressionInterpreter}};"""
LICENCES = f"""/* Vega {vl_convert.get_vega_version()} and its interpreter: BSD-3-Clause, University of Washington Interactive Data Lab.
 * Within them d3 and internmap (ISC, Mike Bostock), fast-deep-equal and fast-json-stable-stringify (MIT). */
"""


class dial(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """What a dial's page is made of, under ``page``; its child is the still picture."""


class DialOutput:
    """The part of myst-nb that reads a dial; a plug-in by form, not by name, which would need an installed package."""

    mime_priority_overrides = (("html", MIME, 1),)

    @staticmethod
    def handle_mime(_renderer, data, _inline):
        return [dial(page=data.content)] if data.mime_type == MIME else None


class StillIntoDial(SphinxPostTransform):
    """Before myst-nb chooses one type of each output and drops the rest (its priority is 4)."""

    default_priority = 3
    formats = ("html",)

    def run(self, **_) -> None:
        for number, node in enumerate(self.document.findall(dial), start=1):
            node["number"] = number
            bundle = node.parent.parent
            picture = next(kind for kind in bundle.children if kind["mime_type"] == "image/svg+xml")
            node += next(picture.findall(nodes.image)).deepcopy()


def visit(self, node) -> None:
    height = node["page"]["height"]
    self.body.append(f'<div class="dial" style="--dial-height: {height}px"><div class="dial-frame">')


def depart(self, node) -> None:
    page, name = node["page"], f"dial-{node['number']}"
    label, *value = page["turn"]
    data = json.dumps(page, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")
    self.body.append(
        '<div class="dial-chart" aria-hidden="true"></div></div>'
        f'<div class="dial-text"{steady(page, "turn")}><span><label for="{name}">{escape(label.rstrip())}</label> '
        f'<span class="dial-value">{shown(value, page["start"])}</span></span></div>'
        f'<input id="{name}" type="range" min="0" max="{page["last"]}" value="{page["start"]}" autocomplete="off">'
        f'<div class="dial-text"{steady(page, "sentence")}><output for="{name}">{shown(page["sentence"], page["start"])}</output></div>'
        f'<script type="application/json">{data}</script></div>'
    )


def steady(page, what) -> str:
    """An attribute with the longest that stands there at any stop; it keeps the place open, so that nothing moves."""
    texts = [written(page[what], stop) for stop in range(page["last"] + 1)]
    return f' data-longest="{escape(max(texts, key=len))}"'


def written(parts, stop) -> str:
    return "".join(part if isinstance(part, str) else part[1][stop] for part in parts)


def shown(parts, stop) -> str:
    """The same as HTML, with a place for each number."""
    return "".join(escape(part) if isinstance(part, str) else f'<b data-name="{part[0]}">{escape(part[1][stop])}</b>' for part in parts)


def write_vega(app, exception) -> None:
    target = Path(app.outdir) / "_static" / "dial-vega.js"
    if exception is None and app.builder.format == "html" and not target.exists():
        # a classic script, because a module does not load from a disk, so in a scope of its own
        target.write_text(f'{LICENCES}"use strict";(()=>{{{vl_convert.javascript_bundle(PARTS)}}})();', "utf8")


def load_where_needed(app, _page, _template, _context, doctree) -> None:
    if doctree is not None and next(doctree.findall(dial), None):
        app.add_js_file("dial.js", loading_method="defer")
        app.add_css_file("dial.css")


def setup(app) -> dict:
    """Tell Sphinx and myst-nb."""
    named = render.load_mime_renders()
    render.load_mime_renders = lambda: [*named, DialOutput]
    app.add_node(dial, html=(visit, depart))
    app.add_post_transform(StillIntoDial)
    app.connect("config-inited", lambda _app, config: config.html_static_path.append(str(HERE)))
    app.connect("html-page-context", load_where_needed)
    app.connect("build-finished", write_vega)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
