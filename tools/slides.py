"""Slides for each chapter and the capstone, made from the built book's pages; they need no network, no server, no program but a browser.

    python tools/slides.py                     all decks, in book/_build/slides
    python tools/slides.py mcmc lcvi           these chapters

Of each page a deck has title and question, at most three pictures with their captions (the first, the dials, the last), the boxes
that hold the algorithm, *In short*, and the questions under *Check yourself*, each a second time with its answer. What the page says
beside these stands in the notes. `tools/slides.js` turns the slides and makes each as large as fits.
"""

import argparse
import copy
import html
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from bs4 import BeautifulSoup, Tag  # the book's theme brings it

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/slides.py`, whose path begins in tools/

from tools.build_book import BOOK, ROOT, SITE

TARGET = SITE.parent / "slides"
HERE = Path(__file__).parent
PICTURES = 3  # of a page
NOTES = 3  # paragraphs beside a picture or a box
STATIC = ("dial.css", "dial.js", "dial-vega.js", "favicon.svg", "fonts", "mathjax")
UNSHOWN = "a.headerlink, button, script:not([type='application/json']), .eqno, details.hide, .caption-number"
POINTER = r"\s*\(<a\b[^>]*>(<span[^>]*>)?[a-z ]+(</span>)?</a>\)"  # a link that says nothing by itself, such as "(why)"
STARS = ("", "★", "★★", "★★★")


class Slide(NamedTuple):
    """One slide."""

    kind: str  # a class: chapter, title, picture, box, asked, answered
    head: str  # a line at its top
    body: str  # HTML
    notes: str = ""  # HTML
    name: str = ""  # what a link leads to


def book_contents() -> Any:
    """What the pages say of themselves."""
    sys.path.insert(0, str(BOOK / "_ext"))
    import contents  # type: ignore[import-not-found]

    return contents


def titles() -> dict[str, str]:
    """The title of each deck with its number, by the folder of its pages: those of the chapters, and the capstone's."""
    return book_contents().chapters() | {"capstone": "Capstone"}


def inside(tag: Tag, place: str) -> Tag:
    """The first part of a page that a CSS selector names.

    Raises:
        ValueError: if there is none.
    """
    found = tag.select_one(place)
    if found is None:
        raise ValueError(f"the built page has no {place} in: {tag.get_text()[:80]!r}")
    return found


def clean(tag: Tag, page: str) -> str:
    """A part of a page as HTML that stands by itself: no links, no buttons, pictures from the deck's folder, names of its page's own."""
    tag = copy.copy(tag)
    for gone in tag.select(UNSHOWN):
        gone.decompose()
    for image in tag.find_all("img"):
        image["src"] = f"_images/{Path(str(image['src'])).name}"
        del image["style"], image["width"], image["height"]
    for thing in [tag, *tag.find_all(True)]:
        in_dial = thing.name in {"input", "label", "output"}
        for attribute in ("id", "for"):
            if in_dial and thing.get(attribute):
                thing[attribute] = f"{page.replace('/', '-')}-{thing[attribute]}"
            elif attribute in thing.attrs:
                del thing[attribute]
    return re.sub(r"</?a\b[^>]*>", "", re.sub(POINTER, "", str(tag)))


def words(tag: Tag, page: str) -> str:
    """What stands inside a part."""
    return re.sub(r"^<[^>]*>|</[^>]*>$", "", clean(tag, page).strip()).strip()


def beside(part: Tag, page: str, *, before: bool = False) -> str:
    """The paragraphs that follow a part up to the next picture or heading, or those that stand before it."""
    place = part.find_parent("div", class_="cell") or part
    found = []
    for near in place.previous_siblings if before else place.next_siblings:
        if not isinstance(near, Tag):
            continue
        classes = near.get_attribute_list("class")
        if near.name not in {"p", "ul", "ol", "div"} or "admonition" in classes or near.find("figure"):
            break
        if near.name != "div" or "math" in classes:
            found.append(clean(near, page))
        if len(found) == NOTES:
            break
    return "".join(reversed(found) if before else found)


def pictures(article: Tag) -> list[Tag]:
    """The figures to show: the first, those to turn, and from the end as many as there is room for."""
    figures = [figure for figure in article.select("figure:has(> figcaption)") if not figure.find_parent("details")]
    dials = [figure for figure in figures if figure.select_one(".dial")]
    order = [*figures[:1], *dials, *reversed(figures)]
    chosen = list({id(figure): figure for figure in order}.values())[:PICTURES]
    return [figure for figure in figures if any(figure is one for one in chosen)]


def asked(article: Tag) -> Iterator[tuple[Tag, Tag]]:
    """The questions that a page ends in, with their answers."""
    for section in article.select("section:has(> h2)"):
        if inside(section, "h2").get_text().startswith("Check yourself"):
            for fold in section.select(":scope > details"):
                yield inside(fold, ".sd-summary-text"), inside(fold, ".sd-card-body")


def picture(figure: Tag, page: str) -> str:
    """A drawing, or a dial, beside its caption."""
    drawing = copy.copy(figure)
    inside(drawing, "figcaption").decompose()
    return f'<div class="drawing">{words(drawing, page)}</div><div class="caption">{words(inside(figure, "figcaption"), page)}</div>'


def box(part: Tag, page: str) -> str:
    """A box of a page under its title."""
    rest = copy.copy(part)
    inside(rest, ".admonition-title").decompose()
    return f"<h3>{words(inside(part, '.admonition-title'), page)}</h3>{words(rest, page)}"


def page_slides(page: Any, article: Tag) -> list[Slide]:
    """The slides of one page.

    Args:
        page: what it says of itself, a `contents.Page`.
        article: the page as built.
    """
    top = next(p for p in article.select("p") if re.match(r"\d+ minutes\.", p.get_text()))
    question = top.find_next_sibling("p")
    if not isinstance(question, Tag):
        raise ValueError(f"{page.name}: no question below the line of minutes")
    title = re.sub(r'<span class="section-number">[^<]*</span>', "", words(inside(article, "h1"), page.name))
    head = f"{page.number} {title}".strip()
    opening = f'<p class="number">{page.number}</p><h2>{title}</h2><p class="question">{words(question, page.name)}</p>'
    slides = [Slide("title", "", opening, clean(top, page.name) + beside(question, page.name), page.name.replace("/", "-"))]
    shown = pictures(article)
    for part in article.select("figure, div.admonition"):
        if any(part is one for one in shown):
            slides.append(Slide("picture", head, picture(part, page.name), beside(part, page.name)))
        elif part.name == "div" and ("important" in part.get_attribute_list("class") or part.get_text().strip().startswith("In short")):
            slides.append(Slide("box", head, box(part, page.name), beside(part, page.name, before=True) + beside(part, page.name)))
    for number, (query, answer) in enumerate(asked(article), 1):
        body = f"<h3>Check yourself, {number}</h3><p>{words(query, page.name)}</p>"
        slides += [Slide("asked", head, body), Slide("answered", head, f'{body}<div class="answer">{words(answer, page.name)}</div>')]
    return slides


def chapter_slides(chapter: str, site: Path) -> list[Slide]:
    """All slides of a chapter: its pages' names, then page after page."""
    number, title = re.findall(r"^(?:(\d+) )?(.*)$", titles()[chapter])[0]
    pages = [page for page in book_contents().pages().values() if page.name.startswith(f"{chapter}/")]
    rows = "".join(
        f'<li><a href="#{page.name.replace("/", "-")}">{page.number} {html.escape(page.title)}</a> {STARS[page.stars]}</li>'
        for page in pages
    )
    keys = "<p>Arrows turn the slides, n shows these notes, f fills the screen, z brings a picture nearer; the dials can be turned.</p>"
    over = f'<p class="number">Chapter {number}</p>' if number else ""
    slides = [Slide("chapter", "", f"{over}<h1>{html.escape(title)}</h1><ul>{rows}</ul>", keys, "top")]
    for page in pages:
        built = BeautifulSoup((site / f"{page.name}.html").read_text("utf8"), "html.parser")
        slides += page_slides(page, inside(built, "article"))
    return slides


def deck(title: str, slides: list[Slide], macros: dict[str, str]) -> str:
    """A deck as HTML."""
    sections = []
    for number, slide in enumerate(slides, 1):
        name = f' id="{slide.name}"' if slide.name else ""
        top = f"<header>{slide.head}</header>" if slide.head else ""
        notes = f'<aside class="notes" hidden>{slide.notes}</aside>' if slide.notes else ""
        foot = f"<footer><span>Deciding with Approximations, CC BY 4.0</span><span>{number} / {len(slides)}</span></footer>"
        sections.append(f'<section class="{slide.kind}"{name}>{top}<div class="body">{slide.body}</div>{foot}{notes}</section>')
    dials = '<link rel="stylesheet" href="_static/dial.css"><script defer src="_static/dial.js"></script>'
    setting = json.dumps({"tex": {"tags": "none", "macros": macros}, "startup": {"typeset": False}, "options": {"enableMenu": False}})
    return (
        f'<!doctype html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="_static/favicon.svg">'
        f'<link rel="stylesheet" href="_static/slides.css">{dials if any("dial-frame" in slide.body for slide in slides) else ""}'
        f'<script>window.MathJax = {setting}</script><script defer src="_static/mathjax/tex-chtml.js"></script>'
        f'<script defer src="_static/slides.js"></script></head><body>\n{chr(10).join(sections)}\n</body></html>\n'
    )


def copy_parts(site: Path, target: Path, texts: list[str]) -> None:
    """Put what the decks need beside them."""
    for name in STATIC:
        source, place = site / "_static" / name, target / "_static" / name
        if source.is_dir():
            shutil.copytree(source, place, dirs_exist_ok=True)
        elif source.exists():
            shutil.copyfile(source, place)
    for name in ("slides.css", "slides.js"):
        shutil.copyfile(HERE / name, target / "_static" / name)
    for name in sorted({name for text in texts for name in re.findall(r'src="_images/([^"]+)"', text)}):
        shutil.copyfile(site / "_images" / name, target / "_images" / name)


def write(chapters: list[str], site: Path = SITE, target: Path = TARGET) -> dict[str, int]:
    """Write the decks of some chapters and a page that lists them; how many slides each has."""
    named = titles()
    if lost := [chapter for chapter in chapters if chapter not in named]:
        raise ValueError(f"there is no chapter {', '.join(lost)}; there are {', '.join(named)}")
    macros = yaml.safe_load((BOOK / "_config.yml").read_text("utf8"))["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    shutil.rmtree(target, ignore_errors=True)
    for folder in ("_static", "_images"):
        (target / folder).mkdir(parents=True)
    texts, counts = [], {}
    for chapter in chapters:
        slides = chapter_slides(chapter, site)
        texts.append(deck(named[chapter], slides, macros))
        counts[chapter] = len(slides)
        (target / f"{chapter}.html").write_text(texts[-1], "utf8")
    copy_parts(site, target, texts)
    rows = "".join(f'<li><a href="{name}.html">{html.escape(named[name])}</a>, {counts[name]} slides</li>' for name in chapters)
    body = f'<section class="chapter"><div class="body"><h1>Deciding with Approximations</h1><ul>{rows}</ul></div></section>'
    head = '<meta charset="utf-8"><title>Slides</title><link rel="stylesheet" href="_static/slides.css">'
    page = f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
    (target / "index.html").write_text(page, "utf8")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="such as mcmc; all if none")
    counts = write(parser.parse_args().chapters or list(titles()))
    print(f"{(TARGET / 'index.html').relative_to(ROOT)}: {len(counts)} decks, {sum(counts.values())} slides")


if __name__ == "__main__":
    main()
