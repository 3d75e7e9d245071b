"""What can be wrong with a page: functions from a visit to a list of faults, each a sentence that names the culprit."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book_browser import Visit, is_outside

SCROLLERS = 6  # a page may have, on a phone


def fault_in_loading(visit: Visit, home: str) -> list[str]:
    """Nothing from outside, nothing missing, no script error."""
    facts = next(iter(visit.facts.values()))
    asked = [*visit.requests, *facts["resources"]]
    return [
        *(f"asks outside for {address}" for address in dict.fromkeys(asked) if is_outside(address, home)),
        *(f"request failed: {failure}" for failure in visit.failures),
        *(f"script error: {error}" for error in visit.script_errors),
    ]


def fault_in_formulas(visit: Visit) -> list[str]:
    facts = next(iter(visit.facts.values()))
    faults = [f"formula with an error: {error}" for error in facts["mathErrors"]]
    faults += [f"formula left as source: {piece}" for piece in facts["rawMath"]]
    if facts["typeset"] < facts["formulas"]:
        faults.append(f"{facts['formulas'] - facts['typeset']} of {facts['formulas']} formulas are not set")
    return faults


def fault_in_figures(visit: Visit) -> list[str]:
    """Alt text on every image, a caption under every figure, every drawing in a figure."""
    facts = next(iter(visit.facts.values()))
    faults = []
    for image in facts["images"]:
        if image["broken"]:
            faults.append(f"image does not load: {image['source']}")
        if not image["decoration"] and not (image["alt"] or "").strip():
            faults.append(f"image without alt text: {image['source']}")
        if (image["alt"] or "").startswith(("../_images", "_images", "<Figure")):
            faults.append(f"alt text is a file name or a repr: {image['alt']}")
        if image["drawn"] and not image["inFigure"]:
            faults.append(f"drawing outside a figure, so without a caption: {image['source']}")
    faults += [f"figure {number} has no caption" for number, caption in enumerate(facts["figures"], 1) if not caption]
    return faults


def fault_in_headings(visit: Visit) -> list[str]:
    facts = next(iter(visit.facts.values()))
    faults = [] if len(facts["h1"]) == 1 else [f"{len(facts['h1'])} headings of the first level: {facts['h1']}"]
    for above, below in zip(facts["levels"], facts["levels"][1:], strict=False):
        if below > above + 1:
            faults.append(f"a heading of level {below} right under one of level {above}")
    if not facts["title"].strip():
        faults.append("no title")
    if not facts["language"]:
        faults.append("no language given, so a screen reader must guess")
    return faults


def fault_in_view(facts: dict, dark: bool) -> list[str]:
    """Nothing wider than the screen, little to move sideways, everything readable."""
    faults = [f"formula cut off, display it: {formula}" for formula in facts["cut"]]
    faults += [f"a line begins with what follows the formula {formula}" for formula in facts["astray"]]
    if len(facts["scrollers"]) > SCROLLERS:
        faults.append(f"{len(facts['scrollers'])} parts are moved sideways: {facts['scrollers']}")
    if facts["overflow"] > 0:
        faults.append(f"{facts['overflow']} pixels wider than the screen: {facts['wide'] or 'no single element'}")
    if dark != (facts["theme"] == "dark"):
        faults.append(f"theme is {facts['theme']!r}")
    return faults + [f"too little contrast: {text}" for text in facts["faint"]]


class _Places(HTMLParser):
    """What a page leads to, and the places on it that others can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: dict[str, None] = {}
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids.add(named.get("id"))
        if tag == "a" and named.get("href"):
            self.links[named["href"]] = None


def fault_in_links(site: Path, pages: list[str]) -> dict[str, list[str]]:
    """Every internal link of every page leads to a file, and to a place on it, that is there."""
    read = {(site / page).resolve(): _Places((site / page).read_text("utf8")) for page in pages}
    faults: dict[str, list[str]] = {page: [] for page in pages}
    for page, (path, places) in zip(pages, read.items(), strict=True):
        for link in places.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                faults[page].append(f"link to nowhere: {link}")
            elif parts.fragment and target in read and unquote(parts.fragment) not in read[target].ids:
                faults[page].append(f"link to a place that is not there: {link}")
    return faults
