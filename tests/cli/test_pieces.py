"""``structhash pieces``."""

import pytest

from structhash.cli.pieces import PAPER, describe_piece
from structhash.pieces import KINDS, names


def test_all_kinds(machine):
    assert machine("pieces").keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_every_piece_says_what_it_is(machine, kind):
    found = machine("pieces", kind)[kind]
    assert list(found) == names(kind)
    assert all(each["what"] and each["source"] for each in found.values())


def test_people_read_settings_and_sources(done):
    text = done("pieces", "rankings")
    assert "  ndcg:k=100,normalizer=ideal\n" in text
    assert "doi:10.1145/1401890.1401906" in text


class Known:
    """A piece from a paper.

    See doi:10.1000/182.
    """

    def __init__(self, needed, depth=3):
        pass


class Bare:
    pass


class OfThePaper:
    """A term of the master (eq. sh)."""


def test_a_piece_is_described_by_its_class():
    settings = {"needed": "(needed)", "depth": 3}
    assert describe_piece(Known) == {
        "what": "A piece from a paper.",
        "settings": settings,
        "source": "doi:10.1000/182",
    }
    assert describe_piece(Bare) == {"what": "", "settings": {}, "source": "-"}
    assert describe_piece(OfThePaper)["source"] == PAPER


def test_an_unknown_kind_is_refused(assert_refused):
    assert_refused("pieces magic", "no kind of piece is called 'magic'; there are baselines")
