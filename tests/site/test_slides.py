"""The slides: a deck a chapter, with every page's question, which fits the screen and asks for nothing outside."""

import base64
import importlib
import json
import re
import sys

import pytest
from book_browser import SITE, View, is_outside, pages, read_events, serve, set_view
from bs4 import BeautifulSoup
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tools import slides
from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
contents = importlib.import_module("contents")
SCREEN = View("projector", (1280, 720), False)
QUICK = "is_gradients"
CHAPTERS = [chapter if chapter == QUICK else pytest.param(chapter, marks=pytest.mark.thorough) for chapter in slides.titles()]
LOOK = """
const slides = [...document.querySelectorAll("section")];
const those = (wrong) => slides.filter(wrong).map((slide) => slides.indexOf(slide) + 1);
return {
  slides: slides.length,
  formulas: document.querySelectorAll("mjx-container").length,
  faults: {
    full: those((s) => "full" in s.dataset || s.scrollWidth > s.clientWidth + 1 || s.clientHeight > innerHeight + 1),
    small: those((s) => s.dataset.size < 0.6),
    broken: those((s) => [...s.querySelectorAll("img")].some((i) => !i.complete || !i.naturalWidth)),
    bare: those((s) => [...s.querySelectorAll(".math")].some((m) => !m.querySelector("mjx-container"))),
    wrong: those((s) => s.querySelector("mjx-merror, [data-mjx-error]")),
  },
};
"""
NEARER = """
const image = document.querySelector(".picture .drawing > img");
const width = () => Math.min(image.clientWidth, image.clientHeight * image.naturalWidth / image.naturalHeight);
return [width(), (image.click(), width()), (image.click(), width())];
"""
SOUND = {"full": [], "small": [], "broken": [], "bare": [], "wrong": []}


@pytest.fixture(scope="module", params=CHAPTERS)
def deck(request, tmp_path_factory):
    """The folder of a deck, its chapter and how many slides it has; one chapter quickly, all of them in the thorough tier."""
    if not pages():
        pytest.fail(f"the book is not built in {SITE}: run `make book` first")
    folder = tmp_path_factory.mktemp("slides")
    (count,) = slides.write([request.param], SITE, folder / "decks").values()
    return folder, request.param, count


def squeezed(words):
    return re.sub(r"[\W_]", "", words)


def test_a_deck_has_its_pages_questions_boxes_and_answers(deck):
    folder, chapter, count = deck
    made = BeautifulSoup((folder / "decks" / f"{chapter}.html").read_text("utf8"), "html.parser")
    own = [page for page in contents.pages().values() if page.name.startswith(f"{chapter}/")]
    titles = made.select("section.title")
    assert [title["id"] for title in titles] == [page.name.replace("/", "-") for page in own]
    for page, title in zip(own, titles, strict=True):
        plain = re.sub(r"\\\(.*?\\\)", "|", title.select_one(".question").get_text())  # formulas are written in two ways
        pieces = [squeezed(piece) for piece in plain.split("|")]
        assert len("".join(pieces)) > 20
        assert all(piece in squeezed(page.question) for piece in pieces), page.name
    assert len(made.find_all("section")) == count
    assert len(made.select("section.picture")) >= len(own)
    assert len(made.select("section.box")) >= 2 * len(own)
    assert len(made.select("section.asked")) == len(made.select("section.answered")) >= 2 * len(own)
    assert {link["href"][0] for link in made.select("body a")} == {"#"}, "a link leads out of the deck"


def test_no_slide_overflows_and_nothing_comes_from_outside(deck, browser):
    folder, chapter, count = deck
    with serve(folder) as home:
        set_view(browser, SCREEN)
        browser.get("about:blank")
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(f"{home}/decks/{chapter}.html")
        WebDriverWait(browser, 120).until(lambda b: b.execute_script("return 'ready' in document.documentElement.dataset"))
        seen = browser.execute_script(LOOK)
        assert seen["slides"] == count
        assert seen["formulas"] > 20
        assert seen["faults"] == SOUND
        for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "n"):
            browser.switch_to.active_element.send_keys(key)
        assert browser.execute_script("return document.documentElement.scrollTop") == 2 * SCREEN.size[1]
        assert browser.current_url.endswith("#3")
        assert browser.execute_script("return document.querySelectorAll('.notes:not([hidden])').length") <= 1
        far, near, again = browser.execute_script(NEARER)
        assert near > 1.3 * far
        assert again == far
        requests, failures = read_events([json.loads(entry["message"])["message"] for entry in browser.get_log("performance")])
        assert failures == []
        assert [address for address in requests if is_outside(address, home)] == []
        assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})  # or what is printed is the screen's
        paper = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})  # as the browser's own dialog does
        sheets = re.findall(rb"/MediaBox *\[([^]]*)\]", base64.b64decode(paper["data"]))
        assert sheets == [b"0 0 960 540"] * count  # a slide a sheet, lying
