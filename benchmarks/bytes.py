"""What codes of equal bytes find: ours and peers, by how their queries are read.

    python benchmarks/bytes.py ../shared/data benchmarks/results/search/bytes.json

Recall of the ten nearest documents, by the vectors, among the first ten and hundred, and nDCG@10 where there
are judgements. Methods learn without labels from the documents themselves; so do readers, and no query takes
part. Rows of glove have unit length, those of the others stay. Bytes are those of a row: `rabitq` has two
factors of 4 bytes beside its signs. The measures are exact expectations over ties. Finished lines are kept in
the output, and the same command goes on from there. It ends with a picture beside the output.
"""

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from structhash.evaluation import (
    NEIGHBOUR_MEASURES,
    ReadCodes,
    float_blocks,
    judged_relevance,
    nearest_rows,
    parse_method,
    read_codes,
    retrieval,
)
from structhash.io.container import atomic

SETS = ("npl_minilm", "dbpedia5k_minilm", "glove6b50_100k", "sift_bsds100k")
BYTES = (8, 16, 32)
READERS = {  # of each method; "" is its own way
    "additivehash": ("",),
    "distilhash": ("bits", "real", "auto"),
    "itq": ("bits", "real", "auto"),
    "pcah": ("real",),
    "lsh": ("real",),
    "pq": ("",),
    "opq": ("",),
    "rq": ("",),
    "rabitq": ("",),
    "binary_quantization": ("bits", "real"),
    "float": ("",),
}
WHOLE = ("binary_quantization", "float")  # methods that have a line of their own length
FACTORS = {"rabitq": 8}  # bytes of a row beside its bits
FIGURES = {"recall@10": "recall 10@10", "recall@100": "recall 10@100", "ndcg@10": "nDCG@10"}
DRAWN = {  # lines of the picture: colour, and how they are dashed
    "additivehash": ("#000000", "-"),
    "distilhash bits": ("#ee6677", ":"),
    "distilhash real": ("#ee6677", "--"),
    "distilhash auto": ("#ee6677", "-"),
    "itq bits": ("#4477aa", ":"),
    "itq real": ("#4477aa", "--"),
    "itq auto": ("#4477aa", "-"),
    "opq": ("#228833", "-"),
    "pq": ("#228833", "--"),
    "rq": ("#ccbb44", "-"),
    "rabitq": ("#aa3377", "-"),
    "pcah real": ("#bbbbbb", "--"),
    "lsh real": ("#bbbbbb", ":"),
}


def opened(folder: Path, name: str) -> dict[str, Any]:
    """A data set: float32 rows and queries, and what is relevant to them."""
    with np.load(folder / f"{name}.npz") as data:
        found: dict[str, Any] = {key: data[key] for key in data if key in ("X", "Q", "qrels")}
    for key in ("X", "Q"):
        found[key] = found[key].astype(np.float32)
        if name.startswith("glove"):
            found[key] /= np.linalg.norm(found[key], axis=1, keepdims=True)
    found["nearest"] = nearest_rows(found["Q"], found["X"])
    if "qrels" in found:
        found["judged"] = judged_relevance(found["qrels"], len(found["Q"]), len(found["X"]))
    return found


def figures(blocks: Callable[[Any], Any], data: dict[str, Any]) -> dict[str, float]:
    """The measures of one way to compare queries with rows: blocks of its distances for what is relevant."""
    scores: dict[str, float] = {}
    for which, measures in (("nearest", NEIGHBOUR_MEASURES), ("judged", ("ndcg@10",))):
        if which in data:
            scores |= retrieval(blocks(data[which]), measures).mean
    return {name: round(value, 4) for name, value in scores.items()}


def code_figures(read: ReadCodes, data: dict[str, Any]) -> dict[str, float]:
    """The measures of codes that are read in one way: by their last distance, which is their own."""
    return figures(lambda relevance: list(read.distances(data["Q"], relevance))[-1][1], data)


