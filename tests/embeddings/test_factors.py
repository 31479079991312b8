"""Factors of queries and rows: their products, against the formula added up term by term."""

import numpy as np
import pytest

from structhash.embeddings._factors import (
    MOST_ALIKE,
    FactorParts,
    query_factors,
    row_factors,
)

TRUST = np.array([0.3, 0.8, 1])


@pytest.fixture
def parts():
    """Class probabilities, chances of a known class, and the three parts of length 1, of six rows."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.5), 6)
    soft, near, centred = (
        each / np.linalg.norm(each, axis=1)[:, None] for each in (rng.normal(size=(6, d)) for d in (3, 4, 5))
    )
    return FactorParts(P, np.array([0, 0.2, 0.5, 0.9, 1, 1]), soft, near, centred)


def test_a_product_is_the_sum_of_the_terms(parts):
    P, k, soft, near, centred = parts
    products = query_factors(parts, TRUST) @ row_factors(parts).T
    for i in range(6):
        for j in range(6):
            same = sum(TRUST[c] * P[i, c] * P[j, c] for c in range(3))
            expected = 4 * k[i] ** 3 * np.sqrt(k[j]) * same
            new = 1 - k[i]
            expected += (new + 2 * new**4) * (1 - k[j])
            trusted = sum(TRUST[c] * P[i, c] for c in range(3))
            expected += 0.6 * trusted * (soft[i] @ soft[j])
            of_graph = 2 + 7 * new**4 + 3 * k[i] * (0.5 - trusted)
            expected += of_graph * (near[i] @ near[j]) + 0.7 * centred[i] @ centred[j]
            assert products[i, j] == pytest.approx(expected)


def test_a_query_that_may_be_of_a_new_class_asks_for_both_alike():
    def row(k):
        return FactorParts(np.ones((1, 1)), np.array([k]), *np.zeros((3, 1, 3)))

    def asked(k):
        query, rows = query_factors(row(k), np.ones(1)), [row_factors(row(each)) for each in (1.0, 0.0)]
        return [(query @ each.T).item() for each in rows]  # for a sure row of the class, and for a new one

    assert asked(0.0) == [0, 3]
    assert asked(1.0) == [4, 0]
    assert asked(0.525) == pytest.approx([0.58, 0.58], abs=0.01)


def test_nothing_is_more_alike_than_a_sure_row_and_itself(parts):
    sure = parts._replace(P=np.eye(3)[parts.P.argmax(axis=1)], known=np.ones(6))
    np.testing.assert_allclose((query_factors(sure, np.ones(3)) @ row_factors(sure).T).diagonal(), 5.8)
    new = parts._replace(P=np.eye(3)[parts.P.argmax(axis=1)], known=np.zeros(6))
    np.testing.assert_allclose((query_factors(new, np.ones(3)) @ row_factors(new).T).diagonal(), 13.3)
    assert (query_factors(parts, np.ones(3)) @ row_factors(parts).T <= 13.3 + 1e-12).all()
    assert MOST_ALIKE > 13.3
