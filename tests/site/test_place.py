"""The book as a place: contents that fold, lists that filter, links that say where they lead, paper, and a folder without a server."""

import re
import zipfile

import pytest
from book_browser import DESKTOP, SITE, VIEWS, pages, set_view
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tools import exercises, pack

PAGES = pages()
SHEETS = exercises.names()


@pytest.fixture(scope="module")
def html():
    return {page: (SITE / page).read_text("utf8") for page in PAGES}


def test_wherever_a_sheet_is_named_its_page_is_linked(html):
    """By its title; its file is named only where somebody has to type it."""
    bare = re.compile(r"exercises/[a-z_]+/[a-z-]+\.ipynb</span>")
    assert {page: found for page, text in html.items() if (found := bare.findall(text))} == {}
    links = {name for text in html.values() for name in re.findall(r'href="(?:\.\./)*exercises/([a-z_]+/[a-z-]+)\.html"', text)}
    assert links == set(SHEETS)


def test_a_link_that_is_shared_says_what_it_leads_to(html):
    described = {}
    for page, text in html.items():
        if page in {"search.html", "genindex.html", "py-modindex.html"}:
            continue
        (words,) = re.findall(r'<meta name="description" content="([^"]*)"', text)
        assert re.findall(r'<meta property="og:description" content="([^"]*)"', text) == [words]
        (title,) = re.findall(r'<meta property="og:title" content="([^"]*)"', text)
        assert title
        (picture,) = re.findall(r'<meta property="og:image" content="([^"]*)"', text)
        assert (SITE / page).parent.joinpath(picture).resolve().read_bytes().startswith(b"\x89PNG")
        assert not re.search(r"[\\$]|\{\w+\}", words), page
        described.setdefault(words, []).append(page)
    assert [same for same in described.values() if len(same) > 1] == []
    assert "over what is the average taken" in next(words for words, (page,) in described.items() if page == "decisions/risk.html")


def test_the_contents_are_open_where_one_reads_and_folded_elsewhere(html):
    nav = {page: re.search(r'<nav class="book-contents".*?</nav>', text, re.DOTALL)[0] for page, text in html.items()}
    folds = {page: re.findall(r"<details( open)?><summary>", text) for page, text in nav.items()}
    assert {len(found) for found in folds.values()} == {12}
    for page, text in nav.items():
        here = re.findall(r'<a href="#"[^>]*aria-current="page"|aria-current="page"', text)
        listed = page not in {"intro.html", "search.html", "genindex.html", "py-modindex.html"} and not page.startswith("exercises/")
        assert len(here) == listed, page
        assert sum(map(bool, folds[page])) == (listed or page.startswith("exercises/")), page  # a sheet's: its chapter


def shown_rows(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('table.filtered tbody tr')].filter(r => r.checkVisibility()).map(r => r.innerText)"
    )


def test_the_list_of_sheets_filters_by_chapter_stars_and_minutes(browser, home):
    set_view(browser, VIEWS[0])
    browser.get(f"{home}/exercises.html")
    assert len(shown_rows(browser)) == len(SHEETS)
    choose = lambda label, words: Select(browser.find_element(By.XPATH, f"//label[contains(., '{label}')]/select")).select_by_visible_text(
        words
    )
    choose("Chapter", "2 Monte Carlo and Markov chains")
    assert len(shown_rows(browser)) == sum(name.startswith("mcmc/") for name in SHEETS)
    choose("Chapter", "any")
    choose("Level", "two stars")
    all_two = shown_rows(browser)
    choose("Minutes", "at most 30")
    rows = shown_rows(browser)
    assert 0 < len(rows) < len(all_two)
    assert all("two stars" in row and int(re.search(r"\b(\d+)\b\s*\S*\s*[A-Z]", row.split("stars")[1])[1]) <= 30 for row in rows)
    assert browser.find_element(By.CSS_SELECTOR, ".filter-bar output").text == f"{len(rows)} of {len(SHEETS)} rows"
    browser.find_element(By.CSS_SELECTOR, ".filter-bar input").send_keys("no such sheet")
    assert shown_rows(browser) == []


def test_old_addresses_of_errata_lead_to_their_row_and_on_to_their_entry(browser, home):
    browser.get(f"{home}/appendix/errata.html#erratum-s03")
    row = browser.find_element(By.ID, "erratum-s03")
    assert 0 <= row.rect["y"] - browser.execute_script("return scrollY") < DESKTOP[1]
    row.find_element(By.TAG_NAME, "a").click()
    WebDriverWait(browser, 10).until(lambda b: b.current_url.endswith("/appendix/errata/gradients-slides.html#erratum-s03"))


def test_formulas_are_no_stops_of_the_tabulator_and_can_be_read_aloud(browser, home, look):
    look("decisions/risk.html")
    browser.get(f"{home}/decisions/risk.html")
    WebDriverWait(browser, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, "mjx-container mjx-assistive-mml"))
    assert browser.find_elements(By.CSS_SELECTOR, 'mjx-container[tabindex="0"]') == []


def test_pictures_say_how_large_they_are_before_they_come(html):
    bare = {page: found for page, text in html.items() if (found := re.findall(r"<img (?![^>]*(?:width|style)=)[^>]*>", text))}
    assert bare == {}


def test_the_map_is_one_stop_for_who_goes_past_it(browser, home):
    browser.get(f"{home}/intro.html")
    browser.find_element(By.CSS_SELECTOR, ".book-map .past").send_keys(Keys.ENTER)
    ActionChains(browser).send_keys(Keys.TAB).perform()
    after = "return !!(document.querySelector('.book-map').compareDocumentPosition(document.activeElement) & 4)"
    assert browser.execute_script(f"{after} && !document.activeElement.closest('.book-map')")


def test_who_wants_less_motion_gets_none(browser, home):
    browser.get(f"{home}/intro.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    moving = """return [...document.querySelectorAll("*")].map((e) => getComputedStyle(e)).filter((s) =>
        parseFloat(s.transitionDuration) > 0.01 || parseFloat(s.animationDuration) > 0.01 || s.scrollBehavior == "smooth").length"""
    assert browser.execute_script(moving) == 0


def test_the_packed_book_opens_from_a_folder(browser, tmp_path):
    with zipfile.ZipFile(pack.pack(target=tmp_path / "book.zip")) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / pack.NAME
    set_view(browser, VIEWS[0])
    browser.get_log("browser")
    browser.get((folder / "index.html").as_uri())
    WebDriverWait(browser, 10).until(lambda b: b.current_url.endswith("/intro.html"))
    WebDriverWait(browser, 20).until(lambda b: b.find_elements(By.LINK_TEXT, "Start"))[0].click()
    WebDriverWait(browser, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, "mjx-container"))
    fonts = "return document.fonts.ready.then(() => [...document.fonts].filter(f => f.status == 'loaded').map(f => f.family))"
    assert any("Source Serif" in family for family in browser.execute_script(fonts))
    browser.get(f"{(folder / 'search.html').as_uri()}?q=leapfrog")
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a[href*='hamiltonian']"))
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
