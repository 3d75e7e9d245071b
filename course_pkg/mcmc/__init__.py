"""Chapter 2: Monte Carlo and Markov chains.

Read `importance` first (draws of one distribution that answer for another), then `kernel` and `metropolis` (what a chain is and how it
is made to keep a target), `gibbs`, `hamiltonian`, `tuning` and `tempering`, and `chains`, which runs any of them. NUTS is left to
PyMC and NumPyro.
"""

from course_pkg.mcmc.chains import run_chains, sample_chain
from course_pkg.mcmc.gibbs import gibbs
from course_pkg.mcmc.hamiltonian import HMCInfo, Phase, abstract_hmc, energy, hmc, leapfrog, start_phase
from course_pkg.mcmc.importance import Smoothed, Weighted, importance_sample, pareto_smooth, self_normalised, unnormalised
from course_pkg.mcmc.kernel import Info, Kernel, State
from course_pkg.mcmc.metropolis import independence, langevin, metropolis_hastings, random_walk
from course_pkg.mcmc.tempering import Ladder, tempered
from course_pkg.mcmc.tuning import Averaging, Tuned, dual_averaging, tune_hmc

__all__ = [
    "Averaging",
    "HMCInfo",
    "Info",
    "Kernel",
    "Ladder",
    "Phase",
    "Smoothed",
    "State",
    "Tuned",
    "Weighted",
    "abstract_hmc",
    "dual_averaging",
    "energy",
    "gibbs",
    "hmc",
    "importance_sample",
    "independence",
    "langevin",
    "leapfrog",
    "metropolis_hastings",
    "pareto_smooth",
    "random_walk",
    "run_chains",
    "sample_chain",
    "self_normalised",
    "start_phase",
    "tempered",
    "tune_hmc",
    "unnormalised",
]
