"""Daily series thinned for drawing: runs of an unchanged price, or every so many days where a price moves more often than can be seen.

Only days that were there come out, none is made up: a day without a price ends a run, and what is left out is left out whole.
"""

from collections.abc import Sequence

# Days between the points that are kept: all, one a week, four weeks, a quarter, half a year, a year.
STEPS_DAYS = (1, 7, 28, 91, 182, 364)
# Points that a line may have, the first of these with which all lines together stay within their budget.
LIMITS = (160, 120, 90, 60, 45, 30, 20, 12, 6)


def thinned(days: str, keys: Sequence[str], *, most_rows: int, favoured: str = "false") -> str:
    """SQL that gives the runs of each series, at steps fine enough for the eye and coarse enough for ``most_rows`` in all.

    ``days`` is a SELECT of the keys and ``day, usd, usd_low, usd_high, status, told, n_providers, source_kinds``. Out come the keys and
    ``from_day, to_day, usd, usd_low, usd_high, status, told, n_providers, source_kinds, step_days``, in order. Series for which the
    condition ``favoured`` holds stay finer, whatever the others take.
    """
    key = ", ".join(keys)
    return f"""
    WITH all_days AS ({days}),
    priced AS (SELECT * FROM all_days WHERE usd IS NOT NULL),
    sampled AS (
        SELECT p.*, s.step_days
        FROM priced AS p
        JOIN ({_values("step_days", STEPS_DAYS)}) AS s ON ((SELECT max(day) FROM priced) - p.day) % s.step_days = 0
    ),
    marked AS (
        SELECT
            *,
            lag(day) OVER series IS DISTINCT FROM day - step_days
                OR lag((usd, usd_low, usd_high, status, told)) OVER series IS DISTINCT FROM (usd, usd_low, usd_high, status, told) AS is_new
        FROM sampled
        WINDOW series AS (PARTITION BY {key}, step_days ORDER BY day)
    ),
    numbered AS (
        SELECT *, count_if(is_new) OVER (PARTITION BY {key}, step_days ORDER BY day) AS run_number
        FROM marked
    ),
    runs AS (
        SELECT
            {key}, step_days, run_number, min(day) AS from_day, max(day) AS to_day, first(usd) AS usd, first(usd_low) AS usd_low,
            first(usd_high) AS usd_high, first(status) AS status, first(told) AS told, arg_max(n_providers, day) AS n_providers,
            arg_max(source_kinds, day) AS source_kinds
        FROM numbered
        GROUP BY {key}, step_days, run_number
    ),
    sizes AS (SELECT {key}, step_days, count(*) AS points, {favoured} AS is_favoured FROM runs GROUP BY {key}, step_days),
    choices AS (
        SELECT
            {key}, is_favoured, most_points,
            coalesce(min(step_days) FILTER (points <= most_points), max(step_days)) AS step_days,
            coalesce(arg_min(points, step_days) FILTER (points <= most_points), arg_max(points, step_days)) AS points
        FROM sizes
        CROSS JOIN ({_values("most_points", LIMITS)})
        GROUP BY {key}, is_favoured, most_points
    ),
    totals AS (SELECT most_points, sum(points) AS total FROM choices WHERE NOT is_favoured GROUP BY most_points),
    chosen AS (
        SELECT {key}, step_days
        FROM choices
        WHERE most_points = CASE
            WHEN is_favoured THEN {LIMITS[1]}
            ELSE (SELECT coalesce(max(most_points) FILTER (total <= {most_rows}), {LIMITS[-1]}) FROM totals)
        END
    )
    SELECT {key}, from_day, to_day, usd, usd_low, usd_high, status, told, n_providers, source_kinds, step_days
    FROM runs
    SEMI JOIN chosen USING ({key}, step_days)
    ORDER BY {key}, from_day
    """


def _values(name: str, numbers: Sequence[int]) -> str:
    return f"SELECT unnest({list(numbers)}) AS {name}"
