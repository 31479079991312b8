"""Memory and rate of `structhash encode` on ten million vectors in Parquet files.

    python benchmarks/parquet.py ../shared/data benchmarks/results/parquet.json

The 384 float16 numbers of a row are those of a passage of npl_minilm, drawn at random, plus normal noise of a
tenth of their spread. Ten files hold a million rows each, with whole numbers as ids, in row groups of 50,000.
`product` is a process that reads the same files with pyarrow, a row group at a time, makes the numbers float32,
multiplies them by 64 planes and keeps the signs, 50,000 rows at once, and writes nothing. `structhash` is the
command, from Parquet files to Parquet files of codes. The two take turns, one thread of linear algebra each.
Seconds are by the wall clock and by that of the processor. The peak memory is that which the operating system
counted. A process also counts what its parent held when it began, so another process makes the vectors.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from structhash import DistilHash
from structhash.io.container import atomic

FILE_ROWS, GROUP_ROWS, N_BITS = 1_000_000, 50_000, 64
PRODUCT = """
import sys
import numpy as np
import pyarrow.parquet as pq
planes = np.load(sys.argv[1])
for name in sys.argv[2:]:
    with pq.ParquetFile(name) as file:
        for group in range(file.num_row_groups):
            column = file.read_row_group(group, ["embedding"])["embedding"].combine_chunks()
            rows = column.flatten().to_numpy().reshape(len(column), -1)
            codes = np.packbits(rows.astype(np.float32) @ planes.T > 0, axis=1, bitorder="little")
"""


def write_vectors(X: np.ndarray, folder: Path, n_files: int) -> list[Path]:
    """Parquet files of vectors like X (n, d), with ids."""
    rng, spread, files = np.random.default_rng(0), X.std() / 10, []
    for number in range(n_files):
        files.append(folder / f"part-{number:02d}.parquet")
        first = number * FILE_ROWS
        kind = pa.schema([("id", pa.int64()), ("embedding", pa.list_(pa.float16(), X.shape[1]))])
        with pq.ParquetWriter(files[-1], kind, compression="none") as writer:
            for start in range(first, first + FILE_ROWS, GROUP_ROWS):
                rows = X[rng.integers(len(X), size=GROUP_ROWS)]
                rows = (rows + spread * rng.standard_normal(rows.shape, dtype=np.float32)).astype(np.float16)
                numbers = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), X.shape[1])
                ids = pa.array(np.arange(start, start + GROUP_ROWS))
                writer.write_table(pa.table([ids, numbers], kind), row_group_size=GROUP_ROWS)
    return files


def prepare(data: Path, folder: Path, n_files: int) -> list[Path]:
    """Vectors, a model and planes in a folder; returns the files of vectors."""
    with np.load(data / "npl_minilm.npz") as arrays:
        X = arrays["X"].astype(np.float32)
    DistilHash(N_BITS, random_state=0).fit(X).save(folder / "m.structhash")
    planes = np.random.default_rng(1).standard_normal((N_BITS, X.shape[1]), np.float32)
    np.save(folder / "planes.npy", planes)
    return write_vectors(X, folder, n_files)


def measured(command: list[str]) -> dict[str, float]:
    """Seconds and peak memory of a process."""
    settings = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    began = time.perf_counter()
    process = subprocess.Popen(command, env=os.environ | settings, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:4]} failed")
    seconds = time.perf_counter() - began
    processor = used.ru_utime + used.ru_stime
    return {"seconds": round(seconds, 1), "cpu": round(processor, 1), "peak_mb": round(used.ru_maxrss / 1000)}


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--files", type=int, default=10, help="of a million rows")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.output.parent) as name:
        folder = Path(name)
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            files = pool.submit(prepare, given.data, folder, given.files).result()
        product = [sys.executable, "-c", PRODUCT, str(folder / "planes.npy"), *map(str, files)]
        encode = [sys.executable, "-m", "structhash", "encode", str(folder / "m.structhash"), *map(str, files)]
        rounds = []
        for number in range(given.rounds):
            into = ["--column", "embedding", "--id", "id", "-o", str(folder / f"codes-{number}")]
            rounds.append({"product": measured(product), "structhash": measured([*encode, *into])})
            print(json.dumps(rounds[-1]), flush=True)
    ratios = {
        clock: round(
            float(np.median([each["product"][clock] / each["structhash"][clock] for each in rounds])), 2
        )
        for clock in ("seconds", "cpu")
    }
    facts = {
        "rows": given.files * FILE_ROWS,
        "n_bits": N_BITS,
        "load": os.getloadavg()[0],
    }
    with atomic(given.output) as temporary:
        temporary.write_text(
            json.dumps({**facts, "rate_of_product": ratios, "rounds": rounds}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
