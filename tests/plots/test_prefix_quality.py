"""The picture of the quality of prefixes."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from structhash import CGHash, DistilHash
from structhash.plots import prefix_quality


def test_weighted_prefixes_score_as_scikit_learn_says(ax, digits):
    X, y = digits
    encoder = CGHash(n_bits=6, n_near=5, n_far=5, random_state=0).fit(X[:150], y[:150])
    Q, rows, y_queries, labels = X[150:170], X[170:], y[150:170], y[170:]
    prefix_quality(encoder, Q, rows, y_queries, labels, "auc", bits=[2, 6], ax=ax)
    assert [line.get_label() for line in ax.lines] == ["plain Hamming distance", "weighted Hamming distance"]
    for line, weigh in zip(ax.lines, (np.ones_like, lambda w: w), strict=True):
        for n_bits, value in zip(line.get_xdata(), line.get_ydata(), strict=True):
            weights = weigh(encoder.weights_at(int(n_bits)))
            codes, queries = encoder.encode(rows, int(n_bits)), encoder.encode_queries(Q, int(n_bits))
            scores = []  # ties count one half, as they do in expectation
            for code, label in zip(queries, y_queries, strict=True):
                bits = np.unpackbits(code ^ codes, axis=1, bitorder="little")[:, : int(n_bits)]
                scores.append(roc_auc_score(labels == label, -np.round(bits @ weights, 6)))
            assert value == pytest.approx(np.mean(scores), abs=1e-6)


def test_usual_lengths_reach_from_one_bit_to_all(ax, digits):
    X, y = digits
    encoder = DistilHash(n_bits=20, random_state=0).fit(X[:150], y[:150])
    prefix_quality(encoder, X[150:170], X[170:], y[150:170], y[170:], "mAP", ax=ax)
    lengths = ax.lines[0].get_xdata()
    assert (lengths[0], lengths[-1], len(lengths)) == (1, 20, 12)
    assert len(ax.lines) == 1
    assert ax.get_ylabel() == "map"
    with pytest.raises(ValueError, match="bits=21: give an integer of at least 1 and at most 20"):
        prefix_quality(encoder, X, X, y, y, bits=[21], ax=ax)
