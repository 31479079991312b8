"""The scripts of the gallery run without a warning, and have the form that sphinx-gallery reads."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def title(script):
    """The title of a script; AssertionError unless its docstring has one, underlined, and prose."""
    lines = (ast.get_docstring(ast.parse(script.read_text())) or "").splitlines()
    assert len(lines) > 3
    assert lines[1] == "=" * len(lines[0])
    assert not lines[2]
    assert lines[3]
    return lines[0]


@each_script
def test_a_script_has_a_title_that_the_gallery_lists_prose_and_a_picture(script):
    page = " ".join((EXAMPLES / "README.rst").read_text().split())
    assert f"*{title(script)}*" in page
    text = script.read_text()
    assert len(re.findall(r"^# %%\n# \S", text, re.MULTILINE)) >= 2
    assert text.endswith("\nplt.show()\n")


def test_the_gallery_is_numbered_and_lists_nothing_else():
    numbers = [int(script.stem.split("_")[1]) for script in SCRIPTS]
    assert numbers == list(range(1, len(SCRIPTS) + 1))
    assert len(SCRIPTS) >= 12
    listed = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", (EXAMPLES / "README.rst").read_text())
    assert sorted(" ".join(each.split()) for each in listed) == sorted(map(title, SCRIPTS))


@pytest.mark.slow
@each_script
def test_a_script_runs_without_a_warning(script, tmp_path):
    command = [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg", str(script)]
    surroundings = {**os.environ, "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert not list(tmp_path.iterdir())
