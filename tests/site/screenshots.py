"""Save pictures of every page of the built book, at a desk, on a phone and in the dark.

python tests/site/screenshots.py FOLDER [--page decisions/risk]
"""

import argparse
from pathlib import Path

from book_browser import SITE, VIEWS, open_browser, pages, save_screenshot, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--page", action="append", help="only this page, without .html; may be given again")
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    arguments = parser.parse_args()
    if not (arguments.site / "intro.html").is_file():
        parser.error(f"the book is not built in {arguments.site}: run `make book` first")
    names = arguments.page or [page.removesuffix(".html") for page in pages(arguments.site)]
    with serve(arguments.site) as home, open_browser() as driver:
        for name in names:
            for view in VIEWS:
                file = arguments.folder / f"{name.replace('/', '-')}-{view.name}.png"
                save_screenshot(driver, f"{home}/{name}.html", view, file)
                print(file)


if __name__ == "__main__":
    main()
