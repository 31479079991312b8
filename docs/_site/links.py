"""Check the links inside a built site: `python links.py FOLDER` prints those that lead nowhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Page", "broken_links"]


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links |= {values[name] for name in ("href", "src") if values.get(name)}


def broken_links(folder):
    """Links of the pages of a folder to files or places that do not exist, as ``page: link``."""
    folder = Path(folder).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for link in sorted(page.links):
            address = urlsplit(link)
            if address.scheme or address.netloc or path.is_relative_to(folder / "_downloads"):
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            known = pages[target].ids if target in pages else {unquote(address.fragment)}
            if not target.exists() or (address.fragment and unquote(address.fragment) not in known):
                yield f"{path.relative_to(folder)}: {link}"


if __name__ == "__main__":
    found = list(broken_links(sys.argv[1]))
    sys.exit("\n".join(["links that lead nowhere:", *found]) if found else 0)
