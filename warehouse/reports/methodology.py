"""The methodology as a page: `docs/methodology.md`, where the program runs from its checkout."""

from pathlib import Path

from markdown_it import MarkdownIt

FILE = Path(__file__).parents[2] / "docs" / "methodology.md"


def as_html() -> str | None:
    """The text as HTML, none of its own let through; None where the file is not there."""
    if not FILE.is_file():
        return None
    text: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(FILE.read_text(encoding="utf-8"))
    return text
