"""A real browser for the built book: open a page, and bring back everything that a check may want to know about it.

A page is loaded once. Its phone and dark views are the same page under an emulated screen and colour scheme, which is what a
reader does who turns the phone or the lights, and spares two loads in three.
"""

import functools
import http.server
import json
import os
import shutil
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
DESKTOP, PHONE = (1280, 900), (360, 740)
ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("BOOK_SITE", ROOT / "book" / "_build" / "html"))
NOT_PAGES = {"_static", "_sources", "_images", "_modules"}
LISTED = ("exercises/", "appendix/errata/")  # made from sheets and errata, by two templates
PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf8")


class View(NamedTuple):
    """A way of looking at a page."""

    name: str
    size: tuple[int, int]
    dark: bool


VIEWS = (View("desktop", DESKTOP, False), View("phone", PHONE, False), View("dark", DESKTOP, True))


class Visit(NamedTuple):
    """What one load of a page showed."""

    address: str
    facts: dict[str, dict]  # view name -> what probe.js measured
    requests: list[str]
    failures: list[str]  # requests that failed, each with its reason
    script_errors: list[str]


def pages(site: Path = SITE) -> list[str]:
    """Every page of a built book, by its path; empty if it is not built."""
    files = sorted(site.rglob("*.html")) if (site / "intro.html").is_file() else []
    names = [file.relative_to(site) for file in files]
    return [name.as_posix() for name in names if name.parts[0] not in NOT_PAGES and name.name != "index.html"]


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def serve(folder: Path):
    """Serve a folder on loopback, on a port that is free; yield its address."""
    handler = functools.partial(_QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def find_browser() -> tuple[str, str] | None:
    """The browser and its driver, or None where this machine has neither."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextmanager
def open_browser():
    """One browser with a new profile, which resolves no name: a request to outside fails at once, and is recorded."""
    found = find_browser()
    if found is None:
        raise RuntimeError("no browser: install Debian's chromium and chromium-driver")
    with tempfile.TemporaryDirectory(prefix="book-browser-", ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = found[0]
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={DESKTOP[0]},{DESKTOP[1]}"):
            options.add_argument(flag)
        options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(found[1]))
        driver.set_script_timeout(30)
        driver.set_page_load_timeout(30)
        try:
            yield driver
        finally:
            driver.quit()


def set_view(driver, view: View) -> None:
    width, height = view.size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": view.size == PHONE}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": [scheme]})


def visit(driver, address: str, views=VIEWS) -> Visit:
    """Load a page once, wait until its formulas are set, and measure it in each view."""
    set_view(driver, views[0])
    driver.get("about:blank")
    for log in ("browser", "performance"):
        driver.get_log(log)  # forget the page before
    driver.get(address)
    facts = {}
    for view in views:
        set_view(driver, view)
        facts[view.name] = driver.execute_async_script(PROBE, view.size[0])
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests, failures = read_events(events)
    script_errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return Visit(address, facts, requests, failures, script_errors)


def read_events(events: list[dict]) -> tuple[list[str], list[str]]:
    """From the browser's own log of the network: what was asked for, and what of it failed."""
    asked: dict[str, str] = {}
    failures = []
    for event in events:
        method, params = event["method"], event.get("params", {})
        if method == "Network.requestWillBeSent":
            asked[params["requestId"]] = params["request"]["url"]
        elif method == "Network.responseReceived" and params["response"]["status"] >= 400:
            failures.append(f"{params['response']['status']} {params['response']['url']}")
        elif method == "Network.loadingFailed" and not params.get("canceled"):
            failures.append(f"{params['errorText']} {asked.get(params['requestId'], 'an unknown address')}")
    return list(asked.values()), failures


def is_outside(address: str, home: str) -> bool:
    """True for what is neither on the page's own server nor written into the page itself."""
    return urlsplit(address).scheme not in {"data", "blob", "about"} and not address.startswith(home + "/")


def save_screenshot(driver, address: str, view: View, file: Path) -> None:
    """The whole page, top to bottom, as a picture."""
    set_view(driver, view)
    driver.get(address)
    try:
        facts = driver.execute_async_script(PROBE, view.size[0])
        metrics = {"width": view.size[0], "height": min(facts["height"] + 40, 16000)}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**metrics, "deviceScaleFactor": 1, "mobile": view.size == PHONE})
        driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    except WebDriverException as error:  # a picture of half a page is worth more than none
        print(f"{address}: {error.msg}")
    file.parent.mkdir(parents=True, exist_ok=True)
    driver.save_screenshot(str(file))
