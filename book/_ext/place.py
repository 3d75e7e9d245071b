"""The book as a place: contents at its side that fold, a map, chapters as cards, paths with hours, and what a shared link says."""

import html
import re

import contents
from docutils import nodes
from sketches import SKETCHES
from sphinx.util.docutils import SphinxDirective

LANE, LINE = 68, 46  # pixels: the height of a chapter's lane on the map, and where in it the pages lie
PICTURE = "_static/picture.png"  # by tests/site/picture.py
PICTURE_SHOWS = "The front page’s title and dial: a falling density of the day of the next failure, and the expected loss of each day."
# by script, because a page that is opened from a folder may not ask for a font in this way
PRELOAD = """
<script>
  if (location.protocol !== "file:")
    for (const style of ["normal", "italic"]) {
      const href = `FONTS/source-serif-4-latin-wght-${style}.woff2`;
      document.head.append(Object.assign(document.createElement("link"), { rel: "preload", as: "font", crossOrigin: "", href }));
    }
</script>"""
STARS = ("", "★", "★★", "★★★")


class FrontPiece(SphinxDirective):
    """A directive that writes HTML from what the pages say of themselves."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        for name in contents.pages():
            self.env.note_dependency(str(contents.BOOK / f"{name}.md"))
        self.env.note_dependency(str(contents.BOOK / "_toc.yml"))
        return [nodes.raw("", self.html(), format="html")]

    def link(self, name: str) -> str:
        return self.env.app.builder.get_relative_uri(self.env.docname, name)

    def row(self, page: contents.Page) -> str:
        number = f"{page.number} " if page.number else ""
        title = f'<a href="{self.link(page.name)}">{number}{html.escape(page.title)}</a>'
        return f"{title} <span>{page.minutes} min {STARS[page.stars]}</span>"


class Map(FrontPiece):
    """Every page of the chapters as a dot, with a line from each page to those that build on it."""

    def html(self) -> str:
        pages = [page for page in contents.pages().values() if page.number]
        lanes = list(dict.fromkeys(page.part for page in pages))
        columns = max(int(page.number.partition(".")[2]) for page in pages)
        at = {page.name: self.place(page, columns) for page in pages}
        links = [link for link in contents.needed_links() if link[1] in at]
        lines = "".join(f'<path class="e{k}" d="{line(at[a], at[b])}"/>' for k, (a, b) in enumerate(links))
        rows = ""
        for k, lane in enumerate(lanes):
            dots = "".join(self.dot(page, *at[page.name]) for page in pages if page.part == lane)
            rows += f'<p id="lane-{k + 1}" style="top:{LANE * k}px">{k + 1} <b>{html.escape(lane)}</b></p>'
            rows += f'<ul role="list" aria-labelledby="lane-{k + 1}">{dots}</ul>'
        height = LANE * len(lanes)
        drawing = f'<svg viewBox="0 0 100 {height}" preserveAspectRatio="none" aria-hidden="true">{lines}</svg>'
        return (
            f'<figure class="book-map"><style>{lit(pages, links)}</style><a class="past" href="#past-the-map">Past the map</a>'
            f'<div style="height:{height}px">{drawing}{rows}</div><figcaption id="past-the-map" tabindex="-1">'
            "Every page of the eight chapters. Point at or tap one, and the way to it lights up: what it builds on, and what these "
            "build on. The fuller a page's colour, the more its stars.</figcaption></figure>"
        )

    def place(self, page: contents.Page, columns: int) -> tuple[float, int]:
        chapter, k = map(int, page.number.split("."))
        return 100 * (k - 0.5) / columns, LANE * (chapter - 1) + LINE

    def dot(self, page: contents.Page, x: float, y: int) -> str:
        title = html.escape(page.title)
        words = f"{page.number} {title}: {page.minutes} minutes, {contents.STARS[page.stars]}"
        side = "left" if x < 50 else "right"
        tip = f'<span class="{side}" aria-hidden="true"><b>{title}</b><br>{page.minutes} minutes {STARS[page.stars]}</span>'
        number = page.number.partition(".")[2]
        return (
            f'<li><a id="map-{page.number.replace(".", "-")}" class="level-{page.stars}" style="left:{x:g}%;top:{y}px" '
            f'href="{self.link(page.name)}" aria-label="{words}">{number}{tip}</a></li>'
        )


def line(start: tuple[float, int], end: tuple[float, int]) -> str:
    """A path from page to page: level between neighbours, an arc below a lane, a curve down to another lane."""
    (x, y), (u, v) = start, end
    if y != v:
        return f"M{x:g} {y}C{x:g} {y + 0.45 * (v - y):g} {u:g} {v - 0.45 * (v - y):g} {u:g} {v}"
    far = abs(u - x) > 11
    return f"M{x:g} {y}Q{(x + u) / 2:g} {y + 30} {u:g} {v}" if far else f"M{x:g} {y}H{u:g}"


def lit(pages: list[contents.Page], links: list[tuple[str, str]]) -> str:
    """Rules of style: at whose touch which lines and pages light up."""
    rules = []
    for page in pages:
        way = contents.ancestors(page.name)
        dots = [f"#map-{contents.pages()[name].number.replace('.', '-')}" for name in way]
        lines = [f".e{k}" for k, (_, after) in enumerate(links) if after in way]
        own = f"#map-{page.number.replace('.', '-')}"
        rules.append(f".book-map:has({own}:is(:hover,:focus-visible)) :is({','.join(sorted(dots) + lines)}){{--lit:1}}")
    return "".join(rules)


class Chapters(FrontPiece):
    """Cards of the chapters; the content holds a question for each, such as ``mcmc: How ...?``."""

    def html(self) -> str:
        asked = dict(re.match(r"(\w+): (.*)", row).groups() for row in self.content)
        if asked.keys() != contents.chapters().keys():
            raise self.error(f"a question is wanted for each of {', '.join(contents.chapters())}")
        return f'<ul class="chapter-cards">{"".join(self.card(folder, words) for folder, words in asked.items())}</ul>'

    def card(self, folder: str, question: str) -> str:
        number, title = contents.chapters()[folder].split(" ", 1)
        pages = [page for page in contents.pages().values() if page.name.startswith(f"{folder}/")]
        time = f"{len(pages)} pages, {contents.hours(sum(page.minutes for page in pages))}"
        return (
            f'<li><a href="{self.link(pages[0].name)}">{SKETCHES[folder]()}<span class="eyebrow">Chapter {number}</span>'
            f'<b>{html.escape(title)}</b><span class="question">{html.escape(question)}</span><span class="time">{time}</span></a></li>'
        )


class Road(FrontPiece):
    """A path: title, for whom, how long, and all its pages, with those that they build on."""

    required_arguments, final_argument_whitespace = 1, True
    option_spec = {"to": str.split, "course": lambda _: True}  # noqa: RUF012

    def html(self) -> str:
        if "course" in self.options:
            course = contents.course()
            time = f"{len(course.blocks)} weeks, {contents.hours(course.minutes)} with sheets"
            inside = ""
        else:
            pages = contents.road(self.options["to"])
            time = f"{len(pages)} pages, {contents.hours(sum(page.minutes for page in pages))}"
            rows = "".join(f"<li>{self.row(page)}</li>" for page in pages)
            inside = f"<details><summary>The pages in order</summary><ol>{rows}</ol></details>"
        words = html.escape(" ".join(self.content))
        if "course" in self.options:
            words += f' <a href="{self.link("teaching/plans")}">The weeks</a>'
        return f'<div class="road"><p class="road-title"><b>{self.arguments[0]}</b> <span>{time}</span></p><p>{words}</p>{inside}</div>'


class Plan(FrontPiece):
    """A course: its content holds a line a block, the pages and, after a bar, the sheets."""

    required_arguments, final_argument_whitespace = 1, True
    option_spec = {"rows": str}  # noqa: RUF012

    read = staticmethod(contents.plan)

    def html(self) -> str:
        try:
            plan = self.read(self.arguments[0], self.options["rows"], list(self.content))
        except ValueError as error:
            raise self.error(str(error)) from error
        for sheet in (sheet for block in plan.blocks for sheet in block.sheets):
            self.env.note_dependency(str(contents.BOOK.parent / "solutions" / f"{sheet.name}.md"))
        titles = "".join(f'<th scope="col">{title}</th>' for title in (plan.rows, "Pages", "Sheets", "Hours"))
        return (
            f'<div class="pst-scrollable-table-container"><table class="table weeks"><thead><tr>{titles}</tr></thead>'
            f"<tbody>{''.join(map(self.block, plan.blocks))}</tbody></table></div><p>In all {contents.hours(plan.minutes)}.</p>"
        )

    def block(self, block: contents.Block) -> str:
        pages = "".join(f"<li>{self.row(page)}</li>" for page in block.pages)
        sheets = "".join(f"<li>{self.sheet(sheet)}</li>" for sheet in block.sheets)
        lists = f"<td><ul>{pages}</ul></td><td><ul>{sheets}</ul></td>"
        return f'<tr><th scope="row">{block.label}</th>{lists}<td>{block.minutes / 60:.1f}</td></tr>'

    def sheet(self, sheet: contents.Sheet) -> str:
        link = f'<a href="{self.link(f"exercises/{sheet.name}")}">{html.escape(sheet.title)}</a>'
        return f"{link} <span>{sheet.minutes} min {STARS[sheet.stars]}</span>"


class More(Plan):
    """What may follow the blocks of a plan; its argument is the plan's title."""

    read = staticmethod(contents.more)


