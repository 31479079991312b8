"""The verdict on a model, against brute force, other libraries and real data."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, ttest_1samp
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances

from structhash import AdditiveHash, DistilHash, StructHash
from structhash.evaluation import judge_drift, seen_classes
from structhash.evaluation._shifts import bit_shift, distance_shift
from structhash.pieces import load

ROWS, LABELS = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(ROWS))
X, Y = ROWS[ORDER].astype(np.float32), LABELS[ORDER]
OLD, NEW = slice(0, 700), slice(700, 1400)


@pytest.fixture(scope="module")
def model():
    return DistilHash(16, random_state=0).fit(X[OLD])


@pytest.fixture(scope="module")
def labelled():
    """A model of the digits 0 to 4, and its rows."""
    rows = np.flatnonzero(Y < 5)[:500]
    return DistilHash(12, random_state=0).fit(X[rows], Y[rows]), X[rows]


def expected_share(distances, relevant, k):
    """Relevant rows among the first k by distance, in expectation over orders of ties; one value a query."""
    closer = (distances[:, :, None] > distances[:, None]).sum(axis=2)
    ties = (distances[:, :, None] == distances[:, None]).sum(axis=2)
    return (np.clip((k - closer) / ties, 0, 1) * relevant).sum(axis=1)


def gains(old, rows, y, k, seed):
    """Values of both models for each query, by their codes."""
    split = seen_classes(rows[:, 0], seed, 1000)
    fitted_on, searched = np.array_split(split.database, 2)
    fresh = DistilHash(old.n_bits_, random_state=seed).fit(rows[fitted_on], None if y is None else y[fitted_on])
    if y is None:
        apart = euclidean_distances(rows[split.queries], rows[searched])
        relevant, divisor = apart <= np.sort(apart, axis=1)[:, k - 1 : k], k
    else:
        relevant, divisor = y[split.queries][:, None] == y[searched], k
    values = []
    for each in (old, fresh):
        asked = np.unpackbits(each.encode_queries(rows[split.queries]), axis=1)
        stored = np.unpackbits(each.encode(rows[searched]), axis=1)
        distances = (asked[:, None] != stored).sum(axis=2)
        values.append(expected_share(distances, relevant, k) / divisor)
    return values


# the gain of a refit


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_gain_is_that_of_brute_force_and_decides(model, mirrored):
    new = X[NEW][:, ::-1] if mirrored else X[NEW]
    found = judge_drift(model, new, k=7, random_state=3)
    before, after = gains(model, new, None, 7, 3)
    bound = ttest_1samp(after - before, 0, alternative="greater").confidence_interval(0.99).low
    assert (found.gain.measure, found.gain.n_queries) == ("recall@7", 175)
    assert found.gain.model == pytest.approx(before.mean(), abs=2e-3)  # equal distances at rank k
    assert found.gain.refit == pytest.approx(after.mean(), abs=2e-3)
    assert found.gain.at_least == pytest.approx(bound, abs=2e-3)
    assert (found.new_class_share, found.bits, found.distances) == (None, None, None)
    assert found.verdict == ("refit" if mirrored else "keep")
    (reason,) = found.reasons
    assert (
        f"recall@7 of 175 new queries is {found.gain.model:.3f}, after a refit {found.gain.refit:.3f}" in reason
    )
    assert judge_drift(model, new, k=7, min_gain=1, random_state=3).verdict == "keep"


@pytest.mark.slow
def test_labels_count_for_a_model_that_was_learned_from_labels(labelled, model):
    encoder, _ = labelled
    known, others = (np.flatnonzero(mask)[-300:] for mask in (Y < 5, Y >= 5))
    same = judge_drift(encoder, X[known], Y[known], random_state=1)
    before, after = gains(encoder, X[known], Y[known], 10, 1)
    assert (same.verdict, same.gain.measure) == ("keep", "precision@10")
    assert same.gain.model == pytest.approx(before.mean())
    assert same.gain.refit == pytest.approx(after.mean())
    changed = judge_drift(encoder, X[others], Y[others].astype(str))
    assert changed.verdict == "refit"
    assert changed.gain.at_least > 0.1
    without = judge_drift(model, X[NEW])
    assert judge_drift(model, X[NEW], Y[NEW]) == without  # learned without labels


# what changed against the training rows


@pytest.mark.slow
def test_without_labels_new_classes_bits_and_distances_decide(labelled):
    encoder, rows = labelled
    known, others = X[np.flatnonzero(Y < 5)[-300:]], X[Y >= 5]
    with pytest.raises(
        ValueError, match="learned from labels, and nothing is there to judge it by; give labels"
    ):
        judge_drift(encoder, known)
    same, changed = (judge_drift(encoder, new, training=rows) for new in (known, others))
    assert (same.verdict, same.gain) == ("keep", None)
    assert same.reasons == [
        "bits and distances are near those of the training rows; labels of the new rows would tell more"
    ]
    assert changed.verdict == "refit"
    assert any("new rows are farther from the training rows" in reason for reason in changed.reasons)


def test_the_bit_that_moved_most_and_its_bound(model):
    new = X[NEW] + np.float32(5) * (np.arange(64) % 3 == 0)
    before, after = (model.transform(rows).mean(axis=0) for rows in (X[OLD], new))
    found = bit_shift(model, X[OLD], new, 0.01)
    assert found.training == pytest.approx(before[found.bit])
    assert found.new == pytest.approx(after[found.bit])
    assert abs(found.new - found.training) > 0.9 * np.abs(after - before).max()
    assert 0 < found.at_least < abs(found.new - found.training)
    assert bit_shift(model, X[OLD], X[OLD], 0.01).at_least == 0


def test_the_bound_of_bits_holds_where_nothing_changed(model):
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        order = rng.permutation(len(X))
        wrong += bit_shift(model, X[order[:600]], X[order[600:1200]], 0.1).at_least > 0
    assert wrong <= 0.1 * 400 + 3 * np.sqrt(400 * 0.1 * 0.9)


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_distances_are_compared_as_scipy_does(factor):
    training, new = X[:400], X[NEW] * np.float32(factor)
    found = distance_shift(training, new, 0.01, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    order = rng.permutation(400)
    apart = [
        euclidean_distances(rows, training[order[100:]]).min(axis=1) for rows in (training[order[:100]], new)
    ]
    statistic = mannwhitneyu(apart[1], apart[0]).statistic / len(apart[0]) / len(apart[1])
    assert (found.training, found.new) == pytest.approx([np.median(each) for each in apart], rel=1e-4)
    assert found.farther == pytest.approx(statistic, abs=1e-3)
    assert 0 < found.farther - found.at_least < 0.13
    assert (found.at_least > 0.5) == (factor > 1)


# real data


def real(folder, name):
    file = np.load(folder / f"{name}.npz")
    return file["X"].astype(np.float32), file.get("y")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["usps", "banking77_minilm", "glove6b50_100k"])
def test_halves_are_kept_and_other_classes_or_vectors_are_not(data_folder, name):
    rows, y = real(data_folder, name)
    rng = np.random.default_rng(1)
    old, new = rows[rng.permutation(len(rows))[:2000]].reshape(2, 1000, -1)
    encoder = DistilHash(24, random_state=0).fit(old)
    for seed in range(2):
        assert judge_drift(encoder, new, training=old, random_state=seed).verdict == "keep"
    turned = np.linalg.qr(rng.standard_normal((rows.shape[1],) * 2))[0].astype(np.float32)
    assert judge_drift(encoder, new @ turned, min_gain=0.01).verdict == "refit"  # another encoder's vectors
    if y is not None:
        known = y < np.median(y)
        before, after = (rng.permutation(np.flatnonzero(mask))[:1500] for mask in (known, ~known))
        encoder = DistilHash(24, random_state=0).fit(rows[before])
        assert judge_drift(encoder, rows[after]).verdict == "refit"


@pytest.mark.slow
def test_new_classes_alone_are_a_reason(data_folder):
    rows, y = real(data_folder, "usps")
    known, others = (
        np.random.default_rng(0).permutation(np.flatnonzero(mask))[:1500] for mask in (y < 5, y >= 5)
    )
    encoder = DistilHash(12, random_state=0).fit(rows[known], y[known])
    alone = judge_drift(encoder, rows[others])
    assert alone.verdict == "refit"
    assert alone.new_class_share == encoder.new_class_share(rows[others]) >= 0.1
    assert alone.reasons == [
        f"{alone.new_class_share:.0%} of the rows or more are of no class of the training labels"
    ]


def test_the_page_counts_the_verdicts_of_the_result_file():
    root = Path(__file__).parents[2]
    lines = json.loads((root / "benchmarks" / "results" / "drift.json").read_text())["lines"]
    counts = {
        change: [sum(line[key] for line in lines if line["change"] == change) for key in ("refit", "seeds")]
        for change in ("same", "other classes", "turned")
    }
    assert counts == {"same": [0, 60], "other classes": [10, 10], "turned": [15, 15]}
    page = (root / "docs" / "evaluation.md").read_text()
    for part in ("`keep` in 60 of 60 draws", "`refit` in 10 of 10 draws", "in 15 of 15 of rotated vectors"):
        assert part in page


# what is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": X[:199]}, "X has 199 rows; give at least 200"),
        ({"training": X[:9]}, "training has 9 rows; give at least 200"),
        ({"k": 0}, "k=0: give an integer of at least 1"),
        ({"min_gain": -0.1}, "min_gain=-0.1: give a finite number of at least 0"),
        ({"X": np.full((300, 64), np.nan)}, "X holds NaN"),
        ({"X": X[:300, :5]}, "features"),
        ({"training": X[:300, :5]}, "features"),
    ],
)
def test_what_cannot_be_judged_is_refused(model, given, message):
    with pytest.raises(ValueError, match=message):
        judge_drift(model, **({"X": X[NEW]} | given))


def test_codes_that_are_no_bits_have_no_means(tmp_path):
    product = load("baselines", "pq:n_bits=16,random_state=0").fit(X[OLD])
    found = judge_drift(product, X[NEW], training=X[OLD])
    assert found.bits is None
    assert product.new_class_share(X) == 0
    assert found.verdict == "keep"
    assert 0.2 < found.gain.model < 0.95


def test_sums_learned_from_labels_are_judged_by_labels():
    model = AdditiveHash(16, random_state=0).fit(X[OLD], Y[OLD])
    with pytest.raises(ValueError, match="learned from labels, and nothing is there to judge it by"):
        judge_drift(model, X[NEW])
    found = judge_drift(model, X[NEW], Y[NEW])
    assert found.verdict == "keep"
    assert found.gain.measure == "precision@10"
    assert judge_drift(AdditiveHash(16, random_state=0).fit(X[OLD]), X[NEW]).gain.measure == "recall@10"


@pytest.mark.slow
def test_several_labels_a_row_are_judged_by_shared_labels():
    settings = {"n_near": 5, "n_far": 9, "random_state": 0}
    several = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6]).astype(int)  # 1 and 5 have none
    old, rows, labels = StructHash(8, **settings).fit(X[:200], several[:200]), X[NEW], several[NEW]
    found = judge_drift(old, rows, labels, k=5, random_state=0).gain
    split = seen_classes(rows, 0, 1000)
    fitted_on, searched = np.array_split(split.database, 2)
    queries = split.queries[labels[split.queries].sum(axis=1) > 0]
    fresh = StructHash(8, **settings).fit(rows[fitted_on], labels[fitted_on])
    relevant = np.array(
        [
            [bool(set(np.flatnonzero(labels[a])) & set(np.flatnonzero(labels[b]))) for b in searched]
            for a in queries
        ]
    )
    for each, value in ((old, found.model), (fresh, found.refit)):
        codes = [np.unpackbits(each.encode(rows[some]), axis=1) for some in (queries, searched)]
        distances = (codes[0][:, None] != codes[1]).sum(axis=2)
        expected = expected_share_of_ties(distances, relevant, 5)
        assert value == pytest.approx(expected.mean())
    assert (found.measure, found.n_queries) == ("precision@5", len(queries))
    assert len(queries) < len(split.queries)


def expected_share_of_ties(distances, relevant, k):
    """Share of relevant rows among the first k, by the mean over the orders of ties; one value a query."""
    found = []
    for apart, hits in zip(distances, relevant):
        limit = np.sort(apart)[k - 1]
        inside, tied = apart < limit, apart == limit
        found.append((hits[inside].sum() + (k - inside.sum()) * hits[tied].mean()) / k)
    return np.array(found)
