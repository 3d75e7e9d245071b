"""Dials: what a page looks up and evaluates is what Python computed, and what cannot be right is refused."""

import importlib.util
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import numpy as np
import pytest
from scipy.stats import gamma

from course_pkg.plots import BLUE, GREEN, PURPLE, RED
from course_pkg.plots.dial import COLOURS, INK, MIME, area, bars, deep, dial, dots, level, line, panel, rule, said, words

EXT = Path(__file__).parents[1] / "book" / "_ext"
DAYS = np.linspace(0, 20, 11)
TILTS = (0.1, 0.25, 0.5, 0.9)


def at(u):
    best = gamma.ppf(u, 3)
    return {"days": DAYS, "density": gamma.pdf(DAYS, 3), "risk": abs(DAYS - best), "best": best, "deed": "go" if u > 0.5 else "wait"}


def plain(*layers, **options):
    return panel(line("days", "density"), *layers, **{"x": ("day", 0, 20), "y": ("density", 0, 0.3), **options})


def made(say="Day {best:.1f}: {deed}.", panels=(), at=at, **options):
    return dial(at, TILTS, "Tilt {u:.2f}, say", say, *(panels or [plain()]), **options)


@pytest.mark.parametrize("tilt", TILTS)
def test_what_is_read_at_a_stop_is_what_the_function_gives_there(tilt):
    found, known = made().read(tilt), {"u": tilt, **at(tilt)}
    assert list(found) == list(known)
    assert found.pop("deed") == known.pop("deed")
    for name, value in known.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-12)


def test_a_formula_is_evaluated_in_place_of_its_table_and_must_agree():
    at = lambda c: {"best": np.log1p(1 / c), "twice": 2 * np.log1p(1 / c)}
    chart = panel(dots("best", "c"), x=("day", 0, 2), y=("cost", 0, 9))
    good = dial(at, range(1, 10), "Cost {c:d}", "{best:.2f}", chart, formulas={"best": "log(1 + 1 / c)", "twice": "2 * best"})
    assert good.read(7)["twice"] == pytest.approx(2 * np.log(8 / 7), rel=1e-12)
    assert "best_at" not in json.dumps(good.page())
    with pytest.raises(ValueError, match=r"best is .* at 1, and its formula 'log\(2 \+ 1 / c\)' gives"):
        dial(at, range(1, 10), "Cost {c:d}", "{best:.2f}", chart, formulas={"best": "log(2 + 1 / c)"})


def test_the_sentence_is_python_s_at_each_stop():
    assert made().turn == ("Tilt ", ("u", ["0.10", "0.25", "0.50", "0.90"]), ", say")
    sentence = made(say="{best:.0f}{deed}", at=lambda u: {"best": -2.5 if u < 0.5 else 2.5, "deed": "!"}, panels=[bare()]).sentence
    assert sentence == (("best", ["−2", "−2", "2", "2"]), ("deed", ["!", "!", "!", "!"]))


def bare():
    return panel(level("0.1"), x=("day", 0, 20), y=("density", 0, 0.3))


def test_words_in_the_drawing_are_python_s_too():
    """Vega rounds 2.5 up and Python to even: what stands in the drawing must be what the sentence says."""
    chart = plain(rule("best", RED, "day {best:.0f} ({deed})"), words("5", "0.1", "u = {u:.2f}"))
    shown = made(panels=[chart], at=lambda u: {**at(u), "best": 2.5})
    assert "day 2 (wait)" in shown.still
    assert "u = 0.10" in shown.still


def test_every_layer_draws_and_panels_stand_above_one_another():
    deeds = panel(bars("names", "cost", GREEN), x=("deed", ["go", "wait"]), y=("cost", 1, 100, "log"), height=60)
    shaded = [area("days", "density"), area("days", "density", RED, high="best")]
    marked = [
        dots("best", "0.1"),
        rule("best", BLUE, "here", row=1, dash=True),
        level("0.2", GREEN, "{deed}!"),
        words("best", "0.2", "{deed}", align="right"),
    ]
    first = plain(*shaded, line("days", "0.1 * exp(-datum.x)", dash=True), *marked)
    both = made(panels=[first, deeds], at=lambda u: {**at(u), "names": ["go", "wait"], "cost": [10 * u, 5]})
    kinds = re.findall(r'class="mark-(\w+) role-mark', both.still)
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"line": 2, "area": 2, "symbol": 1, "rule": 2, "text": 3, "rect": 1}
    assert both.page()["height"] > 250


def corners(shown, kind):
    """The corners of each mark of a kind in the picture, shape (corners, 2), in pixels."""
    root = ElementTree.fromstring(shown.still)
    groups = [group for group in root.findall(".//{*}g") if group.get("class", "").startswith(f"mark-{kind} role-mark")]
    paths = [path.get("d") for group in groups for path in group.findall("{*}path")]
    return [np.array([piece.split(",") for piece in re.split("[MLZ]", path) if piece], float) for path in paths]


def test_the_shaded_part_ends_where_it_should_between_two_points_of_the_curve():
    (shaded,) = corners(made(panels=[plain(area("days", "density", high="best"))], start=0.9), "area")
    assert shaded[:, 0].max() == pytest.approx(560 * gamma.ppf(0.9, 3) / 20, abs=0.01)


