"""Residual quantisation: codes and rankings of faiss, and the beam search by enumeration."""

from itertools import product

import faiss
import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import RQ
from structhash.codes import prepared_distances

X, _ = load_digits(return_X_y=True)
X, Q = X[:1500].astype(np.float32), X[1500:1550].astype(np.float32)


def of_faiss(encoder):
    """faiss's index of residual quantisation with the centroids of an encoder; it is empty."""
    index = faiss.IndexResidualQuantizer(X.shape[1], len(encoder.sizes_), 8)
    index.rq.max_beam_size = encoder.beam_
    faiss.copy_array_to_vector(encoder.centroids_.ravel(), index.rq.codebooks)
    index.rq.is_trained = index.is_trained = True
    return index


@pytest.mark.slow
@pytest.mark.parametrize("n_bits", [8, 32])
def test_codes_and_rankings_are_those_of_faiss(n_bits, assert_same_ranking):
    encoder = RQ(n_bits, random_state=0).fit(X)
    assert_same_ranking(encoder, of_faiss(encoder), X, Q, lambda rows: encoder._scaled(rows).astype(np.float32))


def test_centroids_are_those_that_faiss_learns():
    encoder = RQ(16, max_iter=4, beam=3, random_state=3).fit(X)
    learner = faiss.ResidualQuantizer(64, 2, 8)
    learner.cp.niter, learner.cp.min_points_per_centroid, learner.max_beam_size = 4, 1, 3
    learner.cp.seed = int(np.random.default_rng(3).integers(2**31))
    learner.train(((X - encoder.mean_.astype(float)) / encoder.scale_).astype(np.float32))
    expected = faiss.vector_to_array(learner.codebooks).reshape(2, 256, 64)
    np.testing.assert_array_equal(encoder.centroids_, expected)


@pytest.mark.parametrize("beam", [1, 2, 20])
def test_a_beam_keeps_the_best_codes_of_the_first_bytes(beam):
    encoder = RQ(18, beam=beam, random_state=0).fit(X[:300])
    assert encoder.sizes_.tolist() == [256, 256, 4]
    Z = encoder._scaled(X[300:308])
    books = [book[:size].astype(float) for book, size in zip(encoder.centroids_, encoder.sizes_, strict=True)]
    for z, code in zip(Z, encoder.encode(X[300:308]), strict=True):
        kept = [()]
        for m in range(3):
            grown = [(*code, value) for code, value in product(kept, range(len(books[m])))]
            apart = [((z - sum(books[i][v] for i, v in enumerate(each))) ** 2).sum() for each in grown]
            kept = [grown[place] for place in np.argsort(apart)[:beam]]
        best, found = (((z - sum(books[i][v] for i, v in enumerate(c))) ** 2).sum() for c in (kept[0], code))
        assert found == pytest.approx(best)


@pytest.mark.parametrize("n_bits", [8, 20])
def test_a_distance_is_that_to_the_sum_of_the_centroids(n_bits):
    encoder = RQ(n_bits, random_state=0).fit(X)
    codes = encoder.encode(X)
    decoded = sum(encoder.centroids_[m][codes[:, m]] for m in range(codes.shape[1]))
    rows = decoded.astype(float) * encoder.scale_ + encoder.mean_
    expected = ((Q[:, None] - rows) ** 2).sum(axis=2)
    found = prepared_distances(encoder.prepare_queries(Q), codes) * encoder.scale_**2
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.slow
def test_each_byte_lowers_what_is_left_over():
    errors = []
    for n_bits in (8, 16, 32):
        encoder = RQ(n_bits, random_state=0).fit(X)
        errors.append(np.diag(prepared_distances(encoder.prepare_queries(X), encoder.encode(X))).mean())
    assert errors[0] > errors[1] > errors[2]


def test_a_beam_of_none_is_refused():
    with pytest.raises(ValueError, match="beam=0: give an integer of at least 1"):
        RQ(beam=0).check_settings()