def lines(data: dict[str, Any], method: str, n_bytes: int, seed: int) -> Iterator[dict[str, Any]]:
    """A line for each reader of one method."""
    X, Q = data["X"], data["Q"]
    if method == "float":
        found = figures(lambda relevance: float_blocks(Q, X, relevance), data)
        yield {"bytes": X[0].nbytes, "whole": True, "reader": "", "chosen": "", "fit": 0, "encode": 0, **found}
        return
    spec, n_bits = method, 8 * (n_bytes - FACTORS.get(method, 0))
    if method == "binary_quantization" and n_bytes:
        spec = f"{method}:n_bits={n_bits}"
        if X.shape[1] <= n_bits:
            return  # it is the line of all coordinates
    began = time.process_time()
    encoder, _ = parse_method(spec).fit(X, None, n_bits, seed)
    fitted = time.process_time() - began
    whole = {} if n_bytes else {"bytes": -(-encoder.n_bits_ // 8), "whole": True}
    for reader in READERS[method]:
        began = time.process_time()
        read = read_codes(encoder, X, X, reader, seed)
        line: dict[str, Any] = {**whole, "reader": reader, "chosen": read.chosen, "fit": round(fitted, 1)}
        yield {**line, "encode": round(time.process_time() - began, 1), **code_figures(read, data)}


def run(folder: Path, output: Path, sets: list[str], lengths: list[int], seeds: list[int]) -> None:
    """Compute the lines that the output lacks, and write it again after each fit."""
    found = json.loads(output.read_text())["lines"] if output.exists() else []
    done = {
        (line["set"], line["method"], line["seed"], 0 if "whole" in line else line["bytes"]) for line in found
    }
    wanted = [(n, each) for n in lengths for each in READERS if n > FACTORS.get(each, 0) and each != "float"]
    wanted += [(0, each) for each in WHOLE]  # 0 bytes: the method's own length
    for seed, name in itertools.product(seeds, sets):
        missing = [(n_bytes, method) for n_bytes, method in wanted if (name, method, seed, n_bytes) not in done]
        data = opened(folder, name) if missing else {}
        for n_bytes, method in missing:
            about = {"set": name, "bytes": n_bytes, "method": method, "seed": seed}
            found += [{**about, **line} for line in lines(data, method, n_bytes, seed)]
            text = ",\n  ".join(json.dumps(line) for line in found)
            with atomic(output) as temporary:
                temporary.write_text(f'{{"lines": [\n  {text}\n]}}\n')
            print(json.dumps(found[-1]), flush=True)


def draw(output: Path, plt: Any) -> None:
    """A picture of all measures against bytes, means over seeds, beside the output."""
    found: dict[tuple[str, str, str], dict[int, list[float]]] = {}  # by data set, measure and method
    for line in json.loads(output.read_text())["lines"]:
        label = f"{line['method']} {line['reader']}".strip()
        for measure in FIGURES.keys() & line.keys():
            at = found.setdefault((line["set"], measure, label), {})
            at.setdefault(line["bytes"], []).append(line[measure])
    size = {"figsize": (3.4 * len(SETS), 9), "layout": "constrained"}
    figure, grid = plt.subplots(len(FIGURES), len(SETS), **size)
    for row, (measure, title) in zip(grid, FIGURES.items(), strict=True):
        for axes, name in zip(row, SETS, strict=True):
            for label, (colour, dashes) in DRAWN.items():
                values = sorted(found.get((name, measure, label), {}).items())
                heights = [np.mean(each) for _, each in values]
                lengths = [n_bytes for n_bytes, _ in values]
                axes.plot(lengths, heights, marker=".", linestyle=dashes, color=colour, label=label)
            axes.set(title=f"{name.partition('_')[0]}, {title}", xlabel="bytes a row", xscale="log")
            axes.set_xticks(BYTES, [str(each) for each in BYTES], minor=False)
            axes.set_xticks([], minor=True)
            axes.set_visible(any(key[:2] == (name, measure) for key in found))
    figure.legend(*grid[0][0].get_legend_handles_labels(), ncols=6, fontsize=9, loc="outside lower center")
    figure.savefig(output.with_suffix(".png"), dpi=80)


def main() -> None:
    """Measure what is missing, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sets", default=",".join(SETS), help="with commas between")
    parser.add_argument("--bytes", default=",".join(map(str, BYTES)), help="lengths, with commas between")
    parser.add_argument("--seeds", default="0", help="with commas between")
    given = parser.parse_args()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    lengths, seeds = ([int(each) for each in text.split(",")] for text in (given.bytes, given.seeds))
    run(given.data, given.output, given.sets.split(","), lengths, seeds)
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    draw(given.output, pyplot)


if __name__ == "__main__":
    main()
