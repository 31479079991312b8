"""Every family with every ranking: 32 bits, one seed, three sets with labels and two with judgements.

    python benchmarks/pieces.py ../shared/data benchmarks/results/pieces.json

Each model is scored by all measures, and so by the one it is trained for. Sets with labels are split by the
protocol of seen classes, sets with judgements into five folds of queries.
"""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from structhash.evaluation import compare, compare_judged
from structhash.io import read
from structhash.pieces import names

BITS, SEED = 32, 0
LABELS, JUDGEMENTS = ("usps", "isolet", "banking77_minilm"), ("npl_minilm", "dbpedia5k_minilm")
CUT = {"precision:k": (50, 10), "ndcg:k": (100, 10)}  # for labels, for judgements


def measures(judged: bool) -> dict[str, str]:
    """The measure of each ranking."""
    ndcg = f"ndcg_paper@{CUT['ndcg:k'][judged]}"
    precision = f"precision@{CUT['precision:k'][judged]}"
    own = {"ndcg": ndcg, "precision": precision, "average_precision": "map", "reciprocal_rank": "mrr"}
    return {name: own.get(name, name) for name in names("rankings")}


def spec(ranking: str, judged: bool) -> str:
    key = f"{ranking}:k"
    return f"{key}={CUT[key][judged]}" if key in CUT else ranking


def run(folder: Path, name: str, family: str, ranking: str) -> dict:
    data, judged = read(folder / f"{name}.npz"), name in JUDGEMENTS
    method = f"structhash:family={family},ranking={spec(ranking, judged)}"
    columns = list(measures(judged).values())
    if judged:
        results = compare_judged([method], data.X, data.Q, data.qrels, [BITS], [SEED], columns)
    else:
        results = compare([method], data.X, data.y, "seen", [BITS], [SEED], columns)
    (result,) = results
    scores = {key: round(value, 4) for key, value in result.scores.mean.items()}
    return {"set": name, "family": family, "ranking": ranking, "spec": spec(ranking, judged), **scores}


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    jobs = list(product(LABELS + JUDGEMENTS, names("families"), names("rankings")))
    workers = int(os.environ.get("WORKERS", os.cpu_count() or 1))
    with ProcessPoolExecutor(workers) as pool:
        futures = {pool.submit(run, folder, *job): job for job in jobs}
        for future in as_completed(futures):
            print(json.dumps(future.result()), flush=True)
    lines = sorted(
        (future.result() for future in futures),
        key=lambda line: jobs.index((line["set"], line["family"], line["ranking"])),
    )
    about = {"bits": BITS, "seed": SEED, "own": {"labels": measures(False), "judgements": measures(True)}}
    out.write_text(json.dumps({**about, "lines": lines}, indent=1) + "\n")
