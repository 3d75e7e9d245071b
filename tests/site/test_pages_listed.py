"""The same looks at the pages that the build makes from sheets and errata: a file of its own, since a file keeps one worker.

In the dark all have the colours of two templates: `test_axe.py` looks at one page of each, and the thorough tier at all of them here.
"""

import pytest
from book_browser import LISTED, VIEWS, pages
from book_faults import fault_in_view
from test_pages import (  # noqa: F401  (collected here once more, with this file's pages)
    test_formulas_figures_and_headings,
    test_page_loads_whole_and_from_here_only,
)

PAGES = [page for page in pages() if page.startswith(LISTED)]
SEEN = [pytest.param(view, id=view.name, marks=[pytest.mark.thorough] * view.dark) for view in VIEWS]


@pytest.mark.parametrize("view", SEEN)
def test_fits_the_screen_and_can_be_read(page, view, look):
    assert fault_in_view(look(page).facts[view.name], view.dark) == []


def test_is_at_most_twenty_screens_long(page, look):
    assert look(page).facts["desktop"]["height"] <= 20 * VIEWS[0].size[1]
