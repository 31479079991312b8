"""Query maps: what judged queries are worth where rows keep their codes.

    python benchmarks/query_maps.py ../shared/data benchmarks/results/query_maps.json

`DistilHash` is fitted on the documents alone; `adapt_queries` then gets the judgements of n queries, and other
queries judge. Judged sets are cross-validated by query, in five folds. In labelled sets, rows that are not
documents are queries, and the documents of their class are relevant. A finished line of the result file is
kept. One process, one BLAS thread.
"""

import json
import os
import sys
import time
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash import DistilHash, Qrels
from structhash.evaluation import judged_relevance, retrieval
from structhash.evaluation.judged import judgement_folds
from structhash.evaluation.scoring import every_distance

N_BITS, SEEDS, MEASURES = 64, (0, 1, 2), ("ndcg@10", "map")
JUDGED, N_JUDGED = ("npl_minilm", "dbpedia5k_minilm"), (20, 50, 100)
LABELLED, N_LABELLED = ("banking77_minilm",), (50, 200, 1000, 5000)
N_DOCUMENTS, N_TESTED = 7000, 1000  # of a labelled set; its other rows are judged queries


def judged_task(data, seed):
    """Documents, queries, judgements, and the (training, test) queries of each fold."""
    X, Q, table = data["X"], data["Q"], data["qrels"]
    rng = np.random.default_rng(seed)
    folds = judgement_folds(table, len(Q), seed)
    return X, Q, table, [(rng.permutation(fold.train), fold.test) for fold in folds]


def labelled_task(data, seed):
    """As `judged_task`, from labels."""
    order = np.random.default_rng(seed).permutation(len(data["X"]))
    documents, queries = order[:N_DOCUMENTS], order[N_DOCUMENTS:]
    same = data["y"][queries][:, None] == data["y"][documents]
    table = np.column_stack([np.argwhere(same), np.ones(same.sum(), int)])
    numbers = np.arange(len(queries))
    return data["X"][documents], data["X"][queries], table, [(numbers[N_TESTED:], numbers[:N_TESTED])]


def restrict(table, Q, queries):
    """The judgements of some queries, numbered by their place, and their vectors."""
    place = np.full(len(Q), -1)
    place[queries] = np.arange(len(queries))
    kept = table[place[table[:, 0]] >= 0]
    return np.column_stack([place[kept[:, 0]], kept[:, 1:]]), Q[queries]


def score(model, X, codes, table, queries):
    """Each measure, for each query."""
    relevance = judged_relevance(table, len(queries), len(X))
    ((_, blocks),) = every_distance(model, queries, X, relevance, codes)
    return retrieval(blocks, MEASURES).per_query


def lines(name, seed, task, counts, done):
    """One line for each number of judged queries."""
    X, Q, table, folds = task
    missing = [n for n in counts if (name, seed, n) not in done]
    if not missing:
        return
    model = DistilHash(N_BITS, random_state=seed).fit(X)
    codes = model.encode(X)
    for n in missing:
        before, after = ({measure: [] for measure in MEASURES} for _ in range(2))
        mapped, began = 0, time.process_time()
        for train, test in folds:
            adapted = model.adapt_queries(X, Qrels(*restrict(table, Q, train[:n])))
            mapped += adapted.queries_differ()
            for each, found in ((model, before), (adapted, after)):
                for measure, values in score(each, X, codes, *restrict(table, Q, test)).items():
                    found[measure] += values.tolist()
        yield {
            "set": name,
            "seed": seed,
            "n": n,
            "n_judged": min(n, min(len(train) for train, _ in folds)),
            "mapped": mapped / len(folds),
            "seconds": (time.process_time() - began) / len(folds),
            "without": {measure: float(np.mean(values)) for measure, values in before.items()},
            "with": {measure: float(np.mean(values)) for measure, values in after.items()},
        }


def main(data, out):
    """All lines, written one by one."""
    found = json.loads(out.read_text())["rows"] if out.exists() else []
    done = {(line["set"], line["seed"], line["n"]) for line in found}
    for seed in SEEDS:
        for names, task, counts in ((JUDGED, judged_task, N_JUDGED), (LABELLED, labelled_task, N_LABELLED)):
            for name in names:
                with np.load(data / f"{name}.npz") as arrays:
                    given = task(arrays, seed)
                for line in lines(name, seed, given, counts, done):
                    print(line, flush=True)
                    found.append(line)
                    out.write_text(json.dumps({"rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
