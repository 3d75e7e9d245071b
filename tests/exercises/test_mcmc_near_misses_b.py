"""Gibbs and the leapfrog: what is nearly right must not pass, what is right in another way must."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special
from scipy.stats import dirichlet, norm

from course_pkg import mcmc
from course_pkg.checks import judge
from tests.exercises import near_misses

CHAPTER = "mcmc/"
SHEETS = ("two-scans", "gibbs-normal", "gibbs-topics", "two-makers", "leapfrog")
RANDOM = "gibbs-normal/sweep"  # judged by its distribution: there is no case by hand


def _a(*numbers):
    return np.array(numbers, dtype=float)


def _i(*numbers):
    return np.array(numbers)


TABLE, LOT = _a([0.4, 0.1], [0.2, 0.3]), _a([0.5, 0.2], [0.75, 0.5])


def _fall(q):
    return -q


def _bell(q):
    return -(q @ q) / 2


class _Ride:
    """A map of phase space for one of the cases by hand; its determinant is what is said there."""

    def __init__(self, move, determinant=-9.0):
        self.move, self.determinant = move, lambda q, p: determinant

    def __call__(self, q, p):
        return self.move(q, p)


TWIST, RIDE = _Ride(lambda q, p: (3 * p, q**3 - p)), _Ride(lambda q, p: (q + p, p - q**2))
HOP = _Ride(lambda q, p: (q + p, p - 2 * q))

# What a fallback says about a small case that can be worked out by hand: the arguments, and what is said of them.
BY_HAND = {
    "two-scans/update": [
        ((TABLE, 1), _a([0.8, 0.2, 0, 0], [0.8, 0.2, 0, 0], [0, 0, 0.4, 0.6], [0, 0, 0.4, 0.6])),
        ((TABLE, 0), _a([2 / 3, 0, 1 / 3, 0], [0, 1 / 4, 0, 3 / 4], [2 / 3, 0, 1 / 3, 0], [0, 1 / 4, 0, 3 / 4])),
    ],
    "two-scans/ratio": [((TABLE, LOT, (0, 0), (1, 0)), 1.5), ((TABLE, LOT, (0, 0), (0, 1)), 1.6)],
    "two-scans/scans": [
        (([_a([1, 0], [0.5, 0.5]), _a([0, 1], [1, 0]), _a([0.5, 0.5], [0, 1])],), (np.full((2, 2), 0.5), _a([0, 1], [0.25, 0.75])))
    ],
    "two-scans/audit": [((_a(0.3, 0.3, 0.4), _a([0, 0, 1], [0.5, 0.5, 0], [0, 1, 0])), (0.25, 0.4))],
    "gibbs-normal/mu": [((_a(1, 3, 5), 2.0, -1.0, 3.0), (5 / 3, 1 / 3))],
    "gibbs-normal/gamma": [((_a(1, 3, 5), 2.0, 4.0, 2.0), (5.5, 7.5))],
    "gibbs-normal/late": [((_a(0, 2, 1), _a(1, 0.25, 1), 1.0), 0.4501)],
    "gibbs-topics/blocks": [
        ((_i(0, 1, 1), _i(0, 0, 1), _i(2, 0, 0), 0.5, 2.0, 2, 2, 3), (_a([1.5, 1.5], [0.5, 1.5]), _a([2, 2, 3], [4, 2, 2])))
    ],
    "gibbs-topics/topics": [((_a([0.5, 0.5], [0.9, 0.1]), _a([0.2, 0.8], [0.6, 0.4]), _i(0, 1), _i(0, 0)), _a([0.25, 0.75], [0.75, 0.25]))],
    "gibbs-topics/collapsed": [((0, _i(1, 1, 1, 0), _i(0, 0, 0, 1), _i(2, 2, 0, 1), 1.0, 0.5, 2, 3), _a(0.135, 0.865))],
    "gibbs-topics/sweep": [((_i(0, 0, 1), _a(0.5, 0.7, 0.3), _i(0, 0, 1), _i(0, 1, 0), 1.0, 0.5, 2, 2), _i(1, 1, 0))],
    "two-makers/maker": [((0, _i(0, 0, 1), _i(2, 1, 0), _i(2, 2, 1), 1.0, 1.0), _a(0.643, 0.357))],
    "two-makers/fails": [((_i([0, 1], [1, 1]), _i(1, 0), _i(1, 2), 1.0), _a(0.533, 0.325))],
    "leapfrog/path": [
        ((_fall, _a(1), _a(0), 0.5, 1, _a(0.5)), (_a(0.938), _a(-0.484))),
        ((_fall, _a(1), _a(0), 0.5, 2, _a(0.5)), (_a(0.758), _a(-0.908))),
    ],
    "leapfrog/volume": [((TWIST, _a(1), _a(1)), 9.0)],
    "leapfrog/way-back": [((RIDE, _a(1), _a(2)), 8.0)],
    "leapfrog/acceptance": [
        ((_bell, _a(1, 1), _a(1, 1), _a(0, 0), _a(2, 2), _a(0.5, 0.5)), 0.6065),
        ((_bell, _a(0, 0), _a(2, 2), _a(1, 1), _a(1, 1), _a(0.5, 0.5)), 1.0),
    ],
    "leapfrog/step": [
        ((_a(1), _a(1), _a(2), 0.6, 0.1, HOP, _bell), (_a(3.2), _a(0.2))),
        ((_a(1), _a(1), _a(2), 0.6, 0.2, HOP, _bell), (_a(1), _a(-2.2))),
    ],
}


def _shares(log_w):
    return np.exp(log_w - special.logsumexp(log_w))


def _by_starts(i, z, y, m, a, c, later=1):
    """Start after start, each with the mean of phi given those before it; `later` = 0 lets the mean stay as it was."""
    log_w = []
    for k in (0, 1):
        mine = np.array([j for j in range(len(z)) if j != i and z[j] == k], dtype=int)
        bad, good, total = y[mine].sum(), (m - y)[mine].sum(), np.log(a + len(mine))
        for number in range(m[i]):
            failed = number < y[i]
            total += np.log((c + (bad if failed else good)) / (2 * c + bad + good))
            bad, good = bad + later * failed, good + later * (not failed)
        log_w.append(total)
    return _shares(np.array(log_w))


def _in_share_only(i, z, y, m, a, c):
    """The winch stays among those that make up the share."""
    others = np.arange(len(z)) != i
    n, bad, good = np.bincount(z, minlength=2), *(np.bincount(z[others], x[others], 2) for x in (y, m - y))
    return _shares(np.log(a + n) + special.betaln(c + bad + y[i], c + good + m[i] - y[i]) - special.betaln(c + bad, c + good))


def _by_draws(i, z, y, m, a, c):
    """The means of the likelihood over 500 draws of each phi."""
    rng, others = np.random.default_rng(0), np.arange(len(z)) != i
    n, bad, good = (np.bincount(z[others], x[others], 2) for x in (z * 0 + 1, y, m - y))
    phi = rng.beta(c + bad, c + good, (500, 2))
    w = (a + n) * (phi ** y[i] * (1 - phi) ** (m[i] - y[i])).mean(axis=0)
    return w / w.sum()


def _each_sweep(zs, y, m, c):
    one = np.eye(2)[zs]  # sweep, winch, maker
    bad, starts = np.einsum("snk,n->sk", one, y), np.einsum("snk,n->sk", one, m)
    return np.einsum("snk,sk->sn", one, (c + bad) / (2 * c + starts))


def _lazy(table, part):
    return (_by_loops(table, part) + np.eye(table.size)) / 2


def _by_loops(table, part):
    A, B = table.shape
    P = np.zeros((A * B, A * B))
    for u in range(A):
        for v in range(B):
            if part == 0:
                for s in range(A):
                    P[B * u + v, B * s + v] = table[s, v] / sum(table[:, v])
            else:
                for t in range(B):
                    P[B * u + v, B * u + t] = table[u, t] / sum(table[u])
    return P


def _by_mask(table, part):
    """Keep from a matrix whose rows are all pi what the standing part allows, and make its rows sum to one again."""
    stands = np.indices(table.shape)[1 - part].ravel()
    P = jnp.where(stands[:, None] == stands, np.tile(table.ravel(), (table.size, 1)), 0)
    return P / P.sum(axis=1, keepdims=True)


def _by_kron(table, part):
    A, B = table.shape
    if part == 0:
        return sum(np.kron(np.tile(table[:, v] / table[:, v].sum(), (A, 1)), np.diag(np.eye(B)[v])) for v in range(B))
    return sum(np.kron(np.diag(np.eye(A)[u]), np.tile(table[u] / table[u].sum(), (B, 1))) for u in range(A))


def _whole(table, lot, old, new, up=lambda q: q):
    """The ratio written out with pi and both proposals."""

    def propose(x, y):
        turn = lot[x] if x[0] != y[0] else 1 - lot[x]
        return turn * table[y] / (table[:, y[1]].sum() if x[0] != y[0] else table[y[0]].sum())

    return table[new] * propose(new, old) / (table[old] * propose(old, new))


def _draws(key, n, a):
    first, second = jax.random.split(key)
    return jax.random.normal(first, (n,)), jax.random.gamma(second, a, (n,))


def _conditional(mu, gamma, x, m, tau):
    total = tau + len(x) * gamma
    return (tau * m + gamma * x.sum()) / total, total**-0.5


def _sweep(key, mu, gamma, x, m, tau, alpha, beta, *, extra=0.0, half=2, use=None, of=None, factor=1.0, shift=0):
    """A right sweep with a knob or two turned."""
    e, f = _draws(key, len(mu), alpha + extra + len(x) / half)
    used = gamma if use is None else use(gamma)
    centre, spread = _conditional(mu, used, x, m, tau)
    mu = centre + factor * spread * np.asarray(e)
    seen = np.roll(mu, shift) if of is None else of(mu, x)
    rate = beta + ((x - np.asarray(seen)[:, None]) ** 2).sum(axis=1) / 2
    return mu, np.asarray(f) / rate


def _sweep_numpy(key, mu, gamma, x, m, tau, alpha, beta):
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    centre, spread = _conditional(mu, gamma, x, m, tau)
    mu = rng.normal(centre, spread)
    return mu, rng.gamma(alpha + len(x) / 2, 1 / (beta + 0.5 * ((x[:, None] - mu) ** 2).sum(axis=0)))


def _sweep_by_vmap(key, mu, gamma, x, m, tau, alpha, beta):
    def one(key, gamma):
        first, second = jax.random.split(key)
        total = tau + len(x) * gamma
        new = (tau * m + gamma * x.sum()) / total + jax.random.normal(first) / jnp.sqrt(total)
        return new, jax.random.gamma(second, alpha + len(x) / 2) / (beta + 0.5 * jnp.sum((x - new) ** 2))

    return jax.vmap(one)(jax.random.split(key, len(mu)), jnp.asarray(gamma))


def _sweep_with(keys):
    """Normal and gamma of keys that are made, or not, of the one that is given."""

    def answer(key, mu, gamma, x, m, tau, alpha, beta):
        first, second = keys(key)
        centre, spread = _conditional(mu, gamma, x, m, tau)
        mu = centre + spread * np.asarray(jax.random.normal(first, mu.shape))
        rate = beta + ((x - mu[:, None]) ** 2).sum(axis=1) / 2
        return mu, np.asarray(jax.random.gamma(second, alpha + len(x) / 2, mu.shape)) / rate

    return answer


def _sweep_fixed(key, *rest):
    return _sweep_numpy(jax.random.key(7), *rest)


def _sweep_keyless(key, mu, gamma, *rest):
    got = _sweep_numpy(jax.random.fold_in(key, np.random.default_rng().integers(2**31)), mu, gamma, *rest)
    return list(got)


def _sweep_antithetic(key, mu, gamma, *rest):
    """Every other chain gets the noise of its neighbour, turned round."""
    e, f = _draws(key, len(mu), rest[3] + len(rest[0]) / 2)
    e = np.asarray(e)
    e = np.where(np.arange(len(e)) % 2, -np.roll(e, 1), e)
    centre, spread = _conditional(mu, gamma, *rest[:3])
    new = centre + spread * e
    return new, np.asarray(f) / (rest[4] + ((rest[0] - new[:, None]) ** 2).sum(axis=1) / 2)


def _counts(z, notes, words, D, K, V):
    n, m = np.zeros((D, K)), np.zeros((K, V))
    for k, d, v in zip(z, notes, words, strict=True):
        n[d, k] += 1
        m[k, v] += 1
    return n, m


def _blocks_one_hot(z, notes, words, a, c, D, K, V):
    of = jax.nn.one_hot(jnp.asarray(z), K)
    return a + jax.nn.one_hot(jnp.asarray(notes), D).T @ of, c + of.T @ jax.nn.one_hot(jnp.asarray(words), V)


def _topics_loop(theta, phi, notes, words):
    out = []
    for d, v in zip(notes, words, strict=True):
        row = [theta[d][k] * phi[k][v] for k in range(len(phi))]
        out.append([x / sum(row) for x in row])
    return out


def _col(change, normalised=True):
    """Collapsed chances from ``change(n, m, total, a, c, K, V)``, with the word taken out."""

    def answer(i, z, notes, words, a, c, K, V):
        keep = np.arange(len(z)) != i
        n = np.array([np.sum(keep & (notes == notes[i]) & (z == k)) for k in range(K)])
        m = np.array([np.sum(keep & (words == words[i]) & (z == k)) for k in range(K)])
        total = np.array([np.sum(keep & (z == k)) for k in range(K)])
        w = change(n, m, total, a, c, K, V)
        return w / w.sum() if normalised else w

    return answer


RIGHT = _col(lambda n, m, total, a, c, K, V: (a + n) * (c + m) / (V * c + total))


def _collapsed_by_counts(i, z, notes, words, a, c, K, V):
    n, m = _counts(z, notes, words, max(notes) + 1, K, V)
    n[notes[i], z[i]] -= 1
    m[z[i], words[i]] -= 1
    theta = (a + n[notes[i]]) / (K * a + n[notes[i]].sum())
    p = theta * (c + m[:, words[i]]) / (V * c + m.sum(axis=1))
    return [float(x) for x in p / p.sum()]


def _collapsed_by_gamma(i, z, notes, words, a, c, K, V):
    log_p = []
    for k in range(K):
        y = np.where(np.arange(len(z)) == i, k, z)
        n, m = _counts(y, notes, words, max(notes) + 1, K, V)
        log_p.append(special.gammaln(a + n).sum() + special.gammaln(c + m).sum() - special.gammaln(V * c + m.sum(axis=1)).sum())
    return special.softmax(log_p)


def _collapsed_jax(i, z, notes, words, a, c, K, V):
    others = jax.nn.one_hot(jnp.asarray(z), K).at[i].set(0.0)
    n, m = others[jnp.asarray(notes) == notes[i]].sum(axis=0), others[jnp.asarray(words) == words[i]].sum(axis=0)
    return jax.nn.softmax(jnp.log(a + n) + jnp.log(c + m) - jnp.log(V * c + others.sum(axis=0)))


def _go(chances=RIGHT, order=lambda N: range(N), pick=lambda p, u: int(np.searchsorted(np.cumsum(p), u, side="right"))):
    def answer(z, noise, *corpus):
        z = list(z)
        for i in order(len(z)):
            z[i] = min(pick(chances(i, np.array(z), *corpus), noise[i]), corpus[-2] - 1)
        return z

    return answer


def _sweep_jax(z, noise, *corpus):
    z = jnp.asarray(z)
    for i in range(len(noise)):
        p = _collapsed_jax(i, np.asarray(z), *corpus)
        z = z.at[i].set(jnp.argmax(jnp.cumsum(p) > noise[i]))
    return z


def _rolled(first=0.5, last=0.5, drift=1.0, mass=lambda M_inv: M_inv, wrap=lambda q, p: (q, p)):
    def answer(slope, q, p, h, steps, M_inv):
        for _ in range(steps):
            p = p + first * h * slope(q)
            q = q + drift * h * mass(M_inv) * p
            p = p + last * h * slope(q)
        return wrap(q, p)

    return answer


def _merged(slope, q, p, h, steps, M_inv):
    p = p + h / 2 * slope(q)
    for k in range(steps):
        q = q + h * M_inv * p
        p = p + (h if k < steps - 1 else h / 2) * slope(q)
    return [q, p]


def _by_recursion(slope, q, p, h, steps, M_inv):
    return (q, p) if steps == 0 else _by_recursion(slope, *_rolled()(slope, q, p, h, 1, M_inv), h, steps - 1, M_inv)


def _in_jax(slope, q, p, h, steps, M_inv):
    body = lambda _, x: _rolled()(slope, *x, h, 1, jnp.asarray(M_inv))
    return jax.lax.fori_loop(0, steps, body, (jnp.asarray(q), jnp.asarray(p)))


def _end(path, x):
    d = len(x) // 2
    return np.concatenate([np.asarray(part) for part in path(x[:d], x[d:])])


def _volume(path, q, p, step=1e-5, two_sided=True, gather=lambda J: abs(np.linalg.det(J))):
    x = np.concatenate([q, p])
    base = _end(path, x)
    ends = [(_end(path, x + n) - (_end(path, x - n) if two_sided else base)) for n in step * np.eye(len(x))]
    return gather(np.array(ends) / (2 * step if two_sided else step))


def _volume_jax(path, q, p):
    flat = lambda x: jnp.concatenate(path(x[: len(q)], x[len(q) :]))
    return jnp.abs(jnp.linalg.det(jax.jacobian(flat)(jnp.concatenate([jnp.asarray(q), jnp.asarray(p)]))))


def _volume_by_logs(path, q, p):
    return _volume(path, q, p, gather=lambda J: np.exp(np.linalg.slogdet(J)[1]))


def _back(path, q, p, gather=lambda x: np.abs(x).max()):
    far, speed = path(q, p)
    back, turned = path(far, -speed)
    return gather(np.concatenate([back - q, turned + p]))


def _back_by_a_flip(path, q, p):
    flip = lambda x: (x[0], -x[1])
    there = flip(path(*flip(path(q, p))))
    return float(max(jnp.abs(jnp.asarray(there[0]) - q).max(), jnp.abs(jnp.asarray(there[1]) - p).max()))


def _alpha(kinetic=lambda p, M_inv: (M_inv * p * p).sum() / 2, rule=lambda lost: min(1.0, math.exp(lost))):
    def answer(log_density, q, p, q_new, p_new, M_inv):
        return rule(float(log_density(q_new) - log_density(q) + kinetic(p, M_inv) - kinetic(p_new, M_inv)))

    return answer


def _alpha_by_norm(log_density, q, p, q_new, p_new, M_inv):
    sd = M_inv**-0.5
    return min(1, np.exp(log_density(q_new) - log_density(q)) * np.prod(norm.pdf(p_new, 0, sd) / norm.pdf(p, 0, sd)))


def _alpha_jax(log_density, q, p, q_new, p_new, M_inv):
    H = lambda q, p: -log_density(q) + 0.5 * jnp.asarray(p) @ (jnp.asarray(M_inv) * p)
    return jnp.minimum(1.0, jnp.exp(H(q, p) - H(q_new, p_new)))


def _stepped(q, p, noise, keep, u, path, log_density, *, end=lambda q, p: (q, -p), kick=None, rule=None, taken=lambda q, p: (q, p)):
    kicked = keep * p + (1 - keep * keep) ** 0.5 * noise if kick is None else kick(p, noise, keep)
    q_new, p_new = path(q, kicked)
    lost = log_density(q_new) - 0.5 * (p_new**2).sum() - log_density(q) + 0.5 * (kicked**2).sum()
    passes = u < min(1.0, math.exp(lost)) if rule is None else rule(u, lost)
    return taken(q_new, p_new) if passes else end(q, kicked)


def _with(**knobs):
    return lambda *case: _stepped(*case, **knobs)


def _step_jax(q, p, noise, keep, u, path, log_density):
    p = keep * jnp.asarray(p) + jnp.sqrt(1 - keep**2) * noise
    q_new, p_new = path(jnp.asarray(q), p)
    alpha = jnp.exp(log_density(q_new) - p_new @ p_new / 2 - log_density(q) + p @ p / 2)
    return jnp.where(u < alpha, q_new, q), jnp.where(u < alpha, p_new, -p)


def _step_by_the_package(q, p, noise, keep, u, path, log_density):
    """The abstract kernel's ends, with the coin that is handed over."""
    x = {"q": q, "p": keep * p + np.sqrt(1 - keep**2) * noise}
    log_joint = lambda x: log_density(x["q"]) - x["p"] @ x["p"] / 2
    kernel = mcmc.abstract_hmc(log_joint, lambda x: dict(zip("qp", path(x["q"], x["p"]), strict=True)), lambda x: {**x, "p": -x["p"]})
    state, info = kernel.step(jax.random.key(0), kernel.init(x))
    to = path(x["q"], x["p"]) if u < float(info.acceptance_rate) else (x["q"], -x["p"])
    return to if state is not None else None


