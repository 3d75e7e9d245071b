"""Deciding with Approximations: the companion package of the course.

A posterior is only worth what you decide with it. The modules are named after the chapters that teach them:

- `decisions`: losses, Bayes rules, risks
- `mcmc`: importance sampling and Markov chains
- `models`: what we want to know
- `data`: the data sets of the course
- `families`, `gradients`, `implicit`, `fit`: approximating densities, estimators of gradients, and the loop that climbs them
- `large`: the same loop on data that outgrow one memory or one machine
- `is_gradients`: gradients used more than once
- `lambertw`: skewed densities
- `lcvi`: inference that knows the loss
- `posthoc`: corrections of decisions, whoever made the posterior
- `vi`: variational inference by hand: coordinate ascent, EM, topics, divergences, checks
- `plots`: the figures' style and the drawings that pages share
- `checks`: what the exercises call to test an answer

Import the module that you want, for example ``from course_pkg import decisions``.
"""

__version__ = "0.1.0"
