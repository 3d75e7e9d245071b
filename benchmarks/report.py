"""What was measured, in words and tables: nothing is measured here, and nothing but numbers is needed."""

import numpy as np

from benchmarks.aims import AIMS, RACES

LINE = "|:--|--:|--:|--:|--:|"


def ratios(race, over, under):
    """Of two roads' times, turn by turn."""
    return np.array(race["roads"][over]["seconds"]) / np.array(race["roads"][under]["seconds"])


def three(number):
    """A style of three digits."""
    return ",.0f" if number >= 100 else ".1f" if number >= 10 else ".2f" if number >= 0.01 else ".1e"


def spread(values):
    """Median, and in brackets the quartiles."""
    low, middle, high = np.quantile(np.asarray(values, float), [0.25, 0.5, 0.75])
    style = three(middle)
    return f"{middle:{style}} ({low:{style}} to {high:{style}})"


def comparable(race, *roads):
    """Whether all of them reached what the race asks for."""
    return all(race["roads"][road]["reached"] for road in roads)


def race(found):
    """One race as a table."""
    divisor, unit = found["unit"]
    ours = found["order"][0]
    lines = [f"| road | {unit} | ratio | first call, s | {found['measure'] or 'error'} |", LINE]
    for road in found["order"]:
        row = found["roads"][road]
        times = np.array(row["seconds"]) / divisor
        ratio = spread(ratios(found, road, ours)) if comparable(found, road, ours) else "failed: withheld"
        error = "" if row["error"] is None else f"{row['error']:.1g}"
        lines.append(f"| {road} | {spread(times)} | {1 if road == ours else ratio} | {row['first']:.1f} | {error} |")
    return "\n".join([*lines, *(f"\nNot run: {words}." for words in found["absent"])])


def aim(asked, races):
    """What is so now, and whether that was asked; where it can be told."""
    found = races.get(asked.race)
    if found is None or not {asked.over or asked.under, asked.under} <= set(found["roads"]):
        return "not run", ""
    if not comparable(found, asked.over or asked.under, asked.under):
        return "accuracy failed", ""
    road = found["roads"][asked.under]
    numbers = [road["first"]] if asked.first else road["seconds"] if asked.over is None else ratios(found, asked.over, asked.under)
    now = float(np.median(numbers))
    met = (asked.least is None or now >= asked.least) and (asked.most is None or now <= asked.most)
    words = f"{now:.1f} s" if asked.first else spread(numbers) + " s" * (asked.over is None)
    return words, "reached" if met else "missed"


def aims(races):
    """The table of what was asked."""
    lines = ["| race | asked | before | now | |", "|:--|:--|:--|:--|:--|"]
    for asked in AIMS:
        now, met = aim(asked, races)
        if asked.race in races and races[asked.race]["about"]["small"]:
            met = "small: not judged"
        lines.append(f"| {RACES[asked.race].title} | {asked.asked} | {asked.before} | {now} | {met} |")
    return "\n".join(lines)


def exponent(sizes, values):
    """Slope on a log-log scale by least squares, and the least and greatest from one size to the next; None below two sizes."""
    sizes, values = np.asarray(sizes, float), np.asarray(values, float)
    if len(sizes) < 2 or (values <= 0).any():
        return None
    x, y = np.log10(sizes), np.log10(values)
    steps = np.diff(y) / np.diff(x)
    return float(np.polyfit(x, y, 1)[0]), float(steps.min()), float(steps.max())


def slope(found):
    """The exponent in words."""
    return "" if found is None else "{:.2f} ({:.2f} to {:.2f})".format(*found).replace("-", "−")


def growth_parts(rows):
    """Sizes, times and memory of a curve, and their exponents; memory from where it can be told from the smallest size's."""
    sizes, seconds, memory = (np.array(rows[name], float) for name in ("sizes", "seconds", "memory"))
    beyond = memory - memory[0]
    seen = beyond > 2.0**24
    return [
        f"{sizes[0]:,.0f} to {sizes[-1]:,.0f}",
        f"{format(seconds[0], three(seconds[0]))} to {format(seconds[-1], three(seconds[-1]))}",
        slope(exponent(sizes, seconds)),
        f"{memory[0] / 2**20:,.0f} to {memory[-1] / 2**20:,.0f}",
        slope(exponent(sizes[seen], beyond[seen])) or ("flat" if not seen.any() else "one size alone"),
    ]


def growth_line(rows):
    """A curve in a line."""
    sizes, seconds, time_slope, memory, memory_slope = growth_parts(rows)
    return f"{sizes}: {seconds} s, exponent {time_slope}; {memory} MiB, exponent {memory_slope}"
