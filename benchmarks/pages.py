"""The tables of the pages in docs, from the classes and the files in benchmarks/results.

    python benchmarks/pages.py

A table NAME stands behind the line <!-- NAME --> of its page.
"""

import itertools
import json
import re
from pathlib import Path
from statistics import fmean

from sklearn.utils import get_tags

from structhash.cli.pieces import PAPER, describe_piece
from structhash.evaluation.report import SIGNIFICANCE_LEVEL
from structhash.pieces import classes

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
RESULTS = HERE / "results"


def row(*cells):
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def head(*cells):
    return [row(*cells), "|" + "---|" * len(cells)]


def distances(encoder):
    """What a model is searched by."""
    found = ["plain" if encoder.codes_are_bits else "tables", *(["weighted"] if encoder.weighted_ else [])]
    return ", ".join(found + ([encoder.own_distance_] if encoder.own_distance_ else []))


def peers():
    """A line a baseline: what it is, where it comes from, what it learns from, its settings."""
    lines = head("method", "what", "source", "learns from", "distances", "settings")
    for name, encoder in classes("baselines").items():
        about, source = describe_piece(encoder), encoder.source
        if about["source"] != PAPER:  # the class gives an address
            source = f"[{source}]({about['source'].replace('doi:', 'https://doi.org/')})"
        learns = "labels" if get_tags(encoder()).target_tags.required else "vectors"
        learns += ", several a row" * getattr(encoder, "takes_several_labels", False)
        lines.append(row(f"`{name}`", about["what"], source, learns, distances(encoder), encoder.settings_from))
    return lines


def originals():
    """mAP of the authors' code and of ours, a line a method or variant."""
    found, columns = {}, set()
    for path in sorted((RESULTS / "originals").glob("*.json")):
        for key, line in json.loads(path.read_text()).items():
            data, bits, variant = re.fullmatch(r"(\S+) (\d+) bits ?(.*)", key).groups()
            columns.add((data, int(bits)))
            label = f"`{path.stem}`" + f", {variant}" * bool(variant)
            held = found.setdefault((path.stem, variant), {"label": label, "repository": line["repository"]})
            held[data, int(bits)] = f"{line['original']['map']:.3f} / {line['ours']['map']:.3f}"
    order = sorted(columns)
    lines = head("method", *(f"{data} {bits}" for data, bits in order), "code")
    for _, held in sorted(found.items()):
        cells = [held.get(column, "") for column in order]
        lines.append(row(held["label"], *cells, held["repository"]))
    return lines


def lines_of_speed():
    return json.loads((RESULTS / "speed.json").read_text())["lines"]


def wall(line, what):
    return line["time"][what]["wall"]["median"]


def method_of(line):
    words = [line["method"], line.get("ranking"), line.get("schedule", "").replace("_", " ")]
    return " ".join(filter(None, words))


def speed():
    """Seconds beside the floor, a line a setting."""
    lines = head("data", "method", "seconds", "floor", "ratio", "load", "paper")
    for name, line in lines_of_speed().items():
        if name == f"mnist_{line['n_train']}":
            continue
        figures = f"{wall(line, 'train'):.1f}", f"{wall(line, 'floor'):.2f}", f"{wall(line, 'ratio'):.2f}"
        paper = f"{line['paper_seconds']:,.0f}" if line["paper_seconds"] else ""
        lines.append(row(line["data"], method_of(line), *figures, str(line["time"]["load"][0]), paper))
    return lines


def phases():
    """Seconds of each phase, a line a setting."""
    found = lines_of_speed()
    columns = [name for name in next(iter(found.values()))["phases"]["wall"] if name != "total"]
    lines = head("data", "method", "points", *columns)
    for line in found.values():
        figures = [f"{line['phases']['wall'][name]:.2f}" for name in columns]
        lines.append(row(line["data"], method_of(line), f"{line['n_train']:,}", *figures))
    return lines


