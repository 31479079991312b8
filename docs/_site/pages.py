"""Markdown pages as Sphinx reads them. In the repository they stay as a code host shows them."""

import re
from pathlib import Path

__all__ = ["arrange", "copy_pages", "sidebar"]

HERE = Path(__file__).parents[1]
ROOT = HERE.parent

COPIES = {
    "CONTRIBUTING.md": "more/contributing.md",
    "CHANGELOG.md": "more/changelog.md",
    "docs/search.md": "more/search.md",  # search.html is the page of Sphinx's own search
}
GALLERY = {"examples/README.rst": "gallery/index.rst"}


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


def fenced(text):
    """Text with its indented sessions and commands in fences that say which language they are."""

    def fence(match):
        language = "pycon" if match[1].startswith(">>>") else "console"
        lines = [line.removeprefix("    ") for line in match[0].rstrip().splitlines()]
        return "\n".join([f"```{language}", *lines, "```", ""])

    return re.sub(r"(?<=\n\n)    (>>>|structhash |python ).*\n(?:(?:\n(?=    ))?    .*\n)*", fence, text)


def linked_scripts(text):
    """The list of the gallery, its titles linked to the pages of their scripts."""
    scripts = sorted((ROOT / "examples").glob("plot_*.py"))
    names = {script.read_text(encoding="utf-8").splitlines()[1]: script.stem for script in scripts}

    def link(match):
        title = " ".join(match[1].split())
        return f":doc:`{title} <{names[title]}>`" if title in names else match[0]

    return re.sub(r"(?<!\*)\*([^*]+)\*(?!\*)", link, text)


def arrange(app, name, source):
    """Fill the sidebar, link scripts, names and copied pages, show linked source, drop links to folders."""
    if name == "gallery/index":
        source[0] = linked_scripts(source[0])
    if Path(app.env.doc2path(name)).suffix != ".md":
        return
    text, up = source[0], "../" * name.count("/")
    gallery = GALLERY if "sphinx_gallery.gen_gallery" in app.extensions else {}
    for path, copy in {**COPIES, **gallery}.items():
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
