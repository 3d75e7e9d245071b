"""Topics by Gibbs sampling. Roads: histograms; sums over all assignments; gamma functions of the counts."""

from itertools import product

import numpy as np
from scipy.special import gammaln

from course_pkg.checks._judge import Trouble
from course_pkg.checks.record import Record


def blocks_by_histograms(z, notes, words, a, c, D, K, V):
    counted = lambda rows, columns, *sizes: np.histogram2d(rows, columns, bins=sizes, range=[[0, size] for size in sizes])[0]
    return a + counted(notes, z, D, K), c + counted(z, words, K, V)


def topics_by_enumeration(theta, phi, notes, words):
    K = len(phi)
    total = np.zeros((len(words), K))
    for z in product(range(K), repeat=len(words)):
        chance = np.prod([theta[d, k] * phi[k, v] for k, d, v in zip(z, notes, words, strict=True)])
        for i, k in enumerate(z):
            total[i, k] += chance
    return total / total.sum(axis=1, keepdims=True)


def log_joint(z, notes, words, a, c, K, V):
    """The log of p(z, w) up to a constant, theta and phi integrated out."""
    n, m = np.zeros((notes.max() + 1, K)), np.zeros((K, V))
    np.add.at(n, (notes, z), 1)
    np.add.at(m, (z, words), 1)
    by_note = gammaln(a + n).sum() - gammaln(K * a + n.sum(axis=1)).sum()
    return by_note + gammaln(c + m).sum() - gammaln(V * c + m.sum(axis=1)).sum()


def collapsed_by_joint(i, z, notes, words, a, c, K, V):
    moved = np.repeat(np.asarray(z)[None], K, axis=0)
    moved[:, i] = np.arange(K)
    log_p = np.array([log_joint(one, notes, words, a, c, K, V) for one in moved])
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def sweep_by_joint(z, noise, *rest):
    z = np.array(z)
    for i, u in enumerate(noise):
        z[i] = np.sum(np.cumsum(collapsed_by_joint(i, z, *rest))[:-1] <= u)
    return z


# Topics, notes and entries of N words, in no order, all in use. Larger sizes than these may be handed over with them
corpus = lambda rng, D, K, V, N: tuple(rng.permutation(np.r_[np.arange(n), rng.integers(0, n, N - n)]) for n in (K, D, V))


def for_blocks(rng):
    for D, K, V, N in ((3, 2, 4, 12), (2, 3, 5, 15)):
        yield *corpus(rng, D, K, V, N), rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.8), D, K, V


def for_topics(rng):
    for D, K, V, N in ((3, 2, 4, 6), (2, 3, 5, 5)):
        yield rng.dirichlet(np.full(K, 2.0), D), rng.dirichlet(np.full(V, 1.5), K), *corpus(rng, D, K, V, N)[1:]


def for_one_word(rng):
    """The word is not alone in its note."""
    for D, K, V, N in ((3, 2, 4, 12), (2, 3, 5, 15), (2, 3, 4, 9), (3, 4, 2, 14)):
        z, notes, words = corpus(rng, D, K, V, N)
        i = int(rng.choice(np.flatnonzero(np.bincount(notes)[notes] > 1)))
        yield i, z, notes, words, rng.uniform(0.9, 1.8), rng.uniform(0.2, 0.6), K, V


def for_sweep(rng):
    """Some topics and entries do not occur. The first and the last word get new topics."""
    for D, used, V, N in ((3, 2, 4, 12), (2, 2, 5, 10), (2, 3, 4, 14)):
        z = new = np.zeros(1)
        while (z[[0, -1]] == new[[0, -1]]).any():
            z, notes, words = corpus(rng, D, used, V, N)
            case = z, rng.uniform(size=N), notes, words, rng.uniform(0.6, 1.4), rng.uniform(0.2, 0.6), used + 1, V + 2
            new = sweep_by_joint(*case)
        yield case


def whole_numbers(answer, *case):
    got = answer(*case)
    if np.asarray(got).dtype.kind == "f" and np.array_equal(got, np.round(got)):
        raise Trouble("Your topics are floating-point numbers. They are to count with (`np.bincount`): integers, like `z`.")
    return got


