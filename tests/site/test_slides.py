"""The slides: a deck a chapter, with every page's question, which fits the screen and asks for nothing outside."""

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
CHAPTERS = [chapter if chapter == QUICK else pytest.param(chapter, marks=pytest.mark.thorough) for chapter in contents.chapters()]
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
SOUND = {"full": [], "small": [], "broken": [], "bare": [], "wrong": []}


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """All decks, in a folder."""
    if not pages():
        pytest.fail(f"the book is not built in {SITE}: run `make book` first")
    folder = tmp_path_factory.mktemp("slides")
    return folder, slides.write(list(contents.chapters()), SITE, folder / "decks")


def squeezed(words):
    return re.sub(r"[\W_]", "", words)


def test_every_chapter_has_a_deck_with_its_pages_questions_boxes_and_answers(decks):
    folder, counts = decks
    assert list(counts) == list(contents.chapters())
    for chapter, count in counts.items():
        deck = BeautifulSoup((folder / "decks" / f"{chapter}.html").read_text("utf8"), "html.parser")
        own = [page for page in contents.pages().values() if page.number and page.name.startswith(f"{chapter}/")]
        titles = deck.select("section.title")
        assert [title["id"] for title in titles] == [page.name.replace("/", "-") for page in own]
        for page, title in zip(own, titles, strict=True):
            plain = re.sub(r"\\\(.*?\\\)", "", title.select_one(".question").get_text())
            asked = squeezed(page.question)
            assert all(squeezed(piece) in asked for piece in re.split(r"[^\w\s,'’]", plain)), page.name
            assert title.select_one(".question").get_text().rstrip().endswith("?") or "?" in page.question
        assert len(deck.find_all("section")) == count
        assert len(deck.select("section.picture")) >= len(own)
        assert len(deck.select("section.box")) >= 2 * len(own)
        assert len(deck.select("section.asked")) == len(deck.select("section.answered")) >= 2 * len(own)
        assert not deck.select(".body a[href^='..'], .body a[href^='http']")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_slide_overflows_and_nothing_comes_from_outside(chapter, decks, browser):
    folder, counts = decks
    with serve(folder) as home:
        set_view(browser, SCREEN)
        browser.get("about:blank")
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(f"{home}/decks/{chapter}.html")
        WebDriverWait(browser, 120).until(lambda b: b.execute_script("return 'ready' in document.documentElement.dataset"))
        seen = browser.execute_script(LOOK)
        assert seen["slides"] == counts[chapter]
        assert seen["formulas"] > 20
        assert seen["faults"] == SOUND
        turned = browser.execute_script("return document.documentElement.scrollTop")
        for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, "n"):
            browser.switch_to.active_element.send_keys(key)
        assert turned == 0
        assert browser.execute_script("return document.documentElement.scrollTop") == 2 * SCREEN.size[1]
        assert browser.current_url.endswith("#3")
        requests, failures = read_events([json.loads(entry["message"])["message"] for entry in browser.get_log("performance")])
        assert failures == []
        assert [address for address in requests if is_outside(address, home)] == []
        assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
