"""START HERE and the sheets, asked of the server that JupyterLab talks to: every link opens something, and a page opens as a notebook."""

import json
import os
import posixpath
import re
import secrets
import socket
import subprocess
import sys
import time
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

import nbformat
import pytest

from course_pkg.checks import progress
from tools import exercises, start
from tools.pages import ROOT, read_page

LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(notebook, folder=""):
    """Files that a notebook's text leads to, from the repository's root."""
    cells = nbformat.read(ROOT / notebook, as_version=4).cells
    found = (urlsplit(link) for cell in cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source))
    return {posixpath.normpath(posixpath.join(folder, unquote(link.path))) for link in found if not link.scheme and link.path}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Ask a running server for a file as JupyterLab does."""
    own, token = tmp_path_factory.mktemp("jupyter"), secrets.token_hex(8)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [
        f"--ServerApp.root_dir={ROOT}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
    ]
    folders = {f"JUPYTER_{name}_DIR": str(own / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--ServerApp.ip=127.0.0.1", "--allow-root", *options]
    with (own / "log").open("w") as log, subprocess.Popen(command, cwd=own, env=os.environ | folders, stdout=log, stderr=log) as server:

        def get(path, **query):
            words = "&".join(f"{name}={value}" for name, value in query.items())
            address = f"http://127.0.0.1:{port}/api/{quote(path)}?{words}"
            with urlopen(Request(address, headers={"Authorization": f"token {token}"})) as answer:
                return json.load(answer)

        try:
            for _ in range(600):
                try:
                    get("status")
                    break
                except URLError:
                    assert server.poll() is None, (own / "log").read_text("utf8")
                    time.sleep(0.1)
            yield lambda path, **query: get(f"contents/{path}", **query)
        finally:
            server.terminate()


def lost(ask, paths):
    """Those that the server cannot open."""
    found = []
    for path in sorted(paths):
        try:
            ask(path, content=0)
        except HTTPError as error:
            found.append(f"{path}: {error.code}")
    return found


def test_it_leads_to_every_page_of_a_chapter_and_to_every_sheet(ask):
    found = links("START-HERE.ipynb")
    pages = {f"book/{page.name}.md" for page in start.contents.pages().values()}
    sheets = {f"work/{name}.ipynb" for name in exercises.names()}
    assert pages | sheets <= found
    assert lost(ask, {re.sub("^work/", "exercises/", link) for link in found}) == []  # whose copies `course open` makes


def test_every_link_of_a_sheet_opens_something(ask):
    found = set().union(*(links(f"exercises/{name}.ipynb", f"exercises/{name.partition('/')[0]}") for name in exercises.names()))
    assert any(path.startswith("book/") for path in found)
    assert lost(ask, found) == []


def test_a_link_to_nowhere_is_found(ask):
    assert lost(ask, ["book/decisions/no-such-page.md", "README.md"]) == ["book/decisions/no-such-page.md: 404"]


@pytest.mark.parametrize("name", ["book/intro.md", "book/decisions/risk.md", "book/mcmc/nuts.md", "solutions/decisions/ridge.md"])
def test_a_page_opens_as_the_notebook_that_was_run(name, ask):
    """Through jupytext; what is executed for the book is read by myst-nb."""
    opened = ask(name, type="notebook")["content"]["cells"]
    executed = [cell.source for cell in read_page(ROOT / name).notebook.cells if cell.cell_type == "code"]
    assert [cell["source"] for cell in opened if cell["cell_type"] == "code"] == executed


def test_jupyterlab_opens_with_it():
    page = re.search(r"default_url=/lab/tree/(\S+)", (ROOT / "Makefile").read_text("utf8"))[1]
    assert (ROOT / page) == start.NOTEBOOK
    assert start.asked(nbformat.read(start.NOTEBOOK, as_version=4)) == start.asked(start.notebook()), "run tools/start.py"


def test_its_numbers_are_those_of_the_program_course():
    numbers = start.numbered()
    assert {entry.sheet.name: entry.number for entry in progress.entries()}.items() <= numbers.items()


def test_what_is_next_follows_what_has_passed(tmp_path, monkeypatch):
    """Nothing done; one part of two; done sheets; and a page without sheets is not passed over."""
    monkeypatch.setenv("COURSE_WORK", str(tmp_path))
    sheets = progress.entries()
    said = start.progress()
    assert said.startswith(f"0 of {len(sheets)} ")
    assert f"[{sheets[0].sheet.title}]" in said
    progress.note(next(iter(sheets[0].minutes)))
    assert f"(1 of {len(sheets[0].minutes)} parts)" in start.progress()
    order = start.course()
    place, skipped = next((place, page) for place, (page, those) in enumerate(order) if page.number and not those)
    before = {sheet.name for _, those in order[:place] for sheet in those}
    for entry in sheets:
        if entry.sheet.name in before:
            for name in entry.minutes:
                progress.note(name)
    said = start.progress()
    assert said.startswith(f"{len(before)} of ")
    assert f"[{skipped.number} {skipped.title}]" in said
    for name in (name for entry in sheets for name in entry.minutes):
        progress.note(name)
    assert "Next" not in start.progress()
