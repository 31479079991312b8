"""Runs that were never made, with numbers that a test chooses."""

import numpy as np
import pytest

from structhash.reproduce.cache import Finished
from structhash.reproduce.plan import METHODS, Run
from structhash.reproduce.run import DEPTHS, MEASURES

N_QUERIES = 40


def finished_run(data, method, value, seed=0, n_bits=64, lengths=(64,), rounds=5.0, seconds=0.1, n_train=2000):
    """A finished run all of whose measures are `value`, for every query up to a small noise.

    `rounds` and `seconds` are those of each bit, a number or n_bits of them.
    """
    run = Run(data, method, n_bits, lengths, seed, n_train)
    kind = METHODS[method]
    distances = dict.fromkeys([kind.distance, "plain"]) if n_bits in lengths else {}
    names = [*MEASURES, *(f"precision@{depth}" for depth in DEPTHS)]
    mean = dict.fromkeys(names, value)
    noise = np.random.default_rng([seed, len(method)]).uniform(-0.01, 0.01, N_QUERIES)
    values = (value + noise - noise.mean()).tolist()
    lines = [{"n_bits": n, "distance": kind.distance, "mean": mean} for n in lengths]
    if "plain" in distances and kind.distance != "plain":
        lines.append({"n_bits": n_bits, "distance": "plain", "mean": mean})
    history = {"rounds": np.broadcast_to(rounds, n_bits), "seconds": np.broadcast_to(seconds, n_bits)}
    record = {
        "fit_seconds": float(np.sum(history["seconds"])),
        "load": 1.5,
        "chosen": "",
        "history": {name: each.tolist() for name, each in history.items()} if kind.costs else None,
        "scores": lines,
        "per_query": {distance: dict.fromkeys(MEASURES, values) for distance in distances},
        "examples": [],
    }
    return Finished(run, record)


@pytest.fixture(scope="session")
def finished():
    return finished_run
