"""What the built site links to and loads: read from its HTML and its style sheets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Site", "read_site"]

LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
IMPORTED = re.compile(r"""(?:url\(|@import)\s*["']?(https?:)?//""")
DOI = re.compile(r"https://doi\.org/10\.\d{4,9}/\S+")


@dataclass
class Site:
    """Counts, and what is wrong in sentences."""

    pages: int = 0
    links: int = 0  # within the site, to pages, places in them, figures, scripts and styles
    outside: Counter[str] = field(default_factory=Counter)  # addresses of other sites
    broken: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)  # addresses of other sites
    loaded: list[str] = field(default_factory=list)  # from other hosts, which no page should do


class _Page(HTMLParser):
    """Names of places in a page, and what it refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.references: list[tuple[str, bool]] = []  # and whether a browser loads it by itself
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        self.places |= {of[name] for name in ("id", "name") if name in of}
        if tag == "a" and "href" in of:
            self.references.append((of["href"], False))
        elif LOADED.get(tag, "") in of:
            only_named = tag == "link" and of.get("rel") in {"next", "prev", "index", "search"}
            self.references.append((of[LOADED[tag]], not only_named))


_read = cache(_Page)


def read_site(folder: Path) -> Site:
    """Follow every link of every page, without a network."""
    site = Site()
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.parts:
            continue  # pieces of the theme
        site.pages += 1
        for reference, loads in _read(path).references:
            _follow(site, path, reference, loads=loads)
    for path in folder.rglob("*.css"):
        if IMPORTED.search(path.read_text("utf-8")):
            site.loaded.append(f"{path.relative_to(folder)} imports from another host")
    return site


def _follow(site: Site, page: Path, reference: str, *, loads: bool) -> None:
    """Count a reference, and say what is wrong with it."""
    parts = urlsplit(reference)
    if parts.scheme in {"data", "mailto"}:
        return
    if parts.scheme or parts.netloc:
        site.outside[reference] += 1
        site.malformed += [f"{page.name}: {reference} {fault}" for fault in _faults(reference)]
        if loads:
            site.loaded.append(f"{page.name} loads {reference}")
        return
    site.links += 1
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        site.broken.append(f"{page.name}: {reference} leads to no file")
    elif target.suffix == ".html" and not _has(target, unquote(parts.fragment)):
        site.broken.append(f"{page.name}: {reference} leads to no place of that page")


def _has(page: Path, place: str) -> bool:
    return not place or place in _read(page).places


def _faults(address: str) -> Iterator[str]:
    """Say what is wrong with the form of an address; whether it answers, a network must tell."""
    parts = urlsplit(address)
    if parts.scheme != "https":
        yield "is not https"
    if not re.fullmatch(r"([\w-]+\.)+[a-z]{2,}", parts.hostname or ""):
        yield "names no host"
    if "doi.org" in address and not DOI.fullmatch(address):
        yield "is no DOI"
