"""The decision maker's objective. Roads: minus the log of a power-prior posterior from SciPy's normal density; a search over decisions."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from course_pkg.checks._judge import Mistake, Task, Verdict, judge


def _from_densities(losses: np.ndarray, h: np.ndarray, mu: np.ndarray, sd: np.ndarray, nu: float) -> float:
    """log of exp(-sum of losses) times the prior to the power nu, less its value where every h is mu: divided by -N."""
    log_prior = norm.logpdf(h, mu, sd).sum() - norm.logpdf(mu, mu, sd).sum()
    return float(-(-np.sum(losses) + nu * log_prior) / len(h))


def _by_search(y: np.ndarray, mu: np.ndarray, sd: np.ndarray, nu: float) -> np.ndarray:
    """Each point's decision by golden section, from the densities."""
    rows = [np.array([[a], [b], [c]]) for a, b, c in zip(y, mu, sd, strict=True)]
    return np.array([minimize_scalar(lambda h, r=row: _from_densities((h - r[0]) ** 2, np.array([h]), r[1], r[2], nu)).x for row in rows])


def objective_stub(losses: np.ndarray, h: np.ndarray, mu: np.ndarray, sd: np.ndarray, nu: float) -> Any:
    raise NotImplementedError


def decision_stub(y: np.ndarray, mu: np.ndarray, sd: np.ndarray, nu: float) -> Any:
    raise NotImplementedError


def _parts(losses, h, mu, sd):
    return np.sum(losses), (((h - mu) / sd) ** 2).sum() / 2, len(h)


def _weighted(y, mu, pull):
    return (2 * y + pull * mu) / (2 + pull)


def _two_sums(by_loss, by_prior):
    def answer(losses, h, mu, sd, nu):
        loss, prior, n = _parts(losses, h, mu, sd)
        return by_loss(n, nu) * loss + by_prior(n, nu) * prior

    return answer


OBJECTIVE_MISTAKES = {
    "loss averaged, prior summed": Mistake(
        _two_sums(lambda n, nu: 1 / n, lambda n, nu: nu),
        "You averaged the losses and summed the prior. The same nu would mean ten times as much prior with ten times as many points.",
    ),
    "prior averaged, loss summed": Mistake(
        _two_sums(lambda n, nu: 1, lambda n, nu: nu / n),
        "You summed the losses and averaged the prior. With enough points it would not be felt, whatever nu is.",
    ),
    "both summed": Mistake(
        _two_sums(lambda n, nu: 1, lambda n, nu: nu),
        "Loss and prior are in step, and the whole is N times too large. It is lowest in the same place, but a mean was asked for.",
    ),
    "half forgotten": Mistake(
        _two_sums(lambda n, nu: 1 / n, lambda n, nu: 2 * nu / n),
        "Twice too much prior: minus the log of a normal density has the square over 2 sd^2.",
    ),
    "nu on the loss": Mistake(
        _two_sums(lambda n, nu: nu / n, lambda n, nu: 1 / n),
        "Your nu multiplies the loss. It is the power of the prior.",
    ),
    "nu forgotten": Mistake(
        _two_sums(lambda n, nu: 1 / n, lambda n, nu: 1 / n),
        "Your answer does not depend on nu.",
    ),
    "wrong sign": Mistake(
        _two_sums(lambda n, nu: 1 / n, lambda n, nu: -nu / n),
        "Yours becomes smaller the farther the decisions are from the model. What is made small must grow with the distance.",
    ),
    "minus forgotten": Mistake(
        _two_sums(lambda n, nu: -1 / n, lambda n, nu: -nu / n),
        "That is the logarithm itself, divided by N. Minus the logarithm was asked for: it is made small, and losses count as they are.",
    ),
    "power squared": Mistake(
        _two_sums(lambda n, nu: 1 / n, lambda n, nu: nu**2 / n),
        "You squared nu. A power of the prior is a factor before its logarithm.",
    ),
    "a unit for sd": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) + nu * np.mean((h - mu) ** 2) / 2,
        "Your answer does not depend on sd. A point of which the belief is sure should be dearer to move.",
    ),
    "sd as variance": Mistake(
        lambda losses, h, mu, sd, nu: _two_sums(lambda n, nu: 1 / n, lambda n, nu: nu / n)(losses, h, mu, np.sqrt(sd), nu),
        "You divided by sd where its square belongs: sd is a standard deviation.",
    ),
    "sd upside down": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) + nu * np.mean(((h - mu) * sd) ** 2) / 2,
        "You multiplied by the square of sd. Divide: where the belief is sure, sd is small and a step away is dear.",
    ),
    "sd as precision": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) + nu * np.mean((h - mu) ** 2 * sd) / 2,
        "You multiplied by sd, as if it were a precision. It is a standard deviation: divide by its square.",
    ),
    "distance not squared": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) + nu * np.mean(np.abs(h - mu) / sd) / 2,
        "The prior is normal: the distance in standard deviations is squared.",
    ),
    "log sd kept": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) + nu * np.mean(((h - mu) / sd) ** 2 / 2 + np.log(sd)),
        "Right up to the mean of log(sd), which no decision can change. Leave it out.",
    ),
    "constants kept": Mistake(
        lambda losses, h, mu, sd, nu: np.mean(losses) - nu * norm.logpdf(h, mu, sd).mean(),
        "Right up to terms that no decision can change, log(sd) among them. Leave them out: they make the number depend on the unit.",
    ),
}
DECISION_MISTAKES = {
    "prior summed": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, len(y) * nu / sd**2),
        "Your prior counts once for every point beside an average loss: with more points, all decisions would fall back to mu.",
    ),
    "slope of the square": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, 2 * nu / sd**2),
        "Half the outcome's weight is missing: the slope of (h - y)^2 is 2 (h - y), and the prior's has no 2.",
    ),
    "sd as variance": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu / sd),
        "You divided by sd where its square belongs.",
    ),
    "half of the prior": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu / 2 / sd**2),
        "You lost half of the prior: the slope of (h - mu)^2 / (2 sd^2) is (h - mu) / sd^2.",
    ),
    "loss summed": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu / len(y) / sd**2),
        "Your prior is averaged over the points and your loss is not. Both have 1/N before them, so that N drops out.",
    ),
    "sd upside down": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu * sd**2),
        "You multiplied nu by the square of sd. Divide: where the belief is sure, sd is small and the pull strong.",
    ),
    "sd as precision": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu * sd),
        "You multiplied nu by sd, as if it were a precision. It is a standard deviation: divide by its square.",
    ),
    "nu on the loss": Mistake(
        lambda y, mu, sd, nu: (2 * nu * y + mu / sd**2) / (2 * nu + 1 / sd**2),
        "The larger nu is, the nearer yours comes to the outcome. It is the power of the prior: it should bring h nearer to mu.",
    ),
    "weights swapped": Mistake(
        lambda y, mu, sd, nu: (2 * mu + nu / sd**2 * y) / (2 + nu / sd**2),
        "The weights have changed places: a large nu should bring h near mu.",
    ),
    "nu forgotten": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, 1 / sd**2),
        "Your answer does not depend on nu.",
    ),
    "sd forgotten": Mistake(
        lambda y, mu, sd, nu: _weighted(y, mu, nu),
        "Your answer does not depend on sd. Where the belief is sure, the decision should stay nearer to mu.",
    ),
    "halfway": Mistake(
        lambda y, mu, sd, nu: (y + mu) / 2,
        "You went halfway. How far to go depends on nu and sd.",
    ),
    "the model alone": Mistake(lambda y, mu, sd, nu: mu, "That is the decision for a very large nu. The outcome pulls, too."),
    "outcomes alone": Mistake(lambda y, mu, sd, nu: y, "That is the decision for nu = 0. The prior pulls it back towards mu."),
    "averaged over the points": Mistake(
        lambda y, mu, sd, nu: np.full(len(y), _weighted(y, mu, nu / sd**2).mean()),
        "All your decisions are the same. Each point is free to have its own.",
    ),
}


