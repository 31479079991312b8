"""How Sphinx builds the site: `make docs` writes it to the folder site."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_site"))

from api_pages import write_api_pages  # noqa: E402
from docstrings import process  # noqa: E402

project = "structhash"
author = "The structhash developers"
copyright = author
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_site", "search.md"]
html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "structhash"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False

myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # $1 in SQL
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

FOREIGN_METHODS = (  # methods of scikit-learn that every estimator has
    "set_fit_request, set_partial_fit_request, set_score_request, set_transform_request, set_output, "
    "get_metadata_routing, get_feature_names_out"
)
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True, "exclude-members": FOREIGN_METHODS}
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

if any((ROOT / "examples").glob("plot_*.py")):
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": str(ROOT / "examples"),
        "gallery_dirs": "gallery",
        "filename_pattern": r"/plot_",
        "within_subsection_order": "FileNameSortKey",
        "parallel": 2,
        "abort_on_example_error": True,
        "download_all_examples": False,
        "show_memory": False,
        "write_computation_times": False,
        "show_signature": False,
    }


def toctree(caption, targets):
    """A hidden list of pages, which fills the sidebar."""
    title = [f":caption: {caption}"] if caption else []
    return "\n".join(["```{toctree}", ":hidden:", *title, "", *targets, "```", ""])


def sidebar(text):
    """Toctrees of the pages that each section of the index links in its list."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        caption, _, body = section.partition("\n")
        entries = re.findall(r"^- \[([^]]*)\]\(([^)#:]+)\.\w+\)", body, re.M)
        if entries:
            yield toctree(caption.strip(), [f"{title} <{target}>" for title, target in entries])


def arrange(app, name, source):
    """Fill the sidebar, lead links to copied pages, link names, show linked source, drop links to folders."""
    text, up = source[0], "../" * name.count("/")
    for path, copy in {**COPIES, **GALLERY}.items():
        page = f"{up}../{path}" if "docs" not in path else up + path.removeprefix("docs/")
        text = text.replace(f"]({page}", f"]({up}{copy}")
    here = (HERE / name).parent
    text = re.sub(r"\[([^]]*)\]\((\.\./[^)#]*)\)", lambda m: m[0] if (here / m[2]).is_file() else m[1], text)
    text = re.sub(r"^\[[^]]*\]\((\.\./[^)]*\.py)\)$", r"\g<0>\n\n```{literalinclude} \1\n```", text, flags=re.M)
    text = re.sub(r"(?<![`\w])`(structhash(?:\.[A-Za-z_]\w*)+)`", r"{py:obj}`\1`", text)
    text = fenced(text)
    pages = sorted(f"api/{path.stem}" for path in (HERE / "api").glob("*.rst"))
    trees = {"index": sidebar(text), "api": [toctree("", pages)]}
    source[0] = "\n".join([text, *trees.get(name, ())])


COPIES = {
    "CONTRIBUTING.md": "more/contributing.md",
    "CHANGELOG.md": "more/changelog.md",
    "docs/search.md": "more/search.md",  # search.html is the page of Sphinx's own search
}
GALLERY = {"examples/README.rst": "gallery/index.rst"} if "sphinx_gallery.gen_gallery" in extensions else {}


def fenced(text):
    """Text with its indented sessions and commands in fences that say which language they are."""

    def fence(match):
        language = "pycon" if match[1].startswith(">>>") else "console"
        lines = [line.removeprefix("    ") for line in match[0].rstrip().splitlines()]
        return "\n".join([f"```{language}", *lines, "```", ""])

    return re.sub(r"(?<=\n\n)    (>>>|structhash |python ).*\n(?:(?:\n(?=    ))?    .*\n)*", fence, text)


def copy_pages(app):
    """Copies of pages that lie above this folder, or whose name Sphinx takes for itself."""
    for path, copy in COPIES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.startswith("docs/"):
            text = re.sub(r"\]\((?=[\w.])(?!https?:)", "](../", text)
        else:
            text = text.replace("](docs/", "](../")
        (HERE / copy).parent.mkdir(exist_ok=True)
        (HERE / copy).write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("builder-inited", lambda app: write_api_pages(HERE / "api"), priority=100)
    app.connect("source-read", arrange)
    app.connect("autodoc-process-docstring", process, priority=100)
