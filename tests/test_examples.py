"""The scripts of the gallery run without a warning, and have the form that sphinx-gallery reads."""

import ast
import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
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


@each_script
def test_a_script_draws_its_picture_in_its_last_part(script):
    parts = script.read_text().split("\n# %%\n")  # the gallery shows a figure after the part that makes it
    assert ["plt.subplots(" in part for part in parts] == [False] * (len(parts) - 1) + [True]


def test_the_gallery_is_numbered_and_lists_nothing_else():
    numbers = [int(script.stem.split("_")[1]) for script in SCRIPTS]
    assert numbers == list(range(1, len(SCRIPTS) + 1))
    assert len(SCRIPTS) >= 12
    listed = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", (EXAMPLES / "README.rst").read_text())
    assert sorted(" ".join(each.split()) for each in listed) == sorted(map(title, SCRIPTS))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg")
@each_script
def test_a_script_runs_without_a_warning(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with plt.rc_context({"backend": "agg"}):
        runpy.run_path(str(script), run_name="__main__")
        assert plt.get_fignums()
        plt.close("all")
    assert not list(tmp_path.iterdir())
