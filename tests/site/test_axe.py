"""axe-core finds nothing against WCAG 2.2 AA, by day and in the dark, on a page of each kind: all pages share their templates."""

from pathlib import Path

import pytest
from book_browser import VIEWS, set_view

AXE = Path(__file__).with_name("axe.min.js").read_text("utf8")
KINDS = [
    "intro",
    "decisions/problems",
    "vi/topics-of-a-book",
    "exercises",
    "exercises/decisions/ridge",
    "teaching",
    "teaching/plans",
    "teaching/misconceptions",
    "about",
    "appendix/errata",
    "appendix/errata/posthoc",
    "appendix/checked",
    "appendix/glossary",
    "appendix/notation",
    "appendix/references",
    "appendix/api",
    "appendix/api/fit",
    "genindex",
    "search",
]
RUN = """const done = arguments[0], wait = (ms) => new Promise((then) => setTimeout(then, ms));
(async () => {
  await window.MathJax?.startup?.promise;
  await wait(250);  // the theme fades its colours, slowly on a busy machine
  await Promise.race([Promise.all(document.getAnimations().map((one) => one.finished)), wait(3000)]);
  const found = await axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]});
  done(found.violations.map((fault) => `${fault.id}: ${fault.nodes.length} times, first ${fault.nodes[0].html.slice(0, 120)}`));
})();"""


@pytest.mark.parametrize("page", KINDS)
def test_axe_finds_nothing(page, browser, home):
    set_view(browser, VIEWS[0])
    browser.get(f"{home}/{page}.html")
    browser.execute_script(AXE)
    found = {}
    for view in (VIEWS[0], VIEWS[2]):
        set_view(browser, view)
        found[view.name] = browser.execute_async_script(RUN)
    assert found == {"desktop": [], "dark": []}


def test_axe_would_find_a_fault(browser, home):
    browser.get(f"{home}/about.html")
    browser.execute_script(AXE)
    browser.execute_script("document.querySelector('article').insertAdjacentHTML('beforeend', '<input type=range>')")
    assert any(fault.startswith("label:") for fault in browser.execute_async_script(RUN))
