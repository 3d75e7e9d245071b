"""Project: correct it, or leave it alone. Roads: sorted draws; every kink and every piece; ride by ride; counts; t values."""

import numpy as np

from course_pkg.checks.record import Record


def between(values, level):
    """A quantile, by the two sorted values on either side of it."""
    ordered, place = sorted(values), level * (len(values) - 1)
    low = min(int(place), len(ordered) - 2)
    return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])


def by_sorting(draws, level):
    h = [[between(ride, level) for ride in refit] for refit in draws]
    pairs = [[(a - b) ** 2 for a in ride for b in ride] for ride in zip(*h, strict=True)]
    count = len(draws)
    return np.array([sum(ride) / count for ride in zip(*h, strict=True)]), np.array(
        [(sum(p) / 2 / count / (count - 1)) ** 0.5 for p in pairs]
    )


def tilted(y, h, level):
    return np.where(y > h, level * (y - h), (1 - level) * (h - y))


def by_pieces(y, mean, sd, level, nu):
    """Between two kinks the objective is a parabola: try every kink, and the lowest point of every piece."""
    kinks = np.sort((y - mean) / sd)
    middles = np.concatenate([[kinks[0] - 1], (kinks[1:] + kinks[:-1]) / 2, [kinks[-1] + 1]])
    lowest = [-np.mean(np.where(y < mean + a * sd, (1 - level) * sd, -level * sd)) / nu for a in middles]
    return min([*kinks, *lowest], key=lambda a: tilted(y, mean + a * sd, level).mean() + nu * a**2 / 2)


def ride_by_ride(shift, y, mean, sd, fold, level, nu):
    losses = []
    for n in range(len(y)):
        others = np.flatnonzero(fold != fold[n])
        h = mean[n] + shift(y[others], mean[others], sd[others], level, nu) * sd[n]
        losses.append(tilted(y[n], h, level))
    return losses


def by_counts(old, new, index):
    counts = np.array([np.bincount(row, minlength=len(old)) for row in index])
    shares = (counts @ (old - new)) / (counts @ old)
    return (old - new).sum() / old.sum(), between(shares, 0.05), between(shares, 0.95)


def by_t_values(nus, losses, old):
    candidates = sorted([*zip(nus, losses, strict=True), (np.inf, old)], key=lambda pair: -pair[0])
    best = min((row for _, row in candidates), key=np.sum)
    for nu, row in candidates:
        d = row - best
        if d.sum() <= np.sqrt(len(d) / (len(d) - 1) * ((d - d.mean()) ** 2).sum()):
            return nu
    return None


def refits(rng):
    for L, N, S, level in ((4, 3, 9, 0.8), (6, 2, 7, 0.3)):
        yield rng.normal(2, 0.6, (L, N, 1)) + rng.exponential(1.0, (L, N, S)), level + rng.uniform(-0.05, 0.05)


def past(rng):
    for n, level in ((9, 0.8), (14, 0.75), (12, 0.3)):
        mean, sd = rng.normal(3, 1, n), rng.uniform(0.3, 1.6, n)
        yield mean + sd * rng.normal(0.7, 1.5, n), mean, sd, level, rng.uniform(0.06, 0.25)


def folded(rng):
    for (y, mean, sd, level, nu), names in zip(past(rng), ((0, 1, 2), (4, 7), (1, 2, 5, 9)), strict=True):
        yield by_pieces, y, mean, sd, rng.permutation(np.resize(names, len(y))), level, nu


def both(rng):
    for n, B in ((7, 12), (10, 15)):
        old = rng.exponential(2, n) + 0.2
        yield old, old * rng.uniform(0.3, 1.3, n), rng.integers(0, n, (B, n))


def trials(rng):
    for _ in range(12):
        nus, n = rng.permutation([0.013, 0.11, 0.9, 7.3]), 10
        base = rng.exponential(1.5, n)
        extra = rng.uniform(0, 0.35, 4)[:, None] + rng.normal(0, 0.35, (4, n))
        yield nus, base + extra, base + rng.uniform(0.0, 0.5) + rng.normal(0, 0.4, n)


