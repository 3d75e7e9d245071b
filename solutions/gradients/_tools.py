"""What several records of this chapter share: averages by quadrature, slopes by finite differences, noise without luck."""

import jax
import numpy as np
from scipy.stats import norm

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
NO_JAX = "Right in value, but JAX cannot differentiate your function, which the cells below must do. Use jnp throughout, not np or SciPy."
BY_JAX = "by JAX"  # at the end of a case: is the answer differentiable there?


def balanced(rng, draws):
    """Noise with mean 0 and variance 1 exactly: averages of quadratics over it are exact."""
    half = rng.normal(size=draws // 2)
    eps = np.concatenate([half, -half])
    return eps / np.sqrt(np.mean(eps**2))


# The mean of ``f`` under a normal distribution, by Gauss-Hermite quadrature
normal_mean = lambda f, mu, sigma: float(WEIGHTS @ f(mu + sigma * NODES))
# The evidence lower bound of a normal q, by quadrature over theta
elbo = lambda log_joint, mu, sigma: normal_mean(lambda theta: log_joint(theta) - norm.logpdf(theta, mu, sigma), mu, sigma)
# A derivative without calculus
slope = lambda f, at, step=1e-4: (f(at + step) - f(at - step)) / (2 * step)


def differentiable(f, at):
    """Whether JAX finds a finite derivative of ``f``."""
    try:
        return bool(np.isfinite(jax.grad(f)(at)).all())
    except Exception:  # whatever a student's function does with a tracer
        return False
