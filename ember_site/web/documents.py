"""
The documents of the repository's `docs/` folder as pages.

Only files found in the folder itself can be asked for, by their name without `.md`; nothing of
a request is ever used as a path. HTML in the Markdown is shown as text, never as markup.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ember_site.environment import BASE_DIR

DOCS_DIR = BASE_DIR / "docs"
IMAGE_SUFFIXES = {".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp"}

ORDER = (
    "first-score",
    "play",
    "rules",
    "scenario-schema",
    "suite",
    "record-format",
    "contract",
    "command",
    "api",
    "api-episodes",
    "errors",
)
"""Documents in the order in which a newcomer reads them; others follow by name."""

SUMMARY_CHARACTERS = 200
CONTENTS_LINES = 30
"""A list of contents with more lines than that leaves out the headings of the third level."""


@dataclass(frozen=True)
class Heading:
    """One line of a table of contents."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Document:
    """One document: its title, its first sentences as plain text, contents and HTML body."""

    slug: str
    title: str
    summary: str
    headings: tuple[Heading, ...]
    html: str


def document_list() -> list[Document]:
    """Every document, in reading order."""
    return [document for slug in document_slugs() if (document := document_get(slug))]


def document_slugs() -> list[str]:
    """The names of the documents, in reading order."""
    slugs = [path.stem for path in DOCS_DIR.glob("*.md") if path.is_file() and path.stem != "README"]
    return sorted(slugs, key=lambda slug: (ORDER.index(slug) if slug in ORDER else len(ORDER), slug))


def document_get(slug: str) -> Document | None:
    """One document by name, or None; rendered once for each state of its file."""
    if slug not in document_slugs():
        return None
    path = DOCS_DIR / f"{slug}.md"
    return _render(path, path.stat().st_mtime_ns)


def document_images() -> dict[str, Path]:
    """Images that documents may show, by file name."""
    folder = DOCS_DIR / "images"
    return {path.name: path for path in folder.glob("*") if path.suffix in IMAGE_SUFFIXES}


@lru_cache(maxsize=64)
def _render(path: Path, changed_ns: int) -> Document:
    markdown = _markdown()
    tokens = markdown.parse(path.read_text(encoding="utf-8"))
    headings = _number_headings(tokens)
    _empty_heads_demote(tokens)
    for token in tokens:
        _point_links(token.children or ())
    title, body = _take_title(tokens, path.stem)
    return Document(
        slug=path.stem,
        title=title,
        summary=_first_sentences(_first_paragraph(body)),
        headings=_contents(headings),
        html=markdown.renderer.render(body, markdown.options, {}),
    )


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in (
        ("table_open", _table_open),
        ("table_close", _table_close),
        ("th_open", _cell_open),
        ("td_open", _cell_open),
        ("fence", _code),
        ("code_block", _code),
    ):
        markdown.add_render_rule(name, rule)
    return markdown


def _table_open(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table, scrolls sideways">\n<table>\n'


def _table_close(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table>\n</div>\n"


def _cell_open(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    # The content security policy forbids style attributes; a class says the same.
    right = "right" in str(tokens[idx].attrs.get("style", ""))
    return f'<{tokens[idx].tag} class="n">' if right else f"<{tokens[idx].tag}>"


def _code(self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
    text = (
        tokens[idx]
        .content.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
    )
    return f'<pre class="code" tabindex="0"><code>{text}</code></pre>\n'


def _number_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give every heading an anchor made of its words; the second of a name gets -1 and so on."""
    headings: list[Heading] = []
    used: dict[str, int] = {}
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = _plain(inline)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") or "section"
        seen = used.get(anchor, 0)
        used[anchor] = seen + 1
        if seen:
            anchor = f"{anchor}-{seen}"
        opening.attrSet("id", anchor)
        headings.append(Heading(level=int(opening.tag[1]), anchor=anchor, text=text))
    return headings


def _contents(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """The headings for the list of contents: of two levels, or of one where that would be too long."""
    listed = tuple(heading for heading in headings if heading.level in (2, 3))
    if len(listed) <= CONTENTS_LINES:
        return listed
    return tuple(heading for heading in listed if heading.level == 2)


def _empty_heads_demote(tokens: Sequence[Token]) -> None:
    """Make an ordinary cell of a table's head without words, as in its corner: it is the head of nothing."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "th_open" and not inline.content.strip():
            opening.tag = closing.tag = "td"


def _plain(inline: Token) -> str:
    texts = {"text", "code_inline"}
    parts = (
        child.content if child.type in texts else " " if child.type.endswith("break") else ""
        for child in inline.children or ()
    )
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _take_title(tokens: list[Token], fallback: str) -> tuple[str, list[Token]]:
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _plain(tokens[1]), tokens[3:]
    return fallback.replace("-", " ").capitalize(), tokens


def _first_paragraph(tokens: Sequence[Token]) -> str:
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "paragraph_open" and opening.level == 0:
            return _plain(inline)
    return ""


def _first_sentences(text: str) -> str:
    """As many whole sentences from the start as fit into a summary, but at least one."""
    sentences = re.split(r"(?<=[.!?:]) (?=[A-Z])", text)
    summary = sentences[0]
    for sentence in sentences[1:]:
        if len(summary) + len(sentence) >= SUMMARY_CHARACTERS:
            break
        summary = f"{summary} {sentence}"
    return summary


def _point_links(children: Sequence[Token]) -> None:
    """Point links between documents at their pages, and images at the folder's images.

    A link to another file of the repository has no address here and becomes plain text.
    """
    slugs = document_slugs()
    depth_of_removed: list[bool] = []
    for token in children:
        if token.type == "link_open":
            target = _page_address(str(token.attrs.get("href", "")), slugs)
            depth_of_removed.append(target is None)
            if target is None:
                token.tag, token.attrs = "span", {}
            else:
                token.attrSet("href", target)
        elif token.type == "link_close":
            if depth_of_removed.pop():
                token.tag = "span"
        elif token.type == "image":
            name = Path(urlsplit(str(token.attrs.get("src", ""))).path).name
            token.attrSet("src", reverse("docs_image", args=[name]))


def _page_address(href: str, slugs: Sequence[str]) -> str | None:
    parts = urlsplit(href)
    if parts.scheme or href.startswith(("#", "/")):
        return href
    path = Path(parts.path)
    if path.suffix == ".md" and path.stem in slugs:
        return reverse("docs_page", args=[path.stem]) + (f"#{parts.fragment}" if parts.fragment else "")
    return None
