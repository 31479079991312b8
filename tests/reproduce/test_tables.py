"""Tables with the paper's numbers above ours."""

import numpy as np
import pytest

from structhash.reproduce.results import Results
from structhash.reproduce.tables import make_tables, score_values, training_values


@pytest.fixture
def results(finished):
    methods = ("StructH-N", "CGH", "ITQ", "StructH-N-Stage")
    runs = [finished("usps", m, 0.8 + i / 100, seconds=0.5) for i, m in enumerate(methods)]
    return Results([*runs, finished("mnist", "StructH-N", 0.7), finished("cifar10_gist512", "ITQ", 0.3)])


def texts(table, *names):
    return next(
        [c.text for c in line[len(names) :]]
        for line in table.lines
        if [c.text for c in line[: len(names)]] == [*names]
    )


def test_a_table_has_the_number_of_the_paper_and_ours(results):
    table = make_tables(results)[0]
    column = table.head.index("ITQ") - 3
    assert texts(table, "USPS", "NDCG@100", "paper")[column] == "0.804"
    assert texts(table, "USPS", "NDCG@100", "ours")[column] == "0.820"
    assert texts(table, "USPS", "NDCG@100", "ours")[table.head.index("LSH") - 3] == "-"


def test_the_best_of_each_line_is_marked(results):
    best = {
        tuple(cell.text for cell in line[:3]): [
            name for name, cell in zip(make_tables(results)[0].head, line) if cell.best
        ]
        for line in make_tables(results)[0].lines
    }
    assert best["USPS", "NDCG@100", "paper"] == ["StructH-N"]
    assert best["USPS", "NDCG@100", "ours"] == ["ITQ"]


def test_other_data_and_open_definitions_are_marked(results):
    marks = {(v.table, v.measure, v.data): v.marks for v in score_values(results)}
    assert marks[1, "ndcg_paper@100", "usps"] == []
    assert "GIST" in marks[1, "ndcg_paper@100", "cifar10_gist512"][0]
    assert marks[1, "ndcg_paper@100", "mnist"] == []
    assert "how deep" in marks[2, "map", "mnist"][0]
    assert "how deep" in marks[2, "pr_area", "mnist"][0]
    first, second, *_ = make_tables(results)
    assert texts(first, "CIFAR-10", "NDCG@100", "ours*")
    assert any(remark.startswith("* CIFAR-10: our own GIST") for remark in first.remarks)
    assert texts(second, "MNIST", "mAP", "ours*")
    assert texts(second, "MNIST", "mAP", "ours, first 10,000")


def test_every_number_of_the_paper_for_these_sets_is_there(results):
    values = score_values(results)
    assert len(values) == 3 * (11 + 33 + 12)
    assert sum(value.ours is not None for value in values) == 4 * (3 + 3) - 4 + 4 + 4 + 4


def test_the_cost_of_training_is_counted(finished):
    rounds = np.arange(1, 65)
    results = Results(
        [finished("isolet", "StructH-N", 0.8, seed=s, rounds=rounds + s, seconds=0.5) for s in (0, 1)]
    )
    ours = next(v for v in training_values(results) if v.whose == "ours")
    assert ours.cost.inferences == {16: 16.5, 32: 32.5, 48: 48.5, 64: 64.5}
    assert ours.cost.seconds == pytest.approx(32)
    assert ours.cost.seconds_per_inference == pytest.approx(32 / (rounds + 0.5).sum())
    lines = make_tables(results)[3].lines
    assert [cell.text for cell in lines[0]][:4] == ["ISOLET", "StructH-N", "paper", "149"]
    assert [cell.text for cell in lines[1]][:4] == ["ISOLET", "StructH-N", "ours", "16.5"]
