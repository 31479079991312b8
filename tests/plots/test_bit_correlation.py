"""The picture of how much bits repeat each other."""

import io

import numpy as np

from structhash.codes import pack
from structhash.plots import bit_correlation


def test_a_cell_is_the_correlation_of_two_bits(ax, rng):
    bits = rng.integers(2, size=(60, 10))
    bits[:, 3] = 1 - bits[:, 2]
    bit_correlation(pack(bits > 0), 10, ax=ax)
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shown, np.corrcoef(bits.T), atol=1e-12)
    assert ax.images[0].get_clim() == (-1, 1)
    assert ax.images[0].get_extent() == [0.5, 10.5, 10.5, 0.5]  # bits count from 1, from the top


def test_a_bit_that_never_changes_is_blank(ax, rng):
    bits = rng.integers(2, size=(60, 4))
    bits[:, 1] = 1
    bit_correlation(pack(bits > 0), 4, ax=ax)
    blank = np.ma.getmaskarray(np.ma.masked_invalid(ax.images[0].get_array()))
    assert blank[1].all()
    assert blank[:, 1].all()
    assert blank.sum() == 7
    ax.figure.savefig(io.BytesIO())