def _sweep_in_place(z, noise, *corpus):
    for i, u in enumerate(noise):
        z[i] = np.searchsorted(np.cumsum(RIGHT(i, z, *corpus)), u, side="right")
    return z


def _collapsed_in_place(i, z, *corpus):
    got = RIGHT(i, z, *corpus)
    z[i] = -1
    return got


def _blocks_without_minlength(z, notes, words, a, c, D, K, V):
    theta, phi = np.full((D, K), a), np.full((K, V), c)
    for d in range(D):
        theta[d] += np.bincount(z[notes == d])
    for k in range(K):
        phi[k] += np.bincount(words[z == k], minlength=V)
    return theta, phi


def _blocks_sized(seen, z, notes, words, a, c, *sizes):
    of_data = (notes.max() + 1, z.max() + 1, words.max() + 1)
    n, m = _counts(z, notes, words, *(x if one else size for one, x, size in zip(seen, of_data, sizes, strict=True)))
    return a + n, c + m


def _in_order(z, noise, notes, *rest):
    """Word by word in the order of the notes, each with its own noise."""
    z = z.copy()
    for i in np.argsort(notes, kind="stable"):
        z[i] = np.searchsorted(np.cumsum(RIGHT(i, z, notes, *rest)), noise[i], side="right")
    return z


