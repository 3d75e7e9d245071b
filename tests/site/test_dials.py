"""Every dial of the built book, found by its markup: it wakes, says Python's numbers, obeys the keyboard and moves nothing else.

What is expected lies in the page, written there by Python when the page was executed: each sentence at every stop, and at three
stops the numbers that ``at`` gave, which formulas and tables must lead to. ``axe.min.js`` is axe-core as its authors ship it.
"""

from contextlib import contextmanager
from pathlib import Path

import pytest
from book_browser import SITE, VIEWS, View, pages, set_view
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

HERE = Path(__file__).parent
AXE, PROBE = ((HERE / name).read_text("utf8") for name in ("axe.min.js", "dials.js"))
PHONE = View("small phone", (360, 740), True)
WITH_DIALS = [page for page in pages() if 'class="dial"' in (SITE / page).read_text("utf8")] or ["intro.html"]  # not built, or none


def fault_in_dial(dial: dict) -> list[str]:
    """What is wrong with one dial, from what ``dials.js`` saw."""
    if not dial["live"]:
        return ["it does not wake"]
    stops = dial["stops"]
    faults = [f"at stop {s['stop']} it says {s['said']} and not {s['meant']}" for s in stops if s["said"] != s["meant"]]
    faults += [f"at stop {s['stop']} its drawing has {name} = {shown}, Python {meant}" for s in stops for name, shown, meant in s["wrong"]]
    faults += [f"at stop {s['stop']} the slider speaks of {s['spoken']!r}" for s in stops if s["spoken"] != s["said"][0]]
    if len({s["drawing"] for s in stops}) == 1:
        faults.append("its drawing does not move")
    if any(s["cut"] for s in stops):
        faults.append("its drawing is cut off")
    if len({round(s["height"]) for s in stops} | {round(dial["asleep"])}) > 1:
        faults.append(f"its height changes: asleep {dial['asleep']}, then {[s['height'] for s in stops]}")
    if not dial["alt"].strip() or dial["spoken"] != dial["alt"]:
        faults.append(f"its drawing is called {dial['spoken']!r}, its picture {dial['alt']!r}")
    return faults


def inspect(browser, address: str) -> list[str]:
    """Load a page, turn its dials, and say everything that is wrong."""
    set_view(browser, VIEWS[0])
    browser.get("about:blank")
    browser.get_log("browser")  # forget the page before
    browser.get(address)
    browser.execute_script(AXE)
    seen = browser.execute_async_script(PROBE)
    faults = [] if seen["dials"] else ["no dial"]
    for number, dial in enumerate(seen["dials"], start=1):
        faults += [f"dial {number}: {fault}" for fault in fault_in_dial(dial)]
        if dial["live"]:
            faults += [f"dial {number}: {fault}" for fault in fault_in_keys(browser, dial)]
    set_view(browser, PHONE)
    faults += fault_in_width(browser)
    faults += [f"axe, {violation}" for violation in seen["violations"]]
    return faults + [f"script error: {entry['message']}" for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def fault_in_keys(browser, dial: dict) -> list[str]:
    """Home and one step to the right: the second stop."""
    slider = browser.find_element(By.ID, dial["id"])
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    script = "const d = arguments[0].closest('.dial'); return ['.dial-value', 'output'].map((name) => d.querySelector(name).textContent)"
    faults = [] if browser.execute_script(script, slider) == dial["atOne"] else ["the keyboard does not move it"]
    if not slider.accessible_name.strip():
        faults.append("its slider has no label")
    return faults


def fault_in_width(browser) -> list[str]:
    script = """return [...document.querySelectorAll(".dial[data-live] .dial-chart")].filter(
        (chart) => chart.firstElementChild.getBoundingClientRect().width > chart.clientWidth + 1).length"""
    try:  # a drawing follows the new width in its own time
        WebDriverWait(browser, 3, 0.05).until(lambda _: browser.execute_script(script) == 0)
    except TimeoutException:
        return [f"{browser.execute_script(script)} drawings are wider than a small phone"]
    return []


@pytest.mark.parametrize("page", WITH_DIALS)
def test_every_dial_says_what_python_computed_and_obeys_the_keyboard(page, browser, home):
    assert inspect(browser, f"{home}/{page}") == []


BROKEN = {  # what is done to the first dial before its script runs: words that the fault must say
    "page.spec.signals.filter(({name}) => name.endsWith('_at')).forEach(({value}) => value.reverse?.())": "its drawing has",
    "dial.querySelector('output b').remove()": "it says",
    "dial.querySelector('.dial-value').append('!')": "it says",
    "dial.querySelector('label').remove()": "axe, label",
    "dial.querySelector('img').alt = ''": "its picture ''",
    "dial.querySelector('input').step = 2": "the keyboard does not move it",
    "dial.style.setProperty('--dial-height', '99px')": "its drawing is cut off",
    "document.head.insertAdjacentHTML('beforeend', '<style>.dial:not([data-live]) {padding: 9px}</style>')": "height changes",
}
MUTATE = """document.addEventListener("readystatechange", () => {
  if (document.readyState !== "interactive") return;
  const dial = document.querySelector(".dial"), data = dial.querySelector("script"), page = JSON.parse(data.textContent);
  %s;
  data.textContent = JSON.stringify(page);
})"""


@contextmanager
def before_scripts(browser, change: str):
    """Pages loaded meanwhile are changed when they have been read, before their scripts run."""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": MUTATE % change})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_dial_with_many_faults_is_caught_for_each(browser, home):
    with before_scripts(browser, ";".join(BROKEN)):
        faults = inspect(browser, f"{home}/{WITH_DIALS[0]}")
    missed = [change for change, words in BROKEN.items() if not any(words in fault for fault in faults)]
    assert not missed, faults


def test_a_dial_that_cannot_wake_is_caught_and_its_picture_stays(browser, home):
    with before_scripts(browser, "page.spec.signals.find(({name}) => name === 'stop').name = 'stopped'"):
        faults = inspect(browser, f"{home}/{WITH_DIALS[0]}")
    assert "dial 1: it does not wake" in faults
    assert any("Unrecognized signal name" in fault for fault in faults)
    assert browser.find_element(By.CSS_SELECTOR, ".dial img").is_displayed()


def test_a_dial_wakes_from_a_disk_and_where_eval_is_forbidden(browser):
    policy = """<meta http-equiv="Content-Security-Policy" content="script-src file: 'unsafe-inline'">"""
    with before_scripts(browser, f"document.head.insertAdjacentHTML('afterbegin', `{policy}`)"):
        browser.get((SITE / WITH_DIALS[0]).as_uri())
    dial = browser.find_element(By.CLASS_NAME, "dial")
    browser.execute_script("arguments[0].scrollIntoView()", dial)
    WebDriverWait(browser, 10).until(lambda _: dial.get_attribute("data-live") is not None)
    # later, because what the browser's driver evaluates is not bound by the policy
    tried = "const done = arguments[0]; setTimeout(() => {try {eval('1'); done('allowed')} catch (error) {done(error.name)}})"
    assert browser.execute_async_script(tried) == "EvalError"
