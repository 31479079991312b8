"""Places for stores: files, and the PostgreSQL server of the test run."""

import numpy as np
import pytest

from structhash.codes import pack
from structhash.pieces import classes

SERVED = ("postgres", "pgvector")  # a server takes seconds to start


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SERVED)) for name in classes("stores")]
)
def make_store(request, tmp_path):
    """A function of settings that makes a store of each kind, in an empty place."""
    place = request.getfixturevalue("database") if request.param in SERVED else str(tmp_path / "codes.db")
    return lambda **words: classes("stores")[request.param](place, **words)


@pytest.fixture(scope="session")
def tied_codes():
    """A function of (n, n_bits): n codes and 6 queries, with many ties and a distance of n_bits."""

    def make(n, n_bits):
        rng = np.random.default_rng(n_bits)
        pool = rng.integers(0, 2, (max(2, n // 30), n_bits), dtype=np.uint8)
        bits = pool[rng.integers(0, len(pool), n)]
        queries = np.concatenate([rng.integers(0, 2, (4, n_bits), dtype=np.uint8), bits[:1], 1 - bits[:1]])
        return pack(bits), pack(queries)

    return make
