"""Where the pages of the site are, seen from the page that links to them."""

import hashlib
import re
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


def file_stem(key: str) -> str:
    """A key as a file name; what is no plain name, such as a firm that an aggregator wrote as it liked, becomes a hash."""
    if _PLAIN.fullmatch(key) and ".." not in key:
        return key
    return f"name-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Links:
    """Links from a page that lies ``root`` below the front page; empty where a page is not made."""

    root: str = ""
    accelerators: frozenset[str] = field(default_factory=frozenset)
    providers: frozenset[str] = field(default_factory=frozenset)
    runs: frozenset[str] = field(default_factory=frozenset)

    def accelerator(self, key: str) -> str:
        """Page of an accelerator."""
        return f"{self.root}accelerators/{file_stem(key)}.html" if key in self.accelerators else ""

    def provider(self, key: str) -> str:
        """Page of a provider."""
        return f"{self.root}providers/{file_stem(key)}.html" if key in self.providers else ""

    def run(self, key: str) -> str:
        """Page of a training run."""
        return f"{self.root}runs/{file_stem(key)}.html" if key in self.runs else ""