def test_a_bar_is_as_wide_as_it_says_and_a_band_lies_between_two_curves():
    layers = bars("days", "density", width=1), area("days", "density", floor="half")
    shown = made(panels=[plain(*layers)], at=lambda u: {**at(u), "half": gamma.pdf(DAYS, 3) / 2})
    assert shown.still.count("h28v") == len(DAYS)
    (band,) = corners(shown, "area")
    at_two = band[np.isclose(band[:, 0], 56), 1]
    np.testing.assert_allclose(np.sort(150 - at_two), 500 * gamma.pdf(2, 3) * np.array([0.5, 1]), atol=0.01)


def test_a_chart_of_altair_s_own_serves():
    chart = alt.Chart(alt.Data(values=[{}])).mark_text(color=BLUE, text=alt.expr(said("{best:.1f}"))).properties(width=300, height=50)
    free = made(panels=[chart])
    assert f"{gamma.ppf(0.1, 3):.1f}" in free.still
    assert "var(--dial-blue)" in json.dumps(free.page()["spec"])


def test_a_notebook_gets_pictures_and_the_book_what_moves():
    shown = made()._repr_mimebundle_()
    assert set(shown) == {"text/plain", "image/png", "image/svg+xml", MIME}
    assert shown["text/plain"] == f"Tilt 0.10, say\nDay {gamma.ppf(0.1, 3):.1f}: wait."
    assert "var(" not in shown["image/svg+xml"]
    assert json.loads(json.dumps(shown[MIME], allow_nan=False))["expected"]["stops"] == [0, 2, 3]


def test_what_does_not_change_is_shipped_once():
    spec = json.dumps(made().page()["spec"])
    assert "risk_at" in spec
    assert "density_at" not in spec


REFUSED = {
    "a stop that is not there": (lambda: made().read(0.3), "setting 0.3 is none of the slider's stops"),
    "a start that is not there": (lambda: made(start=2), "setting 2 is none"),
    "one stop": (lambda: dial(at, [0.1], "Tilt {u}", "", plain()), "settings has 1 stops"),
    "no place for the setting": (lambda: dial(at, TILTS, "Tilt", "", plain()), "turn must be words and then one place"),
    "no words before it": (lambda: dial(at, TILTS, "{u} is the tilt", "", plain()), "turn must be words and then one place"),
    "a name that nobody gives": (lambda: made(say="Day {bset:.0f}"), "names 'bset', which at does not give"),
    "the same in the drawing's words": (lambda: made(panels=[plain(rule("best", RED, "{bset}"))]), "names 'bset'"),
    "the same in an expression": (lambda: made(panels=[plain(rule("bset"))]), "an expression names 'bset'"),
    "not finite": (lambda: made(at=lambda u: {**at(u), "best": np.nan}), "best is not finite at u = 0.1"),
    "not finite in a curve": (lambda: made(at=lambda u: {**at(u), "risk": 1 / DAYS[::-1]}), "risk is not finite"),
    "a table": (lambda: made(at=lambda u: {**at(u), "best": np.eye(2)}), r"best has shape \(2, 2\)"),
    "no number": (lambda: made(at=lambda u: {**at(u), "best": None}), "best is None"),
    "names that come and go": (lambda: made(at=lambda u: at(u) | ({"x": 1} if u > 0.5 else {})), r"at gives \['x'\] at some"),
    "a name that Vega has taken": (lambda: made(at=lambda u: {**at(u), "width": 1}), r"at gives \['width'\]"),
    "a formula without its function": (lambda: made(formulas={"mean": "3"}), r"formulas has \['mean'\]"),
    "a straight apostrophe": (lambda: said("the engineer's"), "straight quote"),
    "a format that does not fit": (lambda: made(say="{deed:.1f}"), "cannot write deed, which is 'wait'"),
    "a curve in the sentence": (lambda: made(say="{days:.1f}"), "cannot write days"),
    "too much": (lambda: made(at=lambda u: {**at(u), "risk": u * np.arange(9000)}), "characters, and 100,000 are enough"),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_right_is_refused_with_its_name(case):
    wrong, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        wrong()


# --- what the page adds ------------------------------------------------------------------------------------------------------


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return np.dot([0.2126, 0.7152, 0.0722], [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts])


@pytest.mark.parametrize("colour", [BLUE, GREEN, PURPLE, RED, INK])
def test_words_can_be_read_on_paper(colour):
    assert 1.05 / (luminance(deep(colour)) + 0.05) > 4.5


def test_the_style_has_the_palette_s_colours():
    style = (EXT / "dial_static" / "dial.css").read_text("utf8")
    light = style.split("}")[0]
    for name, colour in COLOURS.items():
        named = re.findall(rf"--dial-{name}(-deep)?: (?:color-mix\(in srgb, )?(#\w+)(?: 70%, var\(--dial-ink\))?", light)
        assert {hexed.upper() for _, hexed in named} == {colour.upper()}, name
        assert [deep for deep, _ in named] == ([""] if name in {"ink", "grid"} else ["", "-deep"])


def test_vega_is_bundled_with_what_evaluates_expressions():
    """Of a vl-convert with other versions inside, the bundler says so; then ``INTERPRETER`` wants a look."""
    spec = importlib.util.spec_from_file_location("dial_extension", EXT / "dial.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    assert extension.MIME == MIME
    bundle = extension.vl_convert.javascript_bundle(extension.PARTS)
    assert re.search(r"window\.dialVega=\{parse:[\w$]+,View:[\w$]+,expressionInterpreter:[\w$]+\}", bundle)
