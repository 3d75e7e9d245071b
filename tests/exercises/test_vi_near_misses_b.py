"""Topics by coordinate ascent: what is nearly right must not pass, what is right in another way must."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats
from scipy.special import digamma, log_softmax, logsumexp, softmax, xlogy

from course_pkg import vi
from tests.exercises import near_misses

CHAPTER = "vi/"
SHEETS = ("dirichlet-lemma", "lda-updates", "count-lda", "which-topic")


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _i(*numbers):
    return np.array(numbers)


def _psi(eta):
    return digamma(eta) - digamma(eta.sum(-1, keepdims=True))


Z, PI, B = _a([0.9, 0.1], [0.4, 0.6], [0.2, 0.8]), np.array([[1.0, 3.0]]), _a([1, 1], [2, 1])
# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "dirichlet-lemma/mean-log": [((_a(1, 3),), _a(-1.8333, -0.3333))],
    "dirichlet-lemma/guess": [((_a(1, 3),), _a(0.1824, 0.8176))],
    "lda-updates/words": [((PI, B, _i(0), _i(0)), _a([0.1192, 0.8808]))],
    "lda-updates/notes": [((Z, _i(0, 1, 0), 0.5, 2), _a([1.6, 1.4], [0.9, 1.1]))],
    "lda-updates/topics": [((Z, _i(0, 1, 0), 0.5, 3), _a([1.6, 0.9, 0.5], [1.4, 1.1, 0.5]))],
    "count-lda/shares": [((_a([1, 3], [1, 1]), B), _a([[0.1192, 0.8808], [0.2689, 0.7311]], [[0.3775, 0.6225], [0.6225, 0.3775]]))],
    "count-lda/round": [((_a([2.5, 10]), PI, B, 0.5, 1.0), (_a([3.4874, 10.0126]), _a([1.2980, 3.6894], [3.2020, 8.3106])))],
    "count-lda/term": [((_a([2.5, 10]), PI, B), -16.967)],
    "which-topic/file": [((_a([3, 2], [4, 1]), _a([0, 1], [3, 0])), _i(1, 0))],
    "which-topic/each": [((_i([0, 2], [2, 1], [1, 2], [2, 1]), _a(0.36, 0.22, 0.2, 0.22), 3), _i(2, 2))],
    "which-topic/whole": [((_i([1, 0], [0, 0], [1, 1], [0, 0]), _a(0.32, 0.2, 0.28, 0.2), 2), _i(0, 0))],
}


def _in_place(eta):
    eta /= eta.sum(-1, keepdims=True)
    return digamma(eta)


def _mean_log_in_place(eta):
    total = eta.sum(-1, keepdims=True)
    eta[:] = digamma(eta)
    return eta - digamma(total)


def _guess_in_place(eta):
    np.exp(digamma(eta), out=eta)
    return eta / eta.sum()


def _words(finish, of_note=_psi, of_word=_psi):
    return lambda pi, B, note, word: finish(of_note(pi)[note] + of_word(B).T[word])


def _soft(s):
    return softmax(s, axis=-1)


def _rows(x):
    return x / x.sum(-1, keepdims=True)


def _words_in_place(pi, B, note, word):
    pi -= 0.0
    pi *= 1.0
    pi[:] = _psi(pi)
    return _soft(pi[note] + _psi(B).T[word])


def _table(z, which, size):
    return np.stack([z[which == at].sum(0) for at in range(size)])


def _plus(prior, table):
    return prior + table


def _votes_in_place(z, note, alpha, N):
    out = alpha + _table(z, note, N)
    z /= 2
    return out


def _given(n, pi, B):
    return n[..., None] * _soft(_psi(pi)[:, None] + _psi(B).T)


def _round(n, pi, B, a, c):
    votes = _given(n, pi, B)
    return a + votes.sum(1), c + votes.sum(0).T


def _round_in_place(n, pi, B, a, c):
    votes = _given(n, pi, B)
    pi[:], B[:] = a + votes.sum(1), c + votes.sum(0).T
    return pi, B


def _repeated(n, pi, B, a, c, whole=lambda n: n.astype(int)):
    """As if the words had been written out."""
    return _round(whole(n).astype(float), pi, B, a, c)


def _fast(n, pi, B, a, c):
    """Without a table of three axes; the largest logarithm is taken off from the note's, and from the entry's."""
    p, b = _psi(pi), _psi(B)
    p, b = np.exp(p - p.max(1, keepdims=True)), np.exp(b - b.max(0))
    ratio = n / (p @ b)
    return a + p * (ratio @ b.T), c + b * (p.T @ ratio)


def _scores(pi, B):
    return _psi(pi)[:, None] + _psi(B).T


def _halves(pi, B):
    p, b = _psi(pi), _psi(B)
    return np.exp(p - p.max(1, keepdims=True))[:, None] * np.exp(b - b.max(0)).T


def _votes(n, z, a, c):
    votes = n[..., None] * z
    return a + votes.sum(1), c + votes.sum(0).T


def _emptied(n, pi, B, a, c, instead):
    new_pi, new_B = _round(n, pi, B, a, c)
    return np.where(n.sum(1, keepdims=True) > 0, new_pi, instead), new_B


def _term_of(n, p, b):
    return (n * logsumexp(p[:, None] + b.T, axis=2)).sum()


def _term(n, pi, B):
    return _term_of(n, _psi(pi), _psi(B))


def _term_by_halves(n, pi, B):
    p, b = _psi(pi), _psi(B)
    top, best = p.max(1, keepdims=True), b.max(0)
    return (n * (np.log(np.exp(p - top) @ np.exp(b - best)) + top + best)).sum()


def _typed(n, pi, B, log_z):
    """The sum as it stands on the sheet."""
    s = _scores(pi, B)
    logs = log_z(s)
    return (n[..., None] * np.exp(logs) * (s - logs)).sum()


def _term_by_hand(n, pi, B):
    p, b, total = _psi(pi), _psi(B), 0.0
    for (i, v), count in np.ndenumerate(n):
        s = p[i] + b[:, v]
        total += count * (s.max() + math.log(sum(math.exp(x - s.max()) for x in s)))
    return total


def _file(pi, C):
    return (_rows(pi) @ C).argmin(1)


def _each(states, p, K):
    return [max(range(K), key=lambda k, column=column: sum(p[column == k])) for column in states.T]


def _whole(states, p, K):
    weight = {}
    for row, one in zip(states, p, strict=True):
        weight[tuple(row)] = weight.get(tuple(row), 0.0) + one
    return max(weight, key=weight.get)


def _coded(states, p, by):
    weight, shown = {}, {}
    for row, one in zip(states, p, strict=True):
        weight[row @ by] = weight.get(row @ by, 0.0) + one
        shown[row @ by] = row
    return shown[max(weight, key=weight.get)]


def _counted(states, p, K):
    counts = (states[:, :, None] == np.arange(K)).sum(1)
    return _coded(np.c_[states, counts], p, np.r_[np.zeros(states.shape[1]), 100.0 ** np.arange(K)])[: states.shape[1]]


def _states_in_place(states, p, K):
    states.sort(axis=0)
    return _each(states, p, K)


def _whole_in_place(states, p, K):
    right = _whole(states, p, K)
    p *= 0
    return right


CHANGED = "your function changes what it was given"
ONE_THING, CUT = "Right but for one thing", "hundreds apart"
NEAR_MISSES = [
    ("dirichlet-lemma/mean-log", "in place", _mean_log_in_place, CHANGED),
    ("dirichlet-lemma/mean-log", "normalised in place", _in_place, CHANGED),
    ("dirichlet-lemma/mean-log", "mean of the rest", lambda e: digamma(e) - digamma(e.mean(-1, keepdims=True)), "Not those"),
    (
        "dirichlet-lemma/mean-log",
        "draws",
        lambda e: np.log(np.random.default_rng(0).dirichlet(e, 4000)).mean(0) if e.ndim == 1 else _psi(e) * 1.01,
        "Close",
    ),
    ("dirichlet-lemma/mean-log", "first component", lambda e: _psi(e)[..., 0], "shape"),
    ("dirichlet-lemma/guess", "in place", _guess_in_place, CHANGED),
    ("dirichlet-lemma/guess", "medians", lambda e: _rows(stats.beta.median(e, e.sum() - e)), ("Close, but not exact", "Not that")),
    ("dirichlet-lemma/guess", "halfway", lambda e: _rows(e) / 2 + softmax(digamma(e)) / 2, ("Not that", "Close, but not exact")),
    ("lda-updates/words", "0 / 0", lambda *c: _rows(np.exp(_words(lambda s: s)(*c))), "round to 0"),
    ("lda-updates/words", "plus a tiny number", lambda *c: _rows(np.exp(_words(lambda s: s)(*c)) + 1e-300), "round to 0"),
    ("lda-updates/words", "NaN to 0", lambda *c: np.nan_to_num(_rows(np.exp(_words(lambda s: s)(*c)))), "round to 0"),
    ("lda-updates/words", "scores cut off", _words(lambda s: _soft(np.maximum(s, -700))), "round to 0"),
    ("lda-updates/words", "one maximum for all words", _words(lambda s: _rows(np.exp(s - s.max()))), "Take each row's largest"),
    ("lda-updates/words", "each half by itself", lambda pi, B, d, w: _rows(_soft(_psi(pi))[d] * softmax(_psi(B), 0).T[w]), ONE_THING),
    ("lda-updates/words", "logs cut off", _words(_soft, lambda p: np.maximum(_psi(p), -50), lambda b: np.maximum(_psi(b), -50)), CUT),
    ("lda-updates/words", "raised", _words(_soft, lambda p: _psi(np.maximum(p, 0.01)), lambda b: _psi(np.maximum(b, 0.01))), CUT),
    ("lda-updates/words", "log z", _words(lambda s: s - logsumexp(s, axis=1, keepdims=True)), "That is the logarithm of it."),
    ("lda-updates/words", "in place", _words_in_place, CHANGED),
    ("lda-updates/words", "means for the topics", _words(_soft, of_word=lambda b: np.log(_rows(b))), "Not those"),
    ("lda-updates/words", "topics first", lambda *c: _words(_soft)(*c).T, "transposed"),
    ("lda-updates/words", "rounded", lambda *c: _words(_soft)(*c).round(2), "Close, but not exact"),
    ("lda-updates/notes", "in place", _votes_in_place, CHANGED),
    ("lda-updates/notes", "one for alpha", lambda z, d, a, N: 1 + _table(z, d, N), "Your answer is right for other inputs"),
    ("lda-updates/notes", "prior for empty notes only", lambda z, d, a, N: np.where((t := _table(z, d, N)) > 0, t, a), "Not those"),
    ("lda-updates/notes", "topics first", lambda z, d, a, N: (a + _table(z, d, N)).T, "transposed"),
    ("lda-updates/topics", "in place", _votes_in_place, ""),
    ("lda-updates/topics", "in place, right", lambda z, w, c, V: _votes_in_place(z, w, c, V).T, CHANGED),
    ("lda-updates/topics", "one for gamma", lambda z, w, c, V: (1 + _table(z, w, V)).T, "Your answer is right for other inputs"),
    ("lda-updates/topics", "prior for every word", lambda z, w, c, V: _table(z + c, w, V).T, "Not those"),
    ("count-lda/shares", "0 / 0", lambda pi, B: _rows(np.exp(_psi(pi)[:, None] + _psi(B).T)), "softmax"),
    (
        "count-lda/shares",
        "NaN to even",
        lambda pi, B: np.nan_to_num(_rows(np.exp(_psi(pi)[:, None] + _psi(B).T)), nan=1 / len(B)),
        "softmax",
    ),
    ("count-lda/shares", "in place", lambda pi, B: (pi.__imul__(1.1), _soft(_psi(pi / 1.1)[:, None] + _psi(B).T))[1], CHANGED),
    ("count-lda/shares", "each half by itself", lambda pi, B: _rows(_halves(pi, B)), ONE_THING),
    ("count-lda/shares", "each half a softmax", lambda pi, B: _rows(_soft(_psi(pi))[:, None] * softmax(_psi(B), 0).T), ONE_THING),
    (
        "count-lda/shares",
        "a maximum a note",
        lambda pi, B: _rows(np.exp((s := _scores(pi, B)) - s.max((1, 2), keepdims=True))),
        "softmax",
    ),
    ("count-lda/shares", "logs cut off", lambda pi, B: _soft(np.maximum(_psi(pi), -50)[:, None] + np.maximum(_psi(B), -50).T), CUT),
    ("count-lda/shares", "log z", lambda pi, B: np.log(_soft(_scores(pi, B))), "That is the logarithm of it."),
    ("count-lda/shares", "first note", lambda pi, B: _soft(_psi(pi)[:1, None] + _psi(B).T + 0 * pi[:, None]), "Not those"),
    ("count-lda/round", "in place", _round_in_place, CHANGED),
    ("count-lda/round", "each half by itself", _fast, ONE_THING),
    ("count-lda/round", "empty notes keep pi", lambda n, pi, *c: _emptied(n, pi, *c, instead=pi), "a note may be empty"),
    ("count-lda/round", "logs cut off", lambda n, pi, B, a, c: _votes(n, _soft(np.maximum(_scores(pi, B), -50)), a, c), CUT),
    ("count-lda/round", "copies", _repeated, "Not those parameters"),
    ("count-lda/round", "exchanged", lambda *c: _round(*c)[::-1], "wrong order"),
    ("count-lda/round", "gamma for both", lambda n, pi, B, a, c: _round(n, pi, B, c, c), "The notes' table is off; the rest is right."),
    ("count-lda/round", "alpha for both", lambda n, pi, B, a, c: _round(n, pi, B, a, a), "The topics' table is off; the rest is right."),
    (
        "count-lda/round",
        "0 / 0",
        lambda n, pi, B, a, c: (lambda p, b: (a + p * ((n / (p @ b)) @ b.T), c + b * (p.T @ (n / (p @ b)))))(
            np.exp(_psi(pi)), np.exp(_psi(B))
        ),
        "round to 0",
    ),
    ("count-lda/term", "log of 0", lambda n, pi, B: (n * np.log(np.exp(_psi(pi)) @ np.exp(_psi(B)))).sum(), "round to 0"),
    (
        "count-lda/term",
        "plus a tiny number",
        lambda n, pi, B: (n * np.log(np.exp(_psi(pi)) @ np.exp(_psi(B)) + 1e-300)).sum(),
        "round to 0",
    ),
    ("count-lda/term", "each half by itself", _term_by_halves, ONE_THING),
    ("count-lda/term", "z log z", lambda n, pi, B: _typed(n, pi, B, lambda s: np.log(_soft(s))), "xlogy"),
    ("count-lda/term", "z log z, 0 / 0", lambda n, pi, B: _typed(n, pi, B, lambda s: np.log(_rows(np.exp(s)))), "xlogy"),
    ("count-lda/term", "by frequencies", lambda n, *c: _term(_rows(n) * n.sum(1, keepdims=True), *c), "it adds 0"),
    ("count-lda/term", "sum over the topics", lambda n, pi, B: _term_of(n, _psi(pi), _psi(B.T).T), "Not that number"),
    ("count-lda/term", "logs cut off", lambda n, pi, B: _term_of(n, np.maximum(_psi(pi), -50), np.maximum(_psi(B), -50)), CUT),
    ("count-lda/term", "in place", lambda n, pi, B: (_term(n, pi, B), n.__imul__(2))[0], CHANGED),
    ("count-lda/term", "by note", lambda n, pi, B: (n * logsumexp(_psi(pi)[:, None] + _psi(B).T, axis=2)).sum(1), "shape"),
    ("which-topic/file", "in place", lambda pi, C: (_file(pi, C), pi.__imul__(2))[0], CHANGED),
    ("which-topic/file", "risks", lambda pi, C: _rows(pi) @ C, "shape"),
    ("which-topic/file", "costs squared", lambda pi, C: (pi @ C**2).argmin(1), "Not those"),
    ("which-topic/file", "columns by their largest", lambda pi, C: (pi / pi.max(0) @ C).argmin(1), "Not those shelves"),
    ("which-topic/file", "less one", lambda pi, C: ((pi - 1) @ C).argmin(1), "parameters less one"),
    ("which-topic/file", "less one, not below 0", lambda pi, C: (np.maximum(pi - 1, 0) @ C).argmin(1), "parameters less one"),
    ("which-topic/each", "in place", _states_in_place, ""),
    ("which-topic/each", "in place, right", lambda s, p, K: (_each(s, p, K), s.__imul__(0))[0], CHANGED),
    ("which-topic/each", "probabilities", lambda s, p, K: np.stack([p @ (s == k) for k in range(K)], 1), "shape"),
    ("which-topic/each", "first row", lambda s, p, K: s[0], "Not those"),
    ("which-topic/each", "weights squared", lambda s, p, K: _each(s, p**2, K), ""),
    ("which-topic/each", "repeats left out", lambda s, p, K: _each(*(s[(u := np.unique(s, axis=0, return_index=True)[1])], p[u]), K), ""),
    ("which-topic/each", "floor of the mean", lambda s, p, K: (p @ s).astype(int), "Not those"),
    ("which-topic/whole", "in place", _whole_in_place, CHANGED),
    ("which-topic/whole", "number of the row", lambda s, p, K: int(p.argmax()), "shape"),
    ("which-topic/whole", "first row", lambda s, p, K: s[0], "Not those"),
    ("which-topic/whole", "without repeats", lambda s, p, K: (u := np.unique(s, axis=0, return_index=True))[0][p[u[1]].argmax()], ""),
    ("which-topic/whole", "weights squared", lambda s, p, K: _whole(s, p**2, K), ""),
    ("which-topic/whole", "the row nearest to each word's", lambda s, p, K: s[(s != np.array(_each(s, p, K))).sum(1).argmin()], ""),
    ("which-topic/whole", "coded by 2 to the place", lambda s, p, K: _coded(s, p, 2 ** np.arange(s.shape[1])), "Right in the small"),
    ("which-topic/whole", "coded by the place", lambda s, p, K: _coded(s, p, 1 + np.arange(s.shape[1])), "Right in the small"),
    ("which-topic/whole", "coded by the sum", lambda s, p, K: _coded(s, p, np.ones(s.shape[1])), "Right in the small case that was worked"),
    ("which-topic/whole", "rows sorted", lambda s, p, K: _whole(np.sort(s, axis=1), p, K), "Not those topics"),
    ("which-topic/whole", "topics counted", _counted, "Right in the small case that was worked"),
    ("which-topic/whole", "nearest to the mean", lambda s, p, K: s[((s - p @ s) ** 2).sum(1).argmin()], "Not those"),
]


def _by_slope(eta):
    """The derivative of the log of the normaliser, by JAX."""
    rows = jnp.atleast_2d(jnp.asarray(eta))
    slope = jax.vmap(jax.grad(lambda e: jax.scipy.special.gammaln(e).sum() - jax.scipy.special.gammaln(e.sum())))
    return slope(rows).reshape(eta.shape)


def _single(*tables):
    return tuple(table.astype(np.float32) for table in tables)


def _pair_by_pair(n, pi, B, a, c):
    new_pi, new_B, z = np.full(pi.shape, a), np.full(B.shape, c), _soft(_scores(pi, B))
    for i, v in np.argwhere(n > 0):
        new_pi[i] += n[i, v] * z[i, v]
        new_B[:, v] += n[i, v] * z[i, v]
    return new_pi, new_B


def _loop(pi, B, note, word):
    out = []
    for d, w in zip(note, word, strict=True):
        s = [digamma(pi[d, k]) + digamma(B[k, w]) - digamma(B[k].sum()) for k in range(len(B))]
        out.append([1 / sum(math.exp(min(t - x, 700)) for t in s) for x in s])
    return out


LEGITIMATE = [
    ("dirichlet-lemma/mean-log", "slope of the normaliser", _by_slope),
    ("dirichlet-lemma/mean-log", "the package", vi.log_mean),
    ("dirichlet-lemma/mean-log", "a list", lambda e: _psi(e).tolist()),
    ("dirichlet-lemma/mean-log", "single precision", lambda e: _psi(e.astype(np.float32))),
    ("dirichlet-lemma/guess", "without the sum", lambda e: softmax(digamma(e))),
    ("dirichlet-lemma/guess", "JAX", lambda e: jax.nn.softmax(jax.scipy.special.digamma(jnp.asarray(e)))),
    ("dirichlet-lemma/guess", "geometric means", lambda e: _rows(np.exp(_psi(e)))),
    ("lda-updates/words", "a loop", _loop),
    (
        "lda-updates/words",
        "JAX",
        lambda pi, B, d, w: jax.nn.softmax(vi.log_mean(jnp.asarray(pi))[d] + vi.log_mean(jnp.asarray(B)).T[w], axis=1),
    ),
    ("lda-updates/words", "single precision", lambda pi, B, d, w: _words(_soft)(*_single(pi, B), d, w)),
    ("lda-updates/words", "no sum for the note", _words(_soft, of_note=digamma)),
    ("lda-updates/notes", "masks", lambda z, d, a, N: _plus(a, _table(z, d, N))),
    ("lda-updates/notes", "one-hot", lambda z, d, a, N: a + np.eye(N)[d].T @ z),
    ("lda-updates/notes", "JAX", lambda z, d, a, N: jnp.full((N, z.shape[1]), a).at[d].add(z)),
    ("lda-updates/notes", "a list", lambda z, d, a, N: _plus(a, _table(z, d, N)).tolist()),
    ("lda-updates/topics", "bincount", lambda z, w, c, V: c + np.stack([np.bincount(w, k, V) for k in z.T])),
    ("lda-updates/topics", "one-hot", lambda z, w, c, V: c + z.T @ np.eye(V)[w]),
    ("lda-updates/topics", "JAX", lambda z, w, c, V: jnp.full((z.shape[1], V), c).at[:, w].add(z.T)),
    ("count-lda/shares", "single precision", lambda *c: _soft(_scores(*_single(*c)))),
    ("count-lda/shares", "no sum for the note", lambda pi, B: _soft(digamma(pi)[:, None] + _psi(B).T)),
    (
        "count-lda/shares",
        "JAX",
        lambda pi, B: jax.nn.softmax(vi.log_mean(jnp.asarray(pi))[:, None] + vi.log_mean(jnp.asarray(B)).T[None], axis=2),
    ),
    ("count-lda/round", "single precision", lambda n, pi, B, *priors: _round(*_single(n, pi, B), *priors)),
    ("count-lda/round", "only what occurs", _pair_by_pair),
    ("count-lda/round", "matrix products", lambda n, pi, B, a, c: _round(n, pi, B, a, c)),
    (
        "count-lda/round",
        "without the third axis",
        lambda n, pi, B, a, c: _fast(n, pi, B, a, c) if _halves(pi, B).sum(2).min() > 0 else _round(n, pi, B, a, c),
    ),
    ("count-lda/round", "a list", lambda *c: [part.tolist() for part in _round(*c)]),
    ("count-lda/term", "logsumexp", _term),
    ("count-lda/term", "a loop", _term_by_hand),
    ("count-lda/term", "as it stands, log z from the scores", lambda *c: _typed(*c, lambda s: log_softmax(s, axis=2))),
    ("count-lda/term", "xlogy", lambda n, pi, B: (n[..., None] * ((z := _soft(s := _scores(pi, B))) * s - xlogy(z, z))).sum()),
    ("count-lda/term", "single precision", lambda *c: _term(*_single(*c))),
    ("count-lda/term", "entries of the note only", lambda n, pi, B: (n * logsumexp(_psi(pi)[:, None] + _psi(B).T, axis=2))[n > 0].sum()),
    ("which-topic/file", "parameters as they are", lambda pi, C: (pi @ C).argmin(1)),
    ("which-topic/file", "a list", lambda pi, C: _file(pi, C).tolist()),
    ("which-topic/file", "JAX", lambda pi, C: jnp.argmin(jnp.asarray(pi) @ jnp.asarray(C), axis=1)),
    ("which-topic/each", "sums", _each),
    ("which-topic/each", "JAX", lambda s, p, K: jnp.argmax(jnp.einsum("s,stk->tk", p, jax.nn.one_hot(s, K)), axis=1)),
    ("which-topic/whole", "a dictionary", _whole),
    ("which-topic/whole", "coded by K to the place", lambda s, p, K: _coded(s, p, K ** np.arange(s.shape[1]))),
    ("which-topic/whole", "pairs", lambda s, p, K: s[((s[:, None] == s).all(2) @ p).argmax()]),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, sheets=SHEETS)


def test_words_one_by_one_and_counts_take_the_same_round(solved):
    """Whole counts, written out as words: the two sheets agree, and so does the package's mean logarithm."""
    n = np.array([[2, 0, 1], [1, 3, 0]])
    note, word = (np.repeat(at, n[n > 0]) for at in np.nonzero(n))
    pi, B = np.random.default_rng(0).gamma(2.0, size=(2, 2)), np.random.default_rng(1).gamma(2.0, size=(2, 3))
    z = solved["vi/lda-updates/words"](pi, B, note, word)
    by_word = solved["vi/lda-updates/notes"](z, note, 0.3, 2), solved["vi/lda-updates/topics"](z, word, 0.2, 3)
    for one, other in zip(solved["vi/count-lda/round"](n, pi, B, 0.3, 0.2), by_word, strict=True):
        assert np.allclose(one, other, atol=1e-12)
    scores = solved["vi/dirichlet-lemma/mean-log"](pi)[note] + solved["vi/dirichlet-lemma/mean-log"](B).T[word]
    assert np.isclose(solved["vi/count-lda/term"](n, pi, B), (z * (scores - np.log(z))).sum())
