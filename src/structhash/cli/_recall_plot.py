"""The picture of ``structhash recall``. Only this module needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structhash._numerics.optional import not_installed
from structhash.cli.outputs import PLOT_TITLE
from structhash.evaluation.recall import RecallEstimate
from structhash.io.container import atomic

__all__ = ["draw", "new_figure"]


def new_figure() -> Any:
    """An empty figure; ImportError where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise not_installed("matplotlib", "--plot", "report", error) from error
    return Figure(figsize=(6, 4), layout="constrained")


def draw(figure: Any, found: RecallEstimate, path: Path) -> None:
    """Draw recall against bytes, a line for each way to search, and write the file whole or not at all."""
    axes = figure.subplots()
    sizes = [line.n_bytes for line in found.lines]
    readers = " or ".join(dict.fromkeys(line.reader for line in found.lines))
    factors = ", ".join(str(each) for each in dict.fromkeys(line.factor for line in found.lines))
    for label, recalls in (
        ("sums (additivehash)", [line.sums for line in found.lines]),
        (f"rescored, factor {factors}", [line.rescored for line in found.lines]),
        (f"reader {readers}", [line.read for line in found.lines]),
        ("bits", [line.bits for line in found.lines]),
    ):
        axes.plot(sizes, recalls, marker="o", label=label)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set(ylim=(0, 1.03), xlabel="bytes a code", ylabel=f"recall@{found.k}")
    axes.set_title(f"{found.n_database:,} rows; a vector takes {found.vector_bytes:,} bytes", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend()
    with atomic(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, metadata={"Title": PLOT_TITLE})
