"""The skewed density in NumPyro's words: a transform, and a distribution over any base that NumPyro has."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from numpyro.distributions import constraints
from numpyro.distributions.transforms import AffineTransform, Transform
from numpyro.distributions.util import promote_shapes

from course_pkg import _guard
from course_pkg.lambertw.density import skewed_normal
from course_pkg.lambertw.map import D, g_e, g_e_inverse, knee_at, log_slope


class SkewTransform(Transform):
    r"""The map :math:`g_e` of skew :math:`\gamma`, from the real line onto itself.

    Args:
        gamma: the skew, any real numbers.
        d: where the straight part begins, strictly between :math:`-1/e` and 0.

    Example:
        >>> t = SkewTransform(0.2)
        >>> round(float(t(2.0)), 3), round(float(t.inv(t(2.0))), 3)
        (2.984, 2.0)

    Source: thesis, section 3.2.4, with erratum T57.
    """

    domain = constraints.real
    codomain = constraints.real
    sign = 1.0

    def __init__(self, gamma, d: float = D):
        self.gamma, self.d = gamma, d

    def __call__(self, x):
        """The skewed value."""
        return g_e(x, self.gamma, self.d)

    def _inverse(self, y):
        return g_e_inverse(y, self.gamma, self.d)

    def log_abs_det_jacobian(self, x, y, intermediates=None):  # noqa: ARG002
        """The logarithm of the slope at ``x``."""
        return log_slope(x, self.gamma, self.d)

    def forward_shape(self, shape):
        """The shape of the result: that of the argument and the skew together."""
        return jax.numpy.broadcast_shapes(shape, jnp.shape(self.gamma))

    def inverse_shape(self, shape):
        """The same, backwards."""
        return self.forward_shape(shape)

    def tree_flatten(self):
        """The skew is data; ``d`` is part of the structure."""
        return (self.gamma,), (("gamma",), {"d": self.d})

    def eq(self, other, static: bool = False):
        """Whether ``other`` is the same map."""
        if not isinstance(other, SkewTransform) or self.d != other.d:
            return False
        return dist.transforms.array_equiv(self.gamma, other.gamma, static=static)


class LambertW(dist.TransformedDistribution):
    r"""The distribution of :math:`y = \mu + \sigma\, g_e(z)`, for use as a likelihood, a prior or part of a guide.

    It has densities, reparameterised draws, and what its base has of distribution function and quantiles. With a normal base it has
    ``mean`` and ``variance``, too, those of `safe_moments`. Any other base raises `NotImplementedError` for them: heavy tails may leave
    none.

    Args:
        mu, sigma, gamma: location, scale above 0, and skew; positive skews to the right.
        base: distribution of ``z``, a scalar one; standard normal where not given.
        d: where the straight part of the map begins, strictly between :math:`-1/e` and 0.
        validate_args: as everywhere in NumPyro.

    Raises:
        ValueError: if ``sigma`` is not above 0, ``base`` is not scalar, ``d`` is out of its range, or an argument holds something that is
            not a finite number.

    Example:
        >>> y = LambertW(0.0, 1.0, 0.3)
        >>> round(float(y.log_prob(0.0)), 4), y.sample(jax.random.key(0), (2,)).shape
        (-0.9189, (2,))
        >>> LambertW(jnp.zeros(3), sigma=1.0, gamma=0.1, base=dist.StudentT(4.0)).batch_shape
        (3,)
        >>> round(float(y.mean), 4), round(float(y.variance), 4)
        (0.3133, 1.5314)

    Source: thesis, section 3.2.4, with errata T36, T37 and T57.
    """

    arg_constraints = {"mu": constraints.real, "sigma": constraints.positive, "gamma": constraints.real}  # noqa: RUF012
    support = constraints.real
    reparametrized_params = ["mu", "sigma", "gamma"]  # noqa: RUF012
    pytree_data_fields = ("mu", "sigma", "gamma")

    def __init__(self, mu=0.0, sigma=1.0, gamma=0.0, base=None, *, d: float = D, validate_args=None):
        base = dist.Normal() if base is None else base
        if base.event_shape or base.batch_shape:
            raise ValueError(f"base has shape {base.shape()}; give a scalar distribution such as Normal(0, 1)")
        for name, value in (("mu", mu), ("sigma", sigma), ("gamma", gamma)):
            _guard.numbers(name, value)
        knee_at(d)
        if not _guard.traced(sigma) and not (np.asarray(sigma) > 0).all():  # of a constant JAX would make a traced number under jit
            raise ValueError(f"sigma holds {float(np.min(sigma)):g}; give scales above 0")
        self.mu, self.sigma, self.gamma = promote_shapes(mu, sigma, gamma)
        super().__init__(base, [SkewTransform(self.gamma, d), AffineTransform(self.mu, self.sigma)], validate_args=validate_args)

    @property
    def mean(self):
        """In closed form, for a normal base."""
        return jnp.broadcast_to(self.mu + self.sigma * self._skewed()[0], self.batch_shape)

    @property
    def variance(self):
        """In closed form, for a normal base."""
        return jnp.broadcast_to(self.sigma**2 * self._skewed()[1], self.batch_shape)

    def _skewed(self):
        """Mean and variance before location and scale."""
        base = self.base_dist
        while isinstance(base, dist.ExpandedDistribution):
            base = base.base_dist
        if type(base) is not dist.Normal:
            kind = type(base).__name__
            raise NotImplementedError(f"mean and variance need a normal base, and this is {kind}; average draws, or see lambertw.moments")
        return skewed_normal(self.gamma, knee_at(self.transforms[-2].d), base.loc, base.scale)
