"""Rooms to work in without building anything: a container, a codespace, Binder and Colab. None of them is started here."""

import fnmatch
import importlib
import json
import re
import sys

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from tools import exercises
from tools.pages import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
launch = importlib.import_module("launch")
RECIPE = (ROOT / "Containerfile").read_text("utf8")


def test_the_recipe_installs_from_the_pins():
    """As `make env` does, which installs from constraints.txt; and the pins are not kept from it."""
    installing = [line for line in RECIPE.splitlines() if re.match(r"RUN.*\b(pip|conda|make)\b", line)]
    assert [line.split()[-2:] for line in installing] == [["make", "env"]]
    assert re.search(r"^env:\n\t@tools/setup_env.sh$", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE)
    assert "--constraint constraints.txt" in (ROOT / "tools" / "setup_env.sh").read_text("utf8")
    ignored = (ROOT / ".dockerignore").read_text("utf8").split()
    wanted = [
        "constraints.txt",
        "pyproject.toml",
        "Makefile",
        "README.md",
        "tools/setup_env.sh",
        "course_pkg/__init__.py",
        "solutions/order.toml",
    ]
    assert [name for name in wanted for pattern in ignored if fnmatch.fnmatch(name, pattern)] == []


def test_the_recipe_starts_from_the_project_s_python():
    oldest = (ROOT / ".python-version").read_text().strip()
    assert re.findall(r"^FROM (\S+)", RECIPE, re.MULTILINE) == [f"python:{oldest}-slim", "tools"]


def test_the_codespace_is_made_by_the_recipe():
    folder = ROOT / ".devcontainer"
    settings = json.loads((folder / "devcontainer.json").read_text("utf8"))
    build = settings["build"]
    assert (folder / build["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert (folder / build["context"]).resolve() == ROOT
    assert f" AS {build['target']}\n" in RECIPE
    assert f"useradd --create-home {settings['remoteUser']} " in RECIPE
    assert settings["postCreateCommand"] == "make env"


def test_binder_opens_pages_as_notebooks_as_make_env_does():
    command = "set-default-viewer markdown"
    assert command in (ROOT / "postBuild").read_text("utf8")
    assert command in (ROOT / "tools" / "setup_env.sh").read_text("utf8")


# --- buttons and the cell that installs ---------------------------------------------------------------------------

HOME = "https://github.com/ada/deciding"
BINDER = "https://mybinder.org/v2/gh/ada/deciding/main?urlpath=lab/tree/"
ELSEWHERE = "https://mybinder.org/v2/git/https%3A%2F%2Fgit.example.org%2Fada%2Fdeciding/main?urlpath=lab/tree/"
COLAB = "https://colab.research.google.com/github/ada/deciding/blob/main/"
SHEET, PAGE = "exercises/vi/laplace.ipynb", "book/vi/topics.md"


@pytest.mark.parametrize(
    ("url", "path", "found"),
    [
        ("", SHEET, {}),
        (HOME, SHEET, {"Binder": BINDER + SHEET, "Colab": COLAB + SHEET}),
        (f"{HOME}.git", SHEET, {"Binder": BINDER + SHEET, "Colab": COLAB + SHEET}),
        (HOME, PAGE, {"Binder": BINDER + PAGE}),  # Colab opens no text notebooks
        ("https://git.example.org/ada/deciding", SHEET, {"Binder": ELSEWHERE + SHEET}),
    ],
)
def test_buttons_lead_where_the_project_lies(url, path, found):
    assert launch.addresses(url, "main", path) == found


def test_sheets_and_pages_that_run_have_buttons():
    assert launch.path_of("exercises/vi/laplace", {}) == SHEET
    assert launch.path_of("vi/topics", {"kernelspec": {}}) == PAGE
    assert launch.path_of("appendix/glossary", {}) == ""
    assert all((ROOT / path).exists() for path in (SHEET, PAGE))


@pytest.mark.parametrize("url", ["", HOME])
def test_buttons_appear_with_the_setting(url):
    options = {"repository_url": url, "repository_branch": "main"}
    app = type("App", (), {"config": type("Config", (), {"html_theme_options": options}), "env": type("Env", (), {"metadata": {}})})
    context = {"header_buttons": []}
    launch.add_buttons(app, "exercises/vi/laplace", "page.html", context, doctree=object())
    links = [button["url"] for group in context["header_buttons"] for button in group["buttons"]]
    assert links == ([BINDER + SHEET, COLAB + SHEET] if url else [])


def test_a_sheet_installs_the_course_once_the_project_has_an_address(monkeypatch):
    monkeypatch.setattr(exercises, "repository", lambda: {"url": "", "branch": "main"})
    plain = exercises.student("vi/laplace")
    monkeypatch.setattr(exercises, "repository", lambda: {"url": HOME, "branch": "main"})
    title, cell, *rest = exercises.student("vi/laplace").cells
    assert [title, *rest] == plain.cells
    assert f"git clone --quiet --depth 1 --branch main {HOME} course" in cell.source
    ran = []
    code = TransformerManager().transform_cell(cell.source)
    assert "get_ipython()" in code
    exec(code, {"get_ipython": lambda: ran.append("")})  # the course is at hand here, so nothing may be fetched
    assert ran == []
