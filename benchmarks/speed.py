"""How long training takes, where the time goes, and how much memory it needs.

    python benchmarks/speed.py ../shared/data benchmarks/results/speed.json
    python benchmarks/speed.py ../shared/data benchmarks/results/speed.json --only usps_sndcg,usps_auc

Each line of `LINES` is written to the output as soon as it is there, in place of an older one of that name.

- time: of whole fits, beside the *floor*: 50 refinement steps a bit that do nothing but their three products
  Zv, Ws and Z'g. The floor is measured just before and just after each fit.
- phases: of one more fit. A second counts for the innermost phase, so that the phases add up to the total.
- memory: peak of one more fit in a process of its own, a training point, beyond rows X and their features Z.

All runs have one thread. CPU seconds are those of the whole process. Wall seconds are more where other work
shares the machine.
"""

import argparse
import json
import multiprocessing
import os
import platform
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numba
import numpy as np
import scipy
from measuring import Phases, clock, peak_of
from threadpoolctl import threadpool_limits

from structhash import CGHash, StructHash
from structhash.evaluation import seen_classes
from structhash.families.linear import Linear
from structhash.io import read
from structhash.io.container import atomic
from structhash.pair_weights import pair_graph
from structhash.supervision import Labels

SEED, RUNS = 0, 5
WARM_ROWS, WARM_BITS = 300, 10  # of the fit that compiles all kernels: a second byte of the code is begun
STEPS = 50  # of a refinement
REPEATS = 500  # of the floor at 2,000 training points, fewer at more
PARTS = ("time", "phases", "memory")


@dataclass(frozen=True)
class Line:
    """One setting, and the seconds that the paper gives for it (its table of training times)."""

    data: str
    settings: dict[str, Any] = field(default_factory=dict)
    kind: type = StructHash
    n_bits: int = 64
    n_train: int = 2000
    n_queries: int = 2000  # left out of the training rows
    runs: int = RUNS
    paper: float | None = None

    def encoder(self, n_bits: int) -> Any:
        return self.kind(n_bits, random_state=SEED, **self.settings)


def size(n_train: int) -> Line:
    return Line("mnist", {"ranking": "sndcg"}, n_bits=32, n_train=n_train, n_queries=10_000, runs=1)


CORRECTIVE = {"ranking": "ndcg", "schedule": "totally_corrective", "tolerance": 1e-3}
SIZES = (2000, 6000, 20_000, 60_000)
LINES = {
    "usps_sndcg": Line("usps", {"ranking": "sndcg"}, paper=719.4),
    "mnist_sndcg": Line("mnist", {"ranking": "sndcg"}, paper=710.0),
    "isolet_sndcg": Line("isolet", {"ranking": "sndcg"}, paper=557.2),
    "usps_ndcg": Line("usps", {"ranking": "ndcg"}, paper=1162.2),
    "usps_auc": Line("usps", {"ranking": "auc"}),
    "usps_ndcg_corrective": Line("usps", CORRECTIVE, runs=1, paper=16695.7),
    "isolet_ndcg_corrective": Line("isolet", CORRECTIVE, runs=1, paper=28364.3),
    "usps_cghash": Line("usps", kind=CGHash),
    **{f"mnist_{n}": size(n) for n in SIZES},
}


def training_rows(folder: Path, line: Line) -> tuple[np.ndarray, np.ndarray]:
    data = read(folder / f"{line.data}.npz")
    rows = seen_classes(data.y, SEED, line.n_queries, line.n_train).train
    if len(rows) < line.n_train:
        raise ValueError(f"{line.data}: {len(rows)} rows are left to train, the line needs {line.n_train}")
    return data.X[rows].astype(np.float32, copy=False), data.y[rows]


def warm(line: Line, X: np.ndarray, y: np.ndarray) -> None:
    """Compile what a fit compiles, or load it."""
    line.encoder(WARM_BITS).fit(X[:WARM_ROWS], y[:WARM_ROWS])


