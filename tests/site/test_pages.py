"""Every page of the built book in a real browser: at a desk, on a phone, and in the dark."""

import importlib
import json
import pkgutil
import re
from collections import Counter

import pytest
from book_browser import LISTED, SITE, VIEWS, pages, set_view
from book_faults import (
    fault_in_figures,
    fault_in_formulas,
    fault_in_headings,
    fault_in_links,
    fault_in_loading,
    fault_in_view,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import course_pkg

# the others are looked at in test_pages_listed.py
PAGES = [page for page in pages() if not page.startswith(LISTED)] or ["intro.html"]  # not built: one test says so
REFERENCE = [page for page in PAGES if page.startswith("appendix/api/")]


def test_page_loads_whole_and_from_here_only(page, look, home):
    seen = look(page)
    assert any(address.startswith(home) for address in seen.requests), "the log of requests is empty"
    assert fault_in_loading(seen, home) == []


def test_formulas_figures_and_headings(page, look):
    seen = look(page)
    assert fault_in_formulas(seen) + fault_in_figures(seen) + fault_in_headings(seen) == []


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
def test_fits_the_screen_and_can_be_read(page, view, look):
    assert fault_in_view(look(page).facts[view.name], view.dark) == []


def test_links_lead_somewhere():
    everything = pages()
    assert {page: found for page, found in fault_in_links(SITE, everything).items() if found} == {}


def test_the_checks_saw_formulas_and_figures(look):
    """Guards against a book in which nothing was found because nothing was looked for."""
    facts = [look(page).facts["desktop"] for page in PAGES]
    assert sum(f["formulas"] for f in facts) > 0
    assert sum(len(f["figures"]) for f in facts) > 0


def test_figures_are_vectors():
    kinds = Counter(file.suffix for file in (SITE / "_images").iterdir())
    assert kinds[".svg"] > 10 * kinds[".png"], kinds  # a drawing of thousands of points stays in pixels


def test_search_finds_a_page(browser, home, look):
    set_view(browser, VIEWS[0])
    browser.get(f"{home}/search.html?q=pandemic")
    # results come in one after another, the best one not always first
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a[href*='decisions/pandemic.html']"))
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


def test_reader_can_switch_the_light_off(browser, home):
    """The switch in the page itself, not the system's setting."""
    set_view(browser, VIEWS[0])
    browser.get(f"{home}/intro.html")
    root = browser.find_element(By.TAG_NAME, "html")
    seen = set()
    for _ in range(3):  # light, dark, and as the system has it
        browser.find_element(By.CSS_SELECTOR, ".bd-article-container .theme-switch-button, .theme-switch-button").click()
        seen.add(root.get_attribute("data-theme"))
    browser.execute_script("localStorage.clear()")
    assert seen == {"light", "dark"}


def test_paper_shows_the_answers_and_no_bars_to_click_on(browser, home):
    visible = "return [...document.querySelectorAll(arguments[0])].map(e => e.checkVisibility({contentVisibilityAuto: true}))"
    shown = lambda css: browser.execute_script(visible, css)
    folded, bars = "details.sd-dropdown .sd-card-body", ".tag_hide-input details.hide, .cell.tag_setup"
    browser.get(f"{home}/decisions/risk.html")
    assert not any(shown(folded))
    assert all(shown(bars))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert shown(folded)
    WebDriverWait(browser, 10).until(lambda _: all(shown(folded)))  # the page is laid out anew
    assert not any(shown(bars))


def test_pages_and_figures_count_by_chapter():
    first = (SITE / "gradients" / "climbing-with-noise.html").read_text("utf8")
    last = (SITE / "posthoc" / "a-wrong-posterior.html").read_text("utf8")
    for page, chapter in ((first, "4"), (last, "8")):
        assert f"<title>{chapter}.1. " in page
        assert set(re.findall(r"Fig\. (\d+)\.\d", page)) == {chapter}


def test_a_downloaded_notebook_holds_what_its_cells_put_out():
    cells = json.loads((SITE / "_sources" / "decisions" / "risk.ipynb").read_text("utf8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in code) > len(code) / 2


def test_nothing_in_the_output_is_left_from_thebe_or_a_cdn():
    if not (SITE / "intro.html").is_file():
        pytest.fail(f"the book is not built in {SITE}: run `make book` first")
    for page in pages():
        text = (SITE / page).read_text(encoding="utf8")
        for word in ("unpkg.com", "jsdelivr", "cdnjs", "bootstrapcdn", "googleapis", "binderOptions"):
            assert word not in text, f"{page} names {word}"


def public_names(module) -> set[str]:
    """The functions and classes that a module offers: what ``__all__`` says, else what it defines itself."""
    own = {name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    names = getattr(module, "__all__", sorted(own))
    return {name for name in names if not name.startswith("_") and callable(getattr(module, name))}


def test_every_public_function_is_in_the_reference(look):
    ids = set().union(*(look(page).facts["desktop"]["ids"] for page in REFERENCE))
    for info in pkgutil.iter_modules(course_pkg.__path__, "course_pkg."):
        if info.name.split(".")[-1].startswith("_"):
            continue
        missing = {f"{info.name}.{name}" for name in public_names(importlib.import_module(info.name))} - ids
        assert not missing, f"not in the reference: {sorted(missing)}; write a docstring, or begin the name with an underscore"


@pytest.mark.parametrize("page", [*REFERENCE, "appendix/errata.html"])
def test_what_is_looked_up_is_at_most_twenty_screens_long(page, look):
    assert look(page).facts["desktop"]["height"] <= 20 * VIEWS[0].size[1], "give some of its parts a page of their own"
