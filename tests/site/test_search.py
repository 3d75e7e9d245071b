"""Who types the field's words into the book's search finds the page that explains them."""

import pytest
from book_browser import VIEWS, set_view
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

RIGHT = {  # query: the pages of which one must be among the first three
    "credible interval": "decisions/pandemic",
    "newsvendor": "decisions/a-first-decision",
    "quantile loss": "decisions/a-first-decision decisions/problems decisions/bayes-rules",
    "Bayes risk": "decisions/risk",
    "regret": "decisions/risk decisions/a-first-decision decisions/problems",
    "marginal likelihood": "decisions/a-first-decision vi/the-bound-below",
    "empirical Bayes": "decisions/a-first-decision",
    "aleatoric uncertainty": "decisions/a-first-decision",
    "importance weights": "mcmc/importance-sampling is_gradients/reweighting",
    "effective sample size": "mcmc/importance-sampling mcmc/metropolis-hastings mcmc/nuts",
    "Metropolis-Hastings": "mcmc/metropolis-hastings",
    "acceptance rate": "mcmc/metropolis-hastings",
    "burn-in": "mcmc/metropolis-hastings mcmc/nuts",
    "Gibbs sampling": "mcmc/gibbs",
    "leapfrog": "mcmc/hamiltonian",
    "mass matrix": "mcmc/hamiltonian",
    "no-U-turn sampler": "mcmc/nuts mcmc/hamiltonian",
    "adapt_delta": "mcmc/nuts mcmc/hamiltonian",
    "R-hat": "mcmc/nuts",
    "divergences": "mcmc/nuts mcmc/hamiltonian",
    "ELBO": "vi/the-bound-below",
    "evidence lower bound": "vi/the-bound-below",
    "KL divergence": "vi/the-bound-below decisions/on-or-off",
    "mode seeking": "vi/the-bound-below vi/other-distances",
    "coordinate ascent": "vi/coordinate-ascent",
    "latent Dirichlet allocation": "vi/topics",
    "expectation maximization": "vi/em-is-variational",
    "simulation-based calibration": "vi/what-is-guaranteed decisions/pandemic",
    "learning rate": "gradients/climbing-with-noise",
    "REINFORCE": "gradients/score-function",
    "black-box VI": "gradients/score-function",
    "Rao-Blackwellization": "gradients/score-function",
    "control variate": "gradients/control-variates",
    "reparameterization trick with z": "gradients/reparameterisation",
    "ADVI": "gradients/reparameterisation gradients/models-and-guides",
    "SAGA": "is_gradients/averages-that-remember",
    "change of variables": "lambertw/skewing-a-bell",
    "loss-calibrated VI": "lcvi/the-bound lcvi/two-posteriors",
    "common random numbers": "lcvi/utility-terms",
    "conformal prediction": "posthoc/a-wrong-posterior",
    "generalized Bayes": "posthoc/beliefs-without-a-likelihood",
    "quantile regression": "posthoc/a-wrong-posterior",
}


def first_three(browser, home, query):
    """The pages that a search names first, and the excerpts below them."""
    browser.get(f"{home}/search.html?q={query.replace(' ', '+')}")
    WebDriverWait(browser, 30).until(lambda b: b.execute_script("return Search.title && Search.title.innerText") == "Search Results")
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results .context"))
    rows = browser.find_elements(By.CSS_SELECTOR, "#search-results li")[:3]
    links = [row.find_element(By.TAG_NAME, "a").get_attribute("href") for row in rows]
    return [link.removeprefix(f"{home}/").split(".html")[0] for link in links], [row.text for row in rows]


@pytest.fixture(scope="module")
def results(browser, home):
    set_view(browser, VIEWS[0])
    return {query: first_three(browser, home, query) for query in RIGHT}


def test_the_right_page_is_among_the_first_three(results):
    wrong = {query: pages for query, (pages, _) in results.items() if not set(pages) & set(RIGHT[query].split())}
    assert wrong == {}


def test_both_spellings_find_the_same(browser, home, results):
    pages, _ = first_three(browser, home, "reparameterisation trick with z")
    assert pages == results["reparameterization trick with z"][0]


def test_excerpts_show_no_code_and_no_tex(results):
    texts = [text for _, excerpts in results.values() for text in excerpts]
    assert texts
    assert [text for text in texts if any(mark in text for mark in ("\\(", "\\[", "\\frac", "import ", "jnp.", "np."))] == []
