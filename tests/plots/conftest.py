"""Axes that belong to no window."""

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def ax():
    return Figure().subplots()
