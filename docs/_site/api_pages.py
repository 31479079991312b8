"""Pages of the API reference: one for each public package, from the docstrings."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import structhash

__all__ = ["public_packages", "write_api_pages"]

FOREIGN = (
    "TransformerMixin, BaseEstimator, object"  # whose methods the pages of ``structhash`` itself leave out
)


def is_public(name):
    """Whether no part of a dotted name is private."""
    return not any(part.startswith("_") for part in name.split("."))


def public_modules():
    """Dotted names of all public modules, packages before what is in them."""
    found = [module.name for module in pkgutil.walk_packages(structhash.__path__, "structhash.")]
    return ["structhash", *sorted(filter(is_public, found))]


def public_packages():
    """Dotted names of the public packages, each with its modules."""
    packages = {}
    for name in public_modules():
        module = importlib.import_module(name)
        home = name if hasattr(module, "__path__") else name.rpartition(".")[0]
        packages.setdefault(home, []).append(name)
    return packages


def directive(path, thing):
    """The directive that documents a public thing under its dotted name."""
    if inspect.isclass(thing):
        inherited = f"   :inherited-members: {FOREIGN}\n" if path.count(".") == 1 else ""
        return f".. autoclass:: {path}\n{inherited}\n"
    if inspect.isroutine(thing):
        return f".. autofunction:: {path}\n\n"
    value = repr(thing)
    shown = f"   :value: {value}\n" if len(value) <= 100 and "<" not in value else ""
    return f".. py:data:: {path}\n{shown}\n"


def heading(text, line):
    """A title with the line below it."""
    return f"{text}\n{line * len(text)}\n\n"


def order(module, public):
    """Where a name comes on its page: classes, functions, values, each by name."""
    thing = getattr(module, public)
    return not inspect.isclass(thing), not inspect.isroutine(thing), public.lower()


def module_text(name, seen, line):
    """Docstring of a module, then its public names that no text before has."""
    module = importlib.import_module(name)
    options = "   :no-members:\n" + "   :no-index:\n" * (not inspect.ismodule(named(name)))
    parts = [heading(name, line), f".. automodule:: {name}\n{options}\n"]
    for public in sorted(getattr(module, "__all__", ()), key=lambda public: order(module, public)):
        thing = getattr(module, public)
        key = id(thing) if not isinstance(thing, (int, float, str)) else f"{name}.{public}"
        if key not in seen:
            seen.add(key)
            parts.append(directive(f"{name}.{public}", thing))
    return "".join(parts) if len(parts) > 2 or line == "=" else ""


def named(name):
    """What a dotted name means to its package: a module, or a function of the same name."""
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last) if home else structhash


def write_api_pages(folder):
    """Write the pages into a folder, which may hold those of an earlier call."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    seen, pages = set(), {}
    for package, modules in public_packages().items():
        parts = [module_text(name, seen, "=" if name == package else "-") for name in sorted(modules)]
        pages[f"{package}.rst"] = "".join(parts)
    for old in {path.name for path in folder.iterdir()} - set(pages):
        (folder / old).unlink()
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
