"""The committed page of the reproduction, in a real browser."""

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reproduced.html"


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_sound_on_every_screen(browser, width, dark):
    browser.open(PAGE, width=width, dark=dark)
    assert browser.errors == []
    assert [each for each in browser.requests if not each.startswith("data:")] == [PAGE.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") == width
    # digits of usps and mnist
    assert browser.run("[...document.images].every(i => i.complete && [16, 28].includes(i.naturalWidth))")


def test_it_is_small():
    assert PAGE.stat().st_size < 1_000_000