def sizes():
    """Seconds, exponents and memory against the training points."""
    found = lines_of_speed()
    powers = json.loads((RESULTS / "speed.json").read_text())["exponents"]
    lines = head("points", "seconds", "floor", "ratio", "exponent", "of the floor", "bytes a point", "peak, GB")
    before = None
    for name, line in found.items():
        n = line["n_train"]
        if name != f"mnist_{n}":
            continue
        figures = f"{wall(line, 'train'):.1f}", f"{wall(line, 'floor'):.1f}", f"{wall(line, 'ratio'):.2f}"
        power = powers.get(f"{before}-{n}", {})
        both = [f"{power[key]:.2f}" if power else "" for key in ("train_wall", "floor_wall")]
        memory = line["memory"]
        held = f"{memory['bytes_a_point']:,}", f"{memory['peak'] / 1e9:.2f}"
        lines.append(row(f"{n:,}", *figures, *both, *held))
        before = n
    return lines


def versions():
    """Means of two versions and whether they differ."""
    lines = head("data", "method", "distance", "measure", "before", "after", "p")
    for line in json.loads((RESULTS / "versions.json").read_text())["lines"]:
        names = [line[key] for key in ("data", "method", "distance", "measure")]
        lines.append(row(*names, *(f"{line[key]:.3f}" for key in ("before", "after", "p"))))
    return lines


SETS = ("usps", "isolet", "mnist", "cifar10_gist512", "banking77_minilm")
MEASURES = {
    "ndcg_paper@100": "NDCG@100",
    "map": "mAP",
    "precision@10": "P@10",
    "recall_tenth": "ten nearest in the first tenth",
}
SEEN, UNSEEN = ("ndcg_paper@100", "map"), ("precision@10", "map")
PUBLISHED = {  # Tables 1 and 2 of the paper, USPS, 64 bits, and the method here
    "StructH-N": ("structhash", 0.905, 0.903, 0.868, 0.776),
    "SPLH": ("splh", 0.816, 0.805, 0.689, 0.609),
    "STHs": ("sth", 0.688, 0.667, 0.456, 0.401),
    "BREs": ("bre", 0.777, 0.755, 0.582, 0.520),
    "ITQ": ("itq@database", 0.804, 0.780, 0.566, 0.508),
    "SPHER": ("spher@database", 0.762, 0.730, 0.451, 0.424),
    "MDSH": ("mdsh@database", 0.735, 0.698, 0.405, 0.379),
    "AGH": ("agh@database", 0.741, 0.711, 0.333, 0.326),
    "LSH": ("lsh@database", 0.668, 0.637, 0.418, 0.375),
}


def of_peers(name, protocol, n_bits):
    """Means of every line of a comparison at a length, by method and distance; float and own lengths too."""
    document = json.loads((RESULTS / "peers" / f"{name}_{protocol}.json").read_text())
    asked, found = set(document["options"]["bits"]), {}
    for line in document["lines"]:
        if line["n_bits"] == n_bits or line["n_bits"] not in asked:
            found[line["method"], line["distance"]] = line["mean"]
    return found


def of_ours(name, protocol, n_bits):
    """The same of `distilhash` as it is by default, on the first split of its comparison, that of the peers."""
    path = RESULTS / "best" / f"{name}_{protocol}.json"
    document = json.loads(path.read_text()) if path.exists() else {"lines": []}
    return {
        (line["method"], line["distance"]): {key: values[0] for key, values in line["by_seed"].items()}
        for line in document["lines"]
        if line["n_bits"] == n_bits and default(line)
    }


def rivals():
    """DistilHash, the best other code in each of its comparisons, and the p of the worse of the two."""
    lines = head("data", "classes", "bits", "measure", "DistilHash", "best of the others", "", "p")
    for path in sorted((RESULTS / "best").glob("*.json"), key=lambda path: path.stem):
        document = json.loads(path.read_text())
        measures = SEEN if document["protocol"] == "seen" else UNSEEN
        for n_bits, measure in itertools.product(document["options"]["bits"], measures):
            ours, *others = sorted(
                (line for line in document["lines"] if line["n_bits"] == n_bits and rival(line)),
                key=lambda line: (not default(line), -line["mean"][measure]),
            )
            figures = f"{ours['mean'][measure]:.3f}", f"{others[0]['mean'][measure]:.3f}"
            p = min(ours["p_value"][measure], others[0]["p_value"][measure])
            sign = "=" if p >= 0.05 else ">" if figures[0] > figures[1] else "<"
            name = f"`{others[0]['method']}`"
            about = document["data"].removesuffix(".npz"), document["protocol"], str(n_bits), MEASURES[measure]
            lines.append(row(*about, figures[0], f"{sign} {figures[1]}", name, f"{p:.1g}"))
    return lines


