import numpy as np
import pytest

from structhash.objectives.regularizers.linf import LInf
from structhash.pieces import load


def test_linf_costs_nothing_up_to_its_bound():
    assert LInf(0.5).cost(np.array([0, 1])) == 0
    assert LInf(0.5).upper == 0.5
    assert load("regularizers", "linf:bound=0.5") == LInf(0.5)


@pytest.mark.parametrize("bound", [0, -1.0, np.inf, np.nan, True, "wide", None])
def test_a_bad_bound_is_refused(bound):
    with pytest.raises(ValueError, match=r"bound=.*: give a finite number above 0"):
        LInf(bound)
