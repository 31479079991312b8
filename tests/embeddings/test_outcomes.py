"""What a regression predicts: the classes of rows, or their label sets, and how scores become logits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, softmax
from sklearn.linear_model import LogisticRegression

from structhash.embeddings._outcomes import Classes, LabelSets, Link, class_prior, rows_alone

RNG = np.random.default_rng(0)


def test_a_row_alone_is_the_only_one_of_its_class_and_counts_as_the_largest():
    index = np.r_[np.zeros(25, int), np.ones(14, int), 2]
    outcomes = Classes.of(index)
    assert np.flatnonzero(outcomes.alone).tolist() == [39]
    assert outcomes.prior.tolist() == [25 / 64, 14 / 64, 25 / 64]


def test_without_rows_alone_the_prior_is_the_share_of_the_rows():
    index = np.r_[np.zeros(14, int), np.ones(13, int), np.full(13, 2)]
    assert not rows_alone(index).any()
    np.testing.assert_array_equal(class_prior(index, rows_alone(index)), np.bincount(index) / 40)
    assert not rows_alone(np.arange(5)).any()


def test_a_part_keeps_the_prior_of_all_and_a_sample_has_its_own():
    index = np.r_[np.zeros(6, int), np.ones(3, int), 2]
    rows = np.array([0, 1, 2, 9])
    part, sample = Classes.of(index).part(rows), Classes.of(index).sample(rows)
    np.testing.assert_array_equal(part.prior, Classes.of(index).prior)
    assert part.class_index.tolist() == [0, 0, 0, 2]
    assert sample.class_index.tolist() == [0, 0, 0, 1]
    assert sample.prior.tolist() == [0.5, 0.5]
    assert part.alone.tolist() == sample.alone.tolist() == [False] * 3 + [True]
    labels = index[:, None] == np.arange(3)
    part, sample = LabelSets.of(labels).part(rows), LabelSets.of(labels).sample(rows)
    np.testing.assert_array_equal(part.prior, LabelSets.of(labels).prior)
    np.testing.assert_allclose(sample.prior, [3.5 / 5, 0.5 / 5, 1.5 / 5])
    np.testing.assert_array_equal(part.labels, labels[rows])
    np.testing.assert_array_equal(sample.labels, labels[rows])


def test_the_sharpness_is_the_likeliest_one():
    scores, index = RNG.normal(size=(50, 4)), RNG.integers(0, 4, 50)
    scores[np.arange(50), index] += 1
    loss, (sharpness, offset) = Classes.of(index).calibrate(scores)

    def at(s):
        return -np.log(softmax(s * scores, axis=1)[np.arange(50), index]).mean()

    assert offset == 0
    assert loss == pytest.approx(at(sharpness))
    assert loss <= min(at(sharpness * factor) for factor in (0.9, 0.97, 1.03, 1.1)) + 1e-9


def loss_of(logits, labels):
    """Mean over rows of the sum over labels of -log p."""
    return -log_expit(np.where(labels, logits, -logits)).sum() / len(labels)


def draw(n=300, shares=(0.5, 0.2, 0.1, 0.03), slope=1.0, seed=0):
    """Label sets of rows, and scores that say something of them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, len(shares)))
    labels = hidden * slope + rng.logistic(size=hidden.shape) + logit(np.array(shares)) > 0
    return labels, 0.2 * hidden + labels.mean(axis=0)


def least_slope(outcomes, scores):
    return 0.01 / np.sqrt(np.mean((scores - outcomes.prior) ** 2))


def best_loss(outcomes, scores, least: float | None):
    """The least loss of all links whose slope is at least `least`, by another optimiser."""
    odds = logit(outcomes.prior)

    def at(w):
        return loss_of(w[0] * (scores - outcomes.prior) + w[1] * odds + w[2], outcomes.labels)

    starts = ([1.0, 1.0, 0.0], [10.0, 0.5, -1.0], [least or 0.0, 0.0, 0.0])
    bounds, options = [(least, None), (None, None), (None, None)], {"maxiter": 4000}
    found = [minimize(at, start, method="Nelder-Mead", bounds=bounds, options=options) for start in starts]
    return min(each.fun for each in found)


@pytest.mark.parametrize(
    ("shares", "slope"),
    [((0.5, 0.2, 0.1, 0.03), 1.0), ((0.5, 0.2, 0.1, 0.03), 0.0), ((0.3, 0.7), 4.0), ((0.01,) * 12, 2.0)],
    ids=repr,
)
def test_the_link_of_label_sets_is_the_likeliest_one(shares, slope):
    labels, scores = draw(shares=shares, slope=slope)
    outcomes = LabelSets.of(labels)
    loss, link = outcomes.calibrate(scores)
    assert loss == pytest.approx(loss_of(link.sharpness * scores + link.offset, labels), rel=1e-9)
    assert loss == pytest.approx(best_loss(outcomes, scores, least_slope(outcomes, scores)), abs=1e-5)


def test_scores_that_fall_as_labels_rise_are_given_the_least_weight():
    labels, scores = draw(slope=-1.0)
    outcomes = LabelSets.of(labels)
    loss, link = outcomes.calibrate(scores)
    assert link.sharpness == pytest.approx(least_slope(outcomes, scores))
    assert loss == pytest.approx(loss_of(link.sharpness * scores + link.offset, labels), rel=1e-9)
    assert loss == pytest.approx(best_loss(outcomes, scores, least_slope(outcomes, scores)), abs=1e-5)
    assert loss > best_loss(outcomes, scores, least=None) + 0.1  # the bound binds


