"""RaBitQ: signs and distances of faiss, and the estimate of a distance."""

import faiss
import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import PCAH, RABITQ
from structhash.evaluation import compare_neighbours

X, _ = load_digits(return_X_y=True)
X, Q = X[:1500].astype(np.float32) + np.float32(0.25), X[1500:1540].astype(np.float32)


@pytest.mark.parametrize("n_bits", [16, 64, 104])
def test_signs_and_distances_are_those_of_faiss(n_bits):
    encoder = RABITQ(n_bits, random_state=0).fit(X)
    rows, asked = (encoder._rotated(each).astype(np.float32) for each in (X, Q))
    index = faiss.IndexRaBitQ(n_bits, faiss.METRIC_L2)
    index.train(rows)
    faiss.copy_array_to_vector(np.zeros(n_bits, np.float32), index.center)
    index.add(rows)
    index.qb = 0
    assert index.code_size == n_bits // 8 + 8  # bytes a row
    stored = faiss.vector_to_array(index.codes).reshape(len(X), -1)[:, : n_bits // 8]
    assert (stored == encoder.encode(X)).mean() > 0.999  # a sign may change where a number is almost 0
    theirs, ids = index.search(asked, len(X))
    ours = encoder.own_distances(X)(Q)
    unit = theirs.mean() / ours.mean()
    assert np.log2(unit) == pytest.approx(np.round(np.log2(unit)), abs=1e-4)
    found = np.maximum(unit * np.take_along_axis(ours, ids, axis=1), 0)  # as faiss does
    np.testing.assert_allclose(found, theirs, rtol=1e-3, atol=1e-2)


def test_an_estimate_is_right_on_average_over_rotations():
    true = ((Q[:3, None].astype(float) - X[:40]) ** 2).sum(axis=2)
    found = []
    for seed in range(150):
        encoder = RABITQ(64, random_state=seed).fit(X[:400])
        ours = encoder.own_distances(X[:40])(Q[:3])
        o = encoder._rotated(X[:40])
        found.append(ours * (o**2).sum() / (np.ldexp(o, -int(np.frexp(np.abs(o).max())[1])) ** 2).sum())
    np.testing.assert_allclose(np.mean(found, axis=0), true, rtol=0.2)
    assert np.abs(np.mean(found, axis=0) / true - 1).mean() < 0.05


@pytest.mark.parametrize("n_bits", [10, 64, 90])
def test_rows_are_projected_on_principal_components_and_rotated(n_bits):
    encoder = RABITQ(n_bits, random_state=0).fit(X)
    axes = PCAH(n_bits).fit(X).planes_
    axes = axes[np.abs(axes).sum(axis=1) > 0].astype(float)
    planes = encoder.planes_.astype(float)
    np.testing.assert_allclose(planes.T @ planes, axes.T @ axes, atol=1e-5)


def test_lines_are_those_of_the_signs_and_with_factors():
    plain, factors = compare_neighbours(["rabitq"], X, bits=[32], seeds=[0], n_queries=60)
    assert (plain.distance, factors.distance) == ("plain", "factors, +64 bits")
    assert factors.scores.mean["recall@10"] > plain.scores.mean["recall@10"]


def test_a_row_at_the_mean_has_a_distance():
    encoder = RABITQ(16, random_state=0).fit(X)
    rows = np.stack([encoder.mean_, X[0]])
    found = encoder.own_distances(rows)(rows)
    assert np.isfinite(found).all()
    assert found[0, 0] == pytest.approx(0, abs=1e-9)
