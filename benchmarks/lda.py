"""Does it pay? LDA by coordinate ascent here and in scikit-learn: seconds until the same bound.

    python benchmarks/lda.py [--documents 1900] [--words 2000] [--topics 20] [--length 200] [--rounds 20] [--seeds 3]

Made-up counts from the model itself; the same priors for all. Starts are random and peaks differ by start, so the bound to be reached is
the lowest at which any run ended: every run gets there. scikit-learn is timed round by round, and the bound of its topics, which its
``score`` computes, is found afterwards. Here the whole run is one compiled call, timed once it is compiled and shared out evenly over its
rounds; its bounds come for nothing. All roads run in turns, in one process.
"""

import argparse
import time

import jax
import numpy as np
import scipy.sparse
from sklearn.decomposition import LatentDirichletAllocation

from course_pkg.vi import corpus, lda

ALPHA = GAMMA = 0.1


def made_up(documents, words, topics, length):
    """Sparse counts from the model: topics of concentration 0.05, mixtures of 0.1."""
    rng = np.random.default_rng(0)
    mean = rng.dirichlet(np.full(topics, 0.1), documents) @ rng.dirichlet(np.full(words, 0.05), topics)
    sizes = 1 + rng.poisson(length, documents)
    return scipy.sparse.csr_matrix(np.stack([rng.multinomial(n, p / p.sum()) for n, p in zip(sizes, mean, strict=True)]))


def ours(counts, topics, rounds):
    """Seconds after each round and bounds per token, for a seed."""
    documents, tokens = corpus(counts), counts.sum()

    def call(seed):
        start = time.perf_counter()
        fit = lda(jax.random.key(seed), documents, topics, alpha=ALPHA, gamma=GAMMA, iterations=rounds)
        elbo = np.asarray(fit.elbo, dtype=float) / tokens
        return (time.perf_counter() - start) * np.arange(1, rounds + 1) / rounds, elbo

    return call


class Watched(LatentDirichletAllocation):
    """scikit-learn's, which notes the time and the topics after each round."""

    def _em_step(self, *args, **kwargs):
        super()._em_step(*args, **kwargs)
        self.seen_.append((time.perf_counter(), self.components_.copy(), self.exp_dirichlet_component_.copy()))


def scikit_learn(counts, topics, rounds, dtype):
    """The same of scikit-learn, in single or double precision."""
    table, tokens = counts.astype(dtype), counts.sum()

    def call(seed):
        model = Watched(topics, doc_topic_prior=ALPHA, topic_word_prior=GAMMA, max_iter=rounds, random_state=seed)
        model.seen_ = []
        start = time.perf_counter()
        model.fit(table)
        seconds, bounds = [], []
        for moment, topics_then, weights_then in model.seen_:
            model.components_, model.exp_dirichlet_component_ = topics_then, weights_then
            seconds.append(moment - start)
            bounds.append(model.score(counts) / tokens)
        return np.array(seconds), np.array(bounds)

    return call


def main():
    """Run every road from every seed and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("documents", 1900), ("words", 2000), ("topics", 20), ("length", 200), ("rounds", 20), ("seeds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    s = parser.parse_args()
    counts = made_up(s.documents, s.words, s.topics, s.length)
    roads = {
        "course_pkg.vi.lda": ours(counts, s.topics, s.rounds),
        "scikit-learn, single precision": scikit_learn(counts, s.topics, s.rounds, np.float32),
        "scikit-learn, double precision": scikit_learn(counts, s.topics, s.rounds, np.float64),
    }
    start = time.perf_counter()
    roads["course_pkg.vi.lda"](0)
    compiled = time.perf_counter() - start
    runs: dict[str, list] = {name: [] for name in roads}
    for seed in range(s.seeds):
        for name, call in roads.items():
            runs[name].append(call(seed))
    target = min(bounds[-1] for each in runs.values() for _, bounds in each)
    until = {name: np.median([seconds[np.argmax(bounds >= target)] for seconds, bounds in each]) for name, each in runs.items()}
    first = until["course_pkg.vi.lda"]
    shape = f"{s.documents} documents, {s.words} words, {s.topics} topics, {counts.sum()} tokens, {s.rounds} rounds"
    print(f"\n{shape}, medians of {s.seeds} seeds; the first call here, with its compilation, took {compiled:.1f} s\n")
    print(f"{'road':<34}{'s a round':>10}{'s until ' + format(target, '.3f'):>18}{'ratio':>8}   last bounds, nats a token")
    for name, each in runs.items():
        ends = ", ".join(f"{bounds[-1]:.3f}" for _, bounds in each)
        rounds = np.median([seconds[-1] / s.rounds for seconds, _ in each])
        print(f"{name:<34}{rounds:>10.3f}{until[name]:>18.2f}{until[name] / first:>8.1f}   {ends}")


if __name__ == "__main__":
    main()
