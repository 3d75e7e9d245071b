"""The table of reproductions: no figure of the documents is left out, every row leads somewhere, and its numbers are those of the runs."""

import importlib
import re
import statistics
import sys

import pytest

from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
reproduction = importlib.import_module("reproduction")
frame = importlib.import_module("frame")
ROWS = reproduction.results()
RAW = reproduction.tomllib.loads(reproduction.SOURCE.read_text("utf8"))["result"]
BY_PLACE = {(row.document, row.place): row for row in ROWS}
# counted in the documents
NUMBERED = {
    "thesis": {
        "Figure": ["1.1", "2.1", "2.2", *(f"3.{k}" for k in range(1, 7)), *(f"4.{k}" for k in range(1, 11))],
        "Table": ["2.1", "4.1", "4.2"],
        "Algorithm": ["1", "2", "3", "4", "5"],
    },
    "paper": {"Figure": ["1", "2", "3", "4"], "Table": ["1"]},
    "notes": {"Figure": ["2.1"]},
}


def mentioned(document, kind):
    """Numbers that stand in the rows of a document, or among its diagrams."""
    words = [row.place for row in ROWS if row.document == document] + [
        name for name in reproduction.diagrams() if name.startswith(document)
    ]
    lists = [found for place in words for found in re.findall(rf"{kind}s? ([\d.]+(?: and [\d.]+)*)", place.partition("(")[0])]
    return {number for found in lists for number in found.split(" and ")}


@pytest.mark.parametrize(("document", "kind"), [(document, kind) for document, kinds in NUMBERED.items() for kind in kinds])
def test_no_figure_is_left_out(document, kind):
    assert mentioned(document, kind) == set(NUMBERED[document][kind])


def test_every_row_has_a_verdict_and_a_page():
    known, documents = set(frame.listed()), {*frame.written(), "papers"}
    for row in ROWS:
        assert row.verdict in reproduction.VERDICTS, row.place
        assert row.document in documents, row.place
        assert row.pages, row.place
        assert set(row.pages) <= known, row.place
    assert set(reproduction.diagrams().values()) <= known
    assert len(BY_PLACE) == len(ROWS), "two rows for one place"
    assert {row.verdict for row in ROWS} == set(reproduction.VERDICTS)


def test_the_errata_of_a_row_exist():
    items = reproduction.tomllib.loads((frame.contents.BOOK / "appendix" / "errata.toml").read_text("utf8"))["item"]
    assert {item for row in ROWS for item in row.errata} <= {item["id"] for item in items}


def test_every_function_has_a_row():
    assert set(reproduction.FIGURES) <= {row.id for row in ROWS}


def test_no_measured_number_of_ours_is_typed():
    left = {row["place"]: re.sub(r"\{[^{}]*\}|«[^«»]*»", "", row["ours"]) for row in RAW}
    typed = re.compile(r"\d(?:\.\d+)?\s*(?:%|s\b|times|per cent)|\b\d\.\d{3}")
    assert {place: text for place, text in left.items() if typed.search(re.sub(r"\bat 0\.0005\b", "", text))} == {}


def test_the_pages_hand_out_the_numbers_that_rows_take_from_them():
    for row in ROWS:
        for page, key in reproduction.GLUED.findall(row.ours):
            text = (frame.contents.BOOK / f"{page}.md").read_text("utf8")
            assert f"{{glue:text}}`{key}`" in text, f"{row.place}: {page} does not use {key}"
            assert page in row.pages, row.place


def test_figures_are_those_of_the_stored_runs():
    """By another road than the module's for three rows, among them the one that tells against us."""
    corn = reproduction.stored("posthoc", "corn")["results"]["converged"]
    risks = sorted(run["tilted 0.5"]["risk"]["decision maker"][1] for run in corn)
    ours = BY_PLACE["papers", "Paper IV, corn, the maker without a prior"].ours
    assert f"median {(risks[4] + risks[5]) / 2:.3f} ({risks[0]:.3f} to {risks[-1]:.3f})" in ours
    assert (risks[4] + risks[5]) / 2 > 0.4
    schools = reproduction.stored("lcvi", "eight_schools")["reduction_percent"]
    assert f"{schools['mean']:.2f}% (sd {schools['sd']:.2f}, {schools['n']} starts)" in BY_PLACE["paper", "Figure 2, left"].ours
    runs = reproduction.stored("lcvi", "music_ascent")["runs"]
    mean = statistics.mean
    saved = 100 * (1 - mean(runs["squared"]["squared"]["test"]) / mean(runs["plain"]["squared"]["test"]))
    assert abs(saved - reproduction.FIGURES["music_squared"]()["ascent_mean"]) < 0.01


def test_what_is_called_reproduced_lies_near():
    """A verdict in words has a number behind it: twice the published spread for savings on music."""
    for row in ROWS:
        if row.id.startswith("music_") and row.verdict == "reproduced":
            found = reproduction.FIGURES[row.id]()
            assert abs(found["our_mean"] - found["their_mean"]) < 2 * found["their_sd"], row.place
    found = reproduction.schools()
    assert abs(found["our_mean"] - found["their_mean"]) < 2 * found["their_sd"]
    assert reproduction.corn_maker()["tilted_mid"] > 1.2 * 0.337


@pytest.mark.parametrize(("text", "shown"), [("{a:.1f} to {b:.1f}", "−1.5 to 2.0"), ("page-name {b:.0f}", "page-name 2")])
def test_a_minus_sign_is_one(text, shown):
    assert reproduction.filled(text, {"a": -1.5, "b": 2.0}) == shown
