"""Dials: a chart, a slider and a sentence that move together, on a page that is read without a kernel and without the network.

The author gives one Python function, ``at``: what is known at a setting of the slider, by name. It is computed here at every
stop, with whatever Python has (SciPy, JAX, an optimiser), and the page looks it up; what has a closed form may be given as a
formula besides, which then must agree with the function. The chart is drawn from the names, by the small vocabulary below
(`panel`, and in it `line`, `area`, `bars`, `dots`, `rule`, `level`, `words`) or in Altair. The cell shows a still picture, and
carries the dial for the book along; ``book/_ext/dial.py`` makes the page of it.
"""

import json
import math
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

import numpy as np

from course_pkg import plots
from course_pkg._extras import needs

# Altair's schemas ask for a grammar of web addresses, if it is installed, which takes three quarters of Altair's own start
_grammar = sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
alt = needs("altair", "book")
if _grammar is None:
    del sys.modules["rfc3987_syntax"]
vlc = needs("vl_convert", "book")

MIME = "application/vnd.course.dial+json"
WIDTH = 560  # pixels of the drawing itself, on a desk; a phone's is narrower
ROW = 18  # pixels from one row of words to the next
INK = plots.BLACK
GRID = "#E3E7EB"
COLOURS = {name: getattr(plots, name.upper()) for name in ("blue", "orange", "green", "purple", "red", "sky", "yellow")}
COLOURS |= {"ink": INK, "grid": GRID}
HEAVY = 100_000  # characters of a specification
TAKEN = (  # names that mean something in Vega's expressions, or to Vega itself
    "stop said datum event item group parent this null true false in if new var void typeof delete NaN E PI LN2 LN10 LOG2E LOG10E SQRT2"
    " width height padding autosize background cursor childWidth childHeight"
)
CONFIG = {
    "aria": False,  # the page's alt text and sentence speak; a hundred marks would speak over them
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "text": {"fontSize": 13},
    "axis": {f"{part}Color": INK for part in ("label", "title", "domain", "tick")}
    | {"grid": False, "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal", "tickCount": 5, "labelFlush": False},
    "axisY": {"minExtent": 40, "gridColor": GRID},
    "concat": {"spacing": 12},
}


# --- the chart ---------------------------------------------------------------------------------------------------------------


class Axes(NamedTuple):
    """What the layers of a panel share."""

    x: Any  # alt.X of the field "x"
    y: Any  # alt.Y of the field "y"
    middle: float | None  # of the x axis; none where it is a list of names
    floor: float | int  # where bars stand: 0, or the low end of a logarithmic axis


Layer = Callable[[Axes], Any]  # a layer is drawn when its panel's axes are known


