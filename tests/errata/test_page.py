"""The errata's pages: in step with their source, complete, and linked both ways."""

import ast
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"


def test_pages_are_in_step(tool, capsys):
    assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_check_notices_a_change(tool, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "book/appendix"
    (folder / "errata").mkdir(parents=True)
    items = tool.read()
    texts = tool.pages(items)
    monkeypatch.setattr(tool, "read", lambda: items)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert tool.main(["--check"]) == 0
    with (folder / "errata/vi.md").open("a", encoding="utf-8") as page:
        page.write("one word more\n")
    (folder / "errata/left-over.md").touch()
    assert tool.main(["--check"]) == 1
    assert capsys.readouterr().err.count("out of step") == 2
    tool.main([])
    assert tool.main(["--check"]) == 0


def test_every_item_stands_on_one_page_and_in_the_list(tool):
    items = tool.read()
    texts = tool.pages(items)
    for item in items:
        assert [name for name, text in texts.items() if f"(erratum-{item.id})=" in text] == [f"errata/{item.page}.md"]
        assert f"| [{item.id}](#erratum-{item.id}) |" in texts["errata.md"]


def test_ids_are_unique_and_well_formed(tool):
    items = tool.read()
    assert len({item.id for item in items}) == len(items)
    letter = {"thesis": "T", "paper": "P", "slides": "S", "notes": "N"}
    for item in items:
        own = {"right": letter[item.document] + "R", "wording": "X"}.get(item.kind, letter[item.document])
        assert re.fullmatch(rf"{own}\d+", item.id), f"{item.id}: an item of this document and kind starts with {own}"


def test_item_has_a_test_of_its_own(item):
    tree = ast.parse((Path(__file__).parent / f"test_{item.chapter}.py").read_text(encoding="utf-8"))
    tests = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    test = tests[f"test_{item.id.lower()}"]
    asked = [node.args[0].value for node in ast.walk(test) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "figures"]
    assert asked == [item.id]
    assert sum(isinstance(node, ast.Assert) for node in ast.walk(test)) >= 2


def test_item_shows_a_figure(tool, item):
    values = tool.figures(item)
    assert tool.PLACEHOLDER.findall(item.shown)
    assert not tool.PLACEHOLDER.search(tool.fill(item.shown, values))


def test_printed_figures_are_stable(tool, item):
    """The last printed digit does not hang on the last digits of the arithmetic, which differ between machines."""
    values = tool.figures(item)
    text = tool.fill(item.shown, values)
    for factor in (1 - 1e-6, 1 + 1e-6):
        assert tool.fill(item.shown, {name: value * factor + (factor - 1) * 1e-3 for name, value in values.items()}) == text


def test_no_computation_without_an_item(tool):
    items = tool.read()
    for chapter in {item.chapter for item in items}:
        tree = ast.parse((Path(__file__).parent / f"test_{chapter}.py").read_text(encoding="utf-8"))
        tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert tests == {f"test_{item.id.lower()}" for item in items if item.computed and item.chapter == chapter}


def test_every_link_has_an_item(tool):
    known = {item.id for item in tool.read()}
    for page, found in tool.links().items():
        for shown, target in found:
            assert target in known, f"{page}.md links to {target}, which errata.toml does not have"
            assert shown == target, f"{page}.md calls {target} by the name {shown}"


def test_page_links_to_item(tool, touched):
    name, page = touched
    found = tool.links()
    assert page in found, f"errata.toml names the page {page} for {name}: write it, or mend the name"
    assert name in {target for _, target in found[page]}, f"{page}.md does not link to [{name}](#erratum-{name})"


def test_links_are_read_from_text_alone(tool):
    link = "[T02](#erratum-T02)"
    text = f"```{{code-cell}} python\n{link}\n```\n\n```\n{link}\n```\n\n```python\n{link}\n```\n"
    assert tool.LINK.findall(tool.prose(text)) == []
    text = f"{link}\n\n:::{{dropdown}} More\n{link}\n:::\n\n```{{note}}\n{link}\n```\n\n{link}\n"
    assert len(tool.LINK.findall(tool.prose(text))) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "wrong"}, "T02: kind is 'wrong'"),
        ({"document": "book"}, "T02: document is 'book'"),
        ({"right": None}, "T02 lacks right"),
        ({"note": "x"}, "T02 has note"),
    ],
)
def test_bad_entry_is_named(tool, change, words):
    good = {
        "id": "T02", "title": "t", "document": "thesis", "place": "p", "kind": "typo", "chapter": "decisions", "pages": [],
        "printed": "a", "right": "b", "why": "c", "shown": "d",
    }  # fmt: skip
    bad = {key: value for key, value in (good | change).items() if value is not None}
    assert tool.parse(good).id == "T02"
    with pytest.raises(ValueError, match=words):
        tool.parse(bad)