def kernel():
    """DistilHash beside peers that have its kernel."""
    return by_set("kernel")


def plenty():
    """More labels and more anchors: what they give and what they cost."""
    table = head("data", "labels", "method", "anchors", "mAP", "NDCG@100", "fit s", "encode s")
    for line in json.loads((RESULTS / "plenty.json").read_text())["lines"]:
        seconds = (f"{line[phase]['processor']:.3g}" for phase in ("fit", "encode"))
        quality = (f"{line[measure]:.3f}" for measure in ("map", "ndcg@100"))
        own = (line["set"], str(line["labels"]), f"`{line['method']}`", str(line.get("anchors", "")))
        table.append(row(*own, *quality, *seconds))
    return table


def prefix():
    """Prefixes of the code, from short to long."""
    return by_set("prefix")


def worlds(folder=RESULTS / "worlds", n_bits=64, sets=SETS):
    """Methods in every world, a column a data set: codes of one length, and what has no length or its own."""
    found, splits = {}, {}
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        name, world = path.stem.rsplit("_", 1)
        splits.setdefault(world, set()).add(len(document["options"]["seeds"]))
        for line in document["lines"]:
            method = label(line)
            if method and length(line, document) in (0, n_bits):
                found.setdefault((world, method), {})[name] = of_world(line, world)
    table = head("world", "splits", "measures", "method", *sets)
    for (world, method), cells in sorted(found.items(), key=lambda item: world_order(item[0][0])):
        names = " / ".join(MEASURES[measure] for measure in measures_of(world))
        n_splits = " or ".join(map(str, sorted(splits[world])))
        table.append(row(world, n_splits, names, method, *(cells.get(name, "") for name in sets)))
    return table


def second_model():
    """The worlds of banking77 by a second sentence model."""
    return worlds(RESULTS / "second", sets=("banking77_e5",))


def label(line):
    """Method and distance of a line; None for class probabilities where another line has the same ones."""
    if line["distance"] == "posterior" and "confidence_bits" in line["method"]:
        return None
    own = line["distance"] not in ("plain", "L2", "-")
    return f"`{line['method']}`" + f", {line['distance']}" * own


def length(line, document):
    """Bits of the codes of a line; 0 where they have a length of their own, or are no codes."""
    return line["n_bits"] if line["n_bits"] in document["options"]["bits"] else 0


def controls():
    """What one byte with the predicted class does, and the class probabilities as floats."""
    return by_set("controls", stars=False)


def several():
    """Rows with several labels: mAP, precision at 10 and NDCG by the number of shared labels."""
    return by_set("several", measures=("map", "precision@10", "ndcg@100"))


def labels_alone():
    """mAP and precision at 10 of queries of known and of new classes, where only labels were given."""
    found = {}
    for line in json.loads((RESULTS / "labels_alone.json").read_text())["lines"]:
        found.setdefault(line["queries"], {})[line["set"]] = line
    columns = list(next(iter(found.values())))
    table = head("queries", "classes", *columns)
    for queries, kind in itertools.product(found, ("known", "new", "only new")):
        means = (found[queries][name][kind] for name in columns)
        cells = (f"{mean['map']:.3f} / {mean['precision@10']:.3f}" for mean in means)
        table.append(row(f"`{queries}`", kind, *cells))
    return table


def measures_of(world):
    """What the table of the worlds shows."""
    return {"seen": SEEN, "instances": ("recall_tenth",)}.get(world, ("map", "precision@10"))


def world_order(world):
    """Worlds as they are listed; those of few labels by their number."""
    word, _, number = world.partition("-")
    words = ("seen", "unseen", "mixed", "coarse", "few", "tail", "instances")
    return words.index(word), int(number) if number.isdecimal() else 0, number


