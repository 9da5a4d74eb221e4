"""Writes the expected offers of a fixture: ``python -m tests.record SOURCE``. Read every line against the page before committing it."""

import json
import sys
from pathlib import Path

from scrapers.offer import Offer
from scrapers.source import Page, load

FIXTURES = Path(__file__).parent / "fixtures"


def fixture_pages(folder: Path) -> list[Page]:
    """The pages of one fixture, in name order."""
    return [
        Page(f"fixture:{p.name}", p.read_bytes(), p.name) for p in sorted(folder.iterdir()) if p.name != "offers.json"
    ]


def as_json(offers: list[Offer]) -> list[dict[str, object]]:
    """Offers as they stand in offers.json: only what differs from the default."""
    return [offer.model_dump(mode="json", exclude_defaults=True) for offer in offers]


def main() -> None:
    """Record every fixture of the sources named."""
    for name in sys.argv[1:]:
        for folder in sorted((FIXTURES / name).iterdir()):
            parsed = load(name).parse(fixture_pages(folder))
            lines = ",\n".join(" " + json.dumps(line, ensure_ascii=False) for line in as_json(parsed.offers))
            (folder / "offers.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            print(f"{folder.name}: {len(parsed.offers)} offers, {len(parsed.rejected)} rejected {parsed.rejected[:3]}")


if __name__ == "__main__":
    main()
