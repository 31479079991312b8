"""The tables in README are those of the committed result files."""

import json
from pathlib import Path

import pytest

from structhash.report import from_json, table

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


@pytest.mark.parametrize("name", ["usps_seen", "isolet_unseen", "banking77_unseen"])
def test_readme_shows_the_result_file(name):
    document = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())
    readme = (ROOT / "README.md").read_text()
    for line in table(from_json(document)).splitlines():
        assert line.strip() in readme
