"""The executor of pages can fail, says where, and forgets nothing that matters."""

import json
import textwrap

import pytest

from tools import pages

HEADER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3}
---

# A page
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small course in a folder of its own: one function, no pages yet."""
    (tmp_path / "course_pkg").mkdir()
    (tmp_path / "course_pkg" / "__init__.py").write_text("def risk():\n    return 42\n")
    (tmp_path / "constraints.txt").write_text("numpy==1\n")
    (tmp_path / "book" / "decisions").mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # its kernels find this package, not the course's own
    return tmp_path


def write_page(project, body, name="book/decisions/page.md"):
    path = project / name
    path.write_text(HEADER + textwrap.dedent(body))
    return path


def line_of(path, words):
    return next(i for i, line in enumerate(path.read_text().splitlines(), start=1) if words in line)


def test_a_failing_cell_is_named_with_page_cell_and_line_and_the_others_still_run(project):
    bad = write_page(
        project,
        """
        ```{code-cell} python
        fine = 1
        ```

        Words between the cells.

        ```{code-cell} python
        ---
        tags: [hide-input]
        ---
        still_fine = 2

        assert fine == still_fine, "one is not two"
        ```

        ```{code-cell} python
        never = "reached"
        ```
        """,
        "book/decisions/a-bad.md",
    )
    good = write_page(project, "\n```{code-cell} python\n1 + 1\n```\n", "book/decisions/b-good.md")
    first, second = pages.run([bad, good], project)
    assert first.failure[:3] == ("book/decisions/a-bad.md", 2, line_of(bad, "assert fine"))
    assert "AssertionError: one is not two" in first.failure.message
    assert second.failure is None
    again = {outcome.page.path: outcome.cached for outcome in pages.run([good], project)}
    assert again == {good: True}
    assert pages._look_up(pages.store_folder(project), pages.read_page(bad, project), project) is None
    assert list(json.loads((pages.store_folder(project) / "times.json").read_text())) == ["book/decisions/b-good.md"]


def test_a_function_that_breaks_makes_the_stored_page_run_again_and_fail(project):
    page = write_page(project, "\n```{code-cell} python\nfrom course_pkg import risk\n\nassert risk() == 42\n```\n")
    (first,) = pages.run([page], project)
    (second,) = pages.run([page], project)
    assert (first.failure, first.cached) == (None, False)
    assert (second.failure, second.cached) == (None, True)
    (project / "course_pkg" / "__init__.py").write_text("def risk():\n    return 41.99\n")
    (third,) = pages.run([page], project)
    assert not third.cached
    assert third.failure is not None
    assert third.failure.line == line_of(page, "assert risk")


def test_what_a_cell_writes_to_stderr_fails_the_page(project):
    page = write_page(project, '\n```{code-cell} python\nimport warnings\n\nwarnings.warn("mind the tail")\n```\n')
    (outcome,) = pages.run([page], project)
    assert outcome.failure is not None
    assert (outcome.failure.cell, outcome.failure.line) == (1, line_of(page, "import warnings"))
    assert "mind the tail" in outcome.failure.message


def test_a_cell_that_shows_nothing_but_none_fails_the_page(project):
    page = write_page(project, "\n```{code-cell} python\na = [1]\na.append(2), a.append(3)\n```\n")
    (outcome,) = pages.run([page], project)
    assert outcome.failure is not None
    assert (outcome.failure.cell, outcome.failure.line) == (1, line_of(page, "a.append"))
    page = write_page(project, "\n```{code-cell} python\na = [1]\na.append(2), a.append(3);\n```\n")
    (outcome,) = pages.run([page], project)
    assert outcome.failure is None


def test_a_page_runs_again_when_what_it_imports_or_opens_has_changed_and_only_then(project, tmp_path, monkeypatch):
    data, package = tmp_path / "data", project / "course_pkg"
    data.mkdir()
    monkeypatch.setenv("COURSE_DATA", str(data))
    files = {
        package / "late.py": "x = 1\n",
        package / "_hidden.py": "from course_pkg.late import x\n",
        package / "other.py": "",
        project / "book" / "decisions" / "stored.json": "1",
        data / "used.csv": "1\n",
        data / "unused.csv": "1\n",
    }
    for path, text in files.items():
        path.write_text(text)
    body = """
    ```{code-cell} python
    import os

    def later():
        from course_pkg import _hidden
        return _hidden.x
    ```

    ```{code-cell} python
    later(), open("stored.json").read(), open(os.environ["COURSE_DATA"] + "/used.csv").read();
    ```
    """
    page, alone = write_page(project, body), write_page(project, "\n```{code-cell} python\n1 + 1\n```\n", "book/decisions/alone.md")

    def ran_again():
        return {outcome.page.path for outcome in pages.run([page, alone], project) if not outcome.cached}

    assert ran_again() == {page, alone}
    assert ran_again() == set()
    (package / "new.py").write_text("")
    for path in files:
        path.write_text(path.read_text() + "\n")
        assert ran_again() == (set() if path.name in {"other.py", "unused.csv"} else {page}), path
    (package / "other.py").unlink()
    assert ran_again() == set()


def test_every_page_runs_again_after_a_change_of_the_pins_or_of_the_choice_of_data(project, tmp_path):
    before = pages.cache_key(project, {})
    assert pages.cache_key(project, {}) == before
    data = tmp_path / "data"
    data.mkdir()
    (data / "schools.csv").write_text("y\n28\n")
    there = pages.cache_key(project, {"COURSE_DATA": str(data)})
    (project / "constraints.txt").write_text("numpy==2\n")
    assert len({before, there, pages.cache_key(project, {})}) == 3


def test_a_page_without_the_header_is_plain_text(project):
    write_page(project, "")
    (project / "book" / "plain.md").write_text("# Words only\n")
    (project / "book" / "_build").mkdir()
    write_page(project, "", "book/_build/copy.md")
    assert [path.name for path in pages.find_pages(project)] == ["page.md"]


def test_each_cell_is_a_test_and_those_after_a_failure_are_skipped(pytester, monkeypatch):
    (pytester.path / "book").mkdir()
    (pytester.path / "conftest.py").write_text('pytest_plugins = ["tests.notebooks.cells"]\n')
    page = write_page(
        pytester.path,
        """
        ```{code-cell} python
        x = 1
        ```

        ```{code-cell} python
        assert x == 2, "x is one"
        ```

        ```{code-cell} python
        x = 3
        ```
        """,
        "book/page.md",
    )
    monkeypatch.syspath_prepend(str(pages.ROOT))
    result = pytester.runpytest_inprocess("-v", "book")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    line = line_of(page, "assert x")
    result.stdout.fnmatch_lines([f"*book/page.md::cell2-line{line - 1} FAILED*", f"*book/page.md:{line}: cell 2:*x is one*"])


def test_what_was_compiled_is_kept_only_if_all_went_well(tmp_path):
    with pages.compiled_functions(tmp_path) as folder:
        (folder / "whole").write_bytes(b"123")
    with pytest.raises(RuntimeError), pages.compiled_functions(tmp_path) as folder:
        assert (folder / "whole").read_bytes() == b"123"
        (folder / "half").write_bytes(b"1")
        raise RuntimeError
    assert [path.name for path in (tmp_path / ".cache" / "compiled").iterdir()] == ["whole"]
    assert not list((tmp_path / ".cache" / "compiling").iterdir())