def of_world(line, world):
    """The figures of a line, with a star where it is significantly behind."""
    if line["error"]:
        return "failed"
    return " / ".join(f"{line['mean'][m]:.3f}{mark(line['p_value'][m])}" for m in measures_of(world))


def by_set(folder, measures=SEEN, stars=True):
    """Methods and lengths of the files of a folder, a column a data set."""
    found, files = {}, sorted((RESULTS / folder).glob("*.json"))
    for path in files:
        document = json.loads(path.read_text())
        for line in document["lines"]:
            n_bits = length(line, document)
            marks = (mark(line["p_value"][m]) * stars for m in measures)
            figures = (f"{line['mean'][m]:.3f}{star}" for m, star in zip(measures, marks, strict=True))
            if method := label(line):
                found.setdefault((n_bits, method), {})[path] = " / ".join(figures)
    table = head("method", "bits", *(path.stem for path in files))
    for (n_bits, method), cells in sorted(
        found.items(), key=lambda item: (item[0][0], item[0][1].replace("`", ""))
    ):
        table.append(row(method, str(n_bits or ""), *(cells.get(path, "") for path in files)))
    return table


def judged():
    """Queries with relevance judgements, cross-validated by query."""
    documents = [json.loads(path.read_text()) for path in sorted((RESULTS / "judged").glob("*.json"))]
    measures = documents[0]["options"]["measures"]
    table = head("data", "method", "distance", "bits", *measures)
    for document in documents:
        for line in document["lines"]:
            figures = [f"{line['mean'][m]:.3f}{mark(line['p_value'][m])}" for m in measures]
            about = (
                document["data"].removesuffix(".npz"),
                f"`{line['method']}`",
                line["distance"],
                str(line["n_bits"]),
            )
            table.append(row(*about, *figures))
    return table


def mark(p):
    """What a table has behind a value that is significantly below the best."""
    return "*" if p < SIGNIFICANCE_LEVEL else ""


def default(line):
    """Whether a line is of DistilHash as it is recommended, for known or for new classes."""
    return line["method"] in ("distilhash", "distilhash@database:embedding=manifold")


def rival(line):
    """Whether a line is of DistilHash as it is recommended, or of a method that is not ours."""
    return default(line) or not line["method"].startswith(("distilhash", "structhash"))


def study():
    """What each choice of the study changes."""
    lines = head("classes", "choice", *SETS, "gain, mAP", "p", "gain, P@10", "p")
    for line in json.loads((RESULTS / "study.json").read_text())["lines"]:
        figures = [f"{line[name]['map@64 bits']:.3f}" for name in SETS]
        gains = [line["gain map"], line["gain precision@10"]]
        cells = [cell for gain in gains for cell in (f"{gain['mean']:+.4f}", f"{gain['p']:.1g}")]
        first = all(gain["p"] == 1 for gain in gains)
        lines.append(row(line["protocol"], f"`{line['choice']}`", *figures, *([""] * 4 if first else cells)))
    return lines


def everyone(protocol, measures, n_bits=64):
    """A line a method and distance, a column a set; the best first in the mean of the last measure."""
    found = {name: of_peers(name, protocol, n_bits) | of_ours(name, protocol, n_bits) for name in SETS}
    lines = {key for name in SETS for key in found[name]}

    def rank(key):
        return -sum(found[name].get(key, {}).get(measures[-1], 0) for name in SETS)

    table = head("method", "distance", *SETS)
    for key in sorted(lines, key=lambda key: (rank(key), key)):
        cells = [
            " / ".join(f"{found[name][key][m]:.3f}" for m in measures) if key in found[name] else ""
            for name in SETS
        ]
        table.append(row(f"`{key[0]}`", key[1], *cells))
    return table


def seen():
    """NDCG and mAP of everyone on seen classes."""
    return everyone("seen", SEEN)


def unseen():
    """Precision and mAP of everyone on unseen classes."""
    return everyone("unseen", UNSEEN)


