r"""The compiled loop under a decision maker's training: Adam steps, looks at the points held out, and the weights of the best look.

All runs of a call, whatever their key, strength of the prior or split of the points, are one program side by side.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import PRNGKeyArray

from course_pkg.decisions.losses import as_partial
from course_pkg.posthoc.maker import costs, forward, initial_layers


class Plan(NamedTuple):
    """How to train: whole numbers are part of the compiled program."""

    sizes: tuple[int, ...]  # of the layers
    steps: int
    batch: int | None
    every: int  # steps between two looks
    patience: int  # looks without improvement
    stopping: bool
    decay: bool


class Runs(NamedTuple):
    """What tells runs apart, the first axis for the run."""

    key: PRNGKeyArray
    nu: Any
    train: Any  # (runs, N) 1 for points learnt from
    stop: Any  # (runs, N) 1 for points held out
    order: Any  # (runs, N) the points that train first


class Points(NamedTuple):
    """All points of a training run, with their prior."""

    z: Any  # (N, B) standardised features
    y: Any
    mean: Any
    sd: Any
    centre: Any  # () of the outcomes
    scale: Any  # ()


def decisions(layers, points: Points):
    """The decisions of some layers at all points."""
    return points.centre + points.scale * forward(layers, points.z)


def run(plan: Plan, loss, keys, nus, train, stop, points: Points, rate):
    """For every run: its layers, its two histories (on points learnt from, on points held out), their step, and their decisions."""
    order = np.argsort(~train, axis=1, kind="stable")  # points that train come first
    nus, train, stop = (jnp.asarray(part, points.y.dtype) for part in (nus, train, stop))
    runs = Runs(keys, nus, train, stop, jnp.asarray(order))
    return _side_by_side(plan, as_partial(loss), points, rate, runs)


@partial(jax.jit, static_argnames="plan")
def _side_by_side(plan: Plan, loss, points, rate, runs: Runs):
    return jax.vmap(partial(_run_one, plan, loss, points, rate))(runs)


def _run_one(plan: Plan, loss, points, rate, one: Runs):
    """One run: its layers, the two histories, the step at which the layers were taken, and their decisions at all points."""
    key, nu, train, stop, order = one
    start, key = jax.random.split(key)
    flat, unravel = ravel_pytree(initial_layers(start, plan.sizes))
    adam = optax.scale_by_adam()
    looks, training = -(-plan.steps // plan.every), train.sum()

    def cost(flat, rows):
        h = decisions(unravel(flat), rows)
        return costs(loss, rows.y, h, rows.mean, rows.sd, nu)

    def batch_objective(flat, t):
        if plan.batch is None:
            return (train * cost(flat, points)).sum() / training
        index = order[jax.random.randint(jax.random.fold_in(key, t), (plan.batch,), 0, training.astype(int))]
        return cost(flat, Points(*(part[index] for part in points[:4]), *points[4:])).mean()

    def step(carry, _):
        flat, adam_state, t = carry
        update, adam_state = adam.update(jax.grad(batch_objective)(flat, t), adam_state)
        slowed = 0.5 * (1 + jnp.cos(jnp.pi * t / plan.steps)) if plan.decay else 1.0
        moved = jnp.where(t < plan.steps, flat - rate * slowed * update, flat)
        return (moved, adam_state, t + 1), None

    def look(carry):
        k, inner, best, lowest, at, waited, seen = carry
        inner, _ = jax.lax.scan(step, inner, None, length=plan.every)
        flat = inner[0]
        each = cost(flat, points)
        here = jnp.stack([(train * each).sum() / training, (stop * each).sum() / jnp.maximum(stop.sum(), 1)])
        better = here[1] < lowest if plan.stopping else True
        best, lowest = jnp.where(better, flat, best), jnp.where(better, here[1], lowest)
        at, waited = jnp.where(better, k + 1, at), jnp.where(better, 0, waited + 1)
        return k + 1, inner, best, lowest, at, waited, seen.at[:, k].set(here)

    def going(carry):
        return (carry[0] < looks) & (carry[5] < plan.patience)

    nothing = jnp.full((2, looks), jnp.nan, flat.dtype)
    first = (0, (flat, adam.init(flat), 0), flat, jnp.asarray(jnp.inf, flat.dtype), 0, 0, nothing)
    _, _, best, _, at, _, seen = jax.lax.while_loop(going, look, first)
    return unravel(best), (seen[0], seen[1]), jnp.minimum(at * plan.every, plan.steps), decisions(unravel(best), points)
