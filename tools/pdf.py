"""Print the built book into one PDF, with an outline, links and a table of contents with page numbers.

    python tools/pdf.py                                 the whole book
    python tools/pdf.py decisions/risk mcmc/gibbs       these pages alone

The site's own pages are put into one document (tools/pdf.js), under their own print styles, and Chromium prints it. It is printed
twice, because only the first print tells on which sheet a page begins.
"""

import argparse
import base64
import datetime
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python tools/pdf.py`, whose path begins in tools/

from tools.build_book import BOOK, SITE
from tools.pack import NAME

TARGET = SITE.parent / f"{NAME}.pdf"
HERE = Path(__file__).parent
COLUMN = 627  # pixels: a sheet of A4 between the margins of pdf.css
PRINT = {"preferCSSPageSize": True, "generateDocumentOutline": True, "generateTaggedPDF": True, "printBackground": True}
NUMBER = """for (const link of document.querySelectorAll(".paper-contents a"))
    link.querySelector("b").textContent = arguments[0][link.hash.slice(1)] ?? "";"""


def parts(only: list[str] | None = None) -> list[dict]:
    """The parts of the book with their pages in reading order, those below other pages and the sheets of exercises among them."""
    sys.path.insert(0, str(BOOK / "_ext"))
    import contents  # type: ignore[import-not-found]

    below = contents.below() | {"exercises": [f"exercises/{name}" for name in contents.sheets()]}
    found = [
        {"title": title, "pages": [page for name in names for page in (name, *below.get(name, []))]}
        for title, names in (contents.parts() | {"Before you begin": ["intro", *contents.parts()["Before you begin"]]}).items()
    ]
    if only:
        found = [{**part, "pages": [page for page in part["pages"] if page in only]} for part in found]
    return [part for part in found if part["pages"]]


def places(pdf: bytes) -> dict[str, int]:
    """The sheet of each named place, counted from 1, in a PDF as Chromium writes it: its page tree and its names are plain text."""
    objects = {int(number): body for number, body in re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)}

    def sheets(number: int) -> list[int]:
        kids = re.search(rb"/Kids \[([\d R\s]+)\]", objects[number])
        return [sheet for kid in re.findall(rb"(\d+) 0 R", kids[1]) for sheet in sheets(int(kid))] if kids else [number]

    (root,) = (int(number) for body in objects.values() for number in re.findall(rb"/Type /Catalog.*?/Pages (\d+) 0 R", body, re.DOTALL))
    order = {number: sheet for sheet, number in enumerate(sheets(root), 1)}
    (names,) = (int(number) for number in re.findall(rb"/Dests (\d+) 0 R", pdf))
    found = re.findall(rb"/([^\s/]+) \[(\d+) 0 R /XYZ", objects[names])
    return {name.decode(): order[int(number)] for name, number in found}


def print_book(driver, home: str, chosen: list[dict]) -> bytes:
    """The PDF of some parts of the site that is served at ``home``."""
    driver.set_script_timeout(900)
    driver.command_executor.client_config.timeout = 900
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": COLUMN, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.get(f"{home}/appendix/notation.html")  # any page with formulas
    config = (BOOK / "_config.yml").read_text("utf8")
    subtitle = re.search(r"^:::\{rst-class\} subtitle\n(.+)$", (BOOK / "intro.md").read_text("utf8"), re.MULTILINE)[1]  # type: ignore[index]
    title, author = (re.search(rf"^{key}: (.+)$", config, re.MULTILINE)[1] for key in ("title", "author"))  # type: ignore[index]
    facts = {"title": title, "author": author, "subtitle": subtitle, "date": f"{datetime.date.today():%-d %B %Y}", "parts": chosen}
    driver.execute_script(
        "document.head.append(Object.assign(document.createElement('style'), {textContent: arguments[0]}))",
        (HERE / "pdf.css").read_text("utf8"),
    )
    if wrong := driver.execute_async_script((HERE / "pdf.js").read_text("utf8"), facts):
        raise RuntimeError(f"the pages could not be put together: {wrong}")
    once = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", PRINT)["data"])
    driver.execute_script(NUMBER, places(once))
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", PRINT)["data"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="print these alone, such as decisions/risk")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    from tests.site.book_browser import open_browser, serve

    with serve(SITE) as home, open_browser() as driver:
        arguments.target.write_bytes(print_book(driver, home, parts(arguments.pages)))
    print(f"{arguments.target}, {arguments.target.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
