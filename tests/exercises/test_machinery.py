"""check, hint, tasks, and the references themselves against closed forms and peers."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import gammaln
from scipy.stats import chi2, ncx2, norm
from sklearn.linear_model import Ridge

from course_pkg import checks
from course_pkg.checks import NotYet, Trouble, catalogue, check, compare, guessed, hint, judge, tasks
from course_pkg.checks._judge import bound, key_words, read
from course_pkg.checks.slips import shared_slip
from solutions.decisions import conjugacy, james_stein, pooled_testing, ridge, stopping
from tests.exercises import near_misses
from tools import exercises

NAME = "decisions/classification/threshold"


def test_check_prints_a_pass_and_raises_the_rest(solved, capsys):
    check(NAME, solved[NAME])
    assert capsys.readouterr().out.startswith("Right.")
    with pytest.raises(NotYet, match="One half says") as caught:
        check(NAME, lambda alpha, beta: 0.5)
    assert caught.value._render_traceback_() == [f"Not yet. {caught.value}"]
    assert NotYet("Not written yet.")._render_traceback_() == ["Not written yet."]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (f'check("{NAME}", threshold)', "`threshold` is not there. Run the cells above"),
        ("print(threshold)", ""),  # an error of the student's own is shown as it is
        ("raise NotImplementedError", "which is not written yet"),
        ("raise NotImplementedError('of a library')", ""),
    ],
)
def test_a_notebook_says_in_one_line_what_is_missing(cell, words):
    said = []
    shell = SimpleNamespace(showtraceback=lambda *_, **__: said.append(""), _showtraceback=lambda kind, error, lines: said.extend(lines))
    linecache.cache["<cell>"] = (len(cell), None, [cell], "<cell>")
    try:
        exec(compile(cell, "<cell>", "exec"), {"check": check})
    except Exception as error:
        checks._calm(shell, type(error), error, error.__traceback__)
    assert len(said) == 1
    assert words in said[0]
    assert bool(words) == bool(said[0])


def test_an_unknown_name_is_met_with_the_nearest():
    for call in (lambda name: check(name, len), hint, lambda name: judge(name, len)):
        with pytest.raises(ValueError, match="no task named 'decisions/ridge/fitt'; did you mean 'decisions/ridge/fit'"):
            call("decisions/ridge/fitt")


def test_hints_come_in_three_levels(capsys):
    for level, words in enumerate(catalogue()[NAME].hints, start=1):
        hint(NAME, level)
        assert words in capsys.readouterr().out
    hint(NAME, level=0)  # as it stands in a sheet
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="level is 4; hints have level 1, the idea") as caught:
        hint(NAME, 4)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_a_guess_is_asked_for_once_and_answered(capsys):
    assert not guessed(...)
    assert "A guess first" in capsys.readouterr().out
    assert guessed(0)
    for guess, truth, words in [
        (10, 2.041, "You guessed 10, and it is 2.04."),
        (2, np.float64(2.041), "You guessed 2, and it is 2.04: well guessed."),
        (5, 5, "You guessed 5, and it is 5: well guessed."),
        ("left", "right", "You guessed left, and it is right."),
        ("left", "left", "You guessed left, and it is left: well guessed."),
        ("Left ", "left", "You guessed Left , and it is left: well guessed."),
        ("many", 3, "You guessed many, and it is 3."),
    ]:
        compare(guess, truth)
        assert capsys.readouterr().out == words + "\n"


def test_an_answer_that_needs_an_unwritten_part_is_told_which():
    def penalty(sigma, sigma0):
        raise NotImplementedError

    def fit(x, y, sigma, sigma0):
        return penalty(sigma, sigma0) * x[0]

    def library(x, y, sigma, sigma0):
        raise NotImplementedError("no rule for this")

    assert judge("decisions/ridge/fit", fit).message.startswith("This needs `penalty`, which is not written yet.")
    assert "no rule for this" in judge("decisions/ridge/fit", library).message


def test_tasks_lists_every_name_with_stars_and_minutes(capsys):
    tasks()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue())
    assert all(" min " in line and "*" in line for line in lines)


def test_an_answer_that_raises_gets_its_exception_and_line():
    def answer(alpha, beta):
        return alpha / (beta - beta)  # divides by zero

    message = judge(NAME, answer).message
    assert message.startswith("Your function raised ZeroDivisionError: ")
    assert "`return alpha / (beta - beta)" in message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (0.5, "Hand over the function itself"),
        (lambda alpha, beta: None, "returned nothing"),
        (lambda alpha, beta: "a half", "cannot be read as numbers"),
        (lambda alpha, beta: "0.5", "cannot be read as numbers"),
        (lambda alpha, beta: (0.5, 0.5), "a tuple of 2 values"),
        (lambda alpha, beta: np.array([0.5, 0.5]), "it has shape (2,)"),
        (lambda alpha, beta: np.nan, "not finite"),
        (lambda alpha: alpha, "raised TypeError"),
    ],
)
def test_answers_that_cannot_be_compared_get_calm_words(answer, words):
    verdict = judge(NAME, answer)
    assert not verdict.passed
    assert words in verdict.message


@pytest.mark.parametrize("name", catalogue())
def test_every_verdict_survives_answers_of_the_wrong_kind(name):
    for answer in (
        3,
        lambda *args: None,
        lambda *args: "words",
        lambda *args: (1.0, 2.0, 3.0),
        lambda: 0.0,
        lambda *args: np.nan,
    ):
        assert not judge(name, answer).passed


def test_an_answer_cannot_change_what_the_next_one_is_given():
    def vandal(y, weights, q):
        y[:] = 0
        return 0.0

    def careless(y, weights, q):
        order = np.argsort(y)
        return y[order][np.searchsorted(np.cumsum(weights[order]) / weights.sum(), q)]

    name = "decisions/bayes-estimators-tilted/tilted"
    assert not judge(name, vandal).passed
    assert judge(name, careless).passed


def test_the_false_alarm_rate_is_shared_by_the_comparisons():
    assert bound() == pytest.approx(3.8906, abs=1e-4)  # two-sided, one in ten thousand
    assert 2 * norm.sf(bound(4)) * 4 == pytest.approx(1e-4)


def test_a_key_must_matter_and_must_repeat():
    assert key_words(0.3, 0.3, [0.3, 0.4]) is None
    assert "whatever the key" in str(key_words(0.3, 0.3, [0.3, 0.3]))
    assert "the same key gave two" in str(key_words(0.3, 0.31, [0.4, 0.5]))


def test_an_answer_is_read_in_the_form_that_is_wanted():
    pair, column = (np.zeros(()), np.zeros(3)), (np.zeros(3),)
    for got in ((1.0, np.ones(3)), [1.0, np.ones(3)], np.array([1.0, np.ones(3)], dtype=object)):
        assert [part.shape for part in read(got, pair)] == [(), (3,)]
    for got in ((1, 2, 3), [1, 2, 3], np.arange(3)):
        assert [part.shape for part in read(got, column)] == [(3,)]
    for got, form in [([1.0] * 3, "a list of 3"), (np.ones(3), r"an array of shape \(3,\)"), (1.0, "one value")]:
        with pytest.raises(Trouble, match=f"Expected a tuple of 2 values; your function returned {form}"):
            read(got, pair)


def test_only_the_parts_that_are_off_are_said_to_be_off():
    def words(*got):
        given, right = ([tuple(np.array(float(one)) for one in row)] for row in (got, (1, 2, 3, 4)))
        return shared_slip(given, right, [()], lambda: None, ("a", "b", "c", "d"))

    assert words(1, 2.5, 3, 4) == "B is off; the rest is right. "
    assert words(0, 2.5, 3, 4) == "A and b are off; the rest is right. "
    assert words(0, 2.5, 3, 5) == "A, b and d are off; the rest is right. "
    assert words(0, 0, 0, 0) == ""


@pytest.mark.parametrize("seed", range(4))
def test_ridge_s_reference_is_scikit_learn_s_ridge(seed):
    for x, y, sigma, sigma0 in ridge.tables(np.random.default_rng(seed)):
        peer = Ridge(alpha=sigma**2 / sigma0**2).fit(x, y)
        assert np.allclose(ridge.mode(x, y, sigma, sigma0), [peer.intercept_, *peer.coef_], atol=1e-4)


def test_the_urn_s_evidence_sums_to_one_over_all_counts_and_is_the_gamma_formula():
    alpha, total = np.array([0.7, 1.9]), 0.0
    for first in range(6):
        counts = np.array([first, 5 - first])
        evidence = conjugacy.dirichlet_by_urn(counts, alpha)[1]
        total += np.exp(evidence)
        a = alpha + counts
        ratio = gammaln(a).sum() - gammaln(a.sum()) - gammaln(alpha).sum() + gammaln(alpha.sum())
        assert evidence == pytest.approx(gammaln(6) - gammaln(counts + 1).sum() + ratio)
    assert total == pytest.approx(1.0)


def test_repeated_looks_raise_false_alarms_as_armitage_mcpherson_and_rowe_tabulate():
    # their 1969 table for a nominal 5%: 1, 2, 5, 10 looks
    got = [stopping.reject_by_quadrature(looks) for looks in (1, 2, 5, 10)]
    assert np.allclose(got, [0.05, 0.083, 0.142, 0.193], atol=6e-4)


def test_runs_that_begin_at_the_prior_end_when_simulated_ones_do():
    mean, spread = stopping.end_by_quadrature(10)
    rng, runs = np.random.default_rng(0), 40_000
    sums = np.cumsum(rng.normal(size=(runs, 1)) + rng.normal(size=(runs, 10)), axis=1)
    beyond = np.abs(sums) > 1.96 * np.sqrt(np.arange(1, 11))
    n = np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1, 10)
    assert abs(n.mean() - mean) * np.sqrt(runs) / spread < 3.9  # one false alarm in ten thousand
    assert n.std() == pytest.approx(spread, rel=0.01)


def _risk_of_pull(n, noncentrality, pull):
    """Risk of (1 - pull/|y|^2) y, by Stein's identity."""
    return n - pull * (2 * (n - 2) - pull) * james_stein.mean_inverse(n, noncentrality)


