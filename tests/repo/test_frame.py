"""The frame around the chapters: every heading of the four documents has its page, and no page of a chapter is forgotten."""

import importlib
import math
import re
import sys

import pytest

from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
frame = importlib.import_module("frame")
DOCUMENTS = list(frame.written())


def text_of(page):
    return (frame.contents.BOOK / f"{page}.md").read_text("utf8")


def steps(numbers):
    """Numbers that do not follow from those before them: 2.3 follows 2.2, and 2.3.1 follows 2.3."""
    seen, lost = set(), []
    for number in numbers:
        stem, _, last = number.rpartition(".")
        before = f"{stem}.{int(last) - 1}".lstrip(".") if int(last) > 1 else stem
        if before and before not in seen:
            lost.append(number)
        seen.add(number)
    return lost


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_number_of_a_document_is_left_out(name):
    assert steps([section.number for section in frame.written()[name].sections if section.number]) == []


def test_a_gap_in_the_numbers_is_found():
    assert steps(["1", "1.1", "1.3", "2.1", "3"]) == ["1.3", "2.1", "3"]


@pytest.mark.parametrize(("name", "count"), [("thesis", 64), ("paper", 20), ("slides", 27), ("notes", 48)])
def test_the_headings_are_as_many_as_were_counted_in_the_documents(name, count):
    assert len(frame.written()[name].sections) == count


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_heading_has_pages_that_exist_or_says_why_it_has_none(name):
    known = set(frame.listed())
    for section in frame.written()[name].sections:
        assert section.pages or section.remark, f"{section.heading}: no page and no remark"
        assert set(section.pages) <= known, f"{section.heading}: {set(section.pages) - known}"
        assert len(section.pages) == len(set(section.pages)), section.heading


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_names_sections_that_there_are(name):
    numbers = {section.number for section in frame.written()[name].sections}
    lost = {page: set(frame.named(text_of(page)).get(name, [])) - numbers for page in frame.listed()}
    assert {page: found for page, found in lost.items() if found} == {}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_that_rests_on_a_document_stands_in_its_table(name):
    there = {page for section in frame.documents()[name].sections for page in section.pages}
    lost = [page for page in frame.contents.pages() if name in frame.named(text_of(page)) and page not in there]
    assert lost == [], f"name a section under Sources, or add the page to [{name}.sections] of appendix/sections.toml"


def test_every_page_of_the_book_stands_on_the_page():
    led = {page for document in frame.documents().values() for section in document.sections for page in section.pages}
    shown = set(re.findall(r"\{doc\}`/([^`]+)`", "\n".join(frame.beyond())))
    assert led | shown == set(frame.listed())
    assert led & shown == set()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("- {cite:t}`sakaya2021thesis`, sections 3.2.2 to 3.2.4 (figure 3.5), and 4.1.", {"thesis": ["3.2.2", "3.2.3", "3.2.4", "4.1"]}),
        ("- {cite:t}`sakaya2021thesis`, section 2.4 (both), 2.4.1 (one) and equation 2.18.", {"thesis": ["2.4", "2.4.1"]}),
        ("- A word: the thesis, section 4.1.3; the paper, section 3.1.", {"thesis": ["4.1.3"], "paper": ["3.1"]}),
        ("- {cite:t}`bishop2006`, section 10.7. The paper behind it.", {}),
        ("- {cite:t}`bardenet2021notes` name chapter 23 of {cite:t}`murphy2012`; there it is section 21.4.", {"notes": []}),
        ("- {cite:p}`bardenet2021notes`, chapter 1, and its section 5.2.1.", {"notes": ["1", "5.2.1"]}),
    ],
)
def test_sections_are_read_from_a_page_s_sources(words, found):
    assert frame.named(f"Before: {{cite:t}}`sakaya2021thesis`, section 9.9.\n\n## Sources\n\n{words}\n") == found


def test_the_ten_answers_are_right():
    text = text_of("before-you-begin")
    assert text.count(":::{dropdown} Answer") == 10
    mean, square = 0.3 * 10, 0.3 * 10**2
    ill, alarmed = 10_000 * 0.01 * 0.9, 10_000 * 0.99 * 0.05
    said = [
        f"{mean:.0f}, {square:.0f}, and ${square:.0f} - {mean:.0f}^2 = {square - mean**2:.0f}$",
        f"about {math.exp(-1):.2f}. The median is $10 \\log 2$, about {10 * math.log(2):.1f} days",
        f"{ill:.0f} are ill and found, and {alarmed:.0f} are healthy and alarmed",
        f"${ill:.0f}/{ill + alarmed:.0f}$, about {ill / (ill + alarmed):.2f}",
        f"$2/\\sqrt{{400}} = {2 / math.sqrt(400):.1f}$, its *standard error*; then {2 / math.sqrt(40_000):.2f}",
        f"$\\sqrt 2$, about {math.sqrt(2):.2f}",
    ]
    assert [words for words in said if words not in text] == []
