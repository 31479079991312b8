"""The rows that a mask of codes keeps, against those of numpy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from structhash.search._masks import rows_kept


@pytest.mark.parametrize("n", [0, 1, 7, 8, 63, 64, 65, 128, 1000])
@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.5, 1])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_rows_are_those_of_numpy(n, share, step, rng):
    mask = (rng.random(3 * n) < share)[::step][:n]
    rows = rows_kept(mask)
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows, np.flatnonzero(mask))


@pytest.mark.parametrize("n", [1, 64, 130])
def test_each_single_row(n):
    for i in range(n):
        assert rows_kept(np.arange(n) == i).tolist() == [i]


def test_a_mask_that_is_read_only_or_holds_other_bytes_than_0_and_1():
    mask = np.array([0, 1, 2, 255, 0], np.uint8).view(np.bool_)
    mask.flags.writeable = False
    assert rows_kept(mask).tolist() == [1, 2, 3]


def test_rows_where_numba_compiles_nothing():
    program = """
import numpy as np
from structhash.search._masks import rows_kept
mask = np.random.default_rng(0).random(1000) < 0.3
print((rows_kept(mask) == np.flatnonzero(mask)).all())
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("True\n", 0), ran.stderr
