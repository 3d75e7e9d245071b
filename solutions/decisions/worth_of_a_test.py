"""What a test is worth. Roads: every rule from what is seen to a decision, listed; plans over counts of results, from the end."""

from functools import cache
from itertools import product

import numpy as np

from course_pkg.checks.record import Record


def cheapest_rule(joint, costs):
    """The least expected cost over every rule; joint (states, what is seen)."""
    seen, decisions = joint.shape[1], costs.shape[1]
    return min(sum(joint[:, k] @ costs[:, h] for k, h in enumerate(rule)) for rule in product(range(decisions), repeat=seen))


def saved(prior, costs, likelihood):
    return cheapest_rule(prior[:, None], costs) - cheapest_rule(prior[:, None] * likelihood, costs)


def plan_by_counts(prior, costs, likelihood, price, most):
    @cache
    def rest(counts):
        weight = prior * np.prod(likelihood ** np.array(counts), axis=1)  # not divided: the probability of one such sequence
        now = (weight @ costs).min()
        if sum(counts) == most:
            return now
        one_more = [rest((*counts[:k], counts[k] + 1, *counts[k + 1 :])) for k in range(len(counts))]
        return min(now, price * weight.sum() + sum(one_more))

    return rest((0,) * likelihood.shape[1])


def tables(rng):
    """Tests that are worth something: of one that changes no decision only rounding could be compared."""
    for shape in [(3, 2), (4, 3), (3, 4)]:
        yield next(case for case in (_table(rng, *shape) for _ in range(1000)) if saved(*case) > 0.05)


def _table(rng, states, results):
    costs = rng.uniform(3, 10, (states, states))
    np.fill_diagonal(costs, rng.uniform(0, 2, states))
    costs = costs[:, rng.permutation(states)]
    likelihood = 0.7 * np.eye(states, results) + 0.3 * rng.dirichlet(np.ones(results), states)
    return rng.dirichlet(np.full(states, 4.0)), costs, likelihood / likelihood.sum(axis=1, keepdims=True)


PERFECT = Record(
    cases=lambda rng: [case[:2] for case in tables(rng)],
    reference=lambda prior, costs: saved(prior, costs, np.eye(len(prior))),
    right="Right. It is the most that any test can be worth, and it needs no test to be worked out.",
    nudge="Not that value. With prior = [0.5, 0.5], costs = [[0, 4], [2, 0]] it is 1.",
    hints=(
        "What is paid, on average, by who decides now as well as can be? And by who is told the state first?",
        "The first is the least of the expected costs. The second takes the least cost in each state, and averages these over the prior.",
        "Begin with `now = (prior @ costs).min()`",
    ),
    apart=True,
    mistakes={
        "That is the risk of the best decision now. Take off what is still to be paid once the state is known.": "- prior @ costs.min(axis=1) -> ",
        "That is what is still to be paid once the state is known. The value is what this saves.": "now - prior -> prior",
        "You took the least of each column. Who knows the state looks along its row.": "min(axis=1) -> min(axis=0)",
        "You decide now as if the likeliest state were sure. Weigh the rows by the prior, and take the cheapest column.": (
            "(prior @ costs).min() -> prior @ costs[:, costs[prior.argmax()].argmin()]"
        ),
        "Your states all count alike. Weigh the least costs by the prior.": "prior @ costs.min(axis=1) -> costs.min(axis=1).mean()",
    },
)
SAMPLE = Record(
    cases=tables,
    reference=saved,
    right="Right. Decide after every result, beforehand, and average.",
    nudge="Not that value. With prior = [0.5, 0.5], costs = [[0, 4], [2, 0]], likelihood = [[0.75, 0.25], [0.25, 0.75]] it is 0.25.",
    hints=(
        "For each result: how probable is it, what would you then believe, and what would the best decision cost?",
        "Probability of a result times its posterior is the joint probability: no need to divide and multiply again.",
        "Begin with `joint = prior[:, None] * likelihood`, states by results.",
    ),
    apart=True,
    mistakes={
        "Your results all count alike. Weigh the least risk after each by the probability of that result.": (
            "(joint.T @ costs).min(axis=1).sum() -> ((joint / joint.sum(axis=0)).T @ costs).min(axis=1).mean()"
        ),
        "That is the mean risk after the test. The value is what this saves of the risk now.": "return (prior @ costs).min() - later -> return later",
        "You chose one decision for all results, which saves nothing. Choose for each result, then add.": ".min(axis=1).sum() -> .sum(axis=0).min()",
        "That is what perfect information is worth. After a result the state is still uncertain.": (
            "later = (joint.T @ costs).min(axis=1).sum() -> later = prior @ costs.min(axis=1)"
        ),
        "You forgot the prior after the test: a posterior is prior times likelihood.": "prior[:, None] * likelihood -> likelihood / len(prior)",
    },
)
PLAN = Record(
    cases=lambda rng: [
        *((*case, price, most) for case, price, most in zip(tables(rng), (0.3, 0.2, 0.1), (3, 2, 2), strict=True)),
        (
            rng.dirichlet([4.0, 4.0]),
            np.array([[0.0, 5.0], [6.0, 0.5]]),
            np.array([[0.8, 0.2, 0], [0.3, 0.7, 0]]),
            0.1,
            3,
        ),  # one result never comes
    ],
    reference=plan_by_counts,
    right="Right. Looked at from its end, a plan is one comparison after another: decide, or pay and look.",
    nudge=(
        "Not that cost. With prior = [0.5, 0.5], costs = [[0, 4], [2, 0]], likelihood = [[0.75, 0.25], [0.25, 0.75]], "
        "price = 0.1, most = 1 it is 0.85."
    ),
    hints=(
        "With no test left you decide. With some left compare two numbers: to decide now, or to pay for one more and go on as well as can be.",
        "After a result, the rest is the same problem with the posterior as prior and one test fewer; average over the results.",
        "Begin with `if most == 0:`; then there is nothing left but to decide.",
    ),
    apart=True,
    mistakes={
        "Your tests are free. Each costs `price` before its result is seen.": "price + later -> later",
        "Your plan never stops early: it pays for every test. Take the smaller of deciding now and going on.": "min((prior @ costs).min(), price + later) -> price + later",
        "Your belief stands still. After a result the posterior is the prior of what follows.": "column / p -> prior",
        "Your plan looks one test ahead only. What follows a result is a plan again, with one test fewer.": "most - 1) -> 0)",
        "Your results all count alike: weigh what follows each by its probability.": "later += p * -> later += 1 / len(chance) *",
    },
)
TASKS = {"perfect": PERFECT, "sample": SAMPLE, "plan": PLAN}