def published():
    """The paper's figures beside ours."""
    ours = of_peers("usps", "seen", 64) | of_ours("usps", "seen", 64)
    lines = head("paper", "NDCG", "P@100", "mAP", "PR area", "here", "NDCG", "P@100", "mAP", "PR area")
    for name, (method, *theirs) in PUBLISHED.items():
        mean = ours[method, "plain"]
        here = [mean.get(key) for key in ("ndcg_paper@100", "precision@100", "map", "pr_area")]
        figures = ["" if value is None else f"{value:.3f}" for value in here]
        lines.append(row(name, *(f"{value:.3f}" for value in theirs), f"`{method}`", *figures))
    return lines


def query_maps():
    """What a query map is worth by the number of judged queries."""
    found = {}
    for line in json.loads((RESULTS / "query_maps.json").read_text())["rows"]:
        found.setdefault((line["set"], line["n_judged"]), []).append(line)
    table = head("set", "judged queries", "fits with a map", "nDCG@10", "nDCG@10 after", "mAP", "mAP after")
    for (name, n), lines in sorted(found.items()):
        figures = [
            f"{fmean(line[when][measure] for line in lines):.3f}"
            for measure in ("ndcg@10", "map")
            for when in ("without", "with")
        ]
        table.append(row(name, str(n), f"{fmean(line['mapped'] for line in lines):.0%}", *figures))
    return table


def rates():
    """Rate of each kind of query beside faiss, on one thread, a column a length."""
    found = json.loads((RESULTS / "search" / "rates.json").read_text())
    table = head("index", "queries", *(name.removeprefix("sift x 10, ") for name in found))
    for index, lines in next(iter(found.values())).items():
        if index.endswith("1 thread"):
            for form in list(lines)[1:]:
                table.append(row(index, form, *(f"{each[index][form]['rate']:.2f}" for each in found.values())))
    return table


def reader_choice():
    """What readers find on rows of the fit and on rows it never saw, and what its choice loses."""
    table = head("set", "method", "rows", "rows of the fit", "unseen rows", "chosen", "lost")
    for line in json.loads((RESULTS / "reader_choice.json").read_text())["lines"]:
        shares = (" / ".join(f"{share:.3f}" for share in line[of].values()) for of in ("seen", "unseen"))
        own = line["set"].partition("_")[0], f"`{line['method']}`", f"{line['rows']:,}"
        table.append(row(*own, *shares, line["chosen"], f"{line['lost']:.3f}" if line["lost"] else "0"))
    return table


def equal_bytes():
    """What codes of equal bytes find, a line a length and method, a column a data set."""
    found = {}
    for line in json.loads((RESULTS / "search" / "bytes.json").read_text())["lines"]:
        method = line["method"] + f"@{line['reader']}" * bool(line["reader"])
        found.setdefault((line["bytes"], method), {}).setdefault(line["set"], []).append(line)
    columns = list(dict.fromkeys(name for cells in found.values() for name in cells))
    table = head("bytes", "method", *(name.partition("_")[0] for name in columns))
    for (n_bytes, method), cells in sorted(found.items(), key=lambda item: item[0][0]):  # in order of the file
        table.append(row(str(n_bytes), f"`{method}`", *(of_bytes(cells.get(name, [])) for name in columns)))
    return table


def of_bytes(lines):
    """The measures of a method on a data set, means over seeds; nothing where it was not measured."""
    measures = [name for name in ("recall@10", "recall@100", "ndcg@10") if lines and name in lines[0]]
    return " / ".join(f"{fmean(line[name] for line in lines):.3f}" for name in measures)


PAGES = {
    "baselines.md": (peers, originals),
    "method.md": (study, query_maps),
    "results.md": (
        rivals,
        controls,
        kernel,
        worlds,
        labels_alone,
        second_model,
        several,
        plenty,
        prefix,
        judged,
        seen,
        unseen,
        published,
    ),
    "search-numbers.md": (reader_choice, rates, equal_bytes),
    "speed.md": (speed, phases, sizes, versions),
}


def filled(page, tables):
    """The page with new tables."""
    for table in tables:
        name = table.__name__
        text = "\n".join([f"<!-- {name} -->", *table(), ""])
        page = re.sub(rf"<!-- {name} -->\n(\|.*\n)*", lambda _, text=text: text, page)
    return page


if __name__ == "__main__":
    for name, tables in PAGES.items():
        (DOCS / name).write_text(filled((DOCS / name).read_text(), tables))
