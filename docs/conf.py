"""How Sphinx builds the site: `make docs` writes it to the folder site."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_site"))

from api_pages import write_api_pages  # noqa: E402
from docstrings import process  # noqa: E402
from pages import arrange, copy_pages  # noqa: E402

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
        "abort_on_example_error": True,
        "download_all_examples": False,
        "image_srcset": ["2x"],
        "show_memory": False,
        "write_computation_times": False,
        "show_signature": False,
    }
else:
    exclude_patterns.append("gallery")  # of an earlier build


def setup(app):
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("builder-inited", lambda app: write_api_pages(HERE / "api"), priority=100)
    app.connect("source-read", arrange)
    app.connect("autodoc-process-docstring", process, priority=100)
