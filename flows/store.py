"""The commands that keep the data itself: backup, archive prune."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from flows import schedule
from flows.app import WrongUsageError, app
from flows.output import say

archive_app = typer.Typer(help="The raw archive: every answer, as it came.", no_args_is_help=True)
app.add_typer(archive_app, name="archive")

# Less than this, and a mended parser could not even mend the last month.
LEAST_KEPT = timedelta(days=30)


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="Where to; again and again into the same one copies what is new.")],
) -> None:
    """Copy the archive, the warehouse and the settings to another folder, and examine the copy; exit status 1 when it is not well.

    Example: gpuledger backup ledger-backup
    """
    from warehouse import backup as backups

    mark = backups.back_up(folder)
    findings = backups.examine(folder)
    for one in findings:
        if not one.is_well:
            say(f"{one.what}: {one.how_it_is}; {one.mend}")
    if not all(one.is_well for one in findings):
        raise typer.Exit(1)
    say(
        f"{folder}: {mark.collections:,} collections, {mark.warehouse_bytes / 2**20:,.1f} MiB of warehouse, read again and well",
        collections=mark.collections, warehouse_bytes=mark.warehouse_bytes,
    )  # fmt: skip


@archive_app.command()
def prune(
    keep: Annotated[str, typer.Option(help="How far back live pages are kept, such as 400d.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Take old live pages out of the archive. Their prices stay in the warehouse, which holds them alone from then on: back it up.

    Each source's newest pages stay, and what was not loaded, what waits for a decision, and what was backfilled.

    Example: gpuledger archive prune --keep 400d --dry-run
    """
    from flows import steps

    try:
        age = schedule.duration(keep)
    except ValueError as error:
        raise WrongUsageError(f"--keep: {error}") from None
    if age < LEAST_KEPT:
        raise WrongUsageError(f"--keep: at least {LEAST_KEPT.days}d; without its pages a price can't be read again")
    done = steps.prune_archive(age, dry_run=dry_run)
    what = "would go" if dry_run else f"are gone, {done.freed_bytes / 2**20:,.1f} MiB freed"
    say(
        f"{done.collections:,} collections older than {keep} {what}",
        collections=done.collections,
        freed_bytes=done.freed_bytes,
    )
    if done.kept_undecided:
        say(f"{done.kept_undecided:,} stay until they are decided: gpuledger quarantine")
    if done.kept_unread:
        say(f"{done.kept_unread:,} stay until they are loaded")
