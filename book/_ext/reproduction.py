"""What became of each result of the four documents: the words from appendix/reproduction.toml, the numbers from the stored runs.

A row's function here has the row's id and returns its figures by name; the texts call them as ``{saved:.2f}``. ``«page key»`` stands for a
number that a page hands to its own text. So no number of ours is typed, nor of theirs where the project keeps it.
"""

import functools
import json
import re
import statistics
import tomllib
from collections.abc import Iterable
from typing import Any, NamedTuple

import contents
from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx.util.docutils import SphinxDirective, SphinxRole

SOURCE = contents.BOOK / "appendix" / "reproduction.toml"
VERDICTS = {
    "reproduced": "the same finding under the same settings, as far as these are known",
    "with other settings": "the same finding under settings of our own, mostly because theirs are not stated",
    "not reproduced": "looked for, and not found",
    "not run": "left out, for the reason in the row",
    "cannot be": "what would be needed is not published",
}
GLUED = re.compile(r"«([\w/-]+) ([\w.-]+)»")
Figures = dict[str, float]


class Result(NamedTuple):
    """A row: a figure, a table or an algorithm of a document."""

    id: str  # names the function that computes its figures, where it has any
    document: str
    place: str
    shows: str
    theirs: str
    ours: str
    settings: str
    verdict: str
    pages: tuple[str, ...]
    errata: tuple[str, ...] = ()


@functools.cache
def results() -> tuple[Result, ...]:
    """All rows, with their figures in place."""
    found = []
    for row in tomllib.loads(SOURCE.read_text("utf8"))["result"]:
        figures = FIGURES[row["id"]]() if row["id"] in FIGURES else {}
        words = {key: filled(value, figures) if key in ("theirs", "ours") else value for key, value in row.items()}
        found.append(Result(**words | {key: tuple(row[key]) for key in ("pages", "errata") if key in row}))
    return tuple(found)


def filled(text: str, figures: Figures) -> str:
    """A text with its figures, and with minus signs that are such."""
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", text.format(**figures))


# --- figures ------------------------------------------------------------------------------------------------------------


@functools.cache
def stored(chapter: str, name: str) -> Any:
    return json.loads((contents.BOOK / chapter / "results" / f"{name}.json").read_text("utf8"))


def of(values: Iterable[float], name: str = "") -> Figures:
    """Least, median and largest of runs, their mean and spread, and how many there are."""
    runs = list(values)
    found = {"low": min(runs), "mid": statistics.median(runs), "high": max(runs), "n": len(runs), "mean": statistics.mean(runs)}
    return {f"{name}{key}": value for key, value in (found | {"sd": statistics.stdev(runs)} if len(runs) > 1 else found).items()}


def told(summary: dict[str, float], name: str) -> Figures:
    """A stored mean with its spread."""
    return {f"{name}{key}": value for key, value in summary.items()}


def schools() -> Figures:
    theirs, ours = stored("lcvi", "published")["eight_schools"], stored("lcvi", "eight_schools")
    return told(theirs["reduction_percent"] | {"n": theirs["n"]}, "their_") | told(ours["reduction_percent"], "our_")


def schools_posterior() -> Figures:
    theirs, ours = stored("lcvi", "published")["eight_schools"]["tau"], stored("lcvi", "eight_schools")
    found = {f"their_{way}": theirs[way]["mean"] for way in ("plain", "calibrated")}
    found["diverging"] = stored("lcvi", "published")["eight_schools"]["nuts_diverging_percent"]
    return found | {f"our_{way}": ours[f"{way}_q"]["tau"]["mean"] for way in ("plain", "calibrated")} | {"n": ours["seeds"]}


def schools_widths() -> Figures:
    ours = stored("lcvi", "eight_schools")
    widths = {f"{of}_{way}": ours[f"{way}_q"][of]["mean"] for of in ("mu_sd", "t_sd") for way in ("plain", "calibrated")}
    return widths | {"n": ours["seeds"]}


def saved_by_ascent(name: str, loss: str) -> list[float]:
    """Per cent of the hidden risk that coordinate ascent on the calibrated objective saves, start by start."""
    runs = stored("lcvi", "music_ascent")["runs"]
    pairs = zip(runs[name][loss]["test"], runs["plain"][loss]["test"], strict=True)
    return [100 * (1 - calibrated / plain) for calibrated, plain in pairs]


