"""Keep the book readable with the network unplugged.

Two things in a stock Jupyter Book fetch from outside: MathJax, and whatever an output's raw HTML links to. This extension copies
MathJax next to the pages, and stops the build at any other outside resource.

It also puts the executed notebook beside the page's source, so that the download button offers both.
"""

import contextlib
import importlib.util
import re
import shutil
from pathlib import Path

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.util import logging

logger = logging.getLogger(__name__)

# About 3 MB of the 20 that MathJax comes in: one input, one output, its fonts, and speech for English.
KEEP = re.compile(
    r"tex-chtml\.js|output/chtml/fonts/woff-v2/.*\.woff|input/tex/extensions/(?!all-packages).*\.js"
    r"|a11y/.*\.js|sre/mathmaps/(base|en|nemeth)\.json"
)
SEARCH = r"searchtools|language_data|searchindex"
UNUSED = {
    on_search: re.compile(rf"\s*<script[^>]*/?(?:{names})\.js[^>]*></script>")
    for on_search, names in ((False, f"fontawesome|{SEARCH}"), (True, "fontawesome"))
}
PICTURE = re.compile(r'<img (?=[^>]*src="(?:\.\./)*(_images/[^"]*\.svg)")(?![^>]* (?:width|height|style)=)')
SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)(?:px)?" height="([\d.]+)(?:px)?"')
OUTSIDE = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"'\s>]+)", re.IGNORECASE)


def mathjax_folder() -> Path:
    """Where sphinx-mathjax-offline keeps MathJax. Its package name holds hyphens, so it cannot be imported by name."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise ImportError("MathJax's files are missing; install sphinx-mathjax-offline (it is in the extra 'book')")
    return Path(spec.origin).parent / "static" / "mathjax"


def copy_mathjax(app, exception) -> None:
    if exception is not None or app.builder.format != "html":
        return
    source, target = mathjax_folder(), Path(app.outdir) / "_static" / "mathjax"
    for file in source.rglob("*"):
        if file.is_file() and KEEP.fullmatch(file.relative_to(source).as_posix()):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def with_size(picture: re.Match, folder: Path) -> str:
    """The start of a picture's tag, with the room that it will take: then nothing moves when it comes."""
    found = SIZE.search((folder / picture[1]).read_text("utf8")[:2000])
    return f'{picture[0]}width="{found[1]}" height="{found[2]}" ' if found else picture[0]


def finish(app, exception) -> None:
    """Say how large pictures are, and leave out half of what a page weighs: icons as a program beside the same as a font, and, but for
    the search page, the search's index.

    The theme loads both everywhere, for icons of one's own and for results while one types, which this book has not.
    """
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for file in folder.rglob("*.html"):
        page = file.read_text("utf8")
        finished = PICTURE.sub(lambda found: with_size(found, folder), UNUSED[file.stem == "search"].sub("", page))
        if finished != page:
            file.write_text(finished, "utf8")
    for file in (folder / "_static" / "scripts").glob("fontawesome.js*"):
        file.unlink()


def refuse_outside(_app, doctree, docname) -> None:
    """Warn about (so, with ``-W``, stop at) every outside resource of an output."""
    for node in doctree.findall(nodes.raw):
        if "html" not in node.get("format", "").split():
            continue
        for address in OUTSIDE.findall(node.astext()):
            logger.warning("an output loads %s: the book must load nothing from outside", address, location=docname)


def offer_notebook(app, pagename, _templatename, context, doctree) -> None:
    """Give the download button the page's notebook, which myst-nb leaves beside the output folder, with what its cells put out."""
    plain = Path(app.outdir).parent / "jupyter_execute" / f"{pagename}.ipynb"
    if doctree is None or not plain.is_file() or not str(context.get("sourcename", "")).endswith(".md"):
        return
    target = Path(app.outdir) / "_sources" / f"{pagename}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(plain, 4)
    with contextlib.suppress(KeyError):  # a page without code is not in the store
        _, notebook = get_cache(app.config.nb_execution_cache_path).merge_match_into_notebook(notebook)
    nbformat.write(notebook, target)
    context["ipynb_source"] = f"{pagename}.ipynb"


def setup(app) -> dict:
    app.connect("doctree-resolved", refuse_outside)
    app.connect("html-page-context", offer_notebook, priority=400)  # before the theme draws its buttons
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
