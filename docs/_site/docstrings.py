"""Docstrings as Sphinx reads them: signs of formulae are only signs, and names lead to what they name."""

import inspect
import re
import sys

__all__ = ["process"]

QUOTED = re.compile(r"(``.+?``|`[^`]+`)")
UNDERLINE = re.compile(r"-{3,}$")
FIELDS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Other Parameters")


def escaped(text):
    """Text without markup: bars, stars, and underscores at the end of a word are what they are."""
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", re.sub(r"([|*])", r"\\\1", text))


def target(name, module):
    """Dotted name of what a name in a docstring means to its module; None for parameters and other words."""
    if name.startswith("structhash."):
        return name
    head, _, rest = name.partition(".")
    thing = vars(module).get(head)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        home = getattr(thing, "__module__", None) or ""
        if home.startswith("structhash"):
            return ".".join(filter(None, [home, thing.__qualname__, rest]))
    return None


def quoted(text, module):
    """What stands between backticks, as a link where it names a public thing, and as code elsewhere."""
    name = text.strip("`").strip()
    path = None if text.startswith("``") else target(name, module)
    return f":py:obj:`{name} <{path}>`" if path else f"``{name}``"


def marked(text, module):
    """A line of a docstring with its markup made plain."""
    return "".join(quoted(part, module) if part[:1] == "`" else escaped(part) for part in QUOTED.split(text))


def process(app, what, name, thing, options, lines):
    """Rewrite the lines of a docstring in place, for the event ``autodoc-process-docstring``."""
    module = sys.modules.get(
        getattr(inspect.unwrap(thing) if callable(thing) else thing, "__module__", None) or ""
    )
    module = module or sys.modules.get(name) or sys.modules["structhash"]
    section, shown = "", []
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if UNDERLINE.match(following) and line.strip():
            section = line.strip()
        if section == "Examples" or UNDERLINE.match(line) or UNDERLINE.match(following):
            shown.append(line)
        elif section in FIELDS and line[:1].strip():
            names, colon, kind = line.partition(" : ")
            shown.append(names + colon + marked(kind, module))
        else:
            indent = line[: len(line) - len(line.lstrip())]
            bullet = "- " if line.lstrip().startswith("- ") else ""
            shown.append(indent + bullet + marked(line.lstrip().removeprefix(bullet), module))
    lines[:] = shown