# --- contents at the side -------------------------------------------------------------------------


def side(app, pagename: str, pathto) -> str:
    """The book's contents: a part folds, and the one that is being read, or that a sheet belongs to, is open."""
    sheet = app.sheets[pagename.removeprefix("exercises/")] if pagename.startswith("exercises/") else None
    reading = sheet.page if sheet else pagename

    def item(name: str, above: str = "") -> str:
        title = app.env.titles[name].astext()
        number = ".".join(map(str, app.env.titles[name].get("secnumber", ())))
        here = ' aria-current="page"' if name == pagename else ""
        below = contents.below().get(name, [])
        inner = f"<ul>{''.join(item(page, title) for page in below)}</ul>" if pagename in (name, *below) else ""
        title = title.removeprefix(f"{above}: ")
        shown = f"<span>{number}</span> {html.escape(title)}" if number else html.escape(title)
        return f'<li><a href="{pathto(name)}"{here}>{shown}</a>{inner}</li>'

    blocks = []
    for part, names in contents.parts().items():
        inside = reading in names or any(reading in contents.below().get(name, []) for name in names)
        chapter = re.fullmatch(r"Chapter (\d+): (.*)", part)
        title = f"<span>{chapter[1]}</span> {html.escape(chapter[2])}" if chapter else html.escape(part)
        list_ = f"<ul>{''.join(map(item, names))}</ul>"
        blocks.append(f"<details{' open' if inside else ''}><summary>{title}</summary>{list_}</details>")
    return "".join(blocks)