def saved_on_music(loss: str) -> Figures:
    published = stored("lcvi", "published")["music"]
    ours = stored("lcvi", "music")["reduction_percent"][loss][f"{loss}, test"]
    return (
        told(published["losses"][loss]["test_reduction_percent"] | {"n": published["n"]}, "their_")
        | told(ours, "our_")
        | of(saved_by_ascent(loss, loss), "ascent_")
    )


def calibrated_posterior() -> Figures:
    """The typical standard deviation of a column's factor, plain and calibrated for the squared loss."""
    scale = stored("lcvi", "published")["music"]["losses"]["squared"]["column_scale"]
    runs = stored("lcvi", "music")["runs"]
    ours = {name: [run["mean_scales"][1] for run in runs if run["name"] == name and "mean_scales" in run] for name in ("plain", "squared")}
    theirs = {f"their_{way}": 1000 * scale[way] for way in ("plain", "calibrated")}
    return theirs | {f"our_{name}": 1000 * statistics.mean(found) for name, found in ours.items()} | {"n": len(ours["squared"])}


def joint_and_em() -> Figures:
    curves = stored("lcvi", "published")["music"]["joint_against_em"]
    ours = stored("lcvi", "music")["reduction_percent"]
    found = {f"their_{name}_mean": curve[-1]["mean"] for name, curve in curves.items()}
    found |= {f"their_{name}_sd": curve[-1]["sd"] for name, curve in curves.items()}
    for short, name in (("joint", "squared, M = 1, joint"), ("em", "squared, M = 1, EM")):
        found |= told(ours[name]["squared, test"], f"our_{short}_")
    return found


def ten_times_faster() -> Figures:
    theirs, runs = stored("lcvi", "published")["music"]["seconds"], stored("lcvi", "music")["runs"]
    ours = {name: [run["seconds"] for run in runs if run["name"] == name] for name in ("plain", "squared")}
    times = [calibrated / plain for calibrated, plain in zip(ours["squared"], ours["plain"], strict=True)]
    return {"their_ratio": theirs["calibrated"]["mean"] / theirs["plain"]["mean"]} | of(times, "our_")


def quantiles() -> Figures:
    """The best M of the sweep, theirs and by coordinate ascent, and what it saves."""
    sweep = stored("lcvi", "published")["music"]["sweep"]
    found = {}
    for kind in ("lin", "exp"):
        best = max(sweep[kind], key=lambda row: row["test"]["mean"])
        found |= {f"{kind}_M": best["M"], f"{kind}_saved": best["test"]["mean"], f"{kind}_sd": best["test"]["sd"]}
    names = [name for name in stored("lcvi", "music_ascent")["runs"] if name.startswith("squared, M = ")]
    best = max(names, key=lambda name: statistics.mean(saved_by_ascent(name, "squared")))
    return found | {"our_M": float(best.rpartition(" ")[2])} | of(saved_by_ascent(best, "squared"), "our_")


def small_m() -> Figures:
    (theirs,) = (row["test"] for row in stored("lcvi", "published")["music"]["sweep"]["lin"] if row["M"] == 0.1)
    return told(theirs, "their_") | of(saved_by_ascent("squared, M = 0.1", "squared"), "our_")


def direct_utility() -> Figures:
    direct, ours = stored("lcvi", "published")["music"]["direct"], stored("lcvi", "music")["reduction_percent"]
    best = max((name for name in direct if name.startswith("linearized")), key=lambda name: direct[name]["test"]["mean"])
    found = told(direct["naive"]["test"], "their_direct_") | told(direct[best]["test"], "their_linear_")
    found |= told(ours["direct utility, inner integral done"]["direct, test"], "our_direct_")
    return found | told(ours["direct utility, linearised, M at 50 %"]["direct, test"], "our_linear_")


def direct_as_coded() -> Figures:
    theirs = stored("lcvi", "published")["music"]["direct"]["naive"]["test_risk"]
    return told(theirs, "their_") | of(stored("lcvi", "music_single_precision")["runs"]["as coded"]["direct risk"], "our_")


