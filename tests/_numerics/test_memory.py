"""Large arrays."""

import mmap

import numpy as np
import pytest

from structhash._numerics.memory import MIN_MAPPED_BYTES, allocate


@pytest.mark.parametrize("size", [0, 5, MIN_MAPPED_BYTES])
def test_arrays_can_be_written_and_share_nothing(size):
    array, other = allocate(size, np.int16), allocate(size, np.int16)
    array[:], other[:] = 3, 4
    assert (array.dtype, array.shape) == (np.int16, (size,))
    assert (array == 3).all()


def test_large_arrays_are_mapped():
    assert isinstance(allocate(MIN_MAPPED_BYTES, np.uint8).base.obj, mmap.mmap)
    assert allocate(MIN_MAPPED_BYTES - 1, np.uint8).base is None
