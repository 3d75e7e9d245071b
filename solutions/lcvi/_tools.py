"""Roads that several sheets of this chapter share: slopes by differences, means by quadrature, the best q by a climb."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


slope = lambda f, at, step=1e-5: (f(at + step) - f(at - step)) / (2 * step)
normal_mean = lambda f, mean, sd: float(WEIGHTS @ f(mean + sd * NODES))


def best_by_climbing(worth):
    """The q with the largest E_q[worth - log q], by a climb in its logits."""

    def below(logits):
        q = softmax(logits)
        inside = worth - np.log(q)
        return -q @ inside, -q * (inside - q @ inside)

    return softmax(minimize(below, np.zeros(len(worth)), jac=True, method="BFGS", options={"gtol": 1e-10}).x)
