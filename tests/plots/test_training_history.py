"""The picture of how a model was learned."""

import io

import numpy as np
import pytest

from structhash import DistilHash
from structhash.baselines import LSH
from structhash.plots import training_history


def test_the_curves_are_those_of_the_history(ax, digits):
    encoder = DistilHash(n_bits=6, random_state=0).fit(*digits)
    assert training_history(encoder, ax=ax) is ax
    assert ax.get_yscale() == "log"
    for line, name in zip(ax.lines, ("objective", "violation", "gap"), strict=True):
        assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
        values = np.array([each[name] for each in encoder.history_])
        np.testing.assert_array_equal(line.get_ydata(), np.where(values > 0, values, np.nan))
    ax.figure.savefig(io.BytesIO())


def test_values_of_zero_leave_a_hole(ax, digits):
    encoder = DistilHash(n_bits=2, random_state=0).fit(*digits)
    encoder.history_ = [{"objective": 2.0, "violation": 0.0, "gap": -1e-20}, encoder.history_[1]]
    training_history(encoder, ax=ax)
    assert np.isnan(ax.lines[1].get_ydata()[0])
    assert np.isnan(ax.lines[2].get_ydata()[0])


def test_a_method_without_a_history_is_refused(ax, digits):
    with pytest.raises(ValueError, match=r"LSH.*did not learn bit by bit; give a fitted DistilHash"):
        training_history(LSH(n_bits=8).fit(digits[0]), ax=ax)
