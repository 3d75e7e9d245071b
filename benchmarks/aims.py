"""What the races are called, where they stand, and what was asked of them. Nothing runs here."""

from typing import NamedTuple

OURS, NUMPYRO, ADVI = "this package", "NumPyro, update in a scan compiled once", "PyMC, ADVI"


class Entry(NamedTuple):
    """A race: ``benchmarks.module.function(small, *arguments)`` returns it."""

    title: str
    module: str
    function: str
    arguments: tuple = ()
    package: str | None = None  # the peer without which there is no race


RACES = {
    "vi schools": Entry("Mean-field VI, eight schools", "fit", "schools_race", ("mean-field",)),
    "vi schools, full": Entry("Full-rank VI, eight schools", "fit", "schools_race", ("full-rank",)),
    "vi logistic": Entry("Mean-field VI, logistic regression", "fit", "logistic_race", ("mean-field",)),
    "vi logistic, full": Entry("Full-rank VI, logistic regression", "fit", "logistic_race", ("full-rank",)),
    "lcvi step": Entry("A calibrated step beside a plain one, minibatches of a factorisation", "lcvi", "step_race", ("fast",)),
    "lcvi step, any model": Entry("A calibrated step beside a plain one, any model", "lcvi", "step_race", ("general",)),
    "reuse": Entry("Importance-sampled gradients, to plain SGD's ELBO", "reuse", "reuse_race"),
    "lambert": Entry("Lambert W, values and gradient", "lambertw", "values_race"),
    "lambert density": Entry("Log density of a skewed normal", "lambertw", "density_race"),
    "walk schools": Entry("Random walk, eight schools", "mcmc", "kernel_race", ("eight schools", "random walk"), "blackjax"),
    "hmc schools": Entry("HMC, eight schools", "mcmc", "kernel_race", ("eight schools", "HMC"), "blackjax"),
    "walk tumours": Entry("Random walk, logistic regression", "mcmc", "kernel_race", ("breast tumours", "random walk"), "blackjax"),
    "hmc tumours": Entry("HMC, logistic regression", "mcmc", "kernel_race", ("breast tumours", "HMC"), "blackjax"),
    "nuts": Entry("PyMC's NUTS by back end, and this package's HMC on the same program", "nuts", "nuts_race"),
    "lda": Entry("Topics by coordinate ascent", "lda", "lda_race"),
    "decide tilted": Entry("Decisions for many rows, tilted loss", "decisions", "decisions_race", ("tilted",)),
    "decide linex": Entry("Decisions for many rows, LinEx loss", "decisions", "decisions_race", ("LinEx",)),
    "decide power": Entry("Decisions for many rows, $|h-y|^{1.5}$", "decisions", "decisions_race", ("power",)),
    "decide bump": Entry("Decisions for many rows, a loss that is not convex", "decisions", "decisions_race", ("bump",)),
    "correct": Entry("Correction of decisions, Last.fm", "correct", "correct_race"),
    "first calibrate": Entry("`calibrate`, first and later calls", "lcvi", "first_race"),
    "first correct": Entry("`correct`, first and later calls", "correct", "first_race"),
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


STEP = "at most 1.3 times a plain step"
AIMS = (
    Aim("vi schools", "at least 2 times as fast as NumPyro's compiled update", "1.7", 2.0, None, NUMPYRO, OURS),
    Aim("vi schools", "at least 30 times as fast as PyMC's ADVI", "21", 30.0, None, ADVI, OURS),
    Aim("walk schools", "at least 1.5 times as fast as blackjax", "1.0", 1.5, None, "blackjax", OURS),
    Aim("hmc schools", "at least 1.5 times as fast as blackjax", "1.0", 1.5, None, "blackjax", OURS),
    Aim("walk schools", "`run_chains` at most 1.05 times the bare kernel", "not known", None, 1.05, "this package, run_chains", OURS),
    Aim("hmc schools", "`run_chains` at most 1.05 times the bare kernel", "not known", None, 1.05, "this package, run_chains", OURS),
    Aim("lcvi step", f"tilted, closed form: {STEP}", "1.26 to 1.76", None, 1.3, "tilted, linearised, closed form", "plain"),
    Aim("lcvi step", f"squared, closed form: {STEP}", "1.26 to 1.76", None, 1.3, "squared, exponential, closed form", "plain"),
    Aim("lcvi step", f"tilted, table: {STEP}", "1.26 to 1.76", None, 1.3, "tilted, exponential, table", "plain"),
    Aim("decide bump", "a million in at most 1 s", "not known", None, 1.0, None, OURS),
    Aim("lda", "first call in at most 5 s", "10 s", None, 5.0, None, OURS, True),
    Aim("first calibrate", "first call in at most 4 s", "8 s", None, 4.0, None, OURS, True),
    Aim("first correct", "first call in at most 6 s", "12 s", None, 6.0, None, OURS, True),
)
