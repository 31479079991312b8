"""The page docs/threads.md: encoders that threads and processes share."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import get_tags
from threadpoolctl import threadpool_info, threadpool_limits

from structhash import AdditiveHash, CGHash, DistilHash, StructHash
from structhash.pieces import classes, names

SECONDS = 60  # no right answer takes so long; a process that hangs is ended then

ENCODERS = {name: piece(8) for name, piece in classes("baselines").items()}
ENCODERS |= {f"distilhash {name}": DistilHash(8, embedding=name) for name in names("embeddings")}
ENCODERS |= {f"structhash {name}": StructHash(8, family=name) for name in names("families")}
ENCODERS |= {"cghash": CGHash(8), "additivehash": AdditiveHash(16)}


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:900] + 0.1, y[:900]


def fitted(name):
    """An encoder of 200 digits."""
    X, y = digits()
    encoder = ENCODERS[name]
    if "random_state" in encoder.get_params(deep=False):
        encoder.set_params(random_state=0)
    unlabeled = {"unlabeled": X[200:600]} if name == "distilhash manifold" else {}
    needs_labels = (
        encoder.takes_supervision or encoder.takes_unlabeled or get_tags(encoder).target_tags.required
    )
    return encoder.fit(X[:200], *([y[:200]] if needs_labels else []), **unlabeled)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_threads_and_copies_encode_alike(name):
    X, encoder = digits()[0], fitted(name)
    encode = encoder.encode_queries if encoder.codes_are_bits else encoder.encode
    codes = encode(X)
    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(encode, [X] * 8):
                np.testing.assert_array_equal(found, codes)
        assert {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"} == {2}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(encode))(X), codes)


FORKS = """
import importlib.util, multiprocessing, sys
import numpy as np

spec = importlib.util.spec_from_file_location("shared", sys.argv[1])
shared = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shared)
X, log = shared.digits()[0], sys.argv[2]

def work(name, encode, codes):
    np.testing.assert_array_equal(encode(X), codes)
    with open(log, "a") as file:
        file.write(name + "\\n")

for name in shared.ENCODERS:
    encoder = shared.fitted(name)
    encode = encoder.encode_queries if encoder.codes_are_bits else encoder.encode
    codes = encode(X)
    child = multiprocessing.get_context("fork").Process(target=work, args=(name, encode, codes))
    child.start()
    child.join(shared.SECONDS)
    if child.exitcode != 0:
        child.kill()
        raise SystemExit(f"{name}: the child ended with {child.exitcode}")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes_encode_alike(tmp_path, monkeypatch):
    """The parent has encoded on several threads before each fork."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    words = [sys.executable, "-W", "ignore", "-c", FORKS, __file__, str(tmp_path / "log")]
    subprocess.run(words, check=True, timeout=10 * SECONDS)
    assert (tmp_path / "log").read_text().splitlines() == list(ENCODERS)


@pytest.mark.slow
def test_a_spawned_process_gets_an_encoder():
    X, encoder = digits()[0], fitted("distilhash posterior")
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # its end kills the process
        found = pool.apply_async(encoder.encode, (X,)).get(SECONDS)
    np.testing.assert_array_equal(found, encoder.encode(X))


@pytest.mark.slow
def test_fits_in_threads_learn_what_they_learn_alone():
    X, y = digits()
    seeds = range(4)

    def fit(seed):
        return DistilHash(8, random_state=seed).fit(X[:200], y[:200]).fingerprint()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(4) as pool:
        together = list(pool.map(fit, seeds))
    assert together == [fit(seed) for seed in seeds]
