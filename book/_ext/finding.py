"""Search finds the field's words on the page that introduces them, in British and American spelling, and shows prose."""

import json
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes, search
from sphinx.search.en import SearchEnglish

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools import glossary

# the ends of British words, and how American ones end; nobody reads the result, so that "precise" becomes "precize" does no harm
AMERICAN = {
    "is(e|ed|er|es|ing|ation|ations|able)$": "iz$1",
    "ys(e|ed|er|es|ing)$": "yz$1",
    "our(s|ed|ing|al|able|ful)?$": "or$1",
    "tre(s|d)?$": "ter$1",
    "ll(ed|er|ing)$": "l$1",
}


def american(word: str) -> str:
    """A word of either spelling in the American one."""
    for end, other in AMERICAN.items():
        word = re.sub(end, lambda found, other=other: other.replace("$1", found[1] or ""), word)
    return word


class English(SearchEnglish):
    """English whose two spellings are one, when the index is made (here) and when it is asked (the script)."""

    js_stemmer_code = f"""{SearchEnglish.js_stemmer_code}
const Porter = Stemmer;
Stemmer = function () {{
  const porter = new Porter();
  const american = {json.dumps(list(AMERICAN.items()))};
  this.stemWord = (word) =>
    porter.stemWord(american.reduce((w, [end, other]) => w.replace(new RegExp(end), (_, tail) => other.replace("$1", tail ?? "")), word));
}};
"""

    def stem(self, word: str) -> str:
        return super().stem(american(word.lower()))


def find_terms(app):
    """Which page introduces which terms."""
    texts = {path: path.read_text("utf8") for path in glossary.pages()}
    page_of = {glossary.LABEL.search(text)[1]: path for path, text in texts.items()}
    first = glossary.first_pages(glossary.read(), texts)
    app.env.first_page = {name: page_of[label] for name, label in first.items()}


def mark_terms(app, doctree):
    """Index a page under the terms that it sets in bold, with all their names in both spellings; who introduces one comes first."""
    path = Path(app.env.doc2path(app.env.docname))
    section = next(doctree.findall(nodes.section), None)
    if path not in glossary.pages() or section is None:
        return
    bold = glossary.bold_terms(path.read_text("utf8"))
    entries = {}
    for term in glossary.read():
        known = [term["name"], *term.get("also", [])]
        if bold & {form for name in known for form in (name.lower(), f"{name.lower()}s")}:
            rank = "main" if app.env.first_page[term["name"]] == path else ""
            for name in [*known, *term.get("here", [])]:
                entries[name] = entries[" ".join(map(american, name.split()))] = rank
    place = section["ids"][0]
    rows = [("single", name.replace(";", ","), place, rank, None) for name, rank in sorted(entries.items())]
    section.insert(1, addnodes.index(entries=rows))


def setup(app):
    search.languages["en"] = English
    app.connect("builder-inited", find_terms)
    app.connect("doctree-read", mark_terms)
    app.add_js_file("excerpts.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
