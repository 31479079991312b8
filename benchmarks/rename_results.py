"""Give the result files the names that methods, settings and choices have now. No figure changes.

    python benchmarks/rename_results.py

The files were measured when one class, `StructHash`, held two methods. What it learned without a ranking is
`distilhash` now. What it learned for the ranking `sndcg` is `structhash` without settings. Settings have one
word each: `n_anchors`, `max_iter`. The choices of `study.json` were class variables and are settings now; a
temperature is 1 / power.

Only text between quotes changes, so that every number keeps its digits. Only files change whose checksum is
listed: those with the old names. A second run changes nothing, and neither does a run after new measurements.
"""

import re
import zlib
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
CHECKSUMS = """
26616d30 c27a6ff0 d0c45239 2de124b5 a857bd02 a0998f1e 4dcd1a9e 88524d74 71179ba6 70a89741 8d041171
01c35c7c 067133ea 3bf520e3 04dfae90 34fab756 f1291d47 23763944 43ff7750 b91019f9 748158e5 e2c002ef
f0feb1d1 c4a581cb 09981d33 a40359f4 690e6c90 9610d87f c53168e6 cdd28865 85be9d9a 0721f67e ea669fea
6edc0d46 cbe3f3d9 5c24012b 51348aed 9ea21205 e11e1c11 82df2e6b 4623f581 c9bf9f35 ad51e60e 4c07f5c6
ad616a49
"""  # of the files with the old names
SETTINGS = {  # method or piece, old word, new word
    ("ksh", "anchors"): "n_anchors",
    ("hdml", "n_epochs"): "max_iter",
    ("linear", "steps"): "max_iter",
}
POSTERIOR = "distilhash:embedding=posterior:"
CHOICES = {  # of study.json
    "structhash PULL=1": f"{POSTERIOR}self_weight=1",
    "structhash PULL=8": f"{POSTERIOR}self_weight=8",
    "structhash TARGETS=hard": "distilhash with hard targets",
    "structhash QUERIES=alike": f"{POSTERIOR}query_candidates=()",
    "structhash QUERIES=0.25": f"{POSTERIOR}query_candidates=4",
    "structhash QUERIES=1": f"{POSTERIOR}query_candidates=1",
    "structhash QUERIES=2": f"{POSTERIOR}query_candidates=0.5",
    "structhash SOFT=4": f"{POSTERIOR}temperature=4",
    "structhash SOFT=16": f"{POSTERIOR}temperature=16",
    "structhash SOFTER=8": f"{POSTERIOR}max_row_temperature=8",
    "structhash SOFTER=32": f"{POSTERIOR}max_row_temperature=32",
    "structhash SOFTER=8 QUERIES=alike": f"{POSTERIOR}max_row_temperature=8,query_candidates=()",
    "structhash SOFT=2 SOFTER=2 QUERIES=alike": (
        f"{POSTERIOR}temperature=2,max_row_temperature=2,query_candidates=()"
    ),
    "structhash@database:embedding=manifold PULL=0": "distilhash@database:embedding=manifold:self_weight=0",
    "structhash@database:embedding=manifold PULL=8": "distilhash@database:embedding=manifold:self_weight=8",
    "structhash@database:embedding=metric PULL=0": "distilhash@database:embedding=metric:self_weight=0",
    "structhash@database:embedding=cosine NEAREST=0": "distilhash@database:embedding=cosine:n_nearest=0",
}


def rename(text):
    """The new name for a text of a result file; most texts stay as they are."""
    if text in CHOICES:
        return CHOICES[text]
    for (name, old), new in SETTINGS.items():
        if text.startswith(f"{name}:"):
            text = re.sub(rf"(?<=[:,]){old}=", f"{new}=", text)
    name, colon, settings = text.partition(":")
    if name not in ("structhash", "structhash@database"):
        return text
    words = settings.split(",")
    if "ranking=sndcg" in words:
        words.remove("ranking=sndcg")
        return ":".join(filter(None, ["structhash", ",".join(words)]))
    return text if settings.startswith("ranking=") else name.replace("struct", "distil") + colon + settings


def renamed(document):
    """A JSON text with new names. Of its keys only one has a new name."""

    def replace(found):
        text, colon = found.groups()
        if colon:
            return found[0].replace('"surer"', '"new_class_evidence"')
        return f'"{rename(text)}"'

    return re.sub(r'"((?:[^"\\]|\\.)*)"(\s*:)?', replace, document)


if __name__ == "__main__":
    for path in sorted(RESULTS.rglob("*.json")):
        content = path.read_bytes()
        if f"{zlib.crc32(content):08x}" in CHECKSUMS.split():
            path.write_bytes(renamed(content.decode()).encode())
            print(path.relative_to(RESULTS))
