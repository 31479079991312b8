"""The pictures of the method, drawn from a run on 30 points in the plane.

    python benchmarks/method_pictures.py docs/pictures

`bits.svg` shows column generation bit by bit, `seam.svg` what passes between master and family. Both paint
their own background, light or dark as the reader's system is.
"""

import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from structhash.masters.triplet import TripletMaster
from structhash.pieces import load
from structhash.supervision import Labels
from structhash.training.column_generation import bit_key, new_bit
from structhash.training.comparisons import problem_from_comparisons

STYLE = """<style>
svg { --paper: #ffffff; --ink: #222222; --faint: #6f6f6f; --shade: #eef1f5 }
svg { --apart: #d55e00; --together: #0072b2 }
@media (prefers-color-scheme: dark) {
svg { --paper: #17191c; --ink: #e6e6e6; --faint: #a0a0a0; --shade: #24282e }
svg { --apart: #ff9248; --together: #63b6f0 } }
text { font: 14.5px system-ui, sans-serif; fill: var(--ink) }
.small { font-size: 13px; fill: var(--faint) } .title { font-weight: 600; font-size: 15px }
.paper { fill: var(--paper) } .shade { fill: var(--shade) } .ink { fill: var(--ink) } .none { fill: none }
.frame { stroke: var(--faint) } .mark { fill: var(--paper); stroke: var(--ink); stroke-width: 1.6 }
.plane { stroke: var(--ink); stroke-width: 2 } .arrow { stroke: var(--ink); stroke-width: 1.8; fill: none }
.apart { stroke: var(--apart) } .together { stroke: var(--together); stroke-dasharray: 4 3 }
.cell-apart { fill: var(--apart) } .cell-together { fill: var(--together) }
</style>"""

PANEL = 280  # width and height


class Shown(NamedTuple):
    """A bit as the picture shows it."""

    weights: np.ndarray  # pair weights (n, n) that it is learned from
    bit: np.ndarray  # (n,)
    plane: np.ndarray  # normal and offset among the points (3,)
    wrong: float  # share of triplets whose far point is not farther, with this bit and those before it


def points():
    """30 points of six classes in a ring: X (30, 2) and class index (30,)."""
    rng = np.random.default_rng(1)
    angles = np.repeat(np.arange(6) * np.pi / 3 + 0.3, 5)
    return np.c_[np.cos(angles), np.sin(angles)] + rng.normal(0, 0.13, (30, 2)), np.repeat(np.arange(6), 5)


def learned_bits(X, y, n_bits):
    """The first bits that column generation learns from triplets of all points."""
    rng = np.random.default_rng(0)
    parts = load("losses", "squared_hinge"), load("regularizers", "l1"), load("schedules", "totally_corrective")

    def make_master(comparisons, graph):
        return TripletMaster(comparisons, graph, *parts, 300.0, 1e-6, n_jobs=1)

    labels = Labels(y, n_near=29, n_far=29)
    problem = problem_from_comparisons(X, labels, load("families", "linear"), parts[2], make_master, rng)
    entries, seen, found, codes = problem.master.first_entries(), set(), [], []
    for _ in range(n_bits):
        params, bit, _ = new_bit(problem, entries, partial(load("starts", "spectral"), memo={}), seen, rng)
        weights = problem.graph.pair_weights(entries).weights.toarray()
        solution = problem.master.add(bit)
        entries = solution.entries
        seen.add(bit_key(bit))
        codes.append(bit)
        plane = problem.function.family.planes(problem.function.family_state, params)
        found.append(Shown(weights, bit, plane, wrong_share(np.array(codes).T, solution.weights, y)))
    return found


def wrong_share(codes, weights, y):
    """Share of triplets (query, near, far) whose far point is not farther by weighted Hamming distance."""
    distances = ((codes[:, None] != codes) * weights).sum(axis=2)
    near = (y[:, None] == y) & ~np.eye(len(y), dtype=bool)
    far = y[:, None] != y
    wrong = [(distances[i][far[i]] <= distances[i][near[i], None]).mean() for i in range(len(y))]
    return float(np.mean(wrong))


