"""The map of codes."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from structhash.codes import hamming, pack
from structhash.plots import code_map


def places(ax):
    """Points of all classes, one class after another."""
    return np.vstack([np.asarray(each.get_offsets()) for each in ax.collections])


def test_places_are_principal_components(ax, rng):
    bits, y = rng.random((80, 20)) < rng.random(20), np.sort(rng.integers(3, size=80))
    code_map(pack(bits), 20, labels=y, ax=ax)
    expected = PCA(2).fit(bits.astype(float))
    found, reference = places(ax), expected.transform(bits.astype(float))
    np.testing.assert_allclose(np.abs(found), np.abs(reference), atol=1e-9)  # up to their signs
    assert f"({expected.explained_variance_ratio_[0]:.0%})" in ax.get_xlabel()
    assert [len(each.get_offsets()) for each in ax.collections] == np.bincount(y).tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]


def test_codes_in_a_plane_keep_their_distances(ax):
    codes = pack(np.repeat([[0, 0], [0, 1], [1, 1]], [2, 3, 4], axis=0).repeat(4, axis=1) > 0)
    code_map(codes, 8, ax=ax)
    apart = places(ax)[:, None] - places(ax)[None]
    np.testing.assert_allclose((apart**2).sum(axis=2), hamming(codes, codes), atol=1e-9)


def test_one_bit_and_equal_codes_are_drawn(ax):
    code_map(np.array([[0], [1], [1]], np.uint8), 1, ax=ax)
    np.testing.assert_allclose(places(ax)[:, 1], 0)
    code_map(np.zeros((3, 1), np.uint8), 8, ax=ax)
    assert np.isfinite(places(ax)).all()


def test_many_classes_have_colours_and_shapes_but_no_legend(ax, rng):
    codes = pack(rng.integers(2, size=(60, 9)) > 0)
    code_map(codes, 9, labels=np.arange(60) % 30, ax=ax)
    assert ax.get_legend() is None
    looks = {
        (tuple(each.get_facecolor()[0]), each.get_paths()[0].vertices.tobytes()) for each in ax.collections
    }
    assert len(looks) == 30


def test_a_label_for_each_row_is_needed(ax):
    with pytest.raises(ValueError, match="3"):
        code_map(np.zeros((3, 1), np.uint8), 8, labels=["a", "b"], ax=ax)
