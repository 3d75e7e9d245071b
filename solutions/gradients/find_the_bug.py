"""Find the bug. Road: the evidence lower bound by quadrature over theta; a minibatch stands for copies of itself."""

import numpy as np
from scipy.stats import norm

from course_pkg.checks.record import Record
from solutions.gradients._tools import balanced, elbo, slope

log_joint_of = lambda y, s, s0: lambda theta: norm.logpdf(theta, 0, s0) + sum(norm.logpdf(value, theta, s) for value in y)
elbo_by_quadrature = lambda y, mu, sigma, s, s0: elbo(log_joint_of(y, s, s0), mu, sigma)
copies = lambda rows, n: np.tile(rows, n // len(rows))
# mu, sigma, s, s0
numbers = lambda rng: rng.uniform([0.3, 0.2, 0.8, 0.5], [1.0, 0.6, 1.6, 1.5]).tolist()


def small_sets(rng):
    cases = [(rng.normal(1, 1, count), *numbers(rng)) for count in (3, 8, 1)]
    y, mu, _, s, s0 = cases[-1]
    return [*cases, (y, mu, 0.05, s, s0)]  # so narrow that the entropy is negative


def some_rows(rng):
    for count, n in [(4, 20), (5, 100)]:
        mu, _, s, s0 = numbers(rng)
        yield rng.normal(0.5, 1, count), n, mu, s, s0


ELBO = Record(
    cases=small_sets,
    reference=elbo_by_quadrature,
    right="Right. It never exceeds the log evidence; the other one could be made as large as you please.",
    nudge="That is not the lower bound. With two rows, both 0, with mu = 0 and every width 1 it is -2.838; with no rows it is 0 there.",
    hints=(
        "Compute the three terms apart and print each for small sigma. Which one grows where it should fall?",
        "ELBO = E[log p(y | theta)] + E[log p(theta)] - E[log q(theta)], and E[(theta - c)^2] = (mu - c)^2 + sigma^2.",
        "Begin with `spread = sigma**2`, which stands in all three terms.",
    ),
    mistakes={
        "The entropy still has the wrong sign: as sigma goes to zero this bound goes up without end. Minus log q, not plus.": "+ 0.5 * np.log -> - 0.5 * np.log",
        "You evaluated the model at mu only. Averaged over q, each squared distance grows by sigma squared.": "- 0.5 * len(y) * spread / s**2 -> ;; - 0.5 * spread / s0**2 -> ",
        "You took the absolute value of the entropy. A narrow density has a negative one, and that is what keeps q from collapsing.": "0.5 * np.log(2 * np.pi * np.e * spread) -> abs(0.5 * np.log(2 * np.pi * np.e * spread))",
        "Each of the rows has its sigma squared. You have added one for all of them.": "len(y) * spread -> spread",
        "Now the entropy is gone. Its sign was wrong, not its presence.": "+ 0.5 * np.log(2 * np.pi * np.e * spread) -> ",
    },
)
PRIOR = Record(
    cases=some_rows,
    reference=lambda rows, n, theta, s, s0: slope(log_joint_of(copies(rows, n), s, s0), theta),
    right="Right. Averaged over all minibatches it is the gradient of the whole log joint.",
    nudge="Not that slope. With rows = [2, 2], n = 4, theta = 1 and s = s0 = 2 it is 3/4.",
    hints=(
        "Compare with the gradient on the whole data set. Which part is too large, and by what factor?",
        "log p(theta) + (n / B) * sum over the B rows of log p(y | theta).",
        "Begin with `scale = n / len(rows)`",
    ),
    mistakes={
        "With half of the rows your prior counts twice. It stands outside the factor n / len(rows).": "- theta / s0**2 -> - scale * theta / s0**2",
        "The prior still counts once for each row that you look at. It is stated once, however many rows there are.": "- theta / s0**2 -> - len(rows) * theta / s0**2",
        "The prior is still scaled with the rows, so it counts n times. It is stated once, however many rows there are.": "- theta / s0**2 -> - n * theta / s0**2",
        "You divided the prior by n. That is right inside a mean over rows that is multiplied by n afterwards; here it stands outside.": "- theta / s0**2 -> - theta / s0**2 / n",
    },
)
SCALE = Record(
    cases=lambda rng: [(rng.normal(0.5, 1, count), n, balanced(rng, 30), *numbers(rng)) for count, n in [(4, 20), (5, 50)]],
    reference=lambda rows, n, eps, *rest: elbo(log_joint_of(copies(rows, n), *rest[2:]), *rest[:2]),
    right="Right. Rows are scaled because there are more of them; there is one prior and one q.",
    nudge="That is not the bound. Where q is the prior, the two cancel: n / len(rows) times the rows' mean log density is left.",
    hints=(
        "The broken function puts one bracket around three terms and scales it as a whole. Which of the three come in rows?",
        "log p(theta) + (n / B) * sum of log p(y | theta) - log q(theta), averaged over the draws.",
        "Begin with `draws = mu + sigma * eps`",
    ),
    mistakes={
        "The entropy is still multiplied by n. That makes q too wide by the root of n, however long you run.": "- norm -> - n * norm",
        "With half of the rows your prior and your log q count twice. Only the rows are a part of something larger.": "n / len(rows) * -> ;; return ( -> return n / len(rows) * (",
        "That is an n-th of the bound. Its top is in the right place, but its value was asked for.": "return ( -> return 1 / n * (",
        "Log q is right now, and the prior counts for an n-th. It is no part of the sum over rows any more.": "+ norm -> + 1 / n * norm",
        "Prior and entropy are right, and the rows stand only for themselves: q will believe that there is nothing else.": "n / len(rows) * -> ",
    },
    rtol=1e-5,
)
TASKS = {"elbo": ELBO, "prior": PRIOR, "scale": SCALE}
