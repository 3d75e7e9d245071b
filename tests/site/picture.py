"""Draw the book's picture, for the README and for shared links: title and dial of the built front page, in a real browser.

python tests/site/picture.py                   writes book/_static/picture.png; build the book first
"""

import base64
from pathlib import Path

from book_browser import ROOT, SITE, open_browser, serve
from selenium.webdriver.support.ui import WebDriverWait

SIZE, SCALE = (1200, 630), 0.9  # in pixels, what networks show of a link
TARGET = ROOT / "book" / "_static" / "picture.png"
FRAME = """
const parts = ["h1", "p.subtitle", ".dial"].map((name) => document.querySelector(`.bd-article ${name}`));
parts[0].querySelector(".headerlink")?.remove();
const main = Object.assign(document.createElement("main"), {className: "bd-article"});
main.append(...parts);
document.body.replaceChildren(main);
document.head.insertAdjacentHTML("beforeend", `<style>
  body {background: #fff; overflow: hidden}
  main {width: 700px; margin: 30px auto}
  main > * {max-width: none !important; margin-inline: 0 !important}
</style>`);
dispatchEvent(new Event("resize"));
document.fonts.ready.then(() => setTimeout(arguments[0], 500));
"""


def picture(site: Path = SITE) -> bytes:
    """The picture as PNG, by day."""
    with serve(site) as home, open_browser() as driver:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
        width, height = (round(pixels / SCALE) for pixels in SIZE)
        metrics = {"width": width, "height": height, "deviceScaleFactor": SCALE, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(f"{home}/intro.html")
        WebDriverWait(driver, 20).until(lambda _: driver.execute_script("return document.querySelector('.dial[data-live]')"))
        driver.execute_async_script(FRAME)
        return base64.b64decode(driver.get_screenshot_as_base64())


if __name__ == "__main__":
    TARGET.write_bytes(picture())
    print(TARGET.relative_to(ROOT))
