"""Pictures of training time, from the results of `speed.py` alone; matplotlib comes with the extra `report`.

    python benchmarks/plots.py benchmarks/results/speed.json benchmarks/results

Writes `speed_sizes.png`, seconds against training points beside the floor, and `speed_phases.png`, where the
time goes.
"""

import json
import sys
from pathlib import Path
from typing import Any

CLOCK = "cpu"  # seconds of the process: other work on the machine counts least in them
PAPER = {  # its text gives no number of its figure on the training size, its table gives one at 2,000 points
    "line": "mnist_sndcg",
    "claim": "The paper on training size (STL10, 32 bits): stage-wise is orders of magnitude more efficient\n"
    "than the original training, and SNDCG significantly more efficient than NDCG.",
}
COLOURS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#bbbbbb")


def sizes(lines: dict[str, Any]) -> list[tuple[int, float, float]]:
    """Training points, seconds of training and of the floor of the lines that differ in the points alone."""
    found = [
        (line["n_train"], *(line["time"][what][CLOCK]["median"] for what in ("train", "floor")))
        for name, line in lines.items()
        if name == f"mnist_{line['n_train']}" and "time" in line
    ]
    return sorted(found)


def draw_sizes(document: dict[str, Any], plt: Any) -> Any:
    lines = document["lines"]
    points, train, floor = zip(*sizes(lines))
    figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
    axes.loglog(points, train, "o-", color=COLOURS[0], label="training")
    axes.loglog(points, floor, "s--", color=COLOURS[2], label="floor: 50 refinement steps a bit, products only")
    axes.loglog(points, [train[0] * n / points[0] for n in points], ":", color="grey", label="in proportion")
    for i in range(1, len(points)):
        power = document["exponents"][f"{points[i - 1]}-{points[i]}"][f"train_{CLOCK}"]
        middle = (points[i - 1] * points[i]) ** 0.5, (train[i - 1] * train[i]) ** 0.5
        axes.annotate(
            f"n^{power:.2f}", middle, (0, 8), textcoords="offset points", ha="right", color=COLOURS[0]
        )
    paper = lines.get(PAPER["line"], {})
    if paper.get("paper_seconds"):
        label = f"paper, {paper['n_bits']} bits: {paper['paper_seconds']:,.0f} s"
        axes.loglog(paper["n_train"], paper["paper_seconds"], "*", color=COLOURS[4], markersize=11, label=label)
    bits = lines[f"mnist_{points[0]}"]["n_bits"]
    axes.set(
        xlabel="training points",
        ylabel=f"{CLOCK.upper()} seconds",
        title=f"mnist, SNDCG stage-wise, {bits} bits",
    )
    axes.set_xticks(points, [f"{n:,}" for n in points], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, 0.9))
    figure.supxlabel(PAPER["claim"], fontsize=8, style="italic")
    return figure


def draw_phases(document: dict[str, Any], plt: Any) -> Any:
    """Shares of the phases, for lines of very different length."""
    phases = {name: line["phases"][CLOCK] for name, line in document["lines"].items() if "phases" in line}
    kinds = [kind for kind in next(iter(phases.values())) if kind != "total"]
    figure, axes = plt.subplots(figsize=(7, 1.4 + 0.32 * len(phases)), layout="constrained")
    rows = [f"{name}  {each['total']:.3g} s" for name, each in phases.items()]
    left = [0.0] * len(rows)
    for kind, colour in zip(kinds, COLOURS, strict=True):
        shares = [100 * each[kind] / each["total"] for each in phases.values()]
        axes.barh(rows, shares, left=left, color=colour, label=kind)
        left = [a + b for a, b in zip(left, shares)]
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), xlabel=f"per cent of the {CLOCK.upper()} seconds of one fit")
    figure.legend(ncols=len(kinds), fontsize=8, loc="outside upper center", frameon=False)
    return figure


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    document, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    pictures = (
        {"speed_phases.png": draw_phases} if any("phases" in v for v in document["lines"].values()) else {}
    )
    if sizes(document["lines"]):
        pictures["speed_sizes.png"] = draw_sizes
    for name, draw in pictures.items():
        draw(document, pyplot).savefig(folder / name, dpi=100)
        print(folder / name)