def deep(colour: str) -> str:
    """The colour with three parts of ink in ten, for words: the palette's own are too light to be read (as ``dial.css`` has it)."""
    mixed = [0.7 * int(colour[i : i + 2], 16) + 0.3 * int(INK[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part):02X}" for part in mixed)


def said(template: str) -> str:
    """A Vega expression for text with numbers in it, such as ``said("day {best:.0f}")``; Python writes it, at each stop."""
    if set(template) & set("'\"\\"):
        raise ValueError(f"template has a straight quote or a backslash, which would end it: write ’ or “, got {template!r}")
    return f"said['{template}']"


def _points(**fields: str) -> Any:
    """A chart of a row for each entry of some arrays (or one row, for numbers), which become its fields."""
    arrays = {field: f"isArray({name}) ? {name} : [{name}]" for field, name in fields.items() if "datum." not in name}
    chart = alt.Chart(alt.Data(values=[{}])).transform_calculate(**arrays).transform_flatten(list(arrays))
    rest = {field: expression for field, expression in fields.items() if field not in arrays}
    return chart.transform_calculate(**rest) if rest else chart


def _stroke(colour: str, width: float, dash: bool) -> dict[str, Any]:
    return {"color": colour, "strokeWidth": width, "strokeDash": [5, 3] if dash else [1, 0]}


def line(x: str, y: str, colour: str = INK, *, dash: bool = False, width: float | int = 2.2) -> Layer:
    """A curve through the arrays named ``x`` and ``y``, in their order; ``y`` may be an expression of ``datum.x``."""
    return lambda axes: _points(x=x, y=y).mark_line(clip=True, order=False, **_stroke(colour, width, dash)).encode(axes.x, axes.y)


def area(x: str, y: str, colour: str = plots.SKY, *, low: str = "", high: str = "", floor: str = "", opacity: float | int = 0.4) -> Layer:
    """The area under a curve, from ``low`` to ``high`` (``high="best"``), and down to the curve ``floor``, or to 0."""
    part = _points(x=x, y=y, floor=floor) if floor else _points(x=x, y=y)
    if low or high:  # what lies beyond is folded onto the edge, so that the edge need not be a point of the curve
        part = part.transform_calculate(x=f"clamp(datum.x, {low or -1e300}, {high or 1e300})")
    below = {"y2": "floor:Q"} if floor else {}
    draw = part.mark_area(clip=True, color=colour, opacity=opacity)
    return lambda axes: draw.encode(axes.x, axes.y.copy().stack(None), **below)


def bars(x: str, y: str, colour: str = plots.BLUE, *, width: float | int = 0.8) -> Layer:
    """A bar from 0 to each ``y``, as wide as ``width`` says in the units of the axis, or in shares of a name's place."""

    def draw(axes: Axes) -> Any:
        chart = _points(x=x, y=y).transform_calculate(floor=str(axes.floor))
        if axes.middle is None:
            return chart.mark_bar(clip=True, color=colour, width=alt.RelativeBandSize(band=width)).encode(axes.x, axes.y, y2="floor:Q")
        chart = chart.transform_calculate(right=f"datum.x + {width / 2}", x=f"datum.x - {width / 2}")
        return chart.mark_rect(clip=True, color=colour).encode(axes.x, axes.y, x2="right:Q", y2="floor:Q")

    return draw


def dots(x: str, y: str, colour: str = plots.RED, *, size: float | int = 90, opacity: float | int = 1) -> Layer:
    """A dot, or many."""
    style = {"color": colour, "filled": True, "size": size, "opacity": opacity}
    return lambda axes: _points(x=x, y=y).mark_point(clip=True, **style).encode(axes.x, axes.y)


def rule(x: str, colour: str = plots.RED, text: str = "", *, row: int = 0, dash: bool = False) -> Layer:
    """An upright line at the number ``x``, with words such as ``"day {best:.0f}"`` at its top, on the side with more room.

    Words of different lines stand in rows of their own, and a line begins at its row, so that it does not cross those above.
    """

    def draw(axes: Axes) -> Any:
        upright = _points(x=x).mark_rule(**_stroke(colour, 2.5, dash)).encode(axes.x, y=alt.value(ROW * row), y2=alt.value("height"))
        if not text:
            return upright
        left = f"{x} > {axes.middle}"
        place = {"align": alt.expr(f"{left} ? 'right' : 'left'"), "dx": alt.expr(f"{left} ? -6 : 6"), "baseline": "top"}
        name = _points(x=x).mark_text(color=deep(colour), text=alt.expr(said(text)), **place)
        return alt.layer(upright, name.encode(axes.x, y=alt.value(ROW * row + 2)))

    return draw


def level(y: str, colour: str = INK, text: str = "", *, dash: bool = True) -> Layer:
    """A line across at the number ``y``, with words above its right end."""

    def draw(axes: Axes) -> Any:
        across = _points(y=y).mark_rule(**_stroke(colour, 1.5, dash)).encode(axes.y)
        if not text:
            return across
        name = _points(y=y).mark_text(color=deep(colour), text=alt.expr(said(text)), align="right", baseline="bottom", dy=-2)
        return alt.layer(across, name.encode(axes.y, x=alt.value("width")))

    return draw


def words(x: str, y: str, text: str, colour: str = INK, *, align: str = "left") -> Layer:
    """Words such as ``"{share:.0%} refused"`` beside a point; numbers for ``x`` and ``y`` do, too."""
    dx = {"left": 6, "right": -6, "center": 0}[align]
    mark = {"align": align, "dx": dx, "color": deep(colour), "text": alt.expr(said(text)), "baseline": "bottom"}
    return lambda axes: _points(x=x, y=y).mark_text(**mark).encode(axes.x, axes.y)


def _axis(channel: Any, field: str, spec: Sequence[Any]) -> Any:
    title, *domain = spec
    if isinstance(domain[0], (list, tuple)):
        return channel(f"{field}:N", title=title, scale=alt.Scale(domain=list(domain[0])), axis=alt.Axis(labelAngle=0))
    low, high, kind = [*domain, "linear"][:3]
    tens = [10.0**k for k in range(-12, 13) if low <= 10.0**k <= high] if kind == "log" else []
    axis = alt.Axis(values=tens) if len(tens) > 1 else alt.Undefined
    return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=[low, high], type=kind, nice=False, zero=False), axis=axis)


