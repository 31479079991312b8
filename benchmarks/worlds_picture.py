"""The picture of all worlds, from the results of `worlds.py` alone; matplotlib comes with the extra `report`.

    cd benchmarks/results
    python ../worlds_picture.py worlds worlds.png

A world is a row with its name above it, a method is a mark: its mean over the data sets that have all methods
there. A line joins the worst and the best.
"""

import json
import sys
from pathlib import Path

MEASURES = {"map": "mAP", "precision@10": "precision at 10"}
METHODS = {  # label, colour (safe for colour-blind eyes), marker
    "distilhash@database": ("DistilHash, 8 bytes", "#0072b2", "o"),
    "additivehash@database": ("AdditiveHash, 8 bytes", "#009e73", "D"),
    "itq@database": ("ITQ, 8 bytes", "#e69f00", "s"),
    "predicted_class": ("predicted class, 1 byte", "#cc79a7", "^"),
    "float": ("the float vectors, 1 to 3 kB", "#555555", "|"),
}
DISTANCES = "plain", "tables", "L2", "-"
WORLDS = {
    "seen": "every class has labels",
    "mixed-known": "known and new classes: known",
    "mixed-new": "known and new classes: new",
    "unseen": "all classes are new",
    "coarse": "labels of merged classes",
    "tail": "2 to 300 labels a class",
    "few-20": "20 labels a class",
    "few-5": "5 labels a class",
    "few-2": "2 labels a class",
    "few-1": "1 label a class",
}


def figures(folder, world, n_bits=64):
    """The measures of each method, means over the data sets that have them all, and how many sets these are."""
    found = []
    for path in sorted(folder.glob(f"*_{world}.json")):
        lines = _lines(path, n_bits)
        if lines.keys() >= METHODS.keys():
            found.append([[lines[method][measure] for measure in MEASURES] for method in METHODS])
    means = [[sum(values) / len(found) for values in zip(*of_method)] for of_method in zip(*found)]
    return dict(zip(METHODS, means, strict=False)), len(found)


def _lines(path, n_bits):
    """The measures of each method of a file."""
    return {
        line["method"]: line["mean"]
        for line in json.loads(path.read_text())["lines"]
        if not line["error"] and line["distance"] in DISTANCES and _of_length(line, n_bits)
    }


def _of_length(line, n_bits):
    """Whether a line is of codes of this length, or of a method that has its own."""
    return line["n_bits"] == n_bits or not line["method"].split("@")[0].endswith(("hash", "itq"))


def draw(folder, plt):
    """The picture."""
    rows = [(world, *figures(folder, world)) for world in WORLDS]
    rows = [row for row in rows if row[2]]
    figure, panels = plt.subplots(
        1, len(MEASURES), figsize=(6.4, 1.2 + 0.55 * len(rows)), sharey=True, layout="constrained"
    )
    for m, (axes, title) in enumerate(zip(panels, MEASURES.values(), strict=True)):
        for y, (_, found, _) in enumerate(rows):
            values = [found[method][m] for method in METHODS]
            axes.plot([min(values), max(values)], [y, y], color="#dddddd", zorder=0)
            for (label, colour, marker), value in zip(METHODS.values(), values, strict=True):
                size = {"o": 60, "|": 120}.get(marker, 36)
                axes.scatter(value, y, s=size, color=colour, marker=marker, label=label if y == 0 else None)
        axes.set(title=title, xlim=(0, 1))
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False, labelleft=False)
        axes.grid(axis="x", color="#eeeeee")
        axes.set_axisbelow(True)
    sets = [f"{WORLDS[world]} ({n} set{'s' * (n > 1)})" for world, _, n in rows]
    for y, name in enumerate(sets):
        panels[0].annotate(name, (0, y), (2, 8), textcoords="offset points", fontsize=9)
    panels[0].set(ylim=(len(rows) - 0.6, -0.7), yticks=[])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    folder, out = map(Path, sys.argv[1:])
    draw(folder, pyplot).savefig(out, dpi=200)
