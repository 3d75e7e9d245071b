"""What the pages say of themselves fits together: no page waits for itself, paths and weeks keep the order that pages ask for."""

import importlib.util
import re
import sys

import pytest

from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
contents = importlib.import_module("contents")
sheets = importlib.import_module("sheets")
INTRO = (ROOT / "book" / "intro.md").read_text("utf8")


def test_every_page_of_a_chapter_says_what_it_takes_and_asks_a_question():
    listed = [name for part, names in contents.parts().items() for name in names if part.startswith("Chapter ")]
    assert [page.name for page in contents.pages().values() if page.number] == listed
    assert [page.name for page in contents.pages().values() if "?" not in page.question] == []


def test_what_a_page_builds_on_stands_before_it():
    place = {name: k for k, name in enumerate(contents.pages())}
    assert [(page.name, before) for page in contents.pages().values() for before in page.before if place[before] >= place[page.name]] == []


def test_the_lines_of_the_map_tell_all_that_pages_ask_for():
    pages, lines = contents.pages(), contents.needed_links()
    way = {name: {name} for name in pages}
    for name in pages:  # in the order of the contents, so that what stands before is known
        way[name] |= set().union(*(way[before] for before, after in lines if after == name))
        assert way[name] == contents.ancestors(name)
    assert len(lines) < sum(len(page.before) for page in pages.values()), "a line that follows from others is drawn"


@pytest.mark.parametrize(
    ("first", "words"), [("[second](#page-second)", "have read one another"), ("[gone](#page-gone)", r"asks to have read \['page-gone'\]")]
)
def test_a_circle_and_a_page_that_is_not_there_are_refused(first, words, tmp_path, monkeypatch):
    pages = {"first": first, "second": "[first](#page-first)"}
    (tmp_path / "_toc.yml").write_text("parts: [{caption: 'Chapter 1: One', chapters: [{file: first}, {file: second}]}]")
    for name, before in pages.items():
        (tmp_path / f"{name}.md").write_text(
            f"(page-{name})=\n# {name}\n\n*9 minutes. Level: one star. Before this: {before}.*\n\nWhat is it?\n"
        )
    monkeypatch.setattr(contents, "BOOK", tmp_path)
    for kept in (contents._toc, contents.pages):
        monkeypatch.setattr(contents, kept.__name__, kept.__wrapped__)
    with pytest.raises(ValueError, match=words):
        contents.pages()


def test_a_path_holds_all_that_its_pages_build_on():
    targets = re.findall(r"^:to: (.*)$", INTRO, re.MULTILINE)
    assert len(targets) == 3
    for asked in targets:
        road = [page.name for page in contents.road(asked.split())]
        assert all(set(contents.pages()[name].before) <= set(road[:k]) for k, name in enumerate(road))
    with pytest.raises(ValueError, match="no such page"):
        contents.road(["decisions/no-such-page"])


def test_the_weeks_of_the_course_keep_the_order():
    read, done = [], []
    for week in contents.course().blocks:
        for page in week.pages:
            assert set(page.before) <= set(read), f"{page.name} comes before what it builds on"
            read.append(page.name)
        done += [sheet.name for sheet in week.sheets]
        assert [sheet.name for sheet in week.sheets if sheet.page not in read] == []
    assert len(contents.course().blocks) == 12
    assert len(set(read)) == len(read)
    assert len(set(done)) == len(done)


# --- the pages of the sheets ----------------------------------------------------------------------


@pytest.mark.parametrize("name", contents.sheets())
def test_a_sheet_belongs_to_a_page(name):
    sheet = contents.sheets()[name]
    assert sheet.page in contents.pages(), f"end solutions/{name}.md in: Back to the page: [...](../../book/<chapter>/<page>.md)."


def test_every_hint_is_folded_one_by_one_and_nothing_is_left_to_call():
    from tools import exercises

    text = sheets.text(contents.sheets()["decisions/ridge"], exercises.student("decisions/ridge").cells)
    assert text.count('<details class="hint">') == 6
    assert "Begin with <code>x_mean, y_mean = x.mean(axis=0), y.mean()</code>" in text
    assert "# your code here" in text
    assert not re.search(r"Stuck\?|hint\(|check\(|BEGIN SOLUTION|np\.linalg\.solve|Back to the page", text)