def test_the_link_of_label_sets_is_that_of_a_logistic_regression():
    labels, scores = draw(n=500)
    outcomes = LabelSets.of(labels)
    _, link = outcomes.calibrate(scores)
    odds = np.broadcast_to(logit(outcomes.prior), scores.shape)
    features = np.column_stack([(scores - outcomes.prior).ravel(), odds.ravel()])
    peer = LogisticRegression(C=1e8, tol=1e-10, max_iter=1000).fit(features, labels.ravel())
    np.testing.assert_allclose(
        link.sharpness * scores + link.offset, peer.decision_function(features).reshape(scores.shape), atol=1e-3
    )


def test_one_label_is_a_logistic_regression_of_one_number():
    labels, scores = draw(shares=(0.3,))
    _, link = LabelSets.of(labels).calibrate(scores)
    peer = LogisticRegression(C=1e8, tol=1e-10).fit(scores, labels[:, 0])
    logits = (link.sharpness * scores + link.offset)[:, 0]
    np.testing.assert_allclose(logits, peer.decision_function(scores), atol=1e-3)


def hard_cases():
    labels, scores = draw(n=200)
    none, every = np.zeros((200, 1), bool), np.ones((200, 1), bool)
    half = np.arange(200)[:, None] % 2 == 0
    outliers = scores.copy()
    outliers[0] = 1e4
    return {
        "separable": (labels, np.where(labels, 0.9, 0.1)),
        "separable and far": (labels, np.where(labels, 1e3, -1e3)),
        "reversed": (labels, np.where(labels, 0.1, 0.9)),
        "labels of no row and of all": (np.hstack([labels, none, every]), np.hstack([scores, none, every])),
        "only such labels": (np.hstack([none, every]), np.hstack([none, every]).astype(float)),
        "equal scores": (labels, np.full(labels.shape, 0.25)),
        "scores at the prior": (labels, np.tile(LabelSets.of(labels).prior, (200, 1))),
        "one label of all rows": (every, scores[:, :1]),
        "tiny scores": (labels, scores * 1e-12),
        "large scores": (labels, scores * 1e12),
        "one score far out": (labels, outliers),
        "labels of half of the rows": (np.hstack([half, ~half]), np.where(half, 0.502, [[0.498, 0.51]])),
        "one row": (labels[:1], scores[:1]),
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", list(hard_cases()))
def test_hard_label_sets_have_a_finite_link_that_is_hardly_worse_than_the_shares(case):
    labels, scores = hard_cases()[case]
    outcomes = LabelSets.of(labels)
    with np.errstate(all="raise", under="ignore"):
        loss, link = outcomes.calibrate(scores)
    assert np.isfinite([loss, link.sharpness]).all()
    assert np.isfinite(link.offset).all()
    logits = link.sharpness * scores + link.offset
    assert np.isfinite(logits).all()
    assert loss == pytest.approx(loss_of(logits, labels), rel=1e-6, abs=1e-9)
    of_shares = loss_of(np.tile(logit(outcomes.prior), (len(labels), 1)), labels)
    assert loss <= of_shares + 0.02 * labels.shape[1]  # the least slope may be too much


def test_separable_labels_are_nearly_sure():
    labels, scores = hard_cases()["separable"]
    loss, link = LabelSets.of(labels).calibrate(scores)
    assert loss < 1e-3
    assert ((link.sharpness * scores + link.offset > 0) == labels).all()


def test_calibrated_probabilities_of_a_label_have_its_share_where_all_labels_are_alike():
    labels, scores = draw(n=2000, shares=(0.3, 0.3, 0.3))
    _, link = LabelSets.of(labels).calibrate(scores)
    mean = expit(link.sharpness * scores + link.offset).mean()
    assert mean == pytest.approx(labels.mean(), abs=1e-4)  # c is chosen freely


def test_many_rows_are_calibrated_by_some_of_them(monkeypatch):
    labels, scores = draw(n=3000)
    whole = LabelSets.of(labels).calibrate(scores)[0]
    monkeypatch.setattr("structhash.embeddings._outcomes.MAX_LINK_SCORES", 4000)  # 1,000 rows of 4 labels
    some, _ = LabelSets.of(labels).calibrate(scores)
    judges = np.linspace(0, 2999, 1000).astype(int)
    of_judges, _ = replace(LabelSets.of(labels), labels=labels[judges]).calibrate(scores[judges])
    assert some == pytest.approx(of_judges)
    assert some != whole
    assert some == pytest.approx(whole, rel=0.1)


def test_a_row_is_the_surer_the_likelier_its_labels_are_expected_to_be():
    scores, link = RNG.normal(size=(20, 3)), Link(2.0, np.array([0.1, -0.3, 0.0]))
    p = expit(2 * scores + link.offset)
    sets = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    chances = np.prod(np.where(sets, p[:, None], 1 - p[:, None]), axis=2)  # (20, 8)
    expected = (chances * np.log(chances)).sum(axis=1)
    labels = LabelSets.of(RNG.random((20, 3)) < 0.5)
    np.testing.assert_allclose(labels.sureness(scores, link), expected, rtol=1e-9)
    ordered = np.sort(scores, axis=1)
    index = np.arange(20) % 3
    np.testing.assert_allclose(Classes.of(index).sureness(scores, link), ordered[:, 2] - ordered[:, 1])