MEAN_ALONE = "The spread is that of single rides, not of the refits' promises. Ask how much the promise moves, not the ride."
PRIOR = Record(
    cases=refits,
    reference=by_sorting,
    parts=("the mean", "the spread"),
    right="Right. Where refits agree the engine is sure of its promise, and it may be surely wrong.",
    nudge="Not those two. With draws = [[[0, 1, 2]], [[2, 3, 6]]] and level = 0.5 they are 2 and 1.414.",
    hints=(
        "One promise for each refit and ride first. Which quantile is best for this loss? Then mean and spread over the refits.",
        "h_ln = quantile at kappa over the S draws; mu_n its mean over l, sigma_n^2 = sum of squares about it / (L - 1).",
        "Begin with `h = np.quantile(` of the draws, over their last axis.",
    ),
    mistakes={
        "The other quantile: a promise too short costs kappa, so it has to be passed by few rides.": "level, axis=2 -> 1 - level, axis=2",
        "You pooled the draws of all refits. That is one promise, and no refit made it.": "h.mean(axis=0) -> np.quantile(np.concatenate(draws, axis=1), level, axis=1)",
        MEAN_ALONE: "h.std(axis=0, ddof=1) -> np.concatenate(draws, axis=1).std(axis=1, ddof=1)",
        "The mean draw is best for squared loss.": "np.quantile(draws, level, axis=2) -> draws.mean(axis=2)",
        "The L refits are a sample: take L - 1 in the variance.": "ddof=1 -> ddof=0",
        "That is the variance; its root was asked for.": "h.std -> h.var",
        "You divided by the root of L. The mean of the refits is that sure; their promises are not.": "ddof=1) -> ddof=1) / np.sqrt(len(h))",
    },
)
SHIFT = Record(
    cases=past,
    reference=by_pieces,
    rtol=1e-3,
    apart=True,
    right="Right. Without the prior it would be a weighted quantile; with it, one that is drawn towards the engine.",
    nudge="Not that number. With y = [4], mean = [0], sd = [2], level = 0.9 and nu = 1 it is 1.8.",
    hints=(
        "What is the slope of the objective in a? Each ride gives one of two values, by whether its promise is too long; the prior gives a straight line.",
        "slope = mean of sigma_n (1[y_n < h_n] - kappa) + nu a, for (h_n - mu_n)^2 / sigma_n^2 is a^2. It rises; find where it passes 0.",
        "Begin with `def slope(a):`",
    ),
    mistakes={
        "The prior pulls at nothing here. Its part of the slope is nu times a.": "nu * a -> 1e-9 * a ;; sd.max() / nu -> 1e6",
        "The chain rule: if a grows by 1 a promise grows by its sd.": "sd * (too_long - level) -> (too_long - level) ;; sd.max() / nu -> 1e6",
        "The level is turned round: too short costs kappa, too long 1 - kappa.": "- level)) -> - (1 - level)))",
        "The half belongs to the square: its slope is nu times a.": "nu * a -> 2 * nu * a || nu * a -> nu * a / 2 ;; sd.max() / nu -> 1e6",
        "Loss and prior stand in the same mean. You have the sum of one and the mean of the other.": "nu * a -> nu * a / len(y) ;; sd.max() / nu -> 1e6 || nu * a -> nu * a * len(y)",
        "You forgot to divide by sigma^2. In units of its own sd each promise moves by a.": "nu * a -> nu * a * np.mean(sd**2) ;; sd.max() / nu -> 1e6",
        "That is the quantile of the misses in units of their sd: no prior, and each ride with the same weight.": "\n    return np.quantile((y - mean) / sd, level)",
        "That is the move of a promise. The number a counts in its standard deviations.": "return bisect(slope, -widest, widest) -> return bisect(slope, -widest, widest) * sd.mean()",
    },
)
HELD_OUT = Record(
    cases=folded,
    reference=ride_by_ride,
    right="Right. Each ride is judged by a correction that has not seen it.",
    nudge="Not those losses. If shift gives the mean of the y that it is handed, they are [2, 1, 1.5] for y = [0, 2, 4], mean [0, 0, 0], sd [1, 1, 1], fold [0, 0, 1] and level 1/2.",
    hints=(
        "For each fold: which rides may `shift` see, and which are judged?",
        "a_k = shift on the rides outside of fold k; the loss of ride n in it is tilted(y_n, mean_n + a_k sd_n).",
        "Begin with an array of zeros, one for each ride, and a loop over `np.unique(fold)`.",
    ),
    mistakes={
        "You found one number from all rides. Each is then judged by what it taught.": "shift(y[~out], mean[~out], sd[~out], level, nu) -> shift(y, mean, sd, level, nu)",
        "Each fold is judged by the number that it taught itself: the other folds are to teach it.": "[~out] -> [out]",
        "Those are the engine's own losses. The number was found and never used.": "mean[out] + a * sd[out] -> mean[out]",
        "Every promise moves by its own sd times a.": "a * sd[out] -> a",
        "The loss is turned round: a promise too short costs kappa.": "mean[out] + a * sd[out], level) -> mean[out] + a * sd[out], 1 - level)",
        "You took the mean over each fold. The loss of each ride is asked for.": "losses[out] = tilted(y[out], mean[out] + a * sd[out], level) -> losses[out] = tilted(y[out], mean[out] + a * sd[out], level).mean()",
        "You went the wrong way: a positive number makes promises longer.": "mean[out] + a -> mean[out] - a",
    },
)
SAVED = Record(
    cases=both,
    reference=by_counts,
    parts=("the share", "the lower end", "the upper end"),
    right="Right. Old and new losses of a ride stay together in each resample, so that what they share drops out.",
    nudge="Not those three. With old = [2, 4], new = [1, 3] and index = [[0, 0], [0, 1], [1, 1]] they are 0.3333, 0.2583 and 0.4833.",
    hints=(
        "Each resample is a list of rides, and each ride brings both of its losses. What is the saving among these rides?",
        "1 - (mean of new over the resample) / (mean of old over the same); its quantiles at 0.05 and 0.95.",
        "`old[index]` has a row for each resample.",
    ),
    mistakes={
        "Old and new come from different resamples. A ride brings both of its losses.": "old[index].mean -> old[index[::-1]].mean",
        "Only the new losses were drawn again. The old risk is as uncertain.": "/ old[index].mean(axis=1) -> / old.mean()",
        "You averaged the rides' own shares. A cheap ride must not count as much as a dear one.": "1 - new[index].mean(axis=1) / old[index].mean(axis=1) -> 1 - (new / old)[index].mean(axis=1) || new.mean() / old.mean() -> (new / old).mean() || 1 - new[index].mean(axis=1) / old[index].mean(axis=1) -> 1 - (new / old)[index].mean(axis=1) ;; new.mean() / old.mean() -> (new / old).mean()",
        "Those are the ends of a 95 per cent interval. Of 90 per cent five are left out on each side.": "[0.05, 0.95] -> [0.025, 0.975]",
        "You left ten per cent out on each side.": "[0.05, 0.95] -> [0.1, 0.9]",
        "That is a normal interval about the saving. Take the quantiles of the resamples' shares.": "low, high = np.quantile(again, [0.05, 0.95]) -> low, high = 1 - new.mean() / old.mean() + again.std(ddof=1) * np.array([-1.645, 1.645])",
        "Those are savings in the unit of the loss. Shares of the old risk were asked for.": "1 - new[index].mean(axis=1) / old[index].mean(axis=1) -> (old - new)[index].mean(axis=1) ;; 1 - new.mean() / old.mean() -> old.mean() - new.mean()",
    },
)


