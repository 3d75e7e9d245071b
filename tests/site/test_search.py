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
    "regret": "decisions/problems decisions/on-or-off decisions/risk",
    "marginal likelihood": "decisions/a-first-decision vi/the-bound-below",
    "empirical Bayes": "decisions/a-first-decision",
    "aleatoric uncertainty": "decisions/a-first-decision",
    "importance weights": "mcmc/importance-sampling is_gradients/reweighting",
    "effective sample size": "decisions/risk mcmc/importance-sampling mcmc/metropolis-hastings mcmc/nuts",
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
    "simulation-based calibration": "decisions/is-the-model-any-good",
    "learning rate": "gradients/climbing-with-noise",
    "REINFORCE": "gradients/score-function",
    "black-box VI": "gradients/score-function",
    "Rao-Blackwellization": "mcmc/collapsed-gibbs gradients/score-function",
    "control variate": "gradients/control-variates",
    "reparameterization trick with z": "gradients/reparameterisation",
    "ADVI": "gradients/reparameterisation gradients/models-and-guides",
    "SAGA": "is_gradients/averages-that-remember",
    "change of variables": "lambertw/skewing-a-bell",
    "loss-calibrated VI": "lcvi/the-bound lcvi/two-posteriors",
    "common random numbers": "lcvi/utility-terms",
    "conformal prediction": "posthoc/coverage-or-cost posthoc/a-wrong-posterior",
    "generalized Bayes": "posthoc/beliefs-without-a-likelihood",
    "quantile regression": "decisions/a-first-decision posthoc/a-wrong-posterior",
}


SHOWN = ["credible interval", "leapfrog", "reparameterization trick with z"]  # queries whose list is looked at as the reader sees it
FIND = "return [...Search._performSearch(...Search._parseQuery(arguments[0]))].reverse().map((found) => [found[0], found[3]])"


def ask(browser, home, query):
    """Open the list of results for a query."""
    browser.get(f"{home}/search.html?q={query.replace(' ', '+')}")
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results .context"))


def first_rows(browser):
    """The first three rows of the list: the page that each leads to, and its text."""
    rows = browser.find_elements(By.CSS_SELECTOR, "#search-results > ul > li")[:3]
    links = [row.find_element(By.TAG_NAME, "a").get_attribute("href") for row in rows]
    return [(link.split(".html")[0].split("/", 3)[3], row.text) for link, row in zip(links, rows, strict=True)]


@pytest.fixture(scope="module")
def found(browser, home):
    """For each query, its pages in their order; what is found in the package comes with what it is."""
    set_view(browser, VIEWS[0])
    ask(browser, home, SHOWN[0])
    return {query: browser.execute_script(FIND, query) for query in [*RIGHT, "reparameterisation trick with z"]}


@pytest.fixture(scope="module")
def ranked(found):
    return {query: [page for page, _ in rows[:3]] for query, rows in found.items()}


def test_a_page_is_listed_once(found):
    pages = {query: [page for page, what in rows if what is None] for query, rows in found.items()}
    assert [query for query, names in pages.items() if len(names) > len(set(names))] == []


def test_the_right_page_is_among_the_first_three(ranked):
    wrong = {query: ranked[query] for query, right in RIGHT.items() if not set(ranked[query]) & set(right.split())}
    assert wrong == {}


def test_both_spellings_find_the_same(ranked):
    assert ranked["reparameterisation trick with z"] == ranked["reparameterization trick with z"]


@pytest.mark.parametrize("query", SHOWN)
def test_the_list_shows_the_first_three_and_no_code(browser, home, ranked, query):
    ask(browser, home, query)
    WebDriverWait(browser, 30).until(lambda b: len(first_rows(b)) == len(ranked[query]))
    rows = first_rows(browser)
    assert [page for page, _ in rows] == ranked[query]
    assert [text for _, text in rows if any(mark in text for mark in ("\\(", "\\[", "\\frac", "import ", "jnp.", "np."))] == []
