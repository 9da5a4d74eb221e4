"""How each kind of figure comes about: in words, and as SQL that gives its numbers from the published copy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """What a figure is, and a query that anyone can run."""

    key: str
    title: str
    how: str
    sql: str


ALL = (
    Explanation(
        "moved-this-week", "What moved",
        "For each accelerator, on demand: the index over all providers on the newest day against seven days before, in one chain; the median"
        " of both days; single offers that rose, fell, came or went between them; and providers whose price counts on one of the days only.",
        """
        SELECT n.accelerator, n.price_index / b.price_index - 1 AS change_index
        FROM price_index_daily AS n
        JOIN price_index_daily AS b USING (accelerator, pricing_model, segment, chain_id)
        WHERE n.segment = 'all' AND n.pricing_model = 'on_demand' AND n.day = (SELECT max(last_day) FROM builds) AND b.day = n.day - 7
        ORDER BY abs(change_index) DESC
        """,
    ),
    Explanation(
        "price-changes", "Offers that changed",
        "Every offer is followed by its key (provider, source, SKU, count, region, terms, currency, unit). A change is a price that differs from"
        " the one before in the printed currency, and enters on the day on which it is seen. What is new or gone is told only by sources that"
        " list everything, and gone is what is missing twice in a row.",
        """
        SELECT day, change, provider, accelerator, sku, region, price_before, price_after, change_percent, currency, per
        FROM price_changes
        ORDER BY day DESC, abs(change_percent) DESC NULLS LAST
        """,
    ),
    Explanation(
        "cheapest-today", "Today's offers",
        "The offers of each source's newest good snapshot that count (no floor prices, no parts of machines, no outliers beyond a part's own"
        " bounds) and are not known to be taken, in US dollars per accelerator and hour at the European Central Bank's rate of the day.",
        """
        SELECT accelerator, pricing_model, provider, sku, region, usd_per_accelerator_hour, price, currency, per, seen_day, snapshot_id, ordinal
        FROM offers_current
        WHERE index_eligible AND available IS DISTINCT FROM false
        ORDER BY accelerator, usd_per_accelerator_hour
        """,
    ),
    Explanation(
        "prices", "Daily prices",
        "In two stages, so that a provider with forty regions counts once: the median over a provider's home regions, of whole machines where it"
        " sells those, then the equal-weight median over the providers of a segment. Three providers or more: ok; fewer: thin, and drawn dashed."
        " A price that was not seen again is carried for some days and then ends.",
        """
        SELECT day, segment, usd_per_accelerator_hour_median, n_providers, status, reason, age_days, sources
        FROM prices_daily
        WHERE accelerator = 'h100-sxm-80gb' AND pricing_model = 'on_demand' AND commitment_days = 0
        ORDER BY day, segment
        """,
    ),
    Explanation(
        "provider-prices", "Prices of one provider",
        "The median over the provider's home regions of the source that speaks for it on the day: live API, live page, archived page, dataset,"
        " curated row, fixture, in this order.",
        """
        SELECT day, provider, usd_per_accelerator_hour_median, offers, age_days, is_carried, source
        FROM provider_prices_daily
        WHERE accelerator = 'h100-sxm-80gb' AND pricing_model = 'on_demand' AND commitment_days = 0
        ORDER BY provider, day
        """,
    ),
    Explanation(
        "sellers", "Who sold what, when",
        "First and last day on which the provider's on-demand price counts, carried days among them, with the last price and the source behind it.",
        """
        SELECT accelerator, provider, min(day) AS first_day, max(day) AS last_day, arg_max(usd_per_accelerator_hour_median, day) AS last_price
        FROM provider_prices_daily
        WHERE pricing_model = 'on_demand' AND commitment_days = 0
        GROUP BY accelerator, provider
        ORDER BY accelerator, last_day DESC, provider
        """,
    ),
    Explanation(
        "price-index", "The price index",
        "Like held against like: inside a provider the mean of the log changes of its cells (a SKU in a region; on marketplaces the median of a"
        " tier in a country), then equal weight over providers. Who comes or goes never moves it. The halving time"
        " is from the mean of its quarterly log changes,"
        " taken for a random walk with drift, with Student's 90 percent interval. docs/index.md has the definition.",
        """
        SELECT day, segment, price_index, chain_id, chain_started_on, change_percent, n_providers, cells_matched
        FROM price_index_daily
        WHERE accelerator = 'h100-sxm-80gb' AND pricing_model = 'on_demand'
        ORDER BY segment, day
        """,
    ),
    Explanation(
        "price-per-unit", "The price of a unit",
        "The daily median of a segment over the part's dense 16-bit peak in PFLOP/s, and over its memory in GB; of all parts the cheapest one."
        " Deflated: times the mean of the producer price index in the last whole year over its value in the day's month.",
        """
        SELECT day, segment, min(usd_per_dense_bf16_pflop_hour) AS usd_per_pflop_hour,
            arg_min(accelerator, usd_per_dense_bf16_pflop_hour) AS accelerator, min(usd_per_gb_hour) AS usd_per_gb_hour
        FROM prices_daily
        WHERE pricing_model = 'on_demand' AND commitment_days = 0 AND segment <> 'all' AND status <> 'withheld'
        GROUP BY day, segment
        ORDER BY day, segment
        """,
    ),
    Explanation(
        "cost-as-run", "Cost as run",
        "Accelerator-hours as reported, times the price of the part that the run used (or the nearest series of it, which the row names), on a"
        " named basis. Once that part is no longer listed, the line ends; it never turns into another part.",
        """
        SELECT day, basis, priced_on, accelerator_hours_mid, usd_per_accelerator_hour_mid, cost_usd_low, cost_usd_mid, cost_usd_high
        FROM training_costs
        WHERE run = 'gpt-3-175b' AND as_run AND basis = 'hyperscaler_median' AND cost_usd_mid IS NOT NULL
        ORDER BY day
        """,
    ),
    Explanation(
        "cheapest-part", "Cost on the cheapest part",
        "Model FLOP over dense peak times utilisation gives the hours on any part; of the parts that hold the model, have a fabric where it takes"
        " several machines, and finish in the run's own time, the cheapest on the day.",
        """
        SELECT day, accelerator, cost_usd_low, cost_usd_mid, cost_usd_high, is_relaxed, price_status
        FROM training_cost_frontier
        WHERE run = 'gpt-3-175b' AND basis = 'on_demand_median'
        ORDER BY day, is_relaxed
        """,
    ),
    Explanation(
        "costs-today", "Costs on each part",
        "The same run on every part, each cost with its basis, its range and what dominates the range. The run's page opens the newest cost as run"
        " and on the cheapest part down to constants, providers, offers, pages and hashes.",
        """
        SELECT accelerator, basis, as_run, accelerator_hours_mid, usd_per_accelerator_hour_mid, cost_usd_low, cost_usd_mid, cost_usd_high,
            dominant_uncertainty
        FROM training_costs
        WHERE run = 'gpt-3-175b' AND day = (SELECT max(last_day) FROM builds) AND cost_usd_mid IS NOT NULL
        ORDER BY cost_usd_mid
        """,
    ),
    Explanation(
        "claims", "The claims",
        "Each claim recomputed from the inputs that it states, with the difference and why; beside it what the ledger's own prices give.",
        "SELECT statement, claimed_low, claimed, claimed_high, recomputed, unit, difference, verdict, why, derivation FROM claims",
    ),
    Explanation(
        "published-estimates", "Published estimates",
        "Each published estimate recomputed from its publisher's own inputs and dollars; its tolerance is the rounding of what was published.",
        "SELECT run, published_by, published_usd, recomputed_usd, error, tolerance, is_within_tolerance, class, method FROM published_cost_checks",
    ),
    Explanation(
        "coverage", "Sources and what they gave",
        "One row for each source and day on which it was collected: how many offers, and where that is not all, why.",
        "SELECT day, source, source_kind, status, offers, reason, last_good_at FROM provider_coverage ORDER BY day DESC, source",
    ),
    Explanation(
        "left-out", "What counts nowhere",
        "Offers that are kept and enter no price, each with its reason; spellings that no rule or reference row knows are among them.",
        "SELECT why_not, provider, accelerator_name, sku, usd_per_accelerator_hour FROM offers_current WHERE NOT index_eligible",
    ),
    Explanation(
        "without-price", "Withheld prices",
        "A price that failed a check or is past its age limit stands as a row without a value, with the reason.",
        "SELECT day, accelerator, segment, status, reason FROM prices_daily WHERE status = 'withheld' ORDER BY day DESC",
    ),
    Explanation(
        "source-overlaps", "Where two series overlap",
        "Where a back-series (a dataset, archived pages, curated rows) and another source tell one provider's price on the same days: by how much"
        " the first is above the other on the same things, and by how much its level is.",
        """
        SELECT provider, accelerator, back_source, source, first_day, last_day, days, days_matched, difference_percent,
            largest_difference_percent, level_difference_percent
        FROM source_overlaps
        ORDER BY days DESC
        """,
    ),
)  # fmt: skip