def objective_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 820])
    cases = []
    for n, nu in [(3, 0.7), (8, 2.5)]:
        h = rng.normal(0, 2, n)
        cases.append((rng.exponential(1, n), h, h + rng.normal(0, 2, n), rng.uniform(0.3, 2.0, n), nu))
    return judge(
        answer,
        cases,
        _from_densities,
        OBJECTIVE_MISTAKES,
        right="Right. Copy every point, and the number stays: as long as the standard deviations do, the same nu means the same thing "
        "for any number of points.",
        nudge="Not that number. With losses [1, 3], h = [5, 2], mu = [1, 1], sd = [2, 1] and nu = 2 it is 4.5.",
    )


def decision_verdict(answer: Any, seed: int = 0) -> Verdict:
    rng = np.random.default_rng([seed, 821])
    cases = [(rng.normal(3, 1, n), rng.normal(0, 1, n), rng.uniform(0.4, 1.8, n), nu) for n, nu in [(4, 0.8), (7, 3.0)]]
    return judge(
        answer,
        cases,
        _by_search,
        DECISION_MISTAKES,
        right="Right. A weighted mean of outcome and model; nu and sd set the weights, and the number of points does not.",
        nudge="Not these decisions. With y = [3, 3], mu = [1, 1], sd = [1/2, 1] and nu = 2 they are 1.4 and 2.",
    )


TASKS = (
    Task(
        "posthoc/objective/objective",
        "The decision maker's objective: two parts",
        1,
        9,
        objective_stub,
        (
            "Two things are weighed against each other: what the decisions cost, and how far they are from the model. Both per point.",
            "(1/N) sum of losses + (nu/N) sum of (h_n - mu_n)^2 / (2 sd_n^2).",
            "Begin with `distance = (h - mu) / sd`",
        ),
        OBJECTIVE_MISTAKES,
        objective_verdict,
    ),
    Task(
        "posthoc/objective/decision",
        "The decision maker's objective: where it is lowest",
        1,
        9,
        decision_stub,
        (
            "No point knows of another, so take one point's share of the objective and find its lowest place.",
            "2 (h - y) + nu (h - mu) / sd^2 = 0. Solve for h.",
            "Begin with `pull = nu / sd**2`",
        ),
        DECISION_MISTAKES,
        decision_verdict,
    ),
)
