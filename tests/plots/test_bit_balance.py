"""The picture of how often bits are set."""

import numpy as np
import pytest

from structhash.codes import pack
from structhash.plots import bit_balance


def test_a_bar_is_the_share_of_ones(ax, rng):
    bits = rng.random((50, 11)) < np.linspace(0, 1, 11)
    bit_balance(pack(bits), 11, ax=ax)
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx(range(1, 12))
    assert [bar.get_height() for bar in ax.patches] == [np.mean([row[j] for row in bits]) for j in range(11)]
    assert set(ax.lines[0].get_ydata()) == {0.5}


def test_codes_of_another_length_are_refused(ax):
    with pytest.raises(ValueError, match="9 bits"):
        bit_balance(np.zeros((3, 1), np.uint8), 9, ax=ax)