def _volume_single(path, q, p):
    x, d = jnp.concatenate([jnp.asarray(q), jnp.asarray(p)]), len(q)
    end = lambda x: jnp.concatenate(path(x[:d], x[d:]))
    return abs(jnp.linalg.det(jnp.stack([end(x + e) - end(x - e) for e in 1e-5 * jnp.eye(2 * d)]) / 2e-5))


def _update_in_place(table, part):
    table /= table.sum(axis=part, keepdims=True)
    A, B = table.shape
    P = np.zeros((A, B, A, B))
    for u, v in np.ndindex(A, B):
        if part == 0:
            P[u, v, :, v] = table[:, v]
        else:
            P[u, v, u] = table[u]
    return P.reshape(A * B, A * B)


def _scans_in_place(updates, product_first=True):
    systematic = np.linalg.multi_dot(updates)
    random = updates[0]
    for P in updates[1:]:
        random += P
    return random / len(updates), systematic if product_first else np.linalg.multi_dot(updates)


def _path_in_place(slope, q, p, h, steps, M_inv):
    for _ in range(steps):
        p += h / 2 * slope(q)
        q += h * M_inv * p
        p += h / 2 * slope(q)
    return q, p


def _path_half_kicks_between(slope, q, p, h, steps, M_inv):
    p = p + h / 2 * slope(q)
    for _ in range(steps):
        q = q + h * M_inv * p
        p = p + h / 2 * slope(q)
    return q, p


