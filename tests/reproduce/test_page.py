"""The page: it loads nothing, shows every part, and frames what is wrong."""

import base64
import html
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from structhash.reproduce.document import make_reproduction
from structhash.reproduce.page import make_page
from structhash.reproduce.plan import Plan


class Elements(HTMLParser):
    """All start tags with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def made(finished):
    runs = [finished("usps", "StructH-N", 0.8, lengths=(16, 64)), finished("usps", "LSH", 0.7)]
    examples = [
        {"query": 0, "hard": False, "found": [1, 2], "right": [True, False]},
        {"query": 3, "hard": True, "found": [2, 1], "right": [False, False]},
    ]
    runs[0].record["examples"] = examples
    return make_reproduction(Plan(True, [each.run for each in runs], []), runs, {})


@pytest.fixture
def page(made, rng):
    return make_page(made, {"usps": rng.random((4, 256))})


def test_no_address_leads_out_of_the_page(page):
    addresses = [
        (tag, value)
        for tag, attributes in Elements(page).found
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "data", "action", "poster")
    ]
    assert len(addresses) > 10
    links = [address for tag, address in addresses if tag == "a" and address.startswith("https:")]
    assert links == ["https://doi.org/10.1007/s11263-016-0984-4"]  # a reader may follow it
    assert all(address.startswith(("data:", "#")) for _, address in addresses if address not in links)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", page)
    policy = next(a["content"] for t, a in Elements(page).found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_every_claim_table_and_figure_is_shown(made, page):
    for claim in made.claims:
        assert f"{claim.verdict.capitalize()}</span>: {html.escape(claim.statement)}" in page
    assert page.count("<table") == 4
    assert page.count("<figure") == len(made.figures) > 2
    for name in ("claims", "tables", "figures", "examples", "runs"):
        assert f'<section id="{name}">' in page


def test_wrong_rows_are_framed(page):
    items = [
        a["class"] for tag, a in Elements(page).found if tag == "li" and a.get("class", "").startswith("item")
    ]
    kinds = ["item plain", "item", "item wrong", "item plain", "item wrong", "item wrong"]
    assert items == [f"{kind} ink" for kind in kinds]


def test_ink_is_dark(made):
    pages = [
        make_page(made, {"usps": np.pad(np.full((3, 256), value), ((0, 1), (0, 0)), constant_values=1)})
        for value in (0, 1)
    ]
    images = [next(a["src"] for t, a in Elements(page).found if t == "img") for page in pages]
    white, black = (_pixel(image) for image in images)
    assert (white, black) == (255, 0)


def _pixel(address):
    """The first pixel of a grey PNG."""
    content = base64.b64decode(address.partition(",")[2])
    start = content.index(b"IDAT") + 4
    return zlib.decompress(content[start:])[1]


def test_without_images_the_page_says_so(finished):
    runs = [finished("isolet", "LSH", 0.7)]
    page = make_page(make_reproduction(Plan(True, [runs[0].run], []), runs, {}), {})
    assert "No set of images is among these runs." in page