def floor_of(X: np.ndarray, y: np.ndarray, n_bits: int) -> Callable[[], np.ndarray]:
    """A function that measures the seconds (wall, CPU) of the products alone."""
    rng = np.random.default_rng(SEED)
    family = Linear()
    Z = family.features(X, family.prepare(X, rng))
    graph = pair_graph(Labels(y, 50, 100).comparisons(X, rng), len(X))
    W = graph.pair_weights(rng.standard_normal(len(graph.indices)), np.float32).weights
    v, s, g = (rng.standard_normal(n).astype(np.float32) for n in (Z.shape[1], len(Z), len(Z)))
    if {a.dtype for a in (Z, W, v, s, g)} != {np.dtype(np.float32)}:
        raise TypeError("the floor is meant to be that of float32")
    repeats = int(np.clip(REPEATS * 2000 / len(X), 50, REPEATS))

    def measure() -> np.ndarray:
        began = clock()
        for _ in range(repeats):
            Z @ v
            W @ s
            Z.T @ g
        return (clock() - began) * (n_bits * STEPS / repeats)

    measure()
    return measure


def time_fits(X: np.ndarray, y: np.ndarray, line: Line, n_bits: int, runs: int) -> dict[str, Any]:
    """Seconds of whole fits beside the floor around each."""
    measure = floor_of(X, y, n_bits)
    fits, floors = [], []
    for _ in range(runs):
        before, began = measure(), clock()
        encoder = line.encoder(n_bits).fit(X, y)
        fits.append(clock() - began)
        floors.append((before + measure()) / 2)
    fits, floors = np.array(fits), np.array(floors)
    return {
        "train": by_clock(fits),
        "floor": by_clock(floors),
        "ratio": by_clock(fits / floors),
        "bits_learned": encoder.n_bits_,
        "rounds": sum(each["rounds"] for each in encoder.history_),
        "redraws": sum(each["redraws"] for each in encoder.history_),
    }


def by_clock(values: np.ndarray) -> dict[str, Any]:
    """Median and all runs of values (runs, 2)."""
    return {
        name: {"median": round(float(np.median(column)), 4), "runs": np.round(column, 4).tolist()}
        for name, column in zip(("wall", "cpu"), values.T)
    }


def time_phases(X: np.ndarray, y: np.ndarray, line: Line, n_bits: int) -> dict[str, Any]:
    """Seconds of each phase of one fit."""
    phases = Phases()
    with phases.watch():
        line.encoder(n_bits).fit(X, y)
    seconds = {phase: np.round(both, 4).tolist() for phase, both in phases.seconds.items()}
    total = np.round(sum(phases.seconds.values()), 4).tolist()
    return {
        name: {"total": total[i], **{phase: both[i] for phase, both in seconds.items()}}
        for i, name in enumerate(("wall", "cpu"))
    }


def peak_memory(folder: Path, name: str, n_bits: int) -> dict[str, Any]:
    """Peak of one fit beyond X and Z; call it in a fresh process, so that nothing else counts."""
    line = LINES[name]
    with threadpool_limits(1):
        X, y = training_rows(folder, line)
        warm(line, X, y)
        encoder, found = peak_of(lambda: line.encoder(n_bits).fit(X, y))
    function = encoder.hash_function_
    features = function.family.features(X[:1], function.family_state).nbytes * len(X)
    beyond = found["peak"] - found["before"] - features
    return {"bytes_a_point": round(beyond / len(X)), **found, "X": X.nbytes, "Z": features}


def run(folder: Path, name: str, n_bits: int, runs: int, parts: list[str]) -> dict[str, Any]:
    """The parts asked for of one line, each with the load of the machine when it began."""
    line, found = LINES[name], {}
    if "time" in parts or "phases" in parts:
        X, y = training_rows(folder, line)
        warm(line, X, y)
    for part in parts:
        load = [round(value, 2) for value in os.getloadavg()]
        if part == "time":
            found[part] = time_fits(X, y, line, n_bits, runs)
        elif part == "phases":
            found[part] = time_phases(X, y, line, n_bits)
        else:
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                found[part] = pool.submit(peak_memory, folder, name, n_bits).result()
        found[part]["load"] = load
    return found


def describe(name: str, n_bits: int) -> dict[str, Any]:
    line = LINES[name]
    paper = line.paper if n_bits == line.n_bits else None
    method = {"method": line.kind.__name__, **line.settings}
    return {"data": line.data, **method, "n_bits": n_bits, "n_train": line.n_train, "paper_seconds": paper}


def machine() -> dict[str, Any]:
    model = platform.processor()
    with suppress(OSError, StopIteration):
        rows = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(row.split(":", 1)[1].strip() for row in rows if row.startswith("model name"))
    versions = {module.__name__: module.__version__ for module in (np, scipy, numba)}
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), **versions}


