"""The picture of recall and nDCG against bytes, from the results of `bytes.py` alone; needs the extra `report`.

    python benchmarks/bytes_picture.py benchmarks/results/search/bytes.json benchmarks/results/bytes.png

A mark is the mean over the two sets of sentence vectors, and over the seeds.
"""

import json
import sys
from pathlib import Path
from statistics import fmean

SETS = ("npl_minilm", "dbpedia5k_minilm")
MEASURES = {
    "recall@10": "share of the ten nearest passages found",
    "ndcg@10": "nDCG at 10, by judgements",
}
METHODS = {  # label, colour (safe for colour-blind eyes), marker
    "additivehash": ("AdditiveHash", "#0072b2", "o"),
    "distilhash auto": ("DistilHash and its reader", "#56b4e9", "o"),
    "rq": ("residual quantiser (RQ)", "#d55e00", "v"),
    "opq": ("OPQ", "#009e73", "s"),
    "rabitq": ("RaBitQ", "#cc79a7", "D"),
    "binary_quantization bits": ("signs of the first numbers, or of all", "#999999", "P"),
    "float": ("the vectors", "#000000", "*"),
}


def figures(path):
    """The mean of each measure, by method and bytes, as {method: {bytes: {measure: mean}}}."""
    found = {}
    for line in json.loads(path.read_text())["lines"]:
        label = f"{line['method']} {line['reader']}".strip()
        if line["set"] in SETS and label in METHODS:
            found.setdefault(label, {}).setdefault(line["bytes"], []).append(line)
    return {
        label: {n: {m: fmean(line[m] for line in lines) for m in MEASURES} for n, lines in sorted(by.items())}
        for label, by in found.items()
    }


def draw(path, plt):
    """The picture."""
    found = figures(path)
    figure, panels = plt.subplots(1, len(MEASURES), figsize=(9, 4), layout="constrained")
    for axes, (measure, title) in zip(panels, MEASURES.items(), strict=True):
        for label, (name, colour, marker) in METHODS.items():
            lengths, means = found[label].keys(), [each[measure] for each in found[label].values()]
            size = 9 if marker in "o*" else 6
            axes.plot(lengths, means, color=colour, marker=marker, markersize=size, label=name)
        ticks = sorted({n_bytes for by in found.values() for n_bytes in by})
        axes.set(title=title, xlabel="bytes a row", xscale="log")
        axes.set_xticks(ticks, [str(each) for each in ticks])
        axes.set_xticks([], minor=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#eeeeee")
        axes.set_axisbelow(True)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    draw(Path(sys.argv[1]), pyplot).savefig(sys.argv[2], dpi=110)
