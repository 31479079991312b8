"""The temperature of cosine targets gives each the wanted perplexity."""

import numpy as np
import pytest

from structhash.embeddings._targets import targets_by_cosine


def test_cosine_targets_have_the_perplexity_of_a_tenth_of_the_list():
    Z = np.random.default_rng(0).normal(size=(60, 5))
    partners = np.array([np.delete(np.arange(60), i)[:50] for i in range(60)])
    targets = targets_by_cosine(Z, np.arange(60), partners, np.ones(50))
    perplexity = np.exp(-(targets * np.log(targets + 1e-300)).sum(axis=1))
    np.testing.assert_allclose(perplexity, 5, rtol=1e-3)
    U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    for i in range(60):  # the order is that of the cosines
        np.testing.assert_array_equal(np.argsort(targets[i]), np.argsort((U @ U[i])[partners[i]]))


def test_no_more_than_two_hundred_points_count_as_near():
    Z = np.random.default_rng(0).normal(size=(400, 5))
    partners = np.arange(1, 400)[None]
    counts = np.r_[np.ones(100), np.full(299, 20.0)]
    (targets,) = targets_by_cosine(Z, np.array([0]), partners, counts)
    perplexity = np.exp(-(targets * np.log(targets / counts + 1e-300)).sum())
    assert perplexity == pytest.approx(200, rel=1e-3)
