"""A progress bar on stderr when a person is watching, nothing when not."""

import contextlib
import sys
from collections.abc import Callable, Iterator

Progress = Callable[[int, int | None], None]


@contextlib.contextmanager
def shown(what: str) -> Iterator[Progress | None]:
    """A callback that takes how many are done of how many, or of None where nobody knows; None when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
