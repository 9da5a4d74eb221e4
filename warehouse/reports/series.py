"""Daily series thinned for drawing: runs of an unchanged price, or every so many days where a price moves more often than can be seen.

Only days that were there come out, none is made up: a day without a price ends a run, and what is left out is left out whole.
"""

from collections.abc import Sequence

# Days between the points that are kept: all, one a week, four weeks, a quarter.
STEPS_DAYS = (1, 7, 28, 91)


def thinned(days: str, keys: Sequence[str], *, most_points: int | str) -> str:
    """SQL that gives the runs of each series, ``most_points`` of them (a number, or SQL over the keys) where a coarser step can do it.

    ``days`` is a SELECT of the keys and ``day, usd, usd_low, usd_high, status, told, n_providers, source_kinds``. Out come the keys and
    ``from_day, to_day, usd, usd_low, usd_high, status, told, n_providers, source_kinds, step_days``, in order.
    """
    key = ", ".join(keys)
    steps = ", ".join(f"({step})" for step in STEPS_DAYS)
    return f"""
    WITH all_days AS ({days}),
    priced AS (SELECT * FROM all_days WHERE usd IS NOT NULL),
    sampled AS (
        SELECT p.*, s.step_days
        FROM priced AS p
        JOIN (VALUES {steps}) AS s(step_days) ON ((SELECT max(day) FROM priced) - p.day) % s.step_days = 0
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
    counted AS (SELECT *, count(*) OVER (PARTITION BY {key}, step_days) AS points FROM runs),
    chosen AS (
        SELECT *, coalesce(min(step_days) FILTER (points <= ({most_points})) OVER (PARTITION BY {key}), {STEPS_DAYS[-1]}) AS chosen_step
        FROM counted
    )
    SELECT {key}, from_day, to_day, usd, usd_low, usd_high, status, told, n_providers, source_kinds, step_days
    FROM chosen
    WHERE step_days = chosen_step
    ORDER BY {key}, from_day
    """
