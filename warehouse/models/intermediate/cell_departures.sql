-- The first day on which something that the index follows has no price any more, and what its last one was.
-- grain: day, accelerator, cell
-- partition: day
-- inputs: index_cells
-- columns:
--   day: UTC date; the last price is of the day before.
--   accelerator: Key of the accelerator.
--   cell: What is followed: a SKU in a region, or a median of a marketplace.
--   last_price: US dollars per accelerator and hour.
SELECT d.day, c.accelerator, c.cell, c.price AS last_price
FROM index_cells AS c
JOIN days_to_build AS d ON d.day = c.day + 1
WHERE c.next_day IS DISTINCT FROM d.day
ORDER BY d.day, c.accelerator, c.cell
