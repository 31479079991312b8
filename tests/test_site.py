"""The pages of the site: all can be reached, their links lead somewhere, and their snippets run."""

import doctest
import re
import runpy
import shlex
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_digits

import structhash.search

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")])
WITH_SERVER = {"stores", "postgresql"}  # tests/stores runs them


def links(page):
    """Files that a page links, without those of other sites."""
    text = re.sub(r"^```.*?^```|`[^`]*`", "", page.read_text(), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        if not re.match(r"\w+:", link):
            yield (page.parent / link).resolve()


def helper(name):
    """What a script of the site defines."""
    return runpy.run_path(str(DOCS / "_site" / f"{name}.py"))


def snippets(page):
    """All interactive snippets of a page, as one session."""
    return "\n".join(re.findall(r"^```pycon\n(.*?)^```", page.read_text(), re.M | re.S))


def test_every_page_can_be_reached_from_the_index():
    reached, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        ahead += [link for link in links(page) if link.suffix == ".md" and link not in reached]
    assert not sorted(page.name for page in set(PAGES) - reached)


def test_pages_install_from_the_source_with_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    texts = [page.read_text() for page in (*PAGES, ROOT / "README.md", ROOT / "examples" / "README.rst")]
    assert not [text for text in texts if "pip install structhash" in text.replace("'", "")]  # not published
    named = {name for text in texts for part in re.findall(r"'\.\[(.*?)\]'", text) for name in part.split(",")}
    assert {"stores", "parquet", "hdf5"} <= named <= {*extras}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    assert not [link for link in links(page) if not link.exists()]


def test_the_sidebar_has_every_page():
    text = (DOCS / "index.md").read_text()
    listed = {(DOCS / link).resolve() for link in re.findall(r"^- \[[^]]*\]\(([^)#]+)\): ", text, re.M)}
    entries = "".join(helper("pages")["sidebar"](text.replace("](../", "](")))
    assert entries.count("<") == len(listed)
    others = {ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "examples/README.rst")}
    assert {*PAGES} | others == listed | {DOCS / "index.md"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if snippets(page) and page.stem not in WITH_SERVER],
    ids=lambda page: page.stem,
)
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(snippets(page), {}, page.name, str(page), 0)
    failed, tried = doctest.DocTestRunner().run(test)
    assert tried
    assert failed == 0


def test_the_pictures_of_the_method_are_what_their_script_draws(tmp_path):
    runpy.run_path(str(ROOT / "benchmarks" / "method_pictures.py"))["main"](tmp_path)
    for name in ("bits.svg", "seam.svg"):
        drawn, shown = (ElementTree.parse(folder / name) for folder in (tmp_path, DOCS / "pictures"))
        one, other = ([(node.tag, node.text) for node in tree.iter()] for tree in (drawn, shown))
        assert one == other
        assert len(one) > 50


def test_the_site_is_built_from_the_extra():
    names = {
        "furo": "furo",
        "myst-parser": "myst_parser",
        "sphinx": "sphinx",
        "sphinx-copybutton": "sphinx_copybutton",
    }
    names["sphinx-gallery"] = "sphinx_gallery"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", line).group() for line in project["optional-dependencies"]["docs"]}
    assert declared == {"structhash", *names}
    conf = (DOCS / "conf.py").read_text()
    assert not [name for name in names.values() if f'"{name}' not in conf and name != "sphinx"]


def test_links_of_a_built_site_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="https://x.org">3</a>'
    )
    (tmp_path / "b.html").write_text(
        '<p id="here"></p><img src="no.png"><a href="#here">4</a><a href="#top"></a>'
    )
    found = helper("links")["broken_links"](tmp_path)
    assert sorted(found) == ["a.html: b.html#gone", "b.html: #top", "b.html: no.png"]


def test_indented_sessions_get_a_language():
    text = "a\n\n    >>> 1\n    1\n\n    >>> 2\n    2\n\nb\n\n    structhash demo\n\n    f(x)\n"
    sessions = "```pycon\n>>> 1\n1\n\n>>> 2\n2\n```\n"
    assert (
        helper("pages")["fenced"](text) == f"a\n\n{sessions}\nb\n\n```console\nstructhash demo\n\nf(x)\n```\n"
    )


def test_the_list_of_the_gallery_leads_to_its_scripts():
    linked = helper("pages")["linked_scripts"]((ROOT / "examples" / "README.rst").read_text())
    scripts = sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))
    assert sorted(re.findall(r":doc:`[^<`]+ <(\w+)>`", linked)) == scripts
    assert not re.findall(r"(?<!\*)\*[^*]+\*(?!\*)", linked)


def test_signs_in_docstrings_are_no_markup_and_names_are_links():
    marked = helper("docstrings")["marked"]
    assert marked("|z_j| * weights_ of `k`", structhash.search) == r"\|z_j\| \* weights\_ of ``k``"
    assert marked("`Exact.add`", structhash.search) == ":py:obj:`Exact.add <structhash.search.exact.Exact.add>`"
    assert marked("``Exact``", structhash.search) == "``Exact``"


@pytest.mark.slow
def test_commands_of_the_tutorial_on_thumbnails(in_a_process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "digits.npz", X=X, y=y)
    text = (DOCS / "tutorials" / "thumbnails.md").read_text()
    commands = re.findall(r"^\$ structhash (.*)", text, re.M)
    assert len(commands) == 2
    for command in commands:
        assert in_a_process("from structhash.cli.commands import app; app()", *shlex.split(command)) == 0
    assert (tmp_path / "result.html").read_text().count("data:image/png") > 50