def amortised() -> Figures:
    table = stored("lcvi", "table_4_2")
    published, found = table["published"], {}
    for k, points in enumerate(published["points"], 3):
        rows = [row for row in table["rows"] if row["points"] == points]
        found |= {f"their_{way}_{k}": published[f"{way}_seconds"][k - 3] for way in ("solved", "network")}
        found |= {f"our_{way}_{k}": min(row[f"{way}_seconds"] for row in rows) for way in ("solved", "network")}
        found["n"] = len(rows)
    return found


def amortised_error() -> Figures:
    rows = stored("lcvi", "table_4_2")["rows"]
    shares = [row["network_excess"] / row["solved_excess"] for row in rows]
    return {"low": 100 * min(shares), "high": 100 * max(shares), "n": len(rows)}


def knee() -> Figures:
    """The share of standard normal draws beyond the breakpoint -0.9/e at a skew of 0.2, from z exp(z) = -0.9/e by halving."""
    low, high, goal = -1.0, 0.0, -0.9 / 2.718281828459045
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * 2.718281828459045**middle < goal else (low, middle)
    return {"share": 100 * statistics.NormalDist().cdf(low / 0.2)}


def one_dimension() -> Figures:
    runs = stored("posthoc", "one_dimension")["per_seed"]
    saved = {tilt: [100 * (1 - run["risk"]["decision maker"] / run["risk"]["q-optimal"]) for run in runs[tilt]] for tilt in runs}
    return of(saved["0.1"], "first_") | of(saved["0.9"], "last_")


def sweep() -> Figures:
    theirs = {(S, B): risk for S, B, risk in stored("posthoc", "published_sweep")["rows"]}
    ours = {(S, B): statistics.mean(risks) for S, B, *risks in stored("posthoc", "lastfm_sweep")["rows"]}
    found = {f"their_{S}_{B}": theirs[S, B] for S in (100, 1000) for B in (1, 20, 50)}
    return found | {f"our_{S}_{B}": ours[S, B] for S in (50, 100, 1000) for B in (1, 20, 50)}


def sine() -> Figures:
    seasons = stored("posthoc", "faithful")["sine"]
    found = {"n": len(seasons)}
    for short, nu in (("none", "0.0"), ("mild", "0.0005"), ("strong", "0.01")):
        found |= of((season["nu"][nu]["distance"] for season in seasons), f"{short}_")
    return found


def compared(loss: str) -> Figures:
    quartiles = stored("posthoc", "lastfm")["saved_percent_quartiles"][loss]["decision_maker"]
    return dict(zip(("low", "mid", "high"), quartiles, strict=True)) | {"n": stored("posthoc", "lastfm")["seeds"]}


def radon() -> Figures:
    results = stored("posthoc", "radon")["results"]
    once = results["published settings (PyMC, ADVI)"]["held_out_risk"]
    runs = [run["held_out_risk"] for run in results["PyMC, ADVI, tilted 0.5"]]
    found = {"once_q": once["q-optimal"], "once_maker": once["decision maker"]}
    return found | of((run["q-optimal"] for run in runs), "q_") | of((run["decision maker"] for run in runs), "maker_")


def on_corn(way: str, stop: str) -> Figures:
    runs = stored("posthoc", "corn")["results"][stop]
    losses = (("tilted", "tilted 0.5"), ("squared", "squared"))
    return {key: value for short, loss in losses for key, value in of((run[loss]["risk"][way][1] for run in runs), f"{short}_").items()}


def corn_plain() -> Figures:
    constant = stored("posthoc", "corn")["constant"]
    return on_corn("q-optimal", "converged") | {"tilted_flat": constant["tilted 0.5"][1], "squared_flat": constant["squared"][1]}


def corn_maker() -> Figures:
    return on_corn("decision maker", "converged")


def corn_refits() -> Figures:
    return on_corn("decision maker, refits", "converged")


def corn_failures() -> Figures:
    before = {f"before_{key}": value for key, value in on_corn("q-optimal", "stopped early").items()}
    return before | on_corn("decision maker", "stopped early")


def corn_ideal() -> Figures:
    nuts = stored("posthoc", "corn")["results"]["NUTS"]
    return {short: nuts[loss]["risk"]["q-optimal"][1] for short, loss in (("tilted", "tilted 0.5"), ("squared", "squared"))}


