"""Gives every distinct set of a provider's words its accelerator, once."""

import pyarrow as pa

from warehouse import database, names
from warehouse.comments import comment
from warehouse.database import Connection

SCHEMA = pa.schema(
    {
        "offer_text_id": pa.string(), "accelerator": pa.string(), "vendor": pa.string(), "model": pa.string(),
        "form_factor": pa.string(), "memory_gb": pa.decimal128(18, 9), "accelerator_count": pa.decimal128(18, 9),
        "name_conflict": pa.string(),
    }
)  # fmt: skip
_TABLE = """
CREATE TABLE IF NOT EXISTS intermediate.offer_parts (
    offer_text_id UUID NOT NULL, accelerator VARCHAR, vendor VARCHAR, model VARCHAR, form_factor VARCHAR,
    memory_gb DECIMAL(18, 9), accelerator_count DECIMAL(18, 9), name_conflict VARCHAR
)
"""


_COMMENT = "What the words of each offer name: the accelerator, its form, its memory, how many."
_COLUMNS = {
    "offer_text_id": "Hash of all the words.",
    "accelerator": "Key of the accelerator; null where the words do not tell.",
    "vendor": "Who makes it.",
    "model": "Model.",
    "form_factor": "Form factor; unstated where nobody printed one.",
    "memory_gb": "Memory of each accelerator.",
    "accelerator_count": "Accelerators in the offer, fractional for slices.",
    "name_conflict": "Words of the offer that contradict each other.",
}


def name_texts(connection: Connection, *, again: bool = False) -> int:
    """Resolve the texts that have no accelerator yet, or all of them ``again``; returns how many."""
    connection.execute(_TABLE)
    comment(connection, "TABLE", "intermediate.offer_parts", _COMMENT, _COLUMNS)
    if again:
        connection.execute("DELETE FROM intermediate.offer_parts")
    texts = connection.execute(
        """
        SELECT CAST(offer_text_id AS VARCHAR), provider, sku, accelerator_name, accelerator_count, memory_gb, memory_scope
        FROM raw.offer_texts
        ANTI JOIN intermediate.offer_parts USING (offer_text_id)
        ORDER BY offer_text_id
        """
    ).fetchall()
    rows = []
    for text_id, provider, sku, accelerator_name, count, memory_gb, memory_scope in texts:
        part = names.resolve_text(
            provider=provider, sku=sku, accelerator_name=accelerator_name, accelerator_count=count, memory_gb=memory_gb,
            memory_scope=memory_scope,
        )  # fmt: skip
        told = (part.accelerator, part.vendor, part.model, part.form_factor, part.memory_gb, part.count, part.conflict)
        rows.append(dict(zip(SCHEMA.names, (text_id, *told), strict=True)))
    with database.registered(connection, {"resolved": pa.Table.from_pylist(rows, schema=SCHEMA)}):
        connection.execute(
            "INSERT INTO intermediate.offer_parts SELECT CAST(offer_text_id AS UUID), * EXCLUDE (offer_text_id) FROM resolved"
        )
    return len(rows)
