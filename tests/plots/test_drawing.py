"""A new figure where no axes are given; matplotlib is imported only then."""

import subprocess
import sys

import numpy as np
from matplotlib import pyplot

from structhash.plots import bit_balance


def test_a_new_figure_is_made():
    before = pyplot.get_fignums()
    axes = [bit_balance(np.array([[1]], np.uint8), 8) for _ in range(2)]
    assert axes[0].figure is not axes[1].figure
    assert len(pyplot.get_fignums()) == len(before) + 2
    for each in axes:
        pyplot.close(each.figure)


def test_without_matplotlib_the_error_says_what_to_install():
    code = """
import sys
sys.modules["matplotlib"] = None
import numpy as np, structhash
from structhash.plots import bit_balance
try:
    bit_balance(np.array([[1]], np.uint8), 8)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "a plot needs matplotlib, which is not installed; pip install structhash[report]\n"


def test_matplotlib_is_not_imported_before_it_is_needed():
    code = "import sys, structhash, structhash.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