def reuse(model: str) -> Figures:
    """ISGD against SGD at the published rate, in steps and in time to the ELBO at which SGD ended; and in time, each at its best rate."""
    results = stored("is_gradients", "does_it_pay")["results"][model]
    runs = results["published"].values()
    names = (("steps_", "steps a second, ratio"), ("time_", "time to SGD's last ELBO, ratio"))
    found = {key: value for short, name in names for key, value in of((run[name] for run in runs), short).items()}
    plain, mine = (results["tuned"]["methods"][way]["middle"]["seconds"] for way in ("SGD", "ISGD"))
    arrived = [float("inf") if seconds is None else seconds for seconds in mine or [None]]
    return found | {"tuned": statistics.median(plain) / statistics.median(arrived)}


def reuse_normal() -> Figures:
    return reuse("normal")


def reuse_regression() -> Figures:
    return reuse("regression")


def reuse_mixture() -> Figures:
    return reuse("mixture")


FIGURES = {
    f.__name__: f
    for f in (
        *(schools, schools_posterior, schools_widths),
        *(
            calibrated_posterior,
            joint_and_em,
            ten_times_faster,
            quantiles,
            small_m,
            direct_utility,
            direct_as_coded,
            amortised,
            amortised_error,
        ),
        *(knee, one_dimension, sweep, sine, radon),
        *(corn_plain, corn_maker, corn_refits, corn_failures, corn_ideal, reuse_normal, reuse_regression, reuse_mixture),
    )
}
for name, loss in {"squared": "squared", "tilted_2": "tilted(0.2)", "tilted_5": "tilted(0.5)", "tilted_8": "tilted(0.8)"}.items():
    FIGURES[f"music_{name}"] = functools.partial(saved_on_music, loss)
    FIGURES[f"maker_{name}"] = functools.partial(compared, loss.replace("(", "").replace(")", ""))


# --- the page -----------------------------------------------------------------------------------------------------------


def table(document: str) -> list[str]:
    """The rows of one document, as Markdown."""
    head = ["| Result | Theirs | Ours | Settings | Verdict |", "| --- | --- | --- | --- | --- |"]
    rows = []
    for result in results():
        if result.document == document:
            pages = ", ".join(f"{{doc}}`/{page}`" for page in result.pages)
            ours = GLUED.sub(r"{from-page}`\1 \2`", result.ours)
            errata = ", ".join(f"[{item}](#erratum-{item})" for item in result.errata)
            settings = f"{result.settings}; errata {errata}" if errata else result.settings
            shown = f"**{result.place}**: {result.shows} ({pages})" if pages else f"**{result.place}**: {result.shows}"
            rows.append(f"| {shown} | {result.theirs} | {ours} | {settings} | {result.verdict} |")
    return [*head, *rows]


def diagrams() -> dict[str, str]:
    """Figures and tables that report no computation, with the page that has their like."""
    return tomllib.loads(SOURCE.read_text("utf8"))["diagrams"]


def tally() -> list[str]:
    """How many rows have which verdict, and what the verdicts mean."""
    lines = []
    for verdict, meaning in VERDICTS.items():
        count = sum(result.verdict == verdict for result in results())
        lines += [verdict, f": {count} of {len(results())}: {meaning}.", ""]
    apart = "; ".join(f"{name} ({{doc}}`/{page}`)" for name, page in diagrams().items())
    return [*lines, f"Not counted, since they report no computation: {apart}."]


class Reproduction(SphinxDirective):
    """The rows of the document that is its argument; without one, the count of verdicts."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        for path in (SOURCE, *contents.BOOK.glob("*/results/*.json"), *(contents.BOOK / f"{r.pages[0]}.md" for r in results() if r.pages)):
            self.env.note_dependency(str(path))
        place = nodes.container()
        lines = table(self.arguments[0]) if self.arguments else tally()
        self.state.nested_parse(StringList(lines, str(SOURCE)), self.content_offset, place)
        for made in place.findall(nodes.table):
            made["classes"].append("roomy")  # its columns hold sentences (book.css)
        return place.children


class FromPage(SphinxRole):
    """A number that another page hands to its text: page and key."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        page, key = self.text.split()
        return [PendingGlueReference(refdoc=page, key=key, inline=True, gtype="text", fmt_spec="")], []


def setup(app) -> dict:
    app.add_directive("reproduction", Reproduction)
    app.add_role("from-page", FromPage())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
