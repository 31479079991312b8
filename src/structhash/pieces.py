"""Pieces by name: what each kind has, how a piece is made from a text, and how it becomes text again.

A *kind* is a folder. Its pieces are the public classes defined in the folder's modules, except in `base`, which
holds the contract, and in modules whose names begin with an underscore. A new piece is one new file; nothing
else needs an edit.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass
from typing import Any

from numpy.typing import NDArray

from structhash._numerics.validation import describe

__all__ = [
    "KINDS",
    "Params",
    "build",
    "classes",
    "is_auto",
    "literal",
    "load",
    "names",
    "settings",
    "snake",
    "spell",
    "spell_checked",
]

KINDS = {
    "supervision": "structhash.supervision",
    "rankings": "structhash.objectives.rankings",
    "losses": "structhash.objectives.losses",
    "regularizers": "structhash.objectives.regularizers",
    "embeddings": "structhash.embeddings",
    "families": "structhash.families",
    "starts": "structhash.families.starts",
    "schedules": "structhash.masters.schedules",
    "baselines": "structhash.baselines",
    "indexes": "structhash.search",
    "stores": "structhash.stores",
    "formats": "structhash.io.formats",
}


Params = dict[str, NDArray[Any]]  # state and parameters of pieces: plain arrays by name


def snake(name: str) -> str:
    """Registry name of a class: ``SquaredHinge`` -> ``squared_hinge``, ``NDCG`` -> ``ndcg``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def classes(kind: str) -> dict[str, type]:
    """The pieces of a kind, by registry name.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of piece is called {kind!r}; there are {', '.join(sorted(KINDS))}")
    root = importlib.import_module(KINDS[kind])
    modules = [root]
    for entry in pkgutil.iter_modules(getattr(root, "__path__", [])):
        if entry.name != "base" and not entry.name.startswith("_"):
            modules.append(importlib.import_module(f"{root.__name__}.{entry.name}"))
    found = {}
    for module in modules:
        for name, member in vars(module).items():
            own = inspect.isclass(member) and member.__module__ == module.__name__
            if own and not name.startswith("_"):
                found[snake(name)] = member
    return dict(sorted(found.items()))


def names(kind: str) -> list[str]:
    """Sorted registry names of a kind.

    Examples
    --------
    >>> from structhash.pieces import names
    >>> names("schedules")
    ['stagewise', 'totally_corrective']
    """
    return list(classes(kind))


def is_auto(spec: Any) -> bool:
    """Whether a setting leaves the choice of a piece to the method."""
    return isinstance(spec, str) and spec == "auto"


def load(kind: str, spec: Any) -> Any:
    """Make a piece from its name and settings, such as ``"ndcg:k=10,normalizer=paper"``.

    A piece is returned as it is. A setting that the piece does not have belongs to the value before it, so that
    pieces nest: ``"structhash:ranking=ndcg:k=10,normalizer=paper,C=30"``. So does everything inside open
    parentheses.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    spec : str or piece
        Name, then a colon and ``key=value`` settings, comma-separated, where it has any.

    Returns
    -------
    piece

    Raises
    ------
    ValueError
        If the kind, the name or a setting is not known, or a setting's value is refused.

    Examples
    --------
    >>> from structhash.pieces import load
    >>> load("rankings", "ndcg:k=10")
    NDCG(k=10, normalizer='ideal')
    """
    known = classes(kind)
    if isinstance(spec, str):
        return build(known, kind, spec)
    contract = _contract(kind, known)
    if not isinstance(spec, contract):
        word = snake(contract.__name__)
        raise ValueError(
            f"{word}={describe(spec)} is no piece of {kind}: give a name ({', '.join(known)}) or an object of "
            f"a subclass of {contract.__name__}"
        )
    return spec


def _contract(kind: str, known: dict[str, type]) -> type:
    """The class that every piece of a kind derives from: the outermost one of `base` in the folder."""
    line = inspect.getmro(next(iter(known.values())))
    return [each for each in line if each.__module__ == f"{KINDS[kind]}.base"][-1]


def build(known: dict[str, type], kind: str, spec: str) -> Any:
    """`load` over a given table of classes.

    Parameters
    ----------
    known : dict of str to class
    kind : str
        Word for the kind, in error messages.
    spec : str

    Returns
    -------
    object of one of the classes
    """
    name, _, rest = spec.strip().partition(":")
    if name not in known:
        raise ValueError(f"no piece of {kind} is called {name!r}; there are {', '.join(known)}")
    words = settings(known[name], spec, rest)
    try:
        return known[name](**words)
    except TypeError as error:
        raise ValueError(f"{spec!r}: a setting has a value of the wrong type ({error})") from error


def settings(piece: type, spec: str, rest: str) -> dict[str, Any]:
    """The ``key=value`` part of a spec as constructor arguments.

    Parameters
    ----------
    piece : class
        Its signature defines the keys.
    spec : str
        The whole text, for error messages.
    rest : str
        The text after the first colon.

    Returns
    -------
    dict of str to value
    """
    allowed = [key for key in inspect.signature(piece).parameters if key not in ("args", "kwargs")]
    words: dict[str, str] = {}
    last = ""
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if equals and key in allowed and key not in words:
            words[last := key] = value.strip()
        elif last and (":" in words[last] or words[last].count("(") > words[last].count(")")):
            words[last] += f",{part}"
        elif key in words:
            raise ValueError(f"{spec!r}: {key} is given twice; give it once")
        else:
            options = ", ".join(allowed) or "none"
            raise ValueError(f"{spec!r}: {part!r} is not one of its settings as key=value; it has {options}")
    return {key: literal(value) for key, value in words.items()}


def literal(text: str) -> Any:
    """A number, None, True or False where the text is one, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def spell(piece: Any) -> Any:
    """The string that `load` turns back into this dataclass piece; other values come back as they are."""
    if not is_dataclass(piece) or isinstance(piece, type):
        return piece
    changed = [
        f"{f.name}={getattr(piece, f.name)}" for f in fields(piece) if getattr(piece, f.name) != f.default
    ]
    return snake(type(piece).__name__) + (":" + ",".join(changed) if changed else "")


def spell_checked(kind: str, piece: Any) -> str:
    """As `spell`, and ValueError unless `load` makes this very piece of the text."""
    text: str = spell(piece)
    if type(piece) not in classes(kind).values() or load(kind, text) != piece:
        raise ValueError(
            f"{describe(piece)} cannot be saved: no name of `structhash.pieces.names({kind!r})` refers to it; "
            "put its class into the folder of its kind"
        )
    return text
