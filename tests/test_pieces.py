"""Pieces of every kind are found by folder, made from text and turned back into text."""

import inspect
from dataclasses import dataclass, fields, is_dataclass
from typing import ClassVar

import numpy as np
import pytest

from structhash import StructHash
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.objectives.rankings.auc import AUC
from structhash.objectives.rankings.ndcg import NDCG
from structhash.objectives.regularizers.l1 import L1
from structhash.pieces import KINDS, build, classes, literal, load, names, settings, snake, spell, spell_checked

EVERY = [(kind, name) for kind in KINDS for name in names(kind)]


def is_loadable(piece):
    """Whether a class needs no arguments."""
    return not any(
        each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        for each in inspect.signature(piece).parameters.values()
    )


LOADABLE = [(kind, name) for kind, name in EVERY if is_loadable(classes(kind)[name])]
PLAIN = [(kind, name) for kind, name in LOADABLE if is_dataclass(classes(kind)[name])]
NUMERIC = [
    (kind, name, field.name, 2 * field.default or 1)
    for kind, name in PLAIN
    for field in fields(classes(kind)[name])
    if type(field.default) in (int, float)
]
METHODS = {"structhash": StructHash}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SquaredHinge", "squared_hinge"),
        ("LInf", "linf"),
        ("L1", "l1"),
        ("NDCG", "ndcg"),
        ("AUC", "auc"),
        ("ITQ", "itq"),
        ("OneHot", "one_hot"),
        ("TotallyCorrective", "totally_corrective"),
    ],
)
def test_class_names_become_the_names_of_the_design(name, expected):
    assert snake(name) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("rankings", {"auc", "ndcg", "sndcg"}),
        ("losses", {"squared_hinge"}),
        ("regularizers", {"l1"}),
        ("families", {"linear"}),
        ("starts", {"spectral", "random_planes"}),
        ("schedules", {"totally_corrective", "stagewise"}),
        ("baselines", {"itq", "lsh"}),
    ],
)
def test_names_hold_the_pieces_of_the_design_sorted(kind, expected):
    found = names(kind)
    assert expected <= set(found)
    assert found == sorted(found)


@pytest.mark.parametrize(("kind", "name"), LOADABLE)
def test_every_piece_loads_by_its_name(kind, name):
    assert type(load(kind, name)) is classes(kind)[name]
    assert type(load(kind, f" {name} ")) is classes(kind)[name]


@pytest.mark.parametrize(("kind", "name"), sorted(set(EVERY) - set(LOADABLE)))
def test_a_piece_that_needs_settings_says_so(kind, name):
    with pytest.raises(ValueError, match=r"wrong type|missing"):
        load(kind, name)


def test_most_pieces_need_no_settings():
    """Data that users give, indexes and stores have no defaults."""
    assert {kind for kind, _ in set(EVERY) - set(LOADABLE)} <= {"supervision", "indexes", "stores"}
    assert {kind for kind, _ in LOADABLE} >= set(KINDS) - {"indexes", "stores"}


@pytest.mark.parametrize(("kind", "name"), PLAIN)
def test_every_piece_with_defaults_is_spelled_as_its_name(kind, name):
    assert spell(load(kind, name)) == name


@pytest.mark.parametrize(("kind", "name", "key", "value"), NUMERIC)
def test_every_changed_setting_survives_spelling(kind, name, key, value):
    piece = load(kind, f"{name}:{key}={value}")
    assert getattr(piece, key) == value
    assert spell(piece) == f"{name}:{key}={value}"
    assert load(kind, spell(piece)) == piece


@pytest.mark.parametrize(("kind", "name"), PLAIN)
def test_every_piece_is_frozen_hashable_and_equal_by_settings(kind, name):
    piece = load(kind, name)
    assert (piece, hash(piece)) == (load(kind, name), hash(load(kind, name)))
    with pytest.raises(AttributeError):
        piece.anything = 1


def test_several_settings_and_words_survive_spelling():
    piece = load("rankings", "ndcg:k=10,normalizer=paper")
    assert piece == NDCG(k=10, normalizer="paper")
    assert spell(piece) == "ndcg:k=10,normalizer=paper"
    assert load("starts", spell(Spectral(ridge=0.1 + 0.2))) == Spectral(ridge=0.1 + 0.2)


def test_a_piece_comes_back_as_it_is():
    piece = AUC()
    assert load("rankings", piece) is piece
    assert spell("auc") == "auc"
    assert spell(3) == 3


@pytest.mark.parametrize("spec", [20, 1.5, None, True, AUC, ["auc"], np.int64(3), Linear(), object()])
def test_what_cannot_be_a_piece_is_refused_and_names_are_listed(spec):
    with pytest.raises(ValueError, match=r"is no piece of rankings: give a name \(auc, .*ndcg"):
        load("rankings", spec)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("-2", -2),
        ("None", None),
        ("True", True),
        ("ideal", "ideal"),
        ("", ""),
    ],
)
def test_values_are_python_literals_or_text(text, value):
    found = literal(text)
    assert (found, type(found)) == (value, type(value))