def svg(width, height, about, parts):
    """An SVG picture with its own background."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{about}">',
            STYLE,
            box("paper", 0, 0, width, height, 'rx="8"'),
            *parts,
            "</svg>\n",
        ]
    )


def text(x, y, words, kind="", anchor="start"):
    """A line of text."""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


def line(a, b, kind, width=None):
    """A line from point to point."""
    stroke = f' stroke-width="{width:.1f}"' if width else ""
    return f'<line class="{kind}" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"{stroke}/>'


def box(kind, x, y, width, height, more=""):
    """A rectangle."""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" {more}/>'


def circle(kind, centre, radius, width=1.6):
    """A circle, its line of this width."""
    place = f'cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius}"'
    return f'<circle class="{kind}" {place} style="stroke-width:{width:.1f}"/>'


def panel(X, y, shown, number, corner):
    """The points, the weights of pairs of classes as lines, and the new bit's plane with its side shaded."""
    left, top = corner

    def place(x):
        return np.array([left + PANEL / 2, top + PANEL / 2]) + np.array([1, -1]) * x * PANEL / 3.2

    center, (normal,), (threshold,) = shown.plane
    foot = center + threshold * normal
    along = 6 * np.array([-normal[1], normal[0]])
    shaded = [
        place(x) for x in (foot - along, foot + along, foot + along + 6 * normal, foot - along + 6 * normal)
    ]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in shaded)
    parts = [
        f'<clipPath id="panel{number}">{box("", left, top, PANEL, PANEL)}</clipPath>',
        f'<g clip-path="url(#panel{number})"><polygon class="shade" points="{corners}"/>',
        line(place(foot - along), place(foot + along), "plane"),
        "</g>",
        box("none frame", left, top, PANEL, PANEL),
    ]
    of_class = np.eye(6)[y]
    weights = of_class.T @ shown.weights @ of_class / np.where(np.eye(6), 2, 1)
    largest = np.abs(weights).max()
    centres = [place(X[y == c].mean(axis=0)) for c in range(6)]
    for i, j in zip(*np.triu_indices(6)):
        share = abs(weights[i, j]) / largest
        if share < 0.04:
            continue
        kind = "apart" if weights[i, j] > 0 else "together"
        if i == j:
            parts.append(circle(f"none {kind}", centres[i], 27, 4 * share))
        else:
            parts.append(line(centres[i], centres[j], kind, 4 * share))
    for x, c in zip(X, y):
        px, py = place(x)
        parts.append(circle("mark", (px, py), 8))
        parts.append(text(px, py + 4.5, "ABCDEF"[c], "small", "middle"))
    below = f"then wrong: {shown.wrong:.0%} of triplets"
    return [text(left, top - 10, f"Bit {number}", "title"), *parts, text(left, top + PANEL + 20, below)]


def bits_picture(X, y, bits):
    """Column generation: three bits, and the codes that they give."""
    corners = [(20, 40), (340, 40), (20, 400)]
    parts = [part for k in range(3) for part in panel(X, y, bits[k], k + 1, corners[k])]
    parts += [text(340, 390, "The codes", "title")]
    for c in range(6):
        code = " ".join(str(shown.bit[y == c][0]) for shown in bits)
        parts += [text(360, 424 + 24 * c, f"class {'ABCDEF'[c]}"), text(440, 424 + 24 * c, code)]
    parts += [
        line((346, 590), (386, 590), "apart", 4),
        text(396, 595, "push these classes apart"),
        circle("none together", (366, 620), 11, 3),
        text(396, 625, "keep this class together"),
        box("shade frame", 346, 642, 40, 18),
        text(396, 656, "the new bit is 1 here"),
        text(346, 684, "Thick lines weigh more.", "small"),
    ]
    return svg(640, 720, "Three bits learned one after another from pair weights", parts)


def seam_picture(y, shown):
    """What passes between master and family: pair weights one way, a bit the other way."""
    size, n = 5, len(y)
    left, top = 245, 60
    parts = [
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto">'
        '<path class="ink" d="M0 0L10 5L0 10z"/></marker></defs>',
        *(box("shade frame", x, 60, 180, 330, 'rx="8"') for x in (20, 440)),
        text(110, 90, "Master", "title", "middle"),
        text(110, 112, "finds the weights", "", "middle"),
        text(530, 90, "Family", "title", "middle"),
        text(530, 112, "finds a new bit", "", "middle"),
    ]
    for k, words in enumerate(["listwise: DistilHash", "ranking: StructHash", "triplet: CGHash"]):
        parts.append(text(110, 165 + 26 * k, words, "", "middle"))
    for k, words in enumerate(["linear: planes", "rbf: kernel planes", "stump", "tree"]):
        parts.append(text(530, 165 + 26 * k, words, "", "middle"))
    for k, words in enumerate(["knows losses, rankings,", "triplets and targets;", "never sees a row"]):
        parts.append(text(110, 330 + 18 * k, words, "small", "middle"))
    for k, words in enumerate(["knows rows;", "never sees a loss,", "a ranking or a label"]):
        parts.append(text(530, 330 + 18 * k, words, "small", "middle"))
    largest = np.abs(shown.weights).max()
    parts.append(box("paper frame", left, top, n * size, n * size))
    for i, j in zip(*np.nonzero(np.abs(shown.weights) > 0.02 * largest)):
        weight = shown.weights[i, j] / largest
        kind = "cell-apart" if weight > 0 else "cell-together"
        opacity = f'opacity="{max(abs(weight), 0.15):.2f}"'
        parts.append(box(kind, left + j * size, top + i * size, size, size, opacity))
    parts += [
        text(320, 40, "pair weights W", "title", "middle"),
        '<path class="arrow" marker-end="url(#tip)" d="M202 228H438"/>',
        text(320, 248, "orange: push apart", "small", "middle"),
        text(320, 264, "blue: pull together", "small", "middle"),
        text(320, 308, "a bit h: 0 or 1 a point", "title", "middle"),
        '<path class="arrow" marker-end="url(#tip)" d="M438 350H202"/>',
        text(320, 374, "the largest h'(D - W)h", "small", "middle"),
    ]
    for i, value in enumerate(shown.bit):
        kind = "ink" if value else "paper"
        parts.append(box(f"{kind} frame", left + i * size, 322, size, 14))
    return svg(640, 410, "Master and family exchange pair weights and bits", parts)


def main(folder):
    """Write both pictures."""
    X, y = points()
    bits = learned_bits(X, y, 3)
    (folder / "bits.svg").write_text(bits_picture(X, y, bits), encoding="utf-8")
    (folder / "seam.svg").write_text(seam_picture(y, bits[1]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