def merge(out: Path, key: str, record: dict[str, Any]) -> dict[str, Any]:
    """Put a line into the output file, in place of the same parts of that name."""
    document = json.loads(out.read_text()) if out.exists() else {}
    lines = document.get("lines", {})
    lines[key] = lines.get(key, {}) | record
    place = {name: i for i, name in enumerate(LINES)}
    lines = dict(sorted(lines.items(), key=lambda item: (place.get(item[0], len(place)), item[0])))
    document = {"machine": machine(), "seed": SEED, "lines": lines, "exponents": exponents(lines)}
    with atomic(out) as temporary:
        temporary.write_text(json.dumps(document, indent=1) + "\n")
    return document


def exponents(lines: dict[str, Any]) -> dict[str, dict[str, float]]:
    """d log(seconds) / d log(training points) between successive sizes that are there."""
    there = [n for n in SIZES if "time" in lines.get(f"mnist_{n}", {})]
    found = {}
    for small, large in pairwise(there):
        a, b = lines[f"mnist_{small}"]["time"], lines[f"mnist_{large}"]["time"]
        steps = {
            f"{what}_{name}": np.log(b[what][name]["median"] / a[what][name]["median"]) / np.log(large / small)
            for what in ("train", "floor")
            for name in ("wall", "cpu")
        }
        found[f"{small}-{large}"] = {key: round(float(value), 3) for key, value in steps.items()}
    return found


def show(key: str, record: dict[str, Any]) -> None:
    """Print what was measured of a line."""
    print(f"{key}: {record['n_bits']} bits, {record['n_train']:,} points")
    if "time" in record:
        timed = record["time"]
        for name in ("wall", "cpu"):
            train, floor, ratio = (timed[what][name]["median"] for what in ("train", "floor", "ratio"))
            runs = ", ".join(f"{value:.3f}" for value in timed["train"][name]["runs"])
            print(f"  {name:4} {train:.3f} s (runs {runs}), floor {floor:.3f} s, ratio {ratio:.2f}")
        print(f"  {timed['rounds']} evaluations of all rankings or triplets, load {timed['load']}")
        if record["paper_seconds"]:
            print(f"  paper {record['paper_seconds']:,.0f} s")
    if "phases" in record:
        for name in ("wall", "cpu"):
            parts = ", ".join(f"{phase} {value:.3f}" for phase, value in record["phases"][name].items())
            print(f"  {name:4} {parts}")
    if "memory" in record:
        memory = record["memory"]
        print(f"  {memory['bytes_a_point']:,} bytes a point beyond X and Z (peak of the {memory['peak_of']})")
    sys.stdout.flush()


def show_exponents(found: dict[str, dict[str, float]]) -> None:
    for sizes, powers in found.items():
        text = ", ".join(f"{key.replace('_', ' ')} n^{value:.2f}" for key, value in powers.items())
        print(f"mnist {sizes} points: {text}")


def arguments() -> argparse.Namespace:
    def join_names(allowed: Any) -> Callable[[str], list[str]]:
        def parse(text: str) -> list[str]:
            unknown = [name for name in text.split(",") if name not in allowed]
            if unknown:
                raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(allowed)}")
            return text.split(",")

        return parse

    def positive(text: str) -> int:
        if int(text) < 1:
            raise ValueError
        return int(text)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the data sets")
    parser.add_argument("out", type=Path, help="JSON file, made or added to")
    parser.add_argument("--only", type=join_names(LINES), default=list(LINES), help=", ".join(LINES))
    parser.add_argument("--parts", type=join_names(PARTS), default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--runs", type=positive, help=f"timed fits, else {RUNS} or what the line says")
    parser.add_argument("--bits", type=positive, help="another number of bits; it is added to the line's name")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    for name in given.only:
        line = LINES[name]
        n_bits = given.bits or line.n_bits
        key = name if n_bits == line.n_bits else f"{name}_{n_bits}bits"
        with threadpool_limits(1):
            record = run(given.folder, name, n_bits, given.runs or line.runs, given.parts)
        record = describe(name, n_bits) | record
        document = merge(given.out, key, record)
        show(key, record)
    show_exponents(document["exponents"])
