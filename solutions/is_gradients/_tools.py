"""What several records of this chapter share: log ratios of normal densities, draws with large weights, clipped weights."""

from scipy.stats import norm

CLIPPED = (
    "Right where the weights are small, and not where they are large. Are yours clipped? A draw that stands for many counts in full "
    "here: a clipped weight has a bias."
)


# Log of the new normal density over the old one at theta, element by element
log_ratio = lambda theta, mu, sigma, mu_new, sigma_new: norm.logpdf(theta, mu_new, sigma_new) - norm.logpdf(theta, mu, sigma)
# An edit for each level; ``edit`` holds LEVEL where it stands
clipped = lambda edit, levels=(1, 1.5, 2, 3, 5, 8, 10, 20): tuple(edit.replace("LEVEL", str(level)) for level in levels)
