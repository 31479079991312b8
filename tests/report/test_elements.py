"""Elements of HTML."""

import base64
import csv
import html

import pytest

from structhash.report.elements import Html, csv_link, element, join

HOSTILE = "<script>alert('1')</script> \"x\" & y"


def test_text_and_attributes_are_escaped():
    found = element("p", HOSTILE, title=HOSTILE)
    assert "<script" not in found
    assert found.count(html.escape(HOSTILE)) == 2


def test_html_stays_as_it_is():
    inner = element("b", "a & b")
    assert element("p", inner, None, " c") == "<p><b>a &amp; b</b> c</p>"
    assert isinstance(element("p"), Html)
    assert join(["<", Html("<br>")], Html("<hr>")) == "&lt;<hr><br>"


@pytest.mark.parametrize(
    ("given", "text"),
    [(None, "<i></i>"), (False, "<i></i>"), (True, "<i hidden></i>"), (0, '<i hidden="0"></i>')],
)
def test_attributes_without_a_value(given, text):
    assert element("i", hidden=given) == text


def test_an_element_without_an_end():
    assert element("img", src="x") == '<img src="x">'


def test_a_link_holds_its_table():
    rows = [["a,b", 1], [HOSTILE, None], ['"', "é\n漢"]]
    link = csv_link('x".csv', ["name", "n"], rows)
    assert 'download="x&quot;.csv"' in link
    content = base64.b64decode(link.partition("base64,")[2].partition('"')[0]).decode()
    read = list(csv.reader(content.splitlines(keepends=True)))
    assert read == [["name", "n"], ["a,b", "1"], [HOSTILE, ""], ['"', "é\n漢"]]