def against_the_engine(nus, losses, old):
    better = old - losses
    clear = better.mean(axis=1) > better.std(axis=1, ddof=1) / np.sqrt(len(old))
    return nus[clear].max() if clear.any() else np.inf


CHOOSE = Record(
    cases=trials,
    reference=by_t_values,
    apart=True,
    right="Right. The engine stays unless something is clearly better, and then the nearest of what is as good.",
    nudge="Not that choice. With nus = [1, 0.1], losses = [[1, 2, 3], [1, 1, 3.2]] and old = [2, 3, 3.5] it is 1; with old = [2, 1, 3.1] it is infinite.",
    hints=(
        "K + 1 candidates, one of them the engine. Against the best: is each one's mean excess within its own error?",
        "d_kn = loss_kn - loss_best,n; keep k if mean_n d_kn <= sd_n(d_kn) / sqrt(N); of these the largest nu.",
        "Begin with `every, table = np.append(nus, np.inf), np.vstack([losses, old])`",
    ),
    mistakes={
        "You took the least risk. Among what is not clearly worse the largest nu was asked for.": "more.mean(axis=1) <= error -> more.mean(axis=1) <= 0",
        "Of those that are not clearly worse you took the one furthest from the engine.": ".max() -> .min()",
        "The engine itself is a candidate, too: nu = infinity, with the losses `old`.": "every, table = np.append(nus, np.inf), np.vstack([losses, old]) -> every, table = nus, losses",
        "Your error is that of the best one's own risk. Rides differ, and both candidates have the same rides: take the differences' error.": (
            "error = more.std(axis=1, ddof=1) / np.sqrt(len(old)) -> error = table[table.mean(axis=1).argmin()].std(ddof=1) / np.sqrt(len(old))"
        ),
        "That is how far single rides differ. A mean over N of them is quieter.": " / np.sqrt(len(old)) -> ",
        "Two errors were not asked for: one.": "error = -> error = 2 *",
        "You took the largest nu that is clearly better than the engine. Set each against the best instead: which are not clearly worse?": (
            against_the_engine
        ),
    },
)
TASKS = {"prior": PRIOR, "shift": SHIFT, "held-out": HELD_OUT, "saved": SAVED, "choose": CHOOSE}
