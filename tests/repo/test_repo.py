"""The project's own promises: one environment however it is made, commands that exist, nothing that belongs to one machine."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
NAME = PROJECT["name"]


def tracked():
    """Files under version control, or about to be; every text file but built ones where this is not a clone."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        built = {".venv", ".cache", "_build", "__pycache__", ".git"}
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not built & set(path.relative_to(ROOT).parts)]
    return sorted(ROOT / name for name in names if (ROOT / name).is_file())


def text_of(path):
    try:
        return path.read_text("utf8")
    except UnicodeDecodeError:
        return ""


def declared():
    """What pyproject.toml asks for: name -> requirement; the peers of `make bench` are no part of the environment."""
    extras = [lines for extra, lines in PROJECT["optional-dependencies"].items() if extra != "bench"]
    lines = PROJECT["dependencies"] + [line for extra in extras for line in extra]
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r for r in requirements if r.name != NAME}


def pinned():
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def needed():
    """Names of all that the declared requirements bring along, on this machine."""
    waiting, seen = [(r, extra) for r in declared().values() for extra in ("", *r.extras)], set()
    while waiting:
        requirement, extra = waiting.pop()
        key = (canonicalize_name(requirement.name), extra)
        if key in seen:
            continue
        seen.add(key)
        for line in distribution(requirement.name).requires or []:
            brought = Requirement(line)
            if brought.marker is None or brought.marker.evaluate({"extra": extra}):
                waiting += [(brought, e) for e in ("", *brought.extras)]
    return {name for name, _ in seen}


# --- one environment ---------------------------------------------------------------------------------------------


def test_the_conda_environment_is_the_same_as_the_pip_one():
    content = yaml.safe_load((ROOT / "environment.yml").read_text("utf8"))
    conda = [line for line in content["dependencies"] if isinstance(line, str)]
    (pip,) = [line["pip"] for line in content["dependencies"] if isinstance(line, dict)]
    listed = {canonicalize_name(r.name): r.specifier for r in map(Requirement, [*conda, *(p for p in pip if p[0] != "-")])}
    assert str(listed.pop("python")) == PROJECT["requires-python"]
    listed.pop("pip")
    assert listed == {name: r.specifier for name, r in declared().items()}


def test_pip_takes_its_part_of_the_conda_environment(tmp_path):
    """As conda does: the lines as a file of requirements, from the project's folder; nothing is fetched, since all is there."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text("utf8"))
    (lines,) = [line["pip"] for line in content["dependencies"] if isinstance(line, dict)]
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("\n".join(lines))
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-build-isolation", "--requirement", requirements]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Would install {NAME}" in done.stdout


@pytest.mark.parametrize("name", declared())
def test_what_is_installed_satisfies_the_declared_range(name):
    assert declared()[name].specifier.contains(version(name)), f"{name} {version(name)}: run `make env`"


def test_every_package_that_is_needed_is_pinned_to_what_is_installed():
    pins = {canonicalize_name(name): pin for name, pin in pinned().items()}
    unpinned = sorted(needed() - set(pins))
    assert not unpinned, f"add to constraints.txt: {[f'{name}=={version(name)}' for name in unpinned]}"
    different = {}
    for name, pin in pins.items():
        try:
            if version(name) != pin:
                different[name] = (pin, version(name))
        except PackageNotFoundError:
            continue  # another platform's or Python's
    assert not different, "installed and pinned differ: run `make env`"


def test_pins_are_names_and_versions_only():
    for line in (ROOT / "constraints.txt").read_text("utf8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.!+]+", line), line


def test_every_way_asks_for_the_same_python():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert (ROOT / ".python-version").read_text().strip() == oldest
    assert sys.version_info[:2] >= tuple(map(int, oldest.split(".")))


def test_one_version_everywhere():
    import course_pkg

    assert version(NAME) == PROJECT["version"], "run `make env`"
    assert getattr(course_pkg, "__version__", PROJECT["version"]) == PROJECT["version"]
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf8"), re.MULTILINE)
    assert newest is not None, "CHANGELOG.md needs a heading `## x.y.z`"
    assert newest[1] == PROJECT["version"]


# --- nothing that belongs to one machine -------------------------------------------------------------------------

# Written in pieces, so that this file does not name them.
REGISTRY = re.compile(
    r"py" r"pi\.(org|python)|python" r"hosted\.|ana" r"conda\.(org|com)|registry\.(npm|yarn)|npm" r"js\.(org|com)"
    r"|pypi" r"-mirror|(extra-)?index" r"-url|find" r"-links|file:" r"//",
    re.IGNORECASE,
)  # fmt: skip
ABSOLUTE = re.compile(r"(?<![\w.}/:-])/(home|Users|root|work|workspaces?|builds|private)/[\w.-]+|[A-Z]:\\Users\\")


@pytest.mark.parametrize(
    ("pattern", "bad", "good"),
    [
        (REGISTRY, "https://py" + "pi.org/simple", "install it with pip"),
        (REGISTRY, "pip install --index" + "-url x", "the index of the book"),
        (ABSOLUTE, "open('/ho" + "me/ada/data.csv')", "see https://example.org/home/ada"),
        (ABSOLUTE, "cd /wo" + "rk/course", "net/work/hours"),
    ],
)
def test_the_patterns_below_find_what_they_should(pattern, bad, good):
    assert pattern.search(bad)
    assert not pattern.search(good)


@pytest.mark.parametrize("pattern", [REGISTRY, ABSOLUTE], ids=["registry host", "path of one machine"])
def test_no_file_names_a(pattern):
    found = []
    for path in tracked():
        for number, line in enumerate(text_of(path).splitlines(), start=1):
            if match := pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert not found, "\n".join(found)


def test_nothing_large_is_tracked():
    large = [f"{path.relative_to(ROOT)}: {path.stat().st_size:,}" for path in tracked() if path.stat().st_size > 1_500_000]
    assert not large, "\n".join(large)


# --- commands ----------------------------------------------------------------------------------------------------


def targets():
    return set(re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text("utf8"), re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "book/intro.md", "book/teaching.md", "book/teaching/hub.md"])
def test_every_command_that_a_document_names_exists(document):
    text = (ROOT / document).read_text("utf8")
    named = set(re.findall(r"(?:`|^\s*(?:\$ )?)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= targets(), named - targets()
    scripts = set(re.findall(r"\b(?:tools|tests)/[\w/]+\.(?:py|sh)\b", text))
    assert not [name for name in scripts if not (ROOT / name).exists()]


def test_the_readme_names_the_two_commands():
    text = (ROOT / "README.md").read_text("utf8")
    assert "make book" in text
    assert "make test" in text


def test_no_test_lies_where_make_test_does_not_look():
    both = subprocess.run(["bash", "-c", "ls -d tests/test_*.py tests/[a-z]*/"], cwd=ROOT, capture_output=True, text=True, check=True)
    looked = [ROOT / line for line in both.stdout.split()]
    tests = [path for path in tracked() if path.suffix == ".py" and ROOT / "tests" in path.parents]
    assert not [path for path in tests if not any(path == place or place in path.parents for place in looked)]


@pytest.mark.parametrize("script", ["tools/setup_env.sh", "tools/test.sh", ".ci/run", "postBuild"])
def test_scripts_can_be_run(script):
    assert os.access(ROOT / script, os.X_OK), f"chmod +x {script}"
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def test_the_environment_is_in_step_with_the_pins():
    if not (ROOT / ".venv").exists():
        pytest.skip("these tests run in an environment that `make env` did not make")
    done = subprocess.run(["tools/setup_env.sh", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
