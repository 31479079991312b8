from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.codes import pack
from structhash.evaluation import code_blocks, retrieval, same_label

X, Y = load_digits(return_X_y=True)
KNOWN = np.flatnonzero(Y < 7)


@pytest.fixture(scope="module")
def fitted():
    return DistilHash(16, random_state=0).fit(X[KNOWN[::2]], Y[KNOWN[::2]])


def test_a_database_with_new_classes_is_noticed(fitted):
    rows = np.setdiff1d(np.arange(len(X)), KNOWN[::2])
    assert 0.1 < fitted.new_class_share(X[rows]) < (Y[rows] >= 7).mean() + 0.02
    with pytest.warns(UserWarning, match="like no class.*as unlabeled; until then.*encode"):
        codes = fitted.encode(X[rows])
    np.testing.assert_array_equal(codes[:10], fitted.encode(X[rows[:10]]))  # ten rows do not warn


def test_rows_of_known_classes_are_coded_without_a_warning(fitted):
    fresh = np.resize(KNOWN[1::2], 1200)
    assert fitted.new_class_share(X[fresh]) < 0.1
    fitted.encode(X[fresh])  # warnings are errors in these tests
    fitted.encode_queries(X)  # queries of new classes are not coded as rows


def test_queries_of_new_classes_find_less_when_they_are_sharpened(fitted):
    queries = np.flatnonzero(Y >= 7)[::4]
    database = np.setdiff1d(np.arange(len(X)), np.concatenate([queries, KNOWN[::2]]))[:900]
    sharp = replace(fitted.hash_function_, query_temperatures=(1.0,) * 5).query_bits_of(X[queries], 16)
    found = []
    for codes in (pack(sharp), fitted.encode_queries(X[queries]), fitted.encode(X[queries])):
        blocks = code_blocks(codes, fitted.encode(X[database]), same_label(Y[queries], Y[database]))
        found.append(retrieval(blocks, ["precision@10"]).mean["precision@10"])
    assert found[0] + 0.15 < found[1] <= found[2]


def test_a_loaded_model_knows_how_sure_it_was(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    assert load_model(tmp_path / "model").new_class_share(X) == fitted.new_class_share(X)


@pytest.mark.parametrize("embedding", ["centered", "metric", "manifold", "mixture"])
def test_other_embeddings_tell_nothing(embedding):
    rows = KNOWN[:200]
    found = DistilHash(4, embedding=embedding, random_state=0).fit(X[rows], Y[rows], unlabeled=X[:300])
    assert found.new_class_share(X) == 0
    assert found.new_class_share(X[:0]) == 0