def _step_in_place(q, p, noise, keep, u, path, log_density):
    p *= keep
    p += (1 - keep**2) ** 0.5 * noise
    return _stepped(q, p, noise, 1.0, u, path, log_density)


def _refused_end(q, p, noise, keep, u, path, log_density, sign=1):
    end = sign * path(q, keep * p + (1 - keep**2) ** 0.5 * noise)[1]
    return _stepped(q, p, noise, keep, u, path, log_density, end=lambda q, _: (q, end))


def _alpha_by_exponentials(log_density, q, p, q_new, p_new, M_inv):
    there = np.exp(log_density(q_new)) * np.exp(-0.5 * M_inv @ p_new**2)
    return min(1, there / (np.exp(log_density(q)) * np.exp(-0.5 * M_inv @ p**2)))


def _back_turned(path, q, p, home=-1):
    far, speed = path(q, p)
    back, turned = path(-far, -speed)
    return max(np.abs(home * back - q).max(), np.abs(-turned - p).max())


def _mu_shifted(x, g, m, t):
    x -= m
    return m + g * x.sum() / (t + len(x) * g), (t + len(x) * g) ** -0.5


def _sweep_into_its_arguments(key, mu, gamma, *data):
    mu[:], gamma[:] = _sweep(key, mu, gamma, *data)
    return mu, gamma


