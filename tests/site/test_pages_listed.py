"""The same looks at the pages that the build makes from sheets and errata: a file of its own, since a file keeps one worker."""

from book_browser import VIEWS, pages
from test_pages import (  # noqa: F401  (collected here once more, with this file's pages)
    LISTED,
    test_fits_the_screen_and_can_be_read,
    test_formulas_figures_and_headings,
    test_page_loads_whole_and_from_here_only,
)

PAGES = [page for page in pages() if page.startswith(LISTED)]


def test_is_at_most_twenty_screens_long(page, look):
    assert look(page).facts["desktop"]["height"] <= 20 * VIEWS[0].size[1]