# --- what a shared link says ----------------------------------------------------------------------


def description(doctree, pagename: str) -> str:
    """A page's question or, where it asks none, its title and how it begins, in some 200 characters."""
    if page := contents.pages().get(pagename):
        return page.question
    title = next(doctree.findall(nodes.title), nodes.Text("")).astext()
    for paragraph in doctree.findall(nodes.paragraph):
        words = " ".join(paragraph.astext().split())
        if re.match(r"\d+ minutes\.", words) or any(paragraph.findall(nodes.math)):
            continue
        if len(words) > 40 and isinstance(paragraph.parent, nodes.section):
            words = f"{title.rstrip('?')}: {words}"
            return words if len(words) <= 200 else words[:200].rpartition(" ")[0].rstrip(",;:.") + " …"
    return title


def head(app, pagename, _templatename, context, doctree) -> None:
    """Contents at the side, the letters of the first lines, and title and description for whoever is sent a link."""
    context["book_contents"] = side(app, pagename, context["pathto"])
    if doctree is None:
        return
    context["metatags"] += PRELOAD.replace("FONTS", context["pathto"]("_static/fonts", 1))
    # the list of works is a list of items: the role that docutils gives them is no longer one
    context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
    title = html.escape(re.sub(r"<[^>]*>", "", context.get("title", "")), quote=True).replace("&amp;", "&")
    facts = {"og:type": "article", "og:site_name": app.config.html_title, "og:title": title or app.config.html_title}
    home = app.config.html_baseurl.rstrip("/")
    picture = f"{home}/{PICTURE}" if home else context["pathto"](PICTURE, 1)
    facts |= {"og:image": picture, "og:image:width": "1200", "og:image:height": "630", "og:image:alt": PICTURE_SHOWS}
    context["metatags"] += '\n<meta name="twitter:card" content="summary_large_image" />'
    if words := html.escape(description(doctree, pagename), quote=True):
        facts |= {"og:description": words}
        context["metatags"] += f'\n<meta name="description" content="{words}" />'
    context["metatags"] += "".join(f'\n<meta property="{name}" content="{words}" />' for name, words in facts.items())


def setup(app) -> dict:
    app.add_directive("book-map", Map)
    app.add_directive("chapter-cards", Chapters)
    app.add_directive("road", Road)
    app.add_directive("plan", Plan)
    app.add_directive("more", More)
    app.connect("html-page-context", head)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
