"""The list of references says of itself what was looked up."""

import importlib
import re
import sys

from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
citing = importlib.import_module("citing")


def test_what_was_looked_up_is_in_the_list_and_counted_once():
    keys = [key for found in citing.looked_up().values() for key in found]
    assert set(keys) <= set(citing.entries())
    assert len(keys) == len(set(keys))
    assert set(citing.looked_up()) == set(citing.WITH)


def test_every_entry_is_read():
    text = citing.REFERENCES.read_text("utf8")
    assert set(citing.entries()) == set(re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE))
    said = citing.entries()
    assert (said["berger1985"], said["csiszar1967"], said["definetti1937"]) == ("Berger (1985)", "Csiszar (1967)", "de Finetti (1937)")
    assert not [words for words in said.values() if not re.fullmatch(r"[\w '’.-]+ \(\d{4}\)", words)]
