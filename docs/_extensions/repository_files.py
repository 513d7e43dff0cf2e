"""Files outside docs/ on the site: links to them work as they do on the code host.

Some are pages of the site, copied in before Sphinx reads. Any other file that a page links to is shown as coloured text, where MyST
would offer a download.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
COPIED = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "examples/first_hour.ipynb": "first_hour.ipynb"}
PAGES = {"README.md": "index"} | {file: Path(copy).stem for file, copy in COPIED.items()}
LINK = re.compile(r"(?<=\]\()[^()\s:#]+")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", copy_pages)
    app.connect("doctree-read", link_to_pages, priority=400)  # before Sphinx collects the downloads
    app.connect("html-collect-pages", source_pages)
    return {"version": "1", "parallel_read_safe": False}


def copy_pages(app: Sphinx) -> None:
    """Sphinx reads only what lies in its folder; it says itself when a page is missing."""
    for file, copy in COPIED.items():
        if (ROOT / file).exists():
            _write_if_new(DOCS / copy, moved_links((ROOT / file).read_text(encoding="utf-8"), (ROOT / file).parent))


def moved_links(text: str, folder: Path) -> str:
    """The text with its links as they are from docs/."""
    return LINK.sub(lambda link: os.path.relpath(folder / link[0], DOCS) if (folder / link[0]).exists() else link[0], text)


def _write_if_new(file: Path, text: str) -> None:
    """A file that is written is read again by Sphinx."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def link_to_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Every link that leaves docs/."""
    here = app.env.docname
    for link in list(doctree.findall(lambda node: isinstance(node, download_reference | pending_xref))):
        file = outside(link, Path(app.env.doc2path(here)).parent)
        if file:
            target = app.builder.get_relative_uri(here, page_of(app, file))
            link.replace_self(nodes.reference("", "", *link.children, refuri=target, internal=True))


def outside(link: nodes.Element, folder: Path) -> str | None:
    """The file outside docs/ that a link of a page in this folder leads to, as the repository names it."""
    endings = ("",) if isinstance(link, download_reference) else (".md", ".ipynb")  # MyST leaves the endings of pages out
    for file in ((folder / (link["reftarget"] + ending)).resolve() for ending in endings if link.get("reftype") == "myst"):
        if file.is_file() and file.is_relative_to(ROOT) and not file.is_relative_to(DOCS):
            return file.relative_to(ROOT).as_posix()
    return None


def page_of(app: Sphinx, file: str) -> str:
    """The name of the page that shows this file."""
    if file in PAGES:
        return PAGES[file]
    app.env.__dict__.setdefault("repository_files", set()).add(file)  # kept with the pages that were read
    return f"source/{file}"


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages of all files linked to."""
    for name in sorted(app.env.__dict__.get("repository_files", ())):
        text = (ROOT / name).read_text(encoding="utf-8")
        language = get_lexer_for_filename(name).aliases[0]
        coloured = app.builder.highlighter.highlight_block(text, language, linenos="inline")
        yield f"source/{name}", {"title": name, "body": f"<h1><code>{name}</code></h1>{coloured}"}, "page.html"