def _middle(spec: Sequence[Any]) -> float | None:
    if isinstance(spec[1], (list, tuple)):
        return None
    return (spec[1] * spec[2]) ** 0.5 if "log" in spec[3:] else (spec[1] + spec[2]) / 2


def panel(*layers: Layer, x: Sequence[Any], y: Sequence[Any], height: int = 150) -> Any:
    """One drawing: layers over one another on axes that stay as they are while the dial turns.

    Args:
        layers: from `line`, `area` and so on; the later ones lie on top. A function from `Axes` to an Altair chart is one, too.
        x: title, low and high; with ``"log"`` as a fourth, a logarithmic axis. Or title and a list of names.
        y: the same.
        height: of the drawing, in pixels.
    """
    axes = Axes(_axis(alt.X, "x", x), _axis(alt.Y, "y", y), _middle(x), y[1] if "log" in y[3:] else 0)
    return alt.layer(*(layer(axes) for layer in layers)).properties(width=WIDTH, height=height)


# --- the dial ----------------------------------------------------------------------------------------------------------------


class Dial(NamedTuple):
    """A dial as a cell shows it: a still picture, and with it what the book's page needs to move."""

    settings: tuple[Any, ...]  # where the slider stops
    start: int  # the stop that the still picture shows
    known: tuple[dict[str, Any], ...]  # at each stop, by name: a number, a text, or a list of them
    turn: tuple[Any, ...]  # text, and in between the setting's name and how it is written at each stop
    sentence: tuple[Any, ...]  # the same, of the sentence
    vega: dict[str, Any]  # the chart, compiled
    still: str  # SVG

    def read(self, setting: Any) -> dict[str, Any]:
        """Everything by name at a setting, from what the page ships: Vega looks up and evaluates it here, without a browser.

        Raises:
            ValueError: if the slider does not stop there.
        """
        stop = _stop(self.settings, setting)
        known = self.known[stop]
        text = " + '\\n' + ".join(f"(isArray({name}) ? join({name}, '\\t') : '' + {name})" for name in known)
        marks = [{"type": "text", "encode": {"update": {"text": {"signal": text}}}}]
        signals = [{**s, "value": stop} if s["name"] == "stop" else s for s in self.vega["signals"]]
        scene = vlc.vega_to_scenegraph({"signals": signals, "marks": marks})["scenegraph"]
        found = scene["items"][0]["items"][0]["items"][0]["text"].split("\n")
        return {name: _like(value, text) for (name, value), text in zip(known.items(), found, strict=True)}

    def page(self) -> dict[str, Any]:
        """What the book's page is made of (``book/_ext/dial.py``), with Python's own numbers at three stops for the tests."""
        spec = json.dumps(self.vega, ensure_ascii=False)
        for name, colour in COLOURS.items():  # variables, which follow the book's light
            spec = spec.replace(colour, f"var(--dial-{name})").replace(deep(colour), f"var(--dial-{name}-deep)")
        last, stops = len(self.settings) - 1, _three(self.start, len(self.settings))
        numbers = [name for name, value in self.known[0].items() if isinstance(value, (int, float))]
        return {
            "turn": self.turn,
            "sentence": self.sentence,
            "start": self.start,
            "last": last,
            "height": int(re.search(r'height="(\d+)', self.still)[1]),  # type: ignore[index]
            "expected": {"stops": stops, "numbers": {name: [self.known[stop][name] for stop in stops] for name in numbers}},
            "spec": json.loads(spec),
        }

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        now = lambda parts: "".join(part if isinstance(part, str) else part[1][self.start] for part in parts)
        return {
            "text/plain": f"{now(self.turn)}\n{now(self.sentence)}",
            "image/png": b64encode(vlc.svg_to_png(self.still, scale=2)).decode(),
            "image/svg+xml": self.still,
            MIME: self.page(),
        }


