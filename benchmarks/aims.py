"""What the races are called, and what was asked of them. Nothing runs here."""

from typing import NamedTuple

OURS, NUMPYRO, ADVI = "this package", "NumPyro, update in a scan compiled once", "PyMC, ADVI"
TITLES = {
    "vi schools": "Mean-field VI, eight schools",
    "vi logistic": "Full-rank VI, logistic regression",
    "lcvi step": "A calibrated step beside a plain one",
    "reuse": "Importance-sampled gradients, to plain SGD's ELBO",
    "lambert": "Lambert W",
    "lambert density": "Log density of a skewed normal",
    "walk schools": "Random walk, eight schools",
    "hmc schools": "HMC, eight schools",
    "walk tumours": "Random walk, logistic regression",
    "hmc tumours": "HMC, logistic regression",
    "lda": "Topics by coordinate ascent",
    "many decisions": "Decisions for many rows, tilted loss",
    "many decisions, not convex": "Decisions for many rows, a loss that is not convex",
    "first calibrate": "`calibrate`, first and later calls",
    "first correct": "`correct`, first and later calls",
}


class Aim(NamedTuple):
    """What was asked of a race, and what there was before."""

    race: str
    asked: str
    before: str
    least: float | None = None  # of the number
    most: float | None = None
    over: str | None = None  # the number is the ratio of this road's time
    under: str | None = None  # to this one's; or its seconds, alone
    first: bool = False  # of its first call, with its compilation


AIMS = (
    Aim("vi schools", "2 times as fast as NumPyro's compiled update", "1.7", 2.0, None, NUMPYRO, OURS),
    Aim("vi schools", "30 times as fast as PyMC's ADVI", "21", 30.0, None, ADVI, OURS),
    Aim("walk schools", "1.5 times as fast as blackjax", "1.0", 1.5, None, "blackjax", OURS),
    Aim("hmc schools", "1.5 times as fast as blackjax", "1.0", 1.5, None, "blackjax", OURS),
    Aim("walk schools", "run_chains at most 1.05 times the bare kernel", "not stated", None, 1.05, "this package, run_chains", OURS),
    Aim("lcvi step", "tilted, closed form: 1.3 times a VI step", "1.26 to 1.76", None, 1.3, "tilted, linearised, closed form", "plain"),
    Aim("lcvi step", "squared, closed form: 1.3 times a VI step", "1.26 to 1.76", None, 1.3, "squared, exponential, closed form", "plain"),
    Aim("lcvi step", "tilted, table: 1.3 times a VI step", "1.26 to 1.76", None, 1.3, "tilted, exponential, table", "plain"),
    Aim("many decisions, not convex", "a million in about 1 s", "not stated", None, 1.0, None, OURS),
    Aim("lda", "first call in 5 s", "10 s", None, 5.0, None, OURS, True),
    Aim("first calibrate", "first call in 4 s", "8 s", None, 4.0, None, OURS, True),
    Aim("first correct", "first call in 6 s", "12 s", None, 6.0, None, OURS, True),
)