LEFT = "Leave arguments as they are"
NEAR_MISSES = [
    ("two-makers/maker", "in the share only", _in_share_only, "Not those probabilities."),
    ("two-makers/maker", "phi drawn", _by_draws, ""),
    ("two-makers/maker", "maker 1 alone", lambda *case: _by_starts(*case)[1], "have shape (2,)"),
    ("two-makers/maker", "maker 1 first", lambda *case: _by_starts(*case)[::-1], "That is one minus it."),
    ("two-makers/maker", "two digits", lambda *case: np.round(_by_starts(*case), 2), ""),
    ("two-makers/fails", "every sweep", _each_sweep, "Expected your answer to have shape"),
    ("two-makers/fails", "median", lambda *case: np.median(_each_sweep(*case), axis=0), "Right in the small case that was worked"),
    ("two-makers/fails", "sum", lambda *case: _each_sweep(*case).sum(axis=0), "Off by how many there are"),
    ("two-makers/fails", "rounded", lambda *case: np.round(_each_sweep(*case).mean(axis=0), 2), ""),
    ("two-scans/update", "in place", _update_in_place, "`table` is not what it was"),
    ("two-scans/scans", "in place after the product", _scans_in_place, "The right numbers, but afterwards `updates` is not"),
    ("two-scans/scans", "in place before the product", lambda U: _scans_in_place(U, False), "Afterwards `updates` is not"),
    ("two-scans/audit", "no drift", lambda pi, P: (0.0, np.abs(pi[:, None] * P - (pi[:, None] * P).T).max()), "The drift is off; the"),
    ("gibbs-normal/mu", "in place", _mu_shifted, LEFT),
    (
        "gibbs-normal/mu",
        "root of the precision",
        lambda x, g, m, t: (_conditional(0, g, x, m, t)[0], (t + len(x) * g) ** 0.5),
        "The standard",
    ),
    (RANDOM, "in place", _sweep_into_its_arguments, "`mu` and `gamma` are not what they were"),
    (
        "gibbs-normal/late",
        "sample variance",
        lambda mu, g, at: norm.sf(at, mu.mean(), (mu.var(ddof=1) + (1 / g).mean()) ** 0.5),
        "Not that chance",
    ),
    (
        "gibbs-normal/late",
        "one delay a draw",
        lambda mu, g, at: np.mean(np.random.default_rng(1).normal(mu, g**-0.5) > at),
        "No random number is needed",
    ),
    (
        "gibbs-topics/blocks",
        "sizes from the data",
        lambda z, d, w, a, c, *_: tuple(
            b + n for b, n in zip((a, c), _counts(z, d, w, d.max() + 1, z.max() + 1, w.max() + 1), strict=True)
        ),
        "Right as long as",
    ),
    *(
        (
            "gibbs-topics/blocks",
            f"{what} from the data",
            lambda z, d, w, a, c, *s, o=o: _blocks_sized(o, z, d, w, a, c, *s),
            "Right as long as",
        )
        for what, o in (("notes", (1, 0, 0)), ("topics", (0, 1, 0)), ("entries", (0, 0, 1)))
    ),
    (
        "gibbs-topics/collapsed",
        "K from the data",
        lambda i, z, d, w, a, c, K, V: RIGHT(i, z, d, w, a, c, z.max() + 1, V),
        "Right as long as",
    ),
    (
        "gibbs-topics/collapsed",
        "V from the data",
        lambda i, z, d, w, a, c, K, V: RIGHT(i, z, d, w, a, c, K, w.max() + 1),
        "Right as long as",
    ),
    ("gibbs-topics/collapsed", "in place", _collapsed_in_place, "`z` is not what it was"),
    ("gibbs-topics/collapsed", "no a", _col(lambda n, m, t, a, c, K, V: n * (c + m) / (V * c + t)), "Your answer is right"),
    ("gibbs-topics/sweep", "in place", _sweep_in_place, "`z` is not what it was"),
    ("gibbs-topics/sweep", "floats", lambda *case: np.array(_go()(*case), dtype=float), "integers"),
    ("gibbs-topics/sweep", "note by note", lambda z, u, d, *rest: _in_order(z, u, d, *rest), "Right in the small case that was worked"),
    ("leapfrog/path", "in place", _path_in_place, "`q` and `p` are not what they were"),
    ("leapfrog/path", "half kicks between", _path_half_kicks_between, "Not that path"),
    ("leapfrog/volume", "coarse", lambda *case: _volume(*case, step=0.1), "too coarse a step"),
    ("leapfrog/volume", "half as coarse", lambda *case: _volume(*case, step=0.07), "too coarse a step"),
    ("leapfrog/volume", "too fine", lambda *case: _volume(*case, step=1e-14), ""),
    ("leapfrog/volume", "single precision", _volume_single, ""),
    ("leapfrog/way-back", "position turned", _back_turned, "You turned the position"),
    ("leapfrog/acceptance", "ratio of exponentials", _alpha_by_exponentials, "0/0 where log pi is -800"),
    ("leapfrog/acceptance", "exponent at most one", _alpha(rule=lambda lost: math.exp(min(1.0, lost))), "Not that probability"),
    ("leapfrog/step", "in place", _step_in_place, "`p` is not what it was"),
    ("leapfrog/step", "the refused end's momentum", _refused_end, "The momentum is off; the rest is right"),
    ("leapfrog/step", "the refused end's, turned", lambda *case: _refused_end(*case, sign=-1), "The momentum is off; the rest is right"),
    ("two-scans/update", "lazy", _lazy, "Not that kernel"),
    ("two-scans/update", "the whole row", lambda t, part: _by_loops(t, part)[0], "shape (6, 6)"),
    ("two-scans/update", "the conditional", lambda t, part: t / t.sum(axis=part, keepdims=True), "shape (6, 6)"),
    ("two-scans/update", "twice two states", lambda t, part: np.eye(4), "shape (6, 6)"),
    ("two-scans/update", "pi and P", lambda t, part: (t.ravel(), _by_loops(t, part)), "(6, 6)"),
    ("two-scans/update", "rounded", lambda t, part: _by_loops(t, part).round(2), "Close, but not exact"),
    ("two-scans/update", "always u", lambda t, part: _by_loops(t, 0), "Your answer is right for other inputs"),
    ("two-scans/update", "always v", lambda t, part: _by_loops(t, 1), "Your answer is right for other inputs"),
    ("two-scans/ratio", "a difference", lambda t, lot, x, y: lot[y] - lot[x], "Not that ratio"),
    ("two-scans/ratio", "squared", lambda t, lot, x, y: _whole(t, lot, x, y) ** 2, "That is its square."),
    ("two-scans/ratio", "a matrix", lambda t, lot, x, y: lot / lot[x], "to be one number"),
    ("two-scans/scans", "half of two", lambda U: ((U[0] + U[1]) / 2, U[0] @ U[1]), "Not those scans"),
    (
        "two-scans/scans",
        "products averaged",
        lambda U: (np.mean(U, axis=0), np.mean([P @ P for P in U], axis=0)),
        "The systematic scan is off",
    ),
    (
        "two-scans/scans",
        "with rests",
        lambda U: ((np.mean(U, axis=0) + np.eye(len(U[0]))) / 2, np.linalg.multi_dot(U)),
        "The random scan is off",
    ),
    ("two-scans/scans", "the sweep alone", lambda U: np.linalg.multi_dot(U), "tuple of 2"),
    ("two-scans/audit", "drift alone", lambda pi, P: np.abs(pi @ P - pi).max(), "tuple of 2"),
    (
        "two-scans/audit",
        "half the sum",
        lambda pi, P: (np.abs(pi @ P - pi).sum() / 2, np.abs(pi[:, None] * P - (pi[:, None] * P).T).max()),
        "The drift is off; the",
    ),
    ("two-scans/audit", "first row", lambda pi, P: (np.abs(pi @ P - pi).max(), np.abs(pi[0] * P[0] - pi * P[:, 0]).max()), "imbalance"),
    ("two-scans/audit", "arrays", lambda pi, P: (pi @ P - pi, pi[:, None] * P - (pi[:, None] * P).T), "to be one number"),
    ("gibbs-normal/mu", "average of both", lambda x, g, m, t: ((m + x.mean()) / 2, (t + len(x) * g) ** -0.5), "The centre is off"),
    ("gibbs-normal/mu", "centre alone", lambda x, g, m, t: (t * m + g * x.sum()) / (t + len(x) * g), "tuple of 2"),
    (
        "gibbs-normal/mu",
        "one fewer",
        lambda x, g, m, t: ((t * m + g * x.sum()) / (t + len(x) * g), (t + (len(x) - 1) * g) ** -0.5),
        "The standard deviation is off",
    ),
    (
        "gibbs-normal/mu",
        "exchanged",
        lambda x, g, m, t: ((t + len(x) * g) ** -0.5, (t * m + g * x.sum()) / (t + len(x) * g)),
        "in the wrong order",
    ),
    ("gibbs-normal/gamma", "shape alone", lambda x, mu, a, b: a + len(x) / 2, "tuple of 2"),
    ("gibbs-normal/gamma", "integer division", lambda x, mu, a, b: (a + len(x) // 2, b + ((x - mu) ** 2).sum() / 2), "The shape is off"),
    ("gibbs-normal/gamma", "rounded off", lambda x, mu, a, b: (a + len(x) / 2, round(b + ((x - mu) ** 2).sum() / 2)), "The rate is off"),
    (RANDOM, "shape of n", lambda *case: _sweep(*case, half=1), "gamma does not"),
    (RANDOM, "one too many", lambda *case: _sweep(*case, extra=1.0), "gamma does not"),
    (RANDOM, "around the sample mean", lambda *case: _sweep(*case, of=lambda mu, x: 0 * mu + x.mean()), "gamma does not"),
    (RANDOM, "another chain's mu", lambda *case: _sweep(*case, shift=1), ""),
    (RANDOM, "mean of gamma", lambda *case: _sweep(*case, use=lambda g: 0 * g + g.mean()), ""),
    (RANDOM, "another chain's gamma", lambda *case: _sweep(*case, use=lambda g: np.roll(g, 1)), ""),
    (RANDOM, "a tenth too wide", lambda *case: _sweep(*case, factor=1.1), "mu does not"),
    (RANDOM, "centre alone", lambda *case: _sweep(*case, factor=0.0), "same noise for mu"),
    (RANDOM, "no key", _sweep_keyless, "same key gave two"),
    (RANDOM, "one key for all", _sweep_fixed, "whatever the key is"),
    (RANDOM, "one key twice", _sweep_with(lambda key: (key, key)), "children only"),
    (RANDOM, "one child twice", _sweep_with(lambda key: [jax.random.split(key)[0]] * 2), "children only"),
    (RANDOM, "parent and child", _sweep_with(lambda key: (key, jax.random.split(key)[1])), "children only"),
    (RANDOM, "antithetic", _sweep_antithetic, "depends on the other"),
    (RANDOM, "mu alone", lambda *case: _sweep(*case)[0], "tuple of 2"),
    (RANDOM, "one chain", lambda *case: tuple(float(part[0]) for part in _sweep(*case)), "shape"),
    (RANDOM, "stands still", lambda k, mu, g, *rest: (mu, g), "follows its conditional"),
    ("gibbs-normal/late", "two-sided", lambda mu, g, at: 2 * np.mean(norm.sf(at, mu, g**-0.5)), "Not that chance"),
    (
        "gibbs-normal/late",
        "simulated",
        lambda mu, g, at: np.mean(np.random.default_rng(0).normal(mu, g**-0.5, (200_000, len(mu))) > at),
        "Close",
    ),
    ("gibbs-topics/blocks", "theta alone", lambda z, d, w, a, c, *s: a + _counts(z, d, w, *s)[0], "tuple of 2"),
    (
        "gibbs-topics/blocks",
        "phi turned",
        lambda z, d, w, a, c, *s: (a + _counts(z, d, w, *s)[0], (c + _counts(z, d, w, *s)[1]).T),
        "The table for phi is off; the rest is right. The table is transposed",
    ),
    ("gibbs-topics/blocks", "a for both", lambda z, d, w, a, c, *s: tuple(a + part for part in _counts(z, d, w, *s)), "phi"),
    ("gibbs-topics/blocks", "c for both", lambda z, d, w, a, c, *s: tuple(c + part for part in _counts(z, d, w, *s)), "theta"),
    (
        "gibbs-topics/blocks",
        "one in theta",
        lambda z, d, w, a, c, *s: (a + 1 + _counts(z, d, w, *s)[0], c + _counts(z, d, w, *s)[1]),
        "theta",
    ),
    ("gibbs-topics/topics", "squared", lambda t, f, d, w: (x := (t[d] * f[:, w].T) ** 2) / x.sum(1, keepdims=True), "Not those"),
    (
        "gibbs-topics/topics",
        "theta twice",
        lambda t, f, d, w: (x := t[d] ** 2 * f[:, w].T) / x.sum(1, keepdims=True),
        "Your answer is right",
    ),
    ("gibbs-topics/topics", "turned", lambda t, f, d, w: _a(*_topics_loop(t, f, d, w)).T, "The table is transposed."),
    ("gibbs-topics/topics", "one word", lambda t, f, d, w: _topics_loop(t, f, d, w)[0], "shape"),
    (
        "gibbs-topics/collapsed",
        "note's sum below",
        _col(lambda n, m, t, a, c, K, V: (a + n) / (K * a + t) * (c + m) / (V * c + t)),
        "Not those",
    ),
    ("gibbs-topics/collapsed", "V for V c", _col(lambda n, m, t, a, c, K, V: (a + n) * (c + m) / (V + t)), "Not those"),
    ("gibbs-topics/collapsed", "one for c", _col(lambda n, m, t, a, c, K, V: (a + n) * (1 + m) / (V + t)), "Your answer is right"),
    ("gibbs-topics/collapsed", "a over K", _col(lambda n, m, t, a, c, K, V: (a / K + n) * (c + m) / (V * c + t)), "Not those"),
    (
        "gibbs-topics/collapsed",
        "a exponent",
        _col(lambda n, m, t, a, c, K, V: np.abs(a - 1 + n) * (c + m) / (V * c + t)),
        ("Your answer is right", "Not those"),
    ),
    ("gibbs-topics/collapsed", "logarithms", lambda *case: np.log(RIGHT(*case)), "That is the logarithm of it."),
    ("gibbs-topics/collapsed", "a topic", lambda *case: int(np.argmax(RIGHT(*case))), "shape"),
    ("gibbs-topics/sweep", "every other", _go(order=lambda N: range(0, N, 2)), "Not those topics"),
    ("gibbs-topics/sweep", "twice", lambda *case: _go()(_go()(*case), *case[1:]), "Not those topics"),
    ("gibbs-topics/sweep", "but the last", _go(order=lambda N: range(N - 1)), "Not those topics"),
    ("gibbs-topics/sweep", "but the first", _go(order=lambda N: range(1, N)), "Not those topics"),
    ("gibbs-topics/sweep", "one topic", lambda *case: _go()(*case)[0], "shape"),
    ("leapfrog/path", "position alone", lambda *case: _rolled()(*case)[0], "2 values"),
    ("leapfrog/path", "velocity", lambda *case: (_rolled()(*case)[0], case[-1] * _rolled()(*case)[1]), "The momentum is off"),
    ("leapfrog/path", "backwards in time", lambda s, q, p, h, *rest: _rolled()(s, q, p, -h, *rest), "Your answer is right"),
    ("leapfrog/path", "mass squared", _rolled(mass=lambda M: M**2), "Your answer is right for other inputs"),
    ("leapfrog/volume", "large nudges", lambda *case: _volume(*case, step=0.3), ""),
    ("leapfrog/volume", "root", lambda *case: _volume(*case) ** 0.5, "That is its square root."),
    ("leapfrog/volume", "longest axis", lambda *case: _volume(*case, gather=lambda J: np.linalg.norm(J, 2)), "Not that factor"),
    ("leapfrog/volume", "derivative", lambda *case: _volume(*case, gather=lambda J: J), "to be one number"),
    ("leapfrog/volume", "negated", lambda *case: -_volume(*case), "The sign is turned round."),
    ("leapfrog/way-back", "turned at both ends", lambda path, q, p: _back(path, q, -p), "Your answer is right for other inputs"),
    ("leapfrog/way-back", "halved", lambda *case: _back(*case) / 2, "Not that difference"),
    ("leapfrog/way-back", "all coordinates", lambda *case: _back(*case, gather=np.abs), "to be one number"),
    ("leapfrog/acceptance", "squared", _alpha(rule=lambda lost: min(1.0, math.exp(2 * lost))), "That is its square."),
    ("leapfrog/acceptance", "size", _alpha(rule=lambda lost: math.exp(-abs(lost))), "Not that probability"),
    ("leapfrog/acceptance", "linear", _alpha(rule=lambda lost: min(1.0, max(0.0, 1 + lost))), "Not that probability"),
    ("leapfrog/acceptance", "root of the mass", _alpha(kinetic=lambda p, M: (M**0.5 * p**2).sum() / 2), "Your answer is right"),
    ("leapfrog/acceptance", "mass squared", _alpha(kinetic=lambda p, M: ((M * p) ** 2).sum() / 2), "Your answer is right for other inputs"),
    ("leapfrog/acceptance", "speed", _alpha(kinetic=lambda p, M: np.linalg.norm(p)), "Not that probability"),
    (
        "leapfrog/acceptance",
        "mean for sum",
        lambda *case: _alpha(kinetic=lambda p, M: (M * p**2).mean() / 2)(*case),
        "Not that probability",
    ),
    ("leapfrog/acceptance", "refused", lambda *case: 1 - _alpha()(*case), "That is one minus it."),
    ("leapfrog/acceptance", "true or false", lambda *case: _alpha()(*case) > 0.5, "Not that probability"),
    ("leapfrog/step", "negated position", _with(end=lambda q, p: (-q, -p)), "The position is off"),
    ("leapfrog/step", "stops", _with(end=lambda q, p: (q, 0 * p)), "The momentum is off; the rest is right"),
    ("leapfrog/step", "refuses all", _with(rule=lambda u, lost: False), "Not that step"),
    ("leapfrog/step", "one less u", _with(rule=lambda u, lost: 1 - u < math.exp(lost)), ""),
    ("leapfrog/step", "accepts what loses energy", _with(rule=lambda u, lost: lost > 0), "Your answer is right for other inputs"),
    ("leapfrog/step", "square root of keep", _with(kick=lambda p, e, k: k**0.5 * p + (1 - k) ** 0.5 * e), "Your answer is right"),
    ("leapfrog/step", "noise's sign", _with(kick=lambda p, e, k: k * p - (1 - k**2) ** 0.5 * e), "Your answer is right for other inputs"),
    (
        "leapfrog/step",
        "noise after a refusal",
        lambda q, p, e, *rest: _stepped(q, p, e, *rest, end=lambda q, kicked: (q, e)),
        "The momentum is off",
    ),
    ("leapfrog/step", "position alone", lambda *case: _stepped(*case)[0], "2 values"),
    ("leapfrog/step", "exchanged", lambda *case: _stepped(*case)[::-1], "in the wrong order"),
]


LEGITIMATE = [
    ("two-makers/maker", "start after start", _by_starts),
    ("two-makers/maker", "a list", lambda *case: list(_by_starts(*case))),
    ("two-makers/fails", "einsum", lambda *case: _each_sweep(*case).mean(axis=0)),
    ("two-makers/fails", "JAX", lambda zs, y, m, c: jnp.asarray(_each_sweep(zs, y, m, c)).mean(axis=0)),
    ("two-makers/fails", "a list", lambda *case: list(_each_sweep(*case).mean(axis=0))),
    ("two-scans/update", "loops", _by_loops),
    ("two-scans/update", "a mask, in JAX", _by_mask),
    ("two-scans/update", "Kronecker products", _by_kron),
    ("two-scans/update", "nested lists", lambda t, part: _by_loops(t, part).tolist()),
    ("two-scans/update", "single precision", lambda t, part: _by_loops(t, part).astype(np.float32)),
    ("two-scans/ratio", "in full", _whole),
    ("two-scans/ratio", "JAX", lambda t, lot, x, y: jnp.asarray(_whole(jnp.asarray(t), jnp.asarray(lot), x, y))),
    ("two-scans/ratio", "a float", lambda t, lot, x, y: float(_whole(t, lot, x, y))),
    ("two-scans/ratio", "through logarithms", lambda t, lot, x, y: math.exp(math.log(_whole(t, lot, x, y)))),
    ("two-scans/scans", "multi_dot", lambda U: (np.mean(U, axis=0), np.linalg.multi_dot(U))),
    ("two-scans/scans", "a list", lambda U: [sum(P / len(U) for P in U), np.linalg.multi_dot(U)]),
    ("two-scans/scans", "JAX", lambda U: (jnp.stack(U).mean(0), jnp.linalg.multi_dot([jnp.asarray(P) for P in U]))),
    ("two-scans/scans", "one array", lambda U: np.stack([np.mean(U, axis=0), np.linalg.multi_dot(U)])),
    (
        "two-scans/audit",
        "einsum",
        lambda pi, P: (np.abs(np.einsum("i,ij->j", pi, P) - pi).max(), np.ptp(np.diag(pi) @ P - P.T @ np.diag(pi)) / 2),
    ),
    ("two-scans/audit", "JAX", lambda pi, P: (jnp.abs(pi @ jnp.asarray(P) - pi).max(), (pi[:, None] * P - (pi[:, None] * P).T).max())),
    ("two-scans/audit", "an array", lambda pi, P: np.array([np.abs(P.T @ pi - pi).max(), np.abs(pi[:, None] * P - P.T * pi).max()])),
    (
        "gibbs-normal/mu",
        "one observation after the other",
        lambda x, g, m, t: (np.average([m, *x], weights=[t, *(g for _ in x)]), 1 / math.sqrt(t + sum(g for _ in x))),
    ),
    (
        "gibbs-normal/mu",
        "JAX",
        lambda x, g, m, t: (jnp.sum(g * jnp.asarray(x) + t * m / len(x)) / (t + len(x) * g), (t + len(x) * g) ** -0.5),
    ),
    ("gibbs-normal/mu", "a list", lambda x, g, m, t: [m + g * len(x) / (t + len(x) * g) * (x.mean() - m), (t + len(x) * g) ** -0.5]),
    ("gibbs-normal/gamma", "a dot product", lambda x, mu, a, b: (a + 0.5 * x.size, b + 0.5 * (x - mu) @ (x - mu))),
    (
        "gibbs-normal/gamma",
        "around the mean, and its distance",
        lambda x, mu, a, b: (a + len(x) / 2, b + len(x) * (x.var() + (x.mean() - mu) ** 2) / 2),
    ),
    ("gibbs-normal/gamma", "JAX", lambda x, mu, a, b: jnp.array([a + len(x) / 2, b + jnp.sum((jnp.asarray(x) - mu) ** 2) / 2])),
    (RANDOM, "NumPy's generator", _sweep_numpy),
    (RANDOM, "vmap", _sweep_by_vmap),
    (RANDOM, "folded in", _sweep_with(lambda key: (jax.random.fold_in(key, 0), jax.random.fold_in(key, 1)))),
    (RANDOM, "a list", lambda *case: list(_sweep(*case))),
    (RANDOM, "an array", lambda *case: np.stack(_sweep(*case))),
    ("gibbs-normal/late", "frozen", lambda mu, g, at: norm(mu, g**-0.5).sf(at).mean()),
    (
        "gibbs-normal/late",
        "erfc",
        lambda mu, g, at: np.mean([math.erfc((at - a) * math.sqrt(b / 2)) / 2 for a, b in zip(mu, g, strict=True)]),
    ),
    ("gibbs-normal/late", "JAX", lambda mu, g, at: jnp.mean(1 - jax.scipy.stats.norm.cdf(at, jnp.asarray(mu), jnp.asarray(g) ** -0.5))),
    ("gibbs-topics/blocks", "loops", lambda z, d, w, a, c, *s: tuple(b + n for b, n in zip((a, c), _counts(z, d, w, *s), strict=True))),
    ("gibbs-topics/blocks", "one-hot, in JAX", _blocks_one_hot),
    (
        "gibbs-topics/blocks",
        "a list of lists",
        lambda z, d, w, a, c, *s: [(a + _counts(z, d, w, *s)[0]).tolist(), (c + _counts(z, d, w, *s)[1]).tolist()],
    ),
    ("gibbs-topics/topics", "a loop", _topics_loop),
    ("gibbs-topics/topics", "softmax of logs", lambda t, f, d, w: special.softmax(np.log(t)[d] + np.log(f)[:, w].T, axis=1)),
    ("gibbs-topics/topics", "JAX", lambda t, f, d, w: jax.nn.softmax(jnp.log(t[d] * f.T[w]), axis=1)),
    ("gibbs-topics/collapsed", "counts less one", _collapsed_by_counts),
    ("gibbs-topics/collapsed", "gamma functions", _collapsed_by_gamma),
    ("gibbs-topics/collapsed", "JAX", _collapsed_jax),
    ("gibbs-topics/sweep", "a list", _go()),
    ("gibbs-topics/sweep", "counting", _go(pick=lambda p, u: int(sum(np.cumsum(p) <= u)))),
    ("gibbs-topics/sweep", "JAX", _sweep_jax),
    ("gibbs-topics/sweep", "in place on a copy", lambda z, *rest: _sweep_in_place(z.copy(), *rest)),
    ("leapfrog/path", "kicks merged, a list", _merged),
    ("leapfrog/path", "in place on copies", lambda s, q, p, *rest: _path_in_place(s, q.copy(), p.copy(), *rest)),
    ("leapfrog/path", "recursion", _by_recursion),
    ("leapfrog/path", "a loop of JAX", _in_jax),
    ("leapfrog/path", "masses", lambda s, q, p, h, n, M: _rolled(mass=lambda M: 1 / (1 / M))(s, q, p, h, n, M)),
    ("leapfrog/volume", "autodiff", _volume_jax),
    ("leapfrog/volume", "one-sided", lambda *case: _volume(*case, step=1e-6, two_sided=False)),
    ("leapfrog/volume", "nudges of a hundredth", lambda *case: _volume(*case, step=0.01)),
    ("leapfrog/volume", "larger nudges", lambda *case: _volume(*case, step=1e-3)),
    ("leapfrog/volume", "logarithms", _volume_by_logs),
    ("leapfrog/volume", "eigenvalues", lambda *case: _volume(*case, gather=lambda J: abs(np.prod(np.linalg.eigvals(J))))),
    ("leapfrog/way-back", "a flip, in JAX", _back_by_a_flip),
    ("leapfrog/way-back", "infinity norm", lambda *case: _back(*case, gather=lambda x: np.linalg.norm(x, np.inf))),
    ("leapfrog/acceptance", "math", _alpha()),
    ("leapfrog/acceptance", "normal densities", _alpha_by_norm),
    ("leapfrog/acceptance", "JAX", _alpha_jax),
    ("leapfrog/acceptance", "where", _alpha(rule=lambda lost: np.where(lost > 0, 1.0, np.exp(lost)))),
    ("leapfrog/step", "a probability", _stepped),
    ("leapfrog/step", "JAX", _step_jax),
    ("leapfrog/step", "the package's kernel", _step_by_the_package),
    ("leapfrog/step", "a list", lambda *case: list(_stepped(*case))),
]


test_answers = near_misses.trial(CHAPTER, NEAR_MISSES, LEGITIMATE, BY_HAND, random=[RANDOM], sheets=SHEETS)


def test_counts_without_minlength_do_not_pass(seeds):
    """They break off, or spread one count over all topics."""
    assert not any(judge(CHAPTER + "gibbs-topics/blocks", _blocks_without_minlength, seed).passed for seed in seeds(5))


def test_the_step_that_passes_keeps_the_target_and_the_one_that_stays_does_not(solved):
    """One leapfrog step of 0.8 on a standard normal: what the last verdict calls right and wrong, by its effect on the variance."""
    path = lambda q, p: _rolled()(_fall, q, p, 0.8, 1, 1.0)
    right, z = solved[CHAPTER + "leapfrog/step"], []

    def stays(q, p, *rest):
        """A rejected trajectory leaves the momentum as it was."""
        new_q, new_p = right(q, p, *rest)
        return (new_q, -new_p) if np.array_equal(new_q, q) else (new_q, new_p)

    for answer in (right, stays):
        rng, squares = np.random.default_rng(7), np.zeros((60, 1500))
        for chain in squares:
            q, p = rng.normal(size=(2, 1))
            for t, (noise, u) in enumerate(zip(rng.normal(size=(1500, 1)), rng.random(1500), strict=True)):
                q, p = answer(q, p, noise, 0.9, u, path, _bell)
                chain[t] = q[0] ** 2
        by_chain = squares.mean(axis=1)
        z.append((by_chain.mean() - 1) / (by_chain.std(ddof=1) / 60**0.5))
    assert abs(z[0]) < 3.9  # once in 10,000 seeds a right step fails here
    assert z[1] > 2.5  # the other one's variance is 1.07, about five standard errors


def test_the_counts_of_the_blocks_are_those_of_the_model(solved):
    """The Dirichlet with these parameters is proportional to prior times likelihood, at any two points."""
    rng = np.random.default_rng(0)
    z, d, w = rng.integers(0, 2, 9), rng.integers(0, 3, 9), rng.integers(0, 4, 9)
    for_theta, for_phi = solved[CHAPTER + "gibbs-topics/blocks"](z, d, w, 0.7, 0.4, 3, 2, 4)
    gaps = []
    for _ in range(4):
        theta, phi = rng.dirichlet(np.ones(2), 3), rng.dirichlet(np.ones(4), 2)
        log_p = sum(dirichlet.logpdf(row, np.full(2, 0.7)) for row in theta) + sum(dirichlet.logpdf(row, np.full(4, 0.4)) for row in phi)
        log_p += np.log(theta[d, z]).sum() + np.log(phi[z, w]).sum()
        log_p -= sum(dirichlet.logpdf(row, b) for row, b in zip(theta, for_theta, strict=True))
        gaps.append(log_p - sum(dirichlet.logpdf(row, b) for row, b in zip(phi, for_phi, strict=True)))
    assert np.ptp(gaps) < 1e-9