def test_an_unknown_kind_lists_the_kinds():
    with pytest.raises(
        ValueError, match=r"no kind of piece is called 'toys'; there are baselines, embeddings, families"
    ):
        names("toys")


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_unknown_name_lists_the_names(kind):
    with pytest.raises(ValueError, match="is called 'nosuch'; there are ") as caught:
        load(kind, "nosuch:k=3")
    assert all(name in str(caught.value) for name in names(kind))


@pytest.mark.parametrize("rest", ["q=3", "k", "k=3,q=4", "k=3,,", "=3", "k=3 normalizer=paper,x"])
def test_an_unknown_setting_lists_the_settings(rest):
    with pytest.raises(ValueError, match="it has k, normalizer"):
        load("rankings", f"ndcg:{rest}")


def test_a_piece_without_settings_says_so():
    with pytest.raises(ValueError, match="it has none"):
        load("regularizers", "l1:k=3")


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("rankings", "ndcg:k=0", "k is 0"),
        ("rankings", "ndcg:k=1.5", "k is 1.5"),
        ("rankings", "ndcg:normalizer=mine", "normalizer is 'mine'"),
        ("starts", "spectral:ridge=-1", "ridge"),
        ("starts", "spectral:ridge=much", "ridge"),
        ("starts", "random_planes:count=0", "count"),
        ("families", "linear:max_iter=-1", "max_iter"),
        ("families", "linear:max_iter=few", "max_iter"),
        ("families", "linear:sharpness=0", "sharpness"),
    ],
)
def test_a_refused_value_is_a_value_error_that_names_it(kind, spec, message):
    with pytest.raises(ValueError, match=message):
        load(kind, spec)


def test_a_setting_given_twice_is_refused():
    with pytest.raises(ValueError, match="k is given twice"):
        load("rankings", "ndcg:k=3,k=5")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            "structhash:ranking=ndcg:k=10,normalizer=paper,C=30",
            {"ranking": "ndcg:k=10,normalizer=paper", "C": 30},
        ),
        ("structhash:C=3,ranking=ndcg:k=10", {"ranking": "ndcg:k=10", "C": 3}),
        ("structhash:start=spectral:ridge=2,n_near=7", {"start": "spectral:ridge=2", "n_near": 7}),
        (
            "structhash:family=linear:max_iter=5,sharpness=1,ranking=ndcg:k=3,normalizer=paper",
            {"family": "linear:max_iter=5,sharpness=1", "ranking": "ndcg:k=3,normalizer=paper"},
        ),
        ("structhash: C = 3 , ranking = auc ", {"C": 3, "ranking": "auc"}),
    ],
)
def test_settings_of_a_nested_piece_stay_with_it(spec, expected):
    assert settings(StructHash, spec, spec.partition(":")[2]) == expected
    found = build(METHODS, "methods", spec).get_params()
    assert found == {**StructHash().get_params(), **expected}


def test_imported_and_private_classes_are_no_pieces():
    assert classes("regularizers")["l1"] is L1
    for kind in KINDS:
        for name, piece in classes(kind).items():
            assert piece.__module__.startswith(KINDS[kind]), name
            assert not piece.__name__.startswith("_")


def test_a_class_without_dataclass_fields_is_spelled_as_itself():
    @dataclass(frozen=True)
    class Nested:
        depth: int = 3

    thing = object()
    assert spell(thing) is thing
    assert spell(Nested(depth=4)) == "nested:depth=4"


def test_tuples_survive_spelling():
    piece = load("embeddings", "posterior:query_candidates=(3.0, 1.5),temperature=2.0")
    assert (piece.query_candidates, piece.temperature) == ((3.0, 1.5), 2.0)
    assert load("embeddings", spell(piece)) == piece


def test_what_all_objects_of_a_class_share_is_no_setting():
    @dataclass(frozen=True)
    class Base:
        shared: ClassVar[bool] = False
        depth: int = 3

    class Other(Base):
        shared = True

    assert spell(Other()) == "other"
    assert spell(Other(depth=2)) == "other:depth=2"
    assert spell(Other) is Other


def test_only_a_piece_that_its_text_gives_back_is_spelled_checked():
    assert spell_checked("rankings", NDCG(k=7)) == "ndcg:k=7"

    class Linear:
        """Not the piece of that name."""

    with pytest.raises(
        ValueError, match=r"cannot be saved: no name of `structhash.pieces.names\('families'\)`"
    ):
        spell_checked("families", Linear())
    with pytest.raises(ValueError, match="cannot be saved"):
        spell_checked("families", NDCG(k=7))
