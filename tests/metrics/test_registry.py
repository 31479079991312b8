"""Metrics by text name; a new file is a new metric."""

import re
import tracemalloc

import numpy as np
import pytest

from structhash import metrics
from structhash.metrics import canonical, names, ndcg, parse, tie_blocks

FORMS = "auc, map, map@k, map_hits@k, mrr, ndcg@k, ndcg_paper@k, pr_area, precision@k, recall@k, sndcg"
NEW_METRIC = """
import numpy as np

def documents(blocks, k=1):
    return np.full(blocks.n_queries, float(k))

NAMES = {names}
"""


@pytest.fixture
def add_file(tmp_path, monkeypatch):
    """Write a file that is found as a module of `structhash.metrics`."""
    monkeypatch.setattr(metrics, "__path__", [*metrics.__path__, str(tmp_path)])

    def add(module, names):
        (tmp_path / f"{module}.py").write_text(NEW_METRIC.replace("{names}", names))

    return add


def test_names_are_sorted():
    assert names() == sorted(names())
    assert set(FORMS.split(", ")) <= set(names())


@pytest.mark.parametrize(
    "name",
    ["ndcg@0", "ndcg", "ndcg@k", "precision", "auc@5", "mrr@10", "map@-1", "map@", "x", "", "pr_area@5"],
)
def test_unknown_name(name):
    message = f"metric='{name}': give one of {', '.join(names())}, with an integer k >= 1"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse(name)


@pytest.mark.parametrize("name", [None, 3, np.ones((300, 40))])
def test_a_name_is_a_string(name):
    with pytest.raises(ValueError, match=r"metric=(None|3|ndarray of shape \(300, 40\)): give"):
        parse(name)


def test_names_differ_in_discount():
    blocks = tie_blocks([[1, 2, 3, 4]], [[0, 0, 1, 1]])
    assert parse("ndcg@3")(blocks) == ndcg(blocks, 3, "standard")
    assert parse("ndcg_paper@3")(blocks) == ndcg(blocks, 3, "paper") != ndcg(blocks, 3, "standard")


@pytest.mark.parametrize("name", [name for name in FORMS.split(", ") if name.endswith("@k")])
def test_a_huge_cut_is_exact_and_needs_no_memory(name):
    rng = np.random.default_rng(0)
    blocks = tie_blocks(rng.integers(0, 5, (4, 30)), rng.integers(0, 2, (4, 30)))
    for k in (31, 10**9, 2**63, 10**18, 10**308, 10**400):
        shrinks = name == "precision@k"  # the other metrics do not divide by k
        expected = parse(name.replace("@k", "@30"))(blocks) * ((30 / k if k < 10**400 else 0) if shrinks else 1)
        tracemalloc.start()
        try:
            found = parse(name.replace("@k", f"@{k}"))(blocks)
            assert tracemalloc.get_traced_memory()[1] < 1e5
        finally:
            tracemalloc.stop()
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_a_new_file_is_a_new_metric(add_file):
    blocks = tie_blocks([[1, 2], [2, 1]], [[1, 0], [0, 1]])
    add_file("added_metric", '{"added": documents, "added@k": documents}')
    assert {"added", "added@k"} < set(names())
    np.testing.assert_array_equal(parse("added@7")(blocks), [7, 7])
    np.testing.assert_array_equal(parse("added")(blocks), [1, 1])


def test_private_files_and_contracts_are_no_metrics(add_file):
    for module in ("_added", "base"):
        add_file(module, '{"hidden": documents}')
    assert "hidden" not in names()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("mAP", "map"),
        ("MAP", "map"),
        ("NDCG@10", "ndcg@10"),
        ("nDCG@010", "ndcg@10"),
        ("Precision@10", "precision@10"),
    ],
)
def test_a_name_has_any_capitals(given, name):
    blocks = tie_blocks([[1, 2, 3, 4]], [[0, 1, 0, 1]])
    assert canonical(given) == canonical(name) == name
    np.testing.assert_array_equal(parse(given)(blocks), parse(name)(blocks))


def test_every_name_is_canonical():
    for name in (form.replace("@k", "@3") for form in names()):
        assert canonical(name) == canonical(name.upper()) == name


def test_names_that_differ_in_capitals_alone_are_exact(add_file):
    add_file("capital_metric", '{"capital@k": documents, "Capital@k": documents}')
    assert (canonical("capital@3"), canonical("Capital@3")) == ("capital@3", "Capital@3")
    with pytest.raises(ValueError, match="metric='CAPITAL@3': give one of Capital@k"):
        canonical("CAPITAL@3")


def test_two_metrics_of_one_name_are_refused(add_file):
    add_file("another_map", '{"map": documents}')
    with pytest.raises(ValueError, match="two metrics are called 'map'; give each a name of its own"):
        names()