SIZES = (
    "Right as long as every topic, every note and every entry occurs in the data. Some may not, and they count all the same: the sizes are "
    "those that are handed over, not the largest number in the data plus one (`np.bincount` has `minlength`)."
)
THETA, PHI = "np.add.at(theta, (notes, z), 1.0) -> theta[notes, z] += 1", "np.add.at(phi, (z, words), 1.0) -> phi[z, words] += 1"
BLOCKS = Record(
    cases=for_blocks,
    reference=blocks_by_histograms,
    parts=("the table for theta", "the table for phi"),
    right="Right. Given the topics, the words say nothing about theta, and the notes nothing about phi.",
    nudge="Not those parameters. With z = [0, 1, 1], notes = [0, 0, 1], words = [2, 0, 0], a = 0.5, c = 2, D = 2, K = "
    "2 and V = 3 those of theta are [[1.5, 1.5], [0.5, 1.5]] and those of phi [[2, 2, 3], [4, 2, 2]].",
    hints=(
        "Two tables of counts: how often each topic occurs in each note, and how often each entry has each topic.",
        "The log joint has (a - 1 + n_dk) log theta_dk, and a Dirichlet with parameter b has (b - 1) log theta.",
        "Begin with `theta = np.full((D, K), float(a))`",
    ),
    mistakes={
        "Each is too large by one: the exponent of a Dirichlet density is the parameter less one.": "float(a) -> a + 1.0 ;; float(c) -> c + 1.0",
        "Those are the exponents of the density. A Dirichlet's parameters are larger by one.": "float(a) -> a - 1.0 ;; float(c) -> c - 1.0",
        "You left the priors out: those are the counts.": "float(a) -> 0.0 ;; float(c) -> 0.0",
        "What occurs several times is counted once, as `table[i, j] += 1` does. `np.add.at` counts how often.": (
            f"{THETA} ;; {PHI}",
            THETA,
            PHI,
        ),
        "You count all words of a note, and all occurrences of an entry, whatever their topics are.": "(notes, z) -> notes ;; (z, words) -> (slice(None), words)",
        "Right for phi. For theta you count a topic in all notes; only the note itself matters.": "(notes, z) -> (slice(None), z)",
    },
    later={
        SIZES: (
            lambda rng: [(*corpus(rng, 2, 2, 4, 9), rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.8), 3, 3, 5)],
            "theta = -> D, K, V = notes.max() + 1, z.max() + 1, words.max() + 1\ntheta =",
        ),
    },
)
ALL = "weights.sum(axis=1, keepdims=True)"
TOPICS = Record(
    cases=for_topics,
    reference=topics_by_enumeration,
    right="Right. All words can be drawn at the same time: given theta and phi they are independent.",
    nudge="Not those probabilities. With theta = [[0.5, 0.5], [0.9, 0.1]], phi = [[0.2, 0.8], [0.6, 0.4]], notes = [0, 1] and words = "
    "[0, 0] they are [[0.25, 0.75], [0.75, 0.25]].",
    hints=(
        "Bayes' formula for each word. The note's proportions are the prior of its topic.",
        "P(z_i = k) is proportional to theta_dk phi_kv, where d is the note of word i and v the word.",
        "Begin with `prior = theta[notes]`, which has a row for each word, as the result does",
    ),
    mistakes={
        "Those are the right weights. Probabilities of the topics of a word sum to one.": f"/ {ALL} -> ",
        "All your numbers together sum to one. The topics of each word should by themselves.": f"{ALL} -> weights.sum()",
    },
)
TAKE_OUT = "The word itself is among your counts and votes for the topic that it has already. Take it out before you count."
NOTE, ENTRY, BELOW = "others & (notes == notes[i])", "others & (words == words[i])", "/ (V * c + total)"
COLLAPSED = Record(
    cases=for_one_word,
    reference=collapsed_by_joint,
    right="Right. The topic that the word has now plays no part, as it must be: it is about to be drawn.",
    nudge="Not those probabilities. With i = 0, z = [1, 1, 1, 0], notes = [0, 0, 0, 1], words = [2, 2, 0, 1], a = 1, c "
    "= 0.5, K = 2 and V = 3 the weights are 1 * 0.5 / 2.5 and 3 * 1.5 / 3.5, and the probabilities 0.135 and 0.865.",
    hints=(
        "What would the other words make you expect? Given them, theta and phi have Dirichlet posteriors, and those have means.",
        "Weight of k: (a + n_dk) (c + m_kv) / (V c + sum over v' of m_kv'), where all counts are over the words other than i.",
        "Begin with `others = np.arange(len(z)) != i`",
    ),
    mistakes={
        TAKE_OUT: "!= i -> >= 0",
        "Above the bar the word is taken out. Below it still counts.": "z[others] -> z",
        "Something below the bar is missing: an entry's share in a topic depends on how many words the topic has.": f"{BELOW} -> ",
        "Below the bar there is one c. Summed over all V entries, it is more.": "V * c -> c",
        "You count how often each topic has the entry within the note. Its words in all notes count there.": f"{ENTRY} -> {NOTE} & (words == words[i])",
    },
    later={
        SIZES: (
            lambda rng: [(4, *corpus(rng, 3, 2, 4, 9), rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.8), 3, 8)],
            "others = -> K, V = z.max() + 1, words.max() + 1\nothers =",
        ),
    },
)
DRAW = 'np.searchsorted(np.cumsum(p), u, side="right")'
SWEEP = Record(
    cases=for_sweep,
    reference=sweep_by_joint,
    view=whole_numbers,
    right="Right. Each word was drawn given all others, with the new topics of those before it and the old ones of those after it.",
    nudge="Not those topics. With z = [0, 0, 1], noise = [0.5, 0.7, 0.3], notes = [0, 0, 1], words = [0, 1, 0], a = 1, c = 0.5, "
    "K = 2 and V = 2 topic 0 has probability 0.4, then 0.6, then 0.5, and the topics are [1, 1, 0].",
    hints=(
        "Go from word to word. What Part 3 says of a word has to be asked when the words before it have their new topics.",
        "z_i = number of k with p_0 + ... + p_k <= u_i, where p is computed from the topics as they are at that moment.",
        "Begin with `z = np.array(z)`",
    ),
    mistakes={
        TAKE_OUT: "(i, z, notes, words -> (len(z), *(np.append(x, x[i]) for x in (z, notes, words))",
        "You draw every word given the old topics of all others. In a sweep each new topic is used at once.": "z = np.array(z) -> old, z = z, np.array(z) ;; (i, z -> (i, old",
        "You take the most probable topic, whatever the noise is. Draw it.": f"{DRAW} -> np.argmax(p)",
        "You compare the noise with the probability of each topic by itself. Add up the probabilities of the topics so far.": f"{DRAW} -> np.argmax(p > u)",
        "Only the first word is drawn anew. Does your `return` stand within the loop?": f"{DRAW} -> {DRAW}\n    return z",
        "A topic or an entry that does not occur is forgotten: the sizes K and V are handed over.": "K, V) -> z.max() + 1, words.max() + 1)",
    },
)
TASKS = {"blocks": BLOCKS, "topics": TOPICS, "collapsed": COLLAPSED, "sweep": SWEEP}
