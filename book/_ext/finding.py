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
        word = word.lower()
        for end, other in AMERICAN.items():
            word = re.sub(end, lambda found, other=other: other.replace("$1", found[1] or ""), word)
        return super().stem(word)


def find_terms(app):
    """Which page introduces which terms, under all their names."""
    terms = glossary.read()
    where = glossary.first_pages(terms, {path: path.read_text("utf8") for path in glossary.pages()})
    app.env.introduced = {}
    for term in terms:
        page = where[term["name"]].relative_to(glossary.BOOK).with_suffix("").as_posix()
        app.env.introduced.setdefault(page, []).extend([term["name"], *term.get("also", []), *term.get("here", [])])


def mark_terms(app, doctree):
    """Index a page under the terms that it introduces."""
    names = app.env.introduced.get(app.env.docname, [])
    section = next(doctree.findall(nodes.section), None)
    if names and section is not None:
        entries = [("single", name.replace(";", ","), section["ids"][0], "main", None) for name in names]
        section.insert(1, addnodes.index(entries=entries))


def setup(app):
    search.languages["en"] = English
    app.connect("builder-inited", find_terms)
    app.connect("doctree-read", mark_terms)
    app.add_js_file("excerpts.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
