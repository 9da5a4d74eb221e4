"""One module per source: ``SOURCE``, ``parse(pages)`` and, where paging needs it, ``fetch(client)``. Nothing to register."""