def _positive_risk(n, squared_length):
    """Plain James-Stein's risk, corrected on the event |y|^2 < n - 2, where the estimate is put to zero instead."""
    law = ncx2(n, squared_length) if squared_length else chi2(n)
    r = np.linspace(1e-6, n - 2, 401)
    k = 1 - (n - 2) / r
    # |theta|^2 less the loss of k y, given |y|^2 = r
    change = -(k**2) * r + 2 * k * np.array([_mean_product(n, value, squared_length) for value in r])
    return _risk_of_pull(n, squared_length, n - 2.0) + trapezoid(change * law.pdf(r), r)


def _mean_product(n, r, squared_length):
    """E[y'theta | |y|^2 = r]: the cosine has density proportional to exp(z cos) sin^(n-2), z = sqrt(r) |theta|."""
    z, angle = np.sqrt(r * squared_length), np.linspace(0, np.pi, 401)
    weight = np.exp(z * (np.cos(angle) - 1)) * np.sin(angle) ** (n - 2)
    return z * (weight @ np.cos(angle)) / weight.sum()


def test_james_stein_s_risk_is_two_at_zero_and_the_positive_part_s_is_less():
    for n in (5, 10, 30):
        assert _risk_of_pull(n, 0.0, n - 2.0) == pytest.approx(2.0)
        assert _risk_of_pull(n, 7.0, n - 2.0) < _risk_of_pull(n, 7.0, float(n)) < n
    for squared_length in (0.0, 5.0):
        assert _positive_risk(10, squared_length) < _risk_of_pull(10, squared_length, 8.0) - 0.05


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("squared_length", [0.0, 5.0, 40.0])
def test_the_rules_that_answers_are_compared_with_have_the_risks_of_james_and_stein(n, squared_length):
    rng, runs = np.random.default_rng([n, int(squared_length)]), 20_000
    theta = np.full(n, np.sqrt(squared_length / n))
    y = theta + rng.normal(size=(runs, n))
    truths = {
        james_stein.james_stein: _risk_of_pull(n, squared_length, n - 2.0),
        james_stein.positive_part: _positive_risk(n, squared_length),
    }
    for rule, truth in truths.items():
        losses = ((rule(y) - theta) ** 2).sum(axis=1)
        assert abs(losses.mean() - truth) * np.sqrt(runs) / losses.std() < 4.5  # twelve tests: one false alarm in 12,000


