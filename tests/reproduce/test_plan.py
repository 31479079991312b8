"""Which runs are planned."""

from itertools import groupby

import pytest

from structhash.evaluation import parse_method
from structhash.reproduce.plan import METHODS, N_BITS, make_plan
from structhash.reproduce.published import published
from structhash.reproduce.sets import SETS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_method_spec(name):
    kind = METHODS[name]
    encoder = parse_method(kind.spec).encoders[0]
    assert kind.costs == hasattr(encoder, "warm_start")  # what learns bit after bit
    assert kind.by_prefix == (kind.costs or name == "SPLH")
    weighs = name in ("StructH-N", "StructH-A", "CGH")
    assert kind.distance == ("weighted" if weighs else "plain")


@pytest.mark.parametrize("quick", [True, False])
def test_no_run_is_planned_twice_and_those_of_a_split_stand_together(quick):
    runs = make_plan(quick).runs
    assert len(runs) == len(set(runs))
    scored = [(run.data, run.seed) for run in runs if run.lengths]
    assert len([key for key, _ in groupby(scored)]) == len(set(scored))


def test_the_full_plan_has_every_number_of_the_tables_that_our_sets_can_give():
    runs = make_plan(quick=False).runs
    has = {(SETS[run.data].in_paper, run.method) for run in runs if N_BITS in run.lengths}
    ours = {info.in_paper for info in SETS.values()}
    wanted = {(data, method) for _, _, data, method in published().scores if data in ours}
    assert wanted <= has


def test_large_sets_train_on_5000_rows_and_others_on_2000():
    runs = [run for run in make_plan(quick=False).runs if run.lengths]
    assert {run.n_train for run in runs if SETS[run.data].labelled} == {2000}
    assert {run.n_train for run in runs if not SETS[run.data].labelled} == {5000}


def test_the_quick_plan_is_a_part_and_says_so():
    quick, full = make_plan(quick=True), make_plan(quick=False)
    assert quick.sets == ["usps", "isolet"]
    assert {run for run in quick.runs if run.lengths} < set(full.runs)
    assert any("quick" in line for line in quick.left_out)
    assert not any("quick" in line for line in full.left_out)