def dial(
    at: Callable[[Any], Mapping[str, Any]],
    settings: Iterable[Any],
    turn: str,
    say: str,
    *panels: Any,
    start: Any = None,
    formulas: Mapping[str, str] | None = None,
) -> Dial:
    """A slider that moves panels and a sentence.

    Args:
        at: a function of the setting; what is known there, by name: numbers, texts, and lists or arrays of them for curves.
            Names stand in the sentence and in the panels. What is the same at every stop is shipped once.
        settings: where the slider stops, in order.
        turn: how a setting is written, with the slider in its place: ``"A day too late costs {c:g} times a day too early"``.
            The name in it, here ``c``, is the setting's.
        say: the sentence, with places such as ``{best:.0f}``.
        panels: from `panel`, top to bottom; or one Altair chart whose expressions use the names.
        start: the setting at which the dial stands first, and the still picture always; the first unless given.
        formulas: Vega expressions for some of the numbers, in place of a table; they may use the setting and other names.

    Raises:
        ValueError: if a name is used that ``at`` does not give, a number is not finite, or a formula disagrees with ``at``.

    Example:
        A curve that SciPy computes, looked up, and a quantile in closed form, as a formula:

        >>> import numpy as np
        >>> from scipy.stats import expon
        >>> from course_pkg.plots import RED
        >>> days = np.linspace(0, 5, 51)
        >>> def at(c):
        ...     day = expon.ppf(1 / (1 + c))
        ...     return {"days": days, "lives": expon.sf(days) ** (1 / c), "day": day, "mean": expon.mean()}
        >>> survival = panel(line("days", "lives"), rule("day", RED, "day {day:.1f}"), x=("day", 0, 5), y=("share", 0, 1))
        >>> pump = dial(at, (1, 3, 9), "Late costs {c:g} times early", "Go on day {day:.1f}.", survival, formulas={"day": "log(1 + 1 / c)"})
        >>> round(pump.read(9)["day"], 4), pump.read(9)["mean"]
        (0.1054, 1.0)
    """
    name = _setting_of(turn)
    settings = tuple(getattr(setting, "item", lambda setting=setting: setting)() for setting in settings)
    if len(settings) < 2:
        raise ValueError(f"settings has {len(settings)} stops: a slider needs two or more")
    known = tuple(_known(name, setting, at(setting)) for setting in settings)
    formulas = dict(formulas or {})
    _refuse(known, formulas)
    first = 0 if start is None else _stop(settings, start)
    chart = (alt.vconcat(*panels) if len(panels) > 1 else panels[0]).to_dict()
    chart["params"] = [{"name": "stop", "value": first}, *_params(known, formulas), *_said(chart, known), *chart.get("params", [])]
    chart["config"] = CONFIG
    chart.pop("usermeta", None)
    vega = vlc.vegalite_to_vega(chart, vl_version=".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2]))
    vega.pop("$schema", None)
    if (size := len(json.dumps(vega))) > HEAVY:
        raise ValueError(f"the dial has {size:,} characters, and {HEAVY:,} are enough: give at fewer points, or settings fewer stops")
    made = Dial(settings, first, known, _parts(turn, known), _parts(say, known), vega, _drawn(vega))
    for stop in _three(first, len(settings)) if formulas else ():
        _agree(made.read(settings[stop]), known[stop], formulas, settings[stop])
    return made


def _three(start: int, stops: int) -> list[int]:
    """The stops at which a dial is compared with Python: the ends, and the start or the middle."""
    return sorted({0, start if 0 < start < stops - 1 else stops // 2, stops - 1})


def _setting_of(turn: str) -> str:
    places = [name for _, name, _, _ in Formatter().parse(turn) if name is not None]
    if len(places) != 1 or not places[0].isidentifier() or turn.startswith("{"):
        raise ValueError(f"turn must be words and then one place, such as 'A day too late costs {{c:g}}': got {turn!r}")
    return places[0]


def _stop(settings: tuple[Any, ...], setting: Any) -> int:
    number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
    same = lambda stop: stop == setting or (number(stop) and number(setting) and math.isclose(stop, setting))
    found = [place for place, stop in enumerate(settings) if same(stop)]
    if not found:
        raise ValueError(f"setting {setting!r} is none of the slider's stops: choose from {list(settings)}")
    return found[0]


def _known(name: str, setting: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What ``at`` gave as plain numbers, texts and lists, with the setting itself."""
    known = {}
    for key, value in {name: setting, **given}.items():
        array = np.asarray(value)
        if array.ndim > 1:
            raise ValueError(f"{key} has shape {array.shape} at {name} = {setting!r}: give each of its rows a name of its own")
        if array.dtype.kind not in "biufU":
            raise ValueError(f"{key} is {value!r} at {name} = {setting!r}: give a number, a text, or a list of them")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"{key} is not finite at {name} = {setting!r}: leave out or clip what cannot be drawn")
        known[key] = (array + 0 if array.dtype.kind == "b" else array).tolist()
    return known


def _refuse(known: tuple[dict[str, Any], ...], formulas: Mapping[str, str]) -> None:
    """Raise for what would fail later, and say less."""
    names = set(known[0])
    for other in known[1:]:
        if set(other) != names:
            raise ValueError(f"at gives {sorted(names ^ set(other))} at some settings only: give the same names at each")
    if wrong := [name for name in names if name in TAKEN.split() or not name.isidentifier() or name.endswith("_at")]:
        raise ValueError(f"at gives {wrong}, which mean something else in an expression: choose other names")
    if missing := set(formulas) - names:
        raise ValueError(f"formulas has {sorted(missing)}, which at does not give: let it compute them, for the check")


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_rounded(entry, 6) for entry in value]  # a thousandth of a pixel
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _params(known: tuple[dict[str, Any], ...], formulas: Mapping[str, str]) -> list[dict[str, Any]]:
    """The names as Vega's parameters: each a constant, or an entry of a table at the slider's stop; then the formulas."""
    params: list[dict[str, Any]] = []
    for name in [name for name in known[0] if name not in formulas]:
        table = [_rounded(row[name], 9) for row in known]
        if all(entry == table[0] for entry in table):
            params.append({"name": name, "value": table[0]})
        else:
            params += [{"name": f"{name}_at", "value": table}, {"name": name, "expr": f"{name}_at[stop]"}]
    return params + [{"name": name, "expr": expression} for name, expression in formulas.items()]


def _written(template: str, row: Mapping[str, Any]) -> str:
    """A template with its numbers, whose minus is a minus."""
    pieces = []
    for text, name, spec, _ in Formatter().parse(template):
        pieces.append(text)
        if name is None:
            continue
        if name not in row:
            raise ValueError(f"{template!r} names {name!r}, which at does not give: it gives {sorted(row)}")
        try:
            pieces.append(format(row[name], spec or "").replace("-", "−"))
        except (TypeError, ValueError) as wrong:
            raise ValueError(f"{template!r} cannot write {name}, which is {row[name]!r}: {wrong}") from None
    return "".join(pieces)


def _said(chart: Any, known: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The texts of the chart at each stop."""
    templates = dict.fromkeys(re.findall(r"said\['([^']*)'\]", json.dumps(chart, ensure_ascii=False)))
    tables = {template: [_written(template, row) for row in known] for template in templates}
    entries = ", ".join(f"'{template}': said_at['{template}'][stop]" for template in templates)
    return [{"name": "said_at", "value": tables}, {"name": "said", "expr": f"{{{entries}}}"}] if tables else []


def _parts(template: str, known: tuple[dict[str, Any], ...]) -> tuple[Any, ...]:
    parts: list[Any] = []
    for text, name, spec, _ in Formatter().parse(template):
        parts.append(text)
        if name is not None:
            parts.append((name, [_written(f"{{{name}:{spec}}}", row) for row in known]))
    return tuple(part for part in parts if part)


def _drawn(vega: Any) -> str:
    """The picture at the start; a name that is not known is found out here."""
    try:
        return vlc.vega_to_svg({**vega, "background": "white"})
    except ValueError as error:
        if unknown := re.search(r'Unrecognized signal name: "(\w+)"', str(error)):
            raise ValueError(f"an expression names {unknown[1]!r}, which at does not give") from None
        raise


def _like(value: Any, text: str) -> Any:
    """A text that Vega wrote, as what it was."""
    if isinstance(value, list):
        return [_like(entry, piece) for entry, piece in zip(value, text.split("\t"), strict=True)]
    return text if isinstance(value, str) else float(text)


def _agree(found: Mapping[str, Any], known: Mapping[str, Any], formulas: Mapping[str, str], setting: Any) -> None:
    for name, formula in formulas.items():
        if not np.allclose(found[name], known[name], rtol=1e-4, atol=1e-9):
            raise ValueError(f"{name} is {known[name]} at {setting!r}, and its formula {formula!r} gives {found[name]}")