@pytest.mark.parametrize("seed", range(4))
def test_the_list_of_towns_agrees_with_simulated_towns(seed):
    rng = np.random.default_rng(seed)
    theta, positive, people, pools, runs = 0.13, 2, 12, 4, 40_000
    ill = (rng.random((runs, pools, people // pools)) < theta).any(axis=2).sum(axis=1)
    truth = pooled_testing.every_town(np.array([theta]), positive, people, pools)[0]
    error = np.sqrt(truth * (1 - truth) / runs)
    assert abs((ill == positive).mean() - truth) / error < 4.4  # four seeds together: one false alarm in 20,000


def test_a_table_of_answers_names_each_that_is_not_judged_as_it_should_be(solved):
    def faults(wrong, right, case):
        test = near_misses.trial("decisions/", wrong, right, {"ridge/penalty": [case]})
        try:
            test("ridge/penalty", solved, range)
        except AssertionError as error:
            return str(error).splitlines()
        return []

    name, penalty, alike, holds = "ridge/penalty", solved["decisions/ridge/penalty"], lambda sigma, sigma0: 1.0, ((2.0, 1.0), 4.0)
    good = (name, "good", penalty)
    assert faults([(name, "one", alike, "like four rows")], [good], holds) == []
    assert len(faults([(name, "one", alike, "like four rows")], [good], ((2.0, 1.0), 5.0))) == 1  # the solution does not meet the case
    assert len(faults([(name, "one", alike, "no such words")], [good], holds)) == 5  # once for each of five seeds
    assert len(faults([(*good, "")], [good], holds)) == 5
    assert len(faults([], [good, (name, "one", alike)], holds)) == 5
    assert len(faults([(name, "one", lambda sigma: sigma, "raised")], [good], holds)) == 5
    with pytest.raises(AssertionError, match="no wrong answer is listed\nno case by hand is listed"):
        near_misses.trial("decisions/", [], [good], {}, sheets=["ridge/penalty"])(name, solved, range)
    sent = faults([(name, "one", alike, "")], [good], ((1.0, 1.0), 1.0))
    assert sent[0].startswith("one, seed 0, is sent to a case that it meets")


@pytest.fixture
def copy(tmp_path):
    """A project of one task, to be ruined."""
    source = tmp_path / "solutions" / "decisions"
    source.mkdir(parents=True)
    (source / "ridge.md").write_text((exercises.ROOT / "solutions" / "decisions" / "ridge.md").read_text("utf-8"), "utf-8")
    exercises.write("decisions/ridge", tmp_path)
    return tmp_path


def test_check_sees_what_is_missing_changed_or_stray_and_lets_students_work(copy):
    target = exercises.target("decisions/ridge", copy)
    assert exercises.out_of_step(copy) == []
    original = target.read_text("utf-8")
    target.write_text(original.replace("raise NotImplementedError", "return 1.0"), "utf-8")  # a student at work
    assert exercises.out_of_step(copy) == []
    target.write_text(original.replace("Ridge regression adds", "Ridge regression takes away"), "utf-8")
    assert exercises.out_of_step(copy) == ["decisions/ridge"]
    target.unlink()
    assert exercises.out_of_step(copy) == ["decisions/ridge"]
    (target.parent / "lasso.ipynb").write_text(original, "utf-8")
    assert set(exercises.out_of_step(copy)) == {"decisions/lasso", "decisions/ridge"}


def test_a_sheet_written_again_keeps_what_was_there(copy):
    target = exercises.target("decisions/ridge", copy)
    stub = target.read_text("utf-8")
    mine = stub.replace("raise NotImplementedError", "return 1.0")
    target.write_text(mine, "utf-8")
    kept = exercises.write("decisions/ridge", copy)
    assert target.read_text("utf-8") == stub
    assert kept is not None
    assert kept.read_text("utf-8") == mine
    assert kept.is_relative_to(copy / "work")  # which nothing removes
    assert exercises.write("decisions/ridge", copy) is None
    with pytest.raises(SystemExit, match="no task 'decisions/lasso'"):
        exercises.write("decisions/lasso", copy)
