"""A small drawing for each chapter, as SVG that takes the page's colours by day and night; the curves are what they look like."""

import random
from collections.abc import Callable, Iterable
from itertools import repeat
from math import cos, exp, pi, sin, sqrt, tau

WIDTH, HEIGHT, BASE = 240, 100, 88


def curve(f: Callable[[float], float], low: float, high: float, top: float, kind: str, closed: bool = False) -> str:
    """A function drawn over the whole width, ``top`` at the upper edge."""
    xs = [low + (high - low) * k / 80 for k in range(81)]
    points = [f"{WIDTH * k / 80:g} {BASE - (BASE - 8) * f(x) / top:.1f}" for k, x in enumerate(xs)]
    end = f"L{WIDTH} {BASE}L0 {BASE}Z" if closed else ""
    return f'<path class="{kind}" d="M{"L".join(points)}{end}"/>'


def polyline(points: Iterable[tuple[float, float]], kind: str) -> str:
    return f'<path class="{kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


def dots(points: Iterable[tuple[float, float]], kind: str, sizes: Iterable[float] = repeat(2.2)) -> str:
    return "".join(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>' for (x, y), r in zip(points, sizes, strict=False))


def post(x: float, y: float, kind: str) -> str:
    """An upright line, for a decision."""
    return f'<path class="{kind}" d="M{x:.1f} {BASE}V{y:.1f}"/>'


def normal(mean: float, sd: float) -> Callable[[float], float]:
    return lambda x: exp(-((x - mean) ** 2) / (2 * sd**2)) / (sd * sqrt(tau))


def svg(*pieces: str) -> str:
    floor = f'<path class="floor" d="M0 {BASE}H{WIDTH}"/>'
    return f'<svg class="sketch" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(pieces)}{floor}</svg>'


def decisions() -> str:
    """One curve and three decisions: the pump's, with a tenth, a half and the mean."""

    def wait(day: float) -> float:
        return 6 / 156 * (1 + day / 156) ** -7

    days = [156 * ((10 / 9) ** (1 / 6) - 1), 156 * (2 ** (1 / 6) - 1), 156 / 5]
    posts = [post(WIDTH * day / 90, height, "accent") for day, height in zip(days, (18, 34, 50), strict=True)]
    return svg(curve(wait, 0, 90, wait(0), "fill", closed=True), curve(wait, 0, 90, wait(0), "line"), *posts)


def mcmc() -> str:
    """A chain that walks over the level lines of a normal."""
    rng, at, walk = random.Random(3), (24.0, 22.0), []

    def log_density(x: float, y: float) -> float:
        u, v = (x - 130) / 42, (y - 50) / 17
        return -(u * u - 1.2 * u * v + v * v) / 1.28

    for _ in range(42):
        walk.append(at)
        new = (at[0] + rng.gauss(0, 17), at[1] + rng.gauss(0, 8))
        if rng.random() < exp(min(0.0, log_density(*new) - log_density(*at))):
            at = new
    rings = []
    for r in (0.7, 1.4, 2.1):
        angles = [tau * k / 60 for k in range(61)]
        rings.append(polyline([(130 + 42 * r * cos(a), 50 + 17 * r * (0.6 * cos(a) + 0.8 * sin(a))) for a in angles], "faint"))
    return svg(*rings, polyline(walk, "thin"), dots(walk, "accent-dot"))


def vi() -> str:
    """Two modes, and the normal that has settled on one of them."""
    target = lambda z: 0.65 * normal(0, 1)(z) + 0.35 * normal(4.2, 0.8)(z)
    fit = normal(0.05, 1.02)
    return svg(curve(target, -4, 8, 0.42, "fill", closed=True), curve(target, -4, 8, 0.42, "line"), curve(fit, -4, 8, 0.42, "accent"))


def gradients() -> str:
    """A climb on noisy gradients: it rises, and goes on shaking."""
    rng, height, path = random.Random(1), 0.02, []
    for step in range(121):
        path.append((2 * step, BASE - 74 * height))
        height += 0.055 * (0.95 - height) + rng.gauss(0, 0.035 if step > 4 else 0.01)
    level = BASE - 74 * 0.95
    return svg(f'<path class="faint" d="M0 {level:.1f}H{WIDTH}"/>', polyline(path, "accent"))


def is_gradients() -> str:
    """Draws of yesterday's approximation, each as large as its weight under today's."""
    old, new = normal(-0.8, 1.0), normal(0.7, 0.9)
    points = [-0.8 + 0.26 * k for k in range(-10, 11)]
    at = [(WIDTH * (x + 4.5) / 9, float(BASE)) for x in points]
    sizes = [1.1 + 1.5 * sqrt(new(x) / old(x)) for x in points]
    return svg(curve(old, -4.5, 4.5, 0.47, "faint"), curve(new, -4.5, 4.5, 0.47, "line"), dots(at, "accent-dot", sizes))


def lambertw() -> str:
    """A normal, and what one number more makes of it."""
    skew = 0.32

    def leaning(x: float) -> float:
        low, high = -1 / skew + 1e-6, 8.0  # z exp(skew z) = x, by halving on the rising branch
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if middle * exp(skew * middle) < x else (low, middle)
        return normal(0, 1)(low) / (exp(skew * low) * max(1 + skew * low, 0.12))

    bell = normal(0, 1)
    return svg(
        curve(leaning, -1.15, 5, 0.62, "fill", closed=True), curve(leaning, -1.15, 5, 0.62, "accent"), curve(bell, -1.15, 5, 0.62, "faint")
    )


def lcvi() -> str:
    """The posterior, the approximation that is closest to it, and the one that is fitted for the decision."""
    target = lambda z: 0.72 * normal(-1.0, 0.75)(z) + 0.28 * normal(1.6, 1.0)(z)
    plain, calibrated = normal(-0.75, 0.95), normal(0.15, 1.25)
    return svg(
        curve(target, -4, 5, 0.5, "fill", closed=True),
        curve(plain, -4, 5, 0.5, "faint"),
        curve(calibrated, -4, 5, 0.5, "accent"),
        post(WIDTH * (4 + 1.75) / 9, 24, "accent"),
    )


def posthoc() -> str:
    """Outcomes on a wave, a model that is a straight line, and its decisions after correction."""
    rng = random.Random(5)
    wave = lambda x: 50 - 27 * cos(2 * pi * x / WIDTH * 1.5)
    outcomes = [(x, wave(x) + rng.gauss(0, 6)) for x in range(6, WIDTH, 7)]
    bent = [(x, wave(x) * 0.86 + 50 * 0.14) for x in range(0, WIDTH + 1, 4)]
    return svg(dots(outcomes, "soft-dot"), f'<path class="faint" d="M0 50H{WIDTH}"/>', polyline(bent, "accent"))


SKETCHES = {f.__name__: f for f in (decisions, mcmc, vi, gradients, is_gradients, lambertw, lcvi, posthoc)}
